//! Derivatives of runs, against differences of the runs themselves.

use super::common::{System, case_i, case_ii, case_iii, case_iv, gravity, v};
use carom_lie::So3;
use carom_motion::hybrid::Ending;
use carom_motion::sensitivity::{Regularity, Sensitivity};

use carom_motion::flying::{Collider, ImpactRule, Trajectory};
use carom_variational::{DifferentiableFlight, ExactFlight, FreeFlight, State, TimeGrid};
use nalgebra::{DMatrix, DVector, Vector3};

type Flights = fn(Vector3<f64>) -> FreeFlight;

/// A state moved by a difference $(\delta x, \zeta, \delta\gamma, \delta\Pi)$.
fn moved(state: &State, by: &DVector<f64>) -> State {
    let part = |i: usize| Vector3::new(by[i], by[i + 1], by[i + 2]);
    State {
        position: state.position + part(0),
        rotation: state.rotation.compose(&So3::exp(&part(3))),
        linear_momentum: state.linear_momentum + part(6),
        angular_momentum: state.angular_momentum + part(9),
    }
}

/// The difference of two states, in the coordinates of the first.
fn apart(from: &State, to: &State) -> DVector<f64> {
    let turn = from.rotation.inverse().compose(&to.rotation).log();
    let parts = [
        to.position - from.position,
        turn,
        to.linear_momentum - from.linear_momentum,
        to.angular_momentum - from.angular_momentum,
    ];
    DVector::from_iterator(12, parts.iter().flat_map(|p| p.iter().copied()))
}

fn run<'a, F: DifferentiableFlight>(
    system: &'a System,
    flight: &'a F,
    restitution: f64,
    initial: &State,
    grid: &TimeGrid,
) -> (Trajectory<'a, F>, Sensitivity) {
    let rule = ImpactRule::Newton { restitution };
    let collider = Collider::new(&system.body, &system.shape, &system.plane, flight, rule).unwrap();
    let run = Trajectory::record(&collider, initial, grid, None).unwrap();
    let sensitivity = collider.sensitivity(&run).unwrap();
    (run, sensitivity)
}

/// Fourth-order differences of the final state.
fn differences(step: f64, end: impl Fn(f64) -> State) -> DVector<f64> {
    let middle = end(0.0);
    let at = |k: f64| apart(&middle, &end(k * step));
    ((at(1.0) - at(-1.0)) * 8.0 - (at(2.0) - at(-2.0))) / (12.0 * step)
}

/// Largest error of the sensitivity of a run over its largest entry.
fn error<F: DifferentiableFlight>(
    system: &System,
    flights: impl Fn(Vector3<f64>) -> F,
    restitution: f64,
    grid: &TimeGrid,
) -> (f64, usize) {
    let initial = &system.initial;
    let flight = flights(gravity());
    let (base, sensitivity) = run(system, &flight, restitution, initial, grid);
    assert_eq!(base.end().ending, Ending::Completed);
    let jacobian = sensitivity.d_final_d_initial.unwrap();
    let step = 1e-4 / jacobian.amax().sqrt().max(1.0);
    let mut worst: f64 = 0.0;
    for k in 0..12 {
        let mut unit = DVector::zeros(12);
        unit[k] = 1.0;
        let column = differences(step, |by| {
            let start = moved(initial, &(&unit * by));
            let (other, _) = run(system, &flight, restitution, &start, grid);
            assert_eq!(other.impacts().len(), base.impacts().len());
            other.end().state
        });
        worst = worst.max((column - jacobian.column(k)).amax() / jacobian.amax());
    }
    for (name, column) in &sensitivity.d_final_d_parameters {
        let axis = match &**name {
            "restitution" => None,
            "gravity_x" => Some(0),
            "gravity_y" => Some(1),
            _ => Some(2),
        };
        let at = |by: f64| {
            let mut pull = gravity();
            let mut restitution = restitution;
            match axis {
                Some(axis) => pull[axis] += by,
                None => restitution += by,
            }
            let flight = flights(pull);
            run(system, &flight, restitution, initial, grid)
                .0
                .end()
                .state
        };
        let found = if axis.is_none() && restitution == 1.0 {
            // One-sided, into the allowed range.
            let at = |k: f64| apart(&at(0.0), &at(-k * step));
            (at(1.0) * -48.0 + at(2.0) * 36.0 + at(3.0) * -16.0 + at(4.0) * 3.0) / (12.0 * step)
        } else {
            differences(step, at)
        };
        worst = worst.max((&found - column).amax() / jacobian.amax().max(column.amax()));
    }
    (worst, base.impacts().len())
}

