//! `call TOOL ...`: calls a tool and prints the result.

mod arguments;
mod example;
mod files;
mod form;
mod schema;
mod secret;
mod sources;
mod structured;
mod terminal_peer;
mod tool_command;

use super::approver::{TerminalApprover, is_attended};
use super::options::{Call, CallOptions, Read, call_options, prompt_options, texts, usage};
use super::{exit, print, signals};
use arguments::Given;
use clap::{Arg, ArgMatches, Command};
pub(super) use schema::resolved;
use serde_json::{Map, Value, json};
use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::Arc;
use terminal_peer::TerminalPeer;
use tool_command::{ToolOption, tool_options};
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::seam::{Isolation, printable_lines};
use tool_runtime_core::tool::prompt::{PromptArgument, PromptDefinition};
use tool_runtime_core::tool::{
    Observation, TextArguments, Tool, ToolCall, ToolContext, ToolDefinition, ToolResult,
};
use tool_runtime_core::vocabulary::CancellationToken;
use tool_runtime_core::vocabulary::content::ContentBlock;
use tool_runtime_core::vocabulary::error::{CallError, ErrorClass};

/// The hint after a result that has files.
const OUTPUT_HINT: &str = "`--output PATH` saves it";

pub(super) async fn call(pool: &ToolPool, mut call: Call) -> ExitCode {
    let tool = match pool.resolve(&call.tool) {
        Ok(tool) => tool,
        Err(error) => return failure(&error),
    };
    let arguments = match arguments_of(&mut call, &tool) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    if !is_confirmed(pool, &call.options, &tool, &arguments).await {
        return ExitCode::from(exit::ERROR);
    }
    let session = pool.session();
    let pool = session.pool();
    let peer = Arc::new(TerminalPeer::new());
    let cancel = signals::shutdown_token(false);
    let context = context_of(pool, Arc::clone(&peer), &cancel);
    let result = pool.call_with(ToolCall::new(&call.tool, &arguments), &context).await;
    peer.finish();
    let output = call.options.output.as_deref().filter(|_| !result.is_error());
    if let Some(Err(problem)) = output.map(|it| save(result.observation(), it, &call.tool)) {
        print::error(&problem);
        return ExitCode::from(exit::ERROR);
    }
    if call.options.json {
        print::line(&result.observation().to_json());
    } else if output.is_none() {
        show(pool, &result, &arguments);
    }
    if result.error().is_some_and(|error| error.class() == ErrorClass::Input) {
        let Call { program, tool, .. } = &call;
        print::to_stderr(&format!("\nFor more information, try '{program} {tool} --help'."));
    }
    match result.is_error() && cancel.is_cancelled() {
        true => ExitCode::from(exit::INTERRUPTED),
        false => exit_code(&result),
    }
}

/// Whether the tool may be called: a person at a terminal is asked about one that declares that it is destructive.
async fn is_confirmed(
    pool: &ToolPool,
    options: &CallOptions,
    tool: &Tool,
    arguments: &str,
) -> bool {
    let is_destructive = tool.definition().annotations.destructive_hint == Some(true);
    // A policy has its own questions.
    if options.yes || !is_destructive || !is_attended() || pool.has_governors() {
        return true;
    }
    let shown = printable_lines(&tool.visualize(arguments));
    let question = format!("{shown}\n`{}` is destructive. Call it?", tool.name());
    let is_confirmed = form::is_confirmed(&TerminalApprover::new(), &question).await;
    if is_confirmed != Some(true) {
        print::error(&format!("`{}` was not called", tool.name()));
    }
    is_confirmed == Some(true)
}

/// `prompt NAME ...`: prints the messages of a prompt.
pub(super) async fn prompt(pool: &ToolPool, mut call: Call) -> ExitCode {
    let prompts = pool.prompts();
    let found = prompts.iter().find(|prompt| prompt.definition().name == call.tool);
    let definition = match found {
        Some(prompt) => as_tool(prompt.definition()),
        // The pool says what it is.
        None => ToolDefinition::new(&call.tool, ""),
    };
    let arguments =
        match read_arguments(&mut call, &definition, prompt_options().into(), &str::to_owned) {
            Ok(arguments) => serde_json::from_str::<Map<String, Value>>(&arguments),
            Err(code) => return code,
        };
    let arguments: TextArguments = arguments.unwrap_or_default().into_iter().map(as_text).collect();
    let context = context_of(pool, Arc::new(TerminalPeer::new()), &signals::shutdown_token(false));
    let messages = match pool.get_prompt(&call.tool, &arguments, &context).await {
        Ok(messages) => messages,
        Err(error) => return failure(&error),
    };
    if call.options.json {
        print::line(&json!(messages).to_string());
        return ExitCode::SUCCESS;
    }
    for message in &messages.messages {
        let text = Observation::from(message.content.clone()).visualize();
        let role = json!(message.role);
        match messages.messages.len() {
            1 => print::text(&text),
            _ => print::text(&format!("[{}]\n{text}", role.as_str().unwrap_or_default())),
        }
    }
    ExitCode::SUCCESS
}

