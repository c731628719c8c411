//! A source whose tools one party alone sets while it has the claim.

use super::core::Core;
use crate::source::Source;
use std::sync::Weak;

/// The right to set the tools of a source. Dropped, it is given back.
pub struct Claim {
    core: Weak<Core>,
    source: Source,
}

impl Claim {
    pub(super) fn new(core: Weak<Core>, source: Source) -> Self {
        Self { core, source }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(core) = self.core.upgrade() {
            core.release(&self.source);
        }
    }
}
