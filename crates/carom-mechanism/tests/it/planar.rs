//! Planar trees against an independent implementation: sums over point masses, differentiated
//! automatically.

use carom_mechanism::planar::{
    Actuator, Inertia, Line, LineContact, Link, PlanarBuilder, PlanarMechanism, Reference, Spring,
    Variation,
};
use carom_mechanism::{Derivatives, Dynamics, MechanicalSystem, MechanismError, Motion};
use nalgebra::{DMatrix, DVector};
use num_dual::{Dual, DualNum, HyperDual64};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const GRAVITY: [f64; 2] = [0.7, -9.81];

/// One link: numbers in (-1, 1) that say everything about it.
type Numbers = [f64; 20];

/// A link with two point masses and a contact point, over any kind of number.
#[derive(Clone)]
struct Body<D> {
    hinge: bool,
    parent: Option<usize>,
    anchor: [D; 2],
    angle: f64,
    masses: [[D; 3]; 2],
    contact: [D; 2],
}

struct Joint {
    spring: Spring,
    actuator: Actuator,
}

fn describe<D: DualNum<Primitive = f64> + Copy>(links: &[Numbers]) -> Vec<Body<D>> {
    let number = |x: f64| D::from(x);
    links
        .iter()
        .enumerate()
        .map(|(i, x)| Body {
            hinge: x[0] > -0.3,
            // The ground, or any earlier link; mostly the one before.
            parent: match (i, x[1]) {
                (0, _) => None,
                (_, t) if t < -0.8 => None,
                (_, t) if t < -0.2 => Some(i / 2),
                _ => Some(i - 1),
            }
            .filter(|&p| p < i),
            anchor: [number(x[2]), number(x[3])],
            angle: x[4],
            masses: [
                [number(1.1 + x[5]), number(x[6]), number(x[7])],
                [number(1.1 + x[8]), number(x[9]), number(x[10])],
            ],
            contact: [number(x[11]), number(x[12])],
        })
        .collect()
}

fn joint(x: &Numbers) -> Joint {
    Joint {
        spring: Spring {
            stiffness: 2.0 + x[13],
            damping: 1.0 + x[14],
            rest: x[15],
        },
        actuator: Actuator {
            proportional: 1.5 + x[16],
            derivative: 1.0 + x[17],
            reference: Reference {
                hold: x[15],
                rate: x[14],
                start: 0.2,
            },
        },
    }
}

fn line() -> Line {
    Line::new([0.3, -0.2], [-3.0, 4.0]).unwrap()
}

const RADIUS: f64 = 0.25;

fn mechanism(links: &[Numbers]) -> PlanarMechanism {
    let bodies = describe::<f64>(links);
    let mut builder = PlanarBuilder::new(GRAVITY);
    let mut handles: Vec<Link> = Vec::new();
    for (i, (body, numbers)) in bodies.iter().zip(links).enumerate() {
        let parent = body.parent.map_or(Link::GROUND, |p| handles[p]);
        let link = if body.hinge {
            builder.hinge(parent, body.anchor, body.angle)
        } else {
            builder.slider(
                parent,
                body.anchor,
                [3.0 * body.angle.cos(), 3.0 * body.angle.sin()],
            )
        };
        for [mass, x, y] in body.masses {
            builder.body(link, Inertia::point(mass, [x, y]));
        }
        let Joint { spring, actuator } = joint(numbers);
        builder.spring(link, spring).actuator(link, actuator);
        builder.contact(
            link,
            LineContact {
                radius: RADIUS,
                ..LineContact::point(format!("point {i}"), body.contact, line())
            },
        );
        handles.push(link);
    }
    builder.build().unwrap()
}

/// World position of a point of a link, and the link's angle.
fn place<D: DualNum<Primitive = f64> + Copy>(
    bodies: &[Body<D>],
    link: usize,
    local: [D; 2],
    q: &[D],
) -> ([D; 2], D) {
    let body = &bodies[link];
    let (local, turned) = if body.hinge {
        let angle = q[link] + body.angle;
        let (sin, cos) = angle.sin_cos();
        let local = [
            cos * local[0] - sin * local[1],
            sin * local[0] + cos * local[1],
        ];
        (local, angle)
    } else {
        let along = [q[link] * body.angle.cos(), q[link] * body.angle.sin()];
        ([local[0] + along[0], local[1] + along[1]], D::from(0.0))
    };
    let at = [local[0] + body.anchor[0], local[1] + body.anchor[1]];
    match body.parent {
        None => (at, turned),
        Some(parent) => {
            let (at, angle) = place(bodies, parent, at, q);
            (at, angle + turned)
        }
    }
}

