//! The principal of a call.

use serde_json::{Map, Value};
use std::fmt;

/// The caller, as authenticated by the transport.
///
/// A tool gets it by a parameter `&Principal`, or by
/// [`ToolContext::principal`](crate::tool::ToolContext::principal). The principal is anonymous unless the caller has
/// authenticated: over stdio, and over HTTP without authentication.
///
/// ```
/// use tool_runtime::Principal;
/// use tool_runtime::prelude::*;
///
/// /// Name the caller.
/// #[tool(read_only)]
/// async fn whoami(caller: &Principal) -> String {
///     if caller.is_anonymous() { "anonymous".into() } else { caller.id().into() }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// assert_eq!(whoami(&Principal::anonymous()).await, "anonymous");
/// assert_eq!(whoami(&Principal::new("ada")).await, "ada");
/// # });
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct Principal {
    id: String,
    scopes: Vec<String>,
    /// Whether the scopes of tools are enforced: not for the owner of the process.
    is_restricted: bool,
    claims: Map<String, Value>,
}

impl Principal {
    /// An anonymous caller: no id, no scopes, no claims. Over stdio this is the user who started
    /// the process, so it may call [tools with scopes](Self::may_use).
    pub fn anonymous() -> Self {
        Self::default()
    }

    /// A caller with a stable id; an empty one is anonymous.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), is_restricted: true, ..Self::default() }
    }

    /// Sets the scopes of the caller. Default: none.
    #[must_use]
    pub fn with_scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets more data of the principal, such as a token's claims. Default: none.
    #[must_use]
    pub fn with_claims(mut self, claims: Map<String, Value>) -> Self {
        self.claims = claims;
        self
    }

    /// The id; empty if anonymous.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether the caller is not authenticated.
    pub fn is_anonymous(&self) -> bool {
        self.id.is_empty()
    }

    /// The granted scopes, in the order in which they were given.
    pub fn scopes(&self) -> &[String] {
        &self.scopes
    }

    /// Whether the caller has this scope.
    ///
    /// ```
    /// # use tool_runtime::Principal;
    /// let ada = Principal::new("ada").with_scopes(["notes:read"]);
    /// assert!(ada.has_scope("notes:read"));
    /// assert!(!ada.has_scope("notes:write"));
    /// ```
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|own| own == scope)
    }

    /// Whether the scopes of tools are enforced for the caller: not for the owner of the process, who is
    /// [anonymous](Self::anonymous). A program that stores a principal stores this, too.
    ///
    /// ```
    /// # use tool_runtime::Principal;
    /// assert!(Principal::new("ada").is_restricted());
    /// assert!(!Principal::anonymous().is_restricted());
    /// assert!(Principal::anonymous().restricted().is_restricted());
    /// ```
    pub fn is_restricted(&self) -> bool {
        self.is_restricted
    }

    /// The same caller, for whom the scopes of tools are enforced also if it is anonymous.
    #[must_use]
    pub fn restricted(self) -> Self {
        Self { is_restricted: true, ..self }
    }

    /// Other claims.
    pub fn claims(&self) -> &Map<String, Value> {
        &self.claims
    }
}

/// Claims may be private: only their names are shown.
impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let claims: Vec<&String> = self.claims.keys().collect();
        f.debug_struct("Principal")
            .field("id", &self.id)
            .field("scopes", &self.scopes)
            .field("claims", &claims)
            .finish()
    }
}
