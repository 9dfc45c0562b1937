//! Run of a world by time stepping.

use super::executor::Executor;
use super::lasting::LastingContacts;
use super::options::{StepCounts, Stepping};
use super::step::{IslandStep, Phases, Step, Stepper};
use super::tolerances::SAME_TIME;
use crate::events::{Balance, Event, Impact, ImpactContact, RunEnd, Sample};
use crate::handover::Relay;
use crate::spec::World;
use crate::{MotionError, limits};
use carom_impact::frictional::Poisson;
use carom_motion::hybrid::{Ending, Hybrid, Limits, drive};
use carom_variational::State;
use nalgebra::Vector3;

/// Name of the impact law that time stepping uses.
const LAW: &str = Poisson::NAME;

/// Number of successive steps without motion after which a run without an end is over.
const STILL_STEPS: usize = 8;

struct StepRun<'w, 'o> {
    world: &'w World,
    stepper: Stepper<'w>,
    states: Vec<State>,
    /// Index of the last grid time that is not after the present time; the start has index 0.
    line: u64,
    time: f64,
    /// Requested sample times that are still to come, the latest first.
    samples: Vec<f64>,
    has_begun: bool,
    /// Number of successive steps in which all bodies stood still.
    still: usize,
    /// Speed below which a body stands still, as a fraction of the speed of free fall for one step: the accuracy of the impulses.
    still_speed: f64,
    lasting: LastingContacts,
    counts: StepCounts,
    n_impacts: usize,
    balance: Balance,
    lowest_gap: f64,
    energy_at_start: f64,
    observe: &'o mut (dyn FnMut(Event<'_>) + 'o),
}

impl World {
    /// Simulates the world by time stepping, in steps of its constant step length, until one of the `limits` (time, number of
    /// impacts) is reached.
    ///
    /// `samples` are the times (s, ascending) at which states are reported to `observe`; events are reported like those of
    /// [`run`](Self::run). Impacts follow the impact law `poisson`, at most one step early and never late. `executor` runs
    /// independent tasks, possibly in parallel.
    pub fn run_in_steps<'o>(
        &self,
        stepping: &Stepping,
        limits: &Limits,
        samples: &[f64],
        executor: &dyn Executor,
        observe: &'o mut (dyn FnMut(Event<'_>) + 'o),
    ) -> RunEnd {
        let relay = Relay {
            time: 0.0,
            states: self.initial_states().to_vec(),
            samples: samples.iter().rev().copied().collect(),
            n_impacts: 0,
            n_steps: 0,
            balance: Balance {
                supports: vec![Vector3::zeros(); self.n_things()],
                ..Balance::default()
            },
            lowest_gap: f64::INFINITY,
            lasting: Vec::new(),
        };
        self.step_from(relay, limits, stepping, executor, observe)
    }

    /// Continues a run by time stepping, from the state `relay` in which event-driven integration ended. `limits`:
    /// simulated time and number of impacts at which the run ends; `stepping`: options of time stepping; `executor`:
    /// runs tasks in parallel; `observe`: receives all events.
    pub(crate) fn step_from<'o>(
        &self,
        relay: Relay,
        limits: &Limits,
        stepping: &Stepping,
        executor: &dyn Executor,
        observe: &'o mut (dyn FnMut(Event<'_>) + 'o),
    ) -> RunEnd {
        let initial = energy(self, self.initial_states());
        let checked = limits::check(limits, relay.samples.iter().rev().copied());
        let mut run = StepRun {
            world: self,
            stepper: Stepper::new(self, *stepping, executor),
            line: (relay.time / self.time_step + SAME_TIME).floor() as u64,
            time: relay.time,
            samples: relay.samples,
            has_begun: false,
            still: 0,
            still_speed: stepping.tolerance(),
            lasting: LastingContacts::of(&relay.lasting),
            counts: StepCounts::default(),
            n_impacts: relay.n_impacts,
            balance: relay.balance,
            lowest_gap: relay.lowest_gap,
            energy_at_start: initial,
            states: relay.states,
            observe,
        };
        let ending = match checked {
            Ok(()) => drive(&mut run, limits),
            Err(error) => Ending::Stopped(error),
        };
        RunEnd {
            ending,
            time: run.time,
            n_impacts: run.n_impacts,
            n_steps: relay.n_steps + run.counts.n_steps,
            balance: run.balance,
            lowest_gap: run.lowest_gap,
            states: run.states,
            stepping: Some(run.counts),
            handed_over: None,
        }
    }
}

fn energy(world: &World, states: &[State]) -> f64 {
    let all = states.iter().enumerate();
    all.map(|(body, state)| world.energy(body, state)).sum()
}

impl Hybrid for StepRun<'_, '_> {
    type Error = MotionError;

    fn n_impacts(&self) -> usize {
        self.n_impacts
    }

