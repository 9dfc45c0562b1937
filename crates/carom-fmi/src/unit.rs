//! Resources of a unit: the configuration, its files, and the token that tells them from others.

use crate::error::FmiError;
use carom_numeric::NUMERICS_VERSION;
use carom_report::input::{MAX_TOML_BYTES, read_text};
use carom_scenarios::{Overrides, Session};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

/// Name of the list of resources.
pub(crate) const LIST: &str = "carom.json";

/// Resources of a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Resources {
    /// Path of the configuration.
    pub(crate) configuration: String,
    /// Assignments to its keys.
    pub(crate) set: Vec<String>,
    /// Paths of all files, the configuration included, in order.
    pub(crate) files: Vec<String>,
}

impl Resources {
    /// Reads the list in the folder of the resources.
    pub(crate) fn read(folder: &Path) -> Result<Self, FmiError> {
        let path = folder.join(LIST);
        let text = read_text(&path, MAX_TOML_BYTES).map_err(FmiError::unreadable(&path))?;
        serde_json::from_str(&text).map_err(|error| FmiError::Damaged {
            path: path.display().to_string(),
            message: error.to_string(),
        })
    }

    /// Returns the list as it is stored.
    pub(crate) fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Returns the token: the SHA-256 of the list, the files, and the versions of library and numerics.
    pub(crate) fn token(&self, folder: &Path) -> Result<String, FmiError> {
        let mut sum = Sha256::new();
        let mut add = |bytes: &[u8]| {
            sum.update((bytes.len() as u64).to_le_bytes());
            sum.update(bytes);
        };
        add(env!("CARGO_PKG_VERSION").as_bytes());
        add(&NUMERICS_VERSION.to_le_bytes());
        add(self.text().as_bytes());
        for file in &self.files {
            let path = folder.join(file);
            add(&fs::read(&path).map_err(FmiError::unreadable(&path))?);
        }
        let sum = sum.finalize();
        Ok(sum.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Starts a session of the configuration.
    pub(crate) fn start(&self, folder: &Path) -> Result<Session, FmiError> {
        let path = folder.join(&self.configuration);
        let toml = read_text(&path, MAX_TOML_BYTES).map_err(FmiError::unreadable(&path))?;
        let overrides = Overrides {
            toml,
            file: Some(path),
            assignments: self.set.clone(),
            ..Overrides::default()
        };
        Ok(Session::start(&overrides, false)?)
    }
}
