// What every JavaScript peer verifies, written once against the `Peer` below. python_client.py keeps the same list
// under the same names: a change here is a change there.

import { expect, names, same, text } from './expect.mjs';

/**
 * One connection to the server, or for the Inspector one command line per request. Over HTTP the server runs already,
 * over stdio the peer starts it.
 *
 * @typedef {object} Peer
 * @property {string} version the protocol version that this peer has to end up with
 * @property {string[]} offers which of the optional `needs` below it can express
 * @property {unknown} notAnInteger a wrong value that this peer sends as it is
 * @property {() => Promise<{protocolVersion?: string, serverInfo?: object}>} connect
 * @property {() => Promise<object[]>} listTools asks the server again on every call, never a cache
 * @property {(name: string, args: object) => Promise<object>} callTool rejects with `{code, message}`
 * @property {() => Promise<string | undefined>} close what went wrong with the exit of the server, if that is the peer's
 */

/** @typedef {{name: string, needs?: string, run: (peer: Peer) => Promise<void>}} Check */

const SESSION = 'session';
const PROTOCOL_ERRORS = 'protocol errors';
const PORTABILITY = 'portability';
const PROCESS = 'process';
const CONNECTION = 'connection';

/** Runs first; nothing else is tried when it throws. @type {Check[]} */
const connecting = [
  {
    name: 'connect: the newest protocol version of the lifecycle is agreed on',
    async run(peer) {
      const { protocolVersion } = await peer.connect();
      expect(protocolVersion === peer.version, protocolVersion);
    },
  },
  {
    name: 'connect: the server introduces itself, not its libraries',
    async run(peer) {
      const { serverInfo } = await peer.connect();
      const ours = serverInfo?.name === 'quickstart' && serverInfo?.version === '0.1.0';
      expect(ours && !JSON.stringify(serverInfo).includes('rmcp'), serverInfo);
    },
  },
];

/** @type {Check[]} */
const listing = [
  {
    name: 'tools/list: every tool is there, sorted by name',
    async run(peer) {
      const listed = (await tools(peer)).map((tool) => tool.name);
      expect(same(listed, ['add', 'divide', 'remember', 'search_notes']), listed);
    },
  },
  {
    name: 'tools/list: every tool and every parameter has a description',
    async run(peer) {
      const bare = (await tools(peer)).flatMap(undescribed);
      expect(bare.length === 0, bare);
    },
  },
  {
    name: 'tools/list: annotations distinguish reading and writing tools',
    async run(peer) {
      const { add, remember } = await toolsByName(peer);
      expect(add.annotations?.readOnlyHint === true, add.annotations);
      expect(add.annotations?.idempotentHint === true, add.annotations);
      expect(!remember.annotations?.readOnlyHint, remember.annotations);
    },
  },
  {
    name: 'tools/list: only structured answers have an output schema',
    async run(peer) {
      const { add, search_notes } = await toolsByName(peer);
      expect(search_notes.outputSchema?.type === 'object', search_notes.outputSchema);
      expect(add.outputSchema === undefined, add.outputSchema);
    },
  },
  {
    name: 'tools/list: required, default and bounds are in the schema',
    async run(peer) {
      const { add, search_notes } = await toolsByName(peer);
      expect(same(add.inputSchema.required, ['a']), add.inputSchema);
      expect(add.inputSchema.properties.b.default === 1, add.inputSchema.properties.b);
      const { limit } = search_notes.inputSchema.properties;
      expect(limit.minimum === 1 && limit.maximum === 50 && limit.default === 10, limit);
    },
  },
  {
    name: 'tools/list: an optional list is a plain array that is not required',
    async run(peer) {
      const { inputSchema } = (await toolsByName(peer)).search_notes;
      expect(inputSchema.properties.tags.type === 'array', inputSchema.properties.tags);
      expect(!inputSchema.required.includes('tags'), inputSchema.required);
    },
  },
  {
    name: 'tools/list: no tool takes arguments that it does not declare',
    async run(peer) {
      const open = (await tools(peer)).filter((tool) => tool.inputSchema.additionalProperties !== false);
      expect(open.length === 0, open.map((tool) => tool.name));
    },
  },
  {
    name: 'tools/list: two listings are identical',
    async run(peer) {
      const [first, second] = [await tools(peer), await peer.listTools()];
      expect(JSON.stringify(first) === JSON.stringify(second), { first, second });
    },
  },
  {
    name: 'tools/list: the schemas are portable between models',
    needs: PORTABILITY,
    run: (peer) => peer.checkPortability(),
  },
];

