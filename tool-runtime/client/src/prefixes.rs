//! Owners of id prefixes: an id belongs to the server with its longest prefix.

use std::sync::{Arc, Mutex, MutexGuard};
use tool_runtime_core::seam::lock;

/// The prefixes of all servers of a manager.
#[derive(Default)]
pub(super) struct Prefixes(Mutex<Vec<Arc<Prefix>>>);

/// The prefix of a server's tools, reserved until it is dropped.
pub(super) struct Prefix {
    server: String,
    text: String,
    all: Arc<Prefixes>,
}

impl Prefixes {
    pub(super) fn take(self: &Arc<Self>, server: &str, text: String) -> TakenPrefix {
        let prefix = Arc::new(Prefix { server: server.to_owned(), text, all: Arc::clone(self) });
        self.all().push(Arc::clone(&prefix));
        TakenPrefix(prefix)
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<Prefix>>> {
        lock(&self.0)
    }
}

/// Dropped, it is free again.
pub(super) struct TakenPrefix(Arc<Prefix>);

impl TakenPrefix {
    pub(super) fn text(&self) -> &str {
        &self.0.text
    }

    /// The other server that an id belongs to, if it does.
    pub(super) fn owner(&self, id: &str) -> Option<String> {
        let all = self.0.all.all();
        let longer = all.iter().filter(|other| other.text.len() > self.text().len());
        longer.filter(|other| other.holds(id)).map(|other| other.server.clone()).next()
    }
}

impl Prefix {
    fn holds(&self, id: &str) -> bool {
        let begins = |part: &str| part.eq_ignore_ascii_case(&self.text);
        id.get(..self.text.len()).is_some_and(begins) && id[self.text.len()..].starts_with('.')
    }
}

impl Drop for TakenPrefix {
    fn drop(&mut self) {
        self.0.all.all().retain(|other| !Arc::ptr_eq(other, &self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_belongs_to_the_longest_prefix() {
        let all = Arc::new(Prefixes::default());
        let none = all.take("none", String::new());
        let git = all.take("git", "git".to_owned());
        assert_eq!(git.owner("git.hub.push"), None);
        let hub = all.take("hub", "Git.Hub".to_owned());
        assert_eq!(git.owner("git.hub.push").as_deref(), Some("hub"));
        assert_eq!((git.owner("git.hubs"), hub.owner("git.hub.push")), (None, None));
        assert_eq!((none.owner("git"), none.owner("git.x").as_deref()), (None, Some("git")));
        drop(hub);
        assert_eq!(git.owner("git.hub.push"), None);
    }
}
