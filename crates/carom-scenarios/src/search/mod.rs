//! Search for scenarios by question, by words of the papers and by numbers of figures.

mod places;
mod record;

use crate::{SCENARIOS, Scenario, citations};
use carom_impact::{LAWS, LawInfo};
use places::{Place, places};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

pub use record::{book_words, record_words};

/// Scenarios by question, with titles.
const CARDS: &str = include_str!("cards.toml");

/// Words, places in papers and chapters of the book.
const WORDS: &str = include_str!("words.toml");

/// Words of the records of all scenarios, one scenario a line: its name, places, and words. `cargo xtask verify --bless`
/// writes it.
const RECORDS: &str = include_str!("records.txt");

/// Words of the book, one a line, each with chapters that have it. `cargo xtask book --bless` writes it.
const BOOK: &str = include_str!("book.txt");

/// Length (bytes) above which a word that ends in `s` is looked for without it, too, as a plural.
const PLURAL: usize = 4;

/// Group of scenarios that answer one question.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Group {
    /// Question that the scenarios answer.
    pub question: String,
    /// Scenarios of the group in their order.
    pub cards: Vec<Card>,
}

/// Title and marks of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Card {
    /// Name of the scenario.
    pub name: String,
    /// Title in words.
    pub title: String,
    /// Marks of the scenario's contents, such as `friction` or `in space`.
    pub chips: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cards {
    groups: Vec<Group>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Glossary {
    chapters: BTreeMap<String, String>,
    places: BTreeMap<String, String>,
    words: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    words: Vec<String>,
    #[serde(default)]
    scenarios: Vec<String>,
    #[serde(default)]
    laws: Vec<String>,
    chapter: String,
}

/// Result of a [`search`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Found {
    /// Scenarios, the best first.
    pub scenarios: Vec<&'static Scenario>,
    /// Names of the impact laws that the words are about, if no scenario has the words.
    pub laws: Vec<&'static str>,
    /// Chapters of the book that have the words, if no scenario has them: name of the file without ending, and title.
    pub chapters: Vec<(&'static str, &'static str)>,
}

// The files are valid: tests read them.
static GROUPS: LazyLock<Vec<Group>> = LazyLock::new(|| {
    toml::from_str::<Cards>(CARDS).map_or_else(|_| Vec::new(), |cards| cards.groups)
});

static GLOSSARY: LazyLock<Glossary> = LazyLock::new(|| toml::from_str(WORDS).unwrap_or_default());

/// Returns all scenarios by the question that they answer. Each scenario stands in one group.
pub fn groups() -> &'static [Group] {
    &GROUPS
}

impl Scenario {
    /// Returns the question that the scenario answers, and its title in words.
    pub fn question_and_title(&self) -> Option<(&'static str, &'static str)> {
        let card = |group: &'static Group| {
            let card = group.cards.iter().find(|card| card.name == self.name)?;
            Some((group.question.as_str(), card.title.as_str()))
        };
        groups().iter().find_map(card)
    }

    /// Returns the figures of the paper that the scenario reproduces or shows the model of, as in `Fig. 5`, one by one.
    pub fn figures(&self) -> Vec<String> {
        let all = [self.reproduces, more_places(self.name)];
        let places = all.into_iter().flat_map(|text| places(text).0);
        let mut figures: Vec<String> = Vec::new();
        for place in places.filter(|place| place.kind == "Fig.") {
            let figure = place.to_string();
            if !figures.contains(&figure) {
                figures.push(figure);
            }
        }
        figures
    }
}

fn more_places(scenario: &str) -> &'static str {
    GLOSSARY.places.get(scenario).map_or("", String::as_str)
}

/// Text of a scenario with its weight in the order of the results.
struct Field {
    weight: u32,
    /// Words in lower case without accents, between single spaces.
    words: String,
    places: Vec<Place>,
}

impl Field {
    fn new(weight: u32, text: &str) -> Self {
        Self {
            weight,
            words: plain(text),
            places: places(text).0,
        }
    }

