//! The nonholonomic laws against exact arithmetic, closed forms and their theorems.
#![allow(
    clippy::excessive_precision,
    reason = "digits as their source has them"
)]

use carom_contact::{
    Contact, ContactSet, Diagnostics, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem,
    ImpactStatus, NonholonomicDiagnostics,
};
use carom_impact::{Nonholonomic, Plastic, Restitution, Rough};
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::{DMatrix, DVector, dmatrix};

/// An impact at a wall whose function grows outwards with gradient `dh`.
struct Case {
    metric: KineticMetric,
    forms: Vec<Covector>,
    walls: Vec<Covector>,
    velocity: Tangent,
}

impl Case {
    fn new(mass: DMatrix<f64>, forms: &[&[f64]], dh: &[f64], velocity: &[f64]) -> Self {
        Self {
            metric: KineticMetric::new(mass).unwrap(),
            forms: forms.iter().map(|row| Covector::from_slice(row)).collect(),
            walls: vec![Covector(-DVector::from_column_slice(dh))],
            velocity: Tangent::from_slice(velocity),
        }
    }

    fn diagonal(mass: &[f64], forms: &[&[f64]], dh: &[f64], velocity: &[f64]) -> Self {
        let mass = DMatrix::from_diagonal(&DVector::from_column_slice(mass));
        Self::new(mass, forms, dh, velocity)
    }

    fn contacts(&self) -> Result<ContactSet, ImpactError> {
        let contacts = self.walls.iter().cloned().map(Contact::frictionless);
        ContactSet::constrained(&self.metric, contacts.collect(), self.forms.clone())
    }

    fn pose<T>(&self, f: impl FnOnce(&ImpactProblem) -> T) -> Result<T, ImpactError> {
        let contacts = self.contacts()?;
        Ok(f(&ImpactProblem::new(&contacts, self.velocity.clone())?))
    }

    fn resolve(&self, restitution: Restitution) -> Result<ImpactOutcome, ImpactError> {
        let law = Nonholonomic::new(restitution)?;
        self.pose(|problem| law.resolve(problem))?
    }

    fn plus(&self, restitution: Restitution) -> DVector<f64> {
        self.resolve(restitution).unwrap().velocity_plus.0
    }
}

fn diagnostics(outcome: &ImpactOutcome) -> &NonholonomicDiagnostics {
    match &outcome.diagnostics {
        Diagnostics::Nonholonomic(diagnostics) => diagnostics,
        other => panic!("{other:?}"),
    }
}

fn restitution_of(outcome: &ImpactOutcome) -> f64 {
    diagnostics(outcome).effective_restitution.unwrap()
}

fn infeasible(error: ImpactError) -> (f64, ImpactOutcome) {
    match error {
        ImpactError::InfeasibleLaw {
            contacts,
            found: Some(found),
            ..
        } => {
            assert!(!contacts.is_empty());
            (restitution_of(&found), *found)
        }
        other => panic!("{other}"),
    }
}

#[track_caller]
fn near(found: &DVector<f64>, expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance, "{found} is not {expected:?}");
    }
}

#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{found} is not {expected}"
    );
}

/// Three coordinates, one constraint; exact rational arithmetic, rounded.
#[test]
fn three_coordinates_and_one_constraint() {
    let case = Case::new(
        dmatrix![1.437169, 0.343535, -0.06059; 0.343535, 1.459259, -0.415475;
                 -0.06059, -0.415475, 2.053711],
        &[&[0.914447, -0.672354, -0.491549]],
        &[0.823401, 0.942254, 0.903916],
        &[
            0.064629761050986239,
            -0.319901291715670441,
            0.557802791164236112,
        ],
    );
    let elastic = case.resolve(Restitution::Elastic).unwrap();
    near(
        &elastic.velocity_plus.0,
        &[
            -0.160789306708280750,
            -0.499005259947840087,
            0.383430509258492777,
        ],
        1e-14,
    );
    close(elastic.impulses[0], 0.350217819773042350, 1e-14);
    close(
        elastic.constraint_impulses[0],
        -0.0946570532130834769,
        1e-14,
    );
    close(
        diagnostics(&elastic).cos2_beta.unwrap(),
        1.461917649414836349 / 1.565695809623884912,
        1e-14,
    );
    let projected = case.resolve(Restitution::Projected).unwrap();
    near(
        &projected.velocity_plus.0,
        &[
            -0.145847977757726018,
            -0.487133809443198654,
            0.394988331982677422,
        ],
        1e-14,
    );
    close(restitution_of(&projected), 0.867435092345328057, 1e-14);
    close(
        projected.audit.energy_change_j(),
        -0.00554860094796744819,
        1e-14,
    );
    near(
        &case.plus(Restitution::Newton(0.4)),
        &[
            -0.0931635863805006537,
            -0.445274069478189193,
            0.435742193830215778,
        ],
        1e-14,
    );
    near(
        &case.plus(Restitution::Newton(0.0)),
        &[
            -0.0480797728286472559,
            -0.409453275831755264,
            0.470616650211364445,
        ],
        1e-14,
    );
    let (e, _) = infeasible(case.resolve(Restitution::ProjectedNewton(0.0)).unwrap_err());
    close(e, -0.0662824538273359714, 1e-14);
}

