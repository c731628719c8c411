//! The inbox over HTTP.

use crate::store::{ApprovalAnswer, ApprovalStore, StoreError, StoredApproval};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;
use tool_runtime_core::vocabulary::Principal;
use tool_runtime_server::{AuthRejection, Authenticate};

/// Limit on the length of an answer.
const MAX_ANSWER: usize = 64 * 1024;

/// The questions of a store as routes, for people who authenticate with a bearer token. Their ids are
/// the names that rules compare with their approvers; a caller cannot approve its own calls by the
/// token that it calls with, unless the rule says so.
///
/// | Request | Answer |
/// |---|---|
/// | `GET /approvals` | the open questions |
/// | `GET /approvals/ID` | one question, with its answer |
/// | `POST /approvals/ID` | answers: `{"is_approved": true}`, with `reason`, `arguments`, `remember` |
///
/// ```
/// use std::sync::Arc;
/// use tool_runtime::http::BearerTokens;
/// use tool_runtime::approvals::{MemoryStore, router};
///
/// let people = BearerTokens::parse("ada:8fQm2x1vXk9p8fQm")?;
/// let app: axum::Router = router(Arc::new(MemoryStore::new()), people);
/// # Ok::<(), tool_runtime::http::TokensError>(())
/// ```
pub fn router(store: Arc<dyn ApprovalStore>, people: impl Authenticate) -> Router {
    let people: Arc<dyn Authenticate> = Arc::new(people);
    Router::new()
        .route("/approvals", get(list))
        .route("/approvals/{id}", get(show).post(answer))
        .layer(middleware::from_fn_with_state(people, authenticated))
        .layer(DefaultBodyLimit::max(MAX_ANSWER))
        .with_state(store)
}

type Store = State<Arc<dyn ApprovalStore>>;

async fn authenticated(
    State(people): State<Arc<dyn Authenticate>>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let token = bearer(&parts).map(str::to_owned);
    match people.authenticate(token.as_deref(), &parts).await {
        Ok(person) if !person.is_anonymous() => {
            parts.extensions.insert(Person(Arc::new(person)));
            next.run(Request::from_parts(parts, body)).await
        }
        Ok(_) => problem(StatusCode::FORBIDDEN, "anonymous people cannot read or answer questions"),
        Err(AuthRejection::InsufficientScope(_)) => {
            problem(StatusCode::FORBIDDEN, "the bearer token does not allow this")
        }
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

#[derive(Clone)]
struct Person(Arc<Principal>);

fn bearer(request: &Parts) -> Option<&str> {
    let (scheme, token) =
        request.headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

async fn list(State(store): Store) -> Response {
    match store.list().await {
        Ok(all) => {
            let open: Vec<StoredApproval> =
                all.into_iter().filter(StoredApproval::is_open).collect();
            reply(StatusCode::OK, &json!({ "approvals": open }))
        }
        Err(error) => failed(&error),
    }
}

async fn show(State(store): Store, Path(id): Path<String>) -> Response {
    match store.get(&id).await {
        Ok(Some(stored)) => reply(StatusCode::OK, &stored),
        Ok(None) => failed(&StoreError::Unknown(id)),
        Err(error) => failed(&error),
    }
}

async fn answer(
    State(store): Store,
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
        StoreError::Answered(_) => StatusCode::CONFLICT,
        StoreError::Expired(_) => StatusCode::GONE,
        StoreError::NotAllowed { .. } => StatusCode::FORBIDDEN,
        StoreError::Full(_) | StoreError::Failed(_) => {
            tracing::warn!("an inbox cannot be used: {error}");
            return problem(StatusCode::SERVICE_UNAVAILABLE, "the inbox cannot be used");
        }
    };
    problem(status, &error.to_string())
}

fn problem(status: StatusCode, text: &str) -> Response {
    reply(status, &json!({ "error": text }))
}

fn reply(status: StatusCode, body: &impl Serialize) -> Response {
    match serde_json::to_string(body) {
        Ok(json) => (status, [(header::CONTENT_TYPE, "application/json")], json).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

#[cfg(test)]
mod tests;
