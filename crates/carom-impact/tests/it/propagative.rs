//! Golden tests of the propagative law: closed forms and numbers of the paper and of an
//! independent implementation.

use crate::support::common::*;
use carom_contact::{
    Contact, ContactSet, ImpactError, ImpactLaw, ImpactProblem, ImpactStatus, SetValuedLaw,
};
use carom_impact::internal::{TwoContacts, is_minimal};
use carom_impact::{
    EnergeticRestitution, Limit, Propagative, Selection, SequenceFilter, uniqueness,
};
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::{DMatrix, DVector, dmatrix};
use std::f64::consts::{FRAC_PI_2, PI};

fn with_restitution(r: f64) -> Propagative {
    let restitution = EnergeticRestitution::new(r).unwrap();
    Propagative::default().with_restitution(restitution)
}

fn with_selection(selection: Selection) -> Propagative {
    Propagative::default().with_selection(selection)
}

fn minimal() -> Propagative {
    Propagative::default().with_filter(SequenceFilter::Minimal)
}

fn relative_loss(outcome: &carom_contact::ImpactOutcome) -> f64 {
    -outcome.audit.energy_change_j() / outcome.audit.energy_minus_j
}

// A general mass matrix.

#[test]
fn a_general_mass_matrix_has_two_outcomes_in_momenta() {
    let mass = dmatrix![2.0, 0.3, 0.0; 0.3, 1.5, -0.2; 0.0, -0.2, 1.0];
    let system = System::new(mass, vec![vec![1.0, -1.0, 0.5], vec![0.0, 1.0, 2.0]]);
    let (u, v) = (&system.normals[0], &system.normals[1]);
    let p = Covector::from_slice(&[-0.7, 0.4, -0.9]);
    let inner = |a, b| system.metric.inner(a, b).unwrap();
    assert_close(inner(u, v), -0.03886925795053, 1e-12, "<u,v>");
    assert_close(inner(u, u), 1.52915194346290, 1e-12, "<u,u>");
    assert_close(inner(v, v), 5.385159010600707, 1e-12, "<v,v>");
    assert_close(
        system.contacts().cosines()[(0, 1)],
        -0.013545082774994,
        1e-12,
        "cosine",
    );

    let reflected = system.metric.reflect(&p, u).unwrap();
    let expected = [0.661756210283073, -0.961756210283074, -0.219121894858463];
    assert_all_close(reflected.0.as_slice(), &expected, 1e-12, "p Gamma(u)");
    let expected = dmatrix![
        0.2004621606008088, 0.7995378393991912, -0.3997689196995956;
        0.9705372616984405, 0.029462738301559543, 0.48526863084922023;
        -0.4598497978047372, 0.4598497978047372, 0.7700751010976314];
    let map = system.metric.reset_map(u).unwrap();
    assert_all_close(map.as_slice(), expected.as_slice(), 1e-12, "Gamma(u)");

    let set = system.all(&system.velocity(p.0.as_slice()));
    assert_eq!(set.outcomes.len(), 2);
    for outcome in &set.outcomes {
        assert_elastic(outcome);
        let expected = match sequence(outcome) {
            [0, 1] => [0.66175621028307, -0.39301694740497, 0.91835663089774],
            [1, 0] => [0.68967022536394, -0.44058886053455, 0.89299784234076],
            other => panic!("unexpected sequence {other:?}"),
        };
        assert_all_close(&system.momentum(outcome), &expected, 1e-12, "outcome");
    }
}

// Balls on a line.

/// Seghete & Murphey, Example 1, Eq. (15): the outcome reverses the velocities.
#[test]
fn equal_mass_cradle_passes_the_momentum_on() {
    let outcome = chain(&[1.0; 3]).resolve(&Propagative::default(), &[1.0, 0.0, 0.0]);
    assert_eq!(sequence(&outcome), [0, 1]);
    assert_all_close(plus(&outcome), &[0.0, 0.0, 1.0], 1e-15, "velocity");
    assert_elastic(&outcome);
}

#[test]
fn three_balls_that_all_approach_reverse_in_three_impacts_in_either_order() {
    let set = chain(&[1.0; 3]).all(&[3.0, 2.0, 1.0]);
    assert_eq!(set.outcomes.len(), 1);
    let outcome = &set.outcomes[0];
    assert_all_close(plus(outcome), &[1.0, 2.0, 3.0], 1e-14, "velocity");
    assert_eq!(details(outcome).lengths, [3]);
    assert_eq!(details(outcome).n_sequences, 2);
    assert!(set.indeterminacy < 1e-14 && set.complete);
}

/// Seghete & Murphey, Fig. 2: the loss of the cradle does not depend on the speed.
#[test]
fn cradle_loses_two_thirds_of_what_restitution_takes() {
    for speed in [1.0, 0.25, 10.0] {
        for (r, v_plus) in [
            (1.0, [0.0, 0.0, 1.0]),
            (0.7, [0.1, 0.1, 0.8]),
            (0.0, [1.0 / 3.0; 3]),
        ] {
            let outcome = chain(&[1.0; 3]).resolve(&with_restitution(r), &[speed, 0.0, 0.0]);
            let expected = v_plus.map(|v| v * speed);
            assert_all_close(plus(&outcome), &expected, 1e-12 * speed, "velocity");
            assert_close(
                relative_loss(&outcome),
                (1.0 - r * r) * 2.0 / 3.0,
                1e-12,
                "loss",
            );
            assert_close(details(&outcome).alpha, r, 1e-12, "alpha");
        }
    }
}

#[test]
fn a_heavy_middle_ball_makes_the_order_matter() {
    let system = chain(&[1.0, 2.0, 1.0]);
    assert_close(
        system.contacts().cosines()[(0, 1)],
        -1.0 / 3.0,
        1e-15,
        "cosine",
    );
    let set = system.all(&[1.0, 0.0, -1.0]);
    assert_eq!(set.outcomes.len(), 2);
    for outcome in &set.outcomes {
        assert_elastic(outcome);
        let expected = match sequence(outcome) {
            [0, 1, 0] => [-13.0, -10.0, 33.0],
            [1, 0, 1] => [-33.0, 10.0, 13.0],
            other => panic!("unexpected sequence {other:?}"),
        };
        assert_all_close(
            plus(outcome),
            &expected.map(|v| v / 27.0),
            1e-12,
            "velocity",
        );
    }
}

