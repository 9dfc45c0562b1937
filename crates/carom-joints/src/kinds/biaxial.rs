use super::{Axes, Condition, Coordinate, Kind, series};

/// Biaxial joint (`biaxial`): two hinges in series with a massless link between them, such as the ankle of a humanoid. Their
/// axes need not be orthogonal and need not meet; parallel axes are excluded. The axis of the first hinge is fixed in the
/// parent, that of the second in the child. With axes that are orthogonal and meet, the joint is a universal joint.
pub(super) static KIND: Kind = Kind {
    name: "biaxial",
    conditions: &[
        Condition::Linked(0),
        Condition::Linked(1),
        Condition::Linked(2),
        Condition::Inclined,
    ],
    coordinates: &[Coordinate::angle("angle1"), Coordinate::angle("angle2")],
    axes: Axes::Oblique(2),
    measure: series::measure,
    place: series::place,
    rates: series::rates,
};
