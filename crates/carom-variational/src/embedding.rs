//! Time as a state variable: a motion with impacts as one continuous curve.

use crate::VariationalError;
use carom_numeric::roots;
use nalgebra::DVector;
use std::fmt;

/// Largest difference between the end of a segment and the start of the next one, as a fraction of the largest entry so far.
const CONTINUOUS: f64 = 1e-9;

/// Piece of a motion between two impacts: a flight, or a sustained contact with known forces. An implementation computes the
/// configuration and velocity as functions of time and, for a sustained contact, the normal force and its impulse.
pub trait Motion: fmt::Debug + Send + Sync {
    /// Returns configuration and velocity of the motion, `time` (s) after the start of this piece of the motion.
    fn state(&self, time: f64) -> (DVector<f64>, DVector<f64>);

    /// Returns the total normal impulse $\int\lVert\lambda_n\rVert_1\mathrm{d}t$ of all contacts (N·s), with the normal forces
    /// $\lambda_n$. The integral extends over the first `_time` seconds of this piece of the motion. The default is 0, for free
    /// flight.
    fn normal_impulse(&self, _time: f64) -> f64 {
        0.0
    }

    /// Returns the sum of all normal contact forces, $\lVert\lambda_n\rVert_1$ (N), at the time `_time` (s) after the start of
    /// this piece of the motion. The default is 0, for free flight.
    fn normal_force(&self, _time: f64) -> f64 {
        0.0
    }
}

/// Configuration, velocity and time at one point of a [`TimeEmbedding`], the curve that describes a motion with impacts.
/// [`TimeEmbedding::state_at`] computes it.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddedState {
    /// Time $t$, s.
    pub time: f64,
    /// Configuration $q$.
    pub configuration: DVector<f64>,
    /// Velocity $v$.
    pub velocity: DVector<f64>,
    /// Rate of time $\mathrm{d}t/\mathrm{d}s$, in \[0, 1\]: 1 in flight, 0 during an impact.
    pub clock: f64,
}

/// Motion with impacts as a continuous curve: configuration, velocity and time $t$ are functions of a parameter $s$, with
///
/// $$ \mathrm{d}s = \mathrm{d}t + \sigma \lVert\lambda_n\rVert_1 \mathrm{d}t $$
///
/// and with the total normal force $\lVert\lambda_n\rVert_1$. Configuration, velocity and time are continuous in $s$. During an
/// impact $s$ increases by $\sigma$ times the normal impulse, while time and configuration are constant. Sustained contact slows
/// time down, $\mathrm{d}t/\mathrm{d}s = 1/(1 + \sigma\lVert\lambda_n\rVert_1)$. These curves are the solutions of the
/// differential inclusion of Halm & Posa, Eqs. (43)-(55), segment by segment: $t$ never decreases (Theorem 5), configuration
/// and velocity are continuous in $s$. This type integrates nothing: the caller provides the motion as a [`Motion`], and an
/// impact by its impulses and velocities.
///
/// The scale $\sigma$ (1/N) converts a normal impulse (N s) to an increment of $s$ (s). The paper writes
/// $1 + \lVert\lambda_n\rVert_1$ without a scale, which is $\sigma$ = 1/N.
///
/// # Examples
///
/// A ball hits the floor and rests. After the impact, time advances by half of $s$:
///
/// ```
/// use carom_variational::{Motion, TimeEmbedding};
/// use nalgebra::{DVector, dvector};
///
/// #[derive(Debug)]
/// struct Fall;
/// impl Motion for Fall {
///     fn state(&self, t: f64) -> (DVector<f64>, DVector<f64>) {
///         (dvector![0.5 - 0.5 * t * t], dvector![-t])
///     }
/// }
/// #[derive(Debug)]
/// struct Rest;
/// impl Motion for Rest {
///     fn state(&self, _: f64) -> (DVector<f64>, DVector<f64>) {
///         (dvector![0.0], dvector![0.0])
///     }
///     fn normal_impulse(&self, t: f64) -> f64 {
///         t
///     }
///     fn normal_force(&self, _: f64) -> f64 {
///         1.0
///     }
/// }
/// let mut path = TimeEmbedding::new(dvector![0.5], dvector![0.0], 1.0)?;
/// path.push_motion(Fall, 1.0)?;
/// path.push_impact(&[(1.0, dvector![0.0])])?;
/// path.push_motion(Rest, 2.0)?;
/// assert_eq!(path.length(), 1.0 + 1.0 + 4.0);
/// // In the middle of the impact half of the velocity is gone.
/// assert_eq!(path.state_at(1.5)?.velocity, dvector![-0.5]);
/// assert_eq!(path.s_of(1.0)?, [1.0, 2.0]);
/// assert_eq!(path.state_at(4.0)?.clock, 0.5);
/// # Ok::<(), carom_variational::VariationalError>(())
/// ```
#[derive(Debug)]
pub struct TimeEmbedding {
    impulse_scale: f64,
    segments: Vec<Segment>,
    end: Node,
    /// Largest absolute entries of configurations and velocities so far.
    largest: [f64; 2],
}

