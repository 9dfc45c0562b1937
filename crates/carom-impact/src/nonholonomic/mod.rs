//! Impact under nonholonomic constraints, such as rolling, skating or no slip.

mod restitution;
mod rough;

use crate::plastic::by_groups;
use crate::tolerances::EQUAL;
pub use restitution::Restitution;
pub use rough::Rough;

use crate::propagative::selection::{most_approaching, most_approaching_of};
use carom_contact::internal::{
    Basis, GRAZING_TOLERANCE, MomentumChange, Opening, Targets, dot_and_size, groups, separating,
};
use carom_contact::{
    ContactIndex, Diagnostics, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, ImpactStatus,
    Limit, NonholonomicDiagnostics, Numbers, Rules, UnitRow,
};
use carom_metric::{kernel, nonnegative_least_squares};
use smallvec::smallvec;

/// Largest number of impacts in a sequence over several contacts.
const MAX_IMPACTS: u64 = 100_000;

/// Number of impacts after which contacts without restitution that still approach are closed simultaneously.
pub const PATIENCE: usize = 1000;

/// Impact law for frictionless contacts of systems with nonholonomic velocity constraints, such as rolling, skating or no slip,
/// with one of the restitutions of [`Restitution`].
///
/// The constraints $A v = 0$ hold before and after the impact, so the velocities lie in their null space
/// $\Delta$. Let $\pi$ be the projection onto $\Delta$ in the kinetic metric, and $b = u(v^-) < 0$ the rate of the gap with
/// normal $u$. Every law for one contact is
///
/// $$ v^+ = v^- - \kappa \frac{b}{\lVert\pi u\rVert^2} M^{-1}(\pi u)^T, \qquad
/// u(v^+) = -(\kappa - 1) b, $$
///
/// with the impulse $\alpha = -\kappa b/\lVert\pi u\rVert^2 \ge 0$ at the contact and multipliers $\lambda$ of the
/// constraints, $M(v^+ - v^-) = \alpha u^T + A^T\lambda$. The laws differ in the factor $\kappa$. It may depend on one
/// number of the geometry, $\cos^2\beta = \lVert\pi u\rVert^2/\lVert u\rVert^2$, where $\beta$ is the angle between the
/// normal and $\Delta$.
///
/// | [`Restitution`] | $\kappa$ | meaning |
/// | --- | --- | --- |
/// | [`Elastic`](Restitution::Elastic) | 2 | reflection inside $\Delta$ |
/// | [`Projected`](Restitution::Projected) | $2\cos^2\beta$ | reflection, then projection onto $\Delta$ |
/// | [`Newton`](Restitution::Newton) | $1 + e$ | restitution inside $\Delta$ |
/// | [`ProjectedNewton`](Restitution::ProjectedNewton) | $(1 + e)\cos^2\beta$ | restitution, then projection |
///
/// Clark & Bloch, *The bouncing penny and nonholonomic impacts*, Eqs. (15)-(21).
///
/// # Departure from the source
///
/// The paper calls `Projected` plastic, "essentially e = 0". But the contact bounces: the effective restitution
/// is $\cos 2\beta$, which is 1/3 to 3/5 for a thin disk. The law is also not always admissible: for
/// $\beta > 45°$ the contact still approaches afterwards, which is [`ImpactError::InfeasibleLaw`].
/// The plastic law in the usual sense is `Newton` with $e = 0$.
///
/// # Several contacts
///
/// The contact that approaches fastest is resolved first, then the next, until none approaches. Of contacts that approach
/// equally fast, up to rounding, the first in the list is resolved, as in [`Propagative`](crate::Propagative), unless it would still
/// approach after its impact and another one would not. If contacts
/// without restitution make each other approach, they need infinitely many impacts; after a thousand impacts they are
/// closed simultaneously, which is the limit of the sequence. Moreau's plastic answer is [`Plastic`](crate::Plastic) on
/// the same contacts, and all orders of elastic impacts are [`Propagative`](crate::Propagative): contact sets restrict
/// their rows to $\Delta$ for every law.
///
/// # Energy
///
/// Without constraints this is the law of one frictionless contact. The law never gains energy: the energy change is $-(1 -
/// e^2)b^2/2\lVert\pi u\rVert^2$ with the effective restitution $e = \kappa - 1$.
///
/// # Examples
///
/// A skate, heading along the diagonal, meets a wall $x = 0$ from the right:
///
/// ```
/// use carom_impact::{
///     Contact, ContactSet, ImpactLaw, ImpactProblem, Nonholonomic, Restitution,
/// };
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let wall = Contact::frictionless(Covector::from_slice(&[1.0, 0.0]));
/// let blade = Covector::from_slice(&[1.0, -1.0]);
/// let contacts = ContactSet::constrained(&metric, vec![wall], vec![blade])?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[-1.0, -1.0]))?;
/// let outcome = Nonholonomic::new(Restitution::Elastic)?.resolve(&problem)?;
/// assert!((outcome.velocity_plus.0[1] - 1.0).abs() < 1e-15);
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nonholonomic {
    restitution: Restitution,
}

