//! Checks of the answer to one line: conditions of the law, other tellings, and the exact answer without friction.

use super::answer::{Answer, answered};
use super::conditions::{broken, frictionless};
use super::motion::Ruler;
use super::scene::Scene;
use super::tellings::Telling;
use super::truth::{MAX_CONTACTS, Truth, frictionless as exact};
use super::{Asked, Corpus, MOVED, Question};
use carom_wire::Command;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Checks of the answer to one line.
pub(crate) struct Checked {
    pub(crate) answer: Answer,
    /// Condition that the answer breaks.
    pub(crate) broken: Option<String>,
    pub(crate) told: Vec<(Telling, Pair)>,
    pub(crate) truth: Option<Compared>,
    pub(crate) elapsed: Duration,
}

/// Answers to two tellings of a problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pair {
    Refused,
    /// One telling is answered and the other one refused.
    OneRefused,
    Answered {
        /// Distance over the motion that contacts see.
        distance: f64,
        /// Distance that the digits of both answers admit, if they are told.
        admitted: Option<f64>,
        /// True if both answers say that the law has others.
        of_several: bool,
    },
}

/// Answer of a law without friction beside the exact one.
#[derive(Clone, Debug)]
pub(crate) struct Compared {
    pub(crate) law: String,
    pub(crate) line: Value,
    /// Distance over the motion that contacts see; infinite if there is no exact answer. `None` for a refused line.
    pub(crate) distance: Option<f64>,
    pub(crate) digits: Option<f64>,
}

/// Error of $10^{1-d}$ that an answer with d digits admits, or [`MOVED`] if that is more.
pub(crate) fn admitted(digits: f64) -> f64 {
    10f64.powf(1.0 - digits).max(MOVED)
}

impl Pair {
    fn new(line: &Value, telling: Telling, answer: &Answer, told: &Answer) -> Self {
        match (answer.is_answered(), told.is_answered()) {
            (false, false) => Self::Refused,
            (true, true) => Self::Answered {
                distance: answer.distance(told, line, |v| telling.back(v)),
                admitted: answer
                    .digits
                    .zip(told.digits)
                    .map(|(a, b)| admitted(a.min(b))),
                of_several: answer.warns("not-unique") && told.warns("not-unique"),
            },
            _ => Self::OneRefused,
        }
    }

    /// True if both are answered, by velocities that differ.
    pub(crate) fn is_moved(&self) -> bool {
        matches!(self, Self::Answered { distance, .. } if !(*distance <= MOVED))
    }
}

impl Checked {
    /// Answers a line without checks.
    pub(crate) fn unchecked(asked: &Asked) -> Self {
        let start = Instant::now();
        let answer = asked.answer();
        Self {
            answer,
            broken: None,
            told: Vec::new(),
            truth: None,
            elapsed: start.elapsed(),
        }
    }

    /// Answers a line and checks the answer. `turn` chooses the law of the comparison with exact answers.
    pub(crate) fn new(asked: &Asked, turn: usize) -> Self {
        if asked.command != Question::Resolve {
            return Self::unchecked(asked);
        }
        let start = Instant::now();
        let json = answered(Command::Resolve, &asked.line);
        let elapsed = start.elapsed();
        let answer = Answer::read(&json);
        let tellings = Telling::ALL.into_iter();
        let told = tellings.filter_map(|telling| Some((telling, telling.tell(&asked.line)?)));
        let told = told.map(|(telling, told)| {
            let told = Answer::read(&answered(Command::Resolve, &told));
            (telling, Pair::new(&asked.line, telling, &answer, &told))
        });
        Self {
            told: told.collect(),
            broken: broken(&asked.line, &json),
            truth: compared(asked, turn),
            elapsed,
            answer,
        }
    }
}

