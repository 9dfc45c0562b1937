//! Enumeration, classes and contacts, each against something independent.

use crate::common::*;
use carom_lcp::*;
use nalgebra::{DMatrix, DVector, dmatrix, dvector};

/// Painlevé's rod: two solutions, not connected.
#[test]
fn enumeration_tells_isolated_solutions_from_continua() {
    let painleve = Lcp::new(dmatrix![-0.5], dvector![1.0]).unwrap();
    let all = Enumerate::default().all(painleve.view()).unwrap();
    assert_eq!(all.solutions.len(), 2);
    assert!(all.segments.is_empty() && all.rays.is_empty());

    // w = 0 for any z: a ray of solutions.
    let free = Lcp::new(dmatrix![0.0], dvector![0.0]).unwrap();
    let all = Enumerate::default().all(free.view()).unwrap();
    assert_eq!((all.solutions.len(), all.rays.len()), (1, 1));
    assert_eq!(all.directions[0].as_slice(), [1.0]);

    // A box on four corners: two diagonals carry it, and everything between.
    let corners = dmatrix![
        7.0, 1.0, 1.0, -5.0; 1.0, 7.0, -5.0, 1.0; 1.0, -5.0, 7.0, 1.0; -5.0, 1.0, 1.0, 7.0
    ];
    let lcp = Lcp::new(corners, DVector::from_element(4, -1.0)).unwrap();
    let all = Enumerate::default().all(lcp.view()).unwrap();
    assert_eq!((all.solutions.len(), all.segments.len()), (2, 1));
    assert!(all.n_singular > 0);
    assert_eq!(
        Enumerate::default()
            .all(pd_skew(1, 17).view())
            .unwrap_err()
            .kind(),
        "too-large"
    );
}

/// Members and non-members from Cottle, Pang & Stone 1992, and by construction.
#[test]
fn classes_are_told_apart() {
    use Verdict::{Borderline, No, Yes};
    let class = |m: DMatrix<f64>| {
        let c = MatrixClass::of(&m).unwrap();
        (c.positive_definite, c.p, c.strictly_copositive, c.is_z)
    };
    assert_eq!(class(dmatrix![2.0, 1.0; 1.0, 2.0]), (Yes, Yes, Yes, false));
    assert_eq!(class(dmatrix![2.0, -1.0; -1.0, 2.0]), (Yes, Yes, Yes, true));
    // P, and not positive definite: Murty's matrix.
    assert_eq!(class(dmatrix![1.0, 0.0; 4.0, 1.0]), (No, Yes, Yes, false));
    // The matrix with the sign turned is not copositive either, since x = (1, 1) gives -2.
    assert_eq!(class(dmatrix![1.0, 0.0; -4.0, 1.0]), (No, Yes, No, true));
    // Two coincident contacts.
    assert_eq!(
        class(dmatrix![1.0, 1.0; 1.0, 1.0]),
        (Borderline, Borderline, Yes, false)
    );
    assert_eq!(
        class(dmatrix![1.0, -1.0; -1.0, 1.0]),
        (Borderline, Borderline, Borderline, true)
    );
    // Horn's form: copositive, neither positive semidefinite nor with nonnegative part.
    let horn = DMatrix::from_fn(5, 5, |i, j| match (i + 5 - j) % 5 {
        0 | 2 | 3 => 1.0,
        _ => -1.0,
    });
    let horn = MatrixClass::of(&horn).unwrap();
    assert_eq!(
        (horn.positive_definite, horn.strictly_copositive),
        (No, Borderline)
    );
    let large = MatrixClass::of(&DMatrix::identity(30, 30)).unwrap();
    assert_eq!((large.positive_definite, large.p), (Yes, Verdict::TooLarge));
}

/// Every principal minor by determinants.
#[test]
fn p_matrices_are_those_with_positive_principal_minors() {
    for seed in 0..300 {
        let n = 1 + (seed % 5) as usize;
        let m = dense(seed, n).matrix() + DMatrix::identity(n, n) * 1.5;
        let minors = (1..1usize << n).map(|mask| {
            let s: Vec<usize> = (0..n).filter(|i| mask >> i & 1 == 1).collect();
            DMatrix::from_fn(s.len(), s.len(), |i, j| m[(s[i], s[j])]).determinant()
        });
        let expected = if minors.fold(f64::INFINITY, f64::min) > 0.0 {
            Verdict::Yes
        } else {
            Verdict::No
        };
        assert_eq!(MatrixClass::of(&m).unwrap().p, expected, "seed {seed}");
    }
}

