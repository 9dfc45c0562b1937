//! Positions, angles and velocities of the links of a mechanism.

use super::Inertia;
use super::builder::{Joint, LinkSpec};
use super::vector::{perpendicular, turned};
use nalgebra::Vector2;
use smallvec::SmallVec;

/// Largest number of links for which an evaluation does not allocate.
const INLINE_LINKS: usize = 12;

/// Position and angle of a link's frame, and the motion direction of its joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Vector $(\cos\alpha, \sin\alpha)$ of the angle $\alpha$ from world to frame.
    pub(super) turn: Vector2<f64>,
    pub(super) angle: f64,
    pub(super) origin: Vector2<f64>,
    /// Unit vector of a slider, in world axes.
    pub(super) axis: Vector2<f64>,
    pub(super) is_hinge: bool,
}

impl Frame {
    /// Returns the derivative $\partial x/\partial q$ of a world position $x$ with respect to the coordinate $q$ of this link's
    /// joint. The point $x$ is fixed in this link or in a link farther from the ground. The derivative is $S(x - o)$ for a hinge
    /// at the point $o$, with the rotation $S$ by a quarter turn, and $a$ for a slider along the unit vector $a$.
    #[inline]
    pub(super) fn moves(&self, x: Vector2<f64>) -> Vector2<f64> {
        if self.is_hinge {
            perpendicular(x - self.origin)
        } else {
            self.axis
        }
    }

    /// Returns the derivative of a vector with respect to the coordinate of this link's joint. The vector is fixed in this link
    /// or in a link farther from the ground. The derivative is the vector rotated by a quarter turn for a hinge, and zero for a
    /// slider.
    #[inline]
    pub(super) fn turns(&self, vector: Vector2<f64>) -> Vector2<f64> {
        if self.is_hinge {
            perpendicular(vector)
        } else {
            Vector2::zeros()
        }
    }
}

/// One vector per link.
pub(super) type Vectors = SmallVec<[Vector2<f64>; INLINE_LINKS]>;

pub(super) type Frames = SmallVec<[Frame; INLINE_LINKS]>;

/// Computes position, angle and joint direction of the frames of the first `count` links, for the joint coordinates `q`.
pub(super) fn frames(links: &[LinkSpec], q: &[f64], count: usize) -> Frames {
    let mut frames = Frames::with_capacity(count);
    for (link, &q) in links.iter().zip(q).take(count) {
        let (parent_turn, parent_angle, parent_origin) = match parent(&frames, link) {
            Some(parent) => (parent.turn, parent.angle, parent.origin),
            None => (Vector2::x(), 0.0, Vector2::zeros()),
        };
        let anchor = parent_origin + turned(parent_turn, link.anchor);
        frames.push(match link.joint {
            Joint::Hinge => {
                let angle = parent_angle + (link.angle + q);
                let (sin, cos) = libm::sincos(angle);
                Frame {
                    turn: Vector2::new(cos, sin),
                    angle,
                    origin: anchor,
                    axis: Vector2::zeros(),
                    is_hinge: true,
                }
            }
            Joint::Slider(direction) => {
                let axis = turned(parent_turn, direction);
                Frame {
                    turn: parent_turn,
                    angle: parent_angle,
                    origin: anchor + axis * q,
                    axis,
                    is_hinge: false,
                }
            }
        });
    }
    frames
}

fn parent<'a, T>(done: &'a [T], link: &LinkSpec) -> Option<&'a T> {
    link.parent.and_then(|parent| done.get(parent))
}

/// Velocity of a link's frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Twist {
    /// Velocity of the frame's origin, $\dot o$.
    pub(super) velocity: Vector2<f64>,
    /// Angular velocity $\omega$ of the frame (rad/s).
    pub(super) rate: f64,
}

impl Twist {
    pub(super) const REST: Self = Self {
        velocity: Vector2::new(0.0, 0.0),
        rate: 0.0,
    };

    /// Returns the velocity of a point that is fixed in the link. `arm` is the vector from the origin of the link's frame to the
    /// point, in world axes.
    #[inline]
    pub(super) fn at(&self, arm: Vector2<f64>) -> Vector2<f64> {
        self.velocity + self.rate * perpendicular(arm)
    }
}

pub(super) type Twists = SmallVec<[Twist; INLINE_LINKS]>;

/// Computes the linear and angular velocities of the frames of all links, for the rates `v` of the joint coordinates.
pub(super) fn twists(links: &[LinkSpec], frames: &[Frame], v: &[f64]) -> Twists {
    let mut twists = Twists::with_capacity(links.len());
    for ((link, frame), &v) in links.iter().zip(frames).zip(v) {
        let carried = match (parent(&twists, link), parent(frames, link)) {
            (Some(twist), Some(parent)) => Twist {
                velocity: twist.at(frame.origin - parent.origin),
                rate: twist.rate,
            },
            _ => Twist::REST,
        };
        twists.push(if frame.is_hinge {
            Twist {
                rate: carried.rate + v,
                ..carried
            }
        } else {
            Twist {
                velocity: carried.velocity + frame.axis * v,
                ..carried
            }
        });
    }
    twists
}

/// A link and all links beyond it, taken as one rigid body: the body that the link's coordinate moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Composite {
    pub(super) mass: f64,
    /// First moment about the link's origin, in world axes.
    pub(super) first: Vector2<f64>,
    /// Second moment about the link's origin.
    pub(super) second: f64,
    /// Linear momentum.
    pub(super) momentum: Vector2<f64>,
}

impl Composite {
    /// Returns the derivative, with respect to this link's joint coordinate, of the first moment (mass times position, about a
    /// fixed point) of this link and of all links farther from the ground that it carries. `frame` is the frame of the link.
    #[inline]
    pub(super) fn shift(&self, frame: &Frame) -> Vector2<f64> {
        if frame.is_hinge {
            perpendicular(self.first)
        } else {
            self.mass * frame.axis
        }
    }
}

pub(super) type Composites = SmallVec<[Composite; INLINE_LINKS]>;

/// Computes for each link the mass, the moments and the momentum of the link together with all links that it carries. `twists`
/// contains the velocities of the links; without velocities, the momenta are zero.
pub(super) fn composites(
    links: &[LinkSpec],
    frames: &[Frame],
    twists: Option<&[Twist]>,
) -> Composites {
    let mut composites = Composites::with_capacity(links.len());
    for (i, (link, frame)) in links.iter().zip(frames).enumerate() {
        let Inertia {
            mass,
            first_moment,
            second_moment,
        } = link.inertia;
        let first = turned(frame.turn, first_moment);
        let momentum = twists
            .and_then(|t| t.get(i))
            .map_or_else(Vector2::zeros, |twist| {
                mass * twist.velocity + twist.rate * perpendicular(first)
            });
        composites.push(Composite {
            mass,
            first,
            second: second_moment,
            momentum,
        });
    }
    for (i, link) in links.iter().enumerate().rev() {
        let Some(parent) = link.parent else { continue };
        let (Some(&child), Some(arm)) = (
            composites.get(i),
            frames
                .get(i)
                .zip(frames.get(parent))
                .map(|(c, p)| c.origin - p.origin),
        ) else {
            continue;
        };
        if let Some(whole) = composites.get_mut(parent) {
            whole.mass += child.mass;
            whole.first += child.first + child.mass * arm;
            whole.second += child.second + arm.dot(&(2.0 * child.first + child.mass * arm));
            whole.momentum += child.momentum;
        }
    }
    composites
}
