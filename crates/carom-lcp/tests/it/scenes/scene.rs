//! Rigid bodies in contact, as rows and Delassus matrix.

use crate::common::Stream;
use carom_lcp::contact_problem::{Block, Bodies, BodyRows, ContactProblem, Kind, Operator};
use nalgebra::{DMatrix, DVector, Matrix3, Vector3};

/// Rigid bodies with contacts, as contact rows and masses. Velocities are (v, ω), body after body.
#[derive(Default)]
pub struct Scene {
    masses: Vec<f64>,
    inertias: Vec<Vector3<f64>>,
    rows: Vec<DVector<f64>>,
    pub friction: Vec<f64>,
    pub restitution: Vec<f64>,
    pub velocity: DVector<f64>,
}

/// Contact problem of a [`Scene`] in contact space, with a dense Delassus matrix.
pub struct Posed {
    pub delassus: DMatrix<f64>,
    pub before: DVector<f64>,
    pub friction: Vec<f64>,
    pub restitution: Vec<f64>,
    /// $M^{-1}J^T$.
    pub inverse_rows: DMatrix<f64>,
    pub mass: DVector<f64>,
    pub velocity: DVector<f64>,
}

impl Scene {
    /// Adds a box with half extents `half` (m), a mass (kg) and uniform density. Returns the index of the body.
    pub fn body(&mut self, mass: f64, half: [f64; 3]) -> usize {
        let [x, y, z] = half.map(|h| h * h / 3.0);
        self.masses.push(mass);
        self.inertias.push(mass * Vector3::new(y + z, x + z, x + y));
        self.masses.len() - 1
    }

    /// Adds a contact between two bodies, or between a body and the fixed world (`second` = `None`). Each body
    /// is given by its index and the contact point relative to its center. The columns of `axes` are two
    /// tangents and the normal, which points into the first body.
    pub fn contact(
        &mut self,
        first: (usize, [f64; 3]),
        second: Option<(usize, [f64; 3])>,
        axes: Matrix3<f64>,
        friction: f64,
    ) {
        for axis in [2, 0, 1] {
            let d: Vector3<f64> = axes.column(axis).into_owned();
            let mut row = DVector::zeros(6 * self.masses.len());
            let mut add = |(body, offset): (usize, [f64; 3]), sign: f64| {
                let torque = Vector3::from(offset).cross(&d);
                for k in 0..3 {
                    row[6 * body + k] += sign * d[k];
                    row[6 * body + 3 + k] += sign * torque[k];
                }
            };
            add(first, 1.0);
            if let Some(second) = second {
                add(second, -1.0);
            }
            self.rows.push(row);
        }
        self.friction.push(friction);
        self.restitution.push(0.0);
    }

    /// Returns the number of bodies.
    pub fn n_bodies(&self) -> usize {
        self.masses.len()
    }

    /// Returns the bodies and rows of the scene.
    pub fn bodies(&self) -> Bodies {
        let mut bodies = Bodies::default();
        for (mass, inertia) in self.masses.iter().zip(&self.inertias) {
            let diagonal = |k: usize| if k < 3 { *mass } else { inertia[k - 3] };
            let entry = |i, j| if i == j { diagonal(i) } else { 0.0 };
            let matrix = std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)));
            bodies.push_body(&matrix).unwrap();
        }
        for rows in self.rows.chunks_exact(3) {
            let of = |body: usize| BodyRows {
                body,
                rows: std::array::from_fn(|k| {
                    std::array::from_fn(|at| rows[k].get(6 * body + at).copied().unwrap_or(0.0))
                }),
            };
            let is_on = |body: &usize| of(*body).rows.as_flattened().iter().any(|x| *x != 0.0);
            let on: Vec<_> = (0..self.n_bodies()).filter(is_on).map(of).collect();
            bodies.push_contact(&on[0], on.get(1)).unwrap();
        }
        bodies
    }

    /// Returns the contact problem of the scene in contact space, with a dense Delassus matrix.
    pub fn pose(&self) -> Posed {
        let n = 6 * self.masses.len();
        let mass = DVector::from_fn(n, |i, _| match i % 6 {
            0..3 => self.masses[i / 6],
            k => self.inertias[i / 6][k - 3],
        });
        let rows = DMatrix::from_fn(self.rows.len(), n, |i, j| {
            self.rows[i].get(j).copied().unwrap_or(0.0)
        });
        let inverse_rows = DMatrix::from_fn(n, self.rows.len(), |i, j| rows[(j, i)] / mass[i]);
        Posed {
            delassus: &rows * &inverse_rows,
            before: &rows * &self.velocity,
            friction: self.friction.clone(),
            restitution: self.restitution.clone(),
            inverse_rows,
            mass,
            velocity: self.velocity.clone(),
        }
    }
}

impl Posed {
    /// Returns the laws of the contacts. Targets are the restitutions times the approach.
    pub fn blocks(&self) -> Vec<Block> {
        let of = |(i, friction): (usize, &f64)| Block {
            target: self.restitution[i] * f64::max(-self.before[3 * i], 0.0),
            ..Block::new(Kind::Round, *friction)
        };
        self.friction.iter().enumerate().map(of).collect()
    }

    /// Returns the frictional contact problem as input of the solver.
    pub fn problem<'a>(&'a self, blocks: &'a [Block]) -> ContactProblem<'a> {
        let delassus = Operator::Dense(self.delassus.as_slice());
        ContactProblem::new(delassus, blocks, self.before.as_slice()).unwrap()
    }

