//! The options, and the families that they choose.

use crate::BoxError;
use crate::agents::agents;
use crate::code::code;
use crate::needs::with_needs;
use crate::targets::{self, targets};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tool_runtime::cli::{ProgramArguments, ProgramOptions};
use tool_runtime::policy::{PermissionMode, Permissions};
use tool_runtime::search::ActiveTools;
use tool_runtime::skills::SkillLibrary;
use tool_runtime_builtins::browser::BrowserParams;
use tool_runtime_builtins::people::PeopleParams;
use tool_runtime_builtins::schedule::{Schedule, Settings};
use tool_runtime_builtins::shell::{CommandLimits, ShellParams};
use tool_runtime_builtins::tasks::{TaskStore, TasksParams};
use tool_runtime_builtins::web::{SearchParams, WebParams};
use tool_runtime_builtins::{
    Builtins, Profile, Sandbox, SandboxParams, Workspace, WorkspaceBuilder,
};

/// The families, for messages.
const FAMILIES: &str =
    "files, search, shell, code, web, browser, servers, people, tasks, schedule, skills";
/// The families that start programs.
const PROGRAMS: [&str; 3] = ["shell", "code", "browser"];

/// The options that only some families use.
const USED_BY: [(&str, &[&str]); 19] = [
    ("sandbox", &PROGRAMS),
    ("no-network", &PROGRAMS),
    ("writable", &PROGRAMS),
    ("git-settings", &["files", "shell", "code"]),
    ("partial-overwrites", &["files"]),
    ("env", &["shell", "code"]),
    ("limit", &["shell"]),
    ("language-server", &["code"]),
    ("searxng", &["web"]),
    ("request-header", &["web"]),
    ("private-host", &["web", "browser"]),
    ("chromium", &["browser"]),
    ("downloads", &["browser"]),
    ("show-stored-values", &["browser"]),
    ("model", &["tasks"]),
    ("model-script", &["tasks"]),
    ("skills", &["skills"]),
    ("targets", &["schedule"]),
    ("min-interval", &["schedule"]),
];

/// The options of the program.
pub(crate) fn options() -> ProgramOptions {
    ProgramOptions::new()
        .repeated_option("root", "DIR", "A directory that the tools may touch [default: .]")
        .option("families", "LIST", "Some of files, search, shell, code, web, browser, servers, people, tasks, schedule, skills [default: files,search]")
        .option("policy", "FILE", "Rules about calls, in YAML; without a file every call is allowed")
        .flag("open-hands", "Offer the names of OpenHands: file_editor, terminal, glob, grep, task_tracker, task, delegate")
        .option("data", "DIR", "Where tasks, jobs and settings are kept; tasks and schedule need it")
        .option("sandbox", "KIND", "Confine all that shell, code and browser start: landlock or bubblewrap")
        .flag("no-network", "Commands and language servers have no network; needs a sandbox")
        .repeated_option("writable", "DIR", "A directory outside the roots that commands in a sandbox may change")
        .flag("git-settings", "Tools may change .git, and commands in bubblewrap .git/config and .git/hooks")
        .flag("partial-overwrites", "Write may replace files of which only parts were read")
        .repeated_option("env", "NAME", "A variable that commands get, besides those that say where things are")
        .repeated_option("limit", "NAME=N", "A limit of commands: processes, memory, file, stored-output, in bytes with k, m or g; 0 is none")
        .repeated_option("language-server", "EXT,EXT=COMMAND", "The language server of files with these extensions, in place of the usual one: rb=solargraph stdio")
        .option("mcp-config", "FILE", "MCP servers whose tools and resources are added")
        .option("pins", "FILE", "Hold back the tools of MCP servers that are not as in this file; the command `pin` approves them")
        .option("searxng", "URL", "The search engine of WebSearch; else BRAVE_API_KEY or TAVILY_API_KEY name one")
        .repeated_option("private-host", "HOST", "A host with a private address that pages may be fetched from")
        .repeated_option("request-header", "NAME", "A header that a model may set in WebFetch, besides accept and accept-language")
        .option("chromium", "FILE", "The program of the browser [default: the first of chromium, chromium-browser, google-chrome in PATH]")
        .option("downloads", "DIR", "Where the browser may store downloads, inside a root; without it they are denied")
        .flag("show-stored-values", "browser_get_storage shows the values of cookies and of local storage, not only their names")
        .option("model", "NAME", "The model of sub-agents, by genai's names, with its key from the environment; needs the feature genai")
        .option("model-url", "URL", "The endpoint of that model, if it is not the usual one")
        .option("model-script", "FILE", "Scripted answers instead of a model of sub-agents, for tests")
        .repeated_option("skills", "DIR", "A folder of skills for the tool Skill; they are trusted")
        .option("targets", "FILE", "Webhooks of RemoteTrigger, in JSON")
        .option("min-interval", "SECONDS", "The shortest interval between two runs of a job [default: 60]")
}

