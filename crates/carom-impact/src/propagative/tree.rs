//! Search over all orders of impacts.

use super::chain::{reflect, refuse_jam};
use super::minimal::places_are_minimal;
use super::{DEFAULT_MAX_IMPACTS, Elastic, Propagative, SEQUENCE_LIMIT};
use crate::tolerances::EQUAL;
use carom_contact::internal::{MomentumChange, ROUNDING, groups, part_in_span};
use carom_contact::{ImpactError, ImpactProblem, Numbers, UnitRow};
use carom_metric::kernel;
use std::collections::HashMap;

/// Largest difference of two coordinates at which outcomes are merged, as a fraction of the momentum in the span of the
/// normals.
const OUTCOME_TOLERANCE: f64 = 1e-7;

/// Size of a level above which states are searched by hashing.
const HASHED_LEVEL: usize = 16;

/// Condition that a sequence of single impacts must satisfy for its outcome to be an outcome of the propagative law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum SequenceFilter {
    /// Every sequence in which each impact acts on an approaching contact, as in the examples of the
    /// papers.
    #[default]
    Approaching,
    /// The terminating sequences that are minimal in the sense of Seghete & Murphey, Definition 1:
    /// no proper subsequence, applied to approaching contacts or not, yields a feasible momentum. Of two orders with
    /// different lengths the longer is excluded.
    Minimal,
}

/// Result of a search over orders.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) leaves: Vec<Elastic>,
    pub(super) nodes: usize,
    pub(super) exhausted: bool,
    cells: Cells,
}

/// Indices of vectors by hash cell.
#[derive(Debug, Default)]
struct Cells(HashMap<i64, Vec<usize>>);

impl Cells {
    fn add(&mut self, cell: i64, place: usize) {
        self.0.entry(cell).or_default().push(place);
    }

    /// Returns the first index in a cell or its neighbors for which `is_same` is true.
    fn find(&self, cell: i64, is_same: impl Fn(&usize) -> bool) -> Option<usize> {
        let near = (-1..=1).filter_map(|d| self.0.get(&cell.saturating_add(d)));
        near.flatten().copied().filter(is_same).min()
    }
}

impl Found {
    /// Adds the outcome `leaf` to those found, or merges it with an equal one. Returns its index in the list of
    /// outcomes. `tolerances`: differences up to which two outcomes count as equal, from [`merge_tolerances`].
    pub(super) fn push(&mut self, mut leaf: Elastic, tolerances: &[f64]) -> usize {
        if leaf.lengths.is_empty() {
            leaf.lengths.push(leaf.impacts);
        }
        let cell = cell(&leaf.momentum_change.change, tolerances);
        let same = |i: &usize| {
            is_same(
                &self.leaves[*i].momentum_change.change,
                &leaf.momentum_change.change,
                tolerances,
            )
        };
        let Some(place) = self.cells.find(cell, same) else {
            self.cells.add(cell, self.leaves.len());
            self.leaves.push(leaf);
            return self.leaves.len() - 1;
        };
        let other = &mut self.leaves[place];
        other.n_sequences = other.n_sequences.saturating_add(leaf.n_sequences);
        if let Err(place) = other.lengths.binary_search(&leaf.impacts) {
            other.lengths.insert(place, leaf.impacts);
        }
        if leaf.impacts < other.impacts {
            other.impacts = leaf.impacts;
            other.sequence = leaf.sequence;
            other.momentum_change = leaf.momentum_change;
        }
        place
    }

    /// Keeps only the outcomes with the fewest single impacts; for two contacts their sequences are the minimal ones.
    pub(super) fn keep_shortest(&mut self) {
        let shortest = self
            .leaves
            .iter()
            .map(|leaf| leaf.impacts)
            .min()
            .unwrap_or(0);
        self.leaves.retain(|leaf| leaf.impacts == shortest);
    }
}

