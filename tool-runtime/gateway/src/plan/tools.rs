//! Built-in tools and skills.

use super::Problems;
use crate::BoxError;
use crate::config::{Family, Names, ScheduleSettings, Tools};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tool_runtime::policy::{PermissionMode, Permissions};
use tool_runtime::search::ActiveTools;
use tool_runtime::skills::SkillLibrary;
use tool_runtime_builtins::people::PeopleParams;
use tool_runtime_builtins::schedule::{Schedule, Settings, Target};
use tool_runtime_builtins::tasks::{TaskStore, TasksParams};
use tool_runtime_builtins::{Builtins, Profile, Sandbox, Workspace, WorkspaceBuilder};
use tool_runtime_config::seam::find_program;

/// The built-in tools of a configuration. `None`: no family was chosen.
pub(crate) struct BuiltinTools(Option<Workspace>);

impl BuiltinTools {
    pub(super) fn new(
        tools: &Tools,
        own_files: &[PathBuf],
        problems: &mut Problems<'_>,
        warnings: &mut Vec<String>,
    ) -> Self {
        let has = |family| tools.families.contains(&family);
        if (has(Family::Tasks) || has(Family::Schedule)) && tools.data.is_none() {
            problems.add(
                "tools.families",
                "the families `tasks` and `schedule` need `tools.data`, a folder for them",
            );
        }
        for (index, family) in tools.families.iter().enumerate() {
            if tools.families[..index].contains(family) {
                problems.add(&format!("tools.families[{index}]"), "the family is there twice");
            }
        }
        if tools.sandbox.kind == Sandbox::Bubblewrap {
            let path = std::env::var_os("PATH");
            if let Err(error) = find_program("bwrap", path.as_deref(), ".".as_ref()) {
                warnings
                    .push(format!("`tools.sandbox.kind`: {error}; install the package bubblewrap"));
            }
        }
        if !tools.sandbox.network && tools.sandbox.kind == Sandbox::Off {
            problems.add(
                "tools.sandbox.network",
                "without a network needs a sandbox; set `tools.sandbox.kind`",
            );
        }
        for (index, path) in tools.sandbox.writable.iter().enumerate() {
            if !path.exists() {
                let text = format!("`{}` does not exist", path.display());
                problems.add(&format!("tools.sandbox.writable[{index}]"), text);
            }
        }
        let own = tools.env.iter().enumerate();
        for (index, name) in own.filter(|(_, name)| is_own(tools, name)) {
            let text = format!(
                "the gateway itself uses `{name}`, and commands never get it; give them another one"
            );
            problems.add(&format!("tools.env[{index}]"), text);
        }
        if tools.families.is_empty() {
            return Self(None);
        }
        let workspace = problems.accept("tools.roots", workspace(tools, own_files));
        if let Some(workspace) = workspace.as_ref().filter(|_| has(Family::Schedule)) {
            // Without its file.
            problems.accept("tools.schedule", opened(workspace, None, &tools.schedule));
        }
        let starts_programs = [Family::Shell, Family::Code, Family::Browser].into_iter().any(has);
        if let Some(remark) =
            workspace.as_ref().filter(|_| starts_programs).and_then(Workspace::sandbox_remark)
        {
            warnings.push(remark);
        }
        Self(workspace)
    }

    /// The directories that the tools touch, if there are tools.
    pub(crate) fn workspace(&self) -> Option<&Workspace> {
        self.0.as_ref()
    }

