//! Teams and their messages in the file.

use super::identity::{Identity, LEAD};
use super::store::{Step, TaskStore, last_number, next_number, now};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use tool_runtime::__seam::listed;
use tool_runtime::ToolError;
use tool_runtime_store::rusqlite::{self, Connection, Transaction, params};

const MAX_TEAMS: usize = 32;
/// Members of a team besides the lead.
const MAX_MEMBERS: usize = 32;
/// Unread messages of one member.
const MAX_UNREAD: i64 = 100;
const KIND: &str = "team";

/// A team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Team {
    /// The id: `team_` and a number.
    pub id: String,
    /// The name, unique among the teams of the principal.
    pub name: String,
    /// The task of the team. Empty if there is none.
    pub description: String,
    /// The members, the `lead` first.
    pub members: Vec<String>,
    #[serde(skip)]
    pub(super) number: i64,
}

/// A message that was read.
pub(super) struct Message {
    pub(super) team: String,
    pub(super) sender: String,
    pub(super) text: String,
}

/// A message to be sent.
pub(super) struct NewMessage {
    /// The id or name of the team. `None`: the only one of the sender with the recipient.
    pub(super) team: Option<String>,
    /// A member, or `*` for all others.
    pub(super) to: String,
    pub(super) text: String,
}

impl TaskStore {
    pub(super) async fn create_team(
        &self,
        principal: String,
        name: String,
        members: Vec<String>,
        description: String,
    ) -> Result<Team, ToolError> {
        self.write(move |transaction| {
            create(transaction, &principal, &name, &members, &description)
        })
        .await
    }

    pub(super) async fn delete_team(
        &self,
        principal: String,
        id: String,
    ) -> Result<Team, ToolError> {
        self.write(move |transaction| {
            let team = match find(transaction, &principal, &id)? {
                Ok(team) => team,
                Err(error) => return Ok(Err(error)),
            };
            let key = params![principal, team.number];
            transaction.execute("DELETE FROM teams WHERE principal = ?1 AND number = ?2", key)?;
            transaction.execute("DELETE FROM members WHERE principal = ?1 AND team = ?2", key)?;
            transaction.execute("DELETE FROM messages WHERE principal = ?1 AND team = ?2", key)?;
            Ok(Ok(team))
        })
        .await
    }

    /// The team with an id or name, with a member, who is added if missing: the second value says so.
    pub(super) async fn join_team(
        &self,
        principal: String,
        team: String,
        member: String,
    ) -> Result<(Team, bool), ToolError> {
        self.write(move |transaction| {
            let team = match find(transaction, &principal, &team)? {
                Ok(team) => team,
                Err(error) => return Ok(Err(error)),
            };
            if team.members.contains(&member) {
                return Ok(Ok((team, false)));
            }
            if team.members.len() > MAX_MEMBERS {
                return Ok(Err(too_many_members()));
            }
            add_member(transaction, &principal, team.number, &member)?;
            Ok(find(transaction, &principal, &team.id)?.map(|team| (team, true)))
        })
        .await
    }

    /// Removes a member, with its unread messages.
    pub(super) async fn leave_team(
        &self,
        principal: String,
        team: i64,
        member: String,
    ) -> Result<(), ToolError> {
        self.write(move |transaction| {
            let key = params![principal, team, member];
            let member = "DELETE FROM members WHERE principal = ?1 AND team = ?2 AND name = ?3";
            transaction.execute(member, key)?;
            let unread =
                "DELETE FROM messages WHERE principal = ?1 AND team = ?2 AND recipient = ?3";
            transaction.execute(unread, key)?;
            Ok(Ok(()))
        })
        .await
    }

    /// Sends a message. Returns the team and the recipients.
    pub(super) async fn send(
        &self,
        principal: String,
        sender: Identity,
        message: NewMessage,
    ) -> Result<(Team, Vec<String>), ToolError> {
        self.write(move |transaction| send(transaction, &principal, &sender, &message)).await
    }

