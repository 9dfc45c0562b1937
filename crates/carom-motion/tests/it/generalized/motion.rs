//! The collision integrator in generalized coordinates against closed forms.

use carom_contact::ImpactLaw;
use carom_impact::{EnergeticRestitution, Plastic, Propagative};
use carom_mechanism::MechanicalSystem;
use carom_mechanism::planar::{
    Actuator, Inertia, Line, LineContact, Link, PlanarBuilder, Reference, Spring,
};
use carom_mechanism::systems::{BallsOnLine, Block, Pendulum, PendulumCradle};
use carom_motion::hybrid::Ending;
use carom_variational::TimeGrid;

use carom_motion::generalized::{
    Balance, CollisionIntegrator, ContactMode, Event, IntegratorError, LogEntry, State, Trajectory,
};

const GRAVITY: f64 = 9.81;
const DOWN: [f64; 2] = [0.0, -GRAVITY];

#[track_caller]
fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} and {b}: {:e}", a - b);
}

fn record<S: MechanicalSystem>(
    system: &S,
    law: &dyn ImpactLaw,
    q: &[f64],
    v: &[f64],
    step: f64,
    duration: f64,
) -> Trajectory {
    let integrator = CollisionIntegrator::new(system, law).unwrap();
    let start = integrator.state(0.0, q, v).unwrap();
    let grid = TimeGrid::duration(step, duration).unwrap();
    let run = Trajectory::record(&integrator, &start, &grid, None).unwrap();
    assert_eq!(run.end.ending, Ending::Completed, "{:?}", run.log.last());
    run
}

fn energy<S: MechanicalSystem>(system: &S, state: &State) -> f64 {
    let law = Propagative::default();
    let integrator = CollisionIntegrator::new(system, &law).unwrap();
    let (kinetic, potential) = integrator.energies(state).unwrap();
    kinetic + potential
}

fn elastic() -> Propagative {
    Propagative::default()
}

fn restituting(value: f64) -> Propagative {
    Propagative::default().with_restitution(EnergeticRestitution::new(value).unwrap())
}

/// The midpoint rule is exact in uniform gravity, so times are those of falling.
#[test]
fn an_elastic_ball_bounces_at_the_times_of_free_fall() {
    let ball = Block::ball(1.0, DOWN).unwrap();
    let run = record(&ball, &elastic(), &[0.0, 1.0, 0.0], &[0.0; 3], 0.01, 2.0);
    let times: Vec<f64> = run.impacts().map(|impact| impact.time).collect();
    let fall = (2.0 / GRAVITY).sqrt();
    assert_eq!(times.len(), 2);
    close(times[0], fall, 1e-13);
    close(times[1], 3.0 * fall, 1e-13);
    let end = &run.end.state;
    close(end.configuration[1], 0.8155753445601559, 1e-12);
    close(end.momentum.0[1], -1.9022123277199467, 1e-12);
    close(energy(&ball, end), GRAVITY, 1e-13);
}

/// Flights shrink by the restitution; the third short one in a row ends in rest.
#[test]
fn a_ball_with_restitution_comes_to_rest_at_the_third_short_flight() {
    let ball = Block::ball(1.0, DOWN).unwrap();
    let run = record(
        &ball,
        &restituting(0.6),
        &[0.0, 1.0, 0.0],
        &[0.0; 3],
        0.01,
        2.5,
    );
    let impacts: Vec<_> = run.impacts().collect();
    assert_eq!(impacts.len(), 12);
    let fall = (2.0 / GRAVITY).sqrt();
    for (k, impact) in impacts.iter().enumerate() {
        // t_k = fall (1 + 2 sum of 0.6^j, j = 1..k)
        let sum: f64 = (1..=k as i32).map(|j| 0.6f64.powi(j)).sum();
        close(impact.time, fall * (1.0 + 2.0 * sum), 1e-12);
        assert_eq!(impact.accumulated, k == 11);
    }
    close(impacts[11].time, 1.801180220513, 1e-11);
    assert_eq!(impacts[11].established, [0]);
    let end = &run.end.state;
    close(end.configuration[1], 0.0, 1e-12);
    close(end.momentum.0[1], 0.0, 1e-12);
    // It rests with its weight on the floor.
    let reaction = run.reactions.last().unwrap()[0];
    close(reaction.normal_impulse, GRAVITY * 0.01, 1e-12);
}

