//! Impact of a rim, in closed form.

use super::{Rim, RollingPenny};
use carom_impact::Restitution;
use nalgebra::Vector2;

/// Smallest effective restitution that still counts as zero: a smaller one makes the law infeasible.
pub(super) const FEASIBLE_RESTITUTION: f64 = -1e-12;

/// Result of an impact of a penny's rim point with the wall: rates after the impact, impulses and energy change.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PennyImpact {
    /// Rolling rate $\Omega$ after the impact, rad/s.
    pub theta_dot_plus: f64,
    /// Turning rate $\omega$ after the impact, rad/s.
    pub phi_dot_plus: f64,
    /// Time derivative of the wall function $h$ at the rim before the impact, $u = \mathrm{d}h(v^-)$; positive for an approaching
    /// rim.
    pub rate_minus: f64,
    /// Squared norm $\lVert\pi\nabla h\rVert^2$ in the kinetic metric, with the wall function $h$. The projection $\pi$ maps onto
    /// the velocities that rolling allows.
    pub restricted_norm2: f64,
    /// Squared norm $\lVert\nabla h\rVert^2$ in the kinetic metric, with the wall function $h$, as if the penny did not have to
    /// roll.
    pub full_norm2: f64,
    /// Impulse of the wall, as the multiplier of $-\mathrm{d}h$ with the wall function $h$: $\kappa u/\lVert\pi\nabla h\rVert^2$,
    /// where $u$ is `rate_minus` and $\kappa$ is 1 plus the effective restitution. At least 0 for an approaching rim.
    pub alpha: f64,
    /// Impulses of the two rolling constraints, as multipliers of their one-forms.
    pub lambda: [f64; 2],
    /// Minus the ratio of the time derivatives of the wall function after and before the impact; negative if the law leaves the
    /// rim approaching.
    pub effective_restitution: f64,
    /// Change of kinetic energy in the impact, J; negative for a loss.
    pub energy_change_j: f64,
}

impl RollingPenny {
    /// Returns the time derivative of the wall function $h$ at a rim point of the penny, positive if the point approaches the
    /// wall: $\mathrm{d}h(v) = R(\Omega n_t + \sigma\omega n_s)$.
    ///
    /// `heading` is the unit vector of the rolling direction, `gradient` the gradient of $h$ at the rim point with the
    /// components $n_t$ along and $n_s$ across the heading, and `velocity` the rates $(\Omega, \omega)$ of rolling and
    /// turning. $R$ is the radius, and $\sigma$ is 1 at the front rim, −1 at the back rim.
    #[inline]
    pub fn wall_rate(
        &self,
        rim: Rim,
        heading: Vector2<f64>,
        gradient: Vector2<f64>,
        velocity: [f64; 2],
    ) -> f64 {
        let [theta_dot, phi_dot] = velocity;
        let n_t = gradient.dot(&heading);
        let n_s = heading.perp(&gradient);
        self.radius() * (theta_dot * n_t + rim.sign() * phi_dot * n_s)
    }

    /// Computes the impact of a rim point of the penny with the wall. `rate_minus` is the time derivative $u$ of the wall
    /// function at the rim point before the impact, positive for an approach.
    ///
    /// `heading` is the unit vector of the rolling direction, `gradient` the gradient of the wall function at the rim point,
    /// and `velocity` the rates $(\Omega, \omega)$ of rolling and turning. The rate is an argument because near a graze the
    /// caller knows it more accurately than the velocities give it; otherwise it is [`wall_rate`](Self::wall_rate). With mass
    /// $m$, radius $R$, moments of inertia $I$ about the axle and $J$ about the vertical, $M_1 = I + mR^2$, the components
    /// $n_t$ and $n_s$ of the gradient along and across the heading, the sign $\sigma$ of the rim (1 at the front, −1 at the
    /// back), the gradient $\pi\nabla h$ projected onto the velocities that rolling allows, and $\kappa$ 1 plus the effective
    /// restitution,
    ///
    /// $$ \lVert\pi\nabla h\rVert^2 = \frac{R^2n_t^2}{M_1} + \frac{R^2n_s^2}{J}, \quad
    /// \Omega^+ = \Omega - \frac{\kappa u R n_t}{M_1\lVert\pi\nabla h\rVert^2}, \quad
    /// \omega^+ = \omega - \frac{\kappa u \sigma R n_s}{J\lVert\pi\nabla h\rVert^2}. $$
    ///
    /// # Departure from the source
    ///
    /// Clark & Bloch do not say where $h_x, h_y$ in (28)-(29) are evaluated; the chain rule says
    /// at the rim point. They give no elastic map for the penny; this is (15)-(17) for it.
    #[inline]
    pub fn impact(
        &self,
        rim: Rim,
        heading: Vector2<f64>,
        gradient: Vector2<f64>,
        velocity: [f64; 2],
        rate_minus: f64,
        restitution: Restitution,
    ) -> PennyImpact {
        let [theta_dot, phi_dot] = velocity;
        let (radius, rolling) = (self.radius(), self.rolling_inertia());
        let n_t = gradient.dot(&heading);
        let n_s = heading.perp(&gradient);
        let along = radius * n_t / rolling;
        let across = radius * n_s / self.heading_inertia();
        let restricted_norm2 = radius * (n_t * along + n_s * across);
        let full_norm2 = gradient.norm_squared() / self.mass() + radius * n_s * across;
        let effective_restitution = restitution.effective(restricted_norm2 / full_norm2);
        let alpha = (1.0 + effective_restitution) * rate_minus / restricted_norm2;
        let reaction = alpha * (gradient - self.mass() * radius * radius / rolling * n_t * heading);
        PennyImpact {
            theta_dot_plus: theta_dot - alpha * along,
            phi_dot_plus: phi_dot - alpha * rim.sign() * across,
            rate_minus,
            restricted_norm2,
            full_norm2,
            alpha,
            lambda: [reaction.x, reaction.y],
            effective_restitution,
            energy_change_j: -0.5
                * (1.0 - effective_restitution * effective_restitution)
                * rate_minus
                * rate_minus
                / restricted_norm2,
        }
    }
}
