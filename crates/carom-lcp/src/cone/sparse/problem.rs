//! Sparse contact problem in the caller's units: contacts on bodies, or blocks of the Delassus matrix.

use crate::LcpError;
use crate::cone::ConeProblem;
use crate::cone::problem::{WIDTH, check_finite, check_len};
use carom_numeric::block_lu::block::{Block, zero};
use carom_numeric::kernel::norm;

/// Number of coordinates of a body's velocity.
pub(super) const BODY: usize = 6;

/// Largest number of contacts of one problem; block indices then stay far below 32 bits.
const MAX_SPARSE_CONTACTS: usize = 1 << 20;

/// Contact rows of one body in a [`SparseContact`]: a 3 × 6 matrix that maps the velocity of the body (six
/// coordinates) to the normal and two tangential velocities that the body contributes at the contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyRows {
    /// Index of the body, returned by [`push_body`](SparseConeProblem::push_body).
    pub body: usize,
    /// Normal row and the two tangent rows, as covectors of the body's velocity.
    pub rows: [[f64; 6]; 3],
}

/// One frictional contact of a [`SparseConeProblem`], between two bodies or between a body and a fixed object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SparseContact {
    /// Rows of the first body.
    pub first: BodyRows,
    /// Rows of the second body; `None` if the second object is fixed.
    pub second: Option<BodyRows>,
    /// Velocities of the rows before the impulses (m/s).
    pub velocity: [f64; 3],
    /// Friction coefficient of the contact.
    pub friction: f64,
    /// Least normal impulse (N·s): 0, or the impulse of the expansion phase in Poisson's hypothesis.
    pub floor: f64,
}

/// Whitened rows of a contact (rows times the inverse Cholesky factor of the mass matrix). Their products are
/// the blocks of the Delassus matrix.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sides {
    /// Indices of the bodies; the second is [`FIXED`] if the second object does not move.
    pub(super) bodies: [u32; 2],
    pub(super) rows: [[[f64; BODY]; WIDTH]; 2],
}

/// Index that marks a fixed object.
pub(super) const FIXED: u32 = u32::MAX;

/// Impact problem of contacts with circular friction cones and a sparse Delassus matrix $G$, which maps contact
/// impulses to changes of the contact velocities.
///
/// With the velocities $b$ of the contact rows before the impulses and $u = b + G\lambda$ after them, find impulses
/// $\lambda$ with $0 \le \lambda_n - p \perp u_n \ge 0$, $\lVert\lambda_t\rVert \le \mu\lambda_n$ and
/// $\lambda_t = -\mu\lambda_n u_t/\lVert u_t\rVert$ where $u_t \ne 0$. Indices n and t denote the normal and the
/// tangents of a contact, $\mu$ is its friction coefficient. The floors $p$ are lower bounds of the normal impulses;
/// the default is 0.
///
/// There are two ways to define the matrix. With [`of_bodies`](Self::of_bodies) the caller adds the mass matrix $M$ of
/// each body (six coordinates) and the rows $J$ of each contact, which acts on one or two bodies; then
/// $G = JM^{-1}J^T$. With [`of_blocks`](Self::of_blocks) the caller gives the 3 × 3 blocks of $G$.
/// [`clear`](Self::clear) keeps the allocated memory.
///
/// # Examples
///
/// A ball of 2 kg falls on a fixed floor and slides:
///
/// ```
/// use carom_lcp::cone::{BodyRows, SparseConeProblem, SparseConeWorkspace, SparseContact};
/// let mut problem = SparseConeProblem::of_bodies();
/// let mut mass = [[0.0; 6]; 6];
/// for (i, row) in mass.iter_mut().enumerate() {
///     row[i] = if i < 3 { 2.0 } else { 0.01 };
/// }
/// let ball = problem.push_body(&mass)?;
/// let mut rows = [[0.0; 6]; 3];
/// (rows[0][2], rows[1][0], rows[2][1]) = (1.0, 1.0, 1.0);
/// problem.push_contact(&SparseContact {
///     first: BodyRows { body: ball, rows },
///     second: None,
///     velocity: [-1.0, 0.6, 0.8],
///     friction: 0.5,
///     floor: 0.0,
/// })?;
/// let mut workspace = SparseConeWorkspace::new();
/// workspace.solve(&problem)?;
/// let impulse = workspace.impulse();
/// assert!((impulse[0] - 2.0).abs() < 1e-12);
/// assert!((impulse[1] + 0.6).abs() < 1e-12);
/// # Ok::<(), carom_lcp::LcpError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SparseConeProblem {
    has_bodies: bool,
    /// Lower Cholesky factors of the mass matrices, one per body.
    factors: Vec<[[f64; BODY]; BODY]>,
    sides: Vec<Sides>,
    /// Blocks on and above the diagonal, each after the indices of its two contacts.
    blocks: Vec<(u32, u32, Block<WIDTH>)>,
    velocity: Vec<[f64; WIDTH]>,
    friction: Vec<f64>,
    floors: Vec<f64>,
}

