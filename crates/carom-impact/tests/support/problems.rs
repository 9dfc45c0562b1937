//! Random impacts with the structure of mechanical systems.

use super::random::Random;
use carom_contact::{Contact, ContactSet, ImpactError, ImpactProblem};
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::{DMatrix, DVector};

/// An impact as it would be written down.
#[derive(Clone, Debug)]
pub struct Posed {
    pub mass: DMatrix<f64>,
    pub velocity: DVector<f64>,
    pub contacts: Vec<Contact>,
    pub constraints: Vec<Covector>,
}

impl Posed {
    /// Runs `f` on the problem.
    pub fn pose<T>(
        &self,
        f: impl FnOnce(&ImpactProblem) -> Result<T, ImpactError>,
    ) -> Result<T, ImpactError> {
        let metric = KineticMetric::new(self.mass.clone())?;
        let forms = self.constraints.clone();
        let contacts = ContactSet::constrained(&metric, self.contacts.clone(), forms)?;
        f(&ImpactProblem::new(
            &contacts,
            Tangent(self.velocity.clone()),
        )?)
    }

    /// The problem as a line of JSON.
    pub fn line(&self) -> String {
        let rows = |rows: &[Covector]| -> Vec<Vec<f64>> {
            rows.iter().map(|row| row.0.as_slice().to_vec()).collect()
        };
        let contacts = self.contacts.iter().map(|contact| {
            let normal = contact.normal.0.as_slice();
            let tangents = rows(&contact.tangents);
            let (friction, restitution) = (contact.friction, contact.restitution);
            format!(
                r#"{{"normal":{normal:?},"tangents":{tangents:?},"friction":{friction:?},"restitution":{restitution:?}}}"#
            )
        });
        let contacts: Vec<String> = contacts.collect();
        let mass: Vec<Vec<f64>> = self
            .mass
            .column_iter()
            .map(|column| column.iter().copied().collect())
            .collect();
        format!(
            r#"{{"mass_matrix":{mass:?},"velocity":{:?},"contacts":[{}],"constraints":{:?}}}"#,
            self.velocity.as_slice(),
            contacts.join(","),
            rows(&self.constraints),
        )
    }

    /// Dimension of the configuration space.
    pub fn dim(&self) -> usize {
        self.velocity.len()
    }

    /// Rows (n × rows) of contacts, with the tangents of some, then of constraints.
    fn rows(&self, has_tangents: impl Fn(&Contact) -> bool) -> DMatrix<f64> {
        let mut columns = Vec::new();
        for contact in &self.contacts {
            columns.push(contact.normal.0.clone());
            if has_tangents(contact) {
                columns.extend(contact.tangents.iter().map(|row| row.0.clone()));
            }
        }
        columns.extend(self.constraints.iter().map(|row| row.0.clone()));
        match columns.len() {
            0 => DMatrix::zeros(self.dim(), 0),
            _ => DMatrix::from_columns(&columns),
        }
    }

    /// Orthonormal basis (n × rank) of the span of all rows, not whitened.
    pub fn euclidean_span(&self) -> DMatrix<f64> {
        let mut rows = self.rows(|_| true);
        normalize(&mut rows);
        carom_metric::orthonormal_span(&rows)
    }

    /// Whitened unit rows (n × rows) of contacts, with the tangents of some, then of constraints.
    pub fn unit_rows(&self, has_tangents: impl Fn(&Contact) -> bool) -> DMatrix<f64> {
        let mut rows = self.rows(has_tangents);
        let metric = KineticMetric::new(self.mass.clone()).unwrap();
        for mut row in rows.column_iter_mut() {
            metric.whiten_in_place(row.as_mut_slice());
        }
        normalize(&mut rows);
        rows
    }

    /// Orthonormal basis (n × rank) of the span of the whitened rows.
    pub fn span(&self, has_tangents: impl Fn(&Contact) -> bool) -> DMatrix<f64> {
        carom_metric::orthonormal_span(&self.unit_rows(has_tangents))
    }

    /// Whitened velocity (n).
    pub fn whiten(&self, velocity: &DVector<f64>) -> DVector<f64> {
        let metric = KineticMetric::new(self.mass.clone()).unwrap();
        metric.whiten_velocity(&Tangent(velocity.clone())).unwrap()
    }

