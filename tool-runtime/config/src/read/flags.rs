//! Whether a server is used.

use super::Reader;
use super::entry::Entry;

impl Reader<'_> {
    /// `enabled`, or `disabled` turned round. Default: enabled.
    pub(super) fn enabled(&mut self, entry: &mut Entry<'_>) -> bool {
        let enabled = self.flag(entry, &["enabled", "is_active"]);
        let disabled = self.flag(entry, &["disabled"]);
        if enabled.is_some() && enabled == disabled {
            let place = entry.place_of("disabled");
            self.findings.wrong(&place, "it contradicts `enabled`", "keep one of the two");
        }
        enabled.or(disabled.map(|disabled| !disabled)).unwrap_or(true)
    }
}
