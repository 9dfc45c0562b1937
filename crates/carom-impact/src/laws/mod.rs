//! The laws of this crate, in one list.
//!
//! Each file of this folder alone knows what one law is called, what it takes and what its options
//! mean. The list at the end of this file makes of them the closed enum [`Law`], the table [`LAWS`]
//! and the reading of options. Whoever treats laws apart matches on the enum, without a default
//! arm, so that a new law is a compile error there: the comparison of `carom-judge`, and the writing of
//! answers in `carom-wire`.

mod anitescu_potra;
mod info;
mod moreau_newton;
#[cfg(feature = "serde")]
mod names;
mod nonholonomic_elastic;
mod nonholonomic_newton;
mod nonholonomic_projected;
mod nonholonomic_projected_newton;
mod nonholonomic_rough;
mod plastic;
mod poisson;
mod propagative;
mod routh;
mod sequential;
mod set_valued;
mod two_body;

pub use info::{ContactCount, ContactKeys, LawInfo, OptionInfo, Outcomes};
pub use nonholonomic_elastic::NonholonomicElastic;
pub use nonholonomic_newton::NonholonomicNewton;
pub use nonholonomic_projected::NonholonomicProjected;
pub use nonholonomic_projected_newton::NonholonomicProjectedNewton;

use crate::frictional::{AnitescuPotra, MoreauNewton, Poisson, Sequential, SetValued};
use crate::{Plastic, Propagative, Rough, Routh, TwoBody};
use carom_contact::{ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem};

/// A law that says what it is.
pub(crate) trait BuiltIn: ImpactLaw + Default {
    /// Description of the law.
    const INFO: LawInfo;
}

macro_rules! laws {
    ($($Variant:ident($Type:ident)),* $(,)?) => {
        /// Descriptions of all laws of this crate, in the order in which they are listed.
        pub const LAWS: &[LawInfo] = &[$(<$Type as BuiltIn>::INFO),*];

        /// A law of this crate with its options.
        ///
        /// The enum is closed: a `match` on it is complete, and a new law is a compile error
        /// wherever it has been forgotten. A law of your own implements [`ImpactLaw`] instead.
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
            /// The law of that name with its default options.
            pub fn named(name: &str) -> Option<Self> {
                $(if name == <$Type as BuiltIn>::INFO.name {
                    return Some(Self::$Variant($Type::default()));
                })*
                None
            }

            /// Every law with its default options, in the order of [`LAWS`].
            pub fn all() -> impl Iterator<Item = Self> {
                [$(Self::$Variant($Type::default())),*].into_iter()
            }

            /// Description of the law.
            pub fn info(&self) -> LawInfo {
                match self {
                    $(Self::$Variant(_) => <$Type as BuiltIn>::INFO,)*
                }
            }

            /// The law alone, without what is known about the others.
            pub fn as_law(&self) -> &dyn ImpactLaw {
                match self {
                    $(Self::$Variant(law) => law,)*
                }
            }

            /// The law with other options, by their keys.
            ///
            /// # Errors
            ///
            /// The errors of the deserializer; a value out of range is refused when the law is used.
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
            /// The law's name in records and on the command line.
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

    fn resolve(&self, problem: &ImpactProblem<'_>) -> Result<ImpactOutcome, ImpactError> {
        self.as_law().resolve(problem)
    }
}

// The one list.
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
