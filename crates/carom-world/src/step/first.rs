//! First kick of a step: impulses at the start that keep the contacts from penetrating at the end.

use super::start::StepStart;
use super::{SETTLED, STALE, is_finite};
use crate::MotionError;
use crate::kick::{Friction, Kick};
use crate::step_scene::Points;
use carom_variational::State;
use nalgebra::Vector2;

/// Largest number of iterations of the first kick.
const MAX_ITERATIONS: usize = 40;

/// Iterations whose change is at most this fraction of the least change so far make progress.
const PROGRESS: f64 = 0.7;

/// Change of the contact velocities, as a fraction of their scale, that counts as rounding if it does not fall any more.
const LAST_DIGITS: f64 = 1e-13;

/// Fraction of the rounding error of the mean velocities that a change may have in addition to its own rounding.
const NOISE_SHARE: f64 = 0.05;

/// Flight of a step after given impulses of the first kick.
pub(super) struct Launch {
    /// States at the start of the flight, after the first kick.
    pub(super) launched: Vec<State>,
    /// States at the end of the flight.
    pub(super) landed: Vec<State>,
    /// Contact points of the start, moved with the bodies to the end of the flight.
    pub(super) end: Points,
    /// Velocities of the contact rows at the start of the flight (m/s).
    pub(super) begin_velocities: Vec<f64>,
}

/// Impulses of the first kick on the contact rows (N s), and the flight that they cause.
pub(super) struct FirstKick {
    pub(super) impulses: Vec<f64>,
    pub(super) launch: Launch,
}

