//! Compressions that differ in impulses alone, and the velocities after the expansions to which they lead.

use super::space::ContactSpace;
use crate::tolerances::EQUAL;
use crate::tolerances::FREE;
use carom_metric::kernel;
use carom_numeric::svd::Svd;

/// Fraction of the largest impulse below which a velocity counts as zero, too, for slots of unit length: solvers satisfy the contact
/// conditions to a tenth of that.
const UNKNOWN: f64 = 1e-11;

/// Velocity change per unit impulse below which the velocities count as unchanged, for slots of unit length.
const MOVED: f64 = 1e-7;

/// Counts the independent directions in which the velocities after the expansion phase are not unique. Other compression
/// impulses may produce equal velocities after compression. The expansion returns the fractions `given_back` (one per
/// contact) of the compression impulses, so that the velocities after it may differ.
pub(super) fn hidden_family(
    space: &ContactSpace,
    compression: &Solution<'_>,
    expansion: &Solution<'_>,
    given_back: &[f64],
) -> usize {
    let [compressed, expanded] =
        [compression, expansion].map(|phase| after(space, phase.before, phase.impulse));
    let free = compression
        .equations(space, &compressed, false)
        .free_directions();
    if free.is_empty() {
        return 0;
    }
    let equations = expansion.equations(space, &expanded, true);
    if equations.at_floor.is_empty() {
        return 0;
    }
    let decomposed = equations.decomposed();
    let mut velocities = Vec::with_capacity(free.len() * space.n_slots());
    for direction in free {
        let mut change = vec![0.0; space.n_slots()];
        for normal in equations.at_floor.iter().copied() {
            change[normal] = given_back[normal / space.width()] * direction[normal];
        }
        equations.complete(&decomposed, &mut change);
        velocities.extend(after(space, &vec![0.0; space.n_slots()], &change));
    }
    let sizes = Svd::new(&velocities, space.n_slots());
    let moved = sizes.singular_values().iter();
    moved.filter(|size| **size > MOVED).count()
}

/// Computes the velocities of the normalized contact rows after the impulses `impulse` on these rows, from the velocities
/// `before`.
pub(super) fn after(space: &ContactSpace, before: &[f64], impulse: &[f64]) -> Vec<f64> {
    let mut after = before.to_vec();
    for (l, column) in impulse.iter().zip(space.gram.column_iter()) {
        if *l != 0.0 {
            kernel::add_scaled(&mut after, *l, column.as_slice());
        }
    }
    after
}

/// Impulses on the slots that solve a problem, with the velocities before them and lower bounds of the normal impulses (or
/// none).
pub(super) struct Solution<'s> {
    pub(super) before: &'s [f64],
    pub(super) impulse: &'s [f64],
    pub(super) floors: &'s [f64],
    /// Largest velocity of a row before the impact. Velocities between the phases may all be rounding errors.
    pub(super) speed: f64,
}

impl<'s> Solution<'s> {
    /// Creates the equations that the impulses satisfy if every contact keeps the mode (closed, sticking or sliding) that it has
    /// at the impulses of the solution. `after` are the velocities of the normalized contact rows after these impulses. If `may_grow`,
    /// open contacts whose lower bound is zero are included: the bound may grow.
    fn equations<'e>(
        &self,
        space: &'e ContactSpace,
        after: &'e [f64],
        may_grow: bool,
    ) -> Equations<'e>
    where
        's: 'e,
    {
        let Self {
            before,
            impulse,
            floors,
            speed,
        } = *self;
        let width = space.width();
        let speed = kernel::max_abs(before)
            .max(kernel::max_abs(after))
            .max(speed);
        let none = f64::max(EQUAL * speed, UNKNOWN * kernel::max_abs(impulse));
        let mut equations = Equations {
            space,
            impulse,
            after,
            rows: Vec::with_capacity(space.n_slots()),
            at_floor: Vec::new(),
        };
        for contact in 0..space.n_contacts {
            let normal = contact * width;
            let floor = floors.get(contact).copied().unwrap_or(0.0);
            let opens = after[normal] > none;
            if opens && (floors.is_empty() || floor == 0.0 && !may_grow) {
                continue;
            }
            if opens {
                equations.at_floor.push(normal)
            } else {
                equations.rows.push((normal, Row::Closed))
            }
            let tangents = normal + 1..normal + width;
            let slip = kernel::norm(&after[tangents.clone()]);
            // Without an impulse an open contact has friction only if it slides while its impulse grows.
            let is_still = opens && floor == 0.0 && slip <= none;
            if space.friction[contact] == 0.0 || is_still {
                continue;
            }
            for slot in tangents {
                // Some contacts lack a tangent.
                if space.gram[(slot, slot)] > 0.0 {
                    let is_slow = slip <= none;
                    let row = if is_slow {
                        Row::Closed
                    } else {
                        Row::Slides { slip }
                    };
                    equations.rows.push((slot, row));
                }
            }
        }
        equations
    }
}

