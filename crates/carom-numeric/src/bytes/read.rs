//! Reads values from bytes.

use super::Fault;
use serde::de::value::U32Deserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Error as _, IntoDeserializer, Visitor};

/// Reads a value from all of `bytes`. The items of lists and maps and the letters of texts take at most `memory` (bytes).
///
/// # Errors
///
/// A [`Fault`]: bytes that are no such value, are left over, or need more memory.
pub fn decode<T: DeserializeOwned>(bytes: &[u8], memory: usize) -> Result<T, Fault> {
    let mut reader = Reader {
        left: bytes,
        memory,
    };
    let value = T::deserialize(&mut reader)?;
    if reader.left.is_empty() {
        Ok(value)
    } else {
        Err(Fault::custom("bytes are left over"))
    }
}

struct Reader<'b> {
    left: &'b [u8],
    /// Memory that lists may still take (bytes).
    memory: usize,
}

impl<'b> Reader<'b> {
    fn take(&mut self, n: usize) -> Result<&'b [u8], Fault> {
        let parts = self.left.split_at_checked(n);
        let (taken, left) = parts.ok_or_else(|| Fault::custom("bytes are missing"))?;
        self.left = left;
        Ok(taken)
    }

    fn eight(&mut self) -> Result<[u8; 8], Fault> {
        let mut out = [0; 8];
        out.copy_from_slice(self.take(8)?);
        Ok(out)
    }

    fn whole(&mut self) -> Result<i64, Fault> {
        let whole = i64::from_le_bytes(self.eight()?);
        let most = 1 << f64::MANTISSA_DIGITS;
        if whole.unsigned_abs() <= most {
            Ok(whole)
        } else {
            Err(Fault::custom("a whole number is too large"))
        }
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        Ok(self.take(1)?.first().copied().unwrap_or_default())
    }

    fn flag(&mut self) -> Result<bool, Fault> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Fault::custom("a flag is neither 0 nor 1")),
        }
    }

    fn length(&mut self) -> Result<usize, Fault> {
        let mut out = [0; 4];
        out.copy_from_slice(self.take(4)?);
        Ok(u32::from_le_bytes(out) as usize)
    }

    /// Takes memory for an item of `size` bytes.
    fn claim(&mut self, size: usize) -> Result<(), Fault> {
        let left = self.memory.checked_sub(size);
        self.memory = left.ok_or_else(|| Fault::custom("lists take too much memory"))?;
        Ok(())
    }

    fn text(&mut self) -> Result<&'b str, Fault> {
        let length = self.length()?;
        let bytes = self.take(length)?;
        self.claim(length)?;
        std::str::from_utf8(bytes).map_err(Fault::custom)
    }
}

macro_rules! whole {
    ($($read:ident: $visit:ident),*) => {
        $(fn $read<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            visitor.$visit(self.whole()?)
        })*
    };
}

macro_rules! natural {
    ($($read:ident),*) => {
        $(fn $read<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            let whole = u64::try_from(self.whole()?);
            visitor.visit_u64(whole.map_err(Fault::custom)?)
        })*
    };
}

impl<'de> de::Deserializer<'de> for &mut Reader<'_> {
    type Error = Fault;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Fault> {
        Err(Fault::custom("bytes do not tell their type"))
    }

    whole!(
        deserialize_i8: visit_i64, deserialize_i16: visit_i64, deserialize_i32: visit_i64, deserialize_i64: visit_i64
    );

    natural!(deserialize_u16, deserialize_u32, deserialize_u64);

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_u8(self.byte()?)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_bool(self.flag()?)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_f64(f64::from_bits(u64::from_le_bytes(self.eight()?)))
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let code = u32::try_from(self.whole()?).ok().and_then(char::from_u32);
        visitor.visit_char(code.ok_or_else(|| Fault::custom("no letter"))?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_str(self.text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_str(self.text()?)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let length = self.length()?;
        let bytes = self.take(length)?;
        self.claim(length)?;
        visitor.visit_bytes(bytes)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.flag()? {
            visitor.visit_some(self)
        } else {
            visitor.visit_none()
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let left = self.length()?;
        visitor.visit_seq(Items {
            reader: self,
            left,
            grows: true,
        })
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_seq(Items {
            reader: self,
            left: length,
            grows: false,
        })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let left = self.length()?;
        visitor.visit_map(Items {
            reader: self,
            left,
            grows: true,
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_tuple(fields.len(), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_enum(self)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_any(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_any(visitor)
    }
}

/// Items of a list, tuple or map that are not read yet.
struct Items<'r, 'b> {
    reader: &'r mut Reader<'b>,
    left: usize,
    /// True if every item takes memory of its own.
    grows: bool,
}

impl Items<'_, '_> {
    fn next<'de, S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        if self.grows {
            self.reader.claim(size_of::<S::Value>())?;
        }
        seed.deserialize(&mut *self.reader)
    }

    /// Counts an item; false if there are no more.
    fn count(&mut self) -> bool {
        let more = self.left > 0;
        self.left -= usize::from(more);
        more
    }
}

impl<'de> de::SeqAccess<'de> for Items<'_, '_> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Fault> {
        if self.count() {
            self.next(seed).map(Some)
        } else {
            Ok(None)
        }
    }
}

impl<'de> de::MapAccess<'de> for Items<'_, '_> {
    type Error = Fault;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Fault> {
        if self.count() {
            self.next(seed).map(Some)
        } else {
            Ok(None)
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        self.next(seed)
    }
}

impl<'de> de::EnumAccess<'de> for &mut Reader<'_> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Fault> {
        let index: U32Deserializer<Fault> = u32::from(self.byte()?).into_deserializer();
        Ok((seed.deserialize(index)?, self))
    }
}

impl<'de> de::VariantAccess<'de> for &mut Reader<'_> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Fault> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Fault> {
        de::Deserializer::deserialize_tuple(self, length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        de::Deserializer::deserialize_tuple(self, fields.len(), visitor)
    }
}
