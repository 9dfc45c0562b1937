//! One step: the forced discrete Euler-Lagrange equations, solved for the mean velocity.

use super::bond::{Bond, ContactMode};
use super::held::Held;
use super::point::Point;
use carom_mechanism::{Derivatives, Dynamics, MechanicalSystem, Motion};
use carom_metric::kernel;
use carom_numeric::dense;
use nalgebra::DMatrix;

/// Largest number of Newton iterations for one step.
const MAX_ITERATIONS: usize = 50;

/// Size of a correction, as a fraction of the mean velocity, that ends the iteration: the next correction would be smaller by the
/// contraction factor, and thus below rounding error.
const TOLERANCE: f64 = 1e-13;

/// Ratio of two consecutive corrections above which the Jacobian is computed anew.
const SLOW: f64 = 0.02;

/// Relative size of a residual, against the sum of its terms, that is rounding error and cannot be improved.
const FLOOR: f64 = 8.0 * f64::EPSILON;

/// Reason why a time step of the variational integrator could not be solved: the step is too long, or the mass matrix is not
/// positive definite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StepFailure {
    /// Newton's method did not converge, or a number is not finite: the step is too long.
    #[error("step cannot be solved: a shorter one may be")]
    NotConverged,
    /// The mass matrix is not positive definite at the end of the step.
    #[error("mass matrix is not positive definite")]
    MassNotPositiveDefinite,
}

/// Jacobian rows of the active contacts of a mechanical system at one configuration. For each contact these are the gradient of
/// its gap and the gradient of its slide coordinate (tangential displacement), with one entry per coordinate each.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    entries: Vec<f64>,
    n: usize,
}

impl Rows {
    /// Computes the gradients of gap and slide coordinate of the active contacts `bonds` at a configuration `q` (one entry per
    /// coordinate).
    pub fn fill<S: MechanicalSystem + ?Sized>(&mut self, system: &S, q: &[f64], bonds: &[Bond]) {
        self.n = q.len();
        self.entries.resize(2 * bonds.len() * q.len(), 0.0);
        for (bond, rows) in bonds.iter().zip(self.entries.chunks_exact_mut(2 * q.len())) {
            let (normal, slide) = rows.split_at_mut(q.len());
            system.gap_gradient(bond.contact, q, normal);
            if bond.is_frictional() {
                system.slide_gradient(bond.contact, q, slide);
            }
        }
    }

    /// Returns the gradient of the gap of an active contact (one entry per coordinate). `bond` is the index of the contact in the
    /// list given to [`fill`](Self::fill).
    pub fn normal(&self, bond: usize) -> &[f64] {
        &self.entries[2 * bond * self.n..(2 * bond + 1) * self.n]
    }

    /// Returns the gradient of the slide coordinate (tangential displacement) of an active contact (one entry per coordinate).
    /// `bond` is the index of the contact in the list given to [`fill`](Self::fill).
    pub fn slide(&self, bond: usize) -> &[f64] {
        &self.entries[(2 * bond + 1) * self.n..(2 * bond + 2) * self.n]
    }
}

/// Solver for the time steps of one mechanical system by a variational integrator, with reusable buffers. Every step keeps the
/// gaps of a list of active contacts constant.
#[derive(Debug)]
pub struct Stepper<'s, S: ?Sized> {
    system: &'s S,
    n: usize,
    dynamics: Dynamics,
    middle: Vec<f64>,
    /// Configuration at the end of the step solved last, one entry per coordinate.
    pub end: Vec<f64>,
    /// Mean velocity $w$, one entry per coordinate: the initial guess of the next step, and its solution.
    pub mean: Vec<f64>,
    /// Impulses of the first half of the step: normal and tangential impulse of each active contact (N s).
    pub impulses: Vec<f64>,
    /// Generalized force $\partial T/\partial q - \partial V/\partial q + f$ at the midpoint.
    drive: Vec<f64>,
    residual: Vec<f64>,
    /// Sums of the absolute values of the terms of each residual.
    terms: Vec<f64>,
    /// Jacobian row of one contact, one entry per coordinate, for the work of its friction.
    row: Vec<f64>,
    jacobian: Vec<f64>,
    pivots: Vec<usize>,
    /// Contact rows at the start of the step solved last.
    pub start_rows: Rows,
    end_rows: Rows,
    anchors: Vec<f64>,
    held: Held,
    /// Accuracy to which the gaps of active contacts are kept (m).
    gap_floor: f64,
}

