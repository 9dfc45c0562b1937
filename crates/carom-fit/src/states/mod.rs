//! Measured impacts of any system, and how they are read and written.

mod columns;
mod error;
mod groups;
mod limited;
mod lines;
pub(crate) mod rows;
mod sample;
pub(crate) mod state;
mod table;
mod unit;
mod write;

pub use error::DataError;
pub(crate) use groups::Groups;
pub use lines::read_lines;
pub(crate) use sample::{MOST_BYTES, Sample};
pub use state::{Labels, State, Touch};
pub(crate) use table::read_rows;
pub(crate) use unit::Quantity;

pub(crate) use columns::Columns;

/// Largest number of states that are handed over at once.
pub(crate) const BATCH: usize = 2048;

/// Receiver of states, which are read in order and in batches.
pub type Sink<'s> = dyn FnMut(Vec<State>) -> Result<(), DataError> + 's;
