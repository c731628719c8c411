//! The configuration of a server.

use super::McpManagerError;
use super::settings::Settings;
use super::slot::Slot;
use crate::connector::Connector;
use crate::publisher::{Publisher, PublisherOptions};
use crate::redactors::Redactors;
use crate::remote_tool::CallTimeouts;
use crate::resource_listing::RESOURCE_TIMEOUT;
use crate::server::{Server, Times, Watchers};
use crate::status::McpState;
use crate::transport::{HostCallbacks, TransportFactory};
use crate::{names, transport};
use std::collections::BTreeMap;
use std::sync::Arc;
use tool_runtime_config::{McpConfig, McpServerConfig};
use tool_runtime_core::pool::ToolPool;

/// A server before it has a slot.
pub(super) struct Entry {
    pub(super) name: Arc<str>,
    factory: Box<dyn TransportFactory>,
    config: Option<McpServerConfig>,
}

impl Entry {
    /// Creates an entry from a configuration.
    ///
    /// # Errors
    /// The entry is invalid, or this build lacks its transport.
    pub(super) fn from_config(
        name: &str,
        config: McpServerConfig,
        callbacks: &HostCallbacks,
    ) -> Result<Self, McpManagerError> {
        if config.enabled {
            check(name, &config)?;
        }
        let factory = transport::factory(name, &config, callbacks)
            .map_err(|problem| McpManagerError::NoTransport { name: name.to_owned(), problem })?;
        Ok(Self { name: name.into(), factory, config: Some(config) })
    }

    /// Creates an entry from code.
    pub(super) fn from_factory(name: &str, factory: Box<dyn TransportFactory>) -> Self {
        Self { name: name.into(), factory, config: None }
    }

    /// Makes a slot. `taken` has the names and prefixes of other servers.
    ///
    /// # Errors
    /// The prefix conflicts with that of another server, or another manager of the pool has a server of this name.
    pub(super) fn into_slot(
        self,
        settings: &Settings,
        pool: &ToolPool,
        watchers: &Arc<Watchers>,
        taken: &[(&str, &str)],
    ) -> Result<Slot, McpManagerError> {
        let Self { name, factory, config } = self;
        let configured = config.as_ref().and_then(|config| config.prefix.clone());
        let is_configured = configured.is_some();
        let prefix = configured.unwrap_or_else(|| names::prefix(&name));
        let prefix = settings.distinct_prefix(&name, prefix, taken)?;
        let notice = (!is_configured && prefix != *name).then(|| {
            format!("its tools are `{prefix}.…`: ids cannot contain its name; set `prefix` to choose another one")
        });
        let entry = config.as_ref();
        let times = Times {
            connect: entry
                .and_then(|config| config.connect_timeout)
                .unwrap_or(settings.connect_timeout),
            resources: entry.and_then(|config| config.call_timeout).unwrap_or(RESOURCE_TIMEOUT),
            backoff: settings.backoff,
        };
        let idle = entry.and_then(|config| config.call_timeout);
        let timeouts = CallTimeouts {
            idle: idle.unwrap_or(settings.call_timeout),
            // A longer limit of the entry extends the common one.
            max: idle
                .map_or(settings.max_call_duration, |idle| settings.max_call_duration.max(idle)),
            of_tools: entry.map_or_else(BTreeMap::new, |config| config.tool_timeouts.clone()),
        };
        let is_enabled = entry.is_none_or(|config| config.enabled);
        let state = if is_enabled { McpState::Connecting } else { McpState::Disabled };
        let redactors = Arc::new(Redactors::new(entry));
        if let (Some(secrets), Some(entry)) = (&settings.secrets, entry) {
            secrets.hide(entry.result_secrets());
        }
        let connector = Connector::new(
            Arc::clone(&name),
            Arc::clone(&redactors),
            factory,
            settings.client.clone(),
            settings.answerer.clone(),
        );
        let server = Server::new(
            Arc::clone(&name),
            redactors,
            connector,
            times,
            state,
            Arc::clone(watchers),
        );
        let is_trusted =
            entry.is_some_and(|config| config.trusted) || settings.trusted.contains(&*name);
        let options = PublisherOptions {
            prefix,
            notice,
            suffixes: settings.suffixes,
            timeouts,
            is_trusted,
            entry: entry.cloned(),
            approvals: Arc::clone(&settings.approvals),
        };
        let publisher = Publisher::new(pool.clone(), &name, options)
            .ok_or_else(|| McpManagerError::Known { name: name.to_string() })?;
        let is_required = entry.is_some_and(|config| config.required);
        Ok(Slot::new(Arc::new(server), publisher, config, is_required))
    }
}

/// Validates an entry as if it were enabled.
///
/// # Errors
/// The entry is invalid.
pub(super) fn check(name: &str, config: &McpServerConfig) -> Result<(), McpManagerError> {
    let alone = McpConfig::new().with(name, config.clone().enabled(true));
    alone.validate().map_err(McpManagerError::Config)
}
