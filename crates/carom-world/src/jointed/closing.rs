//! Contacts of a step without a search for events: impulses of both kicks.
//!
//! The first kick corrects its impulses a few times together with those of the joints, and keeps them from then on: what is left of
//! a gap at the end is of second order, and there is nothing that need settle.

use super::contact::{Place, Posed};
use super::near::Near;
use super::pressing::PairStep;
use super::single::BLOCKED;
use super::world::JointedWorld;
use crate::force::PointForce;
use crate::step::{CLOSED, SETTLED};
use crate::stepping::{GAIN, PROJECTED, SCALE_STEPS, SOFTER, USABLE};
use carom_joints::step::Step;
use carom_joints::step::contacts::{Change, ContactRow, Contacts, FirstKick};
use carom_lcp::contact_problem::{
    Block, ContactMode, ContactProblem, Kind, Member, Operator, Refusal, Workspace, solve,
};
use carom_variational::State;
use nalgebra::{Vector3, Vector6};
use std::collections::BTreeMap;

/// Number of corrections of the impulses of a first kick.
const CORRECTIONS: usize = 8;

/// Results of a step by pair.
pub(super) type Results = BTreeMap<usize, PairStep>;

/// Impulses on the rows of contacts, and the modes in which they leave them.
#[derive(Debug, Default)]
struct Kicked {
    impulses: Vec<f64>,
    modes: Vec<ContactMode>,
}

/// Contacts of one step.
#[derive(Debug)]
pub(super) struct Closing<'w> {
    world: &'w JointedWorld,
    pub(super) near: Vec<Near>,
    /// Coordinates at the start.
    q: Vec<f64>,
    /// The contacts at the end.
    end: Vec<Near>,
    corrected: usize,
    /// Indices of the contacts that the second kick stops, and what it does.
    closed: Vec<usize>,
    second: Kicked,
}

impl<'w> Closing<'w> {
    /// Creates the contacts of a step that begins where the coordinates are `q`.
    pub(super) fn new(world: &'w JointedWorld, near: Vec<Near>, q: Vec<f64>) -> Self {
        Self {
            world,
            near,
            q,
            end: Vec::new(),
            corrected: 0,
            closed: Vec::new(),
            second: Kicked::default(),
        }
    }

    fn move_to(&mut self, states: &[State]) {
        let mut q = self.q.clone();
        self.world.multibody().measure(states, &self.q, &mut q);
        let mut rows = Vec::new();
        self.world.multibody().rows(states, &q, &mut rows);
        let moved = |it: &Near| it.moved(self.world, states, (&q, &rows));
        self.end = self.near.iter().map(moved).collect();
    }

    /// Returns the results of the step by pair, and adds the impulses of limits to the loads of their joints.
    pub(super) fn results(&self, step: &mut Step, length: f64) -> Results {
        let [first, second] = std::mem::take(&mut step.touching);
        let (starts, ends) = (starts(&self.near), self.ends());
        let mut results = Results::new();
        for (c, near) in self.near.iter().enumerate() {
            let closed = self.closed.iter().position(|place| *place == c);
            let after = closed.map(|k| (k, ends[k]));
            let end = &self.end[c];
            let sum = |frame: &[Vector3<f64>], from: &[f64]| -> Vector3<f64> {
                frame.iter().zip(from).map(|(d, l)| d * *l).sum()
            };
            let own = &first[starts[c]..starts[c] + near.rows().len()];
            let own_after = after.map_or(&[][..], |(_, at)| &second[at..at + near.rows().len()]);
            match end.posed.place {
                Place::Limit(limit) => {
                    let mb = self.world.multibody();
                    let joint = mb.joint_of_row(self.world.row_of(limit.coordinate));
                    let forces = [(near, own), (end, own_after)];
                    for (near, own) in forces {
                        let along = near.rows().iter().zip(own);
                        let total: Vector3<f64> = along.map(|(row, l)| row.row.force * *l).sum();
                        step.loads[joint].total += total;
                    }
                }
                Place::Point { pair, point, .. } => {
                    let impulse = sum(&near.posed.frame, own) + sum(&end.posed.frame, own_after);
                    let pressed = own[0] + own_after.first().copied().unwrap_or_default();
                    let result = results.entry(pair).or_insert_with(|| PairStep {
                        open: true,
                        ..PairStep::default()
                    });
                    result.impulse += impulse;
                    result.pressed += pressed;
                    if pressed > 0.0 {
                        let mode = after.map(|(k, _)| self.second.modes[k]);
                        result.open = false;
                        result.slides |= mode != Some(ContactMode::Stick);
                        let force = PointForce::new(pair, point, impulse / length);
                        result.forces.push(force);
                    }
                }
            }
        }
        results
    }

