// The few assertions of checks.mjs. Not node:assert, whose messages are a diff: a check line shows what was seen.

export { isDeepStrictEqual as same } from 'node:util';

/** Throws what was seen, for the check's one line. */
export function expect(holds, seen) {
  if (!holds) throw new Unexpected(seen);
}

/** A check that does not hold, as opposed to a client that failed. */
export class Unexpected extends Error {
  constructor(seen) {
    super(show(seen));
  }
}

/** The one text block of a result. */
export function text(result) {
  expect(result.content?.length === 1 && result.content[0].type === 'text', result);
  return result.content[0].text;
}

/** Whether `message` quotes `word`: a bare `a` is also an English article. */
export function names(message, word) {
  return ['`', '"', "'"].some((quote) => message.includes(quote + word + quote));
}

function show(seen) {
  if (typeof seen === 'string') return seen;
  if (seen instanceof Error) return `${seen.code ?? seen.name} ${seen.message}`;
  return JSON.stringify(seen) ?? 'nothing';
}