/// One planar contact on a unit mass with an eccentric contact point: it sticks or slides as the
/// friction coefficient says.
#[test]
fn a_planar_contact_sticks_or_slides() {
    let delassus = dmatrix![1.0, 0.0; 0.0, 2.0];
    let velocity = dvector![-1.0, 0.5];
    let solve = |friction: f64| {
        let rows = ContactRows {
            delassus: &delassus,
            velocity: &velocity,
            n_tangents: 1,
            friction: &[friction],
            restitution: &[0.0],
        };
        let contact = ContactLcp::new(&rows, 2).unwrap();
        assert_eq!(contact.lcp().dim(), 4);
        let solution = Lemke::default().solve(contact.lcp()).unwrap();
        assert_eq!(solution.status, LcpStatus::Solved);
        contact.impulses(solution.z.as_slice()).unwrap()
    };
    // Normal impulse 1; -0.25 of tangential impulse stops the sliding.
    for (friction, tangential) in [(0.5, -0.25), (0.1, -0.1), (0.0, 0.0)] {
        let impulses = solve(friction);
        assert!((impulses - dvector![1.0, tangential]).amax() <= 1e-15);
    }
}

/// Halm & Posa, Eqs. (31)-(33) and (72)-(75): blocks and signs, contact by contact.
#[test]
fn the_layout_is_that_of_anitescu_and_potra() {
    let g = dmatrix![
        4.0, 1.0, 0.5, 0.2; 1.0, 3.0, 0.1, 0.3; 0.5, 0.1, 5.0, 0.7; 0.2, 0.3, 0.7, 6.0
    ];
    let b = dvector![-1.0, 0.25, -2.0, 0.5];
    let rows = ContactRows {
        delassus: &g,
        velocity: &b,
        n_tangents: 1,
        friction: &[0.3, 0.4],
        restitution: &[0.0, 0.5],
    };
    let contact = ContactLcp::with_caps(&rows, 2, &[7.0, 8.0]).unwrap();
    let (m, q) = (contact.lcp().matrix(), contact.lcp().vector());
    // Caps 2, normals 2, directions 4, cones 2.
    assert_eq!(
        q.as_slice(),
        [7.0, 8.0, -1.0, -3.0, 0.25, -0.25, 0.5, -0.5, 0.0, 0.0]
    );
    assert_eq!(
        m.row(0).iter().copied().collect::<Vec<_>>(),
        [0., 0., -1., 0., 0., 0., 0., 0., 0., 0.]
    );
    assert_eq!(
        m.row(2).iter().copied().collect::<Vec<_>>(),
        [1., 0., 4., 0.5, 1., -1., 0.2, -0.2, 0., 0.]
    );
    assert_eq!(
        m.row(7).iter().copied().collect::<Vec<_>>(),
        [0., 0., -0.2, -0.7, -0.3, 0.3, -6., 6., 0., 1.]
    );
    assert_eq!(
        m.row(9).iter().copied().collect::<Vec<_>>(),
        [0., 0., 0., 0.4, 0., 0., -1., -1., 0., 0.]
    );
    let free = ContactLcp::new(&rows, 2).unwrap();
    assert_eq!(free.lcp().matrix(), &m.view((2, 2), (8, 8)).into_owned());
}

