//! The running robot against an independent implementation in another language, and the search for
//! orthogonal normals.

use carom_mechanism::MechanicalSystem;
use carom_mechanism::design::{
    ClosedPair, DesignFamily, Influence, PairAngle, RootOptions, min_norm_newton, nearest_root,
};
use carom_mechanism::{DesignError, MechanismError};
use carom_motion::generalized::{CollisionIntegrator, State, Trajectory};
use carom_scenarios::tail_runner::{
    GRAVITY, LEFT_FOOT, Layout, Lengths, SpineJoint, Stance, TAIL, TailRule, TailRunner,
    TailRunners, UNKNOWNS,
};
use carom_scenarios::{Overrides, scenario};
use carom_variational::TimeGrid;
use nalgebra::DMatrix;

/// Seghete & Murphey, Table I, in the order of the stance.
const INITIAL: (Stance, [f64; 4]) = (
    [0.0, 12.38, 5.78, 5.13, 5.24, 1.99, 5.24, 0.0],
    [7.0, 4.0, 8.0, 10.0],
);
const OPTIMIZED: (Stance, [f64; 4]) = (
    [0.0, 13.69, 5.92, 4.79, 5.71, 2.85, 5.67, -0.19],
    [6.69, 4.22, 7.81, 9.86],
);

const fn layout(spine: SpineJoint, tail: TailRule) -> Layout {
    Layout { spine, tail }
}

fn robot(lengths: [f64; 4], layout: Layout) -> TailRunner {
    TailRunner::passive(Lengths::from_table(lengths), layout, GRAVITY).unwrap()
}

fn family(layout: Layout) -> TailRunners {
    TailRunners { layout }
}

fn unknowns((stance, lengths): (Stance, [f64; 4])) -> [f64; UNKNOWNS] {
    TailRunners::unknowns_of(Lengths::from_table(lengths), &stance)
}

fn angle(layout: Layout, z: &[f64]) -> PairAngle {
    PairAngle::new(&family(layout).at(z).unwrap(), [TAIL, LEFT_FOOT]).unwrap()
}

/// Masses from density and volume by hand; the determinant and the largest inertia from the
/// independent implementation.
#[test]
fn the_initial_robot_weighs_what_its_volumes_do() {
    let robot = robot(INITIAL.1, Layout::default());
    let mut mass = DMatrix::zeros(8, 8);
    robot.mechanism.mass_matrix(&INITIAL.0, &mut mass);
    let tail = 2.5 * 4.0 * 11.0 / 3.0;
    let balls = 4.0 / 3.0 * std::f64::consts::PI * (343.0 + 64.0);
    let total = balls + tail + 2.0 * 2.5 * 18.0;
    assert!((mass[(0, 0)] - total).abs() <= 1e-12 * total);
    assert!((total - 1_831.504_280_014_727_6).abs() <= 1e-9);
    let close = |ours: f64, theirs: f64| {
        assert!(
            (ours - theirs).abs() <= 1e-9 * theirs.abs(),
            "{ours} and {theirs}"
        );
    };
    close(mass[(2, 2)], 83_029.359_312_784_04);
    close(mass[(2, 0)], 1_745.958_389_039_757);
    close(mass[(2, 1)], 3_171.765_351_937_717_7);
    close(mass.trace(), 100_437.781_495_438_26);
    let lower = mass.clone().cholesky().unwrap().l();
    let log_det: f64 = 2.0 * lower.diagonal().iter().map(|x| x.ln()).sum::<f64>();
    close(log_det, 62.642_767_462_107_97);
    close(mass.symmetric_eigenvalues().min(), 316.647_840_392_604_3);
}

