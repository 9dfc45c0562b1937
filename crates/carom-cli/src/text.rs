//! Text for terminals.

/// Columns that a line of text takes at most.
pub(crate) const WIDTH: usize = 100;

/// A title and its text, wrapped beside it.
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

/// "did you mean ...?" with the name nearest to an unknown one, if any is near.
pub(crate) fn did_you_mean<'n>(
    unknown: &str,
    names: impl Iterator<Item = &'n str>,
) -> Option<String> {
    carom_wire::nearest_name(unknown, names).map(|name| format!("did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
