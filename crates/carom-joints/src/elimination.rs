//! Impulses of joints in linear time: elimination over the spanning tree, and a dense Schur complement for loops.
//!
//! With momenta $f$, prescribed rates $b$ and compliances $c$ of the rows, the velocities $w$ and the impulses $L$ solve
//!
//! $$ Mw = f + J^TL, \qquad Jw + cL = b. $$
//!
//! From the leaves inward every body (child $c$) is eliminated with the rows $J_c, J_p$ of its joint towards the root (parent
//! $p$): by the free directions of the joint where its rows are three forces and three couples, else row by row,
//!
//! $$ \hat S = (J_c\hat M_c^{-1}J_c^T + c)^{-1}, \qquad \hat M_p \mathrel{+}= J_p^T\hat SJ_p, \qquad
//!    \hat f_p \mathrel{+}= J_p^T\hat S(b - J_c\hat M_c^{-1}\hat f_c), $$
//!
//! and outward $L = \hat S(b - J_c\hat M_c^{-1}\hat f_c - J_pw_p)$, $w_c = \hat M_c^{-1}(\hat f_c + J_c^TL)$. A hat marks the
//! inertia and momentum of a body with all bodies that its outward joints connect. The rows of joints that close loops form a
//! dense Schur complement, computed with one sweep per row.

// Loops over indices read like the formulas.
#![allow(clippy::needless_range_loop)]

mod dual;
mod hinged;
mod inertia;
mod lower;
mod node;
mod passed;

use crate::frames::Row;
use crate::tree::{Branch, Tree};
use carom_variational::State;
use hinged::Joint;
use inertia::{Inertia, Twist};
use nalgebra::{DMatrix, Matrix3, Matrix6, SymmetricEigen, Vector3, Vector6};
use node::Node;
use passed::{Scratch, Trace};

/// Eigenvalues of the scaled complement below this fraction of the largest count as zero, of dependent rows. Rounding of the
/// sweeps is some 1e-16 for equal masses and grows with the ratio of masses.
const RANK: f64 = 1e-10;

/// Smallest scale of a row of the complement, as a fraction of its diagonal entry for free bodies; otherwise the diagonal of the
/// complement is the scale. For a row that the tree already fixes only rounding remains, which must stay below [`RANK`] after the
/// division by this scale.
const FIXED_ROW: f64 = 1e-5;

/// Factorization of the equations of motion of bodies coupled by joints, at one configuration: block elimination along the
/// spanning tree of the bodies, and a Schur complement for the joints that close loops.
#[derive(Clone, Debug, Default)]
pub struct Elimination {
    branches: Branches,
    loops: Loops,
    /// Prescribed rates of zero.
    still: Vec<f64>,
    traces: Vec<Traces>,
    /// Number of nodes of each trace that have been processed; then the rows whose trace contains the current node, each with the
    /// index of the node in its trace.
    passed: Vec<usize>,
    passing: Vec<(usize, usize)>,
}

/// Data of the bodies of the tree, in the order of its branches.
#[derive(Clone, Debug, Default)]
struct Branches {
    nodes: Vec<Node>,
    inertia: Vec<Inertia>,
    /// Rotation matrices of the bodies.
    turns: Vec<Matrix3<f64>>,
    /// Branch of the body on the other side of each joint.
    towards: Vec<Option<usize>>,
    scratch: Vec<Scratch>,
    /// Momenta; after the outward sweep velocities.
    twists: Vec<Twist>,
}

/// Response to a unit impulse on one row, as one part per node on the path from its bodies to the root: indices of the nodes, the
/// outermost first.
#[derive(Clone, Debug, Default)]
struct Traces(Vec<(usize, Trace)>);

/// Rows of joints that close loops.
#[derive(Clone, Debug, Default)]
struct Loops {
    rows: Vec<usize>,
    /// Response of all bodies and of the tree's multipliers to a unit impulse on each row.
    velocities: Vec<Vec<Vector6<f64>>>,
    multipliers: Vec<Vec<f64>>,
    /// Pseudo-inverse of the Schur complement.
    inverse: DMatrix<f64>,
    /// Number of independent rows.
    rank: usize,
}