/// Returns the largest difference in each coordinate of the whitened momentum (in coordinates with a Euclidean kinetic
/// metric) at which two outcomes count as equal. The result is [`OUTCOME_TOLERANCE`] of the momentum along the normals
/// of a group of connected contacts, plus the rounding of the whole momentum of the group.
pub(super) fn merge_tolerances(problem: &ImpactProblem) -> Vec<f64> {
    let contacts = problem.contacts();
    let momentum = problem.momentum();
    let normals = contacts.unit_rows().map(|j| contacts.unit(j));
    let (of, _) = groups(momentum.len(), normals.clone());
    let seen = part_in_span(normals, momentum);
    let norms = |vector: &[f64]| {
        let mut squares = vec![0.0; momentum.len()];
        for (group, p) in of.iter().zip(vector) {
            squares[*group] += p * p;
        }
        squares
    };
    let (seen, whole) = (norms(&seen), norms(momentum));
    let size = |group: &usize| {
        // Coordinates that no normal touches keep their momentum to the last bit.
        if seen[*group] == 0.0 {
            0.0
        } else {
            OUTCOME_TOLERANCE * seen[*group].sqrt() + ROUNDING * whole[*group].sqrt()
        }
    };
    of.iter().map(size).collect()
}

fn is_same(a: &[f64], b: &[f64], tolerances: &[f64]) -> bool {
    let mut triples = a.iter().zip(b).zip(tolerances);
    triples.all(|((a, b), tolerance)| (a - b).abs() <= *tolerance)
}

/// Computes the hash cell in which a momentum is stored, from a linear combination of its coordinates. Momenta that are
/// equal up to `tolerances` differ in this combination by less than the width of a cell, so a search needs only a cell
/// and its two neighbors.
fn cell(momentum: &[f64], tolerances: &[f64]) -> i64 {
    // Irrational weights in (0.5, 1.5) prevent collisions between states that a symmetry maps to each other.
    let weight = |i: usize| 0.5 + (i as f64 * 0.618_033_988_749_895 + 0.25).fract();
    let moving = momentum.iter().zip(tolerances).enumerate();
    let moving = moving.filter(|(_, (_, tolerance))| **tolerance > 0.0);
    let terms = moving.map(|(i, (x, tolerance))| weight(i) * (x / tolerance));
    (terms.sum::<f64>() / (1.5 * momentum.len() as f64)).floor() as i64
}

/// Layout of a state in one array: the whitened momentum (n entries), then for each distinct normal the velocity,
/// the grazing threshold, and the impulse so far.
///
/// The momentum is the primary state, for the reason given at [`follow`](super::chain::follow);
/// velocities are computed from it.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    n: usize,
    pub(super) m: usize,
}

/// View of one state.
pub(super) struct State<'a> {
    momentum: &'a [f64],
    b: &'a [f64],
    grazing: &'a [f64],
    impulse: &'a [f64],
}

impl State<'_> {
    pub(super) fn approaches(&self, i: UnitRow) -> bool {
        self.b[i.index()] < -self.grazing[i.index()]
    }
}

impl Layout {
    pub(super) fn of(problem: &ImpactProblem) -> Self {
        Self {
            n: problem.momentum().len(),
            m: problem.contacts().n_distinct(),
        }
    }

    fn size(self) -> usize {
        self.n + 3 * self.m
    }

    pub(super) fn read(self, row: &[f64]) -> State<'_> {
        let (momentum, rest) = row.split_at(self.n);
        let (b, rest) = rest.split_at(self.m);
        let (grazing, impulse) = rest.split_at(self.m);
        State {
            momentum,
            b,
            grazing,
            impulse,
        }
    }

    /// Returns the state before the impact as one list: momentum, normal velocities, thresholds of approach, impulses.
    pub(super) fn start(self, problem: &ImpactProblem) -> Vec<f64> {
        let mut row = Vec::with_capacity(self.size());
        row.extend_from_slice(problem.momentum());
        row.extend_from_slice(problem.unit_velocity());
        row.extend_from_slice(problem.grazing());
        row.resize(self.size(), 0.0);
        row
    }

    /// Applies one elastic impact at the distinct normal `i` to the state `row` (momentum, normal velocities, thresholds of
    /// approach, impulses).
    pub(super) fn reflect(self, problem: &ImpactProblem, row: &mut [f64], i: UnitRow) {
        let (momentum, rest) = row.split_at_mut(self.n);
        let (b, rest) = rest.split_at_mut(self.m);
        let (grazing, impulse) = rest.split_at_mut(self.m);
        impulse[i.index()] += reflect(problem.contacts(), momentum, b, grazing, i);
    }
}

