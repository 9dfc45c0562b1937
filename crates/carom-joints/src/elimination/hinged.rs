//! Elimination of one body by the free directions of its joint towards the root, for joints with three forces and three couples
//! as rows.
//!
//! The velocity of the body is $w$, that of the body towards the root $w_p$. With the free directions $S$ and their rates
//! $\dot q$, a velocity $\beta$ with the prescribed rates of the other rows, the inertia $\hat M$ and momentum $\hat f$ of the
//! body with all bodies connected outward, $g = 1/c$ of the compliances $c$, the prescribed rates $b$, and the rigid motion $X$
//! with the other body,
//!
//! $$ w = Xw_p + \beta + S\dot q, \qquad (S^T\hat MS + g)\dot q = S^T\hat f + gb - S^T\hat M(Xw_p + \beta), $$
//!
//! and the remaining inertia, $\hat M - \hat MS(S^T\hat MS + g)^{-1}S^T\hat M$, is transmitted to the other body. The impulses of
//! the rows follow from the momentum $\hat Mw - \hat f$ that the joint gives to the body (Featherstone, *Rigid Body Dynamics
//! Algorithms*, 2008, section 7.3).

use super::inertia::{Inertia, Twist};
use super::lower::Lower;
use super::passed::{Scratch, Trace};
use crate::frames::Row;
use nalgebra::{Matrix3, Vector3};

/// Volume spanned by three forces (or three couples), as a fraction of that of orthogonal ones of equal lengths, below which the
/// rows are eliminated one by one instead: the inverse of their matrix would lose as many digits.
const FLAT: f64 = 1e-3;

/// Largest number of free directions of a joint.
const MOST_FREE: usize = 3;

/// Number of rows of the joint, in the order three forces, three couples.
const ROWS: usize = 6;

/// Calls a function whose constant parameter is the number of free directions.
macro_rules! with_free {
    ($n:expr, $call:ident($($argument:expr),* $(,)?)) => {
        match $n {
            0 => $call::<0>($($argument),*),
            1 => $call::<1>($($argument),*),
            2 => $call::<2>($($argument),*),
            _ => $call::<MOST_FREE>($($argument),*),
        }
    };
}

/// One body with its joint towards the root.
#[derive(Clone, Debug)]
pub(super) struct Hinged {
    rows: [usize; ROWS],
    /// True for rows that are conditions (compliance 0).
    fixed: [bool; ROWS],
    /// Number of rows in use: conditions and compliant rows.
    pub(super) n_used: usize,
    /// 1 if the body is the joint's child, −1 if it is the parent.
    sign: f64,
    /// Position of the joint relative to the body's center, and of that center relative to the other body's center (m).
    arm: Vector3<f64>,
    offset: Vector3<f64>,
    /// Inverse of the matrix whose columns are the forces of the rows, and of that with the couples.
    forces: Matrix3<f64>,
    couples: Matrix3<f64>,
    inertia: Inertia,
    /// Free directions: their number, rows, gains $1/c$, directions $S$ and momenta $\hat MS$.
    pub(super) n_free: usize,
    free: [usize; MOST_FREE],
    gains: [f64; MOST_FREE],
    directions: [Twist; MOST_FREE],
    moved: [Twist; MOST_FREE],
    /// Cholesky factor of $S^T\hat MS + g$.
    factor: Lower<MOST_FREE>,
}

/// Rows and geometry of a joint for the elimination.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joint {
    /// Index of the first row.
    pub(super) first: usize,
    /// True if the body is the joint's child.
    pub(super) is_child: bool,
    /// Position of the joint relative to the body's center, and of that center relative to the other body's center, in space (m).
    pub(super) arm: Vector3<f64>,
    pub(super) offset: Vector3<f64>,
}

/// Returns the inverse of the 3 × 3 matrix with the given columns; `None` if the columns are almost coplanar.
#[inline]
fn inverse(columns: [&Vector3<f64>; 3]) -> Option<Matrix3<f64>> {
    let [x, y, z] = columns;
    let rows = [y.cross(z), z.cross(x), x.cross(y)];
    let volume = x.dot(&rows[0]);
    let most = x.norm_squared() * y.norm_squared() * z.norm_squared();
    if !(volume * volume > FLAT * FLAT * most) {
        return None;
    }
    let scale = 1.0 / volume;
    Some(Matrix3::from_rows(
        &rows.map(|row| (row * scale).transpose()),
    ))
}

/// Returns the indices of the six rows of a joint in the order three forces, then three couples. The impulse of a force row acts
/// on the bodies as a pure force, that of a couple row as a pure couple. `None` if the rows are not of this form.
#[inline]
fn order(rows: &[Row]) -> Option<[usize; ROWS]> {
    if rows.len() != ROWS {
        return None;
    }
    let zero = Vector3::zeros();
    let (mut order, mut n_forces, mut n_couples) = ([0; ROWS], 0, 0);
    for (k, row) in rows.iter().enumerate() {
        if row.couple == zero && n_forces < 3 {
            order[n_forces] = k;
            n_forces += 1;
        } else if row.force == zero && n_couples < 3 {
            order[3 + n_couples] = k;
            n_couples += 1;
        } else {
            return None;
        }
    }
    Some(order)
}

