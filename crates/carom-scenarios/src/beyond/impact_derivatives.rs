//! Derivatives of impacts: regions where the outcome is smooth, kinks with two derivatives, and jumps of the outcome.

use crate::ScenarioError;
use crate::common::linspace;
use crate::common::plot::Plot;
use crate::config::{Count, Input, Positive};
use carom_contact::{Contact, ContactSet, ImpactOutcome, ImpactProblem};
use carom_derivative::{Derivative, Differentiability, DifferentiableLaw, Wrt, differentiate};
use carom_impact::Propagative;
use carom_impact::frictional::{AnitescuPotra, MoreauNewton};
use carom_metric::{Covector, KineticMetric, Tangent};
use carom_report::record::{Column, Quantity, Record, Table};
use nalgebra::{DMatrix, DVector};
use serde::Deserialize;

/// Distance from a tie at which a decision counts as tied, divided by the velocity before the impact.
const TOLERANCE: f64 = 1e-9;

/// Number of slopes drawn along a curve.
const SLOPES: usize = 12;

/// Difference up to which two slopes belong to one smooth region.
const SAME_SLOPE: f64 = 1e-9;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    samples: Count<2, 100_000>,
    balls: Balls,
    block: Block,
    slide: Slide,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Balls {
    masses: [Positive; 3],
    equal_masses: [Positive; 3],
    velocity: [f64; 3],
    range: Positive,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    half_width: Positive,
    half_height: Positive,
    mass: Positive,
    speed: Positive,
    range: Positive,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Slide {
    friction: Positive,
    speed: Positive,
    range: Positive,
}

/// A law and contacts; one component of the velocity before the impact is varied.
struct Sweep<'a> {
    law: &'a dyn DifferentiableLaw,
    masses: Vec<f64>,
    contacts: Vec<Contact>,
    velocity: Vec<f64>,
    /// Index of the varied component, and index of the component shown after the impact.
    swept: usize,
    shown: usize,
}

/// Samples of a curve: varied component before the impact, shown component after it, and slopes.
struct Curve {
    before: Vec<f64>,
    after: Vec<f64>,
    slopes: Vec<f64>,
}

impl Sweep<'_> {
    fn at<T>(
        &self,
        x: f64,
        look: impl FnOnce(&ImpactOutcome, &Derivative<'_>) -> T,
    ) -> Result<T, ScenarioError> {
        let mass = DMatrix::from_diagonal(&DVector::from_column_slice(&self.masses));
        let metric = KineticMetric::new(mass)?;
        let contacts = ContactSet::new(metric, self.contacts.clone())?;
        let mut velocity = self.velocity.clone();
        velocity[self.swept] = x;
        let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&velocity))?;
        let (outcome, derivative) =
            differentiate(self.law, &problem, &Wrt::WITH_PIECES, TOLERANCE)?;
        Ok(look(&outcome, &derivative))
    }

    fn curve(&self, xs: &[f64]) -> Result<Curve, ScenarioError> {
        let mut curve = Curve {
            before: Vec::with_capacity(xs.len()),
            after: Vec::with_capacity(xs.len()),
            slopes: Vec::with_capacity(xs.len()),
        };
        for x in xs {
            let (after, slope) = self.at(*x, |outcome, derivative| {
                let slope = derivative.dv_dv().map(|d| d[(self.shown, self.swept)]);
                (outcome.velocity_plus.0[self.shown], slope)
            })?;
            // A sample on a tie has no slope and is left out.
            if let Some(slope) = slope {
                curve.before.push(*x);
                curve.after.push(after);
                curve.slopes.push(slope);
            }
        }
        Ok(curve)
    }

    /// Differentiates the impact with the value `x` of the varied velocity component before the impact. Returns the
    /// differentiability class, the number of smooth pieces of the impact map that meet there, the slope of each piece, and
    /// the difference of the shown velocity component between the pieces.
    fn tie(&self, x: f64) -> Result<Tie, ScenarioError> {
        self.at(x, |_, derivative| {
            let pieces = derivative.pieces();
            let shown = pieces.iter().map(|piece| piece.velocity_plus[self.shown]);
            let high = shown.clone().fold(f64::NEG_INFINITY, f64::max);
            let low = shown.fold(f64::INFINITY, f64::min);
            let slope = |piece: &carom_derivative::Piece| piece.dv_dv[(self.shown, self.swept)];
            Tie {
                class: derivative.class(),
                pieces: pieces.len(),
                jump: if pieces.is_empty() { 0.0 } else { high - low },
                slopes: pieces.iter().map(slope).collect(),
            }
        })
    }
}

