// The TypeScript SDK v1, which most hosts still embed: node typescript_sdk.mjs stateful (URL | -- CMD ARGS...)

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { clientInfo, closeAndWatch, commandLine, killServer, main, REQUEST_MS } from './harness.mjs';

const { version, url, command, args } = commandLine('typescript_sdk.mjs', ['stateful']);
const options = { timeout: REQUEST_MS };
const client = new Client(clientInfo);
const transport = url ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport({ command, args });
let connected;
let server;
let protocolVersion;

// The client does not expose the negotiated version, but passes it to the transport.
const original = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (version) => {
  protocolVersion = version;
  original?.(version);
};

async function connect() {
  await client.connect(transport, options);
  // The only way to the exit code and to whether a signal was needed; the public part is `transport.pid`.
  server = transport._process;
}

await main({
  version,
  offers: ['session', 'protocol errors', url ? 'connection' : 'process'],
  notAnInteger: 'x',
  async connect() {
    await (connected ??= connect());
    return { protocolVersion, serverInfo: client.getServerVersion() };
  },
  listTools: async () => (await client.listTools(undefined, options)).tools,
  callTool: (name, args) => client.callTool({ name, arguments: args }, undefined, options),
  close: () => (url ? client.close() : closeAndWatch(client, server)),
  abandon: () => killServer(server ?? transport._process),
});
