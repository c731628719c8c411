//! The keyword `$ref`: where a reference within the document leads.

use fluent_uri::pct_enc::EStr;
use fluent_uri::pct_enc::encoder::Fragment;
use serde_json::{Map, Value};

use crate::schema::check::survey;

/// The schema that a schema's own `$ref` leads to: the document, a JSON pointer or an anchor in it.
///
/// References to other documents lead nowhere: nothing is fetched.
pub(super) fn target<'s>(root: &'s Value, schema: &Map<String, Value>) -> Option<&'s Value> {
    let fragment = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
    let fragment = decoded(fragment);
    if fragment.is_empty() || fragment.starts_with('/') {
        root.pointer(&fragment)
    } else {
        survey::everything(root)
            .find(|value| value.get("$anchor").and_then(Value::as_str) == Some(&*fragment))
    }
}

/// The fragment without percent encoding; as it is if it was never encoded as it should be.
fn decoded(fragment: &str) -> std::borrow::Cow<'_, str> {
    let encoded = EStr::<Fragment>::new(fragment);
    encoded.and_then(|encoded| encoded.decode().to_string().ok()).unwrap_or(fragment.into())
}
