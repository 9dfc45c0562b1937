//! All laws of this crate, in one list.
//!
//! The files of this folder contain the names, the inputs and the options of the laws. From the list at the end of this
//! file a macro makes the closed enum [`Law`], the table [`LAWS`] and the reading of options. Code that depends on the
//! law matches on the enum without a default arm, so that a new law causes a compile error there: the comparison of
//! `carom-judge`, and the writing of answers in `carom-wire`.

mod anitescu_potra;
mod info;
mod moreau_newton;
#[cfg(feature = "serde")]
mod names;
mod nonholonomic;
mod plastic;
mod poisson;
mod propagative;
mod rough;
mod routh;
mod sequential;
mod set_valued;
mod two_body;

pub use info::{ContactCount, ContactKeys, LawInfo, OptionInfo, Outcomes};
pub use nonholonomic::{
    NonholonomicElastic, NonholonomicNewton, NonholonomicProjected, NonholonomicProjectedNewton,
};

use crate::frictional::{AnitescuPotra, MoreauNewton, Poisson, Sequential, SetValued};
use crate::{Plastic, Propagative, Rough, Routh, TwoBody};
use carom_contact::{ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem};

/// A law with a static description.
pub(crate) trait BuiltIn: ImpactLaw + Default {
    /// Description of the law.
    const INFO: LawInfo;
}

macro_rules! laws {
    ($($Variant:ident($Type:ident)),* $(,)?) => {
        /// Descriptions of all impact laws of this crate, in the order of the variants of [`Law`].
        pub const LAWS: &[LawInfo] = &[$(<$Type as BuiltIn>::INFO),*];

        /// An impact law of this crate with its options.
        ///
        /// The enum is closed: a `match` on it is complete, and a new law causes a compile error
        /// in every `match` without an arm for it. A law of your own implements [`ImpactLaw`] instead.
        ///
        /// # Examples
        ///
        /// ```
        /// use carom_impact::{Law, ImpactLaw};
        /// let law = Law::named("plastic").ok_or("unknown")?;
        /// assert_eq!(law.name(), "plastic");
        /// assert!(!law.info().uses.friction);
        /// assert!(Law::named("magic").is_none());
        /// # Ok::<(), &str>(())
        /// ```
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(tag = "law", content = "options", rename_all = "kebab-case"))]
        pub enum Law {
            $(#[doc = concat!("[`", stringify!($Type), "`].")] $Variant($Type),)*
        }

        impl Law {
            /// Returns the impact law with the identifier `name`, for example `plastic`, and its default options; `None` for
            /// an unknown name.
            pub fn named(name: &str) -> Option<Self> {
                $(if name == <$Type as BuiltIn>::INFO.name {
                    return Some(Self::$Variant($Type::default()));
                })*
                None
            }

            /// Iterates over all impact laws of this crate with their default options, in the order of [`LAWS`].
            pub fn all() -> impl Iterator<Item = Self> {
                [$(Self::$Variant($Type::default())),*].into_iter()
            }

            /// Returns the static description of this law: name, source, options and properties.
            pub fn info(&self) -> LawInfo {
                match self {
                    $(Self::$Variant(_) => <$Type as BuiltIn>::INFO,)*
                }
            }

            /// Returns this law as a trait object, for functions that accept any impact law.
            pub fn as_law(&self) -> &dyn ImpactLaw {
                match self {
                    $(Self::$Variant(law) => law,)*
                }
            }

            /// Returns a law of the same kind as `self`, with the options read from `options` by their keys. Options that
            /// are not given get their default values, not those of `self`.
            ///
            /// # Errors
            ///
            /// The errors of the deserializer; values out of range are rejected when the law is used.
            #[cfg(feature = "serde")]
            pub fn with_options<'de, D: serde::Deserializer<'de>>(
                &self,
                options: D,
            ) -> Result<Self, D::Error> {
                match self {
                    $(Self::$Variant(_) => {
                        <$Type as serde::Deserialize>::deserialize(options).map(Self::$Variant)
                    })*
                }
            }
        }

        $(impl $Type {
            /// Identifier of the law in records and on the command line.
            pub const NAME: &'static str = <Self as BuiltIn>::INFO.name;
        }

        impl From<$Type> for Law {
            fn from(law: $Type) -> Self {
                Self::$Variant(law)
            }
        })*
    };
}

impl ImpactLaw for Law {
    fn name(&self) -> &'static str {
        self.as_law().name()
    }

    fn resolve(&self, problem: &ImpactProblem) -> Result<ImpactOutcome, ImpactError> {
        self.as_law().resolve(problem)
    }
}

// List of all laws.
laws! {
    Propagative(Propagative),
    Plastic(Plastic),
    MoreauNewton(MoreauNewton),
    AnitescuPotra(AnitescuPotra),
    Poisson(Poisson),
    Sequential(Sequential),
    SetValued(SetValued),
    Routh(Routh),
    TwoBody(TwoBody),
    NonholonomicElastic(NonholonomicElastic),
    NonholonomicProjected(NonholonomicProjected),
    NonholonomicNewton(NonholonomicNewton),
    NonholonomicProjectedNewton(NonholonomicProjectedNewton),
    NonholonomicRough(Rough),
}