/// Result of one impact at a distinct normal, before it is applied.
struct Strike {
    /// Scaled impulse on the unit normal.
    impulse: f64,
    effective_restitution: f64,
    cos2_beta: f64,
}

impl Strike {
    /// True if the contact still approaches after this impact.
    fn leaves_approaching(&self) -> bool {
        self.effective_restitution < -EQUAL
    }
}

impl Nonholonomic {
    /// Creates the nonholonomic impact law with a restitution.
    ///
    /// # Errors
    ///
    /// [`ImpactError::InvalidRestitution`] if the coefficient of `restitution` lies outside \[0, 1\].
    pub fn new(restitution: Restitution) -> Result<Self, ImpactError> {
        restitution.validate()?;
        Ok(Self { restitution })
    }

    /// Returns the restitution with which the law was created.
    pub fn restitution(&self) -> Restitution {
        self.restitution
    }

    /// Resolves an impact on moving walls: contact `i` with the normal $u_i$ has the gap rate
    /// $u_i(v) + $ `wall_rates[i]`, the second term being $\partial\phi_i/\partial t$.
    ///
    /// Moving walls do work, so energy may grow. Moving constraints $A v = c$ need no function of
    /// their own: subtract from `v` a velocity $w$ with $A w = c$, add its gap rates $u_i(w)$ to the wall
    /// rates, and add $w$ to the velocity of the answer.
    ///
    /// # Errors
    ///
    /// The errors of [`resolve`](ImpactLaw::resolve), and [`ImpactError::InvalidContact`] for a wrong number
    /// of rates, [`ImpactError::Overflow`] for rates that are not finite.
    pub fn resolve_moving(
        &self,
        problem: &ImpactProblem,
        wall_rates: &[f64],
    ) -> Result<ImpactOutcome, ImpactError> {
        let problem = problem.event();
        let contacts = problem.contacts();
        if wall_rates.len() != contacts.len() {
            return Err(ImpactError::InvalidContact {
                what: "wall rate",
                contact: wall_rates.len(),
                contacts: contacts.len(),
            });
        }
        let rates: Numbers = contacts
            .unit_rows()
            .map(|j| {
                let contact = contacts.contact_at(j);
                wall_rates[contact.index()] / contacts.normal_norm(contact) * problem.scale()
            })
            .collect();
        if !kernel::is_finite(&rates) {
            return Err(ImpactError::Overflow);
        }
        self.follow(problem, &rates)
    }

