//! Impact with tangential compliance: normal and tangential springs at the contact.

use super::impact::{ContactImpact, ContactResponse, check, solve_impact, velocity_scale};
use super::inertia::ContactInertia;
use super::options::ImpactOptions;
use super::series::{Mode, Series};
use crate::TwoBodyError;
use crate::tolerances::{LAST_NEWTON_STEP, MAX_STEPS};
use carom_numeric::roots;
use nalgebra::Vector3;

/// Number of parts of a step in each of which an event is searched.
const PARTS: u32 = 16;

/// Tangential state of a contact with a tangential spring: the contact sticks, or it slides while friction limits the force of
/// the spring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompliantPhase {
    /// The surfaces slide; the deformation of the tangential spring is at the friction limit.
    Slip,
    /// The surfaces stick, and the spring follows the relative motion of the bodies.
    Stick,
}

/// Result of an impact whose contact has a normal and a tangential spring: impulse, velocity after the impact and phases.
/// [`compliant_impact`] computes it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CompliantImpact {
    /// Impulse on body 1, N·s.
    pub impulse: Vector3<f64>,
    /// Contact velocity after the impact, $v^- + WI$.
    pub velocity_plus: Vector3<f64>,
    /// Phases of slip and stick, in order.
    pub phases: Vec<CompliantPhase>,
    /// Energy stored in the normal spring at the end of compression, J. Restitution returns $e^2$ times this energy.
    pub compression_energy: f64,
}

/// Solves an impact with friction and lumped springs at the contact, a normal one (stiffness $k_n$) and a
/// tangential one (stiffness $k_t$).
///
/// Arguments are those of [`solve_impact`]; only the ratio $\kappa = k_t/k_n$ (`stiffness_ratio`) of the
/// stiffnesses matters. Let $W$ be the inverse inertia matrix, $\mu$ the friction coefficient, $e$ the
/// restitution, $v$ the contact velocity, $\gamma$ its tangential part and $v_z$ its normal part; a superscript
/// − denotes values before the impact. The contact force is $F = (-k_tu, F_n)$ with the tangential deformation
/// $u$, and the contact velocity follows $\dot v = WF$. The normal force obeys $\dot F_n = -k_nv_z$ in
/// compression and $-(k_n/e^2)v_z$ in restitution, so that it is continuous and restitution returns $e^2$ of
/// the energy; the impact is over when $F_n = 0$. In *stick* $\dot u = \gamma$, as long as
/// $k_t|u| \le \mu F_n$. In *slip* $k_t|u| = \mu F_n$,
///
/// $$ \dot u = \gamma - \beta\frac{u}{|u|}, \qquad
///    \beta = \frac{\gamma\cdot u}{|u|} - \frac{\mu\dot F_n}{k_t}, $$
///
/// as long as the sliding speed $\beta$ is positive. The contact starts in stick if $\kappa|\gamma^-| \le \mu|v_z^-|$. If
/// strong friction presses the bodies together again during restitution, the force increases along the restitution curve:
/// energy is lost only in the first compression.
///
/// For $\kappa \to \infty$ the outcome is that of [`solve_impact`]; a soft spring reverses the tangential contact
/// velocity, as a rubber ball does. Stronge, *Impact mechanics* (2000), chapter 5; Jia, *Three-dimensional impact*
/// (2013).
///
/// The result is `None` if the contact does not close.
///
/// # Errors
///
/// Returns the errors of [`solve_impact`]; [`TwoBodyError::InvalidStiffnessRatio`] unless the ratio is positive and
/// finite; [`TwoBodyError::ImpactStepLimit`] for a tangential spring so stiff that the contact is almost rigid: the
/// number of steps grows like $\kappa|\gamma^-|/(\mu|v_z^-|)$, the ratio of the sliding speed to the speed at which
/// friction limits the spring from the start.
///
/// # Examples
///
/// A ball that sticks: half a tangential oscillation reverses its sliding velocity.
///
/// ```
/// use carom_two_body::{CompliantPhase, ContactInertia, compliant_impact};
/// use nalgebra::{Matrix3, Vector3};
/// let w = ContactInertia::from_matrix(&Matrix3::from_diagonal(&[3.5, 3.5, 1.0].into()))?;
/// let velocity = Vector3::new(0.2, 0.0, -1.0);
/// let found = compliant_impact(&w, &velocity, 1e9, 1.0, 1.0 / 3.5)?;
/// assert!((found.unwrap().velocity_plus - Vector3::new(-0.2, 0.0, 1.0)).amax() < 1e-8);
/// # Ok::<(), carom_two_body::TwoBodyError>(())
/// ```
pub fn compliant_impact(
    w: &ContactInertia,
    velocity: &Vector3<f64>,
    friction: f64,
    restitution: f64,
    stiffness_ratio: f64,
) -> Result<Option<CompliantImpact>, TwoBodyError> {
    check(velocity, friction, restitution)?;
    if !(stiffness_ratio > 0.0 && stiffness_ratio.is_finite()) {
        let value = stiffness_ratio;
        return Err(TwoBodyError::InvalidStiffnessRatio { value });
    }
    if velocity.z >= 0.0 {
        return Ok(None);
    }
    if friction == 0.0 {
        // The tangential spring is never deformed.
        return frictionless(w, velocity, restitution);
    }
    let inertia_scale = w.unit_scale();
    let velocity_scale = velocity_scale([velocity.x, velocity.y, velocity.z]);
    let start = velocity * velocity_scale;
    let mut contact = Springs::new(
        w.scaled(inertia_scale),
        start,
        friction,
        restitution,
        stiffness_ratio,
    );
    contact.follow()?;
    let impulse = contact.impulse * (inertia_scale / velocity_scale);
    let velocity_plus = velocity + w.delta_velocity(&impulse);
    if !impulse.iter().chain(&velocity_plus).all(|x| x.is_finite()) {
        return Err(TwoBodyError::Overflow);
    }
    Ok(Some(CompliantImpact {
        impulse,
        velocity_plus,
        phases: contact.phases,
        compression_energy: 0.5 * contact.peak * contact.peak * inertia_scale
            / velocity_scale
            / velocity_scale,
    }))
}

