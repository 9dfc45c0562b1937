//! A joint: specification, checks, frames, conditions and coordinates.

use crate::JointError;
use crate::coordinates::{CoordinateSpec, Rule, wrap};
use crate::frames::{Frame, Frames, Row, Side};
use crate::kinds::{Axes, Geometry, Kind, Rows, ball_rotation, branch};
use carom_lie::So3;
use carom_variational::State;
use nalgebra::{Matrix3, Vector3};

/// Largest cosine between axes that count as orthogonal.
const ORTHOGONAL: f64 = 1e-9;

/// Smallest sine of the angle between neighboring oblique axes. Forces between the bodies grow with its inverse; digits of
/// positions along nearly parallel slides are lost in the same ratio.
const OBLIQUE: f64 = 1e-6;

/// Specification of a joint between two bodies, or a body and the ground: type, bodies, frames, axes, and parameters of its
/// coordinates.
///
/// # Examples
///
/// ```
/// use carom_joints::frames::Frame;
/// use carom_joints::kinds::Kind;
/// use carom_joints::{Joint, JointSpec};
/// use nalgebra::Vector3;
/// let hinge = Kind::named("revolute").expect("a type of joint");
/// let top = Frame { position: Vector3::new(0.0, 0.0, 0.2), ..Frame::identity() };
/// let spec = JointSpec::new("hip", hinge, None, 0)
///     .with_frames(Frame::identity(), top)
///     .with_axes(vec![Vector3::y()]);
/// let hip = Joint::new(&spec)?;
/// // Of the six motions of a body a hinge leaves one.
/// assert_eq!((hip.kind.conditions.len(), hip.n_rates()), (5, 1));
/// # Ok::<(), carom_joints::JointError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct JointSpec {
    /// Name, unique among joints.
    pub name: String,
    /// Type of the joint.
    #[cfg_attr(feature = "serde", serde(with = "crate::kind_name"))]
    pub kind: KnownKind,
    /// Index of the parent body; `None` if the joint connects the child to the ground.
    pub parent: Option<usize>,
    /// Index of the child body.
    pub child: usize,
    /// Joint frame on the parent body: in body axes, or in world coordinates if the parent is the ground.
    pub parent_frame: Frame,
    /// Joint frame on the child body, in body axes.
    pub child_frame: Frame,
    /// Directions of the joint's axes in its frames, as many as the type requires; empty for the default axes of the type.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub axes: Vec<Vector3<f64>>,
    /// Point on each axis of a `biaxial` or `triaxial` joint at coordinates 0, in the joint's frames (m), one per axis; empty if all
    /// axes pass through the origin, and for other types.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub anchors: Vec<Vector3<f64>>,
    /// Distance (m) between the origins of the frames of a `distance` joint; `None` for other types.
    pub length: Option<f64>,
    /// Limits, springs, friction and actuators of the joint coordinates: one entry per coordinate of the type.
    pub coordinates: Vec<CoordinateSpec>,
    /// Attitude and velocity at the start, damping and limit of a spherical joint; not used for other types.
    pub ball: BallSpec,
}

impl JointSpec {
    /// Specifies a joint of the type `kind`: its name, and the indices of the parent body (`None` for the ground) and of the
    /// child body. Its frames are those of the bodies, its axes those of the type, and its coordinates are free.
    pub fn new(
        name: impl Into<String>,
        kind: &'static Kind,
        parent: Option<usize>,
        child: usize,
    ) -> Self {
        Self {
            name: name.into(),
            kind,
            parent,
            child,
            parent_frame: Frame::identity(),
            child_frame: Frame::identity(),
            axes: Vec::new(),
            anchors: Vec::new(),
            length: None,
            coordinates: vec![CoordinateSpec::default(); kind.coordinates.len()],
            ball: BallSpec::default(),
        }
    }

    /// Sets the joint frames: on the parent in its body axes (in world coordinates if it is the ground), and on the child in its
    /// body axes.
    pub fn with_frames(mut self, parent_frame: Frame, child_frame: Frame) -> Self {
        (self.parent_frame, self.child_frame) = (parent_frame, child_frame);
        self
    }
}

carom_numeric::setters!(JointSpec {
    /// Sets the directions of the axes in the joint's frames, as many as the type requires.
    with_axes: axes, Vec<Vector3<f64>>;
    /// Sets limits, springs, friction and actuators of the coordinates, one entry per coordinate of the type.
    with_coordinates: coordinates, Vec<CoordinateSpec>;
});

