//! Setups and poses that several tests start from.

use crate::synthetic::{Recipe, tosses};
use carom_fit::nalgebra::Vector3;
use carom_fit::{
    Coefficient, FitOptions, LawFit, Measured, Parameter, Parameters, Poses, Request, Rule, Setup,
    read_poses,
};
use std::path::Path;

pub fn data(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/tosses");
    std::fs::read(folder.join(name)).unwrap()
}

/// Returns the setup of the experiment with the measured cube; plane offset and gravity are estimated from the poses.
pub fn cube() -> Setup {
    Setup::from_toml(&String::from_utf8(data("cube.toml")).unwrap()).unwrap()
}

/// Returns the setup of the cube with a given plane offset (m). Synthetic tosses need one, because they do not come to rest.
pub fn cube_above(plane_offset: f64) -> Setup {
    let mut setup = cube();
    setup.plane.offset = Some(plane_offset);
    setup
}

/// Returns the setup of the cube with a known plane and a known gravity.
pub fn cube_in_a_known_world() -> Setup {
    let mut setup = cube_above(0.0);
    setup.gravity = Some(Vector3::new(0.0, 0.0, -9.81));
    setup
}

/// Reads the poses of twenty measured tosses of the cube.
pub fn sample() -> Vec<Poses> {
    read_poses(&data("tosses-sample.csv")[..]).unwrap().tosses
}

pub const RESTITUTION: Parameter = Parameter::shared(Coefficient::Restitution);
pub const FRICTION: Parameter = Parameter::shared(Coefficient::Friction);
pub const INERTIA: Parameter = Parameter::shared(Coefficient::Inertia);

pub fn parameters(restitution: f64, friction: f64) -> Parameters {
    let some = Parameters::NONE.with(&RESTITUTION, restitution);
    some.with(&FRICTION, friction)
}

/// Returns the parameters of `count` synthetic tosses with the noise of a good tracker: 0.05 mm and 0.4 mrad.
pub fn recipe(law: &'static str, parameters: Parameters, count: u64, seed: u64) -> Recipe {
    Recipe {
        law,
        parameters,
        tosses: count,
        position_noise: 5e-5,
        rotation_noise: 4e-4,
        seed,
    }
}

pub fn poses(recipe: &Recipe, setup: &Setup) -> Vec<Poses> {
    let made = tosses(recipe, setup).unwrap();
    made.into_iter().map(|toss| toss.poses).collect()
}

pub fn cases(poses: &[Poses], setup: &Setup) -> Measured {
    Measured::of_poses(poses, setup).unwrap()
}

/// Fits parameters, as far as the law has them, without separate fits of parts of the impacts.
pub fn fit_of(measured: &Measured, law: &str, free: &[Parameter], bootstrap: u64) -> LawFit {
    let request = Request::new(Rule::by_name(law).unwrap(), free, Parameters::NONE);
    let mut options = FitOptions::new(bootstrap, 1);
    (options.details, options.hold_out) = (false, false);
    let analysis = measured.clone().analyze(&[request], &options).unwrap();
    analysis.fits[0].clone()
}

/// Fits restitution and friction.
pub fn plain_fit(measured: &Measured, law: &str, bootstrap: u64) -> LawFit {
    fit_of(measured, law, &[RESTITUTION, FRICTION], bootstrap)
}
