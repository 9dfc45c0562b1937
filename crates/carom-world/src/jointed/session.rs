//! Sessions of jointed bodies.

use super::contact::{JointContact, LimitContact};
use super::course::{Course, Paused};
use super::run::Run;
use super::world::{JointedEnd, JointedEvent, JointedState, JointedWorld};
use crate::machine::{Drive, Machine, Progress, SessionOf};
use crate::session::{LastingPoint, SharedLaws};
use crate::{Input, MotionError, SessionError};
use carom_joints::coordinates::Actuator;
use carom_motion::hybrid::Limits;
use nalgebra::Vector3;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

/// Lasting contact of a session of jointed bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum JointedLasting {
    /// Joint coordinate at its limit.
    Limit(LimitContact),
    /// Point at which two bodies, or a body and a plane, touch.
    Point(LastingPoint),
}

/// Run of jointed bodies that goes on from call to call; see [`Session`](crate::Session).
///
/// # Examples
///
/// A block of 2 kg at 1 m/s on a slide with a dry friction of 4 N has slid $vt - ft^2/2m$ after half the way in time:
///
/// ```
/// # use carom_geometry::MassProperties;
/// # use carom_impact::frictional::Poisson;
/// # use carom_impact::two_body::ImpactOptions;
/// # use carom_joints::coordinates::CoordinateSpec;
/// # use carom_joints::kinds::Kind;
/// # use carom_joints::{JointSpec, MultibodySpec, Placed};
/// # use carom_motion::hybrid::Limits;
/// # use carom_variational::RigidBody;
/// # use carom_world::jointed::{JointedSpec, JointedWorld, TouchSpec};
/// # use carom_world::{FlightRule, SharedLaws};
/// # use nalgebra::{Matrix3, Vector3};
/// # let slide = JointSpec::new("slide", Kind::named("prismatic").expect("a type of joint"), None, 0)
/// #     .with_axes(vec![Vector3::x()])
/// #     .with_coordinates(vec![CoordinateSpec::default().with_velocity(1.0).with_friction(4.0)]);
/// # let body = RigidBody::new(&MassProperties::new(2.0, Matrix3::identity())?);
/// # let bodies = vec![("block".to_owned(), Some(body))];
/// # let multibody = MultibodySpec::new(bodies, vec![slide], Vector3::zeros(), false);
/// # let spec = JointedSpec::new(multibody, vec![Placed::default()], FlightRule::Lgvi, 1e-3, TouchSpec::default());
/// let world = JointedWorld::new(&spec)?;
/// let laws = SharedLaws::new(ImpactOptions::default(), |_, _| Box::new(Poisson::default()));
/// let mut session = world.session(laws, Limits::duration(1.0));
/// session.advance_to(0.25)?;
/// assert!((session.state()?.posture.q[0] - 0.1875).abs() < 1e-9);
/// session.advance_to(1.0)?;
/// assert!((session.finish()?.posture.q[0] - 0.25).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type JointedSession = SessionOf<Jointed>;

/// World of a session of jointed bodies with its laws and limits.
#[derive(Clone, Debug)]
pub struct Jointed {
    world: Arc<JointedWorld>,
    /// Forces that the caller holds, by body (N), and targets that he set, by joint coordinate (rad or m).
    held: BTreeMap<usize, Vector3<f64>>,
    targets: BTreeMap<usize, f64>,
    laws: SharedLaws,
    limits: Limits,
}

impl Jointed {
    /// Returns the actuator of a joint coordinate with another target; `None` if it has none.
    fn aimed(&self, coordinate: usize, value: f64) -> Option<Actuator> {
        let mut coordinates = self.world.multibody.coordinates();
        coordinates
            .nth(coordinate)?
            .actuator
            .as_ref()?
            .aimed_at(value)
    }

    /// Sets the target of the actuator of a joint coordinate. Returns false if it has none.
    fn aim(&mut self, coordinate: usize, value: f64) -> bool {
        let Some(aimed) = self.aimed(coordinate, value) else {
            return false;
        };
        Arc::make_mut(&mut self.world).set_actuator(coordinate, aimed);
        self.targets.insert(coordinate, value);
        true
    }
}

