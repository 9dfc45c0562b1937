//! Boxes on an incline stick, slide or tip.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Count, Input, NonNegative, Positive};
use crate::motion::count_steps;
use crate::motion::figures::{Series, against_time};
use crate::motion::pivot::Pivot;
use crate::motion::playback::{Hit, playback};
use crate::motion::scene::{Course, GRAVITY, Scene, moreau};
use carom_geometry::{Cuboid, Shape};
use carom_lie::So3;
use carom_report::record::{Color, Column, Mark, Quantity, Record, Table};
use carom_variational::State;
use carom_world::Surface;
use nalgebra::Vector3;
use rayon::prelude::*;
use serde::Deserialize;
use std::f64::consts::FRAC_PI_2;

const FRAMES: usize = 200;

/// Number of boxes side by side.
const BOXES: usize = 3;

/// Largest slide (m) and turn (rad) that count as rest.
const STILL: f64 = 1e-8;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    duration: Positive,
    time_step: Positive,
    slope: Positive,
    mass: Positive,
    half_width: Positive,
    half_depth: Positive,
    half_heights: Positive<[f64; BOXES]>,
    frictions: NonNegative<[f64; BOXES]>,
    map: MapConfig,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MapConfig {
    frictions: Count<2, 200>,
    slopes: Count<2, 200>,
    friction: Positive,
    slope: Positive,
    duration: Positive,
}

/// Box on an incline: half width and half height (m), friction and slope (rad).
#[derive(Clone, Copy, Debug)]
struct Case {
    width: f64,
    height: f64,
    friction: f64,
    slope: f64,
}

/// First motion of a box from rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Sticks,
    Slides,
    Tips,
    /// The box tips while its lower edge slides.
    TipsAndSlides,
}

impl Outcome {
    fn of(slid: f64, turned: f64) -> Self {
        match (turned > STILL, slid > STILL) {
            (false, false) => Self::Sticks,
            (false, true) => Self::Slides,
            (true, false) => Self::Tips,
            (true, true) => Self::TipsAndSlides,
        }
    }

    fn number(self) -> f64 {
        match self {
            Self::Sticks => 0.0,
            Self::Slides => 1.0,
            Self::Tips => 2.0,
            Self::TipsAndSlides => 3.0,
        }
    }
}

impl Case {
    /// Returns the friction coefficient at which the lower edge of the box just sticks when the box begins to tip. With the
    /// angular acceleration $k = \tfrac{3g}{4R^2}(h\sin\alpha - b\cos\alpha)$ the force at the edge is $mg\sin\alpha - mhk$
    /// along the incline and $mg\cos\alpha + mbk$ normal to it. Here $b$ and $h$ are half width and half height, $R$ is half
    /// the diagonal, and $\alpha$ the slope.
    fn needed_to_tip(&self) -> f64 {
        let (sin, cos) = libm::sincos(self.slope);
        let (b, h) = (self.width, self.height);
        let k = 0.75 * (h * sin - b * cos) / (b * b + h * h);
        (sin - h * k) / (cos + b * k)
    }

    /// Returns how the box starts to move according to statics: it sticks, slides, tips, or tips and slides.
    fn expected(&self) -> Outcome {
        let (steep, stable) = (libm::tan(self.slope), self.width / self.height);
        match (steep > stable, self.friction) {
            (false, friction) if friction >= steep => Outcome::Sticks,
            (true, friction) if friction >= self.needed_to_tip() => Outcome::Tips,
            (true, friction) if friction > stable => Outcome::TipsAndSlides,
            _ => Outcome::Slides,
        }
    }

    /// Returns the distance (m) that a box slides down the incline from rest in the time `time` (s).
    fn slides_by(&self, time: f64) -> f64 {
        let along = libm::sin(self.slope) - self.friction * libm::cos(self.slope);
        0.5 * GRAVITY * along * time * time
    }

    fn pivot(&self) -> Pivot {
        Pivot {
            radius: libm::hypot(self.width, self.height),
            upright: libm::atan2(self.width, self.height) - self.slope,
            angle: 0.0,
            rate: 0.0,
            time: 0.0,
        }
    }

