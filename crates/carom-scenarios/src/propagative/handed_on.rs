//! Slow-motion animation of elementary impacts: the disks stay in place while their velocities change.

use crate::ScenarioError;
use crate::propagative::model::{System, diagnostics};
use carom_contact::ImpactOutcome;
use carom_report::animation::{Animation, MovingArrow, Outline, PlaneBody};
use carom_report::record::Color;

/// Largest number of elementary impacts shown one by one.
const MOST_IMPACTS: usize = 60;

/// Share of each unit of the clock for which the velocities are held.
const PAUSE: f64 = 0.6;

/// A disk of the animation.
pub(crate) struct Ball {
    pub(crate) center: [f64; 2],
    pub(crate) radius: f64,
    pub(crate) label: String,
    /// Indices of the coordinates that are its x and y; without a coordinate the disk does not move in this direction.
    pub(crate) coordinates: [Option<usize>; 2],
}

impl Ball {
    /// Returns the velocity x, y of this disk (m/s). `all`: velocities of all coordinates of the system.
    fn velocity(&self, all: &[f64]) -> [f64; 2] {
        let of = |k: Option<usize>| k.and_then(|k| all.get(k)).copied().unwrap_or(0.0);
        self.coordinates.map(of)
    }
}

/// Builds the animation of an impact that the propagative law resolves by a sequence of elementary impacts. The clock
/// of the animation counts elementary impacts: one per unit. The balls approach during the first unit and separate
/// during the last one. `velocity`: velocity before the impact. `None` for an outcome without elementary impacts, or
/// with too many.
///
/// Arrows and displacements are drawn with `scale` meters per m/s.
pub(crate) fn handed_on(
    (name, title, caption): (&str, &str, &str),
    system: &System,
    velocity: &[f64],
    outcome: &ImpactOutcome,
    balls: Vec<Ball>,
    scale: f64,
) -> Result<Option<Animation>, ScenarioError> {
    let Some(sequence) = diagnostics(outcome).sequence else {
        return Ok(None);
    };
    if sequence.is_empty() || sequence.len() > MOST_IMPACTS {
        return Ok(None);
    }
    let mut steps = system.chain(velocity, &sequence)?;
    let plus = outcome.velocity_plus.0.as_slice();
    // A restitution of the whole event acts once, after the last elementary impact.
    if steps.last().is_some_and(|last| distance(last, plus) > 1e-9) {
        steps.push(plus.to_vec());
    }
    let last = steps.len() as f64 - 1.0;
    // Frames: time, index of the velocities, and the displacement of the balls in units of `scale` times velocity.
    let mut frames = vec![(0.0, 0, -1.0)];
    for k in 0..steps.len() {
        let k_time = (k + 1) as f64;
        frames.push((k_time, k, 0.0));
        if k + 1 < steps.len() {
            frames.push((k_time + PAUSE, k, 0.0));
        }
    }
    frames.push((last + 2.0, steps.len() - 1, 1.0));
    let times: Vec<f64> = frames.iter().map(|frame| frame.0).collect();
    let impacts = (1..steps.len()).map(|k| (k + 1) as f64).collect();
    let caption = format!(
        "{caption} The balls come in during the first unit of the clock; then there is one elementary \
         impact for each unit."
    );
    let mut animation = Animation::plane(name, title, caption, times, impacts).clock("step", "");
    for ball in balls {
        let [x, y] = ball.center;
        let at = |(_, step, way): &(f64, usize, f64)| {
            let [u, v] = steps.get(*step).map_or([0.0; 2], |v| ball.velocity(v));
            ([x + way * scale * u, y + way * scale * v], [u, v])
        };
        let poses = frames.iter().map(|frame| {
            let ([x, y], _) = at(frame);
            [x, y, 0.0]
        });
        let disk = Outline::disk([0.0; 2], ball.radius, Color::Blue);
        let arrow = MovingArrow::new(
            Color::Vermillion,
            frames.iter().map(|frame| {
                let ([x, y], [u, v]) = at(frame);
                [x, y, scale * u, scale * v]
            }),
        );
        let body = PlaneBody::new(vec![disk], poses).label(ball.label);
        animation = animation.body(body).arrow(arrow);
    }
    Ok(Some(animation))
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max)
}
