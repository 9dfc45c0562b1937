//! Springs of contact points: by how much they yield, and what they hold from one step to the next.

use super::tolerances::{CARRIED, DEFLECTIONS, UNLOADED};
use crate::pair::ContactPoint;
use carom_geometry::pair::tangents;
use carom_numeric::kernel::norm;
use carom_variational::State;
use nalgebra::Vector3;

/// Spring of a contact point, in the contact frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spring {
    /// Pre-load $p$: impulse of the step before, normal and tangents (N s).
    pub(super) preload: [f64; 3],
    /// Compliance $R$ (1/kg); 0 for a rigid contact.
    pub(super) compliance: f64,
    /// Distance by which the point closed while it pressed (m).
    pub(super) deflection: f64,
}

impl Spring {
    /// Cuts the pre-load to the friction cone.
    pub(super) fn cut(&mut self, friction: f64) {
        let [normal, tangential @ ..] = &mut self.preload;
        *normal = normal.max(0.0);
        let (most, length) = (friction * *normal, norm(tangential));
        if length > most {
            *tangential = tangential.map(|x| x * (most / length));
        }
    }
}

/// Rule for the compliance of contact points in one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Yielding {
    /// Share of its size by which a contact yields under the weight of its bodies; 0: rigid.
    pub(super) deflection: f64,
    /// Largest load per mass of a body (m/s²).
    pub(super) load: f64,
    /// Length of the step (s).
    pub(super) h: f64,
}

impl Yielding {
    /// Returns the compliance $R = \delta/(h\max(wh, -u_n^-/G, p_n/10))$ of a contact (1/kg): it closes by $\delta$ under the
    /// weight $w$ of its bodies. Points that approach fast or carry much are stiffer. `mobility`: $G$, velocity per normal impulse
    /// (1/kg); `size`: radius of the smaller body (m); `approach`: $-u_n^-$ (m/s); `carried`: $p_n$ (N s).
    pub(super) fn compliance(
        &self,
        mobility: f64,
        size: f64,
        [approach, carried]: [f64; 2],
    ) -> f64 {
        if self.deflection == 0.0 {
            return 0.0;
        }
        let (h, fall) = (self.h, self.load * self.h);
        let rate = fall.max(approach).max(CARRIED * mobility * carried);
        let depth = self.deflection * size;
        let share = if fall > 0.0 {
            depth.clamp(DEFLECTIONS[0] * fall * h, DEFLECTIONS[1] * fall * h) / (h * rate)
        } else {
            (depth / (h * rate)).min(UNLOADED)
        };
        mobility * share
    }
}

/// Contact point that pressed in the previous step, with its spring. Forces and stiffness do not depend on the length of a step.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Kept {
    /// Contact point in the axes of the first body, from its center (m).
    pub(super) at: Vector3<f64>,
    normal: Vector3<f64>,
    /// Force on the first body, in world axes: the pre-load divided by the length of the step (N).
    force: Vector3<f64>,
    /// Deflection per force: $Rh^2$ (m/N).
    give: f64,
    deflection: f64,
}

impl Kept {
    /// Stores the spring of a contact point after a step of length `h` (s). `state`: state of the first body at the middle.
    pub(super) fn new(spring: &Spring, point: &ContactPoint, state: &State, h: f64) -> Self {
        let normal = point.normal;
        let [t1, t2] = tangents(&normal);
        let [n, x, y] = spring.preload;
        Self {
            at: state.rotation.rotate_back(&(point.point - state.position)),
            normal,
            force: (normal * n + t1 * x + t2 * y) / h,
            give: spring.compliance * h * h,
            deflection: spring.deflection,
        }
    }

    /// Returns the spring at the start of a step of length `h` (s), in the frame of the new unit normal: the force turns with it.
    pub(super) fn spring(&self, normal: &Vector3<f64>, friction: f64, h: f64) -> Spring {
        let (axis, cosine) = (self.normal.cross(normal), self.normal.dot(normal));
        // A normal that turns by a right angle belongs to another contact.
        if cosine <= 0.0 {
            return Spring::default();
        }
        let across = axis.cross(&self.force);
        let force = self.force + across + axis.cross(&across) / (1.0 + cosine);
        let [t1, t2] = tangents(normal);
        let mut spring = Spring {
            preload: [normal, &t1, &t2].map(|d| force.dot(d) * h),
            compliance: self.give / (h * h),
            deflection: self.deflection,
        };
        spring.cut(friction);
        spring
    }

    /// Returns the energy of the spring, $R|p|^2/2$ (J).
    pub(super) fn energy(&self) -> f64 {
        0.5 * self.give * self.force.norm_squared()
    }
}
