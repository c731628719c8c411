#!/usr/bin/env python3
"""A runner in another language, over NATS: what `tool-runtime/remote/docs/protocol.md` demands of one, and no more."""
import argparse, asyncio, contextlib, fnmatch, functools, hashlib, json, pathlib, secrets, signal, socket, time
from urllib.parse import urlsplit
import nats
from nats.js import errors, object_store
from tools import TOOLS

BEAT, DRAIN, DAY, MAX_INLINE, MAX_BLOB = 5, 10, 24 * 3600, 256 * 1024, 64 * 1024**2
LEASE = 15  # That of the server is a second longer, but begins when it sends the job.
AWAY, UNREADABLE = (nats.errors.Error, OSError), (ValueError, KeyError, TypeError, AttributeError)
END, LATE = ("indeterminate", "its runner had to end"), ("cancelled", "another outcome counts")

def read(data):
    message = json.loads(data)
    if message["v"] != 1:
        raise ValueError(f"it has version {message['v']}, and this program reads version 1")
    return message

def write(value):  # In canonical form, as long as there are no fractions and no keys beyond U+FFFF.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode(errors="replace")

def contract(definition):
    parts = {key: definition.get(key) for key in ("name", "inputSchema", "outputSchema")}
    hints = {key: hint for key, hint in definition["annotations"].items() if key != "title"}
    return hashlib.sha256(write(
        parts | {"annotations": hints, "untrusted": False, "retry_mode": None, "scopes": []})).hexdigest()

def error(kind, message):
    return {"error": {"class": kind, "message": message}}

def on_end(mode, round, record):  # Also whether a round may begin, and go on.
    if record and record["state"] == "done":
        may_run = mode == "safe_to_retry" or record.get("was") != "started"
        return "write" if "ran" not in record and record["round"] < round and may_run else "late"
    return "late" if record and (record["round"], record["state"] != "started") > (round, False) else "write"

def on_claim(mode, round, record):
    if on_end(mode, round, record) == "late":
        return "finish"
    # At most once: whether a runner that started the step is gone, callers find out.
    return "run" if mode == "safe_to_retry" else "later" if record and record["state"] == "started" else "write"

def persistent(operation):
    """Repeats what fails while the server is away, or because another write came first."""
    async def repeated(*arguments):
        while True:
            with contextlib.suppress(*AWAY):
                return await operation(*arguments)
            await asyncio.sleep(0.2)
    return repeated

