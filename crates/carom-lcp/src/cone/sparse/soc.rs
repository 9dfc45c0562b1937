//! Second-order cone in three dimensions: Jordan product, Nesterov-Todd scaling, step lengths.

use super::block::Block;
use super::system::Triple;
use crate::cone::problem::WIDTH;
use carom_numeric::kernel::norm;

/// Returns the Jordan product $a \circ b$.
pub(super) fn jordan(a: &Triple, b: &Triple) -> Triple {
    [
        dot(a, b),
        a[0] * b[1] + b[0] * a[1],
        a[0] * b[2] + b[0] * a[2],
    ]
}

/// Returns the solution $d$ of $a \circ d = r$.
pub(super) fn divide(a: &Triple, r: &Triple) -> Triple {
    let first = (a[0] * r[0] - a[1] * r[1] - a[2] * r[2]) / gap(a);
    [
        first,
        (r[1] - first * a[1]) / a[0],
        (r[2] - first * a[2]) / a[0],
    ]
}

pub(super) fn dot(a: &Triple, b: &Triple) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Computes $x_0^2 - \lVert x_t\rVert^2$ as a product. It is positive inside the cone.
fn gap(x: &Triple) -> f64 {
    let length = norm(&x[1..]);
    (x[0] - length) * (x[0] + length)
}

/// Scaling matrix $W$ of Nesterov and Todd, defined by $Wx = W^{-1}z$.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scaling {
    size: f64,
    axis: Triple,
}

impl Scaling {
    /// Computes the scaling of two points inside the cone.
    pub(super) fn new(x: &Triple, z: &Triple) -> Self {
        let (dx, dz) = (gap(x).sqrt(), gap(z).sqrt());
        let (p, q) = (x.map(|v| v / dx), z.map(|v| v / dz));
        let half = (0.5 * (1.0 + dot(&p, &q))).sqrt();
        let factor = 0.5 / half;
        let axis = [
            factor * (q[0] + p[0]),
            factor * (q[1] - p[1]),
            factor * (q[2] - p[2]),
        ];
        // Recomputed from the other two entries, so that the axis lies exactly on the hyperboloid.
        let axis = [
            (1.0 + axis[1] * axis[1] + axis[2] * axis[2]).sqrt(),
            axis[1],
            axis[2],
        ];
        Self {
            size: (dz / dx).sqrt(),
            axis,
        }
    }

    /// Returns $Wx$.
    pub(super) fn apply(&self, x: &Triple) -> Triple {
        let [w0, w1, w2] = self.axis;
        let along = w1 * x[1] + w2 * x[2];
        let factor = x[0] + along / (1.0 + w0);
        [
            self.size * (w0 * x[0] + along),
            self.size * (x[1] + factor * w1),
            self.size * (x[2] + factor * w2),
        ]
    }

    /// Returns $W^{-1}z$.
    pub(super) fn apply_inverse(&self, z: &Triple) -> Triple {
        let [w0, w1, w2] = self.axis;
        let along = w1 * z[1] + w2 * z[2];
        let factor = -z[0] + along / (1.0 + w0);
        [
            (w0 * z[0] - along) / self.size,
            (z[1] + factor * w1) / self.size,
            (z[2] + factor * w2) / self.size,
        ]
    }

    /// Returns $W^2$.
    pub(super) fn squared(&self) -> Block<WIDTH> {
        let s = self.size * self.size;
        let mut block: Block<WIDTH> = self.axis.map(|a| self.axis.map(|b| s * 2.0 * a * b));
        block[0][0] -= s;
        block[1][1] += s;
        block[2][2] += s;
        block
    }
}

/// Returns the largest length of a step from `x` along `d` that stays inside the cone.
pub(super) fn step(x: &Triple, d: &Triple) -> f64 {
    let a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2];
    let b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2];
    let c = gap(x);
    let discriminant = b * b - a * c;
    if (a >= 0.0 && b >= 0.0) || discriminant < 0.0 {
        return f64::INFINITY;
    }
    c / (discriminant.sqrt() - b)
}
