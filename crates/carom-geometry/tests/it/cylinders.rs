//! Gaps of cylinders, certified: points of both bodies, as far apart along the normal as its slab is wide.

use carom_geometry::pair::{Memory, Part, Placed, closest, touching};
use carom_geometry::{Cuboid, Cylinder, Ellipsoid, Rounded, Segment, Shape};
use carom_lie::{Se3, So3};
use nalgebra::Vector3;

fn cylinder(radius: f64, half: f64) -> Shape {
    Shape::Cylinder(Cylinder::new(radius, half, &Vector3::z_axis(), Vector3::zeros()).unwrap())
}

/// Distance by which a point in body axes is outside of a shape, as far as its surfaces say.
fn outside(shape: &Shape, p: &Vector3<f64>) -> f64 {
    match shape {
        Shape::Cylinder(c) => {
            let along = p.z.abs() - c.half_length();
            along.max(p.x.hypot(p.y) - c.radius())
        }
        Shape::Cuboid(b) => (0..3)
            .map(|k| p[k].abs() - b.half_extents()[k])
            .fold(f64::NEG_INFINITY, f64::max),
        Shape::Ellipsoid(e) => {
            let q = p.component_div(e.semi_axes());
            (q.norm() - 1.0) * e.semi_axes().min()
        }
        Shape::Rounded(r) => {
            let Shape::Segment(s) = r.base() else {
                panic!()
            };
            let [a, b] = *s.ends();
            let t = ((p - a).dot(&(b - a)) / (b - a).norm_squared()).clamp(0.0, 1.0);
            (p - a - (b - a) * t).norm() - r.radius()
        }
        _ => panic!(),
    }
}

/// Numbers in [-1, 1] that look random, from a seed.
fn noise(seed: &mut u64) -> f64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn vector(seed: &mut u64) -> Vector3<f64> {
    Vector3::new(noise(seed), noise(seed), noise(seed))
}

fn shapes() -> Vec<Shape> {
    let pill = Segment::new(0.6, &Vector3::z_axis(), Vector3::zeros()).unwrap();
    vec![
        cylinder(0.5, 0.1),
        cylinder(0.2, 0.9),
        Shape::Cuboid(Cuboid::new([0.3, 0.7, 0.4]).unwrap()),
        Shape::Ellipsoid(Ellipsoid::new([0.4, 0.4, 0.4], Vector3::zeros()).unwrap()),
        Shape::Ellipsoid(Ellipsoid::new([0.3, 0.7, 0.5], Vector3::zeros()).unwrap()),
        Shape::Rounded(Box::new(Rounded::new(Shape::Segment(pill), 0.2).unwrap())),
    ]
}

/// A random attitude, or one of those in which faces, sides and edges are parallel.
fn attitude(seed: &mut u64) -> So3 {
    let turn = vector(seed) * 3.0;
    let quarter = |x: f64| (x * 2.0).round() * std::f64::consts::FRAC_PI_2;
    if noise(seed) > 0.0 {
        return So3::exp(&turn);
    }
    let (x, z) = (
        Vector3::x() * quarter(noise(seed)),
        Vector3::z() * noise(seed),
    );
    So3::exp(&z).compose(&So3::exp(&x))
}

