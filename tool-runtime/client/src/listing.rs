//! Lists a server's tools page by page, within limits.

use super::as_it_came;
use super::connection::Connection;
use super::failure::Failure;
use super::request_timeouts::RequestTimeouts;
use super::yield_budget::YieldBudget;
use rmcp::model::{
    ClientRequest, CustomResult, ListToolsRequest, ListToolsResult, PaginatedRequestParams,
    ServerResult, Tool,
};
use serde_json::Value;
use std::collections::HashSet;
use std::fmt;
use std::time::Duration;
use tokio::time::Instant;
use tool_runtime_core::seam::unknown;

/// Limits on a list.
const MAX_PAGES: usize = 1000;
const MAX_TOOLS: usize = 10_000;
/// As JSON; in memory it is about ten times as long.
const MAX_BYTES: usize = 8 << 20;

/// The `_meta` key that carries members of a definition that rmcp does not know.
pub(super) const UNKNOWN: &str = "tool-runtime/unknown";

/// The tools of a server.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) tools: Vec<Listed>,
    /// Problems of the whole list.
    pub(super) problems: Vec<String>,
}

/// One entry of the list.
#[derive(Debug)]
pub(super) enum Listed {
    Tool(Box<Tool>),
    /// An entry that is not a tool.
    Odd {
        /// The name, where it has one.
        name: String,
        reason: String,
    },
}

/// A page as it came.
struct Page {
    tools: Vec<Listed>,
    next: Option<String>,
}

/// Asks for all pages.
///
/// # Errors
/// A page has no answer, or one that is not a list.
pub(super) async fn list(connection: &Connection, within: Duration) -> Result<Listing, Failure> {
    let until = Instant::now().checked_add(within);
    let timeouts = RequestTimeouts { idle: within, until };
    let (mut listing, mut cursor, mut seen) = (Listing::default(), None, HashSet::new());
    let (mut names, mut bytes, mut budget) = (HashSet::new(), 0, YieldBudget::default());
    for _ in 0..MAX_PAGES {
        let mut page = page(connection, cursor, timeouts).await?;
        page.leave_out(connection.notifications().take_odd());
        for tool in page.tools {
            bytes += tool.size();
            budget.keep().await;
            if listing.tools.len() == MAX_TOOLS {
                return Ok(listing.cut(format_args!("it lists more than {MAX_TOOLS} tools")));
            }
            if bytes > MAX_BYTES {
                return Ok(listing.cut(format_args!("its list is longer than {MAX_BYTES} bytes")));
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
                return Ok(
                    listing.cut(format_args!("its list comes back to a page it gave before"))
                );
            }
            Some(next) => cursor = Some(next),
        }
    }
    Ok(listing.cut(format_args!("its list has more than {MAX_PAGES} pages")))
}

impl Page {
    /// Keeps tools out that cannot be called.
    fn leave_out(&mut self, odd: Vec<(String, String)>) {
        for (name, reason) in odd {
            self.tools.retain(|tool| tool.name() != name);
            self.tools.push(Listed::Odd { name, reason });
        }
    }
}

impl Listing {
    fn cut(mut self, why: fmt::Arguments<'_>) -> Self {
        let count = self.tools.len();
        self.problems.push(format!("{why}; the first {count} tools are taken"));
        self
    }
}

impl Listed {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Tool(tool) => &tool.name,
            Self::Odd { name, .. } => name,
        }
    }

    /// Approximate size as JSON.
    fn size(&self) -> usize {
        match self {
            Self::Tool(tool) => serde_json::to_string(tool).map_or(0, |json| json.len()),
            Self::Odd { name, reason } => 1024 + name.len() + reason.len(),
        }
    }

    /// rmcp gives up a list for one odd entry.
    fn of(value: Value) -> Self {
        let name = value.get("name").and_then(Value::as_str).unwrap_or("(no name)").to_owned();
        let unknown = value.as_object().map(unknown).unwrap_or_default();
        match serde_json::from_value::<Tool>(value) {
            Ok(mut tool) => {
                if !unknown.is_empty() {
                    tool.meta.get_or_insert_default().0.insert(UNKNOWN.to_owned(), unknown.into());
                }
                Self::Tool(Box::new(tool))
            }
            Err(error) => Self::Odd { name, reason: error.to_string() },
        }
    }
}

async fn page(
    connection: &Connection,
    cursor: Option<String>,
    timeouts: RequestTimeouts,
) -> Result<Page, Failure> {
    let params = PaginatedRequestParams::default().with_cursor(cursor);
    let request = ListToolsRequest { params: Some(params), ..ListToolsRequest::default() };
    match connection.request(ClientRequest::ListToolsRequest(request), timeouts).await? {
        ServerResult::ListToolsResult(ListToolsResult { tools, next_cursor, .. }) => Ok(Page {
            tools: tools.into_iter().map(|tool| Listed::Tool(Box::new(tool))).collect(),
            next: next_cursor,
        }),
        ServerResult::CustomResult(CustomResult(value)) => {
            let mut value = as_it_came::unwrapped(value);
            let Some(Value::Array(tools)) = value.get_mut("tools").map(Value::take) else {
                return Err(Failure::Lost("its answer to `tools/list` is not a list".to_owned()));
            };
            let next = value.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            Ok(Page { tools: tools.into_iter().map(Listed::of).collect(), next })
        }
        _ => Err(Failure::Lost("its answer to `tools/list` is not a list".to_owned())),
    }
}
