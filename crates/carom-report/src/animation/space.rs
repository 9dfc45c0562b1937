//! Bodies, planes and impulses of an animation in three dimensions.

use super::{all_finite, extent, rounded};
use crate::record::Color;
use serde::{Deserialize, Serialize};

/// Name of the pose lists of a fixed body, which may have one entry instead of one per frame.
pub(super) const FIXED: &str = "a fixed body's pose";

/// Significant digits of an impulse in an animation.
const IMPULSE_DIGITS: i32 = 4;

/// Plane in an animation in space, in addition to the ground. The plane is drawn as the edges of a rectangle around the motion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wall {
    /// Name; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Normal vector, pointing out of the solid side.
    pub normal: [f64; 3],
    /// Offset of the plane (m): the solid side is where `normal . z + offset <= 0`.
    pub offset: f64,
}

impl Wall {
    pub(super) fn is_finite(&self) -> bool {
        all_finite(&self.normal) && self.offset.is_finite()
    }
}

/// Impulse at a contact point in an animation in space, shown at its time as a flash and an arrow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointImpulse {
    /// Clock value of the impact.
    pub time: f64,
    /// Contact point (m); in the plane its third coordinate is 0.
    pub point: [f64; 3],
    /// Impulse on one of the two bodies; the other body receives the opposite impulse (N s).
    pub impulse: [f64; 3],
}

impl PointImpulse {
    /// Returns the magnitude of the impulse at the contact point (N s).
    #[must_use]
    pub fn size(&self) -> f64 {
        self.impulse.iter().fold(0.0, |size: f64, x| size.hypot(*x))
    }

    pub(super) fn is_finite(&self) -> bool {
        self.time.is_finite() && all_finite(&self.point) && all_finite(&self.impulse)
    }

    /// Rounds the contact point to `lengths` digits after the decimal point, and each component of the impulse to four
    /// significant digits of the impulse's magnitude.
    pub(super) fn round(&mut self, lengths: i32) {
        let size = self.size();
        for x in &mut self.point {
            *x = rounded(*x, lengths);
        }
        if size > 0.0 {
            // The range of `f64` in powers of ten bounds the cast.
            let decimals = IMPULSE_DIGITS - 1 - size.log10().floor() as i32;
            for x in &mut self.impulse {
                *x = rounded(*x, decimals);
            }
        }
    }
}

/// Rigid body in an animation in space: its solids and its pose in every frame.
///
/// # Examples
///
/// ```
/// use carom_report::animation::{Solid, SpaceBody};
/// use carom_report::record::Color;
/// use std::f64::consts::PI;
/// let ball = Solid::Ellipsoid { semi_axes: [0.1; 3], center: [0.0; 3] };
/// // Half a turn about z and back again: -q is the same attitude as q.
/// let poses = [0.0, PI].map(|angle: f64| ([0.0; 3], [0.0, 0.0, (angle / 2.0).sin(), (angle / 2.0).cos()]));
/// let opposite = ([0.0; 3], [0.0, 0.0, -1.0, 0.0]);
/// let body = SpaceBody::new(vec![ball], Color::Blue, [poses[0], poses[1], opposite]);
/// assert_eq!(body.rotation[2][2], 1.0);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpaceBody {
    /// Name shown for the body; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// True if the body never moves; the lists of its pose then have one entry each.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fixed: bool,
    /// Parts of the body, in body coordinates.
    pub solids: Vec<Solid>,
    /// Color.
    pub color: Color,
    /// Coordinates of the body's origin, one list each for x, y and z (m).
    pub position: [Vec<f64>; 3],
    /// Unit quaternion from body to space, one list each for x, y, z and w; signs change least from frame to frame.
    pub rotation: [Vec<f64>; 4],
}

