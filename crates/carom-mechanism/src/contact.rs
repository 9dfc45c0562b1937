//! Coefficients of a contact of a mechanism.

/// Name, friction and restitution of a point contact of a mechanism. The gap of the contact and its slide coordinate (tangential
/// displacement) are functions of the [`MechanicalSystem`](crate::MechanicalSystem).
#[derive(Clone, Debug, PartialEq)]
pub struct PointContact {
    /// Name of the contact, for reports.
    pub name: String,
    /// Coulomb friction coefficient, at least 0. Friction needs a slide coordinate.
    pub friction: f64,
    /// Coefficient of restitution in \[0, 1\], for impact laws with one coefficient per contact.
    pub restitution: f64,
    /// True if the system defines a slide coordinate for this contact: its tangential displacement.
    pub has_slide: bool,
}

impl PointContact {
    /// Creates a frictionless point contact with restitution 1 and without a slide coordinate (tangential displacement). `name`
    /// is used in reports.
    pub fn elastic(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            friction: 0.0,
            restitution: 1.0,
            has_slide: false,
        }
    }

    /// Creates a point contact of a planar mechanism with the Coulomb coefficient `friction` and restitution 1. The system must
    /// define its slide coordinate, the tangential displacement. `name` is used in reports.
    pub fn frictional(name: impl Into<String>, friction: f64) -> Self {
        Self {
            name: name.into(),
            friction,
            restitution: 1.0,
            has_slide: true,
        }
    }
}
