use super::*;

/// Returns an animation of a disk that bounces on a floor, with an arrow attached.
fn drop() -> Animation {
    let times = Animation::frames(0.0, 1.0, 4, &[0.6]);
    let poses = times.iter().map(|t: &f64| [0.1, (t - 0.6).abs(), 0.25 * t]);
    let body = PlaneBody::new(vec![Outline::disk([0.0, 0.0], 0.1, Color::Blue)], poses);
    let arrow = MovingArrow::new(Color::Green, times.iter().map(|t| [*t, 0.0, 0.1, 0.0]));
    Animation::plane("drop", "Drop", "", times, vec![0.6])
        .fixed(Outline::line([[-1.0, 0.0], [1.0, 0.0]], Color::Gray))
        .body(body.trail().label("ball"))
        .arrow(arrow)
}

/// Returns an animation of a cube that turns about the vertical.
fn turn() -> Animation {
    let solids = vec![Solid::Mesh {
        vertices: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        triangles: vec![[0, 1, 2]],
    }];
    let times = Animation::frames(0.0, 4.0, 8, &[]);
    let poses = times.iter().map(|t| {
        let (sin, cos) = t.sin_cos();
        // A rotation by 2 t, with the other sign in every second frame.
        let sign = if (t * 2.0) % 2.0 == 0.0 { 1.0 } else { -1.0 };
        ([*t, 0.0, 1.0], [0.0, 0.0, sign * sin, sign * cos])
    });
    let body = SpaceBody::new(solids, Color::Blue, poses);
    let ground = ([0.0, 0.0, 1.0], 0.0);
    Animation::space("turn", "Turn", "", (times, vec![]), ground, vec![body])
}

/// Returns the list of bodies of a plane scene, for changes by a test.
fn bodies(animation: &mut Animation) -> &mut Vec<PlaneBody> {
    match &mut animation.scene {
        Scene::Plane { bodies, .. } => bodies,
        Scene::Space { .. } => unreachable!("a drop is plane"),
    }
}

#[test]
fn an_impact_is_a_frame_of_its_own() {
    assert_eq!(
        Animation::frames(0.0, 1.0, 4, &[0.6, 1.0, 2.0, 0.25]),
        [0.0, 0.25, 0.5, 0.6, 0.75, 1.0]
    );
    assert_eq!(drop().problem(), None);
    assert_eq!(turn().problem(), None);

    let mut beside = drop();
    beside.impacts = vec![0.61];
    assert_eq!(
        beside.problem().as_deref(),
        Some("no frame at the impact at 0.61")
    );
}

#[test]
fn there_are_never_more_frames_than_allowed() {
    let instants: Vec<f64> = (1..5000).map(|k| f64::from(k) / 5000.5).collect();
    assert_eq!(
        Animation::frames(0.0, 1.0, 400, &instants).len(),
        MOST_FRAMES
    );
    assert_eq!(Animation::frames(0.0, 1.0, 9000, &[]).len(), MOST_FRAMES);
    assert_eq!(Animation::frames(2.0, 2.0, 10, &[]), [2.0]);
}

#[test]
fn what_cannot_be_played_is_named() {
    let of = |change: &dyn Fn(&mut Animation)| {
        let mut animation = drop();
        change(&mut animation);
        animation.problem().unwrap_or_default()
    };
    assert_eq!(of(&|a| a.times.clear()), "0 frames; 1 to 600 are possible");
    assert_eq!(
        of(&|a| bodies(a).iter_mut().for_each(|b| b.x.truncate(2))),
        "2 of x for 6 frames"
    );
    assert_eq!(of(&|a| a.times.reverse()), "times decrease");
    assert_eq!(
        of(&|a| bodies(a).iter_mut().for_each(|b| b.y.fill(f64::NAN))),
        "a number of y is not finite"
    );
    let outline = |outline: Outline| of(&move |a| *a = a.clone().fixed(outline.clone()));
    assert_eq!(
        outline(Outline::disk([0.0; 2], -1.0, Color::Black)),
        "disk of radius -1"
    );
    assert_eq!(
        outline(Outline::line([[0.0, f64::INFINITY]], Color::Black)),
        "a number of shapes is not finite"
    );
    let mut mesh = turn();
    if let Scene::Space { bodies, .. } = &mut mesh.scene {
        for solid in bodies.iter_mut().flat_map(|b| &mut b.solids) {
            if let Solid::Mesh { triangles, .. } = solid {
                triangles.push([0, 1, 3]);
            }
        }
    }
    assert_eq!(
        mesh.problem().as_deref(),
        Some("triangle [0, 1, 3] of 3 vertices")
    );
}

#[test]
fn a_quaternion_keeps_its_sign_from_frame_to_frame() {
    let Scene::Space { bodies, .. } = turn().scene else {
        unreachable!("a turn is spatial")
    };
    let [_, _, z, w] = &bodies[0].rotation;
    for k in 1..z.len() {
        assert!(z[k - 1] * z[k] + w[k - 1] * w[k] > 0.8, "frame {k}");
    }
}

