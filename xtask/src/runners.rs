//! `cargo xtask runners`: a sweep has the same bytes on threads, on Slurm and on Ray, tried with the real ones
//! where they are installed.

mod cluster;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use cluster::Cluster;
use serde_json::Value;

/// Flags of `cargo xtask runners`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The binary; built if left out.
    #[arg(long)]
    carom: Option<PathBuf>,
    /// A Python that can import ray, and carom.
    #[arg(long, default_value = "python3")]
    python: PathBuf,
}

/// Tasks of an array, calls of Ray.
const TASKS: &str = "3";

/// Time that a cluster may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// Runs one sweep by every available method, such as Slurm and Python, and compares the results.
pub(crate) fn runners(root: &Path, args: &Args) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let sweep = Sweep {
        carom: binary(root, args)?,
        plan: plan(root, folder.path())?,
        folder: folder.path().to_path_buf(),
    };
    let expected = sweep.on_threads()?;
    println!("threads: {expected}");
    let mut failed = 0;
    for (name, found) in [
        ("bash", sweep.on_bash()),
        ("slurm", sweep.on_slurm()),
        ("ray, by a script", sweep.on_ray(&args.python)),
        ("ray, from Python", sweep.by_python(&args.python)),
    ] {
        match found {
            Ok(Ran::Skipped(why)) => println!("{name}: skipped, {why}"),
            Ok(Ran::Gave(sha256)) if sha256 == expected => println!("{name}: the same bytes"),
            Ok(Ran::Gave(sha256)) => {
                println!("{name}: other bytes, {sha256}");
                failed += 1;
            }
            Err(error) => {
                println!("{name}: {error:#}");
                failed += 1;
            }
        }
    }
    ensure!(failed == 0, "runners: {failed} failed");
    Ok(())
}

/// End of a runner.
enum Ran {
    Gave(String),
    Skipped(&'static str),
}

fn binary(root: &Path, args: &Args) -> anyhow::Result<PathBuf> {
    if let Some(path) = &args.carom {
        return path
            .canonicalize()
            .with_context(|| format!("no {}", path.display()));
    }
    let built = Command::new("cargo")
        .args(["build", "--quiet", "--release", "--package", "carom-cli"])
        .current_dir(root)
        .status()?;
    ensure!(built.success(), "carom does not build");
    Ok(root.join("target/release/carom"))
}

/// Writes the plan of a sweep over billiard breaks with 1600 cells into the folder `folder`. Returns the path of the plan.
fn plan(root: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let text = fs::read_to_string(root.join("examples/sweeps/break-map.toml"))?;
    let text = text.replace("1000]", "40]").replace("= 1000", "= 20");
    let path = folder.join("plan.toml");
    fs::write(&path, text)?;
    Ok(path)
}

struct Sweep {
    carom: PathBuf,
    plan: PathBuf,
    folder: PathBuf,
}

impl Sweep {
    fn carom(&self, args: &[&str]) -> anyhow::Result<String> {
        let output = Command::new(&self.carom).arg("sweep").args(args).output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.success(), "carom sweep {args:?}: {said}");
        Ok(String::from_utf8(output.stdout)?)
    }

    fn out(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Merges the files of the sweep in the folder `name`, and returns the SHA-256 digest of the merged table.
    fn merged(&self, name: &str) -> anyhow::Result<String> {
        let out = self.out(name);
        let merged = self.carom(&["merge", &out, "-o", &format!("{out}.parquet")])?;
        let merged: Value = serde_json::from_str(&merged)?;
        let sha256 = merged.get("sha256").and_then(Value::as_str);
        Ok(sha256.context("merge says no sha256")?.to_owned())
    }

    fn launch(&self, on: &str, more: &[&str]) -> anyhow::Result<String> {
        let (plan, out) = (self.plan.display().to_string(), self.out(on));
        let args = ["launch", &plan, "--out", &out, "--on", on, "--tasks", TASKS];
        self.carom(&[&args, more].concat())
    }

    fn on_threads(&self) -> anyhow::Result<String> {
        self.carom(&[
            "run",
            &self.plan.display().to_string(),
            "--out",
            &self.out("threads"),
        ])?;
        self.merged("threads")
    }

    /// Runs the script for Slurm by bash, one task after the other, without the scheduler.
    fn on_bash(&self) -> anyhow::Result<Ran> {
        if Command::new("bash").arg("--version").output().is_err() {
            return Ok(Ran::Skipped("there is no bash"));
        }
        let script = self.launch("slurm", &[])?.replace("/slurm'", "/bash'");
        let path = self.folder.join("array.sh");
        fs::write(&path, script)?;
        for task in ["0", "1", "2"] {
            let mut bash = Command::new("bash");
            let bash = bash
                .arg(&path)
                .env("SLURM_ARRAY_TASK_ID", task)
                .env_remove("SLURM_JOB_ID");
            let output = bash.output()?;
            ensure!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        self.merged("bash").map(Ran::Gave)
    }

    fn on_slurm(&self) -> anyhow::Result<Ran> {
        let Some(cluster) = Cluster::start(&self.folder.join("cluster"))? else {
            return Ok(Ran::Skipped(
                "Slurm and MUNGE are not installed, or cannot be started here",
            ));
        };
        let mut launch = Command::new(&self.carom);
        let out = self.out("slurm");
        let launch = launch
            .args(["sweep", "launch"])
            .arg(&self.plan)
            .args(["--out", &out, "--on", "slurm", "--tasks", TASKS, "--submit"]);
        let output = cluster
            .with_environment(launch)
            .current_dir(&self.folder)
            .output()?;
        ensure!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        // The second job merges when the array is done.
        let table = PathBuf::from(format!("{out}.parquet"));
        let start = Instant::now();
        while !table.exists() {
            if start.elapsed() > PATIENCE {
                bail!("the jobs did not end; the queue:\n{}", cluster.queue()?);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        self.merged("slurm").map(Ran::Gave)
    }

    fn on_ray(&self, python: &Path) -> anyhow::Result<Ran> {
        if !imports(python, "ray") {
            return Ok(Ran::Skipped(
                "there is no Python that can import ray; see --python",
            ));
        }
        let path = self.folder.join("sweep.py");
        fs::write(&path, self.launch("ray", &[])?)?;
        let output = Command::new(python).arg(&path).output()?;
        ensure!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        self.merged("ray").map(Ran::Gave)
    }

    /// Runs the sweep by the Python function `carom.sweep.run` with two workers.
    fn by_python(&self, python: &Path) -> anyhow::Result<Ran> {
        if !imports(python, "ray, carom.sweep") {
            return Ok(Ran::Skipped(
                "there is no Python that can import ray and carom; see --python",
            ));
        }
        let program = "import ray, sys, carom.sweep\n\
                       ray.init(num_cpus=2)\n\
                       carom.sweep.run(*sys.argv[1:])";
        let output = Command::new(python)
            .args(["-c", program])
            .arg(&self.plan)
            .arg(self.out("python"))
            .output()?;
        ensure!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        self.merged("python").map(Ran::Gave)
    }
}

/// True if the Python interpreter `python` can import the given modules.
fn imports(python: &Path, modules: &str) -> bool {
    let found = Command::new(python)
        .args(["-c", &format!("import {modules}")])
        .output();
    found.is_ok_and(|output| output.status.success())
}