impl StepStart<'_> {
    /// Finds the impulses of the first kick. `guess` is the initial guess of the impulses (N s, one per row). Where contacts jam,
    /// none are found: the bodies then fly on, and the second kick alone stops what approaches.
    pub(super) fn first_kick(&self, guess: Vec<f64>) -> Result<FirstKick, MotionError> {
        if let Ok(Some(kick)) = self.implicit(guess)
            && kick.launch.launched.iter().all(is_finite)
        {
            return Ok(kick);
        }
        self.kick_by(vec![0.0; 3 * self.contacts()])
    }

    /// Returns the first kick with given `impulses` (N s, one per row), and the flight that they cause.
    pub(super) fn kick_by(&self, mut impulses: Vec<f64>) -> Result<FirstKick, MotionError> {
        impulses.resize(3 * self.contacts(), 0.0);
        Ok(FirstKick {
            launch: self.launch(&impulses)?,
            impulses,
        })
    }

    /// Error that tells that no contact forces were found for this step.
    pub(super) fn failed(&self) -> MotionError {
        let (time, work) = (self.scene.time, &self.scene.work);
        match work.spent() {
            Some(limit) => MotionError::ContactWork { time, limit },
            None => MotionError::ContactForces { time },
        }
    }

    /// Computes the flight after the `impulses` of the first kick (N s, one per row).
    fn launch(&self, impulses: &[f64]) -> Result<Launch, MotionError> {
        let scene = self.scene;
        let mut launched = self.states.to_vec();
        self.points.rows.apply(impulses, &mut launched);
        let bodies = scene.bodies.iter().zip(&self.pulls);
        for (state, (body, pull)) in launched.iter_mut().zip(bodies) {
            if let Some(pull) = pull.as_ref().filter(|_| body.is_mobile()) {
                *state = state.kicked(&(pull.total() * (0.5 * self.h)));
            }
        }
        let landed = scene.fly(&launched, self.h)?;
        let end = scene.moved(&self.points, &landed);
        let mut begin_velocities = Vec::new();
        let velocities = scene.velocities(&launched);
        self.points
            .rows
            .velocities(&velocities, &mut begin_velocities);
        Ok(Launch {
            launched,
            landed,
            end,
            begin_velocities,
        })
    }

    /// Iterates for impulses that agree with the gaps and rates at both ends of the flight. Returns `None` if the iteration does
    /// not converge or a contact problem in it has no solution.
    fn implicit(&self, guess: Vec<f64>) -> Result<Option<FirstKick>, MotionError> {
        let mut impulses = guess;
        let mut laws = self.sliding.clone();
        let (mut last, mut least, mut stale) = (f64::INFINITY, f64::INFINITY, 0);
        for iteration in 1..=MAX_ITERATIONS {
            let launch = self.launch(&impulses)?;
            let mut velocity = self.mean_velocity(&launch);
            for (v, change) in velocity.iter_mut().zip(self.response(&impulses)) {
                *v -= change;
            }
            self.prescribe(&mut velocity);
            let Some(next) = self.solve(&velocity, &mut laws, &impulses) else {
                return Ok(None);
            };
            let moved: Vec<f64> = next.iter().zip(&impulses).map(|(x, y)| x - y).collect();
            let change = self.response(&moved).map(f64::abs).fold(0.0, f64::max);
            if change <= PROGRESS * least {
                (least, stale) = (change, 0);
            } else {
                stale += 1;
            }
            let ends = stale >= STALE || iteration == MAX_ITERATIONS;
            let converged = change <= 4.0 * f64::EPSILON * self.scale + NOISE_SHARE * self.noise
                || (change <= LAST_DIGITS * self.scale && change >= last)
                || (ends && change <= SETTLED * self.scale + self.noise);
            // The accepted impulses are those with which the bodies were launched.
            if converged {
                return Ok(Some(FirstKick { impulses, launch }));
            }
            if ends {
                return Ok(None);
            }
            last = change;
            impulses = next;
        }
        Ok(None)
    }

    /// Returns the mean velocities of the contact rows during a flight (m/s). Normal rows have the rates of the gaps; the change
    /// of the tangential rows during the flight is neglected.
    fn mean_velocity(&self, launch: &Launch) -> Vec<f64> {
        let mut end_velocities = Vec::new();
        let landed = self.scene.velocities(&launch.landed);
        launch.end.rows.velocities(&landed, &mut end_velocities);
        let begin_velocities = &launch.begin_velocities;
        let mut velocity = vec![0.0; begin_velocities.len()];
        for (c, (_, point)) in launch.end.points.iter().enumerate() {
            // In a short step the rounding of gaps divided by the length would be a large velocity.
            let before = self.points.points.get(c).map_or(0.0, |(_, p)| p.gap);
            velocity[3 * c] = if self.is_short {
                0.5 * (begin_velocities[3 * c] + end_velocities[3 * c])
            } else {
                (point.gap - before.max(0.0) - before.min(0.0) * self.return_share) / self.h
            };
            for k in 3 * c + 1..3 * c + 3 {
                velocity[k] = 0.5 * (begin_velocities[k] + end_velocities[k]);
            }
        }
        velocity
    }

    /// Changes the velocities of the contact rows without impulses (m/s) so that dependent contacts can satisfy them, and lets
    /// each point with a positive gap approach by that gap within the step, independently of the other points.
    fn prescribe(&self, velocity: &mut [f64]) {
        self.dependent.make_consistent(velocity);
        for (c, (_, point)) in self.points.points.iter().enumerate() {
            let rate = point.gap / self.h;
            if rate > self.noise {
                velocity[3 * c] += rate;
            }
        }
    }

    /// Poses the contact problem of the first kick: velocities of the contact rows without impulses (m/s), and friction.
    fn posed<'k>(&'k self, velocity: &'k [f64], friction: &'k [(f64, Friction)]) -> Kick<'k> {
        Kick {
            mobility: &self.mobility,
            velocity,
            friction,
            noise: self.noise,
            work: &self.scene.work,
        }
    }

    /// Solves the contact problem of the first kick. `velocity`: velocities of the contact rows without impulses (m/s); `guess`:
    /// initial guess of the impulses (N s). Friction along the slip at the start can jam contacts that press each other, or
    /// reverse a slip; the law of such a contact in `laws` is then changed to friction along the resulting slip, for which a
    /// solution exists. Returns `None` if no solution is found.
    fn solve(
        &self,
        velocity: &[f64],
        laws: &mut Vec<(f64, Friction)>,
        guess: &[f64],
    ) -> Option<Vec<f64>> {
        let solve = |friction: &[(f64, Friction)]| {
            let mut impulses = guess.to_vec();
            self.posed(velocity, friction)
                .solve(&mut impulses)
                .then_some(impulses)
        };
        let mut last = None;
        loop {
            let mut found = solve(laws);
            if found.is_none() && *laws != self.implicit {
                laws.clone_from(&self.implicit);
                found = solve(laws);
            }
            let Some(impulses) = found else {
                return last;
            };
            let after: Vec<f64> = self
                .response(&impulses)
                .zip(velocity)
                .map(|(change, v)| v + change)
                .collect();
            let mut turned = false;
            for (c, (_, law)) in laws.iter_mut().enumerate() {
                let Friction::Against(slip) = *law else {
                    continue;
                };
                let mean = Vector2::new(after[3 * c + 1], after[3 * c + 2]);
                if impulses[3 * c] > 0.0 && slip.dot(&mean) < -self.still {
                    *law = Friction::Coulomb;
                    turned = true;
                }
            }
            if !turned {
                return Some(impulses);
            }
            last = Some(impulses);
        }
    }
}
