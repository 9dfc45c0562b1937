//! Interior-point method for matrices, cones and bounds together: the unknowns of Theorems 1 and 2.

use carom_numeric::decisions::Budget;
use nalgebra::{Cholesky, DMatrix, DVector};

/// Control of the path along which the barrier method reaches the optimum.
struct Path {
    /// Ratio of successive weights of the cost.
    weight_step: f64,
    /// Largest number of Newton steps; some tens suffice.
    max_steps: usize,
    /// Square of the Newton decrement below which the next weight is tried.
    centered: f64,
    /// Part of the slope of a line that may be left at the end of the search along it.
    slope: f64,
    /// Largest number of points that are tried along a line; two suffice mostly.
    max_points: usize,
    /// The search is not started if the budget allows fewer Newton steps: the result would prove next to nothing.
    fewest_steps: u64,
}

/// Values of [`Path`].
const PATH: Path = Path {
    weight_step: 20.0,
    max_steps: 400,
    centered: 0.1,
    slope: 0.1,
    max_points: 30,
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
    /// point where the budget ends is an answer, too. The search also ends where the cost is below `target`.
    pub(super) fn minimize(
        &self,
        start: DVector<f64>,
        target: f64,
        budget: &mut Budget,
    ) -> DVector<f64> {
        let (mut x, mut inside, mut weight) = (start.clone(), start, 1.0);
        let mut model = Model::new(self);
        let mut step = DVector::zeros(x.len());
        let enough = self.order() / self.gap;
        for _ in 0..PATH.max_steps {
            if budget.times(self.work(), 1).is_none() {
                break;
            }
            budget.spend(self.work());
            if model.take(&x, weight).is_none() {
                break;
            }
            inside.copy_from(&x);
            if self.cost.dot(&x) < target - self.gap {
                break;
            }
            let Some(factor) = Cholesky::new(std::mem::take(&mut model.hessian)) else {
                break;
            };
            let decrement = loop {
                step.copy_from(&model.gradient);
                factor.solve_mut(&mut step);
                let decrement = model.gradient.dot(&step);
                if decrement > PATH.centered || weight >= enough {
                    break decrement;
                }
                // The factors do not depend on the weight.
                let more = (PATH.weight_step - 1.0) * weight;
                model.gradient.axpy(more, &self.cost, 1.0);
                weight *= PATH.weight_step;
            };
            model.hessian = factor.unpack_dirty();
            step.neg_mut();
            // This form also catches NaN.
            if !(decrement > PATH.centered) {
                break;
            }
            let part = model.part(&x, &step, weight, decrement);
            if part == 0.0 {
                break;
            }
            x.axpy(part, &step, 1.0);
        }
        inside
    }
}

/// Cone condition, restricted to the unknowns on which its functions depend.
struct Cone {
    unknowns: Vec<usize>,
    constant: DVector<f64>,
    rows: DMatrix<f64>,
    /// Rows with the sign of all but the first changed.
    signed: DMatrix<f64>,
    /// Second derivatives of half the square of the first function minus half those of the others.
    curvature: DMatrix<f64>,
    /// Functions at the point of the model.
    value: DVector<f64>,
    /// Change of the functions along a line.
    rate: DVector<f64>,
    /// Gradient of the logarithm.
    normal: DVector<f64>,
}

/// Matrix condition, restricted to the unknowns on which the matrix depends.
struct Definite {
    unknowns: Vec<usize>,
    constant: DMatrix<f64>,
    terms: Vec<DMatrix<f64>>,
    /// Lower Cholesky factor at the point of the model.
    lower: DMatrix<f64>,
    /// Terms divided by the factor from both sides, one per column.
    scaled: DMatrix<f64>,
}

/// Second-order model of the weighted cost and the logarithms of all conditions at a point.
struct Model<'a> {
    program: &'a Barrier,
    cones: Vec<Cone>,
    definite: Vec<Definite>,
    gradient: DVector<f64>,
    /// Lower triangle of the second derivatives.
    hessian: DMatrix<f64>,
    /// Conditions along a line: the room of each is multiplied by 1 + as + bs² at the distance s, with the pair (a, b).
    rooms: Vec<[f64; 2]>,
}

/// Returns y₀² − y₁² − ... for the values `y` of the functions of a cone.
fn room(y: &DVector<f64>) -> f64 {
    let (first, others) = (y[0], y.rows_range(1..));
    first * first - others.norm_squared()
}

