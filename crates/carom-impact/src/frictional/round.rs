//! Solver of contacts with round friction cones, in the slots of a [`ContactSpace`].

use super::own::own_residual;
use super::space::ContactSpace;
use carom_contact::internal::{Basis, Breach, Missed, Targets, divisor, worst};
use carom_contact::{ContactSet, FrictionCone, ImpactError, ImpactProblem, PolygonDiagnostics};
use carom_lcp::LcpStatus;
use carom_lcp::cone::{
    ConeAnswer, ConeMode, ConeProblem, ConeSelection, ConeStart, ConeWorkspace, SparseConeAnswer,
    SparseConeProblem, SparseConeWorkspace, cone_residual,
};
use carom_metric::kernel;
use carom_numeric::svd::Svd;
use nalgebra::DMatrix;

/// Rows of a contact in the cone solver: the normal and two tangents.
const WIDTH: usize = 3;

/// Largest residual of an answer that a correction of the impulses may still make accurate.
const NEAR: f64 = 1e-6;

/// Singular values below this fraction of the largest count as zero: the rows are linearly dependent.
const FLAT: f64 = 1e-14;

/// Part of a cone problem that depends on the configuration alone.
///
/// The rows of each contact are divided by the kinetic length of its normal, all three by one
/// number, so that residuals and the even member of a family are those of the caller's rows. Contacts in the plane
/// and contacts without friction have zero rows for the missing tangents.
#[derive(Clone, Debug)]
pub(super) struct RoundStep {
    /// Number of slots per contact.
    width: usize,
    delassus: Vec<f64>,
    friction: Vec<f64>,
    /// Factor of each slot: a velocity of the row is the factor times that of the slot; an impulse on the slot is the factor
    /// times that on the row.
    factors: Vec<f64>,
}

/// Work buffers of the round-cone solver.
#[derive(Clone, Debug, Default)]
pub(super) struct RoundWorkspace {
    pub(super) cone: ConeWorkspace,
    velocity: Vec<f64>,
    start: Vec<f64>,
    /// Impulses on the slots, found by the last solve.
    pub(super) impulse: Vec<f64>,
    /// Units of work of all solves so far, see [`work_of`].
    pub(super) work: u64,
}

/// Largest number of contacts for which the dense method is used: 60 rows.
const DENSE_CONTACTS: usize = 20;

/// Largest number of contacts for which the continuum of answers and the even member in it are computed: both need
/// dense matrices, here of 300 rows.
const CONTINUUM_CONTACTS: usize = 100;

/// Units of work of a solve in addition to its Newton steps and pivots.
const SOLVE_WORK: u64 = 1000;

/// Units of work of one contact in one Gauss-Seidel sweep.
const BLOCK_WORK: u64 = 4000;
/// Number of sweeps charged for a problem that Newton's method from zero does not solve.
const SWEEPS: u64 = 32;

/// Estimates the work of the solve that gave `answer`, a problem with `n` contact rows. A unit of work is about one
/// multiply-add; the work is counted, not timed.
fn work_of(answer: &ConeAnswer, n: usize) -> u64 {
    let n = n as u64;
    let is_easy = matches!(
        answer.start,
        ConeStart::ClosedForm | ConeStart::Given | ConeStart::Zero
    );
    let sweeps = if is_easy && answer.status == LcpStatus::Solved {
        0
    } else {
        SWEEPS * n / 3
    };
    // A Newton step factorizes the matrix and evaluates several points along the step.
    let newton = answer.n_newton_steps as u64 * n * n * (n + 16);
    // Polygons have at least eight directions per contact.
    let polygons = answer.n_pivots as u64 * 16 * n * n;
    SOLVE_WORK + newton + polygons + sweeps * BLOCK_WORK
}

impl RoundStep {
    pub(super) fn new(space: &ContactSpace) -> Self {
        Self::of_gram(space, &space.gram)
    }

