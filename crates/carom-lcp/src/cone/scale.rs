//! Scaling of contact problems with friction cones.

use super::newton::Scaled;
use super::problem::{ConeProblem, WIDTH};
use crate::LcpError;

/// Writes the scaled contact problem into `system`. Rows are scaled so that the Delassus matrix has the diagonal
/// entry one for each normal, and the mean diagonal entry one for the two tangents of each contact. Returns an
/// error if a scaled number is not finite.
pub(super) fn scale(problem: &ConeProblem<'_>, system: &mut Scaled) -> Result<(), LcpError> {
    let (m, n) = (problem.n_contacts(), problem.dim());
    system.n = n;
    system.factors.clear();
    system.friction.clear();
    system.caps.clear();
    system.floors.clear();
    system.slips.clear();
    system.compliance.clear();
    for i in 0..m {
        let [normal, x, y] = problem.diagonal(i);
        let mean = 0.5 * (x + y);
        let tangent = if mean > 0.0 { mean } else { normal };
        let (s, t) = (1.0 / normal.sqrt(), 1.0 / tangent.sqrt());
        let compliance = (normal + x + y) / 3.0;
        system.factors.extend_from_slice(&[s, t, t]);
        system.friction.push(problem.friction(i) * (s / t));
        system.caps.push(problem.cap(i) / s);
        system.floors.push(problem.floor(i) / s);
        system.slips.push(problem.slip(i));
        let (normal, tangent) = (compliance * s * s, compliance * t * t);
        system
            .compliance
            .extend_from_slice(&[normal, tangent, tangent]);
    }
    system.matrix.clear();
    for (j, factor) in system.factors.iter().enumerate() {
        let column = problem.column(j).iter().zip(&system.factors);
        system.matrix.extend(column.map(|(g, f)| f * g * factor));
    }
    system.rigid.clear();
    let diagonal = system.matrix.iter().step_by(n + 1);
    system.rigid.extend(diagonal);
    system.velocity.clear();
    for (row, (b, f)) in problem.velocity().iter().zip(&system.factors).enumerate() {
        let e = match row % WIDTH {
            0 => problem.restitution(row / WIDTH),
            _ => 0.0,
        };
        system.velocity.push((1.0 + e) * b * f);
    }
    for (what, values) in [
        ("delassus matrix", &system.matrix),
        ("velocity", &system.velocity),
    ] {
        if let Some(index) = values.iter().position(|x| !x.is_finite()) {
            let value = values[index];
            return Err(LcpError::NonFinite { what, index, value });
        }
    }
    Ok(())
}
