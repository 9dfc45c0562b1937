//! Rows and columns of the system that an answer solves, and the error of its right-hand side.

use super::{Flat, Form, UNIT, reduction};
use crate::gate::Rules;
use crate::index::{ContactIndex, RowIndex};
use crate::ledger::{Ledger, RowSums};
use crate::numbers::Numbers;
use crate::residual_scale::{GRAZING_TOLERANCE, ROUNDING_TOLERANCE, dot_and_size, groups};
use crate::span::{along, orthonormal};
use crate::{Contact, ContactSet, ImpactProblem};
use carom_lcp::contact_problem::ContactMode;
use carom_metric::{Covector, kernel};
use carom_numeric::decisions::RANK;
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;

/// Part of the friction limit above which a friction impulse is at the limit: at a vertex of a friction polygon.
const AT_LIMIT: f64 = 1.0 - 1e-9;

/// Sliding velocity below which its direction is rounding, as a multiple of the rounding of the velocities along the tangents.
const NO_DIRECTION: f64 = 64.0;

/// Row that an answer holds at a value. Velocities are those of the whitened row of unit length.
pub(super) struct Held<'p> {
    /// Contact of the row, `usize::MAX` for constraints.
    pub(super) contact: usize,
    /// Whitened row of unit length (n entries).
    pub(super) unit: Cow<'p, [f64]>,
    /// Row in the caller's coordinates, and the factor that brings it to unit length; empty for a combination of rows.
    pub(super) given: (&'p [f64], f64),
    /// Velocity by which the row misses its value, the rounding of that, and its error.
    pub(super) miss: f64,
    pub(super) rounding: f64,
    pub(super) error: f64,
    /// First entry of the whitened impulse, of unit length (n entries), among the columns of the system; `None` if it is the row.
    pub(super) column: Option<usize>,
}

impl Held<'_> {
    pub(super) fn is_constraint(&self) -> bool {
        self.contact == usize::MAX
    }
}

/// Row of a contact after an impact, in units of the row times its power of two.
#[derive(Clone, Copy)]
struct Rate<'p> {
    sums: &'p RowSums,
    given: &'p Covector,
    /// Whitened row of unit length, and its length before.
    unit: &'p [f64],
    length: f64,
    rounding: f64,
    /// Velocity that the reduction to the motion which contacts see, or a compression, has lost.
    hidden: f64,
}

impl Rate<'_> {
    /// Error of the velocity after the impact.
    fn uncertainty(&self) -> f64 {
        self.rounding + self.hidden
    }
}

/// Directions across the sliding of contacts with round cones in space: whitened, of unit length, n entries each.
#[derive(Default)]
pub(super) struct Across {
    pub(super) rows: Flat,
    /// Rounding of the velocity along each.
    pub(super) errors: Numbers,
    /// Impulse that a unit velocity makes.
    pub(super) stiffness: Numbers,
}

