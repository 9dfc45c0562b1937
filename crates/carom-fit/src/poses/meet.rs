//! Least-squares fit of two flights that meet at an impact: the states just before and after it.

use super::noise::NoiseModel;
use super::setup::Body;
use crate::Poses;
use crate::tolerances::LEAST_NOISE;
use crate::tolerances::SETTLED;
use carom_lie::So3;
use carom_numeric::decisions::RANK;
use nalgebra::{Matrix3, SMatrix, SVector, Vector3};
use std::ops::Range;

/// Number of unknowns: position (from index 0), attitude, velocity and angular velocity before and after, and time of the
/// impact.
const UNKNOWNS: usize = 19;
/// Index of the first unknown of the attitude.
const ATTITUDE: usize = 3;
/// Indices of the first unknowns of the motions before and after.
const MOTION: [usize; 2] = [6, 12];
/// Index of the time of the impact.
const TIME: usize = 18;

/// Numbers of Gauss-Newton steps of the fit.
struct Steps {
    /// Number of impact times that are tried between the two innermost samples.
    times: usize,
    /// Number of steps from each of these times.
    first: usize,
    /// Largest number of steps from the best of them.
    most: usize,
}

/// Values of [`Steps`].
const STEPS: Steps = Steps {
    times: 41,
    first: 4,
    most: 60,
};

type Normal = SMatrix<f64, UNKNOWNS, UNKNOWNS>;
type Vector = SVector<f64, UNKNOWNS>;

/// Motion of one flight at the time of the impact.
#[derive(Clone, Copy, Debug)]
struct Side {
    /// Velocity of the center of mass in space (m/s).
    velocity: Vector3<f64>,
    /// Angular velocity in the body frame (rad/s).
    angular: Vector3<f64>,
}

/// Unknowns: the states of two flights that meet at one pose.
#[derive(Clone, Copy, Debug)]
struct Unknowns {
    time: f64,
    position: Vector3<f64>,
    rotation: So3,
    sides: [Side; 2],
}

impl Unknowns {
    /// Computes the Jacobian of the velocities before and after the impact with respect to the unknowns of the fit.
    /// The rows are velocity and angular velocity in world axes, before the impact, then after it. Angular velocities
    /// also turn with the attitude: $R e^{\delta}\omega = R\omega - R\hat\omega\delta$, with the attitude $R$, a
    /// small rotation $\delta$, and the angular velocity $\omega$ in body axes.
    fn motion(&self) -> SMatrix<f64, 12, UNKNOWNS> {
        let turn = self.rotation.matrix();
        let mut motion = SMatrix::<f64, 12, UNKNOWNS>::zeros();
        for (side, place) in MOTION.into_iter().enumerate() {
            let row = 6 * side;
            let by_attitude = -turn * self.sides[side].angular.cross_matrix();
            motion
                .fixed_view_mut::<3, 3>(row, place)
                .copy_from(&Matrix3::identity());
            motion
                .fixed_view_mut::<3, 3>(row + 3, place + 3)
                .copy_from(&turn);
            motion
                .fixed_view_mut::<3, 3>(row + 3, ATTITUDE)
                .copy_from(&by_attitude);
        }
        motion
    }
}

/// Result of the least-squares fit of two flights.
#[derive(Clone, Debug)]
pub(crate) struct Meeting {
    /// Time of the impact (s).
    pub time: f64,
    /// Pose at the impact: position (m) and rotation from the body frame to space.
    pub position: Vector3<f64>,
    pub rotation: So3,
    /// Velocity and angular velocity in world axes, before and after the impact.
    pub velocity: [SVector<f64, 6>; 2],
    /// Covariance of these velocities, before the impact first.
    pub covariance: SMatrix<f64, 12, 12>,
    /// Derivative of these velocities with respect to gravity (s, and s/m for angular velocities).
    pub by_gravity: SMatrix<f64, 12, 3>,
    /// Sum of squared residuals, each divided by its noise.
    pub chi2: f64,
    /// Degrees of freedom: number of residuals minus number of unknowns.
    pub dof: usize,
    /// Root mean square residuals of positions (m) and attitudes (rad).
    pub rms: [f64; 2],
}

/// Data of the fit: samples of both flights and their weights.
pub(crate) struct Flights<'a> {
    pub toss: &'a Poses,
    pub body: &'a Body,
    pub noise: &'a NoiseModel,
    /// Ranges of samples before and after the impact.
    pub windows: [Range<usize>; 2],
}

