//! The frame for any nonholonomic billiard: flow, walls, and a law of impact.
//!
//! A new system says how it moves freely, where its walls are and what it is at an impact: a mass
//! matrix, constraints, contact rows and a velocity, in any coordinates or quasi-velocities. Event
//! location and every law of `carom-impact` come with it.

use crate::billiard::BilliardError;
use crate::billiard::march::{March, march};
use crate::hybrid::{Ending, Hybrid, Limits, drive};
use crate::tolerances::GUARD_ROUNDING;
use carom_contact::{
    Contact, ContactSet, Diagnostics, ImpactError, ImpactLaw, ImpactProblem, ImpactStatus,
};
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::DMatrix;
use std::cell::Cell;
use std::fmt::Debug;

/// States looked at without an impact after which the search ends.
const MAX_LOOKS: usize = 30_000;

/// A wall function of a state: negative inside, and its rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guard {
    /// Value $h$.
    pub value: f64,
    /// Rate $\dot h$.
    pub rate: f64,
}

/// A system at an impact.
#[derive(Clone, Debug)]
pub struct AtImpact {
    /// Mass matrix (n × n).
    pub mass: DMatrix<f64>,
    /// Constraint one-forms (n each).
    pub forms: Vec<Covector>,
    /// The contact; its normal is minus the differential of the wall function.
    pub contact: Contact,
    /// Velocity before (n).
    pub velocity: Tangent,
}

impl AtImpact {
    /// Resolves the impact.
    ///
    /// # Errors
    ///
    /// [`BilliardError::Impact`].
    pub fn resolve(
        self,
        law: &dyn ImpactLaw,
    ) -> Result<carom_contact::ImpactOutcome, BilliardError> {
        let metric = KineticMetric::new(self.mass).map_err(ImpactError::from)?;
        let contacts = ContactSet::constrained(&metric, vec![self.contact], self.forms)?;
        let problem = ImpactProblem::new(&contacts, self.velocity)?;
        Ok(law.resolve(&problem)?)
    }
}

/// A system that moves freely between walls.
pub trait Billiard {
    /// Its state.
    type State: Clone + Debug;

    /// The state after a time (s) without impact.
    fn flow(&self, state: &Self::State, time: f64) -> Self::State;

    /// Number of walls, or of parts that can hit one.
    fn n_guards(&self) -> usize;

    /// The wall function `guard` and its rate.
    fn guard(&self, state: &Self::State, guard: usize) -> Guard;

    /// A time, and a bound on the second derivative of the wall function over that time.
    fn bound(&self, state: &Self::State, guard: usize) -> (f64, f64);

    /// The impact problem at wall `guard`: mass matrix, constraints, contact and velocity before.
    fn at_impact(&self, state: &Self::State, guard: usize) -> AtImpact;

    /// The state with another velocity, in the coordinates of [`at_impact`](Self::at_impact).
    fn with_velocity(&self, state: &Self::State, velocity: &Tangent) -> Self::State;
}

/// One impact.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit<S> {
    /// Time, s.
    pub time: f64,
    /// Index of the wall function.
    pub guard: usize,
    /// State just before.
    pub before: S,
    /// State just after.
    pub state: S,
    /// Rate after over rate before, reversed, for laws that report it.
    pub effective_restitution: Option<f64>,
    /// Change of kinetic energy, J.
    pub energy_change_j: f64,
}

/// Impacts in the order of time, and why there are no more.
pub type Hits<S> = (Vec<Hit<S>>, Ending<BilliardError>);

/// Follows a system from impact to impact. An impact that cannot be resolved stops it:
/// [`Ending::Stopped`].
///
/// # Errors
///
/// [`BilliardError::PenetratingStart`].
pub fn follow<B: Billiard>(
    billiard: &B,
    law: &dyn ImpactLaw,
    start: B::State,
    limits: Limits,
) -> Result<Hits<B::State>, BilliardError> {
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

/// A billiard on its way.
struct Course<'b, B: Billiard> {
    billiard: &'b B,
    law: &'b dyn ImpactLaw,
    state: B::State,
    time: f64,
    /// Guard that hit last.
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

/// Time to the next impact and its guard; all guards advance window by window together.
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
                // A point that has just hit stands on the wall exactly, whatever rounding says.
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
            // Within the window from its beginning, whose cost does not grow with time; an impact
            // that is there is located from the start, where nothing has been rounded yet.
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
