//! Mass properties against closed forms, and what is refused.

use carom_geometry::{
    Cuboid, Cylinder, Ellipsoid, EllipsoidIntersection, GeometryError, MassProperties, Polyhedron,
    Rounded, Segment, Shape, TriangleMesh, TurnedEllipsoid, Union,
};
use carom_lie::So3;
use nalgebra::{Matrix3, Unit, Vector3};
use std::f64::consts::PI;

fn diagonal(x: f64, y: f64, z: f64) -> Matrix3<f64> {
    Matrix3::from_diagonal(&Vector3::new(x, y, z))
}

fn near(a: &Matrix3<f64>, b: &Matrix3<f64>, tolerance: f64) -> bool {
    (a - b).amax() <= tolerance
}

fn points(list: &[[f64; 3]]) -> Vec<Vector3<f64>> {
    list.iter().map(|p| Vector3::from(*p)).collect()
}

fn tetrahedron() -> Vec<Vector3<f64>> {
    let list = [
        [1.0, 1.0, 1.0],
        [1.0, -1.0, -1.0],
        [-1.0, 1.0, -1.0],
        [-1.0, -1.0, 1.0],
    ];
    points(&list).iter().map(|p| p / 2f64.sqrt()).collect()
}

/// Tran & Leok, Table 3, cases I and IV.
#[test]
fn table_3_of_the_ellipsoid_and_the_cube() {
    let ellipsoid = Ellipsoid::new([2.0, 3.0, 4.0], Vector3::zeros()).unwrap();
    let properties = MassProperties::ellipsoid(&ellipsoid, 1.0).unwrap();
    assert!(near(properties.inertia(), &diagonal(5.0, 4.0, 2.6), 1e-15));
    let cube = Cuboid::new([3f64.sqrt(); 3]).unwrap();
    let closed = MassProperties::cuboid(&cube, 1.0).unwrap();
    let meshed = MassProperties::mesh(&cube.mesh(), 1.0).unwrap();
    assert!((cube.mesh().volume() - 41.569_219_381_653_06).abs() <= 1e-13);
    for properties in [closed, meshed] {
        assert!(near(properties.inertia(), &diagonal(2.0, 2.0, 2.0), 1e-14));
    }
}

/// Edge l: volume $l^3/(6\sqrt2)$, $J = ml^2/20$.
#[test]
fn a_regular_tetrahedron() {
    let body = Polyhedron::new(&tetrahedron()).unwrap();
    assert!((body.mesh().volume() - 0.942_809_041_582_063_4).abs() <= 1e-15);
    let properties = MassProperties::mesh(body.mesh(), 1.0).unwrap();
    assert!(near(properties.inertia(), &diagonal(0.2, 0.2, 0.2), 1e-15));
}

/// The corner of a block: volume abc/6, center (a, b, c)/4, products of inertia mab/20.
#[test]
fn a_corner_tetrahedron() {
    let list = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 2.0, 0.0],
        [0.0, 0.0, 3.0],
    ];
    let hull = TriangleMesh::hull(&points(&list)).unwrap();
    let properties = MassProperties::mesh(&hull, 2.0).unwrap();
    assert!((hull.volume() - 1.0).abs() <= 1e-15);
    assert!((properties.center() - Vector3::new(0.25, 0.5, 0.75)).norm() <= 1e-15);
    let expected = Matrix3::new(0.975, 0.05, 0.075, 0.05, 0.75, 0.15, 0.075, 0.15, 0.375);
    assert!(near(properties.inertia(), &expected, 1e-14));
}

