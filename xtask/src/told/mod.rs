//! One scene told in several ways has one motion: `cargo xtask verify` takes the shipped worlds and robots and thirty random
//! scenes through all of them, the tests six scenes.
//!
//! Motion is compared before chaos: up to the third impact, or up to the end of the scene.

mod scenes;
mod ways;

use self::ways::{WAYS, quaternion, vector};
use anyhow::Context;
use carom_scenarios::{Overrides, scenario};
use nalgebra::{UnitQuaternion, Vector3};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Name of the check, for `--only`.
pub(crate) const NAME: &str = "scenes-told-again";

/// Number of random scenes.
const RANDOM: u64 = 30;

/// Impacts of a scene up to which it is followed.
const IMPACTS: usize = 3;

/// State of a body: place (m), velocity (m/s), angular velocity (rad/s), attitude.
#[derive(Clone, Copy, Debug)]
struct Body {
    vectors: [Vector3<f64>; 3],
    attitude: UnitQuaternion<f64>,
}

/// States of the bodies by name.
type Motion = BTreeMap<String, Body>;

/// A scene, with the file of a robot in it.
struct Scene {
    name: String,
    config: Value,
}

/// Record of a run, as far as it is compared.
struct Ran {
    motion: Motion,
    /// Times of the impacts (s).
    impacts: Vec<f64>,
    status: String,
}

fn run(config: &Value) -> anyhow::Result<Ran> {
    let overrides = Overrides {
        toml: toml::to_string(config)?,
        ..Overrides::default()
    };
    let record = scenario("world").context("no world")?.run(&overrides)?;
    let results = &record.results;
    let final_ = results["final"].as_array().context("no final states")?;
    let body = |row: &Value| {
        let vectors = ["position", "velocity", "angular_velocity"].map(|key| vector(&row[key]));
        let attitude = quaternion(&row["quaternion"]);
        let name = row["body"].as_str().unwrap_or("").to_owned();
        (name, Body { vectors, attitude })
    };
    let impacts = results["impacts"].as_array().into_iter().flatten();
    Ok(Ran {
        motion: final_.iter().map(body).collect(),
        impacts: impacts.filter_map(|i| i["time"].as_f64()).collect(),
        status: record.status.to_string(),
    })
}

/// Largest difference of two motions: of lengths (m), velocities, and directions.
fn difference(a: &Motion, b: &Motion) -> f64 {
    if !a.keys().eq(b.keys()) {
        return f64::INFINITY;
    }
    let one = |(a, b): (&Body, &Body)| {
        let vectors = a
            .vectors
            .iter()
            .zip(&b.vectors)
            .map(|(a, b)| (a - b).norm());
        let [p, q] = [a, b].map(|body| body.attitude.quaternion().coords);
        vectors.fold((p - q).norm().min((p + q).norm()), f64::max)
    };
    a.values().zip(b.values()).map(one).fold(0.0, f64::max)
}

/// Shortens a scene to the time between its third and its fourth impact.
fn before_chaos(mut scene: Scene) -> anyhow::Result<Scene> {
    scene.config["output"] = json!({ "sample_step": 0.0 });
    let ran = run(&scene.config)?;
    if let [.., third, fourth] = ran.impacts[..ran.impacts.len().min(IMPACTS + 1)]
        && ran.impacts.len() > IMPACTS
    {
        scene.config["duration"] = json!(0.5 * (third + fourth));
    }
    Ok(scene)
}

/// Number of answers that were compared, and a line for each that differs.
type Answers = (usize, Vec<String>);

/// Tells a scene in all ways.
fn differences(scene: Scene) -> anyhow::Result<Answers> {
    let name = scene.name.clone();
    let scene = before_chaos(scene).with_context(|| name.clone())?;
    let first = run(&scene.config).with_context(|| name.clone())?;
    let rests = first
        .motion
        .values()
        .all(|body| body.vectors[1].norm() == 0.0);
    let (mut compared, mut lines) = (0, Vec::new());
    for way in &WAYS {
        let Some(told) = (way.tell)(&scene.config) else {
            continue;
        };
        compared += 1;
        let bound = if rests { way.at_rest } else { way.bound };
        let line = match run(&told.config) {
            Err(error) => format!("{error:#}"),
            Ok(ran) if ran.status != first.status => {
                format!("ends {} instead of {}", ran.status, first.status)
            }
            Ok(ran) => {
                let difference = difference(&first.motion, &(told.back)(ran.motion));
                if difference <= bound {
                    continue;
                }
                format!("differs by {difference:.1e}, more than {bound:e}")
            }
        };
        lines.push(format!("{name}, {}: {line}", way.name));
    }
    Ok((compared, lines))
}

/// Tells the shipped worlds and robots and random scenes in all ways.
pub(crate) fn check(root: &Path) -> anyhow::Result<Answers> {
    let mut scenes = scenes::shipped(root)?;
    scenes.extend((0..RANDOM).map(scenes::random));
    let told: Result<Vec<_>, _> = scenes.into_par_iter().map(differences).collect();
    let (compared, lines): (Vec<usize>, Vec<_>) = told?.into_iter().unzip();
    Ok((compared.iter().sum(), lines.concat()))
}

#[cfg(test)]
mod tests {
    use super::{differences, scenes};

    #[test]
    fn six_scenes_have_one_motion_in_all_ways() {
        for scene in scenes::six() {
            let (compared, lines) = differences(scene).unwrap();
            assert!(compared >= 6 && lines.is_empty(), "{lines:?}");
        }
    }
}