/// Start of a segment, or the end of the curve.
#[derive(Clone, Debug)]
struct Node {
    s: f64,
    time: f64,
    configuration: DVector<f64>,
    velocity: DVector<f64>,
}

#[derive(Debug)]
struct Segment {
    start: Node,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Motion {
        motion: Box<dyn Motion>,
        duration: f64,
    },
    /// Values of s since the start of the impact, and the velocities reached at each of them.
    Impact(Vec<(f64, DVector<f64>)>),
}

impl TimeEmbedding {
    /// Starts the curve of a motion at time $t = 0$ and curve parameter $s = 0$ with this configuration and velocity.
    /// `impulse_scale` is $\sigma$ (1/N), the increase of $s$ (in s) per unit of normal impulse (N·s).
    ///
    /// # Errors
    ///
    /// [`VariationalError::NonFinite`]; [`VariationalError::BadEmbedding`] unless $\sigma$ is finite
    /// and positive.
    pub fn new(
        configuration: DVector<f64>,
        velocity: DVector<f64>,
        impulse_scale: f64,
    ) -> Result<Self, VariationalError> {
        if !(impulse_scale > 0.0 && impulse_scale.is_finite()) {
            return Err(VariationalError::BadEmbedding {
                what: "impulse scale must be finite and positive",
                value: impulse_scale,
            });
        }
        finite("configuration", &configuration)?;
        finite("velocity", &velocity)?;
        Ok(Self {
            impulse_scale,
            segments: Vec::new(),
            largest: [configuration.amax(), velocity.amax()],
            end: Node {
                s: 0.0,
                time: 0.0,
                configuration,
                velocity,
            },
        })
    }

    /// Returns the value of the curve parameter $s$ at the end of the curve (s): the duration of the motion plus $\sigma$ (1/N)
    /// times the sum of all normal impulses. $\sigma$ is the impulse scale of the curve.
    pub fn length(&self) -> f64 {
        self.end.s
    }

    /// Returns the duration (s) of all pieces of motion that were appended to the curve.
    pub fn duration(&self) -> f64 {
        self.end.time
    }

