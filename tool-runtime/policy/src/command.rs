//! The commands `policy check`, `policy explain` and `policy test`.

use crate::case::SampleCall;
use crate::check::TestResult;
use crate::loaded::Loaded;
use crate::policy::Policy;
use crate::read::{PolicyError, single_call};
use crate::subject::Subject;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use tool_runtime_command::seam::{CommandFailure, GOVERNANCE, run_printing};
use tool_runtime_command::{CliCommand, CommandArguments, CommandForm, PoolCommands as _};
use tool_runtime_core::pool::{ToolPool, ToolPoolBuilder};
use tool_runtime_core::seam::nearest;
use tool_runtime_core::vocabulary::{BoxFuture, Principal};

/// Adds the commands of a pool with a policy.
pub(crate) fn add_commands<S>(builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
    builder.command_once(Check).command_once(Explain).command_once(Test)
}

const OFFLINE: &str = "offline";
const STRICT: &str = "strict";
const JSON: &str = "json";

/// Whether the pool is wanted. A file with mistakes may be the one that the pool lacks.
fn needs_pool(arguments: &CommandArguments) -> bool {
    let is_readable = |file: &String| Loaded::from_path(Path::new(file)).is_ok();
    !arguments.has(OFFLINE) && arguments.positional().iter().all(is_readable)
}

/// Reports all mistakes of policies, with their lines.
struct Check;

impl CliCommand for Check {
    fn form(&self) -> CommandForm {
        CommandForm::new("policy check", "Report all mistakes of policies, with their lines").heading(GOVERNANCE)
            .argument("FILE", "A file, or a folder with a file for each caller")
            .repeated_argument("FILE", "Further ones")
            .flag(STRICT, "Fail for warnings, too: for a tool that the program does not have, for instance")
            .flag(OFFLINE, "Do not compare them with the tools and approvers of the program, which connects its MCP servers")
            .flag(JSON, "Print a JSON array with an object for each file")
    }

    fn run<'a>(
        &'a self,
        arguments: &'a CommandArguments,
        pool: &'a ToolPool,
    ) -> BoxFuture<'a, ExitCode> {
        let is_strict = arguments.has(STRICT);
        print(arguments, move || Ok(each(arguments, |file| check(file, Some(pool), is_strict))))
    }

    fn run_without_pool<'a>(
        &'a self,
        arguments: &'a CommandArguments,
    ) -> Option<BoxFuture<'a, ExitCode>> {
        if arguments.has(STRICT) && arguments.has(OFFLINE) {
            let text = "`--strict` compares with the program, and `--offline` does not";
            return Some(print(arguments, move || Err(CommandFailure::usage(text))));
        }
        match needs_pool(arguments) {
            true => None,
            false => {
                Some(print(arguments, || Ok(each(arguments, |file| check(file, None, false)))))
            }
        }
    }
}

/// Shows the rule that decides about a call.
struct Explain;

impl CliCommand for Explain {
    fn form(&self) -> CommandForm {
        let about = "Show which rule decides about a call, why, and what would change it";
        CommandForm::new("policy explain", about)
            .heading(GOVERNANCE)
            .argument("FILE", "A file, or a folder with a file for each caller")
            .option("tool", "TOOL", "The id of the tool; required without `--call`")
            .option("args", "OBJECT", "The arguments, as JSON; default: none")
            .option("principal", "ID", "The id of the caller; default: an anonymous one")
            .repeated_option("label", "NAME=VALUE", "A label of the execution; repeatable")
            .option(
                "call",
                "CALL",
                "All of these and more, written as in the tests next to the rules",
            )
            .flag(JSON, "Print JSON")
    }

    fn run<'a>(
        &'a self,
        arguments: &'a CommandArguments,
        pool: &'a ToolPool,
    ) -> BoxFuture<'a, ExitCode> {
        print(arguments, || explain(arguments, Some(pool)))
    }

    fn run_without_pool<'a>(
        &'a self,
        arguments: &'a CommandArguments,
    ) -> Option<BoxFuture<'a, ExitCode>> {
        let file = arguments.positional().first().map(Path::new);
        let has_call = arguments.has("tool") || arguments.has("call");
        match has_call && file.is_some_and(|file| Loaded::from_path(file).is_ok()) {
            true => None,
            false => Some(print(arguments, || explain(arguments, None))),
        }
    }
}

/// Runs the tests next to the rules.
struct Test;

