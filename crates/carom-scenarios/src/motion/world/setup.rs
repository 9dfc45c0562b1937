//! Setup of worlds from their keys.

use super::config::PlaneConfig;
use super::config::{AUTO, Config, FlightConfig, LawConfig};
use super::contact::{PairConfig, friction, restitution};
use super::output::OutputConfig;
use super::scheme;
use crate::ScenarioError;
use crate::common::Zeno;
use carom_contact::{Contact, ImpactLaw, ImpactProblem};
use carom_geometry::HalfSpace;
use carom_impact::frictional::Poisson;
use carom_impact::two_body::ImpactOptions;
use carom_impact::{ContactCount, LAWS, Law, Propagative, Routh, uniqueness};
use carom_motion::hybrid::Limits;
use carom_world::{
    BodySpec, FlightRule, MotionError, OnZeno, PlaneSpec, SingleLaw, Stepping, Surface, WorldSpec,
};
use nalgebra::Vector3;

/// Largest number of rows of a trajectory.
const MAX_ROWS: usize = 5_000_000;

/// World specification with the settings of its run.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) spec: WorldSpec,
    pub(super) gravity: Vector3<f64>,
    pub(super) limits: Limits,
    pub(super) on_zeno: OnZeno,
    pub(super) samples: Vec<f64>,
    pub(super) zeno_is_error: bool,
    pub(super) output: OutputConfig,
    pub(super) stepping: Stepping,
    pub(super) zeno_is_given: bool,
    /// True if the user names the law for several contacts.
    pub(super) several_is_given: bool,
    /// Keys that the user gives and that only event-driven integration uses.
    pub(super) given_of_events: Vec<&'static str>,
    pub(super) gives_deflection: bool,
    law: LawConfig,
    pub(super) several: Law,
    seed: u64,
    pub(super) options: ImpactOptions,
}

/// Impact law for a single contact.
pub(super) enum Single {
    TwoBody(ImpactOptions),
    Any(Box<dyn ImpactLaw>),
}

impl Single {
    pub(super) fn as_law(&self) -> SingleLaw<'_> {
        match self {
            Self::TwoBody(options) => SingleLaw::TwoBody(*options),
            Self::Any(law) => SingleLaw::Any(law.as_ref()),
        }
    }
}

impl Setup {
    pub(super) fn single(&self) -> Single {
        match Law::named(&self.law.single) {
            Some(Law::TwoBody(_)) | None => Single::TwoBody(self.options),
            Some(Law::Routh(_)) => {
                Single::Any(Box::new(Routh::default().with_options(self.options)))
            }
            Some(law) => Single::Any(Box::new(law)),
        }
    }

    /// Returns the laws with their options, and the number of impacts at which a run ends.
    pub(super) fn laws(&self) -> impl std::fmt::Debug {
        let stepping = self.stepping;
        let laws = (&self.law, &self.several, &self.options);
        (laws, self.on_zeno, stepping, self.limits.impacts)
    }

    /// Returns the seed of laws that draw samples.
    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the name of the impact law for several contacts that hit at once.
    pub(super) fn several_name(&self) -> &str {
        &self.law.several
    }

    /// Returns the impact law for several contacts that hit at once. `index`: number of the impact; a set-valued law gets a
    /// different random seed for each impact. `problem`: problem that the law is asked. With `auto`, elastic contacts without friction
    /// whose impacts have one outcome in every order follow one another, as they do on a wave.
    pub(super) fn several(&self, index: usize, problem: &ImpactProblem) -> Box<dyn ImpactLaw> {
        let contacts = problem.contacts();
        let is_elastic = |c: &Contact| c.restitution == 1.0 && c.friction == 0.0;
        if self.law.several == AUTO
            && contacts.contacts().iter().all(is_elastic)
            && uniqueness(contacts).order_independent == Some(true)
        {
            return Box::new(Propagative::default());
        }
        match &self.several {
            Law::SetValued(law) => {
                Box::new(law.clone().with_seed(self.seed.wrapping_add(index as u64)))
            }
            law => Box::new(law.clone()),
        }
    }

