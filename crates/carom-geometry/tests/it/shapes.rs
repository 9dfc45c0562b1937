//! Support maps, gaps, contact sets and signed distances.

use carom_geometry::sdf::SignedDistance;
use carom_geometry::{
    Cuboid, Cylinder, Ellipsoid, EllipsoidIntersection, GeometryError, HalfSpace, PatchKind,
    Polyhedron, Rounded, Segment, Shape, SupportMap, TurnedEllipsoid, Union,
};
use carom_lie::{Se3, So3};
use nalgebra::{Unit, UnitVector3, Vector3};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn v(x: f64, y: f64, z: f64) -> Vector3<f64> {
    Vector3::new(x, y, z)
}

fn ellipsoid(axes: [f64; 3], x: f64) -> Ellipsoid {
    Ellipsoid::new(axes, v(x, 0.0, 0.0)).unwrap()
}

fn paper_union() -> Shape {
    let shift = -0.993_712_8;
    let parts = vec![
        Shape::Ellipsoid(ellipsoid([3.0, 4.0, 5.0], 1.5 + shift)),
        Shape::Ellipsoid(ellipsoid([6.0, 1.0, 1.0], -4.5 + shift)),
    ];
    Shape::Union(Union::new(parts).unwrap())
}

fn paper_cube() -> Shape {
    let cube = Shape::Cuboid(Cuboid::new([3f64.sqrt(); 3]).unwrap());
    Shape::Rounded(Box::new(Rounded::new(cube, 1e-13).unwrap()))
}

fn intersection<const N: usize>(
    parts: [Ellipsoid; N],
) -> Result<EllipsoidIntersection, GeometryError> {
    EllipsoidIntersection::new(parts.to_vec())
}

fn lens() -> EllipsoidIntersection {
    intersection([ellipsoid([1.0; 3], 0.5), ellipsoid([1.0; 3], -0.5)]).unwrap()
}

fn check_gap(shape: &Shape, normal: Vector3<f64>, at: Se3, expected: (f64, [f64; 3], [f64; 3])) {
    let plane = HalfSpace::new(normal, 0.0).unwrap();
    let gap = plane.gap(shape, &at);
    let (value, point, moment) = expected;
    assert!((gap.value - value).abs() <= 1e-12, "{} {value}", gap.value);
    assert!((gap.point_b - Vector3::from(point)).norm() <= 1e-12);
    assert!((gap.moment_b() - Vector3::from(moment)).norm() <= 1e-12);
}

/// Values of an independent implementation in long arithmetic.
#[test]
fn gaps_of_the_papers_bodies() {
    let turned = So3::exp(&v(0.3, -0.4, 0.9));
    let tilt = 2f64.to_radians();
    let slope = v(tilt.sin(), 0.0, tilt.cos());
    let body = Shape::Ellipsoid(ellipsoid([2.0, 3.0, 4.0], 0.0));
    let above = Se3::new(So3::identity(), v(0.0, 0.0, 10.0));
    check_gap(
        &body,
        Vector3::z(),
        above,
        (6.0, [0.0, 0.0, -4.0], [0.0; 3]),
    );
    let at = Se3::new(turned, v(1.0, 2.0, 5.0));
    check_gap(
        &body,
        Vector3::z(),
        at,
        (
            1.332_726_027_493_95,
            [
                -0.497_889_157_930_445,
                -0.208_817_408_628_146,
                -3.864_053_061_353_7,
            ],
            [
                0.143_842_985_245_468,
                -1.322_879_781_672_42,
                0.052_955_397_322_015_3,
            ],
        ),
    );
    check_gap(
        &body,
        slope,
        at,
        (
            1.390_042_040_964_75,
            [
                -0.522_391_075_985_549,
                -0.140_797_950_855_788,
                -3.856_577_171_056_98,
            ],
            [
                0.096_128_326_574_678_9,
                -1.375_677_142_279_8,
                0.037_202_922_787_820_8,
            ],
        ),
    );
    let at = Se3::new(turned, v(0.0, 0.0, 6.0));
    check_gap(
        &paper_union(),
        Vector3::z(),
        at,
        (
            0.612_523_866_633_856,
            [
                -11.200_154_502_408_7,
                -0.029_547_068_483_821_3,
                -0.307_548_281_837_173,
            ],
            [0.0, 9.779_127_900_056_76, -0.939_509_595_205_615],
        ),
    );
    let at = Se3::new(turned, v(0.0, 0.0, 4.0));
    check_gap(
        &paper_cube(),
        Vector3::z(),
        at,
        (
            1.527_981_297_159_8,
            [
                -1.732_050_807_568_92,
                -1.732_050_807_568_89,
                -1.732_050_807_568_97,
            ],
            [
                -1.386_629_606_409_6,
                0.743_369_946_553_219,
                0.643_259_659_856_386,
            ],
        ),
    );
    let at = Se3::new(So3::exp(&v(0.0, 0.3, 0.0)), v(0.0, 0.0, 2.0));
    check_gap(
        &Shape::Intersection(lens()),
        Vector3::z(),
        at,
        (
            1.172_654_331_254_99,
            [0.0, 0.0, -0.866_025_403_784_439],
            [0.0, 0.255_928_006_300_347, 0.0],
        ),
    );
}

