//! Lists a server's resources page by page, within limits.

use super::definition;
use super::failure::Failure;
use super::request_timeouts::RequestTimeouts;
use super::server::Server;
use rmcp::model::{
    Annotations, ClientRequest, Icon, ListResourceTemplatesRequest, ListResourcesRequest,
    MetaObject, PaginatedRequestParams, ReadResourceRequest, ReadResourceRequestParams, Resource,
    ResourceTemplate, ServerResult,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use tool_runtime_core::seam::{Redactor, as_json_in_place, has_secret};
use tool_runtime_core::{ResourceContents, ResourceDefinition};

/// Limit on the resources of a kind.
const MAX_RESOURCES: usize = 1000;
/// Limit on the pages of a list.
const MAX_PAGES: usize = 100;
/// Limit on listing the resources of one server.
const LIST_TIMEOUT: Duration = Duration::from_secs(60);

/// The resources of a server.
#[derive(Default)]
pub(super) struct ResourceListing {
    pub(super) resources: Vec<Resource>,
    pub(super) templates: Vec<ResourceTemplate>,
    pub(super) problem: Option<String>,
}

/// Lists all resources of a server.
pub(super) async fn list_resources(server: &std::sync::Arc<Server>) -> ResourceListing {
    let mut offer = ResourceListing::default();
    let until = Instant::now() + LIST_TIMEOUT;
    let result = timeout_at(until, ask(server, &mut offer, until)).await;
    offer.problem = result.unwrap_or_else(|_| Err("it did not answer in time".to_owned())).err();
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
    pages(server, Kind::Resources, until, |page| match page {
        ServerResult::ListResourcesResult(page) => {
            Some((add(&mut offer.resources, page.resources), page.next_cursor))
        }
        _ => None,
    })
    .await?;
    pages(server, Kind::Templates, until, |page| match page {
        ServerResult::ListResourceTemplatesResult(page) => {
            Some((add(&mut offer.templates, page.resource_templates), page.next_cursor))
        }
        _ => None,
    })
    .await
}

/// Adds items up to the limit. `false` if some were left out.
fn add<T>(all: &mut Vec<T>, more: Vec<T>) -> bool {
    let room = MAX_RESOURCES - all.len();
    let is_all = more.len() <= room;
    all.extend(more.into_iter().take(room));
    is_all
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

/// Requests all pages of a kind. `take` adds a page, and returns whether more items may be added and the next cursor.
async fn pages(
    server: &Server,
    kind: Kind,
    until: Instant,
    mut take: impl FnMut(ServerResult) -> Option<(bool, Option<String>)>,
) -> Result<(), String> {
    let connection = server.connection().await.map_err(|error| error.to_string())?;
    if connection.capabilities().is_none_or(|can| can.resources.is_none()) {
        return Ok(());
    }
    let timeouts = RequestTimeouts { idle: LIST_TIMEOUT, until: Some(until) };
    let (mut cursor, mut seen) = (None, HashSet::new());
    for _ in 0..MAX_PAGES {
        let answer = connection.request(kind.request(cursor), timeouts).await;
        let page = answer.map_err(|failure| failure_text(server, &failure))?;
        match take(page) {
            None => return Err("its answer is not a list".to_owned()),
            Some((false, _)) => {
                return Err(format!("it has more than {MAX_RESOURCES}; the first are listed"));
            }
            Some((true, None)) => return Ok(()),
            Some((true, Some(next))) if !seen.insert(next.clone()) => {
                return Err("its list repeats an earlier page".to_owned());
            }
            Some((true, next)) => cursor = next,
        }
    }
    Err(format!("its list has more than {MAX_PAGES} pages"))
}

/// Reads one resource.
pub(super) async fn contents(server: &Server, uri: &str) -> Result<Vec<ResourceContents>, String> {
    let until = Instant::now() + LIST_TIMEOUT;
    let read = async {
        let connection = server.connection().await.map_err(|error| error.to_string())?;
        let request = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
        let timeouts = RequestTimeouts { idle: LIST_TIMEOUT, until: Some(until) };
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
        _ => Err("its answer has no contents".to_owned()),
    }
}

fn failure_text(server: &Server, failure: &Failure) -> String {
    match failure {
        Failure::Unsent(_) => "the connection has ended".to_owned(),
        Failure::Lost(why) | Failure::Unauthorized(why) => server.shown(why),
        Failure::Rejected(error) => server.shown(&error.message),
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
