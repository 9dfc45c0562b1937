//! Buffers of impacts.

use crate::world::body::Velocity;
use crate::world::events::Impact;
use crate::world::pair::ContactPoint;
use crate::world::pair_table::Pair;
use crate::world::rows::Rows;
use carom_variational::State;

/// The touching points of an island.
#[derive(Debug, Default)]
pub(super) struct Touching {
    pub(super) points: Vec<((usize, usize), ContactPoint)>,
    pub(super) rows: Rows,
    /// Velocities of the rows.
    pub(super) velocities: Vec<f64>,
    /// Speeds around the contacts.
    pub(super) scale: f64,
}

/// Buffers of an impact, kept from one to the next.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Things around a body whose contacts are looked for.
    pub(crate) around: Vec<usize>,
    /// Bodies of variational flights.
    pub(crate) flying: Vec<usize>,
    pub(super) island: InContact,
    pub(super) touching: Touching,
    pub(super) posed: Posed,
    pub(super) impact: Option<Impact>,
}

/// Things that touch, directly or through others.
#[derive(Debug, Default)]
pub(super) struct InContact {
    pub(super) bodies: Vec<usize>,
    pub(super) pairs: Vec<Pair>,
    /// Things that may touch a body.
    pub(super) near: Vec<usize>,
}

/// An impact and its answer.
#[derive(Debug, Default)]
pub(super) struct Posed {
    pub(super) velocities: Vec<Velocity>,
    pub(super) mobility: Vec<f64>,
    pub(super) before: Vec<State>,
    pub(super) after: Vec<State>,
    /// Three rows for each point.
    pub(super) impulses: Vec<f64>,
    pub(super) found: Vec<ContactPoint>,
}
