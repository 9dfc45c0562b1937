//! Keys `[[joints]]` of a world, and their checks.

use super::numbers::{Bounds, Numbers};
use crate::ScenarioError;
use carom_lie::So3;
use carom_numeric::expression::{Expression, Names, Scalar, Type};
use carom_world::joints::coordinates::{Actuator, CoordinateSpec, Rule, Signal, Table};
use carom_world::joints::frames::Frame;
use carom_world::joints::kinds::{KINDS, Kind};
use carom_world::joints::{BallSpec, JointSpec};
use nalgebra::{Matrix3, Vector3};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct JointConfig {
    pub(in super::super) name: String,
    #[serde(rename = "type")]
    pub(in super::super) kind: String,
    pub(in super::super) parent: Option<String>,
    pub(in super::super) child: String,
    #[serde(default)]
    pub(in super::super) parent_frame: FrameConfig,
    #[serde(default)]
    pub(in super::super) child_frame: FrameConfig,
    pub(in super::super) axis: Option<[f64; 3]>,
    pub(in super::super) axis2: Option<[f64; 3]>,
    pub(in super::super) axes: Option<[[f64; 3]; 3]>,
    pub(in super::super) anchors: Option<Vec<[f64; 3]>>,
    pub(in super::super) names: Option<Vec<String>>,
    pub(in super::super) length: Option<f64>,
    pub(in super::super) position: Option<Numbers>,
    pub(in super::super) velocity: Option<Numbers>,
    pub(in super::super) limits: Option<LimitsConfig>,
    pub(in super::super) stiffness: Option<Numbers>,
    pub(in super::super) rest: Option<Numbers>,
    pub(in super::super) damping: Option<Numbers>,
    pub(in super::super) friction: Option<Numbers>,
    pub(in super::super) armature: Option<Numbers>,
    pub(in super::super) actuator: Option<ActuatorConfig>,
    pub(in super::super) actuators: Option<Vec<ActuatorConfig>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct FrameConfig {
    #[serde(default)]
    pub(in super::super) position: [f64; 3],
    pub(in super::super) quaternion: Option<[f64; 4]>,
    pub(in super::super) rotation: Option<[[f64; 3]; 3]>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct LimitsConfig {
    pub(in super::super) lower: Option<Bounds>,
    pub(in super::super) upper: Option<Bounds>,
    pub(in super::super) restitution: Option<Numbers>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Value {
    Number(f64),
    Text(String),
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct ActuatorConfig {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    value: Option<Value>,
    times: Option<Vec<f64>>,
    values: Option<Vec<f64>>,
    proportional: Option<f64>,
    derivative: Option<f64>,
    limit: Option<f64>,
}

/// Creates an error from a key of a joint and a message.
type Fault<'f> = dyn Fn(&str, String) -> ScenarioError + 'f;

/// Specification of a joint, with the names of its coordinates.
pub(super) struct Built {
    pub(super) spec: JointSpec,
    pub(super) names: Vec<String>,
}

/// Names of the bodies, with true for those that move, and names of the planes.
pub(super) struct Things<'a> {
    pub(super) bodies: &'a [(String, bool)],
    pub(super) planes: &'a [String],
    /// Numbers that expressions of actuators may name.
    pub(super) parameters: &'a BTreeMap<String, f64>,
}

impl JointConfig {
    /// True for a `free` joint to the ground.
    pub(in super::super) fn holds_nothing(&self) -> bool {
        let parent = self.parent.as_deref().unwrap_or("ground");
        self.kind == "free" && parent == "ground"
    }

    pub(super) fn build(&self, key: &str, things: &Things<'_>) -> Result<Built, ScenarioError> {
        let fault = |part: &str, message: String| {
            ScenarioError::value(
                &format!("{key}.{part}"),
                format!("`{}`: {message}", self.name),
            )
        };
        let Some(kind) = Kind::named(&self.kind) else {
            let known: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
            let message = format!("unknown type `{}`; known: {}", self.kind, known.join(", "));
            return Err(fault("type", message));
        };
        self.check_keys(kind, &fault)?;
        self.check_effect(&fault)?;
        let find = |part: &str, name: &str| {
            if things.planes.iter().any(|plane| plane == name) {
                return Err(fault(part, format!("`{name}` is a plane: use \"ground\"")));
            }
            let found = things.bodies.iter().position(|(body, _)| body == name);
            found.ok_or_else(|| fault(part, format!("no body is called `{name}`")))
        };
        let parent = match self.parent.as_deref() {
            None | Some("ground") => None,
            Some(name) => Some(find("parent", name)?),
        };
        let child = find("child", &self.child)?;
        if parent == Some(child) {
            return Err(fault(
                "child",
                format!("`{}` is parent and child", self.child),
            ));
        }
        if !things.bodies[child].1 {
            let message = format!("`{}` is fixed; make it the parent", self.child);
            return Err(fault("child", message));
        }
        let names = self.coordinate_names(kind, &fault)?;
        let coordinates = self.coordinates(kind, things.parameters, &fault)?;
        let ball = self.ball(kind, &fault)?;
        let mut spec = JointSpec::new(self.name.clone(), kind, parent, child)
            .with_frames(
                self.parent_frame.build(&format!("{key}.parent_frame"))?,
                self.child_frame.build(&format!("{key}.child_frame"))?,
            )
            .with_axes(self.given_axes(kind, &fault)?)
            .with_coordinates(coordinates);
        spec.anchors = self.given_anchors(kind, &fault)?;
        (spec.length, spec.ball) = (self.length, ball);
        Ok(Built { spec, names })
    }

    /// Rejects keys that the joint type `kind` does not have.
    fn check_keys(&self, kind: &Kind, fault: &Fault<'_>) -> Result<(), ScenarioError> {
        let n_axes = kind.axes.count();
        let ball = kind.is_spherical();
        let some = !kind.coordinates.is_empty();
        let keys = [
            ("axis", self.axis.is_some(), matches!(n_axes, 1 | 2)),
            ("axis2", self.axis2.is_some(), n_axes == 2),
            ("axes", self.axes.is_some(), n_axes == 3),
            ("anchors", self.anchors.is_some(), kind.has_anchors()),
            ("names", self.names.is_some(), some),
            ("length", self.length.is_some(), kind.name == "distance"),
            ("position", self.position.is_some(), some || ball),
            ("velocity", self.velocity.is_some(), some || ball),
            ("limits", self.limits.is_some(), some || ball),
            ("stiffness", self.stiffness.is_some(), some),
            ("rest", self.rest.is_some(), some),
            ("damping", self.damping.is_some(), some || ball),
            ("friction", self.friction.is_some(), some),
            ("armature", self.armature.is_some(), some),
            ("actuator", self.actuator.is_some(), some),
            ("actuators", self.actuators.is_some(), some),
        ];
        for (name, given, taken) in keys {
            if given && !taken {
                return Err(fault(name, format!("is no key of a `{}` joint", kind.name)));
            }
        }
        if self.actuator.is_some() && self.actuators.is_some() {
            let message = "give either `actuator` or `actuators`".to_owned();
            return Err(fault("actuators", message));
        }
        Ok(())
    }

    /// Rejects keys that have no effect: a restitution without a limit, or a rest position without a spring.
    fn check_effect(&self, fault: &Fault<'_>) -> Result<(), ScenarioError> {
        if let Some(limits) = &self.limits {
            if limits.lower.is_none() && limits.upper.is_none() {
                let message = "nothing is limited: give `lower`, `upper` or both".to_owned();
                return Err(fault("limits", message));
            }
            let bounds = [&limits.lower, &limits.upper];
            let is_limited = |k: usize| {
                let bound = |b: &Option<Bounds>| b.as_ref().and_then(|bounds| bounds.0.at(k));
                bounds
                    .iter()
                    .any(|b| bound(b).is_some_and(|bound| bound.is_finite()))
            };
            if let Some(Numbers::Each(list)) = &limits.restitution
                && let Some(k) = (0..list.len()).find(|k| list[*k] != 0.0 && !is_limited(*k))
            {
                let message = format!(
                    "{} of the coordinate {k}, counted from 0, which has no limit",
                    list[k]
                );
                return Err(fault("limits.restitution", message));
            }
        }
        let is_zero = |numbers: &Numbers| match numbers {
            Numbers::One(x) => *x == 0.0,
            Numbers::Each(list) => list.iter().all(|x| *x == 0.0),
        };
        match &self.rest {
            Some(rest) if self.stiffness.is_none() && !is_zero(rest) => {
                let message = "without `stiffness` there is no spring that is slack there";
                Err(fault("rest", message.to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn coordinate_names(
        &self,
        kind: &Kind,
        fault: &Fault<'_>,
    ) -> Result<Vec<String>, ScenarioError> {
        let n = kind.coordinates.len();
        // The angle of a limited spherical joint is a coordinate in the run only.
        let upper = self
            .limits
            .as_ref()
            .and_then(|limits| limits.upper.as_ref());
        if kind.is_spherical() && upper.is_some_and(Bounds::is_finite) {
            return Ok(vec![self.name.clone()]);
        }
        if let Some(names) = &self.names {
            if names.len() != n {
                return Err(fault(
                    "names",
                    format!("{} names for {n} coordinates", names.len()),
                ));
            }
            return Ok(names.clone());
        }
        let one = |suffix: &str| match suffix {
            "" => self.name.clone(),
            suffix => format!("{}.{suffix}", self.name),
        };
        Ok(kind.coordinates.iter().map(|c| one(c.suffix)).collect())
    }

    fn given_axes(
        &self,
        kind: &Kind,
        fault: &Fault<'_>,
    ) -> Result<Vec<Vector3<f64>>, ScenarioError> {
        let finite = |key: &str, axis: &[f64; 3]| {
            if axis.iter().all(|x| x.is_finite()) && axis.iter().any(|x| *x != 0.0) {
                return Ok(Vector3::from(*axis));
            }
            Err(fault(key, format!("{axis:?} has no direction")))
        };
        match (kind.axes.count(), &self.axis, &self.axis2, &self.axes) {
            (1, Some(axis), _, _) => Ok(vec![finite("axis", axis)?]),
            (2, None, None, _) => Ok(Vec::new()),
            (2, first, second, _) => Ok(vec![
                finite("axis", &first.unwrap_or([1.0, 0.0, 0.0]))?,
                finite("axis2", &second.unwrap_or([0.0, 1.0, 0.0]))?,
            ]),
            (3, _, _, Some(axes)) => axes.iter().map(|axis| finite("axes", axis)).collect(),
            _ => Ok(Vec::new()),
        }
    }

    fn given_anchors(
        &self,
        kind: &Kind,
        fault: &Fault<'_>,
    ) -> Result<Vec<Vector3<f64>>, ScenarioError> {
        let Some(anchors) = &self.anchors else {
            return Ok(Vec::new());
        };
        let n = kind.axes.count();
        if anchors.len() != n {
            let message = format!("{} points for {n} axes", anchors.len());
            return Err(fault("anchors", message));
        }
        if let Some(point) = anchors.iter().find(|p| !p.iter().all(|x| x.is_finite())) {
            return Err(fault("anchors", format!("{point:?} is no point")));
        }
        Ok(anchors.iter().map(|point| Vector3::from(*point)).collect())
    }

    fn coordinates(
        &self,
        kind: &Kind,
        parameters: &BTreeMap<String, f64>,
        fault: &Fault<'_>,
    ) -> Result<Vec<CoordinateSpec>, ScenarioError> {
        let n = kind.coordinates.len();
        if n == 0 {
            return Ok(Vec::new());
        }
        // One number for all coordinates is allowed except for positions and velocities.
        let spread = |key: &str, numbers: &Option<Numbers>, all: bool| {
            let Some(numbers) = numbers else {
                return Ok(None);
            };
            let list = match numbers {
                Numbers::One(x) if all || n == 1 => vec![*x; n],
                Numbers::One(_) => {
                    return Err(fault(key, format!("a list of {n} numbers is needed")));
                }
                Numbers::Each(list) => list.clone(),
            };
            if list.len() != n {
                return Err(fault(
                    key,
                    format!("{} numbers for {n} coordinates", list.len()),
                ));
            }
            if let Some(x) = list.iter().find(|x| x.is_nan()) {
                return Err(fault(key, format!("{x} is no number")));
            }
            Ok(Some(list))
        };
        let limits = self.limits.as_ref();
        let bound = |bounds: &Option<Bounds>| bounds.as_ref().map(Bounds::numbers);
        let lower = limits.and_then(|limits| bound(&limits.lower));
        let upper = limits.and_then(|limits| bound(&limits.upper));
        let restitution = limits.and_then(|limits| limits.restitution.clone());
        let position = spread("position", &self.position, false)?;
        let velocity = spread("velocity", &self.velocity, false)?;
        let stiffness = spread("stiffness", &self.stiffness, true)?;
        let rest = spread("rest", &self.rest, true)?;
        let damping = spread("damping", &self.damping, true)?;
        let friction = spread("friction", &self.friction, true)?;
        let armature = spread("armature", &self.armature, true)?;
        let lower = spread("limits.lower", &lower, true)?;
        let upper = spread("limits.upper", &upper, true)?;
        let restitution = spread("limits.restitution", &restitution, true)?;
        let actuators = self.drives(n, parameters, fault)?;
        let of = |list: &Option<Vec<f64>>, k: usize, default: f64| {
            list.as_ref()
                .and_then(|list| list.get(k).copied())
                .unwrap_or(default)
        };
        let one = |(k, actuator): (usize, Option<Actuator>)| {
            CoordinateSpec::default()
                .with_position(position.as_ref().map(|list| list[k]))
                .with_velocity(velocity.as_ref().map(|list| list[k]))
                .with_limits(
                    of(&lower, k, f64::NEG_INFINITY),
                    of(&upper, k, f64::INFINITY),
                )
                .with_restitution(of(&restitution, k, 0.0))
                .with_spring(of(&stiffness, k, 0.0), of(&rest, k, 0.0))
                .with_damping(of(&damping, k, 0.0))
                .with_friction(of(&friction, k, 0.0))
                .with_armature(of(&armature, k, 0.0))
                .with_actuator(actuator)
        };
        Ok(actuators.into_iter().enumerate().map(one).collect())
    }

    fn drives(
        &self,
        n: usize,
        parameters: &BTreeMap<String, f64>,
        fault: &Fault<'_>,
    ) -> Result<Vec<Option<Actuator>>, ScenarioError> {
        let mut drives = Vec::with_capacity(n);
        if let Some(list) = &self.actuators {
            if list.len() != n {
                let message = format!("{} actuators for {n} coordinates", list.len());
                return Err(fault("actuators", message));
            }
            for (k, actuator) in list.iter().enumerate() {
                drives.push(actuator.build(&format!("actuators[{k}]"), parameters, fault)?);
            }
        } else if let Some(actuator) = &self.actuator {
            drives.push(actuator.build("actuator", parameters, fault)?);
        }
        drives.resize(n, None);
        Ok(drives)
    }

    fn ball(&self, kind: &Kind, fault: &Fault<'_>) -> Result<BallSpec, ScenarioError> {
        let mut ball = BallSpec::default();
        if !kind.is_spherical() {
            return Ok(ball);
        }
        if let Some(limits) = &self.limits {
            let one = |part: &str, numbers: Numbers| match numbers {
                Numbers::One(x) => Ok(x),
                Numbers::Each(_) => {
                    let message = "a spherical joint takes one number, for its angle of rotation";
                    Err(fault(part, message.to_owned()))
                }
            };
            if limits.lower.is_some() {
                let message =
                    "a spherical joint takes `upper` alone: its angle of rotation is at least 0";
                return Err(fault("limits.lower", message.to_owned()));
            }
            if let Some(upper) = &limits.upper {
                ball.upper = one("limits.upper", upper.numbers())?;
            }
            if let Some(restitution) = &limits.restitution {
                ball.restitution = one("limits.restitution", restitution.clone())?;
            }
        }
        match &self.damping {
            None => (),
            Some(Numbers::One(x)) => ball.damping = *x,
            Some(Numbers::Each(_)) => {
                return Err(fault(
                    "damping",
                    "a spherical joint takes one number".to_owned(),
                ));
            }
        }
        if let Some(position) = &self.position {
            let Numbers::Each(list) = position else {
                return Err(fault(
                    "position",
                    "a quaternion [w, x, y, z] is needed".to_owned(),
                ));
            };
            let [w, x, y, z] = list.as_slice() else {
                return Err(fault("position", format!("{} numbers, not 4", list.len())));
            };
            let turn = crate::config::normalized([*w, *x, *y, *z]);
            ball.position = Some(turn.map_err(|message| fault("position", message))?);
        }
        if let Some(velocity) = &self.velocity {
            let Numbers::Each(list) = velocity else {
                return Err(fault("velocity", "three numbers are needed".to_owned()));
            };
            let [x, y, z] = list.as_slice() else {
                return Err(fault("velocity", format!("{} numbers, not 3", list.len())));
            };
            ball.velocity = Some(Vector3::new(*x, *y, *z));
        }
        Ok(ball)
    }
}

/// Compiles an expression of the time `t` (s) and of parameters to a function that returns the force of an actuator. A value of the function is
/// NaN if the expression has no finite value; the run then ends.
fn signal(text: &str, parameters: &BTreeMap<String, f64>) -> Result<Signal, String> {
    let mut names = Names::default();
    names.add("t", Type::Float);
    let mut known = vec![Scalar::Float(0.0)];
    for (name, value) in parameters {
        names.add(name, Type::Float);
        known.push(Scalar::Float(*value));
    }
    let expression =
        Expression::parse(text, &names).map_err(|fault| format!("`{text}`: {fault}"))?;
    let value = move |time: f64| {
        let at = if known.len() == 1 {
            expression.value(&[Scalar::Float(time)], &mut Vec::new())
        } else {
            let mut values = known.clone();
            values[0] = Scalar::Float(time);
            expression.value(&values, &mut Vec::new())
        };
        match at {
            Some(Scalar::Float(value)) => value,
            _ => f64::NAN,
        }
    };
    let start = value(0.0);
    if !start.is_finite() {
        return Err(format!("`{text}` has no finite value at t = 0"));
    }
    Ok(Signal(Arc::new(value)))
}

impl FrameConfig {
    fn build(&self, key: &str) -> Result<Frame, ScenarioError> {
        crate::motion::finite(&format!("{key}.position"), &self.position)?;
        let rotation = match (&self.quaternion, &self.rotation) {
            (None, None) => So3::identity(),
            (Some(_), Some(_)) => {
                let message = "give either a quaternion or a rotation";
                return Err(ScenarioError::value(&format!("{key}.quaternion"), message));
            }
            (Some(q), None) => crate::motion::unit_quaternion(&format!("{key}.quaternion"), *q)?,
            (None, Some(rows)) => So3::from_matrix(&Matrix3::from_fn(|i, j| rows[i][j]))
                .map_err(|error| ScenarioError::value(&format!("{key}.rotation"), error))?,
        };
        Ok(Frame {
            position: Vector3::from(self.position),
            axes: rotation.matrix(),
        })
    }
}

impl ActuatorConfig {
    /// Sets the largest force (N or N m) of an actuator that has none.
    pub(in super::super) fn with_limit(mut self, limit: Option<f64>) -> Self {
        self.limit = self.limit.or(limit);
        self
    }

    fn build(
        &self,
        key: &str,
        parameters: &BTreeMap<String, f64>,
        fault: &Fault<'_>,
    ) -> Result<Option<Actuator>, ScenarioError> {
        let of = |part: &str, message: String| fault(&format!("{key}.{part}"), message);
        let given = [
            ("value", self.value.is_some()),
            ("times", self.times.is_some()),
            ("values", self.values.is_some()),
            ("proportional", self.proportional.is_some()),
            ("derivative", self.derivative.is_some()),
            ("limit", self.limit.is_some()),
        ];
        let Some(kind) = self.kind.as_deref() else {
            return match given.iter().find(|(_, given)| *given) {
                None => Ok(None),
                Some(_) => Err(of("type", "missing".to_owned())),
            };
        };
        let takes: &[&str] = match kind {
            "constant" | "expression" => &["value", "limit"],
            "table" => &["times", "values", "limit"],
            "pd" => &["times", "values", "proportional", "derivative", "limit"],
            other => {
                let message = format!("unknown `{other}`; known: constant, table, pd, expression");
                return Err(of("type", message));
            }
        };
        if let Some((name, _)) = given
            .iter()
            .find(|(name, given)| *given && !takes.contains(name))
        {
            return Err(of(name, format!("is no key of a `{kind}` actuator")));
        }
        let table = || {
            let (times, values) = (self.times.clone(), self.values.clone());
            let missing = |part: &str| of(part, "missing".to_owned());
            let times = times.ok_or_else(|| missing("times"))?;
            let values = values.ok_or_else(|| missing("values"))?;
            let message = format!("{times:?} must increase, with as many values");
            Table::new(times, values).ok_or_else(|| of("times", message))
        };
        let rule = match (kind, &self.value) {
            ("constant", Some(Value::Number(value))) if value.is_finite() => Rule::Constant(*value),
            ("constant", _) => return Err(of("value", "a finite number is needed".to_owned())),
            ("expression", Some(Value::Text(text))) => {
                let signal = signal(text, parameters).map_err(|message| of("value", message))?;
                Rule::Signal(signal)
            }
            ("expression", _) => {
                let message = "a text is needed, such as \"0.4*sin(5.0*t)\"".to_owned();
                return Err(of("value", message));
            }
            ("table", _) => Rule::Table(table()?),
            _ => {
                let gain = |part: &str, value: Option<f64>| {
                    value.ok_or_else(|| of(part, "missing".to_owned()))
                };
                Rule::Pd {
                    proportional: gain("proportional", self.proportional)?,
                    derivative: self.derivative.unwrap_or(0.0),
                    target: table()?,
                }
            }
        };
        Ok(Some(
            Actuator::new(rule).with_limit(self.limit.unwrap_or(f64::INFINITY)),
        ))
    }
}