struct Tie {
    class: Option<Differentiability>,
    pieces: usize,
    jump: f64,
    slopes: Vec<f64>,
}

impl Tie {
    fn number(&self) -> f64 {
        match self.class {
            Some(Differentiability::Smooth) => 0.0,
            Some(Differentiability::Kink) => 1.0,
            _ => 2.0,
        }
    }
}

impl Curve {
    /// Returns the index of the first sample in the upper half of the range of the varied velocity. The impact outcome may be
    /// discontinuous at the center of this range.
    fn middle(&self) -> usize {
        let (Some(first), Some(last)) = (self.before.first(), self.before.last()) else {
            return 0;
        };
        self.before.partition_point(|x| *x < 0.5 * (first + last))
    }

    /// Returns the largest difference between the computed slopes of the curve and its central difference quotients. Samples
    /// next to a kink, and those next to the center of the range, where the curve may be discontinuous, do not count.
    fn missed(&self) -> f64 {
        let middle = self.middle();
        let mut missed = 0.0f64;
        for k in 1..self.before.len().saturating_sub(1) {
            let turn = (self.slopes[k + 1] - self.slopes[k - 1]).abs();
            if turn > SAME_SLOPE || (k - 1 < middle && k + 1 >= middle) {
                continue;
            }
            let rise = self.after[k + 1] - self.after[k - 1];
            let run = self.before[k + 1] - self.before[k - 1];
            missed = missed.max((rise / run - self.slopes[k]).abs());
        }
        missed
    }

    /// Draws the curve as the mark `name`, in two halves, and some of its slopes.
    fn draw(&self, name: &str, plot: &mut Plot) {
        let ends = (self.before.first(), self.before.last());
        let (Some(first), Some(last)) = ends else {
            return;
        };
        let points = self.before.iter().zip(&self.after);
        let points: Vec<[f64; 2]> = points.map(|(x, y)| [*x, *y]).collect();
        let (lower, upper) = points.split_at(self.middle());
        plot.curve(name, name, lower.iter().copied());
        plot.curve(name, "", upper.iter().copied());
        let half = (last - first) / (4 * SLOPES) as f64;
        for k in 0..SLOPES {
            let i = (2 * k + 1) * self.before.len() / (2 * SLOPES);
            let (x, y, slope) = (self.before[i], self.after[i], self.slopes[i]);
            let ends = [-half, half].map(|dx| [x + dx, y + slope * dx]);
            plot.curve(&format!("slopes of {name}"), "", ends);
        }
    }
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let mut ties = Table::new(
        "ties",
        "In the middle of each sweep: 0 smooth, 1 kink, 2 jump; pieces, and how far they are apart.",
        ["class", "pieces", "jump"]
            .map(|name| Column::new(name, ""))
            .to_vec(),
    );
    let mut push = |tie: &Tie| {
        ties.rows
            .push(vec![tie.number(), tie.pieces as f64, tie.jump])
    };
    balls(&config, &mut record, &mut push)?;
    block(&config, &mut record, &mut push)?;
    slide(&config, &mut record, &mut push)?;
    record.tables.push(ties);
    Ok(record)
}

fn around(middle: f64, range: f64, samples: usize) -> Vec<f64> {
    linspace(middle - range, middle + range, samples)
}

fn balls(
    config: &Config,
    record: &mut Record,
    push: &mut dyn FnMut(&Tie),
) -> Result<(), ScenarioError> {
    let balls = &config.balls;
    let law = Propagative::default();
    let normals = [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]];
    let sweep = |masses: &[Positive; 3]| Sweep {
        law: &law,
        masses: masses.iter().map(|m| **m).collect(),
        contacts: normals
            .map(|row| Contact::frictionless(Covector::from_slice(&row)))
            .to_vec(),
        velocity: balls.velocity.to_vec(),
        swept: 1,
        shown: 2,
    };
    let xs = around(balls.velocity[1], *balls.range, *config.samples);
    let mut plot = Plot::new("impact-derivatives/break");
    for (name, label, masses) in [
        ("heavy", "heavy in the middle", &balls.masses),
        ("equal", "equal", &balls.equal_masses),
    ] {
        let sweep = sweep(masses);
        let curve = sweep.curve(&xs)?;
        curve.draw(label, &mut plot);
        let tie = sweep.tie(balls.velocity[1])?;
        push(&tie);
        let [a, b, c] = masses.map(|m| *m);
        let mut jump = Quantity::new(format!("{name}_jump_m_per_s"), tie.jump, "m/s");
        if (a, b, c) == (1.0, 2.0, 1.0) && balls.velocity == [1.0, 0.0, -1.0] {
            jump = jump.closed_form(20.0 / 27.0, "(33 - 13)/27: each order, by hand");
        } else if a == b && b == c {
            jump = jump.closed_form(0.0, "either order reverses the velocities");
        }
        record.quantities.push(jump);
        record.quantities.push(
            Quantity::new(format!("{name}_slope_error"), curve.missed(), "")
                .closed_form(0.0, "the outcome is linear between ties"),
        );
    }
    plot.draw(record)
}

