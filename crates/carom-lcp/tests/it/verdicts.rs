//! Statuses against an oracle in exact arithmetic that shares nothing with the library.

use crate::common::*;
use carom_lcp::*;
use nalgebra::{DMatrix, DVector, dmatrix, dvector};
use num_bigint::BigInt;

/// Solves an n × n system of integers, given in rows of n + 1, by fraction-free elimination. `None` if it is singular, else numerators over one denominator.
fn integer_solve(mut rows: Vec<Vec<i128>>) -> Option<(Vec<i128>, i128)> {
    let n = rows.len();
    let mut last = 1;
    for k in 0..n {
        let pivot = (k..n).find(|i| rows[*i][k] != 0)?;
        rows.swap(k, pivot);
        let lead = rows[k].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            if i != k {
                let factor = row[k];
                for (x, l) in row.iter_mut().zip(&lead) {
                    *x = (*x * lead[k] - factor * l) / last;
                }
            }
        }
        last = rows[k][k];
        // Gauss-Jordan: all rows share the denominator.
        let shared = |(i, row): (usize, &Vec<i128>)| row[i] == last;
        assert!(rows.iter().enumerate().take(k).all(shared));
    }
    Some((rows.iter().map(|row| row[n]).collect(), last))
}

/// True if an integer problem has a solution: the union of the complementary polyhedra is not empty
/// exactly if one of them has a vertex, a point of $z, w \ge 0$, $z_iw_i = 0$ at which n of the 2n
/// signs hold with equality, independently.
fn is_solvable(m: &[Vec<i128>], q: &[i128]) -> bool {
    let n = q.len();
    (0u32..1 << (2 * n))
        .filter(|set| set.count_ones() as usize == n)
        .any(|set| {
            let rows = (0..2 * n).filter(|k| set >> k & 1 == 1).map(|k| {
                let mut row = vec![0; n + 1];
                if k < n {
                    row[k] = 1;
                } else {
                    row[..n].copy_from_slice(&m[k - n]);
                    row[n] = -q[k - n];
                }
                row
            });
            let Some((z, scale)) = integer_solve(rows.collect()) else {
                return false;
            };
            let sign = scale.signum();
            (0..n).all(|i| {
                let w: i128 = m[i].iter().zip(&z).map(|(m, z)| m * z).sum::<i128>() + q[i] * scale;
                let (z, w) = (sign * z[i], sign * w);
                z >= 0 && w >= 0 && (z == 0 || w == 0)
            })
        })
}

/// An exact number $m 2^e$.
pub(crate) fn exact(x: f64) -> (BigInt, i32) {
    let bits = x.abs().to_bits();
    let (fraction, raw) = (bits & ((1 << 52) - 1), (bits >> 52) as i32);
    let (m, e) = if raw == 0 {
        (fraction, -1074)
    } else {
        (fraction | 1 << 52, raw - 1075)
    };
    (
        if x < 0.0 {
            -BigInt::from(m)
        } else {
            BigInt::from(m)
        },
        e,
    )
}

/// $\sum a_kb_k$ and $\sum|a_kb_k|$ as integers times $2^{-2148}$.
fn sums(products: &[(f64, f64)]) -> (BigInt, BigInt) {
    let mut sums = (BigInt::ZERO, BigInt::ZERO);
    for (a, b) in products {
        let ((a, e), (b, f)) = (exact(*a), exact(*b));
        let term = (a * b) << (e + f + 2148);
        sums.1 += BigInt::from(term.magnitude().clone());
        sums.0 += term;
    }
    sums
}

/// True if every row holds up to $10^{-12}$ of its own terms, exactly.
pub(crate) fn holds_by_rows(lcp: &Lcp, z: &DVector<f64>) -> bool {
    (0..lcp.dim()).all(|i| {
        let mut products: Vec<(f64, f64)> = (0..lcp.dim())
            .map(|j| (lcp.matrix()[(i, j)], z[j]))
            .collect();
        products.push((lcp.vector()[i], 1.0));
        let (w, t) = sums(&products);
        let trillion = BigInt::from(1_000_000_000_000i64);
        let excess = if z[i] > 0.0 {
            BigInt::from(w.magnitude().clone())
        } else {
            -w
        };
        z[i] >= 0.0 && excess * trillion <= t
    })
}

