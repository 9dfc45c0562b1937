//! Motion of bodies and planes: flights, impacts by any law, lasting contact.
//!
//! A [`World`] is made of bodies, mobile and fixed, and planes. Between impacts the bodies fly, exactly or by variational
//! integrators. The search for the first contact of every pair is certified: however long a step is, no contact is missed. An
//! impact problem contains all contacts of the island (bodies connected by contacts) and is solved by the impact law. A contact
//! lasts if it neither approaches nor separates and carries force: it is integrated in steps of kick, free flight, kick with
//! Coulomb friction in the circular cone, until it opens.
//!
//! 1. a [`WorldSpec`] of [`BodySpec`]s and [`PlaneSpec`]s makes a [`World`];
//! 2. [`World::run`] with [`Laws`] and [`Limits`](crate::hybrid::Limits) reports every [`Event`], and the reason for its end.
//!
//! Heaps are integrated by time stepping with a fixed step ([`World::run_in_steps`]); [`World::run_or_step`] switches from
//! event-driven integration to time stepping where events crowd.
//!
//! Energy and momentum are accounted for during a run: [`Balance`].

mod accumulation;
mod answer;
mod ball;
pub(crate) mod body;
mod cells;
mod chatter;
mod collision;
pub(crate) mod dependent;
mod error;
mod events;
pub(crate) mod friction;
pub(crate) mod guard;
mod handover;
mod island;
pub(crate) mod kick;
mod lasting;
mod losses;
pub(crate) mod modes;
pub(crate) mod pair;
mod pair_table;
mod rows;
mod run;
mod scratch;
pub(crate) mod search;
mod series;
pub(crate) mod spec;
pub(crate) mod step;
mod step_scene;
mod stepping;
mod swept_box;
mod time;
mod touch_count;
mod touching;
mod vicinity;

pub use body::{BodySpec, FlightRule, PlaneSpec};
pub use error::{MotionError, StepFault};
pub use events::{Balance, Event, HandedOver, Impact, ImpactContact, RunEnd, Sample};
pub use spec::{Laws, OnZeno, SingleLaw, Surface, World, WorldSpec};
pub use stepping::{Executor, Scheme, Serial, StepCounts, Stepping};