    /// Creates the problem with another Gram matrix `gram` of the normalized contact rows, whose tangents are turned.
    pub(super) fn of_gram(space: &ContactSpace, gram: &DMatrix<f64>) -> Self {
        let (width, m) = (space.width(), space.n_contacts);
        let mut factors = Vec::with_capacity(space.n_slots());
        let mut friction = Vec::with_capacity(m);
        for (contact, scaled) in space.indices().zip(&space.friction) {
            let ratio = space.tangent_norm(contact) / space.normal_norm(contact);
            let ratio = if ratio > 0.0 { ratio } else { 1.0 };
            friction.push(scaled / ratio);
            factors.push(1.0);
            factors.extend(std::iter::repeat_n(ratio, width - 1));
        }
        let n = WIDTH * m;
        let mut delassus = vec![0.0; n * n];
        for (slot, column) in gram.column_iter().enumerate() {
            let right = factors[slot];
            let out = &mut delassus[row_of(slot, width) * n..][..n];
            for (other, (g, left)) in column.iter().zip(&factors).enumerate() {
                out[row_of(other, width)] = left * g * right;
            }
        }
        Self {
            width,
            delassus,
            friction,
            factors,
        }
    }

    fn problem<'a>(
        &'a self,
        velocity: &'a [f64],
        caps: &'a [f64],
    ) -> Result<ConeProblem<'a>, ImpactError> {
        let problem = ConeProblem::new(&self.delassus, velocity, &self.friction, &[])?;
        match caps {
            [] => Ok(problem),
            caps => Ok(problem.with_caps(caps)?),
        }
    }

    /// Creates the round-cone problem in which the normal impulses have the lower bounds `floors` (one per contact, or
    /// empty) and no upper bounds. `velocity`: velocities of the solver's rows before the impact.
    fn problem_above<'a>(
        &'a self,
        velocity: &'a [f64],
        floors: &'a [f64],
    ) -> Result<ConeProblem<'a>, ImpactError> {
        let problem = self.problem(velocity, &[])?;
        match floors {
            [] => Ok(problem),
            floors => Ok(problem.with_floors(floors)?),
        }
    }

    /// Converts velocities of the normalized contact rows (slots) to those of the solver, which has three rows per contact.
    fn on_rows(&self, velocity: &[f64], out: &mut Vec<f64>) {
        self.padded(velocity.iter().zip(&self.factors).map(|(u, f)| u * f), out);
    }

    /// Converts impulses on the normalized contact rows (slots) to those on the solver's rows, of which there are three per
    /// contact.
    fn impulses_on_rows(&self, impulse: &[f64], out: &mut Vec<f64>) {
        self.padded(impulse.iter().zip(&self.factors).map(|(l, f)| l / f), out);
    }

    /// Writes numbers that belong to the normalized contact rows to `out`, which has three entries per contact. Tangents
    /// that contacts lack get zero.
    fn padded(&self, numbers: impl Iterator<Item = f64>, out: &mut Vec<f64>) {
        out.clear();
        if self.width == WIDTH {
            out.extend(numbers);
            return;
        }
        out.resize(WIDTH * self.friction.len(), 0.0);
        for (slot, x) in numbers.enumerate() {
            out[row_of(slot, self.width)] = x;
        }
    }

    /// Returns two numbers for each normalized contact row (slot): the entry of `rows`, a list with three entries per
    /// contact, and the factor between the two kinds of row.
    fn on_slots<'a>(&'a self, rows: &'a [f64]) -> impl Iterator<Item = (f64, f64)> + 'a {
        let factors = self.factors.iter().enumerate();
        factors.map(|(slot, factor)| (rows[row_of(slot, self.width)], *factor))
    }

    /// Solves the step problem with round friction cones; fails unless the answer is accurate. The impulses are left in
    /// the workspace. `velocity`: velocities of the normalized contact rows before the step; `caps`: upper bounds of
    /// the normal impulses, one per contact, or empty; `selection`: member to choose if a continuum of solutions
    /// exists.
    pub(super) fn solve(
        &self,
        velocity: &[f64],
        caps: &[f64],
        selection: ConeSelection,
        workspace: &mut RoundWorkspace,
    ) -> Result<ConeAnswer, ImpactError> {
        let answer = self.candidate(velocity, caps, selection, workspace)?;
        if answer.status == LcpStatus::Solved {
            return Ok(answer);
        }
        refused(&answer)
    }

    /// Solves the step problem with round friction cones for an outcome that is checked afterwards. An answer is
    /// therefore also accepted if its residual slightly exceeds the solver's own tolerance. The impulses are left in
    /// the workspace; `velocity` are the velocities of the normalized contact rows before the step, `caps` upper bounds
    /// of the normal impulses, or empty; `selection` is the member to choose if a continuum of solutions exists.
    pub(super) fn candidate(
        &self,
        velocity: &[f64],
        caps: &[f64],
        selection: ConeSelection,
        workspace: &mut RoundWorkspace,
    ) -> Result<ConeAnswer, ImpactError> {
        let RoundWorkspace {
            cone,
            velocity: rows,
            ..
        } = workspace;
        self.on_rows(velocity, rows);
        let problem = self.problem(rows, caps)?;
        let answer = if caps.is_empty() && problem.n_contacts() > DENSE_CONTACTS {
            by_sparse(&problem, selection, cone)?
        } else {
            cone.solve(&problem, selection)?
        };
        let work = work_of(&answer, problem.dim());
        self.keep(workspace);
        workspace.work += work;
        let is_near = answer.status == LcpStatus::Inaccurate && answer.residual <= NEAR;
        if answer.status == LcpStatus::Solved || is_near {
            return Ok(answer);
        }
        refused(&answer)
    }

    /// Solves the round-cone problem of a few contacts by methods whose answer does not depend on axes, units or the
    /// order of contacts. `velocity`: velocities of the normalized contact rows before the impact; `floors`: lower
    /// bounds of the normal impulses, one per contact, or empty; `selection`: member to choose if a continuum of
    /// solutions exists. `None` if there are too few or too many contacts, or if the methods fail.
    pub(super) fn solve_few_above(
        &self,
        velocity: &[f64],
        floors: &[f64],
        selection: ConeSelection,
        workspace: &mut RoundWorkspace,
    ) -> Result<Option<ConeAnswer>, ImpactError> {
        if !(2..=DENSE_CONTACTS).contains(&self.friction.len()) {
            return Ok(None);
        }
        let RoundWorkspace {
            cone,
            velocity: rows,
            ..
        } = workspace;
        self.on_rows(velocity, rows);
        let problem = self.problem_above(rows, floors)?;
        let answer = cone.solve_invariantly(&problem, selection)?;
        self.keep(workspace);
        Ok(answer)
    }

    /// Solves the round-cone problem by sparse factorizations, with lower bounds `floors` of the normal impulses (one
    /// per contact). `velocity`: velocities of the normalized contact rows before the impact. Friction is bounded by
    /// $\mu$ times the whole normal impulse. Returns the solver's answer and the impulses on the normalized contact
    /// rows.
    pub(super) fn solve_above(
        &self,
        velocity: &[f64],
        floors: &[f64],
    ) -> Result<(SparseConeAnswer, Vec<f64>), ImpactError> {
        let mut rows = Vec::with_capacity(velocity.len());
        self.on_rows(velocity, &mut rows);
        let problem = self.problem_above(&rows, floors)?;
        let mut workspace = SparseConeWorkspace::new();
        let answer = workspace.solve(&SparseConeProblem::of_dense(&problem)?)?;
        if answer.status != LcpStatus::Solved {
            return Err(ImpactError::unsolved(answer.status, answer.residual, 0));
        }
        let impulse = self.on_slots(workspace.impulse());
        let impulse = impulse.map(|(l, factor)| l * factor).collect();
        Ok((answer, impulse))
    }

    /// Starts from the impulses `given`, which solve the round-cone problem. If `selection` asks for it and neighboring
    /// impulses solve the problem, too, moves to the even member (the limit of the solutions for equally compliant
    /// contacts), first of the velocities and then of the impulses. `velocity`: velocities of the normalized contact
    /// rows before the impact; `floors`: lower bounds of the normal impulses, or empty.
    pub(super) fn settle(
        &self,
        velocity: &[f64],
        floors: &[f64],
        given: &[f64],
        selection: ConeSelection,
        workspace: &mut RoundWorkspace,
    ) -> Result<ConeAnswer, ImpactError> {
        let RoundWorkspace {
            cone,
            velocity: rows,
            start: on_rows,
            ..
        } = workspace;
        self.on_rows(velocity, rows);
        self.impulses_on_rows(given, on_rows);
        let problem = self.problem_above(rows, floors)?;
        let answer = cone.settle(&problem, on_rows, selection)?;
        let work = work_of(&answer, problem.dim());
        self.keep(workspace);
        workspace.work += work;
        Ok(answer)
    }

    /// Moves from the solution that the workspace holds to the even member of the neighboring solutions (the limit of the
    /// solutions for equally compliant contacts), like [`settle`](Self::settle) from given impulses. `floors`: lower bounds
    /// of the normal impulses; `answer`: report of the last solve.
    pub(super) fn settle_further(
        &self,
        floors: &[f64],
        answer: ConeAnswer,
        selection: ConeSelection,
        workspace: &mut RoundWorkspace,
    ) -> Result<ConeAnswer, ImpactError> {
        let RoundWorkspace {
            cone,
            velocity: rows,
            ..
        } = workspace;
        let problem = self.problem_above(rows, floors)?;
        let answer = cone.settle_further(&problem, answer, selection)?;
        self.keep(workspace);
        Ok(answer)
    }

    /// Solves the round-cone problem by Newton's method from the impulses `start`, with upper bounds `caps` of the
    /// normal impulses. `velocity`: velocities of the normalized contact rows before the impact. `None` if the method
    /// fails.
    pub(super) fn solve_near(
        &self,
        velocity: &[f64],
        caps: &[f64],
        start: &[f64],
        workspace: &mut RoundWorkspace,
    ) -> Result<Option<ConeAnswer>, ImpactError> {
        let RoundWorkspace {
            cone,
            velocity: rows,
            start: on_rows,
            ..
        } = workspace;
        self.on_rows(velocity, rows);
        self.impulses_on_rows(start, on_rows);
        let problem = self.problem(rows, caps)?;
        let answer = cone.solve_from(&problem, on_rows)?;
        let work = work_of(&answer, problem.dim());
        self.keep(workspace);
        workspace.work += work;
        Ok((answer.status == LcpStatus::Solved).then_some(answer))
    }

    fn keep(&self, workspace: &mut RoundWorkspace) {
        let RoundWorkspace { cone, impulse, .. } = workspace;
        impulse.clear();
        impulse.extend(self.on_slots(cone.impulse()).map(|(l, f)| l * f));
    }

    /// Writes the velocities of the normalized contact rows after the impulses of the last solve to `out`.
    pub(super) fn after(&self, workspace: &RoundWorkspace, out: &mut Vec<f64>) {
        out.clear();
        let rows = workspace.cone.velocity();
        out.extend(self.on_slots(rows).map(|(u, f)| u / f));
    }

    /// Returns the dimension of the continuum of velocities that contains the outcome of the impulses `impulse`; 0 if the
    /// outcome is locally unique. `velocity`: velocities of the normalized contact rows before the impact.
    pub(super) fn family(
        &self,
        velocity: &[f64],
        impulse: &[f64],
        workspace: &mut RoundWorkspace,
    ) -> Result<usize, ImpactError> {
        let RoundWorkspace {
            cone,
            velocity: rows,
            start,
            ..
        } = workspace;
        self.on_rows(velocity, rows);
        self.impulses_on_rows(impulse, start);
        Ok(cone.family(&self.problem(rows, &[])?, start)?)
    }

    /// Returns the residual of the round-cone problem at the impulses `impulse`, relative to one scale for all
    /// contacts. `velocity`: velocities of the normalized contact rows before the impact.
    pub(super) fn residual(&self, velocity: &[f64], impulse: &[f64]) -> Result<f64, ImpactError> {
        let (mut rows, mut impulses) = (Vec::new(), Vec::new());
        self.on_rows(velocity, &mut rows);
        self.impulses_on_rows(impulse, &mut impulses);
        Ok(cone_residual(&self.problem(&rows, &[])?, &impulses)?)
    }
}

