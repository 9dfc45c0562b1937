//! Lasting contacts of jointed bodies within a step: points, friction, impulses of both kicks.
//!
//! The equations are those of free bodies (`world/step.rs`), with normal impulse $\Lambda_n$, gap $\Phi$ and normal velocity
//! $J_nv$: $0\le\Lambda_n\perp\Phi(\text{end})\ge 0$ in the first kick, $0\le\Lambda_n\perp J_nv\ge 0$ in the second, Coulomb's
//! friction in the circular cone. At a contact that slides, friction opposes the slip before the first kick and the slip after
//! the second; at one that sticks, the mean slip of the flight is zero.

use super::touch::{Touch, TouchPair};
use crate::dependent::Dependent;
use crate::force::PointForce;
use crate::kick::{Friction, Kick, Work};
use crate::pair::{self, ContactPoint};
use crate::step::{CLOSED, ROUNDING, SETTLED, SHORT, STALE, STILL};
use carom_joints::step::Step;
use carom_joints::step::contacts::{Change, ContactRow, Contacts, FirstKick};
use carom_variational::State;
use nalgebra::{Vector2, Vector3};
use std::collections::BTreeMap;

/// Contact velocities below this fraction of the body speeds count as zero: impacts that end in sticking leave slips of this
/// order.
const LEFT: f64 = 1e-10;

/// An iteration counts as no progress if its change is more than this fraction of the least change so far.
const GAIN: f64 = 0.7;

/// Change of the contact velocities that counts as rounding, as a fraction of them.
const SETTLED_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Change of the contact velocities that counts as rounding, as a fraction of the rounding of gaps over the length of the step.
const SETTLED_NOISE: f64 = 0.05;

/// When iterations make no progress, a change of the impulses that moves the contact velocities by less than this fraction counts
/// as rounding.
const LEAST: f64 = 1e-13;

/// Contact result of a step for one pair.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct PairStep {
    /// Normal impulse of both kicks (N s).
    pub(super) pressed: f64,
    /// True if every point of the pair has separated at the end.
    pub(super) open: bool,
    /// True if a point with normal force slides at the end.
    pub(super) slides: bool,
    /// Impulse of both kicks on the first body, in space (N s).
    pub(super) impulse: Vector3<f64>,
    /// Mean forces of the points that carry.
    pub(super) forces: Vec<PointForce>,
}

/// One contact point of a step.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Touching {
    /// Index of the pair of the point.
    pair: usize,
    #[cfg_attr(feature = "serde", serde(skip, default = "nowhere"))]
    point: ContactPoint,
    #[cfg_attr(feature = "serde", serde(skip))]
    frame: [Vector3<f64>; 3],
    /// Place of the point at the start of the step, in the frame of the pair's first body (m).
    place: Vector3<f64>,
}

/// Lasting contacts within a step of bodies with the shapes `T`: the implementation of [`Contacts`]. A paused run has no shapes.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct PressingOf<T> {
    touch: T,
    /// Indices of the lasting pairs, each with the distance within which its points count as contacts (m).
    pairs: Vec<(usize, f64)>,
    start: Vec<Touching>,
    #[cfg_attr(feature = "serde", serde(skip))]
    end: Vec<Touching>,
    closed: Vec<usize>,
    #[cfg_attr(feature = "serde", serde(skip))]
    closed_frames: Vec<[Vector3<f64>; 3]>,
    /// Impulses of both kicks of the last step per unit of time, for all points at the start of that step: the initial guess of
    /// the next.
    last: [Vec<f64>; 2],
    /// Pair and place of these points, in the frame of the pair's first body (m).
    marks: Vec<(usize, Vector3<f64>)>,
    length: f64,
    /// Scale of contact velocities, velocity that counts as zero, rounding of gaps over the step, and rounding of velocities.
    scale: f64,
    still: f64,
    noise: f64,
    speed_noise: f64,
    /// Friction coefficient and friction law of each point in the first kick.
    #[cfg_attr(feature = "serde", serde(skip))]
    laws: Vec<(f64, Friction)>,
    #[cfg_attr(feature = "serde", serde(skip))]
    dependent: Option<Dependent>,
    /// Memory of the solver of the kicks.
    #[cfg_attr(feature = "serde", serde(with = "crate::kick::pattern"))]
    work: Work,
    /// Contact velocities without impulses for which the first kick was solved last.
    #[cfg_attr(feature = "serde", serde(skip))]
    solved: Vec<f64>,
    /// True for each kick of the last step that leaves every contact at rest.
    rests: [bool; 2],
    begun: bool,
    least: f64,
    stale: usize,
}