#[test]
fn a_light_middle_ball_takes_four_impacts_in_either_order() {
    let set = chain(&[1.0, 0.5, 3.0]).all(&[1.0, 0.0, -1.0]);
    assert_eq!(set.outcomes.len(), 2);
    for outcome in &set.outcomes {
        let expected = match sequence(outcome) {
            [0, 1, 0, 1] => [-5.0 / 3.0, -32.0 / 21.0, 1.0 / 7.0],
            [1, 0, 1, 0] => [-1.99319727891157, -0.21768707482993, 0.03401360544218],
            other => panic!("unexpected sequence {other:?}"),
        };
        assert_all_close(plus(outcome), &expected, 1e-11, "velocity");
    }
}

#[test]
fn a_middle_ball_of_mass_sqrt_two_less_one_makes_the_order_irrelevant() {
    let system = chain(&[1.0, 2f64.sqrt() - 1.0, 1.0]);
    let set = system.all(&[1.0, 0.0, -1.0]);
    assert_eq!(set.outcomes.len(), 1);
    assert_all_close(plus(&set.outcomes[0]), &[-1.0, 0.0, 1.0], 1e-11, "velocity");
    assert_eq!(details(&set.outcomes[0]).n_sequences, 2);
    assert_eq!(details(&set.outcomes[0]).lengths, [4]);
    let verdict = uniqueness(&system.contacts());
    assert_eq!(verdict.order_independent, Some(true));
    assert_close(verdict.pairs[0].exponent, 4.0, 1e-13, "exponent");
}

#[test]
fn a_heavy_first_ball_has_two_outcomes() {
    let set = chain(&[2.0, 1.0, 1.0]).all(&[2.0, 0.5, -0.3]);
    assert_eq!(set.outcomes.len(), 2);
    for outcome in &set.outcomes {
        let expected = match sequence(outcome) {
            [0, 1, 0] => [2.0 / 15.0, 43.0 / 30.0, 2.5],
            [1, 0, 1] => [7.0 / 15.0, 0.5, 83.0 / 30.0],
            other => panic!("unexpected sequence {other:?}"),
        };
        assert_all_close(plus(outcome), &expected, 1e-11, "velocity");
    }
}

/// Balls of equal masses at the ends: unique for middle masses $1/\cos(\pi/m) - 1$.
#[test]
fn middle_masses_that_make_three_balls_unique_are_secants_less_one() {
    for m in 3..=9 {
        let middle = 1.0 / (PI / f64::from(m)).cos() - 1.0;
        let unique = uniqueness(&chain(&[1.0, middle, 1.0]).contacts());
        assert_eq!(unique.order_independent, Some(true), "m = {m}");
        assert_close(unique.pairs[0].exponent, f64::from(m), 1e-12, "exponent");
        assert!(unique.pairs[0].worst_indeterminacy < 1e-12);
        let other = uniqueness(&chain(&[1.0, 1.01 * middle, 1.0]).contacts());
        assert_eq!(other.order_independent, Some(false), "m = {m}");
        assert!(other.pairs[0].worst_indeterminacy > 1e-3);
    }
}

#[test]
fn half_restitution_of_three_unequal_balls() {
    let outcome = chain(&[1.0, 2.0, 1.5]).resolve(&with_restitution(0.5), &[1.0, 0.2, -0.4]);
    let expected = [-0.05873015873016, 0.02698412698413, 0.53650793650794];
    assert_all_close(plus(&outcome), &expected, 1e-11, "velocity");
    assert_close(relative_loss(&outcome), 0.66919191919192, 1e-11, "loss");
    assert_close(details(&outcome).alpha, 0.5, 1e-11, "alpha");
    assert_eq!(sequence(&outcome), [0, 1, 0]);
}

#[test]
fn equal_balls_sort_their_velocities_with_one_impact_per_inversion() {
    for (n, impacts) in [(4, 4), (7, 12)] {
        let velocity: Vec<f64> = (0..n).map(|i| (3.0 * f64::from(i) + 1.0).sin()).collect();
        let mut sorted = velocity.clone();
        sorted.sort_by(f64::total_cmp);
        let system = chain(&vec![1.0; n as usize]);
        for selection in [
            Selection::MostApproaching,
            Selection::LeastApproaching,
            Selection::Priority(vec![2, 0]),
            Selection::Random(3),
        ] {
            let outcome = system.resolve(&with_selection(selection), &velocity);
            assert_all_close(plus(&outcome), &sorted, 1e-12, "velocity");
            assert_eq!(details(&outcome).impacts, impacts);
            assert_elastic(&outcome);
        }
    }
}

// Two contacts in the plane.

type WedgeRow = (f64, u64, u64, f64);

/// Counts and indeterminacies of an independent implementation that iterates.
const WEDGES: [(f64, f64, [WedgeRow; 5]); 5] = [
    (
        -0.95,
        9.892897111263826,
        [
            (-0.85, 10, 9, 0.047629561109497745),
            (-0.4, 10, 10, 0.06801016461637606),
            (0.0, 10, 10, 0.06801016461637639),
            (0.3, 10, 10, 0.06801016461637596),
            (0.95, 9, 10, 0.01587785467206702),
        ],
    ),
    (
        -0.6,
        3.387909904636574,
        [
            (-0.85, 4, 3, 0.138982181163681),
            (-0.4, 4, 3, 0.549228614082087),
            (0.0, 3, 3, 0.704),
            (0.3, 3, 4, 0.637770926723017),
            (0.95, 3, 4, 0.046360608098686),
        ],
    ),
    (
        -0.2,
        2.2940737165066176,
        [
            (-0.85, 3, 2, 0.20505479932272563),
            (-0.4, 2, 2, 0.7838367176906165),
            (0.0, 2, 2, 0.7838367176906165),
            (0.3, 2, 2, 0.7838367176906164),
            (0.95, 2, 3, 0.06845854508343677),
        ],
    ),
    (
        0.35,
        1.6291462944239345,
        [
            (-0.85, 2, 1, 0.2882477708589501),
            (-0.4, 2, 1, 1.0935543828362762),
            (0.0, 2, 2, 1.3114495796636636),
            (0.3, 1, 2, 1.249683146338617),
            (0.95, 1, 2, 0.09638102779439936),
        ],
    ),
    (
        0.9,
        1.1676326982191998,
        [
            (-0.85, 2, 1, 0.4008514388342547),
            (-0.4, 1, 1, 0.8717797887081339),
            (0.0, 1, 1, 0.8717797887081346),
            (0.3, 1, 1, 0.8717797887081349),
            (0.95, 1, 2, 0.13442687027050082),
        ],
    ),
];