/// Four coordinates, two constraints; exact rational arithmetic, rounded.
#[test]
fn four_coordinates_and_two_constraints() {
    let case = Case::new(
        dmatrix![2.333008, 0.516406, 1.257987, -0.146571; 0.516406, 2.115099, 0.965443, 0.457037;
                 1.257987, 0.965443, 2.483836, 0.084669; -0.146571, 0.457037, 0.084669, 1.514479],
        &[
            &[-0.147991, 0.844204, -0.605213, -0.459235],
            &[0.067782, -0.814386, -0.111675, -0.981695],
        ],
        &[0.911784, 0.596404, 0.262281, -0.279678],
        &[
            0.722675954736100141,
            0.471197129642286112,
            0.809143211203297027,
            -0.433039785440558090,
        ],
    );
    let elastic = case.resolve(Restitution::Elastic).unwrap();
    near(
        &elastic.velocity_plus.0,
        &[
            -1.892718564793921336,
            0.158799185804419446,
            0.966914881282390940,
            -0.372413328841025491,
        ],
        1e-13,
    );
    near(
        &elastic.constraint_impulses,
        &[2.512439366616119042, 0.259515323425440726],
        1e-13,
    );
    let projected = case.resolve(Restitution::Projected).unwrap();
    near(
        &projected.velocity_plus.0,
        &[
            -1.068355896752300867,
            0.257265860927366976,
            0.917185835084360463,
            -0.391522563468190318,
        ],
        1e-13,
    );
    close(restitution_of(&projected), 0.369607405776964036, 1e-13);
}

/// The penny in full coordinates $(x, y, \theta, \varphi)$, Clark & Bloch, Eqs. (24), (28)-(29).
fn penny(rim: f64, n: [f64; 2], phi: f64, rates: [f64; 2], inertias: [f64; 2]) -> Case {
    let (m, r) = (0.0025, 0.01);
    let (sin, cos) = f64::sin_cos(phi);
    let [big, small] = rates;
    let side = rim * r * (-n[0] * sin + n[1] * cos);
    Case::diagonal(
        &[m, m, inertias[0], inertias[1]],
        &[&[1.0, 0.0, -r * cos, 0.0], &[0.0, 1.0, -r * sin, 0.0]],
        &[n[0], n[1], 0.0, side],
        &[r * big * cos, r * big * sin, big, small],
    )
}

const THIN: [f64; 2] = [1.25e-7, 6.25e-8];

/// 40-digit arithmetic; the last two coordinates are $(\Omega, \omega)$.
#[test]
fn one_impact_of_the_penny() {
    let rates = |v: DVector<f64>| [v[2], v[3]];
    let check = |found: [f64; 2], expected: [f64; 2]| {
        for (a, b) in found.iter().zip(expected) {
            // Entries of one velocity: relative to the larger.
            close(a / b, 1.0, 1e-13);
        }
    };
    let case = penny(1.0, [0.6, 0.8], 0.7, [10.0, 0.2], THIN);
    let elastic = case.resolve(Restitution::Elastic).unwrap();
    close(elastic.impulses[0] / 5.8544630402642933e-4, 1.0, 1e-13);
    close(
        elastic.constraint_impulses[0] / 6.0429753893706329e-5,
        1.0,
        1e-13,
    );
    close(
        elastic.constraint_impulses[1] / 2.2338755120014576e-4,
        1.0,
        1e-13,
    );
    close(
        diagnostics(&elastic).cos2_beta.unwrap(),
        334.37270614876379 / 481.24724737851655,
        1e-14,
    );
    check(
        rates(elastic.velocity_plus.0),
        [-5.2103549389579904, -20.908209116527806],
    );
    let projected = case.resolve(Restitution::Projected).unwrap();
    close(restitution_of(&projected), 0.38960880491340796, 1e-13);
    check(
        rates(projected.velocity_plus.0),
        [-0.56822157451708266, -14.466076622140254],
    );
    check(
        rates(case.plus(Restitution::Newton(0.5))),
        [-1.4077662042184928, -15.631156837395854],
    );
    let case = penny(-1.0, [1.0, 0.0], 2.5, [-3.0, 4.0], THIN);
    check(
        rates(case.plus(Restitution::Elastic)),
        [-0.24574996745699775, -8.3449171188795702],
    );
    let projected = case.resolve(Restitution::Projected).unwrap();
    close(restitution_of(&projected), 0.52964332933817995, 1e-13);
    check(
        rates(projected.velocity_plus.0),
        [-0.89348990519556579, -5.4416600610634190],
    );
    let case = penny(1.0, [-2.0, 5.0], 1.9, [4.0, -7.0], THIN);
    check(
        rates(case.plus(Restitution::Elastic)),
        [-3.1677408841148386, -9.2082846473512126],
    );
    let projected = case.resolve(Restitution::Projected).unwrap();
    close(restitution_of(&projected), 0.33680304886210585, 1e-13);
}

