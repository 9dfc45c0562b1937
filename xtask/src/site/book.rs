//! The chapters of the book as pages: contents, next and previous, and a search without a server.

use super::markdown::{Rendered, render};
use crate::links;
use anyhow::Context as _;
use carom_report::export::html::{self, escape};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Folder of the chapters in the repository.
const SOURCE: &str = "docs/src";

/// Folder of the book in the site.
pub(super) const FOLDER: &str = "book";

/// Folder of the site with the files of the repository that the documents link to.
const FILES: &str = "files";

const STYLE: &str = include_str!("book.css");

const SCRIPT: &str = include_str!("book.js");

/// A part of the book: its title, and the documents in it.
struct Part {
    title: String,
    chapters: Vec<Chapter>,
}

/// A document and its page.
struct Chapter {
    title: String,
    /// Path in the repository.
    source: PathBuf,
    /// Path in the site.
    page: String,
}

/// All documents of the site, and the files that they link to.
pub(super) struct Book {
    parts: Vec<Part>,
    /// Pages of the documents.
    pages: BTreeMap<PathBuf, String>,
    /// Address of the repository, below which the documents link to files.
    repository: String,
    /// Files of the repository to be copied.
    linked: BTreeSet<PathBuf>,
}

impl Book {
    /// Reads the summary of the book in the repository at `root`.
    pub(super) fn read(root: &Path) -> anyhow::Result<Self> {
        let summary = root.join(SOURCE).join("SUMMARY.md");
        let text = fs::read_to_string(&summary)
            .with_context(|| format!("reading {}", summary.display()))?;
        let mut parts = parts(&text);
        let about = ["ARCHITECTURE", "CONTRIBUTING", "CHANGELOG"].map(|name| {
            let title = html::sentence(&name.to_lowercase());
            Chapter {
                page: format!("{FOLDER}/{}.html", name.to_lowercase()),
                source: format!("{name}.md").into(),
                title,
            }
        });
        parts.push(Part {
            title: "The project".to_owned(),
            chapters: about.into(),
        });
        let chapters = parts.iter().flat_map(|part| &part.chapters);
        let mut pages: BTreeMap<PathBuf, String> = chapters
            .map(|chapter| (chapter.source.clone(), chapter.page.clone()))
            .collect();
        pages.insert("README.md".into(), "index.html".to_owned());
        Ok(Self {
            parts,
            pages,
            repository: crate::address::repository(root)?,
            linked: BTreeSet::new(),
        })
    }

    /// Renders a document of the repository for the page `page` of the site. Files that it links to are kept for
    /// [`Book::write`].
    pub(super) fn render(&mut self, text: &str, source: &Path, page: &str) -> Rendered {
        let up = "../".repeat(page.matches('/').count());
        let mut link = |target: &str| {
            let (path, anchor) = match target.split_once('#') {
                Some((path, anchor)) => (path, format!("#{anchor}")),
                None => (target, String::new()),
            };
            let below = format!("{}/blob/main/", self.repository);
            let file = match path.strip_prefix(&below) {
                Some(file) => PathBuf::from(file),
                None if path.contains(':') || path.is_empty() => return target.to_owned(),
                None => links::normalized(&source.parent().unwrap_or(source).join(path)),
            };
            let place = self.pages.get(&file).cloned().unwrap_or_else(|| {
                let place = placed(&file);
                self.linked.insert(file);
                place
            });
            format!("{up}{place}{anchor}")
        };
        render(text, &mut link)
    }

