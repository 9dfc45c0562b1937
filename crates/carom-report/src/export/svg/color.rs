//! Colors of figures on light and dark pages.

use plotters::style::RGBColor;

use std::fmt::Write as _;

use super::round::whole;
use crate::record::Color;

pub(super) const INK: RGBColor = RGBColor(34, 34, 34);
pub(super) const FRAME: RGBColor = RGBColor(70, 70, 70);
pub(super) const GRID: RGBColor = RGBColor(228, 228, 228);
pub(super) const MINOR_GRID: RGBColor = RGBColor(243, 243, 243);
pub(super) const PAPER: RGBColor = RGBColor(255, 255, 255);

/// Returns the RGB value of a named color, from the palette of Okabe and Ito.
pub(super) fn rgb(color: Color) -> RGBColor {
    match color {
        Color::Black => RGBColor(0, 0, 0),
        Color::Blue => RGBColor(0, 114, 178),
        Color::Orange => RGBColor(230, 159, 0),
        Color::Green => RGBColor(0, 158, 115),
        Color::Vermillion => RGBColor(213, 94, 0),
        Color::Purple => RGBColor(204, 121, 167),
        Color::Sky => RGBColor(86, 180, 233),
        Color::Gray => RGBColor(128, 128, 128),
    }
}

/// Replacement of colors on dark pages: the color drawn, and the color shown instead.
const DARK: [(RGBColor, &str); 12] = [
    (PAPER, "#15171a"),
    (INK, "#e4e4e2"),
    (FRAME, "#9a9da1"),
    (GRID, "#34383d"),
    (MINOR_GRID, "#24272b"),
    (RGBColor(0, 0, 0), "#e4e4e2"),
    (RGBColor(0, 114, 178), "#3f97d3"),
    (RGBColor(0, 158, 115), "#1fb88c"),
    (RGBColor(213, 94, 0), "#e8743b"),
    (RGBColor(204, 121, 167), "#d78fb8"),
    (RGBColor(86, 180, 233), "#7cc7f2"),
    (RGBColor(128, 128, 128), "#9a9a9a"),
];

/// Returns a CSS style element that replaces the colors of an SVG drawing on devices with dark mode. `drawing` is the text
/// of the drawing; only colors that occur in it get a rule.
pub(super) fn dark_style(drawing: &str) -> String {
    let mut rules = String::from("<style>@media (prefers-color-scheme:dark){");
    for (RGBColor(r, g, b), shown) in DARK {
        for attribute in ["fill", "stroke"] {
            let drawn = format!("{attribute}=\"#{r:02X}{g:02X}{b:02X}\"");
            if drawing.contains(&drawn) {
                // Writing to a string cannot fail.
                let _ = write!(rules, "[{drawn}]{{{attribute}:{shown}}}");
            }
        }
    }
    rules.push_str("}</style>");
    rules
}

/// Returns the color at position `share`, from 0 to 1, of the color map Viridis. Colors are interpolated linearly between
/// ten equally spaced ones.
pub(super) fn viridis(share: f64) -> RGBColor {
    const STOPS: [[u8; 3]; 10] = [
        [68, 1, 84],
        [72, 40, 120],
        [62, 73, 137],
        [49, 104, 142],
        [38, 130, 142],
        [31, 158, 137],
        [53, 183, 121],
        [110, 206, 88],
        [181, 222, 43],
        [253, 231, 37],
    ];
    let position = share.clamp(0.0, 1.0) * 9.0;
    let index = usize::try_from(whole(position.floor())).unwrap_or(0).min(8);
    let part = position - position.floor().min(8.0);
    let stop = |i: usize| STOPS.get(i).copied().unwrap_or_default();
    let ([r0, g0, b0], [r1, g1, b1]) = (stop(index), stop(index + 1));
    let blend = |a: u8, b: u8| {
        let mixed = f64::from(a) + part * (f64::from(b) - f64::from(a));
        u8::try_from(whole(mixed.round())).unwrap_or(u8::MAX)
    };
    RGBColor(blend(r0, r1), blend(g0, g1), blend(b0, b1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_color_but_orange_has_a_dark_form() {
        for color in [
            Color::Black,
            Color::Blue,
            Color::Green,
            Color::Vermillion,
            Color::Purple,
            Color::Sky,
            Color::Gray,
        ] {
            let RGBColor(r, g, b) = rgb(color);
            let drawn = format!("stroke=\"#{r:02X}{g:02X}{b:02X}\"");
            let style = dark_style(&format!("<path {drawn}/>"));
            assert!(style.contains(&format!("[{drawn}]")), "{color:?}");
            assert!(!style.contains("fill"), "{style}");
        }
        let paper = dark_style("<polygon fill=\"#FFFFFF\"/>");
        assert!(paper.contains("[fill=\"#FFFFFF\"]{fill:#15171a}"));
    }

    #[test]
    fn the_map_brightens() {
        let light = |i: i32| {
            let RGBColor(r, g, b) = viridis(f64::from(i) / 100.0);
            0.2126 * f64::from(r) + 0.7152 * f64::from(g) + 0.0722 * f64::from(b)
        };
        assert!((0..100).all(|i| light(i) < light(i + 1) + 0.5));
        assert!(light(100) > light(0) + 150.0);
    }
}
