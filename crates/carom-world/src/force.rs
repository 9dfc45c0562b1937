//! Forces at the points of contacts, as samples tell them.

use crate::pair_table::Pair;
use carom_variational::State;
use nalgebra::Vector3;

/// Force at a point of a contact: mean over the step that ends at the time of a sample. In time stepping it contains impacts within
/// that step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct ContactForce {
    /// Index of a mobile body; of two mobile bodies, the smaller index.
    pub first: usize,
    /// Index of the other body or plane; bodies are counted first.
    pub second: usize,
    /// Position of the point in space (m).
    pub point: Vector3<f64>,
    /// Force on the first body, in space (N).
    pub force: Vector3<f64>,
}

impl ContactForce {
    /// Creates the force of a point of a pair at which a step has this mean force.
    pub(crate) fn new(pair: Pair, pressed: &PointForce) -> Self {
        Self {
            first: pair.0,
            second: pair.1,
            point: pressed.point,
            force: pressed.force,
        }
    }

    /// True for finite numbers of a pair.
    pub(crate) fn is_sound(&self, is_pair: impl Fn(Pair) -> bool) -> bool {
        let mut numbers = self.point.iter().chain(&self.force);
        is_pair((self.first, self.second)) && numbers.all(|x| x.is_finite())
    }
}

/// States of all bodies at one time, and forces of contacts over the steps that end there.
pub(crate) type Shown = (Vec<State>, Vec<ContactForce>);

/// Mean force of a step at a point of one of its pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct PointForce {
    /// Place of the pair in the list of the step.
    pub(crate) pair: usize,
    /// Position of the point in space (m).
    pub(crate) point: Vector3<f64>,
    /// Force on the first body of the pair, in space (N).
    pub(crate) force: Vector3<f64>,
}

impl PointForce {
    /// Creates the `force` (N) at a `point` (m) of the pair at the place `pair` of the list of the step.
    pub(crate) fn new(pair: usize, point: Vector3<f64>, force: Vector3<f64>) -> Self {
        Self { pair, point, force }
    }
}

/// Forces of the steps that ended last.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct EndedForces {
    /// Time at which these steps ended (s).
    time: f64,
    forces: Vec<ContactForce>,
}

impl EndedForces {
    /// Adds the forces of a step that ends at `time` (s). Those of steps that ended before are forgotten.
    pub(crate) fn note(&mut self, time: f64, forces: impl Iterator<Item = ContactForce>) {
        if time != self.time {
            self.time = time;
            self.forces.clear();
        }
        self.forces.extend(forces);
    }

    /// Returns the forces of the steps that ended at `time` (s).
    pub(crate) fn at(&self, time: f64) -> &[ContactForce] {
        if time == self.time { &self.forces } else { &[] }
    }

    /// True for finite numbers of pairs.
    #[cfg(feature = "serde")]
    pub(crate) fn is_sound(&self, is_pair: impl Fn(Pair) -> bool) -> bool {
        let mut forces = self.forces.iter();
        self.time.is_finite() && forces.all(|force| force.is_sound(&is_pair))
    }
}
