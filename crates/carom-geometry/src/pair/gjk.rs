//! Closest point to the origin of the difference of two convex bodies, by Gilbert, Johnson & Keerthi (1988).

use super::part::Placed;
use crate::tolerances::{MAX_ITERATIONS, ROUNDING, ZERO};
use nalgebra::Vector3;
use smallvec::SmallVec;

/// Vertex of the difference of two bodies, with its two points in the frames of the bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Vertex {
    pub(super) difference: Vector3<f64>,
    pub(super) a: Vector3<f64>,
    pub(super) b: Vector3<f64>,
}

impl Vertex {
    pub(super) fn of(
        a: &Placed<'_>,
        b: &Placed<'_>,
        from_a: Vector3<f64>,
        from_b: Vector3<f64>,
    ) -> Self {
        // The positions are subtracted first: their difference is small if the bodies are near.
        let difference = (a.position - b.position) + (a.rotation * from_a - b.rotation * from_b);
        Self {
            difference,
            a: from_a,
            b: from_b,
        }
    }

    /// Returns the vertex of the difference of two bodies that has the least product with a direction in space: the
    /// lowest point of `a` minus the highest point of `b` along this direction.
    pub(super) fn lowest(a: &Placed<'_>, b: &Placed<'_>, direction: &Vector3<f64>) -> Self {
        let (low, high) = (a.lowest(direction), b.lowest(&-direction));
        Self::of(a, b, low, high)
    }
}

/// Simplex with at most four vertices.
pub(super) type Simplex = SmallVec<[Vertex; 4]>;

/// Extends a nonempty simplex towards the origin by the method of Gilbert, Johnson and Keerthi. The vertices of the simplex are
/// vertices of the difference of two bodies. Returns true if the origin lies outside the difference, so that the bodies do not
/// overlap; the simplex then contains the feature closest to the origin.
pub(super) fn separate(a: &Placed<'_>, b: &Placed<'_>, simplex: &mut Simplex) -> bool {
    let mut before = f64::INFINITY;
    for _ in 0..MAX_ITERATIONS {
        let Some(direction) = reduce(simplex) else {
            return false;
        };
        let length = direction.norm();
        let scale = simplex
            .iter()
            .fold(0.0, |s: f64, v| s.max(v.difference.norm()));
        if length <= ZERO * scale {
            return false;
        }
        let unit = direction / length;
        let next = Vertex::lowest(a, b, &unit);
        let gain = length - next.difference.dot(&unit);
        let known = simplex.iter().any(|v| v.a == next.a && v.b == next.b);
        if known || gain <= ROUNDING * scale || length >= before {
            return true;
        }
        before = length;
        simplex.push(next);
    }
    true
}

/// Removes the vertices of a simplex that are not needed to span its point closest to the origin, and returns this
/// point. Returns `None` if the simplex is a tetrahedron that contains the origin.
pub(super) fn reduce(simplex: &mut Simplex) -> Option<Vector3<f64>> {
    let p: SmallVec<[Vector3<f64>; 4]> = simplex.iter().map(|v| v.difference).collect();
    let (closest, mask) = match p[..] {
        [x] => (x, 0b1),
        [x, y] => segment(&x, &y),
        [x, y, z] => triangle(&x, &y, &z),
        [x, y, z, w] => tetrahedron([x, y, z, w])?,
        _ => return None,
    };
    let mut place = 0;
    simplex.retain(|_| {
        place += 1;
        mask >> (place - 1) & 1 == 1
    });
    Some(closest)
}

fn segment(x: &Vector3<f64>, y: &Vector3<f64>) -> (Vector3<f64>, u8) {
    let along = y - x;
    let t = -x.dot(&along) / along.norm_squared();
    if t >= 1.0 {
        (*y, 0b10)
    } else if t > 0.0 {
        (x + along * t, 0b11)
    } else {
        // This also covers two equal points.
        (*x, 0b01)
    }
}

/// Returns the point of a triangle that is closest to the origin, and a bit mask of the corners that span this point (Ericson,
/// *Real-Time Collision Detection*, 2005, Sec. 5.1.5). A closest point in the interior of the triangle is computed along the
/// normal, which avoids cancellation.
fn triangle(x: &Vector3<f64>, y: &Vector3<f64>, z: &Vector3<f64>) -> (Vector3<f64>, u8) {
    let (xy, xz) = (y - x, z - x);
    let (d1, d2) = (-xy.dot(x), -xz.dot(x));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (*x, 0b001);
    }
    let (d3, d4) = (-xy.dot(y), -xz.dot(y));
    if d3 >= 0.0 && d4 <= d3 {
        return (*y, 0b010);
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return (x + xy * (d1 / (d1 - d3)), 0b011);
    }
    let (d5, d6) = (-xy.dot(z), -xz.dot(z));
    if d6 >= 0.0 && d5 <= d6 {
        return (*z, 0b100);
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return (x + xz * (d2 / (d2 - d6)), 0b101);
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let share = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return (y + (z - y) * share, 0b110);
    }
    let normal = xy.cross(&xz);
    (normal * (normal.dot(x) / normal.norm_squared()), 0b111)
}

/// Returns the point of a tetrahedron that is closest to the origin, and a bit mask of the corners that span this point. Only
/// faces with the origin on their outer side are examined. Returns `None` if there is no such face, so that the origin is inside.
fn tetrahedron(p: [Vector3<f64>; 4]) -> Option<(Vector3<f64>, u8)> {
    const FACES: [([usize; 3], usize); 4] = [
        ([0, 1, 2], 3),
        ([0, 2, 3], 1),
        ([0, 3, 1], 2),
        ([1, 3, 2], 0),
    ];
    let mut best: Option<(Vector3<f64>, u8)> = None;
    for ([i, j, k], other) in FACES {
        let normal = (p[j] - p[i]).cross(&(p[k] - p[i]));
        let (inner, origin) = (normal.dot(&(p[other] - p[i])), -normal.dot(&p[i]));
        // For a flat tetrahedron the origin counts as outside every face.
        if inner * origin > 0.0 {
            continue;
        }
        let (closest, mask) = triangle(&p[i], &p[j], &p[k]);
        if best.is_none_or(|(b, _)| closest.norm_squared() < b.norm_squared()) {
            let bit = |bit: usize, vertex: usize| (mask >> bit & 1) << vertex;
            best = Some((closest, bit(0, i) | bit(1, j) | bit(2, k)));
        }
    }
    best
}
