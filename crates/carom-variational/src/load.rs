//! Forces on a rigid body besides gravity: drag, and forces given by formulas of time, place and velocity.
//!
//! A [`Load`] is a force on the center of mass and a couple, as functions of time and state. Steps apply it in kicks around a
//! flight: with the half length $h/2$ of the step, $p\leftarrow p + \tfrac h2F(t_0, q_0, v_0)$ before the flight, with the velocity
//! before that kick, and $p\leftarrow p + \tfrac h2F(t_1, q_1, v_1)$ after it, with the velocity $v_1$ that the kick leaves. Such a
//! step is its own adjoint: it is of order 2, stable for any drag, and exact in terminal speeds. The work of a kick is the impulse
//! times the mean of the velocities before and after it.

use crate::{RigidBody, State, VariationalError};
use carom_numeric::expression::{Expression, Jets, Names, Type};
use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};

/// Names that a formula of a force may use: time (s), place of the center of mass (m), its velocity (m/s) and the angular velocity
/// (rad/s), all in space.
pub const VARIABLES: [&str; 10] = ["t", "x", "y", "z", "vx", "vy", "vz", "wx", "wy", "wz"];

/// Largest number of Newton steps of a kick that depends on the velocity after it, and of turns in which such kicks and contacts or
/// joints answer each other. Drag from infinite speed halves the velocity in each.
pub const MOST_TURNS: usize = 100;

/// Component of a force: a number, or an expression of the [`VARIABLES`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(try_from = "FormulaForm", into = "FormulaForm")
)]
pub struct Formula(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Number(f64),
    Expression(Box<Expression>),
}

/// Form in which a formula is written and read.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
enum FormulaForm {
    Number(f64),
    Text(String),
}

#[cfg(feature = "serde")]
impl TryFrom<FormulaForm> for Formula {
    type Error = String;

    fn try_from(form: FormulaForm) -> Result<Self, String> {
        match form {
            FormulaForm::Number(value) => Ok(Self::number(value)),
            FormulaForm::Text(text) => Self::parse(&text),
        }
    }
}

#[cfg(feature = "serde")]
impl From<Formula> for FormulaForm {
    fn from(formula: Formula) -> Self {
        match formula.0 {
            Kind::Number(value) => Self::Number(value),
            Kind::Expression(expression) => Self::Text(expression.text().to_owned()),
        }
    }
}

impl Formula {
    /// Returns the formula of a constant.
    pub fn number(value: f64) -> Self {
        Self(Kind::Number(value))
    }

    /// Reads an expression of the [`VARIABLES`].
    ///
    /// # Errors
    ///
    /// A description of the syntax error.
    ///
    /// # Examples
    ///
    /// ```
    /// use carom_variational::load::Formula;
    /// assert!(Formula::parse("-40*(z - 1)").is_ok());
    /// assert!(Formula::parse("2*u").is_err_and(|fault| fault.contains("unknown name `u`")));
    /// ```
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut names = Names::default();
        for name in VARIABLES {
            names.add(name, Type::Float);
        }
        let expression = Expression::parse(text, &names)?;
        Ok(Self(Kind::Expression(Box::new(expression))))
    }

    /// Reads an expression of the time `t` alone.
    ///
    /// # Errors
    ///
    /// A description of the syntax error.
    pub fn parse_of_time(text: &str) -> Result<Self, String> {
        let mut names = Names::default();
        names.add(VARIABLES[0], Type::Float);
        let expression = Expression::parse(text, &names)?;
        Ok(Self(Kind::Expression(Box::new(expression))))
    }

    /// Returns the value at `time` (s) with its first and second derivatives.
    pub(crate) fn of_time(&self, time: f64) -> [f64; 3] {
        match &self.0 {
            Kind::Number(value) => [*value, 0.0, 0.0],
            Kind::Expression(expression) => {
                let mut jets = Jets::default();
                expression.differentiate(&[time], &[0], true, &mut jets);
                let slope = jets.gradient().first().copied().unwrap_or(f64::NAN);
                [jets.value(), slope, jets.hessian(0, 0)]
            }
        }
    }

    /// Returns the value of a constant; `None` for an expression.
    fn constant(&self) -> Option<f64> {
        match &self.0 {
            Kind::Number(value) => Some(*value),
            Kind::Expression(_) => None,
        }
    }

    /// True if the formula uses a velocity.
    fn uses_velocity(&self) -> bool {
        match &self.0 {
            Kind::Number(_) => false,
            Kind::Expression(expression) => (4..VARIABLES.len()).any(|k| expression.uses(k)),
        }
    }

    /// Returns the value, and its derivatives by the velocity and the angular velocity in space.
    fn value(&self, variables: &[f64; 10], jets: &mut Jets) -> (f64, Vector6<f64>) {
        match &self.0 {
            Kind::Number(value) => (*value, Vector6::zeros()),
            Kind::Expression(expression) => {
                expression.differentiate(variables, &[4, 5, 6, 7, 8, 9], false, jets);
                let slopes = Vector6::from_iterator(jets.gradient().iter().copied());
                (jets.value(), slopes)
            }
        }
    }
}

