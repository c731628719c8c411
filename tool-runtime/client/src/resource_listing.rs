//! Lists a server's resources page by page, within limits.

use super::definition;
use super::failure::Failure;
use super::in_words::in_words;
use super::request_timeouts::RequestTimeouts;
use super::server::Server;
use rmcp::model::{
    Annotations, ClientRequest, CustomResult, ErrorCode, Icon, ListResourceTemplatesRequest,
    ListResourcesRequest, MetaObject, PaginatedRequestParams, ReadResourceRequest,
    ReadResourceRequestParams, Resource, ResourceTemplate, ServerResult,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use tool_runtime_core::seam::{Redactor, as_json_in_place, has_secret};
use tool_runtime_core::tool::resource::ResourceDefinition;
use tool_runtime_core::vocabulary::content::ResourceContents;

/// Limit on the resources of a kind.
const MAX_RESOURCES: usize = 1000;
/// Limit on the pages of a list.
const MAX_PAGES: usize = 100;
/// Limit on the named entries that cannot be read.
const MAX_GAPS: usize = 10;
/// Time limit of listing or reading the resources of a server, unless its entry has a call timeout.
pub(super) const RESOURCE_TIMEOUT: Duration = Duration::from_secs(60);

/// The resources of a server.
#[derive(Default)]
pub(super) struct ResourceListing {
    pub(super) resources: Vec<Resource>,
    pub(super) templates: Vec<ResourceTemplate>,
    /// The reason why the server has no list.
    pub(super) problem: Option<String>,
    /// The reasons why parts of the lists are missing.
    pub(super) gaps: Vec<String>,
}

/// Lists all resources of a server, within the call timeout of its entry.
pub(super) async fn list_resources(server: &std::sync::Arc<Server>) -> ResourceListing {
    let mut offer = ResourceListing::default();
    let until = Instant::now() + server.times.resources;
    let result = timeout_at(until, ask(server, &mut offer, until)).await;
    offer.problem = result.unwrap_or_else(|_| Err("it did not answer in time".to_owned())).err();
    server.set_resource_problems(&offer.gaps);
    let redactor = &server.redactors().results;
    let (found, templates) = (offer.resources.len(), offer.templates.len());
    retain_masked(&mut offer.resources, redactor, |resource| &resource.uri);
    retain_masked(&mut offer.templates, redactor, |template| &template.uri_template);
    let left_out = found + templates - offer.resources.len() - offer.templates.len();
    if left_out > 0 {
        let reason = "the URIs contain a secret of its entry";
        tracing::warn!(
            server = &**server.name(),
            "{left_out} of its resources are left out: {reason}"
        );
    }
    offer
}

/// Masks the secrets of the server's entry. A masked URI could not be read, so those with a secret are left out.
fn retain_masked<T: Serialize + DeserializeOwned>(
    listed: &mut Vec<T>,
    redactor: &Redactor,
    uri: fn(&T) -> &String,
) {
    listed.retain(|one| !has_secret(redactor, uri(one)));
    listed.iter_mut().for_each(|one| as_json_in_place(redactor, one));
}

async fn ask(server: &Server, offer: &mut ResourceListing, until: Instant) -> Result<(), String> {
    let ResourceListing { resources, templates, gaps, .. } = offer;
    let timeouts = RequestTimeouts { idle: server.times.resources, until: Some(until) };
    pages(server, Kind::Resources, timeouts, resources, gaps).await?;
    pages(server, Kind::Templates, timeouts, templates, gaps).await
}

/// Adds the entries of a page up to the limit. `false` if some were left out for it. An entry that cannot be read is a gap.
fn add<T: DeserializeOwned>(all: &mut Vec<T>, entries: Vec<Value>, gaps: &mut Vec<String>) -> bool {
    for entry in entries {
        if all.len() == MAX_RESOURCES {
            return false;
        }
        let words = in_words(&entry);
        match serde_json::from_value(without_nulls(entry)) {
            Ok(entry) => all.push(entry),
            Err(why) if gaps.len() < MAX_GAPS => {
                gaps.push(format!("an entry is left out, which is {words}: {why}"));
            }
            Err(_) => {}
        }
    }
    true
}

/// An entry without null members, which some servers write for absent ones.
fn without_nulls(mut entry: Value) -> Value {
    if let Value::Object(members) = &mut entry {
        members.retain(|_, value| !value.is_null());
    }
    entry
}

#[derive(Clone, Copy)]
enum Kind {
    Resources,
    Templates,
}

impl Kind {
    /// The method, and the member of its result with the entries.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Resources => ("resources/list", "resources"),
            Self::Templates => ("resources/templates/list", "resourceTemplates"),
        }
    }

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

/// Requests all pages of a kind. If another page fails, the first ones stay and the failure is a gap.
async fn pages<T: DeserializeOwned>(
    server: &Server,
    kind: Kind,
    timeouts: RequestTimeouts,
    all: &mut Vec<T>,
    gaps: &mut Vec<String>,
) -> Result<(), String> {
    let connection = server.connection().await.map_err(|error| error.to_string())?;
    if connection.capabilities().is_none_or(|can| can.resources.is_none()) {
        return Ok(());
    }
    let (mut cursor, mut seen) = (None::<String>, HashSet::new());
    for _ in 0..MAX_PAGES {
        let answer = connection.request(kind.request(cursor.clone()), timeouts).await;
        let page =
            answer.map_err(|failure| Stop::from_kind(kind, cursor.as_deref(), server, &failure));
        let page = page.and_then(|page| {
            entries(kind, page).map_err(|why| Stop::after(kind, cursor.as_deref(), why))
        });
        let (entries, next) = match page {
            Ok(page) => page,
            Err(Stop::End) => return Ok(()),
            Err(Stop::Gap(why)) => {
                gaps.push(why);
                return Ok(());
            }
            Err(Stop::Failed(why)) => return Err(why),
        };
        if !add(all, entries, gaps) {
            return Err(format!("it has more than {MAX_RESOURCES}; the first are listed"));
        }
        match next {
            None => return Ok(()),
            Some(next) if !seen.insert(next.clone()) => {
                return Err("its list repeats an earlier page".to_owned());
            }
            next => cursor = next,
        }
    }
    Err(format!("its list has more than {MAX_PAGES} pages"))
}

