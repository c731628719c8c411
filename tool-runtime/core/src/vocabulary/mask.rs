//! Masks secrets in everything that leaves a pool.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Masks secrets. A trait object, so that the code which finds them is linked only where a pool has
/// secrets.
pub trait Mask: Send + Sync {
    /// The text without secrets, not copied if it has none.
    fn text<'a>(&self, text: &'a str) -> Cow<'a, str>;

    /// Masks every string, number and key of a value.
    fn value(&self, value: &mut Value);

    /// Masks secrets that are split over several strings. `None` if there are none.
    fn split(&self, parts: &[&str]) -> Option<Vec<String>>;

    /// Masks secrets in base64, which stays decodable.
    fn base64<'a>(&self, data: &'a str) -> Cow<'a, str>;
}

/// Masks a string in place.
pub(crate) fn in_place(mask: &dyn Mask, text: &mut String) {
    if let Cow::Owned(masked) = mask.text(text) {
        *text = masked;
    }
}

/// Masks base64 in place.
pub(crate) fn base64_in_place(mask: &dyn Mask, data: &mut String) {
    if let Cow::Owned(masked) = mask.base64(data) {
        *data = masked;
    }
}

/// Masks the keys and values of an object in place.
pub(crate) fn members_in_place(mask: &dyn Mask, members: &mut Map<String, Value>) {
    if members.is_empty() {
        return;
    }
    let mut value = Value::Object(std::mem::take(members));
    mask.value(&mut value);
    if let Value::Object(masked) = value {
        *members = masked;
    }
}

/// Masks a small part by its JSON.
pub fn as_json_in_place<T: Serialize + DeserializeOwned>(mask: &dyn Mask, part: &mut T) {
    let Ok(value) = serde_json::to_value(&*part) else { return };
    let mut masked = value.clone();
    mask.value(&mut masked);
    if masked != value
        && let Ok(masked) = serde_json::from_value(masked)
    {
        *part = masked;
    }
}

/// Whether a string has a secret.
pub fn has_secret(mask: &dyn Mask, text: &str) -> bool {
    matches!(mask.text(text), Cow::Owned(_))
}

/// Whether a key in a value has a secret, at any depth.
pub fn has_secret_key(mask: &dyn Mask, value: &Value) -> bool {
    let has_secret_key = |value| has_secret_key(mask, value);
    match value {
        Value::Object(members) => {
            members.keys().any(|key| has_secret(mask, key)) || members.values().any(has_secret_key)
        }
        Value::Array(items) => items.iter().any(has_secret_key),
        _ => false,
    }
}
