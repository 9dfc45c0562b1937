//! Derivatives of whole runs of a body that flies above a plane.
//!
//! Differences of a state are $(\delta x, \zeta, \delta\gamma, \delta\Pi)$: position and linear momentum in world axes, the
//! rotation by $\delta R = RS(\zeta)$, and the angular momentum in body axes. The discrete run is differentiated, with its steps,
//! not the continuous motion that it approximates. An impact splits a step into two flights, $q = \Psi(s, \tau)$ with $\Phi(q) =
//! 0$ and $\Psi(q^+, h - \tau)$. With the time derivative $f^-$ of the first flight at its end,
//!
//! $$ \delta\tau = -\frac{\nabla\Phi\cdot\Psi_s\delta s}{\nabla\Phi\cdot f^-}, \qquad
//!    \delta q = \Psi_s\delta s + f^-\delta\tau, $$
//!
//! The derivative of the impact law acts on $\delta q$. At the end of the step the time derivative of the last flight times the
//! sum of the $\delta\tau$ is subtracted, since that flight begins so much later. For
//! [`ExactFlight`](carom_variational::ExactFlight) this is the saltation matrix.
//!
//! # Examples
//!
//! A ball that is dropped and bounces once, elastically. Dropped from $\delta$ higher it hits later and
//! faster, at the speed $v$, and a time $t$ after that impact it is $(2gt/v - 1)\delta$ higher:
//!
//! ```
//! use carom_geometry::{Ellipsoid, HalfSpace, MassProperties};
//! use carom_motion::flying::{Collider, ImpactRule, Trajectory};
//! use carom_variational::{ExactFlight, RigidBody, State, TimeGrid};
//! use nalgebra::{Matrix3, Vector3};
//! let body = RigidBody::new(&MassProperties::new(1.0, Matrix3::identity())?);
//! let ball = Ellipsoid::sphere(0.5, Vector3::zeros())?;
//! let floor = HalfSpace::new(Vector3::z(), 0.0)?;
//! let flight = ExactFlight::new(Vector3::new(0.0, 0.0, -10.0));
//! let collider = Collider::new(&body, &ball, &floor, &flight, ImpactRule::ELASTIC)?;
//! let start = State {
//!     position: Vector3::new(0.0, 0.0, 0.7),
//!     rotation: carom_lie::So3::identity(),
//!     linear_momentum: Vector3::zeros(),
//!     angular_momentum: Vector3::zeros(),
//! };
//! // It falls for 0.2 s and hits at 2 m/s; 0.25 s are left.
//! let run = Trajectory::record(&collider, &start, &TimeGrid::duration(0.01, 0.45)?, None)?;
//! let sensitivity = collider.sensitivity(&run)?;
//! let jacobian = sensitivity.d_final_d_initial.ok_or("not smooth")?;
//! let raised = 2.0 * 10.0 * 0.25 / 2.0 - 1.0;
//! assert!((jacobian[(2, 2)] - raised).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod contact;

pub use carom_derivative::sensitivity::{Regularity, Sensitivity, SensitivityEvent};

use super::trajectory::Node;
use super::{Collider, CollisionError, Impact, ImpactRule, Trajectory};
use crate::hybrid::Ending;
use carom_contact::ImpactError;
use carom_derivative::saltation;
use carom_geometry::SupportMap;
use carom_variational::{DifferentiableFlight, PathRate, RigidBody, State, TurningDerivative};
use contact::{Difference, Reset, Strike, retime, state_rate};
use nalgebra::{DMatrix, DVector, RowSVector, SMatrix, Vector3};

/// Number of coordinates of a difference of states.
const STATES: usize = 12;

/// Number of columns: derivatives with respect to the initial state, the restitution and the three components of gravity.
const N_COLUMNS: usize = 16;
/// Column of the derivative with respect to the restitution.
const RESTITUTION: usize = STATES;
/// First column of the derivatives with respect to gravity.
const GRAVITY: usize = STATES + 1;

