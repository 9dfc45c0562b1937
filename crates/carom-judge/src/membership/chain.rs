//! Chains of steps with fixed contact modes, found by linear programs.

use super::linear_program::{Program, Rule, Vertex};
use super::modes::{ModeSequence, StepMode};
use super::witness::WitnessCone;
use crate::parts::seen;
use crate::tolerances::EQUAL;
use carom_contact::{FrictionCone, ImpactError, ImpactProblem};
use carom_impact::internal::{ContactSpace, directions};
use carom_metric::kernel;
use nalgebra::DMatrix;
use std::f64::consts::TAU;

/// Number of directions of the polygon inscribed in a round cone; it is used to search for sticking contacts.
const INSCRIBED: usize = 16;

/// Edges of all friction cones in contact space, from which the impulses of a chain are combined.
///
/// Impulses and velocities are given in slots: one slot per contact row, with unit normals and with tangents divided by
/// the length of the longer tangent of the contact. Velocities are scaled like those of the problem.
#[derive(Clone, Debug)]
pub(super) struct Edges {
    pub(super) space: ContactSpace,
    /// Friction cone that the impulses of a chain must respect.
    pub(super) cone: WitnessCone,
    /// Number of directions of the polygon; 0 without friction.
    n_directions: usize,
    /// Unit directions of the polygon in the tangent plane; the second entry is zero in the plane.
    directions: Vec<[f64; 2]>,
    /// Rays of each contact: one without friction, otherwise one per direction of the polygon.
    rays: Vec<Vec<Ray>>,
    /// Changes of the slot velocities by unit rays, slots × rays.
    effects: DMatrix<f64>,
    /// Slot velocities before the impact.
    pub(super) before: Vec<f64>,
    /// Slot velocities of the judged outcome.
    pub(super) target: Vec<f64>,
    /// Norm of the motion before the impact that contacts can change; if there is no such motion, the norm of that after
    /// the impact. It does not depend on coordinates, on the frame or on bodies without contact.
    pub(super) norm: f64,
}

/// Impulse along an edge of a friction cone, of unit kinetic length.
#[derive(Clone, Copy, Debug)]
struct Ray {
    /// Column of the ray in the matrix of effects.
    column: usize,
    normal: f64,
    tangential: [f64; 2],
}

/// Chain of steps found by a linear program or by Newton's method: scaled impulses on the slots of each step.
pub(super) type Chain = Vec<Vec<f64>>;

/// Returns the norm of the part of the momentum before the impact that contacts and constraints can change. If this part
/// is zero, returns the norm of that part of the momentum `after` the impact (whitened, n entries).
fn seen_norm(problem: &ImpactProblem, after: &[f64]) -> f64 {
    let norms =
        [problem.momentum(), after].map(|momentum| seen(problem.contacts(), momentum).norm());
    norms.into_iter().find(|norm| *norm > 0.0).unwrap_or(0.0)
}

impl Edges {
    /// Prepares the friction cones and contact velocities of a problem for the search for chains of impulse steps.
    /// `after` is the judged velocity in whitened coordinates, multiplied by the scale of the problem.
    pub(super) fn new(
        problem: &ImpactProblem,
        friction_cone: FrictionCone,
        after: &[f64],
    ) -> Result<Self, ImpactError> {
        let space = ContactSpace::new(problem.contacts());
        let cone = match (friction_cone, space.n_tangents) {
            (FrictionCone::Round, 2..) => WitnessCone::Round,
            (cone, _) => WitnessCone::Polygon(directions(space.n_tangents, cone.directions())?),
        };
        let k = match cone {
            WitnessCone::Polygon(k) => k,
            WitnessCone::Round => INSCRIBED,
        };
        let list = (0..k).map(|j| match space.n_tangents {
            1 => [if j == 0 { 1.0 } else { -1.0 }, 0.0],
            _ => {
                let angle = TAU * j as f64 / k as f64;
                [libm::cos(angle), libm::sin(angle)]
            }
        });
        let mut edges = Self {
            cone,
            n_directions: k,
            directions: list.collect(),
            rays: Vec::with_capacity(space.n_contacts),
            effects: DMatrix::zeros(space.n_slots(), 0),
            before: space.velocity(problem.momentum()).as_slice().to_vec(),
            target: space.velocity(after).as_slice().to_vec(),
            norm: seen_norm(problem, after),
            space,
        };
        edges.add_rays();
        Ok(edges)
    }

