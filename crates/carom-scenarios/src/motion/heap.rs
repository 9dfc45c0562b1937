//! Heaps in time stepping: quantities and figures shared by several scenarios.

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

    /// Adds checks of a settled heap to a record: the balances of energy and momentum, the deepest overlap of two bodies, and
    /// the force on the supports in the last part of the run.
    pub(super) fn balances(&self, record: &mut Record) {
        let frames = &self.course.frames;
        let (Some((_, first)), Some((end, last))) = (frames.first(), frames.last()) else {
            return;
        };
        let momentum = |states: &[State]| -> Vector3<f64> {
            states.iter().map(|state| state.linear_momentum).sum()
        };
        let weight = self.mass() * GRAVITY;
        let given = self.course.supports();
        let unexplained = momentum(first) + given - Vector3::z() * (weight * end) - momentum(last);
        let initial = self.energy(first);
        let error = self.course.of_end(|end| end.balance.energy_error);
        let gap = self.course.of_end(|end| end.lowest_gap);
        record.quantities.extend([
            Quantity::new("impacts", self.course.impacts.len() as f64, ""),
            Quantity::new("energy_error_over_initial", error / initial, "").closed_form(
                0.0,
                "the energy changes by the mean velocity times the impulses in every step",
            ),
            Quantity::new(
                "momentum_error_over_weight",
                unexplained.amax() / (weight * end),
                "",
            )
            .closed_form(
                0.0,
                "initial momentum, gravity and the impulses of planes make the final momentum",
            ),
            Quantity::new("deepest_overlap_m", (-gap).max(0.0), "m"),
        ]);
        if let Some((begin, before)) = self.tail() {
            let change = (momentum(last) - momentum(before)).z;
            let load = 1.0 + change / (weight * (end - begin));
            record.quantities.push(
                Quantity::new("load_over_weight", load, "")
                    .note("on floor and walls, over the last tenth of the run: 1 at rest"),
            );
        }
    }

    /// Adds the figure of the heap's total, potential and kinetic energy against time to a record.
    pub(super) fn energies(&self, record: &mut Record) {
        let of_all = |value: &dyn Fn(&[State]) -> f64| -> Vec<f64> {
            let frames = self.course.frames.iter();
            frames.map(|(_, states)| value(states)).collect()
        };
        let total = of_all(&|states| self.energy(states));
        let potential = of_all(&|states| self.potential(states));
        let kinetic = total.iter().zip(&potential).map(|(a, b)| a - b).collect();
        record.figures.push(against_time(
            [
                "energy",
                "Energy",
                "Energies of all bodies together; the total never rises, and what is left is the height of the heap.",
            ],
            ("energy", "J"),
            &self.course.times(),
            &[
                Series::new("total", total),
                Series::new("kinetic", kinetic),
                Series::new("potential", potential),
            ],
            &[],
        ));
    }
}
