//! Energy and momentum balance of an outcome: one function for every law.

use crate::digits::{self, CLOSING};
use crate::ledger::{Answer, Ledger};
use crate::residual_scale::divisor;
use crate::span::part_in_span;
use crate::{ImpactError, ImpactProblem};
use carom_metric::{Tangent, kernel};
use nalgebra::DVector;

/// Energy and momentum balance of one impact, which every outcome contains. Residuals are relative to $\lVert p^-\rVert$,
/// the kinetic norm of the momentum before the impact, so they are comparable between problems; 0 is perfect.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Audit {
    /// Kinetic energy before the impact, J.
    pub energy_minus_j: f64,
    /// Kinetic energy after the impact, J.
    pub energy_plus_j: f64,
    /// Work of the impulses of each contact, J: $\Lambda_i \cdot (b_i^- + b_i^+)/2$, one per contact. The sum
    /// is the energy change: constraints do no work.
    pub contact_work_j: Vec<f64>,
    /// Momentum change that the impulses do not explain, $\lVert M(v^+ - v^-) - J^T\Lambda - A^T\lambda\rVert$.
    pub momentum_residual: f64,
    /// Largest remaining approach velocity, $\max(0, -\langle p^+, u_i\rangle)$.
    pub penetration_residual: f64,
    /// Largest pulling impulse, $\max(0, -\Lambda_{n,i})$, on unit normals.
    pub adhesion_residual: f64,
    /// Largest excess over the friction cone, $\max(0, |\Lambda_{t,i}| - \mu_i\Lambda_{n,i})$.
    pub friction_residual: f64,
    /// Largest constraint violation after the impact, $|A_k v^+|$ for forms of unit length.
    pub constraint_residual: f64,
    /// Ratio of the kinetic energy after the impact to that before the impact, both of the component of the momentum in the
    /// span of the contact and constraint rows. `None` unless the contacts do positive work beyond rounding,
    /// $\sum_r\lambda_r(b_r^- + b_r^+)/2 > 10^{-9}\sum_r|\lambda_r|(|b_r^-| + |b_r^+|)/2$. Infinite if that component is
    /// zero before the impact.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub energy_gain: Option<f64>,
    /// Correct digits $d$ of the velocity after the impact, in \[0, 16\] with one decimal: it differs from the exact answer of the
    /// law, in its modes and for the numbers given, by at most about $10^{-d}$ of the motion that the contacts see (kinetic
    /// norms; the rounding of the velocity itself does not count). An estimate, which may be wrong by one digit. `None` for
    /// laws whose impacts follow one after the other, for members of a continuum of Poisson's law, and from [`audit()`].
    pub digits: Option<f64>,
    /// Largest approach velocity of a contact after the impact, as a fraction of $\sum_k|n_k|(|v_k^-| + |v_k^+|)$ for its normal
    /// $n$; 0 below $10^{-9}$, for the rounding of impulses that cancel, and for laws
    /// without [`digits`](Self::digits).
    pub closing: f64,
}

impl Audit {
    /// Change of the kinetic energy in the audited impact, after minus before, J.
    pub fn energy_change_j(&self) -> f64 {
        self.energy_plus_j - self.energy_minus_j
    }

    /// True if every number of this audit is finite.
    pub(crate) fn is_finite(&self) -> bool {
        let residuals = [
            self.energy_minus_j,
            self.energy_plus_j,
            self.momentum_residual,
            self.penetration_residual,
            self.adhesion_residual,
            self.friction_residual,
            self.constraint_residual,
            self.closing,
        ];
        kernel::is_finite(&residuals) && kernel::is_finite(&self.contact_work_j)
    }
}

/// Computes the energy and momentum balance of one answer to an impact problem: the velocity after the impact (n entries),
/// the impulses on the contact rows (N·s, one per row) and the multipliers of the constraint one-forms (one per form). Works
/// for the answer of any law or engine.
///
/// # Errors
///
/// [`ImpactError::Metric`] if the velocity has the wrong length, [`ImpactError::Overflow`] if its
/// energy overflows, [`ImpactError::InvalidContact`] if the number of impulses is wrong.
pub fn audit(
    problem: &ImpactProblem,
    velocity_plus: &Tangent,
    impulses: &DVector<f64>,
    constraint_impulses: &DVector<f64>,
) -> Result<Audit, ImpactError> {
    check_lengths(problem, impulses, constraint_impulses)?;
    let metric = problem.contacts().metric();
    metric.check_vector("velocity after", velocity_plus.0.as_slice())?;
    let answer = Answer {
        velocity_plus: velocity_plus.0.as_slice(),
        impulses: impulses.as_slice(),
        constraint_impulses: constraint_impulses.as_slice(),
    };
    audited(problem, &answer, &Ledger::new(problem, &answer))
}

