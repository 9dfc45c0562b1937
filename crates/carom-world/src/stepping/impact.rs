//! Impacts within a step: the law `poisson`.
//!
//! The gap of a contact that restitutes counts as closed. A compression without restitution is followed by an expansion with
//! normal impulses of at least $f = s e\lambda_n$. Here $e$ is the restitution, and the factor $s$ in \[0, 1\] is the largest for
//! which the impulses gain no energy.

use super::solver::{Answer, Solver, Task};
use super::tolerances::{CAPPED, GAIN, GROWTHS, SCALE_STEPS};
use carom_lcp::LcpError;

impl Solver {
    /// Solves the compression phase of an impact of one island (bodies connected by contacts), given by `task`, in
    /// which impulses without restitution end the approach of all contacts. Further contacts that approach fast and are
    /// pressed join the rebounding ones, and the problem is solved again, at most [`GROWTHS`] times.
    pub(super) fn compress(&mut self, task: &Task<'_>) -> Result<(), LcpError> {
        for (restitutes, closing) in self.restitutes.iter().zip(&mut self.closing) {
            if *restitutes {
                *closing = closing.min(0.0);
            }
        }
        for growth in 1..=GROWTHS {
            self.press(task)?;
            if growth == GROWTHS || !self.grow(task) {
                break;
            }
        }
        Ok(())
    }

    /// Solves the expansion phase of an impact of one island (bodies connected by contacts), given by `task`. Each
    /// rebounding contact gets at least its restitution coefficient times its compression impulse, times a common
    /// factor. The factor is the largest in [0, 1] with which the impact gains no energy.
    pub(super) fn expand(&mut self, task: &Task<'_>) -> Result<Answer, LcpError> {
        let compression = self.found.impulse.clone();
        self.velocity.clone_from(&self.found.velocity);
        let given_back: Vec<f64> = (self.restitutes.iter().zip(&task.island.contacts))
            .enumerate()
            .map(|(k, (restitutes, &c))| {
                let share = f64::from(u8::from(*restitutes)) * task.contacts[c].restitution;
                (share * compression[3 * k]).max(0.0)
            })
            .collect();
        let mut answer = self.rebounding(task, compression.clone());
        // Springs may give back energy without any restitution.
        let (compressed, _) = self.works(task, &compression);
        let allowed = compressed.max(0.0);
        let (mut low, mut high, mut scale) = ((0.0, compressed - allowed), (1.0, 0.0), 1.0);
        for _ in 0..SCALE_STEPS {
            let total = self.expansion(task, &compression, (scale, &given_back))?;
            let (work, size) = self.works(task, &total);
            let gain = work - allowed;
            let gains = !(gain <= GAIN * size);
            if gains {
                // The function at the other end is halved, so that both ends approach the root.
                low.1 *= 0.5;
                high = (scale, gain);
            } else {
                high.1 *= 0.5;
                low = (scale, gain);
                answer = self.rebounding(task, total);
            }
            if low.0 == 1.0 || (!gains && -gain <= CAPPED * size) {
                break;
            }
            scale = low.0 - low.1 * (high.0 - low.0) / (high.1 - low.1);
        }
        self.counts.n_capped += usize::from(low.0 < 1.0);
        self.counts.n_bounces += given_back.iter().filter(|p| **p > 0.0).count();
        answer.counts = self.counts;
        Ok(answer)
    }

    /// Solves the expansion phase of an impact of one island (bodies connected by contacts), given by `task`, with
    /// lower bounds of the normal impulses: the impulses `given_back` (N s, one per contact) times `scale`. Returns the sum of
    /// the impulses of both phases; `compression` contains the impulses of the first phase.
    fn expansion(
        &mut self,
        task: &Task<'_>,
        compression: &[f64],
        (scale, given_back): (f64, &[f64]),
    ) -> Result<Vec<f64>, LcpError> {
        for ((block, spring), p) in self.blocks.iter_mut().zip(&self.springs).zip(given_back) {
            block.floor = scale * p;
            block.preload = [block.floor, 0.0, 0.0];
            block.compliance = spring.compliance;
        }
        self.search(task)?;
        let expansion = compression.iter().zip(&self.found.impulse);
        Ok(expansion.map(|(a, b)| a + b).collect())
    }

    /// Returns the answer with the impulses of both phases. Springs hold what their law gives for the velocities after the
    /// impact: $C(p - u^+/R)$.
    fn rebounding(&self, task: &Task<'_>, impulses: Vec<f64>) -> Answer {
        let mut answer = self.answer(task, impulses);
        let velocities = self.found.velocity.chunks_exact(3);
        let contacts = task.island.contacts.iter().map(|c| &task.contacts[*c]);
        for ((spring, u), contact) in answer.springs.iter_mut().zip(velocities).zip(contacts) {
            if spring.compliance > 0.0 {
                let share = 1.0 / spring.compliance;
                for (p, u) in spring.preload.iter_mut().zip(u) {
                    *p -= share * u;
                }
            }
            spring.cut(contact.friction);
        }
        answer
    }
}
