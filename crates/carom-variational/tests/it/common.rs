//! Bodies and starts of Tran & Leok, Section 7.

use carom_geometry::MassProperties;
use carom_lie::{So3, hat};
use carom_variational::{RigidBody, State};
use nalgebra::{Matrix3, Vector3};

pub const G: f64 = 9.80665;

pub fn gravity() -> Vector3<f64> {
    Vector3::new(0.0, 0.0, -G)
}

pub fn v(x: f64, y: f64, z: f64) -> Vector3<f64> {
    Vector3::new(x, y, z)
}

pub fn diagonal(x: f64, y: f64, z: f64) -> RigidBody {
    body(&Matrix3::from_diagonal(&v(x, y, z)))
}

pub fn body(inertia: &Matrix3<f64>) -> RigidBody {
    RigidBody::new(&MassProperties::new(1.0, *inertia).unwrap())
}

#[derive(Clone, Debug)]
pub struct System {
    pub body: RigidBody,
    pub initial: State,
}

pub fn paper_start() -> State {
    State {
        position: v(0.0, 0.0, 10.0),
        rotation: So3::identity(),
        linear_momentum: v(2.0, 2.0, 10.0),
        angular_momentum: v(4.0, -4.0, 4.0),
    }
}

/// Returns body and initial state of case I of Tran & Leok, Section 7.
pub fn case_i() -> System {
    System {
        body: diagonal(5.0, 4.0, 2.6),
        initial: paper_start(),
    }
}

/// Returns the largest error with which `map` conserves the symplectic form $\mathrm{d}x\wedge\mathrm{d}\gamma +
/// \zeta\wedge\mathrm{d}\Pi$ with its curvature term. The 12 × 12 derivative of the map in the chart $(\delta x, \zeta,
/// \delta\gamma, \delta\Pi)$ is computed by central differences of the width `step`.
pub fn symplectic_defect(at: &State, map: &dyn Fn(&State) -> State, step: f64) -> f64 {
    type Chart = nalgebra::SVector<f64, 12>;
    let move_by = |s: &State, u: &Chart| State {
        position: s.position + u.fixed_rows::<3>(0),
        rotation: s
            .rotation
            .compose(&So3::exp(&u.fixed_rows::<3>(3).into_owned())),
        linear_momentum: s.linear_momentum + u.fixed_rows::<3>(6),
        angular_momentum: s.angular_momentum + u.fixed_rows::<3>(9),
    };
    let form = |momentum: &Vector3<f64>| {
        let mut w = nalgebra::SMatrix::<f64, 12, 12>::zeros();
        for i in 0..6 {
            w[(i, 6 + i)] = 1.0;
            w[(6 + i, i)] = -1.0;
        }
        w.fixed_view_mut::<3, 3>(3, 3).copy_from(&-hat(momentum));
        w
    };
    let image = map(at);
    let difference = |s: &State| {
        let mut u = Chart::zeros();
        u.fixed_rows_mut::<3>(0)
            .copy_from(&(s.position - image.position));
        let turn = image.rotation.inverse().compose(&s.rotation).log();
        u.fixed_rows_mut::<3>(3).copy_from(&turn);
        u.fixed_rows_mut::<3>(6)
            .copy_from(&(s.linear_momentum - image.linear_momentum));
        u.fixed_rows_mut::<3>(9)
            .copy_from(&(s.angular_momentum - image.angular_momentum));
        u
    };
    let mut jacobian = nalgebra::SMatrix::<f64, 12, 12>::zeros();
    for i in 0..12 {
        let mut u = Chart::zeros();
        u[i] = step;
        let (ahead, behind) = (map(&move_by(at, &u)), map(&move_by(at, &-u)));
        jacobian.set_column(
            i,
            &((difference(&ahead) - difference(&behind)) / (2.0 * step)),
        );
    }
    let pulled = jacobian.transpose() * form(&image.angular_momentum) * jacobian;
    (pulled - form(&at.angular_momentum)).amax()
}
