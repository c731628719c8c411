//! MCP hints of a tool and of a toolset.

use darling::FromMeta;
use darling::util::SpannedValue;
use proc_macro2::Span;

/// A hint and its span.
pub(crate) type Hint = Option<SpannedValue<bool>>;

/// All hints of one attribute.
#[derive(Clone, Copy, Default, FromMeta)]
pub(crate) struct Hints {
    pub(crate) read_only: Hint,
    pub(crate) destructive: Hint,
    pub(crate) idempotent: Hint,
    pub(crate) open_world: Hint,
}

impl Hints {
    /// The hints of a method, completed by those of its toolset. A hint of the toolset that
    /// contradicts one of the method is dropped.
    pub(crate) fn or(self, shared: Self) -> Self {
        Self {
            read_only: self.read_only.or(unless(self.destructive, shared.read_only)),
            destructive: self.destructive.or(unless(self.read_only, shared.destructive)),
            idempotent: self.idempotent.or(shared.idempotent),
            open_world: self.open_world.or(shared.open_world),
        }
    }

    /// The span of `destructive` next to `read_only`.
    pub(crate) fn contradiction(&self) -> Option<Span> {
        let destructive = self.destructive.filter(|destructive| **destructive)?;
        is_given(self.read_only).then(|| destructive.span())
    }
}

fn unless(contrary: Hint, shared: Hint) -> Hint {
    shared.map(|shared| shared.map_ref(|given| *given && !is_given(contrary)))
}

/// Whether a hint is present and true.
pub(crate) fn is_given(hint: Hint) -> bool {
    hint.is_some_and(|given| *given)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(given: bool) -> Hint {
        Some(SpannedValue::new(given, Span::call_site()))
    }

    fn merged(own: Hints, shared: Hints) -> [Option<bool>; 2] {
        let hints = own.or(shared);
        [hints.read_only, hints.destructive].map(|hint| hint.map(SpannedValue::into_inner))
    }

    #[test]
    fn own_hints_override_shared_ones() {
        let none = Hints::default();
        let read_only = Hints { read_only: hint(true), ..none };
        let writes = Hints { read_only: hint(false), ..none };
        let destructive = Hints { destructive: hint(true), ..none };
        assert_eq!(merged(none, read_only), [Some(true), None]);
        assert_eq!(merged(writes, read_only), [Some(false), None]);
        assert_eq!(merged(destructive, read_only), [Some(false), Some(true)]);
        assert_eq!(merged(read_only, destructive), [Some(true), Some(false)]);
        assert!(destructive.or(read_only).contradiction().is_none());
    }
}
