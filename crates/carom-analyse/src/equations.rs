//! Accelerations, contact forces and jumps of a mechanical system, with derivatives by coordinates and rates.
//!
//! The equations of motion are $M\dot v = h$ with $h = \tfrac12B^Tv - Bv - V' + f$ and $B = \partial(Mv)/\partial q$. Derivatives of
//! $B(v)v$ follow from those of the kinetic energy at other velocities by polarization.

use crate::AnalyseError;
use carom_mechanism::{Derivatives, Dynamics, MechanicalSystem, Motion};
use nalgebra::{DMatrix, DVector};

use crate::flow::Jump;

/// Step of the differences of gap Hessians (m or rad): with eight points the error is of order eight.
const DIFFERENCE: f64 = 0.02;

/// Rows of contacts, with the directions of their forces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    /// Contact, true for its slide coordinate, and the slope of the force of a normal row along the slide coordinate.
    list: Vec<(usize, bool, f64)>,
}

impl Rows {
    pub(crate) fn normal(&mut self, contact: usize, slope: f64) {
        self.list.push((contact, false, slope));
    }

    pub(crate) fn tangent(&mut self, contact: usize) {
        self.list.push((contact, true, 0.0));
    }

    /// Returns the index of the row of a contact's gap or slide coordinate.
    pub(crate) fn place(&self, contact: usize, is_tangent: bool) -> Option<usize> {
        self.list
            .iter()
            .position(|(c, t, _)| *c == contact && *t == is_tangent)
    }
}

/// Accelerations and forces.
pub(crate) struct Solved {
    pub(crate) acceleration: DVector<f64>,
    pub(crate) forces: DVector<f64>,
}

impl Solved {
    /// Returns the normal force of a contact that lasts, else 0.
    pub(crate) fn normal(&self, rows: &Rows, contact: usize) -> f64 {
        rows.place(contact, false)
            .map_or(0.0, |row| self.forces[row])
    }

    /// Returns the friction force of a contact that sticks, else 0.
    pub(crate) fn tangent(&self, rows: &Rows, contact: usize) -> f64 {
        rows.place(contact, true)
            .map_or(0.0, |row| self.forces[row])
    }
}

/// Equations of motion of a system.
pub(crate) struct Equations<'s> {
    pub(crate) system: &'s dyn MechanicalSystem,
    pub(crate) n: usize,
}

/// Factors of the matrix of accelerations and forces: $M$ and $-C^T$ above $R$ and 0.
type Saddle = nalgebra::LU<f64, nalgebra::Dyn, nalgebra::Dyn>;

impl<'s> Equations<'s> {
    pub(crate) fn new(system: &'s dyn MechanicalSystem) -> Result<Self, AnalyseError> {
        let n = system.dimension();
        let no = |what: String| Err(AnalyseError::NoFlow { what });
        if let Some(name) = system.constraints().first() {
            return no(format!(
                "the velocity constraint `{name}`: flows under constraints are not done yet"
            ));
        }
        let q = vec![0.0; n];
        for (contact, data) in system.contacts().iter().enumerate() {
            let (mut gap, mut slide) = (DMatrix::zeros(n, n), DMatrix::zeros(n, n));
            if !system.contact_hessians(contact, &q, &mut gap, &mut slide) {
                return no(format!(
                    "the gap of `{}` has no second derivatives",
                    data.name
                ));
            }
        }
        Ok(Self { system, n })
    }

    pub(crate) fn mass(&self, q: &[f64]) -> DMatrix<f64> {
        let mut mass = DMatrix::zeros(self.n, self.n);
        self.system.mass_matrix(q, &mut mass);
        mass
    }

    pub(crate) fn gap_row(&self, contact: usize, q: &[f64]) -> DVector<f64> {
        let mut row = DVector::zeros(self.n);
        self.system.gap_gradient(contact, q, row.as_mut_slice());
        row
    }

    /// Returns the gradient of a contact's slide coordinate; zero without one.
    pub(crate) fn slide_row(&self, contact: usize, q: &[f64]) -> DVector<f64> {
        let mut row = DVector::zeros(self.n);
        if self
            .system
            .contacts()
            .get(contact)
            .is_some_and(|c| c.has_slide)
        {
            self.system.slide_gradient(contact, q, row.as_mut_slice());
        }
        row
    }

