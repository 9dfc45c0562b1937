//! Constant forces, and forces that callers hold: flights keep the energy with their potentials.

use crate::body::Flights;
use crate::events::Balance;
use crate::spec::World;
use carom_variational::State;
use nalgebra::Vector3;

impl World {
    /// Returns the energy of all bodies at the start (J), without potentials of forces that callers hold.
    pub(crate) fn energy_at_start(&self) -> f64 {
        let all = self.initial.iter().enumerate();
        let bodies: f64 = all.map(|(body, state)| self.energy(body, state)).sum();
        bodies + self.spring_energy(&self.initial)
    }

    /// Returns the energy of a body with the potential of the force that a caller holds (J), which free flight keeps.
    pub(crate) fn held_energy(&self, body: usize, state: &State) -> f64 {
        let held = { self.bodies.get(body) }.map_or(0.0, |body| Flights::held_work(body, state));
        self.energy(body, state) - held
    }

    /// Returns the work of the force that a caller holds between two states of a body (J).
    pub(crate) fn held_shift(&self, body: usize, [from, to]: [&State; 2]) -> f64 {
        let held =
            |state: &State| { self.bodies.get(body) }.map_or(0.0, |b| Flights::held_work(b, state));
        held(to) - held(from)
    }

    /// Sets the force that a caller holds on a mobile body (N).
    pub(crate) fn hold_force(&mut self, body: usize, force: &Vector3<f64>) {
        if let Some(about) = self.bodies.get_mut(body) {
            about.hold(force);
        }
    }

    /// Adds to `balance` the books of the forces that callers hold: `sign` times their work from the origin to the places of the
    /// bodies, and their impulses up to `time` (s). A force that begins is taken with −1, one that ends with 1.
    pub(crate) fn book_held<'s>(
        &self,
        bodies: impl Iterator<Item = (usize, &'s State)>,
        [time, sign]: [f64; 2],
        balance: &mut Balance,
    ) {
        for (body, state) in bodies {
            let about = &self.bodies[body];
            if let (Some(rigid), true) = (&about.rigid, about.push != Vector3::zeros()) {
                balance.applied_work += sign * Flights::held_work(about, state);
                balance.input_impulse += about.push * (sign * rigid.mass() * time);
            }
        }
    }
}
