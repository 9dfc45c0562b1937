//! Comparison of the set of rigid outcomes with drops of a block on compliant corners: Halm & Posa, Fig. 12.

use super::kelvin_voigt::{KelvinVoigt, Landing, NotFollowed};
use super::rocking_block::block;
use crate::common::plot::Plot;
use crate::config::{Count, Input, NonNegative, Positive};
use crate::{Progress, ScenarioError};
use carom_contact::ImpactLaw;
use carom_impact::frictional::{CapDistribution, Sampler, Sequential, SetValued, summarize};
use carom_report::record::{Column, Quantity, Record, Table};
use rayon::prelude::*;
use serde::Deserialize;

/// Probability that a step of a sample sets the cap of a corner to zero.
const OFF: f64 = 0.25;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    width: Positive,
    height: Positive,
    mass: Positive,
    gravity: Positive,
    drop: Positive,
    friction: NonNegative,
    stiffness: Positive,
    damping_ratio: Positive,
    sliding_scale: Positive,
    rest_speed: Positive,
    decades: f64,
    angle_deg: f64,
    drops: Count<2, 10_000>,
    impulse_step: Positive,
    samples: u64,
    seed: u64,
}

impl Config {
    fn model(&self) -> Result<KelvinVoigt, ScenarioError> {
        if !(0.0..=8.0).contains(&self.decades) {
            let message = format!("{} must lie in [0, 8]", self.decades);
            return Err(ScenarioError::value("decades", message));
        }
        let model = KelvinVoigt {
            width: *self.width,
            height: *self.height,
            mass: *self.mass,
            gravity: *self.gravity,
            friction: *self.friction,
            stiffness: [*self.stiffness; 2],
            damping_ratio: *self.damping_ratio,
            sliding_scale: *self.sliding_scale,
            rest_speed: *self.rest_speed,
        };
        if !(0.0..45.0).contains(&self.angle_deg)
            || model.raised(self.angle_deg.to_radians()) >= *self.drop
        {
            let message = format!(
                "{}: at this angle the block touches before it falls",
                self.angle_deg
            );
            return Err(ScenarioError::value("angle_deg", message));
        }
        Ok(model)
    }

    fn speed(&self) -> f64 {
        (2.0 * *self.gravity * *self.drop).sqrt()
    }

    /// Returns evenly spaced values from `-most` to `most`, one for each drop of the block. For an odd number of drops the
    /// middle one is exactly 0.
    fn sweep(&self, most: f64) -> Vec<f64> {
        let last = (*self.drops - 1) as f64;
        let value = |k: usize| most * (2.0 * k as f64 - last) / last;
        (0..*self.drops).map(value).collect()
    }
}

/// Velocities of the contacts after the impact of rigid bodies: samples of the set-valued law, and sequential outcomes.
struct Rigid {
    outcomes: Vec<Vec<f64>>,
    sequential: Vec<Vec<f64>>,
}

