//! The first page: the README, with Newton's cradle under two laws side by side, and the ways to the other parts.

use super::Parts;
use super::book::{self, Book};
use anyhow::{Context as _, ensure};
use carom_report::Record;
use carom_report::export::html::{self, escape};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const STYLE: &str = include_str!("front.css");

/// Laws under which the cradle runs.
const LAWS: [&str; 2] = ["propagative", "poisson"];

/// Folder of the compared runs.
const CRADLE: &str = "cradle";

/// Marks around the scene in the README.
const SCENE: (&str, &str) = ("cat > cradle.toml <<'END'\n", "\nEND\n");

/// Beginning of the headings of the doors in the README.
const DOOR: &str = "## From ";

/// Writes the first page and the runs that it shows into the folder `out` of the site.
pub(super) fn write(root: &Path, out: &Path, parts: &Parts, book: &mut Book) -> anyhow::Result<()> {
    let readme = fs::read_to_string(root.join("README.md")).context("reading README.md")?;
    let (head, rest) = readme
        .split_once("\n![")
        .context("README.md has no picture")?;
    let mut body = format!("<p>{}</p>\n<main>\n", parts.links(""));
    body.push_str(&book.render(head, Path::new("README.md"), "index.html").html);
    body.push_str(&doors(&readme)?);
    body.push_str(&cradle(&readme, out)?);
    let rest = book.render(&format!("![{rest}"), Path::new("README.md"), "index.html");
    body.push_str(&rest.html);
    body.push_str("</main>\n");
    if rest.has_formulas {
        body.push_str(&book::formulas("book/"));
    }
    let page = html::page(
        "carom: what happens when rigid bodies hit",
        STYLE,
        &body,
        true,
    );
    fs::write(out.join("index.html"), page).context("cannot write the first page")
}

/// Writes the links to the three doors of the README: the headings that begin with "From".
fn doors(readme: &str) -> anyhow::Result<String> {
    let titles = readme.lines().filter(|line| line.starts_with(DOOR));
    let titles: Vec<&str> = titles.map(|line| line.trim_start_matches("## ")).collect();
    ensure!(
        titles.len() == 3,
        "README.md has {} doors, not three",
        titles.len()
    );
    let mut out = "<nav class=\"doors\">\n".to_owned();
    for title in titles {
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "<a href=\"#{}\">{}</a>",
            super::slug(title),
            escape(title)
        );
    }
    out.push_str("</nav>\n");
    Ok(out)
}

/// Runs the scene of the README under two laws and writes the players, side by side.
fn cradle(readme: &str, out: &Path) -> anyhow::Result<String> {
    let scene = readme
        .split_once(SCENE.0)
        .and_then(|(_, rest)| rest.split_once(SCENE.1));
    let (scene, _) = scene.context("README.md has no scene `cradle.toml`")?;
    let folder = out.join(CRADLE);
    // The name of the file is the heading of the runs.
    let scenes = tempfile::tempdir()?;
    let file = scenes.path().join("cradle.toml");
    fs::write(&file, scene)?;
    let laws = LAWS.join(",");
    let arguments = [
        "carom".as_ref(),
        "--quiet".as_ref(),
        "run".as_ref(),
        file.as_os_str(),
        "--law".as_ref(),
        laws.as_ref(),
        "--out".as_ref(),
        folder.as_os_str(),
    ];
    let status = carom_cli::main_from(arguments.map(std::ffi::OsStr::to_owned));
    ensure!(
        status == 0,
        "site: the cradle of README.md ends with status {status}"
    );
    let mut body = "<div class=\"columns compared\">\n".to_owned();
    for law in LAWS {
        let path = folder.join(law).join("record.json");
        let text =
            fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let record: Record = serde_json::from_str(&text)?;
        let motion = record
            .animations
            .first()
            .context("the cradle has no motion")?;
        // Writing to a string cannot fail.
        let _ = writeln!(
            body,
            "<div>\n<p><code>{law}</code></p>\n{}</div>",
            html::animation(motion)?
        );
    }
    // The first one leads the others.
    body = body.replacen("class=\"player\"", "class=\"player\" data-autoplay", 1);
    body.push_str("</div>\n<p class=\"status\">One scene under two laws. <a href=\"cradle/index.html\">Curves and numbers of \
                   both</a>; the commands stand below.</p>\n");
    Ok(body)
}
