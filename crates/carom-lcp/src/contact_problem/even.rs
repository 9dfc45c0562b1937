//! The even member: the limit of equally compliant contacts.

use super::checks::WIDTH;
use super::law::{Law, Triple};
use super::linear::Linear;
use super::newton::{Limits, Newton, Point};
use super::system::{Springs, System};

/// Compliances of the path, in units of each contact's mean mobility. The first leads to one branch of answers. A linear step
/// leads from the last to the limit: its error is the square of that compliance times a curvature, which can be 1e4 (from 1e-5,
/// velocities of boxes that spin on their corners miss 1e-7).
const COMPLIANCES: [f64; 6] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6];

/// Number of compliances from one answer to the next, until one of them fails: then it is one.
const PACE: usize = 3;

/// Largest number of Newton steps from one compliance to the next.
const STEPS: usize = 25;

/// Residual of a compliant problem, as a fraction of the compliance, and that of the last: a residual divided by the compliance
/// is an error of the selected member.
const CLOSE: [f64; 2] = [0.01, 1e-14];

/// Path of compliant problems with its work space.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    springs: Springs,
    /// Last impulses of the path, and their change by springs that are softer by the factor two, to first order.
    reached: Vec<Triple>,
    slope: Vec<Triple>,
}

impl Path {
    /// Follows the answers of $R_i = \epsilon\operatorname{tr}(G_{ii})/3$ from the impulses of `point` to the limit
    /// $\epsilon \to 0$. Each answer leads to the next one by its derivative with respect to $\epsilon$. Returns false if the path
    /// ends before.
    pub(super) fn follow(
        &mut self,
        (system, linear): (&mut System, &mut Linear),
        newton: &mut Newton,
        law: Law,
        point: &mut Point,
    ) -> bool {
        self.springs.preload.clear();
        self.springs.preload.resize(system.len(), [0.0; WIDTH]);
        self.reached.clone_from(&point.impulse);
        self.slope.clear();
        self.slope.resize(system.len(), [0.0; WIDTH]);
        let last = COMPLIANCES.len() - 1;
        let (mut at, mut from, mut pace) = (0, 0, PACE);
        loop {
            self.extrapolate(COMPLIANCES[at] / COMPLIANCES[from], point);
            if self.solve((system, linear), newton, (law, at), point) {
                let parts = (system as &System, &mut *linear);
                self.reached.clone_from(&point.impulse);
                if !newton.slope(parts, &self.springs, point, &mut self.slope) || at == last {
                    self.extrapolate(0.0, point);
                    return at == last;
                }
                from = at;
            } else if at == 0 || pace == 1 {
                return false;
            } else {
                pace = 1;
            }
            at = last.min(from + pace);
        }
    }

    /// Sets the impulses of `point` to those that the last answer leads to, at its compliance times `ratio`.
    fn extrapolate(&self, ratio: f64, point: &mut Point) {
        point.impulse.clear();
        let answer = self.reached.iter().zip(&self.slope);
        let along = |(l, slope): (&Triple, &Triple)| {
            std::array::from_fn(|k| l[k] + (ratio - 1.0) * slope[k])
        };
        point.impulse.extend(answer.map(along));
    }

    /// Solves the problem of the compliance with index `at`.
    fn solve(
        &mut self,
        (system, linear): (&mut System, &mut Linear),
        newton: &mut Newton,
        (law, at): (Law, usize),
        point: &mut Point,
    ) -> bool {
        let compliance = COMPLIANCES[at];
        self.springs.compliance.clear();
        let soft = (0..system.len()).map(|i| compliance * system.mobility(i));
        self.springs.compliance.extend(soft);
        let is_last = at + 1 == COMPLIANCES.len();
        let limits = Limits {
            tolerance: if is_last {
                CLOSE[1]
            } else {
                CLOSE[0] * compliance
            },
            steps: STEPS,
            polish: is_last.then_some(0.0),
            first: 0,
        };
        newton.run((system, linear), (law, &self.springs), point, limits)
    }
}
