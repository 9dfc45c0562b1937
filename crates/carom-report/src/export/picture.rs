//! Figures as SVG, and with the feature `pictures` as PNG and PDF.

use super::{ExportError, svg};
use crate::record::Figure;
use std::str::FromStr;

/// File format of figures: SVG, PNG or PDF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Format {
    /// SVG: vector graphics for web pages.
    Svg,
    /// PNG: pixels, two per unit of the SVG along both axes.
    Png,
    /// PDF: vector graphics for print; text stays text.
    Pdf,
}

impl Format {
    /// All file formats of figures: SVG, PNG and PDF.
    pub const ALL: [Self; 3] = [Self::Svg, Self::Png, Self::Pdf];

    /// Returns the file name extension of the figure format, for example `svg`.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }

    /// Draws a figure in this file format. Returns the contents of the file.
    ///
    /// # Errors
    ///
    /// If the figure cannot be drawn; [`ExportError::Pictures`] without the feature `pictures`.
    pub fn draw(self, figure: &Figure) -> Result<Vec<u8>, ExportError> {
        let text = svg::svg(figure)?;
        match self {
            Self::Svg => Ok(text.into_bytes()),
            #[cfg(feature = "pictures")]
            Self::Png => drawn::png(&text),
            #[cfg(feature = "pictures")]
            Self::Pdf => drawn::pdf(&text),
            #[cfg(not(feature = "pictures"))]
            Self::Png | Self::Pdf => Err(ExportError::Pictures(self.extension())),
        }
    }
}

impl FromStr for Format {
    type Err = ExportError;

    fn from_str(text: &str) -> Result<Self, ExportError> {
        let known = Self::ALL.into_iter().find(|f| f.extension() == text);
        known.ok_or_else(|| match text {
            "mp4" | "webm" | "gif" => ExportError::Film(text.to_owned()),
            _ => ExportError::Format(text.to_owned()),
        })
    }
}

#[cfg(feature = "pictures")]
mod drawn {
    use super::ExportError;
    use std::sync::{Arc, OnceLock};
    use svg2pdf::usvg::fontdb::Database;
    use svg2pdf::usvg::{Options, Tree};

    /// Pixels per unit of the SVG.
    const SCALE: f32 = 2.0;

    fn failed(error: impl std::fmt::Display) -> ExportError {
        ExportError::Drawing(error.to_string())
    }

    /// Returns the fonts that are installed on the system. The first call reads the fonts; later calls return the stored ones.
    fn fonts() -> Result<Arc<Database>, ExportError> {
        static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
        let fonts = FONTS.get_or_init(|| {
            let mut fonts = Database::new();
            fonts.load_system_fonts();
            // The figures ask for `sans-serif`; if no font has that name, another sans-serif font is used.
            let sans = [
                "Arial",
                "Helvetica",
                "DejaVu Sans",
                "Liberation Sans",
                "Noto Sans",
            ];
            let has = |family: &str| {
                let mut names = fonts.faces().flat_map(|face| &face.families);
                names.any(|(name, _)| name == family)
            };
            let found = sans
                .into_iter()
                .find(|family| has(family))
                .map(str::to_owned);
            let first = || Some(fonts.faces().next()?.families.first()?.0.clone());
            if let Some(family) = found.or_else(first) {
                fonts.set_sans_serif_family(family);
            }
            Arc::new(fonts)
        });
        if fonts.is_empty() {
            return Err(failed(
                "no font is installed, which text in PNG and PDF needs",
            ));
        }
        Ok(Arc::clone(fonts))
    }

    fn tree(svg: &str) -> Result<Tree, ExportError> {
        let options = Options {
            fontdb: fonts()?,
            ..Options::default()
        };
        Tree::from_str(svg, &options).map_err(failed)
    }

    pub(super) fn png(svg: &str) -> Result<Vec<u8>, ExportError> {
        use resvg::tiny_skia::{Color, Pixmap, Transform};
        let tree = tree(svg)?;
        let size = tree.size().to_int_size().scale_by(SCALE);
        let size = size.ok_or_else(|| failed("a figure without extent"))?;
        let pixels = Pixmap::new(size.width(), size.height());
        let mut pixels = pixels.ok_or_else(|| failed("a figure without extent"))?;
        pixels.fill(Color::WHITE);
        resvg::render(
            &tree,
            Transform::from_scale(SCALE, SCALE),
            &mut pixels.as_mut(),
        );
        pixels.encode_png().map_err(failed)
    }

    pub(super) fn pdf(svg: &str) -> Result<Vec<u8>, ExportError> {
        let page = svg2pdf::PageOptions::default();
        svg2pdf::to_pdf(&tree(svg)?, svg2pdf::ConversionOptions::default(), page).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_read_by_their_names() {
        for format in Format::ALL {
            assert_eq!(format.extension().parse::<Format>().ok(), Some(format));
        }
        assert!("bmp".parse::<Format>().is_err());
    }

    #[cfg(feature = "pictures")]
    #[test]
    fn a_figure_is_drawn_in_every_format() -> Result<(), ExportError> {
        let figure = &super::super::tests::record().figures[0];
        let [svg, png, pdf] = Format::ALL.map(|format| format.draw(figure));
        assert!(svg?.starts_with(b"<svg"));
        assert!(png?.starts_with(b"\x89PNG\r\n"));
        assert!(pdf?.starts_with(b"%PDF-"));
        Ok(())
    }
}