/// A joint type. Its own type, because serde borrows what is a reference by its looks.
type KnownKind = &'static Kind;

/// Parameters that only a spherical joint has: attitude and angular velocity at the start, damping, limit of the rotation
/// angle.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct BallSpec {
    /// Attitude of the child's joint frame relative to the parent's at the start; `None` if not specified.
    pub position: Option<So3>,
    /// Angular velocity of the child relative to the parent at the start, in the parent's joint frame (rad/s); `None` if not
    /// specified.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub velocity: Option<Vector3<f64>>,
    /// Viscous damping coefficient of the relative angular velocity (N m s/rad).
    pub damping: f64,
    /// Largest rotation angle of the child relative to the parent (rad); infinite if there is no limit.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub upper: f64,
    /// Coefficient of restitution when the rotation angle reaches `upper`, in \[0, 1\].
    pub restitution: f64,
}

impl Default for BallSpec {
    fn default() -> Self {
        Self {
            position: None,
            velocity: None,
            damping: 0.0,
            upper: f64::INFINITY,
            restitution: 0.0,
        }
    }
}

/// A joint between two bodies, or a body and the ground, whose specification has been checked.
#[derive(Clone, Debug)]
pub struct Joint {
    /// Name of the joint, unique in the system.
    pub name: String,
    /// Type of the joint.
    pub kind: &'static Kind,
    /// Index of the parent body; `None` if the joint connects the child to the ground.
    pub parent: Option<usize>,
    /// Index of the child body.
    pub child: usize,
    /// Joint frames in parent and child, rotated so that the axes of the joint are those of its type.
    frames: [Frame; 2],
    /// Rotation from the specified frames to the frames of the type.
    turned: Matrix3<f64>,
    geometry: Geometry,
    /// Limits, springs, friction and actuators of the joint coordinates, one entry per coordinate.
    pub coordinates: Vec<CoordinateSpec>,
    /// Damping and limit of a spherical joint; not used for other types.
    pub ball: BallSpec,
}

impl Joint {
    /// Creates a joint from its specification, which is checked.
    ///
    /// # Errors
    ///
    /// [`JointError::InvalidValue`], [`JointError::InvalidKey`].
    pub fn new(spec: &JointSpec) -> Result<Self, JointError> {
        let geometry = Geometry {
            length: length(spec)?,
            ..Geometry::default()
        };
        let (turned, geometry) = axes(spec, geometry)?;
        let geometry = anchors(spec, &turned, geometry)?;
        if spec.coordinates.len() != spec.kind.coordinates.len() {
            return Err(fault(
                spec,
                "coordinates",
                format!(
                    "are {}, not {}",
                    spec.kind.coordinates.len(),
                    spec.coordinates.len()
                ),
            ));
        }
        for coordinate in &spec.coordinates {
            check(spec, coordinate)?;
        }
        check_frames(spec)?;
        check_ball(spec)?;
        let (kind, coordinates) = match ball_limit(spec)? {
            Some(limit) => (Kind::bounded_ball(), vec![limit]),
            None => (spec.kind, spec.coordinates.clone()),
        };
        let place = |frame: &Frame| Frame {
            position: frame.position,
            axes: frame.axes * turned,
        };
        Ok(Self {
            name: spec.name.clone(),
            kind,
            parent: spec.parent,
            child: spec.child,
            frames: [place(&spec.parent_frame), place(&spec.child_frame)],
            turned,
            geometry,
            coordinates,
            ball: spec.ball,
        })
    }

    /// Returns the largest distance of the joint's frames from the centers of mass of the mobile bodies that it connects (m).
    /// `is_mobile` tells whether the body with a given index can move.
    pub fn reach(&self, is_mobile: impl Fn(usize) -> bool) -> f64 {
        let [first, _, last] = self.geometry.anchors;
        let distance = |frame: &Frame, anchor: Vector3<f64>| {
            let axis = frame.position + frame.axes * anchor;
            frame.position.norm().max(axis.norm())
        };
        let parent = match self.parent {
            Some(body) if is_mobile(body) => distance(&self.frames[0], first),
            _ => 0.0,
        };
        parent.max(distance(&self.frames[1], last))
    }

