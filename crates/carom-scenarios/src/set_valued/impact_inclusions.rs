//! Differential inclusions by which Halm & Posa explain their model: Figs. 2, 3 and 6.

use super::inclusion::{RatePiece, integrate_inclusion};
use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Input, NonNegative, Positive};
use carom_contact::{Contact, ContactSet, ImpactProblem};
use carom_metric::{Covector, KineticMetric, Tangent};
use carom_report::record::{Color, Mark, Quantity, Record};
use carom_variational::{EmbeddedState, Motion, TimeEmbedding};
use nalgebra::{DVector, dmatrix, dvector};
use serde::Deserialize;

/// Number of points along a drawn curve.
const DRAWN: usize = 200;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    sliding_velocities: Vec<[f64; 2]>,
    delassus: [f64; 3],
    friction: NonNegative,
    contact_velocity: [f64; 2],
    ball_mass: Positive,
    gravity: Positive,
    ball_state: [f64; 2],
    rest_length: Positive,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    dry_friction(&mut record, &config)?;
    one_contact(&mut record, &config)?;
    ball(&mut record, &config)?;
    Ok(record)
}

/// Solves the motion of a body under dry friction, $\dot v \in -\operatorname{Unit}(v)$, Eqs. (4)-(5), and compares it with
/// the exact solution $v = \max(\lVert v_0\rVert - t, 0)\hat v_0$. Here $\operatorname{Unit}(v)$ is the direction of the
/// velocity $v$, and at rest any vector up to the length 1.
fn dry_friction(record: &mut Record, config: &Config) -> Result<(), ScenarioError> {
    let unit = [[-1.0, -1.0], [0.0, -1.0], [0.0, 1.0], [1.0, 1.0]];
    let plot = Plot::new("impact-inclusions/fig2_unit").through("Unit(v)", unit);
    plot.draw(record)?;
    let mut plot = Plot::new("impact-inclusions/fig2_paths");
    for (i, start) in config.sliding_velocities.iter().enumerate() {
        let speed = libm::hypot(start[0], start[1]);
        record
            .quantities
            .push(Quantity::new(format!("stop_{}_s", i + 1), speed, "s"));
        let color = if i.is_multiple_of(2) {
            Color::Blue
        } else {
            Color::Vermillion
        };
        let at = |t: f64| {
            let left = if speed > 0.0 {
                (speed - t).max(0.0) / speed
            } else {
                0.0
            };
            [left * start[0], left * start[1]]
        };
        let [middle, end] = [0.7 * speed, speed].map(at);
        let label = format!("from ({}, {})", start[0], start[1]);
        plot.numbered("from", i, &label, [*start, end]);
        plot.mark(Mark::arrow(*start, middle, color));
    }
    plot.draw(record)
}

/// Height of the drawn friction cone divided by the normal velocity before the impact.
const CONE: f64 = 0.3;

/// Solves the impact of one contact as a differential inclusion over the normal impulse: Routh's method, Eq. (36).
fn one_contact(record: &mut Record, config: &Config) -> Result<(), ScenarioError> {
    let [nn, nt, tt] = config.delassus;
    let inverse = dmatrix![nn, nt; nt, tt];
    let mass = inverse.try_inverse().ok_or_else(|| {
        ScenarioError::value("delassus", "the inverse inertia must be positive definite")
    })?;
    let metric = KineticMetric::new(mass)?;
    let contact = Contact::new(Covector::from_slice(&[1.0, 0.0]))
        .with_tangents(vec![Covector::from_slice(&[0.0, 1.0])])
        .with_friction(*config.friction);
    let contacts = ContactSet::new(metric, vec![contact])?;
    let velocity = Tangent::from_slice(&config.contact_velocity);
    let problem = ImpactProblem::new(&contacts, velocity)?;
    // The rates consist of one piece, so that all events are events of the contact.
    let piece = RatePiece {
        rates: vec![1.0],
        length: 1e9,
    };
    let path = integrate_inclusion(&problem, &[piece])?;
    record.quantities.extend([
        Quantity::new("contact_normal_impulse_n_s", path.impulse, "N s"),
        Quantity::new("contact_tangential_impulse_n_s", path.impulses[1], "N s"),
    ]);
    // Changes of the contact velocity caused by impulses along the two edges of the friction cone.
    let [vn, vt] = config.contact_velocity;
    let edge = |side: f64| {
        let [dn, dt] = [nn + side * nt, nt + side * tt];
        let length = -CONE * vn / if dn > 0.0 { dn } else { nn };
        [vt + length * dt, vn + length * dn]
    };
    let [left, right] = [edge(-*config.friction), edge(*config.friction)];
    let events = path
        .events
        .iter()
        .filter_map(|e| Some([*e.get(1)?, *e.first()?]));
    Plot::new("impact-inclusions/fig3")
        .through("friction cone", [[vt, vn], left, right])
        .through("impact", events.clone())
        .through("events", events)
        .draw(record)
}

#[derive(Debug)]
struct Flight {
    state: [f64; 2],
    gravity: f64,
}

impl Motion for Flight {
    fn state(&self, t: f64) -> (DVector<f64>, DVector<f64>) {
        let [height, velocity] = self.state;
        (
            dvector![height + t * (velocity - 0.5 * self.gravity * t)],
            dvector![velocity - self.gravity * t],
        )
    }
}

