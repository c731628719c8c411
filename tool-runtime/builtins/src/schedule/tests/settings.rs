//! `Config`.

use super::*;
use crate::schedule::{SettingKey, SettingKind, Settings, SettingsBuilder};
use tool_runtime::Principal;
use tool_runtime::secret::Secrets;

fn pool(settings: SettingsBuilder) -> ToolPool {
    let workspace = Time::at(BEGINNING).workspace();
    let builtins = Builtins::new(workspace).settings(&settings.open().unwrap());
    let secrets = Secrets::new().with("TOKEN", "8fQm2x1v");
    ToolPool::builder().secrets(secrets).install(builtins).build().unwrap()
}

fn declared() -> SettingsBuilder {
    Settings::builder()
        .key(SettingKey::new("theme", SettingKind::String).default_value(json!("dark")))
        .key(SettingKey::new("width", SettingKind::Integer))
        .key(SettingKey::new("version", SettingKind::Integer).default_value(json!(3)).read_only())
}

async fn text(pool: &ToolPool, arguments: Value) -> String {
    call(pool, "Config", arguments).await.observation().to_text()
}

#[tokio::test]
async fn settings_are_set_read_listed_and_removed() {
    let pool = pool(Settings::builder());
    assert_eq!(text(&pool, json!({ "action": "list" })).await, "no settings");
    assert_eq!(text(&pool, json!({ "action": "get", "key": "a.b" })).await, "a.b is not set");
    let set = json!({ "action": "set", "key": "a.b", "value": { "deep": [1, null] } });
    assert_eq!(text(&pool, set).await, r#"a.b = {"deep":[1,null]}"#);
    assert_eq!(text(&pool, json!({ "action": "list" })).await, r#"a.b = {"deep":[1,null]}"#);
    let other = pool.for_principal(Principal::new("ada"));
    assert_eq!(text(&other, json!({ "action": "list" })).await, "no settings");
    assert_eq!(text(&pool, json!({ "action": "unset", "key": "a.b" })).await, "a.b is not set");
}

#[tokio::test]
async fn declared_settings_have_types_and_defaults() {
    let pool = pool(declared());
    let all = "theme = \"dark\"\nversion = 3";
    assert_eq!(text(&pool, json!({ "action": "list" })).await, all);
    let refused = |arguments| error(&pool, "Config", arguments);
    let near = refused(json!({ "action": "get", "key": "them" })).await;
    assert_eq!(near, "`them` is not a setting; did you mean `theme`?");
    let kind = refused(json!({ "action": "set", "key": "width", "value": "wide" })).await;
    assert_eq!(kind, "the value of `width` must be a whole number");
    let fixed = refused(json!({ "action": "set", "key": "version", "value": 4 })).await;
    assert_eq!(fixed, "`version` is set by the operator and cannot be changed");
    assert!(
        refused(json!({ "action": "unset", "key": "version" })).await.contains("cannot be changed")
    );
    text(&pool, json!({ "action": "set", "key": "theme", "value": "light" })).await;
    assert_eq!(text(&pool, json!({ "action": "get", "key": "theme" })).await, "theme = \"light\"");
    assert_eq!(text(&pool, json!({ "action": "unset", "key": "theme" })).await, "theme = \"dark\"");
}

#[tokio::test]
async fn malformed_settings_and_secrets_are_refused() {
    let pool = pool(Settings::builder());
    let refused = |arguments| error(&pool, "Config", arguments);
    assert!(refused(json!({ "action": "get" })).await.contains("`key` is missing"));
    assert!(refused(json!({ "action": "set", "key": "a" })).await.contains("`value` is missing"));
    assert!(refused(json!({ "action": "list", "key": "a" })).await.contains("takes no `key`"));
    assert!(refused(json!({ "action": "get", "key": "a b" })).await.contains("letters, digits"));
    assert!(
        refused(json!({ "action": "get", "key": "a", "value": 1 }))
            .await
            .contains("for the action `set`")
    );
    assert!(refused(json!({ "action": "drop", "key": "a" })).await.contains("action"));
    let large = json!({ "action": "set", "key": "a", "value": "x".repeat(20_000) });
    assert!(refused(large).await.contains("at most 16384 are stored"));
    for value in [json!("8fQm2x1v"), json!({ "8fQm2x1v": 1 }), json!(["x 8fQm2x1v"])] {
        let text = refused(json!({ "action": "set", "key": "a", "value": value })).await;
        assert!(text.contains("must not contain a secret") && !text.contains("8fQm2x1v"), "{text}");
    }
    for number in 0..200 {
        text(&pool, json!({ "action": "set", "key": format!("k{number}"), "value": number })).await;
    }
    let text_of_limit = refused(json!({ "action": "set", "key": "one-more", "value": 1 })).await;
    assert!(text_of_limit.contains("you have 200 settings"), "{text_of_limit}");
    let again = json!({ "action": "set", "key": "k1", "value": true });
    assert_eq!(text(&pool, again).await, "k1 = true", "a setting that exists may be changed");
}

#[tokio::test]
async fn settings_in_a_file_survive() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("settings.db");
    let set = json!({ "action": "set", "key": "a", "value": 1 });
    text(&pool(Settings::builder().file(&file)), set).await;
    let again = pool(Settings::builder().file(&file));
    assert_eq!(text(&again, json!({ "action": "get", "key": "a" })).await, "a = 1");
}
