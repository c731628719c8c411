//! The tool `RemoteTrigger`: webhooks that a model names, fills and runs.

use super::builder::Schedule;
use super::create::{NewJob, Saved, check_secrets, save, too_many_jobs};
use super::database::{failed, owner};
use super::delivery::{Delivery, WebhookClient};
use super::job::{Job, OnMissed, number};
use super::text::{is_name, nearest};
use super::trigger_info::{RemoteTriggerOutput, Trigger, output};
use crate::builtins::{Family, Profile};
use crate::tool_output::ToolOutput;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tool_runtime::prelude::*;
use tool_runtime_store::rusqlite::{self, OptionalExtension as _, Transaction, params};

/// The actions of `RemoteTrigger`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum TriggerAction {
    /// Returns all triggers.
    List,
    /// Returns one trigger.
    Get,
    /// Makes a trigger.
    Create,
    /// Changes a trigger: what is given.
    Update,
    /// Sends the webhook now.
    Run,
    /// Deletes a trigger with its schedule.
    Delete,
}

/// The tool for webhooks. See [`Builtins::schedule`](crate::Builtins::schedule).
pub(crate) struct TriggerTools {
    schedule: Schedule,
    client: WebhookClient,
}

#[toolset(prefix = "", tags("specialist"), register = false)]
impl TriggerTools {
    /// Send webhooks to targets that the operator declared: create a trigger with a prompt, run it now, or at set times by
    /// `schedule`. Responses are returned.
    #[tool(
        name = "RemoteTrigger",
        read_only = false,
        destructive,
        idempotent = false,
        open_world,
        timeout = "15m"
    )]
    #[allow(clippy::too_many_arguments, reason = "the arguments of all actions")]
    async fn remote_trigger(
        &self,
        /// The action.
        action: TriggerAction,
        /// Id of the trigger. For `get`, `update`, `run` and `delete`.
        id: Option<String>,
        /// Name of the trigger. For `create` and `update`.
        name: Option<String>,
        /// Target of the trigger. May be left out if there is only one.
        target: Option<String>,
        /// Text that is sent. For `create` and `update`; for `run`, instead of that of the trigger.
        prompt: Option<String>,
        /// Cron expression, as for `CronCreate`: the trigger also runs at these times. Empty to remove it.
        schedule: Option<String>,
        /// Time zone of `schedule`.
        time_zone: Option<String>,
        context: &ToolContext,
    ) -> Result<ToolOutput<RemoteTriggerOutput>, ToolError> {
        let given = Given { id, name, target, prompt, schedule, time_zone };
        given.check(action)?;
        let output = match action {
            TriggerAction::List => output(self.triggers(context)?),
            TriggerAction::Get => output(vec![self.find(given.id(), context)?]),
            TriggerAction::Create => output(vec![self.create_trigger(given, context).await?]),
            TriggerAction::Update => output(vec![self.update(given, context).await?]),
            TriggerAction::Run => self.send(given, context).await?,
            TriggerAction::Delete => output(vec![self.delete(given, context).await?]),
        };
        let text = if action == TriggerAction::Delete { "deleted\n" } else { "" };
        Ok(ToolOutput::new(format!("{text}{output}"), output))
    }

    fn triggers(&self, context: &ToolContext) -> Result<Vec<Trigger>, ToolError> {
        let owner = owner(context.principal());
        self.schedule.0.store.read(|connection| Trigger::all(connection, &owner)).map_err(failed)
    }

    fn find(&self, id: &str, context: &ToolContext) -> Result<Trigger, ToolError> {
        let mut all = self.triggers(context)?;
        if let Some(index) = all.iter().position(|it| it.info.id == id) {
            return Ok(all.swap_remove(index));
        }
        let ids: Vec<&str> = all.iter().map(|it| it.info.id.as_str()).collect();
        let hint = match all.iter().find(|it| it.info.name == id) {
            Some(named) => format!("the trigger of that name is `{}`", named.info.id),
            None if ids.is_empty() => "you have no triggers".to_owned(),
            None => nearest(id, ids.iter().copied())
                .unwrap_or_else(|| format!("your triggers are `{}`", ids.join("`, `"))),
        };
        Err(ToolError::user(format!("there is no trigger `{id}`; {hint}")))
    }

    async fn create_trigger(
        &self,
        given: Given,
        context: &ToolContext,
    ) -> Result<Trigger, ToolError> {
        let Given { name, target, prompt, schedule, time_zone, .. } = given;
        let missing = |what: &str| ToolError::user(format!("`{what}` is missing"));
        let name = name.ok_or_else(|| missing("name"))?;
        let prompt = prompt.ok_or_else(|| missing("prompt"))?;
        check_texts(Some(&name), Some(&prompt), context)?;
        let targets = &self.schedule.0.targets;
        let target = target.as_deref().or(targets.only()).ok_or_else(|| missing("target"))?;
        let target = targets.get(target)?.name.clone();
        let link = self.link(schedule, time_zone, context)?;
        let (owner, limit) = (owner(context.principal()), self.schedule.0.options.max_jobs);
        let named = name.clone();
        let insert = move |connection: &Transaction<'_>| {
            let insert = "INSERT INTO triggers (owner, name, target, prompt, nonce) SELECT ?1, ?2, ?3, ?4, ?5
                 WHERE (SELECT count(*) FROM triggers WHERE owner = ?1) < ?6
                 ON CONFLICT (owner, name) DO NOTHING RETURNING id";
            let values = params![owner, name, target, prompt, crate::random::hex(32), limit];
            let number = connection.query_row(insert, values, |row| row.get::<_, i64>(0));
            let Some(number) = number.optional()? else { return Ok(Written::Refused) };
            if link.apply(connection, number, limit)? {
                return Ok(Written::Trigger(number));
            }
            connection.execute("DELETE FROM triggers WHERE id = ?1", [number])?;
            Ok(Written::TooManyJobs)
        };
        match self.schedule.0.store.write(insert).await.map_err(failed)? {
            Written::Trigger(number) => self.find(&format!("trigger_{number}"), context),
            Written::TooManyJobs => Err(too_many_jobs(limit)),
            Written::Refused => Err(ToolError::user(format!(
                "there is a trigger of the name `{named}` already, or you have {limit}, which is the limit; see `list`"
            ))),
        }
    }

    /// Changes what is given: all of it, or nothing.
    async fn update(&self, given: Given, context: &ToolContext) -> Result<Trigger, ToolError> {
        let trigger = self.find(given.id(), context)?;
        let Given { name, target, prompt, schedule, time_zone, .. } = given;
        // A job must not change what another run of it would send.
        self.schedule.check_caller(context)?;
        check_texts(name.as_deref(), prompt.as_deref(), context)?;
        if let Some(target) = &target {
            self.schedule.0.targets.get(target)?;
        }
        let link = self.link(schedule, time_zone, context)?;
        let (owner, limit) = (owner(context.principal()), self.schedule.0.options.max_jobs);
        let number = trigger.number().unwrap_or_default();
        let update = move |connection: &Transaction<'_>| {
            let others = "SELECT id FROM triggers WHERE owner = ?1 AND name = ?2 AND id <> ?3";
            if connection.prepare(others)?.exists(params![owner, name, number])? {
                return Ok(Written::Refused);
            }
            let own = "SELECT id FROM triggers WHERE id = ?1";
            if !connection.prepare(own)?.exists([number])? {
                // Deleted meanwhile, which the caller finds.
                return Ok(Written::Trigger(number));
            }
            if !link.apply(connection, number, limit)? {
                return Ok(Written::TooManyJobs);
            }
            connection.execute(
                "UPDATE triggers SET name = coalesce(?2, name), target = coalesce(?3, target),
                 prompt = coalesce(?4, prompt) WHERE id = ?1",
                params![number, name, target, prompt],
            )?;
            Ok(Written::Trigger(number))
        };
        match self.schedule.0.store.write(update).await.map_err(failed)? {
            Written::Trigger(_) => self.find(&trigger.info.id, context),
            Written::TooManyJobs => Err(too_many_jobs(limit)),
            Written::Refused => {
                Err(ToolError::user("another trigger has that name; choose another"))
            }
        }
    }

    /// Checks the schedule that a trigger is given, if one is.
    fn link(
        &self,
        schedule: Option<String>,
        time_zone: Option<String>,
        context: &ToolContext,
    ) -> Result<Link, ToolError> {
        let Some(schedule) = schedule else { return Ok(Link::Kept) };
        self.schedule.check_caller(context)?;
        if schedule.trim().is_empty() {
            return Ok(Link::Removed);
        }
        let tool = self.schedule.0.trigger_tool.get().cloned();
        // The id is known when the trigger is stored.
        let id = "trigger_0";
        let new = NewJob {
            name: job_name(id),
            schedule,
            time_zone,
            tool: tool.unwrap_or_else(|| "RemoteTrigger".to_owned()),
            arguments: job_arguments(id),
            enabled: true,
            on_missed: OnMissed::Skip,
            replace: true,
        };
        let job = self.schedule.new_job(new, context)?;
        Ok(Link::Job(Box::new(job), self.schedule.now()))
    }

    async fn delete(&self, given: Given, context: &ToolContext) -> Result<Trigger, ToolError> {
        let trigger = self.find(given.id(), context)?;
        self.remove(&trigger.info.id).await?;
        Ok(trigger)
    }

    async fn remove(&self, id: &str) -> Result<(), ToolError> {
        let number = number(id, "trigger");
        let delete = move |connection: &Transaction<'_>| {
            let job = "DELETE FROM jobs WHERE id = (SELECT job FROM triggers WHERE id = ?1)";
            connection.execute(job, [number])?;
            connection.execute("DELETE FROM triggers WHERE id = ?1", [number])
        };
        self.schedule.0.store.write(delete).await.map_err(failed)?;
        Ok(())
    }

    async fn send(
        &self,
        given: Given,
        context: &ToolContext,
    ) -> Result<RemoteTriggerOutput, ToolError> {
        let trigger = self.find(given.id(), context)?;
        check_texts(None, given.prompt.as_deref(), context)?;
        let target = self.schedule.0.targets.get(&trigger.info.target)?;
        let id = trigger.delivery_id(context);
        let prompt = given.prompt.as_deref().unwrap_or(&trigger.info.prompt);
        let now = || self.schedule.now();
        let body = json!({
            "type": "trigger.run",
            "timestamp": now().to_string(),
            "data": { "run": id, "trigger": trigger.info.id, "name": trigger.info.name, "prompt": prompt },
        });
        let delivery = Delivery { id: &id, body: &body.to_string() };
        let delivered = self.client.deliver(target, &delivery, &now).await?;
        let mut output = output(vec![trigger]);
        output.status = Some(delivered.status);
        output.response = Some(delivered.response);
        output.attempts = Some(delivered.attempts);
        output.delivery = Some(id);
        Ok(output)
    }
}

