//! Reads the OAuth client of an entry.

use super::Reader;
use super::entry::{Entry, Member};
use crate::auth::{McpAuth, McpOAuth};
use tool_runtime_core::vocabulary::Secret;

impl Reader<'_> {
    pub(super) fn oauth(&mut self, auth_entry: &mut Entry<'_>) -> Option<McpAuth> {
        if let Some(inner) = auth_entry.one_of(&["authentication"], self.findings) {
            return self.auth_object(&inner);
        }
        let enabled = self.flag(auth_entry, &["enabled"]);
        let scopes = auth_entry.one_of(&["scopes", "scope"], self.findings);
        let oauth = McpOAuth {
            client_id: self.optional(auth_entry, &["client_id"]),
            client_secret: self.optional(auth_entry, &["client_secret"]),
            issuer: self.exposed(auth_entry, &["issuer"]),
            scopes: scopes.and_then(|member| self.scopes(&member)).unwrap_or_default(),
            redirect_uri: self.redirect(auth_entry),
            client_name: self.exposed(auth_entry, &["client_name"]),
            client_metadata_url: self.exposed(auth_entry, &["client_metadata_url"]),
            client_credentials: self.grant(auth_entry),
        };
        (enabled != Some(false)).then_some(McpAuth::OAuth(oauth))
    }

    fn optional(&mut self, auth_entry: &mut Entry<'_>, keys: &[&'static str]) -> Option<Secret> {
        let member = auth_entry.one_of(keys, self.findings)?;
        Some(self.secret(&member.location, member.value))
    }

    fn exposed(&mut self, auth_entry: &mut Entry<'_>, keys: &[&'static str]) -> Option<String> {
        self.optional(auth_entry, keys).map(|text| text.expose().to_owned())
    }

    /// A list of scopes, or one text with spaces between them.
    pub(super) fn scopes(&mut self, member: &Member<'_>) -> Option<Vec<String>> {
        if member.value.is_string() {
            let text = self.text(&member.location, member.value);
            return Some(text.as_str().split_whitespace().map(str::to_owned).collect());
        }
        let items = self.list(&member.location, member.value)?;
        let scopes = items.iter().map(|(location, item)| self.text(location, item));
        Some(scopes.map(|scope| scope.as_str().to_owned()).collect())
    }

    /// The redirect address: an address, or a port of this machine.
    fn redirect(&mut self, auth_entry: &mut Entry<'_>) -> Option<String> {
        let member = auth_entry.one_of(&["redirect_uri", "callback_port"], self.findings)?;
        if member.key == "redirect_uri" {
            return Some(self.text(&member.location, member.value).as_str().to_owned());
        }
        let port = member.value.as_u64().filter(|port| (1..=65535).contains(port));
        if port.is_none() {
            self.findings.problem(
                &member.location,
                "is not a valid port",
                "write one from 1 to 65535",
            );
        }
        port.map(|port| format!("http://localhost:{port}/callback"))
    }

    /// Whether the client uses the grant `client_credentials`.
    fn grant(&mut self, auth_entry: &mut Entry<'_>) -> bool {
        let Some(member) = auth_entry.one_of(&["grant_type"], self.findings) else { return false };
        match member.value.as_str() {
            Some("client_credentials") => true,
            Some("authorization_code") => false,
            _ => {
                let help = "write `authorization_code` or `client_credentials`";
                self.findings.problem(&member.location, "unknown grant type", help);
                false
            }
        }
    }
}
