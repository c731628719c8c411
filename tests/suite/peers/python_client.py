"""The Python SDK as a peer, in both lifecycles: python python_client.py -- CMD ARGS...

The checks are those of checks.mjs under the same names: a change here is a change there.
"""

import json
import sys
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import anyio
from mcp import MCPError
from mcp.client import Client, stdio
from mcp.client.stdio import StdioServerParameters

REQUEST_SECONDS = 20
"""For each request; far above what a loaded machine needs."""

LIFECYCLE_SECONDS = 75
"""For all checks in one lifecycle; both stay below the 180 s after which the test suite kills the script."""

EXIT_SECONDS = 5
"""How long a server may take to exit when its input ends."""


class Lifecycle(NamedTuple):
    """What the client is told, and the protocol version that it has to end up with."""

    mode: str
    version: str


LIFECYCLES = {"legacy": Lifecycle("legacy", "2025-11-25"), "modern": Lifecycle("auto", "2026-07-28")}
"""`auto` is the default of the SDK. It falls back silently, which the check of the version then tells."""


class Unexpected(Exception):
    """A check that does not hold, as opposed to a client that failed."""


class Peer:
    """One connection, with the results as the JSON that they were on the wire."""

    def __init__(self, client: Client, version: str):
        self.client = client
        self.version = version
        self.listed: list[dict] = []

    @property
    def tools(self) -> dict[str, dict]:
        """The first listing by name. An empty one satisfies nothing."""
        expect(self.listed, "no tools are listed")
        return {tool["name"]: tool for tool in self.listed}

    async def list_tools(self) -> list[dict]:
        listed = await self.client.list_tools(cache_mode="refresh")
        return [wire(tool) for tool in listed.tools]

    async def call_tool(self, name: str, **arguments) -> dict:
        return wire(await self.client.call_tool(name, arguments))


Check = Callable[[Peer], Awaitable[None]]
CHECKS: dict[str, Check] = {}


def check(name: str) -> Callable[[Check], Check]:
    """Adds a check to the list, in the order of the file."""

    def add(run: Check) -> Check:
        CHECKS[name] = run
        return run

    return add


@check("connect: the newest protocol version of the lifecycle is agreed on")
async def protocol_version(peer: Peer):
    expect(peer.client.protocol_version == peer.version, peer.client.protocol_version)


@check("connect: the server introduces itself, not its libraries")
async def server_info(peer: Peer):
    info = wire(peer.client.server_info) if peer.client.server_info else {}
    expect((info.get("name"), info.get("version")) == ("quickstart", "0.1.0"), info)
    expect("rmcp" not in json.dumps(info), info)


@check("tools/list: every tool is there, sorted by name")
async def tool_names(peer: Peer):
    peer.listed = await peer.list_tools()
    listed = list(peer.tools)
    expect(listed == ["add", "divide", "remember", "search_notes"], listed)


@check("tools/list: every tool and every parameter has a description")
async def descriptions(peer: Peer):
    bare = [name for name, tool in peer.tools.items() if not tool.get("description")]
    for name, tool in peer.tools.items():
        parameters = tool["inputSchema"].get("properties", {}).items()
        bare += [f"{name}.{parameter}" for parameter, schema in parameters if not schema.get("description")]
    expect(not bare, bare)


@check("tools/list: annotations tell the reading tools from the writing ones")
async def annotations(peer: Peer):
    add, remember = (peer.tools[name].get("annotations") or {} for name in ("add", "remember"))
    expect(add.get("readOnlyHint") is True and add.get("idempotentHint") is True, add)
    expect(not remember.get("readOnlyHint"), remember)


@check("tools/list: only structured answers have an output schema")
async def output_schemas(peer: Peer):
    structured = peer.tools["search_notes"].get("outputSchema") or {}
    expect(structured.get("type") == "object", structured)
    expect(peer.tools["add"].get("outputSchema") is None, peer.tools["add"])


@check("tools/list: required, default and bounds are in the schema")
async def declarations(peer: Peer):
    add = peer.tools["add"]["inputSchema"]
    expect(add["required"] == ["a"] and add["properties"]["b"].get("default") == 1, add)
    limit = peer.tools["search_notes"]["inputSchema"]["properties"]["limit"]
    expect([limit.get(key) for key in ("minimum", "maximum", "default")] == [1, 50, 10], limit)


