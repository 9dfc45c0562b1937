//! Words of a record that the search reads: names, titles, captions, notes and sources.

use super::places::places;
use super::plain;
use crate::Record;
use serde_json::Value;
use std::collections::BTreeSet;

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
        let is_word = |word: &&str| {
            word.len() > 2 && !COMMON.contains(word) && !word.contains(|c: char| c.is_ascii_digit())
        };
        let words = plain.split_whitespace().filter(is_word);
        self.words.extend(words.map(str::to_owned));
    }
}
