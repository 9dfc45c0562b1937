//! Template of a problem: JSON with expressions.

use crate::plan::axis::float;
use crate::source::{Fault, Node, joined};
use carom_numeric::expression::{Expression, Names, Scalar, Type};
use carom_scenarios::tree::{Kind, Place, Value as Part};
use carom_wire::{MAX_NESTING, WireError};
use serde_json::Value;

/// JSON value with positions that are filled by expressions.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    value: Value,
    slots: Vec<Slot>,
}

#[derive(Clone, Debug)]
struct Slot {
    path: Vec<Step>,
    shown: String,
    expression: Expression,
}

#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Index(usize),
}

impl Template {
    /// Creates a template of an impact problem without entries: merged with a problem, it changes nothing.
    pub(super) fn empty() -> Self {
        Self {
            value: Value::Object(serde_json::Map::new()),
            slots: Vec::new(),
        }
    }

    pub(super) fn read(node: &Node, names: &Names) -> Result<Self, Fault> {
        let mut template = Self {
            value: node.value.json(),
            slots: Vec::new(),
        };
        template.collect(&node.value, node.fault(""), names, &mut Vec::new())?;
        Ok(template)
    }

    /// Collects all expressions, the texts that begin with `=`, in a part of the problem. `path` leads to this part;
    /// `names` are the names known to expressions. An error in this part is reported with the position and key of `here`.
    fn collect(
        &mut self,
        part: &Part,
        here: Fault,
        names: &Names,
        path: &mut Vec<Step>,
    ) -> Result<(), Fault> {
        let fault = |message: String| Fault {
            message,
            ..here.clone()
        };
        let within = |place: Place, key: String| Fault {
            place,
            key,
            message: String::new(),
        };
        if path.len() > MAX_NESTING {
            return Err(fault(format!("nested more than {MAX_NESTING} levels deep")));
        }
        match &part.kind {
            Kind::Text(text) => {
                let Some(rest) = text.strip_prefix('=') else {
                    return Ok(());
                };
                if rest.starts_with('=') {
                    self.put(path, Value::String(rest.to_owned()));
                    return Ok(());
                }
                let expression = Expression::parse(rest, names).map_err(fault)?;
                self.slots.push(Slot {
                    path: path.clone(),
                    shown: here.key,
                    expression,
                });
            }
            Kind::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    if matches!(item.kind, Kind::Bool(_) | Kind::Integer(_) | Kind::Float(_)) {
                        continue;
                    }
                    path.push(Step::Index(index));
                    let here = within(item.place, format!("{}[{index}]", here.key));
                    self.collect(item, here, names, path)?;
                    path.pop();
                }
            }
            Kind::Table(entries) => {
                for entry in entries {
                    path.push(Step::Key(entry.key.clone()));
                    let here = within(entry.place, joined(&here.key, &entry.key));
                    self.collect(&entry.value, here, names, path)?;
                    path.pop();
                }
            }
            Kind::Bool(_) | Kind::Integer(_) | Kind::Float(_) => {}
        }
        Ok(())
    }

    fn put(&mut self, path: &[Step], value: Value) {
        if let Some(place) = place(&mut self.value, path) {
            *place = value;
        }
    }

    /// Returns the problem in JSON with an arbitrary value of the right type in place of each expression.
    pub(super) fn example(&self) -> Value {
        let mut example = self.value.clone();
        for slot in &self.slots {
            let value = match slot.expression.kind() {
                Type::Integer => Value::from(1),
                Type::Float => Value::from(1.0),
                Type::Text => Value::from(""),
                Type::Bool => Value::from(true),
            };
            if let Some(place) = place(&mut example, &slot.path) {
                *place = value;
            }
        }
        example
    }

    /// Returns the problem in JSON before expressions are replaced by values, for use as the target of
    /// [`fill`](Self::fill).
    pub(crate) fn blank(&self) -> Value {
        self.value.clone()
    }

    /// True if an expression of the problem uses the variable with index `name`.
    pub(crate) fn uses(&self, name: usize) -> bool {
        self.slots.iter().any(|slot| slot.expression.uses(name))
    }

    /// Replaces each expression in the problem `target` by its value for the variables `names`. `target` is a
    /// [`blank`](Self::blank) problem, or one that was filled before; `stack` is working memory.
    pub(crate) fn fill(
        &self,
        target: &mut Value,
        names: &[Scalar],
        stack: &mut Vec<f64>,
    ) -> Result<(), WireError> {
        for slot in &self.slots {
            let value = slot.expression.value(names, stack);
            let value = value.ok_or_else(|| non_finite(&slot.shown, &slot.expression))?;
            if let Some(place) = place(target, &slot.path) {
                *place = json(&value);
            }
        }
        Ok(())
    }
}

fn place<'v>(value: &'v mut Value, path: &[Step]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get_mut(key.as_str()),
        Step::Index(index) => value.get_mut(index),
    })
}

/// Creates the error of a cell (point of the sweep) in which an expression has no finite value. `place` is the key of
/// the expression.
pub(crate) fn non_finite(place: &str, expression: &Expression) -> WireError {
    let text = expression.text();
    WireError::new(
        "non-finite",
        format!("{place}: `{text}` is not a finite number"),
    )
}

pub(crate) fn json(value: &Scalar) -> Value {
    match value {
        Scalar::Integer(value) => Value::Number((*value).into()),
        Scalar::Float(value) => float(*value),
        Scalar::Text(text) => Value::String(text.to_string()),
        Scalar::Bool(value) => Value::Bool(*value),
    }
}

/// Merges the JSON value `over` into `base`: objects are merged key by key; any other value in `over` replaces the one in
/// `base`.
pub(crate) fn lay_over(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                match base.get_mut(key) {
                    Some(below) => lay_over(below, value),
                    None => {
                        base.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (base, over) => *base = over.clone(),
    }
}

/// Returns the variables that expressions of every plan can use: `cell`, the number of the cell (point of the sweep),
/// and `seed`, the random integer of the cell.
pub(crate) fn cell_names() -> Names {
    let mut names = Names::default();
    names.add("cell", Type::Integer);
    names.add("seed", Type::Integer);
    names
}
