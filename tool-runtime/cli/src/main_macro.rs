//! `main!`: writes the `main` function of a tool program.

use super::BoxError;
use super::about::About;
use super::package::Package;
use super::program::{self, Assembly, Plan};
use super::program_options::ProgramArguments;
use std::any::Any;
use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::ExitCode;
use std::time::Duration;
use tool_runtime_core::pool::{Registry, ToolPool, ToolPoolBuilder};

/// Writes `main` with the command line [`Cli`](crate::Cli) for all linked tools, and a function `pool()` that builds
/// the same pool for tests.
///
/// Each option is written `name = value`:
///
/// | Option | Effect |
/// |---|---|
/// | `state = EXPR` | provides a value that tools borrow by a parameter `&T`; repeat it for more values |
/// | `tools = PATH` | uses the tools that this file names, instead of all linked tools and toolsets; `--tools FILE` names another file. See [`PoolConfig`](tool_runtime_core::pool::PoolConfig) |
/// | `mcp = PATH` | adds the tools of the MCP servers in this file, if it exists; `--mcp-config FILE` names other files, `--var NAME=VALUE` sets their variables. Adds the commands `status` and `pin`. See `McpConfig`; feature `mcp-client` |
/// | `remote = EXPR` | adds the tools of the runners of a hub: its URL, such as `"http://127.0.0.1:7750"`; the environment variable `TOOL_REMOTE_TOKEN` has the token. Adds the command `remote status`. Feature `remote`. With `remote-nats` also of a NATS server, `"nats://NAME@HOST:PORT"`; `TOOL_REMOTE_CREDENTIALS` names the file of credentials |
/// | `trust_runners = EXPR` | whether the hints of the runners' tools count, such as `read_only`: for `hint:` filters, policies, concurrent calls, repeating a lost call. Default: false. Feature `remote` |
/// | `runner = true` | adds the command `run`, by which the program runs its tools for the callers of a hub, and the commands of hubs: `remote status`, `remote serve` (feature `remote-hub`), `remote keep` and `remote nats-config` (feature `remote-nats`). Feature `remote` |
/// | `registry = EXPR` | resolves the names in the file of `tools`, instead of the linked tools |
/// | `pool = CLOSURE` | changes the pool's builder: `\|pool\| pool.deny(["x"])`, or with toolsets `pool.toolset_as::<Lamp>("desk", params)`. A linked toolset added by the closure is not also created without parameters |
/// | `timeout = DURATION` | limits calls to tools without a timeout |
/// | `name = EXPR`, `version = EXPR`, `about = EXPR` | replace the values of the package |
/// | `title = EXPR` | the title that MCP clients display |
/// | `instructions = EXPR` | instructs models how to use the tools together |
///
/// Without a file, the pool has all linked tools, and one value of each linked toolset without parameters. With
/// every file it has all linked prompts and resources, and everything that `pool` adds.
///
/// Questions about calls reach the user of the client by a form, or the person at the terminal, unless `pool` sets
/// another approver.
///
/// Expressions may `.await` and may fail by `?`. Name, version and description are those of
/// the calling package; without cargo, the name is that of the crate. A failed expression, and a pool
/// that cannot be built, are reported on standard error, and the process ends with exit code 3.
///
/// With the feature `mcp-client`, on Linux, the process ends all of its remaining descendants on an
/// orderly exit, see `Subreaper`.
///
/// ```no_run
/// use tool_runtime::prelude::*;
///
/// struct Greeting(&'static str);
///
/// /// Greet somebody.
/// #[tool(read_only)]
/// async fn greet(
///     /// Name of the guest.
///     name: String,
///     greeting: &Greeting,
/// ) -> String {
///     format!("{} {name}", greeting.0)
/// }
///
/// tool_runtime::main!(state = Greeting("Hello"), instructions = "Greet politely.");
///
/// // With `#[tokio::test]`, in `mod tests`:
/// # #[cfg(feature = "testing")]
/// async fn greets_by_name() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
///     use tool_runtime::testing::TestClient;
///
///     let client = TestClient::stateless(&pool().await?).await;
///     let result = client.call("greet", serde_json::json!({ "name": "Ada" })).await?;
///     assert_eq!(result.to_text(), "Hello Ada");
///     Ok(())
/// }
/// ```
///
/// # In tests
///
/// `pub(crate) async fn pool()` returns a new [`ToolPool`](tool_runtime_core::pool::ToolPool) with the same options, except
/// those of the command line. It does not connect to the servers of `mcp`. Tests need `tokio` with the features `macros`
/// and `rt-multi-thread`, and `tool-runtime` with the feature `testing`.
#[macro_export]
macro_rules! main {
    ($($option:ident = $value:expr),* $(,)?) => {
        fn main() -> ::std::process::ExitCode {
            // A build without cargo sets none of these.
            let package = $crate::__private::Package {
                name: ::core::option_env!("CARGO_PKG_NAME").unwrap_or(::core::module_path!()),
                version: ::core::option_env!("CARGO_PKG_VERSION").unwrap_or("0.0.0"),
                description: ::core::option_env!("CARGO_PKG_DESCRIPTION").unwrap_or(""),
                authors: ::core::option_env!("CARGO_PKG_AUTHORS").unwrap_or(""),
                repository: ::core::option_env!("CARGO_PKG_REPOSITORY").unwrap_or(""),
                homepage: ::core::option_env!("CARGO_PKG_HOMEPAGE").unwrap_or(""),
                license: ::core::option_env!("CARGO_PKG_LICENSE").unwrap_or(""),
            };
            $crate::__private::main(package, __tool_setup())
        }

        /// Builds the pool that `main` serves.
        #[allow(dead_code)]
        pub(crate) async fn pool() -> ::core::result::Result<$crate::__private::ToolPool, $crate::__private::SetupError> {
            $crate::__private::pool(__tool_setup()).await
        }

        $crate::__private::check_main_options! { { $crate::__private } $($option)* }

        fn __tool_setup() -> $crate::__private::SetupFuture {
            ::std::boxed::Box::pin(async {
                let setup = $crate::__private::Setup::default();
                $(let setup = $crate::__main_option!(setup, $option, $value);)*
                $crate::__private::ready(setup)
            })
        }
    };
    ($($other:tt)*) => {
        $crate::__private::wrong_main_options! { $($other)* }

        fn main() {}
    };
}

