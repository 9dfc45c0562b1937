//! Bodies stand where statics allows it, from event to event and in time steps; a little beyond their threshold they move.

use carom_scenarios::{Overrides, Record, scenario};
use std::f64::consts::PI;
use std::fmt::Write;

const SCHEMES: [&str; 2] = ["events", "time-stepping"];

/// Standard gravity (m/s²).
const G: f64 = 9.80665;

/// Runs bodies on a floor.
fn run(scheme: &str, friction: f64, duration: f64, rest: &str) -> Record {
    run_under([0.0, 0.0, -G], scheme, friction, duration, rest)
}

fn run_under(gravity: [f64; 3], scheme: &str, friction: f64, duration: f64, rest: &str) -> Record {
    let toml = format!(
        "duration = {duration:?}\ngravity = {gravity:?}\nscheme = {scheme:?}\ncontact = {{ friction = {friction:?}, restitution = 0.0 }}\n\
         [[planes]]\nname = \"floor\"\nnormal = [0.0, 0.0, 1.0]\noffset = 0.0\n{rest}"
    );
    let overrides = Overrides {
        toml,
        ..Overrides::default()
    };
    let record = scenario("world").unwrap().run(&overrides).unwrap();
    assert_eq!(record.status, "completed");
    record
}

/// Positions of all bodies (m) at the start and at the end.
fn places(record: &Record) -> [Vec<[f64; 3]>; 2] {
    let rows = record.results["trajectory"]["rows"].as_array().unwrap();
    let n = rows
        .iter()
        .map(|row| row[1].as_u64().unwrap())
        .max()
        .unwrap() as usize
        + 1;
    let place = |row: &serde_json::Value| [2, 3, 4].map(|k: usize| row[k].as_f64().unwrap());
    let of = |rows: &[serde_json::Value]| rows.iter().map(place).collect();
    [of(&rows[..n]), of(&rows[rows.len() - n..])]
}

/// Largest change of a coordinate (m).
fn moved(record: &Record) -> f64 {
    let [start, end] = places(record);
    let all = start.iter().zip(&end);
    all.flat_map(|(a, b)| (0..3).map(move |k| (a[k] - b[k]).abs()))
        .fold(0.0, f64::max)
}

/// Two cards that lean on each other, `angle` (rad) from upright: half length, half thickness, and radius of their edges (m).
struct Cards {
    length: f64,
    thickness: f64,
    eps: f64,
}

impl Cards {
    /// Friction above which they stand.
    fn threshold(&self, angle: f64) -> f64 {
        let (sin, cos) = angle.sin_cos();
        (self.length * sin - self.thickness * cos) / (2.0 * self.length * cos + self.eps)
    }

    fn toml(&self, angle: f64) -> String {
        let Self {
            length,
            thickness,
            eps,
        } = *self;
        let (sin, cos) = angle.sin_cos();
        let x = thickness * cos + length * sin + eps;
        let z = thickness * sin + length * cos + eps;
        let sharp =
            format!("{{ type = \"box\", half_extents = [{thickness:?}, 0.03, {length:?}] }}");
        let shape = if eps == 0.0 {
            sharp
        } else {
            format!("{{ type = \"rounded\", eps = {eps:?}, base = {sharp} }}")
        };
        let [w, y] = [(0.5 * angle).cos(), (0.5 * angle).sin()];
        let card = |name: &str, side: f64| {
            format!(
                "[[bodies]]\nname = {name:?}\nmass = 0.0018\nshape = {shape}\nposition = [{:?}, 0.0, {z:?}]\n\
                 quaternion = [{w:?}, 0.0, {:?}, 0.0]\n",
                -side * x,
                side * y
            )
        };
        card("left", 1.0) + &card("right", -1.0)
    }
}

const SHARP: Cards = Cards {
    length: 0.045,
    thickness: 0.0005,
    eps: 0.0,
};
const ROUND: Cards = Cards {
    length: 0.09,
    thickness: 0.001,
    eps: 0.0005,
};

#[test]
fn cards_stand_above_their_threshold_and_slide_below_it() {
    for (cards, degrees) in [(SHARP, 15.0), (SHARP, 40.0), (ROUND, 10.0), (ROUND, 25.0)] {
        let angle = f64::to_radians(degrees);
        let (toml, threshold) = (cards.toml(angle), cards.threshold(angle));
        for scheme in SCHEMES {
            let stands = moved(&run(scheme, 1.01 * threshold, 0.3, &toml));
            assert!(stands <= 1e-7, "{scheme}, {degrees}: {stands:e}");
            let slides = moved(&run(scheme, 0.99 * threshold, 0.1, &toml));
            assert!(slides >= 1e-5, "{scheme}, {degrees}: {slides:e}");
        }
    }
}