impl Cone {
    fn new(AffineCone { constant, rows }: &AffineCone) -> Self {
        let is_used = |k: &usize| rows.column(*k).iter().any(|x| *x != 0.0);
        let unknowns: Vec<usize> = (0..rows.ncols()).filter(is_used).collect();
        let rows = rows.select_columns(&unknowns);
        let mut signed = -&rows;
        signed.row_mut(0).neg_mut();
        Self {
            curvature: rows.tr_mul(&signed),
            value: constant.clone(),
            rate: constant.clone(),
            normal: DVector::zeros(unknowns.len()),
            constant: constant.clone(),
            unknowns,
            rows,
            signed,
        }
    }

    /// Adds the derivatives of minus the logarithm of the cone's room; `None` outside the cone.
    fn add(
        &mut self,
        x: &DVector<f64>,
        gradient: &mut DVector<f64>,
        hessian: &mut DMatrix<f64>,
    ) -> Option<()> {
        self.value.copy_from(&self.constant);
        for (column, k) in self.rows.column_iter().zip(&self.unknowns) {
            self.value.axpy(x[*k], &column, 1.0);
        }
        let room = room(&self.value);
        if !(self.value[0] > 0.0 && room > 0.0) {
            return None;
        }
        let (count, half) = (self.unknowns.len(), 2.0 / room);
        self.normal.gemv_tr(half, &self.signed, &self.value, 0.0);
        let normal = self.normal.as_slice();
        for (b, k) in self.unknowns.iter().enumerate() {
            gradient[*k] -= normal[b];
            let mut column = hessian.column_mut(*k);
            let curvature = &self.curvature.as_slice()[b * count + b..(b + 1) * count];
            let entries = self.unknowns[b..].iter().zip(&normal[b..]).zip(curvature);
            for ((row, x), c) in entries {
                column[*row] += normal[b] * x - half * c;
            }
        }
        Some(())
    }

    /// Returns the change of the cone's room along `step`: see [`Model::rooms`].
    fn along(&mut self, step: &DVector<f64>) -> [f64; 2] {
        self.rate.fill(0.0);
        for (column, k) in self.rows.column_iter().zip(&self.unknowns) {
            self.rate.axpy(step[*k], &column, 1.0);
        }
        let products = 2.0 * self.value[0] * self.rate[0] - self.value.dot(&self.rate);
        let room_now = room(&self.value);
        [2.0 * products / room_now, room(&self.rate) / room_now]
    }
}

impl Definite {
    fn new(AffineMatrix { constant, terms }: &AffineMatrix) -> Self {
        let size = constant.nrows();
        let used = terms.iter().enumerate();
        let used = used.filter(|(_, term)| term.iter().any(|x| *x != 0.0));
        let (unknowns, terms): (Vec<usize>, Vec<_>) =
            used.map(|(k, term)| (k, term.clone())).unzip();
        Self {
            lower: constant.clone(),
            constant: constant.clone(),
            scaled: DMatrix::zeros(size * size, unknowns.len()),
            unknowns,
            terms,
        }
    }

    /// Returns the sum of the terms times the entries of `x`, added to `start`.
    fn sum(&self, mut start: DMatrix<f64>, x: &DVector<f64>) -> DMatrix<f64> {
        for (term, k) in self.terms.iter().zip(&self.unknowns) {
            start.zip_apply(term, |sum, entry| *sum += entry * x[*k]);
        }
        start
    }

    /// Divides a symmetric matrix by the factor from both sides.
    fn divide(&self, matrix: &mut DMatrix<f64>) -> Option<()> {
        for _ in 0..2 {
            self.lower
                .solve_lower_triangular_mut(matrix)
                .then_some(())?;
            matrix.transpose_mut();
        }
        Some(())
    }

    /// Adds the derivatives of minus the logarithm of the determinant; `None` unless the matrix is positive definite.
    fn add(
        &mut self,
        x: &DVector<f64>,
        gradient: &mut DVector<f64>,
        hessian: &mut DMatrix<f64>,
    ) -> Option<()> {
        self.lower = self
            .sum(self.constant.clone(), x)
            .cholesky()?
            .unpack_dirty();
        for (l, k) in self.unknowns.iter().enumerate() {
            let mut term = self.terms[l].clone();
            self.divide(&mut term)?;
            gradient[*k] -= term.trace();
            self.scaled.column_mut(l).copy_from_slice(term.as_slice());
            for (other, row) in self.unknowns[..=l].iter().enumerate() {
                hessian[(*k, *row)] += self.scaled.column(other).dot(&self.scaled.column(l));
            }
        }
        Some(())
    }

