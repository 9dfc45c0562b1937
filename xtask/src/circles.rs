//! Circles of files: files of a crate that need each other, directly or by way of others.
//!
//! An arrow goes from a file to the file of the module that a path names, in `use` or in code. A file that lists its
//! folder's modules needs them by definition, and that arrow counts in neither direction of a circle; nor do tests, and
//! names that the root of a folder or of the crate re-exports count as arrows to that root.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow};
use syn::visit::{self, Visit};

use crate::tidy::collect;

/// Path of a module from the root of its crate.
type Module = Vec<String>;

/// Searches the source files of all crates for cyclic dependencies between modules. Returns one line for each cycle.
pub(crate) fn violations(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    let crates = root.join("crates");
    for entry in fs::read_dir(&crates).with_context(|| format!("reading {}", crates.display()))? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let (mut lines, mut n_files) = (Vec::new(), 0);
    for name in names {
        let source = crates.join(&name).join("src");
        if source.is_dir() {
            let arrows = arrows(&source)?;
            n_files += arrows.len();
            let found = circles(&arrows).into_iter();
            lines.extend(
                found.map(|circle| format!("{name}: a circle of files: {}", circle.join(", "))),
            );
        }
    }
    println!("{} circles among {n_files} files", lines.len());
    Ok(lines)
}

/// Parses all files of a crate in the folder `source`. Returns each module that has a file, with the set of modules whose items
/// it uses.
fn arrows(source: &Path) -> anyhow::Result<BTreeMap<Module, BTreeSet<Module>>> {
    let mut files = Vec::new();
    collect(source, &mut files)?;
    let mut texts = BTreeMap::new();
    for file in files {
        let text =
            fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
        let parsed = syn::parse_file(&text).map_err(|e| anyhow!("{}: {e}", file.display()))?;
        let place = file.strip_prefix(source)?.with_extension("");
        let mut module: Module = place
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .collect();
        if module
            .last()
            .is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str()))
        {
            module.pop();
        }
        texts.insert(module, parsed);
    }
    let tests = test_modules(&texts);
    texts.retain(|module, _| !tests.iter().any(|test| module.starts_with(test)));
    let known: BTreeSet<Module> = texts.keys().cloned().collect();
    Ok(texts
        .into_iter()
        .map(|(module, file)| {
            let mut reader = Reader {
                known: &known,
                here: module.clone(),
                found: BTreeSet::new(),
            };
            reader.visit_file(&file);
            reader.found.retain(|needed| !needed.starts_with(&module));
            (module, reader.found)
        })
        .collect())
}

/// Returns the paths of the modules that are compiled only for tests.
fn test_modules(texts: &BTreeMap<Module, syn::File>) -> Vec<Module> {
    let declared = texts.iter().flat_map(|(module, file)| {
        file.items.iter().filter_map(move |item| match item {
            syn::Item::Mod(inner) if is_for_tests(&inner.attrs) => {
                Some([module.as_slice(), &[inner.ident.to_string()]].concat())
            }
            _ => None,
        })
    });
    declared.collect()
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|path| path.is_ident("test"))
    })
}

/// Collects the modules that a file names.
struct Reader<'k> {
    known: &'k BTreeSet<Module>,
    /// Path of the module whose items are read.
    here: Module,
    found: BTreeSet<Module>,
}

impl Reader<'_> {
    /// Records that the file uses the module to which an item's path belongs: the longest beginning of the path that is a
    /// module with a file.
    fn add(&mut self, path: &[String]) {
        let mut at = match path.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("self" | "super") => self.here.clone(),
            Some(name)
                if self
                    .known
                    .contains(&[self.here.as_slice(), &[name.to_owned()]].concat()) =>
            {
                self.here.clone()
            }
            _ => return,
        };
        for name in path {
            match name.as_str() {
                "crate" | "self" => {}
                "super" => {
                    at.pop();
                }
                _ => {
                    at.push(name.clone());
                    if !self.known.contains(&at) {
                        at.pop();
                        break;
                    }
                }
            }
        }
        self.found.insert(at);
    }

    fn add_tree(&mut self, before: &[String], tree: &syn::UseTree) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.add_tree(&with(&path.ident), &path.tree),
            syn::UseTree::Name(name) => self.add(&with(&name.ident)),
            syn::UseTree::Rename(name) => self.add(&with(&name.ident)),
            syn::UseTree::Glob(_) => self.add(before),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_tree(before, tree);
                }
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            self.here.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.here.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if item.leading_colon.is_none() && !is_for_tests(&item.attrs) {
            self.add_tree(&[], &item.tree);
        }
    }

    /// Does nothing: a visibility such as `pub(super)` names a module, but does not use it.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let names: Vec<String> = path
                .segments
                .iter()
                .map(|part| part.ident.to_string())
                .collect();
            self.add(&names);
        }
        visit::visit_path(self, path);
    }
}

