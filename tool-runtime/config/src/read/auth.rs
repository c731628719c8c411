//! Reads the authentication of an entry.

use super::Reader;
use super::entry::{Entry, Member};
use super::keys;
use crate::auth::{McpAuth, McpOAuth};
use serde_json::Value;
use tool_runtime_core::seam::nearest;
use tool_runtime_core::vocabulary::Secret;

const KINDS: [&str; 5] = ["none", "bearer", "basic", "api_key", "oauth"];

impl Reader<'_> {
    pub(super) fn auth(&mut self, entry: &mut Entry<'_>) -> Option<McpAuth> {
        let mut auth = None;
        for key in ["auth", "authentication", "oauth", "bearer_token", "bearer_token_env_var"] {
            let Some(member) = entry.one_of(&[key], self.findings) else { continue };
            entry.report_at("auth", &member.location);
            let more = self.auth_of(&member);
            auth = self.together(&member, auth, more);
        }
        self.beside_oauth(entry, auth)
    }

    fn auth_of(&mut self, member: &Member<'_>) -> Option<McpAuth> {
        match (member.key, member.value) {
            ("bearer_token_env_var", value) => {
                let name = self.string(&member.location, value)?;
                Some(McpAuth::Bearer(self.variable(&member.location, name)))
            }
            ("bearer_token", value) => Some(McpAuth::Bearer(self.secret(&member.location, value))),
            ("oauth", Value::Bool(false)) => None,
            ("oauth", Value::Bool(true)) => Some(McpAuth::OAuth(McpOAuth::default())),
            (_, Value::String(text)) => match text.as_str() {
                "none" => None,
                "oauth" => Some(McpAuth::OAuth(McpOAuth::default())),
                _ => Some(McpAuth::Bearer(self.secret(&member.location, member.value))),
            },
            _ => self.auth_object(member),
        }
    }

    /// Combines two kinds of authentication, which exclude each other. `"auth": "oauth"` next to an OAuth client is allowed.
    fn together(
        &mut self,
        member: &Member<'_>,
        first: Option<McpAuth>,
        second: Option<McpAuth>,
    ) -> Option<McpAuth> {
        match (first, second) {
            (Some(McpAuth::OAuth(first)), Some(second @ McpAuth::OAuth(_)))
                if first == McpOAuth::default() =>
            {
                Some(second)
            }
            (Some(first), Some(_)) => {
                let text = format!("it already authenticates by {}", first.kind());
                self.findings.problem(&member.location, text, "keep one kind of authentication");
                Some(first)
            }
            (first, second) => first.or(second),
        }
    }

    /// Keys next to `oauth` in some dialects.
    fn beside_oauth(&mut self, entry: &mut Entry<'_>, auth: Option<McpAuth>) -> Option<McpAuth> {
        let client_id = entry.one_of(&["oauth_client_id"], self.findings);
        let scopes = entry.one_of(&["scopes", "oauth_scopes"], self.findings);
        let Some(beside) = client_id.as_ref().or(scopes.as_ref()) else { return auth };
        let mut oauth = match auth {
            None => McpOAuth::default(),
            Some(McpAuth::OAuth(oauth)) => oauth,
            Some(other) => {
                let text = format!("it is for OAuth, but the entry uses {}", other.kind());
                self.findings.problem(&beside.location, text, "keep one kind of authentication");
                return Some(other);
            }
        };
        if let Some(member) = client_id {
            oauth.client_id = Some(self.secret(&member.location, member.value));
        }
        if let Some(member) = scopes {
            oauth.scopes = self.scopes(&member).unwrap_or_default();
        }
        Some(McpAuth::OAuth(oauth))
    }

    pub(super) fn auth_object(&mut self, member: &Member<'_>) -> Option<McpAuth> {
        let object = self.object(&member.location, member.value)?;
        let mut auth_entry = Entry::read(&member.location, object, keys::AUTH, self.findings);
        let kind = self.plain(&mut auth_entry, &["type", "kind", "strategy"]);
        let auth = match kind.as_deref().map(plain_kind).as_deref() {
            Some("none") => return None,
            Some("bearer" | "token") => self.token(&mut auth_entry).map(McpAuth::Bearer),
            Some("basic") => self.basic(&mut auth_entry),
            Some("apikey" | "header") => self.api_key(&mut auth_entry),
            Some("oauth" | "oauth2") => self.oauth(&mut auth_entry),
            Some(other) => {
                let near = nearest(other, KINDS, 1);
                let near = near.first().map(|near| format!("; did you mean `{near}`?"));
                let help = format!("write one of `{}`", KINDS.join("`, `"));
                let help = help + &near.unwrap_or_default();
                self.findings.problem(&member.location, "unknown kind of authentication", help);
                return None;
            }
            None if member.key != "auth" => self.oauth(&mut auth_entry),
            None if auth_entry.has(&["token"]) => self.token(&mut auth_entry).map(McpAuth::Bearer),
            None if auth_entry.has(&["password"]) => self.basic(&mut auth_entry),
            None if auth_entry.has(&["header", "header_name", "api_key"]) => {
                self.api_key(&mut auth_entry)
            }
            None => self.oauth(&mut auth_entry),
        };
        for rest in auth_entry.rest() {
            let help = "remove it, or set `type`";
            self.findings.problem(
                &rest.location,
                "it does not belong to this kind of authentication",
                help,
            );
        }
        auth
    }

    fn token(&mut self, auth_entry: &mut Entry<'_>) -> Option<Secret> {
        self.needed(auth_entry, &["token", "value", "key", "api_key"])
    }

    fn basic(&mut self, auth_entry: &mut Entry<'_>) -> Option<McpAuth> {
        let user = self.needed(auth_entry, &["user", "username"]);
        let password = self.needed(auth_entry, &["password", "value"]);
        Some(McpAuth::Basic { user: user?, password: password? })
    }

    /// A key without a header name is a bearer token.
    fn api_key(&mut self, auth_entry: &mut Entry<'_>) -> Option<McpAuth> {
        let header = auth_entry.one_of(&["header", "header_name"], self.findings);
        let key = self.token(auth_entry)?;
        let Some(header) = header else { return Some(McpAuth::Bearer(key)) };
        let header = self.text(&header.location, header.value);
        Some(McpAuth::ApiKey { header, key })
    }

    fn needed(&mut self, auth_entry: &mut Entry<'_>, keys: &[&'static str]) -> Option<Secret> {
        let Some(member) = auth_entry.one_of(keys, self.findings) else {
            let help = format!("add `{}`", keys[0]);
            self.findings.problem(auth_entry.location(), format!("it has no `{}`", keys[0]), help);
            return None;
        };
        Some(self.secret(&member.location, member.value))
    }
}

/// `api_key`, `apiKey` and `API-Key` are one kind.
fn plain_kind(kind: &str) -> String {
    let letters = kind.chars().filter(|c| !matches!(c, '_' | '-'));
    letters.flat_map(char::to_lowercase).collect()
}
