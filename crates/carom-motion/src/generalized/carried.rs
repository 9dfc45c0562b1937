//! Derivatives of a run, computed along with it.
//!
//! Differences $(\delta q, \delta p)$ follow every step by the implicit function theorem, applied to the residual $r(w; q_0, p_0,
//! h)$ of the step, with the mean velocity $w$ and the step length $h$. Let $T$ and $V$ be kinetic and potential energy and $f$
//! the other forces. With $S = T_{qq} - V_{qq} + f_q$ and $B = \partial(Mw)/\partial q$ at the midpoint, and the force $D =
//! \partial T/\partial q - \partial V/\partial q + f$,
//!
//! $$ -\frac{\partial r}{\partial w}\delta w = \left(\tfrac h2S - B\right)\delta q_0 + \delta p_0 +
//!    \frac{\partial r}{\partial h}\delta h, \qquad \delta q_1 = \delta q_0 + h\delta w + w\delta h,
//!    \qquad \delta p_1 = \delta p_0 + h\delta D + D\delta h. $$
//!
//! An impact splits a step. The first part becomes longer by $\delta\tau$, so that the gap that
//! closed stays closed, and the last part becomes shorter. The impact law is differentiated with

use carom_contact::{ImpactError, ImpactOutcome, ImpactProblem};
use carom_derivative::sensitivity::{Regularity, Sensitivity, SensitivityEvent};
use carom_derivative::{Derivative, DifferentiableLaw, Direction, Wrt, of_outcome, saltation};
use carom_mechanism::MechanicalSystem;
use carom_metric::kernel;
use carom_variational::generalized::{Point, Stepper};
use nalgebra::{DMatrix, DVector, RowDVector};
use std::fmt;

/// Margin of a decision of an impact law, as a fraction of the velocity before, below which the decision is a tie.
const TIE: f64 = 1e-9;

/// Fraction of gradient times velocity below which a gap rate counts as grazing.
const GRAZING: f64 = 1e-9;

/// Parameter of a mechanical system for which the derivative of the final state is requested. The parameter acts through a
/// generalized force; examples are a stiffness and the acceleration of gravity.
#[derive(Clone, Copy)]
pub struct ForceParameter<'a> {
    /// Name by which the result identifies the parameter.
    pub name: &'static str,
    /// Function that computes the derivative, with respect to the parameter, of the generalized force $f - \partial V/\partial
    /// q$. Its first argument is the configuration $q$; it writes the derivative to its second argument. Both have one entry per
    /// coordinate.
    pub force: &'a dyn Fn(&[f64], &mut [f64]),
}

impl fmt::Debug for ForceParameter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ForceParameter").field(&self.name).finish()
    }
}

/// Differences that are propagated along a run.
///
/// Columns: derivatives with respect to the initial configuration and velocity (2n columns, n coordinates), to the restitution,
/// to the force parameters, and last to the length of the present flight.
pub(crate) struct Carried<'r> {
    law: &'r dyn DifferentiableLaw,
    parameters: &'r [ForceParameter<'r>],
    /// $(\delta q; \delta p)$, one column per parameter.
    columns: DMatrix<f64>,
    /// Change of the remaining time of the present step, one entry per column.
    left: Vec<f64>,
    /// Change of the length of the present flight, one entry per column.
    longer: Vec<f64>,
    /// True if every impact so far had a known derivative with respect to the restitution.
    knows_restitution: bool,
    pub(crate) sensitivity: Sensitivity,
}

impl fmt::Debug for Carried<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Carried")
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