#[test]
fn two_contacts_take_the_tabulated_impacts_and_differ_by_the_tabulated_amount() {
    for (c, exponent, rows) in WEDGES {
        let gamma = FRAC_PI_2 / exponent;
        let system = wedge(gamma);
        assert_close(system.contacts().cosines()[(0, 1)], c, 1e-14, "cosine");
        assert_close(
            uniqueness(&system.contacts()).pairs[0].exponent,
            exponent,
            1e-12,
            "X",
        );
        for (s, from_u, from_v, xi) in rows {
            let velocity = into_wedge(gamma, s);
            for (first, impacts) in [(0, from_u), (1, from_v)] {
                let law = with_selection(Selection::Priority(vec![first, 1 - first]));
                let outcome = system.resolve(&law, &velocity);
                assert_eq!(
                    details(&outcome).impacts,
                    impacts,
                    "c = {c}, s = {s}, {first} first"
                );
                let alternating = (0..impacts as usize).map(|k| (first + k) % 2);
                assert!(sequence(&outcome).iter().copied().eq(alternating));
                system.pose(&velocity, |problem| {
                    let unfolded = TwoContacts::new(problem).unwrap().unfold(first).unwrap();
                    assert_eq!(unfolded.impacts, impacts);
                    let end = [unfolded.angle.cos(), unfolded.angle.sin()];
                    assert_all_close(plus(&outcome), &end, 1e-12, "closed form against chain");
                });
            }
            assert_close(system.all(&velocity).indeterminacy, xi, 1e-10, "chain");
            system.pose(&velocity, |problem| {
                let unfolded = TwoContacts::new(problem).unwrap();
                assert_close(unfolded.indeterminacy(problem), xi, 1e-10, "closed form");
            });
        }
    }
}

/// The paper bounds the impacts by $\lceil\pi/\gamma\rceil = 20$ here; 10 is sharp.
#[test]
fn a_wedge_of_cosine_less_95_hundredths_never_takes_more_than_ten_impacts() {
    let gamma = 0.158780214645761;
    let system = wedge(gamma);
    let mut most = 0;
    for k in 0..720 {
        let (y, x) = (f64::from(k) * PI / 360.0 + 0.001).sin_cos();
        for outcome in &system.all(&[x, y]).outcomes {
            most = most.max(*details(outcome).lengths.last().unwrap());
        }
    }
    assert_eq!(most, 10);
}

#[test]
fn the_worst_indeterminacy_is_the_largest_over_all_directions() {
    for (c, ..) in WEDGES {
        let gamma = 0.5 * f64::acos(-c);
        let system = wedge(gamma);
        let worst = uniqueness(&system.contacts()).pairs[0].worst_indeterminacy;
        let xi = |s: f64| system.all(&into_wedge(gamma, s)).indeterminacy;
        let scanned = (-99..=99)
            .map(|k| xi(f64::from(k) / 100.0))
            .fold(0.0, f64::max);
        assert_close(scanned, worst, 1e-12, "worst indeterminacy");
    }
}

/// Ball of mass 1 between a wall and a block of mass $100^k$ count out the digits of pi.
#[test]
fn a_light_ball_between_wall_and_block_counts_the_digits_of_pi() {
    for (k, digits) in [(0, 3), (1, 31), (3, 3141), (4, 31415), (6, 3141592)] {
        let system = chain_at_wall(&[1.0, 100f64.powi(k)]);
        let outcome = system.resolve(&Propagative::default(), &[0.0, -1.0]);
        assert_eq!(details(&outcome).impacts, digits, "k = {k}");
        let gamma = 0.5 * 10f64.powi(-k).atan();
        assert_elastic_within(&outcome, 1e-15 / gamma);
        let set = system.all(&[0.0, -1.0]);
        assert_eq!((set.outcomes.len(), set.complete), (1, true));
        assert_eq!(details(&set.outcomes[0]).lengths, [digits]);
        let listed = details(&outcome).sequence.as_ref().map(|s| s.len() as u64);
        assert_eq!(listed, (digits <= 10_000).then_some(digits));
    }
}

#[test]
fn a_ball_between_wall_and_block_at_other_mass_ratios() {
    for (ratio, impacts, expected, tolerance) in [
        (7.0, 8, [0.65625, 0.96875], 1e-13),
        (1234.5, 110, [0.410956289490, 0.999931595444], 1e-11),
    ] {
        let system = chain_at_wall(&[1.0, ratio]);
        let outcome = system.resolve(&Propagative::default(), &[0.0, -1.0]);
        assert_eq!(details(&outcome).impacts, impacts);
        assert_all_close(plus(&outcome), &expected, tolerance, "velocity");
    }
}

#[test]
fn a_wedge_of_a_millionth_is_left_after_a_million_impacts_at_once() {
    let gamma = 1e-6;
    let system = wedge(gamma);
    let started = std::time::Instant::now();
    for s in [-0.7, 0.0, 0.4] {
        let set = system.all(&into_wedge(gamma, s));
        let x = FRAC_PI_2 / gamma;
        for outcome in &set.outcomes {
            assert_elastic_within(outcome, 1e-15 / gamma);
            let details = details(outcome);
            assert!(details.impacts as f64 <= x.ceil() && details.impacts as f64 >= x - 1.0);
            assert!(details.sequence.is_none());
        }
    }
    assert!(started.elapsed().as_secs_f64() < 1.0);
}

/// The closed form takes over at 50 impacts; the chain is followed here by hand.
#[test]
fn closed_form_and_chain_agree_on_both_sides_of_the_handover() {
    for gamma in [0.0400, 0.0320, 0.0310, 0.0101] {
        let system = wedge(gamma);
        for s in [-0.83, -0.31, 0.12, 0.77] {
            let velocity = into_wedge(gamma, s);
            let normals = [[gamma.sin(), gamma.cos()], [gamma.sin(), -gamma.cos()]];
            for first in [0, 1] {
                let (mut p, mut i, mut impacts) = (velocity, first, 0);
                loop {
                    let b = normals[i][0] * p[0] + normals[i][1] * p[1];
                    if b >= -1e-12 {
                        break;
                    }
                    p = [
                        p[0] - 2.0 * b * normals[i][0],
                        p[1] - 2.0 * b * normals[i][1],
                    ];
                    impacts += 1;
                    i = 1 - i;
                }
                let law = with_selection(Selection::Priority(vec![first]));
                let outcome = system.resolve(&law, &velocity);
                assert_eq!(details(&outcome).impacts, impacts);
                assert_all_close(plus(&outcome), &p, 1e-12, "velocity");
                assert_elastic(&outcome);
            }
        }
    }
}

