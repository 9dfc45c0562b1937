//! Adjoint of a derivative: converts a cotangent of the velocity after the impact to cotangents of all data on which it
//! depends.
//!
//! For one stage, with the cotangent $a$ of the velocity $v'$ after it, whitened coordinates ($M = I$) and the letters of
//! the crate documentation,
//!
//! $$ m = -K^{-T}S^TJa, \qquad \bar w = a + J^TTm, \qquad \bar v = \bar w + J^TETm, $$
//! $$ \bar M = -\tfrac12\bigl(\bar w\Delta^T + \Delta\bar w^T\bigr), \qquad
//!    \bar J = L\bar w^T + Tm(v' + Ev)^T, \qquad \Delta = v' - v. $$
//!
//! A chain is processed backwards through its stages: the cotangent $\bar v$ of one stage is $a$ of the stage before it,
//! and all other cotangents add up. Every map has its own transpose, and no Jacobian is formed.

use super::adjoint::{Adjoint, Cotangent, Gradient};
use super::frame::Frame;
use super::stage::{Stage, chain_pull_back};
use super::{Derivative, Map, Walk};
use crate::tolerances::NEGLIGIBLE;
use carom_contact::{ImpactError, RowIndex};
use nalgebra::DVector;
use std::sync::Arc;

/// Entries of the mass matrix and of the rows that must not change.
struct Marks {
    /// Whitened lengths of the changes of one entry, $|L^{-1}e_j|$; empty until they are needed.
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
                if !(x.abs()
                    <= NEGLIGIBLE * size * frame.row_factor(RowIndex::new(r)) * self.lengths[j])
                {
                    self.rows.push((r, j));
                }
            }
        }
        for i in 0..cotangent.mass.nrows() {
            for j in 0..n {
                let whole = size * self.lengths[i] * self.lengths[j];
                if !(cotangent.mass[(i, j)].abs() <= NEGLIGIBLE * whole) {
                    self.mass.push((i, j));
                }
            }
        }
    }

    /// Marks the entries of the mass matrix and of the rows whose change breaks a linear dependency between contacts.
    /// Then no impulses satisfy the equations of a stage, and the derivative with respect to these entries is not
    /// known. `wanted` selects the data, `stages` is the chain of impact steps.
    fn add_chain(&mut self, frame: &Frame<'_>, wanted: Gradient, stages: &[Arc<Stage>]) {
        if !(wanted.mass || wanted.rows) {
            return;
        }
        for (k, stage) in stages.iter().enumerate() {
            for defect in stage.defects() {
                let wanted = Gradient {
                    coefficients: false,
                    ..wanted
                };
                let mut found = Adjoint::new(frame, wanted);
                let mut velocity = DVector::zeros(frame.dim());
                stage.pull_back_missed(frame, &defect, &mut velocity, &mut found);
                chain_pull_back(frame, &stages[..k], &mut velocity, &mut found);
                let size = defect.iter().map(|x| x.abs()).sum::<f64>() * frame.speed;
                self.add(frame, &found, size);
            }
        }
    }
}

impl Walk {
    /// Converts a cotangent (gradient) of the velocity after the impact to cotangents of all data, along this branch
    /// of the law. `velocity` is replaced by the cotangent of the velocity before the impact; the cotangents of all
    /// other data are added to `adjoint`.
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
    /// Applies the transpose of the derivative: computes the cotangents (gradients) of all data of the impact from a
    /// `cotangent` of the velocity after the impact (n entries).
    ///
    /// Let $D$ be the derivative that [`along`](Self::along) applies, and $w$ the given cotangent. The result $D^Tw$
    /// satisfies $\langle w, Dd\rangle = \langle D^Tw, d\rangle$ for every direction $d$ that has a derivative. No Jacobian
    /// is formed. At a kink or a jump, $D$ is the derivative on the [piece](Self::own_piece) that the law itself selects.
    ///
    /// # Errors
    ///
    /// [`ImpactError::InvalidDirection`] for a cotangent of the wrong length;
    /// [`ImpactError::NotDifferentiated`] for an outcome that is a member of a continuum of outcomes.
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

    /// Applies the transpose of the derivative to a `cotangent` of the velocity after the impact (n entries), as
    /// [`pull_back`](Self::pull_back) does. Computes the cotangent of the velocity before the impact, and the cotangents of
    /// those other data that `wanted` selects.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`pull_back`](Self::pull_back).
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
            // Nothing happens: the derivative with respect to the velocity is the identity.
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
            marks.add_chain(frame, wanted, chain);
        }
        let event = adjoint.event;
        let mut given = adjoint.into_given(frame, frame.cotangent_back(velocity));
        if self.is_event_wide && wanted.coefficients {
            given.restitution = DVector::from_element(1, event);
        }
        let n_rows = given.rows.nrows();
        for (i, j) in marks.rows {
            if i < n_rows {
                given.rows[(i, j)] = f64::NAN
            } else {
                given.constraints[(i - n_rows, j)] = f64::NAN
            }
        }
        for place in marks.mass {
            given.mass[place] = f64::NAN;
        }
        Ok(given)
    }

    /// Projects a cotangent (gradient) of the velocity before the impact onto velocities that satisfy the constraints.
    /// If the constraint rows $A$ change by $dA$, the velocity $v$ changes by $dv$ with $A dv = -dA v$. The part of the
    /// cotangent that is projected out is therefore added to the cotangents of the constraint rows in `adjoint`.
    /// `velocity` is replaced by the result.
    fn admit_cotangent(&self, velocity: &mut DVector<f64>, adjoint: &mut Adjoint) {
        let frame = &self.frame;
        let contacts = frame.problem.contacts();
        if contacts.constraint_basis().is_none() {
            return;
        }
        let multipliers = contacts.multipliers(velocity);
        *velocity = frame.admit(velocity);
        for (row, multiplier) in frame.constraint_rows().zip(multipliers.iter()) {
            // Multipliers belong to the caller's one-forms.
            let factor = multiplier / frame.row_factor(row);
            adjoint.add_seen(frame, row, -factor, frame.before.as_view());
        }
    }
}
