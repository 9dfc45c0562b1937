//! Forces along a coordinate: springs, dampers, dry friction, rotors, limits, actuators.

use std::f64::consts::TAU;
use std::fmt;
use std::sync::Arc;

/// Returns the angle shifted by a multiple of $2\pi$ into \[−π, π\] (rad).
pub(crate) fn wrap(angle: f64) -> f64 {
    angle - TAU * (angle / TAU).round()
}

/// Parameters of one joint coordinate: range, initial value, spring, damper, dry friction, rotor and actuator; in SI units
/// (rad or m, N m or N).
///
/// # Examples
///
/// ```
/// use carom_joints::coordinates::{Actuator, CoordinateSpec, Rule};
/// // A knee that bends between 0 and 2.4 rad, with a spring and a constant torque of 3 N m.
/// let knee = CoordinateSpec::default()
///     .with_limits(0.0, 2.4)
///     .with_spring(6.0, 0.0)
///     .with_actuator(Actuator::new(Rule::Constant(3.0)));
/// // It rests where spring and actuator balance: 3/6 rad.
/// let torque = knee.actuator.as_ref().map_or(0.0, |a| a.force(0.5, 0.0, 0.0, false));
/// assert_eq!(torque - knee.stiffness * (0.5 - knee.rest), 0.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct CoordinateSpec {
    /// Value of the coordinate at the start (rad or m). `None` if not specified: the value then follows from the places of the
    /// bodies, or is 0 if this joint places a body.
    pub position: Option<f64>,
    /// Rate of the coordinate at the start (rad/s or m/s). `None` if not specified: the rate then follows from the velocities of
    /// the bodies, or is 0 if this joint places a body.
    pub velocity: Option<f64>,
    /// Lower limit of the coordinate (rad or m); −∞ if there is no limit.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub lower: f64,
    /// Upper limit of the coordinate (rad or m); ∞ if there is no limit.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub upper: f64,
    /// Coefficient of restitution at both limits, in \[0, 1\].
    pub restitution: f64,
    /// Stiffness of the spring along the coordinate (N/m or N m/rad); 0 if there is no spring.
    pub stiffness: f64,
    /// Value of the coordinate at which the spring force is zero (rad or m).
    pub rest: f64,
    /// Viscous damping coefficient along the coordinate (N s/m or N m s/rad).
    pub damping: f64,
    /// Largest force of dry friction along the coordinate (N or N m); 0 if there is no friction.
    pub friction: f64,
    /// Inertia of a motor's rotor that is geared to the coordinate (kg or kg m²). It is referred to the coordinate: the rotor's
    /// energy is half this inertia times the square of the coordinate's rate.
    pub armature: f64,
    /// Motor that drives the coordinate; `None` if there is no motor.
    pub actuator: Option<Actuator>,
}

impl CoordinateSpec {
    /// Sets the value of the coordinate at the start (rad or m); `None` if it follows from the places of the bodies.
    pub fn with_position(mut self, position: impl Into<Option<f64>>) -> Self {
        self.position = position.into();
        self
    }

    /// Sets the rate of the coordinate at the start (rad/s or m/s); `None` if it follows from the velocities of the bodies.
    pub fn with_velocity(mut self, velocity: impl Into<Option<f64>>) -> Self {
        self.velocity = velocity.into();
        self
    }

    /// Sets the lower and the upper limit of the coordinate (rad or m); infinite if the coordinate is free.
    pub fn with_limits(mut self, lower: f64, upper: f64) -> Self {
        (self.lower, self.upper) = (lower, upper);
        self
    }

    /// Sets the stiffness of the spring (N/m or N m/rad), and the coordinate at which its force is zero (rad or m).
    pub fn with_spring(mut self, stiffness: f64, rest: f64) -> Self {
        (self.stiffness, self.rest) = (stiffness, rest);
        self
    }

    /// Sets the motor that drives the coordinate; `None` for no motor.
    pub fn with_actuator(mut self, actuator: impl Into<Option<Actuator>>) -> Self {
        self.actuator = actuator.into();
        self
    }
}

carom_numeric::setters!(CoordinateSpec {
    /// Sets the coefficient of restitution at both limits, in \[0, 1\].
    with_restitution: restitution, f64;
    /// Sets the viscous damping coefficient (N s/m or N m s/rad).
    with_damping: damping, f64;
    /// Sets the largest force of dry friction (N or N m).
    with_friction: friction, f64;
    /// Sets the inertia of a geared rotor, referred to the coordinate (kg or kg m²).
    with_armature: armature, f64;
});

