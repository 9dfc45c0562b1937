//! Types of joints: one file each, and one line in [`KINDS`].

mod biaxial;
mod cross_slide;
mod cylindrical;
mod distance;
mod fixed;
mod free;
mod gimbal;
mod pin_slot;
mod planar;
mod prismatic;
mod revolute;
mod series;
mod spherical;
mod triaxial;
mod universal;

use crate::frames::{Frames, Row};
use nalgebra::{Matrix3, Vector3};
use std::fmt;

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
    &cross_slide::KIND,
    &pin_slot::KIND,
    &biaxial::KIND,
    &triaxial::KIND,
    &distance::KIND,
    &free::KIND,
];

/// Jacobian rows of one or several joints.
pub type Rows = Vec<Row>;

/// Separation $d$ (m) and relative attitude $D$ of two frames.
pub(crate) type Relative = (Vector3<f64>, Matrix3<f64>);

/// A joint type, such as revolute or prismatic: its constraint conditions, coordinates and axes.
pub struct Kind {
    /// Name of the joint type in configuration files, for example `revolute`.
    pub name: &'static str,
    /// Conditions that the joint imposes on its two frames; each has a residual and a Jacobian row.
    pub conditions: &'static [Condition],
    /// Joint coordinates: their names, and whether each is an angle or a displacement.
    pub coordinates: &'static [Coordinate],
    /// Number and use of the axes that a configuration file specifies.
    pub axes: Axes,
    /// Measures the coordinates; an angle may be off by a multiple of $2\pi$. `near` are the coordinates of the state before.
    pub(crate) measure: fn(&Geometry, &Frames, near: &[f64], out: &mut [f64]),
    /// Returns separation $d$ (m) and relative attitude $D$ of the frames at given coordinates.
    pub(crate) place: fn(&Geometry, &[f64]) -> Relative,
    /// Appends the rows whose rates are the rates of the coordinates.
    pub(crate) rates: fn(&Geometry, &Frames, q: &[f64], &mut Rows),
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The name decides all else, and functions would show their addresses, which differ between processes.
        f.debug_tuple("Kind").field(&self.name).finish()
    }
}

/// A scalar constraint condition between the two frames of a joint. $d = p_2 - p_1$ is the vector from the origin of the
/// parent's frame (1) to that of the child's (2), and $c_{ik}$ is the k-th axis of frame i.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Condition {
    /// $e_k\cdot d = 0$ with the vector $d$ from the parent's origin to the child's: the origins coincide along the axis $e_k$ of
    /// space.
    Coincide(usize),
    /// $c_{1k}\cdot d = 0$ with the vector $d$ from the parent's origin to the child's: the child's origin stays in the plane
    /// through the parent's origin that is normal to the parent's axis $c_{1k}$.
    Across(usize),
    /// $c_{1k}\cdot c_{2l} = 0$: axis $k$ of the parent's frame and axis $l$ of the child's stay orthogonal.
    Orthogonal(usize, usize),
    /// Links between hinges in series end at the child: component along the axis $e_k$ of space of the gap between the links, which
    /// the relative attitude of the frames places, and the child's last axis.
    Linked(usize),
    /// $a_1\cdot a_2 = \cos\delta$: an axis of the parent and one of the child keep their angle $\delta$.
    Inclined,
    /// $\lvert d\rvert = \ell$: the origins of the two frames keep the distance $\ell$ (m).
    Distance,
}

/// Name and unit (angle or length) of a coordinate of a joint type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coordinate {
    /// Suffix of the coordinate's name, written after the joint's name and a point; empty if the joint has a single coordinate.
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

/// The joint axes that a configuration file must specify for a joint type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Axes {
    /// The type has no axes.
    None,
    /// One axis (key `axis`), which becomes the z axis of both frames.
    One,
    /// Two axes (keys `axis` and `axis2`), which become the x and y axes of the frames.
    Two,
    /// Three axes (key `axes`), each orthogonal to the next. The first two become the x and y axes of the frames.
    Three,
    /// Two axes (keys `axis` and `axis2`) or three (key `axes`) at any angles; neighbors are not parallel. The first one becomes
    /// the x axis of the frames, the normal of the first two the z axis.
    Oblique(usize),
}

impl Axes {
    /// Returns the number of axes.
    pub fn count(self) -> usize {
        match self {
            Self::None => 0,
            Self::One => 1,
            Self::Two => 2,
            Self::Three => 3,
            Self::Oblique(n) => n,
        }
    }
}

