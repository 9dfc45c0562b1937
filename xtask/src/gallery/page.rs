//! The gallery as HTML, and the files beside it.

mod index;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::Context as _;
use carom_report::export::{self, html, svg};
use carom_report::record::Figure;
use carom_scenarios::published::{Catalog, Item, Paper};
use carom_scenarios::{Record, SCENARIOS, Scenario};
use html::{escape, minus};

use super::catalog::{self, Compared, Found, Place, Standing};
use super::members;

/// Folder of the figures.
pub(super) const FIGURES: &str = "figures";

const STYLE: &str = include_str!("style.css");

/// Shows the scenarios and items that hold what is typed; without scripts all are shown.
const FILTER: &str = include_str!("filter.js");

/// An item, its places in the records, and the name of its place on the page.
struct Entry<'a> {
    item: &'a Item,
    found: Found,
    anchor: String,
}

/// A page of the gallery: the scenarios of one paper, or those beyond the papers.
struct Chapter<'a> {
    file: String,
    title: String,
    /// The title of the paper as a link; empty for what is beyond the papers.
    subtitle: String,
    entries: Vec<Entry<'a>>,
    scenarios: Vec<&'static Scenario>,
}

/// Writes the files of the gallery: a page for each paper, the figures, and `index.html` as the last one, with the HTML text
/// `links` below its heading. Returns the names and contents.
pub(super) fn files(
    catalog: &Catalog,
    records: &[Record],
    links: &str,
) -> anyhow::Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    let chapters = chapters(catalog, records)?;
    for chapter in &chapters {
        let page = chapter_page(chapter, records, &mut files)?;
        files.push((chapter.file.clone(), page));
    }
    let index = index::index(&chapters, records, links)?;
    files.push(("index.html".to_owned(), index));
    Ok(files)
}

fn chapters<'a>(catalog: &'a Catalog, records: &[Record]) -> anyhow::Result<Vec<Chapter<'a>>> {
    let scenarios = |of: &dyn Fn(&Scenario) -> bool| -> Vec<&'static Scenario> {
        let has_record = |s: &&Scenario| records.iter().any(|r| r.scenario == s.name);
        SCENARIOS
            .iter()
            .filter(|s| of(s))
            .filter(has_record)
            .collect()
    };
    let mut chapters = Vec::new();
    for (index, paper) in catalog.papers.iter().enumerate() {
        let name = paper.authors.to_lowercase().replace(" & ", "-");
        chapters.push(Chapter {
            file: export::file_name(&name, "html")?,
            title: paper.authors.clone(),
            subtitle: format!(
                "<a href=\"{}\"><i>{}</i></a>",
                escape(&paper.address),
                escape(&paper.title)
            ),
            entries: entries(paper, index, records),
            scenarios: scenarios(&|s| s.paper == paper.authors),
        });
    }
    let beyond = scenarios(&|s| catalog.papers.iter().all(|p| p.authors != s.paper));
    if !beyond.is_empty() {
        chapters.push(Chapter {
            file: "beyond.html".to_owned(),
            title: "Beyond the five papers".to_owned(),
            subtitle: String::new(),
            entries: Vec::new(),
            scenarios: beyond,
        });
    }
    Ok(chapters)
}

/// The field that narrows a page; hidden where scripts do not run.
const FIELD: &str = "<p id=\"filter\" hidden><label>Search \
    <input type=\"search\"></label> <span role=\"status\"></span></p>\n";

fn chapter_page(
    chapter: &Chapter<'_>,
    records: &[Record],
    files: &mut Vec<(String, String)>,
) -> anyhow::Result<String> {
    let mut body = format!(
        "<p><a href=\"index.html\">carom gallery</a></p>\n<h1>{}</h1>\n<p>{}</p>\n{FIELD}",
        escape(&chapter.title),
        chapter.subtitle
    );
    if !chapter.entries.is_empty() {
        body.push_str("<p><a href=\"#paper\">What the paper states, and what is here</a></p>\n");
    }
    body.push_str("<section>\n<h2 id=\"scenarios\">Scenarios</h2>\n");
    let mut plays = false;
    for scenario in &chapter.scenarios {
        if let Some(record) = records.iter().find(|r| r.scenario == scenario.name) {
            plays |= !record.animations.is_empty();
            let title = scenario
                .question_and_title()
                .map_or(scenario.name, |(_, title)| title);
            card(
                &mut body,
                (scenario, title),
                record,
                &chapter.entries,
                files,
            )
            .with_context(|| scenario.name)?;
        }
    }
    body.push_str("</section>\n");
    if !chapter.entries.is_empty() {
        body.push_str("<section>\n<h2 id=\"paper\">In the paper</h2>\n");
        write_paper(&mut body, &chapter.entries);
        body.push_str("</section>\n");
    }
    Ok(page(
        &format!("{}: carom gallery", chapter.title),
        &body,
        plays,
    ))
}

