//! The resources of servers, as two tools: a model that cannot attach them itself lists and reads
//! them.

use super::{McpManager, Shared};
use crate::content::{EmbeddedResource, ResourceContents};
use crate::error::ToolError;
use crate::mcp::client::exchange::{Failure, Patience};
use crate::mcp::client::server::Server;
use crate::observation::{Json, Observation};
use crate::pool::{Claim, Source, ToolPool};
use crate::tool::Tool;
use rmcp::model::{
    ClientRequest, ListResourceTemplatesRequest, ListResourcesRequest, PaginatedRequestParams,
    ReadResourceRequest, ReadResourceRequestParams, ServerResult,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::{Arc, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::time::Instant;

/// How many resources of one server are listed.
const MOST: usize = 1000;
/// How many pages of one server's list are read.
const MOST_PAGES: usize = 100;
/// How long one server may take.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct List {
    /// Only those of this server.
    server: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Read {
    /// The server that has it, as `list_mcp_resources` says.
    server: String,
    /// Its URI, or one that a template of the server describes.
    uri: String,
}

impl McpManager {
    /// Brings the two tools into the pool.
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

    /// Takes them away.
    pub(super) fn withdraw_resources(&self) {
        drop(self.offered_resources().take());
    }

    fn offered_resources(&self) -> MutexGuard<'_, Option<ResourceTools>> {
        self.0.resources.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of the two tools in a pool. Dropped, they are gone.
pub(super) struct ResourceTools {
    pool: ToolPool,
    source: Source,
    _claim: Claim,
}

impl ResourceTools {
    fn claim(pool: &ToolPool) -> Option<Self> {
        let source = Source::owner("mcp-resources");
        let claim = pool.claim(&source)?;
        Some(Self { pool: pool.clone(), source, _claim: claim })
    }

    fn set(&self, tools: [Tool; 2]) {
        if let Err(error) = self.pool.set_tools(&self.source, tools) {
            tracing::warn!("the resources of MCP servers cannot be offered: {error}");
        }
    }
}

impl Drop for ResourceTools {
    fn drop(&mut self) {
        // A pool that is closed has none.
        drop(self.pool.set_tools(&self.source, []));
    }
}

/// The servers whose resources may be seen.
fn servers(manager: &Weak<Shared>) -> Result<Vec<Arc<Server>>, ToolError> {
    let shared = manager.upgrade().ok_or_else(|| ToolError::user("the MCP servers are closed"))?;
    let slots = McpManager(shared).slots().values().cloned().collect::<Vec<_>>();
    let offers = |slot: &&Arc<super::slot::Slot>| {
        slot.config.as_ref().is_some_and(|config| config.resources)
    };
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

async fn list(manager: &Weak<Shared>, server: Option<&str>) -> Result<Json<Value>, ToolError> {
    let mut servers = servers(manager)?;
    if let Some(name) = server {
        servers = vec![named(servers, name)?];
    }
    let (mut resources, mut templates, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    for server in &servers {
        let name = server.name();
        for (kind, found) in [(Kind::Resources, &mut resources), (Kind::Templates, &mut templates)]
        {
            if let Err(problem) = pages(server, kind, found).await {
                problems.push(format!("{name}: {problem}"));
                break;
            }
        }
    }
    let mut all = Map::new();
    all.insert("resources".to_owned(), resources.into());
    all.insert("templates".to_owned(), templates.into());
    if !problems.is_empty() {
        all.insert("problems".to_owned(), json!(problems));
    }
    Ok(Json(all.into()))
}

#[derive(Clone, Copy)]
enum Kind {
    Resources,
    Templates,
}

impl Kind {
    fn request(self, cursor: Option<String>) -> ClientRequest {
        let params = Some(PaginatedRequestParams::default().with_cursor(cursor));
        match self {
            Self::Resources => {
                let request = ListResourcesRequest { params, ..ListResourcesRequest::default() };
                ClientRequest::ListResourcesRequest(request)
            }
            Self::Templates => {
                let request = ListResourceTemplatesRequest {
                    params,
                    ..ListResourceTemplatesRequest::default()
                };
                ClientRequest::ListResourceTemplatesRequest(request)
            }
        }
    }
}

/// Adds what a server has of a kind.
async fn pages(server: &Server, kind: Kind, found: &mut Vec<Value>) -> Result<(), String> {
    let connection = server.connection().await.map_err(|error| error.to_string())?;
    if connection.capabilities().is_none_or(|can| can.resources.is_none()) {
        return Ok(());
    }
    let (mut cursor, before) = (None, found.len());
    for _ in 0..MOST_PAGES {
        let answer = connection.request(kind.request(cursor), patience()).await;
        let (entries, next) = match answer.map_err(|failure| told(&failure))? {
            ServerResult::ListResourcesResult(page) => {
                (page.resources.iter().map(|one| entry(server, one)).collect(), page.next_cursor)
            }
            ServerResult::ListResourceTemplatesResult(page) => {
                let entries = page.resource_templates.iter().map(|one| entry(server, one));
                (entries.collect::<Vec<_>>(), page.next_cursor)
            }
            _ => return Err("its answer is no list".to_owned()),
        };
        found.extend(entries);
        if found.len() - before > MOST {
            found.truncate(before + MOST);
            return Err(format!("it has more than {MOST}; the first are listed"));
        }
        match next {
            None => return Ok(()),
            next => cursor = next,
        }
    }
    Err(format!("its list has more than {MOST_PAGES} pages"))
}

/// What a server says of one, and whose it is.
fn entry(server: &Server, one: &impl serde::Serialize) -> Value {
    let mut entry = json!({ "server": &**server.name() });
    if let (Value::Object(entry), Ok(Value::Object(one))) = (&mut entry, serde_json::to_value(one))
    {
        entry.extend(one);
    }
    entry
}

async fn read(manager: &Weak<Shared>, server: &str, uri: &str) -> Result<Observation, ToolError> {
    let server = named(servers(manager)?, server)?;
    let connection =
        server.connection().await.map_err(|error| ToolError::user(error.to_string()))?;
    let request = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
    let answer = connection.request(ClientRequest::ReadResourceRequest(request), patience()).await;
    match answer.map_err(|failure| ToolError::user(told(&failure)))? {
        ServerResult::ReadResourceResult(result) => {
            let mut observation = Observation::default();
            for contents in &result.contents {
                let contents: ResourceContents =
                    serde_json::to_value(contents).and_then(serde_json::from_value)?;
                let resource = EmbeddedResource { resource: contents, extra: None };
                observation = observation
                    .with_content(crate::content::ContentBlock::Resource(Box::new(resource)));
            }
            Ok(observation)
        }
        _ => Err(ToolError::user("the server's answer holds no contents")),
    }
}

fn patience() -> Patience {
    Patience { idle: PATIENCE, until: Instant::now().checked_add(PATIENCE) }
}

fn told(failure: &Failure) -> String {
    match failure {
        Failure::Unsent => "the connection has ended".to_owned(),
        Failure::Lost(why) | Failure::Unauthorized(why) => why.clone(),
        Failure::Refused(error) => error.message.to_string(),
        Failure::Silent(_) | Failure::Late => "it did not answer in time".to_owned(),
    }
}
