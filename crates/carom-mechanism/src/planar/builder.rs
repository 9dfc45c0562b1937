//! Builder of planar mechanisms.

use super::{Actuator, Inertia, Line, PlanarMechanism, Spring};
use crate::MechanismError;
use nalgebra::Vector2;

/// A link of a planar mechanism, and its coordinate: link `i` moves by the coordinate
/// $q_i$ against its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link(usize);

impl Link {
    /// The fixed world, as a parent.
    pub const GROUND: Self = Self(usize::MAX);

    /// Index of the link's coordinate.
    pub fn coordinate(self) -> usize {
        self.0
    }
}

/// A point or a small wheel of a link that touches a fixed line.
#[derive(Clone, Debug, PartialEq)]
pub struct LineContact {
    /// Name, for reports.
    pub name: String,
    /// Center of the wheel, or the point itself, in the link's frame.
    pub point: [f64; 2],
    /// Radius of the wheel, at least 0.
    pub radius: f64,
    /// The line, whose normal points to the free side.
    pub line: Line,
    /// Coulomb coefficient, at least 0.
    pub friction: f64,
    /// Coefficient of restitution in \[0, 1\], for impact laws that take one per contact.
    pub restitution: f64,
}

impl LineContact {
    /// A frictionless, elastic point contact.
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

/// Motion of a link against its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Joint {
    /// Turns by $q$.
    Hinge,
    /// Moves by $q$ along a unit vector of the parent's frame.
    Slider(Vector2<f64>),
}

/// A link as it was described.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LinkSpec {
    pub(super) joint: Joint,
    pub(super) parent: Option<usize>,
    /// Origin of the frame in the parent's frame at $q = 0$.
    pub(super) anchor: Vector2<f64>,
    /// Angle of the frame against the parent's at $q = 0$ (rad).
    pub(super) angle: f64,
    pub(super) inertia: Inertia,
    pub(super) spring: Option<Spring>,
    pub(super) actuator: Option<Actuator>,
}

/// Puts a [`PlanarMechanism`] together, link by link.
///
/// Methods only collect; [`build`](Self::build) checks everything. Several springs or actuators
/// at one joint replace one another; bodies add up.
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
    /// The first call that named a link that does not exist.
    fault: Option<MechanismError>,
}

impl PlanarBuilder {
    /// A builder with an acceleration of gravity, for example `[0.0, -9.81]`.
    pub fn new(gravity: [f64; 2]) -> Self {
        Self {
            gravity: gravity.into(),
            links: Vec::new(),
            contacts: Vec::new(),
            fault: None,
        }
    }

    /// Adds a link that turns about a point of its parent. Its frame sits at `anchor` in the
    /// parent's frame, turned by `angle` + $q$ (rad, counterclockwise).
    pub fn hinge(&mut self, parent: Link, anchor: [f64; 2], angle: f64) -> Link {
        self.add(Joint::Hinge, parent, anchor.into(), angle)
    }

    /// Adds a link that slides along a direction of its parent. Its frame sits at `anchor` +
    /// $q$ `direction` in the parent's frame and is parallel to it; only the direction matters,
    /// so that $q$ is a length.
    pub fn slider(&mut self, parent: Link, anchor: [f64; 2], direction: [f64; 2]) -> Link {
        let direction = Vector2::from(direction);
        // A zero direction becomes NaN, which `build` refuses.
        let unit = direction / direction.norm();
        self.add(Joint::Slider(unit), parent, anchor.into(), 0.0)
    }

    /// Adds a free body: three links with the coordinates x, y and angle. The last, which is
    /// returned, carries the body.
    pub fn floating(&mut self) -> Link {
        let x = self.slider(Link::GROUND, [0.0, 0.0], [1.0, 0.0]);
        let y = self.slider(x, [0.0, 0.0], [0.0, 1.0]);
        self.hinge(y, [0.0, 0.0], 0.0)
    }

    /// Welds a body, given in the link's frame, to a link.
    pub fn body(&mut self, link: Link, inertia: Inertia) -> &mut Self {
        if let Some(spec) = self.link("body", link) {
            spec.inertia += inertia;
        }
        self
    }

    /// Puts a spring and damper at a link's joint.
    pub fn spring(&mut self, link: Link, spring: Spring) -> &mut Self {
        if let Some(spec) = self.link("spring", link) {
            spec.spring = Some(spring);
        }
        self
    }

    /// Puts an actuator at a link's joint.
    pub fn actuator(&mut self, link: Link, actuator: Actuator) -> &mut Self {
        if let Some(spec) = self.link("actuator", link) {
            spec.actuator = Some(actuator);
        }
        self
    }

    /// Adds a contact of a link with a fixed line.
    pub fn contact(&mut self, link: Link, contact: LineContact) -> &mut Self {
        if self.link("contact", link).is_some() {
            self.contacts.push((link, contact));
        }
        self
    }

    /// Checks and finishes the mechanism.
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

    /// Description of a link. An unknown link is remembered as the fault of the mechanism.
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
