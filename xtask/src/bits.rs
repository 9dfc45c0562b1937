//! `cargo xtask bits`: fixed random input is answered with the same bits as before.
//!
//! Lines of every command, and small worlds and mechanisms, are made from a seed and answered by the library. One digest a
//! command stands in `xtask/bits.toml`, beside one of the input, so that a new generator is told from a new answer.
//! A change that is meant to move nothing leaves every digest equal. `cargo xtask portable` compares answers between
//! machines; the digests include the records of worlds and mechanisms, for which equal bits between machines are not promised, so
//! the file says where it was written and is compared there alone.

use crate::{corpus, fuzz};
use anyhow::{Context, ensure};
use carom_scenarios::{Overrides, scenario};
use carom_wire::{Command, answer_line};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Seed of all input. Another one is another set of lines, and every digest moves.
const SEED: u64 = 31;

/// File of the digests, from the root.
const FILE: &str = "xtask/bits.toml";

/// Flags of `cargo xtask bits`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write the digests instead of comparing with them.
    #[arg(long)]
    bless: bool,
    /// Write input and answers as one file a command into this folder, to be compared with those of another revision.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Only commands whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

/// Digests of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Bits {
    machine: String,
    commands: BTreeMap<String, Digests>,
}

/// Digests of one command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Digests {
    count: usize,
    input: String,
    answers: String,
}

/// Lines that ask for all outcomes of a law.
const OUTCOMES: usize = 1200;

/// Rounds of the other families for one line that asks for bounds.
const BOUNDED_EVERY: usize = 4;

/// Input of one kind and how it is answered.
struct Family {
    name: &'static str,
    input: Vec<String>,
    answer: fn(&str) -> String,
}

pub(crate) fn bits(root: &Path, args: &Args) -> anyhow::Result<Vec<String>> {
    let is_chosen = |family: &Family| {
        let text = args.only.as_deref();
        text.is_none_or(|text| family.name.contains(text))
    };
    let mut found = BTreeMap::new();
    for family in families()?.into_iter().filter(is_chosen) {
        let answers = answered(&family);
        let digests = Digests {
            count: family.input.len(),
            input: digest(&family.input),
            answers: digest(&answers),
        };
        println!(
            "{:<10} {:>6} {}",
            family.name, digests.count, digests.answers
        );
        if let Some(folder) = &args.out {
            write_lines(folder, family.name, &family.input, &answers)?;
        }
        found.insert(family.name.to_owned(), digests);
    }
    ensure!(!found.is_empty(), "no command is called that");
    let found = Bits {
        machine: machine(),
        commands: found,
    };
    let path = root.join(FILE);
    if args.bless {
        ensure!(
            args.only.is_none(),
            "--bless writes the digests of all commands"
        );
        fs::write(&path, toml::to_string(&found)?)?;
        println!("blessed: {FILE}");
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(&path)
        .with_context(|| format!("no digests: `cargo xtask bits --bless` writes {FILE}"))?;
    let kept: Bits = toml::from_str(&text).with_context(|| format!("reading {FILE}"))?;
    if kept.machine != found.machine {
        println!(
            "bits: not compared: {FILE} is of {}, this is {}",
            kept.machine, found.machine
        );
        return Ok(Vec::new());
    }
    Ok(differences(&kept, &found, args.only.is_some()))
}

/// Compares the stored digests `kept` with the new digests `found`. Returns one line for every command whose input or answers
/// differ, or whose digest is missing. Unless `is_part`, also returns one line for every stored digest without a command.
fn differences(kept: &Bits, found: &Bits, is_part: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, new) in &found.commands {
        match kept.commands.get(name) {
            None => lines.push(format!("{name}: there is no digest of it")),
            Some(old) if (old.count, &old.input) != (new.count, &new.input) => {
                lines.push(format!("{name}: the generator makes other input"));
            }
            Some(old) if old.answers != new.answers => {
                lines.push(format!("{name}: answers differ (--out DIR writes them)"));
            }
            Some(_) => {}
        }
    }
    if !is_part {
        let gone = kept
            .commands
            .keys()
            .filter(|name| !found.commands.contains_key(*name));
        lines.extend(gone.map(|name| format!("{name}: a digest of nothing")));
    }
    lines
}

