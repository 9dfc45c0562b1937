//! Trait for any nonholonomic billiard: flow, walls, and an impact law.
//!
//! A new system provides its free motion, its wall functions and its data at an impact: mass
//! matrix, constraints, contact rows and velocity, in any coordinates or quasi-velocities. It can then use the event
//! location of this module and every law of `carom-impact`.

use crate::billiard::march::{March, march};
use crate::billiard::{BilliardError, error};
use crate::hybrid::{Ending, Hybrid, Limits, drive};
use crate::tolerances::GUARD_ROUNDING;
use carom_contact::{
    Contact, ContactSet, Diagnostics, ImpactError, ImpactLaw, ImpactProblem, ImpactStatus,
};
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::DMatrix;
use std::cell::Cell;
use std::fmt::Debug;

/// Number of states evaluated without an impact after which the search ends.
const MAX_LOOKS: usize = 30_000;

/// Value and time derivative of a wall function at a state of a billiard. A wall function is negative while the body is
/// inside its wall, and zero at contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guard {
    /// Value $h$ of the wall function; negative inside the table, zero on the wall.
    pub value: f64,
    /// Time derivative $\dot h$ of the wall function, per second; positive for an approach to the wall.
    pub rate: f64,
}

/// Impact problem of a billiard at the moment of contact: mass matrix, constraints, contact and velocity before the impact.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AtImpact {
    /// Mass matrix of the system (n × n), for the n velocity components of `velocity`.
    pub mass: DMatrix<f64>,
    /// One-forms of the constraints, n entries each: allowed velocities have the product 0 with every one-form.
    pub forms: Vec<Covector>,
    /// Contact with the wall; its normal is minus the differential of the wall function.
    pub contact: Contact,
    /// Velocity before the impact (n entries).
    pub velocity: Tangent,
}

impl AtImpact {
    /// Solves the impact problem by an impact law. The outcome contains the velocity after the impact.
    ///
    /// # Errors
    ///
    /// [`BilliardError::Impact`].
    pub fn resolve(
        self,
        law: &dyn ImpactLaw,
    ) -> Result<carom_contact::ImpactOutcome, BilliardError> {
        let metric = KineticMetric::new(self.mass).map_err(ImpactError::from)?;
        let contacts = ContactSet::constrained(metric, vec![self.contact], self.forms)?;
        let problem = ImpactProblem::new(&contacts, self.velocity)?;
        Ok(law.resolve(&problem)?)
    }
}

/// A billiard: a mechanical system that moves freely between impacts with walls, with a known solution of the free motion.
pub trait Billiard {
    /// State of the system: the data from which its further motion follows.
    type State: Clone + Debug;

    /// Returns the state of the billiard after the time `time` (s), if no wall is hit in between.
    fn flow(&self, state: &Self::State, time: f64) -> Self::State;

    /// Returns the number of wall functions of the billiard: one for each wall, or for each part of the body that can hit a wall.
    fn n_guards(&self) -> usize;

    /// Returns the value and the time derivative, in a state, of the wall function with the index `guard`. A wall function is
    /// negative inside the table and zero on the wall.
    fn guard(&self, state: &Self::State, guard: usize) -> Guard;

    /// Returns a pair for the wall function with the index `guard`. The first entry is a duration (s) that begins at `state`; the
    /// second bounds the absolute second time derivative of the function during this time.
    fn bound(&self, state: &Self::State, guard: usize) -> (f64, f64);

    /// Returns the impact problem for a state on the wall: mass matrix, constraints, contact, and velocity before the impact.
    /// `guard` is the index of the wall function that is zero.
    fn at_impact(&self, state: &Self::State, guard: usize) -> AtImpact;

    /// Returns a copy of the state in which the velocity is replaced by `velocity`. The components of `velocity` are those in the
    /// impact problem of [`at_impact`](Self::at_impact).
    fn with_velocity(&self, state: &Self::State, velocity: &Tangent) -> Self::State;
}

/// Impact of a billiard with a wall: time, and states of the system (type `S`) before and after it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Hit<S> {
    /// Time of the impact, s.
    pub time: f64,
    /// Index of the wall function that is zero at the impact.
    pub guard: usize,
    /// State just before the impact.
    pub before: S,
    /// State just after the impact.
    pub state: S,
    /// Minus the ratio of the time derivatives of the wall function after and before the impact; `None` for laws that do not
    /// report it.
    pub effective_restitution: Option<f64>,
    /// Change of kinetic energy in the impact, J; negative for a loss.
    pub energy_change_j: f64,
}

/// Impacts of a billiard in order of time, and the reason for which the run ended.
pub type Hits<S> = (Vec<Hit<S>>, Ending<BilliardError>);

