//! The convex hull of points, incrementally and with exact orientation tests.

use crate::GeometryError;
use carom_numeric::sums::{ExactSum, two_product};
use nalgebra::Vector3;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Errors of the plain determinant below are at most this much of the sum of its terms' sizes, with
/// room to spare (Shewchuk 1997, Section 4.3).
const DETERMINANT_ERROR: f64 = 8.0 * f64::EPSILON;

/// Whether `p` lies strictly on the outer side of the triangle, without rounding.
fn outside(points: &[Vector3<f64>], [a, b, c]: [usize; 3], p: usize) -> bool {
    let corners = [points[a], points[b], points[c], points[p]];
    // The determinant of the corners seen from `p` is positive where they appear counterclockwise
    // from the other side: inside.
    let [a, b, c] = [0, 1, 2].map(|i| corners[i] - corners[3]);
    let determinant = a.dot(&b.cross(&c));
    let size: f64 = (0..3)
        .map(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            a[i].abs() * ((b[j] * c[k]).abs() + (b[k] * c[j]).abs())
        })
        .sum();
    if determinant.abs() > DETERMINANT_ERROR * size {
        return determinant < 0.0;
    }
    exact_orientation(&corners) == Ordering::Less
}

/// The sign of the determinant of four points with a column of ones, from its 24 products.
fn exact_orientation(corners: &[Vector3<f64>; 4]) -> Ordering {
    let mut sum = ExactSum::default();
    let mut add = |[a, b, c]: [usize; 3], sign: f64| {
        let [a, b, c] = [corners[a], corners[b], corners[c]];
        for i in 0..3 {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            for (j, k, sign) in [(j, k, sign), (k, j, -sign)] {
                let (high, low) = two_product(b[j], c[k]);
                sum.add_product(sign * a[i], low);
                sum.add_product(sign * a[i], high);
            }
        }
    };
    add([0, 1, 2], 1.0);
    add([0, 1, 3], -1.0);
    add([0, 2, 3], 1.0);
    add([1, 2, 3], -1.0);
    sum.sign()
}

/// The triangles of the hull, outward, as indices into `points`.
///
/// A point is added by replacing the triangles that it sees strictly. Because the test is exact,
/// a horizon edge is never collinear with the point, and coplanar points are no special case.
pub(crate) fn hull(points: &[Vector3<f64>]) -> Result<Vec<[usize; 3]>, GeometryError> {
    GeometryError::check_finite("vertex", points.iter().flat_map(|p| p.iter()))?;
    if points.len() < 4 {
        let found = points.len();
        return Err(GeometryError::TooFewVertices { found });
    }
    let mut triangles = simplex(points)?;
    for p in 0..points.len() {
        let visible: Vec<bool> = triangles
            .iter()
            .map(|&triangle| outside(points, triangle, p))
            .collect();
        if !visible.contains(&true) {
            continue;
        }
        let mut horizon = BTreeMap::new();
        let seen = triangles.iter().zip(&visible).filter(|(_, v)| **v);
        for (&[a, b, c], _) in seen {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                // Edges between two visible triangles cancel.
                if horizon.remove(&(to, from)).is_none() {
                    horizon.insert((from, to), ());
                }
            }
        }
        let mut keep = visible.iter();
        triangles.retain(|_| keep.next() == Some(&false));
        triangles.extend(horizon.into_keys().map(|(from, to)| [from, to, p]));
    }
    Ok(triangles)
}

