//! Conversions of return values.

use super::support::{call, error_text, pool_of, text};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use tool_runtime::hook::{Before, Hook};
use tool_runtime::prelude::*;

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Point {
    x: i64,
    label: Option<String>,
}

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Stars {
    #[schemars(range(max = 5))]
    stars: u8,
}

type Outcome<T> = Result<T, Failure>;

/// An error with `Display` alone.
struct Failure;

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it failed; try less")
    }
}

macro_rules! tools {
    ($($(#[$meta:meta])* $name:ident -> $output:ty { $body:expr })*) => {$(
        /// Do it.
        #[tool(register = false)]
        $(#[$meta])*
        async fn $name() -> $output { $body }
    )*};
}

tools! {
    nothing -> () { () }
    words -> String { "plain \"text\"".to_owned() }
    fixed -> &'static str { "fixed" }
    whole -> u8 { 7 }
    fraction -> f64 { 0.5 }
    flag -> bool { true }
    block -> ContentBlock { ContentBlock::image("AAAA", "image/png") }
    blocks -> Vec<ContentBlock> { vec![ContentBlock::text("a"), ContentBlock::text("b")] }
    whatever -> Observation { Observation::error("said by the tool").with_meta("cost", 3) }
    point -> Point { Point { x: 1, label: None } }
    list -> Vec<Point> { vec![Point { x: 2, label: Some("b".into()) }] }
    map -> BTreeMap<String, i64> { BTreeMap::from([("a".into(), 1)]) }
    maybe -> Option<String> { Some("there".into()) }
    value -> Value { json!({"a": 1}) }
    result -> Result<Point, String> { Ok(Point { x: 3, label: None }) }
    aliased -> Outcome<i64> { Ok(4) }
    printed -> Outcome<Point> { Err(Failure) }
    raised -> Result<(), std::io::Error> { Err(std::io::Error::other("disk on fire")) }
    hidden -> Result<(), ToolError> { Err(ToolError::internal("password=hunter2")) }
    passing -> Result<(), ToolError> { Err(ToolError::transient("busy; try again")) }
    stars -> Result<Stars, String> { Ok(Stars { stars: 9 }) }
}

#[tokio::test]
async fn scalars_are_text_and_have_no_schema() {
    assert_eq!(call(&pool_of::<NothingAction>(), "nothing", "").await, json!({"content": []}));
    assert_eq!(text(&pool_of::<WordsAction>(), "words", "").await, "plain \"text\"");
    assert_eq!(text(&pool_of::<FixedAction>(), "fixed", "").await, "fixed");
    assert_eq!(text(&pool_of::<WholeAction>(), "whole", "").await, "7");
    assert_eq!(text(&pool_of::<FractionAction>(), "fraction", "").await, "0.5");
    assert_eq!(text(&pool_of::<FlagAction>(), "flag", "").await, "true");
    assert_eq!(text(&pool_of::<AliasedAction>(), "aliased", "").await, "4");
    for definition in
        [WordsAction::definition(), WholeAction::definition(), AliasedAction::definition()]
    {
        assert_eq!(definition.output_schema, None);
    }
}

#[tokio::test]
async fn content_passes_through() {
    let image = call(&pool_of::<BlockAction>(), "block", "").await;
    assert_eq!(
        image["content"],
        json!([{"type": "image", "data": "AAAA", "mimeType": "image/png"}])
    );
    let two = call(&pool_of::<BlocksAction>(), "blocks", "").await;
    assert_eq!(two["content"].as_array().map(Vec::len), Some(2));
    let custom = call(&pool_of::<WhateverAction>(), "whatever", "").await;
    assert_eq!((&custom["isError"], &custom["_meta"]["cost"]), (&json!(true), &json!(3)));
}

#[tokio::test]
async fn a_struct_is_structured_and_mirrored_as_text() {
    let result = call(&pool_of::<PointAction>(), "point", "").await;
    assert_eq!(result["structuredContent"], json!({"x": 1, "label": null}));
    assert_eq!(result["content"][0]["text"], r#"{"x":1,"label":null}"#);
    let schema = PointAction::definition().output_schema.expect("a schema");
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["properties"]["label"]["type"], json!(["string", "null"]));
    assert_eq!(ResultAction::definition().output_schema, Some(schema));
    let result = call(&pool_of::<ResultAction>(), "result", "").await;
    assert_eq!(result["structuredContent"]["x"], 3);
}

#[tokio::test]
async fn lists_and_maps_are_structured_and_scalars_are_not() {
    let list = call(&pool_of::<ListAction>(), "list", "").await;
    assert_eq!(list["structuredContent"], json!([{"x": 2, "label": "b"}]));
    let map = call(&pool_of::<MapAction>(), "map", "").await;
    assert_eq!(map["structuredContent"], json!({"a": 1}));
    let maybe = call(&pool_of::<MaybeAction>(), "maybe", "").await;
    assert_eq!(maybe, json!({"content": [{"type": "text", "text": "there"}]}));
    let value = call(&pool_of::<ValueAction>(), "value", "").await;
    assert_eq!(value["structuredContent"], json!({"a": 1}));
    assert_eq!(ValueAction::definition().output_schema, None);
}

#[tokio::test]
async fn an_error_is_a_text_for_the_model() {
    assert_eq!(error_text(&pool_of::<PrintedAction>(), "printed", "").await, "it failed; try less");
    assert_eq!(error_text(&pool_of::<RaisedAction>(), "raised", "").await, "disk on fire");
    assert!(!error_text(&pool_of::<HiddenAction>(), "hidden", "").await.contains("hunter2"));
}

#[tokio::test]
async fn an_error_has_a_class_and_a_detail_for_the_caller() {
    let pool = pool_of::<HiddenAction>();
    let result = pool.call(ToolCall::new("hidden", "")).await;
    let error = result.error().expect("an error");
    assert_eq!((error.class(), error.detail()), (ErrorClass::Internal, Some("password=hunter2")));
    let pool = pool_of::<PassingAction>();
    let result = pool.call(ToolCall::new("passing", "")).await;
    let error = result.error().expect("an error");
    assert!(error.class() == ErrorClass::Transient && error.is_retryable());
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Statistics {
    mean: f64,
    median: Option<f64>,
    parts: Vec<f32>,
    by_name: BTreeMap<String, Mean>,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Mean {
    mean: f64,
}

fn statistics(mean: f64, median: Option<f64>, part: f32, named: f64) -> Statistics {
    let by_name = BTreeMap::from([("a".to_owned(), Mean { mean: named })]);
    Statistics { mean, median, parts: vec![1.5, part], by_name }
}

tools! {
    finite -> Statistics { statistics(1.5, None, 2.5, 3.5) }
    no_median -> Statistics { statistics(1.5, Some(f64::NAN), 2.5, 3.5) }
    no_mean -> Statistics { statistics(f64::NAN, None, 2.5, 3.5) }
    no_part -> Result<Statistics, ToolError> { Ok(statistics(1.5, None, f32::INFINITY, 3.5)) }
    none_named -> Statistics { statistics(1.5, None, 2.5, f64::NEG_INFINITY) }
    no_value -> Vec<f64> { vec![f64::NAN] }
}

#[tokio::test]
async fn a_float_that_is_not_finite_is_null_only_where_the_schema_allows_it() {
    let finite = call(&pool_of::<FiniteAction>(), "finite", "").await;
    assert_eq!(finite["structuredContent"]["mean"], json!(1.5));
    let nullable = call(&pool_of::<NoMedianAction>(), "no_median", "").await;
    assert_eq!(nullable["structuredContent"]["median"], Value::Null);
    for (pool, name, path) in [
        (pool_of::<NoMeanAction>(), "no_mean", "`mean`"),
        (pool_of::<NoPartAction>(), "no_part", "`parts[1]`"),
        (pool_of::<NoneNamedAction>(), "none_named", "`by_name.a.mean`"),
        (pool_of::<NoValueAction>(), "no_value", "`[0]`"),
    ] {
        let result = pool.call(ToolCall::new(name, "")).await;
        let error = result.error().expect("an error");
        assert_eq!(error.class(), ErrorClass::Internal);
        let expected =
            format!("the result has NaN or infinity at {path}, which JSON cannot represent");
        assert!(error.message().starts_with(&expected), "{error}");
        let detail = error.detail().expect("a detail");
        assert!(detail.contains(path) && detail.contains("requires a number"), "{detail}");
    }
    let by_hand = Tool::builder("by_hand", "Make it by hand.")
        .handler(|| async { Json(statistics(f64::NAN, None, 2.5, 3.5)) });
    let pool = ToolPool::builder().add(by_hand).build().expect("a pool");
    assert!(error_text(&pool, "by_hand", "").await.contains("NaN or infinity at `mean`"));
}

tools! {
    absent -> Option<Result<Point, String>> { None }
    found -> Option<Result<Point, String>> { Some(Ok(Point { x: 1, label: None })) }
    unfound -> Option<Result<Point, String>> { Some(Err("no such point".to_owned())) }
    unsaid -> Option<Result<String, ToolError>> { Some(Ok("said".to_owned())) }
    unfound_inside -> Result<Option<Result<Point, String>>, Failure> {
        Ok(Some(Err("no such point".to_owned())))
    }
    joined -> Result<Result<Point, ToolError>, Failure> { Ok(Ok(Point { x: 2, label: None })) }
    failed_inside -> Result<Result<Point, ToolError>, Failure> {
        Ok(Err(ToolError::transient("busy")))
    }
    failed_outside -> Result<Result<Point, ToolError>, Failure> { Err(Failure) }
    text_inside -> Result<Result<String, String>, Failure> { Ok(Err("no text".to_owned())) }
    meant -> Json<Vec<Result<i64, String>>> { Json(vec![Ok(1), Err("two".to_owned())]) }
}

#[tokio::test]
async fn an_error_inside_of_an_option_or_a_result_is_an_error() {
    let absent = call(&pool_of::<AbsentAction>(), "absent", "").await;
    assert_eq!((&absent["structuredContent"], &absent["isError"]), (&Value::Null, &Value::Null));
    let found = call(&pool_of::<FoundAction>(), "found", "").await;
    assert_eq!(found["structuredContent"], json!({"x": 1, "label": null}));
    assert_eq!(text(&pool_of::<UnsaidAction>(), "unsaid", "").await, "said");
    let joined = call(&pool_of::<JoinedAction>(), "joined", "").await;
    assert_eq!(joined["structuredContent"]["x"], 2);
    for (pool, name, expected) in [
        (pool_of::<UnfoundAction>(), "unfound", "no such point"),
        (pool_of::<UnfoundInsideAction>(), "unfound_inside", "no such point"),
        (pool_of::<FailedInsideAction>(), "failed_inside", "busy"),
        (pool_of::<FailedOutsideAction>(), "failed_outside", "it failed; try less"),
        (pool_of::<TextInsideAction>(), "text_inside", "no text"),
    ] {
        assert_eq!(error_text(&pool, name, "").await, expected);
    }
    assert_eq!(JoinedAction::definition().output_schema, PointAction::definition().output_schema);
    let schema = json!(FoundAction::definition().output_schema).to_string();
    assert!(schema.contains(r#""x""#) && !schema.contains("Err"), "{schema}");
}

#[tokio::test]
async fn a_result_type_can_be_returned_as_data() {
    let meant = call(&pool_of::<MeantAction>(), "meant", "").await;
    assert_eq!(meant["structuredContent"], json!([{"Ok": 1}, {"Err": "two"}]));
}

#[tokio::test]
async fn a_result_beyond_the_bounds_of_its_schema_is_an_error_on_every_path() {
    let pool = pool_of::<StarsAction>();
    let json = call(&pool, "stars", "").await;
    assert_eq!((&json["isError"], json.get("structuredContent")), (&json!(true), None));
    assert!(json.to_string().contains("does not fit its own output schema"), "{json}");
    assert_eq!(StarsAction {}.call(&pool).await.err().unwrap().class(), ErrorClass::Internal);

    let governed = ToolPool::builder().tool::<StarsAction>();
    let governed = governed.hook(Hook::before("*", |_| async { Before::proceed() }));
    let result = governed.build().unwrap().call(ToolCall::new("stars", "")).await;
    let error = result.error().unwrap();
    assert_eq!(error.class(), ErrorClass::Internal);
    assert!(error.detail().unwrap().contains("`stars` must be at most 5, got 9"), "{error:?}");
}
