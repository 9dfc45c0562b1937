//! The discrete and the exact flight: momentum, energy, symmetry, solvability, order.

use crate::common::{G, body, case_i, diagonal, gravity, paper_start, v};
use carom_geometry::MassProperties;
use carom_lie::{So3, asym, vee};
use carom_numeric::random::CounterRng;
use carom_variational::{
    ExactFlight, Flight, FreeFlight, Potential, PotentialFlight, RigidBody, State,
    VariationalError, increment,
};
use nalgebra::{Matrix3, Vector3};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn rotation_of(rows: [f64; 9]) -> Matrix3<f64> {
    Matrix3::from_row_slice(&rows)
}

struct Solved {
    inertia: [f64; 9],
    time: f64,
    momentum: [f64; 3],
    increment: [f64; 9],
    cayley: [f64; 3],
    next: [f64; 3],
    discrete_energy: f64,
}

/// Values of an independent implementation, by four methods that agree to rounding; the discrete energy
/// in 40-digit arithmetic.
const SOLVED: [Solved; 6] = [
    Solved {
        inertia: [5.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 2.6],
        time: 0.01,
        momentum: [4.0, -4.0, 4.0],
        increment: [
            0.9998315081704233,
            -0.015409257097335623,
            -0.009975473190009987,
            0.015329171530994851,
            0.9998500511591759,
            -0.008055538291526287,
            0.010098107239960036,
            0.00790126525950882,
            0.9999177957399642,
        ],
        cayley: [
            0.00398960049106158,
            -0.005018897806483143,
            0.0076853769339093846,
        ],
        next: [3.978401775517554, -4.029432171988011, 3.991991443365922],
        discrete_energy: 6.677550092581642,
    },
    Solved {
        inertia: [2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0],
        time: 0.01,
        momentum: [4.0, -4.0, 4.0],
        increment: [
            0.999599879927946,
            -0.020200060036027024,
            -0.01979993996397298,
            0.01979993996397298,
            0.999599879927946,
            -0.020200060036027024,
            0.020200060036027024,
            0.01979993996397298,
            0.999599879927946,
        ],
        cayley: [
            0.010003001801351136,
            -0.010003001801351136,
            0.010003001801351136,
        ],
        next: [4.0, -4.0, 4.0],
        discrete_energy: 12.003602161621362,
    },
    Solved {
        inertia: [5.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 2.6],
        time: 0.5,
        momentum: [4.0, -4.0, 4.0],
        increment: [
            0.2679712334637423,
            -0.8627396095521687,
            -0.4288027333701268,
            0.5588358785076198,
            0.5017463184333475,
            -0.6602674403839695,
            0.784789066519493,
            -0.06269767179372332,
            0.616583427463883,
        ],
        cayley: [0.2504167637521857, -0.508566107287358, 0.5957234650427341],
        next: [1.9756976859024618, -5.708734399116958, 3.392192537910902],
        discrete_energy: 10.83765068865822,
    },
    Solved {
        inertia: [
            0.497656, 0.119649, 0.231319, 0.119649, 1.08849, -0.015724, 0.231319, -0.015724,
            1.077657,
        ],
        time: 1.0,
        momentum: [-0.036707, 0.083809, -0.202218],
        increment: [
            0.979781242839654,
            0.18646384725586887,
            0.07252551169156025,
            -0.18681105629845995,
            0.9823937721894958,
            -0.002026229983598986,
            -0.07162642964881234,
            -0.011563305316077094,
            0.9973644993411037,
        ],
        cayley: [
            -0.002408632442703362,
            0.03640623886116194,
            -0.09427230166528505,
        ],
        next: [
            -0.03713712454750927,
            0.07782721968661475,
            -0.20451706459411687,
        ],
        discrete_energy: 0.022203140441940307,
    },
    Solved {
        inertia: [
            1.249325, -0.071683, -0.228752, -0.071683, 0.948748, 0.082249, -0.228752, 0.082249,
            1.275389,
        ],
        time: 1.0,
        momentum: [-0.327382, -0.060761, 0.745395],
        increment: [
            0.812655013524049,
            -0.5681016091856256,
            -0.1298167579125693,
            0.5812921959113814,
            0.8059798119923771,
            0.11178517626795077,
            0.0411243476149109,
            -0.16630425220491335,
            0.9852165669190773,
        ],
        cayley: [
            -0.0771645104613844,
            -0.04743289523155316,
            0.31893485050731796,
        ],
        next: [-0.2707146356628852, 0.01305174358965825, 0.7700829936423614],
        discrete_energy: 0.26587678480493543,
    },
    Solved {
        inertia: [
            0.868921, -0.103144, 0.066613, -0.103144, 0.9701, 0.09305, 0.066613, 0.09305, 0.885287,
        ],
        time: 1.0,
        momentum: [-0.428426, -0.642994, -0.090472],
        increment: [
            0.6675566877240157,
            0.3338938766615101,
            -0.6654945137286177,
            0.28527500636868935,
            0.7109019411126559,
            0.6428348161569984,
            0.6877399504291467,
            -0.6189776322697017,
            0.37931576731465916,
        ],
        cayley: [
            -0.45754737957812963,
            -0.49069803028351366,
            -0.017629748960129532,
        ],
        next: [
            -0.5316499677351039,
            -0.5441543563796708,
            -0.1625412333418481,
        ],
        discrete_energy: 0.5131360815751783,
    },
];

