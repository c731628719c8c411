//! What of a server's entry must never be shown, whoever says it.

use super::auth::McpAuth;
use super::server::McpServerConfig;
use super::text::McpText;
use super::transport::McpTransportConfig;
use crate::secret::Secret;

impl McpServerConfig {
    /// The values that it gives and those that it was expanded with, each with what may be shown in
    /// its place.
    pub(in crate::mcp) fn secrets(&self) -> Vec<(String, String)> {
        let shown =
            |name: &str, value: &Secret| (format!("${{{name}}}"), value.expose().to_owned());
        let mut secrets: Vec<_> =
            self.found.iter().map(|(name, value)| shown(name, value)).collect();
        let mut given = |name: &McpText, value: &Secret| {
            let name = name.shown();
            // A name that was expanded itself shows as it is written.
            let name = if name.contains("${") { "..".into() } else { format!("${{{name}}}") };
            secrets.push((name, value.expose().to_owned()));
        };
        match &self.transport {
            McpTransportConfig::Stdio(stdio) => {
                stdio.env.iter().for_each(|(name, value)| given(name, value));
            }
            McpTransportConfig::Http(http) => {
                http.headers.iter().for_each(|(name, value)| given(name, value));
                let auth = http.auth.iter().flat_map(values);
                secrets.extend(auth.map(|value| ("..".to_owned(), value.expose().to_owned())));
            }
        }
        secrets
    }
}

fn values(auth: &McpAuth) -> Vec<&Secret> {
    match auth {
        McpAuth::Bearer(token) => vec![token],
        McpAuth::Basic { password, .. } => vec![password],
        McpAuth::ApiKey { key, .. } => vec![key],
        McpAuth::OAuth(oauth) => oauth.client_secret.iter().collect(),
    }
}
