//! Systems: from a configuration to mass matrix and contact rows.

mod matrices;
mod outline;
mod planar_body;
mod tables;

pub use tables::DataSetup;

use crate::poses::{COMPONENTS, Setup};
use crate::states::Quantity;
use crate::states::State;
use crate::states::state::Labels;
pub(crate) use matrices::Matrices;
pub(crate) use outline::Outline;
pub(crate) use planar_body::{PlanarBody, Wall};
use std::ops::Range;
use std::sync::Arc;

/// System whose impacts were measured.
#[derive(Clone, Debug)]
pub(crate) enum System {
    /// Mass matrices and contact rows are given with each impact.
    Matrices(Arc<Matrices>),
    /// One rigid body in the plane over a straight wall.
    PlanarBody(Arc<PlanarBody>),
    /// Tracked body that hits a plane.
    Poses(Arc<Setup>),
}

impl From<Setup> for System {
    fn from(setup: Setup) -> Self {
        Self::Poses(Arc::new(setup))
    }
}

impl System {
    /// Returns the names of the n coordinates; numbers from 0 where they have none.
    pub(crate) fn coordinates(&self, n: usize) -> Vec<String> {
        match self {
            Self::PlanarBody(_) => PlanarBody::COORDINATES.map(str::to_owned).to_vec(),
            Self::Poses(_) => COMPONENTS.map(|(name, _)| name.to_owned()).to_vec(),
            Self::Matrices(own) if !own.coordinates.is_empty() => own.coordinates.clone(),
            Self::Matrices(_) => (0..n).map(|k| k.to_string()).collect(),
        }
    }

    /// Returns the units of the n velocities; empty where they are not known.
    pub(crate) fn units(&self, n: usize) -> Vec<&'static str> {
        match self {
            Self::Poses(_) => COMPONENTS.map(|(_, unit)| unit).to_vec(),
            Self::PlanarBody(_) => vec!["m/s", "m/s", "rad/s"],
            Self::Matrices(_) => vec![""; n],
        }
    }

    /// Returns the number of coordinates, if the configuration says it.
    pub(crate) fn dim(&self) -> Option<usize> {
        match self {
            Self::PlanarBody(_) => Some(PlanarBody::COORDINATES.len()),
            Self::Poses(_) => Some(COMPONENTS.len()),
            Self::Matrices(own) => (!own.coordinates.is_empty()).then_some(own.coordinates.len()),
        }
    }

    /// Returns the angles among the coordinates; `None` if they are not known.
    pub(crate) fn angles(&self) -> Option<Vec<usize>> {
        match self {
            Self::PlanarBody(_) | Self::Poses(_) => self.inertia().map(Iterator::collect),
            Self::Matrices(own) => own.angles.clone(),
        }
    }

    pub(crate) fn planar(&self) -> Option<&Arc<PlanarBody>> {
        match self {
            Self::PlanarBody(body) => Some(body),
            Self::Matrices(_) | Self::Poses(_) => None,
        }
    }

    /// Returns the coordinates whose mass is the moment of inertia, if the configuration has one.
    pub(crate) fn inertia(&self) -> Option<Range<usize>> {
        match self {
            Self::PlanarBody(_) => Some(2..3),
            Self::Poses(_) => Some(3..6),
            Self::Matrices(_) => None,
        }
    }

    /// Returns the quantities of the columns for the configuration and for the velocities, in their order.
    pub(crate) fn quantities(&self) -> [&'static [Quantity]; 2] {
        match self {
            Self::PlanarBody(_) => PlanarBody::QUANTITIES,
            Self::Matrices(_) | Self::Poses(_) => [&[], &[]],
        }
    }

    /// Computes the state of an impact from a row of a table.
    ///
    /// # Errors
    ///
    /// A message if the system has no such state.
    pub(crate) fn state(
        &self,
        labels: Labels,
        configuration: Vec<f64>,
        minus: Vec<f64>,
        plus: Vec<f64>,
    ) -> Result<State, String> {
        match self {
            Self::PlanarBody(body) => Ok(State {
                labels: Arc::new(labels),
                metric: Arc::clone(&body.metric),
                contacts: body.touches(&configuration),
                constraints: Vec::new(),
                configuration,
                minus,
                plus,
            }),
            Self::Matrices(_) | Self::Poses(_) => {
                Err("a table needs a system that computes contact rows".to_owned())
            }
        }
    }

    /// Computes mass matrix and contact rows of a state anew, from its configuration. The rows stay where they are given.
    pub(crate) fn pose(&self, state: &mut State) {
        if let Self::PlanarBody(body) = self {
            state.metric = Arc::clone(&body.metric);
            state.contacts = body.touches(&state.configuration);
        }
    }
}