type Columns = SMatrix<f64, STATES, N_COLUMNS>;
type Row = RowSVector<f64, N_COLUMNS>;

/// Fraction of gradient times velocity below which a gap rate counts as grazing.
const GRAZING: f64 = 1e-9;

impl<'a, S: SupportMap, F: DifferentiableFlight> Collider<'a, S, F> {
    /// Computes the derivative of the final state of a run of this collider with respect to the initial state (12 × 12) and
    /// to the parameters `"restitution"`, if the rule has one, `"gravity_x"`, `"gravity_y"`, `"gravity_z"` (m/s²).
    /// Perturbations of a state are $(\delta x, \zeta, \delta\gamma, \delta\Pi)$: of position, attitude (a small rotation),
    /// linear and angular momentum.
    ///
    /// The derivative does not exist if an impact grazes, if several points hit together (`"simultaneous-contacts"`: in
    /// neighboring runs they hit one after the other), if impacts accumulate, or if the run ended early, since its final time is
    /// then not fixed. [`reason`](Sensitivity::reason) names the cause. For an initial state on the plane the derivative is
    /// one-sided, for states above the plane.
    ///
    /// # Errors
    ///
    /// The errors of the flight.
    pub fn sensitivity(&self, run: &Trajectory<'_, F>) -> Result<Sensitivity, CollisionError> {
        let mut sensitivity = Sensitivity::default();
        let mut carried = Carried {
            body: self.body(),
            flight: self.flight(),
            gravity: Vector3::zeros(),
            columns: Columns::identity(),
            early: Row::zeros(),
            leg: None,
        };
        let mut at = None;
        let mut nodes = run.numbered();
        while let Some((time, node)) = nodes.next() {
            let Some((begin, from)) = at.replace((time, *node.after())) else {
                carried.gravity = self.flight().acceleration(self.body(), node.after());
                continue;
            };
            let arrived = match node {
                Node::Grid(state) => state,
                Node::Impact(impact) => &impact.before,
            };
            let length = time - begin;
            if sensitivity.is_open() {
                carried.fly(&from, length, arrived)?;
            }
            match node {
                Node::Grid(_) if sensitivity.is_open() => carried.end_step(&from, length)?,
                Node::Grid(_) => (),
                Node::Impact(impact) => {
                    let is_grid = |(_, node): &(f64, Node<'_>)| matches!(node, Node::Grid(_));
                    let end = nodes.clone().find(is_grid).map_or(time, |(end, _)| end);
                    let times = [length, end - time];
                    let event = self.strike(&mut carried, impact, &from, times)?;
                    if impact.points.len() > 1 {
                        sensitivity.refuse("simultaneous-contacts");
                    }
                    sensitivity.add(event);
                }
            }
        }
        match &run.end().ending {
            Ending::Completed if run.end().n_touches > 0 => {
                sensitivity.class = Regularity::Singular;
                sensitivity.refuse("grazing");
            }
            Ending::Completed => (),
            Ending::AtRest => sensitivity.refuse("established-contact"),
            Ending::Stopped(error) => sensitivity.refuse(error.kind()),
            ending => sensitivity.refuse(ending.name()),
        }
        if sensitivity.is_open() {
            carried.land()?;
            let columns = &carried.columns;
            let initial = columns.fixed_columns::<STATES>(0);
            let has_restitution = matches!(self.rule(), ImpactRule::Newton { .. });
            let names = ["restitution", "gravity_x", "gravity_y", "gravity_z"];
            let column =
                |k: usize| DVector::from_column_slice(columns.column(STATES + k).as_slice());
            let parameters = names.into_iter().enumerate();
            let parameters = parameters.skip(usize::from(!has_restitution));
            sensitivity.complete(
                DMatrix::from_column_slice(STATES, STATES, initial.as_slice()),
                parameters.map(|(k, name)| (name, column(k))).collect(),
            );
        }
        Ok(sensitivity)
    }

    /// Propagates the derivatives of the state through the impact that ends a flight from the state `from`, and classifies the
    /// impact as smooth, kink, jump or singular. `length` is the duration of the flight, and `left` the rest of the step after
    /// the impact (s).
    fn strike(
        &self,
        carried: &mut Carried<'_, F>,
        impact: &Impact,
        from: &State,
        [length, left]: [f64; 2],
    ) -> Result<SensitivityEvent, CollisionError> {
        let support_derivative = self.shape().support_derivative(&impact.normal_b);
        let normal = self.plane().normal();
        let strikes: Vec<Strike<'_>> = impact
            .points
            .iter()
            .map(|point| Strike::new(self.body(), impact, point, normal, &support_derivative))
            .collect();
        let (_, path) = self.flight().advance_with_rate(self.body(), from, length)?;
        let is_grazed = |strike: &Strike<'_>, rate: f64| {
            strike.is_grazed_at(rate, GRAZING) || !(strike.margin() > GRAZING)
        };
        let mut event = SensitivityEvent::new(impact.time);
        event.margin = strikes.iter().map(Strike::margin).reduce(f64::min);
        let [strike] = strikes.as_slice() else {
            // In every neighboring run the points hit one after the other, in an order that depends on the run.
            // Only points that do not act on each other lead to the same state for every order.
            let coupled = |i: usize| (0..i).any(|j| strikes[i].acts_on(&strikes[j]));
            event.class = if (1..strikes.len()).any(coupled) {
                Regularity::Jump
            } else {
                Regularity::Kink
            };
            return Ok(event);
        };
        let rate = strike.rate(&path);
        if is_grazed(strike, rate) || is_grazed(strike, impact.gap_rate) {
            event.class = Regularity::Singular;
            return Ok(event);
        }
        let change = carried.arrive(strike, &path, rate, impact)?;
        let reset = match self.rule() {
            ImpactRule::Newton { restitution } => strike.newton(restitution),
            ImpactRule::DiscreteEnergy => {
                let energy = |state: &State, time: f64| {
                    let known =
                        self.flight()
                            .discrete_energy_derivative(self.body(), state, time)?;
                    known.ok_or(CollisionError::DiscreteEnergyUnavailable)
                };
                let energies = [
                    energy(&impact.before, length)?,
                    energy(&impact.after, left)?,
                ];
                strike.balanced(energies, [length, left], &carried.gravity)
            }
        };
        carried.jump(&reset, &change);
        event.saltation = match continuous(strike, &reset.by_state, &carried.gravity) {
            Ok(saltation) => Some(saltation),
            Err(ImpactError::Grazing { .. }) => {
                event.class = Regularity::Singular;
                None
            }
            Err(error) => return Err(error.into()),
        };
        Ok(event)
    }
}

