// The MCP Inspector's command line: node inspector.mjs stateful|stateless (URL | -- CMD ARGS...)
//
// It connects anew for every request, over stdio to a server that it starts, and resolves a tool's name against its own
// listing, so it can say nothing about state, concurrency or unknown tools. In return it judges the portability of the
// schemas.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text as all } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from './expect.mjs';
import { commandLine, EXIT_MS, main, REQUEST_MS } from './harness.mjs';

const { lifecycle, version, url, command, args } = commandLine('inspector.mjs');
const inspector = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json');
// The Inspector's names of the lifecycles.
const era = { stateful: 'legacy', stateless: 'modern' }[lifecycle];
const launcher = join(dirname(inspector), 'clients/launcher/build/index.js');

/** The Inspector keeps a catalog and secrets in the home directory: give it one that is thrown away. */
const home = mkdtempSync(join(tmpdir(), 'peers-inspector-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

/** Each command line leads a process group that its server joins, so that a server left behind can be found. */
const groups = new Set();

/** How many servers outlived the Inspector that started them. */
let leftBehind = 0;

/** The Inspector does not report how the server ended, so a shell records its exit; a killed shell records nothing. */
const exits = join(home, 'exits');
const server = url ? [url] : ['--', 'sh', '-c', '"$@"; echo $? >> "$0"', exits, command, ...args];

let connected;

await main({
  version,
  offers: url ? ['portability'] : ['portability', 'process'],
  // A string would not do: the Inspector turns `x` into a number for an integer, and NaN into null.
  notAnInteger: ['x'],
  connect: () => (connected ??= request(['--method', 'initialize'])),
  listTools: async () => (await request(['--method', 'tools/list'])).tools,
  callTool: (name, args) =>
    request(['--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args)]),
  checkPortability,
  close,
  abandon: () => groups.forEach((group) => isAlive(group) && process.kill(-group, 'SIGKILL')),
});

/** The result that the Inspector prints; its error when there is none. A result with `isError` also exits with 5. */
async function request(words) {
  const { code, stdout, stderr } = await inspect(words);
  if (stdout.trim() === '') throw new Error(`exit ${code}: ${stderr}`);
  return JSON.parse(stdout).result;
}

/** `--strict` fails for errors only; warnings have to be read from its summary. */
async function checkPortability() {
  const { code, stderr } = await inspect(['--method', 'tools/list', '--strict']);
  expect(code === 0 && !/^\d+ errors?, \d+ warnings? /m.test(stderr), stderr);
}

async function inspect(words) {
  const argv = [launcher, '--cli', '--protocol-era', era, '--format', 'json', ...words, ...server];
  const env = { ...process.env, HOME: home };
  const child = spawn(process.execPath, argv, { env, detached: true, timeout: REQUEST_MS, stdio: ['ignore', 'pipe', 'pipe'] });
  groups.add(child.pid);
  const output = Promise.all([all(child.stdout), all(child.stderr)]);
  const [code, signal] = await once(child, 'exit');
  await watchGroup(child.pid);
  const [stdout, stderr] = await output;
  if (signal) throw new Error(`not done after ${REQUEST_MS} ms; does the server outlive its input? ${stderr}`);
  return { code, stdout, stderr };
}

/** Waits for the server to go too, and ends it after that: it may hold the output open, which is awaited next. */
async function watchGroup(group) {
  const end = Date.now() + EXIT_MS;
  while (isAlive(group) && Date.now() < end && leftBehind === 0) await sleep(20);
  if (!isAlive(group)) return;
  leftBehind += 1;
  process.kill(-group, 'SIGKILL');
}

/** Judges all the servers of this script so far. */
async function close() {
  const codes = existsSync(exits) ? readFileSync(exits, 'utf8').trim().split('\n') : [];
  const clean = codes.filter((code) => code === '0').length;
  if (leftBehind === 0 && clean === groups.size) return undefined;
  return `${clean} of ${groups.size} servers exited with 0 by themselves, ${leftBehind} outlived the Inspector`;
}

function isAlive(group) {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}
