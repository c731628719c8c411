//! Pages of lists, and their cache hints.

use super::request::McpResult;
use rmcp::model::{self, ErrorData};
use std::time::Duration;
use tool_runtime_core::seam::excerpt;

/// Whether answers may be shared between users of a cache.
///
/// ```
/// use tool_runtime::mcp::CacheScope;
///
/// assert_ne!(CacheScope::Public, CacheScope::Private);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheScope {
    /// Every user may get the same answer.
    Public,
    /// Only the user who sent the request may get the answer again.
    Private,
}

/// Page size and cache hint of all lists.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pagination {
    pub(super) size: usize,
    /// Without a hint, rmcp sends the specification's default: nothing is fresh.
    pub(super) hint: Option<Hint>,
}

/// Freshness and scope of answers in a cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hint {
    pub(super) ttl_ms: u64,
    pub(super) scope: model::CacheScope,
}

impl Hint {
    pub(super) fn new(ttl: Duration, scope: CacheScope) -> Self {
        let scope = match scope {
            CacheScope::Public => model::CacheScope::Public,
            CacheScope::Private => model::CacheScope::Private,
        };
        Self { ttl_ms: u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX), scope }
    }
}

/// Enough for all but the largest pools: some clients read only the first page.
impl Default for Pagination {
    fn default() -> Self {
        Self { size: 250, hint: None }
    }
}

impl Pagination {
    /// The page after a cursor of the list `kind`, and the cursor of the next page. Items are sorted by
    /// name.
    ///
    /// A cursor contains the kind and the last name of its page: items added or removed meanwhile neither
    /// repeat nor hide others.
    ///
    /// # Errors
    /// The cursor is not one of this list.
    pub(super) fn page<'a, T>(
        self,
        kind: &str,
        items: &'a [T],
        name: impl Fn(&T) -> &str,
        cursor: Option<&str>,
    ) -> McpResult<(&'a [T], Option<String>)> {
        let begin = match cursor {
            None => 0,
            Some(cursor) => {
                let last = cursor.strip_prefix(kind).and_then(|rest| rest.strip_prefix(':'));
                let last = last.ok_or_else(|| unknown(cursor))?;
                items.partition_point(|item| name(item) <= last)
            }
        };
        let end = begin.saturating_add(self.size).min(items.len());
        let next = (end < items.len()).then(|| format!("{kind}:{}", name(&items[end - 1])));
        Ok((&items[begin..end], next))
    }
}

fn unknown(cursor: &str) -> ErrorData {
    let cursor = excerpt(cursor);
    let message = format!("unknown cursor {cursor:?}; list without a cursor to start again");
    ErrorData::invalid_params(message, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|n| format!("n{n:03}")).collect()
    }

    fn page(
        size: usize,
        names: &[String],
        cursor: Option<&str>,
    ) -> McpResult<(Vec<String>, Option<String>)> {
        let pagination = Pagination { size, hint: None };
        let page = pagination.page("tools", names, |name| name, cursor);
        page.map(|(page, next)| (page.to_vec(), next))
    }

    #[test]
    fn every_item_is_on_one_page() {
        for (size, count, pages) in [(3, 7, 3), (3, 6, 2), (3, 0, 1), (1, 2, 2)] {
            let names = names(count);
            let (mut cursor, mut seen) = (None, Vec::new());
            for _ in 0..pages {
                let (page, next) = page(size, &names, cursor.as_deref()).expect("a cursor of ours");
                seen.extend(page);
                cursor = next;
            }
            assert_eq!((seen, cursor), (names, None));
        }
    }

    #[test]
    fn a_cursor_is_valid_after_its_item_is_removed() {
        let mut names = names(6);
        let (_, next) = page(2, &names, None).unwrap();
        names.retain(|name| name != "n001");
        assert_eq!(page(2, &names, next.as_deref()).unwrap().0, ["n002", "n003"]);
    }

    #[test]
    fn only_a_cursor_of_the_same_list_is_valid() {
        for wrong in ["", "1", "n000", "prompts:n000", "ääää"] {
            assert!(page(1, &names(3), Some(wrong)).is_err(), "{wrong}");
        }
    }
}
