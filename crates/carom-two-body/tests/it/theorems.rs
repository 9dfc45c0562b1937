//! Theorems of the paper, and the ones it asks for, on random impacts.

use super::random::{Random, Stream, impact, impacts, solve, stiff};
use carom_two_body::{
    ContactImpact, ContactInertia, Event, FinalMode, ImpactOptions, InvariantDirections,
    Recompression, RestitutionLaw, invariant_directions, solve_impact, trace_impact,
};
use nalgebra::{Matrix3, Rotation3, Vector2, Vector3};

const LAWS: [RestitutionLaw; 3] = [
    RestitutionLaw::Energetic,
    RestitutionLaw::Poisson,
    RestitutionLaw::Newton,
];

fn with(law: RestitutionLaw) -> ImpactOptions {
    ImpactOptions::default().with_restitution_law(law)
}

fn energetic(r: &Random) -> ContactImpact {
    solve(&r.w, &r.v, r.mu, r.e, &ImpactOptions::default())
}

fn gap(a: &Vector3<f64>, b: &Vector3<f64>) -> f64 {
    (a - b).amax() / b.amax()
}

fn astroid(w: &ContactInertia, mu: f64) -> f64 {
    let eigen = w.tangential().symmetric_eigen();
    let p = eigen.eigenvectors.tr_mul(&w.coupling());
    let spread = mu * (eigen.eigenvalues[0] - eigen.eigenvalues[1]).abs();
    p.x.abs().powf(2.0 / 3.0) + p.y.abs().powf(2.0 / 3.0) - spread.powf(2.0 / 3.0)
}

/// Jia & Wang, Theorem 5, with the exact count by the astroid and the rule of attraction.
#[test]
fn invariant_directions_are_two_or_four_and_half_of_them_attract() {
    let mut four = 0;
    for number in 0..20_000 {
        let Random { w, mu, .. } = impact(number);
        let InvariantDirections::Discrete(list) = invariant_directions(&w, mu) else {
            panic!("{number}: all directions");
        };
        let margin = astroid(&w, mu);
        if margin.abs() > 1e-9 {
            let expected = if margin > 0.0 { 2 } else { 4 };
            assert_eq!(list.len(), expected, "{number}: {margin}");
        }
        four += usize::from(list.len() == 4);
        let attracting = list.iter().filter(|d| d.attracting).count();
        assert_eq!(2 * attracting, list.len(), "{number}");
        let centrifugal: Vec<_> = list.iter().filter(|d| d.is_centrifugal()).collect();
        assert_eq!(
            centrifugal.len(),
            usize::from(w.stick_demand() > mu),
            "{number}"
        );
        assert!(centrifugal.iter().all(|d| d.attracting), "{number}");
        for direction in &list {
            let s = Vector2::from(direction.direction());
            let residual = w.coupling() - mu * w.tangential() * s - direction.lambda * s;
            let size = mu * w.tangential().norm() + w.coupling().norm();
            assert!(residual.norm() <= 1e-13 * size, "{number}: {residual:?}");
        }
    }
    assert!(four > 1000, "{four}");
}

/// The paper's quartic in $n = \tan(\theta/2)$ vanishes at the directions.
#[test]
fn invariant_directions_are_roots_of_the_papers_quartic() {
    for number in 0..2000 {
        let Random { w, mu, .. } = impact(number);
        let InvariantDirections::Discrete(list) = invariant_directions(&w, mu) else {
            panic!("{number}");
        };
        let (b, d) = (w.tangential(), w.coupling());
        let spread = 2.0 * mu * (b[(1, 1)] - b[(0, 0)]);
        let coefficients = [
            d.y - mu * b[(0, 1)],
            -2.0 * d.x - spread,
            6.0 * mu * b[(0, 1)],
            -2.0 * d.x + spread,
            -d.y - mu * b[(0, 1)],
        ];
        for direction in list {
            let n = (0.5 * direction.angle).tan();
            let powers = [1.0, n, n * n, n.powi(3), n.powi(4)];
            let terms: Vec<f64> = coefficients
                .iter()
                .zip(powers)
                .map(|(c, p)| c * p)
                .collect();
            let size: f64 = terms.iter().map(|x| x.abs()).sum();
            let sum: f64 = terms.iter().sum();
            assert!(sum.abs() <= 1e-12 * size, "{number}: {sum:e} of {size:e}");
        }
    }
}

