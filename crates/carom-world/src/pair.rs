//! Gap and contact points of a body with another body or a plane.

use crate::body::{Body, PlaneSpec, Velocity};
use crate::edges::{Edges, OnEdges};
use crate::rows::Running;
use carom_geometry::pair::{CornerOf, Memory, Placed, TouchingPoint, closest, touching};
use carom_variational::State;
use nalgebra::Vector3;
use smallvec::SmallVec;

/// Second member of a pair: a body or a plane.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Other<'a> {
    Body(&'a Body),
    Plane(&'a PlaneSpec),
}

/// A slab between two convex parts: its normal proves that they are separated by `gap`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slab {
    pub(crate) part: usize,
    pub(crate) other: usize,
    pub(crate) normal: Vector3<f64>,
    pub(crate) gap: f64,
}

/// Gap of a pair at one configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairGap {
    pub(crate) value: f64,
    pub(crate) normal: Vector3<f64>,
    /// Closest points of the first and the second member, in space (m).
    pub(crate) points: [Vector3<f64>; 2],
    /// One slab for each pair of convex parts.
    pub(crate) slabs: SmallVec<[Slab; 1]>,
}

/// Warm-start data of the gap computation, one entry per pair of convex parts.
pub(crate) type PairMemory = SmallVec<[Memory; 1]>;

/// Rule that moves a contact point along while the bodies move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Follow {
    /// The point where the parts are closest.
    Closest,
    /// A corner of the first body above a plane, in body axes (m).
    Corner(Vector3<f64>),
    /// The lowest point of a rim of the first body, a cylinder; the value identifies the end of the axis with the rim.
    Rim(f64),
    /// A fixed point of each core, in body axes; the normal is that of a face of the second body (`of_second`) or of the first.
    /// The point moves with the body whose `corner` it is.
    OnFace {
        points: [Vector3<f64>; 2],
        normal_b: Vector3<f64>,
        of_second: bool,
        corner: CornerOf,
    },
    /// The point of a rim of one body, a cylinder, that is lowest above a face of the other. The value identifies the end of the axis
    /// with the rim; `face` and `normal_b` are a point and the normal of the face in the axes of its body, which is the second if
    /// `of_second`.
    RimOnFace {
        end: f64,
        face: Vector3<f64>,
        normal_b: Vector3<f64>,
        of_second: bool,
    },
    /// A place on an edge of each body.
    OnEdges(OnEdges),
}

/// A point in which a pair touches, in space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ContactPoint {
    pub(crate) point: Vector3<f64>,
    /// Unit normal, from the second member into the first.
    pub(crate) normal: Vector3<f64>,
    pub(crate) gap: f64,
    /// Indices of the convex parts of the first and second member.
    pub(crate) parts: [usize; 2],
    pub(crate) follow: Follow,
}

/// Sorts contact points so that each follows the mark that it is closest to: a point is the same as one of the step before
/// wherever the search for points has found it first. `place` gives the place of a point (m), in the frame of the `marks`.
pub(crate) fn in_order<'m>(
    points: &mut [ContactPoint],
    place: impl Fn(&ContactPoint) -> Vector3<f64>,
    marks: impl Iterator<Item = &'m Vector3<f64>>,
) {
    for (next, mark) in marks.enumerate() {
        let distance = |point: &ContactPoint| (place(point) - mark).norm_squared();
        let Some(rest) = points.get_mut(next..) else {
            return;
        };
        let all = rest.iter().enumerate();
        let nearest = all.min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
        if let Some((nearest, _)) = nearest {
            rest.swap(0, nearest);
        }
    }
}

