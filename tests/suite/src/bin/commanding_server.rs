//! A program with commands of its own. The environment variable `CLASH` makes one of them invalid, or, as `default`,
//! a tool.

#![allow(clippy::print_stdout, reason = "a command of a program prints")]

use std::process::ExitCode;
use tool_runtime::cli::{CliCommand, CommandArguments, CommandForm};
use tool_runtime::pool::PoolExtension;
use tool_runtime::prelude::*;
use tool_runtime::{BoxFuture, ToolPoolBuilder};

/// Answer at once.
#[tool(read_only)]
async fn ping() -> &'static str {
    "pong"
}

fn panicking() -> i64 {
    panic!("the table is missing")
}

/// Count.
#[tool(register = false)]
async fn count(
    /// The first number.
    #[arg(default = panicking())]
    start: i64,
) -> i64 {
    start
}

/// A command that prints what it was given.
struct Print(CommandForm);

impl CliCommand for Print {
    fn form(&self) -> CommandForm {
        self.0.clone()
    }

    fn run<'a>(
        &'a self,
        arguments: &'a CommandArguments,
        pool: &'a ToolPool,
    ) -> BoxFuture<'a, ExitCode> {
        Box::pin(async move {
            let rules: Vec<&str> = arguments.values("rule").collect();
            let (json, after) = (arguments.has("json"), arguments.value("after"));
            println!("{} {:?} {rules:?} {after:?} {json}", self.0.name, arguments.positional());
            println!("{} tools", pool.tools().len());
            ExitCode::from(
                u8::from(arguments.positional().iter().any(|argument| argument == "fail")) * 7,
            )
        })
    }
}

/// An extension that brings a group of commands.
struct Logs;

impl PoolExtension for Logs {
    fn install<S>(self, builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
        let show = CommandForm::new("log show", "Show the log")
            .optional_argument("FILE", "The file; default: the newest")
            .option("after", "NUMBER", "Begin after this entry");
        let verify = CommandForm::new("log verify", "Verify the log").argument("FILE", "The file");
        builder.command(Print(show)).command(Print(verify))
    }
}

fn clash() -> Option<CommandForm> {
    let name = std::env::var("CLASH").ok()?;
    Some(match name.as_str() {
        "option" => CommandForm::new("extra", "Clash").flag("tools", "Exists already"),
        "order" => {
            CommandForm::new("extra", "Clash").optional_argument("A", "A").argument("B", "B")
        }
        name => CommandForm::new(name.to_owned().leak(), "Clash"),
    })
}

tool_runtime::main!(
    pool = |pool| {
        let check = CommandForm::new("check", "Check files by rules")
            .argument("FIRST", "The first file")
            .repeated_argument("FILE", "Further files")
            .repeated_option("rule", "NAME", "Only this rule; repeatable")
            .flag("json", "Print JSON")
            .after_help("Exit codes: 0 success, 7 a check failed.");
        let later = CommandForm::new("later", "Wait").argument("TIME", "The time");
        let pool = pool.command(Print(check)).command(Print(later.missing_feature("clock")));
        let pool = pool.install(Logs);
        if std::env::var("CLASH").is_ok_and(|clash| clash == "default") {
            return pool.tool::<CountAction>();
        }
        clash().into_iter().fold(pool, |pool, form| pool.command(Print(form)))
    }
);
