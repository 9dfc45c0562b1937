//! Scenario `tail-runner`: Table I, Figs. 6 and 7, and Fig. 8.

use super::design::{TailRunners, UNKNOWNS};
use super::drawing;
use super::gaits::{Comparison, Drop, compare};
use super::playback;
use super::robot::{Drive, GRAVITY, LEFT_FOOT, Layout, Lengths, Stance, TAIL, TailRunner};
use super::table::{INITIAL, OPTIMIZED, Row};
use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Input, NonNegative, Positive};
use carom_mechanism::MechanicalSystem;
use carom_mechanism::design::{DesignFamily, PairAngle, RootOptions, min_norm_newton};
use carom_report::record::{Column, Quantity, Record, Table};
use nalgebra::DMatrix;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    lift: Positive,
    duration: Positive,
    time_step: Positive,
    friction: NonNegative,
    cosine: f64,
    layout: Layout,
    drive: Drive,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let family = TailRunners {
        layout: config.layout,
    };

    let equations = family.closed(Some(config.cosine));
    let printed = TailRunners::unknowns_of(OPTIMIZED.lengths, &OPTIMIZED.stance);
    let options = RootOptions::default();
    let root = min_norm_newton(&equations, &printed, &[1.0; UNKNOWNS], &options)?;
    let mut z = [0.0; UNKNOWNS];
    z.copy_from_slice(&root.unknowns);
    let (lengths, stance) = TailRunners::split(&z);
    let robot = TailRunner::passive(lengths, config.layout, GRAVITY)?;
    let straight = robot.straight_stance().ok_or_else(|| {
        ScenarioError::value("layout", "straight legs are longer than the tail reaches")
    })?;
    let gaits = [("optimized", stance), ("straight", straight)];
    table_one(&mut record, &family, lengths, &gaits)?;

    let drop = Drop {
        lift: *config.lift,
        duration: *config.duration,
        time_step: *config.time_step,
        friction: 0.0,
    };
    let mut comparisons = Vec::with_capacity(2);
    for (name, stance) in &gaits {
        let comparison = compare(lengths, config.layout, &config.drive, stance, &drop)?;
        report(&mut record, name, &comparison, &drop);
        let [run, _] = &comparison.runs;
        let played = playback::motion(name, &comparison.robot, run);
        record.animations.push(played);
        comparisons.push(comparison);
    }
    if let [optimized, straight] = comparisons.as_slice() {
        let ratio = straight.median() / optimized.median();
        record.quantities.push(
            Quantity::new("median_ratio", ratio, "")
                .note("the paper says more than five orders of magnitude"),
        );
        series(&mut record, optimized, straight, "")?;
    }
    if *config.friction > 0.0 {
        let drop = Drop {
            friction: *config.friction,
            ..drop
        };
        let with_friction = |(_, stance): &(&str, Stance)| {
            compare(lengths, config.layout, &config.drive, stance, &drop)
        };
        let [optimized, straight] = [with_friction(&gaits[0])?, with_friction(&gaits[1])?];
        report_friction(&mut record, &optimized, &straight)?;
    }
    drawings(&mut record, config.layout, &robot, &gaits)?;
    Ok(record)
}

