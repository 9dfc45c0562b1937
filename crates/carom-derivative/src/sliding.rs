//! Derivatives of the impact of one sliding contact, whose impulse depends only on inverse inertia, velocity, friction
//! and restitution.

use super::adjoint::Adjoint;
use super::branch::Walk;
use super::frame::{Frame, Variation};
use super::interior::interior;
use super::{Answers, Branches, Map};
use carom_contact::{ImpactError, ImpactOutcome, ImpactProblem, ImpactStatus, RowIndex};
use carom_impact::contact_space;
use carom_two_body::{
    Event, FinalMode, ImpactOptions, PARAMETERS, RestitutionLaw, VariedImpact, inertia_entries,
    vary_impact,
};
use nalgebra::{DMatrix, DVector, Matrix3, SMatrix, Vector2, Vector3};

/// Slope of a decision with respect to the velocity, relative to the size of the metric, below which no velocity changes
/// the decision.
const UNCHANGED: f64 = 1e-10;

/// Limits of outcomes count as equal if they differ by less than this fraction of the motion that the contact sees.
const JUMP: f64 = 1e-6;

/// Largest number of ties that are followed on both sides in all combinations.
const MAX_TIES: usize = 4;

/// Sliding velocity, relative to the motion that the contact sees, at which decisions of a contact that sticks from the
/// start are evaluated: far beyond ties, and small enough to approximate the limit.
const ASIDE: f64 = 1e-7;

/// Distance, relative to the motion that the contact sees, at which a limit is evaluated.
const NEAR: f64 = 1e-5;

/// Impact of one contact, prepared for derivatives along any direction.
#[derive(Clone, Debug)]
pub(super) struct Sliding {
    /// Rows of the Jacobian along the contact axes: two tangents and the normal; `None` for a missing tangent.
    axes: [Option<RowIndex>; 3],
    impulse: Vector3<f64>,
    by: SMatrix<f64, 3, PARAMETERS>,
    after: DVector<f64>,
}

impl Sliding {
    /// Returns the whitened rows of the contact axes (two tangents, then the normal) in the caller's units. Each of
    /// the three entries is a pair: the row, and its projection onto the velocities that satisfy the constraints.
    /// Missing tangents have zero rows.
    fn rows(&self, frame: &Frame<'_>) -> [[DVector<f64>; 2]; 3] {
        self.axes.map(|row| {
            let given = match row {
                Some(row) => frame.given_row(row),
                None => DVector::zeros(frame.dim()),
            };
            let left = frame.admit(&given);
            [given, left]
        })
    }

    /// Returns the changes of the arguments on which the impulse of this contact depends. `w` is the change of the
    /// inverse inertia at the contact, and `velocity` is the change of the contact velocity. The changes of friction and
    /// restitution are zero.
    fn arguments(&self, mut w: Matrix3<f64>, velocity: [f64; 3]) -> SMatrix<f64, PARAMETERS, 1> {
        // Planar and frictionless contacts are embedded in a spatial one.
        match self.axes {
            [None, ..] => {
                w[(0, 0)] = w[(2, 2)];
                w[(1, 1)] = w[(2, 2)];
            }
            [_, None, _] => w[(1, 1)] = w[(0, 0)],
            _ => {}
        }
        let given = inertia_entries(&w)
            .into_iter()
            .chain(velocity)
            .chain([0.0; 2]);
        SMatrix::from_iterator(given)
    }

    /// Computes the Jacobians of the velocity after the impact and of the impulses with respect to the whitened
    /// velocity before the impact, in this order.
    pub(super) fn jacobians(&self, frame: &Frame<'_>) -> [DMatrix<f64>; 2] {
        let rows = self.rows(frame);
        let mut velocity = frame.admissible();
        let mut impulses = DMatrix::zeros(frame.n_rows(), frame.dim());
        for (i, row) in self.axes.iter().enumerate() {
            let Some(row) = *row else { continue };
            let mut slope = DVector::zeros(frame.dim());
            for (j, [_, left]) in rows.iter().enumerate() {
                slope.axpy(self.by[(i, 6 + j)], left, 1.0);
            }
            velocity.ger(1.0, &rows[i][1], &slope, 1.0);
            let factor = frame.of_impulse(row, 1.0) / frame.problem.scale();
            impulses.set_row(row.index(), &(slope * factor).transpose());
        }
        [velocity, impulses]
    }

