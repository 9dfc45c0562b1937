//! Account of a run in words: laws, end, remarks, and balance of the energy.

use crate::Record;
use serde_json::Value;

/// Largest number of remarks in the summary of a run; the page has all.
const MOST: usize = 8;

/// Terms below this fraction of the largest term of an energy balance are not shown.
const SHOWN: f64 = 1e-12;

/// Kinds of ignored inputs that change the motion. All other named kinds change nothing, such as `limit velocity`.
const CHANGES_MOTION: [&str; 4] = ["contact", "limit", "mesh", "mimic"];

/// Account of a run, read from its record: lines that the terminal, the page and programs show alike.
///
/// # Examples
///
/// ```
/// use carom_report::{Account, Record};
/// let mut record = Record::new("world", "A ball falls.");
/// record.parameters = serde_json::json!({"law": {"single": "two-body", "several": "poisson"}});
/// record.results.insert("warnings".to_owned(), serde_json::json!(["`ball` falls for ever"]));
/// let account = Account::of(&record);
/// assert_eq!(account.laws.as_deref(), Some("two-body (one contact), poisson (several)"));
/// assert_eq!(account.warnings, ["`ball` falls for ever"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Account {
    /// Impact laws of the run, with the contacts that they resolve; `None` if the record names no law.
    pub laws: Option<String>,
    /// Status of the run and the reason for it; `None` for a run that did what was requested.
    pub ending: Option<String>,
    /// Warnings, after a sentence for each hand-over to time steps.
    pub warnings: Vec<String>,
    /// Inputs that the run did not use, each with the reason.
    pub ignored: Vec<String>,
    /// Energy at the start, its changes by each term of the balance, and energy at the end (J), in this order; empty if the
    /// record has no balance. Terms that are negligible against the largest one are left out.
    pub energy: Vec<(String, f64)>,
}

impl Account {
    /// Reads the account of a run from its record.
    #[must_use]
    pub fn of(record: &Record) -> Self {
        Self {
            laws: laws(record),
            ending: ending(record),
            warnings: handed_over(record)
                .chain(texts(record, "warnings"))
                .collect(),
            ignored: texts(record, "ignored"),
            energy: energy(record),
        }
    }

    /// Returns the lines of the account for a terminal: laws, end, and remarks. Ignored inputs that change nothing have one line
    /// for each kind; of the other remarks, only the first eight have a line.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let laws = self.laws.iter().map(|laws| format!("laws: {laws}"));
        let mut lines: Vec<String> = laws.chain(self.ending.clone()).collect();
        let (told, changing): (Vec<&String>, Vec<&String>) = self
            .left_out()
            .partition(|text| named(text).is_some_and(|(kind, _)| !CHANGES_MOTION.contains(&kind)));
        let warnings = self.warnings.iter().map(|text| format!("warning: {text}"));
        let ignored = changing.iter().map(|text| format!("ignored: {text}"));
        let remarks: Vec<String> = warnings.chain(ignored).collect();
        let hidden = remarks.len().saturating_sub(MOST);
        lines.extend(remarks.into_iter().take(MOST));
        if hidden > 0 {
            lines.push(format!("and {hidden} more on the page"));
        }
        let told = by_kind(&told);
        lines.extend(told.iter().map(|(kind, entries)| match entries.as_slice() {
            [only] => format!("ignored: {only}"),
            all => format!("ignored: {} x {kind}", all.len()),
        }));
        lines
    }

    /// Iterates over the ignored inputs that no warning tells.
    pub fn left_out(&self) -> impl Iterator<Item = &String> {
        let ignored = self.ignored.iter();
        ignored.filter(|text| !self.warnings.contains(text))
    }

    /// Returns the numbers of ignored inputs of each kind in one line, such as `3 x limit velocity, 1 x mesh`; `None` without
    /// ignored inputs, apart from those that a warning tells.
    #[must_use]
    pub fn left_out_in_brief(&self) -> Option<String> {
        let all: Vec<&String> = self.left_out().collect();
        let count = |(kind, all): &(&str, Vec<&String>)| format!("{} x {kind}", all.len());
        let counts: Vec<String> = by_kind(&all).iter().map(count).collect();
        (!counts.is_empty()).then(|| counts.join(", "))
    }

    /// Returns the warnings, in which several of one kind are one line with their names.
    #[must_use]
    pub fn brief_warnings(&self) -> Vec<String> {
        let all: Vec<&String> = self.warnings.iter().collect();
        let kinds = by_kind(&all).into_iter();
        let lines = kinds.flat_map(|(kind, entries)| {
            let names: Vec<&str> = entries.iter().filter_map(|e| Some(named(e)?.1)).collect();
            if names.len() == entries.len() && names.len() > 1 {
                let n = names.len();
                vec![format!(
                    "{n} x {kind}: `{}`; see \"warnings\" in the record",
                    names.join("`, `")
                )]
            } else {
                entries.into_iter().cloned().collect()
            }
        });
        lines.collect()
    }
}

