//! One step of bodies in lasting contact: kick, free flight, kick.
//!
//! 1. Contact rows $J_0$ at the start, $v\leftarrow v + M^{-1}J_0^T\Lambda_0$ with mass matrix $M$, impulses $\Lambda_0$ and gaps
//!    $\Phi$: $0\le\Lambda_n\perp\Phi(\text{end})\ge 0$;
//! 2. the free flight;
//! 3. contact rows $J_1$ at the end, $v\leftarrow v + M^{-1}J_1^T\Lambda_1$ with $0\le\Lambda_n\perp J_nv\ge 0$.
//!
//! Each kick is an impact at a fixed configuration, so its work is exactly $\tfrac12\Lambda\cdot(b^-+b^+)$ with the contact
//! velocities $b^\mp$ before and after it; `losses.rs` defines the part of it that is a loss, `guard.rs` bounds the rest.
//! Friction is Coulomb's in the circular cone. At a contact that slides, friction opposes the slip before the first kick and the
//! slip after the second; at one that sticks, the mean slip of the flight and the slip after it are zero.
//!
//! `start` gathers what a step begins with, `first` and `second` find the impulses of the kicks, `result` books them.
//!
//! RATTLE (Andersen, J. Comput. Phys. 52 (1983) 24) with the friction of Moreau (1988) and Jean (1999).

mod first;
mod rate;
mod result;
mod second;
mod start;
mod statics;

pub(crate) use self::rate::Touching;
pub(crate) use self::start::ROUNDING;
use crate::MotionError;
use crate::body::{Body, Velocity};
use crate::events::Balance;
use crate::force::PointForce;
use crate::step_scene::StepScene;
use carom_variational::load::Pull;
use carom_variational::{State, VariationalError};
use nalgebra::{Vector2, Vector3};
use start::StepStart;

/// A first kick is accepted without full convergence if its last change is within this fraction of the contact velocities.
pub(crate) const SETTLED: f64 = 1e-8;

/// Number of successive iterations without progress after which the iteration of the first kick stops.
pub(crate) const STALE: usize = 6;

/// Steps up to this fraction of the time step of the grid use rates of gaps instead of differences of gaps.
pub(crate) const SHORT: f64 = 0.0101;

/// Contact velocities below this fraction of the velocities within a step count as zero.
pub(crate) const STILL: f64 = 1e-11;

/// Largest rotation in a step of lasting contact (rad) of a body whose rotation axis can change. In sixteen revolutions the body
/// passes all orientations between the two kicks of the step, and each of the many flights of a step takes a millisecond.
const MOST_TURNED: f64 = 100.0;

/// Points whose gap is within this fraction of the contact tolerance count as closed.
pub(crate) const CLOSED: f64 = 1e-3;

/// Contact result of a step for one pair.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct PairStep {
    /// Normal impulse of both kicks (N s).
    pub(crate) pressed: f64,
    /// Normal impulse of the first kick (N s).
    pub(crate) pressed_first: f64,
    /// True if every point of the pair has separated at the end.
    pub(crate) open: bool,
    /// True if a point with normal force slides at the end.
    pub(crate) slides: bool,
    /// Impulse of both kicks on the first body, in space (N s).
    pub(crate) impulse: Vector3<f64>,
    /// Gap of the pair at the end, over all features (m).
    pub(crate) gap: f64,
}

/// Result of one step of an island.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Step {
    /// Length (s).
    pub(crate) length: f64,
    /// States after the first kick, at the start of the flight.
    pub(crate) launched: Vec<State>,
    /// States after the second kick.
    pub(crate) end: Vec<State>,
    pub(crate) pairs: Vec<PairStep>,
    /// Work of the kicks (J).
    pub(crate) work: f64,
    /// Energy lost in friction and at landing points (J). The rest of the work is the error of the step.
    pub(crate) loss: f64,
    /// Books of the forces that act in kicks.
    pub(crate) given: Given,
    /// Smallest slip along its initial direction that is left at the end to a contact that slid at the start (m/s); negative if
    /// sliding friction would reverse the slip.
    pub(crate) slip_left: f64,
    /// True if all bodies stay where they are: statics allows it.
    pub(crate) rests: bool,
    /// Largest rate of the contacts at the end (1/s).
    pub(crate) rate: f64,
    pub(crate) pressed: Pressed,
    /// Mean forces of the points that carry.
    pub(crate) forces: Vec<PointForce>,
}

/// Books of the forces on bodies that act in the kicks of a step, and of running surfaces.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Given {
    /// Energy that drag takes, and work of the other forces (J).
    pub(crate) drag: f64,
    pub(crate) applied: f64,
    /// Energy that dampers of springs take (J).
    pub(crate) damped: f64,
    /// Work of running surfaces (J).
    pub(crate) prescribed: f64,
    /// Impulse of the forces (N s).
    pub(crate) impulse: Vector3<f64>,
}

impl Given {
    /// Adds a kick of length `half` (s) on a body between two velocities. A body that is told its motion works against the springs.
    pub(crate) fn add(
        &mut self,
        body: &Body,
        pull: &Pull,
        half: f64,
        [before, after]: [&Velocity; 2],
    ) {
        let (before, after) = (before.stacked(), after.stacked());
        let works = pull.works(half, &before, &after);
        self.damped += works.damped;
        if body.is_prescribed() {
            self.prescribed -= pull.springs().dot(&((before + after) * (0.5 * half)));
            return;
        }
        self.drag += works.drag;
        self.applied += works.applied;
        self.impulse += pull.total().fixed_rows::<3>(0) * half;
    }

