//! Triggers as they are stored and returned.

use super::hosted_run::JOB_LABEL;
use super::job::{Job, number, public_id};
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::fmt;
use tool_runtime::__seam::{excerpt_of, hex};
use tool_runtime::ToolContext;
use tool_runtime_store::rusqlite::{self, Connection, Row};

/// A trigger.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct TriggerInfo {
    /// The id.
    pub id: String,
    /// The name.
    pub name: String,
    /// The target that the operator declared.
    pub target: String,
    /// The text that is sent.
    pub prompt: String,
    /// The job that runs it, if it has a schedule; `CronList` shows its runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// The cron expression of the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// The time zone of the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
}

/// The result of `RemoteTrigger`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct RemoteTriggerOutput {
    /// The trigger, or all triggers.
    pub triggers: Vec<TriggerInfo>,
    /// The status of the response, after `run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The beginning of the response, after `run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// The number of attempts, after `run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// The id of the delivery, which the target received as `webhook-id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery: Option<String>,
}

/// A trigger as it is stored.
pub(super) struct Trigger {
    pub(super) info: TriggerInfo,
    nonce: String,
}

impl Trigger {
    pub(super) fn all(connection: &Connection, owner: &str) -> rusqlite::Result<Vec<Self>> {
        let mut query = connection.prepare(
            "SELECT id, name, target, prompt, nonce, job FROM triggers WHERE owner = ?1 ORDER BY id",
        )?;
        let row = |row: &Row<'_>| {
            let (id, job): (i64, Option<i64>) = (row.get(0)?, row.get(5)?);
            let job = job.map(|job| Job::all(connection, "id = ?1", [job])).transpose()?;
            let job = job.and_then(|mut jobs| jobs.pop());
            let info = TriggerInfo {
                id: format!("trigger_{id}"),
                name: row.get(1)?,
                target: row.get(2)?,
                prompt: row.get(3)?,
                job: job.as_ref().map(|job| public_id(job.id)),
                schedule: job.as_ref().map(|job| job.schedule.clone()),
                time_zone: job.map(|job| job.time_zone),
            };
            Ok(Self { info, nonce: row.get(4)? })
        };
        query.query_map([owner], row)?.collect()
    }

    pub(super) fn number(&self) -> Option<i64> {
        number(&self.info.id, "trigger")
    }

    /// The id of a delivery. A run of the trigger's own job has the same in each attempt, so that its target can
    /// recognise a repetition.
    pub(super) fn delivery_id(&self, context: &ToolContext) -> String {
        let execution = context.execution();
        let is_own = |job: Option<&String>| job.is_some() && job == self.info.job.as_ref();
        let own = execution.filter(|it| is_own(it.labels().get(JOB_LABEL)));
        match own {
            Some(execution) => {
                let digest = Sha256::digest(format!("{} {}", self.nonce, execution.id()));
                format!("msg_{}", hex(&digest[..16]))
            }
            None => format!("msg_{}", crate::random::hex(32)),
        }
    }
}

/// The result about some triggers.
pub(super) fn output(triggers: Vec<Trigger>) -> RemoteTriggerOutput {
    RemoteTriggerOutput {
        triggers: triggers.into_iter().map(|trigger| trigger.info).collect(),
        status: None,
        response: None,
        attempts: None,
        delivery: None,
    }
}

impl fmt::Display for RemoteTriggerOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(status), Some(attempts)) = (self.status, self.attempts) {
            let response = self.response.as_deref().unwrap_or_default();
            return write!(f, "answered {status} (attempt {attempts})\n{response}");
        }
        if self.triggers.is_empty() {
            return f.write_str("no triggers");
        }
        let lines: Vec<String> = self.triggers.iter().map(TriggerInfo::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl fmt::Display for TriggerInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, name, target, prompt, .. } = self;
        let prompt = prompt.replace('\n', " ");
        let prompt = excerpt_of(&prompt, 120);
        write!(f, "{id} `{name}` to `{target}`: {prompt}")?;
        match (&self.job, &self.schedule) {
            (Some(job), Some(schedule)) => write!(f, "; at `{schedule}` by `{job}`"),
            _ => Ok(()),
        }
    }
}