/// Two unit balls half a radius off center: a cap where the direction is within 60° of the axis,
/// the circle of intersection elsewhere.
#[test]
fn the_lens_in_closed_form() {
    for i in 0..=360 {
        let t = f64::from(i).to_radians();
        let support = lens().support(&v(t.cos(), 0.6 * t.sin(), 0.8 * t.sin()));
        let expected = if t.cos().abs() > 0.5 {
            -1.0 + t.cos().abs() / 2.0
        } else {
            -(3f64.sqrt() / 2.0) * t.sin().abs()
        };
        assert!((support.value - expected).abs() <= 1e-14, "{i}");
    }
}

#[test]
fn ellipsoids_that_do_not_meet_have_no_intersection() {
    for x in [2.0, 2.1, 50.0] {
        let apart = intersection([ellipsoid([1.0; 3], 0.0), ellipsoid([1.0; 3], x)]);
        assert_eq!(apart.unwrap_err().kind(), "empty-intersection");
    }
    assert!(intersection([ellipsoid([1.0; 3], 0.0), ellipsoid([1.0; 3], 1.99)]).is_ok());
    let nested = intersection([ellipsoid([1.0; 3], 0.1), ellipsoid([5.0; 3], 0.0)]);
    assert!((nested.unwrap().support(&Vector3::z()).value + 1.0).abs() <= 1e-15);
}

/// Three unit balls half a radius off an axis, a third of a turn apart: on the axis all meet at the
/// height 0.866, the root of 3/4.
#[test]
fn three_balls_meet_in_a_corner() {
    let ball = |k: u32| {
        let angle = f64::from(k) * std::f64::consts::TAU / 3.0;
        Ellipsoid::sphere(1.0, v(angle.cos(), angle.sin(), 0.0) * 0.5).unwrap()
    };
    let three = intersection([ball(0), ball(1), ball(2)]).unwrap();
    for tilt in [0.0, 0.1, -0.1] {
        let d = v(tilt, 0.5 * tilt, 2.0);
        let support = three.support(&d);
        let corner = v(0.0, 0.0, -(0.75f64.sqrt()));
        assert!(
            (support.point - corner).amax() <= 1e-14,
            "{tilt}: {support:?}"
        );
        assert!((support.value - corner.dot(&d)).abs() <= 1e-14);
    }
    // Sideways two of them meet in an edge, or one ends alone.
    let edge = three.support(&v(-1.0, 0.0, 0.0)).point;
    let expected = v((13.0f64 / 16.0).sqrt() - 0.25, 0.0, 0.0);
    assert!((edge - expected).amax() <= 1e-14, "{edge}");
    let alone = three.support(&v(1.0, 0.0, 0.0)).point;
    assert!((alone - v(-0.5, 0.0, 0.0)).amax() <= 1e-14);
    let apart = intersection([ball(0), ball(1), ellipsoid([0.1; 3], 5.0)]);
    assert_eq!(apart.unwrap_err().kind(), "empty-intersection");
    // Two at a time meet, all three do not.
    let far = |k: u32| {
        let angle = f64::from(k) * std::f64::consts::TAU / 3.0;
        Ellipsoid::sphere(1.0, v(angle.cos(), angle.sin(), 0.0) * 1.05).unwrap()
    };
    assert!(intersection([far(0), far(1)]).is_ok());
    assert_eq!(
        intersection([far(0), far(1), far(2)]).unwrap_err().kind(),
        "empty-intersection"
    );
}

