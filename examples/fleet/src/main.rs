//! The tools of three queues, and the hub between them and their callers. See `README.md`.
//!
//! All runners are this program: `--allow` selects the tools of one, and `--queue` names its queue.

mod files;
mod math;
mod search;

use files::Folder;

tool_runtime::main!(
    runner = true,
    state = Folder::new(std::env::var("FLEET_FILES").unwrap_or("files".into())),
);