/// Splits a remark such as "limit velocity `knee`: rates have no limit" into its kind and the name of its object; `None` for
/// another form.
fn named(remark: &str) -> Option<(&str, &str)> {
    let (kind, rest) = remark.split_once(" `")?;
    let (name, _) = rest.split_once("`: ")?;
    let is_plain = !kind.is_empty() && !kind.contains([':', ',', '.']) && !name.contains('`');
    is_plain.then_some((kind, name))
}

/// Groups remarks by their kind, in the order of the first one of each kind. The kind of a remark of another form is its text
/// before the colon.
fn by_kind<'t>(remarks: &[&'t String]) -> Vec<(&'t str, Vec<&'t String>)> {
    let mut kinds: Vec<(&str, Vec<&String>)> = Vec::new();
    for remark in remarks {
        let before = remark.split(':').next().unwrap_or_default();
        let kind = named(remark).map_or(before, |(kind, _)| kind);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, entries)) => entries.push(remark),
            None => kinds.push((kind, vec![remark])),
        }
    }
    kinds
}

/// Returns a sentence for each time at which the run went on in time steps.
fn handed_over(record: &Record) -> impl Iterator<Item = String> {
    let list = record.results.get("handed_over").and_then(Value::as_array);
    list.into_iter().flatten().map(|change| {
        let text = |key: &str| change.get(key).and_then(Value::as_str).unwrap_or_default();
        let time = change.get("time").unwrap_or(&Value::Null);
        let (kind, message) = (text("kind"), text("message"));
        format!("from {time} s on the run is stepped in time (`{kind}`): {message}")
    })
}

/// Returns the texts in a list of the results of a record; empty without the list.
fn texts(record: &Record, key: &str) -> Vec<String> {
    let list = record.results.get(key).and_then(Value::as_array);
    let texts = list.into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

/// Returns the impact laws of a record: those of its results, otherwise those of its parameters. Time stepping has a law of its
/// own.
fn laws(record: &Record) -> Option<String> {
    let own = texts(record, "laws");
    if !own.is_empty() {
        return Some(own.join(", "));
    }
    let (single, several) = match record.parameters.get("law")? {
        Value::String(name) => return Some(name.clone()),
        Value::Object(laws) => {
            let text = |key: &str| laws.get(key).and_then(Value::as_str);
            if let Some(name) = text("name") {
                return Some(name.to_owned());
            }
            (text("single")?, text("several")?)
        }
        _ => return None,
    };
    let steps = record
        .results
        .get("law")
        .and_then(Value::as_str)
        .unwrap_or(several);
    if record.results.get("scheme").and_then(Value::as_str) == Some("time-stepping") {
        return Some(format!("{steps} (steps in time)"));
    }
    let mut text = format!("{single} (one contact), {several} (several)");
    if record.results.contains_key("handed_over") {
        text.push_str(", poisson (steps in time)");
    }
    Some(text)
}

/// Returns the status of a record with the reason in its results, or the message of the error that stopped the run; `None` for a
/// run that is completed without a remark.
fn ending(record: &Record) -> Option<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let ended = record.results.get("ended").and_then(text);
    let error = || record.results.get("error")?.get("message").and_then(text);
    match (ended.or_else(error), record.status.as_str()) {
        (Some(why), status) => Some(format!("`{status}`: {why}")),
        (None, "completed") => None,
        (None, status) => Some(format!("status: {status}")),
    }
}