impl<'r> Carried<'r> {
    /// Creates the derivatives of the state with respect to the initial state and the parameters, at the start of a run: an
    /// identity matrix for the initial configuration $q$ and velocity $v$, zero for the parameters. The derivatives are stored
    /// for configuration and momentum, $\delta p = M\delta v + B\delta q$, with the mass matrix $M$ and the derivative $B$ of the
    /// momentum with respect to $q$.
    pub(crate) fn new<S: MechanicalSystem + ?Sized>(
        law: &'r dyn DifferentiableLaw,
        parameters: &'r [ForceParameter<'r>],
        stepper: &mut Stepper<'_, S>,
        start: &Point,
    ) -> Self {
        let n = start.configuration.len();
        let width = 2 * n + 2 + parameters.len();
        let mut columns = DMatrix::zeros(2 * n, width);
        columns.fill_diagonal(1.0);
        let by_configuration = stepper.momentum_derivative(start, &start.velocity);
        columns
            .view_mut((n, 0), (n, n))
            .copy_from(&by_configuration);
        let mass = mass_matrix(stepper, &start.configuration);
        columns.view_mut((n, n), (n, n)).copy_from(&mass);
        columns.columns_mut(2 * n, width - 2 * n).fill(0.0);
        Self {
            law,
            parameters,
            columns,
            left: vec![0.0; width],
            longer: vec![0.0; width],
            knows_restitution: true,
            sensitivity: Sensitivity::default(),
        }
    }

    fn last(&self) -> usize {
        self.columns.ncols() - 1
    }

    /// Propagates the derivatives of the state over a flight of length `h` (s) from `start` without active contacts.
    /// `mean` is the mean velocity of the flight. The field `longer` of this object holds the derivatives of the
    /// flight's length.
    fn fly<S: MechanicalSystem + ?Sized>(
        &mut self,
        stepper: &mut Stepper<'_, S>,
        start: &Point,
        h: f64,
        mean: &[f64],
    ) {
        let n = mean.len();
        if !stepper.linearize(start, h, mean) {
            self.sensitivity.refuse("not-differentiated");
            return;
        }
        let half = 0.5 * h;
        let (d, drive) = stepper.linearized();
        let second = &d.kinetic_hessian - &d.potential_hessian + &d.force_by_configuration;
        let b = &d.momentum_derivative;
        let by_velocity = b.transpose() + &d.force_by_velocity;
        let by_time = &d.force_by_time;
        let w = DVector::from_column_slice(mean);
        let drive = DVector::from_column_slice(drive);
        let by_length = (&second * &w + by_time) * (0.5 * half) + (&drive - b * &w) * 0.5;
        let middle: Vec<f64> = start
            .configuration
            .iter()
            .zip(mean)
            .map(|(q, w)| q + half * w)
            .collect();
        let forces = self.forces(&middle);
        for (k, mut column) in self.columns.column_iter_mut().enumerate() {
            let (longer, later) = (self.longer[k], -self.left[k]);
            let dq: DVector<f64> = column.rows(0, n).into_owned();
            let dp: DVector<f64> = column.rows(n, n).into_owned();
            let mut pull = by_time * later;
            if let Some(force) = k.checked_sub(2 * n + 1).and_then(|i| forces.get(i)) {
                pull += force;
            }
            let mut change = (&second * &dq + &pull) * half - b * &dq + &dp + &by_length * longer;
            stepper.solve_linearized(change.as_mut_slice());
            let dw = -change;
            let at_middle = &dq + &dw * half + &w * (0.5 * longer);
            let of_drive =
                &second * at_middle + &by_velocity * &dw + pull + by_time * (0.5 * longer);
            column
                .rows_mut(0, n)
                .copy_from(&(dq + dw * h + &w * longer));
            column
                .rows_mut(n, n)
                .copy_from(&(dp + of_drive * h + &drive * longer));
        }
        for (left, longer) in self.left.iter_mut().zip(&self.longer) {
            *left -= longer;
        }
    }

    fn forces(&self, configuration: &[f64]) -> Vec<DVector<f64>> {
        let force = |parameter: &ForceParameter<'_>| {
            let mut out = DVector::zeros(configuration.len());
            (parameter.force)(configuration, out.as_mut_slice());
            out
        };
        self.parameters.iter().map(force).collect()
    }

    /// Propagates the derivatives of the state over a flight of length `h` (s) from `start`. This length is the constant fraction
    /// `part` of the remaining step. `mean` is the mean velocity of the flight.
    pub(super) fn follow<S: MechanicalSystem + ?Sized>(
        &mut self,
        stepper: &mut Stepper<'_, S>,
        start: &Point,
        (h, part): (f64, f64),
        mean: &[f64],
    ) {
        for (longer, left) in self.longer.iter_mut().zip(&self.left) {
            *longer = part * left;
        }
        self.fly(stepper, start, h, mean);
    }

    /// Propagates the derivatives of the state over a flight of length `h` (s) that ends when a gap closes, and corrects them for
    /// the change of that time. `mean` is the mean velocity of the flight, `gradient` the gradient of the gap at its end.
    pub(super) fn arrive<S: MechanicalSystem + ?Sized>(
        &mut self,
        stepper: &mut Stepper<'_, S>,
        start: &Point,
        h: f64,
        mean: &[f64],
        gradient: &[f64],
    ) {
        let (n, last) = (mean.len(), self.last());
        // During this flight the last column becomes the derivative of the path with respect to time at the end.
        self.columns.column_mut(last).fill(0.0);
        self.longer.fill(0.0);
        self.longer[last] = 1.0;
        self.fly(stepper, start, h, mean);
        self.left[last] = 0.0;
        let path = self.columns.column(last).into_owned();
        let rate = kernel::dot(gradient, &path.as_slice()[..n]);
        if !is_transversal(rate, gradient, mean) {
            // The impact itself is classified as grazing as well.
            self.sensitivity.class = Regularity::Singular;
            self.sensitivity.refuse("grazing");
            return;
        }
        for k in 0..last {
            let mut column = self.columns.column_mut(k);
            let change = -kernel::dot(gradient, &column.as_slice()[..n]) / rate;
            column.axpy(change, &path, 1.0);
            self.left[k] -= change;
        }
    }

    /// Propagates the derivatives of the state through the impact `hit` at the point `start`, and appends the classified impact
    /// to the result.
    pub(super) fn strike<S: MechanicalSystem + ?Sized>(
        &mut self,
        stepper: &mut Stepper<'_, S>,
        start: &Point,
        hit: &Struck<'_>,
    ) -> Result<(), ImpactError> {
        let mut event = SensitivityEvent::new(start.time);
        let derivative = match of_outcome(self.law, hit.problem, hit.outcome, false, &Wrt::ALL, TIE)
        {
            Ok(derivative) => derivative,
            Err(ImpactError::NotDifferentiated { .. }) => {
                self.sensitivity.refuse("not-differentiated");
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        if let Some(reason) = derivative.reason() {
            self.sensitivity.refuse(reason);
        }
        event.margin = derivative.margin();
        event.class = derivative
            .class()
            .map_or(Regularity::Kink, Regularity::from);
        let gradient = hit.gradient;
        let rate = kernel::dot(gradient, &start.velocity);
        if !is_transversal(rate, gradient, &start.velocity) {
            event.class = Regularity::Singular;
        }
        if hit.others_struck {
            self.sensitivity.refuse("simultaneous-contacts");
        } else if event.class == Regularity::Smooth {
            match reset(stepper, start, hit, &derivative)? {
                Some(reset) => {
                    event.saltation = continuous(stepper, start, hit, &reset)?;
                    self.jump(stepper, start, hit, &reset, &derivative);
                }
                None => self.sensitivity.refuse("not-differentiated"),
            }
        }
        self.sensitivity.add(event);
        Ok(())
    }

    /// Applies the derivative of an impact to the derivatives $\delta q$ and $\delta p$ of configuration and momentum. Three
    /// steps: $\delta v = M^{-1}(\delta p - B\delta q)$, the matrix `reset` on $(\delta q, \delta v)$, and
    /// $\delta p = M\delta v + B^+\delta q$. Here $M$ is the mass matrix; $B$ and $B^+$ are the derivatives of the momentum with respect to the
    /// configuration at the velocities before and after.
    fn jump<S: MechanicalSystem + ?Sized>(
        &mut self,
        stepper: &mut Stepper<'_, S>,
        start: &Point,
        hit: &Struck<'_>,
        reset: &DMatrix<f64>,
        derivative: &Derivative<'_>,
    ) {
        let n = start.configuration.len();
        let plus = hit.outcome.velocity_plus.0.as_slice();
        let before = stepper.momentum_derivative(start, &start.velocity);
        let after = stepper.momentum_derivative(start, plus);
        let mass = mass_matrix(stepper, &start.configuration);
        let by_restitution = derivative.dv_drestitution().map(DMatrix::column_sum);
        self.knows_restitution &= by_restitution.is_some();
        for (k, mut column) in self.columns.column_iter_mut().enumerate() {
            let dq: DVector<f64> = column.rows(0, n).into_owned();
            let mut dv: DVector<f64> = column.rows(n, n) - &before * &dq;
            start.sharpen(dv.as_mut_slice());
            let mut dv = reset.view((n, 0), (n, n)) * &dq + reset.view((n, n), (n, n)) * dv;
            if let Some(change) = by_restitution.as_ref().filter(|_| k == 2 * n) {
                dv += change;
            }
            column.rows_mut(n, n).copy_from(&(&mass * dv + &after * dq));
        }
    }

    /// Returns the result at the end point of a run: the derivatives of the final configuration and velocity with respect to the
    /// initial ones and to the parameters.
    pub(crate) fn finish<S: MechanicalSystem + ?Sized>(
        mut self,
        stepper: &mut Stepper<'_, S>,
        end: &Point,
    ) -> Sensitivity {
        let n = end.configuration.len();
        let by_configuration = stepper.momentum_derivative(end, &end.velocity);
        for mut column in self.columns.column_iter_mut() {
            let dq: DVector<f64> = column.rows(0, n).into_owned();
            let mut dv: DVector<f64> = column.rows(n, n) - &by_configuration * dq;
            end.sharpen(dv.as_mut_slice());
            column.rows_mut(n, n).copy_from(&dv);
        }
        let column = |k: usize| self.columns.column(k).into_owned();
        let mut parameters = Vec::new();
        if self.knows_restitution {
            parameters.push(("restitution", column(2 * n)));
        }
        for (k, parameter) in self.parameters.iter().enumerate() {
            parameters.push((parameter.name, column(2 * n + 1 + k)));
        }
        let initial = self.columns.columns(0, 2 * n).into_owned();
        self.sensitivity.complete(initial, parameters);
        self.sensitivity
    }
}

/// True if a gap closes transversally and not as a graze: the time derivative of the gap, `rate`, exceeds [`GRAZING`]
/// times the norm of the gap's gradient times the norm of the velocity.
fn is_transversal(rate: f64, gradient: &[f64], velocity: &[f64]) -> bool {
    rate.abs() > GRAZING * kernel::norm(gradient) * kernel::norm(velocity)
}

fn mass_matrix<S: MechanicalSystem + ?Sized>(
    stepper: &Stepper<'_, S>,
    configuration: &[f64],
) -> DMatrix<f64> {
    let n = configuration.len();
    let mut mass = DMatrix::zeros(n, n);
    stepper.system().mass_matrix(configuration, &mut mass);
    mass
}

/// Impact problem of a run, with its outcome.
pub(crate) struct Struck<'h> {
    pub(crate) problem: &'h ImpactProblem,
    pub(crate) outcome: &'h ImpactOutcome,
    /// Indices of the closed contacts, in the order of the problem.
    pub(crate) contacts: &'h [usize],
    /// Gradient of the gap that closed.
    pub(crate) gradient: &'h [f64],
    /// True if other contacts have impulses in the impact, too.
    pub(crate) others_struck: bool,
}

