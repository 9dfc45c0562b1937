//! Columns of velocities that were exchanged.

use super::Kind;

pub(super) static KIND: Kind = Kind {
    name: "swapped",
    choices: |system, n| {
        let names = system.coordinates(n);
        let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| [a, b]));
        let change = |pair: [usize; 2]| {
            let names = pair.map(|k| names[k].clone()).to_vec();
            KIND.change(names, pair.to_vec(), Vec::new())
        };
        pairs.map(change).collect()
    },
    velocity: |change, _, velocity, _| {
        if let [a, b] = change.places[..] {
            velocity.swap(a, b);
        }
    },
    words: |change| format!("the velocities of {} exchanged", change.names.join(" and ")),
    ..Kind::NONE
};
