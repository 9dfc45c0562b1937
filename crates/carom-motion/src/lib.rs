//! Motion through impacts.
//!
//! Between impacts a system flows or makes time steps. At an impact, an impact law gives the velocities after it. A contact that
//! is pressed together becomes a lasting contact. All systems use one driver, [`hybrid`], which defines the ends of a run and the
//! events that it reports:
//!
//! | module | systems | impact laws and contacts |
//! | --- | --- | --- |
//! | [`world`] | rigid bodies and planes | any law of `carom-impact`, lasting contact with friction |
//! | [`jointed`] | bodies connected by joints | limits of joints, any law |
//! | [`flying`] | one rigid body above a plane | Newton's restitution, the discrete energy |
//! | [`generalized`] | mechanisms | any law, lasting contact with friction in the plane |
//! | [`billiard`] | nonholonomic systems, in particular the rolling penny | any law with constraints |
//! | [`hybrid`] | systems defined by the caller | |
//!
//! `carom-impact` provides the impact laws, and [`carom_variational`] the motion between impacts. First contacts of bodies and
//! impacts of billiards are isolated with a guarantee.
//!
//! # Examples
//!
//! ```
//! use carom_motion::geometry::{Ellipsoid, HalfSpace, Shape};
//! use carom_motion::impact::frictional::Poisson;
//! use carom_motion::impact::two_body::ImpactOptions;
//! use carom_motion::lie::{Se3, So3};
//! use carom_motion::hybrid::{Ending, Limits};
//! use carom_motion::nalgebra::Vector3;
//! use carom_motion::world::{
//!     BodySpec, FlightRule, Laws, OnZeno, PlaneSpec, SingleLaw, Surface, World, WorldSpec,
//! };
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // A ball falls, bounces, and in the end rolls.
//!     let shape = Shape::Ellipsoid(Ellipsoid::sphere(0.1, Vector3::zeros())?);
//!     let ball = BodySpec {
//!         name: "ball".to_owned(),
//!         mass: Some(shape.mass_properties(1.0)?),
//!         shape,
//!         configuration: Se3::new(So3::identity(), Vector3::new(0.0, 0.0, 0.3)),
//!         velocity: Vector3::new(1.0, 0.0, 0.0),
//!         angular_velocity: Vector3::zeros(),
//!     };
//!     let floor = PlaneSpec {
//!         name: "floor".to_owned(),
//!         half_space: HalfSpace::new(Vector3::z(), 0.0)?,
//!     };
//!     let world = World::new(&WorldSpec {
//!         bodies: vec![ball],
//!         planes: vec![floor],
//!         gravity: Vector3::new(0.0, 0.0, -9.80665),
//!         flight: FlightRule::Exact,
//!         time_step: 1e-3,
//!         surface: Surface { friction: 0.3, restitution: 0.5, collide: true },
//!         pairs: Vec::new(),
//!     })?;
//!     let laws = Laws {
//!         single: SingleLaw::TwoBody(ImpactOptions::default()),
//!         several: &|_| Box::new(Poisson::default()),
//!         on_zeno: OnZeno::Rest,
//!     };
//!     let end = world.run(&laws, &Limits::duration(2.0), &[], &mut |_| ());
//!     assert_eq!(end.ending, Ending::Completed);
//!     assert!((end.states[0].position.z - 0.1).abs() < 1e-9);
//!     assert!(end.balance.energy_error < 1e-12);
//!     Ok(())
//! }
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod billiard;
pub mod flying;
pub mod generalized;
pub mod hybrid;
pub mod jointed;
mod tolerances;
pub mod world;

pub use carom_derivative::sensitivity;
pub use carom_geometry as geometry;
pub use carom_impact as impact;
pub use carom_joints as joints;
pub use carom_lie as lie;
pub use carom_mechanism as mechanism;
pub use carom_metric as metric;
pub use carom_variational as variational;
pub use nalgebra;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
