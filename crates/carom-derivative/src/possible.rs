//! Modes that single contacts may have in a step with capped impulses, from bounds of all impulses and velocities.
//!
//! Caps bound the impulses of all contacts, and with them the velocities after the step. A mode whose velocities are out
//! of these bounds is impossible, which narrows the bounds of its impulses. In most steps few combinations of modes are
//! left, because small impulses stop no contact.

use super::frame::Frame;
use super::reading::{Grip, Reading, Tangential};
use carom_contact::RowIndex;
use nalgebra::{DMatrix, DVector};
use smallvec::SmallVec;

/// Rounding of a bound, relative to the magnitudes of all its terms. Generous: a mode that is out of bounds by less is
/// examined with all its derivatives.
const ROUNDING: f64 = 1e-9;

/// Closed interval of impulses or velocities.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Interval {
    least: f64,
    most: f64,
}

impl Interval {
    const ZERO: Self = Self {
        least: 0.0,
        most: 0.0,
    };

    fn between(a: f64, b: f64) -> Self {
        Self {
            least: a.min(b),
            most: a.max(b),
        }
    }

    fn hull(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }

    fn times(self, factor: f64) -> Self {
        Self::between(factor * self.least, factor * self.most)
    }

    fn has_zero(self) -> bool {
        self.least <= 0.0 && self.most >= 0.0
    }
}

/// Rows of one contact: first entry in the lists of all rows, and number of rows.
#[derive(Clone, Copy)]
struct Rows {
    first: usize,
    count: usize,
}

/// Bounds of the velocities after a step.
struct Bounds {
    contacts: SmallVec<[Rows; 4]>,
    /// Velocities along all rows before the step.
    before: SmallVec<[Interval; 8]>,
    /// Products of all rows in the metric.
    products: SmallVec<[f64; 64]>,
}