    /// True if friction keeps the lower edge of the box in place while the box turns about this edge. `pivot`: current state
    /// of the rotation.
    fn holds(&self, pivot: &Pivot) -> bool {
        // Acceleration of the center: in the direction of rotation, and from the edge outwards.
        let lean = pivot.angle - pivot.upright;
        let tangential = pivot.radius * pivot.acceleration(pivot.angle);
        let radial = -pivot.radius * pivot.rate * pivot.rate;
        let (sin, cos) = libm::sincos(lean);
        let horizontal = tangential * cos + radial * sin;
        let vertical = GRAVITY - tangential * sin + radial * cos;
        let (sin, cos) = libm::sincos(self.slope);
        let normal = horizontal * sin + vertical * cos;
        let along = vertical * sin - horizontal * cos;
        normal > 0.0 && along.abs() <= self.friction * normal
    }
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    for (key, degrees) in [("slope", *config.slope), ("map.slope", *config.map.slope)] {
        if degrees >= 90.0 {
            return Err(ScenarioError::value(key, "it must be below 90"));
        }
    }
    for (key, duration) in [
        ("duration", *config.duration),
        ("map.duration", *config.map.duration),
    ] {
        count_steps(key, duration, *config.time_step, 100_000)?;
    }
    let cases: [Case; BOXES] = std::array::from_fn(|k| Case {
        width: *config.half_width,
        height: config.half_heights[k],
        friction: config.frictions[k],
        slope: config.slope.to_radians(),
    });
    let scene = scene(&config, &cases)?.watched(input.progress);
    let course = scene.run(&moreau, *config.duration, usize::MAX, FRAMES)?;
    boxes(&config, &cases, &course, &mut record)?;
    map(&config, &mut record)?;
    let shown: Vec<Hit> = course.impacts.iter().map(Hit::from).collect();
    playback(&scene.spec, &course.frames, &shown, &mut record);
    Ok(record)
}

/// Builds the scene of the incline, which falls along x. The boxes, one for each case, stand side by side and do not touch
/// each other.
fn scene(config: &Config, cases: &[Case]) -> Result<Scene, ScenarioError> {
    let slope = cases.first().map_or(0.0, |case| case.slope);
    let attitude = So3::exp(&Vector3::new(0.0, slope, 0.0));
    let up = attitude.rotate(&Vector3::z());
    let mut scene = Scene::new(0.0, 0.0, *config.time_step);
    let depth = *config.half_depth;
    for (k, case) in cases.iter().enumerate() {
        let key = format!("half_heights[{k}]");
        let shape = Cuboid::new([case.width, depth, case.height])
            .map_err(|error| ScenarioError::value(&key, error))?;
        let across = Vector3::y() * (3.0 * depth * k as f64);
        let place = up * case.height + across;
        let name = format!("box-{}", k + 1);
        let body = scene.body(name, Shape::Cuboid(shape), Some(*config.mass), place)?;
        body.configuration.rotation = attitude;
    }
    scene.plane("incline", up, 0.0)?;
    scene.spec.surface.collide = false;
    for (k, case) in cases.iter().enumerate() {
        let surface = Surface::new(case.friction, 0.0);
        scene.spec.pairs.push(([k, cases.len()], surface));
    }
    Ok(scene)
}

/// Returns two values: the distance (m) that the lower edge of a box has slid down the incline, and the angle (rad) by
/// which the box has turned since the start.
fn moved(case: &Case, state: &State) -> (f64, f64) {
    let attitude = So3::exp(&Vector3::new(0.0, case.slope, 0.0));
    let down = attitude.rotate(&Vector3::x());
    let edge = Vector3::new(case.width, 0.0, -case.height);
    let at = state.position + state.rotation.rotate(&edge);
    let (w, v) = state.rotation.quaternion();
    (
        down.dot(&at) - case.width,
        2.0 * libm::atan2(v.y, w) - case.slope,
    )
}

