use tool_runtime::prelude::*;

struct Clock;

impl Clock {
    /// Tell the time.
    #[tool]
    async fn now(
        /// The zone.
        zone: String,
    ) -> String {
        zone
    }

    /// Greet.
    #[prompt]
    fn greet() -> &'static str {
        "hello"
    }
}

trait Tell {
    fn tell() -> &'static str;

    /// Tell the date.
    #[tool]
    fn date() -> &'static str {
        "today"
    }
}

impl Tell for Clock {
    /// Tell.
    #[tool(name = "clock.tell")]
    fn tell() -> &'static str {
        "noon"
    }
}

impl Clock {
    fn inside() {
        /// Tell the hour.
        #[tool]
        fn hour() -> i64 {
            12
        }
    }
}

fn main() {}
