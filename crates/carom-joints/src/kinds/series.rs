//! Two or three hinges in series with massless links between them: positions of the links in closed form, and Jacobian rows.
//!
//! At coordinates 0 the frames of parent and child coincide, and hinge $j$ has the unit axis $a_j$ through the point $s_j$ of
//! these frames. With the rotations $R_j$ of the hinges,
//!
//! $$ D = R_1R_2R_3, \qquad d = s_1 + R_1(s_2 - s_1) + R_1R_2(s_3 - s_2) - Ds_3, $$
//!
//! and with two hinges $R_3 = 1$, $s_3 = s_2$. Two hinges: the axes $a_1$ (of the parent) and $a_2$ (of the child) in space and
//! their normal $n$ give the attitude of the link between them. Three hinges: the attitude $D$ gives all angles.
//!
//! The angular velocity of the child relative to the parent, $\omega = \sum_j\dot q_ja_j$, determines the rates:
//! $\dot q_j = b_j\cdot\omega$ with the dual vectors $b_j$, $b_j\cdot a_k = \delta_{jk}$; with two hinges $a_3 = n$. With the
//! points $P_j$ of the axes in space, the velocity of the child's origin $p_2$ relative to the parent is
//! $\sum_j\dot q_j a_j\times(p_2 - P_j)$, and a position condition along $e$ has the force $e$ at $p_2$ and the couples
//! $-\sum_je\cdot(a_j\times(p_2 - P_j))b_j$ as row.

use super::{Geometry, Relative, Rows, dual};
use crate::frames::{Frames, Row, angle_about, turn};
use nalgebra::{Matrix3, Vector3};

/// Axes and links of hinges in series at one position of the frames.
struct Links {
    /// Unit vectors of the hinge axes in space; with two hinges the last one is the normal of both.
    axes: [Vector3<f64>; 3],
    /// Vectors from a point of each axis to the origin of the child's frame, in space (m).
    arms: [Vector3<f64>; 3],
    /// Vector from the last axis of the links to that of the child, zero if the joint is closed, in space (m).
    gap: Vector3<f64>,
}

/// Returns the rotation matrix whose columns are the unit vector along `axis`, the one that completes the triad, and the unit
/// vector along `normal`, which is orthogonal to `axis`.
fn triad(axis: &Vector3<f64>, normal: &Vector3<f64>) -> Matrix3<f64> {
    let z = normal.normalize();
    Matrix3::from_columns(&[*axis, z.cross(axis), z])
}

/// Returns the axes and links of the hinges at the position that the joint's `frames` have.
fn links(geometry: &Geometry, frames: &Frames) -> Links {
    let [first, second, third] = geometry.axes;
    let [s1, s2, s3] = geometry.anchors;
    let (parent, child) = (&frames.parent, &frames.child);
    let a1 = parent.axes * first;
    let (a2, a3, after_first, after_second);
    if geometry.is_biaxial {
        a2 = child.axes * second;
        // The frames have the first axis as x and the normal as z.
        after_first = triad(&a1, &a1.cross(&a2));
        after_second = after_first;
        a3 = after_first.column(2).into_owned();
    } else {
        let [alpha, beta] = first_angles(geometry, &frames.relative());
        after_first = parent.axes * turn(&first, alpha);
        a2 = after_first * second;
        after_second = after_first * turn(&second, beta);
        a3 = child.axes * third;
    }
    let last = child.axes * s3;
    let start = parent.origin + parent.axes * s1;
    let carried = after_first * (s2 - s1);
    let end = child.origin + last;
    let reached = start + (carried + after_second * (s3 - s2));
    Links {
        axes: [a1, a2, a3],
        arms: [
            child.origin - start,
            child.origin - (start + carried),
            -last,
        ],
        gap: end - reached,
    }
}

/// Returns the cosine and the sine amplitude and the constant of $a_1\cdot R_2(\beta)a_3$, a sinusoid of the second angle.
fn sinusoid(axes: &[Vector3<f64>; 3]) -> (f64, f64, f64) {
    let [a1, a2, a3] = axes;
    let constant = a1.dot(a2) * a2.dot(a3);
    (a1.dot(a3) - constant, a1.dot(&a2.cross(a3)), constant)
}

