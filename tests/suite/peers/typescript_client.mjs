// The TypeScript SDK v2 as a peer, in either lifecycle: node typescript_client.mjs legacy|modern -- CMD ARGS...

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { clientInfo, closeAndWatch, commandLine, killServer, main, refuse, REQUEST_MS } from './harness.mjs';

const usage = 'node typescript_client.mjs legacy|modern';
const { words, command, args } = commandLine(usage);

/** `auto` is what a host would set. It falls back silently, which the check of the version then tells. */
const lifecycle = {
  legacy: { mode: 'legacy', version: '2025-11-25' },
  modern: { mode: 'auto', version: '2026-07-28' },
}[words[0]] ?? refuse(usage);

const options = { timeout: REQUEST_MS };
const client = new Client(clientInfo, { versionNegotiation: { mode: lifecycle.mode } });
const transport = new StdioClientTransport({ command, args });
let connected;
let server;

async function connect() {
  await client.connect(transport, options);
  // The only way to the exit code and to whether a signal was needed; the public part is `transport.pid`.
  server = transport._process;
}

await main({
  '': {
    version: lifecycle.version,
    offers: ['session', 'protocol errors'],
    notAnInteger: 'x',
    async connect() {
      await (connected ??= connect());
      return { protocolVersion: client.getNegotiatedProtocolVersion(), serverInfo: client.getServerVersion() };
    },
    listTools: async () => (await client.listTools(undefined, { ...options, cacheMode: 'refresh' })).tools,
    callTool: (name, args) => client.callTool({ name, arguments: args }, options),
    close: () => closeAndWatch(client, server),
    abandon: () => killServer(server ?? transport._process),
  },
});