/// Kinetic energy through numbers whose dual part is the rate.
fn kinetic(bodies: &[Body<Dual<HyperDual64>>], q: &[Dual<HyperDual64>]) -> HyperDual64 {
    let mut sum = HyperDual64::from(0.0);
    for (i, body) in bodies.iter().enumerate() {
        for [mass, x, y] in body.masses {
            let (at, _) = place(bodies, i, [x, y], q);
            sum += mass.re * (at[0].eps * at[0].eps + at[1].eps * at[1].eps) * 0.5;
        }
    }
    sum
}

fn potential(links: &[Numbers], bodies: &[Body<HyperDual64>], q: &[HyperDual64]) -> HyperDual64 {
    let mut sum = HyperDual64::from(0.0);
    for (i, body) in bodies.iter().enumerate() {
        for [mass, x, y] in body.masses {
            let (at, _) = place(bodies, i, [x, y], q);
            sum -= mass * (at[0] * GRAVITY[0] + at[1] * GRAVITY[1]);
        }
        let Spring {
            stiffness, rest, ..
        } = joint(&links[i]).spring;
        sum += (q[i] - rest) * (q[i] - rest) * (0.5 * stiffness);
    }
    sum
}

fn seeded(x: f64, first: bool, second: bool) -> HyperDual64 {
    let unit = |seed: bool| if seed { 1.0 } else { 0.0 };
    HyperDual64::new(x, unit(first), unit(second), 0.0)
}

/// q and v with the first seed at `first` and the second at `second`; indices from n on mean v.
fn motion(
    q: &[f64],
    v: &[f64],
    first: Option<usize>,
    second: Option<usize>,
) -> Vec<Dual<HyperDual64>> {
    let n = q.len();
    (0..n)
        .map(|i| {
            let seed = |x, at| seeded(x, first == Some(at), second == Some(at));
            Dual::new(seed(q[i], i), seed(v[i], n + i))
        })
        .collect()
}

fn lift(bodies: &[Body<HyperDual64>]) -> Vec<Body<Dual<HyperDual64>>> {
    let number = |x: HyperDual64| Dual::new(x, HyperDual64::from(0.0));
    bodies
        .iter()
        .map(|body| Body {
            hinge: body.hinge,
            parent: body.parent,
            anchor: body.anchor.map(number),
            angle: body.angle,
            masses: body.masses.map(|mass| mass.map(number)),
            contact: body.contact.map(number),
        })
        .collect()
}

/// Rounding: sums of up to a hundred terms of the size of the largest entry.
fn close(ours: f64, theirs: f64, scale: f64) -> Result<(), TestCaseError> {
    prop_assert!(
        (ours - theirs).abs() <= 1e-13 * (1.0 + scale),
        "{ours} and {theirs}, scale {scale}"
    );
    Ok(())
}

fn any_tree() -> impl Strategy<Value = Vec<Numbers>> {
    let link = proptest::array::uniform20(-1.0..1.0f64);
    proptest::collection::vec(link, 1..=7)
}