    /// Writes the pages of the book, its search and the files that its documents link to into the folder `out` of the site.
    pub(super) fn write(&mut self, root: &Path, out: &Path) -> anyhow::Result<()> {
        let contents = self.contents();
        let chapters: Vec<(String, PathBuf, String)> = self
            .parts
            .iter()
            .flat_map(|part| &part.chapters)
            .map(|c| (c.title.clone(), c.source.clone(), c.page.clone()))
            .collect();
        let mut index = Vec::new();
        for (k, (title, source, page)) in chapters.iter().enumerate() {
            let text = fs::read_to_string(root.join(source))
                .with_context(|| format!("reading {}", source.display()))?;
            let done = self.render(&text, source, page);
            let file = name(page);
            for section in &done.sections {
                let place = format!("{file}#{}", section.anchor);
                let words = section
                    .text
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ");
                index.push((place, title.clone(), section.title.trim().to_owned(), words));
            }
            let beside = |k: Option<usize>, word: &str| {
                let (title, _, page) = k.and_then(|k| chapters.get(k))?;
                let (page, title) = (name(page), escape(title));
                Some(format!("<a href=\"{page}\">{word}: {title}</a>"))
            };
            let [previous, next] = [
                beside(k.checked_sub(1), "Previous"),
                beside(Some(k + 1), "Next"),
            ];
            let around = [previous, next].map(Option::unwrap_or_default).concat();
            let body = format!(
                "<main>\n{}<nav class=\"around\">{around}</nav>\n</main>\n",
                done.html
            );
            write(
                &out.join(page),
                &page_of(title, &contents, &body, done.has_formulas),
            )?;
        }
        let body = "<main>\n<h1>The book of carom</h1>\n<p>Parts by the job at hand; the search finds words of all \
                    chapters.</p>\n</main>\n";
        let front = page_of(
            "The book",
            &contents.replacen("<details", "<details open", 1),
            body,
            false,
        );
        write(&out.join(FOLDER).join("index.html"), &front)?;
        let index = serde_json::to_string(&index)?;
        write(
            &out.join(FOLDER).join("search.js"),
            &format!("caromSearch({index});\n"),
        )?;
        write(&out.join(FOLDER).join("book.js"), SCRIPT)?;
        super::copy(
            &root.join(SOURCE).join("katex"),
            &out.join(FOLDER).join("katex"),
        )?;
        for file in &self.linked {
            let to = out.join(placed(file));
            super::copy(&root.join(file), &to)?;
        }
        Ok(())
    }

    /// Returns the HTML list of all chapters, for a page of the book.
    fn contents(&self) -> String {
        let mut out = "<nav class=\"contents\">\n<p><a href=\"../index.html\"><b>carom</b></a> \u{b7} \
            <a href=\"index.html\">The book</a></p>\n<p id=\"search\" hidden><label>Search <input type=\"search\"></label></p>\n\
            <ol id=\"found\" hidden></ol>\n<details>\n<summary>Contents</summary>\n"
            .to_owned();
        for part in &self.parts {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "<b>{}</b>\n<ul>", escape(&part.title));
            for chapter in &part.chapters {
                let (page, title) = (name(&chapter.page), escape(&chapter.title));
                let _ = writeln!(out, "<li><a href=\"{page}\">{title}</a></li>");
            }
            out.push_str("</ul>\n");
        }
        out.push_str("</details>\n</nav>\n");
        out
    }
}

/// Returns the HTML of the style sheet and the scripts that set formulas; `to_book` leads from the page to the book.
pub(super) fn formulas(to_book: &str) -> String {
    format!(
        "<link rel=\"stylesheet\" href=\"{to_book}katex/katex.min.css\">\n\
         <script src=\"{to_book}katex/katex.min.js\"></script>\n<script src=\"{to_book}book.js\"></script>\n"
    )
}

/// Returns a page of the book.
fn page_of(title: &str, contents: &str, body: &str, has_formulas: bool) -> String {
    let scripts = if has_formulas {
        formulas("")
    } else {
        "<script src=\"book.js\"></script>\n".to_owned()
    };
    let body = format!("<div class=\"book\">\n{contents}{body}</div>\n{scripts}");
    html::page(&format!("{title}: carom"), STYLE, &body, false)
}

/// Returns the file name of a page of the book.
fn name(page: &str) -> &str {
    page.rsplit('/').next().unwrap_or(page)
}

/// Returns the place in the site of a file of the repository.
fn placed(file: &Path) -> String {
    let path = file.to_string_lossy().replace('\\', "/");
    match path.strip_prefix(&format!("{SOURCE}/")) {
        Some(rest) => format!("{FOLDER}/{rest}"),
        None => format!("{FILES}/{path}"),
    }
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Reads the parts and chapters of the summary `text`.
fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        if let Some(title) = line.strip_prefix("# ") {
            let title = if parts.is_empty() { "carom" } else { title };
            parts.push(Part {
                title: title.to_owned(),
                chapters: Vec::new(),
            });
        }
        let link = line.trim_start_matches("- ").strip_prefix('[');
        let link = link.and_then(|rest| rest.strip_suffix(')')?.split_once("]("));
        if let (Some((title, file)), Some(part)) = (link, parts.last_mut()) {
            part.chapters.push(Chapter {
                title: title.to_owned(),
                source: Path::new(SOURCE).join(file),
                page: format!("{FOLDER}/{}", file.replace(".md", ".html")),
            });
        }
    }
    parts
}
