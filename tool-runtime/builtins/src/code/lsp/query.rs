//! One call: from arguments to the answer of a server.

use super::documents::{SyncError, Synced};
use super::error::LspError;
use super::hits::{self, Hit};
use super::operation::{LspOperation, Request};
use super::output::LspOutput;
use super::places::Places;
use super::position::Lines;
use super::rename;
use super::server::Server;
use super::servers::{Servers, failed};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tool_runtime::ToolError;

/// Items of a result.
const MAX_ITEMS: usize = 200;
/// Characters of a hover.
const MAX_HOVER: usize = 8000;
/// Repetitions of a request that the server dropped because documents changed.
const MAX_REPEATS: u32 = 5;
const REPEAT_PAUSE: Duration = Duration::from_millis(200);
/// Functions at one position whose calls are asked for.
const MAX_FUNCTIONS: usize = 10;
/// Time for a server to publish the diagnostics of a file.
const DIAGNOSTICS: Duration = Duration::from_secs(15);

/// Time to publish them again when files changed. Some servers publish only what changed.
const AFTER_CHANGES: Duration = Duration::from_secs(3);

/// The answer of a server.
#[derive(Default)]
struct Found {
    hits: Vec<Hit>,
    hover: Option<String>,
    edit: Option<Value>,
    notices: Vec<String>,
    /// The text at the position.
    at: Option<String>,
}

/// Reads the places of an answer.
type ReadHits = fn(Value) -> Result<Vec<Hit>, LspError>;

/// A server, and the file of a call in it.
struct Query<'q> {
    server: &'q Server,
    request: &'q Request,
    /// Relative to the root.
    path: &'q Path,
    language_id: &'q str,
    limit: Duration,
}

impl Servers {
    /// Answers a call.
    pub(super) async fn ask(&self, request: &Request) -> Result<LspOutput, ToolError> {
        request.check()?;
        let location = self.workspace.resolve(&request.file_path)?;
        let (language, language_id) = self.language_of(location.path())?;
        let project = self.project(&location);
        let (root, path) =
            project.map_err(|error| ToolError::user(format!("`{location}`: {error}")))?;
        let mut repeats = 0;
        let (server, found) = loop {
            let server = self.get(language, &root).await?;
            let query =
                Query { server: &server, request, path: &path, language_id, limit: self.limit };
            let error = match query.run(language).await {
                Ok(found) => break (server, found),
                Err(SyncError::File(error)) => return Err(error),
                Err(SyncError::Server(error)) => error,
            };
            repeats += 1;
            match &error {
                // It is started again.
                LspError::Closed(_) if repeats == 1 => {}
                error if error.is_transient() && repeats <= MAX_REPEATS => {
                    tokio::time::sleep(REPEAT_PAUSE * repeats).await;
                }
                LspError::Closed(_) => {
                    let reason = server.closed().unwrap_or_else(|| error.to_string());
                    return Err(failed(language, &format!("ended during the call: {reason}")));
                }
                error => return Err(failed(language, &error.to_string())),
            }
        };
        self.output(request.operation, language, &server, found)
    }

    /// The language of a file, and the protocol's id of it.
    fn language_of(&self, path: &Path) -> Result<(&str, &str), ToolError> {
        let extension =
            path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let mut languages = self.languages.iter();
        let found = languages.find_map(|(name, server)| {
            Some((name.as_str(), server.extensions.get(extension)?.as_str()))
        });
        found.ok_or_else(|| {
            let known: Vec<String> = self
                .languages
                .values()
                .flat_map(|server| server.extensions.keys())
                .map(|name| format!("`.{name}`"))
                .collect();
            ToolError::user(format!(
                "there is no language server for `{}`; there are for {}",
                path.display(),
                known.join(", ")
            ))
        })
    }

