//! Completions in shells: a script that asks the program, and the answer, which knows the tools of the pool.

use super::options::{self, CommandLine, call_options, candidates, prompt_options};
use super::{call, exit, print};
use clap::Command;
use clap_complete::env::Shells;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use tool_runtime_core::pool::ToolPool;

/// The variable by which a script asks for completions. Its value is the shell.
const VARIABLE: &str = "TOOL_COMPLETE";

/// The shells.
pub(super) fn shells() -> Vec<&'static str> {
    Shells::builtins().names().collect()
}

/// `completions SHELL`: prints the script of a shell.
pub(super) fn script(name: &str, shell: &str) -> ExitCode {
    let shells = Shells::builtins();
    let Some(shell) = shells.completer(shell) else { return ExitCode::from(exit::USAGE) };
    // The program as it was started, so that the script finds it in another directory, too.
    let program = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let program = match program.components().count() {
        0 | 1 => program,
        _ => std::path::absolute(&program).unwrap_or(program),
    };
    let mut text = Vec::new();
    let written =
        shell.write_registration(VARIABLE, name, name, &program.to_string_lossy(), &mut text);
    match written.and_then(|()| io::stdout().write_all(&text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print::error(&error.to_string());
            ExitCode::from(exit::ERROR)
        }
    }
}

/// The shell whose script has started this process.
pub(super) fn asking_shell() -> Option<String> {
    let shell = std::env::var(VARIABLE).ok()?;
    shells().contains(&shell.as_str()).then_some(shell)
}

/// Answers the script: prints what may follow the words of the command line.
pub(super) fn complete(line: &CommandLine<'_>, pool: &ToolPool, shell: &str) -> ExitCode {
    let words: Vec<OsString> =
        std::env::args_os().skip_while(|word| word != "--").skip(1).collect();
    let Ok(program) = options::program(line) else { return ExitCode::from(exit::SETUP) };
    let mut program = with_tools(program, pool);
    program.build();
    let shells = Shells::builtins();
    let Some(shell) = shells.completer(shell) else { return ExitCode::from(exit::USAGE) };
    let directory = std::env::current_dir().ok();
    let mut text = Vec::new();
    let answered = shell.write_complete(&mut program, words, directory.as_deref(), &mut text);
    match answered.and_then(|()| io::stdout().write_all(&text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(exit::ERROR),
    }
}

/// The program with a subcommand for each tool and prompt, and the names of tools and resources.
fn with_tools(program: Command, pool: &ToolPool) -> Command {
    let reserved = options::reserved(&program);
    let tools = pool.tools();
    let tools = tools.iter().map(|tool| tool.definition());
    let tools: Vec<Command> =
        tools.map(|it| call::completed(it, call_options().into(), &reserved)).collect();
    let prompts = pool.prompts();
    let prompts = prompts.iter().map(|prompt| call::as_tool(prompt.definition()));
    let prompts: Vec<Command> =
        prompts.map(|it| call::completed(&it, prompt_options().into(), &reserved)).collect();
    let names: Vec<String> = pool.tools().iter().map(|tool| tool.name().to_owned()).collect();
    let resources = pool.resources();
    let uris: Vec<String> = resources.iter().map(|it| it.definition().uri.clone()).collect();
    program
        .mut_subcommand("call", |call| call.subcommands(tools))
        .mut_subcommand("prompt", |prompt| prompt.subcommands(prompts))
        .mut_subcommand("schema", |it| it.mut_arg("tool", |tool| tool.add(candidates(names))))
        .mut_subcommand("read", |it| it.mut_arg("uri", |uri| uri.add(candidates(uris))))
}
