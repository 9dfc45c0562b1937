//! Proofs of membership, and the check that anyone can make of them.

use crate::parts::Parts;
use crate::{Case, JudgeOptions};
use carom_contact::{ContactSet, ImpactError, ImpactLaw, ImpactProblem};
use carom_impact::frictional::Sequential;
use carom_metric::Tangent;
use nalgebra::{DMatrix, DVector};
use std::f64::consts::{PI, TAU};

/// Tolerance of every rule of a step, over the terms that it was computed from.
const RULE: f64 = 1e-8;

/// Angle of friction to the sliding (rad) that a rule allows, over the relative rounding of the sliding velocity that it
/// allows: both the velocity and the impulses that make it are off.
const ROUNDED_SLIDING: f64 = 10.0;

/// Largest distance of the last velocity, relative to the motion in each part that contacts touch.
const END: f64 = 1e-9;

/// The friction cone in which a chain of steps was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WitnessCone {
    /// A regular polygon with so many corners, the first along the first tangent; 2 in the plane,
    /// where it is exact; 0 without friction.
    Polygon(usize),
    /// The round cone.
    Round,
}

/// Why a velocity is known to be an inelastic frictional outcome.
#[derive(Clone, Debug, PartialEq)]
pub enum Witness {
    /// No contact approaches, and nothing happens.
    Separating,
    /// A chain of steps leads there.
    Steps {
        /// Cone in which friction impulses lie.
        cone: WitnessCone,
        /// Impulses of each step on the contact rows as given, N·s.
        steps: Vec<DVector<f64>>,
    },
    /// The law of single impacts one after the other gives it, in too many steps to be listed.
    Sequential(Sequential),
}

/// A rule that a witness breaks.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WitnessFault {
    /// A step has another number of impulses than there are contact rows.
    #[error("step {step} has {found} impulses on {rows} contact rows")]
    Shape {
        /// The step.
        step: usize,
        /// Impulses that it has.
        found: usize,
        /// Rows that there are.
        rows: usize,
    },
    /// A contact pulls, pushes while it opens, or its friction leaves the cone or dissipates less
    /// than it could.
    #[error("step {step}, contact {contact}: {rule} by {excess:e} of its terms")]
    Step {
        /// The step.
        step: usize,
        /// The contact.
        contact: usize,
        /// Rule that it breaks.
        rule: &'static str,
        /// By how much, over the terms that the rule was computed from.
        excess: f64,
    },
    /// A contact still approaches at the end.
    #[error("contact {contact} approaches at the end by {excess:e} of its terms")]
    Approaching {
        /// The contact.
        contact: usize,
        /// By how much, over the terms of its velocity.
        excess: f64,
    },
    /// The last velocity is another.
    #[error("the last velocity is {distance:e} away")]
    End {
        /// Relative distance.
        distance: f64,
    },
    /// The law does not answer.
    #[error(transparent)]
    Impact(#[from] ImpactError),
}

impl Witness {
    /// Checks the witness against the definition of the set: every step from $v$ to
    ///
    /// $$ v' = v + M^{-1}\sum_i (n_i^T\lambda_i + T_i^T\tau_i) $$
    ///
    /// has $\lambda_i \ge 0$, positive only where $n_i v' \le 0$, friction within its cone that
    /// dissipates most at $v'$, and after the last step no contact approaches and the velocity is
    /// `velocity_plus` (n). Rules hold within $10^{-8}$ of the sums of absolute terms that they are
    /// computed from, the end within $10^{-9}$ of the motion there was, in each part that contacts touch and nothing connects to others.
    ///
    /// The check starts from the rows as given and shares nothing with the search.
    ///
    /// # Errors
    ///
    /// The first [`WitnessFault`].
    pub fn check(
        &self,
        problem: &ImpactProblem<'_>,
        velocity_plus: &Tangent,
    ) -> Result<(), WitnessFault> {
        let distance = self.distance(problem, velocity_plus)?;
        // Written so that NaN fails.
        if !(distance <= END) {
            return Err(WitnessFault::End { distance });
        }
        Ok(())
    }

