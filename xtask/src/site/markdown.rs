//! Markdown to HTML: links as the site has them, formulas for KaTeX, the sections for the search.

use carom_report::export::html::escape;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

/// A document as HTML.
pub(super) struct Rendered {
    pub(super) html: String,
    pub(super) sections: Vec<Section>,
    pub(super) has_formulas: bool,
}

/// A heading and the text below it, for the search.
#[derive(Default)]
pub(super) struct Section {
    /// The `id` of the heading.
    pub(super) anchor: String,
    pub(super) title: String,
    pub(super) text: String,
}

/// Renders a Markdown text; `link` turns the target of a link or an image into one of the site.
pub(super) fn render(text: &str, link: &mut dyn FnMut(&str) -> String) -> Rendered {
    let options = Options::ENABLE_TABLES | Options::ENABLE_MATH | Options::ENABLE_STRIKETHROUGH;
    let mut writer = Writer {
        link,
        sections: vec![Section::default()],
        has_formulas: false,
        heading: None,
    };
    let mut events = Vec::new();
    for event in Parser::new_ext(text, options) {
        writer.add(event, &mut events);
    }
    let mut out = String::new();
    html::push_html(&mut out, events.into_iter());
    Rendered {
        html: out,
        sections: writer.sections,
        has_formulas: writer.has_formulas,
    }
}

/// State while the events of a document are rewritten.
struct Writer<'l> {
    link: &'l mut dyn FnMut(&str) -> String,
    sections: Vec<Section>,
    has_formulas: bool,
    /// Place of the opening tag of the heading that is being read, which gets its `id` at the end of the heading.
    heading: Option<usize>,
}

impl Writer<'_> {
    fn add<'t>(&mut self, event: Event<'t>, out: &mut Vec<Event<'t>>) {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                self.sections.push(Section::default());
                self.heading = Some(out.len());
                out.push(event);
            }
            Event::End(TagEnd::Heading(_)) => {
                self.name_heading(out);
                out.push(event);
            }
            Event::Start(Tag::Link {
                link_type,
                dest_url,
                title,
                id,
            }) => out.push(Event::Start(Tag::Link {
                link_type,
                dest_url: (self.link)(&dest_url).into(),
                title,
                id,
            })),
            Event::Start(Tag::Image {
                link_type,
                dest_url,
                title,
                id,
            }) => out.push(Event::Start(Tag::Image {
                link_type,
                dest_url: (self.link)(&dest_url).into(),
                title,
                id,
            })),
            Event::Start(Tag::Table(_)) => {
                out.push(Event::Html("<div class=\"scroll\">".into()));
                out.push(event);
            }
            Event::End(TagEnd::Table) => {
                out.push(event);
                out.push(Event::Html("</div>\n".into()));
            }
            Event::InlineMath(tex) => out.push(self.formula(&tex, "math")),
            Event::DisplayMath(tex) => out.push(self.formula(&tex, "math display")),
            Event::Text(ref text) | Event::Code(ref text) => {
                self.note(text);
                out.push(event);
            }
            Event::SoftBreak | Event::HardBreak | Event::End(_) => {
                self.note(" ");
                out.push(event);
            }
            _ => out.push(event),
        }
    }

    /// Adds words to the title or the text of the current section.
    fn note(&mut self, words: &str) {
        let is_heading = self.heading.is_some();
        if let Some(section) = self.sections.last_mut() {
            let to = if is_heading {
                &mut section.title
            } else {
                &mut section.text
            };
            to.push_str(words);
        }
    }

    /// Gives the heading that ends here its `id`.
    fn name_heading(&mut self, out: &mut [Event<'_>]) {
        let anchor = self
            .sections
            .last()
            .map(|section| slug(&section.title))
            .unwrap_or_default();
        let again = self.sections.iter().filter(|s| slug(&s.title) == anchor);
        let anchor = match again.count() {
            0 | 1 => anchor,
            n => format!("{anchor}-{}", n - 1),
        };
        let opening = self.heading.take().and_then(|at| out.get_mut(at));
        if let Some(Event::Start(Tag::Heading { id, .. })) = opening {
            *id = Some(CowStr::from(anchor.clone()));
        }
        if let Some(section) = self.sections.last_mut() {
            section.anchor = anchor;
        }
    }

    fn formula<'t>(&mut self, tex: &str, class: &str) -> Event<'t> {
        self.has_formulas = true;
        let tex = escape(&unescaped(tex));
        Event::InlineHtml(format!("<span class=\"{class}\">{tex}</span>").into())
    }
}

/// Removes the backslashes that the chapters write for Markdown processors without formulas, which eat one of `\\` and the one
/// before any other punctuation.
fn unescaped(tex: &str) -> String {
    let mut out = String::new();
    let mut letters = tex.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some(next)) if next.is_ascii_punctuation() => out.extend(letters.next()),
            _ => out.push(letter),
        }
    }
    out
}

/// Returns the `id` of a heading, as code forges make it.
pub(crate) fn slug(title: &str) -> String {
    let letters = title.trim().to_lowercase();
    let letters = letters.chars().filter_map(|char| match char {
        ' ' => Some('-'),
        '-' | '_' => Some(char),
        _ => char.is_alphanumeric().then_some(char),
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_formulas_and_headings_become_the_sites() {
        let text = "# A `b`\n[c](d.md#e) $x_i \\\\\\\\ \\lVert<1$\n\n$$ a $$\n\n## Two\ntext\n\n## Two\n\n| a |\n|---|\n| b |\n";
        let done = render(text, &mut |target| format!("x/{target}"));
        assert!(done.has_formulas);
        for part in [
            "<h1 id=\"a-b\">",
            "href=\"x/d.md#e\"",
            "<span class=\"math\">x_i \\\\ \\lVert&lt;1</span>",
            "<span class=\"math display\"> a </span>",
            "<h2 id=\"two\">",
            "<h2 id=\"two-1\">",
            "<div class=\"scroll\"><table>",
        ] {
            assert!(done.html.contains(part), "{part}: {}", done.html);
        }
        let titles: Vec<&str> = done.sections.iter().map(|s| s.title.trim()).collect();
        assert_eq!(titles, ["", "A b", "Two", "Two"]);
        assert_eq!(done.sections[2].text.trim(), "text");
    }
}
