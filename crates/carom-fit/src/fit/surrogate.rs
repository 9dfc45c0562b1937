//! Predictions around the optimum on grids, for interpolation.

use super::case::Case;
use super::model::Model;
use super::parameter::MOST_FREE;
use super::simplex::{Domain, Point};
use crate::states::MOST_BYTES;
use carom_contact::ImpactError;
use carom_metric::kernel;
use rayon::prelude::*;

/// Number of grid nodes along each parameter; entry i is used for an impact that depends on i parameters, the last one for
/// more.
const NODES: [usize; 8] = [1, 33, 17, 9, 5, 4, 3, 2];

/// Predictions of all impacts on grids of the parameters that each depends on.
pub(crate) struct Surrogate {
    pub domain: Domain,
    grids: Vec<Grid>,
}

/// Predictions of one impact.
struct Grid {
    /// Places of the parameters on which the impact depends.
    places: Vec<usize>,
    nodes: usize,
    dim: usize,
    /// Residual vectors (their Euclidean norm is the misfit), one after the other for each node.
    residuals: Vec<f64>,
}

impl Surrogate {
    /// Computes the residual vectors of a law for all measured impacts (cases) on a grid of the free parameters, for
    /// interpolation. The grid covers the box `domain`; `center` is a point in it.
    pub(crate) fn new(
        model: &Model<'_>,
        cases: &[&Case],
        domain: Domain,
        center: &[f64],
    ) -> Result<Self, ImpactError> {
        let grid = |case: &&Case| {
            let touches =
                |surface: &str| case.state.contacts.iter().any(|c| &*c.surface == surface);
            let of = |k: &usize| model.free[*k].surface.as_deref().is_none_or(touches);
            let places: Vec<usize> = (0..domain.n()).filter(of).collect();
            let dim = case.state.dim();
            let mut nodes = NODES[places.len().min(NODES.len() - 1)];
            let bytes = |nodes: usize| {
                nodes.saturating_pow(places.len() as u32) * size_of::<f64>() * dim * cases.len()
            };
            // With more impacts the grids reach less far and need fewer nodes.
            while nodes > 2 && bytes(nodes) > MOST_BYTES {
                nodes -= 1;
            }
            let mut residuals = Vec::new();
            for node in 0..nodes.pow(places.len() as u32) {
                let mut point = center.to_vec();
                let mut rest = node;
                for k in &places {
                    let share = (rest % nodes) as f64 / (nodes - 1).max(1) as f64;
                    point[*k] = domain.low[*k] + share * (domain.high[*k] - domain.low[*k]);
                    rest /= nodes;
                }
                let p = model.at(&domain.clamp(point));
                let found = case.predict(&model.rule_at(&p), &p)?;
                residuals.extend(case.residual(&found.velocity));
            }
            Ok::<Grid, ImpactError>(Grid {
                places,
                nodes,
                dim,
                residuals,
            })
        };
        Ok(Self {
            grids: cases.par_iter().map(grid).collect::<Result<_, _>>()?,
            domain,
        })
    }

    /// Computes the misfits of all measured impacts for the free parameters at a point of the box, by multilinear interpolation
    /// of residual vectors on the grid. The vectors `moved` are added to them, if there are any.
    pub(crate) fn misfits(&self, point: &[f64], moved: &[Vec<f64>], misfits: &mut Vec<f64>) {
        let mut residual = Vec::new();
        misfits.clear();
        for (i, grid) in self.grids.iter().enumerate() {
            grid.interpolate(&self.domain, point, &mut residual);
            if let Some(moved) = moved.get(i) {
                kernel::add_scaled(&mut residual, 1.0, moved);
            }
            misfits.push(kernel::norm(&residual));
        }
    }

    /// True if a point lies on a face of the interpolation grid, so that the true optimum may be outside the grid. A face at
    /// the end of a parameter's `range` does not count, since no parameter can lie beyond this end.
    pub(crate) fn is_cut(&self, point: &Point, range: &Domain) -> bool {
        (0..self.domain.n()).any(|k| {
            let margin = 1e-3 * (self.domain.high[k] - self.domain.low[k]);
            let low = point[k] <= self.domain.low[k] + margin && self.domain.low[k] > range.low[k];
            let high =
                point[k] >= self.domain.high[k] - margin && self.domain.high[k] < range.high[k];
            low || high
        })
    }
}

impl Grid {
    fn interpolate(&self, domain: &Domain, point: &[f64], residual: &mut Vec<f64>) {
        let mut corner = 0;
        let mut axes = [(0, 0.0); MOST_FREE];
        let mut stride = 1;
        for (axis, k) in axes.iter_mut().zip(&self.places) {
            let width = domain.high[*k] - domain.low[*k];
            let place = if width > 0.0 {
                (point[*k] - domain.low[*k]) / width * (self.nodes - 1) as f64
            } else {
                0.0
            };
            let cell = (place.floor().max(0.0) as usize).min(self.nodes - 2);
            corner += cell * stride;
            *axis = (stride, place - cell as f64);
            stride *= self.nodes;
        }
        residual.clear();
        residual.resize(self.dim, 0.0);
        let axes = &axes[..self.places.len().min(MOST_FREE)];
        for bits in 0..1_usize << axes.len() {
            let (mut node, mut weight) = (corner, 1.0);
            for (k, (stride, share)) in axes.iter().enumerate() {
                if bits >> k & 1 == 1 {
                    node += stride;
                    weight *= share;
                } else {
                    weight *= 1.0 - share;
                }
            }
            if weight != 0.0 {
                let own = &self.residuals[node * self.dim..][..self.dim];
                kernel::add_scaled(residual, weight, own);
            }
        }
    }
}
