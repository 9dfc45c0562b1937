//! Writes values as bytes.

use super::Fault;
use serde::ser::{self, Error as _, Serialize};

/// Returns the bytes of a value. A list whose length is not known before, and a number of 128 bits, end them.
pub fn encode<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    let mut writer = Writer(Vec::new());
    let _ = value.serialize(&mut writer);
    writer.0
}

struct Writer(Vec<u8>);

impl Writer {
    fn length(&mut self, length: Option<usize>) -> Result<(), Fault> {
        let length = length.and_then(|n| u32::try_from(n).ok());
        let length = length.ok_or_else(|| Fault::custom("a list is too long"))?;
        self.0.extend(length.to_le_bytes());
        Ok(())
    }

    fn variant(&mut self, index: u32) {
        self.0.push(index as u8);
    }
}

macro_rules! whole {
    ($($write:ident: $type:ty),*) => {
        $(fn $write(self, x: $type) -> Result<(), Fault> {
            self.0.extend(i64::from(x).to_le_bytes());
            Ok(())
        })*
    };
}

impl ser::Serializer for &mut Writer {
    type Ok = ();
    type Error = Fault;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    fn is_human_readable(&self) -> bool {
        false
    }

    whole!(
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u16: u16, serialize_u32: u32
    );

    fn serialize_u8(self, x: u8) -> Result<(), Fault> {
        self.0.push(x);
        Ok(())
    }

    fn serialize_u64(self, x: u64) -> Result<(), Fault> {
        self.0.extend(x.to_le_bytes());
        Ok(())
    }

    fn serialize_bool(self, x: bool) -> Result<(), Fault> {
        self.0.push(u8::from(x));
        Ok(())
    }

    fn serialize_f32(self, x: f32) -> Result<(), Fault> {
        self.serialize_f64(f64::from(x))
    }

    fn serialize_f64(self, x: f64) -> Result<(), Fault> {
        self.0.extend(x.to_bits().to_le_bytes());
        Ok(())
    }

    fn serialize_char(self, x: char) -> Result<(), Fault> {
        self.serialize_u32(u32::from(x))
    }

    fn serialize_str(self, x: &str) -> Result<(), Fault> {
        self.serialize_bytes(x.as_bytes())
    }

    fn serialize_bytes(self, x: &[u8]) -> Result<(), Fault> {
        self.length(Some(x.len()))?;
        self.0.extend(x);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Fault> {
        self.serialize_bool(false)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Fault> {
        self.0.push(1);
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Fault> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Fault> {
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
    ) -> Result<(), Fault> {
        self.variant(index);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Fault> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Fault> {
        self.variant(index);
        value.serialize(self)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self, Fault> {
        self.length(length)?;
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Fault> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Fault> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Fault> {
        self.variant(index);
        Ok(self)
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self, Fault> {
        self.length(length)?;
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Fault> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Fault> {
        self.variant(index);
        Ok(self)
    }
}

macro_rules! items {
    ($($of:ident: $write:ident),*) => {
        $(impl ser::$of for &mut Writer {
            type Ok = ();
            type Error = Fault;

            fn $write<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), Fault> {
                Ok(())
            }
        })*
    };
}

items!(
    SerializeSeq: serialize_element,
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field
);

macro_rules! fields {
    ($($of:ident),*) => {
        $(impl ser::$of for &mut Writer {
            type Ok = ();
            type Error = Fault;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                _: &'static str,
                value: &T,
            ) -> Result<(), Fault> {
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), Fault> {
                Ok(())
            }
        })*
    };
}

fields!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for &mut Writer {
    type Ok = ();
    type Error = Fault;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Fault> {
        key.serialize(&mut **self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), Fault> {
        Ok(())
    }
}
