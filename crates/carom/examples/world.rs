//! A ball and a box in a container, watched as they move: `cargo run --release --example world`.
//!
//! The text is what `carom run world` takes; `carom show world` has every key.

use carom::motion::hybrid::Ending;
use carom::motion::world::{Event, Sample};
use carom::scenarios::World;
use std::error::Error;

const WORLD: &str = r#"
duration = 1.5
contact = { friction = 0.3, restitution = 0.5 }
planes = [
    { name = "floor", normal = [0.0, 0.0, 1.0] },
    { name = "wall", normal = [-1.0, 0.0, 0.0], offset = 1.0 },
]

[[bodies]]
name = "ball"
mass = 0.4
shape = { type = "sphere", radius = 0.1 }
position = [0.0, 0.0, 0.5]
velocity = [2.0, 0.0, 0.0]

[[bodies]]
name = "box"
mass = 1.0
shape = { type = "box", half_extents = [0.1, 0.2, 0.1] }
position = [0.6, 0.0, 0.1]
"#;

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    let world = World::from_toml(WORLD)?;
    let name = |thing: usize| world.world().name(thing);
    let mut rows = Vec::new();
    let end = world.run(&mut |event| match event {
        Event::Sample(Sample { time, states }) => {
            rows.extend((0..states.len()).map(|body| world.row(time, body, &states[body])));
        }
        Event::Impact(impact) => {
            let hit = &impact.contacts[0];
            let (first, second) = (name(hit.first), name(hit.second));
            println!("{:.6} s: {first} hits {second}", impact.time);
        }
        Event::Established {
            time,
            contact: (i, j),
        } => {
            println!("{time:.6} s: {} stays on {}", name(i), name(j));
        }
        _ => (),
    });
    assert_eq!(end.ending, Ending::Completed);
    println!("{} rows of {:?}", rows.len(), World::COLUMNS);
    let balance = &end.balance;
    println!(
        "impacts took {:.6} J, contacts {:.6} J; the balance is off by {:.1e} J",
        balance.impact_loss, balance.contact_loss, balance.energy_error
    );
    Ok(())
}