// Minimal sequences.

/// Seghete & Murphey, Definition 1, taken literally.
#[test]
fn of_two_orders_only_the_shorter_is_minimal() {
    let system = plane(-0.3);
    for (velocity, shorter) in [([-0.9, -0.5], [0, 1]), ([-0.2, -0.95], [1, 0])] {
        assert_eq!(system.all(&velocity).outcomes.len(), 2);
        let set = system.try_all(&minimal(), &velocity).unwrap();
        assert_eq!(set.outcomes.len(), 1);
        assert_eq!(sequence(&set.outcomes[0]), shorter);
        let longer = [shorter[1], shorter[0], shorter[1]];
        system.pose(&velocity, |problem| {
            assert_eq!(is_minimal(problem, &shorter), Ok(true));
            assert_eq!(is_minimal(problem, &longer), Ok(false));
            assert_eq!(is_minimal(problem, &shorter[..1]), Ok(false));
        });
    }
}

#[test]
fn minimality_has_a_limit_and_refuses_unknown_contacts() {
    plane(-0.3).pose(&[-0.9, -0.5], |problem| {
        let long = [0, 1].repeat(9);
        let error = is_minimal(problem, &long).unwrap_err();
        assert_eq!(
            error,
            ImpactError::Limit {
                limit: Limit::Minimality,
                at: 16,
                raise: None,
            }
        );
        let error = is_minimal(problem, &[0, 2]).unwrap_err();
        assert_eq!(
            error,
            ImpactError::InvalidContact {
                what: "sequence",
                contact: 2,
                contacts: 2
            }
        );
    });
}

// Reflection groups.

/// Seghete & Murphey, Theorems 2 and 3, and their extension to every m.
#[test]
fn cosine_of_pi_over_m_gives_m_impacts_and_one_outcome() {
    for m in [2, 3, 5] {
        let system = plane(-(PI / f64::from(m)).cos());
        let gamma = PI / f64::from(2 * m);
        let (r, e) = (FRAC_PI_2 - gamma, -gamma);
        for s in [-0.9, -0.3, 0.2, 0.8] {
            // The first normal lies along x, so the middle of the wedge at the angle r.
            let (y, x) = (r + PI + s * e).sin_cos();
            let set = system.all(&[x, y]);
            assert_eq!(set.outcomes.len(), 1, "m = {m}, s = {s}");
            assert_eq!(details(&set.outcomes[0]).lengths, [m as u64]);
            assert_eq!(details(&set.outcomes[0]).n_sequences, 2);
            assert!(set.indeterminacy <= 1e-9);
        }
    }
}

/// The number of orders is that of reduced words of the longest element of the group.
#[test]
fn equal_balls_fully_reversed_have_one_outcome_and_the_known_number_of_orders() {
    for (balls, orders, length) in [(3, 2, 3), (4, 16, 6), (5, 768, 10)] {
        let velocity: Vec<f64> = (0..balls).rev().map(f64::from).collect();
        let set = chain(&vec![1.0; balls as usize]).all(&velocity);
        assert_eq!(set.outcomes.len(), 1);
        assert_eq!(details(&set.outcomes[0]).n_sequences, orders);
        assert_eq!(details(&set.outcomes[0]).lengths, [length]);
    }
}

#[test]
fn equal_balls_at_a_wall_have_one_outcome_and_the_known_number_of_orders() {
    for (balls, orders, length) in [(2, 2, 4), (3, 42, 9), (4, 24024, 16)] {
        let velocity: Vec<f64> = (1..=balls).map(|k| -f64::from(k)).collect();
        let system = chain_at_wall(&vec![1.0; balls as usize]);
        let set = system.all(&velocity);
        assert_eq!(set.outcomes.len(), 1);
        assert_eq!(details(&set.outcomes[0]).n_sequences, orders);
        assert_eq!(details(&set.outcomes[0]).lengths, [length]);
        let expected: Vec<f64> = (1..=balls).map(f64::from).collect();
        assert_all_close(plus(&set.outcomes[0]), &expected, 1e-13, "velocity");
        assert_eq!(uniqueness(&system.contacts()).order_independent, Some(true));
    }
}

/// Seghete & Murphey, Theorem 2.
#[test]
fn an_orthogonal_corner_returns_the_momentum_in_any_of_six_orders() {
    let normals = vec![
        vec![1.0, 0.0, 0.0],
        vec![0.0, 1.0, 0.0],
        vec![0.0, 0.0, 1.0],
    ];
    let set = System::diagonal(&[1.0; 3], normals).all(&[-1.0, -2.0, -3.0]);
    assert_eq!(set.outcomes.len(), 1);
    assert_all_close(plus(&set.outcomes[0]), &[1.0, 2.0, 3.0], 1e-14, "velocity");
    assert_eq!(details(&set.outcomes[0]).n_sequences, 6);
    assert_eq!(details(&set.outcomes[0]).lengths, [3]);
}

// Billiards.

/// Seghete & Murphey, Fig. 5, with equal balls.
#[test]
fn equal_billiard_balls_have_the_indeterminacy_of_the_closed_form() {
    for (degrees, xi) in [
        (60.0, 0.75),
        (70.0, 0.510176942619212),
        (80.0, 0.254232703378954),
        (90.0, 0.0),
        (100.0, 0.232727310316121),
        (110.0, 0.4245739036775609),
        (120.0, 0.559016994374947),
        (130.0, 0.570167319877856),
        (150.0, 0.154914209365934),
        (180.0, 0.0),
    ] {
        let theta = f64::to_radians(degrees);
        let system = billiard([1.0; 3], theta);
        assert_close(
            system.contacts().cosines()[(0, 1)],
            0.5 * theta.cos(),
            1e-14,
            "cosine",
        );
        let set = system.all(&shot(0.0));
        assert_close(set.indeterminacy, xi, 1e-10, &format!("{degrees} degrees"));
        if degrees == 130.0 {
            assert!(set.outcomes.iter().all(|o| details(o).impacts == 3));
        }
    }
}