#[test]
fn the_discrete_equation_of_rotation() {
    for case in &SOLVED {
        let body = body(&rotation_of(case.inertia));
        let momentum = Vector3::from(case.momentum);
        let f = increment(&body, &(momentum * case.time)).unwrap();
        assert!((f - Vector3::from(case.cayley)).norm() <= 1e-13);
        let turn = So3::cayley(&f);
        assert!((turn.matrix() - rotation_of(case.increment)).amax() <= 1e-13);
        assert!((turn.rotate_back(&momentum) - Vector3::from(case.next)).norm() <= 1e-13);
        let matrix = turn.matrix();
        let residual = vee(&asym(&(matrix * body.nonstandard_inertia()))) - momentum * case.time;
        assert!(
            residual.norm() <= 1e-15 + 4e-16 * body.inertia().norm(),
            "{residual}"
        );
        let state = State {
            position: Vector3::zeros(),
            linear_momentum: Vector3::zeros(),
            rotation: So3::identity(),
            angular_momentum: momentum,
        };
        let flight = FreeFlight::lgvi(Vector3::zeros());
        let energy = flight
            .discrete_energy(&body, &state, case.time)
            .unwrap()
            .unwrap();
        assert!((energy - case.discrete_energy).abs() <= 1e-12);
    }
}

/// About a principal axis $\sin\theta = h\Omega$: no solution beyond one radian.
#[test]
fn the_step_has_a_limit() {
    let body = diagonal(5.0, 4.0, 2.6);
    let f = increment(&body, &v(0.0, 0.0, 2.6 * 0.999)).unwrap();
    assert!((2.0 * f.norm().atan() - 1.526_071_239_626_16).abs() <= 1e-12);
    for axis in [v(5.0, 0.0, 0.0), v(0.0, 4.0, 0.0), v(0.0, 0.0, 2.6)] {
        let error = increment(&body, &(axis * 1.001)).unwrap_err();
        let VariationalError::StepTooLarge { h_omega } = error else {
            panic!("{error}");
        };
        assert!((h_omega - 1.001).abs() <= 1e-12);
        assert!(increment(&body, &(axis * 0.999)).is_ok());
    }
    assert_eq!(
        increment(&body, &v(f64::NAN, 0.0, 0.0)).unwrap_err().kind(),
        "non-finite"
    );
    assert_eq!(
        increment(&body, &Vector3::zeros()).unwrap(),
        Vector3::zeros()
    );
    assert!(increment(&body, &v(1e-300, 0.0, 0.0)).unwrap().x > 0.0);
}

/// Isotropic bodies turn by $\arcsin(\lvert a\rvert/c)$.
#[test]
fn an_isotropic_body_in_closed_form() {
    for size in [1e-8, 0.01, 0.3, 0.9, 0.999_999] {
        let a = v(0.36, -0.48, 0.8) * (2.0 * size);
        let f = increment(&diagonal(2.0, 2.0, 2.0), &a).unwrap();
        let expected = a / (2.0 + (4.0 - a.norm_squared()).sqrt());
        assert!((f - expected).norm() <= 1e-13 * expected.norm());
    }
}

