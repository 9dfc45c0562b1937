//! Convex hull of points: incremental, in random order, with exact orientation tests.

use crate::GeometryError;
use carom_numeric::random::CounterRng;
use carom_numeric::sums::{ExactSum, two_product};
use nalgebra::Vector3;
use std::cmp::Ordering;

/// Error bound of the plain determinant below, relative to the sum of the magnitudes of its terms, with a
/// margin (Shewchuk 1997, Section 4.3).
const DETERMINANT_ERROR: f64 = 8.0 * f64::EPSILON;

/// True if point `p` lies strictly on the outer side of a triangle. `p` and the corners of the triangle are indices
/// into `points`; the corners are counterclockwise seen from outside. The test is exact.
fn outside(points: &[Vector3<f64>], [a, b, c]: [usize; 3], p: usize) -> bool {
    let corners = [points[a], points[b], points[c], points[p]];
    // The determinant of the corners seen from `p` is positive if they appear counterclockwise from the other
    // side, which means that `p` is inside.
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

/// Returns the sign of a 4 × 4 determinant that tells on which side of the plane through three points a fourth point lies. The
/// rows of the determinant are the coordinates of the four points, each followed by 1. The sign is exact, because the 24 products
/// of the determinant are summed without rounding.
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

/// Marks a missing facet.
const NONE: usize = usize::MAX;

/// Number of points that are added first, each the farthest above the facet that it sees.
const FARTHEST: usize = 64;

/// Plane of a triangle, with an error bound for the height of a point above it.
struct Plane {
    /// A corner of the triangle.
    origin: Vector3<f64>,
    /// Outward normal; its length is twice the area of the triangle.
    normal: Vector3<f64>,
    /// Sums of the magnitudes of the terms of `normal`.
    size: Vector3<f64>,
}

impl Plane {
    fn new(points: &[Vector3<f64>], [a, b, c]: [usize; 3]) -> Self {
        let origin = points[a];
        let (u, v) = (points[b] - origin, points[c] - origin);
        let size = Vector3::from_fn(|i, _| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            (u[j] * v[k]).abs() + (u[k] * v[j]).abs()
        });
        let normal = u.cross(&v);
        Self {
            origin,
            normal,
            size,
        }
    }
}

/// Triangle of the hull of the points added so far, or a removed one that a later point has seen.
struct Facet {
    corners: [usize; 3],
    /// Facets on the other side of the edges from each corner to the next.
    neighbors: [usize; 3],
    plane: Plane,
    /// Remaining points that see this facet. Each remaining point is listed at one facet that it sees.
    waiting: Vec<usize>,
    removed: bool,
}

impl Facet {
    fn new(points: &[Vector3<f64>], corners: [usize; 3], neighbors: [usize; 3]) -> Self {
        Self {
            corners,
            neighbors,
            plane: Plane::new(points, corners),
            waiting: Vec::new(),
            removed: false,
        }
    }

    /// Returns the point with the largest height above this triangle of the hull, among the points stored at the triangle that
    /// are not yet part of the hull. Returns `None` if no point is stored. Points are indices into `points`.
    fn farthest(&self, points: &[Vector3<f64>]) -> Option<usize> {
        let height = |p: usize| self.plane.normal.dot(&(points[p] - self.plane.origin));
        let heights = self.waiting.iter().map(|&p| (p, height(p)));
        heights
            .max_by(|(i, a), (j, b)| a.total_cmp(b).then(j.cmp(i)))
            .map(|(p, _)| p)
    }

    /// True if point `p` (an index into `points`) lies strictly on the outer side of this triangle of the hull. The
    /// test is exact.
    fn is_seen_from(&self, points: &[Vector3<f64>], p: usize) -> bool {
        let arm = points[p] - self.plane.origin;
        let height = self.plane.normal.dot(&arm);
        if height.abs() > DETERMINANT_ERROR * self.plane.size.dot(&arm.abs()) {
            return height > 0.0;
        }
        outside(points, self.corners, p)
    }
}

