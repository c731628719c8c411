//! Reads the OAuth client of an entry.

use super::Reader;
use super::entry::{CompletionContext, Entry};
use crate::auth::{McpAuth, McpOAuth};
use tool_runtime_core::Secret;

impl Reader<'_> {
    pub(super) fn oauth(&mut self, said: &mut Entry<'_>) -> Option<McpAuth> {
        if let Some(inner) = said.one_of(&["authentication"], self.findings) {
            return self.auth_object(&inner);
        }
        let enabled = self.flag(said, &["enabled"]);
        let scopes = said.one_of(&["scopes", "scope"], self.findings);
        let oauth = McpOAuth {
            client_id: self.optional(said, &["client_id"]),
            client_secret: self.optional(said, &["client_secret"]),
            issuer: self.exposed(said, &["issuer"]),
            scopes: scopes.and_then(|given| self.scopes(&given)).unwrap_or_default(),
            redirect_uri: self.redirect(said),
            client_name: self.exposed(said, &["client_name"]),
            client_metadata_url: self.exposed(said, &["client_metadata_url"]),
            client_credentials: self.grant(said),
        };
        (enabled != Some(false)).then_some(McpAuth::OAuth(oauth))
    }

    fn optional(&mut self, said: &mut Entry<'_>, keys: &[&'static str]) -> Option<Secret> {
        let given = said.one_of(keys, self.findings)?;
        Some(self.secret(&given.place, given.value))
    }

    fn exposed(&mut self, said: &mut Entry<'_>, keys: &[&'static str]) -> Option<String> {
        self.optional(said, keys).map(|text| text.expose().to_owned())
    }

    /// A list of them, or one text with spaces between.
    pub(super) fn scopes(&mut self, given: &CompletionContext<'_>) -> Option<Vec<String>> {
        if given.value.is_string() {
            let text = self.text(&given.place, given.value);
            return Some(text.as_str().split_whitespace().map(str::to_owned).collect());
        }
        let items = self.list(&given.place, given.value)?;
        let texts = items.iter().map(|(place, item)| self.text(place, item));
        Some(texts.map(|text| text.as_str().to_owned()).collect())
    }

    /// The redirect address: an address, or a port of this machine.
    fn redirect(&mut self, said: &mut Entry<'_>) -> Option<String> {
        let given = said.one_of(&["redirect_uri", "callback_port"], self.findings)?;
        if given.key == "redirect_uri" {
            return Some(self.text(&given.place, given.value).as_str().to_owned());
        }
        let port = given.value.as_u64().filter(|port| (1..=65535).contains(port));
        if port.is_none() {
            self.findings.wrong(&given.place, "is not a valid port", "write one from 1 to 65535");
        }
        port.map(|port| format!("http://localhost:{port}/callback"))
    }

    /// Whether the client uses the grant `client_credentials`.
    fn grant(&mut self, said: &mut Entry<'_>) -> bool {
        let Some(given) = said.one_of(&["grant_type"], self.findings) else { return false };
        match given.value.as_str() {
            Some("client_credentials") => true,
            Some("authorization_code") => false,
            _ => {
                let help = "write `authorization_code` or `client_credentials`";
                self.findings.wrong(&given.place, "no such grant is known", help);
                false
            }
        }
    }
}