    /// Makes one step to the next grid time (multiple of the time step), or to the end of the run if that comes first.
    /// Returns the reason for the end when the run is complete, else `None`. `limits`: simulated time and number of
    /// impacts at which the run ends.
    fn proceed(&mut self, limits: &Limits) -> Result<Option<Ending<MotionError>>, MotionError> {
        if !self.has_begun {
            self.has_begun = true;
            let (states, time) = (self.states.clone(), self.time);
            self.report_samples(time, &states)?;
            let start = Phases::of_start(self.world.time_step);
            let taken = self.stepper.step(&states, time, start, false)?;
            self.advance(taken, time, 0.0)?;
            return Ok(None);
        }
        let left = limits.duration - self.time;
        if !(left > 0.0) {
            return Ok(Some(Ending::Completed));
        }
        let step = self.world.time_step;
        let line = (self.line + 1) as f64 * step;
        let to_line = line - self.time;
        let is_last = left <= to_line + step * SAME_TIME;
        let (h, end) = if is_last {
            (left, limits.duration)
        } else {
            (to_line, line)
        };
        // Steps from one grid time to the next are equally long.
        let h = if (h - step).abs() <= step * SAME_TIME {
            step
        } else {
            h
        };
        // A sample time within the step is reached by a shorter trial step, which changes nothing in the run.
        while let Some(&sample) = self.samples.last()
            && sample < end - SAME_TIME * step
        {
            let tried = self.stepper.step(
                &self.states,
                self.time,
                Phases::of_step(sample - self.time, sample - self.time),
                true,
            )?;
            self.samples.pop();
            self.report_sample(sample, &tried.end)?;
        }
        let phases = Phases::of_step(h, if is_last { h } else { step });
        let taken = self.stepper.step(&self.states, self.time, phases, false)?;
        self.advance(taken, end, h)?;
        self.line += 1;
        if limits.duration == f64::INFINITY && self.rests() {
            return Ok(Some(Ending::AtRest));
        }
        Ok(is_last.then_some(Ending::Completed))
    }
}

impl StepRun<'_, '_> {
    /// True if all samples are reported and no body has moved for some steps. Gravity would move a body without contact.
    fn rests(&mut self) -> bool {
        let world = self.world;
        let fall = world.flights.gravity.norm() * world.time_step;
        let stands = |(body, state): (usize, &State)| {
            let (velocity, spin) = world.velocity(body, state);
            velocity.norm() + spin.norm() * world.bodies[body].radius <= self.still_speed * fall
        };
        let is_still = self.states.iter().enumerate().all(stands);
        self.still = if is_still { self.still + 1 } else { 0 };
        self.still >= STILL_STEPS && self.samples.is_empty()
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
            self.lasting.note(&step, middle, self.observe);
        }
        self.balance.projection += step.projection;
        self.counts.add(&step.counts);
        self.lowest_gap = self.lowest_gap.min(step.lowest_gap);
        self.stepper.take(&mut step);
        self.balance.contact_spring = self.stepper.spring_energy();
        self.states = step.end;
        self.time = end;
        let balance = &mut self.balance;
        let error = energy(self.world, &self.states) - self.energy_at_start
            + balance.impact_loss
            + balance.contact_loss
            - balance.projection;
        balance.energy_error = balance.energy_error.max(error.abs());
        let states = std::mem::take(&mut self.states);
        let reported = self.report_samples(end, &states);
        self.states = states;
        reported
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
            law: LAW,
            // `energy_minus` includes the work of gravity in the step, so that the difference is the work of the impulses.
            energy_minus: island.energy_plus - island.work,
            energy_plus: island.energy_plus,
            contacts,
            states: bodies
                .into_iter()
                .map(|body| (body, kicked[body]))
                .collect(),
        };
        (self.observe)(Event::Impact(&impact));
    }

    /// Reports the states at all requested sample times up to `time` (s) that have not been reported yet. All get the given
    /// `states`.
    fn report_samples(&mut self, time: f64, states: &[State]) -> Result<(), MotionError> {
        let until = time + SAME_TIME * self.world.time_step;
        while let Some(sample) = self.samples.pop_if(|sample| *sample <= until) {
            self.report_sample(sample, states)?;
        }
        Ok(())
    }

    fn report_sample(&mut self, time: f64, states: &[State]) -> Result<(), MotionError> {
        for (body, state) in states.iter().enumerate() {
            self.world.check_place(body, state, time)?;
        }
        (self.observe)(Event::Sample(Sample { time, states }));
        Ok(())
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
        };
        let world = World::new(&WorldSpec {
            bodies: vec![ball],
            planes: vec![PlaneSpec {
                name: "floor".to_owned(),
                half_space: HalfSpace::new(Vector3::z(), 0.0).unwrap(),
            }],
            gravity: Vector3::new(0.0, 0.0, -9.81),
            flight: FlightRule::Exact,
            time_step: 2e-3,
            surface: Surface {
                friction: 0.5,
                restitution: 0.0,
                collide: true,
            },
            pairs: Vec::new(),
        })
        .unwrap();
        let relay = Relay {
            time: 1.5e-3,
            states: world.initial_states().to_vec(),
            samples: Vec::new(),
            n_impacts: 0,
            n_steps: 0,
            balance: Balance {
                supports: vec![Vector3::zeros(); world.n_things()],
                ..Balance::default()
            },
            lowest_gap: f64::INFINITY,
            lasting: Vec::new(),
        };
        let limits = Limits::duration(1e-2);
        let rigid = Stepping::default().with_deflection(0.0).unwrap();
        let end = world.step_from(relay, &limits, &rigid, &Serial, &mut |_| ());
        assert_eq!(end.ending, Ending::Completed);
        assert!(end.lowest_gap >= -1e-12, "{:e}", end.lowest_gap);
    }
}