    /// A text of one word in lower case, without places.
    fn word(word: &str) -> Self {
        Self {
            weight: 1,
            words: format!(" {word} "),
            places: Vec::new(),
        }
    }
}

/// Word or place that is looked for.
enum Wanted {
    Word(String),
    Place(Place),
}

impl Wanted {
    fn is_in(&self, field: &Field) -> bool {
        match self {
            Self::Word(word) => {
                let singular = word.strip_suffix('s').filter(|one| one.len() > PLURAL);
                field.words.contains(word) || singular.is_some_and(|one| field.words.contains(one))
            }
            Self::Place(place) => field.places.iter().any(|other| place.is_at(other)),
        }
    }
}

/// Finds the scenarios that have all of some words, each at the start of a word, and all places such as `Fig. 5`. Case and
/// accents make no difference. If no scenario has them, the result holds the laws and chapters of the book that have.
///
/// # Examples
///
/// ```
/// let words = ["Seghete", "Figure", "5"].map(str::to_owned);
/// let found = carom_scenarios::search(&words);
/// assert_eq!(found.scenarios[0].name, "billiard-break");
/// ```
pub fn search(words: &[String]) -> Found {
    let text = words.join(" ");
    let (places, others) = places(&text);
    let mut wanted: Vec<Wanted> = places.into_iter().map(Wanted::Place).collect();
    for word in others {
        // The name of a quantity, such as `energy_change_j`, is several words; units and numbers are no words.
        let parts = word
            .split('_')
            .filter(|part| *part == word || part.len() > 2);
        for word in parts.map(plain) {
            if !word.trim().is_empty() {
                wanted.push(Wanted::Word(word.trim_end().to_owned()));
            }
        }
    }
    let found = INDEX.iter();
    let found = found.filter_map(|(scenario, fields)| Some((weight(fields, &wanted)?, *scenario)));
    let mut found: Vec<(u32, &'static Scenario)> = found.collect();
    // A stable sort: equal ones stay in the order of the questions.
    found.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    let scenarios: Vec<&Scenario> = found.into_iter().map(|(_, scenario)| scenario).collect();
    if !scenarios.is_empty() {
        return Found {
            scenarios,
            ..Found::default()
        };
    }
    beyond_scenarios(&wanted)
}

/// All scenarios in the order of the questions, with the texts that are searched.
static INDEX: LazyLock<Vec<(&'static Scenario, Vec<Field>)>> = LazyLock::new(|| {
    let cards = groups().iter().flat_map(|group| &group.cards);
    let scenarios = cards.filter_map(|card| SCENARIOS.iter().find(|s| s.name == card.name));
    scenarios.map(|s| (s, fields(s))).collect()
});

/// Returns the sum of the largest weights with which each wanted word or place is in a field; `None` if one is in no field.
fn weight(fields: &[Field], wanted: &[Wanted]) -> Option<u32> {
    let weights = wanted.iter().map(|wanted| {
        let found = fields.iter().filter(|field| wanted.is_in(field));
        found.map(|field| field.weight).max()
    });
    weights.sum()
}

/// Returns the texts of a scenario that are searched.
fn fields(scenario: &Scenario) -> Vec<Field> {
    let name = scenario.name;
    let (_, title) = scenario.question_and_title().unwrap_or_default();
    let entries = || {
        let of_scenario = |entry: &&Entry| entry.scenarios.iter().any(|other| other == name);
        GLOSSARY.words.iter().filter(of_scenario)
    };
    let words: Vec<String> = entries().map(|entry| entry.words.join(" | ")).collect();
    let laws: Vec<String> = entries().map(|entry| entry.laws.join(" ")).collect();
    // The first source is this library.
    let sources: Vec<String> = citations(scenario.paper).into_iter().skip(1).collect();
    let record = RECORDS.lines().find_map(|line| {
        let (of, record) = line.split_once(": ")?;
        (of == name).then_some(record)
    });
    vec![
        Field::new(64, name),
        Field::new(48, scenario.reproduces),
        Field::new(32, title),
        Field::new(24, scenario.summary),
        Field::new(20, more_places(name)),
        Field::new(16, &words.join(" | ")),
        Field::new(12, scenario.paper),
        Field::new(8, &laws.join(" ")),
        Field::new(4, record.unwrap_or_default()),
        Field::new(1, &sources.join(" ")),
    ]
}

