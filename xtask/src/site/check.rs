//! Links of a folder of web pages: every target is there, nothing comes from the network, every page is reached from the first.

use anyhow::Context as _;
use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Page from which all others are reached.
const FIRST: &str = "index.html";

/// Relations of `<link>` for which a browser loads the target.
const LOADING: [&str; 5] = ["stylesheet", "icon", "preload", "modulepreload", "manifest"];

/// Targets and places of one file.
#[derive(Default)]
struct File {
    /// Targets that a reader follows.
    links: Vec<String>,
    /// Targets that a browser loads by itself.
    loads: Vec<String>,
    /// Names of the places that a fragment can lead to.
    places: BTreeSet<String>,
}

/// Faults of a site.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Faults {
    /// Links to a file or a place that is not there.
    pub(super) dead: Vec<String>,
    /// Targets outside of the site that a browser would fetch.
    pub(super) network: Vec<String>,
    /// Pages that no chain of links from the first page reaches.
    pub(super) lost: Vec<String>,
    /// Number of pages.
    pub(super) pages: usize,
    /// Number of links within the site, of pages and of what they load.
    pub(super) links: usize,
}

impl Faults {
    /// One line for each fault.
    pub(super) fn lines(&self) -> Vec<String> {
        let named = |what: &str, all: &[String]| -> Vec<String> {
            all.iter().map(|line| format!("{what}: {line}")).collect()
        };
        [
            named("dead link", &self.dead),
            named("from the network", &self.network),
            named("lost page", &self.lost),
        ]
        .concat()
    }
}

/// Checks all pages and style sheets in the folder `site`. Nothing is fetched.
pub(super) fn check(site: &Path) -> anyhow::Result<Faults> {
    let mut files = BTreeMap::new();
    read(site, "", &mut files)?;
    let mut faults = Faults::default();
    let mut reached = BTreeSet::from([FIRST.to_owned()]);
    let mut open = vec![FIRST.to_owned()];
    while let Some(name) = open.pop() {
        let Some(file) = files.get(&name) else {
            continue;
        };
        for target in file.links.iter().chain(&file.loads) {
            if let Ok(Some((path, _))) = resolve(&name, target)
                && reached.insert(path.clone())
            {
                open.push(path);
            }
        }
    }
    for (name, file) in &files {
        for target in file.links.iter().chain(&file.loads) {
            faults.links += 1;
            if let Err(fault) = lead(&files, name, target) {
                faults.dead.push(format!("{name}: {target} ({fault})"));
            }
        }
        let outside = file.loads.iter().filter(|target| is_elsewhere(target));
        faults
            .network
            .extend(outside.map(|target| format!("{name}: {target}")));
        if name.ends_with(".html") {
            faults.pages += 1;
            if !reached.contains(name) {
                faults.lost.push(name.clone());
            }
        }
    }
    Ok(faults)
}

/// True if a target lies outside of the site.
fn is_elsewhere(target: &str) -> bool {
    let target = target.to_lowercase();
    let local = ["data:", "blob:", "javascript:", "mailto:"];
    let scheme = target.split(['/', '#', '?']).next().unwrap_or_default();
    target.starts_with("//") || scheme.contains(':') && !local.iter().any(|s| target.starts_with(s))
}

/// Follows the link `target` on the page `from`.
fn lead(files: &BTreeMap<String, File>, from: &str, target: &str) -> Result<(), &'static str> {
    let Some((path, place)) = resolve(from, target)? else {
        return Ok(());
    };
    let file = files.get(&path).ok_or("no such file")?;
    // An `id` may hold a percent sign itself; the documentation's script finds ranges of lines by their first one.
    let raw = target.split_once('#').map_or("", |(_, place)| place);
    let line = raw.split('-').next().filter(|_| path.ends_with(".rs.html"));
    let names = [Some(raw), Some(place.as_str()), line];
    let is_place = raw.is_empty()
        || raw == "top"
        || names
            .into_iter()
            .flatten()
            .any(|name| file.places.contains(name));
    if path.ends_with(".html") && !is_place {
        return Err("no such place");
    }
    Ok(())
}

