//! Finds the agent that a request describes.

use super::conversations::Conversation;
use super::{AgentKind, SubAgents};
use crate::model::Model;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tool_runtime::__seam::listed;
use tool_runtime::agent::SpawnRequest;
use tool_runtime::prelude::*;

const MAX_NAME: usize = 64;
/// The tool that loads skills.
const SKILL: &str = "Skill";

impl SubAgents {
    fn model_named(&self, name: &str) -> Result<Arc<dyn Model>, ToolError> {
        let model = self.models.get(name).cloned();
        model.ok_or_else(|| unknown(name, "model", self.models.keys()))
    }

    fn kind_named(&self, name: &str) -> Result<&AgentKind, ToolError> {
        self.kinds.get(name).ok_or_else(|| unknown(name, "kind of agent", self.kinds.keys()))
    }

    /// The agent that a request describes: a new one, or one that ended.
    pub(super) fn conversation(
        &self,
        request: &SpawnRequest,
        context: &ToolContext,
    ) -> Result<Conversation, ToolError> {
        if request.mode.is_some() && self.set_mode.is_none() {
            return Err(ToolError::user("agents have no `mode` here; leave it out"));
        }
        let mut conversation = match &request.resume {
            Some(id) => self.resumed(id, request, context)?,
            None => self.fresh(request)?,
        };
        conversation.tools.extend(request.tools.clone());
        conversation.mode = request.mode.or(conversation.mode);
        Ok(conversation)
    }

    fn fresh(&self, request: &SpawnRequest) -> Result<Conversation, ToolError> {
        let kind = request.kind.as_deref().map(|name| self.kind_named(name)).transpose()?;
        let model = match &request.model {
            Some(name) => self.model_named(name)?,
            None => {
                kind.and_then(|kind| kind.model.clone()).unwrap_or_else(|| self.default.clone())
            }
        };
        let system = request.system.clone().or_else(|| kind?.system.clone());
        Ok(Conversation {
            kind: request.kind.clone(),
            model,
            system: system.unwrap_or_else(|| self.system.clone()),
            mode: None,
            max_turns: kind.and_then(|kind| kind.max_turns).unwrap_or(self.max_turns),
            tools: kind.and_then(|kind| kind.tools.clone()).into_iter().collect(),
            messages: Arc::default(),
        })
    }

    fn resumed(
        &self,
        id: &str,
        request: &SpawnRequest,
        context: &ToolContext,
    ) -> Result<Conversation, ToolError> {
        let conversation = self.conversations.find(id, context)?;
        let is_other_kind = request.kind.is_some() && request.kind != conversation.kind;
        let own_name = id.rsplit_once('-').map(|(name, _)| name);
        let is_other_name = request.name.is_some() && request.name.as_deref() != own_name;
        let is_other = is_other_kind || is_other_name;
        if is_other || request.model.is_some() || request.system.is_some() {
            let text = format!(
                "`{id}` is resumed with its own name, kind, model and instructions; leave these out, or start a new agent"
            );
            return Err(ToolError::user(text));
        }
        Ok(conversation)
    }

    /// The id of an agent, which begins with its name.
    pub(super) fn id(&self, request: &SpawnRequest) -> Result<String, ToolError> {
        if let Some(id) = &request.resume {
            return Ok(id.clone());
        }
        let name = request.name.as_ref().or(request.kind.as_ref()).map_or("agent", String::as_str);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(is_plain) {
            let text = format!(
                "the name of an agent has at most {MAX_NAME} letters, digits, `-` and `_`; choose another one"
            );
            return Err(ToolError::user(text));
        }
        Ok(format!("{name}-{}", self.next_id.fetch_add(1, Ordering::Relaxed)))
    }
}

fn unknown<'a>(name: &str, what: &str, known: impl Iterator<Item = &'a String>) -> ToolError {
    let names = listed(known);
    ToolError::user(format!(
        "`{name}` is not a known {what}; leave it out, or name one of these: {names}"
    ))
}

/// The instructions of skills, which narrow the pool.
///
/// # Errors
/// The caller has no tool `Skill`, or a skill cannot be loaded.
pub(super) async fn load_skills(
    pool: &ToolPool,
    skills: &[String],
    context: &ToolContext,
) -> Result<String, ToolError> {
    let mut instructions = String::new();
    for skill in skills {
        let call = ToolCall::json(SKILL, json!({ "skill": skill }));
        let result = pool.call_with(call, context).await;
        let text = result.observation().to_text();
        if result.is_error() {
            return Err(ToolError::user(text));
        }
        instructions.push_str(&text);
        instructions.push_str("\n\n");
    }
    Ok(instructions)
}