/// Computes the derivative of configuration and velocity after the impact `hit` with respect to those before it. The
/// configuration does not change. The velocity is differentiated through the impact law, along every coordinate. Returns `None`
/// if the law or the system does not provide the derivative.
fn reset<S: MechanicalSystem + ?Sized>(
    stepper: &mut Stepper<'_, S>,
    start: &Point,
    hit: &Struck<'_>,
    derivative: &Derivative<'_>,
) -> Result<Option<DMatrix<f64>>, ImpactError> {
    let n = start.configuration.len();
    let Some(dv_dv) = derivative.dv_dv() else {
        return Ok(None);
    };
    let system = stepper.system();
    let set = hit.problem.contacts();
    let n_rows = set.n_rows();
    let mut hessians = Vec::with_capacity(n_rows);
    for (place, &contact) in hit.contacts.iter().enumerate() {
        let (mut gap, mut slide) = (DMatrix::zeros(n, n), DMatrix::zeros(n, n));
        if !system.contact_hessians(contact, &start.configuration, &mut gap, &mut slide) {
            return Ok(None);
        }
        hessians.push(gap);
        if set.contacts()[place].n_rows() > 1 {
            hessians.push(slide);
        }
    }
    // Columns of ∂M/∂q: the derivative of the momentum of each unit velocity.
    let mass_columns: Vec<DMatrix<f64>> = (0..n)
        .map(|k| {
            let mut unit = vec![0.0; n];
            unit[k] = 1.0;
            stepper.momentum_derivative(start, &unit)
        })
        .collect();
    let mut reset = DMatrix::identity(2 * n, 2 * n);
    reset.view_mut((n, n), (n, n)).copy_from(dv_dv);
    for j in 0..n {
        let mass = DMatrix::from_fn(n, n, |i, k| mass_columns[k][(i, j)]);
        let rows: Vec<RowDVector<f64>> = hessians.iter().map(|h| h.row(j).into_owned()).collect();
        let along = derivative.along(
            &Direction::default()
                .with_mass(Some((&mass + mass.transpose()) * 0.5))
                .with_rows(Some(DMatrix::from_rows(&rows))),
        )?;
        let Some(velocity) = along.and_then(|along| along.velocity_plus) else {
            return Ok(None);
        };
        reset.view_mut((n, j), (n, 1)).copy_from(&velocity);
    }
    Ok(Some(reset))
}

