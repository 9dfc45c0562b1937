//! The first contact of two bodies that fly, or of a body and a plane.
//!
//! Every unit vector $n$ gives a lower bound of the gap, so a slab between two bodies is a proof that
//! they are apart. From a point of the paths, with $n$ fixed in space,
//!
//! $$ L(\tau) = n\cdot(x_{12} + \tau\dot x_{12}) + \sigma_1(d_1 + \tau\dot d_1) +
//!    \sigma_2(d_2 + \tau\dot d_2) - \tfrac{B}2\tau^2, \qquad \dot d_i = d_i\times\Omega_i, $$
//!
//! is concave and below the gap: $B$ bounds the accelerations of points of the bodies, and common
//! gravity cancels. The search goes to the last time with $L \ge 0$ and takes a new $n$ there; near a
//! contact the gap falls quadratically. Balls have closed forms (`ball.rs`).
//!
//! A search that goes on for long without a decision follows a graze, or a pair that touches and stays so. Then
//! contacts less deep than the contact tolerance may go unnoticed, and less deep than four times that after 512
//! evaluations more ([`patience`]); strides grow with the root of that depth, and no search lasts for more
//! than ten times as many evaluations.

use crate::flying::search::patience;
use crate::world::MotionError;
use crate::world::body::{Body, Flights, Velocity};
use crate::world::pair::{self, Other, PairGap, PairMemory, Slab};
use carom_geometry::pair::Part;
use carom_variational::{PathRate, State, VariationalError};
use nalgebra::Vector3;

/// Points that come this fraction of the contact tolerance too deep have touched.
pub(crate) const DEEP: f64 = 1e-2;

/// Gaps within this many units of rounding are contact.
pub(crate) const BAND: f64 = 64.0 * f64::EPSILON;

/// The contact is located to this many units of rounding of the gap.
const TARGET: f64 = 8.0 * f64::EPSILON;

/// Evaluations of a path without a decision before contacts may be a little deeper and go unnoticed.
const MAX_EXACT: usize = 512;

/// Limit while a pair that touches at the start stays within the tolerance.
const MAX_TOUCHING: usize = 16;

/// Evaluations of a path in one search.
const MAX_EVALUATIONS: usize = 10 * MAX_EXACT;

/// Evaluations in which a search that goes beyond its stretch should decide; after them it is taken up again later.
const FEW: usize = 32;

/// Result of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Progress {
    /// Time of the first contact after the start (s).
    Contact(f64),
    /// Time up to which no contact happens (s).
    Free(f64),
}

/// A flight: where a body was, and since how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch<'a> {
    pub(crate) body: &'a Body,
    pub(crate) state: &'a State,
    /// Time from the launch to the start of the search (s).
    pub(crate) since: f64,
    /// True if the body does not fly at all, but rests where it is.
    pub(crate) rests: bool,
}

impl Launch<'_> {
    fn flies(&self) -> bool {
        self.body.is_mobile() && !self.rests
    }
}

/// A pair whose contact is looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'a> {
    pub(crate) flights: &'a Flights,
    pub(crate) first: Launch<'a>,
    pub(crate) other: Other<'a>,
    /// Launch of the second; of no meaning for a plane.
    pub(crate) second: Launch<'a>,
    /// Time of the start of the search, for messages (s).
    pub(crate) begin: f64,
    /// Gaps within this are contact (m).
    pub(crate) tolerance: f64,
}

/// A point of the two paths.
struct Node {
    time: f64,
    states: [State; 2],
    rates: [PathRate; 2],
    gap: PairGap,
    /// Rate of the gap.
    rate: f64,
}