impl Toolset for TriggerTools {
    type Params = ();

    /// The schedule is state of the pool.
    async fn create((): (), context: &ToolContext) -> Result<Self, ToolError> {
        let missing = || ToolError::user("no schedule; write `.state(schedule)` on the pool");
        let schedule = context.get::<Schedule>().cloned().ok_or_else(missing)?;
        Self::new(&schedule).map_err(ToolError::user)
    }
}

impl TriggerTools {
    /// # Errors
    /// The operator has set no targets, or TLS is not available.
    pub(crate) fn new(schedule: &Schedule) -> Result<Self, String> {
        if schedule.0.targets.is_empty() {
            return Err("no target is declared; write `.target(Target::new(..))` on the schedule"
                .to_owned());
        }
        Ok(Self { schedule: schedule.clone(), client: WebhookClient::new()? })
    }

    #[cfg(test)]
    pub(super) fn with_client(schedule: &Schedule, client: WebhookClient) -> Self {
        Self { schedule: schedule.clone(), client }
    }
}

impl Family for TriggerTools {
    fn tools_of(profile: Profile) -> &'static [&'static str] {
        match profile {
            Profile::Standard => &["RemoteTrigger"],
            Profile::OpenHands => &[],
        }
    }
}

/// The outcome of storing a trigger.
enum Written {
    Trigger(i64),
    /// Another trigger has the name, or there are too many.
    Refused,
    TooManyJobs,
}