impl Default for CoordinateSpec {
    fn default() -> Self {
        Self {
            position: None,
            velocity: None,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            restitution: 0.0,
            stiffness: 0.0,
            rest: 0.0,
            damping: 0.0,
            friction: 0.0,
            armature: 0.0,
            actuator: None,
        }
    }
}

/// Piecewise linear function of time, given by values at increasing times (breakpoints) and constant before the first and
/// after the last. Gives the force or the target of an [`Actuator`].
///
/// # Examples
///
/// ```
/// use carom_joints::coordinates::Table;
/// let ramp = Table::new(vec![0.0, 2.0], vec![1.0, 5.0]).expect("times increase");
/// assert_eq!([ramp.value(-1.0), ramp.value(0.5), ramp.value(9.0)], [1.0, 2.0, 5.0]);
/// assert_eq!([ramp.slope(2.0, true), ramp.slope(2.0, false)], [2.0, 0.0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "TableForm"))]
pub struct Table {
    times: Vec<f64>,
    values: Vec<f64>,
}

/// Form in which a table is read.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct TableForm {
    times: Vec<f64>,
    values: Vec<f64>,
}

#[cfg(feature = "serde")]
impl TryFrom<TableForm> for Table {
    type Error = &'static str;

    fn try_from(form: TableForm) -> Result<Self, Self::Error> {
        let table = Self::new(form.times, form.values);
        table.ok_or("a table needs as many values as times, which increase")
    }
}

impl Table {
    /// Creates a piecewise linear function of time from breakpoints: `times` in s, and the value at each. Returns `None`
    /// unless both lists have entries and are of equal length, all numbers are finite, and the times increase.
    pub fn new(times: Vec<f64>, values: Vec<f64>) -> Option<Self> {
        let increase = times.windows(2).all(|pair| pair[0] < pair[1]);
        let finite = times.iter().chain(&values).all(|x| x.is_finite());
        let fits = !times.is_empty() && times.len() == values.len();
        (increase && finite && fits).then_some(Self { times, values })
    }

    /// Returns the times of the breakpoints of this piecewise linear function, at which the slope changes (s).
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Returns the value of this piecewise linear function at a time (s).
    pub fn value(&self, time: f64) -> f64 {
        let after = self.times.partition_point(|t| *t <= time);
        match (after.checked_sub(1), self.times.get(after)) {
            (None, _) => self.values[0],
            (Some(last), None) => self.values[last],
            (Some(i), Some(next)) => {
                let part = (time - self.times[i]) / (next - self.times[i]);
                self.values[i] + part * (self.values[after] - self.values[i])
            }
        }
    }

    /// Returns the time derivative of this piecewise linear function at a time (s). At a breakpoint, `before` selects the
    /// segment: true for the segment before the breakpoint, false for the segment after.
    pub fn slope(&self, time: f64, before: bool) -> f64 {
        let after = self
            .times
            .partition_point(|t| if before { *t < time } else { *t <= time });
        match after.checked_sub(1) {
            Some(i) if after < self.times.len() => {
                (self.values[after] - self.values[i]) / (self.times[after] - self.times[i])
            }
            _ => 0.0,
        }
    }
}

/// Force of an actuator along its joint coordinate (N or N m), as a function of time (s).
#[derive(Clone)]
pub struct Signal(pub Arc<dyn Fn(f64) -> f64 + Send + Sync>);

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signal")
    }
}

impl PartialEq for Signal {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Control law of an actuator: its force (N or N m) on a joint coordinate as a function of time, and for feedback of the
/// coordinate.
///
/// # Examples
///
/// ```
/// use carom_joints::coordinates::{Actuator, Rule, Table};
/// let target = Table::new(vec![0.0], vec![1.0]).expect("one value, held for ever");
/// let servo = Actuator::new(Rule::Pd { proportional: 20.0, derivative: 2.0, target })
///     .with_limit(15.0);
/// // 20 (1 - 0.5) - 2 · 1.5, and no more than 15.
/// assert_eq!(servo.force(0.5, 1.5, 0.0, false), 7.0);
/// assert_eq!(servo.force(-9.0, 0.0, 0.0, false), 15.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Rule {
    /// A constant force (N or N m).
    Constant(f64),
    /// A force (N or N m) tabulated over time (s).
    Table(Table),
    /// Proportional-derivative control: $k_p(\text{target} - q) + k_d(\dot{\text{target}} - \dot q)$ with the coordinate $q$.
    Pd {
        /// Proportional gain $k_p$ (N/m or N m/rad).
        proportional: f64,
        /// Derivative gain $k_d$ (N s/m or N m s/rad).
        derivative: f64,
        /// Target value of the coordinate (rad or m), tabulated over time (s).
        target: Table,
    },
    /// A force (N or N m) as a function of time (s), which cannot be written with the feature `serde`.
    #[cfg_attr(feature = "serde", serde(skip))]
    Signal(Signal),
}

