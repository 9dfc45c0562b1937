//! Report shared by the scenarios of simultaneous impact.

use super::lipschitz::StepLipschitz;
use super::playback::playback;
use super::system::FrictionalSystem;
use crate::common::plot::Plot;
use crate::config::{Count, Positive};
use crate::extremes::extremes;
use crate::{Progress, ScenarioError};
use carom_contact::{Diagnostics, ImpactError, ImpactLaw, ImpactProblem};
use carom_impact::frictional::{
    BranchPolicy, CapDistribution, SampleSummary, Sampler, Sequential, SetValued,
    TerminationBounds, all_simultaneous, summarize,
};
use carom_impact::internal::Draw;
use carom_report::record::{Column, Quantity, Record, Table};
use std::num::NonZeroU64;

/// Number of samples whose paths are drawn.
const DRAWN_PATHS: u64 = 400;

/// Largest number of outcomes drawn.
const DRAWN_OUTCOMES: usize = 1500;

/// Spread of the random covering vectors of Lemke's method in the search.
const SPREAD: f64 = 6.0;

/// Probability that a step of the search sets the cap of a contact to zero.
const OFF: f64 = 0.25;

/// Radius (N s) and failure probability for which the net of Lemma 1 is reported.
const NET: f64 = 0.05;

/// Options of the samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampling {
    impulse_step: f64,
    samples: u64,
    seed: u64,
    max_steps: usize,
}

impl Sampling {
    pub(super) fn new(
        impulse_step: Positive,
        samples: NonZeroU64,
        seed: u64,
        max_steps: Count<1, 100_000>,
    ) -> Self {
        Self {
            impulse_step: *impulse_step,
            samples: samples.get(),
            seed,
            max_steps: *max_steps,
        }
    }

    /// Returns the set-valued law of the paper. The upper bound on the impulse of each contact in a step is drawn from a
    /// uniform distribution. If a step has several solutions, the one that Lemke's method finds is taken.
    fn plain(&self) -> SetValued {
        SetValued::default()
            .with_impulse_step(Some(self.impulse_step))
            .with_samples(self.samples)
            .with_seed(self.seed)
            .with_max_steps(self.max_steps)
            .with_max_work(u64::MAX)
    }

    /// Returns the set-valued law for the evolutionary search of extreme outcomes. If a step has several solutions, a random
    /// covering vector of Lemke's method selects one of them.
    fn breeding(&self) -> SetValued {
        self.plain()
            .with_max_steps(10 * self.max_steps)
            .with_branch(BranchPolicy::RandomCovering { spread: SPREAD })
    }

    /// Returns the set-valued law for the random search of extreme outcomes. The upper bound on the impulse of a contact in a
    /// step is randomly set to zero in some steps. A step takes any of its solutions. With up to two contacts all solutions of
    /// a step are enumerated, which takes longer. `contacts`: number of contacts.
    fn search(&self, contacts: usize) -> SetValued {
        let is_small = contacts <= 2;
        self.plain()
            .with_max_steps(10 * self.max_steps)
            .with_samples(if is_small {
                self.samples.div_ceil(4)
            } else {
                self.samples
            })
            .with_branch(if is_small {
                BranchPolicy::Enumerate
            } else {
                BranchPolicy::RandomCovering { spread: SPREAD }
            })
            .with_caps(CapDistribution::Mixed { off: OFF })
    }
}

