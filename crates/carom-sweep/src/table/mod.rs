//! Tables: a schema, rows in columns, and their forms Parquet, CSV and JSON Lines.

mod decode;
mod encode;
mod rows;
mod schema;
mod text;

pub(crate) use decode::{columns_named, read_all, stamp};
pub(crate) use encode::{ParquetSink, encode};
pub(crate) use rows::{Datum, Rows};
pub(crate) use schema::Schema;
pub use schema::{ColumnType, Field};
pub(crate) use text::{CsvSink, json_row, write_json_lines};
