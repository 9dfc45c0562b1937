//! Sessions of worlds: laws, options, states.

use crate::course::{Course, Paused, Setting};
use crate::events::{Balance, RunEnd, WorldEvent};
use crate::machine::{Drive, Machine, Progress, SessionOf};
use crate::pair::{self, ContactPoint, PairMemory};
use crate::spec::{Laws, OnZeno, SingleLaw, World};
use crate::stepping::{Executor, Serial, Stepping};
use crate::{ContactForce, Input, MotionError, SessionError};
use carom_contact::{ImpactLaw, ImpactProblem};
use carom_impact::two_body::ImpactOptions;
use carom_motion::hybrid::Limits;
use carom_variational::State;
use nalgebra::Vector3;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Function that creates the impact law for impacts at several contact points, from the number of the impact.
type SharedLaw = dyn Fn(usize, &ImpactProblem) -> Box<dyn ImpactLaw> + Send + Sync;

/// Impact law for a single contact point that a session owns.
#[derive(Clone, Debug)]
enum SharedSingle {
    TwoBody(ImpactOptions),
    Any(Arc<dyn ImpactLaw>),
}

/// Impact laws that a session owns: those of [`Laws`], shared between copies of the session.
#[derive(Clone)]
pub struct SharedLaws {
    single: SharedSingle,
    several: Arc<SharedLaw>,
    on_zeno: OnZeno,
}

impl SharedLaws {
    /// Creates the laws of a session: the frictional impact of two bodies at a single contact point, and the law that the function
    /// `several` creates at several. Where impacts accumulate, the motion continues in lasting contact.
    pub fn new(
        options: ImpactOptions,
        several: impl Fn(usize, &ImpactProblem) -> Box<dyn ImpactLaw> + Send + Sync + 'static,
    ) -> Self {
        Self {
            single: SharedSingle::TwoBody(options),
            several: Arc::new(several),
            on_zeno: OnZeno::Rest,
        }
    }

    /// Sets the law for impacts at a single contact point.
    #[must_use]
    pub fn with_single(self, law: Arc<dyn ImpactLaw>) -> Self {
        let single = SharedSingle::Any(law);
        Self { single, ..self }
    }

    /// Sets the treatment of accumulating impacts (Zeno points).
    #[must_use]
    pub fn with_on_zeno(self, on_zeno: OnZeno) -> Self {
        Self { on_zeno, ..self }
    }

    /// Returns the laws as a run takes them.
    pub fn laws(&self) -> Laws<'_> {
        let single = match &self.single {
            SharedSingle::TwoBody(options) => SingleLaw::TwoBody(*options),
            SharedSingle::Any(law) => SingleLaw::Any(law.as_ref()),
        };
        Laws::new(single, &*self.several).with_on_zeno(self.on_zeno)
    }
}

impl fmt::Debug for SharedLaws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("SharedLaws");
        out.field("single", &self.single)
            .field("on_zeno", &self.on_zeno)
            .finish_non_exhaustive()
    }
}

/// Executor of time stepping that copies of a session share.
type SharedExecutor = Arc<dyn Executor + Send + Sync>;

/// Integration of a session: event-driven by impact laws, by time stepping, or one after the other.
#[derive(Clone)]
#[non_exhaustive]
pub struct SessionOptions {
    laws: Option<SharedLaws>,
    stepping: Option<(Stepping, SharedExecutor)>,
    limits: Limits,
}

impl SessionOptions {
    /// Integrates from event to event, by these impact laws.
    pub fn events(laws: SharedLaws) -> Self {
        Self {
            laws: Some(laws),
            stepping: None,
            limits: Limits::duration(f64::INFINITY),
        }
    }

    /// Integrates by time stepping.
    pub fn steps(stepping: Stepping) -> Self {
        Self {
            laws: None,
            stepping: Some((stepping, Arc::new(Serial))),
            limits: Limits::duration(f64::INFINITY),
        }
    }

