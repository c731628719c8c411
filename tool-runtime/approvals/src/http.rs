//! The inbox over HTTP.

mod page;

use crate::store::{ApprovalAnswer, ApprovalStore, StoreError, StoredApproval};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tool_runtime_core::vocabulary::Principal;
use tool_runtime_server::seam::{Reason, bearer};
use tool_runtime_server::{AuthRejection, Authenticate};

/// Limit on the length of an answer.
const MAX_ANSWER: usize = 64 * 1024;

/// Limit on a string of a listed question.
const MAX_TEXT: usize = 64 * 1024;

/// Limit on listed questions.
const MAX_QUESTIONS: usize = 200;

/// Requests that are answered at a time.
const MAX_REQUESTS: usize = 8;

/// The questions of a store as routes, for people who authenticate with a bearer token. Their ids are
/// the names that rules compare with their approvers; a caller cannot approve its own calls by the
/// token that it calls with, unless the rule says so.
///
/// | Request | Answer |
/// |---|---|
/// | `GET /approvals` | the open questions, at most 200, and the number of the others as `unlisted` |
/// | `GET /approvals/ID` | one question, with its answer |
/// | `POST /approvals/ID` | answers: `{"is_approved": true}`, with `reason`, `arguments`, `remember`; 409 if it is answered, 410 if it has expired or its call is gone |
/// | `GET /inbox` | a page for people, which asks for their token and uses the routes above |
///
/// The page shows texts of calls as texts, with characters that are invisible or change the direction as escapes. It loads
/// nothing from elsewhere, keeps the token for the life of its tab, and runs in no frame.
///
/// ```
/// use std::sync::Arc;
/// use tool_runtime::http::BearerTokens;
/// use tool_runtime::approvals::{InboxRoutes, MemoryStore};
///
/// let people = BearerTokens::parse("ada:8fQm2x1vXk9p8fQm scopes=approve")?;
/// let app: axum::Router =
///     InboxRoutes::new(Arc::new(MemoryStore::new()), people).scope("approve").into_router();
/// # Ok::<(), tool_runtime::http::TokensError>(())
/// ```
#[must_use = "routes do nothing until they are served"]
pub struct InboxRoutes {
    store: Arc<dyn ApprovalStore>,
    people: Arc<dyn Authenticate>,
    scope: Option<String>,
    remembers: bool,
}

impl InboxRoutes {
    /// The routes of a store, for these people.
    pub fn new(store: Arc<dyn ApprovalStore>, people: impl Authenticate) -> Self {
        Self { store, people: Arc::new(people), scope: None, remembers: true }
    }

    /// Sets the scope that people need. Default: none, everyone who has a token reads and answers.
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scope = Some(scope.into());
        self
    }

    /// Sets whether the page offers an answer for all calls of a session. Default: true; without
    /// [`Remembering`](crate::Remembering) such an answer counts once.
    pub fn remembers(mut self, remembers: bool) -> Self {
        self.remembers = remembers;
        self
    }

    /// The routes for an application.
    pub fn into_router(self) -> Router {
        let people = People {
            authenticate: self.people,
            scope: self.scope,
            requests: Arc::new(Semaphore::new(MAX_REQUESTS)),
        };
        let state = Inboxed { store: self.store, remembers: self.remembers };
        Router::new()
            .route("/approvals", get(list))
            .route("/approvals/{id}", get(show).post(answer))
            .layer(middleware::from_fn_with_state(people, authenticated))
            .layer(DefaultBodyLimit::max(MAX_ANSWER))
            .with_state(state)
            .merge(page::routes())
    }
}

impl fmt::Debug for InboxRoutes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InboxRoutes").field("scope", &self.scope).finish_non_exhaustive()
    }
}

/// The routes without a scope, see [`InboxRoutes`].
pub fn router(store: Arc<dyn ApprovalStore>, people: impl Authenticate) -> Router {
    InboxRoutes::new(store, people).into_router()
}

/// Who may read and answer.
#[derive(Clone)]
struct People {
    authenticate: Arc<dyn Authenticate>,
    scope: Option<String>,
    /// Each may read all questions.
    requests: Arc<Semaphore>,
}

/// The state of the routes.
#[derive(Clone)]
struct Inboxed {
    store: Arc<dyn ApprovalStore>,
    remembers: bool,
}

impl People {
    /// The response to a person who may not read and answer.
    fn refusal(&self, person: &Principal) -> Option<Response> {
        let missing = self.scope.as_ref().filter(|scope| !person.scopes().contains(scope));
        if let Some(missing) = missing {
            return Some(lacks_scope(missing));
        }
        let text = "anonymous people cannot read or answer questions";
        person.is_anonymous().then(|| problem(StatusCode::FORBIDDEN, text))
    }
}