/// Lasting contacts with the shapes of the bodies.
pub(super) type Pressing<'w> = PressingOf<&'w Touch>;

/// Returns a contact point that a step finds again.
#[cfg(feature = "serde")]
fn nowhere() -> ContactPoint {
    ContactPoint {
        point: Vector3::zeros(),
        normal: Vector3::zeros(),
        gap: 0.0,
        parts: [0, 0],
        follow: pair::Follow::Closest,
    }
}

impl<T> PressingOf<T> {
    /// Returns these contacts with another copy of the shapes.
    pub(super) fn with<U>(self, touch: U) -> PressingOf<U> {
        PressingOf {
            touch,
            pairs: self.pairs,
            start: self.start,
            end: self.end,
            closed: self.closed,
            closed_frames: self.closed_frames,
            last: self.last,
            marks: self.marks,
            length: self.length,
            scale: self.scale,
            still: self.still,
            noise: self.noise,
            speed_noise: self.speed_noise,
            laws: self.laws,
            dependent: self.dependent,
            work: self.work,
            solved: self.solved,
            rests: self.rests,
            begun: self.begun,
            least: self.least,
            stale: self.stale,
        }
    }
}

#[cfg(feature = "serde")]
impl PressingOf<()> {
    /// True if all contacts are those of a world with `pairs` pairs that may touch.
    pub(super) fn fits(&self, pairs: usize) -> bool {
        let touching = self.start.iter().map(|touching| touching.pair);
        let mut all = self.pairs.iter().map(|(pair, _)| *pair).chain(touching);
        all.all(|pair| pair < pairs) && self.closed.iter().all(|c| *c < self.start.len())
    }
}

impl<'w> Pressing<'w> {
    pub(super) fn new(touch: &'w Touch) -> Self {
        Self {
            touch,
            pairs: Vec::new(),
            start: Vec::new(),
            end: Vec::new(),
            closed: Vec::new(),
            closed_frames: Vec::new(),
            last: [Vec::new(), Vec::new()],
            marks: Vec::new(),
            length: 0.0,
            scale: 0.0,
            still: 0.0,
            noise: 0.0,
            speed_noise: 0.0,
            laws: Vec::new(),
            dependent: None,
            work: Work::default(),
            solved: Vec::new(),
            rests: [false; 2],
            begun: false,
            least: f64::INFINITY,
            stale: 0,
        }
    }

    /// Sets the pairs of bodies in lasting contact: index of the pair, and distance within which its points count as contacts
    /// (m).
    pub(super) fn set_pairs(&mut self, pairs: Vec<(usize, f64)>) {
        self.pairs = pairs;
        self.forget();
    }

    /// Discards the contact impulses of earlier steps, so that the next solution starts from impulses of zero.
    pub(super) fn forget(&mut self) {
        self.last = [Vec::new(), Vec::new()];
    }

    /// Returns the normal force of a pair in the last step (N), if it is known.
    pub(super) fn force(&self, pair: usize) -> Option<f64> {
        let mut total = None;
        for (c, _) in { self.marks.iter().enumerate() }.filter(|(_, (of, _))| *of == pair) {
            let [first, second] = [&self.last[0], &self.last[1]].map(|list| list.get(3 * c));
            total = Some(total.unwrap_or(0.0) + first? + second?);
        }
        total
    }

