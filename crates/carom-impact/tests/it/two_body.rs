//! The planar impact against Routh's graphical construction, and the laws as laws.

use carom_contact::{
    Contact, ContactSet, Diagnostics, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem,
    ImpactStatus,
};
use carom_impact::two_body::{
    BodyPair, ContactResponse, FinalMode, ImpactOptions, RestitutionLaw, RigidBody, solve_impact,
};
use carom_impact::{ContactMode, Law, Routh, TwoBody};
use carom_metric::{Covector, KineticMetric, Tangent};
use carom_numeric::random::CounterRng;
use nalgebra::{DMatrix, DVector, Matrix3, Vector3};

/// A planar rod of mass 1 and half length 1 (inertia 1/3) at an angle, hitting with its end.
fn rod(angle: f64, friction: f64, restitution: f64) -> (KineticMetric, Contact) {
    let metric = KineticMetric::new(DMatrix::from_diagonal(&DVector::from_vec(vec![
        1.0,
        1.0,
        1.0 / 3.0,
    ])));
    // From the center to the end.
    let (x, y) = (-angle.cos(), -angle.sin());
    let contact = Contact::new(Covector::from_slice(&[0.0, 1.0, x]))
        .with_tangents(vec![Covector::from_slice(&[1.0, 0.0, -y])])
        .with_friction(friction)
        .with_restitution(restitution);
    (metric.unwrap(), contact)
}

fn resolve(
    metric: &KineticMetric,
    contact: Contact,
    velocity: &[f64],
    law: &dyn ImpactLaw,
) -> Result<ImpactOutcome, ImpactError> {
    let contacts = ContactSet::new(metric, vec![contact])?;
    law.resolve(&ImpactProblem::new(
        &contacts,
        Tangent::from_slice(velocity),
    )?)
}

/// Routh's construction for Poisson's law: the impulse point goes along the line of limiting
/// friction, then along that of sticking or of reversed limiting friction, to (1 + e) times the normal
/// impulse at the line of greatest compression. $b = J_tM^{-1}J_t^T$, $c$ the coupling, $a$ normal.
fn routh(b: f64, c: f64, a: f64, s0: f64, v0: f64, mu: f64, e: f64) -> (f64, f64) {
    let sign = s0.signum();
    // Slip s = s0 + b T + c N, closing v = v0 + c T + a N, at first T = -mu sign N.
    let (first_s, first_v) = (c - mu * sign * b, a - mu * sign * c);
    let stops = if first_s * sign < 0.0 {
        -s0 / first_s
    } else {
        f64::INFINITY
    };
    // Afterwards T grows at the rate of sticking, or of friction against the new slip.
    let rate = if (c / b).abs() <= mu {
        -c / b
    } else {
        -mu * c.signum()
    };
    let first_ends = if first_v > 0.0 {
        -v0 / first_v
    } else {
        f64::INFINITY
    };
    let compression = if first_ends <= stops {
        first_ends
    } else {
        let v = v0 + first_v * stops;
        stops - v / (a + c * rate)
    };
    let end = (1.0 + e) * compression;
    let tangential = -mu * sign * end.min(stops) + rate * (end - stops).max(0.0);
    (tangential, end)
}

#[test]
fn planar_impacts_follow_rouths_construction_in_all_their_modes() {
    let mut stream = Stream(CounterRng::new(7, 0, 0));
    let mut seen = std::collections::BTreeMap::new();
    for number in 0..3000 {
        let (angle, mu) = (stream.uniform(0.2, 2.9), stream.uniform(0.02, 1.5));
        let e = stream.uniform(0.0, 1.0);
        let (metric, contact) = rod(angle, mu, e);
        let v = stream.vector();
        let g = ContactSet::new(&metric, vec![contact.clone()])
            .unwrap()
            .delassus();
        let at = |row: &Covector| row.0.dot(&DVector::from_column_slice(v.as_slice()));
        let (closing, slip) = (at(&contact.normal), at(&contact.tangents[0]));
        if closing >= -1e-3 {
            continue;
        }
        let law = Routh::default()
            .with_options(ImpactOptions::default().with_restitution_law(RestitutionLaw::Poisson));
        let (b, c, a) = (g[(1, 1)], g[(0, 1)], g[(0, 0)]);
        let outcome = resolve(&metric, contact, v.as_slice(), &law).unwrap();
        let Diagnostics::Frictional(found) = &outcome.diagnostics else {
            panic!("{number}");
        };
        let impact = found.impact.unwrap();
        if impact.recompressed {
            continue;
        }
        let (tangential, normal) = routh(b, c, a, slip, closing, mu, e);
        let gap = (outcome.impulses[0] - normal).abs() + (outcome.impulses[1] - tangential).abs();
        assert!(gap <= 1e-12 * normal, "{number}: {gap:e}");
        assert_eq!(impact.steps, 0, "{number}: planar impacts are closed forms");
        assert_eq!(outcome.impulses.len(), 2);
        *seen.entry(ContactMode::of(&impact).name()).or_insert(0) += 1;
    }
    for mode in [
        "sliding",
        "c-sticking",
        "r-sticking",
        "c-reversed-sliding",
        "r-reversed-sliding",
    ] {
        assert!(seen.get(mode).is_some_and(|&n| n >= 5), "{mode}: {seen:?}");
    }
}

