use super::{Axes, Condition, Coordinate, Kind, series};

/// Triaxial joint (`triaxial`): three hinges in series with massless links between them, such as the shoulder blade of a dog.
/// Neighboring axes need not be orthogonal and need not meet; parallel neighbors are excluded. The axis of the first hinge is
/// fixed in the parent, that of the third in the child. With neighbors that are orthogonal and a common point, the joint is a
/// gimbal joint.
///
/// The attitude of the child determines the angles except where the three axes are coplanar. Forces between the bodies grow
/// without bound there: such positions are singular and cannot be passed.
pub(super) static KIND: Kind = Kind {
    name: "triaxial",
    conditions: &[
        Condition::Linked(0),
        Condition::Linked(1),
        Condition::Linked(2),
    ],
    coordinates: &[
        Coordinate::angle("angle1"),
        Coordinate::angle("angle2"),
        Coordinate::angle("angle3"),
    ],
    axes: Axes::Oblique(3),
    measure: series::measure,
    place: series::place,
    rates: series::rates,
};
