//! Places of a paper in a text, such as "Figs. 4 and 5, Eq. (31)": kinds, numbers and ranges.

use std::fmt;

/// Longest range of numbers that is expanded.
const LONGEST_RANGE: u32 = 100;

/// Kinds of places: the name in the list of places, the abbreviation that is written, and the words that begin a place.
const KINDS: [(&str, &[&str]); 14] = [
    ("Fig.", &["fig", "figs", "figure", "figures"]),
    ("Table", &["table", "tables", "tab", "tabs"]),
    ("Theorem", &["theorem", "theorems", "thm", "thms"]),
    ("Algorithm", &["algorithm", "algorithms", "alg", "algs"]),
    ("Eq.", &["eq", "eqs", "equation", "equations"]),
    ("Example", &["example", "examples"]),
    ("Lemma", &["lemma", "lemmas"]),
    ("Definition", &["definition", "definitions", "def"]),
    ("Proposition", &["proposition", "propositions", "prop"]),
    ("Corollary", &["corollary", "corollaries"]),
    ("Assumption", &["assumption", "assumptions"]),
    ("Remark", &["remark", "remarks"]),
    ("Sec.", &["sec", "secs", "section", "sections"]),
    ("footnote", &["footnote", "footnotes"]),
];

/// Place in a paper: a figure, table, theorem, equation, ....
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Abbreviation of the kind, such as `Fig.`.
    pub(crate) kind: &'static str,
    /// Number, such as `5` or `5.1`; Roman numerals are written in Arabic digits.
    number: String,
    /// Letter of a part of a figure.
    part: Option<char>,
}

impl Place {
    /// True if this place is looked for and `other` is there: the same number, and the same part if both name one.
    pub(crate) fn is_at(&self, other: &Self) -> bool {
        let is_part = self.part.is_none() || other.part.is_none() || self.part == other.part;
        self.kind == other.kind && self.number == other.number && is_part
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = self
            .part
            .map_or_else(String::new, |part| format!("({part})"));
        match self.kind {
            "Eq." => write!(f, "Eq. ({}{part})", self.number),
            kind => write!(f, "{kind} {}{part}", self.number),
        }
    }
}

/// Splits a text into the places that it names, with ranges expanded, and its other words.
pub(crate) fn places(text: &str) -> (Vec<Place>, Vec<&str>) {
    let mut places = Vec::new();
    let mut others = Vec::new();
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let used = kind_of(word).map_or(0, |(kind, rest)| {
            list(
                kind,
                rest,
                words.get(at + 1..).unwrap_or_default(),
                &mut places,
            )
        });
        if used == 0 {
            others.push(*word);
        }
        at += used.max(1);
    }
    (places, others)
}

/// Returns the kind of place that begins with a word, and what follows in the same word, as in `Fig.5` or `Eq.(16)`.
fn kind_of(word: &str) -> Option<(&'static str, &str)> {
    let word = word.trim_start_matches(['(', '"']);
    let length = word
        .find(|c: char| !c.is_alphabetic())
        .unwrap_or(word.len());
    let (name, rest) = word.split_at(length);
    let name = name.to_lowercase();
    let (kind, _) = KINDS
        .iter()
        .find(|(_, names)| names.contains(&name.as_str()))?;
    Some((kind, rest.trim_start_matches('.')))
}

/// Reads the numbers after a word that names a kind of place: `first`, the rest of this word, and `words`, those that follow.
/// Returns the number of words that belong to the places, the first one included; 0 without a number.
fn list(kind: &'static str, first: &str, words: &[&str], places: &mut Vec<Place>) -> usize {
    let mut used = 0;
    let mut goes_on = true;
    let mut is_range = false;
    let own = (!first.is_empty()).then_some(first);
    let offset = usize::from(own.is_none());
    for (k, word) in own.iter().chain(words).enumerate() {
        let is_joint = matches!(
            *word,
            "and" | "&" | "or" | "to" | "through" | "-" | "\u{2013}"
        );
        if is_joint && used > 0 {
            goes_on = true;
            is_range = matches!(*word, "to" | "through" | "-" | "\u{2013}");
            continue;
        }
        if !goes_on {
            break;
        }
        let Some(mut found) = numbers(kind, word) else {
            break;
        };
        if is_range && let Some(first) = places.pop() {
            places.extend(range(kind, &first, &found.remove(0)));
        }
        places.extend(found);
        is_range = false;
        goes_on = word.ends_with(',');
        used = k + 1 + offset;
    }
    used
}

/// Reads a number, or a range of numbers, from a word such as `5,`, `(16)`, `4(a)`, `4a`, `5.1` or `(7)-(9)`.
fn numbers(kind: &'static str, word: &str) -> Option<Vec<Place>> {
    let word = word.trim_end_matches([',', ';', ':', '.', '\'', '"']);
    if let Some(place) = number(kind, word) {
        return Some(vec![place]);
    }
    let (first, last) = word.split_once(['-', '\u{2013}'])?;
    let first = number(kind, first)?;
    match number(kind, last) {
        Some(last) => Some(range(kind, &first, &last)),
        // `VII-A` is a part of a section.
        None => Some(vec![first]),
    }
}

