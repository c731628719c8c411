//! A stream of messages that connects again by itself.

use super::connection::{Connection, REQUEST, cause};
use crate::backoff::Backoff;
use crate::board::BoardError;
use crate::listener::Heard;
use crate::names::StepKey;
use crate::protocol::{NoteEvent, RecordEvent, event};
use crate::record::Revised;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use reqwest::header::{ACCEPT, HeaderValue};
use reqwest::{Method, Response};
use sse_stream::{Sse, SseStream};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tokio_util::task::AbortOnDropHandle;

/// A stream that was open for longer is not one of several attempts to connect.
const STEADY: Duration = Duration::from_secs(1);

/// An event of a stream.
#[derive(Debug)]
pub(super) enum News {
    /// Messages may be lost.
    Gap,
    /// About a step.
    Step(StepKey, Heard),
    /// On another topic.
    Message(Bytes),
}

type Sink = Box<dyn Fn(News) + Send + Sync>;

/// A stream, until it is dropped.
pub(super) struct Follow {
    state: watch::Receiver<State>,
    _task: AbortOnDropHandle<()>,
}

#[derive(Clone)]
enum State {
    Connecting,
    Connected,
    /// Since the last attempt.
    Failed(BoardError),
}

impl Follow {
    /// Follows a topic, now and after each interruption.
    pub(super) fn start(connection: Arc<Connection>, topic: String, sink: Sink) -> Self {
        let (sender, state) = watch::channel(State::Connecting);
        let follower = Follower { connection, topic, sink, state: sender, was_connected: false };
        Self { state, _task: AbortOnDropHandle::new(tokio::spawn(follower.run())) }
    }

    /// Waits for the attempt to connect.
    ///
    /// # Errors
    /// It failed, as did the last one.
    pub(super) async fn connected(&self) -> Result<(), BoardError> {
        let mut state = self.state.clone();
        let settled = state.wait_for(|state| !matches!(state, State::Connecting)).await;
        match settled.as_deref() {
            Ok(State::Failed(error)) => Err(error.clone()),
            Ok(_) => Ok(()),
            Err(_) => Err(BoardError::Disconnected("the board is closed".to_owned())),
        }
    }
}

struct Follower {
    connection: Arc<Connection>,
    topic: String,
    sink: Sink,
    state: watch::Sender<State>,
    was_connected: bool,
}

impl Follower {
    async fn run(mut self) {
        let mut backoff = Backoff::default();
        loop {
            let started = Instant::now();
            let error = self.once().await;
            tracing::debug!(topic = self.topic, %error, "a stream of the hub ended");
            if self.was_connected {
                self.connection.note_outage(&self.topic, Some(error.clone()));
            }
            self.state.send_replace(State::Failed(error));
            if started.elapsed() > STEADY {
                backoff = Backoff::default();
            }
            backoff.wait().await;
        }
    }

    /// Follows one stream to its end. Returns why it ended.
    async fn once(&mut self) -> BoardError {
        let response = match self.open().await {
            Ok(response) => response,
            Err(error) => return error,
        };
        let mut events =
            pin!(SseStream::from_bytes_stream(chunks(response, self.connection.silence)));
        loop {
            match events.next().await {
                Some(Ok(event)) => self.hear(event),
                Some(Err(error)) => return self.lost(&cause(&error)),
                None => return self.lost("it ended the stream"),
            }
        }
    }

    async fn open(&self) -> Result<Response, BoardError> {
        let Self { connection, topic, .. } = self;
        let request = connection.request(Method::GET, &format!("messages?topic={topic}"));
        let request = request.header(ACCEPT, HeaderValue::from_static("text/event-stream"));
        // No limit on the whole answer, which has no end.
        let Ok(response) = timeout(REQUEST, request.send()).await else {
            return Err(self.lost("it does not answer in time"));
        };
        let response = response.map_err(|error| connection.disconnected(error))?;
        connection.success(response).await
    }

    fn lost(&self, reason: &str) -> BoardError {
        let address = self.connection.address();
        BoardError::Disconnected(format!("lost the connection to the hub at {address}: {reason}"))
    }

    fn hear(&mut self, event: Sse) {
        let data = event.data.unwrap_or_default();
        match event.event.as_deref() {
            Some(event::READY) => self.ready(),
            Some(event::MESSAGE) => (self.sink)(News::Message(data.into())),
            Some(event::NOTE) => (self.sink)(note(&data)),
            Some(event::RECORD) => (self.sink)(record(&data)),
            Some(event::GAP) => (self.sink)(News::Gap),
            // Of a newer hub.
            _ => {}
        }
    }

    fn ready(&mut self) {
        if self.was_connected {
            (self.sink)(News::Gap);
        }
        self.was_connected = true;
        self.connection.note_outage(&self.topic, None);
        self.state.send_replace(State::Connected);
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.connection.note_outage(&self.topic, None);
    }
}

/// The bytes of an answer, and an error when there are none for a while.
fn chunks(response: Response, silence: Duration) -> impl Stream<Item = Result<Bytes, io::Error>> {
    stream::try_unfold(response, move |mut response| async move {
        let silent =
            || io::Error::new(io::ErrorKind::TimedOut, format!("no sign of life for {silence:?}"));
        let chunk = timeout(silence, response.chunk()).await.map_err(|_| silent())?;
        let chunk = chunk.map_err(|error| io::Error::other(error.without_url()))?;
        Ok(chunk.map(|chunk| (chunk, response)))
    })
}

fn note(data: &str) -> News {
    let Ok(NoteEvent { queue, caller, step, note }) = serde_json::from_str(data) else {
        return News::Gap;
    };
    let note = Bytes::copy_from_slice(note.as_str().as_bytes());
    News::Step(StepKey::new(queue, caller, step), Heard::Message(note))
}

/// A record that cannot be read is a gap: whoever reads it then is told why.
fn record(data: &str) -> News {
    let Ok(RecordEvent { queue, caller, step, revision, record }) = serde_json::from_str(data)
    else {
        return News::Gap;
    };
    let revised = Revised { record, revision };
    News::Step(StepKey::new(queue, caller, step), Heard::Record(Box::new(revised)))
}
