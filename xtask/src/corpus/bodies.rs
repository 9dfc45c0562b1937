//! Problems of rigid bodies: single bodies, boxes, piles, columns and chains of balls.

use super::draws::Draws;
use super::scene::{Scene, Touch};
use nalgebra::{DMatrix, DVector, Matrix3, Vector2, Vector3};
use serde_json::{Value, json};

/// Generates a problem without a mechanical meaning: full mass matrix and full rows of ordinary size.
pub(crate) fn generic(draws: &mut Draws) -> Scene {
    let n = draws.count(1, 6);
    let a = DMatrix::from_fn(n, n, |_, _| draws.number());
    let softness = 10f64.powf(draws.between(-3.0, 0.5));
    let mass = &a * a.transpose() + DMatrix::identity(n, n) * softness;
    let velocity = DVector::from_fn(n, |_, _| draws.number());
    let tangents = draws.count(0, 2);
    let contacts = (0..draws.count(1, 4))
        .map(|_| {
            let scale = draws.power(-3, 3);
            let rows = (0..=tangents)
                .map(|_| DVector::from_fn(n, |_, _| scale * draws.number()))
                .collect();
            Touch::drawn(rows, draws)
        })
        .collect();
    Scene {
        mass,
        velocity,
        contacts,
        constraints: Vec::new(),
    }
}

/// Direction at `angle` to the y axis, counterclockwise.
fn leaning(angle: f64) -> Vector2<f64> {
    Vector2::new(-angle.sin(), angle.cos())
}

/// Rows of a contact with the unit vector `normal` in the plane, of bodies whose velocities $(v_x, v_y, \omega)$ begin at the
/// coordinates `start` of `n`: parts are (start, sign, arm from the center of mass to the contact).
fn planar_rows(
    n: usize,
    parts: &[(usize, f64, Vector2<f64>)],
    normal: &Vector2<f64>,
) -> Vec<DVector<f64>> {
    let tangent = Vector2::new(normal.y, -normal.x);
    [normal, &tangent]
        .iter()
        .map(|d| {
            let mut row = DVector::zeros(n);
            for &(start, sign, arm) in parts {
                row[start] += sign * d.x;
                row[start + 1] += sign * d.y;
                row[start + 2] += sign * (arm.x * d.y - arm.y * d.x);
            }
            row
        })
        .collect()
}

/// Generates a planar body with one to four points that touch lines. All normals lie within 60° of the y axis.
pub(crate) fn planar_body(draws: &mut Draws) -> Scene {
    let (mass, radius) = (draws.between(0.2, 5.0), draws.between(0.1, 1.0));
    let contacts = (0..draws.count(1, 4))
        .map(|_| {
            let arm = Vector2::new(draws.between(-1.0, 1.0), draws.between(-1.0, 0.3));
            let normal = leaning(draws.between(-1.0, 1.0));
            Touch::drawn(planar_rows(3, &[(0, 1.0, arm)], &normal), draws)
        })
        .collect();
    Scene {
        mass: DMatrix::from_diagonal(&DVector::from_vec(vec![mass, mass, mass * radius * radius])),
        velocity: DVector::from_vec(vec![
            draws.number(),
            draws.between(-2.0, 0.0),
            draws.number(),
        ]),
        contacts,
        constraints: Vec::new(),
    }
}

/// Generates a box that meets floor and wall, in the plane or in space.
pub(crate) fn boxed(draws: &mut Draws) -> Scene {
    let half = Vector3::new(
        draws.between(0.1, 0.6),
        draws.between(0.1, 0.6),
        draws.between(0.1, 0.6),
    );
    let mass = draws.between(0.5, 3.0);
    let has_wall = draws.chance(0.6);
    if draws.chance(0.5) {
        return planar_box(draws, &half, mass, has_wall);
    }
    let side = |i: usize, j: usize| mass * (half[i] * half[i] + half[j] * half[j]) / 3.0;
    let diagonal = [mass, mass, mass, side(1, 2), side(0, 2), side(0, 1)];
    let mut contacts = Vec::new();
    for corner in 0..4usize {
        let x = if corner % 2 == 0 { half.x } else { -half.x };
        let y = if corner / 2 == 0 { half.y } else { -half.y };
        let arm = Vector3::new(x, y, -half.z);
        let axes = [Vector3::z(), Vector3::x(), Vector3::y()];
        contacts.push(Touch::drawn(spatial_rows(6, 0, &arm, &axes), draws));
        if has_wall && x > 0.0 {
            let axes = [-Vector3::x(), Vector3::y(), Vector3::z()];
            contacts.push(Touch::drawn(spatial_rows(6, 0, &arm, &axes), draws));
        }
    }
    with_one_material(&mut contacts, draws);
    Scene {
        mass: DMatrix::from_diagonal(&DVector::from_row_slice(&diagonal)),
        velocity: DVector::from_fn(6, |i, _| match i {
            2 => draws.between(-2.0, 0.0),
            _ => draws.between(-1.0, 1.0),
        }),
        contacts,
        constraints: Vec::new(),
    }
}

