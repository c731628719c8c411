//! Methods of a toolset and the other items of its `impl` block.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use tool_runtime::prelude::*;
use tool_runtime::toolset::ToolsetKind;

struct Step(i64);

/// A number that calls change.
#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Counter {
    #[serde(skip)]
    value: AtomicI64,
    start: i64,
}

/// A doc comment that is not looked at.
#[toolset(tags("numbers"), idempotent = false)]
impl Counter {
    #![allow(clippy::unused_self)]

    const LIMIT: i64 = { 100 };

    pub(crate) fn starting_at(start: i64) -> Self {
        Self { value: AtomicI64::new(start), start }
    }

    /// Add to the counter.
    #[tool(destructive = false, tags("numbers", "writing"))]
    pub async fn add(
        &self,
        /// The number to add.
        #[arg(default = Self::default_step(), range = 0..=Self::LIMIT)]
        amount: i64,
    ) -> i64 {
        tokio::task::yield_now().await;
        self.plus(amount)
    }

    fn plus(&self, amount: i64) -> i64 {
        self.value.fetch_add(amount, Ordering::SeqCst) + amount
    }

    const fn default_step() -> i64 {
        1
    }

    /// Add the step of the pool.
    #[tool_runtime::tool(destructive = false)]
    pub(crate) async fn step(&self, step: &Step, context: &ToolContext) -> Option<i64> {
        assert!(!context.is_cancelled());
        Some(self.add(step.0).await)
    }

    /// Compare with another counter.
    #[tool(read_only)]
    fn r#match(
        &self,
        /// The other one.
        r#type: Self,
        /// Several more.
        others: Vec<Option<Self>>,
    ) -> Result<Self, String> {
        match others.len() {
            0 => Ok(Self::starting_at(r#type.start)),
            _ => Err("too many".into()),
        }
    }

    /// Reset.
    #[tool(inline, action = Reset, name = "back.to-start", visualize = Self::shown)]
    fn reset(&self) {}
}

/// Methods that are not tools.
impl Counter {
    fn shown(_: &Reset) -> &'static str {
        "again"
    }
}

impl Toolset for Counter {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self::starting_at(40))
    }
}

mod several {
    use super::*;

    #[derive(Default)]
    pub(crate) struct HTTPClient2<T>(Mutex<Vec<T>>);

    #[toolset(read_only, timeout = "30s", open_world)]
    impl HTTPClient2<String> {
        /// Fetch a page.
        #[tool]
        pub(crate) async fn fetch(
            &self,
            /// The address.
            address: String,
        ) -> usize {
            let mut addresses = self.0.lock().unwrap();
            addresses.push(address);
            addresses.len()
        }

        /// Remove a page.
        #[tool(destructive, timeout = "1s")]
        async fn remove(&self) {}

        /// Put a page.
        #[tool(read_only = false, open_world = false)]
        async fn put(&self) {}
    }

    impl Toolset for HTTPClient2<String> {
        type Params = ();

        async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
            Ok(Self::default())
        }
    }

    pub(crate) struct Bare;

    #[toolset(prefix = "")]
    impl self::Bare {
        /// Look around.
        #[tool]
        async fn look(&self) -> &'static str {
            "bare"
        }
    }

    impl Toolset for Bare {
        type Params = ();

        async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
            Ok(Self)
        }
    }
}

macro_rules! clocks {
    ($($ty:ident as $alias:ty, $prefix:literal: $method:ident $doc:literal $argument:ident;)*) => {$(
        struct $ty;

        #[toolset(prefix = $prefix)]
        impl $alias {
            #[doc = $doc]
            #[tool]
            async fn $method(
                &self,
                #[doc = $doc] $argument: u8,
                /// An argument whose name comes from the macro.
                #[arg(default = 40)]
                own: u8,
            ) -> u8 {
                let _ = self;
                $argument + own
            }
        }

        impl Toolset for $ty {
            type Params = ();

            async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
                Ok(Self)
            }
        }
    )*};
}

clocks! {
    Clock as Clock, "clock": tick "Tick." by;
    Watch as crate::Watch, "small.watch": tick "Tick quietly." times;
}

struct Configured;

#[toolset]
impl Configured {
    /// Never there.
    #[cfg(any())]
    #[tool]
    async fn absent(
        &self,
        /// An argument of an unknown type.
        nowhere: Nowhere,
    ) {
    }

    /// Always there.
    #[tool]
    #[allow(clippy::non_minimal_cfg)]
    #[cfg(all())]
    #[cfg(not(any()))]
    async fn present(&self) {}

    /// There under one configuration.
    #[cfg(any())]
    #[tool]
    async fn either(&self) {}

    /// There under the other.
    #[cfg(not(any()))]
    #[tool]
    async fn either(&self) -> u8 {
        7
    }
}

impl Toolset for Configured {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

fn names<T: Toolset>() -> Vec<&'static str> {
    ToolsetKind::from_type::<T>(file!(), line!()).tool_names().collect()
}

#[tokio::test]
async fn compiles_and_runs() {
    assert_eq!(
        names::<Counter>(),
        ["counter.add", "counter.step", "counter.match", "counter.back.to-start"]
    );
    assert_eq!(names::<several::Bare>(), ["look"]);
    assert_eq!(names::<Clock>(), ["clock.tick"]);
    assert_eq!(names::<Watch>(), ["small.watch.tick"]);
    assert_eq!(names::<Configured>(), ["configured.present", "configured.either"]);
    definitions();
    calls().await;
}

fn definitions() {
    let add = CounterAddAction::definition();
    assert_eq!(add.tags, ["numbers", "writing"]);
    assert_eq!(add.annotations.idempotent_hint, Some(false));
    let fetch = several::HTTPClient2FetchAction::definition();
    assert_eq!(fetch.annotations.read_only_hint, Some(true));
    let tools = names::<several::HTTPClient2<String>>();
    assert_eq!(tools, ["http_client2.fetch", "http_client2.remove", "http_client2.put"]);
}

async fn calls() {
    let pool = ToolPool::builder()
        .state(Counter::starting_at(40))
        .state(Step(7))
        .state(Clock)
        .tool::<CounterAddAction>()
        .tool::<CounterStepAction>()
        .tool::<CounterMatchAction>()
        .tool::<Reset>()
        .tool::<ClockTickAction>()
        .build()
        .unwrap();
    assert_eq!(CounterAddAction { amount: 2 }.call(&pool).await.unwrap(), 42);
    assert!(pool.call_json("counter.add", "{}").await.contains("43"));
    assert!(pool.call_json("counter.add", r#"{"amount":101}"#).await.contains("at most 100"));
    assert!(pool.call_json("counter.step", "{}").await.contains("50"));
    let other = r#"{"type":{"start":3},"others":[]}"#;
    assert!(pool.call_json("counter.match", other).await.contains(r#""start":3"#));
    assert_eq!(pool.get("counter.back.to-start").unwrap().visualize("{}"), "again");
    assert!(pool.call_json("clock.tick", r#"{"by":2}"#).await.contains("42"));
    // A method is a method still.
    assert_eq!(Counter::starting_at(1).add(1).await, 2);
}
