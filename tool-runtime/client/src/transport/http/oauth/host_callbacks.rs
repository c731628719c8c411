//! Callbacks of the host: show a page, store tokens.

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex};
use tool_runtime_core::seam::lock;
use tool_runtime_core::vocabulary::{BoxFuture, Secret};

type AnyError = Box<dyn Error + Send + Sync>;

/// A page on which the user authorizes this program to access a server.
///
/// The page redirects to [`Self::redirect_uri`]. On this machine, which is the default, the library itself
/// receives the redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpAuthPage {
    /// The server's name.
    pub server: String,
    /// The page: an address of scheme `https`, or `http` on this machine or on a server that uses `http`
    /// itself. The server has chosen it: show the user the address before they open it.
    pub url: String,
    /// The redirect address.
    pub redirect_uri: String,
}

/// Stores the tokens of servers between runs of the program, for example in a keyring.
///
/// ```
/// use std::collections::HashMap;
/// use std::sync::Mutex;
/// use tool_runtime::mcp::McpTokens;
/// use tool_runtime::{BoxFuture, Secret};
///
/// #[derive(Default)]
/// struct Kept(Mutex<HashMap<String, Secret>>);
///
/// impl McpTokens for Kept {
///     fn load<'a>(
///         &'a self,
///         server: &'a str,
///     ) -> BoxFuture<'a, Result<Option<Secret>, Box<dyn std::error::Error + Send + Sync>>> {
///         Box::pin(async move { Ok(self.0.lock().unwrap().get(server).cloned()) })
///     }
///
///     fn save<'a>(
///         &'a self,
///         server: &'a str,
///         tokens: Option<Secret>,
///     ) -> BoxFuture<'a, Result<(), Box<dyn std::error::Error + Send + Sync>>> {
///         Box::pin(async move {
///             let mut kept = self.0.lock().unwrap();
///             match tokens {
///                 Some(tokens) => drop(kept.insert(server.to_owned(), tokens)),
///                 None => drop(kept.remove(server)),
///             }
///             Ok(())
///         })
///     }
/// }
/// ```
pub trait McpTokens: Send + Sync + 'static {
    /// Loads the credentials that were last saved for a server of this name.
    ///
    /// # Errors
    /// The store cannot be read.
    fn load<'a>(
        &'a self,
        server: &'a str,
    ) -> BoxFuture<'a, Result<Option<Secret>, Box<dyn Error + Send + Sync>>>;

    /// Saves the credentials for a server of this name as one text, or deletes them. The text is JSON in a
    /// format of this library; store it like a password.
    ///
    /// # Errors
    /// The store cannot be written.
    fn save<'a>(
        &'a self,
        server: &'a str,
        tokens: Option<Secret>,
    ) -> BoxFuture<'a, Result<(), Box<dyn Error + Send + Sync>>>;
}

/// Shows a page; returns the final redirect address, if it is known.
pub(crate) type ShowPage =
    dyn Fn(McpAuthPage) -> BoxFuture<'static, Result<Option<String>, AnyError>> + Send + Sync;

/// The host's callbacks for OAuth, for all servers.
#[derive(Clone)]
pub(crate) struct OAuthCallbacks(Arc<Mutex<Inner>>);

struct Inner {
    page: Option<Arc<ShowPage>>,
    tokens: Arc<dyn McpTokens>,
}

impl Default for OAuthCallbacks {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Inner { page: None, tokens: Arc::new(InMemory::default()) })))
    }
}

impl OAuthCallbacks {
    pub(crate) fn show_pages(&self, page: Arc<ShowPage>) {
        lock(&self.0).page = Some(page);
    }

    pub(crate) fn keep_tokens(&self, tokens: Arc<dyn McpTokens>) {
        lock(&self.0).tokens = tokens;
    }

    pub(super) fn page(&self) -> Option<Arc<ShowPage>> {
        lock(&self.0).page.clone()
    }

    pub(super) fn tokens(&self) -> Arc<dyn McpTokens> {
        Arc::clone(&lock(&self.0).tokens)
    }
}

/// Keeps tokens in memory until the manager is dropped.
#[derive(Default)]
struct InMemory(Mutex<HashMap<String, Secret>>);

impl McpTokens for InMemory {
    fn load<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<Option<Secret>, AnyError>> {
        let stored = lock(&self.0);
        let tokens = stored.get(server).cloned();
        Box::pin(async { Ok(tokens) })
    }

    fn save<'a>(
        &'a self,
        server: &'a str,
        tokens: Option<Secret>,
    ) -> BoxFuture<'a, Result<(), AnyError>> {
        let mut stored = lock(&self.0);
        match tokens {
            Some(tokens) => drop(stored.insert(server.to_owned(), tokens)),
            None => drop(stored.remove(server)),
        }
        Box::pin(async { Ok(()) })
    }
}
