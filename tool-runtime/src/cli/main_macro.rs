//! `main!`: the whole of a tool binary's `main`.

use super::{Cli, exit, in_runtime, print};
use crate::pool::{ToolPool, ToolPoolBuilder};
use std::any::Any;
use std::pin::Pin;
use std::process::ExitCode;
use std::time::Duration;

/// Writes `main`: all linked tools, served and called by [`Cli`].
///
/// Its options are the methods of a pool and a command line, each written `name = value`:
///
/// | Option | Does |
/// |---|---|
/// | `state = EXPR` | provides a value that tools borrow by a parameter `&T`; repeat it for more |
/// | `timeout = DURATION` | limits calls whose tool has no limit of its own |
/// | `name = EXPR`, `version = EXPR`, `about = EXPR` | instead of the package's own |
/// | `title = EXPR` | the title that MCP clients show to people |
/// | `instructions = EXPR` | tells models how to use the tools together |
///
/// Expressions may `.await`, and may fail by `?`. Name, version and description are those of
/// the calling package. What fails, also a pool that cannot be built, is reported on standard
/// error and ends the process with exit code 3.
///
/// ```no_run
/// use tool_runtime::prelude::*;
///
/// struct Greeting(&'static str);
///
/// /// Greet somebody.
/// #[tool(read_only)]
/// async fn greet(
///     /// Whom to greet.
///     name: String,
///     greeting: &Greeting,
/// ) -> String {
///     format!("{} {name}", greeting.0)
/// }
///
/// tool_runtime::main!(state = Greeting("Hello"), instructions = "Greet politely.");
/// ```
#[macro_export]
macro_rules! main {
    ($($option:ident = $value:expr),* $(,)?) => {
        fn main() -> ::std::process::ExitCode {
            $crate::__private::main(
                ::core::env!("CARGO_PKG_NAME"),
                ::core::env!("CARGO_PKG_VERSION"),
                ::core::env!("CARGO_PKG_DESCRIPTION"),
                ::std::boxed::Box::pin(async {
                    let setup = $crate::__private::Setup::default();
                    $(let setup = $crate::__main_option!(setup, $option, $value);)*
                    $crate::__private::ready(setup)
                }),
            )
        }
    };
}

/// One option of `main!`; all that are unknown are told.
#[doc(hidden)]
#[macro_export]
macro_rules! __main_option {
    ($setup:ident, state, $value:expr) => { $setup.state($value) };
    ($setup:ident, timeout, $value:expr) => { $setup.timeout($value) };
    ($setup:ident, name, $value:expr) => { $crate::__main_option!(@cli $setup, name, $value) };
    ($setup:ident, version, $value:expr) => { $crate::__main_option!(@cli $setup, version, $value) };
    ($setup:ident, about, $value:expr) => { $crate::__main_option!(@cli $setup, about, $value) };
    ($setup:ident, title, $value:expr) => { $crate::__main_option!(@cli $setup, title, $value) };
    ($setup:ident, instructions, $value:expr) => {
        $crate::__main_option!(@cli $setup, instructions, $value)
    };
    (@cli $setup:ident, $option:ident, $value:expr) => {{
        let value: $crate::__private::String = ::core::convert::Into::into($value);
        $setup.cli(move |cli| cli.$option(value))
    }};
    ($setup:ident, $unknown:ident, $value:expr) => {{
        ::core::compile_error!(::core::concat!(
            "unknown option `",
            ::core::stringify!($unknown),
            "` of `main!`; write one of `state`, `timeout`, `name`, `version`, `about`, `title`, `instructions`"
        ));
        $setup
    }};
}

/// The options of `main!`, collected: those of the pool, and those of the command line, which
/// exists only when the pool is built.
pub struct Setup {
    pool: ToolPoolBuilder,
    cli: Vec<Box<dyn FnOnce(Cli) -> Cli>>,
}

impl Default for Setup {
    fn default() -> Self {
        let pool = ToolPool::builder();
        #[cfg(feature = "linked")]
        let pool = pool.linked();
        Self { pool, cli: Vec::new() }
    }
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
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.pool = self.pool.timeout(timeout);
        self
    }

    /// An option of the command line.
    #[must_use]
    pub fn cli(mut self, option: impl FnOnce(Cli) -> Cli + 'static) -> Self {
        self.cli.push(Box::new(option));
        self
    }
}

/// What an option may fail with.
type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Names the error type that `?` in an option converts to.
///
/// # Errors
/// Never.
pub fn ready(setup: Setup) -> Result<Setup, BoxError> {
    Ok(setup)
}

/// What `main!` expands to. It is not generic: the whole server would be compiled again in
/// every user's crate, which is ten times what one needs.
pub fn main(
    name: &str,
    version: &str,
    about: &str,
    setup: Pin<Box<dyn Future<Output = Result<Setup, BoxError>>>>,
) -> ExitCode {
    in_runtime(async {
        match setup.await.and_then(|setup| setup.finish(name, version, about)) {
            Ok(cli) => cli.run_async().await,
            Err(error) => {
                print::error(&error.to_string());
                ExitCode::from(exit::SETUP)
            }
        }
    })
}

impl Setup {
    fn finish(self, name: &str, version: &str, about: &str) -> Result<Cli, BoxError> {
        let mut cli = Cli::new(self.pool.build()?).name(name).version(version).about(about);
        cli.owns_process = true;
        Ok(self.cli.into_iter().fold(cli, |cli, option| option(cli)))
    }
}
