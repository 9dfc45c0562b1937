//! Linear complementarity problem of frictional contact, assembled in one place for every impact law.

use crate::{Lcp, LcpError};
use nalgebra::{DMatrix, DVector};
use std::f64::consts::TAU;

/// Linear complementarity problem of the contacts in a rigid-body impact, with polygonal friction cones.
///
/// In contact space an impact is $b^+ = b + G\Lambda$, with the relative velocities $b$ and $b^+$ of the
/// contact rows before and after the impact, the Delassus matrix $G = JM^{-1}J^T$ of the contact rows $J$ and
/// the mass matrix $M$, and the impulses $\Lambda$. Rows are ordered contact by contact: the normal first, then
/// `n_tangents` tangents (0, 1 in the plane, 2 in space).
///
/// The friction cone is replaced by a polygonal cone with k generators. Generator j encloses the angle
/// $2\pi j/k$ with the first tangent, measured towards the second tangent. In the plane $k = 2$: the generators
/// are plus and minus the tangent, and the cone is represented exactly.
///
/// Unknowns and rows for m contacts with friction coefficients $\mu$ and restitutions $e$. Indices n and D
/// denote the normal and the k generators; $E$ is the matrix of zeros and ones that assigns each generator to
/// its contact:
///
/// | block | unknown | row $\ge 0$ | length |
/// | --- | --- | --- | --- |
/// | cap | $\beta$ | $\lambda_{\max} - \lambda_n$ | m, only with [`with_caps`](Self::with_caps) |
/// | normal | $\lambda_n$ | $\beta + b_n^+ + e b_n$ | m |
/// | friction | $\lambda_D$ | $b_D^+ + E\gamma$ | km, contact by contact |
/// | cone | $\gamma$ | $\mu\lambda_n - E^T\lambda_D$ | m |
///
/// Without tangents the friction and cone blocks are absent. The matrix is copositive if $G$ is
/// positive semidefinite, since $z^TMz = (\lambda_n, \lambda_D)^T\bar G(\lambda_n, \lambda_D) +
/// \lambda_n^T\mu\gamma$, and with $b$ in the range of $J$ Lemke's method solves the problem.
///
/// Stewart & Trinkle, *An implicit time-stepping scheme*, 1996; Anitescu & Potra, *Formulating
/// dynamic multi-rigid-body contact problems*, 1997; Halm & Posa, *Set-valued rigid-body dynamics
/// for simultaneous, inelastic, frictional impacts*, Eqs. (31)-(33) and (72)-(75).
///
/// # Examples
///
/// Friction acts at the edge of its cone, against the sliding velocity:
///
/// ```
/// use carom_lcp::{ContactLcp, ContactRows, LcpSolver, LcpStatus, Lemke};
/// use nalgebra::{DMatrix, dvector};
/// // A mass of 1 kg comes down at 1 m/s and slides at 2 m/s with friction 0.5.
/// let rows = ContactRows {
///     delassus: &DMatrix::identity(2, 2),
///     velocity: &dvector![-1.0, 2.0],
///     n_tangents: 1,
///     friction: &[0.5],
///     restitution: &[0.0],
/// };
/// let contact = ContactLcp::new(&rows, 2)?;
/// let solution = Lemke::default().solve(contact.lcp())?;
/// assert_eq!(solution.status, LcpStatus::Solved);
/// let impulse = contact.impulses(solution.z.as_slice())?;
/// assert!((impulse - dvector![1.0, -0.5]).amax() < 1e-15);
/// # Ok::<(), carom_lcp::LcpError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ContactLcp {
    lcp: Lcp,
    n_contacts: usize,
    n_tangents: usize,
    directions: Vec<Vec<f64>>,
    is_capped: bool,
}

/// Input from which a [`ContactLcp`] is created: Delassus matrix, contact velocities before the impact, friction
/// coefficients and restitutions.
#[derive(Clone, Copy, Debug)]
pub struct ContactRows<'a> {
    /// Delassus matrix $G$ of all contact rows (1/kg).
    pub delassus: &'a DMatrix<f64>,
    /// Relative velocities $b$ of the contact rows before the impact (m/s).
    pub velocity: &'a DVector<f64>,
    /// Number of tangent rows of each contact: 0, 1 or 2.
    pub n_tangents: usize,
    /// Friction coefficients $\mu \ge 0$, one per contact.
    pub friction: &'a [f64],
    /// Newton restitutions $e \in [0, 1]$, one per contact. The normal rows require $b_n^+ + e b_n \ge 0$.
    pub restitution: &'a [f64],
}

