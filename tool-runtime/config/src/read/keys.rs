//! Keys of all dialects, and their treatment. The documentation of `McpConfig` has the same table.

use serde_json::Value;

/// The treatment of a known key.
pub(super) enum Treatment {
    /// The key is read.
    Read,
    /// The key is ignored without an effect on the server; the text explains what happens instead.
    Ignored(&'static str),
    /// The key is not supported and would change the server; the text is the remedy.
    Unsupported(&'static str),
}

pub(super) type Keys = &'static [(&'static str, Treatment)];

use Treatment::{Ignored, Read, Unsupported};

const APPROVAL: &str = "whether a call is approved is decided by the pool, see `Approver`";
const FOR_PEOPLE: &str = "it is for people, who are shown `description` and `icon`";
const TAGS: &str = "tools of servers have no tags, name them by `include` and `exclude`";
const SANDBOX: &str = "have `command` start the sandbox";
const GOOGLE: &str = "send what the provider gives by `auth`, or by a header";

/// Keys of a server's entry.
pub(super) const SERVER: Keys = &[
    ("type", Read),
    ("transport", Read),
    ("transport_type", Read),
    ("command", Read),
    ("cmd", Read),
    ("args", Read),
    ("env", Read),
    ("environment", Read),
    ("envs", Read),
    ("env_vars", Read),
    ("env_keys", Read),
    ("env_file", Read),
    ("cwd", Read),
    ("working_directory", Read),
    ("url", Read),
    ("http_url", Read),
    ("server_url", Read),
    ("base_url", Read),
    ("uri", Read),
    ("headers", Read),
    ("http_headers", Read),
    ("env_http_headers", Read),
    ("auth", Read),
    ("authentication", Read),
    ("oauth", Read),
    ("oauth_client_id", Read),
    ("oauth_scopes", Read),
    ("scopes", Read),
    ("bearer_token", Read),
    ("bearer_token_env_var", Read),
    ("enabled", Read),
    ("is_active", Read),
    ("disabled", Read),
    ("required", Read),
    ("description", Read),
    ("icon", Read),
    ("timeout", Read),
    ("call_timeout", Read),
    ("tool_timeout", Read),
    ("tool_timeout_sec", Read),
    ("request_timeout", Read),
    ("connect_timeout", Read),
    ("connection_timeout", Read),
    ("startup_timeout", Read),
    ("startup_timeout_sec", Read),
    ("startup_timeout_ms", Read),
    ("init_timeout", Read),
    ("include", Read),
    ("include_tools", Read),
    ("enabled_tools", Read),
    ("available_tools", Read),
    ("exclude", Read),
    ("exclude_tools", Read),
    ("disabled_tools", Read),
    ("tools", Read),
    ("prefix", Read),
    ("resources", Read),
    ("trusted", Read),
    ("secrets", Read),
    ("auto_approve", Ignored(APPROVAL)),
    ("always_allow", Ignored(APPROVAL)),
    (
        "trust",
        Ignored(
            "whether a call is approved is decided by the pool; `trusted` has annotations acted on",
        ),
    ),
    ("default_tools_approval_mode", Ignored(APPROVAL)),
    ("supports_parallel_tool_calls", Ignored("what runs side by side is decided by the pool")),
    ("disabled_auto_approve_tools", Ignored(APPROVAL)),
    ("always_load", Ignored("all tools are listed")),
    ("start_on_launch", Ignored("a server is started if it is `enabled`")),
    ("keep_alive", Ignored("a connection is kept until it is closed")),
    (
        "sse_read_timeout",
        Ignored("`timeout` bounds calls, and streams without a call are unbounded"),
    ),
    ("watch_paths", Ignored("a server is not restarted when files change")),
    ("dev", Ignored("a server is neither watched nor debugged")),
    ("name", Ignored("the name of a server is the key of its entry")),
    ("gallery", Ignored("where an entry comes from changes nothing")),
    ("source", Ignored("where an entry comes from changes nothing")),
    ("provider", Ignored(FOR_PEOPLE)),
    ("provider_url", Ignored(FOR_PEOPLE)),
    ("logo_url", Ignored(FOR_PEOPLE)),
    ("reference", Ignored(FOR_PEOPLE)),
    ("tags", Ignored(FOR_PEOPLE)),
    ("long_running", Ignored("progress extends the time of every call")),
    (
        "registry_url",
        Ignored(
            "set `NPM_CONFIG_REGISTRY` or `UV_DEFAULT_INDEX` in `env`, whichever the command uses",
        ),
    ),
    ("extension_name", Ignored("where an entry comes from changes nothing")),
    ("version", Ignored("the version that runs is what `command` or `url` give")),
    ("server_instructions", Ignored("the instructions of a server are received on connection")),
    ("headers_helper", Unsupported("give the host program the header, or write it with `${VAR}`")),
    ("experimental_environment", Unsupported("servers are only started on this machine")),
    ("sandbox", Unsupported(SANDBOX)),
    ("sandbox_enabled", Unsupported(SANDBOX)),
    ("request_options", Unsupported("only its `headers` are read; remove the others")),
    ("proxy", Unsupported("set the proxy for the whole program, by `HTTPS_PROXY`")),
    ("tcp", Unsupported("WebSockets are not spoken, give the server's `https` address as `url`")),
    ("settings", Unsupported("an editor's extension starts this server, write its `command`")),
    ("include_tags", Unsupported(TAGS)),
    ("exclude_tags", Unsupported(TAGS)),
    ("auth_provider_type", Unsupported(GOOGLE)),
    ("target_audience", Unsupported(GOOGLE)),
    ("target_service_account", Unsupported(GOOGLE)),
    ("oauth_resource", Unsupported("the resource that tokens are for is the server's own address")),
];

