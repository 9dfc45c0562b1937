//! Proofs of membership, and their check, which is independent of the search.

use crate::parts::Parts;
use crate::tolerances::EQUAL;
use crate::{Case, JudgeOptions};
use carom_contact::{ContactIndex, ContactSet, ImpactError, ImpactLaw, ImpactProblem};
use carom_impact::frictional::Sequential;
use carom_metric::Tangent;
use nalgebra::{DMatrix, DVector};
use std::f64::consts::{PI, TAU};

/// Tolerance of every condition of a step, relative to the sum of the absolute terms from which it is computed.
const RULE: f64 = 1e-8;

/// Factor of the relative rounding of the sliding velocity in the allowed angle between friction and sliding (rad): both
/// the velocity and the impulses that cause it are rounded.
const ROUNDED_SLIDING: f64 = 10.0;

/// Kind of friction cone that contains the impulses of a [`Witness`], a proof that a velocity belongs to the set of
/// outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum WitnessCone {
    /// Regular polygon with this number of vertices; the first vertex is in the direction of the first tangent. The
    /// number is 2 in the plane, where the polygon is exact, and 0 without friction.
    Polygon(usize),
    /// Round cone.
    Round,
}

/// Proof that a velocity is an inelastic frictional outcome of an impact, for example a chain of steps that leads to it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Witness {
    /// No contact approaches, and the velocity does not change.
    Separating,
    /// A chain of steps leads to the velocity.
    Steps {
        /// Friction cone that contains the impulses.
        cone: WitnessCone,
        /// Impulses of each step for the given contact rows, N·s.
        #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
        steps: Vec<DVector<f64>>,
    },
    /// The sequential law, which solves single impacts one after the other, leads to the velocity, in too many steps
    /// to be listed.
    Sequential(Sequential),
}

/// Reason why a [`Witness`] does not prove that a velocity is an outcome: the first condition that is violated by a
/// step of the witness, or by the velocity after the last step.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WitnessFault {
    /// The number of impulses of a step differs from the number of contact rows.
    #[error("step {step} has {found} impulses on {rows} contact rows")]
    Shape {
        /// Index of the step.
        step: usize,
        /// Number of impulses of the step.
        found: usize,
        /// Number of contact rows.
        rows: usize,
    },
    /// A contact violates a condition in one step: it pulls, it pushes while it opens, or its friction impulse lies
    /// outside the friction cone or dissipates less energy than possible.
    #[error("step {step}, contact {contact}: {rule} by {excess:e} of its terms")]
    Step {
        /// Index of the step.
        step: usize,
        /// Index of the contact.
        contact: usize,
        /// Condition that the contact violates.
        rule: &'static str,
        /// Size of the violation, relative to the sum of the absolute values of the terms of the condition.
        excess: f64,
    },
    /// A contact still approaches after the last step.
    #[error("contact {contact} approaches at the end by {excess:e} of its terms")]
    Approaching {
        /// Index of the contact.
        contact: usize,
        /// Velocity of approach, relative to the sum of the absolute values of the terms from which it is computed.
        excess: f64,
    },
    /// The last step leads to another velocity than the one to be proven.
    #[error("the last velocity is {distance:e} away")]
    End {
        /// Relative distance between the two velocities.
        distance: f64,
    },
    /// The law of the witness has no answer.
    #[error(transparent)]
    Impact(#[from] ImpactError),
}

impl Witness {
    /// Checks that this witness proves `velocity_plus` (n entries) to be an outcome, by the definition of the set of
    /// outcomes. Every step from $v$ to
    ///
    /// $$ v' = v + M^{-1}\sum_i (n_i^T\lambda_i + T_i^T\tau_i) $$
    ///
    /// must have normal impulses $\lambda_i \ge 0$ that are positive only where $n_i v' \le 0$. Each friction impulse
    /// $\tau_i$ must lie in the friction cone and dissipate most energy at $v'$ among all impulses in the cone. Here
    /// $n_i$ and $T_i$ are the normal and tangent rows of contact $i$, and $M$ is the mass matrix. After the last step
    /// no contact may approach, and the velocity must be `velocity_plus`.
    ///
    /// Conditions are checked within $10^{-8}$ of the sums of absolute terms from which they are computed. In each
    /// group of contacts and bodies that is not connected to others, the final velocity must match `velocity_plus`
    /// within $10^{-9}$ of the motion that contacts can change.
    ///
    /// The check uses the contact rows of the problem and shares no code with the search.
    ///
    /// # Errors
    ///
    /// Returns the first [`WitnessFault`].
    pub fn check(
        &self,
        problem: &ImpactProblem,
        velocity_plus: &Tangent,
    ) -> Result<(), WitnessFault> {
        let distance = self.distance(problem, velocity_plus)?;
        // This form also catches NaN.
        if !(distance <= EQUAL) {
            return Err(WitnessFault::End { distance });
        }
        Ok(())
    }

