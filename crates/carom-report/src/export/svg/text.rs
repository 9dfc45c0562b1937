//! Width of text, and its division into lines.

/// Font size of tick labels (pixels).
pub(super) const TICK_SIZE: f64 = 13.0;
/// Font size of the axis labels (pixels).
pub(super) const LABEL_SIZE: f64 = 15.0;
/// Font size of labels in the plot and of the legend (pixels).
pub(super) const NOTE_SIZE: f64 = 13.0;

/// Estimates the width (pixels) of a text at the font size `size` (pixels). The estimate is rather too large, because the
/// font is chosen later by the viewer.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' | ' ' => 0.32,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' | 'I' => 0.4,
        '⁰'..='⁹' | '⁻' | '¹' | '²' | '³' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.93,
        'A'..='Z' => 0.7,
        '\u{300}'..='\u{36f}' => 0.0,
        _ => 0.62,
    };
    size * text.chars().map(em).sum::<f64>()
}

/// Breaks a text between words into lines of at most `width` pixels at the font size `size` (pixels).
pub(super) fn wrap(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), size) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
