//! First contact of two bodies in free flight, or of a body and a plane.
//!
//! Every unit vector $n$ gives a lower bound of the gap, so a slab between two bodies proves that they are apart. From a point of
//! the paths, with $n$ fixed in space,
//!
//! $$ L(\tau) = n\cdot(x_{12} + \tau\dot x_{12}) + \sigma_1(d_1 + \tau\dot d_1) +
//!    \sigma_2(d_2 + \tau\dot d_2) - \tfrac{B}2\tau^2, \qquad \dot d_i = d_i\times\Omega_i, $$
//!
//! is concave and below the gap. Here $x_{12}$ is the relative position of the centers, $\sigma_i$ the lowest support value of
//! body $i$ in the direction $d_i$ ($\pm n$ in body axes), $\Omega_i$ the angular velocity, and $B$ a bound of the accelerations
//! of points of the bodies; common gravity cancels. The search goes to the last time with $L \ge 0$ and takes a new $n$ there;
//! near a contact it converges quadratically. Balls have closed forms (`ball.rs`).
//!
//! A search that makes many evaluations without a decision follows a grazing pass, or a pair that touches and stays in contact.
//! Then contacts less deep than the contact tolerance may go unnoticed, and contacts less deep than four times that after 512
//! evaluations more ([`widening`]); the time steps of the search grow with the root of that depth. A search ends after ten times
//! as many evaluations at most.

use crate::MotionError;
use crate::body::{Body, Flights, Velocity};
use crate::pair::{self, Other, PairGap, PairMemory, Slab};
use carom_geometry::pair::Part;
use carom_numeric::roots::widening;
use carom_variational::{PathRate, State, VariationalError};
use nalgebra::Vector3;

/// Depth, as a fraction of the contact tolerance, from which points count as having touched.
pub(crate) const DEEP: f64 = 1e-2;

/// Gaps within this multiple of the gap scale (rounding) count as contact.
pub(crate) const BAND: f64 = 64.0 * f64::EPSILON;

/// Accuracy of the gap at a located contact, as a multiple of the gap scale.
const TARGET: f64 = 8.0 * f64::EPSILON;

/// Number of evaluations without a decision after which contacts may be slightly deeper and go unnoticed.
const MAX_EXACT: usize = 512;

/// Number of evaluations instead of [`MAX_EXACT`] while a pair that touches at the start stays within the tolerance.
const MAX_TOUCHING: usize = 16;

/// Largest number of evaluations of the paths in one search.
const MAX_EVALUATIONS: usize = 10 * MAX_EXACT;

/// Number of evaluations after which a search beyond its stretch of time is interrupted, to be resumed later.
const FEW: usize = 32;

/// Largest number of halvings of a time until the bound of the distance is above the floor.
const HALVINGS: usize = 60;

/// Largest number of secant steps towards the time at which the bound of the distance reaches the floor.
const SECANTS: usize = 3;

/// Relative accuracy of that time at which the secant steps end: the next evaluation of the paths starts there.
const CLOSE_ENOUGH: f64 = 1e-3;

/// Result of a search for the first contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Progress {
    /// Time of the first contact, from the start of the search (s).
    Contact(f64),
    /// Time up to which there is no contact, from the start of the search (s).
    Free(f64),
}

/// A free flight: a body and its state at the begin of the flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch<'a> {
    pub(crate) body: &'a Body,
    pub(crate) state: &'a State,
    /// Time from the begin of the flight to the start of the search (s).
    pub(crate) since: f64,
    /// True if the body does not fly but stays at `state`.
    pub(crate) rests: bool,
}

impl Launch<'_> {
    pub(crate) fn flies(&self) -> bool {
        (self.body.is_mobile() && !self.rests) || self.body.is_prescribed()
    }
}

/// A pair and its flights, for the search of the first contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'a> {
    pub(crate) flights: &'a Flights,
    pub(crate) first: Launch<'a>,
    pub(crate) other: Other<'a>,
    /// Flight of the second body; not used for a plane.
    pub(crate) second: Launch<'a>,
    /// Time at the start of the search (s), for error messages, and for bodies that are told their motion.
    pub(crate) begin: f64,
    pub(crate) clock: f64,
    /// Gap up to which the pair counts as touching (m).
    pub(crate) tolerance: f64,
}

/// States, velocities and gap of the pair at one time.
struct Node {
    time: f64,
    states: [State; 2],
    rates: [PathRate; 2],
    gap: PairGap,
    /// Rate of the gap (m/s).
    rate: f64,
}

