//! Lipschitz constant of the map from the input of a step to its result.

use super::space::ContactSpace;
use super::stepper::StepProblem;
use super::{NetBound, polygon::directions};
use carom_contact::nnls::nonnegative_least_squares;
use carom_contact::{ContactSet, ImpactError};
use nalgebra::{DMatrix, DVector};

/// Largest number of unknowns of a step for which all $2^{15}$ complementary cones are visited: three
/// contacts in the plane, two in space with four directions.
pub const MAX_CONE_UNKNOWNS: usize = 15;

/// Width of a cone (sine of an angle) below which the cone counts as having no interior.
const FLAT: f64 = 1e-9;

/// Largest distance of two results that count as one, as a fraction of the Lipschitz constant.
const SAME: f64 = 1e-9;

/// Ratio of the smallest to the largest pivot below which a basis counts as singular.
const SINGULAR: f64 = 1e-12;

/// Lipschitz constant of one step of the set-valued law. The step maps the velocity $v$ before it and the upper bounds
/// (caps) $\lambda_{\max}$ of the normal impulses to the velocity $v'$ after it, see
/// [`ImpactStepper`](super::ImpactStepper). The constant is computed from the linear pieces of this map.
///
/// The map is linear on each complementary cone of the step's problem. If every step has one solution,
/// the full-dimensional cones tile the space, and the largest spectral norm of their Jacobians is exactly
/// the Lipschitz constant $L$ of Lemma 1 and Eq. (171) of Halm & Posa. Norms are Euclidean
/// in the caller's coordinates and rows, so $L$ depends on their units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepLipschitz {
    /// Lipschitz constant $L$.
    pub constant: f64,
    /// Number of complementary cones that have an interior.
    pub cones: usize,
    /// True if the middle of some cone lies inside another cone with a different result. Then steps
    /// have several solutions, and the map has no Lipschitz constant: [`constant`](Self::constant) applies to each
    /// solution branch by itself.
    pub is_multivalued: bool,
    contacts: usize,
}

/// One complementary cone: its inequalities on $(v, \lambda_{\max})$, a point in its interior, and the linear map on it.
struct Cone {
    rows: Vec<DVector<f64>>,
    middle: DVector<f64>,
    jacobian: DMatrix<f64>,
}

impl StepLipschitz {
    /// Computes the Lipschitz constant of a step for a set of contacts, by visiting all complementary cones of the step
    /// problem. `friction_directions` is the number of directions of the friction polygon in space; 4 if `None`.
    ///
    /// # Errors
    ///
    /// [`ImpactError::EnumerationLimit`] beyond [`MAX_CONE_UNKNOWNS`] unknowns,
    /// [`ImpactError::InvalidOption`] for the number of directions.
    ///
    /// # Examples
    ///
    /// One ball that falls without friction: the upper bound (cap) of the impulse either lets the ball stop or only slows it
    /// down.
    ///
    /// ```
    /// use carom_impact::{Contact, ContactSet};
    /// use carom_impact::frictional::StepLipschitz;
    /// use carom_metric::{Covector, KineticMetric};
    /// use nalgebra::dmatrix;
    /// let metric = KineticMetric::new(dmatrix![0.5])?;
    /// let floor = Contact {
    ///     normal: Covector::from_slice(&[1.0]),
    ///     tangents: Vec::new(),
    ///     friction: 0.0,
    ///     restitution: 0.0,
    /// };
    /// let contacts = ContactSet::new(&metric, vec![floor])?;
    /// let step = StepLipschitz::new(&contacts, None)?;
    /// // v' = v + 2 cap while it still falls.
    /// assert!((step.constant - 5f64.sqrt()).abs() < 1e-14);
    /// assert_eq!((step.cones, step.is_multivalued), (3, false));
    /// # Ok::<(), carom_impact::ImpactError>(())
    /// ```
    pub fn new(
        contacts: &ContactSet<'_>,
        friction_directions: Option<usize>,
    ) -> Result<Self, ImpactError> {
        let space = ContactSpace::new(contacts);
        let k = directions(space.n_tangents, friction_directions)?;
        let step = StepProblem::new(&space, k, true)?;
        let n = step.dim();
        if n > MAX_CONE_UNKNOWNS {
            let per_contact = n / space.n_contacts.max(1);
            return Err(ImpactError::EnumerationLimit {
                contacts: space.n_contacts,
                tangents: space.n_tangents,
                max: MAX_CONE_UNKNOWNS / per_contact.max(1),
            });
        }
        let inputs = Inputs::new(contacts, &space, &step);
        let mut cones = Vec::new();
        for basis in 0..1usize << n {
            if let Some(cone) = inputs.cone(&step, basis)? {
                cones.push(cone);
            }
        }
        let norms = cones
            .iter()
            .map(|cone| cone.jacobian.singular_values().max());
        let constant = norms.fold(0.0, f64::max);
        Ok(Self {
            constant,
            cones: cones.len(),
            is_multivalued: overlap(&cones, constant),
            contacts: space.n_contacts,
        })
    }

    /// Bounds the number of samples whose outcomes come within `epsilon` of every outcome (an $\varepsilon$-net), by Lemma 1
    /// of Halm & Posa. Samples have `steps` steps, in which the normal impulses have upper bounds (caps) of at most
    /// `impulse_step` (N·s). The map from all $Nm$ caps ($N$ steps, $m$ contacts) to the outcome has a Lipschitz constant of
    /// at most $L^N$, Eq. (171), with the constant $L$ of one step.
    pub fn net(&self, steps: usize, impulse_step: f64, epsilon: f64) -> NetBound {
        NetBound {
            dimension: steps * self.contacts,
            lipschitz: libm::pow(self.constant, steps as f64),
            side: impulse_step,
            epsilon,
        }
    }
}

