//! Planar tree of rigid links as a mechanical system.

use super::builder::{Joint, LinkSpec};
use super::frames::{Composite, Frame, Frames, Vectors, composites, frames, twists};
use super::vector::{cross, perpendicular, turned};
use super::{Line, LineContact, Link};
use crate::error::{finite, not_negative};
use crate::{Derivatives, Dynamics, MechanicalSystem, MechanismError, Motion, PointContact};
use nalgebra::{DMatrix, Vector2};

/// Contact with its point, link and line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ContactSpec {
    pub(super) link: usize,
    pub(super) point: Vector2<f64>,
    radius: f64,
    pub(super) line: Line,
}

/// Mechanism of rigid links in a plane that are connected as a tree by hinges and sliders. A
/// [`PlanarBuilder`](super::PlanarBuilder) builds it; the [module](super) states its equations.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanarMechanism {
    gravity: Vector2<f64>,
    pub(super) links: Vec<LinkSpec>,
    pub(super) places: Vec<ContactSpec>,
    contacts: Vec<PointContact>,
}

impl PlanarMechanism {
    pub(super) fn new(
        gravity: Vector2<f64>,
        links: Vec<LinkSpec>,
        contacts: Vec<(usize, LineContact)>,
    ) -> Result<Self, MechanismError> {
        if links.is_empty() {
            return Err(MechanismError::Empty);
        }
        finite("gravity", gravity.x)?;
        finite("gravity", gravity.y)?;
        for (link, spec) in links.iter().enumerate() {
            validate(spec).map_err(|fault| fault.at_link(link))?;
            if !spec.inertia.is_realizable() {
                return Err(MechanismError::InvalidInertia {
                    link,
                    mass: spec.inertia.mass,
                    first_moment: spec.inertia.first_moment.into(),
                    second_moment: spec.inertia.second_moment,
                });
            }
        }
        refuse_massless(&links)?;
        let mut places = Vec::with_capacity(contacts.len());
        let mut named = Vec::with_capacity(contacts.len());
        for (link, contact) in contacts {
            let point = Vector2::from(contact.point);
            let check = || {
                finite("contact point", point.x)?;
                finite("contact point", point.y)?;
                not_negative("radius", contact.radius)?;
                not_negative("friction", contact.friction)?;
                crate::error::fraction("restitution", contact.restitution)
            };
            check().map_err(|fault| fault.at_contact(&contact.name))?;
            places.push(ContactSpec {
                link,
                point,
                radius: contact.radius,
                line: contact.line,
            });
            named.push(PointContact {
                restitution: contact.restitution,
                ..PointContact::frictional(contact.name, contact.friction)
            });
        }
        Ok(Self {
            gravity,
            links,
            places,
            contacts: named,
        })
    }

    /// Returns the world position of the point `local`, given in the frame of `link`, for the joint coordinates `configuration`.
    /// Points of [`Link::GROUND`] are returned unchanged. Returns `None` if there is no such link.
    pub fn point(&self, link: Link, local: [f64; 2], configuration: &[f64]) -> Option<[f64; 2]> {
        if link == Link::GROUND {
            return Some(local);
        }
        let frames = frames(&self.links, configuration, link.coordinate() + 1);
        let frame = frames.get(link.coordinate())?;
        Some((frame.origin + turned(frame.turn, local.into())).into())
    }

    /// Returns the angle (rad) of a link's frame relative to the world for the joint coordinates `configuration`. The angle is
    /// not reduced modulo $2\pi$. Returns `None` if there is no such link.
    pub fn angle(&self, link: Link, configuration: &[f64]) -> Option<f64> {
        let frames = frames(&self.links, configuration, link.coordinate() + 1);
        frames.get(link.coordinate()).map(|frame| frame.angle)
    }