fn rigid(config: &Config, progress: &Progress) -> Result<Rigid, ScenarioError> {
    let system = block(
        *config.width,
        *config.height,
        *config.mass,
        *config.friction,
        config.speed(),
    );
    let problem = &system.problem()?;
    let mut sequential = Vec::new();
    for first in 0..2 {
        let law = Sequential::default().with_order(vec![first]);
        let outcome = law.resolve(problem)?;
        sequential.push(system.contact_velocity(outcome.velocity_plus.0.as_slice()));
    }
    let law = SetValued::default()
        .with_impulse_step(Some(*config.impulse_step))
        .with_samples(config.samples)
        .with_seed(config.seed)
        .with_caps(CapDistribution::Mixed { off: OFF })
        .with_max_work(u64::MAX);
    Ok(Rigid {
        outcomes: summarize(&Sampler::new(problem, &law)?, &progress.samples())?.velocities,
        sequential,
    })
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let model = config.model()?;
    let rigid = rigid(&config, input.progress)?;
    let farthest = rigid.sequential.iter().flat_map(|rows| [rows[0], rows[2]]);
    let farthest = farthest.fold(0.0, f64::max);
    record.quantities.push(
        Quantity::new("rigid_most_m_per_s", farthest, "m/s")
            .note("corner that lifts after the other one has been hit alone and first"),
    );
    let failed = |NotFollowed(message): NotFollowed| ScenarioError::Integration { message };
    let speed = config.speed();
    let follow = |drop: &(dyn Fn(f64) -> Result<Landing, NotFollowed> + Sync), values: &[f64]| {
        let landings: Result<Vec<Landing>, NotFollowed> =
            values.par_iter().map(|value| drop(*value)).collect();
        landings.map_err(failed)
    };

    let decades = config.sweep(config.decades);
    let by_stiffness = |decades: f64| {
        let [a, b] = [decades.max(0.0), (-decades).max(0.0)];
        let stiffness = [a, b].map(|d| *config.stiffness * libm::pow(10.0, d));
        KelvinVoigt { stiffness, ..model }.drop(0.0, speed)
    };
    let landings = follow(&by_stiffness, &decades)?;
    add(
        &mut record,
        &rigid,
        &Sweep {
            name: "stiffness",
            quantity: Column::new("log10_stiffness_a_over_b", ""),
            what: "log10 of stiffness A over B,",
            title: "Compliant block: one corner stiffer than the other",
            values: &decades,
            landings: &landings,
            farthest,
            note: "Fig. 12: properly contained in the rigid set, and nearly covers it",
        },
    )?;

    let angles = config.sweep(config.angle_deg);
    let by_angle = |angle: f64| model.drop(angle.to_radians(), speed);
    let landings = follow(&by_angle, &angles)?;
    add(
        &mut record,
        &rigid,
        &Sweep {
            name: "angle",
            quantity: Column::new("angle", "deg"),
            what: "angle in degrees,",
            title: "Compliant block: one corner lands before the other",
            values: &angles,
            landings: &landings,
            farthest,
            note: "Fig. 12: slightly larger than the rigid set, since gravity and turning go on",
        },
    )?;
    if let (Some(last), true) = (landings.last(), config.angle_deg > 0.0) {
        record.quantities.push(
            Quantity::new("first_corner_share", last.first_share, "").note(
                "impulse of the lower corner before the other one touches, at the largest \
                     angle",
            ),
        );
    }
    Ok(record)
}

/// Writes the ends of a range with the decimals that tell them apart, one at least.
fn range([low, high]: [f64; 2]) -> String {
    let mut decimals = 1;
    // Twelve decimals tell the ends of every sweep apart that has more than one value.
    while low != high
        && decimals < 12
        && format!("{low:.decimals$}") == format!("{high:.decimals$}")
    {
        decimals += 1;
    }
    let number = |value: f64| {
        let text = format!("{value:.decimals$}");
        let is_zero = text.chars().all(|c| matches!(c, '-' | '0' | '.'));
        if is_zero {
            text.trim_start_matches('-').to_owned()
        } else {
            text
        }
    };
    format!("{} to {}", number(low), number(high))
}

/// Colors of the lines of a sweep, from its lowest to its highest values.
const SWEEP: usize = 5;

/// Drops that differ in one quantity.
struct Sweep<'a> {
    name: &'static str,
    quantity: Column,
    what: &'static str,
    title: &'static str,
    values: &'a [f64],
    landings: &'a [Landing],
    farthest: f64,
    note: &'static str,
}

