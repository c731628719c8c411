//! One question to a server.

use super::documents::{SyncError, Synced};
use super::error::LspError;
use super::hits::{self, Hit};
use super::operation::{LspOperation, Request};
use super::position::Lines;
use super::server::Server;
use super::servers::failed;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Functions at one position whose calls are asked for.
const MAX_FUNCTIONS: usize = 10;
/// Time for a server to publish the diagnostics of a file.
const DIAGNOSTICS: Duration = Duration::from_secs(30);

/// Time to publish them again when files changed. Some servers publish only what changed.
const AFTER_CHANGES: Duration = Duration::from_secs(5);

/// The response of a server.
#[derive(Default)]
pub(super) struct Response {
    pub(super) hits: Vec<Hit>,
    pub(super) hover: Option<String>,
    pub(super) edit: Option<Value>,
    pub(super) notices: Vec<String>,
    /// The text at the position.
    pub(super) at: Option<String>,
}

/// Reads the locations of a response.
type ReadHits = fn(Value) -> Result<Vec<Hit>, LspError>;

/// A server, and the file of a call in it.
pub(super) struct Query<'q> {
    pub(super) server: &'q Server,
    pub(super) request: &'q Request,
    /// Relative to the root.
    pub(super) path: &'q Path,
    pub(super) language_id: &'q str,
    pub(super) limit: Duration,
}

impl Query<'_> {
    /// Asks the server, once it has read the file and the project.
    pub(super) async fn run(&self, language: &str) -> Result<Response, SyncError> {
        let operation = self.request.operation;
        if let Some(capability) = operation.capability().filter(|name| !self.server.can(name)) {
            let reason = format!("does not offer `{}` (it lacks `{capability}`)", operation.name());
            return Err(SyncError::File(failed(language, &reason)));
        }
        self.open().await?;
        let is_idle = self.server.idle().await;
        let mut found = self.find().await?;
        if !is_idle {
            found
                .notices
                .push("the server still reads the project; results may be missing".to_owned());
        }
        Ok(found)
    }

    /// Opens the document, and lets the server read it.
    async fn open(&self) -> Result<(), SyncError> {
        let server = self.server;
        let mut documents = server.documents.lock().await;
        if documents.is_settled(self.path) {
            return Ok(());
        }
        let opened = documents.sync(&server.connection, self.path, self.language_id).await?;
        drop(documents);
        server.settle(&opened).await;
        server.documents.lock().await.settled(self.path);
        Ok(())
    }

    async fn find(&self) -> Result<Response, SyncError> {
        let (server, request) = (self.server, self.request);
        // Held until the request is on its way, so that it sees these documents.
        let mut documents = server.documents.lock().await;
        let synced = documents.sync(&server.connection, self.path, self.language_id).await?;
        let lines = Lines::from_text(Arc::clone(&synced.text));
        let position = request.position(&lines, server.encoding).map_err(SyncError::File)?;
        if request.operation == LspOperation::Diagnostics && !server.can("diagnosticProvider") {
            drop(documents);
            return Ok(self.published(&synced).await);
        }
        let (method, params) = request.message(&synced.uri, position);
        let in_flight = server.connection.start(method, params).await?;
        drop(documents);
        let value = in_flight.finish(self.limit).await?;
        let found = self.read(value, &synced).await?;
        Ok(Response { at: request.text_at(&lines), ..found })
    }

    /// The response to the request.
    async fn read(&self, mut value: Value, synced: &Synced) -> Result<Response, LspError> {
        let hits = match self.request.operation {
            LspOperation::GoToDefinition
            | LspOperation::GoToImplementation
            | LspOperation::FindReferences => hits::locations(value)?,
            LspOperation::DocumentSymbol => hits::document_symbols(value, &synced.uri)?,
            LspOperation::WorkspaceSymbol => hits::workspace_symbols(value)?,
            LspOperation::Hover => {
                return Ok(Response { hover: hits::hover(value), ..Response::default() });
            }
            LspOperation::RenamePreview => {
                return Ok(Response { edit: Some(value), ..Response::default() });
            }
            LspOperation::Diagnostics => {
                let items: Option<Vec<_>> = hits::read(hits::member(&mut value, "items"))?;
                hits::diagnostics(items.unwrap_or_default(), &synced.uri)
            }
            LspOperation::PrepareCallHierarchy
            | LspOperation::IncomingCalls
            | LspOperation::OutgoingCalls => self.calls(value).await?,
        };
        Ok(Response { hits, ..Response::default() })
    }

    /// The calls of functions.
    async fn calls(&self, functions: Value) -> Result<Vec<Hit>, LspError> {
        let functions: Option<Vec<Value>> = hits::read(functions)?;
        let functions = functions.into_iter().flatten().take(MAX_FUNCTIONS);
        let (method, read): (_, ReadHits) = match self.request.operation {
            LspOperation::IncomingCalls => ("callHierarchy/incomingCalls", hits::incoming_calls),
            LspOperation::OutgoingCalls => ("callHierarchy/outgoingCalls", hits::outgoing_calls),
            _ => return functions.map(hits::call_item).collect(),
        };
        let mut calls = Vec::new();
        for function in functions {
            let params = json!({"item": function});
            calls.extend(read(self.server.connection.request(method, params, self.limit).await?)?);
        }
        Ok(calls)
    }

    /// The diagnostics that a server publishes by itself.
    async fn published(&self, synced: &Synced) -> Response {
        let path: &PathBuf = &synced.path;
        let status = self.server.connection.status();
        // Some servers publish nothing when a file has no diagnostics before and after a change.
        let limit = if synced.has_diagnostics { AFTER_CHANGES } else { DIAGNOSTICS };
        let mut limit = limit.min(self.limit);
        if let Some(count) = synced.changed_after {
            // A change of another file may change them or not.
            status.published(path, count, AFTER_CHANGES.min(self.limit)).await;
            if synced.has_diagnostics {
                limit = Duration::ZERO;
            }
        }
        let is_new = status.published_settled(path, synced.published_before, limit).await;
        let Some(latest) = status.latest(path).filter(|_| is_new || synced.has_diagnostics) else {
            let notice = "the server published no diagnostics in time".to_owned();
            return Response { notices: vec![notice], ..Response::default() };
        };
        let notice = (!is_new).then(|| {
            "the server published no diagnostics after the last change; these are from before it".to_owned()
        });
        Response {
            hits: hits::diagnostics(latest, &synced.uri),
            notices: notice.into_iter().collect(),
            ..Response::default()
        }
    }
}
