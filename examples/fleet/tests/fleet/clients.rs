//! MCP clients of a gateway to the runners.

use super::processes::{Hub, in_time};
use serde_json::json;
use tool_runtime::testing::{ProtocolVersion, Reply, TestClient};

const VERSIONS: [ProtocolVersion; 2] = [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25];

#[tokio::test]
async fn clients_of_both_versions_see_questions_progress_and_logs_of_a_runner() {
    let hub = Hub::start().await;
    let _runner = hub.run("files").await;
    let (pool, remote) = hub.connect().await;
    for version in VERSIONS {
        let client = TestClient::builder(&pool)
            .protocol_version(version)
            .answer(|_| async { Reply::accept(json!({ "sure": true })) })
            .connect()
            .await;
        let appended = client.call("files.append", json!({ "name": "notes", "line": "a" })).await;
        assert_eq!(appended.unwrap().to_text(), "appended to notes", "{version:?}");
        let record =
            in_time(client.call("files.delete", json!({ "name": "notes" })).recorded()).await;
        assert_eq!(record.result.unwrap().to_text(), "notes is deleted", "{version:?}");
        assert!(!hub.file("notes").exists(), "{version:?}");
        assert_eq!(client.questions()[0].message(), "Delete notes?", "{version:?}");
        let done: Vec<_> =
            record.progress.iter().map(|step| step.message.clone().unwrap_or_default()).collect();
        assert_eq!(done.first().map(String::as_str), Some("asking"), "{version:?}");
        assert_eq!(done.last().map(String::as_str), Some("deleted"), "{version:?}");
        assert!(format!("{:?}", record.log).contains("deleted notes"), "{:?}", record.log);
        client.close().await;
    }
    remote.close().await;
}

#[tokio::test]
async fn a_call_that_a_client_cancels_stops_at_the_runner() {
    let hub = Hub::start().await;
    let _runner = hub.run("files").await;
    let (pool, remote) = hub.connect().await;
    for version in VERSIONS {
        let client = TestClient::builder(&pool).protocol_version(version).connect().await;
        let call = client.call("files.wait", json!({ "name": "never" })).start();
        hub.until_runner(|runner| runner["free"] == 15).await;
        call.cancel().await;
        hub.until_runner(|runner| runner["free"] == 16).await;
        client.close().await;
    }
    remote.close().await;
}
