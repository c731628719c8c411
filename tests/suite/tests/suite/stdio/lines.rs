//! Invalid lines: each is answered, and the server keeps running.

use super::host::{Channel, Host, call};
use serde_json::{Value, json};

/// Sends a line before and after the handshake; both answers must be equal.
fn answer(line: impl AsRef<[u8]>) -> Value {
    let mut host = Host::start(Channel::Pipes);
    host.write(line.as_ref());
    let early = host.read();
    let mut host = host.greeted();
    host.write(line.as_ref());
    let late = host.read();
    assert_eq!(early["error"]["code"], late["error"]["code"]);
    assert_eq!(host.ask(&call(9, "print_line", &json!({})))["id"], 9);
    assert_eq!(host.finish(), [] as [Value; 0]);
    late
}

#[test]
fn a_line_that_is_too_long() {
    let mut host = Host::start(Channel::Pipes).greeted();
    let long = call(1, "print_line", &json!({ "text": "x".repeat(20 << 20) })).to_string();
    for _ in 0..3 {
        host.write(&long);
        let answer = host.read();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32600)));
    }
    assert_eq!(host.ask(&call(2, "print_line", &json!({})))["id"], 2);
    assert_eq!(host.finish(), [] as [Value; 0]);
}

#[test]
fn a_long_line_within_the_limit() {
    let mut host = Host::start(Channel::Sockets).greeted();
    let answer = host.ask(&call(1, "print_line", &json!({ "text": "x".repeat(15 << 20) })));
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(1), &json!(true)));
    assert_eq!(host.finish(), [] as [Value; 0]);
}

#[test]
fn bytes_that_are_not_utf8() {
    for line in [&b"\xff\xfe{}"[..], b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc3\x28\"}"] {
        let answer = answer(line);
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32700)));
    }
}

#[test]
fn nul_bytes() {
    for line in ["\0", "{\"jsonrpc\":\"2.0\",\0\"id\":1,\"method\":\"ping\"}", "{}\0"] {
        assert_eq!(answer(line)["error"]["code"], -32700, "{line:?}");
    }
}

#[test]
fn a_nul_in_a_text_is_a_character() {
    let mut host = Host::start(Channel::Pipes).greeted();
    let answer = host.ask(&call(1, "no\0such", &json!({})));
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(host.finish(), [] as [Value; 0]);
}

#[test]
fn rejects_the_id_of_a_request_in_flight() {
    let mut host = Host::start(Channel::Pipes).greeted();
    for _ in 0..2 {
        // Both lines arrive together, so that the call still runs when the second is read.
        let ping = json!({"jsonrpc": "2.0", "id": 7, "method": "ping"});
        host.write(format!("{}\n{ping}", call(7, "sleepy", &json!({ "millis": 300 }))));
        let rejected = host.read();
        assert_eq!((&rejected["id"], &rejected["error"]["code"]), (&json!(7), &json!(-32600)));
        let answer = host.read();
        assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(7), &json!(false)));
    }
    assert_eq!(host.finish(), [] as [Value; 0]);
}

#[test]
fn the_id_of_a_cancelled_request_is_free() {
    let mut host = Host::start(Channel::Pipes).greeted();
    host.write(call(7, "sleepy", &json!({ "millis": 60_000 })).to_string());
    host.write(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
            .to_string(),
    );
    assert_eq!(host.ask(&call(8, "sleepy", &json!({ "millis": 50 })))["id"], 8);
    let ping = json!({"jsonrpc": "2.0", "id": 7, "method": "ping"});
    assert_eq!(host.ask(&ping)["result"], json!({}));
    assert_eq!(host.finish(), [] as [Value; 0]);
}

/// Deeper than the stack allows.
const DEPTH: usize = 500_000;

#[test]
fn deeply_nested_arguments() {
    let mut host = Host::start(Channel::Pipes).greeted();
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}0{}", open.repeat(DEPTH), close.repeat(DEPTH));
        for arguments in [format!("{{\"millis\":{deep}}}"), deep] {
            host.write(format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"sleepy","arguments":{arguments}}}}}"#
            ));
            let answer = host.read();
            assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(1), &json!(true)));
        }
    }
    assert_eq!(host.ask(&call(2, "print_line", &json!({})))["id"], 2);
    assert_eq!(host.finish(), [] as [Value; 0]);
}

#[test]
fn deeply_nested_messages() {
    let deep = format!("{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH));
    let unclosed = "{\"a\":".repeat(DEPTH);
    for (line, code, id) in [
        (deep.clone(), -32600, json!(null)),
        (unclosed, -32700, json!(null)),
        (
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{deep}}}"#),
            -32602,
            json!(1),
        ),
        (format!(r#"{{"jsonrpc":"2.0","id":{deep},"method":"ping"}}"#), -32600, json!(null)),
        (format!(r#"{{"jsonrpc":"2.0","id":1,"result":{deep}}}"#), -32600, json!(null)),
    ] {
        let answer = answer(&line);
        let start = &line[..50];
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{start}");
    }
}
