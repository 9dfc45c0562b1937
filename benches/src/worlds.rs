//! Worlds of spheres.

use carom_contact::{ImpactLaw, ImpactProblem};
use carom_geometry::{Ellipsoid, HalfSpace, Shape};
use carom_impact::Propagative;
use carom_impact::two_body::ImpactOptions;
use carom_lie::{Se3, So3};
use carom_motion::hybrid::Limits;
use carom_numeric::random::CounterRng;
use carom_world::{BodySpec, Laws, OnZeno, PlaneSpec, SingleLaw, Surface, World, WorldSpec};
use nalgebra::Vector3;

/// A body of 1 kg at rest; `None` if the shape has no volume.
pub fn body(name: &str, shape: Shape, position: Vector3<f64>) -> Option<BodySpec> {
    Some(BodySpec::new(
        name,
        Some(shape.mass_properties(1.0).ok()?),
        shape,
        Se3::new(So3::identity(), position),
    ))
}

/// A moving ball of 1 kg; `None` if the radius is not positive.
pub fn ball(
    name: &str,
    radius: f64,
    position: Vector3<f64>,
    velocity: Vector3<f64>,
) -> Option<BodySpec> {
    let shape = Shape::Ellipsoid(Ellipsoid::sphere(radius, Vector3::zeros()).ok()?);
    Some(body(name, shape, position)?.with_velocity(velocity, Vector3::zeros()))
}

/// A plane, free where $n\cdot x$ + `offset` > 0; `None` if the normal is zero.
pub fn plane(name: &str, normal: Vector3<f64>, offset: f64) -> Option<PlaneSpec> {
    Some(PlaneSpec::new(name, HalfSpace::new(normal, offset).ok()?))
}

/// Bodies and planes that bounce without loss and without friction, far from gravity.
pub fn elastic(bodies: Vec<BodySpec>, planes: Vec<PlaneSpec>) -> WorldSpec {
    WorldSpec::new(
        bodies,
        planes,
        Vector3::zeros(),
        1e-3,
        Surface::new(0.0, 1.0),
    )
}

/// Elastic spheres of diameter 1 m, `side`³ of them, `spacing` apart in a box, with random velocities;
/// `None` if they overlap.
pub fn gas(side: usize, spacing: f64) -> Option<World> {
    let mut random = CounterRng::new(1, 0, 0);
    let mut velocity = || Vector3::from_fn(|_, _| 2.0 * random.next_uniform() - 1.0);
    let places = (0..side * side * side).map(|k| [k % side, k / side % side, k / side / side]);
    let bodies = places.map(|place| {
        let position = Vector3::from(place.map(|k| (k as f64 + 0.5) * spacing));
        ball(&format!("{place:?}"), 0.5, position, velocity())
    });
    let length = side as f64 * spacing;
    let wall = |k: usize| {
        [
            plane(&format!("low {k}"), Vector3::ith(k, 1.0), 0.0),
            plane(&format!("high {k}"), Vector3::ith(k, -1.0), length),
        ]
    };
    let planes = (0..3).flat_map(wall).collect::<Option<_>>()?;
    let spec = elastic(bodies.collect::<Option<_>>()?, planes);
    World::new(&spec).ok()
}

fn several(_: usize, _: &ImpactProblem) -> Box<dyn ImpactLaw> {
    Box::new(Propagative::default())
}

/// The closed forms for one contact, `propagative` for several.
pub fn laws(on_zeno: OnZeno) -> Laws<'static> {
    Laws::new(SingleLaw::TwoBody(ImpactOptions::default()), &several).with_on_zeno(on_zeno)
}

/// A number of impacts, however long they take.
pub fn limits(impacts: usize) -> Limits {
    Limits::impacts(impacts).with_duration(f64::MAX)
}
