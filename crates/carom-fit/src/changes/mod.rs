//! Changes that mend a file of measured impacts: a wrong sign, unit, order or point.
//!
//! A change says that true velocities are $Tv + o$ of those in the file, with other contact rows $J'$ and another mass matrix
//! $M'$. Its text is `kind[:name[,name]][=number[,number]]`.

mod angle_sense;
mod center;
mod degrees;
mod entries;
mod inertia;
mod normals_reversed;
mod point;
mod radians;
mod reversed;
mod rows_shifted;
mod scale;
mod swapped;
mod text;
mod time;
mod velocity_sign;

use crate::states::State;
use crate::system::System;
use rayon::prelude::*;
pub(crate) use text::read;

/// Change of the data that may mend them.
#[derive(Clone)]
pub(crate) struct Change {
    kind: &'static Kind,
    /// Names in the text: coordinates, or a choice of the kind.
    names: Vec<String>,
    /// Coordinates that are concerned.
    places: Vec<usize>,
    /// Numbers in the text.
    pub(crate) values: Vec<f64>,
    /// Ranges of the values that the data determine; empty for a change whose values are tried one by one.
    pub(crate) ranges: Vec<[f64; 2]>,
    /// Gravity (m/s²), for the change `time`.
    gravity: [f64; 2],
}

/// Changes of one name.
pub(crate) struct Kind {
    /// Name with which the text of the change begins.
    name: &'static str,
    /// Returns all changes of this kind that a system with n coordinates may need; an empty list if it does not know the kind.
    choices: fn(&System, usize) -> Vec<Change>,
    /// Maps a velocity in the file to the true one ($T$), or back. The configuration is that of the file.
    velocity: fn(&Change, &State, &mut [f64], Direction),
    /// Mends what is no velocity of its own: configuration, rows, neighbors. Returns false if a neighbor is not there.
    rest: fn(&Change, &[State], usize, &mut State) -> bool,
    /// Returns the system of the mended data.
    system: fn(&Change, &System) -> System,
    /// Returns words for the change that continue a sentence after "with".
    words: fn(&Change) -> String,
}

/// Direction of a map between velocities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    /// From the file to the mended data.
    Forth,
    /// From the mended data to the file.
    Back,
}

impl Kind {
    /// Kind that changes nothing.
    const NONE: Self = Self {
        name: "",
        choices: |_, _| Vec::new(),
        velocity: |_, _, _, _| {},
        rest: |_, _, _, _| true,
        system: |_, system| system.clone(),
        words: |_| String::new(),
    };

    /// Returns a change of this kind.
    const fn change(
        &'static self,
        names: Vec<String>,
        places: Vec<usize>,
        values: Vec<f64>,
    ) -> Change {
        Change {
            kind: self,
            names,
            places,
            values,
            ranges: Vec::new(),
            gravity: [0.0; 2],
        }
    }
}

/// All kinds of changes. Of equivalent changes the first one is told.
static KINDS: [&Kind; 15] = [
    &velocity_sign::KIND,
    &angle_sense::KIND,
    &entries::NORMAL,
    &entries::TANGENT,
    &swapped::KIND,
    &degrees::KIND,
    &radians::KIND,
    &scale::KIND,
    &reversed::KIND,
    &normals_reversed::KIND,
    &rows_shifted::KIND,
    &center::KIND,
    &point::KIND,
    &time::KIND,
    &inertia::KIND,
];

/// Returns all changes that a system with n coordinates may need.
pub(crate) fn all(system: &System, n: usize) -> Vec<Change> {
    KINDS
        .iter()
        .flat_map(|kind| (kind.choices)(system, n))
        .collect()
}

impl Change {
    /// Returns the text of the change, which [`read`] takes.
    pub(crate) fn text(&self) -> String {
        let list = |start: &str, words: Vec<String>| {
            if words.is_empty() {
                String::new()
            } else {
                format!("{start}{}", words.join(","))
            }
        };
        let values = self.values.iter().map(f64::to_string).collect();
        let names = list(":", self.names.clone());
        format!("{}{names}{}", self.kind.name, list("=", values))
    }

    /// Returns the name of the kind.
    pub(crate) fn kind(&self) -> &'static str {
        self.kind.name
    }

    /// Returns the coordinates that are concerned.
    pub(crate) fn places(&self) -> &[usize] {
        &self.places
    }

    /// Returns words for the change that continue a sentence after "with".
    pub(crate) fn words(&self) -> String {
        (self.kind.words)(self)
    }

    /// Returns the system of the mended data.
    pub(crate) fn system(&self, system: &System) -> System {
        (self.kind.system)(self, system)
    }

    /// Returns the change with other values.
    pub(crate) fn with_values(&self, values: &[f64]) -> Self {
        Self {
            values: values.to_vec(),
            ..self.clone()
        }
    }

    /// Mends one of the states of a file, which are in order. `system` is that of the mended data. `None` if the state needs a
    /// neighbor that is not there.
    pub(crate) fn mend(&self, system: &System, states: &[State], place: usize) -> Option<State> {
        let file = states.get(place)?;
        let mut state = file.clone();
        (self.kind.velocity)(self, file, &mut state.minus, Direction::Forth);
        (self.kind.velocity)(self, file, &mut state.plus, Direction::Forth);
        if !(self.kind.rest)(self, states, place, &mut state) {
            return None;
        }
        system.pose(&mut state);
        Some(state)
    }

    /// Carries a mended velocity, or a change of velocity, back to the coordinates of the file: $T^{-1}$. `file` is the state in
    /// the file.
    pub(crate) fn carry_back(&self, file: &State, velocity: &mut [f64]) {
        (self.kind.velocity)(self, file, velocity, Direction::Back);
    }

    /// Multiplies the velocities of the coordinates that are concerned, or divides them on the way back.
    fn scale(&self, velocity: &mut [f64], factor: f64, direction: Direction) {
        for k in &self.places {
            velocity[*k] *= match direction {
                Direction::Forth => factor,
                Direction::Back => 1.0 / factor,
            };
        }
    }
}

/// Mends states one batch after the other. A state waits until the state after it is known.
pub(crate) struct Mending {
    change: Change,
    system: System,
    /// State before the one that waits, and the one that waits.
    waiting: Vec<State>,
}

impl Mending {
    pub(crate) fn new(change: Change, system: &System) -> Self {
        Self {
            system: change.system(system),
            change,
            waiting: Vec::new(),
        }
    }

    /// Returns the system of the mended data.
    pub(crate) fn system(&self) -> &System {
        &self.system
    }

    /// Mends the states up to the last one of `batch`; after the last batch `is_last` is true.
    pub(crate) fn push(&mut self, batch: Vec<State>, is_last: bool) -> Vec<State> {
        let first = self.waiting.len().saturating_sub(1);
        let mut states = std::mem::take(&mut self.waiting);
        states.extend(batch);
        let end = states.len() - usize::from(!is_last && !states.is_empty());
        let mended = (first.min(end)..end)
            .into_par_iter()
            .filter_map(|k| self.change.mend(&self.system, &states, k))
            .collect();
        self.waiting = states.split_off(end.saturating_sub(1));
        mended
    }
}