/// Returns the cycles among modules: sets of at least two modules, each of which depends on all others of the set, directly or
/// through other modules. `arrows` holds the modules that each module uses.
fn circles(arrows: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<Vec<String>> {
    let reached: BTreeMap<&Module, BTreeSet<&Module>> = arrows
        .keys()
        .map(|module| (module, reached_from(arrows, module)))
        .collect();
    let mut seen: BTreeSet<&Module> = BTreeSet::new();
    let mut found = Vec::new();
    for (module, from_here) in &reached {
        if seen.contains(module) {
            continue;
        }
        let back = |other: &&&Module| {
            reached
                .get(**other)
                .is_some_and(|from| from.contains(module))
        };
        let circle: Vec<&Module> = from_here.iter().filter(back).copied().collect();
        if circle.len() > 1 {
            found.push(circle.iter().map(|module| module.join("::")).collect());
        }
        seen.extend(circle);
    }
    found
}

/// Returns all modules on which the module `start` depends, directly or through other modules. `arrows` holds the modules that
/// each module uses.
fn reached_from<'a>(
    arrows: &'a BTreeMap<Module, BTreeSet<Module>>,
    start: &Module,
) -> BTreeSet<&'a Module> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&Module> = arrows.get(start).into_iter().flatten().collect();
    while let Some(module) = open.pop() {
        if reached.insert(module) {
            open.extend(arrows.get(module).into_iter().flatten());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(files: &[(&str, &str)]) -> anyhow::Result<Vec<Vec<String>>> {
        let folder = tempfile::tempdir()?;
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().context("no folder")?)?;
            fs::write(path, text)?;
        }
        Ok(circles(&arrows(folder.path())?))
    }

    #[test]
    fn files_that_need_each_other_make_a_circle() -> anyhow::Result<()> {
        let found = written(&[
            ("lib.rs", "mod a; mod b; mod c; pub use a::A;"),
            ("a.rs", "use crate::b::{self, B}; pub struct A;"),
            (
                "b.rs",
                "pub struct B; fn f() -> super::c::C { super::c::C }",
            ),
            ("c.rs", "pub struct C; impl C { fn of(_: crate::a::A) {} }"),
        ])?;
        assert_eq!(found, [["a", "b", "c"]]);
        Ok(())
    }

    #[test]
    fn lists_of_modules_and_tests_make_none() -> anyhow::Result<()> {
        let found = written(&[
            (
                "lib.rs",
                "mod a; mod b; pub use a::A; #[cfg(test)] mod tests;",
            ),
            (
                "a.rs",
                "use crate::B; pub struct A; #[cfg(test)] mod tests { use crate::b::B; }",
            ),
            ("b.rs", "use super::a::A; pub(super) struct B;"),
            ("tests.rs", "use crate::a::A;"),
        ])?;
        assert_eq!(found, [[""; 0]; 0]);
        Ok(())
    }

    #[test]
    fn circles_cross_folders_and_modules_within_files() -> anyhow::Result<()> {
        let found = written(&[
            ("lib.rs", "mod a; mod b;"),
            ("a/mod.rs", "mod inner;"),
            (
                "a/inner.rs",
                "mod own { pub fn f() { super::super::super::b::f() } }",
            ),
            ("b.rs", "use crate::a::inner::f;"),
        ])?;
        assert_eq!(found, [["a::inner", "b"]]);
        Ok(())
    }

    #[test]
    fn the_workspace_has_no_circles() -> anyhow::Result<()> {
        assert_eq!(violations(&crate::workspace_root())?, [""; 0]);
        Ok(())
    }
}