/// Sampling the common part of two or three unequal ellipsoids never finds a lower point.
#[test]
fn the_intersections_support_is_its_lowest_point() {
    let (a, b) = (
        Ellipsoid::new([2.0, 1.0, 0.7], v(0.2, 0.1, 0.0)).unwrap(),
        Ellipsoid::new([0.8, 1.5, 1.0], v(-0.3, 0.2, 0.3)).unwrap(),
    );
    let c = Ellipsoid::new([1.2, 1.1, 0.6], v(0.1, -0.3, 0.2)).unwrap();
    for both in [intersection([a, b]), intersection([a, b, c])] {
        let both = both.unwrap();
        let parts = both.parts();
        for k in 0..40 {
            let t = f64::from(k);
            let d = v((1.3 * t).sin(), (2.1 * t).cos(), (0.7 * t).sin());
            let support = both.support(&d);
            for part in parts {
                assert!(part.level(&support.point) <= 1.0 + 1e-12);
            }
            for i in 0..4000 {
                let s = f64::from(i);
                let p = v((12.9 * s).sin(), (78.2 * s).sin(), (37.7 * s).sin()) * 1.6;
                if parts.iter().all(|part| part.level(&p) <= 1.0) {
                    assert!(p.dot(&d) >= support.value - 1e-12);
                }
            }
        }
    }
}

#[test]
fn edges_and_faces_on_the_plane_are_returned_as_such() {
    let plane = HalfSpace::new(Vector3::z(), 0.0).unwrap();
    let cube = paper_cube();
    let vertices = Cuboid::new([1.0; 3]).unwrap().mesh().vertices().to_vec();
    let hull = Shape::Polyhedron(Polyhedron::new(&vertices).unwrap());
    let patch = |shape: &Shape, phi: Vector3<f64>| {
        let at = Se3::new(So3::exp(&phi), v(0.0, 0.0, 5.0));
        let patch = plane.contact_patch(shape, &at, 1e-9);
        (patch.kind, patch.points_b.len())
    };
    let quarter = std::f64::consts::FRAC_PI_4;
    for shape in [&cube, &hull] {
        assert_eq!(patch(shape, v(0.0, 0.0, 0.3)), (PatchKind::Face, 4));
        assert_eq!(patch(shape, v(quarter, 0.0, 0.0)), (PatchKind::Edge, 2));
        assert_eq!(patch(shape, v(0.4, 0.2, 0.0)), (PatchKind::Point, 1));
    }
    let ball = |x: f64| Shape::Ellipsoid(ellipsoid([0.5; 3], x));
    let dumbbell = Shape::Union(Union::new(vec![ball(-1.0), ball(1.0)]).unwrap());
    assert_eq!(patch(&dumbbell, v(0.0, 0.0, 1.0)), (PatchKind::Edge, 2));
    assert_eq!(patch(&dumbbell, v(0.0, 0.1, 0.0)), (PatchKind::Point, 1));
}

/// Fig. 3 of Tran & Leok: the closest point of the rounded cuboid is $\rho_C - \varepsilon d$.
#[test]
fn rounding_shifts_the_gap_and_nothing_else() {
    let sharp = Cuboid::new([1.0, 2.0, 0.5]).unwrap();
    let round = Rounded::new(sharp, 0.3).unwrap();
    let plane = HalfSpace::new(v(0.1, 0.2, 1.0), 0.4).unwrap();
    let at = Se3::new(So3::exp(&v(0.3, 0.5, -0.2)), v(0.0, 1.0, 4.0));
    let (a, b) = (plane.gap(&sharp, &at), plane.gap(&round, &at));
    assert!((a.value - 0.3 - b.value).abs() <= 1e-15);
    assert!((a.moment_b() - b.moment_b()).norm() <= 1e-15);
    assert!((b.point_b - (a.point_b - a.normal_b * 0.3)).norm() <= 1e-15);
}

/// Independent values, and Tran & Leok's special case of a point on the short axis's middle plane.
#[test]
fn signed_distances_of_an_ellipsoid() {
    let body = ellipsoid([2.0, 3.0, 4.0], 0.0);
    for (point, expected) in [
        (v(3.0, 1.0, 2.0), 1.319_115_376_446_018_6),
        (v(0.0, 0.0, 0.0), -2.0),
        (v(0.0, 0.0, 1.0), -1.914_854_215_512_676_2),
        (v(1.0, 1.0, 1.0), -0.780_460_920_414_836),
        (v(0.0, 0.0, 4.0), 0.0),
        (v(0.0, 5.0, 0.0), 2.0),
    ] {
        let distance = body.signed_distance(&point);
        assert!(
            (distance.value - expected).abs() <= 1e-12,
            "{point} {}",
            distance.value
        );
    }
    assert_eq!(body.signed_distance(&Vector3::zeros()).gradient, None);
    let ball = ellipsoid([1.5; 3], 0.0);
    assert!((ball.signed_distance(&v(0.1, 0.2, 0.2)).value + 1.2).abs() <= 1e-15);
    assert_eq!(ball.signed_distance(&Vector3::zeros()).value, -1.5);
}

