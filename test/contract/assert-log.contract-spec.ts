// The check of every test app's log finds forbidden content.
import { describe, expect, it } from '@jest/globals';
import { canary } from '../support/app/canaries.js';
import { LogChecker } from '../support/app/assert-log.js';

function problemsOf(line: string): readonly string[] {
  const check = new LogChecker(['an encryption key']);
  check.write(line);
  return check.problems;
}
const lineWith = (text: string): string => `${JSON.stringify({ msg: text })}\n`;

describe('a line of the log', () => {
  it('may contain anything that is no secret', () => {
    expect(problemsOf(lineWith('request sk-sb-v1-45a...7480'))).toEqual([]);
  });

  it.each([
    `sk-sb-v1-${'0'.repeat(64)}`,
    `sk-sb-t1-${'0'.repeat(64)}`,
    'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJqb2IifQ.c2lnbmF0dXJlLW9mLWE',
    'authorization: Bearer another-callers-key',
    `whsec_${'a'.repeat(32)}`,
    'postgresql://user:password@host/name',
    'an encryption key',
    canary('Input'),
  ])('must not contain a secret or the text of a caller: %s', (text) => {
    expect(problemsOf(lineWith(text))).toHaveLength(1);
  });

  it.each(['no JSON\n', '{"msg":"one"}\n{"msg":"two"}\n', '{"msg":"without an end"}'])(
    'must be one JSON object: %j',
    (line) => {
      expect(problemsOf(line)).toHaveLength(1);
    },
  );
});
