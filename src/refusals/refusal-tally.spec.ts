import { describe, expect, it } from '@jest/globals';
import { OTHER_KEYS } from '../domain/keys/refusal.js';
import type { Refusal, RefusalReason } from '../domain/keys/refusal.js';
import { RefusalTally } from './refusal-tally.js';

const MINUTE = 60_000;
const START = Date.parse('2026-11-18T12:00:00Z');

let described = 0;
function note(
  tally: RefusalTally,
  {
    id = 'key',
    accountId = 'account',
    reason = 'rate',
    at = START,
  }: { id?: string; accountId?: string; reason?: RefusalReason; at?: number } = {},
): void {
  tally.note({ id, accountId, workspaceId: `workspace of ${accountId}` }, reason, new Date(at), () => {
    described++;
    return { apiKeyId: id } as Refusal;
  });
}

describe('the count of refused calls', () => {
  it('is one number for a key, reason and minute, with the first and the newest moment', () => {
    const tally = new RefusalTally();
    for (const at of [START, START + 1, START + MINUTE - 1, START + MINUTE]) note(tally, { at });
    note(tally, { reason: 'validation' });
    note(tally, { id: 'other' });
    const { counts } = tally.drain();
    expect(
      counts.map(({ apiKeyId, reason, minute, refusals }) => [apiKeyId, reason, +minute - START, refusals]),
    ).toEqual([
      ['key', 'rate', 0, 3],
      ['key', 'rate', MINUTE, 1],
      ['key', 'validation', 0, 1],
      ['other', 'rate', 0, 1],
    ]);
    expect(counts[0]).toMatchObject({ firstAt: new Date(START), lastAt: new Date(START + MINUTE - 1) });
    expect(tally.drain()).toEqual({ counts: [], newest: [] });
  });

  it('takes one row and twenty descriptions for a key that is refused ten thousand times', () => {
    const tally = new RefusalTally();
    described = 0;
    for (let refused = 0; refused < 10_000; refused++) note(tally);
    expect(described).toBe(20);
    const { counts, newest } = tally.drain();
    expect(counts.map(({ refusals }) => refusals)).toEqual([10_000]);
    expect(newest).toHaveLength(20);
  });

  it('names 1,000 keys and reasons of an account in an hour, and counts the rest together', () => {
    const tally = new RefusalTally();
    const refuseAll = (at: number): void => {
      for (let key = 0; key < 1_500; key++) note(tally, { id: `key-${key}`, at });
    };
    refuseAll(START);
    note(tally, { accountId: 'another' });
    // The same keys as before.
    refuseAll(START + MINUTE);
    const named = (): unknown => {
      const { counts, newest } = tally.drain();
      expect(newest.length).toBeLessThanOrEqual(101);
      const others = counts.filter(({ apiKeyId }) => apiKeyId === OTHER_KEYS);
      return [counts.length - others.length, others.map(({ refusals }) => refusals)];
    };
    expect(named()).toEqual([2_001, [500, 500]]);
    refuseAll(START + 60 * MINUTE);
    expect(named()).toEqual([1_000, [500]]);
  });

  it('names 20,000 keys and reasons of all accounts in an hour', () => {
    const tally = new RefusalTally();
    for (let account = 0; account < 25; account++)
      for (let key = 0; key < 900; key++)
        note(tally, { accountId: `account-${account}`, id: `${account}-${key}` });
    const { counts, newest } = tally.drain();
    expect(counts.filter(({ apiKeyId }) => apiKeyId !== OTHER_KEYS)).toHaveLength(20_000);
    expect(counts.reduce((sum, { refusals }) => sum + refusals, 0)).toBe(25 * 900);
    expect(newest).toHaveLength(2_000);
  });

  it('contains counts that could not be stored', () => {
    const tally = new RefusalTally();
    note(tally);
    note(tally, { at: START + 5 });
    const { counts } = tally.drain();
    note(tally, { at: START + 3 });
    tally.keep(counts);
    expect(tally.drain().counts).toMatchObject([
      { refusals: 3, firstAt: new Date(START), lastAt: new Date(START + 5) },
    ]);
  });
});
