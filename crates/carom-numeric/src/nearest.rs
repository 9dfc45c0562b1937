//! Suggestion of a known name for a misspelled one.

/// Returns the known name in `names` that is most similar to the misspelled name `unknown`, by the number of changed letters. A
/// known name qualifies if less than a third of the letters differ, or if one of the two names contains the other and `unknown`
/// has at least four letters. `None` if no name qualifies.
///
/// # Examples
///
/// ```
/// let names = ["plastic", "propagative", "routh"];
/// assert_eq!(carom_numeric::nearest_name("plastik", names), Some("plastic"));
/// assert_eq!(carom_numeric::nearest_name("propagate", names), Some("propagative"));
/// assert_eq!(carom_numeric::nearest_name("magic", names), None);
/// ```
pub fn nearest_name<'n>(
    unknown: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    let lower = unknown.to_lowercase();
    let rank = |name: &str| {
        let distance = distance(&lower, name);
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

/// Returns the number of letters to insert, delete, change or swap with their neighbor that makes one text the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let change = last[j] + usize::from(x != y);
            let mut best = change.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == *y && b[j - 1] == *x {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn a_swap_of_neighbors_is_one_change() {
        for (a, b, expected) in [
            ("angel", "angle", 1),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("same", "same", 0),
        ] {
            assert_eq!(
                (distance(a, b), distance(b, a)),
                (expected, expected),
                "{a}"
            );
        }
    }
}
