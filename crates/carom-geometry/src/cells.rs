//! Search for intersecting boxes, with grids of cells of several sizes (hierarchical hash grid).
//!
//! A box is stored in the cell that contains its center, on the level whose cells are as wide as the box or up to twice as wide.
//! The boxes that intersect a box therefore are in a few cells of each level, whatever their sizes; for bodies of equal size this
//! is the uniform grid. Cells are found by a hash; moving boxes allocates no memory.

use nalgebra::Vector3;

/// Index that marks the end of a list.
const NONE: u32 = u32::MAX;

/// Axis-aligned box in space.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Bounds {
    /// Smallest coordinates (m).
    pub low: Vector3<f64>,
    /// Largest coordinates (m).
    pub high: Vector3<f64>,
}

impl Bounds {
    /// Creates the box that contains all points within `distance` (m) of the segment from `a` to `b`, enlarged by more than its
    /// rounding error.
    #[must_use]
    pub fn around(a: &Vector3<f64>, b: &Vector3<f64>, distance: f64) -> Self {
        let distance = distance * (1.0 + 1e-9) + 8.0 * f64::EPSILON * a.amax().max(b.amax());
        Self {
            low: a.inf(b).add_scalar(-distance),
            high: a.sup(b).add_scalar(distance),
        }
    }

    fn width(&self) -> f64 {
        (self.high - self.low).max()
    }

    /// Returns the center of the box (m).
    #[must_use]
    pub fn center(&self) -> Vector3<f64> {
        (self.low + self.high) * 0.5
    }
}

/// Integer coordinates of a cell of a level.
type Cell = [i32; 3];

/// Storage of a box in the grid.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Next and previous box in the list of the bucket.
    next: u32,
    previous: u32,
    level: u32,
    cell: Cell,
    bucket: u32,
    /// Index in the list of the level.
    member: u32,
    bounds: Rough,
}

/// A box in single precision, rounded outward, so that an entry fits into a cache line.
#[derive(Clone, Copy, Debug)]
struct Rough {
    low: [f32; 3],
    high: [f32; 3],
}

impl Rough {
    fn new(bounds: &Bounds) -> Self {
        let outward = |x: f64, down: bool| {
            let near = x as f32;
            match (f64::from(near) > x, f64::from(near) < x) {
                (true, _) if down => near.next_down(),
                (_, true) if !down => near.next_up(),
                _ => near,
            }
        };
        Self {
            low: [0, 1, 2].map(|k| outward(bounds.low[k], true)),
            high: [0, 1, 2].map(|k| outward(bounds.high[k], false)),
        }
    }

    fn meets(&self, other: &Self) -> bool {
        (0..3).all(|k| self.low[k] <= other.high[k] && other.low[k] <= self.high[k])
    }
}

/// Factors of the hash, one for each axis.
const PRIMES: [u32; 3] = [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d];

/// Cells of one size, with the boxes that they contain.
#[derive(Clone, Debug)]
struct Level {
    size: f64,
    inverse: f64,
    members: Vec<u32>,
}

/// Numbered boxes in space, stored in cells of several sizes, so that the boxes that intersect a given box are found without
/// looking at all of them.
///
/// # Examples
///
/// ```
/// # use carom_geometry::cells::{Bounds, Cells};
/// # use nalgebra::Vector3;
/// let around = |x: f64| Bounds::around(&Vector3::x().scale(x), &Vector3::x().scale(x), 0.6);
/// let mut cells = Cells::new(3);
/// for (index, x) in [0.0, 1.0, 5.0].into_iter().enumerate() {
///     cells.put(index, around(x));
/// }
/// let mut found = Vec::new();
/// cells.meeting(&around(0.5), &mut found);
/// assert_eq!(found, [0, 1]);
/// ```
#[derive(Clone, Debug)]
pub struct Cells {
    places: Vec<Option<Place>>,
    /// First box of the list of each bucket; the number of buckets is a power of two.
    buckets: Vec<u32>,
    levels: Vec<Level>,
}

impl Cells {
    /// Creates cells without boxes, for `n` boxes with the numbers 0 to `n - 1`.
    #[must_use]
    pub fn new(n: usize) -> Self {
        Self {
            places: vec![None; n],
            // Eight buckets per box, so that most cells have a bucket of their own.
            buckets: vec![NONE; (8 * n).next_power_of_two().max(16)],
            levels: Vec::new(),
        }
    }

    fn get(&self, index: usize) -> Option<&Rough> {
        Some(&self.places.get(index)?.as_ref()?.bounds)
    }

    /// Returns true if the boxes with the numbers `i` and `j` are stored and intersect. Boxes that miss each other by less than
    /// single-precision rounding count as intersecting.
    #[must_use]
    pub fn meet(&self, i: usize, j: usize) -> bool {
        matches!((self.get(i), self.get(j)), (Some(a), Some(b)) if a.meets(b))
    }

    /// Stores the box with the number `index`, and removes its previous version.
    ///
    /// # Panics
    ///
    /// If `index` is not below the `n` of [`new`](Self::new).
    pub fn put(&mut self, index: usize, bounds: Bounds) {
        let level = self.level(bounds.width());
        let cell = self.cell(level, &bounds.center());
        if let Some(Some(place)) = self.places.get_mut(index)
            && place.level == level as u32
            && place.cell == cell
        {
            place.bounds = Rough::new(&bounds);
            return;
        }
        self.take_out(index);
        let bucket = self.bucket(level, &cell);
        let next = std::mem::replace(&mut self.buckets[bucket], index as u32);
        if let Some(Some(after)) = self.places.get_mut(next as usize) {
            after.previous = index as u32;
        }
        let members = &mut self.levels[level].members;
        members.push(index as u32);
        self.places[index] = Some(Place {
            next,
            previous: NONE,
            level: level as u32,
            cell,
            bucket: bucket as u32,
            member: members.len() as u32 - 1,
            bounds: Rough::new(&bounds),
        });
    }

