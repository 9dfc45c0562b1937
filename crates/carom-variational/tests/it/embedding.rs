//! Time as a state.

use carom_variational::{Motion, TimeEmbedding};
use nalgebra::{DVector, dvector};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// A ball in flight: height and velocity.
#[derive(Debug)]
struct Flight {
    height: f64,
    velocity: f64,
    gravity: f64,
}

impl Flight {
    /// Time until the ball touches the floor.
    fn duration(&self) -> f64 {
        let square = self.velocity * self.velocity + 2.0 * self.gravity * self.height;
        (self.velocity + square.sqrt()) / self.gravity
    }
}

impl Motion for Flight {
    fn state(&self, t: f64) -> (DVector<f64>, DVector<f64>) {
        let g = self.gravity;
        (
            dvector![self.height + t * (self.velocity - 0.5 * g * t)],
            dvector![self.velocity - g * t],
        )
    }
}

/// The ball at rest, pressed down by a force that grows.
#[derive(Debug)]
struct Pressed {
    force: f64,
    growth: f64,
}

impl Motion for Pressed {
    fn state(&self, _: f64) -> (DVector<f64>, DVector<f64>) {
        (dvector![0.0], dvector![0.0])
    }

    fn normal_impulse(&self, t: f64) -> f64 {
        t * (self.force + 0.5 * self.growth * t)
    }

    fn normal_force(&self, t: f64) -> f64 {
        self.force + self.growth * t
    }
}

/// Halm & Posa, Fig. 6: m = g = 1 from (2/3, 2/3): two seconds of flight to (0, -4/3), an impact of
/// length 4/3, then rest with dt/ds = 1/2.
#[test]
fn the_ball_of_the_paper() {
    let third = 1.0 / 3.0;
    let flight = Flight {
        height: 2.0 * third,
        velocity: 2.0 * third,
        gravity: 1.0,
    };
    let duration = flight.duration();
    assert!((duration - 2.0).abs() <= 1e-15);
    let mut path = TimeEmbedding::new(dvector![2.0 * third], dvector![2.0 * third], 1.0).unwrap();
    path.push_motion(flight, duration).unwrap();
    path.push_impact(&[(4.0 * third, dvector![0.0])]).unwrap();
    let rest = Pressed {
        force: 1.0,
        growth: 0.0,
    };
    path.push_motion(rest, 1.0).unwrap();
    for (s, time, height, velocity, clock) in [
        (
            1.0,
            1.0,
            2.0 * third + 2.0 * third - 0.5,
            2.0 * third - 1.0,
            1.0,
        ),
        (2.0 + third, 2.0, 0.0, -1.0, 0.0),
        (2.0 + 4.0 * third + 1.0, 2.5, 0.0, 0.0, 0.5),
        (2.0 + 4.0 * third + 2.0, 3.0, 0.0, 0.0, 0.5),
    ] {
        let state = path.state_at(s).unwrap();
        assert!((state.time - time).abs() <= 1e-14, "{state:?}");
        assert!(
            (state.configuration[0] - height).abs() <= 1e-14,
            "{state:?}"
        );
        assert!((state.velocity[0] - velocity).abs() <= 1e-14, "{state:?}");
        assert!((state.clock - clock).abs() <= 1e-14, "{state:?}");
    }
    let [first, last] = path.s_of(2.0).unwrap();
    assert!((first - 2.0).abs() <= 1e-14 && (last - 2.0 - 4.0 * third).abs() <= 1e-14);
}

