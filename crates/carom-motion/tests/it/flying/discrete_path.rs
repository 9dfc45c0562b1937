//! The discrete path through impacts: Tran & Leok, Table 1(a), and Figs. 7 and 8.

use super::common::{System, case_i, case_ii, case_iii, case_iv, gravity, v};
use carom_lie::{So3, asym, hat};
use carom_motion::flying::{Collider, ImpactRule, Trajectory};
use carom_variational::{FreeFlight, State, TimeGrid};
use nalgebra::{Matrix3, Vector3};

fn run<'a>(
    system: &'a System,
    flight: &'a FreeFlight,
    initial: &State,
    n_steps: usize,
) -> Trajectory<'a, FreeFlight> {
    let System {
        body, shape, plane, ..
    } = system;
    let collider = Collider::new(body, shape, plane, flight, ImpactRule::ELASTIC).unwrap();
    let grid = TimeGrid::steps(0.01, n_steps).unwrap();
    Trajectory::record(&collider, initial, &grid, None).unwrap()
}

/// Every row of Table 1(a), with the step length that its Imp+ row has lost: at a node between
/// intervals $a$ and $b$ of the discrete path,
/// $\frac ma(x_k - x_{k-1}) - \frac mb(x_{k+1} - x_k) - \frac{mg(a+b)}2e_3 + \lambda n = 0$ and
/// $\mathrm{Asym}(J_dF_{k-1}/a - F_kJ_d/b) + \lambda S(\chi) = 0$, with $\lambda = 0$ and
/// $(a, b) = (h, h)$, $(h, \alpha h)$ and $((1-\alpha)h, h)$ on the grid, $(\alpha h, (1-\alpha)h)$
/// at an impact and $(\alpha_1h, \alpha_2h)$ between two impacts of one step. Case IV has one at
/// 6.618 s.
#[test]
fn the_discrete_equations_hold_through_impacts() {
    let mut double = 0;
    for system in [case_i(), case_ii(), case_iii(), case_iv()] {
        let flight = FreeFlight::lgvi(gravity());
        let run = run(&system, &flight, &system.initial, 700);
        let (mass, spread) = (system.body.mass(), system.body.nonstandard_inertia());
        let normal = *system.plane.normal();
        let nodes: Vec<(f64, &State)> = run.nodes().collect();
        let impact_at = |time: f64| run.impacts().iter().find(|impact| impact.time == time);
        let mut seen = 0;
        for window in nodes.windows(3) {
            let [(t0, p), (t1, q), (t2, r)] = [window[0], window[1], window[2]];
            let (a, b) = (t1 - t0, t2 - t1);
            let (lambda, chi) = impact_at(t1).map_or((0.0, Vector3::zeros()), |impact| {
                (
                    impact.impulse,
                    impact.points[0].point_b.cross(&impact.normal_b),
                )
            });
            seen += usize::from(lambda > 0.0);
            double += usize::from(lambda > 0.0 && impact_at(t2).is_some());
            let linear = (q.position - p.position) * (mass / a)
                - (r.position - q.position) * (mass / b)
                + gravity() * (0.5 * mass * (a + b))
                + normal * lambda;
            let increment =
                |from: &State, to: &State| from.rotation.inverse().compose(&to.rotation).matrix();
            let angular = asym(&(spread * increment(p, q) / a - increment(q, r) * spread / b))
                + hat(&chi) * lambda;
            // Rounding of positions and times of about ten over the shorter interval.
            let tolerance = 1e-13 / a.min(b);
            assert!(linear.norm() <= tolerance, "{t1}: {:e}", linear.norm());
            assert!(angular.norm() <= tolerance, "{t1}: {:e}", angular.norm());
            if lambda > 0.0 {
                let gap = system.plane.gap(&system.shape, &q.configuration()).value;
                assert!(gap.abs() <= 1e-13, "{t1}: {gap:e}");
            }
        }
        assert!(seen >= 2, "{seen}");
    }
    assert_eq!(double, 1);
}

