//! Families of mechanisms in which two contacts close at a given angle.

use super::{Bound, Equations};
use crate::planar::{PlanarMechanism, Variation};
use crate::{Derivatives, DesignError, Dynamics, MechanicalSystem, MechanismError, Motion};
use carom_metric::{Covector, KineticMetric, UnitNormals};
use nalgebra::{DMatrix, DVector};

/// Quantity on which one unknown of a design problem acts: a coordinate of the mechanism's configuration, or constants of the
/// mechanism, such as lengths.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Influence {
    /// A coordinate of the stance, by its index.
    Coordinate(usize),
    /// Constants of the mechanism, with their derivatives with respect to the unknown.
    Constants(Variation),
}

/// One mechanism of a [`DesignFamily`] in one configuration (its stance), for given values of the unknowns. The quantity on which
/// each unknown acts is also stored, so that gradients can be computed.
#[derive(Clone, Debug, PartialEq)]
pub struct DesignPoint {
    /// Mechanism.
    pub mechanism: PlanarMechanism,
    /// Stance $q$ of the mechanism, one entry per coordinate.
    pub configuration: Vec<f64>,
    /// Quantity on which each unknown acts.
    pub influences: Vec<Influence>,
}

/// Family of mechanisms that depends on a list of unknowns $z$, such as lengths and coordinates. For given $z$, an implementation
/// returns one mechanism and one configuration of this mechanism, called its stance.
pub trait DesignFamily {
    /// Returns the number of unknowns $z$ of the family of mechanisms.
    fn unknowns(&self) -> usize;

    /// Returns the mechanism of the family for the unknowns $z$ (`z`, one entry per unknown), together with its configuration,
    /// called stance.
    ///
    /// # Errors
    ///
    /// [`MechanismError`] if there is no such mechanism.
    fn at(&self, z: &[f64]) -> Result<DesignPoint, MechanismError>;

    /// Returns the linear inequalities that the unknowns must satisfy for the family of mechanisms to be defined. By default
    /// there are no inequalities.
    fn bounds(&self) -> Vec<Bound> {
        Vec::new()
    }
}

/// Gaps of two contacts of a mechanism, the cosine of the angle between their normals in the kinetic metric, and the gradients
/// of these three numbers with respect to the unknowns of a design problem.
#[derive(Clone, Debug, PartialEq)]
pub struct PairAngle {
    /// Gaps of the two contacts (m).
    pub gaps: [f64; 2],
    /// Cosine $c$ of the angle between the normals in the kinetic metric.
    pub cosine: f64,
    /// Inner product $\langle\mathrm{D}\phi_1, \mathrm{D}\phi_2\rangle$ of the gap gradients in the kinetic metric, without
    /// normalization.
    pub product: f64,
    /// Gradients of the gaps with respect to the unknowns.
    pub gap_gradients: [Vec<f64>; 2],
    /// Gradient of the cosine with respect to the unknowns.
    pub cosine_gradient: Vec<f64>,
}

impl PairAngle {
    /// Computes the gaps and the angle between the normals of two contacts of a mechanism, with their gradients. `contacts` are
    /// the indices of the two contacts.
    ///
    /// # Errors
    ///
    /// [`DesignError::Metric`] for a singular mass matrix or a vanishing normal.
    pub fn new(point: &DesignPoint, contacts: [usize; 2]) -> Result<Self, DesignError> {
        let (mechanism, q) = (&point.mechanism, point.configuration.as_slice());
        let n = mechanism.dimension();
        let normals = contacts.map(|contact| {
            let mut normal = DVector::zeros(n);
            mechanism.gap_gradient(contact, q, normal.as_mut_slice());
            Covector(normal)
        });
        let mut mass = DMatrix::zeros(n, n);
        mechanism.mass_matrix(q, &mut mass);
        let metric = KineticMetric::new(mass)?;
        let units = UnitNormals::new(&metric, normals.iter())?;
        let cosine = units.cosine(0, 1);
        // From here on u and w are the unit normals, and a and b the velocities that belong to them.
        let mut velocities = Vec::with_capacity(2);
        for (i, normal) in normals.iter().enumerate() {
            velocities.push(metric.sharp(normal)?.0 / units.norm(i));
        }
        let changes = Changes::new(mechanism, q, contacts, &velocities);
        let mut gap_gradients = [Vec::new(), Vec::new()];
        let mut cosine_gradient = Vec::with_capacity(point.influences.len());
        for influence in &point.influences {
            // Products du a, du b, dw a, dw b with normals that are not normalized, and the quadratic forms of dM.
            let Change {
                gaps,
                rates: [[ua, ub], [wa, wb]],
                forms: [aa, ab, bb],
            } = changes.by(influence);
            let (u, w) = (units.norm(0), units.norm(1));
            let product = ub / u + wa / w - ab;
            let squares = [2.0 * ua / u - aa, 2.0 * wb / w - bb];
            cosine_gradient.push(product - 0.5 * cosine * (squares[0] + squares[1]));
            for (gradient, gap) in gap_gradients.iter_mut().zip(gaps) {
                gradient.push(gap);
            }
        }
        Ok(Self {
            gaps: contacts.map(|contact| mechanism.gap(contact, q)),
            cosine,
            product: cosine * units.norm(0) * units.norm(1),
            gap_gradients,
            cosine_gradient,
        })
    }
}

