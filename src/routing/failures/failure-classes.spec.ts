// The consequences of each class of failures, row by row.
import { describe, expect, it } from '@jest/globals';
import { AppError } from '../../domain/errors.js';
import { consequencesOf, FAILURE_CLASSES } from './failure-classes.js';
import type { FailureClass, FailureConsequences } from './failure-classes.js';

type Row = readonly [
  failureClass: FailureClass,
  next: 'next' | 'once' | 'ends',
  repeat: FailureConsequences['repeat'],
  circuit: FailureConsequences['circuit'],
  status: number,
  errorType: string,
  payer: 'caller' | 'operator',
  clients: 'may retry' | 'must not',
];

const ROWS: readonly Row[] = [
  ['unsupported', 'next', 'never', 'none', 400, 'invalid_request', 'caller', 'must not'],
  ['refused', 'ends', 'never', 'none', 400, 'invalid_request', 'caller', 'must not'],
  ['context_length', 'next', 'never', 'none', 400, 'context_length_exceeded', 'caller', 'must not'],
  ['too_large', 'next', 'never', 'none', 413, 'payload_too_large', 'caller', 'must not'],
  ['input', 'next', 'never', 'none', 502, 'provider_unavailable', 'operator', 'must not'],
  ['unusable', 'next', 'once', 'none', 502, 'provider_unavailable', 'operator', 'may retry'],
  ['broken', 'next', 'once', 'endpoint', 502, 'provider_unavailable', 'operator', 'may retry'],
  ['endpoint', 'next', 'never', 'endpoint', 502, 'provider_unavailable', 'operator', 'must not'],
  ['address', 'next', 'never', 'endpoint', 502, 'provider_unavailable', 'operator', 'must not'],
  ['credential', 'next', 'never', 'credential', 502, 'provider_unavailable', 'operator', 'must not'],
  ['forbidden', 'next', 'never', 'credential_here', 502, 'provider_unavailable', 'operator', 'must not'],
  ['account', 'next', 'never', 'credential', 502, 'provider_unavailable', 'operator', 'must not'],
  ['rate_limited', 'next', 'configured', 'endpoint', 429, 'rate_limit_exceeded', 'operator', 'may retry'],
  ['overloaded', 'next', 'configured', 'endpoint', 529, 'provider_overloaded', 'operator', 'may retry'],
  ['saturated', 'next', 'never', 'none', 529, 'provider_overloaded', 'operator', 'may retry'],
  ['timeout', 'next', 'never', 'endpoint', 524, 'timeout', 'operator', 'may retry'],
  ['own_timeout', 'once', 'never', 'endpoint', 524, 'timeout', 'operator', 'must not'],
  ['failed', 'next', 'configured', 'endpoint', 502, 'provider_unavailable', 'operator', 'may retry'],
];

it('has a row for every class', () => {
  expect(ROWS.map(([name]) => name)).toEqual(Object.keys(FAILURE_CLASSES));
});

it.each(ROWS)(
  '%s: %s, repeats %s, circuit %s, %d %s, paid by the %s, clients %s',
  (failureClass, next, repeat, circuit, status, errorType, payer, clients) => {
    const consequences: FailureConsequences = FAILURE_CLASSES[failureClass];
    const error = new AppError(consequences.error);
    expect({ ...consequences, status: error.status, errorType: error.errorType }).toMatchObject({
      next: next === 'once' ? 'once' : next === 'next',
      repeat,
      circuit,
      status,
      errorType,
      payer,
      passes: clients === 'may retry',
    });
    // The rule of docs/contract.md#spend by status, which other failures follow.
    expect(error.payer).toBe(payer);
  },
);

describe('a class that words alone name', () => {
  it.each<[FailureClass, FailureConsequences['circuit']]>([
    ['endpoint', 'none'],
    ['account', 'credential_here'],
    ['forbidden', 'credential_here'],
    ['context_length', 'none'],
  ])('%s counts against %s: a caller may have written them', (failureClass, circuit) => {
    expect(consequencesOf({ failureClass, isByWords: true }).circuit).toBe(circuit);
  });
});