impl SpaceBody {
    /// Creates a body of an animation in space from its solids and, for every frame, a position and a unit quaternion `[x, y,
    /// z, w]` (body to world).
    ///
    /// The sign of each quaternion is chosen nearest to the previous one.
    pub fn new(
        solids: Vec<Solid>,
        color: Color,
        poses: impl IntoIterator<Item = ([f64; 3], [f64; 4])>,
    ) -> Self {
        let mut body = Self {
            label: String::new(),
            fixed: false,
            solids,
            color,
            position: Default::default(),
            rotation: Default::default(),
        };
        let mut previous = [0.0, 0.0, 0.0, 1.0];
        for (position, quaternion) in poses {
            let along: f64 = previous.iter().zip(&quaternion).map(|(a, b)| a * b).sum();
            previous = quaternion.map(|q| if along < 0.0 { -q } else { q });
            push(&mut body.position, position);
            push(&mut body.rotation, previous);
        }
        body
    }

    /// Creates a body of an animation in space that never moves. `position` and the unit quaternion `rotation`, `[x, y, z, w]`,
    /// map body axes to world axes.
    pub fn fixed(solids: Vec<Solid>, color: Color, position: [f64; 3], rotation: [f64; 4]) -> Self {
        Self {
            fixed: true,
            ..Self::new(solids, color, [(position, rotation)])
        }
    }

    /// Gives the body a name, which the animation shows.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Iterates over the lists of the body's position and orientation in each frame, with their names. All lists of a fixed
    /// body are named [`FIXED`].
    pub(super) fn series(&self) -> impl Iterator<Item = (&'static str, &Vec<f64>)> {
        let named = |moving| if self.fixed { FIXED } else { moving };
        let position = self
            .position
            .iter()
            .map(move |list| (named("position"), list));
        let rotation = self
            .rotation
            .iter()
            .map(move |list| (named("rotation"), list));
        position.chain(rotation)
    }
}

fn push<const N: usize>(columns: &mut [Vec<f64>; N], values: [f64; N]) {
    for (column, value) in columns.iter_mut().zip(values) {
        column.push(value);
    }
}

/// Solid of a body in an animation in space, in the axes of the body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Solid {
    /// An ellipsoid whose axes are parallel to the axes of the body.
    Ellipsoid {
        /// Semi-axes (m).
        semi_axes: [f64; 3],
        /// Center (m).
        center: [f64; 3],
    },
    /// A mesh of triangles, counterclockwise seen from outside.
    Mesh {
        /// Vertices (m).
        vertices: Vec<[f64; 3]>,
        /// Triangles, each as three indices into the vertices.
        triangles: Vec<[usize; 3]>,
    },
}

impl Solid {
    pub(super) fn is_finite(&self) -> bool {
        match self {
            Self::Ellipsoid { semi_axes, center } => all_finite(semi_axes) && all_finite(center),
            Self::Mesh { vertices, .. } => vertices.iter().all(|vertex| all_finite(vertex)),
        }
    }

    pub(super) fn problem(&self) -> Option<String> {
        match self {
            Self::Ellipsoid { semi_axes, .. } => semi_axes
                .iter()
                .any(|a| *a <= 0.0)
                .then(|| format!("ellipsoid with semi-axes {semi_axes:?}")),
            Self::Mesh {
                vertices,
                triangles,
            } => {
                let n = vertices.len();
                let mut outside = triangles.iter().filter(|t| t.iter().any(|i| *i >= n));
                let triangle = outside.next()?;
                Some(format!("triangle {triangle:?} of {n} vertices"))
            }
        }
    }

    pub(super) fn size(&self) -> f64 {
        match self {
            Self::Ellipsoid { semi_axes, .. } => semi_axes
                .iter()
                .fold(0.0, |size, a| f64::max(size, 2.0 * a)),
            Self::Mesh { vertices, .. } => {
                let axis = |k: usize| vertices.iter().filter_map(move |v| v.get(k).copied());
                (0..3)
                    .map(|k| extent(&[&axis(k).collect::<Vec<_>>()]))
                    .fold(0.0, f64::max)
            }
        }
    }

    pub(super) fn round(&mut self, decimals: i32) {
        // Semi-axes are not rounded: they are few, and a rounded one could become 0.
        if let Self::Mesh { vertices, .. } = self {
            for v in vertices.iter_mut().flatten() {
                *v = rounded(*v, decimals);
            }
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
fn is_false(flag: &bool) -> bool {
    !*flag
}
