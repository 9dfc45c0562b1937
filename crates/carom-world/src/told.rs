//! Bodies that are told their motion: their states, boxes, and places in islands.

use crate::MotionError;
use crate::body::Body;
use crate::run::Run;
use crate::spec::World;
use crate::step_scene::StepScene;
use carom_geometry::cells::Bounds;
use carom_numeric::time::Time;
use carom_variational::{State, VariationalError};

impl Body {
    /// True if the body is told its motion.
    pub(crate) fn is_prescribed(&self) -> bool {
        self.motion.is_some()
    }

    /// Returns the state at `time` (s) of a body that is told its motion, with velocities in place of momenta.
    pub(crate) fn told(&self, time: f64) -> Option<State> {
        let (motion, start) = self.motion.as_ref()?;
        Some(motion.state(start, time))
    }

    /// Returns that state, or an error if a formula has no finite value.
    pub(crate) fn checked(&self, time: f64) -> Result<Option<State>, MotionError> {
        let told = self.told(time);
        match told.filter(|state| !crate::step::is_finite(state)) {
            Some(_) => Err(MotionError::Flight {
                body: self.name.clone(),
                time,
                source: VariationalError::ForceNotFinite { time },
            }),
            None => Ok(told),
        }
    }

    /// Returns the acceleration of the center at `time` (m/s²), and a bound of those of points of the body within `length` (s), if
    /// its motion is told; else zero.
    pub(crate) fn told_accelerations(&self, time: f64, length: f64) -> [f64; 2] {
        self.motion.as_ref().map_or([0.0; 2], |(motion, start)| {
            let bound = motion.acceleration_bound(start, self.radius, time, length);
            [motion.acceleration(start, time), bound]
        })
    }
}

impl World {
    /// Returns the bodies that are told their motion and among the second ones of pairs, or at the other ends of springs of `bodies`,
    /// in ascending order.
    pub(crate) fn carriers(&self, bodies: &[usize], pairs: &[(usize, usize)]) -> Vec<usize> {
        let second = pairs.iter().map(|(_, j)| *j);
        let ends = self.springs_of(bodies).flat_map(|spring| spring.between);
        let all = second.chain(ends.flatten());
        let mut carriers: Vec<usize> = all.filter(|j| self.is_prescribed(*j)).collect();
        carriers.sort_unstable();
        carriers.dedup();
        carriers
    }

    /// True if the body with the given index is told its motion: it has no mass, and its states have velocities in place of momenta.
    pub fn is_prescribed(&self, body: usize) -> bool {
        self.bodies.get(body).is_some_and(Body::is_prescribed)
    }
}

impl Run<'_> {
    /// Creates a box that contains the path of a body that is told its motion up to the next line of the grid.
    pub(crate) fn enclose_told(&mut self, body: usize, from: Time) {
        let about = &self.world.bodies[body];
        let until = self.next_line(from);
        let time = until.since(from);
        let ends = [from, until].map(|time| about.told(time.high));
        let [Some(start), Some(end)] = ends else {
            return;
        };
        let bound = about.told_accelerations(from.high, time)[1];
        // The path deviates from the chord by no more than that.
        let slack = 0.125 * bound * time * time;
        let bounds = Bounds::around(&start.position, &end.position, about.radius + slack);
        self.cells.put(body, bounds);
        let count = self.new_stamp();
        let swept = &mut self.boxes[body];
        (swept.until, swept.count, swept.since) = (until, count, from);
        (swept.ball, swept.bounds) = (None, bounds);
    }
}

impl StepScene<'_> {
    /// Returns the states at the start of the step, from those of the bodies with mass: those of bodies that are told their motion
    /// follow.
    pub(crate) fn complete(&self, mut states: Vec<State>) -> Vec<State> {
        let told = |body: &&Body| body.told(self.time);
        let n = self
            .bodies
            .iter()
            .filter(|body| !body.is_prescribed())
            .count();
        states.truncate(n);
        states.extend(self.bodies.iter().filter_map(told));
        states
    }
}
