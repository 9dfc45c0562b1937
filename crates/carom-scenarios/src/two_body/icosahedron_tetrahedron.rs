//! An icosahedron that falls on a tetrahedron: Jia & Wang, Figs. 3, 4(a) and 5.

use crate::ScenarioError;
use crate::config::Input;
use crate::two_body::sliding::{
    Config, ICOSAHEDRON_TETRAHEDRON, energy_figure, hodograph_figure, impulse_figure,
    impulse_space_figure, quantities, slide, trace_table,
};
use carom_impact::two_body::{BodyPair, RigidBody};
use carom_report::record::{Quantity, Record};
use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let setup = config.setup()?;
    let trace = setup.trace()?;
    record.quantities = quantities(&setup, &trace);
    let deviation = inertia_deviation()?;
    record.quantities.push(
        Quantity::new("inverse_inertia_deviation", deviation, "1/kg").note(
            "Eq. (13) against the masses, centers and inertias of Fig. 3 with attitudes inferred \
             from the paper's numbers, which it does not print",
        ),
    );
    record.figures.extend([
        hodograph_figure(
            "fig4a_hodograph",
            "Hodograph of the icosahedron on the tetrahedron",
            "Jia & Wang, Fig. 4(a). Sliding bends, enters the origin along the attracting \
             direction, and the contact sticks.",
            &setup,
            &trace,
        ),
        impulse_space_figure(
            "fig5_impulse_space",
            "Impulse curve in space",
            &setup,
            &trace,
        ),
        impulse_figure("fig5_impulse", "Impulse curve", &setup, &trace),
        energy_figure("energy", "Energy stored at the contact", &trace),
    ]);
    record.animations.push(slide(&setup, &trace));
    record.tables.push(trace_table(&trace));
    Ok(record)
}

/// Returns the largest difference (1/kg) between the entries of the contact's inverse inertia matrix that Eq. (13) prints and
/// those computed from the two bodies.
fn inertia_deviation() -> Result<f64, ScenarioError> {
    let body = |mass, moments: [f64; 3], [x, y, z, w]: [f64; 4], center: [f64; 3]| {
        let attitude = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
        let turn = attitude.to_rotation_matrix().into_inner();
        RigidBody {
            mass,
            inertia: turn * Matrix3::from_diagonal(&moments.into()) * turn.transpose(),
            center: center.into(),
            velocity: Vector3::zeros(),
            angular_velocity: Vector3::zeros(),
        }
    };
    let pair = BodyPair::new(
        body(
            3.0,
            [0.0671673; 3],
            [0.354143, 0.326528, 0.708244, -0.516094],
            [0.0, 0.0, 0.232744],
        ),
        Some(body(
            1.0,
            [0.017239, 0.022813, 0.027135],
            [0.800230, 0.218951, -0.510258, -0.226560],
            [0.125, 0.125, -0.4375],
        )),
        Vector3::zeros(),
        Vector3::z(),
    )?;
    let printed = Matrix3::from_fn(|i, j| ICOSAHEDRON_TETRAHEDRON[i][j]);
    Ok((pair.inertia()?.matrix() - printed).amax())
}