/// An option of `main!`. `check_main_options` reports unknown ones.
#[doc(hidden)]
#[macro_export]
macro_rules! __main_option {
    ($setup:ident, state, $value:expr) => { $setup.state($value) };
    ($setup:ident, timeout, $value:expr) => { $setup.timeout($value) };
    ($setup:ident, tools, $value:expr) => { $setup.tools($value) };
    ($setup:ident, mcp, $value:expr) => { $setup.mcp($value) };
    ($setup:ident, remote, $value:expr) => { $setup.remote($value) };
    ($setup:ident, runner, $value:expr) => { $setup.runner($value) };
    ($setup:ident, trust_runners, $value:expr) => { $setup.trust_runners($value) };
    ($setup:ident, registry, $value:expr) => { $setup.registry($value) };
    ($setup:ident, pool, $value:expr) => { $setup.pool($value) };
    ($setup:ident, name, $value:expr) => { $crate::__main_option!(@cli $setup, name, $value) };
    ($setup:ident, version, $value:expr) => { $crate::__main_option!(@cli $setup, version, $value) };
    ($setup:ident, about, $value:expr) => { $crate::__main_option!(@cli $setup, about, $value) };
    ($setup:ident, title, $value:expr) => { $crate::__main_option!(@cli $setup, title, $value) };
    ($setup:ident, instructions, $value:expr) => {
        $crate::__main_option!(@cli $setup, instructions, $value)
    };
    (@cli $setup:ident, $option:ident, $value:expr) => {{
        let value: $crate::__private::String = ::core::convert::Into::into($value);
        $setup.$option(value)
    }};
    ($setup:ident, $unknown:ident, $value:expr) => { $setup };
}

/// The evaluated options of `main!`.
#[derive(Default)]
pub struct Setup {
    pool: ToolPoolBuilder,
    tools: Option<PathBuf>,
    #[cfg(feature = "mcp-client")]
    servers: Option<PathBuf>,
    #[cfg(feature = "remote")]
    remote: Option<String>,
    #[cfg(feature = "remote")]
    trust_runners: bool,
    #[cfg(feature = "remote")]
    is_runner: bool,
    registry: Option<Registry>,
    name: Option<String>,
    version: Option<String>,
    about: Option<String>,
    title: Option<String>,
    instructions: Option<String>,
}

