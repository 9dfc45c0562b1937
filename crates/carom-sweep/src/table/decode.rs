//! Reads rows from Parquet.

use super::encode::LIST_LEVELS;
use super::rows::Values;
use super::{ColumnType, Rows, Schema};
use parquet::basic::Type as Physical;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, RowGroupReader, SerializedFileReader};

/// Metadata of a table file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) plan: String,
    pub(crate) shard: String,
}

/// Reads the metadata of a table file: the digest of the sweep's plan, and the shard (part of the sweep's table).
pub(crate) fn stamp(reader: &SerializedFileReader<impl ChunkReader + 'static>) -> Stamp {
    let pairs = reader.metadata().file_metadata().key_value_metadata();
    let value = |key: &str| {
        let mut pairs = pairs.into_iter().flatten();
        let pair = pairs.find(|pair| pair.key == key);
        pair.and_then(|pair| pair.value.clone()).unwrap_or_default()
    };
    Stamp {
        plan: value("carom.plan"),
        shard: value("carom.shard"),
    }
}

/// Reads all rows of a Parquet file. Fails if number or types of its columns differ from `schema`.
pub(crate) fn read_all(
    reader: &SerializedFileReader<impl ChunkReader + 'static>,
    schema: &Schema,
) -> Result<Rows, ParquetError> {
    let described = reader.metadata().file_metadata().schema_descr();
    if described.num_columns() != schema.fields.len() {
        return Err(mismatch("columns"));
    }
    let mut all = Rows::new(schema);
    for index in 0..reader.num_row_groups() {
        let group = reader.get_row_group(index)?;
        let column = |(i, field): (usize, &super::Field)| read_column(&*group, i, field.kind);
        let columns: Result<_, ParquetError> =
            schema.fields.iter().enumerate().map(column).collect();
        let mut rows = Rows::of_columns(columns?);
        let n = rows.len();
        if rows.columns().iter().any(|values| values.len() != n) {
            return Err(mismatch("rows"));
        }
        all.take_front(&mut rows, n);
    }
    Ok(all)
}

/// Reads the columns with the given names from a Parquet file as numbers; false and true become 0 and 1. Returns one list
/// per name, with `None` for missing values. Fails for a column that does not exist or holds no numbers.
pub(crate) fn columns_named(
    reader: &SerializedFileReader<impl ChunkReader + 'static>,
    names: &[&str],
) -> Result<Vec<Vec<Option<f64>>>, ParquetError> {
    let described = reader.metadata().file_metadata().schema_descr();
    let mut found = Vec::new();
    for name in names {
        let mut columns = described.columns().iter().enumerate();
        let column = columns.find(|(_, column)| column.path().parts() == [*name]);
        let Some((index, column)) = column else {
            let all = described.columns().iter();
            let all: Vec<String> = all.map(|column| column.path().string()).collect();
            return Err(ParquetError::General(format!(
                "there is no column `{name}`; there are {}",
                all.join(", ")
            )));
        };
        let kind = match column.physical_type() {
            Physical::DOUBLE => ColumnType::Float,
            Physical::INT64 => ColumnType::Integer,
            Physical::BOOLEAN => ColumnType::Bool,
            _ => {
                return Err(ParquetError::General(format!(
                    "column `{name}` holds no numbers"
                )));
            }
        };
        let mut numbers = Vec::new();
        for group in 0..reader.num_row_groups() {
            let group = reader.get_row_group(group)?;
            match read_column(&*group, index, kind)? {
                Values::Float(values) => numbers.extend(values),
                Values::Integer(values) => {
                    numbers.extend(
                        values
                            .into_iter()
                            .map(|value| value.map(|value| value as f64)),
                    );
                }
                Values::Bool(values) => {
                    let number = |value: bool| f64::from(u8::from(value));
                    numbers.extend(values.into_iter().map(|value| value.map(number)));
                }
                _ => {}
            }
        }
        found.push(numbers);
    }
    Ok(found)
}

fn mismatch(what: &str) -> ParquetError {
    ParquetError::General(format!("other {what} than the plan has"))
}

fn read_column(
    group: &dyn RowGroupReader,
    index: usize,
    kind: ColumnType,
) -> Result<Values, ParquetError> {
    let n = usize::try_from(group.metadata().num_rows()).map_err(|_| mismatch("rows"))?;
    Ok(match (kind, group.get_column_reader(index)?) {
        (ColumnType::Unsigned, ColumnReader::Int64ColumnReader(reader)) => {
            let (values, _, _) = raw(reader, n)?;
            Values::Unsigned(values.into_iter().map(i64::cast_unsigned).collect())
        }
        (ColumnType::Integer, ColumnReader::Int64ColumnReader(reader)) => {
            Values::Integer(optional(reader, n)?)
        }
        (ColumnType::Float, ColumnReader::DoubleColumnReader(reader)) => {
            Values::Float(optional(reader, n)?)
        }
        (ColumnType::Bool, ColumnReader::BoolColumnReader(reader)) => {
            Values::Bool(optional(reader, n)?)
        }
        (ColumnType::Text, ColumnReader::ByteArrayColumnReader(reader)) => {
            let text = |bytes: ByteArray| Ok(bytes.as_utf8()?.to_owned());
            let texts = optional(reader, n)?.into_iter();
            let texts: Result<_, ParquetError> =
                texts.map(|bytes| bytes.map(text).transpose()).collect();
            Values::Text(texts?)
        }
        (ColumnType::List, ColumnReader::DoubleColumnReader(reader)) => {
            let (values, definition, repetition) = raw(reader, n)?;
            Values::List(lists(&values, &definition, &repetition))
        }
        _ => return Err(mismatch("types of columns")),
    })
}

type Raw<T> = (Vec<T>, Vec<i16>, Vec<i16>);

/// Reads `n` rows of a Parquet column. Returns the values, and the definition and repetition levels, by which Parquet marks
/// missing values and the starts of lists.
fn raw<T: DataType>(mut reader: ColumnReaderImpl<T>, n: usize) -> Result<Raw<T::T>, ParquetError> {
    let (mut values, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
    let mut read = 0;
    while read < n {
        let (records, ..) = reader.read_records(
            n - read,
            Some(&mut definition),
            Some(&mut repetition),
            &mut values,
        )?;
        if records == 0 {
            return Err(mismatch("rows"));
        }
        read += records;
    }
    Ok((values, definition, repetition))
}

/// Reads `n` rows of a Parquet column without lists. Returns one entry per row, `None` for a missing value.
fn optional<T: DataType>(
    reader: ColumnReaderImpl<T>,
    n: usize,
) -> Result<Vec<Option<T::T>>, ParquetError> {
    let (values, definition, _) = raw(reader, n)?;
    if definition.is_empty() {
        return Ok(values.into_iter().map(Some).collect());
    }
    let mut values = values.into_iter();
    let value = |level: &i16| if *level > 0 { values.next() } else { None };
    Ok(definition.iter().map(value).collect())
}

fn lists(values: &[f64], definition: &[i16], repetition: &[i16]) -> Vec<Option<Vec<f64>>> {
    let [none, _, element] = LIST_LEVELS;
    let mut values = values.iter();
    let mut lists: Vec<Option<Vec<f64>>> = Vec::new();
    for (level, repeats) in definition.iter().zip(repetition) {
        if *repeats == 0 {
            lists.push((*level > none).then(Vec::new));
        }
        if *level >= element
            && let (Some(Some(list)), Some(value)) = (lists.last_mut(), values.next())
        {
            list.push(*value);
        }
    }
    lists
}
