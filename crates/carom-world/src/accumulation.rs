//! Accumulating impacts (Zeno points): their times, and the motion after them.

use crate::MotionError;
use crate::pair::{self, ContactPoint, Other};
use crate::pair_table::Pair;
use crate::run::{EVENTS_PER_INSTANT, Run};
use crate::scratch::Touching;
use crate::search::BAND;
use crate::series::Interval;
use crate::spec::OnZeno;
use carom_motion::hybrid::Ending;
use carom_numeric::time::Time;

/// Gap between two impacts up to which their interval counts as rounding, as a multiple of the rounding of the gap.
const UNSEEN: f64 = 32.0;

/// Bound of the energy that the rounding of the gap gives to rebounds. The factor is 8. With the restitution coefficient $e$,
/// rebounds count as rounding up to $|u| t = 8\delta/(1 - e^2)$ (normal velocity $u$, interval $t$, rounding $\delta$ of the gap).
///
/// If each impact is found $\delta$ too deep, the velocities tend to those at which an impact loses what the body gains over this
/// depth, $|u| t = 4\delta/(1 - e^2)$. Intervals no longer shrink there. The factor is twice as large, so that it is reached.
const SUSTAINED: f64 = 8.0;

/// Ratio of successive intervals between impacts below which the intervals count as shrinking.
pub(crate) const SHRINKING: f64 = 0.999;

/// Smallest number of impacts of a pair that can be an accumulation.
pub(crate) const ACCUMULATING: usize = 4;

/// Impacts accumulate once the time left until the accumulation point is below this fraction of the time step.
pub(crate) const REST: f64 = 1e-6;

