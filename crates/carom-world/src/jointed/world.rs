//! Specification and assembly of jointed bodies, samples and results of a run.

use super::contact::{JointContact, JointImpact};
use super::touch::{Touch, TouchSpec};
use crate::{ContactForce, FlightRule, HandedOver, MotionError, Scheme, Stepping, limits};
use carom_joints::coordinates::{Actuator, CoordinateSpec};
use carom_joints::step::{Load, SUZUKI_4, Stepper, Works, YOSHIDA_6};
use carom_joints::{Assembly, JointError, Multibody, MultibodySpec, Placed, Posture};
use carom_motion::hybrid::{self, Ending};
use carom_variational::load::Loads;
use nalgebra::Vector3;

/// Specification of a simulation of jointed bodies: bodies and joints, initial state, time step, and contact.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct JointedSpec {
    /// Bodies, joints and gravity.
    pub multibody: MultibodySpec,
    /// Initial configuration and velocity of each body.
    pub placed: Vec<Placed>,
    /// Integration scheme: `Exact` and `Lgvi` of order 2; `Lgvi4` and `Lgvi6` of orders 4 and 6 if the system has no dissipation,
    /// else of order 2.
    pub flight: FlightRule,
    /// Time step of the grid (s).
    pub time_step: f64,
    /// Shapes, planes and the pairs that may touch.
    pub touch: TouchSpec,
}

impl JointedSpec {
    /// Specifies a simulation: bodies, joints and gravity, the initial configuration and velocity of each body, the integration
    /// scheme, the time step of the grid (s), and what may touch.
    pub fn new(
        multibody: MultibodySpec,
        placed: Vec<Placed>,
        flight: FlightRule,
        time_step: f64,
        touch: TouchSpec,
    ) -> Self {
        Self {
            multibody,
            placed,
            flight,
            time_step,
            touch,
        }
    }
}

/// A simulation of jointed bodies that is ready to run: its specification has been checked, and the joint conditions are
/// satisfied in the initial state.
///
/// # Examples
///
/// A block of 2 kg at 1 m/s on a slide with a dry friction of 4 N stops after $mv^2/2f$:
///
/// ```
/// # use carom_geometry::MassProperties;
/// # use carom_impact::frictional::Poisson;
/// # use carom_impact::two_body::ImpactOptions;
/// # use carom_joints::coordinates::CoordinateSpec;
/// # use carom_joints::frames::Frame;
/// # use carom_joints::kinds::Kind;
/// # use carom_joints::{JointSpec, MultibodySpec, Placed};
/// # use carom_variational::RigidBody;
/// # use nalgebra::{Matrix3, Vector3};
/// use carom_motion::hybrid::Limits;
/// use carom_world::jointed::{JointedSpec, JointedWorld, TouchSpec};
/// use carom_world::{FlightRule, Laws, SingleLaw};
/// let slide = JointSpec::new("slide", Kind::named("prismatic").expect("a type of joint"), None, 0)
///     .with_axes(vec![Vector3::x()])
///     .with_coordinates(vec![CoordinateSpec::default().with_velocity(1.0).with_friction(4.0)]);
/// let body = RigidBody::new(&MassProperties::new(2.0, Matrix3::identity())?);
/// let bodies = vec![("block".to_owned(), Some(body))];
/// let placed = Placed::default();
/// let multibody = MultibodySpec::new(bodies, vec![slide], Vector3::zeros(), false);
/// let nothing = TouchSpec::default();
/// let spec = JointedSpec::new(multibody, vec![placed], FlightRule::Lgvi, 1e-3, nothing);
/// let world = JointedWorld::new(&spec)?;
/// let laws = Laws::new(SingleLaw::TwoBody(ImpactOptions::default()), &|_, _| Box::new(Poisson::default()));
/// let end = world.run(&laws, &Limits::duration(1.0), &[], None, &mut |_| ());
/// assert!((end.posture.q[0] - 0.25).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct JointedWorld {
    pub(super) multibody: Multibody,
    pub(super) start: Posture,
    assembly: Assembly,
    pub(super) fractions: &'static [f64],
    pub(super) time_step: f64,
    pub(super) rows: Vec<usize>,
    ranks: (usize, usize),
    pub(super) corners: Vec<f64>,
    pub(super) touch: Touch,
    overlapping: Vec<[usize; 2]>,
    /// Scheme and options of steps without events; `None` for events alone.
    pub(super) steps: Option<(Scheme, Stepping)>,
}

