//! Contacts of jointed bodies (limits and contact points), their impacts, and the events within a step.

use crate::ImpactContact;
use carom_joints::coordinates::CoordinateSpec;
use carom_joints::frames::Row;
use carom_joints::step::contacts::ContactRow;
use nalgebra::Vector3;
use std::borrow::Cow;

/// Contact of a joint coordinate at its upper or lower limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LimitContact {
    /// Index of the joint coordinate, counted over all joints.
    pub coordinate: usize,
    /// True for the upper limit, false for the lower one.
    pub upper: bool,
}

impl LimitContact {
    /// Returns the limit at which the joint coordinate `k` is `held`, or `None` if the coordinate is free or held by friction.
    pub(super) fn of(k: usize, spec: &CoordinateSpec, held: Option<f64>) -> Option<Self> {
        let (coordinate, upper) = (k, held? == spec.upper);
        (upper || held? == spec.lower).then_some(Self { coordinate, upper })
    }

    /// Returns the sign of the limit's contact direction along the joint coordinate: 1 at the lower limit, −1 at the upper one.
    pub(super) fn sign(self) -> f64 {
        if self.upper { -1.0 } else { 1.0 }
    }
}

/// Contact of a system of jointed bodies that can last for some time: a joint coordinate at its limit, or two bodies (or a
/// body and a plane) that touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum JointContact {
    /// A limit of a joint coordinate.
    Limit(LimitContact),
    /// Contact of two bodies, or of a body and a plane. Indices count the bodies in their order, then the planes.
    Pair {
        /// Index of a mobile body; of two mobile bodies, the smaller index.
        first: usize,
        /// Index of the other body or plane.
        second: usize,
    },
}

/// Limit of a joint coordinate that takes part in an impact, with its impulse and the velocity before.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LimitHit {
    /// Joint limit that takes part in the impact.
    pub contact: LimitContact,
    /// Impulse of the limit on the joint coordinate, at least 0 (N s or N m s); it acts away from the limit.
    pub impulse: f64,
    /// Rate of the distance to the limit before the impact, negative if approaching (m/s or rad/s).
    pub normal_velocity: f64,
}

/// Constraint impulse that a joint exerts on its child body during an impact.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Reaction {
    /// Index of the joint.
    pub joint: usize,
    /// Constraint impulse on the child, at the origin of the child's joint frame (N s).
    pub impulse: Vector3<f64>,
    /// Constraint moment on the child, about the origin of the child's joint frame, integrated over the impact (N m s).
    pub moment: Vector3<f64>,
}

/// Impact of jointed bodies: all contacts of one group of connected bodies at one time, with impulses and energies.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JointImpact {
    /// Time of the impact (s).
    pub time: f64,
    /// Name of the impact law that gave the solution.
    pub law: Cow<'static, str>,
    /// Kinetic energy of the whole system before the impact (J).
    pub energy_minus: f64,
    /// Kinetic energy of the whole system after the impact (J).
    pub energy_plus: f64,
    /// Joint limits that take part in the impact.
    pub hits: Vec<LimitHit>,
    /// Contact points that take part in the impact.
    pub touches: Vec<ImpactContact>,
    /// Constraint impulses of the joints in the impact.
    pub reactions: Vec<Reaction>,
}

/// An event within a step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Change {
    /// A coordinate reaches a limit.
    Limit(LimitContact),
    /// A pair comes into contact (index of the pair).
    Touch(usize),
    /// A sliding coordinate stops (index of the coordinate).
    Stop(usize),
    /// A sticking coordinate starts to slide (index of the coordinate).
    Slip(usize),
}

/// Location of a contact at an instant: a limit or a contact point.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Limit(LimitContact),
    /// A contact point of a pair.
    Point {
        /// Index of the pair.
        pair: usize,
        point: Vector3<f64>,
        gap: f64,
    },
}

/// A contact at an instant, with the data of an impact problem.
#[derive(Clone, Debug)]
pub(super) struct Posed {
    pub(super) place: Place,
    /// Row of the normal; for points also the rows of two tangents.
    pub(super) rows: Vec<ContactRow>,
    /// Directions of the rows of a point, in space.
    pub(super) frame: [Vector3<f64>; 3],
    pub(super) restitution: f64,
    pub(super) friction: f64,
    /// Velocity of each row before the impact (m/s or rad/s).
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

    /// Returns the indices of the two mobile bodies of the contact, the second one first. An entry is `None` for a body or plane
    /// that never moves.
    pub(super) fn ends(&self) -> [Option<usize>; 2] {
        self.rows.first().map_or([None, None], |row| row.ends)
    }

    /// Returns the index of the touching pair of bodies to which this contact point belongs, or `None` if the contact is a limit
    /// of a joint coordinate.
    pub(super) fn pair(&self) -> Option<usize> {
        match self.place {
            Place::Point { pair, .. } => Some(pair),
            Place::Limit(_) => None,
        }
    }

    /// Returns the number of contact directions of this contact in the impact problem: one normal, and two tangents at a point
    /// with friction.
    pub(super) fn n_rows(&self) -> usize {
        if self.friction > 0.0 {
            self.rows.len()
        } else {
            1
        }
    }
}
