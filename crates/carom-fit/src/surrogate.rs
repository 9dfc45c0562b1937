//! Interpolated predictions on a grid of parameters.

use crate::FitError;
use crate::objective::Model;
use crate::predict::Case;
use crate::simplex::{Domain, Point};
use nalgebra::Vector6;
use rayon::prelude::*;

/// Predictions of all impacts on a grid of parameters.
pub(crate) struct Surrogate {
    pub domain: Domain,
    nodes: usize,
    /// Residual vectors (their Euclidean norm is the misfit), for each node and each case.
    residuals: Vec<Vec<Vector6<f64>>>,
}

impl Surrogate {
    /// Computes the residual vectors of a law for all measured impacts (cases) on a grid of the free parameters, for
    /// interpolation. The grid covers the box `domain` with `nodes` points along each parameter, at least two.
    pub(crate) fn new(
        model: &Model<'_>,
        cases: &[Case],
        domain: Domain,
        nodes: usize,
    ) -> Result<Self, FitError> {
        let nodes = nodes.max(2);
        let count = nodes.pow(domain.n as u32);
        let residuals = (0..count)
            .into_par_iter()
            .map(|node| {
                let mut point = domain.low;
                let mut rest = node;
                for (k, x) in point.iter_mut().enumerate().take(domain.n) {
                    let share = (rest % nodes) as f64 / (nodes - 1) as f64;
                    *x += share * (domain.high[k] - domain.low[k]);
                    rest /= nodes;
                }
                let parameters = model.at(&domain.clamp(point));
                let residual = |case| model.residual(case, &parameters);
                cases.iter().map(residual).collect()
            })
            .collect::<Result<_, FitError>>()?;
        Ok(Self {
            domain,
            nodes,
            residuals,
        })
    }

    /// Returns the residual vectors of all measured impacts for the free parameters at a point of the box, by
    /// multilinear interpolation on the grid.
    pub(crate) fn residuals(&self, point: &Point) -> impl Iterator<Item = Vector6<f64>> + '_ {
        let n = self.domain.n;
        let mut corner = 0;
        let mut shares = [0.0; 3];
        let mut stride = [1; 3];
        for k in 0..n {
            stride[k] = self.nodes.pow(k as u32);
            let width = self.domain.high[k] - self.domain.low[k];
            let place = if width > 0.0 {
                (point[k] - self.domain.low[k]) / width * (self.nodes - 1) as f64
            } else {
                0.0
            };
            let cell = (place.floor().max(0.0) as usize).min(self.nodes - 2);
            corner += cell * stride[k];
            shares[k] = place - cell as f64;
        }
        let cases = self.residuals.first().map_or(0, Vec::len);
        (0..cases).map(move |case| {
            let mut residual = Vector6::zeros();
            for bits in 0..1_usize << n {
                let (mut node, mut weight) = (corner, 1.0);
                for k in 0..n {
                    if bits >> k & 1 == 1 {
                        node += stride[k];
                        weight *= shares[k];
                    } else {
                        weight *= 1.0 - shares[k];
                    }
                }
                residual += self.residuals[node][case] * weight;
            }
            residual
        })
    }

    /// True if a point lies on a face of the interpolation grid, so that the true optimum may be outside the grid. A face at
    /// the end of a parameter's `range` does not count, since no parameter can lie beyond this end.
    pub(crate) fn is_cut(&self, point: &Point, range: &Domain) -> bool {
        (0..self.domain.n).any(|k| {
            let margin = 1e-3 * (self.domain.high[k] - self.domain.low[k]);
            let low = point[k] <= self.domain.low[k] + margin && self.domain.low[k] > range.low[k];
            let high =
                point[k] >= self.domain.high[k] - margin && self.domain.high[k] < range.high[k];
            low || high
        })
    }
}
