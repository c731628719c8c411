//! The members that a type reads, as its derived implementation names them.

use serde::de::value::Error;
use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};

/// The members of a struct.
pub(super) fn fields<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let mut fields: &[&str] = &[];
    let asked = T::deserialize(Ask(&mut fields));
    assert!(asked.is_err() && !fields.is_empty(), "{}", std::any::type_name::<T>());
    fields
}

/// Hears which members are asked for, and gives none.
struct Ask<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Ask<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("no struct"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        Err(Error::custom("heard"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq
        tuple tuple_struct map enum identifier ignored_any
    }
}
