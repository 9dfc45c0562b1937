//! Event-driven runs that are stored and read.

use super::{EventRun, Island};
use crate::course::Setting;
use crate::events::{Entry, Next};
use crate::handover::MOST_IMPACTS;
use crate::pair_table::Pair;
use crate::saved::is_sound;
use crate::spec::World;
use carom_geometry::cells::Cells;
use carom_motion::hybrid::Limits;

/// Limits before the run is given its own.
pub(super) fn no_limits() -> Limits {
    Limits::duration(f64::INFINITY)
}

/// Cells before the boxes are put there.
pub(super) fn no_cells() -> Cells {
    Cells::new(0)
}

impl EventRun<(), ()> {
    /// Returns the entries of the queue that later events did not make void, in their order.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let current = self.queue.iter().filter(|entry| self.is_current(entry));
        let mut entries: Vec<Entry> = current.copied().collect();
        entries.sort_unstable();
        entries
    }

    /// Completes a run that was read, by the `entries` of its queue and by that which follows from its world. `None` if it is no run
    /// of this world.
    pub(crate) fn complete(mut self, setting: &Setting<'_>, entries: Vec<Entry>) -> Option<Self> {
        let world = setting.world;
        if setting.laws.is_none() || !self.fits(world) || !entries_fit(world, &entries) {
            return None;
        }
        self.limits = *setting.limits;
        self.crowd_limit = setting.steps.map(|_| MOST_IMPACTS);
        self.cells = Cells::new(world.n_bodies());
        for (body, swept) in self.boxes.iter().enumerate() {
            self.cells.put(body, swept.bounds);
        }
        self.queue = entries.into();
        Some(self)
    }

    fn fits(&self, world: &World) -> bool {
        let n = world.n_bodies();
        let lengths = [self.motions.len(), self.boxes.len()];
        let times = [self.now, self.handled].map(|time| time.high);
        let mut pairs = self.memory.pairs().chain(self.bounces.pairs());
        let mut others = self
            .chatter
            .pairs()
            .chain(self.lasting.all().map(|(p, _)| p));
        lengths == [n; 2]
            && self.balance.supports.len() == world.n_things()
            && times.iter().all(|time| time.is_finite())
            && self.ended_forces.is_sound(|pair| world.has_pair(pair))
            && pairs.all(|pair| world.has_pair(pair))
            && others.all(|pair| world.has_pair(pair))
            && (0..n).all(|body| self.motion_fits(body, world))
            && self
                .islands
                .iter()
                .flatten()
                .all(|island| island.fits(world))
            && self.free_fit()
    }

    /// True if a body is in the island of its motion, or in none.
    fn motion_fits(&self, body: usize, world: &World) -> bool {
        let motion = &self.motions[body];
        let numbers = [motion.time.high, motion.latest.high, motion.energy];
        let holds = |island: &Option<Island>| {
            { island.as_ref() }.is_some_and(|island| island.place(body).is_some())
        };
        let of = |index: usize| self.islands.get(index).is_some_and(holds);
        let elsewhere = self.islands.iter().filter(|island| holds(island)).count();
        is_sound(&motion.state)
            && numbers.iter().all(|x| x.is_finite())
            && motion.island.is_none_or(of)
            && elsewhere == usize::from(motion.island.is_some())
            && (motion.island.is_none() || world.is_mobile(body))
    }

    /// True if the free entries of the list of islands are those without an island.
    fn free_fit(&self) -> bool {
        let mut free = self.free_islands.clone();
        free.sort_unstable();
        let islands = self.islands.iter().enumerate();
        let empty = islands.filter(|(_, island)| island.is_none());
        free.into_iter().eq(empty.map(|(index, _)| index))
    }
}

impl Island {
    fn fits(&self, world: &World) -> bool {
        let n = self.bodies.len();
        let carriers = world.carriers(&self.bodies, &self.pairs).len();
        let lists = [&self.before, &self.step.launched, &self.step.end];
        let is_member = |thing: usize| !world.is_mobile(thing) || self.place(thing).is_some();
        let pair_fits =
            |pair: &Pair| world.has_pair(*pair) && is_member(pair.0) && is_member(pair.1);
        n > 0
            && self.bodies.is_sorted_by(|a, b| a < b)
            && self.bodies.iter().all(|body| world.is_mobile(*body))
            && lists
                .iter()
                .all(|list| list.len() == n + carriers && list.iter().all(is_sound))
            && self.pairs.len() == self.step.pairs.len()
            && self.step.forces.iter().all(|it| it.pair < self.pairs.len())
            && self.pairs.iter().all(pair_fits)
            && self.begin.high.is_finite()
            && self.begin.high <= self.end.high
            && self.length >= 0.0
            && self.step.length > 0.0
            && self.control.is_sound()
    }
}

fn entries_fit(world: &World, entries: &[Entry]) -> bool {
    entries.iter().all(|entry| {
        !entry.time.high.is_nan()
            && match entry.next {
                Next::Touch { pair, .. } | Next::Look { pair, .. } => {
                    world.has_pair((pair[0] as usize, pair[1] as usize))
                }
                Next::Leave { body, .. } => world.is_mobile(body as usize),
                Next::StepEnd { .. } | Next::Line => true,
            }
    })
}
