"""The tools of `runner.py`: those of the queue `math`, and some of the queue `files`."""
import asyncio
import os
import pathlib
import re

TOOLS = {}
NAME = {"type": "string", "pattern": "^[a-z]+$", "description": "The name of the file."}


class ToolError(Exception):
    """Why a tool has no result: a class of errors, and a text for the model."""


def tool(name, description, hints, /, **properties):
    """Adds a tool with its hints and its arguments, of which all are required."""
    schema = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
    definition = {"name": name, "description": description, "inputSchema": schema, "annotations": hints}
    return lambda function: TOOLS.setdefault(name, (definition, function))


@tool("math.add", "Add two integers.", {"readOnlyHint": True, "idempotentHint": True},
      a={"type": "integer", "description": "First addend."}, b={"type": "integer", "description": "Second addend."})
async def add(_, a, b):
    return str(a + b)


def path(name):
    folder = pathlib.Path(os.environ.get("FLEET_FILES", "files"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name


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
async def wait(call, name):
    await call.progress(0, 1, "waiting")
    while not path(name).exists():
        await asyncio.sleep(0.05)
    return f"{name} is there"


def check(name, given):
    """Checks arguments, as far as the schemas above go."""
    schema = TOOLS[name][0]["inputSchema"]
    problems = [f"`{key}` is missing" for key in schema["required"] if key not in given]
    problems += [f"`{key}` is unknown" for key in given if key not in schema["properties"]]
    for key in given.keys() & schema["properties"].keys():
        rule, value = schema["properties"][key], given[key]
        if type(value) is not {"string": str, "integer": int}[rule["type"]]:
            problems.append(f"`{key}` is not of type {rule['type']}")
        elif "pattern" in rule and not re.search(rule["pattern"], value):
            problems.append(f"`{key}` does not match {rule['pattern']}")
    if problems:
        raise ToolError("input", f"invalid arguments for `{name}`: " + "; ".join(problems))