/// Reports the motions of the three boxes, compared with statics and with a block that turns about its edge. `cases`:
/// parameters of the boxes; `course`: recorded run.
fn boxes(
    config: &Config,
    cases: &[Case],
    course: &Course,
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let times = course.times();
    let (mut slid, mut turned) = (Vec::new(), Vec::new());
    for (k, case) in cases.iter().enumerate() {
        let ways: Vec<(f64, f64)> = course
            .frames
            .iter()
            .filter_map(|(_, states)| Some(moved(case, states.get(k)?)))
            .collect();
        let (way, angle) = ways.last().copied().unwrap_or_default();
        let name = |of: &str| format!("box_{}_{of}", k + 1);
        let outcome = case.expected();
        let mut slide = Quantity::new(name("slid_m"), way, "m");
        let mut turn = Quantity::new(name("turned_rad"), angle, "rad");
        match outcome {
            Outcome::Sticks => {
                slide = slide.closed_form(0.0, "slope below friction");
                turn = turn.closed_form(0.0, "slope below width over height");
            }
            Outcome::Slides => {
                let far = case.slides_by(*config.duration);
                slide = slide.closed_form(far, "g (sin a - mu cos a) t^2 / 2");
                turn = turn.closed_form(0.0, "friction below width over height");
            }
            Outcome::Tips => {
                let error = tipping_error(case, &times, &ways);
                record.quantities.push(
                    Quantity::new(name("tipping_error_rad"), error, "rad").note(
                        "against Runge and Kutta on the block that turns about its edge, while friction holds it; \
                         of order two in the step",
                    ),
                );
            }
            Outcome::TipsAndSlides => (),
        }
        record.quantities.extend([slide, turn]);
        let label = format!("box {}", k + 1);
        slid.push(Series::new(
            &label,
            ways.iter().map(|(way, _)| *way).collect(),
        ));
        turned.push(Series::new(
            &label,
            ways.iter().map(|(_, angle)| angle.to_degrees()).collect(),
        ));
    }
    record.quantities.push(Quantity::new(
        "energy_max_error_j",
        course.of_end(|end| end.balance.energy_error),
        "J",
    ));
    against_time("incline/slid", &times, &slid, &[]).draw(record)?;
    against_time("incline/turned", &times, &turned, &[]).draw(record)
}

/// Returns the largest difference (rad) between the simulated angle of a tipping box and the exact angle of a block that turns
/// about its fixed edge. Times after the edge would slide or the box would lie flat do not count. Each entry of `ways` holds
/// the distance (m) that the box has slid and the angle (rad) by which the box has turned, at one of the `times` (s).
fn tipping_error(case: &Case, times: &[f64], ways: &[(f64, f64)]) -> f64 {
    let (mut pivot, mut worst) = (case.pivot(), 0.0);
    for (time, (_, angle)) in times.iter().zip(ways) {
        if *time > pivot.time {
            pivot = pivot.at(*time);
        }
        if !case.holds(&pivot) || pivot.angle >= FRAC_PI_2 {
            break;
        }
        worst = f64::max(worst, (angle - pivot.angle).abs());
    }
    worst
}

/// Outcomes of short runs for a grid of frictions and slopes.
struct Map<'a> {
    config: &'a Config,
    frictions: Vec<f64>,
    /// Slopes (deg).
    slopes: Vec<f64>,
    /// Outcomes; one list for each slope, one entry for each friction.
    found: Vec<Vec<Outcome>>,
}