/// Time, place and velocity of a body at which a [`Load`] is asked.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Moving<'s> {
    /// Time (s).
    pub time: f64,
    /// State that has position and attitude; its momenta are not used.
    pub place: &'s State,
    /// Velocity of the center of mass in space (m/s).
    pub velocity: Vector3<f64>,
    /// Angular velocity in body axes (rad/s).
    pub spin: Vector3<f64>,
}

/// Force and couple on a rigid body as functions of time and state.
pub trait Load: std::fmt::Debug + Send + Sync {
    /// Returns the force on the center of mass in space (N) and the couple in body axes (N m), one after the other, with their
    /// derivatives by the velocity in space and the angular velocity in body axes. Numbers that are not finite mean that the load
    /// has no value there.
    fn wrench(&self, at: &Moving<'_>) -> (Vector6<f64>, Matrix6<f64>);

    /// True if the work of the load is a loss by drag.
    fn is_drag(&self) -> bool {
        false
    }

    /// True if the load depends on the velocity.
    fn uses_velocity(&self) -> bool;
}

/// Drag of a medium at rest: the force $-(c_1 + c_2\lvert v\rvert)v$ and the couple $-(c_3 + c_4\lvert\omega\rvert)\omega$, all
/// coefficients at least 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct Drag {
    /// Coefficient $c_1$ of the velocity (N s/m).
    pub linear: f64,
    /// Coefficient $c_2$ of the velocity times its magnitude (N s²/m²).
    pub quadratic: f64,
    /// Coefficient $c_3$ of the angular velocity (N m s).
    pub rotational: f64,
    /// Coefficient $c_4$ of the angular velocity times its magnitude (N m s²).
    pub rotational_quadratic: f64,
}

carom_numeric::setters!(Drag {
    /// Sets the coefficient of the velocity (N s/m), at least 0.
    with_linear: linear, f64;
    /// Sets the coefficient of the velocity times its magnitude (N s²/m²), at least 0.
    with_quadratic: quadratic, f64;
    /// Sets the coefficient of the angular velocity (N m s), at least 0.
    with_rotational: rotational, f64;
    /// Sets the coefficient of the angular velocity times its magnitude (N m s²), at least 0.
    with_rotational_quadratic: rotational_quadratic, f64;
});

impl Drag {
    /// Returns drag by a velocity, with its derivative.
    fn against(v: &Vector3<f64>, [first, second]: [f64; 2]) -> (Vector3<f64>, Matrix3<f64>) {
        let speed = v.norm();
        let mut slope = Matrix3::identity() * -(first + second * speed);
        if speed > 0.0 {
            slope -= v * v.transpose() * (second / speed);
        }
        (v * -(first + second * speed), slope)
    }
}

impl Load for Drag {
    fn wrench(&self, at: &Moving<'_>) -> (Vector6<f64>, Matrix6<f64>) {
        let (force, by_v) = Self::against(&at.velocity, [self.linear, self.quadratic]);
        let rotational = [self.rotational, self.rotational_quadratic];
        let (couple, by_w) = Self::against(&at.spin, rotational);
        let mut slope = Matrix6::zeros();
        slope.fixed_view_mut::<3, 3>(0, 0).copy_from(&by_v);
        slope.fixed_view_mut::<3, 3>(3, 3).copy_from(&by_w);
        (stack(&force, &couple), slope)
    }

    fn is_drag(&self) -> bool {
        true
    }

    fn uses_velocity(&self) -> bool {
        true
    }
}