/// Mid-flight distances by an independent program, after the contact given. Chaos multiplies them by
/// five a contact, so a factor of two is what another rounding may change.
#[test]
fn nearby_starts_part_as_in_figures_7_and_8() {
    let system = case_iv();
    let flight = FreeFlight::lgvi(gravity());
    let mut raised = system.initial;
    raised.position.z += 1e-8;
    let turned = |angle: f64| State {
        rotation: system
            .initial
            .rotation
            .compose(&So3::exp(&v(0.0, angle, 0.0))),
        ..system.initial
    };
    let spectral = |a: &State, b: &State| {
        let difference = b.rotation.matrix() - a.rotation.matrix();
        (a.position - b.position).norm() + difference.singular_values()[0]
    };
    let printed = turned(1e-8 * std::f64::consts::PI);
    let micro = turned(1e-6f64.to_radians());
    let start = |s: &State| spectral(&system.initial, s);
    assert!((start(&raised) / 1e-8 - 1.0).abs() <= 1e-6);
    // The spectral norm of a difference of nearly equal matrices keeps eight digits.
    assert!((start(&printed) / 3.141_592_653_589_8e-8 - 1.0).abs() <= 1e-6);
    assert!((start(&micro) / 1.745_329_251_994_3e-8 - 1.0).abs() <= 1e-6);

    let base = run(&system, &flight, &system.initial, 2000);
    let other = run(&system, &flight, &raised, 2000);
    for (contact, expected) in [
        (1, 2.9e-8),
        (2, 7.0e-7),
        (4, 1.3e-5),
        (6, 3.3e-4),
        (8, 1.4e-2),
    ] {
        let [from, to] = [contact - 1, contact].map(|k| base.impacts()[k].time);
        let middle = 0.5 * (from + to);
        let [a, b] = [&base, &other].map(|run| run.state_at(middle).unwrap());
        let ratio = spectral(&a, &b) / expected;
        assert!((0.5..=2.0).contains(&ratio), "{contact}: {ratio}");
    }
    for perturbed in [raised, printed] {
        let other = run(&system, &flight, &perturbed, 2000);
        let parted = base
            .grid()
            .zip(other.grid())
            .find(|((_, a), (_, b))| (a.position.z - b.position.z).abs() > 0.5);
        let ((time, _), _) = parted.unwrap();
        assert!((18.9..=19.1).contains(&time), "{time}");
    }
}

/// Position, rotation by rows, linear and angular momentum after 60 steps, by an independent implementation with 34
/// digits.
type Expected = ([f64; 3], [f64; 9], [f64; 3], [f64; 3]);

#[allow(clippy::excessive_precision)]
const ELLIPSOID: Expected = (
    [1.2, 1.2, 14.234803],
    [
        0.447998842406426,
        -0.796681437835797,
        -0.405703985450463,
        0.528901519262281,
        0.602035331065509,
        -0.598177768786917,
        0.720805258113836,
        0.0534054936942852,
        0.691077154244528,
    ],
    [2.0, 2.0, 4.11601],
    [2.55961032503192, -5.38124510082808, 3.53420375032393],
);

#[allow(clippy::excessive_precision)]
const UNION: Expected = (
    [1.2, 1.2, 14.234803],
    [
        0.927678440395646,
        -0.324587627681189,
        -0.184541548658833,
        0.252395394718857,
        0.90936267160692,
        -0.330690332807956,
        0.275153186334112,
        0.260196855177426,
        0.925520567359777,
    ],
    [2.0, 2.0, 4.11601],
    [3.8017449280436, -3.89501377644273, 4.2866774060356],
);

#[allow(clippy::excessive_precision)]
const CUBE: Expected = (
    [1.2, 1.2, 14.234803],
    [
        0.00899922190794345,
        -0.99991972992994,
        -0.00891895183788393,
        0.00891895183788393,
        0.00899922190794345,
        -0.99991972992994,
        0.99991972992994,
        0.00891895183788393,
        0.00899922190794345,
    ],
    [2.0, 2.0, 4.11601],
    [4.0, -4.0, 4.0],
);

#[allow(clippy::excessive_precision)]
const TETRAHEDRON: Expected = (
    [0.3, -0.15, 1.234803],
    [
        -0.0269142158578815,
        -0.870210571352291,
        -0.491944292061077,
        0.430524902827888,
        0.434052065032246,
        -0.791357765417312,
        0.902177329037808,
        -0.233093042255582,
        0.362965150699409,
    ],
    [0.5, -0.25, -5.88399],
    [0.12, -0.2, 0.3],
);

#[allow(clippy::excessive_precision)]
const DUMBBELL: Expected = (
    [0.18, 0.0, 1.34211647994518],
    [
        0.977185965609017,
        0.19383953357534,
        -0.0867976027322589,
        -0.19550199696314,
        0.980641621374174,
        -0.0109990732362382,
        0.0829852866488804,
        0.0277172446669276,
        0.996165245603297,
    ],
    [0.3, 0.0, 0.540258436974522],
    [0.02, -5.13021147557263, -0.144123723199699],
);

/// Six systems after 60 steps, by an independent implementation with 34 digits.
#[test]
fn states_after_sixty_steps() {
    for (system, (position, rotation, linear, angular)) in [
        (case_i(), ELLIPSOID),
        (case_ii(), ELLIPSOID),
        (case_iii(), UNION),
        (case_iv(), CUBE),
        (super::common::tetrahedron(), TETRAHEDRON),
        (super::common::dumbbell(), DUMBBELL),
    ] {
        let flight = FreeFlight::lgvi(gravity());
        let end = run(&system, &flight, &system.initial, 60).end().state;
        let rotation = Matrix3::from_row_slice(&rotation);
        let gaps = [
            (end.position - Vector3::from(position)).amax(),
            (end.rotation.matrix() - rotation).amax(),
            (end.linear_momentum - Vector3::from(linear)).amax(),
            (end.angular_momentum - Vector3::from(angular)).amax(),
        ];
        for gap in gaps {
            assert!(gap <= 1e-12, "{gap:e}");
        }
    }
}