#[test]
fn a_larger_third_ball_shrinks_the_indeterminacy() {
    // Balls a and b touch each other at 30 degrees.
    let ratio = 1.0 / (PI / 12.0).sin() - 1.0;
    for (theta, xi) in [
        (PI / 6.0, 0.038360913664416),
        (80f64.to_radians(), 0.006188891314020),
        (2.1598449493429825, 0.012366074094954311),
    ] {
        let set = billiard([1.0, 1.0, ratio], theta).all(&shot(0.0));
        assert_close(set.indeterminacy, xi, 1e-10, &format!("theta = {theta}"));
    }
}

#[test]
fn three_different_billiard_balls_off_the_bisector() {
    let system = billiard([1.0, 0.7, 1.4], 1.9);
    assert_close(
        system.contacts().cosines()[(0, 1)],
        -0.055693243918576,
        1e-10,
        "cosine",
    );
    let set = system.all(&shot(0.2));
    assert_close(set.indeterminacy, 0.091110925301826, 1e-10, "indeterminacy");
    assert_eq!(set.outcomes.len(), 2);
    for outcome in &set.outcomes {
        let expected = match sequence(outcome) {
            [0, 1] => [
                0.6238657578123525,
                0.8724030137775699,
                0.553088292783483,
                -0.7734290389672799,
                0.6835742155099416,
                -0.022583166803988728,
            ],
            [1, 0] => [
                0.6488877903806785,
                0.9073933884697067,
                0.422418198436786,
                -0.590702254092278,
                0.6907891607696321,
                -0.058175609188924095,
            ],
            other => panic!("unexpected sequence {other:?}"),
        };
        assert_all_close(plus(outcome), &expected, 1e-11, "velocity");
    }
}

#[test]
fn the_cue_ball_returns_with_an_eighth_from_a_small_rack() {
    let system = rack(2);
    assert_eq!(system.normals.len(), 4);
    let set = system.all(&cue(&system));
    assert_eq!(set.outcomes.len(), 2);
    for outcome in &set.outcomes {
        assert_eq!(details(outcome).lengths, [4]);
        assert_eq!(details(outcome).n_sequences, 1);
        assert_close(plus(outcome)[0], -0.125, 1e-9, "cue ball");
    }
}

#[test]
fn the_break_of_fifteen_balls_takes_twenty_three_impacts() {
    let system = rack(5);
    assert_eq!(system.normals.len(), 31);
    let outcome = system.resolve(&Propagative::default(), &cue(&system));
    assert_eq!(details(&outcome).impacts, 23);
    assert_all_close(&plus(&outcome)[..2], &[-0.125, 0.0], 1e-9, "cue ball");
    assert_close(outcome.velocity_plus.0.norm(), 1.0, 1e-14, "norm");
    assert_close(
        plus(&outcome).iter().step_by(2).sum(),
        1.0,
        1e-14,
        "momentum along x",
    );
    assert_close(
        plus(&outcome).iter().skip(1).step_by(2).sum(),
        0.0,
        1e-14,
        "along y",
    );
    assert_elastic(&outcome);
}

// Blocks and plates.

#[test]
fn a_block_that_falls_flat_has_the_cosine_of_its_aspect() {
    for (b, cosine) in [(0.0, -0.5), (0.5, -0.2), (0.5 * 2f64.sqrt(), 0.0)] {
        assert_close(
            block(0.5, b).contacts().cosines()[(0, 1)],
            cosine,
            1e-15,
            "cosine",
        );
    }
}

#[test]
fn a_square_block_that_falls_flat_turns_to_either_side() {
    let set = block(0.5, 0.5).all(&[0.0, -1.0, 0.0]);
    assert_eq!(set.outcomes.len(), 2);
    for outcome in &set.outcomes {
        let spin = if sequence(outcome) == [0, 1] {
            0.96
        } else {
            -0.96
        };
        assert_all_close(plus(outcome), &[0.0, 0.92, spin], 1e-11, "velocity");
    }
    let set = block(0.5, 0.5).all(&[0.0, -1.0, 0.8]);
    assert_eq!(set.outcomes.len(), 2);
    assert_eq!(sequence(&set.outcomes[0]), [0, 1]);
    assert_all_close(
        plus(&set.outcomes[0]),
        &[0.0, 1.048, 0.224],
        1e-11,
        "shorter",
    );
    assert_eq!(sequence(&set.outcomes[1]), [1, 0, 1]);
    assert_all_close(
        plus(&set.outcomes[1]),
        &[0.0, 0.8368, -1.5616],
        1e-11,
        "longer",
    );
    assert_eq!(set.preferred, Some(0));
}

#[test]
fn a_rod_and_a_block_of_aspect_root_two_have_one_outcome() {
    for (b, impacts, spin) in [(0.0, 3, 0.8), (0.5 * 2f64.sqrt(), 2, -0.8)] {
        for (turning, spin) in [(0.0, 0.0), (0.8, spin)] {
            let set = block(0.5, b).all(&[0.0, -1.0, turning]);
            assert_eq!(set.outcomes.len(), 1);
            assert_all_close(plus(&set.outcomes[0]), &[0.0, 1.0, spin], 1e-11, "velocity");
            assert_eq!(details(&set.outcomes[0]).lengths, [impacts]);
        }
    }
}

#[test]
fn a_plate_on_four_legs_has_eighty_four_outcomes() {
    let system = plate(1.0, 2.0);
    let contacts = system.contacts();
    let row = contacts.cosines().row(0).transpose();
    let expected = [1.0, 1.0 / 7.0, 1.0 / 7.0, -5.0 / 7.0];
    assert_all_close(row.as_slice(), &expected, 1e-15, "Gram row");
    assert_eq!(contacts.cosines().rank(1e-12), 3);
    let set = system.all(&system.velocity(&[-1.0, 0.2, -0.1]));
    assert_eq!(set.outcomes.len(), 84);
    let mut lengths: Vec<u64> = set
        .outcomes
        .iter()
        .flat_map(|o| details(o).lengths.clone())
        .collect();
    lengths.sort_unstable();
    lengths.dedup();
    assert_eq!(lengths, [4, 5, 6, 7, 8]);
    set.outcomes.iter().for_each(assert_elastic);
}

// Jams.

fn jam() -> System {
    let normals = (0..3).map(|k| {
        let (s, c) = (f64::from(k) * PI / 1.5).sin_cos();
        vec![c, s]
    });
    System::diagonal(&[1.0; 2], normals.collect())
}

