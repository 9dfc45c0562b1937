//! Contacts with friction cones as a contact problem, on the slots of a [`ContactSpace`].

use super::ambiguous::Pick;
use super::space::ContactSpace;
use carom_contact::ConeSelection;
use carom_contact::{FrictionCone, ImpactError, ImpactProblem, PolygonDiagnostics};
use carom_lcp::LcpStatus;
use carom_lcp::contact_problem::{
    self, Block, ContactMode, ContactProblem, Kind, Member, Operator, Rank, Refusal, Solution,
    Workspace,
};
use carom_metric::kernel;
use std::cell::Cell;

thread_local! {
    /// Work space of the solver, which is taken out while it works. Answers do not depend on what it solved before.
    static SOLVER: Cell<Option<Box<Workspace>>> = const { Cell::new(None) };
}

/// Units of work of a solve in addition to its factorizations.
const SOLVE_WORK: u64 = 1000;

/// Part of a contact problem that depends on the configuration alone.
///
/// The rows of each contact are divided by the kinetic length of its normal, all by one number, so that the even member of a
/// family is that of the caller's rows. Contacts have a row for each tangent that an impulse moves.
#[derive(Clone, Debug)]
pub(super) struct Cones {
    blocks: Vec<Block>,
    delassus: Vec<f64>,
    /// Slot of each row, and its factor: a velocity of the row is the factor times that of the slot, and an impulse on the slot is
    /// the factor times that on the row.
    rows: Vec<(usize, f64)>,
}

/// Bounds of normal impulses and prescribed normal velocities after the impact: one entry per contact each, or empty.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bounds<'b> {
    pub(super) floors: &'b [f64],
    pub(super) caps: &'b [f64],
    pub(super) targets: &'b [f64],
}

/// Report of a solve.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    pub(super) residual: f64,
    /// Dimension of the continuum of velocities that contains the answer.
    pub(super) family: usize,
    /// Rule by which the answer was chosen.
    pub(super) selection: ConeSelection,
    /// True if the impulses are locally unique, as far as the even member was asked for; `None` if that was not examined.
    pub(super) is_unique: Option<bool>,
    pub(super) newton_steps: usize,
}

/// Work buffers of [`Cones`] with the last answer.
#[derive(Clone, Debug, Default)]
pub(super) struct ConesWorkspace {
    blocks: Vec<Block>,
    velocity: Vec<f64>,
    /// Impulses on the slots.
    pub(super) impulse: Vec<f64>,
    /// Velocities of the slots after the impulses.
    pub(super) after: Vec<f64>,
    pub(super) modes: Vec<ContactMode>,
    /// Choice among the answers of ambiguous problems.
    pub(super) pick: Pick,
    /// Units of work of all solves so far.
    pub(super) work: u64,
}

impl ConesWorkspace {
    /// Creates empty work buffers with a choice among the answers of ambiguous problems.
    pub(super) fn picking(pick: Pick) -> Self {
        Self {
            pick,
            ..Self::default()
        }
    }
}

impl Cones {
    pub(super) fn new(space: &ContactSpace) -> Self {
        let width = space.width();
        let (mut blocks, mut rows) = (Vec::with_capacity(space.n_contacts), Vec::new());
        for (contact, scaled) in space.indices().zip(&space.friction) {
            let ratio = space.tangent_norm(contact) / space.normal_norm(contact);
            let ratio = if ratio > 0.0 { ratio } else { 1.0 };
            let normal = contact.index() * width;
            rows.push((normal, 1.0));
            let before = rows.len();
            if *scaled > 0.0 {
                let tangents = normal + 1..normal + width;
                let moved = tangents.filter(|slot| space.gram[(*slot, *slot)] > 0.0);
                rows.extend(moved.map(|slot| (slot, ratio)));
            }
            blocks.push(match rows.len() - before {
                0 => Block::new(Kind::Normal, 0.0),
                1 => Block::new(Kind::Planar, scaled / ratio),
                _ => Block::new(Kind::Round, scaled / ratio),
            });
        }
        let mut delassus = Vec::with_capacity(rows.len() * rows.len());
        for (slot, right) in &rows {
            let column = rows
                .iter()
                .map(|(other, left)| left * space.gram[(*other, *slot)]);
            delassus.extend(column.map(|entry| entry * right));
        }
        Self {
            blocks,
            delassus,
            rows,
        }
    }

    /// Writes the problem with these bounds into the workspace. `velocity`: velocities of the slots before the impulses;
    /// `start`: impulses on the slots where the search begins, or empty.
    fn pose(
        &self,
        velocity: &[f64],
        bounds: Bounds<'_>,
        start: &[f64],
        workspace: &mut ConesWorkspace,
    ) {
        let ConesWorkspace {
            blocks,
            velocity: b,
            ..
        } = workspace;
        b.clear();
        b.extend(
            self.rows
                .iter()
                .map(|(slot, factor)| velocity[*slot] * factor),
        );
        blocks.clone_from(&self.blocks);
        let mut row = 0;
        for (i, block) in blocks.iter_mut().enumerate() {
            block.floor = bounds.floors.get(i).copied().unwrap_or(0.0);
            block.cap = bounds.caps.get(i).copied().unwrap_or(f64::INFINITY);
            block.target = bounds.targets.get(i).copied().unwrap_or(0.0);
            let rows = &self.rows[row..row + block.kind.width()];
            for (p, (slot, factor)) in block.preload.iter_mut().zip(rows) {
                *p = start.get(*slot).map_or(0.0, |l| l / factor);
            }
            row += rows.len();
        }
    }

