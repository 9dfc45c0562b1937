//! Springs, dampers and actuators at the joints.

/// Linear spring and damper at a joint. The generalized force is $-k(q - q_0) - cv$ with stiffness $k$, damping $c$, joint
/// coordinate $q$ and joint rate $v$. The spring is relaxed at $q = q_0$.
///
/// Units: N/m and N·s/m at a slider, N·m/rad and N·m·s/rad at a hinge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Stiffness $k \ge 0$.
    pub stiffness: f64,
    /// Damping $c \ge 0$.
    pub damping: f64,
    /// Coordinate $q_0$ at which the spring exerts no force.
    pub rest: f64,
}

/// Actuator of a joint that follows a prescribed [`Reference`] $r(t)$. Its generalized force is $-K_p(q - r(t)) - K_v(v - \dot
/// r(t))$ with the proportional gain $K_p$, the derivative gain $K_v$, joint coordinate $q$ and joint rate $v$.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Actuator {
    /// Gain $K_p \ge 0$.
    pub proportional: f64,
    /// Gain $K_v \ge 0$.
    pub derivative: f64,
    /// Reference that the actuator tracks.
    pub reference: Reference,
}

/// Prescribed value of a joint coordinate: constant at $r_0$ until the time $t_0$, then changing at the constant rate $\dot r$,
/// $r(t) = r_0 + \dot r\max(0, t - t_0)$.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reference {
    /// Value $r_0$ until the start.
    pub hold: f64,
    /// Rate $\dot r$ after the start.
    pub rate: f64,
    /// Start $t_0$ (s).
    pub start: f64,
}

impl Reference {
    /// Creates a prescribed joint coordinate that keeps the value `value` (m or rad).
    pub fn fixed(value: f64) -> Self {
        Self {
            hold: value,
            rate: 0.0,
            start: 0.0,
        }
    }

    /// Returns the prescribed joint coordinate and its rate at a time (s).
    pub fn at(&self, time: f64) -> (f64, f64) {
        if time < self.start {
            (self.hold, 0.0)
        } else {
            (self.hold + self.rate * (time - self.start), self.rate)
        }
    }
}
