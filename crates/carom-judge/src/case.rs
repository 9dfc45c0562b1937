//! An outcome to be judged, and the sizes of motion to which its distances are relative.

use crate::JudgeOptions;
use crate::parts::{self, Parts};
use carom_contact::internal::{ROUNDING, row_velocity};
use carom_contact::{ContactIndex, ImpactError, ImpactProblem};
use carom_metric::{Covector, Tangent, kernel};
use nalgebra::DVector;

/// An outcome to be judged. Vectors are in whitened coordinates, scaled like the problem, which is posed in the units of
/// velocity of its parts.
#[derive(Clone)]
pub(crate) struct Case<'a> {
    pub(crate) problem: &'a ImpactProblem,
    /// Velocity to which coefficients of restitution refer.
    pub(crate) approach: &'a Tangent,
    pub(crate) velocity_plus: &'a Tangent,
    pub(crate) options: JudgeOptions,
    /// Whitened velocity after the impact.
    pub(crate) after: DVector<f64>,
    pub(crate) parts: Parts,
    /// True if a contact approaches in the caller's problem.
    pub(crate) is_approaching: bool,
    /// Norm of the motion that contacts can change, one entry per part, $\rho_c$.
    pub(crate) references: Vec<f64>,
    /// Rounding of the given velocities in the norm of each part, $r_c$.
    pub(crate) rounding: Vec<f64>,
    /// Size of the motion of all parts together.
    pub(crate) reference: f64,
}

impl<'a> Case<'a> {
    pub(crate) fn new(
        problem: &'a ImpactProblem,
        approach: &'a Tangent,
        velocity_plus: &'a Tangent,
        parts: Parts,
        options: JudgeOptions,
    ) -> Result<Self, ImpactError> {
        let mut case = Self {
            problem,
            approach,
            velocity_plus,
            options,
            after: DVector::zeros(velocity_plus.0.len()),
            parts,
            is_approaching: problem.is_approaching(),
            references: Vec::new(),
            rounding: Vec::new(),
            reference: 1.0,
        };
        case.after = case.whitened(velocity_plus);
        let norm_plus = kernel::norm(case.after.as_slice());
        if !norm_plus.is_finite() {
            return Err(ImpactError::Overflow);
        }
        Ok(case)
    }

    /// Computes, for every independent part of the system, the norm of its motion and the rounding of its velocities.
    /// `given` are the velocities before and after the impact in the caller's frame and unit, because their rounding
    /// counts.
    pub(crate) fn measure(&mut self, given: [&Tangent; 2]) {
        let whitened = given.map(|velocity| self.whitened(velocity));
        let sizes = whitened.map(|whitened| self.parts.norms_around(whitened.as_slice()));
        let [minus, plus] = sizes;
        let largest = minus.iter().zip(&plus).map(|(a, b)| a.max(*b));
        let rounding = largest.map(|size| ROUNDING * size);
        self.rounding = self.parts.in_parts(rounding).collect();
        let (before, after) = self.norms();
        let moving = |sizes: [f64; 2], rounding: f64| {
            let moves = |size: &f64| *size > rounding;
            sizes.into_iter().find(moves).unwrap_or(1.0)
        };
        let wholes = [&before, &after].map(|norms| self.parts.whole_of_event(norms));
        let whole = moving(wholes, self.parts.whole_of_event(&self.rounding));
        self.reference = moving(
            [self.problem.norm(), kernel::norm(self.after.as_slice())],
            0.0,
        );
        let own = before.iter().zip(&after).zip(&self.rounding);
        let own = own.zip(&self.parts.is_touched);
        // A part that no contact touches has no motion that contacts can change: the motion of the whole event replaces it.
        let references = own.zip(self.parts.in_parts(std::iter::repeat(whole)));
        let references = references.map(|((((before, after), rounding), is_touched), whole)| {
            if *is_touched {
                moving([*before, *after], *rounding)
            } else {
                whole
            }
        });
        self.references = references.collect();
    }

    /// Returns the largest ratio of the rounding of the velocities to the norm of the motion, over the independent
    /// parts of the system that have a contact.
    pub(crate) fn largest_rounding(&self) -> f64 {
        let parts = self.rounding.iter().zip(&self.references);
        let parts = parts.zip(&self.parts.is_touched);
        let touched = parts.filter(|(_, is_touched)| **is_touched);
        touched
            .map(|((rounding, reference), _)| rounding / reference)
            .fold(0.0, f64::max)
    }

    /// Converts a velocity (n entries) to whitened coordinates, in which kinetic energy is half the squared length. The
    /// result is multiplied by the scale of the problem, which gives the momentum before the impact about unit norm.
    pub(crate) fn whitened(&self, velocity: &Tangent) -> DVector<f64> {
        let mut whitened = DVector::zeros(velocity.0.len());
        let metric = self.problem.contacts().metric();
        metric.whiten_velocity_into(velocity.0.as_slice(), whitened.as_mut_slice());
        whitened * self.problem.scale()
    }