    /// Returns the kinetic energy and the potential energy of the mechanism (J), in this order, for the joint coordinates
    /// `configuration` and the joint rates `velocity`.
    pub fn energy(&self, configuration: &[f64], velocity: &[f64]) -> (f64, f64) {
        let frames = frames(&self.links, configuration, self.links.len());
        let mut energy = (0.0, 0.0);
        for ((link, frame), twist) in
            self.links
                .iter()
                .zip(&frames)
                .zip(twists(&self.links, &frames, velocity))
        {
            let inertia = &link.inertia;
            let first = turned(frame.turn, inertia.first_moment);
            energy.0 += 0.5 * inertia.mass * twist.velocity.norm_squared()
                + twist.rate * twist.velocity.dot(&perpendicular(first))
                + 0.5 * inertia.second_moment * twist.rate * twist.rate;
            energy.1 -= self.gravity.dot(&(inertia.mass * frame.origin + first));
        }
        energy.1 += self.spring_energy(configuration);
        energy
    }

    /// Computes the Hessian $\mathrm{D}^2\phi_i(q)$ of the gap $\phi_i$ of the contact with index `contact`, with respect to
    /// the coordinates $q$ (n × n, n coordinates). The matrix is symmetric, and every entry of `out` is written.
    ///
    /// Let $x$ be the contact point and $S$ the rotation by a quarter turn. For a link $k$ on the path from $l$ to the ground,
    /// $l$ included, $\partial^2x/\partial q_k\partial q_l = S\partial x/\partial q_l$ if $k$ is a hinge, and zero if it is a
    /// slider.
    pub fn gap_hessian(&self, contact: usize, configuration: &[f64], out: &mut DMatrix<f64>) {
        out.fill(0.0);
        let normal = self.places[contact].line.normal();
        self.second_derivative(contact, configuration, normal, out);
    }

    /// Computes the matrix of second derivatives, with respect to the joint coordinates, of the coordinate of a contact point in
    /// the direction `along`. `contact` is the index of the contact. The matrix `out` must be zero before the call.
    fn second_derivative(
        &self,
        contact: usize,
        configuration: &[f64],
        along: Vector2<f64>,
        out: &mut DMatrix<f64>,
    ) {
        let (frames, place, x) = self.located(contact, configuration);
        for l in self.inward(place.link) {
            let moves = frames[l].moves(x);
            for k in self.inward(l) {
                let second = along.dot(&frames[k].turns(moves));
                out[(k, l)] = second;
                out[(l, k)] = second;
            }
        }
    }

    /// Returns the indices of the links on the path from `link` to the ground, starting with `link`.
    pub(super) fn inward(&self, link: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(link), |&link| self.links[link].parent)
    }

    /// Returns the frames of the links, the description of the contact with index `contact`, and the world position of its
    /// contact point, for the joint coordinates `q`. For a contact with a wheel, the position is that of the wheel's center.
    fn located(&self, contact: usize, q: &[f64]) -> (Frames, &ContactSpec, Vector2<f64>) {
        let place = &self.places[contact];
        let frames = frames(&self.links, q, place.link + 1);
        let frame = &frames[place.link];
        let x = frame.origin + turned(frame.turn, place.point);
        (frames, place, x)
    }

    fn spring_energy(&self, q: &[f64]) -> f64 {
        let springs = self.links.iter().zip(q).filter_map(|(link, q)| {
            let spring = link.spring?;
            Some(0.5 * spring.stiffness * carom_numeric::power(q - spring.rest, 2))
        });
        springs.sum()
    }

    /// Adds the forces of springs, dampers and actuators at the joints, and the derivatives of these forces, to `out`. Each force
    /// depends on the coordinate and the rate of its own joint, and acts on this coordinate only. Forces of actuators also depend
    /// on time.
    fn joints(&self, at: &Motion<'_>, out: &mut Dynamics) {
        out.potential += self.spring_energy(at.configuration);
        for (i, link) in self.links.iter().enumerate() {
            let (q, v) = (at.configuration[i], at.velocity[i]);
            if let Some(spring) = link.spring {
                out.potential_gradient[i] += spring.stiffness * (q - spring.rest);
                out.potential_hessian[(i, i)] += spring.stiffness;
                out.force[i] -= spring.damping * v;
                out.force_by_velocity[(i, i)] -= spring.damping;
            }
            if let Some(actuator) = link.actuator {
                let (value, rate) = actuator.reference.at(at.time);
                out.force[i] -=
                    actuator.proportional * (q - value) + actuator.derivative * (v - rate);
                out.force_by_configuration[(i, i)] -= actuator.proportional;
                out.force_by_velocity[(i, i)] -= actuator.derivative;
                out.force_by_time[i] += actuator.proportional * rate;
            }
        }
    }
}

