//! Common driver of all systems that move between events.
//!
//! A [`Hybrid`] system holds its present state, finds the next event and executes it. This module holds the parts that all
//! systems share: the limits of a run, its endings and the events that it reports. Worlds share these, and have a driver of their
//! own, which can stop at any time. The systems are
//!
//! | system | built by | flight |
//! | --- | --- | --- |
//! | bodies and planes | `carom_world::World` | on SE(3), each body separately; lasting contact by time steps |
//! | one body above a plane | [`Collider`](crate::flying::Collider) | on SE(3) |
//! | a mechanism | [`CollisionIntegrator`](crate::generalized::CollisionIntegrator) | variational steps in generalized coordinates |
//! | a nonholonomic billiard | [`follow`](crate::billiard::system::follow) | a closed-form flow |
//! | the rolling penny | [`PennyBilliard`](crate::billiard::penny::PennyBilliard) | circular arcs |
//!
//! A new system with a closed-form flow between walls implements [`Billiard`](crate::billiard::system::Billiard), which provides
//! the event location and every law of `carom-impact`. Any other new system implements [`Hybrid`].
//!
//! # Examples
//!
//! A bead between two walls. Its times of impact are known in closed form, and the driver counts the impacts:
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

/// Limits at which a simulation run ends: simulated time, and number of impacts.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Limits {
    /// Time since the start of the motion at which the run ends (s).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub duration: f64,
    /// Number of impacts after which the run ends; a simultaneous impact of connected bodies counts as one.
    pub impacts: usize,
}

impl Limits {
    /// Creates limits that end a run after a number of impacts, at any time.
    pub fn impacts(impacts: usize) -> Self {
        Self {
            impacts,
            duration: f64::INFINITY,
        }
    }

    /// Creates limits that end a run after a simulated time (s), with any number of impacts.
    pub fn duration(duration: f64) -> Self {
        Self {
            impacts: usize::MAX,
            duration,
        }
    }
}

carom_numeric::setters!(Limits {
    /// Sets the simulated time (s) after which the run ends.
    with_duration: duration, f64;
    /// Sets the number of impacts after which the run ends.
    with_impacts: impacts, usize;
});

/// Reason for which a simulation run ended: a limit, a state that the system cannot leave or continue from, or an error of
/// type `E`.
#[must_use = "the reason for the end may be an error"]
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case", bound = ""))]
#[non_exhaustive]
pub enum Ending<E> {
    /// The run reached the duration in its limits.
    Completed,
    /// The run reached the number of impacts in its limits.
    MaxImpacts,
    /// All bodies are at rest and remain so.
    AtRest,
    /// The motion continues for ever without an impact.
    NeverHits,
    /// No impact was found within the time or work that the search allows; a later impact is possible.
    NoImpactFound,
    /// The normal velocity of the impacts tends to zero: the motion approaches a motion along the wall.
    GrazingCascade,
    /// A wall exerts a force without an impact, which the system does not model.
    PressedContact,
    /// Two contacts are hit alternately without time between the impacts.
    DoubleContact,
    /// Infinitely many impacts accumulate at one time (Zeno point), and the options ask that the run stop there.
    Zeno {
        /// Time of the accumulation point (s).
        accumulation: f64,
    },
    /// The motion could not be continued because of this error. Everything reported before remains valid. With the feature
    /// `serde`, writing an ending with an error is an error itself: write its [`name`](Self::name) and the text.
    #[cfg_attr(feature = "serde", serde(skip))]
    Stopped(E),
}

impl<E> Ending<E> {
    /// Converts this ending of a run to a result: the error if the motion could not be continued, else the ending itself.
    ///
    /// # Errors
    ///
    /// The error of [`Stopped`](Self::Stopped).
    pub fn or_error(self) -> Result<Self, E> {
        match self {
            Self::Stopped(error) => Err(error),
            other => Ok(other),
        }
    }

