//! Arguments and outcomes: JSON inside a message, or a blob next to it.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use std::fmt;
use tool_runtime_core::seam::hex;

/// JSON that is larger, in bytes, travels as a blob.
pub const MAX_INLINE: usize = 256 * 1024;

/// The size, in bytes, from which arguments and results are refused.
pub const MAX_BLOB: u64 = 64 * 1024 * 1024;

/// JSON as text, with every number as it was written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl Json {
    /// The JSON of a value.
    ///
    /// # Panics
    /// The value has a map whose keys are not text.
    pub fn from_value(value: &impl Serialize) -> Self {
        let text = serde_json::value::to_raw_value(value);
        Self(text.expect("values of messages have keys of text"))
    }

    /// JSON that was written elsewhere.
    ///
    /// # Errors
    /// The text is not JSON.
    pub fn read(text: impl Into<String>) -> serde_json::Result<Self> {
        RawValue::from_string(text.into()).map(Self)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

/// JSON inside a message, or the name of the blob that has it.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// The JSON itself.
    Inline(Json),
    /// A blob with the JSON.
    Blob(BlobRef),
}

impl Payload {
    /// The two members of a message, of which it has one.
    pub(crate) fn into_members(self) -> (Option<Json>, Option<BlobRef>) {
        match self {
            Self::Inline(json) => (Some(json), None),
            Self::Blob(blob) => (None, Some(blob)),
        }
    }

    pub(crate) fn of_members(inline: Option<Json>, blob: Option<BlobRef>) -> Option<Self> {
        inline.map(Self::Inline).or(blob.map(Self::Blob))
    }
}

/// A blob by its content.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BlobRef {
    /// The SHA-256 of the bytes.
    pub sha256: Digest,
    /// The number of bytes.
    pub size: u64,
}

impl BlobRef {
    /// The name of these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self { sha256: Digest::from_bytes(bytes), size: bytes.len() as u64 }
    }

    /// Checks what a board gives for this name.
    ///
    /// # Errors
    /// The bytes are others.
    pub fn check(&self, bytes: Bytes) -> Result<Bytes, String> {
        match Self::from_bytes(&bytes) == *self {
            true => Ok(bytes),
            false => Err(format!("the content of blob {} is not what was stored", self.sha256)),
        }
    }
}

/// A SHA-256 as 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Digest(String);

impl Digest {
    /// The digest of bytes.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(hex(&Sha256::digest(bytes)))
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Digest {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() == 64 && text.bytes().all(is_digit) {
            return Ok(Self(text));
        }
        Err("a SHA-256 has 64 hexadecimal digits in lower case".to_owned())
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
