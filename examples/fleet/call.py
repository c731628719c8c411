"""One claimed job, from its claim to its outcome. Its decisions are those of the protocol's `vectors/decisions.json`."""
import asyncio
import hashlib
import json
import secrets
import time

from board import AWAY, DAY, persist, write
from tools import ToolError, check

BEAT, MAX_INLINE, MAX_BLOB = 5, 256 * 1024, 64 * 1024**2


def contract(definition):
    """Sorted keys are enough for canonical JSON: these schemas have no fractions, and no keys beyond U+FFFF."""
    parts = {key: definition.get(key) for key in ("name", "inputSchema", "outputSchema")}
    hints = {key: hint for key, hint in definition["annotations"].items() if key != "title"}
    parts |= {"annotations": hints, "untrusted": False, "retry_mode": None, "scopes": []}
    return hashlib.sha256(write(parts, sort_keys=True)).hexdigest()


def error(kind, message):
    return {"error": {"class": kind, "message": message}}


def is_open(mode, round, record):
    """Whether a round may still begin, and its outcome be written."""
    if record is None or record["state"] != "done":
        return record is None or record["round"] < round or record["round"] == round and record["state"] == "started"
    has_ended = "ran" in record or record["round"] >= round
    return not has_ended and (mode == "safe_to_retry" or record.get("was") != "started")


def on_claim(mode, round, record, holder):
    is_started = record is not None and record["state"] == "started" and record["round"] <= round
    if is_started and mode == "at_most_once":
        return "later" if holder(record["runner"]) == "alive" else "settle"
    begin = "run" if mode == "safe_to_retry" else "start"
    return begin if is_open(mode, round, record) else "finish"


class Call:
    """A claimed job."""

    def __init__(self, runner, claim):
        self.runner, self.board, self.claim = runner, runner.board, claim
        self.look, self.stopped, self.running = asyncio.Event(), None, None
        self.job = claim.job
        self.tool, self.round, self.step = self.job["tool"], self.job["round"], f"{claim.caller}.{self.job['step']}"
        self.definition, self.function = runner.tools.get(self.tool, ({"annotations": {}}, None))
        hints = self.definition["annotations"]
        is_safe = hints.get("readOnlyHint") or hints.get("idempotentHint") or not self.function
        self.mode = self.job["mode"] if is_safe else "at_most_once"

    async def attend(self):
        by, (record, revision) = f"runner:{self.runner.id}", await persist(self.board.read, self.step)
        while True:
            then = on_claim(self.mode, self.round, record, self.runner.holder)
            if then == "later" or then == "settle" and not await self.runner.is_gone(record["runner"]):
                return await self.claim.later(BEAT)
            if then == "settle":
                why = f"runner `{record['runner']}` started `{self.tool}` and is gone, so the outcome is unknown"
                next = {"state": "done", "by": by, "was": "started", "outcome": error("indeterminate", why)}
            elif then == "finish":
                return await self.claim.finish()
            elif not self.function or contract(self.definition) != self.job["contract"]:
                return await self.end(error("transient", f"`{self.tool}` has changed; call it again"), revision)
            elif then == "run":
                return await self.run(revision)
            else:
                next = {"state": "started", "runner": self.runner.id}
            is_written, record, revision = await self.swap(next, revision)
            if is_written and then == "start":
                return await self.run(revision)

    async def run(self, revision):
        try:
            blob = self.job.get("arguments_blob")
            arguments = json.loads(await self.board.get(blob)) if blob else self.job.get("arguments", {})
        except (*AWAY, ValueError):
            why = "the arguments did not reach the runner; call it again"
            return await self.end(error("transient", why), revision)
        start, watching = time.monotonic(), asyncio.create_task(self.watch())
        try:
            check(self.tool, arguments)
            self.running = asyncio.create_task(self.function(self, **arguments))
            text = await asyncio.wait_for(self.running, self.job["within"] / 1000)
            outcome = {"ok": {"content": [{"type": "text", "text": text}]}}
        except ToolError as why:
            outcome = error(*why.args)
        except asyncio.TimeoutError:
            outcome = error("timeout", f"`{self.tool}` did not end within its time limit")
        except asyncio.CancelledError:
            if self.stopped == "shutdown" and self.mode == "safe_to_retry":
                return await self.claim.later(0)
            outcome = error("indeterminate" if self.stopped == "shutdown" else "cancelled", f"stopped: {self.stopped}")
        except Exception as why:
            outcome = error("internal", f"`{self.tool}` failed: {why}")
        finally:
            watching.cancel()
        await self.end(outcome, revision, ran=int((time.monotonic() - start) * 1000))

    async def watch(self):
        """Shows that the call goes on, and stops the tool when the record says so."""
        beat_at, unheard = time.monotonic() + BEAT, 0
        while True:
            try:
                await asyncio.wait_for(self.look.wait(), max(0, beat_at - time.monotonic()))
                self.look.clear()
            except asyncio.TimeoutError:
                is_heard = await self.tell(note="alive") or self.job.get("keep")
                beat_at, unheard = time.monotonic() + BEAT, 0 if is_heard else unheard + 1
                await self.claim.renew()
            try:
                is_wanted = is_open(self.mode, self.round, (await self.board.read(self.step))[0])
            except AWAY:
                is_wanted = True
            if not is_wanted or unheard > 1:
                self.stop("another outcome counts" if not is_wanted else "the caller is gone")

    def stop(self, why):
        self.stopped = self.stopped or why
        if self.running:
            self.running.cancel()

    async def tell(self, **note):
        note = {"runner": self.runner.id, "round": self.round, **note}
        return await self.board.send(f"note.{self.board.queue}.{self.step}", note)

    async def progress(self, done, total, message):
        if self.job.get("accepts", {}).get("progress"):
            await self.tell(note="progress", done=done, total=total, message=message)

    async def swap(self, record, revision):
        keep = 600 if record["state"] == "done" and not self.job.get("keep") else DAY
        record = {"v": 1, "round": self.round, "nonce": secrets.token_hex(8), **record}
        return await self.board.swap(self.step, record, revision, keep)

    async def end(self, outcome, revision, **ran):
        if len(write(outcome)) > MAX_BLOB:
            outcome = error("tool", f"the result of `{self.tool}` is too large; return less")
        is_large = len(write(outcome)) > MAX_INLINE
        outcome = {"outcome_blob": await self.board.put(write(outcome))} if is_large else {"outcome": outcome}
        record, present = {"state": "done", "by": f"runner:{self.runner.id}", **ran, **outcome}, None
        is_written = False
        while not is_written and is_open(self.mode, self.round, present):
            is_written, present, revision = await self.swap(record, revision)
        await self.claim.finish()
