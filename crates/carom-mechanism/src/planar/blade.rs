//! Blades: points of a link that do not move across a direction of the link.

use super::frames::frames;
use super::vector::{perpendicular, turned};
use super::{Link, PlanarMechanism};
use crate::error::{finite, positive};
use crate::{MechanicalSystem, MechanismError, VelocityConstraint};
use nalgebra::Vector2;

/// Blade, or wheel without slip, at a point of a link: the point does not move across the direction of the blade, which turns with
/// the link.
///
/// With the unit normal $N$ of the blade and its point $x$ the constraint is $N\cdot\dot x = 0$.
#[derive(Clone, Debug)]
pub struct Blade {
    mechanism: PlanarMechanism,
    link: usize,
    point: Vector2<f64>,
    /// Unit normal of the blade, in the frame of the link.
    normal: Vector2<f64>,
}

impl Blade {
    /// Creates a blade at a `point` of a link, along a `direction` of any length; both in the frame of the link.
    ///
    /// # Errors
    ///
    /// [`MechanismError::UnknownLink`], and [`MechanismError::InvalidParameter`] for a zero direction or numbers that are not
    /// finite.
    pub fn new(
        mechanism: PlanarMechanism,
        link: Link,
        point: [f64; 2],
        direction: [f64; 2],
    ) -> Result<Self, MechanismError> {
        let links = mechanism.dimension();
        let index = link.coordinate();
        if index >= links {
            return Err(MechanismError::UnknownLink {
                what: "blade",
                link: (link != Link::GROUND).then_some(index),
                links,
            });
        }
        for coordinate in point {
            finite("point of a blade", coordinate)?;
        }
        let [x, y] = direction;
        let length = positive("length of a blade's direction", libm::hypot(x, y))?;
        Ok(Self {
            mechanism,
            link: index,
            point: point.into(),
            normal: perpendicular(Vector2::new(x, y) / length),
        })
    }
}

impl VelocityConstraint for Blade {
    fn row(&self, configuration: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let links = &self.mechanism.links;
        let frames = frames(links, configuration, self.link + 1);
        let frame = &frames[self.link];
        let x = frame.origin + turned(frame.turn, self.point);
        let normal = turned(frame.turn, self.normal);
        for k in self.mechanism.inward(self.link) {
            out[k] = normal.dot(&frames[k].moves(x));
        }
    }

    fn derivative(&self, configuration: &[f64], velocity: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let mechanism = &self.mechanism;
        let frames = frames(&mechanism.links, configuration, self.link + 1);
        let frame = &frames[self.link];
        let x = frame.origin + turned(frame.turn, self.point);
        let normal = turned(frame.turn, self.normal);
        let path = || mechanism.inward(self.link);
        let rate: Vector2<f64> = path().map(|k| frames[k].moves(x) * velocity[k]).sum();
        for l in path() {
            // A hinge between the ground and another joint turns what that joint moves.
            let change: Vector2<f64> = path()
                .map(|k| frames[k.min(l)].turns(frames[k.max(l)].moves(x)) * velocity[k])
                .sum();
            out[l] = frames[l].turns(normal).dot(&rate) + normal.dot(&change);
        }
    }
}
