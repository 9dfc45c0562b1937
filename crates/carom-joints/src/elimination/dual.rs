//! Elimination of one body row by row, for any rows of its joint towards the root, in the axes of space. The number of rows is a
//! constant of the inner loops.

use super::inertia::{Inertia, Twist};
use super::lower::Lower;
use super::passed::{MOST_ROWS, Scratch, Trace};
use nalgebra::Vector6;

/// Calls a function whose constant parameter is the number of rows.
macro_rules! with_size {
    ($n:expr, $call:ident($($argument:expr),* $(,)?)) => {
        match $n {
            0 => $call::<0>($($argument),*),
            1 => $call::<1>($($argument),*),
            2 => $call::<2>($($argument),*),
            3 => $call::<3>($($argument),*),
            4 => $call::<4>($($argument),*),
            5 => $call::<5>($($argument),*),
            6 => $call::<6>($($argument),*),
            _ => $call::<MOST_ROWS>($($argument),*),
        }
    };
}

/// One body with the rows of its joint towards the root, in the axes of space.
#[derive(Clone, Debug)]
pub(super) struct Dual {
    /// Indices of the rows in use; `n` is their number.
    pub(super) rows: [usize; MOST_ROWS],
    pub(super) n: usize,
    /// Entries $J_c$ of the body and $J_p$ of the body towards the root, row by row.
    own: [Vector6<f64>; MOST_ROWS],
    other: [Vector6<f64>; MOST_ROWS],
    /// Cholesky factor of the inertia $\hat M_c$.
    mass: Lower<6>,
    /// Rows $J_c\hat M_c^{-1}$ and $\hat SJ_p$.
    reply: [Vector6<f64>; MOST_ROWS],
    passed: [Vector6<f64>; MOST_ROWS],
    /// Cholesky factor of $\hat S^{-1}$, in the first `n` rows and columns.
    complement: Lower<MOST_ROWS>,
}

impl Dual {
    pub(super) fn new() -> Self {
        let zero = [Vector6::zeros(); MOST_ROWS];
        Self {
            rows: [0; MOST_ROWS],
            n: 0,
            own: zero,
            other: zero,
            mass: Lower::zero(),
            reply: zero,
            passed: zero,
            complement: Lower::zero(),
        }
    }

    /// Removes all Jacobian rows of the joint that have been added.
    pub(super) fn clear(&mut self) {
        self.n = 0;
    }

    /// Adds a Jacobian row of the joint. `row` is the index of this row among the rows of all joints, `own` holds the
    /// entries of the row for this body, and `other` the entries for the body towards the root of the tree. Rows beyond
    /// [`MOST_ROWS`] are ignored.
    pub(super) fn add(&mut self, row: usize, own: &Vector6<f64>, other: &Vector6<f64>) {
        if self.n < MOST_ROWS {
            (self.rows[self.n], self.own[self.n], self.other[self.n]) = (row, *own, *other);
            self.n += 1;
        }
    }

    /// Factors the equations of this body and its joint. Returns false if the rows of the joint are dependent. `inertia`: inertia
    /// $\hat M_c$ of this body with all bodies connected outward; `compliance`: rate $c$ that a unit impulse gives to each row.
    ///
    /// Adds to `towards`, the inertia of the body towards the root of the tree, the part $J_p^T\hat SJ_p$ that the joint
    /// transmits. $J_p$ and $J_c$ are the entries of the rows for that body and for this one, and $\hat S^{-1} = J_c\hat
    /// M_c^{-1}J_c^T + c$.
    pub(super) fn factor(
        &mut self,
        inertia: &Inertia,
        compliance: &[f64],
        towards: Option<&mut Inertia>,
    ) -> bool {
        let Some(lower) = Lower::factor(inertia.dense().data.0) else {
            return false;
        };
        self.mass = lower;
        with_size!(self.n, complement(self, compliance, towards))
    }

    /// Makes this body's part of the inward sweep, the first half of a solution, which goes from the leaves of the tree to the
    /// root. The momentum that the joint transmits is added to `towards`, the momentum of the body towards the root. `wanted`:
    /// prescribed rate of each joint row.
    ///
    /// Stores in `scratch` the missing rates $b - J_c\hat M_c^{-1}\hat f_c$: the prescribed rates $b$ minus those that the
    /// momentum $\hat f_c$ alone gives to the rows $J_c$, with the inertia $\hat M_c$.
    #[inline]
    pub(super) fn inward(
        &self,
        momentum: &Twist,
        wanted: &[f64],
        scratch: &mut Scratch,
        towards: Option<&mut Twist>,
    ) {
        let momentum = Vector6::from(momentum.dense());
        let missing = &mut scratch.values;
        for k in 0..self.n {
            missing[k] = wanted[self.rows[k]] - self.reply[k].dot(&momentum);
        }
        if let Some(towards) = towards {
            for k in 0..self.n {
                towards.add(missing[k], &Twist::from_dense(self.passed[k].data.0[0]));
            }
        }
    }