impl ContactLcp {
    /// Creates the linear complementarity problem of frictionless contacts. The matrix is $M = G$ on the normal rows,
    /// and the vector is $q = (1 + e) b_n$. Here $G$ is the Delassus matrix, $b_n$ are the normal velocities before
    /// the impact, and $e$ the restitutions.
    ///
    /// # Errors
    ///
    /// [`LcpError::DimensionMismatch`], [`LcpError::OutOfRange`], and those of [`Lcp::new`].
    pub fn frictionless(rows: &ContactRows<'_>) -> Result<Self, LcpError> {
        Self::assemble(rows, Vec::new(), None)
    }

    /// Creates the linear complementarity problem of contacts with friction. Each friction cone is replaced by
    /// a polygonal one with `n_directions` generators (2 in the plane, at least 3 in space).
    ///
    /// # Errors
    ///
    /// The errors of [`frictionless`](Self::frictionless).
    pub fn new(rows: &ContactRows<'_>, n_directions: usize) -> Result<Self, LcpError> {
        Self::assemble(
            rows,
            friction_directions(rows.n_tangents, n_directions)?,
            None,
        )
    }

    /// Creates the linear complementarity problem of contacts with friction and an upper bound (cap) on each normal
    /// impulse. Set-valued impact laws solve such a problem in each of their sub-steps. `n_directions` is the number
    /// of generators of each polygonal friction cone; `caps` are the bounds $\lambda_{\max} \ge 0$ (N·s, one per
    /// contact).
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    pub fn with_caps(
        rows: &ContactRows<'_>,
        n_directions: usize,
        caps: &[f64],
    ) -> Result<Self, LcpError> {
        Self::assemble(
            rows,
            friction_directions(rows.n_tangents, n_directions)?,
            Some(caps),
        )
    }

    fn assemble(
        rows: &ContactRows<'_>,
        directions: Vec<Vec<f64>>,
        caps: Option<&[f64]>,
    ) -> Result<Self, LcpError> {
        let m = rows.friction.len();
        check(rows, caps)?;
        let (k, width) = (directions.len(), rows.n_tangents + 1);
        // One column per unknown impulse: normals, then directions.
        let generators = m + k * m;
        let cap_rows = if caps.is_some() { m } else { 0 };
        let n = cap_rows + generators + if k > 0 { m } else { 0 };
        crate::problem::check_dim(n)?;
        let basis = |i: usize| generator(&directions, [m, width], i);
        let mut matrix = DMatrix::zeros(n, n);
        let mut vector = DVector::zeros(n);
        for j in 0..generators {
            let column = basis(j);
            let rate = |row: usize| along(column, |other| rows.delassus[(row, other)]);
            for i in 0..generators {
                matrix[(cap_rows + i, cap_rows + j)] = along(basis(i), rate);
            }
            vector[cap_rows + j] = along(column, |row| rows.velocity[row]);
        }
        for contact in 0..m {
            let normal = cap_rows + contact;
            vector[normal] *= 1.0 + rows.restitution[contact];
            if let Some(cap) = caps.and_then(|caps| caps.get(contact)) {
                vector[contact] = *cap;
                matrix[(contact, normal)] = -1.0;
                matrix[(normal, contact)] = 1.0;
            }
            if k > 0 {
                let cone = cap_rows + generators + contact;
                matrix[(cone, normal)] = rows.friction[contact];
                for j in 0..k {
                    let friction = cap_rows + m + contact * k + j;
                    matrix[(friction, cone)] = 1.0;
                    matrix[(cone, friction)] = -1.0;
                }
            }
        }
        Ok(Self {
            lcp: Lcp::new(matrix, vector)?,
            n_contacts: m,
            n_tangents: rows.n_tangents,
            directions,
            is_capped: caps.is_some(),
        })
    }

    /// Returns the linear complementarity problem that represents the contacts.
    pub fn lcp(&self) -> &Lcp {
        &self.lcp
    }

    /// Iterates over the contact rows on which an unknown acts, with the impulse on each row per unit of the unknown. Multipliers
    /// of caps and cones act on no row.
    pub fn rows_of(&self, unknown: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (m, k) = (self.n_contacts, self.directions.len());
        let place = unknown.checked_sub(if self.is_capped { m } else { 0 });
        let place = place.filter(|place| *place < m * (1 + k));
        let (first, factors) = place.map_or((0, &[][..]), |place| {
            generator(&self.directions, [m, self.n_tangents + 1], place)
        });
        let rows = (first..).zip(factors.iter().copied());
        rows.filter(|(_, c)| *c != 0.0)
    }

