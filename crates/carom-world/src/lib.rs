//! Motion of bodies and planes: flights, impacts by any law, lasting contact.
//!
//! A [`World`] is made of bodies, mobile and fixed, and planes. Between impacts the bodies fly, exactly or by variational
//! integrators. The search for the first contact of every pair is certified: however long a step is, no contact is missed. An
//! impact problem contains all contacts of the island (bodies connected by contacts) and is solved by the impact law. A contact
//! lasts if it neither approaches nor separates and carries force: it is integrated in steps of kick, free flight, kick with
//! Coulomb friction in the circular cone, until it opens.
//!
//! 1. a [`WorldSpec`] of [`BodySpec`]s and [`PlaneSpec`]s makes a [`World`];
//! 2. [`World::run`] with [`Laws`] and [`Limits`](carom_motion::hybrid::Limits) reports every [`Event`], and the reason for its end;
//! 3. [`World::start`] gives a [`Session`] instead, a run that goes on from call to call: the same motion, bit for bit.
//!
//! Heaps are integrated by time stepping with a fixed step ([`World::run_in_steps`]); [`World::run_or_step`] switches from
//! event-driven integration to time stepping where events crowd.
//!
//! Energy and momentum are accounted for during a run: [`Balance`]. Bodies connected by joints have a module of their own,
//! [`jointed`].
//!
//! # Examples
//!
//! ```
//! use carom_world::geometry::{Ellipsoid, HalfSpace, Shape};
//! use carom_world::impact::frictional::Poisson;
//! use carom_world::impact::two_body::ImpactOptions;
//! use carom_world::lie::{Se3, So3};
//! use carom_world::hybrid::{Ending, Limits};
//! use carom_world::nalgebra::Vector3;
//! use carom_world::{
//!     BodySpec, FlightRule, Laws, PlaneSpec, SingleLaw, Surface, World, WorldSpec,
//! };
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // A ball falls, bounces, and in the end rolls.
//!     let shape = Shape::Ellipsoid(Ellipsoid::sphere(0.1, Vector3::zeros())?);
//!     let place = Se3::new(So3::identity(), Vector3::new(0.0, 0.0, 0.3));
//!     let ball = BodySpec::new("ball", Some(shape.mass_properties(1.0)?), shape, place)
//!         .with_velocity(Vector3::new(1.0, 0.0, 0.0), Vector3::zeros());
//!     let floor = PlaneSpec::new("floor", HalfSpace::new(Vector3::z(), 0.0)?);
//!     let gravity = Vector3::new(0.0, 0.0, -9.80665);
//!     let surface = Surface::new(0.3, 0.5);
//!     let world = World::new(&WorldSpec::new(vec![ball], vec![floor], gravity, 1e-3, surface))?;
//!     let laws = Laws::new(SingleLaw::TwoBody(ImpactOptions::default()), &|_, _| Box::new(Poisson::default()));
//!     let end = world.run(&laws, &Limits::duration(2.0), &[], &mut |_| ());
//!     assert_eq!(end.ending, Ending::Completed);
//!     assert!((end.states[0].position.z - 0.1).abs() < 1e-9);
//!     assert!(end.balance.energy_error < 1e-12);
//!     Ok(())
//! }
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod accumulation;
mod answer;
pub(crate) mod body;
mod changed;
mod chatter;
mod collision;
mod course;
mod dependent;
mod edges;
mod error;
mod events;
mod force;
pub(crate) mod guard;
mod handover;
mod held;
mod input;
mod island;
pub mod jointed;
pub(crate) mod kick;
mod lasting;
mod limits;
mod losses;
mod machine;
pub(crate) mod pair;
mod pair_table;
mod rest;
mod rows;
mod run;
#[cfg(feature = "serde")]
pub mod saved;
mod scratch;
pub(crate) mod search;
mod series;
mod session;
pub(crate) mod spec;
mod springs;
pub(crate) mod step;
mod step_scene;
mod stepping;
mod surface;
mod swept_box;
mod told;
mod touch_count;
mod touching;
mod vicinity;

pub use body::{BodySpec, FlightRule, PlaneSpec};
pub use error::{MotionError, SessionError, StepFault};
pub use events::{Balance, Event, HandedOver, Impact, ImpactContact, RunEnd, Sample, WorldEvent};
pub use force::ContactForce;
pub use input::Input;
pub use machine::{Machine, SessionOf};
pub use session::{Energy, Free, LastingPoint, Session, SessionOptions, SharedLaws, WorldState};
pub use spec::{Laws, OnZeno, SingleLaw, World, WorldSpec};
pub use stepping::{Executor, Scheme, Serial, StepCounts, Stepping};
pub use surface::Surface;

pub use carom_geometry as geometry;
pub use carom_impact as impact;
pub use carom_joints as joints;
pub use carom_lie as lie;
pub use carom_metric as metric;
pub use carom_motion::hybrid;
pub use carom_variational as variational;
pub use nalgebra;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