/// Returns the energies and the terms of the balance in a record; empty without a balance.
fn energy(record: &Record) -> Vec<(String, f64)> {
    let Some(energy) = record.results.get("energy") else {
        return Vec::new();
    };
    let at = |key: &str| energy.get(key).and_then(Value::as_f64);
    let terms = energy.get("balance").and_then(Value::as_array);
    let term = |entry: &Value| {
        let name = entry.get("term")?.as_str()?.to_owned();
        Some((name, entry.get("work_j")?.as_f64()?))
    };
    let (Some(first), Some(last), Some(terms)) = (at("initial_j"), at("final_j"), terms) else {
        return Vec::new();
    };
    let terms: Vec<(String, f64)> = terms.iter().filter_map(term).collect();
    let all = terms.iter().map(|(_, work)| work.abs());
    let largest = all.fold(first.abs().max(last.abs()), f64::max);
    let shown = terms
        .into_iter()
        .filter(|(_, work)| work.abs() > SHOWN * largest);
    let start = ("at the start".to_owned(), first);
    let end = ("at the end".to_owned(), last);
    std::iter::once(start).chain(shown).chain([end]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn with(results: &[(&str, Value)]) -> Record {
        let mut record = Record::new("world", "A robot.");
        for (key, value) in results {
            record.results.insert((*key).to_owned(), value.clone());
        }
        record
    }

    #[test]
    fn remarks_beyond_eight_are_counted_and_what_changes_nothing_is_grouped() {
        let warnings: Vec<String> = (0..10)
            .map(|k| format!("body {k} falls for ever"))
            .collect();
        let record = with(&[
            ("warnings", json!(warnings)),
            (
                "ignored",
                json!([
                    "limit velocity `a`: rates have no limit",
                    "restitution: `propagative` (law.several) takes none from contacts",
                    "limit velocity `b`: rates have no limit",
                    "transmission `t`: not supported",
                ]),
            ),
        ]);
        let account = Account::of(&record);
        let lines = account.lines();
        assert_eq!(lines.len(), 8 + 1 + 2, "{lines:?}");
        assert_eq!(lines[7], "warning: body 7 falls for ever");
        assert_eq!(lines[8], "and 3 more on the page");
        assert_eq!(lines[9], "ignored: 2 x limit velocity");
        assert_eq!(lines[10], "ignored: transmission `t`: not supported");
        assert_eq!(
            account.left_out_in_brief().as_deref(),
            Some("2 x limit velocity, 1 x restitution, 1 x transmission")
        );
    }

    #[test]
    fn a_remark_that_changes_the_motion_has_a_line_of_its_own() {
        let ignored = json!([
            "mesh `a`: gone",
            "mesh `b`: gone",
            "contact `a - b`: they overlap"
        ]);
        let record = with(&[
            ("warnings", json!(["mesh `a`: gone"])),
            ("ignored", ignored),
        ]);
        let expected = [
            "warning: mesh `a`: gone",
            "ignored: mesh `b`: gone",
            "ignored: contact `a - b`: they overlap",
        ];
        assert_eq!(Account::of(&record).lines(), expected);
    }

    #[test]
    fn replaced_parts_of_one_kind_are_one_line() {
        let warnings = json!(["mesh `a`: hull", "at 1 s `a` landed", "mesh `b`: hull"]);
        let account = Account::of(&with(&[("warnings", warnings)]));
        let expected = [
            "2 x mesh: `a`, `b`; see \"warnings\" in the record",
            "at 1 s `a` landed",
        ];
        assert_eq!(account.brief_warnings(), expected);
    }

    #[test]
    fn laws_are_named_with_their_contacts() {
        let mut record = with(&[("law", json!("sequential")), ("scheme", json!("events"))]);
        record.parameters = json!({"law": {"single": "two-body", "several": "sequential"}});
        let laws = |record: &Record| Account::of(record).laws;
        let expected = "two-body (one contact), sequential (several)";
        assert_eq!(laws(&record).as_deref(), Some(expected));
        for (key, value) in [("law", "poisson"), ("scheme", "time-stepping")] {
            record.results.insert(key.to_owned(), json!(value));
        }
        assert_eq!(laws(&record).as_deref(), Some("poisson (steps in time)"));
        record.parameters = json!({"law": {"name": "moreau-newton", "options": {}}});
        assert_eq!(laws(&record).as_deref(), Some("moreau-newton"));
        record.parameters = json!({"law": "elastic"});
        assert_eq!(laws(&record).as_deref(), Some("elastic"));
        record.parameters = json!({});
        assert_eq!(laws(&record), None);
    }

    #[test]
    fn an_early_end_has_its_reason() {
        let mut record = with(&[]);
        assert_eq!(Account::of(&record).ending, None);
        record.status = "grazing-cascade".to_owned();
        let why = "impacts 28 and later graze the wall; the run ended before its 200 impacts";
        record.results.insert("ended".to_owned(), json!(why));
        let ending = Account::of(&record).ending;
        assert_eq!(ending, Some(format!("`grazing-cascade`: {why}")));
    }

    #[test]
    fn negligible_terms_of_the_energy_are_not_shown() {
        let balance = json!([
            {"term": "impacts", "work_j": -3.0},
            {"term": "dampers", "work_j": 0.0},
            {"term": "unexplained", "work_j": 1e-13},
        ]);
        let energy = json!({"initial_j": 4.0, "final_j": 1.0, "balance": balance});
        let account = Account::of(&with(&[("energy", energy)]));
        let expected = [
            ("at the start", 4.0),
            ("impacts", -3.0),
            ("at the end", 1.0),
        ];
        let expected = expected.map(|(term, work)| (term.to_owned(), work));
        assert_eq!(account.energy, expected);
    }
}
