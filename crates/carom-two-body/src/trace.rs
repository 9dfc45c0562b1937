//! Curves of an impact for plots.

use super::events::TraceMode;
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
    /// Mode of the contact from this point on; at the last point, the mode in which the impact ends.
    pub mode: TraceMode,
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
    mode: TraceMode,
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
            mode: self.mode,
        });
    }

    fn phase(&mut self, mode: TraceMode) {
        self.mode = mode;
        if let Some(last) = self.points.last_mut() {
            last.mode = mode;
        }
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
        mode: TraceMode::Slip,
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{TraceMode, trace_impact};
    use crate::{ContactInertia, ImpactOptions};
    use nalgebra::{Matrix3, Vector3};

    /// The velocity of every row is $v^- + WI$, every event has a row, and a sticking contact does not slide.
    #[test]
    fn rows_obey_the_law_of_impulse_and_momentum() {
        let matrix = Matrix3::new(3.0, 0.2, 0.5, 0.2, 2.0, 0.1, 0.5, 0.1, 1.0);
        let w = ContactInertia::from_matrix(&matrix).unwrap();
        let mut met = Vec::new();
        for (velocity, friction) in [
            (Vector3::new(0.5, -0.2, -1.0), 0.4),
            (Vector3::new(0.5, -0.2, -1.0), 0.05),
            (Vector3::new(0.0, 0.0, -1.0), 0.1),
            (Vector3::new(0.5, -0.2, -1.0), 0.0),
        ] {
            let options = ImpactOptions::default();
            let trace = trace_impact(&w, &velocity, friction, 0.6, &options);
            let trace = trace.unwrap().unwrap();
            for point in &trace.points {
                let error = (velocity + matrix * point.impulse - point.velocity).amax();
                assert!(error <= 1e-9, "{error:e}");
                met.push(point.mode);
            }
            for event in trace.impact.events.iter() {
                let at = |p: &super::TracePoint| (p.impulse.z - event.impulse[2]).abs() <= 1e-12;
                assert!(trace.points.iter().any(at), "{:?}", event.event);
            }
            let sticking = trace.points.iter().filter(|p| p.mode == TraceMode::Stick);
            for point in sticking {
                assert!(point.velocity.xy().norm() <= 1e-9);
            }
            let last = trace.points.last().unwrap();
            assert!((last.impulse - trace.impact.impulse).amax() <= 1e-9);
        }
        for mode in [TraceMode::Slip, TraceMode::Stick, TraceMode::Straight] {
            assert!(met.contains(&mode), "{mode:?}");
        }
    }
}
