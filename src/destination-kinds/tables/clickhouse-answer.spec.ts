import { describe, expect, it } from '@jest/globals';
import type { DeliveryResponse } from '../shared/delivery.js';
import { EXCEPTIONS, readClickhouseAnswer } from './clickhouse-answer.js';

const CONTEXT = { destinationId: 'destination', now: new Date('2026-11-21T10:00:00Z') };
const answer = (
  status: number,
  body: string,
  headers: DeliveryResponse['headers'] = {},
): DeliveryResponse => ({
  status,
  headers,
  body: Buffer.from(body),
});
const read = (response: DeliveryResponse): ReturnType<typeof readClickhouseAnswer> =>
  readClickhouseAnswer(response, CONTEXT);

describe("ClickHouse's answers", () => {
  it('200 without an exception confirms, and no other status does', () => {
    expect(read(answer(200, ''))).toEqual({ outcome: 'delivered' });
    for (const status of [201, 204]) expect(read(answer(status, '')).outcome).toBe('blocked');
  });

  it.each(['blocked', 'refused', 'retry'] as const)(
    'exceptions that mean %s are recognised by the header',
    (outcome) => {
      for (const [code, name] of EXCEPTIONS[outcome]) {
        const headers = { 'x-clickhouse-exception-code': String(code) };
        for (const status of [400, 403, 404, 500]) {
          expect(read(answer(status, `${name} happened`, headers))).toMatchObject({ outcome });
        }
      }
    },
  );

  it('has no exception in two lists', () => {
    const codes = Object.values(EXCEPTIONS).flatMap((exceptions) => Array.from(exceptions.keys()));
    expect(new Set(codes).size).toBe(codes.length);
  });

  it('reads the code from the text when an old server or a proxy lost the header', () => {
    const text = 'Code: 60. DB::Exception: Table default.T does not exist. (UNKNOWN_TABLE)';
    expect(read(answer(404, text))).toEqual({ outcome: 'blocked', reason: `HTTP 404: ${text}` });
    expect(read(answer(400, 'Code: 252. DB::Exception: Too many parts'))).toMatchObject({ outcome: 'retry' });
  });

  it('trusts an exception more than a 200', () => {
    for (const code of [159, 4711]) {
      const headers = { 'x-clickhouse-exception-code': String(code) };
      expect(read(answer(200, '', headers)).outcome).toBe('retry');
    }
    expect(read(answer(200, 'Code: 27. DB::Exception: Cannot parse')).outcome).toBe('refused');
  });

  it('uses the status for an unknown exception', () => {
    const headers = { 'x-clickhouse-exception-code': '4711' };
    expect(read(answer(500, '', headers)).outcome).toBe('retry');
    expect(read(answer(400, '', headers)).outcome).toBe('refused');
    expect(read(answer(403, '', headers)).outcome).toBe('blocked');
  });

  it('does not repeat the row', () => {
    const text = `Code: 27. DB::Exception: Cannot parse input: expected '"' before: 'my secret text'`;
    expect(read(answer(400, text))).toEqual({
      outcome: 'refused',
      reason: "ClickHouse's exception 27 CANNOT_PARSE_INPUT_ASSERTION_FAILED",
    });
  });

  it('asks for smaller batches when a proxy requires them', () => {
    expect(read(answer(413, '<html>Request Entity Too Large</html>')).outcome).toBe('too_large');
  });
});
