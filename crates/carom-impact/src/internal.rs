//! No promise of stability: items that other crates of the workspace use, not users. They change without notice.

pub use crate::frictional::canonical::ContactOrder;
pub use crate::frictional::choice::SampleChoice;
pub use crate::frictional::impact_stepper::{ImpactStepper, Step};
pub use crate::frictional::planar_contact::outcomes as planar_outcomes;
pub use crate::frictional::polygon::directions;
pub use crate::frictional::probe::ambiguous_steps;
pub use crate::frictional::sampler::{Draw, RecordedStep};
pub use crate::frictional::sequential::{InOrder, PATIENCE as CYCLES_OF_PATIENCE, SingleImpacts};
pub use crate::frictional::set_valued::{CAP_OFF, COVERING_SPREAD, DEFAULT_SAMPLING_WORK};
pub use crate::frictional::space::ContactSpace;
pub use crate::frictional::stepper::StepWorkspace;
pub use crate::nonholonomic::PATIENCE as IMPACTS_OF_PATIENCE;
pub use crate::plastic::{meeting, plastic_change};
pub use crate::propagative::minimal::is_minimal;
pub use crate::propagative::selection::{by_priority, least_approaching, most_approaching};
pub use crate::propagative::unfold::{TwoContacts, Unfolding};
pub use crate::propagative::{MAX_OUTCOMES, SEQUENCE_LIMIT};
pub use crate::routh::contact_space;
