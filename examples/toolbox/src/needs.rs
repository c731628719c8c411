//! Requirements of the tools that this program knows, for `report`.

use tool_runtime::cli::ProgramArguments;
use tool_runtime::tool::Requirement;
use tool_runtime_builtins::Builtins;
use tool_runtime_builtins::shell::ShellParams;

const AGENTS: [&str; 4] = ["Agent", "Task", "task", "delegate"];
const SHELL: [&str; 4] = ["Bash", "BashOutput", "KillBash", "terminal"];
const PEOPLE: [&str; 3] = ["AskUser", "pause_for_human", "ExitPlanMode"];
const TASKS: [&str; 10] = [
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskUpdate",
    "TaskStop",
    "TaskOutput",
    "TeamCreate",
    "TeamDelete",
    "SendMessage",
    "ReadMessages",
];
const SCHEDULE: [&str; 5] = ["CronCreate", "CronDelete", "CronList", "Config", "RemoteTrigger"];
const SERVERS: [&str; 2] = ["ListMcpResources", "ReadMcpResource"];

/// Adds what the tools need of the options.
pub(crate) fn with_needs(builtins: Builtins, arguments: &ProgramArguments) -> Builtins {
    let option = |name: &str, remedy: &str| match arguments.value(name.trim_start_matches('-')) {
        Some(value) => Requirement::met(name, value),
        None => Requirement::missing(name, remedy),
    };
    let servers = match arguments.value("mcp-config") {
        Some(file) => Requirement::met("--mcp-config", file),
        None => Requirement::absent("--mcp-config", "give a file of MCP servers"),
    };
    let bash = ShellParams::default().shell.display().to_string();
    let person = "by the forms of the MCP client";
    let host = "`toolbox schedule` with the same `--data` runs what is due";
    let host = Requirement::at_call("schedule", host);
    let needs = [
        (&AGENTS[..], model(arguments)),
        (&SHELL, Requirement::met("bash", bash)),
        (&PEOPLE, Requirement::at_call("a person", person)),
        (&TASKS, option("--data", "give a directory")),
        (&SCHEDULE, option("--data", "give a directory")),
        (&["CronCreate"], host),
        (
            &["RemoteTrigger"],
            option(
                "--targets",
                "give a file of webhooks: \
            {\"builds\": {\"url\": \"https://..\", \"key_variable\": \"BUILDS_KEY\"}}",
            ),
        ),
        (&SERVERS, servers),
        (&["WebSearch"], engine(arguments)),
    ];
    let each = needs.iter().flat_map(|(tools, need)| tools.iter().map(move |tool| (tool, need)));
    each.fold(builtins, |builtins, (tool, need)| builtins.requires(*tool, need.clone()))
}

/// The folders of skills.
pub(crate) fn skills(arguments: &ProgramArguments) -> Requirement {
    let folders: Vec<&str> = arguments.values("skills").collect();
    match folders.is_empty() {
        true => Requirement::missing("--skills", "give a folder whose folders have a `SKILL.md`"),
        false => Requirement::met("--skills", folders.join(", ")),
    }
}

fn model(arguments: &ProgramArguments) -> Requirement {
    let given = ["model", "model-script"].map(|name| arguments.value(name));
    match given.into_iter().flatten().next() {
        Some(model) => Requirement::met("--model", model),
        None if cfg!(feature = "genai") => Requirement::missing("--model", "name a model"),
        None => Requirement::missing("--model", "build with `--features genai`, and name a model"),
    }
}

fn engine(arguments: &ProgramArguments) -> Requirement {
    let keys = ["BRAVE_API_KEY", "TAVILY_API_KEY"];
    let key = keys.into_iter().find(|name| std::env::var_os(name).is_some());
    match (arguments.value("searxng"), key) {
        (Some(url), _) => Requirement::met("--searxng", url),
        (None, Some(key)) => Requirement::met(key, "set"),
        (None, None) => {
            let remedy = "give the address of an instance, or set BRAVE_API_KEY or TAVILY_API_KEY";
            Requirement::missing("--searxng", remedy)
        }
    }
}
