//! Linear complementarity: what is called solved or infeasible is so, exactly.

use super::exact::Dyadic;
use super::input::{matrix, number, numbers, rows, wild, with};
use super::target::Target;
use carom_wire::Command;
use proptest::prelude::*;
use serde_json::{Value, json};

pub(super) fn target() -> Target {
    Target {
        name: "lcp",
        input,
        check: Box::new(check),
    }
}

fn input() -> BoxedStrategy<Value> {
    let small = (-3i32..=3).prop_map(f64::from).boxed();
    (1..=5usize, 0..4usize)
        .prop_flat_map(move |(n, kind)| {
            let entry = [small.clone(), small.clone(), number(), wild()][kind].clone();
            let vector = proptest::collection::vec(entry.clone(), n);
            let structure = 0..3usize;
            (rows(n, n, &entry), vector, structure)
        })
        .prop_map(|(m, q, structure)| {
            let n = m.len();
            let entry = |i: usize, j: usize| match structure {
                // Dense, skew, and with a row twice.
                0 => m[i][j],
                1 if i < j => m[i][j],
                1 if i > j => -m[j][i],
                1 => 0.0,
                _ => m[i.min(n.saturating_sub(2))][j],
            };
            let rows: Vec<Vec<f64>> = (0..n)
                .map(|i| (0..n).map(|j| entry(i, j)).collect())
                .collect();
            json!({"matrix": rows, "vector": q})
        })
        .boxed()
}

fn check(problem: &Value) -> Result<(), String> {
    let mut statuses = Vec::new();
    for method in ["lemke", "auto", "enumerate"] {
        let line = with(problem.clone(), json!({"method": method}));
        let answer = match carom_wire::solve(Command::Lcp, line) {
            Ok(answer) => Value::Object(answer.fields),
            Err(error) => return Err(format!("{method}: {error}")),
        };
        let status = if method == "enumerate" {
            enumerated(problem, &answer)?
        } else {
            followed(problem, &answer).map_err(|what| format!("{method}: {what}"))?
        };
        statuses.push((method, status));
    }
    let has = |wanted: Option<bool>| statuses.iter().any(|(_, status)| *status == wanted);
    if has(Some(true)) && has(Some(false)) {
        return Err(format!("methods contradict each other: {statuses:?}"));
    }
    Ok(())
}

/// Checks the answer of a solver to a linear complementarity problem. Returns true if the answer has a valid solution, false if
/// it reports that no solution exists, and `None` if it leaves this open. The error describes an invalid solution or proof.
fn followed(problem: &Value, answer: &Value) -> Result<Option<bool>, String> {
    match answer["status"].as_str() {
        Some("solved") => {
            solves(problem, &numbers(&answer["z"]))?;
            Ok(Some(true))
        }
        Some("infeasible") => {
            if answer["proof"] == "farkas" {
                refutes(problem, &numbers(&answer["farkas"]))?;
            }
            Ok(Some(false))
        }
        Some("ray" | "iteration-limit" | "inaccurate") => Ok(None),
        status => Err(format!("status {status:?}")),
    }
}

fn enumerated(problem: &Value, answer: &Value) -> Result<Option<bool>, String> {
    let solutions = answer["solutions"]
        .as_array()
        .ok_or("no list of solutions")?;
    for solution in solutions {
        solves(problem, &numbers(&solution["z"])).map_err(|what| format!("enumerate: {what}"))?;
    }
    Ok((!solutions.is_empty()).then_some(true))
}

/// Checks that `z` solves the linear complementarity problem: the relative backward error of Oettli and Prager is at most 1e-12
/// in each row.
fn solves(problem: &Value, z: &[f64]) -> Result<(), String> {
    let (m, q) = (matrix(&problem["matrix"]), numbers(&problem["vector"]));
    if z.len() != q.len() || z.iter().any(|x| x.is_nan() || *x < 0.0) {
        return Err(format!("z = {z:?}"));
    }
    for (row, (&q, &at)) in m.iter().zip(q.iter().zip(z)) {
        let q = Dyadic::new(q);
        let (mut w, mut size) = (q.clone(), q.abs());
        for (&entry, &z) in row.iter().zip(z) {
            let term = Dyadic::new(entry).times(&Dyadic::new(z));
            w = w.plus(&term);
            size = size.plus(&term.abs());
        }
        let is_fine =
            (at == 0.0 && !w.is_negative()) || w.abs().times(&Dyadic::new(1e12)).at_most(&size);
        if !is_fine {
            return Err(format!("z = {z:?} does not solve row {row:?}"));
        }
    }
    Ok(())
}

/// Checks the proof `u` that no point fulfills the inequalities of a linear complementarity problem with matrix $M$ and vector
/// $q$: $u \ge 0$, $u^T M \le 0$ and $u^T q < 0$.
fn refutes(problem: &Value, u: &[f64]) -> Result<(), String> {
    let (m, q) = (matrix(&problem["matrix"]), numbers(&problem["vector"]));
    let combined = |of: &dyn Fn(usize) -> f64| {
        u.iter().enumerate().fold(Dyadic::zero(), |sum, (i, &u)| {
            sum.plus(&Dyadic::new(u).times(&Dyadic::new(of(i))))
        })
    };
    let is_proof = u.len() == q.len()
        && u.iter().all(|&u| u >= 0.0)
        && (0..q.len()).all(|j| !combined(&|i| m[i][j]).is_positive())
        && combined(&|i| q[i]).is_negative();
    if is_proof {
        Ok(())
    } else {
        Err(format!("u = {u:?} proves nothing"))
    }
}
