//! The adjoint of a derivative: a cotangent of the velocity after the impact becomes cotangents of all that it
//! depends on.
//!
//! For a stage, with the cotangent $a$ of $v'$ and whitened coordinates ($M = I$),
//!
//! $$ m = -K^{-T}S^TJa, \qquad \bar w = a + J^TTm, \qquad \bar v = \bar w + J^TETm, $$
//! $$ \bar M = -\tfrac12\bigl(\bar w\Delta^T + \Delta\bar w^T\bigr), \qquad
//!    \bar J = L\bar w^T + Tm(v' + Ev)^T, \qquad \Delta = v' - v. $$
//!
//! A chain runs backwards through its stages: $\bar v$ of one is $a$ of the stage before it, everything else
//! adds up. Every map knows its own transpose, and no Jacobian is formed.

use super::frame::Frame;
use super::stage::Stage;
use super::{Derivative, Map, Walk};
use carom_impact::ImpactError;
use nalgebra::{DMatrix, DVector, DVectorView};
use std::sync::Arc;

/// Largest distance of a change of one entry from those that dependent contacts allow, over its own terms.
const KEPT: f64 = 1e-9;

/// The quantities whose cotangents are wanted beside that of the velocity before.
///
/// # Examples
///
/// ```
/// use carom_impact::{Contact, ContactSet, ImpactProblem, frictional::MoreauNewton};
/// use carom_derivative::{Gradient, Wrt, differentiate};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let floor = Contact {
///     normal: Covector::from_slice(&[0.0, 1.0]),
///     tangents: vec![Covector::from_slice(&[1.0, 0.0])],
///     friction: 0.5,
///     restitution: 0.5,
/// };
/// let contacts = ContactSet::new(&metric, vec![floor])?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[3.0, -2.0]))?;
/// let (_, derivative) = differentiate(&MoreauNewton::default(), &problem, &Wrt::ALL, 1e-9)?;
/// // Gradient of the sliding velocity after.
/// let found = derivative.pull_back_to(&nalgebra::dvector![1.0, 0.0], Gradient::ALL)?;
/// assert!((found.friction[0] + 3.0).abs() < 1e-14);
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gradient {
    /// The mass matrix.
    pub mass: bool,
    /// The contact rows and the constraint one-forms.
    pub rows: bool,
    /// The friction coefficients and restitutions.
    pub coefficients: bool,
}

impl Gradient {
    /// All of them.
    pub const ALL: Self = Self {
        mass: true,
        rows: true,
        coefficients: true,
    };

    /// The velocity alone.
    pub const VELOCITY: Self = Self {
        mass: false,
        rows: false,
        coefficients: false,
    };
}

/// Cotangents of the data of an impact: the sum of their products with a [`Direction`](super::Direction) is the
/// product of the given cotangent with the derivative along that direction.
///
/// An entry is NaN where the derivative by it is not known: entries whose change breaks a dependency of contacts that
/// push, restitution where plastic outcomes are nearly tied, and everything except the velocity at the limits of a
/// sliding contact. Parts that were not asked for are empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Cotangent {
    /// Cotangent of the velocity before (n).
    pub velocity: DVector<f64>,
    /// Cotangent of the mass matrix (n × n, symmetric).
    pub mass: DMatrix<f64>,
    /// Cotangent of the contact rows as given (rows × n).
    pub rows: DMatrix<f64>,
    /// Cotangent of the friction coefficients (contacts).
    pub friction: DVector<f64>,
    /// Cotangent of the contacts' restitutions, or of that of the event (1).
    pub restitution: DVector<f64>,
    /// Cotangent of the constraint one-forms (constraints × n).
    pub constraints: DMatrix<f64>,
}

/// Cotangents that a way backwards collects, in the coordinates of a frame.
#[derive(Clone, Debug)]
pub(super) struct Adjoint {
    wanted: Gradient,
    /// Cotangent of the mass matrix; empty if not wanted.
    mass: DMatrix<f64>,
    /// Cotangent of the rows of contacts and constraints (n × rows); empty if not wanted.
    rows: DMatrix<f64>,
    friction: DVector<f64>,
    restitution: DVector<f64>,
    /// Cotangent of the restitution that holds for the event.
    pub(super) event: f64,
}