/// Writes the methods of options that are strings.
macro_rules! string_options {
    ($($option:ident),*) => {$(
        #[doc = concat!("`", stringify!($option), " = EXPR`.")]
        #[must_use]
        pub fn $option(mut self, text: String) -> Self {
            self.$option = Some(text);
            self
        }
    )*};
}

impl Setup {
    /// `state = EXPR`.
    #[must_use]
    pub fn state<T: Any + Send + Sync>(mut self, value: T) -> Self {
        self.pool = self.pool.state(value);
        self
    }

    /// `timeout = DURATION`.
    #[must_use]
    pub fn timeout(mut self, timeout: impl TimeLimit) -> Self {
        self.pool = self.pool.timeout(timeout.duration());
        self
    }

    /// `tools = PATH`.
    #[must_use]
    pub fn tools(mut self, file: impl Into<PathBuf>) -> Self {
        self.tools = Some(file.into());
        self
    }

    /// `mcp = PATH`.
    #[cfg(feature = "mcp-client")]
    #[must_use]
    pub fn mcp(mut self, file: impl Into<PathBuf>) -> Self {
        self.servers = Some(file.into());
        self
    }

    /// `mcp = PATH`.
    #[cfg(not(feature = "mcp-client"))]
    #[must_use]
    pub fn mcp<T: NeedsMcpClient>(self, _: T) -> Self {
        self
    }

    /// `remote = EXPR`.
    #[cfg(feature = "remote")]
    #[must_use]
    pub fn remote(mut self, url: impl Into<String>) -> Self {
        self.remote = Some(url.into());
        self
    }

    /// `remote = EXPR`.
    #[cfg(not(feature = "remote"))]
    #[must_use]
    pub fn remote<T: NeedsRemote>(self, _: T) -> Self {
        self
    }

    /// `trust_runners = EXPR`.
    #[cfg(feature = "remote")]
    #[must_use]
    pub fn trust_runners(mut self, is_trusted: bool) -> Self {
        self.trust_runners = is_trusted;
        self
    }

    /// `trust_runners = EXPR`.
    #[cfg(not(feature = "remote"))]
    #[must_use]
    pub fn trust_runners<T: NeedsRemote>(self, _: T) -> Self {
        self
    }

    /// `runner = EXPR`.
    #[cfg(feature = "remote")]
    #[must_use]
    pub fn runner(mut self, is_runner: bool) -> Self {
        self.is_runner = is_runner;
        self
    }

    /// `runner = EXPR`.
    #[cfg(not(feature = "remote"))]
    #[must_use]
    pub fn runner<T: NeedsRemote>(self, _: T) -> Self {
        self
    }

    /// `registry = EXPR`.
    #[must_use]
    pub fn registry(mut self, registry: Registry) -> Self {
        self.registry = Some(registry);
        self
    }

    /// `pool = CLOSURE`.
    #[must_use]
    pub fn pool<S>(mut self, change: impl FnOnce(ToolPoolBuilder) -> ToolPoolBuilder<S>) -> Self {
        // `build` creates the toolsets.
        self.pool = change(self.pool).in_state();
        self
    }

    string_options!(name, version, about, title, instructions);

    /// The program of these options.
    fn plan(mut self, package: Package) -> Plan {
        let about = About {
            name: self.name.take().unwrap_or_else(|| package.name.to_owned()),
            version: self.version.take().unwrap_or_else(|| package.version.to_owned()),
            package,
            about: Some(self.about.take().unwrap_or_else(|| package.description.to_owned()))
                .filter(|about| !about.is_empty()),
            title: self.title.take(),
            instructions: self.instructions.take(),
            ignored_arguments: Vec::new(),
        };
        let (pool, setup) = (std::mem::take(&mut self.pool), self);
        Plan {
            about,
            arguments: ProgramArguments::of_process(),
            #[cfg(feature = "mcp-client")]
            has_servers: setup.servers.is_some(),
            #[cfg(not(feature = "mcp-client"))]
            has_servers: false,
            has_address: false,
            is_scraped: false,
            #[cfg(feature = "remote")]
            is_runner: setup.is_runner,
            #[cfg(not(feature = "remote"))]
            is_runner: false,
            #[cfg(feature = "remote")]
            hub: setup.remote.clone(),
            #[cfg(not(feature = "remote"))]
            hub: None,
            pool,
            assemble: Box::new(move |pool| {
                Box::pin(std::future::ready(Ok(Self { pool, ..setup }.assembly())))
            }),
        }
    }

