//! Shapes as they are read: in the form of their fields, and through their constructors, which check them.

/// Defines the form in which a type is read, and its conversion to the type.
macro_rules! read_as {
    ($Form:ident $(<$S:ident>)? { $($(#[$attribute:meta])* $field:ident: $Value:ty,)* } -> $Type:ty, |$form:ident| $build:expr) => {
        /// Form in which the type is read.
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $Form $(<$S>)? {
            $($(#[$attribute])* $field: $Value,)*
        }

        impl $(<$S>)? TryFrom<$Form $(<$S>)?> for $Type {
            type Error = $crate::GeometryError;

            fn try_from($form: $Form $(<$S>)?) -> Result<Self, Self::Error> {
                $build
            }
        }
    };
}

pub(crate) use read_as;
