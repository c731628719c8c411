//! JSON Web Tokens for the HTTP server. Users depend on `tool-runtime`, which exports everything public
//! here.
//!
//! [`JwtVerifier`] accepts the access tokens of one issuer. Signatures are verified by `ring`, which TLS
//! links already: the crates for JWT either install a crypto provider for the whole process, which is the
//! application's choice, or link a second one.
//!
//! | Module | Topic |
//! |---|---|
//! | `verifier`, `builder` | the public types |
//! | `token` | parts of a token (RFC 7515) |
//! | `claims` | issuer, audience, times, scopes (RFC 7519, RFC 9068) |
//! | `key`, `algorithm` | keys (RFC 7517) and signatures (RFC 7518) |
//! | `key_cache`, `key_source` | keys of the issuer, fetched and refreshed |

#![forbid(unsafe_code)]

mod algorithm;
mod builder;
mod claims;
mod key;
mod key_cache;
mod key_source;
mod token;
mod verifier;

pub use builder::{JwtError, JwtVerifierBuilder};
pub use verifier::JwtVerifier;