#[test]
fn special_frames_have_the_directions_of_the_closed_forms() {
    let directions = |w: [f64; 9], mu: f64| {
        let w = ContactInertia::from_matrix(&Matrix3::from_row_slice(&w)).unwrap();
        invariant_directions(&w, mu)
    };
    let angles = |found: InvariantDirections| match found {
        InvariantDirections::Discrete(list) => list.iter().map(|d| d.angle).collect::<Vec<_>>(),
        InvariantDirections::All => vec![],
    };
    // Central and isotropic.
    let all = directions([2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0], 0.5);
    assert_eq!(all, InvariantDirections::All);
    // Central: the principal axes.
    let found = angles(directions(
        [3.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        0.5,
    ));
    assert_eq!(found.len(), 4);
    // Isotropic: along and against d.
    let found = angles(directions(
        [2.0, 0.0, 0.3, 0.0, 2.0, 0.4, 0.3, 0.4, 1.0],
        0.5,
    ));
    assert_eq!(found.len(), 2);
    assert!((found[1] - 0.4f64.atan2(0.3)).abs() <= 1e-15, "{found:?}");
    // d along the first principal axis, cos u = p / D: with D = 1, two more.
    let found = angles(directions(
        [3.0, 0.0, 0.5, 0.0, 1.0, 0.0, 0.5, 0.0, 1.0],
        0.5,
    ));
    assert_eq!(found.len(), 4);
    assert!((found[2] - 0.5f64.acos()).abs() <= 1e-15, "{found:?}");
    // The cusp of the astroid: three merge into one, and rounding may keep them apart.
    let found = angles(directions(
        [3.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.5],
        0.5,
    ));
    assert!((2..=4).contains(&found.len()), "{found:?}");
}

/// $(v_z - \mu\rho)' = u^TWu \ge k_s$: the impact always ends, within bounds.
#[test]
fn impacts_end_within_the_proved_bounds() {
    for number in 0..3000 {
        let r = if number % 2 == 0 {
            impact(number)
        } else {
            stiff(number)
        };
        let reach = (r.v.z.abs() + r.mu * r.v.x.hypot(r.v.y)) / r.w.schur();
        for law in LAWS {
            let found = solve(&r.w, &r.v, r.mu, r.e, &with(law));
            let ends = match law {
                RestitutionLaw::Newton => reach + r.e * r.v.z.abs() / r.w.schur(),
                _ => 2.0 * reach,
            };
            assert!(
                found.compression_impulse <= reach * (1.0 + 1e-9),
                "{number}"
            );
            assert!(found.impulse.z <= ends * (1.0 + 1e-9), "{number} {law:?}");
            assert!(found.velocity_plus.z >= 0.0, "{number} {law:?}");
        }
    }
}

/// The path of an impact: cone, monotone direction, rising $v_z - \mu\rho$.
#[test]
fn paths_obey_coulomb_and_stay_in_their_sector() {
    for number in 0..150 {
        let r = impact(number);
        let trace = trace_impact(&r.w, &r.v, r.mu, r.e, &ImpactOptions::default())
            .unwrap()
            .unwrap();
        let size = trace.impact.impulse.amax();
        let speed = r.v.amax();
        let rate = |v: &Vector3<f64>| {
            let s = Vector2::new(v.x, v.y).normalize();
            let pull = r.w.coupling() - r.mu * r.w.tangential() * s;
            s.x * pull.y - s.y * pull.x
        };
        let turning = rate(&r.v);
        for pair in trace.points.windows(2) {
            let step = pair[1].impulse - pair[0].impulse;
            assert!(step.z >= -1e-14 * size, "{number}");
            let slip = step.x.hypot(step.y);
            assert!(slip <= r.mu * step.z + 1e-12 * size, "{number}: {step:?}");
            let drop = |p: &Vector3<f64>| p.z - r.mu * p.x.hypot(p.y);
            let rise = drop(&pair[1].velocity) - drop(&pair[0].velocity);
            assert!(rise >= -1e-12 * speed * (1.0 + r.mu), "{number}: {rise:e}");
        }
        let slides = |v: &Vector3<f64>| v.x.hypot(v.y) > 1e-6 * speed;
        let before = trace.impact.events.first(Event::SlipZero);
        let limit = before.map_or(f64::INFINITY, |s| s.impulse[2]);
        for point in trace.points.iter().filter(|p| p.impulse.z < limit) {
            if slides(&point.velocity) {
                let now = rate(&point.velocity);
                assert!(
                    now * turning >= -1e-9 * turning.abs(),
                    "{number}: {now:e} {turning:e}"
                );
            }
        }
    }
}

/// The trace follows sliding to rest step by step, the solver leaps there by a series.
#[test]
fn the_tail_series_ends_where_integration_does() {
    for r in impacts(300) {
        let leap = energetic(&r);
        let trace = trace_impact(&r.w, &r.v, r.mu, r.e, &ImpactOptions::default());
        let steps = trace.unwrap().unwrap().impact;
        assert_eq!(leap.events.sequence(), steps.events.sequence());
        let gap = gap(&steps.impulse, &leap.impulse);
        assert!(gap <= 1e-11, "{}: {gap:e}", r.number);
    }
}

/// Energetic restitution never creates energy and loses exactly its share.
#[test]
fn energetic_restitution_loses_its_share() {
    for r in (0..3000).map(impact).chain((0..500).map(stiff)) {
        let found = energetic(&r);
        if !found.recompressed {
            let loss = (1.0 - r.e * r.e) * found.compression_energy;
            let gap = (found.normal_work + loss).abs();
            assert!(gap <= 1e-12 * found.compression_energy, "{}", r.number);
        }
        assert!(found.friction_work <= 0.0 && found.normal_work <= 0.0);
        let tangential = found.impulse.x.hypot(found.impulse.y);
        assert!(tangential <= r.mu * found.impulse.z * (1.0 + 1e-12));
    }
}

/// Work of the normal impulse, integrated along the trace, against the energy balance.
#[test]
fn the_friction_work_is_that_of_the_slip() {
    for r in impacts(60) {
        let trace = trace_impact(&r.w, &r.v, r.mu, r.e, &ImpactOptions::default());
        let trace = trace.unwrap().unwrap();
        // Trapezoidal, second order in the spacing of the trace.
        let work: f64 = trace
            .points
            .windows(2)
            .map(|p| {
                let step = p[1].impulse - p[0].impulse;
                let mean = 0.5 * (p[0].velocity + p[1].velocity);
                step.x * mean.x + step.y * mean.y
            })
            .sum();
        let gap = (work - trace.impact.friction_work).abs();
        let size = r.v.norm_squared() / r.w.schur();
        assert!(gap <= 1e-3 * size, "{}: {gap:e} of {size:e}", r.number);
    }
}

#[test]
fn units_scale_and_rotations_and_reflections_commute() {
    for r in impacts(400) {
        let found = energetic(&r);
        let options = ImpactOptions::default();
        let scaled = |w: f64, v: f64| {
            let w = ContactInertia::from_matrix(&(r.w.matrix() * w)).unwrap();
            solve(&w, &(r.v * v), r.mu, r.e, &options).impulse
        };
        // Powers of two to the last bit, others to rounding.
        assert_eq!(scaled(1.0, 1024.0), found.impulse * 1024.0);
        assert_eq!(scaled(2.0, 1.0), found.impulse * 0.5);
        let close = gap(&(scaled(0.7, 3.0) * (0.7 / 3.0)), &found.impulse);
        assert!(close <= 1e-11, "{}: {close:e}", r.number);
        let turn = Rotation3::from_axis_angle(&Vector3::z_axis(), 1.1).into_inner();
        let mirror = Matrix3::from_diagonal(&Vector3::new(1.0, -1.0, 1.0));
        for map in [turn, mirror] {
            let w = map * r.w.matrix() * map.transpose();
            let w = ContactInertia::from_matrix(&w).unwrap();
            let moved = solve(&w, &(map * r.v), r.mu, r.e, &options);
            let close = gap(&moved.impulse, &(map * found.impulse));
            assert!(close <= 1e-11, "{}: {close:e}", r.number);
            assert_eq!(moved.events.sequence(), found.events.sequence());
        }
    }
}

#[test]
fn stick_is_exact_and_renewed_slip_is_centrifugal() {
    let mut modes = [0; 3];
    for r in impacts(3000) {
        let found = energetic(&r);
        let after = r.v + r.w.delta_velocity(&found.impulse);
        let size = r.v.norm();
        match found.mode {
            FinalMode::Slip => modes[0] += 1,
            FinalMode::Stick => {
                modes[1] += 1;
                assert!(
                    after.x.hypot(after.y) <= 1e-13 * size,
                    "{}: {after:?}",
                    r.number
                );
                assert_eq!((found.velocity_plus.x, found.velocity_plus.y), (0.0, 0.0));
            }
            FinalMode::ResumedSlip => {
                modes[2] += 1;
                let InvariantDirections::Discrete(list) = invariant_directions(&r.w, r.mu) else {
                    panic!("{}", r.number);
                };
                let s = list
                    .iter()
                    .find(|d| d.is_centrifugal())
                    .unwrap()
                    .direction();
                let v = found.velocity_plus;
                let off = (v.x * s[1] - v.y * s[0]).abs();
                assert!(off <= 1e-12 * size, "{}: {off:e}", r.number);
            }
        }
        let balance = (after - found.velocity_plus).amax();
        assert!(
            balance <= 1e-12 * size * (1.0 + r.mu),
            "{}: {balance:e}",
            r.number
        );
    }
    assert!(modes.iter().all(|&count| count > 5), "{modes:?}");
}

#[test]
fn central_impacts_rebound_at_e_times_the_closing_speed_under_every_law() {
    for number in 0..500 {
        let mut r = impact(number);
        let m = r.w.matrix();
        let central = Matrix3::new(
            m[(0, 0)],
            m[(0, 1)],
            0.0,
            m[(1, 0)],
            m[(1, 1)],
            0.0,
            0.0,
            0.0,
            m[(2, 2)],
        );
        r.w = ContactInertia::from_matrix(&central).unwrap();
        for law in LAWS {
            let found = solve(&r.w, &r.v, r.mu, r.e, &with(law));
            let gap = (found.velocity_plus.z + r.e * r.v.z).abs();
            assert!(gap <= 1e-12 * r.v.z.abs(), "{number}: {gap:e}");
            let slows = found.velocity_plus.xy().norm() <= r.v.xy().norm();
            assert!(slows, "{number}");
        }
    }
}

#[test]
fn plastic_impacts_end_when_compression_does() {
    for r in impacts(300) {
        for law in LAWS {
            let found = solve(&r.w, &r.v, r.mu, 0.0, &with(law));
            assert_eq!(found.velocity_plus.z, 0.0);
            let gap = (found.impulse.z - found.compression_impulse).abs();
            assert!(gap <= 1e-14 * found.impulse.z);
        }
    }
}

#[test]
fn without_coupling_too_strong_compression_is_never_interrupted() {
    for r in impacts(3000) {
        if r.w.normal_margin(r.mu) > 0.0 {
            assert!(!energetic(&r).recompressed, "{}", r.number);
        }
    }
}

/// With isotropic $B = b$: $I_{zs} = (\rho + d\cdot\gamma/\mu b)/(\mu b - |d|^2/\mu b)$.
#[test]
fn isotropic_friction_stops_sliding_at_the_closed_form() {
    let mut stream = Stream(1);
    for number in 0..200 {
        let b = stream.uniform(0.5, 3.0);
        let mu = stream.uniform(0.2, 4.0);
        let d = stream.vector() * (0.6 * b.min(mu * b));
        let wzz = d.norm_squared() / b + stream.uniform(0.1, 2.0);
        let w = ContactInertia::from_matrix(&Matrix3::new(b, 0.0, d.x, 0.0, b, d.y, d.x, d.y, wzz))
            .unwrap();
        let v = stream.vector().xy();
        // Closing so fast that sliding stops during compression.
        let closing = Vector3::new(v.x, v.y, -1e3 * v.norm());
        let found = solve(&w, &closing, mu, 0.0, &ImpactOptions::default());
        let stop = found.events.first(Event::SlipZero).unwrap().impulse[2];
        let mb = mu * b;
        let expected = (v.norm() + d.xy().dot(&v) / mb) / (mb - d.xy().norm_squared() / mb);
        let gap = (stop - expected).abs() / expected;
        assert!(gap <= 1e-12, "{number}: {gap:e}");
    }
}

/// Continuity with the energetic law, also where interruptions first appear.
#[test]
fn outcomes_are_continuous_where_recompression_sets_in() {
    let w = ContactInertia::from_matrix(&Matrix3::new(
        11.5984, -0.910367, 2.44236, -0.910367, 9.90134, 1.95747, 2.44236, 1.95747, 2.59042,
    ))
    .unwrap();
    let at = |vz: f64, recompression| {
        let options = ImpactOptions::default().with_recompression(recompression);
        solve(
            &w,
            &Vector3::new(-0.261976, 0.386329, vz),
            3.0,
            0.5,
            &options,
        )
        .impulse
        .z
    };
    let jump = |r| (at(-0.00949340803, r) - at(-0.00949340804, r)).abs();
    assert!(jump(Recompression::EachCompression) <= 1e-10);
    let single = jump(Recompression::Single);
    assert!((single - 0.0035252).abs() <= 1e-6, "{single}");
}

/// If the energy is used up just when the normal velocity falls through zero, the outcome jumps:
/// by the impact without collision of the state that the slower impact leaves, which touches and is
/// jammed. The jump is that between parting and touching, and no rule for the energy can remove it.
#[test]
fn the_outcome_jumps_by_an_impact_without_collision() {
    let w = ContactInertia::from_matrix(&Matrix3::new(
        11.5984, -0.910367, 2.44236, -0.910367, 9.90134, 1.95747, 2.44236, 1.95747, 2.59042,
    ))
    .unwrap();
    let at = |speed: f64| {
        let v = Vector3::new(-0.261976, 0.386329, -speed);
        solve(&w, &v, 3.0, 0.5, &ImpactOptions::default())
    };
    let (mut slow, mut fast) = (0.008, 0.0083);
    assert!(!at(slow).recompressed && at(fast).recompressed);
    for _ in 0..60 {
        let middle = 0.5 * (slow + fast);
        if at(middle).recompressed {
            fast = middle;
        } else {
            slow = middle;
        }
    }
    assert!((fast - 0.0081).abs() <= 5e-5, "{fast}");
    let (before, after) = (at(slow), at(fast));
    // The square root of the rounding of the energy, against a closing speed of 0.008.
    assert!(before.velocity_plus.z >= 0.0 && before.velocity_plus.z <= 1e-9);
    let mut touching = before.velocity_plus;
    touching.z = 0.0;
    let options = ImpactOptions::default().with_tangential_impact(true);
    let rest = solve(&w, &touching, 3.0, 0.5, &options);
    let gap = gap(&(before.impulse + rest.impulse), &after.impulse);
    assert!(gap <= 1e-6, "{gap:e}");
    assert!(rest.impulse.z >= 0.1 * after.impulse.z);
}

/// Impact without collision: the limit of a closing speed that vanishes.
#[test]
fn a_touching_contact_that_friction_drives_together_is_jammed_or_resolved() {
    use carom_two_body::ContactResponse;
    let w = ContactInertia::from_matrix(&Matrix3::new(
        11.5984, -0.910367, 2.44236, -0.910367, 9.90134, 1.95747, 2.44236, 1.95747, 2.59042,
    ))
    .unwrap();
    let touching = Vector3::new(0.5, 0.5, 0.0);
    let mut options = ImpactOptions::default();
    let jam = solve_impact(&w, &touching, 3.0, 0.5, &options).unwrap();
    assert_eq!(jam, ContactResponse::Jammed);
    options.tangential_impact = true;
    let found = solve(&w, &touching, 3.0, 0.5, &options);
    let expected = Vector3::new(-0.09326920351978, -0.09887916053971, 0.20134509464648);
    let close = gap(&found.impulse, &expected);
    assert!(close <= 1e-12, "{close:e}");
    let slow = solve(&w, &Vector3::new(0.5, 0.5, -1e-13), 3.0, 0.5, &options);
    assert!(gap(&slow.impulse, &expected) <= 1e-12);
    // Less friction: nothing happens.
    let free = solve_impact(&w, &touching, 0.3, 0.5, &options).unwrap();
    assert_eq!(free, ContactResponse::Separating);
    for vz in [0.0, -0.0, 1.0, 1e-300] {
        let away = Vector3::new(-0.5, 0.5, vz);
        let free = solve_impact(&w, &away, 0.8, 0.5, &options).unwrap();
        assert_eq!(free, ContactResponse::Separating, "{vz}");
    }
}

/// However slowly the contact closes, it rebounds.
#[test]
fn tiny_closing_speeds_scale() {
    let r = impacts(100)
        .find(|r| r.w.normal_margin(r.mu) > 0.0)
        .unwrap();
    for exponent in [-20, -100, -200, -300] {
        let v = Vector3::new(r.v.x, r.v.y, -(10f64.powi(exponent)));
        let found = solve(&r.w, &v, r.mu, 0.5, &ImpactOptions::default());
        assert!(found.impulse.z > 0.0, "{exponent}");
        let tiny = v * 1e-5;
        let small = solve(&r.w, &tiny, r.mu, 0.5, &ImpactOptions::default());
        assert!(
            gap(&(small.impulse * 1e5), &found.impulse) <= 1e-12,
            "{exponent}"
        );
    }
}

#[test]
fn newton_can_create_energy_and_the_others_do_not() {
    let w = ContactInertia::from_matrix(&Matrix3::new(
        11.5984, -0.910367, 2.44236, -0.910367, 9.90134, 1.95747, 2.44236, 1.95747, 2.59042,
    ))
    .unwrap();
    let v = Vector3::new(-0.7733755372, -0.6339481670, -0.8380414992);
    for (law, change) in [
        (RestitutionLaw::Newton, 0.08304607868472212),
        (RestitutionLaw::Poisson, -0.05032868782109601),
        (RestitutionLaw::Energetic, -0.03087209089119873),
    ] {
        let found = solve(&w, &v, 0.5, 1.0, &with(law));
        let energy = found.energy_change();
        assert!((energy - change).abs() <= 1e-12, "{law:?}: {energy}");
        assert!((found.energy_gain() - change.max(0.0)).abs() <= 1e-12);
    }
}

/// The tolerance bounds the error of the outcome, and mostly is a hundred times larger.
#[test]
fn outcomes_are_as_good_as_the_tolerance_asked_for() {
    for tolerance in [1e-6, 1e-8, 1e-10, 1e-12] {
        let mut gaps = Vec::new();
        for r in (0..600).map(impact).chain((0..200).map(stiff)) {
            let at = |tolerance| {
                let options = ImpactOptions::default().with_tolerance(tolerance);
                solve(&r.w, &r.v, r.mu, r.e, &options).impulse
            };
            gaps.push(gap(&at(tolerance), &at(1e-15)));
        }
        gaps.sort_by(f64::total_cmp);
        let at = |q: usize| gaps[gaps.len() * q / 1000];
        assert!(
            at(500) <= 0.01 * tolerance,
            "{tolerance:e}: median {:e}",
            at(500)
        );
        assert!(at(999) <= tolerance, "{tolerance:e}: worst {:e}", at(999));
    }
}
