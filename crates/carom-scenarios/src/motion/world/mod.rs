//! `carom run world`: user-defined rigid bodies, planes and impact laws.

mod body;
mod choice;
mod config;
mod contact;
mod contents;
mod entries;
mod fill;
mod forces;
mod forces_table;
mod inputs;
mod joints;
mod loads;
mod output;
mod report;
mod saved;
mod scheme;
mod session;
mod setup;
mod several;
mod springs;
mod things;
mod threads;
mod told;
mod urdf;
mod whole;

pub use contents::Contents;
pub use joints::Robot;
pub use session::Session;
pub use things::{SessionBody, SessionCoordinate};
pub use urdf::{LeftOut, sort_left_out};
pub use whole::{NewState, SessionContact, SessionEvent, SessionState};

use crate::config::Input;
use crate::motion::model::{Model, NoModel};
use crate::{Overrides, Scenario, ScenarioError};
use carom_analyse::AnalyseError;
use carom_report::Record;
use carom_variational::State;
use carom_world::{Event, Executor, RunEnd, Scheme, SessionOptions};
use config::Config;
use report::Log;
use setup::Setup;
use several::Asked;
use std::path::Path;
use std::sync::Arc;
use threads::Threads;
use urdf::Imported;

/// Runs the scenario `world`: any bodies and planes, with or without joints.
pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, record) = World::read(input, None)?;
    if config.is_jointed() {
        return joints::run(&config, input, record);
    }
    let (world, mut record) = World::new(&config, input, record)?;
    let mut log = Log::new(&world);
    let (mut impacts, duration) = (0, world.setup.limits.duration);
    let end = world.run(&mut |event: Event<'_>| {
        log.note(&event);
        impacts += usize::from(matches!(event, Event::Impact(_)));
        input.progress.simulated(time_of(&event), duration, impacts);
    });
    log.finish(&end);
    report::report(&world, &log, &end, &mut record)?;
    if let Some(imported) = &config.imported {
        imported.report(&[], &mut record.results);
    }
    Ok(record)
}

/// Reads a world for an analysis: bodies that hang on joints.
pub(crate) fn modelled(input: &Input<'_>) -> Result<Model, NoModel> {
    let (config, _) = World::read(input, None)?;
    if !config.is_jointed() {
        let what =
            "the bodies float: flows are done for worlds whose bodies hang on joints".to_owned();
        return Err(AnalyseError::NoFlow { what }.into());
    }
    joints::modelled(&config, &|key| input.is_given(key))
}

/// Returns the scenario `world`.
fn scenario_world() -> Result<&'static Scenario, ScenarioError> {
    crate::scenario("world").ok_or_else(|| ScenarioError::value("scenario", "there is no `world`"))
}

/// Returns the time of an event (s).
pub(super) fn time_of(event: &Event<'_>) -> f64 {
    match event {
        Event::Sample(sample) => sample.time,
        Event::Impact(impact) => impact.time,
        Event::Established { time, .. }
        | Event::Mode { time, .. }
        | Event::Released { time, .. } => *time,
        // Later kinds of events have no part in the progress of a run.
        _ => 0.0,
    }
}

/// World of rigid bodies with impact laws, limits and sample times, read from the text that `carom run world` accepts.
///
/// # Examples
///
/// A ball bounces; the observer sees every impact as it happens:
///
/// ```
/// use carom_scenarios::World;
/// use carom_scenarios::carom_world::{Event, hybrid::Ending};
///
/// let world = World::from_toml(
///     r#"
///     duration = 1.0
///     contact = { friction = 0.2, restitution = 0.8 }
///     planes = [{ name = "floor", normal = [0.0, 0.0, 1.0] }]
///     [[bodies]]
///     name = "ball"
///     mass = 1.0
///     shape = { type = "sphere", radius = 0.1 }
///     position = [0.0, 0.0, 1.1]
///     "#,
/// )?;
/// let mut times = Vec::new();
/// let end = world.run(&mut |event| {
///     if let Event::Impact(impact) = event {
///         times.push(impact.time);
///     }
/// });
/// assert_eq!(end.ending, Ending::Completed);
/// assert!((times[0] - (2.0 / 9.80665f64).sqrt()).abs() < 1e-14);
/// # Ok::<(), carom_scenarios::ScenarioError>(())
/// ```
#[derive(Clone, Debug)]
pub struct World {
    world: Arc<carom_world::World>,
    setup: Arc<Setup>,
    scheme: Scheme,
    /// True if the run may switch from event-driven integration to time stepping when events become too frequent.
    hands_over: bool,
    threads: Arc<Threads>,
    asked: Asked,
    imported: Option<Arc<Imported>>,
}

