//! Impulses of joints in linear time: elimination over the spanning tree, and a dense complement for loops.
//!
//! With momenta $f$, wanted rates $b$ and compliances $c$ the equations are
//!
//! $$ Mw = f + J^TL, \qquad Jw + cL = b. $$
//!
//! From the leaves inward every body is eliminated with the joint $J_c, J_p$ towards the root,
//!
//! $$ \hat S = (J_c\hat M_c^{-1}J_c^T + c)^{-1}, \qquad \hat M_p \mathrel{+}= J_p^T\hat SJ_p, \qquad
//!    \hat f_p \mathrel{+}= J_p^T\hat S(b - J_c\hat M_c^{-1}\hat f_c), $$
//!
//! and outward $L = \hat S(b - J_c\hat M_c^{-1}\hat f_c - J_pw_p)$, $w_c = \hat M_c^{-1}(\hat f_c + J_c^TL)$. Rows of
//! joints that close loops form a dense Schur complement, one sweep each.

// Loops over entries read like the formulas.
#![allow(clippy::needless_range_loop)]

use crate::frames::Row;
use crate::tree::{Branch, Tree};
use carom_numeric::dense::{cholesky, unwhiten, whiten};
use nalgebra::{DMatrix, Matrix6, SymmetricEigen, Vector6};

/// Eigenvalues of the scaled complement below this fraction of the largest count as redundant rows. Rounding of the
/// sweeps is some 1e-16 for equal masses and grows with their ratio.
const RANK: f64 = 1e-10;

/// The diagonal of the complement scales its rows, but not below this fraction of the free bodies' entry: what is left
/// of a row that the tree already fixes is rounding, which must stay below [`RANK`] when it is divided by this.
const FIXED_ROW: f64 = 1e-5;

/// Rows of one joint in use at once: three conditions, a limit and three damped rates of a spherical joint.
const MOST_ROWS: usize = 7;

/// One body with the rows of its joint towards the root.
#[derive(Clone, Debug)]
struct Node {
    /// Rows in use.
    rows: [usize; MOST_ROWS],
    n: usize,
    /// $J_c$ and $J_p$.
    own: [Vector6<f64>; MOST_ROWS],
    other: [Vector6<f64>; MOST_ROWS],
    /// Cholesky factor of $\hat M$.
    mass: [f64; 36],
    /// $\hat M^{-1}J_c^T$.
    reply: [Vector6<f64>; MOST_ROWS],
    /// Cholesky factor of $\hat S^{-1}$, n × n.
    complement: [f64; MOST_ROWS * MOST_ROWS],
}

/// Factors of the joints' equations at a configuration.
#[derive(Clone, Debug)]
pub struct Elimination {
    nodes: Vec<Node>,
    mass: Vec<Matrix6<f64>>,
    loops: Loops,
    /// Momenta and, in the end, velocities of each body on the way.
    carried: Vec<Vector6<f64>>,
}

/// Rows that close loops.
#[derive(Clone, Debug, Default)]
struct Loops {
    rows: Vec<usize>,
    /// Replies of all bodies and of the tree's multipliers to an impulse on each row.
    velocities: Vec<Vec<Vector6<f64>>>,
    multipliers: Vec<Vec<f64>>,
    /// Pseudo-inverse of the complement.
    inverse: DMatrix<f64>,
    /// Number of independent rows.
    rank: usize,
}

/// Bodies, tree and layout of rows that an elimination works on.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// Spanning tree.
    pub tree: &'a Tree,
    /// Mass matrices $\mathrm{diag}(mI, J)$; anything for fixed bodies.
    pub masses: &'a [Matrix6<f64>],
    /// Bodies of each joint: parent and child, `None` where it is fixed.
    pub ends: &'a [[Option<usize>; 2]],
    /// First row of each joint, and the number of all rows.
    pub offsets: &'a [usize],
}

impl Scene<'_> {
    fn rows_of(&self, joint: usize) -> std::ops::Range<usize> {
        self.offsets[joint]..self.offsets[joint + 1]
    }
}

impl Elimination {
    /// Room for a tree.
    pub fn new(tree: &Tree) -> Self {
        let n = tree.place.len();
        let zero = Vector6::zeros();
        let node = Node {
            rows: [0; MOST_ROWS],
            n: 0,
            own: [zero; MOST_ROWS],
            other: [zero; MOST_ROWS],
            mass: [0.0; 36],
            reply: [zero; MOST_ROWS],
            complement: [0.0; MOST_ROWS * MOST_ROWS],
        };
        Self {
            nodes: vec![node; tree.branches.len()],
            mass: vec![Matrix6::zeros(); n],
            loops: Loops::default(),
            carried: vec![zero; n],
        }
    }

    /// Factors the equations. `compliance` of a row is 0 for a condition, positive for a force that yields, and
    /// infinite for a row that is not there.
    ///
    /// # Errors
    ///
    /// The joint whose rows are dependent.
    pub fn factor(
        &mut self,
        scene: &Scene<'_>,
        rows: &[Row],
        compliance: &[f64],
    ) -> Result<(), usize> {
        for branch in &scene.tree.branches {
            self.mass[branch.body] = scene.masses[branch.body];
        }
        for (place, branch) in scene.tree.branches.iter().enumerate().rev() {
            self.eliminate(place, branch, scene, rows, compliance)?;
        }
        self.close(scene, rows, compliance);
        Ok(())
    }

