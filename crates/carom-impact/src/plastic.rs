//! Perfectly inelastic (plastic) impact.

use crate::laws::BuiltIn;
use crate::tolerances::BALANCED;
use carom_contact::internal::{
    GRAZING_TOLERANCE, MomentumChange, Targets, groups, part_in_span, separating,
};
use carom_contact::{
    ContactSet, Diagnostics, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, ImpactStatus,
    Numbers, Rules, UnitRow,
};
use carom_metric::{kernel, nonnegative_least_squares};
use carom_numeric::decisions::RANK;
use carom_numeric::svd::Svd;
use nalgebra::{DMatrix, DVector};
use smallvec::smallvec;

/// Rule that decides which contacts a perfectly inelastic impact brings to rest: only those that must push, or all contacts
/// whose velocities the impact changes.
///
/// # Examples
///
/// ```
/// use carom_impact::{Plastic, PlasticRule};
/// let law = Plastic::default().with_rule(PlasticRule::ProjectAll { allow_adhesion: true });
/// assert_ne!(law, Plastic::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PlasticRule {
    /// Complementarity $0 \le \lambda \perp b + G\lambda \ge 0$: the projection of the momentum onto the feasible cone in the
    /// kinetic metric (Moreau). Contacts may open; no contact pulls. The velocity is unique also for linearly
    /// dependent normals.
    #[default]
    Cone,
    /// Every contact that the impact reaches is brought to rest, $p^+ = p^- - U^T G^{+} b$, Seghete & Murphey, Eq.
    /// (10). The impact reaches a contact if stopping an approaching contact changes its velocity, directly or through
    /// other contacts.
    ///
    /// # Departure from the source
    ///
    /// The paper also requires $\lambda_i \ge 0$, which is impossible in general: the projection can pull on a contact.
    ProjectAll {
        /// True accepts pulling impulses; false returns [`ImpactError::AdhesiveImpulse`] for them.
        allow_adhesion: bool,
    },
}

impl PlasticRule {
    /// Returns the selection of final checks that outcomes of this plastic rule must pass.
    pub(crate) fn gate(self) -> Rules<'static> {
        Rules {
            may_pull: self != Self::Cone,
            ..Rules::FRICTIONLESS
        }
    }

    /// Lists the contacts that end closed, each with the prescribed normal velocity zero. `change` contains the impulses of
    /// the plastic outcome.
    fn closed(self, problem: &ImpactProblem, change: &MomentumChange) -> Targets {
        let contacts = problem.contacts();
        let closed: Vec<UnitRow> = match self {
            Self::Cone => contacts
                .unit_rows()
                .filter(|j| change.impulse[j.index()] > 0.0)
                .collect(),
            Self::ProjectAll { .. } => stopped(problem),
        };
        let row = |j: UnitRow| (contacts.row(contacts.contact_at(j)), 0.0);
        Targets::new(closed.into_iter().map(row), contacts.n_distinct() > 1)
    }
}

/// The perfectly inelastic impact law (`plastic`): the outcome with the smallest kinetic energy that its [`PlasticRule`]
/// allows. It never gains energy, and a second application changes nothing.
///
/// # Examples
///
/// ```
/// use carom_impact::{Contact, ContactSet, ImpactLaw, ImpactProblem, Plastic};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let floor = Contact::frictionless(Covector::from_slice(&[0.0, 1.0]));
/// let contacts = ContactSet::new(&metric, vec![floor])?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[3.0, -2.0]))?;
/// let outcome = Plastic::default().resolve(&problem)?;
/// assert_eq!(outcome.velocity_plus, Tangent::from_slice(&[3.0, 0.0]));
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct Plastic {
    /// Rule that decides which contacts close.
    #[cfg_attr(feature = "serde", serde(rename = "plastic"))]
    pub rule: PlasticRule,
}

carom_numeric::setters!(Plastic {
    /// Sets the rule of the projection.
    with_rule: rule, PlasticRule;
});

impl ImpactLaw for Plastic {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem) -> Result<ImpactOutcome, ImpactError> {
        let problem = problem.event();
        if !problem.is_approaching() {
            return separating(
                problem,
                Diagnostics::Plastic {
                    adhesive: Vec::new(),
                },
            );
        }
        let change = plastic_change(problem, self.rule)?;
        let adhesive = change.adhesive(problem);
        let mut closed = self.rule.closed(problem, &change);
        change.outcome(
            problem,
            &self.rule.gate(),
            &mut closed,
            ImpactStatus::Resolved,
            Diagnostics::Plastic { adhesive },
        )
    }
}

/// Computes the change of momentum of a perfectly inelastic impact. `rule` decides which contacts are brought to rest.
pub fn plastic_change(
    problem: &ImpactProblem,
    rule: PlasticRule,
) -> Result<MomentumChange, ImpactError> {
    match rule {
        PlasticRule::Cone => cone(problem),
        PlasticRule::ProjectAll { allow_adhesion } => {
            let change = project_all(problem)?;
            let contacts = change.adhesive(problem);
            if allow_adhesion || contacts.is_empty() {
                Ok(change)
            } else {
                Err(ImpactError::AdhesiveImpulse { contacts })
            }
        }
    }
}