fn range(kind: &'static str, first: &Place, last: &Place) -> Vec<Place> {
    let place = |number: &str, part| Place {
        kind,
        number: number.to_owned(),
        part,
    };
    if let (Some(a), Some(b)) = (first.part, last.part)
        && first.number == last.number
    {
        return (a..=b)
            .map(|part| place(&first.number, Some(part)))
            .collect();
    }
    match (first.number.parse::<u32>(), last.number.parse::<u32>()) {
        (Ok(a), Ok(b)) if a < b && b - a <= LONGEST_RANGE => {
            let middle = (a + 1..b).map(|number| place(&number.to_string(), None));
            let ends = (first.clone(), last.clone());
            std::iter::once(ends.0)
                .chain(middle)
                .chain([ends.1])
                .collect()
        }
        _ => vec![first.clone(), last.clone()],
    }
}

fn number(kind: &'static str, word: &str) -> Option<Place> {
    let inner = word.strip_prefix('(').and_then(|w| w.strip_suffix(')'));
    let word = inner.unwrap_or(word);
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let length = word.find(|c| !is_digit(c)).unwrap_or(word.len());
    let (digits, rest) = word.split_at(length);
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return Some(Place {
            kind,
            number: roman(word)?.to_string(),
            part: None,
        });
    }
    let inner = rest.strip_prefix('(').and_then(|w| w.strip_suffix(')'));
    let mut letters = inner.unwrap_or(rest).chars();
    let part = letters.next();
    if letters.next().is_some() || part.is_some_and(|c| !c.is_ascii_lowercase()) {
        return None;
    }
    Some(Place {
        kind,
        number: digits.trim_end_matches('.').to_owned(),
        part,
    })
}

/// Returns the value of a Roman numeral up to XXXIX.
fn roman(word: &str) -> Option<u32> {
    let value = |c| match c {
        'I' => Some(1),
        'V' => Some(5),
        'X' => Some(10),
        _ => None,
    };
    let values: Option<Vec<u32>> = word.chars().map(value).collect();
    let values = values.filter(|values| !values.is_empty())?;
    let mut sum = 0u32;
    let mut last = 0;
    for value in values.into_iter().rev() {
        sum = if value < last {
            sum.saturating_sub(value)
        } else {
            sum + value
        };
        last = value;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        places(text).0.iter().map(Place::to_string).collect()
    }

    #[test]
    fn ranges_and_lists_are_expanded() {
        for (text, expected) in [
            ("Figs. 4 and 5, Eq. (31)", "Fig. 4; Fig. 5; Eq. (31)"),
            (
                "Figs. 3, 4(a), 5, Eqs. (13), (15), (23)",
                "Fig. 3; Fig. 4(a); Fig. 5; Eq. (13); Eq. (15); Eq. (23)",
            ),
            (
                "Table 3, case I; Figs. 4a, 5a, 6a",
                "Table 3; Fig. 4(a); Fig. 5(a); Fig. 6(a)",
            ),
            (
                "Figs. 1-4, one law at a time",
                "Fig. 1; Fig. 2; Fig. 3; Fig. 4",
            ),
            (
                "Figures 12 to 15 and 17",
                "Fig. 12; Fig. 13; Fig. 14; Fig. 15; Fig. 17",
            ),
            ("equations (7)-(9)", "Eq. (7); Eq. (8); Eq. (9)"),
            ("Algorithms 5.1 and 5.2", "Algorithm 5.1; Algorithm 5.2"),
            ("Table I, Fig. 7", "Table 1; Fig. 7"),
            ("Fig. 4(a)-(c)", "Fig. 4(a)"),
            (
                "Fig. 4(d) closing more slowly; footnote 4",
                "Fig. 4(d); footnote 4",
            ),
            ("Sec. VII, open questions", "Sec. 7"),
            ("figure5, Eq.(16)", "Fig. 5; Eq. (16)"),
            ("figures of the table", ""),
        ] {
            assert_eq!(told(text).join("; "), expected, "{text}");
        }
    }

    #[test]
    fn a_figure_is_found_by_its_whole_number() {
        let found =
            |asked: &str, text: &str| places(text).0.iter().any(|p| places(asked).0[0].is_at(p));
        assert!(found("Figure 5", "Figs. 4-6"));
        assert!(
            !found("Fig. 5", "Fig. 50")
                && !found("Fig. 5", "Table 5")
                && !found("Fig. 5", "Fig. 5.1")
        );
        assert!(
            found("Fig. 4", "Fig. 4(a)")
                && found("Fig. 4b", "Fig. 4")
                && !found("Fig. 4b", "Fig. 4(a)")
        );
    }

    #[test]
    fn other_words_are_kept() {
        assert_eq!(places("Seghete Fig. 5 cradle").1, ["Seghete", "cradle"]);
        assert_eq!(places("figure of eight").1, ["figure", "of", "eight"]);
    }
}