/// True if $u \ge 0$, $M^Tu \le 0$, $q^Tu < 0$, exactly.
pub(crate) fn is_farkas(lcp: &Lcp, u: &[f64]) -> bool {
    let sum = |column: &[f64]| {
        let products: Vec<(f64, f64)> = column.iter().copied().zip(u.iter().copied()).collect();
        sums(&products).0
    };
    u.len() == lcp.dim()
        && u.iter().all(|u| *u >= 0.0)
        && sum(lcp.vector().as_slice()) < BigInt::ZERO
        && lcp
            .matrix()
            .column_iter()
            .all(|column| sum(column.as_slice()) <= BigInt::ZERO)
}

/// Checks an answer against the truth and its own claims.
fn check(lcp: &Lcp, solvable: bool, solution: &LcpSolution, name: &str) {
    let expected = if solvable {
        LcpStatus::Solved
    } else {
        LcpStatus::Infeasible
    };
    assert_eq!(solution.status, expected, "{name}: {lcp:?} {solution:?}");
    match solution.proof {
        Some(Proof::Residual | Proof::Exact) => {
            assert!(
                holds_by_rows(lcp, &solution.z),
                "{name}: {lcp:?} {solution:?}"
            );
            assert!(solution.certificate.backward_error <= SOLVED_ERROR);
        }
        Some(Proof::Farkas) => assert!(is_farkas(lcp, &solution.farkas), "{name}: {lcp:?}"),
        Some(Proof::Bases) => assert!(solution.farkas.is_empty()),
        other => panic!("{name}: {other:?}"),
    }
}

/// Small integers of every kind: dense, singular, of low rank, skew, with copied rows.
fn integers(stream: &mut Stream) -> (Vec<Vec<i128>>, Vec<i128>) {
    let n = 2 + stream.below(4);
    let mut entry = |most: usize| stream.below(2 * most + 1) as i128 - most as i128;
    let mut m: Vec<Vec<i128>> = (0..n).map(|_| (0..n).map(|_| entry(3)).collect()).collect();
    let mut q: Vec<i128> = (0..n).map(|_| entry(4)).collect();
    let rank = 1 + entry(1).unsigned_abs() as usize;
    let factor: Vec<Vec<i128>> = (0..n)
        .map(|_| (0..rank).map(|_| entry(2)).collect())
        .collect();
    let kind = stream.below(5);
    let (a, b) = (stream.below(n), stream.below(n));
    for i in 0..n {
        for j in 0..n {
            m[i][j] = match kind {
                1 => (0..rank).map(|k| factor[i][k] * factor[j][k]).sum(),
                2 if i == j => 0,
                2 if i > j => -m[j][i],
                _ => m[i][j],
            };
        }
    }
    match kind {
        3 => {
            m[a] = m[b].clone();
            if stream.below(2) == 0 {
                q[a] = q[b];
            }
        }
        4 => {
            for row in &mut m {
                row[a] = row[b];
            }
        }
        _ => {}
    }
    (m, q)
}

fn posed(m: &[Vec<i128>], q: &[i128], scale: impl Fn(usize, usize) -> f64) -> Lcp {
    let n = q.len();
    let matrix = DMatrix::from_fn(n, n, |i, j| m[i][j] as f64 * scale(i, j));
    let vector = DVector::from_fn(n, |i, _| q[i] as f64 * scale(i, n));
    Lcp::new(matrix, vector).unwrap()
}

/// Options of the command line.
fn precise() -> LemkeOptions {
    LemkeOptions::default().with_refine_above(0.0)
}

fn integer_campaign(count: usize) -> [usize; 2] {
    let mut stream = Stream(11);
    let mut tally = [0; 2];
    for case in 0..count {
        let (m, q) = integers(&mut stream);
        let solvable = is_solvable(&m, &q);
        tally[usize::from(solvable)] += 1;
        let plain = posed(&m, &q, |_, _| 1.0);
        let name = format!("case {case}");
        for options in [LemkeOptions::default(), precise()] {
            check(
                &plain,
                solvable,
                &Lemke::default()
                    .with_options(options)
                    .solve(&plain)
                    .unwrap(),
                &name,
            );
        }
        check(
            &plain,
            solvable,
            &Auto::default()
                .with_options(precise())
                .choose(plain.view())
                .unwrap()
                .0,
            &name,
        );
        if case % 5 == 0 {
            let n = q.len();
            let powers: Vec<i32> = (0..=2 * n)
                .map(|_| if stream.below(2) == 0 { 40 } else { -40 })
                .collect();
            // The vector has no column of its own.
            let scale = |i: usize, j: usize| {
                let column = if j < n { powers[n + j] } else { 0 };
                2f64.powi(powers[i] + column)
            };
            let twin = posed(&m, &q, scale);
            for options in [LemkeOptions::default(), precise()] {
                check(
                    &twin,
                    solvable,
                    &Lemke::default().with_options(options).solve(&twin).unwrap(),
                    &name,
                );
            }
        }
    }
    tally
}

