//! Gap of two convex bodies, accurate to rounding errors.

use super::gjk::{self, Simplex, Vertex};
use super::part::Placed;
use super::tangents;
use crate::tolerances::{EQUAL, LAST_TURN, NEARLY_EQUAL, ROUNDING};
use nalgebra::{Matrix2, Vector2, Vector3};
use smallvec::SmallVec;

/// Largest numbers of steps of each stage of the search for the closest points.
pub(super) struct Steps {
    /// Largest number of Newton steps on the unit sphere.
    newton: usize,
    /// Largest number of halvings of a Newton step until $g$ grows.
    halvings: usize,
    /// Largest number of features that are exchanged for better ones.
    pub(super) exchanges: usize,
    /// Largest number of attempts to move overlapping bodies apart.
    shifts: usize,
    /// Largest number of steps towards the smallest difference of two faces.
    across: usize,
    /// Largest number of corners of the difference of the bodies that [`by_cuts`] examines.
    cuts: usize,
    /// Largest number of steps of the method of Gilbert, Johnson and Keerthi that prepare Newton's method.
    approaches: usize,
    /// Largest number of steps from a normal of a cylinder's pair outwards, by which each step grows, and of bisections.
    pub(super) brackets: usize,
    pub(super) growth: f64,
    pub(super) bisections: usize,
}

/// Values of [`Steps`].
pub(super) const STEPS: Steps = Steps {
    newton: 30,
    halvings: 20,
    exchanges: 20,
    shifts: 40,
    across: 16,
    cuts: 24,
    approaches: 60,
    brackets: 12,
    growth: 8.0,
    bisections: 64,
};

/// An overlap below this fraction of the smaller body radius counts as touching.
const SHALLOW: f64 = 1e-3;

/// Starting point of the search for the closest points of two bodies ([`closest`](super::closest)). Keep one `Memory` for each pair of bodies:
/// every search stores its result there, and the next search of the pair starts from that result.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Memory {
    pub(super) normal: Option<Vector3<f64>>,
    /// Pairs of feature points: one point in the frame of each body.
    pub(super) points: SmallVec<[(Vector3<f64>, Vector3<f64>); 4]>,
}

impl Memory {
    /// Creates a starting point for the first search of the [`closest`](super::closest) points of two bodies. `normal` is an estimate of the
    /// contact normal: a unit vector in space, from the second body into the first.
    pub fn starting(normal: Vector3<f64>) -> Self {
        Self {
            normal: Some(normal),
            points: SmallVec::new(),
        }
    }
}

/// Closest points of two bodies, with the gap and the contact normal. If the bodies overlap, the gap is negative: minus the
/// shortest translation that separates the bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// Gap $\Phi$, negative if the bodies overlap (m).
    pub gap: f64,
    /// Unit normal in space, from the second body into the first.
    pub normal: Vector3<f64>,
    /// Closest point of the first body, in space (m).
    pub point_a: Vector3<f64>,
    /// Closest point of the second body, in space (m).
    pub point_b: Vector3<f64>,
}

impl Closest {
    /// Returns the contact point of the two bodies: the midpoint of their closest points (m).
    pub fn middle(&self) -> Vector3<f64> {
        (self.point_a + self.point_b) * 0.5
    }
}

/// Computes the gap between two convex parts without cylinders, and their closest points.
pub(super) fn closest_of_others(a: &Placed<'_>, b: &Placed<'_>, memory: &mut Memory) -> Closest {
    let margin = a.part.margin + b.part.margin;
    let is_cold = memory.normal.is_none() && memory.points.is_empty();
    let (mut best, mut simplex) = core(a, b, memory);
    let mut opposite = opposite_points(a, b, &best.normal);
    if opposite.is_none() && !is_cold {
        *memory = Memory::default();
        (best, simplex) = core(a, b, memory);
        opposite = opposite_points(a, b, &best.normal);
    }
    if opposite.is_none() {
        by_cuts(a, b, &mut best, &mut simplex);
        memory.points = simplex.iter().map(|v| (v.a, v.b)).collect();
        opposite = opposite_points(a, b, &best.normal);
    }
    let core = at_feature(a, b, &best, [simplex, opposite.unwrap_or_default()]);
    memory.normal = Some(core.normal);
    Closest {
        gap: core.gap - margin,
        point_a: core.point_a - core.normal * a.part.margin,
        point_b: core.point_b + core.normal * b.part.margin,
        normal: core.normal,
    }
}

