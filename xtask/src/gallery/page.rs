//! The gallery as HTML, and the files beside it.

use std::fmt::Write as _;

use anyhow::Context as _;
use carom_report::export::{self, html, svg};
use carom_report::record::Figure;
use carom_scenarios::{Record, SCENARIOS, Scenario};
use html::{escape, minus};

use super::catalog::{Catalog, Compared, Found, Item, Paper, Place, Standing};
use super::members;

/// Folder of the figures.
pub(super) const FIGURES: &str = "figures";

const STYLE: &str = include_str!("style.css");

/// Shows the scenarios and items that hold what is typed; without scripts all are shown.
const FILTER: &str = include_str!("filter.js");

/// What an item is, where it is found, and the name of its place on the page.
struct Entry<'a> {
    item: &'a Item,
    found: Found,
    anchor: String,
}

/// Names and texts of all files.
pub(super) fn files(
    catalog: &Catalog,
    records: &[Record],
) -> anyhow::Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    let mut body = String::new();
    let mut contents = String::new();
    let (mut shown, mut with_data) = (0, 0);
    let mut papers: Vec<(String, String, Vec<Entry<'_>>)> = Vec::new();
    for (index, paper) in catalog.papers.iter().enumerate() {
        let entries = entries(paper, index, records);
        shown += count(&entries, |s| {
            !matches!(s, Standing::NoData | Standing::NotYet)
        });
        with_data += count(&entries, |s| s != Standing::NoData);
        papers.push((paper.authors.clone(), paper.title.clone(), entries));
    }
    for (index, (authors, title, entries)) in papers.iter().enumerate() {
        let anchor = format!("paper-{}", index + 1);
        write_paper(&mut body, &anchor, authors, title, entries);
        let of_paper = |s: &&Scenario| s.paper == authors;
        let cards = SCENARIOS.iter().filter(of_paper);
        scenarios(&mut body, cards, records, entries, &mut files)?;
        contents_of(&mut contents, &anchor, authors, title, records, |s| {
            s.paper == authors
        });
    }
    let other = |s: &Scenario| catalog.papers.iter().all(|p| p.authors != s.paper);
    if SCENARIOS.iter().any(other) {
        let (anchor, title) = ("beyond", "Beyond the five papers");
        let _ = writeln!(body, "<h2 id=\"{anchor}\">{title}</h2>");
        let cards = SCENARIOS.iter().filter(|s| other(s));
        scenarios(&mut body, cards, records, &[], &mut files)?;
        contents_of(&mut contents, anchor, title, "", records, other);
    }
    let head = format!(
        "<h1>carom: what happens when rigid bodies hit</h1>\n\
         <p>Every figure and table of five papers that carries data, and more, as runs of this \
         program: parameters, what the paper states, our numbers, how far they are apart, and the \
         command that makes them (in the repository, <code>carom</code> is <code>cargo run --release \
         --</code>). {shown} of {with_data} are there. Everything is in this folder; nothing is \
         fetched.</p>\n\
         <p id=\"filter\" hidden><label>Show only what mentions <input type=\"search\"></label> \
         <span></span></p>\n\
         <nav aria-label=\"Contents\">\n<ul>\n{contents}</ul>\n</nav>\n"
    );
    let script = format!("<script>\n{FILTER}</script>\n");
    let plays = records.iter().any(|record| !record.animations.is_empty());
    let page = html::page(
        "carom gallery",
        STYLE,
        &format!("{head}{body}{script}"),
        plays,
    );
    files.push(("index.html".to_owned(), page));
    Ok(files)
}

fn entries<'a>(paper: &'a Paper, index: usize, records: &[Record]) -> Vec<Entry<'a>> {
    let members = members(&paper.authors);
    let entry = |(k, item): (usize, &'a Item)| Entry {
        item,
        found: item.find(records, &members),
        anchor: format!("paper-{}-{}", index + 1, k + 1),
    };
    paper.items.iter().enumerate().map(entry).collect()
}

