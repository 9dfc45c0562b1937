use super::{Axes, Kind, at_rest, no_coordinates, no_rates};

/// Free joint (`free`) without conditions, for a floating body.
pub(super) static KIND: Kind = Kind {
    name: "free",
    conditions: &[],
    coordinates: &[],
    axes: Axes::None,
    measure: no_coordinates,
    place: at_rest,
    rates: no_rates,
};
