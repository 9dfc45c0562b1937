//! Integration schemes of Jia & Wang's Table 1, for comparison.

use super::events::{Event, Events, Phase};
use super::flow::normalized;
use super::impact::check;
use super::inertia::ContactInertia;
use super::options::ImpactOptions;
use super::recorder::Blind;
use super::solve::Run;
use super::state::State;
use crate::TwoBodyError;
use nalgebra::Vector3;

/// Tolerance of the test for straight sliding in Algorithm 1 of Jia & Wang. Sliding counts as straight if the sine of the angle
/// between the sliding velocity $\gamma$ and its derivative $\gamma'$ with respect to the normal impulse is below this value. The
/// paper does not state the value; 0.08 reproduces the iteration counts of the paper.
pub const PAPER_LINE_TOLERANCE: f64 = 0.08;

/// Fraction of the initial sliding speed below which Algorithm 1 counts the contact as at rest.
const REST_TOLERANCE: f64 = 1e-3;

/// Largest number of Euler steps.
const MAX_ITERATIONS: usize = 20_000_000;

/// Integration scheme of Algorithm 1 of Jia & Wang for a frictional impact. The scheme determines the step size of the explicit
/// Euler steps, and the condition on which they end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EulerScheme {
    /// NI: a fixed step of normal impulse until the end of the impact, without closed forms.
    Pure {
        /// Normal impulse per step, N·s.
        step: f64,
    },
    /// FS: a fixed step until sliding is straight or has stopped, then closed forms.
    Fixed {
        /// Normal impulse per step, N·s.
        step: f64,
    },
    /// VS: the step of Eq. (36), $h = (h_1/|\gamma'| + h_2/(|\kappa||\gamma'|))/2$, until sliding is straight or has
    /// stopped, then closed forms.
    ///
    /// Eq. (37) of the paper for the curvature $\kappa$ of the hodograph has a wrong power of $\gamma$. With $\kappa =
    /// \gamma'\times\gamma''/|\gamma'|^3$ the example of pin and ball takes 29 iterations, as the paper reports; with the
    /// printed equation it takes 16.
    Variable {
        /// Parameter $h_1$ of the step.
        first: f64,
        /// Parameter $h_2$ of the step.
        second: f64,
    },
}

/// Result of an impact that was integrated by explicit Euler steps ([`euler_impact`]): impulse, number of steps
/// and events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EulerImpact {
    /// Impulse on body 1, N·s.
    pub impulse: Vector3<f64>,
    /// Number of Euler steps.
    pub iterations: usize,
    /// Events in order. An event during Euler steps is recorded at the end of the step that detects it.
    pub events: Events,
}

/// Computes a frictional impact with energetic restitution by Algorithm 1 of Jia & Wang, an explicit Euler method whose step size
/// `scheme` determines. `w` is the inverse inertia matrix of the contact, `velocity` the contact velocity before the impact (two
/// tangents, normal).
///
/// The error is of first order in the step size, also for the energy. The function serves for comparison with
/// [`solve_impact`](super::solve_impact), which is exact up to its tolerance.
///
/// # Errors
///
/// Returns the errors of [`solve_impact`](super::solve_impact), and [`TwoBodyError::ImpactStepLimit`] for steps that are
/// too small or not positive.
pub fn euler_impact(
    w: &ContactInertia,
    velocity: &Vector3<f64>,
    friction: f64,
    restitution: f64,
    scheme: &EulerScheme,
) -> Result<EulerImpact, TwoBodyError> {
    check(velocity, friction, restitution)?;
    let start = [velocity.x, velocity.y, velocity.z];
    let options = ImpactOptions::default();
    let mut blind = Blind;
    let mut run = Run::new(w, start, friction, restitution, &options, &mut blind);
    let closes = !matches!(scheme, EulerScheme::Pure { .. });
    let limit = |iterations: usize, state: &State| TwoBodyError::ImpactStepLimit {
        steps: iterations,
        normal_impulse: state.impulse[2],
    };
    let first_speed = run.state.rho;
    for iterations in 0..MAX_ITERATIONS {
        let state = run.state;
        let s = if state.rho > 0.0 {
            normalized(state.sliding)
        } else {
            [0.0; 2]
        };
        let rate = [
            w.d1 - friction * (w.b11 * s[0] + w.b12 * s[1]),
            w.d2 - friction * (w.b12 * s[0] + w.b22 * s[1]),
        ];
        let speed = libm::hypot(rate[0], rate[1]);
        if closes {
            let sine = (s[0] * rate[1] - s[1] * rate[0]) / speed;
            let is_straight = sine.abs() <= PAPER_LINE_TOLERANCE;
            if is_straight || state.rho <= REST_TOLERANCE * first_speed {
                let lambda = is_straight.then(|| s[0] * rate[0] + s[1] * rate[1]);
                run.finish_from(start, s, lambda)?;
                return Ok(EulerImpact {
                    impulse: run.state.impulse.into(),
                    iterations,
                    events: run.events,
                });
            }
        }
        let step = match *scheme {
            EulerScheme::Pure { step } | EulerScheme::Fixed { step } => step,
            EulerScheme::Variable { first, second } => {
                let radial = s[0] * rate[0] + s[1] * rate[1];
                let turn = [rate[0] - radial * s[0], rate[1] - radial * s[1]];
                let bend = [
                    -friction * (w.b11 * turn[0] + w.b12 * turn[1]) / state.rho,
                    -friction * (w.b12 * turn[0] + w.b22 * turn[1]) / state.rho,
                ];
                let curvature =
                    (rate[0] * bend[1] - rate[1] * bend[0]).abs() / (speed * speed * speed);
                // Straight pieces would give an infinite step.
                let step = 0.5 * (first + second / curvature) / speed;
                step.min(state.rho / speed)
            }
        };
        if step.is_nan() || step <= 0.0 {
            return Err(limit(iterations, &state));
        }
        let sliding = [
            state.sliding[0] + step * rate[0],
            state.sliding[1] + step * rate[1],
        ];
        let normal_impulse = state.impulse[2] + step;
        let [x, y] = w.solve_tangential([
            sliding[0] - start[0] - normal_impulse * w.d1,
            sliding[1] - start[1] - normal_impulse * w.d2,
        ]);
        run.normal.energy -= step * state.normal_velocity;
        run.state = State {
            impulse: [x, y, normal_impulse],
            sliding,
            rho: libm::hypot(sliding[0], sliding[1]),
            normal_velocity: start[2] + w.d1 * x + w.d2 * y + w.wzz * normal_impulse,
            work: state.work + step * state.normal_velocity,
        };
        let over = match run.normal.phase {
            Phase::Compression => run.state.normal_velocity >= 0.0 && run.compression_ends(),
            Phase::Restitution => run.normal.energy <= 0.0,
        };
        if over {
            if run.events.first(Event::RestitutionEnd).is_none() {
                run.end();
            }
            return Ok(EulerImpact {
                impulse: run.state.impulse.into(),
                iterations: iterations + 1,
                events: run.events,
            });
        }
    }
    Err(limit(MAX_ITERATIONS, &run.state))
}
