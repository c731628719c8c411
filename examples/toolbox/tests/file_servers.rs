//! The cases of `tests/file-servers`, which also compares other servers.
#![cfg(target_os = "linux")]

use file_servers::{Outcome, Server, cases};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_case_is_kept() {
    let server = Server::Toolbox(env!("CARGO_BIN_EXE_toolbox").into());
    let mut broken = Vec::new();
    for case in cases() {
        let outcome = case.outcome(&server).await;
        if outcome != Outcome::Kept {
            broken.push(format!("{}: {outcome}", case.name));
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}