    /// Appends a piece of motion without impacts to the curve. The piece lasts `duration` (s).
    ///
    /// # Errors
    ///
    /// [`VariationalError::BadDuration`], [`VariationalError::NonFinite`],
    /// [`VariationalError::Discontinuous`] unless the motion starts at the end of the curve, [`VariationalError::BadEmbedding`]
    /// if its normal impulse does not start at 0, or impulse or force are negative.
    pub fn push_motion(
        &mut self,
        motion: impl Motion + 'static,
        duration: f64,
    ) -> Result<(), VariationalError> {
        if !(duration >= 0.0 && duration.is_finite()) {
            return Err(VariationalError::BadDuration { duration });
        }
        let (configuration, velocity) = motion.state(0.0);
        self.meet("configuration", &configuration)?;
        self.meet("velocity", &velocity)?;
        let (configuration, velocity) = motion.state(duration);
        finite("configuration", &configuration)?;
        finite("velocity", &velocity)?;
        let (first, last) = (motion.normal_impulse(0.0), motion.normal_impulse(duration));
        if first != 0.0 {
            return Err(VariationalError::BadEmbedding {
                what: "normal impulse must start at 0",
                value: first,
            });
        }
        for value in [
            last,
            motion.normal_force(0.0),
            motion.normal_force(duration),
        ] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(VariationalError::BadEmbedding {
                    what: "normal impulse and force must be finite and at least 0",
                    value,
                });
            }
        }
        let end = Node {
            s: self.end.s + duration + self.impulse_scale * last,
            time: self.end.time + duration,
            configuration,
            velocity,
        };
        let motion = Box::new(motion);
        self.push(Kind::Motion { motion, duration }, end);
        Ok(())
    }

    /// Appends an impact to the curve. `events` lists the events of the impact in order. The first number of an entry is the
    /// normal impulse since the previous event (N·s, summed over the contacts), the second the velocity after the event. Between
    /// two events the velocity changes in proportion to the impulse, which is exact if every event of the impact is given.
    ///
    /// # Errors
    ///
    /// [`VariationalError::NonFinite`]; [`VariationalError::BadEmbedding`] for an impulse that is negative or not finite;
    /// [`VariationalError::Discontinuous`] for a velocity of another length.
    pub fn push_impact(&mut self, events: &[(f64, DVector<f64>)]) -> Result<(), VariationalError> {
        let mut end = self.end.clone();
        let mut nodes = Vec::with_capacity(events.len());
        for (impulse, velocity) in events {
            if !(*impulse >= 0.0 && impulse.is_finite()) {
                return Err(VariationalError::BadEmbedding {
                    what: "impulses of an impact must be finite and at least 0",
                    value: *impulse,
                });
            }
            if velocity.len() != end.velocity.len() {
                return Err(VariationalError::Discontinuous {
                    what: "velocity",
                    gap: f64::INFINITY,
                });
            }
            finite("velocity", velocity)?;
            end.s += self.impulse_scale * impulse;
            end.velocity.clone_from(velocity);
            nodes.push((end.s - self.end.s, velocity.clone()));
        }
        self.push(Kind::Impact(nodes), end);
        Ok(())
    }

    fn push(&mut self, kind: Kind, end: Node) {
        let start = std::mem::replace(&mut self.end, end);
        self.segments.push(Segment { start, kind });
        let [q, v] = &mut self.largest;
        *q = q.max(self.end.configuration.amax());
        *v = v.max(self.end.velocity.amax());
    }

    fn meet(&self, what: &'static str, next: &DVector<f64>) -> Result<(), VariationalError> {
        let (here, largest) = match what {
            "velocity" => (&self.end.velocity, self.largest[1]),
            _ => (&self.end.configuration, self.largest[0]),
        };
        let gap = if here.len() == next.len() {
            (here - next).amax()
        } else {
            f64::INFINITY
        };
        if gap <= CONTINUOUS * largest.max(next.amax()) {
            Ok(())
        } else {
            Err(VariationalError::Discontinuous { what, gap })
        }
    }

    /// Returns time, configuration and velocity at the value `s` of the curve parameter. A value outside the curve by rounding
    /// error only is replaced by the end of the curve.
    ///
    /// # Errors
    ///
    /// [`VariationalError::OutOfRange`].
    pub fn state_at(&self, s: f64) -> Result<EmbeddedState, VariationalError> {
        inside("s", s, self.end.s)?;
        let after = self
            .segments
            .partition_point(|segment| segment.start.s <= s);
        let Some(segment) = after.checked_sub(1).and_then(|i| self.segments.get(i)) else {
            return Ok(EmbeddedState {
                time: self.end.time,
                configuration: self.end.configuration.clone(),
                velocity: self.end.velocity.clone(),
                clock: 1.0,
            });
        };
        let along = (s - segment.start.s).max(0.0);
        Ok(match &segment.kind {
            Kind::Motion { motion, duration } => {
                let time = self.time_along(motion.as_ref(), *duration, along);
                let (configuration, velocity) = motion.state(time);
                EmbeddedState {
                    time: segment.start.time + time,
                    configuration,
                    velocity,
                    clock: 1.0 / (1.0 + self.impulse_scale * motion.normal_force(time)),
                }
            }
            Kind::Impact(nodes) => EmbeddedState {
                time: segment.start.time,
                configuration: segment.start.configuration.clone(),
                velocity: velocity_along(&segment.start.velocity, nodes, along),
                clock: 0.0,
            },
        })
    }

    /// Returns the time $t$ (s) since the start of a piece of motion at which the curve parameter has grown by $s$ = `along`
    /// since this start. $t$ solves $s = t + \sigma\Lambda(t)$, with the total normal impulse $\Lambda$ and its scale $\sigma$.
    /// The equation is solved by Newton's method in a bracket. `duration` is the length of the piece (s).
    fn time_along(&self, motion: &dyn Motion, duration: f64, along: f64) -> f64 {
        let length = |t: f64| t + self.impulse_scale * motion.normal_impulse(t);
        let high = duration.min(along);
        let guess = if length(duration) > 0.0 {
            (duration * (along / length(duration))).clamp(0.0, high)
        } else {
            0.0
        };
        // The left side is at most s at 0 and at least s at the upper end.
        roots::newton_from(guess, [0.0, high], [-along, 1.0], |t| {
            let rate = 1.0 + self.impulse_scale * motion.normal_force(t);
            (length(t) - along, rate)
        })
    }

    /// Returns the smallest and the largest value of the curve parameter $s$ at which the time is `time` (s). The two values
    /// differ only at the time of an impact, because $s$ increases during an impact while the time is constant.
    ///
    /// # Errors
    ///
    /// [`VariationalError::OutOfRange`].
    pub fn s_of(&self, time: f64) -> Result<[f64; 2], VariationalError> {
        inside("time", time, self.end.time)?;
        let at = |segment: &Segment| match &segment.kind {
            Kind::Motion { motion, duration } => {
                let t = (time - segment.start.time).clamp(0.0, *duration);
                segment.start.s + t + self.impulse_scale * motion.normal_impulse(t)
            }
            Kind::Impact(nodes) => segment.start.s + nodes.last().map_or(0.0, |node| node.0),
        };
        let later = self.segments.partition_point(|x| x.start.time <= time);
        let last = later.checked_sub(1).and_then(|i| self.segments.get(i));
        let earlier = self.segments.partition_point(|x| x.start.time < time);
        let first = earlier.checked_sub(1).and_then(|i| self.segments.get(i));
        let high = last.map_or(0.0, at);
        // Without an earlier segment the interval begins at the start of the curve.
        Ok([first.map_or(0.0, at).min(high), high])
    }
}

fn velocity_along(start: &DVector<f64>, nodes: &[(f64, DVector<f64>)], along: f64) -> DVector<f64> {
    let mut before = (0.0, start);
    for (length, velocity) in nodes {
        if along < *length {
            let part = (along - before.0) / (length - before.0);
            return before.1 + (velocity - before.1) * part;
        }
        before = (*length, velocity);
    }
    before.1.clone()
}

fn finite(what: &'static str, vector: &DVector<f64>) -> Result<(), VariationalError> {
    if vector.iter().all(|x| x.is_finite()) {
        Ok(())
    } else {
        Err(VariationalError::NonFinite { what })
    }
}

fn inside(what: &'static str, value: f64, end: f64) -> Result<(), VariationalError> {
    let slack = 4.0 * f64::EPSILON * end;
    if (-slack..=end + slack).contains(&value) {
        Ok(())
    } else {
        Err(VariationalError::OutOfRange { what, value, end })
    }
}