fn count(entries: &[Entry<'_>], of: impl Fn(Standing) -> bool) -> usize {
    let standings = entries.iter().map(|e| e.item.standing(&e.found));
    standings.filter(|s| of(*s)).count()
}

fn contents_of(
    out: &mut String,
    anchor: &str,
    authors: &str,
    title: &str,
    records: &[Record],
    of: impl Fn(&Scenario) -> bool,
) {
    let links: Vec<String> = SCENARIOS
        .iter()
        .filter(|s| of(s) && records.iter().any(|r| r.scenario == s.name))
        .map(|s| format!("<a href=\"#{0}\">{0}</a>", escape(s.name)))
        .collect();
    let separator = if title.is_empty() { "" } else { ": " };
    let _ = writeln!(
        out,
        "<li><a href=\"#{anchor}\">{}</a>{separator}<i>{}</i><br><small>{}</small></li>",
        escape(authors),
        escape(title),
        links.join(" · ")
    );
}

/// The heading of a paper and the table of its figures.
fn write_paper(out: &mut String, anchor: &str, authors: &str, title: &str, entries: &[Entry<'_>]) {
    let _ = writeln!(
        out,
        "<h2 id=\"{anchor}\">{}</h2>\n<p><i>{}</i></p>\n<div class=\"scroll\"><table class=\"items\">\n\
         <thead><tr><th>In the paper</th><th>It states</th><th>Here</th></tr></thead>\n<tbody>",
        escape(authors),
        escape(title)
    );
    for entry in entries {
        let item = entry.item;
        let mut places: Vec<Place> = Vec::new();
        let found = &entry.found;
        for place in found
            .animations
            .iter()
            .chain(&found.figures)
            .chain(&found.tables)
        {
            places.push(place.clone());
        }
        places.dedup();
        let mut links: Vec<String> = places.iter().map(link).collect();
        if links.is_empty() {
            links = numbers_at(found);
        }
        let _ = writeln!(
            out,
            "<tr class=\"item\" id=\"{}\"><td>{}</td><td>{}</td><td>{}{}{}</td></tr>",
            entry.anchor,
            escape(&item.label),
            escape(&item.states),
            standing(entry),
            if links.is_empty() { "" } else { "<br>" },
            links.join("<br>")
        );
    }
    out.push_str("</tbody>\n</table></div>\n");
}

/// Links to the scenarios whose numbers an item compares.
fn numbers_at(found: &Found) -> Vec<String> {
    let mut names: Vec<&str> = found
        .numbers
        .iter()
        .map(|n| n.place.scenario.as_str())
        .collect();
    names.dedup();
    let link = |name: &&str| format!("<a href=\"#{0}\">{0}</a>", escape(name));
    names.iter().map(link).collect()
}

fn link(place: &Place) -> String {
    format!("<a href=\"#{}\">{}</a>", id(place), escape(&place.name))
}

/// Name of a place on the page.
fn id(place: &Place) -> String {
    escape(&format!("{}--{}", place.scenario, place.name))
}

fn standing(entry: &Entry<'_>) -> String {
    let item = entry.item;
    let (class, text) = match item.standing(&entry.found) {
        Standing::NoData => (
            "none",
            format!("no data: {}", item.no_data.as_deref().unwrap_or_default()),
        ),
        Standing::Reproduced if entry.found.numbers.is_empty() => ("good", "shown".to_owned()),
        Standing::Reproduced => ("good", "shown, the numbers agree".to_owned()),
        Standing::Differs => ("differs", "a number differs, with a reason".to_owned()),
        Standing::NotYet => (
            "open",
            format!("not yet ({})", entry.found.missing.join(", ")),
        ),
    };
    format!("<span class=\"{class}\">{}</span>", escape(&text))
}

/// The cards of scenarios.
fn scenarios<'s>(
    out: &mut String,
    scenarios: impl Iterator<Item = &'s Scenario>,
    records: &[Record],
    entries: &[Entry<'_>],
    files: &mut Vec<(String, String)>,
) -> anyhow::Result<()> {
    for scenario in scenarios {
        if let Some(record) = records.iter().find(|r| r.scenario == scenario.name) {
            card(out, scenario, record, entries, files).with_context(|| scenario.name)?;
        }
    }
    Ok(())
}

fn card(
    out: &mut String,
    scenario: &Scenario,
    record: &Record,
    entries: &[Entry<'_>],
    files: &mut Vec<(String, String)>,
) -> anyhow::Result<()> {
    let name = escape(scenario.name);
    let _ = writeln!(
        out,
        "<article id=\"{name}\">\n<h3>{name}</h3>\n<p>{}. <span class=\"status\">{}.</span></p>\n\
         <pre>carom run {name} --out out</pre>",
        escape(scenario.summary),
        escape(scenario.reproduces)
    );
    out.push_str(&html::parameters(record)?);
    let about = numbers_of(scenario.name, entries);
    if !about.is_empty() {
        let _ = writeln!(
            out,
            "<div class=\"scroll\"><table>\n<thead><tr><th>In the paper</th><th>Quantity</th>\
             <th class=\"n\">Paper</th><th class=\"n\">Here</th><th class=\"n\">Error</th>\
             <th></th></tr></thead>\n<tbody>\n{about}</tbody>\n</table></div>\n{}",
            reasons(scenario.name, entries)
        );
    }
    for animation in &record.animations {
        let place = place(scenario.name, &animation.name);
        let of = entries
            .iter()
            .filter(|e| e.found.animations.contains(&place));
        let player = html::animation(animation)?;
        let _ = writeln!(
            out,
            "<div id=\"{}\">\n{player}{}</div>",
            id(&place),
            badges(of)
        );
    }
    for figure in &record.figures {
        let place = place(scenario.name, &figure.name);
        let of = entries.iter().filter(|e| e.found.figures.contains(&place));
        write_figure(out, &place, figure, &badges(of), files)?;
    }
    for table in &record.tables {
        let place = place(scenario.name, &table.name);
        let of: Vec<_> = entries
            .iter()
            .filter(|e| e.found.tables.contains(&place))
            .collect();
        if !of.is_empty() {
            let _ = write!(
                out,
                "<div id=\"{}\">\n{}",
                id(&place),
                badges(of.into_iter())
            );
            out.push_str(&html::table(table));
            out.push_str("</div>\n");
        }
    }
    let quantities = html::quantities(&record.quantities);
    if !quantities.is_empty() {
        let n = record.quantities.len();
        let _ = writeln!(
            out,
            "<details>\n<summary>All {n} quantities</summary>\n{quantities}</details>"
        );
    }
    out.push_str("</article>\n");
    Ok(())
}

fn place(scenario: &str, name: &str) -> Place {
    Place {
        scenario: scenario.to_owned(),
        name: name.to_owned(),
    }
}

/// What the paper states of a figure.
fn badges<'e>(entries: impl Iterator<Item = &'e Entry<'e>>) -> String {
    let lines = entries.map(|entry| {
        let item = entry.item;
        format!(
            "<p class=\"states\"><a href=\"#{}\">{}</a>, the paper: {}</p>\n",
            entry.anchor,
            escape(&item.label),
            escape(&item.states)
        )
    });
    lines.collect()
}

/// Rows of the printed numbers that a scenario reproduces.
fn numbers_of(scenario: &str, entries: &[Entry<'_>]) -> String {
    let mut rows = String::new();
    for entry in entries {
        let numbers = entry.found.numbers.iter();
        for number in numbers.filter(|n| n.place.scenario == scenario) {
            rows.push_str(&number_row(entry, number));
        }
    }
    rows
}

/// Why numbers of a scenario differ, once for each item.
fn reasons(scenario: &str, entries: &[Entry<'_>]) -> String {
    let here = |n: &Compared| n.place.scenario == scenario && !n.agrees();
    let differing = entries.iter().filter(|e| e.found.numbers.iter().any(here));
    let lines = differing.filter_map(|entry| {
        let (label, reason) = (&entry.item.label, entry.item.differs.as_deref()?);
        Some(format!(
            "<p class=\"states\"><a href=\"#{}\">{}</a> <span class=\"differs\">differs:</span> {}.</p>\n",
            entry.anchor,
            escape(label),
            escape(reason)
        ))
    });
    lines.collect()
}

fn number_row(entry: &Entry<'_>, number: &Compared) -> String {
    let (class, verdict) = if number.agrees() {
        ("good", "agrees")
    } else {
        ("differs", "differs")
    };
    let unit = if number.unit.is_empty() {
        String::new()
    } else {
        format!(" {}", escape(&number.unit))
    };
    let error = minus(&export::difference(number.ours, number.printed));
    let (bound, error) = if number.at_least {
        ("at least ", String::new())
    } else {
        ("", error)
    };
    format!(
        "<tr><td><a href=\"#{}\">{}</a></td><td><code>{}</code></td><td class=\"n\">{bound}{}{unit}</td>\
         <td class=\"n\">{}{unit}</td><td class=\"n\">{}</td><td class=\"{class}\">{verdict}</td></tr>\n",
        entry.anchor,
        escape(&entry.item.label),
        escape(&number.place.name),
        minus(&export::shown(number.printed)),
        minus(&export::shown(number.ours)),
        error
    )
}

fn write_figure(
    out: &mut String,
    place: &Place,
    figure: &Figure,
    badges: &str,
    files: &mut Vec<(String, String)>,
) -> anyhow::Result<()> {
    let text = svg::svg(figure)?;
    let file = export::file_name(&format!("{}--{}", place.scenario, place.name), "svg")?;
    let title = if figure.title.is_empty() {
        &figure.name
    } else {
        &figure.title
    };
    let [width, height] = ["width", "height"].map(|name| attribute(&text, name));
    let _ = writeln!(
        out,
        "<figure id=\"{}\">\n<div class=\"wide\"><img src=\"{FIGURES}/{file}\" alt=\"{}\" \
         width=\"{width}\" height=\"{height}\" loading=\"lazy\" decoding=\"async\"></div>\n\
         <figcaption>{} <a href=\"{FIGURES}/{file}\">SVG</a>{badges}</figcaption>\n</figure>",
        id(place),
        escape(title),
        escape(&figure.caption)
    );
    files.push((format!("{FIGURES}/{file}"), text));
    Ok(())
}

/// An attribute of the document's opening tag.
fn attribute<'t>(svg: &'t str, name: &str) -> &'t str {
    let (_, rest) = svg.split_once(&format!(" {name}=\"")).unwrap_or_default();
    rest.split_once('"').unwrap_or_default().0
}

#[cfg(test)]
mod tests;
