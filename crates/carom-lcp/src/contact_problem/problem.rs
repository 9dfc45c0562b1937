//! Contact problem in the caller's units.

use super::bodies::Bodies;
use super::checks::{UNIT, WIDTH, check_finite, check_len, check_range};
use crate::LcpError;
use carom_numeric::kernel::norm;

/// Rows of a block and the set of its impulses.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// One row: a contact without friction.
    Normal,
    /// Two rows: normal and tangent.
    Planar,
    /// Three rows: normal and two orthogonal tangents of equal scale.
    Round,
    /// Three rows. Friction acts against the given unit vector in the tangent plane, whatever the tangential velocity is:
    /// $\lambda_t = -\mu\lambda_n d$.
    Against([f64; 2]),
    /// One row without a normal: dry friction of a joint. The magnitude of the impulse is at most the given number (N·s or N·m·s).
    Box(f64),
}

impl Kind {
    /// Returns the number of rows of a block of this kind.
    pub fn width(self) -> usize {
        match self {
            Self::Normal | Self::Box(_) => 1,
            Self::Planar => 2,
            Self::Round | Self::Against(_) => WIDTH,
        }
    }
}

/// Law of one contact: bounds of its impulses, the target of its normal velocity, and its spring.
///
/// # Examples
///
/// ```
/// use carom_lcp::contact_problem::{Block, Kind};
/// let capped = Block { cap: 2.0, ..Block::new(Kind::Round, 0.5) };
/// assert_eq!(capped.floor, 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// Rows of the contact.
    pub kind: Kind,
    /// Friction coefficient $\mu \ge 0$.
    pub friction: f64,
    /// Lower bound $f \ge 0$ of the normal impulse (N·s).
    pub floor: f64,
    /// Upper bound $c \ge f$ of the normal impulse (N·s); may be infinite.
    pub cap: f64,
    /// Target $t \ge 0$ of the normal velocity (m/s).
    pub target: f64,
    /// Compliance $R \ge 0$ (1/kg), of all rows. 0: rigid.
    pub compliance: f64,
    /// Impulse $p$ (N·s) that the spring held before: normal, then tangents. The start of the search if the contact is rigid.
    pub preload: [f64; 3],
}

impl Block {
    /// Returns the law of a rigid contact that is pushed apart without limit, with target 0.
    pub const fn new(kind: Kind, friction: f64) -> Self {
        Self {
            kind,
            friction,
            floor: 0.0,
            cap: f64::INFINITY,
            target: 0.0,
            compliance: 0.0,
            preload: [0.0; 3],
        }
    }

    fn check(&self) -> Result<(), LcpError> {
        let limit = match self.kind {
            Kind::Box(limit) => limit,
            _ => 0.0,
        };
        for (what, value) in [
            ("friction", self.friction),
            ("floor", self.floor),
            ("target", self.target),
            ("compliance", self.compliance),
            ("limit of a box", limit),
        ] {
            check_range(what, value, f64::MAX, "finite and not negative")?;
        }
        if !(self.cap >= self.floor) {
            return Err(LcpError::OutOfRange {
                what: "cap",
                value: self.cap,
                allowed: "at least the floor",
            });
        }
        if let Kind::Against(slip) = self.kind {
            let length = norm(&slip);
            if !((length - 1.0).abs() <= UNIT) {
                return Err(LcpError::OutOfRange {
                    what: "length of a slip direction",
                    value: length,
                    allowed: "1",
                });
            }
        }
        check_finite("preload", &self.preload)
    }
}

/// Delassus matrix $G = JM^{-1}J^T$, which maps impulses to changes of the rows' velocities.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Operator<'a> {
    /// Symmetric matrix (n × n, 1/kg), n the number of all rows. Contacts that share no body have zero blocks.
    Dense(&'a [f64]),
    /// Masses and rows of bodies.
    Bodies(&'a Bodies),
}

/// Contacts with friction: rows, laws and velocities.
///
/// The rows of a contact are its normal and its tangents; the rows of all contacts stand one after the other. $b$ are
/// the velocities of the rows before the impulses $\lambda$, and $u = b + G\lambda$ those after. With
/// $w = u - (t, 0, 0) + R(\lambda - p)$ the impulses satisfy
///
/// $$ f \le \lambda_n \perp w_n \ge 0 \text{ (at the cap } w_n \le 0), \qquad \lVert\lambda_t\rVert \le \mu\lambda_n, \qquad
/// \lambda_t = -\mu\lambda_n \frac{w_t}{\lVert w_t\rVert} \text{ where } w_t \ne 0, $$
///
/// the law of Signorini and Coulomb; the other symbols are the fields of a [`Block`].
#[derive(Clone, Copy, Debug)]
pub struct ContactProblem<'a> {
    operator: Operator<'a>,
    blocks: &'a [Block],
    velocity: &'a [f64],
}

impl<'a> ContactProblem<'a> {
    /// Creates a contact problem from the Delassus matrix, the laws of the contacts, and the velocities of all rows before
    /// the impulses (m/s).
    ///
    /// # Errors
    ///
    /// [`LcpError::DimensionMismatch`], [`LcpError::NonFinite`], [`LcpError::OutOfRange`], and
    /// [`LcpError::NonPositiveDiagonal`] for a first row of a contact that no impulse moves.
    pub fn new(
        operator: Operator<'a>,
        blocks: &'a [Block],
        velocity: &'a [f64],
    ) -> Result<Self, LcpError> {
        let n = blocks.iter().map(|block| block.kind.width()).sum();
        check_len("velocity", n, velocity.len())?;
        check_finite("velocity", velocity)?;
        blocks.iter().try_for_each(Block::check)?;
        match operator {
            Operator::Dense(matrix) => {
                check_len("delassus matrix", n * n, matrix.len())?;
                check_finite("delassus matrix", matrix)?;
                let mut index = 0;
                for block in blocks {
                    let value = matrix[index * n + index];
                    if !(value > 0.0) {
                        return Err(LcpError::NonPositiveDiagonal { index, value });
                    }
                    index += block.kind.width();
                }
            }
            Operator::Bodies(bodies) => check_len("contacts", bodies.n_contacts(), blocks.len())?,
        }
        Ok(Self {
            operator,
            blocks,
            velocity,
        })
    }

    /// Returns the Delassus matrix.
    pub fn operator(&self) -> Operator<'a> {
        self.operator
    }

    /// Returns the laws of the contacts.
    pub fn blocks(&self) -> &'a [Block] {
        self.blocks
    }

    /// Returns the velocities of the rows before the impulses (m/s).
    pub fn velocity(&self) -> &'a [f64] {
        self.velocity
    }
}
