//! Reads the transport of an entry.

use super::Reader;
use super::entry::{Entry, Member};
use crate::transport::McpTransportConfig;
use tool_runtime_core::seam::nearest;

/// The transport that `type` or `transport` name.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Stdio,
    Http,
    /// HTTP as of 2024-11-05.
    Sse,
}

/// The names in dialects, without separators and in lower case.
const KINDS: &[(&str, Kind)] = &[
    ("stdio", Kind::Stdio),
    ("local", Kind::Stdio),
    ("http", Kind::Http),
    ("streamablehttp", Kind::Http),
    ("shttp", Kind::Http),
    ("remote", Kind::Http),
    ("sse", Kind::Sse),
];

const STDIO: &[&str] = &[
    "args",
    "env",
    "environment",
    "envs",
    "env_vars",
    "env_keys",
    "env_file",
    "cwd",
    "working_directory",
];
const HTTP: &[&str] = &[
    "headers",
    "http_headers",
    "env_http_headers",
    "auth",
    "authentication",
    "oauth",
    "oauth_client_id",
    "oauth_scopes",
    "scopes",
    "bearer_token",
    "bearer_token_env_var",
];
const URLS: &[&str] = &["url", "http_url", "server_url", "base_url", "uri"];

impl Reader<'_> {
    pub(super) fn transport(&mut self, entry: &mut Entry<'_>) -> Option<McpTransportConfig> {
        let named = self.named_kind(entry);
        match (entry.has(&["command", "cmd"]), entry.has(URLS)) {
            (true, true) => {
                let text = "it has both a `command` and an address";
                let help = "keep `command` for a server to start, `url` for one that runs";
                self.findings.problem(entry.location(), text, help);
                self.check_rest(entry)
            }
            (false, false) => {
                self.unreached(entry, named);
                self.check_rest(entry)
            }
            (true, false) => {
                if matches!(named, Some(Kind::Http | Kind::Sse)) {
                    let text = "it contradicts `command`, by which a server is started";
                    self.findings.problem(&entry.location_of("type"), text, "write `stdio`");
                }
                self.only(entry, HTTP, "a `command`");
                self.stdio(entry).map(McpTransportConfig::Stdio)
            }
            (false, true) => {
                if named == Some(Kind::Stdio) {
                    let text = "it contradicts the address, at which a server runs already";
                    self.findings.problem(&entry.location_of("type"), text, "write `http`");
                }
                if named == Some(Kind::Sse) && entry.has(&["http_url"]) {
                    let text = "it contradicts `httpUrl`, which is for streamable HTTP";
                    self.findings.problem(&entry.location_of("type"), text, "write `http`");
                }
                self.only(entry, STDIO, "an address");
                self.http(entry, named == Some(Kind::Sse)).map(McpTransportConfig::Http)
            }
        }
    }

    /// Checks the remaining keys of an entry without a valid transport.
    fn check_rest(&mut self, entry: &mut Entry<'_>) -> Option<McpTransportConfig> {
        self.env(entry);
        self.headers(entry);
        self.auth(entry);
        None
    }

    /// The transport that `type` and `transport` name, if they agree.
    fn named_kind(&mut self, entry: &mut Entry<'_>) -> Option<Kind> {
        let has_type = entry.has(&["type"]);
        let other = entry.take_if("transport", |_| has_type);
        let first = entry.one_of(&["type", "transport", "transport_type"], self.findings)?;
        let kind = self.kind(&first);
        if let Some(other) = other
            && let (Some(first), Some(second)) = (kind, self.kind(&other))
            && first != second
        {
            self.findings.problem(&other.location, "it contradicts `type`", "keep one of the two");
        }
        kind
    }

    fn kind(&mut self, member: &Member<'_>) -> Option<Kind> {
        let text = self.string(&member.location, member.value)?;
        let plain: String = text.chars().filter(|c| !matches!(c, '-' | '_')).collect();
        let plain = plain.to_ascii_lowercase();
        if let Some((_, kind)) = KINDS.iter().find(|(name, _)| *name == plain) {
            return Some(*kind);
        }
        let help = match plain.as_str() {
            "ws" | "websocket" | "tcp" => {
                "WebSockets are not supported; write the server's `https` address".to_owned()
            }
            _ => {
                let near = nearest(text, ["stdio", "http", "streamable-http", "sse"], 1);
                let near = near.first().map(|near| format!("; did you mean `{near}`?"));
                "write `stdio`, `http` or `sse`".to_owned() + &near.unwrap_or_default()
            }
        };
        self.findings.problem(&member.location, "no such transport is known", help);
        None
    }

    fn unreached(&mut self, entry: &Entry<'_>, named: Option<Kind>) {
        let help = match named {
            Some(Kind::Stdio) => r#"add `"command": "npx"`, or the command that starts it"#,
            Some(_) => r#"add `"url": "https://.."`"#,
            None => "add `command` for a server to start, `url` for one that runs",
        };
        self.findings.problem(entry.location(), "it has neither a command nor an address", help);
    }

    /// Rejects keys of the other transport, unless they have no effect.
    fn only(&mut self, entry: &mut Entry<'_>, others: &[&'static str], what: &str) {
        for key in others {
            let Some(member) = entry.take_if(key, |_| true).filter(|member| !member.is_empty())
            else {
                continue;
            };
            let text = format!("it does nothing for a server with {what}");
            self.findings.problem(&member.location, text, "remove it");
        }
    }
}
