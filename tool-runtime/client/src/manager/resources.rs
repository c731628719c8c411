//! Resources of servers as two tools, for models that cannot attach resources.

use super::{Inner, McpManager, McpManagerError};
use crate::resource_listing::{contents, list_resources};
use crate::server::Server;
use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::{Arc, MutexGuard, Weak};
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::seam::{Claim, lock};
use tool_runtime_core::tool::resource::ResourceDefinition;
use tool_runtime_core::tool::{Json, Observation, Source, Tool};
use tool_runtime_core::vocabulary::content::{ContentBlock, ResourceContents};
use tool_runtime_core::vocabulary::error::ToolError;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct List {
    /// Only those of this server.
    server: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Read {
    /// The server of the resource, from `list_mcp_resources`.
    server: String,
    /// The URI of the resource, which may match a URI template of the server.
    uri: String,
}

impl McpManager {
    /// The resources of a server, templates last: see [`ResourceDefinition::is_template`]. The setting `resources` of
    /// its entry only affects models, not this method. At most 1000 of either kind, within the call timeout
    /// of its entry, or a minute without one. If another page fails, the first pages are returned and the status of the
    /// server has the reason in its problems.
    ///
    /// # Errors
    /// The server is unknown, it is not connected, or its answer is invalid.
    pub async fn resources(
        &self,
        server: &str,
    ) -> Result<Vec<ResourceDefinition>, McpManagerError> {
        let offer = list_resources(&self.slot(server)?.server).await;
        match offer.problem {
            None => Ok(offer.into_definitions()),
            Some(problem) => Err(unanswered(server, problem)),
        }
    }

    /// The setting `resources` of a server's entry; `None` for one that is unknown or has no entry.
    pub fn resources_setting(&self, server: &str) -> Option<bool> {
        self.slot(server).ok()?.resources()
    }

    /// Reads a resource of a server, by its URI.
    ///
    /// # Errors
    /// The server is unknown, it is not connected, or it has no such resource.
    pub async fn read_resource(
        &self,
        server: &str,
        uri: &str,
    ) -> Result<Vec<ResourceContents>, McpManagerError> {
        let contents = contents(&self.slot(server)?.server, uri).await;
        contents.map_err(|problem| unanswered(server, problem))
    }

    /// Adds the two tools to the pool.
    pub(super) fn offer_resources(&self) {
        let (lists, reads) = (Arc::downgrade(&self.0), Arc::downgrade(&self.0));
        let list = Tool::builder(
            "list_mcp_resources",
            "List the resources that connected MCP servers have: files, pages, records. Read one with `read_mcp_resource`.",
        )
        .read_only(true)
        .handler(move |wanted: List| {
            let manager = lists.clone();
            async move { list(&manager, wanted.server.as_deref()).await }
        });
        let read = Tool::builder(
            "read_mcp_resource",
            "Read one resource of a connected MCP server, by its URI.",
        )
        .read_only(true)
        .handler(move |wanted: Read| {
            let manager = reads.clone();
            async move { read(&manager, &wanted.server, &wanted.uri).await }
        });
        let mut offered = self.offered_resources();
        if offered.is_none() {
            *offered = ResourceTools::claim(&self.0.pool);
        }
        match &*offered {
            None => tracing::warn!("another manager of the pool offers the resources of servers"),
            Some(tools) => tools.set([list, read]),
        }
    }

    /// Removes the two tools.
    pub(super) fn withdraw_resources(&self) {
        drop(self.offered_resources().take());
    }

    fn offered_resources(&self) -> MutexGuard<'_, Option<ResourceTools>> {
        lock(&self.0.resources)
    }
}

fn unanswered(server: &str, problem: String) -> McpManagerError {
    McpManagerError::Unanswered { name: server.to_owned(), problem }
}

/// The servers whose resources are shown to models.
fn servers(manager: &Weak<Inner>) -> Result<Vec<Arc<Server>>, ToolError> {
    let shared = manager.upgrade().ok_or_else(|| ToolError::user("the MCP servers are closed"))?;
    let slots = McpManager(shared).slots().values().cloned().collect::<Vec<_>>();
    let offers = |slot: &&Arc<super::slot::Slot>| slot.resources() == Some(true);
    Ok(slots.iter().filter(offers).map(|slot| Arc::clone(&slot.server)).collect())
}

fn named(servers: Vec<Arc<Server>>, name: &str) -> Result<Arc<Server>, ToolError> {
    let known: Vec<String> = servers.iter().map(|server| format!("`{}`", server.name())).collect();
    servers.into_iter().find(|server| **server.name() == *name).ok_or_else(|| {
        let known = known.join(", ");
        ToolError::user(format!(
            "there is no MCP server `{name}` with resources; there are: {known}"
        ))
    })
}

async fn list(manager: &Weak<Inner>, server: Option<&str>) -> Result<Json<Value>, ToolError> {
    let mut servers = servers(manager)?;
    if let Some(name) = server {
        servers = vec![named(servers, name)?];
    }
    let (mut resources, mut templates, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    // Concurrently, so that a slow server does not delay the others.
    for (server, offer) in servers.iter().zip(join_all(servers.iter().map(list_resources)).await) {
        resources.extend(offer.resources.iter().map(|one| entry(server, one)));
        templates.extend(offer.templates.iter().map(|one| entry(server, one)));
        let of_server = offer.gaps.iter().map(|gap| server.redact(gap)).chain(offer.problem);
        problems.extend(of_server.map(|problem| format!("{}: {problem}", server.name())));
    }
    let mut result = Map::new();
    result.insert("resources".to_owned(), resources.into());
    result.insert("templates".to_owned(), templates.into());
    if !problems.is_empty() {
        result.insert("problems".to_owned(), json!(problems));
    }
    Ok(Json(result.into()))
}

/// A resource with its server.
fn entry(server: &Server, one: &impl serde::Serialize) -> Value {
    let mut entry = json!({ "server": &**server.name() });
    if let (Value::Object(entry), Ok(Value::Object(one))) = (&mut entry, serde_json::to_value(one))
    {
        entry.extend(one);
    }
    entry
}

async fn read(manager: &Weak<Inner>, server: &str, uri: &str) -> Result<Observation, ToolError> {
    let server = named(servers(manager)?, server)?;
    let contents = contents(&server, uri).await.map_err(ToolError::user)?;
    let add = |observation: Observation, contents: ResourceContents| {
        observation.with_content(ContentBlock::from(contents))
    };
    Ok(contents.into_iter().fold(Observation::default(), add))
}

/// The two resource tools in a pool. Dropping this removes them.
pub(super) struct ResourceTools {
    pool: ToolPool,
    source: Source,
    _claim: Claim,
}

impl ResourceTools {
    pub(super) fn claim(pool: &ToolPool) -> Option<Self> {
        let source = Source::owner("mcp-resources");
        let claim = pool.claim(&source)?;
        Some(Self { pool: pool.clone(), source, _claim: claim })
    }

    pub(super) fn set(&self, tools: [Tool; 2]) {
        if let Err(error) = self.pool.set_tools(&self.source, tools) {
            tracing::warn!("the resources of MCP servers cannot be offered: {error}");
        }
    }
}

impl Drop for ResourceTools {
    fn drop(&mut self) {
        // Fails only for a closed pool, which has no tools.
        drop(self.pool.set_tools(&self.source, []));
    }
}