    /// Returns notes about restitution coefficients of contacts that an impact law does not use.
    pub(super) fn ignored(&self) -> Vec<String> {
        let single = Law::named(&self.law.single);
        let laws = [
            ("law.single", single.as_ref()),
            ("law.several", Some(&self.several)),
        ];
        let all = laws.into_iter();
        all.filter_map(|(key, law)| crate::motion::ignored(key, law?))
            .collect()
    }

    /// Converts a motion error to a scenario error with the configuration key that caused it.
    pub(super) fn name_key(&self, error: &MotionError) -> ScenarioError {
        let key = match error {
            MotionError::InitialPenetration { .. } | MotionError::CoarseCoordinates { .. } => {
                "bodies.position"
            }
            MotionError::Shape { .. } => "bodies.shape",
            _ => "bodies",
        };
        ScenarioError::value(key, super::contact::with_hint(error))
    }
}

/// Returns the multiples of the sample step (s) before the end of a run of `duration` (s), from 0 on.
pub(super) fn sample_times(step: f64, duration: f64) -> Vec<f64> {
    if step == 0.0 {
        return vec![0.0];
    }
    let count = (duration / step * (1.0 + 1e-12)).floor() as usize;
    let times = (0..=count).map(|k| k as f64 * step);
    times.filter(|t| is_before(*t, step, duration)).collect()
}

/// True if the sample at `time` (s) is one before the end of a run of `duration` (s).
pub(super) fn is_before(time: f64, step: f64, duration: f64) -> bool {
    time == 0.0 || time < duration - 1e-9 * step
}

impl Config {
    pub(super) fn setup(&self, given: &dyn Fn(&str) -> bool) -> Result<Setup, ScenarioError> {
        let bodies = self.bodies()?;
        let names: Vec<String> = bodies.iter().map(|body| body.name.clone()).collect();
        self.setup_of(bodies, &names, given)
    }

    /// Checks the configuration, and returns the world's specification with the settings of its run. `body_names`: names of
    /// all bodies; `bodies`: specifications of the bodies, empty for a world with joints; `given`: true for a key that the
    /// user sets.
    pub(super) fn setup_of(
        &self,
        bodies: Vec<BodySpec>,
        body_names: &[String],
        given: &dyn Fn(&str) -> bool,
    ) -> Result<Setup, ScenarioError> {
        crate::motion::finite("gravity", &self.gravity)?;
        crate::motion::positive("time_step", &[self.time_step])?;
        let steps = self.duration / self.time_step;
        if !(self.duration >= 0.0 && steps <= 1e12) {
            let message = format!(
                "{} must be at least 0 and at most 1e12 steps",
                self.duration
            );
            return Err(ScenarioError::value("duration", message));
        }
        let surface = self.surface()?;
        let planes = self.planes()?;
        let names: Vec<&str> = body_names
            .iter()
            .map(String::as_str)
            .chain(planes.iter().map(|plane| plane.name.as_str()))
            .collect();
        for (i, name) in names.iter().enumerate() {
            let fault = if name.is_empty() {
                "a name is needed".to_owned()
            } else if names.iter().take(i).any(|other| other == name) {
                format!("`{name}` is there twice")
            } else {
                continue;
            };
            let key = match i.checked_sub(body_names.len()) {
                None => format!("bodies[{i}].name"),
                Some(place) => format!("planes[{place}].name"),
            };
            return Err(ScenarioError::value(&key, fault));
        }
        let pairs = self.pairs(&names, surface)?;
        let gravity = Vector3::from(self.gravity);
        let mut spec = WorldSpec::new(bodies, planes, gravity, self.time_step, surface);
        spec.flight = match self.flight {
            FlightConfig::Exact => FlightRule::Exact,
            FlightConfig::Lgvi => FlightRule::Lgvi,
            FlightConfig::Lgvi4 => FlightRule::Lgvi4,
            FlightConfig::Lgvi6 => FlightRule::Lgvi6,
        };
        spec.pairs = pairs;
        let moving = spec.bodies.iter().map(|body| {
            let name = body.name.as_str();
            (name, body.mass.is_some())
        });
        if !spec.bodies.is_empty() {
            spec.springs = self.springs(&moving.collect::<Vec<_>>())?;
        }
        let several = self.check_laws(&spec)?;
        let restitutes = |s: &Surface| s.collide && s.restitution < 1.0;
        let lossy = restitutes(&surface) || spec.pairs.iter().any(|(_, s)| restitutes(s));
        let on_zeno = match self.on_zeno {
            Some(Zeno::Rest) => OnZeno::Rest,
            Some(Zeno::Stop | Zeno::Error) => OnZeno::Stop,
            Some(Zeno::Continue) => OnZeno::Continue,
            None if lossy => OnZeno::Rest,
            None => OnZeno::Continue,
        };
        Ok(Setup {
            samples: self.samples(body_names.len())?,
            gravity: spec.gravity,
            spec,
            limits: Limits::duration(self.duration)
                .with_impacts(self.max_impacts.unwrap_or(usize::MAX)),
            on_zeno,
            zeno_is_error: self.on_zeno == Some(Zeno::Error),
            output: self.output,
            stepping: self.stepping.options()?,
            zeno_is_given: self.on_zeno.is_some(),
            several_is_given: given("law.several") && self.law.several != AUTO,
            given_of_events: scheme::given_of_events(given),
            gives_deflection: given("stepping.deflection"),
            law: self.law.clone(),
            several,
            seed: self.seed,
            options: ImpactOptions::default().with_restitution_law(self.law.restitution_law),
        })
    }

