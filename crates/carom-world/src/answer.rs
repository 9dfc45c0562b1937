//! Impulses of an impact, by the impact law.

use crate::MotionError;
use crate::kick::{Friction, Kick, Work};
use crate::pair::ContactPoint;
use crate::run::Run;
use crate::scratch::{Posed, Touching};
use crate::spec::{CONTACT_TOLERANCE, SingleLaw};
use carom_contact::{Contact, ContactSet, ImpactError, ImpactLaw, ImpactProblem};
use carom_impact::TwoBody;
use carom_impact::two_body::{ContactInertia, ContactResponse, solve_impact};
use carom_metric::{Covector, KineticMetric, Tangent};
use carom_numeric::time::Time;
use nalgebra::{DMatrix, DVector, Matrix3, Vector3};

/// Returns a change of the velocities of `n` bodies that gives the contact rows the velocities of running surfaces: a law that
/// knows fixed surfaces alone then sees the slip. `None` without such surfaces.
fn shift(touching: &Touching, n: usize, time: Time) -> Result<Option<DVector<f64>>, MotionError> {
    let running = DVector::from_iterator(touching.velocities.len(), touching.rows.running());
    if running.iter().all(|x| *x == 0.0) {
        return Ok(None);
    }
    let mut rows = DMatrix::zeros(running.len(), 6 * n);
    for k in 0..running.len() {
        rows.set_row(
            k,
            &DVector::from_vec(touching.rows.covector(k, n)).transpose(),
        );
    }
    let failed = MotionError::ContactForces { time: time.high };
    let least = CONTACT_TOLERANCE * rows.amax();
    let found = rows.clone().svd(true, true).solve(&running, least);
    let shift = found.map_err(|_| failed.clone())?;
    let left = (rows * &shift - &running).amax();
    if left <= CONTACT_TOLERANCE * running.amax() {
        Ok(Some(shift))
    } else {
        // Surfaces that run differently below one body: its slips are those of no rigid motion.
        Err(failed)
    }
}

