//! Derivatives of runs, against differences of the runs themselves.

use super::common::{paper_penny, paper_start};
use carom_motion::billiard::Ellipse;
use carom_motion::hybrid::Limits;

use carom_derivative::sensitivity::Regularity;
use carom_impact::Restitution;
use carom_motion::billiard::penny::{PennyBilliard, PennyState, Run};
use nalgebra::DVector;

fn entries(s: &PennyState) -> [f64; 6] {
    [s.x, s.y, s.theta, s.phi, s.theta_dot, s.phi_dot]
}

fn state(e: &[f64; 6]) -> PennyState {
    PennyState {
        x: e[0],
        y: e[1],
        theta: e[2],
        phi: e[3],
        theta_dot: e[4],
        phi_dot: e[5],
    }
}

fn billiard(restitution: Restitution) -> PennyBilliard<Ellipse> {
    PennyBilliard::new(paper_penny(), Ellipse::new(0.15, 0.2).unwrap(), restitution).unwrap()
}

fn follow(restitution: Restitution, start: PennyState, duration: f64) -> (Run, DVector<f64>) {
    let billiard = billiard(restitution);
    let run = billiard.run(start, Limits::duration(duration)).unwrap();
    let end = run.final_state(billiard.penny());
    (run, DVector::from_column_slice(&entries(&end)))
}

/// Typical sizes of the coordinates.
const SIZES: [f64; 6] = [0.2, 0.2, 1.0, 1.0, 10.0, 10.0];

/// Fourth-order differences of a run's end, over the sizes.
fn differences(step: f64, end: impl Fn(f64) -> DVector<f64>) -> DVector<f64> {
    ((end(step) - end(-step)) * 8.0 - (end(2.0 * step) - end(-2.0 * step))) / (12.0 * step)
}

/// The largest error of any entry in these sizes over the largest entry.
fn error(restitution: Restitution, impacts: usize) -> f64 {
    let next = Limits::impacts(impacts + 1);
    let times = billiard(restitution)
        .run(paper_start(), next)
        .unwrap()
        .events;
    let duration = 0.5 * (times[impacts - 1].time + times[impacts].time);
    let (run, _) = follow(restitution, paper_start(), duration);
    assert_eq!(run.events.len(), impacts);
    let sensitivity = billiard(restitution).sensitivity(&run);
    assert_eq!(sensitivity.class, Regularity::Smooth);
    let jacobian = sensitivity.d_final_d_initial.unwrap();
    let scaled = |i: usize, k: usize| jacobian[(i, k)] * SIZES[k] / SIZES[i];
    let largest = (0..36).fold(0.0, |m: f64, at| m.max(scaled(at / 6, at % 6).abs()));
    let step = 3e-4 / largest.max(1.0);
    let mut worst: f64 = 0.0;
    for k in 0..6 {
        let column = differences(step, |by| {
            let mut start = entries(&paper_start());
            start[k] += by * SIZES[k];
            let (other, end) = follow(restitution, state(&start), duration);
            assert_eq!(other.events.len(), impacts);
            end
        });
        for i in 0..6 {
            worst = worst.max((column[i] / SIZES[i] - scaled(i, k)).abs() / largest);
        }
    }
    let (Restitution::Newton(e) | Restitution::ProjectedNewton(e)) = restitution else {
        assert!(sensitivity.d_final_d_parameters.is_empty());
        return worst;
    };
    let (name, by_restitution) = &sensitivity.d_final_d_parameters[0];
    assert_eq!(*name, "restitution");
    let found = differences(step, |by| {
        let other = match restitution {
            Restitution::Newton(_) => Restitution::Newton(e + by),
            _ => Restitution::ProjectedNewton(e + by),
        };
        follow(other, paper_start(), duration).1
    });
    let size = (0..6).fold(largest, |m, i| m.max((by_restitution[i] / SIZES[i]).abs()));
    for i in 0..6 {
        worst = worst.max((found[i] - by_restitution[i]).abs() / SIZES[i] / size);
    }
    worst
}

#[test]
fn twenty_two_impacts_are_differentiated() {
    let elastic = error(Restitution::Elastic, 22);
    assert!(elastic <= 1e-6, "{elastic:e}");
    for restitution in [
        Restitution::Projected,
        Restitution::Newton(0.7),
        Restitution::ProjectedNewton(0.9),
    ] {
        let error = error(restitution, 8);
        assert!(error <= 1e-6, "{restitution:?}: {error:e}");
    }
}

#[test]
fn a_run_by_impacts_has_no_final_time() {
    let billiard = billiard(Restitution::Elastic);
    let run = billiard.run(paper_start(), Limits::impacts(3)).unwrap();
    let sensitivity = billiard.sensitivity(&run);
    assert_eq!(sensitivity.reason.as_deref(), Some("max-impacts"));
    assert!(sensitivity.d_final_d_initial.is_none());
    assert!(
        sensitivity
            .events
            .iter()
            .all(|event| event.saltation.is_some())
    );
    // Half of the first impact's approach is along the wall: the margin is what is not.
    let margin = sensitivity.events[0].margin.unwrap();
    assert!(margin > 0.0 && margin <= 1.0);
}

/// A rim that runs along a circular wall from inside.
#[test]
fn a_cascade_of_grazing_impacts_is_singular() {
    let billiard = PennyBilliard::new(
        paper_penny(),
        Ellipse::circle(0.2).unwrap(),
        Restitution::Projected,
    )
    .unwrap();
    let run = billiard
        .run(paper_start(), Limits::duration(200.0))
        .unwrap();
    let sensitivity = billiard.sensitivity(&run);
    assert_eq!(sensitivity.class, Regularity::Singular);
    assert_eq!(sensitivity.reason.as_deref(), Some("grazing"));
}