/// A thin disk gives back between 1/3 (head-on) and 3/5 (side-on); a hoop nothing, head-on; a
/// bobbin, $I = 2mR^2$, would go on into the wall.
#[test]
fn projected_restitution_depends_on_the_inertia() {
    let unit = 0.0025 * 0.01 * 0.01;
    let head_on = |inertias| {
        penny(1.0, [1.0, 0.0], 0.0, [1.0, 0.0], inertias).resolve(Restitution::Projected)
    };
    close(restitution_of(&head_on(THIN).unwrap()), 1.0 / 3.0, 1e-15);
    close(
        restitution_of(&head_on([unit, 6.25e-8]).unwrap()),
        0.0,
        1e-15,
    );
    let (e, found) = infeasible(head_on([2.0 * unit, 6.25e-8]).unwrap_err());
    close(e, -1.0 / 3.0, 1e-15);
    assert!(found.audit.penetration_residual > 0.1);
    let side_on = penny(1.0, [0.0, 1.0], 0.0, [0.0, 1.0], THIN);
    close(
        restitution_of(&side_on.resolve(Restitution::Projected).unwrap()),
        0.6,
        1e-15,
    );
}

/// A blade under an angle to the normal: the elastic law reverses it and keeps the turning, the
/// projected one is admissible up to 45 degrees.
#[test]
fn knife_edge_reverses_or_cannot() {
    for degrees in [0.0f64, 30.0, 44.9, 45.1, 60.0, 89.0] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let case = Case::diagonal(
            &[1.0, 1.0, 0.5],
            &[&[-sin, cos, 0.0]],
            &[1.0, 0.0, 0.0],
            &[cos, sin, 0.3],
        );
        near(&case.plus(Restitution::Elastic), &[-cos, -sin, 0.3], 1e-14);
        let e = 2.0 * cos * cos - 1.0;
        match case.resolve(Restitution::Projected) {
            Ok(outcome) => {
                assert!(degrees < 45.0);
                close(restitution_of(&outcome), e, 1e-14);
            }
            Err(error) => {
                assert!(degrees > 45.0);
                close(infeasible(error).0, e, 1e-14);
            }
        }
    }
}

/// The blade at 60 degrees against a wall that comes towards it at 0.3 m/s.
#[test]
fn a_moving_wall_works_on_the_blade() {
    let (sin, cos) = 60f64.to_radians().sin_cos();
    let case = Case::diagonal(
        &[1.0, 1.0, 0.5],
        &[&[-sin, cos, 0.0]],
        &[1.0, 0.0, 0.0],
        &[cos, sin, 0.2],
    );
    let law = Nonholonomic::new(Restitution::Elastic).unwrap();
    let outcome = case
        .pose(|problem| law.resolve_moving(problem, &[-0.3]))
        .unwrap()
        .unwrap();
    near(
        &outcome.velocity_plus.0,
        &[-1.1, -1.9052558883257646, 0.2],
        1e-13,
    );
    close(outcome.audit.energy_change_j(), 1.92, 1e-13);
    let wrong = case
        .pose(|problem| law.resolve_moving(problem, &[]))
        .unwrap();
    assert!(matches!(wrong, Err(ImpactError::InvalidContact { .. })));
}

