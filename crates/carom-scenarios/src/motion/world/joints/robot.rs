//! A robot from its URDF, for programs that run it themselves.

use super::setup::Jointed;
use crate::ScenarioError;
use crate::motion::world::config::Config;
use carom_motion::jointed::{Control, JointEvent, JointedEnd, JointedWorld};
use carom_motion::world::Laws;

/// A robot in its world, with its laws, its limits and its samples; made by [`World::from_urdf`](crate::World::from_urdf).
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
        let ignored = imported.map_or_else(Vec::new, |i| i.notes(&jointed.overlapping()));
        Ok(Self { jointed, ignored })
    }

    /// Bodies and joints: names, start, energies.
    pub fn world(&self) -> &JointedWorld {
        &self.jointed.world
    }

    /// Names of the coordinates, in the order of forces, rates and [`JointedEnd::rates`].
    pub fn coordinates(&self) -> &[String] {
        &self.jointed.coordinates
    }

    /// Everything of the model that the world has none of, each with the reason.
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// Runs from the start, and reports samples and events in their order. A control sees time, coordinates and rates at
    /// every line of the grid, and sets forces along the coordinates until the next.
    pub fn run<'c>(
        &self,
        control: Option<&'c mut Control<'c>>,
        observe: &mut dyn FnMut(JointEvent<'_>),
    ) -> JointedEnd {
        let setup = &self.jointed.setup;
        let single = setup.single();
        let several = |index: usize| setup.several(index);
        let laws = Laws {
            single: single.as_law(),
            several: &several,
            on_zeno: setup.on_zeno,
        };
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