    /// Returns the joint's two frames in space, at given states of all bodies.
    pub fn frames(&self, states: &[State]) -> Frames {
        Frames {
            parent: Side::new(
                &self.frames[0],
                self.parent.and_then(|body| states.get(body)),
            ),
            child: Side::new(&self.frames[1], states.get(self.child)),
        }
    }

    /// Returns the residuals of the joint's constraint conditions, zero if they are satisfied: each is a length (m) or the
    /// cosine of an angle. `frames` are the joint's frames in space.
    pub fn residuals<'a>(&'a self, frames: &'a Frames) -> impl Iterator<Item = f64> + 'a {
        let all = self.kind.conditions.iter();
        all.map(move |condition| condition.residual(&self.geometry, frames))
    }

    /// Returns the Jacobian rows of the joint's constraint conditions: the derivatives of their residuals with respect to
    /// time, as linear functions of the velocities of parent and child.
    pub fn rows(&self, frames: &Frames) -> Rows {
        let all = self.kind.conditions.iter();
        all.map(|condition| condition.row(&self.geometry, frames))
            .collect()
    }

    /// Returns the Jacobian rows whose rates are the rates of the joint coordinates `q` (rad or m), as linear functions of
    /// the velocities of parent and child. For a spherical joint three rows for its relative angular velocity follow.
    pub fn rates(&self, frames: &Frames, q: &[f64]) -> Rows {
        let mut rows = Rows::new();
        (self.kind.rates)(&self.geometry, frames, q, &mut rows);
        rows
    }

    /// Appends the Jacobian rows of this joint to `out`: first the rows of the joint conditions, then one row per joint
    /// coordinate, whose product with the velocities is the rate of the coordinate. `q` are the values of the coordinates.
    pub(crate) fn add_rows(&self, frames: &Frames, q: &[f64], out: &mut Rows) {
        let all = self.kind.conditions.iter();
        out.extend(all.map(|it| it.row(&self.geometry, frames)));
        (self.kind.rates)(&self.geometry, frames, q, out);
    }

    /// Returns the number of rows that [`rates`](Self::rates) gives: one per coordinate, and three more for a spherical
    /// joint.
    pub fn n_rates(&self) -> usize {
        if self.kind.is_spherical() {
            self.first_couple() + 3
        } else {
            self.coordinates.len()
        }
    }

    /// Computes the values of the joint coordinates from the joint's frames in space, into `out` (rad or m). Each angle is
    /// shifted by a multiple of $2\pi$ to be closest to the angle in `near`, the coordinates of a nearby state.
    pub fn measure(&self, frames: &Frames, near: &[f64], out: &mut [f64]) {
        (self.kind.measure)(&self.geometry, frames, near, out);
        for (k, coordinate) in self.kind.coordinates.iter().enumerate() {
            if coordinate.is_angle {
                out[k] = near[k] + wrap(out[k] - near[k]);
            }
        }
    }

    /// Returns the rotation matrix of the child's joint frame relative to the parent's. The frames are those of the joint's
    /// specification; internally a joint may use frames that are turned against them.
    pub fn relative(&self, frames: &Frames) -> Matrix3<f64> {
        self.turned * frames.relative() * self.turned.transpose()
    }

    /// Returns the position (m) and the attitude of the child's joint frame relative to the parent's, at given values `q` of the
    /// joint coordinates.
    pub(crate) fn placed(&self, q: &[f64]) -> (Vector3<f64>, Matrix3<f64>) {
        match self.ball.position {
            Some(attitude) if self.kind.is_spherical() => (Vector3::zeros(), attitude.matrix()),
            _ => (self.kind.place)(&self.geometry, q),
        }
    }

    /// Returns the places where the joint holds parent and child, in space (m): the origins of its frames, or a point of the first
    /// and of the last axis of hinges in series.
    pub fn ends(&self, frames: &Frames) -> [Vector3<f64>; 2] {
        let [first, _, last] = self.geometry.anchors;
        let at = |side: &Side, anchor: Vector3<f64>| side.origin + side.axes * anchor;
        [at(&frames.parent, first), at(&frames.child, last)]
    }

