//! Minimal coordinates of the velocities that the joints allow: twists of the root bodies and relative twists along the tree.

use crate::elimination::rate;
use crate::frames::{Row, stack};
use crate::multibody::Multibody;
use carom_variational::State;
use nalgebra::{DMatrix, DVector, Vector6};
use std::collections::BTreeSet;

/// Length of a unit vector after orthogonalization against the kept ones, below which it adds no direction.
const NEW_DIRECTION: f64 = 1e-4;

/// Length of a projected unit vector below which it counts as zero, and of a row relative to the largest length that it can have.
const VANISHES: f64 = 1e-8;

/// Basis of the space of body velocities that satisfy all joint conditions at one configuration. The components of a velocity
/// in this basis are the minimal coordinates of the velocity.
#[derive(Clone, Debug)]
pub struct Basis {
    /// Basis vectors, split into bodies: for each body a 6 × n matrix with one column for each of the n basis vectors; a column
    /// is the velocity of the body in that vector. Zero for fixed bodies.
    pub columns: Vec<DMatrix<f64>>,
    /// Mass matrix of the system in this basis, including the rotors of motors (n × n).
    pub mass: DMatrix<f64>,
    n: usize,
}

impl Basis {
    /// Computes a basis of the body velocities that satisfy all joint conditions, at given states of all bodies, in which only
    /// `bodies` move and those that joints connect to them. `rows` are the Jacobian rows of all joints at these states.
    pub fn new(multibody: &Multibody, states: &[State], rows: &[Row], bodies: &[usize]) -> Self {
        let scene = multibody.scene();
        let trees = connected(multibody, bodies);
        let mut relative: Vec<Vec<Vector6<f64>>> = Vec::new();
        for branch in &scene.tree.branches {
            if !trees.contains(&branch.tree) {
                relative.push(Vec::new());
                continue;
            }
            let own = branch.joint.map_or(Vec::new(), |joint| {
                let (first, rates) = multibody.rows_of(joint);
                let rows = rows[first..rates].iter();
                rows.map(|row| {
                    if branch.is_child {
                        row.child
                    } else {
                        row.parent
                    }
                })
                .collect()
            });
            relative.push(null_space(&own, multibody.size()));
        }
        let n: usize = relative.iter().map(Vec::len).sum();
        let mut columns = vec![DMatrix::zeros(6, n); multibody.n_bodies()];
        let mut next = 0;
        for (branch, free) in scene.tree.branches.iter().zip(&relative) {
            if let Some(towards) = branch.towards {
                columns[branch.body] =
                    carried(&states[towards], &states[branch.body], &columns[towards]);
            }
            for twist in free {
                columns[branch.body].set_column(next, twist);
                next += 1;
            }
        }
        let mut basis = Self {
            columns,
            mass: DMatrix::zeros(n, n),
            n,
        };
        basis.close_loops(multibody, rows);
        basis.weigh(multibody, rows);
        basis
    }

    /// Returns the dimension of the basis: the number of degrees of freedom of the jointed bodies.
    pub fn dim(&self) -> usize {
        self.n
    }

    /// Expresses a row, a linear function of body velocities, in the basis: returns its value on each basis vector. `ends`
    /// are the indices of the row's parent and child; `None` is the ground or a fixed body.
    pub fn covector(&self, row: &Row, ends: &[Option<usize>; 2]) -> DVector<f64> {
        let mut out = DVector::zeros(self.n);
        let [parent, child] = *ends;
        if let Some(body) = parent {
            out += self.columns[body].tr_mul(&row.parent);
        }
        if let Some(body) = child {
            out += self.columns[body].tr_mul(&row.child);
        }
        out
    }

