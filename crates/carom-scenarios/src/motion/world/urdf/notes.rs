//! Notes about parts of a model that the world cannot carry over as they are, for URDF and MJCF.

/// Treatment of a part of a model that the world cannot carry over as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The part moves nothing, or only what the user allows; its note stands in `ignored`.
    Told,
    /// Another part takes its place; its note stands in `warnings`.
    Replaced,
    /// The model would move otherwise without the part: it is refused unless `allow` has the word.
    Lost,
}

/// Words of notes whose parts are replaced or lost. All other words are told, such as `limit velocity`, `transmission`, or the
/// name of an unknown element.
const TABLE: [(&str, Fate); 8] = [
    // A link that loses its last collision shape falls through the floor.
    ("mesh", Fate::Lost),
    // A tendon with a limit, stiffness, damping, friction or gain; other tendons only measure.
    ("tendon", Fate::Lost),
    // Couplings that are not linear.
    ("equality", Fate::Lost),
    // Geoms of MuJoCo that are no meshes, such as height fields.
    ("geom", Fate::Lost),
    ("hull", Fate::Replaced),
    ("start", Fate::Replaced),
    ("inertia", Fate::Replaced),
    ("quaternion", Fate::Replaced),
];

/// Returns the treatment of a part whose note begins with the word `what`. `acts`: true if the model moves otherwise without it.
fn fate(what: &str, acts: bool) -> Fate {
    let known = TABLE.iter().find(|(word, _)| *word == what);
    match known.map_or(Fate::Told, |(_, fate)| *fate) {
        Fate::Lost if !acts => Fate::Told,
        fate => fate,
    }
}

/// Checks that every word of `allow` is the word of parts that can be lost.
pub(super) fn check_words(allow: &[String]) -> Result<(), String> {
    let lost = TABLE.iter().filter(|(_, fate)| *fate == Fate::Lost);
    let words: Vec<&str> = lost.map(|(word, _)| *word).collect();
    match allow.iter().find(|word| !words.contains(&word.as_str())) {
        None => Ok(()),
        Some(unknown) => Err(format!("unknown `{unknown}`; known: {}", words.join(", "))),
    }
}

/// Part of a model that an importer cannot carry over as it is: word, name, reason, and true if the model moves otherwise without
/// it.
pub type LeftOut = (String, String, String, bool);

/// Sorts the parts that an importer outside this crate leaves out: returns true for each that another part replaces, and false for
/// each that is told.
///
/// # Errors
///
/// A message about an unknown word of `allow`, or one that names all parts that would be lost and that `allow` does not name.
pub fn sort_left_out(parts: &[LeftOut], allow: &[String]) -> Result<Vec<bool>, String> {
    check_words(allow).map_err(|message| format!("allow: {message}"))?;
    let mut notes = Notes::default();
    for (what, name, why, acts) in parts {
        notes.add(what, name, why, *acts);
    }
    notes.settle(allow, "allow")?;
    let is_replaced = |(what, _, _, acts): &LeftOut| fate(what, *acts) == Fate::Replaced;
    Ok(parts.iter().map(is_replaced).collect())
}

/// Notes about the parts of a model, each "what `name`: why".
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    ignored: Vec<String>,
    warnings: Vec<String>,
    /// Lost parts: the word and the note of each.
    lost: Vec<(String, String)>,
}

impl Notes {
    /// Notes a part that has no effect on the motion, or on part of it only.
    pub(super) fn tell(&mut self, what: &str, name: &str, why: &str) {
        self.add(what, name, why, false);
    }

    /// Notes a part without which the model moves otherwise, or whose place another part takes.
    pub(super) fn warn(&mut self, what: &str, name: &str, why: &str) {
        self.add(what, name, why, true);
    }

    fn add(&mut self, what: &str, name: &str, why: &str, acts: bool) {
        // The hull of a mesh is still a note about the mesh.
        let word = if what == "hull" { "mesh" } else { what };
        let note = format!("{word} `{name}`: {why}");
        match fate(what, acts) {
            Fate::Told => self.ignored.push(note),
            Fate::Replaced => self.warnings.push(note),
            Fate::Lost => self.lost.push((what.to_owned(), note)),
        }
    }

    /// Moves the lost parts that `allow` names to the ignored ones. The other lost parts are an error that names all of them.
    /// `spelled`: spelling of the key `allow` for the user.
    pub(super) fn settle(&mut self, allow: &[String], spelled: &str) -> Result<(), String> {
        let all = std::mem::take(&mut self.lost);
        let (allowed, lost): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(word, _)| allow.contains(word));
        self.ignored
            .extend(allowed.into_iter().map(|(_, note)| note));
        if lost.is_empty() {
            return Ok(());
        }
        let mut missing: Vec<String> = lost.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        missing.sort_unstable();
        missing.dedup();
        let notes: Vec<String> = lost.into_iter().map(|(_, note)| note).collect();
        let (notes, missing) = (notes.join("; "), missing.join(", "));
        Err(format!(
            "would be lost: {notes}; {spelled} = [{missing}] leaves them out"
        ))
    }

    pub(super) fn ignored(&self) -> &[String] {
        &self.ignored
    }

    pub(super) fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
