//! Masks secrets in everything that leaves a pool.

use serde_json::Value;
use std::borrow::Cow;

/// Masks secrets. A trait object, so that the code which finds them is linked only where a pool has
/// secrets.
pub trait Mask: Send + Sync {
    /// The text without secrets, not copied if it has none.
    fn text<'a>(&self, text: &'a str) -> Cow<'a, str>;

    /// Masks every string, number and key of a value.
    fn value(&self, value: &mut Value);

    /// Masks secrets that are split over several texts. `None` if there are none.
    fn split(&self, texts: &[&str]) -> Option<Vec<String>>;

    /// Masks secrets in base64, which stays decodable.
    fn base64<'a>(&self, data: &'a str) -> Cow<'a, str>;
}

/// Masks a text in place.
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
