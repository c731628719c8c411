//! Return types, also behind type aliases.

use std::collections::{BTreeMap, HashMap};
use std::{fmt, io};
use tool_runtime::prelude::*;

type Fallible<T, E = String> = Result<T, E>;
type Text = String;
type MaybeText = Option<Text>;

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Note {
    title: String,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Found {
    Note { title: String },
    Nothing,
}

/// An error that prints and is none.
struct Shown;

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it only prints")
    }
}

/// Like the errors of crates that wrap all others: no `Error` itself, but convertible.
#[derive(Debug)]
struct Wrapped(io::Error);

impl From<Wrapped> for Box<dyn std::error::Error + Send + Sync> {
    fn from(wrapped: Wrapped) -> Self {
        wrapped.0.into()
    }
}

impl fmt::Display for Wrapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wrapped: {}", self.0)
    }
}

macro_rules! returning {
    ($($name:ident -> $ty:ty = $value:expr => $text:literal;)*) => {
        $(
            /// Return something.
            #[tool]
            async fn $name() -> $ty {
                $value
            }
        )*

        fn expected() -> Vec<(&'static str, &'static str)> {
            vec![$((stringify!($name), $text)),*]
        }
    };
}

returning! {
    unit -> () = () => "";
    text -> &'static str = "a" => "a";
    owned -> String = "a".into() => "a";
    aliased -> Text = "a".into() => "a";
    boxed -> Box<str> = "a".into() => "a";
    borrowed -> std::borrow::Cow<'static, str> = "a".into() => "a";
    number -> u128 = 7 => "7";
    float -> f64 = 0.5 => "0.5";
    truth -> bool = true => "true";
    letter -> char = 'a' => "a";
    some -> Option<String> = Some("a".into()) => "a";
    none -> MaybeText = None => "null";
    block -> ContentBlock = ContentBlock::text("a") => "a";
    blocks -> Vec<ContentBlock> = vec![ContentBlock::text("a"), ContentBlock::text("b")] => "a\nb";
    observation -> Observation = Observation::text("a") => "a";
    value -> serde_json::Value = serde_json::json!({"a": 1}) => r#"{"a":1}"#;
    note -> Note = Note { title: "a".into() } => r#"{"title":"a"}"#;
    notes -> Vec<Note> = vec![Note { title: "a".into() }] => r#"[{"title":"a"}]"#;
    map -> HashMap<String, i64> = [("a".to_owned(), 1)].into() => r#"{"a":1}"#;
    sorted -> BTreeMap<String, Note> = BTreeMap::new() => "{}";
    tuple -> (i64, String) = (1, "a".into()) => r#"[1,"a"]"#;
    array -> [u8; 2] = [1, 2] => "[1,2]";
    found -> Found = Found::Note { title: "a".into() } => r#"{"kind":"note","title":"a"}"#;
    nothing -> Found = Found::Nothing => r#"{"kind":"nothing"}"#;
    json -> Json<Note> = Json(Note { title: "a".into() }) => r#"{"title":"a"}"#;
    ok -> Result<Note, ToolError> = Ok(Note { title: "a".into() }) => r#"{"title":"a"}"#;
    ok_unit -> Result<(), io::Error> = Ok(()) => "";
    ok_aliased -> Fallible<Text> = Ok("a".into()) => "a";
    ok_io -> io::Result<Vec<Note>> = Ok(vec![]) => "[]";
    ok_shown -> Fallible<i64, Shown> = if true { Ok(1) } else { Err(Shown) } => "1";
    fails -> Fallible<Note> = Err("not found".into()) => "not found";
    fails_io -> io::Result<String> = Err(io::Error::other("disk full")) => "disk full";
    fails_shown -> Result<String, Shown> = Err(Shown) => "it only prints";
    fails_wrapped -> Result<(), Wrapped> = Err(Wrapped(io::Error::other("disk full"))) => "disk full";
    fails_boxed -> Result<(), Box<dyn std::error::Error + Send + Sync>> = Err("no".into()) => "no";
    fails_local -> Result<(), Box<dyn std::error::Error>> = Err("no".into()) => "no";
}

mod search {
    /// A type of this name that is no result.
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    pub struct Result {
        pub total: u64,
    }
}

/// Search.
#[tool]
async fn own_result() -> search::Result {
    search::Result { total: 1 }
}

#[tokio::test]
async fn a_type_may_be_named_result() {
    let pool = ToolPool::builder().tool::<OwnResultAction>().build().unwrap();
    assert_eq!(OwnResultAction {}.call(&pool).await.unwrap(), search::Result { total: 1 });
}

/// Return an error that cannot leave its thread.
#[tool(inline)]
fn inline_local() -> Result<String, Box<dyn std::error::Error>> {
    Ok("a".into())
}

#[tokio::test]
async fn compiles_and_runs() {
    let pool = ToolPool::builder().linked().build().unwrap();
    for (name, text) in expected() {
        let result = pool.call(ToolCall::new(name, "")).await;
        assert_eq!(result.observation().to_text(), text, "{name}");
        assert_eq!(result.is_error(), name.starts_with("fails"), "{name}");
    }
    assert!(NoteAction::definition().output_schema.is_some());
    assert!(OkAction::definition().output_schema.is_some());
    assert!(OwnedAction::definition().output_schema.is_none());
}
