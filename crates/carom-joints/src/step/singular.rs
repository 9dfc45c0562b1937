//! Singular positions: positions at which joint rows depend on each other that are independent in positions nearby.
//!
//! The rows of a planar loop in space depend on each other in all of its positions, and forces that the dependent rows would
//! carry exist. In a singular position, such as that of a bridge of two links that is straight, the rank falls at this position
//! alone: no impulses along the rows act in the missing direction, and a step that needs them has no solution.
//!
//! Three hinges in series, as in a gimbal joint, are singular where their axes are coplanar: rates and forces of the coordinates
//! grow as the inverse of the determinant of the axes.

use super::{Modes, Stepper};
use crate::JointError;
use crate::elimination::rate;
use crate::joint::Joint;
use crate::multibody::Posture;
use carom_lie::So3;
use nalgebra::Vector6;

/// Size of the motion to a position nearby: rotation (rad), or displacement as a fraction of the size of the system. The scaled
/// complement of the rows then has eigenvalues of the order of its square, 1e-6, which is far above the limit of the rank
/// decision, 1e-10; the residuals of the motion, of the same order, have eigenvalues of the order of 1e-12.
const NEARBY: f64 = 1e-3;

/// Determinant of three unit hinge axes below which they count as coplanar.
const COPLANAR: f64 = 1e-6;

/// Determinant of the hinge axes, divided by the largest rotation of a hinge within the step, below which a step that fails has
/// failed at the singular position. Steps that would pass the singular position fail at quotients of up to about 2.
const PASSES: f64 = 4.0;

impl Stepper<'_> {
    /// Checks that the three axes of each gimbal and triaxial joint are not almost coplanar. Gimbal joints on whose coordinates
    /// no forces or limits act are not checked; `modes` holds the coordinates that are held and the caller's forces. `time` (s)
    /// is reported in the error.
    pub(super) fn check_axes(&self, modes: &Modes, time: f64) -> Result<(), JointError> {
        let joints = self.multibody.joints().iter().enumerate();
        for (j, joint) in joints.filter(|(j, joint)| self.needs_axes(*j, joint, modes)) {
            let first = self.multibody.rows_of(j).1;
            // The dual couple of the first axis has a length of 1/det along the normal of the two others.
            let length = |row: usize| self.rows[row].couple.norm();
            let most = length(first).max(length(first + 2));
            if !(most > 0.0 && most < 1.0 / COPLANAR) {
                return Err(JointError::SingularJoints {
                    joint: joint.name.clone(),
                    time,
                });
            }
        }
        Ok(())
    }

    /// Returns the `error` of a step, or [`JointError::SingularJoints`] if the step failed because it would pass the singular
    /// position of a gimbal or triaxial joint. The step begins at `time` with the given `length` (s) and `modes`.
    pub(super) fn coplanar_axes(
        &self,
        error: JointError,
        modes: &Modes,
        time: f64,
        length: f64,
    ) -> JointError {
        if !matches!(
            error,
            JointError::StepTooLarge { .. } | JointError::Flight { .. }
        ) {
            return error;
        }
        let mb = self.multibody;
        let passes = |(j, joint): &(usize, &Joint)| {
            if !self.needs_axes(*j, joint, modes) {
                return false;
            }
            let first = mb.rows_of(*j).1;
            let [a, b, c] = [0, 1, 2].map(|k| self.rows[first + k].couple);
            let rates = { first..first + 3 }
                .map(|row| rate(&self.rows[row], mb.ends(*j), &self.velocities).abs());
            let turned = length.abs() * rates.fold(0.0, f64::max);
            // The determinant of the dual couples is the inverse of that of the axes.
            1.0 <= PASSES * turned * a.dot(&b.cross(&c)).abs()
        };
        match mb.joints().iter().enumerate().find(passes) {
            Some((_, joint)) => JointError::SingularJoints {
                joint: joint.name.clone(),
                time,
            },
            None => error,
        }
    }

    /// True if the joint with the index `j` is singular where its three axes are coplanar: a triaxial joint, or a gimbal joint
    /// on whose coordinates forces or limits act.
    fn needs_axes(&self, j: usize, joint: &Joint, modes: &Modes) -> bool {
        if joint.kind.name != "gimbal" {
            return joint.kind.name == "triaxial";
        }
        let mut all = { joint.coordinates.iter() }.zip(self.multibody.coordinates_of(j));
        all.any(|(c, k)| {
            c.stiffness + c.damping + c.friction + c.armature > 0.0
                || c.actuator.is_some()
                || modes.control[k] != 0.0
                || modes.held[k].is_some()
                || c.lower.is_finite()
                || c.upper.is_finite()
        })
    }

    /// Returns true if the joint rows at the posture `start`, which were factored last, have a smaller rank than in a
    /// posture nearby. The posture nearby is reached by a small motion that all joints allow.
    pub(super) fn is_singular(&mut self, start: &Posture) -> bool {
        let mb = self.multibody;
        let (_, rank) = self.elimination.rank();
        // Any momenta that are not symmetric: the velocities that follow have parts in all free directions.
        for (body, momentum) in self.after.iter_mut().enumerate() {
            let angle = |k: usize| 1.0 + 1.7 * body as f64 + 0.9 * k as f64;
            let direction = Vector6::from_fn(|k, _| libm::sin(angle(k)));
            let mass = mb.scene().masses.get(body).copied();
            *momentum = mass.map_or_else(Vector6::zeros, |mass| mass * direction);
        }
        self.wanted.fill(0.0);
        self.elimination.solve(
            &mb.scene(),
            &self.rows,
            &self.wanted,
            &mut self.after,
            &mut self.correction,
        );
        let speed = |velocity: &Vector6<f64>| {
            let along = velocity.fixed_rows::<3>(0).norm() / mb.size();
            along.max(velocity.fixed_rows::<3>(3).norm())
        };
        let mobile = (0..mb.n_bodies()).filter(|body| mb.rigid(*body).is_some());
        let fastest = mobile
            .map(|body| speed(&self.after[body]))
            .fold(0.0, f64::max);
        if !(fastest > 0.0 && fastest.is_finite()) {
            return false;
        }
        let time = NEARBY / fastest;
        let mut nearby = start.clone();
        for (body, state) in nearby.states.iter_mut().enumerate() {
            if mb.rigid(body).is_none() {
                continue;
            }
            let velocity = self.after[body] * time;
            state.position += velocity.fixed_rows::<3>(0);
            let turn = So3::exp(&velocity.fixed_rows::<3>(3).into_owned());
            state.rotation = state.rotation.compose(&turn);
        }
        mb.measure(&nearby.states, &start.q, &mut nearby.q);
        mb.rows(&nearby.states, &nearby.q, &mut self.rows);
        self.kept.forget();
        let (elimination, states) = (&mut self.elimination, &nearby.states);
        let factored = mb.factor(elimination, states, &self.rows, &self.compliance, 0.0);
        factored.is_ok() && self.elimination.rank().1 > rank
    }
}
