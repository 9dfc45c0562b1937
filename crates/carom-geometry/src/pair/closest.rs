//! The gap of two convex bodies to rounding.

use super::gjk::{self, Simplex, Vertex};
use super::part::Placed;
use super::tangents;
use nalgebra::{Matrix2, Vector2, Vector3};
use smallvec::SmallVec;

/// Newton steps on the sphere.
const MAX_NEWTON: usize = 30;

/// Overlaps below this fraction of a body's radius are those of touching bodies.
const SHALLOW: f64 = 1e-3;

/// Features that are exchanged for better ones.
const MAX_EXCHANGES: usize = 20;

/// Polytopes that overlap, or are apart by less than this fraction of their size, have the features of
/// their normal looked for among all that are nearby.
const TOUCHING: f64 = 1e-6;

/// How much higher than the lowest vertex that is, as a fraction of the size.
const NEARBY: f64 = 1e-2;

/// Rounds of that, and vertices of a body that are looked at.
const MAX_ROUNDS: usize = 8;
const MAX_POINTS: usize = 6;

/// Attempts to pull overlapping bodies apart.
const MAX_SHIFTS: usize = 40;

/// What is remembered of a pair from one call to the next: where to start.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    normal: Option<Vector3<f64>>,
    /// Points of the features, each in its body.
    points: SmallVec<[(Vector3<f64>, Vector3<f64>); 4]>,
}

impl Memory {
    /// Starts from a normal.
    pub fn starting(normal: Vector3<f64>) -> Self {
        Self {
            normal: Some(normal),
            points: SmallVec::new(),
        }
    }
}

/// Where two bodies are closest, or overlap least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// $\Phi$, negative if they overlap (m).
    pub gap: f64,
    /// Unit normal, from the second body into the first.
    pub normal: Vector3<f64>,
    /// Point of the first body, in space (m).
    pub point_a: Vector3<f64>,
    /// Point of the second body, in space (m).
    pub point_b: Vector3<f64>,
}

impl Closest {
    /// The contact point, in the middle of the closest points.
    pub fn middle(&self) -> Vector3<f64> {
        (self.point_a + self.point_b) * 0.5
    }
}

/// The gap of two convex parts, from where it was found last.
pub fn closest(a: &Placed<'_>, b: &Placed<'_>, memory: &mut Memory) -> Closest {
    let margin = a.part.margin + b.part.margin;
    let is_cold = memory.normal.is_none() && memory.points.is_empty();
    let (mut core, is_proven) = core(a, b, memory);
    if !is_cold && !is_proven {
        *memory = Memory::default();
        (core, _) = self::core(a, b, memory);
    }
    memory.normal = Some(core.normal);
    Closest {
        gap: core.gap - margin,
        point_a: core.point_a - core.normal * a.part.margin,
        point_b: core.point_b + core.normal * b.part.margin,
        normal: core.normal,
    }
}

impl Closest {
    /// Whether the slab is as wide as the points are apart: then, by duality, neither can be improved.
    /// Bodies that overlap have no such proof and count as proven.
    fn is_proven(&self, a: &Placed<'_>, b: &Placed<'_>) -> bool {
        let size = a.part.bounding_radius() + b.part.bounding_radius();
        let apart = (self.point_a - self.point_b).norm();
        self.gap <= 0.0 || (apart - self.gap).abs() <= PROOF_TOLERANCE * (size + apart)
    }
}

/// Width of the slab against the distance of the points, over the size, that proves a gap.
const PROOF_TOLERANCE: f64 = 1e-10;

/// Corners this fraction of the size above the lowest one, and points so far from each other, are the same.
const STATIONARY: f64 = 1e-10;

/// A normal with the value of $g$ for it.
#[derive(Clone, Copy)]
struct Candidate {
    value: f64,
    normal: Vector3<f64>,
    support: Vertex,
}

impl Candidate {
    fn new(a: &Placed<'_>, b: &Placed<'_>, normal: &Vector3<f64>) -> Option<Self> {
        let normal = normal.try_normalize(0.0)?;
        let support = Vertex::lowest(a, b, &normal);
        let value = support.difference.dot(&normal);
        value.is_finite().then_some(Self {
            value,
            normal,
            support,
        })
    }
}