/// Reads the value of a key in a file of the operating system, such as the name of the processor. Returns an empty text if the
/// file or the key does not exist.
fn told_by_system(file: &str, key: &str) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    let value = line.unwrap_or_default();
    value.trim_matches(['"', ' ', '\t', ':', '=']).to_owned()
}

/// Describes this computer: architecture, operating system, processor and distribution, and if the processor has a fused
/// multiply-add instruction. Mathematical functions of the system choose their code by the processor.
fn machine() -> String {
    #[cfg(target_arch = "x86_64")]
    let fused = std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    let fused = true;
    let (architecture, system) = (std::env::consts::ARCH, std::env::consts::OS);
    let processor = told_by_system("/proc/cpuinfo", "model name");
    let distribution = told_by_system("/etc/os-release", "PRETTY_NAME");
    format!("{architecture}-{system}, fma {fused}, {processor}, {distribution}")
}

/// Returns the SHA-256 digest of lines of text in hexadecimal digits.
fn digest(lines: &[String]) -> String {
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(line.as_bytes());
        hash.update(b"\n");
    }
    hash.finalize()
        .iter()
        .fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// Computes the answers to all input lines of a family on all processor cores. The answers have the order of the input; a panic
/// gives the answer `a panic`.
fn answered(family: &Family) -> Vec<String> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut mine = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(line) = family.input.get(index) else {
                return mine;
            };
            let answer = catch_unwind(AssertUnwindSafe(|| (family.answer)(line)));
            mine.push((index, answer.unwrap_or_else(|_| "a panic".to_owned())));
        }
    };
    let mut all: Vec<(usize, String)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let parts = workers.into_iter().filter_map(|worker| worker.join().ok());
        parts.flatten().collect()
    });
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, answer)| answer).collect()
}

