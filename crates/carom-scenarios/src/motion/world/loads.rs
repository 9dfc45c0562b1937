//! Loads of the bodies of a world and springs between them, from the keys `[[forces]]`, `drag` and `[[springs]]`.

use super::config::Config;
use crate::ScenarioError;
use carom_variational::load::Loads;
use carom_variational::spring::Spring;

impl Config {
    /// Returns the loads of all bodies. `bodies`: their names, and true for those that move; those of the configuration come first.
    pub(super) fn loads(&self, bodies: &[(&str, bool)]) -> Result<Vec<Loads>, ScenarioError> {
        let mut all = vec![Loads::default(); bodies.len()];
        let moves = |key: &str, body: usize| match bodies.get(body) {
            Some((name, false)) => {
                let message = format!("`{name}` is fixed: no force moves it");
                Err(ScenarioError::value(key, message))
            }
            _ => Ok(()),
        };
        for (i, body) in self.bodies.iter().flatten().enumerate() {
            if let Some(drag) = &body.drag {
                let key = format!("bodies[{i}]");
                moves(&format!("{key}.drag"), i)?;
                all[i].drag = drag.build(&key)?;
            }
        }
        for (i, force) in self.forces.iter().flatten().enumerate() {
            let (key, named) = (format!("forces[{i}]"), format!("forces[{i}].body"));
            let found = bodies.iter().position(|(name, _)| *name == force.body);
            let Some(body) = found else {
                let near = bodies.iter().map(|(name, _)| *name);
                let near = carom_numeric::nearest_name(&force.body, near);
                let hint =
                    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                let message = format!("no body is called `{}`{hint}", force.body);
                return Err(ScenarioError::value(&named, message));
            };
            moves(&named, body)?;
            all[body].forces.push(force.build(&key)?);
        }
        Ok(all)
    }
}

impl Config {
    /// Returns the springs. `bodies`: names of all bodies, and true for those with mass.
    pub(super) fn springs(&self, bodies: &[(&str, bool)]) -> Result<Vec<Spring>, ScenarioError> {
        let mut all: Vec<Spring> = Vec::new();
        for (i, spring) in self.springs.iter().flatten().enumerate() {
            let key = format!("springs[{i}]");
            let fault = if spring.name.is_empty() {
                "a name is needed".to_owned()
            } else if all.iter().any(|other| other.name == spring.name) {
                format!("`{}` is there twice", spring.name)
            } else {
                all.push(spring.build(&key, bodies)?);
                continue;
            };
            return Err(ScenarioError::value(&format!("{key}.name"), fault));
        }
        Ok(all)
    }
}