/// Weighted sum of squares with its normal matrix and right side. `squares` and `counts` are the unweighted
/// sums of squares and the numbers of positions and attitudes.
struct Sums {
    cost: f64,
    normal: Normal,
    right: Vector,
    squares: [f64; 2],
    counts: [usize; 2],
}

impl Flights<'_> {
    /// True if the measured attitude of sample `k` is used in the fit; `side` is 0 before the impact and 1 after it.
    /// The sample next to the impact is left out, because a median filter of three samples may have mixed it with the
    /// other side.
    fn has_attitude(&self, side: usize, k: usize) -> bool {
        let window = &self.windows[side];
        if side == 0 {
            k + 1 < window.end
        } else {
            k > window.start
        }
    }

    /// Returns the attitude of the freely flying body a signed time (s) after the impact. The motion starts from the attitude
    /// `from` with the angular velocity `angular` (body axes, rad/s). Also returns the derivative of the attitude, as a small
    /// rotation in body axes, with respect to `angular`. `None` if the motion cannot be computed.
    fn turn(&self, from: &So3, angular: &Vector3<f64>, time: f64) -> Option<(So3, Matrix3<f64>)> {
        if self.body.is_isotropic() {
            let phi = angular * time;
            let derivative = So3::right_jacobian(&phi) * time;
            return Some((from.compose(&So3::exp(&phi)), derivative));
        }
        let fly = |angular: &Vector3<f64>| self.body.turned(from, angular, time);
        let end = fly(angular)?;
        let step = 1e-5 * angular.norm().max(1.0);
        let mut derivative = Matrix3::zeros();
        for axis in 0..3 {
            let mut shift = Vector3::zeros();
            shift[axis] = step;
            let ahead = end.inverse().compose(&fly(&(angular + shift))?).log();
            let behind = end.inverse().compose(&fly(&(angular - shift))?).log();
            derivative.set_column(axis, &((ahead - behind) / (2.0 * step)));
        }
        Some((end, derivative))
    }

    fn sums(&self, at: &Unknowns) -> Option<Sums> {
        let mut sums = Sums {
            cost: 0.0,
            normal: Normal::zeros(),
            right: Vector::zeros(),
            squares: [0.0; 2],
            counts: [0; 2],
        };
        let gravity = self.noise.gravity;
        let weights = [self.noise.position_spread, self.noise.rotation_spread]
            .map(|spread| 1.0 / spread.max(LEAST_NOISE));
        for (side, window) in self.windows.iter().enumerate() {
            let Side { velocity, angular } = at.sides[side];
            let place = MOTION[side];
            for k in window.clone() {
                let s = self.toss.time[k] - at.time;
                let predicted = at.position + velocity * s + gravity * (0.5 * s * s);
                let residual = self.toss.position[k] - predicted;
                let rate = velocity + gravity * s;
                for axis in 0..3 {
                    let weight = weights[0];
                    let row = [
                        (axis, weight),
                        (place + axis, weight * s),
                        (TIME, -weight * rate[axis]),
                    ];
                    sums.add(&row, residual[axis] * weight);
                }
                sums.squares[0] += residual.norm_squared();
                sums.counts[0] += 1;
                if !self.has_attitude(side, k) {
                    continue;
                }
                let (rotation, by_rate) = self.turn(&at.rotation, &angular, s)?;
                let error = rotation.inverse().compose(&self.toss.rotation[k]).log();
                // An attitude error at the impact, transformed to the body axes of the sample.
                let carried = rotation.inverse().compose(&at.rotation).matrix();
                let by_time = -self.end_rate(&angular, s, &rotation, &at.rotation);
                for axis in 0..3 {
                    let weight = weights[1];
                    let row: [(usize, f64); 7] = std::array::from_fn(|j| match j {
                        0..3 => (ATTITUDE + j, weight * carried[(axis, j)]),
                        3..6 => (place + j, weight * by_rate[(axis, j - 3)]),
                        _ => (TIME, weight * by_time[axis]),
                    });
                    sums.add(&row, error[axis] * weight);
                }
                sums.squares[1] += error.norm_squared();
                sums.counts[1] += 1;
            }
        }
        sums.cost.is_finite().then_some(sums)
    }

    /// Computes the derivative, with respect to gravity, of half the gradient of the sum of squares that the fit minimizes. The
    /// rows are the unknowns of the fit. Gravity $g$ adds $\tfrac12 s^2g$ to a predicted position, with the time $s$ since the
    /// impact.
    fn by_gravity(&self, at: &Unknowns) -> SMatrix<f64, UNKNOWNS, 3> {
        let weight = 1.0 / self.noise.position_spread.max(LEAST_NOISE);
        let mut derivative = SMatrix::zeros();
        for (side, window) in self.windows.iter().enumerate() {
            for k in window.clone() {
                let s = self.toss.time[k] - at.time;
                let moved = weight * weight * 0.5 * s * s;
                let rate = at.sides[side].velocity + self.noise.gravity * s;
                for axis in 0..3 {
                    derivative[(axis, axis)] += moved;
                    derivative[(MOTION[side] + axis, axis)] += moved * s;
                    derivative[(TIME, axis)] -= moved * rate[axis];
                }
            }
        }
        derivative
    }

    /// Returns the angular velocity in body axes (rad/s) at the end of a flight in which the angular momentum in space
    /// is constant. `from` and `end` are the attitudes at the start and the end, `angular` is the angular velocity at
    /// the start, and `time` the duration of the flight (s).
    fn end_rate(&self, angular: &Vector3<f64>, time: f64, end: &So3, from: &So3) -> Vector3<f64> {
        if time == 0.0 || self.body.is_isotropic() {
            return *angular;
        }
        let momentum = from.rotate(&(self.body.rigid.inertia() * angular));
        self.body
            .rigid
            .angular_velocity(&end.rotate_back(&momentum))
    }

    /// Minimizes the sum of squares of the fit by at most `steps` Gauss-Newton steps. A step is halved until the sum does not
    /// increase. The time of the impact is fixed unless `is_timed` is true. Returns the unknowns and the normal equations
    /// there; `None` if the motion cannot be computed at the start.
    fn descend(&self, at: Unknowns, is_timed: bool, steps: usize) -> Option<(Unknowns, Sums)> {
        let mut at = at;
        let mut sums = self.sums(&at)?;
        for _ in 0..steps {
            let Some(step) = solve(&sums, is_timed) else {
                break;
            };
            let mut factor = 1.0;
            let mut next = None;
            for _ in 0..12 {
                let trial = self.moved(&at, &(step * factor));
                if let Some(found) = self.sums(&trial)
                    && found.cost <= sums.cost
                {
                    next = Some((trial, found));
                    break;
                }
                factor *= 0.5;
            }
            let Some((trial, found)) = next else {
                break;
            };
            let gain = sums.cost - found.cost;
            (at, sums) = (trial, found);
            if gain <= SETTLED * sums.cost {
                break;
            }
        }
        Some((at, sums))
    }

    fn moved(&self, at: &Unknowns, step: &Vector) -> Unknowns {
        let part = |place: usize| Vector3::new(step[place], step[place + 1], step[place + 2]);
        let [earliest, latest] = self.innermost();
        let side = |k: usize| Side {
            velocity: at.sides[k].velocity + part(MOTION[k]),
            angular: at.sides[k].angular + part(MOTION[k] + 3),
        };
        Unknowns {
            time: (at.time + step[TIME]).clamp(earliest, latest),
            position: at.position + part(0),
            rotation: at.rotation.compose(&So3::exp(&part(ATTITUDE))),
            sides: [side(0), side(1)],
        }
    }

    /// Returns the times (s) of the last sample before the impact and of the first sample after it.
    fn innermost(&self) -> [f64; 2] {
        let time = &self.toss.time;
        [time[self.windows[0].end - 1], time[self.windows[1].start]]
    }

    /// Returns initial values of the unknowns for a given time of the impact (s). Velocities are estimated from the
    /// mean velocities of both flights.
    fn guess(&self, time: f64) -> Unknowns {
        let side = |window: &Range<usize>| {
            let (first, last) = (window.start, window.end - 1);
            let span = self.toss.time[last] - self.toss.time[first];
            let middle = 0.5 * (self.toss.time[last] + self.toss.time[first]) - time;
            let turn = self.toss.rotation[first].inverse();
            let mean = (self.toss.position[last] - self.toss.position[first]) / span;
            Side {
                velocity: mean - self.noise.gravity * middle,
                angular: turn.compose(&self.toss.rotation[last]).log() / span,
            }
        };
        let sides = [side(&self.windows[0]), side(&self.windows[1])];
        let k = self.windows[0].end - 1;
        let s = time - self.toss.time[k];
        Unknowns {
            time,
            position: self.toss.position[k] + sides[0].velocity * s,
            rotation: self.toss.rotation[k].compose(&So3::exp(&(sides[0].angular * s))),
            sides,
        }
    }

    /// Fits the flights before and after an impact to the tracked poses, so that they meet at one pose at the time of
    /// the impact. Returns `None` if the samples do not determine the fit.
    pub(crate) fn meet(&self) -> Option<Meeting> {
        let [earliest, latest] = self.innermost();
        let mut best: Option<(Unknowns, Sums)> = None;
        for k in 0..STEPS.times {
            let share = k as f64 / (STEPS.times - 1) as f64;
            let start = self.guess(earliest + (latest - earliest) * share);
            if let Some(found) = self.descend(start, false, STEPS.first)
                && best
                    .as_ref()
                    .is_none_or(|(_, sums)| found.1.cost < sums.cost)
            {
                best = Some(found);
            }
        }
        let (at, sums) = self.descend(best?.0, true, STEPS.most)?;
        let residuals = 3 * (sums.counts[0] + sums.counts[1]);
        let rms = |k: usize| (sums.squares[k] / sums.counts[k].max(1) as f64).sqrt();
        let six = |k: usize| {
            let angular = at.rotation.rotate(&at.sides[k].angular);
            let v = at.sides[k].velocity;
            SVector::from([v.x, v.y, v.z, angular.x, angular.y, angular.z])
        };
        let inverse = inverse(&sums)?;
        let motion = at.motion();
        let by_gravity = -motion * inverse * self.by_gravity(&at);
        Some(Meeting {
            time: at.time,
            position: at.position,
            rotation: at.rotation,
            velocity: [six(0), six(1)],
            covariance: motion * inverse * motion.transpose(),
            by_gravity,
            chi2: sums.cost,
            dof: residuals.saturating_sub(UNKNOWNS),
            rms: [rms(0), rms(1)],
        })
    }
}

