//! Gaps of pairs of convex bodies.

use carom_geometry::pair::{Memory, Part, Placed, closest, touching};
use carom_geometry::{Cuboid, Ellipsoid, Polyhedron, Rounded, Segment, Shape, TurnedEllipsoid};
use carom_lie::{Se3, So3};
use nalgebra::Vector3;

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

fn part(shape: Shape) -> Part {
    Part::of_shape(&shape).unwrap().remove(0)
}

/// The gap is the largest width of a slab between the bodies, found without a start and from one that
/// is far off; the closest points lie on the bodies.
#[test]
fn the_gap_is_the_widest_slab_between_two_bodies() {
    let mut seed = 7;
    for k in 0..400 {
        let axes = || [0.3, 0.7, 1.1];
        let shape = |boxed: bool| {
            if boxed {
                part(Shape::Cuboid(Cuboid::new(axes()).unwrap()))
            } else {
                part(Shape::Ellipsoid(
                    Ellipsoid::new(axes(), Vector3::zeros()).unwrap(),
                ))
            }
        };
        let (first, second) = (shape(k % 2 == 0), shape(k % 4 < 2));
        let pose = |at: Vector3<f64>, seed: &mut u64| Se3::new(So3::exp(&(vector(seed) * 3.0)), at);
        let away = vector(&mut seed).normalize() * (2.2 + 0.5 * noise(&mut seed));
        let (here, there) = (pose(away, &mut seed), pose(Vector3::zeros(), &mut seed));
        let (a, b) = (Placed::new(&first, &here), Placed::new(&second, &there));
        let found = closest(&a, &b, &mut Memory::default());
        let off = closest(&a, &b, &mut Memory::starting(vector(&mut seed).normalize()));
        let g = |n: &Vector3<f64>| {
            n.dot(&(here.translation - there.translation))
                + first.support_value(&here.rotation.rotate_back(n))
                + second.support_value(&there.rotation.rotate_back(&-n))
        };
        assert!((g(&found.normal) - found.gap).abs() <= 1e-14);
        if found.gap <= 0.0 {
            continue;
        }
        assert!(
            (found.gap - off.gap).abs() <= 1e-13,
            "{k}: {} {}",
            found.gap,
            off.gap
        );
        let apart = (found.point_a - found.point_b).norm();
        assert!(
            (apart - found.gap).abs() <= 1e-12,
            "{k}: {apart} {}",
            found.gap
        );
        for _ in 0..50 {
            let near = (found.normal + vector(&mut seed) * 0.1).normalize();
            let any = vector(&mut seed).normalize();
            assert!(g(&near).max(g(&any)) <= found.gap + 1e-14);
        }
    }
}

/// An edge, a face or a corner of a polytope that comes up to a curved body touches it where it was nearest, and the
/// gap is what is left, found with and without a start.
#[test]
fn a_polytope_touches_an_ellipsoid_where_it_came_from() {
    let mut seed = 11;
    for k in 0..300 {
        let corners: Vec<Vector3<f64>> = (0..8).map(|_| vector(&mut seed).normalize()).collect();
        let polytope = part(Shape::Polyhedron(Polyhedron::new(&corners).unwrap()));
        let curved = part(Shape::Ellipsoid(
            Ellipsoid::new([0.8, 1.0, 1.2], Vector3::zeros()).unwrap(),
        ));
        let pose = |at: Vector3<f64>, seed: &mut u64| Se3::new(So3::exp(&(vector(seed) * 3.0)), at);
        let away = vector(&mut seed).normalize() * 2.5;
        let (mut here, there) = (pose(away, &mut seed), pose(Vector3::zeros(), &mut seed));
        let both = |here: &Se3, memory: &mut Memory| {
            closest(
                &Placed::new(&polytope, here),
                &Placed::new(&curved, &there),
                memory,
            )
        };
        let apart = both(&here, &mut Memory::default());
        let distance = (apart.point_a - apart.point_b).norm();
        assert!((distance - apart.gap).abs() <= 1e-12);
        for left in [1e-5, 1e-7, 0.0, -1e-9] {
            here.translation +=
                apart.normal * (left - both(&here, &mut Memory::starting(apart.normal)).gap);
            let near = apart.normal + vector(&mut seed) * 1e-3;
            for mut memory in [Memory::default(), Memory::starting(near.normalize())] {
                let found = both(&here, &mut memory);
                assert!(
                    (found.gap - left).abs() <= 1e-13,
                    "{k}: {:e} for {left:e}",
                    found.gap
                );
                assert!(
                    (found.normal - apart.normal).norm() <= 1e-6,
                    "{k} at {left:e}"
                );
            }
        }
    }
}

