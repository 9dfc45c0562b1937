//! Derivatives along straight sliding.

use crate::tolerances::SHORT_LINE;

/// Straight sliding over a normal impulse, with the evolution of perturbations perpendicular to the sliding direction.
pub(crate) struct Ray {
    /// Rate $\lambda$ of the sliding speed, and $b$ in the equation $w' = -bw/\rho + t\cdot F$ of a perpendicular
    /// perturbation $w$, with the sliding speed $\rho$, the unit vector $t$ perpendicular to sliding and a forcing $F$.
    pub(crate) radial: f64,
    pub(crate) decay_rate: f64,
    /// Sliding speeds at the start and at the end, and $\int\rho dI_z$.
    pub(crate) speeds: [f64; 2],
    pub(crate) path: f64,
    /// Integral $\int dI_z/\rho$.
    pub(crate) time: f64,
    /// Remaining fraction of $w$ at the end, and the change of $w$ at the end by a unit of $t\cdot F$.
    pub(crate) left: f64,
    pub(crate) pushed: f64,
}

impl Ray {
    pub(crate) fn new(radial: f64, decay_rate: f64, speed: f64, by: f64) -> Self {
        let last = (speed + radial * by).max(0.0);
        let time = if radial == 0.0 {
            by / speed
        } else if last == 0.0 {
            f64::INFINITY
        } else {
            libm::log1p(radial * by / speed) / radial
        };
        let left = libm::exp(-decay_rate * time);
        let sum = radial + decay_rate;
        let pushed = if last == 0.0 {
            0.0
        } else if (sum * time).abs() < 1.0 {
            speed * left * time * relative_growth(sum * time)
        } else {
            (last - speed * left) / sum
        };
        Self {
            radial,
            decay_rate,
            speeds: [speed, last],
            path: (speed + 0.5 * radial * by) * by,
            time,
            left,
            pushed,
        }
    }

    /// Computes the evolution of a perturbation $w$ of the sliding velocity perpendicular to straight sliding, over the normal
    /// impulse of the phase. `before` is $w$ at the start, and `push` a constant rate of $w$ per unit normal impulse. Returns $w$
    /// at the end, and the integral of $w$ over the normal impulse.
    pub(crate) fn across(&self, before: f64, push: f64) -> (f64, f64) {
        let after = before * self.left + push * self.pushed;
        let [first, last] = self.speeds;
        let (sum, difference) = (self.radial + self.decay_rate, self.radial - self.decay_rate);
        let area = if difference.abs() >= sum.abs() {
            (last * after - first * before - push * self.path) / difference
        } else {
            let fading = first * self.time * relative_growth(difference * self.time);
            before * fading + push * (self.path - first * fading) / sum
        };
        (after, area)
    }
}

/// Computes $(e^x - 1)/x$, which is 1 for $x = 0$.
fn relative_growth(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { libm::expm1(x) / x }
}

/// Computes two derivatives with respect to the friction coefficient at zero friction, for a phase with the normal impulse `by`.
/// The first is that of the friction impulse, with the sign reversed: $\int s dI_z$ with the sliding direction $s$ and the normal
/// impulse $I_z$, along the line $\gamma + I_zd$ of sliding velocities. The second is the derivative of the work that friction
/// takes from the normal impulse. `sliding` is the sliding velocity $\gamma$ at the start, `d` the change of $\gamma$ per unit
/// normal impulse.
pub(crate) fn first_friction(sliding: [f64; 2], d: [f64; 2], by: f64) -> ([f64; 2], f64) {
    let speed = libm::hypot(sliding[0], sliding[1]);
    let rate = libm::hypot(d[0], d[1]);
    if rate * by <= SHORT_LINE * speed {
        let s = [sliding[0] / speed, sliding[1] / speed];
        let along = d[0] * s[0] + d[1] * s[1];
        return (s.map(|x| x * by), 0.5 * along * by * by);
    }
    let axis = [d[0] / rate, d[1] / rate];
    let first = sliding[0] * axis[0] + sliding[1] * axis[1];
    let across = [sliding[0] - first * axis[0], sliding[1] - first * axis[1]];
    let c = libm::hypot(across[0], across[1]);
    let last = first + rate * by;
    let length = libm::hypot(last, c);
    let turn = if c > 0.0 {
        libm::asinh(last / c) - libm::asinh(first / c)
    } else {
        0.0
    };
    let drag = [0, 1].map(|i| {
        let sideways = if c > 0.0 { across[i] * turn } else { 0.0 };
        (axis[i] * (length - speed) + sideways) / rate
    });
    let area = 0.5 * (last * length - first * speed + c * c * turn);
    (drag, area / rate - speed * by)
}
