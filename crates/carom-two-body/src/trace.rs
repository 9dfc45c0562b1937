//! Curves of an impact for plots.

use super::impact::{ContactImpact, ContactResponse, respond};
use super::inertia::ContactInertia;
use super::options::ImpactOptions;
use super::recorder::Recorder;
use super::state::State;
use crate::TwoBodyError;
use nalgebra::Vector3;

/// Impulse, contact velocity and stored elastic energy at one point of an impact, for plots.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TracePoint {
    /// Impulse up to this point, N·s; the normal impulse, its last entry, is the independent variable.
    pub impulse: Vector3<f64>,
    /// Contact velocity $(\gamma_x, \gamma_y, v_z)$.
    pub velocity: Vector3<f64>,
    /// Elastic energy stored at the contact, J.
    pub energy: f64,
}

/// Result of an impact together with the curves of impulse, contact velocity and stored energy during it, for
/// plots.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
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

/// Solves an impact and records impulse, contact velocity and stored energy as functions of the normal impulse.
/// `w` is the inverse inertia matrix of the contact, `velocity` the contact velocity before the impact (two
/// tangents, normal). Returns `None` if there is no impact because the contact does not close.
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
