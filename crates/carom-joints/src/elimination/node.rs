//! One body of the tree with its joint towards the root: factors with a constant number of rows.

use carom_numeric::dense::is_regular;
use nalgebra::{Matrix6, Vector6};

/// Rows of one joint in use at once: three conditions, a limit and three damped rates of a spherical joint.
pub(super) const MOST_ROWS: usize = 7;

/// Calls a function of a constant number of rows.
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

/// Cholesky factor of a positive definite matrix, column by column, with the inverses of its diagonal.
#[derive(Clone, Copy, Debug)]
struct Lower<const N: usize> {
    columns: [[f64; N]; N],
    inverse: [f64; N],
}

impl<const N: usize> Lower<N> {
    fn zero() -> Self {
        Self {
            columns: [[0.0; N]; N],
            inverse: [0.0; N],
        }
    }

    /// Factors the matrix whose lower triangle stands in `columns`; `None` if it is not positive definite.
    #[inline]
    fn factor(mut columns: [[f64; N]; N]) -> Option<Self> {
        let given: [f64; N] = std::array::from_fn(|j| columns[j][j]);
        let mut inverse = [0.0; N];
        for j in 0..N {
            let pivot = columns[j][j];
            if !is_regular(pivot, given[j], N) {
                return None;
            }
            let root = pivot.sqrt();
            inverse[j] = 1.0 / root;
            columns[j][j] = root;
            for i in j + 1..N {
                columns[j][i] *= inverse[j];
            }
            let done = columns[j];
            for k in j + 1..N {
                for i in k..N {
                    columns[k][i] -= done[k] * done[i];
                }
            }
        }
        Some(Self { columns, inverse })
    }

    /// $x \leftarrow L^{-1}x$ with the leading block of the length of `x`, for several vectors at once: `x[i]` holds
    /// the i-th entries of all.
    #[inline]
    fn whiten<const K: usize, const L: usize>(&self, x: &mut [[f64; K]; L]) {
        for j in 0..L {
            let mut head = x[j];
            for entry in &mut head {
                *entry *= self.inverse[j];
            }
            x[j] = head;
            for i in j + 1..L {
                let l = self.columns[j][i];
                for k in 0..K {
                    x[i][k] -= l * head[k];
                }
            }
        }
    }

    /// $x \leftarrow L^{-T}x$ likewise.
    #[inline]
    fn unwhiten<const K: usize, const L: usize>(&self, x: &mut [[f64; K]; L]) {
        for j in (0..L).rev() {
            let mut sum = x[j];
            for i in j + 1..L {
                let l = self.columns[j][i];
                for k in 0..K {
                    sum[k] -= l * x[i][k];
                }
            }
            for entry in &mut sum {
                *entry *= self.inverse[j];
            }
            x[j] = sum;
        }
    }

    /// $x \leftarrow L^{-T}L^{-1}x$ with the leading block.
    #[inline]
    fn solve<const L: usize>(&self, x: &mut [f64; L]) {
        for j in 0..L {
            x[j] *= self.inverse[j];
            for i in j + 1..L {
                x[i] -= self.columns[j][i] * x[j];
            }
        }
        for j in (0..L).rev() {
            for i in j + 1..L {
                x[j] -= self.columns[j][i] * x[i];
            }
            x[j] *= self.inverse[j];
        }
    }
}

/// One body with the rows of its joint towards the root.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Rows in use.
    pub(super) rows: [usize; MOST_ROWS],
    pub(super) n: usize,
    /// $J_c$ and $J_p$.
    own: [Vector6<f64>; MOST_ROWS],
    other: [Vector6<f64>; MOST_ROWS],
    /// Factor of $\hat M_c$.
    mass: Lower<6>,
    /// $J_c\hat M_c^{-1}$ and $\hat SJ_p$.
    reply: [Vector6<f64>; MOST_ROWS],
    passed: [Vector6<f64>; MOST_ROWS],
    /// Factor of $\hat S^{-1}$ in the first rows and columns.
    complement: Lower<MOST_ROWS>,
}

impl Node {
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

    /// Forgets the rows.
    pub(super) fn clear(&mut self) {
        self.n = 0;
    }

    /// Adds a row with its entries of the body and of the other side, if there is room.
    pub(super) fn add(&mut self, row: usize, own: &Vector6<f64>, other: &Vector6<f64>) {
        if self.n < MOST_ROWS {
            (self.rows[self.n], self.own[self.n], self.other[self.n]) = (row, *own, *other);
            self.n += 1;
        }
    }