/// Faces that touch share a rectangle, whose corners are found to rounding.
#[test]
fn touching_faces_share_a_rectangle() {
    let mut seed = 11;
    for _ in 0..40 {
        let mut half = || Vector3::from_fn(|_, _| 0.3 + 0.1 * noise(&mut seed));
        let (h1, h2) = (half(), half());
        let boxed = |h: &Vector3<f64>| part(Shape::Cuboid(Cuboid::new((*h).into()).unwrap()));
        let (first, second) = (boxed(&h1), boxed(&h2));
        let turn = So3::exp(&(vector(&mut seed) * 3.0));
        let mut across = vector(&mut seed) * 0.1;
        across.z = h1.z + h2.z;
        let here = Se3::new(turn, turn.rotate(&across));
        let there = Se3::new(turn, Vector3::zeros());
        let (a, b) = (Placed::new(&first, &here), Placed::new(&second, &there));
        let found = closest(&a, &b, &mut Memory::default());
        let mut points = Vec::new();
        touching(&a, &b, &found, 1e-9, &mut |p| {
            points.push(turn.rotate_back(&p.point))
        });
        assert_eq!(points.len(), 4);
        let ends = |k: usize| {
            [
                (across[k] - h1[k]).max(-h2[k]),
                (across[k] + h1[k]).min(h2[k]),
            ]
        };
        for x in ends(0) {
            for y in ends(1) {
                let corner = Vector3::new(x, y, h2.z);
                assert!(points.iter().any(|p| (p - corner).norm() <= 1e-14));
            }
        }
    }
}

/// An edge, or a corner, of one box on or near a face of the other: the gap is the height of its lowest
/// corner above the face, to rounding, without anything remembered, as is that of corners over a face.
#[test]
fn edges_and_corners_on_faces_have_the_normal_of_the_face() {
    let mut seed = 11;
    let shape = |axes: [f64; 3]| part(Shape::Cuboid(Cuboid::new(axes).unwrap()));
    let (first, second) = (shape([0.004, 0.012, 0.024]), shape([0.004, 0.012, 0.024]));
    for k in 0..4000 {
        let there = Se3::new(
            So3::exp(&(vector(&mut seed) * 3.0)),
            vector(&mut seed) * 0.1,
        );
        // The face x = -0.004 of the second.
        let normal = there.rotation.rotate(&-Vector3::x());
        let turn = match k % 2 {
            0 => Vector3::y() * (0.3 + 0.2 * noise(&mut seed)),
            _ => Vector3::new(0.02, 0.5, 0.03) + vector(&mut seed) * 0.01,
        };
        let rotation = there.rotation.compose(&So3::exp(&turn));
        // The lowest corner of the first towards the face, and where it is on it.
        let corner = Vector3::new(0.004, -0.012, 0.024);
        let inside = [0.0, 0.002 * noise(&mut seed)][k / 2 % 2];
        let on_face = Vector3::new(-0.004, -0.012 + inside, 0.01 * noise(&mut seed));
        let lift = [0.0, 1e-17, -1e-17, 1e-15, -1e-15, 1e-12, -1e-12, -1e-9][k / 4 % 8];
        let place = there.translation + there.rotation.rotate(&on_face) + normal * lift
            - rotation.rotate(&corner);
        let here = Se3::new(rotation, place);
        let (a, b) = (Placed::new(&first, &here), Placed::new(&second, &there));
        let lowest = first.support_value(&here.rotation.rotate_back(&normal));
        let expected = normal.dot(&(here.translation - there.translation)) + lowest - 0.004;
        let found = closest(&a, &b, &mut Memory::default());
        // At the rim the normals of its edges compete, whose gaps are off by fractions of the depth.
        let rim = if inside == 0.0 && k % 2 == 1 {
            0.1 * lift.abs()
        } else {
            0.0
        };
        let off = found.gap - expected;
        assert!(off >= -1e-16 - rim, "{k}: {} {expected}", found.gap);
        if k % 2 == 0 && inside == 0.0 {
            assert!(
                (found.gap - expected).abs() <= 1e-16,
                "{k}: {} {expected}",
                found.gap
            );
        }
    }
}

