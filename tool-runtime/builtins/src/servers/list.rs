//! The resources of servers.

use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use tool_runtime::mcp::McpManagerError;
use tool_runtime::resource::ResourceDefinition;

/// Resources of a part of the list, and bytes of their content. A part has at least one resource.
const PART: usize = 200;
const PART_BYTES: usize = 64 << 10;
/// Characters of a name, a description or a MIME type.
const MAX_TEXT: usize = 300;
/// Bytes of a URI that can be read.
pub(super) const MAX_URI: usize = 8192;

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
            name: line(resource.title.as_deref().unwrap_or(&resource.name)),
            description: line(&resource.description),
            uri: resource.uri,
            mime_type: resource.mime_type.as_deref().map(line),
            size: resource.size,
        }
    }

    fn bytes(&self) -> usize {
        self.uri.len() + self.name.len() + self.description.len()
    }
}

/// One line of limited length.
fn line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(MAX_TEXT).collect()
}

impl ResourceList {
    /// The part of the responses of servers that begins at a resource.
    pub(super) fn from_responses(
        responses: impl Iterator<Item = (String, Result<Vec<ResourceDefinition>, McpManagerError>)>,
        offset: usize,
    ) -> Self {
        let (mut all, mut problems) = (Vec::new(), Vec::new());
        for (server, response) in responses {
            match response {
                Ok(mut found) => {
                    let before = found.len();
                    found.retain(|one| is_readable(&one.uri));
                    if before > found.len() {
                        problems.push(format!(
                            "{} resources of `{server}` are left out: their URIs are longer than {MAX_URI} bytes, or \
                             have control characters",
                            before - found.len()
                        ));
                    }
                    all.extend(found.into_iter().map(|one| ServerResource::new(&server, one)));
                }
                Err(error) => problems.push(error.to_string()),
            }
        }
        let total = all.len();
        let mut bytes = 0;
        let fits = |one: &ServerResource| {
            let is_first = bytes == 0;
            bytes += one.bytes();
            is_first || bytes <= PART_BYTES
        };
        let resources: Vec<_> = all.into_iter().skip(offset).take(PART).take_while(fits).collect();
        let end = offset.saturating_add(resources.len());
        let next_offset = (end < total).then_some(end);
        Self { resources, total, next_offset, problems }
    }
}

fn is_readable(uri: &str) -> bool {
    uri.len() <= MAX_URI && !uri.contains(char::is_control)
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
            let space = if one.description.is_empty() { "" } else { "; " };
            writeln!(f, "{space}{}", one.description)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn list(uris: impl IntoIterator<Item = String>, offset: usize) -> ResourceList {
        let named = |uri| {
            let mut resource = ResourceDefinition::default();
            (resource.uri, resource.name) = (uri, "a\nb".to_owned());
            resource
        };
        let found = uris.into_iter().map(named).collect();
        ResourceList::from_responses([("files".to_owned(), Ok(found))].into_iter(), offset)
    }

    #[test]
    fn a_part_ends_at_a_number_of_resources_or_bytes() {
        let short = |from| list((0..250).map(|number| format!("file:///{number}")), from);
        assert_eq!((short(0).resources.len(), short(0).next_offset), (200, Some(200)));
        assert_eq!((short(200).resources.len(), short(200).next_offset), (50, None));
        let long = list((0..20).map(|number| format!("{number:08000}")), 0);
        assert_eq!((long.resources.len(), long.next_offset, long.total), (8, Some(8), 20));
    }

    #[test]
    fn texts_of_servers_are_lines_of_limited_length() {
        let text = list(["file:///a".to_owned()], 0).to_string();
        assert_eq!(text, "files:\n- file:///a: a b\n");
        assert_eq!(line(&"x".repeat(1000)).len(), MAX_TEXT);
    }

    #[test]
    fn resources_that_cannot_be_read_are_left_out_and_counted() {
        let list = list(["a".repeat(9000), "file:///a\n- b".to_owned(), "file:///b".to_owned()], 0);
        assert_eq!((list.resources.len(), list.total), (1, 1));
        let expected = "2 resources of `files` are left out: their URIs are longer than 8192 bytes, or have control characters";
        assert_eq!(list.problems, [expected]);
    }
}
