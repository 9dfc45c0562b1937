//! A number out of range is refused by the call that uses it, for every field of options that has a setter.
#![allow(clippy::unwrap_used, clippy::panic)]

use carom::derivative::{Direction, Wrt, differentiate};
use carom::geometry::{Ellipsoid, HalfSpace, MassProperties, Shape};
use carom::impact::frictional::{AnitescuPotra, MoreauNewton, Poisson, Sequential, SetValued};
use carom::impact::two_body::ImpactOptions;
use carom::impact::{
    Contact, ContactSet, ImpactLaw, ImpactProblem, NonholonomicNewton, NonholonomicProjectedNewton,
    Plastic, Propagative, Routh, SetValuedLaw, TwoBody,
};
use carom::judge::{JudgeOptions, judge};
use carom::lcp::{Auto, Enumerate, Lcp, LcpSolver, Lemke, LemkeOptions};
use carom::lie::{Se3, So3};
use carom::mechanism::DesignError;
use carom::mechanism::design::{Equations, RootOptions, nearest_root};
use carom::mechanism::systems::BallsOnLine;
use carom::metric::{Covector, KineticMetric, Tangent};
use carom::motion::flying::{Collider, ColliderOptions, ImpactRule};
use carom::motion::generalized::{CollisionIntegrator, IntegratorOptions, Trajectory};
use carom::motion::hybrid::{Ending, Limits};
use carom::variational::load::{Drag, Loads};
use carom::variational::{ExactFlight, RigidBody, State, TimeGrid};
use carom::world::joints::coordinates::{Actuator, CoordinateSpec, Rule};
use carom::world::joints::kinds::Kind;
use carom::world::joints::{JointSpec, Multibody, MultibodySpec};
use carom::world::{BodySpec, Laws, SingleLaw, Surface, World, WorldSpec};
use carom_numeric::setters::Field;
use nalgebra::{DMatrix, DVector, Vector3, dmatrix, dvector};
use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Debug;

type Done = Result<(), Box<dyn Error>>;

