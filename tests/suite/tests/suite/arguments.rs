//! Arguments: defaults, constraints, names, and error messages for the model.

use super::support::{error_text, pool_of, text};
use serde_json::json;
use std::net::IpAddr;
use tool_runtime::prelude::*;

/// Look something up.
#[tool(read_only, register = false)]
async fn look_up(
    /// The text to search for.
    #[arg(alias = "q", example = "rust")]
    query: String,
    /// The maximum number of results.
    #[arg(default = 10, range = 1..=50)]
    limit: u32,
    /// Only with these tags.
    #[arg(length = 1..=3, rename = "withTags")]
    tags: Option<Vec<String>>,
    /// A language code.
    #[arg(default = "en", pattern = "^[a-z]{2}$")]
    language: String,
    /// Not before.
    #[arg(format = "date")]
    since: Option<String>,
    /// The minimum confidence.
    #[arg(default)]
    confidence: f64,
) -> String {
    format!("{query}/{limit}/{tags:?}/{language}/{since:?}/{confidence}")
}

#[tokio::test]
async fn defaults_replace_absent_and_null_values() {
    let pool = pool_of::<LookUpAction>();
    assert_eq!(text(&pool, "look_up", r#"{"query":"x"}"#).await, "x/10/None/en/None/0");
    let nulls = r#"{"query":"x","limit":null,"withTags":null,"language":null,"since":null,"confidence":null}"#;
    assert_eq!(text(&pool, "look_up", nulls).await, "x/10/None/en/None/0");
    let arguments = r#"{"query":"x","limit":5,"withTags":["a"],"language":"de","since":"2026-02-28","confidence":0.5}"#;
    assert_eq!(
        text(&pool, "look_up", arguments).await,
        r#"x/5/Some(["a"])/de/Some("2026-02-28")/0.5"#
    );
}

#[test]
fn the_schema_describes_the_enforced_rules() {
    let schema = LookUpAction::definition().input_schema;
    let properties = &schema["properties"];
    assert_eq!(schema["required"], json!(["query"]));
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(
        properties["limit"],
        json!({"type": "integer", "minimum": 1, "maximum": 50, "default": 10, "description": "The maximum number of results."})
    );
    assert_eq!(
        properties["withTags"],
        json!({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3, "description": "Only with these tags."})
    );
    assert_eq!(
        properties["language"],
        json!({"type": "string", "pattern": "^[a-z]{2}$", "default": "en", "description": "A language code."})
    );
    assert_eq!(properties["since"]["format"], "date");
    assert_eq!(properties["query"]["examples"], json!(["rust"]));
    let order: Vec<&String> = properties.as_object().expect("properties").keys().collect();
    assert_eq!(order, ["query", "limit", "withTags", "language", "since", "confidence"]);
}

#[tokio::test]
async fn every_mistake_is_reported_with_the_allowed_values() {
    let pool = pool_of::<LookUpAction>();
    for (arguments, expected) in [
        (r#"{"query":"x","limit":0}"#, "`limit` must be at least 1, got 0"),
        (r#"{"query":"x","limit":51}"#, "`limit` must be at most 50, got 51"),
        (r#"{"query":"x","limit":1.0}"#, "`limit` must be an integer, got 1.0; write 1"),
        (r#"{"query":"x","limit":"5"}"#, "`limit` must be an integer, got the string \"5\""),
        (r#"{"query":"x","withTags":[]}"#, "`withTags` must have at least 1 item"),
        (r#"{"query":"x","withTags":"a"}"#, "`withTags` must be an array"),
        (r#"{"query":"x","withTags":["a",1]}"#, "`withTags[1]` must be a string"),
        (r#"{"query":"x","language":"english"}"#, "`language` must match the pattern `^[a-z]{2}$`"),
        (r#"{"query":"x","since":"2026-02-30"}"#, "`since` must be a valid date"),
        (r#"{"query":1}"#, "`query` must be a string"),
        ("{}", "missing required argument `query`"),
        (r#"{"qury":"x"}"#, "did you mean `query`?"),
        ("[1]", "the arguments must be a JSON object, got an array"),
        (r#""{}""#, "the arguments must be a JSON object"),
        ("{", "the arguments are not valid JSON"),
        (r#"{"query":"x","query":"y"}"#, "argument `query` is given twice"),
        (r#"{"query":"x","q":"y"}"#, "argument `query` is given twice"),
        (r#"{"query":"x","limit":1,"limit":null}"#, "argument `limit` is given twice"),
        (r#"{"query":"x","limit":null,"limit":1}"#, "argument `limit` is given twice"),
    ] {
        let message = error_text(&pool, "look_up", arguments).await;
        assert!(message.contains(expected), "{arguments}: {message}");
        assert!(message.starts_with("invalid arguments for `look_up`:"), "{message}");
    }
}

#[tokio::test]
async fn several_mistakes_are_reported_in_one_message() {
    let pool = pool_of::<LookUpAction>();
    let message = error_text(&pool, "look_up", r#"{"limit":99,"language":7,"colour":"red"}"#).await;
    assert_eq!(message.lines().count(), 5, "{message}");
    for name in ["`query`", "`limit`", "`language`", "`colour`"] {
        assert!(message.contains(name), "{message}");
    }
}

#[tokio::test]
async fn an_alias_is_accepted_and_not_advertised() {
    let pool = pool_of::<LookUpAction>();
    assert_eq!(text(&pool, "look_up", r#"{"q":"x"}"#).await, "x/10/None/en/None/0");
    let message = error_text(&pool, "look_up", r#"{"q":"x","limit":0}"#).await;
    assert!(!message.contains("unknown"), "{message}");
    assert_eq!(LookUpAction::definition().argument("q"), None);
}

/// Log in.
#[tool(register = false)]
async fn log_in(
    /// The user.
    user: String,
    /// The password.
    #[arg(secret, length = 8..)]
    password: String,
    /// A pin.
    #[arg(secret, default = 7777, example = 8888)]
    pin: u32,
) -> usize {
    user.len() + password.len() + pin as usize
}

#[tokio::test]
async fn a_secret_is_never_shown() {
    let pool = pool_of::<LogInAction>();
    for arguments in [
        r#"{"user":"ada","password":"hunter2"}"#,
        r#"{"user":"ada","password":["hunter2"]}"#,
        r#"{"user":1,"password":"hunter2","pin":"hunter2"}"#,
    ] {
        let message = error_text(&pool, "log_in", arguments).await;
        assert!(!message.contains("hunter2"), "{message}");
        let shown = pool.get("log_in").expect("the tool").visualize(arguments);
        assert!(!shown.contains("hunter2"), "{shown}");
    }
    let shown = pool
        .get("log_in")
        .expect("the tool")
        .visualize(r#"{"user":"ada","password":"long enough"}"#);
    assert_eq!(shown, r#"log_in(user: "ada", password: ***)"#);
}

#[tokio::test]
async fn constraints_of_a_secret_are_shown_and_its_default_is_not() {
    let pool = pool_of::<LogInAction>();
    assert!(!pool.definitions_json().contains("7777") && !pool.definitions_json().contains("8888"));
    let short = LogInAction { user: "ada".into(), password: "x".into(), pin: 1 };
    let error = short.call(&pool).await.expect_err("too short");
    assert_eq!(
        error.message(),
        "invalid arguments for `log_in`: `password` must be at least 8 characters long"
    );
}

/// Take a token.
#[tool(register = false, input_schema = json!({"type": "object", "properties": {"token": {"type": "string"}}}))]
async fn use_token(
    /// A token.
    #[arg(secret)]
    token: String,
) {
    drop(token);
}

#[tokio::test]
async fn a_secret_is_found_under_any_schema() {
    let message = error_text(&pool_of::<UseTokenAction>(), "use_token", r#"{"token":1973}"#).await;
    assert!(!message.contains("1973"), "{message}");
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Pin {
    #[schemars(extend("writeOnly" = true))]
    #[serde(deserialize_with = "short")]
    pin: String,
}

fn short<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    use serde::de::{Deserialize as _, Error as _, Unexpected};
    let pin = String::deserialize(deserializer)?;
    if pin.len() > 4 {
        return Err(D::Error::invalid_value(Unexpected::Str(&pin), &"a short one"));
    }
    Ok(pin)
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Credentials {
    /// The user.
    user: String,
    /// The password.
    #[schemars(extend("writeOnly" = true), length(min = 8))]
    password: String,
}

/// Sign in.
#[tool(register = false)]
async fn sign_in(#[arg(flatten)] credentials: Credentials) -> usize {
    credentials.user.len() + credentials.password.len()
}

#[tokio::test]
async fn a_field_of_a_flattened_struct_can_be_secret() {
    let pool = pool_of::<SignInAction>();
    for arguments in
        [r#"{"user":"ada","password":"hunter2"}"#, r#"{"user":1,"password":["hunter2"]}"#]
    {
        let message = error_text(&pool, "sign_in", arguments).await;
        assert!(!message.contains("hunter2"), "{message}");
        let shown = pool.get("sign_in").expect("the tool").visualize(arguments);
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

/// Match a pattern that compiles to a large program.
#[tool(register = false)]
async fn match_large(
    /// A text.
    #[arg(pattern = r"(\w{100}){200}")]
    text: String,
) {
    drop(text);
}

#[test]
fn a_pattern_that_cannot_be_compiled_is_rejected_by_the_pool() {
    let error = ToolPool::builder().tool::<MatchLargeAction>().build().expect_err("too big");
    assert!(error.to_string().contains("the pattern of its argument `text`"), "{error}");
}

#[tokio::test]
async fn errors_of_deserialize_contain_no_secrets() {
    let tool = Tool::builder("t", "T.").handler(|pin: Pin| async move { pin.pin.len() });
    let pool = ToolPool::builder().add(tool).build().expect("a pool");
    let message = error_text(&pool, "t", r#"{"pin":"hunter2"}"#).await;
    assert!(!message.contains("hunter2"), "{message}");
}

/// Shared paging.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Paging {
    /// The first one.
    #[serde(default)]
    offset: u64,
    /// The maximum number of results.
    #[schemars(range(min = 1, max = 100))]
    count: u64,
}

/// List all entries.
#[tool(read_only, register = false)]
async fn page(
    /// The directory to list.
    kind: String,
    #[arg(flatten)] paging: Paging,
) -> String {
    format!("{kind} {} {}", paging.offset, paging.count)
}

#[tokio::test]
async fn fields_of_a_flattened_struct_become_arguments() {
    let pool = pool_of::<PageAction>();
    let schema = PageAction::definition().input_schema;
    let names: Vec<&String> =
        schema["properties"].as_object().expect("properties").keys().collect();
    assert_eq!(names, ["kind", "offset", "count"]);
    assert_eq!(schema["required"], json!(["kind", "count"]));
    assert_eq!(text(&pool, "page", r#"{"count":5,"kind":"a","offset":2}"#).await, "a 2 5");
    for (arguments, expected) in [
        (r#"{"kind":"a","count":500}"#, "`count` must be at most 100"),
        (r#"{"kind":"a"}"#, "missing required argument `count`"),
        (r#"{"kind":"a","count":5,"ofset":1}"#, "did you mean `offset`?"),
    ] {
        let message = error_text(&pool, "page", arguments).await;
        assert!(message.contains(expected), "{message}");
    }
}

/// The source.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Source {
    /// A file.
    File { path: String },
    /// A host.
    Host {
        /// Its address.
        address: IpAddr,
        #[schemars(range(min = 1))]
        port: u16,
    },
}

/// Open a source.
#[tool(register = false)]
async fn open(
    /// The file to open.
    source: Source,
) -> String {
    match source {
        Source::File { path } => path,
        Source::Host { address, port } => format!("{address}:{port}"),
    }
}

#[tokio::test]
async fn types_keep_their_serde_and_schemars_meaning() {
    let pool = pool_of::<OpenAction>();
    let host = r#"{"source":{"kind":"host","address":"127.0.0.1","port":80}}"#;
    assert_eq!(text(&pool, "open", host).await, "127.0.0.1:80");
    for (arguments, expected) in [
        (
            r#"{"source":{"kind":"host","address":"127.0.0.1","port":0}}"#,
            "`source.port` must be at least 1",
        ),
        (r#"{"source":{"kind":"host","address":"x","port":1}}"#, "`source.address` must be"),
        (r#"{"source":{"kind":"fil","path":"a"}}"#, "did you mean \"file\"?"),
        (r#"{"source":{"kind":"file","path":"a","mode":1}}"#, "unknown field `mode`"),
        (
            r#"{"source":{"kind":"host","address":"::1","port":70000}}"#,
            "`source.port` must be at most 65535",
        ),
    ] {
        let message = error_text(&pool, "open", arguments).await;
        assert!(message.contains(expected), "{arguments}: {message}");
    }
}

fn strict() -> serde_json::Value {
    json!({
        "type": "object",
        "properties": { "n": { "type": "integer", "multipleOf": 5 } },
        "required": ["n"],
        "additionalProperties": false,
    })
}

/// Set a count.
#[tool(register = false, input_schema = strict())]
async fn set_count(
    /// A number.
    n: i64,
) -> i64 {
    n
}

#[tokio::test]
async fn a_given_schema_is_advertised_and_enforced_unchanged() {
    let pool = pool_of::<SetCountAction>();
    assert_eq!(serde_json::Value::from(SetCountAction::definition().input_schema), strict());
    assert_eq!(text(&pool, "set_count", r#"{"n":10}"#).await, "10");
    assert!(error_text(&pool, "set_count", r#"{"n":7}"#).await.contains("multiple of 5"));
}

#[tokio::test]
async fn empty_text_and_empty_objects_are_absent_arguments() {
    /// Answer at once.
    #[tool(register = false)]
    async fn ping() -> &'static str {
        "pong"
    }
    let pool = pool_of::<PingAction>();
    for arguments in ["", "{}", " { } "] {
        assert_eq!(text(&pool, "ping", arguments).await, "pong");
    }
    assert!(error_text(&pool, "ping", r#"{"a":1}"#).await.contains("unknown argument `a`"));
}

#[tokio::test]
async fn every_enforced_format_rejects_invalid_text() {
    /// Take one of each.
    #[tool(register = false)]
    async fn formats(
        /// A moment.
        #[arg(format = "date-time")]
        moment: Option<String>,
        /// A time.
        #[arg(format = "time")]
        time: Option<String>,
        /// An address.
        #[arg(format = "email")]
        email: Option<String>,
        /// A place.
        #[arg(format = "uri")]
        uri: Option<String>,
        /// An id.
        #[arg(format = "uuid")]
        uuid: Option<String>,
        /// An old address.
        #[arg(format = "ipv4")]
        ipv4: Option<String>,
        /// A new address.
        #[arg(format = "ipv6")]
        ipv6: Option<String>,
    ) -> bool {
        [moment, time, email, uri, uuid, ipv4, ipv6].iter().any(Option::is_some)
    }
    let pool = pool_of::<FormatsAction>();
    for (name, good) in [
        ("moment", "2026-11-21T09:00:00Z"),
        ("time", "09:00:00+01:00"),
        ("email", "ada@example.com"),
        ("uri", "https://example.com/a?b#c"),
        ("uuid", "67e55044-10b1-426f-9247-bb680e5fe0c8"),
        ("ipv4", "127.0.0.1"),
        ("ipv6", "::1"),
    ] {
        assert_eq!(text(&pool, "formats", &json!({ name: good }).to_string()).await, "true");
        let message =
            error_text(&pool, "formats", &json!({ name: "no such thing" }).to_string()).await;
        assert!(message.contains(&format!("`{name}` must be")), "{message}");
    }
}
