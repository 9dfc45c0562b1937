//! Events of the penny that a careless search misses or invents.
#![allow(
    clippy::excessive_precision,
    reason = "digits as their source has them"
)]

use super::common::{billiard, close, paper_penny, paper_start, relative};
use carom_motion::billiard::circle::CircleOrbit;
use carom_motion::hybrid::{Ending, Limits};

use carom_impact::Restitution;
use carom_motion::billiard::penny::{PennyBilliard, PennyState, Rim, RollingPenny};
use carom_motion::billiard::{BilliardError, Ellipse, Superellipse, Table};
use std::f64::consts::FRAC_PI_2;

fn start(x: f64, y: f64, phi: f64, theta_dot: f64, phi_dot: f64) -> PennyState {
    PennyState {
        x,
        y,
        theta: 0.0,
        phi,
        theta_dot,
        phi_dot,
    }
}

/// Constants of the motion and first impact in closed form (80-digit arithmetic).
#[test]
fn circular_table_has_the_constants_of_the_closed_form() {
    let orbit = |restitution| {
        CircleOrbit::from_center(&paper_penny(), 0.2, paper_start(), restitution)
            .unwrap()
            .unwrap()
    };
    let elastic = orbit(Restitution::Elastic);
    close(elastic.x_star, 0.1867028841076361634, 1e-14);
    close(elastic.y_star, -0.0361659423178472767, 1e-14);
    close(elastic.n_t, 0.9835144205381808171, 1e-14);
    close(elastic.n_s, -0.1808297115892363837, 1e-14);
    close(elastic.rotation_number(), 0.5550861330581687025, 1e-14);
    let projected = orbit(Restitution::Projected);
    close(
        projected.effective_restitution,
        0.3718894656013864493,
        1e-14,
    );
    let [theta_dot, phi_dot] = projected.limit();
    close(theta_dot, 1.716835482739816994, 1e-13);
    close(phi_dot, 9.337693679464710248, 1e-13);
}

/// The event code and the closed form share nothing but the start.
#[test]
fn circular_table_follows_the_closed_form_for_every_law() {
    for restitution in [
        Restitution::Elastic,
        Restitution::Projected,
        Restitution::Newton(0.7),
        Restitution::ProjectedNewton(0.9),
    ] {
        for (theta_dot, phi_dot) in [(10.0, 0.2), (7.0, -3.0), (3.0, 1.0), (1.0, 0.05)] {
            let start = PennyState {
                theta_dot,
                phi_dot,
                ..paper_start()
            };
            let orbit = CircleOrbit::from_center(&paper_penny(), 0.2, start, restitution).unwrap();
            let run = billiard(0.2, 0.2, restitution)
                .run(start, Limits::impacts(20))
                .unwrap();
            let Some(orbit) = orbit else {
                assert_eq!(run.ending, Ending::NeverHits);
                continue;
            };
            assert_eq!(run.events.len(), 20);
            for (event, exact) in run.events.iter().zip(orbit.impacts()) {
                assert_eq!(event.rim, exact.rim);
                close(event.time / exact.time, 1.0, 1e-11);
                close(
                    event.state.theta_dot / theta_dot,
                    exact.velocity_plus[0] / theta_dot,
                    1e-11,
                );
                close(
                    event.state.phi_dot / 25.0,
                    exact.velocity_plus[1] / 25.0,
                    1e-11,
                );
                close(event.state.phi, exact.phi, 1e-11 * (1.0 + exact.phi.abs()));
                let direction = exact.wall_angle - event.point.y.atan2(event.point.x);
                close(direction.sin(), 0.0, 1e-11);
            }
        }
    }
}