/// A ball that rolls into a cushion, in $(v_x, v_y, W_x, W_y, W_z)$, unit mass and radius.
#[test]
fn rolling_ball_at_smooth_and_rough_cushions() {
    let ball = Case::diagonal(
        &[1.0, 1.0, 0.4, 0.4, 0.4],
        &[&[1.0, 0.0, 0.0, -1.0, 0.0], &[0.0, 1.0, 1.0, 0.0, 0.0]],
        &[0.6, 0.8, 0.0, 0.0, 0.0],
        &[1.0, 0.5, -0.5, 1.0, 0.7],
    );
    near(
        &ball.plus(Restitution::Elastic),
        &[-0.2, -1.1, 1.1, -0.2, 0.7],
        1e-14,
    );
    let projected = ball.resolve(Restitution::Projected).unwrap();
    let sevenths = [1.0 / 7.0, -9.0 / 14.0, 9.0 / 14.0, 1.0 / 7.0, 0.7];
    near(&projected.velocity_plus.0, &sevenths, 1e-14);
    close(restitution_of(&projected), 3.0 / 7.0, 1e-14);

    // Rough: slip along the cushion, and the dependent vertical slip $-v_n$ as a third row.
    let contact = Contact::new(Covector::from_slice(&[-0.6, -0.8, 0.0, 0.0, 0.0]))
        .with_tangents(vec![Covector::from_slice(&[-0.8, 0.6, 0.0, 0.0, 1.0])]);
    let expected = [
        -0.12888888888888889,
        -1.1533333333333333,
        1.1533333333333333,
        -0.12888888888888889,
        0.38888888888888889,
    ];
    for dependent in [false, true] {
        let mut contact = contact.clone();
        if dependent {
            let vertical = [-0.6, -0.8, 0.0, 0.0, 0.0];
            contact.tangents.push(Covector::from_slice(&vertical));
        }
        let contacts =
            ContactSet::constrained(&ball.metric, vec![contact], ball.forms.clone()).unwrap();
        let problem = ImpactProblem::new(&contacts, ball.velocity.clone()).unwrap();
        let outcome = Rough::new(1.0).unwrap().resolve(&problem).unwrap();
        near(&outcome.velocity_plus.0, &expected, 1e-14);
        assert!(outcome.audit.momentum_residual < 1e-14);
        assert!(outcome.audit.constraint_residual < 1e-14);
        close(outcome.audit.energy_change_j(), 0.0, 1e-14);
    }
}

/// A no-slip disk, Cox & Feres: $[[-c,-s,0],[-s,c,0],[0,0,-1]]$ on (spin, tangential, normal).
#[test]
fn no_slip_disk_is_the_collision_of_cox_and_feres() {
    for (gamma2, n) in [(0.5f64, [0.6, 0.8]), (0.4, [0.0, 1.0]), (1.0, [-0.8, 0.6])] {
        let gamma = gamma2.sqrt();
        let metric = KineticMetric::new(DMatrix::from_diagonal(&DVector::from_column_slice(&[
            1.0, 1.0, gamma2,
        ])))
        .unwrap();
        let contact = Contact::new(Covector::from_slice(&[-n[0], -n[1], 0.0]))
            .with_tangents(vec![Covector::from_slice(&[-n[1], n[0], 1.0])]);
        let contacts = ContactSet::new(&metric, vec![contact]).unwrap();
        // Spin enters times gamma r; (0.3, -0.8, 1.1) is (v_x, v_y, W).
        let v = [0.3, -0.8, 1.1];
        let sign = if n[0] * v[0] + n[1] * v[1] > 0.0 {
            1.0
        } else {
            -1.0
        };
        let v = v.map(|x| sign * x);
        let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&v)).unwrap();
        let plus = Rough::new(1.0)
            .unwrap()
            .resolve(&problem)
            .unwrap()
            .velocity_plus
            .0;
        let (c, s) = (
            (1.0 - gamma2) / (1.0 + gamma2),
            2.0 * gamma / (1.0 + gamma2),
        );
        let split = |v: &[f64]| {
            (
                gamma * v[2],
                -n[1] * v[0] + n[0] * v[1],
                n[0] * v[0] + n[1] * v[1],
            )
        };
        let (spin, along, normal) = split(&v);
        let (spin_plus, along_plus, normal_plus) = split(plus.as_slice());
        close(spin_plus, -c * spin - s * along, 1e-13);
        close(along_plus, -s * spin + c * along, 1e-13);
        close(normal_plus, -normal, 1e-13);
        if gamma2 == 0.5 {
            let expected = [1.0546666666666667, -0.216, 0.59333333333333333];
            near(&(sign * plus), &expected, 1e-12);
        }
    }
}

