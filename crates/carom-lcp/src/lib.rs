//! Linear complementarity (draft).
mod auto;
mod boxed;
mod certificate;
mod class;
mod contact;
mod enumerate;
mod error;
mod farkas;
mod gauss_seidel;
mod lemke;
mod pivoting;
mod problem;
mod scalar;
mod status;

pub use auto::{AutoChoice, auto};
pub use boxed::{BoxedLcp, BoxedSolution};
pub use certificate::{Certificate, SOLVED_RESIDUAL};
pub use class::{MAX_CLASS_DIM, MatrixClass, Verdict};
pub use contact::{ContactLcp, ContactRows};
pub use enumerate::{Enumeration, MAX_ENUMERATE_DIM, enumerate};
pub use error::LcpError;
pub use gauss_seidel::GaussSeidel;
pub use lemke::{Attempt, Lemke, LemkeOptions, LemkeReport, LemkeWorkspace};
pub use pivoting::principal_pivoting;
pub use problem::{Lcp, LcpRef, LcpSolution, MAX_DIM};
pub use status::LcpStatus;