/// Names of fields and whether a number lies in their range.
type Ranges<'a> = &'a [(&'static str, fn(f64) -> bool)];

/// Names of the options whose fields were tried, and a line for each number that was taken or refused without a name.
#[derive(Default)]
struct Tried {
    options: BTreeSet<String>,
    faults: Vec<String>,
}

impl Tried {
    /// Puts senseless and large numbers into each field. `run` must refuse them and name the field, unless the number is in
    /// the field's range in `ranges`.
    fn options<T: Clone + Debug>(
        &mut self,
        options: &T,
        fields: &[Field<T>],
        ranges: Ranges<'_>,
        run: impl Fn(&T) -> Done,
    ) {
        self.options_with(options, fields, &[], ranges, run);
    }

    /// Tries options as [`options`](Self::options) does. `others` are the fields that have no setter of the usual form.
    fn options_with<T: Clone + Debug>(
        &mut self,
        options: &T,
        fields: &[Field<T>],
        others: &[Field<T>],
        ranges: Ranges<'_>,
        run: impl Fn(&T) -> Done,
    ) {
        let path = std::any::type_name::<T>();
        let name = path.rsplit("::").next().unwrap();
        run(options).unwrap_or_else(|error| panic!("{name}: {error}"));
        let all: Vec<_> = fields.iter().chain(others).collect();
        let text = format!("{options:#?}");
        let shown = text
            .lines()
            .filter_map(|line| line.strip_prefix("    ")?.split_once(':'));
        for (field, _) in shown.filter(|(field, _)| !field.starts_with(' ')) {
            assert!(
                all.iter().any(|(known, _)| *known == field),
                "{name}.{field}"
            );
        }
        let numbers = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 1e300];
        for (field, put) in all {
            for number in numbers {
                let Some(changed) = put(options.clone(), number) else {
                    continue;
                };
                let range = ranges.iter().find(|(ranged, _)| ranged == field);
                let (_, is_allowed) = range.unwrap_or_else(|| panic!("{name}.{field}: no range"));
                let fault = match run(&changed) {
                    Ok(()) if is_allowed(number) => continue,
                    Ok(()) => "taken".to_owned(),
                    Err(error) if is_allowed(number) || error.to_string().contains(field) => {
                        continue;
                    }
                    Err(error) => error.to_string(),
                };
                self.faults
                    .push(format!("{name}.{field} = {number:e}: {fault}"));
            }
        }
        self.options.insert(name.to_owned());
    }
}

/// Budget of searches that a large count would make long.
const WORK: u64 = 1_000_000;

/// Range of a count or a seed without a smallest value.
const ANY: fn(f64) -> bool = |_| true;
/// Range of a count that must not be zero.
const COUNT: fn(f64) -> bool = |x| x >= 1.0;
/// Range of a quantity that is not negative.
const NOT_NEGATIVE: fn(f64) -> bool = |x| x >= 0.0 && x.is_finite();
/// Range of a positive quantity.
const POSITIVE: fn(f64) -> bool = |x| x > 0.0 && x.is_finite();
/// Range of a coefficient of restitution.
const UNIT: fn(f64) -> bool = |x| (0.0..=1.0).contains(&x);
/// Range of a tolerance. No number that is tried lies in it.
const TOLERANCE: fn(f64) -> bool = |x| x > 0.0 && x < 1.0;

fn lcp(tried: &mut Tried) {
    let lcp = Lcp::new(dmatrix![2.0, 1.0; 1.0, 2.0], dvector![-5.0, -6.0]).unwrap();
    let lemke = |options: &LemkeOptions| -> Done {
        Lemke::default().with_options(options.clone()).solve(&lcp)?;
        Ok(())
    };
    let ranges: Ranges<'_> = &[
        ("max_pivots", ANY),
        ("max_work", ANY),
        ("refine_above", |x| (0.0..1.0).contains(&x)),
        ("max_attempts", COUNT),
    ];
    tried.options(
        &LemkeOptions::default(),
        LemkeOptions::FIELDS,
        ranges,
        lemke,
    );
    tried.options(&Lemke::default(), Lemke::FIELDS, &[], |lemke| {
        Ok(lemke.solve(&lcp).map(drop)?)
    });
    tried.options(&Auto::default(), Auto::FIELDS, &[], |auto| {
        Ok(auto.solve(&lcp).map(drop)?)
    });
    let ranges = &[("max_solutions", COUNT), ("max_work", ANY)];
    tried.options(&Enumerate::default(), Enumerate::FIELDS, ranges, |all| {
        Ok(all.all(lcp.view()).map(drop)?)
    });
}

/// A point mass that hits a floor while it slides.
fn floor(contact: Contact, dim: usize) -> Result<ImpactProblem, Box<dyn Error>> {
    let metric = KineticMetric::new(DMatrix::identity(dim, dim))?;
    let contacts = ContactSet::new(metric, vec![contact])?;
    let mut velocity = vec![0.0; dim];
    (velocity[0], velocity[dim - 1]) = (3.0, -2.0);
    Ok(ImpactProblem::new(
        &contacts,
        Tangent::from_slice(&velocity),
    )?)
}

fn contact(dim: usize) -> Contact {
    let unit = |i| {
        Covector(DVector::from_fn(dim, |row, _| {
            f64::from(u8::from(row == i))
        }))
    };
    Contact::new(unit(dim - 1))
        .with_tangents((0..dim - 1).map(unit).collect::<Vec<_>>())
        .with_friction(0.5)
        .with_restitution(0.5)
}

fn law<L: ImpactLaw>(dim: usize) -> impl Fn(&L) -> Done {
    move |law| Ok(law.resolve(&floor(contact(dim), dim)?).map(drop)?)
}

