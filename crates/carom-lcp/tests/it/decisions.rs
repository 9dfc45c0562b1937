//! Up to eight rows every method says `solved` exactly if there is a solution: nearly degenerate problems against an
//! oracle of the test's own, in integers.

use crate::common::*;
use crate::verdicts::{exact, holds_by_rows, is_farkas};
use carom_lcp::*;
use nalgebra::{DMatrix, DVector, dmatrix, dvector};
use num_bigint::{BigInt, Sign};

/// Rows $(M_i, q_i)$ of a problem, each multiplied by a power of two that makes it integers.
fn integer_rows(lcp: &Lcp) -> Vec<Vec<BigInt>> {
    let n = lcp.dim();
    let row = |i: usize| {
        let entries = (0..n).map(|j| lcp.matrix()[(i, j)]);
        let entries: Vec<_> = entries.chain([lcp.vector()[i]]).map(exact).collect();
        let nonzero = entries.iter().filter(|(m, _)| m.sign() != Sign::NoSign);
        let least = nonzero.map(|(_, e)| *e).min().unwrap_or(0);
        let scaled = entries.iter().map(|(m, e)| match m.sign() {
            Sign::NoSign => BigInt::ZERO,
            _ => m << (e - least).unsigned_abs(),
        });
        scaled.collect()
    };
    (0..n).map(row).collect()
}

/// The rank of a system of equations, given in rows of n coefficients and a right-hand side, and its solution if there
/// is exactly one: numerators over a positive denominator.
fn solve_equations(mut rows: Vec<Vec<BigInt>>, n: usize) -> (usize, Option<(Vec<BigInt>, BigInt)>) {
    let mut last = BigInt::from(1);
    let mut rank = 0;
    for column in 0..n {
        let Some(pivot) = (rank..rows.len()).find(|i| rows[*i][column].sign() != Sign::NoSign)
        else {
            continue;
        };
        rows.swap(rank, pivot);
        let lead = rows[rank].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            if i != rank {
                let factor = row[column].clone();
                for (x, l) in row.iter_mut().zip(&lead) {
                    *x = (&*x * &lead[column] - &factor * l) / &last;
                }
            }
        }
        last = lead[column].clone();
        rank += 1;
    }
    let is_consistent = rows[rank..].iter().all(|row| row[n].sign() == Sign::NoSign);
    if rank < n || !is_consistent {
        return (rank, None);
    }
    let sign = BigInt::from(if last.sign() == Sign::Minus { -1 } else { 1 });
    let numerators = rows[..n].iter().map(|row| &row[n] * &sign).collect();
    (rank, Some((numerators, last * sign)))
}

/// True if the problem has a solution.
///
/// It has one exactly if one of the $2^n$ polyhedra of the complementary bases is not empty, hence has a vertex. The
/// equations of a regular basis have one solution. Those of a singular one, of rank r, are completed by n - r of its
/// inequalities in every way.
fn is_solvable(lcp: &Lcp) -> bool {
    let n = lcp.dim();
    let rows = integer_rows(lcp);
    // z_j = 0, or w_j = 0, as an equation.
    let equation = |j: usize, is_z: bool| {
        let mut row = vec![BigInt::ZERO; n + 1];
        if is_z {
            row[j] = BigInt::from(1);
        } else {
            row[..n].clone_from_slice(&rows[j][..n]);
            row[n] = -&rows[j][n];
        }
        row
    };
    let solves = |(z, scale): &(Vec<BigInt>, BigInt)| {
        (0..n).all(|i| {
            let products = rows[i][..n].iter().zip(z).map(|(m, z)| m * z);
            let w = products.sum::<BigInt>() + &rows[i][n] * scale;
            let none = Sign::NoSign;
            z[i].sign() != Sign::Minus
                && w.sign() != Sign::Minus
                && (z[i].sign() == none || w.sign() == none)
        })
    };
    (0u32..1 << n).any(|basis| {
        let is_basic = |j: usize| basis >> j & 1 == 1;
        let equations: Vec<_> = (0..n).map(|j| equation(j, !is_basic(j))).collect();
        let (rank, solution) = solve_equations(equations.clone(), n);
        if rank == n {
            return solution.as_ref().is_some_and(solves);
        }
        let missing = (n - rank) as u32;
        (0u32..1 << n)
            .filter(|more| more.count_ones() == missing)
            .any(|more| {
                let added = (0..n).filter(|j| more >> j & 1 == 1);
                let mut all = equations.clone();
                all.extend(added.map(|j| equation(j, is_basic(j))));
                let (_, solution) = solve_equations(all, n);
                solution.as_ref().is_some_and(solves)
            })
    })
}