    /// Makes this body's part of the outward sweep, the second half of a solution, which goes from the root of the tree to the
    /// leaves. `momentum` of this body is replaced by its velocity, and the impulses of the joint's rows are written to `out`.
    /// `scratch`: results of the inward sweep; `towards`: velocity of the body towards the root.
    #[inline]
    pub(super) fn outward(
        &self,
        momentum: &mut Twist,
        scratch: &Scratch,
        towards: Option<&Twist>,
        out: &mut [f64],
    ) {
        let mut missing = scratch.values;
        if let Some(velocity) = towards {
            let velocity = Vector6::from(velocity.dense());
            for k in 0..self.n {
                missing[k] -= self.other[k].dot(&velocity);
            }
        }
        with_size!(self.n, multipliers(self, &mut missing));
        let mut momenta = Vector6::from(momentum.dense());
        for k in 0..self.n {
            momenta += self.own[k] * missing[k];
            out[self.rows[k]] = missing[k];
        }
        self.mass.solve(&mut momenta.data.0[0]);
        *momentum = Twist::from_dense(momenta.data.0[0]);
    }

    /// Returns the response of this body and its joint to a momentum $\hat f_c$ of the body. Products of two responses give
    /// mobilities (velocity per impulse). The response has three parts: the scaled momentum $\hat L^{-1}\hat f_c$, with the
    /// Cholesky factor $\hat L$ of the inertia $\hat M_c$; the scaled rates $\hat S^{1/2}J_c\hat M_c^{-1}\hat f_c$ of the joint's
    /// rows $J_c$, where $\hat S^{-1}$ is the mobility of these rows plus their compliance; and the momentum that the joint
    /// transmits towards the root of the tree.
    #[inline]
    pub(super) fn trace(&self, momentum: &Twist) -> Trace {
        let momentum = Vector6::from(momentum.dense());
        let mut own = momentum.data.0[0].map(|x| [x]);
        self.mass.whiten(&mut own);
        let mut rates = [[0.0]; MOST_ROWS];
        let mut passed = Vector6::zeros();
        for k in 0..self.n {
            rates[k] = [self.reply[k].dot(&momentum)];
            passed -= self.passed[k] * rates[k][0];
        }
        with_size!(self.n, whitened(self, &mut rates));
        Trace {
            own: own.map(|[x]| x),
            rates: rates.map(|[x]| x),
            passed: Twist::from_dense(passed.data.0[0]),
        }
    }
}

fn complement<const N: usize>(
    node: &mut Dual,
    compliance: &[f64],
    towards: Option<&mut Inertia>,
) -> bool {
    // Rows are stored as columns: `white[i][k]` is the i-th entry of row k.
    let mut white = [[0.0; N]; 6];
    for k in 0..N {
        for i in 0..6 {
            white[i][k] = node.own[k][i];
        }
    }
    node.mass.whiten(&mut white);
    let mut columns = [[0.0; N]; N];
    for row in &white {
        for j in 0..N {
            for i in j..N {
                columns[j][i] += row[i] * row[j];
            }
        }
    }
    for k in 0..N {
        columns[k][k] += compliance[node.rows[k]];
    }
    let Some(lower) = Lower::factor(columns) else {
        return false;
    };
    node.mass.unwhiten(&mut white);
    for k in 0..N {
        for i in 0..6 {
            node.reply[k][i] = white[i][k];
        }
        for i in 0..N {
            node.complement.columns[k][i] = lower.columns[k][i];
        }
        node.complement.inverse[k] = lower.inverse[k];
    }
    let Some(towards) = towards else {
        return true;
    };
    // $J_p^T\hat SJ_p$ as a product of the whitened rows.
    let mut passed: [[f64; 6]; N] = std::array::from_fn(|k| node.other[k].data.0[0]);
    lower.whiten(&mut passed);
    for row in &passed {
        towards.add_square(&Twist::from_dense(*row));
    }
    lower.unwhiten(&mut passed);
    for k in 0..N {
        node.passed[k].data.0[0] = passed[k];
    }
    true
}

#[inline]
fn multipliers<const N: usize>(node: &Dual, missing: &mut [f64; MOST_ROWS]) {
    let mut x: [f64; N] = std::array::from_fn(|k| missing[k]);
    node.complement.solve(&mut x);
    missing[..N].copy_from_slice(&x);
}

#[inline]
fn whitened<const N: usize>(node: &Dual, rates: &mut [[f64; 1]; MOST_ROWS]) {
    let mut x: [[f64; 1]; N] = std::array::from_fn(|k| rates[k]);
    node.complement.whiten(&mut x);
    rates[..N].copy_from_slice(&x);
}