/// Flights of a block are exact too: events by bisection of closed-form gaps.
#[test]
fn a_tilted_block_rocks_on_its_lower_corners() {
    let block = Block::new(0.5, 0.5, 1.0, DOWN)
        .unwrap()
        .with_lower_corners();
    let run = record(&block, &elastic(), &[0.0, 1.2, 0.1], &[0.0; 3], 0.01, 2.0);
    let expected = [
        (0.364752079246287, 0),
        (0.385420909074086, 1),
        (1.105872864442463, 0),
        (1.356033886404616, 1),
        (1.436372447021781, 0),
    ];
    let impacts: Vec<_> = run.impacts().collect();
    assert_eq!(impacts.len(), expected.len());
    for (impact, (time, contact)) in impacts.iter().zip(expected) {
        close(impact.time, time, 1e-12);
        assert_eq!(impact.contacts, [contact]);
        let audit = &impact.outcome.audit;
        assert!(audit.energy_change_j().abs() <= 1e-13 * audit.energy_minus_j);
    }
    let q = &run.end.state.configuration;
    close(q[1], 0.908201717757255, 1e-11);
    close(q[2], 5.67697387747319, 1e-11);
    close(energy(&block, &run.end.state), GRAVITY * 1.2, 1e-11);
}

/// A rod has c = -1/2: one outcome, after three elementary impacts, without spin.
#[test]
fn a_flat_rod_lands_with_both_ends_at_once() {
    let rod = Block::new(0.5, 0.0, 1.0, DOWN).unwrap();
    let run = record(
        &rod,
        &elastic(),
        &[0.0, 1.0, 0.0],
        &[0.3, 0.0, 0.0],
        0.01,
        1.0,
    );
    let impacts: Vec<_> = run.impacts().collect();
    assert_eq!(impacts.len(), 1);
    close(impacts[0].time, 0.451523640985731, 1e-12);
    assert_eq!(impacts[0].contacts, [0, 1]);
    assert_eq!(impacts[0].sequence().unwrap().len(), 3);
    assert!(impacts[0].indeterminacy.unwrap() <= 1e-14);
    let (q, p) = (&run.end.state.configuration, &run.end.state.momentum.0);
    close(q[0], 0.3, 1e-14);
    close(q[1], 0.9538938361400395, 1e-12);
    close(q[2], 0.0, 1e-13);
    close(p[1], -0.9511061638599707, 1e-12);
    close(p[2], 0.0, 1e-13);
}

/// Balls that touch before they are hit take part in the impact.
#[test]
fn a_cluster_on_a_line_passes_the_momentum_on() {
    let balls = BallsOnLine::new(&[1.0; 3], 0.5).unwrap();
    let run = record(
        &balls,
        &elastic(),
        &[-2.0, 0.0, 1.0],
        &[1.0, 0.0, 0.0],
        0.1,
        4.0,
    );
    let impacts: Vec<_> = run.impacts().collect();
    assert_eq!(impacts.len(), 1);
    close(impacts[0].time, 1.0, 1e-14);
    assert_eq!(impacts[0].contacts, [0, 1]);
    assert_eq!(impacts[0].sequence().unwrap(), [0, 1]);
    for (q, x) in run.end.state.configuration.iter().zip([-1.0, 0.0, 4.0]) {
        close(*q, x, 1e-13);
    }
}

/// The first hit is a quarter of a period after the start, K(sin(1/4)) sqrt(L/g); the times of the
/// integrator are of order 2 (their errors were found by an independent implementation).
#[test]
fn hits_of_a_pendulum_on_a_wall_are_of_order_two() {
    let pendulum = Pendulum::new(1.0, 1.0, GRAVITY, 0.0).unwrap();
    let third = 5.0 * 0.5094669787895422;
    let errors = [0.02, 0.01, 0.005].map(|h| {
        let run = record(&pendulum, &elastic(), &[0.5], &[0.0], h, 2.6);
        let impact = run.impacts().nth(2).unwrap();
        (impact.time - third).abs()
    });
    for (error, expected) in errors
        .iter()
        .zip([7.568408918379e-4, 1.915343794e-4, 4.792601352e-5])
    {
        close(*error, expected, 1e-11);
    }
    close(errors[0] / errors[1], 4.0, 0.2);
    close(errors[1] / errors[2], 4.0, 0.2);
}

