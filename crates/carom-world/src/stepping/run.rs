//! Run of a world by time stepping.

use super::executor::Executor;
use super::lasting::LastingContacts;
use super::options::{StepCounts, Stepping};
use super::phases::Phases;
use super::step::{IslandStep, Step, Stepper, StepperOf};
use super::tolerances::SAME_TIME;
#[cfg(feature = "serde")]
pub(crate) mod saved;

use crate::MotionError;
use crate::body::Body;
use crate::events::{Balance, Impact, ImpactContact, RunEnd, WorldEvent};
use crate::force::{ContactForce, Shown};
use crate::handover::Relay;
use crate::pair_table::Pair;
use crate::spec::World;
use carom_impact::frictional::Poisson;
use carom_motion::hybrid::Ending;
use carom_variational::State;

/// Name of the impact law that time stepping uses.
const LAW: &str = Poisson::NAME;

/// Number of successive steps without motion after which a run without an end is over.
pub(crate) const STILL_STEPS: usize = 8;

/// Run by time stepping. Between two calls of a session it is paused: then it holds neither the world `W` nor the executor `X`.
#[derive(Clone, Debug)]
pub(crate) struct StepRunOf<W, X> {
    pub(crate) world: W,
    stepper: StepperOf<W, X>,
    pub(crate) states: Vec<State>,
    /// Index of the last grid time that is not after the present time; the start has index 0.
    line: u64,
    pub(crate) time: f64,
    /// Number of successive steps in which all bodies stood still.
    still: usize,
    /// Speed below which a body stands still, as a fraction of the speed of free fall for one step: the accuracy of the impulses.
    still_speed: f64,
    lasting: LastingContacts,
    counts: StepCounts,
    pub(crate) n_impacts: usize,
    /// Number of steps before time stepping began.
    n_steps: usize,
    pub(crate) balance: Balance,
    lowest_gap: f64,
    energy_at_start: f64,
    /// Events that are not reported yet.
    pub(crate) events: Vec<WorldEvent>,
    /// Forces of the contacts in the latest step.
    contacts: Vec<ContactForce>,
}

/// Run by time stepping with its world and its executor.
pub(crate) type StepRun<'w> = StepRunOf<&'w World, &'w dyn Executor>;

impl<W, X> StepRunOf<W, X> {
    /// Returns this run with another world and another executor.
    pub(crate) fn with<V: Copy, Y>(self, world: V, executor: Y) -> StepRunOf<V, Y> {
        StepRunOf {
            world,
            stepper: self.stepper.with(world, executor),
            states: self.states,
            line: self.line,
            time: self.time,
            still: self.still,
            still_speed: self.still_speed,
            lasting: self.lasting,
            counts: self.counts,
            n_impacts: self.n_impacts,
            n_steps: self.n_steps,
            balance: self.balance,
            lowest_gap: self.lowest_gap,
            energy_at_start: self.energy_at_start,
            events: self.events,
            contacts: self.contacts,
        }
    }
}

fn energy(world: &World, states: &[State]) -> f64 {
    let all = states.iter().enumerate();
    let bodies: f64 = all
        .map(|(body, state)| world.held_energy(body, state))
        .sum();
    bodies + world.spring_energy(states)
}

impl<W, X> StepRunOf<W, X> {
    /// Returns the lasting contacts, each with true if it slides.
    pub(crate) fn contacts(&self) -> Vec<(Pair, bool)> {
        self.lasting.all().collect()
    }
}

impl<'w> StepRun<'w> {
    /// Creates a run by time stepping that continues from the state `relay`.
    pub(crate) fn new(
        world: &'w World,
        relay: Relay,
        stepping: &Stepping,
        executor: &'w dyn Executor,
    ) -> Self {
        Self {
            world,
            stepper: Stepper::new(world, *stepping, executor),
            line: (relay.time / world.time_step + SAME_TIME).floor() as u64,
            time: relay.time,
            still: 0,
            still_speed: stepping.tolerance(),
            lasting: LastingContacts::of(&relay.lasting),
            counts: StepCounts::default(),
            n_impacts: relay.n_impacts,
            n_steps: relay.n_steps,
            balance: relay.balance,
            lowest_gap: relay.lowest_gap,
            energy_at_start: world.energy_at_start(),
            states: relay.states,
            events: relay.events,
            contacts: Vec::new(),
        }
    }

    /// Applies the impulses of the start, which stop bodies that touch and approach.
    pub(crate) fn begin(&mut self) -> Result<(), MotionError> {
        let (states, time) = (self.states.clone(), self.time);
        let start = Phases::of_start(self.world.time_step);
        let taken = self.stepper.step(&states, time, start, false)?;
        self.advance(taken, time, 0.0)
    }

