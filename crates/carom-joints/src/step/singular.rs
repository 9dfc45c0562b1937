//! Singular positions: positions at which joint rows depend on each other that are independent in positions nearby.
//!
//! The rows of a planar loop in space depend on each other in all of its positions, and forces that the dependent rows would
//! carry exist. In a singular position, such as that of a bridge of two links that is straight, the rank falls at this position
//! alone: no impulses along the rows act in the missing direction, and a step that needs them has no solution.

use super::Stepper;
use crate::multibody::Posture;
use carom_lie::So3;
use nalgebra::Vector6;

/// Size of the motion to a position nearby: rotation (rad), or displacement as a fraction of the size of the system. The scaled
/// complement of the rows then has eigenvalues of the order of its square, 1e-6, which is far above the limit of the rank
/// decision, 1e-10; the residuals of the motion, of the same order, have eigenvalues of the order of 1e-12.
const NEARBY: f64 = 1e-3;

impl Stepper<'_> {
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