#[test]
fn inertia_follows_the_body_when_it_moves() {
    let base = TriangleMesh::hull(&tetrahedron()).unwrap();
    let block = Cuboid::new([0.3, 1.0, 2.0]).unwrap().mesh();
    let turn = So3::exp(&Vector3::new(0.3, -0.8, 1.1)).matrix();
    for mesh in [base, block] {
        let at = |f: &dyn Fn(&Vector3<f64>) -> Vector3<f64>| {
            let moved = mesh.vertices().iter().map(f).collect();
            let moved = TriangleMesh::new(moved, mesh.triangles().to_vec()).unwrap();
            *MassProperties::mesh(&moved, 3.0).unwrap().inertia()
        };
        let here = at(&|v| *v);
        let far = at(&|v| v + Vector3::new(1e3, -1e3, 1e3));
        assert!(near(&far, &here, 1e-9));
        let turned = at(&|v| turn * v);
        assert!(near(&turned, &(turn * here * turn.transpose()), 1e-13));
    }
}

/// Case III of Tran & Leok. Long arithmetic gives these; the paper's centroid shift 0.9937128 and
/// its moments 9.9326434 and 8.2731252 are off in the second and fourth digit.
#[test]
fn the_union_of_ellipsoids() {
    let big = Ellipsoid::new([3.0, 4.0, 5.0], Vector3::new(1.5, 0.0, 0.0)).unwrap();
    let long = Ellipsoid::new([6.0, 1.0, 1.0], Vector3::new(-4.5, 0.0, 0.0)).unwrap();
    for (a, b) in [(&big, &long), (&long, &big)] {
        let properties = MassProperties::coaxial_ellipsoids(a, b, 1.0).unwrap();
        assert!((properties.center() - Vector3::x() * 0.974_176_151_022_707_8).norm() <= 1e-12);
        let expected = diagonal(
            7.593_271_950_362_84,
            9.932_277_728_289_67,
            8.272_759_576_248_08,
        );
        assert!(near(properties.inertia(), &expected, 1e-12));
    }
}

/// Apart, nested, equal, and crossing in both directions; along every axis.
#[test]
fn unions_that_are_sums_or_one_of_the_parts() {
    let sphere = |r: f64, c: Vector3<f64>| Ellipsoid::sphere(r, c).unwrap();
    for axis in [Vector3::x(), Vector3::y(), Vector3::z()] {
        let (a, b) = (sphere(0.5, axis * -1.0), sphere(0.3, axis * 2.0));
        let union = MassProperties::coaxial_ellipsoids(&a, &b, 1.0).unwrap();
        let (va, vb) = (0.125, 0.027);
        let (ma, mb) = (va / (va + vb), vb / (va + vb));
        let center = axis * (2.0 * mb - ma);
        assert!((union.center() - center).norm() <= 1e-13);
        // Parallel axes: 2/5 m r^2 each, and m_a m_b d^2 across.
        let own = 0.4 * (ma * 0.25 + mb * 0.09);
        let plane = Matrix3::identity() - axis * axis.transpose();
        let expected = Matrix3::identity() * own + plane * (ma * mb * 9.0);
        assert!(near(union.inertia(), &expected, 1e-13));

        let nested = MassProperties::coaxial_ellipsoids(&a, &sphere(0.1, axis * -0.8), 2.0);
        let whole = MassProperties::ellipsoid(&a, 2.0).unwrap();
        let nested = nested.unwrap();
        assert!(near(nested.inertia(), whole.inertia(), 1e-13));
        assert!((nested.center() - whole.center()).norm() <= 1e-13);
    }
    let off = MassProperties::coaxial_ellipsoids(
        &sphere(1.0, Vector3::zeros()),
        &sphere(1.0, Vector3::new(1.0, 1.0, 0.0)),
        1.0,
    );
    assert_eq!(off.unwrap_err().kind(), "unknown-mass-properties");
}

