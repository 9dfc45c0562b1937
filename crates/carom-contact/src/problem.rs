//! One impact: contacts at a configuration and the velocity before the impact.

use crate::index::ContactIndex;
use crate::numbers::Numbers;
use crate::residual_scale::{self, GRAZING_TOLERANCE, ROUNDING_TOLERANCE, RowVelocity};
use crate::{ContactSet, ImpactError};
use carom_metric::{Tangent, kernel};
use smallvec::smallvec;

/// Fraction of $\sigma$ above which a constraint velocity violates the constraint.
const CONSTRAINT_TOLERANCE: f64 = 1e-9;

/// Fraction of the momentum $p_c$ around a constraint below which the constraint velocity is a rounding error.
const CONSTRAINT_ROUNDING: f64 = 1e-12;

/// An impact to be resolved: contacts and the velocity before the impact.
///
/// A law solves the problem in whitened coordinates, in which the kinetic metric is Euclidean. Velocities, momenta and
/// impulses are multiplied by a power of two ([`scale`](Self::scale)) that brings the momentum to about unit norm, so that
/// results do not depend on units and nothing overflows. Quantities called *scaled* below are multiplied by this factor.
///
/// # Examples
///
/// ```
/// use carom_contact::{Contact, ContactSet, ImpactProblem};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let floor = Contact::frictionless(Covector::from_slice(&[0.0, 1.0]));
/// let contacts = ContactSet::new(&metric, vec![floor])?;
/// assert!(ImpactProblem::new(&contacts, Tangent::from_slice(&[3.0, -2.0]))?.is_approaching());
/// assert!(!ImpactProblem::new(&contacts, Tangent::from_slice(&[3.0, 2.0]))?.is_approaching());
/// # Ok::<(), carom_contact::ImpactError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ImpactProblem {
    contacts: ContactSet,
    velocity: Tangent,
    energy_j: f64,
    scale: f64,
    /// Whitened momentum times `scale`, and the norm of that.
    momentum: Numbers,
    norm: f64,
    /// Velocity of each distinct unit normal times `scale`, $b_j = \langle p, u_j\rangle$.
    unit_velocity: Numbers,
    /// Grazing threshold of each distinct unit normal, times `scale`: a slower normal velocity counts as zero.
    grazing: Numbers,
    is_approaching: bool,
    /// The problem without the part of the velocity orthogonal to all contact rows, if that part is most of it; else `None`.
    event: Option<Box<Self>>,
    /// Full velocity before the impact, if `velocity` is only the part in the span of the contact rows.
    given: Option<Box<Tangent>>,
    /// Rounding error of the reduction to that part, along the unit normal of each contact and times `scale`; empty without
    /// a reduction.
    roundings: Numbers,
}

impl ImpactProblem {
    /// Creates the problem of an impact: the contacts of a system and its velocity before the impact (n entries).
    ///
    /// # Errors
    ///
    /// [`ImpactError::Metric`] for a velocity of the wrong length or with non-finite entries,
    /// [`ImpactError::ConstraintViolated`], [`ImpactError::Overflow`].
    pub fn new(contacts: &ContactSet, velocity: Tangent) -> Result<Self, ImpactError> {
        let problem = Self::pose(contacts, velocity, None)?;
        problem.check_constraints()?;
        problem.framed()
    }

    /// Creates an impact problem derived from one that passed the checks of [`new`](Self::new): on some of its contacts, in
    /// another frame or in other units. The check of the constraints is left out, since the velocity satisfies them up to the
    /// rounding of the original velocity.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new), except [`ImpactError::ConstraintViolated`].
    #[doc(hidden)]
    pub fn reposed(contacts: &ContactSet, velocity: Tangent) -> Result<Self, ImpactError> {
        Self::pose(contacts, velocity, None)?.framed()
    }

