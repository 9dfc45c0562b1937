//! One chain of elementary impacts, computed impact by impact.

use super::selection::Selector;
use super::{DEFAULT_MAX_IMPACTS, Elastic, Propagative, SEQUENCE_LIMIT};
use carom_contact::internal::{GRAZING_TOLERANCE, MomentumChange, dot_and_size};
use carom_contact::{ContactIndex, ContactSet, ImpactError, ImpactProblem, Numbers, UnitRow};
use carom_metric::kernel;
use smallvec::smallvec;

/// Number of impacts after which the contacts are tested for jamming: a jammed set never comes to rest.
const SUSPICION: u64 = 256;

/// Computes the elastic outcome of one sequence of single impacts. The momentum is reflected at one contact after the
/// other until no contact approaches (Seghete & Murphey, Eqs. 4-9); the selection rule of `law` picks the next contact.
///
/// The state is the whitened momentum, not the contact velocities. For two nearly opposite normals, an error in the
/// velocities corresponds to an error in the momentum that is larger by $1/\gamma$ ($\gamma$ is the half angle of the
/// wedge). This error would occur at every impact of a chain whose length is also about $1/\gamma$.
pub(super) fn follow(problem: &ImpactProblem, law: &Propagative) -> Result<Elastic, ImpactError> {
    let contacts = problem.contacts();
    let limit = law.max_impacts.unwrap_or(DEFAULT_MAX_IMPACTS);
    let mut selector = Selector::new(&law.selection, contacts);
    let mut b = Numbers::from_slice(problem.unit_velocity());
    let mut grazing = Numbers::from_slice(problem.grazing());
    let mut momentum = Numbers::from_slice(problem.momentum());
    let mut impulse: Numbers = smallvec![0.0; b.len()];
    let mut sequence = Vec::with_capacity(8);
    let mut impacts = 0;
    while let Some(i) = selector.next(&b, &grazing) {
        if impacts >= SUSPICION.min(limit) && impacts % SUSPICION == 0 || impacts == limit {
            refuse_jam(problem, &b, &grazing)?;
        }
        if impacts == limit {
            return Err(ImpactError::too_many_impacts(impacts));
        }
        impulse[i.index()] += reflect(contacts, &mut momentum, &mut b, &mut grazing, i);
        impacts += 1;
        if impacts <= SEQUENCE_LIMIT {
            sequence.push(i);
        }
    }
    kernel::add_scaled(&mut momentum, -1.0, problem.momentum());
    Ok(Elastic {
        momentum_change: MomentumChange::elastic(problem, impulse, momentum),
        sequence: (impacts <= SEQUENCE_LIMIT).then_some(sequence),
        impacts,
        n_sequences: 1,
        lengths: Vec::new(),
    })
}

/// Makes one elastic impact at the contact with the distinct normal `i` and returns the impulse on the unit normal.
/// Updates the whitened `momentum` (in coordinates with a Euclidean kinetic metric), the normal velocities `b` and the
/// grazing thresholds `grazing` (speeds up to which an approach counts as rounding). A normal velocity is a sum of
/// products of coordinates. The threshold of this velocity is proportional to the largest sum of the absolute values of
/// these products so far in the sequence of impacts.
#[inline]
pub(super) fn reflect(
    contacts: &ContactSet,
    momentum: &mut [f64],
    b: &mut [f64],
    grazing: &mut [f64],
    i: UnitRow,
) -> f64 {
    let lambda = -2.0 * b[i.index()];
    kernel::add_scaled(momentum, lambda, contacts.unit(i));
    for (j, (b, grazing)) in contacts.unit_rows().zip(b.iter_mut().zip(grazing)) {
        let (velocity, size) = dot_and_size(contacts.unit(j), momentum);
        *b = if j == i { -*b } else { velocity };
        *grazing = f64::max(*grazing, GRAZING_TOLERANCE * size);
    }
    lambda
}

/// Returns an error if the contacts jam each other (their impulses can balance each other) and one of them approaches. `b`:
/// normal velocities; `grazing`: speeds up to which an approach counts as rounding.
pub(super) fn refuse_jam(
    problem: &ImpactProblem,
    b: &[f64],
    grazing: &[f64],
) -> Result<(), ImpactError> {
    let contacts = problem.contacts();
    let jammed = contacts.margin()?.jammed();
    let approaches = |i: &usize| {
        let j = contacts.place(ContactIndex::new(*i)).index();
        b[j] < -grazing[j]
    };
    if jammed.iter().any(approaches) {
        return Err(ImpactError::NoElasticOutcome { jammed });
    }
    Ok(())
}
