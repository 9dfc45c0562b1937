//! Linear complementarity problems as JSON.

use crate::Answer;
use crate::error::{WireError, typed};
use carom_lcp::{
    Certificate, Lcp, LcpError, LcpStatus, Lemke, LemkeOptions, LemkeWorkspace, MatrixClass, auto,
    enumerate,
};
use nalgebra::DVector;
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
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    max_pivots: Option<usize>,
}

/// Answers one problem.
pub(crate) fn solve(value: Value) -> Result<Answer, WireError> {
    let input: ProblemInput = typed(value, "")?;
    let method = input.method.as_deref().unwrap_or("lemke");
    if !METHODS.contains(&method) {
        let known = METHODS.join(", ");
        let message = format!("method: unknown method `{method}`; known: {known}");
        return Err(WireError::new("unknown-method", message));
    }
    let lcp = Lcp::from_rows(&input.matrix, input.vector)?;
    // JSON costs more than a correction of the last digits.
    let options = LemkeOptions {
        max_pivots: input.max_pivots,
        refine_above: 0.0,
        ..LemkeOptions::default()
    };
    match method {
        "enumerate" => Ok(all(&lcp)?),
        "auto" => {
            let (solution, choice) = auto(&lcp, options)?;
            let mut answer = fields(
                solution.status,
                solution.z.as_slice(),
                solution.w.as_slice(),
                &solution.certificate,
                solution.n_pivots,
            );
            answer.insert("method".to_owned(), choice.method.into());
            answer.insert("reason".to_owned(), choice.reason.into());
            Ok(settled(solution.status, answer))
        }
        _ => {
            let mut workspace = LemkeWorkspace::new();
            let report = Lemke { options }.solve_into(lcp.view(), &mut workspace)?;
            let mut answer = fields(
                report.status,
                workspace.z(),
                workspace.w(),
                &report.certificate,
                report.n_pivots,
            );
            answer.insert("attempt".to_owned(), report.attempt.name().into());
            if report.status == LcpStatus::Ray {
                let class = MatrixClass::of(lcp.matrix())?;
                answer.insert("explanation".to_owned(), class.explain_ray().into());
            }
            Ok(settled(report.status, answer))
        }
    }
}

fn settled(status: LcpStatus, fields: Map<String, Value>) -> Answer {
    Answer {
        fields,
        is_solved: status == LcpStatus::Solved,
    }
}

fn fields(
    status: LcpStatus,
    z: &[f64],
    w: &[f64],
    certificate: &Certificate,
    pivots: usize,
) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    put("status", status.name().into());
    put("z", json!(z));
    put("w", json!(w));
    // Not finite only if z is not: there is no answer to speak of.
    put("residual", json!(certificate.residual.min(f64::MAX)));
    put("pivots", pivots.into());
    fields
}

/// All basic solutions; the first stands at the top.
fn all(lcp: &Lcp) -> Result<Answer, LcpError> {
    let all = enumerate(lcp.view())?;
    let bases = 1usize << lcp.dim();
    let mut answer = match all.solutions.first() {
        Some(s) => fields(
            s.status,
            s.z.as_slice(),
            s.w.as_slice(),
            &s.certificate,
            bases,
        ),
        None => {
            let z = DVector::zeros(lcp.dim());
            let (certificate, w) = lcp.certify(&z)?;
            let status = LcpStatus::Infeasible;
            fields(status, z.as_slice(), w.as_slice(), &certificate, bases)
        }
    };
    let solutions = all.solutions.iter().map(|s| {
        json!({
            "z": s.z.as_slice(), "w": s.w.as_slice(), "residual": s.certificate.residual,
        })
    });
    answer.insert("solutions".to_owned(), solutions.collect());
    answer.insert("segments".to_owned(), json!(all.segments));
    let rays = all.rays.iter().filter_map(|(i, j)| {
        Some(json!({"solution": i, "direction": all.directions.get(*j)?.as_slice()}))
    });
    answer.insert("rays".to_owned(), rays.collect());
    answer.insert("singular_bases".to_owned(), all.n_singular.into());
    let is_solved = !all.solutions.is_empty();
    Ok(Answer {
        fields: answer,
        is_solved,
    })
}