/// Adds the outcomes of a set-valued impact to a record. Returns the summary of the paper's samples. `planes`: figures to draw,
/// each with two contact rows (normal or tangential directions) as its axes.
pub(super) fn report(
    record: &mut Record,
    system: &FrictionalSystem,
    sampling: &Sampling,
    planes: &[(&str, [usize; 2])],
    progress: &Progress,
) -> Result<SampleSummary, ScenarioError> {
    let names = system.row_names();
    let columns = |first: &str| -> Vec<Column> {
        let rows = names.iter().map(|name| Column::new(name.clone(), "m/s"));
        Column::list(first).into_iter().chain(rows).collect()
    };
    let before = system.contact_velocity(&system.velocity);
    let mut simultaneous = Vec::new();
    let mut sequential = Vec::new();
    let problem = &system.problem()?;
    let mut table = Table::new(
        "simultaneous",
        "Every outcome if all contacts act at once (Anitescu and Potra), with the mode of each contact: 0 \
         lift, 1 stick, 2 slide.",
        columns("energy_change [J]"),
    );
    let modes = system.contacts.iter();
    let modes = modes.map(|c| Column::new(format!("mode_{}", c.name), ""));
    table.columns.splice(0..0, modes);
    // Velocities below this are rounding of a closed contact.
    let rest = 1e-9 * before.iter().fold(0.0, |m, v| f64::max(m, v.abs()));
    for solution in all_simultaneous(problem)? {
        let outcome = &solution.outcome;
        let rows = system.contact_velocity(outcome.velocity_plus.0.as_slice());
        let (names, mut row): (Vec<&str>, Vec<f64>) =
            rows.chunks(2).map(|contact| mode(contact, rest)).unzip();
        row.push(outcome.audit.energy_change_j());
        row.extend(&rows);
        table.push_named("modes", names.join(", "), row);
        simultaneous.push(rows);
    }
    record.quantities.push(Quantity::new(
        "simultaneous_outcomes",
        simultaneous.len() as f64,
        "",
    ));
    record.tables.push(table);

    let mut table = Table::new(
        "sequential",
        "One contact at a time, each first in turn.",
        columns("first_contact, impacts, energy_change [J]"),
    );
    for first in 0..system.contacts.len() {
        let law = Sequential::default().with_order(vec![first]);
        let outcome = law.resolve(problem)?;
        let impacts = match &outcome.diagnostics {
            Diagnostics::Sequential { sequence, .. } => sequence.len(),
            _ => 0,
        };
        let rows = system.contact_velocity(outcome.velocity_plus.0.as_slice());
        let energy = outcome.audit.energy_change_j();
        let mut row = vec![(first + 1) as f64, impacts as f64, energy];
        row.extend(&rows);
        table.rows.push(row);
        sequential.push(rows);
    }
    record.tables.push(table);

    bounds(record, problem, sampling)?;
    stretch(record, problem, sampling)?;
    let plain = Sampler::new(problem, &sampling.plain())?;
    let plain_summary = summarize(&plain, &progress.samples())?;
    let search = Sampler::new(problem, &sampling.search(system.contacts.len()))?;
    let search_summary = summarize(&search, &progress.samples())?;
    quantities(record, &plain_summary, &search_summary);
    let breeding = Sampler::new(problem, &sampling.breeding())?;
    let bred = extremes(&breeding, progress)?;
    extents(
        record,
        &names,
        [&plain_summary.hull, &search_summary.hull, &bred],
        plain.speed(),
    );
    let path_rows = paths(&search)?;
    for (path, rows) in planes {
        let sets = [
            &path_rows,
            &search_summary.velocities[..search_summary.velocities.len().min(DRAWN_OUTCOMES)],
            std::slice::from_ref(&before),
            &simultaneous,
            &sequential,
        ];
        figure(path, *rows, &names, sets).draw(record)?;
    }
    if let Some((_, rows)) = planes.first() {
        playback(record, system, &simultaneous, *rows)?;
    }
    Ok(plain_summary)
}

/// Returns the mode of a planar contact after an impact, in words and as a number of the table. `velocity`: its normal and
/// tangential velocity (m/s); `rest`: largest velocity that counts as zero (m/s).
fn mode(velocity: &[f64], rest: f64) -> (&'static str, f64) {
    match *velocity {
        [normal, _] if normal > rest => ("lift", 0.0),
        [_, tangential] if tangential.abs() <= rest => ("stick", 1.0),
        _ => ("slide", 2.0),
    }
}