    /// Resolves contacts one by one, as a sequence of single impacts. `rates` are the scaled velocities of moving walls
    /// along the distinct unit normals, zero for walls at rest.
    fn follow(&self, problem: &ImpactProblem, rates: &[f64]) -> Result<ImpactOutcome, ImpactError> {
        let contacts = problem.contacts();
        let n = contacts.n_distinct();
        let mut velocity: Numbers = problem.unit_velocity().into();
        velocity.iter_mut().zip(rates).for_each(|(b, r)| *b += r);
        let mut diagnostics = NonholonomicDiagnostics::default();
        let mut grazing = Numbers::from_slice(problem.grazing());
        grazing
            .iter_mut()
            .zip(rates)
            .for_each(|(grazing, r)| *grazing += GRAZING_TOLERANCE * r.abs());
        let at_rest = rates.iter().all(|&r| r == 0.0);
        let first = most_approaching(&velocity, &grazing);
        let Some(first) = first.filter(|_| !at_rest || problem.is_approaching()) else {
            return separating(problem, Diagnostics::Nonholonomic(diagnostics));
        };
        if n > 1 && self.restitution.bounces() {
            let jammed = contacts.margin()?.jammed();
            if !jammed.is_empty() {
                return Err(ImpactError::NoElasticOutcome { jammed });
            }
        }
        let mut impulse: Numbers = smallvec![0.0; n];
        let mut change: Numbers = smallvec![0.0; problem.momentum().len()];
        let mut next = Some(first);
        // Distinct normals in the order of their impacts.
        let mut struck: Vec<UnitRow> = Vec::new();
        let mut is_inelastic = at_rest;
        let mut group: Option<Vec<usize>> = None;
        // Distinct normal that the law leaves approaching.
        let mut left = None;
        while let Some(j) = next {
            if struck.len() as u64 >= MAX_IMPACTS {
                return Err(ImpactError::Limit {
                    limit: Limit::Impacts,
                    at: MAX_IMPACTS,
                    raise: None,
                });
            }
            let (j, strike) = self.strike_of_equal(problem, j, &velocity, &grazing)?;
            impulse[j.index()] += strike.impulse;
            kernel::add_scaled(&mut change, strike.impulse, contacts.unit(j));
            if struck.is_empty() {
                diagnostics.effective_restitution = Some(strike.effective_restitution);
                diagnostics.cos2_beta = Some(strike.cos2_beta);
            }
            struck.push(j);
            is_inelastic &= strike.effective_restitution.abs() <= EQUAL;
            // A contact that still approaches would be resolved again for ever.
            left = strike.leaves_approaching().then_some(j);
            if left.is_some() || n == 1 {
                break;
            }
            if is_inelastic && struck.len().is_multiple_of(PATIENCE) {
                let recent = struck.iter().rev().take(PATIENCE / 2);
                close(problem, recent, &mut impulse, &mut change)?;
            }
            let momentum = problem.momentum().iter().zip(&change);
            let momentum: Numbers = momentum.map(|(p, w)| p + w).collect();
            let own = velocity.iter_mut().zip(&mut grazing).zip(rates);
            for (k, ((b, grazing), wall)) in contacts.unit_rows().zip(own) {
                let (rate, size) = dot_and_size(contacts.unit(k), &momentum);
                *b = rate + wall;
                *grazing = f64::max(*grazing, GRAZING_TOLERANCE * (size + wall.abs()));
            }
            next = most_approaching(&velocity, &grazing);
            // A contact above all thresholds is struck whatever its group is.
            if next.is_some_and(|j| -velocity[j.index()] <= kernel::max_abs(&grazing)) {
                let group = group.get_or_insert_with(|| {
                    let normals = contacts.unit_rows().map(|j| contacts.unit(j));
                    groups(problem.momentum().len(), normals).1
                });
                share(&mut grazing, group);
                next = most_approaching(&velocity, &grazing);
            }
        }
        let name = |j: &UnitRow| contacts.contact_at(*j).index();
        diagnostics.sequence = struck.iter().map(name).collect();
        let momentum_change = MomentumChange { impulse, change };
        let outcome = self.outcome(problem, rates, momentum_change, diagnostics)?;
        // The gate compares with the impulses that cancel, which are large if constraints are nearly linearly
        // dependent: it does not detect this approach.
        match left {
            Some(left) => Err(ImpactError::InfeasibleLaw {
                contacts: contacts
                    .indices()
                    .filter(|i| contacts.place(*i) == left)
                    .map(ContactIndex::index)
                    .collect(),
                found: Some(Box::new(outcome)),
                proof: None,
            }),
            None => Ok(outcome),
        }
    }

    /// Converts the result of a sequence of single impacts to an outcome, if it passes the final checks. `rates`: scaled
    /// velocities of the walls; `momentum_change`: total impulses and momentum change.
    fn outcome(
        &self,
        problem: &ImpactProblem,
        rates: &[f64],
        momentum_change: MomentumChange,
        diagnostics: NonholonomicDiagnostics,
    ) -> Result<ImpactOutcome, ImpactError> {
        let contacts = problem.contacts();
        let at_rest = rates.iter().all(|&r| r == 0.0);
        let is_elastic = self.restitution == Restitution::Elastic && at_rest;
        let mut prescribed = None;
        if let ([rate], Some(e)) = (rates, diagnostics.effective_restitution) {
            let row = contacts.row(contacts.contact_at(UnitRow::new(0)));
            let before = problem.unit_velocity().first().copied().unwrap_or(0.0);
            prescribed = Some((row, -e * (before + rate) - rate));
        }
        let MomentumChange { impulse, change } = momentum_change;
        let momentum_change = if is_elastic {
            MomentumChange::elastic(problem, impulse, change)
        } else {
            MomentumChange { impulse, change }
        };
        let basis: &mut dyn Basis = match rates {
            [_] => &mut Targets::new(prescribed, false),
            _ if is_elastic => &mut Opening::elastic(),
            _ => &mut Opening::default(),
        };
        let rules = Rules {
            may_be_infeasible: true,
            wall_rates: if at_rest { &[] } else { rates },
            ..Rules::FRICTIONLESS
        };
        momentum_change.outcome(
            problem,
            &rules,
            basis,
            ImpactStatus::Resolved,
            Diagnostics::Nonholonomic(diagnostics),
        )
    }

