//! Authenticates requests by the tokens of an issuer.

use crate::builder::JwtVerifierBuilder;
use crate::claims::{self, Expected};
use crate::key_cache::KeyCache;
use crate::token::Token;
use axum::http::request::Parts;
use serde_json::{Map, Value};
use tool_runtime_core::vocabulary::{BoxFuture, Principal};
use tool_runtime_server::{AuthRejection, Authenticate};

/// Authenticates HTTP requests by JSON Web Tokens of one issuer, such as OAuth 2 access tokens (RFC
/// 9068).
///
/// A token is accepted if it is signed by a key of the issuer, names this server (`aud`), and has
/// not expired. Accepted algorithms: RS256 to RS512, PS256 to PS512, ES256, ES384, EdDSA. The
/// principal has the id `sub` (or `client_id` of a client that acts for itself), the scopes of
/// `scope` or `scp`, and all claims.
///
/// The keys are fetched with the first request: from the `jwks_uri` of the issuer's metadata (RFC 8414, or
/// OpenID Connect), or from a [URL](JwtVerifierBuilder::jwks_url). They are fetched again for a token of an
/// unknown key, at most every 10 seconds, and when they are [old](JwtVerifierBuilder::max_key_age). If that
/// fails, the known keys stay valid and a warning is logged.
///
/// ```
/// use tool_runtime::http::{HttpOptions, JwtVerifier, ProtectedResource};
///
/// let resource = "https://notes.example.com/mcp";
/// let verifier = JwtVerifier::builder("https://login.example.com").audience(resource).build()?;
/// let options = HttpOptions::default().auth(verifier).protected_resource(
///     ProtectedResource::new(resource).authorization_server("https://login.example.com"),
/// );
/// # Ok::<(), tool_runtime::http::JwtError>(())
/// ```
#[derive(Debug)]
pub struct JwtVerifier {
    pub(crate) expected: Expected,
    pub(crate) required_scopes: Vec<String>,
    pub(crate) keys: KeyCache,
}

impl JwtVerifier {
    /// Starts a verifier of the tokens of an issuer, a URL that the claim `iss` repeats exactly.
    pub fn builder(issuer: impl Into<String>) -> JwtVerifierBuilder {
        JwtVerifierBuilder::new(issuer.into())
    }

    async fn verify(&self, text: &str) -> Result<Map<String, Value>, AuthRejection> {
        let token = Token::parse(text).map_err(invalid)?;
        let claims = self.keys.claims(&token).await.map_err(AuthRejection::Unavailable)?;
        let claims = claims.ok_or_else(|| invalid("no key of the issuer has signed it"))?;
        self.expected.check(&claims).map_err(invalid)?;
        Ok(claims)
    }

    async fn principal(&self, token: Option<&str>) -> Result<Principal, AuthRejection> {
        let claims = self.verify(token.ok_or(AuthRejection::Unknown)?).await?;
        let principal = claims::principal(claims).map_err(invalid)?;
        match self.required_scopes.iter().all(|scope| principal.has_scope(scope)) {
            true => Ok(principal),
            false => Err(AuthRejection::InsufficientScope(self.required_scopes.clone())),
        }
    }
}

/// The reason is for the operator: the client reads that the token is invalid.
fn invalid(reason: impl std::fmt::Display) -> AuthRejection {
    AuthRejection::Invalid(reason.to_string())
}

impl Authenticate for JwtVerifier {
    fn authenticate<'a>(
        &'a self,
        token: Option<&'a str>,
        _: &'a Parts,
    ) -> BoxFuture<'a, Result<Principal, AuthRejection>> {
        Box::pin(self.principal(token))
    }
}
