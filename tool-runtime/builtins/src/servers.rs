//! Tools that list and read the resources of external MCP servers.
//!
//! They reach all servers of their pool, except those whose entry sets `resources: false`. An entry with
//! `resources: true` adds tools of the manager to the pool, which do the same.
//!
//! | Module | Topic |
//! |---|---|
//! | `list` | the resources of servers |
//! | `contents` | the contents of one resource |

mod contents;
mod list;

pub use contents::{ResourceOutput, ResourcePart};
pub use list::{ResourceList, ServerResource};

use crate::builtins::{Builtins, Family, Profile};
use crate::tool_output::ToolOutput;
use futures_util::future::join_all;
use tool_runtime::mcp::{McpManager, McpManagerError};
use tool_runtime::prelude::*;

/// Characters of a resource that are returned, if the model does not say.
const DEFAULT_LENGTH: u32 = 30_000;
const MAX_LENGTH: u32 = 200_000;

/// Tools for the resources of servers. See [`Builtins::servers`](crate::Builtins::servers).
pub struct Servers(());

#[toolset(prefix = "", register = false)]
impl Servers {
    /// List the resources of the connected MCP servers: files, pages, records, and templates of their URIs. Read one by
    /// `ReadMcpResource`.
    #[tool(
        name = "ListMcpResources",
        read_only,
        destructive = false,
        idempotent,
        open_world,
        tags("specialist"),
        timeout = "90s"
    )]
    async fn list_mcp_resources(
        &self,
        /// Only resources of this server.
        server: Option<String>,
        /// Resources to skip, as the notice of the part before says.
        #[arg(default)]
        offset: usize,
        context: &ToolContext,
    ) -> Result<ToolOutput<ResourceList>, ToolError> {
        let servers = servers(context);
        let wanted = match &server {
            Some(name) => vec![find(&servers, name)?],
            None => servers.iter().collect(),
        };
        // At the same time, so that a slow server does not delay the others.
        let listed = wanted.iter().map(|server| server.manager.resources(&server.name));
        let listed = join_all(listed).await;
        let names = wanted.iter().map(|server| server.name.clone());
        Ok(ToolOutput::from_display(ResourceList::from_responses(names.zip(listed), offset)))
    }

    /// Read a resource of an MCP server by its URI. For a template, replace the names in braces first.
    #[tool(
        name = "ReadMcpResource",
        read_only,
        destructive = false,
        idempotent,
        open_world,
        tags("specialist"),
        timeout = "90s"
    )]
    async fn read_mcp_resource(
        &self,
        /// The server, as `ListMcpResources` names it.
        server: String,
        /// The URI of the resource.
        #[arg(length = 1..=list::MAX_URI)]
        uri: String,
        /// The most characters to return.
        #[arg(default = DEFAULT_LENGTH, range = 1..=MAX_LENGTH)]
        max_length: u32,
        /// Characters to skip, as the notice of the part before says.
        #[arg(default)]
        offset: usize,
        context: &ToolContext,
    ) -> Result<ToolOutput<ResourceOutput>, ToolError> {
        let servers = servers(context);
        let server = find(&servers, &server)?;
        let contents = server.manager.read_resource(&server.name, &uri).await.map_err(failure)?;
        contents::output(&server.name, uri, contents, offset, max_length as usize)
    }
}

/// A server and the manager that connects it.
struct Server {
    name: String,
    manager: McpManager,
}

/// The servers of the pool that runs a call.
fn servers(context: &ToolContext) -> Vec<Server> {
    let managers = context.pool().map(|pool| McpManager::of_pool(&pool)).unwrap_or_default();
    let of = |manager: McpManager| {
        let names = manager.status().into_iter().map(|status| status.name);
        let names = names.filter(|name| manager.resources_setting(name) != Some(false));
        let named = |name| Server { name, manager: manager.clone() };
        names.map(named).collect::<Vec<_>>()
    };
    managers.into_iter().flat_map(of).collect()
}

fn find<'a>(servers: &'a [Server], name: &str) -> Result<&'a Server, ToolError> {
    servers.iter().find(|server| server.name == name).ok_or_else(|| {
        let known: Vec<String> =
            servers.iter().map(|server| format!("`{}`", server.name)).collect();
        let known = if known.is_empty() {
            "no servers are configured".to_owned()
        } else {
            format!("there are: {}", known.join(", "))
        };
        ToolError::user(format!("there is no MCP server `{name}`; {known}"))
    })
}

fn failure(error: McpManagerError) -> ToolError {
    ToolError::user(error.to_string()).with_source(error)
}

impl Toolset for Servers {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self(()))
    }
}

impl Builtins {
    /// Adds the tools that list and read the resources of the MCP servers that a manager connects to the pool.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime_builtins::{Builtins, Workspace};
    ///
    /// let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build()?;
    /// let pool = ToolPool::builder().install(Builtins::new(workspace).servers()).build()?;
    /// assert!(pool.tools().iter().any(|tool| tool.name() == "ReadMcpResource"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn servers(self) -> Self {
        self.family_of_tools(|builtins| builtins.tools(Ok(Servers(()))))
    }
}

impl Family for Servers {
    fn tools_of(profile: Profile) -> &'static [&'static str] {
        match profile {
            Profile::Standard => &["ListMcpResources", "ReadMcpResource"],
            Profile::OpenHands => &[],
        }
    }
}