#[test]
fn constructive_geometry_on_distances() {
    let (a, b) = (
        ellipsoid([1.0; 3], 0.0),
        Cuboid::new([2.0, 0.5, 0.5]).unwrap(),
    );
    for p in [
        v(1.5, 0.0, 0.0),
        v(0.0, 0.9, 0.0),
        v(0.2, 0.1, 0.0),
        v(3.0, 3.0, 0.1),
    ] {
        let (da, db) = (a.signed_distance(&p), b.signed_distance(&p));
        assert_eq!(da.union(db).value, da.value.min(db.value));
        assert_eq!(da.intersection(db).value, da.value.max(db.value));
        assert_eq!(da.complement().value, -da.value);
        assert_eq!(da.rounded(0.1).value, da.value - 0.1);
    }
    let p = v(0.0, 0.0, 3.0);
    let (da, db) = (
        a.signed_distance(&p),
        ellipsoid([1.0; 3], 0.0).signed_distance(&p),
    );
    assert_eq!(
        da.union(db).gradient,
        Some(Vector3::z()),
        "a tie of equal gradients has one"
    );
    let sides = [v(-2.0, 0.0, 0.0), v(2.0, 0.0, 0.0)].map(|c| {
        Ellipsoid::sphere(1.0, c)
            .unwrap()
            .signed_distance(&Vector3::zeros())
    });
    assert_eq!(
        sides[0].union(sides[1]).gradient,
        None,
        "a tie of two sides has none"
    );
}

#[test]
fn bad_shapes_are_refused_by_name() {
    let kind = |r: Result<Ellipsoid, carom_geometry::GeometryError>| r.unwrap_err().kind();
    assert_eq!(
        kind(Ellipsoid::new([1.0, 0.0, 1.0], Vector3::zeros())),
        "invalid-extent"
    );
    assert_eq!(
        kind(Ellipsoid::new([1.0, f64::NAN, 1.0], Vector3::zeros())),
        "non-finite"
    );
    assert_eq!(
        Cuboid::new([1.0, -1.0, 1.0]).unwrap_err().kind(),
        "invalid-extent"
    );
    assert_eq!(
        HalfSpace::new(Vector3::zeros(), 0.0).unwrap_err().kind(),
        "zero-normal"
    );
    assert_eq!(
        HalfSpace::new(Vector3::z(), f64::NAN).unwrap_err().kind(),
        "non-finite"
    );
    assert_eq!(
        Rounded::new(lens(), -0.1).unwrap_err().kind(),
        "invalid-rounding"
    );
    assert_eq!(
        Polyhedron::new(&[Vector3::zeros(); 3]).unwrap_err().kind(),
        "too-few-vertices"
    );
    assert_eq!(
        Union::<Shape>::new(Vec::new()).unwrap_err().kind(),
        "no-parts"
    );
}

fn oblique() -> UnitVector3<f64> {
    Unit::new_normalize(v(0.3, -0.5, 1.1))
}

fn capsule() -> Shape {
    let core = Segment::new(0.8, &oblique(), v(0.2, 0.1, -0.3)).unwrap();
    Shape::Rounded(Box::new(Rounded::new(Shape::Segment(core), 0.4).unwrap()))
}

fn cylinder() -> Shape {
    Shape::Cylinder(Cylinder::new(0.7, 1.1, &oblique(), v(-0.2, 0.3, 0.4)).unwrap())
}

fn turned() -> Shape {
    let base = Ellipsoid::new([0.5, 0.9, 1.4], v(0.3, 0.0, -0.2)).unwrap();
    Shape::TurnedEllipsoid(TurnedEllipsoid::new(&base, &So3::exp(&v(0.4, -1.0, 0.3))))
}

