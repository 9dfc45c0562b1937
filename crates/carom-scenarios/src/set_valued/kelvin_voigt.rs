//! A block on compliant corners: Kelvin-Voigt normal forces and regularized friction.

use ivp::dense::StepInterpolant;
use ivp::ivp::FirstOrderSystem;
use ivp::matrix::{Matrix, MatrixStorage};
use ivp::methods::RADAU;
use ivp::solout::{ControlFlag, SolOut};
use ivp::status::Status;

/// Relative tolerance of the integration.
const RTOL: f64 = 1e-10;

/// Largest number of steps between two events.
const MAX_STEPS: usize = 100_000;

/// Largest number of events. A corner touches or leaves a few times at most.
const MAX_EVENTS: usize = 100;

/// Largest number of restarts between two events. At the transition to sticking, Newton's iteration may fail with
/// the step size used before; a restart continues with small steps.
const MAX_RESTARTS: usize = 1000;

/// Number of bisections that locate an event within a step, enough for the last bit.
const BISECTIONS: usize = 60;

/// Dimension of the state: height and angle relative to those at the start; tangential velocity of the middle of the base,
/// with the lever arm of a flat block, vertical velocity and angular velocity; normal impulses of
/// both corners.
///
/// Corners slide at $10^{-10}$ m/s. The velocity of the base resolves such speeds; the velocity of the center does
/// not.
const DIM: usize = 7;
type State = [f64; DIM];

const HEIGHT: usize = 0;
const ANGLE: usize = 1;
const BASE: usize = 2;
const FALL: usize = 3;
const TURN: usize = 4;
const IMPULSE: [usize; 2] = [5, 6];

/// Model of Halm & Posa, Eqs. (88)-(90): while a corner overlaps the floor by $-\phi$ and slides at the velocity $u$,
///
/// $$ \lambda_n = \max(0, -k\phi - 2\zeta\sqrt{km} \dot\phi), \qquad
/// \lambda_t = -\mu\lambda_n u/\max(\lvert u\rvert, \varepsilon). $$
///
/// # Departure from the source
///
/// The paper prints the damping $2\zeta\sqrt{k/m}$, which has the unit of a force per velocity only for a mass of 1 kg.
#[derive(Clone, Copy, Debug)]
pub(super) struct KelvinVoigt {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) mass: f64,
    pub(super) gravity: f64,
    pub(super) friction: f64,
    /// Stiffness of the left and the right corner (N/m).
    pub(super) stiffness: [f64; 2],
    /// Damping ratio $\zeta$.
    pub(super) damping_ratio: f64,
    /// Sliding velocity $\varepsilon$ below which friction is proportional to the sliding velocity (m/s).
    pub(super) sliding_scale: f64,
    /// End of the impact: no overlapping corner approaches faster than `rest_speed` times m/min k (m/s), with the
    /// mass m in kg and the smaller stiffness k in N/m.
    pub(super) rest_speed: f64,
}

/// State at the end of a drop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Landing {
    /// Normal velocities of the corners (m/s).
    pub(super) normal_velocity: [f64; 2],
    /// Tangential velocities of the corners (m/s).
    pub(super) tangential_velocity: [f64; 2],
    /// Time from the first touch to the end (s).
    pub(super) duration: f64,
    /// Normal impulses of the corners (N s).
    pub(super) impulse: [f64; 2],
    /// Fraction of the normal impulse of the first corner that acts before the second corner touches for the first
    /// time.
    pub(super) first_share: f64,
}

/// Reason why a drop could not be simulated to its end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NotFollowed(pub(super) String);

/// Gap, velocities and forces at one corner.
struct Corner {
    gap: f64,
    gap_rate: f64,
    sliding: f64,
    /// Lever arm $\partial\phi/\partial\theta$ (`arm`); height of the corner relative to the center (`rise`), and to its
    /// height on a flat base (`lift`).
    arm: f64,
    rise: f64,
    lift: f64,
    normal: f64,
    tangential: f64,
}

/// Equations of motion while the corners in `touching` are in contact and the others are not, so that the
/// right-hand side is smooth.
struct Motion<'a> {
    model: &'a KelvinVoigt,
    angle: f64,
    touching: [bool; 2],
}

