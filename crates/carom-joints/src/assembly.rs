//! Initial placement of the bodies, and closing of the joints.

use crate::JointError;
use crate::elimination::{Elimination, rate};
use crate::frames::{Side, stack};
use crate::joint::Joint;
use crate::multibody::{Multibody, Posture};
use carom_lie::{Se3, So3};
use carom_numeric::dense::{lu, lu_solve};
use carom_variational::State;
use nalgebra::{Matrix3, Vector3, Vector6};

/// Residuals and differences above this fraction of the size of the system (for rates: of the speeds) are errors of the input.
pub(crate) const OPEN: f64 = 1e-6;

/// Residuals up to this fraction of the size of the system (for rates: of the speeds) come from rounded numbers and are closed.
const ROUNDED: f64 = 0.02;

/// Smallest scale of the tolerance of rates (m/s).
const LEAST_SPEED: f64 = 1e-6;

/// Amount by which a start may lie outside a limit (rad or m).
pub(crate) const LIMIT_SLACK: f64 = 1e-9;

/// Specified position, attitude and velocity of one body at the start of a motion; input of [`Multibody::assemble`].
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Placed {
    /// Position of the center of mass (m) and attitude, body to space; `None` if a joint determines the place of the body.
    pub configuration: Option<Se3>,
    /// Velocity of the center of mass in space (m/s).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub velocity: Vector3<f64>,
    /// Angular velocity of the body in space (rad/s).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub angular_velocity: Vector3<f64>,
}

carom_numeric::setters!(Placed {
    /// Sets position and attitude; `None` if a joint determines the place of the body.
    with_configuration: configuration, Option<Se3>;
    /// Sets the velocity of the center of mass in space (m/s).
    with_velocity: velocity, Vector3<f64>;
    /// Sets the angular velocity of the body in space (rad/s).
    with_angular_velocity: angular_velocity, Vector3<f64>;
});

/// Report of [`Multibody::assemble`]: how far the specified start was from satisfying the joint conditions, before they were
/// solved.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Assembly {
    /// Largest displacement (m) by which the assembly moved a body.
    pub moved: f64,
    /// Largest residual of a joint condition, as a length (m). The residual of a condition on an angle is a cosine; it is
    /// multiplied by the size of the system.
    pub residual: f64,
    /// True if the residual exceeds rounding of full numbers: 1e-6 of the size of the system.
    pub is_rounded: bool,
}

impl Multibody {
    /// Computes the initial state of a multibody system: places all bodies from the specified starts, and corrects positions
    /// and velocities until the joint conditions are satisfied. `given` has one entry per body. Also returns the size of the
    /// correction.
    ///
    /// # Errors
    ///
    /// [`JointError::WrongPlaces`], [`JointError::NotPlaced`], [`JointError::NotAssembled`], [`JointError::InconsistentJoints`],
    /// [`JointError::SingularJoints`], and [`JointError::InvalidValue`] for a start outside limits.
    pub fn assemble(&self, given: &[Placed]) -> Result<(Posture, Assembly), JointError> {
        let (expected, found) = (self.n_bodies(), given.len());
        if expected != found {
            return Err(JointError::WrongPlaces { expected, found });
        }
        let mut states = self.place(given)?;
        let near: Vec<f64> = self
            .coordinates()
            .map(|c| c.position.unwrap_or(0.0))
            .collect();
        let mut assembly = Assembly::default();
        let mut q = vec![0.0; near.len()];
        self.measure(&states, &near, &mut q);
        self.compare_places(given, &states, &q)?;
        if let Some((joint, relative, residual, is_length)) = self.worst_residual(&states) {
            if !(relative <= ROUNDED) {
                let unit = if is_length { self.size() } else { 1.0 };
                return Err(self.open(joint, "residual", residual, is_length, ROUNDED * unit));
            }
            assembly.residual = relative * self.size();
            assembly.is_rounded = relative > OPEN;
        }
        let before: Vec<Vector3<f64>> = states.iter().map(|state| state.position).collect();
        let mut held = Vec::new();
        if assembly.is_rounded {
            self.close_within_limits(&mut states, &near, &q, &mut held)?;
        } else {
            self.close_positions(&mut states, &near, &held)?;
        }
        for (state, before) in states.iter().zip(&before) {
            assembly.moved = assembly.moved.max((state.position - before).norm());
        }
        self.measure(&states, &near, &mut q);
        for held in &held {
            q[held.coordinate] = held.limit;
        }
        let allowed = if assembly.is_rounded { ROUNDED } else { OPEN };
        self.compare_positions(&states, &q, allowed)?;
        let rates = self.close_rates(&mut states, &q, allowed)?;
        let rotors = q.iter().zip(&rates).map(|(q, rate)| [*q, *rate]).collect();
        Ok((Posture { states, q, rotors }, assembly))
    }

