//! A rocking block that comes to rest after infinitely many impacts: Halm & Posa, Figs. 7 and 8.

use crate::ScenarioError;
use crate::common::ending::Extent;
use crate::common::plot::Plot;
use crate::config::{Count, Input, NonNegative, Positive};
use carom_motion::hybrid::Ending;
use carom_numeric::quadrature::gauss_legendre;
use carom_report::animation::{Animation, MOST_FRAMES, Outline, PlaneBody};
use carom_report::record::{Color, Column, Quantity, Record, Table};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    width: Positive,
    height: Positive,
    mass: Positive,
    gravity: Positive,
    angular_velocity: Positive,
    friction: NonNegative,
    half_cycles: Count<1, 60>,
}

/// Largest number of half cycles summed; the remaining ones are a geometric series to the last digit.
const SUMMED: usize = 2000;

/// Ratio of an angular velocity to the first one below which the remaining half cycles are a geometric series.
const TAIL: f64 = 1e-17;

/// Number of points drawn in each half of a half cycle.
const DRAWN: usize = 24;

/// Step between the drawn points used as frames of the animation.
const PLAYED_STRIDE: usize = 3;

/// A uniform block that rocks on its corners.
#[derive(Clone, Copy, Debug)]
struct Block {
    width: f64,
    height: f64,
    mass: f64,
    gravity: f64,
    /// Angle between the diagonal and the base (rad).
    alpha: f64,
    /// Constant $\kappa = mgr/(I + mr^2)$ of the motion $\ddot\theta = -\kappa\cos(\theta + \alpha)$, with half diagonal $r$.
    kappa: f64,
    /// Angular velocity after an impact divided by that before it, Eq. (68).
    ratio: f64,
}

/// Motion about one corner, from leaving the floor to landing on the other corner.
#[derive(Clone, Copy, Debug)]
struct HalfCycle {
    /// Angular velocity at the start of the half cycle (rad/s).
    speed: f64,
    apex: f64,
    duration: f64,
    /// Normal impulse at the pivot corner during the rotation (N s).
    pivot_impulse: f64,
    /// Normal impulse of the landing (N s).
    landing_impulse: f64,
}

impl HalfCycle {
    /// Returns the length (s) of the half cycle, including its landing, in the parameter $s$ of the motion with $ds = (1 +
    /// \sigma\lambda_n) dt$. Here $\lambda_n$ is the normal force (N) and $\sigma$ = 1/N. An impact takes no time, but its
    /// impulse contributes a finite length.
    fn length(&self) -> f64 {
        self.duration + self.pivot_impulse + self.landing_impulse
    }
}

impl Block {
    fn new(config: &Config) -> Result<Self, ScenarioError> {
        let (w, h) = (*config.width, *config.height);
        // I = m (w² + h²)/12 and r² = (w² + h²)/4, so I + m r² = m (w² + h²)/3, and
        // r² cos 2α = (w² - h²)/4.
        let diagonal = libm::hypot(w, h);
        let ratio =
            ((h * h - w * w) / 4.0 + diagonal * diagonal / 12.0) * 3.0 / (diagonal * diagonal);
        let block = Self {
            width: w,
            height: h,
            mass: *config.mass,
            gravity: *config.gravity,
            alpha: libm::atan2(h, w),
            kappa: 1.5 * *config.gravity / diagonal,
            ratio,
        };
        if ratio <= 0.0 {
            let message = "the block is so flat that its first landing stops it: no rocking";
            return Err(ScenarioError::value("height", message));
        }
        let needed = (h * (1.0 - ratio) / (w * (1.0 + ratio))).max(block.pivot_friction(config)?);
        if !config.friction.is_finite() || *config.friction < needed {
            let message = format!(
                "{}: at least {needed} keeps the corners still",
                *config.friction
            );
            return Err(ScenarioError::value("friction", message));
        }
        Ok(block)
    }