/// Checks that rounding moves points by less than a thousandth of a pixel on a picture of a hundred pixels, and that times
/// which belong together stay equal.
#[test]
fn rounding_moves_nothing_that_can_be_seen() {
    let exact = {
        let mut a = drop();
        a.times.iter_mut().for_each(|t| *t /= 3.0);
        a.impacts.iter_mut().for_each(|t| *t /= 3.0);
        bodies(&mut a)[0].x.iter_mut().for_each(|x| *x /= 7.0);
        a
    };
    let mut short = exact.clone();
    short.round();
    assert_eq!(short.problem(), None);
    assert!((short.impacts[0] - 0.2).abs() <= 1e-7);
    let (mut exact, mut rounded) = (exact, short);
    let (a, b) = (&bodies(&mut exact)[0], &bodies(&mut rounded)[0]);
    for (a, b) in a.x.iter().chain(&a.y).zip(b.x.iter().chain(&b.y)) {
        // The picture is 2 m wide.
        assert!((a - b).abs() <= 0.5 * 2e-5, "{a} became {b}");
    }
    assert_eq!(b.x[0], 0.01429, "1/70 in the fewest digits");

    let again = {
        let mut again = rounded.clone();
        again.round();
        again
    };
    assert_eq!(again, rounded);
}

#[test]
fn rounding_serves_every_size() {
    for (value, decimals, expected) in [
        (1234.567, 1, 1234.6),
        (1234.567, -2, 1200.0),
        (-0.04, 1, 0.0),
        (f64::MAX, 300, f64::MAX),
    ] {
        let found = rounded(value, decimals);
        assert_eq!(found.to_bits(), f64::to_bits(expected), "{value}");
    }
    assert_eq!(decimals(2.0, 1e-5), 5);
    assert_eq!(decimals(0.0, 1e-5), ANGLE_DECIMALS);
    assert_eq!(decimals(3e6, 1e-5), -1);
}

#[test]
fn json_round_trip_is_exact() -> Result<(), serde_json::Error> {
    for animation in [drop(), turn()] {
        let text = serde_json::to_string(&animation)?;
        assert_eq!(serde_json::from_str::<Animation>(&text)?, animation);
    }
    Ok(())
}

/// Checks that a fixed body may have one pose for all frames, and that a moving body must have one pose per frame.
#[test]
fn a_fixed_body_needs_one_pose() {
    let still = |fixed: bool| {
        let mut animation = turn();
        if let Scene::Space { bodies, .. } = &mut animation.scene {
            let solids = bodies[0].solids.clone();
            let pose = [0.0, 0.0, 0.0, 1.0];
            let body = SpaceBody::fixed(solids, Color::Gray, [0.0; 3], pose).label("post");
            bodies.push(SpaceBody { fixed, ..body });
        }
        animation
    };
    assert_eq!(still(true).problem(), None);
    assert!(
        still(false)
            .problem()
            .is_some_and(|p| p.contains("position"))
    );
    let text = serde_json::to_string(&still(true)).unwrap();
    assert_eq!(
        serde_json::from_str::<Animation>(&text).unwrap(),
        still(true)
    );
}

/// Checks that an impulse must have the time of an impact, before and after rounding, and that rounding keeps four digits.
#[test]
fn an_impulse_stands_at_an_impact() {
    let impulse = |time| PointImpulse {
        time,
        point: [0.123_456_789, 0.0, 0.0],
        impulse: [0.0, 1.234_567e-5, 0.0],
    };
    let mut hit = drop().impulses(vec![impulse(0.6)]);
    hit.times.iter_mut().for_each(|t| *t /= 3.0);
    hit.impacts[0] /= 3.0;
    hit.impulses[0].time /= 3.0;
    assert_eq!(hit.problem(), None);
    hit.round();
    assert_eq!(hit.problem(), None);
    assert!((hit.impulses[0].impulse[1] - 1.235e-5).abs() <= 1e-20);
    let beside = drop().impulses(vec![impulse(0.7)]);
    assert_eq!(
        beside.problem().as_deref(),
        Some("no impact at the impulse at 0.7")
    );
    let infinite = drop().impulses(vec![PointImpulse {
        impulse: [f64::NAN, 0.0, 0.0],
        ..impulse(0.6)
    }]);
    assert_eq!(infinite.non_finite().as_deref(), Some("impulses"));
}

/// Checks that a file without walls, names and impulses can be read, and that empty fields are not written.
#[test]
fn what_is_not_there_is_not_written() {
    let text = serde_json::to_string(&turn()).unwrap();
    for key in ["walls", "ground", "fixed", "impulses", "label"] {
        assert!(!text.contains(key), "{key}");
    }
    let open = serde_json::to_string(&turn().without_ground()).unwrap();
    assert!(open.contains("\"ground\":false"));
    let wall = |normal| Wall {
        label: "left".to_owned(),
        normal,
        offset: 1.0,
    };
    assert_eq!(turn().wall(wall([1.0, 0.0, 0.0])).problem(), None);
    let flat = turn().wall(wall([0.0; 3]));
    assert_eq!(
        flat.problem().as_deref(),
        Some("the normal of wall `left` is zero")
    );
}