impl World {
    /// Names of the columns of the trajectory of a world, for the entries of a [`row`](Self::row): SI units, the quaternion
    /// from body to world, velocities and angular velocities in world axes.
    pub const COLUMNS: [&str; 15] = [
        "time", "body", "x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz",
    ];

    /// Reads a world of rigid bodies from TOML text; `carom show world` lists all keys. Missing keys have their defaults, but
    /// bodies and planes are only those of the text, with at least one body.
    ///
    /// # Errors
    ///
    /// [`ScenarioError`] that names key, value and place.
    pub fn from_toml(text: &str) -> Result<Self, ScenarioError> {
        let overrides = Overrides {
            toml: text.to_owned(),
            ..Overrides::default()
        };
        let input = Input::new("world", include_str!("../world.toml"), &overrides)?;
        let made = Self::read(&input, None).and_then(|(config, record)| {
            if config.is_jointed() {
                let message =
                    "worlds with joints are run by `carom run world` and `carom_world::jointed`";
                return Err(ScenarioError::value("joints", message));
            }
            Self::new(&config, &input, record)
        });
        let made = made.map_err(|error| input.locate(error));
        made.map(|(world, _)| world)
    }

    /// Reads a robot from the text of its URDF model. `toml` holds the keys of a world, such as `duration`. Mesh files are
    /// searched in the folder `base`.
    ///
    /// # Errors
    ///
    /// [`ScenarioError`] that names key, value and place.
    ///
    /// # Examples
    ///
    /// A pendulum of 0.5 m, whose period is 1.4 s, has passed its lowest point after 0.4 s:
    ///
    /// ```
    /// use carom_scenarios::World;
    /// use carom_scenarios::carom_motion::hybrid::Ending;
    ///
    /// let robot = r#"<robot name="pendulum"><link name="pivot"/>
    ///   <link name="bob"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
    ///     <inertia ixx="1e-6" iyy="1e-6" izz="1e-6"/></inertial></link>
    ///   <joint name="hinge" type="continuous"><parent link="pivot"/><child link="bob"/><axis xyz="0 1 0"/></joint>
    /// </robot>"#;
    /// let keys = "duration = 0.4\n[urdf]\njoints = { hinge = 0.3 }";
    /// let robot = World::from_urdf(robot, ".".as_ref(), keys)?;
    /// assert_eq!(robot.coordinates(), ["hinge"]);
    /// let end = robot.run(None, &mut |_| ());
    /// assert_eq!(end.ending, Ending::Completed);
    /// assert!(end.posture.q[0] < 0.0 && end.rates[0] < 0.0);
    /// # Ok::<(), carom_scenarios::ScenarioError>(())
    /// ```
    pub fn from_urdf(urdf: &str, base: &Path, toml: &str) -> Result<Robot, ScenarioError> {
        let file = base.join("robot.urdf").display().to_string();
        let overrides = Overrides {
            toml: toml.to_owned(),
            assignments: vec![format!("urdf.file={}", serde_json::Value::from(file))],
            ..Overrides::default()
        };
        let input = Input::new("world", include_str!("../world.toml"), &overrides)?;
        let made = Self::read(&input, Some(urdf))
            .and_then(|(config, _)| Robot::new(&config, &|key| input.is_given(key)));
        made.map_err(|error| input.locate(error))
    }

    fn read(input: &Input<'_>, urdf: Option<&str>) -> Result<(Config, Record), ScenarioError> {
        let (mut config, mut record) = input.begin::<Config>()?;
        let left_out = config.keep_given(&|key| input.is_given(key), input.has_file())?;
        if let Some(parameters) = record.parameters.as_object_mut() {
            parameters.retain(|key, _| !left_out.contains(&key.as_str()));
        }
        config.import(urdf)?;
        Ok((config, record))
    }

    fn new(
        config: &Config,
        input: &Input<'_>,
        record: Record,
    ) -> Result<(Self, Record), ScenarioError> {
        let setup = config.setup(&|key| input.is_given(key))?;
        joints::check_free(
            config.joints.as_deref().unwrap_or_default(),
            &config.parameters,
            &setup.spec,
        )?;
        let world = carom_world::World::new(&setup.spec).map_err(|error| setup.name_key(&error))?;
        let scheme = setup.chosen(config, world.suitable_scheme())?;
        let hands_over = scheme == Scheme::Events && setup.hands_over(config);
        let threads = match scheme {
            Scheme::Events => Threads::default(),
            Scheme::TimeStepping => Threads::new(input.threads()),
        };
        let made = Self {
            world: Arc::new(world),
            setup: Arc::new(setup),
            scheme,
            hands_over,
            threads: Arc::new(threads),
            asked: Asked::default(),
            imported: None,
        };
        Ok((made, record))
    }

