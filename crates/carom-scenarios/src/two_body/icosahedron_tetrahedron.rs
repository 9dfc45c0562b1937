//! An icosahedron that falls on a tetrahedron: Jia & Wang, Figs. 3, 4(a) and 5.

use crate::ScenarioError;
use crate::config::{Fraction, Input, NonNegative};
use crate::published::printed;
use crate::two_body::sliding::{
    self, Setup, energy_figure, hodograph_figure, impulse_figure, impulse_space_figure, quantities,
    slide, trace_table,
};
use carom_impact::two_body::{BodyPair, ContactInertia, RestitutionLaw, RigidBody};
use carom_report::record::{Column, Quantity, Record, Table};
use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    bodies: Bodies,
    inverse_inertia: [[f64; 3]; 3],
    velocity: [f64; 3],
    friction: NonNegative,
    restitution: Fraction,
    restitution_law: RestitutionLaw,
}

/// Source of the contact's inverse inertia matrix.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Bodies {
    /// The printed matrix, Eq. (13).
    Printed,
    /// The tetrahedron of the vertices that Fig. 3 prints, and the icosahedron's printed moment.
    Shape,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let mut setup = sliding::Config {
        inverse_inertia: config.inverse_inertia,
        velocity: config.velocity,
        friction: config.friction,
        restitution: config.restitution,
        restitution_law: config.restitution_law,
    }
    .setup()?;
    let shape = Setup {
        inertia: pair([turned(&ICOSAHEDRON), by_shape()])?.inertia()?,
        ..setup
    };
    if config.bodies == Bodies::Shape {
        if input.is_given("inverse_inertia") {
            let message = "follows from the shape of the bodies: leave out `bodies = \"shape\"`";
            return Err(ScenarioError::value("inverse_inertia", message));
        }
        setup = shape;
    }
    let has_paper_matrix =
        config.bodies == Bodies::Printed && input.has_defaults(&["inverse_inertia".to_owned()]);
    let trace = setup.trace()?;
    record.quantities = quantities(&setup, &trace);
    let frictionless =
        -(1.0 + setup.restitution) * setup.velocity.z / setup.inertia.matrix()[(2, 2)];
    record.quantities.push(
        Quantity::new("frictionless_impulse_z_ns", frictionless, "N s").note("without friction"),
    );
    if has_paper_matrix {
        compare(&setup, &shape, &mut record)?;
        if input.has_defaults(&["velocity".to_owned()]) {
            velocities(&trace.impact.impulse, &mut record)?;
        }
    }
    let (title, caption) = if has_paper_matrix {
        (
            "Hodograph of the icosahedron on the tetrahedron",
            "Jia & Wang, Fig. 4(a). Sliding bends, enters the origin along the attracting \
             direction, and the contact sticks.",
        )
    } else {
        record.summary = "an impact at one contact: how sliding turns".to_owned();
        (
            "Hodograph",
            "The sliding velocity during the impact, with its events.",
        )
    };
    for plot in [
        hodograph_figure(["fig4a_hodograph", title, caption], &setup, &trace),
        impulse_space_figure(
            "fig5_impulse_space",
            "Impulse curve in space",
            &setup,
            &trace,
        ),
        impulse_figure("fig5_impulse", "Impulse curve", &setup, &trace),
        energy_figure("energy", "Energy stored at the contact", &trace),
    ] {
        plot.draw(&mut record)?;
    }
    record.animations.push(slide(&setup, &trace));
    record.tables.push(trace_table(&trace));
    Ok(record)
}

/// A body of Fig. 3. The paper does not print attitudes: they are inferred from Eq. (13) and the velocities after the impact.
struct Printed {
    mass: f64,
    moments: [f64; 3],
    /// Quaternion x, y, z, w of the attitude.
    attitude: [f64; 4],
    center: [f64; 3],
    /// Velocity before the impact, Eq. (14).
    velocity: [f64; 3],
    /// Angular velocity before the impact in the axes of the body, Eq. (14).
    angular_velocity: [f64; 3],
}

