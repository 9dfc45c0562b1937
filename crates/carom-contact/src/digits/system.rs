//! Rows and columns of the system that an answer solves, and the error of its right-hand side.

use super::rate::{AT_LIMIT, Rate, Slip};
use super::{Flat, Form, UNIT, reduction};
use crate::gate::{Answer, Rules, Work};
use crate::index::{ContactIndex, RowIndex};
use crate::numbers::Numbers;
use crate::residual_scale::{GRAZING_TOLERANCE, ROUNDING_TOLERANCE, groups};
use crate::span::part_in_span;
use crate::{Contact, ContactSet, ImpactProblem};
use carom_lcp::cone::ConeMode;
use carom_metric::{Covector, kernel};
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;

/// Row that an answer holds at a value. Velocities are those of the whitened row of unit length.
pub(super) struct Held<'p> {
    /// Contact of the row, `usize::MAX` for constraints.
    pub(super) contact: usize,
    /// Row in the caller's coordinates, and the factor that brings it to unit length; empty for a combination of rows.
    pub(super) given: (&'p [f64], f64),
    /// Velocity by which the row misses its value, its rounding, and its error.
    pub(super) miss: f64,
    pub(super) rounding: f64,
    pub(super) error: f64,
    /// First entry of the whitened impulse, of unit length, among the columns of the system; `None` if it is the row.
    pub(super) column: Option<usize>,
    /// Factor of the impulse in the velocity after an expansion that repeats it; 1 without one.
    pub(super) stretch: f64,
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
    pub(super) contacts: &'p ContactSet<'p>,
    problem: &'p ImpactProblem<'p>,
    /// Problem that the law solved: the same, or that of the motion that the contacts see.
    posed: &'p ImpactProblem<'p>,
    before: Numbers,
    after: Numbers,
    change: Numbers,
    /// Momentum that the impulses do not explain, the size of its terms, and their number; n entries each.
    pub(super) left: Numbers,
    size: Numbers,
    count: Numbers,
    pub(super) held: SmallVec<[Held<'p>; 8]>,
    /// Whitened held rows and columns of impulses, of unit length, n entries each.
    pub(super) rows: Flat,
    pub(super) columns: Flat,
    pub(super) across: Across,
    /// Impulses of a compression on the caller's rows, the whitened momentum after it, both empty without one, and the part of the
    /// friction limit below which a contact stuck.
    compression: (&'p [f64], Numbers, f64),
    /// True for the coordinates of rows that push, or approach by more than grazing: the impact acts on them.
    acts: SmallVec<[bool; 8]>,
    /// Normals of open contacts, with the velocities at which they separate.
    open: SmallVec<[(ContactIndex, Rate<'p>, f64); 4]>,
}

impl<'p> System<'p> {
    /// Starts the system of an answer to the first problem; the second is that which the law solved.
    pub(super) fn new(
        [problem, posed]: [&'p ImpactProblem<'p>; 2],
        answer: &Answer<'_>,
        change: &[f64],
    ) -> Self {
        let scale = problem.scale();
        let scaled = |v: &[f64]| -> Numbers { v.iter().map(|x| x * scale).collect() };
        let n = change.len();
        Self {
            contacts: problem.contacts(),
            problem,
            posed,
            before: scaled(problem.velocity_minus().0.as_slice()),
            after: scaled(answer.velocity_plus),
            change: scaled(change),
            left: smallvec![0.0; n],
            size: smallvec![0.0; n],
            count: smallvec![2.0; n],
            held: SmallVec::new(),
            rows: Flat::new(),
            columns: Flat::new(),
            across: Across::default(),
            compression: (&[], Numbers::new(), 1.0),
            acts: smallvec![false; n],
            open: SmallVec::new(),
        }
    }

    /// Adds the impulse on a row to the balance of momentum, and returns the row with its velocity after the impact. `row` is its
    /// number among the rows of contacts.
    fn add(
        &mut self,
        covector: &'p Covector,
        row: Option<RowIndex>,
        scale: f64,
        impulse: f64,
    ) -> Rate<'p> {
        let given = covector.0.as_slice();
        let impulse = impulse * (self.problem.scale() / scale);
        let (mut after, mut terms, mut count) = (0.0, 0.0, 2.0);
        let velocities = self.before.iter().zip(&self.after);
        for (a, (minus, plus)) in given.iter().zip(velocities) {
            let (minus, plus) = (a * scale * minus, a * scale * plus);
            after += plus;
            terms += minus.abs() + plus.abs();
            count += f64::from(*a != 0.0);
        }
        if impulse != 0.0 {
            let sums = self.left.iter_mut().zip(&mut self.size);
            for (a, ((left, size), count)) in given.iter().zip(sums.zip(&mut self.count)) {
                let product = a * scale * impulse;
                *left -= product;
                *size += product.abs();
                *count += f64::from(*a != 0.0);
            }
        }
        let is_free = self.contacts.constraint_forms().is_empty();
        let (unit, length) = match row.filter(|_| is_free) {
            Some(row) => {
                let unit = self.contacts.unit_row(row);
                (Cow::Borrowed(unit), self.contacts.row_norm(row) * scale)
            }
            None => {
                let mut unit: Vec<f64> = given.iter().map(|a| a * scale).collect();
                self.contacts.metric().whiten_in_place(&mut unit);
                let length = kernel::norm(&unit);
                unit.iter_mut().for_each(|x| *x /= length);
                (Cow::Owned(unit), length)
            }
        };
        Rate {
            given,
            scale,
            unit,
            length,
            impulse,
            after,
            rounding: count * UNIT * terms,
            hidden: 0.0,
        }
    }

    /// Adds a constraint with its multiplier.
    pub(super) fn add_constraint(&mut self, form: &'p Covector, multiplier: f64) {
        let size = kernel::max_abs(form.0.as_slice());
        // A zero form is no constraint.
        if size > 0.0 {
            let rate = self.add(form, None, kernel::power_of_two_scale(size), multiplier);
            self.hold(&rate, None, rate.after, usize::MAX, 1.0);
        }
    }

    /// Adds the impulses of a compression on the caller's rows. Rows that it stops are held by the answer, too. Friction below the
    /// part `edge` of its limit sticks.
    pub(super) fn add_compression(&mut self, impulses: &'p [f64], edge: f64) {
        let mut momentum: Numbers = self.problem.momentum().into();
        for (row, impulse) in self.contacts.all_rows().zip(impulses) {
            let on_unit = impulse * self.contacts.row_norm(row) * self.problem.scale();
            kernel::add_scaled(&mut momentum, on_unit, self.contacts.unit_row(row));
        }
        self.compression = (impulses, momentum, AT_LIMIT * edge);
    }

    /// Adds the velocities that a contact keeps through a compression that should stop it: of its normal, and of its tangents if
    /// they stick.
    fn add_missed(
        &self,
        i: ContactIndex,
        normal: &mut Rate<'p>,
        tangents: &mut [Rate<'p>],
        most: f64,
    ) {
        let (impulses, momentum, edge) = &self.compression;
        let mut rows = self.contacts.rows_at(i);
        let impulse = |row: RowIndex| impulses.get(row.index()).copied().unwrap_or(0.0);
        let missed = |row: RowIndex| {
            let velocity = kernel::dot(self.contacts.unit_row(row), momentum).abs();
            velocity * self.contacts.row_norm(row)
        };
        let Some(first) = rows.next().filter(|row| impulse(*row) > 0.0) else {
            return;
        };
        normal.hidden += missed(first) * normal.scale;
        let sizes = rows.clone().map(impulse);
        let is_stopped = sizes.fold(0.0, libm::hypot) < edge * most * impulse(first);
        for (row, tangent) in rows.zip(tangents).filter(|_| is_stopped) {
            tangent.hidden += missed(row) * tangent.scale;
        }
    }

    /// Adds a contact: its impulses, and the rows that the answer holds at a value.
    pub(super) fn add_contact(
        &mut self,
        i: ContactIndex,
        contact: &'p Contact,
        impulses: &[f64],
        rules: &Rules<'_>,
        (form, mode): (Form, Option<ConeMode>),
    ) {
        let contacts = self.contacts;
        let to_posed = self.problem.scale() / self.posed.scale();
        let reduced = reduction(self.posed, i) * to_posed;
        let mut rates: SmallVec<[Rate<'p>; 3]> = SmallVec::new();
        for (row, covector) in contacts.rows_at(i).zip(contact.rows()) {
            let scale = contacts.row_scale(row);
            let mut rate = self.add(covector, Some(row), scale, impulses[row.index()]);
            rate.hidden = reduced * contacts.row_norm(row) * scale;
            rates.push(rate);
        }
        let mut normal = rates.remove(0);
        let wall = rules.wall_rates.get(contacts.place(i).index()).copied();
        let rebound = match rules.work {
            Work::Rebound(rebounds) => rebounds.get(i.index()).copied(),
            _ => None,
        };
        let unit = contacts.normal_norm(i) * normal.scale * to_posed;
        let least = (rebound.unwrap_or(0.0) - wall.unwrap_or(0.0)) * unit;
        let pushes = normal.impulse != 0.0 && mode != Some(ConeMode::Open);
        if !pushes && normal.after >= least {
            self.open.push((i, normal, least));
            return;
        }
        let miss = match form {
            Form::Total => f64::min(normal.after - least, 0.0),
            _ => normal.after - least,
        };
        if pushes || -miss > GRAZING_TOLERANCE / UNIT * normal.uncertainty() {
            for (acts, a) in self.acts.iter_mut().zip(&*normal.unit) {
                *acts |= *a != 0.0;
            }
        }
        let friction = if rules.friction {
            contact.friction
        } else {
            0.0
        };
        let most = friction * normal.impulse.max(0.0) * normal.scale;
        // The expansion repeats the impulses of a contact that rebounds.
        let rebounds = form == Form::Total && pushes && normal.after - least > normal.uncertainty();
        let stretch = if rebounds {
            1.0 + contact.restitution
        } else {
            1.0
        };
        let is_rough = pushes && form != Form::Frictionless && !(rules.friction && most == 0.0);
        let slip = Slip::new(&rates, most);
        let is_sliding = is_rough && mode != Some(ConeMode::Stick) && slip.has_direction();
        self.add_missed(i, &mut normal, &mut rates, friction);
        if !is_sliding {
            self.hold(&normal, None, miss, i.index(), stretch);
            for rate in rates.iter().filter(|_| is_rough) {
                self.hold(rate, None, rate.after, i.index(), stretch);
            }
            return;
        }
        let mut column: Numbers = normal.unit.iter().map(|a| a * normal.length).collect();
        for rate in &rates {
            // On the caller's rows the friction impulse is this multiple of the normal impulse.
            let part = rate.impulse / normal.impulse * rate.length;
            kernel::add_scaled(&mut column, part, &rate.unit);
        }
        self.hold(&normal, Some(&column), miss, i.index(), stretch);
        if rates.len() == 2 && form != Form::Total {
            self.add_across(i, &rates, &slip, form);
        }
    }

    /// Adds the direction across the sliding velocity of a contact in space. With a round cone friction turns with the velocity;
    /// with a polygon the velocity has the direction of an edge as long as the impulse lies between two vertices.
    fn add_across(&mut self, i: ContactIndex, rates: &[Rate<'p>], slip: &Slip, form: Form) {
        if form == Form::Polygon && slip.is_at_vertex() {
            return;
        }
        let across = [-slip.along[1], slip.along[0]];
        let n = self.change.len();
        let mut row: Numbers = smallvec![0.0; n];
        let mut rounding = 0.0;
        for (k, rate) in rates.iter().enumerate() {
            let part = across[k] / rate.scale;
            kernel::add_scaled(&mut row, part * rate.length, &rate.unit);
            rounding += part.abs() * rate.uncertainty();
            if form == Form::Round {
                // The momentum balance is that of the friction impulse which opposes the velocity.
                let missing = -slip.most * slip.along[k] / rate.scale - rate.impulse;
                kernel::add_scaled(&mut self.left, -missing * rate.scale, rate.given);
            }
        }
        let length = kernel::norm(&row);
        if length == 0.0 {
            return;
        }
        row.iter_mut().for_each(|x| *x /= length);
        if form == Form::Round {
            self.across.rows.extend_from_slice(&row);
            self.across.errors.push(rounding / length);
            let stiffness = slip.most / slip.speed * length * length;
            self.across.stiffness.push(stiffness);
            return;
        }
        let rate = Rate {
            given: &[],
            scale: 1.0,
            unit: Cow::Owned(row.into_vec()),
            length,
            impulse: 0.0,
            after: 0.0,
            rounding,
            hidden: 0.0,
        };
        self.hold(&rate, None, 0.0, i.index(), 1.0);
    }

    /// Adds a row that is held at a value which it misses by `miss`, and the column of its impulse if it is another.
    fn hold(
        &mut self,
        rate: &Rate<'p>,
        column: Option<&[f64]>,
        miss: f64,
        contact: usize,
        stretch: f64,
    ) {
        if rate.length == 0.0 {
            return;
        }
        let first = self.columns.len();
        if let Some(column) = column {
            let length = kernel::norm(column);
            self.columns.extend(column.iter().map(|a| a / length));
        }
        self.rows.extend_from_slice(&rate.unit);
        let to_unit = 1.0 / rate.length;
        self.held.push(Held {
            contact,
            given: (rate.given, rate.scale * to_unit),
            miss: miss * to_unit,
            rounding: rate.rounding * to_unit,
            error: (miss.abs() + rate.uncertainty()) * to_unit,
            column: column.map(|_| first),
            stretch,
        });
    }

    /// Gives the impulses of constraints, which hold in both phases, the largest factor of all.
    pub(super) fn stretch_constraints(&mut self) {
        let most = self
            .held
            .iter()
            .fold(1.0, |most, row| f64::max(most, row.stretch));
        let constraints = self.held.iter_mut().filter(|row| row.contact == usize::MAX);
        constraints.for_each(|row| row.stretch = most);
    }

    /// Holds the open contacts that close within the given errors of the whitened coordinates. Returns true if there are any.
    pub(super) fn hold_reached(&mut self, errors: &[f64]) -> bool {
        let held = self.held.len();
        let mut open = std::mem::take(&mut self.open);
        open.retain(|(i, normal, least)| {
            let entries = normal.unit.iter().zip(errors);
            let reach: f64 = entries.map(|(a, e)| a.abs() * e).sum();
            let slack = normal.after - *least;
            let is_open = slack > reach * normal.length + normal.uncertainty();
            if !is_open {
                self.hold(normal, None, slack, i.index(), 1.0);
            }
            is_open
        });
        self.open = open;
        self.held.len() > held
    }

    /// Adds the momentum change $M\Delta$ to the balance, and turns the balance to the error of each momentum.
    pub(super) fn add_momentum(&mut self) {
        let n = self.change.len();
        let mass = self.contacts.metric().mass_matrix().as_slice();
        let sums = self.left.iter_mut().zip(&self.size).zip(&self.count);
        for (row, ((left, size), count)) in mass.chunks_exact(n).zip(sums) {
            let (mut sum, mut size, mut count) = (*left, *size, *count);
            for (m, x) in row.iter().zip(&self.change) {
                let product = m * x;
                sum += product;
                size += product.abs();
                count += f64::from(product != 0.0);
            }
            *left = sum.abs() + count * UNIT * size;
        }
    }

    /// Returns for each coordinate the part of the system that shares bodies with it, by its first coordinate.
    pub(super) fn parts(&self) -> SmallVec<[usize; 8]> {
        let n = self.change.len();
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
        let links = touched.chunks_exact(n).chain(self.rows.chunks_exact(n));
        groups(n, links).0.into()
    }

    /// Returns the largest ratio of the error to the motion that contacts see, over the parts that share no body. `errors` are
    /// those of the whitened coordinates.
    pub(super) fn largest_ratio(&self, of: &[usize], errors: &[f64]) -> f64 {
        let n = self.change.len();
        let metric = self.contacts.metric();
        let given = self.problem.momentum();
        let mut plus: Numbers = smallvec![0.0; n];
        metric.whiten_velocity_into(&self.after, &mut plus);
        let mut seen = None;
        let mut largest = 0.0;
        for group in (0..n).filter(|group| of[*group] == *group) {
            let own = || (0..n).filter(|k| of[*k] == group);
            if !own().any(|k| self.acts[k]) {
                continue;
            }
            let inside = |v: &[f64]| own().map(|k| v[k] * v[k]).sum::<f64>();
            let error = inside(errors);
            // An answer as near as doubles can tell the velocities has lost nothing.
            let told =
                ROUNDING_TOLERANCE * ROUNDING_TOLERANCE * f64::max(inside(given), inside(&plus));
            if error <= told {
                continue;
            }
            let [before, after] = seen.get_or_insert_with(|| [given, &plus].map(|p| self.seen(p)));
            let motion = match inside(before) {
                0.0 => inside(after),
                before => before,
            };
            largest = kernel::larger(largest, (error / motion).sqrt());
        }
        largest
    }

    /// Part of a whitened momentum in the span of the rows of contacts and constraints.
    fn seen(&self, momentum: &[f64]) -> Numbers {
        let contacts = self.contacts;
        let rows = contacts.all_rows().map(|row| contacts.unit_row(row));
        let n = self.change.len();
        part_in_span(rows.chain(self.rows.chunks_exact(n)), momentum)
    }
}