/// An answer of a method.
struct Answer {
    name: &'static str,
    status: LcpStatus,
    z: DVector<f64>,
    proof: Option<Proof>,
    farkas: Vec<f64>,
}

impl Answer {
    fn of(name: &'static str, solution: LcpSolution) -> Self {
        let LcpSolution {
            status,
            z,
            proof,
            farkas,
            ..
        } = solution;
        Self {
            name,
            status,
            z,
            proof,
            farkas,
        }
    }

    fn in_workspace(
        name: &'static str,
        report: Result<LemkeReport, LcpError>,
        workspace: &LemkeWorkspace,
    ) -> Self {
        let report = report.unwrap();
        Self {
            name,
            status: report.status,
            z: DVector::from_column_slice(workspace.z()),
            proof: report.proof,
            farkas: workspace.farkas().to_vec(),
        }
    }
}

/// The answers of all methods.
fn answers(lcp: &Lcp) -> Vec<Answer> {
    let n = lcp.dim();
    let precise = || LemkeOptions::default().with_refine_above(0.0);
    let lemke = Lemke::default();
    let mut workspace = LemkeWorkspace::new();
    let mut all = vec![
        Answer::of("lemke", lemke.solve(lcp).unwrap()),
        Answer::of(
            "precise",
            Lemke::default().with_options(precise()).solve(lcp).unwrap(),
        ),
        Answer::of(
            "auto",
            Auto::default()
                .with_options(precise())
                .choose(lcp.view())
                .unwrap()
                .0,
        ),
    ];
    let report = lemke.solve_into(lcp.view(), &mut workspace);
    all.push(Answer::in_workspace("into", report, &workspace));
    for basis in [vec![true; n], workspace.basis().to_vec()] {
        let options = LemkeOptions::default().with_start(Some(basis));
        let report = Lemke::default()
            .with_options(options)
            .solve_into(lcp.view(), &mut workspace);
        all.push(Answer::in_workspace("from", report, &workspace));
    }
    let listed = Enumerate::default().all(lcp.view()).unwrap();
    assert!(listed.is_complete && listed.limit.is_none());
    for solution in &listed.solutions {
        assert_eq!(solution.status, LcpStatus::Solved);
        all.push(Answer::of("listed", solution.clone()));
    }
    if listed.solutions.is_empty() {
        all.push(Answer {
            name: "enumerate",
            status: match listed.proof {
                Some(_) => LcpStatus::Infeasible,
                None => LcpStatus::Inaccurate,
            },
            z: DVector::zeros(n),
            proof: listed.proof,
            farkas: listed.farkas,
        });
    }
    all
}

/// Checks the answers of all methods; returns true if the problem has a solution.
fn check(lcp: &Lcp, what: &str) -> bool {
    let is_solvable = is_solvable(lcp);
    let expected = if is_solvable {
        LcpStatus::Solved
    } else {
        LcpStatus::Infeasible
    };
    for answer in answers(lcp) {
        let name = answer.name;
        assert_eq!(answer.status, expected, "{what}, {name}: {lcp:?}");
        is_checked(lcp, &answer, what);
    }
    is_solvable
}

/// Statements of an answer about itself hold exactly.
fn is_checked(lcp: &Lcp, answer: &Answer, what: &str) {
    let name = answer.name;
    let holds = match answer.proof {
        Some(Proof::Exact) => holds_by_rows(lcp, &answer.z),
        Some(Proof::Farkas) => is_farkas(lcp, &answer.farkas),
        Some(Proof::Bases) => answer.farkas.is_empty(),
        _ => false,
    };
    assert!(holds, "{what}, {name}, {:?}: {lcp:?}", answer.proof);
}

