//! Scales of the joint coordinates: units, rates at rest, distances from limits.

use super::contact::LimitContact;
use super::run::Run;
use carom_joints::coordinates::CoordinateSpec;

/// Speeds below this fraction of the fastest speed of the run count as rest: a contact that an impact leaves slower than this is
/// at rest. Rounding of an impact is some 1e-14 of the speeds, more with unequal masses.
const AT_REST: f64 = 1e-10;

/// Distance within which a coordinate counts as being at its limit, as a fraction of its unit (1 rad, or the size of the system)
/// plus the size of the limit itself. Steps end at a limit with residuals of at most 1e-12 of the size.
const AT_LIMIT: f64 = 1e-11;

/// Impacts at a limit end when the coordinate rises by less than this between two of them, as a fraction of its unit (1 rad, or
/// the size of the system) or of the limit if that is larger. Coordinates are measured from the bodies with a rounding of some
/// 1e-15.
const FLAT: f64 = 64.0 * f64::EPSILON;

impl Run<'_> {
    pub(super) fn coordinate(&self, k: usize) -> (&CoordinateSpec, usize) {
        let mb = self.world.multibody();
        let joint = mb.joint_of_row(self.world.rows[k]);
        let first = mb.coordinates_of(joint).start;
        (&mb.joints()[joint].coordinates[k - first], joint)
    }

    /// Returns the length or angle against which joint coordinate `k` is compared in tolerances: 1 rad for an angle, the size of
    /// the system (m) for a length.
    pub(super) fn unit(&self, k: usize) -> f64 {
        let mb = self.world.multibody();
        let joint = mb.joint_of_row(self.world.rows[k]);
        let place = k - mb.coordinates_of(joint).start;
        if mb.joints()[joint].kind.coordinates[place].is_angle {
            1.0
        } else {
            mb.size()
        }
    }

    /// Returns the rate below which joint coordinate `k` counts as at rest (rad/s or m/s).
    pub(super) fn still_rate(&self, k: usize) -> f64 {
        AT_REST * self.fastest * self.unit(k) / self.world.multibody().size()
    }

    /// Returns the distance within which joint coordinate `k` counts as being at its limit `bound` (rad or m).
    pub(super) fn at_bound(&self, k: usize, bound: f64) -> f64 {
        AT_LIMIT * (self.unit(k) + bound.abs())
    }

    /// Returns the largest rebound of a joint coordinate from its limit that cannot be distinguished from rounding
    /// error (rad or m).
    pub(super) fn flat(&self, limit: LimitContact) -> f64 {
        let (c, _) = self.coordinate(limit.coordinate);
        let bound = if limit.upper { c.upper } else { c.lower };
        FLAT * self.unit(limit.coordinate).max(bound.abs())
    }

    /// Returns the limit at which joint coordinate `k` is held, or `None` if the coordinate is free or held by friction.
    pub(super) fn at_limit(&self, k: usize) -> Option<LimitContact> {
        LimitContact::of(k, self.coordinate(k).0, self.modes.held[k])
    }
}
