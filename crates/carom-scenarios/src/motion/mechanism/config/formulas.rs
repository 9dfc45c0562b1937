//! Systems given by formulas, and velocity constraints of any mechanism.

use super::parts::{Kind, Parts};
use super::{AnyContact, check_contact};
use crate::ScenarioError;
use carom_mechanism::formulas::{FormulaContact, FormulaRates, FormulaSystem, Symbols};
use carom_mechanism::planar::{Blade, Link, PlanarMechanism};
use carom_mechanism::{Constrained, MechanicalSystem, MechanismError, VelocityConstraint};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Formula in a configuration: a text or a number.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Formula {
    Number(f64),
    Text(String),
}

impl Formula {
    fn text(&self) -> String {
        match self {
            Self::Number(value) => value.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SystemConfig {
    coordinates: Vec<String>,
    #[serde(default)]
    parameters: BTreeMap<String, f64>,
    mass_matrix: Vec<Vec<Formula>>,
    potential: Option<Formula>,
    #[serde(default)]
    forces: Vec<Formula>,
    position: Option<Vec<f64>>,
    velocity: Option<Vec<f64>>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FormulaContactConfig {
    name: String,
    gap: Formula,
    slide: Option<Formula>,
    #[serde(default)]
    friction: f64,
    #[serde(default)]
    restitution: f64,
}

impl AnyContact for FormulaContactConfig {
    fn name(&self) -> &str {
        &self.name
    }

    fn friction(&self) -> f64 {
        self.friction
    }

    fn restitution(&self) -> f64 {
        self.restitution
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ConstraintType {
    Blade,
}

/// Linear constraint on velocities: factors of the rates of coordinates, or a blade of a link.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConstraintConfig {
    name: String,
    rates: Option<BTreeMap<String, Formula>>,
    #[serde(rename = "type")]
    kind: Option<ConstraintType>,
    link: Option<String>,
    point: Option<[f64; 2]>,
    direction: Option<[f64; 2]>,
}

/// Fault of a part of a constraint: its key and a message.
fn fault(key: &str, part: &str, message: impl std::fmt::Display) -> ScenarioError {
    ScenarioError::value(&format!("{key}.{part}"), message)
}

impl ConstraintConfig {
    /// Reads the factors of the rates. `key`: path of the constraint in the configuration.
    fn rates(
        &self,
        key: &str,
        symbols: &Symbols,
        position: &[f64],
    ) -> Result<FormulaRates, ScenarioError> {
        for (part, is_given) in [
            ("link", self.link.is_some()),
            ("point", self.point.is_some()),
            ("direction", self.direction.is_some()),
        ] {
            if is_given {
                return Err(fault(
                    key,
                    part,
                    "belongs to a constraint of type \"blade\"",
                ));
            }
        }
        let rates = self.rates.iter().flatten();
        let rates: Vec<_> = rates
            .map(|(name, factor)| (name.clone(), factor.text()))
            .collect();
        let rates = FormulaRates::new(symbols, &format!("{key}.rates"), &rates)
            .map_err(|error| located(&error))?;
        rates.check(position).map_err(|error| located(&error))?;
        Ok(rates)
    }

    /// Builds the constraint of a mechanism of links, whose coordinates have the given names. `find` finds a link by its name.
    pub(super) fn of_links(
        &self,
        key: &str,
        mechanism: &PlanarMechanism,
        coordinates: &[String],
        position: &[f64],
        find: &dyn Fn(&str) -> Option<Link>,
    ) -> Result<Box<dyn VelocityConstraint>, ScenarioError> {
        match (self.kind, &self.rates) {
            (Some(_), Some(_)) => Err(fault(key, "rates", "a blade has none")),
            (None, None) => Err(fault(key, "rates", "`rates` or type = \"blade\" is needed")),
            (None, Some(_)) => {
                let symbols = Symbols::of_coordinates(coordinates.to_vec());
                Ok(Box::new(self.rates(key, &symbols, position)?))
            }
            (Some(ConstraintType::Blade), None) => {
                let name = self.link.as_deref().unwrap_or_default();
                let link = find(name).ok_or_else(|| {
                    let message = format!("constraint `{}`: no link is called `{name}`", self.name);
                    fault(key, "link", message)
                })?;
                let Some(direction) = self.direction else {
                    return Err(fault(
                        key,
                        "direction",
                        "a blade needs one, in the link's frame",
                    ));
                };
                let point = self.point.unwrap_or_default();
                let blade = Blade::new(mechanism.clone(), link, point, direction)
                    .map_err(|error| fault(key, "direction", error))?;
                Ok(Box::new(blade))
            }
        }
    }
}

/// Builds a constraint from its configuration and the path of that.
pub(super) type BuildConstraint<'a> =
    dyn Fn(&ConstraintConfig, &str) -> Result<Box<dyn VelocityConstraint>, ScenarioError> + 'a;

/// Puts constraints on a mechanism. `build` builds one from its configuration and the path of that.
pub(super) fn constrained<S: MechanicalSystem + 'static>(
    system: S,
    constraints: &[ConstraintConfig],
    build: &BuildConstraint<'_>,
) -> Result<Box<dyn MechanicalSystem>, ScenarioError> {
    if constraints.is_empty() {
        return Ok(Box::new(system));
    }
    let mut held = Constrained::new(system);
    for (i, constraint) in constraints.iter().enumerate() {
        let key = format!("constraints[{i}]");
        let name = &constraint.name;
        if name.is_empty() {
            return Err(fault(&key, "name", "a name is needed"));
        }
        if constraints.iter().take(i).any(|other| other.name == *name) {
            return Err(fault(&key, "name", format!("`{name}` is there twice")));
        }
        held.constrain(name.as_str(), build(constraint, &key)?);
    }
    Ok(Box::new(held))
}

impl SystemConfig {
    /// Builds the system with its contacts and constraints.
    pub(super) fn build(
        &self,
        contacts: &[FormulaContactConfig],
        constraints: &[ConstraintConfig],
    ) -> Result<Parts, ScenarioError> {
        let parameters = self.parameters.iter();
        let parameters = parameters
            .map(|(name, value)| (name.clone(), *value))
            .collect();
        let symbols =
            Symbols::new(self.coordinates.clone(), parameters).map_err(|error| located(&error))?;
        let rows = self.mass_matrix.iter();
        let mass: Vec<Vec<String>> = rows
            .map(|row| row.iter().map(Formula::text).collect())
            .collect();
        let forces: Vec<String> = self.forces.iter().map(Formula::text).collect();
        let potential = self.potential.as_ref().map(Formula::text);
        let mut system = FormulaSystem::new(symbols.clone(), &mass, potential.as_deref(), &forces)
            .map_err(|error| located(&error))?;
        for (i, contact) in contacts.iter().enumerate() {
            let key = format!("contacts[{i}]");
            check_contact(contact, contacts.get(..i).unwrap_or_default())
                .map_err(|(part, message)| fault(&key, part, message))?;
            if contact.friction > 0.0 && contact.slide.is_none() {
                return Err(fault(
                    &key,
                    "slide",
                    "friction needs the formula of a slide coordinate",
                ));
            }
            let contact = FormulaContact {
                name: contact.name.clone(),
                gap: contact.gap.text(),
                slide: contact.slide.as_ref().map(Formula::text),
                friction: contact.friction,
                restitution: contact.restitution,
            };
            system
                .contact(&key, contact)
                .map_err(|error| located(&error))?;
        }
        let position = self.start("position", self.position.as_ref())?;
        let velocity = self.start("velocity", self.velocity.as_ref())?;
        system
            .check(&position, &velocity)
            .map_err(|error| located(&error))?;
        let system = constrained(
            system,
            constraints,
            &|constraint, key| match constraint.kind {
                Some(_) => Err(fault(
                    key,
                    "type",
                    "a blade belongs to a link: a `[system]` has none",
                )),
                None => Ok(Box::new(constraint.rates(key, &symbols, &position)?)),
            },
        )?;
        Ok(Parts {
            system,
            scene: None,
            kinds: vec![Kind::Formula; self.coordinates.len()],
            coordinates: self.coordinates.clone(),
            position,
            velocity,
        })
    }

    /// Returns a list of the start, one number per coordinate: zeros where none is given.
    fn start(&self, part: &str, given: Option<&Vec<f64>>) -> Result<Vec<f64>, ScenarioError> {
        let n = self.coordinates.len();
        let values = given.cloned().unwrap_or_else(|| vec![0.0; n]);
        let key = format!("system.{part}");
        if values.len() != n {
            let message = format!("{} numbers for {n} coordinates", values.len());
            return Err(ScenarioError::value(&key, message));
        }
        crate::motion::finite(&key, &values)?;
        Ok(values)
    }
}

/// Names the key of a fault in a formula or a name.
fn located(error: &MechanismError) -> ScenarioError {
    let key = match error {
        MechanismError::InvalidFormula { key, .. }
            if key.starts_with("contacts[") || key.starts_with("constraints[") =>
        {
            key.clone()
        }
        MechanismError::InvalidFormula { key, .. } => format!("system.{key}"),
        _ => "system.coordinates".to_owned(),
    };
    ScenarioError::value(&key, error)
}
