//! Inertia of the bodies that a link carries.

use nalgebra::{Rotation2, Vector2};
use std::ops::{Add, AddAssign};

/// Inertia of a planar body: mass, first moment (mass times position of the center of mass) and second moment (moment of
/// inertia), all about the origin of a frame.
///
/// The kinetic energy is linear in these four numbers. So the inertia of several bodies that are rigidly connected is the sum of
/// their inertias, and derivatives with respect to a design parameter are added, too. Any consistent units can be used: kg, kg·m,
/// kg·m² in SI.
///
/// # Examples
///
/// A hammer: a rod with a block at its end.
///
/// ```
/// use carom_mechanism::planar::Inertia;
/// let hammer = Inertia::rod(0.5, [0.0, 0.0], [0.3, 0.0])
///     + Inertia::rectangle(1.0, [0.02, 0.05], [0.3, 0.0]);
/// assert!((hammer.mass - 1.5).abs() < 1e-15);
/// assert!((hammer.second_moment - (0.015 + 0.09 + 2.9e-3 / 3.0)).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inertia {
    /// Mass $m = \int dm$.
    pub mass: f64,
    /// First moment $\int x dm$: mass times the center of mass.
    pub first_moment: Vector2<f64>,
    /// Second moment $\int \lvert x\rvert^2 dm$ about the origin of the frame.
    pub second_moment: f64,
}

impl Inertia {
    /// Inertia of a body without mass: all moments are zero.
    pub const ZERO: Self = Self {
        mass: 0.0,
        first_moment: Vector2::new(0.0, 0.0),
        second_moment: 0.0,
    };

    /// Creates the inertia of a planar body of any shape from its mass, its center of mass in the frame, and its moment of
    /// inertia about the center of mass.
    pub fn new(mass: f64, center: [f64; 2], moment_about_center: f64) -> Self {
        let center = Vector2::from(center);
        Self {
            mass,
            first_moment: mass * center,
            second_moment: moment_about_center + mass * center.norm_squared(),
        }
    }

    /// Creates the inertia of a point mass at the position `at` in the frame.
    pub fn point(mass: f64, at: [f64; 2]) -> Self {
        Self::new(mass, at, 0.0)
    }

    /// Creates the inertia of a solid ball of mass $m$ and radius $r$ with its center at `center` in the frame. The moment about
    /// the center is $\tfrac25mr^2$.
    pub fn ball(mass: f64, radius: f64, center: [f64; 2]) -> Self {
        Self::new(mass, center, 0.4 * mass * radius * radius)
    }

    /// Creates the inertia of a solid disk of mass $m$ and radius $r$ with its center at `center` in the frame. The moment about
    /// the center is $\tfrac12mr^2$.
    pub fn disk(mass: f64, radius: f64, center: [f64; 2]) -> Self {
        Self::new(mass, center, 0.5 * mass * radius * radius)
    }

    /// Creates the inertia of a thin uniform rod of mass $m$ between the points `from` and `to` of the frame. The moment about
    /// the middle of the rod is $\tfrac1{12}ml^2$ with the length $l$.
    pub fn rod(mass: f64, from: [f64; 2], to: [f64; 2]) -> Self {
        let (from, to) = (Vector2::from(from), Vector2::from(to));
        let middle = 0.5 * (from + to);
        let moment = mass * (to - from).norm_squared() / 12.0;
        Self::new(mass, middle.into(), moment)
    }

    /// Creates the inertia of a solid rectangle of mass $m$ with sides along the axes of the frame and its center at `center`.
    /// The moment about the center is $\tfrac13m(a^2 + b^2)$; $a$ and $b$ are half the lengths of the sides (`half_sides`).
    pub fn rectangle(mass: f64, half_sides: [f64; 2], center: [f64; 2]) -> Self {
        let moment = mass * Vector2::from(half_sides).norm_squared() / 3.0;
        Self::new(mass, center, moment)
    }

    /// Returns the inertia of the body after a motion relative to the frame: a rotation about the origin by `angle` (rad,
    /// counterclockwise), followed by the translation `displacement`. Use this function to attach a body that is described in its
    /// own frame to a link.
    #[must_use]
    pub fn placed(&self, displacement: [f64; 2], angle: f64) -> Self {
        let displacement = Vector2::from(displacement);
        let turned = Rotation2::new(angle) * self.first_moment;
        Self {
            mass: self.mass,
            first_moment: turned + self.mass * displacement,
            second_moment: self.second_moment
                + 2.0 * turned.dot(&displacement)
                + self.mass * displacement.norm_squared(),
        }
    }

    /// True if a distribution of mass exists that has this mass, first moment and second moment, up to rounding errors.
    pub(super) fn is_realizable(&self) -> bool {
        let square = self.first_moment.norm_squared();
        let product = self.mass * self.second_moment;
        self.mass >= 0.0
            && self.second_moment >= 0.0
            && product.is_finite()
            && square <= product * (1.0 + 1e-12)
    }
}

impl Add for Inertia {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl AddAssign for Inertia {
    fn add_assign(&mut self, other: Self) {
        self.mass += other.mass;
        self.first_moment += other.first_moment;
        self.second_moment += other.second_moment;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rectangle_is_two_rectangles_welded() {
        let whole = Inertia::rectangle(3.0, [0.75, 0.2], [0.25, 0.1]);
        let left = Inertia::rectangle(2.0, [0.5, 0.2], [0.0, 0.1]);
        // The right third, described lying on its side about its own corner.
        let right = Inertia::rectangle(1.0, [0.2, 0.25], [0.2, 0.25])
            .placed([1.0, -0.1], std::f64::consts::FRAC_PI_2);
        let sum = left + right;
        assert!((sum.mass - whole.mass).abs() < 1e-15);
        assert!((sum.first_moment - whole.first_moment).norm() < 1e-15);
        assert!((sum.second_moment - whole.second_moment).abs() < 1e-15);
    }

    #[test]
    fn moments_that_no_mass_has_are_refused() {
        assert!(Inertia::point(2.0, [3.0, -4.0]).is_realizable());
        assert!(Inertia::ZERO.is_realizable());
        assert!(!Inertia::new(1.0, [1.0, 0.0], -0.1).is_realizable());
        assert!(!Inertia::point(-1.0, [0.0, 0.0]).is_realizable());
        assert!(!Inertia::point(1.0, [f64::NAN, 0.0]).is_realizable());
    }
}
