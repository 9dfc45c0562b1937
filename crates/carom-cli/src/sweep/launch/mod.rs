//! `carom sweep launch`: writes scripts that start many processes, which `carom` itself never does.

use crate::Failure;
use carom_sweep::Plan;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Arguments of `carom sweep launch`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The plan, in TOML.
    plan: PathBuf,
    /// Folder of the shards.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Who starts the processes.
    #[arg(long, value_enum)]
    on: Runner,
    /// Tasks of the Slurm array, or calls of Ray; default: as many as shards, at most 16.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    tasks: Option<u64>,
    /// Hand the scripts to sbatch, the second to run when the first is done.
    #[arg(long)]
    submit: bool,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Runner {
    Local,
    Slurm,
    Ray,
}

const DEFAULT_TASKS: u64 = 16;

pub(super) fn launch(args: &Args, program: &[OsString]) -> Result<(), Failure> {
    let plan = Plan::read(&args.plan)?;
    if args.submit && args.on != Runner::Slurm {
        let message = "--submit is for --on slurm: run the script that is printed without it";
        return Err(Failure::Usage(message.to_owned()));
    }
    let quote = match args.on {
        Runner::Ray => quoted_for_python,
        Runner::Local | Runner::Slurm => quoted_for_shells,
    };
    let program: Vec<PathBuf> = if program.is_empty() {
        let binary = std::env::current_exe();
        vec![binary.map_err(|e| Failure::Usage(format!("cannot find carom itself: {e}")))?]
    } else {
        program.iter().map(PathBuf::from).collect()
    };
    let words: Result<Vec<String>, Failure> =
        program.iter().map(|word| Ok(quote(text(word)?))).collect();
    let between = if args.on == Runner::Ray { ", " } else { " " };
    let program = words?.join(between);
    let out = absolute(&args.out)?;
    let mut table = out.clone().into_os_string();
    table.push(".parquet");
    let tasks = args.tasks.unwrap_or(plan.n_shards().min(DEFAULT_TASKS));
    let fill = |template: &str| -> Result<String, Failure> {
        Ok(template
            .replace("@NAME@", plan.name())
            .replace("@LAST@", &(tasks - 1).to_string())
            .replace("@TASKS@", &tasks.to_string())
            .replace("@SHARDS@", &plan.n_shards().to_string())
            .replace("@CAROM@", &program)
            .replace("@PLAN@", &quote(text(&absolute(&args.plan)?)?))
            .replace("@TABLE@", &quote(text(Path::new(&table))?))
            .replace("@OUT@", &quote(text(&out)?)))
    };
    let array = include_str!("array.sh");
    let merge = include_str!("merge.sh");
    let mut stdout = std::io::stdout().lock();
    match args.on {
        Runner::Local => write!(stdout, "{}", fill(include_str!("local.sh"))?)?,
        Runner::Ray => write!(stdout, "{}", fill(include_str!("ray.py"))?)?,
        Runner::Slurm if args.submit => {
            let first = submit(&fill(array)?, &[])?;
            let second = submit(&fill(merge)?, &[format!("--dependency=afterok:{first}")])?;
            writeln!(stdout, "{first}\n{second}")?;
        }
        // The first script ends with `exit`, so that both scripts together act as the first one.
        Runner::Slurm => write!(stdout, "{}\n{}", fill(array)?, fill(merge)?)?,
    }
    Ok(())
}

/// Submits a script to the cluster scheduler Slurm by its command sbatch with `options`. Returns the number of the new job.
fn submit(script: &str, options: &[String]) -> Result<String, Failure> {
    let unusable = |error| Failure::Usage(format!("cannot run sbatch: {error}"));
    let mut sbatch = Command::new("sbatch")
        .arg("--parsable")
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(unusable)?;
    if let Some(mut stdin) = sbatch.stdin.take() {
        // If sbatch does not read the script, its output tells why.
        let _ = stdin.write_all(script.as_bytes());
    }
    let output = sbatch.wait_with_output().map_err(unusable)?;
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Failure::Usage(format!("sbatch refuses: {why}")));
    }
    // `--parsable` prints the number of the job, and after a semicolon the cluster.
    let job = said.trim().split(';').next().unwrap_or_default();
    Ok(job.to_owned())
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    let absolute = std::path::absolute(path);
    absolute.map_err(|e| Failure::Usage(format!("{}: {e}", path.display())))
}

fn text(path: &Path) -> Result<&str, Failure> {
    let refused = || Failure::Usage(format!("{}: the path is not UTF-8", path.display()));
    path.to_str().ok_or_else(refused)
}

fn quoted_for_shells(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Quotes a text as a Python string. The result is a JSON string, which is also valid in Python.
fn quoted_for_python(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
