//! Block that turns about one of its edges, integrated independently of the simulation.

use super::scene::GRAVITY;

const STEP: f64 = 1e-4;

/// Number of steps after which the search for an angle ends.
const MOST_STEPS: usize = 200_000;

/// Uniform block turning about an edge at the distance R from its center: $\ddot\theta = \tfrac{3g}{4R}\sin(\theta - \delta)$,
/// where $\theta$ is the angle by which it has turned, and the center is above the edge at $\theta = \delta$.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pivot {
    pub(super) radius: f64,
    pub(super) upright: f64,
    pub(super) angle: f64,
    pub(super) rate: f64,
    pub(super) time: f64,
}

impl Pivot {
    pub(super) fn acceleration(&self, angle: f64) -> f64 {
        0.75 * GRAVITY / self.radius * libm::sin(angle - self.upright)
    }

    /// Computes the state of the block's rotation about its edge after another `dt` (s), by one Runge-Kutta step of
    /// fourth order.
    pub(super) fn after(&self, dt: f64) -> Self {
        let (x, u) = (self.angle, self.rate);
        let (a1, v1) = (self.acceleration(x), u);
        let (a2, v2) = (self.acceleration(x + 0.5 * dt * v1), u + 0.5 * dt * a1);
        let (a3, v3) = (self.acceleration(x + 0.5 * dt * v2), u + 0.5 * dt * a2);
        let (a4, v4) = (self.acceleration(x + dt * v3), u + dt * a3);
        Self {
            angle: x + dt / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4),
            rate: u + dt / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4),
            time: self.time + dt,
            ..*self
        }
    }

    /// Advances the rotation of the block to the time `time` (s), in small Runge-Kutta steps.
    pub(super) fn at(mut self, time: f64) -> Self {
        let steps = ((time - self.time) / STEP).ceil().clamp(1.0, 1e6);
        let dt = (time - self.time) / steps;
        for _ in 0..steps as usize {
            self = self.after(dt);
        }
        self
    }

    /// Advances the rotation of the block until it reaches `angle` (rad), and returns this state. `None` if that does not
    /// happen in the next 20 s.
    pub(super) fn reach(mut self, angle: f64) -> Option<Self> {
        for _ in 0..MOST_STEPS {
            let next = self.after(STEP);
            if (self.angle - angle) * (next.angle - angle) < 0.0 || next.angle == angle {
                let mut dt = STEP;
                for _ in 0..20 {
                    let there = self.after(dt);
                    dt -= (there.angle - angle) / there.rate;
                }
                let there = self.after(dt);
                return (0.0..=2.0 * STEP).contains(&dt).then_some(there);
            }
            self = next;
        }
        None
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Checks that energy is conserved: $\tfrac12\dot\theta^2 + \tfrac{3g}{4R}\cos(\theta - \delta)$ is constant for the angle
    /// $\theta$ of the block. $R$ is half the diagonal, $g$ is gravity, and $\delta$ is the angle at which the block is upright
    /// on its edge.
    #[test]
    fn a_block_on_an_edge_keeps_its_energy() {
        let start = Pivot {
            radius: 0.3,
            upright: 0.2,
            angle: 0.25,
            rate: 0.1,
            time: 0.0,
        };
        let energy =
            |p: &Pivot| 0.5 * p.rate * p.rate + 0.75 * GRAVITY / 0.3 * (p.angle - 0.2).cos();
        let there = start.reach(1.1).unwrap();
        assert!((there.angle - 1.1).abs() <= 1e-13);
        assert!((energy(&there) - energy(&start)).abs() <= 1e-9);
        let again = start.at(there.time);
        assert!((again.angle - 1.1).abs() <= 1e-9);
        assert!(start.reach(-1.0).is_none());
    }
}
