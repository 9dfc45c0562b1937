//! Contacts of jointed bodies, limits and points; their impacts and the changes of modes within a step.

use carom_joints::frames::Row;
use carom_joints::step::contacts::ContactRow;
use nalgebra::Vector3;

/// A limit of a coordinate as a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LimitContact {
    /// Coordinate, counted over all joints.
    pub coordinate: usize,
    /// True for the upper limit.
    pub upper: bool,
}

impl LimitContact {
    /// 1 at the lower, −1 at the upper limit: the sign of the contact's row.
    pub(super) fn sign(self) -> f64 {
        if self.upper { -1.0 } else { 1.0 }
    }
}

/// A contact that can last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointContact {
    /// A limit of a coordinate.
    Limit(LimitContact),
    /// Two things: bodies in their order, then planes.
    Pair {
        /// A mobile body, of two mobile ones the earlier.
        first: usize,
        /// The other one.
        second: usize,
    },
}

/// A limit that takes part in an impact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitHit {
    /// The limit.
    pub contact: LimitContact,
    /// Impulse, at least 0 (N s or N m s).
    pub impulse: f64,
    /// Normal velocity before, negative if they approach (m/s or rad/s).
    pub normal_velocity: f64,
}

/// A point in which two things take part in an impact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TouchHit {
    /// A mobile body, of two mobile ones the earlier.
    pub first: usize,
    /// The other body, or a plane counted after the bodies.
    pub second: usize,
    /// Place in space (m).
    pub point: Vector3<f64>,
    /// Unit normal from the second into the first.
    pub normal: Vector3<f64>,
    /// Impulse on the first, in space (N s).
    pub impulse: Vector3<f64>,
    /// Normal velocity before, negative if they approach (m/s).
    pub normal_velocity: f64,
}

/// Impulse of a joint's conditions on its child during an impact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reaction {
    /// Index of the joint.
    pub joint: usize,
    /// Impulse at the child's origin (N s).
    pub impulse: Vector3<f64>,
    /// Moment about it (N m s).
    pub moment: Vector3<f64>,
}

/// One instant of impact.
#[derive(Clone, Debug, PartialEq)]
pub struct JointImpact {
    /// Time (s).
    pub time: f64,
    /// Name of the law that answered.
    pub law: &'static str,
    /// Kinetic energy before (J).
    pub energy_minus: f64,
    /// Kinetic energy after (J).
    pub energy_plus: f64,
    /// Limits.
    pub hits: Vec<LimitHit>,
    /// Points of bodies.
    pub touches: Vec<TouchHit>,
    /// Reactions of the joints.
    pub reactions: Vec<Reaction>,
}

/// Change of a coordinate's mode within a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Change {
    /// A limit is reached.
    Limit(LimitContact),
    /// A pair touches.
    Touch(usize),
    /// Sliding stops.
    Stop(usize),
    /// Sticking ends, and sliding begins.
    Slip(usize),
}

/// Limit or point of a contact at an instant.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Limit(LimitContact),
    /// A point of a pair.
    Point {
        /// Index of the pair.
        pair: usize,
        point: Vector3<f64>,
        gap: f64,
    },
}

/// A contact at an instant.
#[derive(Clone, Debug)]
pub(super) struct Posed {
    pub(super) place: Place,
    /// The normal's row, and for points those of two tangents.
    pub(super) rows: Vec<ContactRow>,
    /// Directions of the rows of a point, in space.
    pub(super) frame: [Vector3<f64>; 3],
    pub(super) restitution: f64,
    pub(super) friction: f64,
    /// Velocities of the rows.
    pub(super) before: [f64; 3],
}

impl Posed {
    pub(super) fn limit(
        contact: LimitContact,
        row: &Row,
        ends: [Option<usize>; 2],
        restitution: f64,
        rate: f64,
    ) -> Self {
        let sign = contact.sign();
        let row = Row {
            parent: row.parent * sign,
            child: row.child * sign,
            force: row.force * sign,
            couple: row.couple * sign,
        };
        Self {
            place: Place::Limit(contact),
            rows: vec![ContactRow { row, ends }],
            frame: [Vector3::zeros(); 3],
            restitution,
            friction: 0.0,
            before: [rate, 0.0, 0.0],
        }
    }

    /// Mobile bodies.
    pub(super) fn ends(&self) -> [Option<usize>; 2] {
        self.rows.first().map_or([None, None], |row| row.ends)
    }

    /// Index of its pair, if it is a point.
    pub(super) fn pair(&self) -> Option<usize> {
        match self.place {
            Place::Point { pair, .. } => Some(pair),
            Place::Limit(_) => None,
        }
    }

    /// Number of rows that the law sees: a smooth point has its normal alone.
    pub(super) fn n_rows(&self) -> usize {
        if self.friction > 0.0 {
            self.rows.len()
        } else {
            1
        }
    }
}