    /// The largest breach of a rule by any contact in any step, each on its own terms: pulling impulses, pushes of an
    /// open contact and friction beyond the cone over the sums of absolute terms that they are computed from; the angle
    /// (rad) of friction to the sliding in planes and round cones, over $1 + 10 S/\lvert u_t\rvert$ with the terms $S$ of
    /// the sliding velocity $u_t$; contacts that approach at the end. `None` unless the witness is a chain of steps.
    ///
    /// # Errors
    ///
    /// [`WitnessFault::Shape`].
    pub fn residual(&self, problem: &ImpactProblem<'_>) -> Result<Option<f64>, WitnessFault> {
        let Self::Steps { cone, steps } = self else {
            return Ok(None);
        };
        let rows = Rows::new(problem.contacts());
        let mut velocity = problem.velocity_minus().0.clone();
        let mut size = velocity.abs();
        let mut largest = 0.0f64;
        for (k, impulses) in steps.iter().enumerate() {
            let taken = rows.take(k, *cone, impulses, &mut velocity)?;
            let broken = taken.rules.iter().filter(|rule| rule.excess > 0.0);
            let broken = broken.map(|rule| rule.excess / rule.size);
            largest = broken.fold(largest.max(taken.direction), f64::max);
            size += taken.made;
        }
        let (b, terms) = (&rows.jacobian * &velocity, rows.jacobian.abs() * &size);
        let normals = (0..problem.contacts().len()).map(|i| problem.contacts().row(i));
        let approaching = normals.filter(|row| b[*row] < 0.0);
        Ok(Some(
            approaching
                .map(|row| -b[row] / terms[row])
                .fold(largest, f64::max),
        ))
    }

    /// Distance of the end of the witness from `velocity_plus` (n), over the motion that contacts see in each part, if
    /// its steps keep the rules of [`check`](Self::check).
    ///
    /// # Errors
    ///
    /// The first [`WitnessFault`] but [`WitnessFault::End`].
    pub fn distance(
        &self,
        problem: &ImpactProblem<'_>,
        velocity_plus: &Tangent,
    ) -> Result<f64, WitnessFault> {
        distance(problem, &self.end(problem)?, velocity_plus)
    }

    /// The velocity to which the witness leads, if its steps keep the rules of [`check`](Self::check).
    pub(super) fn end(&self, problem: &ImpactProblem<'_>) -> Result<Tangent, WitnessFault> {
        let before = problem.velocity_minus();
        match self {
            Self::Separating => Ok(before.clone()),
            Self::Sequential(law) => Ok(law.resolve(problem)?.velocity_plus),
            Self::Steps { cone, steps } => {
                let rows = Rows::new(problem.contacts());
                let mut velocity = before.0.clone();
                // The terms of the whole event: what its steps made and cancelled counts.
                let mut size = velocity.abs();
                for (k, impulses) in steps.iter().enumerate() {
                    size += rows.check(k, *cone, impulses, &mut velocity)?;
                }
                rows.check_open(&velocity, &size)?;
                Ok(Tangent(velocity))
            }
        }
    }
}

/// Distance of two velocities in the kinetic metric, the largest of all parts over their motion.
fn distance(
    problem: &ImpactProblem<'_>,
    found: &Tangent,
    velocity_plus: &Tangent,
) -> Result<f64, WitnessFault> {
    let metric = problem.contacts().metric();
    metric
        .check_vector("velocity", velocity_plus.0.as_slice())
        .map_err(ImpactError::from)?;
    let parts = Parts::new(problem, &[problem.velocity_minus(), velocity_plus]);
    let raised = |velocity: &Tangent| Tangent(parts.raised(&velocity.0));
    let posed = ImpactProblem::reposed(problem.contacts(), raised(problem.velocity_minus()))?;
    let after = raised(velocity_plus);
    let options = JudgeOptions::default();
    let mut case = Case::new(
        &posed,
        posed.velocity_minus(),
        &after,
        parts.clone(),
        options,
    )?;
    case.measure([problem.velocity_minus(), velocity_plus]);
    Ok(case.distance(&raised(found)))
}

