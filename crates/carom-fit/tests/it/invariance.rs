//! Changes of the data that must not change a fit.

use crate::common::{FRICTION, RESTITUTION, cases, cube, plain_fit, sample};
use carom_fit::nalgebra::Vector3;
use carom_fit::{Body, LawFit, Poses, Setup};
use carom_lie::So3;

fn fit(poses: &[Poses], setup: &Setup) -> LawFit {
    plain_fit(&cases(poses, setup), "moreau-newton", 0)
}

fn assert_alike(a: &LawFit, b: &LawFit, tolerance: f64) {
    let close = |x: f64, y: f64| (x - y).abs() <= tolerance;
    assert_eq!(a.score.misfits.len(), b.score.misfits.len());
    assert!(
        [RESTITUTION, FRICTION]
            .iter()
            .all(|p| close(a.parameters.get(p), b.parameters.get(p)))
            && close(a.score.score, b.score.score),
        "{:?} {} against {:?} {}",
        a.parameters,
        a.score.score,
        b.parameters,
        b.score.score
    );
}

/// The world turned and shifted.
fn moved(poses: &[Poses], turn: &So3, shift: &Vector3<f64>) -> Vec<Poses> {
    let mut moved = poses.to_vec();
    for toss in &mut moved {
        for position in &mut toss.position {
            *position = turn.rotate(position) + shift;
        }
        for rotation in &mut toss.rotation {
            *rotation = turn.compose(rotation);
        }
    }
    moved
}

#[test]
fn neither_place_nor_heading_nor_the_order_of_tosses_matters() {
    let (poses, setup) = (sample(), cube());
    let reference = fit(&poses, &setup);
    let turn = So3::exp(&Vector3::new(0.0, 0.0, 0.7));
    let mut turned = moved(&poses, &turn, &Vector3::new(3.0, -2.0, 0.0));
    assert_alike(&reference, &fit(&turned, &setup), 1e-3);
    turned.reverse();
    assert_alike(&reference, &fit(&turned, &setup), 1e-3);
}

#[test]
fn the_plane_may_be_tilted() {
    let (poses, mut setup) = (sample(), cube());
    let reference = fit(&poses, &setup);
    let turn = So3::exp(&Vector3::new(0.9, -0.4, 0.3));
    let tilted = moved(&poses, &turn, &Vector3::zeros());
    setup.plane.normal = turn.rotate(&setup.plane.normal);
    assert_alike(&reference, &fit(&tilted, &setup), 1e-3);
}

#[test]
fn the_names_of_the_body_axes_do_not_matter() {
    let (poses, setup) = (sample(), cube());
    let mut relabeled = poses.clone();
    let third =
        So3::exp(&(Vector3::new(1.0, 1.0, 1.0).normalize() * (std::f64::consts::TAU / 3.0)));
    for toss in &mut relabeled {
        for rotation in &mut toss.rotation {
            *rotation = rotation.compose(&third);
        }
    }
    assert_alike(&fit(&poses, &setup), &fit(&relabeled, &setup), 1e-3);
}

/// Only the inertia over the mass counts.
#[test]
fn twice_the_mass_with_twice_the_inertia_is_the_same() {
    let (poses, setup) = (sample(), cube());
    let mut heavy = setup.clone();
    let (mass, inertia) = (setup.body.rigid.mass(), setup.body.rigid.inertia());
    heavy.body = Body::new(2.0 * mass, inertia * 2.0, setup.body.vertices.clone()).unwrap();
    assert_alike(&fit(&poses, &setup), &fit(&poses, &heavy), 1e-9);
}