    fn output(
        &self,
        operation: LspOperation,
        language: &str,
        server: &Arc<Server>,
        found: Found,
    ) -> Result<LspOutput, ToolError> {
        let mut places = Places::new(&self.workspace, server.encoding);
        let Found { hits, hover, edit, mut notices, at } = found;
        let mut total = hits.len();
        let items: Vec<_> = hits.into_iter().take(MAX_ITEMS).map(|hit| places.item(hit)).collect();
        if total > items.len() {
            notices.push(format!("{} more are not shown", total - items.len()));
        }
        let mut diff = None;
        if let Some(edit) = edit.filter(|edit| !edit.is_null()) {
            let preview = hits::read(edit)
                .and_then(|edit| rename::preview(edit, &mut places, server.encoding));
            let preview = preview.map_err(|error| failed(language, &error.to_string()))?;
            total = preview.places;
            notices.extend(preview.notices);
            diff = Some(preview.diff);
        }
        if items.is_empty() && hover.is_none() && diff.is_none() {
            notices.push(match at {
                Some(text) => format!("nothing was found for the position, which is at `{text}`"),
                None => "nothing was found".to_owned(),
            });
        }
        let hover = hover.map(|text| cut(text, &mut notices));
        Ok(LspOutput {
            operation,
            language: language.to_owned(),
            items,
            total,
            hover,
            diff,
            notices,
        })
    }
}

fn cut(text: String, notices: &mut Vec<String>) -> String {
    match text.char_indices().nth(MAX_HOVER) {
        Some((end, _)) => {
            notices.push("the rest of the text is not shown".to_owned());
            text[..end].to_owned()
        }
        None => text,
    }
}

impl Query<'_> {
    async fn run(&self, language: &str) -> Result<Found, SyncError> {
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

    async fn find(&self) -> Result<Found, SyncError> {
        let (server, request) = (self.server, self.request);
        // Held until the request is on its way, so that it sees these documents.
        let mut documents = server.documents.lock().await;
        let synced = documents.sync(&server.connection, self.path, self.language_id).await?;
        let lines = Lines::of(Arc::clone(&synced.text));
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
        Ok(Found { at: request.text_at(&lines), ..found })
    }

    /// The answer to the request.
    async fn read(&self, mut value: Value, synced: &Synced) -> Result<Found, LspError> {
        let hits = match self.request.operation {
            LspOperation::GoToDefinition
            | LspOperation::GoToImplementation
            | LspOperation::FindReferences => hits::locations(value)?,
            LspOperation::DocumentSymbol => hits::document_symbols(value, &synced.uri)?,
            LspOperation::WorkspaceSymbol => hits::workspace_symbols(value)?,
            LspOperation::Hover => {
                return Ok(Found { hover: hits::hover(value), ..Found::default() });
            }
            LspOperation::RenamePreview => {
                return Ok(Found { edit: Some(value), ..Found::default() });
            }
            LspOperation::Diagnostics => {
                let items: Option<Vec<_>> = hits::read(value["items"].take())?;
                hits::diagnostics(items.unwrap_or_default(), &synced.uri)
            }
            LspOperation::PrepareCallHierarchy
            | LspOperation::IncomingCalls
            | LspOperation::OutgoingCalls => self.calls(value).await?,
        };
        Ok(Found { hits, ..Found::default() })
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
    async fn published(&self, synced: &Synced) -> Found {
        let path: &PathBuf = &synced.path;
        let status = self.server.connection.status();
        if let Some(count) = synced.changed_after {
            // A change of another file may change them or not.
            status.published(path, count, AFTER_CHANGES.min(self.limit)).await;
        }
        let published = status
            .published_after(path, synced.published_before, DIAGNOSTICS.min(self.limit))
            .await;
        match published {
            Some(published) => Found {
                hits: hits::diagnostics(published.diagnostics, &synced.uri),
                ..Found::default()
            },
            None => {
                let notice = "the server published no diagnostics in time".to_owned();
                Found { notices: vec![notice], ..Found::default() }
            }
        }
    }
}