    /// Returns the place of the first row of each closed contact.
    fn ends(&self) -> Vec<usize> {
        starts(self.closed.iter().map(|c| &self.near[*c]))
    }
}

impl Contacts for Closing<'_> {
    fn start(&mut self, _: &[State], rows: &mut Vec<ContactRow>) {
        self.corrected = 0;
        rows.extend(
            self.near
                .iter()
                .flat_map(|near| near.rows().iter().copied()),
        );
    }

    fn guess(&mut self, _: f64, impulses: &mut [f64]) {
        impulses.fill(0.0);
    }

    fn moved(&mut self, states: &[State], rows: &mut Vec<ContactRow>) {
        self.move_to(states);
        rows.extend(self.end.iter().flat_map(|near| near.rows().iter().copied()));
    }

    fn first(&mut self, kick: &FirstKick<'_>, next: &mut [f64]) -> Option<Change> {
        let kept = Change {
            size: 0.0,
            settled: true,
            tolerable: true,
        };
        if self.corrected >= CORRECTIONS {
            return Some(kept);
        }
        self.corrected += 1;
        // Mean velocities over the flight without contact impulses: the gap may close, and a share of an overlap is removed.
        let mut velocity = after(kick.mobility, kick.shift, kick.impulses, -1.0);
        for (mean, (begin, end)) in velocity.iter_mut().zip(kick.begin.iter().zip(kick.end)) {
            *mean += 0.5 * (begin + end);
        }
        for ((near, end), row) in self.near.iter().zip(&self.end).zip(starts(&self.near)) {
            let mean = 0.5 * (kick.begin[row] + kick.end[row]);
            let allowed = near.gap.min(0.0) * (1.0 - PROJECTED);
            velocity[row] += (end.gap - allowed) / kick.length - mean;
        }
        let posed: Vec<&Posed> = self.near.iter().map(|near| &near.posed).collect();
        let blocks = started(&posed, kick.impulses);
        let found = solved(self.world, &posed, &blocks, kick.mobility, &velocity)?;
        next.copy_from_slice(&found.impulses);
        let change: Vec<f64> = next.iter().zip(kick.impulses).map(|(a, b)| a - b).collect();
        let none = vec![0.0; change.len()];
        let largest = |list: &[f64]| list.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let size = largest(&after(kick.mobility, &none, &change, 1.0));
        Some(Change {
            size,
            settled: size <= SETTLED * (largest(kick.before) + largest(&velocity)),
            tolerable: true,
        })
    }

    fn closed(&mut self, states: &[State], first: &[f64], rows: &mut Vec<ContactRow>) {
        self.move_to(states);
        let starts = starts(&self.near);
        let is_closed = |c: &usize| {
            let end = &self.end[*c];
            first[starts[*c]] > 0.0 || end.gap <= CLOSED * end.tolerance
        };
        self.closed = (0..self.end.len()).filter(is_closed).collect();
        self.second = Kicked::default();
        let closed = self.closed.iter().map(|c| &self.end[*c]);
        rows.extend(closed.flat_map(|near| near.rows().iter().copied()));
    }

    fn second(&mut self, mobility: &[f64], velocities: &[f64], impulses: &mut [f64]) -> bool {
        let posed: Vec<&Posed> = self.closed.iter().map(|c| &self.end[*c].posed).collect();
        let blocks = started(&posed, &self.second.impulses);
        match solved(self.world, &posed, &blocks, mobility, velocities) {
            Some(found) => {
                impulses.copy_from_slice(&found.impulses);
                self.second = found;
                true
            }
            None => false,
        }
    }
}

