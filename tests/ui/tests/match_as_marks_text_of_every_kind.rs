use std::borrow::Cow;
use std::path::PathBuf;
use tool_runtime::matching::MatchAs;
use tool_runtime::prelude::*;

/// Read a file.
#[tool]
async fn read(
    /// The file.
    #[arg(match_as = "path", rename = "file_path", alias = "path")]
    file: Option<PathBuf>,
) {
    let _ = file;
}

/// Fetch a page.
#[tool]
async fn fetch(
    /// The address.
    #[arg(match_as = "url", length = 1..=2000)]
    r#type: Cow<'static, str>,
) {
    let _ = r#type;
}

/// Run a command.
#[tool]
async fn run(
    /// The command.
    #[arg(match_as = "shell")]
    command: Box<str>,
) {
    let _ = command;
}

#[test]
fn compiles_and_runs() {
    assert_eq!(
        Tool::from_action::<ReadAction>().matched_argument(),
        Some(("file_path", MatchAs::Path))
    );
    assert_eq!(Tool::from_action::<FetchAction>().matched_argument(), Some(("type", MatchAs::Url)));
    assert_eq!(
        Tool::from_action::<RunAction>().matched_argument(),
        Some(("command", MatchAs::Shell))
    );
}
