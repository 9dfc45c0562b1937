//! Evaluates cells: values of the names, and the resulting input.

use crate::SweepError;
use crate::plan::{CellKind, Plan, json, lay_over, non_finite};
use crate::random;
use crate::table::Datum;
use carom_numeric::expression::Scalar;
use carom_wire::WireError;
use serde_json::{Map, Value, json as object};
use std::fs::File;

/// Evaluator that moves from cell to cell of a plan.
#[derive(Debug)]
pub(crate) struct Evaluator<'p> {
    pub(crate) plan: &'p Plan,
    index: u64,
    /// Values of the names in expressions, in this order: cell, seed, state, axes, draw, random columns, lets.
    names: Vec<Scalar>,
    /// Error because of which the names have no values.
    fault: Option<WireError>,
    /// Template, filled in for an earlier or the current cell.
    filled: Value,
    /// Filled template laid over a state.
    merged: Value,
    state: u64,
    states: Option<File>,
    stack: Vec<f64>,
}

impl<'p> Evaluator<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Result<Self, SweepError> {
        let (filled, states) = match &plan.kind {
            CellKind::Problem {
                template, states, ..
            } => {
                let file = states.as_ref().map(|states| states.open()).transpose()?;
                (template.blank(), file)
            }
            CellKind::Scenario(_) => (Value::Null, None),
        };
        Ok(Self {
            plan,
            index: 0,
            names: Vec::new(),
            fault: None,
            filled,
            merged: Value::Null,
            state: 0,
            states,
            stack: Vec::new(),
        })
    }

    /// Makes cell (point of the sweep) number `index` the current one, and computes the values of its axes, random columns
    /// and named expressions.
    pub(crate) fn move_to(&mut self, index: u64) -> Result<(), SweepError> {
        if index >= self.plan.n_cells() {
            return Err(SweepError::OutOfRange {
                what: "cell",
                index,
                last: self.plan.n_cells().saturating_sub(1),
            });
        }
        // The digits of the index: draws vary fastest, then the last axis.
        let mut rest = index;
        let mut digit = |length: u64| {
            let digit = rest % length.max(1);
            rest /= length.max(1);
            digit
        };
        let draw = self
            .plan
            .random
            .as_ref()
            .map_or(0, |random| digit(random.draws));
        let axes = self.plan.axes.iter().rev();
        let mut values: Vec<Scalar> = axes
            .filter_map(|axis| axis.value(digit(axis.len())))
            .collect();
        values.reverse();
        self.state = rest;
        self.place(index, values, draw);
        Ok(())
    }

    /// Sets the current cell (point of the sweep) to number `index` with the given values of the axes. `draw` is the number
    /// of the random draw. The random columns and named expressions of the cell are computed.
    pub(crate) fn place(&mut self, index: u64, axes: Vec<Scalar>, draw: u64) {
        let plan = self.plan;
        self.index = index;
        self.fault = None;
        self.names.clear();
        let seed = if plan.uses_seed {
            random::integer(plan.seed, index, 0)
        } else {
            0
        };
        self.names.push(Scalar::Integer(index.cast_signed()));
        self.names.push(Scalar::Integer(seed.cast_signed()));
        if plan.has_states() {
            self.names.push(Scalar::Integer(self.state.cast_signed()));
        }
        self.names.extend(axes);
        if let Some(random) = &plan.random {
            self.names.push(Scalar::Integer(draw.cast_signed()));
            for (place, column) in random.columns.iter().enumerate() {
                let value = column.value(plan.seed, index, place as u64);
                self.names.push(Scalar::Float(value));
            }
        }
        for (name, expression) in &plan.lets {
            match expression.value(&self.names, &mut self.stack) {
                Some(value) => self.names.push(value),
                None => {
                    self.fault = Some(non_finite(&format!("let.{name}"), expression));
                    return;
                }
            }
        }
    }

    /// Returns the values of the current cell (point of the sweep) in the first columns of the sweep's table. These
    /// columns hold the number of the cell, the number of its state (a line in a file of impact problems), the values
    /// of the axes, the number of the random draw, and the random columns.
    pub(crate) fn coordinates(&self) -> impl Iterator<Item = Datum> + '_ {
        let last = 2 + self.coordinate_names().count();
        let rest = self.names.get(2..last).unwrap_or_default();
        let datum = |value: &Scalar| match value {
            Scalar::Integer(value) => Datum::Integer(*value),
            Scalar::Float(value) => Datum::Float(*value),
            Scalar::Text(text) => Datum::Text(text.to_string()),
            Scalar::Bool(value) => Datum::Bool(*value),
        };
        std::iter::once(Datum::Unsigned(self.index)).chain(rest.iter().map(datum))
    }

    fn coordinate_names(&self) -> impl Iterator<Item = &str> {
        let plan = self.plan;
        let state = plan.has_states().then_some("state");
        let axes = plan.axes.iter().map(|axis| axis.name.as_str());
        let random = plan.random.iter().flat_map(|random| {
            let columns = random.columns.iter().map(|column| column.name.as_str());
            std::iter::once("draw").chain(columns)
        });
        state.into_iter().chain(axes).chain(random)
    }

    /// Returns the JSON input from which the current cell (point of the sweep) is computed: an impact problem without
    /// `id`, or a scenario's name and settings. The inner error concerns this cell only.
    pub(crate) fn input(&mut self) -> Result<Result<&Value, WireError>, SweepError> {
        if let Some(fault) = &self.fault {
            return Ok(Err(fault.clone()));
        }
        match &self.plan.kind {
            CellKind::Scenario(cells) => {
                let names = self.coordinate_names();
                let values = self.names.get(2..).unwrap_or_default();
                let random = self.plan.random.iter().flat_map(|random| &random.columns);
                let not_set: Vec<&str> = random
                    .filter(|column| !column.is_set)
                    .map(|column| column.name.as_str())
                    .chain(["draw"])
                    .collect();
                let pairs = names
                    .zip(values)
                    .filter(|(name, _)| !not_set.contains(name));
                let set: Map<String, Value> = pairs
                    .map(|(name, value)| (name.to_owned(), json(value)))
                    .collect();
                self.filled = object!({ "scenario": cells.scenario.name });
                if let Some(file) = &cells.file {
                    self.filled["config"] = file.name.as_str().into();
                }
                self.filled["set"] = set.into();
                Ok(Ok(&self.filled))
            }
            CellKind::Problem {
                template, states, ..
            } => {
                if let Err(fault) = template.fill(&mut self.filled, &self.names, &mut self.stack) {
                    return Ok(Err(fault));
                }
                let (Some(states), Some(file)) = (states, &mut self.states) else {
                    return Ok(Ok(&self.filled));
                };
                let mut state = states.state(file, self.state)?;
                if let Value::Object(state) = &mut state {
                    state.shift_remove("id");
                }
                lay_over(&mut state, &self.filled);
                self.merged = state;
                Ok(Ok(&self.merged))
            }
        }
    }

    pub(crate) fn id(&self) -> String {
        format!("cell-{}", self.index)
    }

    /// Returns the JSON input of the current cell (point of the sweep), with an `id` such as `cell-7` as the first key.
    /// The inner error concerns this cell only.
    pub(crate) fn line(&mut self) -> Result<Result<Value, WireError>, SweepError> {
        let id = self.id();
        Ok(self.input()?.map(|input| {
            let mut line = Map::new();
            line.insert("id".to_owned(), Value::String(id));
            if let Value::Object(input) = input {
                line.extend(input.clone());
            }
            Value::Object(line)
        }))
    }
}