    /// Returns the velocities of the bodies after the given contact impulses.
    pub fn velocity_plus(&self, impulse: &[f64]) -> DVector<f64> {
        &self.velocity + &self.inverse_rows * DVector::from_column_slice(impulse)
    }

    /// Returns the kinetic norm of velocities of the bodies.
    pub fn norm(&self, velocity: &DVector<f64>) -> f64 {
        velocity.component_mul(velocity).dot(&self.mass).sqrt()
    }
}

/// Returns the contact frame with the $z$ axis as the normal.
pub fn upright() -> Matrix3<f64> {
    Matrix3::identity()
}

/// Creates a box of 1 × 1.5 × 2 m and 1 kg that touches the ground with four corners.
pub fn four_corners(velocity: [f64; 6], friction: f64) -> Scene {
    let mut scene = Scene::default();
    let body = scene.body(1.0, [0.5, 0.75, 1.0]);
    for (x, y) in [(-0.5, -0.75), (0.5, -0.75), (-0.5, 0.75), (0.5, 0.75)] {
        scene.contact((body, [x, y, -1.0]), None, upright(), friction);
    }
    scene.velocity = DVector::from_column_slice(&velocity);
    scene
}

/// Names of the families of random contact problems that [`random`] creates.
pub const FAMILIES: [&str; 8] = [
    "one contact",
    "box",
    "table",
    "pile of two",
    "pile of three",
    "floor and wall",
    "robot feet",
    "generic",
];

/// Creates a random pile of two bodies, the upper one with `ratio` times the mass of the lower one.
pub fn heavy_on_light(seed: u64, ratio: f64) -> Scene {
    let mut scene = random("pile of two", seed);
    let factor = ratio * scene.masses[0] / scene.masses[1];
    scene.masses[1] *= factor;
    scene.inertias[1] *= factor;
    scene
}

/// Creates a random contact problem of the given family (one of [`FAMILIES`]).
pub fn random(family: &str, seed: u64) -> Scene {
    let mut stream = Stream(seed);
    let s = &mut stream;
    let mut scene = Scene::default();
    let friction = s.uniform(0.1, 1.5);
    let half = [
        s.uniform(0.3, 1.0),
        s.uniform(0.3, 1.0),
        s.uniform(0.3, 1.0),
    ];
    match family {
        "box" => {
            let body = scene.body(s.uniform(0.5, 3.0), half);
            corners(&mut scene, body, half, friction);
        }
        "table" => {
            let body = scene.body(s.uniform(0.5, 3.0), half);
            let legs = 4 + s.below(5);
            for leg in 0..legs {
                let angle =
                    std::f64::consts::TAU * (leg as f64 + s.uniform(-0.2, 0.2)) / legs as f64;
                let offset = [angle.cos(), angle.sin(), -half[2]];
                scene.contact((body, offset), None, upright(), friction);
            }
        }
        "pile of two" | "pile of three" => {
            let n = if family == "pile of two" { 2 } else { 3 };
            let mut size = half;
            for i in 0..n {
                let body = scene.body(s.uniform(0.5, 3.0), size);
                if i == 0 {
                    corners(&mut scene, body, size, friction);
                } else {
                    let friction = s.uniform(0.1, 1.5);
                    for (x, y) in [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)] {
                        let (x, y) = (x * size[0], y * size[1]);
                        let below = (body - 1, [x, y, half[2]]);
                        scene.contact((body, [x, y, -size[2]]), Some(below), upright(), friction);
                    }
                }
                size = [0.8 * size[0], 0.8 * size[1], half[2]];
            }
        }
        "floor and wall" => {
            let body = scene.body(s.uniform(0.5, 3.0), half);
            corners(&mut scene, body, half, friction);
            // The wall's normal is -x.
            let wall = Matrix3::new(0.0, 0.0, -1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0);
            let friction = s.uniform(0.1, 1.5);
            for y in [-1.0, 1.0] {
                let offset = [half[0], y * half[1], half[2]];
                scene.contact((body, offset), None, wall, friction);
            }
        }
        "robot feet" => {
            let body = scene.body(s.uniform(5.0, 30.0), [0.2, 0.2, 0.4]);
            let height = -s.uniform(0.6, 1.0);
            for side in [-1.0, 1.0] {
                for (x, y) in [(-0.1, -0.05), (0.1, -0.05), (-0.1, 0.05), (0.1, 0.05)] {
                    let offset = [x, y + 0.15 * side, height];
                    scene.contact((body, offset), None, upright(), friction);
                }
            }
        }
        _ => {
            let n = if family == "one contact" {
                1
            } else {
                1 + s.below(4)
            };
            let body = scene.body(s.uniform(0.5, 3.0), half);
            for _ in 0..n {
                let offset = [s.normal(), s.normal(), s.normal()];
                let axes = frame(s);
                let friction = s.uniform(0.1, 1.5);
                scene.contact((body, offset), None, axes, friction);
            }
        }
    }
    let n = 6 * scene.masses.len();
    scene.velocity = DVector::from_fn(n, |i, _| s.normal() - if i % 6 == 2 { 1.0 } else { 0.0 });
    if s.below(3) == 0 {
        let e = s.uniform(0.0, 1.0);
        scene.restitution.fill(e);
    }
    scene
}

fn corners(scene: &mut Scene, body: usize, half: [f64; 3], friction: f64) {
    for (x, y) in [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)] {
        let offset = [x * half[0], y * half[1], -half[2]];
        scene.contact((body, offset), None, upright(), friction);
    }
}

/// Returns a random rotation matrix, used as a contact frame.
pub fn frame(s: &mut Stream) -> Matrix3<f64> {
    Matrix3::from_fn(|_, _| s.normal()).qr().q()
}