    /// Returns the friction coefficient that keeps the block's pivot corner in place in the first half cycle, which needs the
    /// largest coefficient.
    fn pivot_friction(&self, config: &Config) -> Result<f64, ScenarioError> {
        let half_cycle = self.half_cycle(*config.angular_velocity)?;
        let needed = (0..=400).map(|k| {
            let theta = half_cycle.apex * f64::from(k) / 400.0;
            let (normal, tangential) = self.pivot_force(theta, half_cycle.apex);
            if normal > 0.0 {
                tangential.abs() / normal
            } else {
                f64::INFINITY
            }
        });
        Ok(needed.fold(0.0, f64::max))
    }

    /// Returns the square of the block's angular velocity (rad²/s²) at the angle `theta` (rad) of a swing whose largest angle
    /// is `apex` (rad). The value is $\dot\theta^2 = 2\kappa(\sin(\theta^\ast + \alpha) - \sin(\theta + \alpha))$ with the
    /// largest angle $\theta^\ast$, the angle $\alpha$ of the diagonal and $\kappa$ in rad/s².
    fn square_rate(&self, theta: f64, apex: f64) -> f64 {
        let middle = 0.5 * (apex + theta) + self.alpha;
        4.0 * self.kappa * libm::cos(middle) * libm::sin(0.5 * (apex - theta))
    }

    /// Returns the normal and the tangential force on the block's pivot corner (N) at the angle `theta` (rad) of a swing.
    /// `apex`: largest angle of this swing (rad).
    fn pivot_force(&self, theta: f64, apex: f64) -> (f64, f64) {
        let r = 0.5 * libm::hypot(self.width, self.height);
        let (sin, cos) = libm::sincos(theta + self.alpha);
        let (acceleration, square) = (-self.kappa * cos, self.square_rate(theta, apex));
        (
            self.mass * (self.gravity + r * (acceleration * cos - square * sin)),
            self.mass * r * (-acceleration * sin - square * cos),
        )
    }

    /// Computes the half cycle of the rocking block, from one landing to the next, that starts with the angular velocity
    /// `speed` (rad/s). Returns an error if the block tips over.
    fn half_cycle(&self, speed: f64) -> Result<HalfCycle, ScenarioError> {
        let apex = self.apex(speed).ok_or_else(|| {
            let message = format!("{speed}: the block passes upright and does not come back");
            ScenarioError::value("angular_velocity", message)
        })?;
        let duration = 2.0 * self.time_from_apex(1.0, apex);
        let (m, w) = (self.mass, self.width);
        Ok(HalfCycle {
            speed,
            apex,
            duration,
            // The vertical momentum changes from m w θ̇/2 to -m w θ̇/2, with the initial angular velocity θ̇.
            pivot_impulse: m * self.gravity * duration - m * w * speed,
            landing_impulse: 0.5 * m * w * (1.0 + self.ratio) * speed,
        })
    }

    /// Returns the largest angle (rad) of the swing that starts flat with the angular velocity `speed` (rad/s): Eq. (57),
    /// computed without cancellation. `None` if the block tips over.
    ///
    /// # Departure from the source
    ///
    /// The paper prints $-\sin\alpha$ in the arcsine, which gives -2.07 rad for its own example;
    /// the plus sign gives the 0.22 rad stated in the text.
    fn apex(&self, speed: f64) -> Option<f64> {
        let (sin, cos) = libm::sincos(self.alpha);
        let e = speed * speed / (2.0 * self.kappa);
        let inside = cos * cos - 2.0 * e * sin - e * e;
        if inside <= 0.0 {
            return None;
        }
        let sine = e * cos + sin * (2.0 * e * sin + e * e) / (cos + inside.sqrt());
        Some(libm::asin(sine))
    }

