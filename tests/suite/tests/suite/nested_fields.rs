//! Unknown fields inside arguments: rejected at every depth and advertised as such, unless serde accepts them or the
//! type or the parameter allows them.

// Fields are read by `Debug` alone.
#![allow(dead_code)]

use super::support::{error_text, pool_of, text};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use tool_runtime::prelude::*;

/// A book.
#[derive(Debug, Deserialize, JsonSchema)]
struct Book {
    /// The title.
    #[serde(alias = "name")]
    title: String,
    /// Its pages.
    #[serde(default)]
    pages: Vec<Page>,
    /// By language.
    #[serde(default)]
    editions: HashMap<String, Page>,
    /// The binding.
    binding: Option<Binding>,
    /// The previous edition.
    previous: Option<Box<Book>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Page {
    number: u32,
}

#[derive(Debug, Deserialize, JsonSchema)]
enum Binding {
    Hard { weight: f32 },
    Soft,
}

/// Store a book.
#[tool(register = false)]
async fn store_book(
    /// The book.
    x: Book,
) -> String {
    format!("{x:?}")
}

#[tokio::test]
async fn an_unknown_field_hides_no_other_mistake() {
    let pool = pool_of::<StoreBookAction>();
    let arguments = r#"{"x":{"title":1,"nn":7,"pages":[{"number":-1}]}}"#;
    let error = error_text(&pool, "store_book", arguments).await;
    for words in ["unknown field `nn`", "`x.title` must be", "`x.pages[0].number` must be"] {
        assert!(error.contains(words), "{words} is not in {error}");
    }
}

#[tokio::test]
async fn an_unknown_field_is_rejected_at_every_depth_with_its_path_and_the_nearest_name() {
    let pool = pool_of::<StoreBookAction>();
    for (arguments, expected) in [
        (
            r#"{"x":{"title":"a","nn":7}}"#,
            "unknown field `nn` of `x`; the fields are `title`, `pages`, `editions`, `binding`, `previous`",
        ),
        (
            r#"{"x":{"title":"a","pages":[{"number":1,"numbr":2}]}}"#,
            "unknown field `numbr` of `x.pages[0]`; the only field is `number`",
        ),
        (
            r#"{"x":{"title":"a","editions":{"de":{"number":1,"z":2}}}}"#,
            "unknown field `z` of `x.editions.de`",
        ),
        (
            r#"{"x":{"title":"a","binding":{"Hard":{"weight":1,"wait":2}}}}"#,
            "unknown field `wait` of `x.binding.Hard`",
        ),
        (
            r#"{"x":{"title":"a","previous":{"title":"b","titel":"c"}}}"#,
            "unknown field `titel` of `x.previous`",
        ),
        (r#"{"x":{"title":"a","binding":null,"pags":[]}}"#, "did you mean `pages`?"),
    ] {
        let error_text = error_text(&pool, "store_book", arguments).await;
        assert!(error_text.contains(expected), "{arguments}: {error_text}");
    }
}

#[test]
fn closed_objects_are_advertised() {
    let schema = Value::Object(StoreBookAction::definition().input_schema);
    let book = &schema["$defs"]["Book"];
    assert_eq!(book["additionalProperties"], false, "{schema:#}");
    let page = &book["properties"]["pages"]["items"];
    assert_eq!(page["additionalProperties"], false);
    assert_eq!(
        book["properties"]["editions"]["additionalProperties"]["additionalProperties"],
        false
    );
    assert!(jsonschema::meta::is_valid(&schema));
    let accepts = |value: Value| jsonschema::is_valid(&schema, &value);
    assert!(accepts(json!({ "x": { "title": "a", "binding": { "Hard": { "weight": 1.0 } } } })));
    assert!(!accepts(json!({ "x": { "title": "a", "nn": 7 } })));
    let unknown = json!({ "Hard": { "weight": 1.0, "wait": 2 } });
    assert!(!accepts(json!({ "x": { "title": "a", "binding": unknown } })));
}

#[tokio::test]
async fn an_alias_is_a_known_field() {
    let pool = pool_of::<StoreBookAction>();
    let stored = text(&pool, "store_book", r#"{"x":{"name":"a","binding":"Soft"}}"#).await;
    assert!(stored.contains(r#"title: "a""#), "{stored}");
}

#[tokio::test]
async fn after_one_mistake_only_mistakes_are_reported() {
    let pool = pool_of::<StoreBookAction>();
    let error_text =
        error_text(&pool, "store_book", r#"{"x":{"name":"a","pages":[{"number":"one"}]}}"#).await;
    assert_eq!(
        error_text,
        "invalid arguments for `store_book`: `x.pages[0].number` must be an integer, got the string \"one\""
    );
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Page(Page),
    Pair { a: i64, b: i64 },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Tagged {
    Page(Page),
    Note {
        #[serde(alias = "body")]
        text: String,
        #[serde(default)]
        pages: Vec<Page>,
        #[serde(alias = "info")]
        extra: Option<Value>,
    },
    Empty,
    Any(Value),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "c")]
enum Adjacent {
    Number(i64),
    Note {
        #[serde(alias = "body")]
        text: String,
    },
    Page(Page),
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Flattened {
    id: i64,
    #[serde(flatten)]
    size: Size,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Size {
    #[serde(alias = "w")]
    width: u32,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct CatchAll {
    id: i64,
    #[serde(flatten)]
    others: HashMap<String, Value>,
}

/// Take values that serde buffers.
#[allow(clippy::too_many_arguments)]
#[tool(register = false)]
async fn take_buffered(
    /// One of two.
    untagged: Option<Untagged>,
    /// One by its tag.
    tagged: Option<Tagged>,
    /// One by its tag, beside its content.
    adjacent: Option<Adjacent>,
    /// With others.
    flattened: Option<Flattened>,
    /// With any others.
    catch_all: Option<CatchAll>,
    /// Anything.
    any: Option<HashMap<String, Value>>,
    /// Many.
    #[arg(default)]
    many: Vec<Tagged>,
) -> String {
    format!("{untagged:?} {tagged:?} {adjacent:?} {flattened:?} {catch_all:?} {any:?} {many:?}")
}

#[tokio::test]
async fn values_that_serde_accepts_are_accepted() {
    let pool = pool_of::<TakeBufferedAction>();
    for (arguments, kept) in [
        (json!({ "untagged": { "number": 1, "z": 2 } }), "number: 1"),
        (json!({ "catch_all": { "id": 1, "z": 2 } }), r#"others: {"z": Number(2)}"#),
        (json!({ "any": { "z": 2 } }), r#"{"z": Number(2)}"#),
        (json!({ "tagged": { "kind": "Any", "z": 2 } }), r#""z": Number(2)"#),
        (json!({ "tagged": { "kind": "Empty", "z": 2 } }), "Empty"),
        (json!({ "adjacent": { "kind": "Note", "c": { "text": "x" } } }), r#"text: "x""#),
        (json!({ "flattened": { "width": 1, "id": 1 } }), "width: 1"),
        (json!({ "many": [{ "kind": "Empty" }, { "kind": "Note", "text": "x" }] }), r#"text: "x""#),
    ] {
        let text = text(&pool, "take_buffered", &arguments.to_string()).await;
        assert!(text.contains(kept), "{arguments}: {text}");
    }
}

#[tokio::test]
async fn rejects_an_unknown_field_in_a_buffered_value() {
    let pool = pool_of::<TakeBufferedAction>();
    for (arguments, expected) in [
        (
            r#"{"tagged":{"kind":"Page","number":1,"z":2}}"#,
            "unknown field `z` of `tagged`; the fields are `kind`, `number`",
        ),
        (
            r#"{"tagged":{"kind":"Note","text":"x","extr":2}}"#,
            "unknown field `extr` of `tagged`; did you mean `extra`?",
        ),
        (
            r#"{"tagged":{"number":1,"kind":"Note","text":"x"}}"#,
            "unknown field `number` of `tagged`",
        ),
        (
            r#"{"tagged":{"kind":"Note","text":"x","pages":[{"number":1,"z":2}]}}"#,
            "unknown field `z` of `tagged.pages[0]`; the only field is `number`",
        ),
        (
            r#"{"adjacent":{"kind":"Note","c":{"text":"x","txt":"y"}}}"#,
            "unknown field `txt` of `adjacent.c`",
        ),
        (
            r#"{"adjacent":{"c":{"number":1,"z":2},"kind":"Page"}}"#,
            "unknown field `z` of `adjacent.c`; the only field is `number`",
        ),
        (r#"{"flattened":{"id":1,"width":1,"hight":2}}"#, "unknown field `hight` of `flattened`"),
        (
            r#"{"many":[{"kind":"Empty"},{"kind":"Page","number":1,"z":2}]}"#,
            "unknown field `z` of `many[1]`",
        ),
    ] {
        let error_text = error_text(&pool, "take_buffered", arguments).await;
        assert!(error_text.contains(expected), "{arguments}: {error_text}");
        assert_eq!(error_text.matches("unknown").count(), 1, "{error_text}");
    }
}

#[test]
fn unlisted_fields_are_not_advertised_as_closed() {
    let schema = Value::Object(TakeBufferedAction::definition().input_schema);
    let accepts = |arguments: Value| jsonschema::is_valid(&schema, &arguments);
    assert!(accepts(json!({ "untagged": { "number": 1, "z": 2 } })), "{schema:#}");
    assert!(accepts(json!({ "catch_all": { "id": 1, "z": 2 }, "any": { "z": 2 } })));
    assert!(accepts(json!({ "tagged": { "kind": "Any", "z": 2 } })));
    assert!(!accepts(json!({ "tagged": { "kind": "Page", "number": 1, "z": 2 } })));
    assert!(!accepts(json!({ "flattened": { "id": 1, "width": 1, "z": 2 } })));
    assert!(!accepts(json!({ "adjacent": { "kind": "Note", "c": { "text": "x", "z": 2 } } })));
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
struct Open {
    id: i64,
    page: Option<Page>,
}

/// Take values with additional fields.
#[tool(register = false)]
async fn take_open(
    /// Open because of its type.
    by_type: Option<Open>,
    /// Open because of its parameter.
    #[arg(allow_unknown_fields)]
    by_parameter: Option<Page>,
    /// Open with a default.
    #[arg(allow_unknown_fields, default = Page { number: 1 })]
    by_default: Page,
) -> String {
    format!("{by_type:?} {by_parameter:?} {by_default:?}")
}

#[tokio::test]
async fn a_type_or_a_parameter_may_allow_unknown_fields() {
    let pool = pool_of::<TakeOpenAction>();
    let arguments = r#"{"by_type":{"id":1,"z":2},"by_parameter":{"number":1,"z":2},"by_default":{"number":3,"z":2}}"#;
    assert!(text(&pool, "take_open", arguments).await.contains("id: 1"));
    let inside = r#"{"by_type":{"id":1,"z":2,"page":{"number":1,"z":2}}}"#;
    let error_text = error_text(&pool, "take_open", inside).await;
    assert!(error_text.contains("unknown field `z` of `by_type.page`"), "{error_text}");
    assert_eq!(error_text.matches("unknown").count(), 1, "{error_text}");
    let schema = TakeOpenAction::definition().input_schema;
    assert_eq!(schema["properties"]["by_parameter"].get("additionalProperties"), None);
    assert_eq!(schema["properties"]["by_type"]["additionalProperties"], json!({}));
}

/// The second page of a pair, and others.
#[derive(Debug, Deserialize, JsonSchema)]
struct Pairs {
    pair: (i64, Page),
    numbered: HashMap<u8, Page>,
}

/// Take pairs.
#[tool(register = false)]
async fn take_pairs(
    /// The pairs.
    x: Pairs,
) -> String {
    format!("{x:?}")
}

#[tokio::test]
async fn rejects_unadvertised_fields_by_name() {
    let pool = pool_of::<TakePairsAction>();
    let arguments = r#"{"x":{"pair":[1,{"number":1,"numbr":2}],"numbered":{}}}"#;
    let error_text = error_text(&pool, "take_pairs", arguments).await;
    assert!(
        error_text.contains(
            "unknown field `numbr` of `x.pair[1]`; did you mean `number`? the fields are `number`"
        ),
        "{error_text}"
    );
}

/// A tuple whose last item has a default.
#[derive(Debug, Deserialize, JsonSchema)]
struct Point(i64, #[serde(default)] i64);

/// Go to a point.
#[tool(register = false)]
async fn go_to(
    /// The place.
    to: Point,
    /// The speed.
    speed: u8,
) -> String {
    format!("{to:?} {speed}")
}

#[tokio::test]
async fn a_default_known_only_to_serde_is_accepted() {
    let pool = pool_of::<GoToAction>();
    assert_eq!(text(&pool, "go_to", r#"{"to":[1],"speed":1}"#).await, "Point(1, 0) 1");
}

/// A form of many fields.
#[derive(Debug, Deserialize, JsonSchema)]
struct Form {
    id: i64,
    page: Page,
}

/// Fill a form.
#[tool(register = false)]
async fn fill_form(#[arg(flatten)] form: Form) -> String {
    format!("{form:?}")
}

#[tokio::test]
async fn the_fields_of_a_flattened_parameter_are_closed_too() {
    let pool = pool_of::<FillFormAction>();
    let error_text = error_text(&pool, "fill_form", r#"{"id":1,"page":{"number":1,"z":2}}"#).await;
    assert!(error_text.contains("unknown field `z` of `page`"), "{error_text}");
    let schema = FillFormAction::definition().input_schema;
    assert_eq!(schema["properties"]["page"]["additionalProperties"], false);
}

/// Fill an optional form.
#[tool(register = false)]
async fn fill_optional_form(#[arg(flatten)] form: Option<Form>) -> String {
    format!("{form:?}")
}

#[tokio::test]
async fn a_missing_field_of_an_optional_flattened_parameter_is_an_argument() {
    let pool = pool_of::<FillOptionalFormAction>();
    let error_text = error_text(&pool, "fill_optional_form", r#"{"id":1}"#).await;
    assert_eq!(
        error_text,
        "invalid arguments for `fill_optional_form`: missing required argument `page`"
    );
    assert_eq!(text(&pool, "fill_optional_form", "{}").await, "None");
}

#[tokio::test]
async fn the_arguments_of_a_closure_are_closed_too() {
    let tool = Tool::builder("fill_form", "Fill a form.")
        .handler(|form: Form| async move { format!("{form:?}") });
    let pool = ToolPool::builder().add(tool).build().expect("a pool");
    let error_text = error_text(&pool, "fill_form", r#"{"id":1,"page":{"number":1,"z":2}}"#).await;
    assert!(error_text.contains("unknown field `z` of `page`"), "{error_text}");
}

/// Log in.
#[tool(register = false)]
async fn log_in(
    /// The password.
    #[arg(secret)]
    password: std::num::NonZeroU8,
    /// The destination.
    host: Option<Host>,
) -> String {
    format!("{password} {host:?}")
}

/// A host with a custom decoder.
#[derive(Debug, JsonSchema)]
#[schemars(transparent)]
struct Host(String);

impl<'de> Deserialize<'de> for Host {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.contains('.') {
            true => Ok(Self(text)),
            false => Err(serde::de::Error::custom(format!("the host {text} has no dot"))),
        }
    }
}

#[tokio::test]
async fn a_secret_parameter_hides_only_its_value() {
    let pool = pool_of::<LogInAction>();
    let rejected = error_text(&pool, "log_in", r#"{"password":7,"host":"localhost"}"#).await;
    assert!(rejected.contains("argument `host`: the host localhost has no dot"), "{rejected}");
    let rejected =
        error_text(&pool, "log_in", r#"{"password":"hunter2","host":"localhost"}"#).await;
    assert!(!rejected.contains("hunter2"), "{rejected}");
}

/// Log in with a number.
#[tool(register = false)]
async fn log_in_with(
    /// The password.
    #[arg(secret)]
    password: String,
    /// A number.
    n: i64,
    /// Another.
    m: i64,
) -> String {
    format!("{password} {n} {m}")
}

#[tokio::test]
async fn the_text_of_a_secret_is_hidden_in_other_parameters_too() {
    let pool = pool_of::<LogInWithAction>();
    let arguments = r#"{"password":"hunter2","n":"hunter2","m":"x"}"#;
    let rejected = error_text(&pool, "log_in_with", arguments).await;
    assert!(!rejected.contains("hunter2"), "{rejected}");
    assert!(rejected.contains("`n` must be an integer"), "{rejected}");
    assert!(rejected.contains("`m` must be an integer, got the string \"x\""), "{rejected}");
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Account {
    #[serde(alias = "pw")]
    #[schemars(extend("writeOnly" = true))]
    password: u8,
    /// The place.
    host: String,
}

/// Open an account.
#[tool(register = false)]
async fn open_account(
    /// The account.
    x: Account,
) -> String {
    format!("{x:?}")
}

#[tokio::test]
async fn an_alias_of_a_secret_field_hides_its_value() {
    let pool = pool_of::<OpenAccountAction>();
    let rejected = error_text(&pool, "open_account", r#"{"x":{"pw":"hunter2","host":1}}"#).await;
    assert!(!rejected.contains("hunter2"), "{rejected}");
    assert!(
        rejected.contains("unknown field `pw`") && rejected.contains("`x.host` must be a string"),
        "{rejected}"
    );
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Limited {
    #[serde(alias = "count")]
    #[schemars(range(min = 1))]
    number: i64,
}

/// Limit something.
#[tool(register = false)]
async fn limit(
    /// The distance.
    x: Limited,
) -> String {
    format!("{x:?}")
}

/// Decoding does not enforce the range, so the schema is walked before it.
#[tokio::test]
async fn a_schema_that_is_walked_first_rejects_no_alias() {
    let pool = pool_of::<LimitAction>();
    assert_eq!(text(&pool, "limit", r#"{"x":{"count":2}}"#).await, "Limited { number: 2 }");
    for arguments in [r#"{"x":{"number":0}}"#, r#"{"x":{"count":0}}"#] {
        let rejected = error_text(&pool, "limit", arguments).await;
        assert!(rejected.contains("`x.number` must be at least 1"), "{rejected}");
    }
    let rejected = error_text(&pool, "limit", r#"{"x":{"count":2,"z":1}}"#).await;
    assert!(rejected.contains("unknown field `z` of `x`"), "{rejected}");
    assert_eq!(rejected.matches("unknown").count(), 1, "{rejected}");
}
