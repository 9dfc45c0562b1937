//! Samples of the set: what every one of them is, and their statistics.

use crate::support::systems::*;
use carom_contact::{FrictionCone, ImpactError, ImpactLaw, SetValuedLaw};
use carom_impact::frictional::{
    BranchPolicy, CapDistribution, Sampler, SamplingProbe, SetValued, TerminationBounds,
    sampled_outcomes, summarize,
};
use carom_impact::internal::{CAP_OFF, Draw};
use carom_impact::{Limit, Unsolved};
use nalgebra::{DMatrix, DVector};

fn paper(system: &System) -> SetValued {
    SetValued::default()
        .with_impulse_step(Some(system.impulse_step))
        .with_max_steps(system.max_steps)
}

/// Everything: every policy on.
fn searching(system: &System) -> SetValued {
    paper(system)
        .with_max_steps(100)
        .with_branch(BranchPolicy::RandomCovering { spread: 6.0 })
        .with_caps(CapDistribution::Mixed { off: 0.25 })
}

/// Contact velocities after every sample that ends; mean number of steps of all.
fn samples(system: &System, law: &SetValued, n: u64) -> (Vec<Vec<f64>>, f64, u64) {
    system.pose(|problem| {
        let sampler = Sampler::new(problem, law).unwrap();
        let (mut draw, mut rows) = (Draw::default(), Vec::new());
        let (mut all, mut steps, mut ended) = (Vec::new(), 0, 0);
        for sample in 0..n {
            sampler.draw(sample, &mut draw).unwrap();
            steps += draw.steps;
            if draw.is_ended {
                ended += 1;
                sampler.contact_velocity(&draw, &mut rows);
                all.push(rows.clone());
            }
        }
        (all, steps as f64 / n as f64, ended)
    })
}

fn extent(rows: &[Vec<f64>], row: usize) -> (f64, f64) {
    let values = rows.iter().map(|r| r[row]);
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| {
        (a.min(v), b.max(v))
    })
}

/// Halm & Posa, Fig. 9: outcomes of the block lie on an L, up to the sequential ones.
#[test]
fn the_block_lands_on_one_corner_or_on_both() {
    let system = rocking_block();
    let (all, _, ended) = samples(&system, &paper(&system), 1 << 14);
    assert_eq!(ended, 1 << 14);
    let lift = 0.21 * (2.0f64 * 9.81 * 0.01).sqrt();
    let mut rest = 0;
    for rows in &all {
        let (a, b) = (rows[0], rows[2]);
        assert!(
            a.min(b).abs() <= 1e-9 && a.max(b) <= lift + 1e-9,
            "{rows:?}"
        );
        assert!(rows[1].abs() <= 1e-9 && rows[3].abs() <= 1e-9, "{rows:?}");
        rest += usize::from(a.max(b) <= 1e-6);
    }
    // Twelve seeds gave 0.0902 to 0.0921.
    let highest = extent(&all, 0).1.max(extent(&all, 2).1);
    assert!((0.0895..=lift + 1e-9).contains(&highest), "{highest}");
    let fraction = rest as f64 / all.len() as f64;
    // Four standard errors.
    assert!((fraction - 0.334).abs() <= 0.015, "{fraction}");
    // Switching corners off meets the sequential outcomes themselves.
    let (all, _, _) = samples(&system, &searching(&system), 1 << 12);
    assert!((extent(&all, 0).1 - lift).abs() <= 1e-9);
    assert!((extent(&all, 2).1 - lift).abs() <= 1e-9);
}

/// Extents found by an independent search; box: a closed form for the fastest slide of A.
#[test]
fn searching_samples_fill_the_known_extents_and_leave_none() {
    let cases = [
        (
            compass_gait(),
            [
                (0.0, 0.0374504486),
                (-0.0744905823, 0.0),
                (0.0, 0.0995551756),
                (0.0, 0.1980196039),
            ],
        ),
        (
            box_and_wall(),
            [
                (0.0, 0.0),
                (0.0, 0.3720978271),
                (0.0, 0.1056422865),
                (0.0, 0.0725421704),
            ],
        ),
    ];
    for (system, extents) in cases {
        let (all, _, _) = samples(&system, &searching(&system), 1 << 14);
        for (row, (low, high)) in extents.into_iter().enumerate() {
            let (least, most) = extent(&all, row);
            assert!(
                least >= low - 1e-6 && most <= high + 1e-6,
                "row {row}: {least} {most}"
            );
            assert!(
                most - least >= 0.97 * (high - low) - 1e-9,
                "row {row}: {least} {most}"
            );
        }
    }
}

