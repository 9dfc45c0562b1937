//! Rates of a run of `cargo xtask corpus --check`, as tables, and the limits that they must keep.

use super::answer::PANIC;
use super::cases::AT_ONCE;
use super::check::{Checked, Compared, Pair, admitted};
use super::tellings::Telling;
use super::{Asked, Corpus, MOVED, Question};
use std::collections::BTreeMap;

/// Errors that say that the law has no answer to a problem.
const NO_ANSWER: [&str; 3] = [
    "infeasible-law",
    "no-elastic-outcome",
    "contradictory-restitution",
];

/// Laws whose answers are members of the set of inelastic outcomes.
const MEMBERS: [&str; 3] = ["anitescu-potra", "sequential", "set-valued"];

/// Digits below which an answer must be marked, and below which it must be refused.
const MARKED: f64 = 6.0;
const REFUSED: f64 = 2.0;

/// Lines shown of each fault, the worst ones.
const SHOWN: usize = 5;

/// Digits of an exact answer.
const ALL_DIGITS: f64 = 16.0;

/// Number of cases, and of those among them that count against a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rate {
    pub(crate) hits: usize,
    pub(crate) of: usize,
}

impl Rate {
    fn add(&mut self, is_hit: bool) {
        self.hits += usize::from(is_hit);
        self.of += 1;
    }

    /// True if the hits are more than one in `limit` cases, rounded up to a whole number of hits.
    fn is_above(self, limit: usize) -> bool {
        self.hits > self.of.div_ceil(limit)
    }
}

impl std::fmt::Display for Rate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&format!("{}/{}", self.hits, self.of))
    }
}

/// Pairs of answers to two tellings.
#[derive(Clone, Copy, Debug, Default)]
struct Pairs {
    /// Answers that differ, those of several answers aside.
    moved: Rate,
    /// Answers that differ, of laws that said both times that they have others.
    of_several: usize,
    /// Answers that differ by more than their digits admit.
    beyond: Rate,
    one_refused: usize,
}

impl Pairs {
    fn add(&mut self, pair: &Pair) {
        match pair {
            Pair::Refused => {}
            Pair::OneRefused => self.one_refused += 1,
            Pair::Answered {
                distance,
                admitted,
                of_several,
            } => {
                let is_moved = pair.is_moved();
                self.moved.add(is_moved && !of_several);
                self.of_several += usize::from(is_moved && *of_several);
                if let Some(admitted) = admitted {
                    self.beyond.add(!(distance <= admitted));
                }
            }
        }
    }
}

/// Rates of one corpus.
pub(crate) struct Report {
    corpus: Corpus,
    /// Per law: number of lines of `resolve`.
    lines: BTreeMap<String, usize>,
    /// Per law and error kind.
    errors: BTreeMap<(String, String), usize>,
    /// Conditions that answers break, with their law.
    broken: Vec<String>,
    /// Panics and faults of carom itself.
    faults: usize,
    pairs: BTreeMap<(String, Telling), Pairs>,
    truth: BTreeMap<String, Vec<Compared>>,
    /// Lines whose answers move with the telling, with the distance.
    moved: Vec<(f64, String)>,
    /// Lines whose answers move with the telling by more than their digits admit, with the ratio of the distance to that.
    beyond: Vec<(f64, String)>,
    digits: Vec<Option<f64>>,
    has_digits: bool,
    warnings: BTreeMap<String, usize>,
    /// Answers with few digits that are not marked, and those with too few.
    unmarked: usize,
    unrefused: usize,
    /// Number of answers with a word: class of a derivative, membership of `judge`, or error kind.
    words: BTreeMap<(&'static str, String), usize>,
    /// Answers of laws without restitution that `judge` calls outside of the set of inelastic outcomes.
    expelled: usize,
    slowest: (f64, String),
}

impl Report {
    pub(crate) fn new(corpus: Corpus, asked: &[Asked], checked: &[Checked]) -> Self {
        let mut report = Self {
            corpus,
            lines: BTreeMap::new(),
            errors: BTreeMap::new(),
            broken: Vec::new(),
            faults: 0,
            pairs: BTreeMap::new(),
            truth: BTreeMap::new(),
            moved: Vec::new(),
            beyond: Vec::new(),
            digits: Vec::new(),
            has_digits: false,
            warnings: BTreeMap::new(),
            unmarked: 0,
            unrefused: 0,
            words: BTreeMap::new(),
            expelled: 0,
            slowest: (0.0, String::new()),
        };
        for (asked, checked) in asked.iter().zip(checked) {
            if asked.corpus == corpus {
                report.add(asked, checked);
            }
        }
        report
    }