fn page(title: &str, body: &str, plays: bool) -> String {
    let script = format!("<script>\n{FILTER}</script>\n");
    html::page(title, STYLE, &format!("{body}{script}"), plays)
}

fn entries<'a>(paper: &'a Paper, index: usize, records: &[Record]) -> Vec<Entry<'a>> {
    let members = members(&paper.authors);
    let entry = |(k, item): (usize, &'a Item)| Entry {
        item,
        found: catalog::find(item, records, &members),
        anchor: format!("paper-{}-{}", index + 1, k + 1),
    };
    paper.items.iter().enumerate().map(entry).collect()
}

fn count(entries: &[Entry<'_>], of: impl Fn(Standing) -> bool) -> usize {
    let standings = entries.iter().map(|e| catalog::standing(e.item, &e.found));
    standings.filter(|s| of(*s)).count()
}

/// Appends to the HTML text `out` the table of a paper's figures and tables, with the statements of the paper and links to the
/// results of this library.
fn write_paper(out: &mut String, entries: &[Entry<'_>]) {
    out.push_str(
        "<div class=\"scroll\"><table class=\"items\">\n\
         <thead><tr><th>In the paper</th><th>It states</th><th>Here</th></tr></thead>\n<tbody>\n",
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

/// Returns HTML links to the scenarios that contain the numbers of this result.
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

/// Returns the HTML `id` of a figure, table or animation of a scenario.
fn id(place: &Place) -> String {
    escape(&format!("{}--{}", place.scenario, place.name))
}

fn standing(entry: &Entry<'_>) -> String {
    let item = entry.item;
    let (class, text) = match catalog::standing(item, &entry.found) {
        Standing::NoData => (
            "none",
            format!("no data: {}", item.no_data.as_deref().unwrap_or_default()),
        ),
        Standing::Reproduced if entry.found.numbers.is_empty() => ("good", "shown".to_owned()),
        Standing::Reproduced => ("good", "shown, the numbers agree".to_owned()),
        Standing::Fitted => ("fitted", "shown, fitted to its numbers".to_owned()),
        Standing::Differs => ("differs", "a number differs, with a reason".to_owned()),
        Standing::NotYet => (
            "open",
            format!("not yet ({})", entry.found.missing.join(", ")),
        ),
    };
    format!("<span class=\"{class}\">{}</span>", escape(&text))
}

/// Appends to the HTML text `out` the part of the page about one scenario: animations and figures, the results in sentences,
/// then numbers and tables. The figures are also added to `files`.
fn card(
    out: &mut String,
    (scenario, title): (&Scenario, &str),
    record: &Record,
    entries: &[Entry<'_>],
    files: &mut Vec<(String, String)>,
) -> anyhow::Result<()> {
    let name = escape(scenario.name);
    let _ = writeln!(
        out,
        "<article id=\"{name}\">\n<h3>{}</h3>\n<p>{}. <span class=\"status\">{}.</span></p>",
        escape(title),
        escape(&html::sentence(scenario.summary)),
        escape(scenario.reproduces)
    );
    out.push_str(&html::remarks(&carom_report::Account::of(record)));
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
    out.push_str(&html::headlines(&record.quantities));
    write_numbers(out, scenario.name, record, entries);
    let _ = writeln!(
        out,
        "<p class=\"status\"><code>carom run {name} --out out</code> makes this, and all tables.</p>"
    );
    out.push_str(&html::parameters(record)?);
    out.push_str("</article>\n");
    Ok(())
}

/// Appends to the HTML text `out` the numbers of a scenario: first those that a paper prints, then a folded list of all
/// numbers, and the tables.
fn write_numbers(out: &mut String, scenario: &str, record: &Record, entries: &[Entry<'_>]) {
    let about = numbers_of(scenario, entries);
    if !about.is_empty() {
        let n = about.matches("<tr>").count();
        let _ = writeln!(
            out,
            "<details>\n<summary>Checked against the paper: {n} numbers</summary>\n\
             <div class=\"scroll\"><table class=\"numbers\">\n<thead><tr><th>In the paper</th>\
             <th>Quantity</th><th class=\"n\">Paper</th><th class=\"n\">Here</th><th class=\"n\">Error</th>\
             <th></th></tr></thead>\n<tbody>\n{about}</tbody>\n</table></div>\n</details>\n{}",
            reasons(scenario, entries)
        );
    }
    for table in &record.tables {
        let place = place(scenario, &table.name);
        let of: Vec<_> = entries
            .iter()
            .filter(|e| e.found.tables.contains(&place))
            .collect();
        if !of.is_empty() {
            let _ = write!(
                out,
                "<details id=\"{}\">\n<summary>Table: {} ({} rows)</summary>\n{}",
                id(&place),
                escape(&html::in_words(&table.name)),
                table.rows.len(),
                badges(of.into_iter())
            );
            out.push_str(&html::table(table));
            out.push_str("</details>\n");
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
}

fn place(scenario: &str, name: &str) -> Place {
    Place {
        scenario: scenario.to_owned(),
        name: name.to_owned(),
    }
}

/// Writes the statements of the paper about a figure as HTML, with links to the entries of the paper's table.
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

/// Writes the HTML table rows of the printed numbers that a scenario reproduces.
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

/// Writes as HTML the reasons why numbers of a scenario differ from the printed ones, and the inputs that were fitted, once for each result
/// of the paper.
fn reasons(scenario: &str, entries: &[Entry<'_>]) -> String {
    let mut lines = String::new();
    for entry in entries {
        let here = entry.found.numbers.iter();
        let here = here.filter(|n| n.place.scenario == scenario);
        let differing = here.clone().filter_map(|n| n.quantity.differs.as_deref());
        let fitted = here.filter(|n| n.quantity.is_fitted);
        let fitted = fitted.filter_map(|n| n.quantity.note.as_deref());
        let differing = differing.map(|reason| ("differs: ", reason));
        let reasons: BTreeSet<_> = differing.chain(fitted.map(|note| ("", note))).collect();
        for (word, reason) in reasons {
            // Writing to a string cannot fail.
            let _ = writeln!(
                lines,
                "<p class=\"states\"><a href=\"#{}\">{}</a> <span class=\"differs\">{word}</span>{}.</p>",
                entry.anchor,
                escape(&entry.item.label),
                escape(reason)
            );
        }
    }
    lines
}

fn number_row(entry: &Entry<'_>, number: &Compared) -> String {
    let quantity = &number.quantity;
    let (class, verdict) = match (number.agrees(), quantity.is_fitted) {
        (true, true) => ("fitted", "fitted"),
        (true, false) => ("good", "agrees"),
        (false, _) => ("differs", "differs"),
    };
    let printed = quantity.paper.unwrap_or_default();
    let unit = if quantity.unit.is_empty() {
        String::new()
    } else {
        format!(" {}", escape(&quantity.unit))
    };
    let error = minus(&export::difference(quantity.value, printed));
    let (bound, error) = if quantity.at_least {
        ("at least ", String::new())
    } else {
        ("", error)
    };
    format!(
        "<tr><td><a href=\"#{}\">{}</a></td><td><code>{}</code></td><td class=\"n\" data-label=\"paper\">{bound}{}{unit}</td>\
         <td class=\"n\" data-label=\"here\">{}{unit}</td><td class=\"n\" data-label=\"error\">{}</td>\
         <td class=\"{class}\">{verdict}</td></tr>\n",
        entry.anchor,
        escape(&entry.item.label),
        escape(&number.place.name),
        minus(&export::shown(printed)),
        minus(&export::shown(quantity.value)),
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
    let slim = export::file_name(
        &format!("{}--{}--narrow", place.scenario, place.name),
        "svg",
    )?;
    let _ = writeln!(
        out,
        "<figure id=\"{}\">\n<div class=\"wide\"><picture>\
         <source media=\"(max-width: 42rem)\" srcset=\"{FIGURES}/{slim}\"><img src=\"{FIGURES}/{file}\" alt=\"{}\" \
         width=\"{width}\" height=\"{height}\" loading=\"lazy\" decoding=\"async\"></picture></div>\n\
         <figcaption>{} <a href=\"{FIGURES}/{file}\">SVG</a>{badges}</figcaption>\n</figure>",
        id(place),
        escape(title),
        escape(&figure.caption)
    );
    files.push((format!("{FIGURES}/{file}"), text));
    files.push((format!("{FIGURES}/{slim}"), svg::narrow(figure)?));
    Ok(())
}

/// Returns the value of an attribute of the opening tag of an SVG document; empty if the attribute is missing.
fn attribute<'t>(svg: &'t str, name: &str) -> &'t str {
    let (_, rest) = svg.split_once(&format!(" {name}=\"")).unwrap_or_default();
    rest.split_once('"').unwrap_or_default().0
}

#[cfg(test)]
mod tests;