impl Adjoint {
    fn new(frame: &Frame<'_>, wanted: Gradient) -> Self {
        let (n, m) = (frame.dim(), frame.problem.contacts().len());
        let matrix = |is_wanted, columns| match is_wanted {
            true => DMatrix::zeros(n, columns),
            false => DMatrix::zeros(0, 0),
        };
        let m = if wanted.coefficients { m } else { 0 };
        Self {
            mass: matrix(wanted.mass, n),
            rows: matrix(wanted.rows, frame.n_rows()),
            friction: DVector::zeros(m),
            restitution: DVector::zeros(m),
            event: 0.0,
            wanted,
        }
    }

    /// True if anything but the cotangent of the velocity is collected.
    pub(super) fn is_wanted(&self) -> bool {
        self.wanted != Gradient::VELOCITY
    }

    /// Adds `factor` times the symmetric part of $ab^T$ to the cotangent of the mass matrix.
    pub(super) fn add_mass(
        &mut self,
        factor: f64,
        a: DVectorView<'_, f64>,
        b: DVectorView<'_, f64>,
    ) {
        if self.wanted.mass && factor != 0.0 {
            self.mass.ger(0.5 * factor, &a, &b, 1.0);
            self.mass.ger(0.5 * factor, &b, &a, 1.0);
        }
    }

    /// Adds a multiple of a vector (n) to the cotangent of a row of the frame.
    pub(super) fn add_row(&mut self, row: usize, factor: f64, vector: DVectorView<'_, f64>) {
        if self.wanted.rows && factor != 0.0 {
            self.rows.column_mut(row).axpy(factor, &vector, 1.0);
        }
    }

    /// Adds a multiple of a velocity in the frame of the law to the cotangent of a row: the transpose of
    /// [`seen`](Frame::seen).
    pub(super) fn add_seen(
        &mut self,
        frame: &Frame<'_>,
        row: usize,
        factor: f64,
        velocity: DVectorView<'_, f64>,
    ) {
        self.add_row(row, factor, velocity);
        if let Some(moves) = &frame.moves {
            self.add_row(row, factor, moves.as_view());
        }
    }

    /// Adds a multiple of a velocity in the frame of the law to the cotangent of a row as it is given, whitened.
    pub(super) fn add_given_seen(
        &mut self,
        frame: &Frame<'_>,
        row: usize,
        factor: f64,
        velocity: &DVector<f64>,
    ) {
        self.add_seen(
            frame,
            row,
            factor / frame.row_factor(row),
            velocity.as_view(),
        );
    }

    /// Adds a multiple of a vector (n) to the cotangent of a row as it is given, whitened.
    pub(super) fn add_given_row(
        &mut self,
        frame: &Frame<'_>,
        row: usize,
        factor: f64,
        vector: &DVector<f64>,
    ) {
        self.add_row(row, factor / frame.row_factor(row), vector.as_view());
    }

    pub(super) fn add_friction(&mut self, contact: usize, cotangent: f64) {
        if let Some(sum) = self.friction.get_mut(contact) {
            *sum += cotangent;
        }
    }

    pub(super) fn add_restitution(&mut self, contact: usize, cotangent: f64) {
        if let Some(sum) = self.restitution.get_mut(contact) {
            *sum += cotangent;
        }
    }

    /// Marks every cotangent except that of the velocity as unknown (NaN).
    fn forget(&mut self) {
        self.mass.fill(f64::NAN);
        self.rows.fill(f64::NAN);
        self.friction.fill(f64::NAN);
        self.restitution.fill(f64::NAN);
        self.event = f64::NAN;
    }

    /// Marks the entries whose change breaks a dependency of the contacts of a chain of stages: the right side
    /// of their equations leaves the range that impulses can reach.
    fn mark_broken(&mut self, frame: &Frame<'_>, stages: &[Arc<Stage>], marks: &mut Marks) {
        if !(self.wanted.mass || self.wanted.rows) {
            return;
        }
        for (k, stage) in stages.iter().enumerate() {
            for defect in stage.defects() {
                let wanted = Gradient {
                    coefficients: false,
                    ..self.wanted
                };
                let mut found = Self::new(frame, wanted);
                let mut velocity = DVector::zeros(frame.dim());
                stage.pull_back_missed(frame, &defect, &mut velocity, &mut found);
                chain_pull_back(frame, &stages[..k], &mut velocity, &mut found);
                let size = defect.iter().map(|x| x.abs()).sum::<f64>() * frame.speed;
                marks.add(frame, &found, size);
            }
        }
    }
}

