//! Gaps along a step, without solving the step again.
//!
//! Between its ends the path is interpolated by a cubic in every coordinate, with the velocities of
//! the ends. Its distance from the discrete path is of third order in the step length, which is less than the distance of
//! the discrete path from the exact motion. On the interpolated path a gap is a function of time that costs one
//! evaluation. That function is approximated by the cubic through its end values and rates, plus or minus a quartic bump that
//! bounds the error seen at the middle. It is positive if its Bernstein coefficients are, and crosses zero exactly once if they
//! change sign once. If neither is certain, the segment is halved.

use carom_mechanism::MechanicalSystem;
use carom_metric::kernel;
use carom_variational::generalized::Point;

/// Largest number of times that a segment of a step is halved.
const MAX_DEPTH: usize = 24;

/// Largest number of segments examined in one step for one contact; clear paths take one, grazing ones some tens.
const MAX_SEGMENTS: usize = 2000;

/// Safety factor of the estimated error of the cubic.
const SAFETY: f64 = 4.0;

/// Gap and gap rate at a time of the interpolated path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    pub(crate) time: f64,
    pub(crate) gap: f64,
    pub(crate) rate: f64,
}

/// Segment at whose start a gap is open or just closed, and at whose end it is violated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dip {
    pub(crate) open: Probe,
    pub(crate) violated: Probe,
}

/// Interpolated path of a step, with buffers.
#[derive(Debug)]
pub(crate) struct Path<'p, S: ?Sized> {
    pub(crate) system: &'p S,
    pub(crate) start: &'p Point,
    pub(crate) end: &'p Point,
    pub(crate) step: f64,
    pub(crate) configuration: &'p mut [f64],
    pub(crate) velocity: &'p mut [f64],
    pub(crate) gradient: &'p mut [f64],
    pub(crate) segments: usize,
}

impl<S: MechanicalSystem + ?Sized> Path<'_, S> {
    /// Sets the buffer `configuration` to the interpolated configuration at a time (s) after the start of the step.
    fn place(&mut self, time: f64) {
        let h = self.step;
        let x = time / h;
        let y = 1.0 - x;
        // Cubic Hermite polynomials.
        let (a, b) = (y * y * (1.0 + 2.0 * x), x * x * (1.0 + 2.0 * y));
        let (c, d) = (h * x * y * y, -h * y * x * x);
        for (i, q) in self.configuration.iter_mut().enumerate() {
            *q = a * self.start.configuration[i]
                + b * self.end.configuration[i]
                + c * self.start.velocity[i]
                + d * self.end.velocity[i];
        }
    }

    /// Computes the gaps of all contacts at the middle of the step, on the interpolated path.
    pub(crate) fn middle_gaps(&mut self, gaps: &mut [f64]) {
        self.place(0.5 * self.step);
        self.system.gaps(self.configuration, gaps);
    }

    pub(crate) fn probe(&mut self, contact: usize, time: f64) -> Probe {
        self.place(time);
        let h = self.step;
        let x = time / h;
        let y = 1.0 - x;
        let (slope, c, d) = (6.0 * x * y / h, y * (1.0 - 3.0 * x), x * (1.0 - 3.0 * y));
        for (i, v) in self.velocity.iter_mut().enumerate() {
            *v = slope * (self.end.configuration[i] - self.start.configuration[i])
                + c * self.start.velocity[i]
                + d * self.end.velocity[i];
        }
        self.system
            .gap_gradient(contact, self.configuration, self.gradient);
        Probe {
            time,
            gap: self.system.gap(contact, self.configuration),
            rate: kernel::dot(self.gradient, self.velocity),
        }
    }

    /// Finds the first interval of the step in which the gap of a contact falls below `floor` (m). `middle` is the gap at the
    /// middle of the step. Returns `None` if the gap stays above.
    pub(crate) fn first_dip(&mut self, contact: usize, middle: f64, floor: f64) -> Option<Dip> {
        let at = |point: &Point, time| Probe {
            time,
            gap: point.gaps[contact],
            rate: point.rates[contact],
        };
        let (a, b) = (at(self.start, 0.0), at(self.end, self.step));
        self.segments = 0;
        self.dip_between(contact, a, b, middle, floor, 0)
    }

    fn dip_between(
        &mut self,
        contact: usize,
        a: Probe,
        b: Probe,
        middle: f64,
        floor: f64,
        depth: usize,
    ) -> Option<Dip> {
        match judge(&a, &b, middle, floor) {
            Verdict::Free => return None,
            Verdict::Crossing => {
                return Some(Dip {
                    open: a,
                    violated: b,
                });
            }
            Verdict::Unclear => (),
        }
        self.segments += 1;
        if depth == MAX_DEPTH || self.segments >= MAX_SEGMENTS {
            return (b.gap < floor).then_some(Dip {
                open: a,
                violated: b,
            });
        }
        let m = self.probe(contact, 0.5 * (a.time + b.time));
        for (a, b) in [(a, m), (m, b)] {
            self.place(0.5 * (a.time + b.time));
            let middle = self.system.gap(contact, self.configuration);
            let dip = self.dip_between(contact, a, b, middle, floor, depth + 1);
            if dip.is_some() {
                return dip;
            }
        }
        None
    }
}

