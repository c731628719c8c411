//! Secrets: values that are never printed, masked in everything that leaves a pool, expanded in arguments.

#[doc(inline)]
pub use tool_runtime_core::vocabulary::Secret;
#[cfg(feature = "secrets")]
#[doc(inline)]
pub use tool_runtime_core::{
    tool::{SecretTemplate, Secrets, UnknownSecret},
    vocabulary::Redactor,
};
