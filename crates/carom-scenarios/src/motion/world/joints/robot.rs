//! Robot from a URDF, for programs that run it themselves.

use super::setup::Jointed;
use crate::ScenarioError;
use crate::motion::world::config::Config;
use crate::motion::world::several::shared_laws;
use carom_world::Laws;
use carom_world::jointed::{Control, JointEvent, JointedEnd, JointedSession, JointedWorld};
use std::sync::Arc;

/// Robot of jointed links in a world, with impact laws, limits and sample times. Created by
/// [`World::from_urdf`](crate::World::from_urdf).
#[derive(Debug)]
pub struct Robot {
    jointed: Jointed,
    ignored: Vec<String>,
}

impl Robot {
    pub(in super::super) fn new(
        config: &Config,
        given: &dyn Fn(&str) -> bool,
    ) -> Result<Self, ScenarioError> {
        let jointed = Jointed::new(config, given)?;
        let imported = config.imported.as_ref();
        let mut ignored = imported.map_or_else(Vec::new, |i| i.notes(&jointed.overlapping()));
        ignored.extend(imported.iter().flat_map(|i| i.warnings()).cloned());
        Ok(Self { jointed, ignored })
    }

    /// Returns the world of the robot: bodies and joints with their names, initial state and energies.
    pub fn world(&self) -> &JointedWorld {
        &self.jointed.world
    }

    /// Returns the names of the joint coordinates of the robot. Forces, rates and [`JointedEnd::rates`] have this order.
    pub fn coordinates(&self) -> &[String] {
        &self.jointed.coordinates
    }

    /// Returns the parts of the robot's model that the simulation does not support or replaces, each with the reason.
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// Starts a session: a run of the robot that goes on from call to call. Its motion is that of [`run`](Self::run) without
    /// `control`, bit for bit. The `duration` is no end of it; `max_impacts` is. It outlives this robot.
    ///
    /// # Errors
    ///
    /// None yet: a robot that was read can start.
    pub fn start(&self) -> Result<JointedSession, ScenarioError> {
        let Jointed { world, setup, .. } = &self.jointed;
        let laws = shared_laws(setup, None);
        Ok(JointedSession::new(Arc::clone(world), laws, setup.limits))
    }

    /// Simulates the robot from its initial state, and reports samples and events to `observe` in order of time. If there is a
    /// `control`, it is called at every grid time with time (s), coordinates and rates, and returns the forces along the
    /// coordinates until the next grid time.
    pub fn run<'c>(
        &self,
        control: Option<&'c mut Control<'c>>,
        observe: &mut dyn FnMut(JointEvent<'_>),
    ) -> JointedEnd {
        let setup = &self.jointed.setup;
        let single = setup.single();
        let several = |index: usize, problem: &_| setup.several(index, problem);
        let laws = Laws::new(single.as_law(), &several).with_on_zeno(setup.on_zeno);
        let mut forwarded = control
            .map(|control| move |time: f64, q: &[f64], rates: &[f64]| control(time, q, rates));
        let control = forwarded.as_mut().map(|f| f as &mut Control<'_>);
        let mut see = |event: JointEvent<'_>| observe(event);
        let (limits, samples) = (&setup.limits, &setup.samples);
        self.jointed
            .world
            .run(&laws, limits, samples, control, &mut see)
    }
}
