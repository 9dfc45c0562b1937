//! Impacts of limits and contact points, posed in the velocities that all joints allow.

use super::contact::{JointImpact, LimitHit, Place, Posed, Reaction};
use super::run::Run;
use super::single;
use crate::{ImpactContact, MotionError, SingleLaw};
use carom_contact::{Contact, ContactSet, ImpactError, ImpactLaw, ImpactProblem};
use carom_impact::TwoBody;
use carom_joints::JointError;
use carom_joints::frames::{Row, stack};
use carom_joints::minimal::Basis;
use carom_joints::step::contacts::ContactRow;
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::{Matrix3, Vector3, Vector6};

/// Joint rows, velocities and contact rows at the time of an impact.
pub(super) struct Instant {
    rows: Vec<Row>,
    velocities: Vec<Vector6<f64>>,
    contact_rows: Vec<ContactRow>,
    /// Mobility matrix (inverse inertia) of the contact rows, row-major.
    pub(super) mobility: Vec<f64>,
}

impl Run<'_> {
    /// Resolves one impact: computes the impulses at the contacts `posed`, of which at least one approaches, and applies them to
    /// the velocities.
    pub(super) fn resolve(&mut self, posed: &[Posed]) -> Result<JointImpact, MotionError> {
        let instant = self.instant_of(posed)?;
        let (impulses, law) = self.answer(posed, &instant)?;
        if self.is_self_stressed(&impulses) {
            let time = self.time;
            return Err(MotionError::Joint(JointError::ContactForces { time }));
        }
        Ok(self.apply(posed, &impulses, &instant, law))
    }

    /// Applies an impulse (N s) and a moment about the center of mass (N m s) to a mobile body; the joints answer.
    pub(super) fn kick(
        &mut self,
        body: usize,
        impulse: &Vector3<f64>,
        moment: &Vector3<f64>,
    ) -> Result<(), MotionError> {
        let rotation = &self.posture.states[body].rotation;
        let row = Row {
            child: stack(impulse, &rotation.rotate_back(moment)),
            force: *impulse,
            couple: *moment,
            ..Row::zeros()
        };
        let ends = [None, Some(body)];
        let instant = self.instant(vec![ContactRow { row, ends }])?;
        self.apply(&[], &[1.0], &instant, "");
        Ok(())
    }

    /// Returns the rows and velocities of contacts at the present time.
    pub(super) fn instant_of(&mut self, posed: &[Posed]) -> Result<Instant, MotionError> {
        let rows = posed.iter().flat_map(|p| &p.rows[..p.n_rows()]);
        self.instant(rows.copied().collect())
    }

    /// Returns the rows and velocities at the present time.
    fn instant(&mut self, contact_rows: Vec<ContactRow>) -> Result<Instant, MotionError> {
        let mb = self.world.multibody();
        let mut rows = Vec::new();
        mb.rows(&self.posture.states, &self.posture.q, &mut rows);
        let mobility = self
            .stepper
            .mobility(&self.posture.states, &rows, &contact_rows, self.time)
            .map_err(MotionError::Joint)?;
        Ok(Instant {
            rows,
            velocities: self.velocities(),
            contact_rows,
            mobility,
        })
    }

    /// Calls the impact law for the impulses in all directions of the contacts `posed`. Returns the impulses, and the
    /// name of the law. `instant` holds the velocities before the impact and the matrices at that time. If the law
    /// fails for all contacts together, it is called again without the contacts that neither approach nor separate. If
    /// one of these contacts then begins to approach, it causes the next impact.
    fn answer(
        &self,
        posed: &[Posed],
        instant: &Instant,
    ) -> Result<(Vec<f64>, &'static str), MotionError> {
        let all: Vec<usize> = (0..posed.len()).collect();
        let refused = match self.ask_law(posed, &all, instant) {
            Err(error @ MotionError::Impact { .. }) => error,
            answer => return answer,
        };
        let some: Vec<usize> = all
            .into_iter()
            .filter(|c| {
                let still = posed[*c].pair().map_or(0.0, |pair| self.still(pair));
                posed[*c].before[0] < -still
            })
            .collect();
        if some.is_empty() || some.len() == posed.len() {
            Err(refused)
        } else {
            self.ask_law(posed, &some, instant)
        }
    }

    fn ask_law(
        &self,
        posed: &[Posed],
        members: &[usize],
        instant: &Instant,
    ) -> Result<(Vec<f64>, &'static str), MotionError> {
        let time = self.time;
        let at = |source: ImpactError| MotionError::Impact { time, source };
        let mut offsets = vec![0];
        for p in posed {
            offsets.push(offsets.last().copied().unwrap_or(0) + p.n_rows());
        }
        let n = offsets.last().copied().unwrap_or(0);
        let mut impulses = vec![0.0; n];
        if let ([index], SingleLaw::TwoBody(options)) = (members, self.laws.single) {
            let (p, first) = (&posed[*index], offsets[*index]);
            let w = |i: usize, j: usize| instant.mobility[(first + i) * n + first + j];
            if p.n_rows() == 1 {
                impulses[first] = -(1.0 + p.restitution) * p.before[0] / w(0, 0);
                return Ok((impulses, TwoBody::default().name()));
            }
            // The law has the normal last.
            let order = [1, 2, 0];
            let matrix = Matrix3::from_fn(|i, j| w(order[i], order[j]));
            let velocity = Vector3::new(p.before[1], p.before[2], p.before[0]);
            let surface = (p.friction, p.restitution);
            let found = single::impulse(&matrix, &velocity, surface, &options).map_err(at)?;
            impulses[first..first + 3].copy_from_slice(&[found.z, found.x, found.y]);
            return Ok((impulses, TwoBody::default().name()));
        }
        let mb = self.world.multibody();
        let ends = instant.contact_rows.iter().flat_map(|row| row.ends);
        let bodies: Vec<usize> = ends.flatten().collect();
        let basis = Basis::new(mb, &self.posture.states, &instant.rows, &bodies);
        let velocity = basis
            .coordinates(mb, &instant.velocities, &instant.rows)
            .ok_or_else(|| {
                MotionError::Joint(JointError::SingularJoints {
                    joint: String::new(),
                    time,
                })
            })?;
        let metric = KineticMetric::new(basis.mass.clone()).map_err(|e| at(e.into()))?;
        // Joints that block a tangent leave rounding errors in its row, which no law could tell from a direction.
        let rows_of = |c: &usize| -> Vec<usize> {
            let first = offsets[*c];
            let own = |k: &usize| instant.mobility[(first + k) * (n + 1)].abs();
            let rows = 0..posed[*c].n_rows();
            let largest = rows.clone().map(|k| own(&k)).fold(0.0, f64::max);
            rows.filter(|k| *k == 0 || own(k) > single::BLOCKED * largest)
                .collect()
        };
        let kept: Vec<Vec<usize>> = members.iter().map(rows_of).collect();
        let contact = |(c, kept): (&usize, &Vec<usize>)| {
            let p = &posed[*c];
            let form = |row: &ContactRow| Covector(basis.covector(&row.row, &row.ends));
            let tangents = kept[1..].iter().map(|k| form(&p.rows[*k]));
            let friction = if kept.len() > 1 { p.friction } else { 0.0 };
            Contact::new(form(&p.rows[0]))
                .with_tangents(tangents.collect::<Vec<_>>())
                .with_friction(friction)
                .with_restitution(p.restitution)
        };
        let list = members.iter().zip(&kept).map(contact).collect();
        let set = ContactSet::new(metric, list).map_err(at)?;
        let problem = ImpactProblem::new(&set, Tangent(velocity)).map_err(at)?;
        let several;
        let law: &dyn ImpactLaw = match (members.len(), self.laws.single) {
            (1, SingleLaw::Any(law)) => law,
            _ => {
                several = (self.laws.several)(self.n_impacts, &problem);
                several.as_ref()
            }
        };
        let outcome = law.resolve(&problem).map_err(at)?;
        for ((place, index), kept) in set.indices().zip(members).zip(&kept) {
            for (k, row) in kept.iter().zip(set.row_range(place)) {
                impulses[offsets[*index] + k] = outcome.impulses[row];
            }
        }
        Ok((impulses, law.name()))
    }

    /// Applies the contact impulses of an impact to the velocities of all bodies, and returns the record of the impact.
    /// `impulses` has one entry per contact direction, in the order of `posed`; `instant` holds the velocities before the impact
    /// and the matrices at that time.
    pub(super) fn apply(
        &mut self,
        posed: &[Posed],
        impulses: &[f64],
        instant: &Instant,
        law: &'static str,
    ) -> JointImpact {
        let mb = self.world.multibody();
        let rows = &instant.rows;
        let energy_minus = mb.kinetic(&self.posture);
        let mut after = instant.velocities.clone();
        let mut multipliers = vec![0.0; mb.n_rows()];
        self.stepper.pass_on(
            rows,
            &instant.contact_rows,
            impulses,
            &mut after,
            &mut multipliers,
        );
        mb.set_velocities(&after, &mut self.posture.states);
        mb.coordinate_rates(rows, &after, &mut self.rates);
        let rotors = self.posture.rotors.iter_mut().zip(&self.rates);
        for ((rotor, rate), c) in rotors.zip(mb.coordinates()) {
            rotor[1] = if c.armature > 0.0 { *rate } else { 0.0 };
        }
        let mut limits = vec![0.0; mb.n_rows()];
        let (mut hits, mut touches, mut next) = (Vec::new(), Vec::new(), 0);
        for p in posed {
            let own = &impulses[next..next + p.n_rows()];
            next += p.n_rows();
            match p.place {
                Place::Limit(contact) => {
                    limits[self.world.row_of(contact.coordinate)] += contact.sign() * own[0];
                    hits.push(LimitHit {
                        contact,
                        impulse: own[0],
                        normal_velocity: p.before[0],
                    });
                }
                Place::Point { pair, point, gap } => {
                    let of = &self.world.touch().pairs[pair];
                    let impulse: Vector3<f64> = p.frame.iter().zip(own).map(|(d, x)| d * *x).sum();
                    touches.push(ImpactContact {
                        first: of.first,
                        second: of.second,
                        point,
                        normal: p.frame[0],
                        impulse,
                        normal_velocity: p.before[0],
                    });
                    let second = of.second;
                    self.support_thing(second, &impulse);
                    self.lowest_gap = self.lowest_gap.min(gap);
                }
            }
        }
        let reactions = self.react(rows, &multipliers, &limits);
        JointImpact {
            time: self.time,
            law: law.into(),
            energy_minus,
            energy_plus: mb.kinetic(&self.posture),
            hits,
            touches,
            reactions,
        }
    }

    /// Returns the constraint impulse and moment of every joint in an impact, and adds these impulses to the sums of the ground
    /// and of fixed bodies. `multipliers` holds the constraint impulses, one per joint row; `limits` the impulses of joint
    /// limits, in the same order.
    fn react(&mut self, rows: &[Row], multipliers: &[f64], limits: &[f64]) -> Vec<Reaction> {
        let mb = self.world.multibody();
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
                total += rows[rates + k].force * (multipliers[rates + k] + limits[rates + k]);
            }
            self.support(j, &total);
        }
        reactions
    }
}