    fn hessians(&self, contact: usize, q: &[f64]) -> (DMatrix<f64>, DMatrix<f64>) {
        let (mut gap, mut slide) = (
            DMatrix::zeros(self.n, self.n),
            DMatrix::zeros(self.n, self.n),
        );
        self.system
            .contact_hessians(contact, q, &mut gap, &mut slide);
        (gap, slide)
    }

    pub(crate) fn slide_hessian(&self, contact: usize, q: &[f64]) -> DMatrix<f64> {
        self.hessians(contact, q).1
    }

    fn row_and_hessian(
        &self,
        contact: usize,
        is_tangent: bool,
        q: &[f64],
    ) -> (DVector<f64>, DMatrix<f64>) {
        let (gap, slide) = self.hessians(contact, q);
        if is_tangent {
            (self.slide_row(contact, q), slide)
        } else {
            (self.gap_row(contact, q), gap)
        }
    }

    /// Returns a row, the direction of its force, and their Hessians.
    fn forced(
        &self,
        (contact, is_tangent, slope): (usize, bool, f64),
        q: &[f64],
    ) -> [(DVector<f64>, DMatrix<f64>); 2] {
        let (row, hessian) = self.row_and_hessian(contact, is_tangent, q);
        if slope == 0.0 {
            return [(row.clone(), hessian.clone()), (row, hessian)];
        }
        let (tangent, curved) = self.row_and_hessian(contact, true, q);
        let force = (&row + tangent * slope, &hessian + curved * slope);
        [(row, hessian), force]
    }

    fn dynamics(&self, time: f64, q: &[f64], v: &[f64], wanted: Derivatives) -> Dynamics {
        let mut out = Dynamics::new(self.n);
        let at = Motion {
            time,
            configuration: q,
            velocity: v,
        };
        self.system.dynamics(&at, wanted, &mut out);
        out
    }

    /// Returns the matrices of rows and force directions (rows × n).
    fn matrices(&self, rows: &Rows, q: &[f64]) -> (DMatrix<f64>, DMatrix<f64>) {
        let m = rows.list.len();
        let (mut r, mut c) = (DMatrix::zeros(m, self.n), DMatrix::zeros(m, self.n));
        for (i, row) in rows.list.iter().enumerate() {
            let [(moves, _), (pushes, _)] = self.forced(*row, q);
            r.row_mut(i).tr_copy_from(&moves);
            c.row_mut(i).tr_copy_from(&pushes);
        }
        (r, c)
    }

    fn saddle(
        &self,
        mass: &DMatrix<f64>,
        rows: &DMatrix<f64>,
        pushes: &DMatrix<f64>,
    ) -> Option<Saddle> {
        let (n, m) = (self.n, rows.nrows());
        let mut matrix = DMatrix::zeros(n + m, n + m);
        matrix.view_mut((0, 0), (n, n)).copy_from(mass);
        matrix
            .view_mut((0, n), (n, m))
            .copy_from(&-pushes.transpose());
        matrix.view_mut((n, 0), (m, n)).copy_from(rows);
        let lu = matrix.lu();
        // Contacts that determine each other leave a pivot of rounding.
        let pivots = lu.u().diagonal().abs();
        (pivots.min() > f64::EPSILON.sqrt() * f64::EPSILON.sqrt().sqrt() * pivots.max())
            .then_some(lu)
    }

    /// Returns $h$, see the [module](self).
    fn load(&self, at: &Dynamics, v: &DVector<f64>) -> DVector<f64> {
        0.5 * at.momentum_derivative.tr_mul(v)
            - &at.momentum_derivative * v
            - &at.potential_gradient
            + &at.force
    }

