use super::{Axes, Coordinate, Geometry, Kind, Rows, dual, spherical};
use crate::frames::{Frames, Row, angle_about, turn};
use nalgebra::{Matrix3, Vector3};

/// Gimbal joint (`gimbal`), three hinges with a common point. The relative attitude is
/// $D = R_{a_1}(\alpha)R_{a_2}(\beta)R_{a_3}(\gamma)$ with the angles $\alpha$, $\beta$, $\gamma$ as coordinates and the axes
/// $a_1 = x$, $a_2 = y$ and $a_3 = \cos\delta x + \sin\delta z$.
pub(super) static KIND: Kind = Kind {
    name: "gimbal",
    conditions: &spherical::POINTS,
    coordinates: &[
        Coordinate::angle("angle1"),
        Coordinate::angle("angle2"),
        Coordinate::angle("angle3"),
    ],
    axes: Axes::Three,
    measure,
    place: |geometry, q| (Vector3::zeros(), attitude(geometry, q)),
    rates,
};

fn third(geometry: &Geometry) -> Vector3<f64> {
    Vector3::new(libm::cos(geometry.third), 0.0, libm::sin(geometry.third))
}

fn attitude(geometry: &Geometry, q: &[f64]) -> Matrix3<f64> {
    turn(&Vector3::x(), q[0]) * turn(&Vector3::y(), q[1]) * turn(&third(geometry), q[2])
}

/// Computes the three angles (rad) of a gimbal joint from the joint's `frames`, into `out`. `geometry` holds the angle
/// between the first and the third axis. There are two solutions: the direction $w = Da_3 =
/// R_x(\alpha)(\cos(\beta-\delta), 0, -\sin(\beta-\delta))$ of the third axis determines $\beta-\delta$ only up to its
/// sign. The solution closer to `near`, the angles of the previous state, is taken. $D$ is the relative attitude,
/// $\alpha$ and $\beta$ are the first two angles, and $\delta$ is the angle from the first to the third axis.
fn measure(geometry: &Geometry, frames: &Frames, near: &[f64], out: &mut [f64]) {
    let d = frames.relative();
    let w = d * third(geometry);
    let mut best = f64::INFINITY;
    for sign in [1.0, -1.0] {
        let across = libm::hypot(w.y, w.z);
        let alpha = libm::atan2(sign * w.y, -sign * w.z);
        let beta = geometry.third + libm::atan2(sign * across, w.x);
        let back = turn(&Vector3::y(), -beta) * turn(&Vector3::x(), -alpha) * d;
        let gamma = angle_about(&third(geometry), &back);
        let found = [alpha, beta, gamma];
        let far: f64 = found
            .iter()
            .zip(near)
            .map(|(a, b)| crate::coordinates::wrap(a - b).abs())
            .sum();
        if far < best {
            best = far;
            out.copy_from_slice(&found);
        }
    }
}

/// Returns the present axes of the three hinges of a gimbal joint in space. `geometry` holds the angle between the
/// first and the third axis. The first axis is fixed in the parent, the third in the child. The second is the parent's
/// y axis rotated by the first angle `q[0]` about the first axis.
pub(crate) fn axes(geometry: &Geometry, frames: &Frames, q: &[f64]) -> [Vector3<f64>; 3] {
    let first = frames.parent.axis(0);
    let last = frames.child.axes * third(geometry);
    let (sine, cosine) = libm::sincos(q[0]);
    let second = frames.parent.axis(1) * cosine + frames.parent.axis(2) * sine;
    [first, second, last]
}

/// Appends the Jacobian rows whose rates are the rates of the three gimbal angles `q`. `geometry` holds the angle
/// between the first and the third axis. Each row is a couple along a vector of the dual basis of the hinge axes, that
/// is, a vector orthogonal to two of them.
fn rates(geometry: &Geometry, frames: &Frames, q: &[f64], rows: &mut Rows) {
    let (couples, _) = dual(&axes(geometry, frames, q));
    for couple in couples {
        rows.push(Row::couple(frames, couple));
    }
}