    /// The tools. Their files are opened.
    ///
    /// # Errors
    /// A file cannot be opened.
    pub(crate) fn open(
        self,
        tools: &Tools,
    ) -> Result<Option<(Builtins, Option<Schedule>)>, BoxError> {
        let Some(workspace) = self.0 else { return Ok(None) };
        let is_open_hands = tools.names == Names::OpenHands;
        let profile = if is_open_hands { Profile::OpenHands } else { Profile::Standard };
        let mut builtins = Builtins::new(workspace.clone()).profiles([profile]);
        let mut schedule = None;
        // Only plan mode restricts calls, besides the policy.
        let permissions = Permissions::new(PermissionMode::Bypass);
        for family in &tools.families {
            builtins = match family {
                Family::Files => builtins.files(),
                Family::Search if is_open_hands => builtins.search(),
                Family::Search => builtins.search().tool_search(&ActiveTools::new(["*"])?),
                Family::Shell => builtins.shell(tools.shell.clone()),
                Family::Code => builtins.code(tools.code.clone()),
                Family::Web => builtins.web(tools.web.clone()),
                Family::Browser => builtins.browser(tools.browser.clone()),
                Family::Servers => builtins.servers(),
                Family::People => {
                    builtins.people(PeopleParams::new().permissions(permissions.clone()))
                }
                Family::Tasks => {
                    let store = TaskStore::open(data(tools)?.join("tasks.db"))?;
                    builtins.tasks(TasksParams::new(store))
                }
                Family::Schedule => {
                    let file = data(tools)?.join("schedule.db");
                    let opened = opened(&workspace, Some(&file), &tools.schedule)?;
                    let settings = Settings::builder().file(&file).open()?;
                    builtins = builtins.schedule(&opened).settings(&settings);
                    schedule = Some(opened);
                    continue;
                }
                Family::Skills => builtins,
            };
        }
        Ok(Some((builtins, schedule)))
    }
}

/// Variables that the gateway itself uses.
fn is_own(tools: &Tools, name: &str) -> bool {
    use tool_runtime_builtins::web::SearchParams;
    let of_search = match &tools.web.search {
        Some(SearchParams::Brave { key_variable } | SearchParams::Tavily { key_variable }) => {
            key_variable == name
        }
        _ => false,
    };
    of_search || name.starts_with("TOOL_REMOTE_")
}

fn workspace(tools: &Tools, own_files: &[PathBuf]) -> Result<Workspace, BoxError> {
    let mut workspace = WorkspaceBuilder::default()
        .sandbox(tools.sandbox.clone())
        .git_settings(tools.git_settings)
        .pass_variables(&tools.env);
    if let Some(data) = &tools.data {
        let place = std::path::absolute(data)?;
        let inside = |root: &Path| root.canonicalize().is_ok_and(|root| root.starts_with(&place));
        if let Some(root) = tools.roots.iter().find(|root| inside(root)) {
            let text = format!(
                "the root `{}` is in `tools.data`, `{}`; give a folder for it alone",
                root.display(),
                data.display()
            );
            return Err(text.into());
        }
        workspace = workspace.protect(place);
    }
    for path in tools.protect.iter().chain(own_files) {
        workspace = workspace.protect(std::path::absolute(path)?);
    }
    Ok(tools.roots.iter().fold(workspace, WorkspaceBuilder::root).build()?)
}

/// The folder of `tools.data`, which is created.
fn data(tools: &Tools) -> Result<&Path, BoxError> {
    let data = tools.data.as_deref().ok_or("`tools.data` is missing")?;
    std::fs::create_dir_all(data)?;
    Ok(data)
}

fn opened(
    workspace: &Workspace,
    file: Option<&Path>,
    settings: &ScheduleSettings,
) -> Result<Schedule, BoxError> {
    let schedule = Schedule::builder(workspace);
    let mut schedule = file.into_iter().fold(schedule, |schedule, file| schedule.file(file));
    if let Some(interval) = settings.min_interval {
        schedule = schedule.min_interval(Duration::from_secs(interval));
    }
    let targets = settings.targets.iter();
    let targets = targets.map(|(name, target)| Target::new(name, &target.url, target.key.clone()));
    Ok(targets.fold(schedule, |schedule, target| schedule.target(target)).open()?)
}

/// The skills, if their family was chosen.
pub(super) fn skills(tools: &Tools, problems: &mut Problems<'_>) -> Option<SkillLibrary> {
    if !tools.families.contains(&Family::Skills) {
        return None;
    }
    for (index, folder) in tools.skills.iter().enumerate() {
        if !folder.is_dir() {
            let text = format!("`{}` is not a folder", folder.display());
            problems.add(&format!("tools.skills[{index}]"), text);
        }
    }
    let folders = tools.skills.iter().filter(|folder| folder.is_dir());
    Some(folders.fold(SkillLibrary::loader(), |loader, folder| loader.root(folder)).load())
}