    /// Returns the time (s) that the block takes from the largest angle $\theta^\ast$ of its swing, `apex` (rad), to the angle
    /// $\theta^\ast(1 - x^2)$.
    ///
    /// In the variable $x$ the integrand $d\theta/\dot\theta$ is smooth: 40 Gauss points give all digits.
    fn time_from_apex(&self, x: f64, apex: f64) -> f64 {
        let integrand = |x: f64| {
            let half_fall = 0.5 * apex * x * x;
            let sinc = if half_fall > 0.0 {
                libm::sin(half_fall) / half_fall
            } else {
                1.0
            };
            2.0 * apex
                / (2.0 * self.kappa * apex * libm::cos(apex - half_fall + self.alpha) * sinc).sqrt()
        };
        let nodes = gauss_legendre::<40>();
        let terms = nodes
            .iter()
            .map(|(node, weight)| 0.5 * x * weight * integrand(0.5 * x * (1.0 + node)));
        terms.sum()
    }
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let block = Block::new(&config)?;
    let first = block.half_cycle(*config.angular_velocity)?;
    let (mut t, mut s) = (0.0, 0.0);
    let mut speed = *config.angular_velocity;
    let mut table = Table::new(
        "half_cycles",
        "Half cycles: pivoting, then landing on the other corner.",
        Column::list(
            "half_cycle, angular_velocity [rad/s], apex [rad], duration [s], \
             pivot_impulse [N s], landing_impulse [N s], time_at_landing [s], s_at_landing, \
             s_after_landing",
        ),
    );
    let mut curves = Curves::default();
    let mut landings = Vec::new();
    for k in 0..SUMMED {
        if speed <= TAIL * *config.angular_velocity {
            break;
        }
        let half_cycle = block.half_cycle(speed)?;
        if k < *config.half_cycles {
            let s_landing = s + half_cycle.duration + half_cycle.pivot_impulse;
            table.rows.push(vec![
                k as f64,
                speed,
                half_cycle.apex,
                half_cycle.duration,
                half_cycle.pivot_impulse,
                half_cycle.landing_impulse,
                t + half_cycle.duration,
                s_landing,
                s_landing + half_cycle.landing_impulse,
            ]);
            curves.add(&block, &half_cycle, k, t, s);
            landings.push(t + half_cycle.duration);
        }
        t += half_cycle.duration;
        s += half_cycle.length();
        speed *= block.ratio;
    }
    if block.ratio < 1.0 && speed > 0.0 {
        // For small motions the duration of a half cycle is proportional to its initial angular velocity.
        let last = block.half_cycle(speed)?;
        t += last.duration / (1.0 - block.ratio);
        s += last.length() / (1.0 - block.ratio);
    }
    let weight = block.mass * block.gravity;
    let identity = (1.0 + weight) * t - 0.5 * block.mass * block.width * *config.angular_velocity;
    let extent = Extent::of_time(t, landings.len(), t);
    let ending: Ending<ScenarioError> = Ending::Zeno { accumulation: t };
    extent.note("", &ending, &mut record);
    record.quantities.extend([
        Quantity::new("apex_rad", first.apex, "rad"),
        Quantity::new("first_half_cycle_s", first.duration, "s").note("Fig. 8 shows about 1"),
        Quantity::new("impact_ratio", block.ratio, ""),
        Quantity::new("accumulation_time_s", t, "s"),
        Quantity::new("accumulation_s", s, "")
            .closed_form(identity, "(1 + mg) t - m w omega / 2, by vertical momentum"),
        Quantity::new("bound_time_s", first.duration / (1.0 - block.ratio), "s").note("Eq. (70)"),
        Quantity::new("bound_s", first.length() / (1.0 - block.ratio), "").note("Eq. (69)"),
        Quantity::new("rate_at_rest", 1.0 / (1.0 + weight), "").note("dt/ds once the block rests"),
    ]);
    record.tables.push(table);
    record.animations.push(curves.motion(&block, landings));
    curves.finish(&mut record, t, s, 1.0 / (1.0 + weight))?;
    Ok(record)
}

/// Sampled curves of the motion.
#[derive(Default)]
struct Curves {
    t: Vec<f64>,
    s: Vec<f64>,
    angle: Vec<f64>,
    rate: Vec<f64>,
    /// Rate $dt/ds$ of the time.
    clock: Vec<f64>,
    /// Rate of the normal impulse at corner A; both corners together have the rate $1 - dt/ds$.
    corner_a: Vec<f64>,
}