/// Groups the distinct contact normals that change each other's velocities, directly or through other contacts; normals in
/// different groups are orthogonal in the kinetic metric. The groups do not depend on the choice of coordinates.
pub fn meeting(contacts: &ContactSet) -> Vec<Vec<UnitRow>> {
    let mut is_found = vec![false; contacts.n_distinct()];
    let mut groups = Vec::new();
    for first in contacts.unit_rows() {
        if is_found[first.index()] {
            continue;
        }
        is_found[first.index()] = true;
        let mut members = vec![first];
        let mut next = 0;
        while let Some(&member) = members.get(next) {
            next += 1;
            for (j, is_found) in contacts.unit_rows().zip(&mut is_found) {
                let product = kernel::dot(contacts.unit(member), contacts.unit(j));
                if !*is_found && product.abs() > BALANCED {
                    *is_found = true;
                    members.push(j);
                }
            }
        }
        members.sort_unstable();
        groups.push(members);
    }
    groups
}

/// Lists the distinct normals that the plastic impact stops, in ascending order. The list contains all normals of each
/// group of connected contacts in which some contact approaches.
fn stopped(problem: &ImpactProblem) -> Vec<UnitRow> {
    let contacts = problem.contacts();
    let approaches = |j: &UnitRow| problem.approaches(contacts.contact_at(*j));
    let groups = meeting(contacts).into_iter();
    let mut stopped: Vec<UnitRow> = groups
        .filter(|group| group.iter().any(approaches))
        .flatten()
        .collect();
    stopped.sort_unstable();
    stopped
}

/// Solves for the impulses on `rows`, separately for each group of rows that shares no coordinate with the others. `rows` are
/// unit vectors in the coordinates of the whitened `momentum`. The closure `solve` gets the rows (as columns) and the momentum on
/// the coordinates of one group alone, so a far body with any momentum has no influence, and the places of these rows in `rows`.
pub(crate) fn by_groups(
    momentum: &[f64],
    rows: &[&[f64]],
    mut solve: impl FnMut(&DMatrix<f64>, &DVector<f64>, &[usize]) -> Result<Vec<f64>, ImpactError>,
) -> Result<Vec<f64>, ImpactError> {
    let n = momentum.len();
    let (of, of_row) = groups(n, rows.iter().copied());
    let mut impulse = vec![0.0; rows.len()];
    for group in 0..n {
        let members: Vec<usize> = (0..rows.len()).filter(|j| of_row[*j] == group).collect();
        if members.is_empty() {
            continue;
        }
        let coordinates: Vec<usize> = (0..n).filter(|k| of[*k] == group).collect();
        let columns = DMatrix::from_fn(coordinates.len(), members.len(), |k, j| {
            rows[members[j]][coordinates[k]]
        });
        let own = coordinates.iter().map(|k| momentum[*k]);
        let own = DVector::from_iterator(coordinates.len(), own);
        for (j, l) in members.iter().zip(solve(&columns, &own, &members)?) {
            impulse[*j] = l;
        }
    }
    Ok(impulse)
}

fn cone(problem: &ImpactProblem) -> Result<MomentumChange, ImpactError> {
    if let [b] = problem.unit_velocity() {
        return Ok(MomentumChange::from_impulse(
            problem,
            smallvec![f64::max(0.0, -b)],
        ));
    }
    let contacts = problem.contacts();
    let normals: Vec<&[f64]> = contacts.unit_rows().map(|j| contacts.unit(j)).collect();
    let impulse = by_groups(problem.momentum(), &normals, |normals, momentum, _| {
        // A velocity orthogonal to all normals must not influence the grazing threshold.
        let n = normals.nrows();
        let seen = part_in_span(normals.as_slice().chunks_exact(n), momentum.as_slice());
        let seen = DVector::from_column_slice(&seen);
        let found = nonnegative_least_squares(normals, &seen, GRAZING_TOLERANCE)?;
        Ok(found.as_slice().to_vec())
    })?;
    Ok(MomentumChange::from_impulse(problem, impulse.into()))
}

/// Computes the impulses of least norm that bring every contact reached by the impact to rest. The impulses follow from
/// the pseudo-inverse of the whitened normals (in coordinates with a Euclidean kinetic metric).
fn project_all(problem: &ImpactProblem) -> Result<MomentumChange, ImpactError> {
    let contacts = problem.contacts();
    let stopped = stopped(problem);
    let normals: Vec<&[f64]> = stopped.iter().map(|j| contacts.unit(*j)).collect();
    let found = by_groups(problem.momentum(), &normals, |normals, momentum, _| {
        let stop = Svd::new(normals.as_slice(), normals.nrows());
        Ok(stop.least_norm((-momentum).as_slice(), RANK))
    })?;
    let mut impulse: Numbers = smallvec![0.0; contacts.n_distinct()];
    for (j, l) in stopped.iter().zip(found) {
        impulse[j.index()] = l;
    }
    Ok(MomentumChange::from_impulse(problem, impulse))
}
