//! Impacts of five systems with known truth, and faults that are planted in them.

use carom_contact::{Contact, ContactSet, ImpactLaw};
use carom_fit::nalgebra::{DMatrix, DVector};
use carom_fit::{Check, Checking, DataError, DataSetup};
use carom_impact::frictional::{CounterRng, MoreauNewton};
use carom_metric::{Covector, KineticMetric, Tangent};
use serde_json::json;
use std::f64::consts::PI;
use std::fmt::Write;

/// Impact as a table or a line tells it.
#[derive(Clone, Debug)]
pub(crate) struct Impact {
    pub(crate) mass: DMatrix<f64>,
    /// Normal and tangents of each contact.
    pub(crate) contacts: Vec<Vec<Vec<f64>>>,
    /// Position and angle of a planar body.
    pub(crate) configuration: [f64; 3],
    pub(crate) minus: Vec<f64>,
    pub(crate) plus: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Ellipse,
    Polygon,
    Discs,
    Chain,
    Ball,
}

pub(crate) const KINDS: [Kind; 5] = [
    Kind::Ellipse,
    Kind::Polygon,
    Kind::Discs,
    Kind::Chain,
    Kind::Ball,
];

pub(crate) const MASS: f64 = 0.2;
pub(crate) const INERTIA: f64 = 2.0e-4;
pub(crate) const GRAVITY: f64 = 9.81;
const AXES: [f64; 2] = [0.035, 0.025];
const CORNERS: [[f64; 2]; 4] = [
    [-0.048, -0.039],
    [0.061, -0.029],
    [0.031, 0.03],
    [-0.018, 0.04],
];

impl Kind {
    pub(crate) fn is_table(self) -> bool {
        matches!(self, Self::Ellipse | Self::Polygon)
    }

    /// Configuration of the table; `origin` is the point about which the outline is given (body axes).
    pub(crate) fn config(self, origin: [f64; 2]) -> String {
        let outline = match self {
            Self::Ellipse => format!("{{ ellipse = [{}, {}] }}", AXES[0], AXES[1]),
            _ => {
                let moved =
                    CORNERS.map(|c| format!("[{}, {}]", c[0] - origin[0], c[1] - origin[1]));
                format!("{{ polygon = [{}] }}", moved.join(", "))
            }
        };
        format!(
            "[data]\nid = \"drop\"\nconfiguration = [\"x\", \"y\", \"theta\"]\n\
             velocity = [\"vx\", \"vy\", \"omega\"]\n\
             velocity_plus = [\"vx_plus\", \"vy_plus\", \"omega_plus\"]\n\
             [system]\ntype = \"planar-body\"\nmass = {MASS}\ninertia = {INERTIA}\noutline = {outline}\n\
             floor = {{ normal = [0.0, 1.0], surface = \"floor\" }}\ngravity = [0.0, -{GRAVITY}]\n"
        )
    }
}

