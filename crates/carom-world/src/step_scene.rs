//! Bodies and pairs of one island of bodies in lasting contact, their gaps, and their contact points at one configuration.

use crate::body::{Body, Flights};
use crate::kick::Work;
use crate::pair::{self, ContactPoint, Other, PairMemory};
use crate::rows::{Rows, Side};
use crate::{MotionError, springs};
use carom_variational::State;
use carom_variational::load::Pull;
use carom_variational::spring::{self, Carrier, Spring, Tension};
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
    /// Springs, with the places of their bodies.
    pub(crate) springs: Vec<Spring>,
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
    /// Returns the accelerations (m/s²) of the centers of all bodies in free flight: by gravity and all forces, at the start of the
    /// step. Forces without a value are left out; the step that asks for them fails.
    pub(crate) fn accelerations(&self, states: &[State]) -> Vec<f64> {
        let bodies = self.bodies.iter().zip(states);
        let mut all: Vec<f64> = bodies
            .map(|(body, state)| self.acceleration(body, state))
            .collect();
        let tensions = spring::explicit(&self.springs, |place| self.carrier(place, states));
        springs::add(&tensions, |place, pull| {
            let rigid = self.bodies.get(place).and_then(|body| body.rigid.as_ref());
            if let (Some(rigid), Some(to)) = (rigid, all.get_mut(place)) {
                *to += pull.total().fixed_rows::<3>(0).norm() / rigid.mass();
            }
        });
        all
    }

    fn acceleration(&self, body: &Body, state: &State) -> f64 {
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

impl StepScene<'_> {
    pub(crate) fn carrier<'s>(&'s self, place: usize, states: &'s [State]) -> Option<Carrier<'s>> {
        let body = self.bodies.get(place)?;
        Some(Carrier::new(body.rigid.as_ref(), states.get(place)?))
    }

    /// Returns the energy of the springs (J).
    pub(crate) fn spring_energy(&self, states: &[State]) -> f64 {
        let energy = |spring: &Spring| spring.energy(|place| states.get(place));
        self.springs.iter().map(energy).sum()
    }

    /// Checks that no points of a spring meet on the way from some states to others, and that a step of length `h` (s) is stable.
    pub(crate) fn check_springs(
        &self,
        [from, to]: [&[State]; 2],
        h: f64,
    ) -> Result<(), MotionError> {
        if self.springs.is_empty() {
            return Ok(());
        }
        let time = self.time + h;
        for spring in &self.springs {
            let at = [from, to].map(|states| move |place: usize| states.get(place));
            spring
                .check_way([&at[0], &at[1]], time)
                .map_err(springs::failed(time))?;
        }
        spring::check_step(&self.springs, |place| self.carrier(place, from), h)
            .map_err(springs::failed(time))
    }

    /// Returns the loads of the bodies at `time` (s) that act in kicks, springs included.
    pub(crate) fn pulls(
        &self,
        time: f64,
        states: &[State],
    ) -> Result<Vec<Option<Pull>>, MotionError> {
        let bodies = self.bodies.iter().zip(states);
        let pulls = bodies.map(|(body, state)| body.pull_at(time, state));
        let mut pulls = pulls.collect::<Result<Vec<_>, _>>()?;
        let tensions = spring::explicit(&self.springs, |place| self.carrier(place, states));
        add_to(&tensions, &mut pulls);
        Ok(pulls)
    }

    /// Returns the loads of the bodies at the end of the step, with the velocities after they have acted for `half` (s) on `states`.
    /// `last`: loads of the turn before, whose springs act on the other loads.
    pub(crate) fn pulls_after(
        &self,
        [time, half]: [f64; 2],
        states: &[State],
        last: &[Option<Pull>],
    ) -> Result<Vec<Option<Pull>>, MotionError> {
        let mut pulls = Vec::with_capacity(states.len());
        let mut loaded = states.to_vec();
        for (place, (body, state)) in self.bodies.iter().zip(&mut loaded).enumerate() {
            let pull = match last.get(place) {
                Some(Some(last)) if !self.springs.is_empty() && body.is_mobile() => {
                    let sprung = state.kicked(&(last.springs() * half));
                    body.pull_after(time, &sprung, half)?
                }
                _ => body.pull_after(time, state, half)?,
            };
            if let Some(pull) = &pull {
                *state = state.kicked(&(pull.total() * half));
            }
            pulls.push(pull);
        }
        let carrier = |place: usize| self.carrier(place, &loaded);
        let tensions =
            spring::implicit(&self.springs, carrier, half).map_err(springs::failed(time))?;
        add_to(&tensions, &mut pulls);
        Ok(pulls)
    }
}

fn add_to(tensions: &[Tension], pulls: &mut [Option<Pull>]) {
    springs::add(tensions, |place, pull| {
        if let Some(to) = pulls.get_mut(place) {
            *to.get_or_insert_default() += pull;
        }
    });
}

fn place_on(here: &State, point: &ContactPoint) -> Vector3<f64> {
    here.rotation.rotate_back(&(point.point - here.position))
}
