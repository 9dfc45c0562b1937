//! Text of a configuration, for the line numbers of errors.

use crate::states::DataError;
use serde::de::DeserializeOwned;
use std::ops::Range;
use toml::Spanned;

/// Text of a configuration in TOML.
pub(crate) struct Source<'t>(pub(crate) &'t str);

impl Source<'_> {
    /// Reads the whole text.
    ///
    /// # Errors
    ///
    /// [`DataError::Configuration`] with the line of the first fault.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, DataError> {
        toml::from_str(self.0).map_err(|e| {
            let line = self.line(e.span().map_or(0, |span| span.start));
            let message = e.message().replace('\n', " ");
            DataError::Configuration(format!("line {line}: {message}"))
        })
    }

    fn line(&self, place: usize) -> usize {
        1 + self.0.bytes().take(place).filter(|b| *b == b'\n').count()
    }

    /// Returns the error for a key at a place of the text.
    pub(crate) fn error(&self, span: Range<usize>, key: &str, why: &str) -> DataError {
        let line = self.line(span.start);
        DataError::Configuration(format!("line {line}: {key}: {why}"))
    }

    /// Returns the value of a key if it fulfills a condition; otherwise `why` says what is wrong.
    pub(crate) fn checked<T: Clone>(
        &self,
        key: &str,
        value: &Spanned<T>,
        is_good: impl Fn(&T) -> bool,
        why: &str,
    ) -> Result<T, DataError> {
        if is_good(value.get_ref()) {
            Ok(value.get_ref().clone())
        } else {
            Err(self.error(value.span(), key, why))
        }
    }

    /// Returns the value of a key that must be positive.
    pub(crate) fn positive(&self, key: &str, value: &Spanned<f64>) -> Result<f64, DataError> {
        self.checked(key, value, is_positive, "must be positive")
    }

    /// Returns what `make` makes of the value of a key, or its message as an error.
    pub(crate) fn made<T, U>(
        &self,
        key: &str,
        value: &Spanned<T>,
        make: impl FnOnce(&T) -> Result<U, String>,
    ) -> Result<U, DataError> {
        make(value.get_ref()).map_err(|why| self.error(value.span(), key, &why))
    }
}

pub(crate) fn is_positive(x: &f64) -> bool {
    *x > 0.0 && x.is_finite()
}
