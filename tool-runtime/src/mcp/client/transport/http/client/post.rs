//! Messages to a server, and what becomes of them.

use super::Client;
use super::legible::legible;
use super::verdict::{code, is_gone, is_illegible, says_no_session};
use crate::mcp::client::transport::http::error::HttpError;
use crate::mcp::client::transport::http::headers::HeaderMap;
use futures_util::StreamExt as _;
use reqwest::header::HeaderName;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, ProtocolVersion,
    RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient as _, StreamableHttpError, StreamableHttpPostResponse as Answer,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A call that a server did not take.
const NOT_TAKEN: ErrorCode = ErrorCode(-32000);

/// An answer that stands for one that cannot be handed on.
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
            self.0.mirrors.add(&call.params, &mut own);
        }
        let version = own.get(&HeaderName::from_static("mcp-protocol-version"));
        let is_modern = version.is_some_and(|version| {
            version.as_bytes() >= ProtocolVersion::STANDARD_HEADERS.as_str().as_bytes()
        });
        let answer = self.renewing(own, |headers| {
            self.agent().post_message_with_max_sse_event_size(
                Arc::clone(&url),
                message.clone(),
                session.clone(),
                None,
                headers,
                longest,
            )
        });
        let answer = answer.await;
        let Some((request, id)) = request else { return answer };
        let is_call = matches!(request, ClientRequest::CallToolRequest(_));
        match answer.map(|answer| self.legible(answer, is_call)) {
            Ok(answer) if is_modern && matches!(request, ClientRequest::ListToolsRequest(_)) => {
                Ok(self.learning(answer))
            }
            Ok(Answer::Json(JsonRpcMessage::Error(error), session_id)) if error.id.is_none() => {
                if session.is_some() && says_no_session(&error.error) {
                    return Err(StreamableHttpError::SessionExpired);
                }
                // It is the answer to this request, whatever the server knows of it.
                Ok(Answer::Json(
                    ServerJsonRpcMessage::error(error.error, Some(id.clone())),
                    session_id,
                ))
            }
            Ok(answer) => Ok(answer),
            Err(error) => self.failed(error, request, id),
        }
    }

    /// What a request's failure means besides.
    fn failed(
        &self,
        error: HttpError,
        request: &ClientRequest,
        id: &RequestId,
    ) -> Result<Answer, HttpError> {
        let status = code(&error);
        match request {
            ClientRequest::InitializeRequest(_) if matches!(status, Some(400 | 404 | 405)) => {
                self.0.looks_old.store(true, Ordering::Relaxed);
            }
            ClientRequest::SubscriptionsListenRequest(_) if is_gone(&error) => self.0.lost.cancel(),
            ClientRequest::CallToolRequest(_)
                if status.is_some_and(|status| (300..500).contains(&status) && status != 401) =>
            {
                return Ok(answer(NOT_TAKEN, self.worded(error).to_string(), id));
            }
            ClientRequest::CallToolRequest(_) if is_illegible(&error) => {
                let why = self.worded(error);
                let text =
                    format!("its answer cannot be read: {why}; the call may have had its effect");
                return Ok(answer(ErrorCode::PARSE_ERROR, text, id));
            }
            _ => {}
        }
        Err(error)
    }

    fn legible(&self, answer: Answer, is_call: bool) -> Answer {
        match answer {
            Answer::Sse(events, session) => {
                Answer::Sse(legible(events, is_call, Arc::clone(&self.0.hearing)), session)
            }
            other => other,
        }
    }

    /// Learns from a list of tools as it passes.
    fn learning(&self, answer: Answer) -> Answer {
        match answer {
            Answer::Json(message, session) => {
                self.learn(&message);
                Answer::Json(message, session)
            }
            Answer::Sse(events, session) => {
                let client = self.clone();
                let events = events.inspect(move |event| {
                    let data = event.as_ref().ok().and_then(|event| event.data.as_deref());
                    if let Some(Ok(message)) = data.map(serde_json::from_str) {
                        client.learn(&message);
                    }
                });
                Answer::Sse(events.boxed(), session)
            }
            other => other,
        }
    }

    fn learn(&self, message: &ServerJsonRpcMessage) {
        self.0.hearing.note_odd(self.0.mirrors.learn(message));
    }
}
