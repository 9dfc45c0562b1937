//! A bowling pin and a ball: Jia & Wang, Fig. 11.

use crate::ScenarioError;
use crate::config::Input;
use crate::two_body::sliding::{
    Config, energy_figure, hodograph_figure, impulse_figure, quantities, slide, trace_table,
};
use carom_report::record::Record;

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let setup = config.setup()?;
    let trace = setup.trace()?;
    record.quantities = quantities(&setup, &trace);
    let texts = [
        "hodograph",
        "Hodograph of the pin and the ball",
        "Sliding runs almost straight along an attracting direction into the origin.",
    ];
    for plot in [
        hodograph_figure(texts, &setup, &trace),
        impulse_figure("impulse", "Impulse curve", &setup, &trace),
        energy_figure("energy", "Energy stored at the contact", &trace),
    ] {
        plot.draw(&mut record)?;
    }
    record.animations.push(slide(&setup, &trace));
    record.tables.push(trace_table(&trace));
    Ok(record)
}