/// Node of the search; the numbers of its state are in the array of the level.
#[derive(Clone, Copy)]
struct Node {
    /// Number of sequences that lead to this state.
    paths: u64,
    /// Index of the entry in the history from which one of these sequences can be read.
    history: usize,
}

/// One level of the search: all states after the same number of impacts.
struct Level {
    layout: Layout,
    tolerances: Vec<f64>,
    nodes: Vec<Node>,
    /// States of the nodes, one after the other.
    rows: Vec<f64>,
    cells: Cells,
}

impl Level {
    fn new(layout: Layout, tolerances: Vec<f64>) -> Self {
        Self {
            layout,
            tolerances,
            nodes: Vec::new(),
            rows: Vec::new(),
            cells: Cells::default(),
        }
    }

    fn clear(&mut self) {
        self.nodes.clear();
        self.rows.clear();
        self.cells.0.clear();
    }

    fn row(&self, k: usize) -> &[f64] {
        let size = self.layout.size();
        &self.rows[k * size..(k + 1) * size]
    }

    fn momentum(&self, k: usize) -> &[f64] {
        &self.row(k)[..self.layout.n]
    }

    /// Finds the state with this momentum, whitened (in coordinates with a Euclidean kinetic metric), among those after
    /// equally many single impacts. Returns its index, or `None` if there is no such state.
    fn find(&self, momentum: &[f64]) -> Option<usize> {
        let same = |k: &usize| is_same(self.momentum(*k), momentum, &self.tolerances);
        if self.nodes.len() <= HASHED_LEVEL {
            return (0..self.nodes.len()).find(same);
        }
        self.cells.find(cell(momentum, &self.tolerances), same)
    }

    fn push(&mut self, node: Node, row: &[f64]) {
        let place = self.nodes.len();
        self.nodes.push(node);
        self.rows.extend_from_slice(row);
        if place < HASHED_LEVEL {
            return;
        }
        let first = if place == HASHED_LEVEL { 0 } else { place };
        for k in first..=place {
            let cell = cell(self.momentum(k), &self.tolerances);
            self.cells.add(cell, k);
        }
    }
}

/// Finds the outcomes of all orders of single impacts by breadth-first search: all states after one impact, then after two,
/// and so on.
pub(super) fn grow(problem: &ImpactProblem, law: &Propagative) -> Result<Found, ImpactError> {
    refuse_jam(problem, problem.unit_velocity(), problem.grazing())?;
    let layout = Layout::of(problem);
    let tolerances = merge_tolerances(problem);
    if law.filter == SequenceFilter::Minimal {
        return grow_minimal(problem, law, layout, &tolerances);
    }
    let limit = law.max_impacts.unwrap_or(DEFAULT_MAX_IMPACTS);
    let mut found = Found::default();
    // The root has no last impact.
    let mut history: Vec<(usize, UnitRow)> = vec![(0, UnitRow::new(usize::MAX))];
    let states = tolerances.iter();
    let states = states.map(|outcome| outcome * (EQUAL / OUTCOME_TOLERANCE));
    let states: Vec<f64> = states.collect();
    let (mut level, mut next) = (
        Level::new(layout, states.clone()),
        Level::new(layout, states),
    );
    let mut child = layout.start(problem);
    let root = Node {
        paths: 1,
        history: 0,
    };
    level.push(root, &child);
    let mut impacts = 0;
    while !level.nodes.is_empty() {
        next.clear();
        for (k, &node) in level.nodes.iter().enumerate() {
            let parent = level.row(k);
            let state = layout.read(parent);
            let mut feasible = true;
            for i in UnitRow::all(layout.m) {
                if !state.approaches(i) {
                    continue;
                }
                feasible = false;
                if impacts == limit {
                    refuse_jam(problem, state.b, state.grazing)?;
                    return Err(ImpactError::too_many_impacts(impacts));
                }
                child.copy_from_slice(parent);
                layout.reflect(problem, &mut child, i);
                match next.find(layout.read(&child).momentum) {
                    Some(k) => {
                        let paths = &mut next.nodes[k].paths;
                        *paths = paths.saturating_add(node.paths);
                    }
                    None => {
                        found.nodes += 1;
                        history.push((node.history, i));
                        let node = Node {
                            paths: node.paths,
                            history: history.len() - 1,
                        };
                        next.push(node, &child);
                    }
                }
                if found.nodes > law.max_nodes {
                    return Ok(found);
                }
            }
            if feasible {
                let sequence = (impacts <= SEQUENCE_LIMIT).then(|| read(&history, node.history));
                let leaf = leaf(problem, &state, impacts, node.paths, sequence);
                found.push(leaf, &tolerances);
            }
        }
        std::mem::swap(&mut level, &mut next);
        impacts += 1;
    }
    found.exhausted = true;
    Ok(found)
}

