//! The robot RAMone, which puts a foot down: Halm & Posa, Table 7 and Fig. 13.

use super::report::{Sampling, report};
use super::system::{FrictionalSystem, NamedContact};
use crate::ScenarioError;
use crate::config::{Count, Input, NonNegative, Positive};
use carom_report::record::Record;
use nalgebra::DMatrix;
use serde::Deserialize;
use std::num::NonZeroU64;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    trunk_angle_deg: f64,
    leading_hip_deg: f64,
    leading_knee_deg: f64,
    trailing_hip_deg: f64,
    trunk_rate: f64,
    friction: NonNegative,
    impulse_step: Positive,
    samples: NonZeroU64,
    seed: u64,
    max_steps: Count<1, 100_000>,
}

/// Parameters of the robot: masses in kg, inertias in kg m^2 about the centers of mass, lengths in m.
mod robot {
    pub(super) const TRUNK_MASS: f64 = 7.9026;
    pub(super) const THIGH_MASS: f64 = 0.7887;
    pub(super) const SHANK_MASS: f64 = 0.510;
    pub(super) const TRUNK_INERTIA: f64 = 0.08;
    pub(super) const THIGH_INERTIA: f64 = 0.00221;
    pub(super) const SHANK_INERTIA: f64 = 0.00652;
    /// Distance of the hip below the center of mass of the trunk.
    pub(super) const TRUNK: f64 = 0.137675;
    /// Distance of the center of mass of the thigh below the hip.
    pub(super) const THIGH_CENTER: f64 = 0.019399;
    pub(super) const THIGH: f64 = 0.2;
    /// Distance of the center of mass of the shank below the knee.
    pub(super) const SHANK_CENTER: f64 = 0.165235;
    /// Distance of the center of the foot below the knee.
    pub(super) const SHANK: f64 = 0.2385;
    pub(super) const FOOT_RADIUS: f64 = 0.02815;
}

/// Number of coordinates: x and y of the trunk, trunk angle, then hip and knee of the leading leg, hip and
/// knee of the trailing leg; joint angles are relative to the link above.
const N: usize = 7;

/// Rows that map the rates of the coordinates to the velocity of a point.
#[derive(Clone, Debug)]
struct Point {
    x: [f64; N],
    y: [f64; N],
}

impl Point {
    fn trunk() -> Self {
        let (mut x, mut y) = ([0.0; N], [0.0; N]);
        x[0] = 1.0;
        y[1] = 1.0;
        Self { x, y }
    }

    /// Returns the derivatives of the position of a point that lies at the offset (`length` sin a, -`length` cos a) from this
    /// point of the robot. The angle a is the sum of the coordinates with the indices in `coordinates`; its value is `angle`
    /// (rad).
    fn down(&self, length: f64, angle: f64, coordinates: &[usize]) -> Self {
        let mut point = self.clone();
        let (sin, cos) = libm::sincos(angle);
        for i in coordinates {
            point.x[*i] += length * cos;
            point.y[*i] += length * sin;
        }
        point
    }
}

fn add_body(mass: &mut DMatrix<f64>, m: f64, inertia: f64, center: &Point, turns: &[usize]) {
    for i in 0..N {
        for j in 0..N {
            mass[(i, j)] += m * (center.x[i] * center.x[j] + center.y[i] * center.y[j]);
        }
    }
    for i in turns {
        for j in turns {
            mass[(*i, *j)] += inertia;
        }
    }
}

impl Config {
    /// Returns the knee angle (rad) of the trailing leg at which both feet touch the floor. Returns an error if the trailing
    /// foot cannot reach the floor.
    fn trailing_knee(&self) -> Result<f64, ScenarioError> {
        use robot::{SHANK, THIGH};
        let trunk = self.trunk_angle_deg.to_radians();
        let thigh = trunk + self.leading_hip_deg.to_radians();
        let shank = thigh + self.leading_knee_deg.to_radians();
        let other = trunk + self.trailing_hip_deg.to_radians();
        let sine = (SHANK * libm::cos(shank) + THIGH * libm::cos(thigh) - THIGH * libm::cos(other))
            / SHANK;
        if !(-1.0..=1.0).contains(&sine) {
            return Err(ScenarioError::value(
                "trunk_angle_deg",
                format!(
                    "{}: the trailing foot cannot reach the floor (the sine of its shank's \
                     inclination would be {sine})",
                    self.trunk_angle_deg
                ),
            ));
        }
        Ok(libm::asin(sine) - other - std::f64::consts::FRAC_PI_2)
    }

