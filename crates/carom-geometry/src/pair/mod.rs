//! Pairs of convex bodies: gap, normal, closest points and touching points.
//!
//! For convex bodies that are apart or slightly overlap, the gap is
//!
//! $$ \Phi = \max_{\lvert n\rvert = 1} g(n), \qquad
//!    g(n) = n\cdot(x_1 - x_2) + \sigma_1(R_1^Tn) + \sigma_2(-R_2^Tn). $$
//!
//! Here $x_i$, $R_i$ and $\sigma_i$ are position, rotation and support function of body i. Every unit vector
//! gives a lower bound: a slab between the bodies proves that they are apart. The algorithm of Gilbert, Johnson &
//! Keerthi (1988) finds the closest vertices. The normal is then computed from those features, not from the
//! difference of two close points; for smooth bodies it is refined by Newton's method on the unit sphere. Gap
//! and normal are therefore accurate to rounding errors, even if the bodies touch. The lowest points of the two
//! bodies must then be opposite to each other. If they are not, a slower search adds corners one by one
//! (cutting planes).

mod closest;
mod edges;
mod gjk;
mod part;
mod round;
mod touching;

pub use closest::{Closest, Memory};
pub use edges::axis_of_normals;
pub use part::{Part, Placed};
pub use round::closest;
pub use touching::{CornerOf, TouchingPoint, touching};

use nalgebra::Vector3;

/// Returns two unit tangents to a unit normal `n`; tangents and normal form a right-handed frame. The tangents
/// are the $x$ and $y$ axes if the normal is $z$.
pub fn tangents(n: &Vector3<f64>) -> [Vector3<f64>; 2] {
    if n.z > -0.5 {
        let q = 1.0 / (1.0 + n.z);
        [
            Vector3::new(1.0 - q * n.x * n.x, -q * n.x * n.y, -n.x),
            Vector3::new(-q * n.x * n.y, 1.0 - q * n.y * n.y, -n.y),
        ]
    } else {
        let q = 1.0 / (1.0 - n.z);
        [
            Vector3::new(1.0 - q * n.x * n.x, -q * n.x * n.y, n.x),
            Vector3::new(q * n.x * n.y, -1.0 + q * n.y * n.y, -n.y),
        ]
    }
}