/// Motion of the body at rest on the floor, where its weight is balanced by the contact force.
#[derive(Debug)]
struct Rest {
    weight: f64,
}

impl Motion for Rest {
    fn state(&self, _time: f64) -> (DVector<f64>, DVector<f64>) {
        (dvector![0.0], dvector![0.0])
    }

    fn normal_impulse(&self, time: f64) -> f64 {
        self.weight * time
    }

    fn normal_force(&self, _time: f64) -> f64 {
        self.weight
    }
}

fn ball(record: &mut Record, config: &Config) -> Result<(), ScenarioError> {
    let [height, velocity] = config.ball_state;
    if height <= 0.0 {
        let message = format!("{height} must be positive");
        return Err(ScenarioError::value("ball_state[0]", message));
    }
    let landing = (velocity * velocity + 2.0 * *config.gravity * height).sqrt();
    let flight = (velocity + landing) / *config.gravity;
    let weight = *config.ball_mass * *config.gravity;
    let impulse = *config.ball_mass * landing;
    let mut path = TimeEmbedding::new(dvector![height], dvector![velocity], 1.0)?;
    let motion = Flight {
        state: config.ball_state,
        gravity: *config.gravity,
    };
    path.push_motion(motion, flight)?;
    path.push_impact(&[(impulse, dvector![0.0])])?;
    path.push_motion(Rest { weight }, *config.rest_length / (1.0 + weight))?;
    let end = path.state_at(path.length())?;
    record.quantities.extend([
        Quantity::new("ball_flight_s", flight, "s"),
        Quantity::new("ball_impact_length", impulse, "N s")
            .note("length of the impact in s, while time stands still"),
        Quantity::new("ball_clock_at_rest", end.clock, "")
            .closed_form(1.0 / (1.0 + weight), "Section 4.1: dt/ds = 1/(1 + mg)"),
        Quantity::new("ball_end_time_s", end.time, "s"),
        Quantity::new("ball_length", path.length(), ""),
    ]);
    let states: Vec<(f64, EmbeddedState)> = (0..=DRAWN)
        .map(|k| {
            let s = path.length() * k as f64 / DRAWN as f64;
            Ok((s, path.state_at(s)?))
        })
        .collect::<Result<_, ScenarioError>>()?;
    let take = |f: fn(&(f64, EmbeddedState)) -> [f64; 2]| states.iter().map(f);
    Plot::new("impact-inclusions/fig6_phase")
        .through("ball", take(|(_, x)| [x.configuration[0], x.velocity[0]]))
        .draw(record)?;
    Plot::new("impact-inclusions/fig6_s")
        .through("height", take(|(s, x)| [*s, x.configuration[0]]))
        .through("velocity", take(|(s, x)| [*s, x.velocity[0]]))
        .through("time", take(|(s, x)| [*s, x.time]))
        .draw(record)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Overrides;

    /// Checks that the results agree with closed forms and, for the contact, with an independent implementation.
    #[test]
    fn the_figures_of_the_paper() {
        let record = crate::scenario("impact-inclusions")
            .unwrap()
            .run(&Overrides::default())
            .unwrap();
        for (name, expected, tolerance) in [
            ("stop_1_s", 0.65f64.sqrt(), 1e-15),
            ("stop_2_s", 0.53f64.sqrt(), 1e-15),
            ("contact_normal_impulse_n_s", 13.207181107909015, 1e-11),
            ("contact_tangential_impulse_n_s", -43.13569452215761, 1e-11),
            ("ball_flight_s", 2.0, 1e-14),
            ("ball_impact_length", 4.0 / 3.0, 1e-14),
            ("ball_clock_at_rest", 0.5, 1e-14),
            ("ball_end_time_s", 3.0, 1e-14),
        ] {
            let found = record.quantities.iter().find(|q| q.name == name);
            let actual = found.unwrap().value;
            assert!((actual - expected).abs() <= tolerance, "{name}: {actual}");
        }
        // The contact slides to (0, -1), then sticks until (0, 0).
        let fig3 = record.figures.iter().find(|f| f.name == "fig3").unwrap();
        let line = fig3.marks.iter().find_map(|mark| match mark {
            Mark::Line { x, y, .. } => Some((x, y)),
            _ => None,
        });
        let (x, y) = line.unwrap();
        assert_eq!(x.len(), 3);
        for (actual, expected) in
            x.iter()
                .chain(y)
                .zip([1.969615506, 0.0, 0.0, -1.347296355, -1.0, 0.0])
        {
            assert!((actual - expected).abs() <= 1e-9, "{actual}");
        }
    }

    #[test]
    fn bad_input_is_refused() {
        let run = |set: &str| {
            let overrides = Overrides {
                assignments: vec![set.to_owned()],
                ..Overrides::default()
            };
            crate::scenario("impact-inclusions")
                .unwrap()
                .run(&overrides)
                .unwrap_err()
                .to_string()
        };
        assert!(run("delassus=[1.0, 1.0, 1.0]").contains("delassus"));
        assert!(run("ball_state=[-1.0, 0.0]").contains("ball_state"));
        assert!(run("gravity=0").contains("gravity"));
    }
}