    /// Returns the identifier of this ending in machine-readable reports: the variant's name in kebab case, for example
    /// `max-impacts`.
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

/// Event that a simulation run reports: a sample of the state, an impact, or a change of a lasting contact. The types of
/// samples `S`, impacts `I` and contact identifiers `C` depend on the system.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'e, S, I, C> {
    /// Sample of the motion at a grid time or at a requested time.
    Sample(S),
    /// An impact at one or several contacts.
    Impact(&'e I),
    /// A contact becomes a lasting contact.
    Established {
        /// Time of the event (s).
        time: f64,
        /// Identifier of the contact.
        contact: C,
    },
    /// A lasting contact begins to slide or to stick.
    Mode {
        /// Time of the event (s).
        time: f64,
        /// Identifier of the contact.
        contact: C,
        /// True if the contact slides from now on.
        slides: bool,
    },
    /// A lasting contact opens.
    Released {
        /// Time of the event (s).
        time: f64,
        /// Identifier of the contact.
        contact: C,
    },
}

/// Event that owns its data: an impact `I`, or a change of a lasting contact, which the identifier `C` names.
///
/// # Examples
///
/// ```
/// use carom_motion::hybrid::OwnedEvent;
/// let event = OwnedEvent::<(), &str>::Mode { time: 0.5, contact: "ball and floor", slides: true };
/// assert_eq!((event.time(|()| 0.0), event.name()), (0.5, "mode"));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum OwnedEvent<I, C> {
    /// An impact at one or several contacts.
    Impact(I),
    /// A contact becomes a lasting contact.
    Established {
        /// Time of the event (s).
        time: f64,
        /// Identifier of the contact.
        contact: C,
    },
    /// A lasting contact begins to slide or to stick.
    Mode {
        /// Time of the event (s).
        time: f64,
        /// Identifier of the contact.
        contact: C,
        /// True if the contact slides from now on.
        slides: bool,
    },
    /// A lasting contact opens.
    Released {
        /// Time of the event (s).
        time: f64,
        /// Identifier of the contact.
        contact: C,
    },
}

impl<I, C: Copy> OwnedEvent<I, C> {
    /// Returns the event as a run reports it.
    pub fn view<S>(&self) -> Event<'_, S, I, C> {
        match *self {
            Self::Impact(ref impact) => Event::Impact(impact),
            Self::Established { time, contact } => Event::Established { time, contact },
            Self::Mode {
                time,
                contact,
                slides,
            } => Event::Mode {
                time,
                contact,
                slides,
            },
            Self::Released { time, contact } => Event::Released { time, contact },
        }
    }

    /// Returns the time of the event (s); `of_impact` returns the time of an impact.
    pub fn time(&self, of_impact: impl Fn(&I) -> f64) -> f64 {
        match self {
            Self::Impact(impact) => of_impact(impact),
            Self::Established { time, .. }
            | Self::Mode { time, .. }
            | Self::Released { time, .. } => *time,
        }
    }

    /// Returns the kind of the event: `impact`, `established`, `mode` or `released`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Impact(_) => "impact",
            Self::Established { .. } => "established",
            Self::Mode { .. } => "mode",
            Self::Released { .. } => "released",
        }
    }
}

/// Mechanical system in motion, with impacts at discrete times (a hybrid system): holds the present state, and can advance it
/// to the next event. [`drive`] calls it in a loop.
pub trait Hybrid {
    /// Error with which the motion can end early.
    type Error;

    /// Returns the number of impacts since the start of the motion.
    fn n_impacts(&self) -> usize;

    /// Advances the motion to its next event or sample time, and reports the event or sample; the motion never goes
    /// beyond the duration in `limits`. Returns `None` if the motion continues from there, else the ending. The caller
    /// checks the number of impacts; an implementation may use the limit to recognize the last impact.
    ///
    /// # Errors
    ///
    /// The reason for which the motion cannot be continued. All events and samples reported before the error remain
    /// valid, and the system keeps the state in which the error occurred.
    fn proceed(&mut self, limits: &Limits) -> Result<Option<Ending<Self::Error>>, Self::Error>;
}

/// Advances a hybrid system (a motion with impacts) event by event until one of the limits is reached or the motion ends, and
/// returns the reason of the end.
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
