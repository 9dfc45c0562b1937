//! Search for the first contact along a path.
//!
//! The gap is the minimum of the heights of the body points. The second derivative of each height lies
//! between $-B$ and $C$ ([`turning`](carom_variational::Turning) and free fall). Three facts isolate the first
//! contact without tunneling:
//!
//! 1. *Certificate.* Take a path point with gap $\Phi$: center of mass $x$, its velocity $v$, plane normal $d$ in body axes,
//!    and $\dot d = d\times w$ with the angular velocity $w$. The function
//!    $$ L(\tau) = n\cdot(x + \tau v) + D + \sigma(d + \tau\dot d) - \tfrac B2\tau^2 $$
//!    is concave and not above the gap. Here $n\cdot z + D$ is the height of a point $z$, and $\sigma(d)$ the smallest
//!    $d\cdot\rho$ of all body points $\rho$. So $\Phi \ge 0$ and $L(\tau) \ge 0$ exclude contact on the whole of
//!    $\lbrack 0,\tau\rbrack$, at the cost of one support evaluation.
//! 2. *Monotonicity.* $\Phi - \tfrac C2\tau^2$ is concave, so a gap rate $u < 0$ stays negative for
//!    $\tau < -u/C$. The sign of the gap at the end of that interval decides whether it contains one contact or
//!    no contact.
//! 3. *Start in contact.* After an impact $\Phi = 0$ up to rounding and $u \ge 0$. The certificate advances from there without
//!    evaluating the gap at the start. In these conditions zero is replaced by a floor: the gap at the start, if that is
//!    negative, minus the rounding band. After many evaluations a growing tolerance is also subtracted ([`widening`]): a graze
//!    that stays undecided for long is less deep than that. If no bounds exist, because a step could turn the body by more than
//!    77°, the search samples the path every 1/4096 of the step.

use super::CollisionError;
use crate::tolerances::BISECTED_TIME;
use carom_geometry::{Gap, HalfSpace, SupportMap};
use carom_numeric::roots::widening;
use carom_variational::{Flight, PathRate, RigidBody, State};
use nalgebra::Vector3;

/// Absolute gap, in units of rounding, below which the body counts as touching.
const BAND: f64 = 64.0 * f64::EPSILON;

/// Accuracy of the located contact, in units of rounding of the gap.
const TARGET: f64 = 8.0 * f64::EPSILON;

/// Number of path evaluations without a decision after which the search tolerates deeper contacts, and after which it
/// tolerates still deeper ones. Grazing flights take some tens of evaluations.
const PATIENCE: usize = 512;

/// Depth of a contact that may then be missed, as a fraction of the size of the body.
const SHALLOW: f64 = 1e-9;

/// Largest number of path evaluations in one search.
const MAX_EVALUATIONS: usize = 10 * PATIENCE;

/// Largest number of Newton steps from the rounding band to the target accuracy; one or two suffice if the gap falls steadily.
const MAX_LIFTS: usize = 8;

/// Sampling interval, as a fraction of the step, used if no bounds exist.
const STRIDE: f64 = 1.0 / 4096.0;

/// Method that finds the first contact of the body with the plane within a time step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum ContactSearch {
    /// Finds the first contact of the path in each step, with the guarantees of this module.
    #[default]
    FirstContact,
    /// Tran & Leok, Algorithm 5.2: tests the gap at the end of the step only, then bisects. Finds a contact,
    /// not always the first, and misses contacts that begin and end within the step.
    EndOfStep,
}

/// Contact on a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    /// Time since the start of the path (s).
    pub(crate) time: f64,
    pub(crate) state: State,
}

/// Body above a plane.
#[derive(Debug)]
pub(crate) struct Scene<'a, S, F> {
    pub(crate) body: &'a RigidBody,
    pub(crate) shape: &'a S,
    pub(crate) plane: &'a HalfSpace,
    pub(crate) flight: &'a F,
    pub(crate) radius: f64,
}

/// Bounds $-B$ and $C$ of the second derivatives of heights along a path (m/s²).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    down: f64,
    up: f64,
    /// Acceleration of the center of mass along the normal (m/s²).
    fall: f64,
}

/// Evaluated point of the path.
struct Probe {
    time: f64,
    state: State,
    rate: PathRate,
    gap: Gap,
    /// Rate $\dot\Phi$ of the height of the lowest point (m/s).
    gap_rate: f64,
}

