//! Options that are written as one word although their type has parameters.

use crate::PlasticRule;
use crate::frictional::set_valued::{BranchPolicy, CAP_OFF, COVERING_SPREAD, CapDistribution};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Error as _, Serialize, Serializer};

/// Implements reading and writing of a type by the names of some values; other values cannot be written.
macro_rules! by_name {
    ($Type:ty { $($name:literal => $value:expr),* $(,)? }) => {
        impl Serialize for $Type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $(if *self == $value {
                    return serializer.serialize_str($name);
                })*
                Err(S::Error::custom(format_args!("{self:?} has no name")))
            }
        }

        impl<'de> Deserialize<'de> for $Type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = String::deserialize(deserializer)?;
                match name.as_str() {
                    $($name => Ok($value),)*
                    _ => Err(D::Error::unknown_variant(&name, &[$($name),*])),
                }
            }
        }
    };
}

by_name!(PlasticRule {
    "cone" => Self::Cone,
    "project-all" => Self::ProjectAll { allow_adhesion: true },
});

by_name!(BranchPolicy {
    "fixed" => Self::Fixed,
    "random" => Self::RandomCovering { spread: COVERING_SPREAD },
    "enumerate" => Self::Enumerate,
    "auto" => Self::Auto,
});

by_name!(CapDistribution {
    "uniform" => Self::Uniform,
    "mixed" => Self::Mixed { off: CAP_OFF },
    "auto" => Self::Auto,
});