class Runner:
    def __init__(self, options):
        url, self.queue, self.slots = urlsplit(options.connect), options.queue, options.slots
        self.server, self.namespace = f"{url.scheme}://{url.netloc.split('@')[-1]}", url.path[1:] or "tools"
        self.seed = options.credentials and pathlib.Path(options.credentials).read_text()
        # With credentials the streams are in another account, and what it shares of their interface has this prefix.
        self.api, self.bucket = f"$JS.{self.namespace}.API" if self.seed else "$JS.API", f"TR_{self.namespace}_BLOBS"
        allowed = [tool for name, tool in TOOLS.items() if fnmatch.fnmatch(name, options.allow)]
        self.tools = {contract(definition): (definition, function) for definition, function in allowed}
        self.id = f"{self.queue}.{socket.gethostname().split('.')[0]}-{secrets.token_hex(4)}"
        self.presence = {"v": 1, "runner": self.id, "queue": self.queue, "program": "runner.py", "slots": self.slots}
        self.calls, self.leaving = {}, asyncio.Event()

    async def serve(self):
        self.nats = await nats.connect(self.server, nkeys_seed_str=self.seed, max_reconnect_attempts=-1,
                                       reconnect_time_wait=0.2)
        self.js = self.nats.jetstream(prefix=self.api, timeout=2)
        self.js.get_last_msg = functools.partial(self.js.get_last_msg, direct=True)  # Also for the store of blobs.
        self.blobs = object_store.ObjectStore(self.bucket, f"OBJ_{self.bucket}", self.js)
        await self.store()
        for topic in f"control.{self.queue}.*", "roll.*":
            await self.nats.subscribe(f"tr.{self.namespace}.{topic}", cb=self.hear)
        for number in signal.SIGTERM, signal.SIGINT:
            asyncio.get_running_loop().add_signal_handler(number, self.leaving.set)
        print(f"{self.id} serves {len(self.tools)} tools of queue `{self.queue}`", flush=True)
        announcing = asyncio.create_task(self.announce())
        slots = [asyncio.create_task(self.work()) for _ in range(self.slots)]
        await self.leaving.wait()
        await self.say(leaves=True)
        await asyncio.wait(slots, timeout=DRAIN)
        for call in self.calls.values():
            call.stop(END)
        await asyncio.wait(slots, timeout=BEAT)
        announcing.cancel()
        with contextlib.suppress(*AWAY):
            await self.say(gone=True)
            await self.nats.drain()

    async def announce(self):
        while True:
            await self.say()
            await asyncio.sleep(BEAT)
            if time.monotonic() > self.stored_at + DAY / 2:
                await self.store()

    async def say(self, **news):
        self.presence |= {"free": self.slots - len(self.calls), **news}
        await self.nats.publish(f"tr.{self.namespace}.presence.{self.queue}", write(self.presence))

    async def hear(self, message):
        heard, (_, _, topic, *_, caller) = read(message.data), message.subject.split(".")
        call = self.calls.get(f"{caller}.{heard.get('step')}")
        if topic == "roll":
            if heard.get("catalogue") == self.presence["catalogue"]["sha256"]:
                await self.store()
            await self.say()
        elif call and heard["caller"] == caller and heard["do"] == "look":
            await call.look()

    async def store(self):
        tools = [{"definition": definition, "contract": contract} for contract, (definition, _) in self.tools.items()]
        self.presence["catalogue"], self.stored_at = await self.put(write({"v": 1, "tools": tools})), time.monotonic()

    @persistent
    async def put(self, data):
        name = hashlib.sha256(data).hexdigest()
        await self.blobs.put(name, data)
        return {"sha256": name, "size": len(data)}

    async def get(self, blob):  # By direct gets: who imports streams may create no consumers.
        info, data, seq = await self.blobs.get_info(blob["sha256"]), b"", 0
        subject = f"$O.{self.bucket}.C.{info.nuid}"
        for _ in range(info.chunks):
            chunk = await self.js.get_msg(f"OBJ_{self.bucket}", seq + 1, subject, direct=True, next=True)
            data, seq = data + chunk.data, chunk.seq
        if hashlib.sha256(data).hexdigest() != blob["sha256"]:
            raise ValueError("a blob has other bytes than it should")
        return data

    async def work(self):  # One slot: claims a job and attends to it, until this runner leaves.
        jobs = f"{self.api}.CONSUMER.MSG.NEXT.TR_{self.namespace}_JOBS_{self.queue}.runners"
        while not self.leaving.is_set():
            epoch = self.nats.stats["reconnects"]
            try:
                message = await self.nats.request(jobs, b'{"batch":1,"expires":2000000000}', 3, old_style=True)
                await (Call(self, message, epoch).attend() if message.reply else asyncio.sleep(0.1))
            except UNREADABLE:
                await message.term()  # It is no job.
            except AWAY:
                await asyncio.sleep(0.2)

