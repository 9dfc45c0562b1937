//! Builder of planar mechanisms.

use super::{Actuator, Inertia, Line, PlanarMechanism, Spring};
use crate::MechanismError;
use nalgebra::Vector2;

/// Identifier of a link of a planar mechanism. Link `i` moves relative to its parent by the generalized coordinate $q_i$.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link(usize);

impl Link {
    /// Identifier of the ground, which is fixed in the world, for use as the parent of a link.
    pub const GROUND: Self = Self(usize::MAX);

    /// Returns the index of the generalized coordinate that moves the link relative to its parent.
    pub fn coordinate(self) -> usize {
        self.0
    }
}

/// Contact between a link of a planar mechanism and a fixed line. A point or a small wheel of the link touches the line.
#[derive(Clone, Debug, PartialEq)]
pub struct LineContact {
    /// Name of the contact, for reports.
    pub name: String,
    /// Center of the wheel, or the point itself, in the frame of the link.
    pub point: [f64; 2],
    /// Radius of the wheel, at least 0.
    pub radius: f64,
    /// Line; its normal points to the free side.
    pub line: Line,
    /// Coulomb friction coefficient, at least 0.
    pub friction: f64,
    /// Coefficient of restitution in \[0, 1\], for impact laws with one coefficient per contact.
    pub restitution: f64,
}

impl LineContact {
    /// Creates a frictionless contact with restitution 1 between a point of a link and a fixed line. `point` is given in the
    /// frame of the link; `name` is used in reports.
    pub fn point(name: impl Into<String>, point: [f64; 2], line: Line) -> Self {
        Self {
            name: name.into(),
            point,
            radius: 0.0,
            line,
            friction: 0.0,
            restitution: 1.0,
        }
    }
}

/// Joint of a link with its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Joint {
    /// Rotation by the angle $q$.
    Hinge,
    /// Translation by $q$ along a unit vector in the parent's frame.
    Slider(Vector2<f64>),
}

/// Description of a link.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LinkSpec {
    pub(super) joint: Joint,
    pub(super) parent: Option<usize>,
    /// Origin of the link's frame in the parent's frame at $q = 0$.
    pub(super) anchor: Vector2<f64>,
    /// Angle of the link's frame relative to the parent's frame at $q = 0$ (rad).
    pub(super) angle: f64,
    pub(super) inertia: Inertia,
    pub(super) spring: Option<Spring>,
    pub(super) actuator: Option<Actuator>,
}

/// Builder of a [`PlanarMechanism`], which is assembled link by link.
///
/// The methods only collect the parts; [`build`](Self::build) checks them. A second spring or actuator at a joint replaces the
/// first one. Several bodies on one link act together as one rigid body.
///
/// # Examples
///
/// A pendulum on a cart:
///
/// ```
/// use carom_mechanism::MechanicalSystem;
/// use carom_mechanism::planar::{Inertia, Link, PlanarBuilder};
/// use nalgebra::DMatrix;
/// let mut builder = PlanarBuilder::new([0.0, -9.81]);
/// let cart = builder.slider(Link::GROUND, [0.0, 0.0], [1.0, 0.0]);
/// builder.body(cart, Inertia::point(2.0, [0.0, 0.0]));
/// let pole = builder.hinge(cart, [0.0, 0.0], 0.0);
/// builder.body(pole, Inertia::point(1.0, [0.5, 0.0]));
/// let mechanism = builder.build()?;
/// let mut mass = DMatrix::zeros(2, 2);
/// mechanism.mass_matrix(&[0.0, -std::f64::consts::FRAC_PI_2], &mut mass);
/// assert!((mass[(0, 0)] - 3.0).abs() < 1e-15);
/// assert!((mass[(0, 1)] - 0.5).abs() < 1e-15);
/// # Ok::<(), carom_mechanism::MechanismError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PlanarBuilder {
    gravity: Vector2<f64>,
    links: Vec<LinkSpec>,
    contacts: Vec<(Link, LineContact)>,
    /// First error: a part was attached to a link that does not exist.
    fault: Option<MechanismError>,
}

impl PlanarBuilder {
    /// Creates a builder of a planar mechanism without links. `gravity` is an acceleration in world axes, for example `[0.0,
    /// -9.81]` (m/s²).
    pub fn new(gravity: [f64; 2]) -> Self {
        Self {
            gravity: gravity.into(),
            links: Vec::new(),
            contacts: Vec::new(),
            fault: None,
        }
    }

