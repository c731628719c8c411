#!/usr/bin/env python3
"""A runner in another language, over NATS: what `tool-runtime/remote/docs/protocol.md` demands of one, and no more."""
import argparse, asyncio, contextlib, fnmatch, secrets, signal, socket, time

from board import AWAY, BEAT, DAY, UNREADABLE, Board, complain
from protocol import END, LATE, contract, error, on_claim, on_end, write
from tools import TOOLS


class Runner:
    def __init__(self, options):
        self.id = f"{options.queue}.{socket.gethostname().split('.')[0]}-{secrets.token_hex(4)}"
        self.board = Board(options.connect, options.credentials, options.queue, self.id)
        allowed = [tool for name, tool in TOOLS.items() if fnmatch.fnmatch(name, options.allow)]
        self.tools = {contract(definition): (definition, function) for definition, function in allowed}
        self.slots, self.calls, self.leaving = options.slots, {}, asyncio.Event()
        self.presence = {"v": 1, "runner": self.id, "queue": options.queue, "program": "runner.py", "slots": self.slots}

    async def serve(self):
        await self.board.connect(self.leaving)
        await self.store()
        await self.board.listen(self.hear, "control", self.board.queue, "*")
        await self.board.listen(self.hear, "roll", "*")
        for number in signal.SIGTERM, signal.SIGINT:
            asyncio.get_running_loop().add_signal_handler(number, self.leaving.set)
        print(f"{self.id} serves {len(self.tools)} tools of queue `{self.board.queue}`", flush=True)
        announcing = asyncio.create_task(self.announce())
        slots = [asyncio.create_task(self.work()) for _ in range(self.slots)]
        await self.leaving.wait()
        await self.say(leaves=True)
        await asyncio.wait(slots, timeout=2 * BEAT)
        for call in self.calls.values():
            call.stop(END)
        await asyncio.wait(slots, timeout=BEAT)
        announcing.cancel()
        await self.say(gone=True)
        await self.board.nats.drain()

    async def announce(self):
        while True:
            await self.say()
            await asyncio.sleep(BEAT)
            if time.monotonic() > self.stored_at + DAY / 2:
                await self.store()

    async def say(self, **news):
        self.presence |= {"free": self.slots - len(self.calls), **news}
        with contextlib.suppress(*AWAY):
            await self.board.send(self.presence, "presence", self.board.queue)

    async def hear(self, heard, subject):
        (_, _, topic, *_, caller), call = subject, self.calls.get((subject[-1], heard.get("step")))
        if topic == "roll":
            if heard.get("catalogue") == self.presence["catalogue"]["sha256"]:
                await self.store()
            await self.say()
        elif call and heard["caller"] == caller and heard["do"] == "look":
            await call.look()

    async def store(self):
        tools = [{"definition": definition, "contract": contract} for contract, (definition, _) in self.tools.items()]
        self.presence["catalogue"] = await self.board.put(write({"v": 1, "tools": tools}))
        self.stored_at = time.monotonic()

    async def work(self):
        """One slot: claims a job and attends to it, until this runner leaves."""
        while not self.leaving.is_set():
            try:
                if claim := await self.board.claim():
                    await self.attend(claim)
            except Exception as why:
                await complain(f"a job of queue `{self.board.queue}`", why)
                await asyncio.sleep(0.2)

    async def attend(self, claim):
        try:
            call = Call(self.tools, claim)
            if self.calls.setdefault(claim.key, call) is not call:
                return  # It runs here already, so this delivery lapses.
            try:
                then = await call.settle()
            finally:
                del self.calls[claim.key]
            await {"later": claim.later, "back": claim.back}.get(then, claim.finish)()
        except UNREADABLE:
            await claim.remove()  # It is no job.


class Call:
    def __init__(self, tools, claim):
        self.claim, self.job, self.why, self.running = claim, claim.open(), None, asyncio.Future()
        definition, self.function = tools.get(self.job["contract"], ({"annotations": {}}, None))
        if not any(definition["annotations"].get(hint) for hint in ("readOnlyHint", "idempotentHint")):
            claim.mode = "at_most_once"  # The stricter one.

    async def settle(self):
        """Runs the tool, if the record says so, and writes its outcome. Returns what becomes of the claim."""
        arguments = await self.claim.arguments() if self.function else None
        if arguments is None:
            self.claim.mode = "at_most_once"  # It may not be refused while it runs elsewhere.
            outcome = error("transient", f"`{self.job['tool']}` cannot run; call it again")
            return await self.claim.swap(on_claim, state="done", outcome=outcome)
        starting = asyncio.wait_for(self.claim.swap(on_claim, state="started"), self.claim.within)
        then, start = await starting, time.monotonic()
        if then not in ("write", "run"):
            return then
        outcome, ran = await self.run(arguments), int((time.monotonic() - start) * 1000)
        if self.why == END and self.claim.mode == "safe_to_retry":
            return "back"
        return await self.claim.swap(on_end, state="done", ran=ran, **await self.claim.payload(outcome))

    async def run(self, arguments):
        running, beating = self.function(self.claim, **arguments), asyncio.create_task(self.beat())
        self.running = asyncio.create_task(running)
        try:
            text = await asyncio.wait_for(self.running, self.claim.within)
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
            await self.claim.tell(note="alive")
            await self.claim.renew()
            await self.look()

    async def look(self):
        if on_end(self.claim.mode, self.claim.round, (await self.claim.read())[0]) == "late":
            self.stop(LATE)

    def stop(self, why):
        self.why = self.why or why
        self.running.cancel()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Serves the tools of tools.py to the callers of a queue over NATS.")
    for name in ("--connect", "--queue"):
        parser.add_argument(name, required=True)
    parser.add_argument("--credentials", help="a file with the seed of an NKEY, such as runner-math.nk")
    parser.add_argument("--allow", default="*", help="the tools that are served, such as 'math.*'")
    parser.add_argument("--slots", type=int, default=16, help="the number of calls that run at the same time")
    asyncio.run(Runner(parser.parse_args()).serve())
