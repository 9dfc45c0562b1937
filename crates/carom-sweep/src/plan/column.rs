//! Columns of a table that are taken from the answers.

use crate::source::{Fault, Node};
use crate::table::ColumnType;
use carom_scenarios::tree::{Kind, Place};
use serde_json::{Value, json};

/// Column of the table that is taken from the answers.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) source: Source,
    pub(crate) kind: ColumnType,
    /// Number of items at the end of a list that are taken; all if `None`.
    pub(crate) last: Option<usize>,
    /// True if it is not an error that no answer has this path.
    pub(crate) is_optional: bool,
    /// Position of the path in the plan.
    pub(crate) place: Place,
    /// Key of the path in the plan.
    pub(crate) key: String,
}

/// Source of a column's values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Source {
    /// JSON pointer into the answer.
    Pointer(String),
    Derived(Derived),
    /// Text that is neither: no plan with such a column is returned to a caller.
    Unknown(String),
}

/// Value that is computed from an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Derived {
    Outcomes,
    EnergyRatio,
    Diameter,
}

impl Derived {
    pub(crate) const ALL: [Self; 3] = [Self::Outcomes, Self::EnergyRatio, Self::Diameter];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Outcomes => "n_outcomes",
            Self::EnergyRatio => "energy_ratio",
            Self::Diameter => "diameter",
        }
    }

    fn may_be(self, kind: ColumnType) -> bool {
        kind == ColumnType::Float || self == Self::Outcomes && kind == ColumnType::Integer
    }
}

impl Column {
    /// Reads the definition of an answer column from the plan. `has_outcomes` is true if the sweep resolves impacts, whose
    /// sets of outcomes may have the derived column `diameter`.
    pub(super) fn read(node: Node, has_outcomes: bool) -> Result<Self, Fault> {
        let name = node.name.clone();
        let (path, kind, optional, last) = match &node.value.kind {
            Kind::Text(_) => (node, None, None, None),
            Kind::Table(_) => {
                let mut fields = node.into_table()?;
                let path = fields.require("path")?;
                let kind = fields.take("type");
                let optional = fields.take("optional");
                let last = fields.take("last");
                fields.finish(&["path", "type", "optional", "last"])?;
                (path, kind, optional, last)
            }
            _ => {
                return Err(node.fault(
                    "expected a JSON pointer, or { path = ..., type = ..., optional = ..., last = ... }",
                ));
            }
        };
        let source = source(&path)?;
        let kind = match kind {
            None => ColumnType::Float,
            Some(node) => {
                let kind = ColumnType::named(node.text()?);
                let kind =
                    kind.ok_or_else(|| node.fault("expected one of f64, i64, str, bool, list"))?;
                if let Source::Derived(derived) = source
                    && !derived.may_be(kind)
                {
                    let name = derived.name();
                    return Err(node.fault(format!("`{name}` is no {}", kind.name())));
                }
                kind
            }
        };
        if source == Source::Derived(Derived::Diameter) && !has_outcomes {
            return Err(path.fault("only the command `resolve` has a `diameter`"));
        }
        let last = match last {
            Some(node) if kind != ColumnType::List => {
                return Err(node.fault("only a list has last items: type = \"list\" is needed"));
            }
            Some(node) => Some(usize::try_from(node.count(1, 1 << 32)?).unwrap_or(usize::MAX)),
            None => None,
        };
        let is_optional = match optional.as_ref().map(|node| (node, &node.value.kind)) {
            None => false,
            Some((_, Kind::Bool(value))) => *value,
            Some((node, _)) => return Err(node.fault("expected true or false")),
        };
        let Fault { place, key, .. } = path.fault("");
        Ok(Self {
            name,
            source,
            kind,
            last,
            is_optional,
            place,
            key,
        })
    }

    pub(super) fn json(&self) -> Value {
        let path = match &self.source {
            Source::Pointer(path) | Source::Unknown(path) => path,
            Source::Derived(derived) => derived.name(),
        };
        let mut json = json!({ "name": self.name, "path": path, "type": self.kind.name() });
        if let Some(last) = self.last {
            json["last"] = last.into();
        }
        json
    }

    /// True if the column shows the `id` of the answer or the whole answer, so that the answer must contain an `id`.
    pub(crate) fn needs_id(&self) -> bool {
        match &self.source {
            Source::Pointer(pointer) => {
                pointer.is_empty() || pointer == "/id" || pointer.starts_with("/id/")
            }
            Source::Derived(_) | Source::Unknown(_) => false,
        }
    }
}

fn source(node: &Node) -> Result<Source, Fault> {
    let path = node.text()?;
    if path.is_empty() || path.starts_with('/') {
        let mut escapes = path.split('~').skip(1);
        if escapes.any(|rest| !rest.starts_with(['0', '1'])) {
            return Err(node.fault("in a JSON pointer `~` stands before 0 or 1 only"));
        }
        return Ok(Source::Pointer(path.to_owned()));
    }
    let mut all = Derived::ALL.into_iter();
    let derived = all.find(|derived| derived.name() == path);
    Ok(derived.map_or_else(|| Source::Unknown(path.to_owned()), Source::Derived))
}
