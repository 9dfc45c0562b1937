//! Data with which a step begins: contact points, their mobility and friction, and the rounding of velocities.

use super::{SHORT, STILL, slip_of};
use crate::MotionError;
use crate::dependent::Dependent;
use crate::kick::Friction;
use crate::step_scene::{Points, StepScene};
use carom_variational::State;
use carom_variational::load::Pull;
use nalgebra::Vector3;

/// Slips of contacts that stick after an impact, relative to the fastest motion of a material point.
const STICKING: f64 = 1e-10;

/// Rounding of a gap or a velocity, relative to the largest number of which it is the difference.
pub(crate) const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Contacts of an island at the start of a step, and the data that do not change while the impulses of the step are sought.
/// Lists over rows have three entries per contact: normal, first and second tangent.
pub(super) struct StepStart<'s> {
    pub(super) scene: &'s StepScene<'s>,
    /// States of the bodies before the first kick.
    pub(super) states: &'s [State],
    /// Length of the step (s).
    pub(super) h: f64,
    pub(super) points: Points,
    /// Mobility matrix of the contact rows (row-major).
    pub(super) mobility: Vec<f64>,
    /// Velocities of the contact rows before the first kick (m/s).
    pub(super) before: Vec<f64>,
    /// Loads of the bodies at the start, for those on which some act in kicks.
    pub(super) pulls: Vec<Option<Pull>>,
    /// Largest velocity of a contact row, plus the velocity that gravity gives within the step (m/s).
    pub(super) scale: f64,
    /// Contact velocity that counts as zero (m/s).
    pub(super) still: f64,
    /// Rounding error of the mean velocities of the flight (m/s).
    pub(super) noise: f64,
    /// Rounding error of velocities at one instant (m/s).
    pub(super) speed_noise: f64,
    /// True if the step is so short that rates of gaps replace differences of gaps.
    pub(super) is_short: bool,
    /// Fraction of a penetration at the start that may be left at the end. The penetration is removed over one time step of the
    /// grid, so only in part over a shorter step.
    pub(super) return_share: f64,
    /// Friction coefficient and law of each contact: a contact that slides at the start has friction against that slip.
    pub(super) sliding: Vec<(f64, Friction)>,
    /// Friction coefficient and law of each contact, with friction against the mean slip of the flight everywhere.
    pub(super) implicit: Vec<(f64, Friction)>,
    /// Linear dependencies of the rows whose velocities are prescribed: normals, and tangents of sticking contacts.
    pub(super) dependent: Dependent,
}

impl<'s> StepStart<'s> {
    /// Collects the contacts of the island `scene` in given `states`, for a step of length `h` (s), in the order of the `marks` of
    /// the step before.
    pub(super) fn new(
        scene: &'s StepScene<'s>,
        states: &'s [State],
        h: f64,
        marks: &[(usize, Vector3<f64>)],
    ) -> Result<Self, MotionError> {
        let points = scene.start(states, marks);
        let (mut mobility, mut before) = (Vec::new(), Vec::new());
        points.rows.mobility(&mut mobility);
        let velocities = scene.velocities(states);
        points.rows.velocities(&velocities, &mut before);
        let fastest = before.iter().fold(0.0, |s: f64, x| s.max(x.abs()));
        let pulls = scene.pulls(scene.time, states)?;
        let strongest = scene.accelerations(states).into_iter();
        let scale = fastest + strongest.fold(0.0, f64::max) * h;
        // Largest coordinate of a material point, and its largest speed.
        let (mut length, mut speed) = (0.0_f64, 0.0_f64);
        for (body, (state, velocity)) in scene.bodies.iter().zip(states.iter().zip(&velocities)) {
            length = length.max(state.position.amax() + body.radius);
            speed = speed.max(velocity.linear.norm() + velocity.angular.norm() * body.radius);
        }
        let still = STILL * scale + STICKING * speed;
        let speed_noise = speed * ROUNDING;
        let is_short = h <= SHORT * scene.time_step;
        let noise = if is_short {
            speed_noise
        } else {
            ROUNDING * length / h
        };
        let contacts = points.points.len();
        let friction_of = |c: usize| {
            let (index, _) = points.points.get(c)?;
            scene.pairs.get(*index).map(|pair| pair.friction)
        };
        let sliding: Vec<(f64, Friction)> = (0..contacts)
            .map(|c| {
                let (mu, slip) = (friction_of(c).unwrap_or(0.0), slip_of(&before, c));
                let friction = match (mu > 0.0, slip.norm() > still) {
                    (false, _) => Friction::Frictionless,
                    (true, true) => Friction::Against(slip / slip.norm()),
                    (true, false) => Friction::Coulomb,
                };
                (mu, friction)
            })
            .collect();
        let implicit = sliding
            .iter()
            .map(|(mu, friction)| match friction {
                Friction::Frictionless => (*mu, *friction),
                _ => (*mu, Friction::Coulomb),
            })
            .collect();
        let rows = 3 * contacts;
        let prescribed = (0..rows).filter(|row| {
            let law = sliding.get(row / 3).map(|(_, law)| *law);
            row % 3 == 0 || law == Some(Friction::Coulomb)
        });
        Ok(Self {
            pulls,
            dependent: Dependent::new(&mobility, rows, prescribed.collect()),
            return_share: (1.0 - h / scene.time_step).max(0.0),
            scene,
            states,
            h,
            points,
            mobility,
            before,
            scale,
            still,
            noise,
            speed_noise,
            is_short,
            sliding,
            implicit,
        })
    }

    /// Number of contact points.
    pub(super) fn contacts(&self) -> usize {
        self.points.points.len()
    }

    /// Computes the velocity changes of all contact rows (m/s) that impulses at these rows (N s) make.
    pub(super) fn response<'a>(&'a self, impulses: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let rows = self.mobility.chunks_exact(impulses.len().max(1));
        rows.map(move |row| row.iter().zip(impulses).map(|(w, x)| w * x).sum())
    }
}
