import { describe, expect, it } from '@jest/globals';
import type { ApiKey, EffectiveLimit } from '../../api/keys';
import type { Refusal } from '../../api/refusals';
import { refusedNow, suggestedLimit, suggestedTokens } from './refused-now';

const NOW = Date.parse('2026-11-29T12:00:00Z');
const ago = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString();

const LIMIT: EffectiveLimit = {
  limit_source: 'key',
  limit_window: 'daily',
  limit_usd: 1,
  spend_usd: 0.9996,
  remaining_usd: 0.0004,
  resets_at: '2026-11-30T00:00:00Z',
};

type Judged = Parameters<typeof refusedNow>[0];

function keyWith(
  limit: EffectiveLimit | null,
  reason: NonNullable<ApiKey['refusals']>['last_reason'] = 'key_limit',
  minutes = 60,
): Judged {
  return {
    effective_limit: limit,
    disabled: false,
    expires_at: null,
    refusals: { last_hour: 1, last_day: 2, since: ago(minutes), last_at: ago(minutes), last_reason: reason },
  };
}

function refusalWith(members: Partial<Refusal> = {}): Refusal {
  return {
    id: 'id',
    created_at: ago(60),
    workspace_id: 'workspace',
    api_key_hash: 'hash',
    api_key_name: 'Search',
    reason: 'key_limit',
    request_id: 'request',
    message: 'API key limit exceeded',
    needed_usd: 0.0525,
    left_usd: 0.0004,
    limit_usd: 1,
    limit_window: 'daily',
    resets_at: '2026-11-30T00:00:00Z',
    affordable_output_tokens: null,
    ...members,
  };
}

describe('a key', () => {
  it('without a refused call in the last day is not refused', () => {
    expect(refusedNow({ ...keyWith(LIMIT), refusals: null }, [refusalWith()], NOW)).toBeNull();
  });

  it('is refused while less is left than its newest refused call may cost, however long ago that was', () => {
    const key = keyWith(LIMIT, 'key_limit', 600);
    const listed = [refusalWith({ created_at: ago(600) })];
    expect(refusedNow(key, listed, NOW)).toEqual({
      kind: 'limit',
      limit: LIMIT,
      needed: 0.0525,
      affordable: null,
      isReserved: false,
    });
  });

  it('refuses chats without a token limit alone while a shorter answer fits', () => {
    const open = [refusalWith({ affordable_output_tokens: 4_312 })];
    expect(refusedNow(keyWith(LIMIT), open, NOW)).toMatchObject({ kind: 'limit', affordable: 4_312 });
    const none = [refusalWith({ affordable_output_tokens: 0 })];
    expect(refusedNow(keyWith(LIMIT), none, NOW)).toMatchObject({ kind: 'limit', affordable: null });
  });

  it('is refused by a limit behind a later refusal for another reason', () => {
    const listed = [refusalWith({ reason: 'validation', needed_usd: null }), refusalWith()];
    expect(refusedNow(keyWith(LIMIT, 'validation'), listed, NOW)).toMatchObject({ kind: 'limit' });
  });

  it('is not refused any more once its limit leaves room for the call', () => {
    const raised = { ...LIMIT, limit_usd: 2, remaining_usd: 1.0004 };
    expect(refusedNow(keyWith(raised, 'key_limit', 1), [refusalWith()], NOW)).toBeNull();
    expect(refusedNow(keyWith(null, 'key_limit', 1), [refusalWith()], NOW)).toBeNull();
  });

  it('is refused by the next limit when its own one is raised and another has less left', () => {
    const budget: EffectiveLimit = { ...LIMIT, limit_source: 'workspace', remaining_usd: 0.01 };
    expect(refusedNow(keyWith(budget), [refusalWith()], NOW)).toMatchObject({ limit: budget });
  });

  it('is refused by a spent limit whose refused calls are not listed any more', () => {
    const spent = { ...LIMIT, remaining_usd: 0 };
    expect(refusedNow(keyWith(spent), [], NOW)).toMatchObject({ limit: spent, needed: null });
  });

  it('is not refused by the amount of a call before the last day', () => {
    const listed = [refusalWith({ created_at: ago(3000) })];
    expect(refusedNow(keyWith(LIMIT, 'validation'), listed, NOW)).toBeNull();
  });

  it('is refused for five minutes while calls in flight reserve an unchanged limit', () => {
    const free = { ...LIMIT, spend_usd: 0, remaining_usd: 1 };
    const listed = [refusalWith({ created_at: ago(4) })];
    expect(refusedNow(keyWith(free, 'key_limit', 4), listed, NOW)).toMatchObject({ isReserved: true });
    expect(refusedNow(keyWith(free, 'key_limit', 6), listed, NOW)).toBeNull();
    const yesterday = [refusalWith({ created_at: ago(4), resets_at: ago(2) })];
    expect(refusedNow(keyWith(free, 'key_limit', 4), yesterday, NOW)).toBeNull();
  });

  it.each(['rate', 'permission', 'guardrail', 'validation'] as const)(
    'is refused for five minutes after a call that was refused for %s, with its message',
    (reason) => {
      const listed = [refusalWith({ reason, needed_usd: null, message: 'input: is missing' })];
      expect(refusedNow(keyWith(null, reason, 4), listed, NOW)).toEqual({
        kind: 'other',
        reason,
        message: 'input: is missing',
      });
      expect(refusedNow(keyWith(null, reason, 6), listed, NOW)).toBeNull();
    },
  );

  it('is refused for unpaid bills with the message of the response, which no limit of the key explains', () => {
    const listed = [refusalWith({ needed_usd: null, message: 'unpaid' })];
    expect(refusedNow(keyWith(null, 'key_limit', 1), listed, NOW)).toMatchObject({
      kind: 'other',
      message: 'unpaid',
    });
  });

  it('is not refused by a limit while it is disabled or expired', () => {
    expect(refusedNow({ ...keyWith(LIMIT), disabled: true }, [refusalWith()], NOW)).toBeNull();
    expect(refusedNow({ ...keyWith(LIMIT), expires_at: ago(1) }, [refusalWith()], NOW)).toBeNull();
  });
});

it.each([
  [{ ...LIMIT, limit_usd: 1, spend_usd: 0.9996 }, 0.0525, 2],
  [{ ...LIMIT, limit_usd: 0.01, spend_usd: 0.0096 }, 0.0525, 0.54],
  [{ ...LIMIT, limit_usd: 0, spend_usd: 0 }, 0.0525, 0.53],
  [{ ...LIMIT, limit_usd: 0.00000004, spend_usd: 0.00000003 }, 0.00000002, 0.00000023],
  [{ ...LIMIT, limit_usd: 125, spend_usd: 124 }, 0.01, 250],
  [{ ...LIMIT, limit_usd: 1, spend_usd: 3 }, 0, 6],
  [{ ...LIMIT, limit_usd: 0, spend_usd: 0 }, 0, 1],
])('suggests a limit with room for further calls: %#', (limit, needed, suggested) => {
  expect(suggestedLimit(limit, needed)).toBe(suggested);
});

it.each([
  [4_312, 4_300],
  [128_000, 120_000],
  [87, 87],
  [3, 3],
])('suggests a token limit that leaves room for a longer prompt: %i', (affordable, suggested) => {
  expect(suggestedTokens(affordable)).toBe(suggested);
});