class Call:
    def __init__(self, runner, message, epoch):
        self.runner, self.message, self.epoch, self.until = runner, message, epoch, time.monotonic() + LEASE
        self.job, self.caller, self.why = read(message.data), message.subject.split(".")[-1], None
        self.step, self.round, self.within = self.job["step"], self.job["round"], self.job["within"] / 1000
        self.running = asyncio.Future()
        if not self.step.isalnum() or self.job["mode"] not in ("safe_to_retry", "at_most_once"):
            raise ValueError("it has no step or mode")
        definition, self.function = runner.tools.get(self.job["contract"], ({"annotations": {}}, None))
        hints = definition["annotations"]
        is_safe = hints.get("readOnlyHint") or hints.get("idempotentHint")
        self.mode = self.job["mode"] if is_safe else "at_most_once"  # The stricter one.

    async def attend(self):
        if self.runner.calls.setdefault(f"{self.caller}.{self.step}", self) is not self:
            return  # It runs here already, so this delivery lapses.
        try:
            then = await self.settle()
            ends = {"later": (self.message.nak, BEAT), "back": (self.message.nak,)}
            await self.answer(*ends.get(then, (self.message.ack_sync,)))
        finally:
            del self.runner.calls[f"{self.caller}.{self.step}"]

    async def settle(self):
        """Runs the tool, if the record says so, and writes its outcome. Returns what becomes of the claim."""
        by, arguments, start = f"runner:{self.runner.id}", await self.arguments(), time.monotonic()
        if arguments is None:
            self.mode, outcome = "at_most_once", error("transient", f"`{self.job['tool']}` cannot run; call it again")
            return await self.swap(on_claim, state="done", by=by, outcome=outcome)
        then = await self.swap(on_claim, state="started", runner=self.runner.id)
        if then not in ("write", "run"):
            return then
        outcome, ran = await self.run(arguments), int((time.monotonic() - start) * 1000)
        if self.why == END and self.mode == "safe_to_retry":
            return "back"
        if len(write(outcome)) > MAX_BLOB:
            outcome = error("tool", "the result is too large; return less")
        is_large = len(write(outcome)) > MAX_INLINE
        outcome = {"outcome_blob": await self.runner.put(write(outcome))} if is_large else {"outcome": outcome}
        return await self.swap(on_end, state="done", by=by, ran=ran, **outcome)

    async def arguments(self):
        """None if the tool cannot run."""
        blob = self.job.get("arguments_blob")
        with contextlib.suppress(errors.NotFoundError, ValueError):
            data = json.loads(await self.runner.get(blob)) if blob else self.job.get("arguments", {})
            return data if self.function else None

    async def run(self, arguments):
        self.running, beating = asyncio.create_task(self.function(self, **arguments)), asyncio.create_task(self.beat())
        try:
            text = await asyncio.wait_for(self.running, self.within)
            return {"ok": {"content": [{"type": "text", "text": text}]}}
        except asyncio.TimeoutError:
            return error("timeout", "it did not end within its time limit")
        except asyncio.CancelledError:
            return error(*self.why)
        except Exception as why:
            return error(getattr(why, "kind", "internal"), str(why))
        finally:
            beating.cancel()

    async def beat(self):
        while True:
            await asyncio.sleep(BEAT)
            await self.tell(note="alive")
            await self.answer(self.message.in_progress)
            await self.look()

    async def look(self):
        if on_end(self.mode, self.round, (await self.read())[0]) == "late":
            self.stop(LATE)

    def stop(self, why):
        self.why = self.why or why
        self.running.cancel()

    def subject(self, kind):
        return f"tr.{self.runner.namespace}.{kind}.{self.runner.queue}.{self.caller}.{self.step}"

    async def tell(self, **note):
        note = {"v": 1, "runner": self.runner.id, "round": self.round, **note}
        await self.runner.nats.publish(self.subject("note"), write(note))

    @persistent
    async def read(self):
        try:
            message = await self.runner.js.get_last_msg(f"TR_{self.runner.namespace}_STEPS", self.subject("step"))
            return read(message.data), message.seq
        except errors.NotFoundError:
            return None, 0

    async def swap(self, decide, **record):
        """Writes a record in place of the present one, if `decide` says so. Returns what it says."""
        record = {"v": 1, "round": self.round, "nonce": secrets.token_hex(8), **record}
        keep = 600 if record["state"] == "done" and not self.job.get("keep") else DAY
        @persistent
        async def swap():
            now, revision = await self.read()
            if now and now["nonce"] == record["nonce"]:
                return "write"  # This very write, whose answer was lost.
            then, headers = decide(self.mode, self.round, now), {"Nats-TTL": str(keep)}
            if then == "write":
                headers["Nats-Expected-Last-Subject-Sequence"] = str(revision)
                await self.runner.js.publish(self.subject("step"), write(record), headers=headers)
            return then
        return await swap()

    async def answer(self, answer, *arguments):
        # A claim that lapsed, or is of an earlier connection, may be that of another job now.
        server = self.runner.nats
        if server.is_connected and server.stats["reconnects"] == self.epoch and time.monotonic() < self.until:
            self.until = time.monotonic() + LEASE
            with contextlib.suppress(*AWAY):
                await answer(*arguments)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Serves the tools of tools.py to the callers of a queue over NATS.")
    for name in ("--connect", "--queue"):
        parser.add_argument(name, required=True)
    parser.add_argument("--credentials", help="a file with the seed of an NKEY, such as runner-math.nk")
    parser.add_argument("--allow", default="*", help="the tools that are served, such as 'math.*'")
    parser.add_argument("--slots", type=int, default=16, help="the number of calls that run at the same time")
    asyncio.run(Runner(parser.parse_args()).serve())
