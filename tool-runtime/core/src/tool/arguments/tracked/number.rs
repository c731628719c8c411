//! A visitor that reads numbers exactly.

use serde::de::{Error, Visitor};
use std::fmt;

/// A visitor of a number that serde_json may pass as a float.
pub(super) struct Number<V> {
    visitor: V,
    is_integer: bool,
}

impl<V> Number<V> {
    /// Visits an integer: serde_json reads `-0` as a float.
    pub(super) fn integer(visitor: V) -> Self {
        Self { visitor, is_integer: true }
    }

    /// Visits an `f32`, which must not become infinite.
    pub(super) fn single(visitor: V) -> Self {
        Self { visitor, is_integer: false }
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Number<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    #[inline]
    fn visit_i64<E: Error>(self, number: i64) -> Result<V::Value, E> {
        self.visitor.visit_i64(number)
    }

    #[inline]
    fn visit_u64<E: Error>(self, number: u64) -> Result<V::Value, E> {
        self.visitor.visit_u64(number)
    }

    #[inline]
    fn visit_f64<E: Error>(self, number: f64) -> Result<V::Value, E> {
        if self.is_integer && number == 0.0 && number.is_sign_negative() {
            return self.visitor.visit_u64(0);
        }
        if !self.is_integer && (number as f32).is_infinite() {
            return Err(E::custom("the number is too large for 32 bits"));
        }
        self.visitor.visit_f64(number)
    }
}