    /// Returns the largest violation of a contact condition by this witness, over all contacts and steps. Returns
    /// `None` unless the witness is a chain of steps.
    ///
    /// Four violations are measured relative to the sums of the absolute values of the terms from which they are
    /// computed: pulling impulses, impulses at open contacts, friction beyond the friction cone, and contacts that
    /// approach after the last step. A fifth is the angle (rad) between the friction impulse and the direction opposite
    /// to the sliding velocity $u_t$. It is measured for planar contacts and round friction cones, not for polygonal
    /// cones. The angle is divided by $1 + 10 S/\lvert u_t\rvert$, where $S$ is the sum of the absolute values of the
    /// terms of $u_t$.
    ///
    /// # Errors
    ///
    /// Returns [`WitnessFault::Shape`] if a step has the wrong number of impulses.
    pub fn residual(&self, problem: &ImpactProblem) -> Result<Option<f64>, WitnessFault> {
        let Self::Steps { cone, steps } = self else {
            return Ok(None);
        };
        let rows = Rows::new(problem.contacts());
        let mut state = State::before(problem);
        let mut largest = 0.0f64;
        for (k, impulses) in steps.iter().enumerate() {
            let taken = rows.take(k, *cone, impulses, &mut state)?;
            let broken = taken.rules.iter().filter(|rule| rule.excess > 0.0);
            let broken = broken.map(|rule| rule.excess / rule.size);
            largest = broken.fold(largest.max(taken.direction), f64::max);
        }
        let approaches = rows.approaches(&state);
        let approaching = approaches.filter(|(_, approach, _)| *approach > 0.0);
        let approaching = approaching.map(|(_, approach, terms)| approach / terms);
        Ok(Some(approaching.fold(largest, f64::max)))
    }

    /// Returns the distance between `velocity_plus` (n entries) and the velocity after the last step of this witness. In
    /// each independent part of the system the distance is relative to the motion that contacts and constraints can change;
    /// the largest value is returned. The steps must satisfy the conditions of [`check`](Self::check).
    ///
    /// # Errors
    ///
    /// Returns the first [`WitnessFault`] other than [`WitnessFault::End`].
    pub fn distance(
        &self,
        problem: &ImpactProblem,
        velocity_plus: &Tangent,
    ) -> Result<f64, WitnessFault> {
        distance(problem, &self.end(problem)?, velocity_plus)
    }

    /// Computes the velocity after the last impulse step of this witness (n entries), if its steps satisfy the
    /// conditions of [`check`](Self::check). Otherwise returns the first violated condition as an error.
    pub(super) fn end(&self, problem: &ImpactProblem) -> Result<Tangent, WitnessFault> {
        let before = problem.velocity_minus();
        match self {
            Self::Separating => Ok(before.clone()),
            Self::Sequential(law) => Ok(law.resolve(problem)?.velocity_plus),
            Self::Steps { cone, steps } => {
                let rows = Rows::new(problem.contacts());
                let mut state = State::before(problem);
                for (k, impulses) in steps.iter().enumerate() {
                    let taken = rows.take(k, *cone, impulses, &mut state)?;
                    taken.check(k)?;
                }
                rows.check_open(problem, &state)?;
                Ok(Tangent(state.velocity))
            }
        }
    }
}

/// Returns the distance between the velocities `found` and `velocity_plus` (n entries each) in the kinetic metric. In
/// each independent part of the system the distance is relative to the motion that contacts can change; the largest
/// value is returned.
fn distance(
    problem: &ImpactProblem,
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

/// Velocity between two steps, and the absolute terms of the whole event from which it was computed: velocities that cancel
/// count as well.
struct State {
    velocity: DVector<f64>,
    size: DVector<f64>,
}

impl State {
    fn before(problem: &ImpactProblem) -> Self {
        let velocity = problem.velocity_minus().0.clone();
        Self {
            size: velocity.abs(),
            velocity,
        }
    }
}

/// Result of one step of a witness.
#[derive(Default)]
struct Taken {
    rules: Vec<MeasuredRule>,
    /// Largest angle between friction and the direction against the sliding (rad), divided by the angle that rounding of
    /// the sliding velocity allows.
    direction: f64,
}

impl Taken {
    /// Returns the first condition that the step with the index `step` violates as an error.
    fn check(&self, step: usize) -> Result<(), WitnessFault> {
        let is_broken = |rule: &&MeasuredRule| !(rule.excess <= RULE * rule.size);
        match self.rules.iter().find(is_broken) {
            None => Ok(()),
            Some(rule) => Err(WitnessFault::Step {
                step,
                contact: rule.contact,
                rule: rule.name,
                excess: rule.excess / rule.size,
            }),
        }
    }
}

/// Condition of a step: the amount by which it is exceeded, and the sum of the absolute terms from which this was
/// computed.
struct MeasuredRule {
    contact: usize,
    name: &'static str,
    excess: f64,
    size: f64,
}

/// Given contact rows, and the velocities that unit impulses on them cause.
struct Rows<'a> {
    contacts: &'a ContactSet,
    /// Jacobian of the contact rows.
    jacobian: DMatrix<f64>,
    /// Velocities that unit impulses cause, n × rows.
    effects: DMatrix<f64>,
}