fn state(links: &[Numbers]) -> (Vec<f64>, Vec<f64>) {
    let q = links.iter().map(|x| 3.0 * x[18]).collect();
    let v = links.iter().map(|x| 2.0 * x[19]).collect();
    (q, v)
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(8), ..ProptestConfig::with_cases(150) })]

    #[test]
    fn the_lagrangian_is_that_of_the_point_masses(links in any_tree()) {
        let mechanism = mechanism(&links);
        let (q, v) = state(&links);
        let n = q.len();
        let bodies = describe::<HyperDual64>(&links);
        let lifted = lift(&bodies);
        let mut dynamics = Dynamics::new(n);
        let at = Motion { time: 0.6, configuration: &q, velocity: &v };
        mechanism.dynamics(&at, Derivatives::Second, &mut dynamics);
        let mut mass = DMatrix::zeros(n, n);
        mechanism.mass_matrix(&q, &mut mass);
        prop_assert_eq!(&mass, &dynamics.mass_matrix);

        let energy = kinetic(&lifted, &motion(&q, &v, None, None)).re;
        let scale = 10.0 * energy + dynamics.potential_hessian.amax() + mass.amax();
        let (t, u) = mechanism.energy(&q, &v);
        close(t, energy, scale)?;
        for i in 0..n {
            for j in 0..n {
                let second = |a, b| kinetic(&lifted, &motion(&q, &v, Some(a), Some(b))).eps1eps2;
                close(mass[(i, j)], second(n + i, n + j), scale)?;
                close(dynamics.momentum_derivative[(i, j)], second(n + i, j), scale)?;
                close(dynamics.kinetic_hessian[(i, j)], second(i, j), scale)?;
                let at: Vec<_> = (0..n).map(|k| seeded(q[k], k == i, k == j)).collect();
                let energy = potential(&links, &bodies, &at);
                close(dynamics.potential_hessian[(i, j)], energy.eps1eps2, scale)?;
                close(dynamics.potential_gradient[i], energy.eps1, scale)?;
                close(dynamics.potential, energy.re, scale)?;
                close(u, energy.re, scale)?;
            }
            let gradient = kinetic(&lifted, &motion(&q, &v, Some(i), None)).eps1;
            let half = 0.5 * dynamics.momentum_derivative.tr_mul(&DVector::from_column_slice(&v))[i];
            close(half, gradient, scale)?;
        }
    }

    #[test]
    fn forces_are_those_of_dampers_and_actuators(links in any_tree(), time in 0.0..1.0f64) {
        let mechanism = mechanism(&links);
        let (q, v) = state(&links);
        let mut dynamics = Dynamics::new(q.len());
        let at = Motion { time, configuration: &q, velocity: &v };
        mechanism.dynamics(&at, Derivatives::Second, &mut dynamics);
        for (i, numbers) in links.iter().enumerate() {
            let Joint { spring, actuator } = joint(numbers);
            let Reference { hold, rate, start } = actuator.reference;
            let (value, rate) = if time > start { (hold + rate * (time - start), rate) } else { (hold, 0.0) };
            let force = -spring.damping * v[i]
                - actuator.proportional * (q[i] - value)
                - actuator.derivative * (v[i] - rate);
            close(dynamics.force[i], force, 20.0)?;
            close(dynamics.force_by_configuration[(i, i)], -actuator.proportional, 1.0)?;
            close(dynamics.force_by_velocity[(i, i)], -spring.damping - actuator.derivative, 1.0)?;
        }
    }

    #[test]
    fn gaps_and_slides_are_those_of_the_points(links in any_tree()) {
        let mechanism = mechanism(&links);
        let (q, _) = state(&links);
        let n = q.len();
        let bodies = describe::<HyperDual64>(&links);
        let (mut gaps, mut gradient, mut slide) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        mechanism.gaps(&q, &mut gaps);
        let mut hessian = DMatrix::zeros(n, n);
        for contact in 0..n {
            mechanism.gap_gradient(contact, &q, &mut gradient);
            mechanism.slide_gradient(contact, &q, &mut slide);
            mechanism.gap_hessian(contact, &q, &mut hessian);
            for i in 0..n {
                for j in 0..n {
                    let at: Vec<_> = (0..n).map(|k| seeded(q[k], k == i, k == j)).collect();
                    let (x, angle) = place(&bodies, contact, bodies[contact].contact, &at);
                    let gap = (x[0] - 0.3) * -0.6 + (x[1] + 0.2) * 0.8 - RADIUS;
                    let along = (x[0] - 0.3) * 0.8 + (x[1] + 0.2) * 0.6 + angle * RADIUS;
                    close(gaps[contact], gap.re, 10.0)?;
                    close(mechanism.gap(contact, &q), gap.re, 10.0)?;
                    close(mechanism.slide(contact, &q), along.re, 10.0)?;
                    close(gradient[i], gap.eps1, 10.0)?;
                    close(slide[i], along.eps1, 10.0)?;
                    close(hessian[(i, j)], gap.eps1eps2, 10.0)?;
                }
            }
        }
    }

    /// Lengths, masses and their places as design parameters.
    #[test]
    fn the_design_changes_inertia_and_gaps_as_it_should(links in any_tree(), which in 0usize..7) {
        let mechanism = mechanism(&links);
        let (q, v) = state(&links);
        let n = q.len();
        let other: Vec<f64> = links.iter().map(|x| x[17]).collect();
        let link = which % n;
        let handle = handle(&links, link);
        let [mass, x, y] = describe::<f64>(&links)[link].masses[0];
        let step = |variation: usize| {
            let none = Variation::none(&mechanism);
            match variation {
                0 => none.anchor(handle, [1.0, 0.0]),
                1 => none.anchor(handle, [0.0, 1.0]),
                2 => none.contact_point(link, [0.6, -0.8]),
                3 => none.inertia(handle, Inertia::point(1.0, [x, y])),
                _ => none.inertia(handle, Inertia {
                    mass: 0.0,
                    first_moment: [mass, 0.0].into(),
                    second_moment: 2.0 * mass * x,
                }),
            }
        };
        for variation in 0..5 {
            let mut bodies = describe::<HyperDual64>(&links);
            let unit = HyperDual64::new(0.0, 1.0, 0.0, 0.0);
            let body = &mut bodies[link];
            match variation {
                0 => body.anchor[0] += unit,
                1 => body.anchor[1] += unit,
                2 => { body.contact[0] += unit * 0.6; body.contact[1] -= unit * 0.8; }
                3 => body.masses[0][0] += unit,
                _ => body.masses[0][1] += unit,
            }
            let lifted = lift(&bodies);
            let ours = step(variation);
            // The form of two velocities by polarization.
            let energy = |sign: f64| {
                let sum: Vec<f64> = v.iter().zip(&other).map(|(a, b)| a + sign * b).collect();
                kinetic(&lifted, &motion(&q, &sum, None, None)).eps1
            };
            let form = 0.5 * (energy(1.0) - energy(-1.0));
            close(mechanism.mass_variation(&q, &v, &other, &ours), form, 100.0)?;
            for contact in 0..n {
                let at = motion(&q, &v, None, None);
                let (x, _) = place(&lifted, contact, lifted[contact].contact, &at);
                let gap = x[0] * -0.6 + x[1] * 0.8;
                let (change, rate) = mechanism.gap_variation(contact, &q, &v, &ours);
                close(change, gap.re.eps1, 10.0)?;
                close(rate, gap.eps.eps1, 30.0)?;
            }
        }
    }
}

