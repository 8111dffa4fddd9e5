import { describe, expect, it } from '@jest/globals';
import { readOtlpAnswer } from './answer.js';

const CONTEXT = { destinationId: 'd', now: new Date('2026-11-21T10:00:00Z') };

const read = (status: number, body: string | object = '', headers: Record<string, string> = {}): unknown =>
  readOtlpAnswer(
    { status, headers, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) },
    CONTEXT,
    {},
  );

describe('the status of an answer', () => {
  it.each([200, 201, 202, 204, 206])('is success at %d, with the partial success of its body', (status) => {
    expect(read(status)).toEqual({ outcome: 'delivered' });
    const body = { partialSuccess: { rejectedSpans: 2, errorMessage: 'too old' } };
    expect(read(status, body)).toEqual({ outcome: 'delivered', rejected: 2, reason: 'too old' });
  });

  it('is retried for the statuses of passing failures, 5xx among them', () => {
    const retried = Array.from({ length: 200 }, (_, index) => 400 + index).filter(
      (status) => (read(status) as { outcome: string }).outcome === 'retry',
    );
    expect(retried).toEqual([408, 425, 429, ...Array.from({ length: 100 }, (_, index) => 500 + index)]);
  });

  it.each([400, 409, 422])('is final at %d', (status) => {
    expect(read(status, 'no')).toEqual({ outcome: 'refused', reason: `HTTP ${status}: no` });
  });

  it.each([301, 307, 401, 403, 404, 405, 406, 410, 415, 426])('pauses the destination at %d', (status) => {
    expect(read(status)).toEqual({ outcome: 'blocked', reason: `HTTP ${status}` });
  });

  it('asks for smaller requests at 413', () => {
    expect(read(413)).toEqual({ outcome: 'too_large', reason: 'HTTP 413' });
  });

  it('returns the delay of Retry-After', () => {
    expect(read(429, '', { 'retry-after': '12' })).toMatchObject({ outcome: 'retry', retryAfter: 12 });
  });
});

describe('a partial success', () => {
  it.each([
    [{ partialSuccess: { rejectedSpans: '3', errorMessage: 'too old' } }, 3, 'too old'],
    [{ partialSuccess: { rejectedSpans: 3, errorMessage: 'too\n\told' } }, 3, 'too old'],
    [{ partialSuccess: { rejectedSpans: 1 } }, 1, 'spans were rejected'],
    [{ partial_success: { rejected_spans: '2', error_message: 'too old' } }, 2, 'too old'],
  ])('is counted and never sent again: %j', (body, rejected, reason) => {
    expect(read(200, body)).toEqual({ outcome: 'delivered', rejected, reason });
  });

  it.each([
    { rejectedSpans: '0' },
    { rejectedSpans: 0 },
    {},
    // No counts, one of them without a numeric value.
    { rejectedSpans: ['3'] },
    { rejectedSpans: { toString: [] } },
  ])('with %j and a message is a warning', (counted) => {
    expect(read(200, { partialSuccess: { ...counted, errorMessage: 'slow down' } })).toEqual({
      outcome: 'delivered',
      reason: 'slow down',
    });
  });

  it.each([
    '',
    '{}',
    '{',
    'null',
    '[]',
    '"partialSuccess"',
    '{"partialSuccess":null}',
    '{"partialSuccess":[]}',
    '{"partialSuccess":{"rejectedSpans":"many"}}',
    '{"partialSuccess":{"rejectedSpans":-1}}',
    '{"partialSuccess":{"rejectedSpans":0.5}}',
    '{"partialSuccess":{"rejectedSpans":1e400}}',
    '{"partialSuccess":{"errorMessage":7}}',
    '{"__proto__":{"partialSuccess":{"rejectedSpans":1}}}',
  ])('is not seen in %s', (body) => {
    expect(read(200, body)).toEqual({ outcome: 'delivered' });
  });

  it('is ignored in a response beyond the size limit', () => {
    const body = { partialSuccess: { rejectedSpans: 1 }, padding: ' '.repeat(65_536) };
    expect(read(200, body)).toEqual({ outcome: 'delivered' });
  });

  it('is quoted in part', () => {
    const body = { partialSuccess: { rejectedSpans: 1, errorMessage: 'x'.repeat(5000) } };
    expect(read(200, body)).toEqual({ outcome: 'delivered', rejected: 1, reason: 'x'.repeat(200) });
  });
});