impl Curves {
    fn add(&mut self, block: &Block, half_cycle: &HalfCycle, index: usize, t0: f64, s0: f64) {
        // Angles are negative while the block rotates about corner B.
        let side = if index.is_multiple_of(2) { 1.0 } else { -1.0 };
        let apex = half_cycle.apex;
        let half = 0.5 * half_cycle.duration;
        for k in 0..=2 * DRAWN {
            let x = k as f64 / DRAWN as f64 - 1.0;
            let theta = apex * (1.0 - x * x);
            let time = half + x.signum() * block.time_from_apex(x.abs(), apex);
            let rate = -x.signum() * block.square_rate(theta, apex).max(0.0).sqrt();
            // Impulse at the pivot so far, from the vertical momentum m r cos(θ + α) θ̇.
            let r = 0.5 * libm::hypot(block.width, block.height);
            let momentum = block.mass * r * libm::cos(theta + block.alpha) * rate;
            let start = 0.5 * block.mass * block.width * half_cycle.speed;
            let impulse = block.mass * block.gravity * time + momentum - start;
            let (normal, _) = block.pivot_force(theta, apex);
            let clock = 1.0 / (1.0 + normal);
            self.push(
                t0 + time,
                s0 + time + impulse,
                side * theta,
                side * rate,
                [clock, if side > 0.0 { 1.0 - clock } else { 0.0 }],
            );
        }
        // The landing is instantaneous, on the other corner.
        let on_a = if side > 0.0 { 0.0 } else { 1.0 };
        let t = t0 + half_cycle.duration;
        let landing = s0 + half_cycle.duration + half_cycle.pivot_impulse;
        self.push(t, landing, 0.0, -side * half_cycle.speed, [0.0, on_a]);
        let after = -side * block.ratio * half_cycle.speed;
        self.push(
            t,
            landing + half_cycle.landing_impulse,
            0.0,
            after,
            [0.0, on_a],
        );
    }

    fn push(&mut self, t: f64, s: f64, angle: f64, rate: f64, [clock, corner_a]: [f64; 2]) {
        self.t.push(t);
        self.s.push(s);
        self.angle.push(angle);
        self.rate.push(rate);
        self.clock.push(clock);
        self.corner_a.push(corner_a);
    }

    /// Builds the animation of the block. The block rotates about its corner A at positive angles, and about B at negative
    /// ones. `landings`: times of the landings (s).
    fn motion(&self, block: &Block, landings: Vec<f64>) -> Animation {
        let (w, h) = (block.width, block.height);
        // A cycle has twice the samples of a half cycle and its landing; frames at the landings are kept.
        let per_cycle = 2 * DRAWN + 3;
        let shown = |k: usize| {
            let k = k % per_cycle;
            k.is_multiple_of(PLAYED_STRIDE) || k > 2 * DRAWN
        };
        let kept: Vec<usize> = (0..self.t.len())
            .filter(|k| shown(*k))
            .take(MOST_FRAMES)
            .collect();
        let at = |list: &[f64], k: usize| list.get(k).copied().unwrap_or(0.0);
        let times: Vec<f64> = kept.iter().map(|k| at(&self.t, *k)).collect();
        let poses = kept.iter().map(|k| {
            let angle = at(&self.angle, *k);
            // The origin of the block is the middle of its base.
            let pivot = 0.5 * w * if angle < 0.0 { 1.0 } else { -1.0 };
            let (sin, cos) = libm::sincos(angle);
            [pivot - pivot * cos, -pivot * sin, angle]
        });
        let corners = [[-0.5 * w, 0.0], [0.5 * w, 0.0], [0.5 * w, h], [-0.5 * w, h]];
        let body = PlaneBody::new(vec![Outline::polygon(corners, Color::Blue)], poses);
        let impacts = landings.into_iter().filter(|t| times.contains(t)).collect();
        Animation::plane(
            "motion",
            "The block rocks",
            "The landings come ever faster and accumulate; the half cycles of the table are played.",
            times,
            impacts,
        )
        .fixed(Outline::line([[-1.5 * w, 0.0], [1.5 * w, 0.0]], Color::Gray))
        .body(body)
    }