@check("tools/list: an optional list is a plain array that is not required")
async def optional_list(peer: Peer):
    schema = peer.tools["search_notes"]["inputSchema"]
    expect(schema["properties"]["tags"].get("type") == "array", schema["properties"]["tags"])
    expect("tags" not in schema["required"], schema["required"])


@check("tools/list: no tool takes arguments that it does not declare")
async def closed_schemas(peer: Peer):
    schemas = {name: tool["inputSchema"] for name, tool in peer.tools.items()}
    undecided = [name for name, schema in schemas.items() if schema.get("additionalProperties") is not False]
    expect(not undecided, undecided)


@check("tools/list: two listings are identical")
async def identical_listings(peer: Peer):
    expect(peer.listed, "no tools are listed")
    first, second = json.dumps(peer.listed), json.dumps(await peer.list_tools())
    expect(first == second, [first, second])


@check("tools/call: a plain answer is one text block and nothing else")
async def plain_answer(peer: Peer):
    result = await peer.call_tool("add", a=2, b=40)
    expect(result["content"] == [{"type": "text", "text": "42"}], result)
    expect(not result.get("isError") and "structuredContent" not in result, result)


@check("tools/call: an absent argument takes its default")
async def default_argument(peer: Peer):
    expect_answer(await peer.call_tool("add", a=41), "42")


@check("tools/call: a fraction is answered")
async def fraction(peer: Peer):
    expect_answer(await peer.call_tool("divide", a=1, b=4), "0.25")


@check("tools/call: a structured answer comes with the same JSON as text")
async def structured_answer(peer: Peer):
    result = await peer.call_tool("search_notes", query="rust")
    found = expect_notes(result)
    expect(json.loads(text(result)) == found, result)


@check("tools/call: null counts as an absent argument")
async def null_argument(peer: Peer):
    expect_notes(await peer.call_tool("search_notes", query="rust", tags=None))


@check("tools/call: calls share the state of the server")
async def shared_state(peer: Peer):
    before = expect_notes(await peer.call_tool("search_notes", query="milk"))
    told = await peer.call_tool("remember", text="buy milk")
    expect(not told.get("isError") and text(told), told)
    after = expect_notes(await peer.call_tool("search_notes", query="milk"))
    expect(after["total"] == before["total"] + 1, [before, after])
    expect(any("buy milk" in note for note in after["notes"]), after)


@check("tools/call: 50 concurrent calls each get their own answer")
async def concurrent_calls(peer: Peer):
    answers: dict[int, str] = {}

    async def call(a: int):
        answers[a] = text(await peer.call_tool("add", a=a, b=1000))

    async with anyio.create_task_group() as group:
        for a in range(50):
            group.start_soon(call, a)
    expect(answers == {a: str(a + 1000) for a in range(50)}, answers)


@check("argument error: a wrong type names the argument and the type")
async def wrong_type(peer: Peer):
    said = expect_refusal(await peer.call_tool("add", a="x"))
    expect(names(said, "a") and "integer" in said, said)


@check("argument error: a missing argument is named")
async def missing_argument(peer: Peer):
    said = expect_refusal(await peer.call_tool("add"))
    expect(names(said, "a"), said)


@check("argument error: an unknown argument is named")
async def unknown_argument(peer: Peer):
    said = expect_refusal(await peer.call_tool("add", a=1, c=2))
    expect(names(said, "c"), said)


@check("argument error: a value out of bounds is told the bound")
async def out_of_bounds(peer: Peer):
    said = expect_refusal(await peer.call_tool("search_notes", query="x", limit=80))
    expect(names(said, "limit") and "50" in said, said)


@check("argument error: two mistakes are both named")
async def two_mistakes(peer: Peer):
    types = expect_refusal(await peer.call_tool("add", a="x", b="x"))
    expect(names(types, "a") and names(types, "b"), types)
    kinds = expect_refusal(await peer.call_tool("add", a="x", c=2))
    expect(names(kinds, "a") and names(kinds, "c"), kinds)


@check("tool error: a failing tool answers with its reason")
async def tool_error(peer: Peer):
    said = expect_refusal(await peer.call_tool("divide", a=1, b=0))
    expect("zero" in said, said)


@check("protocol error: an unknown tool is -32602 and the nearest name is offered")
async def unknown_tool(peer: Peer):
    try:
        result = await peer.call_tool("ad", a=1)
    except MCPError as error:
        expect(error.code == -32602 and names(error.message, "add"), [error.code, error.message])
    else:
        raise Unexpected(json.dumps(result))


CLOSE = "close: the server exits by itself within five seconds"


