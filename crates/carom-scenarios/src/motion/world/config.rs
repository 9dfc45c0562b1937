//! The configuration of a world, and what can be wrong with it.

use super::fill::FillConfig;
use super::output::OutputConfig;
use super::scheme::{self, SchemeConfig, SteppingConfig};
use crate::ScenarioError;
use crate::lie_group::bouncing::ShapeConfig;
use carom_geometry::{GeometryError, HalfSpace, MassProperties, Shape};
use carom_impact::frictional::SetValued;
use carom_impact::two_body::{ImpactOptions, RestitutionLaw};
use carom_impact::{ContactCount, ImpactLaw, LAWS, Law, Routh};
use carom_lie::{Se3, So3};
use carom_motion::hybrid::Limits;
use carom_motion::world::{
    BodySpec, FlightRule, MotionError, OnZeno, PlaneSpec, SingleLaw, Stepping, Surface, WorldSpec,
};
use nalgebra::{Matrix3, Vector3};
use serde::Deserialize;

/// Rows of a trajectory.
const MAX_ROWS: usize = 5_000_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    #[serde(default = "defaults::duration")]
    pub(super) duration: f64,
    #[serde(default = "defaults::gravity")]
    gravity: [f64; 3],
    #[serde(default)]
    flight: FlightConfig,
    #[serde(default = "defaults::time_step")]
    pub(super) time_step: f64,
    #[serde(default)]
    max_impacts: Option<usize>,
    #[serde(default)]
    on_zeno: Option<ZenoConfig>,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    pub(super) scheme: SchemeConfig,
    #[serde(default)]
    stepping: SteppingConfig,
    #[serde(default)]
    law: LawConfig,
    #[serde(default)]
    contact: Option<ContactConfig>,
    #[serde(default)]
    pairs: Option<Vec<PairConfig>>,
    #[serde(default)]
    bodies: Option<Vec<BodyConfig>>,
    #[serde(default)]
    fill: Option<Vec<FillConfig>>,
    #[serde(default)]
    planes: Option<Vec<PlaneConfig>>,
    #[serde(default)]
    pub(super) output: OutputConfig,
}

mod defaults {
    use carom_impact::TwoBody;
    use carom_impact::frictional::MoreauNewton;

