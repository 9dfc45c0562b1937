//! Events that a run reports, and the queue of future events.

use crate::MotionError;
use crate::force::ContactForce;
use crate::spec::World;
use crate::stepping::StepCounts;
use carom_motion::hybrid::{self, Ending};
use carom_numeric::time::Time;
use carom_variational::State;
use nalgebra::Vector3;
use std::borrow::Cow;
use std::cmp::Ordering;

/// Contact point of an impact between two bodies, or a body and a plane: position, normal, impulse and velocity before.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ImpactContact {
    /// Index of a mobile body; of two mobile bodies, the smaller index.
    pub first: usize,
    /// Index of the other body or plane; bodies are counted first.
    pub second: usize,
    /// Position of the contact point in space (m).
    pub point: Vector3<f64>,
    /// Unit normal in space, from the second body or plane into the first body.
    pub normal: Vector3<f64>,
    /// Impulse on the first body, in space (N s).
    pub impulse: Vector3<f64>,
    /// Velocity along the normal before the impact, negative if approaching (m/s).
    pub normal_velocity: f64,
}

/// Impact of rigid bodies: all contacts that the impact law resolves together at one time, with energies and the states
/// after.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Impact {
    /// Time of the impact (s).
    pub time: f64,
    /// Name of the impact law that gave the solution; `accumulated` at an accumulation point of infinitely many impacts.
    pub law: Cow<'static, str>,
    /// Kinetic energy of the bodies involved before the impact (J). In time stepping, the work of gravity in the step is added.
    pub energy_minus: f64,
    /// Kinetic energy of the bodies involved after the impact (J).
    pub energy_plus: f64,
    /// Contact points that take part in the impact.
    pub contacts: Vec<ImpactContact>,
    /// Indices of the bodies involved, with their states after the impact.
    pub states: Vec<(usize, State)>,
}

/// States of all bodies of a world at one of the sample times that the caller of a run requested.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Sample<'e> {
    /// Time of the sample (s).
    pub time: f64,
    /// States of all bodies at that time.
    pub states: &'e [State],
    /// Forces of the contacts over the steps that end there.
    pub contacts: &'e [ContactForce],
}

impl<'e> Sample<'e> {
    /// Creates a sample of the `states` of all bodies and the forces of `contacts` at `time` (s).
    pub fn new(time: f64, states: &'e [State], contacts: &'e [ContactForce]) -> Self {
        Self {
            time,
            states,
            contacts,
        }
    }
}

/// Event that a run of a world reports: sample, impact, or change of a lasting contact. A contact is identified by the
/// indices of its two bodies, or body and plane (bodies are counted first).
pub type Event<'e> = hybrid::Event<'e, Sample<'e>, Impact, (usize, usize)>;

/// Event of a session of a world: impact, or change of a lasting contact. It owns all its data.
pub type WorldEvent = hybrid::OwnedEvent<Impact, (usize, usize)>;

/// Energy and momentum balance of a run of a world of rigid bodies: losses, errors, and impulses of planes and fixed bodies.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Balance {
    /// Energy lost in impacts (J).
    pub impact_loss: f64,
    /// Energy (J) that lasting contacts lost in friction, and at points that landed within a step. In time stepping: energy lost
    /// by all impulses that belong to no impact.
    pub contact_loss: f64,
    /// Largest violation of the energy balance (J): energy plus losses, compared with the energy at the start. It contains
    /// rounding, and the error of the steps of lasting contact. In time stepping it contains rounding alone, because
    /// `contact_loss` contains the work of all impulses.
    pub energy_error: f64,
    /// Potential energy that time stepping added when it moved overlapping bodies apart (J).
    pub projection: f64,
    /// Work of the normal impulses of lasting contacts in time stepping (J), which is contained in `contact_loss` with the
    /// opposite sign. In the exact motion this work is zero; here it is the error of the steps, which is of first order.
    pub lasting_work: f64,
    /// Energy in the springs of the contacts at the end of time stepping, $\sum R|p|^2/2$ (J). It is in no sum: `contact_loss` has
    /// the whole work of the impulses.
    pub contact_spring: f64,
    /// Energy that inputs of a session added (J): impulses with the answer of joints and lasting contacts, and states that were set.
    pub input: f64,
    /// Work of the forces of the world, but drag, and of those that a session held (J).
    pub applied_work: f64,
    /// Energy lost in drag (J).
    pub drag_loss: f64,
    /// Energy lost in the dampers of springs (J).
    pub damper_loss: f64,
    /// Work of running surfaces (J).
    pub prescribed_work: f64,
    /// Momentum that inputs of a session added, forces included (N s).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub input_impulse: Vector3<f64>,
    /// Total impulse (N s) that each plane and each fixed body applied to the other bodies, by index; bodies are counted first.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub supports: Vec<Vector3<f64>>,
}

