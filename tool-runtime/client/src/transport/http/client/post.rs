//! Posts messages to a server.

use super::Client;
use super::classify::{code, is_gone, is_unreadable, says_no_session};
use super::sse_recovery::recovering;
use super::status::with_status;
use crate::as_it_came;
use crate::as_it_came::Of;
use crate::transport::http::credentials::HeaderMap;
use crate::transport::http::error::HttpError;
use futures_util::StreamExt as _;
use reqwest::header::HeaderName;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, CustomResult, ErrorCode, ErrorData, JsonRpcMessage,
    ProtocolVersion, RequestId, ServerJsonRpcMessage, ServerResult,
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
            self.0.param_headers.add(&call.params, &mut own);
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
        let (answer, status) = with_status(answer).await;
        let Some((request, id)) = request else { return answer };
        let is_call = matches!(request, ClientRequest::CallToolRequest(_));
        if answer.is_ok() && is_call {
            self.0.headers.are_enough();
        }
        match answer.map(|answer| recovered(answer, is_call)) {
            Ok(Answer::Json(JsonRpcMessage::Error(error), session_id))
                if !is_to(error.id.as_ref(), id) =>
            {
                if session.is_some() && says_no_session(status, &error.error) {
                    return Err(StreamableHttpError::SessionExpired);
                }
                // It is the answer to this request, whatever the server knows of it.
                let answer = ServerJsonRpcMessage::error(error.error, Some(id.clone()));
                Ok(Answer::Json(answer, session_id))
            }
            Ok(answer) => {
                self.has_answer(&answer, id)?;
                let answer = match request {
                    ClientRequest::ListToolsRequest(list) if is_modern => {
                        let cursor = list.params.as_ref().and_then(|params| params.cursor.clone());
                        self.learning(answer, id, cursor)
                    }
                    _ => answer,
                };
                Ok(match request {
                    ClientRequest::ListToolsRequest(_) => whole(answer, Of::List),
                    ClientRequest::CallToolRequest(_) => whole(answer, Of::Call),
                    _ => answer,
                })
            }
            Err(error) => self.failed(error, request, id),
        }
    }

    /// Whether a request that was taken can have an answer: nothing else would end it.
    fn has_answer(&self, answer: &Answer, id: &RequestId) -> Result<(), HttpError> {
        let problem = match answer {
            // Some servers of the older era answer by the stream of news.
            Answer::Accepted if !self.0.has_stream.load(Ordering::Relaxed) => {
                "it takes the request and gives no answer"
            }
            Answer::Json(JsonRpcMessage::Response(response), _)
                if !is_to(Some(&response.id), id) =>
            {
                "it answers another request than the one that it was sent"
            }
            Answer::Json(JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_), _) => {
                "what it answers is not an answer"
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
                self.0.looks_old.store(true, Ordering::Relaxed);
            }
            ClientRequest::SubscriptionsListenRequest(_) if is_gone(&error) => self.0.lost.cancel(),
            ClientRequest::CallToolRequest(_)
                if status.is_some_and(|status| (300..500).contains(&status) && status != 401) =>
            {
                return Ok(answer(NOT_TAKEN, self.worded(error).to_string(), id));
            }
            ClientRequest::CallToolRequest(_) if is_unreadable(&error) => {
                let why = self.worded(error);
                let text =
                    format!("its answer cannot be read: {why}; the call may have had its effect");
                return Ok(answer(ErrorCode::PARSE_ERROR, text, id));
            }
            _ => {}
        }
        Err(error)
    }

    /// Learns from a list of tools as it passes.
    fn learning(&self, answer: Answer, id: &RequestId, cursor: Option<String>) -> Answer {
        match answer {
            Answer::Json(JsonRpcMessage::Response(mut response), session) => {
                self.learn(cursor.as_deref(), &response.result);
                // rmcp would keep each tool that it ever saw in a list.
                if let ServerResult::ListToolsResult(list) = &response.result
                    && let Ok(list) = serde_json::to_value(list)
                {
                    response.result = ServerResult::CustomResult(CustomResult(list));
                }
                Answer::Json(JsonRpcMessage::Response(response), session)
            }
            Answer::Sse(events, session) => {
                let (client, id) = (self.clone(), id.clone());
                let events = events.inspect(move |event| {
                    let data = event.as_ref().ok().and_then(|event| event.data.as_deref());
                    let message = data.and_then(|data| serde_json::from_str(data).ok());
                    if let Some(ServerJsonRpcMessage::Response(response)) = message
                        && is_to(Some(&response.id), &id)
                    {
                        client.learn(cursor.as_deref(), &response.result);
                    }
                });
                Answer::Sse(events.boxed(), session)
            }
            other => other,
        }
    }

    fn learn(&self, cursor: Option<&str>, result: &ServerResult) {
        self.0.notifications.note_odd(self.0.param_headers.learn(cursor, result));
    }
}

/// Recovers unreadable answers in a stream.
fn recovered(answer: Answer, is_call: bool) -> Answer {
    match answer {
        Answer::Sse(events, session) => Answer::Sse(recovering(events, is_call), session),
        other => other,
    }
}

/// Keeps what rmcp would drop of a result. Of one that is no event of a stream rmcp has read the text.
fn whole(answer: Answer, of: Of) -> Answer {
    let Answer::Sse(events, session) = answer else { return answer };
    let events = events.map(move |event| {
        let mut event = event?;
        let text = event.data.as_deref();
        if let Some(wrapped) = text.and_then(|text| as_it_came::wrapped(text, of)) {
            event.data = Some(wrapped);
        }
        Ok(event)
    });
    Answer::Sse(events.boxed(), session)
}

/// Whether an answer is to a request; some servers make a text of its number.
fn is_to(answered: Option<&RequestId>, id: &RequestId) -> bool {
    answered.is_some_and(|answered| answered == id || answered.to_string() == id.to_string())
}
