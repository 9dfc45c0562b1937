//! Propagation of an error ellipse through an impact: by the saltation matrix, and by sampled runs.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Count, Fraction, Input, Positive};
use crate::propagative::model::propagative;
use carom_impact::Propagative;
use carom_mechanism::MechanismError;
use carom_mechanism::planar::{Inertia, Line, LineContact, Link, PlanarBuilder, PlanarMechanism};
use carom_motion::hybrid::Ending;
use carom_numeric::random::CounterRng;
use carom_report::record::{Column, Quantity, Record, Table};
use carom_variational::TimeGrid;

use carom_motion::generalized::{CollisionIntegrator, Trajectory};
use nalgebra::{Matrix2, Vector2};
use serde::Deserialize;
use std::f64::consts::{PI, TAU};

/// Number of points of a drawn ellipse.
const POINTS: usize = 121;

/// Half axes of the ellipses, in standard deviations.
const SIGMAS: f64 = 2.0;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    samples: Count<100, 100_000>,
    drawn: Count<1, 5_000>,
    seed: u64,
    time_step: Positive,
    ball: BallConfig,
    block: BlockConfig,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BallConfig {
    height: Positive,
    velocity: f64,
    restitution: Fraction,
    gravity: Positive,
    duration: Positive,
    deviations: Positive<[f64; 2]>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BlockConfig {
    half_width: Positive,
    half_height: Positive,
    tilt: Fraction,
    gravity: Positive,
    duration: Positive,
    deviations: Positive<[f64; 2]>,
}

/// A system with one coordinate and one impact.
struct System {
    name: &'static str,
    /// Mechanism with the contact (`hits`), and without it (`flies`).
    hits: PlanarMechanism,
    flies: PlanarMechanism,
    restitution: f64,
    /// Mean and standard deviations of the initial coordinate and rate.
    mean: [f64; 2],
    deviations: [f64; 2],
    duration: f64,
    /// Maps coordinate and rate of the mechanism to those in the figure.
    shown: fn([f64; 2], f64) -> [f64; 2],
    origin: f64,
}

impl BallConfig {
    fn mechanism(&self, with_floor: bool) -> Result<PlanarMechanism, MechanismError> {
        let mut builder = PlanarBuilder::new([0.0, -*self.gravity]);
        let ball = builder.slider(Link::GROUND, [0.0, 0.0], [0.0, 1.0]);
        builder.body(ball, Inertia::point(1.0, [0.0, 0.0]));
        if with_floor {
            builder.contact(ball, LineContact::point("floor", [0.0, 0.0], Line::floor()));
        }
        builder.build()
    }

    fn system(&self) -> Result<System, ScenarioError> {
        Ok(System {
            name: "ball",
            hits: self.mechanism(true)?,
            flies: self.mechanism(false)?,
            restitution: *self.restitution,
            mean: [*self.height, self.velocity],
            deviations: *self.deviations,
            duration: *self.duration,
            shown: |state, _| state,
            origin: 0.0,
        })
    }
}

impl BlockConfig {
    /// Builds the rocking block as an equivalent pendulum. The magnitude $\varphi$ of the block's angle obeys
    /// $\ddot\varphi = -p^2\sin(\delta - \varphi)$ with $p^2 = 3g/4R$, where $R$ is half the diagonal and $\delta$ the angle
    /// of unstable balance. The angle rebounds at 0 with the restitution $1 - \tfrac32\sin^2\delta$ (Housner 1963). The
    /// pendulum has the length $4R/3$, and its angle from straight down is $\varphi + \pi - \delta$. `with_floor`: adds a wall
    /// at $\varphi = 0$.
    fn mechanism(&self, with_floor: bool) -> Result<PlanarMechanism, MechanismError> {
        let length = 4.0 / 3.0 * libm::hypot(*self.half_width, *self.half_height);
        let mut builder = PlanarBuilder::new([0.0, -*self.gravity]);
        let arm = builder.hinge(Link::GROUND, [0.0, 0.0], -0.5 * PI);
        builder.body(arm, Inertia::point(1.0, [length, 0.0]));
        if with_floor {
            let (sin, cos) = libm::sincos(self.upright() - 0.5 * PI);
            let wall = Line::new([0.0, 0.0], [-sin, cos])?;
            builder.contact(arm, LineContact::point("edge", [length, 0.0], wall));
        }
        builder.build()
    }

    /// Returns the angle (rad) of the block at which its center of mass is above the pivot edge, $\delta$ (unstable balance).
    fn balance(&self) -> f64 {
        libm::atan2(*self.half_width, *self.half_height)
    }

    fn upright(&self) -> f64 {
        PI - self.balance()
    }

    fn system(&self) -> Result<System, ScenarioError> {
        let delta = self.balance();
        Ok(System {
            name: "block",
            hits: self.mechanism(true)?,
            flies: self.mechanism(false)?,
            restitution: 1.0 - 1.5 * carom_numeric::power(libm::sin(delta), 2),
            mean: [self.upright() + delta * *self.tilt, 0.0],
            deviations: *self.deviations,
            duration: *self.duration,
            // On the other edge the angle is negative.
            shown: |[angle, rate], upright| [upright - angle, -rate],
            origin: self.upright(),
        })
    }
}

/// End states of a perturbed system, predicted and sampled.
struct Pushed {
    /// End state of the mean, and end states of the samples.
    center: Vector2<f64>,
    ends: Vec<Vector2<f64>>,
    /// Covariances of the end states: of the samples, predicted by the saltation matrix, predicted by the reset map alone.
    sampled: Matrix2<f64>,
    by_saltation: Matrix2<f64>,
    by_reset: Matrix2<f64>,
    /// Largest difference between the product of flight Jacobians and saltation matrix and the Jacobian of the
    /// whole run, divided by the largest entry of the latter.
    product_error: f64,
}

/// A run, its Jacobian, and the saltation matrix of its first impact.
struct Differentiated {
    run: Trajectory,
    jacobian: Matrix2<f64>,
    saltation: Option<Matrix2<f64>>,
}

impl System {
    fn law(&self) -> Result<Propagative, ScenarioError> {
        propagative(self.restitution)
    }

    /// Simulates the mechanism over the times of `grid` and differentiates the final state with respect to the initial one.
    /// `start`: initial coordinate and its rate; `law`: impact law.
    fn differentiated(
        &self,
        mechanism: &PlanarMechanism,
        law: &Propagative,
        start: [f64; 2],
        grid: &TimeGrid,
    ) -> Result<Differentiated, ScenarioError> {
        let integrator = CollisionIntegrator::differentiable(mechanism, law)?;
        let initial = integrator.state(0.0, &start[..1], &start[1..])?;
        let (run, sensitivity) =
            Trajectory::record_with_sensitivity(&integrator, &initial, grid, None, &[])?;
        let Some(jacobian) = sensitivity.d_final_d_initial else {
            let reason = sensitivity.reason.unwrap_or_default();
            return Err(self.fault(&format!("the mean has no derivative: {reason}")));
        };
        let flat = |matrix: &nalgebra::DMatrix<f64>| Matrix2::from_column_slice(matrix.as_slice());
        let saltation = sensitivity
            .events
            .first()
            .and_then(|event| event.saltation.as_ref());
        Ok(Differentiated {
            run,
            jacobian: flat(&jacobian),
            saltation: saltation.map(flat),
        })
    }

    fn fault(&self, message: &str) -> ScenarioError {
        ScenarioError::value(&format!("{}.duration", self.name), message)
    }

    /// Simulates a run over the times of `grid` and returns its final coordinate and rate. `start`: initial coordinate and
    /// rate. Returns an error unless the run has exactly one impact.
    fn end(
        &self,
        integrator: &CollisionIntegrator<'_, PlanarMechanism>,
        start: [f64; 2],
        grid: &TimeGrid,
    ) -> Result<Vector2<f64>, ScenarioError> {
        let initial = integrator.state(0.0, &start[..1], &start[1..])?;
        let end = integrator.run(&initial, grid, None, &mut |_| ())?;
        if end.ending != Ending::Completed || end.n_impacts != 1 {
            return Err(self.fault("every sample must hit exactly once"));
        }
        let velocity = integrator.velocity(&end.state)?;
        Ok(Vector2::new(end.state.configuration[0], velocity.0[0]))
    }

    fn push(&self, config: &Config) -> Result<Pushed, ScenarioError> {
        let law = self.law()?;
        let grid = |time: f64| TimeGrid::duration(*config.time_step, time);
        let whole = grid(self.duration)?;
        let whole_run = self.differentiated(&self.hits, &law, self.mean, &whole)?;
        let (Some(impact), Some(saltation)) = (whole_run.run.impacts().next(), whole_run.saltation)
        else {
            return Err(self.fault("the mean must hit once"));
        };
        let (hit, after) = (impact.time, &impact.outcome.velocity_plus.0);
        let landed = [impact.configuration[0], after[0]];
        let flight = |start: [f64; 2], time: f64| {
            let flight = self.differentiated(&self.flies, &law, start, &grid(time)?)?;
            Ok::<_, ScenarioError>(flight.jacobian)
        };
        let first = flight(self.mean, hit)?;
        let second = flight(landed, self.duration - hit)?;
        // The reset map keeps the coordinate and multiplies the rate by minus the restitution.
        let reset = Matrix2::new(1.0, 0.0, 0.0, -self.restitution);
        let product = second * saltation * first;
        let variances = Vector2::from(self.deviations).map(|sigma| sigma * sigma);
        let carry = |by: &Matrix2<f64>| by * Matrix2::from_diagonal(&variances) * by.transpose();
        let integrator = CollisionIntegrator::new(&self.hits, &law)?;
        let center = self.end(&integrator, self.mean, &whole)?;
        let mut ends = Vec::with_capacity(*config.samples);
        for sample in 0..*config.samples {
            let [a, b] = normal_pair(config.seed, sample as u64);
            let [s, t] = self.deviations;
            let start = [self.mean[0] + s * a, self.mean[1] + t * b];
            ends.push(self.end(&integrator, start, &whole)?);
        }
        Ok(Pushed {
            center,
            sampled: covariance(&ends),
            ends,
            by_saltation: carry(&product),
            by_reset: carry(&(second * reset * first)),
            product_error: (product - whole_run.jacobian).amax() / whole_run.jacobian.amax(),
        })
    }
}

/// Returns two independent random numbers with the standard normal distribution, by the method of Box & Muller. `seed` and the
/// number `sample` determine the result.
fn normal_pair(seed: u64, sample: u64) -> [f64; 2] {
    let mut rng = CounterRng::new(seed, sample, 0);
    // The argument of the logarithm lies in (0, 1].
    let radius = (-2.0 * libm::log(1.0 - rng.next_uniform())).sqrt();
    let (sin, cos) = libm::sincos(TAU * rng.next_uniform());
    [radius * cos, radius * sin]
}

fn covariance(points: &[Vector2<f64>]) -> Matrix2<f64> {
    let count = points.len() as f64;
    let mean: Vector2<f64> = points.iter().sum::<Vector2<f64>>() / count;
    let squares = points.iter().map(|point| {
        let off = point - mean;
        off * off.transpose()
    });
    squares.sum::<Matrix2<f64>>() / (count - 1.0)
}

/// Returns the dimensionless error of the predicted covariance matrix $P$: the norm of $L^{-1}PL^{-T} - I$ divided by that of
/// the identity $I$. $LL^T$ is the sampled covariance matrix.
fn relative_error(predicted: &Matrix2<f64>, sampled: &Matrix2<f64>) -> f64 {
    let Some(factor) = sampled.cholesky() else {
        return f64::INFINITY;
    };
    let half = factor.l().solve_lower_triangular(predicted);
    let whole = half.and_then(|half| factor.l().solve_lower_triangular(&half.transpose()));
    whole.map_or(f64::INFINITY, |whole| {
        (whole - Matrix2::identity()).norm() / 2f64.sqrt()
    })
}

/// Returns the fraction of the simulated final states that lie inside the ellipse of [`SIGMAS`] standard deviations about the
/// center of `pushed`. `covariance` defines the ellipse.
fn inside(pushed: &Pushed, covariance: &Matrix2<f64>) -> f64 {
    let Some(inverse) = covariance.try_inverse() else {
        return 0.0;
    };
    let is_inside = |end: &&Vector2<f64>| {
        let off = *end - pushed.center;
        off.dot(&(inverse * off)) <= SIGMAS * SIGMAS
    };
    pushed.ends.iter().filter(is_inside).count() as f64 / pushed.ends.len() as f64
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    "completed".clone_into(&mut record.status);
    let mut table = Table::new(
        "covariances",
        "Covariances at the end; system 0 is the ball, 1 the block; by 0 the samples, 1 the \
         saltation matrix, 2 the reset alone.",
        Column::list("system, by, variance_of_place, covariance, variance_of_rate"),
    );
    let systems = [config.ball.system()?, config.block.system()?];
    for (k, system) in systems.iter().enumerate() {
        let pushed = system.push(&config)?;
        quantities(system, &pushed, &mut record);
        let all = [&pushed.sampled, &pushed.by_saltation, &pushed.by_reset];
        for (by, matrix) in all.into_iter().enumerate() {
            let entries = [matrix.m11, matrix.m12, matrix.m22];
            let row = [k as f64, by as f64].into_iter().chain(entries);
            table.rows.push(row.collect());
        }
        figure(system, &pushed, *config.drawn).draw(&mut record)?;
    }
    record.tables.push(table);
    Ok(record)
}

fn quantities(system: &System, pushed: &Pushed, record: &mut Record) {
    let name = system.name;
    let error = |predicted| relative_error(predicted, &pushed.sampled);
    let held = 1.0 - libm::exp(-0.5 * SIGMAS * SIGMAS);
    record.quantities.extend([
        Quantity::new(
            format!("{name}_covariance_error"),
            error(&pushed.by_saltation),
            "",
        )
        .note("with the saltation matrix, against the samples"),
        Quantity::new(
            format!("{name}_covariance_error_of_the_reset"),
            error(&pushed.by_reset),
            "",
        )
        .note("with the Jacobian of the reset in its place"),
        Quantity::new(
            format!("{name}_inside"),
            inside(pushed, &pushed.by_saltation),
            "",
        )
        .note(format!(
            "part of the samples in the ellipse of two standard deviations; {held:.4} of a normal \
             distribution"
        )),
        Quantity::new(
            format!("{name}_inside_of_the_reset"),
            inside(pushed, &pushed.by_reset),
            "",
        ),
        Quantity::new(format!("{name}_product_error"), pushed.product_error, "").note(
            "flight, saltation matrix, flight against the derivative of the run: rounding for the \
             ball, the step squared for the block",
        ),
    ]);
}

fn figure(system: &System, pushed: &Pushed, drawn: usize) -> Plot {
    let show = |point: &Vector2<f64>| (system.shown)([point.x, point.y], system.origin);
    let runs = pushed.ends.iter().take(drawn).map(show);
    let ellipse = |covariance: &Matrix2<f64>| -> Vec<[f64; 2]> {
        let factor = covariance.cholesky().map_or_else(Matrix2::zeros, |c| c.l());
        let point = |k: usize| {
            let (sin, cos) = libm::sincos(TAU * k as f64 / (POINTS - 1) as f64);
            let off = factor * Vector2::new(cos, sin) * SIGMAS;
            show(&(pushed.center + off))
        };
        (0..POINTS).map(point).collect()
    };
    Plot::new(&format!("saltation/{}", system.name))
        .through("runs", runs)
        .through("saltation matrix", ellipse(&pushed.by_saltation))
        .through("reset alone", ellipse(&pushed.by_reset))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::{Overrides, Record, scenario};

    fn run(toml: &str) -> Record {
        let overrides = Overrides {
            toml: toml.to_owned(),
            ..Overrides::default()
        };
        scenario("saltation").unwrap().run(&overrides).unwrap()
    }

    fn quantity(record: &Record, name: &str) -> f64 {
        let found = record.quantities.iter().find(|q| q.name == name);
        found.unwrap().value
    }

    /// Checks that the saltation matrix, which includes the shift of the impact time, predicts the sampled covariance, and that
    /// the derivative of the velocity reset alone does not. Two thousand samples determine a variance to three per cent.
    #[test]
    fn the_saltation_matrix_carries_the_covariance_and_the_reset_does_not() {
        let record = run("");
        for name in ["ball", "block"] {
            let of = |what: &str| quantity(&record, &format!("{name}_{what}"));
            assert!(of("covariance_error") <= 0.1);
            assert!(of("covariance_error_of_the_reset") >= 0.3);
            assert!((of("inside") - 0.8647).abs() <= 0.03);
        }
        assert!(quantity(&record, "ball_product_error") <= 1e-11);
        assert!(quantity(&record, "block_product_error") <= 1e-3);
    }

    #[test]
    fn samples_that_miss_are_a_fault_of_the_configuration() {
        let overrides = Overrides {
            toml: "samples = 100\n[ball]\nduration = 0.2\n".to_owned(),
            ..Overrides::default()
        };
        let error = scenario("saltation").unwrap().run(&overrides).unwrap_err();
        assert!(error.is_configuration());
        assert!(error.to_string().contains("ball.duration"), "{error}");
    }
}