/// Derivatives of the right-hand side and of the velocity after the step with respect to $x = (v, \lambda_{\max})$.
struct Inputs {
    /// Derivative of the scaled right-hand side with respect to x (unknowns × inputs).
    vector: DMatrix<f64>,
    /// Velocity change made by each scaled unknown at value 1 (n × unknowns).
    response: DMatrix<f64>,
}

impl Inputs {
    fn new(contacts: &ContactSet<'_>, space: &ContactSpace, step: &StepProblem) -> Self {
        let (dim, m) = (contacts.metric().dim(), space.n_contacts);
        let primal = space.primal_columns(contacts);
        let slot_rows = primal.tr_mul(contacts.metric().mass_matrix());
        let mut columns = Vec::with_capacity(dim + m);
        let (mut out, mut caps) = (Vec::new(), vec![0.0; m]);
        for column in slot_rows.column_iter() {
            step.vector(column.as_slice(), &caps, &mut out);
            columns.push(DVector::from_column_slice(&out));
        }
        let rest = vec![0.0; space.n_slots()];
        for (i, contact) in space.indices().enumerate() {
            caps[i] = space.normal_norm(contact);
            step.vector(&rest, &caps, &mut out);
            columns.push(DVector::from_column_slice(&out));
            caps[i] = 0.0;
        }
        let mut unit = vec![0.0; step.dim()];
        let mut response = DMatrix::zeros(dim, step.dim());
        for j in 0..step.dim() {
            unit[j] = 1.0;
            let impulse = DVector::from_vec(step.impulse(&unit, space.n_slots()));
            unit[j] = 0.0;
            response.set_column(j, &(&primal * impulse));
        }
        Self {
            vector: DMatrix::from_columns(&columns),
            response,
        }
    }

    /// Computes the set (cone) of inputs (velocity and upper bounds of the impulses) for which a basis solves the
    /// complementarity problem `step`, and the linear solution there. Bit i of `basis` is set if unknown i is basic. `None`
    /// if the cone has no interior.
    fn cone(&self, step: &StepProblem, basis: usize) -> Result<Option<Cone>, ImpactError> {
        let matrix = step.scaled_matrix();
        let (n, inputs) = (step.dim(), self.vector.ncols());
        let is_basic = |i: &usize| basis >> i & 1 == 1;
        let basic: Vec<usize> = (0..n).filter(is_basic).collect();
        let other: Vec<usize> = (0..n).filter(|i| !is_basic(i)).collect();
        let given = self.vector.select_rows(&basic);
        let values = if basic.is_empty() {
            given
        } else {
            let lu = matrix.select_rows(&basic).select_columns(&basic).lu();
            let pivots = lu.u().diagonal().abs();
            if pivots.min() <= SINGULAR * pivots.max() {
                return Ok(None);
            }
            match lu.solve(&-given) {
                Some(values) => values,
                None => return Ok(None),
            }
        };
        let slack = self.vector.select_rows(&other)
            + matrix.select_rows(&other).select_columns(&basic) * &values;
        // Inequalities with vanishing rows are always satisfied.
        let largest = values.amax().max(slack.amax());
        let rows: Vec<DVector<f64>> = values
            .row_iter()
            .chain(slack.row_iter())
            .filter(|row| row.amax() > 1e-12 * largest)
            .map(|row| row.transpose().normalize())
            .collect();
        let Some(middle) = interior(&rows, inputs)? else {
            return Ok(None);
        };
        let dim = self.response.nrows();
        let mut jacobian = self.response.select_columns(&basic) * values;
        for i in 0..dim {
            jacobian[(i, i)] += 1.0;
        }
        Ok(Some(Cone {
            rows,
            middle,
            jacobian,
        }))
    }
}

/// Finds a unit vector with `dim` entries whose products with all `rows` are positive; `None` if no such vector exists. The
/// vector points to the point of the rows' convex hull nearest to the origin. By Gordan's theorem, this point is the origin
/// exactly if no such vector exists.
fn interior(rows: &[DVector<f64>], dim: usize) -> Result<Option<DVector<f64>>, ImpactError> {
    if rows.is_empty() {
        return Ok(Some(DVector::zeros(dim)));
    }
    let hull = DMatrix::from_fn(dim + 1, rows.len(), |i, j| {
        rows[j].get(i).copied().unwrap_or(1.0)
    });
    let mut target = DVector::zeros(dim + 1);
    target[dim] = -1.0;
    let weights = nonnegative_least_squares(&hull, &target, 1e-14)?;
    let nearest = hull.rows(0, dim) * &weights / weights.sum();
    let distance = nearest.norm();
    Ok((distance > FLAT).then(|| nearest / distance))
}

/// True if two cones of inputs (velocity and upper bounds of the impulses) overlap and give different solutions at the
/// midpoint of one of them. Differences below [`SAME`] times the Lipschitz constant `constant` are rounding.
fn overlap(cones: &[Cone], constant: f64) -> bool {
    cones.iter().any(|a| {
        cones.iter().any(|b| {
            let is_inside = b.rows.iter().all(|row| row.dot(&a.middle) > FLAT);
            let differs = || {
                let (here, there) = (&a.jacobian * &a.middle, &b.jacobian * &a.middle);
                (here - there).amax() > SAME * constant
            };
            is_inside && differs()
        })
    })
}
