//! Adds the tools to a pool, and the command that runs jobs.

use super::{ConfigTools, CronTools, Schedule, ScheduleCommand, Settings, TriggerTools};
use crate::builtins::Builtins;
use tool_runtime::cli::PoolCommands as _;
use tool_runtime::pool::Source;

impl Builtins {
    /// Adds the tools that call tools at set times and send webhooks, and the command `schedule`, which runs what they
    /// set. Without declared targets `RemoteTrigger` is hidden, and the pool's report says what to declare.
    ///
    /// See [`Schedule`](Schedule) for an example.
    pub fn schedule(self, schedule: &Schedule) -> Self {
        let schedule = schedule.clone();
        self.family(|builtins, pool| {
            schedule.set_trigger_tool(builtins.named("RemoteTrigger"));
            let mut tools = builtins.tools(Ok(CronTools::new(&schedule)));
            tools.extend(builtins.tools(TriggerTools::new(&schedule)));
            pool.add_from(&Source::Custom, tools).command(ScheduleCommand(schedule))
        })
    }

    /// Adds the tool for settings of callers.
    ///
    /// See [`Settings`](Settings) for an example.
    pub fn settings(self, settings: &Settings) -> Self {
        let settings = settings.clone();
        self.family_of_tools(move |builtins| builtins.tools(Ok(ConfigTools::new(&settings))))
    }
}