/// Entries of mass matrix and rows that no direction may change.
struct Marks {
    /// Lengths of the changes of one entry, $|L^{-1}e_j|$; empty as long as they are not needed.
    lengths: Vec<f64>,
    mass: Vec<(usize, usize)>,
    rows: Vec<(usize, usize)>,
}

impl Marks {
    fn add(&mut self, frame: &Frame<'_>, found: &Adjoint, size: f64) {
        let n = frame.dim();
        if self.lengths.is_empty() {
            let length = |j: usize| {
                let mut unit = DVector::zeros(n);
                unit[j] = 1.0;
                let metric = frame.problem.contacts().metric();
                metric.whiten_in_place(unit.as_mut_slice());
                unit.norm()
            };
            self.lengths = (0..n).map(length).collect();
        }
        let cotangent = found.clone().into_given(frame, DVector::zeros(0));
        for (r, row) in cotangent.rows.row_iter().enumerate() {
            for (j, x) in row.iter().enumerate() {
                if !(x.abs() <= KEPT * size * frame.row_factor(r) * self.lengths[j]) {
                    self.rows.push((r, j));
                }
            }
        }
        for i in 0..cotangent.mass.nrows() {
            for j in 0..n {
                let whole = size * self.lengths[i] * self.lengths[j];
                if !(cotangent.mass[(i, j)].abs() <= KEPT * whole) {
                    self.mass.push((i, j));
                }
            }
        }
    }
}

impl Adjoint {
    /// The cotangents by the data as given, with that of the velocity.
    fn into_given(self, frame: &Frame<'_>, velocity: DVector<f64>) -> Cotangent {
        let n_contact_rows = frame.constraint_rows().start;
        let rows = self.rows.ncols();
        let mut given = frame.covectors_back(self.rows);
        for (k, mut column) in given.column_iter_mut().enumerate() {
            column *= frame.row_factor(k);
        }
        let part = |from: usize, to: usize| {
            let n = if rows > 0 { given.nrows() } else { 0 };
            let (from, to) = (from.min(rows), to.min(rows));
            DMatrix::from_fn(to - from, n, |k, j| given[(j, from + k)])
        };
        let mass = frame.covectors_back(frame.covectors_back(self.mass).transpose());
        Cotangent {
            velocity,
            mass: 0.5 * (&mass + mass.transpose()),
            rows: part(0, n_contact_rows),
            constraints: part(n_contact_rows, rows),
            friction: self.friction,
            restitution: self.restitution,
        }
    }
}

/// Takes a cotangent of the velocity after a chain of stages back to that before it.
pub(super) fn chain_pull_back(
    frame: &Frame<'_>,
    stages: &[Arc<Stage>],
    velocity: &mut DVector<f64>,
    adjoint: &mut Adjoint,
) {
    for stage in stages.iter().rev() {
        stage.pull_back(frame, velocity, adjoint);
    }
}

impl Walk {
    /// Takes a cotangent of the velocity after back to that before.
    fn pull_back(&self, frame: &Frame<'_>, velocity: &mut DVector<f64>, adjoint: &mut Adjoint) {
        match &self.map {
            Map::Chain => chain_pull_back(frame, &self.stages, velocity, adjoint),
            Map::Blend(blend) => blend.pull_back(frame, velocity, adjoint),
            Map::Sliding(sliding) => sliding.pull_back(frame, velocity, adjoint),
            Map::Limit => {
                *velocity = self.jacobian.tr_mul(velocity);
                adjoint.forget();
            }
        }
    }
}

