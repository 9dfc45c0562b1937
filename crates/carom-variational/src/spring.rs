//! Springs between points of bodies, or of a body and space, with damping along their line.
//!
//! A spring from point $a$ to point $b$ has the length $\ell=\lvert b-a\rvert$, the direction $n=(b-a)/\ell$ and the tension
//! $T = k(\ell-\ell_0) + c\dot\ell$, a force $Tn$ at $a$ and $-Tn$ at $b$. Steps apply it in kicks like the loads of
//! [`load`](crate::load): with the velocities before the first kick of a step, and with those that its last kick leaves. Dampers
//! that act at once are the solution $T$ of $T_i = k_i(\ell_i-\ell_{0i}) + c_i(\dot\ell_i - \tfrac h2\sum_jJ_iM^{-1}J_j^TT_j)$, where
//! $\dot\ell_i=J_iv$ before the kick.

use crate::load::Pull;
use crate::{RigidBody, State, VariationalError};
use carom_lie::So3;
use nalgebra::{DMatrix, DVector, Vector3, Vector6};

/// Springs whose points pass each other within this fraction of the slack length have collapsed: their direction turns around.
const COLLAPSED: f64 = 1e-6;

/// Spring between two points, each of a body or of space.
///
/// # Examples
///
/// ```
/// use carom_variational::nalgebra::Vector3;
/// use carom_variational::spring::Spring;
/// // A cord of 200 N/m from the origin of space to the center of body 0, slack at 0.5 m.
/// let cord = Spring::new("cord", [None, Some(0)], 200.0)
///     .with_points([Vector3::zeros(); 2])
///     .with_length(Some(0.5))
///     .with_damping(3.0);
/// assert_eq!(cord.out_of_range(), None);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Spring {
    /// Name, for messages.
    pub name: String,
    /// Bodies of both ends by their indices; `None` for a point of space.
    pub between: [Option<usize>; 2],
    /// Point of each end: in body axes from the center of mass, or in space (m).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub points: [Vector3<f64>; 2],
    /// Stiffness (N/m).
    pub stiffness: f64,
    /// Slack length (m); `None` for the distance of the points at the start.
    pub length: Option<f64>,
    /// Damping coefficient along the line (N s/m).
    pub damping: f64,
}

impl Spring {
    /// Creates a spring of the given stiffness (N/m) between the centers of two bodies, or a body and the origin of space. It is slack
    /// at the start and without damping.
    pub fn new(name: impl Into<String>, between: [Option<usize>; 2], stiffness: f64) -> Self {
        Self {
            name: name.into(),
            between,
            points: [Vector3::zeros(); 2],
            stiffness,
            length: None,
            damping: 0.0,
        }
    }

    /// Sets the points of both ends: in body axes from the center of mass, or in space (m).
    #[must_use]
    pub fn with_points(self, points: [Vector3<f64>; 2]) -> Self {
        Self { points, ..self }
    }

    /// Sets the slack length (m); `None` for the distance of the points at the start.
    #[must_use]
    pub fn with_length(self, length: Option<f64>) -> Self {
        Self { length, ..self }
    }

    /// Sets the damping coefficient along the line (N s/m).
    #[must_use]
    pub fn with_damping(self, damping: f64) -> Self {
        Self { damping, ..self }
    }

    /// Returns the first number out of its range, with its name and this range.
    pub fn out_of_range(&self) -> Option<(&'static str, f64, &'static str)> {
        let least = [
            ("stiffness", self.stiffness),
            ("length", self.length.unwrap_or(0.0)),
            ("damping", self.damping),
        ];
        let bad = least
            .into_iter()
            .find(|(_, x)| !(*x >= 0.0 && x.is_finite()));
        if let Some((name, value)) = bad {
            return Some((name, value, "finite and at least 0"));
        }
        let mut points = self.points.iter().flat_map(|point| point.iter());
        let point = points.find(|x| !x.is_finite())?;
        Some(("point", *point, "finite"))
    }

