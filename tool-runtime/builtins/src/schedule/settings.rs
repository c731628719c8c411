//! Settings of callers.

use super::builder::ScheduleError;
use super::config::{ConfigOutput, Setting};
use super::create::check_secrets;
use super::database::{self, failed, owner};
use super::setting_key::SettingKey;
use super::text::nearest;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;
use tool_runtime::Principal;
use tool_runtime::prelude::*;
use tool_runtime_store::rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use tool_runtime_store::{Store, StoreError};

/// Bytes of a value.
const MAX_VALUE: usize = 16 * 1024;
/// Settings of one caller.
const MAX_SETTINGS: u32 = 200;

/// Settings by caller, in a SQLite file that several processes may share. Clones share everything.
///
/// Each principal has its own values. Without declared keys, callers choose names; with some, all others are errors.
///
/// ```
/// use serde_json::json;
/// use tool_runtime::Principal;
/// use tool_runtime::prelude::*;
/// use tool_runtime_builtins::schedule::{SettingKey, SettingKind, Settings};
/// use tool_runtime_builtins::{Builtins, Workspace};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let theme = SettingKey::new("theme", SettingKind::String).default_value(json!("dark"));
/// let settings = Settings::builder().key(theme).open()?;
/// let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build()?;
/// let pool = ToolPool::builder().install(Builtins::new(workspace).settings(&settings)).build()?;
///
/// pool.call(ToolCall::new("Config", r#"{ "action": "set", "key": "theme", "value": "light" }"#)).await;
/// assert_eq!(settings.get(&Principal::anonymous(), "theme")?, Some(json!("light")));
/// assert_eq!(settings.get(&Principal::new("ada"), "theme")?, Some(json!("dark")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Settings(Arc<Inner>);

struct Inner {
    store: Store,
    keys: BTreeMap<String, SettingKey>,
    /// Deleted after the store is closed.
    _directory: Option<TempDir>,
}

/// Assembles [`Settings`].
#[derive(Default)]
#[must_use = "a builder does nothing until the settings are opened"]
pub struct SettingsBuilder {
    file: Option<PathBuf>,
    keys: BTreeMap<String, SettingKey>,
}

impl SettingsBuilder {
    /// Sets the file, which may be that of a [`Schedule`](super::Schedule). Default: a temporary one, only for this
    /// process and as long as the settings live.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.file = Some(path.into());
        self
    }

    /// Declares a setting. Default: callers choose names.
    pub fn key(mut self, key: SettingKey) -> Self {
        self.keys.insert(key.name.clone(), key);
        self
    }

    /// Opens the file.
    ///
    /// # Errors
    /// The file cannot be opened or written, is damaged or of a newer version.
    pub fn open(self) -> Result<Settings, ScheduleError> {
        let (store, directory) = database::open(self.file)?;
        Ok(Settings(Arc::new(Inner { store, keys: self.keys, _directory: directory })))
    }
}

impl Settings {
    /// Settings without declared keys.
    pub fn builder() -> SettingsBuilder {
        SettingsBuilder::default()
    }

