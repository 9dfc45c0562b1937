use super::{Axes, Condition, Kind, at_rest, no_coordinates, no_rates};

/// Fixed joint (`fixed`): the child does not move relative to the parent.
pub(super) static KIND: Kind = Kind {
    name: "fixed",
    conditions: &[
        Condition::Coincide(0),
        Condition::Coincide(1),
        Condition::Coincide(2),
        Condition::Orthogonal(0, 1),
        Condition::Orthogonal(1, 2),
        Condition::Orthogonal(2, 0),
    ],
    coordinates: &[],
    axes: Axes::None,
    measure: no_coordinates,
    place: at_rest,
    rates: no_rates,
};