impl KelvinVoigt {
    fn inertia(&self) -> f64 {
        self.mass * (self.width * self.width + self.height * self.height) / 12.0
    }

    /// Returns the height difference (m) between the center of the tilted block when its lower corner touches the floor, and
    /// the center of a block that lies flat. `angle`: tilt (rad).
    pub(super) fn raised(&self, angle: f64) -> f64 {
        let half = libm::sin(0.5 * angle);
        0.5 * self.width * libm::sin(angle).abs() - self.height * half * half
    }

    fn softest(&self) -> f64 {
        self.stiffness[0].min(self.stiffness[1])
    }

    /// Simulates the impact of a block that falls onto the floor with the tilt `angle` (rad). The motion starts when the lower
    /// corner touches the floor. The initial energy is that of a block that falls flat with the impact speed `speed` (m/s).
    pub(super) fn drop(&self, angle: f64, speed: f64) -> Result<Landing, NotFollowed> {
        let square = speed * speed - 2.0 * self.gravity * self.raised(angle);
        if square.is_nan() || square <= 0.0 {
            let message = format!("at {angle} rad the block does not reach the floor");
            return Err(NotFollowed(message));
        }
        let mut state: State = [0.0; DIM];
        state[FALL] = -square.sqrt();
        // For positive angles the lower corner is A, the left one.
        let mut touching = [angle >= 0.0, angle <= 0.0];
        let first = usize::from(angle < 0.0);
        let mut share = if angle == 0.0 { 0.0 } else { f64::NAN };
        let mut time = 0.0;
        for _ in 0..MAX_EVENTS {
            let motion = Motion {
                model: self,
                angle,
                touching,
            };
            let event = motion.advance(&mut state, speed)?;
            time += event.duration;
            match event.kind {
                EventKind::Touches(corner) => {
                    touching[corner] = true;
                    if corner != first && share.is_nan() {
                        share = state[IMPULSE[first]];
                    }
                }
                EventKind::Leaves(corner) => touching[corner] = false,
                EventKind::Over => {
                    let corners = [0, 1].map(|i| motion.corner(i, &state));
                    let impulse = IMPULSE.map(|i| state[i]);
                    return Ok(Landing {
                        normal_velocity: [corners[0].gap_rate, corners[1].gap_rate],
                        tangential_velocity: [corners[0].sliding, corners[1].sliding],
                        duration: time,
                        impulse,
                        first_share: share / impulse[first],
                    });
                }
            }
        }
        Err(NotFollowed(format!("more than {MAX_EVENTS} events")))
    }
}

enum EventKind {
    Touches(usize),
    Leaves(usize),
    Over,
}

struct Event {
    duration: f64,
    kind: EventKind,
}