    fn add(&mut self, asked: &Asked, checked: &Checked) {
        let answer = &checked.answer;
        let law = asked.law().to_owned();
        let seconds = checked.elapsed.as_secs_f64();
        if seconds > self.slowest.0 {
            self.slowest = (
                seconds,
                format!("{} by {law}: {}", asked.command.name(), asked.line),
            );
        }
        let error = answer.error.clone();
        self.faults += usize::from(
            error
                .as_deref()
                .is_some_and(|e| e == PANIC || e == "internal"),
        );
        if asked.command != Question::Resolve {
            let word = error.or_else(|| answer.word.clone()).unwrap_or_default();
            let is_member = asked.command == Question::Judge && MEMBERS.contains(&asked.law());
            self.expelled += usize::from(is_member && word == "outside");
            *self.words.entry((asked.command.name(), word)).or_default() += 1;
            return;
        }
        *self.lines.entry(law.clone()).or_default() += 1;
        if let Some(kind) = error {
            *self.errors.entry((law.clone(), kind)).or_default() += 1;
        } else {
            self.has_digits |= answer.has_digits;
            self.digits.push(answer.digits);
            for warning in &answer.warnings {
                *self.warnings.entry(warning.clone()).or_default() += 1;
            }
            let few = |limit: f64| answer.digits.is_some_and(|digits| digits < limit);
            self.unmarked += usize::from(few(MARKED) && !answer.warns("ill-conditioned"));
            self.unrefused += usize::from(few(REFUSED));
        }
        if let Some(what) = &checked.broken {
            self.broken.push(format!("{law}: {what}: {}", asked.line));
        }
        for (telling, pair) in &checked.told {
            let pairs = self.pairs.entry((law.clone(), *telling)).or_default();
            pairs.add(pair);
            if let Pair::Answered {
                distance,
                admitted,
                of_several,
            } = pair
                && pair.is_moved()
            {
                let name = telling.name();
                let text = format!("{law} by {distance:.1e}, {name}: {}", asked.line);
                if let Some(admitted) = admitted.filter(|admitted| !(distance <= admitted)) {
                    self.beyond.push((distance / admitted, text.clone()));
                }
                if !of_several {
                    self.moved.push((*distance, text));
                }
            }
        }
        if let Some(compared) = &checked.truth {
            let of_law = self.truth.entry(compared.law.clone()).or_default();
            of_law.push(compared.clone());
        }
    }

    /// Rate of refusals of the laws that `is_asked` selects; errors that say that the law has no answer aside.
    fn refused(&self, is_asked: impl Fn(&str) -> bool) -> Rate {
        let lines = self.lines.iter().filter(|(law, _)| is_asked(law));
        let errors = self
            .errors
            .iter()
            .filter(|((law, kind), _)| is_asked(law) && !NO_ANSWER.contains(&kind.as_str()));
        Rate {
            hits: errors.map(|(_, count)| count).sum(),
            of: lines.map(|(_, count)| count).sum(),
        }
    }

    /// Sum over the pairs that `is_asked` selects.
    fn pairs(&self, is_asked: impl Fn(&str, Telling) -> bool) -> Pairs {
        let asked = self.pairs.iter();
        let asked = asked.filter(|((law, telling), _)| is_asked(law, *telling));
        asked.fold(Pairs::default(), |mut sum, (_, pairs)| {
            for (sum, rate) in [
                (&mut sum.moved, pairs.moved),
                (&mut sum.beyond, pairs.beyond),
            ] {
                sum.hits += rate.hits;
                sum.of += rate.of;
            }
            sum.of_several += pairs.of_several;
            sum.one_refused += pairs.one_refused;
            sum
        })
    }

    /// Rate of answers without friction that are off by more than `limit` of their digits.
    fn missed(&self, law: &str, limit: impl Fn(&Compared) -> f64) -> Rate {
        let mut rate = Rate::default();
        for compared in self.truth.get(law).into_iter().flatten() {
            if let Some(distance) = compared.distance {
                rate.add(!(distance <= limit(compared)));
            }
        }
        rate
    }

