//! Points at which two bodies touch: the corners of the common part of their touching faces.

use super::closest::Closest;
use super::part::{Core, Placed};
use super::tangents;
use crate::tolerances::{NEARLY_EQUAL, SAME_POINT};
use nalgebra::{Vector2, Vector3};

/// Point at which two bodies touch, with the gap between the bodies at this point. [`touching`] reports such points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TouchingPoint {
    /// Midpoint between the two bodies, in space (m).
    pub point: Vector3<f64>,
    /// Distance of the bodies at this point, along the normal of the pair (m).
    pub gap: f64,
    /// The body whose corner this is: it carries the point along.
    pub corner: CornerOf,
}

/// Body that carries a touching point along as the bodies slide on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum CornerOf {
    /// A corner of the first body.
    First,
    /// A corner of the second body.
    Second,
    /// No corner: edges cross there, or surfaces that bend touch.
    Neither,
}

type Polygon = Vec<Vector2<f64>>;

/// Touching face: its corners in coordinates along two tangents, and its height along the normal as a linear
/// function.
struct Face {
    corners: Polygon,
    /// Center and radius of an end of a cylinder (m); its corners are points of the rim.
    disc: Option<(Vector2<f64>, f64)>,
    /// Height at the origin of the tangent plane (m), and the slopes along the two tangents.
    height: [f64; 3],
}

impl Face {
    /// Creates the face with which a body touches a contact plane: the points of the body whose distance along the normal from
    /// its extreme point towards the other body is at most `tolerance` (m). `n` is the unit normal of the plane and `origin` a
    /// point on the plane. `sign` is 1 for the body above the plane, whose lowest points touch, and -1 for the body below.
    fn new(
        body: &Placed<'_>,
        n: &Vector3<f64>,
        origin: &Vector3<f64>,
        sign: f64,
        tolerance: f64,
    ) -> Self {
        let [t1, t2] = tangents(n);
        let mut corners = Vec::new();
        let mut heights = Vec::new();
        let towards = body.inward(&(n * sign));
        let flat = |point: &Vector3<f64>| {
            let from = body.outward(point) - origin;
            (Vector2::new(t1.dot(&from), t2.dot(&from)), n.dot(&from))
        };
        body.part
            .lowest_features(&towards, tolerance, &mut |point| {
                let (flat, height) = flat(&point);
                if !corners
                    .iter()
                    .any(|c: &Vector2<f64>| (c - flat).norm() <= tolerance)
                {
                    corners.push(flat);
                    heights.push(height);
                }
            });
        let height = plane(&corners, &heights);
        let disc = match &body.part.core {
            Core::Cylinder(cylinder) if corners.len() == 4 => {
                let side = if cylinder.axis().dot(&towards) > 0.0 {
                    -1.0
                } else {
                    1.0
                };
                Some((flat(&cylinder.end(side)).0, cylinder.radius()))
            }
            _ => None,
        };
        Self {
            corners: in_order(corners),
            disc,
            height,
        }
    }

    fn height_at(&self, at: &Vector2<f64>) -> f64 {
        self.height[0] + self.height[1] * at.x + self.height[2] * at.y
    }

    /// True if a point is within `slack` (m) of the face.
    fn contains(&self, at: &Vector2<f64>, slack: f64) -> bool {
        if let Some((center, radius)) = self.disc {
            return (at - center).norm() <= radius + slack;
        }
        !clip(vec![*at], &self.corners, slack).is_empty()
    }

    /// Returns the distance of a point from the face (m).
    fn distance(&self, at: &Vector2<f64>) -> f64 {
        if let Some((center, radius)) = self.disc {
            return ((at - center).norm() - radius).max(0.0);
        }
        let n = self.corners.len();
        let mut distance = f64::INFINITY;
        for (k, from) in self.corners.iter().enumerate() {
            let edge = self.corners[(k + 1) % n] - from;
            let square = edge.norm_squared();
            let share = if square > 0.0 {
                edge.dot(&(at - from)) / square
            } else {
                0.0
            };
            distance = distance.min((at - from - edge * share.clamp(0.0, 1.0)).norm());
        }
        if n > 2 && self.contains(at, 0.0) {
            0.0
        } else {
            distance
        }
    }

