//! The tool `Skill`.

use crate::library::SkillLibrary;
use crate::listing::listing;
use crate::skill::Skill;
use crate::skills::Skills;
use crate::state::LoadedBy;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use tool_runtime_core::tool::{Tool, ToolContext};
use tool_runtime_core::vocabulary::error::ToolError;

/// The name of the tool.
pub(crate) const NAME: &str = "Skill";

// Not a doc comment: the schema would have it as its description.
#[derive(Deserialize, JsonSchema)]
struct SkillInput {
    /// The name of the skill to load.
    #[serde(default)]
    skill: Option<String>,
    /// Arguments for the skill, as its text expects them.
    // The name in Claude Code.
    #[serde(default, alias = "args")]
    arguments: Option<String>,
    /// `true`, without `skill`: end the skill that was loaded last.
    #[serde(default)]
    end: bool,
}

pub(crate) fn tool(library: &SkillLibrary) -> Tool {
    let library = library.clone();
    let left_out = library.report().into_iter().filter_map(|report| report.requirement());
    let left_out: Vec<_> = left_out.collect();
    Tool::builder(NAME, description(&library))
        .read_only(false)
        .destructive(false)
        .idempotent(false)
        .open_world(false)
        // Instructions are part of planning; the skill itself only narrows the tools.
        .tags(["plan"])
        .handler(move |input: SkillInput, context: ToolContext| {
            let library = library.clone();
            async move { answer(&library, input, &context).await }
        })
        .requires(left_out)
}

fn description(library: &SkillLibrary) -> String {
    let skills = library.skills();
    let skills: Vec<_> = skills.into_iter().filter(|skill| skill.is_for_models()).collect();
    let list = listing(&skills, library.0.settings.max_listing);
    let list = if list.is_empty() { "- none\n" } else { &list };
    format!(
        "Load a skill: instructions for a kind of task. When a task fits one of the skills, load it first and follow its text. A skill may limit the tools until it ends; `end` ends the one that was loaded last.\n\nSkills:\n{}",
        list.trim_end()
    )
}

async fn answer(
    library: &SkillLibrary,
    SkillInput { skill, arguments, end: is_end }: SkillInput,
    context: &ToolContext,
) -> Result<String, ToolError> {
    match (skill, is_end) {
        (Some(name), false) => load(library, &name, &arguments.unwrap_or_default(), context).await,
        (None, true) => end(library, context).await,
        (Some(_), true) => Err(ToolError::user("give either `skill` or `end`, not both")),
        (None, false) => Err(ToolError::user("give the name of a `skill`, or `end`: true")),
    }
}

async fn load(
    library: &SkillLibrary,
    name: &str,
    arguments: &str,
    context: &ToolContext,
) -> Result<String, ToolError> {
    let skill = library.find(name)?;
    let (skills, pool) = of_caller(library, context)?;
    let id = skills.state.load(&pool, &skill, LoadedBy::Model).await?;
    let text = skill.render(arguments);
    Ok(if id.is_some() { format!("{text}\n\n{}", scope_notice(&skill)) } else { text })
}

async fn end(library: &SkillLibrary, context: &ToolContext) -> Result<String, ToolError> {
    let (skills, _) = of_caller(library, context)?;
    let ended = skills.state.end_innermost().await?;
    Ok(match skills.active().last() {
        Some(outer) => format!("The skill `{ended}` has ended; `{outer}` is still active."),
        None => format!("The skill `{ended}` has ended."),
    })
}

/// The skills of the caller's handle, which must be of only one agent.
fn of_caller(
    library: &SkillLibrary,
    context: &ToolContext,
) -> Result<(Skills, tool_runtime_core::pool::ToolPool), ToolError> {
    let pool = context.handle().ok_or("there is no pool to load skills for")?;
    if let Some(known) = Skills::known(library, &pool) {
        return Ok((known, pool));
    }
    let skill_context = pool.context();
    if skill_context.session().is_none() || skill_context.session() != context.session() {
        return Err(ToolError::user(
            "skills cannot be loaded here: others use these tools through the same handle of the pool",
        )
        .with_source("call through `ToolPool::session`, or create `Skills` for the handle"));
    }
    Ok((Skills::new(library, &pool), pool))
}

/// The rules while a skill is active.
fn scope_notice(skill: &Arc<Skill>) -> String {
    let mut notice = format!(
        "The skill `{}` is active until you call `{NAME}` with {{\"end\": true}}.",
        skill.name()
    );
    if skill.is_restricted() {
        notice.push_str(&format!(" Until then, the tools are limited to {}.", skill.tools()));
    }
    notice
}