    /// Converts a solution vector `z` of the linear complementarity problem to impulses on the contact rows
    /// (N·s; contact by contact, the normal first, then the tangents).
    ///
    /// # Errors
    ///
    /// [`LcpError::DimensionMismatch`] if `z` does not belong to this problem.
    pub fn impulses(&self, z: &[f64]) -> Result<DVector<f64>, LcpError> {
        if z.len() != self.lcp.dim() {
            return Err(LcpError::DimensionMismatch {
                what: "z",
                expected: self.lcp.dim(),
                found: z.len(),
            });
        }
        let mut impulses = DVector::zeros(self.n_contacts * (self.n_tangents + 1));
        for (unknown, z) in z.iter().enumerate() {
            for (row, c) in self.rows_of(unknown) {
                impulses[row] += c * z;
            }
        }
        Ok(impulses)
    }
}

/// Returns the first contact row on which unknown impulse `i` acts, and the impulses on this and the next rows per unit of it.
/// Unknowns are the normals of `m` contacts with `width` rows each, then the `directions` of each contact.
fn generator(directions: &[Vec<f64>], [m, width]: [usize; 2], i: usize) -> (usize, &[f64]) {
    match i.checked_sub(m) {
        None => (i * width, &[1.0]),
        Some(j) => {
            let (contact, direction) = (j / directions.len(), j % directions.len());
            (contact * width + 1, &directions[direction])
        }
    }
}

/// Sums a quantity of contact rows over the rows of a [`generator`], times their factors.
fn along((first, factors): (usize, &[f64]), of_row: impl Fn(usize) -> f64) -> f64 {
    let rows = (first..).zip(factors);
    rows.fold(0.0, |sum, (row, c)| sum + c * of_row(row))
}

/// Returns the generators of a polygonal friction cone as unit vectors in the tangent plane: `n_directions` vectors
/// with `n_tangents` entries each. The vectors are exact at multiples of a right angle. Without tangents the list is
/// empty; with one tangent, in the plane, the directions are plus and minus the tangent.
///
/// # Errors
///
/// [`LcpError::OutOfRange`] for other than 2 directions in the plane or fewer than 3 in space.
pub fn friction_directions(
    n_tangents: usize,
    n_directions: usize,
) -> Result<Vec<Vec<f64>>, LcpError> {
    let wrong = |allowed| LcpError::OutOfRange {
        what: "number of friction directions",
        value: n_directions as f64,
        allowed,
    };
    match (n_tangents, n_directions) {
        (0, _) => Ok(Vec::new()),
        (1, 2) => Ok(vec![vec![1.0], vec![-1.0]]),
        (1, _) => Err(wrong("2 in the plane")),
        (_, 3..) => Ok((0..n_directions)
            .map(|j| match (4 * j) % n_directions {
                0 => [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]][4 * j / n_directions % 4]
                    .to_vec(),
                _ => {
                    let angle = TAU * j as f64 / n_directions as f64;
                    vec![libm::cos(angle), libm::sin(angle)]
                }
            })
            .collect()),
        _ => Err(wrong("at least 3 in space")),
    }
}

fn check(rows: &ContactRows<'_>, caps: Option<&[f64]>) -> Result<(), LcpError> {
    let m = rows.friction.len();
    if rows.n_tangents > 2 {
        return Err(LcpError::OutOfRange {
            what: "number of tangents",
            value: rows.n_tangents as f64,
            allowed: "0, 1 or 2",
        });
    }
    let n = m * (rows.n_tangents + 1);
    let caps_len = caps.map_or(m, <[f64]>::len);
    let (height, width) = rows.delassus.shape();
    for (what, expected, found) in [
        ("rows of the delassus matrix", n, height),
        ("columns of the delassus matrix", n, width),
        ("velocity", n, rows.velocity.len()),
        ("restitution", m, rows.restitution.len()),
        ("caps", m, caps_len),
    ] {
        if expected != found {
            return Err(LcpError::DimensionMismatch {
                what,
                expected,
                found,
            });
        }
    }
    let refuse = |what, values: &[f64], allowed, most: f64| {
        let is_allowed = |x: &&f64| **x >= 0.0 && **x <= most;
        match values.iter().find(|x| !is_allowed(x)) {
            Some(value) => Err(LcpError::OutOfRange {
                what,
                value: *value,
                allowed,
            }),
            None => Ok(()),
        }
    };
    refuse(
        "friction",
        rows.friction,
        "finite and not negative",
        f64::MAX,
    )?;
    refuse("restitution", rows.restitution, "in [0, 1]", 1.0)?;
    refuse(
        "cap",
        caps.unwrap_or(&[]),
        "finite and not negative",
        f64::MAX,
    )
}