    /// Computes the posture in which the bodies have the places `given`, where these are told, and the joint coordinates the values
    /// and rates of `coordinates`, where these are told. Attitudes of spherical joints that are not told are those of `near`.
    ///
    /// # Errors
    ///
    /// The errors of [`assemble`](Self::assemble).
    pub fn assemble_at(
        &self,
        given: &[Placed],
        coordinates: &[[Option<f64>; 2]],
        near: &Posture,
    ) -> Result<Posture, JointError> {
        let mut own = self.clone();
        for joint in own
            .joints_mut()
            .iter_mut()
            .filter(|j| j.kind.is_spherical())
        {
            let frames = joint.frames(&near.states);
            joint.ball.position = So3::nearest(&joint.relative(&frames)).ok();
            let spin = |body: usize| {
                let (state, rigid) = (&near.states[body], self.rigid(body));
                let spin = rigid.map(|rigid| rigid.angular_velocity(&state.angular_momentum));
                state.rotation.rotate(&spin.unwrap_or_default())
            };
            let relative = spin(joint.child) - joint.parent.map_or(Vector3::zeros(), spin);
            joint.ball.velocity = Some(frames.parent.axes.transpose() * relative);
        }
        let all = own
            .joints_mut()
            .iter_mut()
            .flat_map(|joint| &mut joint.coordinates);
        for (c, [position, rate]) in all.zip(coordinates) {
            (c.position, c.velocity) = (*position, *rate);
        }
        Ok(own.assemble(given)?.0)
    }

