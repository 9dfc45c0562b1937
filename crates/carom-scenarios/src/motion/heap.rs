//! Heaps in time stepping: quantities and figures shared by several scenarios.

use crate::ScenarioError;
use crate::motion::figures::{Series, against_time};
use crate::motion::scene::{Course, GRAVITY, Scene};
use carom_report::record::{Quantity, Record};
use carom_variational::State;
use carom_world::World;
use nalgebra::Vector3;

/// Fraction of the run, at its end, in which the rest of a heap is examined.
const TAIL: f64 = 0.1;

/// Run by time stepping, with its world.
pub(super) struct Heap<'c> {
    pub(super) scene: &'c Scene,
    pub(super) world: World,
    pub(super) course: &'c Course,
}

/// Checks of a settled heap.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Checks {
    /// Energy that no impulse explains, relative to the initial energy.
    energy_error: f64,
    /// Momentum that no impulse explains, relative to the weight times the duration.
    momentum_error: f64,
    /// Deepest overlap of two bodies (m).
    overlap: f64,
    /// Force on the supports in the last part of the run, relative to the weight.
    pub(super) load: f64,
}

impl Checks {
    /// Combines the checks of several heaps: the largest of each error. `load` is not combined.
    pub(super) fn worst(self, other: Self) -> Self {
        Self {
            energy_error: self.energy_error.max(other.energy_error),
            momentum_error: self.momentum_error.max(other.momentum_error),
            overlap: self.overlap.max(other.overlap),
            load: self.load,
        }
    }

    /// Returns the balances as quantities of a record.
    pub(super) fn balances(&self) -> [Quantity; 2] {
        [
            Quantity::new("energy_error_over_initial", self.energy_error, "").closed_form(
                0.0,
                "the energy changes by the mean velocity times the impulses in every step",
            ),
            Quantity::new("momentum_error_over_weight", self.momentum_error, "").closed_form(
                0.0,
                "initial momentum, gravity and the impulses of planes make the final momentum",
            ),
        ]
    }

    /// Returns the deepest overlap (m) as a quantity of a record.
    pub(super) fn deepest(&self) -> Quantity {
        Quantity::new("deepest_overlap_m", self.overlap, "m")
    }
}

/// Remark on the load of a heap.
pub(super) const LOAD_NOTE: &str = "on floor and walls, over the last tenth of the run: 1 at rest";

impl Heap<'_> {
    /// Returns the total mass of the mobile bodies in the heap (kg).
    fn mass(&self) -> f64 {
        let masses = self.scene.spec.bodies.iter();
        masses.filter_map(|b| Some(b.mass.as_ref()?.mass())).sum()
    }

    /// Returns the mechanical energy of all bodies in these states (J).
    fn energy(&self, states: &[State]) -> f64 {
        let all = states.iter().enumerate();
        all.map(|(body, state)| self.world.energy(body, state))
            .sum()
    }

    /// Returns the energy that impacts and friction took (J).
    pub(super) fn lost(&self) -> f64 {
        let frames = &self.course.frames;
        match (frames.first(), frames.last()) {
            (Some((_, first)), Some((_, last))) => self.energy(first) - self.energy(last),
            _ => 0.0,
        }
    }

    /// Returns the gravitational potential energy of all bodies in these states (J), relative to the height 0.
    fn potential(&self, states: &[State]) -> f64 {
        let all = self.scene.spec.bodies.iter().zip(states);
        all.filter_map(|(b, s)| Some(b.mass.as_ref()?.mass() * GRAVITY * s.position.z))
            .sum()
    }

    /// Returns time (s) and states of the first frame in the last part of the run, which has the fraction [`TAIL`] of the
    /// duration. `None` without frames.
    fn tail(&self) -> Option<&(f64, Vec<State>)> {
        let frames = &self.course.frames;
        let end = frames.last()?.0;
        frames.iter().find(|(time, _)| *time >= (1.0 - TAIL) * end)
    }

    /// Returns the largest displacement (m) of a body during the last part of the run, in which the heap should be at rest.
    pub(super) fn creep(&self) -> f64 {
        let (Some((_, before)), Some((_, after))) = (self.tail(), self.course.frames.last()) else {
            return 0.0;
        };
        let pairs = before.iter().zip(after);
        pairs
            .map(|(a, b)| (a.position - b.position).norm())
            .fold(0.0, f64::max)
    }

    /// Computes the checks of a settled heap: the balances of energy and momentum, the deepest overlap of two bodies, and the
    /// force on the supports in the last part of the run.
    pub(super) fn checks(&self) -> Checks {
        let frames = &self.course.frames;
        let (Some((_, first)), Some((end, last))) = (frames.first(), frames.last()) else {
            return Checks::default();
        };
        let momentum = |states: &[State]| -> Vector3<f64> {
            states.iter().map(|state| state.linear_momentum).sum()
        };
        let weight = self.mass() * GRAVITY;
        let given = self.course.supports();
        let unexplained = momentum(first) + given - Vector3::z() * (weight * end) - momentum(last);
        let error = self.course.of_end(|end| end.balance.energy_error);
        let gap = self.course.of_end(|end| end.lowest_gap);
        let load = self.tail().map_or(0.0, |(begin, before)| {
            let change = (momentum(last) - momentum(before)).z;
            1.0 + change / (weight * (end - begin))
        });
        Checks {
            energy_error: error / self.energy(first),
            momentum_error: unexplained.amax() / (weight * end),
            overlap: (-gap).max(0.0),
            load,
        }
    }

    /// Adds the figure of the heap's total, potential and kinetic energy against time to a record.
    pub(super) fn energies(&self, record: &mut Record) -> Result<(), ScenarioError> {
        let of_all = |value: &dyn Fn(&[State]) -> f64| -> Vec<f64> {
            let frames = self.course.frames.iter();
            frames.map(|(_, states)| value(states)).collect()
        };
        let total = of_all(&|states| self.energy(states));
        let potential = of_all(&|states| self.potential(states));
        let kinetic = total.iter().zip(&potential).map(|(a, b)| a - b).collect();
        against_time(
            "heap/energy",
            &self.course.times(),
            &[
                Series::new("total", total),
                Series::new("kinetic", kinetic),
                Series::new("potential", potential),
            ],
            &[],
        )
        .draw(record)
    }
}