/// Equation of a slot whose impulse is unknown.
#[derive(Clone, Copy)]
enum Row {
    /// The velocity is zero.
    Closed,
    /// Friction has its largest magnitude and opposes the sliding, with slip speed `slip`.
    Slides { slip: f64 },
}

struct Equations<'e> {
    space: &'e ContactSpace,
    impulse: &'e [f64],
    after: &'e [f64],
    rows: Vec<(usize, Row)>,
    /// Normal slots of contacts that open and whose impulse equals its lower bound, which may be zero.
    at_floor: Vec<usize>,
}

impl Equations<'_> {
    /// Returns unit directions in which the impulses can change without violating the equations to first order. Each has
    /// one entry per normalized contact row.
    fn free_directions(&self) -> Vec<Vec<f64>> {
        let svd = self.decomposed();
        let flat = FREE * svd.largest();
        let sizes = svd.singular_values().iter().enumerate();
        let free = sizes.filter(|(_, size)| **size <= flat);
        let on_slots = |(j, _): (usize, &f64)| {
            let mut direction = vec![0.0; self.space.n_slots()];
            for ((slot, _), x) in self.rows.iter().zip(svd.right(j)) {
                direction[*slot] = *x;
            }
            direction
        };
        free.map(on_slots).collect()
    }

    /// Completes a change of the impulses at lower bounds: adds the shortest change of the other impulses that keeps the
    /// equations satisfied to first order. `decomposed` is the singular value decomposition of the equations.
    fn complete(&self, decomposed: &Svd, change: &mut [f64]) {
        let missed = |row: &(usize, Row)| -> f64 {
            let terms = self.at_floor.iter();
            terms
                .map(|normal| -self.derivative(*row, *normal) * change[*normal])
                .sum()
        };
        let missed: Vec<f64> = self.rows.iter().map(missed).collect();
        if missed.is_empty() {
            return;
        }
        let others = decomposed.least_norm(&missed, FREE);
        for ((slot, _), x) in self.rows.iter().zip(others) {
            change[*slot] += x;
        }
    }

    fn decomposed(&self) -> Svd {
        let k = self.rows.len();
        let entries = (0..k).flat_map(|j| (0..k).map(move |i| self.entry(i, j)));
        Svd::new(&entries.collect::<Vec<_>>(), k)
    }

    /// Returns the derivative of equation `i` with respect to the impulse that belongs to equation `j`.
    fn entry(&self, i: usize, j: usize) -> f64 {
        self.derivative(self.rows[i], self.rows[j].0)
    }

    /// Returns the derivative of the equation of one normalized row (`slot`) with respect to the impulse on the row
    /// `other`. `row` tells if the contact slides there.
    fn derivative(&self, (slot, row): (usize, Row), other: usize) -> f64 {
        let (space, width) = (self.space, self.space.width());
        let Row::Slides { slip } = row else {
            return space.gram[(slot, other)];
        };
        let contact = slot / width;
        let normal = contact * width;
        let direction = self.after[slot] / slip;
        let along: f64 = (normal + 1..normal + width)
            .map(|t| self.after[t] / slip * space.gram[(t, other)])
            .sum();
        let across = space.gram[(slot, other)] - direction * along;
        let turned = space.friction[contact] * self.impulse[normal] / slip;
        let own = if other == slot {
            1.0
        } else if other == normal {
            space.friction[contact] * direction
        } else {
            0.0
        };
        // Rows are divided to about unit size, also if friction is large and sliding slow.
        (own + turned * across) / turned.max(1.0)
    }
}
