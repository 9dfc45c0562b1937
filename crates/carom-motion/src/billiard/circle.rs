//! The penny on a circular table, solved in closed form.
//!
//! In coordinates along and across the heading, $X = p\cdot t$, $Y = p\cdot s$ ($p$ is the position, $t$ and $s$ the unit vectors
//! along and across), a free arc is a circle about a point of the Y axis. So an impact at $(X_\ast, Y_\ast)$ is followed by one
//! at $(-X_\ast, Y_\ast)$, of the other rim. Hence $|X_\ast|$, $Y_\ast$, the components of the normal and the effective
//! restitution $e$ are constants of the motion. With the rates of rolling $\Omega$ and turning $\omega$, $N =
//! M^{-1}l/(lM^{-1}l)$, $l = R(n_t, n_s)$ and $u_0 = l\cdot(\Omega_0, \omega_0)$,
//!
//! $$ (\Omega_k, \omega_k) = (\Omega_0, \omega_0) + ((-e)^k - 1)u_0N, \qquad
//! \Delta t_k = \frac{-2s_k\operatorname{atan2}(\sigma_kX_\ast, Y_\ast + \rho_k)
//! \bmod 2\pi}{|\omega_k|}. $$
//!
//! The elastic penny on a circle is integrable. For $e < 1$ the velocity converges geometrically
//! to $(\Omega_0, \omega_0) - u_0N$, which the plastic law reaches in one impact.

use crate::billiard::BilliardError;
use crate::billiard::penny::{PennyState, Rim, RollingPenny};
use carom_impact::Restitution;
use nalgebra::Vector2;
use std::f64::consts::{PI, TAU};

/// Orbit of a penny (a rolling disk) that bounces inside a circular wall, in closed form. The orbit starts at the center.
///
/// # Examples
///
/// ```
/// use carom_impact::Restitution;
/// use carom_motion::billiard::circle::CircleOrbit;
/// use carom_motion::billiard::penny::{PennyState, RollingPenny};
/// let penny = RollingPenny::thin_disk(0.01, 0.0025)?;
/// let start = PennyState { theta_dot: 10.0, phi_dot: 0.2, ..PennyState::default() };
/// let orbit = CircleOrbit::from_center(&penny, 0.15, start, Restitution::Elastic)?;
/// let orbit = orbit.expect("it reaches the wall");
/// // Every impact of the elastic law keeps the energy of rolling and turning.
/// let energy = |[rolling, turning]: [f64; 2]| {
///     0.5 * (penny.rolling_inertia() * rolling.powi(2) + penny.heading_inertia() * turning.powi(2))
/// };
/// for impact in orbit.impacts().take(5) {
///     assert!((energy(impact.velocity_plus) / energy([10.0, 0.2]) - 1.0).abs() < 1e-13);
/// }
/// # Ok::<(), carom_motion::billiard::BilliardError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CircleOrbit {
    start: PennyState,
    /// Time of the first impact with the wall, s.
    pub first_time: f64,
    /// Coordinate $X_\ast$ of the penny's contact point along the heading at the first impact, measured from the center of the
    /// table, m.
    pub x_star: f64,
    /// Coordinate $Y_\ast$ of the penny's contact point across the heading, measured from the center of the table, m; equal at
    /// all impacts.
    pub y_star: f64,
    /// Component along the heading of the wall's unit normal at the first impact, which is one of the front rim; impacts of the
    /// back rim have the opposite sign.
    pub n_t: f64,
    /// Component of the wall's unit normal across the heading, equal at all impacts.
    pub n_s: f64,
    /// Effective restitution of every impact: minus the ratio of the rim's normal velocities after and before.
    pub effective_restitution: f64,
    normal: Vector2<f64>,
    rate: f64,
    radius: f64,
}

/// Impact of a rolling disk (penny) with the circular wall, in the closed-form orbit [`CircleOrbit`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CircleImpact {
    /// Time of the impact, s.
    pub time: f64,
    /// Rim point that hits the wall, front or back.
    pub rim: Rim,
    /// Rates of rolling and turning $(\Omega, \omega)$ after the impact, rad/s.
    pub velocity_plus: [f64; 2],
    /// Heading of the penny, rad, continuous (not reduced modulo $2\pi$).
    pub phi: f64,
    /// Polar angle, about the center of the table, of the rim point that hits, rad, modulo $2\pi$.
    pub wall_angle: f64,
}