fn laws(tried: &mut Tried) {
    let smooth = || Contact::new(Covector::from_slice(&[0.0, 1.0]));
    let ranges = &[("friction", NOT_NEGATIVE), ("restitution", UNIT)];
    let others: &[Field<Contact>] = &[
        ("normal", |mut contact, x| {
            contact.normal.0[0] = x;
            Some(contact)
        }),
        ("tangents", |_, _| None),
    ];
    let others_ranges: Ranges<'_> = &[ranges[0], ranges[1], ("normal", f64::is_finite)];
    tried.options_with(
        &contact(2),
        Contact::FIELDS,
        others,
        others_ranges,
        |contact| floor(contact.clone(), 2).map(drop),
    );
    let ranges = &[("restitution", UNIT)];
    tried.options(
        &NonholonomicNewton::default(),
        NonholonomicNewton::FIELDS,
        ranges,
        |law| Ok(law.resolve(&floor(smooth(), 2)?).map(drop)?),
    );
    let (options, fields) = (
        NonholonomicProjectedNewton::default(),
        NonholonomicProjectedNewton::FIELDS,
    );
    tried.options(&options, fields, ranges, |law| {
        Ok(law.resolve(&floor(smooth(), 2)?).map(drop)?)
    });
    let ranges: Ranges<'_> = &[
        ("max_impacts", ANY),
        ("max_nodes", ANY),
        ("samples", |x| (1.0..=1e6).contains(&x)),
        ("seed", ANY),
    ];
    tried.options(
        &Propagative::default(),
        Propagative::FIELDS,
        ranges,
        |law| {
            let problem = floor(smooth(), 2)?;
            law.resolve(&problem)?;
            Ok(law.resolve_all(&problem).map(drop)?)
        },
    );
}

fn frictional_laws(tried: &mut Tried) {
    let ranges = &[("max_impacts", ANY)];
    tried.options(&Sequential::default(), Sequential::FIELDS, ranges, law(2));
    let ranges = &[
        ("impulse_step", POSITIVE),
        ("samples", COUNT),
        ("seed", ANY),
        ("max_steps", COUNT),
        ("epsilon", POSITIVE),
        ("max_work", ANY),
    ];
    tried.options(
        &SetValued::default().with_max_work(WORK),
        SetValued::FIELDS,
        ranges,
        |law| {
            let problem = floor(contact(2), 2)?;
            law.resolve(&problem)?;
            Ok(law.resolve_all(&problem).map(drop)?)
        },
    );
    tried.options(
        &AnitescuPotra::default(),
        AnitescuPotra::FIELDS,
        &[],
        law(2),
    );
    tried.options(&MoreauNewton::default(), MoreauNewton::FIELDS, &[], law(2));
    tried.options(&Poisson::default(), Poisson::FIELDS, &[], law(2));
    tried.options(&Plastic::default(), Plastic::FIELDS, &[], law(2));
    tried.options(&Routh::default(), Routh::FIELDS, &[], law(3));
    tried.options(&TwoBody::default(), TwoBody::FIELDS, &[], law(3));
    let ranges = &[("tolerance", TOLERANCE)];
    tried.options(
        &ImpactOptions::default(),
        ImpactOptions::FIELDS,
        ranges,
        |options| {
            law(3)(&Routh::default().with_options(*options))?;
            law(3)(&TwoBody::default().with_options(*options))
        },
    );
    let ranges = &[
        ("tolerance", TOLERANCE),
        ("samples", ANY),
        ("seed", ANY),
        ("max_nodes", ANY),
        ("max_work", ANY),
    ];
    tried.options(
        &JudgeOptions::default().with_max_work(WORK),
        JudgeOptions::FIELDS,
        ranges,
        |options| {
            let velocity = Tangent::from_slice(&[2.0, 0.0]);
            Ok(judge(&floor(contact(2), 2)?, &velocity, options).map(drop)?)
        },
    );
}

/// The unit circle.
struct Circle;

impl Equations for Circle {
    fn count(&self) -> usize {
        1
    }

    fn unknowns(&self) -> usize {
        2
    }

    fn evaluate(
        &self,
        z: &[f64],
        residual: &mut DVector<f64>,
        jacobian: &mut DMatrix<f64>,
    ) -> Result<(), DesignError> {
        residual[0] = z[0] * z[0] + z[1] * z[1] - 1.0;
        (jacobian[(0, 0)], jacobian[(0, 1)]) = (2.0 * z[0], 2.0 * z[1]);
        Ok(())
    }
}