fn planar_box(draws: &mut Draws, half: &Vector3<f64>, mass: f64, has_wall: bool) -> Scene {
    let inertia = mass * (half.x * half.x + half.y * half.y) / 3.0;
    let corner = |x: f64, y: f64| [(0, 1.0, Vector2::new(x, y))];
    let mut contacts = vec![
        Touch::drawn(
            planar_rows(3, &corner(half.x, -half.y), &Vector2::y()),
            draws,
        ),
        Touch::drawn(
            planar_rows(3, &corner(-half.x, -half.y), &Vector2::y()),
            draws,
        ),
    ];
    if has_wall {
        let normal = -Vector2::x();
        for y in [-half.y, half.y] {
            let rows = planar_rows(3, &corner(half.x, y), &normal);
            contacts.push(Touch::drawn(rows, draws));
        }
    }
    with_one_material(&mut contacts, draws);
    Scene {
        mass: DMatrix::from_diagonal(&DVector::from_vec(vec![mass, mass, inertia])),
        velocity: DVector::from_vec(vec![
            draws.between(-1.0, 1.0),
            draws.between(-2.0, 0.0),
            draws.number(),
        ]),
        contacts,
        constraints: Vec::new(),
    }
}

/// Gives all contacts the coefficients of the first one, in two of three cases.
pub(crate) fn with_one_material(contacts: &mut [Touch], draws: &mut Draws) {
    if draws.chance(1.0 / 3.0) {
        return;
    }
    if let Some(first) = contacts.first().cloned() {
        for contact in contacts {
            contact.friction = first.friction;
            contact.restitution = first.restitution;
        }
    }
}

/// Rows of a contact of one body in space, whose velocity and angular velocity in world axes begin at the coordinate `start` of
/// `n`. `arm` points from the center of mass to the contact; `axes` are the normal and the tangents.
pub(crate) fn spatial_rows(
    n: usize,
    start: usize,
    arm: &Vector3<f64>,
    axes: &[Vector3<f64>],
) -> Vec<DVector<f64>> {
    axes.iter()
        .map(|axis| {
            let mut row = DVector::zeros(n);
            row.rows_mut(start, 3).copy_from(axis);
            row.rows_mut(start + 3, 3).copy_from(&arm.cross(axis));
            row
        })
        .collect()
}

/// Generates disks in the plane that rest on a floor and on each other: a column, or a pile of three.
pub(crate) fn heap(draws: &mut Draws) -> Scene {
    let is_column = draws.chance(0.5);
    let count = if is_column { draws.count(2, 4) } else { 3 };
    let n = 3 * count;
    let radii: Vec<f64> = (0..count)
        .map(|_| {
            if is_column {
                draws.between(0.3, 1.0)
            } else {
                0.5
            }
        })
        .collect();
    let mut diagonal = Vec::new();
    for radius in &radii {
        let mass = draws.power(-3, 3);
        diagonal.extend([mass, mass, 0.5 * mass * radius * radius]);
    }
    let down = |radius: f64, angle: f64| -leaning(angle) * radius;
    let pair = |upper: usize, lower: usize, angle: f64| {
        let parts = [
            (3 * upper, 1.0, down(radii[upper], angle)),
            (3 * lower, -1.0, -down(radii[lower], angle)),
        ];
        planar_rows(n, &parts, &leaning(angle))
    };
    let floor =
        |ball: usize| planar_rows(n, &[(3 * ball, 1.0, down(radii[ball], 0.0))], &Vector2::y());
    let mut rows = vec![floor(0)];
    if is_column {
        rows.extend((1..count).map(|upper| pair(upper, upper - 1, 0.0)));
    } else {
        let lean = std::f64::consts::FRAC_PI_6;
        rows.extend([floor(1), pair(2, 0, -lean), pair(2, 1, lean)]);
    }
    let mut contacts: Vec<Touch> = rows
        .into_iter()
        .map(|rows| Touch::drawn(rows, draws))
        .collect();
    with_one_material(&mut contacts, draws);
    Scene {
        mass: DMatrix::from_diagonal(&DVector::from_vec(diagonal)),
        velocity: moving_or_struck(n, draws),
        contacts,
        constraints: Vec::new(),
    }
}