    /// Computes the impact of the contact `fastest`. If it would leave this contact approaching, the first other contact that
    /// approaches equally fast and does not do so is struck instead: impacts that slow each other down never end, and where
    /// they have become slow, rounding makes other contacts as fast. Returns the contact that is struck. `velocity` and
    /// `grazing`: normal velocities, and the speeds up to which they are rounding.
    fn strike_of_equal(
        &self,
        problem: &ImpactProblem,
        fastest: UnitRow,
        velocity: &[f64],
        grazing: &[f64],
    ) -> Result<(UnitRow, Strike), ImpactError> {
        let strike = self.strike(problem, fastest, velocity[fastest.index()])?;
        if !strike.leaves_approaching() {
            return Ok((fastest, strike));
        }
        let resolves = |j: UnitRow| {
            let strike = self.strike(problem, j, velocity[j.index()]);
            strike.is_ok_and(|strike| !strike.leaves_approaching())
        };
        match most_approaching_of(velocity, grazing, resolves) {
            Some(other) => Ok((other, self.strike(problem, other, velocity[other.index()])?)),
            None => Ok((fastest, strike)),
        }
    }

    fn strike(
        &self,
        problem: &ImpactProblem,
        j: UnitRow,
        velocity: f64,
    ) -> Result<Strike, ImpactError> {
        let contacts = problem.contacts();
        let contact = contacts.contact_at(j);
        let full = contacts.metric().norm(&contacts.contact(contact).normal)?;
        // The ratio is at most 1, up to rounding of the two norms.
        let cos_beta = if contacts.constraint_forms().is_empty() {
            1.0
        } else {
            (contacts.normal_norm(contact) / full).min(1.0)
        };
        let cos2_beta = cos_beta * cos_beta;
        let effective_restitution = self.restitution.effective(cos2_beta);
        Ok(Strike {
            impulse: -(1.0 + effective_restitution) * velocity,
            effective_restitution,
            cos2_beta,
        })
    }
}

impl ImpactLaw for Nonholonomic {
    fn name(&self) -> &'static str {
        self.restitution.law_name()
    }

    /// Resolves an impact by a sequence of single impacts against walls at rest.
    ///
    /// # Errors
    ///
    /// [`ImpactError::InfeasibleLaw`] if the contact still approaches after the impact, [`ImpactError::NoElasticOutcome`]
    /// if contacts that bounce can balance each other, [`ImpactError::Limit`] for a sequence of too many impacts
    /// over several contacts.
    fn resolve(&self, problem: &ImpactProblem) -> Result<ImpactOutcome, ImpactError> {
        let rates: Numbers = smallvec![0.0; problem.contacts().n_distinct()];
        self.follow(problem.event(), &rates)
    }
}

/// Closes several contacts simultaneously, where one by one each would make the others approach again. `struck` are their
/// distinct normals, each as often as it was struck; `impulse` and `change` (of the momentum) are updated.
///
/// Impacts without restitution are projections onto walls. Alternating projections converge to the projection onto the
/// intersection of the walls (von Neumann), which is the impact that closes all contacts.
#[cold]
fn close<'c>(
    problem: &ImpactProblem,
    struck: impl Iterator<Item = &'c UnitRow>,
    impulse: &mut [f64],
    change: &mut [f64],
) -> Result<(), ImpactError> {
    let contacts = problem.contacts();
    let mut places: Vec<UnitRow> = struck.copied().collect();
    places.sort_unstable();
    places.dedup();
    let normals: Vec<&[f64]> = places.iter().map(|j| contacts.unit(*j)).collect();
    let momentum = problem.momentum().iter().zip(change.iter());
    let momentum: Vec<f64> = momentum.map(|(p, w)| p + w).collect();
    let pushes = by_groups(&momentum, &normals, |normals, momentum, _| {
        let found = nonnegative_least_squares(normals, momentum, GRAZING_TOLERANCE)?;
        Ok(found.as_slice().to_vec())
    })?;
    for (place, push) in places.into_iter().zip(pushes) {
        impulse[place.index()] += push;
        kernel::add_scaled(change, push, contacts.unit(place));
    }
    Ok(())
}

/// Gives all contacts of a group the largest grazing threshold of the group. `grazing` and `group` have one entry per distinct
/// normal.
///
/// Impacts that slow each other down never end; where they are cut off, the slower contacts of the group would otherwise be
/// struck because their own threshold is smaller than that of the fastest one.
fn share(grazing: &mut [f64], group: &[usize]) {
    for k in 1..group.len() {
        for j in 0..k {
            if group[j] == group[k] {
                let largest = f64::max(grazing[j], grazing[k]);
                (grazing[j], grazing[k]) = (largest, largest);
            }
        }
    }
}