    /// Returns the points of both ends in space (m). `state` returns the state of a body.
    fn ends<'s>(&self, state: impl Fn(usize) -> Option<&'s State>) -> [Vector3<f64>; 2] {
        [0, 1].map(|end| {
            let (body, point) = (self.between[end].and_then(&state), self.points[end]);
            body.map_or(point, |at| at.position + at.rotation.rotate(&point))
        })
    }

    /// Returns the distance of the points (m). `state` returns the state of a body.
    pub fn distance<'s>(&self, state: impl Fn(usize) -> Option<&'s State>) -> f64 {
        let [first, second] = self.ends(state);
        (second - first).norm()
    }

    /// Returns the potential energy (J). `state` returns the state of a body.
    pub fn energy<'s>(&self, state: impl Fn(usize) -> Option<&'s State>) -> f64 {
        let distance = self.distance(state);
        let stretch = distance - self.length.unwrap_or(distance);
        0.5 * self.stiffness * stretch * stretch
    }

    /// Returns an error if the points have met between two configurations: their difference passes zero on the straight way from
    /// one to the other, while the slack length is positive. `states` return the state of a body in either; `time` (s) is told.
    ///
    /// # Errors
    ///
    /// [`VariationalError::SpringCollapsed`].
    pub fn check_way<'s>(
        &self,
        states: [&dyn Fn(usize) -> Option<&'s State>; 2],
        time: f64,
    ) -> Result<(), VariationalError> {
        let [from, to] = states.map(|state| {
            let [first, second] = self.ends(state);
            second - first
        });
        let way = to - from;
        let square = way.norm_squared();
        let nearest = if square > 0.0 {
            from + way * (-from.dot(&way) / square).clamp(0.0, 1.0)
        } else {
            from
        };
        let slack = self.length.unwrap_or(0.0);
        if slack > 0.0 && nearest.norm() <= COLLAPSED * slack {
            return Err(VariationalError::SpringCollapsed {
                spring: self.name.clone(),
                time,
            });
        }
        Ok(())
    }
}

/// Body at an end of a spring: its state, and its mass and inertia. A body without mass has velocities in place of momenta.
#[derive(Clone, Copy, Debug)]
pub struct Carrier<'s> {
    rigid: Option<&'s RigidBody>,
    state: &'s State,
}

impl<'s> Carrier<'s> {
    /// Describes a body in a state. Without mass and inertia the state has velocities in place of momenta.
    pub fn new(rigid: Option<&'s RigidBody>, state: &'s State) -> Self {
        Self { rigid, state }
    }

    /// Returns the velocity of the center in space, and the angular velocity in body axes.
    fn velocity(&self) -> Vector6<f64> {
        let (p, l) = (&self.state.linear_momentum, &self.state.angular_momentum);
        match self.rigid {
            Some(rigid) => stack(&(p / rigid.mass()), &rigid.angular_velocity(l)),
            None => stack(p, l),
        }
    }

    /// Returns the change of the velocity by a unit of an impulse (force in space, couple in body axes).
    fn reply(&self, wrench: &Vector6<f64>) -> Vector6<f64> {
        let Some(rigid) = self.rigid else {
            return Vector6::zeros();
        };
        let force: Vector3<f64> = wrench.fixed_rows::<3>(0).into();
        let couple: Vector3<f64> = wrench.fixed_rows::<3>(3).into();
        stack(&(force / rigid.mass()), &rigid.angular_velocity(&couple))
    }
}

/// Tension of a spring, and the bodies on which it acts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tension {
    /// Bodies of both ends by their indices; `None` for a point of space.
    pub between: [Option<usize>; 2],
    /// Force in space and couple in body axes on each end, by a tension of 1 N.
    pub wrenches: [Vector6<f64>; 2],
    /// Tension $k(\ell-\ell_0)$ (N), positive if the spring is longer than its slack length.
    pub elastic: f64,
    /// Tension of the damper, $c\dot\ell$ (N).
    pub damped: f64,
    /// Rate $\dot\ell$ (m/s) before the kick.
    rate: f64,
    damping: f64,
}

impl Tension {
    /// Returns the whole tension (N).
    pub fn total(&self) -> f64 {
        self.elastic + self.damped
    }

    /// Returns the springs' part of the loads of the body at an end, 0 or 1.
    pub fn pull(&self, end: usize) -> Pull {
        Pull {
            elastic: self.wrenches[end] * self.elastic,
            damped: self.wrenches[end] * self.damped,
            ..Pull::default()
        }
    }
}

/// Returns the tensions of all springs with the present velocities of their bodies. `body` returns a body by its index.
pub fn explicit<'s>(
    springs: &[Spring],
    body: impl Fn(usize) -> Option<Carrier<'s>>,
) -> Vec<Tension> {
    let all = springs.iter().map(|spring| tension(spring, &body));
    all.collect()
}

