// The errors of upstreams in the shapes that many share.
import { describe, expect, it } from '@jest/globals';
import { readUpstreamError } from './upstream-error.js';

const read = (body: string, headers: Readonly<Record<string, string>> = {}) =>
  readUpstreamError({ status: 400, headers, body: Buffer.from(body) });

describe('an error body', () => {
  it.each([
    ['{"error":{"message":"No.","type":"kind","code":"bad_input"}}', 'No.', 'bad_input', 'kind', null],
    ['{"error":{"message":"No.","type":"kind","code":null}}', 'No.', null, 'kind', null],
    ['{"error":{"message":"No.","code":429}}', 'No.', '429', null, 429],
    ['{"error":{"message":"No.","code":"503"}}', 'No.', '503', null, 503],
    ['[{"error":{"message":"No.","code":429}}]', 'No.', '429', null, 429],
    ['{"error":"No."}', 'No.', null, null, null],
    ['{"error":"No.","error_type":"Validation"}', 'No.', null, 'Validation', null],
    [
      '{"object":"error","message":"No.","type":"BadRequestError","code":400}',
      'No.',
      '400',
      'BadRequestError',
      400,
    ],
    ['{"type":"about:blank","title":"Slow","status":429,"detail":"No."}', 'No.', null, 'about:blank', 429],
    ['{"detail":"No."}', 'No.', null, null, null],
    ['{"detail":{"error":"No."}}', 'No.', null, null, null],
    ['{"detail":[{"loc":["body","input"],"msg":"No."}]}', 'body.input: No.', null, null, null],
    ['{"error":{}}', '{"error":{}}', null, null, null],
    ['<html>Bad gateway</html>', '<html>Bad gateway</html>', null, null, null],
    ['{"error":{"message":"cut', '{"error":{"message":"cut', null, null, null],
    ['', '', null, null, null],
    ['null', 'null', null, null, null],
    ['[]', '[]', null, null, null],
  ])(
    '%s has the message %j, the code %j, the type %j and the status %j',
    (body, message, code, type, status) => {
      expect(read(body)).toEqual({ message, code, type, status });
    },
  );
});

describe('the delay of an error', () => {
  it.each([
    ['retry-after-ms', '1500', 1.5],
    ['retry-after-ms', '62.5', 0.0625],
    ['x-ms-retry-after-ms', '6800', 6.8],
    ['retry-after-ms', '-5', undefined],
    ['retry-after-ms', 'soon', undefined],
  ])('is read of the header %s: %s', (name, text, seconds) => {
    expect(read('{}', { [name]: text }).retryAfter).toBe(seconds);
  });

  it.each([
    ['{"error":{"message":"a","metadata":{"retry_after_seconds":7}}}', 7],
    ['{"error":{"message":"a","retry_after":2.5}}', 2.5],
    ['{"error":{"message":"a","retry_after":-1}}', undefined],
  ])('is read of the body %s', (body, seconds) => {
    expect(read(body).retryAfter).toBe(seconds);
  });
});
