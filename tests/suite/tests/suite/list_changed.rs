//! Clients of both protocol versions are notified of changed lists.

use super::server::{Server, stateless};
use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_offering_server");
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

fn stateful_call(id: u64, name: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": name, "arguments": arguments}})
}

fn stateless_call(id: u64, name: &str, arguments: &Value) -> Value {
    stateless(id, "tools/call", &json!({"name": name, "arguments": arguments}))
}

/// The notifications that arrive with one answer: the expected number, and none before the answer
/// to a last call.
fn notifications(server: &mut Server, call: &Value, count: usize) -> Vec<Value> {
    server.send(call);
    let (mut notifications, mut is_answered) = (Vec::new(), false);
    while notifications.len() < count || !is_answered {
        let message = server.receive();
        match message.get("method") {
            Some(_) => notifications.push(message),
            None => {
                assert_eq!(message["result"]["isError"], false, "{message}");
                is_answered = true;
            }
        }
    }
    notifications
}

fn methods(notifications: &[Value]) -> Vec<&str> {
    let mut methods: Vec<&str> =
        notifications.iter().filter_map(|message| message["method"].as_str()).collect();
    methods.sort_unstable();
    methods
}

const ALL: [&str; 3] = [
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/tools/list_changed",
];

fn new_items(kinds: &[&str]) -> Value {
    json!({"name": "more", "kinds": kinds})
}

#[test]
fn older_clients_are_notified_once_per_list() {
    let mut server = Server::ready(PROGRAM);
    let first = notifications(
        &mut server,
        &stateful_call(1, "add_items", &new_items(&["tool", "prompt", "resource"])),
        3,
    );
    assert_eq!(methods(&first), ALL);
    // A prompt and a resource are removed, the tool stays.
    let second =
        notifications(&mut server, &stateful_call(2, "remove_items", &json!({"name": "more"})), 2);
    assert_eq!(methods(&second), ALL[..2]);
    server.finish();
}

#[test]
fn newer_clients_receive_requested_notifications() {
    let mut server = Server::with(PROGRAM, &[]);
    let wanted = json!({"notifications": {"promptsListChanged": true,
        "resourceSubscriptions": ["notes://1", "nope://1"]}});
    server.send(&stateless(7, "subscriptions/listen", &wanted));
    let acknowledged = server.receive();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({"promptsListChanged": true, "resourceSubscriptions": ["notes://1"]})
    );
    let change = notifications(
        &mut server,
        &stateless_call(8, "add_items", &new_items(&["tool", "resource", "prompt"])),
        1,
    );
    assert_eq!(methods(&change), [ALL[0]]);
    assert_eq!(change[0]["params"]["_meta"][SUBSCRIPTION], 7);
    let ignored = notifications(
        &mut server,
        &stateless_call(9, "notify_change", &json!({"uri": "notes://2"})),
        0,
    );
    assert!(ignored.is_empty());
    let update = notifications(
        &mut server,
        &stateless_call(10, "notify_change", &json!({"uri": "notes://1"})),
        1,
    );
    assert_eq!(methods(&update), ["notifications/resources/updated"]);
    assert_eq!(update[0]["params"]["uri"], "notes://1");
    let rest = server.rest();
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["id"], 7);
    assert_eq!(rest[0]["result"]["_meta"][SUBSCRIPTION], 7, "it ends with its client");
}

#[test]
fn a_subscription_ends_when_it_is_cancelled() {
    let mut server = Server::with(PROGRAM, &[]);
    for (id, wanted) in [(1, "toolsListChanged"), (2, "promptsListChanged")] {
        server.send(&stateless(
            id,
            "subscriptions/listen",
            &json!({"notifications": {wanted: true}}),
        ));
        assert_eq!(server.receive()["params"]["_meta"][SUBSCRIPTION], id);
    }
    server.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    );
    let change = notifications(
        &mut server,
        &stateless_call(3, "add_items", &new_items(&["tool", "prompt"])),
        1,
    );
    assert_eq!(change[0]["params"]["_meta"][SUBSCRIPTION], 2);
    let ends: Vec<Value> = server.rest().iter().map(|end| end["id"].clone()).collect();
    assert_eq!(ends, [2]);
}

#[test]
fn older_clients_subscribe_to_resources() {
    let mut server = Server::ready(PROGRAM);
    let ask = |server: &mut Server, id: u64, method: &str, uri: &str| {
        server.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"uri": uri}}));
        server.receive()
    };
    assert_eq!(ask(&mut server, 1, "resources/subscribe", "nope://1")["error"]["code"], -32002);
    assert_eq!(ask(&mut server, 2, "resources/subscribe", "notes://1")["result"], json!({}));
    let update = notifications(
        &mut server,
        &stateful_call(3, "notify_change", &json!({"uri": "notes://1"})),
        1,
    );
    assert_eq!(update[0]["params"], json!({"uri": "notes://1"}));
    assert_eq!(ask(&mut server, 4, "resources/unsubscribe", "notes://1")["result"], json!({}));
    server.send(&stateful_call(5, "notify_change", &json!({"uri": "notes://1"})));
    // A pending notification arrives before later ones.
    let later =
        notifications(&mut server, &stateful_call(6, "add_items", &new_items(&["prompt"])), 1);
    assert_eq!(methods(&later), [ALL[0]]);
    server.finish();
}

#[test]
fn a_burst_of_changes_is_one_notification() {
    let mut server = Server::ready(PROGRAM);
    for n in 0..200 {
        let more = json!({"name": format!("n{n}"), "kinds": ["prompt"]});
        server.send(&stateful_call(n, "add_items", &more));
    }
    let (mut answers, mut notes) = (0, 0);
    while answers < 200 || notes == 0 {
        match server.receive().get("method") {
            Some(_) => notes += 1,
            None => answers += 1,
        }
    }
    assert!(notes < 100, "{notes}");
    server.leave();
}

#[test]
fn a_restriction_and_its_end_are_notified() {
    let mut server = Server::ready(env!("CARGO_BIN_EXE_changing_server"));
    let visible = json!({"to": ["restrict_tools", "unrestrict_tools"]});
    assert_eq!(
        methods(&notifications(&mut server, &stateful_call(1, "restrict_tools", &visible), 1)),
        [ALL[2]]
    );
    assert_eq!(
        methods(&notifications(&mut server, &stateful_call(2, "unrestrict_tools", &json!({})), 1)),
        [ALL[2]]
    );
    server.finish();
}