    /// Sorted differences between the true digits and the estimated ones of all answers without friction.
    fn modesty(&self) -> Vec<f64> {
        let all = self.truth.values().flatten();
        let told = all.filter_map(|compared| compared.distance.zip(compared.digits));
        let mut all: Vec<f64> = told
            .map(|(distance, digits)| (-distance.log10()).clamp(0.0, ALL_DIGITS) - digits)
            .collect();
        all.sort_by(f64::total_cmp);
        all
    }

    pub(crate) fn print(&self) {
        println!(
            "\n{}: answers by law, and pairs that differ by more than {MOVED:e} in another telling",
            self.corpus.name()
        );
        let tellings: String = Telling::ALL
            .iter()
            .map(|telling| format!(" {:>12}", telling.name()))
            .collect();
        println!(
            "{:<30} {:>6} {:>7} {:>9} {:>6}{tellings}",
            "law", "lines", "refused", "no answer", "broken"
        );
        for law in self.lines.keys() {
            self.print_law(law, |name| name == law);
        }
        self.print_law("at once", |name| AT_ONCE.contains(&name));
        self.print_law("all", |_| true);
        let totals = |pick: &dyn Fn(Pairs) -> String| -> String {
            let each = Telling::ALL.iter();
            let each = each.map(|telling| pick(self.pairs(|_, other| other == *telling)));
            each.map(|text| format!(" {text:>12}")).collect()
        };
        let rows: [(&str, &dyn Fn(Pairs) -> String); 3] = [
            ("moved, of several answers", &|pairs| {
                pairs.of_several.to_string()
            }),
            ("refused in one telling alone", &|pairs| {
                pairs.one_refused.to_string()
            }),
            ("moved beyond their digits", &|pairs| {
                pairs.beyond.to_string()
            }),
        ];
        for (name, pick) in rows {
            println!("{name:<62}{}", totals(pick));
        }
        for ((law, kind), count) in &self.errors {
            println!("  {count:>5} {kind} of {law}");
        }
        for (warning, count) in &self.warnings {
            println!("  {count:>5} warned {warning}");
        }
        for ((command, word), count) in &self.words {
            println!("  {count:>5} {command}: {word}");
        }
        for broken in self.broken.iter().take(SHOWN) {
            println!("  broken: {broken}");
        }
        for (name, lines) in [("moved", &self.moved), ("beyond its digits", &self.beyond)] {
            let mut lines: Vec<&(f64, String)> = lines.iter().collect();
            lines.sort_by(|a, b| b.0.total_cmp(&a.0));
            for (_, text) in lines.into_iter().take(SHOWN) {
                println!("  {name}: {text}");
            }
        }
        self.print_truth();
        self.print_digits();
        println!("slowest line: {:.2} s, {}", self.slowest.0, self.slowest.1);
    }

    fn print_law(&self, name: &str, is_asked: impl Fn(&str) -> bool) {
        let refused = self.refused(&is_asked);
        let errors = self.errors.iter();
        let none: usize = errors
            .filter(|((law, kind), _)| is_asked(law) && NO_ANSWER.contains(&kind.as_str()))
            .map(|(_, count)| count)
            .sum();
        let law_of = |text: &str| text.split(':').next().unwrap_or_default().to_owned();
        let broken = self
            .broken
            .iter()
            .filter(|text| is_asked(&law_of(text)))
            .count();
        let moved: String = Telling::ALL
            .iter()
            .map(|telling| {
                self.pairs(|law, other| is_asked(law) && other == *telling)
                    .moved
            })
            .map(|rate| format!(" {rate:>12}"))
            .collect();
        println!(
            "{name:<30} {:>6} {:>7} {none:>9} {broken:>6}{moved}",
            refused.of, refused.hits
        );
    }

    fn print_truth(&self) {
        println!(
            "{:<30} {:>12} {:>12} {:>12}",
            "without friction, exact", "refused", "off by 1e-7", "and digits"
        );
        for (law, compared) in &self.truth {
            let refused = compared.iter().filter(|c| c.distance.is_none()).count();
            let refused = Rate {
                hits: refused,
                of: compared.len(),
            };
            let off = self.missed(law, |_| MOVED);
            let beyond = self.missed(law, |c| c.digits.map_or(MOVED, admitted));
            println!("{law:<30} {refused:>12} {off:>12} {beyond:>12}");
        }
        let mut missed: Vec<(f64, &Compared)> = self
            .truth
            .values()
            .flatten()
            .filter_map(|compared| Some((compared.distance?, compared)))
            .filter(|(distance, compared)| !(*distance <= compared.digits.map_or(MOVED, admitted)))
            .collect();
        missed.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (distance, compared) in missed.into_iter().take(SHOWN) {
            println!("  missed by {distance:.1e}: {}", compared.line);
        }
    }