/// Returns the laws and chapters that have the words which no scenario has.
fn beyond_scenarios(wanted: &[Wanted]) -> Found {
    let has = |text: &str| weight(&[Field::new(1, text)], wanted).is_some();
    let text = |entry: &Entry| format!("{} | {}", entry.words.join(" | "), entry.laws.join(" "));
    let entries = GLOSSARY.words.iter().filter(|entry| has(&text(entry)));
    let entries: Vec<&Entry> = entries.collect();
    let is_law = |law: &&LawInfo| {
        let own = |entry: &&Entry| entry.laws.iter().any(|own| own == law.name);
        let text = || format!("{} {} {}", law.name, law.summary, law.reference);
        entries.iter().any(own) || has(&text())
    };
    let is_chapter = |(slug, title): &(&String, &String)| {
        entries.iter().any(|entry| entry.chapter == **slug) || has(title)
    };
    let named = |(slug, title): (&'static String, &'static String)| (slug.as_str(), title.as_str());
    let chapters = GLOSSARY.chapters.iter().filter(is_chapter).map(named);
    let mut found = Found {
        scenarios: Vec::new(),
        laws: LAWS.iter().filter(is_law).map(|law| law.name).collect(),
        chapters: chapters.collect(),
    };
    if found.laws.is_empty() && found.chapters.is_empty() {
        let texts: Vec<BTreeSet<&str>> = wanted.iter().map(chapters_with).collect();
        let is_in_all = |(slug, _): &(&String, &String)| {
            !texts.is_empty() && texts.iter().all(|text| text.contains(slug.as_str()))
        };
        let chapters = GLOSSARY.chapters.iter().filter(is_in_all).map(named);
        found.chapters = chapters.collect();
    }
    found
}

/// Returns the chapters of the book whose text has a word.
fn chapters_with(wanted: &Wanted) -> BTreeSet<&'static str> {
    let lines = BOOK.lines().filter_map(|line| line.split_once(' '));
    let found = lines.filter(|(word, _)| wanted.is_in(&Field::word(word)));
    found
        .flat_map(|(_, chapters)| chapters.split(' '))
        .collect()
}

/// Returns a text in lower case without accents and punctuation, its words between single spaces.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len() + 2);
    plain.push(' ');
    for c in text.chars().flat_map(char::to_lowercase) {
        let c = without_accent(c);
        if c.is_alphanumeric() {
            plain.push(c);
        } else if c != '\'' && c != '\u{2019}' && c != '\u{301}' && !plain.ends_with(' ') {
            plain.push(' ');
        }
    }
    if !plain.ends_with(' ') {
        plain.push(' ');
    }
    plain
}

/// Returns the letter without its accent for the accented letters of names in the literature.
fn without_accent(c: char) -> char {
    match c {
        'à'..='å' | 'ā' | 'ă' | 'ą' => 'a',
        'ç' | 'ć' | 'č' => 'c',
        'ď' => 'd',
        'è'..='ë' | 'ē' | 'ę' | 'ě' => 'e',
        'ì'..='ï' | 'ī' => 'i',
        'ł' => 'l',
        'ñ' | 'ń' | 'ň' => 'n',
        'ò'..='ö' | 'ø' | 'ō' | 'ő' => 'o',
        'ř' => 'r',
        'ś' | 'š' | 'ş' => 's',
        'ť' => 't',
        'ù'..='ü' | 'ū' | 'ů' | 'ű' => 'u',
        'ý' | 'ÿ' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        other => other,
    }
}

#[cfg(test)]
mod tests;