/// The change of a trigger's job.
enum Link {
    Kept,
    Removed,
    /// The job, and the time of the change.
    Job(Box<Job>, Timestamp),
}

impl Link {
    /// Changes the job of a stored trigger. `false`: nothing is changed, since the caller has too many jobs.
    fn apply(
        self,
        connection: &Transaction<'_>,
        number: i64,
        max_jobs: u32,
    ) -> rusqlite::Result<bool> {
        let job = match self {
            Self::Kept => return Ok(true),
            Self::Removed => {
                let delete = "DELETE FROM jobs WHERE id = (SELECT job FROM triggers WHERE id = ?1)";
                connection.execute(delete, [number])?;
                None
            }
            Self::Job(mut job, now) => {
                let id = format!("trigger_{number}");
                job.name = job_name(&id);
                job.arguments = Value::Object(job_arguments(&id)).to_string();
                match save(connection, now, &job, max_jobs, true)? {
                    Saved::Job(job) => Some(job),
                    Saved::Exists(_) | Saved::TooMany => return Ok(false),
                }
            }
        };
        connection.execute("UPDATE triggers SET job = ?2 WHERE id = ?1", params![number, job])?;
        Ok(true)
    }
}

fn job_name(trigger: &str) -> String {
    format!("RemoteTrigger {trigger}")
}

