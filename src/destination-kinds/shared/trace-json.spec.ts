import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { generationTrace } from '../../../test/support/deliveries/generation-trace.js';
import { jsonWithin, traceMetadata, uuidOfTrace } from './trace-json.js';

describe('the UUID of a trace', () => {
  it('is of version 7, with the start of the call and the whole span id', () => {
    const spanId = fc.stringMatching(/^[0-9a-f]{16}$/);
    const startedAt = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(spanId, startedAt, fc.constantFrom(0 as const, 1 as const), (span, moment, ordinal) => {
        const uuid = uuidOfTrace(generationTrace(1, { spanId: span, startedAt: moment }), ordinal);
        expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
        const digits = uuid.replaceAll('-', '');
        expect(Number.parseInt(digits.slice(0, 12), 16)).toBe(moment.getTime());
        expect(digits.slice(13, 16) + digits.slice(17, 30)).toBe(span);
        expect(Number.parseInt(digits.slice(30), 16)).toBe(ordinal);
      }),
    );
  });
});

describe('metadata', () => {
  it('keeps the caller’s keys, and lets none of them replace a fact of the service', () => {
    const metadata = { team: 'search', model: 'forged', cost: 0, attempts: 'forged' };
    const trace = generationTrace(1, { metadata, cost: 0.5 });
    expect(traceMetadata(trace)).toMatchObject({
      team: 'search',
      model: trace.model,
      cost: 0.5,
      attempts: trace.attempts,
    });
  });

  it('leaves unused names to the caller, except those of failures and flags', () => {
    const keys = {
      user_id: 'customer-7',
      session_id: 'session',
      dimensions: 5,
      ['__proto__']: 'x',
      toString: 'x',
    };
    const unknown = { userId: null, sessionId: null, dimensions: null, error: null, facts: {} };
    const metadata = { ...keys, error_type: 'forged', openrouter_generation: 'forged' };
    const sent = JSON.parse(
      JSON.stringify(traceMetadata(generationTrace(1, { ...unknown, metadata }))),
    ) as object;
    expect(sent).toMatchObject(keys);
    expect(Object.hasOwn(sent, '__proto__')).toBe(true);
    for (const name of ['error_type', 'openrouter_generation']) expect(sent).not.toHaveProperty(name);
  });

  it('omits unknown values', () => {
    const unknown = { cost: null, userId: null, upstreamId: null, error: null, facts: {} };
    const sent = JSON.parse(JSON.stringify(traceMetadata(generationTrace(1, unknown)))) as object;
    for (const name of ['cost', 'user_id', 'upstream_id', 'error_type', 'openrouter_generation']) {
      expect(sent).not.toHaveProperty(name);
    }
  });
});

describe('an item above its limit', () => {
  const trace = generationTrace(1, { input: { items: ['ü'.repeat(100)], isTruncated: false } });
  const encodeItem = ({ input }: typeof trace): object => ({ input });
  const whole = JSON.stringify(encodeItem(trace));
  const bytes = Buffer.byteLength(whole);

  it.each([bytes, bytes + 1])('is complete within %i bytes', (limit) => {
    expect(jsonWithin(limit, trace, encodeItem)).toBe(whole);
  });

  it.each([bytes - 1, whole.length, 1])('has no inputs within %i bytes, and marks it', (limit) => {
    expect(JSON.parse(jsonWithin(limit, trace, encodeItem))).toEqual({
      input: { items: [], isTruncated: true },
    });
  });
});