/// Rows and columns of the system that the answer solves, and the error of its right-hand side.
pub(super) struct System<'p> {
    pub(super) contacts: &'p ContactSet,
    problem: &'p ImpactProblem,
    /// Problem that the law solved: the same, or that of the motion that the contacts see.
    posed: &'p ImpactProblem,
    ledger: &'p Ledger,
    form: Form,
    /// Error of each momentum (n entries).
    pub(super) left: Numbers,
    /// Rows that are held: constraints, then those of contacts.
    pub(super) held: SmallVec<[Held<'p>; 8]>,
    /// Whitened columns of impulses, of unit length, n entries each.
    pub(super) columns: Flat,
    pub(super) across: Across,
    /// Largest factor by which an expansion repeats the impulses of a compression and adds them to it; 1 without one.
    pub(super) stretch: f64,
    /// Normals of open contacts, with the velocities at which they separate.
    open: SmallVec<[(ContactIndex, Rate<'p>, f64); 4]>,
    /// True for the coordinates of rows that push, or approach by more than grazing: the impact acts on them.
    acts: SmallVec<[bool; 8]>,
}

impl<'p> System<'p> {
    /// Starts the system of an answer to the first problem, without rows; the second problem is that which the law solved.
    pub(super) fn new(
        [problem, posed]: [&'p ImpactProblem; 2],
        ledger: &'p Ledger,
        form: Form,
    ) -> Self {
        let contacts = problem.contacts();
        let n = ledger.left.len();
        let rows = ledger.rows.len();
        Self {
            contacts,
            problem,
            posed,
            ledger,
            form,
            left: Numbers::from_slice(&ledger.left),
            held: SmallVec::with_capacity(rows),
            columns: Flat::new(),
            across: Across::default(),
            stretch: 1.0,
            open: SmallVec::new(),
            acts: smallvec![false; n],
        }
    }

    /// Adds the constraints.
    pub(super) fn add_constraints(&mut self) {
        let n = self.left.len();
        let Some(basis) = self.contacts.constraint_basis() else {
            return;
        };
        for direction in basis.as_slice().chunks_exact(n) {
            let (after, size) = dot_and_size(direction, &self.ledger.momentum);
            let (_, given) = dot_and_size(direction, self.problem.momentum());
            let rounding = (n as f64 + 2.0) * UNIT * (size + given);
            let errors = [after, rounding, after.abs() + rounding];
            let direction = Cow::Borrowed(direction);
            self.hold(usize::MAX, direction, (&[], 1.0), None, errors);
        }
    }

    /// Row of a contact, with the rounding `reduced` of a unit normal by the reduction to the motion that contacts see.
    fn rate(&self, row: RowIndex, given: &'p Covector, reduced: f64) -> Rate<'p> {
        let sums = &self.ledger.rows[row.index()];
        let length = self.contacts.row_norm(row) * sums.scale;
        Rate {
            sums,
            given,
            unit: self.contacts.unit_row(row),
            length,
            rounding: sums.count * UNIT * sums.size,
            hidden: reduced * length,
        }
    }

    /// Adds a contact: the rows that the answer holds at a value.
    pub(super) fn add_contact(
        &mut self,
        i: ContactIndex,
        contact: &'p Contact,
        rules: &Rules<'_>,
        mode: Option<ContactMode>,
    ) {
        let contacts = self.contacts;
        let to_posed = self.problem.scale() / self.posed.scale();
        let reduced = reduction(self.posed, i) * to_posed;
        let normal = self.rate(contacts.row(i), &contact.normal, reduced);
        let least = -rules.wall_rate(contacts, i) * normal.length * to_posed;
        let pushes = normal.sums.impulse != 0.0 && mode != Some(ContactMode::Open);
        if !pushes && normal.sums.after >= least {
            self.open.push((i, normal, least));
            return;
        }
        let mut miss = normal.sums.after - least;
        if self.form == Form::Total {
            // The expansion repeats the impulses of a contact that rebounds.
            if pushes && miss > normal.uncertainty() {
                self.stretch = self.stretch.max(1.0 + contact.restitution);
            }
            miss = miss.min(0.0);
        }
        if pushes || -miss > GRAZING_TOLERANCE / UNIT * normal.uncertainty() {
            for (acts, a) in self.acts.iter_mut().zip(normal.unit) {
                *acts |= *a != 0.0;
            }
        }
        let friction = if rules.friction {
            contact.friction
        } else {
            0.0
        };
        let most = friction * normal.sums.impulse.max(0.0) * normal.sums.scale;
        let is_rough =
            pushes && self.form != Form::Frictionless && !(rules.friction && most == 0.0);
        if !is_rough {
            self.hold_rate(&normal, None, miss, i);
            return;
        }
        let rates = contacts.rows_at(i).zip(contact.rows()).skip(1);
        let rates = rates.map(|(row, given)| self.rate(row, given, reduced));
        let rates: SmallVec<[Rate<'p>; 2]> = rates.collect();
        let slip = (mode != Some(ContactMode::Stick)).then(|| Slip::new(&rates, most));
        let Some(slip) = slip.filter(Slip::has_direction) else {
            self.hold_rate(&normal, None, miss, i);
            for rate in &rates {
                self.hold_rate(rate, None, rate.sums.after, i);
            }
            return;
        };
        let mut column: Numbers = normal.unit.iter().map(|a| a * normal.length).collect();
        for rate in &rates {
            // On the caller's rows the friction impulse is this multiple of the normal impulse.
            let part = rate.sums.impulse / normal.sums.impulse * rate.length;
            kernel::add_scaled(&mut column, part, rate.unit);
        }
        self.hold_rate(&normal, Some(&column), miss, i);
        if rates.len() == 2 && self.form != Form::Total {
            self.add_across(i, &rates, &slip);
        }
    }

    /// Adds the direction across the sliding velocity of a contact in space. With a round cone friction turns with the velocity;
    /// with a polygon the velocity has the direction of an edge as long as the impulse lies between two vertices.
    fn add_across(&mut self, i: ContactIndex, rates: &[Rate<'p>], slip: &Slip) {
        let is_round = self.form == Form::Round;
        if !is_round && slip.friction >= AT_LIMIT * slip.most {
            return;
        }
        let across = [-slip.along[1], slip.along[0]];
        let mut row: Numbers = smallvec![0.0; self.left.len()];
        let mut rounding = 0.0;
        for (k, rate) in rates.iter().enumerate() {
            let scale = rate.sums.scale;
            let part = across[k] / scale;
            kernel::add_scaled(&mut row, part * rate.length, rate.unit);
            rounding += part.abs() * rate.uncertainty();
            if is_round {
                // The momentum balance is that of the friction impulse which opposes the velocity.
                let missing = -slip.most * slip.along[k] / scale - rate.sums.impulse;
                kernel::add_scaled(&mut self.left, -missing * scale, rate.given.0.as_slice());
            }
        }
        let length = kernel::norm(&row);
        if length == 0.0 {
            return;
        }
        row.iter_mut().for_each(|x| *x /= length);
        let rounding = rounding / length;
        if is_round {
            self.across.rows.extend_from_slice(&row);
            self.across.errors.push(rounding);
            let stiffness = slip.most / slip.speed * length * length;
            self.across.stiffness.push(stiffness);
        } else {
            let row = Cow::Owned(row.into_vec());
            self.hold(i.index(), row, (&[], 1.0), None, [0.0, rounding, rounding]);
        }
    }

    /// Adds a row of a contact that is held at a value which it misses by `miss`, and the column of its impulse if it is another.
    fn hold_rate(&mut self, rate: &Rate<'p>, column: Option<&[f64]>, miss: f64, i: ContactIndex) {
        if rate.length == 0.0 {
            return;
        }
        let to_unit = 1.0 / rate.length;
        let given = match self.contacts.constraint_basis() {
            None => (rate.given.0.as_slice(), rate.sums.scale * to_unit),
            // The whitened row is restricted by the constraints.
            Some(_) => (&[][..], 1.0),
        };
        let errors = [miss, rate.rounding, miss.abs() + rate.uncertainty()].map(|x| x * to_unit);
        self.hold(i.index(), Cow::Borrowed(rate.unit), given, column, errors);
    }

    /// Adds a whitened row of unit length. The last numbers are its miss, the rounding of that, and its error.
    fn hold(
        &mut self,
        contact: usize,
        unit: Cow<'p, [f64]>,
        given: (&'p [f64], f64),
        column: Option<&[f64]>,
        [miss, rounding, error]: [f64; 3],
    ) {
        let first = self.columns.len();
        if let Some(column) = column {
            let length = kernel::norm(column);
            self.columns.extend(column.iter().map(|a| a / length));
        }
        self.held.push(Held {
            contact,
            unit,
            given,
            miss,
            rounding,
            error,
            column: column.map(|_| first),
        });
    }

    /// Holds the open contacts that close within the given errors of the whitened coordinates. Returns true if there are any.
    pub(super) fn hold_reached(&mut self, errors: &[f64]) -> bool {
        let held = self.held.len();
        for (i, normal, least) in std::mem::take(&mut self.open) {
            let (_, reach) = dot_and_size(normal.unit, errors);
            let slack = normal.sums.after - least;
            if slack > reach * normal.length + normal.uncertainty() {
                self.open.push((i, normal, least));
            } else {
                self.hold_rate(&normal, None, slack, i);
            }
        }
        self.held.len() > held
    }

    /// Adds the momentum of the `change` of the velocity to the balance, and turns the balance to the error of each momentum.
    pub(super) fn add_momentum(&mut self, change: &[f64]) {
        let (n, scale) = (change.len(), self.problem.scale());
        let mass = self.contacts.metric().mass_matrix().as_slice();
        let sums = self.ledger.size.iter().zip(&self.ledger.count);
        for ((row, left), (size, count)) in mass.chunks_exact(n).zip(&mut self.left).zip(sums) {
            let (mut sum, mut size, mut count) = (*left, *size, *count);
            for (m, x) in row.iter().zip(change) {
                let product = m * (x * scale);
                sum += product;
                size += product.abs();
                count += f64::from(product != 0.0);
            }
            *left = sum.abs() + count * UNIT * size;
        }
    }

    /// Returns for each coordinate the part of the system that shares bodies with it, by its first coordinate.
    fn parts(&self) -> SmallVec<[usize; 8]> {
        let n = self.left.len();
        let contacts = self.contacts;
        // A contact connects all that its rows touch.
        let mut touched: Flat = smallvec![0.0; n * contacts.len()];
        for (i, touched) in contacts.indices().zip(touched.chunks_exact_mut(n)) {
            for row in contacts.rows_at(i) {
                let entries = touched.iter_mut().zip(contacts.unit_row(row));
                entries.for_each(|(touched, a)| *touched += a.abs());
            }
            if !touched.contains(&0.0) {
                return smallvec![0; n];
            }
        }
        let links = touched.chunks_exact(n).chain(self.constraints());
        groups(n, links).0.into()
    }

    /// Returns the largest ratio of the error to the motion that contacts see, over the parts that share no body. `errors` are
    /// those of the whitened coordinates; `spans_all` tells that the held rows span all of them.
    pub(super) fn largest_ratio(&self, errors: &[f64], spans_all: bool) -> f64 {
        let n = errors.len();
        let (given, plus) = (self.problem.momentum(), &self.ledger.momentum);
        let of = self.parts();
        let (of, acts) = (&of[..], &self.acts[..]);
        let mut seen = None;
        let mut largest = 0.0;
        for group in (0..n).filter(|group| of[*group] == *group) {
            let own = || (0..n).filter(|k| of[*k] == group);
            if !own().any(|k| acts[k]) {
                continue;
            }
            let inside = |v: &[f64]| own().map(|k| v[k] * v[k]).sum::<f64>();
            let error = inside(errors);
            // An answer as near as doubles can tell the velocities has lost nothing.
            let told = f64::max(inside(given), inside(plus));
            if error <= ROUNDING_TOLERANCE * ROUNDING_TOLERANCE * told {
                continue;
            }
            let [before, after] = seen.get_or_insert_with(|| self.seen([given, plus], spans_all));
            let motion = match inside(before) {
                0.0 => inside(after),
                before => before,
            };
            largest = kernel::larger(largest, (error / motion).sqrt());
        }
        largest
    }

    /// Whitened rows of the constraints.
    fn constraints(&self) -> impl Iterator<Item = &[f64]> + Clone {
        let constraints = self.held.iter().filter(|row| row.is_constraint());
        constraints.map(|row| &*row.unit)
    }

    /// Parts of whitened momenta in the span of the rows of contacts and constraints.
    fn seen(&self, momenta: [&[f64]; 2], spans_all: bool) -> [Numbers; 2] {
        if spans_all {
            return momenta.map(Numbers::from_slice);
        }
        let contacts = self.contacts;
        let rows = contacts.all_rows().map(|row| contacts.unit_row(row));
        let basis = orthonormal(rows.chain(self.constraints()), RANK);
        momenta.map(|momentum| along(basis.chunks_exact(momentum.len().max(1)), momentum))
    }
}

/// Velocity and friction impulse of a contact along its tangents, in the caller's units.
struct Slip {
    /// Unit vector of the sliding velocity.
    along: [f64; 2],
    speed: f64,
    rounding: f64,
    friction: f64,
    /// Largest friction impulse.
    most: f64,
}

impl Slip {
    fn new(tangents: &[Rate<'_>], most: f64) -> Self {
        let (mut velocity, mut impulse, mut rounding) = ([0.0; 2], [0.0; 2], 0.0f64);
        for (k, rate) in tangents.iter().enumerate().take(2) {
            velocity[k] = rate.sums.after / rate.sums.scale;
            impulse[k] = rate.sums.impulse * rate.sums.scale;
            rounding = rounding.max(rate.uncertainty() / rate.sums.scale);
        }
        let speed = libm::hypot(velocity[0], velocity[1]);
        Self {
            along: velocity.map(|v| v / speed),
            speed,
            rounding,
            friction: libm::hypot(impulse[0], impulse[1]),
            most,
        }
    }

    fn has_direction(&self) -> bool {
        self.speed > NO_DIRECTION * self.rounding
    }
}