fn write_lines(
    folder: &Path,
    name: &str,
    input: &[String],
    answers: &[String],
) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    for (kind, lines) in [("input", input), ("answers", answers)] {
        let path = folder.join(format!("{name}.{kind}.jsonl"));
        fs::write(&path, lines.join("\n") + "\n")
            .with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

fn families() -> anyhow::Result<Vec<Family>> {
    let family = |name, input: Vec<Value>, answer| Family {
        name,
        input: input.iter().map(Value::to_string).collect(),
        answer,
    };
    // Laws with several outcomes, all of them.
    let outcomes: Vec<Value> = fuzz::inputs("tame", SEED + 1, 6 * OUTCOMES)?
        .into_iter()
        .filter(has_outcomes)
        .map(|line| {
            let mut options = line["options"].clone();
            options["outcomes"] = json!("all");
            with(line, "options", options)
        })
        .take(OUTCOMES)
        .collect();
    let lcp = fuzz::inputs("lcp", SEED, 3000)?.into_iter().enumerate();
    let lcp = lcp.map(|(k, line)| {
        let method = ["lemke", "auto", "enumerate"][k % 3];
        with(line, "method", json!(method))
    });
    let text = |value: Value| value.as_str().unwrap_or_default().replace('\n', " ");
    let resolve: fn(&str) -> String = |line| answer_line(Command::Resolve, 1, line).text;
    let resolved = |name, input: &str, count| -> anyhow::Result<Family> {
        Ok(family(name, fuzz::inputs(input, SEED, count)?, resolve))
    };
    let cotangents = fuzz::inputs("tame-cotangent", SEED, 1500)?;
    Ok(vec![
        resolved("resolve", "tame", 6000)?,
        resolved("derivative", "tame-derivative", 2500)?,
        family("cotangent", cotangents, |line| {
            let line: Value = serde_json::from_str(line).unwrap_or_default();
            corpus::pulled_back(&line).to_string()
        }),
        family("outcomes", outcomes, resolve),
        resolved("hostile", "hostile", 1500)?,
        resolved("wild", "resolve", 800)?,
        family("judge", fuzz::inputs("tame", SEED + 2, 500)?, judged),
        family("lcp", lcp.collect(), |line| {
            answer_line(Command::Lcp, 1, line).text
        }),
        family("mutations", fuzz::inputs("mutations", SEED, 1500)?, mutated),
        Family {
            name: "texts",
            input: fuzz::inputs("texts", SEED, 1500)?
                .into_iter()
                .map(text)
                .collect(),
            answer: resolve,
        },
        family("world", (0..100).map(world).collect(), |line| {
            run("world", line)
        }),
        family("mechanism", (0..100).map(mechanism).collect(), |line| {
            run("mechanism", line)
        }),
    ])
}

/// Generates `count` input lines from the random numbers of `seed`. The lines alternate between the commands `resolve`, `judge`
/// and `lcp`, each with its command.
pub(crate) fn lines(count: usize, seed: u64) -> anyhow::Result<Vec<(Command, String)>> {
    let part = count / 5 + 1;
    let asked = |family: &str, command| -> anyhow::Result<Vec<(Command, String)>> {
        let lines = fuzz::inputs(family, seed, part)?;
        Ok(lines
            .iter()
            .map(|line| (command, line.to_string()))
            .collect())
    };
    let resolve = asked("resolve", Command::Resolve)?;
    let wide = asked("wide", Command::Resolve)?;
    let lcp = asked("lcp", Command::Lcp)?;
    let mut judge = Vec::with_capacity(part);
    for (_, line) in asked("judge", Command::Judge)? {
        judge.push((Command::Judge, to_judge(&line)));
    }
    // A line of bounds takes many times as long as another.
    let bounded = fuzz::inputs("resolve", seed + 1, part / BOUNDED_EVERY + 1)?;
    let bounded = bounded.into_iter().map(to_bounded);
    let bounded: Vec<_> = bounded.map(|line| (Command::Resolve, line)).collect();
    let mutations = fuzz::inputs("mutations", seed, part)?;
    let mutations = mutations.iter().map(|case| {
        let command = command_of(case);
        (command, case["line"].to_string())
    });
    let mutations: Vec<_> = mutations.collect();
    let mut out = Vec::with_capacity(count);
    for k in 0..part {
        for family in [&resolve, &wide, &judge, &lcp, &mutations] {
            out.extend(family.get(k).cloned());
        }
        if k % BOUNDED_EVERY == 0 {
            out.extend(bounded.get(k / BOUNDED_EVERY).cloned());
        }
    }
    out.truncate(count);
    Ok(out)
}

/// Converts an impact problem to an input line that requests proven bounds on the velocities of all outcomes of the set-valued
/// law.
fn to_bounded(mut problem: Value) -> String {
    let options = json!({"samples": 2, "bounds": {"directions": "contact"}});
    if let Some(problem) = problem.as_object_mut() {
        problem.remove("derivative");
        problem.insert("law".to_owned(), json!("set-valued"));
        problem.insert("options".to_owned(), options);
    }
    problem.to_string()
}

/// Converts an input line of `resolve` to an input line of `judge`. The claimed velocity after the impact is 0.8 times the one
/// that the law of the line computes.
fn to_judge(line: &str) -> String {
    let mut problem: Value = serde_json::from_str(line).unwrap_or_default();
    let answer = answer_line(Command::Resolve, 1, line).text;
    let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
    if let (Some(problem), Some(velocity)) = (
        problem.as_object_mut(),
        answer.get("velocity_plus").and_then(Value::as_array),
    ) {
        problem.remove("seed");
        problem.remove("law");
        let velocity: Vec<f64> = velocity
            .iter()
            .filter_map(Value::as_f64)
            .map(|v| 0.8 * v)
            .collect();
        problem.insert("options".to_owned(), json!({"samples": 8}));
        problem.insert("velocity_plus".to_owned(), json!(velocity));
    }
    problem.to_string()
}

/// Returns the command for which a mutated input line is meant: `judge`, `lcp` or, by default, `resolve`.
fn command_of(case: &Value) -> Command {
    match case["command"].as_str() {
        Some("judge") => Command::Judge,
        Some("lcp") => Command::Lcp,
        _ => Command::Resolve,
    }
}

fn with(mut line: Value, key: &str, value: Value) -> Value {
    if let Some(line) = line.as_object_mut() {
        line.insert(key.to_owned(), value);
    }
    line
}

/// True if the law of a line can list several outcomes of its problem.
fn has_outcomes(line: &Value) -> bool {
    let is_planar = || {
        let contacts = line["contacts"].as_array().map(Vec::as_slice);
        let contacts = contacts.unwrap_or_default();
        let mut tangents = contacts
            .iter()
            .map(|c| c["tangents"].as_array().map_or(0, Vec::len));
        contacts.len() <= 4 && tangents.all(|count| count == 1)
    };
    match line["law"].as_str() {
        Some("propagative" | "set-valued") => true,
        Some("anitescu-potra") => is_planar(),
        _ => false,
    }
}

/// Resolves the impact problem in a line, and judges three claimed velocities after the impact: 1, 0.8 and 1.2 times the
/// computed one, the last one of several. Returns the three verdicts.
fn judged(line: &str) -> String {
    let line: Value = serde_json::from_str(line).unwrap_or_default();
    let judge = |factor: f64| match corpus::claimed(&line, factor) {
        Some(claim) => answer_line(Command::Judge, 1, &claim.to_string()).text,
        None => "no answer".to_owned(),
    };
    [1.0, 0.8, 1.2].map(judge).join(" ")
}

fn mutated(case: &str) -> String {
    let case: Value = serde_json::from_str(case).unwrap_or_default();
    answer_line(command_of(&case), 1, &case["line"].to_string()).text
}

/// Returns a pseudorandom number in [0, 1) that depends only on `case`, the number of the test case, and `place`, the number of
/// the draw in this case. The number is computed from a SHA-256 digest.
fn draw(case: usize, place: usize) -> f64 {
    let mut hash = Sha256::new();
    for part in [SEED, case as u64, place as u64] {
        hash.update(part.to_le_bytes());
    }
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hash.finalize()[..8]);
    (u64::from_le_bytes(bytes) >> 11) as f64 / (1u64 << 53) as f64
}