pub(super) fn leaf(
    problem: &ImpactProblem,
    state: &State<'_>,
    impacts: u64,
    n_sequences: u64,
    sequence: Option<Vec<UnitRow>>,
) -> Elastic {
    let mut change = Numbers::from_slice(state.momentum);
    kernel::add_scaled(&mut change, -1.0, problem.momentum());
    let impulse = Numbers::from_slice(state.impulse);
    Elastic {
        momentum_change: MomentumChange::elastic(problem, impulse, change),
        sequence,
        impacts,
        n_sequences,
        lengths: Vec::new(),
    }
}

fn read(history: &[(usize, UnitRow)], mut at: usize) -> Vec<UnitRow> {
    let mut sequence = Vec::new();
    while at != 0 {
        let (parent, struck) = history[at];
        sequence.push(struck);
        at = parent;
    }
    sequence.reverse();
    sequence
}

/// Finds the outcomes of all minimal sequences of single impacts, by depth-first search. `layout`: positions of
/// momentum, velocities and impulses in a state; `tolerances`: differences up to which two outcomes count as equal.
/// Minimality is a property of a sequence, not of a state, so states are not merged.
fn grow_minimal(
    problem: &ImpactProblem,
    law: &Propagative,
    layout: Layout,
    tolerances: &[f64],
) -> Result<Found, ImpactError> {
    let mut found = Found::default();
    let limit = law.max_impacts.unwrap_or(DEFAULT_MAX_IMPACTS);
    let mut stack = vec![(layout.start(problem), Vec::new())];
    while let Some((row, sequence)) = stack.pop() {
        let state = layout.read(&row);
        let approaching = |i: &UnitRow| state.approaches(*i);
        if !UnitRow::all(layout.m).any(|i| approaching(&i)) {
            if layout.m == 2 || places_are_minimal(problem, &sequence)? {
                let impacts = sequence.len() as u64;
                let leaf = leaf(problem, &state, impacts, 1, Some(sequence));
                found.push(leaf, tolerances);
            }
            continue;
        }
        if sequence.len() as u64 >= limit {
            return Err(ImpactError::too_many_impacts(limit));
        }
        for i in UnitRow::all(layout.m).rev().filter(approaching) {
            found.nodes += 1;
            if found.nodes > law.max_nodes {
                return Ok(found);
            }
            let (mut row, mut sequence) = (row.clone(), sequence.clone());
            layout.reflect(problem, &mut row, i);
            sequence.push(i);
            stack.push((row, sequence));
        }
    }
    if layout.m == 2 {
        found.keep_shortest();
    }
    found
        .leaves
        .sort_by(|a, b| (a.impacts, &a.sequence).cmp(&(b.impacts, &b.sequence)));
    found.exhausted = true;
    Ok(found)
}