impl Hinged {
    pub(super) fn new() -> Self {
        Self {
            rows: [0; ROWS],
            fixed: [true; ROWS],
            n_used: 0,
            sign: 1.0,
            arm: Vector3::zeros(),
            offset: Vector3::zeros(),
            forces: Matrix3::identity(),
            couples: Matrix3::identity(),
            inertia: Inertia::zero(),
            n_free: 0,
            free: [0; MOST_FREE],
            gains: [0.0; MOST_FREE],
            directions: [Twist::default(); MOST_FREE],
            moved: [Twist::default(); MOST_FREE],
            factor: Lower::zero(),
        }
    }

    /// Stores the six Jacobian rows of a joint. Returns false if the rows are not three independent forces and three independent
    /// couples, or if more than [`MOST_FREE`] rows are free. `compliance` is the rate that a unit impulse gives to each row. A
    /// row is free if its compliance is not 0: the joint can then move along this row.
    pub(super) fn take(&mut self, joint: &Joint, rows: &[Row], compliance: &[f64]) -> bool {
        let Some(order) = order(rows) else {
            return false;
        };
        let (Some(forces), Some(couples)) = (
            inverse([0, 1, 2].map(|k| &rows[order[k]].force)),
            inverse([3, 4, 5].map(|k| &rows[order[k]].couple)),
        ) else {
            return false;
        };
        self.sign = if joint.is_child { 1.0 } else { -1.0 };
        (self.arm, self.offset) = (joint.arm, joint.offset);
        (self.forces, self.couples) = (forces, couples);
        (self.n_used, self.n_free) = (0, 0);
        for slot in 0..ROWS {
            let row = joint.first + order[slot];
            let compliance = compliance[row];
            self.rows[slot] = row;
            self.n_used += usize::from(compliance.is_finite());
            self.fixed[slot] = compliance == 0.0;
            if self.fixed[slot] {
                continue;
            }
            let k = self.n_free;
            if k == MOST_FREE {
                return false;
            }
            self.free[k] = slot;
            self.gains[k] = 1.0 / compliance;
            self.directions[k] = self.direction(slot);
            self.n_free += 1;
        }
        true
    }

    /// Returns the velocity of the body, relative to the body towards the root of the tree, at which one row of the joint has
    /// rate 1 and the five others have rate 0. `slot` is the index of the row in the order three forces, three couples.
    #[inline]
    fn direction(&self, slot: usize) -> Twist {
        if slot < 3 {
            return Twist {
                linear: self.forces.row(slot).transpose() * self.sign,
                angular: Vector3::zeros(),
            };
        }
        let angular = self.couples.row(slot - 3).transpose() * self.sign;
        Twist {
            linear: self.arm.cross(&angular),
            angular,
        }
    }

    /// Factors the equations of this body and its joint. Returns false if a direction in which the joint can move has no inertia.
    /// `inertia`: inertia of this body with all bodies connected outward; `towards`: inertia of the body towards the root of the
    /// tree, to which the part that the joint transmits is added.
    #[inline]
    pub(super) fn factor(&mut self, inertia: &Inertia, towards: Option<&mut Inertia>) -> bool {
        self.inertia = *inertia;
        for k in 0..self.n_free {
            self.moved[k] = inertia.times(&self.directions[k]);
        }
        with_free!(self.n_free, eliminate(self, towards))
    }

    /// Makes this body's part of the inward sweep, the first half of a solution, which goes from the leaves of the tree to the
    /// root. The momentum that the joint transmits is added to `towards`, the momentum of the body towards the root. `wanted`:
    /// prescribed rate of each joint row. Stores in `scratch` the rates with which the joint would move if the body towards the
    /// root were at rest.
    #[inline]
    pub(super) fn inward(
        &self,
        momentum: &Twist,
        wanted: &[f64],
        scratch: &mut Scratch,
        towards: Option<&mut Twist>,
    ) {
        let mut left = *momentum;
        scratch.bias = self.bias(wanted);
        let mut rates = [0.0; MOST_FREE];
        for k in 0..self.n_free {
            let b = wanted[self.rows[self.free[k]]];
            rates[k] = self.directions[k].dot(momentum) + self.gains[k] * b;
        }
        if let Some(bias) = &scratch.bias {
            left.add(-1.0, &self.inertia.times(bias));
            for k in 0..self.n_free {
                rates[k] -= self.moved[k].dot(bias);
            }
        }
        with_free!(self.n_free, solve(&self.factor, &mut rates));
        scratch.values[..MOST_FREE].copy_from_slice(&rates);
        if let Some(towards) = towards {
            for k in 0..self.n_free {
                left.add(-rates[k], &self.moved[k]);
            }
            towards.add(1.0, &left.about(&self.offset));
        }
    }

