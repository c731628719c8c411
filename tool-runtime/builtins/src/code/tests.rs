//! The family as a whole.

use super::{CodeParams, LanguageServer};
use crate::{Builtins, Profile, Workspace, hints};
use tool_runtime::prelude::*;

#[test]
fn hints_are_stated_and_outputs_have_schemas_in_every_profile() {
    let directory = tempfile::TempDir::new().unwrap();
    let mut params = CodeParams::default();
    params
        .language_servers
        .insert("x".to_owned(), LanguageServer::new("/bin/sh", [], [("x", "x")]));
    for profile in [Profile::Standard, Profile::OpenHands] {
        let workspace = Workspace::builder().root(directory.path()).build().unwrap();
        let builtins =
            Builtins::new(workspace).profiles([profile]).prefix("dev").code(params.clone());
        let pool = ToolPool::builder().install(builtins).build().unwrap();
        let expected = [
            "dev.EnterWorktree --i- specialist",
            "dev.ExitWorktree -d-- specialist",
            "dev.LSP --i- specialist",
            "dev.NotebookEdit -d-- advanced edit",
        ];
        assert_eq!(hints::rows(&pool), expected);
    }
}
