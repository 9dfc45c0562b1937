//! Axes and random columns of a plan.

use crate::random;
use crate::source::{Fault, Fields, Node, count};
use carom_numeric::expression::{Scalar, Type};
use carom_scenarios::tree::{Kind, Place, Value as Item};
use serde_json::{Number, Value, json};
use std::sync::Arc;

/// Largest total number of values of all axes.
pub(super) const MAX_VALUES: u64 = 1 << 22;

/// Axis: a name and its values in order.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) name: String,
    /// Position of the axis in the plan.
    pub(crate) place: Place,
    pub(crate) values: AxisValues,
}

/// Values of an axis, all of one type.
#[derive(Clone, Debug)]
pub(crate) enum AxisValues {
    Float(Vec<f64>),
    Integer(Vec<i64>),
    Text(Vec<Arc<str>>),
    Bool(Vec<bool>),
}

impl Axis {
    pub(super) fn read(node: Node) -> Result<Self, Fault> {
        let name = node.name.clone();
        let place = node.fault("").place;
        let mut fields = node.into_table()?;
        let known = ["values", "linspace", "geomspace", "range"];
        let given = known.map(|key| fields.take(key));
        let mut given = given.into_iter().flatten();
        let missing = fields.fault(format!("expected one of {}", known.join(", ")));
        fields.finish(&known)?;
        let values = match (given.next(), given.next()) {
            (None, _) => return Err(missing),
            (Some(_), Some(second)) => {
                return Err(second.fault(format!("give one of {}", known.join(", "))));
            }
            (Some(node), None) => match node.name.as_str() {
                "values" => listed(&node)?,
                "linspace" => {
                    let (a, b, n) = ends(&node)?;
                    AxisValues::Float(finite(&node, linspace(a, b, n))?)
                }
                "geomspace" => {
                    let (a, b, n) = ends(&node)?;
                    if !(a > 0.0 && b > 0.0 || a < 0.0 && b < 0.0) {
                        return Err(node.fault("both ends must be positive, or both negative"));
                    }
                    AxisValues::Float(finite(&node, geomspace(a, b, n))?)
                }
                _ => range(&node)?,
            },
        };
        Ok(Self {
            name,
            place,
            values,
        })
    }

    pub(crate) fn len(&self) -> u64 {
        let length = match &self.values {
            AxisValues::Float(values) => values.len(),
            AxisValues::Integer(values) => values.len(),
            AxisValues::Text(values) => values.len(),
            AxisValues::Bool(values) => values.len(),
        };
        length as u64
    }

    pub(crate) fn kind(&self) -> Type {
        match &self.values {
            AxisValues::Float(_) => Type::Float,
            AxisValues::Integer(_) => Type::Integer,
            AxisValues::Text(_) => Type::Text,
            AxisValues::Bool(_) => Type::Bool,
        }
    }

    pub(crate) fn value(&self, index: u64) -> Option<Scalar> {
        let index = usize::try_from(index).ok()?;
        match &self.values {
            AxisValues::Float(values) => values.get(index).map(|value| Scalar::Float(*value)),
            AxisValues::Integer(values) => values.get(index).map(|value| Scalar::Integer(*value)),
            AxisValues::Text(values) => values.get(index).map(|value| Scalar::Text(value.clone())),
            AxisValues::Bool(values) => values.get(index).map(|value| Scalar::Bool(*value)),
        }
    }

    pub(super) fn json(&self) -> Value {
        let values: Vec<Value> = match &self.values {
            AxisValues::Float(values) => values.iter().map(|value| float(*value)).collect(),
            AxisValues::Integer(values) => values.iter().map(|value| json!(value)).collect(),
            AxisValues::Text(values) => values.iter().map(|value| json!(**value)).collect(),
            AxisValues::Bool(values) => values.iter().map(|value| json!(value)).collect(),
        };
        json!({ "name": self.name, "values": values })
    }
}