/// Computes the saltation matrix of the impact for exact flights before and after. The matrix maps a perturbation of the state
/// just before the impact to the perturbation just after. `reset` is the derivative of the state after the impact at fixed time.
fn continuous(
    strike: &Strike<'_>,
    reset: &SMatrix<f64, STATES, STATES>,
    gravity: &Vector3<f64>,
) -> Result<DMatrix<f64>, ImpactError> {
    let dynamic = |d: Difference| DVector::from_column_slice(d.as_slice());
    let [minus, plus] = strike.flows(gravity).map(dynamic);
    let reset = DMatrix::from_column_slice(STATES, STATES, reset.as_slice());
    saltation(&reset, &minus, &plus, &dynamic(strike.gradient()), 0.0)
}

/// Differences that are propagated along a run.
struct Carried<'c, F> {
    body: &'c RigidBody,
    flight: &'c F,
    gravity: Vector3<f64>,
    columns: Columns,
    /// Sum of the changes of the times of impact in the present step, one entry per column.
    early: Row,
    leg: Option<Leg>,
}

/// Flight whose derivative has not been applied to the columns yet.
struct Leg {
    from: State,
    to: State,
    time: f64,
    turning: TurningDerivative,
}

impl<F: DifferentiableFlight> Carried<'_, F> {
    /// Appends a flight of the duration `time` (s) from the state `from` to `to`. The derivative of the flight is applied to the
    /// propagated derivatives of the state later, together with the derivatives of the flights before.
    fn fly(&mut self, from: &State, time: f64, to: &State) -> Result<(), CollisionError> {
        let leg = self.leg.get_or_insert_with(|| Leg {
            from: *from,
            to: *to,
            time: 0.0,
            turning: TurningDerivative::identity(),
        });
        leg.time += time;
        leg.to = *to;
        if !self.flight.is_flow() {
            self.flight
                .append_to(self.body, from, time, &mut leg.turning)?;
        }
        Ok(())
    }

    /// Applies the derivative of all flights since the last impact to the propagated derivatives of the state.
    fn land(&mut self) -> Result<(), CollisionError> {
        let Some(mut leg) = self.leg.take() else {
            return Ok(());
        };
        if self.flight.is_flow() {
            self.flight
                .append_to(self.body, &leg.from, leg.time, &mut leg.turning)?;
        }
        let (t, m) = (leg.time, self.body.mass());
        let TurningDerivative {
            turn,
            swing,
            momentum,
        } = leg.turning;
        for (k, mut column) in self.columns.column_iter_mut().enumerate() {
            let part = |i: usize| Vector3::new(column[i], column[i + 1], column[i + 2]);
            let [x, zeta, gamma, pi] = [part(0), part(3), part(6), part(9)];
            let mut pull = Vector3::zeros();
            if k >= GRAVITY {
                pull[k - GRAVITY] = t;
            }
            let parts = [
                x + (gamma / m + pull * 0.5) * t,
                turn * zeta + swing * pi,
                gamma + pull * m,
                momentum * pi,
            ];
            for (i, part) in parts.iter().enumerate() {
                column.fixed_rows_mut::<3>(3 * i).copy_from(part);
            }
        }
        Ok(())
    }

    /// Propagates the derivatives of the state to the time of an impact that ends a flight, and corrects them for the change of
    /// that time. `path` is the velocity before the impact, `rate` the time derivative of the gap (m/s). Returns the derivatives
    /// of the flight's duration, with respect to the initial state and the parameters.
    fn arrive(
        &mut self,
        strike: &Strike<'_>,
        path: &PathRate,
        rate: f64,
        impact: &Impact,
    ) -> Result<Row, CollisionError> {
        self.land()?;
        let flow = state_rate(self.body, &impact.before, path, &self.gravity);
        let change = retime(&mut self.columns, &strike.gradient(), rate, &flow);
        self.early += change;
        Ok(change)
    }

    /// Applies the derivative `reset` of an impact to the propagated derivatives of the state. `change` holds the derivatives of
    /// the duration of the flight before the impact.
    fn jump(&mut self, reset: &Reset, change: &Row) {
        let [before, after] = &reset.by_times;
        self.columns = reset.by_state * self.columns + before * change - after * self.early;
        let mut column = self.columns.column_mut(RESTITUTION);
        column += reset.by_restitution;
        let mut columns = self.columns.fixed_columns_mut::<3>(GRAVITY);
        columns += reset.by_gravity;
    }

    /// Corrects the propagated derivatives of the state at the end of a step: if the impacts in the step happen later, the last
    /// flight becomes shorter. `from` is the state at the start of that flight, `time` the duration of the flight (s).
    fn end_step(&mut self, from: &State, time: f64) -> Result<(), CollisionError> {
        if self.early == Row::zeros() {
            return Ok(());
        }
        self.land()?;
        let (state, path) = self.flight.advance_with_rate(self.body, from, time)?;
        let flow = state_rate(self.body, &state, &path, &self.gravity);
        self.columns -= flow * self.early;
        self.early = Row::zeros();
        Ok(())
    }
}
