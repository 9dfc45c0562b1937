//! Prediction of a measured impact by an impact law.

use crate::FitError;
use crate::impact::Impact;
use crate::law::{FitLaw, Parameters};
use crate::noise::tangents;
use crate::setup::{Plane, Setup};
use carom_contact::{Contact, ContactSet, ImpactError, ImpactLaw, ImpactProblem};
use carom_impact::frictional::{AnitescuPotra, MoreauNewton, Sampler, Sequential, SetValued};
use carom_impact::internal::Draw;
use carom_impact::two_body::ImpactOptions;
use carom_impact::{Plastic, Routh};
use carom_metric::{Covector, KineticMetric, Tangent};
use carom_numeric::decisions::RANK;
use nalgebra::{DMatrix, Matrix3, Matrix6, SMatrix, SVector, Vector3, Vector6};

/// Touching vertex, as rows that map velocity and angular velocity (world axes) to contact velocities.
#[derive(Clone, Debug)]
struct Touch {
    normal: Vector6<f64>,
    tangents: [Vector6<f64>; 2],
    /// True if the vertex approaches. Only then it gets a restitution: Newton's law would make a separating
    /// vertex approach.
    is_approaching: bool,
}

/// Measured impact, prepared for repeated prediction.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub toss: u64,
    pub index: usize,
    touches: Vec<Touch>,
    /// Index of the touching vertex with the smallest gap.
    lowest: usize,
    pub before: Vector6<f64>,
    pub after: Vector6<f64>,
    /// Derivative of `before` and `after` with respect to gravity.
    by_gravity: SMatrix<f64, 12, 3>,
    /// Kinetic norm $\lVert u^-\rVert_\ast$ of the velocity before the impact, see [`norm`](Self::norm).
    speed: f64,
    /// Configured inertia divided by the mass, $I_0/m$, in world axes, and its factor $F$ with $F^TF = I_0/m$.
    /// Impacts on a fixed plane depend on mass and inertia only through this ratio.
    gyration: Matrix3<f64>,
    gyration_factor: Matrix3<f64>,
}

impl Case {
    pub(crate) fn new(impact: &Impact, setup: &Setup, plane: &Plane) -> Self {
        let turn = impact.rotation.matrix();
        let gyration = setup.body.rigid.inertia() / setup.body.rigid.mass();
        let gyration = turn * gyration * turn.transpose();
        let gyration = (gyration + gyration.transpose()) * 0.5;
        let before = Vector6::from(impact.velocity_minus);
        let along = tangents(&plane.normal);
        let touches: Vec<Touch> = impact
            .corners
            .iter()
            .filter_map(|&k| setup.body.vertices.get(k))
            .map(|vertex| {
                let arm = turn * vertex;
                let row = |d: &Vector3<f64>| {
                    let moment = arm.cross(d);
                    Vector6::new(d.x, d.y, d.z, moment.x, moment.y, moment.z)
                };
                let normal = row(&plane.normal);
                Touch {
                    is_approaching: normal.dot(&before) < 0.0,
                    tangents: [row(&along[0]), row(&along[1])],
                    normal,
                }
            })
            .collect();
        let lowest = (0..impact.gaps.len())
            .min_by(|&i, &j| f64::total_cmp(&impact.gaps[i], &impact.gaps[j]))
            .unwrap_or(0);
        let mut case = Self {
            toss: impact.toss,
            index: impact.index,
            touches,
            lowest,
            before,
            after: Vector6::from(impact.velocity_plus),
            by_gravity: impact.by_gravity,
            speed: 0.0,
            gyration,
            gyration_factor: gyration
                .cholesky()
                .map_or(Matrix3::zeros(), |c| c.l().transpose()),
        };
        case.speed = case.norm(&before);
        case
    }

    /// Returns the measured impact as it would have been measured if the estimate of gravity had been larger by the
    /// vector `more_gravity` (m/s²). The velocities before and after the impact change.
    pub(crate) fn under(&self, more_gravity: &Vector3<f64>) -> Self {
        let moved = self.by_gravity * more_gravity;
        let mut case = self.clone();
        case.before += moved.fixed_rows::<6>(0);
        case.after += moved.fixed_rows::<6>(6);
        case.speed = case.norm(&case.before);
        for touch in &mut case.touches {
            touch.is_approaching = touch.normal.dot(&case.before) < 0.0;
        }
        case
    }

    /// Computes the kinetic norm (m/s) of a velocity $u = (v, \omega)$:
    /// $\lVert u\rVert_\ast = \sqrt{\lvert v\rvert^2 + \omega^TI_0\omega/m}$, with the configured inertia $I_0$ and
    /// the mass $m$. $v$ is the velocity of the center of mass, $\omega$ the angular velocity.
    pub(crate) fn norm(&self, u: &Vector6<f64>) -> f64 {
        let v = u.fixed_rows::<3>(0);
        let omega = u.fixed_rows::<3>(3);
        (v.norm_squared() + omega.dot(&(self.gyration * omega)))
            .max(0.0)
            .sqrt()
    }