impl ContactPoint {
    /// Returns the contact point after its two bodies have moved to the states `state` and `other_state`: position, normal and
    /// gap. The point stays on the same feature of the bodies, such as a corner or the crossing of two edges.
    pub(crate) fn moved(
        &self,
        body: &Body,
        state: &State,
        other: &Other<'_>,
        other_state: &State,
    ) -> Self {
        let Some(part) = body.parts.get(self.parts[0]) else {
            return *self;
        };
        match (other, self.follow) {
            (Other::Plane(plane), follow) => {
                let normal = *plane.half_space.normal();
                let core = match follow {
                    Follow::Corner(core) => core,
                    Follow::Rim(end) => {
                        part.lowest_of_rim(end, &state.rotation.rotate_back(&normal))
                    }
                    _ => part.lowest(&state.rotation.rotate_back(&normal)),
                };
                let arm = state.rotation.rotate(&core);
                let height = plane.half_space.height(&state.position);
                Self {
                    point: state.position + arm - normal * part.margin(),
                    gap: height + normal.dot(&arm) - part.margin(),
                    normal,
                    ..*self
                }
            }
            (Other::Body(second), _) => {
                let Some(counterpart) = second.parts.get(self.parts[1]) else {
                    return *self;
                };
                let (here, there) = (state.configuration(), other_state.configuration());
                let (a, b) = (Placed::new(part, &here), Placed::new(counterpart, &there));
                if let Some(moved) = self.on_face_or_edges([&a, &b], [state, other_state]) {
                    return moved;
                }
                let mut memory = Memory::starting(self.normal);
                let found = closest(&a, &b, &mut memory);
                Self {
                    point: found.middle(),
                    gap: found.gap,
                    normal: found.normal,
                    ..*self
                }
            }
        }
    }
}

impl ContactPoint {
    /// Returns the contact point on the surface of the plane or of the second body `other`, or on the face of the first body if
    /// that gives the normal. Points of one face then lie in one plane to rounding, whatever their gaps within the tolerance are:
    /// rows that depend on each other in the touching position do so in the problem of an impact, too.
    pub(crate) fn on_face(&self, other: &Other<'_>) -> Self {
        let share = match (other, self.follow) {
            (Other::Plane(_), _) => 1.0,
            (
                _,
                Follow::OnFace {
                    of_second: false, ..
                },
            ) => -0.5,
            _ => 0.5,
        };
        Self {
            point: self.point - self.normal * (share * self.gap),
            ..*self
        }
    }

    /// Takes over place and normal of a point among `others` of the same moving body, if both are equal within the tolerances `place`
    /// (m) and `turn`: at the seam of two fixed bodies, rows that differ by rounding would contradict each other.
    pub(crate) fn join<'o>(
        &mut self,
        mut others: impl Iterator<Item = &'o Self>,
        place: f64,
        turn: f64,
    ) {
        let is_same = |other: &&Self| {
            (other.point - self.point).norm() <= place
                && (other.normal - self.normal).norm() <= turn
        };
        if let Some(same) = others.find(is_same) {
            (self.point, self.normal) = (same.point, same.normal);
        }
    }

    /// Returns the contact point at the new states of its two bodies if it lies on a face or on edges. `None` for other contact
    /// points, and for edges that do not cross any more.
    fn on_face_or_edges(&self, parts: [&Placed<'_>; 2], states: [&State; 2]) -> Option<Self> {
        let ([first, second], normal, corner) = match &self.follow {
            Follow::OnFace {
                points: [p, q],
                normal_b,
                of_second,
                corner,
            } => {
                let at =
                    |k: usize, v: &Vector3<f64>| states[k].position + states[k].rotation.rotate(v);
                let owner = states[usize::from(*of_second)];
                (
                    [at(0, p), at(1, q)],
                    owner.rotation.rotate(normal_b),
                    *corner,
                )
            }
            Follow::RimOnFace {
                end,
                face,
                normal_b,
                of_second,
            } => {
                let (owner, other) = (usize::from(*of_second), usize::from(!*of_second));
                let at =
                    |k: usize, v: &Vector3<f64>| states[k].position + states[k].rotation.rotate(v);
                let normal = states[owner].rotation.rotate(normal_b);
                let down = if *of_second { normal } else { -normal };
                let rim = parts[other]
                    .part()
                    .lowest_of_rim(*end, &states[other].rotation.rotate_back(&down));
                let (rim, on_face) = (at(other, &rim), at(owner, face));
                let foot = rim - normal * normal.dot(&(rim - on_face));
                let points = if *of_second { [rim, foot] } else { [foot, rim] };
                let corner = if *of_second {
                    CornerOf::First
                } else {
                    CornerOf::Second
                };
                (points, normal, corner)
            }
            Follow::OnEdges(place) => {
                let (points, normal) = place.moved(parts, states, &self.normal)?;
                (points, normal, place.corner())
            }
            _ => return None,
        };
        let margins = parts.map(Placed::margin);
        let here = first - normal * margins[0];
        let there = second + normal * margins[1];
        let gap = normal.dot(&(first - second)) - margins[0] - margins[1];
        let point = match corner {
            CornerOf::First => here - normal * (0.5 * gap),
            CornerOf::Second => there + normal * (0.5 * gap),
            _ => (here + there) * 0.5,
        };
        Some(Self {
            point,
            gap,
            normal,
            ..*self
        })
    }
}

