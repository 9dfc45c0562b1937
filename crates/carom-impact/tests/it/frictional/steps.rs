//! Steps with given caps.

use crate::support::systems::*;
use carom_contact::ContactSet;
use carom_impact::frictional::all_steps;
use carom_impact::internal::{ImpactStepper, StepWorkspace};
use carom_metric::Tangent;

/// Follows caps step by step.
fn follow(system: &System, caps: &[&[f64]]) -> Vec<Vec<f64>> {
    let contacts = ContactSet::new(&system.metric, system.contacts.clone()).unwrap();
    let stepper = ImpactStepper::new(&contacts, None).unwrap();
    let mut workspace = StepWorkspace::new();
    let mut velocity = Tangent::from_slice(&system.velocity);
    let mut path = Vec::new();
    for caps in caps {
        let step = stepper.step(&velocity, caps, None, &mut workspace).unwrap();
        velocity = step.velocity;
        path.push(velocity.0.as_slice().to_vec());
    }
    path
}

#[track_caller]
fn assert_path(system: &System, caps: &[&[f64]], expected: &[&[f64]]) {
    let path = follow(system, caps);
    for (i, (actual, expected)) in path.iter().zip(expected).enumerate() {
        assert_all_close(actual, expected, 1e-9, &format!("after step {}", i + 1));
    }
    assert_eq!(path.len(), expected.len());
}

/// Reference values of an independent implementation.
#[test]
fn the_block_follows_its_caps() {
    assert_path(
        &rocking_block(),
        &[&[0.1698, 0.092], &[0.1757, 0.0146], &[0.1093, 0.0678]],
        &[
            &[0.0274588235, -0.1811446918, -0.0274588235],
            &[0.0689234075, -0.0344617038, -0.0689234075],
            &[0.0482463853, 0.0241231926, -0.0482463853],
        ],
    );
    assert_path(
        &rocking_block(),
        &[&[0.1744, 0.1672], &[0.032, 0.1096], &[0.1269, 0.1697]],
        &[
            &[0.0025411765, -0.1013446918, -0.0025411765],
            &[-0.0090434075, -0.0045217038, 0.0090434075],
            &[-0.0063303853, 0.0031651926, 0.0063303853],
        ],
    );
}

#[test]
fn the_box_follows_its_caps_to_rest() {
    assert_path(
        &box_and_wall(),
        &[&[0.1383, 0.3632], &[0.0484, 0.1765], &[0.3944, 0.4129]],
        &[
            &[0.4985, -0.0498101930, 0.0859941094],
            &[0.2736, -0.0903487778, 0.1559813807],
            &[0.0; 3],
        ],
    );
}

/// Five contacts, five steps.
#[test]
fn the_stack_follows_its_caps() {
    assert_path(
        &disk_stack(1.0),
        &[
            &[0.1455, 0.0339, 0.2691, 0.2909, 0.2499],
            &[0.1061, 0.1902, 0.2312, 0.0187, 0.2368],
            &[0.0255, 0.2819, 0.0724, 0.2889, 0.0696],
            &[0.1606, 0.2494, 0.2963, 0.2117, 0.2504],
            &[0.1175, 0.2252, 0.1154, 0.279, 0.2321],
        ],
        &[
            &[
                0.0081256121,
                -0.3592534715,
                0.0439377690,
                0.0608479221,
                -0.2341154458,
                -0.0608479221,
                0.0608479221,
                -0.2272310827,
                0.0677322852,
            ],
            &[
                0.0187934309652366,
                -0.19130114620787753,
                -0.04075865179501763,
                -0.00884478682861467,
                -0.1753442137246759,
                0.00884478682861467,
                -0.00884478682861465,
                -0.15765464006744656,
                0.008844786828614726,
            ],
            &[
                -0.027556344031817268,
                -0.04112359354581291,
                0.029138735652764106,
                -0.008844786828614672,
                -0.1498442137246759,
                0.008844786828614672,
                -0.0012440659798393441,
                -0.025932192729511194,
                0.0012440659798393433,
            ],
            &[
                -0.021201120460663185,
                -0.011000620171559207,
                0.010023332397208588,
                -0.006709801457532218,
                -0.019367187098929622,
                0.0067098014575322235,
                -0.0012440659798393444,
                0.0,
                0.001244065979839344,
            ],
            &[
                -0.01625055998441937,
                0.005039653091365986,
                0.00255768140508006,
                -0.007521624777651921,
                0.0,
                0.0075216247776519205,
                -0.0012440659798393444,
                0.0,
                0.001244065979839344,
            ],
        ],
    );
}

