//! Reads an object key by key. All generated decoders share this reader: decoding is compiled once per type of a value,
//! not once per tool.

use super::decode_error::{DecodeError, DecodeFailure, without_position};
use super::tracked::{Flags, Tracked};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, IgnoredAny, Visitor};
use serde_json::de::StrRead;
use serde_json::{Map, Value};

/// A key in JSON, and the parameter that it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    name: &'static str,
    parameter: usize,
    takes_rest: bool,
}

impl Key {
    /// A parameter's name or alias.
    pub const fn named(name: &'static str, parameter: usize) -> Self {
        Self { name, parameter, takes_rest: false }
    }

    /// The flattened parameter, which takes every key that no other has.
    pub const fn rest(parameter: usize) -> Self {
        Self { name: "", parameter, takes_rest: true }
    }
}

/// Reads an object key by key.
#[derive(Debug)]
pub struct ArgumentReader<'a, 'k> {
    text: &'a str,
    at: usize,
    is_first: bool,
    keys: &'k [Key],
    /// The probable position of the next key in the table: most callers keep its order.
    expected: usize,
    parameter: usize,
    /// A bit for each of the first 64 parameters that was null.
    nulls: u64,
    rest: String,
    /// The start of the last value.
    value_at: usize,
    flags: Flags,
}

impl<'a, 'k> ArgumentReader<'a, 'k> {
    pub(super) fn new(text: &'a str, keys: &'k [Key]) -> Result<Self, DecodeError> {
        let mut reader = Self {
            text,
            at: 0,
            is_first: true,
            keys,
            expected: 0,
            parameter: 0,
            nulls: 0,
            rest: String::new(),
            value_at: 0,
            flags: Flags::default(),
        };
        match reader.next_byte() {
            Some(b'{') => Ok(reader),
            _ => Err(malformed("the arguments must be a JSON object")),
        }
    }