impl Bounds {
    /// Computes the bounds of the velocities before the step. `before` is that velocity, `slopes` its Jacobian with respect to
    /// the velocity before the impact, and `within` the largest change of the latter (kinetic norm).
    fn new(
        frame: &Frame<'_>,
        readings: &[&Reading<'_>],
        before: &DVector<f64>,
        slopes: &DMatrix<f64>,
        within: f64,
    ) -> Self {
        let mut contacts = SmallVec::new();
        let mut rows: SmallVec<[RowIndex; 8]> = SmallVec::new();
        for reading in readings {
            let first = rows.len();
            rows.extend(reading.rows());
            let count = rows.len() - first;
            contacts.push(Rows { first, count });
        }
        let speed = before.norm();
        let before = rows.iter().map(|row| {
            let rate = frame.rate(*row, before);
            let change = within * slopes.tr_mul(&frame.row(*row)).norm() + ROUNDING * speed;
            Interval::between(rate - change, rate + change)
        });
        let before = before.collect();
        let all = rows.iter();
        let products = all.flat_map(|i| rows.iter().map(|j| frame.row(*i).dot(&frame.row(*j))));
        Self {
            contacts,
            before,
            products: products.collect(),
        }
    }

    /// Returns the bounds of the velocity along row number `row` after the step, for impulses within `impulses`.
    fn after(&self, row: usize, impulses: &[Interval]) -> Interval {
        let mut after = self.before[row];
        let m = impulses.len();
        for (impulse, product) in impulses.iter().zip(&self.products[row * m..]) {
            let change = impulse.times(*product);
            let rounding = ROUNDING * change.least.abs().max(change.most.abs());
            after.least += change.least - rounding;
            after.most += change.most + rounding;
        }
        after
    }
}

/// Returns the bounds of the impulses of a contact on its rows, the normal first, in the mode `grip`.
fn impulses(reading: &Reading<'_>, grip: Grip, cap: f64) -> [Interval; 3] {
    let (tangential, normal) = match grip {
        Grip::Open => return [Interval::ZERO; 3],
        Grip::Closed(tangential) | Grip::Beyond(tangential) => {
            (tangential, Interval::between(0.0, cap))
        }
        Grip::Saturated(tangential) => (tangential, Interval::between(cap, cap)),
    };
    let limit = reading.friction * cap;
    let of = |k: usize| match tangential {
        Tangential::Free => Interval::ZERO,
        Tangential::Vertex(j) => normal.times(reading.friction * reading.directions[j][k]),
        Tangential::Stick | Tangential::Edge(_) | Tangential::Round(_) => {
            Interval::between(-limit, limit)
        }
    };
    [normal, of(0), of(1)]
}

/// True if the velocities after the step may be those of a contact in the mode `grip`. `after` has their bounds, the normal
/// velocity first.
fn is_possible(reading: &Reading<'_>, grip: Grip, after: &[Interval]) -> bool {
    let Some((normal, slip)) = after.split_first() else {
        return true;
    };
    let (tangential, fits) = match grip {
        Grip::Open => return normal.most >= 0.0,
        Grip::Closed(tangential) | Grip::Beyond(tangential) => (tangential, normal.has_zero()),
        Grip::Saturated(tangential) => (tangential, normal.least <= 0.0),
    };
    fits && match tangential {
        Tangential::Stick => slip.iter().all(|slip| slip.has_zero()),
        Tangential::Vertex(j) => {
            let along = slip.iter().zip(reading.directions[j]);
            let along = along.map(|(slip, d)| slip.times(d).least);
            along.sum::<f64>() <= 0.0
        }
        Tangential::Free | Tangential::Edge(_) | Tangential::Round(_) => true,
    }
}

/// Removes from `lists`, which has the modes of each contact, those that the contact cannot have at any velocity before the impact
/// within the distance `within` (kinetic norm). The contacts have the caps in `readings`, and do not interact with others.
/// `before` is the velocity before the step and `slopes` its Jacobian with respect to the velocity before the impact. Without
/// caps, and with constraints or restitution, nothing is removed.
pub(super) fn keep_possible(
    frame: &Frame<'_>,
    readings: &[&Reading<'_>],
    before: &DVector<f64>,
    slopes: &DMatrix<f64>,
    within: f64,
    lists: &mut [Vec<Grip>],
) {
    let is_plain = |reading: &&Reading<'_>| {
        reading.sides.is_none() && reading.rebound.value() == 0.0 && reading.directions.len() != 1
    };
    let caps: Option<SmallVec<[f64; 4]>> = readings.iter().map(|reading| reading.cap).collect();
    let Some(caps) = caps else {
        return;
    };
    if frame.constraint_rows().len() > 0 || !readings.iter().all(is_plain) {
        return;
    }
    let bounds = Bounds::new(frame, readings, before, slopes, within);
    let mut all: SmallVec<[Interval; 8]> = SmallVec::new();
    loop {
        all.clear();
        for ((reading, list), cap) in readings.iter().zip(lists.iter()).zip(&caps) {
            let each = list.iter().map(|grip| impulses(reading, *grip, *cap));
            let hull = each.reduce(|a, b| std::array::from_fn(|k| a[k].hull(b[k])));
            let count = reading.rows().count();
            all.extend(hull.unwrap_or([Interval::ZERO; 3]).into_iter().take(count));
        }
        let mut is_changed = false;
        for ((reading, list), rows) in readings.iter().zip(lists.iter_mut()).zip(&bounds.contacts) {
            let own = rows.first..rows.first + rows.count;
            let after: SmallVec<[Interval; 3]> = own.map(|row| bounds.after(row, &all)).collect();
            let count = list.len();
            list.retain(|grip| is_possible(reading, *grip, &after));
            is_changed |= list.len() < count;
        }
        if !is_changed {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::friction::{Contacts, Event};
    use super::super::reading::Cones;
    use super::*;
    use carom_contact::{Contact, ContactIndex, ContactSet, ImpactProblem};
    use carom_metric::{Covector, KineticMetric, Tangent};

    /// Modes that are left of all modes of a point with friction 0.5, for a velocity before a step with the given cap.
    fn left(velocity: [f64; 2], cap: f64, within: f64) -> Vec<Grip> {
        let metric = KineticMetric::new(DMatrix::identity(2, 2)).unwrap();
        let contact = Contact {
            tangents: vec![Covector::from_slice(&[1.0, 0.0])],
            friction: 0.5,
            ..Contact::frictionless(Covector::from_slice(&[0.0, 1.0]))
        };
        let set = ContactSet::new(&metric, vec![contact]).unwrap();
        let problem = ImpactProblem::new(&set, Tangent::from_slice(&velocity)).unwrap();
        let frame = Frame::new(&problem).unwrap();
        let contacts = Contacts::all(&frame, Cones::Round, false).unwrap();
        let caps = vec![frame.of_impulse(set.row(ContactIndex::all(1).next().unwrap()), cap)];
        let event = Event {
            before: frame.before.clone(),
            after: DVector::zeros(2),
            impulse: DVector::zeros(frame.n_rows()),
            caps,
        };
        let readings = contacts.readings(&event);
        let readings: Vec<_> = readings.iter().collect();
        let mut lists = vec![readings[0].all().unwrap()];
        let within = within * frame.before.norm();
        keep_possible(
            &frame,
            &readings,
            &frame.before,
            &frame.admissible(),
            within,
            &mut lists,
        );
        lists.remove(0)
    }

    /// An impulse of up to 0.3 leaves an approach of 0.7 and at least 0.85 of sliding at 1: the contact slides at its cap.
    #[test]
    fn a_small_impulse_neither_closes_nor_sticks() {
        let modes = left([1.0, -1.0], 0.3, 1e-3);
        assert!(matches!(
            modes[..],
            [Grip::Saturated(Tangential::Vertex(_))]
        ));
        // A velocity farther away may be closed or stick, but not slide the other way.
        let modes = left([1.0, -1.0], 0.3, 0.7);
        assert!(modes.contains(&Grip::Closed(Tangential::Stick)));
        // With a slow approach the contact may close, and slides.
        let modes = left([1.0, -0.1], 0.3, 1e-3);
        let slides = |grip: &Grip| matches!(grip, Grip::Closed(Tangential::Vertex(_)));
        assert_eq!(modes.iter().filter(|grip| slides(grip)).count(), 1);
        assert!(!modes.contains(&Grip::Closed(Tangential::Stick)));
        // A separating contact is open.
        assert_eq!(left([1.0, 0.1], 0.3, 1e-3), [Grip::Open]);
    }
}
