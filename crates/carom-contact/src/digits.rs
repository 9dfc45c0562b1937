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
//! ((I - TQ^T)L^{-1},\ TR^{-T})$ with $T = U_B(Q^TU_B)^{-1}$; $T = Q$ without friction. The term $C$ adds a row and column
//! $T^T\hat e$ with compliance $|u_t|/(\mu\lambda_n)$ for the direction $\hat e$ across the sliding.

mod inverse;
mod slip;
mod span;

use self::inverse::Inverse;
use self::slip::{AT_LIMIT, Slip};
use self::span::Span;
use crate::gate::{Answer, ResidualScales, Rules, Work};
use crate::index::{ContactIndex, RowIndex};
use crate::numbers::Numbers;
use crate::residual_scale::{GRAZING_TOLERANCE, ROUNDING_TOLERANCE, groups};
use crate::{Audit, Contact, ContactSet, Diagnostics, FrictionCone, ImpactProblem};
use carom_lcp::cone::ConeMode;
use carom_metric::{Covector, kernel};
use carom_numeric::dense;
use smallvec::{SmallVec, smallvec};

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
const CLOSING: f64 = 1e-9;

/// Most times that open contacts are added to those held, each time with larger errors.
const ROUNDS: usize = 4;

/// Numbers of a small matrix, without allocation up to eight rows of twelve entries.
type Flat = SmallVec<[f64; 96]>;

/// Estimate of the forward error of an answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Estimate {
    /// Correct digits of the velocity after the impact, one decimal, in \[0, 16\].
    pub(crate) digits: f64,
    /// Contact whose row is nearest to the span of the other rows, and its distance from them (unit rows).
    pub(crate) nearest: Option<(usize, f64)>,
}

/// Form of a law's answer, as far as its modes tell it.
#[derive(Clone, Copy, PartialEq)]
enum Form<'d> {
    /// Impulses on normals alone.
    Frictionless,
    /// Coulomb friction after the impact, with the modes of the contacts and the number of directions of friction polygons, if
    /// the law tells them.
    Coulomb(&'d [ConeMode], Option<usize>),
    /// Impulses of several phases: the velocities at which rows are held are those of the answer.
    Total(&'d [ConeMode]),
}

/// Returns the form of the answers with the given diagnostics; `None` for impacts in turn and for paths of impulses.
fn form(diagnostics: &Diagnostics) -> Option<Form<'_>> {
    match diagnostics {
        Diagnostics::Plastic { .. } => Some(Form::Frictionless),
        Diagnostics::Complementarity { polygon, .. } => {
            let directions = polygon.map(|polygon| match polygon.cone {
                FrictionCone::Polygon(k) => k,
                FrictionCone::Round => 0,
            });
            Some(Form::Coulomb(&[], directions))
        }
        Diagnostics::Cone(cone) => Some(Form::Coulomb(&cone.modes, None)),
        Diagnostics::Poisson(phases) => Some(Form::Total(&phases.modes)),
        _ => None,
    }
}