/// Candidate for the normal, with its value of $g$.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub(super) value: f64,
    pub(super) normal: Vector3<f64>,
    pub(super) support: Vertex,
}

impl Candidate {
    pub(super) fn new(a: &Placed<'_>, b: &Placed<'_>, normal: &Vector3<f64>) -> Option<Self> {
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

pub(super) fn core(a: &Placed<'_>, b: &Placed<'_>, memory: &mut Memory) -> (Candidate, Simplex) {
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
        && let Some(found) = newton(a, b, &guess, Features::Lowest)
        // If the bodies are apart, a stationary point is the maximum. If they overlap slightly, other
        // stationary points are as deep as the bodies are wide.
        && found.value > -SHALLOW * a.part.bounding_radius().min(b.part.bounding_radius())
    {
        return (found, Simplex::new());
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
    // Overlapping bodies are moved apart until their closest features can be distinguished.
    for _ in 0..STEPS.shifts {
        if apart {
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
    // The direction of the closest point, accurate except for cancellation.
    let towards = gjk::reduce(&mut simplex.clone()).and_then(|v| Candidate::new(a, b, &v));
    if let Some(candidate) = towards
        && candidate.value > best.value
    {
        best = candidate;
    }
    for _ in 0..STEPS.exchanges {
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
        && let Some(found) = newton(a, b, &best.normal, Features::Lowest)
        && found.value > best.value
    {
        best = found;
    }
    memory.points = simplex.iter().take(3).map(|v| (v.a, v.b)).collect();
    (best, simplex)
}

/// Finds two points, one of each body, that lie opposite each other on a line along a unit normal. If there are such points, the
/// bodies are closest along this normal. Returns pairs of vertices whose convex hull contains the two points, or `None` if there
/// are no such points. Only the vertices nearest to the other body are used.
fn opposite_points(a: &Placed<'_>, b: &Placed<'_>, normal: &Vector3<f64>) -> Option<Simplex> {
    let size = a.part.bounding_radius() + b.part.bounding_radius();
    let lowest = |body: &Placed<'_>, towards: &Vector3<f64>| {
        let mut points = SmallVec::<[Vector3<f64>; 8]>::new();
        body.features(towards, EQUAL * size, &mut |p| points.push(p));
        points
    };
    let (of_a, of_b) = (lowest(a, normal), lowest(b, &-normal));
    let across = |p: Vector3<f64>, q: Vector3<f64>| {
        let mut vertex = Vertex::of(a, b, p, q);
        vertex.difference -= normal * normal.dot(&vertex.difference);
        vertex
    };
    let all = of_a
        .iter()
        .flat_map(|p| of_b.iter().map(|q| across(*p, *q)));
    let lowest_along = |towards: &Vector3<f64>| {
        let along = |v: &Vertex| v.difference.dot(towards);
        all.clone().min_by(|v, w| along(v).total_cmp(&along(w)))
    };
    let mut simplex: Simplex = all.clone().take(1).collect();
    for _ in 0..STEPS.across {
        let Some(left) = gjk::reduce(&mut simplex) else {
            return Some(simplex);
        };
        let length = left.norm();
        if length <= LAST_TURN * size {
            return Some(simplex);
        }
        let next = lowest_along(&left)?;
        if next.difference.dot(&left) > length * LAST_TURN * size {
            return None;
        }
        simplex.push(next);
    }
    None
}

/// Improves `best`, the normal of the widest slab (space between parallel planes) that separates two bodies, by adding pairs of
/// vertices one at a time to a list of known pairs. Every feature of known pairs (one pair, an edge or a face) has a normal. The
/// widest slab that separates the known vertices is at least as wide as that of the bodies. The search ends if the normal of this
/// slab yields no new pair. `simplex` receives the vertex pairs of the best feature.
///
/// This method is slow, but it works for overlapping bodies and without a good starting point. A smooth body is represented
/// exactly, not by vertices. For two smooth bodies the method does nothing.
pub(super) fn by_cuts(a: &Placed<'_>, b: &Placed<'_>, best: &mut Candidate, simplex: &mut Simplex) {
    if a.part.is_smooth() && b.part.is_smooth() {
        return;
    }
    let size = a.part.bounding_radius() + b.part.bounding_radius();
    let mut known = SmallVec::<[Vertex; STEPS.cuts]>::new();
    let mut slabs: Vec<Slab> = Vec::new();
    let mut next = best.support;
    while known.len() < STEPS.cuts {
        for slab in &mut slabs {
            slab.width = slab.width.min(width(a, b, &slab.normal, &next));
        }
        let guess = best.normal;
        let mut consider = |features: &[Vertex], known: &[Vertex]| {
            for normal in normals(a, b, features, &guess) {
                let Some(normal) = normal.try_normalize(0.0) else {
                    continue;
                };
                let of = known.iter().chain([&next]);
                let width = of.map(|v| width(a, b, &normal, v));
                slabs.push(Slab {
                    normal,
                    width: width.fold(f64::INFINITY, f64::min),
                    features: features.iter().copied().collect(),
                });
            }
        };
        consider(&[next], &known);
        for (i, x) in known.iter().enumerate() {
            consider(&[next, *x], &known);
            for y in known.iter().skip(i + 1) {
                consider(&[next, *x, *y], &known);
            }
        }
        known.push(next);
        let Some(widest) = slabs.iter().max_by(|s, t| s.width.total_cmp(&t.width)) else {
            return;
        };
        let Some(candidate) = Candidate::new(a, b, &widest.normal) else {
            return;
        };
        if candidate.value >= best.value {
            *best = candidate;
            *simplex = widest.features.iter().copied().collect();
        }
        let corner = |v: &Vertex| match (a.part.is_smooth(), b.part.is_smooth()) {
            (true, _) => [v.b; 2],
            (_, true) => [v.a; 2],
            _ => [v.a, v.b],
        };
        let is_known = known
            .iter()
            .any(|v| corner(v) == corner(&candidate.support));
        if is_known || widest.width - candidate.value <= f64::EPSILON * size {
            return;
        }
        next = candidate.support;
    }
}

/// Slab bounded by known corners.
struct Slab {
    normal: Vector3<f64>,
    /// Width with respect to all known corners (m).
    width: f64,
    features: SmallVec<[Vertex; 3]>,
}

/// Returns the width (m) of a slab between two bodies: the space between two parallel planes with the unit normal `normal`. The
/// plane at a smooth body touches the body at its lowest point. The plane at a polytope passes through the vertex of this body in
/// the pair `corner`.
fn width(a: &Placed<'_>, b: &Placed<'_>, normal: &Vector3<f64>, corner: &Vertex) -> f64 {
    with_corner(a, b, normal, corner).dot(normal)
}

/// Returns the difference (m) between a point of the first body and a point of the second body, in space. The point of a polytope
/// is its vertex in the pair `corner`. The point of a smooth body is its extreme point along the normal: the lowest one for the
/// first body, the highest one for the second.
fn with_corner(
    a: &Placed<'_>,
    b: &Placed<'_>,
    normal: &Vector3<f64>,
    corner: &Vertex,
) -> Vector3<f64> {
    let of = |body: &Placed<'_>, towards: &Vector3<f64>, point| {
        if body.part.is_smooth() {
            body.lowest(towards)
        } else {
            point
        }
    };
    let (p, q) = (of(a, normal, corner.a), of(b, &-normal, corner.b));
    Vertex::of(a, b, p, q).difference
}

/// Newton's method takes over if distance minus slab width falls below this fraction of the size.
pub(super) const NEAR: f64 = 1e-5;

/// Improves `best`, the candidate for the contact normal of two bodies that do not overlap, by the method of Gilbert, Johnson and
/// Keerthi. The simplex, whose vertices are differences of points of the bodies, is moved closer to the origin until its distance
/// is close to the width of the slab between the bodies.
fn approach(a: &Placed<'_>, b: &Placed<'_>, simplex: &Simplex, best: &mut Candidate) {
    let size = a.part.bounding_radius() + b.part.bounding_radius();
    let mut points = simplex.clone();
    for _ in 0..STEPS.approaches {
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

/// Calls the function `f` with every nonempty subset of at most three vertices of a simplex.
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

/// Feature of a polytope that is closest to a smooth body.
#[derive(Clone, Copy)]
pub(super) enum Features<'v> {
    /// No fixed feature: the lowest points are used.
    Lowest,
    Corner(&'v Vertex),
    /// A corner of an edge, and the vector along the edge.
    Edge(&'v Vertex, Vector3<f64>),
}

/// Returns the normals (any length) that belong to a feature of two bodies: a corner, an edge or a face. `features` contains the
/// one to three vertex pairs of the feature. `guess` is an estimate of the normal, used only if one of the bodies is smooth.
fn normals(
    a: &Placed<'_>,
    b: &Placed<'_>,
    features: &[Vertex],
    guess: &Vector3<f64>,
) -> SmallVec<[Vector3<f64>; 2]> {
    // With a smooth body, only the corners of the polytope define features.
    let corner = |v: &Vertex| match (a.part.is_smooth(), b.part.is_smooth()) {
        (false, false) => v.difference,
        (true, _) => b.rotation * -v.b,
        (_, true) => a.rotation * v.a,
    };
    let mut corners = SmallVec::<[(Vector3<f64>, &Vertex); 3]>::new();
    for vertex in features {
        let at = corner(vertex);
        if !corners.iter().any(|(other, _)| *other == at) {
            corners.push((at, vertex));
        }
    }
    let curved = a.part.is_smooth() || b.part.is_smooth();
    match (&corners[..], curved) {
        ([(x, _), (y, _), (z, _)], _) => {
            let normal = (y - x).cross(&(z - x));
            SmallVec::from([normal, -normal])
        }
        ([(x, _)], false) => SmallVec::from_elem(*x, 1),
        ([(x, _), (y, _)], false) => {
            let edge = y - x;
            // The component of the difference perpendicular to the edge, computed without cancellation.
            SmallVec::from_elem(edge.cross(x).cross(&edge), 1)
        }
        ([(x, vertex), (y, _)], true) => {
            let found = newton(a, b, guess, Features::Edge(vertex, y - x));
            found.map(|c| c.normal).into_iter().collect()
        }
        ([(_, vertex)], true) => {
            let found = newton(a, b, guess, Features::Corner(vertex));
            found.map(|c| c.normal).into_iter().collect()
        }
        _ => SmallVec::new(),
    }
}

/// Finds by Newton's method a unit normal for which the width of the slab (space between parallel planes) between two bodies is
/// stationary. The search starts at the normal `guess`. `features` selects a corner or an edge of a polytope through which the
/// plane at this body must pass. Returns `None` if the method does not converge.
pub(super) fn newton(
    a: &Placed<'_>,
    b: &Placed<'_>,
    guess: &Vector3<f64>,
    features: Features<'_>,
) -> Option<Candidate> {
    let mut n = match features {
        Features::Edge(_, e) => e.cross(guess).cross(&e).try_normalize(0.0)?,
        _ => *guess,
    };
    let difference = |n: &Vector3<f64>| match features {
        Features::Lowest => Vertex::lowest(a, b, n).difference,
        Features::Corner(corner) | Features::Edge(corner, _) => with_corner(a, b, n, corner),
    };
    let size = a.part.bounding_radius() + b.part.bounding_radius();
    let mut last = f64::INFINITY;
    let mut d = difference(&n);
    for _ in 0..STEPS.newton {
        let value = n.dot(&d);
        // sigma_2 is evaluated at -n; its second derivative is even.
        let curvature = a.curvature(&n) + b.curvature(&-n);
        let [t1, t2] = match features {
            Features::Edge(_, e) => [n.cross(&e).try_normalize(0.0)?; 2],
            _ => tangents(&n),
        };
        // Second derivatives on the sphere. With fixed features they are modified so that the step increases g.
        let matrix = |value: f64| {
            let entry =
                |s: &Vector3<f64>, t: &Vector3<f64>| s.dot(&(curvature * t)) - value * s.dot(t);
            Matrix2::new(
                entry(&t1, &t1),
                entry(&t1, &t2),
                entry(&t2, &t1),
                entry(&t2, &t2),
            )
        };
        let mut second = matrix(value);
        let free = matches!(features, Features::Lowest);
        let step = match features {
            Features::Edge(..) => {
                if second.m11 >= 0.0 {
                    second = matrix(value.abs());
                }
                t1 * (-t1.dot(&d) / second.m11)
            }
            _ => {
                let is_concave = second.m11 < 0.0 && second.determinant() > 0.0;
                if !(free || is_concave) {
                    second = matrix(value.abs());
                }
                let s = second.try_inverse()? * -Vector2::new(t1.dot(&d), t2.dot(&d));
                t1 * s.x + t2 * s.y
            }
        };
        let length = step.norm();
        if !length.is_finite() {
            return None;
        }
        let mut share = (0.5 / length).min(1.0);
        for _ in 0..STEPS.halvings {
            let next = (n + step * share).try_normalize(0.0)?;
            let there = difference(&next);
            let rises = next.dot(&there) >= value - 4.0 * f64::EPSILON * size;
            if free || rises {
                (n, d) = (next, there);
                break;
            }
            share *= 0.5;
        }
        let done = length <= ROUNDING || (length <= NEARLY_EQUAL && length >= last);
        last = length;
        if done || length <= LAST_TURN {
            return Candidate::new(a, b, &n);
        }
    }
    (last <= NEARLY_EQUAL * size.max(1.0))
        .then(|| Candidate::new(a, b, &n))
        .flatten()
}

/// Computes the closest points of two bodies for a known contact normal, that of `best`. The closest points lie on a
/// feature (corner, edge or face) of the difference of the bodies. Three features are tried in turn: the vertices of
/// `simplex` that are nearest along the normal, the vertices that span the point of `simplex` closest to the origin,
/// and the vertices `others`, found by another search. The first feature that contains two opposite points is used.
fn at_feature(
    a: &Placed<'_>,
    b: &Placed<'_>,
    best: &Candidate,
    [simplex, others]: [Simplex; 2],
) -> Closest {
    let n = best.normal;
    let mut points = (best.support.a, best.support.b);
    let size = a.part.bounding_radius() + b.part.bounding_radius();
    let level = |v: &&Vertex| (v.difference.dot(&n) - best.value).abs() <= EQUAL * size;
    let on: Simplex = simplex.iter().filter(level).copied().collect();
    // If there are more points than a feature needs, those are kept whose hull contains the closest point.
    let mut spanning = if best.value > 0.0 {
        simplex.clone()
    } else {
        Simplex::new()
    };
    gjk::reduce(&mut spanning);
    for feature in [on, spanning, others] {
        if feature.len() < 2 || feature.len() > 3 {
            continue;
        }
        // Weights of the point of the feature onto which the origin projects.
        let flat = |v: &Vertex| v.difference - n * v.difference.dot(&n);
        let weights = weights(&feature.iter().map(flat).collect::<SmallVec<[_; 3]>>());
        let Some(weights) = weights.filter(|weights| {
            let across = feature.iter().zip(weights).map(|(v, w)| flat(v) * *w);
            across.sum::<Vector3<f64>>().norm() <= NEARLY_EQUAL * size
        }) else {
            continue;
        };
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
    let mut closest = Closest {
        gap: best.value,
        normal: n,
        point_a: a.outward(&points.0),
        point_b: b.outward(&points.1),
    };
    // The lowest point of a smooth body is unique. The closest point of the other body lies on the normal
    // through it.
    if a.part.is_smooth() && !b.part.is_smooth() {
        closest.point_a = a.outward(&best.support.a);
        closest.point_b = closest.point_a - n * best.value;
    } else if b.part.is_smooth() && !a.part.is_smooth() {
        closest.point_b = b.outward(&best.support.b);
        closest.point_a = closest.point_b + n * best.value;
    }
    closest
}

/// Returns weights with sum 1 for two or three points, so that the weighted sum is as close to the origin as
/// possible. `None` if the points are dependent or a weight is negative.
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
