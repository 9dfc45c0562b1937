//! Lipschitz constant of the map from the input of a step to its result.

use super::slots::{slot_column, slot_norms};
use carom_contact::{ContactSet, ImpactError};
use carom_impact::internal::ContactSpace;
use carom_impact::lcp::{ContactLcp, ContactRows};
use carom_metric::interior_direction;
use nalgebra::{DMatrix, DVector};

/// Largest number of contacts in the plane for which all complementary cones are visited: $2^{15}$.
const MAX_CONTACTS: usize = 3;

/// Number of directions of friction in the plane.
const PLANAR: usize = 2;

/// Width of a cone (sine of an angle) below which the cone counts as having no interior.
const FLAT: f64 = 1e-9;

/// Largest distance of two results that count as one, as a fraction of the Lipschitz constant.
const SAME: f64 = 1e-9;

/// Ratio of the smallest to the largest pivot below which a basis counts as singular.
const SINGULAR: f64 = 1e-12;

/// Lipschitz constant of one step of the set-valued law in the plane. The step maps the velocity $v$ before it and the upper
/// bounds (caps) $\lambda_{\max}$ of the normal impulses to the velocity $v'$ after it, see
/// [`ImpactStepper`](carom_impact::internal::ImpactStepper). The constant is computed from the linear pieces of this map.
///
/// The map is linear on each complementary cone of the step's problem. If every step has one solution,
/// the full-dimensional cones tile the space, and the largest spectral norm of their Jacobians is exactly
/// the Lipschitz constant $L$ of Lemma 1 and Eq. (171) of Halm & Posa. Norms are Euclidean
/// in the caller's coordinates and rows, so $L$ depends on their units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StepLipschitz {
    /// Lipschitz constant $L$.
    pub(super) constant: f64,
    /// Number of complementary cones that have an interior.
    pub(super) cones: usize,
    /// True if the middle of some cone lies inside another cone with a different result. Then steps
    /// have several solutions, and the map has no Lipschitz constant: [`constant`](Self::constant) applies to each
    /// solution branch by itself.
    pub(super) is_multivalued: bool,
    contacts: usize,
}

/// One complementary cone: its inequalities on $(v, \lambda_{\max})$, a point in its interior, and the linear map on it.
struct Cone {
    rows: Vec<DVector<f64>>,
    middle: DVector<f64>,
    jacobian: DMatrix<f64>,
}

impl StepLipschitz {
    /// Computes the Lipschitz constant of a step for a set of planar contacts, by visiting all complementary cones of the step
    /// problem. `None` in space and for more than three contacts.
    pub(super) fn new(contacts: &ContactSet) -> Result<Option<Self>, ImpactError> {
        let space = ContactSpace::new(contacts);
        if space.n_tangents > 1 || space.n_contacts > MAX_CONTACTS {
            return Ok(None);
        }
        let step = Step::new(&space)?;
        let inputs = Inputs::new(contacts, &space, &step)?;
        let mut cones = Vec::new();
        for basis in 0..1usize << step.scales.len() {
            if let Some(cone) = inputs.cone(&step.matrix, basis)? {
                cones.push(cone);
            }
        }
        let norms = cones
            .iter()
            .map(|cone| cone.jacobian.singular_values().max());
        let constant = norms.fold(0.0, f64::max);
        Ok(Some(Self {
            constant,
            cones: cones.len(),
            is_multivalued: overlap(&cones, constant),
            contacts: space.n_contacts,
        }))
    }

