//! Two-body frictional impact: closed forms, reference outcomes, theorems, an independent oracle.

mod acceptance;
mod agreement;
mod baselines;
mod cases;
mod compliance;
mod hodograph;
mod oracle;
mod planar;
mod prepared;
mod random;
mod stress;
mod theorems;
