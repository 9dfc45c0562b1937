//! Constraint one-forms of a configuration, which may be linearly dependent.

use crate::ImpactError;
use crate::span::orthonormal;
use carom_metric::{Covector, KineticMetric, Tangent, UnitNormals, kernel};
use carom_numeric::decisions::RANK;
use nalgebra::{DMatrix, DVector};

/// Relative rounding error of each entry of a form: a dependent form may differ by this much from the span of the others.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Constraint one-forms $A$ (m × n): $Av = 0$ before and after the impact.
///
/// With the whitened forms $L^{-1}A^T = QR$ of rank $r$, the multipliers of a momentum $p$ in the span of the forms solve
/// $R\lambda = Q^Tp$. For dependent forms the multipliers of least norm are taken, with forms of unit kinetic length; with $R^T =
/// PT$ they are $PT^{-T}Q^Tp$.
#[derive(Clone, Debug)]
pub(crate) struct Constraints {
    forms: Vec<Covector>,
    /// Orthonormal basis $Q$ (n × r) of the whitened forms.
    basis: DMatrix<f64>,
    /// Least-norm inverse of $R$ (m × r) for forms of unit length.
    inverse: DMatrix<f64>,
    /// Forms of unit kinetic length that span the others (r × n), as given.
    independent: DMatrix<f64>,
    /// Their components along the basis (r × r): lower triangular but for rounding.
    triangle: DMatrix<f64>,
    /// Kinetic lengths of the forms (m entries).
    norms: DVector<f64>,
}

impl Constraints {
    /// Checks and factors linear velocity constraints. Each form is the row vector (n entries) whose product with the
    /// velocity must be zero.
    ///
    /// # Errors
    ///
    /// [`ImpactError::Metric`] for forms of a wrong length or with non-finite entries.
    pub(crate) fn new(metric: &KineticMetric, forms: Vec<Covector>) -> Result<Self, ImpactError> {
        for form in &forms {
            metric.check_vector("constraint", form.0.as_slice())?;
        }
        let units = Units::new(metric, &forms)?;
        let tolerance = RANK.max(resolution(metric, &forms, &units));
        let (basis, inverse) = inverse(&units.columns, tolerance)?;
        let components = units.columns.tr_mul(&basis);
        // The form that added a direction is the first one with a component along it.
        let first = components.column_iter();
        let first = first.filter_map(|along| along.iter().position(|c| c.abs() > tolerance));
        let first: Vec<usize> = first.collect();
        let unit = |i: usize, k: usize| forms[first[i]].0[k] / units.norms[first[i]];
        Ok(Self {
            independent: DMatrix::from_fn(first.len(), metric.dim(), unit),
            triangle: components.select_rows(&first),
            forms,
            basis,
            inverse,
            norms: DVector::from_vec(units.norms),
        })
    }

    /// Returns the constraint rows (forms) as the caller gave them.
    pub(crate) fn forms(&self) -> &[Covector] {
        &self.forms
    }

    /// Returns an orthonormal basis of the constraint rows in whitened coordinates, in which the kinetic metric is
    /// Euclidean. It is an n × r matrix, with the rank r of the constraints.
    pub(crate) fn basis(&self) -> &DMatrix<f64> {
        &self.basis
    }

    /// Computes the constraint impulses (multipliers, one per constraint row) whose sum is the component of a momentum in
    /// the span of the constraint rows. The momentum is whitened: given in coordinates with a Euclidean kinetic metric.
    pub(crate) fn multipliers(&self, whitened: &DVector<f64>) -> DVector<f64> {
        (&self.inverse * self.basis.tr_mul(whitened)).component_div(&self.norms)
    }

    /// Computes the component of the momentum of a velocity in the span of the forms, whitened. It is summed up from the velocities
    /// of independent forms as given: where one coordinate is held, rounding of the others has no part in it.
    pub(crate) fn along(&self, velocity: &Tangent) -> Option<DVector<f64>> {
        let rates = &self.independent * &velocity.0;
        Some(&self.basis * self.triangle.solve_lower_triangular(&rates)?)
    }

