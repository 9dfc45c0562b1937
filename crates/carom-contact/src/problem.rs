//! One impact: contacts at a configuration and the velocity before.

use crate::numbers::Numbers;
use crate::own_terms::{self, GRAZING_TOLERANCE, RowVelocity};
use crate::{Contact, ContactSet, ImpactError, event_scale};
use carom_metric::{Covector, Tangent, kernel};
use smallvec::smallvec;

/// Four times the least positive number.
const LEAST: f64 = f64::from_bits(4);

/// An impact to be resolved.
///
/// Laws see it in whitened coordinates and multiplied by a power of two that brings the momentum
/// to about unit norm, so that nothing depends on units and nothing overflows.
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
pub struct ImpactProblem<'a> {
    contacts: &'a ContactSet<'a>,
    velocity: Tangent,
    energy_j: f64,
    scale: f64,
    /// Scaled whitened momentum, and its norm.
    momentum: Numbers,
    norm: f64,
    /// Scaled velocity of each distinct unit normal, $b_j = \langle p, u_j\rangle$.
    unit_velocity: Numbers,
    /// Below which it is grazing.
    grazing: Numbers,
    is_approaching: bool,
    /// The impact seen from a frame in which no velocity is large that no row sees; `None` if this is one.
    event: Option<Box<Self>>,
    /// The velocity as it was given, of a problem that is seen from such a frame.
    given: Option<Box<Tangent>>,
}

impl<'a> ImpactProblem<'a> {
    /// Poses the impact of a velocity (n) on contacts.
    ///
    /// # Errors
    ///
    /// [`ImpactError::Metric`] for a velocity of the wrong length or with non-finite entries,
    /// [`ImpactError::ConstraintViolated`], [`ImpactError::Overflow`].
    pub fn new(contacts: &'a ContactSet<'a>, velocity: Tangent) -> Result<Self, ImpactError> {
        let problem = Self::pose(contacts, velocity, None)?;
        problem.check_constraints()?;
        problem.framed()
    }

    /// Poses an impact that has been posed before, on some of its contacts, in another frame or in other units. Its velocity
    /// keeps the constraints to the rounding of the velocity as it was given, and is not asked again.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new) but [`ImpactError::ConstraintViolated`].
    pub fn reposed(contacts: &'a ContactSet<'a>, velocity: Tangent) -> Result<Self, ImpactError> {
        Self::pose(contacts, velocity, None)?.framed()
    }

    /// Adds the frame in which no velocity is large that no row sees.
    fn framed(mut self) -> Result<Self, ImpactError> {
        let problem = &mut self;
        if problem.is_approaching
            && let Some(seen) = event_scale::seen_velocity(problem)
        {
            let given = Some(Box::new(problem.velocity.clone()));
            let event = Self::pose(problem.contacts, seen, given)?;
            problem.is_approaching = event.is_approaching;
            problem.event = Some(Box::new(event));
        }
        Ok(self)
    }

