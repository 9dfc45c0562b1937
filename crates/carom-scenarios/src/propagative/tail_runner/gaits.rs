//! Two gaits dropped on the floor, each with two different orders of impacts: Fig. 8.

use super::robot::{Drive, GRAVITY, Layout, Lengths, Stance, TailRunner};
use crate::ScenarioError;
use carom_impact::{Propagative, Selection};
use carom_mechanism::MechanicalSystem;
use carom_metric::{Covector, KineticMetric};
use carom_motion::hybrid::Ending;
use carom_variational::TimeGrid;

use carom_motion::generalized::{CollisionIntegrator, IntegratorOptions, State, Trajectory};
use nalgebra::DMatrix;

/// Drop height of the gaits, and options of the runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drop {
    /// Height above the stance, cm.
    pub(super) lift: f64,
    pub(super) duration: f64,
    pub(super) time_step: f64,
    /// Friction of lasting contacts; impacts are frictionless.
    pub(super) friction: f64,
}

impl Drop {
    /// Returns the time (s) until the robot, dropped from rest, hits the floor in free fall. The joints do not move in this
    /// time.
    pub(super) fn fall_time(&self) -> f64 {
        (2.0 * self.lift / GRAVITY).sqrt()
    }
}

/// Comparison of two runs of a gait with different orders of impacts.
#[derive(Clone, Debug)]
pub(super) struct Comparison {
    /// Cosine between the normals at the first impact.
    pub(super) cosine: f64,
    /// Time of the first impact, s.
    pub(super) first_time: f64,
    /// Contacts of the first impact.
    pub(super) first_contacts: Vec<usize>,
    /// Distance between the two outcomes of the first impact, divided by the norm of the momentum before.
    pub(super) first_indeterminacy: f64,
    /// Indeterminacy predicted from the normal velocities $b_u$, $b_w$ before the impact and the cosine $c$,
    /// $4|c|\sqrt{b_u^2 + b_w^2 - 2cb_ub_w}/\lVert p\rVert$; valid for outcomes of two elementary impacts.
    pub(super) first_predicted: f64,
    /// Robot of both runs.
    pub(super) robot: TailRunner,
    /// Runs in which the contact that approaches fastest acts first, and in which the slowest acts first.
    pub(super) runs: [Trajectory; 2],
    /// Times, and distances between the momenta of both runs divided by the first momentum, from the first impact on.
    pub(super) series: Vec<[f64; 2]>,
    /// Largest error of the energy of the first run (erg): change of the energy plus losses less the work of the drive.
    pub(super) energy_error: f64,
}

impl Comparison {
    /// Returns the path (cm) of the anterior ball along the floor in the first run, from the first impact to the end.
    pub(super) fn travel(&self) -> f64 {
        let [run, _] = &self.runs;
        let first = run.impacts().next().map(|impact| impact.configuration[0]);
        let last = run.states.last().map(|state| state.configuration[0]);
        last.zip(first).map_or(0.0, |(last, first)| last - first)
    }

    /// Returns the energy (erg) that the friction of lasting contacts dissipates in the first run.
    pub(super) fn friction_loss(&self) -> f64 {
        let [run, _] = &self.runs;
        run.balances.last().map_or(0.0, |last| last.contact_loss)
    }

    /// Returns the median of the recorded distances between the two runs.
    pub(super) fn median(&self) -> f64 {
        let mut values: Vec<f64> = self.series.iter().map(|[_, xi]| *xi).collect();
        values.sort_by(f64::total_cmp);
        let n = values.len();
        match n {
            0 => 0.0,
            _ => 0.5 * (values[(n - 1) / 2] + values[n / 2]),
        }
    }
}