    /// The parameter that the next key belongs to; `None` at the end of the object.
    ///
    /// # Errors
    /// A key that no parameter has, or text that is not JSON.
    pub fn next_key(&mut self) -> Result<Option<usize>, DecodeError> {
        while self.has_next()? {
            let found = match self.plain_key() {
                Some(parameter) => Some(parameter),
                None => self.other_key()?,
            };
            if let Some(parameter) = found {
                self.parameter = parameter;
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// A key out of order or with another spelling; `None` for one that is kept for the remaining fields. Not inlined:
    /// it would slow down the common case.
    #[inline(never)]
    fn other_key(&mut self) -> Result<Option<usize>, DecodeError> {
        let start = self.at;
        let name = self.key()?;
        match self.find(&name) {
            Some(parameter) => Ok(Some(parameter)),
            None if self.keys.iter().any(|key| key.takes_rest) => {
                self.keep_for_rest(start)?;
                Ok(None)
            }
            None => Err(DecodeError::new(DecodeFailure::Unknown(name.into_owned()))),
        }
    }

    /// The common case: the next key of the table, without spaces and escapes.
    fn plain_key(&mut self) -> Option<usize> {
        let key = self.keys.get(self.expected)?;
        let text = self.text.as_bytes().get(self.at..)?;
        let rest = text.strip_prefix(b"\"")?.strip_prefix(key.name.as_bytes())?;
        if key.takes_rest || !rest.starts_with(b"\":") {
            return None;
        }
        self.at += key.name.len() + 3;
        self.expected += 1;
        Some(key.parameter)
    }

    /// Decodes the value after the key into its slot.
    ///
    /// # Errors
    /// A value of the wrong type, or a second value for one parameter.
    pub fn read<T: DeserializeOwned>(&mut self, slot: &mut Option<T>) -> Result<(), DecodeError> {
        if slot.is_some() {
            return Err(DecodeError::new(DecodeFailure::Repeated(self.parameter)));
        }
        *slot = Some(self.value()?);
        Ok(())
    }

    /// Like [`Self::read`], but `null` leaves the slot to the default unless the type takes it.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_or_null<T: DeserializeOwned>(
        &mut self,
        slot: &mut Option<T>,
    ) -> Result<(), DecodeError> {
        // Null leaves the slot empty.
        let bit = 1_u64.checked_shl(self.parameter as u32).unwrap_or(0);
        if self.nulls & bit != 0 {
            return Err(DecodeError::new(DecodeFailure::Repeated(self.parameter)));
        }
        self.skip_space();
        if slot.is_none() && self.text[self.at..].starts_with("null") {
            self.skip()?;
            self.nulls |= bit;
            *slot = serde_json::from_str("null").ok();
            return Ok(());
        }
        self.read(slot)
    }

    /// Skips the value after the key.
    ///
    /// # Errors
    /// Text that is not JSON.
    pub fn skip(&mut self) -> Result<(), DecodeError> {
        let mut json = self.json();
        let skipped = IgnoredAny::deserialize(&mut json);
        self.moved(json, skipped).map(drop)
    }

    /// Decodes the flattened parameter from the keys that no other parameter has. An optional one
    /// is absent if none of them has a value.
    ///
    /// # Errors
    /// A value of the wrong type.
    pub fn rest<T: DeserializeOwned>(&mut self, parameter: usize) -> Result<T, DecodeError> {
        self.rest = format!("{{{}}}", self.rest);
        self.parameter = parameter;
        let mut json = serde_json::Deserializer::from_str(&self.rest);
        T::deserialize(Tracked::new(&mut json, &self.flags)).or_else(|error| match absent() {
            Some(nothing) if holds_nothing(&self.rest) => Ok(nothing),
            _ => Err(self.parse_error(&error)),
        })
    }

    /// Rejects the flattened parameter if its type ignored keys that are not allowed.
    pub(crate) fn reject_ignored_rest(&self, allows: fn(&str) -> bool) -> Result<(), DecodeError> {
        self.reject_ignored_in(|| &self.rest, allows)
    }

    /// Rejects the last value if its type ignored keys that are not allowed.
    #[inline]
    pub(crate) fn reject_ignored(&self, allows: fn(&str) -> bool) -> Result<(), DecodeError> {
        self.reject_ignored_in(|| &self.text[self.value_at..self.at], allows)
    }

    #[inline]
    fn reject_ignored_in<'t>(
        &self,
        text: impl FnOnce() -> &'t str,
        allows: fn(&str) -> bool,
    ) -> Result<(), DecodeError> {
        if self.flags.ignored.take() && !allows(text()) {
            return Err(DecodeError::new(DecodeFailure::Ignored(self.parameter)));
        }
        Ok(())
    }

    fn value<T: DeserializeOwned>(&mut self) -> Result<T, DecodeError> {
        self.value_at = self.at;
        let mut json = self.json();
        let value = T::deserialize(Tracked::new(&mut json, &self.flags));
        self.moved(json, value)
    }

    #[inline]
    fn json(&self) -> serde_json::Deserializer<StrRead<'a>> {
        serde_json::Deserializer::from_str(&self.text[self.at..])
    }

    #[inline]
    fn moved<T>(
        &mut self,
        json: serde_json::Deserializer<StrRead<'a>>,
        value: serde_json::Result<T>,
    ) -> Result<T, DecodeError> {
        match value {
            Ok(value) => {
                // No method of the deserializer itself returns its position.
                self.at += json.into_iter::<IgnoredAny>().byte_offset();
                Ok(value)
            }
            Err(error) => Err(self.parse_error(&error)),
        }
    }

    /// Names the parameter for every error; invalid JSON is found again when all arguments are parsed.
    #[cold]
    fn parse_error(&self, error: &serde_json::Error) -> DecodeError {
        DecodeError::new(match error.classify() {
            serde_json::error::Category::Data => {
                DecodeFailure::Value(self.parameter, without_position(error))
            }
            _ => DecodeFailure::Number(self.parameter, without_position(error)),
        })
    }