    /// Adds the changes of the eigenvalues along `step`: see [`Model::rooms`].
    fn along(&self, step: &DVector<f64>, rooms: &mut Vec<[f64; 2]>) -> Option<()> {
        let zero = DMatrix::zeros(self.constant.nrows(), self.constant.ncols());
        let mut change = self.sum(zero, step);
        self.divide(&mut change)?;
        let rates = change.symmetric_eigenvalues();
        rooms.extend(rates.iter().map(|rate| [*rate, 0.0]));
        Some(())
    }
}

impl<'a> Model<'a> {
    fn new(program: &'a Barrier) -> Self {
        let n = program.cost.len();
        Self {
            program,
            cones: program.cones.iter().map(Cone::new).collect(),
            definite: program.definite.iter().map(Definite::new).collect(),
            gradient: DVector::zeros(n),
            hessian: DMatrix::zeros(n, n),
            rooms: Vec::new(),
        }
    }

    /// Computes the derivatives of the cost times `weight`, minus the logarithms of all conditions, at `x`. `None` unless
    /// all conditions hold strictly.
    fn take(&mut self, x: &DVector<f64>, weight: f64) -> Option<()> {
        self.gradient.axpy(weight, &self.program.cost, 0.0);
        self.hessian.fill(0.0);
        for (k, (x, floor)) in x.iter().zip(&self.program.floor).enumerate() {
            for (room, sign) in [(x - floor, 1.0), (self.program.largest - x, -1.0)] {
                if !(room > 0.0) {
                    return None;
                }
                self.gradient[k] -= sign / room;
                self.hessian[(k, k)] += 1.0 / (room * room);
            }
        }
        for cone in &mut self.cones {
            cone.add(x, &mut self.gradient, &mut self.hessian)?;
        }
        for definite in &mut self.definite {
            definite.add(x, &mut self.gradient, &mut self.hessian)?;
        }
        Some(())
    }

    /// Returns the part of the Newton step `step` at the point `x` of this model that makes the weighted cost minus all
    /// logarithms least, to a tenth of its slope. Zero if no part makes it less.
    fn part(&mut self, x: &DVector<f64>, step: &DVector<f64>, weight: f64, decrement: f64) -> f64 {
        self.rooms.clear();
        let each = x.iter().zip(step).zip(&self.program.floor);
        for ((x, step), floor) in each {
            self.rooms.push([step / (x - floor), 0.0]);
            self.rooms.push([-step / (self.program.largest - x), 0.0]);
        }
        for cone in &mut self.cones {
            self.rooms.push(cone.along(step));
        }
        for definite in &self.definite {
            if definite.along(step, &mut self.rooms).is_none() {
                return 0.0;
            }
        }
        let linear = weight * self.program.cost.dot(step);
        let ends = self.rooms.iter().map(|[a, b]| {
            // A line that begins in a cone leaves it in both directions or touches its boundary: roots are real.
            let end = 2.0 / ((a * a - 4.0 * b).max(0.0).sqrt() - a);
            if end > 0.0 { end } else { f64::INFINITY }
        });
        let (mut low, mut high) = (0.0, ends.fold(f64::INFINITY, f64::min));
        let mut part = f64::min(1.0, 0.9 * high);
        for _ in 0..PATH.max_points {
            let (mut slope, mut curvature) = (linear, 0.0);
            for [a, b] in &self.rooms {
                let room = 1.0 + part * (a + part * b);
                let rate = (a + 2.0 * part * b) / room;
                slope -= rate;
                curvature += rate * rate - 2.0 * b / room;
            }
            if slope.abs() <= PATH.slope * decrement {
                return part;
            }
            if slope < 0.0 {
                low = part;
            } else {
                high = part;
            }
            let newton = part - slope / curvature;
            let is_between = low < newton && newton < high;
            part = if is_between {
                newton
            } else {
                0.5 * (low + high)
            };
        }
        low
    }
}