    /// Returns accelerations and forces with the given rows at rest; `None` if the rows depend on each other.
    pub(crate) fn solve(
        &self,
        rows: &Rows,
        time: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<Option<Solved>, AnalyseError> {
        let at = self.dynamics(time, q, v, Derivatives::First);
        let velocity = DVector::from_column_slice(v);
        let load = self.load(&at, &velocity);
        let m = rows.list.len();
        if m == 0 {
            let Some(mass) = at.mass_matrix.cholesky() else {
                return Err(AnalyseError::stopped(
                    time,
                    "the mass matrix is not positive definite",
                ));
            };
            return Ok(Some(Solved {
                acceleration: mass.solve(&load),
                forces: DVector::zeros(0),
            }));
        }
        let (r, c) = self.matrices(rows, q);
        let Some(saddle) = self.saddle(&at.mass_matrix, &r, &c) else {
            return Ok(None);
        };
        let mut right = DVector::zeros(self.n + m);
        right.rows_mut(0, self.n).copy_from(&load);
        for (i, (contact, is_tangent, _)) in rows.list.iter().enumerate() {
            let (_, hessian) = self.row_and_hessian(*contact, *is_tangent, q);
            right[self.n + i] = -velocity.dot(&(hessian * &velocity));
        }
        Ok(saddle.solve(&right).map(|all| Solved {
            acceleration: all.rows(0, self.n).into_owned(),
            forces: all.rows(self.n, m).into_owned(),
        }))
    }

    /// Returns the acceleration of a contact's gap.
    pub(crate) fn gap_acceleration(
        &self,
        contact: usize,
        q: &[f64],
        v: &[f64],
        solved: &Solved,
    ) -> f64 {
        let (row, hessian) = self.row_and_hessian(contact, false, q);
        let velocity = DVector::from_column_slice(v);
        row.dot(&solved.acceleration) + velocity.dot(&(hessian * &velocity))
    }

    /// Returns the derivatives of $h$ by coordinates and rates (n × 2n).
    fn load_by_state(&self, time: f64, q: &[f64], v: &[f64], at: &Dynamics) -> DMatrix<f64> {
        let n = self.n;
        let velocity = DVector::from_column_slice(v);
        let mut out = DMatrix::zeros(n, 2 * n);
        let by_q = &at.kinetic_hessian - &at.potential_hessian + &at.force_by_configuration;
        out.view_mut((0, 0), (n, n)).copy_from(&by_q);
        out.view_mut((0, n), (n, n))
            .copy_from(&at.force_by_velocity);
        for k in 0..n {
            let mut unit = vec![0.0; n];
            unit[k] = 1.0;
            let alone = self.dynamics(time, q, &unit, Derivatives::Second);
            let together: Vec<f64> = v.iter().zip(&unit).map(|(v, e)| v + e).collect();
            let together = self.dynamics(time, q, &together, Derivatives::Second);
            // e_k^T (∂²M/∂q²) v, by polarization.
            let mixed = together.kinetic_hessian - &alone.kinetic_hessian - &at.kinetic_hessian;
            let second = velocity.transpose() * mixed;
            let mut row = out.view_mut((k, 0), (1, n));
            row -= second;
            let unit = DVector::from_vec(unit);
            let change = 0.5
                * (alone.momentum_derivative.tr_mul(&velocity)
                    + at.momentum_derivative.tr_mul(&unit))
                - &alone.momentum_derivative * &velocity
                - &at.momentum_derivative * &unit;
            let mut column = out.view_mut((0, n + k), (n, 1));
            column += change;
        }
        out
    }

    /// Returns the derivatives of accelerations (n × 2n) and forces (rows × 2n) by coordinates and rates.
    pub(crate) fn derivative(
        &self,
        rows: &Rows,
        time: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<(DMatrix<f64>, DMatrix<f64>), AnalyseError> {
        let (n, m) = (self.n, rows.list.len());
        let depends = || AnalyseError::stopped(time, "the contacts that last depend on each other");
        let at = self.dynamics(time, q, v, Derivatives::Second);
        let solved = self.solve(rows, time, q, v)?.ok_or_else(depends)?;
        let a = solved.acceleration.as_slice();
        let velocity = DVector::from_column_slice(v);
        let mut right = DMatrix::zeros(n + m, 2 * n);
        right
            .view_mut((0, 0), (n, 2 * n))
            .copy_from(&self.load_by_state(time, q, v, &at));
        let accelerated = self.dynamics(time, q, a, Derivatives::First);
        let mut top = right.view_mut((0, 0), (n, n));
        top -= accelerated.momentum_derivative;
        for (i, row) in rows.list.iter().enumerate() {
            let [(_, hessian), (_, pushes)] = self.forced(*row, q);
            let mut top = right.view_mut((0, 0), (n, n));
            top += pushes * solved.forces[i];
            let by_q =
                (&hessian * &solved.acceleration + self.third(*row, q, &velocity)?).transpose();
            right.view_mut((n + i, 0), (1, n)).copy_from(&-by_q);
            let by_v = (&hessian * &velocity * 2.0).transpose();
            right.view_mut((n + i, n), (1, n)).copy_from(&-by_v);
        }
        let (r, c) = self.matrices(rows, q);
        let saddle = self.saddle(&at.mass_matrix, &r, &c).ok_or_else(depends)?;
        let all = saddle.solve(&right).ok_or_else(depends)?;
        Ok((all.rows(0, n).into_owned(), all.rows(n, m).into_owned()))
    }

    /// Returns the gradient by the coordinates of $v^TH(q)v$ with the Hessian $H$ of a row: the derivative of $H(q + sv)v$ by $s$.
    fn third(
        &self,
        (contact, is_tangent, _): (usize, bool, f64),
        q: &[f64],
        velocity: &DVector<f64>,
    ) -> Result<DVector<f64>, AnalyseError> {
        let largest = velocity.amax();
        if largest == 0.0 {
            return Ok(DVector::zeros(self.n));
        }
        let step = DIFFERENCE / largest;
        let mut out = DVector::zeros(self.n);
        for (k, weight) in (1..).zip(EIGHTH) {
            for side in [1.0, -1.0] {
                let s = side * step * f64::from(k);
                let moved: Vec<f64> = q
                    .iter()
                    .zip(velocity.iter())
                    .map(|(q, v)| q + s * v)
                    .collect();
                let (_, hessian) = self.row_and_hessian(contact, is_tangent, &moved);
                out += hessian * velocity * (side * weight / step);
            }
        }
        Ok(out)
    }

    /// Returns the derivatives of the forces by time.
    pub(crate) fn forces_by_time(
        &self,
        rows: &Rows,
        time: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<DVector<f64>, AnalyseError> {
        let at = self.dynamics(time, q, v, Derivatives::Second);
        let (r, c) = self.matrices(rows, q);
        let mut right = DVector::zeros(self.n + rows.list.len());
        right.rows_mut(0, self.n).copy_from(&at.force_by_time);
        let all = self
            .saddle(&at.mass_matrix, &r, &c)
            .and_then(|saddle| saddle.solve(&right));
        let all = all.ok_or_else(|| {
            AnalyseError::stopped(time, "the contacts that last depend on each other")
        })?;
        Ok(all.rows(self.n, rows.list.len()).into_owned())
    }

    /// Returns the state after $v^+ = v + M^{-1}C^T\Lambda$ with $Rv^+ = (1 - D)Rv$, and its derivatives. `factors` is $D$: one plus
    /// the restitution of each row.
    pub(crate) fn jump(
        &self,
        rows: &Rows,
        factors: &[f64],
        time: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<Jump, AnalyseError> {
        let (n, m) = (self.n, rows.list.len());
        let depends =
            || AnalyseError::stopped(time, "the contacts of an impact depend on each other");
        let mass = self.mass(q);
        let (r, c) = self.matrices(rows, q);
        let saddle = self.saddle(&mass, &r, &c).ok_or_else(depends)?;
        let velocity = DVector::from_column_slice(v);
        // Unknown: the change of the velocity, and the impulses.
        let d = DMatrix::from_diagonal(&DVector::from_column_slice(factors));
        let mut right = DVector::zeros(n + m);
        right.rows_mut(n, m).copy_from(&-(&d * &r * &velocity));
        let all = saddle.solve(&right).ok_or_else(depends)?;
        let change = all.rows(0, n).into_owned();
        let mut slopes = DMatrix::zeros(n + m, 2 * n);
        let moved = self.dynamics(time, q, change.as_slice(), Derivatives::First);
        let mut top = slopes.view_mut((0, 0), (n, n));
        top -= moved.momentum_derivative;
        for (i, row) in rows.list.iter().enumerate() {
            let [(_, hessian), (_, pushes)] = self.forced(*row, q);
            let mut top = slopes.view_mut((0, 0), (n, n));
            top += pushes * all[n + i];
            let by_q = hessian * (&change + &velocity * factors[i]);
            slopes
                .view_mut((n + i, 0), (1, n))
                .copy_from(&-by_q.transpose());
        }
        slopes.view_mut((n, n), (m, n)).copy_from(&-(d * r));
        let slopes = saddle.solve(&slopes).ok_or_else(depends)?;
        let mut by_state = DMatrix::identity(2 * n, 2 * n);
        let mut lower = by_state.view_mut((n, 0), (n, 2 * n));
        lower += slopes.rows(0, n);
        let plus = &velocity + change;
        let state = q.iter().chain(plus.iter()).copied();
        Ok(Jump {
            state: DVector::from_iterator(2 * n, state),
            by_state,
            by_time: DVector::zeros(2 * n),
        })
    }
}

/// Weights of central differences at 1, 2, 3 and 4 steps, of order eight.
const EIGHTH: [f64; 4] = [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0];