    fn take_out(&mut self, index: usize) {
        let Some(place) = self.places.get_mut(index).and_then(Option::take) else {
            return;
        };
        match self.places.get_mut(place.previous as usize) {
            Some(Some(before)) => before.next = place.next,
            _ => self.buckets[place.bucket as usize] = place.next,
        }
        if let Some(Some(after)) = self.places.get_mut(place.next as usize) {
            after.previous = place.previous;
        }
        let members = &mut self.levels[place.level as usize].members;
        members.swap_remove(place.member as usize);
        if let Some(moved) = members.get(place.member as usize)
            && let Some(Some(moved)) = self.places.get_mut(*moved as usize)
        {
            moved.member = place.member;
        }
    }

    /// Writes to `out` the numbers of all stored boxes that intersect `bounds`, in ascending order. Boxes that miss it by less
    /// than single-precision rounding may be included.
    pub fn meeting(&self, bounds: &Bounds, out: &mut Vec<usize>) {
        out.clear();
        let rough = Rough::new(bounds);
        for (index, level) in self.levels.iter().enumerate() {
            if level.members.is_empty() {
                continue;
            }
            // Boxes of a level extend at most half a cell beyond their centers.
            let low = self.cell(index, &bounds.low.add_scalar(-0.5 * level.size));
            let high = self.cell(index, &bounds.high.add_scalar(0.5 * level.size));
            let many = (0..3).fold(1.0, |n, k| {
                n * (f64::from(high[k]) - f64::from(low[k]) + 1.0)
            });
            if many > level.members.len() as f64 {
                let members = level.members.iter().map(|member| *member as usize);
                out.extend(members.filter(|i| self.get(*i).is_some_and(|b| b.meets(&rough))));
                continue;
            }
            for x in low[0]..=high[0] {
                for y in low[1]..=high[1] {
                    for z in low[2]..=high[2] {
                        self.report_cell(index, [x, y, z], &rough, out);
                    }
                }
            }
        }
        out.sort_unstable();
    }

    fn report_cell(&self, level: usize, cell: Cell, bounds: &Rough, out: &mut Vec<usize>) {
        let mut next = self.buckets[self.bucket(level, &cell)];
        while let Some(Some(place)) = self.places.get(next as usize) {
            if place.level == level as u32 && place.cell == cell && place.bounds.meets(bounds) {
                out.push(next as usize);
            }
            next = place.next;
        }
    }

    /// Returns the index of the grid level for boxes of a given width (m). The cells of that level have the next larger power of
    /// two as size. The level is created if it does not exist.
    fn level(&mut self, width: f64) -> usize {
        let size = if width.is_finite() {
            carom_numeric::power(2.0, exponent(width))
        } else {
            f64::INFINITY
        };
        match self.levels.iter().position(|level| level.size == size) {
            Some(level) => level,
            None => {
                let members = Vec::with_capacity(self.places.len());
                // Exact for a power of two.
                let inverse = 1.0 / size;
                self.levels.push(Level {
                    size,
                    inverse,
                    members,
                });
                self.levels.len() - 1
            }
        }
    }

    fn cell(&self, level: usize, point: &Vector3<f64>) -> Cell {
        let inverse = self.levels[level].inverse;
        // Far away everything is in one cell: the conversion saturates.
        [0, 1, 2].map(|k| {
            let x = point[k] * inverse;
            let towards_zero = x as i32;
            towards_zero.saturating_sub(i32::from(f64::from(towards_zero) > x))
        })
    }

    fn bucket(&self, level: usize, cell: &Cell) -> usize {
        let mut hash = level as u32;
        for (k, prime) in cell.iter().zip(PRIMES) {
            hash = hash.wrapping_add((*k as u32).wrapping_mul(prime));
        }
        (hash ^ (hash >> 15)) as usize & (self.buckets.len() - 1)
    }
}

/// Returns the exponent $e$ with $2^{e-1} \le x < 2^e$ for a positive normal number $x$.
fn exponent(x: f64) -> i32 {
    let exponent = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    exponent.max(-1022) + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use carom_numeric::random::CounterRng;

    #[test]
    fn boxes_of_all_sizes_are_found() {
        let mut random = CounterRng::new(7, 0, 0);
        let n = 300;
        let mut cells = Cells::new(n);
        let mut all: Vec<Option<Bounds>> = vec![None; n];
        let mut found = Vec::new();
        for round in 0..3000 {
            let mut uniform = || 2.0 * random.next_uniform() - 1.0;
            let center = Vector3::from_fn(|_, _| 10.0 * uniform());
            let size = 10f64.powf(1.5 * uniform());
            let half = Vector3::from_fn(|_, _| size * (uniform().abs() + 1e-3));
            let mut bounds = Bounds {
                low: center - half,
                high: center + half,
            };
            if round % 100 == 0 {
                bounds.high.x = f64::INFINITY;
            }
            cells.put(round % n, bounds);
            all[round % n] = Some(bounds);
            cells.meeting(&bounds, &mut found);
            let meets = |b: &Bounds, slack: f64| {
                (0..3).all(|k| {
                    b.low[k] <= bounds.high[k] + slack && bounds.low[k] <= b.high[k] + slack
                })
            };
            for (i, b) in all.iter().enumerate() {
                let (Some(b), reported) = (b, found.binary_search(&i).is_ok()) else {
                    continue;
                };
                assert!(reported || !meets(b, 0.0));
                assert!(!reported || meets(b, 1e-4));
            }
        }
    }
}
