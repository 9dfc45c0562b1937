//! Runs of planar mechanisms with a check of their energy balance.

use crate::ScenarioError;
use crate::common::ending::Extent;
use crate::common::plot::Plot;
use carom_derivative::DifferentiableLaw;
use carom_derivative::sensitivity::Sensitivity;
use carom_mechanism::MechanicalSystem;
use carom_mechanism::planar::PlanarMechanism;
use carom_motion::hybrid::Ending;
use carom_report::record::{Column, Quantity, Record, Table};
use carom_variational::TimeGrid;
use serde_json::json;

use carom_motion::generalized::{CollisionIntegrator, ForceParameter, Impact, Trajectory};

/// Largest number of steps, because all states of a run are stored.
const MAX_STEPS: f64 = 1e6;

/// Approximate number of rows in the table of the energy.
const ENERGY_ROWS: usize = 400;

/// Initial state and options of a run.
pub(crate) struct Start<'a> {
    pub(crate) configuration: &'a [f64],
    pub(crate) velocity: &'a [f64],
    pub(crate) time_step: f64,
    pub(crate) duration: f64,
    /// Force parameters with respect to which the run is differentiated; `None` if no derivative is wanted.
    pub(crate) sensitivity: Option<&'a [ForceParameter<'a>]>,
}

/// A run with its energies.
pub(crate) struct AuditedRun {
    pub(crate) trajectory: Trajectory,
    /// Derivative of the final state, if requested.
    pub(crate) sensitivity: Option<Sensitivity>,
    /// Velocity at the end of the run.
    pub(crate) velocity: Vec<f64>,
    law: &'static str,
    duration: f64,
    /// Time, kinetic and potential energy of each grid state.
    energies: Vec<[f64; 3]>,
}

impl AuditedRun {
    pub(crate) fn new(
        mechanism: &PlanarMechanism,
        law: &dyn DifferentiableLaw,
        start: &Start<'_>,
    ) -> Result<Self, ScenarioError> {
        if start.duration > MAX_STEPS * start.time_step {
            let message = format!("more than {MAX_STEPS} steps");
            return Err(ScenarioError::value("time_step", message));
        }
        let integrator = CollisionIntegrator::differentiable(mechanism, law)?;
        let initial = integrator.state(0.0, start.configuration, start.velocity)?;
        let grid = TimeGrid::duration(start.time_step, start.duration)?;
        let (trajectory, sensitivity) = match start.sensitivity {
            Some(parameters) => {
                let (trajectory, sensitivity) = Trajectory::record_with_sensitivity(
                    &integrator,
                    &initial,
                    &grid,
                    None,
                    parameters,
                )?;
                (trajectory, Some(sensitivity))
            }
            None => (
                Trajectory::record(&integrator, &initial, &grid, None)?,
                None,
            ),
        };
        let velocity = integrator.velocity(&trajectory.end.state)?;
        let mut energies = Vec::with_capacity(trajectory.states.len());
        for state in &trajectory.states {
            let (kinetic, potential) = integrator.energies(state)?;
            energies.push([state.time, kinetic, potential]);
        }
        Ok(Self {
            trajectory,
            sensitivity,
            velocity: velocity.0.as_slice().to_vec(),
            law: law.name(),
            duration: start.duration,
            energies,
        })
    }

    fn lost(impact: &Impact) -> f64 {
        -impact.outcome.audit.energy_change_j()
    }

    /// Adds the status, the impacts and the energy balance of a run to its record, with a table and a figure of the energy.
    pub(crate) fn report(
        &self,
        mechanism: &PlanarMechanism,
        record: &mut Record,
    ) -> Result<(), ScenarioError> {
        if let Ending::Stopped(error) = &self.trajectory.end.ending {
            let error = json!({"kind": error.kind(), "message": error.to_string()});
            record.results.insert("error".to_owned(), error);
        }
        Extent::note_run(self.duration, self.law, &self.trajectory, record);
        let mut impacts = Table::new(
            "impacts",
            "Impacts, with the contact of each elementary impact where there is only one.",
            Column::list("time [s], contacts, first_contact, energy_lost [J]"),
        );
        for impact in self.trajectory.impacts() {
            let first = impact.contacts.first().copied().unwrap_or_default();
            impacts.rows.push(vec![
                impact.time,
                impact.contacts.len() as f64,
                first as f64,
                Self::lost(impact),
            ]);
        }
        let mut energy = Table::new(
            "energy",
            "Energy over time; lost: at all impacts before; drift: what the integrator made.",
            Column::list("time [s], kinetic [J], potential [J], lost [J], drift [J]"),
        );
        let initial = self.energies.first().map_or(0.0, |[_, t, v]| t + v);
        let mut pending = self.trajectory.impacts().peekable();
        let (mut lost, mut largest) = (0.0, 0.0f64);
        let every = (self.energies.len() / ENERGY_ROWS).max(1);
        for (k, &[time, kinetic, potential]) in self.energies.iter().enumerate() {
            while let Some(impact) = pending.next_if(|impact| impact.time <= time) {
                lost += Self::lost(impact);
            }
            let drift = kinetic + potential + lost - initial;
            largest = largest.max(drift.abs());
            if k % every == 0 || k + 1 == self.energies.len() {
                let row = vec![time, kinetic, potential, lost, drift];
                energy.rows.push(row);
            }
        }
        let last = self.energies.last().map_or(0.0, |[_, t, v]| t + v);
        let violated = self.lowest_gap(mechanism);
        record.quantities.extend([
            Quantity::new("impacts", impacts.rows.len() as f64, ""),
            Quantity::new("energy_initial_j", initial, "J"),
            Quantity::new("energy_final_j", last, "J"),
            Quantity::new("energy_lost_at_impacts_j", lost, "J"),
            Quantity::new("largest_energy_drift_j", largest, "J").note(
                "energy plus losses less the initial energy; of the order of the step squared",
            ),
            Quantity::new("lowest_gap_m", violated, "m").note("on the grid"),
        ]);
        Plot::new("mechanism-run/energy").of(&energy).draw(record)?;
        record.tables.extend([impacts, energy]);
        Ok(())
    }

    fn lowest_gap(&self, mechanism: &PlanarMechanism) -> f64 {
        let mut gaps = vec![0.0; mechanism.contacts().len()];
        let mut lowest = f64::INFINITY;
        for state in &self.trajectory.states {
            mechanism.gaps(state.configuration.as_slice(), &mut gaps);
            lowest = gaps.iter().copied().fold(lowest, f64::min);
        }
        if lowest.is_finite() { lowest } else { 0.0 }
    }

    /// Returns about `count` evenly spaced configurations of the run, from its states at grid times (multiples of the
    /// time step).
    pub(crate) fn snapshots(&self, count: usize) -> impl Iterator<Item = &[f64]> {
        let every = (self.trajectory.states.len() / count.max(1)).max(1);
        let states = self.trajectory.states.iter().step_by(every);
        states.map(|state| state.configuration.as_slice())
    }
}