/// State of the jointed bodies at one of the sample times that the caller of a run requested.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct JointSample<'e> {
    /// Time of the sample (s).
    pub time: f64,
    /// States of the bodies, values of the joint coordinates, and rotors of motors.
    pub posture: &'e Posture,
    /// Rates of the joint coordinates (rad/s or m/s).
    pub rates: &'e [f64],
    /// Total force of spring, damper, friction, actuator and control along each joint coordinate (N or N m).
    pub forces: &'e [f64],
    /// Impulses that each joint applied in the step that ends at the sample time, and the length of this step (s); `None` at the
    /// start.
    pub loads: Option<(&'e [Load], f64)>,
    /// Forces of the contacts of bodies in this step.
    pub contacts: &'e [ContactForce],
}

impl<'e> JointSample<'e> {
    /// Creates the sample of a state.
    pub fn of(state: &'e JointedState) -> Self {
        let loads = state.loads.as_ref();
        Self {
            time: state.time,
            posture: &state.posture,
            rates: &state.rates,
            forces: &state.forces,
            loads: loads.map(|(loads, length)| (loads.as_slice(), *length)),
            contacts: &state.contacts,
        }
    }
}

/// State of the jointed bodies of a session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JointedState {
    /// Time (s).
    pub time: f64,
    /// States of the bodies, values of the joint coordinates, and rotors of motors.
    pub posture: Posture,
    /// Rates of the joint coordinates (rad/s or m/s).
    pub rates: Vec<f64>,
    /// Total force of spring, damper, friction, actuator and control along each joint coordinate (N or N m).
    pub forces: Vec<f64>,
    /// Impulses that each joint applied in the step that ends at this time, and the length of this step (s); `None` at the start.
    pub loads: Option<(Vec<Load>, f64)>,
    /// Forces of the contacts of bodies in this step.
    pub contacts: Vec<ContactForce>,
}

/// Event that a run of jointed bodies reports: sample, impact, or change of a lasting contact. Lasting contacts are joint
/// coordinates that press on a limit, and pairs of bodies that touch.
pub type JointEvent<'e> = hybrid::Event<'e, JointSample<'e>, JointImpact, JointContact>;

/// Event of a session of jointed bodies: impact, or change of a lasting contact. It owns all its data.
pub type JointedEvent = hybrid::OwnedEvent<JointImpact, JointContact>;

/// Result of a run of jointed bodies: state at the end, reason of the end, counts, and energy balance.
#[must_use = "the reason for the end may be an error"]
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct JointedEnd {
    /// Reason for the end of the run.
    pub ending: Ending<MotionError>,
    /// Time at which the run ended (s).
    pub time: f64,
    /// States of the bodies, values of the joint coordinates, and rotors of motors, at the end.
    pub posture: Posture,
    /// Rates of the joint coordinates at the end (rad/s or m/s).
    pub rates: Vec<f64>,
    /// Total force of spring, damper, friction, actuator and control along each joint coordinate at the end (N or N m).
    pub forces: Vec<f64>,
    /// Impulses that each joint applied in the last step, and the length of this step (s); `None` if there was no step.
    pub loads: Option<(Vec<Load>, f64)>,
    /// Forces of the contacts of bodies in this step.
    pub contacts: Vec<ContactForce>,
    /// Switch to steps without events; `None` if there was none.
    pub handed_over: Option<HandedOver>,
    /// Number of impacts of the run.
    pub n_impacts: usize,
    /// Number of accepted steps.
    pub n_steps: usize,
    /// Work of actuators, and energy lost in dampers, dry friction and lasting contacts (J).
    pub works: Works,
    /// Energy lost in impacts (J).
    pub impact_loss: f64,
    /// Energy that inputs of a session added (J): impulses with the answer of joints and lasting contacts, and states that were set.
    pub input: f64,
    /// Work of the forces on bodies, but drag, and of those that a session held (J).
    pub applied_work: f64,
    /// Momentum that inputs of a session added, forces included (N s).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub input_impulse: Vector3<f64>,
    /// Largest violation of the energy balance (J): energy plus losses minus the work of actuators, compared with the energy at
    /// the start.
    pub energy_error: f64,
    /// Total impulse (N s) that the ground (first entry), then each body in order (zero for mobile ones), then each plane applied
    /// to the other bodies.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub supports: Vec<Vector3<f64>>,
    /// Smallest gap at impacts and at the ends of steps (m); infinite if nothing can touch.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub lowest_gap: f64,
    /// Largest residual of a joint condition during the run, as a length (m).
    pub residual: f64,
    /// Number of steps in which coordinates were held by more than their dry friction, because no set of sticking and sliding
    /// coordinates was found.
    pub friction_exceeded: usize,
}