/// 200 steps of 0.01, 0.1 and 0.5 s: energy and angular momentum are kept to rounding, also where
/// $h\lvert\Omega\rvert$ is 1.
#[test]
fn a_free_run_keeps_energy_and_momentum_for_every_step_length() {
    let system = case_i();
    let flight = FreeFlight::lgvi(Vector3::zeros());
    for (h, discrete) in [
        (0.01, 6.677550092581642),
        (0.1, 6.740825660704884),
        (0.5, 10.837650688658227),
    ] {
        let mut state = system.initial;
        for _ in 0..200 {
            state = flight.advance(&system.body, &state, h).unwrap();
            let energy = system.body.rotational_energy(&state);
            assert!(
                (energy - 6.676_923_076_923_076).abs() <= 1e-12,
                "{h} {energy}"
            );
            assert!((state.angular_momentum_w() - v(4.0, -4.0, 4.0)).norm() <= 1e-12);
            let translation = system.body.translational_energy(&state);
            let total = flight
                .discrete_energy(&system.body, &state, h)
                .unwrap()
                .unwrap();
            assert!(
                (total - translation - discrete).abs() <= 1e-11,
                "{h} {total}"
            );
        }
    }
}

/// Euler's equations with $J = \mathrm{diag}(5, 4, 2.6)$ to t = 2, by elliptic functions.
#[test]
fn the_exact_rotation() {
    let flight = ExactFlight::new(gravity());
    let state = flight
        .advance(&diagonal(5.0, 4.0, 2.6), &paper_start(), 2.0)
        .unwrap();
    let momentum = v(-1.1089459721879977, -6.021322740008127, 3.2425161975584667);
    assert!((state.angular_momentum - momentum).norm() <= 1e-13);
    let expected = rotation_of([
        -0.6294406173825242,
        -0.1364376602657517,
        0.7649766493497133,
        -0.6965733085347592,
        0.5353648094744151,
        -0.4776715886604129,
        -0.3443691841992344,
        -0.8335282152618655,
        -0.4320191886205093,
    ]);
    assert!((state.rotation.matrix() - expected).amax() <= 1e-13);
}

/// The exact flow is a flow, also on the separatrix and for symmetric bodies.
#[test]
fn exact_pieces_make_the_exact_whole() {
    let flight = ExactFlight::new(gravity());
    for (body, momentum) in [
        (diagonal(5.0, 4.0, 2.6), v(4.0, -4.0, 4.0)),
        (diagonal(3.0, 2.0, 1.5), v(1e-9, 2.0, 1e-9)),
        (diagonal(2.0, 2.0, 1.0), v(1.0, 0.5, 2.0)),
        (diagonal(0.1, 1.1, 1.1), v(0.02, 0.7, -0.3)),
        (diagonal(1.0, 1.0, 2.0), v(1.0, 1.0, 1.0)),
    ] {
        let start = State {
            angular_momentum: momentum,
            ..paper_start()
        };
        let whole = flight.advance(&body, &start, 3.0).unwrap();
        let pieces = (0..300).fold(start, |s, _| flight.advance(&body, &s, 0.01).unwrap());
        assert!((whole.angular_momentum - pieces.angular_momentum).norm() <= 1e-12);
        assert!((whole.rotation.matrix() - pieces.rotation.matrix()).amax() <= 1e-12);
        assert!((whole.position - pieces.position).norm() <= 1e-11);
        let energy = body.rotational_energy(&start);
        assert!((body.rotational_energy(&whole) - energy).abs() <= 1e-13 * energy);
        assert!((whole.angular_momentum_w() - start.angular_momentum_w()).norm() <= 1e-13 * 6.0);
    }
}

/// The two-step Lagrangian form, $\mathrm{Asym}(F_kJ_d) = \mathrm{Asym}(J_dF_{k-1})$ and
/// $x_{k+1} = 2x_k - x_{k-1} - gh^2e_3$, along a Hamiltonian run.
#[test]
fn lagrangian_and_hamiltonian_forms_agree() {
    let system = case_i();
    let flight = FreeFlight::lgvi(gravity());
    let h = 0.01;
    let spread = system.body.nonstandard_inertia();
    let mut states = vec![system.initial];
    for k in 0..200 {
        states.push(flight.advance(&system.body, &states[k], h).unwrap());
    }
    for [a, b, c] in states.array_windows_3() {
        let second = c.position - b.position * 2.0 + a.position;
        assert!((second - gravity() * h * h).norm() <= 1e-13);
        let before = a.rotation.inverse().compose(&b.rotation).matrix();
        let after = b.rotation.inverse().compose(&c.rotation).matrix();
        let defect = asym(&(after * spread)) - asym(&(spread * before));
        assert!(defect.norm() <= 1e-14);
    }
}

/// Three states in a row.
trait Windows {
    fn array_windows_3(&self) -> Vec<[&State; 3]>;
}

