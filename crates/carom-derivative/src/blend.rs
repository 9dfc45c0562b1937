//! Restitution of the whole event, between a plastic and an elastic outcome.

use super::adjoint::Adjoint;
use super::branch::Walk;
use super::frame::{Frame, Variation};
use super::stage::{Stage, chain_pull_back};
use crate::tolerances::VANISHING;
use carom_contact::RowIndex;
use carom_impact::PlasticRule;
use nalgebra::{DMatrix, DVector};
use std::sync::Arc;

/// Outcome $v^+ = v_p + \alpha d$ between a plastic and an elastic outcome $v_p$ and $v_e$, $d = v_e - v_p$. With the
/// restitution $R$ of the event, $A\alpha^2 + 2B\alpha = R^2N$,
/// $A = |d|^2$, $B = \langle v_p, d\rangle$, $N = |v_e|^2 - |v_p|^2$.
#[derive(Clone, Debug)]
pub(super) struct Blend {
    plastic: Vec<Arc<Stage>>,
    elastic: Vec<Arc<Stage>>,
    outcome: DVector<f64>,
    plastic_after: DVector<f64>,
    elastic_after: DVector<f64>,
    difference: DVector<f64>,
    impulse_difference: DVector<f64>,
    alpha: f64,
    restitution: f64,
    /// True if every elastic impulse acts on contacts that the plastic outcome keeps closed. Then $B = 0$ and $\alpha =
    /// R$ for all velocities nearby.
    is_orthogonal: bool,
    a: f64,
    b: f64,
}

/// Derivatives of A, B, N and of the restitution, from which $d\alpha$ is a linear combination.
struct Slopes {
    a: f64,
    b: f64,
    n: f64,
    restitution: f64,
}

impl Blend {
    pub(super) fn new(
        frame: &Frame<'_>,
        plastic: &Walk,
        elastic: &Walk,
        restitution: f64,
        rule: PlasticRule,
    ) -> Self {
        let ends = (plastic.velocity.clone(), elastic.velocity.clone());
        let difference = &ends.1 - &ends.0;
        let is_closed = |row: RowIndex| {
            let slope = plastic.jacobian.tr_mul(&frame.row(row));
            slope.norm() <= VANISHING
        };
        let contacts = frame.problem.contacts();
        let is_orthogonal = rule != PlasticRule::Cone
            || contacts.indices().all(|i| {
                let row = contacts.row(i);
                // A strike at the limit of approach gives no impulse here, but does nearby.
                !elastic.stages.iter().any(|stage| stage.strikes(row)) || is_closed(row)
            });
        let a = difference.norm_squared();
        let b = if is_orthogonal {
            0.0
        } else {
            ends.0.dot(&difference).max(0.0)
        };
        let target = restitution * restitution * (a + 2.0 * b);
        let divisor = b + (b * b + a * target).sqrt();
        let alpha = if is_orthogonal || restitution == 1.0 || divisor == 0.0 {
            restitution
        } else {
            target / divisor
        };
        Self {
            plastic: plastic.stages.clone(),
            elastic: elastic.stages.clone(),
            outcome: &ends.0 + alpha * &difference,
            plastic_after: ends.0,
            elastic_after: ends.1,
            impulse_difference: total(frame, &elastic.stages) - total(frame, &plastic.stages),
            difference,
            alpha,
            restitution,
            is_orthogonal,
            a,
            b,
        }
    }

    /// Returns the whitened velocity after the impact, the blend of the plastic and the elastic outcome.
    pub(super) fn after(&self) -> DVector<f64> {
        self.outcome.clone()
    }

    fn alpha_slope(&self, slopes: &Slopes) -> f64 {
        if self.is_orthogonal {
            return slopes.restitution;
        }
        let (r, alpha) = (self.restitution, self.alpha);
        let divisor = 2.0 * (self.a * alpha + self.b);
        if divisor == 0.0 {
            return 0.0;
        }
        let energy = self.a + 2.0 * self.b;
        (2.0 * r * slopes.restitution * energy + r * r * slopes.n
            - alpha * alpha * slopes.a
            - 2.0 * alpha * slopes.b)
            / divisor
    }

    /// Computes the Jacobians of the blended velocity and of its impulses with respect to the velocity before the
    /// impact, in this order. The Jacobians are assembled from the Jacobians of the plastic and of the elastic
    /// outcome.
    pub(super) fn jacobians(&self, plastic: &Walk, elastic: &Walk) -> [DMatrix<f64>; 2] {
        let between = |p: &DMatrix<f64>, e: &DMatrix<f64>| p + self.alpha * (e - p);
        let mut after = between(&plastic.jacobian, &elastic.jacobian);
        let mut impulses = between(&plastic.impulses, &elastic.impulses);
        for j in 0..after.ncols() {
            let slopes = self.slopes(
                &plastic.jacobian.column(j).into_owned(),
                &elastic.jacobian.column(j).into_owned(),
                None,
            );
            let slope = self.alpha_slope(&slopes);
            after.column_mut(j).axpy(slope, &self.difference, 1.0);
            impulses
                .column_mut(j)
                .axpy(slope, &self.impulse_difference, 1.0);
        }
        [after, impulses]
    }

    fn slopes(
        &self,
        plastic: &DVector<f64>,
        elastic: &DVector<f64>,
        variation: Option<&Variation>,
    ) -> Slopes {
        let change = elastic - plastic;
        let (d, p, e) = (&self.difference, &self.plastic_after, &self.elastic_after);
        let form = |a: &DVector<f64>, b: &DVector<f64>| {
            variation.map_or(0.0, |variation| variation.mass_form(a, b))
        };
        Slopes {
            a: 2.0 * d.dot(&change) + form(d, d),
            b: d.dot(plastic) + p.dot(&change) + form(p, d),
            n: 2.0 * (e.dot(elastic) - p.dot(plastic)) + form(e, e) - form(p, p),
            restitution: variation.map_or(0.0, |variation| variation.event),
        }
    }