impl Machine for Jointed {
    type Event = JointedEvent;
    type State = JointedState;
    type End = JointedEnd;
    type Paused = Paused;

    fn set_laws(&mut self, laws: SharedLaws) {
        self.laws = laws;
    }

    fn hold_force(&mut self, body: usize, force: &Vector3<f64>) {
        Arc::make_mut(&mut self.world).hold_force(body, force);
        self.held.insert(body, *force);
    }

    fn n_bodies(&self) -> usize {
        self.world.multibody.n_bodies()
    }

    fn start(&self) -> (Paused, Vec<JointedEvent>) {
        let mut course = Course::start(&self.world, self.laws.laws(), self.limits.impacts);
        let events = std::mem::take(&mut course.run.events);
        (course.pause(), events)
    }

    fn time_step(&self) -> f64 {
        self.world.time_step
    }

    fn progress(paused: &Paused) -> Progress<'_> {
        (paused.time, paused.ended.as_ref())
    }

    fn world(&self) -> &dyn Debug {
        &self.world
    }

    #[cfg(feature = "serde")]
    fn save(&self, paused: &Paused) -> Vec<u8> {
        carom_numeric::bytes::encode(&(&self.held, &self.targets, paused.saved()))
    }

    #[cfg(feature = "serde")]
    fn load(&mut self, bytes: &[u8], memory: usize) -> Option<Paused> {
        type Held = BTreeMap<usize, Vector3<f64>>;
        let (held, targets, run): (Held, BTreeMap<usize, f64>, _) =
            carom_numeric::bytes::decode(bytes, memory).ok()?;
        for (body, force) in &held {
            if *body >= self.n_bodies() || !force.iter().all(|x| x.is_finite()) {
                return None;
            }
            self.hold_force(*body, force);
        }
        for (coordinate, value) in targets {
            if !value.is_finite() || !self.aim(coordinate, value) {
                return None;
            }
        }
        Paused::complete(run, &self.world, self.limits.impacts)
    }

    fn size(&self) -> usize {
        let mb = &self.world.multibody;
        mb.n_bodies() + mb.n_coordinates() + self.world.touch.n_planes()
    }

    fn has_event(&self, event: &JointedEvent) -> bool {
        let mb = &self.world.multibody;
        let things = mb.n_bodies() + self.world.touch.n_planes();
        let is_pair = |first: usize, second: usize| first < things && second < things;
        let is_limit = |limit: &LimitContact| limit.coordinate < mb.n_coordinates();
        let is_contact = |contact: &JointContact| match contact {
            JointContact::Limit(limit) => is_limit(limit),
            JointContact::Pair { first, second } => is_pair(*first, *second),
        };
        match event {
            JointedEvent::Impact(impact) => {
                impact.hits.iter().all(|hit| is_limit(&hit.contact))
                    && impact.touches.iter().all(|t| is_pair(t.first, t.second))
                    && impact.reactions.iter().all(|r| r.joint < mb.joints().len())
            }
            JointedEvent::Established { contact, .. }
            | JointedEvent::Mode { contact, .. }
            | JointedEvent::Released { contact, .. } => is_contact(contact),
            _ => false,
        }
    }

    fn has_state(&self, state: &JointedState) -> bool {
        let mb = &self.world.multibody;
        let n = mb.n_coordinates();
        let loads = state.loads.as_ref();
        let things = mb.n_bodies() + self.world.touch.n_planes();
        let mut contacts = state.contacts.iter();
        state.posture.states.len() == mb.n_bodies()
            && [&state.posture.q, &state.rates, &state.forces]
                .iter()
                .all(|list| list.len() == n)
            && state.posture.rotors.len() == n
            && contacts.all(|it| it.is_sound(|(a, b)| a.max(b) < things))
            && loads.is_none_or(|(loads, _)| loads.len() == mb.joints().len())
    }

    fn resume<R>(
        &self,
        paused: Paused,
        act: impl FnOnce(
            &mut dyn Drive<Event = JointedEvent, State = JointedState, End = JointedEnd>,
        ) -> R,
    ) -> Option<(Paused, R)> {
        let mut course = paused.resume(&self.world, self.laws.laws());
        let result = act(&mut course);
        Some((course.pause(), result))
    }
}