fn frictionless(
    w: &ContactInertia,
    velocity: &Vector3<f64>,
    restitution: f64,
) -> Result<Option<CompliantImpact>, TwoBodyError> {
    let rigid = solve_impact(w, velocity, 0.0, restitution, &ImpactOptions::default())?;
    let ContactResponse::Impact(rigid) = rigid else {
        return Ok(None);
    };
    let ContactImpact {
        impulse,
        velocity_plus,
        compression_energy,
        ..
    } = rigid;
    Ok(Some(CompliantImpact {
        impulse,
        velocity_plus,
        phases: vec![CompliantPhase::Slip],
        compression_energy,
    }))
}

/// Contact with springs, in units with $k_n = 1$.
struct Springs {
    w: ContactInertia,
    friction: f64,
    /// Stiffness ratio $\kappa$.
    ratio: f64,
    restitution: f64,
    /// Normal stiffness: 1 in compression, $1/e^2$ in restitution.
    stiffness: f64,
    velocity: Vector3<f64>,
    impulse: Vector3<f64>,
    /// Normal force $F_n$, and its value at the end of compression.
    force: f64,
    peak: f64,
    mode: Mode,
    phases: Vec<CompliantPhase>,
}

/// Event that ends an integration step.
#[derive(Clone, Copy, PartialEq)]
enum Switch {
    CompressionEnds,
    ForceVanishes,
    TangentialMode,
}

impl Springs {
    fn new(
        w: ContactInertia,
        velocity: Vector3<f64>,
        friction: f64,
        restitution: f64,
        ratio: f64,
    ) -> Self {
        let speed = velocity.xy().norm();
        // The spring force grows with the sliding speed, the friction limit with the normal force.
        let slips = ratio * speed > friction * velocity.z.abs();
        let mode = if slips {
            Mode::Slip([velocity.x / speed, velocity.y / speed])
        } else {
            Mode::Stick([0.0; 2])
        };
        let mut springs = Self {
            w,
            friction,
            ratio,
            restitution,
            stiffness: 1.0,
            velocity,
            impulse: Vector3::zeros(),
            force: 0.0,
            peak: 0.0,
            mode,
            phases: Vec::new(),
        };
        springs.note();
        springs
    }

