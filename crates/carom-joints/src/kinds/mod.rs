//! Types of joints: one file each, and one line in [`KINDS`].

mod cylindrical;
mod distance;
mod fixed;
mod free;
mod gimbal;
mod planar;
mod prismatic;
mod revolute;
mod spherical;
mod universal;

use crate::frames::{Frames, Row};
use nalgebra::{Matrix3, Vector3};

/// All types of joints.
pub static KINDS: &[&Kind] = &[
    &fixed::KIND,
    &revolute::KIND,
    &prismatic::KIND,
    &cylindrical::KIND,
    &universal::KIND,
    &gimbal::KIND,
    &spherical::KIND,
    &planar::KIND,
    &distance::KIND,
    &free::KIND,
];

/// Rows of joints.
pub type Rows = Vec<Row>;

/// Separation $d$ and relative attitude $D$ of two frames.
pub(crate) type Relative = (Vector3<f64>, Matrix3<f64>);

/// A type of joint.
#[derive(Debug)]
pub struct Kind {
    /// Name in configurations.
    pub name: &'static str,
    /// Conditions on the two frames; each is a residual and its row.
    pub conditions: &'static [Condition],
    /// Coordinates, in their order.
    pub coordinates: &'static [Coordinate],
    /// Axes that a configuration gives.
    pub axes: Axes,
    /// Measures the coordinates; for those that wrap, some value modulo $2\pi$. `near` are the coordinates of the
    /// state before.
    pub(crate) measure: fn(&Geometry, &Frames, near: &[f64], out: &mut [f64]),
    /// Separation $d$ and relative attitude $D$ of the frames at given coordinates.
    pub(crate) place: fn(&Geometry, &[f64]) -> Relative,
    /// Rows whose rates are the rates of the coordinates.
    pub(crate) rates: fn(&Geometry, &Frames, q: &[f64], &mut Rows),
}

/// A condition on the two frames, with $d = p_2 - p_1$ and $c_{ik}$ the k-th axis of frame i.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Condition {
    /// $e_k\cdot d = 0$: the origins coincide along an axis of space.
    Coincide(usize),
    /// $c_{1k}\cdot d = 0$: the child's origin slides in the parent's frame across an axis.
    Across(usize),
    /// $c_{1k}\cdot c_{2l} = 0$.
    Orthogonal(usize, usize),
    /// $\lvert d\rvert = \ell$.
    Distance,
}

/// Name and nature of a coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coordinate {
    /// Suffix after the joint's name and a point; empty for the only coordinate.
    pub suffix: &'static str,
    /// True for an angle (rad), false for a displacement (m).
    pub is_angle: bool,
}

impl Coordinate {
    const fn angle(suffix: &'static str) -> Self {
        Self {
            suffix,
            is_angle: true,
        }
    }

    const fn displacement(suffix: &'static str) -> Self {
        Self {
            suffix,
            is_angle: false,
        }
    }
}

/// Axes that the configuration of a type takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axes {
    /// None.
    None,
    /// `axis`, which becomes z of both frames.
    One,
    /// `axis` and `axis2`, which become x and y.
    Two,
    /// `axes`, of which the first two become x and y.
    Three,
}

/// Constants of a joint that its type needs.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Geometry {
    /// Length of a `distance` (m).
    pub length: f64,
    /// Angle from the first to the third axis of a `gimbal` at coordinate 0, from x to z (rad).
    pub third: f64,
}

impl Condition {
    /// True if the residual is a length (m), not the cosine of an angle.
    pub fn is_length(self) -> bool {
        !matches!(self, Self::Orthogonal(..))
    }

    /// The residual: a length (m) or the cosine of an angle.
    pub fn residual(self, geometry: &Geometry, frames: &Frames) -> f64 {
        let d = frames.separation();
        match self {
            Self::Coincide(k) => d[k],
            Self::Across(k) => frames.parent.axis(k).dot(&d),
            Self::Orthogonal(k, l) => frames.parent.axis(k).dot(&frames.child.axis(l)),
            Self::Distance => d.norm() - geometry.length,
        }
    }

    /// The row of the residual's rate.
    pub fn row(self, frames: &Frames) -> Row {
        match self {
            Self::Coincide(k) => Row::force(frames, Vector3::ith(k, 1.0)),
            Self::Across(k) => Row::sliding_force(frames, frames.parent.axis(k)),
            Self::Orthogonal(k, l) => {
                let (u, w) = (frames.parent.axis(k), frames.child.axis(l));
                Row::couple(frames, w.cross(&u))
            }
            Self::Distance => {
                let d = frames.separation();
                let length = d.norm();
                let along = if length > 0.0 { d / length } else { d };
                Row::force(frames, along)
            }
        }
    }
}

impl Kind {
    /// The type of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        KINDS.iter().copied().find(|kind| kind.name == name)
    }

    /// True for a spherical joint, whose position is a quaternion.
    pub fn is_spherical(&self) -> bool {
        std::ptr::eq(self, &raw const spherical::KIND) || self.is_bounded_ball()
    }

    /// True for a spherical joint whose angle of rotation has a limit.
    pub(crate) fn is_bounded_ball(&self) -> bool {
        std::ptr::eq(self, &raw const spherical::BOUNDED)
    }

    /// The spherical joint whose angle of rotation has a limit.
    pub(crate) fn bounded_ball() -> &'static Self {
        &spherical::BOUNDED
    }

    /// True if coordinates, or their absence, say where the child lies.
    pub fn places(&self) -> bool {
        self.conditions.len() + self.coordinates.len() == 6 || self.is_spherical()
    }
}

/// The couple $b_k$ of a basis with the axes $a_1, a_2, a_3$: $b_k\cdot a_j = \delta_{kj}$.
pub(crate) fn dual(axes: &[Vector3<f64>; 3]) -> ([Vector3<f64>; 3], f64) {
    let [a, b, c] = axes;
    let determinant = a.dot(&b.cross(c));
    let scale = if determinant == 0.0 {
        0.0
    } else {
        1.0 / determinant
    };
    (
        [b.cross(c) * scale, c.cross(a) * scale, a.cross(b) * scale],
        determinant,
    )
}

pub(crate) use spherical::rotation as ball_rotation;

fn no_coordinates(_: &Geometry, _: &Frames, _: &[f64], _: &mut [f64]) {}

fn at_rest(_: &Geometry, _: &[f64]) -> Relative {
    (Vector3::zeros(), Matrix3::identity())
}

fn no_rates(_: &Geometry, _: &Frames, _: &[f64], _: &mut Rows) {}
