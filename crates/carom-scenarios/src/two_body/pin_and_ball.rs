//! A bowling pin and a ball: Jia & Wang, Fig. 11.

use crate::scenario::{Configuration, begin};
use crate::two_body::sliding::{
    LawName, PIN_BALL, PIN_VELOCITY, Setup, energy_figure, hodograph_figure, impulse_figure,
    quantities, slide, trace_table,
};
use crate::{Overrides, Scenario, ScenarioError};
use carom_report::record::Record;
use serde::{Deserialize, Serialize};

pub(crate) const SCENARIO: Scenario = Scenario::new::<Config>(
    "pin-and-ball",
    "a bowling ball hits a pin: sliding stops early and the contact sticks",
    "Jia & Wang",
    "Fig. 11, section 6.4",
    run,
);

#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    inverse_inertia: [[f64; 3]; 3],
    velocity: [f64; 3],
    friction: f64,
    restitution: f64,
    restitution_law: LawName,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            inverse_inertia: PIN_BALL,
            velocity: PIN_VELOCITY,
            friction: 0.7,
            restitution: 0.7,
            restitution_law: LawName::default(),
        }
    }
}

impl Configuration for Config {
    const TOML: &'static str = "\
inverse_inertia = [              # 1/kg; tangents x and y, then the normal
    [1.55465, 0.00238676, -0.360808],
    [0.00238676, 5.15191, -0.00313296],
    [-0.360808, -0.00313296, 1.105],
]
velocity = [-0.206913, 0.117655, -1.506903]   # m/s, of the contact; the third closes if negative
friction = 0.7
restitution = 0.7
restitution_law = \"energetic\"    # or \"poisson\", \"newton\"
";
}

fn run(overrides: &Overrides) -> Result<Record, ScenarioError> {
    let (config, mut record) = begin::<Config>(overrides)?;
    let mut setup = Setup::new(
        &config.inverse_inertia,
        config.velocity,
        config.friction,
        config.restitution,
    )?;
    setup.law = config.restitution_law;
    let trace = setup.trace()?;
    record.quantities = quantities(&setup, &trace);
    record.figures.extend([
        hodograph_figure(
            "hodograph",
            "Hodograph of the pin and the ball",
            "Sliding runs almost straight along an attracting direction into the origin.",
            &setup,
            &trace,
        ),
        impulse_figure("impulse", "Impulse curve", &setup, &trace),
        energy_figure("energy", "Energy stored at the contact", &trace),
    ]);
    record.animations.push(slide(&setup, &trace));
    record.tables.push(trace_table(&trace));
    Ok(record)
}