    fn system(&self) -> Result<FrictionalSystem, ScenarioError> {
        let trunk = self.trunk_angle_deg.to_radians();
        let legs = [
            (
                "A",
                self.leading_hip_deg.to_radians(),
                self.leading_knee_deg.to_radians(),
                3,
            ),
            (
                "B",
                self.trailing_hip_deg.to_radians(),
                self.trailing_knee()?,
                5,
            ),
        ];
        let mut mass = DMatrix::zeros(N, N);
        let body = Point::trunk();
        add_body(
            &mut mass,
            robot::TRUNK_MASS,
            robot::TRUNK_INERTIA,
            &body,
            &[2],
        );
        let hip = body.down(robot::TRUNK, trunk, &[2]);
        let mut contacts = Vec::new();
        for (name, hip_angle, knee_angle, first) in legs {
            let (thigh, shank) = ([2, first], [2, first, first + 1]);
            let thigh_angle = trunk + hip_angle;
            let shank_angle = thigh_angle + knee_angle;
            let center = hip.down(robot::THIGH_CENTER, thigh_angle, &thigh);
            add_body(
                &mut mass,
                robot::THIGH_MASS,
                robot::THIGH_INERTIA,
                &center,
                &thigh,
            );
            let knee = hip.down(robot::THIGH, thigh_angle, &thigh);
            let center = knee.down(robot::SHANK_CENTER, shank_angle, &shank);
            add_body(
                &mut mass,
                robot::SHANK_MASS,
                robot::SHANK_INERTIA,
                &center,
                &shank,
            );
            let mut foot = knee.down(robot::SHANK, shank_angle, &shank);
            // The lowest point of the foot moves with the shank.
            for i in shank {
                foot.x[i] += robot::FOOT_RADIUS;
            }
            contacts.push(NamedContact {
                name,
                normal: foot.y.to_vec(),
                tangent: foot.x.to_vec(),
            });
        }
        let mut velocity = vec![0.0; N];
        velocity[2] = self.trunk_rate;
        if let Some(trailing) = contacts.last() {
            velocity[0] = -self.trunk_rate * trailing.tangent[2];
            velocity[1] = -self.trunk_rate * trailing.normal[2];
        }
        Ok(FrictionalSystem {
            mass,
            contacts,
            friction: *self.friction,
            velocity,
        })
    }
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let system = config.system()?;
    let sampling = Sampling::new(
        config.impulse_step,
        config.samples,
        config.seed,
        config.max_steps,
    );
    report(
        &mut record,
        &system,
        &sampling,
        &[
            ("ramone/fig13_trailing", [3, 2]),
            ("ramone/fig13_normal", [0, 2]),
        ],
        input.progress,
    )?;
    Ok(record)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use carom_impact::frictional::{TerminationBounds, all_simultaneous, all_steps};

    /// Checks that the trailing foot lifts, sticks or slides, as in Halm & Posa, Section 5.2.4, and that the velocities agree
    /// with an independent implementation.
    #[test]
    fn the_trailing_foot_has_three_outcomes() {
        let system = crate::list::defaults::<Config>("ramone").system().unwrap();
        let known = [
            (0.000330823045150086, -0.02735008962041474),
            (0.0, 0.0),
            (0.0, -0.019516304638802495),
        ];
        let all = all_simultaneous(&system.problem().unwrap()).unwrap();
        assert_eq!(all.len(), 3);
        for solution in &all {
            let velocity = solution.outcome.velocity_plus.0.as_slice();
            let rows = system.contact_velocity(velocity);
            assert!(rows[0].abs() <= 1e-10 && rows[1].abs() <= 1e-10);
            let is_it = |(vn, vt): &(f64, f64)| {
                (rows[2] - vn).abs() <= 1e-10 && (rows[3] - vt).abs() <= 1e-10
            };
            assert_eq!(known.iter().filter(|k| is_it(k)).count(), 1, "{rows:?}");
        }
    }

    /// Compares the constants of the termination bounds with an independent implementation, which prints up to nine digits.
    #[test]
    fn its_bounds() {
        let system = crate::list::defaults::<Config>("ramone").system().unwrap();
        let bounds = TerminationBounds::new(&system.problem().unwrap(), 1.0, None).unwrap();
        for (actual, expected) in [
            (bounds.pointedness, 0.602709726),
            (bounds.inclusion_impulse, 4.77438251),
            (bounds.euclidean_r, 0.417040708),
            (bounds.psi, 3972373.966),
        ] {
            assert!((actual / expected - 1.0).abs() <= 1e-6, "{actual}");
        }
        assert_eq!((bounds.euclidean_c, bounds.kinetic_c), (116.0, 20.0));
    }

    #[test]
    fn a_step_has_three_solutions() {
        let system = crate::list::defaults::<Config>("ramone").system().unwrap();
        let caps = [0.3934, 0.1327];
        let all = all_steps(&system.problem().unwrap(), &caps).unwrap();
        assert_eq!(all.len(), 3);
        for trunk_rate in [1.5049021420, 1.5046820773, 1.5048389797] {
            let rate = |s: &carom_impact::frictional::ModeSolution| s.outcome.velocity_plus.0[2];
            let nearest = all.iter().map(|s| (rate(s) - trunk_rate).abs());
            assert!(nearest.fold(f64::INFINITY, f64::min) <= 1e-9);
        }
    }

    /// Compares the robot's velocity and contact rows with reference values of an independent implementation.
    #[test]
    fn the_robot_stands_on_both_feet() {
        let system = crate::list::defaults::<Config>("ramone").system().unwrap();
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-12;
        assert!(close(system.velocity[0], -0.4114162619245758));
        assert!(close(system.velocity[1], -0.21051823339278636));
        assert!(close(system.contacts[0].normal[2], -0.3215804869672616));
        assert!(close(system.contacts[1].tangent[6], 0.2651232631874426));
        assert!(close(system.mass[(2, 2)], 0.29886286122408856));
        assert!(close(system.mass[(5, 6)], 0.019713149122055136));
        let error = Config {
            trunk_angle_deg: 17.0,
            ..crate::list::defaults::<Config>("ramone")
        };
        assert!(error.system().unwrap_err().to_string().contains("reach"));
    }
}