    /// Returns the lasting pairs: index of the pair, and distance within which its points count as contacts (m).
    pub(super) fn pairs(&self) -> &[(usize, f64)] {
        &self.pairs
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// True if impulses inside the cones of friction balance all loads at the contacts in both kicks of the last step.
    pub(super) fn rests(&self) -> bool {
        !self.start.is_empty() && self.rests == [true; 2]
    }

    /// Stores the contact impulses of a step of `length` (s), divided by this length, as the initial guess for the next step.
    pub(super) fn remember(&mut self, step: &Step, length: f64) {
        let mut second = vec![0.0; step.touching[0].len()];
        for (place, c) in self.closed.iter().enumerate() {
            let of = step.touching[1].get(3 * place..3 * place + 3);
            if let (Some(to), Some(from)) = (second.get_mut(3 * c..3 * c + 3), of) {
                to.copy_from_slice(from);
            }
        }
        let per_time = |list: &[f64]| list.iter().map(|x| x / length).collect();
        self.last = [per_time(&step.touching[0]), per_time(&second)];
        self.marks.clear();
        let marks = self
            .start
            .iter()
            .map(|touching| (touching.pair, touching.place));
        self.marks.extend(marks);
    }

    /// Returns the results of the lasting contacts over the latest step, for each pair of bodies: impulse, and whether the
    /// contact slides or opens. The key is the index of the pair.
    pub(super) fn results(&self, step: &Step) -> BTreeMap<usize, PairStep> {
        let nothing = PairStep {
            open: true,
            ..PairStep::default()
        };
        let mut out: BTreeMap<usize, PairStep> = self
            .pairs
            .iter()
            .map(|(pair, _)| (*pair, nothing.clone()))
            .collect();
        let [first, second] = &step.touching;
        for (c, touching) in self.start.iter().enumerate() {
            if let Some(result) = out.get_mut(&touching.pair) {
                result.pressed += first[3 * c];
                result.impulse += vector(&touching.frame, &first[3 * c..3 * c + 3]);
            }
        }
        for (place, (c, frame)) in self.closed.iter().zip(&self.closed_frames).enumerate() {
            let touching = &self.start[*c];
            let rates = &step.contact_rates[3 * place..3 * place + 3];
            if let Some(result) = out.get_mut(&touching.pair) {
                let leaves = rates[0] > self.still;
                let slip = libm::hypot(rates[1], rates[2]);
                result.pressed += second[3 * place];
                result.open &= leaves;
                let rough = self.touch.pairs[touching.pair].surface.friction > 0.0;
                result.slides |= !rough || (!leaves && slip > self.still);
                result.impulse += vector(frame, &second[3 * place..3 * place + 3]);
            }
        }
        for (c, touching) in self.start.iter().enumerate() {
            if let (Some(result), Some(force)) =
                (out.get_mut(&touching.pair), self.point_force(c, step))
            {
                result.forces.push(force);
            }
        }
        out
    }

    /// Returns the mean force of a point over a step, where the point is at the end; `None` if it does not carry.
    fn point_force(&self, c: usize, step: &Step) -> Option<PointForce> {
        let touching = self.start.get(c)?;
        let first = step.touching[0].get(3 * c..3 * c + 3)?;
        let mut pressed = first[0];
        let mut impulse = vector(&touching.frame, first);
        if let Some(place) = self.closed.iter().position(|closed| *closed == c) {
            let second = step.touching[1].get(3 * place..3 * place + 3)?;
            pressed += second[0];
            impulse += vector(self.closed_frames.get(place)?, second);
        }
        let point = self.end.get(c).unwrap_or(touching).point.point;
        (pressed > 0.0).then(|| PointForce::new(touching.pair, point, impulse / self.length))
    }

    /// Stores the contact impulses at the end of a step as the initial guess for the impulses at the end of the next step.
    /// `impulses` has three entries per closed contact point.
    fn keep_second(&mut self, impulses: &[f64]) {
        let mut second = vec![0.0; 3 * self.start.len()];
        for (place, c) in self.closed.iter().enumerate() {
            for k in 0..3 {
                second[3 * c + k] = impulses[3 * place + k] / self.length;
            }
        }
        self.last[1] = second;
    }

    fn pair(&self, touching: &Touching) -> &'w TouchPair {
        &self.touch.pairs[touching.pair]
    }

