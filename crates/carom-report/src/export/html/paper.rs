//! The paper and the figure behind a run, in words: from the citations of a record and the names of its figures.

use super::escape;
use crate::record::{Figure, Record};

/// Returns the authors of the paper that a record comes from, `A & B` or `A, B & C`; `None` if it cites no single paper.
/// The first citation of a record is that of this library.
fn authors(record: &Record) -> Option<String> {
    let [_, paper] = record.citations.as_slice() else {
        return None;
    };
    let names = field(paper, "author")?;
    let family = |name: &str| name.split(',').next().unwrap_or_default().trim().to_owned();
    let names: Vec<String> = names.split(" and ").map(family).collect();
    let (last, others) = names.split_last()?;
    Some(if others.is_empty() {
        last.clone()
    } else {
        format!("{} & {last}", others.join(", "))
    })
}

/// Returns the value of a field of a BibTeX entry that stands on one line.
fn field<'e>(entry: &'e str, name: &str) -> Option<&'e str> {
    let of = |line: &'e str| {
        line.trim()
            .strip_prefix(name)?
            .trim_start()
            .strip_prefix('=')
    };
    let value = entry.lines().find_map(of)?;
    Some(value.trim().trim_end_matches(',').trim_matches(['{', '}']))
}

/// Returns the paragraph of a page that names the paper; empty without a paper.
pub(super) fn line(record: &Record) -> String {
    let (Some(authors), Some(entry)) = (authors(record), record.citations.get(1)) else {
        return String::new();
    };
    let title = field(entry, "title").unwrap_or_default();
    let year = field(entry, "year").unwrap_or_default();
    format!(
        "<p class=\"status\">After {}, <cite>{}</cite> ({}).</p>\n",
        escape(&authors),
        escape(title),
        escape(year)
    )
}

/// Returns the beginning of a figure's caption, `A & B, Fig. 5: `, if the name of the figure begins with the number of one in
/// the paper, as `fig5_energy`, `figure-5`, `fig4a` or `table1_errors`; else the authors alone if the caption begins with
/// the figure, and otherwise nothing.
pub(super) fn place(record: &Record, figure: &Figure) -> String {
    let Some(authors) = authors(record) else {
        return String::new();
    };
    if figure.caption.starts_with("Fig. ") {
        return format!("{authors}, ");
    }
    let numbered = [("figure-", "Fig."), ("fig", "Fig."), ("table", "Table")]
        .into_iter()
        .find_map(|(start, kind)| Some((figure.name.strip_prefix(start)?, kind)));
    let Some((rest, kind)) = numbered else {
        return String::new();
    };
    let is_digit = |c: char| c.is_ascii_digit();
    let digits: String = rest.chars().take_while(|c| is_digit(*c)).collect();
    if digits.is_empty() {
        return String::new();
    }
    let mut letters = rest.trim_start_matches(is_digit).chars();
    let part = match (letters.next(), letters.next()) {
        (Some(part), None | Some('_' | '-')) if part.is_ascii_lowercase() => format!("({part})"),
        _ => String::new(),
    };
    format!("{authors}, {kind} {digits}{part}: ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Axis;

    #[test]
    fn pages_and_captions_name_paper_and_figure() {
        let mut record = Record::new("break", "a break");
        let figure = |name: &str, caption: &str| {
            let axis = || Axis::linear("x", "");
            Figure::new(name, "title", caption, axis(), axis())
        };
        assert_eq!(
            (line(&record), place(&record, &figure("fig5", "x"))),
            Default::default()
        );
        let paper = "@article{a,\n  title = {On <impact>},\n  author = {Ada, A. and Bo, B. C. and Cy, D},\n  year = {2014},\n}";
        record.citations = vec!["@software{carom}".to_owned(), paper.to_owned()];
        let told = line(&record);
        assert!(
            told.contains("After Ada, Bo &amp; Cy, <cite>On &lt;impact&gt;</cite> (2014)."),
            "{told}"
        );
        for (name, caption, expected) in [
            ("fig5_energy", "x", "Ada, Bo & Cy, Fig. 5: "),
            ("figure-2-close-up", "x", "Ada, Bo & Cy, Fig. 2: "),
            ("fig4a", "x", "Ada, Bo & Cy, Fig. 4(a): "),
            ("fig4a_hodograph", "x", "Ada, Bo & Cy, Fig. 4(a): "),
            ("table1_pin", "x", "Ada, Bo & Cy, Table 1: "),
            ("energy", "Fig. 6, long run", "Ada, Bo & Cy, "),
            ("energy", "x", ""),
            ("figures", "x", ""),
        ] {
            assert_eq!(place(&record, &figure(name, caption)), expected, "{name}");
        }
    }
}