    /// Computes the kinetic energy of a velocity `u` (linear, then angular) divided by the mass (m²/s²), with the
    /// configured inertia.
    pub(crate) fn energy(&self, u: &Vector6<f64>) -> f64 {
        0.5 * carom_numeric::power(self.norm(u), 2)
    }

    /// Returns the velocity `u` (linear, then angular) in coordinates in which its Euclidean norm is the kinetic
    /// norm, see [`norm`](Self::norm). The angular part is multiplied by $F$ with $F^TF = I_0/m$, the configured
    /// inertia divided by the mass.
    pub(crate) fn euclidean(&self, u: &Vector6<f64>) -> Vector6<f64> {
        let omega = self.gyration_factor * u.fixed_rows::<3>(3);
        Vector6::new(u[0], u[1], u[2], omega.x, omega.y, omega.z)
    }

    /// Computes the relative residual $(\hat u^+ - u^+)/\lVert u^-\rVert_\ast$ of a predicted velocity $\hat u^+$
    /// after the impact. $u^-$ and $u^+$ are the measured velocities before and after it, and
    /// $\lVert\cdot\rVert_\ast$ is the kinetic norm.
    pub(crate) fn residual(&self, predicted: &Vector6<f64>) -> Vector6<f64> {
        (predicted - self.after) / self.speed
    }

    /// Returns the mass matrix (6 × 6) divided by the mass, for velocity and angular velocity in world axes. The
    /// configured inertia is multiplied by `inertia_factor`.
    pub(crate) fn mass_matrix(&self, inertia_factor: f64) -> Matrix6<f64> {
        let mut matrix = Matrix6::identity();
        matrix
            .fixed_view_mut::<3, 3>(3, 3)
            .copy_from(&(self.gyration * inertia_factor));
        matrix
    }

    /// Returns the normal rows of all touching vertices, and all their tangent rows. The product of a row with a
    /// velocity (linear, then angular) is the velocity of the vertex along the normal or the tangent.
    pub(crate) fn rows(&self) -> (Vec<Vector6<f64>>, Vec<Vector6<f64>>) {
        let normals = self.touches.iter().map(|touch| touch.normal).collect();
        let slides = self.touches.iter().flat_map(|touch| touch.tangents);
        (normals, slides.collect())
    }

    /// Returns the normal velocities (m/s) of the touching vertex before and after the impact, if exactly one vertex
    /// touches; otherwise `None`.
    pub(crate) fn corner_speeds(&self) -> Option<[f64; 2]> {
        match self.touches.as_slice() {
            [touch] => Some([
                touch.normal.dot(&self.before),
                touch.normal.dot(&self.after),
            ]),
            _ => None,
        }
    }

    fn metric(&self, inertia_factor: f64) -> Result<KineticMetric, ImpactError> {
        let matrix = self.mass_matrix(inertia_factor);
        Ok(KineticMetric::new(DMatrix::from_fn(6, 6, |i, j| {
            matrix[(i, j)]
        }))?)
    }

    fn contact(&self, touch: &Touch, p: &Parameters, is_frictional: bool) -> Contact {
        let row = |row: &Vector6<f64>| Covector::from_slice(row.as_slice());
        let mut contact = Contact::frictionless(row(&touch.normal));
        if is_frictional {
            contact.tangents = touch.tangents.iter().map(row).collect();
            contact.friction = p.friction;
        }
        if touch.is_approaching {
            contact.restitution = p.restitution;
        }
        contact
    }

    /// Assembles the impact problem of this measured impact, with the contacts that `law` needs and the parameters `p`.
    fn problem(&self, law: FitLaw, p: &Parameters) -> Result<ImpactProblem, ImpactError> {
        let metric = self.metric(p.inertia)?;
        let is_frictional = law != FitLaw::Plastic;
        let alone = matches!(law, FitLaw::Routh(_)).then_some(self.lowest);
        let contacts = self
            .touches
            .iter()
            .enumerate()
            .filter(|(k, _)| alone.is_none_or(|lowest| lowest == *k))
            .map(|(_, touch)| self.contact(touch, p, is_frictional))
            .collect();
        let contacts = ContactSet::new(metric, contacts)?;
        contacts.problem(Tangent::from_slice(self.before.as_slice()))
    }

    /// Predicts the velocity after this measured impact by an impact law with the parameters `p`: linear (m/s), then
    /// angular (rad/s), in world axes.
    pub(crate) fn predict(&self, law: FitLaw, p: &Parameters) -> Result<Vector6<f64>, ImpactError> {
        let by = |law_object: &dyn ImpactLaw| {
            let outcome = law_object.resolve(&self.problem(law, p)?)?;
            Ok(Vector6::from_column_slice(
                outcome.velocity_plus.0.as_slice(),
            ))
        };
        match law {
            FitLaw::MoreauNewton => by(&MoreauNewton::default()),
            FitLaw::AnitescuPotra => by(&AnitescuPotra::default()),
            FitLaw::Sequential => by(&Sequential::default()),
            FitLaw::Routh(restitution_law) => by(&Routh::default()
                .with_options(ImpactOptions::default().with_restitution_law(restitution_law))),
            FitLaw::Plastic => by(&Plastic::default()),
            FitLaw::SetValued => by(&self.set_valued(0, 1)),
            FitLaw::Stick => Ok(self.stick(p.inertia)),
            FitLaw::NoImpact => Ok(self.before),
        }
    }