/// Returns the sign of the determinant of the three current axes at the second angle `beta` (rad): which of two angles with the
/// same inclination of the third axis to the first it is.
pub(crate) fn branch(axes: &[Vector3<f64>; 3], beta: f64) -> f64 {
    let (cosine, sine, _) = sinusoid(axes);
    let slope = sine * libm::cos(beta) - cosine * libm::sin(beta);
    if slope < 0.0 { -1.0 } else { 1.0 }
}

/// Returns the first two angles (rad) of three hinges with the relative attitude $D$. The inclination of the third axis to the
/// first, $a_1\cdot Da_3 = a_1\cdot R_2(\beta)a_3$, has two solutions $\beta$; between them lies a singular position, so that
/// the joint keeps the one on the side of its start. An inclination that the hinges cannot reach counts as the nearest one.
fn first_angles(geometry: &Geometry, relative: &Matrix3<f64>) -> [f64; 2] {
    let [a1, a2, a3] = &geometry.axes;
    let (cosine, sine, constant) = sinusoid(&geometry.axes);
    let w = relative * a3;
    let part = ((a1.dot(&w) - constant) / libm::hypot(cosine, sine)).clamp(-1.0, 1.0);
    let away = libm::atan2(((1.0 - part) * (1.0 + part)).sqrt(), part);
    let beta = libm::atan2(sine, cosine) - geometry.branch * away;
    let v = turn(a2, beta) * a3;
    let inner = v.dot(&w) - a1.dot(&v) * a1.dot(&w);
    [libm::atan2(a1.dot(&v.cross(&w)), inner), beta]
}

/// Computes the angles (rad) of the hinges from the joint's `frames`, into `out`.
pub(super) fn measure(geometry: &Geometry, frames: &Frames, _: &[f64], out: &mut [f64]) {
    let [first, second, third] = &geometry.axes;
    let relative = frames.relative();
    if geometry.is_biaxial {
        let a2 = relative * second;
        let normal = first.cross(&a2).normalize();
        let z = relative.column(2).into_owned();
        // The frames have the normal of the axes as z at coordinates 0.
        out[0] = libm::atan2(-normal.y, normal.z);
        out[1] = libm::atan2(a2.dot(&normal.cross(&z)), normal.dot(&z));
        return;
    }
    let [alpha, beta] = first_angles(geometry, &relative);
    let back = turn(second, -beta) * (turn(first, -alpha) * relative);
    (out[0], out[1], out[2]) = (alpha, beta, angle_about(third, &back));
}

/// Returns separation $d$ (m) and relative attitude $D$ of the frames at the angles `q` (rad).
pub(super) fn place(geometry: &Geometry, q: &[f64]) -> Relative {
    let [s1, s2, s3] = geometry.anchors;
    let mut attitude = Matrix3::identity();
    let mut at = s1;
    let links = [s2 - s1, s3 - s2, -s3];
    for (k, link) in links.iter().enumerate() {
        if let Some(angle) = q.get(k) {
            attitude *= turn(&geometry.axes[k], *angle);
        }
        at += attitude * link;
    }
    (at, attitude)
}

/// Appends the Jacobian rows whose rates are the rates of the angles.
pub(super) fn rates(geometry: &Geometry, frames: &Frames, _: &[f64], rows: &mut Rows) {
    let (couples, _) = dual(&links(geometry, frames).axes);
    let n = if geometry.is_biaxial { 2 } else { 3 };
    rows.extend(couples.iter().take(n).map(|b| Row::couple(frames, *b)));
}

/// Returns the part of the gap between links and child along the axis `k` of space (m).
pub(super) fn gap(geometry: &Geometry, frames: &Frames, k: usize) -> f64 {
    links(geometry, frames).gap[k]
}

/// Returns the Jacobian row of the condition that links and child meet along the axis `k` of space.
pub(super) fn linked(geometry: &Geometry, frames: &Frames, k: usize) -> Row {
    let Links { axes, arms, .. } = links(geometry, frames);
    let (couples, _) = dual(&axes);
    let mut couple = Vector3::zeros();
    for j in 0..3 {
        couple -= couples[j] * axes[j].cross(&arms[j])[k];
    }
    Row::sliding_force(frames, Vector3::ith(k, 1.0)).with_couple(frames, couple)
}

/// Returns the axes of a biaxial joint in space.
pub(super) fn two_axes(geometry: &Geometry, frames: &Frames) -> [Vector3<f64>; 2] {
    let [first, second, _] = geometry.axes;
    [frames.parent.axes * first, frames.child.axes * second]
}
