//! Worlds that scenarios build, and their runs.

use crate::{Progress, ScenarioError};
use carom_contact::{ImpactLaw, ImpactProblem};
use carom_geometry::{HalfSpace, Shape};
use carom_impact::Propagative;
use carom_impact::frictional::MoreauNewton;
use carom_lie::{Se3, So3};
use carom_motion::hybrid::{Ending, Limits};
use carom_variational::State;
use carom_world::{
    BodySpec, Event, Impact, Laws, MotionError, OnZeno, PlaneSpec, RunEnd, Sample, Serial,
    SingleLaw, Stepping, Surface, World, WorldSpec,
};
use nalgebra::Vector3;

/// Standard gravity (m/s²).
pub(super) const GRAVITY: f64 = 9.80665;

/// Builder of a world.
pub(super) struct Scene {
    pub(super) spec: WorldSpec,
    progress: Progress,
}

impl Scene {
    /// Creates a world without bodies, with gravity downwards. All pairs of bodies have the given coefficients of friction and
    /// restitution. `time_step`: step of the integration (s).
    pub(super) fn new(friction: f64, restitution: f64, time_step: f64) -> Self {
        Self {
            spec: WorldSpec::new(
                Vec::new(),
                Vec::new(),
                Vector3::new(0.0, 0.0, -GRAVITY),
                time_step,
                Surface::new(friction, restitution),
            ),
            progress: Progress::default(),
        }
    }

    /// Reports the progress of the runs of this world to `progress`.
    pub(super) fn watched(mut self, progress: &Progress) -> Self {
        self.progress = progress.clone();
        self
    }

    /// Adds a body of uniform density at rest, with its center at `position` (m). A body without a mass (kg) never moves.
    /// Returns the body's specification, which the caller can change.
    pub(super) fn body(
        &mut self,
        name: impl Into<String>,
        shape: Shape,
        mass: Option<f64>,
        position: Vector3<f64>,
    ) -> Result<&mut BodySpec, ScenarioError> {
        let name = name.into();
        let properties = match mass {
            Some(mass) => {
                let found = shape.mass_properties(mass);
                Some(found.map_err(|source| MotionError::Shape {
                    body: name.clone(),
                    source,
                })?)
            }
            None => None,
        };
        self.spec.bodies.push(BodySpec::new(
            name,
            properties,
            shape,
            Se3::new(So3::identity(), position),
        ));
        let last = self.spec.bodies.len() - 1;
        Ok(&mut self.spec.bodies[last])
    }

    /// Adds a plane that bodies can touch: the points $x$ with $n\cdot x + D = 0$, where $n$ is `normal` and $D$ is `offset`
    /// (m). The normal points to the free side.
    pub(super) fn plane(
        &mut self,
        name: &str,
        normal: Vector3<f64>,
        offset: f64,
    ) -> Result<(), ScenarioError> {
        let half_space =
            HalfSpace::new(normal, offset).map_err(|error| ScenarioError::value(name, error))?;
        self.spec.planes.push(PlaneSpec::new(name, half_space));
        Ok(())
    }

    /// Simulates the world for `duration` (s) by event-driven integration, and records its states at `frames` uniform times,
    /// from the start on, and at the end. `several`: returns the impact law for the impact with a given number, if several
    /// contacts hit at once; `impacts`: largest number of impacts.
    ///
    /// # Errors
    ///
    /// [`ScenarioError::Motion`] for an invalid world, and for a run that stops early.
    pub(super) fn run(
        &self,
        several: &dyn Fn(usize, &ImpactProblem) -> Box<dyn ImpactLaw>,
        duration: f64,
        impacts: usize,
        frames: usize,
    ) -> Result<Course, ScenarioError> {
        let world = World::new(&self.spec)?;
        let samples = samples(duration, frames);
        let is_lossy = self.spec.surface.restitution < 1.0;
        let limits = Limits::duration(duration).with_impacts(impacts);
        let propagative = Propagative::default();
        let laws = Laws::new(
            if is_lossy || self.spec.surface.friction > 0.0 {
                SingleLaw::TwoBody(carom_impact::two_body::ImpactOptions::default())
            } else {
                SingleLaw::Any(&propagative)
            },
            several,
        )
        .with_on_zeno(if is_lossy {
            OnZeno::Rest
        } else {
            OnZeno::Continue
        });
        let mut course = Course::default();
        let end = world.run(&laws, &limits, &samples, &mut |event| {
            let time = course.note(event);
            self.progress
                .simulated(time, duration, course.impacts.len());
        });
        course.ended(end)
    }