    /// Whether there is another key; at the end, whether nothing follows the object.
    fn has_next(&mut self) -> Result<bool, DecodeError> {
        let is_first = std::mem::replace(&mut self.is_first, false);
        match self.next_byte() {
            Some(b'}') => self.nothing_follows().map(|()| false),
            Some(b'"') if is_first => {
                self.at -= 1;
                Ok(true)
            }
            Some(b',') if !is_first => {
                self.skip_space();
                Ok(true)
            }
            _ if is_first => Err(malformed("expected `,` or `}` between arguments")),
            _ => {
                let text = "expected `,` or `}` behind it".to_owned();
                Err(DecodeError::new(DecodeFailure::Number(self.parameter, text)))
            }
        }
    }

    fn nothing_follows(&mut self) -> Result<(), DecodeError> {
        match self.next_byte() {
            None => Ok(()),
            Some(_) => Err(malformed("there is text after the arguments' closing brace")),
        }
    }

    /// A key and the colon after it. Escapes in keys are legal and rare.
    fn key(&mut self) -> Result<std::borrow::Cow<'a, str>, DecodeError> {
        let text = self.text;
        let rest = text[self.at..]
            .strip_prefix('"')
            .ok_or_else(|| malformed("expected an argument's name in quotes"))?;
        let plain = rest.bytes().position(|b| b == b'"' || b == b'\\' || b < b' ');
        let name = match plain {
            Some(end) if rest.as_bytes()[end] == b'"' => {
                self.at += end + 2;
                std::borrow::Cow::Borrowed(&rest[..end])
            }
            _ => std::borrow::Cow::Owned(self.value()?),
        };
        match self.next_byte() {
            Some(b':') => Ok(name),
            _ => Err(malformed("expected `:` behind an argument's name")),
        }
    }

    fn find(&self, name: &str) -> Option<usize> {
        let key = self.keys.iter().find(|key| key.name == name && !key.takes_rest)?;
        Some(key.parameter)
    }

    fn keep_for_rest(&mut self, start: usize) -> Result<(), DecodeError> {
        self.skip()?;
        if !self.rest.is_empty() {
            self.rest.push(',');
        }
        self.rest.push_str(&self.text[start..self.at]);
        Ok(())
    }

    fn next_byte(&mut self) -> Option<u8> {
        loop {
            let byte = self.byte_at(self.at)?;
            self.at += 1;
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
        }
    }

    fn skip_space(&mut self) {
        while matches!(self.byte_at(self.at), Some(b' ' | b'\n' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    fn byte_at(&self, index: usize) -> Option<u8> {
        self.text.as_bytes().get(index).copied()
    }
}

/// Whether all values of an object are null.
#[cold]
fn holds_nothing(object: &str) -> bool {
    let fields = serde_json::from_str::<Map<String, Value>>(object);
    fields.is_ok_and(|fields| fields.values().all(Value::is_null))
}

/// The value of a slot, or else the value of the type for an absent argument: `None` for an `Option`.
///
/// # Errors
/// If the type needs a value.
pub fn required<T: DeserializeOwned>(slot: Option<T>, parameter: usize) -> Result<T, DecodeError> {
    match slot.or_else(absent) {
        Some(value) => Ok(value),
        None => Err(DecodeError::new(DecodeFailure::Missing(parameter))),
    }
}

/// The value of a type for an absent argument by serde's own rule, which does not depend on how an optional type is
/// written.
pub(crate) fn absent<T: DeserializeOwned>() -> Option<T> {
    T::deserialize(Absent).ok()
}

struct Absent;

impl<'de> Deserializer<'de> for Absent {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(serde::de::Error::custom("absent"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_none()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
        ignored_any
    }
}

#[cold]
fn malformed(text: &str) -> DecodeError {
    DecodeError::new(DecodeFailure::Malformed(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::arguments::Arguments;

    const KEYS: &[Key] = &[Key::named("a", 0), Key::named("b", 1), Key::named("bee", 1)];

    fn read(text: &str) -> Result<(i64, Option<String>), String> {
        let run = || {
            let mut reader = Arguments::new(text).reader(KEYS)?;
            let (mut a, mut b) = (None, None);
            while let Some(index) = reader.next_key()? {
                match index {
                    0 => reader.read(&mut a)?,
                    _ => reader.read(&mut b)?,
                }
            }
            Ok((required(a, 0)?, required::<Option<String>>(b, 1)?))
        };
        run().map_err(|error: DecodeError| error.to_string())
    }

    #[test]
    fn values_reach_their_slots_in_any_order() {
        assert_eq!(read(r#"{"a":1,"b":"x"}"#), Ok((1, Some("x".into()))));
        assert_eq!(read(" { \"bee\" : \"\\n\" ,\n\"a\" : -7 } "), Ok((-7, Some("\n".into()))));
        assert_eq!(read(r#"{"\u0061":2}"#), Ok((2, None)));
        assert_eq!(read(r#"{"a":3,"b":null}"#), Ok((3, None)));
    }

    #[test]
    fn the_first_failure_is_named() {
        for (text, expected) in [
            ("[1,2]", "must be a JSON object"),
            ("\"a\"", "must be a JSON object"),
            ("", "argument 0 is missing"),
            ("{}", "argument 0 is missing"),
            (r#"{"a":1,"a":2}"#, "argument 0 is given twice"),
            (r#"{"a":1,"c":2}"#, "unknown argument `c`"),
            (r#"{"a":"x"}"#, "argument 0: invalid type: string \"x\", expected i64"),
            (r#"{"a":1"#, "expected `,` or `}`"),
            (r#"{"a":1,}"#, "expected an argument's name"),
            (r#"{"a":1} 2"#, "text after"),
            (r#"{"a" 1}"#, "expected `:`"),
            (r#"{"a":}"#, "expected value"),
            (r#"{,"a":1}"#, "expected `,` or `}`"),
            (r#"{"a":1 "b":"x"}"#, "expected `,` or `}`"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn an_empty_key_belongs_to_the_remaining_fields() {
        const REST: &[Key] = &[Key::rest(0), Key::named("a", 1)];
        for text in [r#"{"":1,"a":2}"#, r#"{"a":2,"":1}"#, r#"{"a":2, "" :1}"#] {
            let mut reader = Arguments::new(text).reader(REST).expect("an object");
            let mut a = None;
            while let Some(parameter) = reader.next_key().expect(text) {
                assert_eq!(parameter, 1, "{text}");
                reader.read::<i64>(&mut a).expect(text);
            }
            let rest: std::collections::HashMap<String, i64> = reader.rest(0).expect(text);
            assert_eq!((a, rest.get("")), (Some(2), Some(&1)), "{text}");
        }
        assert_eq!(read(r#"{"":1}"#), Err("unknown argument ``".to_owned()));
    }

    proptest::proptest! {
        #![proptest_config(crate::property::cases(256))]

        /// Accepts the same objects as serde_json, with the same values.
        #[test]
        fn agrees_with_serde_json(a in proptest::prelude::any::<i64>(), b in ".*", space in "[ \n\t]{0,3}") {
            let b_json = serde_json::to_string(&b).expect("a string serialises");
            let text = format!("{{{space}\"b\"{space}:{space}{b_json}{space},\"a\":{a}{space}}}");
            proptest::prop_assert_eq!(read(&text), Ok((a, Some(b))));
        }

        /// Any text is rejected without a panic.
        #[test]
        fn survives_any_text(text in ".*") {
            let _ = read(&text);
            let _ = read(&format!("{{{text}}}"));
            let _ = read(&format!("{{\"a\":{text}}}"));
        }
    }
}