/// Slices of a rounded box are rounded rectangles: area $4bc + 4(b+c)r + \pi r^2$.
#[test]
fn a_rounded_box_by_its_slices() {
    let (half, radius) = ([0.7, 1.0, 1.6], 0.25);
    let base = Shape::Cuboid(Cuboid::new(half).unwrap());
    let vertices = Cuboid::new(half).unwrap().mesh().vertices().to_vec();
    let hull = Shape::Polyhedron(Polyhedron::new(&vertices).unwrap());
    let slices = |axis: usize| {
        let [a, b, c] = [0, 1, 2].map(|i| half[(axis + i) % 3]);
        let area = |r: f64| 4.0 * b * c + 4.0 * (b + c) * r + PI * r * r;
        let (mut volume, mut square) =
            (area(radius) * 2.0 * a, area(radius) * 2.0 * a.powi(3) / 3.0);
        // The cap, at x = a + radius sin(s), by the midpoint rule in s.
        let n = 200_000;
        for k in 0..n {
            let s = (f64::from(k) + 0.5) / f64::from(n) * PI / 2.0;
            let (x, r) = (a + radius * s.sin(), radius * s.cos());
            let dx = r * PI / 2.0 / f64::from(n);
            volume += 2.0 * area(r) * dx;
            square += 2.0 * area(r) * x * x * dx;
        }
        square / volume
    };
    let spread = diagonal(slices(0), slices(1), slices(2));
    let expected = Matrix3::identity() * spread.trace() - spread;
    for base in [base, hull] {
        let body = Shape::Rounded(Box::new(Rounded::new(base, radius).unwrap()));
        let properties = body.mass_properties(1.0).unwrap();
        // The midpoint rule's error.
        assert!(
            near(properties.inertia(), &expected, 1e-9),
            "{}",
            properties.inertia() - expected
        );
        assert!(properties.center().norm() <= 1e-14);
    }
}

/// A tiny polyhedron in a large ball is the ball; nothing at all changes at radius 0.
#[test]
fn rounding_leads_from_the_polyhedron_to_the_ball() {
    let small: Vec<_> = tetrahedron().iter().map(|v| v * 1e-9).collect();
    let small = Shape::Polyhedron(Polyhedron::new(&small).unwrap());
    let ball = Shape::Rounded(Box::new(Rounded::new(small, 2.0).unwrap()));
    let inertia = *ball.mass_properties(5.0).unwrap().inertia();
    assert!(near(&inertia, &(Matrix3::identity() * 8.0), 1e-7));
    let sharp = Shape::Polyhedron(Polyhedron::new(&tetrahedron()).unwrap());
    let same = Shape::Rounded(Box::new(Rounded::new(sharp.clone(), 0.0).unwrap()));
    assert_eq!(same.mass_properties(1.0), sharp.mass_properties(1.0));
}

/// The rounded corner tetrahedron, whose center moves with the radius, against a mesh of its
/// surface: its hull of many points, which converges from inside.
#[test]
fn a_rounded_tetrahedron_against_a_fine_hull() {
    let corners = points(&[
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 2.0, 0.0],
        [0.0, 0.0, 3.0],
    ]);
    let radius = 0.8;
    let n = 300;
    let mut cloud = Vec::new();
    for i in 0..n {
        let z = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(n);
        let turn = 2.399_963_229_728_653 * f64::from(i);
        let r = (1.0 - z * z).sqrt();
        let normal = Vector3::new(r * turn.cos(), r * turn.sin(), z);
        let top = corners
            .iter()
            .max_by(|a, b| a.dot(&normal).total_cmp(&b.dot(&normal)));
        cloud.push(top.unwrap() + normal * radius);
    }
    let fine = MassProperties::mesh(&TriangleMesh::hull(&cloud).unwrap(), 1.0).unwrap();
    let base = Shape::Polyhedron(Polyhedron::new(&corners).unwrap());
    let exact = Shape::Rounded(Box::new(Rounded::new(base, radius).unwrap()));
    let exact = exact.mass_properties(1.0).unwrap();
    assert!((exact.center() - fine.center()).norm() <= 1e-2);
    assert!(near(exact.inertia(), fine.inertia(), 4e-2));
}