/// The handle of a link, which only a builder gives.
fn handle(links: &[Numbers], link: usize) -> Link {
    let mut builder = PlanarBuilder::new(GRAVITY);
    let handles: Vec<Link> = links
        .iter()
        .map(|_| builder.hinge(Link::GROUND, [0.0, 0.0], 0.0))
        .collect();
    handles[link]
}

/// Two uniform rods, absolute angles a and a + b from straight down: the textbook's Lagrangian.
#[test]
fn a_double_pendulum_has_the_textbook_mass_matrix() {
    let (l1, l2, m1, m2) = (1.1, 0.7, 2.0, 3.0);
    let mut builder = PlanarBuilder::new([0.0, -9.81]);
    let upper = builder.hinge(Link::GROUND, [0.0, 0.0], -std::f64::consts::FRAC_PI_2);
    builder.body(upper, Inertia::rod(m1, [0.0, 0.0], [l1, 0.0]));
    let lower = builder.hinge(upper, [l1, 0.0], 0.0);
    builder.body(lower, Inertia::rod(m2, [0.0, 0.0], [l2, 0.0]));
    let mechanism = builder.build().unwrap();
    let (a, b): (f64, f64) = (0.4, -1.3);
    let mut mass = DMatrix::zeros(2, 2);
    mechanism.mass_matrix(&[a, b], &mut mass);
    let m22 = m2 * l2 * l2 / 3.0;
    let m12 = m22 + 0.5 * m2 * l1 * l2 * b.cos();
    let m11 = m1 * l1 * l1 / 3.0 + m2 * l1 * l1 + m22 + m2 * l1 * l2 * b.cos();
    assert!((mass - nalgebra::dmatrix![m11, m12; m12, m22]).amax() < 1e-14);
    let height = -0.5 * m1 * l1 * a.cos() - m2 * (l1 * a.cos() + 0.5 * l2 * (a + b).cos());
    let (_, potential) = mechanism.energy(&[a, b], &[0.0, 0.0]);
    assert!((potential - 9.81 * height).abs() < 1e-14);
    let tip = mechanism.point(lower, [l2, 0.0], &[a, b]).unwrap();
    assert!((tip[0] - (l1 * a.sin() + l2 * (a + b).sin())).abs() < 1e-15);
    assert!(
        (mechanism.angle(lower, &[a, b]).unwrap() - (a + b - 0.5 * std::f64::consts::PI)).abs()
            < 1e-15
    );
}

