//! Builds a verifier.

use crate::claims::Expected;
use crate::key::parse_keys;
use crate::key_cache::KeyCache;
use crate::key_source::{KeySource, parse_url};
use crate::verifier::JwtVerifier;
use std::time::Duration;

/// Builds a [`JwtVerifier`].
#[derive(Clone, Debug)]
#[must_use]
pub struct JwtVerifierBuilder {
    issuer: String,
    audiences: Vec<String>,
    keys: Option<Keys>,
    required_scopes: Vec<String>,
    leeway: Duration,
    max_key_age: Duration,
}

#[derive(Clone, Debug)]
enum Keys {
    Url(String),
    Json(String),
}

/// All problems of a [`JwtVerifierBuilder`].
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct JwtError(Vec<String>);

tool_runtime_core::debug_as_message!(JwtError);

impl JwtVerifierBuilder {
    pub(crate) fn new(issuer: String) -> Self {
        Self {
            issuer,
            audiences: Vec::new(),
            keys: None,
            required_scopes: Vec::new(),
            leeway: Duration::from_secs(60),
            max_key_age: Duration::from_secs(3600),
        }
    }

    /// Adds a name of this server: a token needs one of them in `aud`. Usually the URL that clients connect to.
    /// Required, so that tokens for other servers of the issuer are rejected.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audiences.push(audience.into());
        self
    }

    /// Sets the URL of the issuer's keys. Default: the issuer's metadata names it.
    pub fn jwks_url(mut self, url: impl Into<String>) -> Self {
        self.keys = Some(Keys::Url(url.into()));
        self
    }

    /// Sets the issuer's keys, as the JSON of a key set (RFC 7517). They are not fetched then.
    pub fn jwks(mut self, json: impl Into<String>) -> Self {
        self.keys = Some(Keys::Json(json.into()));
        self
    }

    /// Adds scopes that every token needs. Default: none. A tool may
    /// [need more](tool_runtime_core::tool::ToolDefinition::scopes).
    pub fn required_scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.required_scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Sets the accepted clock skew. Default: 60 seconds.
    pub fn leeway(mut self, leeway: Duration) -> Self {
        self.leeway = leeway;
        self
    }

    /// Sets the age at which the keys are fetched again. Default: one hour.
    pub fn max_key_age(mut self, age: Duration) -> Self {
        self.max_key_age = age;
        self
    }

    /// The verifier. Nothing is fetched yet.
    ///
    /// # Errors
    /// All problems: an issuer or URL that is not `https:` (or on this machine), no audience, invalid keys.
    pub fn build(self) -> Result<JwtVerifier, JwtError> {
        let mut problems = Vec::new();
        if self.audiences.is_empty() {
            problems.push(
                "a verifier needs an audience; add `.audience(\"https://..\")`, the URL of this server"
                    .to_owned(),
            );
        }
        let source = match self.keys {
            Some(Keys::Url(url)) => parse_url(&url).map(KeySource::Url),
            Some(Keys::Json(json)) => fixed(&json),
            None => parse_url(&self.issuer).map(KeySource::Issuer),
        };
        match source {
            Ok(source) if problems.is_empty() => Ok(JwtVerifier {
                expected: Expected {
                    issuer: self.issuer,
                    audiences: self.audiences,
                    leeway: self.leeway,
                },
                required_scopes: self.required_scopes,
                keys: KeyCache::new(source, self.max_key_age),
            }),
            source => {
                problems.extend(source.err());
                Err(JwtError(problems))
            }
        }
    }
}

fn fixed(json: &str) -> Result<KeySource, String> {
    let keys = parse_keys(json.as_bytes()).map_err(|problem| format!("the keys are {problem}"))?;
    if keys.is_empty() {
        return Err(
            "the keys have none that verifies signatures; write RSA, P-256, P-384 or Ed25519 keys"
                .to_owned(),
        );
    }
    Ok(KeySource::Fixed(keys))
}

#[cfg(test)]
mod tests {
    use crate::JwtVerifier;

    #[test]
    fn all_problems_are_reported() {
        let error = JwtVerifier::builder("login.example.com").build().unwrap_err().to_string();
        assert_eq!(
            error,
            "a verifier needs an audience; add `.audience(\"https://..\")`, the URL of this server; `login.example.com` is not a URL: relative URL without a base; write `https://..`"
        );
        let error = |builder: super::JwtVerifierBuilder| {
            builder.audience("a").build().map(drop).unwrap_err().to_string()
        };
        let builder = JwtVerifier::builder("https://a");
        assert!(
            error(builder.clone().jwks("{}")).starts_with("the keys are not a JSON Web Key Set")
        );
        assert!(error(builder.clone().jwks(r#"{"keys": []}"#)).contains("verifies signatures"));
        assert!(error(builder.jwks_url("http://a/keys")).contains("not a valid address of keys"));
    }
}
