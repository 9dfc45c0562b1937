//! Models of worlds with joints for analyses.

use super::super::config::Config;
use super::setup::Jointed;
use crate::ScenarioError;
use crate::motion::model::{Model, NoModel};
use carom_analyse::{AnalyseError, Articulated};
use carom_impact::frictional::MoreauNewton;
use carom_mechanism::MechanicalSystem;

/// Makes the model of a world whose bodies hang on joints and touch nothing but the limits of these.
pub(in super::super) fn modelled(
    config: &Config,
    given: &dyn Fn(&str) -> bool,
) -> Result<Model, NoModel> {
    let jointed = Jointed::new(config, given)?;
    let shaped = jointed
        .shapes
        .iter()
        .filter(|shape| shape.is_some())
        .count();
    let partners = shaped + jointed.setup.spec.planes.len();
    if shaped > 0 && partners > 1 {
        let what =
            "bodies with shapes can touch: flows of worlds are done for limits of joints alone"
                .to_owned();
        return Err(AnalyseError::NoFlow { what }.into());
    }
    let multibody = jointed.world.multibody();
    let posture = jointed.world.start();
    let system = Articulated::new(multibody, posture, &jointed.coordinates)?;
    let (mut rows, mut velocities, mut rates) = (Vec::new(), Vec::new(), Vec::new());
    multibody.rows(&posture.states, &posture.q, &mut rows);
    multibody.velocities(&posture.states, &mut velocities);
    multibody.coordinate_rates(&rows, &velocities, &mut rates);
    if posture.q.len() != jointed.coordinates.len() || rates.len() != posture.q.len() {
        return Err(ScenarioError::value("joints", "a joint without named coordinates").into());
    }
    let contacts = system
        .contacts()
        .iter()
        .map(|contact| contact.name.clone())
        .collect();
    Ok(Model {
        system: Box::new(system),
        // A limit is frictionless: alone, all laws restitute it as this one.
        law: Box::new(MoreauNewton::default()),
        contacts,
        armed: Vec::new(),
        position: posture.q.clone(),
        velocity: rates,
        parameters: config.parameters.clone(),
        coordinates: jointed.coordinates,
    })
}
