//! Keys with arguments of every spelling, functions of actions, and actions as JSON.

use tool_runtime::__private::TypedArguments as _;
use tool_runtime::Access;
use tool_runtime::prelude::*;

/// A place that serialises.
#[derive(Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Place {
    x: i64,
}

/// A place that does not.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Hidden {
    _x: i64,
}

/// Copy a file.
#[tool(reads("file:{path}", "db:{{{type}}}/{r#type}", "clock:"), writes("file:{path}~"))]
async fn copy(
    /// The file.
    #[arg(rename = "file-name")]
    mut path: String,
    /// The kind.
    r#type: i64,
    /// The number of times.
    times: Option<u32>,
    #[arg(flatten)] place: Place,
) -> i64 {
    path.push('~');
    i64::from(times.unwrap_or_default()) + r#type + place.x
}

/// Access nothing.
#[tool(read_only, reads(), writes())]
async fn think() {}

/// Declare access by a function.
#[tool(access = hidden_access)]
async fn hide(
    /// The place.
    _place: Hidden,
) {
}

fn hidden_access(_: &HideAction) -> Access {
    Access::none()
}

struct Files;

#[toolset(read_only)]
impl Files {
    /// Read a file.
    #[tool(reads = "file:{path}")]
    async fn read(
        &self,
        /// The file.
        path: String,
    ) -> String {
        path
    }

    /// Write a file.
    #[tool(read_only = false, writes("file:{path}"))]
    async fn write(
        &self,
        /// The file.
        path: String,
    ) -> String {
        path
    }

    /// Write some files.
    #[tool(destructive, access = Self::all)]
    async fn write_all(&self) {}

    fn all(_: &FilesWriteAllAction) -> Access {
        Access::none()
    }
}

impl Toolset for Files {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

fn touched<A: Action>(action: &A) -> Access {
    A::ACCESS.expect("something is declared")(action)
}

#[test]
fn compiles_and_runs() {
    let copy = CopyAction { path: "a".into(), r#type: 2, times: None, place: Place::default() };
    assert!(touched(&copy).writes().all(|key| !key.is_empty()) && touched(&copy).is_declared());
    assert_eq!(copy.to_json().as_deref(), Some(r#"{"file-name":"a","type":2,"x":0}"#));
    assert_eq!(ThinkAction {}.to_json().as_deref(), Some("{}"));
    let hide = HideAction { _place: Hidden { _x: 1 } };
    assert!(touched(&hide).is_declared());
    let read = FilesReadAction { path: "b".into() };
    let file = std::env::current_dir().unwrap().join("b");
    let key = format!("file:{}", file.canonicalize().unwrap_or(file).display());
    assert_eq!(touched(&read).reads().collect::<Vec<_>>(), [key]);
    assert_eq!(read.to_json().as_deref(), Some(r#"{"path":"b"}"#));
    assert_eq!(FilesReadAction::definition().annotations.read_only_hint, Some(true));
    assert_eq!(FilesWriteAllAction::definition().annotations.read_only_hint, Some(false));
}
