//! Normal of two convex bodies of which one is a cylinder.
//!
//! The support function of a cylinder bends at directions along its axis (an end) and across it (a line of its side), that of a
//! polytope across its edges. Where the bodies are closest, the normal lies on some of these great circles, or on none: each
//! circle through the neighborhood of the best normal so far, each crossing of two circles and the smooth maximum are tried, until
//! the gap $g$ grows no more. On a circle the maximum is found by bisection of the sign of the slope, which keeps its digits where
//! the slope jumps.

use super::closest::{
    Candidate, Closest, Features, Memory, NEAR, STEPS, by_cuts, closest_of_others, core, newton,
};
use super::gjk::Vertex;
use super::part::{Core, Placed};
use super::touching::common_point;
use crate::tolerances::NEARLY_EQUAL;
use nalgebra::Vector3;
use smallvec::SmallVec;

/// Normals of great circles on which a support function may bend.
type Lines = SmallVec<[Vector3<f64>; 8]>;

/// True if one of two parts has a cylinder as its core.
fn is_round(a: &Placed<'_>, b: &Placed<'_>) -> bool {
    a.part.is_cylinder() || b.part.is_cylinder()
}

/// Computes the gap between two convex parts of bodies and their closest points. The search starts from the result stored in
/// `memory`, and stores the new result there.
pub fn closest(a: &Placed<'_>, b: &Placed<'_>, memory: &mut Memory) -> Closest {
    if is_round(a, b) {
        closest_of_round(a, b, memory)
    } else {
        closest_of_others(a, b, memory)
    }
}

/// Computes the gap of two convex parts of which one is a cylinder, and their closest points.
fn closest_of_round(a: &Placed<'_>, b: &Placed<'_>, memory: &mut Memory) -> Closest {
    let size = a.part.bounding_radius() + b.part.bounding_radius();
    let warm = { memory.normal }.and_then(|normal| Candidate::new(a, b, &normal));
    let found = warm.map(|from| {
        let best = climb(a, b, from);
        (best, common_point(a, b, &best.normal))
    });
    let (best, (apart, point)) = match found {
        Some(found) if found.1.0 <= NEARLY_EQUAL * size => found,
        _ => {
            *memory = Memory::default();
            let (mut start, mut simplex) = core(a, b, memory);
            by_cuts(a, b, &mut start, &mut simplex);
            let mut best = climb(a, b, start);
            if let Some((warm, _)) = found.filter(|(warm, _)| warm.value > best.value) {
                best = warm;
            }
            (best, common_point(a, b, &best.normal))
        }
    };
    memory.normal = Some(best.normal);
    memory.points.clear();
    // Features that do not lie opposite each other leave the lowest points.
    let middle = if apart <= size * NEAR {
        point
    } else {
        (a.outward(&best.support.a) + b.outward(&best.support.b)) * 0.5
    };
    let (n, gap) = (best.normal, best.value);
    let height = n.dot(&(a.outward(&best.support.a) + b.outward(&best.support.b) - middle * 2.0));
    let middle = middle + n * (0.5 * height);
    Closest {
        gap: gap - a.part.margin - b.part.margin,
        normal: n,
        point_a: middle + n * (0.5 * gap - a.part.margin),
        point_b: middle - n * (0.5 * gap - b.part.margin),
    }
}

/// Returns the best normal that is reached from the normal of a candidate.
fn climb(a: &Placed<'_>, b: &Placed<'_>, from: Candidate) -> Candidate {
    let size = a.part.bounding_radius() + b.part.bounding_radius();
    let mut best = from;
    for _ in 0..STEPS.exchanges {
        let before = best;
        let lines = lines(a, b, &best.normal, size);
        let mut consider = |normal: Option<Candidate>| {
            if let Some(found) = normal.filter(|found| found.value > best.value) {
                best = found;
            }
        };
        for placed in [a, b] {
            if let Some(axis) = axis(placed) {
                let sign = if axis.dot(&before.normal) < 0.0 {
                    -1.0
                } else {
                    1.0
                };
                consider(Candidate::new(a, b, &(axis * sign)));
            }
        }
        for (k, line) in lines.iter().enumerate() {
            consider(on_circle(a, b, line, &before.normal));
            for other in lines.iter().skip(k + 1) {
                let cross = line.cross(other);
                let sign = if cross.dot(&before.normal) < 0.0 {
                    -1.0
                } else {
                    1.0
                };
                consider(Candidate::new(a, b, &(cross * sign)));
            }
        }
        consider(newton(a, b, &before.normal, Features::Lowest));
        if best.value <= before.value + NEARLY_EQUAL * NEARLY_EQUAL * size {
            break;
        }
    }
    best
}

/// Returns the axis of a cylinder in space.
fn axis(placed: &Placed<'_>) -> Option<Vector3<f64>> {
    match &placed.part.core {
        Core::Cylinder(cylinder) => Some(placed.rotation * cylinder.axis()),
        _ => None,
    }
}

/// Lists the axes of cylinders and the edges of polytopes near the lowest points along a normal.
fn lines(a: &Placed<'_>, b: &Placed<'_>, normal: &Vector3<f64>, size: f64) -> Lines {
    let mut lines = Lines::new();
    for (placed, towards) in [(a, *normal), (b, -normal)] {
        if let Some(axis) = axis(placed) {
            lines.push(axis);
            continue;
        }
        let mut corners = SmallVec::<[Vector3<f64>; 4]>::new();
        if let Core::Vertices(vertices) = &placed.part.core {
            // The lowest corners, in ascending order: an edge or a face that the normal leans to is among them.
            let d = placed.inward(&towards);
            let mut order: SmallVec<[(f64, &Vector3<f64>); 16]> = vertices
                .iter()
                .map(|vertex| (vertex.dot(&d), vertex))
                .collect();
            order.sort_by(|x, y| x.0.total_cmp(&y.0));
            corners.extend(order.iter().take(4).map(|(_, vertex)| **vertex));
        }
        for (k, corner) in corners.iter().enumerate() {
            for other in corners.iter().skip(k + 1) {
                let edge = placed.rotation * (other - corner);
                lines.extend(edge.try_normalize(NEARLY_EQUAL * size));
            }
        }
    }
    lines
}

/// Returns the best normal on the great circle across `line`, near the normal `from`.
fn on_circle(
    a: &Placed<'_>,
    b: &Placed<'_>,
    line: &Vector3<f64>,
    from: &Vector3<f64>,
) -> Option<Candidate> {
    let start = line.cross(from).cross(line).try_normalize(NEARLY_EQUAL)?;
    let side = line.cross(&start);
    let at = |t: f64| (start + side * t).normalize();
    // Slope of the gap towards larger t.
    let slope = |t: f64| {
        let n = at(t);
        Vertex::lowest(a, b, &n)
            .difference
            .dot(&(side - n * n.dot(&side)))
    };
    let sign = if slope(0.0) < 0.0 { -1.0 } else { 1.0 };
    let (mut low, mut high) = (0.0, NEARLY_EQUAL);
    for _ in 0..STEPS.brackets {
        if slope(sign * high) * sign < 0.0 {
            break;
        }
        (low, high) = (high, high * STEPS.growth);
    }
    for _ in 0..STEPS.bisections {
        let middle = 0.5 * (low + high);
        // Directions are rounded to that anyway.
        if high - low <= f64::EPSILON {
            break;
        }
        if slope(sign * middle) * sign < 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    let ends = [low, high].map(|t| Candidate::new(a, b, &at(sign * t)));
    let [low, high] = ends;
    let (low, high) = (low?, high?);
    Some(if high.value > low.value { high } else { low })
}
