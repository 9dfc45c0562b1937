//! Key `[urdf]`: a robot from a URDF as bodies and joints of a world.

mod build;
mod collada;
mod inertia;
mod meshes;
mod model;
mod notes;
mod paths;
mod read;
mod start;
mod tree;

use super::body::BodyConfig;
use super::contact::PairConfig;
use super::joints::{ActuatorConfig, JointConfig};
use crate::ScenarioError;
use crate::common::warn;
use carom_report::input::read_text;
use notes::Notes;
pub use notes::{LeftOut, sort_left_out};
use serde::Deserialize;
use serde_json::{Value, json};
use start::Clipped;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Largest size of a URDF file (bytes).
const MAX_URDF_BYTES: u64 = 64 << 20;

/// Support of the root link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Base {
    Floating,
    Fixed,
}

/// Treatment of joints that the configuration does not name and whose limits exclude 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Start {
    /// They are a fault.
    #[default]
    Strict,
    /// They start at their nearest limits.
    Clip,
}

/// Treatment of inertias that no mass distribution has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Inertia {
    /// They are a fault.
    #[default]
    Strict,
    /// They stay as they are if they are positive definite.
    Given,
    /// Their mean moment takes their place, as by `balanceinertia` of MuJoCo.
    Balance,
    /// Inertias of the collision shapes, uniform, take their place.
    Shape,
}

/// Folders for meshes, one or a list.
#[derive(Clone, Debug, Default)]
struct Folders(Vec<PathBuf>);

impl<'de> Deserialize<'de> for Folders {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a folder, or a list of folders")]
        enum Given {
            One(PathBuf),
            Several(Vec<PathBuf>),
        }
        Ok(Self(match Given::deserialize(deserializer)? {
            Given::One(folder) => vec![folder],
            Given::Several(folders) => folders,
        }))
    }
}

/// Keys of `[urdf]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UrdfConfig {
    file: PathBuf,
    base: Option<Base>,
    #[serde(default)]
    position: [f64; 3],
    quaternion: Option<[f64; 4]>,
    velocity: Option<[f64; 3]>,
    angular_velocity: Option<[f64; 3]>,
    #[serde(default)]
    joints: BTreeMap<String, f64>,
    #[serde(default)]
    velocities: BTreeMap<String, f64>,
    #[serde(default)]
    actuators: BTreeMap<String, ActuatorConfig>,
    #[serde(default)]
    mesh_dir: Folders,
    #[serde(default)]
    start: Start,
    #[serde(default)]
    inertia: Inertia,
    /// Words of notes whose parts may be lost.
    #[serde(default)]
    allow: Vec<String>,
}

/// Robot as parts of a world.
#[derive(Debug, Default)]
pub(super) struct Imported {
    pub(super) bodies: Vec<BodyConfig>,
    pub(super) joints: Vec<JointConfig>,
    pub(super) pairs: Vec<PairConfig>,
    /// Name of the root link, and true if it has a mass together with the links fixed to it.
    root: (String, bool),
    /// Number of bodies of the robot, which are the first bodies of the world.
    pub(super) n_bodies: usize,
    /// Names of links that were merged into the body of another link, with the name of that link.
    merged: Vec<[String; 2]>,
    /// Coordinates that start at a limit instead of outside.
    clipped: Vec<Clipped>,
    notes: Notes,
}

impl Imported {
    /// Returns notes about everything in the robot's description that the import ignores. `overlapping`: pairs of bodies that
    /// overlap at the start and therefore never touch.
    pub(super) fn notes(&self, overlapping: &[[&str; 2]]) -> Vec<String> {
        let overlaps = overlapping.iter().map(|[first, second]| {
            format!("contact `{first} - {second}`: they overlap at the start")
        });
        self.notes
            .ignored()
            .iter()
            .cloned()
            .chain(overlaps)
            .collect()
    }

    /// Returns notes about parts of the robot that the import replaced.
    pub(super) fn warnings(&self) -> &[String] {
        self.notes.warnings()
    }

    /// Adds the keys `merged` (links that became part of another body), `clipped` (coordinates that start at a limit), `warnings`
    /// (parts that were replaced) and `ignored` (parts that the import ignores) to the results of a record. `overlapping`: pairs
    /// of bodies that overlap at the start and therefore never touch.
    pub(super) fn report(&self, overlapping: &[[&str; 2]], results: &mut BTreeMap<String, Value>) {
        let merged = self
            .merged
            .iter()
            .map(|[link, into]| json!({"link": link, "into": into}));
        results.insert("merged".to_owned(), merged.collect());
        if !self.clipped.is_empty() {
            let clipped = self
                .clipped
                .iter()
                .map(|c| json!({"joint": c.joint, "from": c.from, "to": c.to}));
            results.insert("clipped".to_owned(), clipped.collect());
        }
        warn(results, self.warnings().iter().cloned());
        let notes = self.notes(overlapping);
        if notes.is_empty() {
            return;
        }
        let ignored = results
            .entry("ignored".to_owned())
            .or_insert_with(|| json!([]));
        if let Some(list) = ignored.as_array_mut() {
            list.extend(notes.into_iter().map(Value::from));
        }
    }
}

impl UrdfConfig {
    /// Returns the error about a robot that is fixed as a whole, in a world in which nothing else moves.
    pub(super) fn nothing_moves(&self, imported: &Imported) -> ScenarioError {
        let (root, has_mass) = &imported.root;
        let message = if *has_mass {
            format!(
                "nothing moves: the root link `{root}` is fixed; base = \"floating\" lets it move"
            )
        } else {
            format!(
                "nothing moves: the root link `{root}` has no mass, so that it is the ground; give it one, and base = \"floating\""
            )
        };
        ScenarioError::value("urdf.base", message)
    }

    /// Imports a robot from the URDF text `text`, or from the configured file if no text is given, and reads the mesh files
    /// that it names.
    pub(super) fn import(&self, text: Option<&str>) -> Result<Imported, ScenarioError> {
        let place = |message: String| {
            ScenarioError::value("urdf.file", format!("{}: {message}", self.file.display()))
        };
        let text = match text {
            Some(text) => text.to_owned(),
            None => read_text(&self.file, MAX_URDF_BYTES).map_err(|e| place(e.to_string()))?,
        };
        let model = read::read(&text).map_err(place)?;
        let tree = tree::tree(&model).map_err(place)?;
        build::build(self, model, &tree)
    }
}