#[test]
fn three_normals_at_120_degrees_jam() {
    let system = jam();
    let jammed = ImpactError::NoElasticOutcome {
        jammed: vec![0, 1, 2],
    };
    assert_eq!(jammed.kind(), "no-elastic-outcome");
    for velocity in [[-1.0, 0.3], [0.2, 0.9]] {
        assert_eq!(
            system.try_resolve(&Propagative::default(), &velocity),
            Err(jammed.clone())
        );
        assert_eq!(
            system.try_all(&Propagative::default(), &velocity),
            Err(jammed.clone())
        );
    }
    assert!(system.contacts().margin().unwrap().distance < 1e-7);
    assert_eq!(uniqueness(&system.contacts()).order_independent, None);
}

#[test]
fn a_body_between_parallel_walls_has_no_elastic_outcome_unless_it_slides() {
    let system = System::diagonal(&[2.0, 1.0], vec![vec![1.0, 0.0], vec![-1.0, 0.0]]);
    let jammed = ImpactError::NoElasticOutcome { jammed: vec![0, 1] };
    assert_eq!(
        system.try_resolve(&Propagative::default(), &[0.5, 1.0]),
        Err(jammed.clone())
    );
    assert_eq!(
        system.try_all(&Propagative::default(), &[-0.5, 1.0]),
        Err(jammed)
    );
    let sliding = system.resolve(&Propagative::default(), &[0.0, 1.0]);
    assert_eq!(sliding.status, ImpactStatus::Separating);
}

// Edges of the input.

#[test]
fn without_contacts_nothing_happens() {
    let system = System::diagonal(&[1.0, 2.0], vec![]);
    let outcome = system.resolve(&Propagative::default(), &[3.0, -4.0]);
    assert_eq!(outcome.velocity_plus, Tangent::from_slice(&[3.0, -4.0]));
    assert_eq!(outcome.status, ImpactStatus::Separating);
    assert_eq!(outcome.impulses.len(), 0);
    let set = system.all(&[3.0, -4.0]);
    assert_eq!(
        (set.outcomes.len(), set.preferred, set.complete),
        (1, Some(0), true)
    );
    assert_eq!(system.contacts().margin().unwrap().distance, 1.0);
    assert_eq!(uniqueness(&system.contacts()).order_independent, Some(true));
}

#[test]
fn separating_and_resting_contacts_leave_the_velocity_alone() {
    let system = chain(&[1.0, 2.0, 3.0]);
    for velocity in [[-1.0, 0.0, 0.5], [0.0; 3], [0.25; 3]] {
        let outcome = system.resolve(&Propagative::default(), &velocity);
        assert_eq!(outcome.status, ImpactStatus::Separating);
        assert_eq!(plus(&outcome), velocity);
        assert_eq!(outcome.audit.energy_change_j(), 0.0);
        assert_eq!(
            (sequence(&outcome).len(), details(&outcome).impacts),
            (0, 0)
        );
        assert_eq!(system.all(&velocity).outcomes.len(), 1);
    }
}

#[test]
fn a_contact_given_twice_shares_its_impulse() {
    let single = chain(&[1.0, 2.0, 1.0]);
    let mut double = single.clone();
    double.normals.insert(1, double.normals[0].clone());
    let mut scaled = single.clone();
    scaled
        .normals
        .insert(1, Covector(&scaled.normals[0].0 * 4.0));
    let velocity = [1.0, 0.0, -1.0];
    let law = Propagative::default();
    let alone = single.resolve(&law, &velocity);
    for (system, factor) in [(double, 1.0), (scaled, 4.0)] {
        let outcome = system.resolve(&law, &velocity);
        assert_all_close(plus(&outcome), plus(&alone), 1e-14, "velocity");
        let half = 0.5 * alone.impulses[0];
        let expected = [half, half / factor, alone.impulses[1]];
        assert_all_close(outcome.impulses.as_slice(), &expected, 1e-14, "impulses");
        assert_eq!(sequence(&outcome), [0, 2, 0]);
        assert_elastic(&outcome);
        let set = system.all(&velocity);
        assert_eq!(set.outcomes.len(), 2);
        assert_eq!(uniqueness(&system.contacts()).pairs.len(), 1);
        assert_eq!(system.contacts().n_distinct(), 2);
        assert_eq!(system.contacts().cosines().shape(), (3, 3));
    }
}

#[test]
fn the_scale_of_a_normal_changes_the_impulse_alone() {
    let system = chain(&[1.0, 2.0, 1.0]);
    let law = Propagative::default();
    let reference = system.resolve(&law, &[1.0, 0.0, -1.0]);
    for factor in [1e-8, 3.0, 1e8] {
        let mut scaled = system.clone();
        scaled.normals[1].0 *= factor;
        let outcome = scaled.resolve(&law, &[1.0, 0.0, -1.0]);
        assert_all_close(plus(&outcome), plus(&reference), 1e-14, "velocity");
        let expected = reference.impulses[1] / factor;
        assert_close(outcome.impulses[1], expected, 1e-14 * expected, "impulse");
    }
}

#[test]
fn outcomes_scale_with_the_velocity_over_three_hundred_orders_of_magnitude() {
    let system = chain(&[1.0, 2.0, 1.0]);
    let velocity = [1.0, 0.0, -1.0];
    let reference = system.all(&velocity);
    for scale in [1e-150, 1e-20, 1e20, 1e150] {
        let set = system.all(&velocity.map(|v| v * scale));
        assert_eq!(set.outcomes.len(), reference.outcomes.len());
        assert_close(
            set.indeterminacy,
            reference.indeterminacy,
            1e-14,
            "indeterminacy",
        );
        for (outcome, expected) in set.outcomes.iter().zip(&reference.outcomes) {
            let back: Vec<f64> = plus(outcome).iter().map(|v| v / scale).collect();
            assert_all_close(&back, plus(expected), 1e-13, "velocity");
            assert_elastic(outcome);
        }
    }
    let contacts = system.contacts();
    let huge = ImpactProblem::new(&contacts, Tangent::from_slice(&[1e160, 0.0, 0.0]));
    assert_eq!(huge.unwrap_err(), ImpactError::Overflow);
}

