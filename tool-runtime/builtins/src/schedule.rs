//! Calls at set times, settings, webhooks.
//!
//! A job is a call of a tool, by a cron expression in a time zone. It runs as the principal that created it: policies,
//! limits and hooks of the pool judge it at each run, and approvals are asked of the approver of the host's pool. What the
//! creator may not call cannot be made a job. Policies recognise calls of jobs by the label `run_by: schedule`, those of
//! one by `schedule.job: cron_1`. A job may not create jobs, unless the operator
//! [says so](ScheduleBuilder::jobs_may_schedule).
//!
//! Jobs run while a host lives: the command `schedule` of the program, or [`Schedule::run`]. One host
//! of a file makes the calls; another one waits until it ends. Each run is written down before its call. Of each due time one of these becomes:
//!
//! | State | Meaning |
//! |---|---|
//! | `running`, then `succeeded`, `failed` or `cancelled` | a host made the call |
//! | `interrupted` | the host died meanwhile: the call may have had its effect. A tool that is read-only or idempotent is called again instead, up to three calls in all |
//! | `skipped` | the run before it had not ended |
//! | `missed` | no host lived within the [grace](ScheduleBuilder::grace); by `on_missed: run_once` the last one runs late |
//!
//! Due times are by the clock of the [`Workspace`](crate::Workspace). Around a change of the clock, an
//! expression without `*` in its second, minute and hour has fixed times: those that are skipped run once, at the end of
//! the gap, and repeated ones at the first of two times. All others follow the clock on the wall. As in crond, a day
//! matches if its date or its weekday does, and both must if one of the two fields begins with `*`. A job whose next time
//! is far ahead because the clock was wrong gets a new one when the clock is set back.
//!
//! Callers see and change their own jobs, triggers and settings only. Anonymous callers of a server are one caller, and not
//! the owner of the process.
//!
//! | Module | Topic |
//! |---|---|
//! | `builder`, `database` | what the operator sets, the file |
//! | `timetable` | cron expressions in time zones |
//! | `job`, `create`, `list` | jobs and runs as stored, their creation, what the tools return |
//! | `stored_arguments` | secrets that a job must not have |
//! | `advance`, `host`, `hosted_run` | one step, the process that makes the calls, one call |
//! | `event`, `command` | news of a host, the command |
//! | `config`, `settings`, `setting_key` | `Config`: the tool, settings, their declaration |
//! | `trigger`, `trigger_info` | `RemoteTrigger`: the tool, triggers as stored and returned |
//! | `target`, `delivery`, `signature` | targets, one delivery with retries, its signature |

mod advance;
mod builder;
mod command;
mod config;
mod create;
mod database;
mod delivery;
mod event;
mod host;
mod hosted_run;
mod install;
mod job;
mod list;
mod setting_key;
mod settings;
mod signature;
mod stored_arguments;
mod target;
#[cfg(test)]
mod tests;
mod text;
mod timetable;
mod trigger;
mod trigger_info;

pub use builder::{Schedule, ScheduleBuilder, ScheduleError};
pub use config::{ConfigAction, ConfigOutput, Setting};
pub use event::ScheduleEvent;
pub use host::ScheduleHost;
pub use job::{OnMissed, RunState};
pub use list::{CronJob, CronJobs, CronRun, ScheduleHostInfo};
pub use setting_key::{SettingKey, SettingKind};
pub use settings::{Settings, SettingsBuilder};
pub use target::{Target, TargetError};
pub use trigger::TriggerAction;
pub use trigger_info::{RemoteTriggerOutput, TriggerInfo};

pub(crate) use command::ScheduleCommand;
pub(crate) use config::ConfigTools;
pub(crate) use trigger::TriggerTools;

use crate::builtins::{Family, Profile};
use crate::tool_output::ToolOutput;
use create::{NewJob, call_of_job};
use database::{failed, owner};
use serde_json::{Map, Value};
use tool_runtime::prelude::*;
use tool_runtime_store::rusqlite::{Transaction, params};

