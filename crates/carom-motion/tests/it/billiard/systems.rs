//! Other nonholonomic billiards, through the frame that any system can use.
#![allow(
    clippy::excessive_precision,
    reason = "digits as their source has them"
)]

use super::common::{billiard, close, paper_penny, paper_start};
use carom_motion::billiard::controlled::{ControlledPenny, RIMS};
use carom_motion::hybrid::{Ending, Limits};

use carom_contact::{Diagnostics, ImpactError};
use carom_impact::{Nonholonomic, Restitution, Rough};
use carom_metric::Tangent;
use carom_motion::billiard::knife_edge::{KnifeEdge, KnifeState};
use carom_motion::billiard::no_slip_disk::{DiskState, NoSlipDisk};
use carom_motion::billiard::penny::{PennyState, Rim};
use carom_motion::billiard::rolling_ball::{BallState, RollingBall};
use carom_motion::billiard::sleigh::{Sleigh, SleighState};
use carom_motion::billiard::snakeboard::Snakeboard;
use carom_motion::billiard::system::{Billiard, follow};
use carom_motion::billiard::{BilliardError, Ellipse};
use nalgebra::Vector2;

fn law(restitution: Restitution) -> Nonholonomic {
    Nonholonomic::new(restitution).unwrap()
}

/// Closed form: x is quadratic in the sine of the heading, so the times are roots of a quadratic.
#[test]
fn knife_edge_falls_on_its_wall() {
    let blade = KnifeEdge::new(1.0, 0.5, 1.0, 0.3).unwrap();
    let start = KnifeState {
        phi_dot: 1.0,
        ..KnifeState::default()
    };
    let (hits, ending) = follow(
        &blade,
        &law(Restitution::Elastic),
        start,
        Limits::impacts(4),
    )
    .unwrap();
    assert_eq!(ending, Ending::MaxImpacts);
    let expected = [
        (0.8860771237926136, 0.19808958761798898),
        (2.2555155297971794, -0.5868850550496352),
        (4.027669777382406, -0.1907058798136576),
        (5.397108183386973, -0.975680522481281),
    ];
    for (hit, (time, y)) in hits.iter().zip(expected) {
        close(hit.time, time, 1e-11);
        close(hit.state.y, y, 1e-11);
        close(hit.state.speed.abs(), 0.6f64.sqrt(), 1e-11);
        close(hit.state.phi_dot, 1.0, 0.0);
    }
    // At 60 degrees from the normal the projected law is inadmissible.
    let steep = KnifeState {
        x: 0.3,
        phi: 60f64.to_radians(),
        speed: 1.0,
        ..start
    };
    let (hits, ending) = follow(
        &blade,
        &law(Restitution::Projected),
        steep,
        Limits::impacts(1),
    )
    .unwrap();
    assert!(hits.is_empty());
    let Ending::Stopped(BilliardError::Impact(ImpactError::InfeasibleLaw {
        contacts,
        found: Some(found),
        ..
    })) = ending
    else {
        panic!("{ending:?}");
    };
    assert_eq!(contacts, [0]);
    let Diagnostics::Nonholonomic(diagnostics) = found.diagnostics else {
        panic!("{:?}", found.diagnostics);
    };
    close(diagnostics.effective_restitution.unwrap(), -0.5, 1e-14);
}

fn sleigh_run(restitution: Restitution, impacts: usize) -> (Sleigh, Vec<SleighState>, Vec<f64>) {
    let sleigh = Sleigh::new(1.0, 0.1, 0.2, 0.1, 2.0).unwrap();
    let start = SleighState {
        phi: 0.3,
        speed: 1.0,
        phi_dot: 1.5,
        ..SleighState::default()
    };
    let (hits, _) = follow(&sleigh, &law(restitution), start, Limits::impacts(impacts)).unwrap();
    let states = hits.iter().map(|hit| hit.state).collect();
    let v = sleigh.invariant_speed(&start);
    if restitution == Restitution::Elastic {
        for hit in &hits {
            close(sleigh.invariant_speed(&hit.before), v, 1e-12);
            close(sleigh.invariant_speed(&hit.state), v, 1e-12);
        }
    }
    (sleigh, states, hits.iter().map(|hit| hit.time).collect())
}

