//! `cargo xtask corpus`: random problems on which every law is checked against conditions, other tellings and exact answers.
//!
//! Tame problems are well conditioned; a law answers all of them well, or a promise is broken. Hostile ones are small and nearly
//! singular; an answer to one is right, marked or refused. The seed fixes the lines. `--save` keeps the answers of a revision,
//! `--against` counts what another revision changes.

mod answer;
mod bodies;
mod cases;
mod check;
mod conditions;
mod draws;
mod hostile;
mod motion;
mod pull_back;
mod report;
mod robots;
mod scene;
mod store;
mod tame;
mod tellings;
mod truth;

pub(crate) use answer::claimed;
pub(crate) use cases::{differentiated, hostile, tame};
pub(crate) use draws::Draws;
pub(crate) use pull_back::{check as check_cotangents, pulled_back, with_cotangents};

use answer::{Answer, answered};
use carom_wire::Command;
use check::Checked;
use rayon::prelude::*;
use report::Report;
use serde_json::Value;
use std::path::PathBuf;

/// Distance over the motion that contacts see above which an answer counts as another one.
const MOVED: f64 = 1e-7;

/// Lines of each corpus by default.
const COUNT: usize = 3000;

/// Seed by default.
const SEED: u64 = 1;

/// Lines of `resolve` for one line with a derivative, and for one line of `judge`.
const DERIVATIVE_EVERY: usize = 4;
const JUDGE_EVERY: usize = 12;

/// Flags of `cargo xtask corpus`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Check the answers to all lines instead of printing the lines.
    #[arg(long)]
    check: bool,
    /// Only this corpus.
    #[arg(long)]
    corpus: Option<Corpus>,
    /// Lines of `resolve` in each corpus; lines with derivatives and lines of `judge` are added.
    #[arg(long, value_name = "N", default_value_t = COUNT)]
    count: usize,
    #[arg(long, value_name = "N", default_value_t = SEED)]
    seed: u64,
    /// Write the answers into this file.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Count the changes from the answers in this file.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
}

impl Args {
    /// True if answers are checked or compared.
    pub(crate) fn is_check(&self) -> bool {
        self.check || self.save.is_some() || self.against.is_some()
    }
}

/// Kind of random problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Corpus {
    /// Well conditioned problems of mechanical systems.
    Tame,
    /// Small, nearly singular problems.
    Hostile,
}

impl Corpus {
    const ALL: [Self; 2] = [Self::Tame, Self::Hostile];

    fn name(self) -> &'static str {
        match self {
            Self::Tame => "tame",
            Self::Hostile => "hostile",
        }
    }
}

/// Question about a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    Resolve,
    Derivative,
    /// Judgment of the law's own answer, or of the last of its outcomes.
    Judge,
}

impl Question {
    fn name(self) -> &'static str {
        match self {
            Self::Resolve => "resolve",
            Self::Derivative => "derivative",
            Self::Judge => "judge",
        }
    }
}

/// A line of a corpus.
struct Asked {
    corpus: Corpus,
    command: Question,
    /// Input of `resolve`, also for questions about its answer.
    line: Value,
}

impl Asked {
    fn law(&self) -> &str {
        self.line["law"].as_str().unwrap_or_default()
    }

    fn answer(&self) -> Answer {
        match self.command {
            Question::Resolve | Question::Derivative => {
                Answer::read(&answered(Command::Resolve, &self.line))
            }
            Question::Judge => match claimed(&self.line, 1.0) {
                Some(claim) => Answer::read(&answered(Command::Judge, &claim)),
                None => Answer::read(&serde_json::json!({"error": {"kind": "no answer to judge"}})),
            },
        }
    }
}

/// Generates the lines of the corpora.
fn lines(args: &Args) -> anyhow::Result<Vec<Asked>> {
    let mut all = Vec::new();
    for corpus in Corpus::ALL {
        if args.corpus.is_some_and(|only| only != corpus) {
            continue;
        }
        for (command, count) in [
            (Question::Resolve, args.count),
            (Question::Derivative, args.count / DERIVATIVE_EVERY),
            (Question::Judge, args.count / JUDGE_EVERY),
        ] {
            let name = match command {
                Question::Derivative => format!("{}-derivative", corpus.name()),
                _ => corpus.name().to_owned(),
            };
            // Judged are other problems than those of the lines before.
            let seed = args
                .seed
                .wrapping_add(u64::from(command == Question::Judge) << 32);
            let lines = crate::fuzz::inputs(&name, seed, count)?;
            all.extend(lines.into_iter().map(|line| Asked {
                corpus,
                command,
                line,
            }));
        }
    }
    Ok(all)
}

/// Runs `cargo xtask corpus`. Returns one line for every limit that is broken.
pub(crate) fn corpus(args: &Args) -> anyhow::Result<Vec<String>> {
    let asked = lines(args)?;
    if !args.is_check() {
        for asked in asked
            .iter()
            .filter(|asked| asked.command != Question::Judge)
        {
            println!("{}", asked.line);
        }
        return Ok(Vec::new());
    }
    // A panic is an answer of its own.
    std::panic::set_hook(Box::new(|_| {}));
    let checked: Vec<Checked> = asked
        .par_iter()
        .enumerate()
        .map(|(turn, asked)| {
            if args.check {
                Checked::new(asked, turn)
            } else {
                Checked::unchecked(asked)
            }
        })
        .collect();
    let answers: Vec<&Answer> = checked.iter().map(|checked| &checked.answer).collect();
    if let Some(path) = &args.save {
        store::save(path, &asked, &answers)?;
    }
    if let Some(path) = &args.against {
        store::compare(path, &asked, &answers)?;
    }
    let mut faults = Vec::new();
    if args.check {
        for corpus in Corpus::ALL {
            if args.corpus.is_none_or(|only| only == corpus) {
                let report = Report::new(corpus, &asked, &checked);
                report.print();
                faults.extend(report.faults());
            }
        }
    }
    Ok(faults)
}
