//! The fast path has to agree with rmcp's own parser in everything but the arguments.

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, GetExtensions, GetMeta, RequestMetaObject};
use rmcp::service::RxJsonRpcMessage;
use serde_json::json;

use super::super::message::parse;
use crate::arguments::RawArguments;

/// The request in a line.
fn request(line: &str) -> ClientRequest {
    let message = parse(line.as_bytes()).expect("no rejection").expect("a message");
    message.into_request().expect("a request").0
}

/// The request as parsed by rmcp.
fn request_by_rmcp(line: &str) -> ClientRequest {
    let message: RxJsonRpcMessage<RoleServer> = serde_json::from_str(line).expect("a message");
    message.into_request().expect("a request").0
}

/// A `tools/call` with these arguments, verbatim.
fn call_with(arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","arguments":{arguments}}}}}"#
    )
}

/// The text that reached the extension.
fn raw_arguments(request: &ClientRequest) -> Option<&str> {
    let raw = request.extensions().get::<RawArguments>()?;
    Some(raw.get())
}

#[test]
fn arguments_arrive_byte_for_byte() {
    let arguments = "{\"b\" : 1.50e+3,\t\"a\":\"\\u00e9 é\", \"b\":99999999999999999999}";
    assert_eq!(raw_arguments(&request(&call_with(arguments))), Some(arguments));
}

#[test]
fn arguments_that_are_not_an_object_are_still_a_call() {
    for arguments in ["[1,2]", "\"text\"", "null", "12", "true"] {
        let request = request(&call_with(arguments));
        assert!(matches!(request, ClientRequest::CallToolRequest(_)));
        assert_eq!(raw_arguments(&request), Some(arguments));
    }
}

#[test]
fn deeply_nested_arguments_are_left_to_the_tool() {
    let arguments = "[".repeat(10_000) + &"]".repeat(10_000);
    assert_eq!(raw_arguments(&request(&call_with(&arguments))), Some(&*arguments));
}

#[test]
fn absent_arguments_add_no_extension() {
    let request =
        request(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#);
    assert_eq!(raw_arguments(&request), None);
}

#[test]
fn every_other_field_is_parsed_as_by_rmcp() {
    let line = json!({
        "params": {
            "arguments": {"a": 1},
            "requestState": "state",
            "inputResponses": {"who": {"action": "accept"}},
            "name": "t\u{e9}\"",
            "task": {"ttl": 1},
            "_meta": {"progressToken": "p", "io.modelcontextprotocol/protocolVersion": "2026-07-28"},
        },
        "extra": 1, "method": "tools/call", "id": "x", "jsonrpc": "2.0",
    })
    .to_string();
    let (ours, theirs) = (request(&line), request_by_rmcp(&line));
    assert_eq!(ours.get_meta(), theirs.get_meta());
    assert!(ours.extensions().get::<RequestMetaObject>().is_some());
    let (ClientRequest::CallToolRequest(ours), ClientRequest::CallToolRequest(mut theirs)) =
        (ours, theirs)
    else {
        panic!("both are calls");
    };
    theirs.params.arguments = None;
    assert_eq!(ours.params, theirs.params);
}

#[test]
fn escapes_and_odd_ids_take_the_fast_path_too() {
    let line = r#"{"jsonrpc":"2\u002e0","id":2.0,"m\u0065thod":"tools\/call","params":{"name":"t","arguments":[]}}"#;
    assert_eq!(raw_arguments(&request(line)), Some("[]"));
}

#[test]
fn a_null_meta_counts_as_absent() {
    let line =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":null}}"#;
    let (ours, theirs) = (request(line), request_by_rmcp(line));
    assert!(ours.extensions().get::<RequestMetaObject>().is_none());
    assert!(theirs.extensions().get::<RequestMetaObject>().is_none());
}

#[test]
fn a_malformed_call_is_answered_as_by_rmcp() {
    for params in [r#"{}"#, r#"{"name":1}"#, r#"{"name":"t","requestState":1}"#] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        assert!(matches!(request_by_rmcp(&line), ClientRequest::CustomRequest(_)));
        assert!(matches!(request(&line), ClientRequest::CustomRequest(_)));
    }
}

#[test]
fn other_methods_are_left_to_rmcp() {
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"t","arguments":{"a":"b"}}}"#;
    assert!(matches!(request(line), ClientRequest::GetPromptRequest(_)));
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"x/y","params":{"name":"t"}}"#;
    assert!(matches!(request(line), ClientRequest::CustomRequest(_)));
}
