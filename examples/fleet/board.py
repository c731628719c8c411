"""The board of a NATS server, as a runner sees it: records, claims and blobs.
`tool-runtime/remote/docs/protocol.md` describes the messages and their subjects."""
import asyncio, contextlib, functools, hashlib, json, pathlib, re, secrets, sys, time
from urllib.parse import urlsplit

import nats
from nats.js import errors, object_store

from protocol import error, read, write

BEAT, DAY = 5, 24 * 3600
STEP = re.compile("[0-9a-fA-F]{16,128}")
LEASE = 15  # That of the server is a second longer, but begins when it sends the job.
MAX_INLINE, MAX_BLOB = 256 * 1024, 64 * 1024**2
AWAY = nats.errors.Error, OSError, asyncio.TimeoutError
UNREADABLE = ValueError, KeyError, TypeError, AttributeError, RecursionError


said = set()


async def complain(what, why):
    """Prints what is wrong, once."""
    text = f"{what}: {type(why).__name__} {why}"
    if text not in said:
        said.add(text)
        print(text, file=sys.stderr, flush=True)


def persistent(operation):
    """Repeats what fails while the server is away, or because another write came first."""
    async def repeated(*arguments):
        while True:
            try:
                return await operation(*arguments)
            except AWAY as why:
                if not isinstance(why, errors.BadRequestError):
                    await complain(f"waiting to {operation.__name__}", why)
                await asyncio.sleep(0.2)

    return repeated


class Board:
    def __init__(self, address, credentials, queue, runner):
        url, self.queue, self.runner = urlsplit(address), queue, runner
        self.server, self.namespace = f"{url.scheme}://{url.netloc.split('@')[-1]}", url.path[1:] or "tools"
        self.seed = credentials and pathlib.Path(credentials).read_text()
        # With credentials the streams are in another account, and what it shares of their interface has this prefix.
        self.api = f"$JS.{self.namespace}.API" if self.seed else "$JS.API"
        self.bucket = f"TR_{self.namespace}_BLOBS"

    async def connect(self, leaving):
        """A connection that is closed for good makes the runner leave."""
        async def closed():
            leaving.set()

        self.nats = await nats.connect(
            self.server, nkeys_seed_str=self.seed, max_reconnect_attempts=-1, reconnect_time_wait=0.2,
            error_cb=functools.partial(complain, self.server), closed_cb=closed)
        self.js = self.nats.jetstream(prefix=self.api, timeout=2)
        self.js.get_last_msg = functools.partial(self.js.get_last_msg, direct=True)  # Also for the store of blobs.
        self.blobs = object_store.ObjectStore(self.bucket, f"OBJ_{self.bucket}", self.js)

    def subject(self, kind, *rest):
        return ".".join(["tr", self.namespace, kind, *rest])

    async def listen(self, hear, *subject):
        """Messages that cannot be read are left out."""
        async def heard(message):
            with contextlib.suppress(*UNREADABLE):
                await hear(read(message.data), message.subject.split("."))

        await self.nats.subscribe(self.subject(*subject), cb=heard)

    async def send(self, message, *subject):
        await self.nats.publish(self.subject(*subject), write(message))

    def epoch(self):
        """The number of the connection; None without one."""
        return self.nats.stats["reconnects"] if self.nats.is_connected else None

    @persistent
    async def put(self, data):
        name = hashlib.sha256(data).hexdigest()
        await self.blobs.put(name, data)
        return {"sha256": name, "size": len(data)}

    async def get(self, blob):
        """By direct gets: who imports streams may create no consumers."""
        info, data, seq = await self.blobs.get_info(blob["sha256"]), b"", 0
        subject = f"$O.{self.bucket}.C.{info.nuid}"
        for _ in range(info.chunks):
            chunk = await self.js.get_msg(f"OBJ_{self.bucket}", seq + 1, subject, direct=True, next=True)
            data, seq = data + chunk.data, chunk.seq
        if hashlib.sha256(data).hexdigest() != blob["sha256"]:
            raise ValueError("a blob has other bytes than it should")
        return data

    async def claim(self):
        """A job, or None after a while."""
        epoch, jobs = self.epoch(), f"TR_{self.namespace}_JOBS_{self.queue}"
        request = f"{self.api}.CONSUMER.MSG.NEXT.{jobs}.runners", b'{"batch":1,"expires":2000000000}'
        message = await self.nats.request(*request, 3, old_style=True)
        if message.reply:
            return Claim(self, message, epoch)
        await asyncio.sleep(0.1)


