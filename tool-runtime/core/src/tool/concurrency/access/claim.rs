//! Claims that the scheduler compares.

use super::Access;

/// The resources that one call claims while it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) access: Access,
    /// The tool's own hint; only read where the access is undeclared.
    pub(crate) is_read_only: bool,
}

impl Claim {
    /// Whether the two must not run concurrently. An undeclared access is only known to be read-only
    /// or not.
    pub(crate) fn conflicts_with(&self, other: &Self) -> bool {
        if self.access.is_declared() && other.access.is_declared() {
            return self.access.conflicts_with(&other.access);
        }
        !(self.only_reads() && other.only_reads())
    }

    /// Whether the call only reads. Two such calls never conflict.
    pub(crate) fn only_reads(&self) -> bool {
        if self.access.is_declared() { self.access.writes.is_empty() } else { self.is_read_only }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(access: Access) -> Claim {
        Claim { access, is_read_only: false }
    }

    fn undeclared(is_read_only: bool) -> Claim {
        Claim { access: Access::undeclared(), is_read_only }
    }

    #[test]
    fn declared_claims_conflict_by_their_keys() {
        let write = declared(Access::none().write("k:1"));
        assert!(write.conflicts_with(&declared(Access::none().read("k:1"))));
        assert!(!write.conflicts_with(&declared(Access::none().write("k:2"))));
        assert!(!write.conflicts_with(&declared(Access::none())));
    }

    #[test]
    fn undeclared_calls_conflict_with_all_but_readers() {
        let read = declared(Access::none().read("k:1"));
        let write = declared(Access::none().write("k:1"));
        assert!(undeclared(false).conflicts_with(&undeclared(false)));
        assert!(undeclared(false).conflicts_with(&undeclared(true)));
        assert!(
            undeclared(false).conflicts_with(&read)
                && undeclared(false).conflicts_with(&declared(Access::none()))
        );
        assert!(undeclared(true).conflicts_with(&write) && write.conflicts_with(&undeclared(true)));
        assert!(!undeclared(true).conflicts_with(&undeclared(true)));
        assert!(
            !undeclared(true).conflicts_with(&read)
                && !undeclared(true).conflicts_with(&declared(Access::none()))
        );
    }

    #[test]
    fn declared_keys_have_priority_over_the_read_only_hint() {
        let write = Claim { access: Access::none().write("k:1"), is_read_only: true };
        assert!(write.conflicts_with(&undeclared(true)));
    }
}
