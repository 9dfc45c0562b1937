//! Systems with modes: rates, guards and resets, each with derivatives.

use crate::AnalyseError;
use nalgebra::{DMatrix, DVector};
use std::sync::Arc;

/// Function of the state with its gradient, whose zero is a section.
pub type Level = Arc<dyn Fn(&[f64], &mut [f64]) -> f64 + Send + Sync>;

/// State of every switch of a [`Flow`], one small number each: for a system with contacts the state of each contact.
pub type Mode = Vec<u8>;

/// Kind of an event at a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum EventKind {
    /// Impact after which the contact separates.
    Impact,
    /// Plastic impact after which the contact lasts.
    Closes,
    /// The normal force of a lasting contact has become zero, or an impact elsewhere lifts it.
    Opens,
    /// Sliding ends.
    Sticks,
    /// The sliding velocity changes its sign.
    Turns,
    /// Sliding begins.
    Slips,
}

impl EventKind {
    /// Name of the kind in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Impact => "impact",
            Self::Closes => "closes",
            Self::Opens => "opens",
            Self::Sticks => "sticks",
            Self::Turns => "turns",
            Self::Slips => "slips",
        }
    }
}

/// Event at one contact.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Happening {
    /// Kind of the event.
    pub kind: EventKind,
    /// Index of the contact, or of the switch of a flow without contacts.
    pub contact: usize,
    /// Normal speed before an impact (m/s or rad/s), at least 0.
    pub speed: Option<f64>,
}

impl Happening {
    /// Describes an event at a contact without a speed.
    pub fn new(kind: EventKind, contact: usize) -> Self {
        Self {
            kind,
            contact,
            speed: None,
        }
    }

    /// Sets the normal speed before an impact (m/s or rad/s).
    #[must_use]
    pub fn with_speed(self, speed: f64) -> Self {
        Self {
            speed: Some(speed),
            ..self
        }
    }
}

/// Consequence of a guard that has become zero.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Transition {
    /// Events of this instant, at most one a contact. Empty if only the bookkeeping of the mode changes: such a transition leaves
    /// the state and its rate as they are.
    pub happenings: Vec<Happening>,
    /// Name of the reset map for [`Flow::jump`]; empty for the identity.
    pub reset: Mode,
    /// Mode afterwards.
    pub mode: Mode,
    /// Smallest distance from another decision of the law, relative: the derivative of the reset is valid if it is positive.
    pub margin: f64,
}

impl Transition {
    /// Describes a transition to a mode that keeps the state.
    pub fn to(mode: Mode) -> Self {
        Self {
            happenings: Vec::new(),
            reset: Mode::new(),
            mode,
            margin: 1.0,
        }
    }
}

/// State after an event as a function of the state before it, with derivatives.
#[derive(Clone, Debug, PartialEq)]
pub struct Jump {
    /// State afterwards $R(t, x)$.
    pub state: DVector<f64>,
    /// Derivative $R_x$ (N × N for N states).
    pub by_state: DMatrix<f64>,
    /// Derivative $R_t$.
    pub by_time: DVector<f64>,
}

impl Jump {
    /// Jump that leaves the state as it is.
    pub fn identity(state: &[f64]) -> Self {
        let n = state.len();
        Self {
            state: DVector::from_column_slice(state),
            by_state: DMatrix::identity(n, n),
            by_time: DVector::zeros(n),
        }
    }
}

/// Decision that must not change along a motion for its derivative to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum GuardKind {
    /// Gap of an open contact.
    Gap,
    /// Arming of an open contact: changes no motion.
    Arming,
    /// Normal force of a lasting contact.
    Force,
    /// Distance of the friction force from its limit in a sticking contact.
    Cone,
    /// Sliding speed.
    Sliding,
}

