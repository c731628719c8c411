//! MCP servers of skills in a program without the feature `mcp-client`: a skill that has some is
//! invalid.

use crate::error::SkillError;
use crate::loader::SkillLoader;
use crate::read::SERVERS;
use crate::skill::Skill;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use tool_runtime_core::pool::ToolPool;

#[derive(Debug, Default)]
pub(crate) struct Servers {}

impl Servers {
    pub(crate) fn is_empty(&self) -> bool {
        true
    }

    pub(crate) fn names(&self) -> Vec<String> {
        Vec::new()
    }
}

pub(crate) struct Finding {
    pub(crate) key: String,
    pub(crate) text: String,
    pub(crate) is_warning: bool,
}

pub(crate) fn read(_: &Value, _: &Path) -> (Servers, Vec<Finding>) {
    let text = format!(
        "this program cannot start the servers of `{SERVERS}`; build it with the feature `mcp-client` of `tool-runtime`"
    );
    (Servers {}, vec![Finding { key: SERVERS.to_owned(), text, is_warning: false }])
}

#[derive(Debug)]
pub(crate) enum Lease {}

pub(crate) struct SharedServers;

impl SharedServers {
    pub(crate) fn new(_: &SkillLoader) -> Self {
        Self
    }

    #[expect(clippy::unused_async, reason = "as with the feature")]
    pub(crate) async fn start(
        &self,
        _: &Skill,
        _: &ToolPool,
    ) -> Result<Vec<Arc<Lease>>, SkillError> {
        Ok(Vec::new())
    }

    #[expect(clippy::unused_async, reason = "as with the feature")]
    pub(crate) async fn release(&self, _: Vec<Arc<Lease>>) {}
}
