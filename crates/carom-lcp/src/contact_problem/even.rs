//! The even member: the limit of equally compliant contacts.

use super::checks::WIDTH;
use super::law::{Law, Triple};
use super::linear::Linear;
use super::newton::{Limits, Newton, Point};
use super::system::{Springs, System};

/// Compliances of the path, in units of each contact's mean mobility. The impulses at the last two are extrapolated to zero:
/// at the last alone, the velocities of a box that spins on its corners are 5e-7 from their limit.
const COMPLIANCES: [f64; 6] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6];

/// Largest number of Newton steps from one compliance to the next.
const STEPS: usize = 25;

/// Residual of a compliant problem, as a fraction of the compliance, and the least that is asked for. The last two
/// are solved beyond it: a residual divided by the compliance is an error of the selected member.
const CLOSE: [f64; 2] = [0.1, 1e-13];

/// Path of compliant problems with its work space.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    springs: Springs,
    before: Vec<Triple>,
}

impl Path {
    /// Follows the answers of $R_i = \epsilon\operatorname{tr}(G_{ii})/3$ from the impulses of `point` to the limit
    /// $\epsilon \to 0$. Returns false if a compliance has no answer.
    pub(super) fn follow(
        &mut self,
        (system, linear): (&mut System, &mut Linear),
        newton: &mut Newton,
        law: Law,
        point: &mut Point,
    ) -> bool {
        self.springs.preload.clear();
        self.springs.preload.resize(system.len(), [0.0; WIDTH]);
        for (at, compliance) in COMPLIANCES.into_iter().enumerate() {
            self.springs.compliance.clear();
            let soft = (0..system.len()).map(|i| compliance * system.mobility(i));
            self.springs.compliance.extend(soft);
            let is_late = at + 2 >= COMPLIANCES.len();
            let limits = Limits {
                tolerance: if is_late {
                    CLOSE[1]
                } else {
                    CLOSE[0] * compliance
                },
                steps: STEPS,
                polishes: is_late,
            };
            self.before.clone_from(&point.impulse);
            let is_found = newton.run((system, linear), (law, &self.springs), point, limits);
            if !is_found {
                return false;
            }
        }
        for (l, before) in point.impulse.iter_mut().zip(&self.before) {
            *l = std::array::from_fn(|k| l[k] + (l[k] - before[k]) / 9.0);
        }
        true
    }
}
