//! A quadruped lands on four feet at once: three laws, and random orders in which the feet may strike.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Count, Fraction, Input, NonNegative, Positive};
use crate::motion::count_steps;
use crate::motion::figures::{Series, against_time};
use crate::motion::linkage::{Course, Linkage};
use crate::motion::playback::playback;
use crate::motion::scene::GRAVITY;
use carom_contact::{ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem};
use carom_geometry::{Cuboid, Rounded, Segment, Shape};
use carom_impact::frictional::{
    AnitescuPotra, MoreauNewton, Poisson, Sampler, SetValued, sampled_outcomes,
};
use carom_report::record::{Column, Quantity, Record, Table};
use carom_variational::State;
use carom_world::joints::coordinates::{Actuator, CoordinateSpec, Rule, Table as Targets};
use nalgebra::Vector3;
use serde::Deserialize;
use std::sync::{Arc, Mutex};

const FRAMES: usize = 150;

const LAWS: [&str; 3] = ["moreau-newton", "poisson", "anitescu-potra"];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    duration: Positive,
    time_step: Positive,
    drop: Positive,
    speed: f64,
    trunk_mass: Positive,
    trunk: [f64; 3],
    thigh_mass: Positive,
    shank_mass: Positive,
    link: Positive,
    radius: Positive,
    bend: f64,
    proportional: Positive,
    derivative: NonNegative,
    friction: NonNegative,
    restitution: Fraction,
    samples: Count<1, 100_000>,
    seed: u64,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    count_steps("duration", *config.duration, *config.time_step, 100_000)?;
    crate::motion::finite("speed", &[config.speed])?;
    crate::motion::positive("trunk", &config.trunk)?;
    if !(0.0..1.5).contains(&config.bend) {
        let message = "legs bend by at least 0 and less than 1.5 rad";
        return Err(ScenarioError::value("bend", message));
    }
    let linkage = linkage(&config)?.watched(input.progress);
    let mut runs = Vec::new();
    let mut draws = Some(Spread {
        samples: *config.samples as u64,
        seed: config.seed,
    });
    for law in LAWS {
        let landing = Arc::new(Mutex::new(None));
        // The landing is equal in all runs: random orders are drawn in the first run only.
        let drawn = draws.take();
        let several = |_: usize, _: &ImpactProblem| -> Box<dyn ImpactLaw> {
            Box::new(Watched {
                law: law_named(law),
                spread: drawn,
                landing: Arc::clone(&landing),
            })
        };
        let course = linkage.run_by(&several, *config.duration, FRAMES)?;
        let seen = landing.lock().ok().and_then(|mut seen| seen.take());
        let landing = seen
            .ok_or_else(|| ScenarioError::value("duration", "too short: the feet do not land"))??;
        runs.push((course, landing));
    }
    record.quantities = quantities(&config, &runs);
    record.tables.push(by_law(&runs));
    heights(&runs).draw(&mut record)?;
    spread(&runs).draw(&mut record)?;
    if let Some((course, _)) = runs.first() {
        playback(&linkage.spec, &course.frames, &course.hits(), &mut record);
    }
    Ok(record)
}

fn law_named(name: &str) -> Box<dyn ImpactLaw> {
    match name {
        "poisson" => Box::new(Poisson::default()),
        "anitescu-potra" => Box::new(AnitescuPotra::default()),
        _ => Box::new(MoreauNewton::default()),
    }
}

/// Number and seed of the random orders in which contacts may strike.
#[derive(Clone, Copy, Debug)]
struct Spread {
    samples: u64,
    seed: u64,
}

/// Fraction of the kinetic energy that remains after an impact, and the largest upward speed of a foot after it (m/s).
type After = [f64; 2];

/// First impact with several contacts.
#[derive(Debug)]
struct Landing {
    contacts: usize,
    /// Result of the law of the run.
    by_law: After,
    /// Results of the random orders, in the first run only.
    drawn: Vec<After>,
}

/// Impact law that records the first impact that it resolves, with samples of all orders of its contacts.
#[derive(Debug)]
struct Watched {
    law: Box<dyn ImpactLaw>,
    spread: Option<Spread>,
    landing: Arc<Mutex<Option<Result<Landing, ImpactError>>>>,
}

impl ImpactLaw for Watched {
    fn name(&self) -> &'static str {
        self.law.name()
    }

    fn resolve(&self, problem: &ImpactProblem) -> Result<ImpactOutcome, ImpactError> {
        let outcome = self.law.resolve(problem)?;
        if let Ok(mut landing) = self.landing.lock()
            && landing.is_none()
        {
            *landing = Some(Landing::new(problem, &outcome, self.spread));
        }
        Ok(outcome)
    }
}