/// The closest points of the cores, and whether they are proven to be.
fn core(a: &Placed<'_>, b: &Placed<'_>, memory: &mut Memory) -> (Closest, bool) {
    let centers = a.position - b.position;
    let guess = memory
        .normal
        .or_else(|| centers.try_normalize(0.0))
        .unwrap_or_else(Vector3::z);
    let fallback = Candidate {
        value: Vertex::lowest(a, b, &guess).difference.dot(&guess),
        normal: guess,
        support: Vertex::lowest(a, b, &guess),
    };
    let smooth = a.part.is_smooth() && b.part.is_smooth();
    if smooth
        && memory.normal.is_some()
        && let Some(found) = newton(a, b, &guess, Features::Free)
        // Of bodies that are apart any stationary point is the maximum; where they overlap by little,
        // the others are as deep as the bodies are wide.
        && found.value > -SHALLOW * a.part.bounding_radius().min(b.part.bounding_radius())
    {
        let found = at_feature(a, b, &found, &Simplex::new());
        let is_proven = found.is_proven(a, b);
        return (found, is_proven);
    }
    let mut simplex: Simplex = memory
        .points
        .iter()
        .map(|(p, q)| Vertex::of(a, b, *p, *q))
        .collect();
    if simplex.is_empty() || smooth || a.part.is_smooth() || b.part.is_smooth() {
        simplex.clear();
        simplex.push(Vertex::lowest(a, b, &guess));
    }
    let mut moved = *a;
    let size = a.part.bounding_radius() + b.part.bounding_radius();
    let mut shift = 1e-9 * size;
    let mut apart = gjk::separate(&moved, b, &mut simplex);
    // Overlapping bodies are pulled apart until their features can be told: they are no deeper than the pull
    // that sets them apart.
    for attempt in 0..MAX_SHIFTS {
        let is_told = || {
            let towards = gjk::reduce(&mut simplex.clone())?;
            Some(Candidate::new(a, b, &towards)?.value >= -0.25 * shift)
        };
        if apart && (attempt == 0 || is_told() == Some(true)) {
            break;
        }
        moved.position = a.position + guess * shift;
        simplex.clear();
        simplex.push(Vertex::lowest(&moved, b, &guess));
        apart = gjk::separate(&moved, b, &mut simplex);
        shift *= 4.0;
    }
    simplex.truncate(3);
    let mut best = fallback;
    // The direction of the closest point, good to what it has lost by cancellation.
    let towards = gjk::reduce(&mut simplex.clone()).and_then(|v| Candidate::new(a, b, &v));
    if let Some(candidate) = towards
        && candidate.value > best.value
    {
        best = candidate;
    }
    for _ in 0..MAX_EXCHANGES {
        for vertex in &mut simplex {
            *vertex = Vertex::of(a, b, vertex.a, vertex.b);
        }
        let mut improved = false;
        each_subset(&simplex, &mut |features| {
            for normal in normals(a, b, features, &best.normal) {
                if let Some(candidate) = Candidate::new(a, b, &normal)
                    && candidate.value > best.value
                {
                    best = candidate;
                    improved = true;
                }
            }
        });
        let known = |v: &Vertex| v.a == best.support.a && v.b == best.support.b;
        if !improved || simplex.iter().any(known) {
            break;
        }
        if simplex.len() > 3 {
            simplex.remove(0);
        }
        simplex.push(best.support);
    }
    if apart && (a.part.is_smooth() || b.part.is_smooth()) {
        approach(a, b, &simplex, &mut best);
    }
    if (a.part.is_smooth() || b.part.is_smooth())
        && let Some(found) = newton(a, b, &best.normal, Features::Free)
        && found.value > best.value
    {
        best = found;
    }
    memory.points = simplex.iter().take(3).map(|v| (v.a, v.b)).collect();
    if a.has_corners() && b.has_corners() && best.value <= TOUCHING * size {
        polish(a, b, &mut best);
    }
    let is_mixed =
        (a.has_corners() && b.part.is_smooth()) || (b.has_corners() && a.part.is_smooth());
    if is_mixed && !is_stationary(a, b, &best) {
        polish_curved(a, b, &mut best);
    }
    let found = at_feature(a, b, &best, &simplex);
    let is_proven = match is_mixed {
        true => is_stationary(a, b, &best),
        false => found.is_proven(a, b),
    };
    (found, is_proven)
}

