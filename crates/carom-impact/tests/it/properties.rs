//! Properties of the propagative law on random systems.

use crate::support::common::*;
use carom_contact::ImpactOutcome;
use carom_impact::internal::{TwoContacts, is_minimal};
use carom_impact::{EnergeticRestitution, Plastic, PlasticRule, Propagative, Selection};
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::f64::consts::{FRAC_PI_2, PI};

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(20),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn with_selection(selection: Selection) -> Propagative {
    Propagative::default().with_selection(selection)
}

fn entries(n: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-1.0..1.0f64, n)
}

fn selection() -> impl Strategy<Value = Selection> {
    prop_oneof![
        Just(Selection::MostApproaching),
        Just(Selection::LeastApproaching),
        any::<u64>().prop_map(Selection::Random),
        Just(Selection::Priority(vec![])),
    ]
}

/// Unit normals given in whitened coordinates, carried to a random mass matrix.
fn carried(mass: &[f64], whitened: &[DVector<f64>]) -> System {
    let n = whitened[0].len();
    let mass = mass_from(n, mass);
    let lower = mass.clone().cholesky().unwrap().l();
    let normals = whitened
        .iter()
        .map(|y| (&lower * y).as_slice().to_vec())
        .collect();
    System::new(mass, normals)
}

prop_compose! {
    /// Contacts whose margin is at least `margin`: a direction opens all of them.
    fn opening(margin: f64, contacts: usize)(n in 2usize..=6, m in 1..=contacts)(
        mass in entries(n * n),
        opening in prop::collection::vec(margin..0.9f64, m),
        rest in prop::collection::vec(entries(n - 1), m),
        velocity in entries(n),
    ) -> (System, Vec<f64>) {
        let n = velocity.len();
        let whitened: Vec<_> = opening.iter().zip(&rest).map(|(open, rest)| {
            let size = rest.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-3);
            let scale = (1.0 - open * open).sqrt() / size;
            DVector::from_fn(n, |i, _| if i == 0 { *open } else { scale * rest[i - 1] })
        }).collect();
        (carried(&mass, &whitened), velocity)
    }
}

/// Invariants of a chain of elastic impacts, computed from the definition.
fn balance(
    system: &System,
    velocity: &[f64],
    outcome: &ImpactOutcome,
) -> Result<(), TestCaseError> {
    let norm = (2.0 * outcome.audit.energy_minus_j).sqrt();
    let before = system.metric.flat(&Tangent::from_slice(velocity)).unwrap();
    let after = system.metric.flat(&outcome.velocity_plus).unwrap();
    let mut change = &after.0 - &before.0;
    for (u, &impulse) in system.normals.iter().zip(outcome.impulses.iter()) {
        prop_assert!(impulse >= -1e-11 * norm, "impulse {}", impulse);
        change -= &u.0 * impulse;
    }
    let left = system.metric.norm(&Covector(change)).unwrap();
    prop_assert!(left <= 1e-11 * norm, "not explained by impulses: {}", left);
    let kept = system.metric.norm(&after).unwrap() - norm;
    prop_assert!(kept.abs() <= 1e-11 * norm, "norm changed by {}", kept);
    let free = |p: &Covector| {
        system
            .metric
            .project_onto_null(p, &system.normals)
            .unwrap()
            .0
    };
    let moved = system
        .metric
        .norm(&Covector(free(&after) - free(&before)))
        .unwrap();
    prop_assert!(moved <= 1e-11 * norm, "free part moved by {}", moved);
    for b in system.unit_velocities(plus(outcome)) {
        prop_assert!(b >= -1e-11 * norm, "approaches with {}", b);
    }
    Ok(())
}

/// Iterates two contacts in the plane without the library; the count and the final velocity.
fn iterate(gamma: f64, velocity: [f64; 2], first: usize) -> (u64, [f64; 2]) {
    let normals = [[gamma.sin(), gamma.cos()], [gamma.sin(), -gamma.cos()]];
    let (mut p, mut i, mut impacts) = (velocity, first, 0);
    loop {
        let b = normals[i][0] * p[0] + normals[i][1] * p[1];
        if b >= -1e-12 {
            return (impacts, p);
        }
        p = [
            p[0] - 2.0 * b * normals[i][0],
            p[1] - 2.0 * b * normals[i][1],
        ];
        impacts += 1;
        i = 1 - i;
    }
}