    /// Returns the unit vector in space of the joint's axis that is fixed in the child; `None` if the joint has no such axis. A
    /// gimbal joint counts as a joint without axes.
    pub fn child_axis(&self, frames: &Frames) -> Option<Vector3<f64>> {
        match self.kind.axes {
            Axes::One => Some(frames.child.axis(2)),
            Axes::Two => Some(frames.child.axis(1)),
            Axes::Oblique(n) if self.kind.has_anchors() => {
                Some(frames.child.axes * self.geometry.axes[n - 1])
            }
            _ if self.kind.name == "planar" => Some(frames.child.axis(2)),
            _ => None,
        }
    }

    /// Returns the joint frame of the parent (`side` 0) or of the child (`side` 1), in body axes.
    pub(crate) fn frame(&self, side: usize) -> &Frame {
        &self.frames[side]
    }

    /// Returns the name of the joint's coordinate `k`: the joint's name, with a suffix if there are several coordinates, such
    /// as `hip.angle1`.
    pub fn coordinate_name(&self, k: usize) -> String {
        match self.kind.coordinates.get(k).map(|c| c.suffix) {
            None | Some("") => self.name.clone(),
            Some(suffix) => format!("{}.{suffix}", self.name),
        }
    }

    /// Returns the rotation angle of a spherical joint (rad), in \[0, π\], and the Jacobian row whose rate is the rate of
    /// this angle.
    pub fn ball_angle(&self, frames: &Frames) -> (f64, Row) {
        ball_rotation(frames)
    }

    /// Returns the position, among the rate rows of a spherical joint, of the first of the three rows for the relative
    /// angular velocity. The position is 1 if the rotation angle has a limit, otherwise 0.
    pub(crate) fn first_couple(&self) -> usize {
        self.coordinates.len()
    }
}

impl JointSpec {
    /// Returns an error unless the joint connects one of `n_bodies` bodies with another one or the ground.
    pub(crate) fn check_bodies(&self, n_bodies: usize) -> Result<(), JointError> {
        let is_body = |body: usize| body < n_bodies;
        let (what, body) = if !is_body(self.child) {
            ("child", self.child)
        } else if let Some(parent) = self.parent.filter(|p| !is_body(*p) || *p == self.child) {
            ("parent", parent)
        } else {
            return Ok(());
        };
        let problem = format!(
            "{body} must be the index of a body below {n_bodies}, child and parent different"
        );
        Err(fault(self, what, problem))
    }
}

fn fault(spec: &JointSpec, what: &'static str, problem: String) -> JointError {
    JointError::InvalidKey {
        joint: spec.name.clone(),
        what,
        problem,
    }
}

fn value(spec: &JointSpec, what: &'static str, value: f64, allowed: &str) -> JointError {
    JointError::InvalidValue {
        joint: spec.name.clone(),
        what,
        value,
        allowed: allowed.to_owned(),
    }
}

fn non_negative(spec: &JointSpec, what: &'static str, x: f64) -> Result<(), JointError> {
    if x >= 0.0 && x.is_finite() {
        return Ok(());
    }
    Err(value(spec, what, x, "at least 0 and finite"))
}

/// Returns the limit of a spherical joint's rotation angle in the form of a coordinate specification; `None` if there is no
/// limit. Fails if the limit is not between 0 and π.
fn ball_limit(spec: &JointSpec) -> Result<Option<CoordinateSpec>, JointError> {
    let (upper, restitution) = (spec.ball.upper, spec.ball.restitution);
    if !spec.kind.is_spherical() || upper == f64::INFINITY {
        return Ok(None);
    }
    if !(upper > 0.0 && upper < std::f64::consts::PI) {
        let allowed = "between 0 and pi: no angle of rotation exceeds pi";
        return Err(value(spec, "limits.upper", upper, allowed));
    }
    let limit = CoordinateSpec {
        upper,
        restitution,
        ..CoordinateSpec::default()
    };
    check(spec, &limit)?;
    Ok(Some(limit))
}

fn length(spec: &JointSpec) -> Result<f64, JointError> {
    match (spec.kind.name == "distance", spec.length) {
        (true, None) => Err(fault(spec, "length", "is missing".to_owned())),
        (true, Some(x)) if x > 0.0 && x.is_finite() => Ok(x),
        (true, Some(x)) => Err(value(spec, "length", x, "positive and finite")),
        (false, Some(_)) => Err(fault(
            spec,
            "length",
            format!("is no key of a `{}` joint", spec.kind.name),
        )),
        (false, None) => Ok(0.0),
    }
}