/// First impact of the paper's start on the circle, for Newton's restitution: $e = 0$ ends on the
/// tangent circle at once, with one event.
#[test]
fn plastic_impact_reaches_the_limit_circle_at_once() {
    let run = billiard(0.2, 0.2, Restitution::Newton(0.0))
        .run(paper_start(), Limits::impacts(20))
        .unwrap();
    assert_eq!(run.ending, Ending::GrazingCascade);
    assert_eq!(run.events.len(), 1);
    close(run.events[0].state.theta_dot, 1.716835482739817, 1e-12);
    close(run.events[0].state.phi_dot, 9.337693679464710, 1e-12);
    let run = billiard(0.2, 0.2, Restitution::ProjectedNewton(0.0))
        .run(paper_start(), Limits::impacts(20))
        .unwrap();
    assert!(run.events.is_empty());
    let Ending::Stopped(BilliardError::InfeasibleLaw {
        impact: 1,
        effective_restitution,
    }) = run.ending
    else {
        panic!("{:?}", run.ending);
    };
    close(effective_restitution, -0.314055267199307, 1e-12);
}

/// A straight start: the impact times are those of a line, and turning by 1e-12 or 1e-300 rad/s
/// changes them by as much.
#[test]
fn a_start_without_turning_is_no_special_case() {
    let billiard = billiard(0.15, 0.2, Restitution::Elastic);
    let run = |omega| {
        billiard
            .run(start(0.0, 0.0, 0.3, 5.0, omega), Limits::impacts(4))
            .unwrap()
    };
    let straight = run(0.0);
    let expected = [
        (Rim::Front, 2.8590081714609257732, 1e-12),
        (Rim::Back, 3.2625801733390682926, 1e-12),
        (Rim::Front, 8.7653012026234170566, 1e-10),
        (Rim::Back, 9.2964934943156644863, 1e-10),
    ];
    for (event, (rim, time, tolerance)) in straight.events.iter().zip(expected) {
        assert_eq!(event.rim, rim);
        close(event.time, time, tolerance);
    }
    close(
        straight.events[0].state.theta_dot,
        -4.09956452069596166,
        1e-12,
    );
    close(straight.events[0].state.phi_dot, 7.01152083673045507, 1e-12);
    close(run(1e-12).events[0].time, 2.8590081714615240625, 1e-12);
    for (a, b) in straight.events.iter().zip(run(1e-300).events) {
        assert_eq!((a.rim, a.time), (b.rim, b.time));
    }
}

#[test]
fn a_penny_that_turns_on_the_spot_never_hits() {
    let billiard = billiard(0.15, 0.2, Restitution::Elastic);
    let run = |state| billiard.run(state, Limits::impacts(5)).unwrap().ending;
    assert_eq!(
        run(start(0.0, 0.0, FRAC_PI_2, 1.0, 20.0)),
        Ending::NeverHits
    );
    assert_eq!(run(start(0.0, 0.0, FRAC_PI_2, 0.0, 0.0)), Ending::AtRest);
}

/// The disk turns about its center, whose rim circle misses or meets the wall by 1 nm.
#[test]
fn a_graze_of_a_nanometer_is_seen_and_a_miss_is_not() {
    let billiard = billiard(0.2, 0.2, Restitution::Elastic);
    let at = |d: f64| start(0.19 + d, 0.0, FRAC_PI_2, 0.0, 5.0);
    let miss = billiard.run(at(-1e-9), Limits::impacts(3)).unwrap();
    assert_eq!((miss.ending, miss.events.len()), (Ending::NeverHits, 0));
    let run = billiard.run(at(1e-9), Limits::impacts(3)).unwrap();
    let [first, second, _] = run.events[..] else {
        panic!("{:?}", run.ending);
    };
    assert_eq!((first.rim, second.rim), (Rim::Back, Rim::Front));
    close(first.time, 0.31406749906475291, 1e-10);
    close(
        relative(first.normal_velocity, 2.17944942287611e-5),
        0.0,
        1e-6,
    );
    close(first.state.theta_dot, 0.00435889429070743354, 1e-8);
    close(first.state.phi_dot, 4.99998860001134149, 1e-10);
    close(second.time, 0.94255264203655557, 1e-10);
}