#[test]
fn what_no_body_has_is_refused() {
    // Case III of Tran & Leok as printed.
    let printed = Matrix3::new(
        7.593_271_8,
        0.000_000_6,
        -0.000_000_4,
        -0.000_000_6,
        9.932_643_4,
        0.0,
        0.000_000_4,
        0.0,
        8.273_125_2,
    );
    let kind = |inertia| MassProperties::new(1.0, inertia).unwrap_err().kind();
    assert_eq!(kind(printed), "inertia-not-symmetric");
    assert_eq!(kind(diagonal(1.0, 1.0, 2.1)), "inertia-unphysical");
    assert_eq!(
        kind(diagonal(1.0, 1.0, 0.0)),
        "inertia-not-positive-definite"
    );
    assert_eq!(
        kind(diagonal(1.0, 1.0, -1.0)),
        "inertia-not-positive-definite"
    );
    assert_eq!(kind(Matrix3::zeros()), "inertia-not-positive-definite");
    assert_eq!(kind(diagonal(1.0, f64::NAN, 1.0)), "non-finite");
    for mass in [0.0, -1.0] {
        let error = MassProperties::new(mass, Matrix3::identity()).unwrap_err();
        assert_eq!(error, GeometryError::NonPositiveMass { mass });
    }
    assert!(MassProperties::new(1.0, diagonal(1.0, 1.0, 2.0)).is_ok());
}

#[test]
fn nonstandard_and_standard_inertia_are_one_information() {
    let block = Cuboid::new([1.0, 2.0, 3.0]).unwrap();
    let properties = MassProperties::cuboid(&block, 6.0).unwrap();
    let spread = properties.nonstandard();
    assert!(near(&spread, &diagonal(2.0, 8.0, 18.0), 1e-14));
    let back = Matrix3::identity() * spread.trace() - spread;
    assert!(near(&back, properties.inertia(), 1e-14));
}

fn ball(r: f64, center: [f64; 3]) -> Shape {
    Shape::Ellipsoid(Ellipsoid::sphere(r, Vector3::from(center)).unwrap())
}

fn joined(parts: Vec<Shape>) -> Shape {
    Shape::Union(Union::new(parts).unwrap())
}

/// Center and moments (along, across) of a body of revolution of mass 1 with the squared radius
/// `profile`, a polynomial of degree 2 between the cuts: Simpson's rule takes its products to 1e-13.
fn revolution(cuts: &[f64], profile: impl Fn(f64) -> f64) -> (f64, f64, f64) {
    let mut sums = [0.0; 4];
    for ends in cuts.windows(2) {
        let n = 2000;
        let h = (ends[1] - ends[0]) / f64::from(2 * n);
        for k in 0..=2 * n {
            let weight = match k {
                0 => 1.0,
                k if k == 2 * n => 1.0,
                k if k % 2 == 1 => 4.0,
                _ => 2.0,
            } * h
                / 3.0;
            let x = ends[0] + h * f64::from(k);
            let q = profile(x).max(0.0);
            let terms = [q, q * x, q * x * x, q * q];
            sums.iter_mut()
                .zip(terms)
                .for_each(|(s, t)| *s += weight * t);
        }
    }
    let [volume, first, second, fourth] = sums;
    let center = first / volume;
    let across = second / volume - center * center + 0.25 * fourth / volume;
    (center, 0.5 * fourth / volume, across)
}