impl SparseConeProblem {
    /// Creates a sparse contact problem without bodies and contacts, which are added by
    /// [`push_body`](Self::push_body) and [`push_contact`](Self::push_contact).
    pub fn of_bodies() -> Self {
        Self::empty(true)
    }

    /// Creates a sparse contact problem from the nonzero 3 × 3 blocks of its Delassus matrix $G$, which maps
    /// contact impulses to velocity changes. An entry of `blocks` is the index i of one contact, the index j of
    /// another, $i \le j$, and the block $G_{ij}$ (1/kg). Blocks that are not listed are zero, and
    /// $G_{ji} = G_{ij}^T$. `velocity` holds the contact velocities before the impulses (m/s, three per
    /// contact), `friction` the friction coefficients (one per contact).
    ///
    /// # Errors
    ///
    /// [`LcpError::DimensionMismatch`], [`LcpError::TooLarge`], [`LcpError::NonFinite`],
    /// [`LcpError::OutOfRange`] for a contact that does not exist or a block below the diagonal, and
    /// [`LcpError::NonPositiveDiagonal`] for a normal that no impulse moves.
    pub fn of_blocks(
        blocks: &[(usize, usize, [[f64; 3]; 3])],
        velocity: &[f64],
        friction: &[f64],
    ) -> Result<Self, LcpError> {
        let mut problem = Self::empty(false);
        check_len("velocity", WIDTH * friction.len(), velocity.len())?;
        for (b, friction) in velocity.chunks_exact(WIDTH).zip(friction) {
            let &[n, x, y] = b else { continue };
            problem.push(&[n, x, y], *friction, 0.0)?;
        }
        let m = friction.len();
        let mut normals = vec![0.0; m];
        for (i, j, block) in blocks {
            check_index("contact of a block", *j, m)?;
            check_index("first contact of a block", *i, j + 1)?;
            check_finite("block", block.as_flattened())?;
            if i == j {
                normals[*i] = block[0][0];
            }
            problem.blocks.push((*i as u32, *j as u32, *block));
        }
        check_normals(normals.into_iter())?;
        Ok(problem)
    }

