//! Balls fall through rows of pegs into bins.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Count, Fraction, Input, NonNegative, Positive};
use crate::motion::count_steps;
use crate::motion::playback::{Hit, playback};
use crate::motion::scene::{Course, Scene, moreau};
use carom_geometry::{Ellipsoid, Shape};
use carom_numeric::random;
use carom_report::record::{Quantity, Record};
use carom_variational::State;
use carom_world::Impact;
use nalgebra::Vector3;
use rayon::prelude::*;
use serde::Deserialize;
use std::sync::atomic::{AtomicU64, Ordering};

const FRAMES: usize = 200;

/// Largest number of bodies in the animation, pegs included.
const SHOWN: usize = 66;

const TIME_STEP: f64 = 1e-3;

/// Largest error of the energy of a ball (J): its steps of lasting contact on the pegs have errors of the third order.
const LARGEST_ERROR: f64 = 1e-6;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    balls: Count<1, 100_000>,
    rows: Count<1, 20>,
    spacing: Positive,
    peg_radius: Positive,
    ball_radius: Positive,
    mass: Positive,
    drop: NonNegative,
    spread: NonNegative,
    restitution: Fraction,
    duration: Positive,
    seed: u64,
}

impl Config {
    /// Returns the height (m) of a row of pegs on the Galton board; the first row is at 0. Pegs of neighboring rows form
    /// equilateral triangles.
    fn height(&self, row: usize) -> f64 {
        -0.75f64.sqrt() * *self.spacing * row as f64
    }

    /// Returns the height (m) at which the bins of the Galton board begin: half a row below the last pegs.
    fn bins(&self) -> f64 {
        0.5 * (self.height(*self.rows - 1) + self.height(*self.rows))
    }

    /// Returns the positions of all pegs of the Galton board (m). Every row is so wide that a ball which falls to one side at
    /// each row still hits a peg. One peg of the first row is directly below the balls.
    fn pegs(&self) -> Vec<Vector3<f64>> {
        let half = self.rows.div_ceil(2);
        let row = |k: usize| {
            let count = 2 * half + 1 + k % 2;
            let place = move |i: usize| (i as f64 - 0.5 * (count - 1) as f64) * *self.spacing;
            (0..count).map(move |i| Vector3::new(place(i), 0.0, self.height(k)))
        };
        (0..*self.rows).flat_map(row).collect()
    }

    /// Returns the index of the bin for a ball that leaves the pegs at the horizontal position `x` (m). A ball beyond the
    /// outermost bins counts for the nearest one.
    fn bin(&self, x: f64) -> usize {
        let bin = (x / *self.spacing + 0.5 * *self.rows as f64).round();
        (bin.max(0.0) as usize).min(*self.rows)
    }

    fn sphere(radius: f64, key: &str) -> Result<Shape, ScenarioError> {
        let sphere = Ellipsoid::sphere(radius, Vector3::zeros());
        Ok(Shape::Ellipsoid(
            sphere.map_err(|error| ScenarioError::value(key, error))?,
        ))
    }

    /// Builds the scene of a Galton board: all pegs, and the balls with the numbers in `balls`. The start of each ball is
    /// random, determined by the seed and the number of the ball.
    fn scene(&self, balls: std::ops::Range<usize>) -> Result<Scene, ScenarioError> {
        let mut scene = Scene::new(0.0, *self.restitution, TIME_STEP);
        let ball = Self::sphere(*self.ball_radius, "ball_radius")?;
        let peg = Self::sphere(*self.peg_radius, "peg_radius")?;
        let above = *self.peg_radius + *self.ball_radius + *self.drop;
        for number in balls {
            let x = random::uniform(self.seed, number as u64, -*self.spread, *self.spread);
            let name = format!("ball-{}", number + 1);
            let place = Vector3::new(x, 0.0, above);
            scene.body(name, ball.clone(), Some(*self.mass), place)?;
        }
        for (k, place) in self.pegs().into_iter().enumerate() {
            scene.body(format!("peg-{}", k + 1), peg.clone(), None, place)?;
        }
        Ok(scene)
    }
}