/// Whether the point of a smooth body that is nearest along a normal has, across the gap, a point of the face,
/// the edge or the corner of the polytope that is nearest: then no other normal nearby has a wider slab, and none
/// at all if the bodies are apart.
fn is_stationary(a: &Placed<'_>, b: &Placed<'_>, best: &Candidate) -> bool {
    let n = best.normal;
    let size = a.part.bounding_radius() + b.part.bounding_radius();
    let (polytope, towards, across) = match a.has_corners() {
        true => (a, n, b.outward(&best.support.b) + n * best.value),
        false => (b, -n, a.outward(&best.support.a) - n * best.value),
    };
    let corners = lowest_corners(polytope, &towards, STATIONARY * size);
    let off = |corner: &Vector3<f64>| {
        let off = polytope.position + corner - across;
        off - n * n.dot(&off)
    };
    let off: SmallVec<[Vector3<f64>; MAX_POINTS + 1]> = corners.iter().map(off).collect();
    let is_here = |points: &[Vector3<f64>]| {
        weights(points).is_some_and(|weights| {
            let point: Vector3<f64> = points.iter().zip(&weights).map(|(p, w)| p * *w).sum();
            point.norm() <= STATIONARY * size
        })
    };
    off.iter().enumerate().any(|(i, x)| {
        x.norm() <= STATIONARY * size
            || off.iter().enumerate().skip(i + 1).any(|(j, y)| {
                is_here(&[*x, *y]) || off.iter().skip(j + 1).any(|z| is_here(&[*x, *y, *z]))
            })
    })
}

/// Improves the normal of two polytopes that touch: the best of the normals of faces of either and of
/// pairs of their edges, among the vertices that are about as low as the lowest.
///
/// The features of touching bodies were found by pulling them apart a little, in a direction that is a
/// guess, and where a corner touches at a rim, many features are as near. Every normal is a lower bound
/// of the gap, so the largest counts.
fn polish(a: &Placed<'_>, b: &Placed<'_>, best: &mut Candidate) {
    let size = a.part.bounding_radius() + b.part.bounding_radius();
    for _ in 0..MAX_ROUNDS {
        let (before, guess) = (best.value, best.normal);
        let (of_a, of_b) = (
            lowest_corners(a, &guess, NEARBY * size),
            lowest_corners(b, &-guess, NEARBY * size),
        );
        let mut consider = |normal: Vector3<f64>| {
            let outward = if normal.dot(&guess) < 0.0 {
                -normal
            } else {
                normal
            };
            if let Some(candidate) = Candidate::new(a, b, &outward)
                && candidate.value > best.value
            {
                *best = candidate;
            }
        };
        for points in [&of_a, &of_b] {
            for (i, x) in points.iter().enumerate() {
                for (j, y) in points.iter().enumerate().skip(i + 1) {
                    for z in points.iter().skip(j + 1) {
                        consider((y - x).cross(&(z - x)));
                    }
                }
            }
        }
        for (i, x) in of_a.iter().enumerate() {
            for y in of_a.iter().skip(i + 1) {
                for (j, z) in of_b.iter().enumerate() {
                    for w in of_b.iter().skip(j + 1) {
                        consider((y - x).cross(&(w - z)));
                    }
                }
            }
        }
        if best.value - before <= f64::EPSILON * size {
            break;
        }
    }
}

/// The same for a polytope and a smooth body: the best of the normals of its faces, and of the normals for
/// which one of its edges or corners is nearest.
fn polish_curved(a: &Placed<'_>, b: &Placed<'_>, best: &mut Candidate) {
    let size = a.part.bounding_radius() + b.part.bounding_radius();
    for _ in 0..MAX_ROUNDS {
        let (before, guess) = (best.value, best.normal);
        let corners = match a.has_corners() {
            true => lowest_corners(a, &guess, NEARBY * size),
            false => lowest_corners(b, &-guess, NEARBY * size),
        };
        let mut consider = |found: Option<Candidate>| {
            if let Some(candidate) = found
                && candidate.value > best.value
            {
                *best = candidate;
            }
        };
        consider(newton(a, b, &guess, Features::Free));
        for (i, x) in corners.iter().enumerate() {
            for (j, y) in corners.iter().enumerate().skip(i + 1) {
                consider(newton(a, b, &guess, Features::Edge(y - x)));
                for z in corners.iter().skip(j + 1) {
                    let normal = (y - x).cross(&(z - x));
                    let along = if normal.dot(&guess) < 0.0 { -1.0 } else { 1.0 };
                    consider(Candidate::new(a, b, &(normal * along)));
                }
            }
        }
        if best.value - before <= f64::EPSILON * size || is_stationary(a, b, best) {
            break;
        }
    }
}

/// The lowest corners of a polytope in a direction, within a height above the lowest, in their order.
fn lowest_corners(
    body: &Placed<'_>,
    towards: &Vector3<f64>,
    height: f64,
) -> SmallVec<[Vector3<f64>; MAX_POINTS + 1]> {
    let mut corners = SmallVec::<[Vector3<f64>; MAX_POINTS + 1]>::new();
    body.features(towards, height, &mut |point| {
        let point = body.rotation * point;
        let height = towards.dot(&point);
        let place = corners.iter().position(|p| towards.dot(p) > height);
        if corners.len() < MAX_POINTS || place.is_some() {
            corners.insert(place.unwrap_or(corners.len()), point);
            corners.truncate(MAX_POINTS);
        }
    });
    corners
}

