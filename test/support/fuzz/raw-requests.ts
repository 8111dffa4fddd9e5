// Requests that no HTTP client sends, as arbitraries: with wrong lines, headers, lengths, chunks, encodings and bytes,
// in pieces of any size.
import * as fc from '../fast-check.js';
import { gzipSync } from 'node:zlib';
import type { RawRequest } from './raw-exchange.js';

/** `{key}` stands for a credential that is let in. */
const GOOD_BODY = '{"model":"local/hashing","input":"words","dimensions":8}';
const PATHS = [
  '/api/v1/embeddings',
  '/api/v1/keys',
  '/health',
  '/metrics',
  '/docs',
  '/',
  '*',
  '',
  'http://127.0.0.1/api/v1/keys',
  'http://[::1/x',
  '//api/v1/keys',
  '/api/v1/keys/%00',
  '/api/v1/keys/\xff\xfe',
  '/api/v1/../../etc/passwd',
  '/api/v1/keys?\0',
  `/${'a'.repeat(20_000)}`,
  `/api/v1/keys?${'a=b&'.repeat(3_000)}`,
];
// Not HEAD: its answers announce a body that does not follow, so that what follows would be taken for it.
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'PRI', 'get', 'G\0T', ''];
const VERSIONS = [
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.0',
  'HTTP/0.9',
  'HTTP/2.0',
  'HTTP/9.9',
  'http/1.1',
  '',
];
const BREAKS = ['\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', '\r\n\r\n', ''];

const bytesAsText = fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1'));

const HEADER_LINES = [
  'Host: x',
  'Host: x',
  'Authorization: Bearer {key}',
  'Authorization: Bearer {key}',
  'Authorization: Basic AAAA',
  'Content-Type: application/json',
  'Content-Type: text/plain',
  'Content-Length: 0',
  'Content-Length: 5',
  'Content-Length: 56',
  'Content-Length: -1',
  'Content-Length: 99999999999999999999',
  'Content-Length: 5, 6',
  'Content-Length: +5',
  'Content-Length : 5',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: Chunked, identity',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding:\tchunked',
  'Transfer-Encoding : chunked',
  'Connection: close',
  'Connection: keep-alive, upgrade',
  'Upgrade: websocket',
  'Expect: 100-continue',
  'Expect: nothing',
  'Content-Encoding: gzip',
  'Content-Encoding: identity, gzip',
  'X-Request-Id: a\r\n b',
  ' folded: line',
  'No colon here',
  ': no name',
  'X-Nul: a\0b',
  'X-High: \xc3\x28\xff',
  `X-Long: ${'a'.repeat(17_000)}`,
  'Trailer: Expires',
  'X-Forwarded-For: 127.0.0.1',
];

const headerLine = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...HEADER_LINES) },
  { weight: 1, arbitrary: bytesAsText },
  { weight: 1, arbitrary: fc.tuple(bytesAsText, bytesAsText).map((pair) => pair.join(': ')) },
);

const BODIES = [
  '',
  GOOD_BODY,
  GOOD_BODY.slice(0, 20),
  '5\r\nhello\r\n0\r\n\r\n',
  '38\r\n{body}\r\n0\r\n\r\n'.replace('{body}', GOOD_BODY),
  'ffffffffffffffffff\r\nx',
  '-1\r\n\r\n',
  '5;a=b\r\nhello\r\n0\r\nX-Trailer: a\r\n\r\n',
  `5;${'x'.repeat(20_000)}\r\nhello\r\n`,
  '5\nhello\n0\n\n',
  '0\r\n\r\nGET /api/v1/smuggled HTTP/1.1\r\nHost: x\r\n\r\n',
  `[${'['.repeat(40_000)}`,
  '{"__proto__":{"a":1}}',
  '\xff\xfe\x00',
];

const manyHeaders = fc.nat(3_000).map((count) => Array.from({ length: count }, (_one, at) => `X-${at}: a`));

/** Anything that begins like a request, and what does not. */
const assembled = fc
  .record({
    method: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...METHODS) }, bytesAsText),
    path: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...PATHS) }, bytesAsText),
    version: fc.constantFrom(...VERSIONS),
    lines: fc.oneof(
      { weight: 20, arbitrary: fc.array(headerLine, { maxLength: 8 }) },
      { weight: 1, arbitrary: manyHeaders },
    ),
    lineBreak: fc.constantFrom(...BREAKS),
    body: fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...BODIES) }, bytesAsText),
    blanks: fc.constantFrom(' ', ' ', ' ', '\t', '  ', ''),
  })
  .map(({ method, path, version, lines, lineBreak, body, blanks }) =>
    [[method, path, version].join(blanks), ...lines, '', body].join(lineBreak),
  );

/** A good request with bytes of it changed, doubled or left out. */
const good = [
  'POST /api/v1/embeddings HTTP/1.1',
  'Host: x',
  'Authorization: Bearer {key}',
  'Content-Type: application/json',
  `Content-Length: ${GOOD_BODY.length}`,
  '',
  GOOD_BODY,
].join('\r\n');
const damaged = fc
  .array(fc.record({ at: fc.nat(good.length), length: fc.nat(12), by: bytesAsText }), {
    minLength: 1,
    maxLength: 3,
  })
  .map((damages) =>
    damages.reduce((text, { at, length, by }) => text.slice(0, at) + by + text.slice(at + length), good),
  );
const half = fc.nat(good.length).map((end) => good.slice(0, end));
const pipelined = fc
  .array(fc.constantFrom(good, good.replace('POST', 'GET'), 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n'), {
    minLength: 2,
    maxLength: 12,
  })
  .map((requests) => requests.join(''));

/** Small on the wire, large when it is unpacked. */
const BOMB = gzipSync(Buffer.alloc(32 * 2 ** 20, ' ')).toString('latin1');
const bomb = fc.constant(
  good
    .replace('Content-Type', 'Content-Encoding: gzip\r\nContent-Type')
    .replace(/Content-Length: \d+/, `Content-Length: ${BOMB.length}`)
    .replace(GOOD_BODY, () => BOMB),
);

export const rawRequests = (key: string): fc.Arbitrary<RawRequest> =>
  fc
    .record({
      text: fc.oneof(
        { weight: 8, arbitrary: assembled },
        { weight: 5, arbitrary: damaged },
        { weight: 2, arbitrary: half },
        { weight: 2, arbitrary: pipelined },
        { weight: 1, arbitrary: bytesAsText },
        { weight: 1, arbitrary: bomb },
      ),
      cuts: fc.oneof(fc.constant([]), fc.array(fc.nat(400), { maxLength: 20 })),
      ending: fc.oneof(
        { weight: 10, arbitrary: fc.constant('finish' as const) },
        { weight: 1, arbitrary: fc.constantFrom('reset' as const, 'wait' as const) },
      ),
    })
    .map(({ text, cuts, ending }) => ({
      pieces: cut(Buffer.from(text.replaceAll('{key}', key), 'latin1'), cuts),
      ending,
    }));

function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const offsets = [0, ...cuts.toSorted((one, other) => one - other), bytes.length];
  return offsets
    .slice(1)
    .map((end, index) => bytes.subarray(offsets[index], end))
    .filter((piece) => piece.length > 0);
}