/// A cylinder stands on four points of an end, lies on the ends of a line, and touches in one point when tilted; a
/// capsule lies on a line.
#[test]
fn a_cylinder_stands_lies_and_leans() {
    let plane = HalfSpace::new(Vector3::z(), 0.0).unwrap();
    let can =
        Shape::Cylinder(Cylinder::new(0.3, 0.5, &Vector3::z_axis(), v(0.0, 0.0, 0.0)).unwrap());
    let pose = |tilt: f64| Se3::new(So3::exp(&v(0.0, tilt, 0.0)), v(0.0, 0.0, 0.5));
    let patch = |tilt: f64| plane.contact_patch(&can, &pose(tilt), 1e-9);
    let standing = patch(0.0);
    assert_eq!(
        (standing.kind, standing.points_b.len()),
        (PatchKind::Face, 4)
    );
    for p in &standing.points_b {
        assert!((p - v(0.0, 0.0, -0.5)).norm() - 0.3 <= 1e-15 && p.z == -0.5);
    }
    let sum: Vector3<f64> = standing.points_b.iter().sum();
    assert!(sum.xy().norm() <= 1e-15);
    let lying = patch(std::f64::consts::FRAC_PI_2);
    assert_eq!((lying.kind, lying.points_b.len()), (PatchKind::Edge, 2));
    assert!((lying.points_b[0] - lying.points_b[1]).norm() - 1.0 <= 1e-15);
    // The lowest point of the rim: height 0.5 (1 - cos) - 0.3 sin.
    let leaning = patch(0.2);
    assert_eq!(
        (leaning.kind, leaning.points_b.len()),
        (PatchKind::Point, 1)
    );
    let gap = plane.gap(&can, &pose(0.2)).value;
    assert!((gap - (0.5 - 0.5 * 0.2f64.cos() - 0.3 * 0.2f64.sin())).abs() <= 1e-15);
    let pill = Segment::new(0.5, &Vector3::x_axis(), Vector3::zeros()).unwrap();
    let pill = Shape::Rounded(Box::new(Rounded::new(Shape::Segment(pill), 0.5).unwrap()));
    let patch = plane.contact_patch(&pill, &pose(0.0), 1e-9);
    assert_eq!((patch.kind, patch.points_b.len()), (PatchKind::Edge, 2));
}

fn shapes() -> Vec<Shape> {
    let points = [
        v(1.0, 0.0, 0.0),
        v(0.0, 2.0, 0.3),
        v(-1.0, -1.0, 0.0),
        v(0.1, 0.0, 3.0),
        v(0.0, -0.2, -1.0),
    ];
    vec![
        Shape::Ellipsoid(Ellipsoid::new([2.0, 3.0, 4.0], v(0.1, -0.2, 0.3)).unwrap()),
        Shape::Cuboid(Cuboid::new([1.0, 0.4, 2.0]).unwrap()),
        Shape::Polyhedron(Polyhedron::new(&points).unwrap()),
        Shape::Rounded(Box::new(
            Rounded::new(Shape::Intersection(lens()), 0.2).unwrap(),
        )),
        paper_union(),
        capsule(),
        cylinder(),
        turned(),
    ]
}

