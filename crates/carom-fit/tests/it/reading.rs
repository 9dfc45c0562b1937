//! Tables of poses: what is read, and what is refused at which line and column.

use crate::common::{cube, sample};
use carom_fit::{Setup, read_poses, unit_warnings};
use std::io::Read;

const HEADER: &str = "toss,t,x,y,z,qw,qx,qy,qz";

/// A file of one toss at 100 Hz with a line put in the place of another (the header is line 1).
fn with_line(line: usize, text: &str) -> String {
    let mut lines: Vec<String> = std::iter::once(HEADER.to_owned())
        .chain((0..14).map(|k| format!("7,{:.2},0,0,1,1,0,0,0", 0.01 * f64::from(k))))
        .collect();
    lines[line - 1] = text.to_owned();
    lines.join("\n")
}

#[test]
fn the_sample_is_twenty_tosses() {
    let tosses = sample();
    assert_eq!(tosses.len(), 20);
    let poses: usize = tosses.iter().map(|toss| toss.time.len()).sum();
    assert_eq!(poses, 1753);
}

/// The measured tosses in metres pass; in millimetres and centimetres they fall at about a thousand and a hundred times
/// gravity, and a body in millimetres does not fit the space in which it moves.
#[test]
fn lengths_in_other_units_are_guessed() {
    let setup = cube();
    assert_eq!(unit_warnings(&sample(), &setup), Vec::<String>::new());
    for (factor, name) in [(1e3, "millimetres"), (1e2, "centimetres")] {
        let mut tosses = sample();
        for position in tosses.iter_mut().flat_map(|toss| &mut toss.position) {
            *position *= factor;
        }
        let warnings = unit_warnings(&tosses, &setup);
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains(name) && warnings[0].contains("metres?"));
    }
    let mut large = cube();
    for vertex in &mut large.body.vertices {
        *vertex *= 1e3;
    }
    let warnings = unit_warnings(&sample(), &large);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("body.vertices"));
}

#[test]
fn columns_stand_in_any_order_beside_others() {
    let rows = (0..12).map(|k| format!("a,1,0,0,0,{k},2,3,4,7"));
    let text: Vec<String> = std::iter::once("note,qw,qx,qy,qz,t,x,y,z,toss".to_owned())
        .chain(rows)
        .collect();
    let table = read_poses(text.join("\r\n").as_bytes()).unwrap();
    assert_eq!(table.ignored, ["note"]);
    assert_eq!(table.tosses.len(), 1);
    assert_eq!(table.tosses[0].toss, 7);
    assert_eq!(table.tosses[0].position[3].as_slice(), [2.0, 3.0, 4.0]);
    assert!((table.tosses[0].time_step() - 1.0).abs() <= 1e-15);
}

#[test]
fn every_fault_is_named_with_its_line_and_column() {
    let many = |text: &str| with_line(5, text);
    let faults = [
        (String::new(), "line 1: ", "toss"),
        (HEADER.to_owned(), "line 1: ", "toss"),
        (HEADER.replace("qy,", ""), "line 1: ", "`qy`"),
        (HEADER.replace("qy", "qx"), "line 1: ", "`qx`"),
        (many("7,0.03,0,high,1,1,0,0,0"), "line 5: ", "`y`"),
        (many("7,0.03,0,0,nan,1,0,0,0"), "line 5: ", "`z`"),
        (many("7,0.03,0,0,1,inf,0,0,0"), "line 5: ", "`qw`"),
        (many("7,0.03,0,0,1e999,1,0,0,0"), "line 5: ", "`z`"),
        (many("7.5,0.03,0,0,1,1,0,0,0"), "line 5: ", "`toss`"),
        (many("-7,0.03,0,0,1,1,0,0,0"), "line 5: ", "`toss`"),
        (many("7,,0,0,1,1,0,0,0"), "line 5: ", "`t`"),
        (many("7,0.03,0,0,1,1,0,0"), "line 5: ", "`qz`"),
        (many("7,0.03,0,0,1,1,0,0,0,0"), "line 5: ", "`qz`"),
        (many("7,0.03,0,0,1,1.002,0,0,0"), "line 5: ", "`qw`"),
        (many("7,0.03,0,0,1,0,0,0,0"), "line 5: ", "`qw`"),
        (many("7,0.02,0,0,1,1,0,0,0"), "line 5: ", "`t`"),
        (many("7,0.01,0,0,1,1,0,0,0"), "line 5: ", "`t`"),
        (many("7,0.0361,0,0,1,1,0,0,0"), "line 5: ", "`t`"),
        (many("8,0.03,0,0,1,1,0,0,0"), "line 6: ", "`toss`"),
        (with_line(15, "7,0.2,0,0,1,1,0,0,0"), "line 15: ", "`t`"),
        (
            with_line(14, "\u{fffd},0.12,0,0,1,1,0,0,0"),
            "line 14: ",
            "`toss`",
        ),
    ];
    for (text, line, column) in faults {
        let message = read_poses(text.as_bytes()).unwrap_err().to_string();
        assert!(
            message.starts_with(line) && message.contains(column),
            "{message}"
        );
        assert!(!message.contains('\n'));
    }
    let few: Vec<String> = with_line(1, HEADER)
        .lines()
        .take(12)
        .map(str::to_owned)
        .collect();
    let message = read_poses(few.join("\n").as_bytes())
        .unwrap_err()
        .to_string();
    assert!(
        message.starts_with("line 12: ") && message.contains("11 poses"),
        "{message}"
    );
    let mut bytes = with_line(1, HEADER).into_bytes();
    bytes[60] = 0xff;
    let message = read_poses(&bytes[..]).unwrap_err().to_string();
    assert!(
        message.starts_with("line ") && message.contains("UTF-8"),
        "{message}"
    );
}