    /// True if a contact is closed at the judged velocity, or sticks in a round cone, only within the tolerance: the velocity
    /// was rounded, or the contact opens or slides slowly. In polygons the linear programs find slow sliding exactly.
    /// `closed` is the tolerance of the judgement: contact velocities whose size, divided by the norm of the motion, is at
    /// most this large count as zero.
    pub(super) fn is_coarse(&self, closed: f64) -> bool {
        let (exact, loose) = (EQUAL * self.norm, closed * self.norm);
        let is_rounded = |speed: f64| speed > exact && speed <= loose;
        let is_round = self.cone == WitnessCone::Round;
        let mut normals = self.target.iter().step_by(self.space.width()).enumerate();
        normals.any(|(contact, normal)| {
            let slides = || kernel::norm(&self.sliding(contact, &self.target));
            let may_stick = is_round && self.space.friction[contact] > 0.0;
            normal.abs() <= loose && (is_rounded(normal.abs()) || may_stick && is_rounded(slides()))
        })
    }

    /// Returns a copy with a changed judged velocity: normal velocities whose size is at most `closed` times the norm of
    /// the motion are set to zero. `None` if all these normal velocities are zero already.
    pub(super) fn snapped(&self, closed: f64) -> Option<Self> {
        let (exact, loose) = (EQUAL * self.norm, closed * self.norm);
        let is_loose = |b: &f64| b.abs() > exact && b.abs() <= loose;
        let mut normals = self.target.iter().step_by(self.space.width());
        if !normals.any(is_loose) {
            return None;
        }
        let mut snapped = self.clone();
        let normals = snapped.target.iter_mut().step_by(self.space.width());
        for b in normals {
            if b.abs() <= loose {
                *b = 0.0;
            }
        }
        Some(snapped)
    }

    fn add_rays(&mut self) {
        let width = self.space.width();
        let mut effects: Vec<f64> = Vec::new();
        for contact in 0..self.space.n_contacts {
            let friction = self.space.friction[contact];
            let slot = contact * width;
            let n_rays = if friction > 0.0 { self.n_directions } else { 1 };
            let mut rays = Vec::with_capacity(n_rays);
            for j in 0..n_rays {
                let d = self.directions.get(j).copied().unwrap_or_default();
                let tangential = d.map(|x| friction * x);
                let impulse: Vec<f64> = (0..self.space.n_slots())
                    .map(|s| match s.checked_sub(slot) {
                        Some(0) => 1.0,
                        Some(t) if t < width && friction > 0.0 => tangential[t - 1],
                        _ => 0.0,
                    })
                    .collect();
                let length = kernel::norm(&self.space.change(&impulse));
                // A ray that changes no velocity keeps its length; it cannot explain a change.
                let unit = if length > 0.0 { 1.0 / length } else { 1.0 };
                rays.push(Ray {
                    column: effects.len() / self.space.n_slots(),
                    normal: unit,
                    tangential: tangential.map(|x| x * unit),
                });
                for row in self.space.gram.row_iter() {
                    let velocity: f64 = row.iter().zip(&impulse).map(|(g, l)| g * l).sum();
                    effects.push(velocity * unit);
                }
            }
            self.rays.push(rays);
        }
        let rows = self.space.n_slots();
        let columns = effects.len() / rows.max(1);
        self.effects = DMatrix::from_vec(rows, columns, effects);
    }

    /// Computes the velocities along all contact rows after one impulse step. `velocity` has those before the step,
    /// `impulse` the impulses; both have one entry per row, with normals of unit length.
    pub(super) fn after(&self, velocity: &[f64], impulse: &[f64]) -> Vec<f64> {
        let mut after = velocity.to_vec();
        for (column, l) in self.space.gram.column_iter().zip(impulse) {
            if *l != 0.0 {
                kernel::add_scaled(&mut after, *l, column.as_slice());
            }
        }
        after
    }

    pub(super) fn n_contacts(&self) -> usize {
        self.space.n_contacts
    }

    /// Returns the mode of a contact that pushes in an impulse step: sticking, or sliding with a direction of friction.
    /// The mode follows from `after`, the velocities along all contact rows after the step. Sliding velocities up to
    /// `zero` count as zero.
    fn pushing(&self, contact: usize, after: &[f64], zero: f64) -> StepMode {
        if self.space.friction[contact] == 0.0 {
            return StepMode::Stick;
        }
        let sliding = self.sliding(contact, after);
        if sliding.iter().all(|u| u.abs() <= zero) {
            return StepMode::Stick;
        }
        let speed = |d: &[f64; 2]| d[0] * sliding[0] + d[1] * sliding[1];
        let least = self
            .directions
            .iter()
            .map(speed)
            .fold(f64::INFINITY, f64::min);
        let is_least = |j: usize| speed(&self.directions[j % self.n_directions]) <= least + zero;
        let k = self.n_directions;
        match (0..k).find(|j| is_least(*j) && is_least(j + 1)) {
            Some(edge) if self.space.n_tangents > 1 => StepMode::Edge(edge),
            _ => (0..k)
                .find(|j| is_least(*j))
                .map_or(StepMode::Stick, StepMode::Slide),
        }
    }