/// Snakeboard (m = 6, J = 0.4, J0 = 0.6, J1 = 0.02, wheels at 0.3) hits with its nose.
#[test]
fn snakeboard_hits_with_its_nose() {
    let (m, j, j0, j1, r) = (6.0, 0.4, 0.6, 0.02, 0.3);
    let (theta, phi) = (0.3f64, 0.4f64);
    let mut mass = DMatrix::zeros(5, 5);
    for (i, k, value) in [
        (0, 0, m),
        (1, 1, m),
        (2, 2, j + j0 + 2.0 * j1),
        (2, 3, j0),
        (3, 2, j0),
        (3, 3, j0),
        (4, 4, 2.0 * j1),
    ] {
        mass[(i, k)] = value;
    }
    let wheel = |angle: f64, side: f64| [-angle.sin(), angle.cos(), side * r * phi.cos(), 0.0, 0.0];
    let case = Case::new(
        mass,
        &[&wheel(theta + phi, 1.0), &wheel(theta - phi, -1.0)],
        &[0.8, 0.6, 0.11787500485120217, 0.0, 0.0],
        &[
            0.8545403298002427,
            0.2643403007605777,
            1.260616409995664,
            -0.6606164099956643,
            -0.3,
        ],
    );
    near(
        &case.plus(Restitution::Elastic),
        &[
            -0.8545403298002434,
            -0.2643403007605778,
            -1.2606164099956654,
            1.8606164099956652,
            -0.3,
        ],
        1e-12,
    );
    let projected = case.resolve(Restitution::Projected).unwrap();
    close(restitution_of(&projected), 0.8008230370820966, 1e-12);
    near(
        &projected.velocity_plus.0,
        &[
            -0.6843355822197674,
            -0.21168980247828073,
            -1.0095306620482585,
            1.609530662048258,
            -0.3,
        ],
        1e-12,
    );
}

/// A penny locked across a circular table: both rims at the wall, antiparallel in the admissible
/// velocities. Bouncing never ends; Moreau's projection leaves it gliding.
#[test]
fn a_locked_penny_glides() {
    let (a, r) = (0.2f64, 0.01);
    let y = (a * a - r * r).sqrt();
    let mut case = penny(1.0, [r / a, y / a], 0.0, [5.0, -10.0], THIN);
    let back = penny(-1.0, [-r / a, y / a], 0.0, [5.0, -10.0], THIN);
    case.walls.extend(back.walls);
    for restitution in [Restitution::Elastic, Restitution::Newton(0.5)] {
        let error = case.resolve(restitution).unwrap_err();
        assert!(
            matches!(error, ImpactError::NoElasticOutcome { .. }),
            "{error}"
        );
    }
    let outcome = case
        .pose(|problem| Plastic::default().resolve(problem))
        .unwrap()
        .unwrap();
    close(outcome.velocity_plus.0[2], 5.081315174761746, 1e-12);
    close(outcome.velocity_plus.0[3], -0.2543839376464053, 1e-12);
    let ratio = outcome.audit.energy_plus_j / outcome.audit.energy_minus_j;
    close(ratio, 0.6199331784772659, 1e-12);
}

/// Two walls that meet under a flat angle stop each other from closing: impacts without restitution in turn are
/// projections onto one and the other, and end where both are closed (von Neumann).
#[test]
fn walls_that_stop_each_other_from_closing_close_together() {
    for angle in [0.3f64, 1e-2, 1e-4] {
        let (s, c) = angle.sin_cos();
        let mut case = Case::diagonal(&[1.0, 1.0, 1.0], &[], &[s, c, 0.0], &[1.0, 0.3, 0.7]);
        case.walls.push(Covector::from_slice(&[-s, c, 0.0]));
        let outcome = case.resolve(Restitution::Newton(0.0)).unwrap();
        near(&outcome.velocity_plus.0, &[0.0, 0.0, 0.7], 1e-9);
        assert!(diagnostics(&outcome).sequence.len() <= 1001, "{angle}");
        assert!(outcome.impulses.min() > 0.0);
    }
}

/// Two contacts that approach equally fast, in coordinates in which rounding makes one or the other faster: the first in the
/// list is struck first.
#[test]
fn of_two_equally_fast_contacts_the_first_is_struck() {
    for k in 0..64 {
        let (s, c) = (0.1 * f64::from(k)).sin_cos();
        let turned = |x: f64, y: f64| [c * x - s * y, s * x + c * y];
        let outward = turned(1.0, -2.0);
        let mut case = Case::diagonal(&[2.0, 2.0], &[], &outward, &turned(2.0, -2.0));
        case.walls.push(Covector::from_slice(&turned(-2.0, 1.0)));
        let outcome = case.resolve(Restitution::Elastic).unwrap();
        assert_eq!(diagnostics(&outcome).sequence[0], 0, "{k}");
    }
}