/// Geometric constants of a joint that its type needs, such as the length of a distance joint or the axes of hinges in series.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Geometry {
    /// Distance between the frame origins of a `distance` joint (m).
    pub length: f64,
    /// Angle $\delta$ (rad) from the first to the third axis of a `gimbal` joint at coordinates 0, positive from x towards z.
    pub third: f64,
    /// Unit vectors of the axes of a type with [`Axes::Oblique`], in the frames; zero if there are fewer than three.
    pub axes: [Vector3<f64>; 3],
    /// Point on each axis of hinges in series at coordinates 0, in the frames (m). With two hinges the last one is repeated.
    pub anchors: [Vector3<f64>; 3],
    /// True for a `biaxial` joint.
    pub is_biaxial: bool,
    /// Sign of the determinant of the axes of a `triaxial` joint, which the joint keeps.
    pub branch: f64,
}

impl Condition {
    /// True if the residual of this joint condition is a length (m), false if it is the cosine of an angle.
    pub fn is_length(self) -> bool {
        !matches!(self, Self::Orthogonal(..) | Self::Inclined)
    }

    /// Returns the residual of this joint condition, zero if it is satisfied: a length (m) or the cosine of an angle.
    pub fn residual(self, geometry: &Geometry, frames: &Frames) -> f64 {
        let d = frames.separation();
        match self {
            Self::Coincide(k) => d[k],
            Self::Across(k) => frames.parent.axis(k).dot(&d),
            Self::Orthogonal(k, l) => frames.parent.axis(k).dot(&frames.child.axis(l)),
            Self::Linked(k) => series::gap(geometry, frames, k),
            Self::Inclined => {
                let [u, w] = series::two_axes(geometry, frames);
                let [first, second, _] = geometry.axes;
                u.dot(&w) - first.dot(&second)
            }
            Self::Distance => d.norm() - geometry.length,
        }
    }

    /// Returns the Jacobian row of this joint condition. The row times the velocities of the two bodies is the time derivative of
    /// the condition's residual.
    pub fn row(self, geometry: &Geometry, frames: &Frames) -> Row {
        match self {
            Self::Coincide(k) => Row::force(frames, Vector3::ith(k, 1.0)),
            Self::Across(k) => Row::sliding_force(frames, frames.parent.axis(k)),
            Self::Orthogonal(k, l) => {
                let (u, w) = (frames.parent.axis(k), frames.child.axis(l));
                Row::couple(frames, w.cross(&u))
            }
            Self::Linked(k) => series::linked(geometry, frames, k),
            Self::Inclined => {
                let [u, w] = series::two_axes(geometry, frames);
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
    /// Returns the joint type with a name in configuration files, such as `revolute`; `None` if there is no such type.
    pub fn named(name: &str) -> Option<&'static Self> {
        KINDS.iter().copied().find(|kind| kind.name == name)
    }

    /// True if this joint type is the spherical joint (with or without a limit of its angle), whose attitude is given by a
    /// quaternion.
    pub fn is_spherical(&self) -> bool {
        std::ptr::eq(self, &raw const spherical::KIND) || self.is_bounded_ball()
    }

    /// Returns true for a spherical joint whose rotation angle has a limit.
    pub(crate) fn is_bounded_ball(&self) -> bool {
        std::ptr::eq(self, &raw const spherical::BOUNDED)
    }

    /// Returns the joint type of spherical joints whose rotation angle has a limit.
    pub(crate) fn bounded_ball() -> &'static Self {
        &spherical::BOUNDED
    }

    /// True if this joint type consists of hinges in series whose axes have points of their own (key `anchors`).
    pub fn has_anchors(&self) -> bool {
        self.conditions.contains(&Condition::Linked(0))
    }

    /// True if this joint type determines position and attitude of the child relative to the parent, by its conditions
    /// together with the values of its coordinates.
    pub fn places(&self) -> bool {
        self.conditions.len() + self.coordinates.len() == 6 || self.is_spherical()
    }
}

/// Returns three vectors $b_k$ with $b_k\cdot a_j = \delta_{kj}$ for the axes $a_1, a_2, a_3$ (dual basis), and the determinant
/// of the axes. If the determinant is zero, all $b_k$ are zero.
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

pub(crate) use series::branch;
pub(crate) use spherical::rotation as ball_rotation;

fn no_coordinates(_: &Geometry, _: &Frames, _: &[f64], _: &mut [f64]) {}

fn at_rest(_: &Geometry, _: &[f64]) -> Relative {
    (Vector3::zeros(), Matrix3::identity())
}

fn no_rates(_: &Geometry, _: &Frames, _: &[f64], _: &mut Rows) {}
