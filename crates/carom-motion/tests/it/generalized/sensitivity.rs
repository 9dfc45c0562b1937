//! Derivatives of runs of mechanisms, against differences of the runs themselves.

use carom_derivative::{DifferentiableLaw, saltation};
use carom_impact::frictional::MoreauNewton;
use carom_impact::{EnergeticRestitution, Propagative};
use carom_mechanism::planar::{
    Actuator, Inertia, Line, LineContact, Link, PlanarBuilder, PlanarMechanism, Reference,
};
use carom_mechanism::systems::{BallsOnLine, Block, PendulumCradle};
use carom_mechanism::{Derivatives, Dynamics, MechanicalSystem, Motion, PointContact};
use carom_motion::hybrid::Ending;
use carom_variational::TimeGrid;

use carom_motion::generalized::{CollisionIntegrator, ForceParameter};
use carom_motion::sensitivity::{Regularity, Sensitivity};
use nalgebra::{DMatrix, DVector};

/// Rods between two walls; the lower one may be driven by an actuator whose reference moves.
fn pendulum(gravity: f64, restitution: f64, driven: bool) -> PlanarMechanism {
    let mut builder = PlanarBuilder::new([0.0, -gravity]);
    let down = -std::f64::consts::FRAC_PI_2;
    let upper = builder.hinge(Link::GROUND, [0.0, 0.0], down);
    let lower = builder.hinge(upper, [1.0, 0.0], 0.0);
    for (link, length) in [(upper, 1.0), (lower, 0.8)] {
        builder.body(link, Inertia::rod(length, [0.0, 0.0], [length, 0.0]));
        for side in [-1.0, 1.0] {
            let wall = Line::new([side * 0.6, 0.0], [-side, 0.0]).unwrap();
            let contact = LineContact::point("wall", [length, 0.0], wall);
            builder.contact(
                link,
                LineContact {
                    restitution,
                    ..contact
                },
            );
        }
    }
    if driven {
        let reference = Reference {
            hold: -0.3,
            rate: 0.4,
            start: 0.05,
        };
        builder.actuator(
            lower,
            Actuator {
                proportional: 2.0,
                derivative: 0.1,
                reference,
            },
        );
    }
    builder.build().unwrap()
}

fn propagative(restitution: f64) -> Propagative {
    Propagative::default().with_restitution(EnergeticRestitution::new(restitution).unwrap())
}

struct Case {
    start: Vec<f64>,
    grid: TimeGrid,
}

impl Case {
    /// The final configuration and velocity of a run from a start, and its derivative.
    fn run<S: MechanicalSystem>(
        &self,
        system: &S,
        law: &dyn DifferentiableLaw,
        start: &[f64],
        parameters: &[ForceParameter<'_>],
    ) -> (DVector<f64>, Sensitivity) {
        let n = system.dimension();
        let integrator = CollisionIntegrator::differentiable(system, law).unwrap();
        let initial = integrator.state(0.0, &start[..n], &start[n..]).unwrap();
        let (end, sensitivity) = integrator
            .run_with_sensitivity(&initial, &self.grid, None, parameters, &mut |_| ())
            .unwrap();
        let plain = integrator
            .run(&initial, &self.grid, None, &mut |_| ())
            .unwrap();
        assert_eq!(plain, end);
        assert_eq!(end.ending, Ending::Completed);
        let velocity = integrator.velocity(&end.state).unwrap();
        let entries = end.state.configuration.iter().chain(velocity.0.iter());
        (DVector::from_iterator(2 * n, entries.copied()), sensitivity)
    }

    /// Fourth-order differences by the start, one column.
    fn by_start<S: MechanicalSystem>(
        &self,
        system: &S,
        law: &dyn DifferentiableLaw,
        k: usize,
        step: f64,
    ) -> DVector<f64> {
        differences(step, |by| {
            let mut start = self.start.clone();
            start[k] += by;
            self.run(system, law, &start, &[]).0
        })
    }

    /// The largest error of the derivative by the start over its largest entry.
    fn error<S: MechanicalSystem>(&self, system: &S, law: &dyn DifferentiableLaw) -> (f64, usize) {
        let (_, sensitivity) = self.run(system, law, &self.start, &[]);
        assert_eq!(sensitivity.reason, None);
        let jacobian = sensitivity.d_final_d_initial.unwrap();
        let step = 1e-4 / jacobian.amax().sqrt().max(1.0);
        let mut worst: f64 = 0.0;
        for k in 0..self.start.len() {
            let column = self.by_start(system, law, k, step);
            worst = worst.max((column - jacobian.column(k)).amax() / jacobian.amax());
        }
        (worst, sensitivity.events.len())
    }
}

/// A ball over a floor that says nothing about the second derivatives of its gap.
#[derive(Debug)]
struct Ball([PointContact; 1]);

impl MechanicalSystem for Ball {
    fn dimension(&self) -> usize {
        1
    }