    /// Returns the common points with another face, of which one or both are discs: at most eight, which keep the hull of the common
    /// area as points of rims do.
    fn common(&self, other: &Self, slack: f64) -> Polygon {
        let mut points = Polygon::new();
        for (face, by) in [(self, other), (other, self)] {
            if face.disc.is_none() {
                let inside = face.corners.iter().filter(|at| by.contains(at, slack));
                points.extend(inside);
            }
        }
        match (self.disc, other.disc) {
            (Some(disc), Some(by)) => points.extend(circles(disc, by)),
            (Some(disc), None) => points.extend(crossings(disc, &other.corners)),
            (None, Some(disc)) => points.extend(crossings(disc, &self.corners)),
            (None, None) => (),
        }
        // Points of the rims, where the edges of the other face leave some.
        let many = points.len();
        for (face, by) in [(self, other), (other, self)] {
            let Some((center, radius)) = face.disc else {
                continue;
            };
            let is_whole = many == 0;
            let first = face
                .corners
                .first()
                .map_or(Vector2::x() * radius, |at| at - center);
            for k in 0..RIM {
                if is_whole && k % 2 == 1 {
                    continue;
                }
                let angle = f64::from(k) * (std::f64::consts::TAU / f64::from(RIM));
                let (sin, cos) = (libm::sin(angle), libm::cos(angle));
                let arm =
                    Vector2::new(cos * first.x - sin * first.y, sin * first.x + cos * first.y);
                let at = center + arm;
                if by.contains(&at, if is_whole { slack } else { 0.0 }) {
                    points.push(at);
                }
            }
            if is_whole && !points.is_empty() {
                break;
            }
        }
        extremes(points)
    }
}

/// Points of a rim that stand for it where an edge crosses it; half as many where none does.
const RIM: u8 = 8;

/// Returns the points of a hull that are extreme in [`RIM`] directions, if it has more points than these.
fn extremes(points: Polygon) -> Polygon {
    let hull = in_order(points);
    if hull.len() <= usize::from(RIM) {
        return hull;
    }
    let mut kept: Vec<usize> = Vec::new();
    for k in 0..RIM {
        let angle = f64::from(k) * (std::f64::consts::TAU / f64::from(RIM));
        let towards = Vector2::new(libm::cos(angle), libm::sin(angle));
        let along = |i: &usize| hull[*i].dot(&towards);
        let farthest = (0..hull.len()).max_by(|i, j| along(i).total_cmp(&along(j)));
        kept.extend(farthest);
    }
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|i| hull[i]).collect()
}

/// Returns the points at which the edges of a polygon or segment cross a circle.
fn crossings((center, radius): (Vector2<f64>, f64), corners: &[Vector2<f64>]) -> Polygon {
    let n = corners.len();
    let mut points = Polygon::new();
    let edges = if n == 2 { 1 } else { n };
    for k in 0..edges {
        let (from, to) = (corners[k], corners[(k + 1) % n]);
        let (edge, arm) = (to - from, from - center);
        let (square, half) = (edge.norm_squared(), edge.dot(&arm));
        let root = half * half - square * (arm.norm_squared() - radius * radius);
        if !(root >= 0.0 && square > 0.0) {
            continue;
        }
        for sign in [-1.0, 1.0] {
            let share = (sign * root.sqrt() - half) / square;
            if (0.0..=1.0).contains(&share) {
                points.push(from + edge * share);
            }
        }
    }
    points
}

/// Returns the points at which two circles cross.
fn circles((c, r): (Vector2<f64>, f64), (d, s): (Vector2<f64>, f64)) -> Polygon {
    let way = d - c;
    let square = way.norm_squared();
    let along = 0.5 * (square + r * r - s * s);
    let root = square * r * r - along * along;
    if !(root > 0.0 && square > 0.0) {
        return Polygon::new();
    }
    let (foot, out) = (
        c + way * (along / square),
        Vector2::new(-way.y, way.x) * (root.sqrt() / square),
    );
    vec![foot + out, foot - out]
}