/// Control function that the caller gives to a run of jointed bodies. The arguments are the time (s), the joint coordinates
/// and their rates; the result is the force along each coordinate (N or N m).
pub type Control<'c> = dyn FnMut(f64, &[f64], &[f64]) -> Vec<f64> + 'c;

impl JointedWorld {
    /// Creates a simulation of jointed bodies: checks the specification, and corrects the initial state until the joint
    /// conditions are satisfied.
    ///
    /// # Errors
    ///
    /// [`MotionError::InvalidValue`], [`MotionError::DuplicateName`], [`MotionError::InvalidPair`], [`MotionError::Joint`],
    /// [`MotionError::Shape`], [`MotionError::CoarseCoordinates`], and [`MotionError::InitialPenetration`].
    pub fn new(spec: &JointedSpec) -> Result<Self, MotionError> {
        limits::check_step(spec.time_step, &spec.multibody.gravity)?;
        let (bodies, planes) = (&spec.multibody.bodies, &spec.touch.planes);
        limits::check_pairs(&spec.touch.pairs, bodies.len() + planes.len())?;
        let planes = planes.iter().map(|plane| plane.name.as_str());
        let things = bodies.iter().map(|(name, _)| name.as_str()).chain(planes);
        limits::check_names(limits::THINGS, things)?;
        let joints = spec.multibody.joints.iter();
        limits::check_names("joints", joints.map(|joint| joint.name.as_str()))?;
        for ((name, _), placed) in bodies.iter().zip(&spec.placed) {
            let place = placed.configuration.map(|place| place.translation);
            let place = &place.unwrap_or_default();
            limits::check_start(name, [place, &placed.velocity, &placed.angular_velocity])?;
        }
        for ((name, _), loads) in bodies.iter().zip(&spec.multibody.loads) {
            limits::check_loads(name, loads)?;
        }
        let mut multibody = Multibody::new(&spec.multibody).map_err(MotionError::Joint)?;
        let (start, assembly) = multibody
            .assemble(&spec.placed)
            .map_err(MotionError::Joint)?;
        multibody.admit(&start.q);
        let moves: Vec<bool> = bodies.iter().map(|(_, rigid)| rigid.is_some()).collect();
        for spring in &spec.multibody.springs {
            let moves = |body: usize| moves.get(body).is_some_and(|moves| *moves);
            limits::check_spring(spring, bodies.len(), moves)?;
        }
        multibody.take_springs(&start.states);
        let states = start.states.as_slice();
        multibody
            .check_way([states, states], 0.0)
            .map_err(MotionError::Joint)?;
        let mut rows = Vec::new();
        for (j, joint) in multibody.joints().iter().enumerate() {
            let (_, first) = multibody.rows_of(j);
            rows.extend(first..first + joint.coordinates.len());
        }
        let loses = |c: &CoordinateSpec| {
            let gains = c.actuator.as_ref().is_some_and(Actuator::dissipates);
            c.damping > 0.0 || c.friction > 0.0 || gains
        };
        let dissipates = multibody.coordinates().any(loses)
            || multibody
                .joints()
                .iter()
                .any(|joint| joint.ball.damping > 0.0)
            || multibody
                .loaded()
                .any(|body| { multibody.loads(body) }.is_some_and(Loads::uses_velocity))
            || multibody
                .springs()
                .iter()
                .any(|spring| spring.damping > 0.0);
        let fractions: &'static [f64] = match spec.flight {
            FlightRule::Lgvi4 if !dissipates => &SUZUKI_4,
            FlightRule::Lgvi6 if !dissipates => &YOSHIDA_6,
            _ => &[1.0],
        };
        let corners = corners(&multibody);
        let mut stepper = Stepper::new(&multibody);
        if let Some((fastest, k)) = stepper.fastest(&start).map_err(MotionError::Joint)?
            && spec.time_step * fastest >= 2.0
        {
            let joint = multibody.joint_of_row(rows[k]);
            return Err(MotionError::Joint(JointError::StepTooLarge {
                joint: multibody.joints()[joint].name.clone(),
                step: spec.time_step,
                time: 0.0,
                reason: format!("its spring needs a step below {} s", 2.0 / fastest),
            }));
        }
        let ranks = stepper
            .condition_ranks(&start)
            .map_err(MotionError::Joint)?;
        let exact = spec.multibody.exact;
        let mut touch = Touch::new(&spec.touch, &multibody, spec.time_step, exact)?;
        for body in 0..bodies.len() {
            touch.set_push(body, multibody.push(body));
        }
        touch.check_places(&multibody, &start.states, 0.0)?;
        let overlapping = touch.part_at_start(&start.states, &spec.touch.may_overlap)?;
        Ok(Self {
            multibody,
            start,
            assembly,
            fractions,
            time_step: spec.time_step,
            rows,
            ranks,
            corners,
            touch,
            overlapping,
            steps: None,
        })
    }

    /// Lets runs step in time without a search for events: from the start, or, with [`Scheme::Events`], from where events find no
    /// forces or no time between them. Contacts and limits of a step are then closed together and rebound by the law `poisson`, at
    /// most one step early and never late.
    #[must_use]
    pub fn with_steps(self, scheme: Scheme, stepping: Stepping) -> Self {
        Self {
            steps: Some((scheme, stepping)),
            ..self
        }
    }

    /// Returns the options of steps without events.
    pub(super) fn stepping(&self) -> Stepping {
        self.steps
            .map_or_else(Stepping::default, |(_, stepping)| stepping)
    }

    /// Returns the scheme in which runs begin.
    pub fn scheme(&self) -> Scheme {
        self.steps.map_or(Scheme::Events, |(scheme, _)| scheme)
    }

    /// Returns the scheme that suits this world: time stepping if more than twelve bodies hang on no joint and some pair can lose
    /// energy, otherwise events.
    pub fn suitable_scheme(&self) -> Scheme {
        if self.touch.is_heap() {
            Scheme::TimeStepping
        } else {
            Scheme::Events
        }
    }

    /// Returns the pairs of bodies (or body and plane) that overlap at the start, as [`TouchSpec::may_overlap`] allows.
    /// Contact between them is ignored in the whole motion. Indices count the bodies, then the planes.
    pub fn overlapping(&self) -> &[[usize; 2]] {
        &self.overlapping
    }

    /// Returns the multibody system of this simulation: its bodies and joints.
    pub fn multibody(&self) -> &Multibody {
        &self.multibody
    }

    /// Returns the initial state (bodies, joint coordinates, rotors of motors), in which the joint conditions are satisfied.
    pub fn start(&self) -> &Posture {
        &self.start
    }

    /// Returns by how much the specified initial state was corrected to satisfy the joint conditions: largest shift of a
    /// body, and largest residual of a joint.
    pub fn assembly(&self) -> &Assembly {
        &self.assembly
    }

    /// Returns the number of joint conditions of the system, and the number of linearly independent ones among them, in the
    /// initial state.
    pub fn ranks(&self) -> (usize, usize) {
        self.ranks
    }

    /// Returns the time step of the grid (s).
    pub(super) fn time_step(&self) -> f64 {
        self.time_step
    }

    /// Returns all shapes and planes that can touch, with the list of their pairs.
    pub(super) fn touch(&self) -> &Touch {
        &self.touch
    }

    /// Returns the name of the body or plane with an index; indices count the bodies in their order, then the planes.
    pub fn thing_name(&self, thing: usize) -> &str {
        if thing < self.multibody.n_bodies() {
            self.multibody.body_name(thing)
        } else {
            self.touch.name(thing)
        }
    }

    /// Returns the index of the joint row whose product with the velocities is the rate of a joint coordinate.
    pub(super) fn row_of(&self, coordinate: usize) -> usize {
        self.rows[coordinate]
    }

    /// Sets the force that a caller holds on a mobile body (N).
    pub(super) fn hold_force(&mut self, body: usize, force: &Vector3<f64>) {
        let push = self.multibody.hold_force(body, force);
        self.touch.set_push(body, push);
    }

    /// Replaces the actuator of a joint coordinate.
    pub(super) fn set_actuator(&mut self, coordinate: usize, actuator: Actuator) {
        self.multibody.set_actuator(coordinate, actuator);
        self.corners = corners(&self.multibody);
    }

    /// Returns the rates of the joint coordinates of a posture.
    pub(super) fn rates_of(&self, posture: &Posture) -> Vec<f64> {
        let (mut rows, mut velocities, mut rates) = (Vec::new(), Vec::new(), Vec::new());
        self.multibody.rows(&posture.states, &posture.q, &mut rows);
        self.multibody.velocities(&posture.states, &mut velocities);
        self.multibody
            .coordinate_rates(&rows, &velocities, &mut rates);
        rates
    }
}

/// Returns the times at which the forces of actuators have breakpoints (s), ascending.
fn corners(multibody: &Multibody) -> Vec<f64> {
    let mut corners: Vec<f64> = multibody
        .coordinates()
        .filter_map(|c| c.actuator.as_ref())
        .flat_map(|actuator| actuator.corners().to_vec())
        .filter(|time| *time > 0.0)
        .collect();
    corners.sort_by(f64::total_cmp);
    corners.dedup();
    corners
}
