//! Bundles of hodographs; by default those of Jia & Wang, Figs. 6 and 8.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Count, Fraction, Input, NonNegative};
use crate::two_body::cases::{Body, Contact, Place, check_names};
use crate::two_body::sliding::{Setup, hodograph, rays};
use carom_impact::two_body::{Event, InvariantDirection, RestitutionLaw};
use carom_report::record::{Column, Quantity, Record, Table};
use nalgebra::Vector3;
use serde::Deserialize;
use std::f64::consts::TAU;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    inverse_inertia: [[f64; 3]; 3],
    body1: Option<Body>,
    body2: Option<Body>,
    contact: Option<Place>,
    restitution: Fraction,
    bundles: Vec<Bundle>,
}

/// Hodographs from several unit sliding velocities.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bundle {
    name: String,
    friction: NonNegative,
    normal_velocity: f64,
    number: Count<1, 360>,
    starts: Starts,
    /// Angle of the first of equally spaced starts, rad.
    #[serde(default)]
    first_angle: f64,
}

/// Choice of the sliding directions before the impact.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Starts {
    /// Every invariant direction; the rest divide the arcs between them.
    Invariant,
    /// Equal angles.
    Equal,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    check_names("bundles", config.bundles.iter().map(|b| &*b.name))?;
    let contact = Contact::new(
        input,
        &config.inverse_inertia,
        config.body1.as_ref(),
        config.body2.as_ref(),
        config.contact.as_ref(),
    )?;
    let mut table = Table::new(
        "bundles",
        "Start directions, total normal impulse, and where sliding stops (0 if it does not).",
        Column::list("friction, angle [rad], impulse_z [N s], sliding_stops [N s]"),
    );
    for bundle in &config.bundles {
        let setup = Setup {
            inertia: contact.inertia,
            velocity: Vector3::new(1.0, 0.0, bundle.normal_velocity),
            friction: *bundle.friction,
            restitution: *config.restitution,
            law: RestitutionLaw::default(),
        };
        let (plot, stopped) = bundle.trace(&setup, &mut table)?;
        plot.draw(&mut record)?;
        let count = |what: &str, number: usize| {
            Quantity::new(format!("{}_{what}", bundle.name), number as f64, "")
        };
        record.quantities.extend([
            count("stopped", stopped).note("hodographs that reach zero sliding"),
            count("not_stopped", *bundle.number - stopped),
        ]);
    }
    record.tables.push(table);
    Ok(record)
}

impl Bundle {
    fn trace(&self, setup: &Setup, table: &mut Table) -> Result<(Plot, usize), ScenarioError> {
        let directions = setup.directions();
        let caption = match self.starts {
            Starts::Invariant => {
                "Unit sliding velocities (dots): the invariant directions, and the arcs between \
                 them in equal parts; crosses: where they are when the impact ends."
            }
            Starts::Equal => {
                "Unit sliding velocities (dots) at equal angles; crosses: where they are when the \
                 impact ends."
            }
        };
        let mut plot = Plot::new("hodograph-bundles/bundle")
            .fill("name", &self.name)
            .fill("number", *self.number)
            .fill("friction", setup.friction)
            .fill("caption", caption);
        let mut traces = Vec::new();
        let (mut longest, mut stopped): (f64, usize) = (1.0, 0);
        for angle in self.angles(&directions)? {
            let (sin, cos) = libm::sincos(angle);
            let velocity = Vector3::new(cos, sin, self.normal_velocity);
            let trace = Setup { velocity, ..*setup }.trace_of("bundles", &self.name)?;
            let stop = trace.impact.events.first(Event::SlipZero);
            stopped += usize::from(stop.is_some());
            table.rows.push(vec![
                setup.friction,
                angle,
                trace.impact.impulse.z,
                stop.map_or(0.0, |s| s.impulse[2]),
            ]);
            longest = longest.max(trace.impact.velocity_plus.xy().norm());
            traces.push(([cos, sin], trace));
        }
        plot.figure.marks = rays(&directions, longest);
        for (_, trace) in &traces {
            let look = match trace.impact.events.first(Event::SlipZero) {
                Some(_) => "sliding stops",
                None => "slides to the end",
            };
            plot.once(look, hodograph(&trace.points));
        }
        let ends = traces.iter().map(|(_, trace)| trace.impact.velocity_plus);
        let ends = ends.map(|v| [v.x, v.y]);
        let plot = plot.through("before", traces.iter().map(|(start, _)| *start));
        Ok((plot.through("after", ends), stopped))
    }