#[test]
fn segments_that_do_not_meet_are_refused() {
    let mut path = TimeEmbedding::new(dvector![1.0], dvector![0.0], 1.0).unwrap();
    let fall = |height, velocity| Flight {
        height,
        velocity,
        gravity: 1.0,
    };
    let kind = |result: Result<(), carom_variational::VariationalError>| result.unwrap_err().kind();
    assert_eq!(kind(path.push_motion(fall(1.1, 0.0), 1.0)), "discontinuous");
    assert_eq!(kind(path.push_motion(fall(1.0, 0.1), 1.0)), "discontinuous");
    assert_eq!(kind(path.push_motion(fall(1.0, 0.0), -1.0)), "bad-duration");
    assert_eq!(
        kind(path.push_motion(fall(1.0, 0.0), f64::NAN)),
        "bad-duration"
    );
    assert_eq!(
        kind(path.push_impact(&[(-1.0, dvector![0.0])])),
        "bad-embedding"
    );
    assert_eq!(
        kind(path.push_impact(&[(1.0, dvector![f64::NAN])])),
        "non-finite"
    );
    assert_eq!(
        kind(path.push_impact(&[(1.0, dvector![0.0, 1.0])])),
        "discontinuous"
    );
    assert_eq!(path.length(), 0.0);
    assert_eq!(path.state_at(0.0).unwrap().configuration, dvector![1.0]);
    for s in [-0.1, 0.1, f64::NAN] {
        assert_eq!(path.state_at(s).unwrap_err().kind(), "out-of-range");
        assert_eq!(path.s_of(s).unwrap_err().kind(), "out-of-range");
    }
    for scale in [0.0, -1.0, f64::NAN] {
        let error = TimeEmbedding::new(dvector![1.0], dvector![0.0], scale).unwrap_err();
        assert_eq!(error.kind(), "bad-embedding");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        rng_seed: RngSeed::Fixed(6),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Halm & Posa, Lemmas 4 and 5, Theorem 5: time never runs back and never faster than s, stands
    /// still exactly in impacts, nothing penetrates, and everything is continuous in s.
    #[test]
    fn time_never_runs_back(
        mass in 0.1..10.0f64,
        gravity in 0.1..10.0f64,
        height in 0.01..2.0f64,
        velocity in -2.0..2.0f64,
        restitution in 0.0..0.9f64,
        growth in 0.0..5.0f64,
        sigma in 0.01..10.0f64,
    ) {
        let mut path = TimeEmbedding::new(dvector![height], dvector![velocity], sigma).unwrap();
        let mut flight = Flight { height, velocity, gravity };
        for bounce in 0..5 {
            let duration = flight.duration();
            let landing = flight.velocity - gravity * duration;
            path.push_motion(flight, duration).unwrap();
            let up = if bounce < 4 { -restitution * landing } else { 0.0 };
            // Compression to rest, then restitution.
            path.push_impact(&[(-mass * landing, dvector![0.0]), (mass * up, dvector![up])]).unwrap();
            flight = Flight { height: 0.0, velocity: up, gravity };
        }
        path.push_motion(Pressed { force: mass * gravity, growth }, 1.0).unwrap();
        let n = 2000;
        let mut before = path.state_at(0.0).unwrap();
        for k in 1..=n {
            let s = path.length() * f64::from(k) / f64::from(n);
            let state = path.state_at(s).unwrap();
            let ds = path.length() / f64::from(n);
            let dt = state.time - before.time;
            prop_assert!(dt >= -1e-12 && dt <= ds * (1.0 + 1e-9), "{dt} {ds}");
            prop_assert!((0.0..=1.0).contains(&state.clock));
            prop_assert!(state.configuration[0] >= -1e-9);
            // Both are Lipschitz in s: velocity by gravity in flight and 1/(σ m) in impacts.
            let dv = (state.velocity[0] - before.velocity[0]).abs();
            prop_assert!(dv <= 1.000001 * ds * gravity.max(1.0 / (sigma * mass)) + 1e-9);
            let [low, high] = path.s_of(state.time).unwrap();
            prop_assert!(low - 1e-9 <= s && s <= high + 1e-9, "{low} {s} {high}");
            if state.clock == 0.0 {
                // In an impact the clock shows one time for a whole interval.
                prop_assert!(high > low);
            }
            before = state;
        }
        prop_assert!((before.time - path.duration()).abs() <= 1e-12 * path.duration());
    }
}