/// Input of the block elimination of the joint equations ([`Elimination`]): spanning tree, mass matrices of the bodies, and
/// layout of the joint rows.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// Spanning tree of the mobile bodies, with the joints as edges.
    pub tree: &'a Tree,
    /// Mass matrix $\mathrm{diag}(mI, J)$ of each body, with mass $m$ and inertia tensor $J$ in body axes; not used for fixed
    /// bodies.
    pub masses: &'a [Matrix6<f64>],
    /// Parent and child of each joint; `None` for the ground or a fixed body.
    pub ends: &'a [[Option<usize>; 2]],
    /// Child of each joint, and the joint's origin in the child, in body axes (m).
    pub anchors: &'a [(usize, Vector3<f64>)],
    /// Index of the first row of each joint; the last entry is the number of rows.
    pub offsets: &'a [usize],
}

impl Scene<'_> {
    fn rows_of(&self, joint: usize) -> std::ops::Range<usize> {
        self.offsets[joint]..self.offsets[joint + 1]
    }
}

impl Elimination {
    /// Allocates an elimination of the joint equations for the spanning tree of a system of bodies. [`factor`](Self::factor)
    /// must be called before it can solve.
    pub fn new(tree: &Tree) -> Self {
        let n = tree.branches.len();
        let towards = |branch: &Branch| branch.towards.and_then(|body| tree.place[body]);
        Self {
            branches: Branches {
                nodes: vec![Node::new(); n],
                inertia: vec![Inertia::zero(); n],
                turns: vec![Matrix3::identity(); n],
                towards: tree.branches.iter().map(towards).collect(),
                scratch: vec![Scratch::default(); n],
                twists: vec![Twist::default(); n],
            },
            loops: Loops::default(),
            still: Vec::new(),
            traces: Vec::new(),
            passed: Vec::new(),
            passing: Vec::new(),
        }
    }

    /// Factors the joint equations at given states of all bodies. `rows` are the rows of all joints (conditions and
    /// coordinate rates). The `compliance` of a row, its rate per unit impulse, is 0 for a condition, positive for a
    /// compliant row (such as a damper), and infinite for a row that is not part of the equations.
    ///
    /// # Errors
    ///
    /// Index of the joint whose rows are dependent.
    pub fn factor(
        &mut self,
        scene: &Scene<'_>,
        states: &[State],
        rows: &[Row],
        compliance: &[f64],
    ) -> Result<(), usize> {
        self.branches.factor(scene, states, rows, compliance)?;
        self.close(scene, rows, compliance);
        Ok(())
    }

