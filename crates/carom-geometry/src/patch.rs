//! Contact sets of a body with a plane: a point, an edge or a face.

use crate::SupportMap;
use crate::tolerances::NEARLY_EQUAL;
use nalgebra::Vector3;

/// Kind of a contact patch between a body and a plane: point, edge or face, by the dimension that the touching
/// points span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchKind {
    /// A single point.
    Point,
    /// Points on a line.
    Edge,
    /// Points that span a plane.
    Face,
}

impl PatchKind {
    /// Returns the identifier of the kind of contact patch in records: `point`, `edge` or `face`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Point => "point",
            Self::Edge => "edge",
            Self::Face => "face",
        }
    }
}

/// Contact patch of a body on a plane: the lowest points of the body along the normal of the plane, up to a tolerance.
///
/// For a polytope these are the vertices of the touching face. A smooth strictly convex body always touches at
/// a single point.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactPatch {
    /// Kind of the patch.
    pub kind: PatchKind,
    /// The points, in the body frame (m): at least one, without duplicates.
    pub points_b: Vec<Vector3<f64>>,
    /// Normal of the plane in the body frame, $d = R^Tn$.
    pub normal_b: Vector3<f64>,
}

pub(crate) fn patch<S: SupportMap + ?Sized>(
    shape: &S,
    normal_b: Vector3<f64>,
    tolerance: f64,
) -> ContactPatch {
    let lowest = shape.support(&normal_b);
    let mut points_b = Vec::new();
    let bound = lowest.value + tolerance * normal_b.norm();
    shape.points_below(&normal_b, bound, &mut |point| {
        let known = points_b
            .iter()
            .any(|p: &Vector3<f64>| (p - point).norm() <= tolerance);
        if !known {
            points_b.push(point);
        }
    });
    if points_b.is_empty() {
        points_b.push(lowest.point);
    }
    let kind = kind(&points_b);
    ContactPatch {
        kind,
        points_b,
        normal_b,
    }
}

fn kind(points: &[Vector3<f64>]) -> PatchKind {
    let [first, rest @ ..] = points else {
        return PatchKind::Point;
    };
    let Some(axis) = rest
        .iter()
        .map(|p| p - first)
        .max_by(|a, b| a.norm_squared().total_cmp(&b.norm_squared()))
    else {
        return PatchKind::Point;
    };
    let off_axis = |p: &Vector3<f64>| {
        let arm = p - first;
        arm.cross(&axis).norm() > NEARLY_EQUAL * axis.norm_squared()
    };
    if rest.iter().any(off_axis) {
        PatchKind::Face
    } else {
        PatchKind::Edge
    }
}