impl Landing {
    fn new(
        problem: &ImpactProblem,
        by_law: &ImpactOutcome,
        spread: Option<Spread>,
    ) -> Result<Self, ImpactError> {
        let metric = problem.contacts().metric();
        let before = metric.energy(problem.velocity_minus())?;
        let after = |outcome: &ImpactOutcome| -> Result<After, ImpactError> {
            let velocity = &outcome.velocity_plus;
            let feet = problem.contacts().contacts().iter();
            let rises = feet.map(|foot| foot.normal.0.dot(&velocity.0));
            Ok([metric.energy(velocity)? / before, rises.fold(0.0, f64::max)])
        };
        let outcomes = match spread {
            Some(spread) => spread.outcomes(problem)?,
            None => Vec::new(),
        };
        Ok(Self {
            contacts: problem.contacts().len(),
            by_law: after(by_law)?,
            drawn: outcomes.iter().map(after).collect::<Result<_, _>>()?,
        })
    }
}

impl Spread {
    fn outcomes(self, problem: &ImpactProblem) -> Result<Vec<ImpactOutcome>, ImpactError> {
        let law = SetValued::default()
            .with_samples(self.samples)
            .with_seed(self.seed)
            .with_max_work(u64::MAX);
        let (_, outcomes) = sampled_outcomes(&Sampler::new(problem, &law)?, &|_, _| {})?;
        Ok(outcomes)
    }
}

/// Builds the quadruped above the floor: a horizontal trunk on four legs of two links each. Motors control the hips and knees.
fn linkage(config: &Config) -> Result<Linkage, ScenarioError> {
    let mut linkage = Linkage::new(GRAVITY, *config.restitution, *config.time_step);
    linkage.spec.surface.friction = *config.friction;
    let (half, radius) = (0.5 * *config.link, *config.radius);
    let trunk = Cuboid::new(config.trunk).map_err(|error| ScenarioError::value("trunk", error))?;
    let trunk = Shape::Cuboid(trunk);
    let leg = Segment::new(half, &Vector3::z_axis(), Vector3::zeros())
        .map_err(|error| ScenarioError::value("link", error))?;
    let leg = Rounded::new(Shape::Segment(leg), radius)
        .map_err(|error| ScenarioError::value("radius", error))?;
    let leg = Shape::Rounded(Box::new(leg));
    let uniform = |shape: &Shape, mass: f64, key: &str| {
        let found = shape.mass_properties(mass);
        found.map_err(|error| ScenarioError::value(key, error))
    };
    let height = *config.drop + radius + 2.0 * *config.link * libm::cos(config.bend);
    let mass = uniform(&trunk, *config.trunk_mass, "trunk_mass")?;
    let place = Some(Vector3::z() * height);
    let body = linkage.body("trunk", trunk, mass, place);
    linkage.push(body, Vector3::x() * config.speed);
    let thigh_mass = uniform(&leg, *config.thigh_mass, "thigh_mass")?;
    let shank_mass = uniform(&leg, *config.shank_mass, "shank_mass")?;
    let mut feet = Vec::new();
    for (end, x) in [("front", 1.0), ("rear", -1.0)] {
        for (side, y) in [("left", 1.0), ("right", -1.0)] {
            let name = |part: &str| format!("{end}_{side}_{part}");
            let hip = Vector3::new(x * config.trunk[0], y * (config.trunk[1] + radius), 0.0);
            let thigh = linkage.body(&name("thigh"), leg.clone(), thigh_mass, None);
            let shank = linkage.body(&name("shank"), leg.clone(), shank_mass, None);
            for (joint, from, child, angle) in [
                ("hip", (Some(body), hip), thigh, config.bend),
                (
                    "knee",
                    (Some(thigh), Vector3::z() * -half),
                    shank,
                    -2.0 * config.bend,
                ),
            ] {
                let to = (child, Vector3::z() * half);
                let hinge = vec![motor(config, angle)?];
                linkage.join(
                    &name(joint),
                    "revolute",
                    from,
                    to,
                    vec![Vector3::y()],
                    hinge,
                )?;
            }
            feet.push(shank);
        }
    }
    linkage.plane("floor", Vector3::z(), 0.0, &feet)?;
    Ok(linkage)
}

/// Creates a joint coordinate that starts at `angle` (rad) and a motor that holds it there by proportional-derivative control.
fn motor(config: &Config, angle: f64) -> Result<CoordinateSpec, ScenarioError> {
    let target = Targets::new(vec![0.0], vec![angle])
        .ok_or_else(|| ScenarioError::value("bend", "must be finite"))?;
    Ok(CoordinateSpec::default()
        .with_position(angle)
        .with_actuator(Actuator::new(Rule::Pd {
            proportional: *config.proportional,
            derivative: *config.derivative,
            target,
        })))
}

