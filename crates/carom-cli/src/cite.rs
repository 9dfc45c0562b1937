//! `carom cite`: BibTeX of carom and of the papers behind a law or scenario.

use crate::{Failure, text};
use carom::impact::LAWS;
use carom::scenarios::{SCENARIOS, citations};
use std::io::Write;

/// Arguments of `carom cite`.
#[derive(clap::Args)]
pub(crate) struct CiteArgs {
    /// A law or a scenario; carom alone if left out.
    #[arg(value_name = "LAW|SCENARIO")]
    name: Option<String>,
}

pub(crate) fn cite(args: &CiteArgs) -> Result<(), Failure> {
    let source = match &args.name {
        None => "",
        Some(name) => source_of(name)?,
    };
    let entries = citations(source);
    write!(std::io::stdout().lock(), "{}", entries.join("\n"))?;
    Ok(())
}

/// Returns the text with the literature reference of the law or scenario called `name`. An error for an unknown name
/// suggests the nearest one.
fn source_of(name: &str) -> Result<&'static str, Failure> {
    let laws = LAWS.iter().map(|law| (law.name, law.reference));
    let scenarios = SCENARIOS
        .iter()
        .map(|scenario| (scenario.name, scenario.paper));
    let mut all = laws.clone().chain(scenarios.clone());
    let found = all.find(|(known, _)| *known == name);
    found.map(|(_, source)| source).ok_or_else(|| {
        let names = laws.chain(scenarios).map(|(known, _)| known);
        let hint = text::did_you_mean(name, names)
            .unwrap_or_else(|| "see `carom laws` and `carom list`".to_owned());
        Failure::Usage(format!("no law or scenario `{name}`; {hint}"))
    })
}