/// 30-digit integration of the sleigh.
#[test]
fn sleigh_bounces_in_its_arena() {
    let (_, states, times) = sleigh_run(Restitution::Elastic, 8);
    let expected = [
        1.57136886888074234,
        3.95646001703245365,
        7.12258445368743565,
        10.2049033705452925,
        12.4176202208636274,
        14.8296476590891767,
        18.0346923186080552,
        21.4449231072039341,
    ];
    for (k, (time, exact)) in times.iter().zip(expected).enumerate() {
        close(*time, exact, if k < 3 { 1e-11 } else { 1e-9 });
    }
    for (k, speed, phi_dot) in [
        (0, -1.09684869118768603, 0.894119473639769439),
        (3, -1.06235480745017975, 1.15388246209881579),
        (7, -0.908960459927142186, -1.86851905126003493),
    ] {
        close(states[k].speed, speed, if k < 3 { 1e-11 } else { 1e-9 });
        close(states[k].phi_dot, phi_dot, if k < 3 { 1e-11 } else { 1e-9 });
    }
    let (_, _, times) = sleigh_run(Restitution::Newton(0.5), 5);
    let expected = [
        1.57136886888074234,
        6.18397632485228555,
        15.1732604362504903,
        37.0109195930519889,
        77.571390840568166,
    ];
    for (time, exact) in times.iter().zip(expected) {
        close(*time, exact, 1e-9);
    }
}

/// A straight sleigh does not turn, and turning slowly is close to it.
#[test]
fn sleigh_is_smooth_at_zero_turning() {
    let sleigh = Sleigh::new(1.0, 0.1, 0.2, 0.1, 2.0).unwrap();
    let at = |phi_dot| {
        let start = SleighState {
            speed: 1.0,
            phi_dot,
            ..SleighState::default()
        };
        sleigh.flow(&start, 2.0)
    };
    for phi_dot in [1e-300, 1e-12] {
        let (bent, straight) = (at(phi_dot), at(0.0));
        close(bent.x, straight.x, 1e-14);
        close(bent.y, straight.y, 1e-11);
        close(bent.phi, straight.phi, 1e-11);
    }
}

/// A smooth cushion makes the ball's center an ordinary elliptical billiard: the product of the
/// angular momenta about the foci is constant.
#[test]
fn rolling_ball_keeps_the_focal_momenta() {
    let table = Ellipse::new(0.15, 0.2).unwrap();
    let ball = RollingBall::new(1.0, 1.0, 0.4, table).unwrap();
    let start = BallState {
        position: Vector2::new(0.02, -0.03),
        velocity: Vector2::new(0.1, 0.07),
        spin: 0.3,
    };
    let (hits, _) = follow(
        &ball,
        &law(Restitution::Elastic),
        start,
        Limits::impacts(20),
    )
    .unwrap();
    for hit in &hits {
        let focus = Vector2::new(0.0, 0.0175f64.sqrt());
        let momentum = |f: Vector2<f64>| (hit.state.position - f).perp(&hit.state.velocity);
        close(momentum(focus) * momentum(-focus), -1.5564e-4, 1e-12);
        close(hit.state.spin, 0.3, 1e-14);
    }
    close(hits[19].time, 48.23551354736712, 1e-10);
    close(hits[19].state.position.x, -0.1422566469082213, 1e-10);
    close(hits[19].state.position.y, -0.06342864982436242, 1e-10);
    // A rough cushion changes the spin and keeps the energy.
    let rough = Rough::new(1.0).unwrap();
    let (hits, _) = follow(&ball, &rough, start, Limits::impacts(50)).unwrap();
    assert!(hits.iter().any(|hit| (hit.state.spin - 0.3).abs() > 0.01));
    let energy = |s: &BallState| 0.7 * s.velocity.norm_squared() + 0.2 * s.spin * s.spin;
    for hit in &hits {
        close(energy(&hit.state) / energy(&start), 1.0, 1e-12);
    }
}

