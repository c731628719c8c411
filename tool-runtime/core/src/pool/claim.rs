//! The exclusive right to set the tools of a source.

use super::core::Core;
use crate::tool::tool::source::Source;
use std::sync::Weak;

/// The right to set the tools of a source, until it is dropped.
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
