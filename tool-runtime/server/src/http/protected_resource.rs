//! Metadata of the server as an OAuth 2 protected resource (RFC 9728).

use axum::Router;
use axum::http::header;
use axum::http::uri::Uri;
use axum::routing::get;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tool_runtime_core::pool::ToolPool;

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// Metadata that tells clients where to get a token for the server (RFC 9728). Served at
/// `/.well-known/oauth-protected-resource`, and named in challenges.
///
/// ```
/// use tool_runtime::http::{BearerTokens, HttpOptions, ProtectedResource};
///
/// let resource = ProtectedResource::new("https://notes.example.com/mcp")
///     .authorization_server("https://login.example.com")
///     .scopes(["notes:read"]);
/// assert_eq!(
///     resource.metadata_url().as_deref(),
///     Some("https://notes.example.com/.well-known/oauth-protected-resource/mcp")
/// );
/// let tokens = BearerTokens::parse("ada:8fQm2x")?;
/// let options = HttpOptions::default().auth(tokens).protected_resource(resource);
/// # Ok::<(), tool_runtime::http::TokensError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ProtectedResource {
    resource: String,
    authorization_servers: Vec<String>,
    scopes: Vec<String>,
}

impl ProtectedResource {
    /// The server at this URL, as clients connect to it.
    pub fn new(resource: impl Into<String>) -> Self {
        Self { resource: resource.into(), authorization_servers: Vec::new(), scopes: Vec::new() }
    }

    /// Adds the URL of a server that issues tokens.
    pub fn authorization_server(mut self, issuer: impl Into<String>) -> Self {
        self.authorization_servers.push(issuer.into());
        self
    }

    /// Adds scopes, besides those of the tools.
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// The URL of the metadata: the well-known path precedes the path of the resource. `None` if the
    /// resource is not an absolute URL, which is an error when the server starts.
    pub fn metadata_url(&self) -> Option<String> {
        let (origin, path) = self.parts()?;
        Some(format!("{origin}{WELL_KNOWN}{path}"))
    }

    /// The metadata, for an application that serves it itself.
    pub fn metadata(&self, pool: &ToolPool) -> Value {
        let snapshot = pool.snapshot();
        let of_tools = snapshot.definitions().flat_map(|tool| &tool.scopes);
        let scopes: BTreeSet<&String> = self.scopes.iter().chain(of_tools).collect();
        json!({
            "resource": self.resource,
            "authorization_servers": self.authorization_servers,
            "scopes_supported": scopes,
            "bearer_methods_supported": ["header"],
        })
    }

    /// The routes of the metadata: with the path of the resource, and without for clients that ignore it.
    pub(super) fn router(&self, pool: &ToolPool) -> Router {
        let path = self.parts().map(|(_, path)| path).unwrap_or_default();
        let paths = BTreeSet::from([WELL_KNOWN.to_owned(), format!("{WELL_KNOWN}{path}")]);
        paths.into_iter().fold(Router::new(), |router, path| {
            let (resource, pool) = (self.clone(), pool.clone());
            let answer = move || async move {
                let headers = [
                    (header::CONTENT_TYPE, "application/json"),
                    // Clients in browsers read it before they have a token.
                    (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
                ];
                (headers, resource.metadata(&pool).to_string())
            };
            router.route(&path, get(answer))
        })
    }

    /// The origin, and the path without a slash at its end.
    fn parts(&self) -> Option<(String, String)> {
        let uri: Uri = self.resource.parse().ok()?;
        let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"))?;
        let path = uri.path().trim_end_matches('/');
        let is_plain =
            path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte));
        is_plain.then(|| {
            (
                format!(
                    "{scheme}://{}",
                    uri.authority().map_or("", |authority| authority.as_str())
                ),
                path.to_owned(),
            )
        })
    }
}
