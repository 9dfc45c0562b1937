//! Curves of an impact for plots.

use super::impact::{ContactImpact, ContactResponse, respond};
use super::inertia::ContactInertia;
use super::options::ImpactOptions;
use super::recorder::Recorder;
use super::state::State;
use crate::TwoBodyError;
use nalgebra::Vector3;

/// Point of the hodograph and of the impulse curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracePoint {
    /// Impulse up to this point, N·s; the normal impulse, its last entry, is the independent variable.
    pub impulse: Vector3<f64>,
    /// Contact velocity $(\gamma_x, \gamma_y, v_z)$.
    pub velocity: Vector3<f64>,
    /// Elastic energy stored at the contact, J.
    pub energy: f64,
}

/// An impact with the curves of its impulse and velocity.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Impulse, velocity after the impact and events.
    pub impact: ContactImpact,
    /// Points in order of the normal impulse, dense where the hodograph is curved. Each end of compression appears twice,
    /// before and after its loss of energy.
    pub points: Vec<TracePoint>,
}

struct Keep {
    points: Vec<TracePoint>,
    impulse: f64,
    velocity: f64,
}

impl Recorder for Keep {
    const DENSE: bool = true;

    fn units(&mut self, impulse: f64, velocity: f64) {
        self.impulse = impulse;
        self.velocity = velocity;
    }

    fn point(&mut self, state: &State, energy: f64) {
        let [x, y] = state.sliding;
        self.points.push(TracePoint {
            impulse: Vector3::from(state.impulse) * self.impulse,
            velocity: Vector3::new(x, y, state.normal_velocity) * self.velocity,
            energy: energy * self.impulse * self.velocity,
        });
    }
}

/// Solves an impact and records its curves; `None` if there is no impact.
///
/// # Errors
///
/// Returns the errors of [`solve_impact`](super::solve_impact).
pub fn trace_impact(
    w: &ContactInertia,
    velocity: &Vector3<f64>,
    friction: f64,
    restitution: f64,
    options: &ImpactOptions,
) -> Result<Option<Trace>, TwoBodyError> {
    let mut keep = Keep {
        points: Vec::new(),
        impulse: 1.0,
        velocity: 1.0,
    };
    let response = respond(w, velocity, friction, restitution, options, &mut keep)?;
    Ok(match response {
        ContactResponse::Impact(impact) => Some(Trace {
            impact,
            points: keep.points,
        }),
        _ => None,
    })
}
