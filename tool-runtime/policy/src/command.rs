//! The commands `policy check`, `policy explain` and `policy test`.

use crate::case::SampleCall;
use crate::folder::PolicyFolder;
use crate::policy::Policy;
use crate::read::{PolicyError, single_call};
use crate::subject::Subject;
use std::io::{self, Write};
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

/// Whether the pool is wanted. A file with mistakes may be the one that the pool lacks.
fn needs_pool(arguments: &CommandArguments) -> bool {
    let is_readable = |file: &String| read(Path::new(file)).is_ok();
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
    }

    fn run<'a>(
        &'a self,
        arguments: &'a CommandArguments,
        pool: &'a ToolPool,
    ) -> BoxFuture<'a, ExitCode> {
        let is_strict = arguments.has(STRICT);
        print(move |output| each(arguments, |file| check(file, Some(pool), is_strict, output)))
    }

    fn run_without_pool<'a>(
        &'a self,
        arguments: &'a CommandArguments,
    ) -> Option<BoxFuture<'a, ExitCode>> {
        if arguments.has(STRICT) && arguments.has(OFFLINE) {
            let text = "`--strict` compares with the program, and `--offline` does not";
            return Some(print(move |_| Err(CommandFailure::usage(text))));
        }
        match needs_pool(arguments) {
            true => None,
            false => Some(print(|output| each(arguments, |file| check(file, None, false, output)))),
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
    }

    fn run<'a>(
        &'a self,
        arguments: &'a CommandArguments,
        pool: &'a ToolPool,
    ) -> BoxFuture<'a, ExitCode> {
        print(|output| explain(arguments, Some(pool), output))
    }

    fn run_without_pool<'a>(
        &'a self,
        arguments: &'a CommandArguments,
    ) -> Option<BoxFuture<'a, ExitCode>> {
        let file = arguments.positional().first().map(Path::new);
        let has_call = arguments.has("tool") || arguments.has("call");
        match has_call && file.is_some_and(|file| read(file).is_ok()) {
            true => None,
            false => Some(print(|output| explain(arguments, None, output))),
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
    }

    fn run<'a>(
        &'a self,
        arguments: &'a CommandArguments,
        pool: &'a ToolPool,
    ) -> BoxFuture<'a, ExitCode> {
        print(|output| each(arguments, |file| test(file, Some(pool), output)))
    }

    fn run_without_pool<'a>(
        &'a self,
        arguments: &'a CommandArguments,
    ) -> Option<BoxFuture<'a, ExitCode>> {
        match needs_pool(arguments) {
            true => None,
            false => Some(print(|output| each(arguments, |file| test(file, None, output)))),
        }
    }
}

fn print<'a>(
    run: impl FnOnce(&mut dyn Write) -> Result<bool, CommandFailure> + Send + 'a,
) -> BoxFuture<'a, ExitCode> {
    Box::pin(async move { run_printing(run) })
}

/// Whether all files are fine. Those after one with mistakes are examined as well.
fn each(
    arguments: &CommandArguments,
    mut run: impl FnMut(&Path) -> io::Result<bool>,
) -> Result<bool, CommandFailure> {
    let mut is_fine = true;
    for file in arguments.positional() {
        is_fine &= run(Path::new(file))?;
    }
    Ok(is_fine)
}

/// A file or a folder.
enum Document {
    File(Policy),
    Folder(PolicyFolder),
}

impl Document {
    fn policies(&self) -> Box<dyn Iterator<Item = &Policy> + '_> {
        match self {
            Self::File(policy) => Box::new(std::iter::once(policy)),
            Self::Folder(folder) => Box::new(folder.policies()),
        }
    }
}

fn read(file: &Path) -> Result<Document, PolicyError> {
    match file.is_dir() {
        true => PolicyFolder::from_folder(file).map(Document::Folder),
        false => Policy::from_file(file).map(Document::File),
    }
}

fn check(
    file: &Path,
    pool: Option<&ToolPool>,
    is_strict: bool,
    output: &mut dyn Write,
) -> io::Result<bool> {
    let document = match read(file) {
        Ok(document) => document,
        Err(error) => return report(&error, output),
    };
    let mut is_fine = true;
    if let Some(pool) = pool {
        for policy in document.policies() {
            is_fine &= compare(policy, file, pool, is_strict, output)?;
        }
    }
    if is_fine {
        let extent = if pool.is_some() { "" } else { ", without the tools of the program" };
        writeln!(output, "{}: ok{extent}", file.display())?;
    }
    Ok(is_fine)
}

/// Reports what a policy says about tools and people that the program does not have. Whether it can work as it says.
fn compare(
    policy: &Policy,
    file: &Path,
    pool: &ToolPool,
    is_strict: bool,
    output: &mut dyn Write,
) -> io::Result<bool> {
    let warnings = policy.unused_patterns(pool);
    for warning in &warnings {
        writeln!(output, "{}: warning: {warning}", file.display())?;
    }
    let unanswerable = pool.unanswerable(policy);
    for problem in &unanswerable {
        writeln!(output, "{}: {problem}", file.display())?;
    }
    Ok(unanswerable.is_empty() && (!is_strict || warnings.is_empty()))
}

fn report(error: &PolicyError, output: &mut dyn Write) -> io::Result<bool> {
    for problem in error.problems() {
        writeln!(output, "{problem}")?;
    }
    Ok(false)
}

fn test(file: &Path, pool: Option<&ToolPool>, output: &mut dyn Write) -> io::Result<bool> {
    let policies = match read(file) {
        Ok(Document::File(policy)) => return run_tests(&policy, file, pool, output),
        Ok(Document::Folder(folder)) => folder,
        Err(error) => return report(&error, output),
    };
    let mut is_passed = true;
    for policy in policies.policies() {
        is_passed &= run_tests(policy, &file.join(policy.name()), pool, output)?;
    }
    Ok(is_passed)
}

fn run_tests(
    policy: &Policy,
    file: &Path,
    pool: Option<&ToolPool>,
    output: &mut dyn Write,
) -> io::Result<bool> {
    let tests = match pool {
        Some(pool) => policy.test_in(pool),
        None => policy.test(),
    };
    write!(output, "{}\n{tests}", file.display())?;
    Ok(tests.is_passed())
}

fn explain(
    arguments: &CommandArguments,
    pool: Option<&ToolPool>,
    output: &mut dyn Write,
) -> Result<bool, CommandFailure> {
    let mut call = called(arguments)?;
    let file = arguments.positional().first().map_or("", String::as_str);
    let document = match read(Path::new(file)) {
        Ok(document) => document,
        Err(error) => return Ok(report(&error, output)?),
    };
    if let Some(pool) = pool {
        call = call.in_pool(pool);
        if let Some(problem) = unknown(&call, pool) {
            return Err(CommandFailure::usage(problem));
        }
    }
    let policy = match &document {
        Document::File(policy) => Some(policy),
        Document::Folder(folder) => folder.for_principal(&call.principal),
    };
    match policy {
        Some(policy) => {
            write!(output, "{}", policy.explain(&call))?;
            let tool = call.called.iter();
            for warning in tool.flat_map(|tool| policy.lacks_of(tool)) {
                writeln!(output, "warning: {warning}")?;
            }
        }
        None => writeln!(output, "deny: no policy of the folder applies to this caller")?,
    }
    Ok(true)
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
    if let Err(error) = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(given) {
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