enum Verdict {
    Free,
    Crossing,
    Unclear,
}

/// Decides if a gap stays above `floor` between the points `a` and `b`, crosses it exactly once, or is undecided;
/// `middle` is the gap halfway in between. The decision uses signs of Bernstein coefficients. The coefficients belong
/// to the cubic through both ends, plus or minus a multiple of the bump $x^2(1-x)^2$ that covers the error at the
/// middle.
fn judge(a: &Probe, b: &Probe, middle: f64, floor: f64) -> Verdict {
    let width = b.time - a.time;
    let (ga, gb) = (a.gap - floor, b.gap - floor);
    let (c1, c2) = (ga + width * a.rate / 3.0, gb - width * b.rate / 3.0);
    let cubic = 0.125 * (ga + gb) + 0.375 * (c1 + c2);
    let error = (middle - floor - cubic).abs();
    // The bump is 1/16 at the middle, and its Bernstein coefficient is 1/6.
    let allowance = SAFETY * error * 16.0 / 6.0;
    let (b1, b2, b3) = (
        0.25 * (ga + 3.0 * c1),
        0.5 * (c1 + c2),
        0.25 * (3.0 * c2 + gb),
    );
    let low = [ga, b1, b2 - allowance, b3, gb];
    if low.iter().all(|b| *b >= 0.0) {
        return Verdict::Free;
    }
    let high = [ga, b1, b2 + allowance, b3, gb];
    if ga >= 0.0 && gb < 0.0 && changes(&low) == 1 && changes(&high) == 1 {
        return Verdict::Crossing;
    }
    Verdict::Unclear
}

fn changes(coefficients: &[f64; 5]) -> usize {
    let pairs = coefficients.windows(2);
    pairs
        .filter(|pair| (pair[0] < 0.0) != (pair[1] < 0.0))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(gap: impl Fn(f64) -> f64, rate: impl Fn(f64) -> f64) -> Verdict {
        let at = |time| Probe {
            time,
            gap: gap(time),
            rate: rate(time),
        };
        judge(&at(0.0), &at(1.0), gap(0.5), 0.0)
    }

    #[test]
    fn parabolas_are_judged_exactly() {
        let high = verdict(|t| (t - 0.5).powi(2) + 0.3, |t| 2.0 * t - 1.0);
        assert!(matches!(high, Verdict::Free));
        let crossing = verdict(|t| 1.0 - 2.0 * t * t, |t| -4.0 * t);
        assert!(matches!(crossing, Verdict::Crossing));
        let dip = verdict(|t| (t - 0.5).powi(2) - 0.01, |t| 2.0 * t - 1.0);
        assert!(matches!(dip, Verdict::Unclear));
    }

    #[test]
    fn a_gap_that_leaves_contact_is_free() {
        let leaving = verdict(|t| t + t * t, |t| 1.0 + 2.0 * t);
        assert!(matches!(leaving, Verdict::Free));
    }
}