/// Returns the tensions of all springs with the velocities after they have acted on the momenta for `half` (s). `body` returns a
/// body by its index.
///
/// # Errors
///
/// [`VariationalError::ForceNotSettled`], if rounding leaves no such velocities.
pub fn implicit<'s>(
    springs: &[Spring],
    body: impl Fn(usize) -> Option<Carrier<'s>>,
    half: f64,
) -> Result<Vec<Tension>, VariationalError> {
    let mut all = explicit(springs, &body);
    if springs.iter().all(|spring| spring.damping == 0.0) {
        return Ok(all);
    }
    let matrix = mobility(&all, &body);
    let n = all.len();
    let system = DMatrix::from_fn(n, n, |i, j| {
        f64::from(u8::from(i == j)) + all[i].damping * half * matrix[(i, j)]
    });
    let right = DVector::from_iterator(n, all.iter().map(Tension::total));
    let solved = system.lu().solve(&right);
    let Some(solved) = solved.filter(|all| all.iter().all(|x| x.is_finite())) else {
        return Err(VariationalError::ForceNotSettled { step: 2.0 * half });
    };
    for (tension, total) in all.iter_mut().zip(&solved) {
        tension.damped = total - tension.elastic;
        if tension.damping == 0.0 {
            tension.damped = 0.0;
        }
    }
    Ok(all)
}

/// Checks that a step of length `step` (s) is stable: $h\omega < 2$ with the largest angular frequency $\omega$ of the bodies as free
/// bodies between the springs.
///
/// # Errors
///
/// [`VariationalError::SpringTooStiff`].
pub fn check_step<'s>(
    springs: &[Spring],
    body: impl Fn(usize) -> Option<Carrier<'s>>,
    step: f64,
) -> Result<(), VariationalError> {
    let all = explicit(springs, &body);
    let matrix = mobility(&all, &body);
    let n = all.len();
    let root: Vec<f64> = springs
        .iter()
        .map(|spring| spring.stiffness.sqrt())
        .collect();
    let scaled = DMatrix::from_fn(n, n, |i, j| root[i] * matrix[(i, j)] * root[j]);
    // The largest sum of a row bounds the eigenvalues.
    let sums = scaled
        .row_iter()
        .map(|row| row.iter().map(|x| x.abs()).sum());
    let bound = sums.fold(0.0, f64::max);
    let unstable = |square: f64| !(step * square.sqrt() < 2.0);
    if !unstable(bound) {
        return Ok(());
    }
    let square = scaled.symmetric_eigenvalues().max();
    if !unstable(square) {
        return Ok(());
    }
    let stiffest = (0..n).max_by(|i, j| {
        let own = |k: usize| springs[k].stiffness * matrix[(k, k)];
        own(*i).total_cmp(&own(*j))
    });
    let spring = stiffest.map_or_else(String::new, |k| springs[k].name.clone());
    Err(VariationalError::SpringTooStiff {
        spring,
        step,
        limit: 2.0 / square.sqrt(),
    })
}

/// Returns the tension of a spring with the present velocities.
fn tension<'s>(spring: &Spring, body: &impl Fn(usize) -> Option<Carrier<'s>>) -> Tension {
    let carriers = spring.between.map(|of| of.and_then(body));
    let [first, second] = spring.ends(|index| body(index).map(|carrier| carrier.state));
    let difference = second - first;
    let distance = difference.norm();
    let along = difference.try_normalize(0.0).unwrap_or_else(Vector3::zeros);
    let wrench = |end: usize, sign: f64| {
        let force = along * sign;
        let rotation = carriers[end].map_or_else(So3::identity, |carrier| carrier.state.rotation);
        stack(
            &force,
            &spring.points[end].cross(&rotation.rotate_back(&force)),
        )
    };
    let wrenches = [wrench(0, 1.0), wrench(1, -1.0)];
    let rates = carriers.iter().zip(&wrenches);
    let rate = rates.fold(0.0, |sum, (carrier, wrench)| {
        sum - carrier.map_or(0.0, |carrier| carrier.velocity().dot(wrench))
    });
    Tension {
        between: spring.between,
        wrenches,
        elastic: spring.stiffness * (distance - spring.length.unwrap_or(distance)),
        damped: spring.damping * rate,
        rate,
        damping: spring.damping,
    }
}

/// Returns the rates $J_iM^{-1}J_j^T$ at which spring $i$ shortens by a unit of tension in spring $j$.
fn mobility<'s>(all: &[Tension], body: &impl Fn(usize) -> Option<Carrier<'s>>) -> DMatrix<f64> {
    let n = all.len();
    let mut matrix = DMatrix::zeros(n, n);
    for (j, source) in all.iter().enumerate() {
        for (index, wrench) in source.between.iter().zip(&source.wrenches) {
            let Some((index, carrier)) = index.and_then(|index| Some((index, body(index)?))) else {
                continue;
            };
            let reply = carrier.reply(wrench);
            for (i, of) in all.iter().enumerate() {
                for (other, row) in of.between.iter().zip(&of.wrenches) {
                    if *other == Some(index) {
                        matrix[(i, j)] += row.dot(&reply);
                    }
                }
            }
        }
    }
    matrix
}

fn stack(first: &Vector3<f64>, second: &Vector3<f64>) -> Vector6<f64> {
    Vector6::new(first.x, first.y, first.z, second.x, second.y, second.z)
}