/// Keys of `auth` and of other objects that configure authentication.
pub(super) const AUTH: Keys = &[
    ("type", Read),
    ("kind", Read),
    ("strategy", Read),
    ("token", Read),
    ("value", Read),
    ("key", Read),
    ("api_key", Read),
    ("header", Read),
    ("header_name", Read),
    ("user", Read),
    ("username", Read),
    ("password", Read),
    ("enabled", Read),
    ("client_id", Read),
    ("client_secret", Read),
    ("issuer", Read),
    ("scope", Read),
    ("scopes", Read),
    ("redirect_uri", Read),
    ("callback_port", Read),
    ("client_name", Read),
    ("client_metadata_url", Read),
    ("grant_type", Read),
    ("authentication", Read),
    ("headers", Unsupported("write them under `headers` of the entry")),
    ("auth_server_metadata_url", Unsupported(DISCOVERED)),
    ("authorization_url", Unsupported(DISCOVERED)),
    ("token_url", Unsupported(DISCOVERED)),
    ("resource", Unsupported("the resource that tokens are for is the server's own address")),
    ("token_param_name", Unsupported("tokens are sent in the header `Authorization`")),
    ("state", Unsupported("tokens are kept by the host program, not in a configuration")),
];

const DISCOVERED: &str = "the authorization server is found by the server's own metadata";

/// Keys of one tool under `tools`.
pub(super) const TOOL: Keys = &[
    ("timeout", Read),
    ("timeout_sec", Read),
    ("timeout_ms", Read),
    ("enabled", Read),
    ("approval_mode", Ignored(APPROVAL)),
    ("name", Read),
    ("title", Read),
    ("description", Read),
    ("tags", Read),
    ("arguments", Read),
];

/// Keys of one argument under `arguments` of a tool.
pub(super) const ARGUMENT: Keys = &[
    ("name", Read),
    ("description", Read),
    ("hide", Read),
    ("value", Read),
    ("default", Read),
    ("required", Read),
    ("schema", Read),
];

/// Keys of a command that is an object.
pub(super) const COMMAND: Keys = &[("path", Read), ("args", Read), ("env", Read)];

/// Keys of one variable under `env_vars`.
pub(super) const ENV_VAR: Keys = &[("name", Read), ("source", Read)];

/// Whether a value is likely to be a server's entry: it has a command or an address.
pub(crate) fn looks_like_entry(value: &Value) -> bool {
    const REACHED: &[&str] =
        &["command", "cmd", "url", "http_url", "server_url", "base_url", "uri", "transport"];
    let Value::Object(object) = value else { return false };
    object.keys().any(|key| REACHED.contains(&snake_case(key).as_str()))
}

/// All keys, for tests.
#[cfg(test)]
pub(crate) fn known_keys() -> impl Iterator<Item = &'static str> {
    SERVER.iter().chain(AUTH).chain(TOOL).chain(ARGUMENT).chain(COMMAND).map(|(key, _)| *key)
}

/// `includeTools` and `include_tools` are one name.
pub(super) fn snake_case(key: &str) -> String {
    let mut snake = String::with_capacity(key.len() + 4);
    let mut is_after_small = false;
    for c in key.chars() {
        if c.is_ascii_uppercase() && is_after_small {
            snake.push('_');
        }
        is_after_small = c.is_ascii_lowercase() || c.is_ascii_digit();
        snake.push(c.to_ascii_lowercase());
    }
    snake
}
