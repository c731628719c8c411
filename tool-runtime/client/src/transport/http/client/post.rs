//! Posts messages to a server.

use super::Client;
use super::classify::{code, is_gone, is_unreadable, reports_no_session};
use super::sse_recovery::recovering;
use crate::odd_answers::is_same_id;
use crate::param_headers::{self, CalledTool};
use crate::transport::http::credentials::HeaderMap;
use crate::transport::http::error::HttpError;
use crate::verbatim::{self, Method};
use futures_util::StreamExt as _;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{
    CallToolRequest, ClientJsonRpcMessage, ClientRequest, CustomResult, ErrorCode, ErrorData,
    GetMeta as _, JsonRpcMessage, ProtocolVersion, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::streamable_http_client::{
    StreamableHttpError, StreamableHttpPostResponse as Answer,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Longer members of a trace are only in the metadata: servers limit their headers.
const MAX_TRACE_HEADER: usize = 2048;

/// The code for a call that a server rejected by an HTTP status.
const REJECTED: ErrorCode = ErrorCode(-32000);

/// An error instead of an answer.
fn answer(code: ErrorCode, text: String, id: &RequestId) -> Answer {
    let error = ErrorData::new(code, text, None);
    Answer::Json(ServerJsonRpcMessage::error(error, Some(id.clone())), None)
}

impl Client {
    pub(super) async fn post(
        &self,
        url: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        mut own: HeaderMap,
        longest: usize,
    ) -> Result<Answer, HttpError> {
        let request = match &message {
            JsonRpcMessage::Request(request) => Some((&request.request, &request.id)),
            _ => None,
        };
        if let Some((ClientRequest::CallToolRequest(call), _)) = request {
            repeat_arguments(call, &mut own);
        }
        if let Some((request, _)) = request {
            repeat_trace(request, &mut own);
        }
        let answer = self.renewing(own, |headers| {
            let exchange = self.exchange(&url, session.as_deref(), headers, longest);
            exchange.post(&message)
        });
        let answer = answer.await;
        let Some((request, id)) = request else {
            return self.delivered(answer.map(|(answer, _)| answer), session.is_some());
        };
        let (answer, status) = match answer {
            Ok((answer, status)) => (Ok(answer), Some(status.as_u16())),
            Err(error) => (Err(error), None),
        };
        let is_call = matches!(request, ClientRequest::CallToolRequest(_));
        if answer.is_ok() && is_call {
            self.0.headers.note_success();
        }
        match answer.map(|answer| recovered(answer, id, is_call)) {
            Ok(Answer::Json(JsonRpcMessage::Error(error), session_id))
                if !is_to(error.id.as_ref(), id) =>
            {
                if session.is_some() && reports_no_session(status, &error.error) {
                    return Err(StreamableHttpError::SessionExpired);
                }
                // The server could not read the id.
                let answer = ServerJsonRpcMessage::error(error.error, Some(id.clone()));
                Ok(Answer::Json(answer, session_id))
            }
            Ok(answer) => {
                self.check_answer(&answer, id)?;
                Ok(match request {
                    ClientRequest::ListToolsRequest(_) => verbatim(answer, Method::List),
                    ClientRequest::CallToolRequest(_) => verbatim(answer, Method::Call),
                    _ => answer,
                })
            }
            Err(error) => self.failed(error, request, id),
        }
    }

    /// Handles what a server answers to a notification or an answer of ours. Only a session that is gone and missing
    /// authorization fail the connection; other failures are logged.
    fn delivered(
        &self,
        answer: Result<Answer, HttpError>,
        has_session: bool,
    ) -> Result<Answer, HttpError> {
        let error = match answer {
            Ok(_) => return Ok(Answer::Accepted),
            Err(error) => error,
        };
        let is_harmless = code(&error).is_some_and(|code| !matches!(code, 401 | 403))
            && !(is_gone(&error) && has_session);
        let failure = self.transport_error(error);
        if is_harmless {
            let server = self.0.notifications.server();
            tracing::warn!(server, "it rejects a notification: {failure}");
            return Ok(Answer::Accepted);
        }
        self.keep_failure(failure);
        Err(StreamableHttpError::TransportChannelClosed)
    }

    /// Checks that an answer ends the request.
    fn check_answer(&self, answer: &Answer, id: &RequestId) -> Result<(), HttpError> {
        let problem = match answer {
            // Some servers of 2025-11-25 answer in the stream of notifications.
            Answer::Accepted if !self.0.has_stream.load(Ordering::Relaxed) => {
                "it accepts the request and sends no answer"
            }
            Answer::Json(JsonRpcMessage::Response(response), _)
                if !is_to(Some(&response.id), id) =>
            {
                "it answers another request than the one that it was sent"
            }
            Answer::Json(JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_), _) => {
                "its response is not a JSON-RPC response"
            }
            _ => return Ok(()),
        };
        Err(StreamableHttpError::UnexpectedServerResponse(problem.into()))
    }

    /// Handles a failed request.
    fn failed(
        &self,
        error: HttpError,
        request: &ClientRequest,
        id: &RequestId,
    ) -> Result<Answer, HttpError> {
        let status = code(&error);
        match request {
            ClientRequest::InitializeRequest(_) if matches!(status, Some(400 | 404 | 405)) => {
                self.0.may_be_legacy.store(true, Ordering::Relaxed);
            }
            ClientRequest::SubscriptionsListenRequest(_) if is_gone(&error) => self.0.lost.cancel(),
            ClientRequest::CallToolRequest(_)
                if status.is_some_and(|status| (300..500).contains(&status) && status != 401) =>
            {
                return Ok(answer(REJECTED, self.transport_error(error).to_string(), id));
            }
            ClientRequest::CallToolRequest(_) if is_unreadable(&error) => {
                let why = self.transport_error(error);
                let text =
                    format!("its answer cannot be read: {why}; the call may have had its effect");
                return Ok(answer(ErrorCode::PARSE_ERROR, text, id));
            }
            _ => {}
        }
        Err(error)
    }
}

/// Recovers unreadable answers in a stream.
fn recovered(answer: Answer, id: &RequestId, is_call: bool) -> Answer {
    match answer {
        Answer::Sse(events, session) => {
            Answer::Sse(recovering(events, Some(id.clone()), is_call), session)
        }
        other => other,
    }
}

/// Keeps members of a result that rmcp's types lack. Of an answer that is not a stream, rmcp has parsed the text.
fn verbatim(answer: Answer, method: Method) -> Answer {
    match answer {
        Answer::Sse(events, session) => {
            let events = events.map(move |event| {
                let mut event = event?;
                let text = event.data.as_deref();
                if let Some(wrapped) = text.and_then(|text| verbatim::wrapped(text, method)) {
                    event.data = Some(wrapped);
                }
                Ok(event)
            });
            Answer::Sse(events.boxed(), session)
        }
        Answer::Json(JsonRpcMessage::Response(mut response), session) => {
            // rmcp would keep every tool of every list.
            if let ServerResult::ListToolsResult(list) = &response.result
                && let Ok(list) = serde_json::to_value(list)
            {
                response.result = ServerResult::CustomResult(CustomResult(list));
            }
            Answer::Json(JsonRpcMessage::Response(response), session)
        }
        other => other,
    }
}

/// Repeats marked arguments as headers, in versions that have such headers.
fn repeat_arguments(call: &CallToolRequest, headers: &mut HeaderMap) {
    // rmcp adds headers for all lists that it has received.
    headers.retain(|name, _| !name.as_str().starts_with(param_headers::PREFIX));
    let version = headers.get(&HeaderName::from_static("mcp-protocol-version"));
    let first = ProtocolVersion::STANDARD_HEADERS;
    if version.is_some_and(|version| version.as_bytes() >= first.as_str().as_bytes())
        && let Some(CalledTool(tool)) = call.extensions.get()
        && let Some(arguments) = &call.params.arguments
    {
        headers.extend(param_headers::headers(&tool.input_schema, arguments));
    }
}

/// Repeats the trace of the metadata as headers, for what lies between this program and the server.
fn repeat_trace(request: &ClientRequest, headers: &mut HeaderMap) {
    let meta = request.get_meta();
    let members = [
        ("traceparent", meta.get_traceparent()),
        ("tracestate", meta.get_tracestate()),
        ("baggage", meta.get_baggage()),
    ];
    for (name, value) in members {
        let value = value.filter(|value| value.len() <= MAX_TRACE_HEADER);
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
}

/// Whether an answer is to a request.
fn is_to(answered: Option<&RequestId>, id: &RequestId) -> bool {
    answered.is_some_and(|answered| is_same_id(id, answered))
}
