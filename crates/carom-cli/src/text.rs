//! Text for terminals.

/// Largest number of columns in a line of text.
pub(crate) const WIDTH: usize = 100;

/// Formats an entry of a list on a terminal: `title`, and beside it `text` wrapped into lines. `indent` is the column at
/// which the text begins.
pub(crate) fn entry(title: &str, indent: usize, text: &str) -> String {
    let mut lines = String::new();
    let mut line = format!("{title:indent$}");
    if line.chars().count() > indent {
        line.push(' ');
    }
    let mut is_empty = true;
    for word in text.split_whitespace() {
        let is_full = line.chars().count() + 1 + word.chars().count() > WIDTH;
        if is_full && !is_empty {
            lines.push_str(line.trim_end());
            lines.push('\n');
            line = " ".repeat(indent);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push_str(line.trim_end());
    lines.push('\n');
    lines
}

/// Returns the question "did you mean ...?" with the name in `names` that is nearest to an unknown one; `None` if no name
/// is near.
pub(crate) fn did_you_mean<'n>(
    unknown: &str,
    names: impl Iterator<Item = &'n str>,
) -> Option<String> {
    carom_wire::nearest_name(unknown, names).map(|name| format!("did you mean `{name}`?"))
}

/// Adds the nearest known name to an error message about an unknown key or value, before its list of all known names. Other
/// messages are returned unchanged.
#[must_use]
pub fn with_suggestion(message: &str) -> String {
    let suggested = ["unknown field `", "unknown variant `"]
        .into_iter()
        .find_map(|start| {
            let (_, rest) = message.split_once(start)?;
            let (name, list) = rest.split_once("`, expected ")?;
            let hint = did_you_mean(name, list.split('`').skip(1).step_by(2))?;
            let before = message.len() - list.len() - ", expected ".len();
            let known = list.strip_prefix("one of ").unwrap_or(list);
            Some(format!("{}; {hint} known: {known}", message.get(..before)?))
        });
    suggested.unwrap_or_else(|| message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_key_stands_before_the_list() {
        let told = with_suggestion(
            "--set contact.fricton=0.2: key `contact.fricton`: unknown field `fricton`, expected one of `friction`, \
             `restitution`",
        );
        let expected = "--set contact.fricton=0.2: key `contact.fricton`: unknown field `fricton`; did you mean \
                        `friction`? known: `friction`, `restitution`";
        assert_eq!(told, expected);
        let two = with_suggestion("unknown variant `spere`, expected `sphere` or `box`");
        assert_eq!(
            two,
            "unknown variant `spere`; did you mean `sphere`? known: `sphere` or `box`"
        );
        for other in [
            "unknown field `magic`, expected one of `mass`, `radius`",
            "no such file",
        ] {
            assert_eq!(with_suggestion(other), other);
        }
    }

    #[test]
    fn long_text_is_wrapped_beside_its_title() {
        let text = "word ".repeat(40);
        let lines = entry("title", 10, &text);
        assert!(lines.lines().count() == 3);
        for (k, line) in lines.lines().enumerate() {
            assert!(line.len() <= WIDTH);
            assert!(line.starts_with(if k == 0 {
                "title     word"
            } else {
                "          word"
            }));
        }
    }
}