/// Run of one ball.
struct Fall {
    course: Course,
    /// Time (s) and horizontal position (m) at which the ball reaches the bins; `None` if it does not.
    landing: Option<(f64, f64)>,
}

impl Fall {
    fn new(config: &Config, number: usize, frames: usize) -> Result<Self, ScenarioError> {
        let scene = config.scene(number..number + 1)?;
        let course = scene.run(&moreau, *config.duration, usize::MAX, frames)?;
        let landing = course
            .last(0)
            .and_then(|state| landing(config, *config.duration, state));
        Ok(Self { course, landing })
    }
}

/// Computes the time (s) and the horizontal position (m) at which a ball falls past the height where the bins begin. Extends
/// the ball's parabola backwards from its state at the time `end` (s), which is below that height. `None` if the ball has not
/// passed the height.
fn landing(config: &Config, end: f64, state: &State) -> Option<(f64, f64)> {
    let below = config.bins() - state.position.z;
    let velocity = state.linear_momentum / *config.mass;
    if below <= 0.0 {
        return None;
    }
    // Solves z − v s − g s²/2 = bins, with s back in time and v < 0.
    let fall = -velocity.z;
    let root = fall * fall - 2.0 * crate::motion::scene::GRAVITY * below;
    let back = 2.0 * below / (fall + root.max(0.0).sqrt());
    Some((end - back, state.position.x - velocity.x * back))
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let across = 2.0 * (*config.peg_radius + *config.ball_radius);
    if across >= *config.spacing {
        let message = format!(
            "{} must be above {across}: balls would not pass between pegs",
            *config.spacing
        );
        return Err(ScenarioError::value("spacing", message));
    }
    count_steps("duration", *config.duration, TIME_STEP, 100_000)?;
    let shown = SHOWN.saturating_sub(config.pegs().len()).min(*config.balls);
    let (done, balls) = (AtomicU64::new(0), *config.balls as u64);
    let one = |number: usize| {
        let fall = Fall::new(&config, number, if number < shown { FRAMES } else { 1 });
        let done = 1 + done.fetch_add(1, Ordering::Relaxed);
        input.progress.report("balls", done, balls);
        fall
    };
    let falls: Result<Vec<Fall>, ScenarioError> =
        (0..*config.balls).into_par_iter().map(one).collect();
    let falls = falls?;
    let landings = falls.iter().filter_map(|fall| fall.landing);
    let bins: Vec<usize> = landings.map(|(_, x)| config.bin(x)).collect();
    report(&config, &bins, &mut record)?;
    let of_falls = |value: &dyn Fn(&Fall) -> f64| -> Vec<f64> { falls.iter().map(value).collect() };
    let impacts = of_falls(&|fall| fall.course.impacts.len() as f64);
    let lost = of_falls(&|fall| fall.course.of_end(|end| end.balance.impact_loss));
    let errors = of_falls(&|fall| fall.course.of_end(|end| end.balance.energy_error));
    record.quantities.extend([
        Quantity::mean("impacts_per_ball", &impacts, ""),
        Quantity::mean("impact_loss_per_ball_j", &lost, "J"),
        Quantity::new(
            "energy_max_error_j",
            errors.into_iter().fold(0.0, f64::max),
            "J",
        )
        .at_most(LARGEST_ERROR)
        .note("of any ball, with what its impacts took"),
    ]);
    play(&config, &falls[..shown], &mut record)?;
    Ok(record)
}

/// Returns the binomial distribution of `rows` independent choices with probability 1/2: the probability of each number of
/// choices to the right, from 0 to `rows`.
fn binomial(rows: usize) -> Vec<f64> {
    let mut row = vec![1.0];
    for _ in 0..rows {
        let mut next = vec![0.0; row.len() + 1];
        for (k, p) in row.iter().enumerate() {
            next[k] += 0.5 * p;
            next[k + 1] += 0.5 * p;
        }
        row = next;
    }
    row
}