    fn mass_matrix(&self, _q: &[f64], out: &mut DMatrix<f64>) {
        out[(0, 0)] = 1.0;
    }

    fn dynamics(&self, _at: &Motion<'_>, _wanted: Derivatives, out: &mut Dynamics) {
        out.mass_matrix[(0, 0)] = 1.0;
        out.potential_gradient[0] = 9.81;
    }

    fn contacts(&self) -> &[PointContact] {
        &self.0
    }

    fn gap(&self, _contact: usize, q: &[f64]) -> f64 {
        q[0]
    }

    fn gap_gradient(&self, _contact: usize, _q: &[f64], out: &mut [f64]) {
        out[0] = 1.0;
    }
}

fn differences(step: f64, end: impl Fn(f64) -> DVector<f64>) -> DVector<f64> {
    ((end(step) - end(-step)) * 8.0 - (end(2.0 * step) - end(-2.0 * step))) / (12.0 * step)
}

fn swing(duration: f64) -> Case {
    Case {
        start: vec![0.6, -0.6, 0.0, 0.0],
        grid: TimeGrid::duration(0.01, duration).unwrap(),
    }
}

/// Elastic and lossy impacts, of a law with one coefficient and of one with those of the contacts;
/// a force that depends on time while an impact splits the steps.
#[test]
fn runs_of_a_double_pendulum_are_differentiated() {
    let (error, impacts) = swing(2.0).error(&pendulum(9.81, 1.0, false), &propagative(1.0));
    assert!(impacts >= 3 && error <= 1e-8, "{impacts}: {error:e}");
    let (error, impacts) = swing(1.3).error(&pendulum(9.81, 0.7, true), &propagative(0.6));
    assert!(impacts >= 2 && error <= 1e-8, "{impacts}: {error:e}");
    let law = MoreauNewton::default();
    let (error, impacts) = swing(1.3).error(&pendulum(9.81, 0.7, false), &law);
    assert!(impacts >= 2 && error <= 1e-8, "{impacts}: {error:e}");
}

/// Balls on strings, whose gap is curved.
#[test]
fn a_run_of_a_cradle_is_differentiated() {
    let cradle = PendulumCradle::new(2, 1.0, 0.1, 1.0, 9.81).unwrap();
    let case = Case {
        start: vec![-0.5, 0.02, 0.0, 0.3],
        grid: TimeGrid::duration(0.01, 2.5).unwrap(),
    };
    let (error, impacts) = case.error(&cradle, &propagative(0.9));
    assert!(impacts >= 2 && error <= 1e-8, "{impacts}: {error:e}");
}

#[test]
fn restitution_and_gravity_are_parameters() {
    let case = swing(0.9);
    let unit = pendulum(1.0, 1.0, false);
    let pull = |q: &[f64], out: &mut [f64]| {
        let mut dynamics = Dynamics::new(2);
        let at = Motion {
            time: 0.0,
            configuration: q,
            velocity: &[0.0; 2],
        };
        unit.dynamics(&at, Derivatives::First, &mut dynamics);
        for (out, gradient) in out.iter_mut().zip(&dynamics.potential_gradient) {
            *out = -gradient;
        }
    };
    let gravity = ForceParameter {
        name: "gravity",
        force: &pull,
    };
    let system = pendulum(9.81, 1.0, false);
    let (_, sensitivity) = case.run(&system, &propagative(0.8), &case.start, &[gravity]);
    assert!(sensitivity.events.len() >= 2);
    let names: Vec<_> = sensitivity
        .d_final_d_parameters
        .iter()
        .map(|p| &*p.0)
        .collect();
    assert_eq!(names, ["restitution", "gravity"]);
    let by_restitution = differences(1e-4, |by| {
        case.run(&system, &propagative(0.8 + by), &case.start, &[])
            .0
    });
    let by_gravity = differences(1e-4, |by| {
        let system = pendulum(9.81 + by, 1.0, false);
        case.run(&system, &propagative(0.8), &case.start, &[]).0
    });
    for (found, (_, column)) in [by_restitution, by_gravity]
        .iter()
        .zip(&sensitivity.d_final_d_parameters)
    {
        let error = (found - column).amax() / column.amax();
        assert!(error <= 1e-8, "{error:e}");
    }
}

/// Uniform forces and a constant mass matrix: the run is the motion, and the derivative flight,
/// saltation matrix, flight.
#[test]
fn a_block_that_hits_one_corner_is_a_product() {
    let block = Block::new(0.5, 0.3, 1.0, [0.3, -9.81]).unwrap();
    let case = Case {
        start: vec![0.0, 1.0, 0.3, 0.2, 0.0, -1.0],
        grid: TimeGrid::duration(0.01, 0.5).unwrap(),
    };
    let (error, impacts) = case.error(&block, &propagative(0.7));
    assert!(impacts >= 1 && error <= 1e-8, "{impacts}: {error:e}");
    let (_, sensitivity) = case.run(&block, &propagative(0.7), &case.start, &[]);
    let flight = |t: f64| {
        let mut flight = DMatrix::identity(6, 6);
        for i in 0..3 {
            flight[(i, 3 + i)] = t;
        }
        flight
    };
    let (mut product, mut time) = (DMatrix::identity(6, 6), 0.0);
    for event in &sensitivity.events {
        product = event.saltation.as_ref().unwrap() * flight(event.time - time) * product;
        time = event.time;
    }
    product = flight(0.5 - time) * product;
    let jacobian = sensitivity.d_final_d_initial.unwrap();
    assert!((product - &jacobian).amax() <= 1e-11 * jacobian.amax());
}

/// nimblephysics, issue 97: two equal balls pass their derivatives on.
#[test]
fn two_equal_balls_pass_their_derivatives_on() {
    let balls = BallsOnLine::new(&[1.0, 1.0], 0.1).unwrap();
    let case = Case {
        start: vec![0.0, 0.45, 1.0, 0.0],
        grid: TimeGrid::duration(0.1, 1.0).unwrap(),
    };
    let (_, sensitivity) = case.run(&balls, &propagative(1.0), &case.start, &[]);
    let second = sensitivity.d_final_d_initial.unwrap().row(1).into_owned();
    for (found, expected) in second.iter().zip([1.0, 0.0, 1.0, 0.0]) {
        assert!((found - expected).abs() <= 1e-13, "{second}");
    }
    assert_eq!(sensitivity.class, Regularity::Smooth);
    // By hand: the same from the saltation matrix of exchanged velocities.
    let reset = nalgebra::dmatrix![
        1.0, 0.0, 0.0, 0.0; 0.0, 1.0, 0.0, 0.0; 0.0, 0.0, 0.0, 1.0; 0.0, 0.0, 1.0, 0.0];
    let flow = |v: [f64; 2]| DVector::from_column_slice(&[v[0], v[1], 0.0, 0.0]);
    let guard = DVector::from_column_slice(&[-1.0, 1.0, 0.0, 0.0]);
    let xi = saltation(&reset, &flow([1.0, 0.0]), &flow([0.0, 1.0]), &guard, 0.0).unwrap();
    assert!((sensitivity.events[0].saltation.as_ref().unwrap() - xi).amax() <= 1e-13);
}

#[test]
fn runs_without_a_derivative_say_why() {
    let reason = |sensitivity: &Sensitivity| {
        assert!(sensitivity.d_final_d_initial.is_none());
        sensitivity.reason.clone().unwrap()
    };
    // A block that comes to rest on its corners.
    let block = Block::new(0.5, 0.3, 1.0, [0.0, -9.81]).unwrap();
    let mut case = Case {
        start: vec![0.0, 0.35, 0.0, 0.0, 0.0, 0.0],
        grid: TimeGrid::duration(0.01, 0.3).unwrap(),
    };
    let (_, landed) = case.run(&block, &propagative(0.5), &case.start, &[]);
    assert_eq!(reason(&landed), "simultaneous-contacts");
    case.start[1] = 0.3;
    let (_, lying) = case.run(&block, &propagative(0.5), &case.start, &[]);
    assert_eq!(reason(&lying), "established-contact");
    // A law that is not said to be differentiable, and a system without second derivatives of gaps.
    let balls = BallsOnLine::new(&[1.0, 1.0], 0.1).unwrap();
    let law = propagative(1.0);
    let integrator = CollisionIntegrator::new(&balls, &law).unwrap();
    let start = integrator.state(0.0, &[0.0, 1.0], &[1.0, 0.0]).unwrap();
    let grid = TimeGrid::duration(0.1, 0.5).unwrap();
    let run = integrator.run_with_sensitivity(&start, &grid, None, &[], &mut |_| ());
    assert_eq!(reason(&run.unwrap().1), "not-differentiated");
    let ball = Ball([PointContact::elastic("floor")]);
    let fall = Case {
        start: vec![0.3, 0.0],
        grid: TimeGrid::duration(0.01, 0.3).unwrap(),
    };
    let (_, fallen) = fall.run(&ball, &law, &fall.start, &[]);
    assert_eq!(fallen.events.len(), 1);
    assert_eq!(reason(&fallen), "not-differentiated");
}