    /// Computes the pseudo-inverse of a matrix (Schur complement) for the joints that close loops. The matrix gives the
    /// rates of the rows of these joints due to unit impulses on them, while all other joints are satisfied. `scene`:
    /// tree, masses and row layout of the system. `rows`: Jacobian rows of all joints; `compliance`: rate that a unit
    /// impulse gives to each row, infinite for a row that is left out.
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
        let bodies = scene.tree.place.len();
        loops.velocities.clear();
        loops.multipliers.clear();
        for (&index, ends) in loops.rows.iter().zip(&ends) {
            let mut velocities = vec![Vector6::zeros(); bodies];
            push(&rows[index], ends, 1.0, &mut velocities);
            let mut multipliers = vec![0.0; rows.len()];
            self.branches
                .sweep(scene, &zero, &mut velocities, &mut multipliers);
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

    /// Solves the factored joint equations for the velocities of the bodies and the impulses of the joints.
    ///
    /// `momenta` contains the momentum of each body on entry, and its velocity on return. `wanted` are the prescribed rates
    /// of the rows (zero for a condition that stays satisfied). `out` receives the multipliers, the impulse of each row.
    pub fn solve(
        &mut self,
        scene: &Scene<'_>,
        rows: &[Row],
        wanted: &[f64],
        momenta: &mut [Vector6<f64>],
        out: &mut [f64],
    ) {
        out.fill(0.0);
        self.branches.sweep(scene, wanted, momenta, out);
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

    /// Computes the response of the jointed bodies to given momenta: solves the factored joint equations like
    /// [`solve`](Self::solve), with all prescribed rates zero. On return `momenta` contains the velocities, and `out` the
    /// impulse of each row.
    pub fn reply(
        &mut self,
        scene: &Scene<'_>,
        rows: &[Row],
        momenta: &mut [Vector6<f64>],
        out: &mut [f64],
    ) {
        let mut still = std::mem::take(&mut self.still);
        still.clear();
        still.resize(rows.len(), 0.0);
        self.solve(scene, rows, &still, momenta, out);
        self.still = still;
    }

    /// Computes the mobility matrix of `n` further rows, such as contact directions, on the jointed bodies: entry (i, j) is
    /// the velocity along row i due to a unit impulse on row j, with the joint conditions satisfied.
    ///
    /// `row` returns a row and its parent and child by index; `None` is the ground or a fixed body. `out` receives the
    /// $n\times n$ matrix $C\hat M^{-1}C^T$, row-major, with the rows $C$ and the mass matrix $\hat M$ of the jointed bodies.
    /// The cost of a row is the length of the path from its bodies to the root of the tree.
    pub fn mobility<'r>(
        &mut self,
        scene: &Scene<'_>,
        n: usize,
        row: impl Fn(usize) -> (&'r Row, &'r [Option<usize>; 2]),
        out: &mut Vec<f64>,
    ) {
        self.traces
            .resize_with(self.traces.len().max(n), Traces::default);
        for (i, traces) in self.traces.iter_mut().enumerate().take(n) {
            let (row, ends) = row(i);
            traces.follow(&self.branches, scene, row, ends);
        }
        out.clear();
        out.resize(n * n, 0.0);
        self.share(n, out);
        for i in 0..n {
            for j in 0..i {
                out[i * n + j] = out[j * n + i];
            }
        }
        if self.loops.rows.is_empty() {
            return;
        }
        let loops = &self.loops;
        let moved = DMatrix::from_fn(loops.rows.len(), n, |k, i| {
            let (row, ends) = row(i);
            rate(row, ends, &loops.velocities[k])
        });
        let kept = &loops.inverse * &moved;
        for i in 0..n {
            for j in i..n {
                let entry = out[i * n + j] - moved.column(i).dot(&kept.column(j));
                (out[i * n + j], out[j * n + i]) = (entry, entry);
            }
        }
    }

    /// Computes the upper triangle of the mobility matrix of `n` rows: the velocity along one row due to a unit impulse on
    /// another. Joints that close loops are not included. Each body with its joint contributes the product of its responses to
    /// unit impulses on the two rows. `out`: the matrix, row-major, zero at the start.
    fn share(&mut self, n: usize, out: &mut [f64]) {
        let (nodes, traces) = (&self.branches.nodes, &self.traces);
        self.passed.clear();
        self.passed.resize(n, 0);
        for (place, node) in nodes.iter().enumerate().rev() {
            self.passing.clear();
            for (row, passed) in self.passed.iter_mut().enumerate() {
                if traces[row]
                    .0
                    .get(*passed)
                    .is_some_and(|(at, _)| *at == place)
                {
                    self.passing.push((row, *passed));
                    *passed += 1;
                }
            }
            let sizes = node.sizes();
            for (count, (j, at)) in self.passing.iter().enumerate() {
                let own = &traces[*j].0[*at].1;
                for (i, at) in &self.passing[..=count] {
                    out[i * n + j] += own.share(&traces[*i].0[*at].1, sizes);
                }
            }
        }
    }

    /// Returns the number of joint rows in the factored equations, and the number of linearly independent ones among them.
    pub fn rank(&self) -> (usize, usize) {
        let tree: usize = self.branches.nodes.iter().map(Node::n_rows).sum();
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

impl Branches {
    fn factor(
        &mut self,
        scene: &Scene<'_>,
        states: &[State],
        rows: &[Row],
        compliance: &[f64],
    ) -> Result<(), usize> {
        for (place, branch) in scene.tree.branches.iter().enumerate() {
            let turn = states[branch.body].rotation.matrix();
            self.inertia[place] = Inertia::of_body(&scene.masses[branch.body], &turn);
            self.turns[place] = turn;
        }
        for (place, branch) in scene.tree.branches.iter().enumerate().rev() {
            let (before, rest) = self.inertia.split_at_mut(place);
            let (inertia, node) = (&rest[0], &mut self.nodes[place]);
            let Some(joint) = branch.joint else {
                if node.free(inertia) {
                    continue;
                } else {
                    return Err(0);
                }
            };
            let (child, origin) = &scene.anchors[joint];
            let at = states[*child].position + states[*child].rotation.rotate(origin);
            let center = states[branch.body].position;
            let range = scene.rows_of(joint);
            let towards = self.towards[place];
            let made = Joint {
                first: range.start,
                is_child: branch.is_child,
                arm: at - center,
                offset: branch
                    .towards
                    .map_or_else(Vector3::zeros, |body| center - states[body].position),
            };
            let other = towards.unwrap_or(place);
            let turns = [&self.turns[place], &self.turns[other]];
            let towards = towards.map(|other| &mut before[other]);
            if !node.join(&made, &rows[range], compliance, turns, inertia, towards) {
                return Err(joint);
            }
        }
        Ok(())
    }

    /// Solves the equations of bodies and joints without the joints that close loops. `momenta` contains the momentum
    /// of each body on entry, and its velocity on return. `scene`: tree, masses and row layout of the system. `wanted`:
    /// prescribed rate of each joint row; `out` receives the impulses of the rows.
    fn sweep(
        &mut self,
        scene: &Scene<'_>,
        wanted: &[f64],
        momenta: &mut [Vector6<f64>],
        out: &mut [f64],
    ) {
        let branches = &scene.tree.branches;
        for (place, branch) in branches.iter().enumerate() {
            self.twists[place] = Twist::from_body(&momenta[branch.body], &self.turns[place]);
        }
        for place in (0..branches.len()).rev() {
            let (before, rest) = self.twists.split_at_mut(place);
            let towards = self.towards[place].map(|other| &mut before[other]);
            self.nodes[place].inward(&rest[0], wanted, &mut self.scratch[place], towards);
        }
        for (place, branch) in branches.iter().enumerate() {
            let (before, rest) = self.twists.split_at_mut(place);
            let towards = self.towards[place].map(|other| &before[other]);
            self.nodes[place].outward(&mut rest[0], wanted, &self.scratch[place], towards, out);
            momenta[branch.body] = rest[0].to_body(&self.turns[place]);
        }
    }
}

impl Traces {
    /// Computes the response to a unit impulse on a row, for each body on the paths from the row's two bodies to the
    /// root of the tree. `scene`: tree, masses and row layout of the system; `branches`: factored equations of the
    /// bodies. The ends of the row are its `parent` and `child`; `None` is the ground or a fixed body.
    fn follow(
        &mut self,
        branches: &Branches,
        scene: &Scene<'_>,
        row: &Row,
        [parent, child]: &[Option<usize>; 2],
    ) {
        self.0.clear();
        let end = |body: Option<usize>, entries: &Vector6<f64>| {
            let place = body.and_then(|body| scene.tree.place[body]);
            let twist = place.map(|place| Twist::from_body(entries, &branches.turns[place]));
            (place, twist.unwrap_or_default())
        };
        let mut ends = [end(*parent, &row.parent), end(*child, &row.child)];
        loop {
            // Indices of bodies are larger than those of the bodies towards the root: the larger one is processed first.
            ends.sort_unstable_by_key(|(place, _)| *place);
            let [(before, other), (Some(at), mut momentum)] = ends else {
                return;
            };
            if before == Some(at) {
                momentum.add(1.0, &other);
            }
            let trace = branches.nodes[at].trace(&momentum);
            self.0.push((at, trace));
            ends[1] = (branches.towards[at], trace.passed);
            if before == Some(at) {
                ends[0].0 = None;
            }
        }
    }
}

/// Adds the momentum changes that an impulse on a row (N s or N m s) causes to the momenta of all bodies. `ends` are the
/// indices of the row's parent and child; `None` is the ground or a fixed body.
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

/// Returns the rate of a row (m/s or rad/s) at given velocities of all bodies. `ends` are the indices of the row's parent and
/// child; `None` is the ground or a fixed body.
#[inline]
pub fn rate(row: &Row, ends: &[Option<usize>; 2], velocities: &[Vector6<f64>]) -> f64 {
    let [parent, child] = *ends;
    parent.map_or(0.0, |body| row.parent.dot(&velocities[body]))
        + child.map_or(0.0, |body| row.child.dot(&velocities[body]))
}

/// Returns the rate of a row per unit impulse on this row, $JM^{-1}J^T$, as if the row's two bodies had no joints. `ends` are
/// the indices of the two bodies; `None` is the ground or a fixed body.
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