    /// Returns the times (s) at which states are recorded: the start, and the multiples of the sample step before the end.
    /// `bodies`: number of bodies, which limits the number of rows.
    fn samples(&self, bodies: usize) -> Result<Vec<f64>, ScenarioError> {
        let step = self.output.sample_step;
        if !(step >= 0.0 && step.is_finite()) {
            let message = format!("{step} must be at least 0 and finite");
            return Err(ScenarioError::value("output.sample_step", message));
        }
        if step > 0.0 && self.duration / step * bodies as f64 > MAX_ROWS as f64 {
            let message = format!("{step} makes more than {MAX_ROWS} rows");
            return Err(ScenarioError::value("output.sample_step", message));
        }
        Ok(sample_times(step, self.duration))
    }

    fn surface(&self) -> Result<Surface, ScenarioError> {
        let Some(contact) = &self.contact else {
            return Err(ScenarioError::value("contact", "missing"));
        };
        let friction = friction("contact.friction", contact.friction)?;
        let restitution = restitution("contact.restitution", contact.restitution)?;
        Ok(Surface::new(friction, restitution))
    }

    fn pairs(
        &self,
        names: &[&str],
        surface: Surface,
    ) -> Result<Vec<([usize; 2], Surface)>, ScenarioError> {
        let one = |(i, pair): (usize, &PairConfig)| {
            let key = |of: &str| format!("pairs[{i}].{of}");
            let find = |name: &String| {
                let found = names.iter().position(|n| n == name);
                found.ok_or_else(|| {
                    let message = format!("no body or plane is called `{name}`");
                    ScenarioError::value(&key("between"), message)
                })
            };
            let [a, b] = &pair.between;
            let things = [find(a)?, find(b)?];
            if things[0] == things[1] {
                let message = format!("`{a}` cannot touch itself");
                return Err(ScenarioError::value(&key("between"), message));
            }
            let sorted =
                |[a, b]: &'_ [String; 2]| (a.clone().min(b.clone()), a.clone().max(b.clone()));
            let mut earlier = self.pairs.iter().flatten().take(i);
            if earlier.any(|other| sorted(&other.between) == sorted(&pair.between)) {
                let message = format!("`{a}` and `{b}` are there twice");
                return Err(ScenarioError::value(&key("between"), message));
            }
            let of_pair = Surface::new(
                match pair.friction {
                    Some(value) => friction(&key("friction"), value)?,
                    None => surface.friction,
                },
                match pair.restitution {
                    Some(value) => restitution(&key("restitution"), value)?,
                    None => surface.restitution,
                },
            )
            .with_collide(pair.collide);
            Ok((things, of_pair))
        };
        self.pairs.iter().flatten().enumerate().map(one).collect()
    }

