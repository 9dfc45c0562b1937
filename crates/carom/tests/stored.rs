//! Results, poses and specifications are the same after they were written as JSON and read.
#![allow(clippy::unwrap_used, clippy::panic)]

use carom::derivative::{Direction, Gradient, Wrt, by_differences, differentiate};
use carom::geometry::{
    Cuboid, Cylinder, Ellipsoid, EllipsoidIntersection, HalfSpace, Polyhedron, Rounded, Segment,
    Shape, TurnedEllipsoid, Union,
};
use carom::impact::frictional::{MoreauNewton, Poisson, SetValued};
use carom::impact::two_body::ImpactOptions;
use carom::impact::{
    Contact, ContactSet, ImpactLaw, ImpactOutcome, ImpactProblem, Law, Propagative, Routh,
    SetValuedLaw,
};
use carom::judge::{JudgeOptions, Judgement, judge};
use carom::lcp::{Enumerate, Lcp, LcpSolution, LcpSolver, Lemke};
use carom::lie::{Se3, So3};
use carom::mechanism::systems::BallsOnLine;
use carom::metric::{Covector, KineticMetric, Tangent};
use carom::motion::generalized::{CollisionIntegrator, Trajectory};
use carom::motion::hybrid::{Ending, Limits};
use carom::variational::{RigidBody, State, TimeGrid};
use carom::world::jointed::{JointedEnd, JointedSpec, JointedWorld, TouchSpec};
use carom::world::joints::coordinates::{Actuator, CoordinateSpec, Rule, Table};
use carom::world::joints::kinds::Kind;
use carom::world::joints::{JointSpec, MultibodySpec, Placed};
use carom::world::{
    BodySpec, FlightRule, Laws, PlaneSpec, RunEnd, SingleLaw, Surface, World, WorldSpec,
};
use nalgebra::{DMatrix, Unit, Vector3, Vector6, dmatrix, dvector};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// Writes a value, reads it, and compares: all digits of the text are those of the numbers.
fn again<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let text = serde_json::to_string(value).unwrap();
    let read: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(read, *value, "{text}");
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
}

/// Error of reading what `change` made of a value.
fn refused<T: Serialize + DeserializeOwned>(value: &T, from: &str, to: &str) -> String {
    let text = serde_json::to_string(value).unwrap();
    assert!(text.contains(from), "{text}");
    match serde_json::from_str::<T>(&text.replace(from, to)) {
        Ok(_) => panic!("{from} became {to} without a word"),
        Err(error) => error.to_string(),
    }
}

fn problem(tangents: usize) -> ImpactProblem {
    let n = tangents + 1;
    let unit = |i: usize| {
        let mut row = vec![0.0; n];
        row[i] = 1.0;
        Covector::from_slice(&row)
    };
    let metric = KineticMetric::new(DMatrix::from_fn(
        n,
        n,
        |i, j| {
            if i == j { 1.3 } else { 0.1 / 3.0 }
        },
    ));
    let floor = Contact::new(unit(tangents))
        .with_tangents((0..tangents).map(unit).collect::<Vec<_>>())
        .with_friction(0.3)
        .with_restitution(0.7);
    let contacts = ContactSet::new(metric.unwrap(), vec![floor]).unwrap();
    let mut velocity = vec![1.0 / 3.0; n];
    velocity[tangents] = -2.0;
    ImpactProblem::new(&contacts, Tangent::from_slice(&velocity)).unwrap()
}

#[test]
fn outcomes_of_every_law() {
    let mut answered = 0;
    for (law, tangents) in Law::all().flat_map(|law| [0, 1, 2].map(|t| (law.clone(), t))) {
        if let Ok(outcome) = law.resolve(&problem(tangents)) {
            again(&outcome);
            answered += 1;
        }
        again(&law);
    }
    assert!(answered >= 20, "{answered}");
    again(&SetValued::default().resolve_all(&problem(1)).unwrap());
    again(&Propagative::default().resolve_all(&problem(0)).unwrap());
    let options = ImpactOptions::default().with_tolerance(1e-9);
    again(&Routh::default().with_options(options));
    let outcome: ImpactOutcome = Poisson::default().resolve(&problem(1)).unwrap();
    assert!(refused(&outcome, "\"resolved\"", "\"solved\"").contains("unknown variant"));
    assert!(refused(&outcome, "\"impulses\":[", "\"impulses\":[\"inf\",").contains("not finite"));
}