/// Simulates the fall of the robot to the ground, while it moves with a gait, and compares two runs. In one of them the contact
/// that approaches fastest acts first, in the other the slowest. `drive`: motion of the driven joints; `stance`: coordinates of the robot before it
/// is lifted by the drop height.
pub(super) fn compare(
    lengths: Lengths,
    layout: Layout,
    drive: &Drive,
    stance: &Stance,
    drop: &Drop,
) -> Result<Comparison, ScenarioError> {
    let robot = TailRunner::driven(
        lengths,
        layout,
        drive,
        stance,
        drop.fall_time(),
        drop.friction,
    )?;
    let grid = TimeGrid::duration(drop.time_step, drop.duration)?;
    let mut lifted = *stance;
    lifted[1] += drop.lift;
    let run = |selection| -> Result<(Trajectory, f64), ScenarioError> {
        let law = Propagative::default().with_selection(selection);
        // The paper states that knees and spine make elastic impacts die out.
        let options = IntegratorOptions::default().with_elastic_hits_accumulate(true);
        let integrator = CollisionIntegrator::new(&robot.mechanism, &law)?.with_options(options)?;
        let start = integrator.state(0.0, &lifted, &[0.0; 8])?;
        let trajectory = Trajectory::record(&integrator, &start, &grid, None)?;
        if let Ending::Stopped(error) = trajectory.end.ending {
            return Err(error.into());
        }
        let mut worst: f64 = 0.0;
        let mut initial = None;
        for (state, balance) in trajectory.states.iter().zip(&trajectory.balances) {
            let (kinetic, potential) = integrator.energies(state)?;
            let energy = kinetic + potential;
            let change = energy - *initial.get_or_insert(energy);
            let explained = balance.force_work - balance.impact_loss - balance.contact_loss;
            worst = worst.max((change - explained).abs());
        }
        Ok((trajectory, worst))
    };
    let (first, energy_error) = run(Selection::MostApproaching)?;
    let (second, _) = run(Selection::LeastApproaching)?;
    let runs = [first, second];
    let metric = |q: &[f64]| -> Result<KineticMetric, ScenarioError> {
        let n = q.len();
        let mut mass = DMatrix::zeros(n, n);
        robot.mechanism.mass_matrix(q, &mut mass);
        Ok(KineticMetric::new(mass)?)
    };
    let distance =
        |metric: &KineticMetric, a: &Covector, b: &Covector| metric.norm(&Covector(&a.0 - &b.0));

    let [first, second] = runs.each_ref().map(|run| run.impacts().next());
    let (Some(first), Some(second)) = (first, second) else {
        return Err(ScenarioError::value(
            "duration",
            "the robot does not reach the floor",
        ));
    };
    let at = metric(first.configuration.as_slice())?;
    let size = at.norm(&first.momentum_minus)?;
    let mut normals = Vec::with_capacity(first.contacts.len());
    for &contact in &first.contacts {
        let mut normal = vec![0.0; lifted.len()];
        let q = first.configuration.as_slice();
        robot.mechanism.gap_gradient(contact, q, &mut normal);
        let normal = Covector::from_slice(&normal);
        let length = at.norm(&normal)?;
        normals.push(Covector(normal.0 / length));
    }
    let (cosine, first_predicted) = match normals.as_slice() {
        [u, w] => {
            let c = at.inner(u, w)?;
            let [b, d] = [
                at.inner(&first.momentum_minus, u)?,
                at.inner(&first.momentum_minus, w)?,
            ];
            let apart = (b * b + d * d - 2.0 * c * b * d).sqrt();
            (c, 4.0 * c.abs() * apart / size)
        }
        _ => (0.0, 0.0),
    };
    let first_indeterminacy = distance(&at, &first.momentum_plus, &second.momentum_plus)? / size;

    let mut series = Vec::new();
    for (a, b) in runs[0].states.iter().zip(&runs[1].states) {
        let State {
            time,
            configuration,
            momentum,
            ..
        } = a;
        if *time < first.time.max(second.time) {
            continue;
        }
        let metric = metric(configuration.as_slice())?;
        let apart = distance(&metric, momentum, &b.momentum)? / metric.norm(momentum)?;
        series.push([*time, apart]);
    }
    Ok(Comparison {
        cosine,
        first_time: first.time,
        first_contacts: first.contacts.clone(),
        first_indeterminacy,
        first_predicted,
        series,
        energy_error,
        robot,
        runs,
    })
}
