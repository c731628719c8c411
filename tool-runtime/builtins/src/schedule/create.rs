//! The creation of jobs.

use super::advance::miss_due;
use super::builder::Schedule;
use super::database::{StoredPrincipal, failed, owner};
use super::job::{Job, OnMissed, number};
use super::list::CronJob;
use super::stored_arguments::secret_name;
use super::text::{is_name, nearest};
use super::timetable::Timetable;
use crate::tool_output::ToolOutput;
use jiff::Timestamp;
use serde_json::{Map, Value};
use std::borrow::Cow;
use tool_runtime::secret::Secrets;
use tool_runtime::{ToolCall, ToolContext, ToolError};
use tool_runtime_store::rusqlite::{Transaction, params};

/// Bytes of the arguments of a job.
const MAX_ARGUMENTS: usize = 64 * 1024;

/// The inputs of a caller for a job.
pub(super) struct NewJob {
    pub(super) name: String,
    pub(super) schedule: String,
    pub(super) time_zone: Option<String>,
    pub(super) tool: String,
    pub(super) arguments: Map<String, Value>,
    pub(super) enabled: bool,
    pub(super) on_missed: OnMissed,
    pub(super) replace: bool,
}

/// The outcome of saving a job.
pub(super) enum Saved {
    Job(i64),
    Exists(i64),
    TooMany,
}

impl Schedule {
    pub(super) async fn create(
        &self,
        new: NewJob,
        context: &ToolContext,
    ) -> Result<ToolOutput<CronJob>, ToolError> {
        let verb = if new.replace { "saved" } else { "created" };
        let id = self.save_job(new, context).await?;
        let jobs = self.list(&owner(context.principal()))?;
        let (host, job) = (jobs.host_text(), jobs.into_job(id));
        let job = job.ok_or_else(|| ToolError::transient("the job was deleted meanwhile"))?;
        let next = match job.next.as_slice() {
            [] => "it is disabled".to_owned(),
            next => format!("next runs: {}", next.join(", ")),
        };
        let text = format!("{verb} `{}`; {next}\n{host}", job.id);
        Ok(ToolOutput::new(text, job))
    }

    /// Checks and stores a job of the caller. Returns its number.
    async fn save_job(&self, new: NewJob, context: &ToolContext) -> Result<i64, ToolError> {
        let replace = new.replace;
        let job = self.new_job(new, context)?;
        let (max_jobs, named) = (self.0.options.max_jobs, job.name.clone());
        let now = self.now();
        let save =
            move |connection: &Transaction<'_>| save(connection, now, &job, max_jobs, replace);
        match self.0.store.write(save).await.map_err(failed)? {
            Saved::Job(id) => Ok(id),
            Saved::Exists(id) => Err(ToolError::user(format!(
                "`{}` has the name `{named}` already; choose another name, or write `replace: true`",
                super::job::public_id(id)
            ))),
            Saved::TooMany => Err(too_many_jobs(max_jobs)),
        }
    }

    /// Checks a job of the caller, which is not stored.
    pub(super) fn new_job(&self, new: NewJob, context: &ToolContext) -> Result<Job, ToolError> {
        self.check_caller(context)?;
        let NewJob { name, schedule, time_zone, tool, arguments, enabled, on_missed, .. } = new;
        if !is_name(&name, 100) {
            return Err(ToolError::user("`name` must be one line of 1 to 100 characters"));
        }
        let options = &self.0.options;
        let time_zone = time_zone.unwrap_or_else(|| options.time_zone.clone());
        let timetable = Timetable::new(&schedule, &time_zone)?;
        let now = self.now();
        timetable.check(now, options.min_interval)?;
        let arguments = Value::Object(arguments);
        check_call(&tool, &arguments, context)?;
        let principal = StoredPrincipal::from(context.principal());
        Ok(Job {
            id: 0,
            owner: owner(context.principal()),
            name,
            schedule,
            time_zone,
            tool,
            arguments: arguments.to_string(),
            on_missed,
            enabled,
            principal: serde_json::to_string(&principal)?,
            next_due: timetable.after(now),
        })
    }

    /// # Errors
    /// The caller is a job.
    pub(super) fn check_caller(&self, context: &ToolContext) -> Result<(), ToolError> {
        if self.is_job(context) && !self.0.options.jobs_may_schedule {
            let text = "a job may not create or change jobs; ask the user to create them";
            return Err(ToolError::user(text));
        }
        Ok(())
    }

