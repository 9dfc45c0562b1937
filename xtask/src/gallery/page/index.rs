//! The page that leads to the others: a moving picture, then scenarios by question, in groups that open.

mod still;

use std::fmt::Write as _;

use carom_report::animation::{Animation, MovingArrow, PlaneBody, Scene};
use carom_report::export::{file_name, html};
use carom_scenarios::{Card, Record, groups};
use html::escape;

use super::super::catalog::Standing;
use super::{Chapter, FIELD, FIGURES, count, page};

/// Distance between the two outcomes of the moving picture, in radii of a ball.
const APART: f64 = 7.5;

pub(super) fn index(
    chapters: &[Chapter<'_>],
    records: &[Record],
    links: &str,
) -> anyhow::Result<String> {
    let mut body = format!("<h1>carom: what happens when rigid bodies hit</h1>\n{links}");
    let hero = hero(records);
    if let Some(hero) = &hero {
        let player = html::animation(hero)?;
        let player = player.replacen("class=\"player\"", "class=\"player\" data-autoplay", 1);
        let _ = writeln!(
            body,
            "<div id=\"two-outcomes\" class=\"hero\">\n{player}</div>"
        );
    }
    let _ = writeln!(
        body,
        "<p>Each card is a run of this program: its motion, its figures, what a paper states and our \
         numbers beside it, and the command that makes it. Everything is in this folder; nothing is fetched. \
         <a href=\"#papers\">By paper</a>.</p>\n{FIELD}"
    );
    for group in groups() {
        let found: String = group
            .cards
            .iter()
            .filter_map(|card| card_of(card, chapters, records))
            .collect();
        if !found.is_empty() {
            let question = escape(&group.question);
            let n = found.matches("<a class=\"card").count();
            let _ = writeln!(
                body,
                "<section>\n<details class=\"group\">\n<summary><h2>{question}</h2> <span class=\"status\">{n}</span></summary>\n\
                 <div class=\"cards\">\n{found}</div>\n</details>\n</section>"
            );
        }
    }
    papers(&mut body, chapters);
    Ok(page("carom gallery", &body, hero.is_some()))
}

/// Writes the HTML card of a scenario on the index page: picture, title, one line of text, and marks such as `moves`. Returns
/// `None` for a scenario without a record.
fn card_of(card: &Card, chapters: &[Chapter<'_>], records: &[Record]) -> Option<String> {
    let record = records.iter().find(|r| r.scenario == card.name)?;
    let of = |c: &&Chapter<'_>| c.scenarios.iter().any(|s| s.name == card.name);
    let chapter = chapters.iter().find(of)?;
    let scenario = chapter.scenarios.iter().find(|s| s.name == card.name)?;
    let target = format!("{}#{}", chapter.file, escape(&card.name));
    let figure = record.figures.first().and_then(|figure| {
        let file = file_name(&format!("{}--{}--narrow", card.name, figure.name), "svg").ok()?;
        Some(format!(
            "<img src=\"{FIGURES}/{file}\" alt=\"\" loading=\"lazy\" decoding=\"async\">"
        ))
    });
    let figure = figure.unwrap_or_default();
    let picture = match record.animations.iter().find_map(still::still) {
        Some(still) => format!("{still}<noscript>{figure}</noscript>"),
        None => figure,
    };
    let moves = (!record.animations.is_empty()).then_some("moves");
    let chips = moves
        .into_iter()
        .chain(card.chips.iter().map(String::as_str));
    let chips: String = chips
        .map(|chip| format!("<span class=\"chip\">{}</span>", escape(chip)))
        .collect();
    Some(format!(
        "<a class=\"card item\" href=\"{target}\">{}<b>{}</b><span>{}.</span>\
         <span class=\"chips\">{chips}</span><small>{}</small><span hidden>{}</span></a>\n",
        picture,
        escape(&card.title),
        escape(&html::sentence(scenario.summary)),
        escape(&card.name),
        words(record, scenario.reproduces),
    ))
}

/// Returns the words of a scenario's page by which the search on the index page finds the scenario.
fn words(record: &Record, reproduces: &str) -> String {
    let figures = record.figures.iter();
    let figures = figures.flat_map(|f| [f.title.as_str(), f.caption.as_str()]);
    let motions = record.animations.iter();
    let motions = motions.flat_map(|a| [a.title.as_str(), a.caption.as_str()]);
    let quantities = record.quantities.iter().map(|q| q.name.as_str());
    let all = std::iter::once(reproduces).chain(figures).chain(motions);
    let all: Vec<&str> = all.chain(quantities).collect();
    escape(&all.join(" "))
}

/// Appends to the HTML text `body` the second view of the index page: the papers, each with the number of its reproduced
/// results.
fn papers(body: &mut String, chapters: &[Chapter<'_>]) {
    let is_shown = |s: Standing| !matches!(s, Standing::NoData | Standing::NotYet);
    let has_data = |s: Standing| s != Standing::NoData;
    let of = |chapter: &Chapter<'_>, with: &dyn Fn(Standing) -> bool| count(&chapter.entries, with);
    let total =
        |with: &dyn Fn(Standing) -> bool| chapters.iter().map(|c| of(c, with)).sum::<usize>();
    let _ = writeln!(
        body,
        "<section>\n<h2 id=\"papers\">By paper</h2>\n<p>Checked against five papers: {} of {} of their \
         figures and tables that carry data are there, with every number that they print.</p>\n<ul>",
        total(&is_shown),
        total(&has_data)
    );
    for chapter in chapters {
        let file = &chapter.file;
        let subtitle = match chapter.subtitle.as_str() {
            "" => String::new(),
            subtitle => format!(", {subtitle}"),
        };
        let standing = if chapter.entries.is_empty() {
            String::new()
        } else {
            format!(
                " <a href=\"{file}#paper\">{} of {} figures and tables</a>,",
                of(chapter, &is_shown),
                of(chapter, &has_data)
            )
        };
        let _ = writeln!(
            body,
            "<li class=\"item\"><a href=\"{file}\">{}</a>{subtitle}:{standing} {} scenarios</li>",
            escape(&chapter.title),
            chapter.scenarios.len()
        );
    }
    body.push_str("</ul>\n</section>\n");
}

/// Builds the animation at the top of the index page: one billiard break with both orders of the impacts side by side. `None`
/// if the records lack it.
fn hero(records: &[Record]) -> Option<Animation> {
    let record = records.iter().find(|r| r.scenario == "billiard-break")?;
    let [first, second, ..] = record.animations.as_slice() else {
        return None;
    };
    let mut hero = first.clone();
    if hero.times != second.times {
        return None;
    }
    let (
        Scene::Plane { bodies, arrows, .. },
        Scene::Plane {
            bodies: others,
            arrows: other_arrows,
            ..
        },
    ) = (&mut hero.scene, &second.scene)
    else {
        return None;
    };
    let moved = |x: &[f64]| x.iter().map(|x| x + APART).collect();
    bodies.extend(others.iter().map(|body| PlaneBody {
        x: moved(&body.x),
        ..body.clone()
    }));
    arrows.extend(other_arrows.iter().map(|arrow| MovingArrow {
        x: moved(&arrow.x),
        ..arrow.clone()
    }));
    hero.name = "two-outcomes".to_owned();
    hero.title = "One ball hits two that rest: which one first?".to_owned();
    hero.caption =
        "Both orders of the two impacts obey the law, and the first ball leaves up or down. \
                    Arrows are velocities."
            .to_owned();
    Some(hero)
}