    /// Creates a sparse contact problem from the nonzero blocks of a dense one, which must have no upper bounds
    /// on the normal impulses (caps) and no prescribed slip directions. The restitution $e$ is included in the normal velocities: $(1 + e) b_n$
    /// replaces the normal velocity $b_n$.
    ///
    /// # Errors
    ///
    /// [`LcpError::OutOfRange`] for caps and prescribed slip directions.
    pub fn of_dense(dense: &ConeProblem<'_>) -> Result<Self, LcpError> {
        let mut problem = Self::empty(false);
        for (i, b) in dense.velocity().chunks_exact(WIDTH).enumerate() {
            let &[n, x, y] = b else { continue };
            if dense.cap(i).is_finite() {
                return Err(LcpError::OutOfRange {
                    what: "cap",
                    value: dense.cap(i),
                    allowed: "absent: sparse problems have none",
                });
            }
            if let Some(slip) = dense.slip(i) {
                return Err(LcpError::OutOfRange {
                    what: "slip direction",
                    value: norm(&slip),
                    allowed: "absent: sparse problems have none",
                });
            }
            let b = [(1.0 + dense.restitution(i)) * n, x, y];
            problem.push(&b, dense.friction(i), dense.floor(i))?;
        }
        for j in 0..dense.n_contacts() {
            for i in 0..=j {
                let mut block = zero();
                for (r, row) in block.iter_mut().enumerate() {
                    for (c, x) in row.iter_mut().enumerate() {
                        *x = dense.column(j * WIDTH + c)[i * WIDTH + r];
                    }
                }
                if i == j || block.as_flattened().iter().any(|x| *x != 0.0) {
                    problem.blocks.push((i as u32, j as u32, block));
                }
            }
        }
        Ok(problem)
    }

    fn empty(has_bodies: bool) -> Self {
        Self {
            has_bodies,
            factors: Vec::new(),
            sides: Vec::new(),
            blocks: Vec::new(),
            velocity: Vec::new(),
            friction: Vec::new(),
            floors: Vec::new(),
        }
    }

    /// Removes all bodies, contacts and matrix blocks from the problem. The allocated memory is kept.
    pub fn clear(&mut self) {
        self.factors.clear();
        self.sides.clear();
        self.blocks.clear();
        self.velocity.clear();
        self.friction.clear();
        self.floors.clear();
    }

    /// Adds a body to the sparse contact problem and returns its index. `mass` is the mass matrix of the body
    /// (six coordinates); only the lower triangle is read.
    ///
    /// # Errors
    ///
    /// [`LcpError::NonFinite`], and [`LcpError::NonPositiveDiagonal`] for a matrix that is not
    /// positive definite.
    pub fn push_body(&mut self, mass: &[[f64; 6]; 6]) -> Result<usize, LcpError> {
        check_finite("mass matrix", mass.as_flattened())?;
        let mut l = [[0.0; BODY]; BODY];
        for i in 0..BODY {
            for j in 0..=i {
                let mut x = mass[i][j];
                for (a, b) in l[i][..j].iter().zip(&l[j][..j]) {
                    x -= a * b;
                }
                if i == j {
                    if !(x > 0.0) {
                        return Err(LcpError::NonPositiveDiagonal { index: i, value: x });
                    }
                    l[i][i] = x.sqrt();
                } else {
                    l[i][j] = x / l[j][j];
                }
            }
        }
        self.factors.push(l);
        Ok(self.factors.len() - 1)
    }

    /// Adds a frictional contact to the sparse problem and returns its index.
    ///
    /// # Errors
    ///
    /// [`LcpError::OutOfRange`] for a body that does not exist, for two equal bodies, for a problem that was created
    /// from blocks of the Delassus matrix, and for a negative friction coefficient or floor; [`LcpError::NonFinite`],
    /// [`LcpError::TooLarge`], and [`LcpError::NonPositiveDiagonal`] for a normal along which no impulse changes the
    /// velocity.
    pub fn push_contact(&mut self, contact: &SparseContact) -> Result<usize, LcpError> {
        let mut sides = Sides {
            bodies: [FIXED; 2],
            ..Sides::default()
        };
        let given = [Some(contact.first), contact.second];
        for (k, side) in given.iter().enumerate() {
            let Some(side) = side else { continue };
            check_index("body", side.body, self.factors.len())?;
            check_finite("rows", side.rows.as_flattened())?;
            if sides.bodies[0] == side.body as u32 {
                return Err(LcpError::OutOfRange {
                    what: "second body",
                    value: side.body as f64,
                    allowed: "another than the first",
                });
            }
            sides.bodies[k] = side.body as u32;
            for (row, given) in sides.rows[k].iter_mut().zip(&side.rows) {
                *row = whiten(&self.factors[side.body], given);
            }
        }
        let normal = sides.rows.iter().map(|rows| dot(&rows[0], &rows[0]));
        check_normals(std::iter::once(normal.sum()))?;
        let index = self.push(&contact.velocity, contact.friction, contact.floor)?;
        self.sides.push(sides);
        Ok(index)
    }

