//! Stored runs.

use super::{Collider, CollisionError, Event, Grid, Impact, RunEnd};
use carom_geometry::SupportMap;
use carom_variational::{Flight, RigidBody, State, TimeGrid, VariationalError};

/// Stored run of a body above a plane: states at all grid times, and all impacts. States between grid times are computed on
/// demand.
#[derive(Clone, Debug)]
pub struct Trajectory<'a, F> {
    body: &'a RigidBody,
    flight: &'a F,
    /// Times at which a flight starts: the grid times, and the impacts.
    times: Vec<f64>,
    states: Vec<State>,
    grid: Vec<usize>,
    impacts: Vec<Impact>,
    end: RunEnd,
}

/// Start of a flight.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Node<'t> {
    Grid(&'t State),
    Impact(&'t Impact),
}

impl<'t> Node<'t> {
    /// Returns the state from which the motion continues: the state of the grid point, or the state just after the impact.
    pub(crate) fn after(&self) -> &'t State {
        match self {
            Self::Grid(state) => state,
            Self::Impact(impact) => &impact.after,
        }
    }
}

impl<'a, F: Flight> Trajectory<'a, F> {
    /// Runs a [`Collider`] (a body above a plane) from an initial state over a time grid, and stores all states and impacts.
    /// The run ends early after `max_impacts` impacts (`None`: no limit).
    ///
    /// # Errors
    ///
    /// The errors of [`Collider::run`].
    pub fn record<S: SupportMap>(
        collider: &Collider<'a, S, F>,
        initial: &State,
        grid_of_time: &TimeGrid,
        max_impacts: Option<usize>,
    ) -> Result<Self, CollisionError> {
        Self::record_observed(collider, initial, grid_of_time, max_impacts, &mut |_, _| ())
    }

    /// Runs a collider and stores all states and impacts like [`record`](Self::record); also calls `observe` at every state
    /// and impact, with its time (s) and the number of impacts so far.
    ///
    /// # Errors
    ///
    /// The errors of [`record`](Self::record).
    pub fn record_observed<S: SupportMap>(
        collider: &Collider<'a, S, F>,
        initial: &State,
        grid_of_time: &TimeGrid,
        max_impacts: Option<usize>,
        observe: &mut dyn FnMut(f64, usize),
    ) -> Result<Self, CollisionError> {
        let (mut times, mut states) = (Vec::new(), Vec::new());
        let (mut grid, mut impacts) = (Vec::new(), Vec::new());
        let end = collider.run(
            initial,
            grid_of_time,
            max_impacts,
            &mut |event| match event {
                Event::Sample(Grid { time, state, .. }) => {
                    grid.push(times.len());
                    times.push(time);
                    states.push(*state);
                    observe(time, impacts.len());
                }
                Event::Impact(impact) => {
                    times.push(impact.time);
                    states.push(impact.after);
                    impacts.push(impact.clone());
                    observe(impact.time, impacts.len());
                }
                _ => (),
            },
        )?;
        Ok(Self {
            body: collider.body(),
            flight: collider.flight(),
            times,
            states,
            grid,
            impacts,
            end,
        })
    }

    /// Returns the rigid body (mass and inertia) whose motion this trajectory stores.
    pub fn body(&self) -> &'a RigidBody {
        self.body
    }

    /// Returns the impacts of the body with the plane, in order of time.
    pub fn impacts(&self) -> &[Impact] {
        &self.impacts
    }

    /// Returns the result of this run at its end: reason, final state and counts.
    pub fn end(&self) -> &RunEnd {
        &self.end
    }

    /// Returns times (s) and states of the body at the points of the time grid, from the start on.
    pub fn grid(&self) -> impl Iterator<Item = (f64, &State)> {
        self.grid.iter().map(|&i| (self.times[i], &self.states[i]))
    }

    /// Returns times (s) and states of the body at the points of the time grid and just after every impact, in order of time.
    pub fn nodes(&self) -> impl Iterator<Item = (f64, &State)> {
        self.times.iter().copied().zip(&self.states)
    }

    /// Returns the points of the time grid and the impacts of the trajectory, each with its time (s), in order of time.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (f64, Node<'_>)> + Clone {
        let mut grid = self.grid.iter().peekable();
        let mut impacts = self.impacts.iter();
        let nodes = self.times.iter().zip(&self.states).enumerate();
        nodes.map(move |(node, (time, state))| {
            let of_grid = grid.next_if(|&&of_grid| of_grid == node).is_some();
            let impact = if of_grid { None } else { impacts.next() };
            (*time, impact.map_or(Node::Grid(state), Node::Impact))
        })
    }

    /// Returns the state of the body at any time of the run (s), computed by a flight from the last grid point or impact
    /// before it. At the time of an impact, the state after the impact is returned. Times outside the run are
    /// clamped to the start or the end of the run.
    ///
    /// # Errors
    ///
    /// The errors of the flight; a completed run causes no error.
    pub fn state_at(&self, time: f64) -> Result<State, VariationalError> {
        let time = time.min(self.end.time);
        let after = self.times.partition_point(|t| *t <= time);
        let node = after.saturating_sub(1);
        let (Some(begin), Some(state)) = (self.times.get(node), self.states.get(node)) else {
            return Ok(self.end.state);
        };
        if time >= self.end.time {
            return Ok(self.end.state);
        }
        self.flight
            .advance(self.body, state, (time - begin).max(0.0))
    }

    /// Returns the largest absolute deviation from energy conservation in this run (J): change of the body's energy since the
    /// start plus the energy that impacts dissipated, over the grid points, the impacts and the end.
    pub fn max_energy_error(&self) -> f64 {
        let energy = |state: &State| self.flight.energy(self.body, state);
        let initial = self.states.first().map_or(0.0, energy);
        let (mut removed, mut worst): (f64, f64) = (0.0, 0.0);
        for (_, node) in self.numbered() {
            if let Node::Impact(impact) = node {
                let before = energy(&impact.before);
                worst = worst.max((before + removed - initial).abs());
                removed += before - energy(&impact.after);
            }
            worst = worst.max((energy(node.after()) + removed - initial).abs());
        }
        worst.max((energy(&self.end.state) + removed - initial).abs())
    }
}
