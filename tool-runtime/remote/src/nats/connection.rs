//! The connection to a server: its state, and what its failures mean.

use super::address::Address;
use super::options::NatsOptions;
use super::streams::MAX_QUEUED;
use super::subjects::{Names, RUNNERS};
use crate::board::{BoardError, Reach};
use crate::names::{CallerName, Queue};
use async_nats::connection::State;
use async_nats::jetstream::context::{
    AccountErrorKind, ContextBuilder, GetStreamError, GetStreamErrorKind, PublishError,
    PublishErrorKind,
};
use async_nats::jetstream::{self, Context, ErrorCode};
use async_nats::{
    Client, ConnectError, ConnectErrorKind, Event, ServerError, StatusCode, Subscriber,
};
use bytes::Bytes;
use futures_util::StreamExt as _;
use std::error::Error as _;
use std::fmt::Display;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::time::timeout;
use tool_runtime_core::seam::{lock, program_name};

/// The time for an answer of the server.
pub(super) const REQUEST: Duration = Duration::from_secs(5);

/// The longest pause between two attempts to connect.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The time without a word of the server after which it is asked for one. After three such times the connection is given up:
/// one that is silent is noticed within a lease.
const SILENCE: Duration = Duration::from_secs(5);

/// The oldest version of the server: it removes messages after a time of their own.
const VERSION: (i64, i64, i64) = (2, 11, 0);

/// The error code for an account without streams of its own.
const NO_STREAMS_OF_ACCOUNT: ErrorCode = ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT;

/// The error code for a subject that has as many messages as it may have.
const SUBJECT_IS_FULL: u64 = 10077;

/// The state of a connection, as its events tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Link {
    /// The number of times that it was connected.
    pub(super) connections: u64,
    pub(super) is_up: bool,
}

/// What a server refused, and when. It does not answer what it refuses.
type Refused = Arc<Mutex<Option<(Instant, String)>>>;

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) client: Client,
    pub(super) streams: Context,
    /// The streams are in another account.
    pub(super) is_importing: bool,
    pub(super) link: watch::Receiver<Link>,
    pub(super) names: Names,
    /// The name of this caller or runner.
    pub(super) name: CallerName,
    /// What the server refused last.
    refused: Refused,
    address: String,
    pub(super) is_confidential: bool,
}

impl Connection {
    /// Checks an address and options.
    pub(super) fn check(address: &str, options: &NatsOptions) -> Result<(), BoardError> {
        Address::read(address).map_err(BoardError::Refused)?;
        options.connect_options().map(drop)
    }