#[test]
fn answers_of_linear_complementarity_problems() {
    let lcp = Lcp::new(dmatrix![2.0, 1.0; 1.0, 3.0], dvector![-5.0, -1.0 / 3.0]).unwrap();
    let solution: LcpSolution = Lemke::default().solve(&lcp).unwrap();
    again(&solution);
    again(&Lemke::default());
    again(&Enumerate::default());
    let no_answer = Lcp::new(dmatrix![-1.0], dvector![-1.0]).unwrap();
    again(&Lemke::default().solve(&no_answer).unwrap());
    assert!(refused(&solution, "\"n_pivots\":", "\"pivots\":").contains("unknown field"));
}

#[test]
fn derivatives_and_judgements() {
    let problem = problem(1);
    let law = MoreauNewton::default();
    let (outcome, derivative) = differentiate(&law, &problem, &Wrt::ALL, 1e-9).unwrap();
    again(derivative.own_piece().unwrap());
    let cotangent = derivative.pull_back_to(&dvector![1.0, 0.3], Gradient::ALL);
    again(&cotangent.unwrap());
    let direction = Direction::default().with_friction(Some(dvector![1.0]));
    again(&derivative.along(&direction).unwrap());
    again(&direction);
    again(&by_differences(&law, &problem).unwrap());
    for velocity in [outcome.velocity_plus, Tangent::from_slice(&[4.0, 5.0])] {
        let judgement: Judgement = judge(&problem, &velocity, &JudgeOptions::default()).unwrap();
        assert!(!judgement.laws.is_empty());
        again(&judgement);
        assert!(refused(&judgement, "\"law\":\"poisson\"", "\"law\":\"mine\"").contains("`mine`"));
    }
    // Between two walls no sequence of elastic impacts ends.
    let walls = [1.0, -1.0].map(|x| Contact::frictionless(Covector::from_slice(&[x])));
    let metric = KineticMetric::new(DMatrix::identity(1, 1)).unwrap();
    let contacts = ContactSet::new(metric, walls.to_vec()).unwrap();
    let jammed = ImpactProblem::new(&contacts, Tangent::from_slice(&[-1.0])).unwrap();
    let rest = Tangent::from_slice(&[0.0]);
    let judgement = judge(&jammed, &rest, &JudgeOptions::default()).unwrap();
    assert!(!judgement.refused.is_empty());
    again(&judgement);
}

#[test]
fn poses_and_shapes() {
    let rotation = So3::exp(&Vector3::new(0.1, -2.0, 0.7));
    again(&rotation);
    again(&Se3::exp(&Vector6::new(0.1, -0.0, 1e-300, 3.0, 0.2, 0.1)));
    let error = serde_json::from_str::<So3>("[1.0, 0.1, 0.0, 0.0]").unwrap_err();
    assert!(error.to_string().contains("unit length"));
    let ball = |x| Ellipsoid::sphere(0.5, Vector3::new(x, 0.1, 0.0)).unwrap();
    let corners =
        [-0.3, 0.5].map(|x| [-0.1, 0.7].map(|y| [0.0, 0.2].map(|z| Vector3::new(x, y, z))));
    let corners: Vec<_> = corners.into_iter().flatten().flatten().collect();
    let cuboid = Shape::Cuboid(Cuboid::new([0.1, 0.2, 0.3]).unwrap());
    let axis = Unit::new_normalize(Vector3::new(1.0, 2.0, 3.0));
    let center = Vector3::new(0.1, 0.2, 0.3);
    let shapes = [
        Shape::Ellipsoid(ball(0.2)),
        cuboid.clone(),
        Shape::Polyhedron(Polyhedron::new(&corners).unwrap()),
        Shape::Rounded(Box::new(Rounded::new(cuboid.clone(), 0.05).unwrap())),
        Shape::Union(Union::new(vec![cuboid, Shape::Ellipsoid(ball(1.0))]).unwrap()),
        Shape::Intersection(EllipsoidIntersection::new(vec![ball(0.0), ball(0.3)]).unwrap()),
        Shape::Segment(Segment::new(0.5, &axis, center).unwrap()),
        Shape::Cylinder(Cylinder::new(0.5, 0.2, &axis, center).unwrap()),
        Shape::TurnedEllipsoid(TurnedEllipsoid::new(&ball(0.1), &rotation)),
    ];
    for shape in shapes {
        again(&shape);
        again(&shape.translated(&Vector3::new(1.0 / 3.0, 0.1, -0.7)));
    }
    again(&HalfSpace::new(Vector3::new(-0.2, 0.3, 0.5), 0.1).unwrap());
    let flat = Shape::Cuboid(Cuboid::new([0.1, 0.2, 0.3]).unwrap());
    again(&flat.mass_properties(0.3).unwrap());
    assert!(refused(&flat, "[0.1,", "[-0.1,").contains("half extent"));
}

