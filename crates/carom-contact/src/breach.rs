//! Rules of the gate, and the violation of one.

use std::fmt;

/// Check that an answer of a law must pass to be accepted as an outcome of the impact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GateRule {
    /// All numbers are finite.
    Finite,
    /// The impulses add up to the change of momentum.
    Momentum,
    /// No contact approaches after the impact.
    Approach,
    /// Constraints are satisfied after the impact.
    Constraint,
    /// No contact pulls.
    Pull,
    /// Friction impulses lie in their cones.
    Friction,
    /// No energy is gained.
    Energy,
    /// Contacts that push end with the velocity that the law prescribes.
    Velocity,
    /// Huge impulses that cancel do not hide a velocity that breaks another rule.
    Cancellation,
}

impl fmt::Display for GateRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Finite => "a number is not finite",
            Self::Momentum => "the impulses do not explain the change of momentum",
            Self::Approach => "a contact still approaches",
            Self::Constraint => "a constraint is violated",
            Self::Pull => "a contact pulls",
            Self::Friction => "friction leaves its cone",
            Self::Energy => "energy is gained",
            Self::Velocity => "a pushing contact misses the velocity that the law asks for",
            Self::Cancellation => {
                "huge impulses that cancel hide whether contacts approach or do what the law asks for \
                 (where a law has no answer they look like that; try another law)"
            }
        })
    }
}

/// Failed check of a law's answer: the rule that the answer violates, the size of the violation, and the contacts that
/// violate it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Breach {
    /// The rule with the largest violation.
    pub rule: GateRule,
    /// Size of the violation, as a fraction of the scale of the rule.
    pub measure: f64,
    /// Contacts that approach after the impact, pull, or leave their friction cone.
    pub contacts: Vec<usize>,
    /// True if only rules 3 and 4 are broken, and only at contacts.
    pub is_feasibility: bool,
}

impl Breach {
    pub(crate) fn of(rule: GateRule, measure: f64) -> Self {
        Self {
            rule,
            measure,
            contacts: Vec::new(),
            is_feasibility: false,
        }
    }

    pub(crate) fn join(&mut self, other: Self) {
        self.is_feasibility &= other.is_feasibility;
        self.contacts.extend(other.contacts);
        if !(self.measure >= other.measure) {
            self.rule = other.rule;
            self.measure = other.measure;
        }
    }
}
