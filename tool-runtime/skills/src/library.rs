//! The skills of a program.

use crate::error::SkillError;
use crate::loader::SkillLoader;
use crate::report::SkillReport;
use crate::servers::SharedServers;
use crate::skill::Skill;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tool_runtime_core::seam::{excerpt, lock, nearest};
use tool_runtime_core::tool::Tool;

/// The number of names listed for an unknown name.
const MAX_LISTED: usize = 20;

/// The skills of some folders. Cheap to clone; clones share what [`Self::reload`] reads.
///
/// ```
/// use tool_runtime::skills::SkillLibrary;
///
/// # let root = std::env::temp_dir().join(format!("skill-library-{}", std::process::id()));
/// std::fs::create_dir_all(root.join("greet"))?;
/// std::fs::write(
///     root.join("greet/SKILL.md"),
///     "---\nname: greet\ndescription: Greet a person.\nallowed-tools: Read\n---\nGreet $ARGUMENTS.",
/// )?;
/// let library = SkillLibrary::load(&root);
/// let greet = library.get("greet").unwrap();
/// assert_eq!(greet.description(), "Greet a person.");
/// assert_eq!(greet.tools().allow, Some("Read".into()));
/// # std::fs::remove_dir_all(&root)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct SkillLibrary(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) settings: SkillLoader,
    loaded: Mutex<Arc<Loaded>>,
    pub(crate) servers: SharedServers,
}

/// The result of reading the folders.
#[derive(Default)]
pub(crate) struct Loaded {
    pub(crate) skills: BTreeMap<String, Arc<Skill>>,
    pub(crate) reports: Vec<SkillReport>,
}

impl SkillLibrary {
    /// Starts a loader.
    pub fn loader() -> SkillLoader {
        SkillLoader::default()
    }

    /// Reads the skills of one root, see [`SkillLoader::root`].
    pub fn load(root: impl Into<PathBuf>) -> Self {
        Self::loader().root(root).load()
    }

    pub(crate) fn new(settings: SkillLoader) -> Self {
        let loaded = Mutex::new(Arc::new(settings.read()));
        let servers = SharedServers::new(&settings);
        Self(Arc::new(Inner { settings, loaded, servers }))
    }

    /// Reads all folders again. Active skills stay as they are. The tool lists the skills of the
    /// moment when it was made: replace one that was given to the builder by
    /// `pool.add_tools(&Source::Custom, [library.tool()])`.
    pub fn reload(&self) {
        let loaded = Arc::new(self.0.settings.read());
        *lock(&self.0.loaded) = loaded;
    }

    /// The usable skills, sorted by name.
    pub fn skills(&self) -> Vec<Arc<Skill>> {
        self.loaded().skills.values().cloned().collect()
    }

    /// A usable skill.
    pub fn get(&self, name: &str) -> Option<Arc<Skill>> {
        self.loaded().skills.get(name).cloned()
    }

    /// The state of each folder that has or should have skills, in the order of reading.
    pub fn report(&self) -> Vec<SkillReport> {
        self.loaded().reports.clone()
    }

    /// The tool `Skill`, by which a model loads skills and ends them.
    ///
    /// It takes the name of a `skill` and optional `arguments`, and answers with the text; `{"end": true}`
    /// ends the skill that was loaded last. It lists the skills in its description. A skill narrows the
    /// handle that the call came through, so this must be the handle of one agent: that of
    /// [`ToolPool::session`](tool_runtime_core::pool::ToolPool::session), or one with [`Skills`](crate::Skills).
    /// Calls through other handles are errors: an MCP server has one handle for all of its clients.
    pub fn tool(&self) -> Tool {
        crate::tool::tool(self)
    }

    pub(crate) fn find(&self, name: &str) -> Result<Arc<Skill>, SkillError> {
        let loaded = self.loaded();
        if let Some(skill) = loaded.skills.get(name) {
            return Ok(Arc::clone(skill));
        }
        if let Some(report) = loaded.reports.iter().find(|report| report.is_left_out(name)) {
            let reason = report.to_string().trim_end().to_owned();
            return Err(SkillError::LeftOut { name: excerpt(name).to_string(), reason });
        }
        Err(unknown(name, &loaded))
    }

    fn loaded(&self) -> Arc<Loaded> {
        Arc::clone(&lock(&self.0.loaded))
    }
}

/// The error about a name that no folder has, with the nearest names.
fn unknown(name: &str, loaded: &Loaded) -> SkillError {
    let names = || loaded.skills.keys().map(String::as_str);
    let help = match (nearest(name, names(), 1).first(), loaded.skills.len()) {
        (Some(near), _) => format!("; did you mean `{near}`?"),
        (None, 0) => "; there are no skills".to_owned(),
        (None, count) => {
            let listed: Vec<String> =
                names().take(MAX_LISTED).map(|name| format!("`{name}`")).collect();
            let some = if count > MAX_LISTED { "some of the" } else { "the" };
            format!("; {some} skills are {}", listed.join(", "))
        }
    };
    SkillError::Unknown { name: excerpt(name).to_string(), help }
}

impl fmt::Debug for SkillLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.loaded().skills.keys()).finish()
    }
}