    /// Switches to time stepping where event-driven integration would stop, as [`World::run_or_step`] does.
    #[must_use]
    pub fn with_stepping(mut self, stepping: Stepping) -> Self {
        let executor = self.stepping.map(|(_, executor)| executor);
        self.stepping = Some((stepping, executor.unwrap_or_else(|| Arc::new(Serial))));
        self
    }

    /// Sets the executor of time stepping.
    #[must_use]
    pub fn with_executor(mut self, executor: Arc<dyn Executor + Send + Sync>) -> Self {
        self.stepping = self.stepping.map(|(stepping, _)| (stepping, executor));
        self
    }

    /// Sets the number of impacts at which the session ends. The duration is no end: a body that nothing stops from rotating
    /// farther than can be followed within it is given up at once.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}

impl fmt::Debug for SessionOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stepping = self.stepping.as_ref().map(|(stepping, _)| stepping);
        f.debug_struct("SessionOptions")
            .field("laws", &self.laws)
            .field("stepping", &stepping)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// State of all bodies of a session.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct WorldState {
    /// Time (s).
    pub time: f64,
    /// State of each body.
    pub states: Vec<State>,
    /// Forces of the contacts over the steps that end there.
    pub contacts: Vec<ContactForce>,
}

/// Point of a lasting contact of a session.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LastingPoint {
    /// Index of a mobile body; of two mobile bodies, the smaller index.
    pub first: usize,
    /// Index of the other body or plane; bodies are counted first.
    pub second: usize,
    /// Position of the point in space (m).
    pub point: Vector3<f64>,
    /// Unit normal in space, from the second body or plane into the first body.
    pub normal: Vector3<f64>,
    /// Gap at the point, negative for an overlap (m).
    pub gap: f64,
    /// True if the contact slides.
    pub slides: bool,
}

impl LastingPoint {
    /// Creates the point of a pair from its place.
    pub(crate) fn new([first, second]: [usize; 2], place: &ContactPoint, slides: bool) -> Self {
        Self {
            first,
            second,
            point: place.point,
            normal: place.normal,
            gap: place.gap,
            slides,
        }
    }
}

/// Energy of a session, from its start up to now.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Energy {
    /// Energy of all bodies at the start (J).
    pub initial: f64,
    /// Energy of all bodies now (J).
    pub now: f64,
    /// Losses and errors up to now.
    pub balance: Balance,
}

/// World of a session with its laws and options.
#[derive(Clone, Debug)]
pub struct Free {
    world: Arc<World>,
    /// Forces that the caller holds, by body (N).
    held: BTreeMap<usize, Vector3<f64>>,
    options: SessionOptions,
}

impl Free {
    /// Calls `act` with the world and its laws.
    fn with<R>(&self, act: impl FnOnce(Setting<'_>) -> R) -> R {
        let SessionOptions {
            laws,
            stepping,
            limits,
        } = &self.options;
        let laws = laws.as_ref().map(SharedLaws::laws);
        let steps = stepping.as_ref();
        act(Setting {
            world: &self.world,
            laws: laws.as_ref(),
            steps: steps.map(|(stepping, executor)| (stepping, &**executor as &dyn Executor)),
            limits,
        })
    }
}

impl Machine for Free {
    type Event = WorldEvent;
    type State = WorldState;
    type End = RunEnd;
    type Paused = Paused;

    fn set_laws(&mut self, laws: SharedLaws) {
        self.options.laws = self.options.laws.as_ref().map(|_| laws);
    }

    fn hold_force(&mut self, body: usize, force: &Vector3<f64>) {
        Arc::make_mut(&mut self.world).hold_force(body, force);
        self.held.insert(body, *force);
    }

    fn n_bodies(&self) -> usize {
        self.world.n_bodies()
    }

    fn start(&self) -> (Paused, Vec<WorldEvent>) {
        self.with(|setting| {
            let mut course = Course::start(setting);
            let events = std::mem::take(course.events());
            (course.pause(), events)
        })
    }

