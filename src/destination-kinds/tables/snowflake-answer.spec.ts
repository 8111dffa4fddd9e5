import { describe, expect, it } from '@jest/globals';
import type { DeliveryRequest, DeliveryResponse } from '../shared/delivery.js';
import { readSnowflakeAnswer } from './snowflake-answer.js';

const CONTEXT = { destinationId: 'destination', now: new Date('2026-11-21T10:00:00Z') };
const HANDLE = '019c9fce-0502-f1fc-0000-438300e02412';
const SUBMITTED: DeliveryRequest = {
  method: 'POST',
  url: 'https://a.snowflakecomputing.com/api/v2/statements?requestId=1',
  headers: { authorization: 'Bearer token' },
  body: '{}',
};
const ASKED: DeliveryRequest = { ...SUBMITTED, method: 'GET' };
const answer = (status: number, body: object | string = ''): DeliveryResponse => ({
  status,
  headers: {},
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
});
const read = (response: DeliveryResponse, request = SUBMITTED): ReturnType<typeof readSnowflakeAnswer> =>
  readSnowflakeAnswer(response, request, CONTEXT);

describe('a statement that is still running', () => {
  const running = answer(202, { code: '333334', message: 'in progress', statementHandle: HANDLE });

  it('is polled by its handle with growing delays, and never sent again', () => {
    const delays: number[] = [];
    let request = SUBMITTED;
    for (let round = 0; round < 8; round++) {
      const outcome = read(running, request);
      if (outcome.outcome !== 'continue') throw new Error(outcome.outcome);
      delays.push(outcome.delay);
      ({ request } = outcome);
      expect(request).toMatchObject({
        method: 'GET',
        url: `https://a.snowflakecomputing.com/api/v2/statements/${HANDLE}`,
        headers: { authorization: 'Bearer token' },
      });
      expect(request.body).toBeUndefined();
    }
    expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
    expect(read(answer(200, { code: '090001' }), request)).toEqual({ outcome: 'delivered' });
  });

  it.each(['', '{}', { statementHandle: '../../login' }, { statementHandle: 7 }])(
    'is sent again when its handle cannot be used: %j',
    (body) => {
      expect(read(answer(202, body)).outcome).toBe('retry');
    },
  );

  it('is sent again when Snowflake has forgotten or cancelled the handle', () => {
    expect(read(answer(404), ASKED).outcome).toBe('retry');
    expect(read(answer(408), ASKED).outcome).toBe('retry');
    expect(read(answer(404), SUBMITTED).outcome).toBe('blocked');
  });
});

describe('a statement that failed', () => {
  it.each([
    ['blocked', '002003', '42S02', "Object 'T' does not exist or not authorized."],
    ['blocked', '003001', '42501', 'Insufficient privileges to operate on table'],
    ['blocked', '000904', '42000', "invalid identifier 'GENERATION_ID'"],
    ['blocked', '000606', '57P03', 'No active warehouse selected in the current session.'],
    [
      'blocked',
      '090073',
      '22000',
      'Warehouse cannot be resumed: its resource monitor has exceeded its quota.',
    ],
    ['retry', '000630', '57014', 'Statement reached its statement timeout and was canceled.'],
    ['retry', '000625', '57014', 'the number of waiters for this lock exceeds the limit'],
    ['retry', '300002', 'XX000', 'Internal error'],
    ['refused', '100038', '22018', "Numeric value 'x' is not recognized"],
    ['refused', '100069', '22P02', 'Error parsing JSON'],
  ])('is %s: code %s, SQL state %s', (outcome, code, sqlState, message) => {
    expect(read(answer(422, { code, sqlState, message }))).toMatchObject({ outcome });
  });

  it('is rejected without repeating the value at fault', () => {
    const body = {
      code: '100038',
      sqlState: '22018',
      message: "Numeric value 'my secret' is not recognized",
    };
    expect(read(answer(422, body))).toEqual({
      outcome: 'refused',
      reason: "HTTP 422: Snowflake's error 100038, SQL state 22018",
    });
  });

  it.each([[['\udfff']], [{ toString: 1 }], ['a\u0000b'], ['7'.repeat(11)], [null], [undefined]])(
    'is rejected when %j replaces its codes',
    (code) => {
      expect(read(answer(422, { code, sqlState: code }))).toEqual({
        outcome: 'refused',
        reason: "HTTP 422: Snowflake's error unknown, SQL state unknown",
      });
    },
  );

  it('is recognised by numeric codes as well', () => {
    expect(read(answer(422, { code: 604, sqlState: 57014 })).outcome).toBe('retry');
    expect(read(answer(422, { code: 100038, sqlState: 22018 }))).toEqual({
      outcome: 'refused',
      reason: "HTTP 422: Snowflake's error 100038, SQL state 22018",
    });
  });

  it('is classified by its status otherwise', () => {
    for (const status of [408, 429, 500, 503]) expect(read(answer(status)).outcome).toBe('retry');
    for (const status of [401, 403, 404]) expect(read(answer(status)).outcome).toBe('blocked');
    expect(read(answer(400)).outcome).toBe('refused');
    expect(read(answer(204)).outcome).toBe('blocked');
  });
});