/// Steps of Gilbert, Johnson and Keerthi that bring a normal near enough for Newton's method.
const MAX_APPROACHES: usize = 60;

/// Width of the slab against the distance found, over the size, at which Newton's method takes over.
const NEAR: f64 = 1e-5;

/// Brings the best normal of two bodies that are apart near the widest slab: the closest point of a simplex
/// of the difference is replaced by the one of a better simplex until its distance is the slab's width.
fn approach(a: &Placed<'_>, b: &Placed<'_>, simplex: &Simplex, best: &mut Candidate) {
    let size = a.part.bounding_radius() + b.part.bounding_radius();
    let mut points = simplex.clone();
    for _ in 0..MAX_APPROACHES {
        let Some(nearest) = gjk::reduce(&mut points) else {
            return;
        };
        let Some(candidate) = Candidate::new(a, b, &nearest) else {
            return;
        };
        if candidate.value > best.value {
            *best = candidate;
        }
        if nearest.norm() - best.value <= NEAR * size {
            return;
        }
        points.push(candidate.support);
    }
}

/// Calls with every nonempty subset of at most three vertices.
fn each_subset(simplex: &Simplex, f: &mut dyn FnMut(&[Vertex])) {
    let n = simplex.len();
    for mask in 1u32..1 << n {
        if mask.count_ones() > 3 {
            continue;
        }
        let chosen = (0..n).filter(|i| mask >> i & 1 == 1).map(|i| simplex[i]);
        let features: SmallVec<[Vertex; 3]> = chosen.collect();
        f(&features);
    }
}

/// What the normal is bound to: nothing, or to be normal to an edge.
#[derive(Clone, Copy)]
enum Features {
    Free,
    Edge(Vector3<f64>),
}

/// Normals that belong to features.
fn normals(
    a: &Placed<'_>,
    b: &Placed<'_>,
    features: &[Vertex],
    guess: &Vector3<f64>,
) -> SmallVec<[Vector3<f64>; 2]> {
    let mut out = SmallVec::new();
    let curved = a.part.is_smooth() || b.part.is_smooth();
    let d = |i: usize| features[i].difference;
    match (features.len(), curved) {
        (1, false) => out.push(d(0)),
        (2, false) => {
            let edge = d(1) - d(0);
            // The part of the difference across the edge, without cancellation.
            out.push(edge.cross(&d(0)).cross(&edge));
        }
        (3, false) => {
            let normal = (d(1) - d(0)).cross(&(d(2) - d(0)));
            out.push(if normal.dot(guess) < 0.0 {
                -normal
            } else {
                normal
            });
        }
        (_, true) => {
            // Only the vertices of a polytope make features of a curved pair.
            let mut corners: SmallVec<[Vector3<f64>; 3]> = SmallVec::new();
            for vertex in features {
                let corner = match (a.part.is_smooth(), b.part.is_smooth()) {
                    (true, false) => b.rotation * vertex.b,
                    (false, true) => a.rotation * vertex.a,
                    _ => continue,
                };
                if !corners.contains(&corner) {
                    corners.push(corner);
                }
            }
            let found = match corners[..] {
                [x, y, z] => {
                    let normal = (y - x).cross(&(z - x));
                    Some(if normal.dot(guess) < 0.0 {
                        -normal
                    } else {
                        normal
                    })
                }
                [x, y] => newton(a, b, guess, Features::Edge(y - x)).map(|c| c.normal),
                _ => newton(a, b, guess, Features::Free).map(|c| c.normal),
            };
            out.extend(found);
        }
        _ => (),
    }
    out
}