#[test]
fn a_cradle_of_pendula_swings_out_on_the_other_side() {
    let cradle = PendulumCradle::new(3, 1.0, 0.1, 1.0, GRAVITY).unwrap();
    let run = record(&cradle, &elastic(), &[-0.5, 0.0, 0.0], &[0.0; 3], 0.01, 2.5);
    let impacts: Vec<_> = run.impacts().collect();
    assert_eq!(impacts.len(), 2);
    close(impacts[0].time, 0.5095053490994154, 1e-10);
    close(impacts[1].time, 1.5285159655992124, 1e-10);
    assert_eq!(impacts[0].sequence().unwrap(), [0, 1]);
    assert_eq!(impacts[1].sequence().unwrap(), [1, 0]);
    close(run.end.state.configuration[0], -0.07337869283094975, 1e-9);
}

/// A block on an incline slides to rest after v²/(2g(μ cos β − sin β)) and stays.
#[test]
fn a_block_slides_to_rest_on_an_incline_and_sticks() {
    let (slope, friction, speed) = (0.2f64, 0.5, 1.5);
    let gravity = [GRAVITY * slope.sin(), -GRAVITY * slope.cos()];
    let block = Block::new(0.5, 0.1, 2.0, gravity)
        .unwrap()
        .with_friction(friction)
        .unwrap();
    let braking = GRAVITY * (friction * slope.cos() - slope.sin());
    let (time, way) = (speed / braking, 0.5 * speed * speed / braking);
    let run = record(
        &block,
        &elastic(),
        &[0.0, 0.1, 0.0],
        &[speed, 0.0, 0.0],
        0.001,
        1.0,
    );
    assert!(time < 0.9 && run.impacts().count() == 0);
    let at = |t: f64| &run.states[(t * 1000.0).round() as usize];
    // While it slides the midpoint rule is exact.
    let t = 0.3;
    close(
        at(t).configuration[0],
        speed * t - 0.5 * braking * t * t,
        1e-12,
    );
    close(at(t).momentum.0[0], 2.0 * (speed - braking * t), 1e-12);
    // It stops within a step: to the second order.
    close(at(0.9).configuration[0], way, 1e-5);
    close(at(0.9).configuration[0], at(1.0).configuration[0], 1e-14);
    close(at(0.9).momentum.0[0], 0.0, 1e-13);
    for i in 1..3 {
        close(at(1.0).configuration[i], [0.0, 0.1, 0.0][i], 1e-12);
    }
    let reactions = run.reactions.last().unwrap();
    let normal: f64 = reactions.iter().map(|r| r.normal_impulse).sum();
    let tangential: f64 = reactions.iter().map(|r| r.tangential_impulse).sum();
    close(normal, 2.0 * GRAVITY * slope.cos() * 0.001, 1e-12);
    close(tangential, -2.0 * GRAVITY * slope.sin() * 0.001, 1e-12);
    assert!(reactions.iter().any(|r| r.mode == ContactMode::Stick));
}

/// Too steep to stick: it accelerates by g (sin β − μ cos β).
#[test]
fn a_block_on_a_steep_incline_starts_to_slide() {
    let (slope, friction) = (0.6f64, 0.5);
    let gravity = [GRAVITY * slope.sin(), -GRAVITY * slope.cos()];
    let block = Block::new(0.5, 0.1, 2.0, gravity)
        .unwrap()
        .with_friction(friction)
        .unwrap();
    let run = record(&block, &elastic(), &[0.0, 0.1, 0.0], &[0.0; 3], 0.01, 1.0);
    let acceleration = GRAVITY * (slope.sin() - friction * slope.cos());
    close(run.end.state.configuration[0], 0.5 * acceleration, 1e-11);
}

/// A plastic landing lasts: the rod keeps lying, and its second end lands later.
#[test]
fn plastic_impacts_establish_their_contacts() {
    let rod = Block::new(0.5, 0.0, 1.0, DOWN).unwrap();
    let run = record(
        &rod,
        &Plastic::default(),
        &[0.0, 1.0, 0.3],
        &[0.0; 3],
        0.01,
        3.0,
    );
    let established: Vec<_> = run.impacts().flat_map(|i| i.established.clone()).collect();
    assert_eq!(established[0], 0);
    let end = &run.end.state;
    close(end.configuration[1], 0.0, 1e-11);
    close(end.configuration[2], 0.0, 1e-11);
    let weight: f64 = run
        .reactions
        .last()
        .unwrap()
        .iter()
        .map(|r| r.normal_impulse)
        .sum();
    close(weight, GRAVITY * 0.01, 1e-11);
}