/// Balls in a row, joined and cut out of each other: bodies of revolution.
#[test]
fn balls_in_a_row() {
    let profile = |r: f64, c: f64| move |x: f64| r * r - (x - c) * (x - c);
    let (p, q, s) = (profile(1.0, 0.0), profile(0.7, 1.1), profile(0.5, 1.6));
    let meet = |(r, c): (f64, f64), (t, d): (f64, f64)| 0.5 * (c + d + (r * r - t * t) / (d - c));
    let cuts = [
        -1.0,
        meet((1.0, 0.0), (0.7, 1.1)),
        meet((0.7, 1.1), (0.5, 1.6)),
        2.1,
    ];
    let (center, along, across) = revolution(&cuts, |x| p(x).max(q(x)).max(s(x)));
    let row = joined(vec![
        ball(1.0, [0.0; 3]),
        joined(vec![ball(0.7, [1.1, 0.0, 0.0]), ball(0.5, [1.6, 0.0, 0.0])]),
    ]);
    let found = row.mass_properties(1.0).unwrap();
    assert!((found.center() - Vector3::x() * center).amax() <= 1e-11);
    assert!(near(
        found.inertia(),
        &diagonal(along, across, across),
        1e-11
    ));
    // Anywhere in the body's frame, with more balls inside.
    let by = Vector3::new(300.0, -200.0, 100.0);
    let moved = joined(vec![row.translated(&by), ball(0.2, [300.8, -200.0, 100.0])]);
    let moved = moved.mass_properties(1.0).unwrap();
    assert!((moved.center() - found.center() - by).amax() <= 1e-10);
    assert!(near(moved.inertia(), found.inertia(), 1e-10));

    let lens = EllipsoidIntersection::new(vec![
        Ellipsoid::sphere(1.0, Vector3::zeros()).unwrap(),
        Ellipsoid::sphere(0.7, Vector3::x() * 1.1).unwrap(),
    ])
    .unwrap();
    let lens = Shape::Intersection(lens).mass_properties(1.0).unwrap();
    let (center, along, across) = revolution(&[0.4, cuts[1], 1.0], |x| p(x).min(q(x)));
    assert!((lens.center() - Vector3::x() * center).amax() <= 1e-11);
    assert!(near(
        lens.inertia(),
        &diagonal(along, across, across),
        1e-11
    ));
}

/// A ball on a corner of a box: one eighth of it is inside.
#[test]
fn a_ball_on_the_corner_of_a_box() {
    let block = Shape::Cuboid(Cuboid::new([1.0, 0.8, 0.9]).unwrap());
    let corner = Vector3::new(1.0, 0.8, 0.9);
    let r: f64 = 0.6;
    let found = joined(vec![block, ball(r, corner.into())])
        .mass_properties(1.0)
        .unwrap();
    let (box_volume, ball_volume) = (8.0 * 0.72, 4.0 / 3.0 * PI * r.powi(3));
    // Rest of the ball, about the corner: all of it less the octant of negative coordinates.
    let volume = box_volume + 7.0 / 8.0 * ball_volume;
    let ones = Vector3::new(1.0, 1.0, 1.0);
    let first = corner * (7.0 / 8.0 * ball_volume) + ones * (PI * r.powi(4) / 16.0);
    let octant = |i: usize, j: usize| {
        if i == j {
            7.0 / 8.0 * 4.0 / 15.0 * PI * r.powi(5)
        } else {
            -r.powi(5) / 15.0
        }
    };
    let left = Matrix3::from_fn(octant);
    let shift = ones * (PI * r.powi(4) / 16.0);
    let second = diagonal(1.0, 0.64, 0.81) * (box_volume / 3.0)
        + left
        + shift * corner.transpose()
        + corner * shift.transpose()
        + corner * corner.transpose() * (7.0 / 8.0 * ball_volume);
    let center = first / volume;
    let spread = second / volume - center * center.transpose();
    let inertia = Matrix3::identity() * spread.trace() - spread;
    assert!((found.center() - center).amax() <= 1e-11);
    assert!(near(found.inertia(), &inertia, 1e-11));
}

