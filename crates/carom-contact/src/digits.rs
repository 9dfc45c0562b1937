//! Number of correct digits of a velocity after an impact: a componentwise bound of its forward error.
//!
//! A law holds some rows $J$ at a value: normals that push, tangents that stick, constraints. Normals that approach after the
//! impact count, too: their miss is part of the error. In these modes the change $\Delta = v^+ - v^-$ and the impulses $\lambda$
//! solve
//!
//! $$ \begin{pmatrix} M + C & -B \\\\ J & 0 \end{pmatrix} \begin{pmatrix} \Delta \\\\ \lambda \end{pmatrix} =
//! \begin{pmatrix} 0 \\\\ \text{target} - Jv^- \end{pmatrix}. $$
//!
//! The columns $B$ are those of $J^T$, and $n + \mu T^Td$ for a contact that slides along $d$. In space $C = \sum
//! \mu\lambda_n/|u_t|\ T^T(I - \hat u\hat u^T)T$ turns friction with the sliding velocity $u_t$. With the residual $r$ of the
//! printed answer and $f = |r| + (N + 2)u(|K||x| + |J|(|v^-| + |v^+|))$, where $N$ counts the terms of each sum and $u = 2^{-53}$,
//! the error is at most $\lVert|L^T(I\ 0)K^{-1}|f\rVert$ to first order (Arioli, Demmel & Duff, *Solving sparse linear systems
//! with sparse backward error*, 1989; LAPACK's `xGERFS`). Every component has its own scale, so neither units nor lengths of rows
//! nor bodies that no contact touches enter. An error below $10^{-14}$ of the momentum of a part counts as none: a fast frame hides
//! it in the velocities as given.
//!
//! In whitened coordinates the rows are $U_J = QR$ (of dependent rows an independent set), the columns $U_B$, and $L^T(I\ 0)K^{-1} =
//! ((I - TP^T)L^{-1},\ TR^{-T})$ with $T = U_B(P^TU_B + D)^{-1}$; $T = P = Q$ without friction. The term $C$ adds a direction across
//! the sliding to $P$ and $U_B$, and its compliance $|u_t|/(\mu\lambda_n)$ to $D$; both are multiplied by $\min(1, \mu\lambda_n/|u_t|)$.
//!
//! Rows that nearly depend on others are compared in the caller's coordinates: whitening rounds their difference. Constraints enter
//! as an orthonormal basis of their span, contacts as rows restricted by them. The expansion of Poisson's law repeats the impulses
//! of the compression: $T$ is multiplied by the largest $1 + e$ of the contacts that rebound.
//!
//! The modes are taken as told, but for two. An open contact that closes within the error is held, too. A row left out as dependent
//! that contradicts the others, by more than rounding, makes one of them leave in the exact answer.

mod inverse;
mod system;

use self::inverse::Inverse;
use self::system::System;
use crate::gate::{ResidualScales, Rules};
use crate::index::ContactIndex;
use crate::ledger::Ledger;
use crate::residual_scale::{GRAZING_TOLERANCE, ROUNDING_TOLERANCE};
use crate::{Audit, Diagnostics, ImpactProblem};
use carom_metric::kernel;
use smallvec::SmallVec;

/// Number of correct digits below which an outcome has the warning [`IllConditioned`](crate::Warning::IllConditioned).
pub const MARKED_DIGITS: f64 = 6.0;

/// Number of correct digits below which an answer is refused as [`IllConditioned`](crate::ImpactError::IllConditioned).
pub const REFUSED_DIGITS: f64 = 2.0;

/// Largest number of digits that is reported.
const MOST: f64 = 16.0;

/// Unit roundoff $u$.
const UNIT: f64 = 0.5 * f64::EPSILON;

/// Distance of a unit row from the span of others below which it counts as a cause of an ill-conditioned problem.
const NEAR: f64 = 1e-4;

/// Approach of a contact after the impact below which no digit of the velocity is lost, as a fraction of its velocities.
pub(crate) const CLOSING: f64 = 1e-9;

/// Most times that open contacts are added to those held, each time with larger errors.
const ROUNDS: usize = 4;

/// Numbers of a small matrix, without allocation up to ten rows of three entries.
type Flat = SmallVec<[f64; 32]>;

/// Estimate of the forward error of an answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Estimate {
    /// Correct digits of the velocity after the impact, one decimal, in \[0, 16\].
    pub(crate) digits: f64,
    /// Contact whose row is nearest to the span of the other rows, and its distance from them (unit rows).
    pub(crate) nearest: Option<(usize, f64)>,
}

/// Form of a law's answer.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// Impulses on normals alone.
    Frictionless,
    /// Coulomb friction after the impact, with friction polygons in space.
    Polygon,
    /// Coulomb friction after the impact, with round cones in space.
    Round,
    /// Impulses of several phases: the velocities at which rows are held are those of the answer.
    Total,
}

