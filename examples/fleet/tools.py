"""The tools of `runner.py`: the definition and the function of each. An error's `kind` is its class."""
import asyncio
import os
import pathlib
import re

TOOLS = {}


class ToolError(Exception):
    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


TYPES = {"string": [str], "integer": [int], "number": [int, float], "boolean": [bool], "array": [list], "object": [dict]}


def tool(name, description, hints, /, **properties):
    """Adds a tool. All of its arguments are required. Their types and patterns are checked, and nothing else."""
    schema = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}

    def add(function):
        async def checked(claim, /, **given):
            for key in {*properties, *given}:
                rule, value = properties.get(key, {}), given.get(key)
                fits = type(value) in TYPES.get(rule.get("type"), [])
                if not fits or not re.search(rule.get("pattern", ""), str(value)):
                    raise ToolError("input", f"`{key}` of `{name}` is not {rule or 'an argument'}")
            return await function(claim, **given)

        definition = {"name": name, "description": description, "inputSchema": schema, "annotations": hints}
        TOOLS[name] = definition, checked

    return add


NAME = {"type": "string", "pattern": "^[a-z]+$", "description": "The name of the file."}


def path(name):
    folder = pathlib.Path(os.environ.get("FLEET_FILES", "files"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name


@tool("math.add", "Add two integers.", {"readOnlyHint": True, "idempotentHint": True},
      a={"type": "integer", "description": "First addend."}, b={"type": "integer", "description": "Second addend."})
async def add(_, a, b):
    return str(a + b)


@tool("files.append", "Append a line to a file. A call that may have had its effect is never repeated.",
      {"destructiveHint": False}, name=NAME, line={"type": "string", "description": "The line."})
async def append(_, name, line):
    def write():
        with path(name).open("a") as file:
            file.write(line + "\n")

    try:
        await asyncio.to_thread(write)
    except OSError as why:
        raise ToolError("tool", f"cannot write `{name}`: {why.strerror}")
    return f"appended to {name}"


@tool("files.wait", "Wait until a file exists.", {"readOnlyHint": True}, name=NAME)
async def wait(claim, name):
    if claim.job.get("accepts", {}).get("progress"):
        await claim.tell(note="progress", done=0, total=1, message="waiting")
    while not path(name).exists():
        await asyncio.sleep(0.05)
    return f"{name} is there"
