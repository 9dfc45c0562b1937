//! Bodies and pairs of one island of bodies in lasting contact, their gaps, and their contact points at one configuration.

use crate::body::{Body, Flights};
use crate::kick::Work;
use crate::pair::{self, ContactPoint, Other, PairMemory};
use crate::rows::{Rows, Side};
use carom_variational::State;
use nalgebra::Vector3;

/// A pair in lasting contact, with the data that a step needs.
#[derive(Clone, Debug)]
pub(crate) struct StepPair<'a> {
    /// Index of the first body in the island.
    pub(crate) first: usize,
    /// Index of the second body in the island; `None` if it is fixed or a plane.
    pub(crate) second: Option<usize>,
    pub(crate) body: &'a Body,
    pub(crate) other: Other<'a>,
    /// State of the second body if it does not move.
    pub(crate) fixed: &'a State,
    pub(crate) friction: f64,
    /// Gap up to which the pair counts as touching (m).
    pub(crate) tolerance: f64,
}

/// Bodies and pairs of one island, with the data that a step needs.
#[derive(Clone, Debug)]
pub(crate) struct StepScene<'a> {
    pub(crate) flights: &'a Flights,
    pub(crate) bodies: Vec<&'a Body>,
    pub(crate) pairs: Vec<StepPair<'a>>,
    /// Time at the start (s), for error messages.
    pub(crate) time: f64,
    /// Time step of the grid (s): a small penetration is removed over this time.
    pub(crate) time_step: f64,
    /// Gap up to which points belong to a step that is not split (m).
    pub(crate) reach: f64,
    /// Counter of the work of the kicks.
    pub(crate) work: Work,
}

/// Contact points of an island at one configuration, with their rows.
pub(super) struct Points {
    pub(super) rows: Rows,
    pub(super) points: Vec<(usize, ContactPoint)>,
}

impl StepScene<'_> {
    /// Returns the acceleration (m/s²) of the center of a body in free flight: by gravity and all forces, at the start of the step.
    /// Forces without a value are left out; the step that asks for them fails.
    pub(crate) fn pull(&self, body: &Body, state: &State) -> f64 {
        let pull = if body.is_prescribed() {
            body.told_accelerations(self.time, 0.0)[0]
        } else {
            self.flights.pull(body).norm()
        };
        match (body.pull_at(self.time, state), &body.rigid) {
            (Ok(Some(load)), Some(rigid)) => {
                pull + load.total().fixed_rows::<3>(0).norm() / rigid.mass()
            }
            _ => pull,
        }
    }

    pub(super) fn side<'s>(&'s self, place: usize, states: &'s [State]) -> Side<'s> {
        Some((place, *self.bodies.get(place)?, states.get(place)?))
    }

    /// Returns the length (m) from which the rounding error of a pair's gap follows. The error is a small multiple of this length
    /// times the machine precision.
    pub(crate) fn gap_scale(&self, pair: &StepPair<'_>, states: &[State]) -> f64 {
        let [here, there] = self.states_of(pair, states);
        pair::gap_scale(pair.body, here, &pair.other, there)
    }

    pub(super) fn states_of<'s>(
        &'s self,
        pair: &'s StepPair<'_>,
        states: &'s [State],
    ) -> [&'s State; 2] {
        let first = states.get(pair.first).unwrap_or(pair.fixed);
        let second = pair
            .second
            .and_then(|p| states.get(p))
            .unwrap_or(pair.fixed);
        [first, second]
    }

    /// Returns the gap (m) of every pair in given states of the bodies, in the order of the pairs.
    pub(crate) fn gaps(&self, states: &[State]) -> Vec<f64> {
        let gap = |pair: &StepPair<'_>| {
            let [here, there] = self.states_of(pair, states);
            let mut memory = PairMemory::new();
            pair::gap(pair.body, here, &pair.other, there, &mut memory).value
        };
        self.pairs.iter().map(gap).collect()
    }

    pub(super) fn push(
        &self,
        out: &mut Points,
        index: usize,
        point: ContactPoint,
        states: &[State],
    ) {
        let Some(pair) = self.pairs.get(index) else {
            return;
        };
        let second = pair.second.and_then(|place| self.side(place, states));
        let [_, there] = self.states_of(pair, states);
        let running = pair.other.running(there, &point.point);
        out.rows.push(
            &point.point,
            &point.normal,
            self.side(pair.first, states),
            second,
            &running,
        );
        out.points.push((index, point));
    }

    pub(super) fn start(&self, states: &[State], marks: &[(usize, Vector3<f64>)]) -> Points {
        let mut out = Points {
            rows: Rows::default(),
            points: Vec::new(),
        };
        let mut found = Vec::new();
        for (index, pair) in self.pairs.iter().enumerate() {
            found.clear();
            let [here, there] = self.states_of(pair, states);
            let mut memory = PairMemory::new();
            pair::contact_points(
                pair.body,
                here,
                &pair.other,
                there,
                &mut memory,
                pair.tolerance.max(self.reach),
                &mut found,
            );
            let marks = marks.iter().filter(|(of, _)| *of == index);
            let place = |point: &ContactPoint| place_on(here, point);
            pair::in_order(&mut found, place, marks.map(|(_, mark)| mark));
            for point in &found {
                self.push(&mut out, index, *point, states);
            }
        }
        out
    }

    /// Returns the pair of each point and its place in the frame of the pair's first body (m).
    pub(super) fn marks(&self, points: &Points, states: &[State]) -> Vec<(usize, Vector3<f64>)> {
        let all = points.points.iter();
        all.filter_map(|(index, point)| {
            let [here, _] = self.states_of(self.pairs.get(*index)?, states);
            Some((*index, place_on(here, point)))
        })
        .collect()
    }

    pub(super) fn moved(&self, points: &Points, states: &[State]) -> Points {
        let mut out = Points {
            rows: Rows::default(),
            points: Vec::new(),
        };
        for (index, point) in &points.points {
            let Some(pair) = self.pairs.get(*index) else {
                continue;
            };
            let [here, there] = self.states_of(pair, states);
            let point = point.moved(pair.body, here, &pair.other, there);
            self.push(&mut out, *index, point, states);
        }
        out
    }
}

fn place_on(here: &State, point: &ContactPoint) -> Vector3<f64> {
    here.rotation.rotate_back(&(point.point - here.position))
}