    /// Returns the bodies and planes of this world, with their names, shapes and energies.
    pub fn world(&self) -> &carom_world::World {
        &self.world
    }

    /// Returns the scheme with which the motion of this world is integrated: event-driven integration or time stepping.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Simulates the world from its initial state, and reports samples and events to `observe` in order of time. If the motion
    /// stops early, [`RunEnd::ending`] has the reason. If event-driven integration switched to time stepping,
    /// [`RunEnd::handed_over`] has the time of the switch.
    pub fn run<'o>(&self, observe: &'o mut (dyn FnMut(Event<'_>) + 'o)) -> RunEnd {
        let Setup {
            stepping,
            limits,
            samples,
            ..
        } = &*self.setup;
        let world = &self.world;
        if self.scheme == Scheme::TimeStepping {
            return world.run_in_steps(stepping, limits, samples, &*self.threads, observe);
        }
        let single = self.setup.single();
        let several = |index: usize, problem: &_| self.asked.keep(&self.setup, index, problem);
        let laws =
            carom_world::Laws::new(single.as_law(), &several).with_on_zeno(self.setup.on_zeno);
        if self.hands_over {
            let steps = (stepping, &*self.threads as &dyn Executor);
            return world.run_or_step(&laws, limits, samples, steps, observe);
        }
        world.run(&laws, limits, samples, observe)
    }

    /// Starts a session: a run that goes on from call to call. Its motion is that of [`run`](Self::run), bit for bit, however it is
    /// advanced and looked at. The `duration` is no end of it; `max_impacts` is. It outlives this world.
    ///
    /// # Errors
    ///
    /// None yet: a world that was read can start.
    ///
    /// # Examples
    ///
    /// ```
    /// use carom_scenarios::World;
    ///
    /// let world = World::from_toml(
    ///     r#"
    ///     duration = 1.0
    ///     contact = { friction = 0.2, restitution = 0.8 }
    ///     planes = [{ name = "floor", normal = [0.0, 0.0, 1.0] }]
    ///     [[bodies]]
    ///     name = "ball"
    ///     mass = 1.0
    ///     shape = { type = "sphere", radius = 0.1 }
    ///     position = [0.0, 0.0, 1.1]
    ///     "#,
    /// )?;
    /// let mut session = world.start()?;
    /// while let Some(event) = session.next_event(1.0)? {
    ///     println!("{event:?}");
    /// }
    /// assert_eq!(session.finish()?, world.run(&mut |_| ()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn start(&self) -> Result<carom_world::Session, ScenarioError> {
        Ok(self.session(None))
    }

    /// Starts a session; `asked` keeps the problems that the law for several contacts is asked.
    fn session(&self, asked: Option<Asked>) -> carom_world::Session {
        let stepping = self.setup.stepping;
        let events = || SessionOptions::events(several::shared_laws(&self.setup, asked));
        let options = match self.scheme {
            Scheme::TimeStepping => SessionOptions::steps(stepping),
            Scheme::Events if self.hands_over => events().with_stepping(stepping),
            Scheme::Events => events(),
        };
        let options = options
            .with_executor(Arc::clone(&self.threads) as Arc<dyn Executor + Send + Sync>)
            .with_limits(self.setup.limits);
        carom_world::Session::new(Arc::clone(&self.world), options)
    }

    /// Returns the state of one body at a time (s) as a row of the trajectory with the [`COLUMNS`](Self::COLUMNS). `body` is
    /// the index of the body. The sign of the quaternion is chosen so that `qw` ≥ 0.
    pub fn row(&self, time: f64, body: usize, state: &State) -> [f64; 15] {
        let (velocity, spin) = self.world.velocity(body, state);
        let [qw, qx, qy, qz] = entries::quaternion(&state.rotation);
        let x = &state.position;
        [
            time,
            body as f64,
            x.x,
            x.y,
            x.z,
            qw,
            qx,
            qy,
            qz,
            velocity.x,
            velocity.y,
            velocity.z,
            spin.x,
            spin.y,
            spin.z,
        ]
    }
}