#[test]
fn integer_problems_are_solved_exactly_if_they_have_a_solution() {
    let [unsolvable, solvable] = integer_campaign(1500);
    assert!(
        unsolvable > 300 && solvable > 300,
        "{unsolvable} {solvable}"
    );
}

#[test]
#[ignore = "a minute; run in release"]
fn ten_thousand_integer_problems_are_solved_exactly_if_they_have_a_solution() {
    println!("{:?}", integer_campaign(10_000));
}

fn solve(matrix: DMatrix<f64>, vector: DVector<f64>) -> (Lcp, LcpSolution) {
    let lcp = Lcp::new(matrix, vector).unwrap();
    let solution = Lemke::default()
        .with_options(precise())
        .solve(&lcp)
        .unwrap();
    (lcp, solution)
}

/// One small residual for all rows says nothing about a row that is small.
#[test]
fn a_row_is_not_hidden_by_another_one() {
    let lcp = Lcp::new(DMatrix::identity(3, 3), dvector![-1.0, -1.0, 1e300]).unwrap();
    let (certificate, _) = lcp.certify(&dvector![0.0, 1.0, 0.0]).unwrap();
    assert_eq!(
        (certificate.residual, certificate.backward_error),
        (1e-300, 1.0)
    );
    let (_, solution) = solve(DMatrix::identity(3, 3), dvector![-1.0, -1.0, 1e300]);
    assert_eq!(solution.z.as_slice(), [1.0, 1.0, 0.0]);
}

/// $z = (10^{16}, 10^{16})$ has a backward error of $5\cdot10^{-17}$, and the rows add up to
/// $0 \ge 2$.
#[test]
fn a_huge_answer_is_proven_or_none() {
    let (matrix, vector) = (dmatrix![1.0, -1.0; -1.0, 1.0], dvector![-1.0, -1.0]);
    let (lcp, solution) = solve(matrix, vector);
    let (certificate, _) = lcp.certify(&dvector![1e16, 1e16]).unwrap();
    assert!(certificate.backward_error <= 1e-16);
    check(&lcp, false, &solution, "opposite rows");
    assert_eq!(solution.proof, Some(Proof::Farkas));
    // Huge, and exact.
    let (lcp, solution) = solve(
        dmatrix![1.0, -1.0; -1.0, 1.0 + 2f64.powi(-40)],
        dvector![-1.0, 0.0],
    );
    check(&lcp, true, &solution, "nearly opposite rows");
    assert!(solution.is_heavy);
    assert_eq!(solution.proof, Some(Proof::Exact));
    assert_eq!(solution.z.as_slice(), [2f64.powi(40) + 1.0, 2f64.powi(40)]);
}

/// A vector that overflows is no answer.
#[test]
fn an_overflow_ends_an_attempt() {
    let matrix = dmatrix![0.0, 3.0, -1.0; 1.0, -1.0, -2.0; 0.0, -1.0, 0.0];
    let (lcp, solution) = solve(matrix, dvector![1.0, -3.0, -0.25]);
    check(&lcp, false, &solution, "a negative row");
    // Its solution is 1e400.
    let (_, solution) = solve(dmatrix![1e-200], dvector![-1e200]);
    assert_eq!(
        (solution.status, solution.proof),
        (LcpStatus::Inaccurate, None)
    );
}

/// (1, 0) is the solution of a singular basis; every other basis fails.
#[test]
fn a_singular_basis_may_hold_the_only_solutions() {
    let (matrix, vector) = (dmatrix![0.0, 0.0; 1.0, 0.0], dvector![0.0, -1.0]);
    let (lcp, solution) = solve(matrix, vector);
    check(&lcp, true, &solution, "singular");
    assert_eq!(solution.z.as_slice(), [1.0, 0.0]);
    let all = Enumerate::default().all(lcp.view()).unwrap();
    assert_eq!(all.solutions.len(), 1);
    assert!(all.is_complete && all.proof.is_none());
    // Cottle, Pang & Stone 1992: every cone misses, though the inequalities have a solution.
    let (lcp, solution) = solve(dmatrix![-1.0, 2.0; 2.0, -1.0], dvector![-1.0, -1.0]);
    check(
        &lcp,
        is_solvable(&[vec![-1, 2], vec![2, -1]], &[-1, -1]),
        &solution,
        "bases",
    );
}