impl Run<'_> {
    /// Ends the run at the time at which the impacts of `pairs` accumulate (Zeno point). `time` is the time of the latest impact.
    /// The time that remains until the accumulation point is below a millionth of a time step, so the states of the bodies are
    /// not advanced.
    pub(super) fn end_at_accumulation(&mut self, pairs: impl Iterator<Item = Pair>, time: Time) {
        let points = pairs.filter_map(|pair| self.bounces.get(pair)?.series.point());
        let last = points.reduce(Time::max).unwrap_or(time);
        // Impacts continue for a while after the accumulation point, at intervals given by the rounding of gaps.
        self.now = last.max(time);
        let accumulation = last.high;
        self.ended = Some(Ending::Zeno { accumulation });
    }

    /// Returns true if infinitely many impacts of an approaching contact accumulate at `time`, under one of two conditions.
    /// Either there were at least four impacts at geometrically shrinking intervals, with almost no time left until the
    /// accumulation point; or the intervals are too short to resolve. `touching`: contact points with their velocities; `still`:
    /// speed (m/s) up to which a contact counts as at rest.
    pub(super) fn accumulates(&self, touching: &Touching, still: f64, time: Time) -> bool {
        if self.laws.on_zeno == OnZeno::Continue {
            return false;
        }
        touching.points.iter().enumerate().any(|(c, (pair, _))| {
            let Some(bounces) = self.bounces.get(*pair) else {
                return false;
            };
            let Some(last) = bounces.last else {
                return false;
            };
            let velocity = touching.velocities[3 * c];
            if velocity >= -still && touching.points.len() > 1 {
                return false;
            }
            let interval = time.since(last);
            let ratio = interval / bounces.interval;
            let left = interval * ratio / (1.0 - ratio);
            let shrinks = bounces.shrunk >= 2 && ratio < SHRINKING;
            (shrinks && left <= REST * self.world.time_step)
                || (bounces.short >= 2 && self.is_short(*pair, velocity, interval))
        })
    }

    /// Returns true if the impacts of a pair approach an accumulation point. This requires that each of the last three intervals
    /// between impacts is shorter than the one before. The last interval ends at `time`, the present impact.
    pub(crate) fn shrinks(&self, pair: Pair, time: Time) -> bool {
        let Some(bounces) = self.bounces.get(pair) else {
            return false;
        };
        let interval = bounces.last.map_or(f64::INFINITY, |last| time.since(last));
        bounces.shrunk >= 2 && interval < SHRINKING * bounces.interval
    }

    /// Returns true if the `interval` (s) between two impacts of a pair is too short to resolve. Either almost no time passes; or
    /// the gap between the impacts, about $\lvert u\rvert t/8$ with the normal `velocity` $u$ (m/s) and the interval $t$, is
    /// within rounding. The flight of a sphere from a plane back to the plane follows from its velocity alone, so for a sphere and
    /// a plane only the time decides.
    pub(super) fn is_short(&self, pair: Pair, velocity: f64, interval: f64) -> bool {
        if interval <= REST * self.world.time_step {
            return true;
        }
        let is_plane = matches!(self.world.thing(pair.1), Other::Plane(_));
        let closed_form = is_plane && self.world.bodies[pair.0].sphere.is_some();
        !closed_form && velocity.abs() * interval <= self.unseen(pair)
    }

    /// Returns the product of normal velocity and interval (m) up to which rebounds of a pair are rounding. Intervals of pairs with
    /// a restitution coefficient above [`SHRINKING`] never count as shrinking, so the bound does not grow beyond that.
    fn unseen(&self, pair: Pair) -> f64 {
        let restitution = self.world.surface(pair.0, pair.1).restitution;
        let share = if restitution == 1.0 {
            UNSEEN
        } else {
            let ratio = restitution.min(SHRINKING);
            UNSEEN.max(SUSTAINED / (1.0 - ratio * ratio))
        };
        share * self.gap_rounding(pair)
    }

    /// Returns the gap (m) up to which a pair counts as in contact because of rounding.
    pub(super) fn gap_rounding(&self, pair: Pair) -> f64 {
        let world = self.world;
        let state = |thing: usize| {
            let motion = self.motions.get(thing).map(|motion| motion.state);
            motion.unwrap_or(*world.initial_of(thing))
        };
        let (body, other) = (&world.bodies[pair.0], world.thing(pair.1));
        BAND * pair::gap_scale(body, &state(pair.0), &other, &state(pair.1))
    }

    /// Records, for every pair with a normal impulse, the time of its impact, and whether the intervals between the impacts of
    /// the pair shrink. `impulses` has three entries per contact point: normal and two tangents. `lossy` is true if the impact as
    /// a whole lost energy. Fails if a pair has too many impacts at intervals too short to resolve.
    pub(super) fn remember(
        &mut self,
        touching: &Touching,
        impulses: &[f64],
        lossy: bool,
        time: Time,
    ) -> Result<(), MotionError> {
        let hit = |c: usize| impulses.get(3 * c).is_some_and(|x| *x > 0.0);
        for (c, (pair, _)) in touching.points.iter().enumerate() {
            let done = |(k, (other, _)): (usize, &(Pair, ContactPoint))| other == pair && hit(k);
            if !hit(c) || touching.points.iter().take(c).enumerate().any(done) {
                continue;
            }
            // Late impacts lose a small part of the total energy even if they lose all of their own.
            if !lossy && self.world.surface(pair.0, pair.1).restitution == 1.0 {
                self.bounces.remove(*pair);
                continue;
            }
            let mut bounces = self.bounces.get(*pair).copied().unwrap_or_default();
            bounces.count += 1;
            if let Some(last) = bounces.last.replace(time) {
                let interval = time.since(last);
                let before = bounces.interval;
                let shrinks = before > 0.0 && interval < SHRINKING * before;
                bounces.shrunk = if shrinks { bounces.shrunk + 1 } else { 0 };
                let short = self.is_short(*pair, touching.velocities[3 * c], interval);
                bounces.short = if short { bounces.short + 1 } else { 0 };
                if bounces.shrunk == 0 {
                    let interval = Interval {
                        length: interval,
                        velocity: touching.velocities[3 * c],
                        rounding: self.gap_rounding(*pair),
                    };
                    bounces.series.end(time, &interval);
                } else if bounces.shrunk >= 2 {
                    bounces.series.add(time, interval, before);
                }
                bounces.interval = interval;
            }
            // Records whose intervals do not shrink, or whose time has passed, can be removed and begin anew.
            self.bounces.insert(*pair, bounces, |_, b| {
                let passed = b.last.map_or(0.0, |last| time.since(last));
                (b.shrunk == 0 && b.short == 0) || passed > b.interval
            });
            if bounces.short > EVENTS_PER_INSTANT {
                return Err(MotionError::EventLimit {
                    limit: EVENTS_PER_INSTANT,
                    time: time.high,
                });
            }
        }
        Ok(())
    }

    /// Returns true if every rebound of a pair must be resolved, however low. This is so if the user chose [`OnZeno::Continue`],
    /// the restitution coefficient lies in (0, 1), and the pair has had impacts but is not in lasting contact.
    pub(super) fn bounces_on(&self, pair: Pair) -> bool {
        let restitution = self.world.surface(pair.0, pair.1).restitution;
        self.laws.on_zeno == OnZeno::Continue
            && restitution > 0.0
            && restitution < 1.0
            && self.bounces.get(pair).is_some()
            && !self.lasting.contains(pair)
    }

    /// Returns true if a pair that comes into lasting contact now had at least four impacts with restitution. The exact
    /// motion then has infinitely many impacts, the last of which were lost in rounding.
    pub(super) fn has_accumulated(&self, pair: Pair) -> bool {
        let bounces = self.bounces.get(pair);
        self.world.surface(pair.0, pair.1).restitution > 0.0
            && bounces.is_some_and(|bounces| bounces.count >= ACCUMULATING)
    }
}