    fn time_step(&self) -> f64 {
        self.world.time_step
    }

    fn progress(paused: &Paused) -> Progress<'_> {
        let progress = paused.progress();
        (progress.time, progress.ended.as_ref())
    }

    fn world(&self) -> &dyn fmt::Debug {
        &self.world
    }

    #[cfg(feature = "serde")]
    fn save(&self, paused: &Paused) -> Vec<u8> {
        crate::saved::before(&self.held, &paused.save())
    }

    #[cfg(feature = "serde")]
    fn load(&mut self, bytes: &[u8], memory: usize) -> Option<Paused> {
        type Held = BTreeMap<usize, Vector3<f64>>;
        let (held, run) = crate::saved::split::<Held>(bytes, memory).ok()?;
        for (body, force) in &held {
            if *body >= self.n_bodies() || !force.iter().all(|x| x.is_finite()) {
                return None;
            }
            self.hold_force(*body, force);
        }
        self.with(|setting| Paused::load(&setting, run, memory))
    }

    fn size(&self) -> usize {
        self.world.n_things()
    }

    fn has_event(&self, event: &WorldEvent) -> bool {
        let is_there = |(first, second): (usize, usize)| {
            first < self.world.n_things() && second < self.world.n_things()
        };
        match event {
            WorldEvent::Impact(impact) => {
                let mut pairs = impact.contacts.iter().map(|c| (c.first, c.second));
                let mut bodies = impact.states.iter();
                pairs.all(is_there) && bodies.all(|(body, _)| *body < self.n_bodies())
            }
            WorldEvent::Established { contact, .. }
            | WorldEvent::Mode { contact, .. }
            | WorldEvent::Released { contact, .. } => is_there(*contact),
            _ => false,
        }
    }

    fn has_state(&self, state: &WorldState) -> bool {
        let is_pair = |(first, second): (usize, usize)| first.max(second) < self.size();
        state.states.len() == self.n_bodies()
            && state.contacts.iter().all(|it| it.is_sound(is_pair))
    }

    fn resume<R>(
        &self,
        paused: Paused,
        act: impl FnOnce(&mut dyn Drive<Event = WorldEvent, State = WorldState, End = RunEnd>) -> R,
    ) -> Option<(Paused, R)> {
        self.with(|setting| {
            let mut course = Course::resume(setting, paused)?;
            let result = act(&mut course);
            Some((course.pause(), result))
        })
    }
}

impl Drive for Course<'_> {
    type Event = WorldEvent;
    type State = WorldState;
    type End = RunEnd;

    fn events(&mut self) -> &mut Vec<WorldEvent> {
        Course::events(self)
    }

    fn advance(&mut self, until: f64, one: bool) {
        Course::advance(self, until, one);
    }

    fn hold(&mut self, body: usize, begins: bool) -> Result<(), SessionError> {
        Course::hold(self, body, begins)
    }

    fn input(&mut self, input: &Input) -> Result<(), SessionError> {
        Course::input(self, input)
    }

    fn show(&mut self) -> Result<WorldState, MotionError> {
        let time = self.progress.time;
        let (states, contacts) = match self.progress.ended {
            Some(_) => {
                let end = self.clone().finish();
                (end.states, end.contacts)
            }
            None => Course::show(self, time)?,
        };
        Ok(WorldState {
            time,
            states,
            contacts,
        })
    }

    fn end(&self) -> (RunEnd, Vec<WorldEvent>) {
        let mut copy = self.clone();
        let end = copy.finish();
        let events = std::mem::take(Course::events(&mut copy));
        (end, events)
    }
}

