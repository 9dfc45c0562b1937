//! State of a contact during an impact.

/// Impulse, velocity and work at one instant of an impact.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct State {
    /// Impulse $(I_x, I_y, I_z)$.
    pub(crate) impulse: [f64; 3],
    /// Sliding velocity $\gamma$.
    pub(crate) sliding: [f64; 2],
    /// Sliding speed $\rho = |\gamma|$.
    pub(crate) rho: f64,
    /// Normal velocity $v_z$.
    pub(crate) normal_velocity: f64,
    /// Work of the normal impulse, $N = \int v_z dI_z$.
    pub(crate) work: f64,
}