    /// Computes the derivatives of the velocity after the impact and of the impulses along `variation`, a direction
    /// in which the data of the impact change.
    pub(super) fn along(
        &self,
        frame: &Frame<'_>,
        variation: &Variation,
    ) -> (DVector<f64>, DVector<f64>) {
        let contacts = frame.problem.contacts();
        let scale = frame.problem.scale();
        let start = variation.start(frame.dim());
        let rows = self.rows(frame);
        let changes = self
            .axes
            .map(|row| row.and_then(|row| frame.given_change(variation, row)));
        let forms: Vec<Option<DVector<f64>>> = frame
            .constraint_rows()
            .map(|row| frame.given_change(variation, row))
            .collect();
        // Change of the part of a row along the constraint forms.
        let moved: Vec<DVector<f64>> = rows
            .iter()
            .map(|[given, _]| {
                let mut out = DVector::zeros(frame.dim());
                for (form, y) in forms.iter().zip(contacts.multipliers(given).iter()) {
                    if let Some(form) = form {
                        out.axpy(*y, form, 1.0);
                    }
                }
                out
            })
            .collect();
        let mut w = Matrix3::zeros();
        let mut rates = [0.0; 3];
        for i in 0..3 {
            if self.axes[i].is_none() {
                continue;
            }
            rates[i] = rows[i][0].dot(&start) / scale;
            if let Some(change) = &changes[i] {
                rates[i] += frame.seen(change.as_view(), frame.before.as_view()) / scale;
            }
            for j in 0..3 {
                let (a, b) = (&rows[i][1], &rows[j][1]);
                let mut entry = -variation.mass_form(a, b) - moved[i].dot(b) - moved[j].dot(a);
                if let Some(change) = &changes[i] {
                    entry += change.dot(b);
                }
                if let Some(change) = &changes[j] {
                    entry += change.dot(a);
                }
                w[(i, j)] = entry;
            }
        }
        let mut arguments = self.arguments(w, rates);
        arguments[9] = variation.friction(0);
        arguments[10] = variation.restitution(0);
        let impulse = self.by * arguments;
        let mut velocity = start;
        variation.add_inertia(&(&self.after - &frame.before), &mut velocity);
        let mut total = DVector::zeros(frame.dim());
        let mut on_rows = DVector::zeros(frame.n_rows());
        for (i, row) in self.axes.iter().enumerate() {
            let Some(row) = *row else { continue };
            velocity.axpy(scale * impulse[i], &rows[i][0], 1.0);
            total.axpy(scale * self.impulse[i], &rows[i][0], 1.0);
            if let Some(change) = &changes[i] {
                velocity.axpy(scale * self.impulse[i], change, 1.0);
            }
            on_rows[row.index()] = frame.of_impulse(row, impulse[i]);
        }
        if !forms.is_empty() {
            // A dv' + dA v' = 0, with the multipliers of the impulses along the constraints.
            let mut missed = DVector::zeros(forms.len());
            for (k, (form, y)) in forms
                .iter()
                .zip(contacts.multipliers(&total).iter())
                .enumerate()
            {
                if let Some(form) = form {
                    velocity.axpy(-y, form, 1.0);
                    missed[k] = frame.seen(form.as_view(), self.after.as_view());
                }
            }
            let multipliers = contacts.stop_constraints(missed);
            velocity = frame.admit(&velocity);
            for (row, y) in frame.constraint_rows().zip(multipliers.iter()) {
                velocity.axpy(*y, &frame.given_row(row), 1.0);
            }
        }
        (velocity, on_rows)
    }
}