/// Computes the convex hull of points. Returns its triangles as indices into `points`, counterclockwise seen from outside.
/// Returns an error for fewer than four points, for coordinates that are not finite, and for points in one plane.
///
/// Points are added in random order. A triangle is visible from a point if the point lies strictly on its outer side; each added
/// point replaces the triangles that are visible from it. The border between visible and other triangles is called the horizon.
/// Because the test of visibility is exact, an edge of the horizon is never collinear with the point, and coplanar points need no
/// special case.
///
/// Every remaining point is stored at one triangle that is visible from it. If that triangle is removed, the point is stored at
/// one of the new triangles that are visible from it. A point from which no triangle is visible is inside the hull. One triangle
/// per point suffices, because the triangles that are visible from a point are connected. If a triangle that stays is also
/// visible from the point, both triangles at some edge of the horizon are, and hence the new triangle at that edge is visible,
/// too. In random order the expected time is $O(n\log n)$ (Clarkson & Shor, *Applications of random sampling in computational
/// geometry, II*, 1989). A few points far out are added first, because most other points are then inside.
pub(crate) fn hull(points: &[Vector3<f64>]) -> Result<Vec<[usize; 3]>, GeometryError> {
    GeometryError::check_finite("vertex", points.iter().flat_map(|p| p.iter()))?;
    if points.len() < 4 {
        let found = points.len();
        return Err(GeometryError::TooFewVertices { found });
    }
    let mut facets = simplex(points)?;
    let order = random_order(points.len());
    let mut seen_by = vec![NONE; points.len()];
    let all: Vec<usize> = (0..facets.len()).collect();
    distribute(
        points,
        &mut facets,
        &all,
        &mut seen_by,
        order.iter().copied(),
    );
    let mut horizon = Horizon::new(points.len());
    let mut orphans = Vec::new();
    let mut far = 0..FARTHEST;
    let mut next = order.iter().copied().peekable();
    while let Some(&first) = next.peek() {
        let start = seen_by[first];
        if start == NONE {
            next.next();
            continue;
        }
        let farthest = far.next().and_then(|_| facets[start].farthest(points));
        let p = farthest.unwrap_or(first);
        horizon.find(points, &mut facets, p, start);
        orphans.clear();
        for &removed in &horizon.visible {
            orphans.append(&mut facets[removed].waiting);
        }
        let fan = horizon.close(points, &mut facets, p);
        seen_by[p] = NONE;
        let others = orphans.iter().copied().filter(|&q| q != p);
        distribute(points, &mut facets, fan, &mut seen_by, others);
    }
    let kept = facets.iter().filter(|facet| !facet.removed);
    Ok(kept.map(|facet| facet.corners).collect())
}

/// Returns a pseudo-random permutation of 0, 1, ..., n - 1 by the method of Fisher and Yates. The permutation depends on n only.
fn random_order(n: usize) -> Vec<usize> {
    let mut random = CounterRng::new(1, 0, 0);
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        let other = (random.next_uniform() * (i + 1) as f64) as usize;
        order.swap(i, other.min(i));
    }
    order
}

/// Stores each of the points `which` at the first triangle of the list `among` for which the point lies on the outer side. Writes
/// the index of this triangle to the entry of `seen_by` for the point, or `NONE` if there is no such triangle.
fn distribute(
    points: &[Vector3<f64>],
    facets: &mut [Facet],
    among: &[usize],
    seen_by: &mut [usize],
    which: impl Iterator<Item = usize>,
) {
    for q in which {
        let first = among.iter().find(|&&f| facets[f].is_seen_from(points, q));
        seen_by[q] = first.copied().unwrap_or(NONE);
        if let Some(&f) = first {
            facets[f].waiting.push(q);
        }
    }
}

/// Facets that a new point sees, and the border of these facets.
struct Horizon {
    /// Facets that the point sees.
    visible: Vec<usize>,
    /// Border edges between a visible facet and a hidden one: the two vertices, then the hidden facet.
    edges: Vec<[usize; 3]>,
    /// New facets, one for each border edge.
    fan: Vec<usize>,
    /// For each vertex, the new facet whose border edge begins there.
    at: Vec<usize>,
}

impl Horizon {
    fn new(n: usize) -> Self {
        Self {
            visible: Vec::new(),
            edges: Vec::new(),
            fan: Vec::new(),
            at: vec![NONE; n],
        }
    }

    /// Finds all triangles of the hull for which point `p` lies on the outer side, and marks them as removed. The search starts
    /// from one of them, `start`. The edges between removed and remaining triangles are recorded.
    fn find(&mut self, points: &[Vector3<f64>], facets: &mut [Facet], p: usize, start: usize) {
        self.visible.clear();
        self.edges.clear();
        self.visible.push(start);
        facets[start].removed = true;
        let mut next = 0;
        while let Some(&here) = self.visible.get(next) {
            next += 1;
            let Facet {
                corners, neighbors, ..
            } = facets[here];
            for (i, neighbor) in neighbors.into_iter().enumerate() {
                if facets[neighbor].removed {
                    continue;
                }
                if facets[neighbor].is_seen_from(points, p) {
                    facets[neighbor].removed = true;
                    self.visible.push(neighbor);
                } else {
                    self.edges
                        .push([corners[i], corners[(i + 1) % 3], neighbor]);
                }
            }
        }
    }

