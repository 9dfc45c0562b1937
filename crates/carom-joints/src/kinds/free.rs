use super::{Axes, Kind, at_rest, no_coordinates, no_rates};

/// No condition (`free`): a name for a floating body.
pub(super) static KIND: Kind = Kind {
    name: "free",
    conditions: &[],
    coordinates: &[],
    axes: Axes::None,
    measure: no_coordinates,
    place: at_rest,
    rates: no_rates,
};