/// Returns the form of the answers with the given diagnostics; `None` for impacts in turn and for paths of impulses. Members of a
/// continuum of Poisson's law have none: the same velocity after the compression may have other impulses, and the expansion
/// repeats them.
fn form(diagnostics: &Diagnostics) -> Option<Form> {
    match diagnostics {
        Diagnostics::Plastic { .. } => Some(Form::Frictionless),
        Diagnostics::Complementarity { .. } => Some(Form::Polygon),
        Diagnostics::Cone(_) => Some(Form::Round),
        Diagnostics::Poisson(phases) if phases.family == 0 => Some(Form::Total),
        _ => None,
    }
}

/// Estimates the number of correct digits of an answer with the given sums to the first problem; the second is that which the law
/// solved. `change` is the change of the velocity (n entries), `rules` are the checks that the answer passed, in the units of the
/// second problem. `None` if the form of the answer is not known.
pub(crate) fn digits(
    problems: [&ImpactProblem; 2],
    ledger: &Ledger,
    change: &[f64],
    rules: &Rules<'_>,
    diagnostics: &Diagnostics,
) -> Option<Estimate> {
    // The answer of a step is a part of an impact, and of no known form.
    let form = form(diagnostics).filter(|_| !rules.may_approach)?;
    let mut system = System::new(problems, ledger, form);
    system.add_constraints();
    let modes = diagnostics.modes();
    for (i, contact) in problems[0].contacts().indexed() {
        system.add_contact(i, contact, rules, modes.get(i.index()).copied());
    }
    system.add_momentum(change);
    let mut estimate = Estimate::default();
    for round in 1..=ROUNDS {
        let mut inverse = Inverse::new(&system);
        inverse.factor_rows();
        estimate.nearest = { inverse.nearest() }
            .map(|(row, distance)| (system.held[row].contact, distance))
            .filter(|(contact, near)| *contact != usize::MAX && *near < NEAR);
        if !inverse.turn() {
            // Members of a continuum of Poisson's law tell none, either.
            if form == Form::Total {
                return None;
            }
            break;
        }
        let (errors, spans_all) = (inverse.errors(), inverse.spans_all());
        if round == ROUNDS || !system.hold_reached(&errors) {
            // Written so that NaN is no digit.
            let largest = system.largest_ratio(&errors, spans_all);
            if largest <= 1.0 {
                let digits = -libm::log10(largest);
                estimate.digits = (10.0 * digits.clamp(0.0, MOST)).floor() / 10.0;
            }
            break;
        }
    }
    Some(estimate)
}

/// Digits that an outcome has left: of the velocity, or of the velocity of a contact that approaches if it has fewer.
pub(crate) fn left(audit: &Audit) -> f64 {
    let own = audit.digits.unwrap_or(MOST);
    if audit.closing > 0.0 {
        own.min(-libm::log10(audit.closing))
    } else {
        own
    }
}

/// Largest approach of a contact after an impact, as a fraction of $\sum_k|n_k|(|v_k^-| + |v_k^+|)$; an approach that is the
/// rounding of its impulses does not count. `posed` is the problem that the law solved, `walls` are its scaled velocities of moving walls along the distinct unit normals;
/// empty for walls at rest.
pub(crate) fn closing(
    problem: &ImpactProblem,
    posed: &ImpactProblem,
    ledger: &Ledger,
    walls: &[f64],
) -> f64 {
    let contacts = problem.contacts();
    let to_posed = problem.scale() / posed.scale();
    let mut scales = None;
    let fractions = contacts.indices().map(|i| {
        let row = contacts.row(i);
        let normal = &ledger.rows[row.index()];
        let wall = walls.get(contacts.place(i).index()).copied().unwrap_or(0.0);
        let length = contacts.row_norm(row) * normal.scale;
        let unit = length * to_posed;
        let wall = wall * unit;
        let (after, size) = (normal.after + wall, normal.size + wall.abs());
        if !(-after > CLOSING * size) {
            return 0.0;
        }
        let scales = scales.get_or_insert_with(|| ResidualScales::new(problem, ledger));
        let rounding = GRAZING_TOLERANCE * (scales.terms[row.index()] * length + wall.abs());
        let hidden = if posed.is_at_rest(i) {
            posed.hidden_velocity(i)
        } else {
            reduction(posed, i)
        };
        if -after > rounding + hidden * unit {
            -after / size
        } else {
            0.0
        }
    });
    fractions.fold(0.0, kernel::larger)
}

/// Rounding of the velocity of a unit normal in a problem of the motion that contacts see: at most that of the whole momentum.
fn reduction(posed: &ImpactProblem, i: ContactIndex) -> f64 {
    match posed.rounding(i) {
        0.0 => 0.0,
        rounding => rounding.min(ROUNDING_TOLERANCE * posed.given_norm()),
    }
}