impl Derivative<'_> {
    /// Transpose of the derivative: cotangents of all data from one of the velocity after (n).
    ///
    /// With [`along`](Self::along), $\langle w, Dd\rangle = \langle D^Tw, d\rangle$ for every direction $d$ that
    /// has a derivative. No Jacobian is formed. At a kink or a jump the derivative is that of the
    /// [piece](Self::own_piece) that the law's own tie rule answers.
    ///
    /// # Errors
    ///
    /// [`ImpactError::InvalidDirection`] for a cotangent of the wrong length;
    /// [`ImpactError::NotDifferentiated`] for an outcome that is a member of a continuum.
    ///
    /// # Examples
    ///
    /// Equal balls exchange their velocities, and so do cotangents:
    ///
    /// ```
    /// use carom_derivative::{Wrt, differentiate};
    /// use carom_impact::{Contact, ContactSet, ImpactProblem, Propagative};
    /// use carom_metric::{Covector, KineticMetric, Tangent};
    /// use nalgebra::{DMatrix, dvector};
    /// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
    /// let contact = Contact::frictionless(Covector::from_slice(&[-1.0, 1.0]));
    /// let contacts = ContactSet::new(&metric, vec![contact])?;
    /// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[1.0, 0.0]))?;
    /// let (_, derivative) = differentiate(&Propagative::default(), &problem, &Wrt::ALL, 1e-9)?;
    /// let pulled = derivative.pull_back(&dvector![0.25, 0.0])?;
    /// assert!((pulled.velocity - dvector![0.0, 0.25]).amax() < 1e-15);
    /// # Ok::<(), carom_impact::ImpactError>(())
    /// ```
    pub fn pull_back(&self, cotangent: &DVector<f64>) -> Result<Cotangent, ImpactError> {
        self.pull_back_to(cotangent, Gradient::ALL)
    }

    /// Transpose of the derivative by the velocity and what else is wanted, see [`pull_back`](Self::pull_back).
    ///
    /// # Errors
    ///
    /// The errors of [`pull_back`](Self::pull_back).
    pub fn pull_back_to(
        &self,
        cotangent: &DVector<f64>,
        wanted: Gradient,
    ) -> Result<Cotangent, ImpactError> {
        let frame = &self.frame;
        if cotangent.len() != frame.dim() {
            return Err(ImpactError::InvalidDirection {
                what: "cotangent",
                expected: frame.dim(),
                found: cotangent.len(),
            });
        }
        let Some(way) = &self.own else {
            return Err(ImpactError::NotDifferentiated {
                reason: "the outcome is a member of a continuum",
            });
        };
        let mut adjoint = Adjoint::new(frame, wanted);
        if way.is_quiet() {
            // Nothing happens: the derivative by the velocity is the identity.
            let restitution = adjoint.restitution.len();
            let mut given = adjoint.into_given(frame, cotangent.clone());
            if self.is_event_wide {
                given.restitution = DVector::zeros(restitution.min(1));
            }
            return Ok(given);
        }
        let mut velocity = frame.cotangent(cotangent);
        let after = velocity.clone();
        way.pull_back(frame, &mut velocity, &mut adjoint);
        if self.to_plastic.is_some() && wanted.coefficients {
            adjoint.event = match self.towards_plastic() {
                Some(blend) => blend.pull_back_restitution(&after),
                None => f64::NAN,
            };
        }
        self.admit_cotangent(&mut velocity, &mut adjoint);
        let mut marks = Marks {
            lengths: Vec::new(),
            mass: Vec::new(),
            rows: Vec::new(),
        };
        for chain in way.chains() {
            adjoint.mark_broken(frame, chain, &mut marks);
        }
        let event = adjoint.event;
        let mut given = adjoint.into_given(frame, frame.cotangent_back(velocity));
        if self.is_event_wide && wanted.coefficients {
            given.restitution = DVector::from_element(1, event);
        }
        let n_rows = given.rows.nrows();
        for (i, j) in marks.rows {
            match i < n_rows {
                true => given.rows[(i, j)] = f64::NAN,
                false => given.constraints[(i - n_rows, j)] = f64::NAN,
            }
        }
        for place in marks.mass {
            given.mass[place] = f64::NAN;
        }
        Ok(given)
    }

    /// Restricts the cotangent of the velocity to velocities that the constraints admit. A change of the constraints
    /// $dA$ comes with $A dv = -dA v$, which takes up the rest.
    fn admit_cotangent(&self, velocity: &mut DVector<f64>, adjoint: &mut Adjoint) {
        let frame = &self.frame;
        let contacts = frame.problem.contacts();
        if contacts.constraint_basis().is_none() {
            return;
        }
        let multipliers = contacts.multipliers(velocity);
        *velocity = frame.admit(velocity);
        for (row, multiplier) in frame.constraint_rows().zip(multipliers.iter()) {
            // Multipliers belong to forms as given.
            let factor = multiplier / frame.row_factor(row);
            adjoint.add_seen(frame, row, -factor, frame.before.as_view());
        }
    }
}
