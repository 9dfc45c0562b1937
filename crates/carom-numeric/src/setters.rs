//! Setters of options, one line each.

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
        }
    };
}