/// A slab of the width of the gap lies between the bodies, and points of both are as far apart, across it: this is the distance. It is
/// found from afar, nearly touching and from the normal before.
#[test]
fn gaps_of_cylinders_are_widths_of_slabs_and_distances_of_points() {
    let (mut seed, all) = (11, shapes());
    for k in 0..600 {
        let (first, second) = (&all[k % 2], &all[k % all.len()]);
        let [p, q] = [first, second].map(|shape| Part::of_shape(shape).unwrap().remove(0));
        let there = Se3::new(attitude(&mut seed), Vector3::zeros());
        let mut here = Se3::new(attitude(&mut seed), vector(&mut seed).normalize() * 2.5);
        let mut memory = Memory::default();
        let mut last = (Vector3::z(), 0.0);
        for rest in [0.0, 1e-3, 1e-7, -1e-7] {
            here.translation -= last.0 * (last.1 - rest);
            let (a, b) = (Placed::new(&p, &here), Placed::new(&q, &there));
            let found = closest(&a, &b, &mut memory);
            let n = found.normal;
            last = (n, found.gap);
            let width = n.dot(&here.translation)
                + p.support_value(&here.rotation.rotate_back(&n))
                + q.support_value(&there.rotation.rotate_back(&-n));
            let case = format!("{k} at {rest:e}: {found:?}");
            assert!((width - found.gap).abs() <= 1e-13, "{case} {width}");
            let apart = found.point_a - found.point_b;
            assert!((apart - n * found.gap).norm() <= 1e-12, "{case}");
            for (shape, pose, point) in [
                (first, &here, found.point_a),
                (second, &there, found.point_b),
            ] {
                let own = pose.rotation.rotate_back(&(point - pose.translation));
                let out = outside(shape, &own);
                // The gap is stationary in the normal, which has half of its digits where the bodies are far.
                let most = if rest == 0.0 { 1e-7 } else { 1e-9 };
                assert!(out <= most, "{case}: {out:e} outside of {shape:?}");
            }
        }
    }
}

fn points(over: &Shape, at: Vector3<f64>, turn: Vector3<f64>, under: &Shape) -> Vec<Vector3<f64>> {
    let [p, q] = [over, under].map(|shape| Part::of_shape(shape).unwrap().remove(0));
    let (here, there) = (Se3::new(So3::exp(&turn), at), Se3::identity());
    let (a, b) = (Placed::new(&p, &here), Placed::new(&q, &there));
    let found = closest(&a, &b, &mut Memory::default());
    assert!((found.normal - Vector3::z()).norm() <= 1e-12, "{found:?}");
    let mut points = Vec::new();
    touching(&a, &b, &found, 1e-6, &mut |point| points.push(point.point));
    points
}

/// A coin on a table has points of its rim; across the edge of the table the chord closes its area; on a coin the lens does.
#[test]
fn ends_of_cylinders_touch_in_the_corners_of_the_common_area() {
    let (coin, table) = (
        cylinder(0.5, 0.1),
        Shape::Cuboid(Cuboid::new([2.0, 2.0, 0.4]).unwrap()),
    );
    let flat = points(&coin, Vector3::new(0.3, 0.2, 0.5), Vector3::z(), &table);
    assert_eq!(flat.len(), 4, "{flat:?}");
    for at in &flat {
        assert!(((at - Vector3::new(0.3, 0.2, 0.4)).norm() - 0.5).abs() <= 1e-12);
    }
    // The center is 0.3 beyond the edge: the chord has half the length 0.4.
    let over = points(&coin, Vector3::new(2.3, 0.0, 0.5), Vector3::zeros(), &table);
    assert!((4..=8).contains(&over.len()), "{over:?}");
    for y in [-0.4, 0.4] {
        let end = Vector3::new(2.0, y, 0.4);
        assert!(over.iter().any(|at| (at - end).norm() <= 1e-12), "{over:?}");
    }
    let lens = points(&coin, Vector3::new(0.6, 0.0, 0.2), Vector3::zeros(), &coin);
    assert!((4..=8).contains(&lens.len()), "{lens:?}");
    for y in [-0.4, 0.4] {
        let end = Vector3::new(0.3, y, 0.1);
        assert!(lens.iter().any(|at| (at - end).norm() <= 1e-12), "{lens:?}");
    }
    // A can lies on the table with a line, over its edge with the part on it.
    let lying = points(
        &cylinder(0.2, 0.9),
        Vector3::new(1.8, 0.0, 0.6),
        Vector3::y() * std::f64::consts::FRAC_PI_2,
        &table,
    );
    let mut ends: Vec<f64> = lying.iter().map(|at| at.x).collect();
    ends.sort_by(f64::total_cmp);
    assert!(
        ends.len() == 2 && (ends[0] - 0.9).abs() <= 1e-12 && (ends[1] - 2.0).abs() <= 1e-12,
        "{lying:?}"
    );
}
