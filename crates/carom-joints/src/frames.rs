//! Joint frames in bodies, and the constraint rows of forces and couples between two bodies.

use carom_lie::So3;
use carom_variational::State;
use nalgebra::{Matrix3, Vector3, Vector6};

/// A frame fixed in a body, or in space for the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Position of the origin relative to the center of mass, in body axes (m).
    pub position: Vector3<f64>,
    /// Axes of the frame as columns, in body axes.
    pub axes: Matrix3<f64>,
}

impl Frame {
    /// Frame at the center of mass along the body axes.
    pub fn identity() -> Self {
        Self {
            position: Vector3::zeros(),
            axes: Matrix3::identity(),
        }
    }
}

/// One body of a joint in space, with its joint frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side {
    /// Center of mass $x$ (m).
    pub center: Vector3<f64>,
    /// Attitude $R$, body to space.
    pub rotation: Matrix3<f64>,
    /// Origin $p = x + Ra$ of the frame (m), with $a$ the origin in body axes.
    pub origin: Vector3<f64>,
    /// Axes $C = RA$ of the frame as columns, with $A$ the axes in body axes.
    pub axes: Matrix3<f64>,
}

impl Side {
    /// Places a joint frame in space, for a body at a state; `None` is the ground.
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

    /// Axis $c_k$ of the frame in space.
    #[inline]
    pub fn axis(&self, k: usize) -> Vector3<f64> {
        self.axes.column(k).into_owned()
    }
}

/// Both frames of a joint in space: 1 is the parent's, 2 the child's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frames {
    /// Frame of the parent.
    pub parent: Side,
    /// Frame of the child.
    pub child: Side,
}

impl Frames {
    /// Returns the separation $p_2 - p_1$ of the origins in space (m).
    #[inline]
    pub fn separation(&self) -> Vector3<f64> {
        self.child.origin - self.parent.origin
    }

    /// Returns the relative attitude $D = C_1^TC_2$.
    pub fn relative(&self) -> Matrix3<f64> {
        self.parent.axes.transpose() * self.child.axes
    }
}

/// One row of a joint condition or coordinate rate. It acts on the velocities $(\dot x_1, \Omega_1, \dot x_2, \Omega_2)$ of
/// parent and child: velocities of the centers in space, angular velocities in body axes. A unit multiplier acts on the child
/// with `force` at the child's origin and with `couple`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Entries for the velocity of the parent.
    pub parent: Vector6<f64>,
    /// Entries for the velocity of the child.
    pub child: Vector6<f64>,
    /// Force on the child for a unit multiplier, in space.
    pub force: Vector3<f64>,
    /// Couple on the child for a unit multiplier, in space.
    pub couple: Vector3<f64>,
}

impl Row {
    /// Row with all entries zero.
    pub fn zeros() -> Self {
        Self {
            parent: Vector6::zeros(),
            child: Vector6::zeros(),
            force: Vector3::zeros(),
            couple: Vector3::zeros(),
        }
    }

    /// Row of a force on the child at the child's origin, with the reaction on the parent at the parent's origin.
    pub fn force(frames: &Frames, force: Vector3<f64>) -> Self {
        Self::between(frames, force, &frames.parent.origin)
    }

    /// Row of a force on the child at the child's origin, with the reaction on the parent at the same point of space.
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

    /// Row of a couple on the child, with the reaction on the parent.
    pub fn couple(frames: &Frames, couple: Vector3<f64>) -> Self {
        let zero = Vector3::zeros();
        Self {
            parent: -stack(&zero, &frames.parent.rotation.tr_mul(&couple)),
            child: stack(&zero, &frames.child.rotation.tr_mul(&couple)),
            force: zero,
            couple,
        }
    }

    /// Returns the rate of the row at given velocities of parent and child.
    #[inline]
    pub fn rate(&self, parent: &Vector6<f64>, child: &Vector6<f64>) -> f64 {
        self.parent.dot(parent) + self.child.dot(child)
    }
}

/// Combines a force or velocity in space and a moment or angular velocity in body axes into one vector.
#[inline]
pub fn stack(linear: &Vector3<f64>, angular: &Vector3<f64>) -> Vector6<f64> {
    Vector6::new(
        linear.x, linear.y, linear.z, angular.x, angular.y, angular.z,
    )
}

/// Returns the angle of a rotation about its known unit axis (rad), in (−π, π\].
pub(crate) fn angle_about(axis: &Vector3<f64>, turned: &Matrix3<f64>) -> f64 {
    let twice_sine = Vector3::new(
        turned.m32 - turned.m23,
        turned.m13 - turned.m31,
        turned.m21 - turned.m12,
    );
    libm::atan2(axis.dot(&twice_sine), turned.trace() - 1.0)
}

/// Returns the rotation by an angle (rad) about a unit axis.
pub(crate) fn turn(axis: &Vector3<f64>, angle: f64) -> Matrix3<f64> {
    So3::exp(&(axis * angle)).matrix()
}