/// Computes the saltation matrix of the impact `hit` on configuration and velocity $(q, v)$ for exact motion before and
/// after. The matrix maps a perturbation just before the impact to the perturbation just after. `reset` is the
/// derivative of configuration and velocity after the impact at a fixed time. The accelerations are $M^{-1}(D - Bv)$
/// with the mass matrix $M$, the total generalized force $D$, and the derivative $B$ of the momentum with respect to
/// $q$. Returns `None` for a graze.
fn continuous<S: MechanicalSystem + ?Sized>(
    stepper: &mut Stepper<'_, S>,
    start: &Point,
    hit: &Struck<'_>,
    reset: &DMatrix<f64>,
) -> Result<Option<DMatrix<f64>>, ImpactError> {
    let n = start.configuration.len();
    let mut flow = |velocity: &[f64]| {
        stepper.linearize(start, 0.0, velocity);
        let (d, drive) = stepper.linearized();
        let v = DVector::from_column_slice(velocity);
        let mut acceleration = DVector::from_column_slice(drive) - &d.momentum_derivative * &v;
        start.sharpen(acceleration.as_mut_slice());
        DVector::from_iterator(2 * n, v.iter().chain(&acceleration).copied())
    };
    let minus = flow(&start.velocity);
    let plus = flow(hit.outcome.velocity_plus.0.as_slice());
    let mut guard = DVector::zeros(2 * n);
    guard.as_mut_slice()[..n].copy_from_slice(hit.gradient);
    match saltation(reset, &minus, &plus, &guard, 0.0) {
        Ok(saltation) => Ok(Some(saltation)),
        Err(ImpactError::Grazing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
