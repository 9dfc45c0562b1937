//! Pairs whose boxes meet: bodies swept over a step.

use super::contact::NearPair;
use crate::world::cells::{Bounds, Cells};
use crate::world::pair::PairMemory;
use crate::world::pair_table::Pair;
use crate::world::spec::World;
use carom_variational::State;

/// Boxes of all bodies, each larger than the body by the way that it may go.
#[derive(Clone, Debug)]
pub(super) struct Broad {
    cells: Cells,
    bounds: Vec<Bounds>,
    /// Way for which the box of each body has room (m).
    pub(super) way: Vec<f64>,
    around: Vec<usize>,
}

impl Broad {
    pub(super) fn new(world: &World) -> Self {
        let n = world.n_bodies();
        let initial = world.initial_states();
        let bounds: Vec<Bounds> = (world.bodies.iter().zip(initial))
            .map(|(body, state)| body.bounds(state))
            .collect();
        let mut cells = Cells::new(n);
        for (body, bounds) in bounds.iter().enumerate() {
            cells.put(body, *bounds);
        }
        Self {
            cells,
            bounds,
            way: vec![0.0; n],
            around: Vec::new(),
        }
    }

    /// Gives mobile bodies new boxes with room for a way.
    pub(super) fn put(&mut self, world: &World, body: usize, state: &State, way: f64) {
        let about = &world.bodies[body];
        let tight = match about.sphere {
            Some(radius) => Bounds::around(&state.position, &state.position, radius),
            None => about.bounds(state),
        };
        let bounds = Bounds::around(&tight.low, &tight.high, way);
        self.cells.put(body, bounds);
        (self.bounds[body], self.way[body]) = (bounds, way);
    }

    /// The pairs of some bodies with everything that their boxes meet, in ascending order.
    pub(super) fn pairs(&mut self, world: &World, bodies: &[usize], states: &[State]) -> Vec<Pair> {
        let mut out = Vec::new();
        let n = world.n_bodies();
        for &body in bodies {
            self.cells.meeting(&self.bounds[body], &mut self.around);
            out.extend(
                self.around
                    .iter()
                    .filter_map(|other| world.pair_of(body, *other)),
            );
            let reach = world.bodies[body].radius + self.way[body];
            for (index, plane) in world.planes.iter().enumerate() {
                if plane.half_space.height(&states[body].position) <= reach * (1.0 + 1e-9) {
                    out.extend(world.pair_of(body, n + index));
                }
            }
        }
        out.sort_unstable();
        out.dedup();
        out
    }
}

/// A pair that has not been looked at.
pub(super) fn unseen(pair: Pair) -> NearPair {
    NearPair {
        pair,
        memory: PairMemory::new(),
        kept: Vec::new(),
        gap: f64::INFINITY,
        contacts: Vec::new(),
    }
}
