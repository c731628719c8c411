//! No secret is ever printed.

use super::support::loader;
use crate::{McpAuth, McpConfig, McpOAuth, McpServerConfig, McpText, McpTransportConfig};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};
use std::fmt::Debug;
use tool_runtime_core::Secret;

/// The marker in every position of a secret.
const MARKER: &str = "hunter2";

fn hidden(shown: &dyn Debug) {
    for text in [format!("{shown:?}"), format!("{shown:#?}")] {
        assert!(!text.contains(MARKER), "{text}");
    }
}

/// All printable forms of a configuration.
fn all_hidden(config: &McpConfig) {
    hidden(config);
    hidden(&config.to_string());
    hidden(&config.warnings());
    hidden(&config.diagnose());
    for server in config.servers.values() {
        hidden(server);
        hidden(&server.transport);
        match &server.transport {
            McpTransportConfig::Stdio(stdio) => {
                hidden(stdio);
                hidden(&(&stdio.command, &stdio.args, &stdio.env, &stdio.cwd));
            }
            McpTransportConfig::Http(http) => {
                hidden(http);
                hidden(&(&http.url, &http.headers, &http.auth));
            }
        }
    }
    if let Err(error) = config.validate() {
        hidden(&error);
        hidden(&error.to_string());
    }
}

#[test]
fn configurations_from_code_hide_their_secrets() {
    hidden(&Secret::from(MARKER));
    let url = format!("https://{MARKER}:{MARKER}@example.com/mcp?key={MARKER}#{MARKER}");
    let oauth = McpOAuth {
        client_id: Some(MARKER.into()),
        client_secret: Some(MARKER.into()),
        issuer: Some(MARKER.to_owned()),
        scopes: vec![MARKER.to_owned()],
        redirect_uri: Some(MARKER.to_owned()),
        client_name: Some(MARKER.to_owned()),
        client_metadata_url: Some(MARKER.to_owned()),
        client_credentials: true,
    };
    for auth in [
        McpAuth::Bearer(MARKER.into()),
        McpAuth::Basic { user: MARKER.into(), password: format!("{MARKER}\n").into() },
        McpAuth::ApiKey { header: McpText::from("X-Key"), key: format!("{MARKER}\n").into() },
        McpAuth::OAuth(oauth),
    ] {
        hidden(&auth);
        let web = McpServerConfig::http(url.as_str()).header("X", MARKER).auth(auth);
        let local = McpServerConfig::stdio("npx").arg(MARKER).env("A", MARKER).env("PATH", MARKER);
        all_hidden(&McpConfig::new().with("web", web).with("own", local));
    }
}

/// A text that contains the marker, literally or by a variable.
fn secret() -> impl Strategy<Value = String> {
    select(vec![
        MARKER.to_owned(),
        format!("a {MARKER}\n"),
        format!("$${{{MARKER}"),
        format!("${{NOWHERE:-{MARKER}}}"),
        format!("${{TOKEN:?{MARKER}}}"),
        format!("${MARKER}"),
        "${SECRET}".to_owned(),
        "${SECRET}${NOWHERE}".to_owned(),
        "${RECURSIVE}".to_owned(),
        "${A:-${SECRET}}".to_owned(),
        "${SECRET".to_owned(),
        format!("ü{MARKER}\0"),
    ])
}

/// A text that may be shown unexpanded, although its value is secret.
fn written() -> impl Strategy<Value = String> {
    select(
        ["${SECRET}", "x-${SECRET}", "~/${SECRET}", "${RECURSIVE}", "${SECRET} y", "=${SECRET}"]
            .as_slice(),
    )
    .prop_map(str::to_owned)
}

fn url() -> impl Strategy<Value = String> {
    let formats = vec![
        "https://<>@h/",
        "https://h/?k=<>",
        "http://u:<>@h",
        "<>://h",
        "https://u:<>/w@h",
        "${SECRET}",
        "https://${SECRET}.h/",
        "https://h:<>@",
        "u:<>@h",
    ];
    (select(formats), secret()).prop_map(|(form, secret)| form.replace("<>", &secret))
}

fn map(names: impl Strategy<Value = String>) -> impl Strategy<Value = Value> {
    proptest::collection::btree_map(names, secret(), 0..3).prop_map(|map| json!(map))
}

fn field() -> impl Strategy<Value = (&'static str, Value)> {
    let names = prop_oneof![
        Just("A".to_owned()),
        Just("X-Key".to_owned()),
        Just("Host".to_owned()),
        written()
    ];
    let text = || secret().prop_map(Value::from);
    prop_oneof![
        (select(["auth", "bearer_token", "oauth_client_id"].as_slice()), text()),
        (select(["url", "httpUrl"].as_slice()), url().prop_map(Value::from)),
        (select(["command", "cwd"].as_slice()), written().prop_map(Value::from)),
        (Just("args"), proptest::collection::vec(secret(), 0..3).prop_map(|args| json!(args))),
        (select(["env", "headers", "http_headers"].as_slice()), map(names)),
        (
            select(["auth", "oauth", "authentication"].as_slice()),
            (select(["bearer", "basic", "api_key", "oauth", "x"].as_slice()), text(), text()).prop_map(
                |(kind, one, two)| json!({ "type": kind, "token": one, "user": one, "password": two,
                    "header": two, "client_id": one, "client_secret": two, "scope": one, "redirect_uri": two }),
            ),
        ),
        // A form that is not read.
        (select(["timeout", "type", "enabled", "include", "args", "env", "auth_provider_type", "envFile"].as_slice()), text()),
        (Just("disabled"), Just(Value::Bool(true))),
    ]
}

fn entry() -> impl Strategy<Value = Value> {
    let reached = select(vec![json!({ "command": "x" }), json!({ "url": "https://h" }), json!({})]);
    (reached, proptest::collection::vec(field(), 0..6)).prop_map(|(mut entry, fields)| {
        let object: &mut Map<String, Value> = entry.as_object_mut().expect("an object");
        object.extend(fields.into_iter().map(|(key, value)| (key.to_owned(), value)));
        entry
    })
}

proptest! {
    #![proptest_config(crate::property::cases(256))]

    #[test]
    fn configurations_from_text_hide_their_secrets(entries in proptest::collection::vec(entry(), 1..3)) {
        let servers: Map<String, Value> =
            entries.into_iter().enumerate().map(|(index, entry)| (format!("s{index}"), entry)).collect();
        let loader = loader()
            .variables([("SECRET", MARKER), ("RECURSIVE", "${hunter2}")])
            .value(json!({ "mcpServers": servers }));
        hidden(&loader);
        match loader.load() {
            Ok(config) => all_hidden(&config),
            Err(error) => {
                hidden(&error);
                hidden(&error.to_string());
            }
        }
    }
}
