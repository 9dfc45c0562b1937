//! Energy and momentum balance of an outcome: one function for every law.

use crate::digits::{self, CLOSING};
use crate::gate::{Answer, GATE_TOLERANCE, ROUNDING};
use crate::index::RowIndex;
use crate::numbers::Numbers;
use crate::span::part_in_span;
use crate::{ImpactError, ImpactProblem};
use carom_metric::{Covector, Tangent, kernel};
use nalgebra::DVector;
use smallvec::smallvec;

/// Energy and momentum balance of one impact, which every outcome contains. Residuals are relative to $\lVert p^-\rVert$,
/// the kinetic norm of the momentum before the impact, so they are comparable between problems; 0 is perfect.
#[derive(Clone, Debug, Default, PartialEq)]
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
    problem: &ImpactProblem<'_>,
    velocity_plus: &Tangent,
    impulses: &DVector<f64>,
    constraint_impulses: &DVector<f64>,
) -> Result<Audit, ImpactError> {
    let contacts = problem.contacts();
    let metric = contacts.metric();
    let forms = contacts.constraint_forms();
    check_lengths(problem, impulses, constraint_impulses)?;
    metric.check_vector("velocity after", velocity_plus.0.as_slice())?;
    let mut whitened: Numbers = smallvec![0.0; metric.dim()];
    metric.whiten_velocity_into(velocity_plus.0.as_slice(), &mut whitened);
    let norm_plus = kernel::norm(&whitened);
    let energy_plus_j = 0.5 * norm_plus * norm_plus;
    if !energy_plus_j.is_finite() {
        return Err(ImpactError::Overflow);
    }
    let norm_minus = problem.norm() / problem.scale();
    let per_norm = if norm_minus > 0.0 {
        1.0 / norm_minus
    } else {
        1.0
    };

    let v_minus = problem.velocity_minus().0.as_slice();
    let v_plus = velocity_plus.0.as_slice();
    // Momentum change that the impulses explain.
    let mut explained: Numbers = smallvec![0.0; metric.dim()];
    let mut audit = Audit {
        energy_minus_j: problem.energy_minus_j(),
        energy_plus_j,
        contact_work_j: Vec::with_capacity(contacts.len()),
        ..Audit::default()
    };
    let mut gain = Gain::default();
    let mut closes = false;
    for (i, contact) in contacts.indexed() {
        let first = contacts.row(i);
        let mut work = 0.0;
        // Rows may have any length: they are scaled before they meet velocities or impulses.
        let mut add = |row: RowIndex, covector: &Covector| {
            let scale = contacts.row_scale(row);
            let impulse = impulses[row.index()] / scale;
            let (mut before, mut after, mut size) = (0.0, 0.0, 0.0);
            let velocities = v_minus.iter().zip(v_plus);
            let entries = covector.0.as_slice().iter().zip(velocities);
            for ((entry, (minus, plus)), explained) in entries.zip(explained.iter_mut()) {
                let entry = entry * scale;
                let (minus, plus) = (entry * minus, entry * plus);
                before += minus;
                after += plus;
                size += minus.abs() + plus.abs();
                *explained += entry * impulse;
            }
            work += impulse * 0.5 * (before + after);
            gain.add(impulse, [before, after], size);
            (after, size, scale)
        };
        let (normal_velocity, size, scale) = add(first, &contact.normal);
        closes |= -normal_velocity > CLOSING * size;
        let mut tangential = 0.0f64;
        for (row, tangent) in contacts.tangents_at(i).zip(&contact.tangents) {
            add(row, tangent);
            tangential = libm::hypot(tangential, impulses[row.index()]);
        }
        audit.contact_work_j.push(work);
        let norm = contacts.normal_norm(i);
        let normal_impulse = impulses[first.index()];
        let excess = tangential - contact.friction * normal_impulse.max(0.0);
        raise(
            &mut audit.penetration_residual,
            -normal_velocity / (norm * scale) * per_norm,
        );
        raise(
            &mut audit.adhesion_residual,
            -normal_impulse * norm * per_norm,
        );
        raise(&mut audit.friction_residual, excess * norm * per_norm);
    }
    for (form, &lambda) in forms.iter().zip(constraint_impulses.iter()) {
        let residual = kernel::dot(form.0.as_slice(), v_plus).abs();
        let length = metric.norm(form)?;
        if length > 0.0 {
            raise(&mut audit.constraint_residual, residual / length * per_norm);
        }
        kernel::add_scaled(&mut explained, lambda, form.0.as_slice());
    }
    metric.whiten_in_place(&mut explained);
    let per_scale = 1.0 / problem.scale();
    for ((explained, plus), minus) in explained.iter_mut().zip(&whitened).zip(problem.momentum()) {
        *explained -= plus - minus * per_scale;
    }
    let answer = Answer {
        velocity_plus: v_plus,
        impulses: impulses.as_slice(),
        constraint_impulses: constraint_impulses.as_slice(),
    };
    if closes {
        audit.closing = digits::closing(problem, problem, &answer, &[]);
    }
    audit.momentum_residual = kernel::norm(&explained) * per_norm;
    if gain.is_gain() {
        audit.energy_gain = Some(energy_ratio(problem, &whitened));
    }
    Ok(audit)
}

/// Checks that there is one impulse for each contact row and one for each constraint; fails otherwise.
fn check_lengths(
    problem: &ImpactProblem<'_>,
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

/// Work of the impulses, and the limit up to which it counts as rounding.
#[derive(Clone, Copy, Debug, Default)]
struct Gain {
    work: f64,
    limit: f64,
}

impl Gain {
    /// Adds the work of the impulse on one row to the total. `before` and `after` are the velocities of the row; `size` is
    /// the size of the terms that these velocities are sums of, for the rounding error.
    fn add(&mut self, impulse: f64, [before, after]: [f64; 2], size: f64) {
        self.work += impulse * 0.5 * (before + after);
        let terms = 0.5 * (before.abs() + after.abs());
        self.limit += impulse.abs() * (GATE_TOLERANCE * terms + ROUNDING * size);
    }

    fn is_gain(&self) -> bool {
        self.work > self.limit
    }
}

/// Returns the energy after the impact divided by that before it. Only the part of the momentum in the span of the contact
/// and constraint rows counts. `plus`: momentum after the impact, whitened (in coordinates with a Euclidean kinetic
/// metric). The ratio is infinite if this part is zero before the impact.
#[cold]
fn energy_ratio(problem: &ImpactProblem<'_>, plus: &[f64]) -> f64 {
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
    let per_scale = 1.0 / (problem.scale() * problem.scale());
    seen(plus) / (seen(problem.momentum()) * per_scale)
}

/// Sets `largest` to `value` if `value` is larger.
fn raise(largest: &mut f64, value: f64) {
    if value > *largest {
        *largest = value;
    }
}