    fn push(
        &mut self,
        velocity: &[f64; WIDTH],
        friction: f64,
        floor: f64,
    ) -> Result<usize, LcpError> {
        if self.friction.len() == MAX_SPARSE_CONTACTS {
            return Err(LcpError::TooLarge {
                n: self.friction.len() + 1,
                max: MAX_SPARSE_CONTACTS,
            });
        }
        check_finite("velocity", velocity)?;
        check_positive("friction", friction)?;
        check_positive("floor", floor)?;
        self.velocity.push(*velocity);
        self.friction.push(friction);
        self.floors.push(floor);
        Ok(self.friction.len() - 1)
    }

    /// Sets the floors, the lower bounds of the normal impulses (N·s, one per contact).
    ///
    /// # Errors
    ///
    /// [`LcpError::DimensionMismatch`], [`LcpError::OutOfRange`]; the problem then stays unchanged.
    pub fn set_floors(&mut self, floors: &[f64]) -> Result<(), LcpError> {
        check_len("floors", self.n_contacts(), floors.len())?;
        for floor in floors {
            check_positive("floor", *floor)?;
        }
        self.floors.copy_from_slice(floors);
        Ok(())
    }

    /// Sets the contact velocities before the impulses (m/s; normal and two tangents per contact).
    ///
    /// # Errors
    ///
    /// [`LcpError::DimensionMismatch`], [`LcpError::NonFinite`]; the problem then stays unchanged.
    pub fn set_velocity(&mut self, velocity: &[f64]) -> Result<(), LcpError> {
        check_len("velocity", WIDTH * self.n_contacts(), velocity.len())?;
        check_finite("velocity", velocity)?;
        self.velocity.as_flattened_mut().copy_from_slice(velocity);
        Ok(())
    }

    /// Returns the number of contacts of the sparse problem.
    pub fn n_contacts(&self) -> usize {
        self.friction.len()
    }

    /// Returns the number of bodies of the sparse problem; 0 if the problem was created from blocks of the Delassus
    /// matrix.
    pub fn n_bodies(&self) -> usize {
        self.factors.len()
    }

    /// Returns the contact velocities before the impulses (m/s; normal and two tangents per contact).
    pub fn velocity(&self) -> &[f64] {
        self.velocity.as_flattened()
    }

    /// Returns the friction coefficients of the contacts, one per contact.
    pub fn friction(&self) -> &[f64] {
        &self.friction
    }

    /// Returns the floors, the lower bounds of the normal impulses (N·s, one per contact; 0 by default).
    pub fn floors(&self) -> &[f64] {
        &self.floors
    }

    /// Computes the contact velocities after given impulses, $u = b + G\lambda$, and writes them to `out` (m/s). Here
    /// $b$ are the velocities before the impulses, $G$ is the Delassus matrix, and $\lambda$ are the impulses (N·s;
    /// three per contact: normal and two tangents).
    ///
    /// # Errors
    ///
    /// [`LcpError::DimensionMismatch`].
    pub fn velocity_after(&self, impulse: &[f64], out: &mut Vec<f64>) -> Result<(), LcpError> {
        check_len("impulse", WIDTH * self.n_contacts(), impulse.len())?;
        let mut change = Vec::new();
        self.whitened_change(impulse, &mut change);
        out.clear();
        out.extend_from_slice(self.velocity());
        for (sides, u) in self.sides.iter().zip(out.chunks_exact_mut(WIDTH)) {
            for (body, rows) in sides.bodies.iter().zip(&sides.rows) {
                if let Some(change) = change.get(*body as usize) {
                    for (u, row) in u.iter_mut().zip(rows) {
                        *u += dot(row, change);
                    }
                }
            }
        }
        for (i, j, block) in &self.blocks {
            let (i, j) = (WIDTH * *i as usize, WIDTH * *j as usize);
            for (r, row) in block.iter().enumerate() {
                for (c, g) in row.iter().enumerate() {
                    out[i + r] += g * impulse[j + c];
                    if i != j {
                        out[j + c] += g * impulse[i + r];
                    }
                }
            }
        }
        Ok(())
    }