/** @type {Check[]} */
const calling = [
  {
    name: 'tools/call: a plain answer is one text block and nothing else',
    async run(peer) {
      const result = await peer.callTool('add', { a: 2, b: 40 });
      expect(same(result.content, [{ type: 'text', text: '42' }]), result);
      expect(!result.isError && result.structuredContent === undefined, result);
    },
  },
  {
    name: 'tools/call: an absent argument takes its default',
    async run(peer) {
      expectAnswer(await peer.callTool('add', { a: 41 }), '42');
    },
  },
  {
    name: 'tools/call: a fraction is answered',
    async run(peer) {
      expectAnswer(await peer.callTool('divide', { a: 1, b: 4 }), '0.25');
    },
  },
  {
    name: 'tools/call: a structured answer comes with the same JSON as text',
    async run(peer) {
      const result = await peer.callTool('search_notes', { query: 'rust' });
      expectNotes(result);
      expect(same(JSON.parse(text(result)), result.structuredContent), result);
    },
  },
  {
    name: 'tools/call: null counts as an absent argument',
    async run(peer) {
      expectNotes(await peer.callTool('search_notes', { query: 'rust', tags: null }));
    },
  },
  {
    name: 'tools/call: calls share the state of the server',
    needs: SESSION,
    async run(peer) {
      const before = expectNotes(await peer.callTool('search_notes', { query: 'milk' }));
      const stored = await peer.callTool('remember', { text: 'buy milk' });
      expect(!stored.isError && text(stored).length > 0, stored);
      const after = expectNotes(await peer.callTool('search_notes', { query: 'milk' }));
      expect(after.total === before.total + 1, { before, after });
      expect(after.notes.some((note) => note.includes('buy milk')), after);
    },
  },
  {
    name: 'tools/call: 50 concurrent calls each get their own answer',
    needs: SESSION,
    async run(peer) {
      const calls = Array.from({ length: 50 }, (_, a) => peer.callTool('add', { a, b: 1000 }));
      const answers = (await Promise.all(calls)).map(text);
      const wrong = answers.filter((answer, a) => answer !== String(a + 1000));
      expect(wrong.length === 0, wrong);
    },
  },
];

/** @type {Check[]} */
const failing = [
  {
    name: 'argument error: a wrong type names the argument and the type',
    async run(peer) {
      const message = expectRejection(await peer.callTool('add', { a: peer.notAnInteger }));
      expect(names(message, 'a') && message.includes('integer'), message);
    },
  },
  {
    name: 'argument error: a missing argument is named',
    async run(peer) {
      const message = expectRejection(await peer.callTool('add', {}));
      expect(names(message, 'a'), message);
    },
  },
  {
    name: 'argument error: an unknown argument is named',
    async run(peer) {
      const message = expectRejection(await peer.callTool('add', { a: 1, c: 2 }));
      expect(names(message, 'c'), message);
    },
  },
  {
    name: 'argument error: the error for a value out of bounds names the bound',
    async run(peer) {
      const message = expectRejection(await peer.callTool('search_notes', { query: 'x', limit: 80 }));
      expect(names(message, 'limit') && message.includes('50'), message);
    },
  },
  {
    name: 'argument error: two mistakes are both named',
    async run(peer) {
      const wrong = peer.notAnInteger;
      const types = expectRejection(await peer.callTool('add', { a: wrong, b: wrong }));
      expect(names(types, 'a') && names(types, 'b'), types);
      const kinds = expectRejection(await peer.callTool('add', { a: wrong, c: 2 }));
      expect(names(kinds, 'a') && names(kinds, 'c'), kinds);
    },
  },
  {
    name: 'tool error: a failing tool answers with its reason',
    async run(peer) {
      const message = expectRejection(await peer.callTool('divide', { a: 1, b: 0 }));
      expect(message.includes('zero'), message);
    },
  },
  {
    name: 'protocol error: an unknown tool is -32602 and the nearest name is offered',
    needs: PROTOCOL_ERRORS,
    async run(peer) {
      const answer = await peer.callTool('ad', { a: 1 }).catch((error) => error);
      expect(answer.code === -32602 && names(answer.message, 'add'), answer);
    },
  },
];

/** Runs last, whatever happened before. @type {Check[]} */
const closing = [
  {
    name: 'close: the server exits by itself within five seconds',
    needs: PROCESS,
    async run(peer) {
      const fault = await peer.close();
      expect(fault === undefined, fault);
    },
  },
  {
    name: 'close: the client leaves without a complaint',
    needs: CONNECTION,
    run: (peer) => peer.close(),
  },
];

export const checks = { connecting, asking: [...listing, ...calling, ...failing], closing };

const listings = new WeakMap();

/** One listing for all checks, since the Inspector takes half a second for each. An empty one satisfies nothing. */
async function tools(peer) {
  if (!listings.has(peer)) listings.set(peer, peer.listTools());
  const listed = await listings.get(peer);
  expect(listed.length > 0, 'no tools are listed');
  return listed;
}

async function toolsByName(peer) {
  return Object.fromEntries((await tools(peer)).map((tool) => [tool.name, tool]));
}

function undescribed(tool) {
  const bare = Object.entries(tool.inputSchema.properties ?? {}).filter(([, schema]) => !schema.description);
  const paths = bare.map(([parameter]) => `${tool.name}.${parameter}`);
  return tool.description ? paths : [tool.name, ...paths];
}

function expectAnswer(result, answer) {
  expect(!result.isError && text(result) === answer, result);
}

/** The text of a rejection for the model. */
function expectRejection(result) {
  expect(result.isError === true, result);
  return text(result);
}

function expectNotes(result) {
  const found = result.structuredContent;
  expect(!result.isError && Array.isArray(found?.notes) && Number.isInteger(found.total), result);
  for (const note of found.notes) {
    expect(typeof note === 'string', note);
  }
  return found;
}