    /// Checks the joints whose position is given and whose bodies have given places, too: these must agree but for rounding of
    /// full numbers. `q`: coordinates, measured from the bodies.
    fn compare_places(
        &self,
        given: &[Placed],
        states: &[State],
        q: &[f64],
    ) -> Result<(), JointError> {
        let is_given = |body: usize| given[body].configuration.is_some();
        for (j, joint) in self.joints().iter().enumerate() {
            let bodies = is_given(joint.child) && joint.parent.is_none_or(is_given);
            let range = self.coordinates_of(j);
            let coordinates = joint.coordinates.iter().zip(&q[range]).enumerate();
            let positions = coordinates.filter_map(|(k, (c, q))| Some((k, c.position?, *q)));
            if !bodies || positions.clone().next().is_none() {
                continue;
            }
            let apart = "its position and the place of its body differ (leave one out) by";
            for (k, position, q) in positions {
                let is_angle = joint.kind.coordinates[k].is_angle;
                let allowed = OPEN * if is_angle { 1.0 } else { self.size() };
                let off = (position - q).abs();
                if !(off <= allowed) {
                    return Err(self.open(j, apart, off, !is_angle, allowed));
                }
            }
            let frames = joint.frames(states);
            let conditions = joint.kind.conditions.iter().zip(joint.residuals(&frames));
            for (condition, residual) in conditions {
                let is_length = condition.is_length();
                let allowed = OPEN * if is_length { self.size() } else { 1.0 };
                if !(residual.abs() <= allowed) {
                    return Err(self.open(j, apart, residual.abs(), is_length, allowed));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn open(
        &self,
        joint: usize,
        what: &'static str,
        residual: f64,
        is_length: bool,
        allowed: f64,
    ) -> JointError {
        JointError::NotAssembled {
            joint: self.joints()[joint].name.clone(),
            what,
            residual,
            unit: match (what, is_length) {
                ("rate" | "velocity", true) => "m/s",
                ("rate" | "velocity", false) => "rad/s",
                (_, true) => "m",
                (_, false) => "rad",
            },
            allowed,
        }
    }

    fn place(&self, given: &[Placed]) -> Result<Vec<State>, JointError> {
        let unknown = State {
            position: Vector3::zeros(),
            rotation: So3::identity(),
            linear_momentum: Vector3::zeros(),
            angular_momentum: Vector3::zeros(),
        };
        let mut states = vec![unknown; given.len()];
        let mut velocities = vec![Vector6::zeros(); given.len()];
        let mut known = vec![false; given.len()];
        for (body, placed) in given.iter().enumerate() {
            if let Some(configuration) = &placed.configuration {
                states[body].position = configuration.translation;
                states[body].rotation = configuration.rotation;
                let spin = configuration.rotation.rotate_back(&placed.angular_velocity);
                velocities[body] = stack(&placed.velocity, &spin);
                known[body] = true;
            }
        }
        let mut again = true;
        while again {
            again = false;
            for joint in self.joints().iter().filter(|joint| joint.kind.places()) {
                let parent_known = joint.parent.is_none_or(|body| known[body]);
                let target = match (parent_known, known[joint.child], joint.parent) {
                    (true, false, _) => joint.child,
                    (false, true, Some(parent)) => parent,
                    _ => continue,
                };
                self.place_by(joint, target, &mut states, &mut velocities)?;
                known[target] = true;
                again = true;
            }
        }
        if let Some(body) = known.iter().position(|known| !known) {
            return Err(JointError::NotPlaced {
                body: self.body_name(body).to_owned(),
            });
        }
        self.set_velocities(&velocities, &mut states);
        Ok(states)
    }

    /// Computes the state and the velocity of the body `target` of a joint from those of the joint's other body. The values and
    /// rates of the joint coordinates are taken from the specification of the joint.
    fn place_by(
        &self,
        joint: &Joint,
        target: usize,
        states: &mut [State],
        velocities: &mut [Vector6<f64>],
    ) -> Result<(), JointError> {
        let q: Vec<f64> = joint
            .coordinates
            .iter()
            .map(|c| c.position.unwrap_or(0.0))
            .collect();
        let (d, turned) = joint.placed(&q);
        let is_child = target == joint.child;
        let other = if is_child {
            joint.parent
        } else {
            Some(joint.child)
        };
        let at = Side::new(
            joint.frame(usize::from(!is_child)),
            other.and_then(|b| states.get(b)),
        );
        let (axes, origin) = if is_child {
            (at.axes * turned, at.origin + at.axes * d)
        } else {
            let axes = at.axes * turned.transpose();
            (axes, at.origin - axes * d)
        };
        let frame = joint.frame(usize::from(is_child));
        let rotation: Matrix3<f64> = axes * frame.axes.transpose();
        let state = &mut states[target];
        state.rotation = So3::nearest(&rotation).map_err(|_| JointError::NonFinite {
            body: self.body_name(target).to_owned(),
            time: 0.0,
        })?;
        state.position = origin - state.rotation.rotate(&frame.position);
        velocities[target] = self.carried_velocity(joint, &q, target, other, states, velocities)?;
        Ok(())
    }

    /// Returns the velocity of the body `target` of a joint, given the velocity of the joint's other body `other`
    /// (`None`: the ground) and the specified rates of the joint coordinates. `q`: values of the joint coordinates;
    /// `states`, `velocities`: lists for all bodies, in which the entries of the other body and the position of the
    /// target must be set. The velocity of the center is in space, the angular velocity in body axes.
    fn carried_velocity(
        &self,
        joint: &Joint,
        q: &[f64],
        target: usize,
        other: Option<usize>,
        states: &[State],
        velocities: &[Vector6<f64>],
    ) -> Result<Vector6<f64>, JointError> {
        let (base, turning) = match other {
            Some(body) => {
                let velocity = &velocities[body];
                let spin = velocity.fixed_rows::<3>(3).into_owned();
                (
                    velocity.fixed_rows::<3>(0).into_owned(),
                    states[body].rotation.rotate(&spin),
                )
            }
            None => (Vector3::zeros(), Vector3::zeros()),
        };
        let center = other.map_or(Vector3::zeros(), |body| states[body].position);
        let state = &states[target];
        let moved = base + turning.cross(&(state.position - center));
        let rigid = stack(&moved, &state.rotation.rotate_back(&turning));
        let rates: Vec<f64> = if joint.kind.is_spherical() {
            joint
                .ball
                .velocity
                .unwrap_or_default()
                .iter()
                .copied()
                .collect()
        } else {
            joint
                .coordinates
                .iter()
                .map(|c| c.velocity.unwrap_or(0.0))
                .collect()
        };
        if rates.iter().all(|rate| *rate == 0.0) {
            return Ok(rigid);
        }
        // The relative velocity is the solution of six equations: the rows of the conditions and of the rates.
        let frames = joint.frames(states);
        let mut rows = joint.rows(&frames);
        let conditions = rows.len();
        // The angle of a spherical joint is no coordinate of its velocity.
        let couple = if joint.kind.is_spherical() {
            joint.first_couple()
        } else {
            0
        };
        rows.extend(joint.rates(&frames, q).into_iter().skip(couple));
        let mut matrix = [0.0; 36];
        let mut relative = [0.0; 6];
        for (i, row) in rows.iter().enumerate().take(6) {
            let own = if target == joint.child {
                row.child
            } else {
                row.parent
            };
            for k in 0..6 {
                matrix[k * 6 + i] = own[k];
            }
            relative[i] = i.checked_sub(conditions).map_or(0.0, |k| rates[k]);
        }
        let mut pivots = [0; 6];
        if !lu(&mut matrix, 6, &mut pivots) {
            return Err(JointError::SingularJoints {
                joint: joint.name.clone(),
                time: 0.0,
            });
        }
        lu_solve(&matrix, &pivots, &mut relative);
        Ok(rigid + Vector6::from(relative))
    }

    /// Returns compliances of all joint rows with which only the joint conditions are part of the joint equations. A
    /// compliance is the rate that a unit impulse gives to the row. The compliance is 0 for conditions. It is infinite
    /// for the rows of coordinate rates, which leaves these rows out.
    pub(crate) fn conditions_only(&self) -> Vec<f64> {
        let mut compliance = vec![f64::INFINITY; self.n_rows()];
        for j in 0..self.joints().len() {
            let (first, rates) = self.rows_of(j);
            compliance[first..rates].fill(0.0);
        }
        compliance
    }

    /// Factors the equations of the bodies and joints at given states. `rows`: Jacobian rows of all joints; `compliance`: rate
    /// that a unit impulse gives to each row, 0 for a condition, infinite for a row that is left out. Fails if rows are
    /// dependent; the error names the joint, with `time` (s).
    pub(crate) fn factor(
        &self,
        elimination: &mut Elimination,
        states: &[State],
        rows: &[crate::frames::Row],
        compliance: &[f64],
        time: f64,
    ) -> Result<(), JointError> {
        elimination
            .factor(&self.scene(), states, rows, compliance)
            .map_err(|joint| JointError::SingularJoints {
                joint: self
                    .joints()
                    .get(joint)
                    .map_or_else(String::new, |j| j.name.clone()),
                time,
            })
    }

    /// Checks that the positions specified for joint coordinates agree with the placed bodies, and that all coordinates are
    /// within their limits. `q`: values of the coordinates, measured from the bodies; `tolerance`: largest difference, relative to
    /// the size of the system.
    fn compare_positions(
        &self,
        states: &[State],
        q: &[f64],
        tolerance: f64,
    ) -> Result<(), JointError> {
        for (j, joint) in self.joints().iter().enumerate() {
            for ((k, c), q) in joint
                .coordinates
                .iter()
                .enumerate()
                .zip(&q[self.coordinates_of(j)])
            {
                let is_angle = joint.kind.coordinates[k].is_angle;
                let allowed = tolerance * if is_angle { 1.0 } else { self.size() };
                if let Some(position) = c.position
                    && !((position - q).abs() <= allowed)
                {
                    return Err(self.open(
                        j,
                        "position off by",
                        (position - q).abs(),
                        !is_angle,
                        allowed,
                    ));
                }
                let outside = if *q < c.lower - LIMIT_SLACK {
                    Some(format!("at least the lower limit {}", c.lower))
                } else if *q > c.upper + LIMIT_SLACK {
                    Some(format!("at most the upper limit {}", c.upper))
                } else {
                    None
                };
                if let Some(allowed) = outside {
                    // The number of the file where there is one: the measured coordinate has rounding.
                    let measured = if q.abs() <= LIMIT_SLACK { 0.0 } else { *q };
                    return Err(JointError::InvalidValue {
                        joint: joint.name.clone(),
                        what: "position",
                        value: c.position.unwrap_or(measured),
                        allowed,
                    });
                }
            }
            if joint.kind.is_spherical() {
                self.compare_ball(j, joint, states, tolerance)?;
            }
        }
        Ok(())
    }

    fn compare_ball(
        &self,
        j: usize,
        joint: &Joint,
        states: &[State],
        tolerance: f64,
    ) -> Result<(), JointError> {
        let frames = joint.frames(states);
        if let Some(position) = &joint.ball.position {
            let off = position.matrix().transpose() * frames.relative();
            let off = So3::nearest(&off).map_or(f64::NAN, |off| off.angle());
            if !(off <= tolerance) {
                return Err(self.open(j, "position off by", off, false, tolerance));
            }
        }
        let (angle, _) = joint.ball_angle(&frames);
        if angle > joint.ball.upper + LIMIT_SLACK {
            return Err(JointError::InvalidValue {
                joint: joint.name.clone(),
                what: "position",
                value: angle,
                allowed: format!("at most the upper limit {}", joint.ball.upper),
            });
        }
        Ok(())
    }

    /// Changes the velocities of the bodies so that they fulfill all joint conditions, by the smallest change in the metric of
    /// the kinetic energy. Returns the rates of the joint coordinates (m/s or rad/s). Fails if the given velocities violate the
    /// conditions, or the specified rates, by more than `tolerance`, relative to the speeds. `q`: values of the coordinates.
    fn close_rates(
        &self,
        states: &mut [State],
        q: &[f64],
        tolerance: f64,
    ) -> Result<Vec<f64>, JointError> {
        let (mut rows, mut velocities, mut rates) = (Vec::new(), Vec::new(), Vec::new());
        self.rows(states, q, &mut rows);
        self.velocities(states, &mut velocities);
        let speed = velocities
            .iter()
            .map(|v| v.fixed_rows::<3>(0).norm() + v.fixed_rows::<3>(3).norm() * self.size())
            .fold(0.0, f64::max);
        let allowed = (tolerance * speed).max(LEAST_SPEED);
        let mut wanted = vec![0.0; self.n_rows()];
        for (j, joint) in self.joints().iter().enumerate() {
            let (first, _) = self.rows_of(j);
            for (k, condition) in joint.kind.conditions.iter().enumerate() {
                let now = rate(&rows[first + k], self.ends(j), &velocities);
                let unit = if condition.is_length() {
                    1.0
                } else {
                    self.size()
                };
                if !(now.abs() * unit <= allowed) {
                    let is_length = condition.is_length();
                    return Err(self.open(j, "rate", now.abs(), is_length, allowed / unit));
                }
                wanted[first + k] = -now;
            }
        }
        let mut elimination = Elimination::new(self.tree());
        self.factor(
            &mut elimination,
            states,
            &rows,
            &self.conditions_only(),
            0.0,
        )?;
        let mut change = vec![Vector6::zeros(); states.len()];
        let mut out = vec![0.0; self.n_rows()];
        elimination.solve(&self.scene(), &rows, &wanted, &mut change, &mut out);
        for (velocity, change) in velocities.iter_mut().zip(&change) {
            *velocity += change;
        }
        self.set_velocities(&velocities, states);
        self.coordinate_rates(&rows, &velocities, &mut rates);
        let mut all = self.coordinates().zip(&rates);
        for (j, joint) in self.joints().iter().enumerate() {
            for coordinate in joint.kind.coordinates {
                let Some((c, rate)) = all.next() else {
                    break;
                };
                let unit = if coordinate.is_angle {
                    self.size()
                } else {
                    1.0
                };
                if let Some(given) = c.velocity
                    && !((given - rate).abs() * unit <= allowed)
                {
                    let off = (given - rate).abs();
                    return Err(self.open(
                        j,
                        "velocity",
                        off,
                        !coordinate.is_angle,
                        allowed / unit,
                    ));
                }
            }
        }
        Ok(rates)
    }
}
