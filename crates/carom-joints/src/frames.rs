//! Joint frames in bodies, and the constraint rows of forces and couples between two bodies.

use carom_lie::So3;
use carom_variational::State;
use nalgebra::{Matrix3, Vector3, Vector6};

/// Position and attitude of a joint frame: in body axes from the center of mass if the frame is fixed to a body, in world
/// coordinates if it is fixed to the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Frame {
    /// Position of the frame's origin (m): in body axes from the body's center of mass, or in world coordinates for a frame fixed
    /// to the ground.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub position: Vector3<f64>,
    /// Unit vectors of the frame as columns: in body axes, or in world axes for a frame fixed to the ground.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub axes: Matrix3<f64>,
}

impl Frame {
    /// Returns the joint frame with origin at the body's center of mass and axes along the body axes.
    pub fn identity() -> Self {
        Self {
            position: Vector3::zeros(),
            axes: Matrix3::identity(),
        }
    }
}

/// Joint frame on one of the two bodies of a joint, and the center of mass of that body, both in world coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side {
    /// Center of mass $x$ of the body in world coordinates (m); zero for the ground.
    pub center: Vector3<f64>,
    /// Attitude $R$ of the body, from body axes to world axes; the identity for the ground.
    pub rotation: Matrix3<f64>,
    /// Origin $p = x + Ra$ of the joint frame in world coordinates (m); $a$ is the origin from the center of mass in body axes.
    pub origin: Vector3<f64>,
    /// Unit vectors $C = RA$ of the joint frame as columns, in world axes; the columns of $A$ are these vectors in body axes.
    pub axes: Matrix3<f64>,
}

impl Side {
    /// Computes a joint frame in world coordinates. `frame` is the position and attitude of the joint frame in the body, and
    /// `state` the state of the body, or `None` if the joint frame is fixed to the ground.
    pub fn new(frame: &Frame, state: Option<&State>) -> Self {
        match state {
            None => Self {
                center: Vector3::zeros(),
                rotation: Matrix3::identity(),
                origin: frame.position,
                axes: frame.axes,
            },
            Some(state) => {
                let rotation = state.rotation.matrix();
                Self {
                    center: state.position,
                    rotation,
                    origin: state.position + rotation * frame.position,
                    axes: rotation * frame.axes,
                }
            }
        }
    }

    /// Returns the unit vector of the frame's axis `k` in space; 0, 1, 2 for x, y, z.
    #[inline]
    pub fn axis(&self, k: usize) -> Vector3<f64> {
        self.axes.column(k).into_owned()
    }
}

/// The two frames of a joint in space: frame 1 is fixed to the parent body, frame 2 to the child.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frames {
    /// Joint frame on the parent body.
    pub parent: Side,
    /// Joint frame on the child body.
    pub child: Side,
}

impl Frames {
    /// Returns the vector from the origin of the parent's joint frame to the origin of the child's, in space (m).
    #[inline]
    pub fn separation(&self) -> Vector3<f64> {
        self.child.origin - self.parent.origin
    }

    /// Returns the rotation matrix of the child's joint frame relative to the parent's, $D = C_1^TC_2$ with the rotation
    /// matrices $C_1$, $C_2$ of the parent's and the child's frame in space.
    pub fn relative(&self) -> Matrix3<f64> {
        self.parent.axes.transpose() * self.child.axes
    }
}

/// Row of the Jacobian of a joint condition or joint coordinate: a linear function of the velocities $(\dot x_1, \Omega_1,
/// \dot x_2, \Omega_2)$ of the joint's parent (1) and child (2). $\dot x$ is the velocity of the center of mass in space,
/// $\Omega$ the angular velocity in body axes. A unit multiplier acts on the child with `force` at the origin of the child's
/// frame and with `couple`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Entries for the velocity of the parent: center of mass (space), then angular velocity (body axes).
    pub parent: Vector6<f64>,
    /// Entries for the velocity of the child: center of mass (space), then angular velocity (body axes).
    pub child: Vector6<f64>,
    /// Force on the child for a unit multiplier, in world axes.
    pub force: Vector3<f64>,
    /// Couple on the child for a unit multiplier, in world axes.
    pub couple: Vector3<f64>,
}

