//! Impact of rough contacts, which do not slip.

use crate::laws::BuiltIn;
use crate::plastic::by_groups;
use crate::tolerances::EQUAL;
use crate::tolerances::IMPULSE_ROUNDINGS;
use carom_contact::internal::{Candidate, Targets, row_velocity, separating};
use carom_contact::{
    ContactIndex, Diagnostics, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, ImpactStatus,
    Numbers, RowIndex, Rules,
};
use carom_metric::{kernel, nonnegative_least_squares};
use carom_numeric::decisions::RANK;
use carom_numeric::svd::Svd;
use nalgebra::{DMatrix, DVector};
use smallvec::smallvec;

/// Fraction of its terms below which a gradient of the least-distance problem counts as zero.
const NO_GRADIENT: f64 = 1e-14;

/// Fraction of the norm of all impulses below which an impulse is a rounding error.
const ROUNDING: f64 = 1e-12;

/// The law of rough contacts (`nonholonomic-rough`): impulses on the normal and all tangent
/// rows together reverse the velocity of the contact,
///
/// $$ v^+ = v^- - (1 + e)\Pi v^-, $$
///
/// with $\Pi$ the projection, in the kinetic metric, onto the span of all rows of the approaching contacts, restricted
/// to the constraints. With $e = 1$ energy is conserved and every slip component changes sign: the no-slip collision of
/// Broomhead & Gutkin (1993) and Cox & Feres (2016). If rows are linearly dependent under the constraints, the impulses
/// of least norm among those with pushing normal parts are taken. If no impulses with pushing normal parts make $v^+$,
/// there is no answer ([`ImpactError::InfeasibleLaw`]).
///
/// The default is plastic, $e = 0$. The contact needs one tangent per direction of slip of the physical contact. Friction
/// coefficients are ignored: the contact sticks.
///
/// # Examples
///
/// A thin ring ($J = mr^2$) that slides into a wall without spin rebounds with spin:
///
/// ```
/// use carom_impact::{Contact, ContactSet, ImpactLaw, ImpactProblem, Rough};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(3, 3))?;
/// let mut floor = Contact::frictionless(Covector::from_slice(&[0.0, 1.0, 0.0]));
/// floor.tangents = vec![Covector::from_slice(&[1.0, 0.0, 1.0])];
/// let contacts = ContactSet::new(&metric, vec![floor])?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[1.0, -1.0, 0.0]))?;
/// let outcome = Rough::new(1.0)?.resolve(&problem)?;
/// assert!((outcome.velocity_plus.0[2] + 1.0).abs() < 1e-15);
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Rough {
    restitution: f64,
}

impl Rough {
    /// Creates the law of rough contacts with one coefficient of restitution, in \[0, 1\], for the normal and all tangents.
    ///
    /// # Errors
    ///
    /// [`ImpactError::InvalidRestitution`] if the coefficient lies outside \[0, 1\].
    pub fn new(restitution: f64) -> Result<Self, ImpactError> {
        let law = Self { restitution };
        law.check()?;
        Ok(law)
    }

    /// Returns the coefficient of restitution that the law of rough contacts applies to the normal and all tangents.
    pub fn restitution(&self) -> f64 {
        self.restitution
    }

    fn check(&self) -> Result<(), ImpactError> {
        if !(0.0..=1.0).contains(&self.restitution) {
            let value = self.restitution;
            return Err(ImpactError::InvalidRestitution { value });
        }
        Ok(())
    }
}

