//! The two clients: both call the same server over the same kind of connection, in the same protocol version.

use super::{Outcome, Transport, program};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, RunningService};
use rmcp::{Json, RoleClient, ServiceExt as _, tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::process::Stdio;
use tokio::io::DuplexStream;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tool_runtime::mcp::{McpManager, McpServerConfig};
use tool_runtime::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Addends {
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    result: i64,
}

/// A server built with rmcp, for both clients.
#[derive(Clone)]
struct LocalServer;

#[tool_router(server_handler)]
impl LocalServer {
    #[tool(description = "Add two integers.")]
    async fn add(&self, Parameters(addends): Parameters<Addends>) -> Json<Sum> {
        Json(Sum { result: addends.a + addends.b })
    }
}

/// The client's end of a connection to a server in this process.
fn local_server() -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(64 << 10);
    tokio::spawn(async move {
        if let Ok(served) = LocalServer.serve(theirs).await {
            drop(served.waiting().await);
        }
    });
    ours
}

/// A client that calls `add`.
pub(super) trait Caller {
    async fn add(&self, number: i64) -> Outcome<()>;
}

/// rmcp's client without changes.
pub(super) struct RmcpClient {
    service: RunningService<RoleClient, ()>,
    _child: Option<Child>,
}

impl RmcpClient {
    pub(super) async fn connect(over: Transport) -> Outcome<Self> {
        let lifecycle =
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] };
        match over {
            Transport::Memory => {
                let service = ().serve_with_lifecycle(local_server(), lifecycle).await?;
                Ok(Self { service, _child: None })
            }
            Transport::Stdio => {
                let (child, input, output) = started()?;
                let service = ().serve_with_lifecycle((output, input), lifecycle).await?;
                Ok(Self { service, _child: Some(child) })
            }
        }
    }
}

fn started() -> Outcome<(Child, ChildStdin, ChildStdout)> {
    let mut command = Command::new(program("ours")?);
    command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn()?;
    match (child.stdin.take(), child.stdout.take()) {
        (Some(input), Some(output)) => Ok((child, input, output)),
        _ => Err("the server has no streams".into()),
    }
}

impl Caller for RmcpClient {
    async fn add(&self, number: i64) -> Outcome<()> {
        let arguments = json!({ "a": 2, "b": number });
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let params = CallToolRequestParams::new("add").with_arguments(arguments);
        let result = self.service.call_tool(params).await?;
        match result.structured_content {
            Some(sum) if sum["result"] == number + 2 => Ok(()),
            other => Err(format!("no sum: {other:?}").into()),
        }
    }
}

/// A pool with the server's tools.
pub(super) struct PoolClient {
    pool: ToolPool,
    _manager: McpManager,
}

impl PoolClient {
    pub(super) async fn connect(over: Transport) -> Outcome<Self> {
        let pool = ToolPool::builder().allow_empty().build()?;
        let builder = McpManager::builder();
        let builder = match over {
            Transport::Memory => builder.custom("s", || async {
                let (reader, writer) = tokio::io::split(local_server());
                Ok((Box::new(reader) as _, Box::new(writer) as _))
            }),
            Transport::Stdio => {
                let program = program("ours")?;
                let program = program.to_str().ok_or("an odd path")?.to_owned();
                builder.server("s", McpServerConfig::stdio(program).arg("serve"))
            }
        };
        let _manager = builder.connect(&pool).await?;
        Ok(Self { pool, _manager })
    }
}

impl Caller for PoolClient {
    async fn add(&self, number: i64) -> Outcome<()> {
        let arguments = format!(r#"{{"a":2,"b":{number}}}"#);
        let result = self.pool.call(ToolCall::new("s.add", arguments)).await;
        let sum = format!(r#"{{"result":{}}}"#, number + 2);
        match result.observation().structured_json() {
            Some(given) if given == sum => Ok(()),
            other => Err(format!("no sum: {other:?}").into()),
        }
    }
}
