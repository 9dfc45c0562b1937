//! Jointed bodies that touch planes and each other.

use carom_geometry::{Cuboid, Ellipsoid, HalfSpace, Rounded, Segment, Shape};
use carom_impact::frictional::MoreauNewton;
use carom_impact::two_body::ImpactOptions;
use carom_lie::{Se3, So3};
use carom_motion::hybrid::{Ending, Limits, OwnedEvent};
use carom_world::jointed::{
    JointEvent, JointImpact, JointedEnd, JointedSpec, JointedWorld, TouchSpec,
};
use carom_world::joints::coordinates::{Actuator, CoordinateSpec, Rule, Table};
use carom_world::joints::frames::Frame;
use carom_world::joints::kinds::Kind;
use carom_world::joints::variational::RigidBody;
use carom_world::joints::{JointSpec, MultibodySpec, Placed};
use carom_world::{FlightRule, Laws, PlaneSpec, Scheme, SingleLaw, Stepping, Surface};
use nalgebra::Vector3;

const GRAVITY: f64 = 9.81;

/// Bodies of one run, with a floor.
#[derive(Default)]
struct Bodies {
    bodies: Vec<(String, Option<RigidBody>)>,
    placed: Vec<Placed>,
    shapes: Vec<Option<Shape>>,
    joints: Vec<JointSpec>,
}

impl Bodies {
    /// Adds a body of uniform density.
    fn add(&mut self, shape: Shape, mass: f64, at: Option<Vector3<f64>>) -> usize {
        self.bodies.push((
            format!("body{}", self.bodies.len()),
            Some(RigidBody::new(&shape.mass_properties(mass).unwrap())),
        ));
        self.shapes.push(Some(shape));
        self.placed
            .push(Placed::default().with_configuration(at.map(|x| Se3::new(So3::identity(), x))));
        self.bodies.len() - 1
    }

    fn join(
        &mut self,
        kind: &str,
        (parent, from): (Option<usize>, Vector3<f64>),
        (child, to): (usize, Vector3<f64>),
        coordinate: CoordinateSpec,
    ) {
        let kind = Kind::named(kind).unwrap();
        let frame = |position| Frame {
            position,
            ..Frame::identity()
        };
        self.joints.push(
            JointSpec::new(format!("joint{}", self.joints.len()), kind, parent, child)
                .with_frames(frame(from), frame(to))
                .with_axes(match kind.name {
                    "revolute" => vec![Vector3::y()],
                    _ => Vec::new(),
                })
                .with_coordinates(
                    kind.coordinates
                        .iter()
                        .map(|_| coordinate.clone())
                        .collect(),
                ),
        );
    }

    /// The world over a floor; bodies that a joint connects do not touch each other.
    fn world(self, friction: f64, restitution: f64, time_step: f64) -> JointedWorld {
        let n = self.bodies.len();
        let surface = Surface::new(friction, restitution);
        let adjacent = |i: usize, j: usize| {
            let ends = |joint: &JointSpec| [joint.parent, Some(joint.child)];
            let both = |joint| ends(joint).contains(&Some(i)) && ends(joint).contains(&Some(j));
            self.joints.iter().any(both)
        };
        let mut pairs = Vec::new();
        for i in 0..n {
            for j in i + 1..=n {
                if j == n || !adjacent(i, j) {
                    pairs.push(([i, j], surface));
                }
            }
        }
        let floor = PlaneSpec::new("floor", HalfSpace::new(Vector3::z(), 0.0).unwrap());
        let touch = TouchSpec::new(self.shapes, vec![floor], pairs);
        let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
        let multibody = MultibodySpec::new(self.bodies, self.joints, gravity, true);
        let spec = JointedSpec::new(multibody, self.placed, FlightRule::Exact, time_step, touch);
        JointedWorld::new(&spec).unwrap()
    }
}

fn sphere(radius: f64) -> Shape {
    Shape::Ellipsoid(Ellipsoid::sphere(radius, Vector3::zeros()).unwrap())
}

