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
    /// Whether the two must not run at once. Of what is undeclared nothing is known but whether
    /// it only reads.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        if self.access.is_declared() && other.access.is_declared() {
            return self.access.meets(&other.access);
        }
        !(self.only_reads() && other.only_reads())
    }

    fn only_reads(&self) -> bool {
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
    fn declared_claims_meet_by_their_keys() {
        let write = declared(Access::none().write("k:1"));
        assert!(write.meets(&declared(Access::none().read("k:1"))));
        assert!(!write.meets(&declared(Access::none().write("k:2"))));
        assert!(!write.meets(&declared(Access::none())));
    }

    #[test]
    fn what_is_undeclared_meets_all_but_readers() {
        let read = declared(Access::none().read("k:1"));
        let write = declared(Access::none().write("k:1"));
        assert!(undeclared(false).meets(&undeclared(false)));
        assert!(undeclared(false).meets(&undeclared(true)));
        assert!(
            undeclared(false).meets(&read) && undeclared(false).meets(&declared(Access::none()))
        );
        assert!(undeclared(true).meets(&write) && write.meets(&undeclared(true)));
        assert!(!undeclared(true).meets(&undeclared(true)));
        assert!(
            !undeclared(true).meets(&read) && !undeclared(true).meets(&declared(Access::none()))
        );
    }

    #[test]
    fn keys_speak_louder_than_read_only() {
        let write = Claim { access: Access::none().write("k:1"), is_read_only: true };
        assert!(write.meets(&undeclared(true)));
    }
}