/// Solves a round-cone problem of many contacts by sparse factorizations. A continuum of solutions is examined for up to
/// [`CONTINUUM_CONTACTS`] contacts; beyond, the reported selection is [`First`](ConeSelection::First). `cone`: work
/// buffers, which also receive the answer.
fn by_sparse(
    problem: &ConeProblem<'_>,
    selection: ConeSelection,
    cone: &mut ConeWorkspace,
) -> Result<ConeAnswer, ImpactError> {
    let mut workspace = SparseConeWorkspace::new();
    let found = workspace.solve(&SparseConeProblem::of_dense(problem)?)?;
    if found.status != LcpStatus::Solved {
        return Ok(cone.solve(problem, selection)?);
    }
    let selection = if problem.n_contacts() <= CONTINUUM_CONTACTS {
        selection
    } else {
        ConeSelection::First
    };
    let answer = cone.take(problem, workspace.impulse(), selection)?;
    Ok(ConeAnswer {
        n_newton_steps: answer.n_newton_steps + found.n_newton_steps,
        ..answer
    })
}

/// Returns the index of the solver's row for a normalized contact row (slot). The solver has three rows per contact; the
/// list of normalized rows has `width` per contact.
fn row_of(slot: usize, width: usize) -> usize {
    slot / width * WIDTH + slot % width
}

