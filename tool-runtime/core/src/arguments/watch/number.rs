//! Visitors that read numbers exactly.

use serde::de::{Error, Visitor};
use std::fmt;

/// A visitor for an integer: serde_json reads `-0` as a float.
pub(super) struct Integer<V>(pub(super) V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Integer<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    #[inline]
    fn visit_i64<E: Error>(self, number: i64) -> Result<V::Value, E> {
        self.0.visit_i64(number)
    }

    #[inline]
    fn visit_u64<E: Error>(self, number: u64) -> Result<V::Value, E> {
        self.0.visit_u64(number)
    }

    #[inline]
    fn visit_f64<E: Error>(self, number: f64) -> Result<V::Value, E> {
        if number == 0.0 && number.is_sign_negative() {
            return self.0.visit_u64(0);
        }
        self.0.visit_f64(number)
    }
}

/// A visitor for an `f32`, which must not become infinite.
pub(super) struct Single<V>(pub(super) V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Single<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    #[inline]
    fn visit_i64<E: Error>(self, number: i64) -> Result<V::Value, E> {
        self.0.visit_i64(number)
    }

    #[inline]
    fn visit_u64<E: Error>(self, number: u64) -> Result<V::Value, E> {
        self.0.visit_u64(number)
    }

    #[inline]
    fn visit_f64<E: Error>(self, number: f64) -> Result<V::Value, E> {
        if (number as f32).is_infinite() {
            return Err(E::custom("the number is too large for 32 bits"));
        }
        self.0.visit_f64(number)
    }
}