/// Four points that span space, as far apart as is cheap to find.
fn simplex(points: &[Vector3<f64>]) -> Result<Vec<[usize; 3]>, GeometryError> {
    let farthest = |measure: &dyn Fn(&Vector3<f64>) -> f64| {
        let sizes = points.iter().map(measure).enumerate();
        sizes
            .max_by(|(i, a), (j, b)| a.total_cmp(b).then(j.cmp(i)))
            .map_or(0, |(i, _)| i)
    };
    let a = farthest(&|p| -p.x);
    let b = farthest(&|p| (p - points[a]).norm_squared());
    let axis = points[b] - points[a];
    let c = farthest(&|p| (p - points[a]).cross(&axis).norm_squared());
    let normal = axis.cross(&(points[c] - points[a]));
    let d = farthest(&|p| (p - points[a]).dot(&normal).abs());
    let inside = |t: [usize; 3], p: usize| outside(points, [t[0], t[2], t[1]], p);
    let [b, c] = match (outside(points, [a, b, c], d), inside([a, b, c], d)) {
        (true, _) => [c, b],
        (_, true) => [b, c],
        _ => return Err(GeometryError::Flat),
    };
    Ok(vec![[a, b, c], [a, d, b], [b, d, c], [c, d, a]])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// A plane through three points with coordinates in binary fractions, and a fourth that is on it or
    /// off it by the last bit of a coordinate.
    #[test]
    fn orientation_is_exact() {
        let point = |x: f64, y: f64| Vector3::new(x, y, 0.125 * (x + y));
        let flat = [point(0.5, 0.25), point(12.0, 0.5), point(24.0, 24.0)];
        for i in 0..64 {
            let (x, y) = (0.5 + f64::from(i) * 2f64.powi(-48), 0.5);
            let z = 0.125 * (x + y);
            for (z, side) in [
                (z, Ordering::Equal),
                (z.next_up(), Ordering::Less),
                (z.next_down(), Ordering::Greater),
            ] {
                let corners = [flat[0], flat[1], flat[2], Vector3::new(x, y, z)];
                assert_eq!(exact_orientation(&corners), side, "{i} {z}");
            }
        }
    }

    fn vertices(triangles: &[[usize; 3]]) -> BTreeSet<usize> {
        triangles.iter().flatten().copied().collect()
    }

    fn grid(n: i32) -> Vec<Vector3<f64>> {
        let range = || (0..n).map(f64::from);
        let rows = range().flat_map(move |x| range().map(move |y| (x, y)));
        rows.flat_map(|(x, y)| (0..n).map(move |z| Vector3::new(x, y, f64::from(z))))
            .collect()
    }

    /// Euler's formula: a triangulated sphere with v vertices has 2v - 4 triangles.
    fn check(points: &[Vector3<f64>]) -> BTreeSet<usize> {
        let triangles = hull(points).unwrap();
        for &triangle in &triangles {
            assert!((0..points.len()).all(|p| !outside(points, triangle, p)));
        }
        let vertices = vertices(&triangles);
        assert_eq!(triangles.len(), 2 * vertices.len() - 4);
        vertices
    }

    /// A lattice is as degenerate as it gets: 64 points, 8 of them vertices.
    #[test]
    fn coplanar_and_collinear_points_are_handled() {
        for n in 2..5 {
            let points = grid(n);
            let kept = check(&points);
            let corner = |v: &Vector3<f64>| v.iter().all(|&x| x == 0.0 || x == f64::from(n - 1));
            let corners: BTreeSet<usize> =
                (0..points.len()).filter(|&i| corner(&points[i])).collect();
            assert!(corners.is_subset(&kept));
        }
    }

    #[test]
    fn points_on_a_sphere_are_all_vertices() {
        let points: Vec<Vector3<f64>> = (0..200)
            .map(|i| {
                let z = 1.0 - (2.0 * f64::from(i) + 1.0) / 200.0;
                let turn = 2.399_963_229_728_653 * f64::from(i);
                let r = (1.0 - z * z).sqrt();
                Vector3::new(r * turn.cos(), r * turn.sin(), z)
            })
            .collect();
        assert_eq!(check(&points).len(), 200);
    }

    #[test]
    fn what_has_no_volume_is_refused() {
        let flat: Vec<_> = grid(3).into_iter().filter(|p| p.z == 0.0).collect();
        assert_eq!(hull(&flat), Err(GeometryError::Flat));
        assert_eq!(hull(&[Vector3::zeros(); 5]), Err(GeometryError::Flat));
        assert_eq!(hull(&flat[..3]).unwrap_err().kind(), "too-few-vertices");
        assert_eq!(
            hull(&[Vector3::repeat(f64::NAN); 4]).unwrap_err().kind(),
            "non-finite"
        );
    }
}
