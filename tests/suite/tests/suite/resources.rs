//! Resources, templates, pages and cache hints, as clients of both protocol versions see them.

use super::prompts::request_in_both_versions;
use super::server::{Server, stateless};
use serde_json::{Value, json};
use tool_runtime::pool::PoolProblem;
use tool_runtime::prelude::*;

const PROGRAM: &str = env!("CARGO_BIN_EXE_offering_server");

fn read(uri: &str) -> Value {
    request_in_both_versions("resources/read", &json!({ "uri": uri }))
}

fn contents(uri: &str) -> Value {
    let answer = read(uri);
    assert_eq!(answer.get("error"), None, "{answer}");
    answer["result"]["contents"].clone()
}

#[test]
fn resources_and_templates_are_listed_separately() {
    let resources =
        request_in_both_versions("resources/list", &json!({}))["result"]["resources"].clone();
    assert_eq!(
        resources,
        json!([
            {"uri": "config://app", "name": "config", "description": "The configuration of the program.",
             "mimeType": "application/json", "size": 11,
             "annotations": {"audience": ["user"], "priority": 0.5}},
            {"uri": "notes://0", "name": "first_note",
             "description": "The first note, a resource of its own URI beside the template."},
        ])
    );
    let templates = request_in_both_versions("resources/templates/list", &json!({}));
    let templates = templates["result"]["resourceTemplates"].as_array().expect("templates").clone();
    let uris: Vec<&str> =
        templates.iter().filter_map(|template| template["uriTemplate"].as_str()).collect();
    assert_eq!(uris, ["file:///{+path}", "notes://{id}", "talk://{topic}"]);
    assert_eq!(
        templates[1],
        json!({"uriTemplate": "notes://{id}", "name": "note", "title": "Note",
            "description": "One note.", "mimeType": "text/plain"})
    );
}

#[test]
fn a_resource_of_json_is_listed_with_its_type() {
    /// The state.
    #[resource("state://now", register = false)]
    async fn state() -> Option<Json<u32>> {
        Some(Json(1))
    }

    /// The state, as text.
    #[resource("state://text", mime_type = "text/plain", register = false)]
    async fn text() -> Json<u32> {
        Json(1)
    }

    let closure = Resource::builder("state://closure", "closure", "The state.");
    for (resource, expected) in [
        (Resource::from_action::<StateResource>(), "application/json"),
        (Resource::from_action::<TextResource>(), "text/plain"),
        (closure.handler(|| async { Ok::<_, ToolError>(Json(1)) }), "application/json"),
    ] {
        assert_eq!(resource.definition().mime_type.as_deref(), Some(expected));
    }
}

#[test]
fn a_resource_has_contents_of_its_type() {
    assert_eq!(
        contents("config://app"),
        json!([{"uri": "config://app", "mimeType": "application/json", "text": "{\"on\":\"shelf\"}"}])
    );
    assert_eq!(
        contents("notes://7"),
        json!([{"uri": "notes://7", "mimeType": "text/plain", "text": "note 7"}])
    );
    assert_eq!(
        contents("file:///a/b%20c"),
        json!([{"uri": "file:///a/b%20c", "mimeType": "application/octet-stream", "blob": "YS9iIGM="}])
    );
    assert_eq!(contents("talk://x").as_array().map(Vec::len), Some(2));
}

#[test]
fn the_most_specific_resource_is_read() {
    assert_eq!(contents("notes://0")[0]["text"], "the first");
}

#[test]
fn unknown_resources_are_not_found() {
    for uri in ["nope://1", "notes://12", "notes://1/2", "notes://"] {
        let error = read(uri)["error"].clone();
        // -32602 in 2026-07-28, see `request_in_both_versions`.
        assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32002), &json!(uri)));
    }
}

#[test]
fn invalid_variables_are_named() {
    let error = read("notes://many")["error"].clone();
    assert_eq!(error["code"], -32602);
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains("`id` must be an integer"), "{message}");
}

#[test]
fn a_failed_resource_reports_the_reason() {
    let error = read("file:///no")["error"].clone();
    assert_eq!((&error["code"], &error["message"]), (&json!(-32603), &json!("no disk")));
}

/// Reads all pages of a list, in 2025-11-25.
fn pages(server: &mut Server, method: &str, list: &str) -> Vec<Vec<String>> {
    let (mut pages, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let params = cursor.map_or(json!({}), |cursor| json!({ "cursor": cursor }));
        server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        let result = server.receive()["result"].clone();
        assert_eq!(result.get("ttlMs"), None, "older versions lack the field");
        let items = result[list].as_array().expect("a list");
        pages
            .push(items.iter().map(|item| item["name"].as_str().expect("a name").into()).collect());
        match result["nextCursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => return pages,
        }
    }
}

