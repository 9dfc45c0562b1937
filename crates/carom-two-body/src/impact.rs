//! Solution of one impact at a contact: public functions and scaling.

use super::events::Events;
use super::inertia::ContactInertia;
use super::options::ImpactOptions;
use super::recorder::{Blind, Recorder};
use super::solve::{FinalMode, Run};
use crate::TwoBodyError;
use carom_numeric::kernel::power_of_two_scale;
use nalgebra::Vector3;

/// Closing speed, as a fraction of the velocity, below which velocities are scaled up further: 2^-400.
const SLOW_CLOSING: f64 = f64::from_bits((1023 - 400) << 52);

/// Response of a contact to its velocity before the impact: the contact separates, it closes with an impact, or it jams. In a jam
/// the contact touches without closing, and friction would press the bodies together so that no finite force keeps them apart
/// (Painlevé).
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::large_enum_variant)] // By value: the kernel allocates nothing.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum ContactResponse {
    /// The contact does not close, and the velocity does not change.
    Separating,
    /// The contact touches without closing, but friction would press the bodies together: no finite force keeps them
    /// apart (Painlevé). With [`ImpactOptions::tangential_impact`] it is resolved by an impulse.
    Jammed,
    /// The contact closes; the value is its impact.
    Impact(ContactImpact),
}

/// Result of the impact of a single contact: impulse, velocity after the impact, energies and events. Vectors
/// are in the axes of the inverse inertia matrix: two tangents, then the normal.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct ContactImpact {
    /// Impulse on body 1, N·s.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub impulse: Vector3<f64>,
    /// Contact velocity after the impact, $v^- + WI$; sliding is exactly zero if the contact sticks.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub velocity_plus: Vector3<f64>,
    /// Events in order.
    pub events: Events,
    /// Mode in which sliding ended.
    pub mode: FinalMode,
    /// Energy stored at the end of the first compression, before the loss, J.
    pub compression_energy: f64,
    /// Normal impulse at the end of the first compression, N·s.
    pub compression_impulse: f64,
    /// Work of the normal impulse $\int v_z dI_z$, J: minus the energy lost by restitution.
    pub normal_work: f64,
    /// Work of friction, J; never positive.
    pub friction_work: f64,
    /// True if restitution was interrupted by a second compression.
    pub recompressed: bool,
    /// Number of numerical integration steps; 0 if the whole impact has a closed form.
    pub steps: usize,
}

impl ContactImpact {
    /// Returns the change of the kinetic energy by the impact (J): the work of the normal impulse plus the work of friction. The
    /// change is negative if the impact loses energy.
    pub fn energy_change(&self) -> f64 {
        self.normal_work + self.friction_work
    }

    /// Returns the kinetic energy that the restitution law creates in the impact (J); 0 if it creates no energy. Stronge's law
    /// never creates energy; with friction Newton's law can.
    pub fn energy_gain(&self) -> f64 {
        self.energy_change().max(0.0)
    }
}

/// Solves the impact of a contact that closes, with Coulomb friction (coefficient `friction`) and restitution
/// (coefficient `restitution`). `w` is the inverse inertia matrix of the contact.
///
/// `velocity` is the velocity of body 1 relative to body 2 at the contact before the impact,
/// $(\gamma_x, \gamma_y, v_z)$: two tangential components and the normal one. The normal points into body 1, so
/// that $v_z < 0$ closes the contact. Any coherent units may be used.
///
/// # Errors
///
/// [`TwoBodyError::ContactVelocityNonFinite`], [`TwoBodyError::InvalidFriction`],
/// [`TwoBodyError::InvalidRestitution`], [`TwoBodyError::InvalidOption`], [`TwoBodyError::Overflow`],
/// [`TwoBodyError::ImpactStepLimit`] (not known to happen).
///
/// # Examples
///
/// Jia & Wang's icosahedron on a tetrahedron, section 2.2: compression ends, then sliding stops,
/// then the contact sticks.
///
/// ```
/// use carom_two_body::{ContactInertia, ContactResponse, ImpactOptions, solve_impact};
/// use nalgebra::{Matrix3, Vector3};
/// let w = ContactInertia::from_matrix(&Matrix3::new(
///     11.5984, -0.910367, 2.44236, -0.910367, 9.90134, 1.95747, 2.44236, 1.95747, 2.59042,
/// ))?;
/// let velocity = Vector3::new(-0.261976, 0.386329, -0.077174);
/// let response = solve_impact(&w, &velocity, 0.8, 0.95, &ImpactOptions::default())?;
/// let ContactResponse::Impact(impact) = response else { unreachable!() };
/// assert_eq!(impact.events.sequence(), "csr");
/// assert!((impact.impulse.z - 0.10121096934862).abs() < 1e-14);
/// # Ok::<(), carom_two_body::TwoBodyError>(())
/// ```
pub fn solve_impact(
    w: &ContactInertia,
    velocity: &Vector3<f64>,
    friction: f64,
    restitution: f64,
    options: &ImpactOptions,
) -> Result<ContactResponse, TwoBodyError> {
    respond(w, velocity, friction, restitution, options, &mut Blind)
}

