//! Numbers, vectors and matrices as `serde` stores them, for fields with `#[serde(with = "carom_numeric::stored")]`.
//!
//! A vector is the list of its entries. A matrix has its numbers of rows and columns, and its entries row by row. JSON has no
//! infinite numbers: these, and NaN, are the words `inf`, `-inf` and `nan`. What is read is equal to what was written, bit for
//! bit (of NaN only that it is one). [`finite`] refuses numbers that are not finite, when it reads and when it writes.

use nalgebra::{DMatrix, DVector, SMatrix};
use serde::de::{DeserializeOwned, Error as _, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// A type that is stored in another form.
pub trait Stored: Sized {
    /// Form that is stored.
    type Form: Serialize + DeserializeOwned;

    /// Converts the value to the form that is stored.
    fn form(&self) -> Self::Form;

    /// Converts the form back to the value. The error is the text that a reader gets.
    ///
    /// # Errors
    ///
    /// A text that says what is wrong with the form.
    fn restore(form: Self::Form) -> Result<Self, String>;

    /// True if all numbers of this value are finite.
    fn is_finite(&self) -> bool;
}

/// Writes a value.
///
/// # Errors
///
/// The errors of the serializer.
pub fn serialize<T: Stored, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    value.form().serialize(serializer)
}

/// Reads a value.
///
/// # Errors
///
/// The errors of the deserializer, and a matrix whose entries are not as many as its rows and columns need.
pub fn deserialize<'de, T: Stored, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::restore(T::Form::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// Values of finite numbers alone.
pub mod finite {
    use super::{Deserializer, Serializer, Stored};
    use serde::{de, ser};

    const FAULT: &str = "a number is not finite";

    /// Writes a value whose numbers are finite.
    ///
    /// # Errors
    ///
    /// The errors of the serializer, and a number that is not finite.
    pub fn serialize<T: Stored, S: Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        if value.is_finite() || !serializer.is_human_readable() {
            super::serialize(value, serializer)
        } else {
            Err(ser::Error::custom(FAULT))
        }
    }

    /// Reads a value whose numbers are finite.
    ///
    /// # Errors
    ///
    /// The errors of [`deserialize`](super::deserialize), and a number that is not finite.
    pub fn deserialize<'de, T: Stored, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        let value: T = super::deserialize(deserializer)?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(de::Error::custom(FAULT))
        }
    }
}

/// A number, or a word for one that is not finite.
#[derive(Clone, Copy, Debug)]
pub struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            x if x.is_finite() || !serializer.is_human_readable() => serializer.serialize_f64(x),
            x if x.is_nan() => serializer.serialize_str("nan"),
            x if x > 0.0 => serializer.serialize_str("inf"),
            _ => serializer.serialize_str("-inf"),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = if deserializer.is_human_readable() {
            deserializer.deserialize_any(NumberVisitor)
        } else {
            deserializer.deserialize_f64(NumberVisitor)
        };
        read.map(Self)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = f64;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a number, `inf`, `-inf` or `nan`")
    }

    fn visit_f64<E: serde::de::Error>(self, x: f64) -> Result<f64, E> {
        Ok(x)
    }

    fn visit_i64<E: serde::de::Error>(self, x: i64) -> Result<f64, E> {
        Ok(x as f64)
    }

    fn visit_u64<E: serde::de::Error>(self, x: u64) -> Result<f64, E> {
        Ok(x as f64)
    }

    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<f64, E> {
        match word {
            "nan" => Ok(f64::NAN),
            "inf" => Ok(f64::INFINITY),
            "-inf" => Ok(f64::NEG_INFINITY),
            _ => Err(E::invalid_value(Unexpected::Str(word), &self)),
        }
    }
}

/// Entries of a matrix, row by row.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    entries: Vec<Number>,
}

fn numbers<'x>(entries: impl Iterator<Item = &'x f64>) -> Vec<Number> {
    entries.map(|x| Number(*x)).collect()
}