#[test]
fn a_rod_at_rest_tangentially_sticks_or_slides_from_the_start() {
    for (mu, mode) in [(1.0, ContactMode::Sticking), (0.1, ContactMode::Sliding)] {
        let (metric, contact) = rod(0.7, mu, 0.5);
        let outcome = resolve(&metric, contact, &[0.0, -1.0, 0.0], &Routh::default()).unwrap();
        let Diagnostics::Frictional(found) = &outcome.diagnostics else {
            panic!("{mu}");
        };
        assert_eq!(ContactMode::of(&found.impact.unwrap()), mode);
        assert!(outcome.audit.friction_residual <= 1e-15);
    }
}

#[test]
fn a_contact_without_tangents_rebounds_at_e() {
    let metric = KineticMetric::new(DMatrix::from_diagonal_element(2, 2, 2.0)).unwrap();
    let mut floor = Contact::frictionless(Covector::from_slice(&[0.0, 3.0]));
    floor.restitution = 0.5;
    let mut rough = floor.clone();
    rough.friction = 0.7;
    let error = resolve(&metric, rough, &[1.0, -2.0], &Routh::default()).unwrap_err();
    assert_eq!(error.kind(), "missing-tangents");
    let outcome = resolve(&metric, floor, &[1.0, -2.0], &Routh::default()).unwrap();
    let gap = (outcome.velocity_plus.0 - DVector::from_vec(vec![1.0, 1.0])).amax();
    assert!(gap <= 1e-15 * 4.0, "{gap:e}");
}

#[test]
fn rows_of_any_length_mean_the_same_impulse_on_the_body() {
    let (metric, contact) = rod(0.7, 0.4, 0.6);
    let outcome = resolve(
        &metric,
        contact.clone(),
        &[0.3, -1.0, 0.2],
        &Routh::default(),
    )
    .unwrap();
    assert!(outcome.audit.momentum_residual <= 1e-15);
    assert!(outcome.audit.energy_change_j() < 0.0);
    let mut scaled = contact;
    scaled.normal.0 *= 4.0;
    scaled.tangents[0].0 *= 4.0;
    let same = resolve(&metric, scaled, &[0.3, -1.0, 0.2], &Routh::default()).unwrap();
    let gap = (same.velocity_plus.0 - outcome.velocity_plus.0).amax();
    assert!(gap <= 1e-15, "{gap:e}");
}

struct Stream(CounterRng);

impl Stream {
    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.next_uniform()
    }

    fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.uniform(-1.0, 1.0))
    }
}

fn body(mass: f64, center: [f64; 3], stream: &mut Stream) -> RigidBody {
    let a = Matrix3::from_fn(|_, _| stream.uniform(-0.3, 0.3));
    RigidBody {
        mass,
        inertia: a * a.transpose() + Matrix3::identity() * 0.05,
        center: center.into(),
        velocity: stream.vector(),
        angular_velocity: stream.vector(),
    }
}

