//! Rigid bodies and the rows of their contacts.

use super::checks::{WIDTH, check_finite};
use crate::LcpError;

/// Number of coordinates of a body's velocity.
pub(super) const BODY: usize = 6;

/// Index that marks a fixed object.
pub(super) const FIXED: u32 = u32::MAX;

/// Contact rows of one body: a 3 × 6 matrix that maps the velocity of the body (six coordinates) to the velocities that the
/// body contributes to the rows of the contact. Rows that the contact does not have are zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyRows {
    /// Index of the body, returned by [`push_body`](Bodies::push_body).
    pub body: usize,
    /// Normal row and the two tangent rows, as covectors of the body's velocity.
    pub rows: [[f64; 6]; 3],
}

/// Whitened rows of a contact: rows times the inverse Cholesky factor of the mass matrix.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sides {
    /// Indices of the bodies; the second is [`FIXED`] if the second object does not move.
    pub(super) bodies: [u32; 2],
    pub(super) rows: [[[f64; BODY]; WIDTH]; 2],
}

/// Mass matrices of bodies, and the rows of the contacts between them.
///
/// # Examples
///
/// A ball of 2 kg falls on a fixed floor and slides:
///
/// ```
/// use carom_lcp::contact_problem::*;
/// let mut mass = [[0.0; 6]; 6];
/// for (i, row) in mass.iter_mut().enumerate() {
///     row[i] = if i < 3 { 2.0 } else { 0.01 };
/// }
/// let mut bodies = Bodies::default();
/// let body = bodies.push_body(&mass)?;
/// let mut rows = [[0.0; 6]; 3];
/// (rows[0][2], rows[1][0], rows[2][1]) = (1.0, 1.0, 1.0);
/// bodies.push_contact(&BodyRows { body, rows }, None)?;
/// let blocks = [Block::new(Kind::Round, 0.5)];
/// let problem = ContactProblem::new(Operator::Bodies(&bodies), &blocks, &[-1.0, 0.6, 0.8])?;
/// let mut workspace = Workspace::default();
/// let solution = solve(&problem, Member::Even, &mut workspace)?;
/// assert!((solution.impulse[0] - 2.0).abs() < 1e-12);
/// assert!((solution.impulse[1] + 0.6).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Bodies {
    /// Lower Cholesky factors of the mass matrices.
    factors: Vec<[[f64; BODY]; BODY]>,
    sides: Vec<Sides>,
}

impl Bodies {
    /// Removes all bodies and contacts. The allocated memory is kept.
    pub fn clear(&mut self) {
        self.factors.clear();
        self.sides.clear();
    }

    /// Adds a body and returns its index. `mass` is the mass matrix of the body (six coordinates); only the lower triangle
    /// is read.
    ///
    /// # Errors
    ///
    /// [`LcpError::NonFinite`], and [`LcpError::NonPositiveDiagonal`] for a matrix that is not positive definite.
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

    /// Adds the rows of a contact between two bodies, or between a body and a fixed object, and returns its index.
    ///
    /// # Errors
    ///
    /// [`LcpError::OutOfRange`] for a body that does not exist and for two equal bodies, [`LcpError::NonFinite`], and
    /// [`LcpError::NonPositiveDiagonal`] for a normal along which no impulse changes the velocity.
    pub fn push_contact(
        &mut self,
        first: &BodyRows,
        second: Option<&BodyRows>,
    ) -> Result<usize, LcpError> {
        let mut sides = Sides {
            bodies: [FIXED; 2],
            ..Sides::default()
        };
        for (k, side) in [Some(first), second].into_iter().enumerate() {
            let Some(side) = side else { continue };
            if side.body >= self.factors.len() || sides.bodies[0] == side.body as u32 {
                return Err(LcpError::OutOfRange {
                    what: "body",
                    value: side.body as f64,
                    allowed: "the index of a body, the second another than the first",
                });
            }
            check_finite("rows", side.rows.as_flattened())?;
            sides.bodies[k] = side.body as u32;
            for (row, given) in sides.rows[k].iter_mut().zip(&side.rows) {
                *row = whiten(&self.factors[side.body], given);
            }
        }
        let value: f64 = sides.rows.iter().map(|rows| dot(&rows[0], &rows[0])).sum();
        if !(value > 0.0 && value.is_finite()) {
            let index = WIDTH * self.sides.len();
            return Err(LcpError::NonPositiveDiagonal { index, value });
        }
        self.sides.push(sides);
        Ok(self.sides.len() - 1)
    }

    /// Returns the number of contacts.
    pub fn n_contacts(&self) -> usize {
        self.sides.len()
    }

    /// Returns the number of bodies.
    pub fn n_bodies(&self) -> usize {
        self.factors.len()
    }

    pub(super) fn sides(&self) -> &[Sides] {
        &self.sides
    }
}

/// Converts the row `a` of a contact on one body to whitened coordinates, in which the mass matrix is the identity: solves
/// $Lw = a$ with the Cholesky factor $L$ = `l` of the mass matrix.
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