/// A step that was made.
struct Taken {
    /// Size of the velocities that its impulses make.
    made: DVector<f64>,
    rules: Vec<MeasuredRule>,
    /// Largest angle between friction and the direction against the sliding (rad), over what rounding of the sliding
    /// velocity allows.
    direction: f64,
}

/// A rule of a step: what exceeds it, and the terms that this was computed from.
struct MeasuredRule {
    contact: usize,
    name: &'static str,
    excess: f64,
    size: f64,
}

/// Contact rows as given, and the velocities that unit impulses on them make.
struct Rows<'a> {
    contacts: &'a ContactSet<'a>,
    /// Rows of the Jacobian.
    jacobian: DMatrix<f64>,
    /// Velocities that unit impulses make, n × rows.
    effects: DMatrix<f64>,
}

impl<'a> Rows<'a> {
    fn new(contacts: &'a ContactSet<'a>) -> Self {
        let n = contacts.metric().dim();
        let rows: Vec<&DVector<f64>> = contacts
            .contacts()
            .iter()
            .flat_map(|c| std::iter::once(&c.normal.0).chain(c.tangents.iter().map(|t| &t.0)))
            .collect();
        let mut effects = DMatrix::zeros(n, rows.len());
        for (r, mut effect) in effects.column_iter_mut().enumerate() {
            let norm = contacts.row_norm(r);
            for (x, u) in effect.iter_mut().zip(contacts.unit_row(r)) {
                *x = norm * u;
            }
            let mut column: Vec<f64> = effect.iter().copied().collect();
            contacts.metric().unwhiten_velocity_in_place(&mut column);
            effect.copy_from_slice(&column);
        }
        Self {
            contacts,
            jacobian: DMatrix::from_fn(rows.len(), n, |r, k| rows[r][k]),
            effects,
        }
    }

    /// Checks one step and makes it. The result is the size of the velocities that its impulses make.
    fn check(
        &self,
        step: usize,
        cone: WitnessCone,
        impulses: &DVector<f64>,
        velocity: &mut DVector<f64>,
    ) -> Result<DVector<f64>, WitnessFault> {
        let taken = self.take(step, cone, impulses, velocity)?;
        for rule in &taken.rules {
            if !(rule.excess <= RULE * rule.size) {
                return Err(WitnessFault::Step {
                    step,
                    contact: rule.contact,
                    rule: rule.name,
                    excess: rule.excess / rule.size,
                });
            }
        }
        Ok(taken.made)
    }

    /// Makes one step, and measures every rule of it.
    fn take(
        &self,
        step: usize,
        cone: WitnessCone,
        impulses: &DVector<f64>,
        velocity: &mut DVector<f64>,
    ) -> Result<Taken, WitnessFault> {
        let rows = self.jacobian.nrows();
        if impulses.len() != rows {
            return Err(WitnessFault::Shape {
                step,
                found: impulses.len(),
                rows,
            });
        }
        let after = &*velocity + &self.effects * impulses;
        let made = self.effects.abs() * impulses.abs();
        let size = velocity.abs() + after.abs() + &made;
        // Velocities of the rows after, and the sizes of the terms of velocities and impulses.
        let b = &self.jacobian * &after;
        let terms = self.jacobian.abs() * &size;
        let mut taken = Taken {
            made,
            rules: Vec::new(),
            direction: 0.0,
        };
        for contact in 0..self.contacts.len() {
            self.measure(&mut taken, contact, cone, impulses, (&b, &terms));
        }
        *velocity = after;
        Ok(taken)
    }

