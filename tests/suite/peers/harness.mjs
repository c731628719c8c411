// Runs the checks against a peer, prints one line each, and makes sure that nothing outlives the script.

import { once } from 'node:events';
import { checks } from './checks.mjs';
import { Unexpected } from './expect.mjs';

/** For each request; far above what a loaded machine needs, far below DEADLINE_MS. */
export const REQUEST_MS = 20_000;

/** For the whole script, below the 180 s after which the test suite kills it: then it can still say where it hung. */
const DEADLINE_MS = 150_000;

/** How long a server may take to exit when its input ends. */
export const EXIT_MS = 5_000;

/** How this script introduces itself to the server. */
export const clientInfo = { name: 'peers', version: '0.0.0' };

const counts = { passed: 0, failed: 0 };

/** The check under way, for the report of one that never ends. */
let current;

/** The protocol version that each lifecycle ends up with. */
const VERSIONS = { stateful: '2025-11-25', stateless: '2026-07-28' };

/**
 * The lifecycle, and the server: the URL of one that runs, or the command that starts one.
 *
 * @param {string} script
 * @param {string[]} lifecycles that the client knows
 */
export function commandLine(script, lifecycles = Object.keys(VERSIONS)) {
  const [lifecycle, first, ...rest] = process.argv.slice(2);
  const [command, ...args] = first === '--' ? rest : [];
  const url = first?.startsWith('http') && rest.length === 0 ? first : undefined;
  if (!lifecycles.includes(lifecycle) || !(command ?? url)) {
    console.error(`usage: node ${script} ${lifecycles.join('|')} (URL | -- CMD ARGS...)`);
    process.exit(2);
  }
  return { lifecycle, version: VERSIONS[lifecycle], url, command, args };
}

/**
 * Runs every check that the peer can express, and ends the script.
 *
 * @param {import('./checks.mjs').Peer & {abandon: () => void}} peer
 */
export async function main(peer) {
  setTimeout(() => giveUp(peer), DEADLINE_MS);
  const connected = await runList(peer, checks.connecting);
  if (connected) await runList(peer, checks.asking);
  await runList(peer, checks.closing);
  peer.abandon();
  finish();
}

/** False when the client itself failed; a check that merely does not hold is no reason to stop. */
async function runList(peer, list) {
  let usable = true;
  for (const check of list.filter(({ needs }) => !needs || peer.offers.includes(needs))) {
    current = check.name;
    const error = await check.run(peer).then(() => undefined, (reason) => reason);
    report(current, error);
    usable &&= error === undefined || error instanceof Unexpected;
  }
  return usable;
}

function report(name, error) {
  counts[error ? 'failed' : 'passed'] += 1;
  const seen = error instanceof Unexpected ? error.message : `${error?.code ?? error?.name} ${error?.message}`;
  console.log(error ? `not ok - ${name}: ${seen.replaceAll('\n', '\\n')}` : `ok - ${name}`);
}

function giveUp(peer) {
  report(current, new Unexpected('not done when the time of the script was over'));
  peer.abandon();
  finish();
}

function finish() {
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  process.exit(counts.failed === 0 ? 0 : 1);
}

/**
 * Closes an SDK client and says what was wrong with the exit of its server process. Both SDKs send SIGTERM two
 * seconds after the end of input, so a server that waits for it has not left by itself.
 *
 * @param {{close: () => Promise<void>}} client
 * @param {import('node:child_process').ChildProcess | undefined} server
 */
export async function closeAndWatch(client, server) {
  if (!server) return 'there was no connection to close';
  if (hasExited(server)) return `the server had already exited with ${server.exitCode ?? server.signalCode}`;
  const exited = once(server, 'exit', { signal: AbortSignal.timeout(EXIT_MS) }).catch(() => undefined);
  await client.close();
  const exit = await exited;
  if (!exit) return `still running ${EXIT_MS} ms after the end of its input`;
  const [code, signal] = exit;
  if (server.killed) return `did not exit at the end of its input, the client had to signal it (${signal ?? code})`;
  return code === 0 ? undefined : `exited with ${signal ?? code}`;
}

/** Ends a server that is still there, by its own id. */
export function killServer(server) {
  if (server && !hasExited(server)) server.kill('SIGKILL');
}

function hasExited(server) {
  return server.exitCode !== null || server.signalCode !== null;
}