/// Generates the configuration of a world with number `case`: two or three bodies of random shapes that fall on a floor. Every
/// other world has a wall.
fn world(case: usize) -> Value {
    let at = |place: usize| draw(case, place);
    let between = |place: usize, low: f64, high: f64| low + (high - low) * at(place);
    let mut bodies = Vec::new();
    for k in 0..2 + case % 2 {
        let p = 100 * (k + 1);
        let (a, b, c) = (
            between(p, 0.05, 0.15),
            between(p + 1, 0.05, 0.15),
            between(p + 2, 0.05, 0.15),
        );
        let shape = match (case + k) % 3 {
            0 => json!({"type": "sphere", "radius": a}),
            1 => json!({"type": "box", "half_extents": [a, b, c]}),
            _ => json!({"type": "ellipsoid", "semi_axes": [a, b, c]}),
        };
        bodies.push(json!({
            "name": format!("body{k}"),
            "mass": between(p + 3, 0.2, 2.0),
            "shape": shape,
            "position": [between(p + 4, -0.05, 0.05), between(p + 5, -0.05, 0.05), 0.2 + 0.35 * k as f64],
            "velocity": [between(p + 6, -1.0, 1.0), between(p + 7, -1.0, 1.0), between(p + 8, -1.0, 0.0)],
            "angular_velocity": [between(p + 9, -5.0, 5.0), between(p + 10, -5.0, 5.0), between(p + 11, -5.0, 5.0)],
        }));
    }
    let mut planes = vec![json!({"name": "floor", "normal": [0.0, 0.0, 1.0], "offset": 0.0})];
    if case.is_multiple_of(2) {
        planes.push(json!({"name": "wall", "normal": [1.0, 0.0, 0.0], "offset": 0.3}));
    }
    let flight = ["exact", "lgvi", "lgvi4"][case % 3];
    let several = ["moreau-newton", "anitescu-potra", "propagative", "plastic"][case % 4];
    json!({
        "bodies": bodies,
        "planes": planes,
        "pairs": [],
        "duration": 0.4,
        "time_step": 0.005,
        "flight": flight,
        "law": {"several": several},
        "contact": {"friction": at(1), "restitution": at(2)},
        "output": {"sample_step": 0.1},
    })
}

