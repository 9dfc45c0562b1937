//! Gain of a change, by cross-validation.

use super::residual::{Order, Residual, Speed};
use crate::changes::Change;
use crate::fit::likelihood::{Density, best_scale};
use crate::states::{Groups, State};
use crate::system::System;
use rayon::prelude::*;

/// Cost of an impact that is out of order, in units of the log likelihood. Changes whose gain is less by at most this are not told
/// apart.
pub(super) const COST: f64 = 5.0;

/// States of a round, with the groups that are resampled together.
#[derive(Debug)]
pub(crate) struct Round {
    pub(crate) system: System,
    pub(crate) states: Vec<State>,
    pub(crate) speeds: Vec<Speed>,
    pub(crate) groups: Groups,
    /// Half of each state, 0 or 1.
    pub(crate) half: Vec<usize>,
    /// Misfits of the states as they are.
    pub(crate) base: Vec<Point>,
}

/// Misfit of one state with a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    /// Length of the residual.
    pub(crate) misfit: f64,
    /// Number of directions that no row reaches; 0 if the state has no misfit.
    pub(crate) free: usize,
    pub(crate) is_broken: bool,
    /// False if the change leaves no state here.
    pub(crate) is_there: bool,
}

impl Point {
    const NONE: Self = Self {
        misfit: 0.0,
        free: 0,
        is_broken: false,
        is_there: false,
    };
}

impl Round {
    pub(crate) fn new(system: System, states: Vec<State>, seed: u64) -> Self {
        let groups = Groups::new(
            states.iter().map(|state| &*state.labels),
            std::iter::empty(),
        );
        let mut round = Self {
            system,
            speeds: states.par_iter().map(Speed::new).collect(),
            half: groups.halves(seed),
            states,
            groups,
            base: Vec::new(),
        };
        round.base = round.points(None);
        round
    }

    /// Returns the states as a change mends them, and their system.
    pub(crate) fn mended(&self, change: &Change) -> (System, Vec<State>) {
        let system = change.system(&self.system);
        let places = 0..self.states.len();
        let mended = places
            .into_par_iter()
            .filter_map(|k| change.mend(&system, &self.states, k));
        let mended = mended.collect();
        (system, mended)
    }

    /// Computes the misfits of all states, as they are or with a change.
    pub(crate) fn points(&self, change: Option<&Change>) -> Vec<Point> {
        let system = change.map_or_else(|| self.system.clone(), |c| c.system(&self.system));
        let places = (0..self.states.len()).into_par_iter();
        places.map(|k| self.point(k, change, &system)).collect()
    }

    fn point(&self, k: usize, change: Option<&Change>, system: &System) -> Point {
        let (file, speed) = (&self.states[k], &self.speeds[k]);
        if file.contacts.is_empty() || !speed.is_positive() {
            return Point::NONE;
        }
        let (mended, order) = match change {
            None => (file.clone(), Order::new(file, speed)),
            Some(change) => {
                let Some(mended) = change.mend(system, &self.states, k) else {
                    return Point::NONE;
                };
                let order = Order::new(&mended, &Speed::new(&mended));
                (mended, order)
            }
        };
        let residual = Residual::new(file, speed.size, &mended, change);
        Point {
            misfit: residual.size(),
            free: residual.free,
            is_broken: order.is_none_or(|order| order.is_broken()),
            is_there: true,
        }
    }

    /// Computes the residual vectors of the states at `places` with a change.
    pub(crate) fn residuals(&self, change: &Change, places: &[usize]) -> Vec<Option<Residual>> {
        let system = change.system(&self.system);
        let one = |k: &usize| {
            let (file, speed) = (&self.states[*k], &self.speeds[*k]);
            if file.contacts.is_empty() || !speed.is_positive() {
                return None;
            }
            let mended = change.mend(&system, &self.states, *k)?;
            Some(Residual::new(file, speed.size, &mended, Some(change)))
        };
        places.par_iter().map(one).collect()
    }

    /// Returns the most probable scale of the misfits of one half.
    fn scale(&self, points: &[Point], half: usize) -> f64 {
        let own = points.iter().zip(&self.half);
        let own = own.filter(|(point, of)| **of == half && point.free > 0);
        let (misfits, free): (Vec<f64>, Vec<usize>) =
            own.map(|(point, _)| (point.misfit, point.free)).unzip();
        best_scale(&misfits, |i| free[i], |_| 1.0).scale
    }

    /// Returns the gain of a change on the half that is not `half`, with the scale of `half`: the sum of log densities with
    /// the change minus that without, less the cost of impacts that are out of order.
    pub(crate) fn gain(&self, points: &[Point], half: usize) -> f64 {
        let mut with = Density::new(self.scale(points, half), 0);
        let mut without = Density::new(self.scale(&self.base, half), 0);
        let mut gain = 0.0;
        for ((point, base), of) in points.iter().zip(&self.base).zip(&self.half) {
            if *of == half || !point.is_there || !base.is_there {
                continue;
            }
            with = with.of(point.free);
            without = without.of(base.free);
            gain += with.log(point.misfit) - without.log(base.misfit);
            gain += COST * (f64::from(base.is_broken) - f64::from(point.is_broken));
        }
        gain
    }
}