impl Sliding {
    /// Converts a cotangent (gradient) of the velocity after the impact to cotangents of all data of the impact.
    /// `velocity` is replaced by the cotangent of the velocity before the impact; the cotangents of all other data
    /// are added to `adjoint`. Transpose of [`along`](Self::along).
    pub(super) fn pull_back(
        &self,
        frame: &Frame<'_>,
        velocity: &mut DVector<f64>,
        adjoint: &mut Adjoint,
    ) {
        let contacts = frame.problem.contacts();
        let scale = frame.problem.scale();
        let rows = self.rows(frame);
        if frame.constraint_rows().len() > 0 {
            let held = frame.constraint_rows();
            let held = held.map(|row| frame.given_row(row).dot(velocity));
            let missed = contacts.stop_constraints(DVector::from_vec(held.collect()));
            *velocity = frame.admit(velocity);
            let mut total = DVector::zeros(frame.dim());
            for (i, [given, _]) in rows.iter().enumerate() {
                total.axpy(scale * self.impulse[i], given, 1.0);
            }
            let pushed = contacts.multipliers(&total);
            for (k, row) in frame.constraint_rows().enumerate() {
                adjoint.add_given_seen(frame, row, missed[k], &self.after);
                adjoint.add_given_row(frame, row, -pushed[k], velocity);
            }
        }
        let mut impulse = Vector3::zeros();
        for (i, row) in self.axes.iter().enumerate() {
            let Some(row) = *row else { continue };
            impulse[i] = scale * rows[i][0].dot(velocity);
            adjoint.add_given_row(frame, row, scale * self.impulse[i], velocity);
        }
        let change = &self.after - &frame.before;
        adjoint.add_mass(-1.0, velocity.as_view(), change.as_view());
        let arguments = self.by.tr_mul(&impulse);
        adjoint.add_friction(0, arguments[9]);
        adjoint.add_restitution(0, arguments[10]);
        if adjoint.is_wanted() {
            self.pull_back_inertia(frame, &rows, &arguments, adjoint);
        }
        for (i, row) in self.axes.iter().enumerate() {
            let Some(row) = *row else { continue };
            let rate = arguments[6 + i] / scale;
            velocity.axpy(rate, &rows[i][0], 1.0);
            adjoint.add_given_seen(frame, row, rate, &frame.before);
        }
    }

    /// Adds to `adjoint` the cotangents of the mass matrix and of the rows, as far as the inverse inertia at the contact
    /// depends on them. `arguments` holds the cotangents of the arguments of the contact impulse, and `rows` the axes of
    /// the contact.
    fn pull_back_inertia(
        &self,
        frame: &Frame<'_>,
        rows: &[[DVector<f64>; 2]; 3],
        arguments: &SMatrix<f64, PARAMETERS, 1>,
        adjoint: &mut Adjoint,
    ) {
        let contacts = frame.problem.contacts();
        for i in 0..3 {
            for j in i..3 {
                let (Some(first), Some(second)) = (self.axes[i], self.axes[j]) else {
                    continue;
                };
                let mut unit = Matrix3::zeros();
                (unit[(i, j)], unit[(j, i)]) = (1.0, 1.0);
                let entry = self.arguments(unit, [0.0; 3]).dot(arguments);
                let (a, b) = (&rows[i][1], &rows[j][1]);
                adjoint.add_mass(-entry, a.as_view(), b.as_view());
                adjoint.add_given_row(frame, first, entry, b);
                adjoint.add_given_row(frame, second, entry, a);
                // The part of a row along the constraint forms changes with these forms.
                let taken = [&rows[i][0], &rows[j][0]].map(|given| contacts.multipliers(given));
                for (k, row) in frame.constraint_rows().enumerate() {
                    adjoint.add_given_row(frame, row, -entry * taken[0][k], b);
                    adjoint.add_given_row(frame, row, -entry * taken[1][k], a);
                }
            }
        }
    }
}

/// Value and slope of a decision as a function of the contact velocity.
struct Decision {
    value: f64,
    slope: Vector3<f64>,
}

fn decisions(
    varied: &VariedImpact,
    w: &Matrix3<f64>,
    velocity: &Vector3<f64>,
    law: RestitutionLaw,
) -> Vec<Decision> {
    let impact = &varied.impact;
    let mut out = vec![Decision {
        value: -velocity.z,
        slope: Vector3::new(0.0, 0.0, -1.0),
    }];
    let of = |derivatives: &[f64; PARAMETERS]| {
        Vector3::new(derivatives[6], derivatives[7], derivatives[8])
    };
    let impulse: Matrix3<f64> = varied.impulse.fixed_columns::<3>(6).into_owned();
    let last = impulse.row(2).transpose();
    let rest = impact.events.first(Event::SlipZero);
    if let (Some(rest), Some(at_rest)) = (rest, &varied.at_rest)
        && law == RestitutionLaw::Poisson
        && rest.impulse[2] > 0.0
    {
        let value = impact.compression_impulse - rest.impulse[2];
        let slope = of(&varied.at_compression) - of(at_rest);
        out.push(Decision {
            value: value.abs(),
            slope: if value < 0.0 { -slope } else { slope },
        });
    }
    if impact.mode == FinalMode::Stick {
        if let (Some(rest), Some(at_rest)) = (rest, &varied.at_rest) {
            out.push(Decision {
                value: impact.impulse.z - rest.impulse[2],
                slope: last - of(at_rest),
            });
        }
    } else {
        let slip = impact.velocity_plus.xy();
        // Sliding that stops exactly at the end of the impact has no direction.
        let [x, y] = varied.last_direction;
        let s = if x == 0.0 && y == 0.0 {
            slip.try_normalize(0.0)
        } else {
            Some(Vector2::new(x, y))
        };
        if let Some(s) = s {
            let slopes = Matrix3::identity() + w * impulse;
            out.push(Decision {
                value: slip.dot(&s),
                slope: slopes.tr_mul(&s.push(0.0)),
            });
        }
    }
    out
}

