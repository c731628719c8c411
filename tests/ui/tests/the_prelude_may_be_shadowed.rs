//! Generated code names everything by its full path.

#![no_implicit_prelude]

extern crate std as real;
extern crate tool_runtime as actual;

#[allow(dead_code, non_snake_case, non_camel_case_types)]
mod shadows {
    pub(crate) struct Option;
    pub(crate) struct Result;
    pub(crate) struct String;
    pub(crate) struct Box;
    pub(crate) struct Vec;
    pub(crate) struct Default;
    pub(crate) struct i64;
    pub(crate) struct usize;
    pub(crate) struct bool;
    pub(crate) struct str;
    pub(crate) trait Send {}
    pub(crate) trait Future {}
    pub(crate) trait From {}
    pub(crate) trait Into {}
    pub(crate) fn Some() {}
    pub(crate) fn None() {}
    pub(crate) fn Ok() {}
    pub(crate) fn Err() {}
    pub(crate) mod std {}
    pub(crate) mod core {}
    pub(crate) mod alloc {}
    pub(crate) mod serde {}
    pub(crate) mod schemars {}
    pub(crate) mod inventory {}
}
#[allow(unused_imports)]
use shadows::*;

#[allow(unused_macros)]
macro_rules! concat {
    ($($t:tt)*) => {
        compile_error!("a shadowed macro was used")
    };
}

/// Count.
#[actual::tool(read_only, timeout = "1s", visualize = shown)]
async fn count(
    /// The limit.
    #[arg(default = 3, range = 1..=5, example = 4)]
    limit: real::primitive::i64,
    /// The word.
    #[arg(default = "a", length = 1..=5, pattern = "a", format = "of-my-own")]
    word: real::string::String,
    /// A flag.
    #[arg(default)]
    maybe: real::option::Option<real::primitive::bool>,
    /// A required argument.
    needed: real::vec::Vec<real::primitive::u8>,
    context: &actual::ToolContext,
) -> real::result::Result<real::string::String, real::io::Error> {
    let _ = (limit, maybe, needed, context);
    real::result::Result::Ok(word)
}

fn shown(_: &CountAction) -> &'static real::primitive::str {
    "counting"
}

/// Run on the blocking pool.
#[actual::tool]
fn nothing() {}

struct Clock;

/// Tell the time.
#[actual::toolset(read_only, timeout = "1s")]
impl Clock {
    /// Tell the hour.
    #[actual::tool(reads("clock:{zone}"), writes())]
    async fn hour(
        &self,
        /// The time zone.
        #[arg(default = "here")]
        zone: real::string::String,
        context: &actual::ToolContext,
    ) -> real::primitive::usize {
        let _ = context;
        zone.len()
    }

    /// Tell the minute.
    #[actual::tool]
    fn minute(&self) {}
}

impl actual::Toolset for Clock {
    type Params = ();

    async fn create(
        (): (),
        _: &actual::ToolContext,
    ) -> real::result::Result<Self, actual::ToolError> {
        real::result::Result::Ok(Self)
    }
}

#[::core::prelude::v1::test]
fn compiles_and_runs() {
    let pool = actual::ToolPool::builder().linked().build();
    real::assert_eq!(pool.unwrap().tools().len(), 2);
}
