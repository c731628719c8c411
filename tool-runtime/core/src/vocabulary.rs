//! Shared terms: content blocks, errors, patterns, principals, secrets.

pub mod content;
pub mod error;
pub mod matching;

pub(crate) mod annotations;
pub(crate) mod canonical;
pub(crate) mod future;
pub(crate) mod hex;
pub(crate) mod look_alike;
pub(crate) mod loopback;
pub(crate) mod mask;
pub(crate) mod name;
pub(crate) mod need;
pub(crate) mod principal;
pub(crate) mod printable;
pub(crate) mod program;
pub(crate) mod regex;
pub(crate) mod sealed;
pub(crate) mod secret;
pub(crate) mod sync;
#[cfg(test)]
pub(crate) mod time_limit;
pub(crate) mod tokens;
pub(crate) mod trace;
pub(crate) mod unique_keys;
pub(crate) mod usage;
pub(crate) mod wire_name;

pub use annotations::{RetryMode, ToolAnnotations};
pub use future::BoxFuture;
pub use principal::Principal;
pub use secret::Secret;
#[cfg(feature = "redact")]
pub use secret::redactor::Redactor;
pub use tokio_util::sync::CancellationToken;
pub use usage::Usage;
