//! MCP over HTTP: options of the server, and authentication of its requests.

#[cfg(feature = "jwt")]
#[doc(inline)]
pub use tool_runtime_jwt::{JwtError, JwtVerifier, JwtVerifierBuilder};
#[doc(inline)]
pub use tool_runtime_server::{
    AuthRejection, Authenticate, BearerTokens, HttpOptions, ProtectedResource, TokensError,
};
#[cfg(feature = "tls")]
#[doc(inline)]
pub use tool_runtime_server::{Tls, TlsError};