/// Energy and momentum balance of an answer with its sums.
pub(crate) fn audited(
    problem: &ImpactProblem,
    answer: &Answer<'_>,
    ledger: &Ledger,
) -> Result<Audit, ImpactError> {
    let contacts = problem.contacts();
    let metric = contacts.metric();
    let scale = problem.scale();
    let norm_plus = kernel::norm(&ledger.momentum) / scale;
    let energy_plus_j = 0.5 * norm_plus * norm_plus;
    if !energy_plus_j.is_finite() {
        return Err(ImpactError::Overflow);
    }
    let per_norm = scale / divisor(problem.norm());
    let mut audit = Audit {
        energy_minus_j: problem.energy_minus_j(),
        energy_plus_j,
        contact_work_j: Vec::with_capacity(contacts.len()),
        ..Audit::default()
    };
    let (mut work, mut limit, mut closes) = (0.0, 0.0, false);
    for (i, contact) in contacts.indexed() {
        let mut own = 0.0;
        for row in contacts.rows_at(i) {
            let row = &ledger.rows[row.index()];
            let [made, rounding] = row.work(row.before);
            own += made;
            limit += rounding;
        }
        work += own;
        audit.contact_work_j.push(own / scale / scale);
        let first = contacts.row(i);
        let normal = &ledger.rows[first.index()];
        closes |= -normal.after > CLOSING * normal.size;
        let tangents = contacts.tangents_at(i);
        let tangential = tangents.map(|row| answer.impulses[row.index()]);
        let norm = contacts.normal_norm(i);
        let impulse = answer.impulses[first.index()];
        let excess = tangential.fold(0.0, libm::hypot) - contact.friction * impulse.max(0.0);
        raise(
            &mut audit.penetration_residual,
            -normal.after / (norm * normal.scale) / scale * per_norm,
        );
        raise(&mut audit.adhesion_residual, -impulse * norm * per_norm);
        raise(&mut audit.friction_residual, excess * norm * per_norm);
    }
    let constraints = &ledger.rows[contacts.n_rows()..];
    for (form, row) in contacts.constraint_forms().iter().zip(constraints) {
        let length = metric.norm(form)?;
        if length > 0.0 {
            let residual = row.after.abs() / (length * row.scale) / scale * per_norm;
            raise(&mut audit.constraint_residual, residual);
        }
    }
    let mut left = ledger.left.clone();
    metric.whiten_in_place(&mut left);
    for ((left, plus), minus) in left
        .iter_mut()
        .zip(&ledger.momentum)
        .zip(problem.momentum())
    {
        *left += plus - minus;
    }
    audit.momentum_residual = kernel::norm(&left) / scale * per_norm;
    if closes {
        audit.closing = digits::closing(problem, problem, ledger, &[]);
    }
    if work > limit {
        audit.energy_gain = Some(energy_ratio(problem, &ledger.momentum));
    }
    Ok(audit)
}

/// Checks that there is one impulse for each contact row and one for each constraint; fails otherwise.
fn check_lengths(
    problem: &ImpactProblem,
    impulses: &DVector<f64>,
    constraint_impulses: &DVector<f64>,
) -> Result<(), ImpactError> {
    let contacts = problem.contacts();
    let rows = contacts.n_rows();
    let forms = contacts.constraint_forms().len();
    for (what, found, expected) in [
        ("impulses", impulses.len(), rows),
        ("constraint impulses", constraint_impulses.len(), forms),
    ] {
        if found != expected {
            return Err(ImpactError::InvalidContact {
                what,
                contact: found,
                contacts: expected,
            });
        }
    }
    Ok(())
}

/// Returns the energy after the impact divided by that before it. Only the part of the momentum in the span of the contact
/// and constraint rows counts. `plus`: momentum after the impact, whitened (in coordinates with a Euclidean kinetic
/// metric). The ratio is infinite if this part is zero before the impact.
#[cold]
fn energy_ratio(problem: &ImpactProblem, plus: &[f64]) -> f64 {
    let contacts = problem.contacts();
    let rows = contacts.all_rows().map(|row| contacts.unit_row(row));
    let forms = contacts.constraint_basis();
    let forms = forms.into_iter().flat_map(|basis| basis.column_iter());
    let forms: Vec<DVector<f64>> = forms.map(|column| column.into_owned()).collect();
    let rows = rows.chain(forms.iter().map(|form| form.as_slice()));
    let seen = |momentum: &[f64]| {
        let part = part_in_span(rows.clone(), momentum);
        kernel::dot(&part, &part)
    };
    seen(plus) / seen(problem.momentum())
}

/// Sets `largest` to `value` if `value` is larger.
fn raise(largest: &mut f64, value: f64) {
    if value > *largest {
        *largest = value;
    }
}
