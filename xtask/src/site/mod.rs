//! `cargo xtask site`: the book, the gallery, the playground and the API in one folder, to publish or to open from a disk.

mod api;
mod book;
mod check;
mod front;
mod markdown;

use crate::{gallery, playground};
use anyhow::{Context as _, ensure};
use book::Book;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use markdown::slug;

/// Flags of `cargo xtask site`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder of the site; what an older site left there is removed.
    #[arg(long, value_name = "DIR", default_value = "out/site")]
    out: PathBuf,
    /// Parts to leave out.
    #[arg(long, value_name = "PART,...", value_delimiter = ',')]
    without: Vec<Part>,
    /// A module of the playground that was built elsewhere, in place of building one.
    #[arg(long, value_name = "FILE")]
    module: Option<PathBuf>,
    /// Then open every page in a headless browser, as wide as a phone (needs `npm ci` in xtask/browser).
    #[arg(long)]
    check: bool,
}

/// Parts of the site beside the first page and the book.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    Api,
    Gallery,
    Playground,
}

/// Names of the parts that the site has, in the order of its first page, with their folders.
struct Parts {
    all: Vec<(&'static str, &'static str)>,
}

impl Parts {
    /// Writes the links to the parts, for a page from which `up` leads to the first one.
    fn links(&self, up: &str) -> String {
        let links = self.all.iter();
        let links: Vec<String> = links
            .map(|(name, folder)| format!("<a href=\"{up}{folder}/index.html\">{name}</a>"))
            .collect();
        links.join(" \u{b7} ")
    }
}

/// Writes the site and checks its links.
pub(crate) fn site(root: &Path, args: &Args) -> anyhow::Result<()> {
    let out = &args.out;
    clear(out)?;
    let with = |part: Part| !args.without.contains(&part);
    let mut parts = Parts {
        all: vec![("The book", book::FOLDER)],
    };
    if with(Part::Gallery) {
        parts.all.push(("Gallery", "gallery"));
    }
    if with(Part::Playground) {
        if playground::beside(
            root,
            &out.join("playground"),
            "index.html",
            args.module.as_deref(),
        )? {
            parts.all.push(("Playground", "playground"));
        } else {
            println!("playground: {}", playground::SKIPPED);
        }
    }
    if with(Part::Api) {
        api::write(root, &out.join("api"))?;
        parts.all.push(("API", "api"));
    }
    if with(Part::Gallery) {
        let up = "<a href=\"../index.html\">carom</a> \u{b7} ".to_owned();
        let links = format!("<p>{up}{}</p>\n", parts.links("../"));
        gallery::write_to(&out.join("gallery"), &links)?;
    }
    let mut book = Book::read(root)?;
    front::write(root, out, &parts, &mut book)?;
    book.write(root, out)?;
    let faults = check::check(out)?;
    for line in faults.lines() {
        eprintln!("{line}");
    }
    println!(
        "{}: {} pages, {} links, {:.1} MB; {} dead links, {} from the network, {} lost pages",
        out.join("index.html").display(),
        faults.pages,
        faults.links,
        weight(out)? as f64 / 1e6,
        faults.dead.len(),
        faults.network.len(),
        faults.lost.len()
    );
    ensure!(faults.lines().is_empty(), "site: links have faults");
    if args.check {
        in_browser(root, out)?;
    }
    Ok(())
}

/// Empties the folder of the site, if it holds one: a folder with other files is refused.
fn clear(out: &Path) -> anyhow::Result<()> {
    let is_empty = fs::read_dir(out).map_or(true, |mut all| all.next().is_none());
    if !is_empty {
        ensure!(
            out.join(book::FOLDER).join("book.js").exists(),
            "{} holds other files: name an empty folder by --out",
            out.display()
        );
        fs::remove_dir_all(out).with_context(|| format!("cannot empty {}", out.display()))?;
    }
    fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))
}

/// Copies a file, or a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    let doing = || format!("cannot copy {} to {}", from.display(), to.display());
    if from.is_dir() {
        fs::create_dir_all(to).with_context(doing)?;
        for entry in fs::read_dir(from).with_context(doing)? {
            let name = entry?.file_name();
            copy(&from.join(&name), &to.join(&name))?;
        }
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).with_context(doing)?;
    }
    fs::copy(from, to).with_context(doing).map(|_| ())
}

/// Returns the bytes of all files in a folder.
fn weight(folder: &Path) -> anyhow::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        sum += if entry.path().is_dir() {
            weight(&entry.path())?
        } else {
            entry.metadata()?.len()
        };
    }
    Ok(sum)
}

/// Opens the pages of the site in a browser.
fn in_browser(root: &Path, out: &Path) -> anyhow::Result<()> {
    let browser = root.join("xtask/browser");
    ensure!(
        browser.join("node_modules").exists(),
        "run `npm ci` in {} first",
        browser.display()
    );
    let status = Command::new("node")
        .arg(browser.join("site.mjs"))
        .arg(out)
        .status()
        .context("cannot start node")?;
    ensure!(status.success(), "site: the browser found faults");
    Ok(())
}
