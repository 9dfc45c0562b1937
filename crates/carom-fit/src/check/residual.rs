//! Momentum that no contact can change, and the order of an impact.

use crate::changes::Change;
use crate::states::State;
use carom_contact::internal::orthonormal;
use carom_metric::{KineticMetric, kernel, nonnegative_least_squares};
use carom_numeric::decisions::RANK;
use nalgebra::{DMatrix, DVector};

/// A contact approaches after an impact, or pulls, if its share of the speed is above this. Energy is out of order if the speed
/// grows by more than this share (to first order): no noise of a sound tracker adds as much.
const SHARE: f64 = 0.05;
/// An energy ratio above this cannot result from an impact.
pub(crate) const ENERGY_RATIO: f64 = 1.02;
/// An unexplained part above this is more than impulses at the contacts can explain.
pub(crate) const UNEXPLAINED: f64 = 0.1;

/// State as it stands in the file, with the speed by which distances are divided.
#[derive(Clone, Debug)]
pub(crate) struct Speed {
    /// Coordinates of the blocks that a contact touches.
    pub(crate) touched: Vec<bool>,
    /// Kinetic norm of the velocity before the impact over these coordinates.
    pub(crate) size: f64,
}

impl Speed {
    pub(crate) fn new(state: &State) -> Self {
        let touched = state.touched();
        Self {
            size: state.norm_over(&touched, &state.minus),
            touched,
        }
    }

    /// True if distances can be divided by the speed.
    pub(crate) fn is_positive(&self) -> bool {
        self.size > 0.0 && self.size.is_finite()
    }
}

/// Part of a change of velocity that no impulse on the rows can make.
#[derive(Clone, Debug)]
pub(crate) struct Residual {
    /// Whitened velocity (n entries), relative to the speed.
    pub(crate) vector: Vec<f64>,
    /// Number of directions that no row reaches.
    pub(crate) free: usize,
}

impl Residual {
    /// Computes the residual of a mended state in the metric of the file and relative to the speed in the file: the distance of
    /// $v^+ - v^-$ from $T^{-1}M'^{-1}J'^T\lambda$, with $T$ as `change` says.
    pub(crate) fn new(file: &State, speed: f64, mended: &State, change: Option<&Change>) -> Self {
        let n = file.dim();
        let carried = |mut velocity: Vec<f64>| {
            if let Some(change) = change {
                change.carry_back(file, &mut velocity);
            }
            let mut whitened = vec![0.0; n];
            file.metric.whiten_velocity_into(&velocity, &mut whitened);
            whitened
        };
        let columns: Vec<Vec<f64>> = mended
            .rows()
            .map(|row| {
                let mut velocity = row.to_vec();
                mended.metric.whiten_in_place(&mut velocity);
                mended.metric.unwhiten_velocity_in_place(&mut velocity);
                let mut column = carried(velocity);
                let size = kernel::norm(&column);
                column.iter_mut().for_each(|x| *x /= size);
                column
            })
            .collect();
        let basis = orthonormal(columns.iter().map(Vec::as_slice), RANK);
        let change = mended.plus.iter().zip(&mended.minus);
        let mut vector = carried(change.map(|(after, before)| after - before).collect());
        for _ in 0..2 {
            for direction in basis.chunks_exact(n.max(1)) {
                let along = kernel::dot(direction, &vector);
                kernel::add_scaled(&mut vector, -along, direction);
            }
        }
        vector.iter_mut().for_each(|x| *x /= speed);
        Self {
            vector,
            free: n - basis.len() / n.max(1),
        }
    }

    /// Returns the length of the residual; 0 if the rows reach every direction.
    pub(crate) fn size(&self) -> f64 {
        if self.free == 0 {
            0.0
        } else {
            kernel::norm(&self.vector)
        }
    }
}

/// Order of an impact: contacts approach before it, none approaches after it, and no energy is gained.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Order {
    /// True if no contact approaches before the impact.
    pub(crate) separates_before: bool,
    /// True if a contact approaches after the impact by more than a twentieth of the speed.
    pub(crate) approaches_after: bool,
    /// Ratio of the kinetic energies after and before, over the coordinates of blocks that a contact touches.
    pub(crate) energy_ratio: f64,
}

impl Order {
    /// Returns the order of a state; `None` if it has no contact or no speed.
    pub(crate) fn new(state: &State, speed: &Speed) -> Option<Self> {
        if state.contacts.is_empty() || !speed.is_positive() {
            return None;
        }
        let after = state.norm_over(&speed.touched, &state.plus) / speed.size;
        let mut order = Self {
            separates_before: true,
            approaches_after: false,
            energy_ratio: after * after,
        };
        for normal in state.normals() {
            order.separates_before &= kernel::dot(normal, &state.minus) >= 0.0;
            let mut unit = normal.to_vec();
            state.metric.whiten_in_place(&mut unit);
            let rate = kernel::dot(normal, &state.plus) / (kernel::norm(&unit) * speed.size);
            order.approaches_after |= -rate > SHARE;
        }
        Some(order)
    }

    /// True if something of the order is missing.
    pub(crate) fn is_broken(&self) -> bool {
        self.separates_before || self.approaches_after || self.energy_ratio > 1.0 + 2.0 * SHARE
    }

    /// True if the impact gains energy.
    pub(crate) fn gains(&self) -> bool {
        self.energy_ratio > ENERGY_RATIO
    }
}

/// Returns the part of a change of velocity that no impulses make whose normal parts push, relative to the speed in the same
/// metric: the distance from the cone of pushes, with tangential and constraint impulses of any sign. `None` if the metric leaves
/// no speed.
pub(crate) fn unexplained(state: &State, metric: &KineticMetric, touched: &[bool]) -> Option<f64> {
    let n = state.dim();
    let sides = state
        .tangents()
        .chain(state.constraints.chunks_exact(n.max(1)));
    let sides = state.unit_rows(metric, sides);
    let basis = orthonormal(sides.iter().map(Vec::as_slice), RANK);
    let cleared = |mut vector: Vec<f64>| {
        for direction in basis.chunks_exact(n.max(1)) {
            let along = kernel::dot(direction, &vector);
            kernel::add_scaled(&mut vector, -along, direction);
        }
        vector
    };
    let normals: Vec<f64> = state
        .unit_rows(metric, state.normals())
        .into_iter()
        .flat_map(cleared)
        .collect();
    let change = state.plus.iter().zip(&state.minus).zip(touched);
    let change = change.map(|((after, before), is)| if *is { before - after } else { 0.0 });
    let whitened = |velocity: Vec<f64>| {
        let mut target = vec![0.0; n];
        metric.whiten_velocity_into(&velocity, &mut target);
        target
    };
    let target = DVector::from_vec(cleared(whitened(change.collect())));
    let before = state.minus.iter().zip(touched);
    let before = before.map(|(v, is)| if *is { *v } else { 0.0 });
    let speed = kernel::norm(&whitened(before.collect()));
    let matrix = DMatrix::from_vec(n, state.contacts.len(), normals);
    let impulses = nonnegative_least_squares(&matrix, &target, RANK).ok()?;
    (speed > 0.0).then(|| (target + matrix * impulses).norm() / speed)
}

/// True if the impulses that explain a change of velocity best need to pull: without pulls more than a twentieth of the speed
/// is left over. `free` is the length of the residual with pulls.
pub(crate) fn pulls(state: &State, speed: &Speed, free: f64) -> bool {
    let pushed = unexplained(state, &state.metric, &speed.touched);
    pushed.is_some_and(|pushed| pushed > free + SHARE)
}