    /// Adds a reduced problem to this one if most of the velocity is orthogonal to all contact rows. The reduced problem
    /// omits that part of the velocity, whose rounding would hide a small approach.
    fn framed(mut self) -> Result<Self, ImpactError> {
        let problem = &mut self;
        if problem.is_approaching
            && let Some(seen) = residual_scale::seen_velocity(problem)
        {
            let given = Some(Box::new(problem.velocity.clone()));
            let event = Self::pose(&problem.contacts, seen, given)?;
            problem.is_approaching = event.is_approaching;
            problem.event = Some(Box::new(event));
        }
        Ok(self)
    }

    /// Creates the problem of an impact with the given velocity (n entries). `given` is the full velocity if `velocity` is
    /// only the part of it in the span of the contact rows; else `None`.
    fn pose(
        contacts: &ContactSet,
        velocity: Tangent,
        given: Option<Box<Tangent>>,
    ) -> Result<Self, ImpactError> {
        let metric = contacts.metric();
        let entries = velocity.0.as_slice();
        metric.check_vector("velocity", entries)?;
        let mut momentum: Numbers = smallvec![0.0; metric.dim()];
        metric.whiten_velocity_into(entries, &mut momentum);
        let size = kernel::max_abs(&momentum);
        let scale = kernel::power_of_two_scale(size);
        momentum.iter_mut().for_each(|x| *x *= scale);
        let norm = kernel::norm(&momentum);
        let energy_j = 0.5 * (norm / scale) * (norm / scale);
        if !energy_j.is_finite() {
            return Err(ImpactError::Overflow);
        }
        let mut unit_velocity = Numbers::with_capacity(contacts.n_distinct());
        let mut grazing = Numbers::with_capacity(contacts.n_distinct());
        for j in contacts.unit_rows() {
            let contact = contacts.contact_at(j);
            let RowVelocity { rate, size } = contacts.normal_velocity(contact, entries, scale);
            unit_velocity.push(rate);
            grazing.push(GRAZING_TOLERANCE * size);
        }
        let mut problem = Self {
            contacts: contacts.clone(),
            velocity,
            energy_j,
            scale,
            momentum,
            norm,
            unit_velocity,
            grazing,
            is_approaching: false,
            event: None,
            given,
            roundings: Numbers::new(),
        };
        if let Some(given) = &problem.given {
            let (given, seen) = (given.0.as_slice(), problem.velocity.0.as_slice());
            problem.roundings = residual_scale::rounding_of_normals(contacts, given, seen, scale);
            for j in contacts.unit_rows() {
                problem.grazing[j.index()] += problem.rounding(contacts.contact_at(j));
            }
        }
        problem.is_approaching = contacts.indices().any(|i| problem.approaches(i));
        Ok(problem)
    }

    fn check_constraints(&self) -> Result<(), ImpactError> {
        for (row, form) in self.contacts.constraint_forms().iter().enumerate() {
            let norm = self.contacts.metric().norm(form)?;
            let (entries, velocity) = (form.0.as_slice(), self.velocity.0.as_slice());
            if norm == 0.0 {
                // A zero form is no constraint.
                continue;
            }
            let velocity = residual_scale::row_velocity(entries, velocity, norm, self.scale);
            let rate = velocity.rate.abs();
            if rate > CONSTRAINT_TOLERANCE * velocity.size {
                // An earlier impact leaves rounding errors relative to all momentum that its impulses reach; it may be that of
                // the whole system if no contact acts on the bodies of this constraint.
                let touched = self.touched(entries);
                let mut contact_rows = self.contacts.jacobian_rows();
                let is_reached = contact_rows.any(|row| {
                    let mut entries = row.0.iter().zip(&touched);
                    entries.any(|(a, is_touched)| *a != 0.0 && *is_touched)
                });
                let around = if is_reached {
                    residual_scale::momentum_of(&touched, &self.momentum)
                } else {
                    self.norm
                };
                if rate > CONSTRAINT_ROUNDING * around {
                    return Err(ImpactError::ConstraintViolated {
                        row,
                        residual: rate / velocity.size,
                    });
                }
            }
        }
        Ok(())
    }

