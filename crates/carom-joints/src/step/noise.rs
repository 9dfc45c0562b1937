//! Rounding error of the residuals after a first kick, estimated for each row from the terms that it sums.
//!
//! The momentum of a body is a sum of impulses that may cancel: a rotor of 40 g geared to a body of a microgram takes all of a
//! motor's impulse from the body except a billionth. The remainder has the rounding error of the large terms. Divided by the
//! small mass it becomes a velocity error, and over the flight a residual that no impulse removes.

use super::Stepper;
use super::first::CLOSED;
use crate::assembly::OPEN;
use crate::elimination::push;
use crate::multibody::Posture;
use nalgebra::Vector6;

/// Rounding of a body's momentum after a kick, as a fraction of the sum of the absolute values of its terms.
const SUMMED: f64 = 4.0 * f64::EPSILON;

impl Stepper<'_> {
    /// Returns true if rounding explains the residuals of all joint conditions at the end of the flights. Each residual must be
    /// below [`CLOSED`] plus the effect of rounded momenta over the `length` (s) of the step. That effect counts up to at most
    /// [`OPEN`], the largest residual of a valid start. `base`: momentum changes of the bodies by forces; `multipliers`: impulses
    /// of the joint rows.
    pub(super) fn is_noise(
        &self,
        start: &Posture,
        length: f64,
        base: &[Vector6<f64>],
        multipliers: &[f64],
    ) -> bool {
        let mb = self.multibody;
        let noises = self.momentum_noises(start, base, multipliers);
        let size = mb.size();
        mb.joints().iter().enumerate().all(|(j, joint)| {
            let (first, rates) = mb.rows_of(j);
            let (mut along, mut about) = (0.0, 0.0);
            for body in mb.ends(j).iter().flatten() {
                let [velocity, spin] = noises[*body];
                along += length * (velocity + size * spin);
                about += length * spin;
            }
            let is_small = |row: usize, is_length: bool, noise: f64| {
                let unit = if is_length { size } else { 1.0 };
                let of_flight = if is_length { along } else { about };
                // Written in this order so that NaN fails.
                self.wanted[row].abs() * length
                    <= CLOSED * unit + (of_flight + noise).min(OPEN * unit)
            };
            let conditions = joint.kind.conditions.iter().enumerate();
            let closed = { conditions }
                .all(|(k, condition)| is_small(first + k, condition.is_length(), 0.0));
            closed
                && joint.coordinates.iter().enumerate().all(|(k, c)| {
                    let row = rates + k;
                    let place = mb.coordinates_of(j).start + k;
                    let [at, turning] = start.rotors[place];
                    let rotor = if c.armature > 0.0 {
                        turning.abs() + multipliers[row].abs() / c.armature
                    } else {
                        0.0
                    };
                    let noise = SUMMED * (at.abs() + length * rotor);
                    is_small(row, !joint.kind.coordinates[k].is_angle, noise)
                })
        })
    }

    /// Returns for each body the rounding error of its velocity (m/s) and of its angular velocity (rad/s) after the impulses at
    /// the start of a step. `base`: momentum changes of the bodies by forces; `multipliers`: impulses of the joint rows.
    fn momentum_noises(
        &self,
        start: &Posture,
        base: &[Vector6<f64>],
        multipliers: &[f64],
    ) -> Vec<[f64; 2]> {
        let mb = self.multibody;
        let mut terms: Vec<Vector6<f64>> = base.iter().map(Vector6::abs).collect();
        for j in 0..mb.joints().len() {
            let (first, rates) = mb.rows_of(j);
            for row in first..rates + mb.joints()[j].n_rates() {
                let mut sizes = self.rows[row];
                (sizes.parent, sizes.child) = (sizes.parent.abs(), sizes.child.abs());
                push(&sizes, mb.ends(j), multipliers[row].abs(), &mut terms);
            }
        }
        let of_body = |(body, terms): (usize, &Vector6<f64>)| {
            let Some(rigid) = mb.rigid(body) else {
                return [0.0; 2];
            };
            let state = &start.states[body];
            let linear = terms.fixed_rows::<3>(0).norm() + state.linear_momentum.norm();
            let angular = terms.fixed_rows::<3>(3).norm() + state.angular_momentum.norm();
            let least = rigid.inertia().symmetric_eigenvalues().min();
            [SUMMED * linear / rigid.mass(), SUMMED * angular / least]
        };
        terms.iter().enumerate().map(of_body).collect()
    }
}