    /// Computes the constraint impulses that bring given velocities of the constraints to zero. With the matrix $A$ of the
    /// constraint rows, the mass matrix $M$ and velocities $c$ in the range of $AM^{-1}A^T$, it solves $AM^{-1}A^T\lambda =
    /// c$ and returns $-\lambda$.
    pub(crate) fn stop(&self, mut velocity: DVector<f64>) -> DVector<f64> {
        velocity.component_div_assign(&self.norms);
        -(&self.inverse * self.inverse.tr_mul(&velocity)).component_div(&self.norms)
    }
}

/// Whitened forms, normalized to unit length.
struct Units {
    columns: DMatrix<f64>,
    /// Kinetic length of each form before normalization; 1 for a zero form.
    norms: Vec<f64>,
}

impl Units {
    /// Whitens constraint rows (forms) of any size and normalizes them to unit length. A power of two brings each to about
    /// 1 before its entries are squared.
    fn new(metric: &KineticMetric, forms: &[Covector]) -> Result<Self, ImpactError> {
        let scales = forms.iter().map(|form| kernel::max_abs(form.0.as_slice()));
        let scales: Vec<f64> = scales.map(kernel::power_of_two_scale).collect();
        let scaled = forms.iter().zip(&scales);
        let scaled: Vec<Covector> = scaled.map(|(form, s)| Covector(&form.0 * *s)).collect();
        let units = UnitNormals::new_or_zero(metric, scaled.iter(), |_| true)?;
        let norms = scales.iter().enumerate();
        Ok(Self {
            norms: norms.map(|(j, s)| units.norm(j) / s).collect(),
            columns: units.columns().clone(),
        })
    }
}

/// Returns the largest rounding error of the whitened unit constraint rows that comes from the entries $a_k$ of the given
/// rows, $8\epsilon\sum_k|a_k|\lVert e_k\rVert/\lVert a\rVert$ for a row $a$. $\epsilon$ is the machine precision, $\lVert
/// e_k\rVert$ the kinetic length of coordinate $k$. If heavy and light coordinates are coupled, terms cancel in the kinetic
/// length of a row and the error exceeds $\epsilon$.
fn resolution(metric: &KineticMetric, forms: &[Covector], units: &Units) -> f64 {
    let n = metric.dim();
    let length = |k: usize| {
        let mut axis = vec![0.0; n];
        axis[k] = 1.0;
        metric.whiten_in_place(&mut axis);
        kernel::norm(&axis)
    };
    let lengths: Vec<f64> = (0..n).map(length).collect();
    let of = |(form, norm): (&Covector, &f64)| {
        let entries = form.0.iter().zip(&lengths);
        ROUNDING
            * entries
                .map(|(a, length)| (a / norm).abs() * length)
                .sum::<f64>()
    };
    forms.iter().zip(&units.norms).map(of).fold(0.0, f64::max)
}