/// Generates the configuration of a mechanism with number `case`: a cart with a pole between two stops, or a free link above a
/// line.
fn mechanism(case: usize) -> Value {
    let between = |place: usize, low: f64, high: f64| low + (high - low) * draw(case, place);
    let name = ["moreau-newton", "anitescu-potra", "sequential", "plastic"][case % 4];
    let (friction, restitution) = (between(1, 0.0, 0.8), between(2, 0.0, 1.0));
    let contact = |name: &str, link: &str, point: [f64; 2], line: Value| {
        json!({"name": name, "link": link, "point": point, "line": line,
               "friction": friction, "restitution": restitution})
    };
    let (links, contacts) = if case.is_multiple_of(2) {
        let links = json!([
            {"name": "cart", "joint": "slider", "anchor": [0.0, 0.0], "direction": [1.0, 0.0],
             "mass": between(3, 0.5, 2.0), "center": [0.0, 0.0], "inertia": 0.0,
             "position": between(4, -0.2, 0.2), "velocity": between(5, -2.0, 2.0)},
            {"name": "pole", "parent": "cart", "joint": "hinge", "anchor": [0.0, 0.0],
             "angle": between(6, -2.0, 2.0), "mass": between(7, 0.1, 1.0), "center": [0.4, 0.0],
             "inertia": 0.016, "position": 0.3},
        ]);
        let right = json!({"point": [0.4, 0.0], "normal": [-1.0, 0.0]});
        let left = json!({"point": [-0.4, 0.0], "normal": [1.0, 0.0]});
        let contacts = [
            contact("right", "cart", [0.1, 0.0], right),
            contact("left", "cart", [-0.1, 0.0], left),
        ];
        (links, contacts)
    } else {
        let links = json!([
            {"name": "plank", "joint": "floating", "mass": 1.0, "center": [0.0, 0.0], "inertia": 0.02,
             "position": [0.0, between(3, 0.25, 0.4), between(4, -0.8, 0.8)],
             "velocity": [between(5, -1.0, 1.0), 0.0, between(6, -2.0, 2.0)]},
        ]);
        let floor = json!({"point": [0.0, 0.0], "normal": [0.0, 1.0]});
        let contacts = [
            contact("right", "plank", [0.2, 0.0], floor.clone()),
            contact("left", "plank", [-0.2, 0.0], floor),
        ];
        (links, contacts)
    };
    json!({
        "links": links,
        "contacts": contacts,
        "duration": 0.4,
        "time_step": 0.002,
        "law": {"name": name},
        "output": {"sample_step": 0.1},
    })
}

/// Runs the scenario `name` with a configuration in TOML. Returns the record of the run, or the error message.
fn run(name: &str, configuration: &str) -> String {
    let Some(scenario) = scenario(name) else {
        return "no scenario".to_owned();
    };
    let read = serde_json::from_str::<toml::Table>(configuration);
    let toml = read.map_or_else(|error| error.to_string(), |table| table.to_string());
    let overrides = Overrides {
        toml,
        ..Overrides::default()
    };
    match scenario.run(&overrides) {
        Ok(record) => serde_json::to_string(&record).unwrap_or_else(|error| error.to_string()),
        Err(error) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(count: usize, input: &str, answers: &str) -> Bits {
        let digests = Digests {
            count,
            input: input.to_owned(),
            answers: answers.to_owned(),
        };
        Bits {
            machine: String::new(),
            commands: [("lcp".to_owned(), digests)].into(),
        }
    }

    #[test]
    fn another_answer_is_told_from_another_generator() {
        let kept = of(3, "a", "b");
        assert_eq!(differences(&kept, &kept, false), [""; 0]);
        let moved = differences(&kept, &of(3, "a", "c"), false);
        assert!(moved.len() == 1 && moved[0].contains("answers differ"));
        let other = differences(&kept, &of(3, "c", "c"), false);
        assert!(other.len() == 1 && other[0].contains("other input"));
        let none = Bits {
            commands: BTreeMap::new(),
            ..kept.clone()
        };
        assert_eq!(differences(&kept, &none, false).len(), 1);
        assert_eq!(differences(&kept, &none, true).len(), 0);
        assert_eq!(differences(&none, &kept, false).len(), 1);
    }

    #[test]
    fn the_same_seed_makes_the_same_lines_and_worlds_that_run() {
        let lines = |seed| fuzz::inputs("lcp", seed, 20).unwrap();
        assert_eq!(lines(1), lines(1));
        assert_ne!(lines(1), lines(2));
        for (name, configuration) in [
            ("world", world(0)),
            ("world", world(1)),
            ("mechanism", mechanism(0)),
            ("mechanism", mechanism(1)),
        ] {
            let record = run(name, &configuration.to_string());
            assert!(record.starts_with("{\"scenario\""), "{record}");
            assert_eq!(record, run(name, &configuration.to_string()));
        }
    }
}