impl Other<'_> {
    /// Returns the velocity at a point in space (m) of a surface that runs, or of a body that is told its motion and is in `state`.
    pub(crate) fn running(&self, state: &State, point: &Vector3<f64>) -> Running {
        let (velocity, pushes) = match self {
            Self::Body(body) if body.is_prescribed() => {
                let arm = state.rotation.rotate_back(&(point - state.position));
                (Velocity::of(body, state).at(&state.rotation, &arm), true)
            }
            Self::Body(body) => (body.running, false),
            Self::Plane(plane) => (plane.surface_velocity, false),
        };
        Running { velocity, pushes }
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Body(body) => &body.name,
            Self::Plane(plane) => &plane.name,
        }
    }
}

/// Returns true if the gap of a pair has a closed form: two spheres, or a sphere and a plane, with the centers of mass at the
/// centers of the spheres.
pub(crate) fn has_closed_form(body: &Body, other: &Other<'_>) -> bool {
    body.sphere.is_some()
        && match other {
            Other::Plane(_) => true,
            Other::Body(second) => second.sphere.is_some(),
        }
}

/// Returns the contact point of two spheres, or of a sphere and a plane, from its closed form; `None` for other pairs.
pub(crate) fn touch_of_spheres(
    body: &Body,
    state: &State,
    other: &Other<'_>,
    other_state: &State,
) -> Option<ContactPoint> {
    let radius = body.sphere?;
    let (normal, gap) = match other {
        Other::Plane(plane) => {
            let height = plane.half_space.height(&state.position);
            (*plane.half_space.normal(), height - radius)
        }
        Other::Body(second) => {
            let sum = radius + second.sphere?;
            let apart = state.position - other_state.position;
            let distance = apart.norm();
            let normal = if distance > 0.0 {
                apart / distance
            } else {
                Vector3::z()
            };
            (normal, distance - sum)
        }
    };
    let share = match other {
        Other::Plane(_) => 0.0,
        Other::Body(_) => 0.5,
    };
    Some(ContactPoint {
        point: state.position - normal * (radius + share * gap),
        normal,
        gap,
        parts: [0, 0],
        follow: Follow::Closest,
    })
}

/// Computes the gap between a body and another body or plane: its value (m), normal, and closest points. `memory` is warm-start
/// data that makes the next call faster.
pub(crate) fn gap(
    body: &Body,
    state: &State,
    other: &Other<'_>,
    other_state: &State,
    memory: &mut PairMemory,
) -> PairGap {
    let mut best = PairGap {
        value: f64::INFINITY,
        ..PairGap::default()
    };
    match other {
        Other::Plane(plane) => {
            let gap = plane.half_space.gap(&body.shape, &state.configuration());
            let normal = *plane.half_space.normal();
            let point = state.position + state.rotation.rotate(&gap.point_b);
            best.value = gap.value;
            best.normal = normal;
            best.points = [point, point - normal * gap.value];
            best.slabs.push(Slab {
                part: 0,
                other: 0,
                normal,
                gap: gap.value,
            });
        }
        Other::Body(second) => {
            memory.resize_with(body.parts.len() * second.parts.len(), Memory::default);
            let (here, there) = (state.configuration(), other_state.configuration());
            let mut memories = memory.iter_mut();
            for (i, part) in body.parts.iter().enumerate() {
                let a = Placed::new(part, &here);
                for (j, counterpart) in second.parts.iter().enumerate() {
                    let Some(memory) = memories.next() else {
                        continue;
                    };
                    let found = closest(&a, &Placed::new(counterpart, &there), memory);
                    best.slabs.push(Slab {
                        part: i,
                        other: j,
                        normal: found.normal,
                        gap: found.gap,
                    });
                    if found.gap < best.value {
                        best.value = found.gap;
                        best.normal = found.normal;
                        best.points = [found.point_a, found.point_b];
                    }
                }
            }
        }
    }
    best
}

