//! Words that the search reads: names, titles, captions, notes and sources of records, and the text of the book.

use super::places::places;
use super::plain;
use crate::Record;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Keys of a record whose texts are searched.
const KEYS: [&str; 9] = [
    "name", "title", "caption", "note", "source", "label", "law", "laws", "status",
];

/// Words that say nothing about a record.
const COMMON: [&str; 24] = [
    "and", "are", "all", "any", "but", "each", "for", "from", "has", "have", "her", "into", "its",
    "not", "one", "other", "over", "than", "that", "the", "their", "then", "they", "with",
];

/// Returns the words of a record that [`search`](super::search()) reads, as the line of the scenario in `records.txt`: its
/// name, the places of the paper that the record names, and its words in alphabetical order.
pub fn record_words(record: &Record) -> String {
    let mut found = Words::default();
    if let Ok(value) = serde_json::to_value(record) {
        found.collect("", &value);
    }
    let words: Vec<String> = found.words.into_iter().collect();
    let places = found.places.join(", ");
    let line = format!("{}: {places} | {}", record.scenario, words.join(" "));
    line.replace(":  |", ": |")
}

/// Largest number of chapters that are named for a word of the book.
const CHAPTERS: usize = 3;

/// Returns the words of the book that [`search`](super::search()) reads if no scenario has them, as `book.txt`: one word a line in
/// alphabetical order, with the chapters that use it most. `chapters` holds the name and the Markdown text of each; code blocks,
/// formulas and addresses are left out.
pub fn book_words(chapters: &[(String, String)]) -> String {
    let mut counts: BTreeMap<String, Vec<(usize, &str)>> = BTreeMap::new();
    for (name, text) in chapters {
        let mut own: BTreeMap<String, usize> = BTreeMap::new();
        for word in plain(&prose(text)).split_whitespace().filter(is_word) {
            *own.entry(word.to_owned()).or_default() += 1;
        }
        for (word, count) in own {
            counts.entry(word).or_default().push((count, name));
        }
    }
    let mut lines = String::new();
    for (word, mut chapters) in counts {
        chapters.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        let names: Vec<&str> = chapters.iter().take(CHAPTERS).map(|(_, n)| *n).collect();
        lines.push_str(&format!("{word} {}\n", names.join(" ")));
    }
    lines
}

/// Removes code blocks, formulas and the addresses of links from a Markdown text.
fn prose(text: &str) -> String {
    let outside = |text: &str, mark: &str| {
        let parts: Vec<&str> = text.split(mark).step_by(2).collect();
        parts.join(" ")
    };
    let text = outside(&outside(&outside(text, "```"), "$$"), "$");
    let mut parts = text.split("](");
    let mut prose = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        prose.push(' ');
        prose.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    prose
}

fn is_word(word: &&str) -> bool {
    word.len() > 2 && !COMMON.contains(word) && !word.contains(|c: char| c.is_ascii_digit())
}

#[derive(Default)]
struct Words {
    places: Vec<String>,
    words: BTreeSet<String>,
}

impl Words {
    /// Collects the texts of a part of a record that stands under `key`.
    fn collect(&mut self, key: &str, value: &Value) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    match key.as_str() {
                        // Keys of the configuration are names as well; numbers of drawings are many and say nothing.
                        "parameters" => self.keys(value),
                        "marks" | "rows" | "scenes" | "citations" => {}
                        key => self.collect(key, value),
                    }
                }
            }
            Value::Array(list) => list.iter().for_each(|value| self.collect(key, value)),
            Value::String(text) if KEYS.contains(&key) => self.text(text),
            _ => {}
        }
    }

    /// Collects the keys and texts of a configuration.
    fn keys(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(key, value)| {
                self.text(key);
                self.keys(value);
            }),
            Value::Array(list) => list.iter().for_each(|value| self.keys(value)),
            Value::String(text) => self.text(text),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        let (places, others) = places(text);
        for place in places {
            let place = place.to_string();
            if !self.places.contains(&place) {
                self.places.push(place);
            }
        }
        let plain = plain(&others.join(" "));
        let words = plain.split_whitespace().filter(is_word);
        self.words.extend(words.map(str::to_owned));
    }
}
