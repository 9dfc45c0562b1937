//! Events of a run.

use crate::hybrid;
use carom_contact::ImpactOutcome;
use carom_metric::Covector;
use carom_variational::generalized::ContactMode;
use nalgebra::DVector;

/// State of a mechanical system in generalized coordinates: time, configuration and momentum.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct State {
    /// Time of the state (s).
    pub time: f64,
    /// Configuration $q$, one entry per coordinate.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub configuration: DVector<f64>,
    /// Discrete momentum $p$, one entry per coordinate.
    pub momentum: Covector,
}

impl State {
    /// Creates the state at a time (s) from the configuration and the discrete momentum, one entry per coordinate each.
    pub fn new(time: f64, configuration: DVector<f64>, momentum: Covector) -> Self {
        Self {
            time,
            configuration,
            momentum,
        }
    }
}

/// Energy balance of a mechanical system since the start of a run: work of forces, losses of impacts and of lasting contacts.
/// The change of kinetic plus potential energy equals `force_work` − `impact_loss` − `contact_loss`, up to the discretization
/// error, which is of order two.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Balance {
    /// Energy dissipated by impacts (J).
    pub impact_loss: f64,
    /// Energy dissipated by the friction of lasting contacts (J). The work of their normal impulses, which vanishes with the
    /// step length, is a part of the discretization error.
    pub contact_loss: f64,
    /// Work of the forces without a potential, such as dampers and actuators, on the system (J): force
    /// times displacement of every step, $\sum hf\cdot w$ at the midpoint of the step.
    pub force_work: f64,
    /// Energy dissipated by dampers (J), which `force_work` contains with the opposite sign.
    pub damper_loss: f64,
}

/// Impulses of one lasting contact in a time step. If the contact was established within the step, the impulses are counted
/// from that time on.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reaction {
    /// Index of the contact.
    pub contact: usize,
    /// Friction mode of the contact at the end of the step.
    pub mode: ContactMode,
    /// Normal impulse (N·s for a gap in meters), along the gradient of the gap.
    pub normal_impulse: f64,
    /// Tangential impulse, along the gradient of the slide coordinate.
    pub tangential_impulse: f64,
}

/// Impact of a mechanical system in generalized coordinates, at one or several contacts at the same time: momenta before and
/// after, and outcome of the impact law.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Impact {
    /// Time $t_\ast$ of the impact (s).
    pub time: f64,
    /// Closed contacts of the impact problem, in ascending order; `outcome` numbers them by
    /// their position in this list.
    pub contacts: Vec<usize>,
    /// Normal and tangential impulse of each of these contacts (N s for gaps in meters); 0 where no friction can act.
    pub impulses: Vec<[f64; 2]>,
    /// Configuration $q_\ast$ at the impact, one entry per coordinate.
    pub configuration: DVector<f64>,
    /// Discrete momentum before the impact, one entry per coordinate.
    pub momentum_minus: Covector,
    /// Discrete momentum after the impact, from which the motion continues; one entry per coordinate.
    pub momentum_plus: Covector,
    /// Audited outcome of the impact law.
    pub outcome: ImpactOutcome,
    /// Energy balance since the start of the run, this impact included.
    pub balance: Balance,
    /// True if the impact was made plastic because the impacts of a contact accumulate.
    pub accumulated: bool,
    /// Contacts that become lasting in the event.
    pub established: Vec<usize>,
    /// Lasting contacts that end in the event.
    pub released: Vec<usize>,
    /// Largest distance between the outcomes of different orders of elastic impacts, divided by the momentum before,
    /// $\xi$. If there are too many orders, random ones are used, and the value is a lower bound. `None` for one contact or
    /// a jammed set of contacts.
    pub indeterminacy: Option<f64>,
    /// Change of the outcome, divided by the momentum before, if the contacts within ten times the tolerance took part, too.
    /// `None` if no contact is so close, or the law has no solution with them. If the value is not small, the event is fragile:
    /// its outcome depends on the contacts that count as simultaneous.
    pub fragility: Option<f64>,
}

impl Impact {
    /// Returns the contacts in the order in which they were hit, if the impact law resolves this impact as a sequence of
    /// impacts at single contacts; `None` for other laws. A contact is given by its index in the system.
    pub fn sequence(&self) -> Option<Vec<usize>> {
        let carom_contact::Diagnostics::Propagative(diagnostics) = &self.outcome.diagnostics else {
            return None;
        };
        let sequence = diagnostics.sequence.as_ref()?;
        let name = |place: &usize| self.contacts.get(*place).copied();
        sequence.iter().map(name).collect()
    }
}

/// State of a mechanical system at one point of the time grid of a run, with its lasting contacts and energy balance.
#[derive(Clone, Copy, Debug)]
pub struct Grid<'e> {
    /// Number of steps since the start.
    pub step: usize,
    /// State of the system at that step.
    pub state: &'e State,
    /// Impulses of the lasting contacts in the step that ends there.
    pub reactions: &'e [Reaction],
    /// Energy balance since the start of the run, up to that step.
    pub balance: Balance,
}

/// Event that a run of a mechanical system reports: state at a grid time, impact, or begin and end of a lasting contact. A
/// contact is given by its index in the system. The friction modes of lasting contacts are found in the reactions of every
/// [`Grid`].
pub type Event<'e> = hybrid::Event<'e, Grid<'e>, Impact, usize>;
