//! Bounds on the length of an impact.

use super::polygon::directions;
use super::set_valued::refuse;
use super::space::ContactSpace;
use super::stepper::StepProblem;
use crate::tolerances::BALANCED;
use carom_contact::{ContactIndex, ContactSet, ImpactError, ImpactProblem};
use carom_lcp::{Lcp, LcpSolver, LcpStatus, Lemke};
use carom_metric::{Tangent, kernel};
use nalgebra::{DMatrix, DVector};
use std::f64::consts::PI;

/// Upper bounds on the length of a frictional impact: on its total normal impulse $s$ (N·s), and on the number of random
/// steps of the set-valued law.
///
/// Notation: velocity $v_0$ before the impact, mass matrix $M$, contact Jacobian $J$, contact impulses $\lambda$ with normal
/// parts $\lambda_n$, contact forces $F = J^T\lambda$, and friction cones $\mathrm{FC}$.
///
/// The norm of the smallest admissible contact force with normal impulses of sum 1,
/// $\rho = \min\lbrace\lVert J^T\lambda\rVert_{M^{-1}} : \lambda \in \mathrm{FC},\ \lVert\lambda_n\rVert_1 = 1\rbrace$,
/// is positive if and only if no admissible impulses balance each other. Its minimizer $F^\ast$
/// gives $y = M^{-1}F^\ast/\rho^2$ with $y\cdot F \ge \lVert\lambda_n\rVert_1$ for all admissible
/// $F$, so along any solution of the inclusion
///
/// $$ s \le y^TM(v(s) - v_0) \le 2\lVert v_0\rVert_M/\rho. $$
///
/// This makes Proposition 4 of Halm & Posa constructive. In space the polygon is the circumscribed
/// one, so that the bounds hold for the round cone.
///
/// # Examples
///
/// ```
/// use carom_impact::frictional::TerminationBounds;
/// use carom_impact::{Contact, ContactSet, ImpactProblem};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::dmatrix;
/// let metric = KineticMetric::new(dmatrix![4.0])?;
/// let wall = Contact::frictionless(Covector::from_slice(&[1.0]));
/// let contacts = ContactSet::new(&metric, vec![wall])?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[-3.0]))?;
/// let bounds = TerminationBounds::new(&problem, 0.1, None)?;
/// // One contact of a mass m: ρ = 1/√m, and at most 2 m v of impulse.
/// assert!((bounds.pointedness - 0.5).abs() < 1e-12);
/// assert!((bounds.inclusion_impulse - 2.0 * 4.0 * 3.0).abs() < 1e-10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TerminationBounds {
    /// Smallest force norm $\rho$, in $\sqrt{\mathrm{kg}}^{-1}$ if gaps are in metres.
    pub pointedness: f64,
    /// Bound $2\lVert v_0\rVert_M/\rho$ on the normal impulse $s$ of the inclusion, N·s.
    pub inclusion_impulse: f64,
    /// Norm $\lVert r\rVert_2$ of the smallest vector $r$ with $r\cdot M^{-1}F \ge \lVert\lambda_n\rVert_1$ for all admissible
    /// forces $F$, Lemma 6. Depends on the units of the coordinates.
    pub euclidean_r: f64,
    /// Constant $c = 4\lceil(m+1)\lVert r\rVert_2/(h\sqrt\sigma)\rceil$ of Theorem 8 for $m$ contacts, with the impulse
    /// step $h$ and the smallest eigenvalue $\sigma$ of the mass matrix.
    pub euclidean_c: f64,
    /// Constant $c_M = 4\lceil(m+1)/(h\rho)\rceil$, the analogue of `euclidean_c` with kinetic norms throughout.
    pub kinetic_c: f64,
    /// Vector $y$, a velocity per unit of impulse, with $y\cdot F \ge \lVert\lambda_n\rVert_1$ for all
    /// admissible forces $F$.
    pub kinetic_witness: Tangent,
    /// Smallest vector $r$ of Lemma 6, in the coordinates of the mass matrix.
    pub euclidean_witness: Tangent,
    /// Constant $\psi = \sigma_{\max}(M^{-1}\bar J^T) m (1+\max\mu) + 1$. It determines the upper bounds (caps) of the
    /// normal impulses in the closing step, which ends a sample that has not ended by itself.
    pub psi: f64,
    contacts: usize,
    speed: f64,
}

