"""The client of FastMCP as a peer: python fastmcp_client.py stateful|stateless (URL | -- CMD ARGS...)."""

from contextlib import asynccontextmanager

from checks import wire
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from harness import REQUEST_SECONDS, Server, main


class FastMcpClient:
    """FastMCP's client with results as JSON: its own are Python values."""

    def __init__(self, client: Client):
        self.client = client
        self.protocol_version = client.protocol_version
        self.server_info = wire(client.server_info) if client.server_info else {}

    async def list_tools(self) -> list[dict]:
        listed = await self.client.list_tools_mcp()
        return [wire(tool) for tool in listed.tools]

    async def call_tool(self, name: str, arguments: dict) -> dict:
        return wire(await self.client.call_tool_mcp(name, arguments))


@asynccontextmanager
async def connect(server: Server, mode: str):
    if server.url:
        transport = StreamableHttpTransport(server.url)
    else:
        transport = StdioTransport(server.command, list(server.args), keep_alive=False)
    async with Client(transport, mode=mode, timeout=REQUEST_SECONDS) as client:
        yield FastMcpClient(client)


if __name__ == "__main__":
    main(connect)
