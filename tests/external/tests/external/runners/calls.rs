//! Calls, as long as everybody is there.

use super::place::{Place, SOON, class, runner, text};
use serde_json::json;
use std::fs;
use std::time::{Duration, Instant};
use tool_runtime::{ErrorClass, ToolCall};

pub(super) async fn tools_are_listed_with_their_schemas_and_hints(place: Place) {
    let _runner = place.run(4);
    let caller = place.caller(1).await;
    let definition = |name| caller.pool.get(name).unwrap().definition().clone();
    let add = definition("math.add");
    assert_eq!(add.description, "Add two integers.");
    assert_eq!(add.input_schema["properties"]["a"]["type"], "integer");
    assert_eq!(add.input_schema["required"], json!(["a", "b"]));
    assert!(add.annotations.is_read_only() && add.annotations.is_idempotent());
    let append = definition("files.append");
    assert_eq!(append.input_schema["properties"]["name"]["pattern"], "^[a-z]+$");
    assert!(!append.annotations.is_read_only() && !append.annotations.is_destructive());
    assert!(definition("files.wait").annotations.is_read_only());
}

pub(super) async fn a_tool_is_called_and_says_by_which_runner(place: Place) {
    let _runner = place.run(4);
    let caller = place.caller(1).await;
    for _ in 0..20 {
        let result = caller.call("math.add", r#"{"a":2,"b":40}"#).await;
        assert_eq!(text(&result), "42");
        assert!(runner(&result).starts_with("fleet."), "{}", runner(&result));
    }
    assert_eq!(
        text(&caller.call("files.append", r#"{"name":"a","line":"x"}"#).await),
        "appended to a"
    );
    assert_eq!(fs::read_to_string(place.file("a")).unwrap(), "x\n");
}

pub(super) async fn invalid_arguments_are_the_fault_of_the_model(place: Place) {
    let _runner = place.run(4);
    let caller = place.caller(1).await;
    for (tool, arguments, named) in [
        ("math.add", r#"{"a":"x","b":1}"#, "a"),
        ("math.add", r#"{"a":1}"#, "b"),
        ("math.add", r#"{"a":1,"b":2,"c":3}"#, "c"),
        ("files.append", r#"{"name":"../x","line":""}"#, "name"),
    ] {
        let result = caller.call(tool, arguments).await;
        assert_eq!(class(&result), Some(ErrorClass::Input), "{arguments}: {}", text(&result));
        assert!(text(&result).contains(&format!("`{named}`")), "{arguments}: {}", text(&result));
    }
}

pub(super) async fn an_error_of_the_tool_reaches_the_caller(place: Place) {
    let _runner = place.run(4);
    let caller = place.caller(1).await;
    fs::create_dir(place.file("folder")).unwrap();
    let result = caller.call("files.append", r#"{"name":"folder","line":"x"}"#).await;
    assert_eq!(class(&result), Some(ErrorClass::Tool));
    assert!(text(&result).contains("cannot write `folder`: Is a directory"), "{}", text(&result));
}

pub(super) async fn progress_reaches_the_caller(place: Place) {
    let _runner = place.run(4);
    let caller = place.caller(1).await;
    let (mut call, heard) = caller.running("files.wait", r#"{"name":"a"}"#);
    let progress = heard.first().await;
    assert_eq!((progress.done, progress.total), (0.0, Some(1.0)));
    assert_eq!(progress.message.as_deref(), Some("waiting"));
    fs::write(place.file("a"), "").unwrap();
    assert_eq!(text(&call.within(SOON).await), "a is there");
}

/// More than 256 KiB travel as blobs.
pub(super) async fn large_arguments_and_outcomes_arrive(place: Place) {
    let _runner = place.run(4);
    let caller = place.caller(1).await;
    let long = "x".repeat(300_000);
    let result =
        caller.call("files.append", &json!({ "name": "a", "line": long }).to_string()).await;
    assert_eq!(text(&result), "appended to a");
    assert_eq!(fs::read_to_string(place.file("a")).unwrap(), format!("{long}\n"));
    // The error quotes the name.
    let result =
        caller.call("files.append", &json!({ "name": long, "line": "" }).to_string()).await;
    assert_eq!(class(&result), Some(ErrorClass::Tool));
    assert!(text(&result).contains(&long), "{} bytes", text(&result).len());
}

pub(super) async fn a_call_that_is_dropped_frees_its_slot(place: Place) {
    let _runner = place.run(1);
    let caller = place.caller(1).await;
    let (call, heard) = caller.running("files.wait", r#"{"name":"a"}"#);
    heard.first().await;
    drop(call);
    // An order to look comes at once; the next look of the runner by itself would be later.
    let (mut next, _) = caller.running("math.add", r#"{"a":1,"b":2}"#);
    assert_eq!(text(&next.within(Duration::from_secs(3)).await), "3");
}

pub(super) async fn a_call_ends_at_its_deadline(place: Place) {
    let _runner = place.run(1);
    let caller = place.caller(1).await;
    let start = Instant::now();
    let limit = Duration::from_secs(2);
    let context = caller.pool.context().with_deadline(start + limit);
    let call = ToolCall::new("files.wait", r#"{"name":"a"}"#);
    let result = caller.pool.call_with(call, &context).await;
    assert_eq!(class(&result), Some(ErrorClass::Timeout));
    let took = start.elapsed();
    assert!(took < limit + Duration::from_secs(1), "{took:?}");
    let (mut next, _) = caller.running("math.add", r#"{"a":1,"b":2}"#);
    assert_eq!(text(&next.within(SOON).await), "3");
}

pub(super) async fn two_replicas_share_the_load(place: Place) {
    let _runners = [place.run(1), place.run(1)];
    let caller = place.caller(2).await;
    let (mut one, heard_one) = caller.running("files.wait", r#"{"name":"a"}"#);
    let (mut two, heard_two) = caller.running("files.wait", r#"{"name":"a"}"#);
    heard_one.first().await;
    heard_two.first().await;
    fs::write(place.file("a"), "").unwrap();
    let (one, two) = (one.within(SOON).await, two.within(SOON).await);
    assert_ne!(runner(&one), runner(&two));
}