fn refused(answer: &ConeAnswer) -> Result<ConeAnswer, ImpactError> {
    let pivots = answer.n_pivots as u64;
    Err(ImpactError::unsolved(
        answer.status,
        answer.residual,
        pivots,
    ))
}

/// Active set of a round-cone answer: a refinement keeps the mode of every contact.
pub(super) struct RoundBasis<'a> {
    space: &'a ContactSpace,
    modes: Vec<ConeMode>,
    /// Prescribed velocities of pushing and sticking rows after the impact.
    targets: Targets,
}

impl<'a> RoundBasis<'a> {
    /// Creates the active set of an answer in which each contact has the mode given in `modes` (open, sticking or sliding,
    /// one per contact).
    pub(super) fn new(space: &'a ContactSpace, contacts: &ContactSet, modes: &[ConeMode]) -> Self {
        let width = space.width();
        let wanted = space.rows_of_slots(contacts).filter_map(|(slot, row, _)| {
            match (
                modes.get(slot.contact(width).index())?,
                slot.is_normal(width),
            ) {
                (ConeMode::Open, _) => None,
                (_, true) | (ConeMode::Stick, _) => Some((row, 0.0)),
                (ConeMode::Slide, _) => None,
            }
        });
        Self {
            space,
            modes: modes.to_vec(),
            targets: Targets::new(wanted, true),
        }
    }
}

