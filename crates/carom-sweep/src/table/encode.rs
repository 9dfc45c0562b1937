//! Writes rows to Parquet. The bytes depend only on the rows, the schema and the metadata.

use super::rows::Values;
use super::{ColumnType, Field, Rows, Schema};
use parquet::basic::{
    Compression, Encoding, IntType, LogicalType, Repetition, Type as Physical, ZstdLevel,
};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use std::io::Write;
use std::sync::Arc;

/// Writer of a Parquet file, row group by row group.
pub(crate) struct ParquetSink<W: Write + Send> {
    writer: SerializedFileWriter<W>,
}

impl<W: Write + Send> ParquetSink<W> {
    /// Begins a Parquet file with the columns of `schema`. `to` receives the bytes; `stamp` holds the metadata as pairs of
    /// key and value.
    pub(crate) fn new(
        to: W,
        schema: &Schema,
        stamp: Vec<(&str, String)>,
    ) -> Result<Self, ParquetError> {
        let properties = properties(schema, stamp)?;
        let writer = SerializedFileWriter::new(to, root(schema)?, Arc::new(properties))?;
        Ok(Self { writer })
    }

    /// Appends rows to the Parquet file as one row group.
    pub(crate) fn write(&mut self, rows: &Rows) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for values in rows.columns() {
            if let Some(mut column) = group.next_column()? {
                write_column(&mut column, values)?;
                column.close()?;
            }
        }
        group.close()?;
        Ok(())
    }

    /// Completes the Parquet file and returns the writer that received its bytes.
    pub(crate) fn finish(self) -> Result<W, ParquetError> {
        self.writer.into_inner()
    }
}

/// Returns the bytes of a Parquet file that holds `rows` in one row group. `stamp` holds the metadata as pairs of key and
/// value.
pub(crate) fn encode(
    schema: &Schema,
    stamp: Vec<(&str, String)>,
    rows: &Rows,
) -> Result<Vec<u8>, ParquetError> {
    let mut sink = ParquetSink::new(Vec::new(), schema, stamp)?;
    sink.write(rows)?;
    sink.finish()
}

fn properties(
    schema: &Schema,
    stamp: Vec<(&str, String)>,
) -> Result<WriterProperties, ParquetError> {
    let stamp = stamp
        .into_iter()
        .map(|(key, value)| KeyValue::new(key.to_owned(), value));
    let mut properties = WriterProperties::builder()
        .set_created_by("carom".to_owned())
        .set_key_value_metadata(Some(stamp.collect()))
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_dictionary_enabled(false);
    for field in &schema.fields {
        let path = ColumnPath::from(field.name.clone());
        properties = match field.kind {
            ColumnType::Text => properties.set_column_dictionary_enabled(path, true),
            ColumnType::Unsigned | ColumnType::Integer => {
                properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED)
            }
            ColumnType::Float | ColumnType::Bool | ColumnType::List => properties,
        };
    }
    Ok(properties.build())
}

fn root(schema: &Schema) -> Result<TypePtr, ParquetError> {
    let fields: Result<Vec<TypePtr>, ParquetError> = schema
        .fields
        .iter()
        .map(|field| column(field).map(Arc::new))
        .collect();
    let root = Type::group_type_builder("carom").with_fields(fields?);
    Ok(Arc::new(root.build()?))
}

fn column(field: &Field) -> Result<Type, ParquetError> {
    let repetition = if field.is_nullable {
        Repetition::OPTIONAL
    } else {
        Repetition::REQUIRED
    };
    let (physical, logical) = match field.kind {
        ColumnType::Unsigned => (
            Physical::INT64,
            Some(LogicalType::Integer(IntType {
                bit_width: 64,
                is_signed: false,
            })),
        ),
        ColumnType::Integer => (Physical::INT64, None),
        ColumnType::Float => (Physical::DOUBLE, None),
        ColumnType::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        ColumnType::Bool => (Physical::BOOLEAN, None),
        ColumnType::List => {
            let element = Type::primitive_type_builder("element", Physical::DOUBLE)
                .with_repetition(Repetition::OPTIONAL)
                .build()?;
            let list = Type::group_type_builder("list")
                .with_repetition(Repetition::REPEATED)
                .with_fields(vec![Arc::new(element)])
                .build()?;
            return Type::group_type_builder(&field.name)
                .with_repetition(repetition)
                .with_logical_type(Some(LogicalType::List))
                .with_fields(vec![Arc::new(list)])
                .build();
        }
    };
    Type::primitive_type_builder(&field.name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .build()
}

/// Definition levels of a list column: no list, an empty list, an element.
pub(super) const LIST_LEVELS: [i16; 3] = [0, 1, 3];

fn write_column(
    column: &mut SerializedColumnWriter<'_>,
    values: &Values,
) -> Result<(), ParquetError> {
    match values {
        Values::Unsigned(values) => {
            let values: Vec<i64> = values.iter().map(|value| value.cast_signed()).collect();
            column
                .typed::<Int64Type>()
                .write_batch(&values, None, None)?;
        }
        Values::Integer(values) => {
            let (values, levels) = present(values.iter().copied());
            column
                .typed::<Int64Type>()
                .write_batch(&values, Some(&levels), None)?;
        }
        Values::Float(values) => {
            let (values, levels) = present(values.iter().copied());
            column
                .typed::<DoubleType>()
                .write_batch(&values, Some(&levels), None)?;
        }
        Values::Bool(values) => {
            let (values, levels) = present(values.iter().copied());
            column
                .typed::<BoolType>()
                .write_batch(&values, Some(&levels), None)?;
        }
        Values::Text(values) => {
            let bytes = |text: &String| ByteArray::from(text.as_str());
            let (values, levels) = present(values.iter().map(|text| text.as_ref().map(bytes)));
            column
                .typed::<ByteArrayType>()
                .write_batch(&values, Some(&levels), None)?;
        }
        Values::List(values) => write_lists(column, values)?,
    }
    Ok(())
}

fn write_lists(
    column: &mut SerializedColumnWriter<'_>,
    lists: &[Option<Vec<f64>>],
) -> Result<(), ParquetError> {
    let [none, empty, element] = LIST_LEVELS;
    let (mut numbers, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
    for list in lists {
        match list.as_deref() {
            None => definition.push(none),
            Some([]) => definition.push(empty),
            Some(list) => {
                numbers.extend_from_slice(list);
                definition.extend(list.iter().map(|_| element));
            }
        }
        repetition.push(0);
        repetition.resize(definition.len(), 1);
    }
    column
        .typed::<DoubleType>()
        .write_batch(&numbers, Some(&definition), Some(&repetition))?;
    Ok(())
}

/// Separates the existing values of a column from the missing ones. Returns the existing values, and the Parquet definition
/// level of each row: 1 if the row has a value, 0 if not.
fn present<T>(values: impl Iterator<Item = Option<T>>) -> (Vec<T>, Vec<i16>) {
    let mut levels = Vec::with_capacity(values.size_hint().0);
    let found = values.inspect(|value| levels.push(i16::from(value.is_some())));
    let found: Vec<T> = found.flatten().collect();
    (found, levels)
}