/// The families that were chosen.
fn families(arguments: &ProgramArguments) -> Vec<&str> {
    let families = arguments.value("families").unwrap_or("files,search");
    families.split(',').map(str::trim).collect()
}

/// The skills, if their family was chosen. Without `--skills` there are none, and the tool is hidden.
pub(crate) fn skills(arguments: &ProgramArguments) -> Option<SkillLibrary> {
    let loader = arguments
        .values("skills")
        .fold(SkillLibrary::loader(), |loader, folder| loader.root(folder));
    families(arguments).contains(&"skills").then(|| loader.load())
}

/// The other families, over the roots.
pub(crate) fn builtins(arguments: &ProgramArguments) -> Result<Builtins, BoxError> {
    let families = families(arguments);
    let workspace = workspace(arguments)?;
    let is_open_hands = arguments.has("open-hands");
    let profile = if is_open_hands { Profile::OpenHands } else { Profile::Standard };
    warn_of_unused_options(arguments, &families);
    if arguments.command() == Some("serve") {
        remark(&workspace, &families);
    }
    let builtins = Builtins::new(workspace.clone()).profiles([profile]);
    let mut builtins = with_needs(builtins, arguments);
    // Only plan mode restricts calls, besides the policy.
    let permissions = Permissions::new(PermissionMode::Bypass);
    for family in &families {
        builtins = match *family {
            "files" => builtins.files(),
            "search" if is_open_hands => builtins.search(),
            "search" => builtins.search().tool_search(&ActiveTools::new(["*"])?),
            "shell" => builtins.shell(shell(arguments)?),
            "code" => builtins.code(code(arguments)?),
            "web" => builtins.web(web(arguments)),
            "browser" => builtins.browser(browser(arguments)),
            "servers" => builtins.servers(),
            "people" => builtins.people(PeopleParams::new().permissions(permissions.clone())),
            "tasks" => {
                let store = TaskStore::open(data(arguments)?.join("tasks.db"))?;
                let has_modes = families.contains(&"people");
                let agents = agents(arguments, has_modes.then(|| permissions.clone()))?;
                let tasks = TasksParams::new(store);
                builtins.tasks(match agents {
                    Some(agents) => tasks.agents(agents),
                    None => tasks,
                })
            }
            "schedule" => schedule(builtins, &workspace, arguments)?,
            "skills" => builtins,
            other => {
                let text = format!("`{other}` is not a family of tools; write some of {FAMILIES}");
                return Err(text.into());
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
    let mut workspace = WorkspaceBuilder::default()
        .sandbox(sandbox(arguments)?)
        .git_settings(arguments.has("git-settings"))
        .partial_overwrites(arguments.has("partial-overwrites"))
        .pass_variables(passed(arguments)?)
        // A person starts a process for each call, which has read nothing. A model reads before it writes.
        .unread_edits(arguments.command() == Some("call"));
    if arguments.value("data").is_some() {
        let data = data(arguments)?.canonicalize()?;
        for root in &roots {
            if Path::new(root).canonicalize().is_ok_and(|root| root.starts_with(&data)) {
                let data = data.display();
                let text = format!(
                    "`--data` is `{data}`, in which the root `{root}` is; give a directory for it alone"
                );
                return Err(text.into());
            }
        }
        workspace = workspace.protect(data);
    }
    Ok(roots.into_iter().fold(workspace, WorkspaceBuilder::root).build()?)
}

fn sandbox(arguments: &ProgramArguments) -> Result<SandboxParams, BoxError> {
    let kind = match arguments.value("sandbox") {
        None => Sandbox::default(),
        Some("landlock") => Sandbox::Landlock,
        Some("bubblewrap") => Sandbox::Bubblewrap,
        Some(other) => {
            let text = format!("`{other}` is not a sandbox; write `landlock` or `bubblewrap`");
            return Err(text.into());
        }
    };
    if arguments.has("no-network") && kind == Sandbox::Off {
        return Err("`--no-network` needs a sandbox; add `--sandbox bubblewrap`".into());
    }
    let writable: Vec<PathBuf> = arguments.values("writable").map(PathBuf::from).collect();
    if let Some(missing) = writable.iter().find(|path| !path.exists()) {
        return Err(format!("`--writable {}` does not exist", missing.display()).into());
    }
    Ok(SandboxParams { kind, network: !arguments.has("no-network"), writable })
}

/// The variables of `--env`. A key that the program uses itself is an error.
fn passed(arguments: &ProgramArguments) -> Result<Vec<String>, BoxError> {
    let names: Vec<String> = arguments.values("env").map(str::to_owned).collect();
    if names.is_empty() {
        return Ok(names);
    }
    let mut own: Vec<String> = ["BRAVE_API_KEY", "TAVILY_API_KEY"].map(str::to_owned).into();
    own.extend(targets::key_variables(arguments)?);
    let is_of_model = |name: &str| arguments.value("model").is_some() && name.ends_with("_API_KEY");
    match names.iter().find(|name| own.contains(name) || is_of_model(name)) {
        Some(name) => {
            let text = format!(
                "`--env {name}`: the program itself uses this key, and commands never get it; give them another one"
            );
            Err(text.into())
        }
        None => Ok(names),
    }
}

fn shell(arguments: &ProgramArguments) -> Result<ShellParams, BoxError> {
    let mut limits = CommandLimits::default();
    for text in arguments.values("limit") {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let value = bytes(value).ok_or_else(|| {
            format!("`--limit {text}`: write a name and a number, as in `memory=4g`")
        })?;
        match name {
            "processes" => limits.processes = value,
            "memory" => limits.memory = value,
            "file" => limits.file = value,
            "stored-output" => limits.stored_output = value,
            _ => {
                let text = format!(
                    "`{name}` is not a limit; write processes, memory, file or stored-output"
                );
                return Err(text.into());
            }
        }
    }
    Ok(ShellParams { limits, ..ShellParams::default() })
}

/// A number, perhaps with `k`, `m` or `g`.
fn bytes(text: &str) -> Option<u64> {
    let units = [('k', 10), ('m', 20), ('g', 30)];
    let unit = units.into_iter().find(|(letter, _)| text.to_lowercase().ends_with(*letter));
    let digits = &text[..text.len() - usize::from(unit.is_some())];
    digits.parse::<u64>().ok()?.checked_mul(1 << unit.map_or(0, |(_, bits)| bits))
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
    let mut params = WebParams { search, allowed_hosts, ..WebParams::default() };
    params.allowed_headers.extend(arguments.values("request-header").map(str::to_owned));
    params
}

fn browser(arguments: &ProgramArguments) -> BrowserParams {
    BrowserParams {
        program: arguments.value("chromium").map(PathBuf::from),
        allowed_hosts: arguments.values("private-host").map(str::to_owned).collect(),
        downloads: arguments.value("downloads").map(PathBuf::from),
        show_stored_values: arguments.has("show-stored-values"),
        ..BrowserParams::default()
    }
}

fn warn_of_unused_options(arguments: &ProgramArguments, families: &[&str]) {
    for (option, users) in USED_BY {
        if arguments.has(option) && !users.iter().any(|user| families.contains(user)) {
            eprintln!(
                "toolbox: `--{option}` has no effect: no chosen family uses it; add {} to `--families`",
                users.join(" or ")
            );
        }
    }
}

/// Says at the start of a server what its programs do not get, and what the sandbox does not do.
fn remark(workspace: &Workspace, families: &[&str]) {
    if !families.iter().any(|family| PROGRAMS.contains(family)) {
        return;
    }
    let withheld = workspace.withheld_variables();
    let variables = (withheld > 0).then(|| {
        format!("{withheld} variables of the environment are not passed to commands; `--env NAME` passes one")
    });
    for remark in variables.into_iter().chain(workspace.sandbox_remark()) {
        eprintln!("toolbox: {remark}");
    }
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
    schedule =
        targets(arguments)?.into_iter().fold(schedule, |schedule, target| schedule.target(target));
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