#[test]
fn unusable_input_has_a_typed_error() {
    let mass = || DMatrix::identity(3, 3);
    let form: &[f64] = &[0.0, 1.0, 0.0];
    let dh: &[f64] = &[1.0, 0.0, 0.0];
    let v: &[f64] = &[1.0, 0.0, 0.5];
    let kind = |case: &Case| case.resolve(Restitution::Elastic).unwrap_err().kind();
    assert_eq!(
        kind(&Case::new(mass(), &[form], form, v)),
        "constrained-contact"
    );
    let violated = Case::new(mass(), &[form], dh, &[1.0, 1e-6, 0.0]);
    assert_eq!(kind(&violated), "constraint-violated");
    let nan = Case::new(mass(), &[form], dh, &[f64::NAN, 0.0, 0.0]);
    assert_eq!(kind(&nan), "non-finite");
    let short = Case::new(mass(), &[form], dh, &[1.0, 0.0]);
    assert_eq!(kind(&short), "dimension-mismatch");
    assert!(KineticMetric::new(-mass()).is_err());
    for wrong in [1.5, -0.1, f64::NAN] {
        assert!(Nonholonomic::new(Restitution::Newton(wrong)).is_err());
        assert!(Nonholonomic::new(Restitution::ProjectedNewton(wrong)).is_err());
        assert!(Rough::new(wrong).is_err());
    }
    let away = Case::new(mass(), &[form], dh, &[-1.0, 0.0, 0.5]);
    let outcome = away.resolve(Restitution::Elastic).unwrap();
    assert_eq!(outcome.status, ImpactStatus::Separating);
    assert_eq!(outcome.velocity_plus, away.velocity);
}

mod properties {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

    /// A system with `m` constraints, a wall, and a velocity that keeps the constraints and
    /// approaches the wall; `None` if the wall is nearly out of reach.
    fn system(n: usize, m: usize, entries: &[f64]) -> Option<Case> {
        let mut entries = entries.iter().copied();
        let mut next = || entries.next().unwrap();
        let b = DMatrix::from_fn(n, n, |_, _| next());
        let mass = &b * b.transpose() + DMatrix::identity(n, n);
        let forms = DMatrix::from_fn(m, n, |_, _| next());
        let dh = DVector::from_fn(n, |_, _| next());
        let v = DVector::from_fn(n, |_, _| next());
        let projector = projector(&mass, &forms)?;
        let inverse = mass.clone().try_inverse()?;
        let inside = &projector * &inverse * &dh;
        let cos2 = dh.dot(&inside) / dh.dot(&(&inverse * &dh));
        // Nothing but rounding is left in a coordinate that a constraint alone stops.
        let v = (&projector * v).map(|x| if x.abs() < 1e-15 { 0.0 } else { x });
        let u = dh.dot(&v);
        if cos2 < 1e-3 || u.abs() < 1e-3 {
            return None;
        }
        let v = if u < 0.0 { -v } else { v };
        let rows: Vec<Vec<f64>> = forms
            .row_iter()
            .map(|r| r.iter().copied().collect())
            .collect();
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        Some(Case::new(mass, &rows, dh.as_slice(), v.as_slice()))
    }

    /// $\pi = I - M^{-1}A^T(AM^{-1}A^T)^{-1}A$, naively.
    fn projector(mass: &DMatrix<f64>, forms: &DMatrix<f64>) -> Option<DMatrix<f64>> {
        let n = mass.nrows();
        if forms.nrows() == 0 {
            return Some(DMatrix::identity(n, n));
        }
        let inverse = mass.clone().try_inverse()?;
        let gram = forms * &inverse * forms.transpose();
        if gram.clone().svd(false, false).singular_values.min() < 1e-2 {
            return None;
        }
        let sharp = inverse * forms.transpose() * gram.try_inverse()?;
        Some(DMatrix::identity(n, n) - sharp * forms)
    }

    fn matrix(forms: &[Covector], n: usize) -> DMatrix<f64> {
        DMatrix::from_fn(forms.len(), n, |i, j| forms[i].0[j])
    }

    /// Runs a property over random systems, the same ones every time.
    fn for_systems(property: impl Fn(&Case) -> Result<(), TestCaseError>) {
        let config = Config {
            cases: 300,
            failure_persistence: None,
            max_global_rejects: 20_000,
            ..Config::default()
        };
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
        let mut runner = TestRunner::new_with_rng(config, rng);
        let strategy = (2..8usize)
            .prop_flat_map(|n| (Just(n), 0..=n.saturating_sub(2)))
            .prop_flat_map(|(n, m)| {
                let entries = proptest::collection::vec(-1.0..1.0, n * n + m * n + 2 * n);
                (Just(n), Just(m), entries)
            });
        runner
            .run(&strategy, |(n, m, entries)| match system(n, m, &entries) {
                Some(case) => property(&case),
                None => Err(TestCaseError::reject("wall out of reach")),
            })
            .unwrap();
    }

    fn within(a: f64, b: f64, tolerance: f64) -> Result<(), TestCaseError> {
        prop_assert!((a - b).abs() <= tolerance, "{} is not {}", a, b);
        Ok(())
    }

