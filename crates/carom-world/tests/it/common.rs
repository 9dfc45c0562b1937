//! Small worlds.

use carom_contact::{ImpactLaw, ImpactProblem};
use carom_geometry::{Cuboid, Ellipsoid, HalfSpace, MassProperties, Shape};
use carom_impact::Propagative;
use carom_impact::two_body::ImpactOptions;
use carom_lie::{Se3, So3};
use carom_motion::hybrid::Limits;
use carom_variational::State;
use carom_world::{
    BodySpec, Event, Impact, Laws, PlaneSpec, RunEnd, Sample, SingleLaw, Surface, World, WorldSpec,
};
use nalgebra::Vector3;

pub(crate) const G: f64 = 9.80665;

pub(crate) fn v(x: f64, y: f64, z: f64) -> Vector3<f64> {
    Vector3::new(x, y, z)
}

pub(crate) fn body(name: &str, shape: Shape, mass: f64, position: Vector3<f64>) -> BodySpec {
    BodySpec::new(
        name,
        Some(shape.mass_properties(mass).unwrap()),
        shape,
        Se3::new(So3::identity(), position),
    )
}

pub(crate) fn ball(name: &str, radius: f64, mass: f64, position: Vector3<f64>) -> BodySpec {
    let shape = Shape::Ellipsoid(Ellipsoid::sphere(radius, Vector3::zeros()).unwrap());
    body(name, shape, mass, position)
}

pub(crate) fn cuboid(name: &str, half: [f64; 3], position: Vector3<f64>) -> BodySpec {
    body(
        name,
        Shape::Cuboid(Cuboid::new(half).unwrap()),
        1.0,
        position,
    )
}

pub(crate) fn moving(mut body: BodySpec, velocity: Vector3<f64>, spin: Vector3<f64>) -> BodySpec {
    body.velocity = velocity;
    body.angular_velocity = spin;
    body
}

pub(crate) fn fixed(mut body: BodySpec) -> BodySpec {
    body.mass = None::<MassProperties>;
    body
}

pub(crate) fn plane(name: &str, normal: Vector3<f64>, offset: f64) -> PlaneSpec {
    PlaneSpec::new(name, HalfSpace::new(normal, offset).unwrap())
}

pub(crate) fn floor() -> PlaneSpec {
    plane("floor", Vector3::z(), 0.0)
}

pub(crate) fn spec(
    bodies: Vec<BodySpec>,
    planes: Vec<PlaneSpec>,
    friction: f64,
    restitution: f64,
) -> WorldSpec {
    WorldSpec::new(
        bodies,
        planes,
        v(0.0, 0.0, -G),
        1e-3,
        Surface::new(friction, restitution),
    )
}

#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) samples: Vec<(f64, Vec<State>)>,
    pub(crate) impacts: Vec<Impact>,
    pub(crate) modes: Vec<(f64, bool)>,
    pub(crate) established: Vec<f64>,
    pub(crate) released: Vec<f64>,
}

pub(crate) fn run_with(
    world: &World,
    several: &dyn Fn(usize, &ImpactProblem) -> Box<dyn ImpactLaw>,
    limits: Limits,
    samples: &[f64],
) -> (RunEnd, Log) {
    let laws = Laws::new(SingleLaw::TwoBody(ImpactOptions::default()), several);
    let mut log = Log::default();
    let end = world.run(&laws, &limits, samples, &mut |event| match event {
        Event::Sample(Sample { time, states, .. }) => log.samples.push((time, states.to_vec())),
        Event::Impact(impact) => log.impacts.push(impact.clone()),
        Event::Mode { time, slides, .. } => log.modes.push((time, slides)),
        Event::Established { time, .. } => log.established.push(time),
        Event::Released { time, .. } => log.released.push(time),
        other => panic!("{other:?}"),
    });
    (end, log)
}

pub(crate) fn limits(duration: f64) -> Limits {
    Limits::duration(duration)
}

pub(crate) fn moreau(_: usize, _: &ImpactProblem) -> Box<dyn ImpactLaw> {
    Box::new(carom_impact::frictional::MoreauNewton::default())
}

pub(crate) fn propagative(_: usize, _: &ImpactProblem) -> Box<dyn ImpactLaw> {
    Box::new(Propagative::default())
}

pub(crate) fn run(spec: &WorldSpec, duration: f64) -> (World, RunEnd, Log) {
    let world = World::new(spec).unwrap();
    let samples: Vec<f64> = (0..=100).map(|k| duration * f64::from(k) / 100.0).collect();
    let (end, log) = run_with(&world, &moreau, limits(duration), &samples);
    (world, end, log)
}

#[track_caller]
pub(crate) fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} and {b}: {:e}", a - b);
}

#[track_caller]
pub(crate) fn near(a: &Vector3<f64>, b: &Vector3<f64>, tolerance: f64) {
    assert!(
        (a - b).amax() <= tolerance,
        "{a} and {b}: {:e}",
        (a - b).amax()
    );
}