    fn sliding(&self, contact: usize, velocity: &[f64]) -> [f64; 2] {
        let slot = contact * self.space.width();
        let of = |t: usize| {
            if t <= self.space.n_tangents {
                velocity.get(slot + t).copied().unwrap_or(0.0)
            } else {
                0.0
            }
        };
        [of(1), of(2)]
    }

    /// Determines the mode (off, sticking or sliding) of every contact in an impulse step, from the impulses on all
    /// contact rows and the velocities `after` the step along these rows.
    pub(super) fn modes(&self, impulse: &[f64], after: &[f64]) -> Vec<StepMode> {
        let width = self.space.width();
        let zero = EQUAL * self.norm;
        (0..self.n_contacts())
            .map(|i| match impulse.get(i * width) {
                Some(l) if *l > zero * 1e-3 => self.pushing(i, after, zero),
                _ => StepMode::Off,
            })
            .collect()
    }

    /// Returns the modes that the contacts may have in the last impulse step of any chain that leads to the judged
    /// velocity. A contact whose normal velocity in the judged velocity exceeds `closed` times the norm of the motion
    /// does not push.
    pub(super) fn last_modes(&self, closed: f64) -> Vec<StepMode> {
        let width = self.space.width();
        let zero = closed.max(EQUAL) * self.norm;
        (0..self.n_contacts())
            .map(|i| match self.target.get(i * width) {
                Some(b) if *b <= zero => self.pushing(i, &self.target, zero),
                _ => StepMode::Off,
            })
            .collect()
    }

    /// Iterates over the edges of the friction cone that a contact may use in the given mode (off, sticking or
    /// sliding). The impulse of the contact is a sum of impulses along these edges.
    fn rays_of(&self, contact: usize, mode: StepMode) -> impl Iterator<Item = &Ray> {
        let all = &self.rays[contact];
        let k = all.len();
        let chosen: Vec<usize> = match mode {
            StepMode::Off => Vec::new(),
            StepMode::Stick => (0..k).collect(),
            StepMode::Slide(j) => vec![j % k],
            StepMode::Edge(j) => vec![j % k, (j + 1) % k],
        };
        chosen.into_iter().filter_map(|j| all.get(j))
    }

    /// Finds, by a linear program, the chain of impulse steps with the contact modes of `sequence` that ends nearest to
    /// the judged velocity. `None` if there is no such chain or the program is not solved. `work` counts multiply-adds.
    ///
    /// In round cones only chains of sticking contacts are linear programs, with inscribed polygons; for other chains
    /// see [`RoundChain`](super::round_chain::RoundChain).
    pub(super) fn attempt(&self, sequence: &ModeSequence, work: &mut u64) -> Option<Chain> {
        let slides = |mode: &StepMode| matches!(mode, StepMode::Slide(_) | StepMode::Edge(_));
        if self.cone == WitnessCone::Round && sequence.steps().flatten().any(slides) {
            return None;
        }
        // Rays of all steps, and the index at which those of each step end.
        let mut rays: Vec<(usize, &Ray)> = Vec::new();
        let mut ends = Vec::with_capacity(sequence.n_steps());
        for step in sequence.steps() {
            for (contact, mode) in step.iter().enumerate() {
                rays.extend(self.rays_of(contact, *mode).map(|ray| (contact, ray)));
            }
            ends.push(rays.len());
        }
        let columns: Vec<usize> = rays.iter().map(|(_, ray)| ray.column).collect();
        let mut program = Program::new(rays.len());
        let last = ends.len().saturating_sub(1);
        for (k, step) in sequence.steps().enumerate() {
            let known = &columns[..ends[k]];
            for (contact, mode) in step.iter().enumerate() {
                if *mode != StepMode::Off {
                    self.add_rules(&mut program, known, contact, *mode, k == last);
                }
            }
        }
        self.add_end(&mut program, &columns, sequence.steps().next_back());
        let vertex = program.solve(work)?;
        Some(self.chain(&rays, &ends, &vertex))
    }

