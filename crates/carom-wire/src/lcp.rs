//! Linear complementarity problems as JSON.

use crate::Answer;
use crate::error::{WireError, typed};
use crate::limits::{MAX_DIMENSION, check_length};
use carom_lcp::{
    Attempt, Auto, AutoChoice, DEFAULT_MAX_WORK, Enumerate, Lcp, LcpError, LcpSolution, LcpSolver,
    LcpStatus, Lemke, LemkeOptions, MatrixClass, Proof,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

const METHODS: [&str; 3] = ["lemke", "auto", "enumerate"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProblemInput {
    #[serde(default, rename = "id")]
    _id: Value,
    matrix: Vec<Vec<f64>>,
    vector: Vec<f64>,
    method: Option<String>,
    max_pivots: Option<u64>,
    max_work: Option<f64>,
    max_solutions: Option<u64>,
}

/// Default and largest value of `max_solutions`, the number of solutions that an answer lists.
const SOLUTIONS: (u64, u64) = (1000, 1_000_000);

/// Solves a linear complementarity problem, given as a JSON object, and returns the answer in JSON form.
pub(crate) fn solve(value: Value) -> Result<Answer, WireError> {
    let input: ProblemInput = typed(value, "")?;
    let method = input.method.as_deref().unwrap_or("lemke");
    if !METHODS.contains(&method) {
        let known = METHODS.join(", ");
        let message = format!("method: unknown method `{method}`; known: {known}");
        return Err(WireError::new("unknown-method", message));
    }
    check_length("matrix", input.matrix.len(), "rows", MAX_DIMENSION)?;
    check_length("vector", input.vector.len(), "entries", MAX_DIMENSION)?;
    let lcp = Lcp::from_rows(&input.matrix, input.vector)?;
    let max_work = match input.max_work {
        None => DEFAULT_MAX_WORK,
        // A count: rounded to nearest, at most the largest integer.
        Some(work) if work >= 0.0 => work.round() as u64,
        Some(work) => {
            return Err(invalid(format!(
                "max_work is {work}: it must not be negative"
            )));
        }
    };
    let max_solutions = input.max_solutions.unwrap_or(SOLUTIONS.0);
    if !(1..=SOLUTIONS.1).contains(&max_solutions) {
        let most = SOLUTIONS.1;
        let message = format!("max_solutions is {max_solutions}: it must be from 1 to {most}");
        return Err(invalid(message));
    }
    // JSON costs more than a correction of the last digits.
    let options = LemkeOptions::default()
        .with_max_pivots(input.max_pivots)
        .with_max_work(max_work)
        .with_refine_above(0.0);
    match method {
        "enumerate" => {
            let enumerate = Enumerate::default()
                .with_max_solutions(max_solutions as usize)
                .with_max_work(max_work);
            Ok(all(&lcp, enumerate)?)
        }
        "auto" => {
            let (solution, choice) = Auto::default().with_options(options).choose(lcp.view())?;
            let AutoChoice { method, reason, .. } = choice;
            let mut answer = fields(&solution);
            answer.insert("method".to_owned(), method.into());
            answer.insert("reason".to_owned(), reason.into());
            Ok(settled(solution.status, answer))
        }
        _ => {
            let solution = Lemke::default().with_options(options).solve(&lcp)?;
            let mut answer = fields(&solution);
            let attempt = solution.attempt.map(Attempt::name);
            answer.insert("attempt".to_owned(), json!(attempt));
            if solution.status == LcpStatus::Ray {
                let class = MatrixClass::of(lcp.matrix())?;
                answer.insert("explanation".to_owned(), class.explain_ray().into());
            }
            Ok(settled(solution.status, answer))
        }
    }
}

fn invalid(message: String) -> WireError {
    WireError::new("invalid-option", message)
}

fn settled(status: LcpStatus, fields: Map<String, Value>) -> Answer {
    Answer {
        fields,
        is_solved: status == LcpStatus::Solved,
    }
}

fn fields(solution: &LcpSolution) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    put("status", solution.status.name().into());
    put("z", json!(solution.z.as_slice()));
    put("w", json!(solution.w.as_slice()));
    put("residual", solution.certificate.residual.into());
    put("backward_error", solution.certificate.backward_error.into());
    put("heavy", solution.is_heavy.into());
    put("proof", json!(solution.proof.map(Proof::name)));
    if solution.proof == Some(Proof::Farkas) {
        put("farkas", json!(solution.farkas));
    }
    if let Some(limit) = solution.limit {
        put("limit", limit.name().into());
    }
    put("pivots", solution.n_pivots.into());
    fields
}

/// Finds all basic solutions of a linear complementarity problem and writes them as JSON. The fields of the first solution
/// also stand at the top level of the answer. `enumerate` limits work and number of solutions.
fn all(lcp: &Lcp, enumerate: Enumerate) -> Result<Answer, LcpError> {
    let all = enumerate.all(lcp.view())?;
    let is_solved = !all.solutions.is_empty();
    let first = all.first(lcp.view());
    let mut answer = fields(&first);
    let solutions = all.solutions.iter().map(|s| {
        json!({
            "z": s.z.as_slice(), "w": s.w.as_slice(), "residual": s.certificate.residual,
            "backward_error": s.certificate.backward_error, "heavy": s.is_heavy,
            "proof": s.proof.map(Proof::name),
        })
    });
    answer.insert("solutions".to_owned(), solutions.collect());
    answer.insert("complete".to_owned(), all.is_complete.into());
    answer.insert("segments".to_owned(), json!(all.segments));
    let rays = all.rays.iter().filter_map(|(i, j)| {
        Some(json!({"solution": i, "direction": all.directions.get(*j)?.as_slice()}))
    });
    answer.insert("rays".to_owned(), rays.collect());
    answer.insert("singular_bases".to_owned(), all.n_singular.into());
    Ok(Answer {
        fields: answer,
        is_solved,
    })
}
