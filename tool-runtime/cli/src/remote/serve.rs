//! `remote serve`: the hub of remote runners.

use crate::{exit, print, signals};
use std::process::ExitCode;
use tool_runtime_command::seam::SERVERS;
use tool_runtime_command::{CliCommand, CommandArguments, CommandForm};
use tool_runtime_core::vocabulary::BoxFuture;
use tool_runtime_remote::{CallerName, Hub, HubError, Queue};
use tool_runtime_server::BearerTokens;
use tool_runtime_server::seam::check_address;

/// Text below the options, for the help.
const TOKENS: &str = "Each line of the file of tokens is `NAME:TOKEN scopes=call:QUEUE,run:QUEUE`; `*` is all queues. A caller needs `call`, a runner `run`.";

/// The command `remote serve`.
pub(super) struct Serve;

impl CliCommand for Serve {
    fn form(&self) -> CommandForm {
        CommandForm::new("remote serve", "Serve the hub that callers and runners connect to")
            .heading(SERVERS)
            .option("listen", "ADDR", "The address, HOST:PORT or PORT; default: 7750 of 127.0.0.1")
            .option("db", "FILE", "The file of records; default: remote.db")
            .option("tokens", "FILE", "The file with the tokens of callers and runners")
            .after_help(TOKENS)
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
    let address = arguments.value("listen").unwrap_or("127.0.0.1:7750");
    let tokens = check_address(address)
        .map_err(|problem| format!("--listen: {problem}"))
        .and_then(|()| read_tokens(tokens));
    let tokens = match tokens {
        Ok(tokens) => tokens,
        Err(problem) => {
            print::error(&problem);
            return ExitCode::from(exit::USAGE);
        }
    };
    let file = arguments.value("db").unwrap_or("remote.db");
    let served = async { Hub::open(file)?.serve(address, tokens).await };
    match served.await {
        Ok(server) => {
            let end = signals::shutdown_token(false);
            print::to_stderr(&format!("listening on http://{}", server.address()));
            server.until(end).await;
            ExitCode::SUCCESS
        }
        Err(error) => {
            print::error(&error.to_string());
            ExitCode::from(match error {
                HubError::Listen(_) => exit::ERROR,
                _ => exit::SETUP,
            })
        }
    }
}

/// The tokens of a file, whose scopes are those of a hub.
fn read_tokens(file: &str) -> Result<BearerTokens, String> {
    let tokens = BearerTokens::from_file(file).map_err(|error| error.to_string())?;
    for principal in tokens.principals() {
        let name = principal.id().parse::<CallerName>();
        name.map_err(|error| format!("`{file}` has a name that a hub does not take: {error}"))?;
        let is_known = |scope: &&String| match scope.split_once(':') {
            Some(("call" | "run", queue)) => queue == "*" || queue.parse::<Queue>().is_ok(),
            _ => false,
        };
        if let Some(scope) = principal.scopes().iter().find(|scope| !is_known(scope)) {
            return Err(format!(
                "`{file}` gives `{}` the scope `{scope}`, which a hub does not know; write `call:QUEUE` or `run:QUEUE`",
                principal.id()
            ));
        }
        if principal.scopes().is_empty() {
            return Err(format!(
                "`{file}` gives `{}` no scope; write `NAME:TOKEN scopes=call:QUEUE` or `scopes=run:QUEUE`",
                principal.id()
            ));
        }
    }
    Ok(tokens)
}