impl MechanicalSystem for PlanarMechanism {
    fn dimension(&self) -> usize {
        self.links.len()
    }

    fn mass_matrix(&self, configuration: &[f64], out: &mut DMatrix<f64>) {
        let frames = frames(&self.links, configuration, self.links.len());
        let composites = composites(&self.links, &frames, None);
        for (l, (frame, body)) in frames.iter().zip(&composites).enumerate() {
            for k in self.inward(l) {
                let entry = inertia_between(&frames[k], frame, body);
                out[(k, l)] = entry;
                out[(l, k)] = entry;
            }
        }
    }

    fn dynamics(&self, at: &Motion<'_>, wanted: Derivatives, out: &mut Dynamics) {
        let frames = frames(&self.links, at.configuration, self.links.len());
        let twists = twists(&self.links, &frames, at.velocity);
        let composites = composites(&self.links, &frames, Some(&twists));
        let carried: Vectors = frames
            .iter()
            .zip(&twists)
            .map(|(frame, twist)| {
                if frame.is_hinge {
                    -perpendicular(twist.velocity)
                } else {
                    twist.rate * perpendicular(frame.axis)
                }
            })
            .collect();
        for (l, (frame, body)) in frames.iter().zip(&composites).enumerate() {
            // Derivatives of the composite's first moment and momentum with respect to q_l.
            let shift = body.shift(frame);
            let change = frame.turns(body.momentum) + body.mass * carried[l];
            let twisting = cross(body.first, carried[l])
                + if frame.is_hinge {
                    0.0
                } else {
                    cross(frame.axis, body.momentum)
                };
            out.potential_gradient[l] = -self.gravity.dot(&shift);
            if self.links[l].parent.is_none() {
                out.potential -= self.gravity.dot(&(body.mass * frame.origin + body.first));
            }
            for k in self.inward(l) {
                let inner = &frames[k];
                let mass = inertia_between(inner, frame, body);
                let by_outer = if inner.is_hinge {
                    cross(frame.origin - inner.origin, change) + twisting
                } else {
                    inner.axis.dot(&change)
                };
                out.mass_matrix[(k, l)] = mass;
                out.mass_matrix[(l, k)] = mass;
                out.momentum_derivative[(k, l)] = by_outer;
                if k != l {
                    out.momentum_derivative[(l, k)] = if frame.is_hinge {
                        cross(body.first, carried[k])
                    } else {
                        body.mass * carried[k].dot(&frame.axis)
                    };
                }
                if wanted == Derivatives::Second {
                    let kinetic = carried[k].dot(&change);
                    let potential = -self.gravity.dot(&inner.turns(shift));
                    out.kinetic_hessian[(k, l)] = kinetic;
                    out.kinetic_hessian[(l, k)] = kinetic;
                    out.potential_hessian[(k, l)] = potential;
                    out.potential_hessian[(l, k)] = potential;
                }
            }
        }
        self.joints(at, out);
    }

    fn damper_power(&self, velocity: &[f64]) -> f64 {
        let dampers = self.links.iter().zip(velocity);
        let power = dampers.filter_map(|(link, v)| Some(link.spring?.damping * v * v));
        power.sum()
    }

    fn contacts(&self) -> &[PointContact] {
        &self.contacts
    }

    fn gap(&self, contact: usize, configuration: &[f64]) -> f64 {
        let (_, place, x) = self.located(contact, configuration);
        place.line.distance(x) - place.radius
    }