pub(crate) fn float(value: f64) -> Value {
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

fn listed(node: &Node) -> Result<AxisValues, Fault> {
    let items = node.list()?;
    let Some(first) = items.first() else {
        return Err(node.fault("an axis needs at least one value"));
    };
    if items.len() as u64 > MAX_VALUES {
        return Err(too_many(node, items.len() as u64));
    }
    match first.kind {
        Kind::Integer(_) | Kind::Float(_) => {
            if items
                .iter()
                .all(|item| matches!(item.kind, Kind::Integer(_)))
            {
                return Ok(AxisValues::Integer(collect(node, Item::integer)?));
            }
            Ok(AxisValues::Float(collect(node, Item::number)?))
        }
        Kind::Text(_) => Ok(AxisValues::Text(collect(node, |item| {
            item.text().map(Arc::from)
        })?)),
        Kind::Bool(_) => Ok(AxisValues::Bool(collect(node, |item| {
            let mixed = |_| "all values of an axis have one type".to_owned();
            item.boolean().map_err(mixed)
        })?)),
        Kind::List(_) | Kind::Table(_) => {
            let message = "the values of an axis are numbers, strings or booleans";
            Err(node.item_fault(0, message))
        }
    }
}

fn collect<T>(node: &Node, read: impl Fn(&Item) -> Result<T, String>) -> Result<Vec<T>, Fault> {
    let items = node.list()?.iter().enumerate();
    let read = |(i, item)| read(item).map_err(|message| node.item_fault(i, message));
    items.map(read).collect()
}

fn too_many(node: &Node, n: u64) -> Fault {
    node.fault(format!(
        "{n} values exceed the limit of {MAX_VALUES} of all axes; draws have none"
    ))
}

fn ends(node: &Node) -> Result<(f64, f64, u64), Fault> {
    if node.list()?.len() != 3 {
        return Err(node.fault("expected [first, last, number of values]"));
    }
    let n = |item| count(item, 1, MAX_VALUES);
    Ok((
        node.item(0, Item::number)?,
        node.item(1, Item::number)?,
        node.item(2, n)?,
    ))
}

fn finite(node: &Node, values: Vec<f64>) -> Result<Vec<f64>, Fault> {
    if values.iter().all(|value| value.is_finite()) {
        return Ok(values);
    }
    Err(node.fault("a value between the ends is not a finite number"))
}

/// Returns `n` equally spaced numbers from `a` to `b`: $x_i = a + i\ ((b - a)/(n - 1))$ and $x_{n-1} = b$. The bits are
/// those of `numpy.linspace`.
fn linspace(a: f64, b: f64, n: u64) -> Vec<f64> {
    let step = (b - a) / (n - 1) as f64;
    let value = |i: u64| match i {
        0 => a,
        i if i == n - 1 => b,
        i => a + i as f64 * step,
    };
    (0..n).map(value).collect()
}

/// Returns `n` numbers in geometric progression from `a` to `b`: $x_i = a\ (b/a)^{i/(n-1)}$. The first and last number are
/// exact.
fn geomspace(a: f64, b: f64, n: u64) -> Vec<f64> {
    let value = |i: u64| match i {
        0 => a,
        i if i == n - 1 => b,
        i => a * libm::pow(b / a, i as f64 / (n - 1) as f64),
    };
    (0..n).map(value).collect()
}

fn range(node: &Node) -> Result<AxisValues, Fault> {
    if node.list()?.len() != 2 {
        return Err(node.fault("expected [first, one past the last]"));
    }
    let (low, high) = (node.item(0, Item::integer)?, node.item(1, Item::integer)?);
    if low >= high {
        return Err(node.fault(format!("there is no integer from {low} to below {high}")));
    }
    let n = low.abs_diff(high);
    if n > MAX_VALUES {
        return Err(too_many(node, n));
    }
    Ok(AxisValues::Integer((low..high).collect()))
}

/// Random columns: every point of the axes has `draws` cells, each with its own random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    pub(crate) draws: u64,
    pub(crate) columns: Vec<Uniform>,
}

/// Column of uniform random numbers between two ends.
#[derive(Clone, Debug)]
pub(crate) struct Uniform {
    pub(crate) name: String,
    /// Position of the column in the plan.
    pub(crate) place: Place,
    /// True if the number is set in the configuration of a scenario, as the value of an axis is.
    pub(crate) is_set: bool,
    low: f64,
    high: f64,
}

impl Random {
    pub(super) fn read(mut fields: Fields) -> Result<Self, Fault> {
        let draws = fields.require("draws")?.count(1, 1 << 40)?;
        let column = |node: Node| {
            let (name, place) = (node.name.clone(), node.fault("").place);
            let mut fields = node.into_table()?;
            let node = fields.require("uniform")?;
            fields.finish(&["uniform"])?;
            if node.list()?.len() != 2 {
                return Err(node.fault("expected [low, high]"));
            }
            let (low, high) = (node.item(0, Item::number)?, node.item(1, Item::number)?);
            if !(high - low).is_finite() {
                return Err(node.fault("the ends are too far apart"));
            }
            Ok(Uniform {
                name,
                place,
                is_set: true,
                low,
                high,
            })
        };
        let columns: Result<_, Fault> = fields.rest.into_iter().map(column).collect();
        Ok(Self {
            draws,
            columns: columns?,
        })
    }

    pub(super) fn json(&self) -> Value {
        let column = |column: &Uniform| {
            json!({
                "name": column.name,
                "uniform": [float(column.low), float(column.high)],
            })
        };
        let columns: Vec<Value> = self.columns.iter().map(column).collect();
        json!({ "draws": self.draws, "columns": columns })
    }
}

impl Uniform {
    /// Returns the uniformly distributed random number of this column in a cell (point) of the sweep. `seed` is the
    /// seed of the sweep, `cell` the number of the cell, and `index` the position of this column among the random
    /// columns.
    pub(crate) fn value(&self, seed: u64, cell: u64, index: u64) -> f64 {
        self.low + (self.high - self.low) * random::uniform(seed, cell, index)
    }
}
