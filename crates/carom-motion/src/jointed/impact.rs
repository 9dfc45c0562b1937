//! Impacts at the limits of coordinates.

use super::run::Run;
use crate::world::{MotionError, SingleLaw};
use carom_impact::{Contact, ContactSet, ImpactError, ImpactLaw, ImpactProblem, TwoBody};
use carom_joints::elimination::rate;
use carom_joints::minimal::Basis;
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::Vector3;

/// A limit of a coordinate as a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitContact {
    /// Coordinate, counted over all joints.
    pub coordinate: usize,
    /// True for the upper limit.
    pub upper: bool,
}

impl LimitContact {
    /// 1 at the lower, −1 at the upper limit: the sign of the contact's row.
    pub(super) fn sign(self) -> f64 {
        if self.upper { -1.0 } else { 1.0 }
    }
}

/// A limit that takes part in an impact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitHit {
    /// The limit.
    pub contact: LimitContact,
    /// Impulse, at least 0 (N s or N m s).
    pub impulse: f64,
    /// Normal velocity before, negative if they approach (m/s or rad/s).
    pub normal_velocity: f64,
}

/// Impulse of a joint's conditions on its child during an impact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reaction {
    /// Index of the joint.
    pub joint: usize,
    /// Impulse at the child's origin (N s).
    pub impulse: Vector3<f64>,
    /// Moment about it (N m s).
    pub moment: Vector3<f64>,
}

/// One instant of impact.
#[derive(Clone, Debug, PartialEq)]
pub struct JointImpact {
    /// Time (s).
    pub time: f64,
    /// Name of the law that answered.
    pub law: &'static str,
    /// Kinetic energy before (J).
    pub energy_minus: f64,
    /// Kinetic energy after (J).
    pub energy_plus: f64,
    /// Limits.
    pub hits: Vec<LimitHit>,
    /// Reactions of the joints.
    pub reactions: Vec<Reaction>,
}

impl Run<'_, '_> {
    /// Resolves the impact of limits that are reached; the first of them approach, those that rest are plastic.
    pub(super) fn resolve(
        &mut self,
        contacts: &[(LimitContact, f64)],
    ) -> Result<JointImpact, MotionError> {
        let world = self.world;
        let mb = world.multibody();
        let time = self.time;
        let mut rows = Vec::new();
        let mut velocities = Vec::new();
        mb.rows(&self.posture.states, &self.posture.q, &mut rows);
        mb.velocities(&self.posture.states, &mut velocities);
        let row_of = |contact: &LimitContact| world.row_of(contact.coordinate);
        let before: Vec<f64> = contacts
            .iter()
            .map(|(contact, _)| {
                let row = row_of(contact);
                contact.sign() * rate(&rows[row], mb.ends(mb.joint_of_row(row)), &velocities)
            })
            .collect();
        let at = |source: ImpactError| MotionError::Impact { time, source };
        let (pushes, law) = match (contacts, self.laws.single) {
            ([(contact, restitution)], SingleLaw::TwoBody(_)) => {
                // One contact without friction: all restitutions are Newton's.
                let mut unit = vec![0.0; mb.n_rows()];
                unit[row_of(contact)] = contact.sign();
                let mut still = self.posture.clone();
                for state in &mut still.states {
                    state.linear_momentum = Vector3::zeros();
                    state.angular_momentum = Vector3::zeros();
                }
                let (reply, _) = self
                    .stepper
                    .strike(&still, &rows, &unit, time)
                    .map_err(MotionError::Joint)?;
                let row = row_of(contact);
                let reply = rate(&rows[row], mb.ends(mb.joint_of_row(row)), &reply);
                let push = -(1.0 + restitution) * before[0] / (contact.sign() * reply);
                (vec![push], TwoBody::default().name())
            }
            _ => {
                let basis = Basis::new(mb, &self.posture.states, &rows);
                let singular = || {
                    MotionError::Joint(carom_joints::JointError::SingularJoints {
                        joint: String::new(),
                        time,
                    })
                };
                let velocity = basis
                    .coordinates(mb, &velocities, &rows)
                    .ok_or_else(singular)?;
                let metric = KineticMetric::new(basis.mass.clone()).map_err(|e| at(e.into()))?;
                let list = contacts
                    .iter()
                    .map(|(contact, restitution)| {
                        let row = row_of(contact);
                        let ends = mb.ends(mb.joint_of_row(row));
                        let normal = basis.covector(&rows[row], ends) * contact.sign();
                        Contact {
                            restitution: *restitution,
                            ..Contact::frictionless(Covector(normal))
                        }
                    })
                    .collect();
                let set = ContactSet::new(&metric, list).map_err(at)?;
                let problem = ImpactProblem::new(&set, Tangent(velocity)).map_err(at)?;
                let several;
                let law: &dyn ImpactLaw = match (contacts.len(), self.laws.single) {
                    (1, SingleLaw::Any(law)) => law,
                    _ => {
                        several = (self.laws.several)(self.n_impacts);
                        several.as_ref()
                    }
                };
                let outcome = law.resolve(&problem).map_err(at)?;
                let pushes = (0..contacts.len()).map(|i| outcome.impulses[set.row(i)]);
                (pushes.collect(), law.name())
            }
        };
        self.apply(contacts, &before, &pushes, &rows, law)
    }