    /// Prepares the solution for the contact impulses at the start of a step, from the contact velocities and the mobility matrix
    /// in `kick`. Sets the velocity scale, and chooses the friction law of each contact point: friction opposes the initial slip,
    /// or follows Coulomb's law if there is no slip.
    fn begin(&mut self, kick: &FirstKick<'_>) {
        let rows = kick.before.len();
        let gravity = self.touch.flights.gravity.norm() * kick.length;
        let fastest = kick.before.iter().fold(0.0, |s: f64, x| s.max(x.abs()));
        self.scale = fastest + gravity;
        self.still = STILL * self.scale + LEFT * self.speed_noise;
        self.laws = (0..rows / 3)
            .map(|c| {
                let mu = self.pair(&self.start[c]).surface.friction;
                let slip = Vector2::new(kick.before[3 * c + 1], kick.before[3 * c + 2]);
                let friction = match (mu > 0.0, slip.norm() > self.still) {
                    (false, _) => Friction::Frictionless,
                    (true, true) => Friction::Against(slip / slip.norm()),
                    (true, false) => Friction::Coulomb,
                };
                (mu, friction)
            })
            .collect();
        let counted =
            |row: &usize| row.is_multiple_of(3) || self.laws[row / 3].1 == Friction::Coulomb;
        let counted = (0..rows).filter(counted).collect();
        self.dependent = Some(Dependent::new(kick.mobility, rows, counted));
        self.solved.clear();
        (self.begun, self.least, self.stale) = (true, f64::INFINITY, 0);
    }

    /// True if a step of `length` (s) is so short that differences of gaps, divided by this length, would be dominated by
    /// rounding error. Contact velocities are then computed from rates instead.
    pub(super) fn is_short(&self, length: f64) -> bool {
        length <= SHORT * self.touch.time_step
    }

    /// Returns the mean contact velocities over the flight (m/s) that would result without contact impulses at its
    /// start. There are three entries per contact point. `kick` holds the velocities of the contact rows and their
    /// mobility at the start of the step.
    fn free_rates(&self, kick: &FirstKick<'_>) -> Vec<f64> {
        let (h, rows) = (kick.length, kick.before.len());
        // A penetration at the start is removed over one time step of the grid, so only in part over a shorter step.
        let return_share = (1.0 - h / self.touch.time_step).max(0.0);
        let mut velocity = vec![0.0; rows];
        for (c, (start, end)) in self.start.iter().zip(&self.end).enumerate() {
            let before = start.point.gap;
            // In a short step the rounding of gaps divided by the length would be a large velocity.
            velocity[3 * c] = if self.is_short(h) {
                0.5 * (kick.begin[3 * c] + kick.end[3 * c])
            } else {
                (end.point.gap - before.max(0.0) - before.min(0.0) * return_share) / h
            };
            for k in [3 * c + 1, 3 * c + 2] {
                velocity[k] = 0.5 * (kick.begin[k] + kick.end[k]);
            }
        }
        for (i, v) in velocity.iter_mut().enumerate() {
            *v += kick.shift[i] - moved(kick.mobility, i, kick.impulses);
        }
        if let Some(dependent) = &self.dependent {
            dependent.make_consistent(&mut velocity);
        }
        // A point with a positive gap may approach by that gap within the step, independently of the other points.
        for (c, start) in self.start.iter().enumerate() {
            let rate = start.point.gap / h;
            if rate > self.noise {
                velocity[3 * c] += rate;
            }
        }
        velocity
    }

