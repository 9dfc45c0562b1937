//! Runs of the integrator, and the report common to all scenarios.

use crate::ScenarioError;
use crate::common::ending::Extent;
use crate::common::plot::Plot;
use carom_contact::ImpactLaw;
use carom_mechanism::MechanicalSystem;
use carom_motion::generalized::{CollisionIntegrator, Trajectory};
use carom_report::record::{Column, Quantity, Record, ReferenceKind, Table};
use carom_variational::TimeGrid;

/// Largest number of steps of one run, so that a typing error in the configuration does not run for hours.
const MAX_STEPS: f64 = 1e6;

/// Duration and time step of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) step: f64,
    pub(crate) duration: f64,
}

impl Times {
    pub(crate) fn new(step: f64, duration: f64) -> Result<Self, ScenarioError> {
        if duration > MAX_STEPS * step {
            let message = format!("{duration} is more than {MAX_STEPS} steps");
            return Err(ScenarioError::value("duration", message));
        }
        Ok(Self { step, duration })
    }
}

/// A run with the total energy of its states.
#[derive(Debug)]
pub(crate) struct Motion {
    pub(crate) trajectory: Trajectory,
    pub(crate) energies: Vec<f64>,
    law: &'static str,
    duration: f64,
}

/// Simulates a mechanical system from an initial configuration and velocity, and computes its energies at the grid
/// times (multiples of the time step). `times`: time step and duration.
pub(crate) fn simulate<S: MechanicalSystem>(
    system: &S,
    law: &dyn ImpactLaw,
    configuration: &[f64],
    velocity: &[f64],
    times: Times,
) -> Result<Motion, ScenarioError> {
    let integrator = CollisionIntegrator::new(system, law)?;
    let start = integrator.state(0.0, configuration, velocity)?;
    let grid = TimeGrid::duration(times.step, times.duration)?;
    let trajectory = Trajectory::record(&integrator, &start, &grid, None)?;
    let mut energies = Vec::with_capacity(trajectory.states.len());
    for state in &trajectory.states {
        let (kinetic, potential) = integrator.energies(state)?;
        energies.push(kinetic + potential);
    }
    Ok(Motion {
        trajectory,
        energies,
        law: law.name(),
        duration: times.duration,
    })
}

impl Motion {
    pub(crate) fn impact_times(&self) -> Vec<f64> {
        self.trajectory
            .impacts()
            .map(|impact| impact.time)
            .collect()
    }

    /// Returns the largest difference between the energy at a grid time (multiple of the time step) and the initial
    /// energy (J).
    pub(crate) fn energy_error(&self) -> f64 {
        let first = self.energies.first().copied().unwrap_or(0.0);
        let errors = self.energies.iter().map(|energy| (energy - first).abs());
        errors.fold(0.0, f64::max)
    }

    /// Returns the largest magnitude of the energy change in an impact (J), which is an error if all impacts are elastic.
    pub(crate) fn impact_energy_error(&self) -> f64 {
        let impacts = self.trajectory.impacts();
        let changes = impacts.map(|impact| impact.outcome.audit.energy_change_j().abs());
        changes.fold(0.0, f64::max)
    }

    /// Returns both errors of the energy as quantities of a record.
    pub(crate) fn energy_quantities(&self) -> [Quantity; 2] {
        [
            ("max_abs_energy_error_j", self.energy_error()),
            ("max_abs_impact_energy_change_j", self.impact_energy_error()),
        ]
        .map(|(name, error)| Quantity::new(name, error, "J"))
    }

    /// Returns the coordinate with the index `i` as a function of time: lists of times (s) and values.
    pub(crate) fn coordinate(&self, i: usize) -> (Vec<f64>, Vec<f64>) {
        let (states, end) = (&self.trajectory.states, &self.trajectory.end.state);
        let last = states.last().map_or(f64::NEG_INFINITY, |s| s.time);
        let end = Some(end).filter(|end| end.time > last);
        let all = states.iter().chain(end);
        all.map(|s| (s.time, s.configuration[i])).unzip()
    }
}

/// Adds the status, the impact times, the table of impacts and the table of states of a run to its record. `reference`:
/// expected impact times (s), of the given kind and source; `coordinates`: names and units.
pub(crate) fn describe(
    record: &mut Record,
    motion: &Motion,
    reference: &[f64],
    (kind, source): (ReferenceKind, &str),
    coordinates: &str,
) {
    Extent::note_run(motion.duration, motion.law, &motion.trajectory, record);
    for (k, time) in motion.impact_times().into_iter().enumerate() {
        let quantity = Quantity::new(format!("impact_{}_time_s", k + 1), time, "s");
        record.quantities.push(match reference.get(k) {
            Some(value) => quantity.reference(kind, *value, source),
            None => quantity,
        });
    }
    record.tables.push(events(motion));
    record.tables.push(states(motion, coordinates));
}

/// Builds a table with a row for each impact of a run.
fn events(motion: &Motion) -> Table {
    let columns = "time [s], contacts, first_contact, elementary_impacts, energy_change [J], \
                   indeterminacy, plastic";
    let mut table = Table::new(
        "impacts",
        "Impacts: how many contacts take part, the first of them, the length of the chain, and \
         whether it was made plastic because impacts accumulate.",
        Column::list(columns),
    );
    for impact in motion.trajectory.impacts() {
        let length = impact.sequence().map_or(1, |sequence| sequence.len());
        table.rows.push(vec![
            impact.time,
            impact.contacts.len() as f64,
            impact.contacts.first().map_or(0.0, |i| *i as f64),
            length as f64,
            impact.outcome.audit.energy_change_j(),
            impact.indeterminacy.unwrap_or(0.0),
            f64::from(u8::from(impact.accumulated)),
        ]);
    }
    table
}

fn states(motion: &Motion, coordinates: &str) -> Table {
    let columns = Column::list(&format!("time [s], {coordinates}, energy [J]"));
    let mut table = Table::new("states", "The motion on the grid of time.", columns);
    for (state, energy) in motion.trajectory.states.iter().zip(&motion.energies) {
        let mut row = vec![state.time];
        row.extend(state.configuration.iter());
        row.push(*energy);
        table.rows.push(row);
    }
    table
}

/// Draws coordinates of a run against time into the figure `path`, with the impacts at the value of the first one.
/// `coordinates`: indices and names.
pub(crate) fn figure(path: &str, motion: &Motion, coordinates: &[(usize, &str)]) -> Plot {
    let mut plot = Plot::new(path);
    for (k, (i, label)) in coordinates.iter().enumerate() {
        let (times, values) = motion.coordinate(*i);
        let points = times.into_iter().zip(values).map(|(time, q)| [time, q]);
        plot.numbered("coordinate", k, label, points);
    }
    let first = coordinates.first().map_or(0, |(i, _)| *i);
    let impacts = motion.trajectory.impacts();
    let hits: Vec<[f64; 2]> = impacts
        .map(|hit| [hit.time, hit.configuration[first]])
        .collect();
    if hits.is_empty() {
        return plot;
    }
    plot.through("impacts", hits)
}
