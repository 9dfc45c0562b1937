//! Gravity from whole flights, weighted by the accuracy of each estimate.

use super::episode::flags;
use super::noise::{FlightGravity, NoiseModel};
use super::setup::Setup;
use crate::Poses;
use crate::robust::{MEDIAN_LENGTH, center_of, median};
use crate::states::State;
use crate::tolerances::LEAST_NOISE;
use nalgebra::{Matrix3, SMatrix, Vector3};

/// Smallest number of poses that determine an acceleration.
const FEWEST_POSES: usize = 3;
/// Number of halvings of the interval that contains the variance between flights.
const HALVINGS: usize = 60;
/// Deviations longer than this, in units of $\sqrt3$ standard deviations of a component, get a reduced weight
/// (Huber).
const HUBER: f64 = 1.5;

/// Estimates the acceleration of gravity (m/s²) in every flight of all tosses, with its variance, from a parabola
/// through the positions.
///
/// The parabola is fitted by least squares. With $n$ poses in a time $T$ and position noise $\sigma$, the error of gravity is
/// about $\sigma\sqrt{720/n}/T^2$, far better than with second differences. Lenses and clocks add errors that differ from
/// flight to flight and do not fall with $n$. The variance of these errors is chosen so that the median deviation is that of a
/// normal distribution.
pub(crate) fn flights(poses: &[Poses], setup: &Setup, noise: &NoiseModel) -> Vec<FlightGravity> {
    let sigma = noise.position_spread.max(LEAST_NOISE);
    let mut flights: Vec<FlightGravity> = Vec::new();
    for toss in poses {
        let is_free = setup.flying(toss, &noise.plane);
        let flagged = flags(toss, noise);
        let mut start = 0;
        for k in 0..=is_free.len() {
            let is_flight = is_free.get(k) == Some(&true) && flagged.binary_search(&k).is_err();
            if is_flight {
                continue;
            }
            if k - start >= FEWEST_POSES
                && let Some((gravity, variance)) = parabola(toss, start, k)
            {
                flights.push(FlightGravity {
                    toss: toss.toss,
                    gravity,
                    variance: variance * sigma * sigma,
                });
            }
            start = k + 1;
        }
    }
    let between = between_flights(&flights);
    for flight in &mut flights {
        flight.variance += between;
    }
    flights
}

/// Fits a parabola to the positions of the samples `start` to `end` (excluded) of a toss by least squares. Returns
/// the acceleration (m/s²), which is twice the quadratic coefficient, and the variance of a component for positions
/// with unit variance. `None` if the samples do not determine it.
fn parabola(toss: &Poses, start: usize, end: usize) -> Option<(Vector3<f64>, f64)> {
    let times = toss.time.get(start..end)?;
    let positions = toss.position.get(start..end)?;
    let n = times.len() as f64;
    let middle = times.iter().sum::<f64>() / n;
    let unit = times.last()? - times.first()?;
    if !(unit > 0.0) {
        return None;
    }
    let row = |t: f64| {
        let s = (t - middle) / unit;
        Vector3::new(1.0, s, 0.5 * s * s)
    };
    let (mut normal, mut right) = (Matrix3::zeros(), Matrix3::zeros());
    let origin = positions[positions.len() / 2];
    for (t, x) in times.iter().zip(positions) {
        let row = row(*t);
        normal += row * row.transpose();
        right += row * (x - origin).transpose();
    }
    let inverse = normal.cholesky()?.inverse();
    let curvature = (inverse * right).row(2).transpose();
    let scale = 1.0 / (unit * unit);
    Some((curvature * scale, inverse[(2, 2)] * scale * scale))
}

