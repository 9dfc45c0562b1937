//! Laws for frictionless contacts of systems with nonholonomic velocity constraints, one per [`Restitution`].

use super::{BuiltIn, ContactCount, ContactKeys, LawInfo, OptionInfo, Outcomes};
use crate::{Nonholonomic, Restitution};
use carom_contact::{ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem};

/// Properties that the descriptions of these laws share.
const FRICTIONLESS: LawInfo = LawInfo {
    name: "",
    summary: "",
    reference: "",
    uses: ContactKeys::NORMAL,
    contacts: ContactCount::Any,
    outcomes: Outcomes::Single,
    energy: "kept or lost",
    may_gain_energy: false,
    options: &[],
    example: "",
};

/// Coefficient of restitution.
const RESTITUTION: OptionInfo = OptionInfo {
    key: "restitution",
    default: "0.0",
    unit: "",
    meaning: "Newton's coefficient, in [0, 1]",
};

/// Impact law for a frictionless contact of a system with nonholonomic velocity constraints (`nonholonomic-elastic`): elastic
/// reflection within the velocities that the constraints admit, [`Restitution::Elastic`].
///
/// # Examples
///
/// ```
/// use carom_impact::{Contact, ContactSet, ImpactLaw, ImpactProblem, NonholonomicElastic};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let wall = Contact::frictionless(Covector::from_slice(&[1.0, 0.0]));
/// // A blade that moves along (2, 1) only.
/// let blade = vec![Covector::from_slice(&[1.0, -2.0])];
/// let contacts = ContactSet::constrained(&metric, vec![wall], blade)?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[-2.0, -1.0]))?;
/// let outcome = NonholonomicElastic::default().resolve(&problem)?;
/// assert!((&outcome.velocity_plus.0 - nalgebra::dvector![2.0, 1.0]).amax() < 1e-14);
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct NonholonomicElastic {}

impl ImpactLaw for NonholonomicElastic {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem) -> Result<ImpactOutcome, ImpactError> {
        Nonholonomic::new(Restitution::Elastic)?.resolve(problem)
    }
}

impl BuiltIn for NonholonomicElastic {
    const INFO: LawInfo = LawInfo {
        name: "nonholonomic-elastic",
        summary: "one contact under constraints, energy kept",
        reference: "Clark & Bloch, Eqs. (15)-(17)",
        energy: "kept",
        example: r#"{"law":"nonholonomic-elastic","mass_matrix":[[1,0],[0,1]],"velocity":[-1,-1],"contacts":[{"normal":[1,0]}],"constraints":[[1,-1]]}"#,
        ..FRICTIONLESS
    };
}

/// Impact law for a frictionless contact of a system with nonholonomic velocity constraints (`nonholonomic-projected`):
/// elastic reflection as if there were no constraints, then projection onto the constraints, [`Restitution::Projected`].
///
/// # Examples
///
/// ```
/// use carom_impact::{Contact, ContactSet, ImpactLaw, ImpactProblem, NonholonomicProjected};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let wall = Contact::frictionless(Covector::from_slice(&[1.0, 0.0]));
/// // A blade that moves along (2, 1) only.
/// let blade = vec![Covector::from_slice(&[1.0, -2.0])];
/// let contacts = ContactSet::constrained(&metric, vec![wall], blade)?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[-2.0, -1.0]))?;
/// // Reflected to (2, -1), then projected onto (2, 1).
/// let outcome = NonholonomicProjected::default().resolve(&problem)?;
/// assert!((&outcome.velocity_plus.0 - nalgebra::dvector![1.2, 0.6]).amax() < 1e-14);
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct NonholonomicProjected {}

impl ImpactLaw for NonholonomicProjected {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem) -> Result<ImpactOutcome, ImpactError> {
        Nonholonomic::new(Restitution::Projected)?.resolve(problem)
    }
}

impl BuiltIn for NonholonomicProjected {
    const INFO: LawInfo = LawInfo {
        name: "nonholonomic-projected",
        summary: "elastic as if unconstrained, then projected onto the constraints",
        reference: "Clark & Bloch, Eqs. (18), (20)",
        example: r#"{"law":"nonholonomic-projected","mass_matrix":[[1,0],[0,1]],"velocity":[-1,-1],"contacts":[{"normal":[1,0]}],"constraints":[[1,-1]]}"#,
        ..FRICTIONLESS
    };
}