/// A constrained impact is that of the reduced system.
#[test]
fn constraint_one_forms_do_what_reduction_by_hand_does() {
    let entries: Vec<f64> = (0..16).map(|k| (1.7 * f64::from(k) + 0.3).sin()).collect();
    let mass = mass_from(4, &entries);
    let metric = KineticMetric::new(mass.clone()).unwrap();
    // q3 = q0 + 2 q1 - q2 for every admissible motion.
    let form = Covector::from_slice(&[1.0, 2.0, -1.0, -1.0]);
    let reduction = dmatrix![
        1.0, 0.0, 0.0; 0.0, 1.0, 0.0; 0.0, 0.0, 1.0; 1.0, 2.0, -1.0];
    let normals = [
        [1.0, 0.5, 0.0, 0.3],
        [-0.4, 1.0, 0.2, 0.1],
        [0.1, -0.6, 1.0, 0.9],
    ];
    let contacts: Vec<Contact> = normals
        .iter()
        .map(|u| Contact::frictionless(Covector::from_slice(u)))
        .collect();
    let constrained = ContactSet::constrained(&metric, contacts, vec![form.clone()]).unwrap();
    let reduced_normals = normals.iter().map(|u| {
        let row = nalgebra::RowDVector::from_row_slice(u) * &reduction;
        row.as_slice().to_vec()
    });
    let reduced = System::new(
        reduction.transpose() * &mass * &reduction,
        reduced_normals.collect(),
    );

    let reduced_velocity = DVector::from_column_slice(&[-1.0, -0.4, -0.7]);
    let velocity = Tangent(&reduction * &reduced_velocity);
    let problem = ImpactProblem::new(&constrained, velocity.clone()).unwrap();
    for law in [
        &Propagative::default() as &dyn ImpactLaw,
        &with_restitution(0.4),
        &carom_impact::Plastic::default(),
    ] {
        let outcome = law.resolve(&problem).unwrap();
        let expected = reduced.resolve(law, reduced_velocity.as_slice());
        let lifted = &reduction * &expected.velocity_plus.0;
        assert_all_close(plus(&outcome), lifted.as_slice(), 1e-12, "velocity");
        let impulses = outcome.impulses.as_slice();
        assert_all_close(impulses, expected.impulses.as_slice(), 1e-12, "impulses");
        // The balance of the unreduced system, with the reaction of the constraint.
        let mut balance = &mass * (&outcome.velocity_plus.0 - &velocity.0);
        for (u, impulse) in normals.iter().zip(impulses) {
            balance -= DVector::from_column_slice(u) * *impulse;
        }
        balance -= &form.0 * outcome.constraint_impulses[0];
        assert_all_close(balance.as_slice(), &[0.0; 4], 1e-13, "momentum balance");
        assert!(outcome.audit.constraint_residual < 1e-13);
        assert!(outcome.audit.momentum_residual < 1e-13);
    }
    let all = Propagative::default().resolve_all(&problem).unwrap();
    assert_eq!(
        all.outcomes.len(),
        reduced.all(reduced_velocity.as_slice()).outcomes.len()
    );

    let outside = Tangent::from_slice(&[1.0, 0.0, 0.0, 0.0]);
    let error = ImpactProblem::new(&constrained, outside).unwrap_err();
    assert!(
        matches!(error, ImpactError::ConstraintViolated { row: 0, residual } if residual > 0.1)
    );
    assert_eq!(error.kind(), "constraint-violated");
}

#[test]
fn constraints_that_hold_a_contact_are_refused_and_redundant_ones_say_nothing_new() {
    let metric = KineticMetric::new(DMatrix::identity(3, 3)).unwrap();
    let form = |x: [f64; 3]| Covector::from_slice(&x);
    let contact = || vec![Contact::frictionless(form([1.0, 0.0, 1.0]))];
    let held = vec![form([1.0, 0.0, 0.0]), form([0.0, 0.0, 1.0])];
    let held = ContactSet::constrained(&metric, contact(), held).unwrap_err();
    assert_eq!(held, ImpactError::ConstrainedContact { contact: 0 });

    let once = vec![form([1.0, 0.0, 0.0])];
    let often = vec![
        form([1.0, 0.0, 0.0]),
        form([0.0; 3]),
        form([-2.0, 0.0, 0.0]),
    ];
    let answers = [once, often].map(|forms| {
        let contacts = ContactSet::constrained(&metric, contact(), forms).unwrap();
        let velocity = Tangent::from_slice(&[0.0, 1.0, -1.0]);
        let problem = ImpactProblem::new(&contacts, velocity).unwrap();
        Propagative::default().resolve(&problem).unwrap()
    });
    let [once, often] = answers;
    assert!((&once.velocity_plus.0 - &often.velocity_plus.0).norm() <= 1e-15);
    // A'nu stays, and rows of unit length share it: half of it on each.
    let whole = once.constraint_impulses[0];
    let halves = [0.5 * whole, 0.0, -0.25 * whole];
    let found = often.constraint_impulses.iter().zip(halves);
    assert!(found.into_iter().all(|(a, b)| (a - b).abs() <= 1e-15));
}

// Options.

#[test]
fn the_selection_rule_decides_who_acts_first() {
    let system = chain(&[1.0; 3]);
    let velocity = [3.0, 1.5, 1.0];
    for (selection, expected) in [
        (Selection::MostApproaching, [0, 1, 0]),
        (Selection::LeastApproaching, [1, 0, 1]),
        (Selection::Priority(vec![1, 0]), [1, 0, 1]),
        (Selection::Priority(vec![1]), [1, 0, 1]),
        (Selection::Priority(vec![]), [0, 1, 0]),
    ] {
        let outcome = system.resolve(&with_selection(selection.clone()), &velocity);
        assert_eq!(sequence(&outcome), expected, "{selection:?}");
    }
    // A tie goes to the lowest contact.
    for selection in [Selection::MostApproaching, Selection::LeastApproaching] {
        let outcome = system.resolve(&with_selection(selection), &[1.0, 0.0, -1.0]);
        assert_eq!(sequence(&outcome), [0, 1, 0]);
    }
}

#[test]
fn a_priority_that_names_no_contact_or_one_twice_is_refused() {
    let system = chain(&[1.0; 3]);
    for (order, contact) in [(vec![2], 2), (vec![0, 0], 0), (vec![1, 0, 1], 1)] {
        let law = with_selection(Selection::Priority(order));
        let expected = ImpactError::InvalidContact {
            what: "priority",
            contact,
            contacts: 2,
        };
        assert_eq!(
            system.try_resolve(&law, &[1.0, 0.0, 0.0]),
            Err(expected.clone())
        );
        assert_eq!(system.try_all(&law, &[1.0, 0.0, 0.0]), Err(expected));
    }
}