/// Mean number of complementarity problems of an independent implementation; its standard errors
/// are below 0.005, ours below 0.02.
#[test]
fn steps_of_a_sample_on_average() {
    for (name, system, expected) in [
        ("block", rocking_block(), 2.469),
        ("compass", compass_gait(), 1.666),
        ("box", box_and_wall(), 1.539),
    ] {
        let (_, mean, _) = samples(&system, &paper(&system), 1 << 13);
        assert!((mean - expected).abs() <= 0.03, "{name}: {mean}");
    }
    let system = compass_gait();
    let random = paper(&system).with_branch(BranchPolicy::RandomCovering { spread: 6.0 });
    let (_, mean, _) = samples(&system, &random, 1 << 13);
    // The frequency of each solution of a step depends on the units of the unknowns: 2.043 where
    // the multipliers of the cones are in those of the rows as given. This one is our own.
    assert!(
        (mean - 1.952).abs() <= 0.04,
        "compass, random branch: {mean}"
    );
    for (mass, expected) in [(1.0, 2.366), (5.0, 6.678)] {
        let system = disk_stack(mass);
        let (_, mean, _) = samples(&system, &paper(&system), 1 << 12);
        assert!(
            (mean - expected).abs() <= 0.06,
            "disks of {mass} kg: {mean}"
        );
    }
}

/// Theorem 8: the tail of the number of steps is within its bound.
#[test]
fn samples_end_within_the_bound() {
    for system in [
        rocking_block(),
        compass_gait(),
        box_and_wall(),
        disk_stack(1.0),
    ] {
        let bounds = system.pose(|p| TerminationBounds::new(p, system.impulse_step, None).unwrap());
        let law = paper(&system).with_max_steps(bounds.steps(1e-3) as usize);
        let (_, _, ended) = samples(&system, &law, 1 << 10);
        assert_eq!(ended, 1 << 10);
    }
}

/// The numbers of a sample depend on its index alone.
#[test]
fn samples_do_not_depend_on_their_order() {
    let system = disk_stack(1.0);
    let law = searching(&system);
    system.pose(|problem| {
        let sampler = Sampler::new(problem, &law).unwrap();
        let mut used = Draw::default();
        for sample in (0..50).rev() {
            sampler.draw(sample, &mut used).unwrap();
            let mut fresh = Draw::default();
            sampler.draw(sample, &mut fresh).unwrap();
            assert_eq!(
                sampler.outcome(&used).unwrap(),
                sampler.outcome(&fresh).unwrap()
            );
        }
    });
}

#[test]
fn outcomes_are_audited_and_in_order() {
    let system = box_and_wall();
    let law = paper(&system).with_samples(100);
    system.pose(|problem| {
        let set = law.resolve_all(problem).unwrap();
        assert_eq!((set.outcomes.len(), set.complete), (100, false));
        assert_eq!(law.resolve(problem).unwrap(), set.outcomes[0]);
        for outcome in &set.outcomes {
            let audit = &outcome.audit;
            assert!(audit.energy_change_j() <= 0.0);
            assert!(audit.momentum_residual <= 1e-13);
            assert!(audit.penetration_residual <= 1e-9);
            assert!(audit.adhesion_residual <= 1e-13);
            assert!(audit.friction_residual <= 1e-12);
        }
        assert!(set.indeterminacy > 0.1 && set.indeterminacy < 1.0);
    });
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let good = SetValued::default().with_impulse_step(Some(0.3));
    let with = |change: fn(&mut SetValued)| {
        let mut law = good.clone();
        change(&mut law);
        law
    };
    for law in [
        with(|l| l.impulse_step = Some(0.0)),
        with(|l| l.impulse_step = Some(f64::NAN)),
        with(|l| l.samples = 0),
        with(|l| l.max_steps = 0),
        with(|l| l.epsilon = Some(0.3)),
        with(|l| l.epsilon = Some(0.0)),
        with(|l| l.friction_cone = FrictionCone::Polygon(3)),
        with(|l| l.branch = BranchPolicy::RandomCovering { spread: -1.0 }),
        with(|l| l.caps = CapDistribution::Mixed { off: 1.0 }),
    ] {
        let error = rocking_block().pose(|p| law.resolve(p).unwrap_err());
        assert_eq!(error.kind(), "invalid-option", "{law:?}");
    }
}

/// One step is not enough for any sample of the block.
#[test]
fn running_out_of_steps_is_said_only_if_no_sample_ends() {
    let law = SetValued::default()
        .with_impulse_step(Some(0.01))
        .with_max_steps(2)
        .with_samples(10);
    let error = rocking_block().pose(|p| law.resolve_all(p).unwrap_err());
    assert_eq!(
        error,
        ImpactError::Limit {
            limit: Limit::Samples,
            at: 2,
            raise: Some("max_steps"),
        }
    );
}