impl Search<'_> {
    /// The first contact after the start, at most `horizon`. Beyond `stretch` the search ends early where it does not
    /// decide soon.
    ///
    /// If the pair touches at the start, it must not approach.
    pub(crate) fn first_contact(
        &self,
        stretch: f64,
        horizon: f64,
        memory: &mut PairMemory,
    ) -> Result<Progress, MotionError> {
        let mut at = self.probe(0.0, memory)?;
        let mut before: Option<Node> = None;
        let scale = pair::gap_scale(self.first.body, &at.states[0], &self.other, &at.states[1]);
        let (band, target) = (BAND * scale, TARGET * scale);
        // A start that is a little too deep is contact: what leaves it comes back to that depth.
        let zero = at.gap.value.min(0.0);
        let floor = zero - band;
        let bound = self.bound(horizon);
        if !bound.is_finite() {
            return Err(self.unbounded(&at, horizon));
        }
        let touched = at.gap.value <= target;
        let mut left_start = !touched;
        // Depth that a contact may have and go unnoticed.
        let mut shallow: f64 = 0.0;
        for evaluation in 0..MAX_EVALUATIONS {
            let left = horizon - at.time;
            if left <= 0.0 {
                return Ok(Progress::Free(horizon));
            }
            if evaluation >= FEW && at.time >= stretch {
                return Ok(Progress::Free(at.time));
            }
            // If two bodies touch and neither approach nor leave, the bound says next to nothing.
            let stays = touched && at.gap.value - zero <= self.tolerance;
            let beyond = evaluation.checked_sub(if stays { MAX_TOUCHING } else { MAX_EXACT });
            shallow = shallow.max(self.tolerance * patience(beyond));
            let mut tau = self.certified(before.as_ref(), &at, left, floor - shallow, bound);
            if tau >= left {
                return Ok(Progress::Free(horizon));
            }
            // A pair that starts in contact and leaves it may do so slowly.
            let least = f64::EPSILON * (self.begin.abs() + horizon);
            tau = tau.max(least);
            let next = self.probe((at.time + tau).min(horizon), memory)?;
            let height = next.gap.value - zero;
            left_start |= height > band;
            if height <= target && next.rate < 0.0 {
                if left_start || next.gap.value < floor {
                    let contact = self.refine(at, next, (zero, target), memory);
                    return contact.map(Progress::Contact);
                }
                // Still at the start: it approaches after all.
                if height <= -0.5 * band {
                    return Ok(Progress::Contact(next.time));
                }
            }
            before = Some(std::mem::replace(&mut at, next));
        }
        Err(self.undecided(at.time, MAX_EVALUATIONS))
    }

    /// Reason for which the motion of the two has no bound: a body that turns too far in one step, or one whose state is not
    /// finite.
    fn unbounded(&self, start: &Node, horizon: f64) -> MotionError {
        let flying = [&self.first, &self.second].into_iter().zip(&start.states);
        let turned = flying
            .filter(|(launch, _)| launch.flies())
            .map(|(launch, state)| {
                let spin = Velocity::of(launch.body, state).angular.norm();
                (launch, spin * (launch.since + horizon))
            });
        let most = turned.max_by(|a, b| a.1.total_cmp(&b.1));
        match most {
            Some((launch, h_omega)) if h_omega.is_finite() && h_omega > 0.5 => {
                self.flight_error(launch, VariationalError::StepTooLarge { h_omega })
            }
            _ => MotionError::NonFinite {
                body: self.first.body.name.clone(),
                time: self.begin,
            },
        }
    }

    fn undecided(&self, since: f64, limit: usize) -> MotionError {
        MotionError::ContactSearchLimit {
            first: self.first.body.name.clone(),
            second: self.other.name().to_owned(),
            limit,
            time: self.begin + since,
        }
    }

    fn probe(&self, time: f64, memory: &mut PairMemory) -> Result<Node, MotionError> {
        let fly = |launch: &Launch<'_>| {
            if !launch.flies() {
                return Ok((*launch.state, rate_of_nothing()));
            }
            self.flights
                .advance_with_rate(launch.body, launch.state, launch.since + time)
                .map_err(|source| self.flight_error(launch, source))
        };
        let (state, rate) = fly(&self.first)?;
        let (other_state, other_rate) = match self.other {
            Other::Body(_) => fly(&self.second)?,
            Other::Plane(_) => (*self.second.state, rate_of_nothing()),
        };
        let found = pair::gap(self.first.body, &state, &self.other, &other_state, memory);
        let at = |state: &State, rate: &PathRate, point: &Vector3<f64>| {
            let arm = state.rotation.rotate_back(&(point - state.position));
            rate.linear + state.rotation.rotate(&rate.angular.cross(&arm))
        };
        let moving = match self.other {
            Other::Body(_) => at(&other_state, &other_rate, &found.points[1]),
            Other::Plane(_) => Vector3::zeros(),
        };
        let relative = at(&state, &rate, &found.points[0]) - moving;
        Ok(Node {
            time,
            states: [state, other_state],
            rates: [rate, other_rate],
            rate: found.normal.dot(&relative),
            gap: found,
        })
    }

    fn flight_error(&self, launch: &Launch<'_>, source: VariationalError) -> MotionError {
        MotionError::Flight {
            body: launch.body.name.clone(),
            time: self.begin,
            source,
        }
    }

    /// $B$: of both rotations. Gravity that is not common is exact.
    fn bound(&self, horizon: f64) -> f64 {
        let of = |launch: &Launch<'_>| {
            if !launch.flies() {
                return 0.0;
            }
            self.flights
                .acceleration_bound(launch.body, launch.state, launch.since + horizon)
        };
        match self.other {
            Other::Body(_) => of(&self.first) + of(&self.second),
            Other::Plane(_) => of(&self.first),
        }
    }

    /// Acceleration of the first body against the second by gravity.
    fn gravity(&self) -> Vector3<f64> {
        let second = matches!(self.other, Other::Body(_)) && self.second.flies();
        match (self.first.flies(), second) {
            (true, false) => self.flights.gravity,
            (false, true) => -self.flights.gravity,
            _ => Vector3::zeros(),
        }
    }

    /// Time for which no pair of parts is closer than `floor`, at most `left`.
    ///
    /// A normal that stays in space loses at first order where edges meet, because the support of an
    /// edge goes over to its ends at once. Any motion of the normal gives a bound: that of the last
    /// stretch, and those with the bodies, are tried where the first is short.
    fn certified(
        &self,
        before: Option<&Node>,
        at: &Node,
        left: f64,
        floor: f64,
        bound: f64,
    ) -> f64 {
        let mut tau = left;
        for (index, slab) in at.gap.slabs.iter().enumerate() {
            let still = Vector3::zeros();
            let mut best = self.certified_slab(at, slab, &still, tau, floor, bound);
            if let Other::Body(_) = self.other {
                let room = slab.gap - floor;
                let enough = match at.rate < 0.0 {
                    true => tau.min(0.5 * room / -at.rate),
                    false => tau,
                };
                let n = slab.normal;
                let last = before.and_then(|node| {
                    let passed = at.time - node.time;
                    let then = node.gap.slabs.get(index)?.normal;
                    (passed > 0.0).then(|| (n - then) / passed)
                });
                let with = |i: usize| at.states[i].rotation.rotate(&at.rates[i].angular).cross(&n);
                for turn in [last, Some(with(1)), Some(with(0))].into_iter().flatten() {
                    if best >= enough {
                        break;
                    }
                    let turn = turn - n * n.dot(&turn);
                    best = best.max(self.certified_slab(at, slab, &turn, tau, floor, bound));
                }
            }
            tau = best;
            if tau <= 0.0 {
                break;
            }
        }
        tau
    }

    /// Time for which one pair of parts is not closer, with a normal that turns: $n + \tau w$, $w \perp n$.
    ///
    /// Points of the bodies then are no lower than
    /// $n\cdot R\rho + \tau(w\cdot R\rho + n\cdot R(\Omega\times\rho)) - \tfrac A2\tau^2$.
    #[expect(
        clippy::too_many_lines,
        reason = "to be split: bounds of a slab, then its subdivision"
    )]
    fn certified_slab(
        &self,
        at: &Node,
        slab: &Slab,
        turn: &Vector3<f64>,
        left: f64,
        floor: f64,
        bound: f64,
    ) -> f64 {
        let n = slab.normal;
        let w = turn.norm();
        if !w.is_finite() {
            return 0.0;
        }
        // So far the length of the normal stays below 3/2.
        let left = left.min(0.5 / w);
        let d1 = at.states[0].rotation.rotate_back(&n);
        let turn1 = d1.cross(&at.rates[0].angular) + at.states[0].rotation.rotate_back(turn);
        let (parts, opposite): (&[Part], Option<&Part>) = match self.other {
            Other::Plane(_) => (&self.first.body.parts, None),
            Other::Body(second) => (
                self.first
                    .body
                    .parts
                    .get(slab.part..=slab.part)
                    .unwrap_or_default(),
                second.parts.get(slab.other),
            ),
        };
        let d2 = at.states[1].rotation.rotate_back(&-n);
        let turn2 = d2.cross(&at.rates[1].angular) - at.states[1].rotation.rotate_back(turn);
        let apart = at.states[0].position - at.states[1].position;
        let base = match self.other {
            Other::Plane(plane) => plane.half_space.height(&at.states[0].position),
            Other::Body(_) => n.dot(&apart),
        };
        let velocity = at.rates[0].linear - at.rates[1].linear;
        let drift = n.dot(&velocity) + turn.dot(&apart);
        let gravity = self.gravity();
        let mut down = bound - n.dot(&gravity).min(0.0);
        if w > 0.0 {
            let margins: f64 = parts.iter().chain(opposite).map(Part::margin).sum();
            let other = match self.other {
                Other::Body(second) => second.radius,
                Other::Plane(_) => 0.0,
            };
            let spins = at.rates[0].angular.norm() * self.first.body.radius
                + at.rates[1].angular.norm() * other;
            down += 0.5 * bound + w * (gravity.norm() * left + 2.0 * spins + w * margins)
                - 2.0 * turn.dot(&velocity);
            // Terms that lift the bound are left out: between two times a convex bound may be below both.
            down = down.max(0.0);
        }
        let value = |tau: f64| {
            let lowest = |part: &Part, d: &Vector3<f64>| part.core_support_value(d) - part.margin();
            let turned = d1 + turn1 * tau;
            let first = parts
                .iter()
                .map(|p| lowest(p, &turned))
                .fold(f64::INFINITY, f64::min);
            let second = opposite.map_or(0.0, |p| lowest(p, &(d2 + turn2 * tau)));
            base + tau * drift + first + second - 0.5 * down * tau * tau
        };
        let end = value(left);
        if end >= floor {
            return left;
        }
        // Time at which the lowest point of the present alone would reach the floor.
        let mut rate = drift;
        if let Some(lowest) = parts
            .iter()
            .map(|p| p.lowest(&d1))
            .min_by(|a, b| a.dot(&d1).total_cmp(&b.dot(&d1)))
        {
            rate += lowest.dot(&turn1);
        }
        if let Some(part) = opposite {
            rate += part.lowest(&d2).dot(&turn2);
        }
        let room = (slab.gap - floor).max(0.0);
        let root = (rate * rate + 2.0 * down * room).max(0.0).sqrt();
        let guess = if rate < 0.0 {
            2.0 * room / (root - rate)
        } else {
            (rate + root) / down
        };
        let (mut low, mut high, mut beyond) = (0.0, left, end);
        let mut at_low = value(0.0);
        let mut tau = if guess > 0.0 && guess < left {
            guess
        } else {
            0.5 * left
        };
        for _ in 0..60 {
            let now = value(tau);
            if now >= floor {
                (low, at_low) = (tau, now);
                break;
            }
            (high, beyond) = (tau, now);
            tau *= 0.5;
        }
        // Chords of a concave function reach its root from below.
        for _ in 0..3 {
            if at_low <= floor || high - low <= 1e-3 * low {
                break;
            }
            let chord = low + (high - low) * (at_low - floor) / (at_low - beyond);
            let now = value(chord);
            if chord <= low || chord >= high {
                break;
            }
            if now >= floor {
                (low, at_low) = (chord, now);
            } else {
                (high, beyond) = (chord, now);
            }
        }
        low
    }

    /// The contact, a gap of `zero`, between a point above it and one that is not, on the free side.
    fn refine(
        &self,
        low: Node,
        high: Node,
        (zero, target): (f64, f64),
        memory: &mut PairMemory,
    ) -> Result<f64, MotionError> {
        if high.gap.value - zero >= -target {
            return Ok(high.time);
        }
        let (mut low, mut at) = (low.time, high);
        let mut high = at.time;
        for _ in 0..200 {
            let newton = at.time - (at.gap.value - zero) / at.rate;
            let middle = 0.5 * (low + high);
            let next = if newton > low && newton < high {
                newton
            } else {
                middle
            };
            if next <= low || next >= high {
                break;
            }
            at = self.probe(next, memory)?;
            let height = at.gap.value - zero;
            if height.abs() <= target {
                return Ok(at.time);
            }
            if height > 0.0 {
                low = next;
            } else {
                high = next;
            }
        }
        Ok(low)
    }
}

fn rate_of_nothing() -> PathRate {
    PathRate {
        linear: Vector3::zeros(),
        angular: Vector3::zeros(),
    }
}