/// A corner that dips into the floor and out again within one step is caught.
#[test]
fn a_dip_within_a_step_is_an_impact() {
    // Without gravity a spinning rod, centered at height y, dips its end for a moment only.
    let rod = Block::new(0.5, 0.0, 1.0, [0.0, 0.0]).unwrap();
    let (height, spin) = (0.4995, 1.0);
    let start = -std::f64::consts::FRAC_PI_2 - 0.06;
    let run = record(
        &rod,
        &elastic(),
        &[0.0, height, start],
        &[0.0, 0.0, spin],
        0.2,
        0.2,
    );
    let impact = run.impacts().next().unwrap();
    let half = (height / 0.5f64).acos();
    close(impact.time, 0.06 - half, 1e-12);
    assert_eq!(impact.contacts, [1]);
}

/// Without gravity and contacts momenta are constant to the last bits.
#[test]
fn momentum_maps_are_exact_in_flight() {
    let block = Block::new(0.5, 0.3, 2.0, [0.0, 0.0]).unwrap();
    let run = record(
        &block,
        &elastic(),
        &[0.1, 50.0, 0.2],
        &[3.0, -1.0, 2.0],
        0.01,
        10.0,
    );
    let (first, last) = (&run.states[0], &run.end.state);
    assert_eq!(first.momentum, last.momentum);
    let angular = |s: &State| {
        let (q, p) = (&s.configuration, &s.momentum.0);
        q[0] * p[1] - q[1] * p[0] + p[2]
    };
    close(angular(first), angular(last), 1e-12 * angular(first).abs());
}

#[test]
fn bad_input_is_refused() {
    let block = Block::new(0.5, 0.5, 1.0, DOWN).unwrap();
    let law = elastic();
    let integrator = CollisionIntegrator::new(&block, &law).unwrap();
    let grid = TimeGrid::steps(0.01, 1).unwrap();
    let error = integrator.state(0.0, &[0.0, 1.0], &[0.0; 3]).unwrap_err();
    assert_eq!(error.kind(), "dimension-mismatch");
    let error = integrator
        .state(0.0, &[0.0, f64::NAN, 0.0], &[0.0; 3])
        .unwrap_err();
    assert_eq!(error.kind(), "non-finite");
    let low = integrator.state(0.0, &[0.0, 0.4, 0.0], &[0.0; 3]).unwrap();
    let error = Trajectory::record(&integrator, &low, &grid, None).unwrap_err();
    assert!(
        matches!(error, IntegratorError::InitialPenetration { contact: 0, gap } if (gap + 0.1).abs() <= 1e-15),
        "{error}"
    );
}

/// A point in a slot that is narrower than what counts as simultaneous: opposite normals jam, and
/// the trajectory up to then is kept.
#[test]
fn a_jam_stops_the_run_and_keeps_the_trajectory() {
    let slot = Slot::new(4e-9);
    let law = elastic();
    let integrator = CollisionIntegrator::new(&slot, &law).unwrap();
    let start = integrator.state(0.0, &[0.0], &[4e-9 / 1.005]).unwrap();
    let grid = TimeGrid::duration(0.01, 2.0).unwrap();
    let run = Trajectory::record(&integrator, &start, &grid, None).unwrap();
    let Ending::Stopped(error) = &run.end.ending else {
        panic!("{:?}", run.end.ending);
    };
    assert_eq!(error.kind(), "no-elastic-outcome");
    close(error.time().unwrap(), 1.005, 1e-12);
    close(run.end.state.time, 1.005, 1e-12);
    assert_eq!((run.states.len(), run.end.n_steps), (101, 100));
}

/// A point between two walls.
#[derive(Debug)]
struct Slot {
    half_width: f64,
    contacts: [carom_mechanism::PointContact; 2],
}

impl Slot {
    fn new(half_width: f64) -> Self {
        Self {
            half_width,
            contacts: ["left", "right"].map(carom_mechanism::PointContact::elastic),
        }
    }
}