/// Returns the rotation from the specified joint frames to the frames of the joint's type, and the geometric constants. The
/// rotation maps the axes x, y, z that the type uses to the specified axes. In the constants, the angle of a third axis is filled
/// in. Fails if the axes do not fit the type.
fn axes(spec: &JointSpec, geometry: Geometry) -> Result<(Matrix3<f64>, Geometry), JointError> {
    let unit = |axis: &Vector3<f64>, what: &'static str| {
        let length = axis.norm();
        if length > 0.0 && length.is_finite() {
            return Ok(axis / length);
        }
        Err(fault(
            spec,
            what,
            format!("[{}, {}, {}] has no direction", axis.x, axis.y, axis.z),
        ))
    };
    let across = |a: &Vector3<f64>, b: &Vector3<f64>, what: &'static str| {
        let cosine = a.dot(b);
        if cosine.abs() <= ORTHOGONAL {
            return Ok(());
        }
        Err(fault(
            spec,
            what,
            format!("is not orthogonal to the axis before it: cosine {cosine:e}"),
        ))
    };
    let given = spec.axes.as_slice();
    if let Axes::Oblique(n) = spec.kind.axes {
        return oblique(spec, n, geometry, unit);
    }
    match (spec.kind.axes, given) {
        (_, []) if spec.kind.axes != Axes::Three => Ok((Matrix3::identity(), geometry)),
        (Axes::One, [axis]) => {
            let z = unit(axis, "axis")?;
            // The unit vector with the largest angle to z, made orthogonal.
            let least = z.iamin();
            let helper = Vector3::ith(least, 1.0);
            let x = helper.cross(&z).normalize();
            Ok((Matrix3::from_columns(&[x, z.cross(&x), z]), geometry))
        }
        (Axes::Two, [first, second]) => {
            let (x, y) = (unit(first, "axis")?, unit(second, "axis2")?);
            across(&x, &y, "axis2")?;
            let z = x.cross(&y).normalize();
            Ok((Matrix3::from_columns(&[x, z.cross(&x), z]), geometry))
        }
        (Axes::Three, []) => {
            let third = std::f64::consts::FRAC_PI_2;
            Ok((Matrix3::identity(), Geometry { third, ..geometry }))
        }
        (Axes::Three, [first, second, third]) => {
            let (x, y) = (unit(first, "axes")?, unit(second, "axes")?);
            let last = unit(third, "axes")?;
            across(&x, &y, "axes")?;
            across(&y, &last, "axes")?;
            let z = x.cross(&y).normalize();
            let third = libm::atan2(last.dot(&z), last.dot(&x));
            let turned = Matrix3::from_columns(&[x, z.cross(&x), z]);
            Ok((turned, Geometry { third, ..geometry }))
        }
        _ => Err(fault(
            spec,
            "axis",
            format!("does not fit a `{}` joint", spec.kind.name),
        )),
    }
}