    /// Adds a new triangle between each border edge of the removed part of the hull and point `p`, and returns the
    /// indices of the new triangles. The border is one closed curve without crossings.
    fn close(&mut self, points: &[Vector3<f64>], facets: &mut Vec<Facet>, p: usize) -> &[usize] {
        self.fan.clear();
        for &[from, to, behind] in &self.edges {
            let new = facets.len();
            facets.push(Facet::new(points, [from, to, p], [behind, NONE, NONE]));
            let back = facets[behind].corners.iter().position(|&c| c == to);
            facets[behind].neighbors[back.unwrap_or_default()] = new;
            self.at[from] = new;
            self.fan.push(new);
        }
        for (&new, &[_, to, _]) in self.fan.iter().zip(&self.edges) {
            let after = self.at[to];
            facets[new].neighbors[1] = after;
            facets[after].neighbors[2] = new;
        }
        &self.fan
    }
}

/// Returns the four triangles of a tetrahedron whose corners are four of the points that are far apart. Returns an
/// error if all points lie in one plane.
fn simplex(points: &[Vector3<f64>]) -> Result<Vec<Facet>, GeometryError> {
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
    // The numbers in the second lists refer to this order of facets.
    let sides = [
        ([a, b, c], [1, 2, 3]),
        ([a, d, b], [3, 2, 0]),
        ([b, d, c], [1, 3, 0]),
        ([c, d, a], [2, 1, 0]),
    ];
    let side = |(corners, neighbors)| Facet::new(points, corners, neighbors);
    Ok(sides.map(side).into())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn uniform(n: usize, seed: u64) -> Vec<Vector3<f64>> {
        let mut random = CounterRng::new(seed, 0, 0);
        let mut coordinate = || 2.0 * random.next_uniform() - 1.0;
        (0..n)
            .map(|_| Vector3::from_fn(|_, _| coordinate()))
            .collect()
    }

    /// Checks Euler's formula for hulls of 20 000 points. The computation took seconds when every point was tried
    /// against every triangle.
    #[test]
    fn large_sets_have_as_many_triangles_as_euler_says() {
        let inside = uniform(20_000, 5);
        let mut sphere: Vec<_> = inside.iter().map(|p| p.normalize()).collect();
        let n_vertices = |points: &[Vector3<f64>]| {
            let triangles = hull(points).unwrap();
            let n = vertices(&triangles).len();
            assert_eq!(triangles.len(), 2 * n - 4);
            n
        };
        assert!((100..400).contains(&n_vertices(&inside)));
        assert_eq!(n_vertices(&sphere), 20_000);
        sphere.sort_by(|a, b| a.x.total_cmp(&b.x));
        assert_eq!(n_vertices(&sphere), 20_000);
        assert!(n_vertices(&grid(20)) >= 8);
    }

    /// Checks that no point lies outside the hull for coordinates with few bits, which give duplicates, collinear and
    /// coplanar points.
    #[test]
    fn no_point_is_outside_whatever_the_set() {
        for seed in 0..40u32 {
            let bits = 1.0 + f64::from(seed % 5);
            let n = 6 + 3 * seed as usize;
            let coarse = |p: Vector3<f64>| p.map(|x| (x * bits).round() / 8.0 + 0.1);
            let set: Vec<_> = uniform(n, 7 + u64::from(seed))
                .into_iter()
                .map(coarse)
                .collect();
            if hull(&set) == Err(GeometryError::Flat) {
                continue;
            }
            check(&set);
            // Flattened until the four corners of the start are nearly coplanar.
            let thin: Vec<_> = set
                .iter()
                .map(|p| Vector3::new(p.x, p.y, p.x + p.z * 1e-16))
                .collect();
            if hull(&thin) != Err(GeometryError::Flat) {
                check(&thin);
            }
        }
    }

    /// Checks the orientation test with a plane through three points with coordinates in binary fractions. The fourth
    /// point is on the plane or off it by the last bit of a coordinate.
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

    /// Checks that no point is outside the hull, and Euler's formula: a triangulated sphere with $v$ vertices has
    /// $2v - 4$ triangles. Returns the indices of the vertices of the hull.
    fn check(points: &[Vector3<f64>]) -> BTreeSet<usize> {
        let triangles = hull(points).unwrap();
        for &triangle in &triangles {
            assert!((0..points.len()).all(|p| !outside(points, triangle, p)));
        }
        let vertices = vertices(&triangles);
        assert_eq!(triangles.len(), 2 * vertices.len() - 4);
        vertices
    }

    /// Checks the hull of a cubic lattice, which has many coplanar and collinear points: of 4³ points, 8 are corners.
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