impl Row {
    /// Returns a Jacobian row with all entries zero.
    pub fn zeros() -> Self {
        Self {
            parent: Vector6::zeros(),
            child: Vector6::zeros(),
            force: Vector3::zeros(),
            couple: Vector3::zeros(),
        }
    }

    /// Returns the Jacobian row of a force along the vector `force` (world axes). The force acts on the child at the origin of
    /// the child's joint frame; the reaction acts on the parent at the origin of the parent's joint frame. The row times the
    /// velocities is the velocity of the child's origin relative to the parent's along `force`.
    pub fn force(frames: &Frames, force: Vector3<f64>) -> Self {
        Self::between(frames, force, &frames.parent.origin)
    }

    /// Returns the Jacobian row of a force along the vector `force` (world axes), which is fixed in the parent. The force acts
    /// on the child at the origin of the child's joint frame. The reaction acts on the parent at the same point of space, not
    /// at the origin of the parent's joint frame.
    pub fn sliding_force(frames: &Frames, force: Vector3<f64>) -> Self {
        Self::between(frames, force, &frames.child.origin)
    }

    fn between(frames: &Frames, force: Vector3<f64>, on_parent: &Vector3<f64>) -> Self {
        let side = |side: &Side, place: &Vector3<f64>| {
            let moment = side.rotation.tr_mul(&(place - side.center).cross(&force));
            stack(&force, &moment)
        };
        Self {
            parent: -side(&frames.parent, on_parent),
            child: side(&frames.child, &frames.child.origin),
            force,
            couple: Vector3::zeros(),
        }
    }

    /// Returns the Jacobian row of a couple about the vector `couple` (world axes). The couple acts on the child, and the
    /// opposite couple on the parent.
    pub fn couple(frames: &Frames, couple: Vector3<f64>) -> Self {
        let zero = Vector3::zeros();
        Self {
            parent: -stack(&zero, &frames.parent.rotation.tr_mul(&couple)),
            child: stack(&zero, &frames.child.rotation.tr_mul(&couple)),
            force: zero,
            couple,
        }
    }

    /// Returns this Jacobian row with a further couple about the vector `couple` (world axes), which acts on the child, and the
    /// opposite couple on the parent.
    pub fn with_couple(mut self, frames: &Frames, couple: Vector3<f64>) -> Self {
        let more = Self::couple(frames, couple);
        self.parent += more.parent;
        self.child += more.child;
        self.couple += couple;
        self
    }

    /// Returns the rate of this Jacobian row, its product with the velocities of parent and child: each the velocity of the
    /// center of mass in space, then the angular velocity in body axes.
    #[inline]
    pub fn rate(&self, parent: &Vector6<f64>, child: &Vector6<f64>) -> f64 {
        self.parent.dot(parent) + self.child.dot(child)
    }
}

/// Combines a 3-vector in space (force or velocity) and a 3-vector in body axes (moment or angular velocity) into one
/// 6-vector, in this order.
#[inline]
pub fn stack(linear: &Vector3<f64>, angular: &Vector3<f64>) -> Vector6<f64> {
    Vector6::new(
        linear.x, linear.y, linear.z, angular.x, angular.y, angular.z,
    )
}

/// Returns the angle (rad), in (−π, π\], of the rotation matrix `turned`. The unit vector `axis` is its known rotation axis.
pub(crate) fn angle_about(axis: &Vector3<f64>, turned: &Matrix3<f64>) -> f64 {
    let twice_sine = Vector3::new(
        turned.m32 - turned.m23,
        turned.m13 - turned.m31,
        turned.m21 - turned.m12,
    );
    libm::atan2(axis.dot(&twice_sine), turned.trace() - 1.0)
}

/// Returns the rotation matrix for an angle (rad) about a unit axis.
pub(crate) fn turn(axis: &Vector3<f64>, angle: f64) -> Matrix3<f64> {
    So3::exp(&(axis * angle)).matrix()
}