/// Estimates the variance (m²/s⁴) by which gravity differs from flight to flight beyond the noise of the tracker;
/// zero if the noise explains all differences.
fn between_flights(flights: &[FlightGravity]) -> f64 {
    let Some(center) = pooled(flights, |_| 1.0) else {
        return 0.0;
    };
    let typical = |between: f64| {
        let deviation =
            |f: &FlightGravity| (f.gravity - center).norm() / (f.variance + between).sqrt();
        let mut lengths: Vec<f64> = flights.iter().map(deviation).collect();
        median(&mut lengths).unwrap_or(0.0)
    };
    if typical(0.0) <= MEDIAN_LENGTH {
        return 0.0;
    }
    let longest = flights.iter().map(|f| (f.gravity - center).norm_squared());
    let (mut low, mut high) = (0.0, longest.fold(0.0, f64::max));
    for _ in 0..HALVINGS {
        let half = 0.5 * (low + high);
        if typical(half) > MEDIAN_LENGTH {
            low = half;
        } else {
            high = half;
        }
    }
    high
}

/// Returns the robust mean (Huber) of the estimates of gravity from all flights (m/s²). The weight of a flight is its inverse
/// variance times `count(toss)`, the number of times that its toss counts. `None` if no flight has a positive weight.
pub(crate) fn pooled(
    flights: &[FlightGravity],
    count: impl Fn(u64) -> f64,
) -> Option<Vector3<f64>> {
    let longest = HUBER * 3.0_f64.sqrt();
    let weights: Vec<f64> = flights.iter().map(|f| count(f.toss) / f.variance).collect();
    let all: f64 = weights.iter().sum();
    if !(all > 0.0 && all.is_finite()) {
        return None;
    }
    let sum = flights.iter().zip(&weights).map(|(f, w)| f.gravity * *w);
    let start = sum.sum::<Vector3<f64>>() / all;
    Some(center_of(flights.len(), start, |i, center| {
        let deviation = flights[i].gravity - center;
        let length = deviation.norm() / flights[i].variance.sqrt();
        (deviation, weights[i] * (longest / length).min(1.0))
    }))
}

/// Gravity that was estimated from flights: a resample of the tosses estimates it again, since its error changes the velocities of
/// all impacts together.
#[derive(Clone, Debug)]
pub(crate) struct Gravity {
    flights: Vec<FlightGravity>,
    mean: Vector3<f64>,
    /// Derivatives of the velocities before and after each impact with respect to gravity.
    slopes: Vec<SMatrix<f64, 12, 3>>,
}

impl Gravity {
    /// Returns `None` if gravity is given.
    pub(crate) fn new(noise: &NoiseModel, slopes: Vec<SMatrix<f64, 12, 3>>) -> Option<Self> {
        Some(Self {
            mean: pooled(&noise.flights, |_| 1.0)?,
            flights: noise.flights.clone(),
            slopes,
        })
    }

    /// Returns the names of the tosses that have flights.
    pub(crate) fn groups(&self) -> impl Iterator<Item = String> {
        self.flights.iter().map(|flight| flight.toss.to_string())
    }

    /// Returns by how much the estimate of gravity is larger (m/s²) if each toss counts `count` times.
    pub(crate) fn more(&self, count: impl Fn(&str) -> f64) -> Vector3<f64> {
        let some = pooled(&self.flights, |toss| count(&toss.to_string()));
        some.map_or(Vector3::zeros(), |some| some - self.mean)
    }

    /// Changes the velocities of the impact at a place as a larger gravity does.
    pub(crate) fn shift(&self, place: usize, state: &mut State, more: &Vector3<f64>) {
        let Some(slope) = self.slopes.get(place) else {
            return;
        };
        let moved = slope * more;
        let both = state.minus.iter_mut().chain(&mut state.plus);
        both.zip(moved.iter()).for_each(|(v, moved)| *v += moved);
    }

    /// Returns the standard error (m/s²) of a component of the mean gravity over all flights. The formula assumes that no
    /// flight is an outlier.
    pub(crate) fn standard_error(&self) -> f64 {
        let information: f64 = self.flights.iter().map(|f| 1.0 / f.variance).sum();
        1.0 / information.sqrt()
    }
}