    /// Returns the largest length that the components of a row in the basis can have: the sum over the two bodies of the length
    /// of the row times the length of the basis, both with angular parts in units of `size` (m). Rounding of the components is
    /// a small multiple of this times the unit roundoff.
    fn largest_length(&self, row: &Row, ends: &[Option<usize>; 2], size: f64) -> f64 {
        let length = |linear: f64, angular: f64| libm::hypot(linear, angular);
        let of_body = |body: Option<usize>, own: &Vector6<f64>| {
            body.map_or(0.0, |body| {
                let columns = &self.columns[body];
                let basis = length(columns.rows(0, 3).norm(), size * columns.rows(3, 3).norm());
                let [linear, angular] = [0, 3].map(|first| own.fixed_rows::<3>(first).norm());
                basis * length(linear, angular / size)
            })
        };
        of_body(ends[0], &row.parent) + of_body(ends[1], &row.child)
    }

    /// Returns the components of body velocities in the basis. Velocities that violate the joint conditions are projected
    /// orthogonally, in the kinetic metric, onto those that satisfy them. `rows` are the Jacobian rows of all joints. Returns
    /// `None` if the mass matrix is singular.
    pub fn coordinates(
        &self,
        multibody: &Multibody,
        velocities: &[Vector6<f64>],
        rows: &[Row],
    ) -> Option<DVector<f64>> {
        let mut momentum = DVector::zeros(self.n);
        for (body, column) in self.columns.iter().enumerate() {
            if multibody.rigid(body).is_some() {
                momentum += column.tr_mul(&(multibody.scene().masses[body] * velocities[body]));
            }
        }
        for (j, joint) in multibody.joints().iter().enumerate() {
            let (_, first) = multibody.rows_of(j);
            for (k, c) in joint
                .coordinates
                .iter()
                .enumerate()
                .filter(|(_, c)| c.armature > 0.0)
            {
                let row = &rows[first + k];
                let spin = c.armature * rate(row, multibody.ends(j), velocities);
                momentum += self.covector(row, multibody.ends(j)) * spin;
            }
        }
        Some(self.mass.clone().cholesky()?.solve(&momentum))
    }

    /// Restricts the basis to the velocities that also fulfill the conditions of the joints that close loops. `rows`: Jacobian
    /// rows of all joints.
    fn close_loops(&mut self, multibody: &Multibody, rows: &[Row]) {
        let mut closing: Vec<DVector<f64>> = Vec::new();
        for &joint in &multibody.scene().tree.loops {
            let (first, rates) = multibody.rows_of(joint);
            for row in &rows[first..rates] {
                let mut form = self.covector(row, multibody.ends(joint));
                let length = form.norm();
                // A row that no motion of the tree can break is zero but for the rounding of its terms.
                let most = self.largest_length(row, multibody.ends(joint), multibody.size());
                if length > VANISHES * most {
                    form /= length;
                    orthogonal(&mut form, &closing);
                    if form.norm() > VANISHES {
                        closing.push(form.normalize());
                    }
                }
            }
        }
        if closing.is_empty() {
            return;
        }
        let mut kept: Vec<DVector<f64>> = Vec::new();
        for k in 0..self.n {
            let mut unit = DVector::zeros(self.n);
            unit[k] = 1.0;
            orthogonal(&mut unit, &closing);
            orthogonal(&mut unit, &kept);
            if unit.norm() > NEW_DIRECTION && kept.len() + closing.len() < self.n {
                kept.push(unit.normalize());
            }
        }
        let mut turn = DMatrix::zeros(self.n, kept.len());
        for (k, vector) in kept.iter().enumerate() {
            turn.set_column(k, vector);
        }
        for column in &mut self.columns {
            *column = &*column * &turn;
        }
        self.n = kept.len();
    }

    fn weigh(&mut self, multibody: &Multibody, rows: &[Row]) {
        let mut mass = DMatrix::zeros(self.n, self.n);
        for (body, column) in self.columns.iter().enumerate() {
            if multibody.rigid(body).is_some() {
                mass += column.transpose() * multibody.scene().masses[body] * column;
            }
        }
        for (j, joint) in multibody.joints().iter().enumerate() {
            let (_, first) = multibody.rows_of(j);
            for (k, c) in joint
                .coordinates
                .iter()
                .enumerate()
                .filter(|(_, c)| c.armature > 0.0)
            {
                let row = self.covector(&rows[first + k], multibody.ends(j));
                mass += &row * row.transpose() * c.armature;
            }
        }
        self.mass = mass;
    }
}