/// Rows of a rank-deficient, skew, copositive, negative, sparse or arbitrary matrix of small integers, in some with a row or
/// column that depends on others.
fn small_integers(stream: &mut Stream, n: usize) -> DMatrix<f64> {
    let mut entry = |most: usize| stream.below(2 * most + 1) as f64 - most as f64;
    let m = DMatrix::from_fn(n, n, |_, _| entry(3));
    let factor = DMatrix::from_fn(n, 1 + n / 3, |_, _| entry(2));
    let (a, b, c) = (stream.below(n), stream.below(n), stream.below(n));
    match stream.below(9) {
        0 => &factor * factor.transpose(),
        1 => &m - m.transpose(),
        2 => &factor * factor.transpose() + (&m - m.transpose()),
        3 => &factor * factor.transpose() + m.map(f64::abs),
        4 => m.map(|x| -x.abs()),
        5 => m.map(|x| if x.abs() > 1.0 { x } else { 0.0 }),
        6 => {
            let mut m = m;
            let sum = m.row(b) + m.row(c);
            m.row_mut(a).copy_from(&sum);
            m
        }
        7 => {
            let mut m = m;
            let sum = m.column(b) + m.column(c);
            m.column_mut(a).copy_from(&sum);
            m
        }
        _ => m,
    }
}

/// Integers, moved by very small fractions of themselves or of one; the vector is mostly that of a solution with zeros
/// on both sides.
fn nearly_degenerate(stream: &mut Stream, n: usize) -> Lcp {
    let mut matrix = small_integers(stream, n);
    let mut vector = DVector::from_fn(n, |_, _| stream.below(9) as f64 - 4.0);
    if stream.below(2) == 0 {
        let z = DVector::from_fn(n, |_, _| (stream.below(5) as f64 - 2.0).max(0.0));
        let w = z.map(|z| if z > 0.0 { 0.0 } else { stream.below(2) as f64 });
        vector = w - &matrix * z;
    }
    let power = 2f64.powi(-[20, 30, 40, 44, 48, 52][stream.below(6)]);
    let often = 1 + stream.below(4);
    let mut moved = |x: &mut f64| {
        if stream.below(often) == 0 {
            let unit = if *x == 0.0 {
                (stream.below(8) == 0).into()
            } else {
                x.abs()
            };
            *x += (stream.below(5) as f64 - 2.0) * unit * power;
        }
    };
    matrix.iter_mut().for_each(&mut moved);
    vector.iter_mut().for_each(&mut moved);
    Lcp::new(matrix, vector).unwrap()
}

/// The problem with permuted variables, and with rows and columns multiplied by what `scale` draws.
fn disguised(lcp: &Lcp, stream: &mut Stream, scale: impl Fn(&mut Stream) -> f64) -> Lcp {
    let n = lcp.dim();
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, stream.below(i + 1));
    }
    let rows: Vec<f64> = (0..n).map(|_| scale(stream)).collect();
    let columns: Vec<f64> = (0..n).map(|_| scale(stream)).collect();
    let entry = |i: usize, j: usize| rows[i] * lcp.matrix()[(order[i], order[j])] * columns[j];
    let matrix = DMatrix::from_fn(n, n, entry);
    let vector = DVector::from_fn(n, |i, _| rows[i] * lcp.vector()[order[i]]);
    Lcp::new(matrix, vector).unwrap()
}

fn campaign(seed: u64, count: usize, largest: usize) -> [usize; 2] {
    let mut stream = Stream(seed);
    let mut tally = [0; 2];
    for case in 0..count {
        let n = 1 + stream.below(largest);
        let lcp = nearly_degenerate(&mut stream, n);
        let is_solvable = check(&lcp, &format!("case {case}"));
        tally[usize::from(is_solvable)] += 1;
        if case % 4 == 0 {
            let exactly = |stream: &mut Stream| 2f64.powi(stream.below(161) as i32 - 80);
            let twin = disguised(&lcp, &mut stream, exactly);
            let twin = check(&twin, &format!("case {case}, powers of two"));
            assert_eq!(twin, is_solvable);
            let rounded = |stream: &mut Stream| 10f64.powf(stream.uniform(-20.0, 20.0));
            check(
                &disguised(&lcp, &mut stream, rounded),
                &format!("case {case}, scaled"),
            );
        }
    }
    tally
}