/// Force and torque on a body, by formulas.
///
/// # Examples
///
/// ```
/// use carom_variational::load::{AppliedForce, Formula};
/// // A charge of 2 C in a magnetic field of 1 T along z.
/// let [vx, vy] = [Formula::parse("2*vy")?, Formula::parse("-2*vx")?];
/// let force = AppliedForce::new([vx, vy, Formula::number(0.0)]);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct AppliedForce {
    /// Components of the force (N).
    pub force: [Formula; 3],
    /// Components of the torque (N m).
    pub torque: [Formula; 3],
    /// Point of the body at which the force acts, in body axes from the center of mass (m).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub point: Vector3<f64>,
    /// True if the components of force and torque are along the body's axes, false if they are along those of space.
    pub in_body: bool,
}

impl AppliedForce {
    /// Creates a force on the center of mass with the given components in space (N), without a torque.
    pub fn new(force: [Formula; 3]) -> Self {
        Self {
            force,
            torque: [0.0; 3].map(Formula::number),
            point: Vector3::zeros(),
            in_body: false,
        }
    }

    /// Sets the components of the torque (N m).
    #[must_use]
    pub fn with_torque(self, torque: [Formula; 3]) -> Self {
        Self { torque, ..self }
    }

    /// Sets the point of the body at which the force acts, in body axes from the center of mass (m).
    #[must_use]
    pub fn with_point(self, point: Vector3<f64>) -> Self {
        Self { point, ..self }
    }

    /// Sets whether the components are along the body's axes.
    #[must_use]
    pub fn with_in_body(self, in_body: bool) -> Self {
        Self { in_body, ..self }
    }

    /// Returns the force (N) if it is constant in space and acts on the center of mass, without a torque.
    fn constant(&self) -> Option<Vector3<f64>> {
        let numbers = |parts: &[Formula; 3]| {
            let [x, y, z] = parts.each_ref().map(Formula::constant);
            Some(Vector3::new(x?, y?, z?))
        };
        let turns = self.in_body || self.point != Vector3::zeros();
        let force = numbers(&self.force)?;
        let torque = numbers(&self.torque)?;
        let is_constant = torque == Vector3::zeros() && (!turns || force == Vector3::zeros());
        is_constant.then_some(force)
    }
}

/// Values of three formulas, with their derivatives by the velocity and the angular velocity in space as rows.
fn evaluate(
    parts: &[Formula; 3],
    variables: &[f64; 10],
    jets: &mut Jets,
) -> (Vector3<f64>, [Matrix3<f64>; 2]) {
    let mut value = Vector3::zeros();
    let mut slopes = [Matrix3::zeros(); 2];
    for (k, part) in parts.iter().enumerate() {
        let (number, by) = part.value(variables, jets);
        value[k] = number;
        for (which, slope) in slopes.iter_mut().enumerate() {
            slope.set_row(k, &by.fixed_rows::<3>(3 * which).transpose());
        }
    }
    (value, slopes)
}

impl Load for AppliedForce {
    fn wrench(&self, at: &Moving<'_>) -> (Vector6<f64>, Matrix6<f64>) {
        let rotation = at.place.rotation.matrix();
        let (x, v, w) = (&at.place.position, &at.velocity, rotation * at.spin);
        let variables = [at.time, x.x, x.y, x.z, v.x, v.y, v.z, w.x, w.y, w.z];
        let mut jets = Jets::default();
        let (mut force, mut by_force) = evaluate(&self.force, &variables, &mut jets);
        let (mut couple, mut by_couple) = evaluate(&self.torque, &variables, &mut jets);
        if self.in_body {
            force = rotation * force;
            by_force = by_force.map(|slope| rotation * slope);
        } else {
            couple = rotation.tr_mul(&couple);
            by_couple = by_couple.map(|slope| rotation.tr_mul(&slope));
        }
        if self.point != Vector3::zeros() {
            let arm = self.point.cross_matrix() * rotation.transpose();
            couple += arm * force;
            for (slope, of_force) in by_couple.iter_mut().zip(&by_force) {
                *slope += arm * of_force;
            }
        }
        let mut slope = Matrix6::zeros();
        for (row, [by_v, by_w]) in [(0, by_force), (3, by_couple)] {
            slope.fixed_view_mut::<3, 3>(row, 0).copy_from(&by_v);
            // The angular velocity of the state is one in body axes.
            let by_spin = by_w * rotation;
            slope.fixed_view_mut::<3, 3>(row, 3).copy_from(&by_spin);
        }
        (stack(&force, &couple), slope)
    }

    fn uses_velocity(&self) -> bool {
        let mut parts = self.force.iter().chain(&self.torque);
        parts.any(Formula::uses_velocity)
    }
}

/// All loads of a body.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct Loads {
    /// Drag of the medium.
    pub drag: Drag,
    /// Forces and torques.
    pub forces: Vec<AppliedForce>,
}