/// Tips, cosines and products of the printed rows under four readings of the paper.
#[test]
fn the_printed_rows_put_tail_and_foot_near_the_floor() {
    use SpineJoint::{Posterior, Tangency};
    use TailRule::{Cone, Printed};
    let cases = [
        (
            INITIAL,
            layout(Posterior, Cone),
            [22.485_308_866_795_744, 0.003_059_225_213_423_389],
            [-9.722_581_690_558_904, 0.131_460_793_435_538_3],
            [9.703_061_687_986_255, 24.644_008_370_164_77],
            -0.000_427_781_328_965_664_2,
            -2.788_096_032_302_271_3e-5,
        ),
        (
            OPTIMIZED,
            layout(Posterior, Cone),
            [26.058_076_182_822_12, 0.020_852_954_700_986_36],
            [-9.664_485_948_396_34, -0.245_992_427_241_782_6],
            [-9.135_264_364_860_57, 27.857_483_269_971_368],
            0.000_700_432_758_923_13,
            3.921_860_979_962_085e-5,
        ),
        (
            INITIAL,
            layout(Posterior, Printed),
            [23.533_141_836_431_66, -0.573_715_889_768_601_9],
            [-9.722_581_690_558_904, 0.131_460_793_435_538_3],
            [9.703_061_687_986_255, 24.644_008_370_164_77],
            -0.000_317_923_521_312_654_4,
            -2.079_994_327_052_351e-5,
        ),
        (
            OPTIMIZED,
            layout(Tangency, Cone),
            [25.703_956_167_878_978, -0.697_165_550_417_006_2],
            [-9.664_485_948_396_34, -0.245_992_427_241_782_6],
            [-9.135_264_364_860_57, 27.857_483_269_971_368],
            0.001_043_922_951_856_747_8,
            5.024_561_173_368_998e-5,
        ),
    ];
    for (row, layout, tail, foot, other, cosine, product) in cases {
        let outline = robot(row.1, layout).outline(&row.0);
        let close = |ours: f64, theirs: f64, tolerance: f64| {
            assert!((ours - theirs).abs() <= tolerance, "{ours} and {theirs}");
        };
        for (ours, theirs) in [
            (outline.tail_tip, tail),
            (outline.legs[0][1], foot),
            (outline.legs[1][1], other),
        ] {
            close(ours[0], theirs[0], 1e-12);
            close(ours[1], theirs[1], 1e-12);
        }
        let angle = angle(layout, &unknowns(row));
        close(angle.gaps[0], tail[1], 1e-12);
        close(angle.gaps[1], foot[1], 1e-12);
        close(angle.cosine, cosine, 1e-14);
        close(angle.product, product, 1e-15);
    }
}

/// Every gradient that the searches use, against differences of the values, for every reading.
/// Central differences of step 1e-5 are good to 1e-9 of a value of order one.
#[test]
fn gradients_are_those_of_the_values() {
    for spine in [SpineJoint::Posterior, SpineJoint::Tangency] {
        for tail in [TailRule::Cone, TailRule::Printed] {
            let layout = layout(spine, tail);
            let z = unknowns(OPTIMIZED);
            let at = angle(layout, &z);
            for j in 0..UNKNOWNS {
                let moved = |step: f64| {
                    let mut z = z;
                    z[j] += step;
                    angle(layout, &z)
                };
                let step = 1e-5;
                let (above, below) = (moved(step), moved(-step));
                let slope = |f: fn(&PairAngle) -> f64| (f(&above) - f(&below)) / (2.0 * step);
                let close = |ours: f64, slope: f64, tolerance: f64| {
                    assert!(
                        (ours - slope).abs() <= tolerance,
                        "{layout:?} {j}: {ours} and {slope}"
                    );
                };
                close(at.gap_gradients[0][j], slope(|a| a.gaps[0]), 2e-9);
                close(at.gap_gradients[1][j], slope(|a| a.gaps[1]), 2e-9);
                close(at.cosine_gradient[j], slope(|a| a.cosine), 2e-11);
            }
        }
    }
}

fn closed(layout: Layout, row: (Stance, [f64; 4])) -> Vec<f64> {
    let mut scales = [0.0; UNKNOWNS];
    (scales[0], scales[1]) = (1.0, 1.0);
    let family = family(layout);
    let equations = family.closed(None);
    let root = min_norm_newton(&equations, &unknowns(row), &scales, &RootOptions::default());
    root.unwrap().unknowns
}

fn assert_close(ours: &[f64], theirs: &[f64], tolerance: f64) {
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert!((ours - theirs).abs() <= tolerance, "{ours} and {theirs}");
    }
}