/// What the failure of a page means for the list.
enum Stop {
    /// The list is complete.
    End,
    /// The first pages are a part of the list.
    Gap(String),
    Failed(String),
}

impl Stop {
    fn from_kind(kind: Kind, cursor: Option<&str>, server: &Server, failure: &Failure) -> Self {
        match (cursor, failure) {
            // Servers with resources often have no templates.
            (None, Failure::Rejected(error))
                if matches!(kind, Kind::Templates) && error.code == ErrorCode::METHOD_NOT_FOUND =>
            {
                Self::End
            }
            // Some servers write an empty cursor after the last page.
            (Some(""), Failure::Rejected(_)) => Self::End,
            _ => Self::after(kind, cursor, failure_text(server, failure)),
        }
    }

    /// The first pages stay if another one fails.
    fn after(kind: Kind, cursor: Option<&str>, why: String) -> Self {
        let (method, _) = kind.names();
        match cursor {
            None => Self::Failed(why),
            Some(_) => Self::Gap(format!("a further page of `{method}` failed: {why}")),
        }
    }
}

/// The entries of a page, and the cursor of the next one.
fn entries(kind: Kind, page: ServerResult) -> Result<(Vec<Value>, Option<String>), String> {
    let (method, member) = kind.names();
    let mut page = match page {
        ServerResult::CustomResult(CustomResult(page)) => page,
        page => serde_json::to_value(page).unwrap_or_default(),
    };
    match page.get_mut(member).map(Value::take) {
        Some(Value::Array(entries)) => {
            let next = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            Ok((entries, next))
        }
        Some(Value::Null) if page.is_object() => Ok((Vec::new(), None)),
        Some(other) => Err(format!(
            "`{member}` in its answer to `{method}` is {}, not a list",
            in_words(&other)
        )),
        None => Err(format!("its answer to `{method}` is {}, not a list", in_words(&page))),
    }
}

/// Reads one resource.
pub(super) async fn contents(server: &Server, uri: &str) -> Result<Vec<ResourceContents>, String> {
    let until = Instant::now() + server.times.resources;
    let read = async {
        let connection = server.connection().await.map_err(|error| error.to_string())?;
        let request = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
        let timeouts = RequestTimeouts { idle: server.times.resources, until: Some(until) };
        let request = ClientRequest::ReadResourceRequest(request);
        connection
            .request(request, timeouts)
            .await
            .map_err(|failure| failure_text(server, &failure))
    };
    match timeout_at(until, read)
        .await
        .unwrap_or_else(|_| Err("it did not answer in time".to_owned()))?
    {
        ServerResult::ReadResourceResult(result) => {
            let contents = serde_json::to_value(&result.contents).and_then(|mut contents| {
                server.redactors().results.value(&mut contents);
                serde_json::from_value(contents)
            });
            contents.map_err(|error| format!("its answer cannot be read: {error}"))
        }
        other => {
            let other = serde_json::to_value(other).unwrap_or_default();
            Err(format!("its answer to `resources/read` is {}, not contents", in_words(&other)))
        }
    }
}

fn failure_text(server: &Server, failure: &Failure) -> String {
    match failure {
        Failure::Unsent(_) => "the connection has ended".to_owned(),
        Failure::Lost(why) | Failure::Unauthorized(why) => server.redact(why),
        Failure::Rejected(error) => server.redact(&error.message),
        Failure::Silent(_) | Failure::Late => "it did not answer in time".to_owned(),
    }
}

impl ResourceListing {
    /// Converts to untrusted definitions.
    pub(super) fn into_definitions(self) -> Vec<ResourceDefinition> {
        let resources = self.resources.into_iter().map(of_resource);
        resources.chain(self.templates.into_iter().map(of_template)).collect()
    }
}

fn of_resource(one: Resource) -> ResourceDefinition {
    let mut resource = beside(one.annotations, one.icons, one.meta);
    resource.uri = one.uri;
    resource.name = one.name;
    resource.title = one.title;
    resource.description = one.description.unwrap_or_default();
    resource.mime_type = one.mime_type;
    resource.size = one.size;
    resource
}

fn of_template(one: ResourceTemplate) -> ResourceDefinition {
    let mut template = beside(one.annotations, one.icons, one.meta);
    template.uri = one.uri_template;
    template.name = one.name;
    template.title = one.title;
    template.description = one.description.unwrap_or_default();
    template.mime_type = one.mime_type;
    template
}

fn beside(
    annotations: Option<Annotations>,
    icons: Option<Vec<Icon>>,
    meta: Option<MetaObject>,
) -> ResourceDefinition {
    let annotations = serde_json::to_value(annotations).and_then(serde_json::from_value);
    let mut resource = ResourceDefinition::default();
    resource.annotations = annotations.unwrap_or_default();
    resource.icons = definition::icons(serde_json::to_value(icons).unwrap_or_default());
    resource.meta = meta.map(|meta| meta.0).unwrap_or_default();
    resource
}
