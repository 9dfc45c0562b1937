//! Suggestion of a known name for a misspelled one.

/// Returns the known name in `names` that is most similar to the misspelled name `unknown`, by the number of changed letters. A
/// known name qualifies if less than a third of the letters differ, or if one of the two names contains the other and `unknown`
/// has at least four letters. `None` if no name qualifies.
///
/// # Examples
///
/// ```
/// let names = ["plastic", "propagative", "routh"];
/// assert_eq!(carom_wire::nearest_name("plastik", names), Some("plastic"));
/// assert_eq!(carom_wire::nearest_name("propagate", names), Some("propagative"));
/// assert_eq!(carom_wire::nearest_name("magic", names), None);
/// ```
pub fn nearest_name<'n>(
    unknown: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    let lower = unknown.to_lowercase();
    let rank = |name: &str| {
        let distance = strsim::damerau_levenshtein(&lower, name);
        let contains = lower.len() >= 4 && (name.contains(&lower) || lower.contains(name));
        let is_near = 3 * distance < lower.chars().count().max(name.chars().count());
        (contains || is_near).then_some(distance)
    };
    let near = names
        .into_iter()
        .filter_map(|name| Some((rank(name)?, name)));
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}