/// Newton's method for a stationary point of $g$ on the sphere.
fn newton(
    a: &Placed<'_>,
    b: &Placed<'_>,
    guess: &Vector3<f64>,
    features: Features,
) -> Option<Candidate> {
    let mut n = match features {
        Features::Free => *guess,
        Features::Edge(e) => e.cross(guess).cross(&e).try_normalize(0.0)?,
    };
    let size = a.part.bounding_radius() + b.part.bounding_radius();
    let mut last = f64::INFINITY;
    for _ in 0..MAX_NEWTON {
        let support = Vertex::lowest(a, b, &n);
        let d = support.difference;
        let value = n.dot(&d);
        // sigma_2 is taken along -n: its second derivative is even.
        let bend = a.bend(&n) + b.bend(&-n);
        let step = match features {
            Features::Free => {
                let [t1, t2] = tangents(&n);
                let entry =
                    |s: &Vector3<f64>, t: &Vector3<f64>| s.dot(&(bend * t)) - value * s.dot(t);
                let matrix = Matrix2::new(
                    entry(&t1, &t1),
                    entry(&t1, &t2),
                    entry(&t2, &t1),
                    entry(&t2, &t2),
                );
                let s = matrix.try_inverse()? * -Vector2::new(t1.dot(&d), t2.dot(&d));
                t1 * s.x + t2 * s.y
            }
            Features::Edge(e) => {
                let t = n.cross(&e).try_normalize(0.0)?;
                let slope = t.dot(&(bend * t)) - value;
                if slope == 0.0 {
                    return None;
                }
                t * (-t.dot(&d) / slope)
            }
        };
        let length = step.norm();
        if !length.is_finite() {
            return None;
        }
        let next = (n + step * (0.5 / length).min(1.0)).try_normalize(0.0)?;
        let done = length <= 4.0 * f64::EPSILON || (length <= 1e-9 && length >= last);
        last = length;
        n = next;
        if done || length <= 1e-11 {
            return Candidate::new(a, b, &n);
        }
    }
    (last <= 1e-9 * size.max(1.0))
        .then(|| Candidate::new(a, b, &n))
        .flatten()
}

/// The closest points on the features that share the lowest value along the normal.
fn at_feature(a: &Placed<'_>, b: &Placed<'_>, best: &Candidate, simplex: &Simplex) -> Closest {
    let n = best.normal;
    let mut points = (best.support.a, best.support.b);
    let size = a.part.bounding_radius() + b.part.bounding_radius();
    let level = |v: &&Vertex| (v.difference.dot(&n) - best.value).abs() <= 1e-12 * size;
    let on: Simplex = simplex.iter().filter(level).copied().collect();
    // Of more points than span a feature, those whose hull holds the closest point.
    let mut spanning = if best.value > 0.0 {
        simplex.clone()
    } else {
        Simplex::new()
    };
    gjk::reduce(&mut spanning);
    for feature in [on, spanning] {
        if feature.len() < 2 || feature.len() > 3 {
            continue;
        }
        // Weights of the point of the feature that the origin projects to.
        let flat = |v: &Vertex| v.difference - n * v.difference.dot(&n);
        if let Some(weights) = weights(&feature.iter().map(flat).collect::<SmallVec<[_; 3]>>()) {
            let sum = |f: &dyn Fn(&Vertex) -> Vector3<f64>| {
                feature
                    .iter()
                    .zip(&weights)
                    .map(|(v, w)| f(v) * *w)
                    .sum::<Vector3<f64>>()
            };
            points = (sum(&|v| v.a), sum(&|v| v.b));
            break;
        }
    }
    let mut closest = Closest {
        gap: best.value,
        normal: n,
        point_a: a.outward(&points.0),
        point_b: b.outward(&points.1),
    };
    // The lowest point of a smooth body is unique; the other body's lies on the normal through it.
    if a.part.is_smooth() && !b.part.is_smooth() {
        closest.point_a = a.outward(&best.support.a);
        closest.point_b = closest.point_a - n * best.value;
    } else if b.part.is_smooth() && !a.part.is_smooth() {
        closest.point_b = b.outward(&best.support.b);
        closest.point_a = closest.point_b + n * best.value;
    }
    closest
}

/// Weights with sum 1 of points that bring their combination closest to the origin; `None` if they
/// depend on each other or a weight is negative.
fn weights(points: &[Vector3<f64>]) -> Option<SmallVec<[f64; 3]>> {
    let found: SmallVec<[f64; 3]> = match *points {
        [x, y] => {
            let along = y - x;
            let t = -x.dot(&along) / along.norm_squared();
            SmallVec::from_slice(&[1.0 - t, t])
        }
        [x, y, z] => {
            let (e, f) = (y - x, z - x);
            let gram = Matrix2::new(e.dot(&e), e.dot(&f), e.dot(&f), f.dot(&f));
            let s = gram.try_inverse()? * -Vector2::new(e.dot(&x), f.dot(&x));
            SmallVec::from_slice(&[1.0 - s.x - s.y, s.x, s.y])
        }
        _ => return None,
    };
    let sound = found.iter().all(|w| (-1e-6..=1.0 + 1e-6).contains(w));
    sound.then_some(found)
}
