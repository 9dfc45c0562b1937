//! Checks of a step that is complete: work at contacts that last, depth of overlaps, accuracy of impulses.

use super::super::contact::{Contact, NearPair};
use super::super::island::Island;
use super::super::solver::Answer;
use super::super::tolerances::{DEEPEST, USABLE};
use super::{Attempt, Stepper};
use crate::MotionError;
use crate::error::StepFault;
use crate::guard::two_digits;
use crate::pair;

impl Stepper<'_> {
    /// Returns the work (J) of the normal impulses at the lasting contacts of an island (bodies connected by contacts).
    /// These are points that already had an impulse in the previous step and approach no faster than the impact
    /// threshold. The exact motion has no normal velocity at such contacts, so this work is an error. `attempt`: step
    /// under construction.
    pub(super) fn lasting_work(
        &self,
        attempt: &Attempt<'_>,
        island: &Island,
        contacts: &[&Contact],
    ) -> f64 {
        let fall = self.world.flights.gravity.norm() * self.world.time_step;
        let slow = self.options.impact_speed() * fall;
        let works = island.contacts.iter().filter_map(|&c| {
            let contact = contacts[c];
            let [normal, ..] = contact.impulse?;
            let before = attempt.row_velocities[3 * c];
            let lasts = contact.spring.preload[0] > 0.0 && -before <= slow;
            lasts.then_some(0.5 * normal * (before + contact.opening))
        });
        works.sum()
    }

    /// Checks that no overlap in the step under construction, `attempt`, is so deep that its contact points are
    /// meaningless. Such overlaps arise if bodies rotate too far within a step.
    pub(super) fn check_overlaps(&self, attempt: &Attempt<'_>) -> Result<(), MotionError> {
        let world = self.world;
        let relative = |near: &NearPair| {
            let (i, j) = near.pair;
            -near.gap / pair::size(&world.bodies[i], &world.thing(j))
        };
        let all = attempt.near.iter().map(|near| (near, relative(near)));
        let deepest = all.max_by(|(_, a), (_, b)| a.total_cmp(b));
        let Some((near, depth)) = deepest.filter(|(_, depth)| *depth > DEEPEST) else {
            return Ok(());
        };
        // Overlaps caused by rotation are of second order in the step length.
        let sufficient = 0.5 * world.time_step * (DEEPEST / depth).sqrt();
        Err(MotionError::StepTooLarge {
            time: attempt.middle.time,
            time_step: world.time_step,
            sufficient: Some(two_digits(sufficient)),
            fault: StepFault::Overlap {
                first: world.name(near.pair.0).to_owned(),
                second: world.name(near.pair.1).to_owned(),
                depth: -near.gap,
            },
        })
    }

    /// Checks that the contact impulses of an island (bodies connected by contacts) are accurate. Impulses with a
    /// residual above the tolerance are accepted if the residual is at most [`USABLE`]. Impulses that gain significant
    /// energy are not accepted. `answer`: solver's answer with the impulses; `time`: time of the step (s).
    pub(super) fn check(
        &self,
        island: &Island,
        answer: &Answer,
        time: f64,
    ) -> Result<(), MotionError> {
        let residual = answer.counts.worst_residual;
        if residual <= USABLE && !answer.gains {
            return Ok(());
        }
        Err(MotionError::Inaccurate {
            time,
            residual,
            n_contacts: island.contacts.len(),
        })
    }
}