/// Label, points (friction, slope in deg) and color of a border between two outcomes.
type Border = (&'static str, Vec<(f64, f64)>, Color);

/// Divides the range from zero to `most` into `n` equal intervals and returns their centers.
fn middles(most: f64, n: usize) -> Vec<f64> {
    (0..n).map(|k| most * (k as f64 + 0.5) / n as f64).collect()
}

/// Returns the parameters of the third box for a slope (deg) and a friction coefficient of the map.
fn map_case(config: &Config, slope: f64, friction: f64) -> Case {
    Case {
        width: *config.half_width,
        height: config.half_heights[BOXES - 1],
        friction,
        slope: slope.to_radians(),
    }
}

/// Simulates the third box for every friction coefficient and slope on a grid, the map of the scenario. Compares the observed
/// kinds of motion (stick, slide, tip) with statics, and adds the result to the record.
fn map(config: &Config, record: &mut Record) -> Result<(), ScenarioError> {
    let frictions = middles(*config.map.friction, *config.map.frictions);
    let slopes = middles(*config.map.slope, *config.map.slopes);
    let outcome = |case: Case| -> Result<Outcome, ScenarioError> {
        let course = scene(config, &[case])?.run(&moreau, *config.map.duration, usize::MAX, 1)?;
        let (slid, turned) = course
            .last(0)
            .map_or((0.0, 0.0), |state| moved(&case, state));
        Ok(Outcome::of(slid, turned))
    };
    let row = |slope: &f64| -> Result<Vec<Outcome>, ScenarioError> {
        let cells = frictions.iter();
        cells
            .map(|friction| outcome(map_case(config, *slope, *friction)))
            .collect()
    };
    let found: Result<Vec<Vec<Outcome>>, ScenarioError> = slopes.par_iter().map(row).collect();
    let found = found?;
    let map = Map {
        config,
        frictions,
        slopes,
        found,
    };
    let (table, agree) = map.table();
    let cells = table.rows.len() as f64;
    record.quantities.push(
        Quantity::new("map_cells_that_agree", agree as f64, "").closed_form(cells, "statics"),
    );
    record.tables.push(table);
    map.figure().draw(record)
}

impl Map<'_> {
    /// Returns the table of all friction coefficients and slopes, and the number of them for which simulation and statics
    /// agree.
    fn table(&self) -> (Table, usize) {
        let mut table = Table::new(
            "map",
            "What the third box does: 0 sticks, 1 slides, 2 tips, 3 tips and slides; from a run, and from statics.",
            Column::list("slope [deg], friction, run, statics"),
        );
        let mut agree = 0;
        for (slope, row) in self.slopes.iter().zip(&self.found) {
            for (friction, outcome) in self.frictions.iter().zip(row) {
                let expected = map_case(self.config, *slope, *friction).expected();
                agree += usize::from(expected == *outcome);
                let numbers = [*outcome, expected].map(Outcome::number);
                table
                    .rows
                    .push(vec![*slope, *friction, numbers[0], numbers[1]]);
            }
        }
        (table, agree)
    }

    fn figure(&self) -> Plot {
        let (most_friction, most_slope) = (*self.config.map.friction, *self.config.map.slope);
        let row = |row: &Vec<Outcome>| row.iter().map(|outcome| outcome.number()).collect();
        let values = self.found.iter().map(row).collect();
        let mut plot = Plot::new("incline/map")
            .x_range([0.0, most_friction])
            .y_range([0.0, most_slope])
            .heat(&self.frictions, &self.slopes, values);
        let inside = |(friction, slope): &(f64, f64)| {
            (0.0..=most_friction).contains(friction) && *slope <= most_slope
        };
        for (label, points, color) in self.borders() {
            let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().filter(inside).unzip();
            if x.len() > 1 {
                plot.mark(Mark::line(label, x, y, color));
            }
        }
        plot
    }

    /// Returns the curves in the map of friction and slope that separate the kinds of motion according to statics.
    fn borders(&self) -> [Border; 3] {
        let map = &self.config.map;
        let stable = *self.config.half_width / self.config.half_heights[BOXES - 1];
        let tips = libm::atan(stable).to_degrees();
        let fine: Vec<f64> = middles(*map.slope, 400);
        let of_slopes = |friction: &dyn Fn(f64) -> f64| -> Vec<(f64, f64)> {
            fine.iter()
                .map(|slope| (friction(*slope), *slope))
                .collect()
        };
        let needed = |slope: f64| {
            if slope > tips {
                map_case(self.config, slope, 0.0).needed_to_tip()
            } else {
                f64::NAN
            }
        };
        [
            (
                "it slides",
                of_slopes(&|slope| libm::tan(slope.to_radians()).min(stable)),
                Color::Black,
            ),
            (
                "it tips",
                vec![(stable, tips), (*map.friction, tips)],
                Color::Vermillion,
            ),
            ("the edge holds", of_slopes(&needed), Color::Orange),
        ]
    }
}