    pub(super) fn duration() -> f64 {
        2.0
    }
    pub(super) fn gravity() -> [f64; 3] {
        [0.0, 0.0, -9.80665]
    }
    pub(super) fn time_step() -> f64 {
        0.001
    }
    pub(super) fn single() -> String {
        TwoBody::NAME.to_owned()
    }
    pub(super) fn several() -> String {
        MoreauNewton::NAME.to_owned()
    }
    pub(super) fn is_true() -> bool {
        true
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FlightConfig {
    #[default]
    Exact,
    Lgvi,
    Lgvi4,
    Lgvi6,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ZenoConfig {
    Rest,
    Stop,
    Error,
    Continue,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RestitutionConfig {
    #[default]
    Energetic,
    Poisson,
    Newton,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LawConfig {
    #[serde(default = "defaults::single")]
    single: String,
    #[serde(default = "defaults::several")]
    several: String,
    #[serde(default)]
    restitution_law: RestitutionConfig,
    #[serde(default)]
    options: toml::Table,
}

impl Default for LawConfig {
    fn default() -> Self {
        Self {
            single: defaults::single(),
            several: defaults::several(),
            restitution_law: RestitutionConfig::default(),
            options: toml::Table::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ContactConfig {
    friction: f64,
    restitution: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PairConfig {
    between: [String; 2],
    #[serde(default)]
    friction: Option<f64>,
    #[serde(default)]
    restitution: Option<f64>,
    #[serde(default = "defaults::is_true")]
    collide: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BodyConfig {
    name: String,
    #[serde(default)]
    mass: Option<f64>,
    shape: ShapeConfig,
    #[serde(default)]
    inertia: Option<[[f64; 3]; 3]>,
    position: [f64; 3],
    #[serde(default)]
    quaternion: Option<[f64; 4]>,
    #[serde(default)]
    rotation: Option<[[f64; 3]; 3]>,
    #[serde(default)]
    velocity: [f64; 3],
    #[serde(default)]
    angular_velocity: [f64; 3],
    #[serde(default)]
    fixed: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaneConfig {
    name: String,
    normal: [f64; 3],
    #[serde(default)]
    offset: f64,
}

/// A world ready to run.
#[derive(Debug)]
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
    /// Keys that the user gives and that only events heed.
    pub(super) given_of_events: Vec<&'static str>,
    law: LawConfig,
    pub(super) several: Law,
    seed: u64,
    options: ImpactOptions,
}

/// The law for one contact.
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
            Some(Law::Routh(_)) => Single::Any(Box::new(Routh {
                options: self.options,
            })),
            Some(law) => Single::Any(Box::new(law)),
        }
    }

    /// Name of the law for several contacts.
    pub(super) fn several_name(&self) -> &str {
        &self.law.several
    }

    /// The law for several contacts; samples of a set-valued one are numbered by the impacts.
    pub(super) fn several(&self, index: usize) -> Box<dyn ImpactLaw> {
        match &self.several {
            Law::SetValued(law) => Box::new(SetValued {
                seed: self.seed.wrapping_add(index as u64),
                ..law.clone()
            }),
            law => Box::new(law.clone()),
        }
    }

    /// Coefficients of the contacts that a law does not use.
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

    /// Names the key at fault, where one is.
    pub(super) fn name_key(&self, error: &MotionError) -> ScenarioError {
        let key = match error {
            MotionError::InitialPenetration { .. } | MotionError::CoarseCoordinates { .. } => {
                "bodies.position"
            }
            MotionError::Shape { .. } => "bodies.shape",
            _ => "bodies",
        };
        ScenarioError::value(key, format!("{}: {error}", error.kind()))
    }
}

impl Config {
    /// A file gives all bodies, planes and pairs of the world; without a file they are those of the demo. Returns the
    /// keys of the demo that are not part of this world.
    pub(super) fn keep_given(
        &mut self,
        given: &dyn Fn(&str) -> bool,
        has_file: bool,
    ) -> Result<Vec<&'static str>, ScenarioError> {
        let takes_mode = ["two-body", "routh"].contains(&self.law.single.as_str());
        if given("law.restitution_law") && !takes_mode {
            let message = format!("`{}` takes none", self.law.single);
            return Err(ScenarioError::value("law.restitution_law", message));
        }
        if !has_file && !given("bodies") && !given("fill") && !given("planes") {
            return Ok(Vec::new());
        }
        let mut left_out = Vec::new();
        if !given("bodies") && given("fill") {
            self.bodies = None;
            left_out.push("bodies");
        } else if !given("bodies") {
            let message =
                "missing: a world has at least one body (`carom run world` alone runs the demo)";
            return Err(ScenarioError::value("bodies", message));
        }
        if !given("planes") {
            self.planes = None;
            left_out.push("planes");
        }
        if !given("pairs") {
            self.pairs = None;
            left_out.push("pairs");
        }
        Ok(left_out)
    }

    /// True if the treatment of accumulations is given.
    pub(super) fn has_zeno(&self) -> bool {
        self.on_zeno.is_some()
    }

    /// Name of the law for several contacts.
    pub(super) fn several_name(&self) -> &str {
        &self.law.several
    }

    pub(super) fn setup(&self, given: &dyn Fn(&str) -> bool) -> Result<Setup, ScenarioError> {
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
        let bodies = self.bodies()?;
        let planes = self.planes()?;
        let names: Vec<&str> = bodies
            .iter()
            .map(|body| body.name.as_str())
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
            let key = match i.checked_sub(bodies.len()) {
                None => format!("bodies[{i}].name"),
                Some(place) => format!("planes[{place}].name"),
            };
            return Err(ScenarioError::value(&key, fault));
        }
        let pairs = self.pairs(&names, surface)?;
        let spec = WorldSpec {
            bodies,
            planes,
            gravity: Vector3::from(self.gravity),
            flight: match self.flight {
                FlightConfig::Exact => FlightRule::Exact,
                FlightConfig::Lgvi => FlightRule::Lgvi,
                FlightConfig::Lgvi4 => FlightRule::Lgvi4,
                FlightConfig::Lgvi6 => FlightRule::Lgvi6,
            },
            time_step: self.time_step,
            surface,
            pairs,
        };
        let several = self.check_laws(&spec)?;
        let restitutes = |s: &Surface| s.collide && s.restitution < 1.0;
        let lossy = restitutes(&surface) || spec.pairs.iter().any(|(_, s)| restitutes(s));
        let on_zeno = match self.on_zeno {
            Some(ZenoConfig::Rest) => OnZeno::Rest,
            Some(ZenoConfig::Stop | ZenoConfig::Error) => OnZeno::Stop,
            Some(ZenoConfig::Continue) => OnZeno::Continue,
            None if lossy => OnZeno::Rest,
            None => OnZeno::Continue,
        };
        Ok(Setup {
            samples: self.samples(spec.bodies.len())?,
            gravity: spec.gravity,
            spec,
            limits: Limits {
                duration: self.duration,
                impacts: self.max_impacts.unwrap_or(usize::MAX),
            },
            on_zeno,
            zeno_is_error: self.on_zeno == Some(ZenoConfig::Error),
            output: self.output,
            stepping: self.stepping.options()?,
            zeno_is_given: self.on_zeno.is_some(),
            given_of_events: scheme::given_of_events(given),
            law: self.law.clone(),
            several,
            seed: self.seed,
            options: ImpactOptions {
                restitution_law: match self.law.restitution_law {
                    RestitutionConfig::Energetic => RestitutionLaw::Energetic,
                    RestitutionConfig::Poisson => RestitutionLaw::Poisson,
                    RestitutionConfig::Newton => RestitutionLaw::Newton,
                },
                ..ImpactOptions::default()
            },
        })
    }

    /// Start, multiples of the sample step, end.
    fn samples(&self, bodies: usize) -> Result<Vec<f64>, ScenarioError> {
        let step = self.output.sample_step;
        if !(step >= 0.0 && step.is_finite()) {
            let message = format!("{step} must be at least 0 and finite");
            return Err(ScenarioError::value("output.sample_step", message));
        }
        if step == 0.0 {
            return Ok(vec![0.0]);
        }
        let count = self.duration / step;
        if count * bodies as f64 > MAX_ROWS as f64 {
            let message = format!("{step} makes more than {MAX_ROWS} rows");
            return Err(ScenarioError::value("output.sample_step", message));
        }
        let count = (count * (1.0 + 1e-12)).floor() as usize;
        let times = (0..=count).map(|k| k as f64 * step);
        let margin = 1e-9 * step;
        Ok(times
            .filter(|t| *t == 0.0 || *t < self.duration - margin)
            .collect())
    }

    fn surface(&self) -> Result<Surface, ScenarioError> {
        let Some(contact) = &self.contact else {
            return Err(ScenarioError::value("contact", "missing"));
        };
        let friction = friction("contact.friction", contact.friction)?;
        let restitution = restitution("contact.restitution", contact.restitution)?;
        Ok(Surface {
            friction,
            restitution,
            collide: true,
        })
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
            let of_pair = Surface {
                friction: match pair.friction {
                    Some(value) => friction(&key("friction"), value)?,
                    None => surface.friction,
                },
                restitution: match pair.restitution {
                    Some(value) => restitution(&key("restitution"), value)?,
                    None => surface.restitution,
                },
                collide: pair.collide,
            };
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
            let Some(law) = Law::named(name) else {
                let known: Vec<&str> = LAWS.iter().map(|entry| entry.name).collect();
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
                     keeps the energy, and `moreau-newton` restitutes"
                );
                return Err(ScenarioError::value(key, message));
            }
            if friction && !law.info().uses.friction {
                let message =
                    format!("`{name}` cannot take friction; set it to 0 or choose another law");
                return Err(ScenarioError::value(key, message));
            }
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

    fn bodies(&self) -> Result<Vec<BodySpec>, ScenarioError> {
        let list = self.bodies.as_deref().unwrap_or_default();
        let all = list.iter().enumerate();
        let mut bodies = all
            .map(|(i, body)| body.build(&format!("bodies[{i}]")))
            .collect::<Result<Vec<_>, _>>()?;
        for (index, fill) in self.fill.iter().flatten().enumerate() {
            bodies.extend(fill.bodies(index)?);
        }
        match bodies.is_empty() {
            true => Err(ScenarioError::value("bodies", "at least one is needed")),
            false => Ok(bodies),
        }
    }

    fn planes(&self) -> Result<Vec<PlaneSpec>, ScenarioError> {
        let one = |(i, plane): (usize, &PlaneConfig)| {
            let key = format!("planes[{i}].normal");
            let half_space = HalfSpace::new(Vector3::from(plane.normal), plane.offset)
                .map_err(|error| ScenarioError::value(&key, error))?;
            Ok(PlaneSpec {
                name: plane.name.clone(),
                half_space,
            })
        };
        self.planes.iter().flatten().enumerate().map(one).collect()
    }
}

fn friction(key: &str, value: f64) -> Result<f64, ScenarioError> {
    if value >= 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(ScenarioError::value(
        key,
        format!("{value} must be at least 0 and finite"),
    ))
}

fn restitution(key: &str, value: f64) -> Result<f64, ScenarioError> {
    if (0.0..=1.0).contains(&value) {
        return Ok(value);
    }
    Err(ScenarioError::value(
        key,
        format!("{value} must lie in [0, 1]"),
    ))
}

impl BodyConfig {
    fn build(&self, key: &str) -> Result<BodySpec, ScenarioError> {
        let of = |part: &str| format!("{key}.{part}");
        let named = |message: String| format!("`{}`: {message}", self.name);
        crate::motion::finite(&of("position"), &self.position)?;
        crate::motion::finite(&of("velocity"), &self.velocity)?;
        crate::motion::finite(&of("angular_velocity"), &self.angular_velocity)?;
        let shape = self.shape.build(&of("shape"))?;
        let still = self.velocity == [0.0; 3] && self.angular_velocity == [0.0; 3];
        if self.fixed && !still {
            let which = if self.velocity == [0.0; 3] {
                "angular_velocity"
            } else {
                "velocity"
            };
            let message = named("a fixed body cannot move".to_owned());
            return Err(ScenarioError::value(&of(which), message));
        }
        let wrong = |error: GeometryError| {
            let part = match error {
                GeometryError::NonPositiveMass { .. }
                | GeometryError::NonFinite { what: "mass" } => "mass",
                _ => "inertia",
            };
            ScenarioError::value(&of(part), named(error.to_string()))
        };
        let (mass, shape) = match (self.fixed, self.mass, &self.inertia) {
            (true, _, _) => (None, self.centered(shape)),
            (false, None, _) => {
                return Err(ScenarioError::value(
                    &of("mass"),
                    named("missing".to_owned()),
                ));
            }
            (false, Some(mass), Some(rows)) => {
                let inertia = Matrix3::from_fn(|i, j| rows[i][j]);
                (
                    Some(MassProperties::new(mass, inertia).map_err(wrong)?),
                    shape,
                )
            }
            (false, Some(mass), None) => {
                let properties = shape.mass_properties(mass).map_err(wrong)?;
                let shape = shape.translated(&-properties.center());
                (Some(properties), shape)
            }
        };
        Ok(BodySpec {
            name: self.name.clone(),
            mass,
            shape,
            configuration: Se3::new(self.attitude(key)?, Vector3::from(self.position)),
            velocity: Vector3::from(self.velocity),
            angular_velocity: Vector3::from(self.angular_velocity),
        })
    }

    /// A fixed body's shape about its center of mass, as if it had one, unless an inertia says that its
    /// frame counts.
    fn centered(&self, shape: Shape) -> Shape {
        match (self.inertia.is_none(), shape.mass_properties(1.0)) {
            (true, Ok(properties)) => shape.translated(&-properties.center()),
            _ => shape,
        }
    }

    fn attitude(&self, key: &str) -> Result<So3, ScenarioError> {
        match (&self.quaternion, &self.rotation) {
            (None, None) => Ok(So3::identity()),
            (Some(_), Some(_)) => {
                let message = "give either a quaternion or a rotation";
                Err(ScenarioError::value(&format!("{key}.quaternion"), message))
            }
            (Some([w, x, y, z]), None) => {
                let key = format!("{key}.quaternion");
                crate::motion::finite(&key, &[*w, *x, *y, *z])?;
                let length = (w * w + x * x + y * y + z * z).sqrt();
                if (length - 1.0).abs() > 1e-6 {
                    let message = format!("[{w}, {x}, {y}, {z}] has the length {length}, not 1");
                    return Err(ScenarioError::value(&key, message));
                }
                So3::from_quaternion(*w, &Vector3::new(*x, *y, *z))
                    .ok_or_else(|| ScenarioError::value(&key, "no rotation"))
            }
            (None, Some(rows)) => So3::from_matrix(&Matrix3::from_fn(|i, j| rows[i][j]))
                .map_err(|error| ScenarioError::value(&format!("{key}.rotation"), error)),
        }
    }
}