proptest! {
    #![proptest_config(config(300))]

    /// Seghete & Murphey, Lemmas 2 and 3; every rule of selection ends.
    #[test]
    fn chains_end_and_balance_under_every_selection(
        (system, velocity) in opening(0.05, 6),
        selection in selection(),
    ) {
        let outcome = system.resolve(&with_selection(selection), &velocity);
        prop_assert!(details(&outcome).impacts <= 10_000);
        balance(&system, &velocity, &outcome)?;
    }

    /// A margin that is guaranteed by construction is found.
    #[test]
    fn the_margin_is_at_least_that_of_any_opening_direction((system, _) in opening(0.05, 6)) {
        let contacts = system.contacts();
        let margin = contacts.margin().unwrap();
        prop_assert!(margin.distance >= 0.05 - 1e-12, "{}", margin.distance);
        prop_assert!((margin.weights.iter().sum::<f64>() - 1.0).abs() <= 1e-12);
        // The nearest point supports the hull: no normal lies nearer along it.
        let cosines = contacts.cosines();
        let along = &cosines * DVector::from_column_slice(&margin.weights);
        let square = margin.distance * margin.distance;
        prop_assert!(along.iter().all(|x| *x >= square - 1e-10), "{} {}", along, square);
    }

    /// Seghete & Murphey, Lemma 4.
    #[test]
    fn feasibility_is_decided_in_the_plane_of_the_normals(
        (system, velocity) in opening(0.05, 2).prop_filter("two", |(s, _)| s.normals.len() == 2),
    ) {
        let p = system.metric.flat(&Tangent::from_slice(&velocity)).unwrap();
        let norm = system.metric.norm(&p).unwrap();
        let b = system.unit_velocities(&velocity);
        prop_assume!(b.iter().all(|b| b.abs() > 1e-9 * norm));
        let inside = system.metric.project_onto_span(&p, &system.normals).unwrap();
        let feasible = !system.pose(&velocity, |problem| problem.is_approaching());
        let feasible_inside =
            !system.pose(&system.velocity(inside.0.as_slice()), |problem| problem.is_approaching());
        prop_assert_eq!(feasible, feasible_inside);

        let unit = |u: &Covector| &u.0 / system.metric.norm(u).unwrap();
        let (u, v) = (unit(&system.normals[0]), unit(&system.normals[1]));
        let (sum, difference) = (Covector(&u + &v), Covector(&u - &v));
        let cos_gamma = system.metric.norm(&difference).unwrap() / 2.0;
        let along = system.metric.inner(&inside, &sum).unwrap()
            / system.metric.norm(&sum).unwrap();
        let rho = system.metric.norm(&inside).unwrap();
        prop_assume!((along - rho * cos_gamma).abs() > 1e-9 * norm);
        prop_assert_eq!(feasible, along >= rho * cos_gamma);
        if along >= norm * cos_gamma {
            prop_assert!(feasible);
        }
    }

    /// The sharp form of Seghete & Murphey, Theorem 1.
    #[test]
    fn two_contacts_take_at_most_a_half_turn_of_wedges(
        gamma in 0.01..1.55f64,
        direction in -PI..PI,
    ) {
        let x = FRAC_PI_2 / gamma;
        prop_assume!((x - x.round()).abs() > 1e-3);
        let system = wedge(gamma);
        let (sin, cos) = direction.sin_cos();
        let bound = x.ceil() as u64;
        for outcome in &system.all(&[cos, sin]).outcomes {
            prop_assert!(details(outcome).lengths.iter().all(|&k| k <= bound));
        }
        // Attained by a momentum that hardly approaches the contact that acts second.
        let law = with_selection(Selection::Priority(vec![0, 1]));
        let attained = system.resolve(&law, &into_wedge(gamma, -0.9995));
        prop_assert_eq!(details(&attained).impacts, bound);
    }

    #[test]
    fn iteration_unfolding_and_formulas_agree(gamma in 0.02..1.55f64, s in -0.999..0.999f64) {
        let x = FRAC_PI_2 / gamma;
        let counts = [x - 0.5 * s - 0.5, x + 0.5 * s - 0.5];
        prop_assume!(counts.iter().all(|k| (k - k.round()).abs() > 1e-6));
        let system = wedge(gamma);
        let velocity = into_wedge(gamma, s);
        let mut ends = Vec::new();
        for (first, count) in counts.iter().enumerate() {
            let (impacts, end) = iterate(gamma, velocity, first);
            prop_assert_eq!(impacts, count.ceil() as u64);
            let unfolded = system.pose(&velocity, |p| TwoContacts::new(p).unwrap().unfold(first));
            prop_assert_eq!(unfolded.unwrap().impacts, impacts);
            let (sin, cos) = unfolded.unwrap().angle.sin_cos();
            prop_assert!((sin - end[1]).abs() <= 1e-9 && (cos - end[0]).abs() <= 1e-9);
            let law = with_selection(Selection::Priority(vec![first]));
            let outcome = system.resolve(&law, &velocity);
            prop_assert_eq!(details(&outcome).impacts, impacts);
            prop_assert!((plus(&outcome)[0] - end[0]).abs() <= 1e-9);
            prop_assert!((plus(&outcome)[1] - end[1]).abs() <= 1e-9);
            ends.push((impacts, end));
        }
        let [(k, a), (l, b)] = [ends[0], ends[1]];
        let xi = (a[0] - b[0]).hypot(a[1] - b[1]);
        let set = system.all(&velocity);
        prop_assert!((set.indeterminacy - xi).abs() <= 1e-7 || xi <= 1e-7);
        let unfolded = system.pose(&velocity, |p| TwoContacts::new(p).unwrap().indeterminacy(p));
        prop_assert!((unfolded - xi).abs() <= 1e-9);
        if k == l {
            let formula = 2.0 * (2.0 * k as f64 * gamma).sin().abs();
            prop_assert!((formula - xi).abs() <= 1e-9, "{} {}", formula, xi);
        }
    }

    /// In the two-impact regime the difference of the orders is $4c(b_u v - b_v u)$.
    #[test]
    fn two_impacts_in_either_order_differ_by_a_product_of_cosine_and_velocities(
        c in -0.3..0.49f64,
        bu in -1.0..-0.1f64,
        bv in -1.0..-0.1f64,
    ) {
        let sine = (1.0 - c * c).sqrt();
        let system = plane(c);
        let velocity = [bu, (bv - c * bu) / sine];
        let set = system.all(&velocity);
        prop_assume!(set.outcomes.iter().all(|o| details(o).lengths == [2]));
        let expected = 4.0 * c.abs() * (bu * bu + bv * bv - 2.0 * c * bu * bv).sqrt();
        let norm = velocity[0].hypot(velocity[1]);
        prop_assert!((set.indeterminacy * norm - expected).abs() <= 1e-7 * norm);
    }

    /// Seghete & Murphey, Lemma 6 with its index corrected: the images of the middle direction
    /// turn by $2\gamma$ each.
    #[test]
    fn images_of_the_middle_direction_turn_by_twice_the_half_angle(
        gamma in 0.01..1.55f64,
        mass in entries(9),
        first in 0usize..2,
    ) {
        let (s, c) = gamma.sin_cos();
        let whitened = [c, -c].map(|c| DVector::from_column_slice(&[s, c, 0.0]));
        let system = carried(&mass, &whitened);
        let middle = Covector(&system.normals[0].0 + &system.normals[1].0);
        let norm = system.metric.norm(&middle).unwrap();
        let middle = Covector(middle.0 / norm);
        let mut image = middle.clone();
        for i in 1..=50usize {
            image = system.metric.reflect(&image, &system.normals[(first + i) % 2]).unwrap();
            let cosine = system.metric.inner(&image, &middle).unwrap();
            prop_assert!((cosine - (2.0 * i as f64 * gamma).cos()).abs() <= 1e-10);
        }
    }

    /// Seghete & Murphey, Theorem 3: the proof step with its sign corrected.
    #[test]
    fn at_a_cosine_of_one_half_three_impacts_swap_and_stay_infeasible(
        mass in entries(4),
        bu in -1.0..-0.01f64,
        bv in -1.0..-0.01f64,
    ) {
        let sine = 0.75f64.sqrt();
        let whitened = [[1.0, 0.0], [0.5, sine]].map(|y| DVector::from_column_slice(&y));
        let system = carried(&mass, &whitened);
        let (p, [u, v]) = momentum_with(&system, 0.5, [bu, bv]);
        let reflect = |p: &Covector, u: &Covector| system.metric.reflect(p, u).unwrap();
        let end = reflect(&reflect(&reflect(&p, &u), &v), &u);
        let inner = |u: &Covector| system.metric.inner(&end, u).unwrap();
        prop_assert!((inner(&u) - bv).abs() <= 1e-12);
        prop_assert!((inner(&v) - bu).abs() <= 1e-12);
    }

    /// Seghete & Murphey, Theorem 3 and its extension: odd m swaps and negates the contact
    /// velocities, even m negates them.
    #[test]
    fn at_unique_cosines_contact_velocities_are_negated_and_for_odd_exponents_swapped(
        m in 2u32..=9,
        mass in entries(4),
        bu in -1.0..-0.01f64,
        bv in -1.0..-0.01f64,
    ) {
        let c = -(PI / f64::from(m)).cos();
        let whitened = [[1.0, 0.0], [c, (PI / f64::from(m)).sin()]];
        let system = carried(&mass, &whitened.map(|y| DVector::from_column_slice(&y)));
        let (p, _) = momentum_with(&system, c, [bu, bv]);
        let set = system.all(&system.velocity(p.0.as_slice()));
        prop_assert_eq!(set.outcomes.len(), 1);
        let outcome = &set.outcomes[0];
        prop_assert_eq!(&details(outcome).lengths, &[u64::from(m)]);
        prop_assert_eq!(details(outcome).n_sequences, 2);
        let after = system.unit_velocities(plus(outcome));
        let expected = if m % 2 == 1 { [-bv, -bu] } else { [-bu, -bv] };
        let norm = system.metric.norm(&p).unwrap();
        prop_assert!((after[0] - expected[0]).abs() <= 1e-11 * norm.max(1.0));
        prop_assert!((after[1] - expected[1]).abs() <= 1e-11 * norm.max(1.0));
    }

    /// Seghete & Murphey, Theorem 2.
    #[test]
    fn orthogonal_contacts_negate_their_velocities_in_any_order(
        n in 1usize..=6,
        mass in entries(36),
        b in prop::collection::vec(-1.0..-0.01f64, 6),
    ) {
        let axes: Vec<_> =
            (0..n).map(|i| DVector::from_fn(n, |k, _| if i == k { 1.0 } else { 0.0 })).collect();
        let system = carried(&mass, &axes);
        let mut p = DVector::zeros(n);
        for (u, b) in system.normals.iter().zip(&b) {
            p += &u.0 * *b;
        }
        let set = system.all(&system.velocity(p.as_slice()));
        prop_assert_eq!(set.outcomes.len(), 1);
        prop_assert_eq!(&details(&set.outcomes[0]).lengths, &[n as u64]);
        prop_assert_eq!(details(&set.outcomes[0]).n_sequences, (1..=n as u64).product::<u64>());
        let after = system.unit_velocities(plus(&set.outcomes[0]));
        for (after, b) in after.iter().zip(&b) {
            prop_assert!((after + b).abs() <= 1e-12);
        }
    }

    /// Seghete & Murphey, Lemma 7.
    #[test]
    fn reflections_commute_exactly_at_right_angles(c in -0.95..0.95f64, mass in entries(9)) {
        let commutator = |c: f64| {
            let whitened = [[1.0, 0.0, 0.0], [c, (1.0 - c * c).sqrt(), 0.0]];
            let system = carried(&mass, &whitened.map(|y| DVector::from_column_slice(&y)));
            let map = |i: usize| system.metric.reset_map(&system.normals[i]).unwrap();
            (map(0) * map(1) - map(1) * map(0)).norm()
        };
        prop_assert!(commutator(0.0) <= 1e-12);
        // In whitened coordinates it is 4 |c| sqrt(2 (1 - c^2)); the mass matrix has condition
        // below 100.
        let expected = 4.0 * c.abs() * (2.0 * (1.0 - c * c)).sqrt();
        prop_assert!(commutator(c) >= 0.01 * expected);
    }

    /// Event-wide restitution takes exactly the energy that it says and stays feasible.
    #[test]
    fn restitution_is_the_energetic_one(
        (system, velocity) in opening(0.05, 5),
        r in 0.0..=1.0f64,
    ) {
        let restitution = EnergeticRestitution::new(r).unwrap();
        let rules = [PlasticRule::Cone, PlasticRule::ProjectAll { allow_adhesion: true }];
        for plastic in rules {
            let law = Propagative::default().with_restitution(restitution).with_plastic(plastic);
            let outcome = system.resolve(&law, &velocity);
            let minus = outcome.audit.energy_minus_j;
            let lost = system.resolve(&Plastic::default().with_rule(plastic), &velocity);
            let (least, after) = (lost.audit.energy_plus_j, outcome.audit.energy_plus_j);
            let expected = least + r * r * (minus - least);
            prop_assert!((after - expected).abs() <= 1e-11 * minus, "{} {}", after, expected);
            let norm = (2.0 * minus).sqrt();
            for b in system.unit_velocities(plus(&outcome)) {
                prop_assert!(b >= -1e-11 * norm, "approaches with {}", b);
            }
            if outcome.status == carom_contact::ImpactStatus::Resolved {
                let alpha = details(&outcome).alpha;
                prop_assert!((0.0..=r * (1.0 + 1e-9) + 1e-12).contains(&alpha), "alpha {}", alpha);
                if plastic != PlasticRule::Cone {
                    prop_assert!((alpha - r).abs() <= 1e-9, "alpha {} R {}", alpha, r);
                }
            }
        }
    }

    /// R = 1 is the elastic law and R = 0 the plastic one.
    #[test]
    fn the_ends_of_restitution_are_the_elastic_and_the_plastic_law(
        (system, velocity) in opening(0.05, 5),
    ) {
        let restitution = EnergeticRestitution::new(0.0).unwrap();
        let none = system.resolve(&Propagative::default().with_restitution(restitution), &velocity);
        let plastic = system.resolve(&Plastic::default(), &velocity);
        let off = (&none.velocity_plus.0 - &plastic.velocity_plus.0).norm();
        prop_assert!(off <= 1e-11);
    }

    /// Equal balls on a line exchange velocities: whatever the order, the result is sorted.
    #[test]
    fn equal_balls_sort_their_velocities(
        velocity in (2usize..=8).prop_flat_map(entries),
        selection in selection(),
    ) {
        let n = velocity.len();
        let outcome = chain(&vec![1.0; n]).resolve(&with_selection(selection.clone()), &velocity);
        let mut sorted = velocity.clone();
        sorted.sort_by(f64::total_cmp);
        let pairs = |i: usize| (i + 1..n).filter(|&j| velocity[j] < velocity[i]).count() as u64;
        prop_assert_eq!(details(&outcome).impacts, (0..n).map(pairs).sum::<u64>());
        for (a, b) in plus(&outcome).iter().zip(&sorted) {
            prop_assert!((a - b).abs() <= 1e-11);
        }

        let outcome = chain_at_wall(&vec![1.0; n]).resolve(&with_selection(selection), &velocity);
        let mut speeds: Vec<f64> = velocity.iter().map(|v| v.abs()).collect();
        speeds.sort_by(f64::total_cmp);
        for (a, b) in plus(&outcome).iter().zip(&speeds) {
            prop_assert!((a - b).abs() <= 1e-11);
        }
    }

    #[test]
    fn outcomes_scale_with_the_velocity(
        (system, velocity) in opening(0.05, 5),
        exponent in -100.0..100.0f64,
    ) {
        let scale = 10f64.powf(exponent);
        let law = Propagative::default();
        let outcome = system.resolve(&law, &velocity);
        let scaled: Vec<f64> = velocity.iter().map(|v| v * scale).collect();
        let scaled = system.resolve(&law, &scaled);
        for (a, b) in plus(&outcome).iter().zip(plus(&scaled)) {
            prop_assert!((a - b / scale).abs() <= 1e-10, "{} {}", a, b / scale);
        }
    }

    /// A change of coordinates $q = Aq'$ turns the mass matrix into $A^TMA$, normals into $uA$ and
    /// velocities into $A^{-1}v$.
    #[test]
    fn outcomes_do_not_depend_on_coordinates(
        (system, velocity) in opening(0.05, 5),
        change in entries(36),
    ) {
        let n = velocity.len();
        let a = mass_from(n, &change) * DMatrix::from_fn(n, n, |i, j| {
            if i == j { 1.0 } else { 0.1 * (i as f64 - j as f64) / n as f64 }
        });
        let mass = a.transpose() * system.metric.mass_matrix() * &a;
        let mass = (&mass + mass.transpose()) * 0.5;
        let normals = system.normals.iter().map(|u| a.tr_mul(&u.0).as_slice().to_vec()).collect();
        let changed = System::new(mass, normals);
        let inverse = a.clone().try_inverse().unwrap();
        let start = &inverse * DVector::from_column_slice(&velocity);
        // One fixed order: a tie or a grazing contact may be decided by rounding otherwise.
        let law = with_selection(Selection::Priority(vec![]));
        let outcome = system.resolve(&law, &velocity);
        let other = changed.resolve(&law, start.as_slice());
        prop_assume!(details(&outcome).impacts < 200);
        let off = (&outcome.velocity_plus.0 - &a * &other.velocity_plus.0).norm();
        let size = outcome.velocity_plus.0.norm();
        prop_assert!(off <= 1e-10 * size.max(1.0), "off by {}", off);
    }
}