    fn gaps(&self, configuration: &[f64], out: &mut [f64]) {
        let frames = frames(&self.links, configuration, self.links.len());
        for (gap, place) in out.iter_mut().zip(&self.places) {
            let frame = &frames[place.link];
            let x = frame.origin + turned(frame.turn, place.point);
            *gap = place.line.distance(x) - place.radius;
        }
    }

    fn gap_gradient(&self, contact: usize, configuration: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let (frames, place, x) = self.located(contact, configuration);
        for k in self.inward(place.link) {
            out[k] = place.line.normal().dot(&frames[k].moves(x));
        }
    }

    fn slide(&self, contact: usize, configuration: &[f64]) -> f64 {
        let (frames, place, x) = self.located(contact, configuration);
        place.line.along(x) + place.radius * frames[place.link].angle
    }

    fn slide_gradient(&self, contact: usize, configuration: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let (frames, place, x) = self.located(contact, configuration);
        for k in self.inward(place.link) {
            let rolling = if frames[k].is_hinge {
                place.radius
            } else {
                0.0
            };
            out[k] = place.line.tangent().dot(&frames[k].moves(x)) + rolling;
        }
    }

    /// Computes the second derivatives of the gap and of the slide coordinate (tangential displacement) of a contact with respect
    /// to the joint coordinates. The term of a slide coordinate that results from the rolling of a wheel is linear in the joint
    /// angles, so that it does not contribute.
    fn contact_hessians(
        &self,
        contact: usize,
        configuration: &[f64],
        gap: &mut DMatrix<f64>,
        slide: &mut DMatrix<f64>,
    ) -> bool {
        let line = self.places[contact].line;
        self.second_derivative(contact, configuration, line.normal(), gap);
        self.second_derivative(contact, configuration, line.tangent(), slide);
        true
    }
}

/// Returns the entry of the mass matrix that couples the joint coordinates of two links. `outer` is the frame of one link.
/// `inner` is the frame of a link on the path from that link to the ground, or `outer` itself. `body` is the mass and the moments
/// of the outer link together with all links that it carries.
fn inertia_between(inner: &Frame, outer: &Frame, body: &Composite) -> f64 {
    let arm = outer.origin - inner.origin;
    match (inner.is_hinge, outer.is_hinge) {
        (false, _) => inner.axis.dot(&body.shift(outer)),
        (true, true) => body.second + arm.dot(&body.first),
        (true, false) => cross(body.first + body.mass * arm, outer.axis),
    }
}

fn validate(link: &LinkSpec) -> Result<(), MechanismError> {
    for component in link.anchor.iter() {
        finite("anchor", *component)?;
    }
    finite("angle", link.angle)?;
    if let Joint::Slider(direction) = link.joint {
        // The direction has unit length, or is NaN.
        finite("direction", direction.x)?;
    }
    if let Some(spring) = link.spring {
        not_negative("stiffness", spring.stiffness)?;
        not_negative("damping", spring.damping)?;
        finite("rest", spring.rest)?;
    }
    if let Some(actuator) = link.actuator {
        not_negative("proportional gain", actuator.proportional)?;
        not_negative("derivative gain", actuator.derivative)?;
        finite("reference", actuator.reference.hold)?;
        finite("rate of the reference", actuator.reference.rate)?;
        finite("start of the reference", actuator.reference.start)?;
    }
    Ok(())
}

/// Returns an error if the coordinate of some joint moves no mass. The mass matrix would then be singular in every configuration.
fn refuse_massless(links: &[LinkSpec]) -> Result<(), MechanismError> {
    let mut beyond = vec![0.0; links.len()];
    for (i, link) in links.iter().enumerate().rev() {
        let moved = match link.joint {
            Joint::Hinge => link.inertia.second_moment + beyond[i],
            Joint::Slider(_) => link.inertia.mass + beyond[i],
        };
        if moved == 0.0 {
            return Err(MechanismError::Massless { link: i });
        }
        if let Some(parent) = link.parent {
            beyond[parent] += link.inertia.mass + beyond[i];
        }
    }
    Ok(())
}