#[test]
fn jointed_bodies() {
    let body = Shape::Cuboid(Cuboid::new([0.1, 0.2, 0.3]).unwrap());
    let rigid = RigidBody::new(&body.mass_properties(0.7).unwrap());
    again(&rigid);
    let ramp = Table::new(vec![0.0, 2.0], vec![1.0 / 3.0, 5.0]).unwrap();
    let rule = Rule::Table(ramp);
    let servo = Actuator::new(rule);
    let coordinate = CoordinateSpec::default()
        .with_limits(f64::NEG_INFINITY, 0.1)
        .with_actuator(servo);
    again(&coordinate);
    let hinge = JointSpec::new("hinge", Kind::named("revolute").unwrap(), None, 0)
        .with_coordinates(vec![coordinate]);
    let multibody = MultibodySpec::new(
        vec![("block".to_owned(), Some(rigid))],
        vec![hinge],
        Vector3::new(0.0, 0.0, -9.81),
        false,
    );
    let placed = Placed::default();
    let touch = TouchSpec::new(vec![Some(body)], vec![], vec![]);
    let spec = JointedSpec::new(multibody, vec![placed], FlightRule::Lgvi, 1e-2, touch);
    let text = serde_json::to_string(&spec).unwrap();
    let read: JointedSpec = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    assert!(refused(&spec, "\"revolute\"", "\"hinge\"").contains("no type of joint"));
    let laws = Laws::new(SingleLaw::TwoBody(ImpactOptions::default()), &|_, _| {
        Box::new(Poisson::default())
    });
    let run = |spec: &JointedSpec| {
        let limits = Limits::duration(0.1);
        let world = JointedWorld::new(spec).unwrap();
        serde_json::to_string(&world.run(&laws, &limits, &[], None, &mut |_| ())).unwrap()
    };
    let end = run(&spec);
    assert_eq!(run(&read), end);
    let read: JointedEnd = serde_json::from_str(&end).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), end);
}

#[test]
fn worlds_and_ends_of_runs() {
    let shape = Shape::Ellipsoid(Ellipsoid::sphere(0.1, Vector3::zeros()).unwrap());
    let mass = shape.mass_properties(0.3).unwrap();
    let place = Se3::new(So3::exp(&Vector3::x()), Vector3::new(0.0, 0.0, 1.0));
    let ball = BodySpec::new("ball", Some(mass), shape, place)
        .with_velocity(Vector3::new(0.1, 0.2, 0.3), Vector3::z());
    let floor = PlaneSpec::new("floor", HalfSpace::new(Vector3::z(), 0.0).unwrap());
    let surface = Surface::new(0.3, 0.5);
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let mut spec = WorldSpec::new(vec![ball], vec![floor], gravity, 1e-3, surface);
    spec.flight = FlightRule::Lgvi;
    spec.pairs = vec![([0, 1], surface)];
    let text = serde_json::to_string(&spec).unwrap();
    let read: WorldSpec = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    let laws = Laws::new(SingleLaw::TwoBody(ImpactOptions::default()), &|_, _| {
        Box::new(Poisson::default())
    });
    let run = |spec: &WorldSpec| -> RunEnd {
        let limits = Limits::duration(0.9);
        again(&limits);
        World::new(spec)
            .unwrap()
            .run(&laws, &limits, &[], &mut |_| ())
    };
    let end = run(&spec);
    assert_eq!(
        (end.ending.clone(), run(&read)),
        (Ending::Completed, end.clone())
    );
    again(&end);
    again(&Limits::impacts(3));
    let stopped = Ending::Stopped("an error that cannot be read back");
    assert!(serde_json::to_string(&stopped).is_err());

    let (balls, law) = (
        BallsOnLine::new(&[1.0, 1.0], 0.1).unwrap(),
        Propagative::default(),
    );
    let integrator = CollisionIntegrator::new(&balls, &law).unwrap();
    let start = integrator.state(0.0, &[0.0, 1.2], &[2.0, 0.0]).unwrap();
    let grid = TimeGrid::duration(0.1, 1.0).unwrap();
    let run = Trajectory::record(&integrator, &start, &grid, None).unwrap();
    again(&run.end);
    let state: &State = &end.states[0];
    again(state);
}
