"""What a runner needs of a NATS server: records, the queue, messages and blobs of one queue in one namespace."""
import asyncio
import hashlib
import json
import sys
import time
import urllib.parse

import nats
from nats.js import api, errors

LEASE, DAY, WRONG_LAST_SEQUENCE = 16, 24 * 3600, 10071
AWAY = (nats.errors.Error, asyncio.TimeoutError, OSError)
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError)


def read(data):
    """A message or a record. Unknown members are ignored; a newer version may mean something else."""
    message = json.loads(data)
    if message["v"] != 1:
        raise ValueError(f"it has version {message['v']}, and this program reads version 1")
    return message


def write(value, **options):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), **options).encode()


async def persist(operation, *arguments, **options):
    """Repeats what fails because the server is away."""
    while True:
        try:
            return await operation(*arguments, **options)
        except AWAY as why:
            if isinstance(why, errors.NotFoundError) or getattr(why, "err_code", None) == WRONG_LAST_SEQUENCE:
                raise
            await asyncio.sleep(0.2)


async def found_or_made(find, make):
    try:
        return await find()
    except errors.NotFoundError:
        return await make()


class Board:
    def __init__(self, address, queue):
        self.address, self.queue = urllib.parse.urlsplit(address), queue
        namespace = self.address.path.strip("/") or "tools"
        self.prefix, self.name = f"tr.{namespace}", self.address.username or queue
        self.steps, self.jobs = f"TR_{namespace}_STEPS", f"TR_{namespace}_JOBS_{queue}"
        self.bucket, self.epoch, self.prepared, self.pull = f"TR_{namespace}_BLOBS", 1, 0, None

    async def connect(self, reconnected):
        async def count():
            self.epoch += 1
            reconnected()

        async def report(why):
            print(f"the NATS server is away, or refuses something: {why!r}", file=sys.stderr)

        self.nats = await nats.connect(
            f"{self.address.scheme}://{self.address.hostname}:{self.address.port or 4222}", name=self.name,
            inbox_prefix=f"_INBOX.{self.name}", reconnected_cb=count, error_cb=report,
            max_reconnect_attempts=-1, reconnect_time_wait=0.2)
        self.js = self.nats.jetstream(timeout=2)
        await persist(self.prepare)

    async def prepare(self):
        """Creates the streams that are missing. The queue is in memory, and vanishes with the server."""
        epoch, js = self.epoch, self.js
        steps = api.StreamConfig(
            name=self.steps, subjects=[f"{self.prefix}.step.>"], storage=api.StorageType.FILE, max_msgs_per_subject=1,
            max_age=DAY, allow_direct=True, allow_msg_ttl=True, num_replicas=1,
            republish=api.RePublish(src=f"{self.prefix}.step.>", dest=f"{self.prefix}.live.>"))
        jobs = api.StreamConfig(
            name=self.jobs, subjects=[f"{self.prefix}.job.{self.queue}.*"], storage=api.StorageType.MEMORY,
            retention=api.RetentionPolicy.WORK_QUEUE, max_msgs_per_subject=1000, discard=api.DiscardPolicy.NEW,
            discard_new_per_subject=True, duplicate_window=120, max_age=DAY, allow_msg_ttl=True, num_replicas=1)
        for stream in (steps, jobs):
            await found_or_made(lambda: js.stream_info(stream.name), lambda: js.add_stream(stream))
        consumer = api.ConsumerConfig(
            durable_name="runners", ack_policy=api.AckPolicy.EXPLICIT, ack_wait=LEASE, max_deliver=-1,
            max_ack_pending=10_000)
        await found_or_made(
            lambda: js.consumer_info(self.jobs, "runners"), lambda: js.add_consumer(self.jobs, consumer))
        self.blobs = await found_or_made(
            lambda: js.object_store(self.bucket), lambda: js.create_object_store(self.bucket, ttl=DAY))
        if self.prepared != epoch:
            if self.pull:
                await self.pull.unsubscribe()
            self.pull = await js.pull_subscribe_bind("runners", self.jobs)
        self.prepared = epoch

    async def claim(self, wait):
        """One job, or none after a while."""
        try:
            if self.prepared != self.epoch:
                await self.prepare()
            epoch = self.prepared
            message, = await self.pull.fetch(1, timeout=wait)
        except asyncio.TimeoutError:
            self.prepared *= await self.has_queue()
        except AWAY as why:
            print(f"nothing can be claimed: {why!r}", file=sys.stderr)
            self.prepared = 0
            await asyncio.sleep(0.2)
        else:
            try:
                return Claim(self, message, epoch)
            except UNREADABLE as why:
                print(f"a job on {message.subject} is left out: {why!r}", file=sys.stderr)
                await message.term()

    async def has_queue(self):
        try:
            return bool(await self.js.consumer_info(self.jobs, "runners"))
        except AWAY:
            return False

    async def read(self, step):
        """The record of a step and its revision."""
        try:
            message = await self.js.get_last_msg(self.steps, f"{self.prefix}.step.{self.queue}.{step}", direct=True)
        except errors.NotFoundError:
            return None, 0
        return read(message.data), message.seq

    async def swap(self, step, record, revision, keep):
        """Writes a record in place of a revision. Returns whether it is written, the present record, and its revision."""
        try:
            written = await persist(
                self.js.publish, f"{self.prefix}.step.{self.queue}.{step}", write(record), msg_ttl=keep,
                headers={"Nats-Expected-Last-Subject-Sequence": str(revision)})
            return True, record, written.seq
        except errors.APIError:
            # The answer to this very write may have been lost.
            present, revision = await persist(self.read, step)
            return present is not None and present["nonce"] == record["nonce"], present, revision

    async def put(self, data, unless_there=False):
        """Stores bytes for a day. To store them again disturbs those who read them at this moment."""
        blob = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
        if not (unless_there and await persist(self.has, blob)):
            await persist(self.blobs.put, blob["sha256"], data)
        return blob

    async def has(self, blob):
        try:
            return (await self.blobs.get_info(blob["sha256"])).size == blob["size"]
        except errors.NotFoundError:
            return False

    async def get(self, blob):
        data = (await persist(self.blobs.get, blob["sha256"])).data
        if hashlib.sha256(data).hexdigest() != blob["sha256"]:
            raise ValueError("a blob has other bytes than it should")
        return data

    async def listen(self, topic, hear):
        async def heard(message):
            try:
                hear(read(message.data), message.subject)
            except UNREADABLE as why:
                print(f"a message on {message.subject} is left out: {why!r}", file=sys.stderr)

        await self.nats.subscribe(f"{self.prefix}.{topic}", cb=heard)

    async def send(self, topic, message):
        """Sends a message. Returns whether somebody may have heard it: if not, the server says so before it passes on the
        echo, since it handles in order what a client sends."""
        try:
            inbox = self.nats.new_inbox()
            answers = await self.nats.subscribe(inbox, max_msgs=2)
            await self.nats.publish(f"{self.prefix}.{topic}", write({"v": 1, **message}), reply=inbox)
            await self.nats.publish(inbox)
            answer = await answers.next_msg(timeout=2)
            await answers.unsubscribe()
        except AWAY:
            return True
        return (answer.headers or {}).get("Status") != "503"

    async def close(self):
        try:
            await self.nats.flush(timeout=1)
        except AWAY:
            pass
        await self.nats.close()


class Claim:
    """One delivery of a job."""

    def __init__(self, board, message, epoch):
        self.board, self.message, self.epoch, self.until = board, message, epoch, time.monotonic() + LEASE
        self.job, self.caller = read(message.data), message.subject.split(".")[-1]
        missing = {"step", "round", "tool", "contract", "mode", "within"} - self.job.keys()
        if missing or self.job["mode"] not in ("safe_to_retry", "at_most_once"):
            raise ValueError(f"it has no {', '.join(sorted(missing)) or 'known mode'}")

    async def answer(self, about, *arguments):
        """The server applies what a lapsed claim says to the next one. A claim of an earlier connection could even be of a
        queue that is gone, and its number that of another job now."""
        is_held = self.epoch == self.board.epoch and self.board.nats.is_connected and time.monotonic() < self.until
        if is_held:
            try:
                await about(*arguments)
            except AWAY:
                pass
        return is_held

    async def renew(self):
        if await self.answer(self.message.in_progress):
            self.until = time.monotonic() + LEASE

    async def finish(self):
        await self.answer(self.message.ack_sync)

    async def later(self, delay):
        await self.answer(self.message.nak, delay)
