//! Closing of joints that the places of the bodies leave open.

use crate::JointError;
use crate::assembly::{LIMIT_SLACK, OPEN};
use crate::elimination::Elimination;
use crate::multibody::Multibody;
use carom_lie::So3;
use carom_variational::State;
use nalgebra::Vector6;

/// Residual, as a fraction of the size of the system, at which a Newton step without improvement has reached rounding.
const AT_ROUNDING: f64 = 1e-13;

/// Largest residual of assembled joints, as a fraction of the size of the system.
const ASSEMBLED: f64 = 1e-9;

/// Largest number of Newton steps; two or three are needed from residuals of 1e-6, five from rounded numbers.
const NEWTON_STEPS: usize = 50;

/// Smallest fraction of a Newton step.
const LEAST_STEP: f64 = 1e-3;

/// Coordinate that the assembly holds at a limit: joint, row of its rate, index among all coordinates, limit, and the length of a
/// unit of the coordinate (m).
#[derive(Clone, Copy)]
pub(crate) struct Held {
    joint: usize,
    row: usize,
    pub(crate) coordinate: usize,
    pub(crate) limit: f64,
    unit: f64,
}

impl Multibody {
    /// Closes joints that rounded numbers leave open, and holds those coordinates at their limits that this would move beyond
    /// them. `start`: coordinates before the closing; `held`: receives the coordinates at limits.
    pub(crate) fn close_within_limits(
        &self,
        states: &mut Vec<State>,
        near: &[f64],
        start: &[f64],
        held: &mut Vec<Held>,
    ) -> Result<(), JointError> {
        let open = states.clone();
        let mut q = vec![0.0; near.len()];
        // Each round holds one coordinate more.
        loop {
            states.clone_from(&open);
            self.close_positions(states, near, held)?;
            self.measure(states, near, &mut q);
            let before = held.len();
            for (j, joint) in self.joints().iter().enumerate() {
                let (range, (_, rates)) = (self.coordinates_of(j), self.rows_of(j));
                for (k, c) in joint.coordinates.iter().enumerate() {
                    let coordinate = range.start + k;
                    let limit = q[coordinate].clamp(c.lower, c.upper);
                    let was_inside = start[coordinate] >= c.lower - LIMIT_SLACK
                        && start[coordinate] <= c.upper + LIMIT_SLACK;
                    let is_held = held.iter().any(|held| held.coordinate == coordinate);
                    if (limit - q[coordinate]).abs() > LIMIT_SLACK && was_inside && !is_held {
                        let is_angle = joint.kind.coordinates[k].is_angle;
                        held.push(Held {
                            joint: j,
                            row: rates + k,
                            coordinate,
                            limit,
                            unit: if is_angle { self.size() } else { 1.0 },
                        });
                    }
                }
            }
            if held.len() == before {
                return Ok(());
            }
        }
    }

    /// Moves and rotates the bodies so that all joint conditions are fulfilled, by Newton's method. Each iteration takes the
    /// smallest displacement in the metric of the kinetic energy. `near`: approximate values of the joint coordinates. Fails if
    /// the conditions cannot be fulfilled.
    pub(crate) fn close_positions(
        &self,
        states: &mut [State],
        near: &[f64],
        held: &[Held],
    ) -> Result<(), JointError> {
        let mut elimination = Elimination::new(self.tree());
        let mut rows = Vec::new();
        let mut compliance = self.conditions_only();
        for held in held {
            compliance[held.row] = 0.0;
        }
        let (mut wanted, mut out) = (vec![0.0; self.n_rows()], vec![0.0; self.n_rows()]);
        let (mut last, mut q) = (f64::INFINITY, near.to_vec());
        let mut started_open = None;
        for _ in 0..NEWTON_STEPS {
            let relative = self.residual_with(states, near, held, &mut q);
            // Rounding is reached when a step does not reduce the residual.
            if relative == 0.0 || (relative <= AT_ROUNDING && relative >= 0.5 * last) {
                return Ok(());
            }
            last = relative;
            let is_open = *started_open.get_or_insert(relative > OPEN) && relative > OPEN;
            self.rows(states, near, &mut rows);
            self.factor(&mut elimination, states, &rows, &compliance, 0.0)?;
            for (j, joint) in self.joints().iter().enumerate() {
                let frames = joint.frames(states);
                let (first, _) = self.rows_of(j);
                for (k, residual) in joint.residuals(&frames).enumerate() {
                    wanted[first + k] = -residual;
                }
            }
            for held in held {
                wanted[held.row] = held.limit - q[held.coordinate];
            }
            let mut shift = vec![Vector6::zeros(); states.len()];
            elimination.solve(&self.scene(), &rows, &wanted, &mut shift, &mut out);
            let start = states.to_vec();
            let mut fraction = 1.0;
            loop {
                self.shift(&start, &shift, fraction, states);
                if !is_open || self.residual_with(states, near, held, &mut q) < relative {
                    break;
                }
                fraction *= 0.5;
                if fraction < LEAST_STEP {
                    states.copy_from_slice(&start);
                    return self.closed(states, near, held, true);
                }
            }
        }
        self.closed(states, near, held, started_open == Some(true))
    }

    /// Moves and rotates the bodies by a fraction of a shift from the states `start`.
    fn shift(&self, start: &[State], shift: &[Vector6<f64>], fraction: f64, states: &mut [State]) {
        for (body, (start, shift)) in start.iter().zip(shift).enumerate() {
            if self.rigid(body).is_some() {
                let shift = shift * fraction;
                let state = &mut states[body];
                state.position = start.position + shift.fixed_rows::<3>(0);
                let turn = So3::exp(&shift.fixed_rows::<3>(3).into_owned());
                state.rotation = start.rotation.compose(&turn);
            }
        }
    }

    /// Returns the largest residual of the joint conditions and of the coordinates that are held at limits, as a fraction of the
    /// size of the system. `q` receives the coordinates if some are held.
    fn residual_with(&self, states: &[State], near: &[f64], held: &[Held], q: &mut [f64]) -> f64 {
        let worst = self.worst_residual(states).map_or(0.0, |worst| worst.1);
        if held.is_empty() {
            return worst;
        }
        self.measure(states, near, q);
        let off = held
            .iter()
            .map(|held| (held.limit - q[held.coordinate]).abs() * held.unit / self.size());
        off.fold(worst, f64::max)
    }

    /// Checks that the joint conditions hold. `is_rounded`: true if rounded numbers left them open.
    fn closed(
        &self,
        states: &[State],
        near: &[f64],
        held: &[Held],
        is_rounded: bool,
    ) -> Result<(), JointError> {
        let relative = self.residual_with(states, near, held, &mut near.to_vec());
        if relative <= ASSEMBLED {
            return Ok(());
        }
        let worst = self.worst_residual(states);
        let held = held
            .first()
            .map(|held| (held.joint, relative, relative * self.size(), true));
        let Some((joint, own, residual, is_length)) = worst.filter(|w| w.1 >= relative).or(held)
        else {
            return Ok(());
        };
        if is_rounded {
            let unit = if is_length { self.size() } else { 1.0 };
            return Err(self.open(joint, "residual", residual, is_length, ASSEMBLED * unit));
        }
        Err(JointError::InconsistentJoints {
            joint: self.joints()[joint].name.clone(),
            time: 0.0,
            residual: own,
        })
    }
}
