//! Stored runs.

use super::{Collider, CollisionError, Event, Grid, Impact, RunEnd};
use carom_geometry::SupportMap;
use carom_variational::{Flight, RigidBody, State, TimeGrid, VariationalError};

/// A run with all its states, and any state between.
#[derive(Clone, Debug)]
pub struct Trajectory<'a, F> {
    body: &'a RigidBody,
    flight: &'a F,
    /// Times from which the flight starts anew: the grid, and the impacts.
    times: Vec<f64>,
    states: Vec<State>,
    grid: Vec<usize>,
    impacts: Vec<Impact>,
    end: RunEnd,
}

/// Start of a new flight.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Node<'t> {
    Grid(&'t State),
    Impact(&'t Impact),
}

impl<'t> Node<'t> {
    /// The state from which the motion goes on.
    pub(crate) fn after(&self) -> &'t State {
        match self {
            Self::Grid(state) => state,
            Self::Impact(impact) => &impact.after,
        }
    }
}

impl<'a, F: Flight> Trajectory<'a, F> {
    /// Runs a [`Collider`] and keeps everything.
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

    /// [`record`](Self::record), and tells `observe` the time (s) of every state and impact, and the impacts so far.
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

    /// The body.
    pub fn body(&self) -> &'a RigidBody {
        self.body
    }

    /// The impacts in their order.
    pub fn impacts(&self) -> &[Impact] {
        &self.impacts
    }

    /// Ending of the run.
    pub fn end(&self) -> &RunEnd {
        &self.end
    }

    /// Times and states of the grid, from the start on.
    pub fn grid(&self) -> impl Iterator<Item = (f64, &State)> {
        self.grid.iter().map(|&i| (self.times[i], &self.states[i]))
    }

    /// Times and states of the grid and after every impact, in their order.
    pub fn nodes(&self) -> impl Iterator<Item = (f64, &State)> {
        self.times.iter().copied().zip(&self.states)
    }

    /// The grid and the impacts, in their order, with their times.
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

    /// The state at any time of the run, by the flight from the grid point or impact before it;
    /// after an impact at the very time of one. Times outside are brought to the ends.
    ///
    /// # Errors
    ///
    /// None for a run that was completed.
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

    /// Largest absolute difference of the energy from the initial one (J), at the grid, at the impacts
    /// and at the end of the run, after what the impacts removed is added.
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
