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
    let feasible = |subsequence: u32| {
        let mut b = Numbers::from_slice(problem.unit_velocity());
        let mut grazing = Numbers::from_slice(problem.grazing());
        let mut momentum = Numbers::from_slice(problem.momentum());
        for (k, &i) in sequence.iter().enumerate() {
            if subsequence >> k & 1 == 1 {
                reflect(problem.contacts(), &mut momentum, &mut b, &mut grazing, i);
            }
        }
        b.iter().zip(&grazing).all(|(b, grazing)| *b >= -grazing)
    };
    let whole = (1u32 << impacts) - 1;
    Ok(feasible(whole) && !(0..whole).any(feasible))
}