/// Adds the paper's Table I to a record: the printed rows, and the two gaits of the refined design. `gaits`: name and
/// coordinates of each gait; `lengths`: refined lengths of the robot.
fn table_one(
    record: &mut Record,
    family: &TailRunners,
    lengths: Lengths,
    gaits: &[(&'static str, Stance)],
) -> Result<(), ScenarioError> {
    let columns = "x [cm], y [cm], theta [rad], phi_l [rad], phi_r [rad], gamma_l [rad], gamma_r [rad], \
                   phi_t [rad], r1 [cm], r2 [cm], l_u [cm], l_l [cm], cosine, product [1/g], \
                   tail_height [cm], foot_height [cm], mass [g]";
    let mut table = Table::new(
        "table_1",
        "Table I: the two printed rows with what this model says of them, and the two gaits of the \
         optimized robot after both contacts are closed. Columns as printed.",
        Column::list(columns),
    );
    let rows = [&INITIAL, &OPTIMIZED].map(|row| (row.name, row.stance, row.lengths));
    let ours = gaits.iter().map(|&(name, stance)| (name, stance, lengths));
    for (place, (name, stance, lengths)) in rows.into_iter().chain(ours).enumerate() {
        let point = family.at(&TailRunners::unknowns_of(lengths, &stance))?;
        let angle = PairAngle::new(&point, [TAIL, LEFT_FOOT])?;
        let mut mass = DMatrix::zeros(stance.len(), stance.len());
        point.mechanism.mass_matrix(&stance, &mut mass);
        let [x, y, theta, hip_l, knee_l, hip_r, knee_r, tail] = stance;
        let mut row = vec![x, y, theta, hip_l, hip_r, knee_l, knee_r, tail];
        row.extend(lengths.to_table());
        row.extend([angle.cosine, angle.product, angle.gaps[0], angle.gaps[1]]);
        row.push(mass[(0, 0)]);
        table.rows.push(row);
        if place >= 2 {
            continue;
        }
        let [tail, foot] = angle.gaps;
        let quantity = |what: &str, value, unit: &str| {
            Quantity::new(format!("{name}_printed_row_{what}"), value, unit)
        };
        record.quantities.extend([
            quantity("cosine", angle.cosine, ""),
            quantity("tail_height_cm", tail, "cm"),
            quantity("foot_height_cm", foot, "cm"),
        ]);
    }
    record.tables.push(table);
    Ok(())
}

fn report(record: &mut Record, name: &str, comparison: &Comparison, drop: &Drop) {
    let contacts = |count: usize| Quantity::new(format!("{name}_first_contacts"), count as f64, "");
    record.quantities.extend([
        if name == "optimized" {
            let note = "as sought: the printed row is moved to the nearest design with this cosine";
            Quantity::new("optimized_cosine", comparison.cosine, "").note(note)
        } else {
            Quantity::new(format!("{name}_cosine"), comparison.cosine, "")
        },
        Quantity::new(format!("{name}_first_impact_s"), comparison.first_time, "s")
            .closed_form(drop.fall_time(), "closed form, sqrt(2 h / g)"),
        contacts(comparison.first_contacts.len()).note("tail and left foot together"),
        Quantity::new(
            format!("{name}_first_indeterminacy"),
            comparison.first_indeterminacy,
            "",
        )
        .closed_form(
            comparison.first_predicted,
            "closed form for two impacts, 4 |c| sqrt(bu^2 + bw^2 - 2 c bu bw) / |p|",
        ),
        Quantity::new(
            format!("{name}_median_indeterminacy"),
            comparison.median(),
            "",
        )
        .note("of the grid after the first impact"),
    ]);
    let travel = Quantity::new(format!("{name}_travel_cm"), comparison.travel(), "cm")
        .note("of the anterior ball from the first impact on; the head is towards -x");
    record.quantities.push(travel);
    for (rule, run) in ["most", "least"].iter().zip(&comparison.runs) {
        let impacts = run.end.n_impacts;
        let name = format!("{name}_impacts_{rule}_approaching_first");
        record
            .quantities
            .push(Quantity::new(name, impacts as f64, ""));
    }
}

/// Adds the runs of both gaits with friction of lasting contacts to a record.
fn report_friction(
    record: &mut Record,
    optimized: &Comparison,
    straight: &Comparison,
) -> Result<(), ScenarioError> {
    for (name, comparison) in [("optimized", optimized), ("straight", straight)] {
        let quantity = |what: &str, value: f64, unit: &str| {
            Quantity::new(format!("{name}_friction_{what}"), value, unit)
        };
        let [run, _] = &comparison.runs;
        record.quantities.extend([
            quantity("median_indeterminacy", comparison.median(), ""),
            quantity(
                "impacts_most_approaching_first",
                run.end.n_impacts as f64,
                "",
            ),
            quantity("travel_cm", comparison.travel(), "cm"),
            quantity("loss_erg", comparison.friction_loss(), "erg")
                .note("of lasting contacts to friction"),
            quantity("energy_error_erg", comparison.energy_error, "erg").note(
                "largest change of the energy plus losses less the work of the drive; of order two in \
                 the step",
            ),
        ]);
    }
    let ratio = straight.median() / optimized.median();
    record
        .quantities
        .push(Quantity::new("friction_median_ratio", ratio, ""));
    series(record, optimized, straight, "_friction")
}

/// Draws the indeterminacy of both gaits over time and adds its tables. `ending`: end of the names of figure and tables.
fn series(
    record: &mut Record,
    optimized: &Comparison,
    straight: &Comparison,
    ending: &str,
) -> Result<(), ScenarioError> {
    let with = if ending.is_empty() {
        ""
    } else {
        " with friction"
    };
    let plot = Plot::new("tail-runner/fig8").fill("ending", ending);
    let mut plot = plot.fill("with", with);
    for (name, comparison) in [("optimized", optimized), ("straight", straight)] {
        let mut table = Table::new(
            format!("indeterminacy_{name}{ending}"),
            format!("Fig. 8, {name} gait: distance of two runs from the first impact on."),
            Column::list("time [s], indeterminacy"),
        );
        table.rows = comparison.series.iter().map(|row| row.to_vec()).collect();
        let seen = comparison.series.iter().filter(|[_, xi]| *xi > 0.0);
        plot = plot.through(&format!("{name} gait"), seen.copied());
        record.tables.push(table);
    }
    plot.draw(record)
}

fn drawings(
    record: &mut Record,
    layout: Layout,
    polished: &TailRunner,
    gaits: &[(&'static str, Stance)],
) -> Result<(), ScenarioError> {
    let build = |row: &Row| TailRunner::passive(row.lengths, layout, GRAVITY);
    let [initial, optimized] = [build(&INITIAL)?, build(&OPTIMIZED)?];

    let mut plot = Plot::new("tail-runner/fig6");
    plot.mark(drawing::floor(-15.0, 30.0));
    drawing::robot(&mut plot.figure, &initial, &INITIAL.stance, 0.0, "");
    drawing::schematic(&mut plot.figure, &initial, &INITIAL.stance);
    plot.draw(record)?;

    let mut plot = Plot::new("tail-runner/fig7");
    plot.mark(drawing::floor(-15.0, 80.0));
    drawing::robot(
        &mut plot.figure,
        &optimized,
        &OPTIMIZED.stance,
        0.0,
        "optimized",
    );
    drawing::robot(&mut plot.figure, &initial, &INITIAL.stance, 50.0, "initial");
    plot.draw(record)?;

    let mut plot = Plot::new("tail-runner/gaits");
    plot.mark(drawing::floor(-15.0, 90.0));
    for ((name, stance), shift) in gaits.iter().zip([0.0, 55.0]) {
        drawing::robot(&mut plot.figure, polished, stance, shift, name);
    }
    plot.draw(record)?;
    Ok(())
}