pub(crate) struct Dice(CounterRng);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(CounterRng::new(seed, 7, 7))
    }

    pub(crate) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.next_uniform()
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((self.0.next_uniform() * n as f64) as usize).min(n - 1)
    }

    fn normal(&mut self) -> f64 {
        let (a, b) = (self.0.next_uniform().max(1e-300), self.0.next_uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

/// Returns the points that touch a floor under gravity, from the center of mass, by search over the outline.
fn lowest(kind: Kind, angle: f64) -> Vec<[f64; 2]> {
    let turned = |p: [f64; 2]| {
        let (s, c) = angle.sin_cos();
        [c * p[0] - s * p[1], s * p[0] + c * p[1]]
    };
    if kind == Kind::Ellipse {
        // The tangent of the outline is level where the derivative of the height vanishes.
        let (s, c) = angle.sin_cos();
        let t = (AXES[1] * c).atan2(AXES[0] * s);
        let low = [t, t + PI].map(|t| turned([AXES[0] * t.cos(), AXES[1] * t.sin()]));
        return vec![if low[0][1] < low[1][1] {
            low[0]
        } else {
            low[1]
        }];
    }
    let points = CORNERS.map(turned);
    let least = points.iter().map(|p| p[1]).fold(f64::INFINITY, f64::min);
    points
        .into_iter()
        .filter(|p| p[1] <= least + 1e-3)
        .collect()
}

/// Draws impacts of a system, with restitution, friction, and noise in parts of the speed.
pub(crate) fn impacts(kind: Kind, n: usize, dice: &mut Dice, noise: f64) -> Vec<Impact> {
    let coefficients = [dice.uniform(0.0, 1.0), dice.uniform(0.0, 0.6)];
    impacts_with(coefficients, kind, n, dice, noise)
}

/// Draws impacts of a system with given restitution and friction.
pub(crate) fn impacts_with(
    [restitution, friction]: [f64; 2],
    kind: Kind,
    n: usize,
    dice: &mut Dice,
    noise: f64,
) -> Vec<Impact> {
    let law = MoreauNewton::default();
    let mut found = Vec::new();
    while found.len() < n {
        let mut impact = posed(kind, dice);
        let metric = KineticMetric::new(impact.mass.clone()).unwrap();
        let contact = |rows: &Vec<Vec<f64>>| {
            let rate: f64 = rows[0].iter().zip(&impact.minus).map(|(a, v)| a * v).sum();
            Contact::new(Covector::from_slice(&rows[0]))
                .with_tangents(
                    rows[1..]
                        .iter()
                        .map(|r| Covector::from_slice(r))
                        .collect::<Vec<_>>(),
                )
                .with_friction(friction)
                .with_restitution(if rate < 0.0 { restitution } else { 0.0 })
        };
        let contacts = impact.contacts.iter().map(contact).collect();
        let set = ContactSet::new(metric, contacts).unwrap();
        let problem = set.problem(Tangent::from_slice(&impact.minus)).unwrap();
        let Ok(outcome) = law.resolve(&problem) else {
            continue;
        };
        if !problem.is_approaching() {
            continue;
        }
        let speed = (2.0 * problem.energy_minus_j()).sqrt();
        impact.plus = outcome.velocity_plus.0.as_slice().to_vec();
        for (k, v) in impact.minus.iter_mut().enumerate() {
            *v += noise * speed / impact.mass[(k, k)].sqrt() * dice.normal();
        }
        for (k, v) in impact.plus.iter_mut().enumerate() {
            *v += noise * speed / impact.mass[(k, k)].sqrt() * dice.normal();
        }
        found.push(impact);
    }
    found
}

fn posed(kind: Kind, dice: &mut Dice) -> Impact {
    let diagonal = |entries: &[f64]| DMatrix::from_diagonal(&DVector::from_row_slice(entries));
    match kind {
        Kind::Ellipse | Kind::Polygon => {
            let angle = if kind == Kind::Polygon && dice.below(4) == 0 {
                // An edge is level.
                let k = dice.below(4);
                let (a, b) = (CORNERS[k], CORNERS[(k + 1) % 4]);
                -(b[1] - a[1]).atan2(b[0] - a[0])
            } else {
                dice.uniform(-PI, PI)
            };
            let points = lowest(kind, angle);
            let row = |p: &[f64; 2]| vec![vec![0.0, 1.0, p[0]], vec![1.0, 0.0, -p[1]]];
            Impact {
                mass: diagonal(&[MASS, MASS, INERTIA]),
                contacts: points.iter().map(row).collect(),
                configuration: [dice.uniform(-0.2, 0.2), -points[0][1], angle],
                minus: vec![
                    dice.uniform(-1.5, 1.5),
                    dice.uniform(-2.5, -0.8),
                    dice.uniform(-30.0, 30.0),
                ],
                plus: Vec::new(),
            }
        }
        Kind::Discs => {
            let (s, c) = dice.uniform(-PI, PI).sin_cos();
            let [a, b] = [0.03, 0.035];
            Impact {
                mass: diagonal(&[0.17, 0.17, 7.65e-5, 0.25, 0.25, 1.53e-4]),
                contacts: vec![vec![
                    vec![c, s, 0.0, -c, -s, 0.0],
                    vec![-s, c, -a, s, -c, -b],
                ]],
                configuration: [0.0; 3],
                minus: [1.5, 1.5, 30.0, 1.5, 1.5, 30.0]
                    .map(|size| dice.uniform(-size, size))
                    .to_vec(),
                plus: Vec::new(),
            }
        }
        Kind::Chain => {
            // Foot of a trunk with two links, at relative angles; heel, toe or both land.
            let angles = [
                dice.uniform(-0.6, 0.6),
                dice.uniform(-0.8, 0.8),
                dice.uniform(-0.4, 0.4),
            ];
            let (mass, ends) = chain(angles);
            let which = dice.below(3);
            let touching: Vec<_> = match which {
                0 => vec![ends[0].clone()],
                1 => vec![ends[1].clone()],
                _ => ends.to_vec(),
            };
            Impact {
                mass,
                contacts: touching,
                configuration: [0.0; 3],
                minus: vec![
                    dice.uniform(-0.5, 0.5),
                    dice.uniform(-1.2, -0.4),
                    dice.uniform(-0.5, 0.5),
                    dice.uniform(-1.5, 1.5),
                    dice.uniform(-1.5, 1.5),
                ],
                plus: Vec::new(),
            }
        }
        Kind::Ball => {
            let (m, r) = (0.3, 0.04);
            let i = 0.4 * m * r * r;
            Impact {
                mass: diagonal(&[m, m, m, i, i, i]),
                contacts: vec![vec![
                    vec![0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
                    vec![1.0, 0.0, 0.0, 0.0, -r, 0.0],
                    vec![0.0, 1.0, 0.0, r, 0.0, 0.0],
                ]],
                configuration: [0.0; 3],
                minus: vec![
                    dice.uniform(-2.0, 2.0),
                    dice.uniform(-2.0, 2.0),
                    dice.uniform(-3.0, -1.0),
                    dice.uniform(-40.0, 40.0),
                    dice.uniform(-40.0, 40.0),
                    dice.uniform(-40.0, 40.0),
                ],
                plus: Vec::new(),
            }
        }
    }
}

/// Mass matrix of a trunk with two links and a foot, and the rows of heel and toe: positions are sums of rotated vectors.
fn chain(angles: [f64; 3]) -> (DMatrix<f64>, [Vec<Vec<f64>>; 2]) {
    let lengths = [0.45, 0.42];
    let masses = [25.0, 4.0, 2.5, 1.1];
    let inertias = [0.8, 0.06, 0.04, 0.005];
    // Absolute angles of thigh, shank, foot; joint positions below the hip.
    let mut absolute = [0.0; 3];
    let mut sum = 0.0;
    for (a, q) in absolute.iter_mut().zip(angles) {
        sum += q;
        *a = sum;
    }
    // Velocity of a point: hip + sum of omega_j times the lever from joint j.
    let down = |a: f64, l: f64| [l * a.sin(), -l * a.cos()];
    let mut joints = vec![[0.0, 0.0]];
    for k in 0..2 {
        let d = down(absolute[k], lengths[k]);
        let last = joints[k];
        joints.push([last[0] + d[0], last[1] + d[1]]);
    }
    let row = |point: [f64; 2], depth: usize| {
        let mut x = vec![1.0, 0.0, 0.0, 0.0, 0.0];
        let mut z = vec![0.0, 1.0, 0.0, 0.0, 0.0];
        for j in 0..depth {
            let lever = [point[0] - joints[j][0], point[1] - joints[j][1]];
            x[2 + j] = -lever[1];
            z[2 + j] = lever[0];
        }
        (x, z)
    };
    let mut mass = DMatrix::zeros(5, 5);
    for link in 0..4 {
        let point = match link {
            0 => [0.0, 0.0],
            3 => {
                let d = down(absolute[2] + 1.2, 0.08);
                [joints[2][0] + d[0], joints[2][1] + d[1]]
            }
            k => {
                let d = down(absolute[k - 1], 0.5 * lengths[k - 1]);
                [joints[k - 1][0] + d[0], joints[k - 1][1] + d[1]]
            }
        };
        let (x, z) = row(point, link);
        let mut turn = vec![0.0; 5];
        turn[2..2 + link].fill(1.0);
        for (r, m) in [(x, masses[link]), (z, masses[link]), (turn, inertias[link])] {
            let v = DVector::from_vec(r);
            mass += &v * v.transpose() * m;
        }
    }
    let end = |forward: f64| {
        let a = absolute[2];
        let d = [
            forward * a.cos() + 0.08 * a.sin(),
            forward * a.sin() - 0.08 * a.cos(),
        ];
        let (x, z) = row([joints[2][0] + d[0], joints[2][1] + d[1]], 3);
        vec![z, x]
    };
    (mass, [end(-0.06), end(0.16)])
}

/// Text of a file with these impacts.
pub(crate) fn file(kind: Kind, impacts: &[Impact]) -> String {
    let mut text = String::new();
    if kind.is_table() {
        text.push_str("drop,x,y,theta,vx,vy,omega,vx_plus,vy_plus,omega_plus\n");
    }
    for (k, impact) in impacts.iter().enumerate() {
        if kind.is_table() {
            let all = impact
                .configuration
                .iter()
                .chain(&impact.minus)
                .chain(&impact.plus);
            let fields: Vec<String> = all.map(f64::to_string).collect();
            writeln!(text, "{k},{}", fields.join(",")).unwrap();
        } else {
            let rows = |m: &DMatrix<f64>| -> Vec<Vec<f64>> {
                m.row_iter().map(|r| r.iter().copied().collect()).collect()
            };
            let contacts: Vec<_> = impact
                .contacts
                .iter()
                .map(|c| json!({"normal": c[0], "tangents": c[1..]}))
                .collect();
            let line = json!({
                "id": k, "mass_matrix": rows(&impact.mass), "velocity": impact.minus,
                "velocity_plus": impact.plus, "contacts": contacts,
            });
            writeln!(text, "{line}").unwrap();
        }
    }
    text
}

pub(crate) fn checked(kind: Kind, config: &str, text: &str, changes: &[String]) -> Check {
    let setup = setup(kind, config);
    let checking = Checking::new(3);
    let table = kind.is_table();
    checking
        .read(&setup, text.as_bytes(), table, changes, &|_, _| ())
        .unwrap()
}

pub(crate) fn setup(kind: Kind, config: &str) -> DataSetup {
    if kind.is_table() {
        DataSetup::from_toml(config).unwrap()
    } else {
        DataSetup::default()
    }
}

/// Error of reading a table with a configuration.
pub(crate) fn refused(config: &str, text: &str) -> DataError {
    match DataSetup::from_toml(config) {
        Err(error) => error,
        Ok(setup) => setup.read(text.as_bytes(), true, &[]).unwrap_err(),
    }
}
