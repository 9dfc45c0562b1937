use super::{Axes, Condition, Kind, at_rest, no_coordinates, no_rates};

/// Distance joint (`distance`): the origins of the frames keep their distance, like a massless rod between two ball joints.
pub(super) static KIND: Kind = Kind {
    name: "distance",
    conditions: &[Condition::Distance],
    coordinates: &[],
    axes: Axes::None,
    measure: no_coordinates,
    place: at_rest,
    rates: no_rates,
};