def expect(holds: object, seen: object):
    """Raises what was seen, for the check's one line."""
    if not holds:
        raise Unexpected(seen if isinstance(seen, str) else json.dumps(seen))


def wire(model) -> dict:
    """A result with the names and the absences that it had on the wire."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


def text(result: dict) -> str:
    """The one text block of a result."""
    blocks = result["content"]
    expect(len(blocks) == 1 and blocks[0]["type"] == "text", result)
    return blocks[0]["text"]


def names(said: str, word: str) -> bool:
    """Whether `word` is quoted: a bare `a` is also an English article."""
    return any(quote + word + quote in said for quote in "`\"'")


def expect_answer(result: dict, answer: str):
    expect(not result.get("isError") and text(result) == answer, result)


def expect_refusal(result: dict) -> str:
    """The text of a refusal that the model gets to read, so that it can correct itself."""
    expect(result.get("isError") is True, result)
    return text(result)


def expect_notes(result: dict) -> dict:
    found = result.get("structuredContent")
    expect(not result.get("isError") and isinstance(found, dict), result)
    expect(isinstance(found.get("notes"), list) and type(found.get("total")) is int, result)
    for note in found["notes"]:
        expect(isinstance(note, str), note)
    return found


class Report:
    """Prints one line for each check and counts them."""

    def __init__(self):
        self.passed = self.failed = 0
        self.current = ""

    async def run(self, name: str, checked: Awaitable[None]):
        """Anything that a check raises is its failure; only being cancelled is not."""
        self.current = name
        try:
            await checked
        except Exception as error:
            self.fail(name, error)
        else:
            self.passed += 1
            print(f"ok - {name}", flush=True)

    def fail(self, name: str, error: Exception):
        self.failed += 1
        print(f"not ok - {name}: {describe(error)}", flush=True)


def describe(error: BaseException) -> str:
    """One line; a task group wraps what was raised in it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    seen = str(error) if isinstance(error, Unexpected) else f"{type(error).__name__}: {error}"
    return seen.replace("\n", "\\n")


class Servers:
    """Remembers the processes that the SDK starts, since it tells neither their ids nor how they ended."""

    def __init__(self):
        self.started = []
        spawn = stdio._create_platform_compatible_process

        async def remember(*args, **options):
            self.started.append(await spawn(*args, **options))
            return self.started[-1]

        stdio._create_platform_compatible_process = remember

    async def expect_clean_exit(self, since: float):
        """The SDK sends SIGTERM some time after the end of input: a server that waits for it has not left by itself."""
        taken = time.monotonic() - since
        codes = [process.returncode for process in self.started]
        by_themselves = taken < min(EXIT_SECONDS, stdio.PROCESS_TERMINATION_TIMEOUT)
        expect(codes == [0] and by_themselves, f"exit codes {codes} after {taken:.1f} s")


async def run_lifecycle(report: Report, servers: Servers, lifecycle: str, server: StdioServerParameters):
    """All checks over one connection, then its end. A connection that fails is the failure of the check under way."""
    servers.started.clear()
    client = Client(server, mode=LIFECYCLES[lifecycle].mode, read_timeout_seconds=REQUEST_SECONDS)
    report.current = f"{lifecycle}: {next(iter(CHECKS))}"
    closed = time.monotonic()
    try:
        with anyio.fail_after(LIFECYCLE_SECONDS):
            async with client:
                try:
                    await run_checks(report, lifecycle, Peer(client, LIFECYCLES[lifecycle].version))
                finally:
                    closed = time.monotonic()
    except Exception as error:
        report.fail(report.current, error)
    await report.run(f"{lifecycle}: {CLOSE}", servers.expect_clean_exit(closed))


async def run_checks(report: Report, lifecycle: str, peer: Peer):
    for name, run in CHECKS.items():
        await report.run(f"{lifecycle}: {name}", run(peer))


async def main() -> int:
    if sys.argv[1:2] != ["--"] or len(sys.argv) < 3:
        print("usage: python python_client.py -- CMD ARGS...", file=sys.stderr)
        return 2
    command, *args = sys.argv[2:]
    report, servers = Report(), Servers()
    for lifecycle in LIFECYCLES:
        await run_lifecycle(report, servers, lifecycle, StdioServerParameters(command=command, args=args))
    print(f"{report.passed} passed, {report.failed} failed")
    return 0 if report.failed == 0 else 1


if __name__ == "__main__":
    sys.exit(anyio.run(main))