/// Lemke's method passes between the solutions on either side of the sliding one, whatever the
/// covering vector; trying all modes does not.
#[test]
fn trying_all_modes_finds_the_outcome_between_two_others() {
    let system = compass_gait();
    let law = paper(&system).with_branch(BranchPolicy::Enumerate);
    let (all, _, _) = samples(&system, &law, 500);
    let slide = [0.0, 0.0, 0.0, 0.1284904325];
    let hits = all.iter().filter(|rows| {
        let off = rows.iter().zip(&slide).map(|(a, b)| (a - b).abs());
        off.fold(0.0, f64::max) <= 1e-9
    });
    assert!(hits.count() >= 20);
    let extents = [
        (0.0, 0.0374504486),
        (-0.0744905823, 0.0),
        (0.0, 0.0995551756),
        (0.0, 0.1980196039),
    ];
    for (row, (low, high)) in extents.into_iter().enumerate() {
        let (least, most) = extent(&all, row);
        assert!(least >= low - 1e-6 && most <= high + 1e-6, "{row}");
    }
    let crowd = System {
        contacts: system.contacts.iter().cycle().take(6).cloned().collect(),
        ..system.clone()
    };
    let error = crowd.pose(|p| law.resolve(p).unwrap_err());
    assert!(matches!(
        error,
        ImpactError::NotSolved(Unsolved::Modes { contacts: 6, .. })
    ));
}

/// The compass gait has steps with two or three solutions, of which a fixed covering vector finds
/// one; the block dropped flat has none.
#[test]
fn samples_know_what_they_do_not_see() {
    let probe = |system: System, branch| {
        system.pose(|problem| {
            let law = SetValued::default().with_samples(400).with_branch(branch);
            let sampler = Sampler::new(problem, &law).unwrap();
            let summary = summarize(&sampler, &|_, _| {}).unwrap();
            SamplingProbe::new(&sampler, &summary).unwrap()
        })
    };
    let block = probe(rocking_block(), BranchPolicy::Fixed);
    assert!(block.ambiguous_steps == 0.0 && !block.branch_blind);
    // Bred extremes of the block are sequential outcomes, which uniform caps do not meet.
    assert_eq!(block.gap_to_extremes.len(), 4);
    assert!(
        block
            .gap_to_extremes
            .iter()
            .all(|gap| (0.0..1.0).contains(gap))
    );
    assert!(block.gap_to_extremes[0] > 0.0);
    let gait = probe(compass_gait(), BranchPolicy::Fixed);
    assert!(gait.ambiguous_steps > 0.0 && gait.branch_blind, "{gait:?}");
    let random = probe(compass_gait(), BranchPolicy::RandomCovering { spread: 6.0 });
    assert!(random.ambiguous_steps > 0.0 && !random.branch_blind);
}

/// A box that falls on four corners with different friction: one of 512 samples meets a step that is not solved. The others are
/// told.
#[test]
fn a_sample_that_is_not_solved_is_counted() {
    let corner = |x: f64, y: f64, friction: f64| {
        contact(
            &[0.0, 0.0, 1.0, y, -x, 0.0],
            &[
                &[0.0, 1.0, 0.0, 0.482, 0.0, x],
                &[-1.0, 0.0, 0.0, 0.0, 0.482, y],
            ],
            friction,
        )
    };
    let contacts = vec![
        corner(0.94, 0.403, 0.46),
        corner(0.94, -0.403, 0.305),
        corner(-0.94, 0.403, 0.777),
        corner(-0.94, -0.403, 0.826),
    ];
    let diagonal = DVector::from_vec(vec![2.03, 2.03, 2.03, 0.266, 0.753, 0.706]);
    let velocity = [0.719, 0.0539, -0.906, 0.238, -0.00658, 0.322];
    let system = System::new(DMatrix::from_diagonal(&diagonal), contacts, &velocity);
    let law = SetValued::default()
        .with_samples(512)
        .with_caps(CapDistribution::Mixed { off: CAP_OFF })
        .with_branch(BranchPolicy::Auto);
    system.pose(|problem| {
        let sampler = Sampler::new(problem, &law).unwrap();
        let (summary, outcomes) = sampled_outcomes(&sampler, &|_, _| {}).unwrap();
        assert_eq!(summary.samples, 512);
        assert!(summary.unsolved <= 8, "{}", summary.unsolved);
        assert_eq!(summary.terminated + summary.unsolved, 512);
        assert_eq!(summary.terminated, outcomes.len() as u64);
        assert_eq!(summary.histogram.iter().sum::<u64>(), summary.terminated);
        let probe = SamplingProbe::new(&sampler, &summary).unwrap();
        assert!(probe.gap_to_extremes.iter().all(|gap| *gap < 1.0));
        assert_eq!(law.resolve(problem).unwrap(), outcomes[0]);
    });
}