/// Redundant rows far apart in size, of which one asks for what another forbids.
#[test]
fn rank_one_problems_with_a_zero_row_are_infeasible() {
    for power in [-6, -3, 0, 3, 6] {
        let a = dvector![1.0, 10f64.powi(power), 0.0, 10f64.powi(-power)];
        let matrix = &a * a.transpose();
        let (lcp, solution) = solve(matrix, dvector![-1.0, 2.0, -1.0, 0.5]);
        check(&lcp, false, &solution, "zero row");
    }
}

/// $M = LL^T$ with integer unit triangular $L$ has determinant one: $|z|$ grows to $10^{15}$, and is
/// exact. Its twin with a last row of $L$ that is zero has no solution.
#[test]
fn definite_problems_of_huge_solutions_are_solved_and_their_singular_twins_are_not() {
    let mut stream = Stream(5);
    let mut largest = 0.0f64;
    for case in 0..60 {
        let n = 3 + case % 5;
        let l = DMatrix::from_fn(n, n, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => 1.0,
            std::cmp::Ordering::Greater => (stream.below(41) as f64) - 20.0,
        });
        let matrix = &l * l.transpose();
        let x = DVector::from_fn(n, |_, _| 1.0 + stream.below(9) as f64);
        // z = L^-T x, made positive by flipping signs of both sides.
        let z = l.transpose().lu().solve(&x).unwrap();
        let sign = z.map(|z: f64| if z < 0.0 { -1.0 } else { 1.0 });
        let signed = DMatrix::from_fn(n, n, |i, j| sign[i] * matrix[(i, j)] * sign[j]);
        let vector = DVector::from_fn(n, |i, _| -sign[i] * (&l * &x)[i]);
        let (lcp, solution) = solve(signed.clone(), vector);
        check(&lcp, true, &solution, "definite");
        largest = largest.max(solution.z.amax());

        let mut flat = l.clone();
        flat[(n - 1, n - 1)] = 0.0;
        let twin = &flat * flat.transpose();
        // u in the kernel, with q.u < 0: infeasible if u has one sign.
        let u = flat.transpose().view((0, 0), (n - 1, n - 1)).clone_owned();
        let tail = flat.transpose().view((0, n - 1), (n - 1, 1)).clone_owned();
        let head = -u.lu().solve(&tail).unwrap();
        let kernel = DVector::from_fn(n, |i, _| if i + 1 < n { head[i] } else { 1.0 });
        let sign = kernel.map(|u: f64| if u < 0.0 { -1.0 } else { 1.0 });
        let signed = DMatrix::from_fn(n, n, |i, j| sign[i] * twin[(i, j)] * sign[j]);
        let (lcp, solution) = solve(signed, DVector::from_element(n, -1.0));
        check(&lcp, false, &solution, "singular twin");
    }
    assert!(largest > 1e6, "{largest:e}");
}

/// Exponents all over the range: a solution is one, whatever else may be said.
#[test]
fn wild_problems_are_never_falsely_solved() {
    let mut stream = Stream(23);
    let mut tally = std::collections::BTreeMap::new();
    for _ in 0..300 {
        let n = 1 + stream.below(4);
        let mut entry = || {
            let size = 10f64.powf(stream.uniform(-300.0, 300.0));
            match stream.below(4) {
                0 => 0.0,
                1 => -size,
                _ => size,
            }
        };
        let matrix = DMatrix::from_fn(n, n, |_, _| entry());
        let vector = DVector::from_fn(n, |_, _| entry());
        let (lcp, solution) = solve(matrix, vector);
        *tally.entry(solution.status.name()).or_insert(0) += 1;
        match solution.status {
            LcpStatus::Solved => assert!(holds_by_rows(&lcp, &solution.z), "{lcp:?}"),
            LcpStatus::Infeasible if solution.proof == Some(Proof::Farkas) => {
                assert!(is_farkas(&lcp, &solution.farkas), "{lcp:?}");
            }
            LcpStatus::Infeasible | LcpStatus::Inaccurate => {}
            other => panic!("{other}: {lcp:?}"),
        }
    }
    assert!(
        tally["solved"] > 50 && tally["infeasible"] > 50,
        "{tally:?}"
    );
}