/// Fits a linear function to given heights at points of a plane. Returns the value of the function at the origin and
/// its two slopes. The function is exact at three of the points that are far apart, or at two if all points lie on a
/// line.
fn plane(points: &[Vector2<f64>], heights: &[f64]) -> [f64; 3] {
    let (Some(first), Some(base)) = (points.first(), heights.first()) else {
        return [0.0; 3];
    };
    let far = |measure: &dyn Fn(&Vector2<f64>) -> f64| {
        let best = points
            .iter()
            .enumerate()
            .max_by(|a, b| measure(a.1).total_cmp(&measure(b.1)));
        best.map_or(0, |(i, _)| i)
    };
    let i = far(&|p| (p - first).norm_squared());
    let (Some(p), Some(hp)) = (points.get(i), heights.get(i)) else {
        return [*base, 0.0, 0.0];
    };
    let e = p - first;
    if e.norm_squared() == 0.0 {
        return [*base, 0.0, 0.0];
    }
    let j = far(&|q| e.perp(&(q - first)).abs());
    let (Some(q), Some(hq)) = (points.get(j), heights.get(j)) else {
        return [*base, 0.0, 0.0];
    };
    let f = q - first;
    let area = e.perp(&f);
    let slope = if area.abs() > NEARLY_EQUAL * e.norm_squared() {
        let (a, b) = (hp - base, hq - base);
        Vector2::new(a * f.y - b * e.y, b * e.x - a * f.x) / area
    } else {
        e * ((hp - base) / e.norm_squared())
    };
    [base - slope.dot(first), slope.x, slope.y]
}

/// Returns the corners of the convex hull of points in a plane, in counterclockwise order.
fn in_order(mut corners: Polygon) -> Polygon {
    if corners.len() < 3 {
        return corners;
    }
    // Andrew's monotone chain algorithm.
    corners.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    let mut hull: Polygon = Vec::with_capacity(corners.len() + 1);
    for pass in 0..2 {
        let floor = hull.len() + 1;
        let mut add = |p: &Vector2<f64>| {
            while hull.len() > floor {
                let (x, y) = (hull[hull.len() - 2], hull[hull.len() - 1]);
                if (y - x).perp(&(p - x)) > 0.0 {
                    break;
                }
                hull.pop();
            }
            hull.push(*p);
        };
        if pass == 0 {
            corners.iter().for_each(&mut add);
        } else {
            corners.iter().rev().for_each(&mut add);
        }
        hull.pop();
    }
    hull
}

/// Clips the polygon or segment `subject` by the convex polygon `by` (Sutherland & Hodgman 1974). Corners of `subject` that are
/// outside by at most `slack` (m) are kept. An edge that ends farther outside is cut where it crosses an edge of the clipping
/// polygon.
fn clip(mut subject: Polygon, by: &[Vector2<f64>], slack: f64) -> Polygon {
    let n = by.len();
    for k in 0..n {
        let (from, to) = (by[k], by[(k + 1) % n]);
        let edge = (to - from).normalize();
        let depth = |p: &Vector2<f64>| edge.perp(&(p - from));
        let mut next = Polygon::with_capacity(subject.len() + 2);
        let m = subject.len();
        for i in 0..m {
            let (p, q) = (subject[i], subject[(i + 1) % m]);
            let (dp, dq) = (depth(&p), depth(&q));
            if dp >= -slack {
                next.push(p);
            }
            // A segment has only one edge.
            if m > 1 && (m > 2 || i == 0) && (dp < -slack) != (dq < -slack) {
                // The cut is on the edge, or as far outside as the end that is kept.
                let out = if dp.max(dq) > 0.0 { 0.0 } else { slack };
                next.push(p + (q - p) * ((dp + out) / (dp - dq)));
            }
        }
        subject = next;
    }
    subject
}

/// Returns the common points of two segments, each given by its two ends. The common points are the intersection point,
/// or the two ends of the common part of parallel segments.
fn cross(a: &[Vector2<f64>], b: &[Vector2<f64>]) -> Polygon {
    let (Some(a0), Some(a1), Some(b0), Some(b1)) = (a.first(), a.get(1), b.first(), b.get(1))
    else {
        return Polygon::new();
    };
    let (e, f) = (a1 - a0, b1 - b0);
    let area = e.perp(&f);
    if area.abs() > NEARLY_EQUAL * e.norm() * f.norm() {
        let t = (b0 - a0).perp(&f) / area;
        return vec![a0 + e * t.clamp(0.0, 1.0)];
    }
    let unit = e.normalize();
    let along = |p: &Vector2<f64>| unit.dot(&(p - a0));
    let (b_low, b_high) = (along(b0).min(along(b1)), along(b0).max(along(b1)));
    let (low, high) = (b_low.max(0.0), b_high.min(e.norm()));
    if low >= high {
        return vec![a0 + unit * low.min(e.norm())];
    }
    vec![a0 + unit * low, a0 + unit * high]
}