/// First-order changes with respect to one unknown.
#[derive(Clone, Copy, Debug)]
struct Change {
    gaps: [f64; 2],
    /// Change of $\mathrm{D}\phi_i$, applied to the velocities a and b.
    rates: [[f64; 2]; 2],
    /// Change of $M$ on the pairs (a, a), (a, b) and (b, b).
    forms: [f64; 3],
}

/// Derivatives with respect to all coordinates, and the data for derivatives with respect to constants.
struct Changes<'a> {
    mechanism: &'a PlanarMechanism,
    q: &'a [f64],
    contacts: [usize; 2],
    velocities: [&'a [f64]; 2],
    by_coordinate: Vec<Change>,
}

impl<'a> Changes<'a> {
    fn new(
        mechanism: &'a PlanarMechanism,
        q: &'a [f64],
        contacts: [usize; 2],
        velocities: &'a [DVector<f64>],
    ) -> Self {
        let n = mechanism.dimension();
        let [a, b] = [&velocities[0], &velocities[1]];
        // Rows v^T dM/dq: with the derivative B of M v at fixed v, entry j of a^T B.
        let rows = [a, b].map(|v| {
            let at = Motion {
                time: 0.0,
                configuration: q,
                velocity: v.as_slice(),
            };
            let mut dynamics = Dynamics::new(n);
            mechanism.dynamics(&at, Derivatives::First, &mut dynamics);
            dynamics.momentum_derivative
        });
        let forms = [rows[0].tr_mul(a), rows[1].tr_mul(a), rows[1].tr_mul(b)];
        let mut hessian = DMatrix::zeros(n, n);
        let mut gradient = vec![0.0; n];
        let [first, second] = contacts.map(|contact| {
            mechanism.gap_hessian(contact, q, &mut hessian);
            mechanism.gap_gradient(contact, q, &mut gradient);
            (gradient.clone(), &hessian * a, &hessian * b)
        });
        let by_coordinate = (0..n)
            .map(|j| Change {
                gaps: [first.0[j], second.0[j]],
                rates: [[first.1[j], first.2[j]], [second.1[j], second.2[j]]],
                forms: [forms[0][j], forms[1][j], forms[2][j]],
            })
            .collect();
        Self {
            mechanism,
            q,
            contacts,
            velocities: [a.as_slice(), b.as_slice()],
            by_coordinate,
        }
    }

    fn by(&self, influence: &Influence) -> Change {
        let [a, b] = self.velocities;
        match influence {
            Influence::Coordinate(j) => self.by_coordinate[*j],
            Influence::Constants(variation) => {
                let gap = |contact: usize, v: &[f64]| {
                    self.mechanism.gap_variation(contact, self.q, v, variation)
                };
                let form =
                    |v: &[f64], w: &[f64]| self.mechanism.mass_variation(self.q, v, w, variation);
                let [u, w] = self.contacts;
                let ((gap_u, ua), (gap_w, wa)) = (gap(u, a), gap(w, a));
                Change {
                    gaps: [gap_u, gap_w],
                    rates: [[ua, gap(u, b).1], [wa, gap(w, b).1]],
                    forms: [form(a, a), form(a, b), form(b, b)],
                }
            }
        }
    }
}

/// Design equations of a mechanism in which two contacts are closed: the gaps $\phi_1$ and $\phi_2$ are zero. If `cosine` is
/// set, the cosine $c$ of the angle between the contact normals also equals the given value $c^\ast$. The residual is $(\phi_1,
/// \phi_2)$ or $(\phi_1, \phi_2, c - c^\ast)$.
#[derive(Clone, Copy, Debug)]
pub struct ClosedPair<'a, F> {
    /// Family of mechanisms and stances.
    pub family: &'a F,
    /// Indices of the two contacts.
    pub contacts: [usize; 2],
    /// Required cosine $c^\ast$ of the normals: 0 for impacts that do not affect each other, $-\cos(\pi/m)$ in general.
    pub cosine: Option<f64>,
}

impl<F: DesignFamily> Equations for ClosedPair<'_, F> {
    fn count(&self) -> usize {
        if self.cosine.is_some() { 3 } else { 2 }
    }

    fn unknowns(&self) -> usize {
        self.family.unknowns()
    }

    fn evaluate(
        &self,
        z: &[f64],
        residual: &mut DVector<f64>,
        jacobian: &mut DMatrix<f64>,
    ) -> Result<(), DesignError> {
        let angle = PairAngle::new(&self.family.at(z)?, self.contacts)?;
        for (i, (gap, gradient)) in angle.gaps.iter().zip(&angle.gap_gradients).enumerate() {
            residual[i] = *gap;
            jacobian
                .row_mut(i)
                .tr_copy_from(&DVector::from_column_slice(gradient));
        }
        if let Some(target) = self.cosine {
            residual[2] = angle.cosine - target;
            let gradient = DVector::from_vec(angle.cosine_gradient);
            jacobian.row_mut(2).tr_copy_from(&gradient);
        }
        Ok(())
    }

    fn bounds(&self) -> Vec<Bound> {
        self.family.bounds()
    }
}
