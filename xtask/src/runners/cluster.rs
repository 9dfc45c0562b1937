//! A Slurm cluster of one node on this machine, for as long as a check takes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;

/// A running cluster: one that was there, or one of our own.
pub(super) struct Cluster {
    /// Configuration of our own.
    own: Option<PathBuf>,
}

const PROGRAMS: [&str; 5] = ["munged", "slurmctld", "slurmd", "sbatch", "squeue"];

impl Cluster {
    /// Finds a Slurm cluster: that of this machine, or else one whose daemons are started with settings in `folder`. `None` if
    /// neither is possible.
    pub(super) fn start(folder: &Path) -> anyhow::Result<Option<Self>> {
        let running = Self { own: None };
        if running.answers("sinfo", "--noheader") && running.answers("sbatch", "-V") {
            return Ok(Some(running));
        }
        for part in ["state", "spool", "log"] {
            fs::create_dir_all(folder.join(part))?;
        }
        // Most of Slurm's programs do not even tell their version without a configuration.
        configure(folder)?;
        let cluster = Self {
            own: Some(folder.to_path_buf()),
        };
        if !PROGRAMS
            .iter()
            .all(|program| cluster.answers(program, "-V"))
        {
            return Ok(None);
        }
        if !cluster.run("munged", &munged(folder))? || !cluster.run("slurmctld", &[])? {
            return Ok(None);
        }
        for cgroups in cgroups(folder) {
            fs::write(folder.join("cgroup.conf"), cgroups)?;
            cluster.run("slurmd", &[])?;
            if cluster.is_idle() {
                return Ok(Some(cluster));
            }
        }
        Ok(None)
    }

    /// Adds to a command the environment variables by which Slurm's programs find this cluster.
    pub(super) fn with_environment<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        if let Some(folder) = &self.own {
            command.env("SLURM_CONF", folder.join("slurm.conf"));
        }
        command
    }

    /// Returns the list of waiting and running jobs of the cluster, as Slurm prints it.
    pub(super) fn queue(&self) -> anyhow::Result<String> {
        let output = self.ask("squeue")?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// True if a program of the cluster is installed and succeeds when it is run with the argument `flag`.
    fn answers(&self, program: &str, flag: &str) -> bool {
        let mut command = Command::new(program);
        let output = self.with_environment(command.arg(flag)).output();
        output.is_ok_and(|output| output.status.success())
    }

    fn ask(&self, program: &str) -> anyhow::Result<Output> {
        let mut command = Command::new(program);
        Ok(self.with_environment(&mut command).output()?)
    }

    /// Starts a daemon of the cluster, which moves itself to the background.
    fn run(&self, program: &str, args: &[String]) -> anyhow::Result<bool> {
        let mut command = Command::new(program);
        let command = command
            .args(args)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Ok(self.with_environment(command).status()?.success())
    }

    /// Waits a few seconds for the node of the cluster. Returns true if it becomes ready for jobs.
    fn is_idle(&self) -> bool {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(10) {
            let idle = self.ask("sinfo");
            if idle.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(" idle ")) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(300));
        }
        false
    }
}

impl Drop for Cluster {
    /// Ends the daemons that were started, by the process numbers in their files.
    fn drop(&mut self) {
        let Some(folder) = &self.own else {
            return;
        };
        for daemon in ["slurmd", "slurmctld", "munged"] {
            if let Ok(id) = fs::read_to_string(folder.join(format!("{daemon}.pid"))) {
                // It may have ended by itself.
                let _ = Command::new("kill").arg(id.trim()).status();
            }
        }
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// Returns three alternative settings of control groups for the daemon slurmd. They are tried in order until the daemon starts.
fn cgroups(folder: &Path) -> [String; 3] {
    [
        "CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\n".to_owned(),
        format!(
            "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\nCgroupMountpoint={}/cgroup\n",
            folder.display()
        ),
        "CgroupPlugin=disabled\n".to_owned(),
    ]
}

fn munged(folder: &Path) -> Vec<String> {
    let files = [
        ("key-file", "munge.key"),
        ("socket", "munge.socket"),
        ("pid-file", "munged.pid"),
        ("log-file", "munged.log"),
        ("seed-file", "munge.seed"),
    ];
    let option =
        |(option, name): (&str, &str)| format!("--{option}={}", folder.join(name).display());
    let files = files.into_iter().map(option);
    std::iter::once("--force".to_owned()).chain(files).collect()
}

fn configure(folder: &Path) -> anyhow::Result<()> {
    let host = Command::new("hostname").arg("-s").output()?;
    let host = String::from_utf8(host.stdout)?;
    let host = host.trim();
    let at = folder.display();
    let lines = format!(
        "ClusterName=carom\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort=26817\nSlurmdPort=26818\n\
         AuthType=auth/munge\nAuthInfo=socket={at}/munge.socket\nSlurmUser=root\nSlurmdUser=root\n\
         StateSaveLocation={at}/state\nSlurmdSpoolDir={at}/spool\n\
         SlurmctldPidFile={at}/slurmctld.pid\nSlurmdPidFile={at}/slurmd.pid\n\
         SlurmctldLogFile={at}/log/slurmctld\nSlurmdLogFile={at}/log/slurmd\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\n\
         MpiDefault=none\nReturnToService=2\nSelectType=select/cons_tres\n\
         SelectTypeParameters=CR_CPU\nAccountingStorageType=accounting_storage/none\n\
         JobAcctGatherType=jobacct_gather/none\n\
         NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN\n\
         PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP\n"
    );
    fs::write(folder.join("slurm.conf"), lines)?;
    // A key for nobody else: any bytes do.
    let key: Vec<u8> = (0..1024u32)
        .map(|k| (k.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let path = folder.join("munge.key");
    fs::write(&path, key)?;
    let closed = Command::new("chmod").arg("400").arg(&path).status();
    closed.context("closing the key")?;
    Ok(())
}