    /// Returns $\log_{10}$ of the number of samples whose outcomes come within `epsilon` of every outcome (an
    /// $\varepsilon$-net), except with probability $\delta$ = `failure`, by Lemma 1 of Halm & Posa: $\ln(\delta\Omega) /
    /// \ln(1-\Omega)$, Eq. (171). Samples have $N$ = `steps` steps, in which the normal impulses of the $m$ contacts have upper
    /// bounds (caps) of at most $h$ = `impulse_step` (N·s). $\Omega = \lceil hL^N\sqrt{Nm}/\varepsilon\rceil^{-Nm}$ is the
    /// volume fraction of a cell of the box of all caps, with the constant $L$ of one step.
    pub(super) fn log10_samples(
        &self,
        steps: usize,
        impulse_step: f64,
        epsilon: f64,
        failure: f64,
    ) -> f64 {
        let n = (steps * self.contacts) as f64;
        let lipschitz = libm::pow(self.constant, steps as f64);
        let cells = (impulse_step * lipschitz * n.sqrt() / epsilon * (1.0 - 1e-12)).ceil();
        let log_cell = -n * libm::log(cells.max(1.0));
        let log_failure = -(libm::log(failure) + log_cell);
        // ln(1 - Ω) is equal to -Ω in working precision long before Ω underflows.
        let log_rate = if log_cell < -36.0 {
            log_cell
        } else {
            libm::log(-libm::log1p(-libm::exp(log_cell)))
        };
        (libm::log(log_failure) - log_rate) / std::f64::consts::LN_10
    }
}

/// Complementarity problem of a step with caps, scaled symmetrically so that the diagonal entries of impulses are 1.
struct Step {
    lcp: ContactLcp,
    matrix: DMatrix<f64>,
    /// Scale of each unknown: multipliers of the caps, impulses, multipliers of the friction cones.
    scales: Vec<f64>,
    /// Number of caps, one per contact.
    n_caps: usize,
}

impl Step {
    fn new(space: &ContactSpace) -> Result<Self, ImpactError> {
        let m = space.n_contacts;
        let (zero, inelastic) = (DVector::zeros(space.n_slots()), vec![0.0; m]);
        let rows = ContactRows {
            delassus: &space.gram,
            velocity: &zero,
            n_tangents: space.n_tangents,
            friction: &space.friction,
            restitution: &inelastic,
        };
        let lcp = ContactLcp::with_caps(&rows, PLANAR, &inelastic)?;
        let matrix = lcp.lcp().matrix();
        let n = lcp.lcp().dim();
        let n_cones = if space.n_tangents == 0 { 0 } else { m };
        let scale = |i: usize| match i {
            i if i < m => matrix[(m + i, m + i)].sqrt(),
            i if i < n - n_cones && matrix[(i, i)] > 0.0 => 1.0 / matrix[(i, i)].sqrt(),
            i if i < n - n_cones => 1.0,
            i => 1.0 / space.friction[i + n_cones - n].max(1.0).sqrt(),
        };
        let scales: Vec<f64> = (0..n).map(scale).collect();
        let matrix = DMatrix::from_fn(n, n, |i, j| scales[i] * matrix[(i, j)] * scales[j]);
        Ok(Self {
            lcp,
            matrix,
            scales,
            n_caps: m,
        })
    }

    /// Returns the impulses on the normalized contact rows made by one scaled unknown at value 1.
    fn impulse(&self, unknown: usize) -> Result<DVector<f64>, ImpactError> {
        let mut unit = vec![0.0; self.scales.len()];
        unit[unknown] = 1.0;
        let mut impulse = DVector::from_vec(self.lcp.impulses(&unit)?.as_slice().to_vec());
        impulse *= self.scales[unknown];
        Ok(impulse)
    }