    /// Returns the velocity of the body relative to the body towards the root of the tree, if the joint does not move
    /// in its free directions. At this velocity the conditions of the joint have their prescribed rates. `None` if the
    /// prescribed rates are all 0. `wanted`: prescribed rate of each joint row.
    #[inline]
    fn bias(&self, wanted: &[f64]) -> Option<Twist> {
        let mut rates = [0.0; ROWS];
        let mut moves = false;
        for slot in 0..ROWS {
            if self.fixed[slot] {
                rates[slot] = wanted[self.rows[slot]];
                moves |= rates[slot] != 0.0;
            }
        }
        moves.then(|| {
            let [a, b, c, d, e, f] = rates.map(|rate| rate * self.sign);
            let angular = self.couples.tr_mul(&Vector3::new(d, e, f));
            Twist {
                linear: self.forces.tr_mul(&Vector3::new(a, b, c)) + self.arm.cross(&angular),
                angular,
            }
        })
    }

    /// Makes this body's part of the outward sweep, the second half of a solution, which goes from the root of the tree to the
    /// leaves. `momentum` of this body is replaced by its velocity, and the impulses of the joint's rows are written to `out`.
    /// `wanted`: prescribed rate of each joint row; `scratch`: results of the inward sweep; `towards`: velocity of the body
    /// towards the root.
    #[inline]
    pub(super) fn outward(
        &self,
        momentum: &mut Twist,
        wanted: &[f64],
        scratch: &Scratch,
        towards: Option<&Twist>,
        out: &mut [f64],
    ) {
        let mut velocity = towards.map_or_else(Twist::default, |it| it.carried(&self.offset));
        let mut back = [0.0; MOST_FREE];
        for k in 0..self.n_free {
            back[k] = self.moved[k].dot(&velocity);
        }
        with_free!(self.n_free, solve(&self.factor, &mut back));
        if let Some(bias) = &scratch.bias {
            velocity.add(1.0, bias);
        }
        let mut rates = [0.0; MOST_FREE];
        for k in 0..self.n_free {
            rates[k] = scratch.values[k] - back[k];
            velocity.add(rates[k], &self.directions[k]);
        }
        let mut given = self.inertia.times(&velocity);
        given.add(-1.0, momentum);
        let moment = given.angular - self.arm.cross(&given.linear);
        let force = self.forces * given.linear * self.sign;
        let couple = self.couples * moment * self.sign;
        for k in 0..3 {
            out[self.rows[k]] = force[k];
            out[self.rows[3 + k]] = couple[k];
        }
        for k in 0..self.n_free {
            let row = self.rows[self.free[k]];
            out[row] = if self.gains[k] > 0.0 {
                self.gains[k] * (wanted[row] - rates[k])
            } else {
                0.0
            };
        }
        *momentum = velocity;
    }

    /// Returns the response of this body and its joint to a momentum of the body. The response has two parts: the rates
    /// with which the joint moves, and the momentum that the joint transmits towards the root of the tree. The rates
    /// are scaled: products of two responses give mobilities (velocity per impulse).
    #[inline]
    pub(super) fn trace(&self, momentum: &Twist) -> Trace {
        let mut rates = [0.0; MOST_FREE];
        for k in 0..self.n_free {
            rates[k] = self.directions[k].dot(momentum);
        }
        let mut trace = Trace::default();
        let mut white = rates;
        with_free!(self.n_free, whitened(&self.factor, &mut white));
        trace.own[..MOST_FREE].copy_from_slice(&white);
        with_free!(self.n_free, solve(&self.factor, &mut rates));
        let mut left = *momentum;
        for k in 0..self.n_free {
            left.add(-rates[k], &self.moved[k]);
        }
        trace.passed = left.about(&self.offset);
        trace
    }
}

fn eliminate<const N: usize>(node: &mut Hinged, towards: Option<&mut Inertia>) -> bool {
    let mut columns = [[0.0; N]; N];
    for j in 0..N {
        for i in j..N {
            columns[j][i] = node.directions[i].dot(&node.moved[j]);
        }
        columns[j][j] += node.gains[j];
    }
    let Some(lower) = Lower::factor(columns) else {
        return false;
    };
    for k in 0..N {
        node.factor.columns[k][..N].copy_from_slice(&lower.columns[k]);
        node.factor.inverse[k] = lower.inverse[k];
    }
    if let Some(towards) = towards {
        let mut white: [[f64; 6]; N] = std::array::from_fn(|k| node.moved[k].dense());
        lower.whiten(&mut white);
        let mut left = node.inertia;
        for p in white {
            left.subtract_square(&Twist::from_dense(p));
        }
        towards.add_carried(&left, &node.offset);
    }
    true
}

#[inline]
fn solve<const N: usize>(factor: &Lower<MOST_FREE>, x: &mut [f64; MOST_FREE]) {
    let mut y: [f64; N] = std::array::from_fn(|k| x[k]);
    factor.solve(&mut y);
    x[..N].copy_from_slice(&y);
}

#[inline]
fn whitened<const N: usize>(factor: &Lower<MOST_FREE>, x: &mut [f64; MOST_FREE]) {
    let mut y: [[f64; 1]; N] = std::array::from_fn(|k| [x[k]]);
    factor.whiten(&mut y);
    for k in 0..N {
        x[k] = y[k][0];
    }
}
