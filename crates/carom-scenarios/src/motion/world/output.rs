//! Selection of the parts of a motion that are written to the record.

use serde::Deserialize;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ImpactOutput {
    #[default]
    All,
    None,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SampleOutput {
    #[default]
    All,
    Moving,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputConfig {
    #[serde(default = "sample_step")]
    pub(super) sample_step: f64,
    #[serde(default)]
    pub(super) impacts: ImpactOutput,
    #[serde(default)]
    pub(super) sample: SampleOutput,
    #[serde(default = "is_true")]
    pub(super) contacts: bool,
    #[serde(default = "is_true")]
    pub(super) forces: bool,
}

impl Default for OutputConfig {
    fn default() -> Self {
        Self {
            sample_step: sample_step(),
            impacts: ImpactOutput::All,
            sample: SampleOutput::All,
            contacts: true,
            forces: true,
        }
    }
}

fn sample_step() -> f64 {
    0.01
}

fn is_true() -> bool {
    true
}
