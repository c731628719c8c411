//! One call: a server for the file, the question, the result.

use super::documents::SyncError;
use super::error::LspError;
use super::hits;
use super::operation::{LspOperation, Request};
use super::output::LspOutput;
use super::query::{Query, Response};
use super::rename;
use super::server::Server;
use super::servers::{Servers, failed};
use super::source_files::SourceFiles;
use super::text_search::TextSearch;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tool_runtime::{ToolContext, ToolError};

/// Items of a result.
const MAX_ITEMS: usize = 200;
/// Characters of a hover.
const MAX_HOVER: usize = 8000;
/// Repetitions of a request that the server dropped because documents changed.
const MAX_REPEATS: u32 = 5;
const REPEAT_PAUSE: Duration = Duration::from_millis(200);
/// Time for a server to start before the text is searched instead.
const START: Duration = Duration::from_secs(3);

impl Servers {
    /// Answers a call.
    pub(super) async fn ask(
        &self,
        request: &Request,
        context: &ToolContext,
    ) -> Result<LspOutput, ToolError> {
        request.check()?;
        let location = self.workspace.resolve(&request.file_path)?;
        let project = self.project(&location);
        let (root, path) =
            project.map_err(|error| ToolError::user(format!("`{location}`: {error}")))?;
        let search = |reason| TextSearch {
            workspace: &self.workspace,
            request,
            location: &location,
            project: (&root, &path),
            language: self.language_of(location.path()).map(|(language, _)| language),
            servers: &self.languages,
            reason,
        };
        let Some((language, language_id)) = self.language_of(location.path()) else {
            return search(&self.no_language(location.path())).run(context).await;
        };
        let patience = if request.operation.has_text_search() { START } else { Duration::MAX };
        let mut repeats = 0;
        let (server, found) = loop {
            let server = match self.get(language, &root, patience).await {
                Ok(server) => server,
                Err(error) => return search(error.message()).run(context).await,
            };
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
                LspError::Timeout(_) => {
                    let error = failed(language, &error.to_string());
                    let found = search(error.message()).run(context).await;
                    return found.or(Err(error));
                }
                error => return Err(failed(language, &error.to_string())),
            }
        };
        self.output(request.operation, language, &server, found)
    }

    /// The language of a file, and the protocol's id of it.
    fn language_of(&self, path: &Path) -> Option<(&str, &str)> {
        let extension = path.extension()?.to_str()?;
        let mut languages = self.languages.iter();
        languages.find_map(|(name, server)| {
            Some((name.as_str(), server.extensions.get(extension)?.as_str()))
        })
    }

    /// The reason why a file has no server.
    fn no_language(&self, path: &Path) -> String {
        let servers = self.languages.values();
        let known = servers.flat_map(|server| server.extensions.keys());
        let known: Vec<String> = known.map(|name| format!("`.{name}`")).collect();
        let path = path.display();
        format!("there is no language server for `{path}`; there are for {}", known.join(", "))
    }

    fn output(
        &self,
        operation: LspOperation,
        language: &str,
        server: &Arc<Server>,
        found: Response,
    ) -> Result<LspOutput, ToolError> {
        let mut files = SourceFiles::new(&self.workspace, server.encoding);
        let Response { hits, hover, edit, mut notices, at } = found;
        let mut total = hits.len();
        let items: Vec<_> = hits.into_iter().take(MAX_ITEMS).map(|hit| files.item(hit)).collect();
        if total > items.len() {
            notices.push(format!("{} more are not shown", total - items.len()));
        }
        let mut diff = None;
        if let Some(edit) = edit.filter(|edit| !edit.is_null()) {
            let preview = hits::read(edit)
                .and_then(|edit| rename::preview(edit, &mut files, server.encoding));
            let preview = preview.map_err(|error| failed(language, &error.to_string()))?;
            total = preview.count;
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
