//! A ball and a box in a container, watched as they move: `cargo run --release --example world`.
//!
//! The text is what `carom run world` takes; `carom show world` has every key.

use carom::motion::hybrid::Ending;
use carom::scenarios::World;
use carom::world::Event;
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
        Event::Sample(now) => {
            let bodies = now.states.iter().enumerate();
            rows.extend(bodies.map(|(body, state)| world.row(now.time, body, state)));
        }
        Event::Impact(impact) => {
            let hit = &impact.contacts[0];
            let [first, second] = [hit.first, hit.second].map(name);
            println!("{:.6} s: {first} hits {second}", impact.time);
        }
        Event::Established { time, contact } => {
            let [first, second] = [contact.0, contact.1].map(name);
            println!("{time:.6} s: {first} stays on {second}");
        }
        _ => (),
    });
    assert_eq!(end.ending, Ending::Completed);
    println!("{} rows of {:?}", rows.len(), World::COLUMNS);
    let (lost, rubbed) = (end.balance.impact_loss, end.balance.contact_loss);
    let error = end.balance.energy_error;
    println!("impacts took {lost:.6} J, contacts {rubbed:.6} J, the balance errs by {error:.0e} J");
    Ok(())
}