/// Force in space (N) and couple in body axes (N m) of the loads of a body, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Pull {
    /// Drag.
    pub drag: Vector6<f64>,
    /// Other loads.
    pub applied: Vector6<f64>,
    /// Springs, without their dampers.
    pub elastic: Vector6<f64>,
    /// Dampers of springs.
    pub damped: Vector6<f64>,
}

impl std::ops::AddAssign for Pull {
    fn add_assign(&mut self, other: Self) {
        self.drag += other.drag;
        self.applied += other.applied;
        self.elastic += other.elastic;
        self.damped += other.damped;
    }
}

/// Works of a kick (J).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct KickWorks {
    /// Loss by drag.
    pub drag: f64,
    /// Work of forces.
    pub applied: f64,
    /// Loss in the dampers of springs.
    pub damped: f64,
}

impl Pull {
    /// Returns the sum of all loads.
    pub fn total(&self) -> Vector6<f64> {
        self.drag + self.applied + self.springs()
    }

    /// Returns the sum of all loads but those of springs.
    pub fn loads(&self) -> Vector6<f64> {
        self.drag + self.applied
    }

    /// Returns the loads of springs with their dampers.
    pub fn springs(&self) -> Vector6<f64> {
        self.elastic + self.damped
    }

    /// Returns the mean of two pulls.
    #[must_use]
    pub fn mean(&self, other: &Self) -> Self {
        Self {
            drag: (self.drag + other.drag) * 0.5,
            applied: (self.applied + other.applied) * 0.5,
            elastic: (self.elastic + other.elastic) * 0.5,
            damped: (self.damped + other.damped) * 0.5,
        }
    }

    /// Returns the works (J) of a kick of length `half` (s) between two velocities. That of springs is in their energy.
    pub fn works(&self, half: f64, before: &Vector6<f64>, after: &Vector6<f64>) -> KickWorks {
        let way = (before + after) * (0.5 * half);
        KickWorks {
            drag: -self.drag.dot(&way),
            applied: self.applied.dot(&way),
            damped: -self.damped.dot(&way),
        }
    }
}

impl Loads {
    /// Describes a body with drag and forces.
    pub fn new(drag: Drag, forces: Vec<AppliedForce>) -> Self {
        Self { drag, forces }
    }

    /// Returns the first number out of its range, with its name and this range.
    pub fn out_of_range(&self) -> Option<(&'static str, f64, &'static str)> {
        let drag = &self.drag;
        let coefficients = [
            ("linear", drag.linear),
            ("quadratic", drag.quadratic),
            ("rotational", drag.rotational),
            ("rotational_quadratic", drag.rotational_quadratic),
        ];
        let bad = coefficients
            .into_iter()
            .find(|(_, c)| !(*c >= 0.0 && c.is_finite()));
        let of_force = |force: &AppliedForce| {
            let constant =
                |list: &[Formula; 3]| list.clone().map(|one| one.constant().unwrap_or(0.0));
            let numbers = [
                ("force", constant(&force.force)),
                ("torque", constant(&force.torque)),
                ("point", force.point.into()),
            ];
            let all = numbers
                .into_iter()
                .flat_map(|(name, list)| list.map(|x| (name, x)));
            all.into_iter().find(|(_, x)| !x.is_finite())
        };
        match bad {
            Some((name, value)) => Some((name, value, "finite and at least 0")),
            None => {
                let (name, value) = self.forces.iter().find_map(of_force)?;
                Some((name, value, "finite"))
            }
        }
    }

    /// True without any load.
    pub fn is_empty(&self) -> bool {
        self.drag == Drag::default() && self.forces.is_empty()
    }

    /// Returns the sum of the forces that are constant in space and act on the center of mass (N): with them, flights are those in
    /// another gravity.
    pub fn constant(&self) -> Vector3<f64> {
        self.forces.iter().filter_map(AppliedForce::constant).sum()
    }

    /// Returns the loads that are no [`constant`](Self::constant) force: those that act in kicks.
    fn kicking(&self) -> impl Iterator<Item = &dyn Load> {
        let drag = (self.drag != Drag::default()).then_some(&self.drag as &dyn Load);
        let forces = self
            .forces
            .iter()
            .filter(|force| force.constant().is_none());
        drag.into_iter()
            .chain(forces.map(|force| force as &dyn Load))
    }

    /// True if some load acts in kicks.
    pub fn kicks(&self) -> bool {
        self.kicking().next().is_some()
    }

