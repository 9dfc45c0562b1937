//! Contacts that persist over several steps.

use super::step::Step;
use crate::events::WorldEvent;
use crate::pair_table::Pair;

/// Pair that had a positive contact impulse in the previous step.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Lasting {
    pair: Pair,
    is_established: bool,
    slides: bool,
}

/// Pairs with a positive contact impulse in consecutive steps. A contact counts as lasting from the second such step on.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct LastingContacts {
    /// Pairs of the previous step, in ascending order.
    pairs: Vec<Lasting>,
}

impl LastingContacts {
    /// Creates the record of contacts that exist at the start, in ascending order of pairs. The flag of a pair is true if it
    /// slides.
    pub(super) fn of(pairs: &[(Pair, bool)]) -> Self {
        let lasting = |&(pair, slides): &(Pair, bool)| Lasting {
            pair,
            is_established: true,
            slides,
        };
        Self {
            pairs: pairs.iter().map(lasting).collect(),
        }
    }

    /// Returns the lasting contacts in ascending order, each with true if it slides.
    pub(super) fn all(&self) -> impl Iterator<Item = (Pair, bool)> {
        let lasting = self.pairs.iter().filter(|lasting| lasting.is_established);
        lasting.map(|lasting| (lasting.pair, lasting.slides))
    }

    /// Returns the pairs of the previous step, in ascending order.
    #[cfg(feature = "serde")]
    pub(super) fn pairs(&self) -> impl Iterator<Item = Pair> {
        self.pairs.iter().map(|lasting| lasting.pair)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Updates the record after a step. Reports contacts that become lasting or end, and those that change between
    /// sticking and sliding, as events at `time`, when the impulses of the step act, to `events`.
    pub(super) fn note(&mut self, step: &Step, time: f64, events: &mut Vec<WorldEvent>) {
        let mut now: Vec<Lasting> = Vec::new();
        for pressed in step.islands.iter().flat_map(|island| &island.pressed) {
            now.push(Lasting {
                pair: pressed.pair,
                is_established: false,
                slides: pressed.slides,
            });
        }
        // Several points of a pair are one contact, which slides if one of them does.
        now.sort_by_key(|lasting| lasting.pair);
        now.dedup_by(|next, kept| {
            let is_same = next.pair == kept.pair;
            kept.slides |= is_same && next.slides;
            is_same
        });
        for before in &self.pairs {
            let lasts = now
                .binary_search_by_key(&before.pair, |lasting| lasting.pair)
                .is_ok();
            if before.is_established && !lasts {
                events.push(WorldEvent::Released {
                    time,
                    contact: before.pair,
                });
            }
        }
        for lasting in &mut now {
            let place = self
                .pairs
                .binary_search_by_key(&lasting.pair, |before| before.pair);
            let Some(before) = place.ok().map(|place| self.pairs[place]) else {
                continue;
            };
            lasting.is_established = true;
            let contact = lasting.pair;
            if !before.is_established {
                events.push(WorldEvent::Established { time, contact });
            }
            if !before.is_established || before.slides != lasting.slides {
                events.push(WorldEvent::Mode {
                    time,
                    contact,
                    slides: lasting.slides,
                });
            }
        }
        self.pairs = now;
    }
}