/// Draws a velocity of disks: all move, or one falls onto others at rest.
fn moving_or_struck(n: usize, draws: &mut Draws) -> DVector<f64> {
    if draws.chance(0.3) {
        let mut velocity = DVector::zeros(n);
        velocity[n - 2] = -1.0;
        velocity[n - 3] = draws.between(-0.5, 0.5);
        return velocity;
    }
    DVector::from_fn(n, |i, _| match i % 3 {
        1 => draws.between(-1.5, 0.3),
        _ => draws.between(-1.0, 1.0),
    })
}

/// Generates balls on a line that touch their neighbors.
pub(crate) fn chain(draws: &mut Draws) -> Scene {
    let n = draws.count(2, 6);
    let is_uniform = draws.chance(0.5);
    let mass = DVector::from_fn(n, |_, _| {
        let mass = draws.between(0.3, 3.0);
        if is_uniform { 1.0 } else { mass }
    });
    let contacts = (1..n)
        .map(|k| {
            let mut normal = DVector::zeros(n);
            normal[k - 1] = -1.0;
            normal[k] = 1.0;
            Touch::drawn(vec![normal], draws)
        })
        .collect();
    let velocity = if draws.chance(0.5) {
        DVector::from_fn(n, |i, _| if i == 0 { 1.0 } else { 0.0 })
    } else {
        DVector::from_fn(n, |_, _| draws.number())
    };
    Scene {
        mass: DMatrix::from_diagonal(&mass),
        velocity,
        contacts,
        constraints: Vec::new(),
    }
}

/// Generates a planar body between two walls that face each other, with one or two contacts at each. Its friction cone is not
/// pointed.
pub(crate) fn between_walls(draws: &mut Draws) -> Scene {
    let (mass, radius) = (draws.between(0.5, 3.0), draws.between(0.2, 0.8));
    let width = draws.between(0.3, 1.0);
    let lean = if draws.chance(0.5) {
        0.0
    } else {
        draws.between(-0.2, 0.2)
    };
    let mut contacts = Vec::new();
    for side in [-1.0, 1.0] {
        let normal = leaning(lean) * -side;
        for _ in 0..draws.count(1, 2) {
            let arm = Vector2::new(draws.between(-0.5, 0.5), side * width);
            contacts.push(Touch::drawn(
                planar_rows(3, &[(0, 1.0, arm)], &normal),
                draws,
            ));
        }
    }
    with_one_material(&mut contacts, draws);
    Scene {
        mass: DMatrix::from_diagonal(&DVector::from_vec(vec![mass, mass, mass * radius * radius])),
        velocity: DVector::from_fn(3, |_, _| draws.between(-1.0, 1.0)),
        contacts,
        constraints: Vec::new(),
    }
}

/// Generates an impact of one body on a plane, or of two bodies, in the form of bodies for the law `two-body`.
pub(crate) fn bodies_form(draws: &mut Draws) -> Value {
    let normal = Vector3::new(draws.number(), draws.number(), draws.between(0.2, 1.0)).normalize();
    let mut problem = json!({
        "law": "two-body",
        "friction": if draws.chance(0.2) { 0.0 } else { draws.between(0.0, 1.2) },
        "restitution": draws.between(0.0, 1.0),
        "contact": {"point": [draws.number(), draws.number(), 0.0], "normal": normal.as_slice()},
        "body1": body(draws, &normal, -1.0),
    });
    if draws.chance(0.6) {
        problem["body2"] = body(draws, &normal, 1.0);
    }
    problem
}

/// Generates a solid box on the side of the contact that the normal points to (`side` = -1), or on the other one. It moves
/// towards the contact.
fn body(draws: &mut Draws, normal: &Vector3<f64>, side: f64) -> Value {
    let half = Vector3::new(
        draws.between(0.1, 0.6),
        draws.between(0.1, 0.6),
        draws.between(0.1, 0.6),
    );
    let mass = draws.between(0.3, 4.0);
    let square = half.component_mul(&half) * (mass / 3.0);
    let diagonal = Vector3::new(
        square.y + square.z,
        square.x + square.z,
        square.x + square.y,
    );
    let axis = Vector3::new(draws.number(), draws.number(), 0.3);
    let turn = nalgebra::Rotation3::new(axis).into_inner();
    let inertia = turn * Matrix3::from_diagonal(&diagonal) * turn.transpose();
    let rows: Vec<Vec<f64>> = (0..3)
        .map(|i| (0..3).map(|j| inertia[(i.max(j), i.min(j))]).collect())
        .collect();
    let center = normal * (-0.4 * side) + Vector3::new(draws.number(), draws.number(), 0.0) * 0.3;
    let velocity = normal * (side * draws.between(0.2, 2.0))
        + Vector3::new(draws.number(), draws.number(), draws.number()) * 0.5;
    let spin = [draws.number(), draws.number(), draws.number()];
    json!({
        "mass": mass, "inertia": rows, "center": center.as_slice(),
        "velocity": velocity.as_slice(), "angular_velocity": spin,
    })
}