/// Returns the impulses of an impact by the law of Poisson: compression, then at least the share `restitution` of the normal impulse
/// of each contact, all scaled by the largest factor that gains no energy. `None` without an answer.
pub(super) fn rebounding(
    world: &JointedWorld,
    posed: &[&Posed],
    restitution: &[f64],
    mobility: &[f64],
) -> Option<Vec<f64>> {
    let rows = |posed: &&Posed| posed.before.into_iter().take(posed.n_rows());
    let before: Vec<f64> = posed.iter().flat_map(rows).collect();
    let mut blocks = blocks(posed);
    let compression = solved(world, posed, &blocks, mobility, &before)?.impulses;
    let middle = after(mobility, &before, &compression, 1.0);
    let mut total = compression.clone();
    let (mut gainless, mut gains, mut scale) = (0.0, 1.0, 1.0);
    for _ in 0..SCALE_STEPS {
        let mut row = 0;
        for (block, e) in blocks.iter_mut().zip(restitution) {
            block.floor = scale * e * compression[row].max(0.0);
            block.preload = [block.floor, 0.0, 0.0];
            row += block.kind.width();
        }
        let expansion = solved(world, posed, &blocks, mobility, &middle)?.impulses;
        let sum = compression.iter().zip(&expansion).map(|(a, b)| a + b);
        let sum: Vec<f64> = sum.collect();
        let end = after(mobility, &before, &sum, 1.0);
        let terms = sum.iter().zip(before.iter().zip(&end));
        let (work, size) = terms.fold((0.0, 0.0), |(work, size), (l, (a, b))| {
            let (a, b) = (0.5 * l * a, 0.5 * l * b);
            (work + a + b, size + a.abs() + b.abs())
        });
        if work <= GAIN * size {
            (gainless, total) = (scale, sum);
        } else {
            gains = scale;
        }
        if gains - gainless <= USABLE {
            break;
        }
        scale = 0.5 * (gainless + gains);
    }
    Some(total)
}

/// Returns the laws of contacts without restitution; the search for their impulses starts from those that are given.
fn started(posed: &[&Posed], impulses: &[f64]) -> Vec<Block> {
    let mut blocks = blocks(posed);
    let mut row = 0;
    for block in &mut blocks {
        let width = block.kind.width();
        let own = impulses.get(row..row + width).unwrap_or_default();
        block.preload[..own.len()].copy_from_slice(own);
        row += width;
    }
    blocks
}

/// Returns the laws of contacts without restitution.
fn blocks(posed: &[&Posed]) -> Vec<Block> {
    let block = |posed: &&Posed| match posed.n_rows() {
        1 => Block::new(Kind::Normal, 0.0),
        _ => Block::new(Kind::Round, posed.friction),
    };
    posed.iter().map(block).collect()
}

/// Returns the place of the first row of each contact.
fn starts<'n>(near: impl IntoIterator<Item = &'n Near>) -> Vec<usize> {
    let widths = near.into_iter().map(|near| near.rows().len());
    widths
        .scan(0, |next, width| {
            *next += width;
            Some(*next - width)
        })
        .collect()
}

/// Returns the velocities of all rows after impulses times `sign`.
fn after(mobility: &[f64], before: &[f64], impulses: &[f64], sign: f64) -> Vec<f64> {
    let rows = before.iter().zip(mobility.chunks(before.len().max(1)));
    let moved = |row: &[f64]| row.iter().zip(impulses).map(|(w, l)| w * l).sum::<f64>();
    rows.map(|(before, row)| before + sign * moved(row))
        .collect()
}

