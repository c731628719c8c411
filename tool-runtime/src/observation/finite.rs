//! Detects floats that JSON cannot hold, while a value is serialised.
//!
//! serde_json writes NaN and infinity as `null`, and nothing in its output tells such a `null` from
//! an intended one.

use serde::Serialize;
use serde::ser::{self, SerializeMap, Serializer};
use serde_json::value::RawValue;
use std::cell::Cell;

/// The JSON of a value as serde_json writes it, and whether all its floats are finite.
pub(super) fn to_raw_value<T: Serialize + ?Sized>(
    value: &T,
) -> serde_json::Result<(Box<RawValue>, bool)> {
    let is_finite = Cell::new(true);
    let json = serde_json::value::to_raw_value(&Watched { inner: value, is_finite: &is_finite })?;
    Ok((json, is_finite.get()))
}

/// A value, or what serialises it, that clears `is_finite` at each float that is not finite.
struct Watched<'a, T> {
    inner: T,
    is_finite: &'a Cell<bool>,
}

impl<'a, T> Watched<'a, T> {
    fn with<U>(&self, inner: U) -> Watched<'a, U> {
        Watched { inner, is_finite: self.is_finite }
    }
}

impl<T: Serialize + ?Sized> Serialize for Watched<'_, &T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.inner.serialize(self.with(serializer))
    }
}

/// Methods that hand their arguments on unchanged.
macro_rules! forwarded {
    ($($method:ident($($name:ident: $type:ty),*);)*) => {$(
        fn $method(self, $($name: $type),*) -> Result<S::Ok, S::Error> {
            self.inner.$method($($name),*)
        }
    )*};
}

/// Methods that begin something with parts, which are watched as well.
macro_rules! compound {
    ($($method:ident($($name:ident: $type:ty),*) -> $part:ident;)*) => {$(
        fn $method(self, $($name: $type),*) -> Result<Self::$part, S::Error> {
            let is_finite = self.is_finite;
            Ok(Watched { inner: self.inner.$method($($name),*)?, is_finite })
        }
    )*};
}

impl<'a, S: Serializer> Serializer for Watched<'a, S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Watched<'a, S::SerializeSeq>;
    type SerializeTuple = Watched<'a, S::SerializeTuple>;
    type SerializeTupleStruct = Watched<'a, S::SerializeTupleStruct>;
    type SerializeTupleVariant = Watched<'a, S::SerializeTupleVariant>;
    type SerializeMap = Watched<'a, S::SerializeMap>;
    type SerializeStruct = Watched<'a, S::SerializeStruct>;
    type SerializeStructVariant = Watched<'a, S::SerializeStructVariant>;

    fn serialize_f32(self, value: f32) -> Result<S::Ok, S::Error> {
        if !value.is_finite() {
            self.is_finite.set(false);
        }
        self.inner.serialize_f32(value)
    }

    fn serialize_f64(self, value: f64) -> Result<S::Ok, S::Error> {
        if !value.is_finite() {
            self.is_finite.set(false);
        }
        self.inner.serialize_f64(value)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        let value = self.with(value);
        self.inner.serialize_some(&value)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let value = self.with(value);
        self.inner.serialize_newtype_struct(name, &value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let value = self.with(value);
        self.inner.serialize_newtype_variant(name, index, variant, &value)
    }

    fn collect_str<T: std::fmt::Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.collect_str(value)
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }

    forwarded! {
        serialize_bool(value: bool);
        serialize_i8(value: i8);
        serialize_i16(value: i16);
        serialize_i32(value: i32);
        serialize_i64(value: i64);
        serialize_i128(value: i128);
        serialize_u8(value: u8);
        serialize_u16(value: u16);
        serialize_u32(value: u32);
        serialize_u64(value: u64);
        serialize_u128(value: u128);
        serialize_char(value: char);
        serialize_str(value: &str);
        serialize_bytes(value: &[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(name: &'static str);
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str);
    }

    compound! {
        serialize_seq(length: Option<usize>) -> SerializeSeq;
        serialize_tuple(length: usize) -> SerializeTuple;
        serialize_tuple_struct(name: &'static str, length: usize) -> SerializeTupleStruct;
        serialize_tuple_variant(name: &'static str, index: u32, variant: &'static str, length: usize) -> SerializeTupleVariant;
        serialize_map(length: Option<usize>) -> SerializeMap;
        serialize_struct(name: &'static str, length: usize) -> SerializeStruct;
        serialize_struct_variant(name: &'static str, index: u32, variant: &'static str, length: usize) -> SerializeStructVariant;
    }
}

/// Parts without a name.
macro_rules! elements {
    ($($part:ident: $method:ident;)*) => {$(
        impl<S: ser::$part> ser::$part for Watched<'_, S> {
            type Ok = S::Ok;
            type Error = S::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
                let value = self.with(value);
                self.inner.$method(&value)
            }

            fn end(self) -> Result<S::Ok, S::Error> {
                self.inner.end()
            }
        }
    )*};
}

/// Parts with a name.
macro_rules! fields {
    ($($part:ident;)*) => {$(
        impl<S: ser::$part> ser::$part for Watched<'_, S> {
            type Ok = S::Ok;
            type Error = S::Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), S::Error> {
                let value = self.with(value);
                self.inner.serialize_field(name, &value)
            }

            fn skip_field(&mut self, name: &'static str) -> Result<(), S::Error> {
                self.inner.skip_field(name)
            }

            fn end(self) -> Result<S::Ok, S::Error> {
                self.inner.end()
            }
        }
    )*};
}

