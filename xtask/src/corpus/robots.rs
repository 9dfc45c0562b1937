//! Problems of robots: planar legs with heels and toes, and two feet of four corners in space.

use super::bodies::with_one_material;
use super::draws::Draws;
use super::scene::{Scene, Touch};
use nalgebra::{DMatrix, DVector, Vector2, Vector3};

/// Velocity of a point as a linear map of the generalized velocities, one row for each axis.
type Point = DMatrix<f64>;

/// Adds a mass point with the Jacobian `point`.
fn add_mass(mass: &mut DMatrix<f64>, amount: f64, point: &Point) {
    *mass += point.transpose() * point * amount;
}

/// Links that turn about an axis perpendicular to the plane, each fixed to the end of the one before.
struct Limb {
    end: Point,
    rate: DVector<f64>,
}

impl Limb {
    /// Returns the velocity of a point at `arm` from the end of this limb, on the link itself.
    fn point(&self, arm: &Vector2<f64>) -> Point {
        let mut point = self.end.clone();
        for k in 0..self.rate.len() {
            point[(0, k)] -= arm.y * self.rate[k];
            point[(1, k)] += arm.x * self.rate[k];
        }
        point
    }

    /// Returns the angular velocity of this link as a map of one row.
    fn turning(&self) -> Point {
        Point::from_row_slice(1, self.rate.len(), self.rate.as_slice())
    }

    /// Returns the link that turns by the coordinate `joint` about the end of this limb.
    fn turned(&self, joint: usize) -> Self {
        let mut rate = self.rate.clone();
        rate[joint] += 1.0;
        Self {
            end: self.end.clone(),
            rate,
        }
    }

    /// Returns this link with its end at `arm` from the old one.
    fn extended(&self, arm: &Vector2<f64>) -> Self {
        Self {
            end: self.point(arm),
            rate: self.rate.clone(),
        }
    }
}

/// Generates a planar robot: a trunk with one or two legs of thigh, shank and foot. Heel and toe of each foot touch the floor.
pub(crate) fn planar(draws: &mut Draws) -> Scene {
    let legs = draws.count(1, 2);
    let n = 3 + 3 * legs;
    let trunk = Limb {
        end: DMatrix::from_fn(2, n, |i, j| f64::from(i == j)),
        rate: DVector::from_fn(n, |i, _| f64::from(i == 2)),
    };
    let mut mass = DMatrix::zeros(n, n);
    add_mass(&mut mass, draws.between(3.0, 20.0), &trunk.end);
    add_mass(&mut mass, draws.between(0.2, 1.0), &trunk.turning());
    let mut contacts = Vec::new();
    for leg in 0..legs {
        let joint = 3 + 3 * leg;
        let mut limb = trunk.turned(joint);
        for part in 1..=2 {
            let angle = draws.between(-0.6, 0.6);
            let length = draws.between(0.3, 0.5);
            let arm = Vector2::new(angle.sin(), -angle.cos()) * length;
            let amount = draws.between(0.5, 4.0);
            add_mass(&mut mass, amount, &limb.point(&(arm * 0.5)));
            add_mass(&mut mass, amount * length * length / 12.0, &limb.turning());
            limb = limb.extended(&arm).turned(joint + part);
        }
        let (heel, toe) = (draws.between(0.03, 0.08), draws.between(0.1, 0.2));
        let sole = -draws.between(0.03, 0.08);
        let center = Vector2::new(0.5 * (toe - heel), 0.5 * sole);
        let amount = draws.between(0.3, 1.5);
        add_mass(&mut mass, amount, &limb.point(&center));
        add_mass(&mut mass, amount * 0.003, &limb.turning());
        for x in [-heel, toe] {
            let point = limb.point(&Vector2::new(x, sole));
            let rows = vec![point.row(1).transpose(), point.row(0).transpose()];
            contacts.push(Touch::drawn(rows, draws));
        }
    }
    with_one_material(&mut contacts, draws);
    Scene {
        velocity: DVector::from_fn(n, |i, _| match i {
            1 => draws.between(-1.0, 0.0),
            _ => draws.between(-1.0, 1.0),
        }),
        mass,
        contacts,
        constraints: Vec::new(),
    }
}

/// Generates a robot in space on one or two flat feet. Each foot turns about a hip, moves along its leg, and touches the floor
/// with four corners.
pub(crate) fn feet(draws: &mut Draws) -> Scene {
    let legs = if draws.chance(0.35) { 1 } else { 2 };
    let n = 6 + 2 * legs;
    let mut mass = DMatrix::zeros(n, n);
    let trunk = draws.between(5.0, 30.0);
    for i in 0..3 {
        mass[(i, i)] += trunk;
        mass[(i + 3, i + 3)] += trunk * draws.between(0.02, 0.1);
    }
    let mut contacts = Vec::new();
    let length = draws.between(0.5, 0.9);
    let half = Vector2::new(draws.between(0.08, 0.15), draws.between(0.04, 0.07));
    for leg in 0..legs {
        let sign = if leg == 0 { -1.0 } else { 1.0 };
        let hip = Vector3::new(0.0, sign * draws.between(0.1, 0.2), -0.2);
        let angle = draws.between(-0.3, 0.3);
        let along = Vector3::new(angle.sin(), 0.0, -angle.cos());
        let center = hip + along * length;
        let joint = 6 + 2 * leg;
        let point = |at: &Vector3<f64>| {
            let mut point = DMatrix::zeros(3, n);
            point.view_mut((0, 0), (3, 3)).fill_with_identity();
            for axis in 0..3 {
                let turned = Vector3::ith(axis, 1.0).cross(at);
                point.view_mut((0, 3 + axis), (3, 1)).copy_from(&turned);
            }
            let turned = Vector3::y().cross(&(at - hip));
            point.view_mut((0, joint), (3, 1)).copy_from(&turned);
            point.view_mut((0, joint + 1), (3, 1)).copy_from(&along);
            point
        };
        let amount = draws.between(0.5, 2.0) / 4.0;
        for corner in 0..4usize {
            let x = if corner % 2 == 0 { half.x } else { -half.x };
            let y = if corner / 2 == 0 { half.y } else { -half.y };
            let corner = point(&(center + Vector3::new(x, y, -0.05)));
            add_mass(&mut mass, amount, &corner);
            let rows = [2, 0, 1].map(|axis| corner.row(axis).transpose());
            contacts.push(Touch::drawn(rows.to_vec(), draws));
        }
    }
    with_one_material(&mut contacts, draws);
    Scene {
        velocity: DVector::from_fn(n, |i, _| match i {
            2 => draws.between(-1.0, 0.0),
            _ => draws.between(-0.7, 0.7),
        }),
        mass,
        contacts,
        constraints: Vec::new(),
    }
}