async fn authenticated(State(people): State<People>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    match people.authenticate.authenticate(bearer(&parts), &parts).await {
        Ok(person) => {
            let person = Arc::new(person);
            let mut response = match people.refusal(&person) {
                Some(refusal) => refusal,
                None => {
                    parts.extensions.insert(Person(Arc::clone(&person)));
                    // It fails only if the semaphore is closed, which nobody does.
                    let _permit = people.requests.acquire().await;
                    next.run(Request::from_parts(parts, body)).await
                }
            };
            // For the line of the log.
            response.extensions_mut().insert(person);
            response
        }
        Err(AuthRejection::InsufficientScope(scopes)) => lacks_scope(&scopes.join("`, `")),
        Err(AuthRejection::Unavailable(reason)) => {
            tracing::warn!(reason, "authentication is unavailable");
            problem(StatusCode::SERVICE_UNAVAILABLE, "authentication is unavailable")
        }
        Err(_) => {
            let text = "authenticate with the header `Authorization: Bearer TOKEN`";
            let challenge = [(header::WWW_AUTHENTICATE, r#"Bearer realm="approvals""#)];
            (challenge, problem(StatusCode::UNAUTHORIZED, text)).into_response()
        }
    }
}

fn lacks_scope(scope: &str) -> Response {
    problem(StatusCode::FORBIDDEN, &format!("the token lacks the scope `{scope}`"))
}

#[derive(Clone)]
struct Person(Arc<Principal>);

/// The open questions. Long texts are cut, and the question says so; the whole one is at its own path.
async fn list(State(Inboxed { store, remembers }): State<Inboxed>) -> Response {
    match store.list().await {
        Ok(all) => {
            let open: Vec<_> = all.into_iter().filter(StoredApproval::is_open).collect();
            let total = open.len();
            let open = fair(open);
            let unlisted = total - open.len();
            let open: Vec<Value> = open.iter().filter_map(listed).collect();
            let body = json!({ "approvals": open, "unlisted": unlisted, "remembers": remembers });
            reply(StatusCode::OK, &body)
        }
        Err(error) => failed(&error),
    }
}

/// As many questions as are listed, in their order: of each caller the oldest ones, so that a caller with many does not hide
/// those of the others.
fn fair(open: Vec<StoredApproval>) -> Vec<StoredApproval> {
    let mut counts = HashMap::<String, usize>::new();
    let ranked = open.into_iter().enumerate().map(|(position, question)| {
        let count = counts.entry(question.request.caller.clone()).or_default();
        *count += 1;
        (*count, position, question)
    });
    let mut ranked: Vec<_> = ranked.collect();
    ranked.sort_by_key(|(rank, position, _)| (*rank, *position));
    ranked.truncate(MAX_QUESTIONS);
    ranked.sort_by_key(|(_, position, _)| *position);
    ranked.into_iter().map(|(_, _, question)| question).collect()
}

/// A question with texts of limited length.
fn listed(stored: &StoredApproval) -> Option<Value> {
    let mut value = serde_json::to_value(stored).ok()?;
    let mut is_cut = false;
    for key in ["arguments", "visual", "summary", "question"] {
        if let Some(Value::String(text)) = value.get_mut(key)
            && text.len() > MAX_TEXT
        {
            let end = (0..=MAX_TEXT).rev().find(|end| text.is_char_boundary(*end));
            text.truncate(end.unwrap_or_default());
            is_cut = true;
        }
    }
    value["is_cut"] = is_cut.into();
    Some(value)
}

async fn show(State(Inboxed { store, .. }): State<Inboxed>, Path(id): Path<String>) -> Response {
    match store.get(&id).await {
        Ok(Some(stored)) => reply(StatusCode::OK, &stored),
        Ok(None) => failed(&StoreError::Unknown(id)),
        Err(error) => failed(&error),
    }
}

async fn answer(
    State(Inboxed { store, .. }): State<Inboxed>,
    Path(id): Path<String>,
    axum::Extension(Person(person)): axum::Extension<Person>,
    body: Bytes,
) -> Response {
    let mut answer: ApprovalAnswer = match serde_json::from_slice(&body) {
        Ok(answer) => answer,
        Err(error) => return problem(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    // The person is the one who authenticated, whoever the body names.
    answer.by = Some(person.id().to_owned());
    if answer.is_approved
        && let Err(error) = check_own(&*store, &id, &person).await
    {
        return failed(&error);
    }
    match store.answer(&id, answer).await {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(error) => failed(&error),
    }
}

/// A caller does not approve its own call by the token that it calls with, unless the rule names the caller.
async fn check_own(
    store: &dyn ApprovalStore,
    id: &str,
    person: &Principal,
) -> Result<(), StoreError> {
    let Some(stored) = store.get(id).await? else { return Ok(()) };
    let is_own = stored.request.caller == person.id();
    if !is_own || stored.request.approvers.names_caller() {
        return Ok(());
    }
    let reason = "the caller may not approve its own call by its own token".to_owned();
    Err(StoreError::NotAllowed { id: id.to_owned(), reason })
}

fn failed(error: &StoreError) -> Response {
    let status = match error {
        StoreError::Unknown(_) | StoreError::NotRemembered(_) => StatusCode::NOT_FOUND,
        StoreError::Ambiguous(_) => StatusCode::BAD_REQUEST,
        StoreError::Answered { .. } => StatusCode::CONFLICT,
        StoreError::Expired(_) | StoreError::Abandoned(_) => StatusCode::GONE,
        StoreError::NotAllowed { .. } => StatusCode::FORBIDDEN,
        StoreError::Full(_) | StoreError::Failed(_) => {
            tracing::warn!("an inbox cannot be used: {error}");
            return problem(StatusCode::SERVICE_UNAVAILABLE, "the inbox cannot be used");
        }
    };
    problem(status, &error.to_string())
}

fn problem(status: StatusCode, text: &str) -> Response {
    let mut response = reply(status, &json!({ "error": text }));
    response.extensions_mut().insert(Reason(text.into()));
    response
}

fn reply(status: StatusCode, body: &impl Serialize) -> Response {
    match serde_json::to_string(body) {
        Ok(json) => {
            let headers = [
                (header::CONTENT_TYPE, "application/json"),
                (header::CACHE_CONTROL, "no-store"),
                (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            ];
            (status, headers, json).into_response()
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

#[cfg(test)]
mod tests;