impl Sums {
    /// Adds a weighted residual to the sum of squares and to the normal equations. `row` lists the unknowns on which the
    /// residual depends (index, derivative).
    fn add(&mut self, row: &[(usize, f64)], residual: f64) {
        self.cost += residual * residual;
        for &(i, by_i) in row {
            self.right[i] += residual * by_i;
            for &(j, by_j) in row {
                self.normal[(i, j)] += by_i * by_j;
            }
        }
    }
}

/// Scales the normal matrix of the least-squares problem to unit diagonal, and returns the scaled matrix and the scale factors
/// of the unknowns. If the time of the impact is fixed (not `is_timed`), the row and the column of the time are those of the
/// identity matrix.
fn scaled(sums: &Sums, is_timed: bool) -> (Normal, Vector) {
    let mut normal = sums.normal;
    if !is_timed {
        normal.set_row(TIME, &Vector::zeros().transpose());
        normal.set_column(TIME, &Vector::zeros());
    }
    let scale = Vector::from_fn(|i, _| {
        let diagonal = normal[(i, i)];
        if diagonal > 0.0 {
            1.0 / diagonal.sqrt()
        } else {
            1.0
        }
    });
    let mut unit = Normal::from_fn(|i, j| normal[(i, j)] * scale[i] * scale[j]);
    for i in 0..UNKNOWNS {
        unit[(i, i)] = 1.0;
    }
    (unit, scale)
}

fn solve(sums: &Sums, is_timed: bool) -> Option<Vector> {
    let (unit, scale) = scaled(sums, is_timed);
    let mut right = sums.right.component_mul(&scale);
    if !is_timed {
        right[TIME] = 0.0;
    }
    let step = unit.cholesky()?.solve(&right).component_mul(&scale);
    step.iter().all(|x| x.is_finite()).then_some(step)
}

/// Returns the inverse of the normal matrix of the least-squares problem; `None` if the matrix is singular. The samples do not
/// determine the time of an impact that does not change the motion; this time is then treated as known.
fn inverse(sums: &Sums) -> Option<Normal> {
    let invert = |is_timed: bool| {
        let (unit, scale) = scaled(sums, is_timed);
        let factor = unit.cholesky()?;
        let diagonal = factor.l().diagonal();
        if diagonal.min() * diagonal.min() <= RANK {
            return None;
        }
        let inverse = factor.inverse();
        Some(Normal::from_fn(|i, j| {
            inverse[(i, j)] * scale[i] * scale[j]
        }))
    };
    invert(true).or_else(|| invert(false))
}
