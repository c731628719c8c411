//! Whole outputs of commands, read by rmcp's MCP client.

use rmcp::model::{CallToolRequestParams, ReadResourceRequestParams, ResourceContents};
use rmcp::service::ServiceExt as _;
use rmcp::transport::TokioChildProcess;
use serde_json::json;
use std::time::Duration;
use tokio::process::Command;

const LIMIT: Duration = Duration::from_secs(120);

#[tokio::test]
async fn a_client_reads_the_whole_of_an_output_that_was_cut() {
    let project = tempfile::TempDir::new().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolbox"));
    command.args(["serve", "--families", "shell", "--root"]).arg(project.path());
    let client = ().serve(TokioChildProcess::new(command).unwrap()).await.unwrap();
    let templates = client.list_all_resource_templates().await.unwrap();
    assert_eq!(templates[0].uri_template, "output://shell/{id}/{part}");

    let arguments = json!({ "command": "seq 1 20000" }).as_object().unwrap().clone();
    let request = CallToolRequestParams::new("Bash").with_arguments(arguments);
    let result = tokio::time::timeout(LIMIT, client.call_tool(request)).await.unwrap().unwrap();
    let link = result.content.iter().find_map(|block| block.as_resource_link());
    let link = link.expect("a link to the whole output");
    assert_eq!(link.mime_type.as_deref(), Some("text/plain"));

    let read = client.read_resource(ReadResourceRequestParams::new(link.uri.clone()));
    let read = tokio::time::timeout(LIMIT, read).await.unwrap().unwrap();
    let ResourceContents::TextResourceContents { text, .. } = &read.contents[0] else {
        panic!("{read:?}")
    };
    let numbers: String = (1..=20_000).map(|number| format!("{number}\n")).collect();
    assert!(*text == numbers);
    let guess = ReadResourceRequestParams::new("output://shell/0000000000000000/1");
    client.read_resource(guess).await.unwrap_err();
    client.cancel().await.unwrap();
}