    /// Returns the momentum before the impact in whitened coordinates (n entries), multiplied by the scale of the
    /// problem, so that its norm is about one.
    pub(crate) fn before(&self) -> DVector<f64> {
        DVector::from_column_slice(self.problem.momentum())
    }

    /// Converts a whitened velocity (n entries), multiplied by the scale of the problem, back to the coordinates and
    /// unit of the problem.
    pub(crate) fn velocity(&self, whitened: &DVector<f64>) -> Tangent {
        let mut velocity = whitened / self.problem.scale();
        let metric = self.problem.contacts().metric();
        metric.unwhiten_velocity_in_place(velocity.as_mut_slice());
        Tangent(velocity)
    }

    /// Returns the norms of the whitened momentum before and after the impact, each with one entry per independent part
    /// of the system.
    pub(crate) fn norms(&self) -> (Vec<f64>, Vec<f64>) {
        let before = self.parts.norms(self.problem.momentum());
        (before, self.parts.norms(self.after.as_slice()))
    }

    /// Measures a whitened vector (n entries) relative to the motion that contacts can change. In each independent part
    /// of the system, the rounding of the velocities is subtracted from the norm of the vector, and the difference is
    /// divided by the norm of the motion. Returns the largest quotient, at least 0.
    pub(crate) fn relative(&self, whitened: &DVector<f64>) -> f64 {
        let norms = self.parts.norms(whitened.as_slice());
        let all = norms.iter().zip(&self.rounding).zip(&self.references);
        all.map(|((norm, rounding), reference)| (norm - rounding) / reference)
            .fold(0.0, f64::max)
    }

    /// Measures a whitened vector (n entries) in the independent part of the system with index `part`: the norm of the
    /// vector minus the rounding of the velocities, divided by the norm of the motion there. The result is at least 0.
    pub(crate) fn relative_of(&self, part: usize, whitened: &DVector<f64>) -> f64 {
        let norms = self.parts.norms(whitened.as_slice());
        let sizes = [&norms, &self.rounding, &self.references];
        let [norm, rounding, reference] =
            sizes.map(|sizes| sizes.get(part).copied().unwrap_or(1.0));
        ((norm - rounding) / reference).max(0.0)
    }

    /// Converts a velocity along a row to a relative one: `size` minus the rounding of the velocities, divided by the
    /// norm of the motion, at least 0. `size` is the velocity along `row` scaled to unit length. Rounding and motion are
    /// those of the independent part of the system to which the row belongs.
    pub(crate) fn relative_rate(&self, row: &Covector, size: f64) -> f64 {
        ((size - self.rounding_of(row)) / self.reference_of(row)).max(0.0)
    }

    /// Returns the size of the rounding of the velocities in the independent part of the system to which `row` belongs.
    pub(crate) fn rounding_of(&self, row: &Covector) -> f64 {
        let part = self.parts.of_row(row.0.as_slice());
        self.rounding.get(part).copied().unwrap_or(0.0)
    }

    /// Returns the limit up to which the velocity along `row` (scaled to unit length) counts as zero: the tolerance
    /// times the norm of the motion, plus the rounding. Motion and rounding are those of the independent part of the
    /// system to which the row belongs.
    pub(crate) fn limit_of(&self, row: &Covector) -> f64 {
        self.options.tolerance * self.reference_of(row) + self.rounding_of(row)
    }

    /// Returns the norm of the motion that contacts can change, in the independent part of the system to which `row`
    /// belongs.
    pub(crate) fn reference_of(&self, row: &Covector) -> f64 {
        let part = self.parts.of_row(row.0.as_slice());
        self.references.get(part).copied().unwrap_or(self.reference)
    }

    /// Returns the distance of the judged velocity from another velocity after the impact (n entries), relative to the
    /// motion. Rounding is subtracted.
    pub(crate) fn distance(&self, velocity: &Tangent) -> f64 {
        self.relative(&(self.whitened(velocity) - &self.after))
    }

    /// Returns the distance of the judged velocity from another velocity after the impact (n entries), relative to the
    /// motion. Rounding is not subtracted.
    pub(crate) fn told_distance(&self, velocity: &Tangent) -> f64 {
        let norms = self
            .parts
            .norms((self.whitened(velocity) - &self.after).as_slice());
        let all = norms.iter().zip(&self.references);
        all.map(|(norm, reference)| norm / reference)
            .fold(0.0, f64::max)
    }

    /// Returns the largest velocity at which a contact still approaches after the impact, relative to the motion; 0 if
    /// no contact approaches. Normals have unit length, and rounding is subtracted.
    pub(crate) fn penetration(&self) -> f64 {
        self.penetration_of(self.velocity_plus)
    }

