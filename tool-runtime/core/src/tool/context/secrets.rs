//! The secrets of a pool: masked in its output, and expanded in arguments by tools.

use crate::schema::nearest::nearest;
use crate::vocabulary::mask::Mask;
use crate::vocabulary::secret::Secret;
use crate::vocabulary::secret::redactor::Redactor;
use crate::vocabulary::sync::lock;
use arc_swap::ArcSwapOption;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

/// The number of former values of a secret that are masked, too.
const MAX_FORMER: usize = 8;

/// Named secrets, shared by all clones. A pool masks them in everything that leaves it, see
/// [`ToolPoolBuilder::secrets`](crate::pool::ToolPoolBuilder::secrets); a tool expands them in a
/// [`SecretTemplate`]. Secrets may be added while the pool runs.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::Secret;
/// use tool_runtime::secret::Secrets;
///
/// /// Show the environment.
/// #[tool(read_only)]
/// async fn environment() -> &'static str {
///     "TOKEN=s3cret-key HOME=/root"
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let secrets = Secrets::new().with("TOKEN", Secret::from("s3cret-key"));
/// let pool = ToolPool::builder().tool::<EnvironmentAction>().secrets(secrets).build()?;
/// let result = pool.call(ToolCall::new("environment", "")).await;
/// assert_eq!(result.observation().to_text(), "TOKEN=${TOKEN} HOME=/root");
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Default)]
pub struct Secrets(Arc<Inner>);

#[derive(Default)]
struct Inner {
    entries: Mutex<Entries>,
    /// `None` after a change, until the next text is masked.
    redactor: ArcSwapOption<Redactor>,
}

#[derive(Default)]
struct Entries {
    /// The present value first, then former ones.
    named: BTreeMap<String, Vec<Secret>>,
    /// Masked only: a replacement and the secret.
    hidden: Vec<(String, String)>,
}

impl Secrets {
    /// An empty collection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a secret, as [`Self::insert`] does.
    #[must_use]
    pub fn with(self, name: impl Into<String>, secret: impl Into<Secret>) -> Self {
        self.insert(name, secret);
        self
    }

    /// Adds a secret, which is shown as `${NAME}` where it would be printed. A secret with the same
    /// name is replaced; its former values remain masked.
    pub fn insert(&self, name: impl Into<String>, secret: impl Into<Secret>) {
        let (mut entries, secret) = (lock(&self.0.entries), secret.into());
        let values = entries.named.entry(name.into()).or_default();
        values.retain(|value| *value != secret);
        values.insert(0, secret);
        values.truncate(1 + MAX_FORMER);
        self.0.redactor.store(None);
    }

    /// Masks further strings, each given with its replacement. Templates cannot refer to them.
    pub fn hide(&self, secrets: impl IntoIterator<Item = (String, String)>) {
        let mut entries = lock(&self.0.entries);
        for secret in secrets {
            if !entries.hidden.contains(&secret) {
                entries.hidden.push(secret);
            }
        }
        self.0.redactor.store(None);
    }

    /// A secret by its name.
    pub fn get(&self, name: &str) -> Option<Secret> {
        lock(&self.0.entries).named.get(name)?.first().cloned()
    }

    /// Masks the present secrets.
    pub fn redactor(&self) -> Arc<Redactor> {
        if let Some(redactor) = self.0.redactor.load_full() {
            return redactor;
        }
        let entries = lock(&self.0.entries);
        let named = entries.named.iter().flat_map(|(name, values)| {
            values.iter().map(move |value| (format!("${{{name}}}"), value.expose().to_owned()))
        });
        let redactor = Arc::new(Redactor::new(named.chain(entries.hidden.iter().cloned())));
        // Stored under the lock: a change after this clears it again.
        self.0.redactor.store(Some(Arc::clone(&redactor)));
        redactor
    }

    fn unknown(&self, name: &str) -> UnknownSecret {
        let entries = lock(&self.0.entries);
        let near = nearest(name, entries.named.keys().map(String::as_str), 1).first().copied();
        UnknownSecret { name: name.to_owned(), near: near.map(str::to_owned) }
    }
}

impl<N: Into<String>, S: Into<Secret>> FromIterator<(N, S)> for Secrets {
    fn from_iter<I: IntoIterator<Item = (N, S)>>(secrets: I) -> Self {
        secrets.into_iter().fold(Self::new(), |all, (name, secret)| all.with(name, secret))
    }
}

/// Only the names.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(lock(&self.0.entries).named.keys()).finish()
    }
}

impl Mask for Secrets {
    fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.redactor().text(text) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(masked) => Cow::Owned(masked),
        }
    }

    fn value(&self, value: &mut Value) {
        self.redactor().value(value);
    }

    fn split(&self, strings: &[&str]) -> Option<Vec<String>> {
        Mask::split(&*self.redactor(), strings)
    }

    fn base64<'a>(&self, data: &'a str) -> Cow<'a, str> {
        match Mask::base64(&*self.redactor(), data) {
            Cow::Borrowed(_) => Cow::Borrowed(data),
            Cow::Owned(masked) => Cow::Owned(masked),
        }
    }
}

/// An argument in which a model may name secrets: `Bearer ${GITHUB_TOKEN}`.
///
/// The text stays as the model wrote it in policies, approvals, records and logs. The tool expands it
/// when it uses it. Nothing else expands secrets: in a `String`, `${GITHUB_TOKEN}` is text.
///
/// A model can use every secret by its name, so a tool that sends the text to an address of the
/// model's choice should not take this type.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::Secret;
/// use tool_runtime::secret::{SecretTemplate, Secrets};
///
/// /// Fetch the issues of a project.
/// #[tool(read_only)]
/// async fn issues(
///     /// The header `Authorization`.
///     authorization: SecretTemplate,
///     secrets: &Secrets,
/// ) -> Result<(), ToolError> {
///     let header: Secret = authorization.expand(secrets)?;
///     assert_eq!(header.expose(), "Bearer 8fQm2x1v");
///     Ok(())
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let secrets = Secrets::new().with("TOKEN", "8fQm2x1v");
/// issues("Bearer ${TOKEN}".into(), &secrets).await.unwrap();
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, description = "`${NAME}` stands for the secret of that name.")]
pub struct SecretTemplate(String);

impl SecretTemplate {
    /// The text with its secrets. `$${` is an escape for `${`.
    ///
    /// # Errors
    /// A name that no secret has.
    pub fn expand(&self, secrets: &Secrets) -> Result<Secret, UnknownSecret> {
        let (mut expanded, mut rest) = (String::new(), self.0.as_str());
        while let Some((before, after)) = rest.split_once("${") {
            match (before.strip_suffix('$'), after.split_once('}')) {
                (None, Some((name, after))) => {
                    let secret = secrets.get(name).ok_or_else(|| secrets.unknown(name))?;
                    expanded.push_str(before);
                    expanded.push_str(secret.expose());
                    rest = after;
                }
                (literal, _) => {
                    expanded.push_str(literal.unwrap_or(before));
                    expanded.push_str("${");
                    rest = after;
                }
            }
        }
        expanded.push_str(rest);
        Ok(expanded.into())
    }

    /// The text as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for SecretTemplate {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for SecretTemplate {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// A name in a [`SecretTemplate`] that no secret has. The text is for the model.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not the name of a secret{}", .near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
pub struct UnknownSecret {
    name: String,
    near: Option<String>,
}

crate::debug_as_message!(UnknownSecret);