#[test]
fn lists_are_paged() {
    let (mut server, _) = Server::with(PROGRAM, &["paged"]).greeted();
    assert_eq!(
        pages(&mut server, "prompts/list", "prompts"),
        [["hello", "patience"], ["review", "summary"]]
    );
    assert_eq!(
        pages(&mut server, "tools/list", "tools"),
        [vec!["add_items", "notify_change"], vec!["remove_items"]]
    );
    assert_eq!(pages(&mut server, "resources/list", "resources"), [["config", "first_note"]]);
    assert_eq!(
        pages(&mut server, "resources/templates/list", "resourceTemplates"),
        [vec!["file", "note"], vec!["talk"]]
    );
    server.finish();
}

#[test]
fn a_cursor_continues_after_the_list_has_changed() {
    let (mut server, _) = Server::with(PROGRAM, &["paged"]).greeted();
    let mut list = |cursor: Option<&Value>| {
        let params = cursor.map_or(json!({}), |cursor| json!({ "cursor": cursor }));
        server
            .send(&json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/list", "params": params}));
        server.receive()["result"].clone()
    };
    let cursor = list(None)["nextCursor"].clone();
    let mut server_call = |name: &str| {
        server.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "add_items", "arguments": {"name": name, "kinds": ["prompt"]}}}));
        while server.receive()["id"] != 2 {}
    };
    server_call("aaa");
    server_call("rrr");
    server.send(
        &json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/list", "params": {"cursor": cursor}}),
    );
    let answer = loop {
        let message = server.receive();
        if message["id"] == 1 {
            break message;
        }
    };
    let names: Vec<&Value> = answer["result"]["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|prompt| &prompt["name"])
        .collect();
    assert_eq!(names, ["review", "rrr"]);
    server.leave();
}

#[test]
fn rejects_an_invalid_cursor() {
    let (mut server, _) = Server::with(PROGRAM, &["paged"]).greeted();
    for (method, cursor) in [
        ("tools/list", ""),
        ("tools/list", "2"),
        ("prompts/list", "00000000hello"),
        ("resources/list", "€"),
        ("resources/templates/list", "abcdefgh"),
    ] {
        server.send(
            &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"cursor": cursor}}),
        );
        assert_eq!(server.receive()["error"]["code"], -32602, "{method} {cursor}");
    }
    server.finish();
}

#[test]
fn newer_clients_receive_cache_hints() {
    let requests = [
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({"uri": "config://app"})),
    ];
    for (words, ttl, scope) in [(&["paged"][..], 30_000, "public"), (&[], 0, "private")] {
        let mut server = Server::with(PROGRAM, words);
        for (method, params) in &requests {
            server.send(&stateless(1, method, params));
            let result = server.receive()["result"].clone();
            assert_eq!(
                (&result["ttlMs"], &result["cacheScope"]),
                (&json!(ttl), &json!(scope)),
                "{method}"
            );
        }
        server.finish();
    }
}

#[test]
fn rejects_resources_with_the_same_uris() {
    let resource =
        |uri: &str| Resource::builder(uri, "name", "Something.").handler(|| async { "x" });
    let error = ToolPool::builder()
        .add_resource(resource("a:{x}/b"))
        .add_resource(resource("a:{y}/b"))
        .add_resource(resource("a:{+x}/b"))
        .add_resource(resource("nowhere"))
        .build()
        .unwrap_err();
    let problems: Vec<String> = error.problems().iter().map(ToString::to_string).collect();
    assert!(
        error
            .problems()
            .iter()
            .all(|problem| matches!(problem, PoolProblem::InvalidResource { .. }))
    );
    assert_eq!(problems.len(), 2, "{problems:?}");
    for part in ["two resources match the same URIs", "it has no scheme"] {
        assert!(problems.iter().any(|problem| problem.contains(part)), "{part}: {problems:?}");
    }
}

type Numbers = Vec<i64>;

/// The sum of numbers.
#[resource("sum://{numbers}", register = false)]
async fn sum(
    /// The numbers.
    numbers: Numbers,
) -> String {
    numbers.iter().sum::<i64>().to_string()
}

#[test]
fn a_variable_of_a_uri_is_no_list() {
    let built = ToolPool::builder().resource::<SumResource>().allow_empty().build();
    assert_eq!(
        built.expect_err("a list").to_string(),
        "the pool of tools cannot be built:\n- resource `sum://{numbers}`: a URI has one text for its variable `numbers`; take it as a `String`, and split it in the function"
    );
}
