//! Contacts that are struck in turn.

use crate::support::problems::problem;
use crate::support::random::Random;
use carom_contact::ImpactLaw;
use carom_impact::frictional::Sequential;

/// The directions of sliding turn with every impact. A change of the velocity by 1e-15 of itself moved v+ by 1e-5 of the motion.
#[test]
fn impacts_in_turn_that_amplify_rounding_are_refused() {
    let posed = problem(&mut Random(95_012 << 32 | 2155));
    let answer = posed.pose(|problem| Sequential::default().resolve(problem));
    let error = answer.unwrap_err();
    assert_eq!(error.kind(), "sensitive-to-rounding", "{error}");
}
