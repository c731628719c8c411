//! `remote serve`: the hub of remote runners.

use crate::{exit, print, signals};
use std::process::ExitCode;
use tool_runtime_core::{BoxFuture, CliCommand, CommandArguments, CommandForm, ToolPool};
use tool_runtime_remote::Hub;
use tool_runtime_server::BearerTokens;

/// Text below the options, for the help.
const TOKENS: &str = "Each line of the file of tokens is `NAME:TOKEN scopes=call:QUEUE,run:QUEUE`; `*` is all queues. A caller needs `call`, a runner `run`.";

/// The command `remote serve`.
pub(super) struct Serve;

impl CliCommand for Serve {
    fn form(&self) -> CommandForm {
        CommandForm::new("remote serve", "Serve the hub that callers and runners connect to")
            .option("listen", "ADDR", "The address, HOST:PORT or PORT; default: 7750 of 127.0.0.1")
            .option("db", "FILE", "The file of records; default: remote.db")
            .option("tokens", "FILE", "The file with the tokens of callers and runners")
            .after_help(TOKENS)
    }

    fn run<'a>(
        &'a self,
        arguments: &'a CommandArguments,
        _: &'a ToolPool,
    ) -> BoxFuture<'a, ExitCode> {
        Box::pin(serve(arguments))
    }

    fn run_without_pool<'a>(
        &'a self,
        arguments: &'a CommandArguments,
    ) -> Option<BoxFuture<'a, ExitCode>> {
        Some(Box::pin(serve(arguments)))
    }

    fn serves(&self) -> bool {
        true
    }
}

async fn serve(arguments: &CommandArguments) -> ExitCode {
    let Some(tokens) = arguments.value("tokens") else {
        print::error("name the file with the tokens of callers and runners by `--tokens FILE`");
        return ExitCode::from(exit::USAGE);
    };
    let tokens = match BearerTokens::from_file(tokens) {
        Ok(tokens) => tokens,
        Err(error) => {
            print::error(&error.to_string());
            return ExitCode::from(exit::USAGE);
        }
    };
    let file = arguments.value("db").unwrap_or("remote.db");
    let address = arguments.value("listen").unwrap_or("127.0.0.1:7750");
    let served = async { Hub::open(file)?.serve(address, tokens).await };
    match served.await {
        Ok(server) => {
            let end = signals::shutdown_token();
            print::to_stderr(&format!("listening on http://{}", server.address()));
            server.until(end).await;
            ExitCode::SUCCESS
        }
        Err(error) => {
            print::error(&error.to_string());
            ExitCode::from(exit::SETUP)
        }
    }
}