impl Run<'_> {
    /// Computes impulses with friction but without restitution, for the time at which infinitely many impacts accumulate. The
    /// impulses are written to `posed.impulses` (N s), three per contact point of `touching`: normal and two tangents. Fails if
    /// no solution is found.
    pub(super) fn inelastic(
        &self,
        touching: &Touching,
        posed: &mut Posed,
        time: Time,
    ) -> Result<(), MotionError> {
        touching.rows.mobility(&mut posed.mobility);
        let friction: Vec<(f64, Friction)> = touching
            .points
            .iter()
            .map(|((i, j), _)| match self.world.surface(*i, *j).friction {
                0.0 => (0.0, Friction::Frictionless),
                mu => (mu, Friction::Coulomb),
            })
            .collect();
        posed.impulses.clear();
        posed.impulses.resize(touching.velocities.len(), 0.0);
        let kick = Kick {
            mobility: &posed.mobility,
            velocity: &touching.velocities,
            friction: &friction,
            noise: 16.0 * f64::EPSILON * touching.scale,
            work: &Work::default(),
        };
        if kick.solve(&mut posed.impulses) {
            Ok(())
        } else {
            Err(MotionError::ContactForces { time: time.high })
        }
    }

    /// Computes the impulses of an impact by the impact law, and returns the name of the law. The impulses are written to
    /// `posed.impulses` (N s), three per contact point: normal and two tangents.
    ///
    /// If the law fails, it is called again with only those points that approach faster than `still` (m/s): the velocities of the
    /// others may be rounding. The others get no impulse; if they approach afterwards, they cause the next impact.
    pub(super) fn answer(
        &self,
        bodies: &[usize],
        touching: &Touching,
        posed: &mut Posed,
        still: f64,
        time: Time,
    ) -> Result<&'static str, MotionError> {
        let refused = match self.ask_law(bodies, touching, posed, still, time) {
            Err(error @ MotionError::Impact { .. }) => error,
            answer => return answer,
        };
        let all = 0..touching.points.len();
        let some: Vec<usize> = all
            .filter(|c| touching.velocities[3 * c] < -still)
            .collect();
        if some.is_empty() || some.len() == touching.points.len() {
            return Err(refused);
        }
        let fewer = Touching {
            points: some.iter().map(|c| touching.points[*c]).collect(),
            rows: touching.rows.of_contacts(&some),
            velocities: some
                .iter()
                .flat_map(|c| &touching.velocities[3 * c..3 * c + 3])
                .copied()
                .collect(),
            scale: touching.scale,
        };
        let law = self.ask_law(bodies, &fewer, posed, still, time)?;
        let mut impulses = vec![0.0; touching.velocities.len()];
        for (c, impulse) in some.iter().zip(posed.impulses.chunks_exact(3)) {
            impulses[3 * c..3 * c + 3].copy_from_slice(impulse);
        }
        posed.impulses = impulses;
        Ok(law)
    }

    /// Calls the impact law with all contact points of `touching`, and returns the name of the law. The impulses (N s) are
    /// written to `posed.impulses`, three per contact point: normal and two tangents. `bodies` are the bodies involved. Points of
    /// lasting contacts that approach no faster than `still` (m/s) rest, and have no restitution, nor have those that land slowly.
    fn ask_law(
        &self,
        bodies: &[usize],
        touching: &Touching,
        posed: &mut Posed,
        still: f64,
        time: Time,
    ) -> Result<&'static str, MotionError> {
        let impulses = &mut posed.impulses;
        impulses.clear();
        let at = |source: ImpactError| MotionError::Impact {
            time: time.high,
            source,
        };
        // A point that rests, or that separates, has no restitution: the law only prevents it from approaching.
        let surface_of = |c: usize, pair: &(usize, usize)| {
            let mut surface = self.world.surface(pair.0, pair.1);
            let slow = self.laws.slowest_landing(
                surface.restitution,
                &self.world.flights.gravity,
                self.world.time_step,
            );
            let fastest = if self.lasting.contains(*pair) {
                -slow.max(still)
            } else {
                0.0
            };
            if touching.velocities[3 * c] > fastest {
                surface.restitution = 0.0;
            }
            surface
        };
        if let ([(pair, _)], SingleLaw::TwoBody(options)) =
            (touching.points.as_slice(), self.laws.single)
        {
            let surface = surface_of(0, pair);
            if surface.friction == 0.0 {
                let impulse = self.frictionless(bodies, *pair, touching, surface.restitution);
                impulses.extend([impulse, 0.0, 0.0]);
                return Ok(TwoBody::default().name());
            }
            let w = &mut posed.mobility;
            touching.rows.mobility(w);
            let entry = |i: usize, j: usize| w.get(3 * i + j).copied().unwrap_or_default();
            // The law has the normal last.
            let order = [1, 2, 0];
            let matrix = Matrix3::from_fn(|i, j| entry(order[i], order[j]));
            let inertia = ContactInertia::from_matrix(&matrix).map_err(|e| at(e.into()))?;
            let v = &touching.velocities;
            let velocity = Vector3::new(v[1], v[2], v[0]);
            let response = solve_impact(
                &inertia,
                &velocity,
                surface.friction,
                surface.restitution,
                &options,
            )
            .map_err(|e| at(e.into()))?;
            let impulse = match response {
                ContactResponse::Impact(impact) => impact.impulse,
                _ => Vector3::zeros(),
            };
            impulses.extend([impulse.z, impulse.x, impulse.y]);
            return Ok(TwoBody::default().name());
        }
        let metric = KineticMetric::new(self.mass(bodies)).map_err(|e| at(e.into()))?;
        let contact = |(c, (pair, _)): (usize, &((usize, usize), ContactPoint))| {
            let surface = surface_of(c, pair);
            let row =
                |k: usize| Covector::from_slice(&touching.rows.covector(3 * c + k, bodies.len()));
            Contact::new(row(0))
                .with_tangents(if surface.friction > 0.0 {
                    vec![row(1), row(2)]
                } else {
                    Vec::new()
                })
                .with_friction(surface.friction)
                .with_restitution(surface.restitution)
        };
        let contacts: Vec<Contact> = touching.points.iter().enumerate().map(contact).collect();
        let set = ContactSet::new(metric, contacts).map_err(at)?;
        let entries: Vec<f64> = bodies
            .iter()
            .map(|i| self.velocity(*i))
            .flat_map(|v| [v.linear, v.angular])
            .flat_map(|v| [v.x, v.y, v.z])
            .collect();
        let mut velocity = Tangent::from_slice(&entries);
        if let Some(shift) = shift(touching, bodies.len(), time)? {
            velocity.0 += shift;
        }
        let problem = ImpactProblem::new(&set, velocity).map_err(at)?;
        let several;
        let law: &dyn ImpactLaw = match (touching.points.len(), self.laws.single) {
            (1, SingleLaw::Any(law)) => law,
            _ => {
                several = (self.laws.several)(self.n_impacts, &problem);
                several.as_ref()
            }
        };
        let outcome = law.resolve(&problem).map_err(at)?;
        for c in set.indices() {
            let rows = set.row_range(c);
            for k in 0..3 {
                let row = rows.clone().nth(k);
                impulses.push(row.map_or(0.0, |row| outcome.impulses[row]));
            }
        }
        Ok(law.name())
    }

    /// Returns the impulse $\lambda = -(1+e)u/\kappa$ (N s) at a contact without friction, with restitution $e$, normal
    /// velocity $u$ and mobility $\kappa$ (velocity per impulse). For a sphere that hits a fixed surface the formula is
    /// evaluated without $\kappa$, so that the velocity is reflected exactly. `pair`: indices of the two bodies, or of
    /// a body and a plane.
    pub(super) fn frictionless(
        &self,
        bodies: &[usize],
        pair: (usize, usize),
        touching: &Touching,
        restitution: f64,
    ) -> f64 {
        let alone = self.world.bodies[pair.0].sphere.is_some() && bodies.len() == 1;
        let stays = touching.rows.running().next() == Some(0.0);
        if alone
            && stays
            && let Some((_, point)) = touching.points.first()
        {
            // Only the center moves: the mass cancels.
            let momentum = point
                .normal
                .dot(&self.motions[pair.0].state.linear_momentum);
            return -(1.0 + restitution) * momentum;
        }
        -(1.0 + restitution) * touching.velocities[0] / touching.rows.mobility_entry(0, 0)
    }

    pub(super) fn mass(&self, bodies: &[usize]) -> DMatrix<f64> {
        let mut mass = DMatrix::zeros(6 * bodies.len(), 6 * bodies.len());
        for (place, body) in bodies.iter().enumerate() {
            let Some(rigid) = &self.world.bodies[*body].rigid else {
                continue;
            };
            for i in 0..3 {
                mass[(6 * place + i, 6 * place + i)] = rigid.mass();
                for j in 0..3 {
                    mass[(6 * place + 3 + i, 6 * place + 3 + j)] = rigid.inertia()[(i, j)];
                }
            }
        }
        mass
    }
}