impl CircleOrbit {
    /// Computes the orbit of a penny that starts at the center of a circular table of radius `table_radius` (m), with the
    /// rolling rate $\Omega > 0$ and the turning rate $\omega \ne 0$ of `start`. The first impact is one of the front rim.
    /// Returns `None` if the penny never reaches the wall.
    ///
    /// # Errors
    ///
    /// [`BilliardError::NotPositive`] for $\Omega$, $|\omega|$ or the table's radius.
    pub fn from_center(
        penny: &RollingPenny,
        table_radius: f64,
        start: PennyState,
        restitution: Restitution,
    ) -> Result<Option<Self>, BilliardError> {
        crate::billiard::error::positive(&[
            ("theta_dot", start.theta_dot),
            ("table radius", table_radius),
            ("|phi_dot|", start.phi_dot.abs()),
        ])?;
        let r = penny.radius();
        let rho = r * start.theta_dot / start.phi_dot;
        let a = (table_radius - r) * (table_radius + r);
        // First root of (4 rho² - A) s² + 4 R rho s - A = 0 in the sense of rotation; rho and s
        // have the sign of omega.
        let discriminant = carom_numeric::power(4.0 * r * rho, 2) + 4.0 * a * (4.0 * rho * rho - a);
        if discriminant < 0.0 {
            return Ok(None);
        }
        let b = 4.0 * r * rho.abs();
        let tangent = 2.0 * a / (b + discriminant.sqrt());
        let angle = 2.0 * libm::atan(tangent);
        let half = 0.5 * angle;
        // Reduced coordinates after the angle, on the circle about (0, -rho).
        let x_star = 2.0 * rho.abs() * libm::sin(half) * libm::cos(half);
        let y_star = -2.0 * rho * libm::sin(half) * libm::sin(half);
        let (n_t, n_s) = ((x_star + r) / table_radius, y_star / table_radius);
        let unit = penny.impact(
            Rim::Front,
            Vector2::new(1.0, 0.0),
            Vector2::new(n_t, n_s),
            [0.0, 0.0],
            1.0,
            restitution,
        );
        let l = r * Vector2::new(n_t, n_s);
        let weighted = Vector2::new(l.x / penny.rolling_inertia(), l.y / penny.heading_inertia());
        Ok(Some(Self {
            start,
            first_time: angle / start.phi_dot.abs(),
            x_star,
            y_star,
            n_t,
            n_s,
            effective_restitution: unit.effective_restitution,
            normal: weighted / l.dot(&weighted),
            rate: l.dot(&Vector2::new(start.theta_dot, start.phi_dot)),
            radius: r,
        }))
    }

    /// Returns the limit of the rates of rolling and turning $(\Omega, \omega)$ after many impacts (rad/s), which the orbit
    /// approaches if the effective restitution $e$ is less than 1.
    pub fn limit(&self) -> [f64; 2] {
        let v = Vector2::new(self.start.theta_dot, self.start.phi_dot) - self.rate * self.normal;
        v.into()
    }

    /// Returns the rotation number of the orbit: the angle by which the point of impact moves along the circular wall from an
    /// impact to the next but one, in turns, modulo 1. For the elastic law this angle is equal for all impacts.
    pub fn rotation_number(&self) -> f64 {
        let mut impacts = self.impacts();
        let (first, third) = (impacts.next(), impacts.nth(1));
        match (first, third) {
            (Some(first), Some(third)) => {
                (third.wall_angle - first.wall_angle).rem_euclid(TAU) / TAU
            }
            _ => 0.0,
        }
    }

    /// Returns an endless iterator over the impacts of the orbit, in order of time.
    pub fn impacts(&self) -> impl Iterator<Item = CircleImpact> + '_ {
        let start = Vector2::new(self.start.theta_dot, self.start.phi_dot);
        let polar = libm::atan2(self.y_star, self.x_star + self.radius);
        let mut power = 1.0;
        let mut time = self.first_time;
        let mut phi = self.start.phi + self.start.phi_dot * self.first_time;
        let mut rim = Rim::Front;
        std::iter::from_fn(move || {
            power *= -self.effective_restitution;
            let velocity = start + (power - 1.0) * self.rate * self.normal;
            let wall_angle = match rim {
                Rim::Front => phi + polar,
                Rim::Back => phi + PI - polar,
            };
            let impact = CircleImpact {
                time,
                rim,
                velocity_plus: velocity.into(),
                phi,
                wall_angle,
            };
            let (big, small) = (velocity.x, velocity.y);
            let rho = self.radius * big / small;
            let x = rim.sign() * self.x_star;
            let turn = (-2.0 * small.signum() * libm::atan2(x, self.y_star + rho)).rem_euclid(TAU);
            let interval = turn / small.abs();
            time += interval;
            phi += small * interval;
            rim = rim.other();
            Some(impact)
        })
    }
}
