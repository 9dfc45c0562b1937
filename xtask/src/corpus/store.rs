//! Answers of one revision, kept in a file and compared with those of another.

use super::answer::Answer;
use super::cases::AT_ONCE;
use super::{Asked, MOVED};
use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Difference of two entries of a Jacobian, over the largest one or 1, above which it counts as another one.
const OTHER_JACOBIAN: f64 = 1e-7;

/// One answer with its line, which tells another generator from another answer.
#[derive(Serialize, Deserialize)]
struct Kept {
    corpus: String,
    command: String,
    line: Value,
    answer: Answer,
}

/// Changes between two revisions, of one law or of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Changes {
    lines: usize,
    lost: usize,
    won: usize,
    moved: usize,
    /// Moved answers of which both said that the law has others.
    moved_of_several: usize,
    jacobians: usize,
    /// Number of lines for each change of a word, such as a class or an error kind.
    words: BTreeMap<String, usize>,
}

/// Writes the answers to all lines into the file `path`, one a line.
pub(crate) fn save(path: &Path, asked: &[Asked], answers: &[&Answer]) -> anyhow::Result<()> {
    let mut text = String::new();
    for (asked, answer) in asked.iter().zip(answers) {
        let kept = Kept {
            corpus: asked.corpus.name().to_owned(),
            command: asked.command.name().to_owned(),
            line: asked.line.clone(),
            answer: (*answer).clone(),
        };
        text.push_str(&serde_json::to_string(&kept)?);
        text.push('\n');
    }
    fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}

/// Compares the answers to all lines with those in the file `path`, and prints the changes by corpus, command and law.
pub(crate) fn compare(path: &Path, asked: &[Asked], answers: &[&Answer]) -> anyhow::Result<()> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let kept: Vec<Kept> = text
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .with_context(|| format!("reading {}", path.display()))?;
    let same = "same --seed, --count and --corpus, and an equal generator";
    ensure!(
        kept.len() == asked.len(),
        "other lines were kept: give the {same}"
    );
    let mut by_law: BTreeMap<(String, String, String), Changes> = BTreeMap::new();
    for ((kept, asked), answer) in kept.iter().zip(asked).zip(answers) {
        ensure!(
            kept.line == asked.line,
            "another line was kept: give the {same}"
        );
        let is_at_once = AT_ONCE.contains(&asked.law());
        let groups = [asked.law(), "all", "at once"];
        for law in &groups[..2 + usize::from(is_at_once)] {
            let key = (kept.corpus.clone(), kept.command.clone(), (*law).to_owned());
            let changes = by_law.entry(key).or_default();
            changes.add(&kept.answer, answer, asked);
        }
    }
    println!(
        "{:<8} {:<8} {:<30} {:>6} {:>5} {:>5} {:>6} {:>15} {:>9}",
        "corpus",
        "command",
        "law",
        "lines",
        "lost",
        "won",
        "moved",
        "moved of several",
        "Jacobians"
    );
    for ((corpus, command, law), changes) in &by_law {
        println!(
            "{corpus:<8} {command:<8} {law:<30} {:>6} {:>5} {:>5} {:>6} {:>15} {:>9}",
            changes.lines,
            changes.lost,
            changes.won,
            changes.moved,
            changes.moved_of_several,
            changes.jacobians
        );
        if law == "all" {
            for (change, count) in &changes.words {
                println!("{:18}{count:>6} {change}", "");
            }
        }
    }
    Ok(())
}

impl Changes {
    fn add(&mut self, before: &Answer, after: &Answer, asked: &Asked) {
        self.lines += 1;
        let word = |answer: &Answer| {
            let told = answer.error.as_ref().or(answer.word.as_ref());
            told.map_or("answered", String::as_str).to_owned()
        };
        let (old, new) = (word(before), word(after));
        if old != new {
            *self.words.entry(format!("{old} -> {new}")).or_default() += 1;
        }
        match (before.is_answered(), after.is_answered()) {
            (true, false) => self.lost += 1,
            (false, true) => self.won += 1,
            (false, false) => {}
            (true, true) => {
                if before.distance(after, &asked.line, Clone::clone) > MOVED {
                    let of_several = before.warns("not-unique") && after.warns("not-unique");
                    self.moved += usize::from(!of_several);
                    self.moved_of_several += usize::from(of_several);
                } else if differ(&before.jacobian, &after.jacobian) {
                    self.jacobians += 1;
                }
            }
        }
    }
}

/// True if two Jacobians of the same class differ; one that is missing differs from none.
fn differ(a: &[f64], b: &[f64]) -> bool {
    let size = a.iter().fold(1.0f64, |size, x| size.max(x.abs()));
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .any(|(x, y)| !((x - y).abs() <= OTHER_JACOBIAN * size))
}
