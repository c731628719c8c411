//! `main!`: the whole of a tool binary's `main`.

use super::{Cli, exit, in_runtime, print};
use crate::pool::{ToolPool, ToolPoolBuilder};
use std::any::Any;
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
/// | `title = EXPR` | the title that MCP clients show to people |
/// | `instructions = EXPR` | tells models how to use the tools together |
///
/// Expressions may `.await`. Name and version are those of the calling package. A pool that
/// cannot be built is reported on standard error and ends the process with exit code 3.
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
                async {
                    let setup = $crate::__private::Setup::default();
                    $(let setup = setup.$option($value);)*
                    setup
                },
            )
        }
    };
}

/// The options of `main!`, collected.
pub struct Setup {
    pool: ToolPoolBuilder,
    title: Option<String>,
    instructions: Option<String>,
}

impl Default for Setup {
    fn default() -> Self {
        let pool = ToolPool::builder();
        #[cfg(feature = "linked")]
        let pool = pool.linked();
        Self { pool, title: None, instructions: None }
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

    /// `title = EXPR`.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// `instructions = EXPR`.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }
}

/// What `main!` expands to.
pub fn main(
    name: &str,
    version: &str,
    about: &str,
    setup: impl Future<Output = Setup>,
) -> ExitCode {
    in_runtime(async {
        let setup = setup.await;
        let pool = match setup.pool.build() {
            Ok(pool) => pool,
            Err(error) => {
                print::error(&error.to_string());
                return ExitCode::from(exit::SETUP);
            }
        };
        let mut cli = Cli::new(pool).name(name).version(version).about(about);
        cli.title = setup.title;
        cli.instructions = setup.instructions;
        cli.run_async().await
    })
}