    /// Adds a condition to the linear program: a weighted sum of velocities along contact rows after a step must be zero,
    /// or must not be negative, depending on `rule`. `terms` lists the rows and their weights. `known` lists the edges of
    /// friction cones on which impulses have acted up to this step.
    fn rule(&self, program: &mut Program, rule: Rule, known: &[usize], terms: &[(usize, f64)]) {
        let before: f64 = terms.iter().map(|(slot, c)| c * self.before[*slot]).sum();
        program.push(rule, -before, |row| {
            for (x, column) in row.iter_mut().zip(known) {
                let effect = |(slot, c): &(usize, f64)| c * self.effects[(*slot, *column)];
                *x = terms.iter().map(effect).sum();
            }
        });
    }

    /// Adds the conditions of one contact that pushes in an impulse step to the linear program: the contact is not
    /// open after the step, and its friction dissipates most energy. `mode` is sticking or sliding. If `is_last` is
    /// true, the step is the last one, and the contact must be exactly closed. `known` lists the edges of friction
    /// cones on which impulses have acted up to this step.
    fn add_rules(
        &self,
        program: &mut Program,
        known: &[usize],
        contact: usize,
        mode: StepMode,
        is_last: bool,
    ) {
        let slot = contact * self.space.width();
        // After the last step no contact approaches, so that a pushing contact is closed exactly.
        let closed = if is_last { Rule::Equal } else { Rule::AtLeast };
        self.rule(program, closed, known, &[(slot, -1.0)]);
        if self.space.friction[contact] == 0.0 {
            return;
        }
        let k = self.n_directions;
        let direction = |j: usize| self.directions[j % k];
        // Difference d_b - d_a of two directions, in tangent slots, normalized to unit length.
        let between = |a: usize, b: usize| {
            let (a, b) = (direction(a), direction(b));
            let d = [b[0] - a[0], b[1] - a[1]];
            let length = libm::hypot(d[0], d[1]);
            (1..=self.space.n_tangents)
                .zip(d)
                .map(|(t, x)| (slot + t, x / length))
                .collect::<Vec<_>>()
        };
        match mode {
            StepMode::Off => {}
            StepMode::Stick => {
                for t in 1..=self.space.n_tangents {
                    self.rule(program, Rule::Equal, known, &[(slot + t, 1.0)]);
                }
            }
            StepMode::Slide(j) => {
                self.rule(program, Rule::AtLeast, known, &between(j, j + 1));
                if k > 2 {
                    self.rule(program, Rule::AtLeast, known, &between(j, j + k - 1));
                }
            }
            StepMode::Edge(j) => {
                self.rule(program, Rule::Equal, known, &between(j, j + 1));
                self.rule(program, Rule::AtLeast, known, &between(j, j + k - 1));
            }
        }
    }

    /// Adds the conditions at the end of the chain to the linear program: no contact approaches, and the velocities
    /// along all contact rows are near those of the judged velocity. `columns` lists the edges of friction cones used
    /// by all steps, `last` the contact modes of the last step.
    fn add_end(&self, program: &mut Program, columns: &[usize], last: Option<&[StepMode]>) {
        let width = self.space.width();
        for i in 0..self.n_contacts() {
            let pushes = last
                .and_then(|modes| modes.get(i))
                .is_some_and(|m| *m != StepMode::Off);
            if !pushes {
                self.rule(program, Rule::AtLeast, columns, &[(i * width, 1.0)]);
            }
        }
        for slot in 0..self.space.n_slots() {
            let wanted = self.target[slot] - self.before[slot];
            program.push(Rule::Near, wanted, |row| {
                for (x, column) in row.iter_mut().zip(columns) {
                    *x = self.effects[(slot, *column)];
                }
            });
        }
    }

    fn chain(&self, rays: &[(usize, &Ray)], ends: &[usize], vertex: &Vertex) -> Chain {
        let width = self.space.width();
        let mut steps = Vec::with_capacity(ends.len());
        let mut start = 0;
        for end in ends {
            let mut impulse = vec![0.0; self.space.n_slots()];
            for ((contact, ray), x) in rays[start..*end].iter().zip(&vertex.x[start..*end]) {
                let slot = contact * width;
                impulse[slot] += ray.normal * x;
                for (t, tangential) in (1..width).zip(ray.tangential) {
                    impulse[slot + t] += tangential * x;
                }
            }
            steps.push(impulse);
            start = *end;
        }
        steps
    }
}