    /// Simulates the world for `duration` (s) by time stepping, and records its states at up to `frames` grid times
    /// (multiples of the time step), from the start on, and at the end.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run).
    pub(super) fn run_in_steps(
        &self,
        duration: f64,
        frames: usize,
    ) -> Result<Course, ScenarioError> {
        let world = World::new(&self.spec)?;
        let step = self.spec.time_step;
        let steps = (duration / step).ceil() as usize;
        let stride = steps.div_ceil(frames.max(1)).max(1);
        let samples: Vec<f64> = (0..steps)
            .step_by(stride)
            .map(|k| k as f64 * step)
            .collect();
        let limits = Limits::duration(duration);
        let options = Stepping::default();
        let mut course = Course::default();
        let end = world.run_in_steps(&options, &limits, &samples, &Serial, &mut |event| {
            let time = course.note(event);
            self.progress
                .simulated(time, duration, course.impacts.len());
        });
        course.ended(end)
    }
}

/// Returns the times (s) at which states are recorded: `frames` uniform times from the start on, without the end.
fn samples(duration: f64, frames: usize) -> Vec<f64> {
    let frames = frames.max(1);
    (0..frames)
        .map(|k| duration * k as f64 / frames as f64)
        .collect()
}

/// Recorded events and states of a run.
#[derive(Default)]
pub(super) struct Course {
    /// Times (s) with the states of all bodies, including the end.
    pub(super) frames: Vec<(f64, Vec<State>)>,
    pub(super) impacts: Vec<Impact>,
    /// Times (s) at which lasting contacts began to slide (true) or to stick (false).
    pub(super) modes: Vec<(f64, bool)>,
    end: Option<RunEnd>,
}

impl Course {
    /// Records an event and returns its time (s).
    fn note(&mut self, event: Event<'_>) -> f64 {
        match &event {
            Event::Sample(Sample { time, states, .. }) => {
                self.frames.push((*time, states.to_vec()))
            }
            Event::Impact(impact) => self.impacts.push((*impact).clone()),
            Event::Mode { time, slides, .. } => self.modes.push((*time, *slides)),
            _ => (),
        }
        super::world::time_of(&event)
    }

    fn ended(mut self, end: RunEnd) -> Result<Self, ScenarioError> {
        if let Ending::Stopped(error) = end.ending {
            return Err(error.into());
        }
        self.frames.push((end.time, end.states.clone()));
        self.end = Some(end);
        Ok(self)
    }

    /// Returns the total impulse (N s) that planes and fixed bodies have exerted on the other bodies since the start.
    pub(super) fn supports(&self) -> Vector3<f64> {
        let end = self.end.as_ref();
        end.map_or_else(Vector3::zeros, |end| end.balance.supports.iter().sum())
    }

    /// Returns the value of the closure `value` for the end of the run; 0 if the run has no recorded end.
    pub(super) fn of_end(&self, value: impl Fn(&RunEnd) -> f64) -> f64 {
        self.end.as_ref().map_or(0.0, value)
    }

    pub(super) fn times(&self) -> Vec<f64> {
        self.frames.iter().map(|(time, _)| *time).collect()
    }

    /// Returns the values of the closure `value` for the state of one body, one per recorded frame. `body`: index of
    /// the body.
    pub(super) fn of_body(&self, body: usize, value: impl Fn(&State) -> f64) -> Vec<f64> {
        let states = self
            .frames
            .iter()
            .filter_map(|(_, states)| states.get(body));
        states.map(value).collect()
    }

    /// Returns the state of the body with the index `body` at the end of the run; `None` if it was not recorded.
    pub(super) fn last(&self, body: usize) -> Option<&State> {
        self.frames.last()?.1.get(body)
    }
}

/// Creates Moreau's impact law, which solves one complementarity problem for all contacts. The number of the impact has no
/// influence.
pub(super) fn moreau(_: usize, _: &ImpactProblem) -> Box<dyn ImpactLaw> {
    Box::new(MoreauNewton::default())
}

/// Creates the propagative impact law, which resolves one contact after the other. The number of the impact has no influence.
pub(super) fn propagative(_: usize, _: &ImpactProblem) -> Box<dyn ImpactLaw> {
    Box::new(Propagative::default())
}
