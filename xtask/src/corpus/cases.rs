//! Corpora of random impact problems: *tame* ones, which every law should answer well, and *hostile* ones, which may be refused.

use super::draws::Draws;
use super::scene::Scene;
use super::{bodies, robots};
use crate::fuzz::options;
use carom_impact::{ContactCount, LAWS, LawInfo};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// Kind of mechanical system.
#[derive(Clone, Copy, Debug)]
enum Family {
    /// Any matrices and rows.
    Generic,
    PlanarBody,
    Box,
    Heap,
    Chain,
    Robot,
    Feet,
    BetweenWalls,
}

/// Laws that solve all contacts in one problem.
pub(crate) const AT_ONCE: [&str; 4] = ["plastic", "moreau-newton", "anitescu-potra", "poisson"];

const FAMILIES: [Family; 8] = [
    Family::Generic,
    Family::PlanarBody,
    Family::Box,
    Family::Heap,
    Family::Chain,
    Family::Robot,
    Family::Feet,
    Family::BetweenWalls,
];

impl Family {
    fn scene(self, draws: &mut Draws) -> Scene {
        match self {
            Self::Generic => bodies::generic(draws),
            Self::PlanarBody => bodies::planar_body(draws),
            Self::Box => bodies::boxed(draws),
            Self::Heap => bodies::heap(draws),
            Self::Chain => bodies::chain(draws),
            Self::Robot => robots::planar(draws),
            Self::Feet => robots::feet(draws),
            Self::BetweenWalls => bodies::between_walls(draws),
        }
    }

    /// Generates a problem of this family, or `None` if the random numbers give one that is not tame. Friction is reduced where
    /// it makes the friction cone contain a line.
    fn tame(self, numbers: Vec<f64>) -> Option<Scene> {
        let mut draws = Draws::new(numbers);
        let mut scene = self.scene(&mut draws).constrained(&mut draws);
        if !super::tame::is_scaled(&scene) {
            return None;
        }
        if !matches!(self, Self::BetweenWalls) {
            for _ in 0..4 {
                if super::tame::is_pointed(&scene) {
                    return Some(scene.made_to_approach());
                }
                for contact in &mut scene.contacts {
                    contact.friction *= 0.5;
                }
            }
            return None;
        }
        Some(scene.made_to_approach())
    }
}

/// Generates tame problems of all families with a law, its options and sometimes constraints, without a request for
/// derivatives. One in twelve has the form of bodies.
pub(crate) fn tame() -> BoxedStrategy<Value> {
    let scenes = (select(&FAMILIES[..]), Draws::numbers())
        .prop_filter_map("the problem is tame", |(family, numbers)| {
            family.tame(numbers)
        });
    prop_oneof![
        11 => asked(scenes.boxed()),
        1 => in_bodies(),
    ]
    .boxed()
}

/// Generates hostile problems with a law and its options.
pub(crate) fn hostile() -> BoxedStrategy<Value> {
    let scenes = Draws::numbers()
        .prop_map(|numbers| super::hostile::hostile(&mut Draws::new(numbers)).made_to_approach());
    asked(scenes.boxed())
}

/// Adds requests for derivatives, with directions of the right lengths, to random lines of laws that have derivatives.
pub(crate) fn differentiated(lines: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let lines = lines.prop_filter("the law has derivatives", |line| line["law"] != "poisson");
    (lines, Draws::numbers())
        .prop_map(|(mut line, numbers)| {
            line["derivative"] = derivative(&line, &mut Draws::new(numbers));
            line
        })
        .boxed()
}

fn in_bodies() -> BoxedStrategy<Value> {
    let laws: Vec<LawInfo> = LAWS
        .iter()
        .copied()
        .filter(|law| law.name == "two-body")
        .collect();
    (Draws::numbers(), select(laws))
        .prop_flat_map(|(numbers, law)| {
            let problem = bodies::bodies_form(&mut Draws::new(numbers));
            let shape = Shape {
                contacts: 1,
                tangents: 2,
            };
            (
                Just(problem),
                options(law, move |key| values(law.name, shape, key)),
            )
        })
        .prop_map(|(mut problem, options)| {
            problem["options"] = options;
            problem
        })
        .boxed()
}

/// Adds to random problems a law that admits them, and some of its options.
fn asked(scenes: BoxedStrategy<Scene>) -> BoxedStrategy<Value> {
    scenes
        .prop_flat_map(|scene| (select(admitting(&scene)), Just(scene)))
        .prop_flat_map(|(law, scene)| {
            let shape = Shape::of(&scene);
            let options = options(law, move |key| values(law.name, shape, key));
            (options, Just((law, scene)))
        })
        .prop_map(|(options, (law, scene))| {
            let mut line = scene.to_value();
            line["law"] = json!(law.name);
            line["options"] = options;
            line
        })
        .boxed()
}

