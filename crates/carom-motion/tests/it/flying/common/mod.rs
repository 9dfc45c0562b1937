//! The systems of Tran & Leok, Section 7, and two more.
#![allow(dead_code)]

pub mod reference;

use carom_geometry::{
    Cuboid, Ellipsoid, HalfSpace, MassProperties, Polyhedron, Rounded, Shape, Union,
};
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
    pub shape: Shape,
    pub plane: HalfSpace,
    pub initial: State,
}

fn level() -> HalfSpace {
    HalfSpace::new(Vector3::z(), 0.0).unwrap()
}

fn ball(radius: f64, x: f64) -> Shape {
    Shape::Ellipsoid(Ellipsoid::sphere(radius, v(x, 0.0, 0.0)).unwrap())
}

fn ellipsoid(axes: [f64; 3], x: f64) -> Shape {
    Shape::Ellipsoid(Ellipsoid::new(axes, v(x, 0.0, 0.0)).unwrap())
}

pub fn paper_start() -> State {
    State {
        position: v(0.0, 0.0, 10.0),
        rotation: So3::identity(),
        linear_momentum: v(2.0, 2.0, 10.0),
        angular_momentum: v(4.0, -4.0, 4.0),
    }
}

/// Test case I of Tran & Leok: an ellipsoid above a level plane.
pub fn case_i() -> System {
    System {
        body: diagonal(5.0, 4.0, 2.6),
        shape: ellipsoid([2.0, 3.0, 4.0], 0.0),
        plane: level(),
        initial: paper_start(),
    }
}

/// Test case II of Tran & Leok: an ellipsoid above a plane that is tilted by two degrees.
pub fn case_ii() -> System {
    let tilt = 2f64.to_radians();
    System {
        plane: HalfSpace::new(v(tilt.sin(), 0.0, tilt.cos()), 0.0).unwrap(),
        ..case_i()
    }
}

/// Test case III of Tran & Leok: a union of two ellipsoids above a level plane, with the shift and the moments of inertia
/// that the paper prints.
pub fn case_iii() -> System {
    let shift = -0.9937128;
    let parts = vec![
        ellipsoid([3.0, 4.0, 5.0], 1.5 + shift),
        ellipsoid([6.0, 1.0, 1.0], -4.5 + shift),
    ];
    System {
        body: diagonal(7.5932718, 9.9326434, 8.2731252),
        shape: Shape::Union(Union::new(parts).unwrap()),
        ..case_i()
    }
}

/// Test case IV of Tran & Leok: a cube above a level plane, here rounded by 1e-13 m.
pub fn case_iv() -> System {
    let cube = Shape::Cuboid(Cuboid::new([3f64.sqrt(); 3]).unwrap());
    System {
        body: diagonal(2.0, 2.0, 2.0),
        shape: Shape::Rounded(Box::new(Rounded::new(cube, 1e-13).unwrap())),
        ..case_i()
    }
}

pub fn tetrahedron() -> System {
    let corners = [
        [1.0, 1.0, 1.0],
        [1.0, -1.0, -1.0],
        [-1.0, 1.0, -1.0],
        [-1.0, -1.0, 1.0],
    ];
    let corners: Vec<_> = corners
        .iter()
        .map(|c| Vector3::from(*c) / 2f64.sqrt())
        .collect();
    let base = Shape::Polyhedron(Polyhedron::new(&corners).unwrap());
    System {
        body: diagonal(0.2, 0.2, 0.2),
        shape: Shape::Rounded(Box::new(Rounded::new(base, 1e-3).unwrap())),
        plane: level(),
        initial: State {
            position: v(0.0, 0.0, 3.0),
            rotation: So3::exp(&v(0.3, -0.5, 0.2)),
            linear_momentum: v(0.5, -0.25, 0.0),
            angular_momentum: v(0.12, -0.2, 0.3),
        },
    }
}

pub fn dumbbell() -> System {
    System {
        body: diagonal(0.1, 1.1, 1.1),
        shape: Shape::Union(Union::new(vec![ball(0.5, 1.0), ball(0.5, -1.0)]).unwrap()),
        plane: level(),
        initial: State {
            position: v(0.0, 0.0, 2.5),
            rotation: So3::exp(&v(0.0, 0.4, 0.0)),
            linear_momentum: v(0.3, 0.0, -1.0),
            angular_momentum: v(0.02, 0.7, -0.3),
        },
    }
}

/// A ball of radius 0.5 m above a level plane, with its center at `height` (m) and a horizontal linear momentum `speed` along
/// x.
pub fn sphere(height: f64, speed: f64) -> System {
    System {
        body: diagonal(0.1, 0.1, 0.1),
        shape: ball(0.5, 0.0),
        plane: level(),
        initial: State {
            position: v(0.0, 0.0, height),
            rotation: So3::identity(),
            linear_momentum: v(speed, 0.0, 0.0),
            angular_momentum: v(0.0, 0.0, 0.0),
        },
    }
}

/// Returns by how much a map of states fails to be symplectic at a state. The 12 × 12 derivative of the map, by central
/// differences of the length `step` in the coordinates $(\delta x, \zeta, \delta\gamma, \delta\Pi)$, must preserve the
/// two-form $\mathrm{d}x\wedge\mathrm{d}\gamma + \zeta\wedge\mathrm{d}\Pi$ plus its curvature term.
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