    /// Draws the rates of time and of the normal impulses at both corners against $s$; they add up to 1.
    fn rates(&self) -> Plot {
        let (clock, corner_a) = (self.clock.iter(), self.corner_a.iter());
        let corner_b = clock.zip(corner_a).map(|(clock, a)| 1.0 - clock - a);
        Plot::new("zeno-block/fig8_rates")
            .with("time", self.s.clone(), self.clock.clone())
            .with("impulse at A", self.s.clone(), self.corner_a.clone())
            .with("impulse at B", self.s.clone(), corner_b)
    }

    fn finish(
        mut self,
        record: &mut Record,
        t_end: f64,
        s_end: f64,
        rest: f64,
    ) -> Result<(), ScenarioError> {
        // Infinitely many half cycles follow between the last one shown and rest.
        let clock = Plot::new("zeno-block/fig8_clock")
            .with("clock", self.s.clone(), self.clock.clone())
            .with("at rest", [s_end, s_end + 3.0], [rest; 2]);
        for extra in [0.0, 3.0] {
            let rates = [rest, 0.5 * (1.0 - rest)];
            self.push(t_end + rest * extra, s_end + extra, 0.0, 0.0, rates);
        }
        let motion = |path: &str, at: &[f64]| {
            Plot::new(path)
                .with("angle", at.to_vec(), self.angle.clone())
                .with("angular velocity", at.to_vec(), self.rate.clone())
        };
        for plot in [
            motion("zeno-block/fig8_time", &self.t),
            motion("zeno-block/fig8_s", &self.s),
            clock,
            self.rates(),
        ] {
            plot.draw(record)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Overrides;

    /// Checks that the results agree with the numbers that Halm & Posa print (0.22, 2.67 and 28.4), and in all digits with an
    /// independent implementation.
    #[test]
    fn the_block_of_the_paper() {
        let config = crate::list::defaults::<Config>("zeno-block");
        let block = Block::new(&config).unwrap();
        let rows = [
            [
                1.0,
                0.21975939112053114,
                0.9873278073159657,
                8.685685789769623,
                0.85,
            ],
            [
                0.7,
                0.09179826686813411,
                0.5439420390901748,
                4.636071403474615,
                0.595,
            ],
            [
                0.49,
                0.042620875802233324,
                0.3533004907978049,
                2.9758778147264664,
                0.4165,
            ],
        ];
        for [speed, apex, duration, pivot, landing] in rows {
            let half_cycle = block.half_cycle(speed).unwrap();
            for (actual, expected) in [
                (half_cycle.apex, apex),
                (half_cycle.duration, duration),
                (half_cycle.pivot_impulse, pivot),
                (half_cycle.landing_impulse, landing),
            ] {
                assert!((actual - expected).abs() <= 1e-13, "{actual} {expected}");
            }
        }
        assert!((block.kappa - 6.58074805778188).abs() <= 1e-13);
        let record = crate::scenario("zeno-block")
            .unwrap()
            .run(&Overrides::default())
            .unwrap();
        let value = |name: &str| {
            record
                .quantities
                .iter()
                .find(|q| q.name == name)
                .unwrap()
                .value
        };
        assert!((value("accumulation_time_s") - 2.671421398374244).abs() <= 1e-12);
        assert!((value("accumulation_s") - 28.378065316425577).abs() <= 1e-11);
        assert!((value("bound_s") - 35.0767119902853).abs() <= 1e-11);
        assert!((value("bound_time_s") - 3.291092691053219).abs() <= 1e-12);
    }

    #[test]
    fn blocks_that_do_not_rock_are_refused() {
        let run = |set: &str| {
            let overrides = Overrides {
                assignments: vec![set.to_owned()],
                ..Overrides::default()
            };
            crate::scenario("zeno-block")
                .unwrap()
                .run(&overrides)
                .unwrap_err()
                .to_string()
        };
        assert!(
            run("angular_velocity=1.2").contains("upright")
                || run("angular_velocity=1.3").contains("upright")
        );
        assert!(run("friction=0.3").contains("friction"));
        assert!(run("height=0.5").contains("height"));
    }
}
