//! Solver for many impacts of one configuration.

use super::atlas::Atlas;
use super::impact::{ContactResponse, Scaled, follow};
use super::inertia::ContactInertia;
use super::options::ImpactOptions;
use super::recorder::Blind;
use crate::TwoBodyError;
use nalgebra::Vector3;

/// Contact with fixed inverse inertia and friction coefficient, prepared for the fast solution of many frictional impacts with
/// different velocities.
///
/// A hodograph is the curve of the sliding velocity $\gamma$ as the normal impulse grows. The sliding velocity obeys $\gamma' =
/// \rho d - \mu B\gamma$ with the sliding speed $\rho$, the tangential block $B$ and the coupling $d$ of the inverse inertia
/// matrix and the friction coefficient $\mu$. This equation is homogeneous. So all hodographs in the sector between two
/// neighboring invariant directions (in which sliding stays straight) are scaled copies of one curve. The preparation computes
/// one hodograph of each sector as a sequence of Taylor polynomials. It also computes the direction in which sliding resumes
/// after a stop, and power series for the end of sliding near attracting invariant directions. To solve an impact, the stored
/// hodograph is entered at the point with the given sliding direction and scaled to the given sliding speed. Only the events of
/// the impact then remain to be computed.
///
/// # Examples
///
/// ```
/// use carom_two_body::{
///     ContactInertia, ContactResponse, ImpactOptions, PreparedContact, solve_impact,
/// };
/// use nalgebra::{Matrix3, Vector3};
/// let w = ContactInertia::from_matrix(&Matrix3::new(
///     11.5984, -0.910367, 2.44236, -0.910367, 9.90134, 1.95747, 2.44236, 1.95747, 2.59042,
/// ))?;
/// let options = ImpactOptions::default();
/// let prepared = PreparedContact::new(&w, 0.8, &options)?;
/// let velocity = Vector3::new(-0.261976, 0.386329, -0.077174);
/// let ContactResponse::Impact(quick) = prepared.solve(&velocity, 0.95)? else { unreachable!() };
/// let ContactResponse::Impact(slow) = solve_impact(&w, &velocity, 0.8, 0.95, &options)? else {
///     unreachable!()
/// };
/// assert!((quick.impulse - slow.impulse).amax() < 1e-13);
/// # Ok::<(), carom_two_body::TwoBodyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PreparedContact {
    original: ContactInertia,
    scaled: Scaled,
    friction: f64,
    options: ImpactOptions,
    atlas: Atlas,
}

impl PreparedContact {
    /// Prepares a contact for fast impact solutions: computes its hodographs (curves of the sliding velocity) once. `w` is the
    /// inverse inertia matrix of the contact, `friction` the friction coefficient; `options` apply to all impacts that are solved
    /// later.
    ///
    /// # Errors
    ///
    /// Returns [`TwoBodyError::InvalidFriction`].
    pub fn new(
        w: &ContactInertia,
        friction: f64,
        options: &ImpactOptions,
    ) -> Result<Self, TwoBodyError> {
        super::impact::check(&Vector3::zeros(), friction, 0.0)?;
        let scaled = Scaled::new(w);
        let atlas = Atlas::new(&scaled.inertia, friction, options.step_tolerance());
        Ok(Self {
            original: *w,
            scaled,
            friction,
            options: *options,
            atlas,
        })
    }

    /// Solves an impact of this prepared contact, as [`solve_impact`](super::solve_impact) does. `velocity` is
    /// the contact velocity before the impact (two tangents, normal), `restitution` the coefficient of
    /// restitution.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`solve_impact`](super::solve_impact).
    pub fn solve(
        &self,
        velocity: &Vector3<f64>,
        restitution: f64,
    ) -> Result<ContactResponse, TwoBodyError> {
        follow(
            &self.original,
            &self.scaled,
            velocity,
            self.friction,
            restitution,
            &self.options,
            Some(&self.atlas),
            &mut Blind,
        )
    }
}