impl Motion<'_> {
    fn corner(&self, i: usize, y: &[f64]) -> Corner {
        let model = self.model;
        let (x, up) = (
            if i == 0 { -0.5 } else { 0.5 } * model.width,
            -0.5 * model.height,
        );
        let theta = self.angle + y[ANGLE];
        let (sin, cos) = libm::sincos(theta);
        let arm = x * cos - up * sin;
        // The height of the corner over a flat base, and its change by the rotation since the start, are computed without
        // cancellation.
        let lift = |angle: f64| {
            x * libm::sin(angle) - 2.0 * up * carom_numeric::power(libm::sin(0.5 * angle), 2)
        };
        let (half_sin, half_cos) = libm::sincos(self.angle + 0.5 * y[ANGLE]);
        let turned = 2.0 * libm::sin(0.5 * y[ANGLE]) * (x * half_cos - up * half_sin);
        let lower = -(x * libm::sin(self.angle)).abs();
        let gap = (x * libm::sin(self.angle) - lower) + y[HEIGHT] + turned;
        let gap_rate = y[FALL] + arm * y[TURN];
        let sliding = y[BASE] - lift(theta) * y[TURN];
        let k = model.stiffness[i];
        let c = 2.0 * model.damping_ratio * (k * model.mass).sqrt();
        let normal = if self.touching[i] {
            (-k * gap - c * gap_rate).max(0.0)
        } else {
            0.0
        };
        let direction = sliding / sliding.abs().max(model.sliding_scale);
        Corner {
            gap,
            gap_rate,
            sliding,
            arm,
            rise: up + lift(theta),
            lift: lift(theta),
            normal,
            tangential: -model.friction * normal * direction,
        }
    }

    /// Returns three event functions in the state `y`: the gaps of both corners (m), and a velocity (m/s) that is negative
    /// until the impact ends. `speed`: impact speed (m/s).
    fn guards(&self, y: &[f64], speed: f64) -> [f64; 3] {
        let corners = [0, 1].map(|i| self.corner(i, y));
        let model = self.model;
        let received = IMPULSE.iter().all(|i| y[*i] >= 0.01 * model.mass * speed);
        let slowest = (0..2)
            .filter(|i| self.touching[*i])
            .map(|i| corners[i].gap_rate + model.rest_speed * model.mass / model.softest())
            .fold(f64::INFINITY, f64::min);
        [
            corners[0].gap,
            corners[1].gap,
            if received { slowest } else { -1.0 },
        ]
    }

    /// Returns the event that has happened according to the values of the three event functions: a corner leaves or touches
    /// the floor, or the impact is over. `None` if no event has happened.
    fn happened(&self, guards: [f64; 3]) -> Option<EventKind> {
        for (i, gap) in guards.into_iter().take(2).enumerate() {
            if self.touching[i] && gap > 0.0 {
                return Some(EventKind::Leaves(i));
            }
            if !self.touching[i] && gap <= 0.0 {
                return Some(EventKind::Touches(i));
            }
        }
        (guards[2] >= 0.0).then_some(EventKind::Over)
    }

    /// Integrates the motion up to the next event, and changes `state` to the state at that time. The time restarts at zero,
    /// so that steps of $10^{-17}$ s are not rounded away. `speed`: impact speed (m/s), which gives the scale of the
    /// tolerances.
    fn advance(&self, state: &mut State, speed: f64) -> Result<Event, NotFollowed> {
        let stiffest = self.model.stiffness[0].max(self.model.stiffness[1]);
        let slow = (self.model.mass / self.model.softest()).sqrt();
        let fast = (self.model.mass / stiffest).sqrt();
        // Friction is the fastest process, with the rate given by the largest force on a corner.
        let largest = 2.0 * self.model.damping_ratio * (stiffest * self.model.mass).sqrt() * speed;
        let settling = self.model.friction * largest / (self.model.mass * self.model.sliding_scale);
        let method = RADAU::builder()
            .max_steps(MAX_STEPS)
            .first_step(1e-3 / (1.0 / fast + settling))
            .mass_storage(MatrixStorage::Identity)
            .build();
        // Overlaps are of the order of the speed times a period of oscillation, velocities of the order of the speed.
        let mut atol = [1e-4 * RTOL * speed; DIM];
        atol[HEIGHT..=ANGLE].fill(1e-4 * RTOL * speed * fast);
        atol[BASE] = 1e-4 * self.model.sliding_scale.min(RTOL * speed);
        let end = 1e4 * slow * (1.0 + self.model.damping_ratio);
        let mut before = 0.0;
        for _ in 0..MAX_RESTARTS {
            let mut watch = Watch {
                motion: self,
                speed,
                last: (0.0, *state),
                found: None,
            };
            let done = method
                .solve(
                    self,
                    0.0,
                    state.as_slice(),
                    end,
                    vec![RTOL; DIM].into(),
                    atol.to_vec().into(),
                    Some(&mut watch),
                )
                .map_err(|error| NotFollowed(error.to_string()))?;
            match (watch.found, done.status) {
                (Some((kind, duration, at)), Status::UserInterrupt) => {
                    *state = at;
                    return Ok(Event {
                        duration: before + duration,
                        kind,
                    });
                }
                (_, Status::SingularMatrix | Status::PoorConvergence) => {
                    before += watch.last.0;
                    *state = watch.last.1;
                }
                (_, status) => {
                    return Err(NotFollowed(format!("integration ended early: {status:?}")));
                }
            }
        }
        Err(NotFollowed(format!("more than {MAX_RESTARTS} restarts")))
    }
}