    /// Computes the velocity changes of the bodies by given contact impulses, $M^{-1}J^T\lambda$, and writes them to
    /// `out`, six coordinates per body. Here $M$ are the mass matrices, $J$ the contact rows, and $\lambda$ the
    /// impulses (N·s, three per contact). The list is empty if the problem was created from blocks of the Delassus
    /// matrix.
    ///
    /// # Errors
    ///
    /// [`LcpError::DimensionMismatch`].
    pub fn body_changes(&self, impulse: &[f64], out: &mut Vec<[f64; 6]>) -> Result<(), LcpError> {
        check_len("impulse", WIDTH * self.n_contacts(), impulse.len())?;
        self.whitened_change(impulse, out);
        for (change, l) in out.iter_mut().zip(&self.factors) {
            for i in (0..BODY).rev() {
                let mut x = change[i];
                for k in i + 1..BODY {
                    x -= l[k][i] * change[k];
                }
                change[i] = x / l[i][i];
            }
        }
        Ok(())
    }

    fn whitened_change(&self, impulse: &[f64], out: &mut Vec<[f64; BODY]>) {
        out.clear();
        out.resize(self.factors.len(), [0.0; BODY]);
        for (sides, l) in self.sides.iter().zip(impulse.chunks_exact(WIDTH)) {
            for (body, rows) in sides.bodies.iter().zip(&sides.rows) {
                if let Some(change) = out.get_mut(*body as usize) {
                    for (l, row) in l.iter().zip(rows) {
                        for (x, a) in change.iter_mut().zip(row) {
                            *x += l * a;
                        }
                    }
                }
            }
        }
    }

    pub(super) fn has_bodies(&self) -> bool {
        self.has_bodies
    }

    pub(super) fn sides(&self) -> &[Sides] {
        &self.sides
    }

    pub(super) fn blocks(&self) -> &[(u32, u32, Block<WIDTH>)] {
        &self.blocks
    }

    pub(super) fn rows_before(&self) -> &[[f64; WIDTH]] {
        &self.velocity
    }
}

/// Converts the row `a` of a contact on one body to whitened coordinates, in which the mass matrix is the identity.
/// The result is the solution $w$ of $Lw = a$, with the Cholesky factor $L$ = `l` of the body's mass matrix.
fn whiten(l: &[[f64; BODY]; BODY], a: &[f64; BODY]) -> [f64; BODY] {
    let mut w = [0.0; BODY];
    for i in 0..BODY {
        let mut x = a[i];
        for k in 0..i {
            x -= l[i][k] * w[k];
        }
        w[i] = x / l[i][i];
    }
    w
}

/// Returns the scalar product of two vectors with the six entries of a body.
#[inline]
pub(super) fn dot(a: &[f64; BODY], b: &[f64; BODY]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn check_index(what: &'static str, index: usize, end: usize) -> Result<(), LcpError> {
    if index < end {
        return Ok(());
    }
    Err(LcpError::OutOfRange {
        what,
        value: index as f64,
        allowed: "an index of the problem, the first of a block not above the second",
    })
}

fn check_positive(what: &'static str, value: f64) -> Result<(), LcpError> {
    if (0.0..=f64::MAX).contains(&value) {
        return Ok(());
    }
    Err(LcpError::OutOfRange {
        what,
        value,
        allowed: "finite and not negative",
    })
}

fn check_normals(normals: impl Iterator<Item = f64>) -> Result<(), LcpError> {
    for (index, value) in normals.enumerate() {
        if !(value > 0.0 && value.is_finite()) {
            let index = index * WIDTH;
            return Err(LcpError::NonPositiveDiagonal { index, value });
        }
    }
    Ok(())
}
