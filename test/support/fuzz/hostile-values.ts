// Values that programs stumble over, as arbitraries: texts, JSON values, corrupted values.
import * as fc from '../fast-check.js';

/** Stands in many hostile texts: what a caller sends must not be found in the log. */
export const SENT_WORD = 'wordofabody5d1b';

const TEXTS: readonly string[] = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\r\n',
  'x\r\nSet-Cookie: a=b',
  '\u001b[31mred\u001b[0m',
  '\u2028\u2029',
  '\ud800',
  '\udfff',
  '\ufeff',
  '\u202e',
  '\u0130',
  'e\u0301'.repeat(20),
  '👩‍👩‍👧‍👦',
  '../../../../etc/passwd',
  '%00',
  '%',
  '%zz',
  '%2e%2e%2f',
  '..;/',
  "' OR '1'='1",
  "'; DROP TABLE api_keys; --",
  '$1',
  '${7*7}',
  '{{7*7}}',
  '<script>alert(1)</script>',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'null',
  'undefined',
  'true',
  'NaN',
  'Infinity',
  '-1',
  '0',
  '1e999',
  '9007199254740993',
  '99999999999999999999999999',
  '0x10',
  '2027-01-01T00:00:00Z',
  '2027-02-30T00:00:00Z',
  '+275760-09-13T00:00:00Z',
  '0000-00-00T00:00:00Z',
  '00000000-0000-0000-0000-000000000000',
  '(a+)+$',
  '(?=a)',
  '[',
  'http://127.0.0.1:1/',
  'http://[::1]/',
  'https://169.254.169.254/latest/meta-data/',
  'https://2130706433/',
  'https://0x7f.1/',
  'https://[::ffff:127.0.0.1]/',
  'https://user:pass@127.0.0.1/',
  'https://127.0.0.1\\@example.invalid/',
  'https://name.invalid/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  '//example.invalid',
  SENT_WORD,
  `${SENT_WORD} and more`,
  'x'.repeat(300),
  'é'.repeat(5_000),
];

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
);

const NUMBERS = [0, -0, -1, 1, 0.5, 1e-9, 255, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 63), 1e21, 1e308, 5e-324];

function nested(depth: number, isArray: boolean): unknown {
  let value: unknown = SENT_WORD;
  for (let level = 0; level < depth; level++) value = isArray ? [value] : { a: value };
  return value;
}

/** An object with a member of that very name: an object literal would set its prototype. */
const ofName = (name: string, value: unknown): unknown => Object.fromEntries([[name, value]]);

export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: hostileText },
  { weight: 2, arbitrary: fc.constantFrom(...NUMBERS) },
  { weight: 2, arbitrary: fc.constantFrom<unknown>(null, true, false, [], {}, [[]], [null], [{}]) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'length'), fc.jsonValue())
      .map(([name, value]) => ofName(name, value)),
  },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(10, 40, 2_000), fc.boolean()).map((a) => nested(...a)) },
  { weight: 1, arbitrary: fc.array(hostileText, { maxLength: 60 }) },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

/** A change of a value, at the end of a path that chooses a member at each step. */
interface Corruption {
  readonly variant: readonly number[];
  readonly action: 'replace' | 'remove' | 'add' | 'repeat' | 'wrap';
  readonly name: string;
  readonly value: unknown;
}

const corruption: fc.Arbitrary<Corruption> = fc.record({
  variant: fc.array(fc.nat(20), { maxLength: 5 }),
  action: fc.constantFrom('replace', 'replace', 'remove', 'add', 'repeat', 'wrap'),
  name: fc.oneof(fc.constantFrom('__proto__', 'constructor', 'account_id', 'id'), hostileText),
  value: hostileValue,
});

function corrupt(value: unknown, { variant, action, name, value: hostile }: Corruption): unknown {
  const [step, ...rest] = variant;
  if (typeof value !== 'object' || value === null) return action === 'wrap' ? [value] : hostile;
  if (Array.isArray(value)) {
    const items = [...(value as unknown[])];
    if (step === undefined || items.length === 0) return [...items, hostile];
    const at = step % items.length;
    if (rest.length > 0) items[at] = corrupt(items[at], { variant: rest, action, name, value: hostile });
    else if (action === 'remove') items.splice(at, 1);
    else if (action === 'repeat') items.splice(at, 0, items[at]);
    else items[at] = action === 'wrap' ? { [SENT_WORD]: items[at] } : hostile;
    return items;
  }
  const members = Object.entries(value);
  if (step === undefined || members.length === 0 || action === 'add')
    return Object.fromEntries([...members, [name, hostile]]);
  const at = step % members.length;
  const [memberName, member] = members[at] ?? ['', null];
  if (action === 'remove' && rest.length === 0) return Object.fromEntries(members.toSpliced(at, 1));
  const changed =
    rest.length > 0 ? corrupt(member, { variant: rest, action, name, value: hostile }) : hostile;
  return Object.fromEntries(members.with(at, [memberName, changed]));
}

/** Values that were good and have had something done to them, once to three times. */
export function corrupted(good: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc
    .tuple(good, fc.array(corruption, { minLength: 1, maxLength: 3 }))
    .map(([value, all]) => all.reduce(corrupt, value));
}
