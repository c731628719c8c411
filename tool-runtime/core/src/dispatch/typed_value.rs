//! Results of calls as types.

use crate::tool::results::observation::Observation;
use crate::vocabulary::content::ContentBlock;
use serde::Deserializer;
use serde::de::{DeserializeOwned, Error as _, IntoDeserializer as _, Visitor};
use serde_json::Value;
use serde_json::de::StrRead;
use std::any::{Any, TypeId};

/// The value of a typed call, read from the result of the tool: every type that is `Deserialize` and owned, and
/// [`Observation`], [`ContentBlock`] and `Vec<ContentBlock>` as they are.
///
/// A structured result is read as JSON. A result that is text only is the value of a string, and JSON for other types; a
/// type that takes anything, such as `serde_json::Value`, gets JSON where the text is JSON. The text `null` is read as
/// `None` by an `Option<String>`.
#[diagnostic::on_unimplemented(
    message = "a typed call cannot return `{Self}`",
    label = "this value is not read from the result of the tool",
    note = "derive `serde::Deserialize` for it, or call the tool by its name, by `pool.call(ToolCall::json(..))`"
)]
pub trait TypedValue: Sized + 'static {
    /// Reads the value.
    ///
    /// # Errors
    /// The reason, for the operator: the result is not of the type.
    fn from_observation(observation: Observation) -> Result<Self, String>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + 'static> TypedValue for T {
    fn from_observation(observation: Observation) -> Result<Self, String> {
        if TypeId::of::<Self>() == TypeId::of::<Observation>() {
            return same(observation);
        }
        if TypeId::of::<Self>() == TypeId::of::<Vec<ContentBlock>>() {
            return same(observation.content().to_vec());
        }
        if TypeId::of::<Self>() == TypeId::of::<ContentBlock>() {
            return match observation.content() {
                [block] => same(block.clone()),
                blocks => Err(format!("it has {} content blocks", blocks.len())),
            };
        }
        let value = match observation.structured_json() {
            Some(json) => serde_json::from_str(json),
            None => Self::deserialize(Text(&observation.to_text())),
        };
        value.map_err(|error| error.to_string())
    }
}

/// A value whose type was compared.
fn same<T: 'static, U: 'static>(value: U) -> Result<T, String> {
    let value: Box<dyn Any> = Box::new(value);
    value.downcast().map(|value| *value).map_err(|_| "it is of another type".to_owned())
}

/// The text of a result without a structured value: it is the string itself where a string is read, and JSON elsewhere.
/// A tool returns scalars like this.
struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    /// Reads all of the text as JSON.
    fn whole<T>(
        self,
        read: impl FnOnce(&mut serde_json::Deserializer<StrRead<'a>>) -> serde_json::Result<T>,
    ) -> serde_json::Result<T> {
        let mut json = serde_json::Deserializer::from_str(self.0);
        let value = read(&mut json)?;
        json.end().map(|()| value)
    }
}

macro_rules! as_json {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
            self.whole(|json| json.$method(visitor))
        }
    )*};
}

macro_rules! as_string {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
            visitor.visit_str(self.0)
        }
    )*};
}

impl<'de> Deserializer<'de> for Text<'de> {
    type Error = serde_json::Error;

    as_json! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_bytes deserialize_byte_buf
        deserialize_seq deserialize_map deserialize_ignored_any
    }

    /// A float as Rust prints it, infinity included.
    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_f32(self.0.parse().map_err(serde_json::Error::custom)?)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_f64(self.0.parse().map_err(serde_json::Error::custom)?)
    }

    as_string! { deserialize_char deserialize_str deserialize_string deserialize_identifier }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match serde_json::from_str::<Value>(self.0) {
            Ok(value) => value.deserialize_any(visitor),
            Err(_) => visitor.visit_str(self.0),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        if self.0 == "null" { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.whole(|json| json.deserialize_tuple(length, visitor))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.whole(|json| json.deserialize_tuple_struct(name, length, visitor))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.whole(|json| json.deserialize_struct(name, fields, visitor))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_enum(self.0.into_deserializer())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::results::observation::IntoObservation;
    use serde::{Deserialize, Serialize};
    use std::fmt::Debug;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Color {
        DarkRed,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Name(String);

    fn read<T: TypedValue>(observation: Observation) -> T {
        T::from_observation(observation).unwrap_or_else(|error| panic!("{error}"))
    }

    /// A scalar that a tool returns is sent as text.
    fn returned<T: Serialize + TypedValue + Debug + PartialEq>(value: T) {
        let observation = Observation::json(&value).unwrap();
        assert_eq!(read::<T>(observation.clone().into_plain_text()), value);
        assert_eq!(read::<T>(observation), value);
    }

    fn printed<T: IntoObservation + Clone + TypedValue + Debug + PartialEq>(value: T) {
        assert_eq!(read::<T>(value.clone().into_observation().unwrap()), value);
    }

    #[test]
    fn what_a_tool_returns_is_read_back() {
        printed(String::from("42"));
        printed(String::from("a \"b\""));
        printed('x');
        printed(true);
        printed(-7_i8);
        printed(170_141_183_460_469_231_731_687_303_715_884_105_727_i128);
        printed(1e300_f64);
        printed(31.245_270_191_439_438_f64);
        printed(f64::INFINITY);
        printed(f32::from_bits(0x15ae_43fd));
        printed(());
        printed(serde_json::json!({"a": [1, "b"]}));
        printed(serde_json::json!("text"));
        printed(serde_json::json!(7));
        returned(Some(5_u32));
        returned(None::<u32>);
        returned(Some(String::from("a")));
        returned(Color::DarkRed);
        returned(Name("Ada".into()));
        returned(vec![1, 2, 3]);
        returned((1, String::from("a")));
    }

    #[test]
    fn results_and_their_content_are_returned_as_they_are() {
        let two = Observation::text("a").with_content(ContentBlock::text("b"));
        assert_eq!(read::<Observation>(two.clone()).to_text(), two.to_text());
        assert_eq!(read::<Vec<ContentBlock>>(two.clone()).len(), 2);
        assert_eq!(read::<ContentBlock>(Observation::text("a")).as_text(), Some("a"));
        assert!(ContentBlock::from_observation(two).is_err());
    }

    #[test]
    fn a_result_of_another_type_is_an_error() {
        assert!(i64::from_observation(Observation::text("(cut)")).is_err());
        assert!(i64::from_observation(Observation::text("7 files changed")).is_err());
        assert!(bool::from_observation(Observation::text("true story")).is_err());
        assert!(Vec::<i64>::from_observation(Observation::text("[1] and more")).is_err());
        assert!(Color::from_observation(Observation::text("blue")).is_err());
    }
}