/// Every kind of shape and flight, with two or three impacts that split steps.
#[test]
fn runs_are_differentiated_as_they_were_made() {
    let grid = |step, time| TimeGrid::duration(step, time).unwrap();
    let cases: [(System, Flights, f64, f64); 6] = [
        (case_i(), FreeFlight::lgvi, 1.0, 5.0),
        (case_ii(), FreeFlight::lgvi, 0.8, 4.0),
        (case_iii(), FreeFlight::lgvi, 0.9, 3.1),
        (case_iv(), FreeFlight::lgvi, 0.7, 3.8),
        (case_i(), FreeFlight::suzuki4, 0.6, 4.0),
        (case_iii(), FreeFlight::yoshida6, 1.0, 3.1),
    ];
    for (place, (system, flights, restitution, time)) in cases.into_iter().enumerate() {
        let (error, impacts) = error(&system, flights, restitution, &grid(0.05, time));
        assert!(impacts >= 1, "{place}: {impacts}");
        assert!(error <= 2e-8, "{place}: {error:e}");
    }
    for (system, restitution) in [(case_i(), 1.0), (case_iv(), 0.7)] {
        let (error, impacts) = error(&system, ExactFlight::new, restitution, &grid(0.2, 3.8));
        assert!(impacts >= 1 && error <= 2e-8, "{restitution}: {error:e}");
    }
}

/// The canonical form $\delta x\cdot\delta\gamma' - \dots + \Pi\cdot(\zeta\times\zeta')$.
fn symplectic_form(state: &State) -> DMatrix<f64> {
    let mut form = DMatrix::zeros(12, 12);
    for i in 0..6 {
        form[(i, 6 + i)] = 1.0;
        form[(6 + i, i)] = -1.0;
    }
    let pi = carom_lie::hat(&state.angular_momentum);
    // Π·(ζ × ζ') = ζ·(ζ' × Π) = -ζ·S(Π)ζ'.
    form.view_mut((3, 3), (3, 3)).copy_from(&-pi);
    form
}

fn symplectic_defect<F: DifferentiableFlight>(flight: &F, time: f64) -> f64 {
    let system = case_i();
    let grid = TimeGrid::duration(0.05, time).unwrap();
    let (base, sensitivity) = run(&system, flight, 1.0, &system.initial, &grid);
    assert!(!base.impacts().is_empty());
    let jacobian = sensitivity.d_final_d_initial.unwrap();
    let carried = jacobian.transpose() * symplectic_form(&base.end().state) * &jacobian;
    (carried - symplectic_form(&system.initial)).amax() / jacobian.amax().powi(2)
}

/// The exact flow with elastic impacts is a flow of Hamilton's equations; a discrete step that an
/// impact splits is not symplectic.
#[test]
fn elastic_runs_of_the_exact_flow_are_symplectic() {
    let exact = symplectic_defect(&ExactFlight::new(gravity()), 9.5);
    assert!(exact <= 1e-13, "{exact:e}");
    let discrete = symplectic_defect(&FreeFlight::lgvi(gravity()), 9.5);
    assert!(discrete >= 1e-6, "{discrete:e}");
}

/// A run is its two halves one after the other.
#[test]
fn sensitivities_compose() {
    let system = case_iv();
    let flight = FreeFlight::lgvi(gravity());
    let grid = |steps| TimeGrid::steps(0.01, steps).unwrap();
    let (_, whole) = run(&system, &flight, 0.9, &system.initial, &grid(600));
    let (half, first) = run(&system, &flight, 0.9, &system.initial, &grid(300));
    let (_, second) = run(&system, &flight, 0.9, &half.end().state, &grid(300));
    assert_eq!(first.events.len() + second.events.len(), whole.events.len());
    let whole = whole.d_final_d_initial.unwrap();
    let product = second.d_final_d_initial.unwrap() * first.d_final_d_initial.unwrap();
    assert!((&product - &whole).amax() <= 1e-11 * whole.amax());
}