/// The tools for jobs. See [`Builtins::schedule`](crate::Builtins::schedule).
pub(crate) struct CronTools(Schedule);

#[toolset(prefix = "", open_world = false, tags("specialist"), register = false)]
impl CronTools {
    /// Call a tool at set times, also after this conversation. The call is made as you, by the rules that hold then,
    /// while a host of the schedule runs; the result says whether one does.
    #[tool(name = "CronCreate", read_only = false, destructive, idempotent = false)]
    #[allow(clippy::too_many_arguments, reason = "the parts of a job")]
    async fn cron_create(
        &self,
        /// A name of your choice, one of a kind.
        #[arg(length = 1..=100)]
        name: String,
        /// Cron expression of five fields: minute, hour, day of the month, month, day of the week; or six, with the second
        /// first. `0 9 * * MON-FRI` is nine o'clock on workdays, `0 0 L * *` the last day of each month. Dates and weekdays
        /// add up, as in crond: `0 9 1 * MON` is each first and each Monday; `0 9 */2 * MON` is Mondays of odd date.
        #[arg(length = 1..=200)]
        schedule: String,
        /// Time zone of the expression, as `Europe/Berlin`. Default: that of the program, mostly UTC.
        time_zone: Option<String>,
        /// Name of the tool to call. Either this or `command` is needed.
        #[arg(length = 1..=200)]
        tool: Option<String>,
        /// Arguments of the tool.
        #[arg(default)]
        arguments: Map<String, Value>,
        /// A command to run, instead of `tool` and `arguments`: a call of `Bash`.
        #[arg(length = 1..=60_000)]
        command: Option<String>,
        /// Whether the job runs. A disabled one is kept.
        #[arg(default = true)]
        enabled: bool,
        /// The handling of runs that no host made in time.
        #[arg(default)]
        on_missed: OnMissed,
        /// Whether a job of this name is replaced. It keeps its id.
        #[arg(default)]
        replace: bool,
        context: &ToolContext,
    ) -> Result<ToolOutput<CronJob>, ToolError> {
        let (tool, arguments) = call_of_job(tool, arguments, command)?;
        let new =
            NewJob { name, schedule, time_zone, tool, arguments, enabled, on_missed, replace };
        self.0.create(new, context).await
    }

    /// Delete a job. A run in progress is cancelled.
    #[tool(name = "CronDelete", read_only = false, destructive, idempotent)]
    async fn cron_delete(
        &self,
        /// Id of the job, as `CronCreate` and `CronList` return it.
        id: String,
        context: &ToolContext,
    ) -> Result<String, ToolError> {
        let owner = owner(context.principal());
        let number = self.0.find_job(&id, &owner)?.id;
        let delete = move |connection: &Transaction<'_>| {
            connection
                .execute("DELETE FROM jobs WHERE id = ?1 AND owner = ?2", params![number, owner])
        };
        self.0.0.store.write(delete).await.map_err(failed)?;
        Ok(format!("deleted `{id}`"))
    }

    /// List your jobs with their next and last runs, and the host that runs them.
    #[tool(name = "CronList", read_only, destructive = false, idempotent = false)]
    fn cron_list(&self, context: &ToolContext) -> Result<ToolOutput<CronJobs>, ToolError> {
        self.0.list(&owner(context.principal())).map(ToolOutput::from_display)
    }
}

impl Toolset for CronTools {
    type Params = ();

    /// The schedule is state of the pool.
    async fn create((): (), context: &ToolContext) -> Result<Self, ToolError> {
        let missing = || ToolError::user("no schedule; write `.state(schedule)` on the pool");
        context.get::<Schedule>().cloned().map(Self).ok_or_else(missing)
    }
}

impl CronTools {
    pub(crate) fn new(schedule: &Schedule) -> Self {
        Self(schedule.clone())
    }
}

impl Family for CronTools {
    fn tools_of(profile: Profile) -> &'static [&'static str] {
        match profile {
            Profile::Standard => &["CronCreate", "CronDelete", "CronList"],
            Profile::OpenHands => &[],
        }
    }
}