fn run(
    world: &JointedWorld,
    duration: f64,
    samples: &[f64],
    observe: &mut dyn FnMut(JointEvent<'_>),
) -> JointedEnd {
    let several =
        |_: usize, _: &_| Box::new(MoreauNewton::default()) as Box<dyn carom_contact::ImpactLaw>;
    let laws = Laws::new(SingleLaw::TwoBody(ImpactOptions::default()), &several);
    world.run(&laws, &Limits::duration(duration), samples, None, observe)
}

/// Impulses of gravity and of the supports change the momentum by what they are.
fn momentum_error(world: &JointedWorld, end: &JointedEnd) -> f64 {
    let mb = world.multibody();
    let sum = |states: &[carom_world::joints::variational::State]| -> Vector3<f64> {
        states.iter().map(|s| s.linear_momentum).sum()
    };
    let mass: f64 = (0..mb.n_bodies())
        .filter_map(|b| mb.rigid(b))
        .map(|r| r.mass())
        .sum();
    let given: Vector3<f64> = end.supports.iter().sum();
    let gravity = Vector3::new(0.0, 0.0, -GRAVITY * mass * end.time);
    (sum(&world.start().states) + gravity + given - sum(&end.posture.states)).amax()
}

/// A ball that no joint holds: every impact is that of a ball with the impulse
/// $\min(\mu p_n, \tfrac27m|u_t|)$ along the floor.
#[test]
fn a_ball_without_joints_bounces_with_friction_as_a_ball_does() {
    let mut bodies = Bodies::default();
    let ball = bodies.add(sphere(0.1), 2.0, Some(Vector3::new(0.0, 0.0, 0.6)));
    bodies.placed[ball].velocity = Vector3::new(3.0, 0.0, 0.0);
    bodies.placed[ball].angular_velocity = Vector3::new(0.0, -20.0, 5.0);
    let world = bodies.world(0.3, 0.5, 1e-3);
    let mut impacts: Vec<JointImpact> = Vec::new();
    let end = run(&world, 0.9, &[], &mut |event| {
        if let JointEvent::Impact(impact) = event {
            impacts.push(impact.clone());
        }
    });
    assert_eq!(end.ending, Ending::Completed);
    let fall = (2.0 * 0.5 / GRAVITY).sqrt();
    for (n, impact) in impacts.iter().take(2).enumerate() {
        let rebounds: f64 = (1..=n).map(|k| 2.0 * 0.5_f64.powi(k as i32)).sum();
        assert!(
            (impact.time - fall * (1.0 + rebounds)).abs() <= 1e-10,
            "{}",
            impact.time
        );
        let hit = &impact.touches[0];
        assert!((hit.normal - Vector3::z()).amax() <= 1e-15);
        let speed = GRAVITY * fall * 0.5_f64.powi(n as i32);
        assert!(
            (hit.impulse.z - 1.5 * 2.0 * speed).abs() <= 1e-9,
            "{}",
            hit.impulse.z
        );
    }
    // The slip of the bottom at first: v + ω × (-r z).
    let slip = 3.0 + 20.0 * 0.1;
    let first = &impacts[0].touches[0].impulse;
    let along = (0.3 * first.z).min(2.0 / 7.0 * 2.0 * slip);
    assert!((first.x + along).abs() <= 1e-9, "{} {along}", first.x);
    assert!(momentum_error(&world, &end) <= 1e-12);
    assert!(end.energy_error <= 1e-11, "{}", end.energy_error);
    assert!(end.lowest_gap >= -1e-11, "{}", end.lowest_gap);
}

/// A rolling ball, after it slid: it rolls at $t = 2u_0/7\mu g$ with 5/7 of its speed.
#[test]
fn a_ball_without_joints_slides_and_then_rolls() {
    let mut bodies = Bodies::default();
    let ball = bodies.add(sphere(0.1), 2.0, Some(Vector3::new(0.0, 0.0, 0.1)));
    bodies.placed[ball].velocity = Vector3::new(2.0, 0.0, 0.0);
    let world = bodies.world(0.3, 0.5, 1e-3);
    let mut modes = Vec::new();
    let end = run(&world, 1.0, &[], &mut |event| {
        if let JointEvent::Mode { time, slides, .. } = event {
            modes.push((time, slides));
        }
    });
    let rigid = world.multibody().rigid(0).unwrap().mass();
    let speed = end.posture.states[0].linear_momentum.x / rigid;
    assert!((speed - 10.0 / 7.0).abs() <= 1e-3, "{speed}");
    let rolls = 2.0 * 2.0 / (7.0 * 0.3 * GRAVITY);
    assert_eq!(modes.len(), 2, "{modes:?}");
    assert!((modes[1].0 - rolls).abs() <= 2e-3, "{modes:?} {rolls}");
    assert!(end.energy_error <= 1e-10, "{}", end.energy_error);
    assert!(momentum_error(&world, &end) <= 1e-11);
    assert!((end.posture.states[0].position.z - 0.1).abs() <= 1e-12);
}

/// A double pendulum of rods with balls at their ends swings into the floor.
#[test]
fn a_double_pendulum_obeys_newtons_law_at_the_floor() {
    let mut bodies = Bodies::default();
    let upper = bodies.add(sphere(0.08), 1.0, None);
    let lower = bodies.add(sphere(0.05), 0.7, None);
    let tilt = CoordinateSpec::default().with_position(1.2);
    let anchor = Vector3::new(0.0, 0.0, 0.9);
    bodies.join(
        "revolute",
        (None, anchor),
        (upper, Vector3::new(0.0, 0.0, 0.5)),
        tilt.clone(),
    );
    bodies.join(
        "revolute",
        (Some(upper), Vector3::zeros()),
        (lower, Vector3::new(0.0, 0.0, 0.5)),
        CoordinateSpec::default().with_position(0.4),
    );
    let world = bodies.world(0.0, 0.6, 1e-3);
    let mut impacts = Vec::new();
    let mut after = Vec::new();
    let end = run(&world, 2.0, &[], &mut |event| match event {
        JointEvent::Impact(impact) => impacts.push(impact.clone()),
        JointEvent::Sample(sample) => after.push(sample.time),
        _ => (),
    });
    assert_eq!(end.ending, Ending::Completed);
    assert!(impacts.len() >= 2, "{}", impacts.len());
    for impact in &impacts {
        assert_eq!(impact.touches.len(), 1);
        let hit = &impact.touches[0];
        // Work of one impulse: its mean velocity is (1 - e)/2 of the one before.
        let lost = -0.5 * (1.0 - 0.6) * hit.impulse.z * hit.normal_velocity;
        let taken = impact.energy_minus - impact.energy_plus;
        assert!((lost - taken).abs() <= 1e-11, "{lost} {taken}");
        assert!(hit.impulse.z > 0.0 && hit.normal_velocity < 0.0);
    }
    assert!(end.residual <= 1e-12, "{}", end.residual);
    assert!(end.lowest_gap >= -1e-10, "{}", end.lowest_gap);
    assert!(
        momentum_error(&world, &end) <= 1e-9,
        "{}",
        momentum_error(&world, &end)
    );
}

/// A chain of five balls on spherical joints above the floor.
fn chain(time_step: f64) -> JointedWorld {
    let mut bodies = Bodies::default();
    let mut before = None;
    for k in 0..5 {
        let at = Vector3::new(0.15 * k as f64, 0.0, 0.3 + 0.05 * k as f64);
        let ball = bodies.add(sphere(0.05), 0.3, Some(at));
        if let Some(earlier) = before {
            let half = Vector3::new(0.075, 0.0, 0.025);
            bodies.join(
                "spherical",
                (Some(earlier), half),
                (ball, -half),
                CoordinateSpec::default(),
            );
        }
        before = Some(ball);
    }
    for joint in &mut bodies.joints {
        joint.ball.damping = 2e-3;
    }
    bodies.world(0.5, 0.3, time_step)
}

/// Its energy is that at the start less what impacts, contacts and dampers took, up to the error of the step.
#[test]
fn a_falling_chain_of_balls_loses_energy_until_it_rests() {
    let world = chain(1e-3);
    // Most of them lie between the lines of the grid.
    let samples: Vec<f64> = (0..300).map(|k| 0.0097 * f64::from(k)).collect();
    let mut energies = Vec::new();
    let mb = world.multibody();
    let end = run(&world, 3.0, &samples, &mut |event| {
        if let JointEvent::Sample(sample) = event {
            energies.push(mb.energy(sample.posture));
        }
    });
    assert_eq!(
        end.ending,
        Ending::Completed,
        "{:?} {}",
        end.ending,
        end.time
    );
    for pair in energies.windows(2) {
        assert!(pair[1] <= pair[0] + 1e-6, "{pair:?}");
    }
    assert!(end.residual <= 1e-10, "{}", end.residual);
    assert!(momentum_error(&world, &end) <= 1e-9);
    // The first landing, before paths part: the error of the energy is of order 2.
    let error = |time_step: f64| run(&chain(time_step), 0.4, &[], &mut |_| {}).energy_error;
    let (coarse, fine) = (error(1e-3), error(5e-4));
    assert!((3.0..5.0).contains(&(coarse / fine)), "{coarse} {fine}");
    assert!(end.energy_error <= 2e-3, "{}", end.energy_error);
    assert!(end.lowest_gap >= -1e-8, "{}", end.lowest_gap);
    assert!(
        mb.kinetic(&end.posture) <= 1e-3,
        "{}",
        mb.kinetic(&end.posture)
    );
}

/// A quadruped whose motors hold its posture, with dry friction in its joints (N m), its trunk at 0.55 m.
fn quadruped(friction: f64) -> Bodies {
    let mut bodies = Bodies::default();
    let trunk = Shape::Cuboid(Cuboid::new([0.2, 0.1, 0.04]).unwrap());
    let trunk = bodies.add(trunk, 6.0, Some(Vector3::new(0.0, 0.0, 0.55)));
    let drive = |target: f64| {
        CoordinateSpec::default()
            .with_position(target)
            .with_damping(0.2)
            .with_friction(friction)
            .with_actuator(Actuator::new(Rule::Pd {
                proportional: 120.0,
                derivative: 3.0,
                target: Table::new(vec![0.0], vec![target]).unwrap(),
            }))
    };
    for (x, y) in [(0.2, 0.12), (0.2, -0.12), (-0.2, 0.12), (-0.2, -0.12)] {
        let thigh = bodies.add(sphere(0.03), 0.6, None);
        let shank = bodies.add(sphere(0.02), 0.2, None);
        let half = Vector3::new(0.0, 0.0, 0.1);
        let hip = Vector3::new(x, y, 0.0);
        bodies.join("revolute", (Some(trunk), hip), (thigh, half), drive(0.5));
        let knee = (Some(thigh), -half);
        bodies.join("revolute", knee, (shank, 2.0 * half), drive(-1.0));
    }
    bodies
}

/// Motors hold a quadruped that stands: after 5 s nothing moves, and in the last second the floor gave its weight, but for the
/// momentum that was left at its begin.
#[test]
fn a_standing_quadruped_is_at_rest_and_the_floor_carries_its_weight() {
    for friction in [0.0, 0.1] {
        let world = quadruped(friction).world(0.6, 0.0, 1e-3);
        let ends = [4.0, 5.0].map(|duration| run(&world, duration, &[], &mut |_| {}));
        let mb = world.multibody();
        let [before, end] = &ends;
        assert_eq!(end.ending, Ending::Completed);
        let mut mass = 0.0;
        for (body, state) in end.posture.states.iter().enumerate() {
            let rigid = mb.rigid(body).unwrap();
            mass += rigid.mass();
            let speed = state.linear_momentum.norm() / rigid.mass();
            let spin = rigid.angular_velocity(&state.angular_momentum).norm();
            assert!(speed <= 1e-8 && spin <= 1e-8, "{body}: {speed} {spin}");
        }
        let states = |end: &JointedEnd| -> Vector3<f64> {
            end.posture.states.iter().map(|s| s.linear_momentum).sum()
        };
        let total = |end: &JointedEnd| end.supports.iter().sum::<Vector3<f64>>() - states(end);
        let given = total(end) - total(before) - Vector3::new(0.0, 0.0, mass * GRAVITY);
        assert!(given.amax() <= 1e-9, "{friction} {given}");
    }
}

/// Articulations that stand still repeat their steps: nothing moves by a bit. They move on as others do once a force changes;
/// forces that change by next to nothing at every line keep the others from resting. Feet that begin to slide to both sides have
/// several answers, and rounding chooses among them: the motions differ by micrometres.
#[test]
fn a_quadruped_at_rest_repeats_its_step_until_a_force_changes() {
    let world = quadruped(0.1).world(0.6, 0.0, 1e-3);
    let [early, late] = [3.0, 4.0].map(|duration| run(&world, duration, &[], &mut |_| {}));
    assert_eq!(early.posture, late.posture);
    let pushed = [0.0, 1e-15].map(|noise| {
        let several = |_: usize, _: &_| {
            Box::new(MoreauNewton::default()) as Box<dyn carom_contact::ImpactLaw>
        };
        let laws = Laws::new(SingleLaw::TwoBody(ImpactOptions::default()), &several);
        let mut sign = 1.0;
        let mut control = |time: f64, q: &[f64], _: &[f64]| {
            sign = -sign;
            let push = if time > 3.0 { 2.0 } else { 0.0 };
            vec![push + sign * noise; q.len()]
        };
        let limits = Limits::duration(3.05);
        world.run(&laws, &limits, &[], Some(&mut control), &mut |_| {})
    });
    let [rested, solved] = &pushed;
    let raised = rested.posture.states[0].position.z - early.posture.states[0].position.z;
    assert!(raised.abs() >= 1e-4, "{raised}");
    for (a, b) in rested.posture.states.iter().zip(&solved.posture.states) {
        assert!((a.position - b.position).amax() <= 1e-5, "{a:?} {b:?}");
    }
}

/// A quadruped is dropped, lands on its four feet and stands.
#[test]
fn a_dropped_quadruped_lands_and_stands() {
    let world = quadruped(0.0).world(0.6, 0.2, 1e-3);
    let end = run(&world, 3.0, &[], &mut |_| {});
    assert_eq!(
        end.ending,
        Ending::Completed,
        "{:?} {}",
        end.ending,
        end.time
    );
    let mb = world.multibody();
    assert!(
        mb.kinetic(&end.posture) <= 1e-9,
        "{}",
        mb.kinetic(&end.posture)
    );
    // Every foot stands.
    for leg in 0..4 {
        let foot = &end.posture.states[2 + 2 * leg];
        assert!(
            (foot.position.z - 0.02).abs() <= 1e-8,
            "{}",
            foot.position.z
        );
    }
    assert!(end.residual <= 1e-10 && momentum_error(&world, &end) <= 1e-9);
    // Errors of order 2 in the step, a ten-thousandth of the 40 J that the bodies have at the start.
    assert!(end.energy_error <= 5e-3, "{}", end.energy_error);
}

/// Legs that carry one trunk stick and slip in turn, feet and joints hold more than the robot has freedoms: friction becomes
/// implicit, the robot comes to rest and stays there, and every joule is accounted for.
#[test]
fn dry_friction_in_the_joints_of_a_standing_quadruped_lets_it_rest() {
    for friction in [0.1, 1.5] {
        let world = quadruped(friction).world(0.6, 0.0, 1e-3);
        let mut heights = Vec::new();
        let end = run(&world, 2.0, &[1.5, 2.0], &mut |event| {
            if let JointEvent::Sample(sample) = event {
                heights.push(sample.posture.states[0].position);
            }
        });
        assert_eq!(end.ending, Ending::Completed);
        let mb = world.multibody();
        assert!(
            mb.kinetic(&end.posture) <= 1e-16,
            "{}",
            mb.kinetic(&end.posture)
        );
        let creep = (heights[1] - heights[0]).norm();
        assert!(creep <= 1e-8, "{friction} {creep}");
        assert!(end.works.friction > 0.0 && end.works.contact >= 0.0);
        assert!(end.residual <= 1e-10 && momentum_error(&world, &end) <= 1e-9);
        assert!(end.lowest_gap >= -1e-9, "{}", end.lowest_gap);
        assert!(end.n_steps <= 4000, "{}", end.n_steps);
    }
}

/// The far edge of a box that turns about its near one closes while the near one lasts: an impact of the same pair.
#[test]
fn the_far_edge_of_a_tipping_box_is_stopped_where_it_lands() {
    let mut bodies = Bodies::default();
    let half: [f64; 3] = [0.25, 0.12, 0.06];
    let tilt = 0.3_f64;
    let rotation = So3::exp(&Vector3::new(0.0, tilt, 0.0));
    let center = Vector3::new(0.0, 0.0, half[0] * tilt.sin() + half[2] * tilt.cos());
    let body = bodies.add(Shape::Cuboid(Cuboid::new(half).unwrap()), 6.0, Some(center));
    bodies.placed[body].configuration = Some(Se3::new(rotation, center));
    let world = bodies.world(0.7, 0.0, 1e-3);
    let mut landings = Vec::new();
    let end = run(&world, 1.0, &[], &mut |event| {
        if let JointEvent::Impact(impact) = event {
            landings.push(impact.energy_minus - impact.energy_plus);
        }
    });
    assert_eq!(end.ending, Ending::Completed);
    assert!(end.lowest_gap >= -1e-9, "{}", end.lowest_gap);
    let energy = 6.0 * GRAVITY * (center.z - half[2]);
    let taken = landings.iter().sum::<f64>();
    assert!(
        taken > 0.2 * energy && taken <= energy,
        "{taken} of {energy}"
    );
    assert!(end.works.contact >= -1e-6 * energy, "{}", end.works.contact);
    let height = end.posture.states[0].position.z;
    assert!((height - half[2]).abs() <= 1e-8, "{height}");
}

/// A rope of sixteen capsules on spherical joints lies down on a floor with both ends of each at once: 32 points share its load in
/// many ways, all press, and it comes to rest.
#[test]
fn a_straight_rope_falls_on_the_floor_and_rests() {
    const LINKS: usize = 16;
    let (length, radius, mass) = (0.04, 0.006, 0.02);
    let half = 0.5 * length - radius;
    let mut rope = Bodies::default();
    for k in 0..LINKS {
        let segment = Segment::new(half, &Vector3::x_axis(), Vector3::zeros()).unwrap();
        let capsule = Rounded::new(Shape::Segment(segment), radius).unwrap();
        let place = (k == 0).then(|| Vector3::new(0.0, 0.0, 0.05));
        let link = rope.add(Shape::Rounded(Box::new(capsule)), mass, place);
        let end = Vector3::x() * (0.5 * length);
        if k > 0 {
            rope.join(
                "spherical",
                (Some(link - 1), end),
                (link, -end),
                CoordinateSpec::default(),
            );
            // A link is turned about the rope against the one before it.
            rope.joints[link - 1].ball.position = Some(So3::exp(&(Vector3::x() * 0.04)));
        }
    }
    let world = rope.world(0.4, 0.0, 1e-3);
    let end = run(&world, 0.13, &[], &mut |_| {});
    assert_eq!(end.ending, Ending::Completed);
    let mb = world.multibody();
    for state in &end.posture.states {
        let height = state.position.z - radius;
        assert!(height.abs() <= 1e-9, "{height}");
        assert!(state.linear_momentum.norm() <= 1e-9 * mass);
    }
    assert!(mb.kinetic(&end.posture) <= 1e-16);
    let energy = LINKS as f64 * mass * GRAVITY * (0.05 - radius);
    let lost = (end.impact_loss + end.works.contact - energy).abs();
    assert!(lost <= 1e-9 * energy, "{lost} of {energy}");
    assert!(momentum_error(&world, &end) <= 1e-9);
    assert!(end.n_steps <= 140, "{}", end.n_steps);
}

/// Bodies that begin to move slowly do not rest, however short the steps are: beside a ball that lies on the floor, another one
/// is turned by a motor. Its displacement in one step is rounding for a hundred steps, but its speed grows in each.
#[test]
fn a_slow_start_in_short_steps_is_no_rest() {
    let ball = || Shape::Ellipsoid(Ellipsoid::sphere(0.1, Vector3::zeros()).unwrap());
    let mut bodies = Bodies::default();
    let at = Vector3::z() * 0.1;
    let foot = bodies.add(ball(), 1.0, None);
    bodies.join(
        "prismatic",
        (None, at),
        (foot, Vector3::zeros()),
        CoordinateSpec::default().with_position(0.0),
    );
    let wheel = bodies.add(ball(), 1.0, None);
    let torque = 4e-9;
    bodies.join(
        "revolute",
        (None, Vector3::new(0.0, 1.0, 1.0)),
        (wheel, Vector3::zeros()),
        CoordinateSpec::default()
            .with_position(0.0)
            .with_actuator(Actuator::new(Rule::Constant(torque))),
    );
    let world = bodies.world(0.0, 0.0, 2e-7);
    let duration = 1e-4;
    let end = run(&world, duration, &[], &mut |_| {});
    assert_eq!(end.ending, Ending::Completed);
    let expected = torque / (0.4 * 0.1 * 0.1) * duration;
    assert!(
        (end.rates[1] / expected - 1.0).abs() <= 1e-9,
        "{} {expected}",
        end.rates[1]
    );
}

/// R1, R2 and R5 for jointed bodies: a session that is advanced in any parts, looked at and copied, is one run.
#[test]
fn a_session_of_a_falling_chain_is_one_run() {
    let world = chain(1e-3);
    let laws = carom_world::SharedLaws::new(ImpactOptions::default(), |_, _| {
        Box::new(MoreauNewton::default())
    });
    let mut events = Vec::new();
    let cuts = [
        0.0,
        0.1003,
        0.2,
        0.2 + 1e-15,
        0.20049,
        0.2311,
        0.5,
        0.7654321,
    ];
    let mut rows = Vec::new();
    let whole = run(&world, 0.9, &cuts, &mut |event| match event {
        JointEvent::Sample(sample) => rows.push(sample.posture.clone()),
        JointEvent::Impact(impact) => events.push(OwnedEvent::Impact(impact.clone())),
        JointEvent::Established { time, contact } => {
            events.push(OwnedEvent::Established { time, contact });
        }
        JointEvent::Mode {
            time,
            contact,
            slides,
        } => events.push(OwnedEvent::Mode {
            time,
            contact,
            slides,
        }),
        JointEvent::Released { time, contact } => {
            events.push(OwnedEvent::Released { time, contact });
        }
        _ => (),
    });
    assert!(events.len() > 10);
    let mut session = world.session(laws, Limits::duration(0.9));
    let mut seen = Vec::new();
    for (time, row) in cuts.into_iter().zip(rows) {
        while let Some(event) = session.next_event(time).unwrap() {
            seen.push(event.clone());
        }
        let state = session.state().unwrap();
        assert_eq!((state.time, &state.posture), (time, &row));
        let to = run(&world, time, &[], &mut |_| ());
        assert_eq!(to.posture, row, "{time}");
        assert_eq!(session.so_far().unwrap(), to, "{time}");
        let mut copy = session.clone();
        copy.advance_to(time + 0.05).unwrap();
        copy.state().unwrap();
    }
    seen.extend(session.advance_to(0.9).unwrap().to_vec());
    assert_eq!(session.finish().unwrap(), whole);
    seen.extend(session.events().to_vec());
    assert_eq!(seen, events);
}

/// A run without an end is over when nothing moves, in steps, too: a box on which a lid lies by a hinge falls flat.
#[test]
fn a_run_in_steps_ends_at_rest() {
    let mut bodies = Bodies::default();
    let half = |x: f64, z: f64| Shape::Cuboid(Cuboid::new([x, 0.1, z]).unwrap());
    let below = bodies.add(half(0.2, 0.1), 2.0, Some(Vector3::new(0.0, 0.0, 0.13)));
    let lid = bodies.add(half(0.2, 0.02), 0.5, None);
    let hinge = Vector3::new(-0.2, 0.0, 0.1);
    let spec = CoordinateSpec::default()
        .with_position(-0.4)
        .with_limits(-2.0, 0.0);
    let edge = Vector3::new(-0.2, 0.0, -0.02);
    bodies.join("revolute", (Some(below), hinge), (lid, edge), spec);
    let world = bodies
        .world(0.5, 0.3, 1e-3)
        .with_steps(Scheme::TimeStepping, Stepping::default());
    assert_eq!(world.scheme(), Scheme::TimeStepping);
    let end = run(&world, f64::INFINITY, &[], &mut |_| ());
    assert_eq!(end.ending, Ending::AtRest);
    assert!(end.time < 2.0, "{}", end.time);
    assert!((end.posture.states[below].position.z - 0.1).abs() < 1e-9);
    assert!(end.posture.q[0].abs() < 1e-9);
    assert!(momentum_error(&world, &end) < 1e-9);
}