/// Jia & Wang, Eq. (1): the velocities after the impact from its impulse, and what no impact may
/// change.
#[test]
fn two_bodies_exchange_momentum_and_only_their_contact_matters() {
    let mut stream = Stream(CounterRng::new(3, 0, 0));
    let mut impacts = 0;
    for number in 0..200 {
        let first = body(2.0, [0.1, -0.2, 0.4], &mut stream);
        let second = body(0.7, [-0.1, 0.3, -0.5], &mut stream);
        let point = Vector3::new(0.05, 0.0, 0.01);
        let normal = stream.vector() + Vector3::z() * 1.5;
        let pair = BodyPair::new(first, Some(second), point, normal).unwrap();
        let metric = KineticMetric::new(pair.mass_matrix()).unwrap();
        let outcome = resolve(
            &metric,
            Contact::of_bodies(&pair, 0.4, 0.8),
            pair.velocity().0.as_slice(),
            &TwoBody::default(),
        )
        .unwrap();
        let closing = pair.contact_velocity().z;
        assert_eq!(outcome.status == ImpactStatus::Resolved, closing < 0.0);
        if closing >= 0.0 {
            continue;
        }
        impacts += 1;
        assert!(outcome.audit.momentum_residual <= 1e-14, "{number}");
        assert!(outcome.audit.energy_change_j() <= 0.0, "{number}");
        assert!(outcome.audit.friction_residual <= 1e-13, "{number}");
        let v = &outcome.velocity_plus.0;
        let frame = pair.frame();
        let impulse = frame
            * Vector3::new(
                outcome.impulses[1],
                outcome.impulses[2],
                outcome.impulses[0],
            );
        let part = |k: usize| Vector3::new(v[k], v[k + 1], v[k + 2]);
        for (k, sign, body) in [(0, 1.0, first), (6, -1.0, second)] {
            let linear = body.velocity + impulse * (sign / body.mass);
            let moment = (point - body.center).cross(&impulse) * sign;
            let spin = body.angular_velocity + body.inertia.try_inverse().unwrap() * moment;
            let gap = (part(k) - linear).amax() + (part(k + 3) - spin).amax();
            assert!(gap <= 1e-12, "{number}: {gap:e}");
        }
        // Theorem 7: a common velocity changes nothing.
        let mut moved = pair;
        let drift = Vector3::new(3.0, -1.0, 2.0);
        moved.body1.velocity += drift;
        moved.body2.as_mut().unwrap().velocity += drift;
        let same = resolve(
            &metric,
            Contact::of_bodies(&moved, 0.4, 0.8),
            moved.velocity().0.as_slice(),
            &TwoBody::default(),
        )
        .unwrap();
        let gap = (same.impulses - &outcome.impulses).amax();
        assert!(gap <= 1e-11 * outcome.impulses.amax(), "{number}: {gap:e}");
        // Swapping the bodies turns the impulse around.
        let swapped = BodyPair::new(second, Some(first), point, -normal).unwrap();
        let metric = KineticMetric::new(swapped.mass_matrix()).unwrap();
        let other = resolve(
            &metric,
            Contact::of_bodies(&swapped, 0.4, 0.8),
            swapped.velocity().0.as_slice(),
            &TwoBody::default(),
        )
        .unwrap();
        let back =
            swapped.frame() * Vector3::new(other.impulses[1], other.impulses[2], other.impulses[0]);
        let gap = (back + impulse).amax();
        assert!(gap <= 1e-11 * impulse.amax(), "{number}: {gap:e}");
    }
    assert!(impacts > 50);
}

/// The inverse inertia of two bodies is the Delassus matrix of their problem, and central if both
/// centers lie on the normal.
#[test]
fn inverse_inertia_is_the_delassus_matrix() {
    let mut stream = Stream(CounterRng::new(5, 0, 0));
    for number in 0..100 {
        let first = body(2.0, [0.1, -0.2, 0.4], &mut stream);
        let second = body(0.7, [-0.1, 0.3, -0.5], &mut stream);
        let normal = stream.vector();
        let pair = BodyPair::new(first, Some(second), Vector3::zeros(), normal).unwrap();
        let frame = pair.frame();
        let right = (frame.transpose() * frame - Matrix3::identity()).amax();
        assert!(right <= 1e-14 && frame.determinant() > 0.0, "{number}");
        let metric = KineticMetric::new(pair.mass_matrix()).unwrap();
        let set = ContactSet::new(&metric, vec![Contact::of_bodies(&pair, 0.1, 0.1)]).unwrap();
        let (g, w) = (set.delassus(), pair.inertia().unwrap().matrix());
        let place = [1, 2, 0];
        for i in 0..3 {
            for j in 0..3 {
                let gap = (g[(place[i], place[j])] - w[(i, j)]).abs();
                assert!(gap <= 1e-13 * w.amax(), "{number}: {gap:e}");
            }
        }
        // Lemma 1: definite unless the centers and the contact are collinear.
        let rotational = w - Matrix3::identity() * (1.0 / 2.0 + 1.0 / 0.7);
        assert!(rotational.symmetric_eigenvalues().min() > 0.0, "{number}");
    }
    let first = body(2.0, [0.0, 0.0, 0.4], &mut stream);
    let second = body(0.7, [0.0, 0.0, -0.5], &mut stream);
    let pair = BodyPair::new(first, Some(second), Vector3::zeros(), Vector3::z()).unwrap();
    let w = pair.inertia().unwrap();
    assert!(w.coupling().amax() <= 1e-15 * w.matrix().amax());
}