/// Computes an orthonormal basis of the whitened unit forms (n × m) and their least-norm inverse. A form within the distance
/// `tolerance` of the span of the earlier ones counts as dependent.
///
/// Forms that share no coordinate are independent groups: Gram–Schmidt leaves zeros in coordinates of other groups, on which a far
/// body with a large momentum would act.
fn inverse(
    forms: &DMatrix<f64>,
    tolerance: f64,
) -> Result<(DMatrix<f64>, DMatrix<f64>), ImpactError> {
    let n = forms.nrows();
    let basis = orthonormal(forms.as_slice().chunks_exact(n.max(1)), tolerance);
    let rank = basis.len() / n.max(1);
    let basis = DMatrix::from_column_slice(n, rank, &basis);
    let (p, t) = forms.tr_mul(&basis).qr().unpack();
    let inverse = t.solve_upper_triangular(&DMatrix::identity(rank, rank));
    let inverse = inverse.ok_or(ImpactError::Overflow)?;
    Ok((basis, p * inverse.transpose()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use nalgebra::{dmatrix, dvector};

    fn factored(mass: DMatrix<f64>, forms: &[&[f64]]) -> Constraints {
        let metric = KineticMetric::new(mass).unwrap();
        let forms = forms.iter().map(|form| Covector::from_slice(form));
        Constraints::new(&metric, forms.collect()).unwrap()
    }

    fn assert_near(found: &DVector<f64>, expected: &[f64]) {
        let near = found
            .iter()
            .zip(expected)
            .all(|(a, b)| (a - b).abs() <= 1e-14);
        assert!(
            near && found.len() == expected.len(),
            "{found} {expected:?}"
        );
    }

    /// Checks the multipliers of three constraint rows of unit length at 120 degrees to each other in a plane: the
    /// multiplier of each row is two thirds of the projection of the momentum onto the row.
    #[test]
    fn more_forms_than_dimensions_share_their_multipliers() {
        let h = 0.75f64.sqrt();
        let forms: [&[f64]; 4] = [&[1.0, 0.0], &[-0.5, h], &[0.0, 0.0], &[-1.0, -2.0 * h]];
        let forms = factored(DMatrix::identity(2, 2), &forms);
        assert_eq!(forms.basis().ncols(), 2);
        let shares = forms.multipliers(&dvector![3.0, 0.0]);
        assert_near(&shares, &[2.0, -1.0, 0.0, -0.5]);
        // Multipliers stop the velocities that they make.
        let rates = dvector![3.0, -1.5, 0.0, -3.0];
        assert_near(&forms.stop(rates), &[-2.0, 1.0, 0.0, 0.5]);
    }

    /// Checks what is left of the velocity of a held coordinate, told twice with rounding.
    #[test]
    fn a_held_coordinate_stops_by_its_own_terms() {
        let mass = dmatrix![2.0, 0.5, 0.3; 0.5, 1.0, 0.2; 0.3, 0.2, 3.0];
        let metric = KineticMetric::new(mass.clone()).unwrap();
        let forms = factored(mass, &[&[0.0, 0.0, -2.0], &[0.0, 1e-14, 1.0]]);
        let velocity = Tangent::from_slice(&[0.7, 0.3, 1e-17]);
        let mut missed = forms.along(&velocity).unwrap();
        metric.unwhiten_velocity_in_place(missed.as_mut_slice());
        assert!((velocity.0 - missed)[2].abs() <= 1e-31);
    }

    /// Checks that two constraint rows at an angle of 1e-11 count as independent, and that two rows at an angle of
    /// 1e-13 count as dependent.
    #[test]
    fn rank_is_decided_at_a_trillionth() {
        for (angle, rank) in [(1e-7, 2), (1e-11, 2), (1e-13, 1), (0.0, 1)] {
            let forms: [&[f64]; 2] = [&[1.0, 0.0], &[5.0, 5.0 * angle]];
            let forms = factored(DMatrix::identity(2, 2), &forms);
            assert_eq!(forms.basis().ncols(), rank, "{angle:e}");
        }
    }

    /// Checks that rounding of the sum of two constraint rows in the given coordinates does not count as another
    /// independent row, although the mass matrix couples the coordinates.
    #[test]
    fn rounding_of_a_form_is_no_direction_where_masses_are_coupled() {
        // Kinetic energy ((x - y)^2 + 1e-14 (x + y)^2) / 2: lengths along x and y nearly cancel.
        let (a, b) = (1.0 + 1e-14, -1.0 + 1e-14);
        let mass = dmatrix![a, b, 0.0; b, a, 0.0; 0.0, 0.0, 1.0];
        let sum = [1.1 + 0.3, -1.1 + 0.3 - 0.3, 0.7 * 3.0];
        let forms: [&[f64]; 2] = [
            &[sum[0] / 3.0, sum[1] / 3.0, sum[2] / 3.0],
            &[sum[0], sum[1], sum[2]],
        ];
        assert_eq!(factored(mass, &forms).basis().ncols(), 1);
    }

    #[test]
    fn forms_of_any_size_are_forms() {
        let forms: [&[f64]; 3] = [&[1e-310, 0.0], &[0.0, 1e308], &[1e-310, 0.0]];
        let forms = factored(DMatrix::identity(2, 2), &forms);
        assert_eq!(forms.basis().ncols(), 2);
        let found = forms.multipliers(&dvector![1e-310, 1e308]);
        assert!(
            (found[0] - 0.5).abs() <= 1e-12 && (found[1] - 1.0).abs() <= 1e-15,
            "{found}"
        );
    }

    #[test]
    fn a_far_group_takes_no_part() {
        let forms: [&[f64]; 3] = [&[1.0, 1.0, 0.0], &[0.0, 0.0, 1.0], &[2.0, 2.0, 0.0]];
        let forms = factored(DMatrix::identity(3, 3), &forms);
        for direction in forms.basis().column_iter() {
            assert!(direction[2] == 0.0 || direction[0] == 0.0 && direction[1] == 0.0);
        }
    }
}