const ICOSAHEDRON: Printed = Printed {
    mass: 3.0,
    moments: [0.0671673; 3],
    attitude: [0.3541416, 0.3265147, 0.7082462, -0.5161001],
    center: [0.0, 0.0, 0.232744],
    velocity: [-0.1, 0.5, 0.95],
    angular_velocity: [0.1, 0.1, 0.1],
};

const TETRAHEDRON: Printed = Printed {
    mass: 1.0,
    moments: [0.017239, 0.022813, 0.027135],
    attitude: [0.800230, 0.218951, -0.510258, -0.226560],
    center: [0.125, 0.125, -0.4375],
    velocity: [0.1, 0.1, 1.0],
    angular_velocity: [0.1, -0.1, 0.1],
};

/// Vertices of the tetrahedron, Fig. 3; the first is the contact point.
const VERTICES: [[f64; 3]; 4] = [
    [0.0, 0.0, 0.0],
    [0.0, 0.0, -0.75],
    [0.5, 0.0, -0.5],
    [0.0, 0.5, -0.5],
];

impl Printed {
    fn rotation(&self) -> Matrix3<f64> {
        let [x, y, z, w] = self.attitude;
        let attitude = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
        attitude.to_rotation_matrix().into_inner()
    }

    /// Returns velocity and angular velocity (in the axes of the body) after the impulse `impulse` (N s) at the contact point.
    fn after(&self, impulse: &Vector3<f64>) -> [Vector3<f64>; 2] {
        let moment = -Vector3::from(self.center).cross(impulse);
        let turn = self.rotation().transpose() * moment;
        let moments = Vector3::from(self.moments);
        [
            Vector3::from(self.velocity) + impulse / self.mass,
            Vector3::from(self.angular_velocity) + turn.component_div(&moments),
        ]
    }
}

/// Returns a printed body in its attitude, at rest.
fn turned(printed: &Printed) -> RigidBody {
    let turn = printed.rotation();
    let moments = Matrix3::from_diagonal(&printed.moments.into());
    at_rest(
        printed.mass,
        turn * moments * turn.transpose(),
        printed.center.into(),
    )
}

fn at_rest(mass: f64, inertia: Matrix3<f64>, center: Vector3<f64>) -> RigidBody {
    RigidBody {
        mass,
        inertia,
        center,
        velocity: Vector3::zeros(),
        angular_velocity: Vector3::zeros(),
    }
}

/// Returns the uniform tetrahedron of the printed vertices, at rest. The second moment of a uniform simplex about its centroid
/// is $\frac{m}{20}\sum_k r_kr_k^T$ with the vertices $r_k$ relative to the centroid.
fn by_shape() -> RigidBody {
    let vertices = VERTICES.map(Vector3::from);
    let center = vertices.iter().sum::<Vector3<f64>>() / 4.0;
    let second: Matrix3<f64> = vertices
        .iter()
        .map(|v| (v - center) * (v - center).transpose())
        .sum();
    let second = second * (TETRAHEDRON.mass / 20.0);
    let inertia = Matrix3::from_diagonal_element(second.trace()) - second;
    at_rest(TETRAHEDRON.mass, inertia, center)
}

fn pair([first, second]: [RigidBody; 2]) -> Result<BodyPair, ScenarioError> {
    Ok(BodyPair::new(
        first,
        Some(second),
        Vector3::zeros(),
        Vector3::z(),
    )?)
}