/// Any covering vector leads to one of the enumerated branches.
#[test]
fn every_covering_vector_finds_one_of_the_steps_of_the_compass_gait() {
    let system = compass_gait();
    let lift = [0.0884292490, -0.4160269076, -0.4253211962, 0.5271004937];
    let slide = [0.0642452163, -0.3022499788, -0.3090024231, 0.3090024231];
    let both = [-0.0001190007, -0.0585869002, 0.0005723618, 0.0005723618];
    let saturated = [0.0434461162, -0.2043979064, -0.2089642772, 0.1214305804];
    let cases: [([f64; 2], Vec<[f64; 4]>); 3] = [
        ([0.2497, 0.1222], vec![lift, slide, both]),
        ([0.2334, 0.005], vec![lift]),
        ([0.2414, 0.0422], vec![lift, slide, saturated]),
    ];
    let contacts = ContactSet::new(&system.metric, system.contacts.clone()).unwrap();
    let stepper = ImpactStepper::new(&contacts, None).unwrap();
    let velocity = Tangent::from_slice(&system.velocity);
    let mut workspace = StepWorkspace::new();
    for (caps, expected) in cases {
        let all = system.pose(|problem| all_steps(problem, &caps).unwrap());
        assert_eq!(all.len(), expected.len(), "{caps:?}");
        let is_expected = |v: &Tangent| {
            expected
                .iter()
                .any(|e| v.0.iter().zip(e).all(|(a, b)| (a - b).abs() <= 1e-9))
        };
        for solution in &all {
            assert!(is_expected(&solution.outcome.velocity_plus), "{solution:?}");
        }
        let mut seen = std::collections::BTreeSet::new();
        let mut rng = carom_impact::frictional::CounterRng::new(7, 0, 0);
        for _ in 0..200 {
            let mut entry = || (6.0 * (2.0 * rng.next_uniform() - 1.0)).exp();
            let cover: Vec<f64> = (0..stepper.dim()).map(|_| entry()).collect();
            let step = stepper
                .step(&velocity, &caps, Some(&cover), &mut workspace)
                .unwrap();
            assert!(is_expected(&step.velocity), "{caps:?} {cover:?} {step:?}");
            seen.insert((step.velocity.0[3] * 1e6) as i64);
        }
        assert!(seen.len() <= expected.len());
    }
}

#[test]
fn bad_caps_and_covers_are_refused() {
    let system = rocking_block();
    let contacts = ContactSet::new(&system.metric, system.contacts.clone()).unwrap();
    let stepper = ImpactStepper::new(&contacts, None).unwrap();
    let velocity = Tangent::from_slice(&system.velocity);
    let mut workspace = StepWorkspace::new();
    for caps in [
        &[0.1][..],
        &[0.1, -0.1],
        &[0.1, f64::NAN],
        &[f64::INFINITY, 0.1],
    ] {
        let error = stepper
            .step(&velocity, caps, None, &mut workspace)
            .unwrap_err();
        assert_eq!(error.kind(), "invalid-option", "{caps:?}");
    }
    let short = [1.0];
    let error = stepper
        .step(&velocity, &[0.1, 0.1], Some(&short), &mut workspace)
        .unwrap_err();
    assert_eq!(error.kind(), "dimension-mismatch");
    // A step without push is no step.
    let step = stepper
        .step(&velocity, &[0.0; 2], None, &mut workspace)
        .unwrap();
    assert_all_close(
        step.velocity.0.as_slice(),
        &system.velocity,
        1e-15,
        "velocity",
    );
}