impl CliCommand for Test {
    fn form(&self) -> CommandForm {
        CommandForm::new("policy test", "Run the tests next to the rules")
            .heading(GOVERNANCE)
            .argument("FILE", "A file, or a folder with a file for each caller")
            .repeated_argument("FILE", "Further ones")
            .flag(OFFLINE, "Do not look up the tools in the program, which connects its MCP servers: only what the tests say of them counts")
            .flag(JSON, "Print a JSON array with an object for each file")
    }

    fn run<'a>(
        &'a self,
        arguments: &'a CommandArguments,
        pool: &'a ToolPool,
    ) -> BoxFuture<'a, ExitCode> {
        print(arguments, || Ok(each(arguments, |file| test(file, Some(pool)))))
    }

    fn run_without_pool<'a>(
        &'a self,
        arguments: &'a CommandArguments,
    ) -> Option<BoxFuture<'a, ExitCode>> {
        match needs_pool(arguments) {
            true => None,
            false => Some(print(arguments, || Ok(each(arguments, |file| test(file, None))))),
        }
    }
}

/// What a command found in a file.
struct Report {
    is_fine: bool,
    text: String,
    json: Value,
}

/// Prints what was found: as text, or as JSON.
fn print<'a>(
    arguments: &'a CommandArguments,
    run: impl FnOnce() -> Result<Report, CommandFailure> + Send + 'a,
) -> BoxFuture<'a, ExitCode> {
    Box::pin(async move {
        run_printing(|output| {
            let Report { is_fine, text, json } = run()?;
            match arguments.has(JSON) {
                true => writeln!(output, "{json:#}")?,
                false => write!(output, "{text}")?,
            }
            Ok(is_fine)
        })
    })
}

/// Examines all files. Those after one with mistakes are examined as well.
fn each(arguments: &CommandArguments, run: impl FnMut(&Path) -> Report) -> Report {
    merged(arguments.positional().iter().map(Path::new).map(run).collect())
}

/// Several reports as one, with an array.
fn merged(reports: Vec<Report>) -> Report {
    Report {
        is_fine: reports.iter().all(|report| report.is_fine),
        text: reports.iter().map(|report| report.text.as_str()).collect(),
        json: reports.into_iter().map(|report| report.json).collect(),
    }
}

fn check(file: &Path, pool: Option<&ToolPool>, is_strict: bool) -> Report {
    let document = match Loaded::from_path(file) {
        Ok(document) => document,
        Err(error) => return mistakes(file, &error),
    };
    // Compared with the tools and people that the program has.
    let mut warnings = pool.map(|pool| document.unused_patterns(pool)).unwrap_or_default();
    let untested =
        |policy: &Policy| pool.map(|pool| policy.tests_of_unknown_tools(pool)).unwrap_or_default();
    warnings.extend(document.policies().flat_map(untested));
    let unanswerable =
        |policy: &Policy| pool.map(|pool| pool.unanswerable(policy)).unwrap_or_default();
    let unanswerable = document.policies().flat_map(unanswerable);
    let problems: Vec<String> = unanswerable.map(|problem| problem.to_string()).collect();
    let is_fine = problems.is_empty() && (!is_strict || warnings.is_empty());
    let name = file.display();
    let mut text: String =
        warnings.iter().map(|warning| format!("{name}: warning: {warning}\n")).collect();
    text.extend(problems.iter().map(|problem| format!("{name}: {problem}\n")));
    if is_fine {
        let extent = if pool.is_some() { "" } else { ", without the tools of the program" };
        let _ = writeln!(text, "{name}: ok{extent}");
    }
    let json = json!({
        "file": name.to_string(), "is_fine": is_fine, "mistakes": problems, "warnings": warnings,
    });
    Report { is_fine, text, json }
}

/// The mistakes of a file that cannot be used.
fn mistakes(file: &Path, error: &PolicyError) -> Report {
    let problems: Vec<String> = error.problems().iter().map(ToString::to_string).collect();
    let text = problems.iter().map(|problem| format!("{problem}\n")).collect();
    let file = file.display().to_string();
    let json = json!({ "file": file, "is_fine": false, "mistakes": problems, "warnings": [] });
    Report { is_fine: false, text, json }
}

fn test(file: &Path, pool: Option<&ToolPool>) -> Report {
    let folder = match Loaded::from_path(file) {
        Ok(Loaded::File(policy)) => return run_tests(&policy, file, pool),
        Ok(Loaded::Folder(folder)) => folder,
        Err(error) => return mistakes(file, &error),
    };
    let tests = |policy: &Policy| run_tests(policy, &file.join(policy.name()), pool);
    let Report { is_fine, text, json } = merged(folder.policies().map(tests).collect());
    let file = file.display().to_string();
    let json = json!({ "file": file, "is_fine": is_fine, "policies": json });
    Report { is_fine, text, json }
}

