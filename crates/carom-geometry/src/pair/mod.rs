//! Pairs of convex bodies: gap, normal, closest points and touching points.
//!
//! For convex bodies, apart or slightly overlapping, the gap is
//!
//! $$ \Phi = \max_{\lvert n\rvert = 1} g(n), \qquad
//!    g(n) = n\cdot(x_1 - x_2) + \sigma_1(R_1^Tn) + \sigma_2(-R_2^Tn). $$
//!
//! Every unit vector gives a lower bound: a slab between the bodies is a proof that they are apart.
//! The algorithm of Gilbert, Johnson & Keerthi (1988) finds the vertices that are closest; the normal
//! is then computed from those features, not from the difference of two close points, and smooth
//! bodies are polished by Newton's method on the sphere. So both the gap and the normal are good to
//! rounding, also where the bodies touch. The lowest points of the two must then lie opposite to each other;
//! where they do not, the feature is looked for by cuts, corner by corner.

mod closest;
mod gjk;
mod part;
mod touching;

pub use closest::{Closest, Memory, closest};
pub use part::{Part, Placed};
pub use touching::{TouchingPoint, touching};

use nalgebra::Vector3;

/// Two unit vectors that make a right-handed frame with a unit normal; the $x$ and $y$ axes if the
/// normal is $z$.
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