fn block(
    config: &Config,
    record: &mut Record,
    push: &mut dyn FnMut(&Tie),
) -> Result<(), ScenarioError> {
    let block = &config.block;
    let (width, height, mass) = (*block.half_width, *block.half_height, *block.mass);
    let inertia = mass * (width * width + height * height) / 3.0;
    let (elastic, newton) = (Propagative::default(), MoreauNewton::default());
    let xs = around(0.0, *block.range, *config.samples);
    let mut plot = Plot::new("impact-derivatives/landing");
    let laws: [(&str, &str, &dyn DifferentiableLaw); 2] = [
        ("propagative", "propagative", &elastic),
        ("newton", "moreau-newton, e = 1", &newton),
    ];
    for (name, label, law) in laws {
        let sweep = Sweep {
            law,
            masses: vec![mass, mass, inertia],
            contacts: [-width, width]
                .map(|x| Contact::new(Covector::from_slice(&[0.0, 1.0, x])).with_restitution(1.0))
                .to_vec(),
            velocity: vec![0.0, -*block.speed, 0.0],
            swept: 2,
            shown: 2,
        };
        let curve = sweep.curve(&xs)?;
        curve.draw(label, &mut plot);
        let tie = sweep.tie(0.0)?;
        push(&tie);
        let mut jump = Quantity::new(format!("{name}_jump_rad_per_s"), tie.jump, "rad/s");
        let lever = width * width * mass / inertia;
        let cosine = (1.0 - lever) / (1.0 + lever);
        if name == "newton" {
            jump = jump.closed_form(0.0, "every corner reverses its velocity");
        } else if cosine < 0.0 && 1.0 + 2.0 * cosine - 4.0 * cosine * cosine >= 0.0 {
            let stiffness = inertia * (1.0 + lever) / mass;
            let expected = 8.0 * width * *block.speed * cosine.abs() / stiffness;
            jump = jump.closed_form(expected, "8 a v |c| m / (I (1 + m a^2 / I)), two impacts");
        }
        record.quantities.push(jump);
    }
    plot.draw(record)
}

fn slide(
    config: &Config,
    record: &mut Record,
    push: &mut dyn FnMut(&Tie),
) -> Result<(), ScenarioError> {
    let slide = &config.slide;
    let law = AnitescuPotra::default();
    let sweep = Sweep {
        law: &law,
        masses: vec![1.0, 1.0],
        contacts: vec![
            Contact::new(Covector::from_slice(&[0.0, 1.0]))
                .with_tangents(vec![Covector::from_slice(&[1.0, 0.0])])
                .with_friction(*slide.friction),
        ],
        velocity: vec![0.0, -*slide.speed],
        swept: 0,
        shown: 0,
    };
    let curve = sweep.curve(&around(0.0, *slide.range, *config.samples))?;
    let mut plot = Plot::new("impact-derivatives/friction");
    curve.draw("anitescu-potra", &mut plot);
    let stop = *slide.friction * *slide.speed;
    let tie = sweep.tie(stop)?;
    push(&tie);
    plot.with("kink", [-stop, stop], [0.0; 2]).draw(record)?;
    let least = tie.slopes.iter().copied().fold(f64::INFINITY, f64::min);
    let most = tie.slopes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    record.quantities.extend([
        Quantity::new("kink_least_slope", least, "").closed_form(0.0, "it sticks"),
        Quantity::new("kink_greatest_slope", most, "")
            .closed_form(1.0, "friction is constant while it slides"),
        Quantity::new("kink_jump_m_per_s", tie.jump, "m/s")
            .closed_form(0.0, "the outcome is continuous"),
    ]);
    Ok(())
}