impl Windows for Vec<State> {
    fn array_windows_3(&self) -> Vec<[&State; 3]> {
        self.windows(3).map(|w| [&w[0], &w[1], &w[2]]).collect()
    }
}

#[test]
fn flights_are_symplectic() {
    let system = case_i();
    let flights: [Box<dyn Flight>; 3] = [
        Box::new(FreeFlight::lgvi(gravity())),
        Box::new(FreeFlight::suzuki4(gravity())),
        Box::new(PotentialFlight::new(Pendulum)),
    ];
    for flight in &flights {
        let map = |s: &State| flight.advance(&system.body, s, 0.05).unwrap();
        let defect = crate::common::symplectic_defect(&system.initial, &map, 1e-5);
        assert!(defect <= 1e-7, "{flight:?} {defect:e}");
    }
}

/// Gravity, and a field that pulls a body direction upwards.
#[derive(Clone, Copy, Debug)]
struct Pendulum;

const ARM: [f64; 3] = [0.3, 0.5, 0.8];

impl Potential for Pendulum {
    fn energy(&self, position: &Vector3<f64>, rotation: &So3) -> f64 {
        G * position.z - 20.0 * rotation.rotate(&Vector3::from(ARM)).z
    }

    fn force(&self, _: &Vector3<f64>, _: &So3) -> Vector3<f64> {
        gravity()
    }

    fn moment(&self, _: &Vector3<f64>, rotation: &So3) -> Vector3<f64> {
        Vector3::from(ARM).cross(&rotation.rotate_back(&Vector3::z())) * 20.0
    }
}

/// In a potential the energy oscillates with the square of the step.
#[test]
fn a_potential_flight_is_of_second_order() {
    let system = case_i();
    let flight = PotentialFlight::new(Pendulum);
    let energy = |s: &State| flight.energy(&system.body, s);
    for (h, expected) in [
        (0.04, 9.764e-3),
        (0.02, 2.440e-3),
        (0.01, 6.107e-4),
        (0.005, 1.527e-4),
    ] {
        let (mut state, mut worst) = (system.initial, 0f64);
        for _ in 0..(2.4f64 / h).round() as usize {
            state = flight.advance(&system.body, &state, h).unwrap();
            worst = worst.max((energy(&state) - energy(&system.initial)).abs());
        }
        assert!((worst / expected - 1.0).abs() <= 0.05, "{h}: {worst:e}");
        if h == 0.01 {
            let momentum = v(-6.56966855943193, 0.206603772328783, 1.15000770402840);
            assert!((state.angular_momentum - momentum).norm() <= 1e-9);
        }
    }
}

/// Uniform gravity as a potential is the free flight.
#[derive(Debug)]
struct Uniform;

impl Potential for Uniform {
    fn energy(&self, position: &Vector3<f64>, _: &So3) -> f64 {
        G * position.z
    }

    fn force(&self, _: &Vector3<f64>, _: &So3) -> Vector3<f64> {
        gravity()
    }

    fn moment(&self, _: &Vector3<f64>, _: &So3) -> Vector3<f64> {
        Vector3::zeros()
    }
}

#[test]
fn uniform_gravity_is_a_potential() {
    let system = case_i();
    let (a, b) = (FreeFlight::lgvi(gravity()), PotentialFlight::new(Uniform));
    let (a, b) = (
        a.advance(&system.body, &system.initial, 0.1).unwrap(),
        b.advance(&system.body, &system.initial, 0.1).unwrap(),
    );
    assert!((a.position - b.position).norm() <= 1e-14);
    assert!((a.linear_momentum - b.linear_momentum).norm() <= 1e-14);
    assert!((a.angular_momentum - b.angular_momentum).norm() <= 1e-14);
}

/// Physical bodies: $J_d$ with any nonnegative principal values, turned.
fn bodies() -> impl Strategy<Value = RigidBody> {
    let spread = prop::array::uniform3(0.0..1.0f64).prop_filter("has volume", |d| {
        let mut d = *d;
        d.sort_by(f64::total_cmp);
        d[1] > 1e-3
    });
    let turn = prop::array::uniform3(-2.0..2.0f64);
    (spread, turn).prop_map(|(d, phi)| {
        let moments = v(d[1] + d[2], d[0] + d[2], d[0] + d[1]);
        let r = So3::exp(&Vector3::from(phi)).matrix();
        let inertia = r * Matrix3::from_diagonal(&moments) * r.transpose();
        let inertia = (inertia + inertia.transpose()) * 0.5;
        RigidBody::new(&MassProperties::new(1.0, inertia).unwrap())
    })
}