/// Computes the motion of a billiard from a state, impact by impact, until one of the `limits` (time, number of impacts) is
/// reached. `law` is the impact law. An impact that cannot be resolved ends the run with [`Ending::Stopped`].
///
/// # Errors
///
/// [`BilliardError::InvalidDuration`] and [`BilliardError::PenetratingStart`].
pub fn follow<B: Billiard>(
    billiard: &B,
    law: &dyn ImpactLaw,
    start: B::State,
    limits: Limits,
) -> Result<Hits<B::State>, BilliardError> {
    error::duration(limits.duration)?;
    for guard in 0..billiard.n_guards() {
        let Guard { value, .. } = billiard.guard(&start, guard);
        if value.is_nan() || value > GUARD_ROUNDING {
            return Err(BilliardError::PenetratingStart {
                part: "a guard",
                value,
            });
        }
    }
    let mut course = Course {
        billiard,
        law,
        state: start,
        time: 0.0,
        last: None,
        hits: Vec::new(),
    };
    let ending = drive(&mut course, &limits);
    Ok((course.hits, ending))
}

/// Billiard run in progress.
struct Course<'b, B: Billiard> {
    billiard: &'b B,
    law: &'b dyn ImpactLaw,
    state: B::State,
    time: f64,
    /// Wall function of the last impact.
    last: Option<usize>,
    hits: Vec<Hit<B::State>>,
}

impl<B: Billiard> Hybrid for Course<'_, B> {
    type Error = BilliardError;

    fn n_impacts(&self) -> usize {
        self.hits.len()
    }

    fn proceed(&mut self, limits: &Limits) -> Result<Option<Ending<BilliardError>>, BilliardError> {
        let left = limits.duration - self.time;
        let (interval, guard) = match next_hit(self.billiard, &self.state, self.last, left) {
            Ok(next) => next,
            Err(ending) => return Ok(Some(ending)),
        };
        let before = self.billiard.flow(&self.state, interval);
        let outcome = self.billiard.at_impact(&before, guard).resolve(self.law)?;
        if outcome.status != ImpactStatus::Resolved {
            return Ok(Some(Ending::GrazingCascade));
        }
        self.time += interval;
        self.state = self.billiard.with_velocity(&before, &outcome.velocity_plus);
        self.hits.push(Hit {
            time: self.time,
            guard,
            before,
            state: self.state.clone(),
            effective_restitution: match &outcome.diagnostics {
                Diagnostics::Nonholonomic(d) => d.effective_restitution,
                _ => None,
            },
            energy_change_j: outcome.audit.energy_change_j(),
        });
        self.last = Some(guard);
        Ok(None)
    }
}

/// Returns the time to the next impact (s) and the index of its wall function. `last` is the index of the wall function that was
/// hit at the start; `None` if no wall was hit there. `horizon` is the duration of the search (s). All wall functions are
/// searched together, one time window after the other. The error is the ending of the run if no impact is found.
fn next_hit<B: Billiard>(
    billiard: &B,
    start: &B::State,
    last: Option<usize>,
    horizon: f64,
) -> Result<(f64, usize), Ending<BilliardError>> {
    let mut begin = 0.0;
    let mut at = start.clone();
    let looks = Cell::new(0);
    while looks.get() < MAX_LOOKS {
        looks.set(looks.get() + 1);
        let guards = 0..billiard.n_guards();
        let windows = guards.clone().map(|guard| billiard.bound(&at, guard).0);
        let mut end = windows.fold(horizon - begin, f64::min);
        if end.is_nan() || end <= 0.0 || begin + end <= begin {
            break;
        }
        let mut first = None;
        for guard in guards {
            let Guard { mut value, rate } = billiard.guard(&at, guard);
            if begin == 0.0 && last == Some(guard) {
                // A point that has just hit is exactly on the wall, whatever the rounding error of its value.
                if rate >= 0.0 {
                    return Err(Ending::GrazingCascade);
                }
                value = 0.0;
            }
            let search = March {
                value,
                rate,
                bound: billiard.bound(&at, guard).1,
                horizon: end,
            };
            let along = |from: &B::State, time: f64| {
                looks.set(looks.get() + 1);
                let Guard { value, rate } = billiard.guard(&billiard.flow(from, time), guard);
                (value, rate)
            };
            // Searches the window from its beginning, so that the cost does not grow with time. An impact
            // found there is then located from the start of the flight, whose state has the smallest rounding error.
            if march(search, |t| along(&at, t)).is_none() {
                continue;
            }
            if let Some(time) = march(search, |t| along(start, begin + t)) {
                end = time;
                first = Some((begin + time, guard));
            }
        }
        if let Some(first) = first {
            return Ok(first);
        }
        begin += end;
        if begin >= horizon {
            break;
        }
        at = billiard.flow(&at, end);
    }
    Err(if begin >= horizon {
        Ending::Completed
    } else {
        Ending::NoImpactFound
    })
}