    /// Poses the impact of a velocity (n), which is the part of another that rows see if one is `given`.
    fn pose(
        contacts: &'a ContactSet<'a>,
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
            contacts,
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
        };
        if problem.given.is_some() {
            for j in contacts.unit_rows() {
                problem.grazing[j.index()] += problem.rounding(contacts.contact_at(j));
            }
        }
        problem.is_approaching = if contacts.n_distinct() == contacts.len() {
            // The velocities are those of the contacts, in their order.
            let mut velocities = problem.unit_velocity.iter().zip(&problem.grazing);
            let mut given = contacts.contacts().iter();
            velocities.any(|(rate, grazing)| {
                let contact = given.next();
                let around = || contact.map_or(0.0, |contact| problem.around(contact));
                own_terms::approaches(*rate, *grazing, norm, around)
            })
        } else {
            (0..contacts.len()).any(|i| problem.approaches(i))
        };
        Ok(problem)
    }

    fn check_constraints(&self) -> Result<(), ImpactError> {
        let metric = self.contacts.metric();
        for (row, form) in self.contacts.constraint_forms().iter().enumerate() {
            let norm = metric.norm(form)?;
            let entries = form.0.as_slice();
            if norm == 0.0 {
                // A zero form constrains nothing.
                continue;
            }
            let velocity =
                own_terms::row_velocity(entries, self.velocity.0.as_slice(), norm, self.scale);
            // An impact leaves rounding of everything that its impulses reach.
            let rows = self.contacts.jacobian_rows();
            let links = rows.chain(self.contacts.constraint_forms());
            let links = links.map(|row| row.0.as_slice());
            let momentum = &self.momentum;
            let around = || {
                let touched = own_terms::linked(metric, entries, links);
                let mut contact_rows = self.contacts.jacobian_rows();
                let meets = |row: &Covector| {
                    let mut entries = row.0.iter().zip(&touched);
                    entries.any(|(a, is_touched)| *a != 0.0 && *is_touched)
                };
                if contact_rows.any(meets) {
                    own_terms::momentum_of(&touched, momentum)
                } else {
                    // No contact moves this part: its velocity may be rounding of the whole.
                    self.norm
                }
            };
            // A velocity that has all but vanished is rounded to multiples of the least number.
            let least = vec![LEAST; entries.len()];
            let rounding = own_terms::row_velocity(entries, &least, norm, self.scale).size;
            if velocity.rate.abs() > rounding && own_terms::violates(velocity, around) {
                return Err(ImpactError::ConstraintViolated {
                    row,
                    residual: velocity.rate.abs() / velocity.size,
                });
            }
        }
        Ok(())
    }

    /// The impact as laws see it: from a frame in which no velocity is large that no row sees.
    #[inline]
    pub fn event(&self) -> &Self {
        self.event.as_deref().unwrap_or(self)
    }

    /// The problem as it was given, of one that is seen from such a frame.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new), which a problem that was posed has passed.
    pub(crate) fn as_given(&self) -> Result<Option<Self>, ImpactError> {
        let given = self.given.as_ref();
        given
            .map(|given| Self::pose(self.contacts, Tangent::clone(given), None))
            .transpose()
    }

    /// Scaled velocity of a contact's unit normal that rounding of the velocity as given may be worth; 0 unless the
    /// problem is seen from another frame.
    #[inline]
    pub fn rounding(&self, contact: usize) -> f64 {
        self.given.as_ref().map_or(0.0, |given| {
            let given = given.0.as_slice();
            event_scale::rounding_of_normal(self.contacts, contact, given, self.scale)
        })
    }

    /// The contacts.
    #[inline]
    pub fn contacts(&self) -> &'a ContactSet<'a> {
        self.contacts
    }

    /// Velocity before the impact (n).
    pub fn velocity_minus(&self) -> &Tangent {
        &self.velocity
    }

    /// Kinetic energy before the impact in joule (for SI input).
    pub fn energy_minus_j(&self) -> f64 {
        self.energy_j
    }

    /// True if any contact [approaches](Self::approaches). If none does the bodies separate.
    pub fn is_approaching(&self) -> bool {
        self.is_approaching
    }

    /// True if a contact approaches by more than grazing, on its own terms: faster than
    /// $10^{-12}\sum_k|n_kv_k|$ and, per kinetic length of the normal, than $10^{-15}$ of the
    /// momentum of the parts that it touches. If most of the velocity is one that no row sees, the rest of it counts, and
    /// of the whole only its rounding. False for an index that is no contact.
    pub fn approaches(&self, contact: usize) -> bool {
        let Some(given) = self.contacts.contacts().get(contact) else {
            return false;
        };
        if let Some(event) = &self.event {
            return event.approaches(contact);
        }
        let entries = self.velocity.0.as_slice();
        let velocity = self.contacts.normal_velocity(contact, entries, self.scale);
        let grazing = GRAZING_TOLERANCE * velocity.size + self.rounding(contact);
        own_terms::approaches(velocity.rate, grazing, self.norm, || self.around(given))
    }

    /// Momentum of the parts that a contact touches.
    #[cold]
    fn around(&self, contact: &Contact) -> f64 {
        let normal = contact.normal.0.as_slice();
        own_terms::momentum_around(self.contacts.metric(), normal, &self.momentum)
    }

    /// Scaled whitened momentum (n).
    #[inline]
    pub fn momentum(&self) -> &[f64] {
        &self.momentum
    }

    /// Scaled norm $\lVert p\rVert$ of the momentum.
    #[inline]
    pub fn norm(&self) -> f64 {
        self.norm
    }

    /// Scaled norm of the momentum as it was given, in its own frame.
    pub fn given_norm(&self) -> f64 {
        self.given.as_ref().map_or(self.norm, |given| {
            let mut momentum: Numbers = smallvec![0.0; self.momentum.len()];
            let metric = self.contacts.metric();
            metric.whiten_velocity_into(given.0.as_slice(), &mut momentum);
            kernel::norm(&momentum) * self.scale
        })
    }

    /// Power of two between physical and scaled quantities.
    #[inline]
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Scaled velocities of the distinct unit normals.
    #[inline]
    pub fn unit_velocity(&self) -> &[f64] {
        &self.unit_velocity
    }

    /// Scaled velocities of the distinct unit normals that still count as grazing before the
    /// impact.
    #[inline]
    pub fn grazing(&self) -> &[f64] {
        &self.grazing
    }
}
