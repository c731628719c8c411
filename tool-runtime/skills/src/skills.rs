//! The skills of one agent.

use crate::error::SkillError;
use crate::library::SkillLibrary;
use crate::read::mcp_name;
use crate::report::{SkillReport, SkillStatus};
use crate::skill::Skill;
use crate::state::{LoadedBy, State};
use std::fmt;
use std::sync::{Arc, Weak};
use tool_runtime_core::pool::{DeclarationStatus, ToolPool};
use tool_runtime_core::seam::SessionValues;

/// The active skills of one handle of a pool and its clones: of an agent, or of a session.
///
/// A skill with declared tools narrows the handle until it ends. Skills nest: what an outer one hides
/// stays hidden. Its MCP servers are started when it is loaded, and closed when it ends; skills with
/// equal entries share one server. The tools of servers are tools of the pool meanwhile, for all its
/// handles, and a skill with `allowed-tools` names those that it needs, as `mcp__SERVER`.
///
/// All skills of a handle end with its session, and with the last clone of the handle.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::skills::{SkillLibrary, Skills};
///
/// # let root = std::env::temp_dir().join(format!("skills-{}", std::process::id()));
/// # std::fs::create_dir_all(root.join("greet"))?;
/// # let text = "---\nname: greet\ndescription: Greet a person.\nallowed-tools: Read\n---\nGreet $ARGUMENTS.";
/// # std::fs::write(root.join("greet/SKILL.md"), text)?;
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let tool = |name: &str| Tool::builder(name, "Answer at once.").handler(|| async { "done" });
/// let library = SkillLibrary::load(&root);
/// let pool = ToolPool::builder()
///     .add(tool("Read"))
///     .add(tool("Write"))
///     .add(library.tool())
///     .build()?;
/// let session = pool.session();
///
/// // By the model:
/// let load = ToolCall::new("Skill", r#"{"skill": "greet", "arguments": "Ada"}"#);
/// let result = session.pool().call(load).await;
/// assert!(result.observation().to_text().contains("Greet Ada."));
/// assert!(session.pool().get("Write").is_none());
/// session.pool().call(ToolCall::new("Skill", r#"{"end": true}"#)).await;
/// assert!(session.pool().get("Write").is_some());
///
/// // By the program:
/// let skills = Skills::new(&library, session.pool());
/// let greet = skills.load("greet", "Ada").await?;
/// assert!(session.pool().get("Write").is_none());
/// greet.end().await;
/// # std::fs::remove_dir_all(&root)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct Skills {
    pool: ToolPool,
    pub(crate) state: Arc<State>,
}

impl Skills {
    /// The skills of a handle. Repeated calls return the same skills.
    pub fn new(library: &SkillLibrary, pool: &ToolPool) -> Self {
        let make = || {
            let state = Arc::new(State::new(library.clone()));
            let holder: Weak<State> = Arc::downgrade(&state);
            pool.context().end_with_session(holder as Weak<dyn SessionValues>);
            state
        };
        let state = pool.attached_or(|state: &State| state.is_of(library), make);
        Self { pool: pool.clone(), state }
    }

    /// The skills of a handle that has some.
    pub(crate) fn known(library: &SkillLibrary, pool: &ToolPool) -> Option<Self> {
        let state = pool.attached(|state: &State| state.is_of(library))?;
        Some(Self { pool: pool.clone(), state })
    }

    /// Loads a skill, until the returned guard is dropped or ended. A model cannot end it, and calls
    /// the tool `Skill` meanwhile only if `allowed-tools` names that, too.
    ///
    /// A skill that neither restricts tools nor has servers is only text: it may be loaded any number
    /// of times, and does not count as active.
    ///
    /// # Errors
    /// The skill is unknown or active already, too many are active, or one of its servers cannot be
    /// connected to. Nothing has changed then.
    pub async fn load(&self, name: &str, arguments: &str) -> Result<ActiveSkill, SkillError> {
        let skill = self.state.library.find(name)?;
        let id = self.state.load(&self.pool, &skill, LoadedBy::Program).await?;
        let text = skill.render(arguments);
        Ok(ActiveSkill { scope: id.map(|id| (Arc::clone(&self.state), id)), skill, text })
    }

    /// The names of the active skills, the outermost first.
    pub fn active(&self) -> Vec<String> {
        self.state.active()
    }

    /// Ends all active skills, and waits until their servers are closed: at the end of an agent's
    /// turn, for instance.
    pub async fn end_all(&self) {
        self.state.end_all().await;
    }

    /// As [`SkillLibrary::report`], with the declarations that have no effect on the pool.
    pub fn report(&self) -> Vec<SkillReport> {
        let library = &self.state.library;
        let mut reports = library.report();
        for report in reports.iter_mut().filter(|report| report.status == SkillStatus::Usable) {
            let skill = report.name.as_ref().and_then(|name| library.get(name));
            report.declarations = skill.map(|skill| self.idle(&skill)).unwrap_or_default();
        }
        reports
    }

    /// The declarations of a skill without effect. Those of its own servers have one when it is loaded.
    fn idle(&self, skill: &Skill) -> Vec<DeclarationStatus> {
        let server_names: Vec<String> =
            skill.servers.names().iter().map(|name| mcp_name(name)).collect();
        let is_own = |status: &DeclarationStatus| {
            server_names.iter().any(|name| status.declaration.starts_with(&**name))
        };
        let report = self.pool.declaration_report(skill.tools());
        let idle = report.entries.into_iter().filter(|status| status.reason.is_some());
        idle.filter(|status| !is_own(status)).collect()
    }
}

impl fmt::Debug for Skills {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Skills").field("active", &self.active()).finish_non_exhaustive()
    }
}

/// A skill that the program has loaded. Dropped, it ends, together with those that were loaded after
/// it; [`Self::end`] also waits until its servers are closed.
#[must_use = "the skill ends when this is dropped"]
pub struct ActiveSkill {
    /// `None` for a skill that is only text.
    scope: Option<(Arc<State>, u64)>,
    skill: Arc<Skill>,
    text: String,
}

impl ActiveSkill {
    /// The skill.
    pub fn skill(&self) -> &Skill {
        &self.skill
    }

    /// The instructions for the model, see [`Skill::render`].
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Ends the skill and those that were loaded after it, and waits until their servers are closed.
    pub async fn end(mut self) {
        if let Some((state, id)) = self.scope.take() {
            state.end(id).await;
        }
    }
}

impl Drop for ActiveSkill {
    fn drop(&mut self) {
        if let Some((state, id)) = self.scope.take() {
            drop(state.end(id));
        }
    }
}

impl fmt::Debug for ActiveSkill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ActiveSkill").field(&self.skill.name).finish()
    }
}
