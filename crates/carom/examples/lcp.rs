//! A linear complementarity problem and what its answer is worth: `cargo run --example lcp`.

use carom::lcp::{Enumerate, Lcp, LcpError, LcpSolver, Lemke};
use nalgebra::{dmatrix, dvector};

/// Find z >= 0 with w = Mz + q >= 0 and z.w = 0: three answers, of which Lemke's method finds one.
pub fn main() -> Result<(), LcpError> {
    let lcp = Lcp::new(dmatrix![1.0, 2.0; 2.0, 1.0], dvector![-1.0, -1.0])?;
    let solution = Lemke::default().solve(&lcp)?;
    println!(
        "{}: z {:.4?}, residual {:.1e}, {} pivots",
        solution.status.name(),
        solution.z.as_slice(),
        solution.certificate.residual,
        solution.n_pivots,
    );
    for solution in &Enumerate::default().all(lcp.view())?.solutions {
        println!("basic solution z {:.4?}", solution.z.as_slice());
    }
    Ok(())
}
