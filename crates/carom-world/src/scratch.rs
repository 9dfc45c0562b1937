//! Work buffers of impacts.

use crate::body::Velocity;
use crate::events::Impact;
use crate::pair::ContactPoint;
use crate::pair_table::Pair;
use crate::rows::Rows;
use carom_variational::State;

/// Touching points of an island, with their rows.
#[derive(Debug, Default)]
pub(super) struct Touching {
    pub(super) points: Vec<((usize, usize), ContactPoint)>,
    pub(super) rows: Rows,
    /// Velocity of each row (m/s).
    pub(super) velocities: Vec<f64>,
    /// Largest speed of the bodies, rotation included (m/s).
    pub(super) scale: f64,
}

/// Work buffers of an impact, reused from one impact to the next.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Bodies and planes around a body, candidates for contact.
    pub(crate) around: Vec<usize>,
    /// Bodies with variational flights.
    pub(crate) flying: Vec<usize>,
    pub(super) island: InContact,
    pub(super) touching: Touching,
    pub(super) posed: Posed,
    pub(super) impact: Option<Impact>,
}

impl Clone for Scratch {
    /// Returns empty buffers: a copy of a run fills its own.
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Bodies and pairs that touch, directly or through others.
#[derive(Debug, Default)]
pub(super) struct InContact {
    pub(super) bodies: Vec<usize>,
    pub(super) pairs: Vec<Pair>,
    /// Bodies and planes that may touch a body.
    pub(super) near: Vec<usize>,
}

/// An impact problem and its solution.
#[derive(Debug, Default)]
pub(super) struct Posed {
    pub(super) velocities: Vec<Velocity>,
    pub(super) mobility: Vec<f64>,
    pub(super) before: Vec<State>,
    pub(super) after: Vec<State>,
    /// Impulses, three rows per point (N s).
    pub(super) impulses: Vec<f64>,
    pub(super) found: Vec<ContactPoint>,
}