impl<S: SupportMap, F: Flight> Scene<'_, S, F> {
    pub(crate) fn bounds(&self, from: &State, time: f64) -> Bounds {
        let turning = self.flight.turning(self.body, from, time);
        let curvature = turning.curvature(self.radius);
        let fall = self
            .plane
            .normal()
            .dot(&self.flight.acceleration(self.body, from));
        Bounds {
            down: (curvature - fall).max(0.0),
            up: (curvature + fall).max(0.0),
            fall,
        }
    }

    pub(crate) fn gap(&self, state: &State) -> Gap {
        self.plane.gap(self.shape, &state.configuration())
    }

    /// Returns the largest absolute gap between body and plane that counts as contact (m): a multiple of the gap's
    /// rounding error.
    #[inline]
    pub(crate) fn band(&self, state: &State) -> f64 {
        BAND * self.plane.gap_scale(&state.position, self.radius)
    }

    /// True if a cheap test shows that no contact happens in a step of the duration `time` (s) between the states
    /// `from` and `end`. The body must not penetrate the plane in `from`. `bounds` bounds the second time derivatives
    /// of the heights of body points along the path. False does not imply a contact.
    #[inline]
    pub(crate) fn is_free(&self, from: &State, end: &State, time: f64, bounds: &Bounds) -> bool {
        let (start, stop) = (
            self.plane.height(&from.position),
            self.plane.height(&end.position),
        );
        // First test: a ball about the center of mass, which falls along a concave parabola.
        if bounds.fall <= 0.0 && start.min(stop) > self.radius {
            return true;
        }
        let normal_b = from.rotation.rotate_back(self.plane.normal());
        let spin = self.body.angular_velocity(&from.angular_momentum);
        let velocity = self.plane.normal().dot(&from.linear_momentum) / self.body.mass();
        let turned = normal_b + normal_b.cross(&spin) * time;
        let reach = self.shape.support(&turned).value;
        start + velocity * time + reach - 0.5 * bounds.down * time * time >= 0.0
    }

    fn start(&self, from: &State) -> Probe {
        let rate = PathRate {
            linear: from.linear_momentum / self.body.mass(),
            angular: self.body.angular_velocity(&from.angular_momentum),
        };
        self.finish(0.0, *from, rate)
    }

    fn probe(&self, from: &State, time: f64) -> Result<Probe, CollisionError> {
        let (state, rate) = self.flight.advance_with_rate(self.body, from, time)?;
        Ok(self.finish(time, state, rate))
    }

    fn finish(&self, time: f64, state: State, rate: PathRate) -> Probe {
        let gap = self.gap(&state);
        let gap_rate = self.plane.normal().dot(&rate.linear) + gap.moment_b().dot(&rate.angular);
        Probe {
            time,
            state,
            rate,
            gap,
            gap_rate,
        }
    }

    /// Returns a lower bound $L(\tau)$ of the gap (m) at the time `tau` (s) after the path point `at`: the certificate
    /// in the module documentation. The bound is computed from the gap and its rate at the path point, and `bounds` of
    /// the second time derivatives of the heights of body points.
    fn certificate(&self, at: &Probe, tau: f64, bounds: &Bounds) -> f64 {
        let normal: &Vector3<f64> = self.plane.normal();
        let turned = at.gap.normal_b + at.gap.normal_b.cross(&at.rate.angular) * tau;
        self.plane.height(&at.state.position)
            + tau * normal.dot(&at.rate.linear)
            + self.shape.support(&turned).value
            - 0.5 * bounds.down * tau * tau
    }

    /// Finds the first contact on the path of the duration `time` (s) that starts in the state `from`; the body does
    /// not penetrate the plane before it. `bounds` bounds the second time derivatives of the heights of body points
    /// along the path. Returns `None` if the path has no contact.
    ///
    /// `from` must not penetrate and, if it is in contact, must not approach.
    pub(crate) fn first_contact(
        &self,
        from: &State,
        time: f64,
        bounds: &Bounds,
    ) -> Result<Option<Contact>, CollisionError> {
        let mut at = self.start(from);
        let band = self.band(from);
        if !bounds.down.is_finite() {
            return self.sample(from, time, at, band);
        }
        let exact = at.gap.value.min(0.0) - band;
        for evaluation in 0..MAX_EVALUATIONS {
            let beyond = evaluation.checked_sub(PATIENCE);
            let slack = SHALLOW * self.radius * widening(beyond);
            let floor = exact - slack;
            let left = time - at.time;
            if left <= 0.0 || self.certificate(&at, left, bounds) >= floor {
                return Ok(None);
            }
            // Time up to which a single falling point is certainly still above the plane.
            let (rate, gap) = (at.gap_rate, at.gap.value.max(0.0) + band + slack);
            let reach = (rate + (rate * rate + 2.0 * bounds.down * gap).sqrt()) / bounds.down;
            let falling = if rate < 0.0 && at.gap.value > 0.0 {
                -rate / bounds.up
            } else {
                0.0
            };
            let coarse = beyond.is_some();
            if !coarse && falling >= reach.min(left) {
                let end = self.end_of(falling, left, &at, time);
                let next = self.probe(from, end)?;
                if next.gap.value <= 0.0 {
                    return self.refine(from, at.time, next).map(Some);
                }
                at = next;
                continue;
            }
            let mut tau = reach.min(left);
            while self.certificate(&at, tau, bounds) < floor && tau > f64::EPSILON * time {
                tau *= 0.5;
            }
            let next = self.probe(from, (at.time + tau).min(time))?;
            // A second point as low as the one with this gap rate may keep the certificate negative.
            let stuck = coarse || tau <= f64::EPSILON * time;
            if next.gap.value <= 0.0 && (next.gap_rate < 0.0 || stuck) {
                if coarse && at.gap.value > 0.0 {
                    return self.refine(from, at.time, next).map(Some);
                }
                return self.lift(from, at.time, next).map(Some);
            }
            at = next;
        }
        Err(CollisionError::ContactSearchLimit {
            limit: MAX_EVALUATIONS,
            time: at.time,
        })
    }

    /// Finds the first contact by sampling the path of the duration `time` (s) at 4096 times; a short contact between two samples
    /// is missed. `at` is the start of the path, and `band` the gap below which the body touches (m).
    fn sample(
        &self,
        from: &State,
        time: f64,
        mut at: Probe,
        band: f64,
    ) -> Result<Option<Contact>, CollisionError> {
        let count = (1.0 / STRIDE) as usize;
        for k in 1..=count {
            let next = self.probe(from, time * (k as f64 * STRIDE))?;
            if next.gap.value <= 0.0 && next.gap_rate < 0.0 {
                if at.gap.value > -band {
                    return self.refine(from, at.time, next).map(Some);
                }
                let (time, state) = (next.time, next.state);
                return Ok(Some(Contact { time, state }));
            }
            at = next;
        }
        Ok(None)
    }

    /// Returns the time (s) at the end of an interval in which the gap falls; the end `time` of the step if the interval reaches
    /// it. The interval starts at the path point `at` and lasts `falling` (s); `left` is the time from that point to the end of
    /// the step (s).
    fn end_of(&self, falling: f64, left: f64, at: &Probe, time: f64) -> f64 {
        if falling >= left {
            time
        } else {
            at.time + falling
        }
    }

    /// Locates the contact between the time `low` (s), at which the gap is positive, and the path point `high`, at which the gap
    /// is zero or negative. The gap must fall in between. The method is Newton's, safeguarded by bisection; the body does not
    /// penetrate the plane in the result.
    fn refine(&self, from: &State, mut low: f64, high: Probe) -> Result<Contact, CollisionError> {
        let tolerance = TARGET * self.plane.gap_scale(&high.state.position, self.radius);
        let mut at = high;
        let mut high = at.time;
        for _ in 0..200 {
            let newton = at.time - (at.gap.value - 0.5 * tolerance) / at.gap_rate;
            let middle = 0.5 * (low + high);
            let inside = newton > low && newton < high;
            let next = if inside { newton } else { middle };
            if next <= low || next >= high {
                break;
            }
            at = self.probe(from, next)?;
            if at.gap.value >= 0.0 {
                low = next;
                if at.gap.value <= tolerance {
                    break;
                }
            } else {
                high = next;
            }
        }
        let time = low;
        let state = self.flight.advance(self.body, from, time)?;
        Ok(Contact { time, state })
    }

    /// Corrects a contact at the path point `deep`, at which the body lies too deep in the plane. The contact is moved
    /// back along the path by Newton steps, but not before the time `low` (s). Without this correction each bounce of a
    /// body that does not turn would start slightly deeper than the previous one.
    fn lift(&self, from: &State, low: f64, deep: Probe) -> Result<Contact, CollisionError> {
        let tolerance = TARGET * self.plane.gap_scale(&deep.state.position, self.radius);
        let mut at = deep;
        for _ in 0..MAX_LIFTS {
            let next = at.time - at.gap.value / at.gap_rate;
            if at.gap.value >= -tolerance || !(next > low && next < at.time) {
                break;
            }
            let higher = self.probe(from, next)?;
            if !(higher.gap.value > at.gap.value && higher.gap_rate < 0.0) {
                break;
            }
            at = higher;
        }
        let (time, state) = (at.time, at.state);
        Ok(Contact { time, state })
    }

    /// Finds a contact by the rule of Tran & Leok: if the body penetrates the plane at the end of the step, bisects the
    /// step. Returns `None` if the body does not penetrate there. The gap at the start is not evaluated. `time` is the
    /// duration of the step (s) from the state `from` to the state `end`.
    pub(crate) fn end_of_step(
        &self,
        from: &State,
        end: &State,
        time: f64,
    ) -> Result<Option<Contact>, CollisionError> {
        if self.gap(end).value > 0.0 {
            return Ok(None);
        }
        let (mut low, mut high) = (0.0, time);
        let mut state = *from;
        while high - low >= BISECTED_TIME * time {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            let trial = self.flight.advance(self.body, from, middle)?;
            if self.gap(&trial).value >= 0.0 {
                (low, state) = (middle, trial);
            } else {
                high = middle;
            }
        }
        Ok(Some(Contact { time: low, state }))
    }
}
