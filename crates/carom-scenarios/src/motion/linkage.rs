//! Jointed bodies that scenarios build, and their runs.

use crate::motion::playback::Hit;
use crate::motion::scene::moreau;
use crate::{Progress, ScenarioError};
use carom_contact::{ImpactLaw, ImpactProblem};
use carom_geometry::{HalfSpace, MassProperties, Shape};
use carom_impact::two_body::ImpactOptions;
use carom_lie::{Se3, So3};
use carom_motion::hybrid::{Ending, Limits};
use carom_variational::State;
use carom_world::jointed::{
    JointEvent, JointImpact, JointedEnd, JointedSpec, JointedWorld, TouchSpec,
};
use carom_world::joints::coordinates::CoordinateSpec;
use carom_world::joints::frames::Frame;
use carom_world::joints::kinds::Kind;
use carom_world::joints::variational::RigidBody;
use carom_world::joints::{JointSpec, MultibodySpec, Placed};
use carom_world::{BodySpec, Laws, MotionError, OnZeno, PlaneSpec, SingleLaw, Surface, WorldSpec};
use nalgebra::Vector3;

/// Builder of a world of jointed bodies.
pub(super) struct Linkage {
    /// Specification of the bodies for the animation; joints determine the positions of bodies that have no position.
    pub(super) spec: WorldSpec,
    joints: Vec<JointSpec>,
    placed: Vec<Placed>,
    touching: Vec<[usize; 2]>,
    progress: Progress,
}

/// One side of a joint: the index of a body (`None` for the ground), and the position of the joint relative to the center of mass
/// (m).
pub(super) type End = (Option<usize>, Vector3<f64>);

impl Linkage {
    pub(super) fn new(gravity: f64, restitution: f64, time_step: f64) -> Self {
        Self {
            spec: WorldSpec::new(
                Vec::new(),
                Vec::new(),
                Vector3::new(0.0, 0.0, -gravity),
                time_step,
                Surface::new(0.0, restitution),
            ),
            joints: Vec::new(),
            placed: Vec::new(),
            touching: Vec::new(),
            progress: Progress::default(),
        }
    }

    /// Reports the progress of the runs of these bodies to `progress`.
    pub(super) fn watched(mut self, progress: &Progress) -> Self {
        self.progress = progress.clone();
        self
    }

    /// Adds a mobile body at rest and returns its index. Without a position (m), the joints determine its place.
    pub(super) fn body(
        &mut self,
        name: &str,
        shape: Shape,
        mass: MassProperties,
        position: Option<Vector3<f64>>,
    ) -> usize {
        let place = |position| Se3::new(So3::identity(), position);
        self.spec.bodies.push(BodySpec::new(
            name,
            Some(mass),
            shape,
            place(position.unwrap_or_default()),
        ));
        self.placed
            .push(Placed::default().with_configuration(position.map(place)));
        self.placed.len() - 1
    }

    /// Adds a body that never moves, with the constant pose `place` in the world, and returns its index.
    pub(super) fn fixed(&mut self, name: &str, shape: Shape, place: Se3) -> usize {
        self.spec
            .bodies
            .push(BodySpec::new(name, None, shape, place));
        self.placed
            .push(Placed::default().with_configuration(Some(place)));
        self.placed.len() - 1
    }

    /// Sets the initial velocity (m/s) of the body with the index `body`. The joints determine the velocities of the other
    /// bodies.
    pub(super) fn push(&mut self, body: usize, velocity: Vector3<f64>) {
        if let (Some(spec), Some(placed)) =
            (self.spec.bodies.get_mut(body), self.placed.get_mut(body))
        {
            (spec.velocity, placed.velocity) = (velocity, velocity);
        }
    }

    /// Allows contact between the bodies with the indices `first` and `second`.
    pub(super) fn touch(&mut self, first: usize, second: usize) {
        self.touching.push([first, second]);
    }

    /// Adds a plane that bodies can touch: the points $x$ with $n\cdot x + D = 0$, where $n$ is `normal` and $D$ is `offset`
    /// (m). The normal points to the free side. `bodies`: indices of the bodies that may touch it.
    pub(super) fn plane(
        &mut self,
        name: &str,
        normal: Vector3<f64>,
        offset: f64,
        bodies: &[usize],
    ) -> Result<(), ScenarioError> {
        let half_space =
            HalfSpace::new(normal, offset).map_err(|error| ScenarioError::value(name, error))?;
        let thing = self.placed.len() + self.spec.planes.len();
        self.touching
            .extend(bodies.iter().map(|body| [*body, thing]));
        self.spec.planes.push(PlaneSpec::new(name, half_space));
        Ok(())
    }

    /// Adds a joint of the type `kind` between two bodies. `from` and `to`: joint position (m) in the axes of the
    /// parent and of the child body; `axes`: joint axes; `coordinates`: initial value and drive of each joint
    /// coordinate. `parent` and `child`: indices of the two bodies, where the parent may be the ground.
    pub(super) fn join(
        &mut self,
        name: &str,
        kind: &str,
        (parent, from): End,
        (child, to): (usize, Vector3<f64>),
        axes: Vec<Vector3<f64>>,
        coordinates: Vec<CoordinateSpec>,
    ) -> Result<(), ScenarioError> {
        let Some(kind) = Kind::named(kind) else {
            return Err(ScenarioError::value(name, format!("no joint `{kind}`")));
        };
        let frame = |position| Frame {
            position,
            ..Frame::identity()
        };
        self.joints.push(
            JointSpec::new(name, kind, parent, child)
                .with_frames(frame(from), frame(to))
                .with_axes(axes)
                .with_coordinates(coordinates),
        );
        Ok(())
    }

