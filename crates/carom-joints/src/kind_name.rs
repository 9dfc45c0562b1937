//! Joint types, written and read by their names.

use crate::kinds::Kind;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

pub(crate) fn serialize<S: Serializer>(kind: &&'static Kind, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(kind.name)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<&'static Kind, D::Error> {
    let name = String::deserialize(from)?;
    Kind::named(&name).ok_or_else(|| D::Error::custom(format!("`{name}` is no type of joint")))
}
