//! Authentication at a server.

use super::text::McpText;
use std::fmt;
use tool_runtime_core::vocabulary::Secret;

/// Authentication at a server over HTTP. `Debug` shows no value.
///
/// ```
/// use tool_runtime::mcp::{McpAuth, McpServerConfig};
///
/// let auth = McpAuth::Basic { user: "ada".into(), password: "8fQm2x".into() };
/// assert_eq!(format!("{auth:?}"), "Basic { user: Secret(..), password: Secret(..) }");
/// let server = McpServerConfig::http("https://example.com/mcp").auth(auth);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum McpAuth {
    /// `Authorization: Bearer ..` with this token.
    Bearer(Secret),
    /// `Authorization: Basic ..` with these.
    Basic {
        /// The user, without a colon.
        user: Secret,
        /// The password.
        password: Secret,
    },
    /// A custom header.
    ApiKey {
        /// The header's name.
        header: McpText,
        /// The value of the header.
        key: Secret,
    },
    /// OAuth 2.1, by the metadata of the server and its authorization server.
    OAuth(McpOAuth),
}

/// Settings of an OAuth client, all optional. `Debug` shows no value.
///
/// ```
/// use tool_runtime::mcp::{McpAuth, McpOAuth, McpServerConfig};
///
/// let mut oauth = McpOAuth::default();
/// oauth.client_id = Some("tools".into());
/// oauth.scopes = vec!["read".to_owned()];
/// let server = McpServerConfig::http("https://example.com/mcp").auth(McpAuth::OAuth(oauth));
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpOAuth {
    /// The client's id. Default: the client registers itself.
    pub client_id: Option<Secret>,
    /// The client's secret. Default: none.
    pub client_secret: Option<Secret>,
    /// The issuer of the authorization server, as in its metadata. Only this authorization server receives the secret.
    /// Default: with a secret the first one that the server names, else any that it names.
    pub issuer: Option<String>,
    /// Requested scopes. Default: those that the server names.
    pub scopes: Vec<String>,
    /// The redirect address. Default: an address of this machine.
    pub redirect_uri: Option<String>,
    /// The name for the registration. Default: that of this library.
    pub client_name: Option<String>,
    /// The URL of the client's metadata, which replace a registration. Default: none.
    pub client_metadata_url: Option<String>,
    /// Whether the client uses the grant `client_credentials`, without a user in a browser. Default: false.
    pub client_credentials: bool,
}

impl fmt::Debug for McpOAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpOAuth")
            .field("has_client_id", &self.client_id.is_some())
            .field("has_client_secret", &self.client_secret.is_some())
            .field("client_credentials", &self.client_credentials)
            .finish_non_exhaustive()
    }
}

impl McpAuth {
    /// The kind, for people.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Bearer(_) => "a bearer token",
            Self::Basic { .. } => "user and password",
            Self::ApiKey { .. } => "a key in a header",
            Self::OAuth(_) => "OAuth",
        }
    }
}