    /// Whitened momentum (n).
    pub fn whiten_covector(&self, momentum: &DVector<f64>) -> DVector<f64> {
        let metric = KineticMetric::new(self.mass.clone()).unwrap();
        metric.whiten(&Covector(momentum.clone())).unwrap()
    }

    /// Takes away the velocity that the constraints forbid.
    fn admit(&mut self) {
        if self.constraints.is_empty() {
            return;
        }
        let forms: Vec<_> = self.constraints.iter().map(|f| f.0.clone()).collect();
        let forms = DMatrix::from_columns(&forms);
        let inverse = self.mass.clone().try_inverse().unwrap();
        let delassus = forms.transpose() * &inverse * &forms;
        for _ in 0..2 {
            let rates = forms.tr_mul(&self.velocity);
            let multipliers = delassus.clone().lu().solve(&rates).unwrap();
            self.velocity -= &inverse * &forms * multipliers;
        }
    }
}

/// Brings the columns that are not zero to unit length.
fn normalize(columns: &mut DMatrix<f64>) {
    for mut column in columns.column_iter_mut() {
        let length = column.norm();
        if length > 0.0 {
            column /= length;
        }
    }
}

/// A random impact of a random kind.
pub fn problem(random: &mut Random) -> Posed {
    let mut posed = match random.below(6) {
        0 => dense(random),
        1 => chain(random),
        2 => planar_bodies(random),
        3 => spatial_body(random),
        4 => box_on_corners(random),
        _ => single(random),
    };
    let n = posed.dim();
    if random.below(3) == 0 && n > 3 {
        let count = 1 + random.below(2);
        posed.constraints = (0..count)
            .map(|_| Covector::from_slice(&random.vector(n)))
            .collect();
        posed.admit();
    }
    if random.below(3) == 0 {
        for contact in &mut posed.contacts {
            let by = random.decades(-4.0, 4.0);
            scale(contact, by);
        }
    }
    posed
}

/// Multiplies the rows of a contact.
pub fn scale(contact: &mut Contact, by: f64) {
    contact.normal.0 *= by;
    contact.tangents.iter_mut().for_each(|row| row.0 *= by);
}

/// Friction and restitution, with the values at the ends of their ranges among them.
fn contact(random: &mut Random, normal: &[f64], tangents: &[Vec<f64>]) -> Contact {
    let friction = match random.below(6) {
        0 => 0.0,
        1 => random.decades(-3.0, 0.0),
        2 => random.decades(0.0, 1.0),
        _ => random.unit(),
    };
    let restitution = match random.below(4) {
        0 => 0.0,
        1 => 1.0,
        _ => random.unit(),
    };
    Contact::new(Covector::from_slice(normal))
        .with_tangents(
            tangents
                .iter()
                .map(|t| Covector::from_slice(t))
                .collect::<Vec<_>>(),
        )
        .with_friction(if tangents.is_empty() { 0.0 } else { friction })
        .with_restitution(restitution)
}

/// Rows without any structure.
fn dense(random: &mut Random) -> Posed {
    let tangents = random.below(3);
    let n = 2 + tangents + random.below(4);
    let count = 1 + random.below(4);
    let contacts = (0..count).map(|_| {
        let normal = random.vector(n);
        let tangents: Vec<_> = (0..tangents).map(|_| random.vector(n)).collect();
        contact(random, &normal, &tangents)
    });
    let contacts = contacts.collect();
    let condition = random.decades(0.0, 3.0);
    Posed {
        contacts,
        mass: random.mass(n, condition),
        velocity: DVector::from_vec(random.vector(n)),
        constraints: Vec::new(),
    }
}

