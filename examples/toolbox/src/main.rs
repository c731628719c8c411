//! Tools for files, search, a shell and the web, over MCP and from the command line.
//!
//! ```text
//! cargo run -p toolbox -- serve --root . --families files,search,shell --policy examples/toolbox/policy.yaml
//! cargo run -p toolbox -- call Grep pattern='fn main' --root .
//! cargo run -p toolbox -- call Bash command='cargo --version' --sandbox landlock
//! ```
//!
//! | Option | Effect | Default |
//! |---|---|---|
//! | `--root DIR` | a directory that the tools may touch; repeat it for more | the working directory |
//! | `--families LIST` | some of `files`, `search`, `shell`, `web`, `servers` | `files,search` |
//! | `--policy FILE` | rules about calls, in YAML | none: every call is allowed |
//! | `--sandbox KIND` | confinement of commands: `landlock` or `bubblewrap` | none |
//! | `--no-network` | commands have no network; needs a sandbox | |
//! | `--mcp-config FILE` | MCP servers whose tools and resources are added | none |
//! | `--searxng URL` | the search engine of `WebSearch`: an instance of SearXNG | Brave or Tavily, if `BRAVE_API_KEY` or `TAVILY_API_KEY` is set |
//! | `--allow-host HOST` | a host with a private address that pages may be fetched from; repeat it for more | none |
//! | `--open-hands` | the names of OpenHands: `file_editor`, `terminal`, `glob`, `grep` | |
//!
//! All other arguments are those of every tool program: `serve`, `list`, `call`, `schema`, `report`.

mod options;

use options::{BoxError, Options};
use std::ffi::OsString;
use std::process::ExitCode;
use tool_runtime::Cli;
use tool_runtime::mcp::{McpConfig, McpManager};
use tool_runtime::policy::Policy;
use tool_runtime::prelude::*;
use tool_runtime::shell::ShellMatcher;

#[tokio::main]
async fn main() -> ExitCode {
    let (pool, _servers, arguments) = match prepare().await {
        Ok(prepared) => prepared,
        Err(error) => {
            eprintln!("toolbox: {error}");
            return ExitCode::from(3);
        }
    };
    let cli = Cli::new(pool.clone()).name("toolbox").version(env!("CARGO_PKG_VERSION"));
    let code = cli.about(env!("CARGO_PKG_DESCRIPTION")).run_from(arguments).await;
    // Ends background jobs and terminals, and disconnects servers.
    pool.close().await;
    code
}

/// The pool, its servers, and the arguments that are not about them.
async fn prepare() -> Result<(ToolPool, Option<McpManager>, Vec<OsString>), BoxError> {
    let (options, arguments) = Options::parse(std::env::args_os())?;
    let builder = ToolPool::builder().install(options.builtins()?).argument_matcher(ShellMatcher);
    let pool = match &options.policy {
        Some(file) => builder.install(Policy::read(file)?).build()?,
        None => builder.build()?,
    };
    let servers = match options.servers {
        Some(file) => {
            let config = McpConfig::loader().environment().file(file).load()?;
            Some(McpManager::connect(config, &pool).await?)
        }
        None => None,
    };
    Ok((pool, servers, arguments))
}