impl ImpactLaw for Rough {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem) -> Result<ImpactOutcome, ImpactError> {
        self.check()?;
        let problem = problem.event();
        let contacts = problem.contacts();
        let approaching = |i: &ContactIndex| problem.approaches(*i);
        let rows: Vec<RowIndex> = contacts
            .indices()
            .filter(approaching)
            .flat_map(|i| contacts.rows_at(i))
            .collect();
        if rows.is_empty() {
            return separating(problem, Diagnostics::Rough);
        }
        let entries = problem.velocity_minus().0.as_slice();
        let targets = contacts
            .all_rows()
            .zip(contacts.jacobian_rows())
            .filter(|(row, _)| rows.contains(row))
            .map(|(row, covector)| {
                let norm = contacts.row_norm(row);
                let given = covector.0.as_slice();
                let velocity = row_velocity(given, entries, norm, problem.scale());
                (row, -self.restitution * velocity.rate)
            });
        let mut targets = Targets::new(targets, true);
        let normals: Vec<RowIndex> = contacts.indices().map(|i| contacts.row(i)).collect();
        let columns: Vec<&[f64]> = rows.iter().map(|row| contacts.unit_row(*row)).collect();
        let found = by_groups(
            problem.momentum(),
            &columns,
            |columns, momentum, members| {
                let target = -(1.0 + self.restitution) * momentum;
                let svd = Svd::new(columns.as_slice(), columns.nrows());
                let found = svd.least_norm(target.as_slice(), RANK);
                let is_normal = members.iter().map(|row| normals.contains(&rows[*row]));
                pushing(&svd, found, &is_normal.collect::<Vec<_>>())
            },
        )?;
        let mut impulse: Numbers = smallvec![0.0; contacts.n_rows()];
        for (row, l) in rows.iter().zip(found) {
            impulse[row.index()] = l;
        }
        let rules = Rules {
            may_be_infeasible: true,
            ..Rules::FRICTIONLESS
        };
        Candidate::new(problem, impulse).outcome(
            problem,
            &rules,
            &mut targets,
            ImpactStatus::Resolved,
            Diagnostics::Rough,
        )
    }
}

/// Finds the impulses of least norm that push at all normals and cause a known momentum change. This change is caused
/// by `found`, the impulses of least norm without the condition that normals push. `svd` is the singular value
/// decomposition of the rows, `is_normal` marks the rows that are normals. Returns `found` if there are no such
/// impulses; the final checks then reject it.
///
/// Let $\lambda$ be `found`, and let the columns of $Z$ span the $k$-dimensional space of impulses that make no
/// momentum. The result is $\lambda + Zy$ for the shortest $y$ with $Z_ny \ge -\lambda_n$ (the rows of the normals): a
/// least-distance problem. With the nonnegative least-squares solution $u$ of $\min\lVert (Z_n, -\lambda_n)^Tu -
/// e\rVert$, $e$ the last unit vector and $r$ the residual, $y = -r_{1..k}/r_{k+1}$ (Lawson & Hanson, *Solving Least
/// Squares Problems*, 1974, ch. 23).
fn pushing(svd: &Svd, found: Vec<f64>, is_normal: &[bool]) -> Result<Vec<f64>, ImpactError> {
    let size = kernel::norm(&found);
    let rows: Vec<usize> = (0..found.len()).filter(|row| is_normal[*row]).collect();
    if rows.iter().all(|row| found[*row] >= -ROUNDING * size) {
        return Ok(found);
    }
    let least = svd.cutoff();
    let sizes = svd.singular_values().iter().enumerate();
    let null: Vec<&[f64]> = sizes
        .filter(|(_, size)| !(**size > least))
        .map(|(index, _)| svd.right(index))
        .collect();
    let k = null.len();
    // One column per normal: its entries in the directions of $Z$, then its negative impulse relative to the norm of all.
    let columns = DMatrix::from_fn(k + 1, rows.len(), |i, j| match null.get(i) {
        Some(direction) => direction[rows[j]],
        // A normal impulse that is fixed and zero up to rounding does not prevent a solution.
        None => -found[rows[j]] / size - ROUNDING,
    });
    let mut last = DVector::zeros(k + 1);
    last[k] = -1.0;
    let weights = nonnegative_least_squares(&columns, &last, NO_GRADIENT)?;
    let residual = columns * weights + last;
    // A zero residual means that no direction makes all normals push.
    if !(-residual[k] > EQUAL) {
        return Ok(found);
    }
    let mut pushing = found;
    for (direction, r) in null.iter().zip(residual.iter()) {
        kernel::add_scaled(&mut pushing, -size * r / residual[k], direction);
    }
    for row in rows {
        // A slightly negative normal impulse is a rounding error of zero.
        if pushing[row] < 0.0 && pushing[row] > -IMPULSE_ROUNDINGS * ROUNDING * size {
            pushing[row] = 0.0;
        }
    }
    Ok(pushing)
}