    /// Solves for the contact impulses at the start of a step, and writes them into `next`, which holds the initial guess.
    /// `mobility` is the matrix from impulses to contact velocities; `velocity` holds the contact velocities without impulses.
    /// Friction against the initial slip has no solution if contacts jam each other, and it can reverse a slip. In both cases
    /// friction follows the resulting slip instead (implicit Coulomb's law). Returns false if no impulses are found.
    fn solve_first(&mut self, mobility: &[f64], velocity: &[f64], next: &mut [f64]) -> bool {
        let implicit = |laws: &mut Vec<(f64, Friction)>| {
            for (_, law) in laws {
                if let Friction::Against(_) = law {
                    *law = Friction::Coulomb;
                }
            }
        };
        let guess = next.to_vec();
        for _ in 0..=self.laws.len() {
            next.copy_from_slice(&guess);
            let given = |(_, law): &(f64, Friction)| matches!(law, Friction::Against(_));
            let mut solved = self.posed(mobility, velocity).solve_softly(next);
            if !solved && self.laws.iter().any(given) {
                implicit(&mut self.laws);
                next.copy_from_slice(&guess);
                solved = self.posed(mobility, velocity).solve_softly(next);
            }
            if !solved {
                return false;
            }
            let mut turned = false;
            for (c, (_, law)) in self.laws.iter_mut().enumerate() {
                let Friction::Against(slip) = *law else {
                    continue;
                };
                let mean = |row: usize| velocity[row] + moved(mobility, row, next);
                let mean = Vector2::new(mean(3 * c + 1), mean(3 * c + 2));
                if next[3 * c] > 0.0 && slip.dot(&mean) < -self.still {
                    *law = Friction::Coulomb;
                    turned = true;
                }
            }
            if !turned {
                return true;
            }
        }
        true
    }

    fn posed<'k>(&'k self, mobility: &'k [f64], velocity: &'k [f64]) -> Kick<'k> {
        Kick {
            mobility,
            velocity,
            friction: &self.laws,
            noise: self.noise,
            work: &self.work,
        }
    }
}

/// Returns the velocity change that contact impulses cause in one contact direction: the product of row `row` of the
/// mobility matrix (velocity changes per unit impulse) with the impulses.
fn moved(mobility: &[f64], row: usize, impulses: &[f64]) -> f64 {
    let n = impulses.len();
    let entries = mobility[row * n..(row + 1) * n].iter();
    entries.zip(impulses).map(|(w, x)| w * x).sum()
}

fn vector(frame: &[Vector3<f64>; 3], parts: &[f64]) -> Vector3<f64> {
    frame.iter().zip(parts).map(|(d, x)| d * *x).sum()
}

