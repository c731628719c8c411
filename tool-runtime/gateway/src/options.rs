//! Options of the command line. Each replaces a key of the configuration.

use tool_runtime::cli::ProgramOptions;

/// What is used at the start, as options.
pub(crate) fn options() -> ProgramOptions {
    ProgramOptions::new()
        .option("config", "FILE", "The configuration [default: tool-gateway.toml, .yaml or .json, if there is one]")
        .option("families", "LIST", "Built-in tools, in place of `tools.families`: some of files, search, shell, code, web, browser, servers, people, tasks, schedule, skills")
        .repeated_option("root", "DIR", "A directory that the built-in tools may touch, in place of `tools.roots`; repeatable")
        .option("data", "DIR", "Where tasks, jobs and settings are kept, in place of `tools.data`")
        .repeated_option("skills", "DIR", "A folder of skills, in place of `tools.skills`; repeatable")
        .option("policy", "FILE", "The rules about calls, in place of `policy.file`")
        .option("inbox", "DIR", "Where questions about calls are kept for people, in place of `approvals.inbox`")
        .option("log", "FILE", "The log of calls, in place of `log.file`")
        .option("hub", "URL", "The hub of runners, in place of `runners.hub`")
}
