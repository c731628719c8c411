//! The options, and the families that they choose.

use crate::BoxError;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tool_runtime::policy::{PermissionMode, Permissions};
use tool_runtime::{ProgramArguments, ProgramOptions};
use tool_runtime_builtins::code::CodeParams;
use tool_runtime_builtins::people::PeopleParams;
use tool_runtime_builtins::schedule::{Schedule, Settings};
use tool_runtime_builtins::shell::{Sandbox, ShellParams};
use tool_runtime_builtins::tasks::{TaskStore, TasksParams};
use tool_runtime_builtins::web::{SearchParams, WebParams};
use tool_runtime_builtins::{Builtins, Profile, Workspace};

/// The options of the program.
pub(crate) fn options() -> ProgramOptions {
    ProgramOptions::new()
        .repeated_option("root", "DIR", "A directory that the tools may touch [default: .]")
        .option("families", "LIST", "Some of files, search, shell, code, web, servers, people, tasks, schedule [default: files,search]")
        .option("policy", "FILE", "Rules about calls, in YAML; without a file every call is allowed")
        .flag("open-hands", "Offer the names of OpenHands: file_editor, terminal, glob, grep, task_tracker")
        .option("data", "DIR", "Where tasks, jobs and settings are kept; tasks and schedule need it")
        .option("sandbox", "KIND", "Confine commands: landlock or bubblewrap")
        .flag("no-network", "Commands have no network; needs a sandbox")
        .option("mcp-config", "FILE", "MCP servers whose tools and resources are added")
        .option("searxng", "URL", "The search engine of WebSearch; else BRAVE_API_KEY or TAVILY_API_KEY name one")
        .repeated_option("private-host", "HOST", "A host with a private address that pages may be fetched from")
        .option("min-interval", "SECONDS", "The shortest interval between two runs of a job [default: 60]")
}

/// The families over the roots.
pub(crate) fn builtins(arguments: &ProgramArguments) -> Result<Builtins, BoxError> {
    let workspace = workspace(arguments)?;
    let profile = if arguments.has("open-hands") { Profile::OpenHands } else { Profile::Standard };
    let mut builtins = Builtins::new(workspace.clone()).profiles([profile]);
    for family in arguments.value("families").unwrap_or("files,search").split(',') {
        builtins = match family.trim() {
            "files" => builtins.files(),
            "search" => builtins.search(),
            "shell" => builtins.shell(shell(arguments)?),
            "code" => builtins.code(CodeParams::default()),
            "web" => builtins.web(web(arguments)),
            "servers" => builtins.servers(),
            "people" => builtins.people(people()),
            "tasks" => {
                let file = data(arguments)?.join("tasks.db");
                builtins.tasks(TasksParams::new(TaskStore::open(file)?))
            }
            "schedule" => schedule(builtins, &workspace, arguments)?,
            other => {
                let known = "files, search, shell, code, web, servers, people, tasks, schedule";
                return Err(
                    format!("`{other}` is not a family of tools; write some of {known}").into()
                );
            }
        };
    }
    Ok(builtins)
}

fn workspace(arguments: &ProgramArguments) -> Result<Workspace, BoxError> {
    let mut roots: Vec<&str> = arguments.values("root").collect();
    if roots.is_empty() {
        roots.push(".");
    }
    let workspace =
        roots.into_iter().fold(Workspace::builder(), |builder, root| builder.root(root));
    Ok(workspace.build()?)
}

fn shell(arguments: &ProgramArguments) -> Result<ShellParams, BoxError> {
    let sandbox = match arguments.value("sandbox") {
        None => Sandbox::default(),
        Some("landlock") => Sandbox::Landlock,
        Some("bubblewrap") => Sandbox::Bubblewrap,
        Some(other) => {
            let text = format!("`{other}` is not a sandbox; write `landlock` or `bubblewrap`");
            return Err(text.into());
        }
    };
    Ok(ShellParams { sandbox, network: !arguments.has("no-network"), ..ShellParams::default() })
}

/// The settings of the web, with a search engine whose key the environment has.
fn web(arguments: &ProgramArguments) -> WebParams {
    let has = |name: &str| std::env::var_os(name).is_some();
    let search = match arguments.value("searxng") {
        Some(url) => Some(SearchParams::Searxng { url: url.to_owned() }),
        None if has("BRAVE_API_KEY") => {
            Some(SearchParams::Brave { key_variable: "BRAVE_API_KEY".to_owned() })
        }
        None if has("TAVILY_API_KEY") => {
            Some(SearchParams::Tavily { key_variable: "TAVILY_API_KEY".to_owned() })
        }
        None => None,
    };
    let allowed_hosts = arguments.values("private-host").map(str::to_owned).collect();
    WebParams { search, allowed_hosts, ..WebParams::default() }
}

/// Plan mode alone restricts calls, beside the policy.
fn people() -> PeopleParams {
    PeopleParams::new().permissions(Permissions::new(PermissionMode::Bypass))
}

/// Jobs and settings.
fn schedule(
    builtins: Builtins,
    workspace: &Workspace,
    arguments: &ProgramArguments,
) -> Result<Builtins, BoxError> {
    let file = data(arguments)?.join("schedule.db");
    let mut schedule = Schedule::builder(workspace).file(&file);
    if let Some(text) = arguments.value("min-interval") {
        let seconds = text.parse();
        let seconds = seconds.map_err(|_| format!("`{text}` is not a number of seconds"))?;
        schedule = schedule.min_interval(Duration::from_secs(seconds));
    }
    let settings = Settings::builder().file(&file);
    Ok(builtins.schedule(&schedule.open()?).settings(&settings.open()?))
}

/// The directory of `--data`, which is created.
fn data(arguments: &ProgramArguments) -> Result<PathBuf, BoxError> {
    let data = arguments.value("data").map(Path::new);
    let data = data.ok_or("the families `tasks` and `schedule` need `--data DIR`")?;
    std::fs::create_dir_all(data)?;
    Ok(data.to_owned())
}
