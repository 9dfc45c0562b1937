//! Successive reflections of a momentum: Seghete & Murphey, Fig. 3.

use crate::ScenarioError;
use crate::common::linspace;
use crate::common::plot::Plot;
use crate::config::Input;
use crate::propagative::model::{System, diagnostics, propagative, wedge_normals};
use carom_report::record::{Color, Column, Mark, Quantity, Record, Table};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    half_angle: f64,
    direction: f64,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let gamma = config.half_angle;
    if !(gamma > 1e-3 && gamma < std::f64::consts::FRAC_PI_2) {
        return Err(ScenarioError::value(
            "half_angle",
            format!("{gamma} must lie in (1e-3, pi/2)"),
        ));
    }
    let normals = wedge_normals(gamma);
    let system = System::diagonal(&[1.0, 1.0], normals.to_vec())?;
    let theta = std::f64::consts::PI + config.direction * gamma;
    let start = [libm::cos(theta), libm::sin(theta)];
    let set = system.resolve_all(&start, &propagative(1.0)?)?;

    let rim = linspace(-gamma, gamma, 41);
    let rim = rim.iter().map(|a| [libm::cos(*a), libm::sin(*a)]);
    let corners = std::iter::once([0.0; 2]).chain(rim);
    let mut plot = Plot::new("reflection-wedge/fig3_wedge").through("feasible", corners);
    let arrow = |to: [f64; 2], color, label: &str| Mark::Arrow {
        from: [0.0, 0.0],
        to,
        color,
        label: Some(label.to_owned()),
    };
    plot.mark(arrow(start, Color::Black, "p-"));
    let mut table = Table::new(
        "images",
        "Momentum after each impact, by the order that leads to each outcome.",
        Column::list("outcome, impact, contact, p_r, p_e"),
    );
    for (k, outcome) in set.outcomes.iter().enumerate() {
        let color = [Color::Blue, Color::Vermillion][k % 2];
        let mut p = start;
        let mut path = vec![p];
        for (step, contact) in diagnostics(outcome)
            .sequence
            .unwrap_or_default()
            .into_iter()
            .enumerate()
        {
            let u = &normals[contact].0;
            let b = p[0] * u[0] + p[1] * u[1];
            p = [p[0] - 2.0 * b * u[0], p[1] - 2.0 * b * u[1]];
            path.push(p);
            table.rows.push(vec![
                k as f64,
                (step + 1) as f64,
                contact as f64,
                p[0],
                p[1],
            ]);
        }
        let label = format!("outcome {}, {} impacts", k + 1, path.len() - 1);
        plot.numbered("outcome", k, &label, path.iter().copied());
        plot.mark(arrow(p, color, &format!("p+ {}", k + 1)));
        record.quantities.push(Quantity::new(
            format!("impacts_{}", k + 1),
            (path.len() - 1) as f64,
            "",
        ));
    }
    let sharp = (std::f64::consts::FRAC_PI_2 / gamma).ceil();
    record.quantities.extend([
        Quantity::new("cosine", system.cosine()?, "")
            .closed_form(-libm::cos(2.0 * gamma), "c = -cos 2 gamma"),
        Quantity::new("sharp_bound", sharp, "")
            .note("ceil(pi / 2 gamma); the paper proves ceil(pi / gamma)"),
        Quantity::new("indeterminacy", set.indeterminacy, ""),
    ]);
    record.tables.push(table);
    plot.draw(&mut record)?;
    Ok(record)
}
