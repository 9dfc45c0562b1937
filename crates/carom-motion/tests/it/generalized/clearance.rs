//! A slider-crank whose slider has clearance in its guide: four corners that open, close and last within a step.

use carom_contact::ImpactLaw;
use carom_impact::Propagative;
use carom_impact::frictional::{MoreauNewton, SetValued};
use carom_mechanism::planar::{Inertia, Line, LineContact, Link, PlanarBuilder, PlanarMechanism};
use carom_motion::generalized::{CollisionIntegrator, RunEnd, State};
use carom_motion::hybrid::Ending;
use carom_variational::TimeGrid;

const CRANK: f64 = 0.153;
const ROD: f64 = 0.306;

/// Flores, Leine & Glocker, Multibody Syst. Dyn. 23 (2010) 165: crank, rod and slider, with 1 mm on both sides.
fn slider_crank(friction: f64, restitution: f64) -> PlanarMechanism {
    let mut builder = PlanarBuilder::new([0.0, -9.81]);
    let crank = builder.hinge(Link::GROUND, [0.0, 0.0], 0.0);
    let rod = builder.hinge(crank, [CRANK, 0.0], 0.0);
    let slider = builder.hinge(rod, [ROD, 0.0], 0.0);
    builder.body(crank, Inertia::new(0.038, [0.5 * CRANK, 0.0], 7.4e-5));
    builder.body(rod, Inertia::new(0.038, [0.5 * ROD, 0.0], 5.9e-4));
    builder.body(slider, Inertia::new(0.076, [0.0, 0.0], 2.7e-6));
    for (x, side) in [(-0.05, 1.0), (0.05, 1.0), (0.05, -1.0), (-0.05, -1.0)] {
        let guide = Line::new([0.0, -0.026 * side], [0.0, side]).unwrap();
        let mut corner = LineContact::point("corner", [x, -0.025 * side], guide);
        (corner.friction, corner.restitution) = (friction, restitution);
        builder.contact(slider, corner);
    }
    builder.build().unwrap()
}

fn start(system: &PlanarMechanism, rate: f64) -> State {
    let law = Propagative::default();
    let integrator = CollisionIntegrator::new(system, &law).unwrap();
    let velocity = [rate, -(1.0 + CRANK / ROD) * rate, CRANK / ROD * rate];
    integrator.state(0.0, &[0.0; 3], &velocity).unwrap()
}

fn run(system: &PlanarMechanism, law: &dyn ImpactLaw, rate: f64, step: f64) -> (RunEnd, f64) {
    let integrator = CollisionIntegrator::new(system, law).unwrap();
    let initial = start(system, rate);
    let grid = TimeGrid::duration(step, 0.08).unwrap();
    let end = integrator.run(&initial, &grid, None, &mut |_| ()).unwrap();
    let energy = |state: &State| {
        let (kinetic, potential) = integrator.energies(state).unwrap();
        kinetic + potential
    };
    let lost = end.balance.impact_loss + end.balance.contact_loss;
    let error = energy(&end.state) + lost - energy(&initial);
    (end, error)
}

/// A contact that pulls on the average of a step but is pressed on at its start opens within the step: it is
/// neither released and closed again for ever, nor hit by impacts that change nothing.
#[test]
fn a_slider_with_clearance_keeps_moving() {
    let (moreau, drawn) = (MoreauNewton::default(), SetValued::default());
    let laws: [&dyn ImpactLaw; 2] = [&moreau, &drawn];
    for (friction, restitution) in [(0.01, 0.9), (0.0, 0.9), (0.1, 0.5)] {
        let system = slider_crank(friction, restitution);
        for law in laws {
            for (rate, step) in [(150.0, 1e-4), (-150.0, 3e-4), (150.0, 5e-4), (0.01, 1e-4)] {
                let (end, error) = run(&system, law, rate, step);
                assert_eq!(end.ending, Ending::Completed, "{rate} {step}");
                assert!(end.n_impacts <= 100 && end.n_impacts >= 1);
                // The error is of second order: the crank turns by `rate * step` in a step.
                let scale = 7.5 * (rate * step).powi(2) + 1e-7;
                assert!(error.abs() <= 2.0 * scale, "{error:e}");
            }
        }
    }
}

/// Energy is taken by friction and impacts alone: contacts that last without friction take nothing.
#[test]
fn lasting_contacts_without_friction_take_nothing() {
    let system = slider_crank(0.0, 0.0);
    for step in [1e-4, 1e-3] {
        let (end, _) = run(&system, &MoreauNewton::default(), 150.0, step);
        assert_eq!(end.ending, Ending::Completed);
        assert!(end.balance.contact_loss.abs() <= 0.0 && end.balance.impact_loss > 0.0);
    }
}