impl Search<'_> {
    /// Finds the first contact of the pair within `horizon` (s) from the start of the search. Beyond the time `stretch` (s) the
    /// search may stop without a decision; the result then tells the time up to which there is no contact. `memory`: warm-start
    /// data of the gap.
    ///
    /// A pair that touches at the start must not approach.
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
        // A start that is slightly too deep counts as contact: a pair that separates and returns touches again at that depth.
        let zero = at.gap.value.min(0.0);
        let floor = zero - band;
        let bound = self.bound(horizon);
        if !bound.is_finite() {
            return Err(self.unbounded(&at, horizon));
        }
        let touched = at.gap.value <= target;
        let mut left_start = !touched;
        // Depth up to which a contact may go unnoticed (m).
        let mut shallow: f64 = 0.0;
        for evaluation in 0..MAX_EVALUATIONS {
            let left = horizon - at.time;
            if left <= 0.0 {
                return Ok(Progress::Free(horizon));
            }
            if evaluation >= FEW && at.time >= stretch {
                return Ok(Progress::Free(at.time));
            }
            // While two bodies touch and neither approach nor separate, the bound is almost useless.
            let stays = touched && at.gap.value - zero <= self.tolerance;
            let beyond = evaluation.checked_sub(if stays { MAX_TOUCHING } else { MAX_EXACT });
            shallow = shallow.max(self.tolerance * widening(beyond));
            let mut tau = self.certified(before.as_ref(), &at, left, floor - shallow, bound);
            if tau >= left {
                return Ok(Progress::Free(horizon));
            }
            // A pair that starts in contact may separate slowly.
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
                // Still at the start: the pair approaches after all.
                if height <= -0.5 * band {
                    return Ok(Progress::Contact(next.time));
                }
            }
            before = Some(std::mem::replace(&mut at, next));
        }
        Err(self.undecided(at.time, MAX_EVALUATIONS))
    }

    /// Returns the error for a motion whose acceleration has no bound: a body rotates too far in one step, or a state is not
    /// finite. `horizon`: duration of the search (s).
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
            if let Some(state) = launch.body.told(self.clock + time) {
                let rate = PathRate {
                    linear: state.linear_momentum,
                    angular: state.angular_momentum,
                };
                return Ok((state, rate));
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

    /// Returns an upper bound of the relative acceleration (m/s²) that rotation gives to points of the two bodies
    /// within `horizon` (s). The result is the sum of the bounds of both bodies; gravity is not included, since its
    /// effect is computed exactly.
    fn bound(&self, horizon: f64) -> f64 {
        let of = |launch: &Launch<'_>| {
            if !launch.flies() {
                return 0.0;
            }
            if launch.body.is_prescribed() {
                return launch.body.told_accelerations(self.clock, horizon)[1];
            }
            self.flights
                .acceleration_bound(launch.body, launch.state, launch.since + horizon)
        };
        match self.other {
            Other::Body(_) => of(&self.first) + of(&self.second),
            Other::Plane(_) => of(&self.first),
        }
    }

    /// Returns the relative acceleration (m/s²) that gravity and held forces give to the first body against the second. The result
    /// is zero if both are in free flight without such forces, or neither is.
    fn gravity(&self) -> Vector3<f64> {
        let second = matches!(self.other, Other::Body(_)) && self.second.flies();
        let (one, two) = (self.first.body, self.second.body);
        match (self.first.flies(), second) {
            (true, false) => self.flights.pull(one),
            (false, true) => -self.flights.pull(two),
            (true, true) if two.is_prescribed() => self.flights.pull(one),
            (true, true) => one.push - two.push,
            (false, false) => Vector3::zeros(),
        }
    }

    /// Returns a time (s), at most `left`, for which it is proven that no convex parts of the two bodies come closer to each
    /// other than `floor` (m). `at`: states at the start of that time; `before`: states at the previous evaluation; `bound`:
    /// upper bound of the relative acceleration (m/s²).
    ///
    /// The proof measures the distance of the parts along a direction, their contact normal. If this direction is fixed in space,
    /// the proven distance falls at once where edges meet, because the lowest point of an edge jumps from one end to the other. A
    /// direction that moves gives a valid proof, too. If the fixed direction proves only a short time, three moving ones are
    /// tried: a direction that continues the motion of the normal since the previous evaluation, and directions fixed in either
    /// body.
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
                let enough = if at.rate < 0.0 {
                    tau.min(0.5 * room / -at.rate)
                } else {
                    tau
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

    /// Returns a time (s), at most `left`, within which one pair of parts certainly comes no closer than `floor` (m). The proof
    /// uses a separating direction that moves as $n + \tau w$ with the time $\tau$, where $n$ is the normal of `slab` and $w
    /// \perp n$ is `turn` (1/s).
    ///
    /// A point of a body at $\rho$ in body axes, with rotation $R$ and angular velocity $\Omega$, is no lower along this
    /// direction than $n\cdot R\rho + \tau(w\cdot R\rho + n\cdot R(\Omega\times\rho)) - \tfrac A2\tau^2$, where $A$ bounds the
    /// second derivative.
    fn certified_slab(
        &self,
        at: &Node,
        slab: &Slab,
        turn: &Vector3<f64>,
        left: f64,
        floor: f64,
        bound: f64,
    ) -> f64 {
        let w = turn.norm();
        if !w.is_finite() {
            return 0.0;
        }
        // For this time the length of the normal stays below 3/2.
        let left = left.min(0.5 / w);
        let distance = self.distance_bound(at, slab, turn, left, bound);
        distance.time_above(floor, slab.gap, left)
    }

    /// Returns a lower bound of the distance of one pair of parts, for times up to `left` (s) after `at`. `turn` (1/s) is the rate
    /// of the direction, `bound` (m/s²) an upper bound of the relative acceleration.
    fn distance_bound<'b>(
        &'b self,
        at: &Node,
        slab: &Slab,
        turn: &Vector3<f64>,
        left: f64,
        bound: f64,
    ) -> DistanceBound<'b> {
        let n = slab.normal;
        let d1 = at.states[0].rotation.rotate_back(&n);
        let d2 = at.states[1].rotation.rotate_back(&-n);
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
        let apart = at.states[0].position - at.states[1].position;
        let velocity = at.rates[0].linear - at.rates[1].linear;
        let gravity = self.gravity();
        let mut down = bound - n.dot(&gravity).min(0.0);
        let w = turn.norm();
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
            // Terms that would raise the bound are left out: between two times a convex bound could be below its values at both.
            down = down.max(0.0);
        }
        DistanceBound {
            parts,
            opposite,
            turn1: d1.cross(&at.rates[0].angular) + at.states[0].rotation.rotate_back(turn),
            turn2: d2.cross(&at.rates[1].angular) - at.states[1].rotation.rotate_back(turn),
            d1,
            d2,
            base: match self.other {
                Other::Plane(plane) => plane.half_space.height(&at.states[0].position),
                Other::Body(_) => n.dot(&apart),
            },
            drift: n.dot(&velocity) + turn.dot(&apart),
            down,
        }
    }

    /// Locates the time (s) at which the gap falls to `zero` (m), to an accuracy of `target` (m). The gap is larger at `low` and
    /// smaller at `high`. At the time returned the pair does not overlap by more than that accuracy.
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

