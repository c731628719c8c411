//! The parts of a program that its configuration decides.

use super::beside::Beside;
use super::reload::{Reload, Reloading};
use crate::BoxError;
use crate::about::About;
#[cfg(feature = "http")]
use crate::options::ServeHttp;
use crate::options::{Command, Serve};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;
#[cfg(feature = "mcp-client")]
use tool_runtime_config::McpConfigLoader;
use tool_runtime_core::pool::{PoolConfig, Registry, ToolPool, ToolPoolBuilder, WithToolsets};
use tool_runtime_core::vocabulary::{BoxFuture, CancellationToken};
#[cfg(feature = "http")]
use tool_runtime_server::HttpOptions;

/// Adds the files or values of external MCP servers to a loader.
#[cfg(feature = "mcp-client")]
pub(crate) type ServerInputs = Arc<dyn Fn(McpConfigLoader) -> McpConfigLoader + Send + Sync>;

/// Work beside a server.
pub(crate) type WhileServing =
    Box<dyn FnOnce(ToolPool, CancellationToken) -> BoxFuture<'static, ()> + Send>;

/// The parts of a [`Program`](super::Program) that its configuration decides.
#[must_use = "a program runs the assembly that it returns"]
pub struct Assembly {
    pub(crate) pool: ToolPoolBuilder,
    /// The file with the names of tools.
    pub(crate) tools: Option<PathBuf>,
    pub(crate) registry: Option<Registry>,
    /// Whether linked tools are added without a file.
    pub(crate) is_linked: bool,
    title: Option<String>,
    instructions: Option<String>,
    #[cfg(feature = "mcp-client")]
    pub(crate) servers: Option<ServerInputs>,
    #[cfg(feature = "http")]
    http: Option<Http>,
    reload: Option<Arc<dyn Reload>>,
    while_serving: Option<WhileServing>,
    /// The URL of a hub, and whether the hints of its runners count.
    #[cfg(feature = "remote")]
    pub(crate) hub: Option<(String, bool)>,
}

/// How a program serves over HTTP.
#[cfg(feature = "http")]
#[derive(Default)]
struct Http {
    address: Option<String>,
    options: HttpOptions,
}

impl Assembly {
    /// The tools and rules of a pool. Questions about calls reach the user of the client by a form, or the person at the
    /// terminal, unless the pool has an approver.
    pub fn new(pool: ToolPoolBuilder) -> Self {
        Self {
            pool,
            tools: None,
            registry: None,
            is_linked: false,
            title: None,
            instructions: None,
            #[cfg(feature = "mcp-client")]
            servers: None,
            #[cfg(feature = "http")]
            http: None,
            reload: None,
            while_serving: None,
            #[cfg(feature = "remote")]
            hub: None,
        }
    }

    /// Sets the title that MCP clients show to people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the instructions for models: how to use the tools together.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Adds the tools of external MCP servers. `inputs` adds their files or values to the loader, again at each reload.
    /// `--mcp-config` replaces them. Needs [`Program::servers`](super::Program::servers).
    #[cfg(feature = "mcp-client")]
    pub fn servers(
        mut self,
        inputs: impl Fn(McpConfigLoader) -> McpConfigLoader + Send + Sync + 'static,
    ) -> Self {
        self.servers = Some(Arc::new(inputs));
        self
    }

    /// Lets `serve` serve over HTTP at an address. `None`: only with `--http`, and then with these options. Options of the
    /// command line change them.
    #[cfg(feature = "http")]
    pub fn http(mut self, address: Option<String>, options: HttpOptions) -> Self {
        self.http = Some(Http { address, options });
        self
    }

    /// Adds the tools of the runners of a hub. `is_trusted`: their hints count, such as `read_only`.
    #[cfg(feature = "remote")]
    pub fn remote(mut self, url: impl Into<String>, is_trusted: bool) -> Self {
        self.hub = Some((url.into(), is_trusted));
        self
    }

    /// Runs work beside the server, as the jobs of a schedule. It has ten seconds to end once its token is cancelled.
    pub fn while_serving(
        mut self,
        work: impl FnOnce(ToolPool, CancellationToken) -> BoxFuture<'static, ()> + Send + 'static,
    ) -> Self {
        self.while_serving = Some(Box::new(work));
        self
    }

    /// Reads the configuration again while the program serves. SIGHUP does not end it then.
    pub fn reload(mut self, reload: impl Reload) -> Self {
        self.reload = Some(Arc::new(reload));
        self
    }

    /// The tasks beside a server.
    pub(super) fn beside(&mut self, began: SystemTime) -> Beside {
        let reloading = self.reload.clone().map(|reload| Reloading::new(reload, began));
        Beside { work: self.while_serving.take(), reloading }
    }

    pub(super) fn change(&mut self, about: &mut About) {
        about.title = self.title.take().or(about.title.take());
        about.instructions = self.instructions.take().or(about.instructions.take());
    }

    /// The command with what the configuration says about it.
    pub(super) fn serving(&mut self, command: Command) -> Command {
        let reloads = self.reload.is_some();
        #[cfg(feature = "http")]
        let http = self.http.take();
        match command {
            #[cfg(feature = "http")]
            Command::Serve(Serve { is_stdio: false, .. })
                if http.as_ref().is_some_and(|http| http.address.is_some()) =>
            {
                let Http { address, options } = http.unwrap_or_default();
                let serve =
                    ServeHttp { address: address.unwrap_or_default(), ..ServeHttp::default() };
                Command::ServeHttp(Box::new(ServeHttp { base: options, reloads, ..serve }))
            }
            #[cfg(feature = "http")]
            Command::ServeHttp(serve) => {
                let base = http.unwrap_or_default().options;
                Command::ServeHttp(Box::new(ServeHttp { base, reloads, ..*serve }))
            }
            Command::Serve(serve) => Command::Serve(Serve { reloads, ..serve }),
            other => other,
        }
    }

    /// The pool with the tools of a file, or else with all linked tools.
    ///
    /// # Errors
    /// The file cannot be read, or the pool cannot be built.
    pub(crate) async fn build(self) -> Result<ToolPool, BoxError> {
        let Self { pool, tools, registry, is_linked, .. } = self;
        let Some(file) = tools else {
            let pool = if is_linked { linked(pool) } else { pool.in_state() };
            return Ok(pool.build().await?);
        };
        let config = PoolConfig::from_file(&file)?;
        let registry = registry.unwrap_or_else(self::registry);
        // The file only selects tools: prompts and resources stay.
        #[cfg(feature = "linked")]
        let pool = pool.linked_offerings();
        let pool = pool.config(&registry, config).build().await;
        pool.map_err(|error| format!("{}: {error}", file.display()).into())
    }
}

fn linked(pool: ToolPoolBuilder) -> ToolPoolBuilder<WithToolsets> {
    #[cfg(feature = "linked")]
    return pool.linked().linked_toolsets();
    #[cfg(not(feature = "linked"))]
    pool.in_state()
}

fn registry() -> Registry {
    #[cfg(feature = "linked")]
    return Registry::linked();
    #[cfg(not(feature = "linked"))]
    Registry::new()
}
