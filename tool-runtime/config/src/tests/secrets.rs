//! No secret is ever printed.

use super::support::loader;
use crate::{McpAuth, McpConfig, McpOAuth, McpServerConfig, McpText, McpTransportConfig};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};
use std::fmt::Debug;
use tool_runtime_core::vocabulary::Secret;

/// The marker in every position of a secret.
const MARKER: &str = "hunter2";

fn hidden(value: &dyn Debug) {
    for text in [format!("{value:?}"), format!("{value:#?}")] {
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

/// The only server of a configuration.
fn entry_of(entry: Value) -> McpServerConfig {
    let mut config = loader().value(json!({ "mcpServers": { "s": entry } })).load().unwrap();
    config.servers.remove("s").unwrap()
}

#[test]
fn marked_values_are_masked_in_all_text_of_the_server() {
    let server = entry_of(json!({
        "command": "db",
        "args": ["--user", "ada-lovelace", "s3cret-arg", "${PLACE:-s3cret-place}"],
        "env": { "MODE": "changeover", "OTHER": "untouched" },
        "secrets": ["MODE", "args[2]", "args[3]"],
    }));
    let text = "changeover s3cret-arg s3cret-place untouched ada-lovelace";
    let masked = "${MODE} .. .. untouched ada-lovelace";
    assert_eq!(server.result_redactor().text(text), masked);
    assert_eq!(server.redactor().text(text), masked);
    let web = entry_of(json!({
        "url": "https://example.com/mcp",
        "headers": { "X-Team": "Bearer teamwork" },
        "secrets": ["x-team"],
    }));
    assert_eq!(web.result_redactor().text("it is teamwork"), "it is ${X-Team}");
}

#[test]
fn a_variable_in_the_texts_of_an_entry_can_be_marked() {
    let entry = json!({ "command": "db", "args": ["${WORD}"], "secrets": ["WORD"] });
    let config = loader().variables([("WORD", "changeover")]);
    let config = config.value(json!({ "mcpServers": { "s": entry } })).load().unwrap();
    let redactor = config.servers["s"].result_redactor();
    assert_eq!(redactor.text("a changeover"), "a ${WORD}");
}

#[test]
fn marks_without_a_usable_value_are_problems() {
    let entry = |secrets: Value| {
        json!({ "command": "db", "args": ["x"], "env": { "MY_PW": "hunter", "PIN": "1234", "NONE": "" },
            "secrets": secrets })
    };
    for (secrets, expected) in [
        (json!(["MY_PV"]), "did you mean `MY_PW`?"),
        (json!(["hunter2-s3cret"]), "the entry has no value of this name"),
        (json!(["args[1]"]), "the entry has no value of this name"),
        (json!(["args[0]"]), "its value is shorter than 6 bytes"),
        (json!(["PIN"]), "its value is shorter than 6 bytes"),
        (json!(["NONE"]), "its value is shorter than 6 bytes"),
        (json!("MY_PW"), "must be a list"),
        (json!([7]), "must be a string"),
    ] {
        let config = json!({ "mcpServers": { "s": entry(secrets.clone()) } });
        let error = loader().value(config).load().unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("secrets"), "{secrets}: {error}");
        hidden(&error);
    }
    let mut off = entry(json!(["PIN"]));
    off["disabled"] = true.into();
    assert!(!entry_of(off).enabled);
}

/// Statuses and errors are read by people.
#[test]
fn ordinary_words_of_an_entry_are_not_masked() {
    let server = McpServerConfig::stdio("db").env("MODE", "changed").env("X", "Primary");
    let server = server.env("PASSWORD", "changeme").env("MY_PW", "hunter-two");
    let text = "its Primary list changed: changeme, hunter-two";
    let masked = "its Primary list changed: ${PASSWORD}, ${MY_PW}";
    assert_eq!(server.redactor().text(text), masked);
    assert_eq!(server.result_redactor().text(text), masked);
}

#[test]
fn passwords_in_connection_strings_are_found() {
    let server = McpServerConfig::stdio("db")
        .arg("CONN=Server=h;Password=s3cret-one;Encrypt=true")
        .env("DSN", "host=h user=ada password='s3cret-two'");
    let redacted = server.result_redactor().text("s3cret-one s3cret-two ada").into_owned();
    assert_eq!(redacted, ".. ${DSN} ada");
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
