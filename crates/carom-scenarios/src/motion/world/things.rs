//! Bodies and joint coordinates of a session's world, as they are at every time.

use super::joints::report::open_coordinates;
use super::session::{Kind, Session};
use super::whole::Whole;
use carom_world::BodySpec;
use carom_world::joints::coordinates::Rule;
use nalgebra::Matrix3;

/// Body of a session's world.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SessionBody {
    /// Name.
    pub name: String,
    /// Mass (kg) and inertia about the center of mass (kg m², rows, in body axes); `None` for a body that never moves.
    pub mass: Option<(f64, [[f64; 3]; 3])>,
    /// True if a joint holds the body, or hangs on it.
    pub is_jointed: bool,
    /// True if drag or forces of the world act on the body.
    pub is_loaded: bool,
}

/// Joint coordinate of a session's world.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SessionCoordinate {
    /// Name.
    pub name: String,
    /// True for an angle (rad), false for a displacement (m).
    pub is_angle: bool,
    /// Target of its `pd` actuator at the start (rad or m); `None` without one.
    pub target: Option<f64>,
}

impl Session {
    /// Returns the bodies, in the order of all states.
    pub fn body_list(&self) -> Vec<SessionBody> {
        type Mass<'m> = Option<(f64, &'m Matrix3<f64>)>;
        let named = |name: &str, mass: Mass<'_>, [is_jointed, is_loaded]: [bool; 2]| SessionBody {
            name: name.to_owned(),
            mass: mass.map(|(mass, inertia)| (mass, inertia.transpose().data.0)),
            is_jointed,
            is_loaded,
        };
        match &self.kind {
            Kind::Free(track) => {
                let bodies = track.whole.setup().spec.bodies.iter();
                let one = |(b, body): (usize, &BodySpec)| {
                    let mass = body.mass.as_ref();
                    let mass = mass.map(|mass| (mass.mass(), mass.inertia()));
                    let has_springs = track.whole.world.has_springs(b);
                    let is_loaded = !body.loads.is_empty() || has_springs;
                    named(&body.name, mass, [false, is_loaded])
                };
                bodies.enumerate().map(one).collect()
            }
            Kind::Jointed(track) => {
                let mb = track.whole.world.multibody();
                let ends = (0..mb.joints().len()).flat_map(|j| *mb.ends(j));
                let jointed: Vec<usize> = ends.flatten().collect();
                let one = |b: usize| {
                    let mass = mb.rigid(b).map(|rigid| (rigid.mass(), rigid.inertia()));
                    let springs = mb.springs().iter();
                    let has_springs = { springs }.any(|spring| spring.between.contains(&Some(b)));
                    let is_loaded =
                        has_springs || mb.loads(b).is_some_and(|loads| !loads.is_empty());
                    named(mb.body_name(b), mass, [jointed.contains(&b), is_loaded])
                };
                (0..mb.n_bodies()).map(one).collect()
            }
        }
    }

    /// Returns the joint coordinates, in the order of all states.
    pub fn coordinate_list(&self) -> Vec<SessionCoordinate> {
        let Kind::Jointed(track) = &self.kind else {
            return Vec::new();
        };
        let mb = track.whole.world.multibody();
        let kinds = mb.joints().iter().flat_map(|joint| joint.kind.coordinates);
        let all: Vec<_> = mb.coordinates().zip(kinds).collect();
        let one = |(name, k): (&str, usize)| {
            let (spec, about) = all[k];
            let target = match spec.actuator.as_ref().map(|actuator| &actuator.rule) {
                Some(Rule::Pd { target, .. }) => Some(target.value(0.0)),
                _ => None,
            };
            SessionCoordinate {
                name: name.to_owned(),
                is_angle: about.is_angle,
                target,
            }
        };
        let names = self.coordinates().into_iter();
        names.zip(open_coordinates(mb)).map(one).collect()
    }

    /// Returns the acceleration of gravity (m/s²).
    pub fn gravity(&self) -> [f64; 3] {
        self.setup().gravity.into()
    }

    /// Returns the time between two samples of the world's run (s).
    pub fn sample_step(&self) -> f64 {
        self.setup().output.sample_step
    }

    fn setup(&self) -> &super::setup::Setup {
        match &self.kind {
            Kind::Free(track) => track.whole.setup(),
            Kind::Jointed(track) => track.whole.setup(),
        }
    }
}
