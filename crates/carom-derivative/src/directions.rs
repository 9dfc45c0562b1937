//! Directions of velocity change in which a law is examined near ties, without a preference for coordinates.
//!
//! A sequence of directions is computed from one of them and the contact rows. The computation uses nothing that depends on
//! coordinates, units, the order and repetition of contacts, or the tangents that a contact was given. Random numbers would
//! find different branches of the law in different coordinates.

use super::frame::Frame;
use carom_contact::ContactIndex;
use carom_metric::kernel;
use nalgebra::DVector;

/// Directions computed from the velocity before the impact.
const FROM_VELOCITY: usize = 8;

/// Directions computed from each given one.
const FROM_EACH: usize = 1;

/// Rows of two contacts count as equal if they differ by less than this.
const EQUAL: f64 = 1e-12;

/// Frequency of the weights of the rows. It makes directions of a sequence unlike each other, and amplifies the rounding of a
/// direction to no more than 1e-9 at the end of the sequence.
const FREQUENCY: f64 = 3.0;

/// Length below which a direction counts as zero.
const ZERO: f64 = 1e-9;

/// Returns directions (n entries, whitened, not normalized) spread over the span of the rows: `starts`, further
/// directions that are computed from `starts`, and directions that are computed from the velocity before the impact,
/// with their opposites. `within` restricts a direction to the admissible velocities of the contacts of interest.
pub(super) fn spread(
    frame: &Frame<'_>,
    starts: Vec<DVector<f64>>,
    within: impl Fn(&DVector<f64>) -> DVector<f64>,
) -> Vec<DVector<f64>> {
    let contacts = distinct(frame);
    let mut all = Vec::with_capacity(starts.len() * (1 + FROM_EACH) + 2 * FROM_VELOCITY);
    let mut more = Vec::new();
    let mut follow = |start: &DVector<f64>, count: usize, with_opposites: bool| {
        let mut direction = within(start);
        for _ in 0..count {
            let Some(unit) = direction.try_normalize(ZERO) else {
                break;
            };
            direction = within(&next(frame, &contacts, &unit));
            more.push(direction.clone());
            if with_opposites {
                more.push(-&direction);
            }
        }
    };
    if frame.speed > 0.0 {
        let seen = frame.rows_span(&frame.before) / frame.speed;
        follow(&seen, FROM_VELOCITY, true);
    }
    starts
        .iter()
        .for_each(|start| follow(start, FROM_EACH, false));
    all.extend(starts);
    all.extend(more);
    all
}

/// Returns the contacts of which no earlier one is a copy.
fn distinct(frame: &Frame<'_>) -> Vec<ContactIndex> {
    let set = frame.problem.contacts();
    let mut out: Vec<ContactIndex> = Vec::with_capacity(set.len());
    for i in set.indices() {
        let is_copy = |j: &ContactIndex| {
            let (own, other) = (set.rows_at(i), set.rows_at(*j));
            let mut pairs = own.clone().zip(other.clone());
            let (a, b) = (set.contact(i), set.contact(*j));
            own.len() == other.len()
                && (a.friction, a.restitution) == (b.friction, b.restitution)
                && pairs.all(|(a, b)| (frame.row(a) - frame.row(b)).norm() <= EQUAL)
        };
        if !out.iter().any(is_copy) {
            out.push(i);
        }
    }
    out
}

/// Returns a direction computed from another one: a sum of the rows of `contacts`, with weights that oscillate with the
/// velocities of the rows.
fn next(frame: &Frame<'_>, contacts: &[ContactIndex], direction: &DVector<f64>) -> DVector<f64> {
    let set = frame.problem.contacts();
    let mut sum = DVector::zeros(frame.dim());
    for i in contacts {
        let normal = set.row(*i);
        let given = set.contact(*i);
        let friction = given.friction * frame.friction_factor(*i);
        let phase = 1.0 + 2.0 * friction / (1.0 + friction) + given.restitution;
        let rate = frame.rate(normal, direction);
        sum.axpy(libm::cos(FREQUENCY * rate + phase), &frame.row(normal), 1.0);
        // Tangents act together, so that turning them changes nothing.
        let tangents = set.tangents_at(*i);
        let slips: Vec<f64> = tangents
            .clone()
            .map(|row| frame.rate(row, direction))
            .collect();
        let weight = libm::sin(FREQUENCY * kernel::norm(&slips) + phase);
        for (row, slip) in tangents.zip(slips) {
            sum.axpy(weight * slip, &frame.row(row), 1.0);
        }
    }
    sum
}
