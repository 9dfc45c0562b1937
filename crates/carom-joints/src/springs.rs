//! Springs between points of the bodies of a system.

use crate::JointError;
use crate::multibody::Multibody;
use carom_variational::load::Pull;
use carom_variational::spring::{self, Carrier, Spring, Tension};
use carom_variational::{State, VariationalError};

impl Multibody {
    /// Gives the springs that have no slack length the distance of their points in the `states` of the start. Their mobile bodies have
    /// loads in the kicks of steps from then on.
    pub fn take_springs(&mut self, states: &[State]) {
        for spring in &mut self.springs {
            let distance = spring.distance(|body| states.get(body));
            spring.length = spring.length.or(Some(distance));
        }
        for body in self.springs.iter().flat_map(|spring| spring.between) {
            if let Some(part) = body.and_then(|body| self.parts.get_mut(body)) {
                part.kicks |= part.rigid.is_some();
            }
        }
    }

    /// Returns the springs of the system.
    pub fn springs(&self) -> &[Spring] {
        &self.springs
    }

    /// Returns the energy of all springs in given states of all bodies (J).
    pub fn spring_energy(&self, states: &[State]) -> f64 {
        let energy = |spring: &Spring| spring.energy(|body| states.get(body));
        self.springs.iter().map(energy).sum()
    }

    /// Returns the tension of each spring in given states of all bodies (N), positive if it draws its ends together.
    pub fn tensions(&self, states: &[State]) -> Vec<f64> {
        let all = spring::explicit(&self.springs, |body| self.carrier(body, states));
        all.iter().map(Tension::total).collect()
    }

    fn carrier<'s>(&'s self, body: usize, states: &'s [State]) -> Option<Carrier<'s>> {
        Some(Carrier::new(self.rigid(body), states.get(body)?))
    }

    /// Adds the tensions of the springs to the loads of bodies: with the velocities in `states`, or with those after they have acted
    /// for `half` (s).
    pub(crate) fn pull_springs(
        &self,
        states: &[State],
        half: Option<f64>,
        time: f64,
        pulls: &mut [(usize, Pull)],
    ) -> Result<(), JointError> {
        if self.springs.is_empty() {
            return Ok(());
        }
        let carrier = |body: usize| self.carrier(body, states);
        let tensions = match half {
            None => Ok(spring::explicit(&self.springs, carrier)),
            Some(half) => spring::implicit(&self.springs, carrier, half),
        };
        let tensions = tensions.map_err(|source| JointError::Spring { time, source })?;
        for tension in &tensions {
            for (end, body) in tension.between.iter().enumerate() {
                let place = pulls.iter_mut().find(|(of, _)| Some(*of) == *body);
                if let Some((_, pull)) = place {
                    *pull += tension.pull(end);
                }
            }
        }
        Ok(())
    }

    /// Checks that no points of a spring meet on the way from some states of all bodies to others, up to `time` (s).
    ///
    /// # Errors
    ///
    /// [`JointError::Spring`].
    pub fn check_way(&self, [from, to]: [&[State]; 2], time: f64) -> Result<(), JointError> {
        let failed = |source: VariationalError| JointError::Spring { time, source };
        let mut all = self.springs.iter();
        all.try_for_each(|spring| {
            let at = [from, to].map(|states| move |body: usize| states.get(body));
            spring.check_way([&at[0], &at[1]], time).map_err(failed)
        })
    }
}
