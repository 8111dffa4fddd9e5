// Which digests are remembered.
import { expect, it } from '@jest/globals';
import { ValidSecrets } from './valid-secrets.js';

it('remembers a digest until it is forgotten', () => {
  const secrets = new ValidSecrets();
  expect(secrets.has('a')).toBe(false);
  secrets.add('a');
  expect(secrets.has('a')).toBe(true);
  secrets.forget('a');
  expect(secrets.has('a')).toBe(false);
});

it('is bounded: the one that was found longest ago goes', () => {
  const secrets = new ValidSecrets(2);
  for (const digest of ['a', 'b', 'a', 'c']) secrets.add(digest);
  expect(['a', 'b', 'c'].map((digest) => secrets.has(digest))).toEqual([true, false, true]);
});