impl Basis for RoundBasis<'_> {
    fn has_residual(&self) -> bool {
        true
    }

    fn can_correct(&self, _breach: &Breach) -> bool {
        true
    }

    fn missed(&self, contacts: &ContactSet, after: &[f64]) -> Missed {
        self.targets.missed(contacts, after)
    }

    fn slip_residual(
        &self,
        contacts: &ContactSet,
        after: &[f64],
        impulse: &[f64],
        terms: &[f64],
    ) -> f64 {
        let width = self.space.width();
        // For each contact: normal impulse, work of friction, squared slip speed, and the squared size of its terms.
        let mut slips = vec![[0.0f64; 4]; self.space.n_contacts];
        for (slot, row, factor) in self.space.rows_of_slots(contacts) {
            let [normal, work, slip, size] = &mut slips[slot.contact(width).index()];
            if slot.is_normal(width) {
                *normal = impulse[row.index()];
            } else {
                *work += impulse[row.index()] * after[row.index()];
                *slip += carom_numeric::power(after[row.index()] * factor, 2);
                *size = f64::max(*size, carom_numeric::power(terms[row.index()] * factor, 2));
            }
        }
        let slips = slips.iter().zip(&self.modes).zip(&self.space.friction);
        worst(slips.map(|(([normal, work, slip, size], mode), friction)| {
            let most = friction * normal;
            match mode {
                ConeMode::Slide if most > 0.0 => {
                    (work + most * slip.sqrt()).max(0.0) / (most * divisor(size.sqrt()))
                }
                _ => 0.0,
            }
        }))
    }

    fn own_residual(
        &self,
        contacts: &ContactSet,
        after: &[f64],
        impulse: &[f64],
        terms: &[f64],
    ) -> f64 {
        own_residual(self.space, contacts, after, impulse, terms)
    }

    /// Corrects the impulses on the contact rows of unit kinetic length (unit rows) by one Newton step, given the
    /// velocities `after` that these impulses cause. The step removes the velocities that pushing and sticking rows
    /// miss. At sliding contacts it satisfies the friction condition $\lambda_t + \mu\lambda_n u_t/|u_t| = 0$, with the
    /// impulse $\lambda$, velocity $u$ and indices for normal and tangential parts.
    fn correct(
        &mut self,
        contacts: &ContactSet,
        _before: &[f64],
        after: &[f64],
        impulse: &mut [f64],
    ) {
        let space = self.space;
        let (width, n_slots) = (space.width(), space.n_slots());
        let (mut u, mut l) = (vec![0.0; n_slots], vec![0.0; n_slots]);
        let mut missed = vec![0.0; n_slots];
        let mut active = Vec::with_capacity(n_slots);
        for (slot, row, factor) in space.rows_of_slots(contacts) {
            let is_open = self
                .modes
                .get(slot.contact(width).index())
                .is_none_or(|mode| *mode == ConeMode::Open);
            if is_open || factor == 0.0 {
                continue;
            }
            let slot = slot.index();
            u[slot] = after[row.index()] * factor;
            l[slot] = impulse[row.index()] / factor;
            active.push((slot, row, factor));
            let target = self.targets.rows().iter().find(|(other, _)| *other == row);
            missed[slot] = u[slot] - target.map_or(0.0, |(_, target)| target * factor);
        }
        let k = active.len();
        if k == 0 {
            return;
        }
        let mut matrix = DMatrix::from_fn(k, k, |i, j| space.gram[(active[i].0, active[j].0)]);
        for (i, (slot, _, _)) in active.iter().enumerate() {
            let contact = slot / width;
            let normal = contact * width;
            if self.modes[contact] != ConeMode::Slide || *slot == normal {
                continue;
            }
            let friction = space.friction[contact];
            let tangents = normal + 1..normal + width;
            let speed = kernel::norm(&u[tangents.clone()]);
            if speed == 0.0 {
                continue;
            }
            let direction = u[*slot] / speed;
            let turned = friction * l[normal] / speed;
            missed[*slot] = (l[*slot] + friction * l[normal] * direction) / turned.max(1.0);
            for (j, (other, _, _)) in active.iter().enumerate() {
                // Change of the sliding direction by the velocities perpendicular to it.
                let along: f64 = tangents
                    .clone()
                    .map(|t| u[t] / speed * space.gram[(t, *other)])
                    .sum();
                let across = space.gram[(*slot, *other)] - direction * along;
                let turned = friction * l[normal] / speed;
                let own = if other == slot {
                    1.0
                } else if *other == normal {
                    friction * direction
                } else {
                    0.0
                };
                // Rows are divided to about unit size, also if friction is large and sliding slow.
                matrix[(i, j)] = (own + turned * across) / turned.max(1.0);
            }
        }
        let missing: Vec<f64> = active.iter().map(|(slot, _, _)| -missed[*slot]).collect();
        let correction = Svd::new(matrix.as_slice(), k).least_norm(&missing, FLAT);
        if !kernel::is_finite(&correction) {
            return;
        }
        for ((_, row, factor), x) in active.iter().zip(correction.iter()) {
            impulse[row.index()] += x * factor;
        }
    }
}

/// Measures how far the impulses found with friction polygons are from the answer with round cones. `directions`: edges of
/// a polygon; `velocity`: velocities of the normalized contact rows before the impact; `impulse`: the polygon's impulses on
/// these rows.
pub(super) fn polygon_error(
    space: &ContactSpace,
    problem: &ImpactProblem,
    directions: usize,
    velocity: &[f64],
    impulse: &[f64],
) -> Result<PolygonDiagnostics, ImpactError> {
    let round = RoundStep::new(space);
    let cone_residual = round.residual(velocity, impulse)?;
    let mut workspace = RoundWorkspace::default();
    let near = round.solve_near(velocity, &[], impulse, &mut workspace)?;
    let cone_error = near.map(|_| {
        let difference: Vec<f64> = workspace
            .impulse
            .iter()
            .zip(impulse)
            .map(|(l, k)| l - k)
            .collect();
        kernel::norm(&space.change(&difference)) / problem.given_norm()
    });
    Ok(PolygonDiagnostics {
        cone: FrictionCone::Polygon(directions),
        cone_residual,
        cone_error,
    })
}
