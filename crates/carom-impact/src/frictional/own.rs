//! Residual of frictional contacts, each relative to the rounding scale of its rows.

use super::space::ContactSpace;
use crate::tolerances::EQUAL;
use carom_contact::internal::{divisor, worst};
use carom_contact::{ContactSet, Numbers};
use carom_metric::kernel;
use smallvec::smallvec;

/// Factor between the error of a sliding direction and the relative error of the sliding velocity.
const DIRECTION: f64 = 10.0;

/// Returns the largest residual of the contact conditions over all contacts, for round friction cones. `after` are the
/// scaled velocities of the contact rows of unit kinetic length (unit rows) after the impact and `impulse` the scaled
/// impulses on these rows. `terms` are their rounding scales $S$ (sizes of the summed terms).
///
/// With $u$ the velocities after the impact minus those that the law prescribes, the residual of a contact is the largest of
///
/// - $|\min(\lambda_n, u_n)|/S_n$: the contact is closed or open without approach, and does not pull;
/// - $(\lVert\lambda_t\rVert - \mu\lambda_n)/S_t$: friction stays in its cone;
/// - the smaller of two numbers. One is $\lVert u_t\rVert/S_t$, zero for sticking. The other is the difference of the
///   friction impulse from $\mu\lambda_n$ against the sliding velocity, relative to its magnitude and divided by
///   $1 + 10S_t/\lVert u_t\rVert$; it is zero for sliding.
pub(super) fn own_residual(
    space: &ContactSpace,
    contacts: &ContactSet,
    after: &[f64],
    impulse: &[f64],
    terms: &[f64],
) -> f64 {
    let (width, n_slots) = (space.width(), space.n_slots());
    let mut u: Numbers = smallvec![0.0; n_slots];
    let (mut l, mut s) = (u.clone(), u.clone());
    for (slot, row, factor) in space.rows_of_slots(contacts) {
        if factor != 0.0 {
            let slot = slot.index();
            u[slot] = after[row.index()] * factor;
            l[slot] = impulse[row.index()] / factor;
            s[slot] = terms[row.index()] * factor.abs();
        }
    }
    let of = |contact: usize| {
        let normal = contact * width;
        let tangents = normal + 1..normal + width;
        let missed = l[normal].min(u[normal]).abs() / divisor(s[normal]);
        let friction = space.friction[contact];
        if friction == 0.0 {
            return missed;
        }
        let mobility = tangents.clone().map(|slot| space.gram[(slot, slot)]);
        let mobility = mobility.fold(0.0, f64::max);
        let terms = kernel::max_abs(&s[tangents.clone()]);
        let (drag, slip) = (
            kernel::norm(&l[tangents.clone()]),
            kernel::norm(&u[tangents.clone()]),
        );
        let limit = friction * l[normal].max(0.0);
        let excess = ((drag - limit) * mobility / divisor(terms)).max(0.0);
        let is_rounding = l[normal] <= EQUAL * s[normal] && drag * mobility <= EQUAL * terms;
        if slip == 0.0 || is_rounding {
            return worst([missed, excess].into_iter());
        }
        let astray = tangents.fold(0.0f64, |sum, slot| {
            libm::hypot(sum, l[slot] + limit * (u[slot] / slip))
        });
        let astray = astray / divisor(limit.max(drag)) / (1.0 + DIRECTION * terms / slip);
        let sliding = if slip / divisor(terms) <= astray {
            slip / divisor(terms)
        } else {
            astray
        };
        worst([missed, excess, sliding].into_iter())
    };
    worst((0..space.n_contacts).map(of))
}