/// Reports the shares of the balls in the bins, compared with the binomial distribution. `bins`: the bin of each ball that
/// landed.
fn report(config: &Config, bins: &[usize], record: &mut Record) -> Result<(), ScenarioError> {
    let landed = bins.len() as f64;
    let law = binomial(*config.rows);
    record
        .quantities
        .push(Quantity::new("balls_in_bins", landed, ""));
    let numbers: Vec<f64> = bins.iter().map(|bin| *bin as f64).collect();
    let mean = Quantity::mean("mean_bin", &numbers, "");
    let apart = |x: &f64| (x - mean.value) * (x - mean.value);
    let squares: Vec<f64> = numbers.iter().map(apart).collect();
    let rows = *config.rows as f64;
    record.quantities.extend([
        mean.note(format!("{} for even choices", 0.5 * rows)),
        Quantity::mean("variance", &squares, "")
            .note(format!("{} for even and independent choices", 0.25 * rows)),
    ]);
    let mut plot = Plot::new("galton-board/bins");
    for (k, p) in law.iter().enumerate() {
        let here: Vec<f64> = bins
            .iter()
            .map(|bin| f64::from(u8::from(*bin == k)))
            .collect();
        let share = Quantity::mean(format!("share_of_bin_{k}"), &here, "");
        let (low, high) = (k as f64 - 0.4, k as f64 + 0.4);
        plot = plot.with(
            "bin",
            [low, high, high, low],
            [0.0, 0.0, share.value, share.value],
        );
        record
            .quantities
            .push(share.note(format!("{p} for even and independent choices")));
    }
    let law = law.into_iter().enumerate().map(|(k, p)| [k as f64, p]);
    plot.through("binomial", law).draw(record)
}

/// Animates the separately simulated balls in `falls` together, as if they had started at the same time. Each ball
/// stops at the height where the bins begin.
fn play(config: &Config, falls: &[Fall], record: &mut Record) -> Result<(), ScenarioError> {
    let Some(first) = falls.first() else {
        return Ok(());
    };
    let last = falls.iter().filter_map(|fall| fall.landing);
    let until = last.map(|(time, _)| time).fold(0.0, f64::max);
    let scene = config.scene(0..falls.len())?;
    let mut frames = Vec::new();
    for (k, (time, states)) in first.course.frames.iter().enumerate() {
        if *time > until * 1.05 && until > 0.0 {
            break;
        }
        let ball = |fall: &Fall| -> Option<State> {
            let mut state = *fall.course.frames.get(k)?.1.first()?;
            if let Some((landing, x)) = fall.landing
                && *time > landing
            {
                state.position = Vector3::new(x, 0.0, config.bins());
            }
            Some(state)
        };
        let balls = falls.iter().filter_map(ball);
        frames.push((*time, balls.chain(states.iter().skip(1).copied()).collect()));
    }
    // Each run has one ball, with the index 0; in the animation it gets its own index.
    let hit = |ball: usize, impact: &Impact| {
        let mut hit = Hit::from(impact);
        hit.states.retain(|(body, _)| *body == 0);
        hit.states.iter_mut().for_each(|(body, _)| *body = ball);
        hit
    };
    let mut hits: Vec<Hit> = falls
        .iter()
        .enumerate()
        .flat_map(|(ball, fall)| fall.course.impacts.iter().map(move |i| hit(ball, i)))
        .filter(|hit| hit.time <= until)
        .collect();
    hits.sort_by(|a, b| a.time.total_cmp(&b.time));
    playback(&scene.spec, &frames, &hits, record);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binomial_law_of_four_choices() {
        let sixteenths: Vec<f64> = binomial(4).iter().map(|p| 16.0 * p).collect();
        assert_eq!(sixteenths, [1.0, 4.0, 6.0, 4.0, 1.0]);
    }
}
