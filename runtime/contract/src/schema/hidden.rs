//! Finds the fields that serde takes for a struct, to hold them against what is published.

use std::cell::Cell;

use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

type Fields = &'static [&'static str];

/// The fields, aliases included, that serde takes for a struct; nothing for any other type, and
/// for a struct with flattened parts.
pub(crate) fn fields_of<T: DeserializeOwned>() -> Fields {
    let fields = Cell::new(Fields::default());
    // It gives nothing to read, so it can't succeed; what it was asked for is the answer.
    drop(T::deserialize(Probe(&fields)));
    fields.get()
}

struct Probe<'a>(&'a Cell<Fields>);

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("nothing is there"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: Fields,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.set(fields);
        self.deserialize_any(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
