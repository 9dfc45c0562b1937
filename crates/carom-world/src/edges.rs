//! Contact of an edge with an edge.
//!
//! Edges that cross have one normal, and so have rounded edges that are parallel. Sharp parallel edges have a cone of normals: the
//! contact takes its axis, which turns with the bodies and with their mirror image.

use carom_geometry::pair::{Closest, CornerOf, Placed, TouchingPoint, axis_of_normals};
use carom_variational::State;
use nalgebra::Vector3;
use smallvec::SmallVec;

/// Sine of the angle between two edges below which they count as parallel: the normal at their crossing would rotate by more than
/// a thousand times the rotation of the bodies.
const CROSSING_SINE: f64 = 1e-3;

/// Two edges, one of each body, in the axes of their bodies and on their cores (the parts without their rounding radii).
#[derive(Clone, Debug)]
pub(crate) struct Edges {
    ends: [[Vector3<f64>; 2]; 2],
    /// Unit directions.
    directions: [Vector3<f64>; 2],
}

/// Place of a contact point on edges, in the axes of the bodies and on their cores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum OnEdges {
    /// The crossing of two edges: a point of each (m), and their unit directions. Between two faces that are almost parallel, the
    /// closest points jump from corner to corner when the bodies rotate slightly; the crossing moves continuously.
    Crossing {
        points: [Vector3<f64>; 2],
        directions: [Vector3<f64>; 2],
    },
    /// A corner of the second body (`of_second`) or of the first (m), at an edge of the other that is parallel to its own: a point
    /// of that edge, and its unit direction.
    Along {
        corner: Vector3<f64>,
        edge: [Vector3<f64>; 2],
        of_second: bool,
    },
}

impl Edges {
    /// Returns the edges with which two polytopes touch each other, if they touch with one each. `normal`: direction into the first
    /// body; `tolerance` (m): corners this close to the deepest one count as touching.
    pub(crate) fn touching(
        bodies: [&Placed<'_>; 2],
        states: [&State; 2],
        normal: &Vector3<f64>,
        tolerance: f64,
    ) -> Option<Self> {
        let edge = |k: usize, towards: Vector3<f64>| {
            let mut ends: SmallVec<[Vector3<f64>; 4]> = SmallVec::new();
            bodies[k].features(&towards, tolerance, &mut |p| ends.push(p));
            let core = states[k].rotation.rotate_back(&towards) * bodies[k].margin();
            match ends[..] {
                [from, to] => Some(([from + core, to + core], (to - from).try_normalize(0.0)?)),
                _ => None,
            }
        };
        let ((p, e), (q, f)) = (edge(0, *normal)?, edge(1, -normal)?);
        Some(Self {
            ends: [p, q],
            directions: [e, f],
        })
    }

    fn are_parallel(&self, states: [&State; 2]) -> bool {
        let [e, f] = [0, 1].map(|k: usize| states[k].rotation.rotate(&self.directions[k]));
        !(e.cross(&f).norm() >= CROSSING_SINE)
    }

    /// Replaces the normal of the closest points `at` by the axis of the cone of normals if the edges are sharp and parallel.
    pub(crate) fn choose_normal(
        &self,
        bodies: [&Placed<'_>; 2],
        states: [&State; 2],
        at: &mut Closest,
    ) {
        let is_sharp = bodies[0].margin() + bodies[1].margin() == 0.0;
        if !is_sharp || !self.are_parallel(states) {
            return;
        }
        let direction = states[0].rotation.rotate(&self.directions[0]);
        if let Some(normal) = axis_of_normals(bodies[0], bodies[1], &at.middle(), &direction) {
            at.normal = normal;
            at.gap = normal.dot(&(at.point_a - at.point_b));
        }
    }

    /// Returns the place of a touching point on the edges; `None` if it is at neither end of parallel edges.
    pub(crate) fn place(&self, states: [&State; 2], at: &TouchingPoint) -> Option<OnEdges> {
        if !self.are_parallel(states) {
            return Some(OnEdges::Crossing {
                points: [self.ends[0][0], self.ends[1][0]],
                directions: self.directions,
            });
        }
        let (owner, other) = match at.corner {
            CornerOf::First => (0, 1),
            CornerOf::Second => (1, 0),
            _ => return None,
        };
        let state = states[owner];
        let place = state.rotation.rotate_back(&(at.point - state.position));
        let [from, to] = self.ends[owner];
        let is_nearer = (from - place).norm_squared() <= (to - place).norm_squared();
        Some(OnEdges::Along {
            corner: if is_nearer { from } else { to },
            edge: [self.ends[other][0], self.directions[other]],
            of_second: owner == 1,
        })
    }
}

impl OnEdges {
    /// Returns the point of the core of each body at its new state (m), and the normal, which was `before`. `None` for edges that
    /// do not cross any more.
    pub(crate) fn moved(
        &self,
        parts: [&Placed<'_>; 2],
        states: [&State; 2],
        before: &Vector3<f64>,
    ) -> Option<([Vector3<f64>; 2], Vector3<f64>)> {
        let at = |k: usize, v: &Vector3<f64>| states[k].position + states[k].rotation.rotate(v);
        let turned = |k: usize, v: &Vector3<f64>| states[k].rotation.rotate(v);
        match self {
            Self::Crossing {
                points: [p, q],
                directions,
            } => {
                let [e, f] = [turned(0, &directions[0]), turned(1, &directions[1])];
                let across = e.cross(&f);
                let sine = across.norm();
                if !(sine >= CROSSING_SINE) {
                    return None;
                }
                let apart = states[0].position - states[1].position;
                let between = apart + (turned(0, p) - turned(1, q));
                let (cosine, squared) = (e.dot(&f), sine * sine);
                let [on_e, on_f] = [e.dot(&between), f.dot(&between)];
                // Parameters of the closest points of two lines.
                let places = [
                    (cosine * on_f - on_e) / squared,
                    (on_f - cosine * on_e) / squared,
                ];
                let normal = across * f64::copysign(1.0 / sine, across.dot(before));
                Some(([at(0, p) + e * places[0], at(1, q) + f * places[1]], normal))
            }
            Self::Along {
                corner,
                edge: [point, direction],
                of_second,
            } => {
                let (owner, other) = if *of_second { (1, 0) } else { (0, 1) };
                let (corner, foot) = (at(owner, corner), at(other, point));
                let direction = turned(other, direction);
                let foot = foot + direction * direction.dot(&(corner - foot));
                let points = if *of_second {
                    [foot, corner]
                } else {
                    [corner, foot]
                };
                let normal = if parts[0].margin() + parts[1].margin() > 0.0 {
                    let normal = (points[0] - points[1]).try_normalize(0.0)?;
                    normal * f64::copysign(1.0, normal.dot(before))
                } else {
                    axis_of_normals(parts[0], parts[1], &corner, &direction)?
                };
                Some((points, normal))
            }
        }
    }

    /// Body whose corner the place is.
    pub(crate) fn corner(&self) -> CornerOf {
        match self {
            Self::Crossing { .. } => CornerOf::Neither,
            Self::Along {
                of_second: true, ..
            } => CornerOf::Second,
            Self::Along { .. } => CornerOf::First,
        }
    }
}