/// Both rims within a micrometer of the wall: a thousand impacts in 20 ms, none missed.
#[test]
fn a_rattle_alternates_for_a_thousand_impacts() {
    let billiard = billiard(0.2, 0.2, Restitution::Elastic);
    let y = (0.2f64 * 0.2 - 0.01 * 0.01).sqrt() - 1e-6;
    let run = billiard
        .run(start(0.0, y, 0.0, 5.0, 10.0), Limits::impacts(1000))
        .unwrap();
    assert_eq!(run.ending, Ending::MaxImpacts);
    assert!(run.events.windows(2).all(|w| w[0].rim != w[1].rim));
    for (k, event) in run.events.iter().enumerate().skip(1) {
        let even = k % 2 == 1;
        let interval = if even {
            1.95092991232781205e-5
        } else {
            1.951116976714735e-5
        };
        close(relative(event.interval, interval), 0.0, 1e-8);
        let (theta_dot, phi_dot) = if even {
            (5.0, 10.0)
        } else {
            (4.82866844502495916, -10.4930341793077877)
        };
        close(relative(event.state.theta_dot, theta_dot), 0.0, 1e-8);
        close(relative(event.state.phi_dot, phi_dot), 0.0, 1e-8);
    }
    let last = run.events.last().unwrap();
    close(relative(last.time, 0.0195004788603291616), 0.0, 1e-8);
    close(relative(last.state.phi, -0.0048975782705473746), 0.0, 1e-8);
}

#[test]
fn starts_beyond_and_on_the_wall() {
    let billiard = billiard(0.15, 0.2, Restitution::Elastic);
    let beyond = start(0.1401, 0.0, 0.0, 1.0, 0.0);
    assert!(matches!(
        billiard.run(beyond, Limits::impacts(1)),
        Err(BilliardError::PenetratingStart {
            part: "the front rim",
            ..
        })
    ));
    let nan = start(0.0, f64::NAN, 0.0, 1.0, 0.0);
    assert!(matches!(
        billiard.run(nan, Limits::impacts(1)),
        Err(BilliardError::NonFinite { name: "y", .. })
    ));
    // On the wall and moving out: an impact at once. Moving in: the same rim leaves.
    let out = billiard
        .run(start(0.14, 0.0, 0.0, 1.0, 0.3), Limits::impacts(2))
        .unwrap();
    assert_eq!((out.events[0].rim, out.events[0].time), (Rim::Front, 0.0));
    assert!(out.events[1].time > 0.0);
    let inward = billiard
        .run(start(0.14, 0.0, 0.0, -1.0, 0.3), Limits::impacts(1))
        .unwrap();
    assert!(inward.events[0].time > 1.0);
    // Tangential, and the circle curves inwards: it leaves, and what comes back only grazes.
    let tangent = billiard
        .run(start(0.14, 0.0, 0.0, 0.0, 3.0), Limits::impacts(1))
        .unwrap();
    assert!(
        tangent
            .events
            .iter()
            .all(|e| e.time > 1.0 && e.normal_velocity < 1e-9)
    );
    // Tangential on a narrow tip, where the circle curves outwards: the wall would have to push.
    let tip = PennyBilliard::new(
        paper_penny(),
        Ellipse::new(0.012, 0.2).unwrap(),
        Restitution::Elastic,
    )
    .unwrap();
    let pressed = tip
        .run(start(0.0, 0.19, FRAC_PI_2, 0.0, 3.0), Limits::impacts(1))
        .unwrap();
    assert_eq!(pressed.ending, Ending::PressedContact);
}

#[test]
fn a_disk_that_does_not_fit_is_refused() {
    let large = RollingPenny::thin_disk(0.16, 0.1).unwrap();
    assert!(matches!(
        PennyBilliard::new(
            large,
            Ellipse::new(0.15, 0.2).unwrap(),
            Restitution::Elastic
        ),
        Err(BilliardError::TableTooSmall { .. })
    ));
    assert!(RollingPenny::thin_disk(0.0, 0.1).is_err());
    assert!(RollingPenny::thin_disk(f64::NAN, 0.1).is_err());
    assert!(Ellipse::new(0.1, -0.1).is_err());
    assert!(Superellipse::new(0.1, 0.1, 1.5).is_err());
    let wrong = Restitution::Newton(1.5);
    assert!(PennyBilliard::new(paper_penny(), Ellipse::circle(0.2).unwrap(), wrong).is_err());
}