/// The independent implementation takes the same steps.
#[test]
fn newton_goes_from_the_table_to_orthogonal_normals() {
    let start = closed(Layout::default(), INITIAL);
    assert_close(
        &start,
        &[
            12.287_202_089_067_03,
            5.783_986_628_300_144,
            5.13,
            5.24,
            1.99,
            5.24,
            0.0,
            7.0,
            4.0,
            8.0,
            10.0,
        ],
        1e-12,
    );
    let at = angle(Layout::default(), &start);
    assert!((at.cosine + 0.000_420_766_412_042_506_93).abs() <= 1e-15);
    assert_close(
        &at.cosine_gradient,
        &[
            0.0,
            0.001_750_513_655_265_997,
            -0.000_393_612_482_613_796_36,
            0.001_774_540_211_329_860_5,
            1.422_179_270_788_800_5e-5,
            5.186_431_628_590_249e-6,
            0.001_366_565_841_227_646_7,
            -0.000_242_707_226_522_477_85,
            0.000_387_978_456_524_754_8,
            3.799_445_077_946_797e-5,
            -4.909_215_732_496_961e-5,
        ],
        // Their gradient is by differences.
        1e-8,
    );
    let family = family(Layout::default());
    let equations = family.closed(Some(0.0));
    let (scales, options) = ([1.0; UNKNOWNS], RootOptions::default());
    let newton = min_norm_newton(&equations, &start, &scales, &options).unwrap();
    assert_close(
        &newton.unknowns,
        &[
            12.287_399_574_601_606,
            5.762_515_780_743_004,
            4.998_499_366_196_111_5,
            5.415_212_954_170_262,
            1.991_936_242_481_595_4,
            5.240_705_102_110_589_5,
            0.076_844_908_962_711_16,
            6.954_740_286_373_640_5,
            4.094_298_172_753_295,
            7.997_537_575_256_645,
            9.989_971_035_441_19,
        ],
        1e-5,
    );
    assert!(newton.iterations <= 6, "{}", newton.iterations);
    let nearest = nearest_root(&equations, &start, &scales, &options).unwrap();
    assert!(
        (nearest.distance - 0.250_900_229_662_44).abs() <= 1e-7,
        "{}",
        nearest.distance
    );
    assert_close(
        &nearest.unknowns,
        &[
            12.295_134_479_176_154,
            5.774_100_274_224_165,
            4.983_712_539_435_726,
            5.419_898_702_991_269,
            1.991_537_253_374_174_4,
            5.240_595_604_026_303_5,
            0.045_934_590_656_268_495,
            6.946_212_490_139_731_5,
            4.062_668_345_517_995,
            7.997_773_790_900_377,
            9.990_586_195_568_02,
        ],
        1e-5,
    );
    for root in [newton, nearest] {
        let angle = angle(Layout::default(), &root.unknowns);
        assert!(angle.cosine.abs() <= 1e-13 && angle.product.abs() <= 1e-13);
        assert!(angle.gaps.iter().all(|gap| gap.abs() <= 1e-13));
    }
}

/// At the nearest root the way from the start is a combination of the three gradients.
#[test]
fn the_nearest_root_is_stationary_also_in_other_scales() {
    let start = closed(Layout::default(), INITIAL);
    let family = family(Layout::default());
    for (target, length) in [(0.0, 1.0), (0.0, 3.0), (-0.001, 0.5)] {
        let equations = family.closed(Some(target));
        let scales: [f64; UNKNOWNS] =
            std::array::from_fn(|j| if j == 0 || j >= 7 { length } else { 1.0 });
        let root = nearest_root(&equations, &start, &scales, &RootOptions::default()).unwrap();
        let at = angle(Layout::default(), &root.unknowns);
        let rows: Vec<&Vec<f64>> = at
            .gap_gradients
            .iter()
            .chain([&at.cosine_gradient])
            .collect();
        let matrix = DMatrix::from_fn(UNKNOWNS, 3, |i, j| rows[j][i] * scales[i]);
        let q = matrix.qr().q();
        let way =
            nalgebra::DVector::from_fn(UNKNOWNS, |i, _| (root.unknowns[i] - start[i]) / scales[i]);
        let outside = &way - &q * q.tr_mul(&way);
        assert!(outside.norm() <= 1e-9, "{}", outside.norm());
        assert!((way.norm() - root.distance).abs() <= 1e-14);
        let newton = min_norm_newton(&equations, &start, &scales, &RootOptions::default());
        assert!(root.distance <= newton.unwrap().distance + 1e-12);
    }
}

