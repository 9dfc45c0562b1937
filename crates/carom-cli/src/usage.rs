//! Errors of usage in one line: clap's errors, which take several lines, as one sentence with the nearest name.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};
use std::error::Error as _;
use std::ffi::OsString;

/// Formats an error of the argument parser as one line that names the faulty argument and suggests the nearest valid one.
/// `args` are the arguments of the command line.
pub(crate) fn message(error: &Error, command: &Command, args: &[OsString]) -> String {
    let text = |kind: ContextKind| error.get(kind).map(shown).unwrap_or_default();
    let argument = || text(ContextKind::InvalidArg);
    match error.kind() {
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            needed(command, args)
        }
        ErrorKind::InvalidSubcommand => format!(
            "unrecognized subcommand `{}`{}",
            text(ContextKind::InvalidSubcommand),
            suggested(error, ContextKind::SuggestedSubcommand)
        ),
        ErrorKind::UnknownArgument => format!(
            "unexpected argument `{}`{}",
            argument(),
            suggested(error, ContextKind::SuggestedArg)
        ),
        ErrorKind::MissingRequiredArgument => format!("missing: {}", argument()),
        ErrorKind::InvalidValue if text(ContextKind::InvalidValue).is_empty() => {
            format!("`{}` needs a value{}", argument(), choices(error))
        }
        ErrorKind::InvalidValue => format!(
            "invalid value `{}` for `{}`{}{}",
            text(ContextKind::InvalidValue),
            argument(),
            suggested(error, ContextKind::SuggestedValue),
            choices(error)
        ),
        ErrorKind::ValueValidation => {
            let reason = error.source().map(ToString::to_string).unwrap_or_default();
            let value = text(ContextKind::InvalidValue);
            format!("invalid value `{value}` for `{}`: {reason}", argument())
        }
        ErrorKind::ArgumentConflict => format!(
            "`{}` cannot be used with {}",
            argument(),
            text(ContextKind::PriorArg)
        ),
        _ => plain(error),
    }
}

/// Returns the message that a subcommand is missing. The message lists the subcommands of the innermost command that `args`
/// names.
fn needed(command: &Command, args: &[OsString]) -> String {
    let mut at = command;
    for word in args.iter().skip(1).filter_map(|word| word.to_str()) {
        at = at.find_subcommand(word).unwrap_or(at);
    }
    let names = at.get_subcommands().map(Command::get_name);
    let names: Vec<&str> = names.filter(|name| *name != "help").collect();
    format!("a command is needed: {}; see --help", names.join(", "))
}

/// Returns the question "did you mean ...?" with the nearest name that the argument parser suggests; an empty text without a
/// suggestion. `kind` selects the kind of name, such as argument or value.
fn suggested(error: &Error, kind: ContextKind) -> String {
    let name = match error.get(kind) {
        Some(ContextValue::String(name)) => Some(name),
        Some(ContextValue::Strings(names)) => names.first(),
        _ => None,
    };
    name.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// Returns the end of an error message that lists the valid values of an argument; an empty text if there is no such list.
fn choices(error: &Error) -> String {
    let joint = match error.get(ContextKind::SuggestedValue) {
        Some(_) => " One of",
        None => "; one of",
    };
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) if !values.is_empty() => {
            format!("{joint} {}", values.join(", "))
        }
        _ => String::new(),
    }
}

fn shown(value: &ContextValue) -> String {
    match value {
        ContextValue::Strings(names) => names.join(", "),
        other => other.to_string(),
    }
}

/// Returns the message of the argument parser in one line, without its lines on usage and help.
fn plain(error: &Error) -> String {
    let text = error.to_string();
    let lines = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    lines.join("; ").trim_start_matches("error: ").to_owned()
}
