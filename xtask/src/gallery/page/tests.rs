use super::*;
use crate::gallery::golden;

/// The page of the blessed records.
fn page() -> Vec<(String, String)> {
    files(&Catalog::load().unwrap(), &golden()).unwrap()
}

#[test]
fn the_page_stands_alone_and_every_link_leads_somewhere() {
    let files = page();
    let (name, index) = files.last().unwrap();
    assert_eq!(name, "index.html");
    let quoted = |name: &str| -> Vec<String> {
        let opening = format!(" {name}=\"");
        let parts = index.split(&opening).skip(1);
        parts
            .map(|p| p.split('"').next().unwrap().to_owned())
            .collect()
    };
    let ids = quoted("id");
    for target in quoted("href") {
        match target.strip_prefix('#') {
            Some(id) => assert!(ids.iter().any(|i| i == id), "no place {id}"),
            None if target == "data:," => {}
            None => assert!(
                files.iter().any(|(name, _)| *name == target),
                "no file {target}"
            ),
        }
    }
    for source in quoted("src") {
        assert!(
            files.iter().any(|(name, _)| *name == source),
            "no file {source}"
        );
    }
    let mut unique = ids.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), ids.len(), "an id twice");
    assert!(!index.contains("http"), "something would be fetched");
    // Names of the format itself.
    for (name, text) in &files {
        let text = text.replace("http://www.w3.org/2000/svg", "");
        assert!(!text.contains("http"), "{name} would fetch something");
    }
}

#[test]
fn the_page_is_light_and_shows_every_scenario() {
    let files = page();
    let weight: usize = files.iter().map(|(_, text)| text.len()).sum();
    assert!(weight < 10_000_000, "{weight} bytes");
    let (_, index) = files.last().unwrap();
    for record in golden() {
        let command = format!("carom run {} --out out", record.scenario);
        assert!(index.contains(&command), "{}", record.scenario);
    }
}
