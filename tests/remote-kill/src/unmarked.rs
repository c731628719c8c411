//! The board of a runner: it learns the runner's id, and can leave out the write on which at most once depends.

use crate::runner::Effects;
use bytes::Bytes;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;
use tool_runtime::BoxFuture;
use tool_runtime_remote::{
    BlobRef, Board, BoardError, BoardState, CallerName, Claim, Depth, HttpBoard, Job, Listener,
    Queue, Reach, Record, Revised, Revision, State, StepKey, Swap, Topic,
};

pub(crate) struct Unmarked {
    pub(crate) board: HttpBoard,
    pub(crate) effects: Arc<Effects>,
    /// Whether `started` is not written: the negative control.
    pub(crate) is_unmarked: bool,
}

/// The part of a presence that names its runner.
#[derive(Deserialize)]
struct Presence {
    runner: String,
}

impl Board for Unmarked {
    fn read<'a>(&'a self, step: &'a StepKey) -> BoxFuture<'a, Result<Option<Revised>, BoardError>> {
        self.board.read(step)
    }

    fn swap<'a>(
        &'a self,
        step: &'a StepKey,
        record: &'a Record,
        expected: Revision,
        keep: Duration,
    ) -> BoxFuture<'a, Result<Swap, BoardError>> {
        if let State::Started { runner } = &record.state {
            self.effects.note_runner(runner.as_str());
            if self.is_unmarked {
                return Box::pin(async move { Ok(Swap::Written(expected)) });
            }
        }
        self.board.swap(step, record, expected, keep)
    }

    fn submit<'a>(
        &'a self,
        queue: &'a Queue,
        job: &'a Job,
        keep: Duration,
    ) -> BoxFuture<'a, Result<(), BoardError>> {
        self.board.submit(queue, job, keep)
    }

    fn claim<'a>(
        &'a self,
        queue: &'a Queue,
        max: usize,
    ) -> BoxFuture<'a, Result<Vec<Box<dyn Claim>>, BoardError>> {
        self.board.claim(queue, max)
    }

    fn end_claims<'a>(&'a self, queue: &'a Queue) -> BoxFuture<'a, bool> {
        self.board.end_claims(queue)
    }

    fn send<'a>(
        &'a self,
        to: &'a Topic,
        message: Bytes,
    ) -> BoxFuture<'a, Result<Reach, BoardError>> {
        if matches!(to, Topic::Presence(_))
            && let Ok(Presence { runner }) = serde_json::from_slice(&message)
        {
            self.effects.note_runner(&runner);
        }
        self.board.send(to, message)
    }

    fn listen<'a>(&'a self, topic: &'a Topic) -> BoxFuture<'a, Result<Listener, BoardError>> {
        self.board.listen(topic)
    }

    fn put(&self, bytes: Bytes) -> BoxFuture<'_, Result<BlobRef, BoardError>> {
        self.board.put(bytes)
    }

    fn get<'a>(&'a self, blob: &'a BlobRef) -> BoxFuture<'a, Result<Bytes, BoardError>> {
        self.board.get(blob)
    }

    fn state(&self) -> BoxFuture<'_, Result<BoardState, BoardError>> {
        self.board.state()
    }

    fn depth<'a>(&'a self, queue: &'a Queue) -> BoxFuture<'a, Result<Depth, BoardError>> {
        self.board.depth(queue)
    }

    fn caller(&self) -> &CallerName {
        self.board.caller()
    }

    fn address(&self) -> String {
        self.board.address()
    }

    fn is_confidential(&self) -> bool {
        self.board.is_confidential()
    }
}
