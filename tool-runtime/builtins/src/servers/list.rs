//! The resources of servers.

use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use tool_runtime::ResourceDefinition;
use tool_runtime::mcp::McpManagerError;

/// Resources of a part of the list.
const PART: usize = 200;
/// Characters of a description.
const MAX_DESCRIPTION: usize = 300;

/// Resources of servers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ResourceList {
    /// The resources, templates of a server after its resources.
    pub resources: Vec<ServerResource>,
    /// Number of all resources.
    pub total: usize,
    /// `offset` of the next part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// Servers whose resources could not be listed, with the reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub problems: Vec<String>,
}

/// A resource of a server.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ServerResource {
    /// Name of the server.
    pub server: String,
    /// URI, or a template of URIs with names in braces.
    pub uri: String,
    /// Whether the URI is a template.
    pub is_template: bool,
    /// Name of the resource.
    pub name: String,
    /// Description of the resource.
    pub description: String,
    /// MIME type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

impl ServerResource {
    fn new(server: &str, resource: ResourceDefinition) -> Self {
        Self {
            server: server.to_owned(),
            is_template: resource.is_template(),
            name: resource.title.unwrap_or(resource.name),
            description: resource.description.chars().take(MAX_DESCRIPTION).collect(),
            uri: resource.uri,
            mime_type: resource.mime_type,
            size: resource.size,
        }
    }
}

impl ResourceList {
    /// The part of the answers of servers that begins at a resource.
    pub(super) fn of(
        answers: impl Iterator<Item = (String, Result<Vec<ResourceDefinition>, McpManagerError>)>,
        offset: usize,
    ) -> Self {
        let (mut all, mut problems) = (Vec::new(), Vec::new());
        for (server, answer) in answers {
            match answer {
                Ok(found) => {
                    all.extend(found.into_iter().map(|one| ServerResource::new(&server, one)));
                }
                Err(error) => problems.push(error.to_string()),
            }
        }
        let total = all.len();
        let end = offset.saturating_add(PART);
        let next_offset = (end < total).then_some(end);
        let resources = all.into_iter().skip(offset).take(PART).collect();
        Self { resources, total, next_offset, problems }
    }
}

impl fmt::Display for ResourceList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut server = "";
        for one in &self.resources {
            if one.server != server {
                let space = if server.is_empty() { "" } else { "\n" };
                writeln!(f, "{space}{}:", one.server)?;
                server = &one.server;
            }
            let kind = if one.is_template { " (template)" } else { "" };
            let mime_type =
                one.mime_type.as_ref().map_or(String::new(), |kind| format!(", {kind}"));
            let size = one.size.map_or(String::new(), |size| format!(", {size} bytes"));
            write!(f, "- {}{kind}: {}{mime_type}{size}", one.uri, one.name)?;
            let description = one.description.split_whitespace().collect::<Vec<_>>().join(" ");
            let space = if description.is_empty() { "" } else { "; " };
            writeln!(f, "{space}{description}")?;
        }
        if self.total == 0 && self.problems.is_empty() {
            writeln!(f, "[no resources]")?;
        }
        for problem in &self.problems {
            writeln!(f, "[{problem}]")?;
        }
        match self.next_offset {
            Some(next) => writeln!(
                f,
                "[{} of {}; the rest: `offset` {next}]",
                self.resources.len(),
                self.total
            ),
            None => Ok(()),
        }
    }
}
