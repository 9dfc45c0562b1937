//! Steps of higher order, trial steps, and responses to impulses.

use super::{Modes, Step, Stepper};
use crate::JointError;
use crate::coordinates::Actuator;
use crate::elimination::{push, rate};
use crate::frames::Row;
use crate::multibody::Posture;
use nalgebra::{DMatrix, SymmetricEigen, Vector3, Vector6};

/// Joint impulses of the last time steps of a [`Stepper`], from which it extrapolates the initial guess of the next step.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct History(Vec<Vec<f64>>);

impl History {
    /// True if the impulses are those of a system with `n_rows` joint rows.
    pub fn fits(&self, n_rows: usize) -> bool {
        self.0.iter().all(|entry| entry.len() == n_rows)
    }
}

impl Stepper<'_> {
    /// Computes one time step of higher order as a composition of substeps of order 2. `fractions` are the lengths of the
    /// substeps relative to `length` (s); they add up to 1 and determine the order, for example
    /// [`SUZUKI_4`](super::SUZUKI_4). The step begins in the state `start` at `time` (s).
    ///
    /// # Errors
    ///
    /// Errors of [`step`](Self::step).
    pub fn compose(
        &mut self,
        start: &Posture,
        time: f64,
        length: f64,
        fractions: &[f64],
        modes: &Modes,
    ) -> Result<Step, JointError> {
        let [first, rest @ ..] = fractions else {
            return self.step(start, time, length, modes);
        };
        if !rest.is_empty() {
            self.forget();
        }
        let mut whole = self.step(start, time, first * length, modes)?;
        let mut at = time + first * length;
        for fraction in rest {
            let part = fraction * length;
            self.forget();
            let next = self.step(&whole.end, at, part, modes)?;
            at += part;
            whole.works.add(&next.works);
            whole.given += next.given;
            for (load, more) in whole.loads.iter_mut().zip(&next.loads) {
                load.add(more);
            }
            for (holding, more) in whole.holding.iter_mut().zip(&next.holding) {
                holding[0] += more[0];
                holding[1] += more[1];
            }
            (whole.end, whole.rates) = (next.end, next.rates);
            whole.residual = whole.residual.max(next.residual);
            whole.friction_exceeded |= next.friction_exceeded;
            whole.iterations += next.iterations;
        }
        Ok(whole)
    }

    /// Computes a trial time step like [`compose`](Self::compose) does. Afterwards the stored impulses of earlier steps are
    /// restored, so that the next step starts as if there had been no trial.
    ///
    /// # Errors
    ///
    /// Errors of [`step`](Self::step).
    pub fn preview(
        &mut self,
        start: &Posture,
        time: f64,
        length: f64,
        fractions: &[f64],
        modes: &Modes,
    ) -> Result<Step, JointError> {
        let history = self.history();
        let step = self.compose(start, time, length, fractions, modes);
        self.restore(history);
        step
    }

    /// Returns the joint impulses of earlier time steps that this integrator stores as initial guess of the next step; input
    /// of [`restore`](Self::restore).
    pub fn history(&self) -> History {
        History(self.history.clone())
    }

    /// Returns the joint impulses of the last time step alone, in the form of [`history`](Self::history).
    pub fn latest(&self) -> History {
        History(self.history.iter().take(1).cloned().collect())
    }

    /// Replaces the stored joint impulses of earlier time steps, from which the initial guess of the next step is computed.
    pub fn restore(&mut self, history: History) {
        self.history = history.0;
    }

    /// Returns the number of joint conditions of the system at a posture, and the number of linearly independent ones among
    /// them.
    ///
    /// # Errors
    ///
    /// [`JointError::SingularJoints`].
    pub fn condition_ranks(&mut self, posture: &Posture) -> Result<(usize, usize), JointError> {
        let mb = self.multibody;
        let mut rows = Vec::new();
        mb.rows(&posture.states, &posture.q, &mut rows);
        let (states, only) = (&posture.states, mb.conditions_only());
        self.kept.forget();
        mb.factor(&mut self.elimination, states, &rows, &only, 0.0)?;
        Ok(self.elimination.rank())
    }

    /// Computes the response of the jointed bodies to impulses on the joint rows: returns the velocities of all bodies
    /// afterwards, and the impulse of each joint row. `rows` are the rows of all joints at the posture, `impulses` has one
    /// entry per row (N s or N m s). `time` (s) is reported in errors.
    ///
    /// # Errors
    ///
    /// [`JointError::SingularJoints`].
    pub fn strike(
        &mut self,
        posture: &Posture,
        rows: &[Row],
        impulses: &[f64],
        time: f64,
    ) -> Result<(Vec<Vector6<f64>>, Vec<f64>), JointError> {
        let mb = self.multibody;
        self.compliances(0.0, |_| false);
        self.kept.forget();
        let (elimination, states) = (&mut self.elimination, &posture.states);
        mb.factor(elimination, states, rows, &self.compliance, time)?;
        let mut change = vec![Vector6::zeros(); mb.n_bodies()];
        for (row, impulse) in impulses.iter().enumerate().filter(|(_, p)| **p != 0.0) {
            let ends = mb.ends(mb.joint_of_row(row));
            push(&rows[row], ends, *impulse, &mut change);
        }
        let mut multipliers = vec![0.0; mb.n_rows()];
        self.wanted.fill(0.0);
        let scene = mb.scene();
        self.elimination
            .solve(&scene, rows, &self.wanted, &mut change, &mut multipliers);
        mb.velocities(&posture.states, &mut self.velocities);
        for (velocity, before) in change.iter_mut().zip(&self.velocities) {
            *velocity += before;
        }
        Ok((change, multipliers))
    }

    /// Returns the highest natural frequency of the system at a posture (rad/s), due to joint springs and proportional gains
    /// of actuators, and the index of the joint coordinate with the largest amplitude in this mode. `None` if there are no
    /// springs or gains.
    ///
    /// # Errors
    ///
    /// [`JointError::SingularJoints`].
    pub fn fastest(&mut self, posture: &Posture) -> Result<Option<(f64, usize)>, JointError> {
        let mb = self.multibody;
        let mut rows = Vec::new();
        mb.rows(&posture.states, &posture.q, &mut rows);
        let mut sprung = Vec::new();
        self.each_coordinate(|_, joint, row, k, c| {
            let gain = c.actuator.as_ref().map_or(0.0, Actuator::proportional);
            if c.stiffness + gain > 0.0 {
                sprung.push((joint, row, k, (c.stiffness + gain).sqrt()));
            }
        });
        let n = sprung.len();
        if n == 0 {
            return Ok(None);
        }
        let mut still = posture.clone();
        for state in &mut still.states {
            state.linear_momentum = Vector3::zeros();
            state.angular_momentum = Vector3::zeros();
        }
        let mut matrix = DMatrix::zeros(n, n);
        let mut impulses = vec![0.0; mb.n_rows()];
        for (j, &(_, row, _, root)) in sprung.iter().enumerate() {
            impulses[row] = root;
            let (reply, _) = self.strike(&still, &rows, &impulses, 0.0)?;
            impulses[row] = 0.0;
            for (i, &(joint, row, _, root)) in sprung.iter().enumerate() {
                matrix[(i, j)] = root * rate(&rows[row], mb.ends(joint), &reply);
            }
        }
        let eigen = SymmetricEigen::new((&matrix + matrix.transpose()) * 0.5);
        let mut best: Option<(f64, usize)> = None;
        for (k, value) in eigen.eigenvalues.iter().enumerate() {
            if best.is_none_or(|(most, _)| *value > most) {
                best = Some((*value, sprung[eigen.eigenvectors.column(k).iamax()].2));
            }
        }
        Ok(best.map(|(square, k)| (square.max(0.0).sqrt(), k)))
    }
}