#[test]
fn nearly_degenerate_problems_are_solved_exactly_if_they_have_a_solution_whatever_the_method() {
    let [unsolvable, solvable] = campaign(3, 1500, 4);
    assert!(
        unsolvable > 200 && solvable > 300,
        "{unsolvable} {solvable}"
    );
    campaign(4, 30, 8);
}

#[test]
#[ignore = "minutes; run in release"]
fn a_hundred_thousand_nearly_degenerate_problems_are_decided_exactly() {
    let seed = std::env::var("SEED").map_or(5, |seed| seed.parse().unwrap());
    println!("{:?}", campaign(seed, 100_000, 4));
    println!("{:?}", campaign(seed, 2000, 8));
}

/// Rows 0 and 1 add up to what row 2 asks for but for $2^{-40}$ of it: the candidate's backward error is $10^{-13}$, it
/// is as large as the data, and there is no solution.
#[test]
fn a_row_that_nearly_depends_on_others_hides_no_contradiction() {
    let e = 1.0 + 2f64.powi(-40);
    let matrix = dmatrix![2.0, 1.0, 0.0; -1.0, 0.0, 2.0; 2.0 * e, e, 0.0];
    let contradiction = Lcp::new(matrix.clone(), dvector![-2.0, -2.0, -2.0]).unwrap();
    assert!(!check(&contradiction, "nearly dependent rows"));
    for (vector, expected) in [
        (dvector![-2.0, -2.0, -2.0 * e], true),
        (dvector![-2.0, 2.0, -2.0], true),
        (dvector![-2.0, -2.0, 2.0], false),
    ] {
        let lcp = Lcp::new(matrix.clone(), vector).unwrap();
        assert_eq!(check(&lcp, "nearly dependent rows"), expected, "{lcp:?}");
    }
}

/// Exponents all over the range: a status is true, and that of all methods.
#[test]
fn any_numbers_end_with_one_true_status_whatever_the_method() {
    let mut stream = Stream(29);
    let mut tally = std::collections::BTreeMap::new();
    for case in 0..150 {
        let n = 1 + stream.below(3);
        let decades = [5.0, 100.0, 300.0][stream.below(3)];
        let wild = |stream: &mut Stream| 10f64.powf(stream.uniform(-decades, decades));
        let lcp = if case % 2 == 0 {
            let integers = nearly_degenerate(&mut stream, n);
            let matrix = integers.matrix().map(|x| x * wild(&mut stream));
            let vector = integers.vector().map(|x| x * wild(&mut stream));
            Lcp::new(matrix.map(bounded), vector.map(bounded)).unwrap()
        } else {
            let integers = nearly_degenerate(&mut stream, n);
            let matrix = integers.matrix().clone() * wild(&mut stream);
            let vector = integers.vector() * wild(&mut stream);
            Lcp::new(matrix.map(bounded), vector.map(bounded)).unwrap()
        };
        let is_solvable = is_solvable(&lcp);
        for answer in answers(&lcp) {
            *tally.entry(answer.status.name()).or_insert(0) += 1;
            match answer.status {
                LcpStatus::Solved => assert!(is_solvable, "{}: {lcp:?}", answer.name),
                LcpStatus::Infeasible => assert!(!is_solvable, "{}: {lcp:?}", answer.name),
                // Doubles hold no solution.
                LcpStatus::Inaccurate => {
                    assert!(is_solvable, "{}: {lcp:?}", answer.name);
                    continue;
                }
                other => panic!("{}: {other}: {lcp:?}", answer.name),
            }
            is_checked(&lcp, &answer, "wild");
        }
    }
    assert!(
        tally["solved"] > 50 && tally["infeasible"] > 50,
        "{tally:?}"
    );
}

fn bounded(x: f64) -> f64 {
    x.clamp(f64::MIN, f64::MAX)
}