    fn all_within(a: &DVector<f64>, b: &DVector<f64>, tolerance: f64) -> Result<(), TestCaseError> {
        prop_assert!((a - b).amax() <= tolerance, "{} is not {}", a, b);
        Ok(())
    }

    /// Prop. IV.1: momentum, energy and constraints of Eq. (15), with the multipliers returned.
    #[test]
    fn elastic_impact_solves_its_equations() {
        for_systems(|case| {
            let outcome = case.resolve(Restitution::Elastic).unwrap();
            let audit = &outcome.audit;
            within(audit.momentum_residual, 0.0, 1e-12)?;
            within(audit.constraint_residual, 0.0, 1e-12)?;
            within(audit.energy_change_j() / audit.energy_minus_j, 0.0, 1e-12)?;
            let normal = &case.walls[0].0;
            let (before, after) = (
                normal.dot(&case.velocity.0),
                normal.dot(&outcome.velocity_plus.0),
            );
            within(after, -before, 1e-12)?;
            prop_assert!(outcome.impulses[0] > 0.0);
            Ok(())
        });
    }

    /// The elastic map is its own inverse.
    #[test]
    fn elastic_impact_undoes_itself() {
        for_systems(|case| {
            let plus = case.plus(Restitution::Elastic);
            // Thrown back against the same wall, which sees the opposite side.
            let again = Case {
                metric: case.metric.clone(),
                forms: case.forms.clone(),
                walls: vec![Covector(-&case.walls[0].0)],
                velocity: Tangent(plus),
            };
            all_within(&again.plus(Restitution::Elastic), &case.velocity.0, 1e-12)
        });
    }

    /// Prop. IV.2: reflect without constraints, Eq. (5), then project onto them, Eq. (18).
    #[test]
    fn projected_law_is_reflection_then_projection() {
        for_systems(|case| {
            let mass = case.metric.mass_matrix();
            let forms = matrix(&case.forms, mass.nrows());
            let dh = -&case.walls[0].0;
            let gradient = mass.clone().try_inverse().unwrap() * &dh;
            let v = &case.velocity.0;
            let reflected = v - 2.0 * dh.dot(v) / dh.dot(&gradient) * gradient;
            let expected = projector(mass, &forms).unwrap() * reflected;
            let outcome = match case.resolve(Restitution::Projected) {
                Ok(outcome) => outcome,
                Err(error) => infeasible(error).1,
            };
            // The oracle's inverses cost digits that the law's factorizations keep.
            all_within(&outcome.velocity_plus.0, &expected, 1e-12)?;
            let cos2 = diagnostics(&outcome).cos2_beta.unwrap();
            within(restitution_of(&outcome), 2.0 * cos2 - 1.0, 1e-13)
        });
    }

    /// No law gains energy, and the loss is the closed form.
    #[test]
    fn energy_falls_by_the_closed_form() {
        for_systems(|case| {
            for restitution in [Restitution::Projected, Restitution::Newton(0.3)] {
                let Ok(outcome) = case.resolve(restitution) else {
                    continue;
                };
                let u = case.walls[0].0.dot(&case.velocity.0);
                let e = restitution_of(&outcome);
                // alpha = -(1 + e) b / norm²
                let norm2 = -(1.0 + e) * u / outcome.impulses[0];
                let expected = -0.5 * (1.0 - e * e) * u * u / norm2;
                within(outcome.audit.energy_change_j(), expected, 1e-13)?;
                prop_assert!(expected <= 0.0);
            }
            Ok(())
        });
    }

    /// Scaling the wall function, mixing the constraints and changing coordinates change nothing.
    #[test]
    fn outcome_does_not_depend_on_the_description() {
        for_systems(|case| {
            let n = case.velocity.0.len();
            let plus = case.plus(Restitution::Newton(0.4));
            let mut scaled = Case {
                metric: case.metric.clone(),
                forms: case.forms.clone(),
                walls: vec![Covector(7.5 * &case.walls[0].0)],
                velocity: case.velocity.clone(),
            };
            let m = scaled.forms.len();
            for i in 1..m {
                let other = scaled.forms[i - 1].0.clone();
                scaled.forms[i].0 = &scaled.forms[i].0 * 0.5 + other;
            }
            all_within(&scaled.plus(Restitution::Newton(0.4)), &plus, 1e-11)?;
            // q = B q': unit lower triangular B.
            let b = DMatrix::from_fn(n, n, |i, j| match i.cmp(&j) {
                std::cmp::Ordering::Equal => 1.0,
                std::cmp::Ordering::Greater => 0.3 - 0.1 * (i + j) as f64,
                std::cmp::Ordering::Less => 0.0,
            });
            let pull = |form: &Covector| Covector(b.tr_mul(&form.0));
            let mass = b.transpose() * case.metric.mass_matrix() * &b;
            let inverse = b.clone().try_inverse().unwrap();
            let changed = Case {
                metric: KineticMetric::new(0.5 * (&mass + mass.transpose())).unwrap(),
                forms: case.forms.iter().map(pull).collect(),
                walls: case.walls.iter().map(pull).collect(),
                velocity: Tangent(&inverse * &case.velocity.0),
            };
            all_within(&(&b * changed.plus(Restitution::Newton(0.4))), &plus, 1e-11)
        });
    }

