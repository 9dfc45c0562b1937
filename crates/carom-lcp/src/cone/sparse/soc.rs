//! Second-order cone in three dimensions: Jordan product, Nesterov-Todd scaling, step lengths.

use super::system::Triple;
use crate::cone::problem::WIDTH;
use carom_numeric::block_lu::block::Block;
use carom_numeric::kernel::norm;

/// Returns the Jordan product $a \circ b$ of the second-order cone: $(a \cdot b, a_0 b_t + b_0 a_t)$, where 0 marks
/// the first entry and $t$ the other two.
pub(super) fn jordan(a: &Triple, b: &Triple) -> Triple {
    [
        dot(a, b),
        a[0] * b[1] + b[0] * a[1],
        a[0] * b[2] + b[0] * a[2],
    ]
}

/// Returns the solution $d$ of $a \circ d = r$, with $\circ$ the Jordan product of the second-order cone.
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

/// Computes $x_0^2 - x_1^2 - x_2^2$ in a form without cancellation. The result is positive inside the second-order
/// cone.
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
    /// Computes the Nesterov-Todd scaling $W$ of a primal point `x` and a dual point `z` inside the second-order
    /// cone. $W$ is the symmetric matrix with $Wx = W^{-1}z$ that maps the cone to itself.
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

    /// Returns $Wx$, with $W$ the Nesterov-Todd scaling matrix.
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

    /// Returns $W^{-1}z$, with $W$ the Nesterov-Todd scaling matrix.
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

    /// Returns the square $W^2$ of the Nesterov-Todd scaling matrix $W$.
    pub(super) fn squared(&self) -> Block<WIDTH> {
        let s = self.size * self.size;
        let mut block: Block<WIDTH> = self.axis.map(|a| self.axis.map(|b| s * 2.0 * a * b));
        block[0][0] -= s;
        block[1][1] += s;
        block[2][2] += s;
        block
    }
}

/// Returns the largest number $s$ for which $x + sd$ stays inside the second-order cone; infinity if there is no
/// limit.
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
