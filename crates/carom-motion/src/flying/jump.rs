//! Change of the momenta by an impact.

use super::CollisionError;
use carom_contact::{Audit, Contact, ContactSet, ImpactError, ImpactLaw, ImpactProblem, audit};
use carom_geometry::{ContactPatch, PatchKind};
use carom_impact::Plastic;
use carom_metric::{Covector, KineticMetric, Tangent};
use carom_variational::{Flight, RigidBody, State};
use nalgebra::{DMatrix, DVector, Vector3};

/// Fraction of the sum of its terms below which a gap rate counts as zero, because it is rounding error.
const RATE_ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Largest number of secant steps for the balance of the discrete energies.
const MAX_SECANT_STEPS: usize = 60;

/// Rule that determines the impulse of an impact of a rigid body with a plane.
///
/// # Examples
///
/// A ball dropped by 1.25 m is back after 1 s, at $g = 10$ m/s²:
///
/// ```
/// # use carom_geometry::{Ellipsoid, HalfSpace, Shape};
/// # use carom_lie::So3;
/// # use carom_variational::{ExactFlight, RigidBody, State, TimeGrid};
/// # use nalgebra::Vector3;
/// # let shape = Shape::Ellipsoid(Ellipsoid::sphere(0.1, Vector3::zeros())?);
/// # let body = RigidBody::new(&shape.mass_properties(2.0)?);
/// # let floor = HalfSpace::new(Vector3::z(), 0.0)?;
/// # let gravity = ExactFlight::new(Vector3::new(0.0, 0.0, -10.0));
/// # let start = State {
/// #     position: Vector3::new(0.0, 0.0, 1.35),
/// #     rotation: So3::identity(),
/// #     linear_momentum: Vector3::zeros(),
/// #     angular_momentum: Vector3::zeros(),
/// # };
///
/// use carom_motion::flying::{Collider, ImpactRule};
/// let collider = Collider::new(&body, &shape, &floor, &gravity, ImpactRule::ELASTIC)?;
/// let end = collider.run(&start, &TimeGrid::duration(0.01, 1.0)?, None, &mut |_| ())?;
/// assert!((end.state.position.z - 1.35).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ImpactRule {
    /// Newton's rule: the gap rate is reversed, $u^+ = -eu$, with the restitution $e$. For $e = 1$ these are the
    /// Weierstrass-Erdmann conditions of the continuous action: the Hamiltonian is conserved, $H^+ = H^-$, by the impulse
    /// $\lambda = -2u/\kappa$ with the inverse effective mass $\kappa$. Tran & Leok's Algorithm 5.2.
    Newton {
        /// Newton's coefficient $e$ in \[0, 1\].
        restitution: f64,
    },
    /// The discrete energies of the two parts of the step are equal, Tran & Leok, Eq. (22a): the
    /// discrete action is stationary with respect to the time of impact.
    ///
    /// # Departure from the source
    ///
    /// The paper says that this is the multiplier of the continuous problem. It differs by
    /// $O(h^2)$: the step is symplectic, and $H$ changes by $O(h^2)$ at every impact, whereas
    /// [`Newton`](Self::Newton) keeps $H$ exactly and is not symplectic across the step. Both are
    /// tested. Near grazing there may be no balance at all.
    DiscreteEnergy,
}

impl ImpactRule {
    /// Elastic impact rule: the normal velocity is reversed, and the energy (the Hamiltonian) is conserved.
    pub const ELASTIC: Self = Self::Newton { restitution: 1.0 };

    pub(crate) fn check(&self) -> Result<(), CollisionError> {
        match *self {
            Self::Newton { restitution: value } if !(0.0..=1.0).contains(&value) => {
                Err(CollisionError::BadRestitution { value })
            }
            _ => Ok(()),
        }
    }

    /// True if impacts under this rule dissipate energy.
    pub(crate) fn loses_energy(&self) -> bool {
        self.restitution() < 1.0
    }