    /// Returns the angles (rad) of the sliding velocities before the impact.
    fn angles(&self, directions: &[InvariantDirection]) -> Result<Vec<f64>, ScenarioError> {
        let number = *self.number;
        if self.starts == Starts::Equal || directions.is_empty() {
            let angle = |k: usize| self.first_angle + TAU * k as f64 / number as f64;
            return Ok((0..number).map(angle).collect());
        }
        if number < directions.len() {
            let message = format!(
                "`{}` has {number} starts and {} invariant directions",
                self.name,
                directions.len()
            );
            return Err(ScenarioError::value("bundles", message));
        }
        Ok(between(directions, number - directions.len()))
    }
}

/// Returns the angles (rad) of the invariant directions, and `rest` angles that divide the arcs between them evenly. Each arc
/// gets its share of them by largest remainder. The first angle is that of a repelling direction, if there is one.
fn between(directions: &[InvariantDirection], rest: usize) -> Vec<f64> {
    let mut sorted: Vec<&InvariantDirection> = directions.iter().collect();
    sorted.sort_by(|a, b| a.angle.total_cmp(&b.angle));
    let first = sorted.iter().position(|d| !d.attracting);
    sorted.rotate_left(first.unwrap_or(0));
    let next = sorted.iter().cycle().skip(1);
    let arcs: Vec<[f64; 2]> = sorted
        .iter()
        .zip(next)
        .map(|(from, to)| {
            let length = (to.angle - from.angle).rem_euclid(TAU);
            // A single direction has the whole circle.
            [from.angle, if length > 0.0 { length } else { TAU }]
        })
        .collect();
    let share = |[_, length]: &[f64; 2]| rest as f64 * length / TAU;
    // The share is at most `rest`, so the cast is safe.
    let mut counts: Vec<usize> = arcs.iter().map(|arc| share(arc).floor() as usize).collect();
    let mut order: Vec<usize> = (0..arcs.len()).collect();
    order.sort_by(|&i, &j| share(&arcs[j]).fract().total_cmp(&share(&arcs[i]).fract()));
    let left = rest.saturating_sub(counts.iter().sum());
    for &k in order.iter().cycle().take(left) {
        counts[k] += 1;
    }
    let parts = arcs.iter().zip(&counts);
    parts
        .flat_map(|(&[from, length], &count)| {
            (0..=count).map(move |k| from + length * k as f64 / (count + 1) as f64)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::two_body::cases::inertia;

    /// Jia & Wang, Fig. 6: of 15 hodographs the first and the fifth start in the two invariant directions. Every start is a
    /// unit vector, and the spacing within an arc is constant.
    #[test]
    fn invariant_directions_are_starts() {
        let inertia = inertia(&crate::two_body::sliding::ICOSAHEDRON_TETRAHEDRON).unwrap();
        for (friction, number) in [(0.8, 15), (0.25, 13), (3.0, 12), (3.0, 4)] {
            let setup = Setup {
                inertia,
                velocity: Vector3::new(1.0, 0.0, -0.2),
                friction,
                restitution: 0.95,
                law: RestitutionLaw::default(),
            };
            let directions = setup.directions();
            let angles = between(&directions, number - directions.len());
            assert_eq!(angles.len(), number);
            for direction in &directions {
                let off = |a: &f64| libm::sin(0.5 * (a - direction.angle)).abs();
                assert!(angles.iter().map(off).fold(1.0, f64::min) <= 1e-15);
            }
            // The starts go once around, each turned from the one before.
            let turns = angles
                .windows(2)
                .map(|pair| (pair[1] - pair[0]).rem_euclid(TAU));
            let turns: Vec<f64> = turns.collect();
            assert!(turns.iter().all(|turn| *turn > 1e-3));
            assert!(turns.iter().sum::<f64>() < TAU);
        }
    }
}
