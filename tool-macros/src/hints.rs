//! The MCP hints of a tool, and those that a toolset gives to all of its tools.

use crate::entries::Entries;
use crate::mistakes::Mistakes;
use proc_macro2::Span;

/// A hint that was given, and where.
pub(crate) type Hint = Option<(bool, Span)>;

/// All hints of one attribute.
#[derive(Clone, Copy, Default)]
pub(crate) struct Hints {
    pub(crate) read_only: Hint,
    pub(crate) destructive: Hint,
    pub(crate) idempotent: Hint,
    pub(crate) open_world: Hint,
}

impl Hints {
    /// Takes them out of the entries.
    pub(crate) fn parse(entries: &mut Entries, mistakes: &mut Mistakes) -> Self {
        Self {
            read_only: entries.flag("read_only", mistakes),
            destructive: entries.flag("destructive", mistakes),
            idempotent: entries.flag("idempotent", mistakes),
            open_world: entries.flag("open_world", mistakes),
        }
    }

    /// A method's own hints, and the shared ones where it has none. What is shared gives way
    /// to an own hint that contradicts it.
    pub(crate) fn over(self, shared: Self) -> Self {
        Self {
            read_only: self.read_only.or(unless(self.destructive, shared.read_only)),
            destructive: self.destructive.or(unless(self.read_only, shared.destructive)),
            idempotent: self.idempotent.or(shared.idempotent),
            open_world: self.open_world.or(shared.open_world),
        }
    }

    /// Where it says `destructive` beside `read_only`.
    pub(crate) fn contradiction(&self) -> Option<Span> {
        match (self.read_only, self.destructive) {
            (Some((true, _)), Some((true, span))) => Some(span),
            _ => None,
        }
    }
}

fn unless(contrary: Hint, shared: Hint) -> Hint {
    let is_contradicted = matches!(contrary, Some((true, _)));
    shared.map(|(given, span)| (given && !is_contradicted, span))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(given: bool) -> Hint {
        Some((given, Span::call_site()))
    }

    fn merged(own: Hints, shared: Hints) -> [Option<bool>; 2] {
        let hints = own.over(shared);
        [hints.read_only, hints.destructive].map(|hint| hint.map(|(given, _)| given))
    }

    #[test]
    fn own_hints_count_more_than_shared_ones() {
        let none = Hints::default();
        let read_only = Hints { read_only: said(true), ..none };
        let writes = Hints { read_only: said(false), ..none };
        let destructive = Hints { destructive: said(true), ..none };
        assert_eq!(merged(none, read_only), [Some(true), None]);
        assert_eq!(merged(writes, read_only), [Some(false), None]);
        assert_eq!(merged(destructive, read_only), [Some(false), Some(true)]);
        assert_eq!(merged(read_only, destructive), [Some(true), Some(false)]);
        assert!(destructive.over(read_only).contradiction().is_none());
    }
}