fn add(record: &mut Record, rigid: &Rigid, sweep: &Sweep<'_>) -> Result<(), ScenarioError> {
    let velocities = sweep.landings.iter().flat_map(|l| l.normal_velocity);
    let most = velocities.fold(f64::NEG_INFINITY, f64::max);
    record.quantities.push(
        Quantity::new(
            format!("{}_most_over_rigid", sweep.name),
            most / sweep.farthest,
            "",
        )
        .note(sweep.note),
    );
    let mut table = Table::new(
        sweep.name,
        "Where each drop ends.",
        [
            sweep.quantity.clone(),
            Column::new("vn_A", "m/s"),
            Column::new("vn_B", "m/s"),
            Column::new("vt_A", "m/s"),
            Column::new("vt_B", "m/s"),
            Column::new("impulse_A", "N s"),
            Column::new("impulse_B", "N s"),
            Column::new("duration", "s"),
        ]
        .to_vec(),
    );
    for (value, landing) in sweep.values.iter().zip(sweep.landings) {
        let [na, nb] = landing.normal_velocity;
        let [ta, tb] = landing.tangential_velocity;
        let [ia, ib] = landing.impulse;
        table
            .rows
            .push(vec![*value, na, nb, ta, tb, ia, ib, landing.duration]);
    }
    record.tables.push(table);
    let normals = |rows: &[Vec<f64>]| -> Vec<[f64; 2]> {
        let corners = |row: &Vec<f64>| Some([*row.first()?, *row.get(2)?]);
        rows.iter().filter_map(corners).collect()
    };
    let mut plot = Plot::new("compliant-block/fig12")
        .fill("name", sweep.name)
        .fill("title", sweep.title)
        .fill("what", sweep.what)
        .through("rigid, any overlap", normals(&rigid.outcomes))
        .through("rigid, one after the other", normals(&rigid.sequential));
    // The sweep is divided into equal groups, from the lowest values to the highest, one color each.
    let share = sweep.landings.len().div_ceil(SWEEP).max(1);
    let values = sweep.values.chunks(share);
    let groups = values.zip(sweep.landings.chunks(share));
    for (k, (values, landings)) in groups.take(SWEEP).enumerate() {
        let ends = [values.first(), values.last()].map(|v| v.copied().unwrap_or_default());
        let label = format!("{} {}", sweep.what, range(ends));
        plot.numbered(
            "sweep",
            k,
            &label,
            landings.iter().map(|l| l.normal_velocity),
        );
    }
    plot.draw(record)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Overrides;

    /// Compares the drops with reference values of an independent implementation, which uses the Radau method with another
    /// event detection. Two integration methods of that implementation agree to $10^{-10}$.
    #[test]
    fn drops_of_an_independent_implementation() {
        let config = crate::list::defaults::<Config>("compliant-block");
        let model = config.model().unwrap();
        for (decades, lift) in [
            (5, 0.09189128949),
            (3, 0.08299148717),
            (1, 0.03854534756),
            (0, 0.0),
        ] {
            let stiffness = [1e6 * 10f64.powi(decades), 1e6];
            let model = KelvinVoigt { stiffness, ..model };
            let [a, b] = model.drop(0.0, config.speed()).unwrap().normal_velocity;
            assert!((a - lift).abs() <= 1e-8 && b.abs() <= 1e-8, "{a} {b}");
        }
        for (degrees, lift) in [
            (0.01f64, 0.0947203057),
            (0.006, 0.0936645832),
            (0.002, 0.0535036691),
            (0.0004, 0.0081353317),
        ] {
            for side in [1.0, -1.0] {
                let angle = side * degrees.to_radians();
                let landing = model.drop(angle, config.speed()).unwrap();
                let [mut a, mut b] = landing.normal_velocity;
                if side < 0.0 {
                    (a, b) = (b, a);
                }
                assert!((a - lift).abs() <= 1e-8 && b.abs() <= 1e-8, "{a} {b}");
            }
        }
    }

    /// Checks that the results agree with the statements of Halm & Posa about their Fig. 12, in Section 5.4.1.
    #[test]
    fn what_the_paper_says_of_its_figure() {
        let record = crate::scenario("compliant-block")
            .unwrap()
            .run(&Overrides::default())
            .unwrap();
        let value = |name: &str| {
            let found = record.quantities.iter().find(|q| q.name == name);
            found.unwrap().value
        };
        assert!((100.0 * value("first_corner_share") - 99.9992).abs() <= 5e-5);
        let contained = value("stiffness_most_over_rigid");
        assert!((0.98..1.0).contains(&contained), "{contained}");
        let slightly_larger = value("angle_most_over_rigid");
        assert!((1.0..1.05).contains(&slightly_larger), "{slightly_larger}");
    }

    /// Checks that the sum of the impulses of both corners and gravity equals the change of the block's momentum.
    #[test]
    fn the_impulses_of_the_corners_account_for_the_momentum() {
        let config = crate::list::defaults::<Config>("compliant-block");
        let model = config.model().unwrap();
        let landing = model.drop(0.005f64.to_radians(), config.speed()).unwrap();
        let raised = model.raised(0.005f64.to_radians());
        let fall = (config.speed().powi(2) - 2.0 * *config.gravity * raised).sqrt();
        let [a, b] = landing.normal_velocity;
        let gained: f64 = landing.impulse.iter().sum();
        let expected = 0.5 * (a + b) + fall + *config.gravity * landing.duration;
        // The corners of an inclined block have different lever arms: the effect is at most 2e-4 rad times 0.1 m/s.
        assert!((gained - expected).abs() <= 2e-5, "{gained} {expected}");
    }

    #[test]
    fn drops_that_make_no_sense_are_refused() {
        let run = |set: &str| {
            let overrides = Overrides {
                assignments: vec![set.to_owned()],
                ..Overrides::default()
            };
            crate::scenario("compliant-block")
                .unwrap()
                .run(&overrides)
                .unwrap_err()
                .to_string()
        };
        assert!(run("angle_deg=10").contains("angle_deg"));
        assert!(run("stiffness=0").contains("stiffness"));
        assert!(run("decades=nan").contains("decades"));
        assert!(run("drops=1").contains("drops"));
        assert!(run("friction=-1").contains("friction"));
    }
}
