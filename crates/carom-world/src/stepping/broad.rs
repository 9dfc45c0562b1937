//! Broad phase: pairs of bodies whose bounding boxes, enlarged by the travel of a step, overlap.

use super::contact::NearPair;
use crate::pair::PairMemory;
use crate::pair_table::Pair;
use crate::spec::World;
use carom_geometry::cells::{Bounds, Cells};
use carom_variational::State;

/// Bounding boxes of all bodies, each enlarged by the distance that the body may travel within a step.
#[derive(Clone, Debug)]
pub(super) struct Broad {
    cells: Cells,
    bounds: Vec<Bounds>,
    /// Distance by which the box of each body is enlarged (m).
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

    /// Replaces the bounding box of a mobile body by one that is enlarged by the distance `way` (m) that the body may travel
    /// within a step.
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

    /// Returns the pairs that may touch within a step, in ascending order: each of `bodies` with all bodies whose enlarged boxes
    /// overlap its own, and with all planes that it can reach.
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

/// Creates the record of a near pair whose gap has not been computed yet. The gap is infinite, and there are no contact points.
pub(super) fn unseen(pair: Pair) -> NearPair {
    NearPair {
        pair,
        memory: PairMemory::new(),
        kept: Vec::new(),
        gap: f64::INFINITY,
        contacts: Vec::new(),
    }
}