/// Returns the trees of the given bodies, and those that closing joints connect to them.
fn connected(multibody: &Multibody, bodies: &[usize]) -> BTreeSet<usize> {
    let tree = multibody.tree();
    let of = |body: &usize| Some(tree.branches[(*tree.place.get(*body)?)?].tree);
    let mut trees: BTreeSet<usize> = bodies.iter().filter_map(of).collect();
    let ends = |joint: &usize| multibody.ends(*joint).iter().flatten().filter_map(of);
    loop {
        let closing = tree.loops.iter();
        let linked = closing.filter(|joint| ends(joint).any(|tree| trees.contains(&tree)));
        let more: BTreeSet<usize> = linked.flat_map(ends).collect();
        if more.is_subset(&trees) {
            return trees;
        }
        trees.extend(more);
    }
}

/// Returns the velocities of a body that moves rigidly with another one. Each column of `columns` is a velocity of the other
/// body, whose state is `with`; the result has one column for each. Linear parts are in space, angular parts in body axes.
fn carried(with: &State, body: &State, columns: &DMatrix<f64>) -> DMatrix<f64> {
    let mut out = columns.clone();
    let arm = body.position - with.position;
    for mut column in out.column_iter_mut() {
        let linear = column.fixed_rows::<3>(0).into_owned();
        let turning = with
            .rotation
            .rotate(&column.fixed_rows::<3>(3).into_owned());
        let moved = stack(
            &(linear + turning.cross(&arm)),
            &body.rotation.rotate_back(&turning),
        );
        column.copy_from(&moved);
    }
    out
}

fn orthogonal(vector: &mut DVector<f64>, others: &[DVector<f64>]) {
    for _ in 0..2 {
        for other in others {
            let along = other.dot(vector);
            vector.axpy(-along, other, 1.0);
        }
    }
}

/// Returns a basis of the six-component velocities at which all given Jacobian rows have rate zero. The basis is orthonormal if
/// angular velocities are multiplied by the length `size` (m).
fn null_space(rows: &[Vector6<f64>], size: f64) -> Vec<Vector6<f64>> {
    let mut taken: Vec<Vector6<f64>> = Vec::new();
    let add = |mut vector: Vector6<f64>, least: f64, taken: &mut Vec<Vector6<f64>>| {
        for _ in 0..2 {
            for other in taken.iter() {
                vector -= other * other.dot(&vector);
            }
        }
        let length = vector.norm();
        if length > least {
            taken.push(vector / length);
        }
    };
    for row in rows {
        let mut scaled = *row;
        for k in 3..6 {
            scaled[k] /= size;
        }
        let length = scaled.norm();
        if length > 0.0 {
            add(scaled / length, VANISHES, &mut taken);
        }
    }
    let fixed = taken.len();
    // Six unit vectors span the space: the longest remainder is at least 1/√6.
    while taken.len() < 6 {
        let rest = |k: usize| {
            let unit = Vector6::ith(k, 1.0);
            let along: f64 = taken.iter().map(|other| other[k] * other[k]).sum();
            (unit, 1.0 - along)
        };
        let best = (0..6)
            .map(rest)
            .fold((Vector6::zeros(), -1.0), |best, next| {
                if next.1 > best.1 { next } else { best }
            });
        let before = taken.len();
        add(best.0, 0.0, &mut taken);
        if taken.len() == before {
            break;
        }
    }
    let mut free = taken.split_off(fixed);
    for twist in &mut free {
        for k in 3..6 {
            twist[k] /= size;
        }
    }
    free
}
