//! Frictional impact of one contact of any system, by Routh's method: velocities are functions of the normal impulse.

use crate::laws::BuiltIn;
use carom_contact::internal::{Candidate, Opening};
use carom_contact::{
    ContactIndex, Diagnostics, FrictionalDiagnostics, ImpactError, ImpactLaw, ImpactOutcome,
    ImpactProblem, ImpactStatus, Rules, Work,
};
use carom_two_body::{
    ContactImpact, ContactInertia, ContactResponse, FinalMode, ImpactOptions, RestitutionLaw,
    solve_impact,
};
use nalgebra::{Matrix2, Matrix3, Vector3};

/// The Coulomb impact of one contact (`routh`): the phases of sliding, sticking and reversed sliding as the
/// normal impulse grows, exact in the plane and in space.
///
/// The contact has one tangent (plane), two (space) or none (no friction); its rows are assumed
/// orthonormal in physical space. With one tangent every phase is a straight line, and the outcome
/// is the closed form of Routh (1905) and Wang & Mason (1992). With two the sliding direction turns,
/// and [`two_body`](crate::two_body) computes its path. Friction and restitution are those of the contact.
///
/// # Examples
///
/// A rod that hits with a sliding end, described by two contact rows:
///
/// ```
/// use carom_impact::{Contact, ContactSet, Diagnostics, ImpactLaw, ImpactProblem, Routh};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::{DMatrix, dvector};
/// // x, y of the centre and the angle of a rod of mass 1 and half length 1 at 45 degrees.
/// let metric = KineticMetric::new(DMatrix::from_diagonal(&dvector![1.0, 1.0, 1.0 / 3.0]))?;
/// let h = 0.5_f64.sqrt();
/// let contacts = ContactSet::new(&metric, vec![Contact::new(Covector::from_slice(&[0.0, 1.0, -h]))
///     .with_tangents(vec![Covector::from_slice(&[1.0, 0.0, h])])
///     .with_friction(0.3)
///     .with_restitution(0.5)])?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[0.0, -1.0, 0.0]))?;
/// let outcome = Routh::default().resolve(&problem)?;
/// let Diagnostics::Frictional(found) = outcome.diagnostics else { unreachable!() };
/// // Not enough friction to stick: the end slides off, compression ends, restitution ends.
/// assert_eq!(found.impact.unwrap().events.sequence(), "scr");
/// assert!(outcome.audit.energy_change_j() < 0.0);
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
#[non_exhaustive]
pub struct Routh {
    /// Options of the impact, such as the law of restitution.
    pub options: ImpactOptions,
}

carom_numeric::setters!(Routh {
    /// Sets the options of the impact at the contact.
    with_options: options, ImpactOptions;
});

impl ImpactLaw for Routh {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem) -> Result<ImpactOutcome, ImpactError> {
        resolve(problem, &self.options)
    }
}

/// The frictional impact of two rigid bodies at one contact in space (`two-body`), Jia & Wang.
///
/// The physics is that of [`Routh`], for one contact with two tangents. The problem of two bodies is
/// built by [`BodyPair`](carom_two_body::BodyPair).
///
/// # Examples
///
/// ```
/// use carom_impact::{Contact, ContactSet, ImpactLaw, ImpactProblem, TwoBody};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(3, 3))?;
/// let floor = Contact::new(Covector::from_slice(&[0.0, 0.0, 1.0]))
///     .with_tangents(vec![ Covector::from_slice(&[1.0, 0.0, 0.0]), Covector::from_slice(&[0.0, 1.0, 0.0]), ])
///     .with_friction(0.5)
///     .with_restitution(0.5);
/// let contacts = ContactSet::new(&metric, vec![floor])?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[3.0, 0.0, -2.0]))?;
/// let outcome = TwoBody::default().resolve(&problem)?;
/// assert!((&outcome.velocity_plus.0 - nalgebra::dvector![1.5, 0.0, 1.0]).amax() < 1e-14);
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
#[non_exhaustive]
pub struct TwoBody {
    /// Options of the impact, such as the law of restitution.
    pub options: ImpactOptions,
}

carom_numeric::setters!(TwoBody {
    /// Sets the options of the impact at the contact.
    with_options: options, ImpactOptions;
});

impl ImpactLaw for TwoBody {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem) -> Result<ImpactOutcome, ImpactError> {
        problem.contacts().require_tangents()?;
        if let [contact] = problem.contacts().contacts()
            && contact.tangents.len() != 2
        {
            let found = contact.tangents.len();
            return Err(ImpactError::WrongTangents { expected: 2, found });
        }
        resolve(problem, &self.options)
    }
}

