//! Constraint one-forms of a configuration, which may depend on each other.

use crate::{ImpactError, own_terms};
use carom_metric::{Covector, KineticMetric, UnitNormals};
use carom_numeric::svd::Svd;
use nalgebra::{DMatrix, DVector};

/// Diagonal entries of the triangular factor of unit forms, below which the forms are decomposed by singular values.
/// Ten thousand times the rank's limit: a factor that passes has full rank.
const REGULAR: f64 = 1e-8;

/// Singular values of unit forms below this fraction of the largest count as zero: some forms depend on others.
const RANK_TOLERANCE: f64 = 1e-12;

/// Constraint one-forms $A$ (m × n): $Av = 0$ before and after the impact.
///
/// With the whitened forms $L^{-1}A^T = QR$ of rank $r$, multipliers of a momentum $p$ along the forms solve
/// $R\lambda = Q^Tp$. Forms that depend on each other have the multipliers of least norm, on rows of unit kinetic
/// length.
#[derive(Clone, Debug)]
pub(crate) struct Constraints {
    forms: Vec<Covector>,
    /// Orthonormal whitened basis $Q$ (n × r) of the forms.
    basis: DMatrix<f64>,
    solver: Solver,
}

/// Solver of $R\lambda = c$.
#[derive(Clone, Debug)]
enum Solver {
    /// Upper triangular $R$ (m × m) of independent forms.
    Triangle(DMatrix<f64>),
    /// Least-norm inverse of $R$ (m × r).
    Inverse(DMatrix<f64>),
}

impl Constraints {
    /// Factors forms of length n.
    ///
    /// # Errors
    ///
    /// [`ImpactError::Metric`] for forms of a wrong length or with non-finite entries.
    pub(crate) fn new(metric: &KineticMetric, forms: Vec<Covector>) -> Result<Self, ImpactError> {
        let units = UnitNormals::new_or_zero(metric, forms.iter(), |_| true)?;
        let groups = Groups::of(units.columns());
        let (basis, solver) = triangle(&units, &groups).unwrap_or_else(|| inverse(&units, &groups));
        Ok(Self {
            forms,
            basis,
            solver,
        })
    }

    /// The forms as given.
    pub(crate) fn forms(&self) -> &[Covector] {
        &self.forms
    }

    /// Orthonormal whitened basis (n × r) of the forms.
    pub(crate) fn basis(&self) -> &DMatrix<f64> {
        &self.basis
    }

    /// Multipliers whose forms make the part of a whitened momentum along them.
    pub(crate) fn multipliers(&self, whitened: &DVector<f64>) -> DVector<f64> {
        let mut along = self.basis.tr_mul(whitened);
        match &self.solver {
            Solver::Triangle(triangle) => {
                // The factor is regular: see `triangle`.
                triangle.solve_upper_triangular_mut(&mut along);
                along
            }
            Solver::Inverse(inverse) => inverse * along,
        }
    }

    /// Multipliers $-\lambda$ with $AM^{-1}A^T\lambda = c$, where $c$ can be reached.
    pub(crate) fn stop(&self, mut velocity: DVector<f64>) -> DVector<f64> {
        match &self.solver {
            Solver::Triangle(triangle) => {
                triangle.tr_solve_upper_triangular_mut(&mut velocity);
                triangle.solve_upper_triangular_mut(&mut velocity);
                -velocity
            }
            Solver::Inverse(inverse) => -(inverse * inverse.tr_mul(&velocity)),
        }
    }
}

/// Forms that no coordinate connects. They are factored apart, on the coordinates that they have: rounding would
/// give them a share in all others, and a far body of any momentum would work on it.
struct Groups {
    /// Coordinates and forms of each group.
    groups: Vec<(Vec<usize>, Vec<usize>)>,
}

impl Groups {
    /// Groups of whitened forms (n × m). Zero forms are in none.
    fn of(forms: &DMatrix<f64>) -> Self {
        let (n, m) = forms.shape();
        let (of, of_form) = own_terms::groups(n, forms.as_slice().chunks_exact(n.max(1)));
        let is_zero = |j: usize| forms.column(j).iter().all(|x| *x == 0.0);
        let groups = (0..n).map(|group| {
            let coordinates = (0..n).filter(|k| of[*k] == group).collect();
            let members = (0..m).filter(|j| of_form[*j] == group && !is_zero(*j));
            (coordinates, members.collect::<Vec<_>>())
        });
        Self {
            groups: groups.filter(|(_, members)| !members.is_empty()).collect(),
        }
    }
}

/// Factors $QR$ of the forms, if they are clearly independent.
fn triangle(units: &UnitNormals, groups: &Groups) -> Option<(DMatrix<f64>, Solver)> {
    let forms = units.columns();
    let (n, m) = forms.shape();
    let mut basis = DMatrix::zeros(n, m);
    let mut triangle = DMatrix::zeros(m, m);
    for (coordinates, members) in &groups.groups {
        if members.len() > coordinates.len() {
            return None;
        }
        let part = forms.select_rows(coordinates).select_columns(members);
        let (q, r) = part.qr().unpack();
        for (b, j) in members.iter().enumerate() {
            for (a, i) in members.iter().enumerate() {
                triangle[(*i, *j)] = r[(a, b)];
            }
        }
        for (a, k) in coordinates.iter().enumerate() {
            for (b, j) in members.iter().enumerate() {
                basis[(*k, *j)] = q[(a, b)];
            }
        }
    }
    // A form that is zero has a zero here, too. Written so that NaN fails.
    if !(0..m).all(|i| triangle[(i, i)].abs() >= REGULAR) {
        return None;
    }
    for (i, mut column) in triangle.column_iter_mut().enumerate() {
        column *= units.norm(i);
    }
    Some((basis, Solver::Triangle(triangle)))
}

/// Basis and least-norm inverse by singular values, of forms of any rank.
fn inverse(units: &UnitNormals, groups: &Groups) -> (DMatrix<f64>, Solver) {
    let forms = units.columns();
    let (n, m) = forms.shape();
    let mut basis = Vec::new();
    let mut inverse = Vec::new();
    let mut rank = 0;
    for (coordinates, members) in &groups.groups {
        let part = forms.select_rows(coordinates).select_columns(members);
        let svd = Svd::new(part.as_slice(), part.nrows());
        let least = RANK_TOLERANCE * svd.largest();
        for (index, size) in svd.singular_values().iter().enumerate() {
            if !(*size > least) {
                continue;
            }
            let mut direction = vec![0.0; n];
            for (k, x) in coordinates.iter().zip(svd.left(index)) {
                direction[*k] = *x;
            }
            basis.extend(direction);
            let mut column = vec![0.0; m];
            for (j, x) in members.iter().zip(svd.right(index)) {
                column[*j] = x / size / units.norm(*j);
            }
            inverse.extend(column);
            rank += 1;
        }
    }
    let basis = DMatrix::from_vec(n, rank, basis);
    (basis, Solver::Inverse(DMatrix::from_vec(m, rank, inverse)))
}