fn motion(tried: &mut Tried) {
    let ranges = &[
        ("tolerance", TOLERANCE),
        ("step_tolerance", TOLERANCE),
        ("max_iterations", COUNT),
    ];
    tried.options(
        &RootOptions::default(),
        RootOptions::FIELDS,
        ranges,
        |options| Ok(nearest_root(&Circle, &[3.0, 4.0], &[1.0, 1.0], options).map(drop)?),
    );
    let ranges = &[
        ("max_impacts_per_step", COUNT),
        ("contact_tolerance", TOLERANCE),
    ];
    tried.options(
        &ColliderOptions::default(),
        ColliderOptions::FIELDS,
        ranges,
        |options| {
            let shape = Ellipsoid::sphere(0.1, Vector3::zeros())?;
            let body = RigidBody::new(&MassProperties::ellipsoid(&shape, 1.0)?);
            let plane = HalfSpace::new(Vector3::z(), 0.0)?;
            let flight = ExactFlight::new(-10.0 * Vector3::z());
            let rule = ImpactRule::Newton { restitution: 0.5 };
            let start = State {
                position: Vector3::z(),
                rotation: So3::identity(),
                linear_momentum: Vector3::zeros(),
                angular_momentum: Vector3::zeros(),
            };
            let collider =
                Collider::new(&body, &shape, &plane, &flight, rule)?.with_options(*options);
            Ok(collider
                .run(&start, &TimeGrid::duration(0.1, 0.6)?, None, &mut |_| ())
                .map(drop)?)
        },
    );
    let ranges = &[
        ("gap_tolerance", POSITIVE),
        ("simultaneous_tolerance", POSITIVE),
        ("zeno_ratio", NOT_NEGATIVE),
        ("max_events_per_step", COUNT),
        ("max_halvings", ANY),
        ("indeterminacy_nodes", ANY),
    ];
    let (options, fields) = (IntegratorOptions::default(), IntegratorOptions::FIELDS);
    tried.options(&options, fields, ranges, |options| {
        let (balls, law) = (BallsOnLine::new(&[1.0, 1.0], 0.1)?, Propagative::default());
        let integrator = CollisionIntegrator::new(&balls, &law)?.with_options(*options)?;
        let start = integrator.state(0.0, &[0.0, 1.2], &[2.0, 0.0])?;
        Ok(
            Trajectory::record(&integrator, &start, &TimeGrid::duration(0.1, 1.0)?, None)
                .map(drop)?,
        )
    });
    // A world without bodies is at rest.
    let ranges: Ranges<'_> = &[("duration", |x| x >= 0.0), ("impacts", ANY)];
    tried.options(&Limits::duration(1.0), Limits::FIELDS, ranges, |limits| {
        let surface = Surface::new(0.5, 0.5);
        let world = World::new(&WorldSpec::new(
            vec![],
            vec![],
            Vector3::zeros(),
            1e-3,
            surface,
        ))?;
        let laws = Laws::new(SingleLaw::TwoBody(ImpactOptions::default()), &|_, _| {
            Box::new(Poisson::default())
        });
        match world.run(&laws, limits, &[], &mut |_| ()).ending {
            Ending::Stopped(error) => Err(error.into()),
            _ => Ok(()),
        }
    });
}

fn hinge(coordinate: &CoordinateSpec) -> JointSpec {
    JointSpec::new("hinge", Kind::named("revolute").unwrap(), None, 0)
        .with_coordinates(vec![coordinate.clone()])
}

fn build(joint: &JointSpec) -> Done {
    let shape = Ellipsoid::sphere(0.1, Vector3::zeros())?;
    let body = RigidBody::new(&MassProperties::ellipsoid(&shape, 1.0)?);
    let bodies = vec![("ball".to_owned(), Some(body))];
    let spec = MultibodySpec::new(bodies, vec![joint.clone()], Vector3::zeros(), false);
    Ok(Multibody::new(&spec).map(drop)?)
}

fn joints(tried: &mut Tried) {
    let others: &[Field<CoordinateSpec>] = &[
        ("position", |c, x| Some(c.with_position(x))),
        ("velocity", |c, x| Some(c.with_velocity(x))),
        ("lower", |c, x| Some(c.with_limits(x, 2e300))),
        ("upper", |c, x| Some(c.with_limits(f64::NEG_INFINITY, x))),
        ("stiffness", |c, x| Some(c.with_spring(x, 0.0))),
        ("rest", |c, x| Some(c.with_spring(1.0, x))),
        ("actuator", |_, _| None),
    ];
    let ranges: Ranges<'_> = &[
        ("position", f64::is_finite),
        ("velocity", f64::is_finite),
        ("lower", |x| x < 2e300),
        ("upper", |x| x > f64::NEG_INFINITY),
        ("restitution", UNIT),
        ("stiffness", NOT_NEGATIVE),
        ("rest", f64::is_finite),
        ("damping", NOT_NEGATIVE),
        ("friction", NOT_NEGATIVE),
        ("armature", NOT_NEGATIVE),
    ];
    let (coordinate, fields) = (CoordinateSpec::default(), CoordinateSpec::FIELDS);
    tried.options_with(&coordinate, fields, others, ranges, |coordinate| {
        build(&hinge(coordinate))
    });
}

