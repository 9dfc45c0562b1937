//! Events that a run reports, and the queue of future events.

use crate::hybrid::{self, Ending};
use crate::world::MotionError;
use crate::world::stepping::StepCounts;
use crate::world::time::Time;
use carom_variational::State;
use nalgebra::Vector3;
use std::cmp::Ordering;

/// One contact point of an impact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImpactContact {
    /// A mobile body; of two mobile ones the earlier.
    pub first: usize,
    /// The other body, or a plane: bodies are counted first.
    pub second: usize,
    /// The point in space (m).
    pub point: Vector3<f64>,
    /// Unit normal, from the second into the first.
    pub normal: Vector3<f64>,
    /// Impulse on the first, in space (N s).
    pub impulse: Vector3<f64>,
    /// Normal velocity before, negative if they approach (m/s).
    pub normal_velocity: f64,
}

/// One instant of impact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Impact {
    /// Time (s).
    pub time: f64,
    /// Name of the law that answered; `accumulated` where infinitely many impacts end.
    pub law: &'static str,
    /// Kinetic energy of the bodies involved before (J); in time stepping with the work of gravity in the step.
    pub energy_minus: f64,
    /// Kinetic energy of the bodies involved after (J).
    pub energy_plus: f64,
    /// The points.
    pub contacts: Vec<ImpactContact>,
    /// Bodies involved, and their states after the impact.
    pub states: Vec<(usize, State)>,
}

/// The states of all bodies at a time that was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'e> {
    /// Time (s).
    pub time: f64,
    /// States of all bodies.
    pub states: &'e [State],
}

/// Something that happens during a run; contacts are named by the two things that touch.
pub type Event<'e> = hybrid::Event<'e, Sample<'e>, Impact, (usize, usize)>;

/// Balance of energy and momentum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Balance {
    /// Energy that impacts took (J).
    pub impact_loss: f64,
    /// Energy that lasting contacts took by friction and where points came down within a step (J). In time stepping: what
    /// all impulses took that are no impacts.
    pub contact_loss: f64,
    /// Largest difference of the energy and its losses from the energy at the start (J): rounding, and the error of
    /// the steps of lasting contact. In time stepping rounding alone, because `contact_loss` has all work of the impulses.
    pub energy_error: f64,
    /// Potential energy that time stepping added by taking overlaps out of positions (J).
    pub projection: f64,
    /// Work of the normal impulses of contacts that lasted, in time stepping (J). A contact that lasts does none: this part
    /// of `contact_loss`, with the other sign, is the error of the steps, which is of first order.
    pub lasting_work: f64,
    /// Impulses of planes and fixed bodies on the others, by thing (N s).
    pub supports: Vec<Vector3<f64>>,
}

/// Time and reason of a change from events to steps.
#[derive(Clone, Debug, PartialEq)]
pub struct HandedOver {
    /// Time (s).
    pub time: f64,
    /// Error with which the motion from event to event would have ended.
    pub reason: MotionError,
}

/// State of a run after its end.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEnd {
    /// Outcome.
    pub ending: Ending<MotionError>,
    /// Time (s).
    pub time: f64,
    /// States of all bodies.
    pub states: Vec<State>,
    /// Instants of impact.
    pub n_impacts: usize,
    /// Steps of lasting contact and of variational flights.
    pub n_steps: usize,
    /// Energy and momentum.
    pub balance: Balance,
    /// Smallest gap of a pair at its impacts and at the ends of its steps of lasting contact (m); infinite if
    /// there were none. In time stepping: at the middles of all steps.
    pub lowest_gap: f64,
    /// Counts of time stepping, if there was any.
    pub stepping: Option<StepCounts>,
    /// Change from events to steps, if there was one.
    pub handed_over: Option<HandedOver>,
}

/// Kinds of future events. Indices are small, so that the queue is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Next {
    /// Two things touch; the sum of their stamps says which flights this was found for.
    Touch { pair: [u32; 2], stamps: u64 },
    /// The step of an island ends.
    StepEnd { island: u32, stamp: u64 },
    /// A line of the grid, on which variational flights start anew.
    Line,
    /// A body leaves its box; `count` says which.
    Leave { body: u32, count: u64 },
    /// The contact of a pair has been looked for up to here, in boxes whose counts have this sum.
    Look { pair: [u32; 2], counts: u64 },
}

/// An entry of the queue; the earliest is the greatest.
#[derive(Clone, Copy, Debug, PartialEq)]
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