/// A ball of radius 0.5 and mass 2 that falls at 3 m/s with restitution 0.7: the impulse is that of a
/// central impact, cut off by Coulomb's cone; it grips if friction allows.
#[test]
fn a_ball_on_the_ground_grips_or_slides() {
    for (friction, slip, spin, tangential, rolls) in [
        (0.5, 1.0, 0.0, -0.571_428_571_428_571, true),
        (0.05, 1.0, 0.0, -0.51, false),
        (0.2, 1.5, 6.0, 0.857_142_857_142_857, true),
    ] {
        let ball = RigidBody {
            mass: 2.0,
            inertia: Matrix3::identity() * 0.2,
            center: Vector3::new(0.0, 0.0, 0.5),
            velocity: Vector3::new(slip, 0.0, -3.0),
            angular_velocity: Vector3::new(0.0, spin, 0.0),
        };
        let pair = BodyPair::new(ball, None, Vector3::zeros(), Vector3::z()).unwrap();
        let v = pair.contact_velocity();
        let response = solve_impact(
            &pair.inertia().unwrap(),
            &v,
            friction,
            0.7,
            &ImpactOptions::default(),
        );
        let ContactResponse::Impact(found) = response.unwrap() else {
            panic!("{friction}")
        };
        assert!((found.impulse.z - 10.2).abs() <= 1e-14);
        assert!(
            (found.impulse.x - tangential).abs() <= 1e-14,
            "{:?}",
            found.impulse
        );
        assert_eq!(found.mode == FinalMode::Stick, rolls, "{friction}");
    }
}

#[test]
fn what_is_not_an_impact_of_bodies_is_refused() {
    let mut stream = Stream(CounterRng::new(9, 0, 0));
    let good = body(1.0, [0.0, 0.0, 1.0], &mut stream);
    let new = |body: RigidBody, normal| BodyPair::new(body, None, Vector3::zeros(), normal);
    for mass in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = new(RigidBody { mass, ..good }, Vector3::z()).unwrap_err();
        assert_eq!(error.kind(), "invalid-body");
    }
    let mut skew = good;
    skew.inertia[(0, 1)] += 0.1;
    let mut flat = good;
    flat.inertia = Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, 0.0));
    let mut negative = good;
    negative.inertia = -good.inertia;
    for body in [skew, flat, negative] {
        let error = new(body, Vector3::z()).unwrap_err();
        assert!(error.to_string().starts_with("body 1: inertia"), "{error}");
    }
    for normal in [Vector3::zeros(), Vector3::new(f64::NAN, 0.0, 1.0)] {
        assert_eq!(new(good, normal).unwrap_err().kind(), "invalid-normal");
    }
    let metric = KineticMetric::new(DMatrix::identity(2, 2)).unwrap();
    let floor = Contact::frictionless(Covector::from_slice(&[0.0, 1.0]));
    let error = resolve(&metric, floor, &[0.0, -1.0], &TwoBody::default()).unwrap_err();
    assert_eq!(
        error,
        ImpactError::WrongTangents {
            expected: 2,
            found: 0
        }
    );
    let none = ContactSet::new(&metric, vec![]).unwrap();
    let problem = ImpactProblem::new(&none, Tangent::from_slice(&[0.0, -1.0])).unwrap();
    for name in ["routh", "two-body"] {
        let error = Law::named(name).unwrap().resolve(&problem).unwrap_err();
        assert_eq!(error, ImpactError::SingleContactLaw { found: 0 });
    }
}

#[test]
fn what_is_not_an_inverse_inertia_is_refused() {
    use carom_impact::two_body::{ContactInertia, solve_impact};
    let kind = |w: [f64; 9]| {
        ContactInertia::from_matrix(&Matrix3::from_row_slice(&w))
            .map(|_| "")
            .unwrap_or_else(|e| e.kind())
    };
    assert_eq!(kind([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]), "");
    assert_eq!(
        kind([1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0]),
        "not-positive-definite"
    );
    assert_eq!(
        kind([1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0]),
        "not-positive-definite"
    );
    assert_eq!(
        kind([1.0, 0.1, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]),
        "not-symmetric"
    );
    assert_eq!(
        kind([f64::NAN, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]),
        "non-finite"
    );
    let w = ContactInertia::from_matrix(&Matrix3::identity()).unwrap();
    let options = ImpactOptions::default();
    let ask = |v: [f64; 3], mu, e| {
        solve_impact(&w, &v.into(), mu, e, &options)
            .map(|_| "")
            .unwrap_or_else(|e| e.kind())
    };
    assert_eq!(ask([0.0, 0.0, -1.0], 0.5, 0.5), "");
    assert_eq!(ask([0.0, f64::INFINITY, -1.0], 0.5, 0.5), "non-finite");
    for mu in [-0.1, f64::NAN, f64::INFINITY] {
        assert_eq!(ask([0.0, 0.0, -1.0], mu, 0.5), "invalid-friction");
    }
    for e in [-0.1, 1.1, f64::NAN] {
        assert_eq!(ask([0.0, 0.0, -1.0], 0.5, e), "invalid-restitution");
    }
}