fn unit_vectors() -> impl Strategy<Value = Vector3<f64>> {
    prop::array::uniform3(-1.0..1.0f64)
        .prop_map(Vector3::from)
        .prop_filter("has a direction", |v| v.norm() > 0.1)
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(5), ..ProptestConfig::with_cases(200) })]

    #[test]
    fn support_is_homogeneous_concave_and_bounded(d in unit_vectors(), e in unit_vectors(), k in 0.1..10.0f64) {
        for shape in shapes() {
            let (sd, se) = (shape.support(&d), shape.support(&e));
            let scale = shape.bounding_radius();
            prop_assert!((shape.support(&(d * k)).value - k * sd.value).abs() <= 1e-13 * k * scale);
            prop_assert!(shape.support(&(d + e)).value >= sd.value + se.value - 1e-13 * scale);
            prop_assert!((sd.point.dot(&d) - sd.value).abs() <= 1e-13 * scale);
            prop_assert!(sd.point.norm() <= scale * (1.0 + 1e-15));
            prop_assert!(se.point.dot(&d) >= sd.value - 1e-13 * scale);
        }
    }

    /// $\mathrm{d}\Phi = (n, \chi)$, by central differences with body-side variations.
    #[test]
    fn the_gaps_derivative_is_the_wrench(n in unit_vectors(), phi in unit_vectors(), dx in unit_vectors(), zeta in unit_vectors()) {
        let plane = HalfSpace::new(n, 0.3).unwrap();
        let at = Se3::new(So3::exp(&(phi * 2.0)), v(0.4, 0.2, 3.0));
        for shape in shapes() {
            let step = 1e-6;
            let shifted = |s: f64| {
                let rotation = at.rotation.compose(&So3::exp(&(zeta * s)));
                plane.gap(&shape, &Se3::new(rotation, at.translation + dx * s))
            };
            let (ahead, behind) = (shifted(step), shifted(-step));
            // Not across a kink, where another vertex becomes the lowest.
            if (ahead.point_b - behind.point_b).norm() > 1e-3 { continue; }
            let gap = plane.gap(&shape, &at);
            let rate = plane.normal().dot(&dx) + gap.moment_b().dot(&zeta);
            let quotient = (ahead.value - behind.value) / (2.0 * step);
            prop_assert!((rate - quotient).abs() <= 2e-8, "{rate} {quotient}");
            prop_assert!(gap.moment_b().dot(&gap.normal_b).abs() <= 1e-13);
        }
    }

    #[test]
    fn the_gap_does_not_change_along_the_plane(n in unit_vectors(), angle in -3.0..3.0f64, slide in unit_vectors()) {
        let plane = HalfSpace::new(n, -0.2).unwrap();
        let at = Se3::new(So3::exp(&v(0.2, 1.0, -0.5)), v(0.4, 0.2, 3.0));
        let along = slide - plane.normal() * slide.dot(plane.normal());
        let turned = So3::exp(&(plane.normal() * angle)).compose(&at.rotation);
        for shape in shapes() {
            let gap = plane.gap(&shape, &at).value;
            let moved = plane.gap(&shape, &Se3::new(turned, at.translation + along)).value;
            prop_assert!((gap - moved).abs() <= 1e-13);
        }
    }

    /// The gradient of a signed distance is a unit vector and its derivative.
    #[test]
    fn distances_have_unit_gradients(p in prop::array::uniform3(-6.0..6.0f64)) {
        let p = Vector3::from(p);
        let body = ellipsoid([2.0, 3.0, 4.0], 0.0);
        let Some(gradient) = body.signed_distance(&p).gradient else { return Ok(()); };
        prop_assert!((gradient.norm() - 1.0).abs() <= 1e-14);
        let h = 1e-6;
        for i in 0..3 {
            let e = Vector3::ith(i, h);
            let change = body.signed_distance(&(p + e)).value - body.signed_distance(&(p - e)).value;
            // Near the medial axis the gradient itself turns fast.
            if body.signed_distance(&p).value > -1.0 {
                prop_assert!((change / (2.0 * h) - gradient[i]).abs() <= 1e-7);
            }
        }
    }
}

/// The derivative of the support map against central differences, for every shape; on the seam of
/// a lens, at its vertices of three, and on one of its parts.
#[test]
fn the_lowest_point_moves_as_the_derivative_says() {
    let cut = intersection([
        ellipsoid([1.0, 1.2, 0.9], 0.5),
        ellipsoid([1.1, 1.0, 1.0], -0.5),
        Ellipsoid::new([1.0; 3], v(0.0, 0.6, 0.1)).unwrap(),
    ]);
    let base = Shape::Ellipsoid(ellipsoid([2.0, 3.0, 4.0], 0.3));
    let shapes = [
        base.clone(),
        Shape::Rounded(Box::new(Rounded::new(base, 0.4).unwrap())),
        paper_union(),
        paper_cube(),
        Shape::Polyhedron(
            Polyhedron::new(&[
                v(1.0, 0.0, 0.0),
                v(-1.0, 0.3, 0.0),
                v(0.0, 1.0, 0.2),
                v(0.1, 0.2, 1.0),
            ])
            .unwrap(),
        ),
        Shape::Intersection(lens()),
        Shape::Intersection(cut.unwrap()),
        capsule(),
        cylinder(),
        turned(),
    ];
    let directions = [
        v(0.3, -0.4, 0.9),
        v(-1.4, 0.2, 0.5),
        v(0.05, 0.8, -0.6),
        v(0.1, -0.9, -0.7),
        v(2.0, 0.1, 0.2),
    ];
    let step = 1e-6;
    for (shape, d) in shapes
        .iter()
        .flat_map(|s| directions.iter().map(move |d| (s, d)))
    {
        let derivative = shape.support_derivative(d);
        assert!((derivative - derivative.transpose()).amax() <= 1e-13);
        for axis in 0..3 {
            let mut e = Vector3::zeros();
            e[axis] = step;
            let ahead = shape.support(&(d + e)).point;
            let behind = shape.support(&(d - e)).point;
            let moved = (ahead - behind) / (2.0 * step);
            let error = (derivative.column(axis) - moved).amax();
            assert!(error <= 1e-7, "{shape:?} {d} {derivative} {moved}");
        }
    }
}
