//! A rolling penny bounces off an elliptic wall: `cargo run --example penny_billiard`.

use carom::motion::hybrid::Limits;

use carom::impact::Restitution;
use carom::motion::billiard::penny::{PennyBilliard, PennyState, RollingPenny};
use carom::motion::billiard::{BilliardError, Ellipse};

/// Clark & Bloch's penny rolls without slipping, and stays so at every impact.
pub fn main() -> Result<(), BilliardError> {
    let penny = RollingPenny::thin_disk(0.01, 0.0025)?;
    let table = Ellipse::new(0.15, 0.20)?;
    let start = PennyState {
        phi: std::f64::consts::FRAC_PI_2,
        theta_dot: 10.0,
        phi_dot: 0.2,
        ..PennyState::default()
    };
    for restitution in [Restitution::Elastic, Restitution::Projected] {
        let billiard = PennyBilliard::new(penny, table, restitution)?;
        let run = billiard.run(start, Limits::impacts(8))?;
        println!("{}:", restitution.law_name());
        for event in &run.events {
            println!(
                "  {:8.4} s, {} rim at ({:.4}, {:.4}) m, {:.2e} J",
                event.time,
                event.rim.name(),
                event.point.x,
                event.point.y,
                event.energy_change_j,
            );
        }
        let (before, after) = (
            penny.energy(&run.start),
            penny.energy(&run.final_state(&penny)),
        );
        println!("  energy {before:.4e} J became {after:.4e} J");
    }
    Ok(())
}