    /// Returns the scaled right-hand side for the velocities of the normalized contact rows (slots) and the caps.
    /// `impulses`: those of [`impulse`](Self::impulse), one per unknown.
    fn vector(&self, impulses: &[DVector<f64>], velocity: &[f64], caps: &[f64]) -> DVector<f64> {
        let entry = |(i, impulse): (usize, &DVector<f64>)| {
            let cap = if i < self.n_caps {
                self.scales[i] * caps[i]
            } else {
                0.0
            };
            cap + impulse
                .iter()
                .zip(velocity)
                .map(|(l, v)| l * v)
                .sum::<f64>()
        };
        let entries = impulses.iter().enumerate().map(entry);
        DVector::from_iterator(impulses.len(), entries)
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
    fn new(contacts: &ContactSet, space: &ContactSpace, step: &Step) -> Result<Self, ImpactError> {
        let metric = contacts.metric();
        let (dim, m, width) = (metric.dim(), space.n_contacts, space.width());
        let mut primal = DMatrix::zeros(dim, space.n_slots());
        for (slot, mut column) in primal.column_iter_mut().enumerate() {
            let mut entries = slot_column(space, slot);
            metric.unwhiten_velocity_in_place(&mut entries);
            column.copy_from_slice(&entries);
        }
        let slot_rows = primal.tr_mul(metric.mass_matrix());
        let impulses = (0..step.scales.len()).map(|unknown| step.impulse(unknown));
        let impulses: Vec<DVector<f64>> = impulses.collect::<Result<_, _>>()?;
        let mut caps = vec![0.0; m];
        let mut columns: Vec<DVector<f64>> = slot_rows
            .column_iter()
            .map(|column| step.vector(&impulses, column.as_slice(), &caps))
            .collect();
        let rest = vec![0.0; space.n_slots()];
        for (i, norm) in slot_norms(space, contacts)
            .into_iter()
            .step_by(width)
            .enumerate()
        {
            caps[i] = norm;
            columns.push(step.vector(&impulses, &rest, &caps));
            caps[i] = 0.0;
        }
        let response: Vec<DVector<f64>> = impulses.iter().map(|l| &primal * l).collect();
        Ok(Self {
            vector: DMatrix::from_columns(&columns),
            response: DMatrix::from_columns(&response),
        })
    }

    /// Computes the set (cone) of inputs (velocity and upper bounds of the impulses) for which a basis solves the
    /// complementarity problem of the scaled `matrix`, and the linear solution there. Bit i of `basis` is set if unknown i is basic. `None`
    /// if the cone has no interior.
    fn cone(&self, matrix: &DMatrix<f64>, basis: usize) -> Result<Option<Cone>, ImpactError> {
        let (n, inputs) = (matrix.nrows(), self.vector.ncols());
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
        let middle = match interior_direction(&rows, FLAT)? {
            Some(middle) => middle,
            None if rows.is_empty() => DVector::zeros(inputs),
            None => return Ok(None),
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::system::FrictionalSystem;
    use super::super::{box_and_wall, compass_gait, disk_stack, rocking_block};
    use super::*;
    use crate::list::defaults;

    fn step(system: &FrictionalSystem) -> Option<StepLipschitz> {
        StepLipschitz::new(system.problem().unwrap().contacts()).unwrap()
    }

    /// Compares the constants with an independent implementation that visits the same cones, and the number of samples that
    /// Eq. (171) then asks for at radius and failure probability 0.05. Steps of the box have several solutions from some
    /// velocities; its constant is that of each solution by itself.
    #[test]
    fn the_constants_of_a_step() {
        let block = defaults::<rocking_block::Config>("rocking-block")
            .system()
            .unwrap();
        let wall = defaults::<box_and_wall::Config>("box-and-wall")
            .system()
            .unwrap();
        for (system, [constant, log10], cones, is_multivalued, [steps, size]) in [
            (
                block,
                [8.96781598332558, 221.81611290196287],
                126,
                false,
                [10.0, 0.3],
            ),
            (
                wall,
                [14.23464860327477, 80.95318325682773],
                100,
                true,
                [5.0, 2.0],
            ),
        ] {
            let step = step(&system).unwrap();
            assert!((step.constant - constant).abs() <= 1e-9, "{step:?}");
            assert_eq!((step.cones, step.is_multivalued), (cones, is_multivalued));
            let samples = step.log10_samples(steps as usize, size, 0.05, 0.05);
            assert!((samples - log10).abs() <= 1e-6, "{samples}");
        }
        let gait = defaults::<compass_gait::Config>("compass-gait")
            .system()
            .unwrap();
        assert!(step(&gait).unwrap().is_multivalued);
        let disks = defaults::<disk_stack::Config>("disk-stack")
            .system()
            .unwrap();
        assert!(step(&disks).is_none());
    }
}
