//! Key `[urdf]`: a robot from a URDF as bodies and joints of a world.

mod build;
mod read;
mod tree;

use super::body::BodyConfig;
use super::contact::PairConfig;
use super::joints::JointConfig;
use crate::ScenarioError;
use crate::common::warn;
use carom_report::input::read_text;
use serde::Deserialize;
use serde_json::{Value, json};
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
    actuators: BTreeMap<String, serde_json::Map<String, Value>>,
    mesh_dir: Option<PathBuf>,
}

/// Note about a part of a model that the world does not support.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Note(String);

impl Note {
    fn new(what: &str, name: &str, why: &str) -> Self {
        Self(format!("{what} `{name}`: {why}"))
    }
}

/// Robot as parts of a world.
#[derive(Debug, Default)]
pub(super) struct Imported {
    pub(super) bodies: Vec<BodyConfig>,
    pub(super) joints: Vec<JointConfig>,
    pub(super) pairs: Vec<PairConfig>,
    /// Number of bodies of the robot, which are the first bodies of the world.
    pub(super) n_bodies: usize,
    /// Names of links that were merged into the body of another link, with the name of that link.
    merged: Vec<[String; 2]>,
    ignored: Vec<Note>,
    /// Notes about shapes that were lost, or replaced by another shape.
    warnings: Vec<Note>,
}

impl Imported {
    /// Returns notes about everything in the robot's description that the import ignores. `overlapping`: pairs of bodies that
    /// overlap at the start and therefore never touch.
    pub(super) fn notes(&self, overlapping: &[[&str; 2]]) -> Vec<String> {
        let overlaps = overlapping.iter().map(|[first, second]| {
            let why = "they overlap at the start";
            Note::new("contact", &format!("{first} - {second}"), why)
        });
        let all = self.ignored.iter().cloned().chain(overlaps);
        all.map(|note| note.0).collect()
    }

    /// Returns notes about shapes that the import lost or replaced by another shape.
    pub(super) fn warnings(&self) -> impl Iterator<Item = &str> {
        self.warnings.iter().map(|note| note.0.as_str())
    }

    /// Adds the keys `merged` (links that became part of another body), `warnings` (shapes that were lost or replaced) and
    /// `ignored` (parts that the import ignores) to the results of a record. `overlapping`: pairs of bodies that overlap at the
    /// start and therefore never touch.
    pub(super) fn report(&self, overlapping: &[[&str; 2]], results: &mut BTreeMap<String, Value>) {
        let merged = self
            .merged
            .iter()
            .map(|[link, into]| json!({"link": link, "into": into}));
        results.insert("merged".to_owned(), merged.collect());
        warn(results, self.warnings().map(str::to_owned));
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
    /// Imports a robot from the URDF text `text`, or from the configured file if no text is given, and reads the mesh files
    /// that it names. `within`: true if bodies of one robot can touch each other.
    pub(super) fn import(
        &self,
        text: Option<&str>,
        within: bool,
    ) -> Result<Imported, ScenarioError> {
        let place = |message: String| {
            ScenarioError::value("urdf.file", format!("{}: {message}", self.file.display()))
        };
        let text = match text {
            Some(text) => text.to_owned(),
            None => read_text(&self.file, MAX_URDF_BYTES).map_err(|e| place(e.to_string()))?,
        };
        let robot = read::read(&text).map_err(place)?;
        let tree = tree::tree(&robot).map_err(place)?;
        build::build(self, robot, &tree, within)
    }
}
