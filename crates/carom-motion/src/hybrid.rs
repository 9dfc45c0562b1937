//! One driver for everything that moves between events.
//!
//! A [`Hybrid`] system is one on its way: it knows where it is, finds the first event ahead of it and
//! carries it out. What is the same for all of them is here: when a run ends and how it says so, what it
//! reports. Its systems are
//!
//! | system | built by | flight |
//! | --- | --- | --- |
//! | bodies and planes | [`World`](crate::world::World) | on SE(3), each body by itself; lasting contact in steps |
//! | one body above a plane | [`Collider`](crate::flying::Collider) | on SE(3) |
//! | a mechanism | [`CollisionIntegrator`](crate::generalized::CollisionIntegrator) | variational steps in generalized coordinates |
//! | a nonholonomic billiard | [`follow`](crate::billiard::system::follow) | a flow in closed form |
//! | the rolling penny | [`PennyBilliard`](crate::billiard::penny::PennyBilliard) | arcs of circles |
//!
//! A system of one's own that flows in closed form between walls is a
//! [`Billiard`](crate::billiard::system::Billiard), which brings the search for events and every law of
//! `carom-impact` with it; any other one implements [`Hybrid`].
//!
//! # Examples
//!
//! A bead between two walls. Its impacts are known in advance, and the driver counts them:
//!
//! ```
//! use carom_motion::hybrid::{Ending, Hybrid, Limits, drive};
//!
//! struct Bead { time: f64, position: f64, velocity: f64, n_impacts: usize }
//!
//! impl Hybrid for Bead {
//!     type Error = std::convert::Infallible;
//!
//!     fn n_impacts(&self) -> usize {
//!         self.n_impacts
//!     }
//!
//!     fn proceed(&mut self, limits: &Limits) -> Result<Option<Ending<Self::Error>>, Self::Error> {
//!         if self.velocity == 0.0 {
//!             return Ok(Some(Ending::AtRest));
//!         }
//!         let wall = if self.velocity > 0.0 { 1.0 } else { 0.0 };
//!         let hit = self.time + (wall - self.position) / self.velocity;
//!         if hit > limits.duration {
//!             self.position += (limits.duration - self.time) * self.velocity;
//!             self.time = limits.duration;
//!             return Ok(Some(Ending::Completed));
//!         }
//!         *self = Bead { time: hit, position: wall, velocity: -self.velocity, n_impacts: self.n_impacts + 1 };
//!         Ok(None)
//!     }
//! }
//!
//! let mut bead = Bead { time: 0.0, position: 0.25, velocity: 0.5, n_impacts: 0 };
//! assert_eq!(drive(&mut bead, &Limits::duration(6.0)), Ending::Completed);
//! assert_eq!((bead.n_impacts, bead.position), (3, 0.75));
//! ```

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Time since the start (s).
    pub duration: f64,
    /// Impacts; simultaneous ones of connected bodies are one.
    pub impacts: usize,
}

impl Limits {
    /// A number of impacts, however long they take.
    pub fn impacts(impacts: usize) -> Self {
        Self {
            impacts,
            duration: f64::INFINITY,
        }
    }

    /// A time (s), however many impacts it takes.
    pub fn duration(duration: f64) -> Self {
        Self {
            impacts: usize::MAX,
            duration,
        }
    }
}

/// Ending of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending<E> {
    /// The whole time was run.
    Completed,
    /// The number of impacts that was asked for happened.
    MaxImpacts,
    /// Nothing moves.
    AtRest,
    /// The motion goes on for ever without an impact.
    NeverHits,
    /// No impact was found within the budget of the search; whether one comes later is not known.
    NoImpactFound,
    /// The normal velocity of the impacts tends to 0: the motion tends to one along the wall.
    GrazingCascade,
    /// A wall must push without an impact, which the system does not model.
    PressedContact,
    /// Two contacts throw the system back and forth without time between.
    DoubleContact,
    /// Impacts accumulate, and the run was to stop there.
    Zeno {
        /// Time at which they do (s).
        accumulation: f64,
    },
    /// The motion could not be continued, for this reason; what was reported before stands.
    Stopped(E),
}

impl<E> Ending<E> {
    /// This ending, unless it is the reason why the motion could not be continued.
    ///
    /// # Errors
    ///
    /// The error that [`Stopped`](Self::Stopped) holds.
    pub fn or_error(self) -> Result<Self, E> {
        match self {
            Self::Stopped(error) => Err(error),
            other => Ok(other),
        }
    }

    /// Stable kebab-case identifier, for reports that machines read.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::MaxImpacts => "max-impacts",
            Self::AtRest => "at-rest",
            Self::NeverHits => "never-hits",
            Self::NoImpactFound => "no-impact-found",
            Self::GrazingCascade => "grazing-cascade",
            Self::PressedContact => "pressed-contact",
            Self::DoubleContact => "double-contact",
            Self::Zeno { .. } => "zeno",
            Self::Stopped(_) => "stopped",
        }
    }
}

/// Something that happens during a run: samples `S`, impacts `I` and contacts named by `C` are those of
/// the system.
#[derive(Clone, Copy, Debug)]
pub enum Event<'e, S, I, C> {
    /// A time that is looked at: of the grid of steps, or one asked for.
    Sample(S),
    /// An impact.
    Impact(&'e I),
    /// A contact begins to last.
    Established {
        /// Time (s).
        time: f64,
        /// The contact.
        contact: C,
    },
    /// A lasting contact slides or sticks from now on.
    Mode {
        /// Time (s).
        time: f64,
        /// The contact.
        contact: C,
        /// True if it slides.
        slides: bool,
    },
    /// A lasting contact opens.
    Released {
        /// Time (s).
        time: f64,
        /// The contact.
        contact: C,
    },
}

/// A system on its way.
pub trait Hybrid {
    /// Why its motion can end before its time.
    type Error;

    /// Impacts since the start.
    fn n_impacts(&self) -> usize;

    /// Moves on by one event, or to a time that is looked at, and reports it; never beyond the duration
    /// of the limits. `None` if the motion goes on from there. The number of impacts is the driver's
    /// affair; that of the limits tells which one is the last.
    ///
    /// # Errors
    ///
    /// Why the motion cannot be continued. What was reported before stands, and the system stays where
    /// it was then.
    fn proceed(&mut self, limits: &Limits) -> Result<Option<Ending<Self::Error>>, Self::Error>;
}

/// Runs a system until its time is up, its impacts have happened, or its motion ends by itself.
pub fn drive<H: Hybrid + ?Sized>(system: &mut H, limits: &Limits) -> Ending<H::Error> {
    while system.n_impacts() < limits.impacts {
        match system.proceed(limits) {
            Ok(None) => (),
            Ok(Some(ending)) => return ending,
            Err(error) => return Ending::Stopped(error),
        }
    }
    Ending::MaxImpacts
}
