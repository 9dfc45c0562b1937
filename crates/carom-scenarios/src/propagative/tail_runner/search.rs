//! Scenario `tail-runner-design`: search from the initial design of Table I to orthogonal normals.

use super::design::{TailRunners, UNKNOWN_NAMES, UNKNOWNS};
use super::robot::{Layout, TailRunner};
use super::table::{INITIAL, OPTIMIZED};
use super::{drawing, robot};
use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Count, Input, Positive};
use crate::published::printed;
use carom_mechanism::DesignError;
use carom_mechanism::design::{
    DesignFamily, PairAngle, Root, RootOptions, min_norm_newton, nearest_root,
};
use carom_report::record::{Column, Quantity, Record, Table};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    cosine: f64,
    length_scale: Positive,
    perturbed_starts: Count<0, 10_000>,
    angle_perturbation: f64,
    length_perturbation: f64,
    layout: Layout,
}

/// Result of a search.
struct Found {
    root: Root,
    angle: PairAngle,
}

impl Config {
    fn scales(&self) -> [f64; UNKNOWNS] {
        UNKNOWN_NAMES.map(|(_, unit)| {
            if unit == "cm" {
                *self.length_scale
            } else {
                1.0
            }
        })
    }

    fn perturbation(&self) -> [f64; UNKNOWNS] {
        UNKNOWN_NAMES.map(|(_, unit)| match unit {
            "cm" => self.length_perturbation,
            _ => self.angle_perturbation,
        })
    }
}

/// Solves for a posture in which the tail and the left foot touch the floor. Starts from the unknowns `start` and changes only
/// the coordinates y and θ.
pub(super) fn close(family: &TailRunners, start: &[f64; UNKNOWNS]) -> Result<Root, DesignError> {
    let mut scales = [0.0; UNKNOWNS];
    scales[0] = 1.0;
    scales[1] = 1.0;
    min_norm_newton(
        &family.closed(None),
        start,
        &scales,
        &RootOptions::default(),
    )
}

/// Returns the point with the number `index` of a sequence that fills the unit cube evenly. The coordinates of the point are
/// multiples of powers of $1/x$ modulo one, where $x$ is the positive root of $x^{12} = x + 1$.
fn spread(index: usize) -> [f64; UNKNOWNS] {
    let base = (0..64).fold(1.0f64, |x, _| {
        libm::pow(1.0 + x, 1.0 / (UNKNOWNS + 1) as f64)
    });
    let mut power = 1.0;
    std::array::from_fn(|_| {
        power /= base;
        ((index + 1) as f64 * power).fract()
    })
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    if config.cosine.abs() >= 1.0 {
        return Err(ScenarioError::value("cosine", "must lie between -1 and 1"));
    }
    for (key, value) in [
        ("angle_perturbation", config.angle_perturbation),
        ("length_perturbation", config.length_perturbation),
    ] {
        if !(value >= 0.0 && value.is_finite()) {
            return Err(ScenarioError::value(key, "must not be negative"));
        }
    }
    let family = TailRunners {
        layout: config.layout,
    };
    let equations = family.closed(Some(config.cosine));
    let (scales, options) = (config.scales(), RootOptions::default());
    let angle = |z: &[f64]| PairAngle::new(&family.at(z)?, equations.contacts);
    let found = |root: Root| -> Result<Found, DesignError> {
        let angle = angle(&root.unknowns)?;
        Ok(Found { root, angle })
    };

    let printed = TailRunners::unknowns_of(INITIAL.lengths, &INITIAL.stance);
    let start = found(close(&family, &printed)?)?;
    let newton = found(min_norm_newton(
        &equations,
        &start.root.unknowns,
        &scales,
        &options,
    )?)?;
    let nearest = found(nearest_root(
        &equations,
        &start.root.unknowns,
        &scales,
        &options,
    )?)?;
    report(&mut record, &start, &newton, &nearest)?;

    let mut starts = Table::new(
        "perturbed_starts",
        "Searches from perturbed starts: 1 and 0 say whether they ended at a root, distances are \
         from the perturbed start.",
        Column::list(
            "cosine_at_start, newton_converged, newton_steps, newton_distance, nearest_converged, nearest_steps, nearest_distance",
        ),
    );
    let reach = config.perturbation();
    let mut worst: f64 = 0.0;
    for index in 0..*config.perturbed_starts {
        let mut z = [0.0; UNKNOWNS];
        let origin = start.root.unknowns.iter().zip(reach);
        for ((z, share), (origin, reach)) in z.iter_mut().zip(spread(index)).zip(origin) {
            *z = origin + (2.0 * share - 1.0) * reach;
        }
        // An initial point outside the bounds counts as a search that did not converge.
        let mut row = vec![angle(&z).map_or(0.0, |angle| angle.cosine)];
        for root in [
            min_norm_newton(&equations, &z, &scales, &options),
            nearest_root(&equations, &z, &scales, &options),
        ] {
            match root.and_then(&found) {
                Ok(Found { root, angle }) => {
                    worst = worst.max((angle.cosine - config.cosine).abs());
                    row.extend([1.0, root.iterations as f64, root.distance]);
                }
                Err(_) => row.extend([0.0; 3]),
            }
        }
        starts.rows.push(row);
    }
    let converged = |column: usize| starts.rows.iter().map(|row| row[column]).sum::<f64>();
    record.quantities.extend([
        Quantity::new("perturbed_starts", *config.perturbed_starts as f64, ""),
        Quantity::new("perturbed_newton_converged", converged(1), ""),
        Quantity::new("perturbed_nearest_converged", converged(4), ""),
        Quantity::new("perturbed_largest_cosine_error", worst, ""),
    ]);
    distances(&starts).draw(&mut record)?;
    record.tables.push(starts);
    stances(&family, [&start, &newton, &nearest])?.draw(&mut record)?;
    Ok(record)
}

