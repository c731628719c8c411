//! The redactors of an entry.

use super::auth::McpAuth;
use super::literals;
use super::server::McpServerConfig;
use super::text::McpText;
use super::transport::McpTransportConfig;
use tool_runtime_core::seam::{HIDDEN, Redactor, is_secret_name};
use tool_runtime_core::vocabulary::Secret;

impl McpServerConfig {
    /// Redacts values of the entry and of its variables, except ordinary words, in text for an operator.
    #[doc(hidden)]
    pub fn redactor(&self) -> Redactor {
        let found =
            self.found.iter().map(|(name, value)| (name.as_str(), placeholder(name), value));
        let named = self.named().map(|(name, value)| (name.as_str(), display_name(name), value));
        let values = found.chain(named).filter_map(|(name, display, value)| {
            literals::may_be_secret(name, value.expose()).then(|| (display, value.expose().into()))
        });
        Redactor::new(values.chain(self.result_secrets()))
    }

    /// Redacts secrets, in results.
    #[doc(hidden)]
    pub fn result_redactor(&self) -> Redactor {
        Redactor::new(self.result_secrets())
    }

    /// Secrets in results, with their replacements: the values that `secrets` marks, values of variables, unless they are
    /// a path, a number or a plain word, and values with the name or the form of a secret.
    #[doc(hidden)]
    pub fn result_secrets(&self) -> Vec<(String, String)> {
        let mut secrets = Vec::new();
        for (display, value) in self.secrets.iter().flat_map(|name| self.marked(name)) {
            let parts = literals::parts(value.expose()).into_iter();
            secrets.extend(parts.map(|part| (display.clone(), part.to_owned())));
        }
        let mut add = |display: &str, is_secret: bool, value: &str| {
            let parts = if is_secret { literals::parts(value) } else { literals::inside(value) };
            let parts = parts.into_iter().filter(|part| !literals::is_common(part));
            secrets.extend(parts.map(|part| (display.to_owned(), part.to_owned())));
        };
        for (name, value) in &self.found {
            let value = value.expose();
            let is_secret = is_secret_name(name) || !literals::is_plain(value);
            add(&placeholder(name), is_secret, value);
        }
        for (name, value) in self.named() {
            let value = value.expose();
            let is_secret = is_secret_name(name.as_str()) || literals::is_token(value);
            add(&display_name(name), is_secret, value);
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

    /// The values of a name in `secrets`, with their replacements: a variable of the environment or of the entry's values,
    /// a header, or an argument, as `args[0]`.
    pub(super) fn marked(&self, name: &str) -> Vec<(String, &Secret)> {
        let is_http = matches!(self.transport, McpTransportConfig::Http(_));
        let is_meant = |known: &str| known == name || is_http && known.eq_ignore_ascii_case(name);
        let named = self.named().filter(|(known, _)| is_meant(known.as_str()));
        let named = named.map(|(known, value)| (display_name(known), value));
        let found = self.found.get(name).map(|value| (placeholder(name), value));
        let argument = self.argument(name).map(|value| (HIDDEN.to_owned(), value));
        named.chain(found).chain(argument).collect()
    }

    /// The argument that `args[0]` names.
    fn argument(&self, name: &str) -> Option<&Secret> {
        let McpTransportConfig::Stdio(stdio) = &self.transport else { return None };
        let index = name.strip_prefix("args[")?.strip_suffix(']')?;
        stdio.args.get(index.parse::<usize>().ok()?)
    }

    /// The names of variables and headers that `secrets` may have.
    pub(super) fn markable_names(&self) -> impl Iterator<Item = &str> {
        let named = self.named().map(|(name, _)| name.redacted());
        named.chain(self.found.keys().map(String::as_str))
    }

    /// Variables of the environment, or headers.
    fn named(&self) -> impl Iterator<Item = (&McpText, &Secret)> {
        match &self.transport {
            McpTransportConfig::Stdio(stdio) => stdio.env.iter(),
            McpTransportConfig::Http(http) => http.headers.iter(),
        }
    }
}

fn display_name(name: &McpText) -> String {
    // An expanded name is shown unexpanded.
    match name.redacted() {
        name if name.contains("${") => HIDDEN.to_owned(),
        name => placeholder(name),
    }
}

fn placeholder(name: &str) -> String {
    format!("${{{name}}}")
}

fn values(auth: &McpAuth) -> Vec<&Secret> {
    match auth {
        McpAuth::Bearer(token) => vec![token],
        McpAuth::Basic { password, .. } => vec![password],
        McpAuth::ApiKey { key, .. } => vec![key],
        McpAuth::OAuth(oauth) => oauth.client_secret.iter().collect(),
    }
}