    fn eliminate(
        &mut self,
        place: usize,
        branch: &Branch,
        scene: &Scene<'_>,
        rows: &[Row],
        compliance: &[f64],
    ) -> Result<(), usize> {
        let node = &mut self.nodes[place];
        let joint = branch.joint.unwrap_or(0);
        node.mass.copy_from_slice(self.mass[branch.body].as_slice());
        cholesky(&mut node.mass, 6).map_err(|_| joint)?;
        node.n = 0;
        let Some(joint) = branch.joint else {
            return Ok(());
        };
        for index in scene.rows_of(joint) {
            if compliance[index].is_infinite() || node.n == MOST_ROWS {
                continue;
            }
            let row = &rows[index];
            let (own, other) = match branch.is_child {
                true => (row.child, row.parent),
                false => (row.parent, row.child),
            };
            let k = node.n;
            (node.rows[k], node.own[k], node.other[k]) = (index, own, other);
            let mut reply = own;
            whiten(&node.mass, reply.as_mut_slice());
            unwhiten(&node.mass, reply.as_mut_slice());
            node.reply[k] = reply;
            node.n += 1;
        }
        let n = node.n;
        for j in 0..n {
            for i in j..n {
                node.complement[j * n + i] = node.own[i].dot(&node.reply[j]);
            }
            node.complement[j * n + j] += compliance[node.rows[j]];
        }
        cholesky(&mut node.complement[..n * n], n).map_err(|_| joint)?;
        let Some(towards) = branch.towards else {
            return Ok(());
        };
        // $J_p^T\hat SJ_p$ as a product of the whitened rows.
        let mut white = [[0.0; MOST_ROWS]; 6];
        for (column, of) in white.iter_mut().enumerate() {
            for (k, entry) in of.iter_mut().enumerate().take(n) {
                *entry = node.other[k][column];
            }
            whiten(&node.complement[..n * n], &mut of[..n]);
        }
        let mass = &mut self.mass[towards];
        for i in 0..6 {
            for j in 0..6 {
                let product: f64 = (0..n).map(|k| white[i][k] * white[j][k]).sum();
                mass[(i, j)] += product;
            }
        }
        Ok(())
    }

    /// Solves the tree alone: `momenta` becomes velocities, and the multipliers of the tree's rows are written.
    fn sweep(&self, scene: &Scene<'_>, wanted: &[f64], f: &mut [Vector6<f64>], out: &mut [f64]) {
        for (node, branch) in self.nodes.iter().zip(&scene.tree.branches).rev() {
            let momentum = f[branch.body];
            let mut velocity = momentum;
            whiten(&node.mass, velocity.as_mut_slice());
            unwhiten(&node.mass, velocity.as_mut_slice());
            f[branch.body] = velocity;
            let (Some(towards), n) = (branch.towards, node.n) else {
                continue;
            };
            let mut push = [0.0; MOST_ROWS];
            for k in 0..n {
                push[k] = wanted[node.rows[k]] - node.own[k].dot(&velocity);
            }
            node.solve(&mut push);
            for k in 0..n {
                f[towards] += node.other[k] * push[k];
            }
        }
        for (node, branch) in self.nodes.iter().zip(&scene.tree.branches) {
            let n = node.n;
            let velocity = f[branch.body];
            let mut push = [0.0; MOST_ROWS];
            for k in 0..n {
                push[k] = wanted[node.rows[k]] - node.own[k].dot(&velocity);
                if let Some(towards) = branch.towards {
                    push[k] -= node.other[k].dot(&f[towards]);
                }
            }
            node.solve(&mut push);
            for k in 0..n {
                f[branch.body] += node.reply[k] * push[k];
                out[node.rows[k]] = push[k];
            }
        }
    }