/// Appends to `out` all contact points of a pair whose gap is at most `tolerance` (m). `memory` is warm-start data that makes the
/// next call faster.
pub(crate) fn contact_points(
    body: &Body,
    state: &State,
    other: &Other<'_>,
    other_state: &State,
    memory: &mut PairMemory,
    tolerance: f64,
    out: &mut Vec<ContactPoint>,
) {
    if let Some(found) = touch_of_spheres(body, state, other, other_state) {
        if found.gap <= tolerance {
            out.push(found);
        }
        return;
    }
    match other {
        Other::Plane(plane) => {
            plane_points(body, state, plane, tolerance, out);
        }
        Other::Body(second) => {
            let found = gap(body, state, other, other_state, memory);
            let states = [state, other_state];
            let (here, there) = (state.configuration(), other_state.configuration());
            for slab in &found.slabs {
                if slab.gap > tolerance {
                    continue;
                }
                let (Some(a), Some(b)) = (body.parts.get(slab.part), second.parts.get(slab.other))
                else {
                    continue;
                };
                let (a, b) = (Placed::new(a, &here), Placed::new(b, &there));
                let mut start = Memory::default();
                let mut at = match memory.get_mut(slab.part * second.parts.len() + slab.other) {
                    Some(memory) => closest(&a, &b, memory),
                    None => closest(&a, &b, &mut start),
                };
                let both = a.has_corners() && b.has_corners();
                let has_faces =
                    |placed: &Placed<'_>| placed.has_corners() || placed.part().is_cylinder();
                let faces = has_faces(&a) && has_faces(&b);
                let owner = match faces {
                    true if corners(&b, &-at.normal, tolerance) >= 3 => Some(true),
                    true if corners(&a, &at.normal, tolerance) >= 3 => Some(false),
                    _ => None,
                };
                let edges = (both && owner.is_none())
                    .then(|| Edges::touching([&a, &b], states, &at.normal, tolerance))
                    .flatten();
                if let Some(edges) = &edges {
                    edges.choose_normal([&a, &b], states, &mut at);
                }
                let normal = at.normal;
                let known = out.len();
                touching(&a, &b, &at, tolerance, &mut |p| {
                    if p.gap > tolerance {
                        return;
                    }
                    let follow = match owner {
                        None => { edges.as_ref() }
                            .and_then(|edges| edges.place(states, &p))
                            .map_or(Follow::Closest, Follow::OnEdges),
                        Some(of_second) => {
                            Follow::on_face([&a, &b], states, (&p, &normal), of_second, tolerance)
                        }
                    };
                    out.push(ContactPoint {
                        point: p.point,
                        normal,
                        gap: p.gap,
                        parts: [slab.part, slab.other],
                        follow,
                    });
                });
                // A large tolerance takes oblique faces for touching ones, whose common corners are all far apart.
                if out.len() == known {
                    out.push(ContactPoint {
                        point: at.middle(),
                        normal,
                        gap: at.gap,
                        parts: [slab.part, slab.other],
                        follow: Follow::Closest,
                    });
                }
            }
        }
    }
}

/// Number of lowest points of a part along a direction, as far as `tolerance` (m) reaches: three make a face.
fn corners(body: &Placed<'_>, towards: &Vector3<f64>, tolerance: f64) -> usize {
    let mut count = 0;
    body.features(towards, tolerance, &mut |_| count += 1);
    count
}

