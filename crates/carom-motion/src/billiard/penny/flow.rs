//! Free motion of the penny.

use super::{PennyState, RollingPenny};
use crate::billiard::trig::sinc;

impl RollingPenny {
    /// Returns the state of the penny after it has rolled for a time `t` (s; negative for backwards) without an impact. With
    /// position $(x, y)$, radius $R$, rolling angle $\theta$, heading $\varphi$ and their constant rates $\Omega$ and
    /// $\omega$,
    ///
    /// $$ (x, y) \mathrel{+}= R\Omega t \operatorname{sinc}\tfrac{\omega t}{2}
    /// (\cos, \sin)(\varphi + \tfrac{\omega t}{2}), \quad \theta \mathrel{+}= \Omega t,
    /// \quad \varphi \mathrel{+}= \omega t, $$
    ///
    /// which is Clark & Bloch, Eq. (26), in a form that is smooth at $\omega = 0$.
    #[inline]
    pub fn flow(&self, state: &PennyState, t: f64) -> PennyState {
        let half = 0.5 * state.phi_dot * t;
        let chord = self.radius() * state.theta_dot * t * sinc(half);
        let (sin, cos) = libm::sincos(state.phi + half);
        PennyState {
            x: state.x + chord * cos,
            y: state.y + chord * sin,
            theta: state.theta + state.theta_dot * t,
            phi: state.phi + state.phi_dot * t,
            ..*state
        }
    }
}