/// Checks the input, scales velocity and inverse inertia `w` by powers of two, and computes the impact. `recorder` receives
/// the states of the contact during the impact.
pub(crate) fn respond<R: Recorder>(
    w: &ContactInertia,
    velocity: &Vector3<f64>,
    friction: f64,
    restitution: f64,
    options: &ImpactOptions,
    recorder: &mut R,
) -> Result<ContactResponse, TwoBodyError> {
    check(velocity, friction, restitution)?;
    options.check()?;
    let v = [velocity.x, velocity.y, velocity.z];
    if v[2] >= 0.0 {
        let is_jam = v[2] == 0.0 && is_driven_together(w, v, friction);
        if !is_jam {
            return Ok(ContactResponse::Separating);
        }
        if !options.tangential_impact {
            return Ok(ContactResponse::Jammed);
        }
    }
    // Scales are powers of two, so that the result does not depend on units, to the last bit.
    let velocity_scale = velocity_scale(v);
    let inertia_scale = w.unit_scale();
    let scaled = w.scaled(inertia_scale);
    recorder.units(inertia_scale / velocity_scale, 1.0 / velocity_scale);
    let mut run = Run::new(
        &scaled,
        v.map(|x| x * velocity_scale),
        friction,
        restitution,
        options,
        recorder,
    );
    run.finish()?;
    let impact = unscaled(&scaled, v, velocity_scale, inertia_scale, &run);
    let is_finite = impact
        .impulse
        .iter()
        .chain(&impact.velocity_plus)
        .all(|x| x.is_finite());
    if is_finite {
        Ok(ContactResponse::Impact(impact))
    } else {
        Err(TwoBodyError::Overflow)
    }
}

/// Returns the power of two by which the contact velocity is multiplied to have about unit size. The factor is larger if
/// the contact closes so slowly that the square of the closing speed would underflow.
pub(crate) fn velocity_scale([x, y, z]: [f64; 3]) -> f64 {
    let size = x.abs().max(y.abs()).max(z.abs());
    let scale = power_of_two_scale(size);
    if (z * scale).abs() > SLOW_CLOSING {
        return scale;
    }
    scale * SLOW_CLOSING.recip()
}

pub(crate) fn check(
    velocity: &Vector3<f64>,
    friction: f64,
    restitution: f64,
) -> Result<(), TwoBodyError> {
    if let Some(index) = velocity.iter().position(|x| !x.is_finite()) {
        let value = velocity[index];
        return Err(TwoBodyError::ContactVelocityNonFinite { index, value });
    }
    if !(friction >= 0.0 && friction.is_finite()) {
        return Err(TwoBodyError::InvalidFriction { value: friction });
    }
    if !(0.0..=1.0).contains(&restitution) {
        return Err(TwoBodyError::InvalidRestitution { value: restitution });
    }
    Ok(())
}

/// True if a contact that touches without closing is pressed together by its own sliding friction: $w_{zz} < \mu d\cdot s$ with
/// the sliding direction $s$. $w_{zz}$ is the normal inverse inertia, $\mu$ the friction coefficient and $d$ the coupling (change
/// of the sliding velocity per unit normal impulse).
fn is_driven_together(w: &ContactInertia, [x, y, _]: [f64; 3], friction: f64) -> bool {
    let rho = libm::hypot(x, y);
    rho > 0.0 && w.wzz < friction * (w.d1 * (x / rho) + w.d2 * (y / rho))
}

fn unscaled<R: Recorder>(
    scaled: &ContactInertia,
    velocity: [f64; 3],
    velocity_scale: f64,
    inertia_scale: f64,
    run: &Run<'_, R>,
) -> ContactImpact {
    let (state, normal, mode) = (&run.state, &run.normal, run.mode);
    let change = scaled.apply(state.impulse);
    let minus = velocity.map(|x| x * velocity_scale);
    let mut plus = [0, 1, 2].map(|i| minus[i] + change[i]);
    let work: f64 = (0..3)
        .map(|i| 0.5 * state.impulse[i] * (minus[i] + plus[i]))
        .sum();
    if mode == FinalMode::Stick {
        plus = [0.0, 0.0, plus[2]];
    }
    // The value from the normal process is more accurate than v + W I, which suffers cancellation.
    plus[2] = state.normal_velocity;
    let per_velocity = 1.0 / velocity_scale;
    let per_impulse = inertia_scale / velocity_scale;
    let per_energy = |x: f64| x * per_impulse * per_velocity;
    let events = run.events.rescaled(per_impulse, per_velocity);
    ContactImpact {
        impulse: Vector3::from(state.impulse) * per_impulse,
        velocity_plus: Vector3::from(plus) * per_velocity,
        events,
        mode,
        compression_energy: per_energy(normal.compression_energy),
        compression_impulse: normal.compression_impulse * per_impulse,
        normal_work: per_energy(state.work),
        friction_work: per_energy((work - state.work).min(0.0)),
        recompressed: normal.is_recompressed(),
        steps: run.steps,
    }
}