#[test]
fn bad_designs_are_refused() {
    let family = family(Layout::default());
    let start = unknowns(INITIAL);
    let options = RootOptions::default();
    let search = |start: &[f64], scales: &[f64]| {
        let equations = family.closed(Some(0.0));
        min_norm_newton(&equations, start, scales, &options).unwrap_err()
    };
    let ones = [1.0; UNKNOWNS];
    assert!(matches!(
        search(&start[1..], &ones),
        DesignError::DimensionMismatch {
            what: "start",
            expected: 11,
            found: 10
        }
    ));
    let mut bad = start;
    bad[8] = 7.5;
    assert!(matches!(
        search(&bad, &ones),
        DesignError::OutOfBounds { bound: 3, .. }
    ));
    bad[8] = f64::NAN;
    assert!(matches!(
        search(&bad, &ones),
        DesignError::NonFinite { what: "start", .. }
    ));
    let mut scales = ones;
    scales[4] = -1.0;
    assert_eq!(
        search(&start, &scales),
        DesignError::InvalidScale {
            unknown: 4,
            value: -1.0
        }
    );
    // Only the height may move, on which the cosine does not depend.
    let mut scales = [0.0; UNKNOWNS];
    scales[0] = 1.0;
    assert!(matches!(
        search(&start, &scales),
        DesignError::SingularConstraint { equation: 2 }
    ));
    for tolerance in [f64::NAN, f64::INFINITY, -1e-9, 0.0, 1.0] {
        let options = options.with_tolerance(tolerance);
        let refused = min_norm_newton(&family.closed(Some(0.0)), &start, &ones, &options);
        let expected = format!("tolerance is {tolerance}: it must be in (0, 1)");
        assert_eq!(refused.unwrap_err().to_string(), expected);
    }
    let one = options.with_max_iterations(1);
    let few = min_norm_newton(&family.closed(Some(0.0)), &start, &ones, &one);
    assert!(matches!(
        few,
        Err(DesignError::NotConverged { iterations: 1, .. })
    ));
    let swollen = Lengths::from_table([4.0, 4.0, 8.0, 10.0]);
    assert!(matches!(
        TailRunner::passive(swollen, Layout::default(), GRAVITY),
        Err(MechanismError::InvalidParameter {
            what: "anterior radius",
            ..
        })
    ));
}

/// A bound is kept on the way, and a search that would have to cross it does not end at a root.
#[test]
fn searches_stay_inside_their_bounds() {
    /// The family, with the shank held above a length.
    struct Bounded(TailRunners, f64);
    impl DesignFamily for Bounded {
        fn unknowns(&self) -> usize {
            self.0.unknowns()
        }
        fn at(&self, z: &[f64]) -> Result<carom_mechanism::design::DesignPoint, MechanismError> {
            // To rounding.
            assert!(z[10] >= self.1 - 2e-15);
            self.0.at(z)
        }
        fn bounds(&self) -> Vec<carom_mechanism::design::Bound> {
            vec![carom_mechanism::design::Bound::above(10, self.1)]
        }
    }
    let start = closed(Layout::default(), INITIAL);
    let search = |lower: f64, scales: [f64; UNKNOWNS]| {
        let family = Bounded(family(Layout::default()), lower);
        let equations = ClosedPair {
            family: &family,
            contacts: [TAIL, LEFT_FOOT],
            cosine: Some(0.0),
        };
        min_norm_newton(&equations, &start, &scales, &RootOptions::default())
    };
    // Newton takes the shank to 9.98997: it arrives if that is allowed, and stalls otherwise.
    let free = search(9.985, [1.0; UNKNOWNS]).unwrap();
    assert!((free.unknowns[10] - 9.989_971_035).abs() <= 1e-8);
    let stalled = search(9.995, [1.0; UNKNOWNS]);
    assert!(matches!(stalled, Err(DesignError::NotConverged { .. })));
    // The stance follows the lengths, but the angles that matter are held.
    let mut scales = [0.0; UNKNOWNS];
    (scales[0], scales[1], scales[10]) = (1.0, 1.0, 1.0);
    assert!(matches!(
        search(9.999, scales),
        Err(DesignError::NotConverged { .. })
    ));
}