fn directions() -> impl Strategy<Value = Vector3<f64>> {
    prop::array::uniform3(-1.0..1.0f64)
        .prop_map(Vector3::from)
        .prop_filter("has a direction", |v| v.norm() > 0.05)
        .prop_map(|v| v.normalize())
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(7), ..ProptestConfig::with_cases(1500) })]

    /// The step exists for every physical body and $h\lvert\Omega\rvert \le 0.999$, keeps momentum and
    /// energy, and is undone by the step of negative time.
    #[test]
    fn steps_exist_and_keep_their_invariants(body in bodies(), axis in directions(), size in 0.0..0.999f64) {
        let omega = axis * size;
        let state = State { angular_momentum: body.inertia() * omega, ..paper_start() };
        let flight = FreeFlight::lgvi(gravity());
        let next = flight.advance(&body, &state, 1.0).unwrap();
        let scale = state.angular_momentum.norm();
        prop_assert!((next.angular_momentum_w() - state.angular_momentum_w()).norm() <= 4e-15 * scale);
        prop_assert!((next.angular_momentum.norm() - scale).abs() <= 1e-15 * scale);
        let (e0, e1) = (body.rotational_energy(&state), body.rotational_energy(&next));
        // Near the fold the equation's rounding grows with its inverse slope, for slender bodies with
        // the ratio of the moments.
        let sensitivity = (body.moments().z / body.moments().x) / (1.0 - size * size).sqrt();
        prop_assert!((e1 - e0).abs() <= 1e-15 * e0 * (4.0 + 2.0 * sensitivity), "{e0} {e1}");
        let back = flight.advance(&body, &next, -1.0).unwrap();
        let tolerance = 1e-13 * sensitivity.max(1.0);
        prop_assert!((back.angular_momentum - state.angular_momentum).norm() <= tolerance);
        prop_assert!((back.rotation.matrix() - state.rotation.matrix()).amax() <= tolerance);
    }

    /// The rate of the path is its derivative, for every order and in a potential.
    #[test]
    fn path_rates_are_derivatives(body in bodies(), axis in directions(), size in 0.0..3.0f64) {
        let state = State { angular_momentum: body.inertia() * axis * size, ..paper_start() };
        let flights: [Box<dyn Flight>; 4] = [
            Box::new(FreeFlight::lgvi(gravity())),
            Box::new(FreeFlight::suzuki4(gravity())),
            Box::new(ExactFlight::new(gravity())),
            Box::new(PotentialFlight::new(Pendulum)),
        ];
        for flight in &flights {
            let (time, step) = (0.1, 1e-5);
            let Ok((middle, rate)) = flight.advance_with_rate(&body, &state, time) else { continue; };
            let (Ok(ahead), Ok(behind)) = (
                flight.advance(&body, &state, time + step),
                flight.advance(&body, &state, time - step),
            ) else { continue; };
            let turn = behind.rotation.inverse().compose(&ahead.rotation).log() / (2.0 * step);
            let scale = 1.0 + turn.norm().powi(3);
            prop_assert!((turn - rate.angular).norm() <= 1e-7 * scale, "{flight:?} {turn} {}", rate.angular);
            let drift = (ahead.position - behind.position) / (2.0 * step);
            prop_assert!((drift - rate.linear).norm() <= 1e-8);
            prop_assert_eq!(flight.advance(&body, &state, time).unwrap(), middle);
        }
    }

    /// The proven bounds on the path's turning hold for rates and differences of rates.
    #[test]
    fn turning_is_bounded(body in bodies(), axis in directions(), size in 0.0..0.95f64, at in 0.01..1.0f64) {
        let spin = axis * size;
        let momentum = body.inertia() * spin;
        let state = State { angular_momentum: momentum, ..paper_start() };
        let q = (2.0 * body.rotational_energy(&state) / body.moments().x).sqrt();
        let horizon = 0.95 * 1f64.min(1.0 / q);
        let flights: [(Box<dyn Flight>, f64); 4] = [
            (Box::new(FreeFlight::lgvi(gravity())), 1.0),
            (Box::new(FreeFlight::suzuki4(gravity())), 1.0),
            (Box::new(ExactFlight::new(gravity())), 1.0),
            (Box::new(PotentialFlight::new(Pendulum)), 0.02),
        ];
        for (flight, fraction) in &flights {
            let horizon = horizon * fraction;
            let bound = flight.turning(&body, &state, horizon);
            let time = at * horizon * 0.999;
            let step = horizon * 1e-4;
            let rate = |t: f64| flight.advance_with_rate(&body, &state, t).unwrap().1.angular;
            prop_assert!(rate(time).norm() <= bound.rate * (1.0 + 1e-12), "{flight:?}");
            let change = (rate(time + step * (1.0 - at)) - rate(time - step * at)).norm();
            prop_assert!(change <= bound.acceleration * step * (1.0 + 1e-9) + 1e-13, "{flight:?} {change} {}", bound.acceleration * step);
        }
    }
}

