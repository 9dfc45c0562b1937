//! Agreement with an independent brute-force integration.

use super::oracle::Oracle;
use super::random::{Random, impacts, solve};
use carom_two_body::{ImpactOptions, Recompression, RestitutionLaw};
use std::collections::BTreeMap;

/// The oracle's Runge-Kutta steps of 0.002 over the flow's rate leave 1e-11 of the velocity;
/// ill-conditioned inertia multiplies it.
fn compare(count: u64, law: RestitutionLaw, recompression: Recompression) -> BTreeMap<String, u32> {
    let mut seen = BTreeMap::new();
    let options = ImpactOptions::default()
        .with_restitution_law(law)
        .with_recompression(recompression);
    for Random {
        w,
        v,
        mu,
        e,
        number,
    } in impacts(count)
    {
        let found = solve(&w, &v, mu, e, &options);
        let oracle = Oracle {
            w: w.matrix(),
            mu,
            e,
            law,
            recompression,
        };
        let (impulse, letters) = oracle.solve(&v, 2e-3);
        let gap = (found.impulse - impulse).amax() / impulse.amax();
        let sequence = found.events.sequence();
        assert!(
            gap <= 1e-9 && sequence == letters,
            "{number}: {sequence} {letters} off by {gap:e}: {w:?} {v:?} {mu} {e} {:?} {impulse:?}",
            found.impulse
        );
        *seen.entry(sequence).or_insert(0) += 1;
    }
    seen
}

#[test]
fn random_impacts_agree_with_brute_force() {
    let seen = compare(
        180,
        RestitutionLaw::Energetic,
        Recompression::EachCompression,
    );
    for (sequence, least) in [("cr", 50), ("scr", 20), ("csr", 5), ("cksCr", 1)] {
        let count = seen.get(sequence).copied().unwrap_or(0);
        assert!(count >= least, "{sequence}: {count} of {seen:?}");
    }
}

#[test]
fn the_other_laws_agree_with_brute_force() {
    compare(60, RestitutionLaw::Energetic, Recompression::Single);
    compare(60, RestitutionLaw::Newton, Recompression::EachCompression);
    compare(60, RestitutionLaw::Poisson, Recompression::EachCompression);
}