impl Follow {
    /// Returns the rule for a touching point with its normal on a face of the second part, or of the first unless `of_second`.
    fn on_face(
        parts: [&Placed<'_>; 2],
        states: [&State; 2],
        (p, normal): (&TouchingPoint, &Vector3<f64>),
        of_second: bool,
        tolerance: f64,
    ) -> Self {
        let [high, low] = [(0, 1.0), (1, -1.0)].map(|(k, sign): (usize, f64)| {
            let point = p.point + normal * (sign * (0.5 * p.gap + parts[k].margin()));
            states[k]
                .rotation
                .rotate_back(&(point - states[k].position))
        });
        let points = [high, low];
        let (owner, other) = (usize::from(of_second), usize::from(!of_second));
        let normal_b = states[owner].rotation.rotate_back(normal);
        let down = if of_second { *normal } else { -normal };
        match parts[other].part().end_of_rim(&points[other]) {
            Some(end) if corners(parts[other], &down, tolerance) < 3 => Self::RimOnFace {
                end,
                face: points[owner],
                normal_b,
                of_second,
            },
            _ => Self::OnFace {
                points,
                normal_b,
                of_second,
                corner: p.corner,
            },
        }
    }
}

/// Appends to `out` all points of a body whose gap to a plane is at most `tolerance` (m). Of more than four such points only the
/// corners of their convex hull are kept.
fn plane_points(
    body: &Body,
    state: &State,
    plane: &PlaneSpec,
    tolerance: f64,
    out: &mut Vec<ContactPoint>,
) {
    let normal = *plane.half_space.normal();
    let normal_b = state.rotation.rotate_back(&normal);
    let height = plane.half_space.height(&state.position);
    let begin = out.len();
    for (index, part) in body.parts.iter().enumerate() {
        if height + part.support_value(&normal_b) > tolerance {
            continue;
        }
        let mut count = 0;
        part.lowest_features(&normal_b, tolerance, &mut |_| count += 1);
        part.lowest_features(&normal_b, tolerance, &mut |point_b| {
            let gap = height + normal_b.dot(&point_b);
            let point = state.position + state.rotation.rotate(&point_b);
            let near = |p: &ContactPoint| (p.point - point).norm() <= tolerance;
            if gap <= tolerance && !out.iter().skip(begin).any(near) {
                let core = point_b + normal_b * part.margin();
                let follow = match (part.end_of_rim(&core), count) {
                    _ if part.has_corners() => Follow::Corner(core),
                    (Some(end), 2) => Follow::Rim(end),
                    (Some(_), 3..) => Follow::Corner(core),
                    _ => Follow::Closest,
                };
                out.push(ContactPoint {
                    point,
                    normal,
                    gap,
                    parts: [index, 0],
                    follow,
                });
            }
        });
    }
    // The corners of a face are sufficient.
    keep_corners(out, begin, &normal);
}

/// Reduces the contact points from index `begin` on to the corners of their convex hull in the contact plane, if there are more
/// than four. `normal`: normal of the contact plane.
fn keep_corners(out: &mut Vec<ContactPoint>, begin: usize, normal: &Vector3<f64>) {
    let n = out.len() - begin;
    if n <= 4 {
        return;
    }
    let [t1, t2] = carom_geometry::pair::tangents(normal);
    let flat = |p: &ContactPoint| (t1.dot(&p.point), t2.dot(&p.point));
    let mut order: Vec<usize> = (begin..out.len()).collect();
    let key = |i: &usize| out.get(*i).map_or((0.0, 0.0), flat);
    order.sort_by(|i, j| {
        let (a, b) = (key(i), key(j));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let mut hull: Vec<usize> = Vec::new();
    for pass in 0..2 {
        let floor = hull.len() + 1;
        let run: Vec<usize> = match pass {
            0 => order.clone(),
            _ => order.iter().rev().copied().collect(),
        };
        for i in run {
            while let [.., x, y] = hull[..]
                && hull.len() > floor
            {
                let (a, b, c) = (key(&x), key(&y), key(&i));
                if (b.0 - a.0) * (c.1 - b.1) - (b.1 - a.1) * (c.0 - b.0) > 0.0 {
                    break;
                }
                hull.pop();
            }
            hull.push(i);
        }
        hull.pop();
    }
    hull.sort_unstable();
    let kept: Vec<ContactPoint> = hull.iter().filter_map(|i| out.get(*i).copied()).collect();
    out.truncate(begin);
    out.extend(kept);
}

/// Returns the length (m) from which the rounding error of a pair's gap follows: about the largest coordinate of the bodies plus
/// a radius. The error is a small multiple of this length times the machine precision.
pub(crate) fn gap_scale(body: &Body, state: &State, other: &Other<'_>, other_state: &State) -> f64 {
    match other {
        Other::Plane(plane) => plane.half_space.gap_scale(&state.position, body.radius),
        Other::Body(second) => {
            state.position.amax().max(other_state.position.amax()) + body.radius.min(second.radius)
        }
    }
}

/// Returns the radius of the smaller body of a pair (m). Contact tolerances are fractions of it.
pub(crate) fn size(body: &Body, other: &Other<'_>) -> f64 {
    match other {
        Other::Body(second) => body.radius.min(second.radius),
        Other::Plane(_) => body.radius,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::BodySpec;
    use carom_geometry::{Cuboid, Shape};
    use carom_lie::{Se3, So3};

    fn brick(name: &str) -> Body {
        let shape = Shape::Cuboid(Cuboid::new([0.15, 0.2, 0.1]).unwrap());
        Body::new(&BodySpec::new(name, None, shape, Se3::identity())).unwrap()
    }

    fn state(position: Vector3<f64>, turned: Vector3<f64>) -> State {
        State {
            position,
            rotation: So3::exp(&turned),
            linear_momentum: Vector3::zeros(),
            angular_momentum: Vector3::zeros(),
        }
    }

    /// A brick that leans over the edge of another brick by 0.3 mrad touches that at the crossing of two edges. The crossing
    /// stays in place while the lean changes to the other side; the closest points move to another corner.
    #[test]
    fn crossing_edges_do_not_jump() {
        let (upper, lower) = (brick("upper"), brick("lower"));
        let ground = state(Vector3::zeros(), Vector3::zeros());
        let leaning = |turn: f64, height: f64| {
            state(
                Vector3::new(0.15, 0.05, height),
                Vector3::new(turn, 3e-4, 0.0),
            )
        };
        let other = Other::Body(&lower);
        let tolerance = 1e-8;
        let at = |turn: f64| {
            let gap_at = |height: f64| {
                let memory = &mut PairMemory::new();
                gap(&upper, &leaning(turn, height), &other, &ground, memory).value
            };
            leaning(turn, 0.2 - gap_at(0.2))
        };
        let (start, end) = (at(2e-4), at(-2e-4));
        let mut points = Vec::new();
        let memory = &mut PairMemory::new();
        contact_points(
            &upper,
            &start,
            &other,
            &ground,
            memory,
            tolerance,
            &mut points,
        );
        let [point] = points[..] else {
            panic!("one point, not {points:?}")
        };
        assert!(matches!(point.follow, Follow::OnEdges { .. }), "{point:?}");
        let same = point.moved(&upper, &start, &other, &ground);
        assert!((same.point - point.point).norm() <= 1e-9, "{same:?}");
        assert!((same.gap - point.gap).abs() <= 1e-15, "{same:?}");
        assert!((same.normal - point.normal).norm() <= 1e-11, "{same:?}");
        let crossed = point.moved(&upper, &end, &other, &ground);
        assert!((crossed.point - point.point).norm() <= 1e-3, "{crossed:?}");
        let closest = ContactPoint {
            follow: Follow::Closest,
            ..point
        };
        let jumped = closest.moved(&upper, &end, &other, &ground);
        assert!((jumped.point - point.point).norm() >= 0.1, "{jumped:?}");
    }
}