/// Balls on a line, perhaps at a wall.
fn chain(random: &mut Random) -> Posed {
    let n = 2 + random.below(5);
    let masses: Vec<f64> = (0..n).map(|_| random.decades(-1.0, 1.0)).collect();
    let mut contacts = Vec::new();
    if random.below(2) == 0 {
        let mut normal = vec![0.0; n];
        normal[0] = 1.0;
        contacts.push(contact(random, &normal, &[]));
    }
    for i in 0..n - 1 {
        let mut normal = vec![0.0; n];
        (normal[i], normal[i + 1]) = (-1.0, 1.0);
        contacts.push(contact(random, &normal, &[]));
    }
    Posed {
        contacts,
        mass: DMatrix::from_diagonal(&DVector::from_vec(masses)),
        velocity: DVector::from_vec(random.vector(n)),
        constraints: Vec::new(),
    }
}

/// One or two bodies in the plane that touch the ground, a wall or each other at points of their rims.
fn planar_bodies(random: &mut Random) -> Posed {
    let bodies = 1 + random.below(2);
    let n = 3 * bodies;
    let mut masses = Vec::new();
    for _ in 0..bodies {
        let mass = random.decades(-1.0, 1.0);
        masses.extend([mass, mass, mass * random.decades(-1.0, 0.5)]);
    }
    let count = bodies + random.below(3);
    let directions: Vec<f64> = (0..3)
        .map(|_| std::f64::consts::TAU * random.unit())
        .collect();
    let contacts = (0..count).map(|k| {
        let direction = directions[random.below(3)];
        let (s, c) = direction.sin_cos();
        let (mut normal, mut tangent) = (vec![0.0; n], vec![0.0; n]);
        let mut touch = |body: usize, sign: f64, arm: [f64; 2]| {
            let at = 3 * body;
            normal[at..at + 3].copy_from_slice(&[
                sign * c,
                sign * s,
                sign * (arm[0] * s - arm[1] * c),
            ]);
            tangent[at..at + 3].copy_from_slice(&[
                -sign * s,
                sign * c,
                sign * (arm[0] * c + arm[1] * s),
            ]);
        };
        let mut arm = || [random.signed(), random.signed()];
        // Every body touches something.
        touch(k % bodies, 1.0, arm());
        if bodies == 2 && k >= 1 && k % 2 == 0 {
            touch(1, -1.0, arm());
        }
        contact(random, &normal, &[tangent])
    });
    Posed {
        contacts: contacts.collect(),
        mass: DMatrix::from_diagonal(&DVector::from_vec(masses)),
        velocity: DVector::from_vec(random.vector(n)),
        constraints: Vec::new(),
    }
}

/// Rows of a contact of a body in space (center of mass, angular velocity), whose normal and tangents are orthonormal.
fn spatial_rows(axes: &DMatrix<f64>, point: &[f64]) -> [Vec<f64>; 3] {
    [0, 1, 2].map(|k| {
        let d = axes.column(k);
        let moment = [
            point[1] * d[2] - point[2] * d[1],
            point[2] * d[0] - point[0] * d[2],
            point[0] * d[1] - point[1] * d[0],
        ];
        d.iter().copied().chain(moment).collect()
    })
}

/// Axes of a random frame.
pub fn orthogonal(random: &mut Random, n: usize) -> DMatrix<f64> {
    DMatrix::from_vec(n, n, random.vector(n * n)).qr().q()
}

fn spatial_mass(random: &mut Random) -> DMatrix<f64> {
    let mass = random.decades(-1.0, 1.0);
    let mut all = DMatrix::identity(6, 6) * mass;
    let inertia = random.mass(3, 4.0) * mass;
    all.view_mut((3, 3), (3, 3)).copy_from(&inertia);
    all
}

/// A body in space with contacts in random directions.
fn spatial_body(random: &mut Random) -> Posed {
    let count = 1 + random.below(3);
    let contacts = (0..count).map(|_| {
        let point = random.vector(3);
        let [normal, x, y] = spatial_rows(&orthogonal(random, 3), &point);
        contact(random, &normal, &[x, y])
    });
    Posed {
        contacts: contacts.collect(),
        mass: spatial_mass(random),
        velocity: DVector::from_vec(random.vector(6)),
        constraints: Vec::new(),
    }
}