impl<'a> Rows<'a> {
    fn new(contacts: &'a ContactSet) -> Self {
        let n = contacts.metric().dim();
        let rows: Vec<&DVector<f64>> = contacts
            .contacts()
            .iter()
            .flat_map(|c| std::iter::once(&c.normal.0).chain(c.tangents.iter().map(|t| &t.0)))
            .collect();
        let mut effects = DMatrix::zeros(n, rows.len());
        for (r, mut effect) in contacts.all_rows().zip(effects.column_iter_mut()) {
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

    /// Applies one impulse step to the `state`, and measures by how much the step violates each contact
    /// condition. `step` is the index of the impulse step in the witness, `cone` the kind of friction cone, and
    /// `impulses` has one entry per contact row.
    fn take(
        &self,
        step: usize,
        cone: WitnessCone,
        impulses: &DVector<f64>,
        state: &mut State,
    ) -> Result<Taken, WitnessFault> {
        let rows = self.jacobian.nrows();
        if impulses.len() != rows {
            return Err(WitnessFault::Shape {
                step,
                found: impulses.len(),
                rows,
            });
        }
        let after = &state.velocity + &self.effects * impulses;
        let made = self.effects.abs() * impulses.abs();
        let size = state.velocity.abs() + after.abs() + &made;
        // Row velocities after the step, and the sums of the absolute terms of velocities and impulses.
        let b = &self.jacobian * &after;
        let terms = self.jacobian.abs() * &size;
        let mut taken = Taken::default();
        for contact in self.contacts.indices() {
            self.measure(&mut taken, contact, cone, impulses, (&b, &terms));
        }
        state.velocity = after;
        state.size += made;
        Ok(taken)
    }

    /// Measures by how much an impulse step violates the conditions of one contact, and adds the results to `taken`.
    /// `cone` is the kind of friction cone, `b` are the velocities along the contact rows after the step, `terms` the
    /// sums of the absolute terms from which they are computed.
    fn measure(
        &self,
        taken: &mut Taken,
        contact: ContactIndex,
        cone: WitnessCone,
        impulses: &DVector<f64>,
        (b, terms): (&DVector<f64>, &DVector<f64>),
    ) {
        let given = self.contacts.contact(contact);
        let first = self.contacts.row(contact).index();
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
                contact: contact.index(),
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

    /// Iterates over the contacts: each with its velocity of approach in a state, and the sum of the absolute terms from
    /// which this was computed.
    fn approaches(&self, state: &State) -> impl Iterator<Item = (ContactIndex, f64, f64)> {
        let b = &self.jacobian * &state.velocity;
        let terms = self.jacobian.abs() * &state.size;
        let rows = self.contacts.indices();
        rows.map(move |contact| {
            let row = self.contacts.row(contact).index();
            (contact, -b[row], terms[row])
        })
    }

    /// Checks that no contact approaches in the last `state`, within the rounding of its terms and of a contact that
    /// `problem` has at rest.
    fn check_open(&self, problem: &ImpactProblem, state: &State) -> Result<(), WitnessFault> {
        for (contact, approach, terms) in self.approaches(state) {
            if !(approach <= EQUAL * terms + approach_at_rest(problem, contact)) {
                return Err(WitnessFault::Approaching {
                    contact: contact.index(),
                    excess: approach / terms,
                });
            }
        }
        Ok(())
    }
}

/// Returns the approach of a contact at rest that counts as rounding: twice its velocity before the impact along the normal as
/// given, which is rounding itself, and zero for other contacts. The terms of a contact at rest may cancel as well.
fn approach_at_rest(problem: &ImpactProblem, contact: ContactIndex) -> f64 {
    if !problem.is_at_rest(contact) {
        return 0.0;
    }
    let contacts = problem.contacts();
    let before = problem.velocity_minus().0.as_slice();
    let rate = contacts.normal_velocity(contact, before, 1.0).rate;
    2.0 * rate.abs() * contacts.normal_norm(contact)
}

/// Returns the smallest friction limit (friction coefficient times normal impulse) for which the tangential impulse
/// $(x, y)$ lies in the friction cone. `polygon` is the number of vertices of the friction polygon; `None` for a round
/// cone or in the plane.
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

/// Returns the largest value of $-d \cdot u$ over the directions $d$ of a friction cone, with the sliding velocity
/// $u = (x, y)$. This value times the friction limit is the largest dissipation. `polygon` is the number of vertices
/// of the friction polygon; `None` for a round cone or in the plane.
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