    /// True if some load depends on the velocity.
    pub fn uses_velocity(&self) -> bool {
        self.kicking().any(Load::uses_velocity)
    }

    /// Returns the loads that act in kicks, with the derivative of their sum.
    fn pull(&self, at: &Moving<'_>) -> Result<(Pull, Matrix6<f64>), VariationalError> {
        let (mut pull, mut slope) = (Pull::default(), Matrix6::zeros());
        for load in self.kicking() {
            let (wrench, by) = load.wrench(at);
            if !wrench.iter().all(|x| x.is_finite()) {
                return Err(VariationalError::ForceNotFinite { time: at.time });
            }
            if load.is_drag() {
                pull.drag += wrench;
            } else {
                pull.applied += wrench;
            }
            slope += by;
        }
        Ok((pull, slope))
    }

    /// Returns the pull at `time` (s) in a state.
    ///
    /// # Errors
    ///
    /// [`VariationalError::ForceNotFinite`].
    pub fn explicit(
        &self,
        body: &RigidBody,
        time: f64,
        state: &State,
    ) -> Result<Pull, VariationalError> {
        let at = Moving {
            time,
            place: state,
            velocity: state.linear_momentum / body.mass(),
            spin: body.angular_velocity(&state.angular_momentum),
        };
        self.pull(&at).map(|(pull, _)| pull)
    }

    /// Returns the pull at `time` (s) in the place of a state, with the velocity after it has acted on the momenta of the state for
    /// `half` (s): the solution $v$ of $Mv = p + \tfrac h2F(v)$, by Newton's method.
    ///
    /// # Errors
    ///
    /// [`VariationalError::ForceNotFinite`], and [`VariationalError::ForceNotSettled`] if no such velocity is found.
    pub fn implicit(
        &self,
        body: &RigidBody,
        time: f64,
        state: &State,
        half: f64,
    ) -> Result<Pull, VariationalError> {
        let mut at = Moving {
            time,
            place: state,
            velocity: state.linear_momentum / body.mass(),
            spin: body.angular_velocity(&state.angular_momentum),
        };
        let (mut pull, mut slope) = self.pull(&at)?;
        if !self.uses_velocity() {
            return Ok(pull);
        }
        let momenta = stack(&state.linear_momentum, &state.angular_momentum);
        let mut mass = Matrix6::zeros();
        mass.fixed_view_mut::<3, 3>(0, 0)
            .copy_from(&(Matrix3::identity() * body.mass()));
        mass.fixed_view_mut::<3, 3>(3, 3).copy_from(body.inertia());
        let mut last = f64::INFINITY;
        for _ in 0..MOST_TURNS {
            let velocity = stack(&at.velocity, &at.spin);
            let residual = momenta + pull.total() * half - mass * velocity;
            let change = (mass - slope * half).lu().solve(&residual);
            let Some(change) = change.filter(|change| change.iter().all(|x| x.is_finite())) else {
                break;
            };
            let next = velocity + change;
            (at.velocity, at.spin) = (
                next.fixed_rows::<3>(0).into(),
                next.fixed_rows::<3>(3).into(),
            );
            (pull, slope) = self.pull(&at)?;
            let part = |first: usize| {
                let most =
                    velocity.fixed_rows::<3>(first).amax() + next.fixed_rows::<3>(first).amax();
                let moved = change.fixed_rows::<3>(first).amax();
                if moved > 0.0 { moved / most } else { 0.0 }
            };
            let moved = part(0).max(part(3));
            // Rounding of the residual can keep the last digits moving.
            let stalls = moved >= last && moved <= f64::EPSILON.sqrt();
            if moved <= 2.0 * f64::EPSILON || stalls {
                return Ok(pull);
            }
            last = moved;
        }
        Err(VariationalError::ForceNotSettled { step: 2.0 * half })
    }
}

impl State {
    /// Returns the state after an impulse in space (N s) and an angular impulse in body axes (N m s), one after the other.
    #[must_use]
    pub fn kicked(&self, impulse: &Vector6<f64>) -> Self {
        Self {
            linear_momentum: self.linear_momentum + impulse.fixed_rows::<3>(0),
            angular_momentum: self.angular_momentum + impulse.fixed_rows::<3>(3),
            ..*self
        }
    }
}

fn stack(first: &Vector3<f64>, second: &Vector3<f64>) -> Vector6<f64> {
    Vector6::new(first.x, first.y, first.z, second.x, second.y, second.z)
}