/// Orbits of the no-slip disk in a strip are bounded.
#[test]
fn no_slip_disk_stays_where_it_is_in_the_strip() {
    let disk = NoSlipDisk::new(1.0, 0.5, 0.5 * 0.25, 2.0).unwrap();
    let start = DiskState {
        x: 0.0,
        y: 0.5,
        x_dot: 0.4,
        y_dot: 1.0,
        spin: 0.7,
    };
    let rough = Rough::new(1.0).unwrap();
    let (hits, _) = follow(&disk, &rough, start, Limits::impacts(20_000)).unwrap();
    close(hits[9].time, 10.0, 1e-12);
    close(hits[9].state.x, -0.02811055225321435, 1e-8);
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for hit in &hits {
        (low, high) = (low.min(hit.state.x), high.max(hit.state.x));
    }
    close(low, -0.032354235, 1e-8);
    close(high, 0.782354269, 1e-8);
}

#[test]
fn snakeboard_reverses_inside_its_constraints() {
    let board = Snakeboard::new(6.0, 0.4, 0.6, 0.02, 0.3, 0.35).unwrap();
    let velocity = Tangent::from_slice(&[
        0.8545403298002427,
        0.2643403007605777,
        1.260616409995664,
        -0.6606164099956643,
        -0.3,
    ]);
    let wall = Vector2::new(0.8, 0.6);
    let at = board.at_impact(0.3, 0.4, wall, velocity).unwrap();
    let plus = at
        .resolve(&law(Restitution::Elastic))
        .unwrap()
        .velocity_plus;
    for (found, exact) in plus.0.iter().zip([
        -0.8545403298002434,
        -0.2643403007605778,
        -1.2606164099956654,
        1.8606164099956652,
        -0.3,
    ]) {
        close(*found, exact, 1e-12);
    }
}

/// Torque about the vertical: 30-digit integration; the free path is a Fresnel integral.
#[test]
fn a_torque_bends_the_pennys_path() {
    let table = Ellipse::new(0.15, 0.2).unwrap();
    let penny = ControlledPenny::new(paper_penny(), table, 1.875e-8, 0.0).unwrap();
    let law = law(Restitution::Elastic);
    let (hits, _) = follow(&penny, &law, paper_start(), Limits::impacts(5)).unwrap();
    let expected = [
        (1.874501327115562, Rim::Front),
        (1.9841941294364733, Rim::Back),
        (4.065613196645718, Rim::Front),
        (4.158336881286893, Rim::Back),
        (6.3593024363735875, Rim::Front),
    ];
    for (hit, (time, rim)) in hits.iter().zip(expected) {
        close(hit.time, time, 1e-9);
        assert_eq!(RIMS[hit.guard], rim);
    }
    close(hits[0].state.theta_dot, -3.3387133392300985, 1e-9);
    close(hits[0].state.phi_dot, 23.101929303852923, 1e-9);
    let free = penny.flow(&paper_start(), 1.0);
    close(free.x, -0.01486167751849894, 1e-14);
    close(free.y, 0.09836782784140052, 1e-14);
}

/// Without torques it is the penny: three independent pieces, flow, events and law, agree.
#[test]
fn without_torques_it_is_the_penny() {
    let table = Ellipse::new(0.15, 0.2).unwrap();
    let controlled = ControlledPenny::new(paper_penny(), table, 0.0, 0.0).unwrap();
    for restitution in [Restitution::Elastic, Restitution::Projected] {
        let run = billiard(0.15, 0.2, restitution)
            .run(paper_start(), Limits::impacts(6))
            .unwrap();
        let (hits, _) = follow(
            &controlled,
            &law(restitution),
            paper_start(),
            Limits::impacts(6),
        )
        .unwrap();
        for (event, hit) in run.events.iter().zip(&hits) {
            assert_eq!(event.rim, RIMS[hit.guard]);
            close(event.time, hit.time, 1e-10);
            close(event.state.theta_dot, hit.state.theta_dot, 1e-8);
            close(event.state.phi_dot, hit.state.phi_dot, 1e-8);
            close(event.energy_change_j, hit.energy_change_j, 1e-14);
            close(
                event.effective_restitution,
                hit.effective_restitution.unwrap(),
                1e-10,
            );
        }
    }
    let outside = PennyState {
        x: 0.2,
        ..paper_start()
    };
    let error = follow(
        &controlled,
        &law(Restitution::Elastic),
        outside,
        Limits::impacts(1),
    );
    assert!(matches!(error, Err(BilliardError::PenetratingStart { .. })));
}
