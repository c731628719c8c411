"""The Python SDK as a peer: python python_client.py stateful|stateless (URL | -- CMD ARGS...)."""

from contextlib import asynccontextmanager

from checks import wire
from harness import REQUEST_SECONDS, Server, main
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters


class PythonClient:
    """The SDK's client with results as JSON."""

    def __init__(self, client: Client):
        self.client = client
        self.protocol_version = client.protocol_version
        self.server_info = wire(client.server_info) if client.server_info else {}

    async def list_tools(self) -> list[dict]:
        listed = await self.client.list_tools(cache_mode="refresh")
        return [wire(tool) for tool in listed.tools]

    async def call_tool(self, name: str, arguments: dict) -> dict:
        return wire(await self.client.call_tool(name, arguments))


@asynccontextmanager
async def connect(server: Server, mode: str):
    target = server.url or StdioServerParameters(command=server.command, args=list(server.args))
    async with Client(target, mode=mode, read_timeout_seconds=REQUEST_SECONDS) as client:
        yield PythonClient(client)


if __name__ == "__main__":
    main(connect)