/// $z^TMz = \lVert\bar J^T\bar\lambda\rVert^2 + \lambda_n^T\mu\gamma$ (Halm & Posa, Theorem 6):
/// copositive, and every impact is solved.
#[test]
fn contact_matrices_are_copositive() {
    for seed in 0..20 {
        let contacts = pile(seed, 1, 1.0, 1.0);
        for directions in [3, 4, 5, 8] {
            let contact = ContactLcp::new(&contacts.rows(), directions).unwrap();
            let m = contact.lcp().matrix();
            let mut stream = Stream(seed);
            for _ in 0..50 {
                let x = stream.vector(contact.lcp().dim()).abs();
                assert!(x.dot(&(m * &x)) >= -1e-12 * x.norm_squared() * m.amax());
            }
            let solution = Lemke::default().solve(contact.lcp()).unwrap();
            assert_eq!(solution.status, LcpStatus::Solved);
            let impulses = contact.impulses(solution.z.as_slice()).unwrap();
            let after = &contacts.velocity + &contacts.delassus * &impulses;
            for c in 0..4 {
                assert!(after[3 * c] >= -1e-12, "seed {seed}");
                let tangential = impulses[3 * c + 1].hypot(impulses[3 * c + 2]);
                let cone = contacts.friction[c] * impulses[3 * c];
                assert!(tangential <= cone + 1e-12, "seed {seed}");
            }
        }
    }
}

#[test]
fn faults_of_contacts_are_named() {
    let (g, b) = (DMatrix::identity(3, 3), DVector::zeros(3));
    let rows = |friction: &'static [f64], n_tangents: usize| ContactRows {
        delassus: &g,
        velocity: &b,
        n_tangents,
        friction,
        restitution: &[0.0],
    };
    let message = |result: Result<ContactLcp, LcpError>| result.unwrap_err().to_string();
    assert!(message(ContactLcp::new(&rows(&[-1.0], 2), 4)).contains("friction is -1"));
    assert!(message(ContactLcp::new(&rows(&[f64::NAN], 2), 4)).contains("friction is NaN"));
    assert!(message(ContactLcp::new(&rows(&[0.5], 2), 2)).contains("directions is 2"));
    assert!(message(ContactLcp::new(&rows(&[0.5], 1), 2)).contains("delassus"));
    assert!(message(ContactLcp::with_caps(&rows(&[0.5], 2), 4, &[-1.0])).contains("cap is -1"));
}

/// A solver from outside: Lemke's method from the basis of an identity matrix.
struct Opposite;

impl LcpSolver for Opposite {
    fn name(&self) -> &'static str {
        "opposite"
    }

    fn solve_view(&self, problem: LcpRef<'_>) -> Result<LcpSolution, LcpError> {
        let start = problem.vector().iter().map(|q| *q < 0.0).collect();
        let options = LemkeOptions::default().with_start(Some(start));
        Lemke::default().with_options(options).solve_view(problem)
    }
}

#[test]
fn every_solver_stands_behind_one_door() {
    let (lemke, enumerate, auto) = (Lemke::default(), Enumerate::default(), Auto::default());
    let all: [&dyn LcpSolver; 4] = [&lemke, &enumerate, &auto, &Opposite];
    let names = all.map(|solver| solver.name());
    assert_eq!(names, ["lemke", "enumerate", "auto", "opposite"]);
    let lcp = Lcp::new(DMatrix::identity(2, 2), dvector![-1.0, 2.0]).unwrap();
    let nothing = Lcp::new(dmatrix![-1.0], dvector![-1.0]).unwrap();
    for solver in all {
        let solution = solver.solve(&lcp).unwrap();
        assert_eq!(solution.status, LcpStatus::Solved, "{}", solver.name());
        assert_eq!(solution.z.as_slice(), [1.0, 0.0]);
        assert_eq!(solver.solve_view(lcp.view()).unwrap(), solution);
        let solution = solver.solve(&nothing).unwrap();
        assert_eq!(solution.status, LcpStatus::Infeasible, "{}", solver.name());
        assert!(solution.proof.is_some());
    }
    // The first of several, without the others.
    let many = Lcp::new(DMatrix::from_element(2, 2, 1.0), dvector![-1.0, -1.0]).unwrap();
    let first = enumerate.all(many.view()).unwrap().solutions.swap_remove(0);
    let found = enumerate.solve(&many).unwrap();
    assert_eq!((&found.z, found.status), (&first.z, first.status));
    let large = pd_skew(1, 17);
    assert!(matches!(
        enumerate.solve(&large),
        Err(LcpError::TooLarge { .. })
    ));
}