fn specifications(tried: &mut Tried) {
    let (rule, ranges) = (
        Rule::Constant(1.0),
        &[("limit", (|x| x > 0.0) as fn(f64) -> bool)],
    );
    tried.options(&Actuator::new(rule), Actuator::FIELDS, ranges, |actuator| {
        build(&hinge(
            &CoordinateSpec::default().with_actuator(actuator.clone()),
        ))
    });
    let ranges = &[("friction", NOT_NEGATIVE), ("restitution", UNIT)];
    tried.options(
        &Surface::new(0.5, 0.5),
        Surface::FIELDS,
        ranges,
        |surface| {
            let spec = WorldSpec::new(vec![], vec![], Vector3::zeros(), 1e-3, *surface);
            Ok(World::new(&spec).map(drop)?)
        },
    );
    let ranges: Ranges<'_> = &[
        ("linear", NOT_NEGATIVE),
        ("quadratic", NOT_NEGATIVE),
        ("rotational", NOT_NEGATIVE),
        ("rotational_quadratic", NOT_NEGATIVE),
    ];
    tried.options(&Drag::default(), Drag::FIELDS, ranges, |drag| {
        let ball = Shape::Ellipsoid(Ellipsoid::sphere(0.1, Vector3::zeros())?);
        let mass = Some(ball.mass_properties(1.0)?);
        let place = Se3::new(So3::identity(), Vector3::zeros());
        let body =
            BodySpec::new("ball", mass, ball, place).with_loads(Loads::new(*drag, Vec::new()));
        let surface = Surface::new(0.5, 0.5);
        let spec = WorldSpec::new(vec![body], vec![], Vector3::zeros(), 1e-3, surface);
        Ok(World::new(&spec).map(drop)?)
    });
    let ranges = &[("event_restitution", f64::is_finite as fn(f64) -> bool)];
    let direction = Direction::default().with_velocity(Some(dvector![1.0, 0.0]));
    tried.options(&direction, Direction::FIELDS, ranges, |direction| {
        let (law, problem) = (MoreauNewton::default(), floor(contact(2), 2)?);
        let (_, derivative) = differentiate(&law, &problem, &Wrt::ALL, 1e-9)?;
        let nowhere = direction
            .clone()
            .with_velocity(Some(dvector![f64::NAN, 0.0]));
        assert!(derivative.along(&nowhere).is_err());
        Ok(derivative.along(direction).map(drop)?)
    });
}

/// Options whose setters take no number.
const WITHOUT_NUMBERS: [&str; 5] = ["Gradient", "JointSpec", "Placed", "RunOptions", "Wrt"];

#[test]
fn numbers_out_of_range_are_refused_by_name() {
    let mut tried = Tried::default();
    lcp(&mut tried);
    laws(&mut tried);
    frictional_laws(&mut tried);
    motion(&mut tried);
    joints(&mut tried);
    specifications(&mut tried);
    assert!(tried.faults.is_empty(), "{:#?}", tried.faults);
    let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let mut folders = vec![std::path::PathBuf::from(crates)];
    let mut found = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(path).unwrap();
                let names = text.lines().filter_map(|line| {
                    line.strip_prefix("carom_numeric::setters!(")?
                        .strip_suffix(" {")
                });
                found.extend(names.map(str::to_owned));
            }
        }
    }
    let tried = tried
        .options
        .iter()
        .map(String::as_str)
        .chain(WITHOUT_NUMBERS);
    assert_eq!(
        found.iter().map(String::as_str).collect::<BTreeSet<_>>(),
        tried.collect()
    );
}