fn report(
    record: &mut Record,
    start: &Found,
    newton: &Found,
    nearest: &Found,
) -> Result<(), ScenarioError> {
    let cosine = |row: &str| printed("tail-runner", &format!("{row}_printed_row_cosine"));
    let prints = format!(
        "the paper prints {} at its start and {} at its optimum",
        cosine("initial")?,
        cosine("optimized")?
    );
    record.quantities.extend([
        Quantity::new("start_y_cm", start.root.unknowns[0], "cm"),
        Quantity::new("start_theta_rad", start.root.unknowns[1], "rad"),
        Quantity::new("start_cosine", start.angle.cosine, "").note(prints),
    ]);
    for (name, found) in [("newton", newton), ("nearest", nearest)] {
        let Found { root, angle } = found;
        let gap = angle.gaps.iter().fold(0.0f64, |m, gap| m.max(gap.abs()));
        record.quantities.extend([
            Quantity::new(format!("{name}_steps"), root.iterations as f64, ""),
            Quantity::new(format!("{name}_distance"), root.distance, "")
                .note("root of the sum of squares, cm and rad"),
            Quantity::new(format!("{name}_cosine"), angle.cosine, ""),
            Quantity::new(format!("{name}_product_per_g"), angle.product, "1/g")
                .note("of the gap gradients as they are"),
            Quantity::new(format!("{name}_largest_gap_cm"), gap, "cm"),
        ]);
    }
    let [initial, optimized] =
        [&INITIAL, &OPTIMIZED].map(|row| TailRunners::unknowns_of(row.lengths, &row.stance));
    let mut table = Table::new(
        "designs",
        "Table I: the start with both contacts closed, the two designs found from it, the rows that \
         the paper prints, and the gradient of the cosine at the start (per cm or rad).",
        Column::list(
            "start [cm or rad], newton [cm or rad], nearest [cm or rad], \
             paper_initial [cm or rad], paper_optimized [cm or rad], \
             cosine_gradient [1/cm or 1/rad]",
        ),
    );
    for (i, (initial, optimized)) in initial.into_iter().zip(optimized).enumerate() {
        table.rows.push(vec![
            start.root.unknowns[i],
            newton.root.unknowns[i],
            nearest.root.unknowns[i],
            initial,
            optimized,
            start.angle.cosine_gradient[i],
        ]);
    }
    record.tables.push(table);
    for (i, (name, unit)) in UNKNOWN_NAMES.iter().enumerate() {
        for (design, found) in [("newton", newton), ("nearest", nearest)] {
            record.quantities.push(Quantity::new(
                format!("{design}_{name}_{unit}"),
                found.root.unknowns[i],
                *unit,
            ));
        }
    }
    Ok(())
}

fn distances(starts: &Table) -> Plot {
    let mut plot = Plot::new("tail-runner-design/distances");
    for (name, column) in [("minimum-norm Newton", 1), ("nearest root", 4)] {
        let found = starts.rows.iter().filter(|row| row[column] == 1.0);
        plot = plot.through(name, found.map(|row| [row[0], row[column + 2]]));
    }
    plot
}

fn stances(family: &TailRunners, designs: [&Found; 3]) -> Result<Plot, ScenarioError> {
    let mut plot = Plot::new("tail-runner-design/stances");
    let spacing = 50.0;
    plot.mark(drawing::floor(-15.0, 2.0 * spacing + 35.0));
    let labels = ["start", "minimum-norm Newton", "nearest root"];
    for ((found, label), place) in designs.into_iter().zip(labels).zip(0..) {
        let mut z = [0.0; UNKNOWNS];
        z.copy_from_slice(&found.root.unknowns);
        let (lengths, stance) = TailRunners::split(&z);
        let robot = TailRunner::passive(lengths, family.layout, robot::GRAVITY)?;
        let shift = spacing * f64::from(place);
        drawing::robot(&mut plot.figure, &robot, &stance, shift, label);
    }
    Ok(plot)
}