/// Run of a world that goes on from call to call.
///
/// # Examples
///
/// A ball is dropped; the session stops at its first impact, and goes on:
///
/// ```
/// # use carom_geometry::{Ellipsoid, HalfSpace, Shape};
/// # use carom_impact::frictional::Poisson;
/// # use carom_impact::two_body::ImpactOptions;
/// # use carom_lie::{Se3, So3};
/// # use carom_world::{BodySpec, PlaneSpec, Surface, World, WorldSpec};
/// # use nalgebra::Vector3;
/// use carom_world::{SessionOptions, SharedLaws};
/// # let shape = Shape::Ellipsoid(Ellipsoid::sphere(0.1, Vector3::zeros())?);
/// # let place = Se3::new(So3::identity(), Vector3::new(0.0, 0.0, 1.35));
/// # let ball = BodySpec::new("ball", Some(shape.mass_properties(1.0)?), shape, place);
/// # let floor = PlaneSpec::new("floor", HalfSpace::new(Vector3::z(), 0.0)?);
/// # let gravity = Vector3::new(0.0, 0.0, -10.0);
/// # let world = World::new(&WorldSpec::new(vec![ball], vec![floor], gravity, 1e-3, Surface::new(0.0, 1.0)))?;
/// let laws = SharedLaws::new(ImpactOptions::default(), |_, _| Box::new(Poisson::default()));
/// let mut session = world.start(SessionOptions::events(laws));
/// let first = session.next_event(2.0)?.ok_or("an impact")?.name();
/// assert_eq!(first, "impact");
/// assert!((session.time() - 0.5).abs() <= 1e-15);
/// let mut copy = session.clone();
/// session.advance_to(1.0)?;
/// assert!((session.state()?.states[0].position.z - 1.35).abs() < 1e-12);
/// copy.advance_to(0.7)?;
/// copy.advance_to(1.0)?;
/// assert_eq!(copy.state()?, session.state()?);
/// assert_eq!(session.finish()?.n_impacts, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Session = SessionOf<Free>;

impl World {
    /// Starts a session of a copy of this world. It has handled the contacts at the start; their events belong to its first call.
    pub fn start(&self, options: SessionOptions) -> Session {
        Session::new(Arc::new(self.clone()), options)
    }
}

impl Session {
    /// Starts a session of a world that others use, too.
    pub fn new(world: Arc<World>, options: SessionOptions) -> Self {
        Self::of(Free {
            world,
            held: BTreeMap::new(),
            options,
        })
    }

    /// Returns the world of the session.
    pub fn world(&self) -> &World {
        &self.machine.world
    }

    /// Returns the energy of all bodies, with losses and errors up to the present time.
    ///
    /// # Errors
    ///
    /// [`SessionError::Finished`] after a panic of a call.
    pub fn energy(&mut self) -> Result<Energy, SessionError> {
        let end = self.so_far()?;
        let world = self.world();
        let sum = |states: &[State]| -> f64 {
            let all = states.iter().enumerate();
            let bodies: f64 = all.map(|(body, state)| world.energy(body, state)).sum();
            bodies + world.spring_energy(states)
        };
        Ok(Energy {
            initial: sum(world.initial_states()),
            now: sum(&end.states),
            balance: end.balance,
        })
    }

    /// Returns the points of the lasting contacts at the present time.
    ///
    /// # Errors
    ///
    /// [`SessionError::Motion`] if a state cannot be computed.
    pub fn contacts(&mut self) -> Result<Vec<LastingPoint>, SessionError> {
        let states = self.state()?.states;
        let pairs = self.paused.as_ref().map(Paused::contacts);
        let world = self.world();
        let mut out = Vec::new();
        for ((first, second), slides) in pairs.unwrap_or_default() {
            let (body, other) = (&world.bodies[first], world.thing(second));
            let here = &states[first];
            let there = states.get(second).unwrap_or(world.initial_of(second));
            let mut found = Vec::new();
            let memory = &mut PairMemory::new();
            let gap = pair::gap(body, here, &other, there, memory).value;
            let within = world.tolerance(first, second) + gap.max(0.0);
            pair::contact_points(body, here, &other, there, memory, within, &mut found);
            let point = |p| LastingPoint::new([first, second], p, slides);
            out.extend(found.iter().map(point));
        }
        Ok(out)
    }
}