elements! {
    SerializeSeq: serialize_element;
    SerializeTuple: serialize_element;
    SerializeTupleStruct: serialize_field;
    SerializeTupleVariant: serialize_field;
}

fields! {
    SerializeStruct;
    SerializeStructVariant;
}

/// Keys are left to the serializer, which refuses those that are not finite.
impl<S: SerializeMap> SerializeMap for Watched<'_, S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), S::Error> {
        self.inner.serialize_key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
        let value = self.with(value);
        self.inner.serialize_value(&value)
    }

    fn serialize_entry<K: Serialize + ?Sized, V: Serialize + ?Sized>(
        &mut self,
        key: &K,
        value: &V,
    ) -> Result<(), S::Error> {
        let value = self.with(value);
        self.inner.serialize_entry(key, &value)
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.inner.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    #[derive(Serialize)]
    struct Newtype(f32);

    #[derive(Serialize)]
    struct Pair(u8, f64);

    #[derive(Serialize)]
    struct Named {
        x: f64,
    }

    #[derive(Serialize)]
    struct Flat {
        #[serde(flatten)]
        inner: Named,
        #[serde(flatten)]
        rest: BTreeMap<String, f64>,
    }

    #[derive(Serialize)]
    enum Variant {
        Newtype(f64),
        Tuple(u8, f64),
        Struct { x: f64 },
    }

    fn json_of<T: Serialize>(value: T) -> (String, bool) {
        let (json, is_finite) = to_raw_value(&value).unwrap();
        assert_eq!(json.get(), serde_json::to_string(&value).unwrap());
        (json.get().to_owned(), is_finite)
    }

    #[test]
    fn a_float_that_is_not_finite_is_found_wherever_it_stands() {
        fn both<T: Serialize>(make: impl Fn(f64) -> T) {
            assert!(json_of(make(1.5)).1, "{}", json_of(make(1.5)).0);
            for float in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                assert!(!json_of(make(float)).1, "{}", json_of(make(float)).0);
            }
        }
        both(|x| x);
        #[allow(clippy::cast_possible_truncation)]
        both(|x| Newtype(x as f32));
        both(Some);
        both(|x| vec![1.0, x]);
        both(|x| (1, x));
        both(|x| Pair(1, x));
        both(|x| Named { x });
        both(|x| [("a", x)].into_iter().collect::<BTreeMap<_, _>>());
        both(Variant::Newtype);
        both(|x| Variant::Tuple(1, x));
        both(|x| Variant::Struct { x });
        both(|x| Flat { inner: Named { x }, rest: BTreeMap::new() });
        both(|x| Flat { inner: Named { x: 1.0 }, rest: [("a".to_owned(), x)].into() });
        both(|x| Box::new(vec![Some(Named { x })]));
    }

    #[test]
    fn everything_else_is_written_as_serde_json_writes_it() {
        let raw = RawValue::from_string(r#"{"a":  1e400}"#.to_owned()).unwrap();
        assert!(json_of(raw).1);
        assert!(json_of(json!({"a": [null, true, -1, 1.5, "x", {}]})).1);
        assert!(json_of((u128::MAX, i128::MIN, 'c', "s", (), None::<f64>, [0_u8; 3])).1);
        assert!(json_of(std::net::Ipv4Addr::LOCALHOST).1);
        assert!(json_of(Value::from(f64::NAN)).1, "a value cannot hold it");
        let float_keys: BTreeMap<u8, f32> = [(1, 0.1)].into();
        assert!(json_of(float_keys).1);
    }
}
