//! All orders of impact at once.

use super::chain::{reflect, refuse_jam};
use super::minimal::is_minimal_in_contact_space;
use super::{DEFAULT_MAX_IMPACTS, Elastic, Propagative, SEQUENCE_LIMIT};
use crate::jump::Jump;
use crate::{ImpactError, ImpactProblem};
use std::collections::HashMap;

/// States of one level closer than this, over the momentum's norm, are the same.
const MERGE_TOLERANCE: f64 = 1e-9;

/// Outcomes closer than this, over the momentum's norm, are the same.
const OUTCOME_TOLERANCE: f64 = 1e-7;

/// Levels larger than this are searched by hashing.
const HASHED_LEVEL: usize = 16;

/// Which sequences of impacts count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SequenceFilter {
    /// Every order in which each impact acts on an approaching contact: how the papers' examples
    /// use the model.
    #[default]
    Approaching,
    /// Of these, the sequences that are minimal in the sense of Seghete & Murphey, Definition 1:
    /// no proper subsequence, applied blindly, yields a feasible momentum. Of two orders with
    /// different lengths this drops the longer.
    Minimal,
}

/// What the search found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) leaves: Vec<Elastic>,
    pub(super) nodes: usize,
    pub(super) exhausted: bool,
}

impl Found {
    /// Adds an outcome, merging it with an equal one.
    pub(super) fn push(&mut self, leaf: Elastic, problem: &ImpactProblem<'_>) {
        let same = |other: &&mut Elastic| {
            other.jump.distance(&leaf.jump) <= OUTCOME_TOLERANCE * problem.norm()
        };
        match self.leaves.iter_mut().find(same) {
            None => self.leaves.push(leaf),
            Some(other) => {
                other.n_sequences = other.n_sequences.saturating_add(leaf.n_sequences);
                if let Err(place) = other.lengths.binary_search(&leaf.impacts) {
                    other.lengths.insert(place, leaf.impacts);
                }
                if leaf.impacts < other.impacts {
                    other.impacts = leaf.impacts;
                    other.sequence = leaf.sequence;
                    other.jump = leaf.jump;
                }
            }
        }
    }

    /// For two contacts the minimal sequences are the shortest ones.
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

/// A state of the search; its vectors stand in the level's arrays.
#[derive(Clone, Copy)]
struct Node {
    /// Sequences that lead here.
    paths: u64,
    /// Place in the history, to read one of them off.
    history: usize,
}

/// One level of the tree: all states after the same number of impacts.
#[derive(Default)]
struct Level {
    nodes: Vec<Node>,
    /// Contact velocities, then impulses, of each node.
    state: Vec<f64>,
    hash: HashMap<i64, Vec<usize>>,
}

impl Level {
    fn clear(&mut self) {
        self.nodes.clear();
        self.state.clear();
        self.hash.clear();
    }

    /// The node with these contact velocities, if there is one.
    ///
    /// Hashes a generic linear functional of the velocities: equal states differ by less than a
    /// cell in it, so that the neighbors of a cell are enough.
    fn find(&mut self, m: usize, b: &[f64], tolerance: f64) -> Option<usize> {
        let same = |k: &usize| {
            let other = &self.state[2 * m * k..2 * m * k + m];
            other.iter().zip(b).all(|(x, y)| (x - y).abs() <= tolerance)
        };
        if self.nodes.len() <= HASHED_LEVEL {
            return (0..self.nodes.len()).find(same);
        }
        let cell = cell(b, tolerance);
        let near = (cell - 1..=cell + 1).filter_map(|c| self.hash.get(&c));
        near.flatten().copied().filter(|k| same(k)).min()
    }