/// Adds the comparison of the paper's matrix and moments with those of the printed bodies to a record. `shape`: the same impact
/// with the matrix of the shape.
fn compare(setup: &Setup, shape: &Setup, record: &mut Record) -> Result<(), ScenarioError> {
    let bodies = pair([turned(&ICOSAHEDRON), turned(&TETRAHEDRON)])?;
    let deviation = (bodies.inertia()?.matrix() - setup.inertia.matrix()).amax();
    record.quantities.push(
        Quantity::new("inverse_inertia_deviation", deviation, "1/kg").note(
            "Eq. (13) against the masses, centers and inertias of Fig. 3 with attitudes inferred \
             from the paper's numbers, which it does not print",
        ),
    );
    let mut moments = by_shape().inertia.symmetric_eigenvalues();
    moments.as_mut_slice().sort_by(f64::total_cmp);
    let names = [
        "moment_1",
        "moment_2",
        "moment_3",
        "w_xx",
        "w_yy",
        "w_zz",
        "w_xy",
        "w_xz",
        "w_yz",
        "stick_demand",
        "impulse_x",
        "impulse_y",
        "impulse_z",
    ];
    let unit = |name: &str| match name.split('_').next() {
        Some("moment") => "kg m^2",
        Some("w") => "1/kg",
        Some("impulse") => "N s",
        _ => "",
    };
    let mut table = Table::new(
        "bodies",
        "Moments of the tetrahedron, inverse inertia at the contact and impulse: as printed, and of the \
         uniform tetrahedron with the printed vertices, with the same contact velocity.",
        names
            .iter()
            .map(|name| Column::new(*name, unit(name)))
            .collect(),
    );
    let mut row = |name: &str, moments: [f64; 3], setup: &Setup| {
        let impulse = setup.trace()?.impact.impulse;
        let mut row = moments.to_vec();
        row.extend(entries(&setup.inertia));
        row.push(setup.inertia.stick_demand());
        row.extend(impulse.iter());
        table.push_named("bodies", name, row);
        Ok::<_, ScenarioError>(())
    };
    row("printed", TETRAHEDRON.moments, setup)?;
    row("shape", moments.into(), shape)?;
    record.tables.push(table);
    for (k, moment) in moments.iter().enumerate() {
        let name = format!("shape_moment_{}_kg_m2", k + 1);
        record
            .quantities
            .push(Quantity::new(name, *moment, "kg m^2"));
    }
    record.quantities.push(Quantity::new(
        "shape_stick_demand",
        shape.inertia.stick_demand(),
        "",
    ));
    Ok(())
}

/// Returns the entries xx, yy, zz, xy, xz, yz of an inverse inertia matrix.
fn entries(inertia: &ContactInertia) -> [f64; 6] {
    let w = inertia.matrix();
    [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].map(|at| w[at])
}

/// Adds the velocities of the bodies after the impact to a record: by the exact impulse `impulse` (N s), and by the printed one.
fn velocities(impulse: &Vector3<f64>, record: &mut Record) -> Result<(), ScenarioError> {
    let mut theirs = Vector3::zeros();
    for (entry, axis) in theirs.iter_mut().zip(["x", "y", "z"]) {
        *entry = printed("icosahedron-tetrahedron", &format!("impulse_{axis}_ns"))?;
    }
    for (body, sign, n) in [(&ICOSAHEDRON, 1.0, 1), (&TETRAHEDRON, -1.0, 2)] {
        let [exact, paper] = [impulse, &theirs].map(|impulse| body.after(&(sign * impulse)));
        for (k, (letter, unit, key)) in [("v", "m/s", "m_s"), ("w", "rad/s", "rad_s")]
            .into_iter()
            .enumerate()
        {
            for (i, axis) in ["x", "y", "z"].into_iter().enumerate() {
                let name = format!("{letter}{n}_plus_{axis}_{key}");
                let twin = format!("{name}_by_printed_impulse");
                record.quantities.extend([
                    Quantity::new(name, exact[k][i], unit),
                    Quantity::new(twin, paper[k][i], unit),
                ]);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The printed vertices are symmetric under an exchange of x and y, and the icosahedron has one moment, so the matrix is
    /// symmetric under this exchange, too; Eq. (13) is not.
    #[test]
    fn a_symmetric_body_has_a_symmetric_matrix() {
        let inertia = pair([turned(&ICOSAHEDRON), by_shape()]).unwrap().inertia();
        let w = inertia.unwrap().matrix();
        let exchange = Matrix3::new(0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0);
        assert!((exchange * w * exchange - w).amax() <= 1e-12);
        let center = by_shape().center;
        assert!((center - Vector3::from(TETRAHEDRON.center)).amax() <= 1e-15);
    }
}