    fn assembly(self) -> Assembly {
        let mut assembly = Assembly::new(self.pool);
        assembly.tools = self.tools;
        assembly.registry = self.registry;
        assembly.is_linked = true;
        #[cfg(feature = "mcp-client")]
        if let Some(file) = self.servers.filter(|file| file.exists()) {
            assembly = assembly.servers(move |loader| loader.file(&file));
        }
        #[cfg(feature = "remote")]
        if let Some(url) = self.remote {
            assembly = assembly.remote(url, self.trust_runners);
        }
        assembly
    }
}

/// Implemented by nothing: the option needs a feature.
#[cfg(not(feature = "mcp-client"))]
#[diagnostic::on_unimplemented(
    message = "the option `mcp` of `main!` needs the feature `mcp-client` of `tool-runtime`",
    label = "add the feature to the dependency"
)]
pub trait NeedsMcpClient {}

/// Implemented by nothing: the option needs a feature.
#[cfg(not(feature = "remote"))]
#[diagnostic::on_unimplemented(
    message = "this option of `main!` needs the feature `remote` of `tool-runtime`",
    label = "add the feature to the dependency"
)]
pub trait NeedsRemote {}

/// A time limit of `main!`.
#[diagnostic::on_unimplemented(
    message = "`timeout` of `main!` takes a `Duration`, not a `{Self}`",
    label = "not a `Duration`",
    note = "write `timeout = std::time::Duration::from_secs(30)`"
)]
pub trait TimeLimit {
    /// The limit.
    fn duration(self) -> Duration;
}

impl TimeLimit for Duration {
    fn duration(self) -> Duration {
        self
    }
}

/// The result of evaluating options.
pub type SetupResult<T> = Result<T, BoxError>;

/// The options of `main!`, to be evaluated.
pub type SetupFuture = Pin<Box<dyn Future<Output = SetupResult<Setup>>>>;

/// Determines the error type that `?` in an option converts to.
///
/// # Errors
/// Never.
pub fn ready(setup: Setup) -> SetupResult<Setup> {
    Ok(setup)
}

/// The reason why the function `pool` next to `main!` failed. An error type, so that `?` takes it in every test.
pub struct SetupError(BoxError);

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

tool_runtime_core::debug_as_message!(SetupError);

impl std::error::Error for SetupError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

/// The function that `main!` writes.
#[diagnostic::on_unimplemented(
    message = "`main!` is inside a function, where it does nothing",
    label = "this writes a function `main` that nothing calls",
    note = "write `main!` outside all functions, instead of `fn main`"
)]
pub trait WrittenMain {}

#[diagnostic::do_not_recommend]
impl<F: Fn() -> ExitCode> WrittenMain for F {}

/// Checks that the `main` of the module is the one that `main!` writes.
pub const fn check_main<F: WrittenMain>(_: &F) {}

/// The function `pool` next to `main!`.
///
/// # Errors
/// An option fails, a file cannot be read, or the pool cannot be built.
pub async fn pool(setup: SetupFuture) -> Result<ToolPool, SetupError> {
    built(setup).await.map_err(SetupError)
}

async fn built(setup: SetupFuture) -> SetupResult<ToolPool> {
    let setup = setup.await?;
    #[cfg(feature = "mcp-client")]
    let has_servers = setup.servers.is_some();
    #[cfg(not(feature = "mcp-client"))]
    let has_servers = false;
    let mut assembly = setup.assembly();
    #[cfg(feature = "remote")]
    let has_servers = has_servers || assembly.hub.is_some();
    if has_servers {
        assembly.pool = assembly.pool.allow_empty();
    }
    assembly.build().await
}

/// The body of `main`. It is not generic: the server would be compiled again in every user's crate.
pub fn main(package: Package, setup: SetupFuture) -> ExitCode {
    program::start(async move { Ok(setup.await?.plan(package)) })
}