/// Returns the smallest and the largest value of entry `k` in the list `drawn`. Each item holds the remaining fraction of the
/// kinetic energy after an impact, and the largest upward speed of a foot (m/s).
fn range(drawn: &[After], k: usize) -> [f64; 2] {
    let all = || drawn.iter().map(|after| after[k]);
    [
        all().fold(f64::INFINITY, f64::min),
        all().fold(f64::NEG_INFINITY, f64::max),
    ]
}

fn quantities(config: &Config, runs: &[(Course, Landing)]) -> Vec<Quantity> {
    let fall = libm::sqrt(2.0 * *config.drop / GRAVITY);
    let mut out = Vec::new();
    if let Some((course, landing)) = runs.first() {
        let first = course.impacts.first().map_or(f64::NAN, |i| i.time);
        let [least, most] = range(&landing.drawn, 0);
        let [low, high] = range(&landing.drawn, 1);
        out.extend([
            Quantity::new("landing_s", first, "s").closed_form(fall, "a free fall"),
            Quantity::new("feet_at_once", landing.contacts as f64, ""),
            Quantity::new("orders_drawn", landing.drawn.len() as f64, ""),
            Quantity::new("least_energy_kept", least, ""),
            Quantity::new("largest_energy_kept", most, ""),
            Quantity::new("slowest_rise_m_per_s", low, "m/s")
                .note("of the foot that rises fastest after the landing"),
            Quantity::new("fastest_rise_m_per_s", high, "m/s"),
        ]);
    }
    let worst = |of: &dyn Fn(&Course) -> f64| {
        let all = runs.iter().map(|(course, _)| of(course));
        all.fold(0.0, f64::max)
    };
    let off = worst(&|course| momentum_error(config, course));
    out.extend([
        Quantity::new("momentum_error_ns", off, "N s")
            .note("largest of three runs: the momentum at the end is what floor and gravity gave"),
        Quantity::new("energy_max_error_j", worst(&|it| it.end.energy_error), "J"),
        Quantity::new("joint_residual_m", worst(&|it| it.end.residual), "m"),
    ]);
    out
}

/// Returns the magnitude of the error of the momentum balance (N s): change of the total momentum in the run, minus the
/// impulses of gravity and the floor. `course`: recorded run.
fn momentum_error(config: &Config, course: &Course) -> f64 {
    let momentum = |frame: Option<&(f64, Vec<State>)>| -> Vector3<f64> {
        frame.map_or_else(Vector3::zeros, |(_, states)| {
            states.iter().map(|s| s.linear_momentum).sum()
        })
    };
    let mass = *config.trunk_mass + 4.0 * (*config.thigh_mass + *config.shank_mass);
    let given: Vector3<f64> = course.end.supports.iter().sum();
    let fall = Vector3::z() * (-mass * GRAVITY * course.end.time);
    let change = momentum(course.frames.last()) - momentum(course.frames.first());
    (change - given - fall).norm()
}

fn by_law(runs: &[(Course, Landing)]) -> Table {
    let mut table = Table::new(
        "laws",
        "Three laws: the landing, and the whole run.",
        Column::list(
            "energy kept at landing, fastest foot after landing [m/s], impacts, \
             lost in impacts [J], lost in contacts [J], work of motors [J], \
             height at the end [m]",
        ),
    );
    for (law, (course, landing)) in LAWS.into_iter().zip(runs) {
        let [kept, rise] = landing.by_law;
        let end = &course.end;
        let height = end
            .posture
            .states
            .first()
            .map_or(f64::NAN, |s| s.position.z);
        table.push_named(
            "law",
            law,
            vec![
                kept,
                rise,
                course.impacts.len() as f64,
                end.impact_loss,
                end.works.contact,
                end.works.actuator,
                height,
            ],
        );
    }
    table
}

fn heights(runs: &[(Course, Landing)]) -> Plot {
    let times = runs.first().map_or_else(Vec::new, |(it, _)| it.times());
    let height = |course: &Course| {
        let frames = course.frames.iter();
        frames.map(|(_, s)| s[0].position.z).collect()
    };
    let series: Vec<Series> = LAWS
        .into_iter()
        .zip(runs)
        .map(|(law, (course, _))| Series::new(law, height(course)))
        .collect();
    against_time("quadruped-landing/heights", &times, &series, &[])
}

fn spread(runs: &[(Course, Landing)]) -> Plot {
    let mut plot = Plot::new("quadruped-landing/spread");
    if let Some((_, landing)) = runs.first() {
        plot = plot.through("orders", landing.drawn.iter().copied());
    }
    for (k, (law, (_, landing))) in LAWS.into_iter().zip(runs).enumerate() {
        plot.numbered("law", k, law, [landing.by_law]);
    }
    plot
}