/// The momentum with given velocities of two unit normals of cosine c, and the normals.
fn momentum_with(system: &System, c: f64, b: [f64; 2]) -> (Covector, [Covector; 2]) {
    let unit = |i: usize| {
        let u = &system.normals[i];
        Covector(&u.0 / system.metric.norm(u).unwrap())
    };
    let (u, v) = (unit(0), unit(1));
    let determinant = 1.0 - c * c;
    let x = (b[0] - c * b[1]) / determinant;
    let y = (b[1] - c * b[0]) / determinant;
    (Covector(&u.0 * x + &v.0 * y), [u, v])
}

/// Whitened normals with the cosines of a finite reflection group.
fn chamber(kind: usize, n: usize, m: u32) -> Vec<DVector<f64>> {
    let (dim, mut normals) = match kind {
        0 => (n + 1, Vec::new()),
        1 => (
            n,
            vec![DVector::from_fn(n, |k, _| if k == 0 { 1.0 } else { 0.0 })],
        ),
        _ => {
            let (s, c) = (PI / f64::from(m)).sin_cos();
            let normals = [[1.0, 0.0, 0.0], [-c, s, 0.0]];
            return normals.map(|y| DVector::from_column_slice(&y)).to_vec();
        }
    };
    for i in 0..dim - 1 {
        normals.push(DVector::from_fn(dim, |k, _| {
            if k == i {
                -1.0
            } else if k == i + 1 {
                1.0
            } else {
                0.0
            }
        }));
    }
    normals
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn reflection_groups_have_one_outcome_of_one_length_and_do_not_spread(
        kind in 0usize..3,
        n in 2usize..=4,
        m in 2u32..=8,
        mass in entries(25),
        start in entries(5),
        other in entries(5),
    ) {
        let whitened = chamber(kind, n, m);
        let system = carried(&mass, &whitened);
        let dim = whitened[0].len();
        let mut ends = Vec::new();
        for velocity in [&start[..dim], &other[..dim]] {
            let set = system.all(velocity);
            prop_assert_eq!(set.outcomes.len(), 1);
            prop_assert!(set.indeterminacy <= 1e-9);
            prop_assert_eq!(details(&set.outcomes[0]).lengths.len(), 1);
            ends.push(DVector::from_column_slice(plus(&set.outcomes[0])));
        }
        let size = |v: DVector<f64>| system.metric.energy(&Tangent(v)).unwrap().sqrt();
        let before = DVector::from_column_slice(&start[..dim])
            - DVector::from_column_slice(&other[..dim]);
        let after = size(&ends[0] - &ends[1]);
        prop_assert!(after <= size(before) * (1.0 + 1e-9), "spread");
    }

    /// Seghete & Murphey, Definition 1 and Lemma 1, by enumeration of candidates.
    #[test]
    fn minimal_sequences_of_two_contacts_are_the_shortest_alternating_ones(
        gamma in 0.18..1.5f64,
        direction in -PI..PI,
        doubled in 0usize..8,
    ) {
        let system = wedge(gamma);
        let (sin, cos) = direction.sin_cos();
        let velocity = [cos, sin];
        let b = system.unit_velocities(&velocity);
        prop_assume!(b.iter().all(|b| b.abs() > 1e-6));
        let orders: Vec<(usize, u64)> = (0..2)
            .filter(|&i| b[i] < 0.0)
            .map(|first| (first, iterate(gamma, velocity, first).0))
            .collect();
        prop_assume!(!orders.is_empty());
        let shortest = orders.iter().map(|(_, k)| *k).min().unwrap();
        prop_assume!(shortest <= 9);
        let expected: Vec<Vec<usize>> = orders
            .iter()
            .filter(|(_, k)| *k == shortest)
            .map(|(first, k)| (0..*k as usize).map(|i| (first + i) % 2).collect())
            .collect();
        let candidates = (0..2).flat_map(|first| {
            (1..=10usize).map(move |k| (0..k).map(|i| (first + i) % 2).collect::<Vec<_>>())
        });
        system.pose(&velocity, |problem| {
            for candidate in candidates {
                let found = is_minimal(problem, &candidate).unwrap();
                prop_assert_eq!(found, expected.contains(&candidate), "{:?}", candidate);
                // Lemma 1: no two equal neighbors.
                let mut stuttering = candidate;
                let place = doubled % stuttering.len();
                stuttering.insert(place, stuttering[place]);
                prop_assert!(!is_minimal(problem, &stuttering).unwrap(), "{:?}", stuttering);
            }
            Ok(())
        })?;
    }

    /// Small gaps with free flight between single impacts end in one of the outcomes.
    #[test]
    fn contacts_with_small_gaps_end_in_one_of_the_outcomes(
        (system, velocity) in opening(0.15, 3),
        gaps in prop::collection::vec(1e-6..1e-3f64, 3),
    ) {
        let set = system.all(&velocity);
        let norms: Vec<f64> =
            system.normals.iter().map(|u| system.metric.norm(u).unwrap()).collect();
        let mut gaps = gaps;
        let mut v = DVector::from_column_slice(&velocity);
        let metric: &KineticMetric = &system.metric;
        for impact in 0.. {
            prop_assert!(impact < 10_000, "endless");
            let speeds: Vec<f64> = system.normals.iter().map(|u| u.0.dot(&v)).collect();
            let next = (0..speeds.len())
                .filter(|&i| speeds[i] < -1e-13 * norms[i])
                .map(|i| (gaps[i] / -speeds[i], i))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((time, i)) = next else { break };
            for (gap, speed) in gaps.iter_mut().zip(&speeds) {
                *gap = f64::max(0.0, *gap + time * speed);
            }
            let kick = metric.sharp(&system.normals[i]).unwrap().0;
            v -= kick * (2.0 * speeds[i] / (norms[i] * norms[i]));
        }
        let nearest = set
            .outcomes
            .iter()
            .map(|o| (&o.velocity_plus.0 - &v).norm())
            .fold(f64::INFINITY, f64::min);
        prop_assert!(nearest <= 1e-8, "off by {} of {} outcomes", nearest, set.outcomes.len());
    }

    /// Every chain is in the set, and the set balances.
    #[test]
    fn every_selection_leads_into_the_set_of_outcomes(
        (system, velocity) in opening(0.15, 4),
        selection in selection(),
    ) {
        let set = system.all(&velocity);
        prop_assert!(set.complete);
        for outcome in &set.outcomes {
            balance(&system, &velocity, outcome)?;
        }
        let outcome = system.resolve(&with_selection(selection), &velocity);
        let nearest = set
            .outcomes
            .iter()
            .map(|o| (&o.velocity_plus.0 - &outcome.velocity_plus.0).norm())
            .fold(f64::INFINITY, f64::min);
        prop_assert!(nearest <= 1e-6, "off by {}", nearest);
    }
}
