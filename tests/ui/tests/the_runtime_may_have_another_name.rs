//! `crate = path`, as a path and as a string.

mod renamed {
    pub use tool_runtime as rt;
}

mod tool_runtime_is_hidden {
    use crate::renamed::rt::ToolContext;
    use crate::renamed::rt::prelude::tool as a_tool;
    use crate::renamed::rt::{ToolError, Toolset, toolset as a_toolset};

    #[allow(unused)]
    mod tool_runtime {}

    /// Name the place.
    #[a_tool(crate = crate::renamed::rt)]
    pub(crate) async fn by_path(
        /// Anything.
        #[arg(default = 1, range = 0..)]
        number: u8,
        _context: &ToolContext,
    ) -> u8 {
        number
    }

    /// Name the place.
    #[a_tool(crate = "crate::renamed::rt")]
    pub(crate) fn by_text() {}

    /// Name the place.
    #[a_tool(crate = super::renamed::rt)]
    pub(crate) fn by_super() {}

    /// Name the place.
    #[a_tool(crate = "::tool_runtime")]
    pub(crate) fn by_absolute_path() {}

    pub(crate) struct Clock;

    #[a_toolset(crate = super::renamed::rt)]
    impl Clock {
        /// Tell the time.
        #[tool(reads("clock:"))]
        fn time(&self) {}
    }

    impl Toolset for Clock {
        type Params = ();

        async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
            Ok(Self)
        }
    }
}

#[test]
fn compiles_and_runs() {
    let pool = tool_runtime::ToolPool::builder().linked().build().unwrap();
    assert_eq!(pool.tools().len(), 4);
}
