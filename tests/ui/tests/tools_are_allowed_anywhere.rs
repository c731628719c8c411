//! In a function's body, behind `cfg`, made by a macro, beside private neighbours.

use tool_runtime::ToolContext;
use tool_runtime::prelude::{Tool, ToolPool};

macro_rules! tools {
    ($($name:ident: $doc:literal, $argument:ident: $ty:ty, $context:ty => $out:ty;)*) => {$(
        #[doc = $doc]
        #[tool_runtime::tool(title = $doc)]
        async fn $name(
            #[doc = $doc] $argument: $ty,
            /// An argument whose name comes from the macro.
            #[arg(default = 40, range = 0..=50)]
            own: $ty,
            context: $context,
        ) -> $out {
            assert!(context.call_id().is_none());
            $argument + own
        }
    )*};
}

tools! {
    add: "Add.", number: i64, &ToolContext => i64;
    add_small: "Add small numbers.", small: i32, &ToolContext => i32;
}

macro_rules! visible {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident $body:block) => {
        $(#[$attribute])*
        #[tool_runtime::tool]
        $visibility fn $name() $body
    };
}

visible! { #[doc = "Do nothing."] pub(crate) fn nothing {} }
visible! { #[doc = "Do nothing again."] fn nothing_again {} }

/// Never there.
#[cfg(any())]
#[tool_runtime::tool]
async fn absent(
    /// An argument of an unknown type.
    nowhere: Nowhere,
) {
}

#[cfg_attr(all(), doc = "Always there.")]
#[tool_runtime::tool]
#[allow(clippy::non_minimal_cfg)]
#[cfg(all())]
async fn present() {}

#[tool_runtime::tool]
#[cfg_attr(all(), doc = "Documented below the attribute.")]
async fn documented_below() {}

mod neighbours {
    struct Private;

    /// Use a private type of the same module.
    #[tool_runtime::tool]
    pub fn shown() -> usize {
        size_of::<Private>()
    }

    /// Be a constant function.
    #[tool_runtime::tool(inline)]
    pub(super) const fn constant() -> u8 {
        7
    }
}

#[tokio::test]
async fn compiles_and_runs() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Local {
        inner: i64,
    }

    /// A tool inside a function body.
    #[tool_runtime::tool(read_only)]
    async fn inside(
        /// A type that only the body knows.
        local: Local,
    ) -> i64 {
        local.inner
    }

    let pool = ToolPool::builder().linked().build().unwrap();
    let tools = pool.tools();
    let names: Vec<&str> = tools.iter().map(Tool::name).collect();
    assert_eq!(
        names,
        [
            "add",
            "add_small",
            "constant",
            "documented_below",
            "inside",
            "nothing",
            "nothing_again",
            "present",
            "shown"
        ]
    );
    assert_eq!(pool.get("add").unwrap().definition().title.as_deref(), Some("Add."));
    assert!(pool.call_json("add", r#"{"number":2}"#).await.contains("42"));
    assert!(pool.call_json("add_small", r#"{"small":2,"own":3}"#).await.contains("\"5\""));
    assert!(pool.call_json("inside", r#"{"local":{"inner":3}}"#).await.contains("\"3\""));
    assert!(pool.call_json("constant", "").await.contains("\"7\""));
    assert_eq!(add(1, 2, &ToolContext::default()).await, 3);
}