impl MechanicalSystem for Slot {
    fn dimension(&self) -> usize {
        1
    }
    fn mass_matrix(&self, _q: &[f64], out: &mut nalgebra::DMatrix<f64>) {
        out[(0, 0)] = 1.0;
    }
    fn dynamics(
        &self,
        at: &carom_mechanism::Motion<'_>,
        _wanted: carom_mechanism::Derivatives,
        out: &mut carom_mechanism::Dynamics,
    ) {
        self.mass_matrix(at.configuration, &mut out.mass_matrix);
    }
    fn contacts(&self) -> &[carom_mechanism::PointContact] {
        &self.contacts
    }
    fn gap(&self, contact: usize, q: &[f64]) -> f64 {
        self.half_width + if contact == 0 { q[0] } else { -q[0] }
    }
    fn gap_gradient(&self, contact: usize, _q: &[f64], out: &mut [f64]) {
        out[0] = if contact == 0 { 1.0 } else { -1.0 };
    }
}

/// A point whose second coordinate has the mass 1 - x.
#[derive(Debug)]
struct Shrinking;

impl MechanicalSystem for Shrinking {
    fn dimension(&self) -> usize {
        2
    }
    fn mass_matrix(&self, q: &[f64], out: &mut nalgebra::DMatrix<f64>) {
        out[(0, 0)] = 1.0;
        out[(1, 1)] = 1.0 - q[0];
    }
    fn dynamics(
        &self,
        at: &carom_mechanism::Motion<'_>,
        _wanted: carom_mechanism::Derivatives,
        out: &mut carom_mechanism::Dynamics,
    ) {
        self.mass_matrix(at.configuration, &mut out.mass_matrix);
        out.momentum_derivative[(1, 0)] = -at.velocity[1];
    }
    fn gap(&self, _contact: usize, _q: &[f64]) -> f64 {
        f64::NAN
    }
    fn gap_gradient(&self, _contact: usize, _q: &[f64], out: &mut [f64]) {
        out.fill(f64::NAN);
    }
}

/// x = t, so the mass is gone at t = 1.
#[test]
fn a_mass_that_vanishes_stops_the_run_with_its_time() {
    let law = elastic();
    let integrator = CollisionIntegrator::new(&Shrinking, &law).unwrap();
    let start = integrator.state(0.0, &[0.0; 2], &[1.0, 0.0]).unwrap();
    let grid = TimeGrid::duration(0.03, 2.0).unwrap();
    let run = Trajectory::record(&integrator, &start, &grid, None).unwrap();
    let Ending::Stopped(error) = &run.end.ending else {
        panic!("{:?}", run.end.ending);
    };
    assert_eq!(error.kind(), "mass-not-positive-definite");
    // The time is as near as a step, halved ten times.
    close(error.time().unwrap(), 1.0, 0.03 / 1024.0);
    assert_eq!(run.states.len(), 34);
    let beyond = integrator.state(0.0, &[2.0, 0.0], &[0.0; 2]).unwrap();
    let error = integrator.velocity(&beyond).unwrap_err();
    assert_eq!(error.kind(), "mass-not-positive-definite");
}

