//! A wheel that rolls and tilts until both of its rims touch.

use crate::common::{body, floor, limits, moving, run_with, spec, v};
use carom_geometry::{Cylinder, Shape};
use carom_impact::ImpactLaw;
use carom_impact::frictional::Poisson;
use carom_lie::So3;
use carom_motion::hybrid::Ending;
use carom_world::World;
use nalgebra::Vector3;
use std::f64::consts::FRAC_1_SQRT_2;

/// A rim lands within a step. A shorter step, to a sample within, does not keep it out: samples were 1e-4 m deep.
#[test]
fn samples_within_a_step_in_which_a_rim_lands_are_not_deep() {
    let (radius, half_length) = (1.8008991790169915, 1.0805395074101949);
    let cylinder = Cylinder::new(radius, half_length, &Vector3::z_axis(), Vector3::zeros());
    let shape = Shape::Cylinder(cylinder.unwrap());
    let mut wheel = moving(
        body("wheel", shape, 0.09120027969500102, v(0.0, 0.0, radius)),
        v(25.196317343477094, 7.558895203043128, 0.0),
        v(0.0, 13.990964978522747, 0.0),
    );
    let along_y = So3::from_quaternion(FRAC_1_SQRT_2, &v(FRAC_1_SQRT_2, 0.0, 0.0));
    wheel.configuration.rotation = along_y.unwrap();
    let mut spec = spec(vec![wheel], vec![floor()], 1.0, 0.0);
    spec.gravity = v(0.0, 0.0, -352.52079354033333);
    spec.time_step = 7.1e-4;
    let world = World::new(&spec).unwrap();
    let poisson = |_: usize, _: &_| -> Box<dyn ImpactLaw> { Box::new(Poisson::default()) };
    let samples: Vec<f64> = (0..=500).map(|k| 2e-3 * f64::from(k)).collect();
    let (end, log) = run_with(&world, &poisson, limits(1.0), &samples);
    assert_eq!(end.ending, Ending::Completed);
    assert!(log.samples.len() > 500);
    for (time, states) in &log.samples {
        let gap = world.lowest_gap(states);
        assert!(gap >= -1e-9 * radius, "{gap:e} at {time}");
    }
}