/// The definition of a tool with the arguments of a prompt.
pub(super) fn as_tool(prompt: &PromptDefinition) -> ToolDefinition {
    let arguments = prompt.arguments.iter();
    let property = |argument: &PromptArgument| {
        let schema = json!({ "type": "string", "description": argument.description });
        (argument.name.clone(), schema)
    };
    let properties: Map<String, Value> = arguments.clone().map(property).collect();
    let required = arguments.filter(|argument| argument.required).map(|argument| &argument.name);
    let required: Vec<&String> = required.collect();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    ToolDefinition::new(&prompt.name, &prompt.description).with_input_schema(schema)
}

fn as_text((name, value): (String, Value)) -> (String, String) {
    match value {
        Value::String(text) => (name, text),
        other => (name, other.to_string()),
    }
}

/// `read URI ...`: prints or saves the contents of a resource.
pub(super) async fn read(pool: &ToolPool, read: Read) -> ExitCode {
    let context = context_of(pool, Arc::new(TerminalPeer::new()), &signals::shutdown_token(false));
    let contents = match pool.read_resource(&read.uri, &context).await {
        Ok(contents) => contents,
        Err(error) => return failure(&error),
    };
    if read.json {
        print::line(&json!({ "contents": contents }).to_string());
        return ExitCode::SUCCESS;
    }
    let blocks: Vec<ContentBlock> = contents.into_iter().map(ContentBlock::from).collect();
    let observation = blocks.into_iter().fold(Observation::default(), Observation::with_content);
    match &read.output {
        Some(output) => match save(&observation, output, "resource") {
            Ok(()) => {}
            Err(problem) => {
                print::error(&problem);
                return ExitCode::from(exit::ERROR);
            }
        },
        None => print::text(&plain(&observation)),
    }
    ExitCode::SUCCESS
}

/// Prints the error of a prompt or a resource.
fn failure(error: &CallError) -> ExitCode {
    print::error(&error.to_string());
    ExitCode::from(match error.class() {
        ErrorClass::Input | ErrorClass::NotFound => exit::USAGE,
        _ => exit::ERROR,
    })
}

/// The context of a call by the person at the terminal.
fn context_of(pool: &ToolPool, peer: Arc<TerminalPeer>, cancel: &CancellationToken) -> ToolContext {
    // A tool that blocks its thread stops neither its time limit nor a signal.
    pool.context()
        .with_peer(peer)
        .with_cancellation(cancel.clone())
        .with_isolation(Some(Isolation::default()))
}

/// Saves the files of a result, or else its text.
fn save(observation: &Observation, output: &str, name: &str) -> Result<(), String> {
    let files = files::files_of(observation.content());
    let saved = match files.is_empty() {
        false => files::save(&files, output, name)?,
        true => {
            let text = observation.to_text();
            std::fs::write(output, text).map_err(|error| format!("`{output}`: {error}"))?;
            vec![output.into()]
        }
    };
    for path in saved {
        print::to_stderr(&format!("saved {}", path.display()));
    }
    Ok(())
}

/// Reads what follows the name of the tool. Returns the arguments as JSON.
fn arguments_of(call: &mut Call, tool: &Tool) -> Result<String, ExitCode> {
    let canonical = |name: &str| tool.argument_name(name).to_owned();
    read_arguments(call, tool.definition(), call_options().into(), &canonical)
}

fn read_arguments(
    call: &mut Call,
    definition: &ToolDefinition,
    of_command: Vec<Arg>,
    canonical: &dyn Fn(&str) -> String,
) -> Result<String, ExitCode> {
    let known = tool_options(definition, &call.reserved);
    let mut command = tool_command::command(&call.program, definition, of_command, &known);
    let matches = command.try_get_matches_from_mut(&call.rest).map_err(|error| usage(&error))?;
    call.options.read(&matches);
    let given = Given::new(definition, canonical);
    object(&call.options, given, &known, &matches).map_err(|message| {
        print::error(&message);
        ExitCode::from(exit::USAGE)
    })
}