/// Returns the path within the site, and the place in it, of the link `target` on the page `from`; `None` if it leads elsewhere.
pub(super) fn resolve(from: &str, target: &str) -> Result<Option<(String, String)>, &'static str> {
    let is_other = |start: &&str| target.starts_with(*start);
    let others = ["data:", "blob:", "javascript:", "mailto:"];
    if target.is_empty() || is_elsewhere(target) || others.iter().any(is_other) {
        return Ok(None);
    }
    let (path, place) = target.split_once('#').unwrap_or((target, ""));
    let path = path.split('?').next().unwrap_or_default();
    let (path, place) = (decoded(path), decoded(place));
    if path.starts_with('/') {
        return Err("not relative");
    }
    if path.is_empty() {
        return Ok(Some((from.to_owned(), place)));
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." => (),
            ".." => {
                parts.pop().ok_or("above the site")?;
            }
            part => parts.push(part),
        }
    }
    Ok(Some((parts.join("/"), place)))
}

/// Replaces `%` and two hexadecimal digits by the byte.
fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut out = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let byte = part
            .get(..2)
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match byte {
            Some(byte) => {
                out.push(byte);
                out.extend(part.as_bytes().iter().skip(2));
            }
            None => {
                out.push(b'%');
                out.extend(part.as_bytes());
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Reads all files below `folder`, whose path within the site is `path`.
fn read(folder: &Path, path: &str, files: &mut BTreeMap<String, File>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let entry = entry?;
        let name = format!("{path}{}", entry.file_name().to_string_lossy());
        let place = entry.path();
        if place.is_dir() {
            read(&place, &format!("{name}/"), files)?;
            continue;
        }
        let mut file = File::default();
        let text = || fs::read(&place).with_context(|| format!("reading {}", place.display()));
        if name.ends_with(".html") {
            file.add_page(&String::from_utf8_lossy(&text()?));
        } else if name.ends_with(".css") {
            file.add_style(&String::from_utf8_lossy(&text()?));
        }
        files.insert(name, file);
    }
    Ok(())
}

impl File {
    fn add_page(&mut self, text: &str) {
        let mut is_style = false;
        let mut emitter = DefaultEmitter::default();
        // Scripts and styles are text, not markup.
        emitter.naively_switch_states(true);
        for Ok(token) in Tokenizer::new_with_emitter(text, emitter) {
            match token {
                Token::StartTag(tag) => {
                    is_style = *tag.name == b"style"[..];
                    self.add_tag(&tag);
                }
                Token::String(style) if is_style => {
                    self.add_style(&String::from_utf8_lossy(&style));
                }
                Token::EndTag(_) => is_style = false,
                _ => (),
            }
        }
    }

    fn add_tag(&mut self, tag: &StartTag<()>) {
        let value = |name: &str| -> Option<String> {
            let value = tag.attributes.get(name.as_bytes())?;
            Some(String::from_utf8_lossy(value).trim().to_owned())
        };
        self.places.extend(value("id"));
        if let Some(style) = value("style") {
            self.add_style(&style);
        }
        match &**tag.name {
            b"a" | b"area" => {
                self.places.extend(value("name"));
                self.links.extend(value("href"));
            }
            b"link" => {
                let relation = value("rel").unwrap_or_default();
                if relation.split_whitespace().any(|r| LOADING.contains(&r)) {
                    self.loads.extend(value("href"));
                }
            }
            b"meta" => {
                let content = value("content").unwrap_or_default();
                let target = content.split_once("URL=").or(content.split_once("url="));
                self.links
                    .extend(target.map(|(_, target)| target.to_owned()));
            }
            _ => {
                self.loads.extend(
                    ["src", "data", "poster"]
                        .iter()
                        .filter_map(|name| value(name)),
                );
                let set = value("srcset").unwrap_or_default();
                let all = set
                    .split(',')
                    .filter_map(|one| one.split_whitespace().next());
                self.loads.extend(all.map(str::to_owned));
                // References of SVG.
                self.loads.extend(value("href"));
            }
        }
    }

    /// Adds what a style sheet loads.
    fn add_style(&mut self, text: &str) {
        for part in text.split("url(").skip(1) {
            if let Some((target, _)) = part.split_once(')') {
                self.loads
                    .push(target.trim().trim_matches(['"', '\'']).to_owned());
            }
        }
        for part in text.split("@import").skip(1) {
            let target = part
                .split(['"', '\''])
                .nth(1)
                .filter(|_| !part.trim_start().starts_with("url("));
            self.loads.extend(target.map(str::to_owned));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the files `pages` (names and texts) and returns the faults of the site.
    fn faults(pages: &[(&str, &str)]) -> Faults {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in pages {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        check(folder.path()).unwrap()
    }

    const WHOLE: [(&str, &str); 4] = [
        (
            "index.html",
            "<a href=\"book/a.html#two\">a</a> <a href='https://example.org'>elsewhere</a>",
        ),
        (
            "book/a.html",
            "<link rel=stylesheet href=s.css><h2 id=two>2</h2><a href=../index.html>up</a><img srcset='a%20b.svg 2x'>",
        ),
        ("book/s.css", "a { background: url(\"a b.svg\") }"),
        ("book/a b.svg", ""),
    ];

    #[test]
    fn a_whole_site_has_no_faults() {
        let found = faults(&WHOLE);
        assert_eq!(found.lines(), [""; 0]);
        assert_eq!((found.pages, found.links), (2, 6));
    }

    #[test]
    fn planted_faults_are_found() {
        for (page, text, fault) in [
            (
                "index.html",
                "<a href=book/b.html>b</a><a href=book/a.html></a>",
                "dead link: index.html: book/b.html (no such file)",
            ),
            (
                "index.html",
                "<a href=book/a.html#three>a</a>",
                "dead link: index.html: book/a.html#three (no such place)",
            ),
            (
                "index.html",
                "<a href=/book/a.html></a><a href=book/a.html></a>",
                "dead link: index.html: /book/a.html (not relative)",
            ),
            (
                "index.html",
                "<a href=../x.html></a><a href=book/a.html></a>",
                "dead link: index.html: ../x.html (above the site)",
            ),
            (
                "index.html",
                "<a href=book/>a</a><a href=book/a.html></a>",
                "dead link: index.html: book/ (no such file)",
            ),
            ("index.html", "<p>nothing</p>", "lost page: book/a.html"),
            (
                "book/a.html",
                "<h2 id=two>2</h2><img src=https://example.org/a.png>",
                "from the network: book/a.html: https://example.org/a.png",
            ),
            (
                "book/a.html",
                "<h2 id=two>2</h2><script src=//example.org/a.js></script>",
                "from the network: book/a.html: //example.org/a.js",
            ),
            (
                "book/a.html",
                "<h2 id=two>2</h2><style>@import 'http://example.org/a.css'</style>",
                "from the network: book/a.html: http://example.org/a.css",
            ),
            (
                "book/a.html",
                "<h2 id=two>2</h2><p style='background: url(gone.png)'>",
                "dead link: book/a.html: gone.png (no such file)",
            ),
        ] {
            let mut pages = WHOLE;
            for (name, content) in &mut pages {
                if *name == page {
                    *content = text;
                }
            }
            assert_eq!(faults(&pages).lines(), [fault], "{text}");
        }
    }

    #[test]
    fn scripts_are_no_markup() {
        let script = "<script>const x = \"<a href='gone.html'>\";</script><a href=book/a.html></a>";
        let mut pages = WHOLE;
        pages[0].1 = script;
        assert_eq!(faults(&pages).lines(), [""; 0]);
    }
}
