//! Pages of lists, and their cache hints.

use rmcp::model::{self, ErrorData};
use std::ops::Range;
use std::time::Duration;
use tool_runtime_core::seam::excerpt;

/// Whether answers may be shared between users of a cache.
///
/// ```
/// use tool_runtime::CacheScope;
///
/// assert_ne!(CacheScope::Public, CacheScope::Private);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheScope {
    /// Anybody may be given the same answer.
    Public,
    /// Only the user who asked.
    Private,
}

/// How lists are served.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pagination {
    pub(super) size: usize,
    /// Without one, rmcp says what the specification's default is: nothing is fresh.
    pub(super) hint: Option<Hint>,
}

/// How long an answer is fresh, and for whom.
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

/// Enough for all but the largest pools: not every client turns pages.
impl Default for Pagination {
    fn default() -> Self {
        Self { size: 250, hint: None }
    }
}

/// One of the lists that a server has; a cursor is of one of them.
#[derive(Clone, Copy)]
pub(super) enum List {
    Tools = 1,
    Prompts,
    Resources,
    Templates,
}

impl Pagination {
    /// The page behind a cursor, and the cursor of the next one. Names are sorted.
    ///
    /// A cursor holds the last name that was given: what comes and goes meanwhile neither
    /// repeats nor hides other names.
    ///
    /// # Errors
    /// A cursor that this list never gave out.
    pub(super) fn page(
        self,
        list: List,
        count: usize,
        name: &dyn Fn(usize) -> String,
        cursor: Option<&str>,
    ) -> Result<(Range<usize>, Option<String>), ErrorData> {
        let begin = match cursor {
            None => 0,
            Some(cursor) => {
                let last = opened(list, cursor).ok_or_else(|| unknown(cursor))?;
                position_after(count, name, last)
            }
        };
        let end = begin.saturating_add(self.size).min(count);
        let next = (end < count).then(|| sealed(list, &name(end - 1)));
        Ok((begin..end, next))
    }
}

/// The first place whose name comes after `last`.
fn position_after(count: usize, name: &dyn Fn(usize) -> String, last: &str) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if name(middle).as_str() <= last { low = middle + 1 } else { high = middle }
    }
    low
}

/// The sum keeps cursors apart from everything else that a client could send.
fn sealed(list: List, last: &str) -> String {
    format!("{:08x}{last}", sum(list, last))
}

fn opened(list: List, cursor: &str) -> Option<&str> {
    let last = cursor.get(8..)?;
    (sealed(list, last) == cursor).then_some(last)
}

/// FNV-1a, of 32 bits.
fn sum(list: List, text: &str) -> u32 {
    let mix = |sum: u32, byte: u8| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    std::iter::once(list as u8).chain(text.bytes()).fold(0x811c_9dc5, mix)
}

fn unknown(cursor: &str) -> ErrorData {
    let cursor = excerpt(cursor);
    let message = format!("unknown cursor {cursor:?}; list without a cursor to begin anew");
    ErrorData::invalid_params(message, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|n| format!("n{n:03}")).collect()
    }

    fn walk(paging: Pagination, names: &[String]) -> Vec<usize> {
        let (mut cursor, mut sizes, mut seen) = (None::<String>, Vec::new(), 0);
        loop {
            let name = |index: usize| names[index].clone();
            let page = paging.page(List::Tools, names.len(), &name, cursor.as_deref());
            let (range, next) = page.expect("a cursor of ours");
            assert_eq!(range.start, seen);
            seen = range.end;
            sizes.push(range.len());
            match next {
                Some(next) => cursor = Some(next),
                None => return sizes,
            }
        }
    }

    #[test]
    fn pages_hold_everything_once() {
        let paging = |size| Pagination { size, hint: None };
        assert_eq!(walk(paging(3), &names(7)), [3, 3, 1]);
        assert_eq!(walk(paging(3), &names(6)), [3, 3]);
        assert_eq!(walk(paging(3), &[]), [0]);
        assert_eq!(walk(paging(1), &names(2)), [1, 1]);
    }

    #[test]
    fn a_cursor_outlives_what_it_stands_on() {
        let before = names(6);
        let paging = Pagination { size: 2, hint: None };
        let (_, next) = paging.page(List::Tools, 6, &|index| before[index].clone(), None).unwrap();
        let after: Vec<String> = before.into_iter().filter(|name| name != "n001").collect();
        let (range, _) =
            paging.page(List::Tools, 5, &|index| after[index].clone(), next.as_deref()).unwrap();
        assert_eq!(after[range.start], "n002");
    }

    #[test]
    fn nothing_but_a_cursor_of_the_same_list_is_one() {
        let paging = Pagination { size: 1, hint: None };
        let names = names(3);
        let name = |index: usize| names[index].clone();
        let (_, cursor) = paging.page(List::Tools, 3, &name, None).unwrap();
        for wrong in ["", "1", "zzzzzzzzn000", "ääää", "00000000n000"] {
            assert!(paging.page(List::Tools, 3, &name, Some(wrong)).is_err(), "{wrong}");
        }
        assert!(paging.page(List::Prompts, 3, &name, cursor.as_deref()).is_err());
    }
}