/// The command of a tool or of a prompt, for completions. `reserved` are the options of the program.
pub(super) fn completed(
    definition: &ToolDefinition,
    of_command: Vec<Arg>,
    reserved: &[String],
) -> Command {
    tool_command::command("", definition, of_command, &tool_options(definition, reserved))
}

/// The arguments as a JSON object.
fn object(
    options: &CallOptions,
    mut arguments: Given<'_>,
    known: &[ToolOption],
    matches: &ArgMatches,
) -> Result<String, String> {
    let pairs = texts(matches, "pairs");
    let given: Vec<(&ToolOption, Vec<String>)> =
        known.iter().map(|it| (it, texts(matches, &tool_command::id(&it.name)))).collect();
    let is_given = given.iter().any(|(_, texts)| !texts.is_empty());
    let whole = match &options.args {
        Some(args) => Some(sources::object(args)?),
        None if pairs == ["-"] => Some(sources::stdin()?),
        None => None,
    };
    if let Some(whole) = whole {
        let has_others = is_given || (options.args.is_some() && !pairs.is_empty());
        return match has_others {
            true => {
                Err("the arguments are given as one JSON object and one by one; use one of the two"
                    .to_owned())
            }
            false => Ok(whole),
        };
    }
    for (option, texts) in given {
        for text in texts {
            match option.is_secret {
                true => arguments.add(&option.name, &secret::read(&option.name, &text)?)?,
                false => arguments.add_option(&option.name, &text)?,
            }
        }
    }
    for pair in &pairs {
        let secret = known.iter().filter(|it| it.is_secret).find_map(|it| it.value_of(pair));
        match secret {
            Some((name, text)) => arguments.add(name, &secret::read(name, text)?)?,
            None => arguments.add_pair(pair)?,
        }
    }
    for option in known {
        if option.is_missing_secret(&arguments)
            && let Some(secret) = secret::ask(&option.name)?
        {
            arguments.add(&option.name, &secret)?;
        }
    }
    Ok(arguments.into_json())
}

/// Prints the formatted call and result on a terminal, and the plain text to a pipe.
fn show(pool: &ToolPool, result: &ToolResult, arguments: &str) {
    if result.is_error() {
        let text = result.observation().to_text();
        print::error(&text);
        let detail = result.error().and_then(|error| error.detail());
        if let Some(detail) = detail.filter(|detail| *detail != text) {
            print::to_stderr(&format!("detail: {detail}"));
        }
        return;
    }
    let has_files = !files::files_of(result.observation().content()).is_empty();
    if !std::io::stdout().is_terminal() {
        let text = plain(result.observation());
        if !text.is_empty() {
            print::line(&text);
        }
        if has_files {
            print::to_stderr(OUTPUT_HINT);
        }
        return;
    }
    // An approver or a hook may have changed the arguments.
    let called = pool.get(result.name()).filter(|_| !pool.has_governors());
    if let Some(tool) = called {
        print::dimmed(&printable_lines(&tool.visualize(arguments)));
    }
    let observation = result.observation();
    let text = readable(observation).unwrap_or_else(|| observation.visualize());
    print::line(&printable_lines(&text));
    if has_files {
        print::dimmed(OUTPUT_HINT);
    }
}

/// A structured value as aligned lines, unless the result has its own text.
fn readable(observation: &Observation) -> Option<String> {
    let value = observation.structured()?;
    let is_copy = |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|it| it == *value);
    match observation.content() {
        [] => {}
        [ContentBlock::Text(text)] if is_copy(text.text()) => {}
        _ => return None,
    }
    (value.is_object() || value.is_array()).then(|| structured::lines(value))
}

/// The text of a result, or a description of content without text.
fn plain(observation: &Observation) -> String {
    let text = observation.to_text();
    if text.is_empty() { observation.visualize() } else { text }
}

fn exit_code(result: &ToolResult) -> ExitCode {
    match result.error().map(|error| error.class()) {
        Some(ErrorClass::Input | ErrorClass::NotFound) => ExitCode::from(exit::USAGE),
        _ if result.is_error() => ExitCode::from(exit::ERROR),
        _ => match result.observation().failed_command() {
            Some(code) => ExitCode::from(u8::try_from(code).unwrap_or(exit::ERROR)),
            None => ExitCode::SUCCESS,
        },
    }
}