/// Impact law for a frictionless contact of a system with nonholonomic velocity constraints (`nonholonomic-newton`): Newton's
/// restitution within the velocities that the constraints admit, [`Restitution::Newton`].
///
/// # Examples
///
/// ```
/// use carom_impact::{Contact, ContactSet, ImpactLaw, ImpactProblem, NonholonomicNewton};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let wall = Contact::frictionless(Covector::from_slice(&[1.0, 0.0]));
/// // A blade that moves along (2, 1) only.
/// let blade = vec![Covector::from_slice(&[1.0, -2.0])];
/// let contacts = ContactSet::constrained(&metric, vec![wall], blade)?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[-2.0, -1.0]))?;
/// let outcome = NonholonomicNewton::default().with_restitution(0.5).resolve(&problem)?;
/// assert!((&outcome.velocity_plus.0 - nalgebra::dvector![1.0, 0.5]).amax() < 1e-14);
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct NonholonomicNewton {
    /// Newton's coefficient of restitution, in \[0, 1\].
    pub restitution: f64,
}

carom_numeric::setters!(NonholonomicNewton {
    /// Sets the coefficient of restitution, in \[0, 1\].
    with_restitution: restitution, f64;
});

impl ImpactLaw for NonholonomicNewton {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem) -> Result<ImpactOutcome, ImpactError> {
        Nonholonomic::new(Restitution::Newton(self.restitution))?.resolve(problem)
    }
}

impl BuiltIn for NonholonomicNewton {
    const INFO: LawInfo = LawInfo {
        name: "nonholonomic-newton",
        summary: "Newton restitution under constraints",
        reference: "Clark & Bloch, Eqs. (15)-(17)",
        options: &[RESTITUTION],
        example: r#"{"law":"nonholonomic-newton","mass_matrix":[[1,0],[0,1]],"velocity":[-1,-1],"contacts":[{"normal":[1,0]}],"constraints":[[1,-1]]}"#,
        ..FRICTIONLESS
    };
}

/// Impact law for a frictionless contact of a system with nonholonomic velocity constraints
/// (`nonholonomic-projected-newton`): Newton's restitution as if there were no constraints, then projection onto the
/// constraints, [`Restitution::ProjectedNewton`].
///
/// # Examples
///
/// ```
/// use carom_impact::{Contact, ContactSet, ImpactLaw, ImpactProblem, NonholonomicProjectedNewton};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let wall = Contact::frictionless(Covector::from_slice(&[1.0, 0.0]));
/// // A blade that moves along (2, 1) only.
/// let blade = vec![Covector::from_slice(&[1.0, -2.0])];
/// let contacts = ContactSet::constrained(&metric, vec![wall], blade)?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[-2.0, -1.0]))?;
/// // Reflected to (1, -1), then projected onto (2, 1).
/// let outcome = NonholonomicProjectedNewton::default().with_restitution(0.5).resolve(&problem)?;
/// assert!((&outcome.velocity_plus.0 - nalgebra::dvector![0.4, 0.2]).amax() < 1e-14);
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct NonholonomicProjectedNewton {
    /// Newton's coefficient of restitution, in \[0, 1\].
    pub restitution: f64,
}

carom_numeric::setters!(NonholonomicProjectedNewton {
    /// Sets the coefficient of restitution, in \[0, 1\].
    with_restitution: restitution, f64;
});

impl ImpactLaw for NonholonomicProjectedNewton {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem) -> Result<ImpactOutcome, ImpactError> {
        Nonholonomic::new(Restitution::ProjectedNewton(self.restitution))?.resolve(problem)
    }
}

impl BuiltIn for NonholonomicProjectedNewton {
    const INFO: LawInfo = LawInfo {
        name: "nonholonomic-projected-newton",
        summary: "Newton restitution as if unconstrained, then projected onto the constraints",
        reference: "Clark & Bloch, Eqs. (18), (20)",
        options: &[RESTITUTION],
        example: r#"{"law":"nonholonomic-projected-newton","mass_matrix":[[1,0],[0,1]],"velocity":[-1,-1],"contacts":[{"normal":[1,0]}],"options":{"restitution":1},"constraints":[[1,-1]]}"#,
        ..FRICTIONLESS
    };
}