    fn restitution(&self) -> f64 {
        match *self {
            Self::Newton { restitution } => restitution,
            Self::DiscreteEnergy => 1.0,
        }
    }
}

/// Point of a rigid body that touches the plane in an impact, with its normal velocity and impulse.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ImpactPoint {
    /// Position of the contact point in body axes, from the center of mass (m).
    pub point_b: Vector3<f64>,
    /// Velocity of the point along the plane's normal before the impact (m/s); negative, since the point approaches.
    pub gap_rate: f64,
    /// Impulse on the body at this point, along the plane's normal (N·s).
    pub impulse: f64,
}

/// Impact of one rigid body with a plane: time, contact points, and states before and after. The momenta change
/// discontinuously; position and attitude do not change.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Impact {
    /// Time of the impact (s).
    pub time: f64,
    /// Fraction of the time step that has passed at the impact, from 0 to 1.
    pub alpha: f64,
    /// Sum of the impulses of all points along the plane's normal (N·s).
    pub impulse: f64,
    /// Normal velocity before the impact of the point that approaches fastest (m/s); negative.
    pub gap_rate: f64,
    /// Kind of the contact between body and plane: a point, an edge or a face.
    pub kind: PatchKind,
    /// Points that approach, with their impulses.
    pub points: Vec<ImpactPoint>,
    /// Unit normal of the plane in body axes.
    pub normal_b: Vector3<f64>,
    /// State of the body just before the impact.
    pub before: State,
    /// State of the body just after the impact.
    pub after: State,
}

impl Impact {
    /// Computes the energy and momentum balance of this impact, by the audit that checks the outcome of every impact law.
    /// `normal` is the plane's unit normal in space.
    ///
    /// # Errors
    ///
    /// The errors of the audit. An impact that a run has reported causes no error.
    pub fn audit(&self, body: &RigidBody, normal: &Vector3<f64>) -> Result<Audit, CollisionError> {
        let metric = metric(body)?;
        let points: Vec<_> = self.points.iter().map(|p| p.point_b).collect();
        let set = contacts(metric, normal, &self.normal_b, &points)?;
        let problem = ImpactProblem::new(&set, velocity(body, &self.before))?;
        let impulses = DVector::from_iterator(points.len(), self.points.iter().map(|p| p.impulse));
        let after = velocity(body, &self.after);
        Ok(audit(&problem, &after, &impulses, &DVector::zeros(0))?)
    }
}

/// Returns the mass matrix of a free rigid body for its linear and angular velocity: $\mathrm{diag}(mI, J)$ with the mass $m$ and
/// the inertia matrix $J$ in body axes.
fn metric(body: &RigidBody) -> Result<KineticMetric, ImpactError> {
    let mut mass = DMatrix::zeros(6, 6);
    for i in 0..3 {
        mass[(i, i)] = body.mass();
        for j in 0..3 {
            mass[(3 + i, 3 + j)] = body.inertia()[(i, j)];
        }
    }
    Ok(KineticMetric::new(mass)?)
}

fn velocity(body: &RigidBody, state: &State) -> Tangent {
    let linear = state.linear_momentum / body.mass();
    let angular = body.angular_velocity(&state.angular_momentum);
    Tangent::from_slice(&[
        linear.x, linear.y, linear.z, angular.x, angular.y, angular.z,
    ])
}

fn contacts(
    metric: KineticMetric,
    normal: &Vector3<f64>,
    normal_b: &Vector3<f64>,
    points: &[Vector3<f64>],
) -> Result<ContactSet, ImpactError> {
    let row = |point: &Vector3<f64>| {
        let moment = point.cross(normal_b);
        let row = [normal.x, normal.y, normal.z, moment.x, moment.y, moment.z];
        Contact::frictionless(Covector::from_slice(&row))
    };
    ContactSet::new(metric, points.iter().map(row).collect())
}

