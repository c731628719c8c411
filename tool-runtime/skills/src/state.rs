//! The active skills of one handle: a stack, each with its restriction and its servers.

use crate::error::SkillError;
use crate::library::SkillLibrary;
use crate::servers::Lease;
use crate::skill::Skill;
use crate::tool::NAME;
use std::sync::{Arc, Mutex};
use tool_runtime_core::pool::{DeclaredTools, Restriction, ToolPool};
use tool_runtime_core::seam::{SessionValues, lock};
use tool_runtime_core::tool::SessionId;
use tool_runtime_core::vocabulary::BoxFuture;

/// The active skills of a handle. Lives as long as the handle, and does not keep it alive.
pub(crate) struct State {
    pub(crate) library: SkillLibrary,
    /// Locked while a skill is loaded.
    turn: tokio::sync::Mutex<()>,
    stack: Mutex<Stack>,
}

#[derive(Default)]
struct Stack {
    /// The innermost last.
    entries: Vec<Entry>,
    next_id: u64,
}

/// An active skill. Dropped, its restriction ends, and its servers are closed in the background
/// unless another skill has them.
struct Entry {
    id: u64,
    skill: Arc<Skill>,
    by: LoadedBy,
    restriction: Option<Restriction>,
    servers: Vec<Arc<Lease>>,
}

/// The party that loads a skill, and ends it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoadedBy {
    Model,
    Program,
}

impl State {
    pub(crate) fn new(library: SkillLibrary) -> Self {
        Self { library, turn: tokio::sync::Mutex::default(), stack: Mutex::default() }
    }

    pub(crate) fn is_of(&self, library: &SkillLibrary) -> bool {
        Arc::ptr_eq(&self.library.0, &library.0)
    }

    /// Loads a skill for a handle. The id is that of its scope, if it has one.
    ///
    /// # Errors
    /// The skill cannot be loaded. Nothing has changed then.
    pub(crate) async fn load(
        &self,
        pool: &ToolPool,
        skill: &Arc<Skill>,
        by: LoadedBy,
    ) -> Result<Option<u64>, SkillError> {
        if by == LoadedBy::Model && !skill.is_for_models() {
            return Err(SkillError::NotForModels { name: skill.name.clone() });
        }
        if !skill.has_scope() {
            return Ok(None);
        }
        let _turn = self.turn.lock().await;
        self.check(skill)?;
        let restriction = skill.is_restricted().then(|| pool.restrict_declared(&tools(skill, by)));
        if by == LoadedBy::Model && pool.callable().get(NAME).is_none() {
            return Err(SkillError::DeniesItsEnd { name: skill.name.clone() });
        }
        let servers = self.library.0.servers.start(skill, pool).await?;
        let mut stack = lock(&self.stack);
        let id = stack.next_id;
        stack.next_id += 1;
        stack.entries.push(Entry { id, skill: Arc::clone(skill), by, restriction, servers });
        Ok(Some(id))
    }

    fn check(&self, skill: &Skill) -> Result<(), SkillError> {
        let (active, name) = (self.active(), skill.name.clone());
        if active.contains(&name) {
            return Err(SkillError::Active { name });
        }
        match active.len() < self.library.0.settings.max_depth {
            true => Ok(()),
            false => Err(SkillError::TooDeep { name, active }),
        }
    }

    /// The names of the active skills, the outermost first.
    pub(crate) fn active(&self) -> Vec<String> {
        lock(&self.stack).entries.iter().map(|entry| entry.skill.name.clone()).collect()
    }

    /// Ends the innermost skill for a model, and returns its name.
    ///
    /// # Errors
    /// No skill is active, or the program loaded the innermost one.
    pub(crate) async fn end_innermost(&self) -> Result<String, SkillError> {
        let entry = {
            let entries = &mut lock(&self.stack).entries;
            let innermost = entries.last().ok_or(SkillError::NoneActive)?;
            if innermost.by == LoadedBy::Program {
                return Err(SkillError::OfProgram { name: innermost.skill.name.clone() });
            }
            entries.pop()
        };
        let name = entry.as_ref().map(|entry| entry.skill.name.clone()).unwrap_or_default();
        close(&self.library, entry.into_iter().collect()).await;
        Ok(name)
    }

    /// Ends a skill and those that were loaded after it: their restrictions end now, and their servers
    /// when the future completes.
    pub(crate) fn end(&self, id: u64) -> impl Future<Output = ()> + Send + use<> {
        let entries = &mut lock(&self.stack).entries;
        let start = entries.iter().position(|entry| entry.id == id).unwrap_or(entries.len());
        close(&self.library, entries.split_off(start))
    }

    /// Like [`Self::end`], for all skills.
    pub(crate) fn end_all(&self) -> impl Future<Output = ()> + Send + use<> {
        close(&self.library, std::mem::take(&mut lock(&self.stack).entries))
    }
}

/// Ends restrictions at once. The future waits until the servers are closed; dropped, it does not wait.
fn close(library: &SkillLibrary, ended: Vec<Entry>) -> impl Future<Output = ()> + Send + use<> {
    let mut servers = Vec::new();
    // The innermost first.
    for entry in ended.into_iter().rev() {
        drop(entry.restriction);
        servers.extend(entry.servers);
    }
    let library = library.clone();
    async move { library.0.servers.release(servers).await }
}

/// The declared tools of a skill, and for a model the tool that ends the skill.
fn tools(skill: &Skill, by: LoadedBy) -> DeclaredTools {
    let mut tools = skill.tools.clone();
    if by == LoadedBy::Model
        && let Some(allow) = &mut tools.allow
    {
        let declared = allow.iter().map(|declaration| declaration.as_str().to_owned());
        *allow = declared.chain([NAME.to_owned()]).collect();
    }
    tools
}

impl SessionValues for State {
    fn end(&self, _: SessionId) -> Option<BoxFuture<'static, ()>> {
        Some(Box::pin(self.end_all()))
    }
}