impl Contacts for Pressing<'_> {
    fn start(&mut self, states: &[State], rows: &mut Vec<ContactRow>) {
        let touch = self.touch;
        self.start.clear();
        self.begun = false;
        let (mut extent, mut speed): (f64, f64) = (0.0, 0.0);
        let mut found = Vec::new();
        for &(index, reach) in &self.pairs {
            let pair = &touch.pairs[index];
            found.clear();
            touch.points(pair, states, pair.tolerance.max(reach), &mut found);
            let here = &states[pair.first];
            let place =
                |point: &ContactPoint| here.rotation.rotate_back(&(point.point - here.position));
            let marks = self.marks.iter().filter(|(of, _)| *of == index);
            pair::in_order(&mut found, place, marks.map(|(_, mark)| mark));
            for point in &found {
                let (own, frame) = touch.rows(pair, point, states);
                rows.extend(own);
                self.start.push(Touching {
                    pair: index,
                    point: *point,
                    frame,
                    place: place(point),
                });
            }
            extent = extent.max(touch.extent(pair, states));
            speed = speed.max(touch.speed(pair, states));
        }
        (self.noise, self.speed_noise) = (extent, speed);
    }

    fn guess(&mut self, length: f64, impulses: &mut [f64]) {
        // Until here `noise` and `speed_noise` contain the extent and the speed of the bodies.
        self.length = length;
        self.noise = if self.is_short(length) {
            ROUNDING * self.speed_noise
        } else {
            ROUNDING * self.noise / length
        };
        if self.last[0].len() == impulses.len() {
            for (to, from) in impulses.iter_mut().zip(&self.last[0]) {
                *to = from * length;
            }
        }
    }

    fn moved(&mut self, states: &[State], rows: &mut Vec<ContactRow>) {
        self.end.clear();
        for touching in &self.start {
            let pair = self.pair(touching);
            let point = self.touch.moved(pair, &touching.point, states);
            let (own, frame) = self.touch.rows(pair, &point, states);
            rows.extend(own);
            self.end.push(Touching {
                point,
                frame,
                ..*touching
            });
        }
    }

    fn first(&mut self, kick: &FirstKick<'_>, next: &mut [f64]) -> Option<Change> {
        if !self.begun {
            self.begin(kick);
        }
        let velocity = self.free_rates(kick);
        // If the velocities equal, to rounding, those for which the current impulses were found, the iteration has converged.
        let rounding = SETTLED_ROUNDING * self.scale + SETTLED_NOISE * self.noise;
        let pairs = self.solved.iter().zip(&velocity);
        let moved_by = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if self.solved.len() == velocity.len() && moved_by <= rounding {
            self.rests[0] = self.posed(kick.mobility, &velocity).balances(kick.impulses);
            return Some(Change {
                size: moved_by,
                settled: true,
                tolerable: true,
            });
        }
        if !self.solve_first(kick.mobility, &velocity, next) {
            return None;
        }
        self.rests[0] = self.posed(kick.mobility, &velocity).balances(next);
        self.solved = velocity;
        let difference: Vec<f64> = next
            .iter()
            .zip(kick.impulses)
            .map(|(new, old)| new - old)
            .collect();
        let size = (0..difference.len())
            .map(|row| moved(kick.mobility, row, &difference).abs())
            .fold(0.0, f64::max);
        if size <= GAIN * self.least {
            (self.least, self.stale) = (size, 0);
        } else {
            self.stale += 1;
        }
        let gained = size <= SETTLED * self.scale && self.stale >= STALE;
        Some(Change {
            size,
            settled: size <= rounding || gained,
            tolerable: size <= LEAST * self.scale,
        })
    }

    fn closed(&mut self, states: &[State], first: &[f64], rows: &mut Vec<ContactRow>) {
        self.closed.clear();
        self.closed_frames.clear();
        for c in 0..self.start.len() {
            let pair = self.pair(&self.start[c]);
            let point = self.touch.moved(pair, &self.start[c].point, states);
            if first[3 * c] > 0.0 || point.gap <= CLOSED * pair.tolerance {
                let (own, frame) = self.touch.rows(pair, &point, states);
                rows.extend(own);
                self.closed.push(c);
                self.closed_frames.push(frame);
            }
        }
    }

    fn second(&mut self, mobility: &[f64], velocities: &[f64], impulses: &mut [f64]) -> bool {
        let friction: Vec<(f64, Friction)> = self
            .closed
            .iter()
            .map(|c| match self.pair(&self.start[*c]).surface.friction {
                0.0 => (0.0, Friction::Frictionless),
                mu => (mu, Friction::Coulomb),
            })
            .collect();
        if self.last[1].len() == 3 * self.start.len() {
            for (place, c) in self.closed.iter().enumerate() {
                for k in 0..3 {
                    impulses[3 * place + k] = self.last[1][3 * c + k] * self.length;
                }
            }
        }
        let kick = Kick {
            mobility,
            velocity: velocities,
            friction: &friction,
            noise: ROUNDING * self.speed_noise,
            work: &self.work,
        };
        let found = kick.solve_softly(impulses);
        self.rests[1] = found && kick.balances(impulses);
        if found {
            self.keep_second(impulses);
        }
        found
    }
}