/// System $\dot x = f_m(t, x)$ whose mode $m$ changes when a guard falls through zero, with a reset $x^+ = R(t, x^-)$.
///
/// All functions are smooth in a mode, and evaluable somewhat beyond the guards. States have
/// [`dimension`](Self::dimension) entries. A value that is not finite ends the motion.
///
/// # Examples
///
/// A bilinear oscillator: stiffness 1 on the left of the origin, 4 on the right, so that its period is $\pi + \pi/2$.
///
/// ```
/// use carom_analyse::{AnalyseError, EventKind, Flow, GuardKind, Happening, Mode, Motion, Section, Settings, Transition, find};
/// use nalgebra::DMatrix;
///
/// struct Bilinear;
///
/// impl Flow for Bilinear {
///     fn dimension(&self) -> usize {
///         2
///     }
///     fn rate(&self, mode: &Mode, _t: f64, x: &[f64], out: &mut [f64]) -> Result<(), AnalyseError> {
///         let stiffness = if mode[0] == 0 { 1.0 } else { 4.0 };
///         out[0] = x[1];
///         out[1] = -stiffness * x[0];
///         Ok(())
///     }
///     fn rate_by_state(&self, mode: &Mode, _t: f64, _x: &[f64], out: &mut DMatrix<f64>) -> Result<(), AnalyseError> {
///         out[(0, 1)] = 1.0;
///         out[(1, 0)] = if mode[0] == 0 { -1.0 } else { -4.0 };
///         Ok(())
///     }
///     fn guards(&self, _mode: &Mode) -> Vec<GuardKind> {
///         vec![GuardKind::Gap]
///     }
///     fn guard(&self, mode: &Mode, _k: usize, _t: f64, x: &[f64]) -> Result<f64, AnalyseError> {
///         Ok(if mode[0] == 0 { -x[0] } else { x[0] })
///     }
///     fn guard_gradient(&self, mode: &Mode, _k: usize, _t: f64, _x: &[f64], out: &mut [f64]) -> Result<f64, AnalyseError> {
///         out[0] = if mode[0] == 0 { -1.0 } else { 1.0 };
///         Ok(0.0)
///     }
///     fn transition(&self, mode: &Mode, _k: usize, _t: f64, _x: &[f64]) -> Result<Transition, AnalyseError> {
///         let mut to = Transition::to(vec![1 - mode[0]]);
///         to.happenings = vec![Happening::new(EventKind::Closes, usize::from(mode[0]))];
///         Ok(to)
///     }
///     fn start(&self, _t: f64, x: &[f64]) -> Result<Mode, AnalyseError> {
///         Ok(vec![u8::from(x[0] > 0.0)])
///     }
/// }
///
/// let start = Motion::start(&Bilinear, 0.0, &[0.0, -1.0])?;
/// let orbit = find(&Bilinear, &Section::events(vec![1]), start, 1, None, &Settings::default())?;
/// assert!((orbit.period - 1.5 * std::f64::consts::PI).abs() < 1e-10);
/// # Ok::<(), AnalyseError>(())
/// ```
pub trait Flow {
    /// Returns the number N of states.
    fn dimension(&self) -> usize;

    /// Computes the rate $f_m(t, x)$ into `out`.
    ///
    /// # Errors
    ///
    /// An [`AnalyseError`] where the rate does not exist.
    fn rate(
        &self,
        mode: &Mode,
        time: f64,
        state: &[f64],
        out: &mut [f64],
    ) -> Result<(), AnalyseError>;

    /// Computes $f_x$ (N × N) into `out`, which is zero before.
    ///
    /// # Errors
    ///
    /// An [`AnalyseError`] where it does not exist.
    fn rate_by_state(
        &self,
        mode: &Mode,
        time: f64,
        state: &[f64],
        out: &mut DMatrix<f64>,
    ) -> Result<(), AnalyseError>;

    /// Returns the kinds of the guards of a mode, in their order.
    fn guards(&self, mode: &Mode) -> Vec<GuardKind>;

    /// Returns the guard with the index `guard`: positive as long as the mode lasts.
    ///
    /// # Errors
    ///
    /// An [`AnalyseError`] where it does not exist.
    fn guard(
        &self,
        mode: &Mode,
        guard: usize,
        time: f64,
        state: &[f64],
    ) -> Result<f64, AnalyseError>;

    /// Computes the gradient of a guard by the state into `out` (N entries, zero before), and returns its derivative by time.
    ///
    /// # Errors
    ///
    /// An [`AnalyseError`] where it does not exist.
    fn guard_gradient(
        &self,
        mode: &Mode,
        guard: usize,
        time: f64,
        state: &[f64],
        out: &mut [f64],
    ) -> Result<f64, AnalyseError>;

    /// Decides on the consequence of a guard that has become zero.
    ///
    /// # Errors
    ///
    /// An [`AnalyseError`] if there is no answer.
    fn transition(
        &self,
        mode: &Mode,
        guard: usize,
        time: f64,
        state: &[f64],
    ) -> Result<Transition, AnalyseError>;

    /// Evaluates a reset map. `mode` is that before. By default nothing jumps.
    ///
    /// # Errors
    ///
    /// An [`AnalyseError`] where it does not exist.
    fn jump(
        &self,
        _mode: &Mode,
        _reset: &Mode,
        _time: f64,
        state: &[f64],
    ) -> Result<Jump, AnalyseError> {
        Ok(Jump::identity(state))
    }

    /// Decides on the mode of a state at the start of a motion.
    ///
    /// # Errors
    ///
    /// An [`AnalyseError`] if no mode fits.
    fn start(&self, time: f64, state: &[f64]) -> Result<Mode, AnalyseError>;

    /// True if an event at one contact can change the motion of another contact before that is hit itself. Events of contacts
    /// that do not influence each other commute.
    fn influences(&self, _one: usize, _other: usize) -> bool {
        true
    }

    /// True if a guard counts in a state. A contact that cannot close there has none.
    fn counts(&self, _mode: &Mode, _guard: usize, _state: &[f64]) -> bool {
        true
    }

    /// Returns the index of the contact that a guard belongs to.
    fn contact_of(&self, _mode: &Mode, guard: usize) -> usize {
        guard
    }
}