impl Stored for f64 {
    type Form = Number;

    fn form(&self) -> Number {
        Number(*self)
    }

    fn restore(form: Number) -> Result<Self, String> {
        Ok(form.0)
    }

    fn is_finite(&self) -> bool {
        f64::is_finite(*self)
    }
}

impl<T: Stored> Stored for [T; 2] {
    type Form = (T::Form, T::Form);

    fn form(&self) -> Self::Form {
        (self[0].form(), self[1].form())
    }

    fn restore((first, second): Self::Form) -> Result<Self, String> {
        Ok([T::restore(first)?, T::restore(second)?])
    }

    fn is_finite(&self) -> bool {
        self.iter().all(T::is_finite)
    }
}

impl Stored for DVector<f64> {
    type Form = Vec<Number>;

    fn form(&self) -> Vec<Number> {
        numbers(self.iter())
    }

    fn restore(form: Vec<Number>) -> Result<Self, String> {
        Ok(Self::from_iterator(form.len(), form.iter().map(|x| x.0)))
    }

    fn is_finite(&self) -> bool {
        crate::kernel::is_finite(self.as_slice())
    }
}

impl Stored for DMatrix<f64> {
    type Form = Matrix;

    fn form(&self) -> Matrix {
        let (rows, columns) = self.shape();
        let entries = numbers(self.transpose().iter());
        Matrix {
            rows,
            columns,
            entries,
        }
    }

    fn restore(form: Matrix) -> Result<Self, String> {
        let (rows, columns, found) = (form.rows, form.columns, form.entries.len());
        if rows.checked_mul(columns) != Some(found) {
            return Err(format!("{found} entries in a matrix of {rows} × {columns}"));
        }
        let entries = form.entries.iter().map(|x| x.0);
        Ok(Self::from_row_iterator(rows, columns, entries))
    }

    fn is_finite(&self) -> bool {
        crate::kernel::is_finite(self.as_slice())
    }
}

/// A vector or a matrix of fixed size is the list of its entries, row by row.
impl<const R: usize, const C: usize> Stored for SMatrix<f64, R, C> {
    type Form = Vec<Number>;

    fn form(&self) -> Vec<Number> {
        numbers(self.transpose().iter())
    }

    fn restore(form: Vec<Number>) -> Result<Self, String> {
        if form.len() != R * C {
            return Err(format!("{} entries where {} are needed", form.len(), R * C));
        }
        Ok(Self::from_row_iterator(form.iter().map(|x| x.0)))
    }

    fn is_finite(&self) -> bool {
        crate::kernel::is_finite(self.as_slice())
    }
}

impl<T: Stored> Stored for Option<T> {
    type Form = Option<T::Form>;

    fn form(&self) -> Self::Form {
        self.as_ref().map(T::form)
    }

    fn restore(form: Self::Form) -> Result<Self, String> {
        form.map(T::restore).transpose()
    }

    fn is_finite(&self) -> bool {
        self.as_ref().is_none_or(T::is_finite)
    }
}

/// A value with a name.
impl<T: Stored> Stored for (Cow<'static, str>, T) {
    type Form = (String, T::Form);

    fn form(&self) -> Self::Form {
        (self.0.to_string(), self.1.form())
    }

    fn restore(form: Self::Form) -> Result<Self, String> {
        Ok((form.0.into(), T::restore(form.1)?))
    }

    fn is_finite(&self) -> bool {
        self.1.is_finite()
    }
}

impl<T: Stored> Stored for Vec<T> {
    type Form = Vec<T::Form>;

    fn form(&self) -> Self::Form {
        self.iter().map(T::form).collect()
    }

    fn restore(form: Self::Form) -> Result<Self, String> {
        form.into_iter().map(T::restore).collect()
    }

    fn is_finite(&self) -> bool {
        self.iter().all(T::is_finite)
    }
}