    /// Takes the unread messages of an agent, the oldest first.
    pub(super) async fn take_messages(
        &self,
        principal: String,
        reader: Identity,
    ) -> Result<Vec<Message>, ToolError> {
        let (team, name) = reader.address();
        let (team, name) = (team, name.to_owned());
        // Most agents have none: reading needs no lock of the file.
        if self.read(|connection| unread(connection, &principal, team, &name))? == 0 {
            return Ok(Vec::new());
        }
        self.write(move |transaction| {
            let mut statement = transaction.prepare_cached(
                "DELETE FROM messages WHERE principal = ?1 AND (?2 IS NULL OR team = ?2) AND recipient = ?3
                 RETURNING number, (SELECT name FROM teams WHERE teams.principal = ?1 AND teams.number = team),
                     sender, text",
            )?;
            let read = |row: &rusqlite::Row<'_>| {
                let message = Message { team: row.get(1)?, sender: row.get(2)?, text: row.get(3)? };
                Ok((row.get::<_, i64>(0)?, message))
            };
            let rows = statement.query_map(params![principal, team, name], read)?;
            let mut messages = rows.collect::<rusqlite::Result<Vec<_>>>()?;
            messages.sort_by_key(|(number, _)| *number);
            Ok(Ok(messages.into_iter().map(|(_, message)| message).collect()))
        })
        .await
    }
}

fn create(
    transaction: &Transaction<'_>,
    principal: &str,
    name: &str,
    members: &[String],
    description: &str,
) -> Step<Team> {
    let teams = all(transaction, principal)?;
    if teams.iter().any(|team| team.name == name) {
        let text = format!("the team `{name}` exists; choose another name, or use that one");
        return Ok(Err(ToolError::user(text)));
    }
    if number_of(name).is_some() {
        let text = format!("`{name}` reads like the id of a team; choose another name");
        return Ok(Err(ToolError::user(text)));
    }
    if teams.len() >= MAX_TEAMS {
        let text = format!("{MAX_TEAMS} teams exist; disband one by `TeamDelete`");
        return Ok(Err(ToolError::user(text)));
    }
    if members.len() > MAX_MEMBERS {
        return Ok(Err(too_many_members()));
    }
    let number = next_number(transaction, principal, KIND)?;
    transaction.execute(
        "INSERT INTO teams VALUES (?1, ?2, ?3, ?4, ?5)",
        params![principal, number, name, description, now()],
    )?;
    for member in std::iter::once(LEAD).chain(members.iter().map(String::as_str)) {
        add_member(transaction, principal, number, member)?;
    }
    find(transaction, principal, &id_of(number))
}

fn add_member(
    transaction: &Transaction<'_>,
    principal: &str,
    team: i64,
    name: &str,
) -> rusqlite::Result<usize> {
    transaction.execute(
        "INSERT OR IGNORE INTO members VALUES (?1, ?2, ?3,
             (SELECT count(*) FROM members WHERE principal = ?1 AND team = ?2))",
        params![principal, team, name],
    )
}

fn send(
    transaction: &Transaction<'_>,
    principal: &str,
    sender: &Identity,
    message: &NewMessage,
) -> Step<(Team, Vec<String>)> {
    let team = match team_of(transaction, principal, sender, message)? {
        Ok(team) => team,
        Err(error) => return Ok(Err(error)),
    };
    let (_, name) = sender.address();
    let is_meant = |member: &&String| match message.to.as_str() {
        "*" => member.as_str() != name,
        to => member.as_str() == to,
    };
    let recipients: Vec<String> = team.members.iter().filter(is_meant).cloned().collect();
    if recipients.is_empty() {
        let text = format!(
            "`{}` is not another member of the team `{}`; its members: {}",
            message.to,
            team.name,
            listed(&team.members)
        );
        return Ok(Err(ToolError::user(text)));
    }
    for recipient in &recipients {
        if unread(transaction, principal, Some(team.number), recipient)? >= MAX_UNREAD {
            let text = format!(
                "`{recipient}` has {MAX_UNREAD} unread messages; wait until it has read them"
            );
            return Ok(Err(ToolError::user(text)));
        }
    }
    for recipient in &recipients {
        transaction.execute(
            "INSERT INTO messages (principal, team, recipient, sender, text, sent) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![principal, team.number, recipient, name, message.text, now()],
        )?;
    }
    Ok(Ok((team, recipients)))
}

