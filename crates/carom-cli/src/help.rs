//! Help on the keys of a problem in JSON, shell completions and the manual.

use crate::Failure;
use crate::text::{did_you_mean, entry};
use carom::scenarios::SCENARIOS;
use carom_wire::{Command, example, keys};
use clap::builder::PossibleValuesParser;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

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

/// Arguments of `carom man`.
#[derive(clap::Args)]
pub(crate) struct ManArgs {
    /// Command whose page is printed, such as `sweep run`; carom's own page if left out.
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Write the pages of all commands into this folder instead.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

/// Prints the manual page of a command in troff format, or writes the pages of all commands. A page names the pages of its
/// subcommands, and no other.
pub(crate) fn manual(args: &ManArgs, command: clap::Command) -> Result<(), Failure> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    if let Some(folder) = &args.out {
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(command, folder));
        return written.map_err(|error| {
            Failure::Usage(format!("cannot write into {}: {error}", folder.display()))
        });
    }
    let mut found = &command;
    for word in &args.command {
        let names = found.get_subcommands().map(clap::Command::get_name);
        let hint = did_you_mean(word, names).unwrap_or_else(|| "see `carom --help`".to_owned());
        let unknown = || Failure::Usage(format!("no command `{word}`; {hint}"));
        found = found.find_subcommand(word).ok_or_else(unknown)?;
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(found.clone()).render(&mut page)?;
    std::io::stdout().lock().write_all(&page)?;
    Ok(())
}
