//! The streams of a namespace, created when they are missing.

use super::connection::Connection;
use super::subjects::RUNNERS;
use crate::LONGEST;
use crate::board::BoardError;
use crate::names::Queue;
use crate::payload::MAX_BLOB;
use crate::random;
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::context::{GetStreamError, GetStreamErrorKind};
use async_nats::jetstream::object_store::{self, ObjectInfo, ObjectStore};
use async_nats::jetstream::stream::{
    Config, DirectGetErrorKind, DiscardPolicy, Republish, RetentionPolicy, StorageType, Stream,
};
use bytes::{Bytes, BytesMut};
use std::error::Error as _;
use std::time::Duration;

/// The time for which records, jobs and blobs are kept at most.
pub(super) const DAY: Duration = Duration::from_secs(24 * 3600);

/// The most jobs of one caller in a queue.
pub(super) const MAX_QUEUED: i64 = 1000;

/// The time for which the server recognises a job that is submitted again: as long as a call may wait, so that there is one
/// job of each round.
const RECOGNISED: Duration = if cfg!(test) { Duration::from_secs(1) } else { LONGEST };

/// The least bytes of a part of a blob, except the last. Clients write parts of 128 KiB.
const SMALLEST_CHUNK: usize = 64 * 1024;

/// The most claims of a queue.
const MAX_CLAIMED: i64 = 10_000;

/// The stream of records, in files: the last one of each step, passed on to its caller.
pub(super) async fn steps(connection: &Connection) -> Result<Stream, BoardError> {
    let config = Config {
        name: connection.names.steps_stream(),
        subjects: vec![connection.names.steps()],
        storage: StorageType::File,
        max_messages_per_subject: 1,
        max_age: DAY,
        allow_direct: true,
        allow_message_ttl: true,
        republish: Some(Republish {
            source: connection.names.steps(),
            destination: connection.names.live(),
            headers_only: false,
        }),
        num_replicas: 1,
        ..Config::default()
    };
    get_or_create(connection, "the stream of records", config).await
}

/// The queue: a stream in memory, which ends with the server and is created anew.
pub(super) async fn jobs(
    connection: &Connection,
    queue: &Queue,
    lease: Duration,
) -> Result<(), BoardError> {
    let config = Config {
        name: connection.names.jobs_stream(queue),
        subjects: vec![connection.names.jobs(queue)],
        storage: StorageType::Memory,
        retention: RetentionPolicy::WorkQueue,
        max_age: DAY,
        max_messages_per_subject: MAX_QUEUED,
        discard: DiscardPolicy::New,
        discard_new_per_subject: true,
        duplicate_window: RECOGNISED,
        first_sequence: Some(first_sequence()),
        allow_message_ttl: true,
        num_replicas: 1,
        ..Config::default()
    };
    let what = format!("queue `{queue}`");
    let stream = get_or_create(connection, &what, config).await?;
    let config = pull::Config {
        durable_name: Some(RUNNERS.to_owned()),
        ack_policy: AckPolicy::Explicit,
        ack_wait: lease,
        max_deliver: -1,
        max_ack_pending: MAX_CLAIMED,
        ..pull::Config::default()
    };
    let consumer = stream.get_or_create_consumer(RUNNERS, config).await;
    consumer.map(drop).map_err(|error| connection.not_created(&what, error))
}

async fn get_or_create(
    connection: &Connection,
    what: &str,
    config: Config,
) -> Result<Stream, BoardError> {
    match connection.streams.get_stream(&*config.name).await {
        Ok(stream) => return Ok(stream),
        Err(error) if is_missing(&error) => {}
        Err(error) => return Err(connection.not_found(what, &error)),
    }
    let created = connection.streams.create_stream(config).await;
    created.map_err(|error| connection.not_created(what, error))
}

/// Whether a stream does not exist.
pub(super) fn is_missing(error: &GetStreamError) -> bool {
    matches!(error.kind(), GetStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND)
}

/// Where a new queue begins to count. The server takes an answer to a job of an earlier queue for one to the job that has this
/// number now, so no two queues have the same numbers. A number has 48 bits, which every reader of JSON keeps.
fn first_sequence() -> u64 {
    let digits = random::hex_digits::<6>();
    u64::from_str_radix(&digits, 16).map_or(1, |number| number.max(1))
}

/// The blobs.
pub(super) async fn blobs(connection: &Connection) -> Result<ObjectStore, BoardError> {
    let (what, bucket) = ("the store of blobs", connection.names.blobs());
    match connection.streams.get_object_store(&bucket).await {
        Ok(store) => return Ok(store),
        Err(error) => match error.source().and_then(|error| error.downcast_ref()) {
            Some(error) if is_missing(error) => {}
            Some(error) => return Err(connection.not_found(what, error)),
            None => return Err(connection.failed(&format!("{what} cannot be used"), error)),
        },
    }
    let config = object_store::Config {
        bucket,
        max_age: DAY,
        num_replicas: 1,
        ..object_store::Config::default()
    };
    let store = connection.streams.create_object_store(config).await;
    store.map_err(|error| connection.not_created(what, error))
}

/// The bytes of a blob. They are read one chunk after another: a consumer would send them to any subject, so nobody but the
/// keeper may create one.
pub(super) async fn blob(connection: &Connection, info: &ObjectInfo) -> Result<Bytes, BoardError> {
    let failed = |error: &dyn std::fmt::Display| connection.failed("a blob cannot be read", error);
    let bucket = connection.names.blobs();
    let stream = connection.streams.get_stream_no_info(format!("OBJ_{bucket}")).await;
    let stream = stream.map_err(|error| failed(&error))?;
    let subject = format!("$O.{bucket}.C.{}", info.nuid);
    // Whoever wrote it may have divided it as he likes.
    if info.size as u64 > MAX_BLOB || info.chunks > info.size.div_ceil(SMALLEST_CHUNK) {
        return Err(BoardError::Damaged("a blob is too large, or has too many parts".to_owned()));
    }
    let (mut bytes, mut next) = (BytesMut::with_capacity(info.size), 1);
    for _ in 0..info.chunks {
        let chunk = stream.direct_get_next_for_subject(&subject, Some(next)).await;
        let chunk = chunk.map_err(|error| match error.kind() {
            DirectGetErrorKind::NotFound => BoardError::NoBlob(info.name.clone()),
            _ => failed(&error),
        })?;
        bytes.extend_from_slice(&chunk.payload);
        if bytes.len() > info.size {
            return Err(BoardError::Damaged("a blob has more bytes than it should".to_owned()));
        }
        next = chunk.sequence + 1;
    }
    Ok(bytes.freeze())
}
