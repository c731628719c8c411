//! The tool `Config`.

use super::database::{failed, owner};
use super::settings::Settings;
use crate::builtins::{Family, Profile};
use crate::tool_output::ToolOutput;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use tool_runtime::prelude::*;

/// The actions of `Config`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum ConfigAction {
    /// Returns one setting.
    Get,
    /// Changes one setting.
    Set,
    /// Returns one setting to its default, or removes it.
    Unset,
    /// Returns all settings.
    List,
}

/// A setting.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Setting {
    /// The name.
    pub key: String,
    /// The value; absent if it is not set and has no default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// The result of `Config`: the setting, or all settings by name.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ConfigOutput {
    /// The settings.
    pub settings: Vec<Setting>,
}

impl fmt::Display for ConfigOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |setting: &Setting| match &setting.value {
            Some(value) => format!("{} = {value}", setting.key),
            None => format!("{} is not set", setting.key),
        };
        match self.settings.as_slice() {
            [] => f.write_str("no settings"),
            all => f.write_str(&all.iter().map(line).collect::<Vec<_>>().join("\n")),
        }
    }
}

/// The tool for settings. See [`Builtins::settings`](crate::Builtins::settings).
pub(crate) struct ConfigTools(Settings);

#[toolset(prefix = "", open_world = false, tags("specialist"), register = false)]
impl ConfigTools {
    /// Read and change your settings, which stay after this conversation. Do not store secrets in them.
    #[tool(name = "Config", read_only = false, destructive, idempotent)]
    async fn config(
        &self,
        /// The action.
        action: ConfigAction,
        /// Name of the setting. Not for `list`.
        key: Option<String>,
        /// New value, any JSON. For `set` only.
        value: Option<Value>,
        context: &ToolContext,
    ) -> Result<ToolOutput<ConfigOutput>, ToolError> {
        let settings = &self.0;
        if value.is_some() && action != ConfigAction::Set {
            return Err(ToolError::user("`value` is for the action `set` only"));
        }
        let output = match (action, key) {
            (ConfigAction::List, None) => {
                let all = settings.all(&owner(context.principal())).map_err(failed)?;
                let each = all.into_iter().map(|(key, value)| Setting { key, value: Some(value) });
                ConfigOutput { settings: each.collect() }
            }
            (ConfigAction::List, Some(_)) => {
                return Err(ToolError::user("`list` takes no `key`; use `get` for one setting"));
            }
            (_, None) => return Err(ToolError::user("`key` is missing; name the setting")),
            (ConfigAction::Get, Some(key)) => {
                settings.check_key(&key)?;
                let value = settings.value(&owner(context.principal()), &key).map_err(failed)?;
                ConfigOutput { settings: vec![Setting { key, value }] }
            }
            (ConfigAction::Set, Some(key)) => {
                let missing =
                    || ToolError::user("`value` is missing; use `unset` to remove a setting");
                settings.set(&key, value.ok_or_else(missing)?, context).await?
            }
            (ConfigAction::Unset, Some(key)) => settings.unset(&key, context).await?,
        };
        Ok(ToolOutput::from_display(output))
    }
}

impl Toolset for ConfigTools {
    type Params = ();

    /// The settings are state of the pool.
    async fn create((): (), context: &ToolContext) -> Result<Self, ToolError> {
        let missing = || ToolError::user("no settings; write `.state(settings)` on the pool");
        context.get::<Settings>().cloned().map(Self).ok_or_else(missing)
    }
}

impl ConfigTools {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self(settings.clone())
    }
}

impl Family for ConfigTools {
    fn tools_of(profile: Profile) -> &'static [&'static str] {
        match profile {
            Profile::Standard => &["Config"],
            Profile::OpenHands => &[],
        }
    }
}