    /// A job of a caller.
    ///
    /// # Errors
    /// No job has this id; the text lists the caller's jobs.
    pub(super) fn find_job(&self, id: &str, owner: &str) -> Result<Job, ToolError> {
        let read = |connection: &_| Job::all(connection, "owner = ?1 ORDER BY id", [owner]);
        let jobs = self.0.store.read(read).map_err(failed)?;
        let wanted = number(id, "cron");
        if let Some(job) = jobs.iter().find(|job| Some(job.id) == wanted) {
            return Ok(job.clone());
        }
        let ids: Vec<String> = jobs.iter().map(Job::public_id).collect();
        let of_name = jobs.iter().find(|job| job.name == id).map(Job::public_id);
        let hint = match of_name {
            Some(own) => format!("the job of that name is `{own}`"),
            None if ids.is_empty() => "you have no jobs".to_owned(),
            None => nearest(id, ids.iter().map(String::as_str))
                .unwrap_or_else(|| format!("your jobs are `{}`", ids.join("`, `"))),
        };
        Err(ToolError::user(format!("there is no job `{id}`; {hint}")))
    }
}

/// The tool that a job calls, and its arguments. A command is a call of `Bash`.
///
/// # Errors
/// Neither a tool nor a command is given, or both.
pub(super) fn call_of_job(
    tool: Option<String>,
    arguments: Map<String, Value>,
    command: Option<String>,
) -> Result<(String, Map<String, Value>), ToolError> {
    match (tool, command) {
        (Some(tool), None) => Ok((tool, arguments)),
        (None, Some(command)) if arguments.is_empty() => {
            let arguments = [("command".to_owned(), Value::from(command))];
            Ok(("Bash".to_owned(), arguments.into_iter().collect()))
        }
        (None, None) => Err(ToolError::user(
            "a job calls a tool or runs a command; write `tool` and `arguments`, or `command`",
        )),
        (Some(_), Some(_)) | (None, Some(_)) => Err(ToolError::user(
            "`command` stands for a call of `Bash` with it; leave out `tool` and `arguments`, or write the command into `arguments`",
        )),
    }
}

pub(super) fn too_many_jobs(max_jobs: u32) -> ToolError {
    ToolError::user(format!(
        "you have {max_jobs} jobs, which is the limit; delete one by `CronDelete` first"
    ))
}

/// Stores a job. Nothing is changed unless the outcome is a job.
pub(super) fn save(
    connection: &Transaction<'_>,
    now: Timestamp,
    job: &Job,
    max_jobs: u32,
    replace: bool,
) -> tool_runtime_store::rusqlite::Result<Saved> {
    let of_name = "owner = ?1 AND name = ?2";
    let existing = Job::all(connection, of_name, params![job.owner, job.name])?.pop();
    if let Some(existing) = existing.as_ref().filter(|_| !replace) {
        return Ok(Saved::Exists(existing.id));
    }
    let Some(existing) = existing else {
        let count = "SELECT count(*) FROM jobs WHERE owner = ?1";
        let count: u32 = connection.query_row(count, [&job.owner], |row| row.get(0))?;
        return if count >= max_jobs {
            Ok(Saved::TooMany)
        } else {
            job.save(connection).map(Saved::Job)
        };
    };
    let is_due = existing.enabled && existing.next_due.is_some_and(|due| due <= now);
    let mut job = job.clone();
    if is_due && job.enabled && job.has_times_of(&existing) {
        // A host has yet to run these times, or to record that they were missed.
        job.next_due = existing.next_due;
    } else if is_due {
        miss_due(connection, &existing, now)?;
    }
    job.save(connection).map(Saved::Job)
}

/// Checks the call of a job: what the caller cannot call now, and what must not be stored, cannot be made a job.
fn check_call(tool: &str, arguments: &Value, context: &ToolContext) -> Result<(), ToolError> {
    let text = arguments.to_string();
    if text.len() > MAX_ARGUMENTS {
        let text =
            format!("`arguments` have {} bytes; at most {MAX_ARGUMENTS} are stored", text.len());
        return Err(ToolError::user(text));
    }
    let handle =
        context.pool().ok_or_else(|| ToolError::user("there is no pool to call tools of"))?;
    let pool = handle.for_principal(context.principal().clone());
    let found = pool.check_call(&ToolCall::new(tool, text.clone()));
    let found = found.map_err(|error| {
        ToolError::user(format!("the job cannot call `{tool}`: {}", error.message()))
    })?;
    if let Some(name) = secret_name(&found.definition().input_schema, arguments) {
        let text = format!(
            "the argument `{name}` of `{tool}` is secret or not in its schema, so it cannot be stored; leave it out, or use a tool that reads the secret itself"
        );
        return Err(ToolError::user(text));
    }
    check_secrets(&text, "`arguments`", context)
}

/// # Errors
/// The text contains a secret of the pool.
pub(super) fn check_secrets(
    text: &str,
    field: &str,
    context: &ToolContext,
) -> Result<(), ToolError> {
    let redactor = context.get::<Secrets>().map(Secrets::redactor);
    match redactor.is_some_and(|redactor| matches!(redactor.text(text), Cow::Owned(_))) {
        true => Err(ToolError::user(format!(
            "{field} must not contain a secret, since it is stored; write its name, as `${{NAME}}`"
        ))),
        false => Ok(()),
    }
}
