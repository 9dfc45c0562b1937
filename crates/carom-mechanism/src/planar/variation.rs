//! Derivatives of inertia and gaps with respect to design parameters.

use super::frames::{Frame, Twist, frames, twists};
use super::vector::{perpendicular, turned};
use super::{Inertia, Link, PlanarMechanism};
use crate::MechanicalSystem;
use nalgebra::Vector2;

/// Derivative of the constants of a planar mechanism (inertias, joint positions, contact points) with respect to one design
/// parameter, such as a length.
///
/// [`none`](Self::none) creates it with zero entries, and the other functions add the derivatives of single constants. The
/// derivative of an inertia has the type [`Inertia`], because its four numbers are independent constants.
#[derive(Clone, Debug, PartialEq)]
pub struct Variation {
    inertias: Vec<Inertia>,
    anchors: Vec<Vector2<f64>>,
    points: Vec<Vector2<f64>>,
}

impl Variation {
    /// Creates a derivative of the constants of a mechanism with respect to a design parameter, in which all entries are zero.
    /// [`inertia`](Self::inertia), [`anchor`](Self::anchor) and [`contact_point`](Self::contact_point) add entries.
    pub fn none(mechanism: &PlanarMechanism) -> Self {
        let (n, contacts) = (mechanism.dimension(), mechanism.contacts().len());
        Self {
            inertias: vec![Inertia::ZERO; n],
            anchors: vec![Vector2::zeros(); n],
            points: vec![Vector2::zeros(); contacts],
        }
    }

    /// Adds `derivative` to the derivative of a link's inertia with respect to the design parameter. If the link does not exist,
    /// nothing is changed.
    #[must_use]
    pub fn inertia(mut self, link: Link, derivative: Inertia) -> Self {
        if let Some(inertia) = self.inertias.get_mut(link.coordinate()) {
            *inertia += derivative;
        }
        self
    }

    /// Adds `derivative` to the derivative of a link's anchor with respect to the design parameter. The anchor is the position of
    /// the link's joint in the frame of its parent. If the link does not exist, nothing is changed.
    #[must_use]
    pub fn anchor(mut self, link: Link, derivative: [f64; 2]) -> Self {
        if let Some(anchor) = self.anchors.get_mut(link.coordinate()) {
            *anchor += Vector2::from(derivative);
        }
        self
    }

    /// Adds `derivative` to the derivative of a contact point, given in the frame of its link, with respect to the design
    /// parameter. `contact` is the index of the contact. If there is no such contact, nothing is changed.
    #[must_use]
    pub fn contact_point(mut self, contact: usize, derivative: [f64; 2]) -> Self {
        if let Some(point) = self.points.get_mut(contact) {
            *point += Vector2::from(derivative);
        }
        self
    }
}

impl PlanarMechanism {
    /// Returns the derivative of $a^TM(q)b$ with respect to a design parameter, with the mass matrix $M$ at the configuration
    /// $q$. The configuration and the velocities $a$ and $b$ (one entry per coordinate each) are constant.
    ///
    /// Let a link have the mass $m$, the first moment $s$ and the second moment $J$ about the origin of its frame. Let $\dot o$
    /// be the velocity of this origin and $\omega$ the angular velocity, for $a$ and for $b$, and $S$ the rotation by a quarter
    /// turn. The link contributes $m\dot o_a\cdot\dot o_b + (\omega_a\dot o_b + \omega_b\dot o_a)\cdot Ss + J\omega_a\omega_b$
    /// to $a^TM(q)b$. A design parameter changes the moments and, through the anchors (joint positions), $\dot o$.
    pub fn mass_variation(&self, q: &[f64], a: &[f64], b: &[f64], variation: &Variation) -> f64 {
        let frames = frames(&self.links, q, self.links.len());
        let (of_a, of_b) = (
            twists(&self.links, &frames, a),
            twists(&self.links, &frames, b),
        );
        let (by_a, by_b) = (
            self.velocity_variations(&frames, &of_a, variation),
            self.velocity_variations(&frames, &of_b, variation),
        );
        let mut change = 0.0;
        for (i, frame) in frames.iter().enumerate() {
            let (a, b) = (&of_a[i], &of_b[i]);
            let form = |inertia: &Inertia| {
                let first = perpendicular(turned(frame.turn, inertia.first_moment));
                inertia.mass * a.velocity.dot(&b.velocity)
                    + (a.rate * b.velocity + b.rate * a.velocity).dot(&first)
                    + inertia.second_moment * a.rate * b.rate
            };
            let inertia = &self.links[i].inertia;
            let first = perpendicular(turned(frame.turn, inertia.first_moment));
            change += form(&variation.inertias[i])
                + inertia.mass * (by_a[i].dot(&b.velocity) + a.velocity.dot(&by_b[i]))
                + (a.rate * by_b[i] + b.rate * by_a[i]).dot(&first);
        }
        change
    }

    /// Returns the derivatives of the gap $\phi_i(q)$ of a contact and of its rate $\mathrm{D}\phi_i(q)v$ with respect to a
    /// design parameter. The configuration $q$ and the velocity $v$ (one entry per coordinate each) are constant.
    pub fn gap_variation(
        &self,
        contact: usize,
        q: &[f64],
        v: &[f64],
        variation: &Variation,
    ) -> (f64, f64) {
        let place = &self.places[contact];
        let frames = frames(&self.links, q, self.links.len());
        let twists = twists(&self.links, &frames, v);
        let arm = turned(frames[place.link].turn, variation.points[contact]);
        let mut shift = arm;
        let mut link = Some(place.link);
        while let Some(i) = link {
            link = self.links[i].parent;
            shift += self.arm_variation(&frames, i, variation);
        }
        let velocity = self.velocity_variations(&frames, &twists, variation)[place.link]
            + twists[place.link].rate * perpendicular(arm);
        let normal = place.line.normal();
        (normal.dot(&shift), normal.dot(&velocity))
    }

    /// Returns the derivative, with respect to the design parameter, of the vector from the origin of the parent's frame to the
    /// origin of the frame of link `i`, in world axes. The joint coordinates are constant.
    fn arm_variation(&self, frames: &[Frame], i: usize, variation: &Variation) -> Vector2<f64> {
        let anchor = variation.anchors[i];
        match self.links[i].parent {
            Some(parent) => turned(frames[parent].turn, anchor),
            None => anchor,
        }
    }

    /// Returns the derivatives, with respect to the design parameter, of the velocities of the origins of all link frames, at
    /// constant joint coordinates and joint rates.
    fn velocity_variations(
        &self,
        frames: &[Frame],
        twists: &[Twist],
        variation: &Variation,
    ) -> Vec<Vector2<f64>> {
        let mut changes: Vec<Vector2<f64>> = Vec::with_capacity(self.links.len());
        for (i, link) in self.links.iter().enumerate() {
            changes.push(link.parent.map_or_else(Vector2::zeros, |parent| {
                let arm = self.arm_variation(frames, i, variation);
                changes[parent] + twists[parent].rate * perpendicular(arm)
            }));
        }
        changes
    }
}