/// Indices of a family's influences are checked by its own derivative test; a constant that
/// nothing depends on has zero gradients.
#[test]
fn the_right_leg_moves_neither_gap() {
    let z = unknowns(INITIAL);
    let point = family(Layout::default()).at(&z).unwrap();
    assert!(matches!(point.influences[4], Influence::Coordinate(5)));
    let at = angle(Layout::default(), &z);
    assert_eq!((at.gap_gradients[0][4], at.gap_gradients[1][5]), (0.0, 0.0));
    // But its inertia turns the normals.
    assert!(at.cosine_gradient[4] != 0.0);
}

/// Seghete & Murphey's integrator keeps the momenta of the plane's symmetries; the state after 100
/// steps is that of the independent implementation.
#[test]
fn a_flight_without_gravity_keeps_its_momenta() {
    let robot =
        TailRunner::passive(Lengths::from_table(INITIAL.1), Layout::default(), 0.0).unwrap();
    let law = carom_impact::Propagative::default();
    let integrator = CollisionIntegrator::new(&robot.mechanism, &law).unwrap();
    let mut lifted = INITIAL.0;
    lifted[1] += 100.0;
    let velocity = [10.0, -20.0, 1.0, 2.0, -1.0, 0.5, 1.5, -0.7];
    let start = integrator.state(0.0, &lifted, &velocity).unwrap();
    let grid = TimeGrid::steps(1e-3, 100).unwrap();
    let run = Trajectory::record(&integrator, &start, &grid, None).unwrap();
    let momenta = |state: &State| {
        let (q, p) = (&state.configuration, &state.momentum.0);
        [p[0], p[1], q[0] * p[1] - q[1] * p[0] + p[2]]
    };
    let first = momenta(&start);
    for state in &run.states {
        for (now, first) in momenta(state).iter().zip(first) {
            assert!(
                (now - first).abs() <= 1e-12 * first.abs(),
                "{now} and {first}"
            );
        }
    }
    let last = &run.end.state;
    assert_close(
        last.configuration.as_slice(),
        &[
            1.008_554_185_676_417_5,
            110.373_632_016_382_35,
            5.880_087_289_536_279,
            5.302_859_382_437_884,
            5.223_247_767_417_207,
            2.012_437_858_941_599,
            5.446_125_592_742_541,
            -0.069_970_632_662_242_6,
        ],
        1e-10,
    );
    let momentum = [
        20_334.848_771_627_345,
        -33_546.517_365_452_54,
        35_311.833_066_810_46,
        14_686.250_708_255_468,
        6_504.219_827_818_953_5,
        2_561.286_669_949_832_2,
        916.830_923_607_014_5,
        701.459_088_248_008_7,
    ];
    assert_close(last.momentum.0.as_slice(), &momentum, 1e-6);
}

/// The first impact of either gait depends on no spring or gain.
#[test]
fn the_first_impact_has_the_indeterminacy_of_the_closed_form() {
    let overrides = Overrides {
        assignments: vec![
            "duration=0.187".to_owned(),
            "drive.knee_stiffness=1e6".to_owned(),
        ],
        ..Overrides::default()
    };
    let record = scenario("tail-runner").unwrap().run(&overrides).unwrap();
    let value = |name: &str| {
        let found = record.quantities.iter().find(|q| q.name == name);
        found.unwrap().value
    };
    for (name, expected) in [
        ("optimized_cosine", -2.28e-7_f64),
        ("straight_cosine", 0.028_455_267_727_807_23),
        ("optimized_first_indeterminacy", 1.352_393_699_522_704_4e-7),
        ("straight_first_indeterminacy", 0.106_457_218_615_902_59),
    ] {
        let ours = value(name);
        // The cosine, of size 1e-7, is good to the rounding of 1.
        let tolerance = 1e-6 * expected.abs();
        assert!(
            (ours - expected).abs() <= tolerance,
            "{name}: {ours} and {expected}"
        );
    }
    for name in ["optimized_first_contacts", "straight_first_contacts"] {
        assert_eq!(value(name), 2.0);
    }
}