/// A polyhedron and a box of the same shape, with a ball through a face.
#[test]
fn polyhedra_overlap_like_boxes() {
    let cube = Cuboid::new([1.0; 3]).unwrap();
    let hull = Polyhedron::new(cube.mesh().vertices()).unwrap();
    let through =
        || Shape::Ellipsoid(Ellipsoid::new([1.5, 0.6, 0.4], Vector3::new(0.3, 0.2, 0.7)).unwrap());
    let as_box = joined(vec![Shape::Cuboid(cube), through()]);
    let as_hull = joined(vec![through(), Shape::Polyhedron(hull)]);
    let (a, b) = (
        as_box.mass_properties(2.0).unwrap(),
        as_hull.mass_properties(2.0).unwrap(),
    );
    let gap = (a.center() - b.center()).amax();
    assert!(gap <= 1e-10, "{gap:e}");
    let gap = (a.inertia() - b.inertia()).amax();
    assert!(gap <= 1e-10, "{gap:e}");
}

/// Apart: closed forms only, whatever the parts are.
#[test]
fn parts_that_do_not_meet_are_added() {
    let block = |x: f64| {
        let cuboid = Shape::Cuboid(Cuboid::new([0.3, 0.4, 0.5]).unwrap());
        let rounded = Shape::Rounded(Box::new(Rounded::new(cuboid, 0.1).unwrap()));
        rounded.translated(&(Vector3::x() * x))
    };
    let one = block(0.0).mass_properties(1.0).unwrap();
    let two = joined(vec![block(-1.0), block(1.0)])
        .mass_properties(2.0)
        .unwrap();
    let expected = one.inertia() * 2.0 + diagonal(0.0, 2.0, 2.0);
    assert!(near(two.inertia(), &expected, 1e-12));
    let near_by = joined(vec![block(0.0), block(0.5)]).mass_properties(1.0);
    assert_eq!(near_by.unwrap_err().kind(), "unknown-mass-properties");
}

/// A spheroid grown by a ball is a body of revolution; its outline in the angle of the spheroid's
/// makes the integrands periodic, which the trapezoidal rule takes exactly.
#[test]
fn rounded_ellipsoids() {
    for (a, b, r) in [
        (2.0f64, 1.0, 0.3),
        (0.3, 1.0, 0.5),
        (1.0, 1.0, 1.0),
        (5.0, 1.0, 2.0),
    ] {
        let n = 4000;
        let mut sums = [0.0; 3];
        for k in 0..n {
            let t = PI * (f64::from(k) + 0.5) / f64::from(n);
            let (sin, cos) = t.sin_cos();
            // Normal of (a cos t, b sin t), and the derivative of the abscissa.
            let norm = (b * b * cos * cos + a * a * sin * sin).sqrt();
            let x = a * cos + r * b * cos / norm;
            let radius = b * sin + r * a * sin / norm;
            let dx = -a * sin
                - r * b * sin / norm
                - r * b * cos * (a * a - b * b) * sin * cos / norm.powi(3);
            let q = radius * radius;
            let weight = -dx * PI / f64::from(n);
            for (sum, term) in sums.iter_mut().zip([q, q * x * x, q * q]) {
                *sum += weight * term;
            }
        }
        let [volume, second, fourth] = sums;
        let across = second / volume + 0.25 * fourth / volume;
        let expected = diagonal(0.5 * fourth / volume, across, across);
        let oval = Shape::Ellipsoid(Ellipsoid::new([a, b, b], Vector3::y()).unwrap());
        let grown = Shape::Rounded(Box::new(Rounded::new(oval, r).unwrap()));
        let found = grown.mass_properties(1.0).unwrap();
        let gap = (found.inertia() - expected).amax() / expected.amax();
        assert!(gap <= 1e-11, "{a} {b} {r}: {gap:e}");
        assert!((found.center() - Vector3::y()).amax() <= 1e-13);
    }
}