/// Flight, saltation matrix, flight: the continuous flows at each impact.
#[test]
fn exact_runs_are_products_of_saltation_matrices() {
    let system = case_ii();
    let flight = ExactFlight::new(gravity());
    let grid = TimeGrid::duration(0.05, 7.0).unwrap();
    let (base, sensitivity) = run(&system, &flight, 0.9, &system.initial, &grid);
    let mut product = DMatrix::identity(12, 12);
    let (mut at, mut time) = (system.initial, 0.0);
    let leg = |from: &State, time: f64| {
        let grid = TimeGrid::steps(time, 1).unwrap();
        let lifted = State {
            position: from.position + v(0.0, 0.0, 1e3),
            ..*from
        };
        let (_, leg) = run(&system, &flight, 0.9, &lifted, &grid);
        leg.d_final_d_initial.unwrap()
    };
    for (impact, event) in base.impacts().iter().zip(&sensitivity.events) {
        assert_eq!(event.time, impact.time);
        product = event.saltation.as_ref().unwrap() * leg(&at, impact.time - time) * product;
        (at, time) = (impact.after, impact.time);
    }
    product = leg(&at, base.end().time - time) * product;
    let whole = sensitivity.d_final_d_initial.unwrap();
    assert!(base.impacts().len() >= 2);
    assert!((&product - &whole).amax() <= 1e-10 * whole.amax());
}

fn ball(restitution: f64, initial: State, gravity: f64, time: f64) -> Sensitivity {
    let body = super::common::diagonal(1.0, 1.0, 1.0);
    let system = System {
        body,
        shape: carom_geometry::Shape::Ellipsoid(
            carom_geometry::Ellipsoid::sphere(0.5, Vector3::zeros()).unwrap(),
        ),
        initial,
        ..case_i()
    };
    let flight = FreeFlight::lgvi(v(0.0, 0.0, -gravity));
    let grid = TimeGrid::duration(0.01, time).unwrap();
    run(&system, &flight, restitution, &initial, &grid).1
}

fn at_height(height: f64, momentum: Vector3<f64>) -> State {
    State {
        position: v(0.0, 0.0, height),
        rotation: So3::identity(),
        linear_momentum: momentum,
        angular_momentum: Vector3::zeros(),
    }
}

/// $\Xi = \lbrack\lbrack -e, 0\rbrack, \lbrack (1+e)g/v, -e\rbrack\rbrack$, margin 1 for a
/// ball that moves straight down.
#[test]
fn a_ball_has_the_saltation_matrix_of_the_book() {
    let fall = 0.2;
    let start = at_height(0.5 + 0.5 * 10.0 * fall * fall, Vector3::zeros());
    let sensitivity = ball(0.6, start, 10.0, 0.3);
    let event = &sensitivity.events[0];
    let xi = event.saltation.as_ref().unwrap();
    let vertical = [(2, 2), (2, 8), (8, 2), (8, 8)].map(|at| xi[at]);
    let expected = [-0.6, 0.0, 1.6 * 10.0 / 2.0, -0.6];
    for (found, expected) in vertical.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-12, "{vertical:?}");
    }
    assert_eq!(sensitivity.class, Regularity::Smooth);
    assert!((sensitivity.margin.unwrap() - 1.0).abs() <= 1e-12);
}