    fn print_digits(&self) {
        if !self.has_digits {
            println!("audit has no key `digits`: its estimates are not checked");
            return;
        }
        let told = self.digits.iter().flatten();
        let within = told.clone().filter(|d| (MARKED..=ALL_DIGITS).contains(*d));
        println!(
            "digits: told for {} of {} answers, {} within {MARKED} to {ALL_DIGITS}; below {MARKED} and not marked: {}, below {REFUSED} and not refused: {}",
            told.count(),
            self.digits.len(),
            within.count(),
            self.unmarked,
            self.unrefused
        );
        let modesty = self.modesty();
        let at = |part: usize| {
            modesty
                .get(modesty.len() * part / 100)
                .copied()
                .unwrap_or(0.0)
        };
        println!(
            "true digits less estimated ones: {:.1} in the median, {:.1} in nine of ten, {:.1} to {:.1} in all",
            at(50),
            at(90),
            at(0),
            modesty.last().copied().unwrap_or(0.0)
        );
    }

    /// Returns one line for every limit that this corpus breaks.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = match self.corpus {
            Corpus::Tame => self.tame_faults(),
            Corpus::Hostile => self.hostile_faults(),
        };
        let mut limit = |is_broken: bool, what: String| {
            if is_broken {
                faults.push(format!("{}: {what}", self.corpus.name()));
            }
        };
        limit(
            self.faults > 0,
            format!("{} panics or internal faults", self.faults),
        );
        if self.has_digits {
            limit(
                self.unmarked > 0,
                format!("{} answers of few digits are not marked", self.unmarked),
            );
            limit(
                self.unrefused > 0,
                format!("{} answers of too few digits", self.unrefused),
            );
        }
        faults
    }

    fn tame_faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut limit = |is_broken: bool, what: String| {
            if is_broken {
                faults.push(format!("tame: {what}"));
            }
        };
        limit(
            !self.broken.is_empty(),
            format!(
                "{} answers break a condition of their law",
                self.broken.len()
            ),
        );
        for law in AT_ONCE {
            let refused = self.refused(|name| name == law);
            limit(refused.is_above(200), format!("{law} refuses {refused}"));
        }
        let refused = self.refused(|law| AT_ONCE.contains(&law));
        limit(
            refused.is_above(1000),
            format!("laws at once refuse {refused}"),
        );
        let pairs = self.pairs(|_, _| true);
        // `poisson` may have several answers in its expansion, told in reliability.md.
        limit(
            pairs.moved.is_above(10_000),
            format!("pairs move: {}", pairs.moved),
        );
        let of_several = Rate {
            hits: pairs.of_several,
            of: pairs.moved.of,
        };
        limit(
            of_several.is_above(200),
            format!("pairs of several answers move: {of_several}"),
        );
        limit(
            self.expelled > 0,
            format!("{} members of the set are judged outside", self.expelled),
        );
        let off = self
            .truth
            .keys()
            .map(|law| self.missed(law, |c| c.digits.map_or(MOVED, admitted)).hits)
            .sum::<usize>();
        limit(
            off > 0,
            format!(
                "{off} answers without friction are off by more than {MOVED:e} and their digits"
            ),
        );
        if self.has_digits {
            let told = self.digits.iter().flatten();
            let mut few = Rate::default();
            told.for_each(|d| few.add(!(MARKED..=ALL_DIGITS).contains(d)));
            limit(
                few.is_above(100),
                format!("digits are not within {MARKED} to {ALL_DIGITS}: {few}"),
            );
        }
        faults
    }

    fn hostile_faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut limit = |is_broken: bool, what: String| {
            if is_broken {
                faults.push(format!("hostile: {what}"));
            }
        };
        let refused = self.refused(|_| true);
        limit(refused.is_above(4), format!("refused: {refused}"));
        if !self.has_digits {
            return faults;
        }
        for telling in Telling::ALL {
            let name = telling.name();
            let beyond = self.pairs(|_, other| other == telling).beyond;
            limit(
                beyond.is_above(1000),
                format!("{name}: pairs move beyond their digits: {beyond}"),
            );
            let pairs = self.pairs(|_, other| other == telling);
            let of_chains = Rate {
                hits: self.moved_without_digits(telling),
                of: pairs.moved.of - pairs.beyond.of,
            };
            limit(
                of_chains.is_above(25),
                format!("{name}: pairs without digits move: {of_chains}"),
            );
        }
        for law in self.truth.keys() {
            let missed = self.missed(law, |c| c.digits.map_or(MOVED, admitted));
            limit(
                missed.is_above(300),
                format!("{law} misses the exact answer: {missed}"),
            );
        }
        let modesty = self.modesty();
        let at = |part: usize| {
            modesty
                .get(modesty.len() * part / 100)
                .copied()
                .unwrap_or(0.0)
        };
        limit(
            at(50) > 2.0,
            format!("digits are {:.1} too low in the median", at(50)),
        );
        limit(
            at(90) > 5.0,
            format!("digits are {:.1} too low in nine of ten", at(90)),
        );
        faults
    }

    /// Number of pairs that move, of laws none of whose answers tell digits.
    fn moved_without_digits(&self, telling: Telling) -> usize {
        let pairs = self.pairs.iter();
        pairs
            .filter(|((_, other), pairs)| *other == telling && pairs.beyond.of == 0)
            .map(|(_, pairs)| pairs.moved.hits)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer::Answer;
    use super::*;
    use serde_json::json;
    use std::time::Duration;

    fn asked(corpus: Corpus) -> Asked {
        Asked {
            corpus,
            command: Question::Resolve,
            line: json!({"law": "plastic"}),
        }
    }

    fn checked(answer: &serde_json::Value) -> Checked {
        Checked {
            answer: Answer::read(answer),
            broken: None,
            told: Vec::new(),
            truth: None,
            elapsed: Duration::ZERO,
        }
    }

    fn faults(corpus: Corpus, checked: Checked) -> Vec<String> {
        Report::new(corpus, &[asked(corpus)], &[checked]).faults()
    }

    #[test]
    fn a_limit_is_a_whole_number_of_hits() {
        let rate = |hits, of| Rate { hits, of };
        assert!(!rate(0, 0).is_above(200) && !rate(1, 10).is_above(200));
        assert!(rate(2, 10).is_above(200) && rate(2, 200).is_above(200));
        assert!(!rate(2, 201).is_above(200));
    }

    #[test]
    fn every_broken_limit_is_told() {
        let right = json!({"velocity_plus": [1.0], "audit": {"digits": 15.0}});
        assert_eq!(faults(Corpus::Tame, checked(&right)), [""; 0]);
        let mut broken = checked(&right);
        broken.broken = Some("contact 0 misses its velocity".to_owned());
        assert_eq!(faults(Corpus::Tame, broken).len(), 1);
        let mut moved = checked(&right);
        let pair = |distance| Pair::Answered {
            distance,
            admitted: Some(1e-6),
            of_several: false,
        };
        moved.told = vec![(Telling::Mass, pair(1e-6)); 2];
        assert_eq!(faults(Corpus::Tame, moved).len(), 1);
        let mut beyond = checked(&right);
        beyond.told = vec![(Telling::Mass, pair(2e-6)); 2];
        assert_eq!(faults(Corpus::Hostile, beyond).len(), 1);
        let mut missed = checked(&right);
        missed.truth = Some(Compared {
            law: "plastic".to_owned(),
            line: json!({}),
            distance: Some(1e-3),
            digits: Some(15.0),
        });
        assert_eq!(faults(Corpus::Tame, missed).len(), 1);
        let few = json!({"velocity_plus": [1.0], "audit": {"digits": 5.0}});
        assert_eq!(faults(Corpus::Hostile, checked(&few)).len(), 1);
        let marked = json!({"velocity_plus": [1.0], "audit": {"digits": 5.0}, "warnings": ["ill-conditioned"]});
        assert_eq!(faults(Corpus::Hostile, checked(&marked)), [""; 0]);
        let too_few = json!({"velocity_plus": [1.0], "audit": {"digits": 1.0}, "warnings": ["ill-conditioned"]});
        assert_eq!(faults(Corpus::Hostile, checked(&too_few)).len(), 1);
        let panic = json!({"error": {"kind": PANIC}});
        assert!(!faults(Corpus::Hostile, checked(&panic)).is_empty());
    }
}
