//! Phases in which the impulse grows along a constant direction.

use super::inertia::ContactInertia;
use super::state::State;

/// Reason for which the impulse grows along a constant direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    Frictionless,
    Stick,
    /// Sliding continues along its initial direction.
    Ray,
    /// Sliding restarts from rest.
    Resumed,
}

/// Phase with constant $I'$: sticking, straight sliding, or no friction. All its quantities have closed forms, Jia &
/// Wang, sections 6.2 and 6.3.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) kind: LineKind,
    /// Tangential impulse per unit of normal impulse.
    pub(crate) tangential: [f64; 2],
    /// Rate $v_z'$ of the normal velocity per normal impulse.
    pub(crate) normal_rate: f64,
    /// Rate $\gamma'$ of the sliding velocity per normal impulse.
    pub(crate) sliding_rate: [f64; 2],
    /// Normal impulse after which sliding stops; infinite if it does not stop.
    pub(crate) length: f64,
}

impl Line {
    /// Creates the phase of an impact without friction: the impulse is normal, and changes the sliding velocity only through the
    /// coupling of tangents and normal in the inverse inertia `w`.
    pub(crate) fn frictionless(w: &ContactInertia) -> Self {
        Self {
            kind: LineKind::Frictionless,
            tangential: [0.0; 2],
            normal_rate: w.wzz,
            sliding_rate: [w.d1, w.d2],
            length: f64::INFINITY,
        }
    }

    /// Creates the phase of an impact in which the contact sticks, Jia & Wang, Eq. (34). `w` is the inverse inertia of the
    /// contact.
    pub(crate) fn stick(w: &ContactInertia) -> Self {
        Self {
            kind: LineKind::Stick,
            tangential: [-w.demand[0], -w.demand[1]],
            normal_rate: w.schur,
            sliding_rate: [0.0; 2],
            length: f64::INFINITY,
        }
    }

    /// Creates the phase of an impact in which the contact slides in the constant direction `direction`. The sliding speed is
    /// `rho` at the start and changes by `lambda` per unit normal impulse; `mu` is the friction coefficient.
    pub(crate) fn straight(
        w: &ContactInertia,
        mu: f64,
        direction: [f64; 2],
        lambda: f64,
        rho: f64,
    ) -> Self {
        let [c, s] = direction;
        Self {
            kind: if rho > 0.0 {
                LineKind::Ray
            } else {
                LineKind::Resumed
            },
            tangential: [-mu * c, -mu * s],
            normal_rate: w.wzz - mu * (w.d1 * c + w.d2 * s),
            sliding_rate: [lambda * c, lambda * s],
            length: if lambda < 0.0 {
                rho / -lambda
            } else {
                f64::INFINITY
            },
        }
    }

    /// Advances a state of the contact along this phase, in which the impulse keeps its direction, over the normal impulse `by`.
    pub(crate) fn advance(&self, state: &mut State, by: f64) {
        let k = self.normal_rate;
        state.impulse[0] += self.tangential[0] * by;
        state.impulse[1] += self.tangential[1] * by;
        state.impulse[2] += by;
        state.sliding[0] += self.sliding_rate[0] * by;
        state.sliding[1] += self.sliding_rate[1] * by;
        let [x, y] = state.sliding;
        state.rho = (x * x + y * y).sqrt();
        state.work += (state.normal_velocity + 0.5 * k * by) * by;
        state.normal_velocity += k * by;
    }
}
