//! The family as a whole.

use super::{CodeParams, LanguageServer};
use crate::{Builtins, Profile, Workspace};
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
        // Read-only, destructive, idempotent, open world.
        let expected = [
            ("dev.EnterWorktree", [false, false, true, false]),
            ("dev.ExitWorktree", [false, true, false, false]),
            ("dev.LSP", [true, false, true, false]),
            ("dev.NotebookEdit", [false, true, false, false]),
        ];
        let mut tools = pool.tools();
        tools.sort_by(|one, other| one.name().cmp(other.name()));
        assert_eq!(tools.len(), expected.len());
        for (tool, (name, hints)) in tools.iter().zip(expected) {
            let definition = tool.definition();
            let found = &definition.annotations;
            let found = [
                found.read_only_hint,
                found.destructive_hint,
                found.idempotent_hint,
                found.open_world_hint,
            ];
            assert_eq!((tool.name(), found), (name, hints.map(Some)));
            assert!(definition.output_schema.is_some() && !definition.tags.is_empty(), "{name}");
        }
    }
}