impl TerminationBounds {
    /// Computes bounds on the total normal impulse and on the number of steps of an impact. In every step the normal
    /// impulses have random upper bounds (caps) of at most `impulse_step` ($h$, N·s). `friction_directions` is the number of
    /// directions of the friction polygon in space; 4 if `None`.
    ///
    /// # Errors
    ///
    /// [`ImpactError::NotPointed`], [`ImpactError::InvalidOption`] for the step or the number of
    /// directions, [`ImpactError::NotSolved`].
    pub fn new(
        problem: &ImpactProblem,
        impulse_step: f64,
        friction_directions: Option<usize>,
    ) -> Result<Self, ImpactError> {
        if !(impulse_step > 0.0 && impulse_step.is_finite()) {
            return refuse("impulse_step", impulse_step, "finite and positive");
        }
        let contacts = problem.contacts();
        let mut space = ContactSpace::new(contacts);
        let k = directions(space.n_tangents, friction_directions)?;
        if space.n_tangents > 1 {
            let circumscribe = 1.0 / libm::cos(PI / k as f64);
            space.friction.iter_mut().for_each(|mu| *mu *= circumscribe);
        }
        let primal = space.primal_columns(contacts);
        let impulse = least_force(&space, k)?;
        let force = kernel::norm(&space.change(impulse.as_slice()));
        let pointedness = pointed(force, &impulse, &space)?;
        let kinetic_witness = Tangent(&primal * impulse / (pointedness * pointedness));
        space.gram = primal.tr_mul(&primal);
        let impulse = least_force(&space, k)?;
        let change = &primal * &impulse;
        let least = pointed(change.norm(), &impulse, &space)?;
        let euclidean_witness = Tangent(change / (least * least));
        let euclidean_r = 1.0 / least;
        let mass = contacts.metric().mass_matrix().clone();
        let sigma = mass.symmetric_eigenvalues().min();
        let m = contacts.len();
        let speed = problem.norm() / problem.scale();
        let rounds = |x: f64| 4.0 * (x * (1.0 - 1e-9)).ceil();
        let h = impulse_step;
        Ok(Self {
            pointedness,
            inclusion_impulse: 2.0 * speed / pointedness,
            euclidean_r,
            euclidean_c: rounds((m + 1) as f64 * euclidean_r / (h * sigma.sqrt())),
            kinetic_c: rounds((m + 1) as f64 / (h * pointedness)),
            kinetic_witness,
            euclidean_witness,
            psi: Self::psi(contacts, friction_directions)?,
            contacts: m,
            speed,
        })
    }

    /// Computes only the constant $\psi = \sigma_{\max}(M^{-1}\bar J^T) m (1+\max\mu) + 1$ of $m$ contacts, with the largest
    /// singular value $\sigma_{\max}$, the mass matrix $M$, the matrix $\bar J$ of the normals and all friction directions,
    /// and the friction coefficients $\mu$. The constant determines the upper bounds (caps) of the normal impulses in the
    /// closing step, the last step of a sample that has not ended. The constant exists also if impulses can balance each
    /// other. `friction_directions` is the number of directions of the friction polygon in space; 4 if `None`.
    ///
    /// # Errors
    ///
    /// [`ImpactError::InvalidOption`] for the number of directions.
    pub fn psi(
        contacts: &ContactSet,
        friction_directions: Option<usize>,
    ) -> Result<f64, ImpactError> {
        let space = ContactSpace::new(contacts);
        let k = directions(space.n_tangents, friction_directions)?;
        let given = contacts.contacts();
        let primal = space.primal_columns(contacts);
        let mut columns = Vec::new();
        for i in space.indices() {
            let normal = space.normal_slot(i).index();
            columns.push(primal.column(normal) * space.normal_norm(i));
            let tangent = |t: usize| primal.column(normal + t) * space.tangent_norm(i);
            match space.n_tangents {
                0 => {}
                1 => columns.extend([tangent(1), -tangent(1)]),
                _ => columns.extend((0..k).map(|j| {
                    let (sin, cos) = libm::sincos(2.0 * PI * j as f64 / k as f64);
                    tangent(1) * cos + tangent(2) * sin
                })),
            }
        }
        if columns.is_empty() {
            return Ok(1.0);
        }
        let largest = DMatrix::from_columns(&columns).singular_values().max();
        let friction = given.iter().fold(0.0, |mu, c| f64::max(mu, c.friction));
        Ok(largest * space.n_contacts as f64 * (1.0 + friction) + 1.0)
    }

