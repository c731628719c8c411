//! The redactors of an entry.

use super::auth::McpAuth;
use super::literals;
use super::server::McpServerConfig;
use super::text::McpText;
use super::transport::McpTransportConfig;
use tool_runtime_core::Secret;
use tool_runtime_core::seam::{HIDDEN, Redactor};

impl McpServerConfig {
    /// Redacts all values of the entry and of its variables, in text for an operator.
    #[doc(hidden)]
    pub fn redactor(&self) -> Redactor {
        let found = self.found.iter().map(|(name, value)| (format!("${{{name}}}"), value));
        let secrets =
            found.chain(self.all_values()).map(|(shown, value)| (shown, value.expose().into()));
        Redactor::new(secrets.chain(self.result_secrets()))
    }

    /// Redacts secrets, in results.
    #[doc(hidden)]
    pub fn result_redactor(&self) -> Redactor {
        Redactor::new(self.result_secrets())
    }

    /// Secrets in results, with their replacements: values of variables, unless they are a path, a number or a plain
    /// word, and values with the name of a secret.
    #[doc(hidden)]
    pub fn result_secrets(&self) -> Vec<(String, String)> {
        let mut secrets = Vec::new();
        let mut add = |shown: &str, is_secret: bool, value: &str| {
            let parts = if is_secret { literals::parts(value) } else { literals::in_url(value) };
            let parts = parts.into_iter().filter(|part| !literals::is_common(part));
            secrets.extend(parts.map(|part| (shown.to_owned(), part.to_owned())));
        };
        for (name, value) in &self.found {
            let value = value.expose();
            let is_secret = literals::is_secret_name(name) || !literals::is_plain(value);
            add(&format!("${{{name}}}"), is_secret, value);
        }
        for (name, value) in self.named() {
            let value = value.expose();
            let is_secret = literals::is_secret_name(name.as_str()) || literals::is_token(value);
            add(&shown(name), is_secret, value);
        }
        match &self.transport {
            McpTransportConfig::Stdio(stdio) => {
                let args: Vec<&str> = stdio.args.iter().map(Secret::expose).collect();
                for value in literals::in_args(&args) {
                    add(HIDDEN, true, value);
                }
            }
            McpTransportConfig::Http(http) => {
                add(HIDDEN, false, http.url.as_str());
                for value in http.auth.iter().flat_map(values) {
                    add(HIDDEN, true, value.expose());
                }
            }
        }
        secrets
    }

    /// All values of the entry.
    fn all_values(&self) -> impl Iterator<Item = (String, &Secret)> {
        let auth = match &self.transport {
            McpTransportConfig::Stdio(_) => None,
            McpTransportConfig::Http(http) => http.auth.as_ref(),
        };
        let auth = auth.into_iter().flat_map(values).map(|value| (HIDDEN.to_owned(), value));
        self.named().map(|(name, value)| (shown(name), value)).chain(auth)
    }

    /// Variables of the environment, or headers.
    fn named(&self) -> impl Iterator<Item = (&McpText, &Secret)> {
        match &self.transport {
            McpTransportConfig::Stdio(stdio) => stdio.env.iter(),
            McpTransportConfig::Http(http) => http.headers.iter(),
        }
    }
}

fn shown(name: &McpText) -> String {
    // An expanded name is shown unexpanded.
    match name.shown() {
        name if name.contains("${") => HIDDEN.to_owned(),
        name => format!("${{{name}}}"),
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
