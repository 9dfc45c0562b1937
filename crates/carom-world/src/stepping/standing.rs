//! Islands that stand: velocities of rounding are taken from them, which an unstable equilibrium would let grow.

use super::island::Island;
use crate::body::Velocity;
use crate::kick::GOOD;
use crate::rest::{Loads, STANDS, stopped, take_up};
use crate::spec::World;
use carom_variational::State;
use nalgebra::Vector3;

/// Islands of a step, whose impulses are found.
pub(super) struct Standing<'s> {
    pub(super) world: &'s World,
    pub(super) islands: &'s [Island],
    /// Velocities of all bodies before the impulses.
    pub(super) before: &'s [Velocity],
    /// Normal and tangents of all contacts.
    pub(super) frames: &'s [[Vector3<f64>; 3]],
    /// True for contacts with what does not move.
    pub(super) supports: &'s [bool],
    /// Length of the step (s).
    pub(super) h: f64,
}

impl Standing<'_> {
    /// Stops the bodies of islands that stood still before the `impulses` (N s), where the velocities after them are rounding: the
    /// impulses balance the loads. `kicked`, `velocities`: states and velocities of all bodies after the impulses.
    pub(super) fn stop(
        &self,
        impulses: &mut [f64],
        kicked: &mut [State],
        velocities: &mut [Velocity],
    ) {
        let world = self.world;
        let fall = world.flights.gravity.norm() * self.h;
        for island in self.islands {
            let bodies = island.bodies.iter().map(|i| &world.bodies[*i]);
            let masses = bodies.filter_map(|body| Some(body.rigid.as_ref()?.mass()));
            let rows = island.contacts.iter().map(|c| 3 * c..3 * c + 3);
            let acting = rows.filter_map(|rows| impulses.get(rows)).flatten();
            let loads = Loads::new(masses, acting, self.h);
            let stand = |velocities: &[Velocity], most: f64| {
                let mut bodies = island.bodies.iter();
                bodies.all(|i| velocities[*i].speed(world.bodies[*i].radius) <= most)
            };
            let most = GOOD * fall + loads.rounding();
            if !stand(self.before, STANDS * fall) || !stand(velocities, most) {
                continue;
            }
            let momenta = island.bodies.iter().map(|i| kicked[*i].linear_momentum);
            let contacts = island.contacts.iter().copied();
            let supports = contacts.filter(|c| self.supports.get(*c).is_some_and(|it| *it));
            take_up(&momenta.sum(), self.frames, supports, impulses);
            for &i in &island.bodies {
                kicked[i] = stopped(&kicked[i]);
                velocities[i] = Velocity::of(&world.bodies[i], &kicked[i]);
            }
        }
    }
}
