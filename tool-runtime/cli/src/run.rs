//! Runs a command.

use super::about::About;
#[cfg(feature = "export")]
use super::export;
#[cfg(feature = "http")]
use super::http;
use super::options::{Command, Serve};
use super::{call, completions, doctor, exit, list, print, selectors, signals};
use std::pin::Pin;
use std::process::ExitCode;
use tool_runtime_core::pool::{Selector, ToolPool};
use tool_runtime_core::vocabulary::BoxFuture;
use tool_runtime_server::McpServer;

impl About {
    /// Runs a command, unless a pattern of the command line picks no tool.
    pub(crate) async fn run_selected(
        self,
        pool: &ToolPool,
        command: Command,
        selectors: &[Selector],
    ) -> ExitCode {
        match selectors::unmatched(pool, selectors) {
            Some(code) => code,
            None => self.run(pool, command).await,
        }
    }

    /// Boxed, so that it is compiled once.
    pub(crate) fn run(self, pool: &ToolPool, command: Command) -> BoxFuture<'_, ExitCode> {
        Box::pin(async move {
            match command {
                Command::Serve(serve) => self.serve(pool, serve).await,
                #[cfg(feature = "http")]
                Command::ServeHttp(http) => http::serve(self.server(pool), pool, *http).await,
                #[cfg(feature = "export")]
                Command::List(list) if list.tokens => export::sizes(pool, list.json),
                Command::List(list) => list::list(pool, &list),
                Command::Report { json } => list::report(pool, json),
                #[cfg(feature = "export")]
                Command::Schema(schema) => export::schema(pool, &schema),
                #[cfg(not(feature = "export"))]
                Command::Schema(schema) => list::schema(pool, schema.name.as_deref()),
                Command::Call(call) => call::call(pool, call).await,
                Command::Prompt(call) => call::prompt(pool, call).await,
                Command::Completions { name, shell } => completions::script(&name, &shell),
                Command::Read(read) => call::read(pool, read).await,
                Command::Added(command, arguments) => match command.run_without_pool(&arguments) {
                    Some(run) => run.await,
                    None => command.run(&arguments, pool).await,
                },
                // `main!` runs this command itself.
                #[cfg(feature = "mcp-client")]
                Command::Status { .. } => ExitCode::from(exit::USAGE),
                Command::Doctor { json } => doctor::examine_program(&self, pool).finish(json),
            }
        })
    }

    async fn serve(self, pool: &ToolPool, command: Serve) -> ExitCode {
        let end = signals::shutdown_token(command.reloads);
        exit::exit_code(self.server(pool).serve_stdio_until(&end).await)
    }

    fn server(self, pool: &ToolPool) -> McpServer {
        let mut server = McpServer::new(pool.clone(), self.name, self.version)
            .with_ignored_arguments(self.ignored_arguments);
        if let Some(title) = self.title {
            server = server.with_title(title);
        }
        if let Some(instructions) = self.instructions {
            server = server.with_instructions(instructions);
        }
        server
    }
}

/// Minimum number of worker threads: one for the server, and two tools that block their thread run concurrently.
const MIN_WORKERS: usize = 3;

/// Runs a future in a new runtime. The process does not wait for blocking functions that still run at the end.
///
/// The future is boxed because tokio compiles it for each of its schedulers.
pub(crate) fn in_runtime(future: Pin<Box<dyn Future<Output = ExitCode> + '_>>) -> ExitCode {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.max(MIN_WORKERS))
        .enable_all()
        .build();
    match runtime {
        Ok(runtime) => {
            let code = runtime.block_on(future);
            runtime.shutdown_background();
            code
        }
        Err(error) => {
            print::error(&format!("cannot start the runtime: {error}"));
            ExitCode::from(exit::ERROR)
        }
    }
}