/// Bodies that come nearer along the normal change their gap by as much, down to a touch, whether it is looked for
/// from where it was or from nowhere. Bodies that overlap may have a better normal, with less of an overlap.
#[test]
fn bodies_that_come_nearer_along_the_normal_change_their_gap_by_as_much() {
    for k in 0..2000_u64 {
        let mut seed = k.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for _ in 0..4 {
            noise(&mut seed);
        }
        let mut one = |boxed: bool| {
            let axes = [(); 3].map(|()| 50f64.powf(0.5 * noise(&mut seed) - 0.5));
            part(if boxed {
                Shape::Cuboid(Cuboid::new(axes).unwrap())
            } else {
                Shape::Ellipsoid(Ellipsoid::new(axes, Vector3::zeros()).unwrap())
            })
        };
        let (first, second) = (one(k % 2 == 0), one(k % 4 < 2));
        let mut pose = || Se3::new(So3::exp(&(vector(&mut seed) * 3.0)), Vector3::zeros());
        let (mut here, there) = (pose(), pose());
        here.translation = vector(&mut seed).normalize() * 3.5;
        let b = Placed::new(&second, &there);
        let far = closest(&Placed::new(&first, &here), &b, &mut Memory::default());
        let apart = (far.point_a - far.point_b).norm();
        assert!((apart - far.gap).abs() <= 1e-12, "{k}: {apart} {}", far.gap);
        let mut warm = Memory::starting(far.normal);
        for gap in [1e-2, 1e-4, 1e-7, 1e-9, 1e-12, -1e-12, -1e-9, -1e-7] {
            let mut nearer = here;
            nearer.translation -= far.normal * (far.gap - gap);
            let a = Placed::new(&first, &nearer);
            for memory in [&mut warm, &mut Memory::default()] {
                let found = closest(&a, &b, memory).gap;
                let highest = if gap < 0.0 { 0.0 } else { gap };
                assert!(
                    found >= gap - 1e-13 && found <= highest + 1e-13,
                    "{k}, {gap:e}: {found:e}"
                );
            }
        }
    }
}

/// Capsules and turned ellipsoids against convex shapes: the gap is the widest slab, with and without
/// a start, and the closest points are that far apart.
#[test]
fn gaps_of_capsules_and_turned_ellipsoids_are_widest_slabs() {
    let oblique = nalgebra::Unit::new_normalize(Vector3::new(0.2, -0.4, 1.0));
    let capsule = |l: f64, r: f64| {
        let core = Shape::Segment(Segment::new(l, &oblique, Vector3::zeros()).unwrap());
        part(Shape::Rounded(Box::new(Rounded::new(core, r).unwrap())))
    };
    let base = Ellipsoid::new([0.3, 0.7, 1.1], Vector3::zeros()).unwrap();
    let shapes = [
        capsule(0.7, 0.3),
        part(Shape::TurnedEllipsoid(TurnedEllipsoid::new(
            &base,
            &So3::exp(&Vector3::new(0.3, 1.0, -0.7)),
        ))),
        part(Shape::Cuboid(Cuboid::new([0.3, 0.7, 1.1]).unwrap())),
        part(Shape::Ellipsoid(
            Ellipsoid::sphere(0.6, Vector3::zeros()).unwrap(),
        )),
        part(Shape::Ellipsoid(base)),
    ];
    let mut seed = 5;
    for k in 0..1000 {
        let (first, second) = (&shapes[k % 2], &shapes[k / 2 % 5]);
        let pose = |at: Vector3<f64>, seed: &mut u64| {
            // Every fourth pair has axes that meet at right angles.
            let turn = match k % 4 {
                0 => So3::exp(&(Vector3::ith(k / 4 % 3, 1.0) * std::f64::consts::FRAC_PI_2)),
                _ => So3::exp(&(vector(seed) * 3.0)),
            };
            Se3::new(turn, at)
        };
        let away = vector(&mut seed).normalize() * (1.9 + 0.5 * noise(&mut seed));
        let (here, there) = (pose(away, &mut seed), pose(Vector3::zeros(), &mut seed));
        let (a, b) = (Placed::new(first, &here), Placed::new(second, &there));
        let found = closest(&a, &b, &mut Memory::default());
        let off = closest(&a, &b, &mut Memory::starting(vector(&mut seed).normalize()));
        let g = |n: &Vector3<f64>| {
            n.dot(&(here.translation - there.translation))
                + first.support_value(&here.rotation.rotate_back(n))
                + second.support_value(&there.rotation.rotate_back(&-n))
        };
        assert!((g(&found.normal) - found.gap).abs() <= 1e-14, "{k}");
        if found.gap <= 0.0 {
            continue;
        }
        assert!(
            (found.gap - off.gap).abs() <= 1e-12,
            "{k}: {} {}",
            found.gap,
            off.gap
        );
        let apart = (found.point_a - found.point_b).norm();
        assert!(
            (apart - found.gap).abs() <= 1e-11,
            "{k}: {apart} {}",
            found.gap
        );
        for scale in [1.0, 0.1, 1e-2, 1e-3, 1e-4] {
            for _ in 0..20 {
                let near = (found.normal + vector(&mut seed) * scale).normalize();
                assert!(g(&near) <= found.gap + 1e-13, "{k}: {scale}");
            }
        }
    }
}
