// Calls tools of the `governed` example and answers its questions: node governed_client.mjs stateful|stateless FOLDER PROGRAM
// Prints one JSON object: for each call its text and whether it failed.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { clientInfo, REQUEST_MS } from './harness.mjs';

const [lifecycle, cwd, program] = process.argv.slice(2);
const mode = { stateful: 'legacy', stateless: 'auto' }[lifecycle];
const client = new Client(clientInfo, {
  capabilities: { elicitation: { form: {} } },
  versionNegotiation: { mode },
});

/** The user's answers, in order, and the questions that were asked. */
const answers = [];
const questions = [];
client.setRequestHandler('elicitation/create', async ({ params }) => {
  questions.push(params.message);
  return { action: 'accept', content: answers.shift() };
});

const results = {};
async function call(label, name, args = {}) {
  // Longer than a slow server takes to start.
  const { content, isError } = await client.callTool({ name, arguments: args }, { timeout: 3 * REQUEST_MS });
  results[label] = { text: content.map((block) => block.text).join('\n'), isError: isError ?? false };
}

/** Runs a command of the example in another process. */
async function command(...words) {
  return (await promisify(execFile)(program, words, { cwd })).stdout;
}

/** Waits for a question in the inbox, and approves it. */
async function approve() {
  for (;;) {
    const [question] = JSON.parse(await command('approvals', 'list', '--json'));
    if (question) return command('approvals', 'approve', question.id);
  }
}

/** Lists the tools until all servers have started. */
async function listed() {
  for (;;) {
    const { tools } = await client.listTools(undefined, { timeout: 3 * REQUEST_MS, cacheMode: 'refresh' });
    const servers = new Set(tools.map(({ name }) => name.split('.')[0]));
    if (['files', 'memory', 'demo'].every((server) => servers.has(server))) return tools;
  }
}

await client.connect(new StdioClientTransport({ command: program, args: ['serve'], cwd, env: process.env }));
await listed();
await call('read', 'files.read_text_file', { path: 'note.txt' });
await call('key', 'files.read_text_file', { path: 'server.key' });
await call('unlisted', 'files.move_file', { source: 'server.key', destination: 'a.txt' });
answers.push({ decision: 'approve' }, { decision: 'deny', reason: 'keep the old one' });
await call('approved', 'files.write_file', { path: 'new.txt', content: 'hello' });
await call('rejected', 'files.write_file', { path: 'note.txt', content: 'gone' });
const entities = [{ name: 'map', entityType: 'thing', observations: ['bought'] }];
for (const label of ['first', 'second', 'third', 'fourth']) await call(label, 'memory.create_entities', { entities });
await Promise.all([call('forgotten', 'memory.delete_entities', { entityNames: ['map'] }), approve()]);
await call('environment', 'demo.get-env');
console.log(JSON.stringify({ version: client.getNegotiatedProtocolVersion(), results, questions }));
await client.close();