#[test]
fn shapes_without_a_rule_ask_for_the_inertia() {
    let lens = EllipsoidIntersection::new(vec![
        Ellipsoid::sphere(1.0, Vector3::zeros()).unwrap(),
        Ellipsoid::sphere(1.0, Vector3::x()).unwrap(),
    ]);
    let lens = Shape::Intersection(lens.unwrap());
    let grown = Shape::Rounded(Box::new(Rounded::new(lens, 0.1).unwrap()));
    assert_eq!(
        grown.mass_properties(1.0).unwrap_err().kind(),
        "unknown-mass-properties"
    );
    let grown = Shape::Rounded(Box::new(Rounded::new(ball(1.0, [0.0; 3]), 1.0).unwrap()));
    let inertia = *grown.mass_properties(5.0).unwrap().inertia();
    assert!(near(&inertia, &(Matrix3::identity() * 8.0), 1e-14));
}

/// Inertia about the center of a body that turns about z, by Simpson's rule over its disks.
fn of_disks(radius: impl Fn(f64) -> f64, cuts: &[f64]) -> Matrix3<f64> {
    let (mut volume, mut across, mut along) = (0.0, 0.0, 0.0);
    for (from, to) in cuts.iter().zip(&cuts[1..]) {
        const N: usize = 2000;
        let h = (to - from) / N as f64;
        for k in 0..=N {
            let weight = if k == 0 || k == N {
                1.0
            } else {
                [2.0, 4.0][k % 2]
            } * h
                / 3.0;
            let z = from + k as f64 * h;
            let square = radius(z).powi(2);
            volume += weight * PI * square;
            across += weight * PI * square * square / 4.0;
            along += weight * PI * square * z * z;
        }
    }
    let (across, along) = (across / volume, along / volume);
    diagonal(across + along, across + along, 2.0 * across)
}

/// Cylinder and capsule against their disks, along an axis of the body and along another.
#[test]
fn cylinders_and_capsules_are_sums_of_disks() {
    let (r, l, mass) = (0.3, 0.7, 2.5);
    let disk = |z: f64| {
        let beyond = (z.abs() - l).max(0.0);
        (r * r - beyond * beyond).max(0.0).sqrt()
    };
    let center = Vector3::new(0.4, -1.0, 2.0);
    for axis in [Vector3::z(), Vector3::new(1.0, 2.0, -0.5)] {
        let axis = Unit::new_normalize(axis);
        let turned = So3::exp(
            &Vector3::z()
                .cross(&axis)
                .try_normalize(0.0)
                .map_or(Vector3::zeros(), |u| u * f64::acos(axis.z)),
        )
        .matrix();
        let cylinder = Shape::Cylinder(Cylinder::new(r, l, &axis, center).unwrap());
        let core = Shape::Segment(Segment::new(l, &axis, center).unwrap());
        let capsule = Shape::Rounded(Box::new(Rounded::new(core, r).unwrap()));
        let bare = of_disks(|_| r, &[-l, l]);
        let round = of_disks(disk, &[-l - r, -l, l, l + r]);
        for (shape, expected) in [(cylinder, bare), (capsule, round)] {
            let found = shape.mass_properties(mass).unwrap();
            assert!((found.center() - center).norm() <= 1e-14);
            let expected = turned * expected * turned.transpose() * mass;
            assert!(
                near(found.inertia(), &expected, 1e-13),
                "{axis:?} {found:?}"
            );
        }
    }
}

#[test]
fn a_turned_ellipsoid_has_the_inertia_of_the_ellipsoid_turned() {
    let base = Ellipsoid::new([0.5, 0.9, 1.4], Vector3::new(0.3, 0.1, -0.2)).unwrap();
    let rotation = So3::exp(&Vector3::new(0.4, -1.0, 0.3));
    let turned = Shape::TurnedEllipsoid(TurnedEllipsoid::new(&base, &rotation));
    let (own, found) = (
        MassProperties::ellipsoid(&base, 3.0).unwrap(),
        turned.mass_properties(3.0).unwrap(),
    );
    let r = rotation.matrix();
    assert!(near(
        found.inertia(),
        &(r * own.inertia() * r.transpose()),
        1e-14
    ));
    assert!((found.center() - own.center()).norm() <= 1e-15);
}