    fn check_laws(&self, spec: &WorldSpec) -> Result<Law, ScenarioError> {
        let rubs = |s: &Surface| s.collide && s.friction > 0.0;
        let friction = rubs(&spec.surface) || spec.pairs.iter().any(|(_, s)| rubs(s));
        for (key, name) in [
            ("law.single", &self.law.single),
            ("law.several", &self.law.several),
        ] {
            if name == AUTO && key == "law.several" {
                continue;
            }
            let Some(law) = Law::named(name) else {
                let choice = Some(AUTO).filter(|_| key == "law.several");
                let known: Vec<&str> = { choice.into_iter() }
                    .chain(LAWS.iter().map(|entry| entry.name))
                    .collect();
                let message = format!("unknown law `{name}`; known: {}", known.join(", "));
                return Err(ScenarioError::value(key, message));
            };
            let of_constraints = matches!(
                law,
                Law::NonholonomicElastic(_)
                    | Law::NonholonomicProjected(_)
                    | Law::NonholonomicNewton(_)
                    | Law::NonholonomicProjectedNewton(_)
            );
            if of_constraints {
                let message = format!(
                    "`{name}` is about constraints, and a world has none: without them `propagative` \
                     keeps the energy, and `poisson` restitutes"
                );
                return Err(ScenarioError::value(key, message));
            }
            if friction && !law.info().uses.friction {
                let message =
                    format!("`{name}` cannot take friction; set it to 0 or choose another law");
                return Err(ScenarioError::value(key, message));
            }
        }
        if self.law.several == AUTO {
            if !self.law.options.is_empty() {
                let message = "options need a law by name: give `law.several`";
                return Err(ScenarioError::value("law.options", message));
            }
            return Ok(Law::Poisson(Poisson::default()));
        }
        let Some(law) = Law::named(&self.law.several) else {
            return Err(ScenarioError::value("law.several", "unknown law"));
        };
        if law.info().contacts == ContactCount::One {
            let message = format!("`{}` resolves one contact only", self.law.several);
            return Err(ScenarioError::value("law.several", message));
        }
        law.with_options(self.law.options.clone())
            .map_err(|error| ScenarioError::value("law.options", error.message()))
    }

    /// Returns the bodies that fill boxes.
    pub(super) fn filled(&self) -> Result<Vec<BodySpec>, ScenarioError> {
        let mut bodies = Vec::new();
        for (index, fill) in self.fill.iter().flatten().enumerate() {
            bodies.extend(fill.bodies(index)?);
        }
        Ok(bodies)
    }

    fn bodies(&self) -> Result<Vec<BodySpec>, ScenarioError> {
        let list = self.bodies.as_deref().unwrap_or_default();
        let all = list.iter().enumerate();
        let mut bodies = all
            .map(|(i, body)| body.build(&format!("bodies[{i}]")))
            .collect::<Result<Vec<_>, _>>()?;
        bodies.extend(self.filled()?);
        if bodies.is_empty() {
            return Err(ScenarioError::value("bodies", "at least one is needed"));
        }
        let names = bodies
            .iter()
            .map(|body| (body.name.as_str(), body.mass.is_some()));
        let loads = self.loads(&names.collect::<Vec<_>>())?;
        for (body, loads) in bodies.iter_mut().zip(loads) {
            body.loads = loads;
        }
        Ok(bodies)
    }

    fn planes(&self) -> Result<Vec<PlaneSpec>, ScenarioError> {
        let one = |(i, plane): (usize, &PlaneConfig)| {
            let key = format!("planes[{i}].normal");
            let half_space = HalfSpace::new(Vector3::from(plane.normal), plane.offset)
                .map_err(|error| ScenarioError::value(&key, error))?;
            let running = Vector3::from(plane.surface_velocity.unwrap_or_default());
            let key = format!("planes[{i}].surface_velocity");
            crate::motion::finite(&key, running.as_ref())?;
            let normal = *half_space.normal();
            let along = normal.dot(&running);
            if along.abs() > 1e-9 * running.norm() {
                let message =
                    format!("a plane runs in itself, and {along} m/s are along its normal");
                return Err(ScenarioError::value(&key, message));
            }
            let plane = PlaneSpec::new(plane.name.clone(), half_space);
            Ok(plane.with_surface_velocity(running - normal * along))
        };
        self.planes.iter().flatten().enumerate().map(one).collect()
    }
}