/// Estimates the number of correct digits of an answer to a problem. `change` is the change of the velocity (n entries), `rules`
/// are the checks that the answer passed, in the units of the problem `posed` that the law solved. `None` if the form of the answer is not known.
pub(crate) fn digits(
    problem: &ImpactProblem<'_>,
    posed: &ImpactProblem<'_>,
    answer: &Answer<'_>,
    change: &[f64],
    rules: &Rules<'_>,
    diagnostics: &Diagnostics,
) -> Option<Estimate> {
    // The answer of a step is a part of an impact, and of no known form.
    let form = form(diagnostics).filter(|_| !rules.may_approach)?;
    let mut system = System::new(problem, posed, answer, change);
    for (form, multiplier) in
        { problem.contacts().constraint_forms().iter() }.zip(answer.constraint_impulses)
    {
        system.add_constraint(form, *multiplier);
    }
    for (i, contact) in problem.contacts().indexed() {
        system.add_contact(i, contact, answer.impulses, rules, form);
    }
    Some(system.estimate())
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
    problem: &ImpactProblem<'_>,
    posed: &ImpactProblem<'_>,
    answer: &Answer<'_>,
    walls: &[f64],
) -> f64 {
    let contacts = problem.contacts();
    let before = problem.velocity_minus().0.as_slice();
    let mut scales = None;
    let fractions = contacts.indexed().map(|(i, contact)| {
        let normal = contact.normal.0.as_slice();
        let scale = contacts.row_scale(contacts.row(i));
        let wall = walls.get(contacts.place(i).index()).copied().unwrap_or(0.0);
        let unit = contacts.normal_norm(i) * scale / posed.scale();
        let wall = wall * unit;
        let (mut after, mut size) = (wall, wall.abs());
        for ((n, minus), plus) in normal.iter().zip(before).zip(answer.velocity_plus) {
            let n = n * scale;
            after += n * plus;
            size += (n * minus).abs() + (n * plus).abs();
        }
        if !(-after > CLOSING * size) {
            return 0.0;
        }
        let scales = scales.get_or_insert_with(|| ResidualScales::new(problem, answer));
        let row = contacts.row(i);
        let terms = scales.terms[row.index()] * contacts.row_norm(row) * scale;
        let rounding = GRAZING_TOLERANCE * (terms / problem.scale() + wall.abs());
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
fn reduction(posed: &ImpactProblem<'_>, i: ContactIndex) -> f64 {
    posed
        .rounding(i)
        .min(ROUNDING_TOLERANCE * posed.given_norm())
}

/// Velocity of a row after an impact, and the size of its rounding error; in units of the row times its power of two.
#[derive(Clone, Copy, Default)]
struct Rate {
    row: Option<RowIndex>,
    /// Power of two that brings the row to about unit length.
    scale: f64,
    impulse: f64,
    after: f64,
    rounding: f64,
}

/// Rows and columns of the system that the answer solves, whitened, and the error of its right-hand side.
struct System<'p> {
    contacts: &'p ContactSet<'p>,
    problem: &'p ImpactProblem<'p>,
    /// Problem that the law solved: the same, or that of the motion that the contacts see.
    posed: &'p ImpactProblem<'p>,
    scale: f64,
    before: Numbers,
    after: Numbers,
    change: Numbers,
    /// Momentum that the impulses do not explain, the size of its terms, and their number; n entries each.
    left: Numbers,
    size: Numbers,
    count: Numbers,
    /// Unit rows $U_J$ and columns $U_B$, n entries each.
    rows: Flat,
    columns: Flat,
    has_friction: bool,
    /// Velocity by which each row misses its value, and its rounding.
    miss: Numbers,
    rounding: Numbers,
    /// Compliance of each row.
    compliance: Numbers,
    /// True for the coordinates of rows that push, or approach by more than grazing: the impact acts on them.
    acts: SmallVec<[bool; 8]>,
    /// Open contacts, with the velocity at which they separate and its rounding, for unit normals.
    open: SmallVec<[(ContactIndex, f64, f64); 8]>,
    /// Contact of each row, `usize::MAX` for constraints.
    contact: SmallVec<[usize; 8]>,
}

impl<'p> System<'p> {
    fn new(
        problem: &'p ImpactProblem<'p>,
        posed: &'p ImpactProblem<'p>,
        answer: &Answer<'_>,
        change: &[f64],
    ) -> Self {
        let scale = problem.scale();
        let scaled = |v: &[f64]| -> Numbers { v.iter().map(|x| x * scale).collect() };
        let n = change.len();
        Self {
            contacts: problem.contacts(),
            problem,
            posed,
            scale,
            before: scaled(problem.velocity_minus().0.as_slice()),
            after: scaled(answer.velocity_plus),
            change: scaled(change),
            left: smallvec![0.0; n],
            size: smallvec![0.0; n],
            count: smallvec![2.0; n],
            rows: Flat::new(),
            columns: Flat::new(),
            has_friction: false,
            miss: Numbers::new(),
            rounding: Numbers::new(),
            acts: smallvec![false; n],
            compliance: Numbers::new(),
            open: SmallVec::new(),
            contact: SmallVec::new(),
        }
    }

    /// Adds the impulse on a row to the balance of momentum, and returns the velocity of the row after the impact.
    fn add(&mut self, covector: &Covector, scale: f64, impulse: f64) -> Rate {
        let impulse = impulse * (self.scale / scale);
        let (mut after, mut terms, mut count) = (0.0, 0.0, 2.0);
        for (k, a) in covector.0.iter().enumerate() {
            let a = a * scale;
            if a == 0.0 {
                continue;
            }
            let plus = a * self.after[k];
            after += plus;
            terms += (a * self.before[k]).abs() + plus.abs();
            count += 1.0;
            if impulse != 0.0 {
                self.left[k] -= a * impulse;
                self.size[k] += (a * impulse).abs();
                self.count[k] += 1.0;
            }
        }
        Rate {
            row: None,
            scale,
            impulse,
            after,
            rounding: count * UNIT * terms,
        }
    }

    fn add_constraint(&mut self, form: &Covector, multiplier: f64) {
        let size = kernel::max_abs(form.0.as_slice());
        if size == 0.0 {
            // A zero form is no constraint.
            return;
        }
        let scale = kernel::power_of_two_scale(size);
        let rate = self.add(form, scale, multiplier);
        let mut row: Numbers = form.0.iter().map(|a| a * scale).collect();
        self.contacts.metric().whiten_in_place(&mut row);
        self.hold(&row, None, [rate.after, rate.rounding], usize::MAX);
    }

    /// Adds the impulses on the rows of a contact, and returns the velocities of these rows with their number.
    fn rates(
        &mut self,
        i: ContactIndex,
        contact: &Contact,
        impulses: &[f64],
    ) -> ([Rate; 3], usize) {
        let contacts = self.contacts;
        // A problem of the motion that contacts see has lost the rounding of the whole.
        let reduced = reduction(self.posed, i) * (self.scale / self.posed.scale());
        let mut rates = [Rate::default(); 3];
        let mut n_rows = 0;
        let rows = contacts.rows_at(i).zip(contact.rows());
        for (rate, (row, covector)) in rates.iter_mut().zip(rows) {
            *rate = self.add(covector, contacts.row_scale(row), impulses[row.index()]);
            rate.row = Some(row);
            rate.rounding += reduced * contacts.row_norm(row) * rate.scale;
            n_rows += 1;
        }
        (rates, n_rows)
    }

    /// Adds the rows of a contact that the answer holds at a value.
    fn add_contact(
        &mut self,
        i: ContactIndex,
        contact: &Contact,
        impulses: &[f64],
        rules: &Rules<'_>,
        form: Form<'_>,
    ) {
        let contacts = self.contacts;
        let (rates, n_rows) = self.rates(i, contact, impulses);
        let wall = rules.wall_rates.get(contacts.place(i).index()).copied();
        let rebound = match rules.work {
            Work::Rebound(rebounds) => rebounds.get(i.index()).copied(),
            _ => None,
        };
        let least = rebound.unwrap_or(0.0) - wall.unwrap_or(0.0);
        let unit = contacts.normal_norm(i) * rates[0].scale * (self.scale / self.posed.scale());
        let least = least * unit;
        let [normal, tangents @ ..] = &rates;
        let tangents = &tangents[..n_rows - 1];
        let modes = match form {
            Form::Coulomb(modes, _) | Form::Total(modes) => modes,
            Form::Frictionless => &[],
        };
        let mode = modes.get(i.index()).copied();
        let is_total = matches!(form, Form::Total(_));
        let pushes = normal.impulse != 0.0 && mode != Some(ConeMode::Open);
        if !pushes && normal.after >= least {
            let length = contacts.normal_norm(i) * normal.scale;
            let slack = (normal.after - least) / length;
            self.open.push((i, slack, normal.rounding / length));
            return;
        }
        let target = if is_total {
            f64::max(normal.after, least)
        } else {
            least
        };
        let error = [normal.after - target, normal.rounding];
        let acts = pushes || -error[0] > GRAZING_TOLERANCE / UNIT * error[1];
        let row = self.whitened(normal, &contact.normal);
        if acts {
            for (acts, a) in self.acts.iter_mut().zip(&row) {
                *acts |= *a != 0.0;
            }
        }
        let friction = if rules.friction {
            contact.friction
        } else {
            0.0
        };
        let most = friction * normal.impulse.max(0.0) * normal.scale;
        if !pushes
            || tangents.is_empty()
            || (rules.friction && most == 0.0)
            || form == Form::Frictionless
        {
            self.hold(&row, None, error, i.index());
            return;
        }
        let slip = Slip::new(tangents, most);
        let slides = match (form, mode) {
            (_, Some(mode)) => mode == ConeMode::Slide && slip.has_direction(),
            (Form::Coulomb(_, directions), None) => rules.friction && slip.slides(directions),
            _ => false,
        };
        let column = slides.then(|| {
            let mut column = row.clone();
            for (rate, tangent) in tangents.iter().zip(&contact.tangents) {
                // On the caller's rows the friction impulse is this multiple of the normal impulse.
                let part = rate.impulse / normal.impulse;
                let tangent = self.whitened(rate, tangent);
                kernel::add_scaled(&mut column, part, &tangent);
            }
            column
        });
        self.hold(&row, column.as_ref(), error, i.index());
        if !slides {
            for (rate, tangent) in tangents.iter().zip(&contact.tangents) {
                let row = self.whitened(rate, tangent);
                self.hold(&row, None, [rate.after, rate.rounding], i.index());
            }
            return;
        }
        let Form::Coulomb(modes, _) = form else {
            return;
        };
        if tangents.len() == 2 {
            self.add_across(i, contact, tangents, &slip, !modes.is_empty());
        }
    }

    /// Adds the row across the sliding velocity of a contact in space. With a round cone friction turns with the velocity; with a
    /// polygon the velocity has the direction of an edge as long as the impulse lies between two vertices.
    fn add_across(
        &mut self,
        i: ContactIndex,
        contact: &Contact,
        tangents: &[Rate],
        slip: &Slip,
        is_round: bool,
    ) {
        if !is_round && slip.friction >= AT_LIMIT * slip.most {
            return;
        }
        let along = [slip.velocity[0] / slip.speed, slip.velocity[1] / slip.speed];
        let across = [-along[1], along[0]];
        let mut row: Numbers = smallvec![0.0; self.change.len()];
        let mut rounding = 0.0;
        let rows = tangents.iter().zip(&contact.tangents);
        for (k, (rate, tangent)) in rows.enumerate() {
            let whitened = self.whitened(rate, tangent);
            kernel::add_scaled(&mut row, across[k] / rate.scale, &whitened);
            rounding += (across[k] / rate.scale).abs() * rate.rounding;
            if is_round {
                // The momentum balance is that of the friction impulse which opposes the velocity.
                let missing = -slip.most * along[k] / rate.scale - rate.impulse;
                for (left, a) in self.left.iter_mut().zip(&tangent.0) {
                    *left -= a * rate.scale * missing;
                }
            }
        }
        let length = kernel::norm(&row);
        self.hold(&row, None, [0.0, rounding], i.index());
        if is_round
            && length > 0.0
            && let Some(compliance) = self.compliance.last_mut()
        {
            *compliance = slip.speed / slip.most / length / length;
        }
    }

    /// Computes a row of the Jacobian, times its power of two, in whitened coordinates.
    fn whitened(&self, rate: &Rate, covector: &Covector) -> Numbers {
        if self.contacts.constraint_forms().is_empty()
            && let Some(row) = rate.row
        {
            let length = self.contacts.row_norm(row) * rate.scale;
            return self
                .contacts
                .unit_row(row)
                .iter()
                .map(|a| a * length)
                .collect();
        }
        let mut row: Numbers = covector.0.iter().map(|a| a * rate.scale).collect();
        self.contacts.metric().whiten_in_place(&mut row);
        row
    }

    /// Adds a whitened row that is held at a value with an error, and the column of its impulse if it is another.
    fn hold(&mut self, row: &[f64], column: Option<&Numbers>, error: [f64; 2], contact: usize) {
        let length = kernel::norm(row);
        if length == 0.0 {
            return;
        }
        self.rows.extend(row.iter().map(|a| a / length));
        match column {
            Some(column) => {
                let length = kernel::norm(column);
                self.has_friction = true;
                self.columns.extend(column.iter().map(|a| a / length));
            }
            None => self.columns.extend(row.iter().map(|a| a / length)),
        }
        self.miss.push(error[0] / length);
        self.rounding.push(error[1] / length);
        self.compliance.push(0.0);
        self.contact.push(contact);
    }

    /// Bounds the error of the velocity, and compares it with the motion that the contacts see. An open contact that may close
    /// within the error is held, too, since the exact answer may push there.
    fn estimate(mut self) -> Estimate {
        self.add_momentum();
        let of = self.parts();
        let mut nearest = None;
        for round in 0..ROUNDS {
            let mut span = Span::new(self.change.len());
            span.extend(&self.rows, |span, row, rest| span.depends(&self, row, rest));
            nearest = { span.nearest() }
                .map(|(row, distance)| (self.contact[row], distance))
                .filter(|(contact, near)| *contact != usize::MAX && *near < NEAR);
            let Some(inverse) = self.inverse(&span) else {
                break;
            };
            let errors = inverse.errors(&of);
            if round + 1 < ROUNDS && self.hold_reached(&errors) {
                continue;
            }
            let largest = self.largest_ratio(&span, &of, &errors);
            // Written so that NaN is no digit.
            let digits = if largest <= 1.0 {
                -libm::log10(largest)
            } else {
                0.0
            };
            let digits = (10.0 * digits.clamp(0.0, MOST)).floor() / 10.0;
            return Estimate { digits, nearest };
        }
        Estimate {
            digits: 0.0,
            nearest,
        }
    }

    /// Holds the open contacts that close within the given errors of the whitened coordinates. Returns true if there are any.
    fn hold_reached(&mut self, errors: &[f64]) -> bool {
        let contacts = self.contacts;
        let mut open = std::mem::take(&mut self.open);
        let held = self.miss.len();
        open.retain(|(i, slack, rounding)| {
            let row = contacts.unit_row(contacts.row(*i));
            let reach: f64 = row.iter().zip(errors).map(|(a, e)| a.abs() * e).sum();
            let is_open = *slack > reach + *rounding;
            if !is_open {
                let rate = self.rate_of(*i);
                let row = self.whitened(&rate, &contacts.contact(*i).normal);
                let length = contacts.row_norm(contacts.row(*i)) * rate.scale;
                let error = [*slack * length, *rounding * length];
                self.hold(&row, None, error, i.index());
            }
            is_open
        });
        self.open = open;
        self.miss.len() > held
    }

    /// Scale of the normal of a contact, without its velocity.
    fn rate_of(&self, i: ContactIndex) -> Rate {
        let row = self.contacts.row(i);
        Rate {
            row: Some(row),
            scale: self.contacts.row_scale(row),
            ..Rate::default()
        }
    }

    /// Adds the momentum change $M\Delta$ to the balance, and turns the balance to the error of each momentum.
    fn add_momentum(&mut self) {
        let n = self.change.len();
        let mass = self.contacts.metric().mass_matrix().as_slice();
        for (k, row) in mass.chunks_exact(n).enumerate() {
            let (mut sum, mut size, mut count) = (self.left[k], self.size[k], self.count[k]);
            for (m, x) in row.iter().zip(&self.change) {
                let product = m * x;
                sum += product;
                size += product.abs();
                count += f64::from(product != 0.0);
            }
            self.left[k] = sum.abs() + count * UNIT * size;
        }
    }

    /// Factors the system of the independent rows; `None` if it is singular.
    fn inverse<'s>(&'s self, span: &'s Span) -> Option<Inverse<'p, 's>> {
        let n = self.change.len();
        let k = span.chosen.len();
        let mut turned = span.directions.clone();
        let is_soft = self.compliance.iter().any(|d| *d != 0.0);
        // Rows that hold every velocity do so with any impulses.
        if is_soft || self.has_friction && k < n {
            // Rows of the transposed matrix $H = Q^TU_B + R^{-T}D$, column by column.
            let mut matrix: Flat = smallvec![0.0; k * k];
            for (j, &own) in span.chosen.iter().enumerate() {
                let column = &self.columns[n * own..n * (own + 1)];
                let mut soft: Numbers = smallvec![0.0; k];
                soft[j] = self.compliance[own];
                span.solve_transposed(&mut soft);
                for (i, direction) in span.directions.chunks_exact(n).enumerate() {
                    matrix[i * k + j] = kernel::dot(direction, column) + soft[i];
                }
            }
            let mut pivots: SmallVec<[usize; 8]> = smallvec![0; k];
            if !dense::lu(&mut matrix, k, &mut pivots) {
                return None;
            }
            let mut x: Numbers = smallvec![0.0; k];
            for c in 0..n {
                for (x, own) in x.iter_mut().zip(&span.chosen) {
                    *x = self.columns[n * own + c];
                }
                dense::lu_solve(&matrix, &pivots, &mut x);
                for (j, x) in x.iter().enumerate() {
                    turned[j * n + c] = *x;
                }
            }
        }
        Some(Inverse {
            contacts: self.contacts,
            span,
            turned,
            momentum: &self.left,
            rows: { span.chosen.iter() }
                .map(|own| self.miss[*own].abs() + self.rounding[*own])
                .collect(),
        })
    }

    /// Returns for each coordinate the part of the system that shares bodies with it, by its first coordinate.
    fn parts(&self) -> Vec<usize> {
        let n = self.change.len();
        let contacts = self.contacts;
        // A contact connects all that its rows touch.
        let mut touched: Flat = smallvec![0.0; n * contacts.len()];
        for (i, touched) in contacts.indices().zip(touched.chunks_exact_mut(n)) {
            for row in contacts.rows_at(i) {
                let entries = touched.iter_mut().zip(contacts.unit_row(row));
                entries.for_each(|(touched, a)| *touched += a.abs());
            }
            if touched.iter().all(|a| *a != 0.0) {
                return vec![0; n];
            }
        }
        let links = touched.chunks_exact(n).chain(self.rows.chunks_exact(n));
        if links.clone().any(|row| row.iter().all(|a| *a != 0.0)) {
            vec![0; n]
        } else {
            groups(n, links).0
        }
    }

    /// Returns the largest ratio of the error to the motion that contacts see, over the parts that share no body. `errors` are
    /// those of the whitened coordinates.
    fn largest_ratio(&self, span: &Span, of: &[usize], errors: &[f64]) -> f64 {
        let n = self.change.len();
        let contacts = self.contacts;
        let mut larger;
        let mut all = span;
        if all.chosen.len() < n {
            larger = span.clone();
            let rows: Flat = { contacts.all_rows() }
                .flat_map(|row| contacts.unit_row(row).iter().copied())
                .collect();
            larger.extend(&rows, |_, _, _| true);
            all = &larger;
        }
        let given = self.problem.momentum();
        let mut plus: Numbers = smallvec![0.0; n];
        contacts
            .metric()
            .whiten_velocity_into(&self.after, &mut plus);
        let [before, after] = [given, &plus].map(|momentum| all.part(momentum));
        let mut largest = 0.0;
        for group in (0..n).filter(|group| of[*group] == *group) {
            let own = || (0..n).filter(|k| of[*k] == group);
            if !own().any(|k| self.acts[k]) {
                continue;
            }
            let inside = |v: &[f64]| own().map(|k| v[k] * v[k]).sum::<f64>();
            let error = inside(errors);
            // An answer as near as doubles can tell the velocities has lost nothing.
            let told =
                ROUNDING_TOLERANCE * ROUNDING_TOLERANCE * f64::max(inside(given), inside(&plus));
            if error <= told {
                continue;
            }
            let motion = match inside(&before) {
                0.0 => inside(&after),
                before => before,
            };
            largest = kernel::larger(largest, (error / motion).sqrt());
        }
        largest
    }
}
