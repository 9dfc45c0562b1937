//! Coefficients of a contact of a mechanism.

/// A point contact of a mechanism; its gap and its slide are functions of the
/// [`MechanicalSystem`](crate::MechanicalSystem).
#[derive(Clone, Debug, PartialEq)]
pub struct PointContact {
    /// Name, for reports.
    pub name: String,
    /// Coulomb coefficient, at least 0. Friction needs a slide.
    pub friction: f64,
    /// Coefficient of restitution in \[0, 1\], for impact laws that take one per contact.
    pub restitution: f64,
    /// True if the system has a slide for this contact.
    pub has_slide: bool,
}

impl PointContact {
    /// A contact without friction and without a slide, perfectly elastic.
    pub fn elastic(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            friction: 0.0,
            restitution: 1.0,
            has_slide: false,
        }
    }

    /// A planar contact with Coulomb friction, whose slide the system must give.
    pub fn frictional(name: impl Into<String>, friction: f64) -> Self {
        Self {
            name: name.into(),
            friction,
            restitution: 1.0,
            has_slide: true,
        }
    }
}