    /// Measures the rules of a contact in a step, by the velocities of the rows after it and the sizes of their terms.
    fn measure(
        &self,
        taken: &mut Taken,
        contact: usize,
        cone: WitnessCone,
        impulses: &DVector<f64>,
        (b, terms): (&DVector<f64>, &DVector<f64>),
    ) {
        let given = &self.contacts.contacts()[contact];
        let first = self.contacts.row(contact);
        let of_impulse = |r: usize| {
            let inverse_mass = self
                .jacobian
                .row(r)
                .transpose()
                .dot(&self.effects.column(r));
            if inverse_mass > 0.0 {
                terms[r] / inverse_mass
            } else {
                0.0
            }
        };
        let mut obey = |name: &'static str, excess: f64, size: f64| {
            taken.rules.push(MeasuredRule {
                contact,
                name,
                excess,
                size,
            });
        };
        let normal = impulses[first];
        let slack = of_impulse(first);
        obey("pulls", -normal, slack);
        if normal > RULE * slack {
            obey("pushes while it opens", b[first], terms[first]);
        }
        let tangents = first + 1..first + 1 + given.tangents.len();
        let is_spatial = tangents.len() > 1;
        let limit = given.friction * normal.max(0.0);
        let mut tau = [0.0; 2];
        let mut sliding = [0.0; 2];
        let (mut widest, mut power, mut size) = (given.friction * slack, 0.0, 0.0);
        for (row, (tau, u)) in tangents.zip(tau.iter_mut().zip(&mut sliding)) {
            *tau = impulses[row];
            *u = b[row];
            widest += of_impulse(row);
            power += (tau.abs() + limit) * terms[row];
            size += terms[row];
        }
        let polygon = match cone {
            WitnessCone::Polygon(k) if is_spatial => Some(k),
            _ => None,
        };
        let excess = reach(tau, polygon) - limit;
        obey("has friction beyond its cone", excess, widest);
        let most = limit * support(sliding, polygon);
        let dissipated = tau[0] * sliding[0] + tau[1] * sliding[1];
        obey("dissipates less than it could", dissipated + most, power);
        let speed = libm::hypot(sliding[0], sliding[1]);
        if polygon.is_none() && limit > RULE * widest && speed > 0.0 {
            let off = |k: usize| tau[k] / limit + sliding[k] / speed;
            let angle = libm::hypot(off(0), off(1)) / (1.0 + ROUNDED_SLIDING * size / speed);
            taken.direction = taken.direction.max(angle);
        }
    }

    /// No contact approaches.
    fn check_open(&self, velocity: &DVector<f64>, size: &DVector<f64>) -> Result<(), WitnessFault> {
        let b = &self.jacobian * velocity;
        let terms = self.jacobian.abs() * size;
        for contact in 0..self.contacts.len() {
            let row = self.contacts.row(contact);
            if !(-b[row] <= END * terms[row]) {
                return Err(WitnessFault::Approaching {
                    contact,
                    excess: -b[row] / terms[row],
                });
            }
        }
        Ok(())
    }
}

/// The least friction limit that allows a tangential impulse.
fn reach([x, y]: [f64; 2], polygon: Option<usize>) -> f64 {
    match polygon {
        None => libm::hypot(x, y),
        Some(k) => {
            let half = PI / k as f64;
            let edge = |j: usize| {
                let angle = half * (2 * j + 1) as f64;
                (x * libm::cos(angle) + y * libm::sin(angle)) / libm::cos(half)
            };
            (0..k).map(edge).fold(0.0, f64::max)
        }
    }
}

/// The largest $-d \cdot u$ over the directions of a cone.
fn support([x, y]: [f64; 2], polygon: Option<usize>) -> f64 {
    match polygon {
        None => libm::hypot(x, y),
        Some(k) => (0..k)
            .map(|j| {
                let angle = TAU * j as f64 / k as f64;
                -(x * libm::cos(angle) + y * libm::sin(angle))
            })
            .fold(0.0, f64::max),
    }
}