    /// Lists the contacts that approach at a velocity (n entries) by more than the tolerance, in ascending order.
    pub(crate) fn approaching_at(&self, velocity: &Tangent) -> Vec<usize> {
        let contacts = self.problem.contacts();
        let (after, scale) = (velocity.0.as_slice(), self.problem.scale());
        let approaches = |i: &ContactIndex| {
            let rate = contacts.normal_velocity(*i, after, scale).rate;
            -rate > self.limit_of(&contacts.contact(*i).normal)
        };
        let approaching = contacts.indices().filter(approaches);
        approaching.map(ContactIndex::index).collect()
    }

    /// True if no contact approaches at a velocity (n entries) by more than the tolerance.
    pub(crate) fn is_open(&self, velocity: &Tangent) -> bool {
        self.penetration_of(velocity) <= self.options.tolerance
    }

    /// Returns the largest velocity of approach of a contact at a velocity (n entries), relative to the motion; 0 if no
    /// contact approaches. Normals have unit length, and rounding is subtracted.
    pub(crate) fn penetration_of(&self, velocity: &Tangent) -> f64 {
        self.fastest_approach(velocity, |normal, size| self.relative_rate(normal, size))
    }

    /// Returns the largest value of `measure` over the contacts at a velocity (n entries), at least 0. `measure` takes
    /// the normal of a contact and the velocity of approach along the normal scaled to unit length.
    pub(crate) fn fastest_approach(
        &self,
        velocity: &Tangent,
        measure: impl Fn(&Covector, f64) -> f64,
    ) -> f64 {
        let contacts = self.problem.contacts();
        let (after, scale) = (velocity.0.as_slice(), self.problem.scale());
        let approaching = contacts.indexed().map(|(i, contact)| {
            let rate = contacts.normal_velocity(i, after, scale).rate;
            measure(&contact.normal, -rate)
        });
        approaching.fold(0.0, f64::max)
    }

    /// Returns the largest value of `measure` over the constraints at the velocity after the impact. `measure` takes
    /// the row of a constraint and the size of the velocity along this row scaled to unit length.
    pub(crate) fn violation(
        &self,
        measure: impl Fn(&Covector, f64) -> f64,
    ) -> Result<f64, ImpactError> {
        let contacts = self.problem.contacts();
        let (after, scale) = (self.velocity_plus.0.as_slice(), self.problem.scale());
        let mut largest = 0.0f64;
        for form in contacts.constraint_forms() {
            let norm = contacts.metric().norm(form)?;
            if norm == 0.0 {
                continue;
            }
            let velocity = row_velocity(form.0.as_slice(), after, norm, scale);
            largest = largest.max(measure(form, velocity.rate.abs()));
        }
        Ok(largest)
    }

    /// Returns the norms of that part of the momentum which contacts and constraints can change, before and after the
    /// impact. Each list has one entry per independent part of the system.
    pub(crate) fn seen_norms(&self) -> [Vec<f64>; 2] {
        let contacts = self.problem.contacts();
        let seen = |momentum: &[f64]| self.parts.norms(parts::seen(contacts, momentum).as_slice());
        [seen(self.problem.momentum()), seen(self.after.as_slice())]
    }

    /// Returns the kinetic energies before and after the impact, in J, of the motion that contacts and constraints can
    /// change.
    pub(crate) fn relative_energies_j(&self) -> [f64; 2] {
        self.seen_norms().map(|norms| {
            let speed = self.parts.whole(&norms) / self.problem.scale();
            0.5 * speed * speed
        })
    }

    /// Returns ratios of the kinetic energy after the impact to that before it. Only the motion that contacts and
    /// constraints can change counts. The first entry is for the whole system; each further entry is for one independent
    /// part that has a contact.
    pub(crate) fn energy_ratios(&self) -> Vec<f64> {
        let [before, after] = self.seen_norms();
        let ratio = |before: f64, after: f64, rounding: f64| {
            if (before - after).abs() <= rounding {
                1.0
            } else {
                carom_numeric::power(after / before, 2)
            }
        };
        let [minus, plus, rounding] =
            [&before, &after, &self.rounding].map(|norms| self.parts.whole(norms));
        let touched = before.into_iter().zip(after).zip(&self.rounding);
        let touched = touched.zip(&self.parts.is_touched);
        let touched = touched.filter(|(_, is_touched)| **is_touched);
        std::iter::once(ratio(minus, plus, rounding))
            .chain(touched.map(|(((before, after), rounding), _)| ratio(before, after, *rounding)))
            .collect()
    }

    /// True if restitution refers to another velocity than that before the impact: in a time step of a physics engine,
    /// restitution refers to the velocity at the beginning of the step.
    pub(crate) fn is_step(&self) -> bool {
        self.approach != self.problem.velocity_minus()
    }

    pub(crate) fn is_same(&self, distance: f64) -> bool {
        distance <= self.options.tolerance
    }
}