    /// Number of steps within which all samples end except for the fraction `tail`. It follows from Theorem 8 of Halm & Posa
    /// with the constant $c_M$ ([`kinetic_c`](Self::kinetic_c)), $P(Z > c_M\lceil\lVert v_0\rVert_M\rceil + k) \le
    /// \exp(-k/(m+1)^2)$, where $Z$ is the number of steps, $v_0$ the velocity before the impact, $m$ the number of contacts
    /// and $k$ any number of further steps. In practice samples end after far fewer steps.
    pub fn steps(&self, tail: f64) -> f64 {
        let per = ((self.contacts + 1) * (self.contacts + 1)) as f64;
        self.kinetic_c * self.speed.ceil() + (-libm::log(tail) * per).ceil().max(0.0)
    }
}

/// Returns `norm`, the length of the shortest vector sum of the contact forces. Fails with [`ImpactError::NotPointed`] if
/// it is only a rounding error of the individual forces `impulse`: then forces inside the friction cones can balance each
/// other.
fn pointed(norm: f64, impulse: &DVector<f64>, space: &ContactSpace) -> Result<f64, ImpactError> {
    let parts = impulse.iter().enumerate();
    let size: f64 = parts
        .map(|(slot, l)| l.abs() * space.gram[(slot, slot)].sqrt())
        .sum();
    if norm > BALANCED * size {
        Ok(norm)
    } else {
        Err(ImpactError::NotPointed)
    }
}

/// Computes contact forces inside the friction cones whose vector sum $\lVert\sum l_iu_i\rVert$ is shortest, if the normal
/// forces on the caller's rows sum to 1. $u_i$ are the normalized contact rows, $l_i$ the returned forces, one per row.
/// `n_directions`: edges of the polygon that replaces a friction cone.
///
/// The optimality conditions are those of the simultaneous problem plus skew-symmetric entries, so
/// they are assembled and scaled in the same way.
fn least_force(space: &ContactSpace, n_directions: usize) -> Result<DVector<f64>, ImpactError> {
    let m = space.n_contacts;
    if m == 0 {
        return Err(ImpactError::NotPointed);
    }
    let step = StepProblem::new(space, n_directions, false)?;
    let n = step.dim();
    let mut matrix = DMatrix::zeros(n + 1, n + 1);
    matrix
        .view_mut((0, 0), (n, n))
        .copy_from(&step.scaled_matrix());
    let mut vector = DVector::zeros(n + 1);
    vector[n] = -1.0;
    for i in 0..m {
        for cone in n - m..n {
            if space.n_tangents > 0 {
                let friction = matrix[(cone, i)];
                matrix[(i, cone)] -= friction;
            }
        }
        let weight = step.scale(i) / space.normal_norm(ContactIndex::new(i));
        matrix[(i, n)] = -weight;
        matrix[(n, i)] = weight;
    }
    let lcp = Lcp::new(matrix, vector)?;
    let solution = Lemke::default().solve(&lcp)?;
    if solution.status != LcpStatus::Solved {
        return Err(match solution.status {
            LcpStatus::Infeasible | LcpStatus::Ray => ImpactError::NotPointed,
            status => {
                let residual = solution.certificate.residual;
                ImpactError::unsolved(status, residual, solution.n_pivots)
            }
        });
    }
    let impulse = step.impulse(solution.z.as_slice(), space.n_slots());
    Ok(DVector::from_vec(impulse))
}
