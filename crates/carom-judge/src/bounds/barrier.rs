//! Interior-point method for matrices, cones and bounds together: the unknowns of Theorems 1 and 2.

use carom_numeric::decisions::Budget;
use nalgebra::{DMatrix, DVector};

/// Control of the path along which the barrier method reaches the optimum.
struct Path {
    /// Ratio of successive weights of the cost.
    weight_step: f64,
    /// Largest number of Newton steps; some tens suffice.
    max_steps: usize,
    /// Square of the Newton decrement below which the next weight is tried.
    centered: f64,
    /// Shortest part of a Newton step that is tried.
    shortest: f64,
    /// The search is not started if the budget allows fewer Newton steps: the result would prove next to nothing.
    fewest_steps: u64,
}

/// Values of [`Path`].
const PATH: Path = Path {
    weight_step: 20.0,
    max_steps: 400,
    centered: 0.1,
    shortest: 1e-9,
    fewest_steps: 40,
};

/// Symmetric matrix whose entries are affine functions of the unknowns.
pub(super) struct AffineMatrix {
    pub(super) constant: DMatrix<f64>,
    /// Derivative by each unknown.
    pub(super) terms: Vec<DMatrix<f64>>,
}

impl AffineMatrix {
    /// Creates the zero matrix of `size` rows, a function of `unknowns` unknowns.
    pub(super) fn zeros(size: usize, unknowns: usize) -> Self {
        Self {
            constant: DMatrix::zeros(size, size),
            terms: vec![DMatrix::zeros(size, size); unknowns],
        }
    }

    fn at(&self, x: &DVector<f64>) -> DMatrix<f64> {
        let terms = self.terms.iter().zip(x.iter());
        terms.fold(self.constant.clone(), |sum, (term, x)| sum + term * *x)
    }
}

/// Affine functions of the unknowns, one per row: the first must exceed the norm of the others.
pub(super) struct AffineCone {
    pub(super) constant: DVector<f64>,
    pub(super) rows: DMatrix<f64>,
}

impl AffineCone {
    /// Creates `size` functions of `unknowns` unknowns that are zero.
    pub(super) fn zeros(size: usize, unknowns: usize) -> Self {
        Self {
            constant: DVector::zeros(size),
            rows: DMatrix::zeros(size, unknowns),
        }
    }
}

/// Convex program: minimizes a linear cost of the unknowns.
pub(super) struct Barrier {
    pub(super) cost: DVector<f64>,
    /// Distance of the cost from the least possible one at which the search ends. It is what a bound may be too wide, in units
    /// of the speed before the impact.
    pub(super) gap: f64,
    /// Matrices that must be positive definite.
    pub(super) definite: Vec<AffineMatrix>,
    pub(super) cones: Vec<AffineCone>,
    /// Lower bound of each unknown.
    pub(super) floor: Vec<f64>,
    /// Largest size of each unknown.
    pub(super) largest: f64,
}

/// Second-order model of the weighted cost and the logarithms of all conditions.
struct Model {
    value: f64,
    gradient: DVector<f64>,
    hessian: DMatrix<f64>,
}

/// Cone condition, restricted to the unknowns on which its functions depend.
struct Cone<'a> {
    constant: &'a DVector<f64>,
    unknowns: Vec<usize>,
    rows: DMatrix<f64>,
    /// Second derivatives of half the square of the first function minus half those of the others.
    curvature: DMatrix<f64>,
}

impl<'a> Cone<'a> {
    fn new(AffineCone { constant, rows }: &'a AffineCone) -> Self {
        let is_used = |k: &usize| rows.column(*k).iter().any(|x| *x != 0.0);
        let unknowns: Vec<usize> = (0..rows.ncols()).filter(is_used).collect();
        let rows = rows.select_columns(&unknowns);
        let mut signed = -&rows;
        signed.row_mut(0).neg_mut();
        let curvature = rows.tr_mul(&signed);
        Self {
            constant,
            unknowns,
            rows,
            curvature,
        }
    }
}

impl Barrier {
    /// Returns the work (about multiply-adds) of one Newton step.
    fn work(&self) -> u64 {
        let n = self.cost.len() as u64;
        let definite = self.definite.iter().map(|form| {
            let size = form.constant.nrows() as u64;
            (n + 2 * size).saturating_mul(n).saturating_mul(size * size)
        });
        let cones = self
            .cones
            .iter()
            .map(|cone| cone.rows.nrows() as u64 * n * n);
        definite
            .chain(cones)
            .fold(n * n * n / 3, u64::saturating_add)
    }

    /// Number of logarithms: the cost at the center of a weight is within this number over the weight of the least.
    fn order(&self) -> f64 {
        let definite = self.definite.iter().map(|form| form.constant.nrows());
        (definite.sum::<usize>() + 2 * self.cones.len() + 2 * self.cost.len()) as f64
    }