class Claim:
    """A claimed job, and the record of its step."""

    def __init__(self, board, message, epoch):
        self.board, self.message, self.epoch, self.until = board, message, epoch, time.monotonic() + LEASE
        self.caller = message.subject.split(".")[-1]

    def open(self):
        """The job."""
        self.job = job = read(self.message.data)
        self.step, self.round, self.mode, self.within = job["step"], job["round"], job["mode"], job["within"] / 1000
        self.key = self.caller, self.step
        if not STEP.fullmatch(self.step) or self.mode not in ("safe_to_retry", "at_most_once"):
            raise ValueError("it has no step or mode")
        return job

    async def arguments(self):
        """None if they are lost."""
        with contextlib.suppress(errors.NotFoundError, ValueError):
            blob = self.job.get("arguments_blob")
            arguments = json.loads(await self.board.get(blob)) if blob else self.job.get("arguments", {})
            return arguments if isinstance(arguments, dict) else None

    async def payload(self, outcome):
        """The members of a record for an outcome."""
        data = write(outcome)
        if len(data) > MAX_BLOB:
            return {"outcome": error("tool", "the result is too large; return less")}
        return {"outcome_blob": await self.board.put(data)} if len(data) > MAX_INLINE else {"outcome": outcome}

    def subject(self, kind):
        return kind, self.board.queue, self.caller, self.step

    async def tell(self, **note):
        note = {"v": 1, "runner": self.board.runner, "round": self.round, **note}
        await self.board.send(note, *self.subject("note"))

    async def answer(self, answer, *arguments):
        # One that lapsed, or is of an earlier connection, may be another runner's now.
        if self.board.epoch() == self.epoch and time.monotonic() < self.until:
            self.until = time.monotonic() + LEASE
            with contextlib.suppress(*AWAY):
                await answer(*arguments)

    async def renew(self):
        await self.answer(self.message.in_progress)

    async def finish(self):
        await self.answer(self.message.ack_sync)

    async def later(self):
        await self.answer(self.message.nak, BEAT)

    async def back(self):
        await self.answer(self.message.nak)

    async def remove(self):
        await self.answer(self.message.term)

    @persistent
    async def read(self):
        """The record and its revision."""
        try:
            subject = self.board.subject(*self.subject("step"))
            message = await self.board.js.get_last_msg(f"TR_{self.board.namespace}_STEPS", subject)
            return read(message.data), message.seq
        except errors.NotFoundError:
            return None, 0

    async def swap(self, decide, **record):
        """Writes a record instead of the present one, if `decide` says so. Returns what it says."""
        by = {"by": f"runner:{self.board.runner}"} if record["state"] == "done" else {"runner": self.board.runner}
        record = {"v": 1, "round": self.round, "nonce": secrets.token_hex(8), **by, **record}
        # Longer than any job of this step.
        keep = DAY if record["state"] != "done" or self.job.get("keep") else max(600, int(self.within) + 60)

        @persistent
        async def swap():
            now, revision = await self.read()
            if now and now["nonce"] == record["nonce"]:
                return "write"  # This very write, whose answer was lost.
            then = decide(self.mode, self.round, now)
            if then == "write":
                headers = {"Nats-TTL": str(keep), "Nats-Expected-Last-Subject-Sequence": str(revision)}
                await self.board.js.publish(self.board.subject(*self.subject("step")), write(record), headers=headers)
            return then

        return await swap()