    /// The value of a principal, or else the default. `None` if there is neither.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn get(&self, principal: &Principal, key: &str) -> Result<Option<Value>, ScheduleError> {
        Ok(self.value(&owner(principal), key)?)
    }

    pub(super) fn value(&self, owner: &str, key: &str) -> Result<Option<Value>, StoreError> {
        let declared = self.0.keys.get(key);
        let default = declared.and_then(|declared| declared.default.clone());
        if declared.is_some_and(|declared| declared.is_read_only) {
            return Ok(default);
        }
        let query = "SELECT value FROM settings WHERE owner = ?1 AND key = ?2";
        let text: Option<String> = self.0.store.read(|connection| {
            connection.query_row(query, params![owner, key], |row| row.get(0)).optional()
        })?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()).or(default))
    }

    /// All values of an owner, with the defaults of those that are not set.
    pub(super) fn all(&self, owner: &str) -> Result<BTreeMap<String, Value>, StoreError> {
        let set = self.0.store.read(|connection: &Connection| {
            let mut query =
                connection.prepare("SELECT key, value FROM settings WHERE owner = ?1")?;
            let rows = query.query_map([owner], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<tool_runtime_store::rusqlite::Result<Vec<(String, String)>>>()
        })?;
        let set = set
            .into_iter()
            .map(|(key, text)| (key, serde_json::from_str(&text).unwrap_or_default()));
        let mut values: BTreeMap<String, Value> = set.collect();
        if !self.0.keys.is_empty() {
            values.retain(|key, _| self.0.keys.contains_key(key));
        }
        for key in self.0.keys.values() {
            if key.is_read_only {
                values.remove(&key.name);
            }
            if let Some(default) = &key.default {
                values.entry(key.name.clone()).or_insert_with(|| default.clone());
            }
        }
        Ok(values)
    }

    /// # Errors
    /// The name cannot be that of a setting, or is not declared.
    pub(super) fn check_key(&self, key: &str) -> Result<Option<&SettingKey>, ToolError> {
        let is_allowed = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.');
        if key.is_empty() || key.len() > 100 || !key.chars().all(is_allowed) {
            let text = "`key` must be 1 to 100 letters, digits, `_`, `-` and `.`, for instance `editor.theme`";
            return Err(ToolError::user(text));
        }
        let keys = &self.0.keys;
        if keys.is_empty() {
            return Ok(None);
        }
        keys.get(key).map(Some).ok_or_else(|| {
            let all = || {
                format!(
                    "the settings are `{}`",
                    keys.keys().cloned().collect::<Vec<_>>().join("`, `")
                )
            };
            let hint = nearest(key, keys.keys().map(String::as_str)).unwrap_or_else(all);
            ToolError::user(format!("`{key}` is not a setting; {hint}"))
        })
    }

    pub(super) async fn set(
        &self,
        key: &str,
        value: Value,
        context: &ToolContext,
    ) -> Result<ConfigOutput, ToolError> {
        if let Some(declared) = self.changeable(key)?
            && !declared.kind.accepts(&value)
        {
            let text = format!("the value of `{key}` must be {}", declared.kind);
            return Err(ToolError::user(text));
        }
        let text = value.to_string();
        if text.len() > MAX_VALUE {
            let text = format!(
                "the value has {} bytes of JSON; at most {MAX_VALUE} are stored",
                text.len()
            );
            return Err(ToolError::user(text));
        }
        check_secrets(&text, "`value`", context)?;
        let (owner, name) = (owner(context.principal()), key.to_owned());
        let write = move |connection: &Transaction<'_>| {
            connection.execute(
                "INSERT INTO settings (owner, key, value) SELECT ?1, ?2, ?3
                 WHERE (SELECT count(*) FROM settings WHERE owner = ?1 AND key <> ?2) < ?4
                 ON CONFLICT (owner, key) DO UPDATE SET value = ?3",
                params![owner, name, text, MAX_SETTINGS],
            )
        };
        if self.0.store.write(write).await.map_err(failed)? == 0 {
            let text =
                format!("you have {MAX_SETTINGS} settings, which is the limit; unset one first");
            return Err(ToolError::user(text));
        }
        let setting = Setting { key: key.to_owned(), value: Some(value) };
        Ok(ConfigOutput { settings: vec![setting] })
    }

    pub(super) async fn unset(
        &self,
        key: &str,
        context: &ToolContext,
    ) -> Result<ConfigOutput, ToolError> {
        self.changeable(key)?;
        let (owner, name) = (owner(context.principal()), key.to_owned());
        let delete = "DELETE FROM settings WHERE owner = ?1 AND key = ?2";
        let write = {
            let owner = owner.clone();
            move |connection: &Transaction<'_>| connection.execute(delete, params![owner, name])
        };
        self.0.store.write(write).await.map_err(failed)?;
        let value = self.value(&owner, key).map_err(failed)?;
        Ok(ConfigOutput { settings: vec![Setting { key: key.to_owned(), value }] })
    }

    /// # Errors
    /// The key is not declared, or read-only.
    fn changeable(&self, key: &str) -> Result<Option<&SettingKey>, ToolError> {
        match self.check_key(key)? {
            Some(declared) if declared.is_read_only => Err(ToolError::user(format!(
                "`{key}` is set by the operator and cannot be changed"
            ))),
            declared => Ok(declared),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("keys", &self.0.keys.keys()).finish_non_exhaustive()
    }
}
