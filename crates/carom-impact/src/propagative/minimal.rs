//! Test of whether a sequence of impacts is minimal, by the definition.

use super::chain::reflect;
use carom_contact::{ContactIndex, ImpactError, ImpactProblem, Limit, Numbers, UnitRow};

/// Largest number of impacts in a sequence whose minimality is tested: 16, with $2^{16}$ subsequences.
pub(super) const MINIMALITY_LIMIT: usize = 16;

/// True if a sequence of single impacts, given by their contact indices, is minimal for a problem (Seghete & Murphey,
/// Definition 1).
///
/// A sequence is minimal if reflecting the momentum at each contact in turn, approaching or not, gives a feasible
/// momentum and no proper subsequence does.
///
/// # Errors
///
/// [`ImpactError::Limit`] beyond 16 impacts,
/// [`ImpactError::InvalidContact`] for an index out of range.
pub fn is_minimal(problem: &ImpactProblem, sequence: &[usize]) -> Result<bool, ImpactError> {
    let problem = problem.event();
    let contacts = problem.contacts();
    if let Some(&contact) = sequence.iter().find(|&&i| i >= contacts.len()) {
        let (what, contacts) = ("sequence", contacts.len());
        return Err(ImpactError::InvalidContact {
            what,
            contact,
            contacts,
        });
    }
    let places: Vec<UnitRow> = sequence
        .iter()
        .map(|&i| contacts.place(ContactIndex::new(i)))
        .collect();
    places_are_minimal(problem, &places)
}

/// True if a sequence of single impacts at distinct normals is minimal: no proper subsequence leads to a momentum with
/// which no contact approaches.
pub(super) fn places_are_minimal(
    problem: &ImpactProblem,
    sequence: &[UnitRow],
) -> Result<bool, ImpactError> {
    let impacts = sequence.len();
    if impacts > MINIMALITY_LIMIT {
        return Err(ImpactError::Limit {
            limit: Limit::Minimality,
            at: MINIMALITY_LIMIT as u64,
            raise: None,
        });
    }
    let start = Reached {
        b: Numbers::from_slice(problem.unit_velocity()),
        grazing: Numbers::from_slice(problem.grazing()),
        momentum: Numbers::from_slice(problem.momentum()),
    };
    let mut whole = start.clone();
    for &i in sequence {
        whole.reflect(problem, i);
    }
    Ok(whole.is_feasible() && !start.leads_out(problem, sequence, false))
}

/// Momentum that a part of a sequence has reached, with unit velocities and their rounding.
#[derive(Clone)]
struct Reached {
    b: Numbers,
    grazing: Numbers,
    momentum: Numbers,
}

impl Reached {
    fn reflect(&mut self, problem: &ImpactProblem, i: UnitRow) {
        let Self {
            b,
            grazing,
            momentum,
        } = self;
        reflect(problem.contacts(), momentum, b, grazing, i);
    }

    fn is_feasible(&self) -> bool {
        let mut all = self.b.iter().zip(&self.grazing);
        all.all(|(b, grazing)| *b >= -grazing)
    }

    /// True if some of the impacts `left`, in their order, lead to a feasible momentum; all of them count only if one was left out
    /// before.
    fn leads_out(&self, problem: &ImpactProblem, left: &[UnitRow], is_proper: bool) -> bool {
        let Some((&i, left)) = left.split_first() else {
            return is_proper && self.is_feasible();
        };
        let mut next = self.clone();
        next.reflect(problem, i);
        self.leads_out(problem, left, true) || next.leads_out(problem, left, is_proper)
    }
}