    fn note(&mut self) {
        self.phases.push(match self.mode {
            Mode::Slip(_) => CompliantPhase::Slip,
            Mode::Stick(_) => CompliantPhase::Stick,
        });
    }

    fn is_restoring(&self) -> bool {
        self.peak > 0.0
    }

    fn follow(&mut self) -> Result<(), TwoBodyError> {
        for _ in 0..MAX_STEPS {
            if self.is_restoring()
                && self.velocity.z > 0.0
                && self.force <= LAST_NEWTON_STEP * self.peak
            {
                self.spend();
                return Ok(());
            }
            let series = Series::expand(
                &self.w,
                self.friction,
                self.ratio,
                self.stiffness,
                self.velocity,
                self.force,
                self.mode,
            );
            let length = series.length();
            let (at, switch) = match self.first_switch(&series, length) {
                Some((at, switch)) => (at, Some(switch)),
                None => (length, None),
            };
            self.advance(&series, at);
            match switch {
                None => {}
                Some(Switch::ForceVanishes) => return Ok(()),
                Some(Switch::CompressionEnds) => {
                    self.velocity.z = 0.0;
                    self.peak = self.force;
                    if self.restitution == 0.0 {
                        return Ok(());
                    }
                    self.stiffness = (self.restitution * self.restitution).recip();
                }
                Some(Switch::TangentialMode) => {
                    self.mode = match self.mode {
                        Mode::Slip([c, s]) => {
                            let stretch = self.friction * self.force / self.ratio;
                            Mode::Stick([c * stretch, s * stretch])
                        }
                        Mode::Stick([x, y]) => {
                            let stretch = libm::hypot(x, y);
                            Mode::Slip([x / stretch, y / stretch])
                        }
                    };
                    self.note();
                }
            }
        }
        Err(TwoBodyError::ImpactStepLimit {
            steps: MAX_STEPS,
            normal_impulse: self.impulse.z,
        })
    }

    fn advance(&mut self, series: &Series, by: f64) {
        self.impulse += series.impulse(by);
        self.velocity = series.velocity(by);
        self.force = series.force(by).max(0.0);
        self.mode = series.mode(by);
    }

    /// Adds to the impulse the remaining impulse of an impact that is about to end: the normal force is nearly zero and decreases
    /// to zero at a constant rate.
    fn spend(&mut self) {
        let normal = 0.5 * self.force * self.force / (self.stiffness * self.velocity.z);
        let per_normal = match self.mode {
            Mode::Slip(direction) => direction.map(|x| -self.friction * x),
            Mode::Stick(stretch) if self.force > 0.0 => {
                stretch.map(|x| -self.ratio * x / self.force)
            }
            Mode::Stick(_) => [0.0; 2],
        };
        self.impulse += Vector3::new(per_normal[0], per_normal[1], 1.0) * normal;
    }

    /// Finds the first event within a time step of the given `length`: end of compression, end of contact, or a change between
    /// sticking and slipping. Returns its time since the start of the step and its kind, or `None` if there is no event. The step
    /// is short compared with the oscillations of the springs and is searched in parts, so that each part contains at most one
    /// event of each kind.
    fn first_switch(&self, series: &Series, length: f64) -> Option<(f64, Switch)> {
        let tangential = |t: f64| series.tangential_margin(t);
        let normal = |t: f64| {
            if self.is_restoring() {
                series.force(t)
            } else {
                -series.velocity(t).z
            }
        };
        let normal_switch = if self.is_restoring() {
            Switch::ForceVanishes
        } else {
            Switch::CompressionEnds
        };
        let mut from = 0.0;
        for part in 1..=PARTS {
            let to = length * f64::from(part) / f64::from(PARTS);
            let ends = (normal(to) <= 0.0)
                .then(|| (roots::bisect(from, to, |s| normal(s) > 0.0), normal_switch));
            let changes = (tangential(to) < 0.0).then(|| {
                (
                    roots::bisect(from, to, |s| tangential(s) > 0.0),
                    Switch::TangentialMode,
                )
            });
            match (ends, changes) {
                (Some(a), Some(b)) => return Some(if b.0 < a.0 { b } else { a }),
                (Some(found), None) | (None, Some(found)) => return Some(found),
                (None, None) => from = to,
            }
        }
        None
    }
}
