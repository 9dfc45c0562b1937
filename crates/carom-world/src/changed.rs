//! Inputs of worlds: the bodies that an input changes, and the contacts that answer.

use crate::MotionError;
use crate::body::Body;
use crate::input::Input;
use crate::run::Run;
use crate::stepping::StepRun;
use carom_numeric::time::Time;
use carom_variational::State;

impl Run<'_> {
    /// Changes the bodies of an input at `time` (s), up to which all events are handled. Lasting contacts answer an impulse without
    /// restitution; other closed contacts that approach have an impact.
    pub(crate) fn input(&mut self, input: &Input, time: f64) -> Result<(), MotionError> {
        let (world, time) = (self.world, Time::new(time));
        self.now = self.now.max(time);
        let mut bodies = Vec::new();
        // After an end that was decided before, no body has a further motion.
        let was_ended = self.ended.take().is_some();
        for body in 0..world.n_bodies() {
            let is_meant = was_ended || input.body().is_none_or(|only| only == body);
            if is_meant && world.is_mobile(body) {
                self.gather(body, time, &mut bodies)?;
            }
        }
        for body in 0..world.n_bodies() {
            if world.is_mobile(body) && input.body().is_none_or(|only| only == body) {
                let state = input.changed(body, &world.bodies[body], &self.motions[body].state);
                self.put(body, state);
            }
        }
        bodies.sort_unstable();
        if let Input::Impulse { .. } = input {
            self.answer_by_lasting(&bodies, time)?;
        } else {
            let moved = |thing: usize| bodies.binary_search(&thing).is_ok();
            self.bounces.retain(|pair| !moved(pair.0) && !moved(pair.1));
        }
        self.impact(&bodies, None, time)
    }

    /// Ends (`begins` false) or begins the force that a caller holds on a body at `time` (s).
    pub(crate) fn apply_held(
        &mut self,
        body: usize,
        begins: bool,
        time: f64,
    ) -> Result<(), MotionError> {
        let (world, at) = (self.world, Time::new(time));
        self.now = self.now.max(at);
        self.gather(body, at, &mut Vec::new())?;
        let state = self.motions[body].state;
        let sign = if begins { -1.0 } else { 1.0 };
        world.book_held(
            std::iter::once((body, &state)),
            [time, sign],
            &mut self.balance,
        );
        if begins {
            self.motions[body].energy = world.held_energy(body, &state);
            self.motions[body].forget();
            let mut bodies = vec![body];
            if self.ended.take().is_some() {
                // After an end that was decided before, no body has a further motion; its impacts are counted anew.
                for other in (0..world.n_bodies()).filter(|other| world.is_mobile(*other)) {
                    self.gather(other, at, &mut bodies)?;
                }
                self.bounces.retain(|_| false);
            }
            self.impact(&bodies, None, at)?;
        }
        Ok(())
    }

    /// Sets the state of a body; its change of energy and momentum is an input.
    fn put(&mut self, body: usize, state: State) {
        let (energy, stamp) = (self.world.held_energy(body, &state), self.new_stamp());
        let before = self.motions[body].state;
        self.balance.input += self.spring_energy(body, &state) - self.spring_energy(body, &before);
        let (motion, balance) = (&mut self.motions[body], &mut self.balance);
        balance.input +=
            energy - motion.energy + self.world.held_shift(body, [&motion.state, &state]);
        balance.input_impulse += state.linear_momentum - motion.state.linear_momentum;
        (motion.state, motion.energy, motion.stamp) = (state, energy, stamp);
        motion.forget();
    }

    /// Lets the lasting contacts of `bodies` answer an impulse, without restitution.
    fn answer_by_lasting(&mut self, bodies: &[usize], time: Time) -> Result<(), MotionError> {
        let mut island = std::mem::take(&mut self.scratch.island);
        let mut touching = std::mem::take(&mut self.scratch.touching);
        let mut posed = std::mem::take(&mut self.scratch.posed);
        island.bodies.clear();
        island.bodies.extend(bodies);
        island.pairs.clear();
        island
            .pairs
            .extend(bodies.iter().flat_map(|body| self.lasting.of(*body)));
        island.pairs.sort_unstable();
        island.pairs.dedup();
        self.find_touching(&island, time, &mut posed, &mut touching);
        let still = self.still(&touching);
        if touching.velocities.chunks(3).any(|v| v[0] < -still) {
            self.inelastic(&touching, &mut posed, time)?;
            let mut states: Vec<State> = bodies.iter().map(|i| self.motions[*i].state).collect();
            touching.rows.apply(&posed.impulses, &mut states);
            for (body, state) in bodies.iter().zip(states) {
                self.put(*body, state);
            }
            for (c, ((_, second), _)) in touching.points.iter().enumerate() {
                if !self.world.is_mobile(*second) {
                    let impulse = touching.rows.impulse(c, &posed.impulses);
                    self.balance.supports[*second] += impulse;
                    self.balance.input_impulse -= impulse;
                }
            }
        }
        self.scratch.island = island;
        self.scratch.touching = touching;
        self.scratch.posed = posed;
        Ok(())
    }
}

impl StepRun<'_> {
    /// Changes the bodies of an input at `time` (s), where the present step ends. Contacts that approach are stopped.
    pub(crate) fn input(&mut self, input: &Input, time: f64) -> Result<(), MotionError> {
        self.cut(time)?;
        let world = self.world;
        let before = self.energy();
        for (body, state) in self.states.iter_mut().enumerate() {
            if input.body().is_none_or(|only| only == body) {
                let new = input.changed(body, &world.bodies[body], state);
                self.balance.input_impulse += new.linear_momentum - state.linear_momentum;
                *state = new;
            }
        }
        self.balance.input += self.energy() - before;
        self.begin()
    }

    /// Ends (`begins` false) or begins the force that a caller holds on a body at `time` (s).
    pub(crate) fn apply_held(
        &mut self,
        body: usize,
        begins: bool,
        time: f64,
    ) -> Result<(), MotionError> {
        self.cut(time)?;
        let sign = if begins { -1.0 } else { 1.0 };
        let one = std::iter::once((body, &self.states[body]));
        self.world.book_held(one, [time, sign], &mut self.balance);
        Ok(())
    }
}

impl Run<'_> {
    /// Returns the energy of the springs of a body in a state (J), while the other bodies have their present states.
    pub(crate) fn spring_energy(&self, body: usize, state: &State) -> f64 {
        let world = self.world;
        let told: Vec<Option<State>> = if world.springs.is_empty() {
            Vec::new()
        } else {
            let told = |about: &Body| about.told(self.now.high);
            world.bodies.iter().map(told).collect()
        };
        let at = |other: usize| {
            if other == body {
                return Some(state);
            }
            let told = told.get(other).and_then(Option::as_ref);
            told.or_else(|| self.motions.get(other).map(|motion| &motion.state))
        };
        let own = world.springs_of(std::slice::from_ref(&body));
        own.map(|spring| spring.energy(at)).sum()
    }
}