    fn push(&mut self, m: usize, node: Node, state: &[f64], tolerance: f64) {
        let place = self.nodes.len();
        self.nodes.push(node);
        self.state.extend_from_slice(state);
        if place < HASHED_LEVEL {
            return;
        }
        let first = if place == HASHED_LEVEL { 0 } else { place };
        for k in first..=place {
            let cell = cell(&self.state[2 * m * k..2 * m * k + m], tolerance);
            self.hash.entry(cell).or_default().push(k);
        }
    }
}

fn cell(b: &[f64], tolerance: f64) -> i64 {
    // Irrational weights in (0.5, 1.5), so that no symmetry of a problem makes states collide.
    let weight = |i: usize| 0.5 + (i as f64 * 0.618_033_988_749_895 + 0.25).fract();
    let value: f64 = b.iter().enumerate().map(|(i, x)| weight(i) * x).sum();
    (value / (1.5 * tolerance * b.len() as f64)).floor() as i64
}

/// Follows every order of impact, level by level.
pub(super) fn grow(problem: &ImpactProblem<'_>, law: &Propagative) -> Result<Found, ImpactError> {
    refuse_jam(problem, problem.unit_velocity())?;
    if law.filter == SequenceFilter::Minimal {
        return grow_minimal(problem, law);
    }
    let gram = problem.contacts().gram();
    let m = gram.nrows();
    let merge = MERGE_TOLERANCE * problem.norm();
    let limit = law.max_impacts.unwrap_or(DEFAULT_MAX_IMPACTS);
    let mut found = Found::default();
    let mut history: Vec<(usize, usize)> = vec![(0, usize::MAX)];
    let (mut level, mut next) = (Level::default(), Level::default());
    let mut state = vec![0.0; 2 * m];
    state[..m].copy_from_slice(problem.unit_velocity());
    level.push(
        m,
        Node {
            paths: 1,
            history: 0,
        },
        &state,
        merge,
    );
    let mut impacts = 0;
    while !level.nodes.is_empty() {
        next.clear();
        for (k, &node) in level.nodes.iter().enumerate() {
            let parent = &level.state[2 * m * k..2 * m * (k + 1)];
            let mut feasible = true;
            for i in 0..m {
                if parent[i] >= -problem.tolerance() {
                    continue;
                }
                feasible = false;
                if impacts == limit {
                    refuse_jam(problem, &parent[..m])?;
                    return Err(ImpactError::LimitExceeded { impacts });
                }
                state.copy_from_slice(parent);
                let (b, impulse) = state.split_at_mut(m);
                impulse[i] += reflect(gram, b, i);
                match next.find(m, &state[..m], merge) {
                    Some(k) => {
                        let paths = &mut next.nodes[k].paths;
                        *paths = paths.saturating_add(node.paths);
                    }
                    None => {
                        found.nodes += 1;
                        history.push((node.history, i));
                        let child = Node {
                            paths: node.paths,
                            history: history.len() - 1,
                        };
                        next.push(m, child, &state, merge);
                    }
                }
                if found.nodes > law.max_nodes {
                    return Ok(found);
                }
            }
            if feasible {
                let leaf = leaf(problem, parent[m..].to_vec(), impacts, node.paths);
                let sequence = (impacts <= SEQUENCE_LIMIT).then(|| read(&history, node.history));
                found.push(Elastic { sequence, ..leaf }, problem);
            }
        }
        std::mem::swap(&mut level, &mut next);
        impacts += 1;
    }
    found.exhausted = true;
    Ok(found)
}

fn leaf(problem: &ImpactProblem<'_>, impulse: Vec<f64>, impacts: u64, paths: u64) -> Elastic {
    Elastic {
        jump: Jump::from_impulse(problem, impulse).conserve_energy(problem),
        sequence: None,
        impacts,
        n_sequences: paths,
        lengths: vec![impacts],
    }
}

fn read(history: &[(usize, usize)], mut at: usize) -> Vec<usize> {
    let mut sequence = Vec::new();
    while at != 0 {
        let (parent, contact) = history[at];
        sequence.push(contact);
        at = parent;
    }
    sequence.reverse();
    sequence
}

/// Minimality belongs to a sequence, not to a state, so nothing can be merged on the way.
fn grow_minimal(problem: &ImpactProblem<'_>, law: &Propagative) -> Result<Found, ImpactError> {
    let gram = problem.contacts().gram();
    let m = gram.nrows();
    let tolerance = problem.tolerance();
    let mut found = Found::default();
    let mut stack = vec![(problem.unit_velocity().to_vec(), vec![0.0; m], Vec::new())];
    while let Some((b, impulse, sequence)) = stack.pop() {
        let approaching: Vec<usize> = (0..m).filter(|&i| b[i] < -tolerance).collect();
        if approaching.is_empty() {
            let minimal = if m == 2 {
                true
            } else {
                is_minimal_in_contact_space(gram, problem.unit_velocity(), &sequence, tolerance)?
            };
            if minimal {
                let leaf = leaf(problem, impulse, sequence.len() as u64, 1);
                found.push(
                    Elastic {
                        sequence: Some(sequence),
                        ..leaf
                    },
                    problem,
                );
            }
            continue;
        }
        let cap = law.max_impacts.unwrap_or(DEFAULT_MAX_IMPACTS);
        if sequence.len() as u64 >= cap {
            return Err(ImpactError::LimitExceeded { impacts: cap });
        }
        for i in approaching.into_iter().rev() {
            found.nodes += 1;
            if found.nodes > law.max_nodes {
                return Ok(found);
            }
            let (mut b, mut impulse, mut sequence) = (b.clone(), impulse.clone(), sequence.clone());
            impulse[i] += reflect(gram, &mut b, i);
            sequence.push(i);
            stack.push((b, impulse, sequence));
        }
    }
    if m == 2 {
        found.keep_shortest();
    }
    found
        .leaves
        .sort_by(|a, b| (a.impacts, &a.sequence).cmp(&(b.impacts, &b.sequence)));
    found.exhausted = true;
    Ok(found)
}