    /// Returns the energy that all give (J).
    pub(crate) fn work(&self) -> f64 {
        self.applied + self.prescribed - self.drag - self.damped
    }

    /// Adds to the balance of a run.
    pub(crate) fn book(&self, balance: &mut Balance) {
        balance.drag_loss += self.drag;
        balance.applied_work += self.applied;
        balance.damper_loss += self.damped;
        balance.prescribed_work += self.prescribed;
        balance.input_impulse += self.impulse;
    }
}

/// Impulses of a step, from which those of the next one start.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Pressed {
    /// Impulses of the first and second kick (N s), three for each point at the start.
    pub(crate) impulses: [Vec<f64>; 2],
    /// Pair and place of these points, in the frame of the pair's first body (m).
    pub(crate) marks: Vec<(usize, Vector3<f64>)>,
    /// Length of the step (s).
    pub(crate) length: f64,
}

impl Step {
    /// Returns a copy of this step with another length (s): impulses, work and loss change in proportion, so that the forces stay
    /// equal. Valid only for a step at whose end all bodies have the states of its start.
    pub(crate) fn stretched(&self, length: f64) -> Self {
        let share = length / self.length;
        let mut out = self.clone();
        out.length = length;
        out.work *= share;
        out.loss *= share;
        out.given.impulse *= share;
        out.given.prescribed *= share;
        for pair in &mut out.pairs {
            pair.pressed *= share;
            pair.pressed_first *= share;
            pair.impulse *= share;
        }
        out
    }
}

impl StepScene<'_> {
    /// Computes the states after a free flight of length `h` (s).
    pub(crate) fn fly(&self, states: &[State], h: f64) -> Result<Vec<State>, MotionError> {
        let flights = self.bodies.iter().zip(states);
        flights
            .map(|(body, state)| {
                if let Some(told) = body.checked(self.time + h)? {
                    return Ok(told);
                }
                self.check_turn(body, state, h)
                    .and_then(|()| self.flights.advance(body, state, h))
                    .map_err(|source| MotionError::Flight {
                        body: body.name.clone(),
                        time: self.time,
                        source,
                    })
            })
            .collect()
    }

    /// Checks that a body rotates by at most [`MOST_TURNED`] in an exact flight of `h` (s) within a step.
    fn check_turn(&self, body: &Body, state: &State, h: f64) -> Result<(), VariationalError> {
        let angle = body.tumbling(state) * h;
        if angle <= MOST_TURNED || !angle.is_finite() || !self.flights.is_exact(body) {
            return Ok(());
        }
        Err(VariationalError::FlightTooLong {
            angle,
            limit: MOST_TURNED,
        })
    }

    fn velocities(&self, states: &[State]) -> Vec<Velocity> {
        let all = self.bodies.iter().zip(states);
        all.map(|(body, state)| Velocity::of(body, state)).collect()
    }

    /// Computes one step of length `h` (s) of bodies in lasting contact: impulses at the start, free flight, impulses at the end.
    /// `states`: states before the first impulses; `guess`: impulses of the step before, if contacts last.
    pub(crate) fn step(
        &self,
        states: &[State],
        h: f64,
        guess: Option<&Pressed>,
    ) -> Result<Step, MotionError> {
        let marks = guess.map_or(&[][..], |guess| &guess.marks);
        let start = StepStart::new(self, states, h, marks)?;
        if let Some(step) = start.at_rest() {
            return Ok(step);
        }
        let rows = 3 * start.contacts();
        let guess_of = |which: usize| match guess {
            Some(pressed) if pressed.impulses[which].len() == rows => {
                let share = h / pressed.length;
                let scaled = pressed.impulses[which].iter().map(|x| x * share);
                scaled.collect()
            }
            _ => vec![0.0; rows],
        };
        let first = start.first_kick(guess_of(0))?;
        let second = start.second_kick(&first, &guess_of(1))?;
        start.result(first, second)
    }

    /// Computes a step of length `h` (s) that begins with the first kick of a longer one, whose impulses are `pressed`.
    pub(crate) fn step_as_begun(
        &self,
        states: &[State],
        h: f64,
        pressed: &Pressed,
    ) -> Result<Step, MotionError> {
        let start = StepStart::new(self, states, h, &pressed.marks)?;
        let first = start.kick_by(pressed.impulses[0].clone())?;
        let second = start.second_kick(&first, &vec![0.0; 3 * start.contacts()])?;
        start.result(first, second)
    }
}

/// Returns the tangential velocity (m/s) of contact `c` from the velocities of all rows, three per contact.
fn slip_of(velocities: &[f64], c: usize) -> Vector2<f64> {
    let at = |k: usize| velocities.get(3 * c + k).copied().unwrap_or_default();
    Vector2::new(at(1), at(2))
}

/// True if no entry of the state is infinite or NaN.
pub(crate) fn is_finite(state: &State) -> bool {
    let all = [
        &state.position,
        &state.linear_momentum,
        &state.angular_momentum,
    ];
    all.iter().all(|v| v.iter().all(|x| x.is_finite()))
}