    /// Returns the problem that laws solve in place of this one. If less than 1/64 of the momentum lies in the span of the
    /// contact rows, the result is the problem of this part of the velocity alone. Otherwise the result is this problem
    /// itself.
    #[inline]
    pub fn event(&self) -> &Self {
        self.event.as_deref().unwrap_or(self)
    }

    /// Returns the problem with the velocity that the caller gave, if this problem was made with the projection of that velocity
    /// onto the span of the contact rows; else `None`.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new); a problem that could be created does not raise them.
    pub(crate) fn as_given(&self) -> Result<Option<Self>, ImpactError> {
        let given = self.given.as_ref();
        given
            .map(|given| Self::pose(&self.contacts, Tangent::clone(given), None))
            .transpose()
    }

    /// Size of the rounding error of the full velocity before the impact and of its reduction to the span of the contact rows,
    /// measured along the unit normal of `contact` and multiplied by [`scale`](Self::scale). It is 0 unless this problem was reduced to the part of the velocity in the span
    /// of the contact rows.
    #[doc(hidden)]
    #[inline]
    pub fn rounding(&self, contact: ContactIndex) -> f64 {
        let rounding = self.roundings.get(contact.index());
        rounding.copied().unwrap_or(0.0)
    }

    /// Contact set on which the impact acts.
    #[inline]
    pub fn contacts(&self) -> &ContactSet {
        &self.contacts
    }

    /// Generalized velocity before the impact (n entries).
    pub fn velocity_minus(&self) -> &Tangent {
        &self.velocity
    }

    /// Kinetic energy of the system before the impact, in joules for SI input.
    pub fn energy_minus_j(&self) -> f64 {
        self.energy_j
    }

    /// True if at least one contact of the problem [approaches](Self::approaches) before the impact. Otherwise the bodies
    /// separate.
    pub fn is_approaching(&self) -> bool {
        self.is_approaching
    }

    /// True if the contact with this index approaches faster than rounding explains. The normal velocity $\sum_kn_kv_k$ of
    /// the contact normal $n$ and the velocity $v$ must be negative. Its magnitude must exceed $10^{-12}\sum_k|n_kv_k|$.
    /// Divided by the kinetic length of the normal, the magnitude must also exceed $10^{-14}$ of the momentum of all bodies
    /// connected to the contact, directly or through other contacts and constraints. If most of the velocity is orthogonal to all contact rows, only the remaining velocity is
    /// compared, and the rounding error of the full velocity is added to the threshold. False for an index out of range.
    pub fn approaches(&self, contact: ContactIndex) -> bool {
        match &self.event {
            Some(event) => event.approaches(contact),
            None => self.is_faster(contact, -1.0),
        }
    }

    /// True if rounding explains the normal velocity of the contact with this index: it neither
    /// [approaches](Self::approaches) nor separates. Its magnitude is at most the threshold of [grazing](Self::grazing), or
    /// $10^{-14}$ of the momentum of all bodies connected to the contact. False for an index out of range.
    pub fn is_at_rest(&self, contact: ContactIndex) -> bool {
        let is_faster = [-1.0, 1.0].map(|sign| self.is_faster(contact, sign));
        contact.index() < self.contacts.len() && is_faster == [false; 2]
    }

    /// True if the normal velocity of a contact, multiplied by `sign`, is larger than rounding explains: than the threshold of
    /// grazing, and than the rounding of the momentum of all bodies connected to the contact. That momentum is computed only if
    /// the momentum of the whole system does not decide. False for an index out of range.
    fn is_faster(&self, contact: ContactIndex, sign: f64) -> bool {
        if contact.index() >= self.contacts.len() {
            return false;
        }
        let place = self.contacts.place(contact).index();
        let speed = sign * self.unit_velocity[place];
        speed > self.grazing[place]
            && (speed > ROUNDING_TOLERANCE * self.given_norm()
                || speed > self.hidden_along(self.contacts.contact(contact).normal.0.as_slice()))
    }

