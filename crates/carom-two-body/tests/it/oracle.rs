//! An independent, slow solver: Runge-Kutta in polar coordinates, events by bisection.
//!
//! Written against the equations of motion alone; nothing is shared with the library.

use carom_two_body::{Recompression, RestitutionLaw};
use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};

/// Independent reference solver for the impact of a contact, with inverse inertia matrix `w`, friction
/// coefficient `mu` and restitution `e`.
pub struct Oracle {
    pub w: Matrix3<f64>,
    pub mu: f64,
    pub e: f64,
    pub law: RestitutionLaw,
    pub recompression: Recompression,
}

/// Angle, logarithm of the speed, impulse (3), normal velocity, stored energy.
type Full = [f64; 7];

#[derive(Clone, Copy)]
struct Normal {
    restoring: bool,
    kept: f64,
    first: Option<f64>,
}

impl Oracle {
    fn b(&self) -> Matrix2<f64> {
        self.w.fixed_view::<2, 2>(0, 0).into_owned()
    }

    fn d(&self) -> Vector2<f64> {
        Vector2::new(self.w[(0, 2)], self.w[(1, 2)])
    }

    /// Derivatives by the logarithmic parameter.
    fn rate(&self, y: &Full) -> Full {
        let s = Vector2::new(y[0].cos(), y[0].sin());
        let t = Vector2::new(-s.y, s.x);
        let pull = self.d() - self.mu * self.b() * s;
        let rho = y[1].exp();
        [
            t.dot(&pull),
            s.dot(&pull),
            -self.mu * rho * s.x,
            -self.mu * rho * s.y,
            rho,
            rho * (self.w[(2, 2)] - self.mu * self.d().dot(&s)),
            -y[5] * rho,
        ]
    }

    fn step(&self, y: &Full, h: f64) -> Full {
        let add = |a: &Full, k: &Full, h: f64| {
            let mut out = *a;
            out.iter_mut().zip(k).for_each(|(x, k)| *x += h * k);
            out
        };
        let k1 = self.rate(y);
        let k2 = self.rate(&add(y, &k1, 0.5 * h));
        let k3 = self.rate(&add(y, &k2, 0.5 * h));
        let k4 = self.rate(&add(y, &k3, h));
        let mut out = *y;
        for i in 0..7 {
            out[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
        out
    }

    /// Positive while restitution goes on.
    fn left(&self, normal: &Normal, closing: f64, impulse: f64, v: f64, energy: f64) -> f64 {
        match self.law {
            RestitutionLaw::Energetic => energy,
            RestitutionLaw::Poisson => (1.0 + self.e) * normal.first.unwrap() - impulse,
            _ => self.e * closing - v,
        }
    }

    /// Takes the loss at an end of compression; says whether the impact is over.
    fn compressed(
        &self,
        normal: &mut Normal,
        closing: f64,
        impulse: f64,
        energy: &mut f64,
    ) -> bool {
        let again = normal.first.is_some();
        normal.first.get_or_insert(impulse);
        normal.restoring = true;
        if self.law == RestitutionLaw::Energetic
            && (!again || self.recompression == Recompression::EachCompression)
        {
            *energy = normal.kept + self.e * self.e * (*energy - normal.kept);
        }
        self.left(normal, closing, impulse, 0.0, *energy) <= 0.0
    }

    /// Solves an impact with the contact velocity `v` before it. Returns the impulse and the one-letter codes
    /// of the events in order.
    pub fn solve(&self, v: &Vector3<f64>, fineness: f64) -> (Vector3<f64>, String) {
        let mut letters = String::new();
        let mut normal = Normal {
            restoring: false,
            kept: 0.0,
            first: None,
        };
        let closing = -v.z;
        let start = v.x.hypot(v.y);
        let mut y: Full = [v.y.atan2(v.x), start.ln(), 0.0, 0.0, 0.0, v.z, 0.0];
        let h = fineness / (self.mu * self.b().trace() + self.d().norm());
        // Slower than this adds less than the accuracy asked for.
        while y[1] > start.ln() - 34.0 {
            let next = self.step(&y, h);
            let event = |z: &Full| {
                if normal.restoring {
                    self.left(&normal, closing, z[4], z[5], z[6]) <= 0.0 || z[5] < 0.0
                } else {
                    z[5] >= 0.0
                }
            };
            if !event(&next) {
                y = next;
                continue;
            }
            let (mut low, mut high) = (0.0, h);
            for _ in 0..70 {
                let middle = 0.5 * (low + high);
                if event(&self.step(&y, middle)) {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            y = self.step(&y, high);
            if !normal.restoring {
                letters.push(if normal.first.is_none() { 'c' } else { 'C' });
                y[5] = 0.0;
                if self.compressed(&mut normal, closing, y[4], &mut y[6]) {
                    letters.push('r');
                    return (Vector3::new(y[2], y[3], y[4]), letters);
                }
            } else if y[5] < 0.0 && self.left(&normal, closing, y[4], y[5], y[6]) > 0.0 {
                letters.push('k');
                normal.restoring = false;
                normal.kept = y[6];
            } else {
                letters.push('r');
                return (Vector3::new(y[2], y[3], y[4]), letters);
            }
        }
        letters.push('s');
        let impulse = self.after_rest(&mut normal, closing, y, &mut letters);
        (impulse, letters)
    }

    /// Stick or renewed slip: the normal velocity rises at a constant rate.
    fn after_rest(
        &self,
        normal: &mut Normal,
        closing: f64,
        y: Full,
        letters: &mut String,
    ) -> Vector3<f64> {
        let demand = self.b().try_inverse().unwrap() * self.d();
        let tangential = if demand.norm() <= self.mu {
            -demand
        } else {
            -self.mu * self.centrifugal()
        };
        let k = self.w[(2, 2)] + self.d().dot(&tangential);
        let (mut z, mut v, mut energy) = (y[4], y[5], y[6]);
        if !normal.restoring {
            letters.push(if normal.first.is_none() { 'c' } else { 'C' });
            z -= v / k;
            energy += 0.5 * v * v / k;
            v = 0.0;
            if self.compressed(normal, closing, z, &mut energy) {
                letters.push('r');
                let along = z - y[4];
                return Vector3::new(y[2] + tangential.x * along, y[3] + tangential.y * along, z);
            }
        }
        z += match self.law {
            RestitutionLaw::Energetic => ((v * v + 2.0 * k * energy).sqrt() - v) / k,
            RestitutionLaw::Poisson => self.left(normal, closing, z, v, energy),
            _ => self.left(normal, closing, z, v, energy) / k,
        };
        letters.push('r');
        let along = z - y[4];
        Vector3::new(y[2] + tangential.x * along, y[3] + tangential.y * along, z)
    }

    /// By scanning all directions.
    fn centrifugal(&self) -> Vector2<f64> {
        let pull = |angle: f64| {
            let s = Vector2::new(angle.cos(), angle.sin());
            let p = self.d() - self.mu * self.b() * s;
            (s.dot(&p), s.x * p.y - s.y * p.x)
        };
        let n = 20_000;
        let at = |k: usize| std::f64::consts::TAU * k as f64 / n as f64;
        for k in 0..n {
            let (mut low, mut high) = (at(k), at(k + 1));
            if pull(low).1 > 0.0 && pull(high).1 <= 0.0 && pull(low).0 > 0.0 {
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    if pull(middle).1 > 0.0 {
                        low = middle;
                    } else {
                        high = middle;
                    }
                }
                return Vector2::new(low.cos(), low.sin());
            }
        }
        panic!("no centrifugal direction");
    }
}
