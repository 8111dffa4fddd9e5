import { describe, expect, it } from '@jest/globals';
import type { DeliveryOutcome, DeliveryRequest, DeliveryResponse } from '../shared/delivery.js';
import { putObject } from './signed-put.js';
import { problemOfPut, readStoreAnswer } from './store-answer.js';

const CONTEXT = { destinationId: 'destination', now: new Date('2026-11-21T10:00:00Z') };
const ACCESS = {
  bucketName: 'my-traces',
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY',
};
const error = (code: string, more = ''): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>No.</Message>${more}</Error>`;
const answer = (status: number, body = '', headers: DeliveryResponse['headers'] = {}): DeliveryResponse => ({
  status,
  headers,
  body: Buffer.from(body),
});
const put = (region = 'us-east-1'): Promise<DeliveryRequest> =>
  putObject(ACCESS, 'a.json', '{}', { region, now: CONTEXT.now });
const read = async (response: DeliveryResponse, request?: DeliveryRequest): Promise<DeliveryOutcome> =>
  readStoreAnswer(response, request ?? (await put()), ACCESS, CONTEXT);

describe("a store's answer", () => {
  it.each([
    [200, '', 'delivered'],
    [204, '', 'delivered'],
    [503, error('SlowDown'), 'retry'],
    [500, error('InternalError'), 'retry'],
    [400, error('RequestTimeout'), 'retry'],
    [400, error('BadDigest'), 'retry'],
    [409, error('OperationAborted'), 'retry'],
    [409, '', 'retry'],
    [429, '', 'retry'],
    [502, '<html>', 'retry'],
    [403, error('AccessDenied'), 'blocked'],
    [403, error('RequestTimeTooSkewed'), 'blocked'],
    [400, error('ExpiredToken'), 'blocked'],
    [400, error('InvalidToken'), 'blocked'],
    [400, error('KMS.DisabledException'), 'blocked'],
    [404, error('NoSuchBucket'), 'blocked'],
    [501, error('NotImplemented'), 'blocked'],
    [405, error('MethodNotAllowed'), 'blocked'],
    [301, error('PermanentRedirect'), 'blocked'],
    [307, '', 'blocked'],
    [400, error('KeyTooLongError'), 'refused'],
    [400, '', 'refused'],
    [413, error('EntityTooLarge'), 'too_large'],
  ])('%d %s is %s', async (status, body, outcome) => {
    expect(await read(answer(status, body))).toMatchObject({ outcome });
  });

  it('explains the fix in words of this service, never in those that repeat keys and tokens', async () => {
    const body = error('ExpiredToken', '<Token-0>a-session-token</Token-0>');
    expect(await read(answer(400, body))).toEqual({
      outcome: 'blocked',
      reason: 'HTTP 400: ExpiredToken: the session token has expired: set new credentials',
    });
    expect(problemOfPut(answer(403, error('RequestTimeTooSkewed')), 'us-east-1')).toMatch(/set the clock$/);
    expect(problemOfPut(answer(403, 'AKIAIOSFODNN7EXAMPLE'), 'us-east-1')).toBe('HTTP 403');
    expect(problemOfPut(answer(200), 'us-east-1')).toBeNull();
  });
});

describe('a bucket in another region', () => {
  const elsewhere = { 'x-amz-bucket-region': 'eu-west-1' };

  it.each([
    ['a redirect', answer(301, error('PermanentRedirect'), elsewhere)],
    ['a redirect of a new bucket', answer(307, error('TemporaryRedirect'), elsewhere)],
    ['a complaint of the scope', answer(400, error('AuthorizationHeaderMalformed'), elsewhere)],
    [
      'a complaint of the scope, without the header',
      answer(400, error('AuthorizationHeaderMalformed', '<Region>eu-west-1</Region>')),
    ],
  ])('is found by %s', async (_name, response) => {
    expect(await read(response)).toEqual({ outcome: 'continue', delay: 0, request: await put('eu-west-1') });
    expect(problemOfPut(response, 'us-east-1')).toBe(
      `HTTP ${response.status}: the bucket is in the region eu-west-1: set region to it`,
    );
  });

  it('may have a region of any name at a store other than AWS', async () => {
    const access = { ...ACCESS, endpoint: 'https://swift.example.com' };
    const response = answer(400, error('AuthorizationHeaderMalformed', '<Region>Region_One</Region>'));
    const signing = { region: 'us-east-1', now: CONTEXT.now };
    const request = await putObject(access, 'a.json', '{}', signing);
    expect(await readStoreAnswer(response, request, access, CONTEXT)).toEqual({
      outcome: 'continue',
      delay: 0,
      request: await putObject(access, 'a.json', '{}', { ...signing, region: 'Region_One' }),
    });
    expect(await read(response)).toMatchObject({ outcome: 'blocked' });
  });

  it('is followed once', async () => {
    const response = answer(301, error('PermanentRedirect'), { 'x-amz-bucket-region': 'us-west-2' });
    expect(await read(response, await put('eu-west-1'))).toEqual({
      outcome: 'blocked',
      reason: 'HTTP 301: the bucket is in the region us-west-2: set region to it',
    });
  });

  it('is not followed to an impossible region, nor to the region that was signed for', async () => {
    for (const region of ['evil.example.com/', '', 'us-east-1']) {
      const response = answer(301, '', { 'x-amz-bucket-region': region });
      expect(await read(response)).toMatchObject({ outcome: 'blocked' });
    }
  });

  it('does not explain other failures', async () => {
    const response = answer(400, error('ExpiredToken'), { 'x-amz-bucket-region': 'us-east-1' });
    expect(await read(response)).toMatchObject({
      outcome: 'blocked',
      reason: expect.stringContaining('expired'),
    });
  });
});