/// Lower bound of the distance of convex parts of two bodies along a moving direction, as a concave function of the time.
struct DistanceBound<'a> {
    /// Parts of the first body; the lowest one counts.
    parts: &'a [Part],
    /// Part of the second body; `None` if the second body is a plane.
    opposite: Option<&'a Part>,
    /// Direction in the axes of the first body, and its rate (1/s).
    d1: Vector3<f64>,
    turn1: Vector3<f64>,
    /// Opposite direction in the axes of the second body, and its rate (1/s).
    d2: Vector3<f64>,
    turn2: Vector3<f64>,
    /// Distance of the centers along the direction (m), and its rate (m/s).
    base: f64,
    drift: f64,
    /// Largest downward acceleration (m/s²).
    down: f64,
}

impl DistanceBound<'_> {
    /// Returns the lower bound of the distance (m) after the time `tau` (s).
    fn value(&self, tau: f64) -> f64 {
        let lowest = |part: &Part, d: &Vector3<f64>| part.core_support_value(d) - part.margin();
        let turned = self.d1 + self.turn1 * tau;
        let parts = self.parts.iter().map(|p| lowest(p, &turned));
        let first = parts.fold(f64::INFINITY, f64::min);
        let second = self
            .opposite
            .map_or(0.0, |p| lowest(p, &(self.d2 + self.turn2 * tau)));
        self.base + tau * self.drift + first + second - 0.5 * self.down * tau * tau
    }

    /// Estimates the time (s) at which the points that are lowest now have come nearer by `room` (m).
    fn estimate(&self, room: f64) -> f64 {
        let mut rate = self.drift;
        let lowest = self.parts.iter().map(|p| p.lowest(&self.d1));
        if let Some(lowest) = lowest.min_by(|a, b| a.dot(&self.d1).total_cmp(&b.dot(&self.d1))) {
            rate += lowest.dot(&self.turn1);
        }
        if let Some(part) = self.opposite {
            rate += part.lowest(&self.d2).dot(&self.turn2);
        }
        let root = (rate * rate + 2.0 * self.down * room).max(0.0).sqrt();
        if rate < 0.0 {
            2.0 * room / (root - rate)
        } else {
            (rate + root) / self.down
        }
    }

    /// Returns a time (s), at most `left`, up to which the bound is at least `floor` (m). `gap` is the distance at the start (m).
    fn time_above(&self, floor: f64, gap: f64, left: f64) -> f64 {
        let end = self.value(left);
        if end >= floor {
            return left;
        }
        let guess = self.estimate((gap - floor).max(0.0));
        let (mut low, mut high, mut beyond) = (0.0, left, end);
        let mut at_low = self.value(0.0);
        let mut tau = if guess > 0.0 && guess < left {
            guess
        } else {
            0.5 * left
        };
        for _ in 0..HALVINGS {
            let now = self.value(tau);
            if now >= floor {
                (low, at_low) = (tau, now);
                break;
            }
            (high, beyond) = (tau, now);
            tau *= 0.5;
        }
        // Secants of a concave function approach its root from below.
        for _ in 0..SECANTS {
            if at_low <= floor || high - low <= CLOSE_ENOUGH * low {
                break;
            }
            let chord = low + (high - low) * (at_low - floor) / (at_low - beyond);
            let now = self.value(chord);
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
}

fn rate_of_nothing() -> PathRate {
    PathRate {
        linear: Vector3::zeros(),
        angular: Vector3::zeros(),
    }
}