fn run_tests(policy: &Policy, file: &Path, pool: Option<&ToolPool>) -> Report {
    let tests = match pool {
        Some(pool) => policy.test_in(pool),
        None => policy.test(),
    };
    let result = |test: &TestResult| json!({ "name": test.name, "failure": test.failure });
    let results: Vec<Value> = tests.results().iter().map(result).collect();
    let (name, is_fine) = (file.display(), tests.is_passed());
    let json = json!({ "file": name.to_string(), "is_fine": is_fine, "tests": results });
    Report { is_fine, text: format!("{name}\n{tests}"), json }
}

fn explain(
    arguments: &CommandArguments,
    pool: Option<&ToolPool>,
) -> Result<Report, CommandFailure> {
    let mut call = called(arguments)?;
    let file = Path::new(arguments.positional().first().map_or("", String::as_str));
    let document = match Loaded::from_path(file) {
        Ok(document) => document,
        Err(error) => return Ok(mistakes(file, &error)),
    };
    if let Some(pool) = pool {
        call = call.in_pool(pool);
        if let Some(problem) = unknown(&call, pool) {
            return Err(CommandFailure::usage(problem));
        }
    }
    let policy = match &document {
        Loaded::File(policy) => Some(policy),
        Loaded::Folder(folder) => folder.for_principal(&call.principal),
    };
    let Some(policy) = policy else {
        let reason = "no policy of the folder applies to this caller";
        let json = json!({ "decision": "deny", "reason": reason });
        return Ok(Report { is_fine: true, text: format!("deny: {reason}\n"), json });
    };
    let explanation = policy.explain(&call);
    let warnings: Vec<String> = call.called.iter().flat_map(|it| policy.lacks_of(it)).collect();
    let mut text = explanation.to_string();
    text.extend(warnings.iter().map(|warning| format!("warning: {warning}\n")));
    let mut json = explanation.to_json();
    json["warnings"] = warnings.into();
    Ok(Report { is_fine: true, text, json })
}

/// Why the program has nothing that the call is about.
fn unknown(call: &SampleCall, pool: &ToolPool) -> Option<String> {
    let snapshot = pool.snapshot();
    let (kind, name, names): (_, _, Vec<&str>) = match Subject::from_name(&call.tool) {
        Subject::Tool(_) if call.called.is_some() => return None,
        Subject::Tool(name) => {
            ("tool", name, snapshot.tools().iter().map(|tool| tool.name()).collect())
        }
        Subject::Resource(uri) if pool.find_resource(uri).is_some() => return None,
        Subject::Resource(uri) => {
            ("resource", uri, snapshot.resources().iter().map(|it| it.uri()).collect())
        }
        Subject::Prompt(name) => {
            ("prompt", name, snapshot.prompts().iter().map(|it| it.name()).collect())
        }
    };
    if names.contains(&name) {
        return None;
    }
    let help = match (nearest(name, names, 1).first(), kind) {
        (Some(near), _) => format!("; did you mean `{near}`?"),
        (None, "tool") => "; `list` shows them".to_owned(),
        _ => String::new(),
    };
    Some(format!("the program has no {kind} `{name}`{help}"))
}

/// The call that the options describe.
fn called(arguments: &CommandArguments) -> Result<SampleCall, CommandFailure> {
    if let Some(text) = arguments.value("call") {
        if let Some(other) =
            ["tool", "args", "principal", "label"].into_iter().find(|name| arguments.has(name))
        {
            let text = format!("`--call` describes the whole call; write `--{other}` into it");
            return Err(CommandFailure::usage(text));
        }
        return single_call(text).map_err(|error| {
            let problems: Vec<_> = error.problems().iter().map(ToString::to_string).collect();
            CommandFailure::usage(format!("`--call`: {}", problems.join("; ")))
        });
    }
    let Some(tool) = arguments.value("tool") else {
        let text = "name the tool by `--tool TOOL`, or describe the call by `--call CALL`";
        return Err(CommandFailure::usage(text));
    };
    let given = arguments.value("args").unwrap_or("{}");
    if let Err(error) = serde_json::from_str::<Map<String, Value>>(given) {
        let text = format!("`--args` is not a JSON object: {error}");
        return Err(CommandFailure::usage(text));
    }
    let mut call = SampleCall::new(tool)
        .arguments_text(given)
        .principal(Principal::new(arguments.value("principal").unwrap_or_default()));
    for label in arguments.values("label") {
        let (name, value) = label.split_once('=').unwrap_or((label, ""));
        call = call.label(name, value);
    }
    Ok(call)
}

#[cfg(test)]
mod tests;