/// Returns the inverse inertia matrix of the only contact of a problem, and its velocity before the impact (m/s), both with
/// the tangents first and the normal last. Planar and frictionless contacts are embedded in the matrix of a contact in space.
pub fn contact_space(
    problem: &ImpactProblem,
) -> Result<(ContactInertia, Vector3<f64>), ImpactError> {
    let contacts = problem.contacts();
    let [contact] = contacts.contacts() else {
        let found = contacts.len();
        return Err(ImpactError::SingleContactLaw { found });
    };
    contacts.require_tangents()?;
    let g = contacts.delassus();
    let v = &problem.velocity_minus().0;
    let normal = contact.normal.0.dot(v);
    let tangential = |k: usize| contact.tangents.get(k).map_or(0.0, |row| row.0.dot(v));
    let plane = |b, d, w| ContactInertia::of_plane(&Matrix2::new(b, d, d, w));
    let matrix = match contact.tangents.len() {
        0 => plane(g[(0, 0)], 0.0, g[(0, 0)]),
        1 => plane(g[(1, 1)], 0.5 * (g[(1, 0)] + g[(0, 1)]), g[(0, 0)]),
        _ => Matrix3::new(
            g[(1, 1)],
            g[(1, 2)],
            g[(1, 0)],
            g[(2, 1)],
            g[(2, 2)],
            g[(2, 0)],
            g[(0, 1)],
            g[(0, 2)],
            g[(0, 0)],
        ),
    };
    let w = ContactInertia::from_rounded(&matrix, contacts.amplified())?;
    Ok((w, Vector3::new(tangential(0), tangential(1), normal)))
}

fn resolve(problem: &ImpactProblem, options: &ImpactOptions) -> Result<ImpactOutcome, ImpactError> {
    let problem = problem.event();
    let (inertia, mut velocity) = contact_space(problem)?;
    let contact = &problem.contacts().contacts()[0];
    if !problem.is_approaching() {
        // A grazing contact touches without closing.
        velocity.z = velocity.z.max(0.0);
    }
    let response = solve_impact(
        &inertia,
        &velocity,
        contact.friction,
        contact.restitution,
        options,
    )?;
    let (status, impact) = match response {
        ContactResponse::Separating => (ImpactStatus::Separating, None),
        ContactResponse::Jammed => (ImpactStatus::Jammed, None),
        ContactResponse::Impact(impact) => (ImpactStatus::Resolved, Some(impact)),
    };
    outcome(problem, inertia, options.restitution_law, status, impact)
}

/// Converts the impulse computed by Routh's method to an outcome, after the final checks. `impact` is `None` if the contact
/// does not approach.
fn outcome(
    problem: &ImpactProblem,
    inertia: ContactInertia,
    restitution_law: RestitutionLaw,
    status: ImpactStatus,
    impact: Option<ContactImpact>,
) -> Result<ImpactOutcome, ImpactError> {
    let contacts = problem.contacts();
    let contact = &contacts.contacts()[0];
    let [x, y, z] = impact.map_or([0.0; 3], |impact| impact.impulse.into());
    let on_rows = contacts.rows_at(ContactIndex::new(0)).zip([z, x, y]);
    let impulse = on_rows.map(|(row, l)| l * contacts.row_norm(row) * problem.scale());
    let rules = Rules {
        // Newton's and Poisson's restitution may gain energy against friction.
        work: match restitution_law {
            RestitutionLaw::Energetic => Work::Lost,
            _ => Work::Any,
        },
        ..Rules::FRICTIONAL
    };
    let diagnostics = Diagnostics::Frictional(Box::new(FrictionalDiagnostics::new(
        inertia,
        contact.friction,
        impact,
    )));
    Candidate::new(problem, impulse.collect()).outcome(
        problem,
        &rules,
        &mut Opening::default(),
        status,
        diagnostics,
    )
}

/// Tangential mode of a planar impact, after Wang & Mason (1992): sliding, sticking or reversed sliding. In the names of the
/// variants, `C` means that sliding stops during compression, `R` that it stops during restitution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactMode {
    /// Slides in one direction until the end.
    Sliding,
    /// Starts with zero tangential velocity and sticks.
    Sticking,
    /// Sliding stops during compression; the contact then sticks.
    CSticking,
    /// Sliding stops during restitution; the contact then sticks.
    RSticking,
    /// Sliding stops during compression, then reverses.
    CReversedSliding,
    /// Sliding stops during restitution, then reverses.
    RReversedSliding,
}

impl ContactMode {
    /// Returns the tangential mode of a computed impact. For an impact in space, the modes of reversed sliding mean that
    /// sliding stopped and then resumed in another direction.
    pub fn of(impact: &ContactImpact) -> Self {
        use carom_two_body::Event::{CompressionEnd, SlipZero};
        let at = |event| impact.events.iter().position(|point| point.event == event);
        let is_late = at(SlipZero) > at(CompressionEnd);
        match (impact.mode, is_late) {
            (FinalMode::Slip, _) => Self::Sliding,
            (FinalMode::Stick, false) if at(SlipZero) == Some(0) => Self::Sticking,
            (FinalMode::Stick, false) => Self::CSticking,
            (FinalMode::Stick, true) => Self::RSticking,
            (FinalMode::ResumedSlip, _) if at(SlipZero) == Some(0) => Self::Sliding,
            (FinalMode::ResumedSlip, false) => Self::CReversedSliding,
            (FinalMode::ResumedSlip, true) => Self::RReversedSliding,
        }
    }

    /// Stable identifier of the mode in machine-readable reports, for example `c-sticking`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sliding => "sliding",
            Self::Sticking => "sticking",
            Self::CSticking => "c-sticking",
            Self::RSticking => "r-sticking",
            Self::CReversedSliding => "c-reversed-sliding",
            Self::RReversedSliding => "r-reversed-sliding",
        }
    }
}