    /// Sets the initial relative rotation of the spherical joint with the index `joint`.
    pub(super) fn turn(&mut self, joint: usize, attitude: So3) {
        if let Some(joint) = self.joints.get_mut(joint) {
            joint.ball.position = Some(attitude);
        }
    }

    /// Simulates the bodies for `duration` (s) and records their states at `frames` uniform times, from the start on, and at
    /// the end.
    ///
    /// # Errors
    ///
    /// [`ScenarioError::Motion`] for an inconsistent set of bodies, and for a run that stops early.
    pub(super) fn run(&self, duration: f64, frames: usize) -> Result<Course, ScenarioError> {
        self.run_by(&moreau, duration, frames)
    }

    /// Simulates the bodies like [`run`](Self::run), but with the impact law that `several` returns when several contacts hit
    /// at once. The argument of `several` is the number of the impact.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run).
    pub(super) fn run_by(
        &self,
        several: &dyn Fn(usize, &ImpactProblem) -> Box<dyn ImpactLaw>,
        duration: f64,
        frames: usize,
    ) -> Result<Course, ScenarioError> {
        let bodies = self.spec.bodies.iter();
        let surface = self.spec.surface;
        let rigid = |body: &BodySpec| (body.name.clone(), body.mass.as_ref().map(RigidBody::new));
        let rigid = bodies.clone().map(rigid).collect();
        let multibody = MultibodySpec::new(rigid, self.joints.clone(), self.spec.gravity, true);
        let touch = TouchSpec::new(
            bodies.map(|body| Some(body.shape.clone())).collect(),
            self.spec.planes.clone(),
            self.touching.iter().map(|pair| (*pair, surface)).collect(),
        );
        let (flight, time_step) = (self.spec.flight, self.spec.time_step);
        let spec = JointedSpec::new(multibody, self.placed.clone(), flight, time_step, touch);
        let world = JointedWorld::new(&spec)?;
        let frames = frames.max(1);
        let samples: Vec<f64> = (0..frames)
            .map(|k| duration * k as f64 / frames as f64)
            .collect();
        let laws = Laws::new(SingleLaw::TwoBody(ImpactOptions::default()), several).with_on_zeno(
            if surface.restitution < 1.0 {
                OnZeno::Rest
            } else {
                OnZeno::Continue
            },
        );
        let multibody = world.multibody();
        let initial = multibody.energy(world.start());
        let (mut seen, mut coordinates, mut energies) = (Vec::new(), Vec::new(), Vec::new());
        let mut impacts: Vec<JointImpact> = Vec::new();
        let mut observe = |event: JointEvent<'_>| match event {
            JointEvent::Sample(sample) => {
                let n = impacts.len();
                self.progress.simulated(sample.time, duration, n);
                seen.push((sample.time, sample.posture.states.clone()));
                coordinates.push((sample.posture.q.clone(), sample.rates.to_vec()));
                energies.push(multibody.energy(sample.posture));
            }
            JointEvent::Impact(impact) => impacts.push(impact.clone()),
            _ => (),
        };
        let limits = Limits::duration(duration);
        let end = world.run(&laws, &limits, &samples, None, &mut observe);
        if let Ending::Stopped(error) = end.ending {
            return Err(error.into());
        }
        seen.push((end.time, end.posture.states.clone()));
        coordinates.push((end.posture.q.clone(), end.rates.clone()));
        energies.push(multibody.energy(&end.posture));
        Ok(Course {
            frames: seen,
            coordinates,
            energies,
            impacts,
            initial,
            end,
        })
    }
}

/// Recorded events and states of a run.
pub(super) struct Course {
    /// Times (s) with the states of all bodies, including the end.
    pub(super) frames: Vec<(f64, Vec<State>)>,
    /// Joint coordinates and their rates at these times.
    pub(super) coordinates: Vec<(Vec<f64>, Vec<f64>)>,
    /// Energies at these times (J).
    pub(super) energies: Vec<f64>,
    pub(super) impacts: Vec<JointImpact>,
    /// Energy at the start (J).
    pub(super) initial: f64,
    pub(super) end: JointedEnd,
}

impl Course {
    pub(super) fn times(&self) -> Vec<f64> {
        self.frames.iter().map(|(time, _)| *time).collect()
    }

    /// Converts the recorded impacts to the form that an animation needs: time, contact points and impulses.
    pub(super) fn hits(&self) -> Vec<Hit> {
        let hit = |impact: &JointImpact| Hit {
            time: impact.time,
            states: Vec::new(),
            impulses: impact
                .touches
                .iter()
                .map(|t| (t.point, t.impulse))
                .collect(),
        };
        self.impacts.iter().map(hit).collect()
    }
}

/// Returns the mass properties of a body with the mass `mass` (kg) and the principal moments of inertia `moments` about its
/// axes (kg m²).
pub(super) fn mass(mass: f64, moments: Vector3<f64>) -> Result<MassProperties, ScenarioError> {
    let inertia = nalgebra::Matrix3::from_diagonal(&moments);
    MassProperties::new(mass, inertia).map_err(|source| {
        MotionError::Shape {
            body: String::new(),
            source,
        }
        .into()
    })
}

/// Returns the total angular momentum of all bodies about the origin (N m s).
pub(super) fn angular_momentum(states: &[State]) -> Vector3<f64> {
    let one = |s: &State| s.position.cross(&s.linear_momentum) + s.angular_momentum_w();
    states.iter().map(one).sum()
}