/// Returns the velocity of a body point that touches the plane, along the plane's normal (m/s), and $\kappa$, the inverse of the
/// effective mass at this point (1/kg). The velocity is set to zero if it is only rounding error. `moment` is $\chi = \rho\times
/// d$, the position $\rho$ of the point crossed with the plane normal $d$, both in body axes.
fn rate_and_mobility(
    body: &RigidBody,
    state: &State,
    normal: &Vector3<f64>,
    moment: &Vector3<f64>,
) -> (f64, f64) {
    let lever = body.angular_velocity(moment);
    let (fall, turn) = (
        normal.dot(&state.linear_momentum) / body.mass(),
        lever.dot(&state.angular_momentum),
    );
    let rounding = RATE_ROUNDING
        * (state.linear_momentum.norm() / body.mass()
            + lever.norm() * state.angular_momentum.norm());
    let rate = fall + turn;
    let rate = if rate.abs() <= rounding { 0.0 } else { rate };
    (rate, 1.0 / body.mass() + moment.dot(&lever))
}

/// True if every body point that touches the plane moves away from the plane. `patch` holds the touching points.
pub(crate) fn leaves(
    body: &RigidBody,
    state: &State,
    normal: &Vector3<f64>,
    patch: &ContactPatch,
) -> bool {
    patch.points_b.iter().all(|point| {
        let moment = point.cross(&patch.normal_b);
        rate_and_mobility(body, state, normal, &moment).0 > 0.0
    })
}

/// Computes the normal impulses on those touching points of the body that approach the plane.
///
/// At a single point the impulse is $\lambda = -(1+e)u/\kappa$, with the restitution $e$, the normal velocity $u$ and the inverse
/// effective mass $\kappa$. At several points it is $1 + e$ times Moreau's inelastic impulse $p$, with $0 \le p \perp Gp + u \ge
/// 0$, where $G$ is the Delassus matrix of the points. For $e = 1$ this conserves the energy. The change of the momenta is unique
/// even if the impulses are not.
fn impulses(
    body: &RigidBody,
    state: &State,
    normal: &Vector3<f64>,
    patch: &ContactPatch,
    restitution: f64,
) -> Result<Vec<ImpactPoint>, CollisionError> {
    let mut points = Vec::with_capacity(patch.points_b.len());
    for &point_b in &patch.points_b {
        let moment = point_b.cross(&patch.normal_b);
        let (gap_rate, mobility) = rate_and_mobility(body, state, normal, &moment);
        if gap_rate < 0.0 {
            points.push(ImpactPoint {
                point_b,
                gap_rate,
                impulse: -(1.0 + restitution) * gap_rate / mobility,
            });
        }
    }
    if points.len() > 1 {
        let metric = metric(body)?;
        let places: Vec<_> = points.iter().map(|p| p.point_b).collect();
        let set = contacts(metric, normal, &patch.normal_b, &places)?;
        let problem = ImpactProblem::new(&set, velocity(body, state))?;
        let inelastic = Plastic::default().resolve(&problem)?;
        for (point, impulse) in points.iter_mut().zip(inelastic.impulses.iter()) {
            point.impulse = (1.0 + restitution) * impulse;
        }
    }
    Ok(points)
}

/// Durations of the two parts of a step, before and after an impact (s).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Split {
    pub(crate) before: f64,
    pub(crate) after: f64,
}