impl FirstOrderSystem for Motion<'_> {
    fn derivative(&self, _time: f64, y: &[f64], rate: &mut [f64]) {
        let model = self.model;
        let corners = [0, 1].map(|i| self.corner(i, y));
        let sum = |f: fn(&Corner) -> f64| corners.iter().map(f).sum::<f64>();
        rate[HEIGHT] = y[FALL];
        rate[ANGLE] = y[TURN];
        rate[FALL] = sum(|c| c.normal) / model.mass - model.gravity;
        rate[TURN] = sum(|c| c.normal * c.arm - c.tangential * c.rise) / model.inertia();
        rate[BASE] = sum(|c| c.tangential) / model.mass + 0.5 * model.height * rate[TURN];
        for (i, corner) in IMPULSE.into_iter().zip(&corners) {
            rate[i] = corner.normal;
        }
    }

    fn jac(&self, _time: f64, y: &[f64], jacobian: &mut Matrix) {
        let model = self.model;
        for row in 0..DIM {
            for column in 0..DIM {
                jacobian[(row, column)] = 0.0;
            }
        }
        jacobian[(HEIGHT, FALL)] = 1.0;
        jacobian[(ANGLE, TURN)] = 1.0;
        for i in 0..2 {
            let corner = self.corner(i, y);
            if corner.normal <= 0.0 {
                continue;
            }
            let k = model.stiffness[i];
            let c = 2.0 * model.damping_ratio * (k * model.mass).sqrt();
            let (a, b, turn) = (corner.arm, corner.rise, y[TURN]);
            // Partial derivatives with respect to height, angle, base velocity, vertical velocity and angular velocity.
            let normal = [-k, -k * a + c * b * turn, 0.0, -c, -c * a];
            let sliding = [0.0, -a * turn, 1.0, 0.0, -corner.lift];
            let eps = model.sliding_scale;
            let is_slow = corner.sliding.abs() < eps;
            let direction = corner.sliding / corner.sliding.abs().max(eps);
            let slope = if is_slow { 1.0 / eps } else { 0.0 };
            for (column, (dn, du)) in normal.into_iter().zip(sliding).enumerate() {
                let dt = -model.friction * (dn * direction + corner.normal * slope * du);
                let mut moment = dn * a - dt * b;
                if column == ANGLE {
                    moment -= corner.normal * b + corner.tangential * a;
                }
                let turn = moment / model.inertia();
                jacobian[(BASE, column)] += dt / model.mass + 0.5 * model.height * turn;
                jacobian[(FALL, column)] += dn / model.mass;
                jacobian[(TURN, column)] += turn;
                jacobian[(IMPULSE[i], column)] = dn;
            }
        }
    }
}

/// Observer that checks for the first event after every step.
struct Watch<'a> {
    motion: &'a Motion<'a>,
    speed: f64,
    last: (f64, State),
    /// First event, its time since the start, and the state at this time.
    found: Option<(EventKind, f64, State)>,
}

impl SolOut for Watch<'_> {
    fn solout(
        &mut self,
        before: f64,
        time: &mut f64,
        y: &mut [f64],
        interpolant: Option<&StepInterpolant<'_>>,
    ) -> ControlFlag {
        let happened = |y: &[f64]| self.motion.happened(self.motion.guards(y, self.speed));
        let mut at: State = [0.0; DIM];
        at.copy_from_slice(y);
        let (Some(interpolant), Some(mut kind)) = (interpolant, happened(y)) else {
            self.last = (*time, at);
            return ControlFlag::Continue;
        };
        let (mut low, mut high) = (before, *time);
        let mut middle: State = [0.0; DIM];
        for _ in 0..BISECTIONS {
            let t = 0.5 * (low + high);
            interpolant.interpolate(t, &mut middle);
            match happened(&middle) {
                Some(earlier) => {
                    (high, at, kind) = (t, middle, earlier);
                }
                None => low = t,
            }
        }
        self.found = Some((kind, high, at));
        ControlFlag::Interrupt
    }
}