    /// Connects to a server such as `nats://pool1@127.0.0.1:4222/tools`.
    ///
    /// # Errors
    /// The address or the credentials are wrong, the server is away, or it is too old.
    pub(super) async fn open(address: &str, options: &NatsOptions) -> Result<Self, BoardError> {
        let address = Address::read(address).map_err(BoardError::Refused)?;
        let (host, is_confidential) = (address.host_and_port(), address.is_confidential());
        let Address { server, namespace, name, user } = address;
        let namespace = options.namespace.clone().or(namespace);
        let names = Names::new(namespace.as_deref().unwrap_or("tools"));
        let names = names.map_err(BoardError::Refused)?;
        let name = options.name.clone().or(name);
        let name = name.unwrap_or_else(|| CallerName::of_program(&program_name()));
        let link = watch::Sender::new(Link::default());
        let (heard, refused) = (link.subscribe(), Refused::default());
        let refusals = Arc::clone(&refused);
        let mut connecting = options.connect_options()?;
        if let Some((user, password)) = user {
            connecting = connecting.user_and_password(user, password);
        }
        let connecting = connecting
            .name(name.as_str())
            .request_timeout(Some(REQUEST))
            .custom_inbox_prefix(inbox_prefix(&name))
            .max_reconnects(None)
            .ping_interval(SILENCE)
            .reconnect_delay_callback(pause)
            .event_callback(move |event| {
                note(&link, &refusals, &event);
                std::future::ready(())
            });
        let client =
            connecting.connect(server).await.map_err(|error| cannot_connect(&host, &error))?;
        let (major, minor, patch) = VERSION;
        if !client.is_server_compatible(major, minor, patch) {
            let version = client.server_info().version;
            return Err(BoardError::Refused(format!(
                "the NATS server at {host} has version {version}; at least {major}.{minor} is needed, which removes messages after a time of their own"
            )));
        }
        let (streams, is_importing) = streams(&client, &names, &host, &refused).await?;
        Ok(Self {
            client,
            streams,
            is_importing,
            link: heard,
            names,
            name,
            refused,
            address: host,
            is_confidential,
        })
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// The subject of requests for jobs of a queue.
    pub(super) fn next_job(&self, queue: &Queue) -> String {
        let interface = match self.is_importing {
            true => self.names.imported_streams(),
            false => "$JS.API".to_owned(),
        };
        format!("{interface}.CONSUMER.MSG.NEXT.{}.{RUNNERS}", self.names.jobs_stream(queue))
    }

    /// The number of the present connection. What was claimed on an earlier one is not this one's any more.
    ///
    /// # Errors
    /// There is no connection.
    pub(super) fn epoch(&self) -> Result<u64, BoardError> {
        match self.client.connection_state() {
            State::Connected => Ok(self.link.borrow().connections),
            _ => Err(self.away()),
        }
    }

    pub(super) fn away(&self) -> BoardError {
        BoardError::Disconnected(format!(
            "lost the connection to the NATS server at {}",
            self.address
        ))
    }

    /// The meaning of an error of the client.
    pub(super) fn failed(&self, what: &str, error: impl Display) -> BoardError {
        let at = &self.address;
        let reason = refusal(&self.refused).unwrap_or_else(|| error.to_string());
        BoardError::Disconnected(format!("{what} at the NATS server {at}: {reason}"))
    }

    /// The meaning of a stream that cannot be found.
    pub(super) fn not_found(&self, what: &str, error: &GetStreamError) -> BoardError {
        match error.kind() {
            // Only those who may ask for it are answered.
            GetStreamErrorKind::Request if self.is_importing => BoardError::Disconnected(format!(
                "nobody answers for {what} at the NATS server {}: these credentials have no right to it, or the server is not ready",
                self.address
            )),
            _ => self.failed(&format!("{what} cannot be used"), error),
        }
    }

    /// The meaning of a stream that does not exist and was not created. Somebody else may create it.
    pub(super) fn not_created(&self, what: &str, error: impl Display) -> BoardError {
        if self.is_importing {
            return BoardError::Disconnected(format!(
                "{what} does not exist at the NATS server {}; `remote keep` creates it",
                self.address
            ));
        }
        self.failed(&format!("{what} was not created"), error)
    }

    /// Sends a message. Returns whether somebody listens, once the server has passed it on.
    pub(super) async fn tell(&self, subject: String, message: Bytes) -> Result<Reach, BoardError> {
        let told = async {
            let (client, inbox) = (&self.client, self.client.new_inbox());
            let answers = client.subscribe(inbox.clone()).await?;
            client.publish_with_reply(subject, inbox.clone(), message).await?;
            self.echo(inbox, answers).await
        };
        told.await.map_err(|error: async_nats::Error| self.failed("a message was not sent", error))
    }

    /// A subscription that the server knows of.
    pub(super) async fn subscribe(&self, subject: String) -> Result<Subscriber, BoardError> {
        let subscribed = async {
            let subscriber = self.client.subscribe(subject).await?;
            let inbox = self.client.new_inbox();
            let answers = self.client.subscribe(inbox.clone()).await?;
            self.echo(inbox, answers).await?;
            Ok(subscriber)
        };
        subscribed
            .await
            .map_err(|error: async_nats::Error| self.failed("nothing can be heard", error))
    }

    /// Sends a message to this client itself. The server handles in order what a client sends, so when it comes, all that
    /// was sent before is done. If it is not the first, the server told that nobody heard an earlier one.
    async fn echo(
        &self,
        inbox: String,
        mut answers: Subscriber,
    ) -> Result<Reach, async_nats::Error> {
        self.client.publish(inbox, Bytes::new()).await?;
        let answer = timeout(REQUEST, answers.next()).await?;
        let answer = answer.ok_or("the connection was closed")?;
        Ok(match answer.status {
            Some(StatusCode::NO_RESPONDERS) => Reach::Nobody,
            _ => Reach::Somebody,
        })
    }

    /// The meaning of a message that a stream did not take.
    pub(super) fn not_published(&self, what: &str, error: &PublishError) -> BoardError {
        match error.kind() {
            PublishErrorKind::MaxPayloadExceeded => {
                BoardError::Refused(format!("{what} is larger than the server allows: {error}"))
            }
            PublishErrorKind::Other if code(error) == Some(SUBJECT_IS_FULL) => BoardError::Full(
                format!("{MAX_QUEUED} calls of `{}` wait in the queue already", self.name),
            ),
            PublishErrorKind::StreamNotFound => {
                let how = if self.is_importing { "; `remote keep` creates it" } else { "" };
                BoardError::Disconnected(format!(
                    "{what} was not written at the NATS server {}: its stream does not exist{how}",
                    self.address
                ))
            }
            _ => self.failed(&format!("{what} was not written"), error),
        }
    }
}

fn code(error: &PublishError) -> Option<u64> {
    let error = error.source()?.downcast_ref::<jetstream::Error>()?;
    Some(error.error_code().0)
}

/// The right that the server has just refused this program. It does not say what it answers by that.
fn refusal(refused: &Refused) -> Option<String> {
    let refused = lock(refused);
    let (at, text) = refused.as_ref()?;
    (at.elapsed() < REQUEST + Duration::from_secs(1)).then(|| text.clone())
}

/// The interface of the streams: that of this account, or the parts that it imports from another one, and whether it does.
///
/// # Errors
/// The server has no streams, or does not answer.
async fn streams(
    client: &Client,
    names: &Names,
    at: &str,
    refused: &Refused,
) -> Result<(Context, bool), BoardError> {
    let builder = || ContextBuilder::new().timeout(REQUEST).ack_timeout(REQUEST);
    let own = builder().build(client.clone());
    let Err(error) = own.query_account().await else { return Ok((own, false)) };
    match error.kind() {
        AccountErrorKind::JetStream(error) if error.error_code() == NO_STREAMS_OF_ACCOUNT => {
            let imported = builder().api_prefix(names.imported_streams()).build(client.clone());
            Ok((imported, true))
        }
        AccountErrorKind::JetStreamUnavailable => Err(BoardError::Refused(format!(
            "the NATS server at {at} has no JetStream; `jetstream {{}}` in its configuration enables it"
        ))),
        // A cluster may have no leader at present. Whoever guesses here may guess wrong until it ends.
        _ => {
            let reason = refusal(refused).unwrap_or_else(|| error.to_string());
            Err(BoardError::Disconnected(format!(
                "the NATS server at {at} does not say whether it has streams: {reason}"
            )))
        }
    }
}

/// The subjects of answers to a caller or runner begin with this.
fn inbox_prefix(name: &CallerName) -> String {
    format!("_INBOX.{name}")
}

fn note(link: &watch::Sender<Link>, refused: &Refused, event: &Event) {
    match event {
        Event::Connected => link.send_modify(|link| {
            link.connections += 1;
            link.is_up = true;
        }),
        Event::Disconnected | Event::Closed => link.send_modify(|link| link.is_up = false),
        Event::ServerError(ServerError::Other(refusal)) => {
            tracing::warn!("the NATS server refuses something: {refusal}");
            if refusal.to_lowercase().contains("permissions violation") {
                *lock(refused) = Some((Instant::now(), refusal.clone()));
            }
        }
        event => tracing::debug!("{event}"),
    }
}

fn pause(attempts: usize) -> Duration {
    let doublings = u32::try_from(attempts).unwrap_or(u32::MAX).min(5);
    Duration::from_millis(50).saturating_mul(1 << doublings).min(LONGEST_PAUSE)
}

fn cannot_connect(address: &str, error: &ConnectError) -> BoardError {
    let text = format!("cannot connect to the NATS server at {address}: {error}");
    match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            BoardError::Refused(format!("{text}; check the credentials"))
        }
        ConnectErrorKind::ServerParse | ConnectErrorKind::Tls => BoardError::Refused(text),
        _ => BoardError::Disconnected(text),
    }
}