    /// Marks the coordinates that are connected with a row, directly or through contacts and constraints.
    fn touched(&self, row: &[f64]) -> Vec<bool> {
        let rows = self.contacts.jacobian_rows();
        let links = rows.chain(self.contacts.constraint_forms());
        let links = links.map(|row| row.0.as_slice());
        residual_scale::linked(self.contacts.metric(), row, links)
    }

    /// Velocity along a row of unit kinetic length that rounding hides: $10^{-14}$ of the norm of the scaled momentum of all bodies
    /// connected to `row` (n entries), directly or through contacts and constraints. If this problem was reduced to the part of the
    /// velocity in the span of the contact rows, the momentum of the full velocity counts.
    #[cold]
    pub(crate) fn hidden_along(&self, row: &[f64]) -> f64 {
        let touched = self.touched(row);
        let own = residual_scale::momentum_of(&touched, &self.momentum);
        let given = self.given_momentum();
        let given = given.map_or(0.0, |p| residual_scale::momentum_of(&touched, &p));
        ROUNDING_TOLERANCE * own.max(given)
    }

    /// Whitened momentum of the full velocity before the impact (n entries), scaled, if this problem was reduced.
    fn given_momentum(&self) -> Option<Numbers> {
        let given = self.given.as_ref()?;
        let mut momentum: Numbers = smallvec![0.0; self.momentum.len()];
        let metric = self.contacts.metric();
        metric.whiten_velocity_into(given.0.as_slice(), &mut momentum);
        momentum.iter_mut().for_each(|p| *p *= self.scale);
        Some(momentum)
    }

    /// Normal velocity of a contact that rounding hides: $10^{-14}$ of the momentum of all connected bodies, and at least the
    /// [`rounding`](Self::rounding) of a reduction, along the unit normal and multiplied by [`scale`](Self::scale).
    #[cold]
    pub(crate) fn hidden_velocity(&self, contact: ContactIndex) -> f64 {
        let normal = self.contacts.contact(contact).normal.0.as_slice();
        f64::max(self.rounding(contact), self.hidden_along(normal))
    }

    /// The [hidden velocity](Self::hidden_velocity) of the contact of each row of unit kinetic length, one entry per row.
    #[cold]
    pub(crate) fn hidden_velocities(&self) -> Vec<f64> {
        let of_rows = |i| {
            let hidden = self.hidden_velocity(i);
            self.contacts.rows_at(i).map(move |_| hidden)
        };
        self.contacts.indices().flat_map(of_rows).collect()
    }

    /// Momentum before the impact (n entries) in whitened coordinates, in which the kinetic metric is Euclidean, multiplied
    /// by [`scale`](Self::scale).
    #[inline]
    pub fn momentum(&self) -> &[f64] {
        &self.momentum
    }

    /// Kinetic norm $\lVert p\rVert$ of the momentum $p$ before the impact, multiplied by [`scale`](Self::scale).
    #[inline]
    pub fn norm(&self) -> f64 {
        self.norm
    }

    /// Kinetic norm of the momentum of the full velocity before the impact, including the part orthogonal to all contact
    /// rows, multiplied by [`scale`](Self::scale).
    #[doc(hidden)]
    pub fn given_norm(&self) -> f64 {
        let given = self.given_momentum();
        given.map_or(self.norm, |momentum| kernel::norm(&momentum))
    }

    /// Power of two by which the problem multiplies velocities, momenta and impulses, so that the momentum has about unit
    /// norm.
    #[inline]
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Velocities before the impact along the distinct unit normals of the contacts, negative for approach, multiplied by
    /// [`scale`](Self::scale).
    #[inline]
    pub fn unit_velocity(&self) -> &[f64] {
        &self.unit_velocity
    }

    /// Thresholds of grazing, one per distinct unit normal: a contact does not count as approaching if the magnitude of its
    /// entry of [`unit_velocity`](Self::unit_velocity) is smaller.
    #[inline]
    pub fn grazing(&self) -> &[f64] {
        &self.grazing
    }
}
