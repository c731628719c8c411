"""What every Python peer verifies, written once against the `Peer` below.

The checks are those of checks.mjs under the same names: a change here is a change there.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Protocol

import anyio
from mcp import MCPError


class Unexpected(Exception):
    """A check that does not hold, as opposed to a client that failed."""


class Client(Protocol):
    """One connection to the server, with the results as the JSON that they were on the wire."""

    protocol_version: str
    server_info: dict

    async def list_tools(self) -> list[dict]:
        """Asks the server again on every call, never a cache."""

    async def call_tool(self, name: str, arguments: dict) -> dict:
        """Raises `MCPError` for an error of the protocol."""


class Peer:
    """A client under check."""

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
        return await self.client.list_tools()

    async def call_tool(self, name: str, **arguments) -> dict:
        return await self.client.call_tool(name, arguments)


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
    info = peer.client.server_info
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


@check("tools/list: annotations distinguish reading and writing tools")
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
    stored = await peer.call_tool("remember", text="buy milk")
    expect(not stored.get("isError") and text(stored), stored)
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
    message = expect_rejection(await peer.call_tool("add", a="x"))
    expect(names(message, "a") and "integer" in message, message)


@check("argument error: a missing argument is named")
async def missing_argument(peer: Peer):
    message = expect_rejection(await peer.call_tool("add"))
    expect(names(message, "a"), message)


@check("argument error: an unknown argument is named")
async def unknown_argument(peer: Peer):
    message = expect_rejection(await peer.call_tool("add", a=1, c=2))
    expect(names(message, "c"), message)


@check("argument error: the error for a value out of bounds names the bound")
async def out_of_bounds(peer: Peer):
    message = expect_rejection(await peer.call_tool("search_notes", query="x", limit=80))
    expect(names(message, "limit") and "50" in message, message)


@check("argument error: two mistakes are both named")
async def two_mistakes(peer: Peer):
    types = expect_rejection(await peer.call_tool("add", a="x", b="x"))
    expect(names(types, "a") and names(types, "b"), types)
    kinds = expect_rejection(await peer.call_tool("add", a="x", c=2))
    expect(names(kinds, "a") and names(kinds, "c"), kinds)


@check("tool error: a failing tool answers with its reason")
async def tool_error(peer: Peer):
    message = expect_rejection(await peer.call_tool("divide", a=1, b=0))
    expect("zero" in message, message)


@check("protocol error: an unknown tool is -32602 and the nearest name is offered")
async def unknown_tool(peer: Peer):
    try:
        result = await peer.call_tool("ad", a=1)
    except MCPError as error:
        expect(error.code == -32602 and names(error.message, "add"), [error.code, error.message])
    else:
        raise Unexpected(json.dumps(result))


EXIT = "close: the server exits by itself within five seconds"
LEAVE = "close: the client leaves without a complaint"


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


def names(message: str, word: str) -> bool:
    """Whether `word` is quoted: a bare `a` is also an English article."""
    return any(quote + word + quote in message for quote in "`\"'")


def expect_answer(result: dict, answer: str):
    expect(not result.get("isError") and text(result) == answer, result)


def expect_rejection(result: dict) -> str:
    """The text of a rejection for the model."""
    expect(result.get("isError") is True, result)
    return text(result)


def expect_notes(result: dict) -> dict:
    found = result.get("structuredContent")
    expect(not result.get("isError") and isinstance(found, dict), result)
    expect(isinstance(found.get("notes"), list) and type(found.get("total")) is int, result)
    for note in found["notes"]:
        expect(isinstance(note, str), note)
    return found