/// Calls `report` with every point at which two convex parts touch. Between two touching faces these are the corners of their
/// common area. `closest` holds the closest points of the parts. A vertex belongs to the touching face of its part if its
/// distance along the contact normal exceeds that of the nearest vertex by at most `tolerance` (m). At least one point is
/// reported.
pub fn touching(
    a: &Placed<'_>,
    b: &Placed<'_>,
    closest: &Closest,
    tolerance: f64,
    report: &mut dyn FnMut(TouchingPoint),
) {
    let mut one = TouchingPoint {
        point: closest.middle(),
        gap: closest.gap,
        corner: CornerOf::Neither,
    };
    let corners = |p: &Placed<'_>| matches!(p.part.core, Core::Vertices(_) | Core::Cylinder(_));
    if !corners(a) || !corners(b) {
        return report(one);
    }
    let n = closest.normal;
    let origin = closest.middle();
    let over = Face::new(a, &n, &origin, 1.0, tolerance);
    let under = Face::new(b, &n, &origin, -1.0, tolerance);
    let points = match (over.corners.len(), under.corners.len()) {
        (2.., 2..) if over.disc.or(under.disc).is_some() => over.common(&under, tolerance),
        (0 | 1, _) => {
            one.corner = CornerOf::First;
            return report(one);
        }
        (_, 0 | 1) => {
            one.corner = CornerOf::Second;
            return report(one);
        }
        (2, 2) => cross(&over.corners, &under.corners),
        (_, 2) => clip(under.corners.clone(), &over.corners, tolerance),
        (_, _) => clip(over.corners.clone(), &under.corners, tolerance),
    };
    if points.is_empty() {
        return report(one);
    }
    let [t1, t2] = tangents(&n);
    let mut known = Polygon::new();
    for at in points {
        if known
            .iter()
            .any(|k| (k - at).norm() <= SAME_POINT * tolerance)
        {
            continue;
        }
        known.push(at);
        let (high, low) = (over.height_at(&at), under.height_at(&at));
        let is_corner = |face: &Face| face.corners.iter().any(|c| (c - at).norm() <= tolerance);
        let corner = if is_corner(&over) {
            CornerOf::First
        } else if is_corner(&under) {
            CornerOf::Second
        } else {
            CornerOf::Neither
        };
        report(TouchingPoint {
            corner,
            point: origin + t1 * at.x + t2 * at.y + n * (0.5 * (high + low)),
            gap: high - low,
        });
    }
}

/// Returns how far apart the faces of two bodies lie across a normal (m), and a point of both, half way between them: the middle of
/// their common points. Faces reach up to the rounding of the bodies.
pub(super) fn common_point(
    a: &Placed<'_>,
    b: &Placed<'_>,
    n: &Vector3<f64>,
) -> (f64, Vector3<f64>) {
    let size = a.part.bounding_radius() + b.part.bounding_radius();
    let tolerance = NEARLY_EQUAL * size;
    let origin = (a.position + b.position) * 0.5;
    let over = Face::new(a, n, &origin, 1.0, tolerance);
    let under = Face::new(b, n, &origin, -1.0, tolerance);
    let points = match (over.corners.len(), under.corners.len()) {
        (2.., 2..) if over.disc.or(under.disc).is_some() => over.common(&under, tolerance),
        (1, _) => over.corners.clone(),
        (_, 1) => under.corners.clone(),
        (2, 2) => cross(&over.corners, &under.corners),
        (_, 2) => clip(under.corners.clone(), &over.corners, tolerance),
        (_, _) => clip(over.corners.clone(), &under.corners, tolerance),
    };
    let mean = points.iter().sum::<Vector2<f64>>() / points.len().max(1) as f64;
    let apart = if points.is_empty() {
        f64::INFINITY
    } else {
        over.distance(&mean).max(under.distance(&mean))
    };
    let [t1, t2] = tangents(n);
    let height = 0.5 * (over.height_at(&mean) + under.height_at(&mean));
    (apart, origin + t1 * mean.x + t2 * mean.y + n * height)
}