/// Returns the rotation to the frames of a type with `n` oblique axes, and the geometric constants with the axes filled in. `unit`:
/// normalizes an axis. Fails if neighboring axes are parallel.
fn oblique(
    spec: &JointSpec,
    n: usize,
    geometry: Geometry,
    unit: impl Fn(&Vector3<f64>, &'static str) -> Result<Vector3<f64>, JointError>,
) -> Result<(Matrix3<f64>, Geometry), JointError> {
    let key = if n == 3 { "axes" } else { "axis2" };
    let mut axes = [0, 1, 2].map(|k| Vector3::ith(k, if k < n { 1.0 } else { 0.0 }));
    if !spec.axes.is_empty() {
        if spec.axes.len() != n {
            let problem = format!(
                "{} for the {n} axes of a `{}` joint",
                spec.axes.len(),
                spec.kind.name
            );
            return Err(fault(spec, key, problem));
        }
        for (k, axis) in spec.axes.iter().enumerate() {
            let key = if n == 2 && k == 0 { "axis" } else { key };
            axes[k] = unit(axis, key)?;
        }
    }
    for pair in axes[..n].windows(2) {
        let sine = pair[0].cross(&pair[1]).norm();
        if !(sine >= OBLIQUE) {
            let problem = format!("is parallel to the axis before it: sine {sine:e}");
            return Err(fault(spec, key, problem));
        }
    }
    let z = axes[0].cross(&axes[1]).normalize();
    let turned = Matrix3::from_columns(&[axes[0], z.cross(&axes[0]), z]);
    let axes = axes.map(|axis| turned.tr_mul(&axis));
    Ok((turned, Geometry { axes, ..geometry }))
}

/// Returns the geometric constants with the points of the axes of hinges in series filled in, in the frames that are `turned`
/// against the specified ones.
fn anchors(
    spec: &JointSpec,
    turned: &Matrix3<f64>,
    geometry: Geometry,
) -> Result<Geometry, JointError> {
    let n = spec.kind.coordinates.len();
    if !spec.kind.has_anchors() {
        if spec.anchors.is_empty() {
            return Ok(geometry);
        }
        let problem = format!("is no key of a `{}` joint", spec.kind.name);
        return Err(fault(spec, "anchors", problem));
    }
    if !spec.anchors.is_empty() && spec.anchors.len() != n {
        let problem = format!("has {} points for {n} axes", spec.anchors.len());
        return Err(fault(spec, "anchors", problem));
    }
    if let Some(x) = spec.anchors.iter().flatten().find(|x| !x.is_finite()) {
        return Err(value(spec, "anchors", *x, "finite"));
    }
    let anchors = [0, 1, 2].map(|k| {
        let point = spec.anchors.get(k).or(spec.anchors.last());
        point.map_or_else(Vector3::zeros, |point| turned.tr_mul(point))
    });
    let second = spec.coordinates.get(1).and_then(|c| c.position);
    Ok(Geometry {
        anchors,
        is_biaxial: n == 2,
        branch: branch(&geometry.axes, second.unwrap_or(0.0)),
        ..geometry
    })
}

/// Returns an error if an origin of the joint's frames is not finite, or their axes are no rotation.
fn check_frames(spec: &JointSpec) -> Result<(), JointError> {
    let frames = [
        ("parent_frame", &spec.parent_frame),
        ("child_frame", &spec.child_frame),
    ];
    for (what, frame) in frames {
        if let Some(x) = frame.position.iter().find(|x| !x.is_finite()) {
            return Err(value(spec, what, *x, "finite"));
        }
        if So3::from_matrix(&frame.axes).is_err() {
            return Err(fault(
                spec,
                what,
                "has axes that are no rotation".to_owned(),
            ));
        }
    }
    Ok(())
}

/// Returns an error if a number that only a spherical joint has is out of range.
fn check_ball(spec: &JointSpec) -> Result<(), JointError> {
    non_negative(spec, "damping", spec.ball.damping)?;
    if !(0.0..=1.0).contains(&spec.ball.restitution) {
        let restitution = spec.ball.restitution;
        return Err(value(spec, "limits.restitution", restitution, "in [0, 1]"));
    }
    let mut rates = spec.ball.velocity.iter().flatten();
    match rates.find(|x| !x.is_finite()) {
        Some(x) => Err(value(spec, "velocity", *x, "finite")),
        None => Ok(()),
    }
}

fn check(spec: &JointSpec, c: &CoordinateSpec) -> Result<(), JointError> {
    for (what, x) in [
        ("stiffness", c.stiffness),
        ("damping", c.damping),
        ("friction", c.friction),
        ("armature", c.armature),
    ] {
        non_negative(spec, what, x)?;
    }
    for (what, x) in [
        ("rest", Some(c.rest)),
        ("position", c.position),
        ("velocity", c.velocity),
    ] {
        if let Some(x) = x.filter(|x| !x.is_finite()) {
            return Err(value(spec, what, x, "finite"));
        }
    }
    if !(0.0..=1.0).contains(&c.restitution) {
        return Err(value(
            spec,
            "limits.restitution",
            c.restitution,
            "in [0, 1]",
        ));
    }
    if !(c.lower < c.upper) {
        let allowed = format!("below the upper limit {}", c.upper);
        return Err(value(spec, "limits.lower", c.lower, &allowed));
    }
    if let Some(actuator) = &c.actuator {
        if !(actuator.limit > 0.0) {
            return Err(value(spec, "actuator.limit", actuator.limit, "positive"));
        }
        if let Rule::Constant(x) = actuator.rule
            && !x.is_finite()
        {
            return Err(value(spec, "actuator.constant", x, "finite"));
        }
        non_negative(spec, "actuator.proportional", actuator.proportional())?;
        non_negative(spec, "actuator.derivative", actuator.derivative())?;
    }
    Ok(())
}
