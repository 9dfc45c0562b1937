//! The extension module `carom._native`, which takes NumPy arrays and returns answers of `carom-wire`.
//!
//! The Python package around it checks arrays and options, names results and draws; this crate
//! computes. Like those of the command line, numbers and error messages come from `carom-wire`. Every
//! numeric function copies its input, releases the interpreter's lock, and works on
//! threads of its own process.

mod answer;
mod batch;
mod error;
mod gradient;
mod impact;
mod json;
mod pool;
mod problems;
mod record;
mod session;
mod sweep;

use pyo3::prelude::*;

/// Defines the module.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<answer::Answer>()?;
    module.add_class::<impact::Impact>()?;
    module.add_class::<record::Record>()?;
    module.add_class::<session::Session>()?;
    module.add_class::<sweep::Ask>()?;
    module.add_function(wrap_pyfunction!(batch::resolve_many, module)?)?;
    module.add_function(wrap_pyfunction!(batch::judge_rows, module)?)?;
    module.add_function(wrap_pyfunction!(gradient::saltation, module)?)?;
    module.add_function(wrap_pyfunction!(gradient::has_event_restitution, module)?)?;
    module.add_function(wrap_pyfunction!(problems::solve, module)?)?;
    module.add_function(wrap_pyfunction!(problems::json_lines, module)?)?;
    module.add_function(wrap_pyfunction!(problems::main, module)?)?;
    module.add_function(wrap_pyfunction!(record::run, module)?)?;
    module.add_function(wrap_pyfunction!(record::scenarios, module)?)?;
    module.add_function(wrap_pyfunction!(record::show, module)?)?;
    module.add_function(wrap_pyfunction!(record::sort_left_out, module)?)?;
    module.add_function(wrap_pyfunction!(record::world, module)?)?;
    module.add_function(wrap_pyfunction!(session::start, module)?)?;
    module.add_function(wrap_pyfunction!(session::resumed, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::prepare, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::run_shard, module)?)?;
    let laws: Vec<&str> = carom::impact::LAWS.iter().map(|law| law.name).collect();
    module.add("LAWS", laws)?;
    module.add("NUMERICS_VERSION", carom::NUMERICS_VERSION)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