    /// Makes one step to the next grid time (multiple of the time step), unless that is after `until` (s). Returns false if it is.
    pub(crate) fn proceed(&mut self, until: f64) -> Result<bool, MotionError> {
        let step = self.world.time_step;
        let line = (self.line + 1) as f64 * step;
        if !(until >= line - step * SAME_TIME) {
            return Ok(false);
        }
        let left = line - self.time;
        // Steps from one grid time to the next are equally long.
        let h = if (left - step).abs() <= step * SAME_TIME {
            step
        } else {
            left
        };
        let phases = Phases::of_step(h, step);
        let taken = self.stepper.step(&self.states, self.time, phases, false)?;
        self.advance(taken, line, h)?;
        self.line += 1;
        self.still = if self.stands() { self.still + 1 } else { 0 };
        Ok(true)
    }

    /// Returns the step that ends at `time` (s), within the next step of the grid; `None` if the last step ended there.
    fn shorter(&mut self, time: f64) -> Result<Option<(Step, f64)>, MotionError> {
        let h = time - self.time;
        if !(h > self.world.time_step * SAME_TIME) {
            return Ok(None);
        }
        let phases = Phases::of_step(h, h);
        let step = self.stepper.step(&self.states, self.time, phases, true)?;
        Ok(Some((step, h)))
    }

    /// Ends the present step at `time` (s), where an input acts.
    pub(crate) fn cut(&mut self, time: f64) -> Result<(), MotionError> {
        match self.shorter(time)? {
            Some((step, h)) => self.advance(step, time, h),
            None => Ok(()),
        }
    }

    /// Returns the energy of all bodies (J).
    pub(crate) fn energy(&self) -> f64 {
        energy(self.world, &self.states)
    }

    /// Returns the states of all bodies and the forces of contacts at `time` (s), by a shorter step that changes nothing in the run.
    pub(crate) fn show(&mut self, time: f64) -> Result<Shown, MotionError> {
        let (states, contacts) = match self.shorter(time)? {
            Some((step, h)) => {
                let contacts = step.forces(h).collect();
                (step.end, contacts)
            }
            None => (self.states.clone(), self.contacts.clone()),
        };
        for (body, state) in states.iter().enumerate() {
            self.world.check_place(body, state, time)?;
        }
        Ok((states, contacts))
    }

    /// Ends the run at `time` (s), by a shorter step, and returns the states with counts and energy balance. `ending` is the reason
    /// for the end.
    pub(crate) fn finish(&mut self, time: f64, mut ending: Ending<MotionError>) -> RunEnd {
        if !matches!(ending, Ending::Stopped(_))
            && let Err(error) = self.cut(time)
        {
            ending = Ending::Stopped(error);
        }
        let reached = matches!(ending, Ending::Completed);
        let end = if reached { time } else { self.time };
        let mut balance = self.balance.clone();
        let states = self.states.iter().enumerate();
        self.world.book_held(states, [end, 1.0], &mut balance);
        RunEnd {
            ending,
            time: end,
            n_impacts: self.n_impacts,
            n_steps: self.n_steps + self.counts.n_steps,
            balance,
            lowest_gap: self.lowest_gap,
            states: self.states.clone(),
            contacts: self.contacts.clone(),
            stepping: Some(self.counts),
            handed_over: None,
        }
    }