    /// The complement of the rows that close loops.
    fn close(&mut self, scene: &Scene<'_>, rows: &[Row], compliance: &[f64]) {
        let mut loops = std::mem::take(&mut self.loops);
        loops.rows.clear();
        let mut ends = Vec::new();
        for &joint in &scene.tree.loops {
            for index in scene.rows_of(joint) {
                if compliance[index].is_finite() {
                    loops.rows.push(index);
                    ends.push(scene.ends[joint]);
                }
            }
        }
        let n = loops.rows.len();
        if n == 0 {
            self.loops = loops;
            return;
        }
        let zero = vec![0.0; rows.len()];
        loops.velocities.clear();
        loops.multipliers.clear();
        for (&index, ends) in loops.rows.iter().zip(&ends) {
            let mut velocities = vec![Vector6::zeros(); self.carried.len()];
            push(&rows[index], ends, 1.0, &mut velocities);
            let mut multipliers = vec![0.0; rows.len()];
            self.sweep(scene, &zero, &mut velocities, &mut multipliers);
            loops.velocities.push(velocities);
            loops.multipliers.push(multipliers);
        }
        let mut matrix = DMatrix::from_fn(n, n, |i, j| {
            rate(&rows[loops.rows[i]], &ends[i], &loops.velocities[j])
        });
        matrix = (&matrix + matrix.transpose()) * 0.5;
        let mut scale = Vec::with_capacity(n);
        for i in 0..n {
            matrix[(i, i)] += compliance[loops.rows[i]];
            let free = free_entry(&rows[loops.rows[i]], &ends[i], scene.masses);
            scale.push(
                1.0 / matrix[(i, i)]
                    .max(FIXED_ROW * free)
                    .max(f64::MIN_POSITIVE)
                    .sqrt(),
            );
        }
        let scaled = DMatrix::from_fn(n, n, |i, j| matrix[(i, j)] * scale[i] * scale[j]);
        let eigen = SymmetricEigen::new(scaled);
        let most = eigen.eigenvalues.iter().copied().fold(0.0, f64::max);
        loops.inverse = DMatrix::zeros(n, n);
        loops.rank = 0;
        for (k, value) in eigen.eigenvalues.iter().enumerate() {
            if *value > RANK * most {
                let v = eigen.eigenvectors.column(k);
                loops.inverse += v * v.transpose() / *value;
                loops.rank += 1;
            }
        }
        for i in 0..n {
            for j in 0..n {
                loops.inverse[(i, j)] *= scale[i] * scale[j];
            }
        }
        self.loops = loops;
    }

    /// Solves for the velocities and the multipliers: `momenta` becomes velocities.
    pub fn solve(
        &mut self,
        scene: &Scene<'_>,
        rows: &[Row],
        wanted: &[f64],
        momenta: &mut [Vector6<f64>],
        out: &mut [f64],
    ) {
        out.fill(0.0);
        self.sweep(scene, wanted, momenta, out);
        let n = self.loops.rows.len();
        if n == 0 {
            return;
        }
        let mut missing = nalgebra::DVector::zeros(n);
        let mut k = 0;
        for &joint in &scene.tree.loops {
            for index in scene.rows_of(joint) {
                if k < n && self.loops.rows[k] == index {
                    let now = rate(&rows[index], &scene.ends[joint], momenta);
                    missing[k] = wanted[index] - now;
                    k += 1;
                }
            }
        }
        let pushes = &self.loops.inverse * missing;
        for (k, push) in pushes.iter().enumerate() {
            for (velocity, reply) in momenta.iter_mut().zip(&self.loops.velocities[k]) {
                *velocity += reply * *push;
            }
            for (multiplier, reply) in out.iter_mut().zip(&self.loops.multipliers[k]) {
                *multiplier += reply * *push;
            }
        }
        for (k, push) in pushes.iter().enumerate() {
            out[self.loops.rows[k]] = *push;
        }
    }

    /// Number of rows in use, and how many of them are independent.
    pub fn rank(&self) -> (usize, usize) {
        let tree: usize = self.nodes.iter().map(|node| node.n).sum();
        (
            tree + self.loops.rows.len(),
            tree + if self.loops.rows.is_empty() {
                0
            } else {
                self.loops.rank
            },
        )
    }
}

impl Node {
    fn solve(&self, push: &mut [f64; MOST_ROWS]) {
        let n = self.n;
        whiten(&self.complement[..n * n], &mut push[..n]);
        unwhiten(&self.complement[..n * n], &mut push[..n]);
    }
}

/// Adds the momenta that an impulse on a row gives to its bodies.
#[inline]
pub fn push(row: &Row, ends: &[Option<usize>; 2], impulse: f64, momenta: &mut [Vector6<f64>]) {
    let [parent, child] = *ends;
    if let Some(body) = parent {
        momenta[body] += row.parent * impulse;
    }
    if let Some(body) = child {
        momenta[body] += row.child * impulse;
    }
}

/// Rate of a row.
#[inline]
pub fn rate(row: &Row, ends: &[Option<usize>; 2], velocities: &[Vector6<f64>]) -> f64 {
    let [parent, child] = *ends;
    parent.map_or(0.0, |body| row.parent.dot(&velocities[body]))
        + child.map_or(0.0, |body| row.child.dot(&velocities[body]))
}

/// $J M^{-1}J^T$ of a row on free bodies.
fn free_entry(row: &Row, ends: &[Option<usize>; 2], masses: &[Matrix6<f64>]) -> f64 {
    let one = |body: Option<usize>, entries: &Vector6<f64>| {
        body.map_or(0.0, |body| {
            let mass = &masses[body];
            let linear = entries.fixed_rows::<3>(0).norm_squared() / mass[(0, 0)];
            let inertia = mass.fixed_view::<3, 3>(3, 3).into_owned();
            let angular = entries.fixed_rows::<3>(3).into_owned();
            let turned = inertia.cholesky().map(|c| c.solve(&angular));
            linear + turned.map_or(0.0, |turned| angular.dot(&turned))
        })
    };
    one(ends[0], &row.parent) + one(ends[1], &row.child)
}
