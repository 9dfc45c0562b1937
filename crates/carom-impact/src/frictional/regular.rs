//! Uniqueness of an answer next to itself.

use super::planar::has_safe_pivots;
use super::space::ContactSpace;
use carom_metric::kernel;
use nalgebra::DMatrix;

/// Velocities below this fraction of the largest before the impact are rounding: contacts touch and stick.
const NO_VELOCITY: f64 = 1e-9;

/// True if no impulses on the slots next to these solve the problem with the same contacts closed, sticking and
/// sliding, floors under the normal impulses or none. Friction cones are round.
pub(super) fn is_regular(
    space: &ContactSpace,
    before: &[f64],
    impulse: &[f64],
    floors: &[f64],
) -> bool {
    let width = space.width();
    let mut after = before.to_vec();
    for (l, column) in impulse.iter().zip(space.gram.column_iter()) {
        if *l != 0.0 {
            kernel::add_scaled(&mut after, *l, column.as_slice());
        }
    }
    let speed = kernel::max_abs(before).max(kernel::max_abs(&after));
    let none = NO_VELOCITY * speed;
    let mut equations = Equations {
        space,
        impulse,
        after: &after,
        rows: Vec::with_capacity(space.n_slots()),
    };
    for contact in 0..space.n_contacts {
        let normal = contact * width;
        let floor = floors.get(contact).copied().unwrap_or(0.0);
        let opens = after[normal] > none;
        if opens && floor == 0.0 {
            continue;
        }
        if !opens {
            equations.rows.push((normal, Row::Closed));
        }
        if space.friction[contact] == 0.0 {
            continue;
        }
        let tangents = normal + 1..normal + width;
        let slip = kernel::norm(&after[tangents.clone()]);
        for slot in tangents {
            // Contacts lack some tangents.
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
    let rows = &equations.rows;
    let entry = |i: usize, j: usize| equations.entry(rows[i], rows[j].0);
    has_safe_pivots(DMatrix::from_fn(rows.len(), rows.len(), entry))
}

/// Equation of a slot with an unknown impulse.
#[derive(Clone, Copy)]
enum Row {
    /// No velocity.
    Closed,
    /// Friction at its limit against the sliding.
    Slides { slip: f64 },
}

struct Equations<'e> {
    space: &'e ContactSpace,
    impulse: &'e [f64],
    after: &'e [f64],
    rows: Vec<(usize, Row)>,
}

impl Equations<'_> {
    /// Derivative of the equation of a slot with respect to the impulse on another.
    fn entry(&self, (slot, row): (usize, Row), other: usize) -> f64 {
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
        // At unit size, also where little sliding is turned by much friction.
        (own + turned * across) / turned.max(1.0)
    }
}
