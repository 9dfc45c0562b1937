//! Reports in the JUnit XML format of build servers.

use crate::Failure;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// Outcome of a test case.
pub(crate) enum Outcome {
    /// No fault was found.
    Passed,
    /// The input was judged and has a fault, described here.
    Failed(String),
    /// The input could not be judged; the text is the reason.
    Error(String),
}

/// One test case.
pub(crate) struct Case {
    /// Name of the case.
    pub(crate) name: String,
    /// Outcome of the case.
    pub(crate) outcome: Outcome,
}

/// Test cases of one run.
pub(crate) struct Suite {
    name: &'static str,
    /// Test cases in order.
    pub(crate) cases: Vec<Case>,
}

impl Suite {
    /// Creates a JUnit test suite called `name` without test cases.
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            cases: Vec::new(),
        }
    }

    /// Returns the test suite as a JUnit report in XML.
    fn xml(&self) -> String {
        let count = |is: fn(&Outcome) -> bool| self.cases.iter().filter(|c| is(&c.outcome)).count();
        let failures = count(|outcome| matches!(outcome, Outcome::Failed(_)));
        let errors = count(|outcome| matches!(outcome, Outcome::Error(_)));
        let name = escaped(self.name);
        let numbers = format!(
            r#"name="{name}" tests="{}" failures="{failures}" errors="{errors}" skipped="0""#,
            self.cases.len()
        );
        let mut xml = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {numbers}>\n<testsuite {numbers}>\n"
        );
        for case in &self.cases {
            let head = format!(
                r#"<testcase classname="{name}" name="{}""#,
                escaped(&case.name)
            );
            // Writing to a string cannot fail.
            let _ = match &case.outcome {
                Outcome::Passed => writeln!(xml, "{head}/>"),
                Outcome::Failed(message) => writeln!(
                    xml,
                    r#"{head}><failure message="{}"/></testcase>"#,
                    escaped(message)
                ),
                Outcome::Error(message) => writeln!(
                    xml,
                    r#"{head}><error message="{}"/></testcase>"#,
                    escaped(message)
                ),
            };
        }
        xml.push_str("</testsuite>\n</testsuites>\n");
        xml
    }

    /// Writes the JUnit report to the file `path`. If that fails, an existing file stays unchanged.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] if the file cannot be written.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Failure> {
        let unwritten = |error| Failure::Usage(format!("cannot write {}: {error}", path.display()));
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(unwritten)?;
        file.write_all(self.xml().as_bytes()).map_err(unwritten)?;
        file.persist(path).map_err(|error| unwritten(error.error))?;
        Ok(())
    }
}

/// Escapes a text for use in an XML attribute. Characters that XML cannot represent are replaced by U+FFFD.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' => out.push_str("&#9;"),
            '\n' => out.push_str("&#10;"),
            '\0'..=' ' if c != ' ' => out.push('\u{fffd}'),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
