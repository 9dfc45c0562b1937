//! Synthetic tosses with known truth: exact flights, one impact by a law, white noise.

use carom_fit::{Impact, Parameters, Plane, Poses, Rule, Setup, tangents};
use carom_impact::frictional::CounterRng;
use carom_lie::So3;
use nalgebra::{SMatrix, Vector3};
use std::f64::consts::TAU;

/// Numbers of poses before and after the impact.
const SAMPLES: [usize; 2] = [16, 16];
/// Sampling rate (Hz).
const RATE: f64 = 148.0;
/// Slowest approach speed of the vertex that hits (m/s).
const SLOWEST: f64 = 0.5;
/// Smallest height of the second lowest vertex above the lowest one, in contact bands.
const BANDS: f64 = 4.0;
/// Largest number of random attitudes and velocities that are tried for one toss.
const ATTEMPTS: usize = 10_000;

/// Parameters for computing synthetic tosses of a body, with the noise of a tracker: impact law, number of tosses, noise and
/// seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// Law of the impacts.
    pub law: &'static str,
    /// Parameters of the law.
    pub parameters: Parameters,
    /// Number of tosses, each with one impact of a single vertex.
    pub tosses: u64,
    /// Standard deviation of positions along each axis (m).
    pub position_noise: f64,
    /// Standard deviation of attitudes about each axis (rad).
    pub rotation_noise: f64,
    /// Seed for attitudes, velocities and noise.
    pub seed: u64,
}

/// Synthetic toss of a body, as computed by [`tosses`]: the poses with noise, and the true impact without noise.
#[derive(Clone, Debug)]
pub struct Toss {
    /// Poses with noise.
    pub poses: Poses,
    /// Impact without noise.
    pub truth: Impact,
}

/// Computes synthetic tosses of a body on a plane, for tests of the fit. Each toss has 32 poses at 148 Hz. The attitude at the
/// impact is random. One vertex is then lower than all others, and hits the plane at a random time between the middle two
/// poses. If the offset of the plane is unknown in `setup`, it is 0; if gravity is unknown, it is 9.81 m/s² against the normal.
///
/// # Errors
///
/// If the law fails, or for a
/// body that has no attitude with a single lowest vertex.
pub fn tosses(recipe: &Recipe, setup: &Setup) -> Result<Vec<Toss>, String> {
    (0..recipe.tosses)
        .map(|number| toss(recipe, setup, number))
        .collect()
}

fn toss(recipe: &Recipe, setup: &Setup, number: u64) -> Result<Toss, String> {
    let mut random = Random(CounterRng::new(recipe.seed, number, 0));
    let plane = Plane {
        normal: setup.plane.normal,
        offset: setup.plane.offset.unwrap_or(0.0),
    };
    let gravity = setup.gravity.unwrap_or(plane.normal * -9.81);
    let step = 1.0 / RATE;
    let time = (SAMPLES[0] as f64 - 1.0 + random.uniform()) * step;
    let mut truth = start(&mut random, setup, &plane, number)?;
    truth.time = time;
    let state = truth.state(0, setup, &plane).map_err(|e| e.to_string())?;
    let law = Rule::by_name(recipe.law).ok_or("no law")?;
    let plus = law.predict(&state, &recipe.parameters);
    let plus = plus.map_err(|e| e.to_string())?;
    truth.velocity_plus = std::array::from_fn(|k| plus[k]);
    let mut poses = Poses {
        toss: number,
        time: Vec::new(),
        position: Vec::new(),
        rotation: Vec::new(),
    };
    let rotation = truth.rotation;
    for k in 0..SAMPLES[0] + SAMPLES[1] {
        let at = k as f64 * step;
        let velocity = if k < SAMPLES[0] {
            truth.velocity_minus
        } else {
            truth.velocity_plus
        };
        let [vx, vy, vz, wx, wy, wz] = velocity;
        let s = at - time;
        let angular = rotation.rotate_back(&Vector3::new(wx, wy, wz));
        let turned = setup
            .body
            .turned(&rotation, &angular, s)
            .ok_or_else(|| "body.inertia: its flight cannot be followed".to_owned())?;
        let position = truth.position + Vector3::new(vx, vy, vz) * s + gravity * (0.5 * s * s);
        poses.time.push(at);
        poses
            .position
            .push(position + random.gaussian() * recipe.position_noise);
        poses
            .rotation
            .push(turned.compose(&So3::exp(&(random.gaussian() * recipe.rotation_noise))));
    }
    Ok(Toss { poses, truth })
}

/// Returns a random pose and velocity of the body at an impact in which exactly one vertex touches the plane, with a velocity
/// towards the plane. `number` is the number of the toss. Fails if no such state is found.
fn start(random: &mut Random, setup: &Setup, plane: &Plane, number: u64) -> Result<Impact, String> {
    let [first, second] = tangents(&plane.normal);
    for _ in 0..ATTEMPTS {
        let (w, axis) = (random.gaussian().x, random.gaussian());
        let norm = (w * w + axis.norm_squared()).sqrt();
        let Some(rotation) = So3::from_quaternion(w / norm, &(axis / norm)) else {
            continue;
        };
        let velocity = first * random.between(-1.5, 1.5) + second * random.between(-1.5, 1.5)
            - plane.normal * random.between(0.5, 2.5);
        let angular = random.gaussian() * 5.0;
        let heights: Vec<f64> = setup
            .body
            .vertices
            .iter()
            .map(|vertex| rotation.rotate_back(&plane.normal).dot(vertex))
            .collect();
        let lowest = heights.iter().copied().fold(f64::INFINITY, f64::min);
        let near = lowest + BANDS * setup.options.band;
        let touching: Vec<usize> = (0..heights.len()).filter(|&i| heights[i] <= near).collect();
        let [corner] = touching[..] else {
            continue;
        };
        let arm = rotation.rotate(&setup.body.vertices[corner]);
        if plane.normal.dot(&(velocity + angular.cross(&arm))) > -SLOWEST {
            continue;
        }
        let place = first * random.between(-0.1, 0.1) + second * random.between(-0.1, 0.1);
        return Ok(Impact {
            toss: number,
            index: 0,
            window: [SAMPLES[0] - 1, SAMPLES[0]],
            time: 0.0,
            position: place - plane.normal * (lowest + plane.offset),
            rotation,
            velocity_minus: [
                velocity.x, velocity.y, velocity.z, angular.x, angular.y, angular.z,
            ],
            velocity_plus: [0.0; 6],
            covariance: SMatrix::zeros(),
            by_gravity: SMatrix::zeros(),
            chi2: 0.0,
            dof: 0,
            gaps: vec![0.0],
            corners: vec![corner],
        });
    }
    let why = "body.vertices: in no attitude is one vertex well below all others";
    Err(why.to_owned())
}

/// Random generator of one toss.
struct Random(CounterRng);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0.next_uniform()
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Returns a vector of three independent random numbers with the standard normal distribution (Box & Muller).
    fn gaussian(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| {
            let radius = (-2.0 * libm::log(1.0 - self.uniform())).sqrt();
            radius * libm::cos(TAU * self.uniform())
        })
    }
}