impl Drive for Course<Run<'_>> {
    type Event = JointedEvent;
    type State = JointedState;
    type End = JointedEnd;

    fn events(&mut self) -> &mut Vec<JointedEvent> {
        &mut self.run.events
    }

    fn advance(&mut self, until: f64, one: bool) {
        Course::advance(self, until, one);
    }

    fn hold(&mut self, body: usize, begins: bool) -> Result<(), SessionError> {
        let went = self.run.apply_held(body, begins, self.time);
        self.note_input(went)
    }

    fn input(&mut self, input: &Input) -> Result<(), SessionError> {
        Course::input(self, input)
    }

    fn show(&mut self) -> Result<JointedState, MotionError> {
        self.run.show(self.time)
    }

    fn end(&self) -> (JointedEnd, Vec<JointedEvent>) {
        let mut copy = self.clone();
        let end = copy.finish();
        (end, copy.run.events)
    }
}

impl JointedWorld {
    /// Starts a session of a copy of this world, which ends at the number of impacts of `limits`. It has handled the contacts at
    /// the start; their events belong to its first call.
    pub fn session(&self, laws: SharedLaws, limits: Limits) -> JointedSession {
        JointedSession::new(Arc::new(self.clone()), laws, limits)
    }
}

impl JointedSession {
    /// Starts a session of a world that others use, too.
    pub fn new(world: Arc<JointedWorld>, laws: SharedLaws, limits: Limits) -> Self {
        Self::of(Jointed {
            world,
            held: BTreeMap::new(),
            targets: BTreeMap::new(),
            laws,
            limits,
        })
    }

    /// Returns the world of the session.
    pub fn world(&self) -> &JointedWorld {
        &self.machine.world
    }

    /// Sets the target of the `pd` actuator of a joint coordinate (rad or m), which then stays, instead of its table.
    ///
    /// # Errors
    ///
    /// [`SessionError::UnknownCoordinate`], [`SessionError::NoTarget`], and the errors of [`input`](Self::input).
    pub fn set_target(&mut self, coordinate: usize, value: f64) -> Result<(), SessionError> {
        let mb = &self.machine.world.multibody;
        let n_coordinates = mb.n_coordinates();
        if coordinate >= n_coordinates {
            return Err(SessionError::UnknownCoordinate {
                coordinate,
                n_coordinates,
            });
        }
        if !value.is_finite() {
            return Err(SessionError::NonFiniteInput { value });
        }
        if self.machine.aimed(coordinate, value).is_none() {
            return Err(SessionError::NoTarget { coordinate });
        }
        self.input(&Input::Cut)?;
        Arc::make_mut(&mut self.machine).aim(coordinate, value);
        Ok(())
    }

    /// Returns the lasting contacts at the present time: limits of joint coordinates, then points of bodies that touch.
    ///
    /// # Errors
    ///
    /// [`SessionError::Motion`] if a state cannot be computed.
    pub fn contacts(&mut self) -> Result<Vec<JointedLasting>, SessionError> {
        let states = self.state()?.posture.states;
        let run = &self.paused.as_ref().ok_or(SessionError::Finished)?.run;
        let world = self.world();
        let specs = world.multibody.coordinates().enumerate();
        let limits = specs.filter_map(|(k, spec)| LimitContact::of(k, spec, run.modes.held[k]));
        let mut out: Vec<_> = limits.map(JointedLasting::Limit).collect();
        for (index, lasting) in run.lasting.iter().filter(|(_, lasting)| lasting.reported) {
            let pair = &world.touch.pairs[*index];
            let within = pair.tolerance + world.touch.gap(pair, &states).max(0.0);
            let mut found = Vec::new();
            world.touch.points(pair, &states, within, &mut found);
            let slides = lasting.slides == Some(true);
            let point = |p| LastingPoint::new([pair.first, pair.second], p, slides);
            out.extend(found.iter().map(point).map(JointedLasting::Point));
        }
        Ok(out)
    }
}