#[test]
fn a_seed_decides_a_random_order() {
    let system = rack(3);
    let run = |seed| system.resolve(&with_selection(Selection::Random(seed)), &cue(&system));
    let outcomes: Vec<_> = (0..20).map(run).collect();
    for (seed, outcome) in outcomes.iter().enumerate() {
        assert_eq!(&run(seed as u64), outcome);
        assert_elastic(outcome);
    }
    let set = system.all(&cue(&system));
    let diameter = set.indeterminacy;
    assert!(diameter > 0.01);
    assert!(
        outcomes
            .iter()
            .any(|o| sequence(o) != sequence(&outcomes[0]))
    );
    for outcome in &outcomes {
        let distance = |o: &carom_contact::ImpactOutcome| {
            (&o.velocity_plus.0 - &outcome.velocity_plus.0).norm()
        };
        assert!(
            set.outcomes.iter().any(|o| distance(o) < 1e-8),
            "an outcome outside of the set"
        );
    }
}

#[test]
fn a_cap_on_impacts_is_an_error_that_says_how_many_were_made() {
    let velocity = [7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0];
    let system = chain(&[1.0; 7]);
    let capped = |max_impacts| Propagative::default().with_max_impacts(Some(max_impacts));
    assert_eq!(details(&system.resolve(&capped(21), &velocity)).impacts, 21);
    let limit = ImpactError::too_many_impacts;
    assert_eq!(system.try_resolve(&capped(20), &velocity), Err(limit(20)));
    assert_eq!(system.try_resolve(&capped(0), &velocity), Err(limit(0)));
    assert_eq!(system.try_all(&capped(20), &velocity), Err(limit(20)));
    // Closed form.
    let steep = chain_at_wall(&[1.0, 1e6]);
    assert_eq!(
        details(&steep.resolve(&capped(3141), &[0.0, -1.0])).impacts,
        3141
    );
    assert_eq!(
        steep.try_resolve(&capped(3140), &[0.0, -1.0]),
        Err(limit(3140))
    );
    assert_eq!(limit(3).kind(), "limit");
}

#[test]
fn a_cap_on_states_leaves_a_part_of_the_set() {
    let law = Propagative::default().with_max_nodes(4);
    let system = block(0.5, 0.5);
    let velocity = [0.0, -1.0, 0.8];
    let part = system.try_all(&law, &velocity).unwrap();
    let whole = system.all(&velocity);
    assert!(!part.complete && whole.complete);
    // Two thousand orders of a few impacts each miss nothing.
    assert_eq!(part.outcomes.len(), whole.outcomes.len());
    assert_close(part.indeterminacy, whole.indeterminacy, 1e-12, "diameter");
    assert_eq!(part.drawn.unwrap().orders, 2000);
    let preferred = &part.outcomes[part.preferred.unwrap()];
    assert_eq!(plus(preferred), plus(&system.resolve(&law, &velocity)));

    let system = rack(5);
    let law = Propagative::default()
        .with_max_nodes(1000)
        .with_samples(50)
        .with_seed(0);
    let part = system.try_all(&law, &cue(&system)).unwrap();
    assert!(!part.complete && part.outcomes.len() > 10);
    assert!(part.indeterminacy > 0.5, "{}", part.indeterminacy);
}

// Errors.

#[test]
fn restitution_outside_the_unit_interval_is_refused() {
    for value in [1.2, -0.1, f64::NAN, f64::INFINITY] {
        let error = EnergeticRestitution::new(value).unwrap_err();
        assert_eq!(error.kind(), "invalid-restitution");
    }
    assert_eq!(
        EnergeticRestitution::new(1.0),
        Ok(EnergeticRestitution::ELASTIC)
    );
    assert_eq!(EnergeticRestitution::new(0.0).unwrap().value(), 0.0);
}

/// A wedge of half angle 1e-4 and a third normal orthogonal to both: the third contact reflects
/// its own velocity and nothing else, however long the chain at the other two.
#[test]
fn a_long_chain_does_not_disturb_an_orthogonal_contact() {
    let metric = KineticMetric::new(DMatrix::identity(3, 3)).unwrap();
    let normals = [[1e-4, 1.0, 0.0], [1e-4, -1.0, 0.0], [0.0, 0.0, 1.0]];
    let contacts = normals.map(|u| Contact::frictionless(Covector::from_slice(&u)));
    let contacts = ContactSet::new(&metric, contacts.to_vec()).unwrap();
    let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[-1.0; 3])).unwrap();
    let outcome = Propagative::default().resolve(&problem).unwrap();
    let error = (outcome.velocity_plus.0[2] - 1.0).abs();
    assert!(error < 1e-11, "{error:e}");
}

/// All orders: 3141 impacts in the wedge, with the orthogonal one at any place
/// between them.
#[test]
fn the_orders_of_a_long_chain_agree_on_an_orthogonal_contact() {
    let metric = KineticMetric::new(DMatrix::identity(3, 3)).unwrap();
    let normals = [[5e-4, 1.0, 0.0], [5e-4, -1.0, 0.0], [0.0, 0.0, 1.0]];
    let contacts = normals.map(|u| Contact::frictionless(Covector::from_slice(&u)));
    let all = ContactSet::new(&metric, contacts.to_vec()).unwrap();
    let velocity = Tangent::from_slice(&[-1.0, -0.3, -1.0]);
    let problem = ImpactProblem::new(&all, velocity).unwrap();
    let law = Propagative::default();
    let set = law.resolve_all(&problem).unwrap();
    let pair = ContactSet::new(&metric, contacts[..2].to_vec()).unwrap();
    let wedge = ImpactProblem::new(&pair, Tangent::from_slice(&[-1.0, -0.3, 0.0])).unwrap();
    let closed = law.resolve_all(&wedge).unwrap();
    assert_eq!(set.outcomes.len(), closed.outcomes.len());
    for (outcome, expected) in set.outcomes.iter().zip(&closed.outcomes) {
        assert_close(outcome.velocity_plus.0[2], 1.0, 1e-11, "orthogonal contact");
        for i in 0..2 {
            let (found, expected) = (outcome.velocity_plus.0[i], expected.velocity_plus.0[i]);
            assert_close(found, expected, 1e-10, "wedge");
        }
    }
}

/// The product of the row and the velocity underflows; the impact does not.
#[test]
fn tiny_rows_and_velocities_still_collide() {
    let metric = KineticMetric::new(DMatrix::identity(1, 1)).unwrap();
    let contact = Contact::frictionless(Covector::from_slice(&[1e-200]));
    let contacts = ContactSet::new(&metric, vec![contact]).unwrap();
    let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[-1e-150])).unwrap();
    let outcome = Propagative::default().resolve(&problem).unwrap();
    assert_eq!(outcome.velocity_plus.0[0], 1e-150);
}