    /// Factors for a mass $\hat M_c$ and the compliances of all rows, and adds $J_p^T\hat SJ_p$ to the mass of the
    /// other side. False if the rows are dependent.
    pub(super) fn factor(
        &mut self,
        mass: &Matrix6<f64>,
        compliance: &[f64],
        towards: Option<&mut Matrix6<f64>>,
    ) -> bool {
        let Some(lower) = Lower::factor(mass.data.0) else {
            return false;
        };
        self.mass = lower;
        with_size!(self.n, complement(self, compliance, towards))
    }

    /// Carries momenta from the body to the other side: `missing` becomes $b - J_c\hat M_c^{-1}\hat f_c$.
    #[inline]
    pub(super) fn inward(
        &self,
        momentum: &Vector6<f64>,
        missing: &mut [f64; MOST_ROWS],
        towards: Option<&mut Vector6<f64>>,
    ) {
        for k in 0..self.n {
            missing[k] -= self.reply[k].dot(momentum);
        }
        if let Some(towards) = towards {
            for k in 0..self.n {
                *towards += self.passed[k] * missing[k];
            }
        }
    }

    /// Replaces what is missing by the multipliers, and the momentum of the body by its velocity.
    #[inline]
    pub(super) fn outward(
        &self,
        momentum: &mut Vector6<f64>,
        missing: &mut [f64; MOST_ROWS],
        towards: Option<&Vector6<f64>>,
    ) {
        if let Some(velocity) = towards {
            for k in 0..self.n {
                missing[k] -= self.other[k].dot(velocity);
            }
        }
        with_size!(self.n, multipliers(self, missing));
        for k in 0..self.n {
            *momentum += self.own[k] * missing[k];
        }
        self.mass.solve(&mut momentum.data.0[0]);
    }

    /// Whitened momentum $\hat L^{-1}\hat f_c$ and whitened rates $\hat S^{1/2}J_c\hat M_c^{-1}\hat f_c$ of the body's
    /// joint, of which the energy of a reply consists; the momentum of the other side.
    #[inline]
    pub(super) fn trace(&self, momentum: &Vector6<f64>) -> Trace {
        let mut own = momentum.data.0[0].map(|x| [x]);
        self.mass.whiten(&mut own);
        let mut rates = [[0.0]; MOST_ROWS];
        let mut passed = Vector6::zeros();
        for k in 0..self.n {
            rates[k] = [self.reply[k].dot(momentum)];
            passed -= self.passed[k] * rates[k][0];
        }
        with_size!(self.n, whitened(self, &mut rates));
        Trace {
            own: own.map(|[x]| x),
            rates: rates.map(|[x]| x),
            passed,
        }
    }
}

/// Part of the reply to a momentum that one body and its joint make.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trace {
    own: [f64; 6],
    rates: [f64; MOST_ROWS],
    /// Momentum that the joint carries to the other side.
    pub(super) passed: Vector6<f64>,
}

impl Trace {
    /// Share of the body and its joint in the velocity that one momentum gives along another.
    #[inline]
    pub(super) fn share(&self, other: &Self) -> f64 {
        let own: f64 = self.own.iter().zip(&other.own).map(|(a, b)| a * b).sum();
        let rates = self.rates.iter().zip(&other.rates);
        own - rates.map(|(a, b)| a * b).sum::<f64>()
    }
}

fn complement<const N: usize>(
    node: &mut Node,
    compliance: &[f64],
    towards: Option<&mut Matrix6<f64>>,
) -> bool {
    // Rows in columns: `white[i][k]` is the i-th entry of row k.
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
        for j in 0..6 {
            for i in 0..6 {
                towards.data.0[j][i] += row[i] * row[j];
            }
        }
    }
    lower.unwhiten(&mut passed);
    for k in 0..N {
        node.passed[k].data.0[0] = passed[k];
    }
    true
}

#[inline]
fn multipliers<const N: usize>(node: &Node, missing: &mut [f64; MOST_ROWS]) {
    let mut x: [f64; N] = std::array::from_fn(|k| missing[k]);
    node.complement.solve(&mut x);
    missing[..N].copy_from_slice(&x);
}

#[inline]
fn whitened<const N: usize>(node: &Node, rates: &mut [[f64; 1]; MOST_ROWS]) {
    let mut x: [[f64; 1]; N] = std::array::from_fn(|k| rates[k]);
    node.complement.whiten(&mut x);
    rates[..N].copy_from_slice(&x);
}