    /// Newton with e = 0 stops the normal velocity; projecting without restitution leaves
    /// $1 - \cos^2\beta$ of it. Repeated $k$ times, alternating projections onto the wall's tangents and
    /// the constraints go $1 - (1 - \cos^2\beta)^k$ of the way to the former, the projection onto both
    /// (von Neumann).
    #[test]
    fn repeated_plastic_projections_converge_to_the_plastic_impact() {
        for_systems(|case| {
            let normal = &case.walls[0].0;
            let plastic = case.plus(Restitution::Newton(0.0));
            within(normal.dot(&plastic), 0.0, 1e-12)?;
            let mut now = Case {
                metric: case.metric.clone(),
                forms: case.forms.clone(),
                walls: case.walls.clone(),
                velocity: case.velocity.clone(),
            };
            let mut left = 1.0;
            for _ in 0..1000 {
                // Nothing is left to stop, or the wall's normal is admissible, or the contact still approaches.
                let outcome = match now.resolve(Restitution::ProjectedNewton(0.0)) {
                    Ok(outcome) => outcome,
                    Err(error) => infeasible(error).1,
                };
                left *= match diagnostics(&outcome).cos2_beta {
                    Some(cos2) => 1.0 - cos2,
                    None => 0.0,
                };
                now.velocity = outcome.velocity_plus;
                let expected = &plastic + left * (&case.velocity.0 - &plastic);
                all_within(&now.velocity.0, &expected, 1e-11)?;
                if left < 1e-12 {
                    break;
                }
            }
            Ok(())
        });
    }
}

/// Clark & Bloch, Eqs. (32)-(33): the projector onto the velocities of a rolling penny keeps the
/// rolling rate that has the same momentum along the heading, and the turning rate.
#[test]
fn the_projector_onto_rolling_velocities_is_the_generic_one() {
    let (radius, mass, spin, heading) = (0.01, 0.0025, 1.25e-7, 6.25e-8);
    let rolling = spin + mass * radius * radius;
    for k in 0..200 {
        let (sin, cos) = (0.1 + 0.7 * f64::from(k)).sin_cos();
        let inertia = DMatrix::from_diagonal(&DVector::from_vec(vec![mass, mass, spin, heading]));
        let metric = KineticMetric::new(inertia.clone()).unwrap();
        let forms = [
            Covector::from_slice(&[1.0, 0.0, -radius * cos, 0.0]),
            Covector::from_slice(&[0.0, 1.0, -radius * sin, 0.0]),
        ];
        let mut projector = DMatrix::zeros(4, 4);
        for (i, mut column) in projector.column_iter_mut().enumerate() {
            let mut unit = DVector::zeros(4);
            unit[i] = 1.0;
            let momentum = metric.flat(&Tangent(unit)).unwrap();
            let admissible = metric.project_onto_null(&momentum, &forms).unwrap();
            column.copy_from(&metric.sharp(&admissible).unwrap().0);
        }
        let (m, r, j) = (mass, radius, spin);
        let rate = [
            m * r * cos / rolling,
            m * r * sin / rolling,
            j / rolling,
            0.0,
        ];
        let closed = DMatrix::from_fn(4, 4, |i, k| match i {
            0 => r * cos * rate[k],
            1 => r * sin * rate[k],
            2 => rate[k],
            _ => f64::from(u8::from(k == 3)),
        });
        // Entries between 1e-2 and 1e2 by their units: compared in whitened coordinates.
        let root = inertia.map(f64::sqrt);
        let inverse_root = inertia.map(|x| if x > 0.0 { 1.0 / x.sqrt() } else { 0.0 });
        let whiten = |p: &DMatrix<f64>| &root * p * &inverse_root;
        let (found, closed) = (whiten(&projector), whiten(&closed));
        assert!((&found - closed).amax() <= 1e-13, "closed form");
        assert!((&found * &found - &found).amax() <= 1e-13, "idempotent");
        assert!(
            (&found - found.transpose()).amax() <= 1e-13,
            "symmetric in the metric"
        );
        for form in &forms {
            let row = form.0.transpose() * &inverse_root * &found;
            let size = (form.0.transpose() * &inverse_root).amax();
            assert!(row.amax() <= 1e-13 * size, "admissible");
        }
    }
}