    /// True if no body has moved for some steps. Gravity would move a body without contact.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.still >= STILL_STEPS && {
            let moves = |body: &Body| body.kicks || body.is_prescribed();
            !self.world.bodies.iter().any(moves)
        }
    }

    /// True if all bodies stand still.
    fn stands(&self) -> bool {
        let world = self.world;
        let fall = world.flights.gravity.norm() * world.time_step;
        let mut all = self.states.iter().enumerate();
        all.all(|(body, state)| {
            let (velocity, spin) = world.velocity(body, state);
            velocity.norm() + spin.norm() * world.bodies[body].radius <= self.still_speed * fall
        })
    }

    fn advance(&mut self, mut step: Step, end: f64, h: f64) -> Result<(), MotionError> {
        for (body, state) in self.world.bodies.iter().zip(&step.end) {
            if !crate::step::is_finite(state) {
                return Err(MotionError::NonFinite {
                    body: body.name.clone(),
                    time: end,
                });
            }
        }
        self.world.check_way([&self.states, &step.end], end)?;
        let middle = self.time + 0.5 * h;
        for island in &step.islands {
            for pressed in &island.pressed {
                let (_, second) = pressed.pair;
                if !self.world.is_mobile(second) {
                    self.balance.supports[second] += pressed.impulse;
                }
            }
            if island.pressed.iter().any(|pressed| pressed.restitutes) {
                self.impact(island, &step.kicked, middle)
            } else {
                self.balance.contact_loss -= island.work;
                self.balance.lasting_work += island.lasting_work;
            }
        }
        // Impulses at the start of a run are no contact forces: contacts that lasted before the start do not end there.
        if h > 0.0 || self.lasting.is_empty() {
            self.lasting.note(&step, middle, &mut self.events);
        }
        self.balance.projection += step.projection;
        step.given.book(&mut self.balance);
        self.counts.add(&step.counts);
        self.lowest_gap = self.lowest_gap.min(step.lowest_gap);
        self.contacts.clear();
        if h > 0.0 {
            self.contacts.extend(step.forces(h));
        }
        self.stepper.take(&mut step);
        self.balance.contact_spring = self.stepper.spring_energy();
        self.states = step.end;
        self.time = end;
        let balance = &mut self.balance;
        let error = energy(self.world, &self.states) - self.energy_at_start
            + balance.impact_loss
            + balance.contact_loss
            - balance.projection
            + balance.drag_loss
            + balance.damper_loss
            - balance.input
            - balance.applied_work
            - balance.prescribed_work;
        balance.energy_error = balance.energy_error.max(error.abs());
        Ok(())
    }

    /// Reports an impact: an island (bodies connected by contacts) in which at least one contact rebounds. `kicked`: states of
    /// all bodies after the impulses; `time`: time of the impulses (s).
    fn impact(&mut self, island: &IslandStep, kicked: &[State], time: f64) {
        self.n_impacts += 1;
        self.balance.impact_loss -= island.work;
        let restituting = island.pressed.iter().filter(|pressed| pressed.restitutes);
        let contacts: Vec<ImpactContact> = restituting
            .map(|pressed| ImpactContact {
                first: pressed.pair.0,
                second: pressed.pair.1,
                point: pressed.point,
                normal: pressed.normal,
                impulse: pressed.impulse,
                normal_velocity: pressed.normal_velocity,
            })
            .collect();
        let mut bodies: Vec<usize> = contacts.iter().flat_map(|c| [c.first, c.second]).collect();
        bodies.retain(|body| self.world.is_mobile(*body));
        bodies.sort_unstable();
        bodies.dedup();
        let impact = Impact {
            time,
            law: LAW.into(),
            // `energy_minus` includes the work of gravity in the step, so that the difference is the work of the impulses.
            energy_minus: island.energy_plus - island.work,
            energy_plus: island.energy_plus,
            contacts,
            states: bodies
                .into_iter()
                .map(|body| (body, kicked[body]))
                .collect(),
        };
        self.events.push(WorldEvent::Impact(impact));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::{BodySpec, FlightRule, PlaneSpec};
    use crate::spec::WorldSpec;
    use crate::stepping::Serial;
    use crate::surface::Surface;
    use carom_geometry::{Ellipsoid, HalfSpace, Shape};
    use carom_lie::{Se3, So3};
    use nalgebra::Vector3;

    /// The first step after events ends on a grid time and is shorter than the next one: the ball may not reach the floor before
    /// the middle of that next step.
    #[test]
    fn a_ball_stays_above_the_floor_until_the_middle_of_a_longer_step() {
        let shape = Shape::Ellipsoid(Ellipsoid::sphere(0.1, Vector3::zeros()).unwrap());
        let ball = BodySpec {
            name: "ball".to_owned(),
            mass: Some(shape.mass_properties(1.0).unwrap()),
            shape,
            configuration: Se3::new(So3::identity(), Vector3::new(0.0, 0.0, 0.1 + 2.25e-4)),
            velocity: Vector3::new(0.0, 0.0, -0.5),
            angular_velocity: Vector3::zeros(),
            loads: Default::default(),
            surface_velocity: Vector3::zeros(),
            motion: None,
        };
        let world = World::new(&WorldSpec {
            bodies: vec![ball],
            planes: vec![PlaneSpec {
                name: "floor".to_owned(),
                half_space: HalfSpace::new(Vector3::z(), 0.0).unwrap(),
                surface_velocity: Vector3::zeros(),
            }],
            gravity: Vector3::new(0.0, 0.0, -9.81),
            flight: FlightRule::Exact,
            time_step: 2e-3,
            surface: Surface {
                friction: 0.5,
                restitution: 0.0,
                collide: true,
            },
            springs: Vec::new(),
            pairs: Vec::new(),
        })
        .unwrap();
        let relay = Relay {
            time: 1.5e-3,
            ..Relay::of_start(&world)
        };
        let rigid = Stepping::default().with_deflection(0.0).unwrap();
        let mut run = StepRun::new(&world, relay, &rigid, &Serial);
        run.begin().unwrap();
        while run.proceed(1e-2).unwrap() {}
        let end = run.finish(1e-2, Ending::Completed);
        assert_eq!(end.ending, Ending::Completed);
        assert!(end.lowest_gap >= -1e-12, "{:e}", end.lowest_gap);
    }
}