fn job_arguments(trigger: &str) -> Map<String, Value> {
    Map::from_iter([("action".to_owned(), "run".into()), ("id".to_owned(), trigger.into())])
}

/// The inputs of a caller.
struct Given {
    id: Option<String>,
    name: Option<String>,
    target: Option<String>,
    prompt: Option<String>,
    schedule: Option<String>,
    time_zone: Option<String>,
}

impl Given {
    /// Checked by [`Self::check`].
    fn id(&self) -> &str {
        self.id.as_deref().unwrap_or_default()
    }

    /// # Errors
    /// The action needs an id, or does not take what is given.
    fn check(&self, action: TriggerAction) -> Result<(), ToolError> {
        use TriggerAction::{Create, List, Run, Update};
        let error = |text: String| Err(ToolError::user(text));
        match (&self.id, matches!(action, List | Create)) {
            (None, false) => return error("`id` is missing; `list` shows the triggers".to_owned()),
            (Some(_), true) => return error("`id` is not for `list` and `create`".to_owned()),
            _ => {}
        }
        let is_write = matches!(action, Create | Update);
        let given = [
            ("name", self.name.is_some(), is_write),
            ("target", self.target.is_some(), is_write),
            ("prompt", self.prompt.is_some(), is_write || action == Run),
            ("schedule", self.schedule.is_some(), is_write),
            ("time_zone", self.time_zone.is_some(), self.schedule.is_some()),
        ];
        let surplus = given.iter().find(|(_, is_given, is_taken)| *is_given && !is_taken);
        match surplus {
            Some(("time_zone", ..)) => error("`time_zone` needs `schedule`".to_owned()),
            Some((name, ..)) => error(format!("`{name}` is not for this action; leave it out")),
            None => Ok(()),
        }
    }
}

fn check_texts(
    name: Option<&str>,
    prompt: Option<&str>,
    context: &ToolContext,
) -> Result<(), ToolError> {
    if name.is_some_and(|name| !is_name(name, 100)) {
        return Err(ToolError::user("`name` must be one line of 1 to 100 characters"));
    }
    if prompt.is_some_and(|prompt| prompt.len() > 64 * 1024) {
        return Err(ToolError::user("`prompt` is longer than 65536 bytes; shorten it"));
    }
    check_secrets(name.unwrap_or_default(), "`name`", context)?;
    check_secrets(prompt.unwrap_or_default(), "`prompt`", context)
}
