//! The command line of carom.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(carom_cli::main_from(std::env::args_os()))
}