    /// Changes the velocities by impulses on limits.
    fn apply(
        &mut self,
        contacts: &[(LimitContact, f64)],
        before: &[f64],
        pushes: &[f64],
        rows: &[carom_joints::frames::Row],
        law: &'static str,
    ) -> Result<JointImpact, MotionError> {
        let world = self.world;
        let mb = world.multibody();
        let mut impulses = vec![0.0; mb.n_rows()];
        for ((contact, _), push) in contacts.iter().zip(pushes) {
            impulses[world.row_of(contact.coordinate)] += contact.sign() * push;
        }
        let energy_minus = mb.kinetic(&self.posture);
        let (after, multipliers) = self
            .stepper
            .strike(&self.posture, rows, &impulses, self.time)
            .map_err(MotionError::Joint)?;
        mb.set_velocities(&after, &mut self.posture.states);
        mb.coordinate_rates(rows, &after, &mut self.rates);
        for ((rotor, rate), c) in self
            .posture
            .rotors
            .iter_mut()
            .zip(&self.rates)
            .zip(mb.coordinates())
        {
            rotor[1] = if c.armature > 0.0 { *rate } else { 0.0 };
        }
        let mut reactions = Vec::new();
        for j in 0..mb.joints().len() {
            let (first, rates) = mb.rows_of(j);
            let mut reaction = Reaction {
                joint: j,
                impulse: Vector3::zeros(),
                moment: Vector3::zeros(),
            };
            for row in first..rates {
                reaction.impulse += rows[row].force * multipliers[row];
                reaction.moment += rows[row].couple * multipliers[row];
            }
            if reaction.impulse != Vector3::zeros() || reaction.moment != Vector3::zeros() {
                reactions.push(reaction);
            }
            let mut total = reaction.impulse;
            for k in 0..mb.joints()[j].coordinates.len() {
                total += rows[rates + k].force * (multipliers[rates + k] + impulses[rates + k]);
            }
            self.support(j, &total);
        }
        let energy_plus = mb.kinetic(&self.posture);
        let hit = |((contact, push), before): ((&(LimitContact, f64), &f64), &f64)| LimitHit {
            contact: contact.0,
            impulse: *push,
            normal_velocity: *before,
        };
        Ok(JointImpact {
            time: self.time,
            law,
            energy_minus,
            energy_plus,
            hits: contacts.iter().zip(pushes).zip(before).map(hit).collect(),
            reactions,
        })
    }
}