/// Log entries of lasting contacts come in their order.
#[test]
fn a_resting_block_is_established_at_once() {
    let block = Block::new(0.5, 0.5, 1.0, DOWN).unwrap();
    let run = record(&block, &elastic(), &[0.0, 0.5, 0.0], &[0.0; 3], 0.01, 0.1);
    let contacts: Vec<_> = run
        .log
        .iter()
        .map(|entry| match entry {
            LogEntry::Established { time, contact } => (*time, *contact),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(contacts, [(0.0, 0), (0.0, 1)]);
    close(run.end.state.configuration[1], 0.5, 1e-13);
    close(run.end.state.configuration[2], 0.0, 1e-13);
}

/// Flights of the block are exact, so over ten thousand impacts its energy error is rounding.
#[test]
fn a_block_keeps_its_energy_over_ten_thousand_impacts() {
    let block = Block::new(0.5, 0.5, 1.0, DOWN).unwrap();
    let law = elastic();
    let integrator = CollisionIntegrator::new(&block, &law).unwrap();
    let start = integrator.state(0.0, &[0.0, 1.2, 0.1], &[0.0; 3]).unwrap();
    let grid = TimeGrid::duration(0.01, 10_000.0).unwrap();
    let mut worst = 0.0;
    let end = integrator
        .run(&start, &grid, Some(10_000), &mut |event| {
            if let Event::Impact(impact) = event {
                let audit = &impact.outcome.audit;
                let change = audit.energy_change_j().abs() / audit.energy_minus_j;
                worst = f64::max(worst, change);
            }
        })
        .unwrap();
    assert_eq!((end.ending, end.n_impacts), (Ending::MaxImpacts, 10_000));
    assert!(worst <= 1e-13, "{worst:e}");
    let initial = GRAVITY * 1.2;
    let error = (energy(&block, &end.state) - initial).abs() / initial;
    // Steps and impacts each round a few times: half a million roundings that do not add up.
    assert!(error <= 1e-10, "{error:e}");
}

/// A bead on a spring in polar coordinates, between the walls |x| = 0.5: the mass matrix and the
/// gaps are curved, the motion in Cartesian coordinates is harmonic.
#[derive(Debug)]
struct Bead {
    contacts: [carom_mechanism::PointContact; 1],
}

const STIFFNESS: f64 = 4.0;

impl MechanicalSystem for Bead {
    fn dimension(&self) -> usize {
        2
    }
    fn mass_matrix(&self, q: &[f64], out: &mut nalgebra::DMatrix<f64>) {
        out[(0, 0)] = 1.0;
        out[(1, 1)] = q[0] * q[0];
    }
    fn dynamics(
        &self,
        at: &carom_mechanism::Motion<'_>,
        _wanted: carom_mechanism::Derivatives,
        out: &mut carom_mechanism::Dynamics,
    ) {
        let (r, omega) = (at.configuration[0], at.velocity[1]);
        self.mass_matrix(at.configuration, &mut out.mass_matrix);
        out.momentum_derivative[(1, 0)] = 2.0 * r * omega;
        out.kinetic_hessian[(0, 0)] = omega * omega;
        out.potential = 0.5 * STIFFNESS * r * r;
        out.potential_gradient[0] = STIFFNESS * r;
        out.potential_hessian[(0, 0)] = STIFFNESS;
    }
    fn contacts(&self) -> &[carom_mechanism::PointContact] {
        &self.contacts
    }
    fn gap(&self, _contact: usize, q: &[f64]) -> f64 {
        0.5 - q[0] * q[1].cos()
    }
    fn gap_gradient(&self, _contact: usize, q: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&[-q[1].cos(), q[0] * q[1].sin()]);
    }
}

/// From (x, y) with the velocity (u, v) and frequency 2: x = x cos 2t + u/2 sin 2t.
#[test]
fn curved_coordinates_are_of_order_two() {
    let bead = Bead {
        contacts: [carom_mechanism::PointContact::elastic("wall")],
    };
    let (r, angle, omega) = (1.0f64, 2.0f64, -1.0);
    let (x, u) = (r * angle.cos(), -r * omega * angle.sin());
    // x cos 2t + u/2 sin 2t = a cos(2t - s) = 1/2, on the way out.
    let (a, s) = (x.hypot(0.5 * u), (0.5 * u).atan2(x));
    let hit = 0.5 * (s - (0.5 / a).acos());
    let mut errors = [0.0; 3];
    for (error, h) in errors.iter_mut().zip([0.02, 0.01, 0.005]) {
        let run = record(&bead, &elastic(), &[r, angle], &[0.0, omega], h, 5.0);
        let impact = run.impacts().next().unwrap();
        *error = (impact.time - hit).abs();
        for impact in run.impacts() {
            let audit = &impact.outcome.audit;
            assert!(audit.energy_change_j().abs() <= 1e-14 * audit.energy_minus_j);
        }
        // The angular momentum about the origin is constant between impacts.
        let before = run
            .states
            .iter()
            .take_while(|state| state.time < impact.time);
        assert!(before.clone().count() > 10);
        assert!(before.map(|state| state.momentum.0[1]).all(|p| p == -1.0));
    }
    close(errors[0] / errors[1], 4.0, 0.2);
    close(errors[1] / errors[2], 4.0, 0.2);
    assert!(errors[2] > 1e-9, "{errors:?}");
}

/// A point that slides down a circle leaves it at two thirds of its height.
#[derive(Debug)]
struct Hill {
    contacts: [carom_mechanism::PointContact; 1],
}

impl MechanicalSystem for Hill {
    fn dimension(&self) -> usize {
        2
    }
    fn mass_matrix(&self, _q: &[f64], out: &mut nalgebra::DMatrix<f64>) {
        out.fill_diagonal(1.0);
    }
    fn dynamics(
        &self,
        at: &carom_mechanism::Motion<'_>,
        _wanted: carom_mechanism::Derivatives,
        out: &mut carom_mechanism::Dynamics,
    ) {
        self.mass_matrix(at.configuration, &mut out.mass_matrix);
        out.potential = GRAVITY * at.configuration[1];
        out.potential_gradient[1] = GRAVITY;
    }
    fn contacts(&self) -> &[carom_mechanism::PointContact] {
        &self.contacts
    }
    fn gap(&self, _contact: usize, q: &[f64]) -> f64 {
        q[0].hypot(q[1]) - 1.0
    }
    fn gap_gradient(&self, _contact: usize, q: &[f64], out: &mut [f64]) {
        let r = q[0].hypot(q[1]);
        out.copy_from_slice(&[q[0] / r, q[1] / r]);
    }
}

#[test]
fn a_point_leaves_a_hill_at_two_thirds_of_its_height() {
    let hill = Hill {
        contacts: [carom_mechanism::PointContact::elastic("hill")],
    };
    let tilt = 0.1f64;
    for h in [0.01, 0.001] {
        let run = record(
            &hill,
            &elastic(),
            &[tilt.sin(), tilt.cos()],
            &[0.0; 2],
            h,
            1.2,
        );
        let released: Vec<_> = run
            .log
            .iter()
            .filter_map(|entry| match entry {
                LogEntry::Released { time, .. } => Some(*time),
                _ => None,
            })
            .collect();
        assert_eq!(released.len(), 1, "{:?}", run.log);
        let at = run.states.iter().min_by(|a, b| {
            let distance = |s: &State| (s.time - released[0]).abs();
            distance(a).total_cmp(&distance(b))
        });
        let q = &at.unwrap().configuration;
        // Energy: v² = 2g (cos tilt - y), and the weight holds it on the circle while v² < g y.
        // It moves by about two steps' worth of height around the release.
        close(q[1], 2.0 / 3.0 * tilt.cos(), 4.0 * h);
        let on = run
            .states
            .iter()
            .take_while(|state| state.time < released[0]);
        for state in on {
            let q = &state.configuration;
            close(q[0].hypot(q[1]), 1.0, 1e-12);
        }
    }
}

/// Thrown blocks in coarse steps: between all nodes the flights are exact and known, and no corner
/// is ever below the floor.
#[test]
fn no_corner_goes_through_the_floor() {
    let block = Block::new(0.5, 0.2, 1.0, DOWN).unwrap();
    let law = elastic();
    let integrator = CollisionIntegrator::new(&block, &law).unwrap();
    let grid = TimeGrid::duration(0.1, 4.0).unwrap();
    let mut seed = 1u64;
    let mut random = || {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let (mut n_impacts, mut lowest) = (0, f64::INFINITY);
    for _ in 0..40 {
        let q = [0.0, 1.5 + random(), 6.0 * random()];
        let v = [random(), 4.0 * random(), 12.0 * random()];
        let start = integrator.state(0.0, &q, &v).unwrap();
        let run = Trajectory::record(&integrator, &start, &grid, None).unwrap();
        assert_eq!(run.end.ending, Ending::Completed);
        let states = run
            .states
            .iter()
            .map(|s| (s.time, &s.configuration, &s.momentum));
        let impacts = run
            .impacts()
            .map(|i| (i.time, &i.configuration, &i.momentum_plus));
        let mut nodes: Vec<_> = states.chain(impacts).collect();
        nodes.sort_by(|a, b| a.0.total_cmp(&b.0));
        n_impacts += run.end.n_impacts;
        let inertia = (0.25 + 0.04) / 3.0;
        for pair in nodes.windows(2) {
            let (time, q, p) = pair[0];
            for k in 0..=40 {
                let t = (pair[1].0 - time) * f64::from(k) / 40.0;
                let y = q[1] + p.0[1] * t - 0.5 * GRAVITY * t * t;
                let at = [0.0, y, q[2] + p.0[2] / inertia * t];
                for contact in 0..4 {
                    lowest = f64::min(lowest, block.gap(contact, &at));
                }
            }
        }
    }
    assert!(n_impacts > 200, "{n_impacts}");
    assert!(lowest >= -1e-9, "{lowest:e}");
}

/// Contacts within ten times the tolerance of simultaneous events: the outcome would differ.
#[test]
fn an_almost_simultaneous_landing_is_fragile() {
    let rod = Block::new(0.5, 0.0, 1.0, DOWN).unwrap();
    let run = record(&rod, &elastic(), &[0.0, 1.0, 5e-8], &[0.0; 3], 0.01, 0.46);
    let impact = run.impacts().next().unwrap();
    assert_eq!(impact.contacts, [0]);
    // With the cosine -1/2 of p and u: alone p+ = p + |p| u, together p+ = -p.
    let expected = 3.0f64.sqrt();
    assert!(
        (impact.fragility.unwrap() - expected).abs() <= 1e-6,
        "{:?}",
        impact.fragility
    );
}

/// A guide forbids the slide at the end stops: friction has nothing to act on there.
#[test]
fn a_cart_runs_between_its_end_stops() {
    for friction in [0.0, 0.3] {
        let mut builder = PlanarBuilder::new(DOWN);
        let cart = builder.slider(Link::GROUND, [0.0, 0.0], [1.0, 0.0]);
        builder.body(cart, Inertia::point(1.0, [0.0, 0.0]));
        for (name, x, normal) in [("right", 1.0, -1.0), ("left", -1.0, 1.0)] {
            let line = Line::new([x, 0.0], [normal, 0.0]).unwrap();
            let contact = LineContact {
                friction,
                ..LineContact::point(name, [0.0, 0.0], line)
            };
            builder.contact(cart, contact);
        }
        let system = builder.build().unwrap();
        let law = carom_impact::frictional::MoreauNewton::default();
        let run = record(&system, &law, &[0.0], &[0.5], 0.01, 7.0);
        let times: Vec<f64> = run.impacts().map(|impact| impact.time).collect();
        assert_eq!(times.len(), 2, "{times:?}");
        close(times[0], 2.0, 1e-12);
        close(times[1], 6.0, 1e-12);
    }
}

/// Friction takes the kinetic energy of a block that slides to rest, and nothing else does.
#[test]
fn friction_takes_what_a_sliding_block_had() {
    let (mass, speed, friction) = (2.0, 1.5, 0.3);
    let mut builder = PlanarBuilder::new(DOWN);
    let block = builder.floating();
    builder.body(block, Inertia::new(mass, [0.0, 0.0], 0.1));
    for side in [-1.0, 1.0] {
        let floor = Line::new([0.0, 0.0], [0.0, 1.0]).unwrap();
        let mut corner = LineContact::point("corner", [0.2 * side, -0.1], floor);
        corner.friction = friction;
        builder.contact(block, corner);
    }
    let system = builder.build().unwrap();
    let law = carom_impact::frictional::MoreauNewton::default();
    let (q, v) = ([0.0, 0.1, 0.0], [speed, 0.0, 0.0]);
    let run = record(&system, &law, &q, &v, 0.001, 1.0);
    let balance = run.end.balance;
    close(balance.contact_loss, 0.5 * mass * speed * speed, 1e-12);
    assert_eq!((balance.impact_loss, balance.force_work), (0.0, 0.0));
    let before = energy(&system, &run.states[0]);
    for (state, balance) in run.states.iter().zip(&run.balances) {
        close(energy(&system, state) + balance.contact_loss, before, 1e-12);
    }
}

/// A driven and damped pole that hits a wall: what is left of the balance is the error of the steps.
#[test]
fn the_energy_balance_is_of_order_two() {
    let mut builder = PlanarBuilder::new(DOWN);
    let pole = builder.hinge(Link::GROUND, [0.0, 0.0], 0.0);
    builder.body(pole, Inertia::rod(1.5, [0.0, 0.0], [0.6, 0.0]));
    let spring = Spring {
        stiffness: 3.0,
        damping: 0.2,
        rest: 0.1,
    };
    let actuator = Actuator {
        proportional: 2.0,
        derivative: 0.5,
        reference: Reference {
            hold: 0.3,
            rate: 0.4,
            start: 0.5,
        },
    };
    builder.spring(pole, spring).actuator(pole, actuator);
    let wall = Line::new([0.0, -0.1], [0.0, 1.0]).unwrap();
    let tip = LineContact::point("tip", [0.6, 0.0], wall);
    builder.contact(pole, tip);
    let system = builder.build().unwrap();
    let largest = |step: f64| {
        let run = record(&system, &restituting(0.5), &[1.0], &[0.0], step, 1.2);
        let balance = run.end.balance;
        assert!(balance.impact_loss > 0.1 && balance.force_work < -0.1);
        let before = energy(&system, &run.states[0]);
        let off = |(state, balance): (&State, &Balance)| {
            let went = balance.impact_loss + balance.contact_loss - balance.force_work;
            (energy(&system, state) + went - before).abs()
        };
        let all = run.states.iter().zip(&run.balances).map(off);
        all.fold(0.0, f64::max)
    };
    close(largest(2e-3) / largest(1e-3), 4.0, 0.1);
}
