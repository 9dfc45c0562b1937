use super::{Axes, Condition, Kind, at_rest, no_coordinates, no_rates};

/// The origins keep their distance (`distance`): a rod without mass between two ball joints.
pub(super) static KIND: Kind = Kind {
    name: "distance",
    conditions: &[Condition::Distance],
    coordinates: &[],
    axes: Axes::None,
    measure: no_coordinates,
    place: at_rest,
    rates: no_rates,
};
