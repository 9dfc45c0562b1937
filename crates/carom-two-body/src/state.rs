//! The state of a contact during an impact.

/// Impulse, velocity and work at one instant of an impact.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct State {
    /// $(I_x, I_y, I_z)$.
    pub(crate) impulse: [f64; 3],
    /// $\gamma$.
    pub(crate) sliding: [f64; 2],
    /// $\rho = |\gamma|$.
    pub(crate) rho: f64,
    /// $v_z$.
    pub(crate) normal_velocity: f64,
    /// $N = \int v_z dI_z$.
    pub(crate) work: f64,
}
