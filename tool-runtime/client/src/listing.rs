//! Lists a server's tools page by page, within limits.

use super::connection::Connection;
use super::failure::Failure;
use super::in_words::in_words;
use super::request_timeouts::RequestTimeouts;
use super::verbatim;
use rmcp::model::{
    ClientRequest, CustomResult, ErrorCode, ErrorData, ListToolsRequest, PaginatedRequestParams,
    ServerResult,
};
use serde_json::Value;
use std::collections::HashSet;
use std::fmt;
use std::time::Duration;
use tokio::task::coop::consume_budget;
use tokio::time::Instant;

/// Limits on a list.
const MAX_PAGES: usize = 1000;
const MAX_TOOLS: usize = 10_000;
/// Limit on the JSON of a list; in memory it takes about ten times as much.
const MAX_BYTES: usize = 8 << 20;

/// The tools of a server.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) tools: Vec<ListedTool>,
    /// Problems of the whole list.
    pub(super) problems: Vec<String>,
    /// The reason why other pages are missing, if one failed.
    pub(super) gap: Option<String>,
    /// Whether calls repeat marked arguments as headers.
    pub(super) has_param_headers: bool,
}

/// An entry of the list, valid or not.
#[derive(Debug)]
pub(super) struct ListedTool(pub(super) Value);

/// A page of the list.
struct Page {
    tools: Vec<ListedTool>,
    next: Option<String>,
}

/// Requests all pages. If another page fails, the first ones stay.
///
/// # Errors
/// The connection ended, or the first page has no answer or one that is not a list.
pub(super) async fn list(connection: &Connection, within: Duration) -> Result<Listing, Failure> {
    let until = Instant::now().checked_add(within);
    let timeouts = RequestTimeouts { idle: within, until };
    let (mut cursor, mut seen) = (None::<String>, HashSet::new());
    let (mut names, mut bytes) = (HashSet::new(), 0);
    let has_param_headers = connection.has_param_headers();
    let mut listing = Listing { has_param_headers, ..Listing::default() };
    for _ in 0..MAX_PAGES {
        let page = match page(connection, cursor.clone(), timeouts).await {
            Ok(page) => page,
            Err(failure) => return listing.ended_by(connection, cursor.as_deref(), failure),
        };
        for tool in page.tools {
            bytes += tool.0.to_string().len();
            consume_budget().await;
            if listing.tools.len() == MAX_TOOLS {
                return Ok(listing.truncate(format_args!("it lists more than {MAX_TOOLS} tools")));
            }
            if bytes > MAX_BYTES {
                return Ok(
                    listing.truncate(format_args!("its list is longer than {MAX_BYTES} bytes"))
                );
            }
            if names.insert(tool.name().to_owned()) {
                listing.tools.push(tool);
            } else {
                let problem = format!("it lists `{}` twice; the first is taken", tool.name());
                listing.problems.push(problem);
            }
        }
        bytes += page.next.as_ref().map_or(0, String::len);
        match page.next {
            None => return Ok(listing),
            Some(next) if !seen.insert(next.clone()) => {
                return Ok(listing.truncate(format_args!("its list repeats an earlier page")));
            }
            Some(next) => cursor = Some(next),
        }
    }
    Ok(listing.truncate(format_args!("its list has more than {MAX_PAGES} pages")))
}

impl Listing {
    /// What the failure of a page means for the pages before it.
    fn ended_by(
        mut self,
        connection: &Connection,
        cursor: Option<&str>,
        failure: Failure,
    ) -> Result<Self, Failure> {
        let why = match (&failure, cursor) {
            (_, None) | (Failure::Unsent(_) | Failure::Unauthorized(_), _) => return Err(failure),
            (Failure::Lost(_), _) if connection.is_closed() => return Err(failure),
            // Some servers write an empty cursor after the last page.
            (Failure::Rejected(_), Some("")) => return Ok(self),
            (Failure::Rejected(error), _) => error.message.to_string(),
            (Failure::Lost(why), _) => why.clone(),
            (Failure::Silent(_) | Failure::Late, _) => "it was not answered in time".to_owned(),
        };
        let gap = format!("a further page of its list failed: {why}");
        self.gap = Some(gap.clone());
        Ok(self.truncate(format_args!("{gap}")))
    }

    fn truncate(mut self, why: fmt::Arguments<'_>) -> Self {
        let count = self.tools.len();
        self.problems.push(format!("{why}; the first {count} tools are taken"));
        self
    }
}

impl ListedTool {
    /// The server's name of the tool.
    pub(super) fn name(&self) -> &str {
        self.0.get("name").and_then(Value::as_str).unwrap_or("(no name)")
    }
}

async fn page(
    connection: &Connection,
    cursor: Option<String>,
    timeouts: RequestTimeouts,
) -> Result<Page, Failure> {
    let params = PaginatedRequestParams::default().with_cursor(cursor);
    let request = ListToolsRequest { params: Some(params), ..ListToolsRequest::default() };
    let answer = connection.request(ClientRequest::ListToolsRequest(request), timeouts).await?;
    let mut list = match answer {
        ServerResult::ListToolsResult(list) => serde_json::to_value(list).unwrap_or_default(),
        ServerResult::CustomResult(CustomResult(list)) => verbatim::unwrapped(list),
        other => serde_json::to_value(other).unwrap_or_default(),
    };
    let tools = match list.get_mut("tools").map(Value::take) {
        Some(Value::Array(tools)) => tools,
        Some(Value::Null) => Vec::new(),
        Some(other) => return Err(unreadable("`tools` in its answer", &other)),
        None => return Err(unreadable("its answer", &list)),
    };
    let next = list.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
    Ok(Page { tools: tools.into_iter().map(ListedTool).collect(), next })
}

fn unreadable(what: &str, answer: &Value) -> Failure {
    let text = format!("{what} to `tools/list` is {}, not a list", in_words(answer));
    Failure::Rejected(ErrorData::new(ErrorCode::PARSE_ERROR, text, None))
}