/// Both rims exactly at the wall of a circle can only throw each other back.
#[test]
fn a_locked_penny_is_reported_not_followed_for_ever() {
    let y = (0.2f64 * 0.2 - 0.01 * 0.01).sqrt();
    let run = billiard(0.2, 0.2, Restitution::Elastic)
        .run(start(0.0, y, 0.0, 5.0, -10.0), Limits::impacts(100_000))
        .unwrap();
    assert_eq!(run.ending, Ending::DoubleContact, "{}", run.events.len());
}

/// A circle is only limited by rounding: 60 impacts, down to speeds of 1e-26 m/s.
#[test]
fn a_grazing_cascade_shrinks_by_the_restitution_each_time() {
    for restitution in [Restitution::Projected, Restitution::Newton(0.4)] {
        let run = billiard(0.2, 0.2, restitution)
            .with_graze(0.0)
            .run(paper_start(), Limits::impacts(60))
            .unwrap();
        assert_eq!(run.events.len(), 60);
        for pair in run.events.windows(2) {
            let ratio = pair[1].normal_velocity / pair[0].normal_velocity;
            close(relative(ratio, pair[0].effective_restitution), 0.0, 1e-10);
            assert_ne!(pair[0].rim, pair[1].rim);
        }
    }
}

/// Ten thousand elastic impacts keep the energy and stay on the wall.
#[test]
fn ten_thousand_impacts_keep_energy_and_wall() {
    let penny = paper_penny();
    let rattle = start(
        0.0,
        (0.2f64 * 0.2 - 0.01 * 0.01).sqrt() - 1e-6,
        0.0,
        5.0,
        10.0,
    );
    for (a, from) in [(0.2, paper_start()), (0.15, paper_start()), (0.2, rattle)] {
        let billiard = billiard(a, 0.2, Restitution::Elastic);
        let energy = penny.energy(&from);
        let mut impacts = 0;
        let (ending, _) = billiard
            .follow(from, Limits::impacts(10_000), |event| {
                impacts += 1;
                close(penny.energy(&event.state) / energy, 1.0, 1e-12);
                let rim = penny.rim(&event.state, event.rim);
                close(billiard.table().value(rim), 0.0, 1e-14);
                close(billiard.table().value(event.point), 0.0, 1e-14);
                let other = penny.rim(&event.state, event.rim.other());
                assert!(billiard.table().value(other) < 1e-13);
            })
            .unwrap();
        assert_eq!((ending, impacts), (Ending::MaxImpacts, 10_000));
    }
}

/// Superellipse $(x/0.15)^4 + (y/0.2)^4 = 1$, paper's start (30-digit integration).
#[test]
fn superellipse_is_followed_by_certified_steps() {
    let table = Superellipse::new(0.15, 0.2, 4.0).unwrap();
    let billiard = PennyBilliard::new(paper_penny(), table, Restitution::Elastic).unwrap();
    let run = billiard.run(paper_start(), Limits::impacts(10)).unwrap();
    let event = |k: usize| &run.events[k - 1];
    close(event(1).time, 1.9539574198776434, 1e-12);
    close(event(1).state.theta_dot, -0.65597286790136959, 1e-12);
    close(event(1).state.phi_dot, 24.4429580366097162, 1e-12);
    close(event(2).time, 2.0522570505596623, 1e-12);
    close(event(2).state.theta_dot, 10.0001847974975413, 1e-12);
    close(event(2).state.phi_dot, 0.133506911410450837, 1e-12);
    close(event(6).time, 9.92468827205910303, 1e-9);
    close(event(10).time, 12.962631367109408, 1e-9);
    close(event(10).state.theta_dot, 10.0003320866727219, 1e-9);
    close(event(10).state.phi_dot, 0.0122039986900009447, 1e-9);
    let rims: Vec<Rim> = [1, 2, 6, 10].map(|k| event(k).rim).to_vec();
    assert_eq!(rims, [Rim::Front, Rim::Back, Rim::Back, Rim::Back]);
}