#[test]
fn what_has_no_derivative_says_why() {
    let refused = |sensitivity: &Sensitivity, reason: &str| {
        assert_eq!(sensitivity.reason.as_deref(), Some(reason));
        assert!(sensitivity.d_final_d_initial.is_none());
        assert!(sensitivity.d_final_d_parameters.is_empty());
    };
    // A graze at 1e-10 of the speed.
    let grazing = ball(1.0, at_height(0.5, v(1.0, 0.0, -1e-10)), 0.0, 0.1);
    assert_eq!(grazing.class, Regularity::Singular);
    refused(&grazing, "grazing");
    // Along the plane, and away from it.
    let along = ball(1.0, at_height(0.5, v(1.0, 0.0, 0.0)), 0.0, 0.1);
    assert_eq!(along.class, Regularity::Singular);
    refused(&along, "grazing");
    let away = ball(1.0, at_height(0.5, v(1.0, 0.0, 1.0)), 10.0, 0.1);
    assert!(away.events.is_empty() && away.d_final_d_initial.is_some());
    refused(
        &ball(0.5, at_height(1.5, Vector3::zeros()), 10.0, 3.0),
        "zeno",
    );
    refused(
        &ball(0.5, at_height(0.5, Vector3::zeros()), 10.0, 1.0),
        "established-contact",
    );
    // A cube that lands on a face.
    let flat = System {
        initial: at_height(2.0, v(0.1, 0.0, 0.0)),
        ..case_iv()
    };
    let flight = FreeFlight::lgvi(gravity());
    let grid = TimeGrid::duration(0.01, 0.5).unwrap();
    let (base, landed) = run(&flat, &flight, 1.0, &flat.initial, &grid);
    assert_eq!(base.impacts()[0].points.len(), 4);
    refused(&landed, "simultaneous-contacts");
    // A run that ends with an impact has no final time.
    let collider = Collider::new(
        &flat.body,
        &flat.shape,
        &flat.plane,
        &flight,
        ImpactRule::ELASTIC,
    )
    .unwrap();
    let ended = Trajectory::record(&collider, &case_iv().initial, &grid_of(5.0), Some(1)).unwrap();
    refused(&collider.sensitivity(&ended).unwrap(), "max-impacts");
}

fn grid_of(time: f64) -> TimeGrid {
    TimeGrid::duration(0.01, time).unwrap()
}

/// The rule that balances the discrete energies, whose impulse depends on where it splits the step;
/// such steps are symplectic.
#[test]
fn the_discrete_energy_rule_is_differentiated() {
    let system = case_i();
    let grid = TimeGrid::duration(0.02, 5.0).unwrap();
    let run = |initial: &State, pull: Vector3<f64>| {
        let flight = FreeFlight::lgvi(pull);
        let rule = ImpactRule::DiscreteEnergy;
        let collider =
            Collider::new(&system.body, &system.shape, &system.plane, &flight, rule).unwrap();
        let run = Trajectory::record(&collider, initial, &grid, None).unwrap();
        let sensitivity = collider.sensitivity(&run).unwrap();
        (run.end().clone(), sensitivity)
    };
    let (end, sensitivity) = run(&system.initial, gravity());
    assert!(end.n_impacts >= 2);
    let jacobian = sensitivity.d_final_d_initial.unwrap();
    let size = jacobian.amax();
    let form = jacobian.transpose() * symplectic_form(&end.state) * &jacobian;
    let defect = (form - symplectic_form(&system.initial)).amax() / (size * size);
    assert!(defect <= 1e-10, "{defect:e}");
    let step = 1e-4 / size.sqrt();
    for k in 0..12 {
        let mut unit = DVector::zeros(12);
        unit[k] = 1.0;
        let column = differences(step, |by| {
            run(&moved(&system.initial, &(&unit * by)), gravity())
                .0
                .state
        });
        let error = (column - jacobian.column(k)).amax() / size;
        assert!(error <= 2e-8, "{k}: {error:e}");
    }
    let names: Vec<_> = sensitivity
        .d_final_d_parameters
        .iter()
        .map(|p| &*p.0)
        .collect();
    assert_eq!(names, ["gravity_x", "gravity_y", "gravity_z"]);
    for (axis, (_, column)) in sensitivity.d_final_d_parameters.iter().enumerate() {
        let found = differences(step, |by| {
            let mut pull = gravity();
            pull[axis] += by;
            run(&system.initial, pull).0.state
        });
        let error = (found - column).amax() / size.max(column.amax());
        assert!(error <= 2e-8, "{axis}: {error:e}");
    }
}
