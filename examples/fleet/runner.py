#!/usr/bin/env python3
"""A runner in another language, over NATS. `tool-runtime/remote/docs/protocol.md` says what it does and why.

    pip install nats-py; python3 runner.py --connect nats://127.0.0.1:4222 --queue math --allow 'math.*'

`call.py` attends to one job, `board.py` is what a runner needs of NATS, and `tools.py` has the tools.
"""
import argparse
import asyncio
import fnmatch
import re
import secrets
import signal
import socket
import sys
import time

from board import AWAY, LEASE, UNREADABLE, Board, write
from call import BEAT, Call, contract
from tools import TOOLS

DRAIN, LAST_WORDS, ROLL, STORE_AGAIN = 10, 5, 2, 12 * 3600


class Runner:
    def __init__(self, options):
        self.board = Board(options.connect, options.queue)
        host = re.sub("[^A-Za-z0-9_]", "-", socket.gethostname())[:64]
        self.id = f"{options.queue}.{host}-{secrets.token_hex(4)}"
        self.tools = {name: tool for name, tool in TOOLS.items() if fnmatch.fnmatch(name, options.allow)}
        self.slots, self.free = options.slots, asyncio.Semaphore(options.slots)
        # Calls by their steps, and the runners of the queue: when they were heard, and whether they ended.
        self.running, self.heard, self.since = {}, {}, time.monotonic()
        self.leaves, self.announce_now, self.catalogue, self.stored_at = False, asyncio.Event(), None, None

    async def serve(self):
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.leave)
        await self.board.connect(self.reconnected)
        queue = self.board.queue
        # Before the first claim: an order about it must be heard.
        await self.board.listen(f"control.{queue}.*", self.hear_order)
        await self.board.listen(f"presence.{queue}", self.hear_presence)
        await self.board.listen("roll.*", self.hear_roll)
        announcing, calls = asyncio.create_task(self.announce()), set()
        print(f"{self.id} serves {len(self.tools)} tools of queue `{queue}`", file=sys.stderr)
        await self.claim_into(calls)
        for limit in (DRAIN, LAST_WORDS):
            if calls:
                await asyncio.wait(calls, timeout=limit)
            for call in self.running.values():
                call.stop("shutdown")
        announcing.cancel()
        await self.say_presence(gone=True)
        await self.board.close()

    def leave(self):
        self.leaves = True
        self.announce_now.set()
        self.free.release()  # Wakes what waits for a slot.

    async def claim_into(self, calls):
        """Claims jobs into free slots until the runner leaves. The job of the last claim is still this runner's."""
        while not self.leaves:
            await self.free.acquire()
            claim = None if self.leaves else await self.board.claim(wait=2)
            if claim is None:
                self.free.release()
                continue
            task = asyncio.create_task(self.attend(claim))
            calls.add(task)
            task.add_done_callback(calls.discard)

    async def attend(self, claim):
        call = Call(self, claim)
        other = self.running.setdefault(call.step, call)
        try:
            if other is call:
                await call.attend()
            elif other.round < call.round:
                await claim.later(0.1)  # Else it runs here, and this further delivery lapses.
        except UNREADABLE as why:
            print(f"a call of `{call.tool}` could not be attended to: {why!r}", file=sys.stderr)
        finally:
            self.running = {step: it for step, it in self.running.items() if it is not call}
            self.free.release()

    async def announce(self):
        while True:
            try:
                if self.stored_at is None or time.monotonic() - self.stored_at > STORE_AGAIN:
                    tools = [{"definition": it, "contract": contract(it)} for it, _ in self.tools.values()]
                    catalogue, is_first = write({"v": 1, "tools": tools}), self.catalogue is None
                    self.catalogue = await self.board.put(catalogue, unless_there=is_first)
                    self.stored_at = time.monotonic()
                await self.say_presence()
                await asyncio.wait_for(self.announce_now.wait(), BEAT)
                await asyncio.sleep(0.2)  # Roll calls that come together have one answer.
                self.announce_now.clear()
            except AWAY:
                pass  # The beat is over, or the server is away.

    async def say_presence(self, gone=False):
        if self.catalogue:
            free = max(0, self.slots - len(self.running))
            await self.board.send(f"presence.{self.board.queue}", {
                "runner": self.id, "queue": self.board.queue, "program": "runner.py", "catalogue": self.catalogue,
                "slots": self.slots, "free": free, "leaves": self.leaves, "gone": gone})

    def hear_order(self, order, subject):
        call = self.running.get(f"{order['caller']}.{order['step']}")
        if call and subject.endswith(f".{order['caller']}") and order["do"] == "look":
            call.look.set()

    def hear_presence(self, presence, _):
        self.heard[presence["runner"]] = (time.monotonic(), presence.get("gone", False))

    def hear_roll(self, roll, _):
        if self.catalogue and roll.get("catalogue") == self.catalogue["sha256"]:
            self.stored_at = None
        self.announce_now.set()

    def reconnected(self):
        self.since = time.monotonic()  # What others said meanwhile was missed, so they get a new lease.
        self.heard = {runner: (self.since, gone) for runner, (_, gone) in self.heard.items()}
        for call in self.running.values():
            call.look.set()

    def holder(self, runner):
        at, gone = self.heard.get(runner, (self.since, False))
        is_gone = gone or time.monotonic() - at > LEASE
        return "gone" if is_gone or runner == self.id else "alive"  # What this one started runs no more, or not here.

    async def is_gone(self, runner):
        if runner != self.id:  # It was not heard for a lease. Does it answer a roll call?
            await self.board.send(f"roll.{self.board.name}", {})
            await asyncio.sleep(ROLL)
        return self.holder(runner) == "gone"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Serves tools to the callers of a queue over NATS.")
    parser.add_argument("--connect", required=True)
    parser.add_argument("--queue", required=True)
    parser.add_argument("--allow", default="*", help="the tools that are served, such as 'math.*'")
    parser.add_argument("--slots", type=int, default=16, help="the number of calls that run at the same time")
    asyncio.run(Runner(parser.parse_args()).serve())