    fn set_valued(&self, seed: u64, samples: u64) -> SetValued {
        SetValued::default().with_samples(samples).with_seed(seed)
    }

    /// Draws `samples` random outcomes of the set-valued law for this impact, with random numbers determined by `seed`.
    /// Returns the distance of the measured velocity after the impact to the nearest of these outcomes, divided by the
    /// velocity before the impact. Distance and velocity are measured in the kinetic norm.
    pub(crate) fn set_distance(
        &self,
        p: &Parameters,
        seed: u64,
        samples: u64,
    ) -> Result<f64, ImpactError> {
        let problem = &self.problem(FitLaw::SetValued, p)?;
        if !problem.is_approaching() {
            return Ok(self.residual_norm(&self.before));
        }
        let sampler = Sampler::new(problem, &self.set_valued(seed, samples))?;
        let mut draw = Draw::default();
        let mut nearest = f64::INFINITY;
        for sample in 0..samples {
            let ends = sampler.draw(sample, &mut draw).is_ok() && draw.is_ended;
            if let Some(Ok(outcome)) = ends.then(|| sampler.outcome(&draw)) {
                let v = outcome.velocity_plus.0;
                let u = Vector6::from_column_slice(v.as_slice());
                nearest = nearest.min(self.residual_norm(&u));
            }
        }
        if nearest.is_finite() {
            Ok(nearest)
        } else {
            Err(self.set_valued(seed, samples).none_ended())
        }
    }

    /// Computes the misfit $d = \lVert\hat u^+ - u^+\rVert_\ast/\lVert u^-\rVert_\ast$ of a predicted velocity
    /// $\hat u^+$ after the impact. $u^-$ and $u^+$ are the measured velocities before and after it, and
    /// $\lVert\cdot\rVert_\ast$ is the kinetic norm.
    pub(crate) fn residual_norm(&self, predicted: &Vector6<f64>) -> f64 {
        self.norm(&(predicted - self.after)) / self.speed
    }

    /// Returns the velocity after the impact if all touching vertices stop, by the least change of velocity in the
    /// kinetic norm. The configured inertia is multiplied by `inertia_factor`.
    fn stick(&self, inertia_factor: f64) -> Vector6<f64> {
        let mass = self.mass_matrix(inertia_factor);
        let Some(factor) = mass.cholesky() else {
            return self.before;
        };
        let lower = factor.l();
        let mut momentum = lower.transpose() * self.before;
        for axis in orthonormal(
            &lower,
            self.touches
                .iter()
                .flat_map(|touch| [touch.normal, touch.tangents[0], touch.tangents[1]]),
        ) {
            momentum -= axis * axis.dot(&momentum);
        }
        lower
            .transpose()
            .solve_upper_triangular(&momentum)
            .unwrap_or(self.before)
    }
}

/// Returns an orthonormal basis of the span of the whitened rows $L^{-1}a$, with the rows $a$ and the Cholesky factor
/// $L$ = `lower` of the mass matrix, by two passes of Gram-Schmidt. A row that adds less than 1e-10 of its length
/// counts as dependent and is left out.
pub(crate) fn orthonormal(
    lower: &Matrix6<f64>,
    rows: impl Iterator<Item = Vector6<f64>>,
) -> Vec<Vector6<f64>> {
    let mut basis: Vec<Vector6<f64>> = Vec::with_capacity(6);
    for row in rows {
        let Some(white) = lower.solve_lower_triangular(&row) else {
            continue;
        };
        let mut rest = white;
        for _ in 0..2 {
            for axis in &basis {
                rest -= axis * axis.dot(&rest);
            }
        }
        if rest.norm() > RANK * white.norm() {
            basis.push(rest.normalize());
        }
    }
    basis
}

/// Predicts the velocities of the body after a measured impact by an impact law. Returns the velocity of the center of mass
/// (m/s) and the angular velocity (rad/s), both in world axes.
///
/// The touching vertices become contacts with the normal of the plane. Restitution and friction are those of `parameters`, but
/// a vertex that does not approach has restitution 0. The impact law of [`carom_impact`] then solves the impact problem.
///
/// # Errors
///
/// [`FitError::ParameterRange`], and [`FitError::Impact`] if the law has no answer.
pub fn predict(
    impact: &Impact,
    setup: &Setup,
    plane: &Plane,
    law: FitLaw,
    parameters: &Parameters,
) -> Result<[f64; 6], FitError> {
    parameters.check()?;
    let found = Case::new(impact, setup, plane).predict(law, parameters);
    found.map(SVector::into).map_err(|source| FitError::Impact {
        toss: impact.toss,
        index: impact.index,
        source,
    })
}