/// Compares the answer to a line without its friction with that of rational arithmetic. Returns `None` for too many contacts,
/// and where rows depend within rounding but not exactly.
/// Constraints of hostile lines are left out: some are equal within the tolerance of their rank, which exact arithmetic does not
/// have.
fn compared(asked: &Asked, turn: usize) -> Option<Compared> {
    let mut line = frictionless(&asked.line, turn);
    if asked.corpus == Corpus::Hostile {
        line.as_object_mut()?.remove("constraints");
    }
    let scene = Scene::read(&line)?;
    if scene.contacts.len() > MAX_CONTACTS {
        return None;
    }
    let law = line["law"].as_str().unwrap_or_default().to_owned();
    let found = exact(&scene, law == "moreau-newton")?;
    let ruler = match &found.truth {
        Truth::Velocity(exact) => Ruler::new(&scene, exact)?,
        Truth::NoAnswer => Ruler::new(&scene, &scene.velocity)?,
    };
    // Rows that depend within 1e-12 count as one for a law.
    if ruler.rank() != found.rank {
        return None;
    }
    let answer = Answer::read(&answered(Command::Resolve, &line));
    let distance = answer.velocity().map(|velocity| match &found.truth {
        Truth::NoAnswer => f64::INFINITY,
        Truth::Velocity(exact) => ruler.distance(exact, &velocity),
    });
    Some(Compared {
        law,
        line,
        distance,
        digits: answer.digits,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answer(velocity: [f64; 2]) -> Answer {
        Answer::read(&json!({"velocity_plus": velocity, "audit": {"digits": 5.5}}))
    }

    #[test]
    fn an_answer_that_moves_with_the_telling_is_seen() {
        let line = json!({"law": "plastic", "mass_matrix": [[1, 0], [0, 4]], "velocity": [1, -3],
            "contacts": [{"normal": [1, 1]}]});
        let base = answer([2.6, -2.6]);
        let pair = |told: &Answer| Pair::new(&line, Telling::Coordinates, &base, told);
        assert!(!pair(&answer([-2.6, 2.6])).is_moved());
        let moved = pair(&answer([-2.6, 2.6 + 1e-6]));
        assert!(moved.is_moved());
        let Pair::Answered { admitted, .. } = moved else {
            panic!("{moved:?}");
        };
        assert_eq!(admitted, Some(10f64.powf(-4.5)));
        assert!(pair(&answer([2.6, -2.6])).is_moved());
        let refused = Answer::read(&json!({"error": {"kind": "inaccurate"}}));
        assert_eq!(pair(&refused), Pair::OneRefused);
        // A velocity that is not finite is written as null.
        let none = Answer::read(&json!({"velocity_plus": [null, 2.6]}));
        assert!(pair(&none).is_moved());
    }

    /// A wall that is struck at 1 m/s, with a restitution of 1/2.
    #[test]
    fn exact_answers_are_compared() {
        let asked = Asked {
            corpus: Corpus::Tame,
            command: Question::Resolve,
            line: json!({"law": "poisson", "mass_matrix": [[2]], "velocity": [-1],
                "contacts": [{"normal": [3], "tangents": [[1]], "friction": 0.2, "restitution": 0.5}]}),
        };
        for turn in 0..3 {
            let found = compared(&asked, turn).unwrap();
            assert_eq!(found.distance, Some(0.0), "{}", found.law);
        }
    }

    /// Answers of small problems without friction beside those of rational arithmetic: at most one is off by more than ten times
    /// what its digits say, and with two digits more there would be others.
    #[test]
    fn digits_hold_against_rational_arithmetic() {
        let mut compared_all: Vec<(f64, f64)> = Vec::new();
        for corpus in Corpus::ALL {
            let lines = crate::fuzz::inputs(corpus.name(), 11, 300).unwrap();
            let asked = lines.into_iter().map(|line| Asked {
                corpus,
                command: Question::Resolve,
                line,
            });
            let compared = { asked.enumerate() }
                .filter_map(|(turn, asked)| compared(&asked, turn))
                .filter_map(|found| found.distance.zip(found.digits));
            compared_all.extend(compared);
        }
        assert!(compared_all.len() > 300, "{}", compared_all.len());
        let missed = |more: f64| {
            let far =
                |(distance, digits): &&(f64, f64)| !(*distance <= 10f64.powf(1.0 - digits - more));
            compared_all.iter().filter(far).count()
        };
        assert!(missed(0.0) <= 1, "{}", missed(0.0));
        assert!(missed(2.0) > 1, "{}", missed(2.0));
    }
}
