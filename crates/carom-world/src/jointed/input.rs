//! Inputs of jointed bodies.

use super::contact::Place;
use super::memory::Resting;
use super::run::Run;
use crate::input::{Input, moment_about};
use crate::{MotionError, SessionError};
use carom_joints::{Placed, Posture};
use carom_lie::Se3;
use nalgebra::Vector3;
use std::collections::BTreeSet;

impl Run<'_> {
    /// Applies an input at `time` (s), up to which all events are handled. An error of the outer result is a refusal, which changes
    /// nothing; one of the inner result stops the run.
    pub(super) fn input(
        &mut self,
        input: &Input,
        time: f64,
    ) -> Result<Result<(), MotionError>, SessionError> {
        let mb = self.world.multibody();
        input.check(mb.n_bodies(), mb.n_coordinates())?;
        Ok(match input {
            Input::Cut => self.cut(time),
            Input::Control(forces) => self.cut(time).and_then(|()| self.push(forces)),
            Input::Impulse {
                body,
                impulse,
                at,
                moment,
            } => self.strike(*body, [impulse, moment], *at, time),
            Input::Velocity {
                body,
                velocity,
                angular_velocity,
            } => {
                let joints = mb.joints().iter().enumerate();
                let mut own =
                    joints.filter(|(_, joint)| joint.child == *body || joint.parent == Some(*body));
                if own.any(|(_, joint)| !joint.kind.conditions.is_empty()) {
                    return Err(SessionError::JointedBody {
                        name: mb.body_name(*body).to_owned(),
                    });
                }
                let mut placed = self.placed(time)?;
                let one = &mut placed[*body];
                one.velocity = velocity.unwrap_or(one.velocity);
                one.angular_velocity = angular_velocity.unwrap_or(one.angular_velocity);
                let coordinates = vec![[None; 2]; mb.n_coordinates()];
                let posture = self.assembled(&placed, &coordinates, time)?;
                self.cut(time).and_then(|()| self.pose(posture))
            }
            Input::State {
                placed,
                coordinates,
            } => {
                let posture = self.assembled(placed, coordinates, time)?;
                self.cut(time).and_then(|()| self.pose(posture))
            }
            Input::Joint {
                coordinate,
                position,
                rate,
            } => {
                let posture = self.turned(*coordinate, [*position, *rate], time)?;
                self.cut(time).and_then(|()| self.pose(posture))
            }
        })
    }

    /// Ends the present step at `time` (s), where an input acts.
    pub(super) fn cut(&mut self, time: f64) -> Result<(), MotionError> {
        if self.shows_now(time) {
            return Ok(());
        }
        self.end_step_at(time)?;
        self.start_anew();
        Ok(())
    }

    /// Ends (`begins` false) or begins the force that the caller holds on a body at `time` (s).
    pub(super) fn apply_held(
        &mut self,
        body: usize,
        begins: bool,
        time: f64,
    ) -> Result<(), MotionError> {
        self.cut(time)?;
        let sign = if begins { -1.0 } else { 1.0 };
        let mb = self.world.multibody();
        let (work, impulse) = mb.held(body, &self.posture.states[body]);
        self.applied += sign * work;
        self.input_impulse += impulse * (sign * self.time);
        if begins { self.settle() } else { Ok(()) }
    }

    /// Returns the work of the forces that the caller held and holds (J).
    pub(super) fn applied_work(&self) -> f64 {
        self.applied + self.world.multibody().held_work(&self.posture)
    }

    /// Returns the impulse of the forces that the caller holds, from time 0 to `time` (N s).
    pub(super) fn held_impulse(&self, time: f64) -> Vector3<f64> {
        let states = self.posture.states.iter().enumerate();
        let mb = self.world.multibody();
        states
            .map(|(body, state)| mb.held(body, state).1 * time)
            .sum()
    }

    /// Drops the impulses from which later steps would start.
    pub(super) fn start_anew(&mut self) {
        self.stepper.forget();
        self.pressing.forget();
        self.resting = Resting::default();
    }

    /// Returns place and velocity of every body at `time` (s).
    fn placed(&mut self, time: f64) -> Result<Vec<Placed>, SessionError> {
        let states = self.show(time)?.posture.states;
        let mb = self.world.multibody();
        let one = |(body, state): (usize, &carom_variational::State)| {
            let placed = Placed::default()
                .with_configuration(Some(Se3::new(state.rotation, state.position)));
            match mb.rigid(body) {
                None => placed,
                Some(rigid) => {
                    let spin = rigid.angular_velocity(&state.angular_momentum);
                    placed
                        .with_velocity(state.linear_momentum / rigid.mass())
                        .with_angular_velocity(state.rotation.rotate(&spin))
                }
            }
        };
        Ok(states.iter().enumerate().map(one).collect())
    }

    /// Returns the posture of bodies whose places, or coordinates, are given; checks joints and overlaps.
    fn assembled(
        &mut self,
        placed: &[Placed],
        coordinates: &[[Option<f64>; 2]],
        time: f64,
    ) -> Result<Posture, SessionError> {
        let world = self.world;
        let near = self.show(time)?.posture;
        let mb = world.multibody();
        let posture = mb
            .assemble_at(placed, coordinates, &near)
            .map_err(MotionError::Joint)?;
        world.touch().check_places(mb, &posture.states, time)?;
        world
            .touch()
            .overlapping(&posture.states, &BTreeSet::new())?;
        Ok(posture)
    }

    /// Returns the posture with another value and rate of a joint coordinate. What hangs on the joint is posed anew.
    fn turned(
        &mut self,
        coordinate: usize,
        [position, rate]: [Option<f64>; 2],
        time: f64,
    ) -> Result<Posture, SessionError> {
        let world = self.world;
        let mb = world.multibody();
        let (_, joint) = self.coordinate(coordinate);
        if mb.loop_joints().contains(&joint) {
            let name = mb.body_name(mb.joints()[joint].child).to_owned();
            return Err(SessionError::JointedBody { name });
        }
        let shown = self.show(time)?;
        let mut hangs = vec![false; mb.n_bodies()];
        hangs[mb.joints()[joint].child] = true;
        let mut again = true;
        while again {
            again = false;
            for below in mb.joints().iter().filter(|joint| joint.kind.places()) {
                if below.parent.is_some_and(|parent| hangs[parent]) && !hangs[below.child] {
                    (hangs[below.child], again) = (true, true);
                }
            }
        }
        let mut placed = self.placed(time)?;
        for (placed, _) in placed.iter_mut().zip(&hangs).filter(|(_, hangs)| **hangs) {
            *placed = Placed::default();
        }
        let values = shown.posture.q.iter().zip(&shown.rates);
        let mut coordinates: Vec<_> = values.map(|(q, rate)| [Some(*q), Some(*rate)]).collect();
        let [own, own_rate] = coordinates[coordinate];
        coordinates[coordinate] = [position.or(own), rate.or(own_rate)];
        self.assembled(&placed, &coordinates, time)
    }

    /// Sets the posture, and handles the contacts that it has.
    fn pose(&mut self, posture: Posture) -> Result<(), MotionError> {
        let mb = self.world.multibody();
        let momentum = |posture: &Posture| -> Vector3<f64> {
            posture
                .states
                .iter()
                .map(|state| state.linear_momentum)
                .sum()
        };
        self.input += mb.energy(&posture) - mb.energy(&self.posture);
        self.input_impulse += momentum(&posture) - momentum(&self.posture);
        self.posture = posture;
        self.rates = self.world.rates_of(&self.posture);
        self.bounces.clear();
        self.limit_bounces.clear();
        self.settle()
    }

    /// Handles the contacts after an input.
    fn settle(&mut self) -> Result<(), MotionError> {
        let mb = self.world.multibody();
        self.start_anew();
        self.let_go();
        self.fastest = self.fastest.max(mb.fastest_speed(&self.posture.states));
        self.refresh_friction();
        self.meet(&[])
    }

    /// Applies an impulse and a moment to a body at `time` (s). Joints and lasting contacts answer without restitution.
    fn strike(
        &mut self,
        body: usize,
        [impulse, moment]: [&Vector3<f64>; 2],
        at: Option<Vector3<f64>>,
        time: f64,
    ) -> Result<(), MotionError> {
        self.cut(time)?;
        let mb = self.world.multibody();
        if mb.rigid(body).is_none() {
            return Ok(());
        }
        let before = mb.energy(&self.posture);
        let moment = moment_about(&self.posture.states[body], impulse, at, moment);
        self.kick(body, impulse, &moment)?;
        self.input_impulse += impulse;
        let mut lasting = self.touching();
        lasting.retain(|posed| match posed.place {
            Place::Limit(limit) => self.at_limit(limit.coordinate) == Some(limit),
            Place::Point { pair, .. } => self.lasting.contains_key(&pair),
        });
        lasting.iter_mut().for_each(|posed| posed.restitution = 0.0);
        if lasting.iter().any(|posed| self.approaches(posed)) {
            self.resolve(&lasting)?;
        }
        self.input += mb.energy(&self.posture) - before;
        self.settle()
    }
}
