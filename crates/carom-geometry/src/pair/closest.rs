//! The gap of two convex bodies to rounding.

use super::gjk::{self, Simplex, Vertex};
use super::part::Placed;
use super::tangents;
use crate::tolerances::{LAST_TURN, SMALL_TURN, SUPPORT_LEVEL, TURN_ROUNDING};
use nalgebra::{Matrix2, Vector2, Vector3};
use smallvec::SmallVec;

/// Newton steps on the sphere.
const MAX_NEWTON: usize = 30;

/// Times that a step of it is halved until $g$ grows.
const MAX_HALVINGS: usize = 20;

/// Overlaps below this fraction of a body's radius are those of touching bodies.
const SHALLOW: f64 = 1e-3;

/// Features that are exchanged for better ones.
const MAX_EXCHANGES: usize = 20;

/// Attempts to pull overlapping bodies apart.
const MAX_SHIFTS: usize = 40;

/// Warm start of a pair's search, kept from one call to the next.
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

/// Closest points of two bodies, or those of least overlap.
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

fn core(a: &Placed<'_>, b: &Placed<'_>, memory: &mut Memory) -> (Candidate, Simplex) {
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
        // Any stationary point of bodies that are apart is the maximum; where they overlap by little,
        // the others are as deep as the bodies are wide.
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
    // Overlapping bodies are pulled apart until their features can be told.
    for _ in 0..MAX_SHIFTS {
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
        && let Some(found) = newton(a, b, &best.normal, Features::Lowest)
        && found.value > best.value
    {
        best = found;
    }
    memory.points = simplex.iter().take(3).map(|v| (v.a, v.b)).collect();
    (best, simplex)
}

/// Vertices within this fraction of the size of the lowest are as low.
const LEVEL: f64 = 1e-12;

/// Part of a difference across the right normal, as a fraction of the size.
const ACROSS: f64 = 1e-11;

/// Steps towards the smallest difference of two faces.
const MAX_ACROSS: usize = 16;

/// Vertices among the lowest along a normal that span points of the two bodies opposite to each other, on one line along the
/// normal. That there are any is the condition for the bodies to be closest there: no slab of a normal nearby is wider.
fn opposite_points(a: &Placed<'_>, b: &Placed<'_>, normal: &Vector3<f64>) -> Option<Simplex> {
    let size = a.part.bounding_radius() + b.part.bounding_radius();
    let lowest = |body: &Placed<'_>, towards: &Vector3<f64>| {
        let mut points = SmallVec::<[Vector3<f64>; 8]>::new();
        body.features(towards, LEVEL * size, &mut |p| points.push(p));
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
    for _ in 0..MAX_ACROSS {
        let Some(left) = gjk::reduce(&mut simplex) else {
            return Some(simplex);
        };
        let length = left.norm();
        if length <= ACROSS * size {
            return Some(simplex);
        }
        let next = lowest_along(&left)?;
        if next.difference.dot(&left) > length * ACROSS * size {
            return None;
        }
        simplex.push(next);
    }
    None
}

/// Corners of a polytope, or of a difference of two, that are looked at.
const MAX_CUTS: usize = 24;

/// Finds the widest slab by corners that are added one by one: for those that are known, every feature (a corner,
/// an edge, a face) has a normal, and the widest slab of these is wider than that of the bodies until no corner
/// is lower than those that are known.
///
/// This is slow, but needs neither that the bodies are apart nor that a start is near. A smooth body takes part as it
/// is, not by corners; of two there is nothing to do.
fn by_cuts(a: &Placed<'_>, b: &Placed<'_>, best: &mut Candidate, simplex: &mut Simplex) {
    if a.part.is_smooth() && b.part.is_smooth() {
        return;
    }
    let size = a.part.bounding_radius() + b.part.bounding_radius();
    let mut known = SmallVec::<[Vertex; MAX_CUTS]>::new();
    let mut slabs: Vec<Slab> = Vec::new();
    let mut next = best.support;
    while known.len() < MAX_CUTS {
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

/// A slab that some corners bound.
struct Slab {
    normal: Vector3<f64>,
    /// With all corners that are known.
    width: f64,
    features: SmallVec<[Vertex; 3]>,
}

/// Width of a slab that reaches to a corner, and to the lowest point of a smooth body.
fn width(a: &Placed<'_>, b: &Placed<'_>, normal: &Vector3<f64>, corner: &Vertex) -> f64 {
    with_corner(a, b, normal, corner).dot(normal)
}

/// The difference of a corner of a polytope and the lowest point of a smooth body.
fn with_corner(
    a: &Placed<'_>,
    b: &Placed<'_>,
    normal: &Vector3<f64>,
    corner: &Vertex,
) -> Vector3<f64> {
    let of = |body: &Placed<'_>, towards: &Vector3<f64>, point| match body.part.is_smooth() {
        true => body.lowest(towards),
        false => point,
    };
    let (p, q) = (of(a, normal, corner.a), of(b, &-normal, corner.b));
    Vertex::of(a, b, p, q).difference
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

/// Feature of a polytope that a smooth body is closest to.
#[derive(Clone, Copy)]
enum Features<'v> {
    /// Whatever is lowest.
    Lowest,
    Corner(&'v Vertex),
    /// A corner of an edge, and the edge.
    Edge(&'v Vertex, Vector3<f64>),
}

/// Normals that belong to features.
fn normals(
    a: &Placed<'_>,
    b: &Placed<'_>,
    features: &[Vertex],
    guess: &Vector3<f64>,
) -> SmallVec<[Vector3<f64>; 2]> {
    // Only the corners of a polytope make features with a smooth body.
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
            // The part of the difference across the edge, without cancellation.
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

/// Newton's method for a stationary point of $g$ on the sphere.
fn newton(
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
    for _ in 0..MAX_NEWTON {
        let value = n.dot(&d);
        // sigma_2 is taken along -n: its second derivative is even.
        let bend = a.bend(&n) + b.bend(&-n);
        let [t1, t2] = match features {
            Features::Edge(_, e) => [n.cross(&e).try_normalize(0.0)?; 2],
            _ => tangents(&n),
        };
        // Second derivatives on the sphere; where features are given, such that the step leads upwards.
        let matrix = |value: f64| {
            let entry = |s: &Vector3<f64>, t: &Vector3<f64>| s.dot(&(bend * t)) - value * s.dot(t);
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
        for _ in 0..MAX_HALVINGS {
            let next = (n + step * share).try_normalize(0.0)?;
            let there = difference(&next);
            let rises = next.dot(&there) >= value - 4.0 * f64::EPSILON * size;
            if free || rises {
                (n, d) = (next, there);
                break;
            }
            share *= 0.5;
        }
        let done = length <= TURN_ROUNDING || (length <= SMALL_TURN && length >= last);
        last = length;
        if done || length <= LAST_TURN {
            return Candidate::new(a, b, &n);
        }
    }
    (last <= SMALL_TURN * size.max(1.0))
        .then(|| Candidate::new(a, b, &n))
        .flatten()
}

/// Points of two features are opposite to each other if they are no farther from a line along the normal, as a
/// fraction of the size.
const OPPOSITE: f64 = 1e-9;

/// The closest points on the features that share the lowest value along the normal: those of a simplex if they are
/// opposite to each other, else of others.
fn at_feature(
    a: &Placed<'_>,
    b: &Placed<'_>,
    best: &Candidate,
    [simplex, others]: [Simplex; 2],
) -> Closest {
    let n = best.normal;
    let mut points = (best.support.a, best.support.b);
    let size = a.part.bounding_radius() + b.part.bounding_radius();
    let level = |v: &&Vertex| (v.difference.dot(&n) - best.value).abs() <= SUPPORT_LEVEL * size;
    let on: Simplex = simplex.iter().filter(level).copied().collect();
    // If there are more points than span a feature, those remain whose hull holds the closest point.
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
        // Weights of the point of the feature that the origin projects to.
        let flat = |v: &Vertex| v.difference - n * v.difference.dot(&n);
        let weights = weights(&feature.iter().map(flat).collect::<SmallVec<[_; 3]>>());
        let Some(weights) = weights.filter(|weights| {
            let across = feature.iter().zip(weights).map(|(v, w)| flat(v) * *w);
            across.sum::<Vector3<f64>>().norm() <= OPPOSITE * size
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