#[test]
fn budgets_are_counted_and_end_a_search() {
    // Every basis solves it.
    let n = 16;
    let lcp = Lcp::new(-DMatrix::identity(n, n), DVector::from_element(n, 1.0)).unwrap();
    let all = Enumerate::default().all(lcp.view()).unwrap();
    assert_eq!(
        (all.solutions.len(), all.is_complete, all.limit),
        (1000, false, None)
    );
    let few = Enumerate::default().with_max_solutions(4);
    let all = few.all(pd_skew(3, 5).view()).unwrap();
    assert!(all.is_complete && all.solutions.len() == 1);

    for max_work in [0, 1, 1000, 20_000] {
        let options = precise().with_max_work(max_work);
        let solution = Lemke::default()
            .with_options(options)
            .solve(&pd_skew(1, 60))
            .unwrap();
        assert_eq!(solution.status, LcpStatus::IterationLimit, "{max_work}");
        assert_eq!(solution.limit, Some(Limit::Work));
    }
    let options = precise().with_max_pivots(Some(3));
    let solution = Lemke::default()
        .with_options(options)
        .solve(&pd_skew(1, 60))
        .unwrap();
    assert_eq!(
        (solution.limit, solution.n_pivots),
        (Some(Limit::Pivots), 3)
    );
}

/// However many pivots are allowed, the work is bounded.
#[test]
fn a_huge_limit_on_pivots_does_not_keep_a_path_from_being_left() {
    let options = precise()
        .with_max_pivots(Some(u64::MAX))
        .with_max_work(2_000_000_000);
    let solution = Lemke::default()
        .with_options(options)
        .solve(&murty(60))
        .unwrap();
    assert!(matches!(
        solution.status,
        LcpStatus::Solved | LcpStatus::IterationLimit
    ));
}

/// The default budget is of the order of ten seconds of work: five times as long is too slow on any machine, and
/// an answer is one of the two that a budget allows.
#[test]
#[ignore = "tens of seconds; run in release"]
fn large_problems_are_answered_within_the_default_budget() {
    let murty = murty(60);
    let options = precise().with_max_pivots(Some((1 << 63) - 1));
    let problems = [
        (murty, options),
        (dense(1, 120), precise()),
        (dense(1, 300), precise()),
    ];
    for (lcp, options) in problems {
        let start = std::time::Instant::now();
        let (solution, choice) = Auto::default()
            .with_options(options)
            .choose(lcp.view())
            .unwrap();
        let status = solution.status;
        let seconds = start.elapsed().as_secs_f64();
        println!("{status} {choice:?} {seconds:.1} s");
        assert!(matches!(
            status,
            LcpStatus::Solved | LcpStatus::IterationLimit
        ));
        assert!(seconds <= 60.0, "{status}: {seconds} s");
    }
}

/// The digits of the answer are those of the exact solution, where the basis is regular.
#[test]
fn the_solution_is_that_of_the_final_basis_to_the_last_digits() {
    let mut stream = Stream(77);
    for n in [2, 3, 4, 5] {
        for _ in 0..50 {
            let mut entry = || stream.below(2001) as i128 - 1000;
            let mut m: Vec<Vec<i128>> = (0..n).map(|_| (0..n).map(|_| entry()).collect()).collect();
            let q: Vec<i128> = (0..n).map(|_| entry()).collect();
            for (i, row) in m.iter_mut().enumerate() {
                row[i] += 3000;
            }
            let lcp = posed(&m, &q, |_, _| 1.0);
            let solution = Lemke::default()
                .with_options(precise())
                .solve(&lcp)
                .unwrap();
            let support: Vec<usize> = (0..n).filter(|i| solution.z[*i] > 0.0).collect();
            let rows = support.iter().map(|i| {
                let mut row: Vec<i128> = support.iter().map(|j| m[*i][*j]).collect();
                row.push(-q[*i]);
                row
            });
            let (x, scale) = integer_solve(rows.collect()).unwrap();
            for (i, x) in support.iter().zip(x) {
                let exact = x as f64 / scale as f64;
                assert!((solution.z[*i] - exact).abs() <= 4e-16 * exact, "{lcp:?}");
            }
        }
    }
}
