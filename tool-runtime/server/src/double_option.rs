//! Distinguishes a `null` member from an absent one.

use serde::de::{Deserialize, Deserializer};

/// For `#[serde(default, deserialize_with = "double_option")]`: a present value is `Some`, even `null`,
/// which plain `Option` treats as absent.
pub(crate) fn double_option<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}