/// Bounds about the principal axes hold along the path for bodies down to a thousandth of their length; for slender ones,
/// which have no other, they are at most eight times the bound of the exact flight on the accelerations of corners.
#[test]
fn rates_about_the_axes_are_bounded_for_slender_bodies() {
    let mut random = CounterRng::new(3, 0, 0);
    let mut solved = 0;
    for k in 0..120 {
        let thin = [1.0, 0.1, 1e-2, 1e-3][k % 4];
        let extents = v(1.0, thin * (1.0 + random.next_uniform()), thin);
        let square = extents.component_mul(&extents);
        let moments = v(
            square.y + square.z,
            square.x + square.z,
            square.x + square.y,
        ) / 3.0;
        let inertia = Matrix3::from_diagonal(&moments);
        let body = RigidBody::new(&MassProperties::new(1.0, inertia).unwrap());
        let order = |x: &Vector3<f64>| {
            let mut order = [0, 1, 2];
            order.sort_by(|a, b| moments[*a].total_cmp(&moments[*b]));
            Vector3::from(order.map(|k| x[k]))
        };
        let mut uniform = || 2.0 * random.next_uniform() - 1.0;
        let along = [0.01, 1.0, 10.0][k % 3];
        let spin = v(along * uniform(), uniform(), uniform());
        let state = State {
            angular_momentum: body.inertia() * spin,
            ..paper_start()
        };
        let turn = [0.01, 0.1, 0.4][k / 4 % 3];
        let horizon = turn / body.rate_squares(&state).sum().sqrt();
        for flight in [
            FreeFlight::lgvi(gravity()),
            FreeFlight::suzuki4(gravity()),
            FreeFlight::yoshida6(gravity()),
        ] {
            let bound = flight.axis_rates(&body, &state, horizon).unwrap();
            let rate = |t: f64| {
                let (_, rate) = flight.advance_with_rate(&body, &state, t).ok()?;
                Some(order(&rate.angular))
            };
            let step = 1e-3 * horizon;
            for part in [0.1, 0.5, 0.9] {
                let time = part * horizon;
                let rates = [time - step, time, time + step].map(rate);
                // Bounds exist for steps of slender bodies that cannot be solved.
                let [Some(before), Some(now), Some(after)] = rates else {
                    continue;
                };
                solved += 1;
                let change = (after - before) / (2.0 * step);
                for axis in 0..3 {
                    assert!(now[axis].abs() <= bound.rate[axis] * (1.0 + 1e-12));
                    // The increment is solved to rounding, which a slender body multiplies.
                    let rounding = 1e-13 * spin.norm() / (thin * step);
                    let most = bound.acceleration[axis] * (1.0 + 1e-5) + rounding;
                    assert!(
                        change[axis].abs() <= most,
                        "{flight:?} {k} {axis} {change} {bound:?}"
                    );
                }
            }
            if turn <= 0.1 && thin < 1.0 {
                let sharp = ExactFlight::new(gravity()).turning(&body, &state, horizon);
                let most = 8.0 * sharp.curvature(extents.norm());
                let found = bound.point_acceleration(&order(&extents));
                assert!(found <= most, "{flight:?} {k} {found} {most}");
            }
        }
    }
    assert!(solved >= 700, "{solved}");
}

/// Uniform gravity enters every flight when it is used.
#[test]
fn gravity_must_be_finite() {
    let (body, state) = (case_i().body, paper_start());
    for g in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let gravity = v(0.0, g, 0.0);
        let flights: [&dyn Flight; 2] = [&FreeFlight::lgvi(gravity), &ExactFlight::new(gravity)];
        for flight in flights {
            let expected = VariationalError::NonFinite { what: "gravity" };
            assert_eq!(flight.advance(&body, &state, 0.01).unwrap_err(), expected);
            let rate = flight.advance_with_rate(&body, &state, 0.01);
            assert_eq!(rate.unwrap_err(), expected);
        }
    }
}
