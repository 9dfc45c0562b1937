//! Events of a run.

use crate::hybrid;
use carom_contact::ImpactOutcome;
use carom_metric::Covector;
use carom_variational::generalized::ContactMode;
use nalgebra::DVector;

/// State of a system in phase space.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Time (s).
    pub time: f64,
    /// Configuration $q$ (n).
    pub configuration: DVector<f64>,
    /// Discrete momentum $p$ (n).
    pub momentum: Covector,
}

/// Energy balance since the start of a run: kinetic and potential energy less those at the start are
/// `force_work` − `impact_loss` − `contact_loss`, but for the error of the steps, of order two.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Balance {
    /// Energy that impacts took (J).
    pub impact_loss: f64,
    /// Energy that the friction of lasting contacts took (J). The work of their normal impulses, which vanishes with the
    /// step, is a part of the steps' error.
    pub contact_loss: f64,
    /// Work of the forces without a potential, such as dampers and actuators, on the system (J): force
    /// times displacement of every step, $\sum hf\cdot w$ at its midpoint.
    pub force_work: f64,
}

/// The impulses of a lasting contact in the part of a step since it was established.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reaction {
    /// Index of the contact.
    pub contact: usize,
    /// Mode of its friction at the end of the step.
    pub mode: ContactMode,
    /// Normal impulse (N·s for a gap in meters), along the gradient of the gap.
    pub normal_impulse: f64,
    /// Tangential impulse, along the gradient of the slide.
    pub tangential_impulse: f64,
}

/// An impact: one event, of one or several contacts.
#[derive(Clone, Debug, PartialEq)]
pub struct Impact {
    /// Time $t_\ast$ (s).
    pub time: f64,
    /// The closed contacts on which the impact was posed, ascending; `outcome` numbers them by
    /// their place in this list.
    pub contacts: Vec<usize>,
    /// Configuration $q_\ast$ (n).
    pub configuration: DVector<f64>,
    /// Discrete momentum before (n).
    pub momentum_minus: Covector,
    /// Momentum after (n), from which the motion goes on.
    pub momentum_plus: Covector,
    /// Answer of the law, audited.
    pub outcome: ImpactOutcome,
    /// Energy balance after the impact.
    pub balance: Balance,
    /// True if the event was made plastic because the impacts of a contact accumulate.
    pub accumulated: bool,
    /// Contacts that last after the event and did not before.
    pub established: Vec<usize>,
    /// Contacts that lasted before the event and do not any more.
    pub released: Vec<usize>,
    /// Distance of the outcomes of different orders of elastic impacts over the momentum before,
    /// $\xi$; of drawn orders, and a lower bound, where there are too many; `None` for one contact or
    /// jammed ones.
    pub indeterminacy: Option<f64>,
    /// Change of the outcome, over the momentum before, if the contacts within ten times
    /// the tolerance took part too; `None` if no contact is so close, or the law has no answer with them. A
    /// fragile event is one where this is not small: its outcome depends on what counts as
    /// simultaneous.
    pub fragility: Option<f64>,
}

impl Impact {
    /// Contacts in the order of the elementary impacts, if the law made a chain of them.
    pub fn sequence(&self) -> Option<Vec<usize>> {
        let carom_contact::Diagnostics::Propagative(diagnostics) = &self.outcome.diagnostics else {
            return None;
        };
        let sequence = diagnostics.sequence.as_ref()?;
        let name = |place: &usize| self.contacts.get(*place).copied();
        sequence.iter().map(name).collect()
    }
}

/// A point of the grid of time.
#[derive(Clone, Copy, Debug)]
pub struct Grid<'e> {
    /// Steps since the start.
    pub step: usize,
    /// State there.
    pub state: &'e State,
    /// Contacts that last there.
    pub reactions: &'e [Reaction],
    /// Energy balance until then.
    pub balance: Balance,
}

/// Something that happens during a run; contacts are named by their indices. The modes of lasting
/// contacts stand in the reactions of every [`Grid`].
pub type Event<'e> = hybrid::Event<'e, Grid<'e>, Impact, usize>;