/// An actuator (motor) that drives one joint coordinate: a control law, and a limit of the force.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Actuator {
    /// Control law that determines the force.
    pub rule: Rule,
    /// Largest absolute value of the force (N or N m); infinite if there is no limit.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub limit: f64,
}

carom_numeric::setters!(Actuator {
    /// Sets the control law that determines the force.
    with_rule: rule, Rule;
    /// Sets the largest absolute value of the force (N or N m), positive.
    with_limit: limit, f64;
});

impl Actuator {
    /// Creates an actuator without a limit of its force.
    pub fn new(rule: Rule) -> Self {
        Self {
            rule,
            limit: f64::INFINITY,
        }
    }

    /// Returns the force of the actuator (N or N m) for a coordinate with value `q` and rate zero; the limit of the force is not
    /// applied. With proportional-derivative control, the force contains the derivative gain times the rate of the target. At a
    /// breakpoint of the target, `before` selects its slope: true for the slope before the breakpoint, false for the slope after.
    pub(crate) fn drive(&self, q: f64, time: f64, before: bool) -> f64 {
        match &self.rule {
            Rule::Constant(value) => *value,
            Rule::Table(table) => table.value(time),
            Rule::Pd {
                proportional,
                derivative,
                target,
            } => proportional * (target.value(time) - q) + derivative * target.slope(time, before),
            Rule::Signal(Signal(value)) => value(time),
        }
    }

    /// Returns the derivative gain $k_d$ of the actuator: the damping that it adds to its coordinate (N s/m or N m
    /// s/rad). The gain is 0 for other control laws.
    pub(crate) fn derivative(&self) -> f64 {
        match &self.rule {
            Rule::Pd { derivative, .. } => *derivative,
            _ => 0.0,
        }
    }

    /// True if the actuator damps its coordinate: if its control law is proportional-derivative with a positive derivative
    /// gain.
    pub fn dissipates(&self) -> bool {
        self.derivative() > 0.0
    }

    /// Returns the proportional gain $k_p$ of the actuator: the stiffness that it adds to its coordinate (N/m or N
    /// m/rad). The gain is 0 for other control laws.
    pub(crate) fn proportional(&self) -> f64 {
        match &self.rule {
            Rule::Pd { proportional, .. } => *proportional,
            _ => 0.0,
        }
    }

    /// Returns the force of the actuator (N or N m), within its limit, at a value `q` of the coordinate (m or rad), its rate and
    /// a time (s). At a breakpoint of a piecewise linear target, `before` selects the slope of the target: true for the slope
    /// before the breakpoint, false for the slope after. NaN if the limit is negative or NaN.
    pub fn force(&self, q: f64, rate: f64, time: f64, before: bool) -> f64 {
        let force = self.drive(q, time, before) - self.derivative() * rate;
        if self.limit >= 0.0 {
            force.clamp(-self.limit, self.limit)
        } else {
            f64::NAN
        }
    }

    /// Returns this actuator with a constant target (rad or m); `None` unless its control is proportional-derivative.
    pub fn aimed_at(&self, value: f64) -> Option<Self> {
        let mut out = self.clone();
        match &mut out.rule {
            Rule::Pd { target, .. } => *target = Table::new(vec![0.0], vec![value])?,
            _ => return None,
        }
        Some(out)
    }

    /// Returns the times (s) at which the actuator's force, as a function of time, has a breakpoint (a change of slope).
    pub fn corners(&self) -> &[f64] {
        match &self.rule {
            Rule::Table(table) | Rule::Pd { target: table, .. } => table.times(),
            Rule::Constant(_) | Rule::Signal(_) => &[],
        }
    }
}