/// Solves a contact problem for the contacts that the joints do not block; the others get no impulse. `None` without an answer.
fn solved(
    world: &JointedWorld,
    posed: &[&Posed],
    blocks: &[Block],
    mobility: &[f64],
    velocity: &[f64],
) -> Option<Kicked> {
    let n = velocity.len();
    let (mut rows, mut members, mut next) = (Vec::with_capacity(n), Vec::new(), 0);
    for (c, (posed, block)) in posed.iter().zip(blocks).enumerate() {
        let own = next..next + block.kind.width();
        next = own.end;
        if mobility[own.start * (n + 1)] > BLOCKED * free_mobility(world, posed) {
            members.push(c);
            rows.extend(own);
        }
    }
    let mut out = Kicked {
        impulses: vec![0.0; n],
        modes: vec![ContactMode::Open; posed.len()],
    };
    if rows.is_empty() {
        return Some(out);
    }
    let entries = rows
        .iter()
        .flat_map(|i| rows.iter().map(move |j| mobility[i * n + j]));
    let entries: Vec<f64> = entries.collect();
    let velocity: Vec<f64> = rows.iter().map(|row| velocity[*row]).collect();
    let blocks: Vec<Block> = members.iter().map(|c| blocks[*c]).collect();
    let found = answer(blocks, &entries, &velocity, world.stepping().tolerance())?;
    for (row, impulse) in rows.iter().zip(found.impulses) {
        out.impulses[*row] = impulse;
    }
    for (c, mode) in members.iter().zip(found.modes) {
        out.modes[*c] = mode;
    }
    Some(out)
}

/// Returns the mobility of the normal of a contact if no joint held its bodies.
fn free_mobility(world: &JointedWorld, posed: &Posed) -> f64 {
    let mb = world.multibody();
    let Some(ContactRow { row, ends }) = posed.rows.first() else {
        return 0.0;
    };
    let sides = ends.iter().zip([&row.parent, &row.child]);
    let of_side = |(body, row): (&Option<usize>, &Vector6<f64>)| {
        let rigid = mb.rigid((*body)?)?;
        let (along, turn) = (row.fixed_rows::<3>(0), row.fixed_rows::<3>(3).into_owned());
        Some(along.norm_squared() / rigid.mass() + turn.dot(&rigid.angular_velocity(&turn)))
    };
    sides.filter_map(of_side).sum()
}

/// Solves a contact problem. Contacts yield by a millionth of what their impulses move, and more where no answer is within `tolerance`;
/// a second search from the impulses that were found takes that back.
fn answer(
    mut blocks: Vec<Block>,
    mobility: &[f64],
    velocity: &[f64],
    tolerance: f64,
) -> Option<Kicked> {
    let n = velocity.len();
    let mut yields = USABLE;
    let mut workspace = Workspace::default();
    for softer in SOFTER {
        let mut row = 0;
        for block in &mut blocks {
            block.compliance = yields * mobility[row * (n + 1)];
            row += block.kind.width();
        }
        yields *= softer;
        let mut found = Kicked::default();
        for _ in 0..2 {
            let operator = Operator::Dense(mobility);
            let problem = ContactProblem::new(operator, &blocks, velocity).ok()?;
            let solved = match solve(&problem, Member::Any, &mut workspace) {
                Ok(solution) => solution.clone(),
                Err(Refusal::NotConverged { best, .. }) => *best,
                Err(_) => break,
            };
            if !(solved.residual <= tolerance) {
                break;
            }
            let mut row = 0;
            for block in &mut blocks {
                let width = block.kind.width();
                block.preload[..width].copy_from_slice(&solved.impulse[row..row + width]);
                row += width;
            }
            (found.impulses, found.modes) = (solved.impulse, solved.modes);
        }
        if !found.modes.is_empty() {
            return Some(found);
        }
    }
    None
}
