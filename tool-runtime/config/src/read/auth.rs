//! Reads the authentication of an entry.

use super::Reader;
use super::entry::{CompletionContext, Entry};
use super::keys;
use crate::auth::{McpAuth, McpOAuth};
use serde_json::Value;
use tool_runtime_core::Secret;
use tool_runtime_core::seam::nearest;

const KINDS: [&str; 5] = ["none", "bearer", "basic", "api_key", "oauth"];

impl Reader<'_> {
    pub(super) fn auth(&mut self, entry: &mut Entry<'_>) -> Option<McpAuth> {
        let mut auth = None;
        for key in ["auth", "authentication", "oauth", "bearer_token", "bearer_token_env_var"] {
            let Some(given) = entry.one_of(&[key], self.findings) else { continue };
            entry.tell_at("auth", &given.place);
            let more = self.auth_of(&given);
            auth = self.together(&given, auth, more);
        }
        self.beside_oauth(entry, auth)
    }

    fn auth_of(&mut self, given: &CompletionContext<'_>) -> Option<McpAuth> {
        match (given.key, given.value) {
            ("bearer_token_env_var", value) => {
                let name = self.string(&given.place, value)?;
                Some(McpAuth::Bearer(self.variable(&given.place, name)))
            }
            ("bearer_token", value) => Some(McpAuth::Bearer(self.secret(&given.place, value))),
            ("oauth", Value::Bool(false)) => None,
            ("oauth", Value::Bool(true)) => Some(McpAuth::OAuth(McpOAuth::default())),
            (_, Value::String(text)) => match text.as_str() {
                "none" => None,
                "oauth" => Some(McpAuth::OAuth(McpOAuth::default())),
                _ => Some(McpAuth::Bearer(self.secret(&given.place, given.value))),
            },
            _ => self.auth_object(given),
        }
    }

    /// Two ways to authenticate exclude each other, but `"auth": "oauth"` may stand beside what
    /// is known of the client.
    fn together(
        &mut self,
        given: &CompletionContext<'_>,
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
                let text = format!("it authenticates by {} already", first.kind());
                self.findings.wrong(&given.place, text, "keep one way to authenticate");
                Some(first)
            }
            (first, second) => first.or(second),
        }
    }

    /// Keys beside `oauth` in some dialects.
    fn beside_oauth(&mut self, entry: &mut Entry<'_>, auth: Option<McpAuth>) -> Option<McpAuth> {
        let client_id = entry.one_of(&["oauth_client_id"], self.findings);
        let scopes = entry.one_of(&["scopes", "oauth_scopes"], self.findings);
        let Some(beside) = client_id.as_ref().or(scopes.as_ref()) else { return auth };
        let mut oauth = match auth {
            None => McpOAuth::default(),
            Some(McpAuth::OAuth(oauth)) => oauth,
            Some(other) => {
                let text = format!("it is for OAuth, and {} authenticates", other.kind());
                self.findings.wrong(&beside.place, text, "keep one way to authenticate");
                return Some(other);
            }
        };
        if let Some(given) = client_id {
            oauth.client_id = Some(self.secret(&given.place, given.value));
        }
        if let Some(given) = scopes {
            oauth.scopes = self.scopes(&given).unwrap_or_default();
        }
        Some(McpAuth::OAuth(oauth))
    }

    pub(super) fn auth_object(&mut self, given: &CompletionContext<'_>) -> Option<McpAuth> {
        let object = self.object(&given.place, given.value)?;
        let mut said = Entry::read(&given.place, object, keys::AUTH, self.findings);
        let kind = self.plain(&mut said, &["type", "kind", "strategy"]);
        let auth = match kind.as_deref().map(plain_kind).as_deref() {
            Some("none") => return None,
            Some("bearer" | "token") => self.token(&mut said).map(McpAuth::Bearer),
            Some("basic") => self.basic(&mut said),
            Some("apikey" | "header") => self.api_key(&mut said),
            Some("oauth" | "oauth2") => self.oauth(&mut said),
            Some(other) => {
                let near = nearest(other, KINDS, 1);
                let near = near.first().map(|near| format!("; did you mean `{near}`?"));
                let help = format!("write one of `{}`", KINDS.join("`, `"));
                let help = help + &near.unwrap_or_default();
                self.findings.wrong(&given.place, "no such way to authenticate is known", help);
                return None;
            }
            None if given.key != "auth" => self.oauth(&mut said),
            None if said.has(&["token"]) => self.token(&mut said).map(McpAuth::Bearer),
            None if said.has(&["password"]) => self.basic(&mut said),
            None if said.has(&["header", "header_name", "api_key"]) => self.api_key(&mut said),
            None => self.oauth(&mut said),
        };
        for rest in said.rest() {
            let help = "remove it, or say by `type` what is meant";
            self.findings.wrong(&rest.place, "it has no part in this way to authenticate", help);
        }
        auth
    }

    fn token(&mut self, said: &mut Entry<'_>) -> Option<Secret> {
        self.needed(said, &["token", "value", "key", "api_key"])
    }

    fn basic(&mut self, said: &mut Entry<'_>) -> Option<McpAuth> {
        let user = self.needed(said, &["user", "username"]);
        let password = self.needed(said, &["password", "value"]);
        Some(McpAuth::Basic { user: user?, password: password? })
    }

    /// A key without a header of its own is a bearer token.
    fn api_key(&mut self, said: &mut Entry<'_>) -> Option<McpAuth> {
        let header = said.one_of(&["header", "header_name"], self.findings);
        let key = self.token(said)?;
        let Some(header) = header else { return Some(McpAuth::Bearer(key)) };
        let header = self.text(&header.place, header.value);
        Some(McpAuth::ApiKey { header, key })
    }

    fn needed(&mut self, said: &mut Entry<'_>, keys: &[&'static str]) -> Option<Secret> {
        let Some(given) = said.one_of(keys, self.findings) else {
            let help = format!("add `{}`", keys[0]);
            self.findings.wrong(said.place(), format!("it has no `{}`", keys[0]), help);
            return None;
        };
        Some(self.secret(&given.place, given.value))
    }
}

/// `api_key`, `apiKey` and `API-Key` are one kind.
fn plain_kind(kind: &str) -> String {
    let letters = kind.chars().filter(|c| !matches!(c, '_' | '-'));
    letters.flat_map(char::to_lowercase).collect()
}
