//! Deserializes values of a tree; all configuration types are made by this deserializer.

use super::{Entry, Fault, Kind, Value};
use serde::de::{self, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

/// Name of the types that accept infinite numbers.
pub(crate) const EXTENDED: &str = "extended";

impl<'de> Deserializer<'de> for &'de Value {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.kind {
            Kind::Bool(value) => visitor.visit_bool(*value),
            Kind::Integer(value) => visitor.visit_i64(*value),
            Kind::Float(value) if value.is_finite() => visitor.visit_f64(*value),
            Kind::Float(value) => Err(Fault::new(format!("{value} must be finite"))),
            Kind::Text(value) => visitor.visit_borrowed_str(value),
            Kind::List(items) => {
                let mut access = Items { items, next: 0 };
                let value = visitor.visit_seq(&mut access)?;
                // Deserializing an array of fixed length stops at its last element; further items are an error.
                if access.next < items.len() {
                    let (given, taken) = (items.len(), access.next);
                    return Err(Fault::new(format!(
                        "{given} entries where {taken} are expected"
                    )));
                }
                Ok(value)
            }
            Kind::Table(entries) => visitor.visit_map(Entries { entries, next: 0 }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.kind {
            Kind::Float(value) if name == EXTENDED && value.is_infinite() => {
                visitor.visit_f64(*value)
            }
            _ if name == EXTENDED => self.deserialize_any(visitor),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.kind {
            Kind::Text(value) => visitor.visit_enum(value.as_str().into_deserializer()),
            _ => Err(Fault::new("a word in quotes is expected")),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Items<'de> {
    items: &'de [Value],
    next: usize,
}

impl<'de> de::SeqAccess<'de> for Items<'de> {
    type Error = Fault;

    fn next_element_seed<T: de::DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        let Some(item) = self.items.get(self.next) else {
            return Ok(None);
        };
        let index = self.next;
        self.next += 1;
        match seed.deserialize(item) {
            Ok(value) => Ok(Some(value)),
            Err(fault) => Err(fault.within_item(index, item.place)),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len().saturating_sub(self.next))
    }
}

struct Entries<'de> {
    entries: &'de [Entry],
    next: usize,
}

impl<'de> de::MapAccess<'de> for Entries<'de> {
    type Error = Fault;

    fn next_key_seed<K: de::DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        let Some(entry) = self.entries.get(self.next) else {
            return Ok(None);
        };
        let key: Result<_, Fault> = seed.deserialize(entry.key.as_str().into_deserializer());
        key.map(Some)
            .map_err(|fault| fault.within_key(&entry.key, entry.place))
    }

    fn next_value_seed<T: de::DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Fault> {
        let Some(entry) = self.entries.get(self.next) else {
            return Err(Fault::new("a key without a value"));
        };
        self.next += 1;
        seed.deserialize(&entry.value)
            .map_err(|fault| fault.within_key(&entry.key, entry.value.place))
    }
}