/// Adds bounds on the duration of the impact to a record. If the friction cone is not pointed, contacts can push against each
/// other without limit. There are then no bounds, which is not an error.
fn bounds(
    record: &mut Record,
    problem: &ImpactProblem,
    sampling: &Sampling,
) -> Result<(), ScenarioError> {
    let bounds = match TerminationBounds::new(problem, sampling.impulse_step, None) {
        Ok(bounds) => bounds,
        Err(ImpactError::NotPointed) => {
            record.quantities.push(
                Quantity::new("pointedness", 0.0, "1/sqrt(kg)")
                    .note("contacts can push against each other: nothing bounds the impact"),
            );
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    record.quantities.extend([
        Quantity::new("pointedness", bounds.pointedness, "1/sqrt(kg)")
            .note("least admissible force of unit normal size; positive: every impact ends"),
        Quantity::new(
            "inclusion_impulse_bound_n_s",
            bounds.inclusion_impulse,
            "N s",
        )
        .note("no impact takes more normal impulse"),
        Quantity::new("theorem_8_c", bounds.euclidean_c, ""),
        Quantity::new("theorem_8_c_kinetic", bounds.kinetic_c, "")
            .note("the same with kinetic norms throughout"),
        Quantity::new("psi", bounds.psi, "").note("sets the closing step of Algorithm 2"),
    ]);
    Ok(())
}

/// Adds the Lipschitz constant of an impulse step to a record: the largest factor by which a step can increase the distance of
/// two velocities. Also adds the number of samples that Lemma 1 requires with this constant. Adds nothing if the computation
/// would need too many cases.
fn stretch(
    record: &mut Record,
    problem: &ImpactProblem,
    sampling: &Sampling,
) -> Result<(), ScenarioError> {
    let Some(step) = StepLipschitz::new(problem.contacts())? else {
        return Ok(());
    };
    record.quantities.extend([
        Quantity::new("step_cones", step.cones as f64, "")
            .note("cones on which a step is linear in velocity and caps"),
        Quantity::new("step_lipschitz", step.constant, "").note(if step.is_multivalued {
            "of every solution by itself: steps have several, so Lemma 1 does not apply"
        } else {
            "exact Lipschitz constant of a step, in the coordinates as given"
        }),
    ]);
    let samples = step.log10_samples(sampling.max_steps, sampling.impulse_step, NET, NET);
    record.quantities.push(
        Quantity::new("log10_samples_for_a_net", samples, "")
            .note("Eq. (171) at radius and failure probability 0.05, if steps had one solution"),
    );
    Ok(())
}

fn quantities(record: &mut Record, plain: &SampleSummary, search: &SampleSummary) {
    let rate = |count: u64, of: u64| {
        if of > 0 {
            count as f64 / of as f64
        } else {
            0.0
        }
    };
    record.quantities.extend([
        Quantity::new("lcp_per_sample", plain.lcp_per_sample, ""),
        Quantity::new("pivots_per_sample", plain.pivots_per_sample, ""),
        Quantity::new("terminated", rate(plain.terminated, plain.samples), "")
            .note("fraction of the samples"),
        Quantity::new("at_rest", rate(plain.at_rest, plain.terminated), "")
            .note("fraction of the samples that end with all contacts at rest"),
        Quantity::new("search_lcp_per_sample", search.lcp_per_sample, ""),
        Quantity::new(
            "search_terminated",
            rate(search.terminated, search.samples),
            "",
        ),
    ]);
    for (prefix, summary) in [("", plain), ("search_", search)] {
        if let Some(coverage) = &summary.coverage {
            record.quantities.extend([
                Quantity::new(format!("{prefix}new_cell_rate"), coverage.new_cell_rate, "")
                    .note("second half of the samples in cells that the first half has not met"),
                Quantity::new(
                    format!("{prefix}split_half_distance"),
                    coverage.split_half_distance,
                    "",
                )
                .note("Hausdorff distance of two parts of the sample over the largest extent"),
            ]);
        }
    }
    let mut table = Table::new(
        "steps",
        "Fraction of the samples by complementarity problems solved.",
        Column::list("steps, fraction"),
    );
    for (steps, count) in plain.histogram.iter().enumerate() {
        table
            .rows
            .push(vec![steps as f64, rate(*count, plain.samples)]);
    }
    record.tables.push(table);
}

/// Adds a table to a record: the smallest and the largest outcome velocity along each contact row (normal or tangential
/// direction of a contact). `names`: names of the rows; `hulls`: extremes of the paper's samples, of the random search, and of
/// the evolutionary search (m/s); `speed`: velocity scale (m/s).
fn extents(record: &mut Record, names: &[String], hulls: [&[[f64; 2]]; 3], speed: f64) {
    // The velocity of a closed contact is a rounding error and counts as zero.
    let snap = |v: f64| if v.abs() <= 1e-9 * speed { 0.0 } else { v };
    let columns = [
        "row",
        "least",
        "most",
        "search_least",
        "search_most",
        "bred_least",
        "bred_most",
    ];
    let mut table = Table::new(
        "extents",
        "Least and largest velocity of each contact row (in the order of the other tables) after \
         the impact: as sampled in the paper, by the search, and by evolution towards each of \
         them. All are met by outcomes of the set; none is proven extreme.",
        columns
            .map(|name| Column::new(name, if name == "row" { "" } else { "m/s" }))
            .to_vec(),
    );
    let [plain, search, bred] = hulls;
    let rows = plain.iter().zip(search).zip(bred);
    for (i, (name, ((plain, search), bred))) in names.iter().zip(rows).enumerate() {
        let extents = [plain, search, bred].map(|extent| extent.map(snap));
        let mut row = vec![(i + 1) as f64];
        row.extend(extents.as_flattened());
        table.rows.push(row);
        let least = extents.iter().map(|e| e[0]).fold(f64::INFINITY, f64::min);
        let most = extents
            .iter()
            .map(|e| e[1])
            .fold(f64::NEG_INFINITY, f64::max);
        record.quantities.extend([
            Quantity::new(format!("{name}_least_m_per_s"), least, "m/s"),
            Quantity::new(format!("{name}_most_m_per_s"), most, "m/s"),
        ]);
    }
    record.tables.push(table);
}

/// Returns the velocities along the contact rows (normal and tangential directions of the contacts) after each impulse step of
/// the first samples. The last step of a sample is left out.
fn paths(sampler: &Sampler<'_>) -> Result<Vec<Vec<f64>>, ScenarioError> {
    let mut met = Vec::new();
    let mut draw = Draw::default();
    let mut rows = Vec::new();
    for sample in 0..DRAWN_PATHS.min(sampler.options().samples) {
        sampler.draw_observed(sample, &mut draw, |draw| {
            if draw.steps > 0 && !draw.is_ended {
                sampler.contact_velocity(draw, &mut rows);
                met.push(rows.clone());
            }
        })?;
    }
    Ok(met)
}

/// Draws velocities on two contact rows. `sets`: contact velocities during the impact, after it, before it, of the outcomes if all
/// contacts act at once, and one after the other.
fn figure(path: &str, [x, y]: [usize; 2], names: &[String], sets: [&[Vec<f64>]; 5]) -> Plot {
    let axis = |row: usize| {
        let name = names.get(row).map_or("", String::as_str);
        let kind = if name.starts_with("vn") {
            "normal"
        } else {
            "tangential"
        };
        let contact = name.rsplit('_').next().unwrap_or("");
        format!("{kind} velocity at {contact}")
    };
    // A velocity that is only rounding error counts as zero, so that no axis magnifies it.
    let before = sets[2].iter().flatten();
    let fastest = before.fold(0.0, |m, v| f64::max(m, v.abs()));
    let snap = |v: f64| if v.abs() <= 1e-9 * fastest { 0.0 } else { v };
    let place = |row: &Vec<f64>| Some([snap(*row.get(x)?), snap(*row.get(y)?)]);
    let mut plot = Plot::new(path).fill("x", axis(x)).fill("y", axis(y));
    for (name, set) in [
        "during the impact",
        "after it",
        "before",
        "all at once",
        "one after the other",
    ]
    .into_iter()
    .zip(sets)
    {
        plot = plot.through(name, set.iter().filter_map(place));
    }
    plot
}