/// The team that a message is sent in.
fn team_of(
    connection: &Connection,
    principal: &str,
    sender: &Identity,
    message: &NewMessage,
) -> Step<Team> {
    if let Identity::Member { team, name } = sender {
        let own = find(connection, principal, &id_of(*team))?;
        return Ok(own.and_then(|own| match &message.team {
            Some(other) if *other != own.id && *other != own.name => Err(ToolError::user(format!(
                "`{name}` is a member of the team `{}` and of no other; leave `team` out",
                own.name
            ))),
            _ => Ok(own),
        }));
    }
    if let Identity::Outsider = sender {
        let text =
            "this agent is not a member of a team; the agent that starts it can set `team_name`";
        return Ok(Err(ToolError::user(text)));
    }
    if let Some(team) = &message.team {
        return find(connection, principal, team);
    }
    let mut teams = all(connection, principal)?;
    if message.to != "*" && teams.len() > 1 {
        let known = listed(teams.iter().flat_map(|team| &team.members));
        teams.retain(|team| team.members.contains(&message.to));
        if teams.is_empty() {
            let text = format!("`{}` is not a member of a team; members: {known}", message.to);
            return Ok(Err(ToolError::user(text)));
        }
    }
    Ok(match (teams.len(), teams.pop()) {
        (1, Some(team)) => Ok(team),
        (0, _) | (_, None) => Err(ToolError::user("no team exists; create one by `TeamCreate`")),
        (_, Some(last)) => {
            let names = listed(teams.iter().chain([&last]).map(|team| &team.name));
            Err(ToolError::user(format!(
                "several teams are possible; set `team` to one of {names}"
            )))
        }
    })
}

/// The number of unread messages: of one team, or of all.
fn unread(
    connection: &Connection,
    principal: &str,
    team: Option<i64>,
    recipient: &str,
) -> rusqlite::Result<i64> {
    connection.query_row(
        "SELECT count(*) FROM messages WHERE principal = ?1 AND (?2 IS NULL OR team = ?2) AND recipient = ?3",
        params![principal, team, recipient],
        |row| row.get(0),
    )
}

/// A team by its id or name.
fn find(connection: &Connection, principal: &str, key: &str) -> Step<Team> {
    let teams = all(connection, principal)?;
    let by_id = teams.iter().find(|team| team.id == key);
    if let Some(team) = by_id.or_else(|| teams.iter().find(|team| team.name == key)) {
        return Ok(Ok(team.clone()));
    }
    let last = last_number(connection, principal, KIND)?;
    let text = match number_of(key) {
        Some(number) if (1..=last).contains(&number) => format!("the team `{key}` is disbanded"),
        _ => format!("`{key}` is not the id or name of a team"),
    };
    let known = listed(teams.iter().map(|team| &team.name));
    Ok(Err(ToolError::user(format!("{text}; teams: {known}"))))
}

fn all(connection: &Connection, principal: &str) -> rusqlite::Result<Vec<Team>> {
    let query = "SELECT number, name, description FROM teams WHERE principal = ?1 ORDER BY number";
    let mut statement = connection.prepare_cached(query)?;
    let row = |row: &rusqlite::Row<'_>| {
        let number = row.get(0)?;
        let members = members(connection, principal, number)?;
        Ok(Team { id: id_of(number), name: row.get(1)?, description: row.get(2)?, members, number })
    };
    statement.query_map([principal], row)?.collect()
}

fn members(connection: &Connection, principal: &str, team: i64) -> rusqlite::Result<Vec<String>> {
    let query = "SELECT name FROM members WHERE principal = ?1 AND team = ?2 ORDER BY position";
    let mut statement = connection.prepare_cached(query)?;
    statement.query_map(params![principal, team], |row| row.get(0))?.collect()
}

fn too_many_members() -> ToolError {
    ToolError::user(format!(
        "a team has at most {MAX_MEMBERS} members beside the lead; disband it by `TeamDelete`, and create another"
    ))
}

/// The number in an id.
fn number_of(id: &str) -> Option<i64> {
    id.strip_prefix("team_")?.parse().ok()
}

fn id_of(number: i64) -> String {
    format!("team_{number}")
}

impl fmt::Display for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`, members: {}", self.id, self.name, listed(&self.members))
    }
}