    /// Solves the contact problem of these contacts and leaves the answer in the workspace; fails unless it is accurate. Of
    /// isolated answers `pick` of the workspace chooses one.
    ///
    /// `velocity`: velocities of the normalized contact rows (slots) before the impulses; `start`: impulses on them where the
    /// search begins, or empty; `member`: choice among several answers.
    pub(super) fn solve(
        &self,
        velocity: &[f64],
        bounds: Bounds<'_>,
        start: &[f64],
        member: Member,
        workspace: &mut ConesWorkspace,
    ) -> Result<Report, ImpactError> {
        self.pose(velocity, bounds, start, workspace);
        let mut solver = SOLVER.take().unwrap_or_default();
        let problem = ContactProblem::new(
            Operator::Dense(&self.delassus),
            &workspace.blocks,
            &workspace.velocity,
        )?;
        let report = match contact_problem::solve(&problem, member, &mut solver) {
            Ok(solution) => Ok(self.keep(solution, velocity, workspace)),
            Err(Refusal::Ambiguous(answers)) => {
                let answer = &answers[workspace.pick.choose(answers.len())];
                Ok(self.keep(answer, velocity, workspace))
            }
            Err(Refusal::NotConverged { residual, .. }) => {
                Err(ImpactError::unsolved(LcpStatus::Inaccurate, residual, 0))
            }
            // The law then looks for a proof in its own rows.
            Err(_) => {
                let status = LcpStatus::Infeasible;
                Err(ImpactError::unsolved(status, f64::INFINITY, 0))
            }
        };
        SOLVER.set(Some(solver));
        report
    }

    /// Writes an answer on the slots into the workspace. `before`: velocities of the slots before the impulses.
    fn keep(&self, solution: &Solution, before: &[f64], workspace: &mut ConesWorkspace) -> Report {
        let ConesWorkspace {
            impulse,
            after,
            modes,
            work,
            ..
        } = workspace;
        impulse.clear();
        impulse.resize(before.len(), 0.0);
        after.clear();
        after.extend_from_slice(before);
        let told = solution.impulse.iter().zip(&solution.velocity);
        for ((slot, factor), (l, u)) in self.rows.iter().zip(told) {
            impulse[*slot] = l * factor;
            after[*slot] = u / factor;
        }
        modes.clear();
        modes.extend_from_slice(&solution.modes);
        let n = self.rows.len() as u64;
        *work += SOLVE_WORK + solution.work * n * n;
        Report {
            residual: solution.residual,
            family: match solution.rank {
                Rank::Family(family) => family,
                _ => 0,
            },
            selection: match solution.member {
                Member::Even => ConeSelection::Even,
                _ => ConeSelection::First,
            },
            is_unique: (solution.rank != Rank::Unknown).then(|| solution.rank == Rank::Unique),
            newton_steps: solution.steps as usize,
        }
    }

    /// Returns the residual of the impulses `impulse` on the slots, relative to one scale for all contacts. `velocity`:
    /// velocities of the slots before them.
    pub(super) fn residual(&self, velocity: &[f64], impulse: &[f64]) -> Result<f64, ImpactError> {
        let mut workspace = ConesWorkspace::default();
        self.pose(velocity, Bounds::default(), impulse, &mut workspace);
        let problem = ContactProblem::new(
            Operator::Dense(&self.delassus),
            &workspace.blocks,
            &workspace.velocity,
        )?;
        let on_rows: Vec<f64> = self
            .rows
            .iter()
            .map(|(slot, factor)| impulse[*slot] / factor)
            .collect();
        Ok(contact_problem::residual(
            &problem,
            &on_rows,
            &mut Workspace::default(),
        )?)
    }
}

/// Returns the choice that the option of a law asks for.
pub(super) fn member(selection: ConeSelection) -> Member {
    match selection {
        ConeSelection::First => Member::First,
        _ => Member::Even,
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
    let cones = Cones::new(space);
    let cone_residual = cones.residual(velocity, impulse)?;
    let mut workspace = ConesWorkspace::default();
    let none = Bounds::default();
    let near = cones.solve(velocity, none, impulse, Member::Any, &mut workspace);
    let cone_error = near.ok().map(|_| {
        let difference: Vec<f64> = workspace
            .impulse
            .iter()
            .zip(impulse)
            .map(|(l, k)| l - k)
            .collect();
        kernel::norm(&space.change(&difference)) / problem.given_norm()
    });
    Ok(PolygonDiagnostics::new(
        FrictionCone::Polygon(directions),
        cone_residual,
        cone_error,
    ))
}
