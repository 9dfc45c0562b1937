//! Setters of options, one line each, and the list of the fields from which a test puts numbers into each of them.

use std::marker::PhantomData;

/// Defines the setters `with_FIELD(value)` of a struct of options. Each returns the struct with another value of one field.
///
/// # Examples
///
/// ```
/// #[derive(Default)]
/// pub struct Options {
///     pub steps: usize,
/// }
///
/// carom_numeric::setters!(Options {
///     /// Sets the number of steps.
///     with_steps: steps, usize;
/// });
///
/// assert_eq!(Options::default().with_steps(3).steps, 3);
/// ```
#[macro_export]
macro_rules! setters {
    ($Type:ty { $($(#[$doc:meta])* $setter:ident: $field:ident, $Value:ty;)* }) => {
        impl $Type {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $setter(mut self, $field: $Value) -> Self {
                    self.$field = $field;
                    self
                }
            )*

            /// Every field that has a setter, with a function that puts a number into it.
            #[doc(hidden)]
            pub const FIELDS: &'static [$crate::setters::Field<Self>] = &[$((
                stringify!($field),
                |options, number| {
                    #[allow(unused_imports)]
                    use $crate::setters::NoNumber as _;
                    let value = $crate::setters::Kind::<$Value>::NEW.of(number);
                    value.map(|value| options.$setter(value))
                },
            )),*];
        }
    };
}

/// Name of a field, and a function that puts a number into it; `None` if the type of the field has no such value.
#[doc(hidden)]
pub type Field<T> = (&'static str, fn(T, f64) -> Option<T>);

/// Type of a field.
#[doc(hidden)]
#[derive(Debug)]
pub struct Kind<T>(PhantomData<T>);

impl<T> Kind<T> {
    /// The type.
    pub const NEW: Self = Self(PhantomData);
}

/// A number, or an optional one.
#[doc(hidden)]
pub trait Number: Sized {
    /// Converts a number to this type. Counts end at their largest value; a negative one has no value.
    fn from_number(number: f64) -> Option<Self>;
}

impl Number for f64 {
    fn from_number(number: f64) -> Option<Self> {
        Some(number)
    }
}

impl Number for usize {
    fn from_number(number: f64) -> Option<Self> {
        (number >= 0.0).then_some(number as Self)
    }
}

impl Number for u64 {
    fn from_number(number: f64) -> Option<Self> {
        (number >= 0.0).then_some(number as Self)
    }
}

impl<T: Number> Number for Option<T> {
    fn from_number(number: f64) -> Option<Self> {
        T::from_number(number).map(Some)
    }
}

impl<T: Number> Kind<T> {
    /// Converts a number to this type.
    pub fn of(&self, number: f64) -> Option<T> {
        T::from_number(number)
    }
}

/// A type that holds no number: chosen where the method of [`Kind`] does not exist.
#[doc(hidden)]
pub trait NoNumber<T> {
    /// No value.
    fn of(&self, _number: f64) -> Option<T> {
        None
    }
}

impl<T> NoNumber<T> for Kind<T> {}