/// A box in space on two to four of its corners, perhaps with as many at a wall. Friction and restitution are those
/// of the floor and of the wall.
fn box_on_corners(random: &mut Random) -> Posed {
    let half: Vec<f64> = (0..3).map(|_| 0.3 + random.unit()).collect();
    let at_wall = random.below(3) == 0;
    let corners = if at_wall {
        2 + random.below(2)
    } else {
        2 + random.below(3)
    };
    let floor = contact(random, &[0.0], &[vec![0.0], vec![0.0]]);
    let wall = contact(random, &[0.0], &[vec![0.0], vec![0.0]]);
    let turn = |axis: usize| {
        // The normal first.
        DMatrix::from_fn(3, 3, |i, k| f64::from(u8::from(i == (axis + k) % 3)))
    };
    let signs = [[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]];
    let mut contacts = Vec::new();
    let sides = [(2, floor), (0, wall)];
    for (axis, like) in sides.into_iter().take(1 + usize::from(at_wall)) {
        for sign in signs.iter().take(corners) {
            let mut point = [0.0; 3];
            point[axis] = -half[axis];
            point[(axis + 1) % 3] = sign[0] * half[(axis + 1) % 3];
            point[(axis + 2) % 3] = sign[1] * half[(axis + 2) % 3];
            let [normal, x, y] = spatial_rows(&turn(axis), &point);
            contacts.push(
                like.clone()
                    .with_normal(Covector::from_slice(&normal))
                    .with_tangents(vec![Covector::from_slice(&x), Covector::from_slice(&y)]),
            );
        }
    }
    Posed {
        contacts,
        mass: spatial_mass(random),
        velocity: DVector::from_vec(random.vector(6)),
        constraints: Vec::new(),
    }
}

/// One contact of a body in the plane or in space.
fn single(random: &mut Random) -> Posed {
    let mut posed = match random.below(3) {
        0 => planar_bodies(random),
        1 => dense(random),
        _ => spatial_body(random),
    };
    posed.contacts.truncate(1);
    posed
}

/// A number from the environment.
pub fn number(name: &str, default: u64) -> u64 {
    let given = std::env::var(name);
    given.map_or(default, |text| text.parse().unwrap())
}

/// Balls in the plane that touch each other, some of them the floor. One contact is at rest: its normal velocity is zero, or the
/// rounding error of the velocities.
pub fn balls_with_one_at_rest(random: &mut Random) -> Posed {
    let bodies = 2 + random.below(3);
    let n = 3 * bodies;
    let masses: Vec<f64> = (0..bodies).map(|_| random.decades(-1.0, 1.0)).collect();
    let radii: Vec<f64> = (0..bodies).map(|_| random.decades(-1.3, -0.7)).collect();
    let mut contacts = Vec::new();
    for ball in 1..bodies {
        let (other, angle) = (random.below(ball), std::f64::consts::TAU * random.unit());
        let (s, c) = angle.sin_cos();
        let (mut normal, mut tangent) = (vec![0.0; n], vec![0.0; n]);
        for (body, sign) in [(ball, 1.0), (other, -1.0)] {
            normal[3 * body..3 * body + 2].copy_from_slice(&[sign * c, sign * s]);
            let arm = -radii[body];
            tangent[3 * body..3 * body + 3].copy_from_slice(&[-sign * s, sign * c, arm]);
        }
        contacts.push(contact(random, &normal, &[tangent]));
    }
    for ball in 0..bodies {
        if random.below(2) == 0 {
            let (mut normal, mut tangent) = (vec![0.0; n], vec![0.0; n]);
            normal[3 * ball + 1] = 1.0;
            (tangent[3 * ball], tangent[3 * ball + 2]) = (1.0, radii[ball]);
            contacts.push(contact(random, &normal, &[tangent]));
        }
    }
    let inertias = masses.iter().zip(&radii);
    let inertias = inertias.flat_map(|(m, r)| [*m, *m, 0.5 * m * r * r]);
    let mass = DMatrix::from_diagonal(&DVector::from_iterator(n, inertias));
    let mut velocity = DVector::from_vec(random.vector(n));
    let normal = &contacts[random.below(contacts.len())].normal.0;
    let change = normal.component_div(&mass.diagonal());
    velocity.axpy(-normal.dot(&velocity) / normal.dot(&change), &change, 1.0);
    Posed {
        mass,
        velocity,
        contacts,
        constraints: Vec::new(),
    }
}