/// A table followed by one byte repeated for ever.
fn endless(table: &str, byte: u8) -> impl Read {
    let table = std::io::Cursor::new(table.to_owned().into_bytes());
    table.chain(std::io::repeat(byte))
}

#[test]
fn a_row_without_an_end_is_refused_at_its_line() {
    let table = with_line(1, HEADER);
    for (start, byte, line) in [
        ("", 0, "line 1: "),
        ("", b'x', "line 1: "),
        ("", b'\n', "line 1: "),
        (&*table, b'0', "line 15: "),
        (&format!("{table}\n"), b'\n', "line 16: "),
        // A quoted field may go over several lines.
        (&format!("{table}\n7,\""), b'\n', "line 16: "),
    ] {
        let message = read_poses(endless(start, byte)).unwrap_err().to_string();
        assert!(
            message.starts_with(line) && message.contains("more than 1 MiB"),
            "{message}"
        );
    }
}

/// Rows of one toss without an end, 100 a second.
struct Rows {
    next: u64,
    text: Vec<u8>,
    given: usize,
}

impl Read for Rows {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        // Ignored columns keep the kept poses few.
        if self.given == self.text.len() {
            let (time, note) = (self.next as f64 / 100.0, "x".repeat(1 << 19));
            self.text = format!("7,{time:.2},0,0,1,1,0,0,0,{note}\n").into_bytes();
            (self.next, self.given) = (self.next + 1, 0);
        }
        let n = (&self.text[self.given..]).read(buffer)?;
        self.given += n;
        Ok(n)
    }
}

#[test]
fn a_table_without_an_end_is_refused() {
    let header = format!("{HEADER},note\n");
    let rows = Rows {
        next: 0,
        text: Vec::new(),
        given: 0,
    };
    let table = header.as_bytes().chain(rows);
    let message = read_poses(table).unwrap_err().to_string();
    assert!(message.contains("more than 512 MiB"), "{message}");
}

#[test]
fn configurations_are_refused_with_line_and_key() {
    let good = "[body]\nmass = 1.0\ninertia = 0.01\nhalf_extents = [0.1, 0.1, 0.1]\n\
                [plane]\nnormal = [0.0, 0.0, 1.0]\noffset = 0.0\n";
    assert!(Setup::from_toml(good).is_ok());
    for (from, to, line, key) in [
        ("mass = 1.0", "mass = -1.0", "line 2", "mass"),
        ("mass = 1.0", "mass = nan", "line 2", "mass"),
        ("mass = 1.0", "mas = 1.0", "line 2", "mas"),
        ("inertia = 0.01", "inertia = 0.0", "line 3", "inertia"),
        (
            "inertia = 0.01",
            "inertia = \"solid\"",
            "line 3",
            "three rows",
        ),
        (
            "inertia = 0.01",
            "inertia = [[1.0,0,0],[0,1.0,0],[0,0,9.0]]",
            "line 3",
            "inertia",
        ),
        (
            "half_extents = [0.1, 0.1, 0.1]",
            "half_extents = [0.1, 0.0, 0.1]",
            "line 4",
            "half_extents",
        ),
        (
            "half_extents = [0.1, 0.1, 0.1]",
            "vertices = []",
            "",
            "vertices",
        ),
        (
            "normal = [0.0, 0.0, 1.0]",
            "normal = [0.0, 0.0, 0.0]",
            "line 6",
            "normal",
        ),
        ("offset = 0.0", "offset = \"guess\"", "line 7", "estimate"),
        ("offset = 0.0", "offset = inf", "line 7", "offset"),
        (
            "[body]",
            "[data]\nid = \"drop\"\n[body]",
            "line 1",
            "`data`",
        ),
        (
            "offset = 0.0",
            "offset = 0.0\n[detect]\nband = -1.0",
            "",
            "band",
        ),
        (
            "offset = 0.0",
            "offset = 0.0\n[published]\nrestitution = 0.1\nfriction = -0.2",
            "line 10",
            "published.friction",
        ),
    ] {
        let message = Setup::from_toml(&good.replace(from, to))
            .unwrap_err()
            .to_string();
        assert!(
            message.starts_with(line) && message.contains(key),
            "{to}: {message}"
        );
    }
}
