//! Proofs of bounds, checked with outward-rounded interval arithmetic on the exact input numbers.

use super::bounded::{BoundedSet, is_signed, pushed};
use super::given::Given;
use super::interval::{Interval, dot, exact};
use super::moment::Moment;
use carom_contact::{ImpactError, ImpactProblem};

/// Proof of an upper bound of $c\cdot v^+$, the component of the velocity $v^+$ after an impact along a direction $c$. The
/// bound is valid for all outcomes in which one given contact pushes in the last step ([`last`](Self::last)). The largest
/// of these bounds over all contacts is valid for every outcome, provided that a contact approaches before the impact.
///
/// [`verify`](Self::verify) checks the proof from the problem alone, without the program that found the proof.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BoundCertificate {
    /// Certificate of Theorem 1, see [`ConeCertificate`].
    Cone(ConeCertificate),
    /// Certificate of Theorem 2, see [`Moment`].
    Moment(Box<Moment>),
}

/// Proof of an upper bound of $c\cdot v^+$, the component of the velocity $v^+$ after an impact along a direction $c$, from
/// momentum, friction cones and energy (Theorem 1). The proof consists of two multipliers. The velocity $w$ satisfies
/// $J_{n,i}w \ge \mu_i\lVert J_{t,i}w\rVert$ for every contact $i$. The list $\nu$ satisfies $\nu_i \ge 0$ for every
/// contact except the one that pushes in the last step. Here $J_{n,i}$, $J_{t,i}$ and $\mu_i$ are the normal row, the
/// tangential rows and the friction coefficient of contact $i$. $J_n$ holds all normal rows, $M$ is the mass matrix, and
/// $v^-$ is the velocity before the impact. The multipliers prove
///
/// $$ c\cdot v^+ \le -w\cdot Mv^- + \lVert c + J_n^T\nu + Mw\rVert_{M^{-1}}\lVert v^-\rVert_M, $$
///
/// because the sum of all impulses lies in the friction cones, no contact approaches at the end, and energy does not
/// grow.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ConeCertificate {
    /// Contact that pushes in the last step, so that $J_{n,j}v^+ = 0$.
    pub last: usize,
    /// Multipliers $\nu$ of the normal velocities after the impact, one per contact.
    pub nu: Vec<f64>,
    /// Velocity $w$ (n entries) along which every admissible impulse does nonnegative work.
    pub w: Vec<f64>,
}

impl BoundCertificate {
    /// Returns the index of the contact that pushes in the last step of the outcomes for which this certificate proves a
    /// bound.
    pub fn last(&self) -> usize {
        match self {
            Self::Cone(cone) => cone.last,
            Self::Moment(moment) => moment.last,
        }
    }

    /// Checks this certificate, and returns the proven upper bound (rounded up) of `direction` $\cdot v^+$, where $v^+$
    /// is the velocity after the impact. The bound is valid for all outcomes that consist of finitely many impulse
    /// steps ([`BoundedSet::Steps`]). Returns `None` if the certificate does not prove a bound.
    ///
    /// # Errors
    ///
    /// [`ImpactError::InvalidOption`] for a direction of the wrong length, and [`ImpactError::UnprovenBound`] for a
    /// mass matrix that is singular to working precision.
    pub fn verify(
        &self,
        problem: &ImpactProblem,
        direction: &[f64],
    ) -> Result<Option<f64>, ImpactError> {
        self.verify_for(problem, direction, BoundedSet::Steps)
    }

    /// Checks this certificate, and returns the proven upper bound (rounded up) of `direction` $\cdot v^+$, where $v^+$ is
    /// the velocity after the impact. The bound is valid for the outcomes in `set`. Returns `None` if the certificate does
    /// not prove a bound for this set.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`verify`](Self::verify).
    pub fn verify_for(
        &self,
        problem: &ImpactProblem,
        direction: &[f64],
        set: BoundedSet,
    ) -> Result<Option<f64>, ImpactError> {
        let given = Given::new(problem)?;
        super::check_direction(direction, given.velocity.len())?;
        Ok(self.bound(&given, direction, set))
    }

    pub(super) fn bound(&self, given: &Given, direction: &[f64], set: BoundedSet) -> Option<f64> {
        match self {
            Self::Cone(cone) => cone.bound(given, direction),
            Self::Moment(moment) => moment.bound(given, direction, set),
        }
    }

    /// True for a certificate of Theorem 1 (momentum, friction cones and energy) with zero multipliers: its bound uses
    /// only that the kinetic energy does not grow.
    pub(super) fn is_energy(&self) -> bool {
        matches!(self, Self::Cone(cone) if cone.is_energy())
    }
}

impl ConeCertificate {
    /// Creates the certificate with zero multipliers, whose bound uses only that the kinetic energy does not grow.
    /// `last` is the contact that pushes in the last step, `given` holds the data of the impact problem.
    pub(super) fn energy(last: usize, given: &Given) -> Self {
        Self {
            last,
            nu: vec![0.0; given.contacts.len()],
            w: vec![0.0; given.velocity.len()],
        }
    }

    /// True if all multipliers are zero, so that the bound uses only that the kinetic energy does not grow.
    pub(super) fn is_energy(&self) -> bool {
        self.nu.iter().chain(&self.w).all(|x| *x == 0.0)
    }

    pub(super) fn bound(&self, given: &Given, direction: &[f64]) -> Option<f64> {
        if !is_signed(&self.nu, self.last, given) || !given.is_dual(&self.w) {
            return None;
        }
        if self.w.len() != given.velocity.len() {
            return None;
        }
        let w = exact(&self.w);
        let momentum = given.momentum(&w);
        let pushed = pushed(given, direction, &self.nu);
        let sum: Vec<Interval> = pushed.iter().zip(&momentum).map(|(a, b)| *a + *b).collect();
        let norm = given.norm_high(&sum);
        let work = dot(&momentum, &exact(&given.velocity));
        let bound = Interval::from(norm) * Interval::from(given.speed) - work;
        bound.high.is_finite().then_some(bound.high)
    }
}
