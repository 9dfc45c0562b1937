use super::*;
use crate::gallery::golden;
use carom_scenarios::published::published;

/// Writes the gallery for the stored records. Returns the names and texts of its files.
fn page() -> Vec<(String, String)> {
    files(published().unwrap(), &golden(), "").unwrap()
}

/// Returns the values of all attributes called `name` on a page.
fn quoted(page: &str, name: &str) -> Vec<String> {
    let opening = format!(" {name}=\"");
    let parts = page.split(&opening).skip(1);
    parts
        .map(|p| p.split('"').next().unwrap().to_owned())
        .collect()
}

#[test]
fn every_page_stands_alone_and_every_link_leads_somewhere() {
    let files = page();
    assert_eq!(files.last().unwrap().0, "index.html");
    let find = |name: &str| files.iter().find(|(file, _)| file == name);
    // Links to the papers are followed by readers, not by the page.
    let papers: Vec<String> = published()
        .unwrap()
        .papers
        .iter()
        .map(|p| p.address.clone())
        .collect();
    let pages = files.iter().filter(|(name, _)| name.ends_with(".html"));
    for (name, text) in pages.clone() {
        let mut fetched = text.clone();
        for target in quoted(text, "href") {
            if papers.contains(&target) {
                fetched = fetched.replace(&format!("<a href=\"{target}\">"), "");
                continue;
            }
            if target == "data:," {
                continue;
            }
            let (file, id) = target.split_once('#').unwrap_or((&target, ""));
            let file = if file.is_empty() { name } else { file };
            let (_, linked) = find(file).unwrap_or_else(|| panic!("{name}: no file {file}"));
            assert!(
                id.is_empty() || quoted(linked, "id").iter().any(|i| i == id),
                "{name}: no place {target}"
            );
        }
        for source in quoted(text, "src") {
            assert!(find(&source).is_some(), "{name}: no file {source}");
        }
        let ids = quoted(text, "id");
        let mut unique = ids.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), ids.len(), "{name}: an id twice");
        assert!(!fetched.contains("http"), "{name} would fetch something");
    }
    assert_eq!(
        pages.count(),
        7,
        "five papers, what is beyond, and the index"
    );
    // Names of the format itself.
    for (name, text) in files.iter().filter(|(name, _)| !name.ends_with(".html")) {
        let text = text.replace("http://www.w3.org/2000/svg", "");
        assert!(!text.contains("http"), "{name} would fetch something");
    }
}

#[test]
fn the_page_is_light_and_shows_every_scenario() {
    let files = page();
    let weight: usize = files.iter().map(|(_, text)| text.len()).sum();
    assert!(weight < 11_000_000, "{weight} bytes");
    for record in golden() {
        let command = format!("carom run {} --out out", record.scenario);
        let shows = |(_, text): &&(String, String)| text.contains(&command);
        assert_eq!(files.iter().filter(shows).count(), 1, "{}", record.scenario);
    }
}

/// Checks that the index page begins with an animation of both outcomes of one impact.
#[test]
fn the_index_begins_with_a_moving_picture() {
    let files = page();
    let (_, index) = files.last().unwrap();
    let hero = index.find("data-autoplay").unwrap();
    assert!(hero < index.find("class=\"card").unwrap());
}

/// Checks that the pages of the papers, and the list of the papers, link to them.
#[test]
fn papers_are_linked() {
    let files = page();
    for paper in &published().unwrap().papers {
        let link = format!("<a href=\"{}\"><i>", paper.address);
        let linking = files.iter().filter(|(_, text)| text.contains(&link));
        assert_eq!(linking.count(), 2, "{}", paper.title);
    }
}

/// Checks that different figures of a scenario have different titles.
#[test]
fn figures_of_a_scenario_have_titles_of_their_own() {
    for record in golden() {
        let mut titles: Vec<&str> = record.figures.iter().map(|f| f.title.as_str()).collect();
        titles.sort_unstable();
        let all = titles.len();
        titles.dedup();
        assert_eq!(titles.len(), all, "{}: {titles:?}", record.scenario);
    }
}

#[test]
fn every_scenario_has_a_figure() {
    for record in golden() {
        assert!(!record.figures.is_empty(), "{}", record.scenario);
    }
}