#[test]
fn sliding_cards_keep_their_mirror_image() {
    let angle = f64::to_radians(25.0);
    let schemes = SCHEMES.map(|scheme| {
        let record = run(
            scheme,
            0.99 * ROUND.threshold(angle),
            0.2,
            &ROUND.toml(angle),
        );
        let [_, end] = places(&record);
        let (left, right) = (end[0], end[1]);
        assert!((left[0] + right[0]).abs() <= 1e-6, "{scheme}: {end:?}");
        assert!((left[2] - right[2]).abs() <= 1e-6, "{scheme}: {end:?}");
        moved(&record)
    });
    assert!(
        (schemes[0] - schemes[1]).abs() <= 4e-2 * schemes[0],
        "{schemes:?}"
    );
}

/// A semicircular arch of nine blocks between the radii 1 m and 1.3 m, .6 m deep.
fn arch() -> String {
    const N: usize = 9;
    let half = 0.5 * PI / N as f64;
    let (inner, outer, depth) = (1.0_f64, 1.3_f64, 0.3);
    let middle =
        2.0 / 3.0 * half.cos() * (outer.powi(3) - inner.powi(3)) / (outer.powi(2) - inner.powi(2));
    let mut out = String::new();
    for block in 0..N {
        let angle = (2 * block + 1) as f64 * half;
        let [x, z] = [middle * angle.cos(), middle * angle.sin()];
        let mut vertices = Vec::new();
        for (radius, side) in [(inner, -half), (inner, half), (outer, -half), (outer, half)] {
            for y in [-depth, depth] {
                let at = angle + side;
                vertices.push([radius * at.cos() - x, y, radius * at.sin() - z]);
            }
        }
        writeln!(
            out,
            "[[bodies]]\nname = \"v{block}\"\nmass = 100.0\nposition = [{x:?}, 0.0, {z:?}]\n\
             shape = {{ type = \"polyhedron\", vertices = {vertices:?} }}"
        )
        .unwrap();
    }
    out
}

/// A linear program of statics gives the threshold 0.3089884.
#[test]
fn an_arch_stands_above_its_threshold_and_slides_below_it() {
    let arch = arch();
    for scheme in SCHEMES {
        for friction in [1.003 * 0.3089884, 0.30899] {
            let stands = moved(&run(scheme, friction, 0.3, &arch));
            assert!(stands <= 1e-7, "{scheme}, {friction}: {stands:e}");
        }
        let slides = moved(&run(scheme, 0.997 * 0.3089884, 0.05, &arch));
        assert!(slides >= 1e-5, "{scheme}: {slides:e}");
    }
}

/// A ball on a slope of 1e-6 rad rolls, and a block 1e-6 rad off its balance falls.
#[test]
fn what_statics_does_not_hold_moves() {
    for scheme in SCHEMES {
        let ball = "[[bodies]]\nname = \"ball\"\nmass = 1.0\nposition = [0.0, 0.0, 0.1]\n\
                    shape = { type = \"sphere\", radius = 0.1 }\n";
        let rolled = moved(&run_under([1e-6 * G, 0.0, -G], scheme, 0.5, 0.5, ball));
        let expected = 0.5 * 1e-6 * G * 5.0 / 7.0 * 0.25;
        assert!(
            (rolled / expected - 1.0).abs() <= 1e-2,
            "{scheme}: {rolled:e}, not {expected:e}"
        );

        let tilt: f64 = 0.25 * PI + 1e-6;
        let [w, y] = [(0.5 * tilt).cos(), (0.5 * tilt).sin()];
        let height = 0.1 * (tilt.sin() + tilt.cos());
        let block = format!(
            "[[bodies]]\nname = \"block\"\nmass = 1.0\nposition = [0.0, 0.0, {height:?}]\n\
             shape = {{ type = \"box\", half_extents = [0.1, 0.2, 0.1] }}\nquaternion = [{w:?}, 0.0, {y:?}, 0.0]\n"
        );
        // The angle from the balance grows as a hyperbolic cosine.
        let rate = (G * 0.375 * 2.0_f64.sqrt() / 0.1).sqrt();
        let fallen = moved(&run(scheme, 1.0, 0.5, &block));
        let expected = 1e-6 * ((0.5 * rate).cosh() - 1.0) * 0.1 * 2.0_f64.sqrt();
        assert!(
            (fallen / expected - 1.0).abs() <= 2e-2,
            "{scheme}: {fallen:e}, not {expected:e}"
        );
    }
}