/// Resolves the impact of a body in a state that touches the plane, whose unit normal is `normal`. `patch` holds the
/// touching points and `flight` the model of the motion before and after the impact. `split` holds the durations of the
/// step before and after the impact. Returns `None` if no touching point approaches.
///
/// The fields `time` and `alpha` of the result are zero; the caller sets them.
pub(crate) fn resolve<F: Flight>(
    rule: &ImpactRule,
    body: &RigidBody,
    flight: &F,
    state: &State,
    normal: &Vector3<f64>,
    patch: &ContactPatch,
    split: Split,
) -> Result<Option<Impact>, CollisionError> {
    let mut points = impulses(body, state, normal, patch, rule.restitution())?;
    if points.is_empty() {
        return Ok(None);
    }
    let mut jump = Jump::of(normal, &patch.normal_b, &points);
    let gap_rate = points.iter().fold(0.0, |u: f64, p| u.min(p.gap_rate));
    if *rule == ImpactRule::DiscreteEnergy {
        let scale = balance(body, flight, state, &jump, gap_rate, split)?;
        points.iter_mut().for_each(|p| p.impulse *= scale);
        jump = jump.scaled(scale);
    }
    let impulse = points.iter().map(|p| p.impulse).sum();
    Ok(Some(Impact {
        time: 0.0,
        alpha: 0.0,
        impulse,
        gap_rate,
        kind: patch.kind,
        points,
        normal_b: patch.normal_b,
        before: *state,
        after: jump.apply(state, 1.0),
    }))
}

/// Change of the linear and angular momentum in an impact.
#[derive(Clone, Copy)]
struct Jump {
    linear: Vector3<f64>,
    angular: Vector3<f64>,
}

impl Jump {
    fn of(normal: &Vector3<f64>, normal_b: &Vector3<f64>, points: &[ImpactPoint]) -> Self {
        let mut impulse = 0.0;
        let mut angular = Vector3::zeros();
        for point in points {
            impulse += point.impulse;
            angular += point.point_b.cross(normal_b) * point.impulse;
        }
        Self {
            linear: normal * impulse,
            angular,
        }
    }

    fn scaled(&self, by: f64) -> Self {
        Self {
            linear: self.linear * by,
            angular: self.angular * by,
        }
    }

    fn apply(&self, state: &State, by: f64) -> State {
        State {
            linear_momentum: state.linear_momentum + self.linear * by,
            angular_momentum: state.angular_momentum + self.angular * by,
            ..*state
        }
    }
}

/// Returns the factor by which the elastic impulse must be multiplied so that the discrete energies of the flights
/// before and after the impact are equal. `jump` is the change of the momenta by the elastic impulse, `gap_rate` (m/s)
/// the normal velocity before the impact, which an error reports, and `split` holds the durations of both flights. The
/// secant method starts from the factor 1.
fn balance<F: Flight>(
    body: &RigidBody,
    flight: &F,
    state: &State,
    jump: &Jump,
    gap_rate: f64,
    split: Split,
) -> Result<f64, CollisionError> {
    let energy = |state: &State, time: f64| {
        let energy = flight.discrete_energy(body, state, time)?;
        energy.ok_or(CollisionError::DiscreteEnergyUnavailable)
    };
    let fail = CollisionError::NoDiscreteEnergyRoot { gap_rate };
    let target = energy(state, split.before)?;
    let excess =
        |by: f64| energy(&jump.apply(state, by), split.after).map(|energy| energy - target);
    let kinetic = |s: &State| body.translational_energy(s) + body.rotational_energy(s);
    // With `by` the factor, the kinetic energy changes by K (by^2 - by), so its slope at by = 1 is K.
    let slope = 2.0 * (kinetic(&jump.apply(state, 2.0)) - kinetic(state)) / 4.0;
    let (mut from, mut error) = (1.0, excess(1.0)?);
    let mut to = from - error / slope;
    for _ in 0..MAX_SECANT_STEPS {
        if !(to > 0.0 && to.is_finite()) {
            return Err(fail);
        }
        let next_error: f64 = excess(to)?;
        // Stops at the rounding error of the energy or of the factor.
        let at_rounding = next_error.abs() <= 2.0 * f64::EPSILON * target.abs();
        if at_rounding || (to - from).abs() <= 2.0 * f64::EPSILON * to || next_error == error {
            return Ok(to);
        }
        let step = next_error * (to - from) / (next_error - error);
        (from, error) = (to, next_error);
        to -= step;
    }
    Err(fail)
}
