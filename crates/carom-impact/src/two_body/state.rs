//! The state of a contact during an impact.

/// Impulse, velocity and work at one instant of an impact.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    /// $(I_x, I_y, I_z)$.
    pub(super) impulse: [f64; 3],
    /// $\gamma$.
    pub(super) sliding: [f64; 2],
    /// $\rho = |\gamma|$.
    pub(super) rho: f64,
    /// $v_z$.
    pub(super) normal_velocity: f64,
    /// $N = \int v_z dI_z$.
    pub(super) work: f64,
}
