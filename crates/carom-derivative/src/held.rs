//! Combinations of contact modes whose equations determine the whole velocity after a step, with more unknown impulses than
//! equations that are independent.
//!
//! Such contacts depend on each other, and an exchange of impulses between them changes no velocity: it would change one
//! along a row of the equations. The distance of another answer needs no such combinations, see
//! [`exclusion`](super::friction::Contacts::exclusion).

use super::frame::Frame;
use super::mode::Mode;
use super::reading::{Grip, Reading};
use smallvec::SmallVec;

/// Part of a unit row outside the span of other rows from which on the row certainly adds a direction to the span.
const INDEPENDENT: f64 = 1e-3;

/// Part of a unit row outside the span of other rows that counts as zero: the rounding of a sum of unit rows.
const DEPENDENT: f64 = 1e-9;

/// Orthonormal axes, one after the other, in a space of given dimension.
struct Axes {
    dimension: usize,
    entries: SmallVec<[f64; 36]>,
}

impl Axes {
    fn new(dimension: usize) -> Self {
        Self {
            dimension,
            entries: SmallVec::new(),
        }
    }

    fn count(&self) -> usize {
        self.entries.len() / self.dimension.max(1)
    }

    /// Adds the direction of a unit `row` to the axes if it is certainly independent of them. Returns the part of the row
    /// outside their span.
    fn add(&mut self, row: &[f64]) -> f64 {
        let mut rest: SmallVec<[f64; 8]> = SmallVec::from_slice(row);
        // The second pass removes the rounding of the first.
        for axis in [0, 1]
            .iter()
            .flat_map(|_| self.entries.chunks_exact(self.dimension))
        {
            let part: f64 = axis.iter().zip(&rest).map(|(a, x)| a * x).sum();
            rest.iter_mut().zip(axis).for_each(|(x, a)| *x -= part * a);
        }
        let size = rest.iter().map(|x| x * x).sum::<f64>().sqrt();
        if size > INDEPENDENT {
            self.entries.extend(rest.iter().map(|x| x / size));
        }
        size
    }
}

/// Equations of all modes of the contacts of a group, as unit vectors in the span of its rows.
pub(super) struct Held {
    rank: usize,
    /// For each contact and each of its modes the vectors of its equations, one after the other.
    equations: Vec<Vec<SmallVec<[f64; 12]>>>,
}

impl Held {
    /// Prepares the equations of the modes `lists` of the contacts `readings`. `None` if the rows are independent, so that no
    /// combination depends, if their rank is in doubt, or with constraints.
    pub(super) fn new(
        frame: &Frame<'_>,
        readings: &[&Reading<'_>],
        lists: &[Vec<Grip>],
    ) -> Option<Self> {
        if frame.constraint_rows().len() > 0 {
            return None;
        }
        let mut axes = Axes::new(frame.dim());
        let rows = readings.iter().flat_map(|reading| reading.rows());
        let mut count = 0;
        for row in rows {
            let rest = axes.add(frame.row(row).as_slice());
            if rest > DEPENDENT && rest <= INDEPENDENT {
                return None;
            }
            count += 1;
        }
        let rank = axes.count();
        if count <= rank {
            return None;
        }
        let of = |reading: &Reading<'_>, grip: &Grip| {
            let mut mode = Mode::default();
            reading.add_unknowns(*grip, &mut mode);
            let mut vectors: SmallVec<[f64; 12]> = SmallVec::new();
            for equation in &mode.equations {
                let along = |axis: &[f64]| {
                    let terms = equation.velocities.iter();
                    let terms = terms.map(|(row, c)| {
                        let row = frame.row(*row);
                        c * axis.iter().zip(row.iter()).map(|(a, x)| a * x).sum::<f64>()
                    });
                    terms.sum::<f64>()
                };
                let axes = axes.entries.chunks_exact(axes.dimension);
                let vector: SmallVec<[f64; 8]> = axes.map(along).collect();
                let size = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
                vectors.extend(vector.iter().map(|x| x / size.max(f64::MIN_POSITIVE)));
            }
            vectors
        };
        let contacts = readings.iter().zip(lists);
        let equations =
            contacts.map(|(reading, list)| list.iter().map(|g| of(reading, g)).collect());
        Some(Self {
            rank,
            equations: equations.collect(),
        })
    }

    /// True if the combination of modes with the number `code` (see [`combination`](super::friction::combination)) has more
    /// equations than the rows have rank, and they certainly span all rows.
    pub(super) fn contains(&self, code: usize) -> bool {
        let of = |mut code: usize| {
            self.equations.iter().map(move |modes| {
                let vectors = &modes[code % modes.len()];
                code /= modes.len();
                vectors
            })
        };
        let count: usize = of(code).map(|vectors| vectors.len()).sum();
        if count <= self.rank * self.rank {
            return false;
        }
        let mut axes = Axes::new(self.rank);
        for row in of(code).flat_map(|vectors| vectors.chunks_exact(self.rank)) {
            axes.add(row);
            if axes.count() == self.rank {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_hold_the_velocity_if_they_span_it_and_are_more() {
        let row = |x: &[f64]| SmallVec::from_slice(x);
        let held = Held {
            rank: 2,
            equations: vec![
                vec![row(&[]), row(&[1.0, 0.0]), row(&[1.0, 0.0, 0.0, 1.0])],
                vec![row(&[]), row(&[1.0, 0.0]), row(&[0.6, 0.8])],
            ],
        };
        let contains = |first: usize, second: usize| held.contains(first + 3 * second);
        assert!(contains(2, 1) && contains(2, 2));
        // These have as many equations as the rank, or parallel ones.
        assert!(!contains(2, 0) && !contains(1, 2) && !contains(1, 1));
    }

    #[test]
    fn nearly_parallel_rows_are_no_certain_axis() {
        let mut axes = Axes::new(2);
        axes.add(&[1.0, 0.0]);
        axes.add(&[1.0, 1e-4]);
        assert_eq!(axes.count(), 1);
        axes.add(&[0.0, 1.0]);
        assert_eq!(axes.count(), 2);
    }
}