    /// Adds a link that rotates about a point of its parent. The frame of the new link has its origin at `anchor` in the parent's
    /// frame, and is rotated by `angle` + $q$ (rad, counterclockwise) with the joint coordinate $q$. Returns the identifier of
    /// the link.
    pub fn hinge(&mut self, parent: Link, anchor: [f64; 2], angle: f64) -> Link {
        self.add(Joint::Hinge, parent, anchor.into(), angle)
    }

    /// Adds a link that slides along a direction of its parent. The frame of the new link has its origin at `anchor` + $q$
    /// `direction` in the parent's frame, with the joint coordinate $q$, and its axes are parallel to those of the parent.
    /// `direction` is normalized, so that $q$ is a length. Returns the identifier of the link.
    pub fn slider(&mut self, parent: Link, anchor: [f64; 2], direction: [f64; 2]) -> Link {
        let direction = Vector2::from(direction);
        // A zero direction becomes NaN, which `build` rejects.
        let unit = direction / direction.norm();
        self.add(Joint::Slider(unit), parent, anchor.into(), 0.0)
    }

    /// Adds a rigid body without mass that moves freely in the plane. The body is represented by three links, which move by the
    /// coordinates x, y and angle, in this order. Returns the last of these links, to which the body's mass and contacts are
    /// attached.
    pub fn floating(&mut self) -> Link {
        let x = self.slider(Link::GROUND, [0.0, 0.0], [1.0, 0.0]);
        let y = self.slider(x, [0.0, 0.0], [0.0, 1.0]);
        self.hinge(y, [0.0, 0.0], 0.0)
    }

    /// Attaches a rigid body to a link. `inertia` contains the mass and the moments of the body about the origin of the link's
    /// frame.
    pub fn body(&mut self, link: Link, inertia: Inertia) -> &mut Self {
        if let Some(spec) = self.link("body", link) {
            spec.inertia += inertia;
        }
        self
    }

    /// Adds a linear spring and damper to the joint between a link and its parent.
    pub fn spring(&mut self, link: Link, spring: Spring) -> &mut Self {
        if let Some(spec) = self.link("spring", link) {
            spec.spring = Some(spring);
        }
        self
    }

    /// Adds an actuator, which follows a prescribed motion, to the joint between a link and its parent.
    pub fn actuator(&mut self, link: Link, actuator: Actuator) -> &mut Self {
        if let Some(spec) = self.link("actuator", link) {
            spec.actuator = Some(actuator);
        }
        self
    }

    /// Adds a contact between a link and a fixed line, such as the floor.
    pub fn contact(&mut self, link: Link, contact: LineContact) -> &mut Self {
        if self.link("contact", link).is_some() {
            self.contacts.push((link, contact));
        }
        self
    }

    /// Checks all parts that were added and builds the planar mechanism.
    ///
    /// # Errors
    ///
    /// [`MechanismError::Empty`], [`MechanismError::UnknownLink`],
    /// [`MechanismError::InvalidLink`], [`MechanismError::InvalidInertia`],
    /// [`MechanismError::InvalidContact`], and [`MechanismError::Massless`] for a coordinate that moves no inertia.
    pub fn build(self) -> Result<PlanarMechanism, MechanismError> {
        match self.fault {
            Some(fault) => Err(fault),
            None => {
                let contacts = self.contacts.into_iter().map(|(link, c)| (link.0, c));
                PlanarMechanism::new(self.gravity, self.links, contacts.collect())
            }
        }
    }

    fn add(&mut self, joint: Joint, parent: Link, anchor: Vector2<f64>, angle: f64) -> Link {
        let parent = if parent == Link::GROUND {
            None
        } else {
            self.link("parent", parent).is_some().then_some(parent.0)
        };
        self.links.push(LinkSpec {
            joint,
            parent,
            anchor,
            angle,
            inertia: Inertia::ZERO,
            spring: None,
            actuator: None,
        });
        Link(self.links.len() - 1)
    }

    /// Returns the stored description of a link, so that it can be changed, or `None` if there is no such link. The first unknown
    /// link is stored as an error, which `build` returns. `what` names the part that refers to the link, such as a spring, in
    /// this error.
    fn link(&mut self, what: &'static str, link: Link) -> Option<&mut LinkSpec> {
        let links = self.links.len();
        let found = self.links.get_mut(link.0);
        if found.is_none() && self.fault.is_none() {
            let link = (link != Link::GROUND).then_some(link.0);
            self.fault = Some(MechanismError::UnknownLink { what, link, links });
        }
        found
    }
}
