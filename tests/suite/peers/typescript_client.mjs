// The TypeScript SDK v2 as a peer: node typescript_client.mjs stateful|stateless (URL | -- CMD ARGS...)

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { clientInfo, closeAndWatch, commandLine, killServer, main, REQUEST_MS } from './harness.mjs';

const { lifecycle, version, url, command, args } = commandLine('typescript_client.mjs');

/** `auto` is what a host would set. It falls back silently, which the check of the version detects. */
const mode = { stateful: 'legacy', stateless: 'auto' }[lifecycle];

const options = { timeout: REQUEST_MS };
const client = new Client(clientInfo, { versionNegotiation: { mode } });
const transport = url ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport({ command, args });
let connected;
let server;

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
    return { protocolVersion: client.getNegotiatedProtocolVersion(), serverInfo: client.getServerVersion() };
  },
  listTools: async () => (await client.listTools(undefined, { ...options, cacheMode: 'refresh' })).tools,
  callTool: (name, args) => client.callTool({ name, arguments: args }, options),
  close: () => (url ? client.close() : closeAndWatch(client, server)),
  abandon: () => killServer(server ?? transport._process),
});
