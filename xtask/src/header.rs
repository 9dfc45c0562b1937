//! `cargo xtask header`: the header with which a documentation host shows formulas.
//!
//! A published crate is documented far from this repository, so its header holds all of KaTeX. It
//! writes MathML, which needs neither a style sheet nor fonts. Every crate's `katex-header.html` is a
//! link to the one file, which `cargo package` follows.

use std::fs;
use std::path::Path;

use anyhow::Context;

/// File of the header.
pub(crate) const FILE: &str = "docs/katex-inline-header.html";

/// Scripts of the header, in order.
const SCRIPTS: [&str; 3] = ["katex.min.js", "auto-render.min.js", "typeset.js"];

/// Script that runs once the page is loaded.
const START: &str = r#"document.addEventListener("DOMContentLoaded", () => {
  const blocks = [...document.querySelectorAll(".docblock, .item-table, .sidebar-elems")];
  renderFormulas(blocks.filter((block) => block.textContent.includes("$")), "mathml");
});"#;

/// Writes the HTML header with which rustdoc shows formulas, from the files in `docs/src/katex`.
pub(crate) fn write(root: &Path) -> anyhow::Result<()> {
    let path = root.join(FILE);
    fs::write(&path, text(root)?).with_context(|| format!("writing {}", path.display()))
}

/// Compares the HTML header, with which rustdoc shows formulas, with the files in `docs/src/katex` from which it is made.
/// Returns one line if they differ.
pub(crate) fn violations(root: &Path) -> anyhow::Result<Vec<String>> {
    let is_same = fs::read_to_string(root.join(FILE)).is_ok_and(|found| {
        // A checkout may translate line ends.
        text(root).is_ok_and(|text| found.replace('\r', "") == text.replace('\r', ""))
    });
    Ok(if is_same {
        Vec::new()
    } else {
        vec![format!("{FILE} is not up to date: `cargo xtask header`")]
    })
}

fn text(root: &Path) -> anyhow::Result<String> {
    let mut text = String::from(
        "<!-- Formulas for a documentation host: written by `cargo xtask header`. -->\n",
    );
    for name in SCRIPTS {
        let path = root.join("docs/src/katex").join(name);
        let script =
            fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        text.push_str(&format!("<script>\n{}\n</script>\n", script.trim_end()));
    }
    text.push_str(&format!("<script>\n{START}\n</script>\n"));
    Ok(text)
}