/// Numbers of contacts, and of tangents of each, on which valid options depend.
#[derive(Clone, Copy, Debug)]
struct Shape {
    contacts: usize,
    tangents: usize,
}

impl Shape {
    fn of(scene: &Scene) -> Self {
        let first = scene.contacts.first();
        Self {
            contacts: scene.contacts.len(),
            tangents: first.map_or(0, |contact| contact.rows.len() - 1),
        }
    }
}

/// Returns the laws that admit a problem; those that solve all contacts at once stand in the list three times.
fn admitting(scene: &Scene) -> Vec<LawInfo> {
    let Shape { contacts, tangents } = Shape::of(scene);
    let admits = |law: &&LawInfo| {
        let takes_count = law.contacts == ContactCount::Any || contacts == 1;
        let takes_rows = match law.name {
            "two-body" => tangents == 2 && scene.constraints.is_empty() && scene.dim() > 2,
            "routh" => scene.dim() - scene.constraints.len().min(scene.dim()) > tangents,
            "nonholonomic-rough" => tangents > 0,
            _ => true,
        };
        takes_count && takes_rows
    };
    let laws = LAWS.iter().filter(admits).copied();
    laws.flat_map(|law| vec![law; if AT_ONCE.contains(&law.name) { 3 } else { 1 }])
        .collect()
}

/// Generates valid values of an option of a law for a problem of a shape. Limits are above what these problems need.
fn values(law: &str, shape: Shape, key: &str) -> BoxedStrategy<Value> {
    let of = |values: Vec<Value>| select(values).boxed();
    let backwards: Vec<usize> = (0..shape.contacts).rev().collect();
    let is_spatial = shape.tangents == 2;
    match (law, key) {
        ("propagative", "selection") => of(vec![
            json!("most-approaching"),
            json!("least-approaching"),
            json!({"priority": backwards}),
        ]),
        ("propagative", "outcomes") => of(vec![
            json!("one"),
            json!("all"),
            json!({"sample": 3, "seed": 5}),
        ]),
        ("propagative", "samples") => of(vec![json!(20), json!(2000)]),
        (_, "max_steps" | "max_impacts" | "max_nodes") => of(vec![json!(20_000)]),
        (_, "max_work") => of(vec![json!(1_000_000_000u64)]),
        (_, "sequences") => of(vec![json!("approaching"), json!("minimal")]),
        (_, "order") => of(vec![json!(backwards), json!([0])]),
        (_, "impulse_step") => of(vec![json!(0.25), json!(2)]),
        (_, "epsilon") => of(vec![json!(1e-6)]),
        (_, "branch") => of(vec![json!("fixed"), json!("random"), json!("auto")]),
        (_, "bounds") => of(vec![
            json!(null),
            json!(null),
            json!({"directions": "contact"}),
        ]),
        // In the plane a cone has two directions.
        (_, "friction_directions") if is_spatial => of(vec![json!(4), json!(8)]),
        (_, "friction_directions") => of(vec![json!(null), json!(2)]),
        (_, "friction_cone") if !is_spatial => of(vec![json!("round")]),
        ("anitescu-potra", "outcomes") if shape.tangents != 1 || shape.contacts > 4 => {
            of(vec![json!("one")])
        }
        _ => crate::fuzz::option_values(key),
    }
}

/// Draws the value of the key `derivative` of a line.
fn derivative(line: &Value, draws: &mut Draws) -> Value {
    if line.get("body1").is_some() || draws.chance(0.4) {
        return json!(true);
    }
    let n = line["velocity"].as_array().map_or(0, Vec::len);
    let mut row = |size: f64| -> Vec<f64> { (0..n).map(|_| size * draws.number()).collect() };
    let contacts: Vec<Value> = line["contacts"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
        .iter()
        .map(|contact| {
            let tangents = contact["tangents"].as_array().map_or(0, Vec::len);
            let tangents: Vec<Vec<f64>> = (0..tangents).map(|_| row(1.0)).collect();
            json!({"normal": row(1.0), "tangents": tangents, "friction": 0.5, "restitution": 0.25})
        })
        .collect();
    let velocity = row(1.0);
    let a: Vec<f64> = row(0.3);
    let mass: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| a[i] * a[j]).collect())
        .collect();
    let directions = match draws.count(0, 4) {
        0 => json!([{"velocity": velocity}]),
        1 => json!([{"mass_matrix": mass}]),
        2 => json!([{"contacts": contacts}]),
        3 => json!([{"velocity": velocity, "mass_matrix": mass, "contacts": contacts}]),
        _ => json!([]),
    };
    let wrt = match draws.count(0, 2) {
        0 => json!(["velocity"]),
        1 => json!(["friction", "restitution"]),
        _ => json!(null),
    };
    json!({"wrt": wrt, "directions": directions})
}