impl<'s, S: MechanicalSystem + ?Sized> Stepper<'s, S> {
    /// Creates the solver for the time steps of a mechanical system. In every step the gaps of active contacts, and the slide
    /// coordinates (tangential displacements) of sticking contacts, are kept constant; `gap_floor` (m) is the largest accepted
    /// error of both.
    pub fn new(system: &'s S, gap_floor: f64) -> Self {
        let (n, contacts) = (system.dimension(), system.contacts().len());
        let held = Held::all(system);
        let fixed = n + held.len();
        let most = fixed + 2 * contacts;
        Self {
            system,
            n,
            dynamics: Dynamics::new(n),
            middle: vec![0.0; n],
            end: vec![0.0; n],
            mean: vec![0.0; n],
            impulses: vec![0.0; 2 * contacts],
            drive: vec![0.0; n],
            residual: vec![0.0; most],
            terms: vec![0.0; fixed],
            row: vec![0.0; n],
            jacobian: vec![0.0; most * most],
            pivots: vec![0; most],
            start_rows: Rows::default(),
            end_rows: Rows::default(),
            anchors: vec![0.0; contacts],
            held,
            gap_floor,
        }
    }

    /// Returns the mechanical system whose time steps this solver computes.
    pub fn system(&self) -> &'s S {
        self.system
    }

    /// Returns the kinetic energy and the potential energy of the system (J), in this order, in the state `point`.
    pub fn energy(&mut self, point: &Point) -> (f64, f64) {
        self.dynamics.clear();
        let motion = Motion {
            time: point.time,
            configuration: &point.configuration,
            velocity: &point.velocity,
        };
        self.system
            .dynamics(&motion, Derivatives::First, &mut self.dynamics);
        let kinetic = 0.5 * kernel::dot(&point.momentum, &point.velocity);
        (kinetic, self.dynamics.potential)
    }

    /// Keeps an independent part of the system's velocity constraints in the steps to come: those of an independent part at the
    /// configuration of `point`, first ones first. `threshold`: part of a row that is independent of the rows before it, as a
    /// fraction of its kinetic norm, below which it is left out.
    pub fn keep_independent(&mut self, point: &Point, threshold: f64) {
        self.held = Held::independent(self.system, point, threshold);
    }

    /// Returns the indices of the velocity constraints that steps keep: all, or an independent part.
    pub fn kept_constraints(&self) -> &[usize] {
        &self.held.indices
    }

    /// Projects the momentum of a point onto the velocities that the velocity constraints admit: adds impulses along their rows,
    /// and sets the velocity. Without constraints the point is left as it is.
    ///
    /// # Errors
    ///
    /// [`StepFailure::NotConverged`] if the rows depend on each other.
    pub fn constrain(&self, point: &mut Point) -> Result<(), StepFailure> {
        self.held.project(self.system, point)
    }

    /// Returns an orthonormal basis of the whitened rows of the velocity constraints at a point: with the Cholesky factor $L$ of the
    /// mass matrix, vectors that span the columns of $L^{-1}A^T$. It is empty without constraints.
    pub fn constraint_basis(&self, point: &Point) -> Vec<Vec<f64>> {
        self.held.basis(self.system, point)
    }

    /// Solves the time step of length `h` (s) from the state `start`: computes the mean velocity $w$ of the step and the impulses
    /// $\lambda_i$ of the active contacts `bonds`. The initial guess of $w$ is [`mean`](Self::mean). At the solution the active
    /// contacts keep their gaps, and the following residual is zero, with configuration $q_0$ and momentum $p_0$ at the start,
    /// kinetic energy $T$, potential energy $V$, force $f$, mass matrix $M$ and the gaps and slide coordinates $\phi_i$:
    ///
    /// $$ p_0 + \tfrac h2\left(\frac{\partial T}{\partial q} - \frac{\partial V}{\partial q} + f\right) - M(\bar q)w +
    /// \sum_i\lambda_i\mathrm{D}\phi_i(q_0), \qquad \bar q = q_0 + \tfrac h2w. $$
    ///
    /// Velocity constraints $A(q)v = 0$ add $A(q_0)^T\lambda$ to it, and the equations $A(\bar q)w = 0$; [`finish`](Self::finish)
    /// gives the other kick, so that the step is its own adjoint.
    ///
    /// The Jacobian of the residual with respect to $w$ is $-M - \tfrac h2(B - B^T) + \tfrac{h^2}4(T_{qq} - V_{qq} + f_q) +
    /// \tfrac h2f_v$ with $B = \partial(Mw)/\partial q$ at constant $w$; indices denote partial derivatives.
    ///
    /// # Errors
    ///
    /// [`StepFailure`].
    pub fn solve(&mut self, start: &Point, h: f64, bonds: &[Bond]) -> Result<(), StepFailure> {
        let n = self.n;
        let fixed = n + self.held.len();
        let size = fixed + bonds.iter().map(Bond::n_unknowns).sum::<usize>();
        self.held.start(self.system, &start.configuration);
        if !bonds.is_empty() {
            self.start_rows
                .fill(self.system, &start.configuration, bonds);
            for (bond, anchor) in bonds.iter().zip(&mut self.anchors) {
                if bond.is_frictional() {
                    *anchor = self.system.slide(bond.contact, &start.configuration);
                }
            }
            self.impulses[..2 * bonds.len()].fill(0.0);
        }
        let (mut fresh, mut last) = (true, f64::INFINITY);
        for iteration in 0..MAX_ITERATIONS {
            let wanted = if fresh {
                Derivatives::Second
            } else {
                Derivatives::First
            };
            self.evaluate(start, h, wanted);
            self.residuals(start, h, bonds);
            let floor = self.at_floor();
            if iteration > 0 && floor && bonds.is_empty() {
                return self.accept(start, h);
            }
            if fresh {
                self.assemble(h, bonds, size);
                if !dense::lu(
                    &mut self.jacobian[..size * size],
                    size,
                    &mut self.pivots[..size],
                ) {
                    return Err(StepFailure::NotConverged);
                }
            }
            let held = self.is_held(h, size);
            let correction = &mut self.residual[..size];
            dense::lu_solve(
                &self.jacobian[..size * size],
                &self.pivots[..size],
                correction,
            );
            let change = self.metric_norm_of_correction();
            if !change.is_finite() {
                return Err(StepFailure::NotConverged);
            }
            kernel::add_scaled(&mut self.mean, -1.0, &self.residual[..n]);
            kernel::add_scaled(&mut self.held.impulses, -1.0, &self.residual[n..fixed]);
            let mut row = fixed;
            for (i, bond) in bonds.iter().enumerate() {
                for k in 0..bond.n_unknowns() {
                    self.impulses[2 * i + k] -= self.residual[row];
                    row += 1;
                }
            }
            let norm = metric_norm(self.dynamics.mass_matrix.as_slice(), &self.mean);
            let small = change <= TOLERANCE * norm || floor;
            if change == 0.0 || (iteration > 0 && held && small) {
                return self.accept(start, h);
            }
            // The first correction of a new Jacobian does not show its contraction factor.
            fresh = !fresh && change > SLOW * last;
            last = change;
        }
        Err(StepFailure::NotConverged)
    }

    fn accept(&mut self, start: &Point, h: f64) -> Result<(), StepFailure> {
        self.locate_end(start, h);
        if kernel::is_finite(&self.drive) && kernel::is_finite(&self.end) {
            Ok(())
        } else {
            Err(StepFailure::NotConverged)
        }
    }

    fn locate_end(&mut self, start: &Point, h: f64) {
        self.end.copy_from_slice(&start.configuration);
        kernel::add_scaled(&mut self.end, h, &self.mean);
    }

    /// Evaluates the mechanical system at the midpoint of a step of length `h` (s), for the current iterate of the mean velocity.
    /// `wanted` is the highest order of the derivatives to compute.
    fn evaluate(&mut self, start: &Point, h: f64, wanted: Derivatives) {
        self.middle.copy_from_slice(&start.configuration);
        kernel::add_scaled(&mut self.middle, 0.5 * h, &self.mean);
        self.dynamics.clear();
        let motion = Motion {
            time: start.time + 0.5 * h,
            configuration: &self.middle,
            velocity: &self.mean,
        };
        self.system.dynamics(&motion, wanted, &mut self.dynamics);
        let d = &self.dynamics;
        let columns = d.momentum_derivative.as_slice().chunks_exact(self.n);
        for (i, column) in columns.enumerate() {
            self.drive[i] =
                0.5 * kernel::dot(column, &self.mean) - d.potential_gradient[i] + d.force[i];
        }
    }

    fn residuals(&mut self, start: &Point, h: f64, bonds: &[Bond]) {
        let n = self.n;
        let residual = &mut self.residual[..n];
        residual.copy_from_slice(&start.momentum);
        for (term, p) in self.terms.iter_mut().zip(&start.momentum) {
            *term = p.abs();
        }
        for (i, drive) in self.drive.iter().enumerate() {
            let part = 0.5 * h * drive;
            residual[i] += part;
            let d = &self.dynamics;
            self.terms[i] +=
                0.5 * h * (d.potential_gradient[i].abs() + d.force[i].abs()) + part.abs();
        }
        let columns = self.dynamics.mass_matrix.as_slice().chunks_exact(n);
        for (column, w) in columns.zip(&self.mean) {
            for ((residual, term), entry) in residual.iter_mut().zip(&mut self.terms).zip(column) {
                *residual -= entry * w;
                *term += (entry * w).abs();
            }
        }
        self.held.residuals(
            self.system,
            (&self.middle, &self.mean),
            &mut self.residual,
            &mut self.terms,
        );
        if bonds.is_empty() {
            return;
        }
        for (i, bond) in bonds.iter().enumerate() {
            let (normal, tangential) = self.half_impulse(i, bond);
            kernel::add_scaled(&mut self.residual[..n], normal, self.start_rows.normal(i));
            if tangential != 0.0 {
                kernel::add_scaled(
                    &mut self.residual[..n],
                    tangential,
                    self.start_rows.slide(i),
                );
            }
            for (term, entry) in self.terms.iter_mut().zip(self.start_rows.normal(i)) {
                *term += (normal * entry).abs();
            }
        }
        self.locate_end(start, h);
        let mut row = n + self.held.len();
        for (i, bond) in bonds.iter().enumerate() {
            let gap = self.system.gap(bond.contact, &self.end);
            self.residual[row] = (gap - bond.gap) / h;
            row += 1;
            if bond.mode == ContactMode::Stick {
                let slide = self.system.slide(bond.contact, &self.end);
                self.residual[row] = (slide - self.anchors[i]) / h;
                row += 1;
            }
        }
    }

    /// Returns the normal and the tangential impulse (N s) of an active contact in the first half of the step solved last. `i` is
    /// the index of the contact in the list of active contacts, and `bond` is the entry of the list with this index.
    pub fn half_impulse(&self, i: usize, bond: &Bond) -> (f64, f64) {
        let normal = self.impulses[2 * i];
        let tangential = match bond.mode {
            ContactMode::Stick => self.impulses[2 * i + 1],
            mode => mode.sign() * bond.friction * normal,
        };
        (normal, tangential)
    }

    /// True if the active contacts keep their gaps, and sticking contacts their slide coordinates (tangential displacements), up
    /// to `gap_floor` (m) at the end of a step of length `h` (s). `size` is the number of equations of the step.
    fn is_held(&self, h: f64, size: usize) -> bool {
        let mut rows = self.residual[self.n + self.held.len()..size].iter();
        rows.all(|residual| h * residual.abs() <= self.gap_floor)
    }

    /// True if the residuals of the momentum equations and of the velocity constraints are at most their rounding errors, so that no further iteration can reduce
    /// them.
    fn at_floor(&self) -> bool {
        let floor = FLOOR * self.n as f64;
        let mut rows = self.residual.iter().zip(&self.terms);
        rows.all(|(residual, term)| residual.abs() <= floor * term)
    }

    fn assemble(&mut self, h: f64, bonds: &[Bond], size: usize) {
        let n = self.n;
        let jacobian = &mut self.jacobian[..size * size];
        jacobian.fill(0.0);
        let d = &self.dynamics;
        let (half, quarter) = (0.5 * h, 0.25 * h * h);
        let b = d.momentum_derivative.as_slice();
        for j in 0..n {
            for i in 0..n {
                let (at, mirror) = (j * n + i, i * n + j);
                let second = d.kinetic_hessian.as_slice()[at] - d.potential_hessian.as_slice()[at]
                    + d.force_by_configuration.as_slice()[at];
                jacobian[j * size + i] = -d.mass_matrix.as_slice()[at] - half * (b[at] - b[mirror])
                    + half * d.force_by_velocity.as_slice()[at]
                    + quarter * second;
            }
        }
        if size > n {
            let at = (self.middle.as_slice(), self.mean.as_slice());
            self.held.assemble(self.system, at, half, jacobian, size);
        }
        if bonds.is_empty() {
            return;
        }
        self.end_rows.fill(self.system, &self.end, bonds);
        let mut row = n + self.held.len();
        for (i, bond) in bonds.iter().enumerate() {
            let (normal, slide) = (self.start_rows.normal(i), self.start_rows.slide(i));
            let column = &mut jacobian[row * size..row * size + n];
            column.copy_from_slice(normal);
            let sign = bond.mode.sign();
            if sign != 0.0 {
                kernel::add_scaled(column, sign * bond.friction, slide);
            }
            for (j, entry) in self.end_rows.normal(i).iter().enumerate() {
                jacobian[j * size + row] = *entry;
            }
            row += 1;
            if bond.mode == ContactMode::Stick {
                jacobian[row * size..row * size + n].copy_from_slice(slide);
                for (j, entry) in self.end_rows.slide(i).iter().enumerate() {
                    jacobian[j * size + row] = *entry;
                }
                row += 1;
            }
        }
    }

    /// Evaluates the dynamics of a time step without active contacts and velocity constraints at the midpoint of the step, and factors the Jacobian of the
    /// step's residual. The step starts at `start`, has the length `h` (s) and is already solved: `mean` is its mean velocity.
    /// Returns false if the Jacobian is singular.
    pub fn linearize(&mut self, start: &Point, h: f64, mean: &[f64]) -> bool {
        let n = self.n;
        self.mean.copy_from_slice(mean);
        self.evaluate(start, h, Derivatives::Second);
        self.assemble(h, &[], n);
        dense::lu(&mut self.jacobian[..n * n], n, &mut self.pivots[..n])
    }

    /// Solves a linear system whose matrix is the Jacobian factored by the last call of [`linearize`](Self::linearize). `rhs`
    /// contains the right-hand side and is overwritten by the solution.
    pub fn solve_linearized(&self, rhs: &mut [f64]) {
        let n = self.n;
        dense::lu_solve(&self.jacobian[..n * n], &self.pivots[..n], rhs);
    }

    /// Returns the dynamics at the midpoint of the step, as evaluated by the last call of [`linearize`](Self::linearize), and the
    /// sum of the generalized forces at the midpoint: $\partial T/\partial q - \partial V/\partial q + f$ with kinetic energy
    /// $T$, potential energy $V$, configuration $q$ and applied force $f$.
    pub fn linearized(&self) -> (&Dynamics, &[f64]) {
        (&self.dynamics, &self.drive)
    }

    /// Returns the derivative $\partial(M(q)v)/\partial q$ of the momentum with respect to the configuration $q$ (n × n, n
    /// coordinates), with the mass matrix $M$. The derivative is evaluated at the configuration of `point`, for the constant
    /// velocity $v$ = `velocity`.
    pub fn momentum_derivative(&mut self, point: &Point, velocity: &[f64]) -> DMatrix<f64> {
        self.dynamics.clear();
        let motion = Motion {
            time: point.time,
            configuration: &point.configuration,
            velocity,
        };
        self.system
            .dynamics(&motion, Derivatives::First, &mut self.dynamics);
        self.dynamics.momentum_derivative.clone()
    }

    fn metric_norm_of_correction(&self) -> f64 {
        metric_norm(
            self.dynamics.mass_matrix.as_slice(),
            &self.residual[..self.n],
        )
    }

    /// Completes the time step of length $h$ (s) that was solved last: computes the configuration and the momentum $p_1$ at its
    /// end and writes the new state to `out`. `start` is the state at the start of the step, `bonds` lists the active contacts.
    /// With the momentum $p_0$ at the start, kinetic energy $T$, potential energy $V$, force $f$, and the impulses $\lambda_i$
    /// along the gradients of the gaps and slide coordinates $\phi_i$ at the initial configuration $q_0$, the momentum is $p_1 =
    /// p_0 + h(\partial T/\partial q - \partial V/\partial q + f) + \sum_i\lambda_i\mathrm{D}\phi_i(q_0)$. This is the second
    /// discrete Legendre transform of the solution. Velocity constraints $A(q)v = 0$ give the kicks $A(q_0)^T\lambda_0$, and
    /// $A(q_1)^T\lambda_1$ such that $A(q_1)M^{-1}p_1 = 0$. If neither the Lagrangian nor a force depends on a coordinate, its momentum
    /// is conserved to the last bit.
    ///
    /// # Errors
    ///
    /// [`StepFailure`].
    pub fn finish(
        &mut self,
        start: &Point,
        h: f64,
        bonds: &[Bond],
        out: &mut Point,
    ) -> Result<(), StepFailure> {
        out.time = start.time + h;
        out.configuration.copy_from_slice(&self.end);
        out.momentum.copy_from_slice(&start.momentum);
        kernel::add_scaled(&mut out.momentum, h, &self.drive);
        self.add_impulses(bonds, &mut out.momentum);
        self.set_velocity(out)?;
        self.constrain(out)
    }

    /// Returns the work (J) of the applied forces, which have no potential, during the step solved last. `h` is the length of the
    /// step (s).
    pub fn force_work(&self, h: f64) -> f64 {
        h * kernel::dot(self.dynamics.force.as_slice(), &self.mean)
    }

    /// Returns the energy (J) that dampers dissipated in the step solved last: their part of the work of the applied forces, with
    /// the opposite sign. `h` is the length of the step (s).
    pub fn damper_loss(&self, h: f64) -> f64 {
        h * self.system.damper_power(&self.mean)
    }

    /// Returns the work of friction (J) at the active contacts `bonds` in the first half of the step solved last, which starts in
    /// the state `start`. The work at a contact is the tangential impulse times the mean of the sliding velocities before and
    /// after all impulses.
    pub fn friction_work(&mut self, start: &Point, bonds: &[Bond]) -> f64 {
        if !bonds.iter().any(Bond::is_frictional) {
            return 0.0;
        }
        let mut kick = std::mem::take(&mut self.terms);
        kick.truncate(self.n);
        kick.fill(0.0);
        self.add_impulses(bonds, &mut kick);
        start.norm_of(&mut kick);
        let mut work = 0.0;
        let mut row = std::mem::take(&mut self.row);
        for (i, bond) in bonds.iter().enumerate() {
            if !bond.is_frictional() {
                continue;
            }
            let (_, tangential) = self.half_impulse(i, bond);
            row.copy_from_slice(self.start_rows.slide(i));
            let slide = kernel::dot(&row, &start.velocity);
            start.norm_of(&mut row);
            work += tangential * (slide + 0.5 * kernel::dot(&row, &kick));
        }
        kick.resize(self.n + self.held.len(), 0.0);
        self.terms = kick;
        self.row = row;
        work
    }

    /// Adds the impulses of the contacts and constraints in the first half of the step to a generalized momentum. `bonds` lists the
    /// active contacts.
    fn add_impulses(&self, bonds: &[Bond], momentum: &mut [f64]) {
        self.held.add_impulses(momentum);
        for (i, bond) in bonds.iter().enumerate() {
            let (normal, tangential) = self.half_impulse(i, bond);
            kernel::add_scaled(momentum, normal, self.start_rows.normal(i));
            if tangential != 0.0 {
                kernel::add_scaled(momentum, tangential, self.start_rows.slide(i));
            }
        }
    }

    /// Sets the Cholesky factor of the mass matrix of a state, and its velocity, from its configuration and momentum.
    ///
    /// # Errors
    ///
    /// [`StepFailure`].
    pub fn set_velocity(&mut self, point: &mut Point) -> Result<(), StepFailure> {
        point.mass.fill(0.0);
        self.system
            .mass_matrix(&point.configuration, &mut point.mass);
        if dense::cholesky(point.mass.as_mut_slice(), self.n).is_err() {
            return Err(StepFailure::MassNotPositiveDefinite);
        }
        point.velocity_from_momentum();
        if kernel::is_finite(&point.velocity) {
            Ok(())
        } else {
            Err(StepFailure::NotConverged)
        }
    }

    /// Sets the gaps of all contacts of a state and their rates, from its configuration and velocity.
    ///
    /// # Errors
    ///
    /// [`StepFailure::NotConverged`] if a gap or a rate is not finite.
    pub fn set_gaps(&mut self, point: &mut Point) -> Result<(), StepFailure> {
        self.system.gaps(&point.configuration, &mut point.gaps);
        for (contact, rate) in point.rates.iter_mut().enumerate() {
            let gradient = &mut self.residual[..self.n];
            self.system
                .gap_gradient(contact, &point.configuration, gradient);
            *rate = kernel::dot(gradient, &point.velocity);
        }
        if kernel::is_finite(&point.gaps) && kernel::is_finite(&point.rates) {
            Ok(())
        } else {
            Err(StepFailure::NotConverged)
        }
    }

    /// Returns the gap of a contact at the end of the step solved last (m).
    pub fn end_gap(&self, contact: usize) -> f64 {
        self.system.gap(contact, &self.end)
    }

    /// Returns the scale, a momentum, with which the impulses of the step solved last are compared: $\lVert p_0\rVert +
    /// h\lVert\partial L/\partial q + f\rVert$ in the kinetic norm. $p_0$ is the momentum at the start, $h$ the step length (s),
    /// $L$ the Lagrangian and $f$ the applied force.
    pub fn momentum_scale(&mut self, start: &Point, h: f64) -> f64 {
        let drive = &mut self.residual[..self.n];
        drive.copy_from_slice(&self.drive);
        let drive = start.norm_of(drive);
        kernel::dot(&start.momentum, &start.velocity)
            .max(0.0)
            .sqrt()
            + h * drive
    }

    /// Returns the kinetic norms of the gradients of gap and slide coordinate (tangential displacement), in this order, of active
    /// contact `i`. The gradients are those at the start of the step solved last, whose state is `start`.
    pub fn start_norms(&mut self, start: &Point, i: usize) -> (f64, f64) {
        let row = &mut self.residual[..self.n];
        row.copy_from_slice(self.start_rows.normal(i));
        let normal = start.norm_of(row);
        row.copy_from_slice(self.start_rows.slide(i));
        (normal, start.norm_of(row))
    }

    /// Returns the mean sliding velocity of the active contact `bond`, the `i`-th, in the step of length `h` (s) solved last (m/s):
    /// the change of its slide coordinate (tangential displacement) divided by `h`.
    pub fn mean_slide_rate(&self, i: usize, bond: &Bond, h: f64) -> f64 {
        (self.system.slide(bond.contact, &self.end) - self.anchors[i]) / h
    }
}

/// Returns the norm $\sqrt{x^TMx}$ of the vector $x$ with the mass matrix $M$ (`mass`, stored by columns). The norm is 0 if
/// rounding errors or an indefinite matrix make the square negative, and NaN if an entry is NaN.
fn metric_norm(mass: &[f64], x: &[f64]) -> f64 {
    let n = x.len();
    let columns = mass.chunks_exact(n).zip(x);
    let square: f64 = columns
        .map(|(column, xj)| kernel::dot(column, x) * xj)
        .sum();
    if square < 0.0 { 0.0 } else { square.sqrt() }
}