/// A wheel that rolls: the slide does not change.
#[test]
fn a_rolling_wheel_does_not_slide() {
    let mut builder = PlanarBuilder::new([0.0, -9.81]);
    let wheel = builder.floating();
    builder.body(wheel, Inertia::disk(1.0, 0.5, [0.0, 0.0]));
    builder.contact(
        wheel,
        LineContact {
            radius: 0.5,
            ..LineContact::point("rim", [0.0, 0.0], Line::floor())
        },
    );
    let mechanism = builder.build().unwrap();
    let mut slide = [0.0; 3];
    mechanism.slide_gradient(0, &[0.0, 0.5, 0.2], &mut slide);
    // Rolling to the right turns it clockwise.
    let velocity = [0.5, 0.0, -1.0];
    let rate: f64 = slide.iter().zip(velocity).map(|(s, v)| s * v).sum();
    assert!(rate.abs() < 1e-16);
    assert_eq!(mechanism.gap(0, &[0.0, 0.5, 0.2]), 0.0);
}

/// A change of a valid mechanism with one link.
type Change = fn(&mut PlanarBuilder, Link);

fn fault(change: impl FnOnce(&mut PlanarBuilder, Link)) -> MechanismError {
    let mut builder = PlanarBuilder::new([0.0, -1.0]);
    let link = builder.hinge(Link::GROUND, [0.0, 0.0], 0.0);
    builder.body(link, Inertia::point(1.0, [1.0, 0.0]));
    change(&mut builder, link);
    builder.build().unwrap_err()
}

#[test]
fn bad_descriptions_are_refused_with_the_place() {
    assert_eq!(
        PlanarBuilder::new([0.0, -1.0]).build().unwrap_err(),
        MechanismError::Empty
    );
    assert_eq!(
        PlanarBuilder::new([0.0, -1.0]).build().unwrap_err().kind(),
        "empty"
    );
    let text = |change: Change| fault(change).to_string();
    let cases: [(Change, &str); 9] = [
        (
            |b, _| {
                b.slider(Link::GROUND, [0.0, 0.0], [0.0, 0.0]);
            },
            "direction of link 1 is NaN: it must be finite",
        ),
        (
            |b, link| {
                b.hinge(link, [0.0, 0.0], 0.0);
            },
            "the coordinate of link 1 moves no inertia",
        ),
        (
            |b, _| {
                b.body(Link::GROUND, Inertia::point(1.0, [0.0, 0.0]));
            },
            "body: the ground is not one of the 1 links",
        ),
        (
            |b, link| {
                b.body(link, Inertia::point(-2.0, [1.0, 0.0]));
            },
            "link 0: no body has mass -1, first moment [-1.0, 0.0] and second moment -1",
        ),
        (
            |b, link| {
                b.spring(
                    link,
                    Spring {
                        stiffness: -1.0,
                        damping: 0.0,
                        rest: 0.0,
                    },
                );
            },
            "stiffness of link 0 is -1: it must be at least 0 and finite",
        ),
        (
            |b, link| {
                let reference = Reference {
                    rate: f64::INFINITY,
                    ..Reference::fixed(0.0)
                };
                b.actuator(
                    link,
                    Actuator {
                        proportional: 1.0,
                        derivative: 0.0,
                        reference,
                    },
                );
            },
            "rate of the reference of link 0 is inf: it must be finite",
        ),
        (
            |b, link| {
                let contact = LineContact::point("toe", [0.0, 0.0], Line::floor());
                b.contact(
                    link,
                    LineContact {
                        restitution: 1.5,
                        ..contact
                    },
                );
            },
            "restitution of contact `toe` is 1.5: it must be between 0 and 1",
        ),
        (
            |b, link| {
                let contact = LineContact::point("toe", [f64::NAN, 0.0], Line::floor());
                b.contact(link, contact);
            },
            "contact point of contact `toe` is NaN: it must be finite",
        ),
        (
            |b, _| {
                let mut other = PlanarBuilder::new([0.0, 0.0]);
                other.floating();
                let foreign = other.floating();
                b.hinge(foreign, [0.0, 0.0], 0.0);
            },
            "parent: link 5 is not one of the 1 links",
        ),
    ];
    for (change, message) in cases {
        assert_eq!(text(change), message);
    }
    assert!(Line::new([0.0, 0.0], [0.0, 0.0]).is_err());
    assert!(Line::new([0.0, f64::NAN], [0.0, 1.0]).is_err());
}
