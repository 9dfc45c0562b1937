//! Too many orders of impact to follow: what random ones say.

use super::Random;
use crate::support::common::{chain, details, plus, sequence};
use carom_contact::OutcomeSet;
use carom_impact::Propagative;
use carom_impact::internal::MAX_OUTCOMES;

/// Balls on a line of masses 1 and `heavy` in turn, the first and the last one running inwards.
fn squeezed(n: usize, heavy: f64) -> (Vec<f64>, Vec<f64>) {
    let masses = (0..n)
        .map(|i| if i % 2 == 0 { 1.0 } else { heavy })
        .collect();
    let mut velocity = vec![0.0; n];
    (velocity[0], velocity[n - 1]) = (1.0, -1.0);
    (masses, velocity)
}

fn sampled(masses: &[f64], velocity: &[f64], orders: u64, seed: u64) -> OutcomeSet {
    let law = Propagative::default().with_samples(orders).with_seed(seed);
    chain(masses).pose(velocity, |problem| law.sample(problem).unwrap())
}

/// Two balls exchange momentum elastically.
fn collide(masses: &[f64], v: &mut [f64], i: usize) {
    let (a, b) = (masses[i], masses[i + 1]);
    let center = (a * v[i] + b * v[i + 1]) / (a + b);
    (v[i], v[i + 1]) = (2.0 * center - v[i], 2.0 * center - v[i + 1]);
}

fn distance(masses: &[f64], a: &[f64], b: &[f64]) -> f64 {
    let terms = masses.iter().zip(a).zip(b);
    terms
        .map(|((m, a), b)| m * (a - b) * (a - b))
        .sum::<f64>()
        .sqrt()
}

/// The spread of random orders, written from scratch.
fn reference_spread(masses: &[f64], velocity: &[f64], orders: usize) -> f64 {
    let mut random = Random(5);
    let mut ends: Vec<Vec<f64>> = Vec::new();
    for _ in 0..orders {
        let mut v = velocity.to_vec();
        loop {
            let closing: Vec<usize> = (0..v.len() - 1)
                .filter(|&i| v[i] - v[i + 1] > 1e-11)
                .collect();
            if closing.is_empty() {
                break;
            }
            collide(masses, &mut v, closing[random.below(closing.len())]);
        }
        ends.push(v);
    }
    let norm = distance(masses, velocity, &vec![0.0; velocity.len()]);
    let mut spread = 0.0;
    for (i, a) in ends.iter().enumerate() {
        for b in &ends[i + 1..] {
            spread = f64::max(spread, distance(masses, a, b));
        }
    }
    spread / norm
}

#[test]
fn drawn_orders_replay_and_spread_as_far_as_others() {
    for (n, heavy) in [(7, 3.0), (10, 2.0)] {
        let (masses, velocity) = squeezed(n, heavy);
        let set = sampled(&masses, &velocity, 2000, 0);
        assert!(!set.complete && set.preferred.is_some());
        for outcome in &set.outcomes {
            let mut v = velocity.clone();
            for &i in sequence(outcome) {
                assert!(v[i] > v[i + 1], "contact {i} does not approach");
                collide(&masses, &mut v, i);
            }
            assert!(distance(&masses, &v, plus(outcome)) < 1e-9);
        }
        let norm = distance(&masses, &velocity, &vec![0.0; n]);
        let mut spread = 0.0;
        for (i, a) in set.outcomes.iter().enumerate() {
            for b in &set.outcomes[i + 1..] {
                spread = f64::max(spread, distance(&masses, plus(a), plus(b)));
            }
        }
        assert!((set.indeterminacy - spread / norm).abs() < 1e-12);
        let reference = reference_spread(&masses, &velocity, 2000);
        assert!(
            set.indeterminacy >= 0.85 * reference,
            "{n}: {} of {reference}",
            set.indeterminacy
        );
    }
}

#[test]
fn all_orders_of_a_long_chain_are_answered_in_part() {
    let (masses, velocity) = squeezed(12, 2.0);
    let law = Propagative::default()
        .with_max_nodes(2000)
        .with_samples(300)
        .with_seed(1);
    let set = chain(&masses).try_all(&law, &velocity).unwrap();
    let drawn = set.drawn.unwrap();
    assert!(!set.complete && drawn.orders == 300);
    assert!(set.indeterminacy > 0.5, "{}", set.indeterminacy);
    assert!((0.0..=1.0).contains(&drawn.new_outcome_rate));
    assert!(drawn.new_outcome_rate > 0.1, "{drawn:?}");
    assert!(set.outcomes.len() <= MAX_OUTCOMES);
    // The preferred outcome is the one that the law gives alone.
    let alone = chain(&masses).resolve(&law, &velocity);
    let preferred = &set.outcomes[set.preferred.unwrap()];
    assert!(distance(&masses, plus(&alone), plus(preferred)) < 1e-9);
}

#[test]
fn the_same_seed_draws_the_same_orders() {
    let (masses, velocity) = squeezed(9, 3.0);
    let set = sampled(&masses, &velocity, 200, 7);
    assert_eq!(set, sampled(&masses, &velocity, 200, 7));
    assert_ne!(set.outcomes, sampled(&masses, &velocity, 200, 8).outcomes);
}

#[test]
fn drawing_meets_nothing_but_what_all_orders_give() {
    let (masses, velocity) = squeezed(5, 3.0);
    let all = chain(&masses).all(&velocity);
    assert!(all.complete && all.drawn.is_none());
    let drawn = sampled(&masses, &velocity, 2000, 3);
    let counts = drawn.outcomes.iter().map(|o| details(o).n_sequences);
    assert_eq!(counts.sum::<u64>(), 2000);
    assert_eq!(drawn.outcomes.len(), all.outcomes.len());
    assert!((drawn.indeterminacy - all.indeterminacy).abs() < 1e-12);
    for outcome in &drawn.outcomes {
        let is_same = |other| distance(&masses, plus(outcome), plus(other)) < 1e-7;
        assert!(all.outcomes.iter().any(is_same));
    }
}