/// Finds the branches of the contact near its outcome.
#[expect(
    clippy::too_many_lines,
    reason = "to be split: one part for each kind of arc"
)]
pub(super) fn branches<'p>(
    problem: &'p ImpactProblem<'p>,
    outcome: &ImpactOutcome,
    options: &ImpactOptions,
    tolerance: f64,
) -> Result<Branches<'p>, ImpactError> {
    let frame = Frame::new(problem)?;
    if outcome.status == ImpactStatus::Jammed {
        return Err(ImpactError::NotDifferentiated {
            reason: "the contact is jammed: friction lets it neither slide nor stick; with less \
                     friction it has a derivative",
        });
    }
    let (inertia, velocity) = contact_space(problem)?;
    let contact = &problem.contacts().contacts()[0];
    let tangents = contact.tangents.len();
    let axes = [
        (tangents > 0).then_some(RowIndex::new(1)),
        (tangents > 1).then_some(RowIndex::new(2)),
        Some(RowIndex::new(0)),
    ];
    let is_planar = tangents < 2;
    let vary = |velocity: &Vector3<f64>| {
        vary_impact(
            &inertia,
            velocity,
            contact.friction,
            contact.restitution,
            options,
            is_planar,
        )
    };
    let (after, _) = frame.of_outcome(outcome);
    let sliding = |varied: &VariedImpact| Sliding {
        axes,
        impulse: varied.impact.impulse,
        by: varied.impulse,
        after: after.clone(),
    };
    let mut w = inertia.matrix();
    if tangents < 2 {
        w[(1, 1)] = 0.0;
    }
    if tangents < 1 {
        w[(0, 0)] = 0.0;
    }
    // Speeds that the contact sees, and the speed up to which decisions are tied.
    let seen = |part: f64| frame.scales().of_row(RowIndex::new(0), part) / problem.scale();
    let tied_speed = seen(tolerance);
    let distance = |decision: &Decision| {
        let size = decision.slope.dot(&(w * decision.slope)).max(0.0).sqrt();
        // A decision that no velocity changes does not count.
        let is_one = size > UNCHANGED * w.amax().sqrt() * decision.slope.amax();
        is_one.then(|| decision.value / size)
    };
    let varied = match outcome.status {
        ImpactStatus::Resolved => vary(&velocity)?,
        _ => None,
    };
    let mut found = match &varied {
        Some(varied) => decisions(varied, &w, &velocity, options.restitution_law),
        None => vec![Decision {
            value: velocity.z.max(0.0),
            slope: Vector3::z(),
        }],
    };
    let has_friction = contact.friction > 0.0 && tangents > 0;
    let is_slow = |size: f64, inertia: f64| size <= tied_speed * inertia.max(0.0).sqrt();
    let is_at_rest = has_friction && is_slow(velocity.xy().norm(), w[(0, 0)].max(w[(1, 1)]));
    let starts_at_rest =
        varied.is_some() && is_at_rest && inertia.stick_demand() > contact.friction;
    // The contact sticks from the start, but might slide to the end in any direction.
    let holds = varied.is_some() && is_at_rest && !starts_at_rest;
    if holds {
        found.truncate(1);
        let slip = ASIDE * seen(1.0) * w[(0, 0)].max(0.0).sqrt();
        for slip in [slip, -slip].into_iter().filter(|_| is_planar) {
            let aside = Vector3::new(slip, 0.0, velocity.z);
            if let Some(varied) = vary(&aside)? {
                let all = decisions(&varied, &w, &aside, options.restitution_law);
                found.extend(all.into_iter().skip(1));
            }
        }
    }
    let (mut margin, mut least) = (f64::INFINITY, f64::INFINITY);
    let mut tied = Vec::new();
    for decision in &found {
        let Some(distance) = distance(decision) else {
            continue;
        };
        least = least.min(distance.abs());
        if distance <= tied_speed {
            tied.push(decision.slope);
        } else {
            margin = margin.min(distance);
        }
    }
    // If the normal velocity touches zero at a turning point, a new compression begins.
    let mut is_touched = false;
    for (value, slopes) in varied.iter().flat_map(|varied| &varied.turns) {
        let turn = Decision {
            value: *value,
            slope: Vector3::new(slopes[6], slopes[7], slopes[8]),
        };
        if distance(&turn).is_some_and(|distance| distance.abs() <= tied_speed) {
            is_touched = true;
            tied.push(if turn.value < 0.0 {
                -turn.slope
            } else {
                turn.slope
            });
        }
    }
    let at_limit = varied.as_ref().is_some_and(|varied| {
        let demand = inertia.stick_demand();
        varied.at_rest.is_some()
            && has_friction
            && (demand - contact.friction).abs() <= tolerance * contact.friction
    });
    let is_repelled = varied.as_ref().is_some_and(|varied| varied.is_repelled);
    let is_kink = starts_at_rest || at_limit || is_repelled || is_touched;
    let rows = |slope: &Vector3<f64>| {
        let mut out = DVector::zeros(frame.dim());
        for (row, c) in axes.iter().zip(slope.iter()) {
            if let Some(row) = *row {
                out.axpy(*c, &frame.admit(&frame.given_row(row)), 1.0);
            }
        }
        out
    };
    let (margin, mut least) = (margin * problem.scale(), least * problem.scale());
    if tied.is_empty() && !is_kink {
        let mut walk = Walk::at(&frame, after.clone(), margin, least, Vec::new());
        if let Some(varied) = &varied {
            let sliding = sliding(varied);
            [walk.jacobian, walk.impulses] = sliding.jacobians(&frame);
            walk.map = Map::Sliding(Box::new(sliding));
        }
        let answers = match holds && !is_planar {
            true => Answers::OneSomewhere,
            false => Answers::One,
        };
        return Ok(Branches {
            answers,
            ..Branches::new(frame, vec![walk])
        });
    }
    if starts_at_rest {
        tied.push(Vector3::x());
    }
    if tied.is_empty() {
        tied.push(Vector3::z());
    }
    // A contact without velocity has a separate limit in every direction.
    let is_still = is_at_rest && is_slow(velocity.z.abs(), w[(2, 2)]);
    let mut is_complete = !(is_repelled || at_limit || is_touched || is_still);
    is_complete &= (!starts_at_rest || is_planar) && tied.len() <= MAX_TIES;
    tied.truncate(MAX_TIES);
    if is_kink {
        least = 0.0;
    }
    let rows: Vec<DVector<f64>> = tied.iter().map(|slope| rows(slope).normalize()).collect();
    let mut ways = Vec::new();
    // Every combination of the sides of all ties, beginning with all positive sides.
    for sides in 0..1usize << rows.len() {
        let signed = rows.iter().enumerate();
        let signed: Vec<DVector<f64>> = signed
            .map(|(k, row)| {
                if sides >> k & 1 == 0 {
                    row.clone()
                } else {
                    -row
                }
            })
            .collect();
        let Some(direction) = interior(&signed)? else {
            continue;
        };
        let rate =
            |row: Option<RowIndex>| row.map_or(0.0, |row| frame.given_row(row).dot(&direction));
        let step = Vector3::from(axes.map(rate));
        let size = if seen(1.0) > 0.0 { seen(1.0) } else { 1.0 };
        let limit = |by: f64| -> Result<_, ImpactError> {
            let near = velocity + step * (by * NEAR * size);
            Ok(match vary(&near)? {
                Some(varied) => (varied.impact.impulse, sliding(&varied).jacobians(&frame)),
                None => {
                    let none = DMatrix::zeros(frame.n_rows(), frame.dim());
                    (Vector3::zeros(), [frame.admissible(), none])
                }
            })
        };
        let (one, two) = (limit(1.0)?, limit(2.0)?);
        let impulse = 2.0 * one.0 - two.0;
        let ([velocity, impulses], [other, others]) = (one.1, two.1);
        let mut end = frame.before.clone();
        for (row, l) in axes.iter().zip(impulse.iter()) {
            if let Some(row) = *row {
                let push = frame.admit(&frame.given_row(row));
                end.axpy(l * problem.scale(), &push, 1.0);
            }
        }
        // Friction may hold a contact that does not approach. Then the outcome jumps, by more than the error of a limit.
        if frame.is_zero(&(&end - &after), JUMP) {
            end.clone_from(&after);
        }
        let mut walk = Walk::at(&frame, end, margin, least, signed);
        walk.jacobian = 2.0 * velocity - other;
        walk.impulses = 2.0 * impulses - others;
        walk.map = Map::Limit;
        ways.push(walk);
    }
    Ok(Branches {
        is_complete,
        is_kink,
        ..Branches::new(frame, ways)
    })
}