    /// True if the budget allows enough Newton steps to begin; otherwise marks the budget as ended.
    pub(super) fn is_affordable(&self, budget: &mut Budget) -> bool {
        budget.times(self.work(), PATH.fewest_steps).is_some()
    }

    /// Minimizes the cost from a point that satisfies all conditions strictly. Every point on the way does, so that the
    /// point where the budget ends is an answer, too.
    pub(super) fn minimize(&self, start: DVector<f64>, budget: &mut Budget) -> DVector<f64> {
        let (mut x, mut weight) = (start, 1.0);
        let cones: Vec<_> = self.cones.iter().map(Cone::new).collect();
        let enough = self.order() / self.gap;
        for _ in 0..PATH.max_steps {
            if budget.times(self.work(), 1).is_none() {
                break;
            }
            budget.spend(self.work());
            let Some(Model {
                mut value,
                mut gradient,
                hessian,
            }) = self.model(&x, weight, &cones, true)
            else {
                break;
            };
            let Some(factor) = hessian.cholesky() else {
                break;
            };
            let (step, decrement) = loop {
                let step = -factor.solve(&gradient);
                let decrement = -gradient.dot(&step);
                if decrement > PATH.centered || weight >= enough {
                    break (step, decrement);
                }
                // The factors do not depend on the weight.
                let more = (PATH.weight_step - 1.0) * weight;
                gradient.axpy(more, &self.cost, 1.0);
                value += more * self.cost.dot(&x);
                weight *= PATH.weight_step;
            };
            // This form also catches NaN.
            if !(decrement > PATH.centered) {
                break;
            }
            let mut part = 1.0;
            let next = loop {
                let next = &x + &step * part;
                let model = self.model(&next, weight, &cones, false);
                if model.is_some_and(|model| model.value <= value - 0.1 * part * decrement) {
                    break Some(next);
                }
                part *= 0.5;
                if part < PATH.shortest {
                    break None;
                }
            };
            match next {
                Some(next) => x = next,
                None if weight < enough => weight *= PATH.weight_step,
                None => break,
            }
        }
        x
    }

    /// Evaluates the weighted cost minus the logarithms of all conditions, if `derived` with its derivatives (of the second the
    /// lower triangle); `None` unless all conditions hold strictly.
    fn model(
        &self,
        x: &DVector<f64>,
        weight: f64,
        cones: &[Cone<'_>],
        derived: bool,
    ) -> Option<Model> {
        let n = if derived { x.len() } else { 0 };
        let mut model = Model {
            value: weight * self.cost.dot(x),
            gradient: self.cost.rows(0, n) * weight,
            hessian: DMatrix::zeros(n, n),
        };
        for (k, (x, floor)) in x.iter().zip(&self.floor).enumerate() {
            for (room, sign) in [(x - floor, 1.0), (self.largest - x, -1.0)] {
                if !(room > 0.0) {
                    return None;
                }
                model.value -= libm::log(room);
                if k < n {
                    model.gradient[k] -= sign / room;
                    model.hessian[(k, k)] += 1.0 / (room * room);
                }
            }
        }
        for cone in cones {
            let mut y = cone.constant.clone();
            for (column, k) in cone.rows.column_iter().zip(&cone.unknowns) {
                y.axpy(x[*k], &column, 1.0);
            }
            let first = y[0];
            y[0] = -first;
            let room = 2.0 * first * first - y.norm_squared();
            if !(first > 0.0 && room > 0.0) {
                return None;
            }
            model.value -= libm::log(room);
            if !derived {
                continue;
            }
            let normal = cone.rows.tr_mul(&y) * (2.0 / room);
            for (b, k) in cone.unknowns.iter().enumerate() {
                model.gradient[*k] += normal[b];
                for (c, row) in cone.unknowns.iter().enumerate().skip(b) {
                    let curvature = 2.0 / room * cone.curvature[(c, b)];
                    model.hessian[(*row, *k)] += normal[b] * normal[c] - curvature;
                }
            }
        }
        for form in &self.definite {
            let factor = form.at(x).cholesky()?;
            let lower = factor.l_dirty();
            let logarithms = lower.diagonal().map(libm::log);
            model.value -= 2.0 * logarithms.sum();
            if n > 0 {
                let size = lower.nrows();
                let mut scaled = DMatrix::zeros(size * size, n);
                let used = form.terms.iter().enumerate();
                for (k, term) in used.filter(|(_, term)| term.iter().any(|x| *x != 0.0)) {
                    let half = lower.solve_lower_triangular(term)?;
                    let both = lower.solve_lower_triangular(&half.transpose())?;
                    model.gradient[k] -= both.trace();
                    scaled.column_mut(k).copy_from_slice(both.as_slice());
                }
                model.hessian.gemm_tr(1.0, &scaled, &scaled, 1.0);
            }
        }
        model.value.is_finite().then_some(model)
    }
}
