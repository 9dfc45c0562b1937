//! Search for everything that touches at a time, directly or through others.

use crate::MotionError;
use crate::body::Velocity;
use crate::pair::{self, PairMemory};
use crate::rows::Side;
use crate::run::Run;
use crate::scratch::{InContact, Posed, Touching};
use crate::spec::CONTACT_TOLERANCE;
use carom_geometry::cells::Bounds;
use carom_numeric::time::Time;
use nalgebra::Vector3;

impl Run<'_> {
    /// True if every mobile body stays where it is: in lasting contact, or without forces.
    pub(crate) fn is_at_rest(&self) -> bool {
        let world = self.world;
        let stays = |i: usize| {
            let is_free = world.flights.pull(&world.bodies[i]) == Vector3::zeros();
            let (rest, state) = (Vector3::zeros(), &self.motions[i].state);
            let stands = state.linear_momentum == rest && state.angular_momentum == rest;
            !world.is_mobile(i) || self.resting(i).is_some() || (is_free && stands)
        };
        (0..world.n_bodies()).all(stays)
    }

    /// Advances a body to `time` and adds it to the list `bodies`. If the body is in a time step of lasting contact, the step
    /// ends at `time`, and all bodies that are connected to it by lasting contacts are added, too.
    pub(crate) fn gather(
        &mut self,
        body: usize,
        time: Time,
        bodies: &mut Vec<usize>,
    ) -> Result<(), MotionError> {
        let island = self.motions[body].island;
        match island {
            Some(index) => {
                let members = self.stop_step(index, time)?;
                for member in members {
                    if !bodies.contains(&member) {
                        bodies.push(member);
                    }
                }
            }
            None => {
                self.bring(body, time)?;
                if !bodies.contains(&body) {
                    bodies.push(body);
                }
            }
        }
        Ok(())
    }

    /// Finds all bodies that touch the bodies `seeds` at `time`, directly or through others, and the pairs that touch. All these
    /// bodies are advanced to `time`.
    pub(super) fn find_island(
        &mut self,
        seeds: &[usize],
        time: Time,
        out: &mut InContact,
    ) -> Result<(), MotionError> {
        let world = self.world;
        let InContact {
            bodies,
            pairs,
            near,
        } = out;
        bodies.clear();
        pairs.clear();
        for &seed in seeds {
            if world.is_mobile(seed) && !bodies.contains(&seed) {
                self.gather(seed, time, bodies)?;
            }
        }
        let mut next = 0;
        while let Some(&body) = bodies.get(next) {
            next += 1;
            let (center, radius) = (self.motions[body].state.position, world.bodies[body].radius);
            let ball = Bounds::around(&center, &center, radius * (1.0 + 2.0 * CONTACT_TOLERANCE));
            self.within(&ball, near);
            near.extend(self.lasting.of(body).map(|(i, j)| i + j - body));
            near.sort_unstable();
            near.dedup();
            for &thing in near.iter() {
                let Some(pair) = world.pair_of(body, thing) else {
                    continue;
                };
                if pairs.contains(&pair) {
                    continue;
                }
                if !self.lasting.contains(pair) && !self.is_touching(pair, body, time)? {
                    continue;
                }
                pairs.push(pair);
                if world.is_mobile(thing) && !bodies.contains(&thing) {
                    self.gather(thing, time, bodies)?;
                }
                let place = |thing: usize| match self.motions.get(thing) {
                    Some(motion) => &motion.state,
                    None => world.initial_of(thing),
                };
                world.check_contact(pair, [place(pair.0), place(pair.1)], time.high)?;
            }
        }
        bodies.sort_unstable();
        pairs.sort_unstable();
        Ok(())
    }

    pub(super) fn is_touching(
        &mut self,
        pair: (usize, usize),
        known: usize,
        time: Time,
    ) -> Result<bool, MotionError> {
        let world = self.world;
        let unknown = if pair.0 == known { pair.1 } else { pair.0 };
        let tolerance = world.tolerance(pair.0, pair.1);
        let here = self.motions[known].state;
        if let (Some(motion), Some(second)) = (self.motions.get(unknown), world.bodies.get(unknown))
        {
            // Too far apart, whatever the motion of the other in the meantime.
            let v = world.drift(unknown, &motion.state);
            let passed = time.since(motion.time).abs();
            let fall = world.flights.pull(second).norm() * passed * passed;
            let reach = world.bodies[known].radius + second.radius + tolerance;
            let moved = v.norm() * passed + fall;
            let apart = (here.position - motion.state.position).norm();
            if motion.island.is_none()
                && !second.is_prescribed()
                && apart - moved > reach * (1.0 + 1e-9)
            {
                return Ok(false);
            }
        }
        let there = self.state_at(unknown, time)?;
        let (first, second) = if pair.0 == known {
            (here, there)
        } else {
            (there, here)
        };
        if let Some(other) = world.bodies.get(pair.1) {
            let reach = world.bodies[pair.0].radius + other.radius + tolerance;
            if (first.position - second.position).norm() > reach * (1.0 + 1e-9) {
                return Ok(false);
            }
        }
        let (body, other) = (&world.bodies[pair.0], world.thing(pair.1));
        let gap = match pair::touch_of_spheres(body, &first, &other, &second) {
            Some(touch) => touch.gap,
            None => {
                let mut memory = self.memory.remove(pair).unwrap_or_default();
                let gap = pair::gap(body, &first, &other, &second, &mut memory).value;
                self.keep_memory(pair, memory);
                gap
            }
        };
        Ok(gap <= tolerance)
    }

    /// Finds the contact points of all touching pairs in `island` (bodies that touch, directly or through others).
    /// Writes the points, their Jacobian rows (normal, two tangents), and the velocities of the rows to `out`.
    pub(super) fn find_touching(
        &mut self,
        island: &InContact,
        time: Time,
        posed: &mut Posed,
        out: &mut Touching,
    ) {
        let world = self.world;
        let there = |run: &Self, thing: usize| match run.motions.get(thing) {
            Some(motion) => world.bodies[thing].told(time.high).unwrap_or(motion.state),
            None => *world.initial_of(thing),
        };
        out.points.clear();
        out.rows.clear();
        for &pair in &island.pairs {
            posed.found.clear();
            let here = self.motions[pair.0].state;
            let there = there(self, pair.1);
            let (body, other) = (&world.bodies[pair.0], world.thing(pair.1));
            let tolerance = world.tolerance(pair.0, pair.1);
            let found = &mut posed.found;
            if pair::has_closed_form(body, &other) {
                let memory = &mut PairMemory::new();
                pair::contact_points(body, &here, &other, &there, memory, tolerance, found);
            } else {
                let mut memory = self.memory.remove(pair).unwrap_or_default();
                pair::contact_points(body, &here, &other, &there, &mut memory, tolerance, found);
                self.keep_memory(pair, memory);
            }
            for point in found.iter() {
                let mut point = point.on_face(&other);
                if !world.is_mobile(pair.1) {
                    let all = out.points.iter();
                    let seam = all.filter(|(of, _)| of.0 == pair.0 && !world.is_mobile(of.1));
                    let seam = seam.map(|(_, point)| point);
                    point.join(seam, tolerance, CONTACT_TOLERANCE);
                }
                out.points.push((pair, point));
            }
        }
        for ((i, j), point) in &out.points {
            let running = world.thing(*j).running(&there(self, *j), &point.point);
            out.rows.push(
                &point.point,
                &point.normal,
                self.side(&island.bodies, *i),
                self.side(&island.bodies, *j),
                &running,
            );
        }
        self.find_velocities(&island.bodies, posed, out);
    }

    /// Computes the velocity of each contact row in `out` (m/s), and the largest speed of any point of the bodies, to which
    /// rounding is compared.
    pub(super) fn find_velocities(&self, bodies: &[usize], posed: &mut Posed, out: &mut Touching) {
        let velocities = &mut posed.velocities;
        velocities.clear();
        velocities.extend(bodies.iter().map(|i| self.velocity(*i)));
        out.rows.velocities(velocities, &mut out.velocities);
        out.scale = 0.0;
        for (body, velocity) in bodies.iter().zip(velocities) {
            let turn = velocity.angular.norm() * self.world.bodies[*body].radius;
            out.scale = out.scale.max(velocity.linear.norm() + turn);
        }
    }

    pub(super) fn velocity(&self, body: usize) -> Velocity {
        Velocity::of(&self.world.bodies[body], &self.motions[body].state)
    }

    pub(super) fn side(&self, bodies: &[usize], thing: usize) -> Side<'_> {
        let place = bodies.binary_search(&thing).ok()?;
        Some((
            place,
            self.world.bodies.get(thing)?,
            &self.motions.get(thing)?.state,
        ))
    }
}