    /// Computes the derivatives of the blended velocity and of its impulses along `variation`, a direction in which
    /// the data of the impact change. The third result is true if the direction preserves the linear dependencies
    /// between contacts.
    pub(super) fn along(
        &self,
        frame: &Frame<'_>,
        variation: &Variation,
    ) -> (DVector<f64>, DVector<f64>, bool) {
        let (mut plastic, mut impulse, kept) = chain_along(frame, &self.plastic, variation);
        let (elastic, elastic_impulse, also) = chain_along(frame, &self.elastic, variation);
        let slope = self.alpha_slope(&self.slopes(&plastic, &elastic, Some(variation)));
        let alpha = self.alpha;
        plastic = (1.0 - alpha) * plastic + alpha * elastic;
        plastic.axpy(slope, &self.difference, 1.0);
        impulse = (1.0 - alpha) * impulse + alpha * elastic_impulse;
        impulse.axpy(slope, &self.impulse_difference, 1.0);
        (plastic, impulse, kept && also)
    }

    /// Converts a cotangent (gradient) of the velocity after the impact to cotangents of all data of the impact.
    /// `velocity` is replaced by the cotangent of the velocity before the impact; the cotangents of all other data
    /// are added to `adjoint`. Transpose of [`along`](Self::along).
    pub(super) fn pull_back(
        &self,
        frame: &Frame<'_>,
        velocity: &mut DVector<f64>,
        adjoint: &mut Adjoint,
    ) {
        let slope = self.difference.dot(velocity);
        // The slope of α is linear, so that its values at unit arguments are its coefficients.
        let unit = |a: f64, b: f64, n: f64| {
            let restitution = 0.0;
            slope
                * self.alpha_slope(&Slopes {
                    a,
                    b,
                    n,
                    restitution,
                })
        };
        let (a, b, n) = (
            unit(1.0, 0.0, 0.0),
            unit(0.0, 1.0, 0.0),
            unit(0.0, 0.0, 1.0),
        );
        adjoint.event += self.pull_back_restitution(velocity);
        let (d, p, e) = (&self.difference, &self.plastic_after, &self.elastic_after);
        let change = 2.0 * a * d + b * p;
        let mut elastic = self.alpha * &*velocity + &change + 2.0 * n * e;
        let mut plastic = (1.0 - self.alpha) * &*velocity - change + b * d - 2.0 * n * p;
        for (factor, x, y) in [(a, d, d), (b, p, d), (n, e, e), (-n, p, p)] {
            adjoint.add_mass(factor, x.as_view(), y.as_view());
        }
        chain_pull_back(frame, &self.plastic, &mut plastic, adjoint);
        chain_pull_back(frame, &self.elastic, &mut elastic, adjoint);
        *velocity = plastic + elastic;
    }

    /// Returns the cotangent (gradient) with respect to the restitution of the event. `velocity` is the cotangent of
    /// the velocity after the impact.
    pub(super) fn pull_back_restitution(&self, velocity: &DVector<f64>) -> f64 {
        let slopes = Slopes {
            a: 0.0,
            b: 0.0,
            n: 0.0,
            restitution: 1.0,
        };
        self.alpha_slope(&slopes) * self.difference.dot(velocity)
    }

    /// Adds to derivatives of the velocity after the impact and of the impulses the effect of `restitution`, a change
    /// of the restitution of the event.
    pub(super) fn add_restitution(
        &self,
        restitution: f64,
        velocity: &mut DVector<f64>,
        impulse: &mut DVector<f64>,
    ) {
        let slope = self.alpha_slope(&Slopes {
            a: 0.0,
            b: 0.0,
            n: 0.0,
            restitution,
        });
        velocity.axpy(slope, &self.difference, 1.0);
        impulse.axpy(slope, &self.impulse_difference, 1.0);
    }

    /// Returns all stages of the plastic outcome, then those of the elastic outcome. A stage is a part of an impact
    /// with fixed contact modes.
    pub(super) fn stages(&self) -> impl Iterator<Item = &Arc<Stage>> {
        self.chains().into_iter().flatten()
    }

    /// Returns the stages (parts of an impact with fixed contact modes) of the plastic and of the elastic outcome, in
    /// this order.
    pub(super) fn chains(&self) -> [&[Arc<Stage>]; 2] {
        [&self.plastic, &self.elastic]
    }
}

fn total(frame: &Frame<'_>, stages: &[Arc<Stage>]) -> DVector<f64> {
    let mut sum = DVector::zeros(frame.n_rows());
    for stage in stages {
        for (sum, l) in sum.iter_mut().zip(stage.impulse()) {
            *sum += l;
        }
    }
    sum
}

/// Computes the derivatives along `variation`, a direction in which the data of the impact change, through a chain of
/// stages (parts of an impact with fixed contact modes). Returns the derivatives of the velocity after the chain and
/// of the sum of all impulses, and true if the direction preserves the linear dependencies between contacts.
pub(super) fn chain_along(
    frame: &Frame<'_>,
    stages: &[Arc<Stage>],
    variation: &Variation,
) -> (DVector<f64>, DVector<f64>, bool) {
    let mut velocity = variation.start(frame.dim());
    let mut impulse = DVector::zeros(frame.n_rows());
    let mut kept = true;
    for stage in stages {
        kept &= stage.advance_along(frame, variation, &mut velocity, &mut impulse);
    }
    (velocity, impulse, kept)
}
