//! Help on the keys of a JSON line, shell completions and the manual page.

use crate::text::entry;
use carom::scenarios::SCENARIOS;
use carom_wire::{Command, example, keys};
use clap::builder::PossibleValuesParser;
use std::collections::BTreeSet;
use std::io::Write;

/// Returns the help text on the JSON lines that a command reads: each key with its meaning, and an example line.
fn lines(command: Command) -> String {
    let mut text = "Keys of a line:\n".to_owned();
    for info in keys(command) {
        text.push_str(&entry(&format!("  {}", info.key), 26, info.meaning));
    }
    if command == Command::Resolve {
        text.push_str("\nLaws and their options: `carom laws`, `carom laws NAME`.\n");
    }
    text.push_str(&format!("\nExample:\n{}\n", example(command)));
    text
}

/// Adds descriptions of the JSON keys to the help texts of the commands `resolve`, `judge` and `lcp`, which read JSON
/// lines.
pub(crate) fn with_keys(command: clap::Command) -> clap::Command {
    let all = [
        ("resolve", Command::Resolve),
        ("judge", Command::Judge),
        ("lcp", Command::Lcp),
    ];
    all.into_iter().fold(command, |command, (name, asked)| {
        command.mut_subcommand(name, |sub| sub.after_help(lines(asked)))
    })
}

/// Arguments of `carom completions`.
#[derive(clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    shell: clap_complete::Shell,
}

/// Adds the names of scenarios, laws and configuration keys as possible values of the arguments, for shell completions.
/// The parser itself does not know these names: its errors would otherwise list all names instead of suggesting the
/// nearest one.
fn with_names(command: clap::Command) -> clap::Command {
    let scenarios = || PossibleValuesParser::new(SCENARIOS.iter().map(|s| s.name));
    let laws = PossibleValuesParser::new(carom::impact::LAWS.iter().map(|law| law.name));
    let keys: BTreeSet<String> = SCENARIOS.iter().flat_map(|s| s.keys()).collect();
    let keys = PossibleValuesParser::new(keys.into_iter().map(|key| format!("{key}=")));
    command
        .mut_subcommand("show", |sub| {
            sub.mut_arg("name", |arg| arg.value_parser(scenarios()))
        })
        .mut_subcommand("run", |sub| {
            sub.mut_arg("name", |arg| arg.value_parser(scenarios()))
                .mut_arg("set", |arg| arg.value_parser(keys))
        })
        .mut_subcommand("laws", |sub| {
            sub.mut_arg("name", |arg| arg.value_parser(laws))
        })
}

/// Prints the completion script for the shell that `args` names.
pub(crate) fn completions(
    args: &CompletionsArgs,
    mut command: clap::Command,
) -> std::io::Result<()> {
    command = with_names(command);
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "carom", &mut script);
    std::io::stdout().lock().write_all(&script)
}

/// Prints the manual page of the command line in troff format.
pub(crate) fn manual(command: clap::Command) -> std::io::Result<()> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    std::io::stdout().lock().write_all(&page)
}