impl Balance {
    /// Creates the balance at the start of a run.
    pub(crate) fn new(world: &World) -> Self {
        let mut balance = Self {
            supports: vec![Vector3::zeros(); world.n_things()],
            ..Self::default()
        };
        // Constant forces begin with the run.
        let bodies = world.initial_states().iter().enumerate();
        world.book_held(bodies, [0.0, -1.0], &mut balance);
        balance
    }
}

/// Switch of a run from event-driven integration (every impact located in time) to time stepping: time and reason.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct HandedOver {
    /// Time of the switch (s).
    pub time: f64,
    /// Reason: `work` (more of it than steps in time take), `no-answer` (of an impact law or of contact forces),
    /// `no-time-between` (events), or `step-too-large`.
    pub kind: Cow<'static, str>,
    /// Text of the error with which event-driven integration would have ended.
    pub message: String,
}

/// Result of a run of a world of rigid bodies: states at the end, reason of the end, counts, and balance.
#[must_use = "the reason for the end may be an error"]
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct RunEnd {
    /// Reason for the end of the run.
    pub ending: Ending<MotionError>,
    /// Time at which the run ended (s).
    pub time: f64,
    /// States of all bodies at the end.
    pub states: Vec<State>,
    /// Forces of the contacts over the steps that end there.
    pub contacts: Vec<ContactForce>,
    /// Number of impacts of the run.
    pub n_impacts: usize,
    /// Number of time steps: steps of lasting contact, and steps of free flights that are integrated numerically.
    pub n_steps: usize,
    /// Losses and errors of energy, and impulses of the supports.
    pub balance: Balance,
    /// Smallest gap of a pair (m), taken over its impacts and the ends of its steps of lasting contact; infinite if there were
    /// neither. In time stepping: smallest gap at the middles of all steps.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub lowest_gap: f64,
    /// Counts of time stepping; `None` if there was no time stepping.
    pub stepping: Option<StepCounts>,
    /// Switch from event-driven integration to time stepping; `None` if there was no switch.
    pub handed_over: Option<HandedOver>,
}

/// Kinds of future events. Indices have 32 bits, so that the queue is small in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Next {
    /// A pair touches. `stamps` is the sum of the two flight numbers at the time of the search; the event is void if it has
    /// changed.
    Touch { pair: [u32; 2], stamps: u64 },
    /// The step of an island ends. `stamp` identifies the step.
    StepEnd { island: u32, stamp: u64 },
    /// A grid time, at which variational flights begin anew.
    Line,
    /// A body leaves its swept box; `count` identifies the box.
    Leave { body: u32, count: u64 },
    /// The contact search of a pair continues from here. `counts` is the sum of the numbers of the two swept boxes; the event is
    /// void if it has changed.
    Look { pair: [u32; 2], counts: u64 },
}

/// An entry of the queue; the earliest entry is the greatest in the order.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Entry {
    pub(crate) time: Time,
    pub(crate) next: Next,
}

impl Entry {
    fn order(&self) -> (u32, u32, u32) {
        match self.next {
            Next::StepEnd { island, .. } => (0, island, 0),
            Next::Touch { pair, .. } => (1, pair[0], pair[1]),
            Next::Line => (2, 0, 0),
            Next::Leave { body, .. } => (3, body, 0),
            Next::Look { pair, .. } => (4, pair[0], pair[1]),
        }
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        let time = other.time.compare(&self.time);
        time.then_with(|| other.order().cmp(&self.order()))
    }
}
