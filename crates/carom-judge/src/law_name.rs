//! Names of laws, written as text and read as names that are known.

use carom_contact::ImpactLaw;
use carom_impact::Law;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

pub(crate) fn serialize<S: Serializer>(law: &&'static str, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(law)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<&'static str, D::Error> {
    let name = String::deserialize(from)?;
    let mut known = Law::all().map(|law| law.name());
    known.find(|known| *known == name).ok_or_else(|| {
        D::Error::custom(format!("`{name}` is not the name of a law of carom-impact"))
    })
}
